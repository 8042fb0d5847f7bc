//! Networks as ONNX files, for programs that learn elsewhere.
//!
//! A written file is a whole evaluation: it takes the facts of states as numbers 0 and 1 and gives
//! the expected results of the players, with the exchange of players inside. A file that is read
//! has two layers: `Gemm`, or `MatMul` and `Add`; `Relu` or `Clip` from 0; the same again; then
//! `Sigmoid` or `Tanh`. The input has one column for each fact in the order of the game, and the
//! output one for each value: the expected result of the first player in a game of two.

use agon_game::{Notation, Role};

use crate::form::Form;
use crate::labels::Labels;
use crate::layers::Layers;
use crate::model::CannotLearn;
use crate::neural::{MAX_HIDDEN, MAX_ROWS, MAX_WEIGHT, NO_CEILING, Neural};
use crate::protobuf::{Message, Value, fields};
use crate::stored::{GameModel, Model, ModelHistory};
use crate::train::Players;

/// Why a network cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnnxError {
    /// The model consists of tables and not of a network.
    Tables,
    /// The bytes are not an ONNX model.
    NotOnnx,
    /// The file has something that agon does not know, or not in this place.
    Unsupported(String),
    /// The sizes do not fit the game.
    Sizes(String),
    /// The game cannot have a network.
    Game(CannotLearn),
}

impl std::fmt::Display for OnnxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OnnxError::Tables => f.write_str("the model has tables and not a network"),
            OnnxError::NotOnnx => f.write_str("it is not an ONNX model"),
            OnnxError::Unsupported(what) => write!(f, "it cannot be used: {what}"),
            OnnxError::Sizes(what) => write!(f, "it does not fit the game: {what}"),
            OnnxError::Game(why) => write!(f, "the game cannot have a network: {why}"),
        }
    }
}

impl std::error::Error for OnnxError {}

/// The version of the operators, and that of the format.
const OPSET: u64 = 13;
const IR_VERSION: u64 = 8;
/// Types of elements.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
/// The name under which a written file says how states are seen.
const VIEW: &str = "agon.view";

/// A graph that is being written.
#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    tensors: Vec<Message>,
}

impl Graph {
    fn node(&mut self, op: &str, inputs: &[&str], output: &str, attributes: &[(&str, u64)]) {
        let mut node = Message::default();
        for input in inputs {
            node = node.text(1, input);
        }
        node = node.text(2, output).text(3, output).text(4, op);
        for (name, value) in attributes {
            // 2: the attribute is an integer.
            node =
                node.message(5, Message::default().text(1, name).number(3, *value).number(20, 2));
        }
        self.nodes.push(node);
    }

    fn tensor(&mut self, name: &str, dims: &[usize], kind: u64, bytes: &[u8]) {
        let mut tensor = Message::default();
        for &dim in dims {
            tensor = tensor.number(1, dim as u64);
        }
        self.tensors.push(tensor.number(2, kind).text(8, name).bytes(9, bytes));
    }

    fn floats(&mut self, name: &str, dims: &[usize], numbers: &[f32]) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.tensor(name, dims, FLOAT, &bytes);
    }

    fn integers(&mut self, name: &str, numbers: &[u32]) {
        let bytes: Vec<u8> =
            numbers.iter().flat_map(|&number| i64::from(number).to_le_bytes()).collect();
        self.tensor(name, &[numbers.len()], INT64, &bytes);
    }
}

impl GameModel {
    /// Returns the network as an ONNX model. Its input `facts` has a column for each fact of the
    /// game, whose texts are among the properties of the model; its output `value` has the expected
    /// results, from 0 to 1.
    ///
    /// # Errors
    /// [`OnnxError::Tables`] if the model is not a network.
    pub fn to_onnx<P: Notation>(&self, start: &P) -> Result<Vec<u8>, OnnxError> {
        let Form::Neural(net) = &*self.form else { return Err(OnnxError::Tables) };
        let n_facts = net.rows[0].len();
        let n_heads = self.weights.len() / net.n_weights();
        let (n_hidden, n_all) = (net.n_hidden, net.n_hidden * n_heads);
        let head =
            |head: usize| &self.weights[head * net.n_weights()..(head + 1) * net.n_weights()];
        let mut graph = Graph::default();
        for (number, rows) in net.rows.iter().enumerate() {
            let mut facts = vec![0_u32; net.n_rows];
            for (fact, &row) in (0..).zip(rows) {
                facts[row as usize] = fact;
            }
            let (indices, output) = (format!("facts_{number}"), format!("seen_{number}"));
            graph.integers(&indices, &facts);
            graph.node("Gather", &["facts", &indices], &output, &[("axis", 1)]);
        }
        let mut seen = "seen_0";
        if let Some(turn) = net.turn {
            graph.integers("turn_fact", &[turn]);
            graph.node("Gather", &["facts", "turn_fact"], "turn", &[("axis", 1)]);
            graph.node("Sub", &["seen_1", "seen_0"], "difference", &[]);
            graph.node("Mul", &["difference", "turn"], "change", &[]);
            graph.node("Add", &["seen_0", "change"], "seen", &[]);
            seen = "seen";
        }
        let mut first = vec![0.0; net.n_rows * n_all];
        let (mut biases, mut last, mut ends) = (Vec::new(), vec![0.0; n_all * n_heads], Vec::new());
        for number in 0..n_heads {
            let weights = head(number);
            for row in 0..net.n_rows {
                let from = &weights[row * n_hidden..(row + 1) * n_hidden];
                first[row * n_all + number * n_hidden..][..n_hidden].copy_from_slice(from);
            }
            biases.extend_from_slice(&weights[net.biases()..net.outputs()]);
            for unit in 0..n_hidden {
                last[(number * n_hidden + unit) * n_heads + number] = weights[net.outputs() + unit];
            }
            ends.push(weights[net.outputs() + n_hidden]);
        }
        graph.floats("weights_1", &[net.n_rows, n_all], &first);
        graph.floats("biases_1", &[n_all], &biases);
        graph.floats("weights_2", &[n_all, n_heads], &last);
        graph.floats("biases_2", &[n_heads], &ends);
        graph.floats("least", &[], &[0.0]);
        graph.floats("most", &[], &[net.ceiling]);
        graph.node("Gemm", &[seen, "weights_1", "biases_1"], "sums", &[]);
        graph.node("Clip", &["sums", "least", "most"], "hidden", &[]);
        graph.node("Gemm", &["hidden", "weights_2", "biases_2"], "output", &[]);
        graph.floats("sign", &[1], &net.signs[..1]);
        let mut sign = "sign";
        if net.turn.is_some() {
            graph.floats("sign_change", &[1], &[net.signs[1] - net.signs[0]]);
            graph.node("Mul", &["turn", "sign_change"], "turn_sign", &[]);
            graph.node("Add", &["turn_sign", "sign"], "signs", &[]);
            sign = "signs";
        }
        graph.node("Mul", &["output", sign], "signed", &[]);
        graph.node("Sigmoid", &["signed"], "value", &[]);

        let mut body = Message::default();
        for node in graph.nodes {
            body = body.message(1, node);
        }
        body = body.text(2, "agon");
        for tensor in graph.tensors {
            body = body.message(5, tensor);
        }
        let body = body.message(11, column("facts", n_facts)).message(12, column("value", n_heads));
        let view = serde_json::json!({
            "rows": net.rows, "turn": net.turn, "signs": net.signs, "symmetries": net.symmetries,
        });
        let texts = serde_json::json!(start.feature_texts());
        let shape = start.shape();
        let roles: Vec<&str> =
            shape.players().map(|role: Role| shape.role_names[role.index()].as_str()).collect();
        let property = |key: &str, value: &str| Message::default().text(1, key).text(2, value);
        let model = Message::default()
            .number(1, IR_VERSION)
            .text(2, "agon")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, body)
            .message(8, Message::default().text(1, "").number(2, OPSET))
            .message(14, property("agon.game", &self.history().game))
            .message(14, property("agon.facts", &texts.to_string()))
            .message(14, property("agon.players", &roles.join(" ")))
            .message(14, property(VIEW, &view.to_string()));
        Ok(model.into_bytes())
    }
}

/// Describes an input or output: any number of states, and one column for each number.
fn column(name: &str, n: usize) -> Message {
    let states = Message::default().text(2, "states");
    let columns = Message::default().number(1, n as u64);
    let shape = Message::default().message(1, states).message(1, columns);
    let tensor = Message::default().number(1, FLOAT).message(2, shape);
    Message::default().text(1, name).message(2, Message::default().message(1, tensor))
}

/// A matrix or a list of numbers.
#[derive(Clone, Debug)]
struct Tensor {
    dims: Vec<usize>,
    numbers: Vec<f32>,
}

/// A node of a graph that is read.
#[derive(Debug, Default)]
struct Node<'b> {
    op: &'b str,
    inputs: Vec<&'b str>,
    attributes: Vec<(&'b str, f64)>,
}

/// A layer that was read: weights by input and output, and biases.
struct Layer {
    n_inputs: usize,
    n_outputs: usize,
    weights: Vec<f32>,
    biases: Vec<f32>,
}

/// How a file that agon has written sees states.
struct View {
    rows: Vec<Vec<u32>>,
    turn: Option<u32>,
    signs: Vec<f32>,
    symmetries: Vec<Vec<u32>>,
}

fn unsupported<T>(what: impl Into<String>) -> Result<T, OnnxError> {
    Err(OnnxError::Unsupported(what.into()))
}

impl Model {
    /// Reads a network that was trained elsewhere, or one that [`GameModel::to_onnx`] has written.
    /// `start` is the start position of the game.
    ///
    /// # Errors
    /// [`OnnxError`] if the bytes are not such a network, or one that does not fit the game.
    pub fn from_onnx<P: Notation + 'static>(
        bytes: &[u8],
        start: &P,
        labels: &Labels,
        history: ModelHistory,
    ) -> Result<Model, OnnxError> {
        let file = File::read(bytes)?;
        let texts = start.feature_texts();
        let n_facts = texts.len();
        if n_facts == 0 || P::state_words(start.state()).is_none() {
            return Err(OnnxError::Game(CannotLearn::NoBits));
        }
        if n_facts > MAX_ROWS {
            return Err(OnnxError::Game(CannotLearn::TooManyFacts));
        }
        let (mut layers, ceiling) = file.layers()?;
        let last = layers.pop().ok_or(OnnxError::NotOnnx)?;
        let first = layers.pop().ok_or(OnnxError::NotOnnx)?;
        let n_heads = Players::new(start.shape()).n_heads();
        let sizes = |what: &str, found: usize, wanted: usize| match found == wanted {
            true => Ok(()),
            false => {
                Err(OnnxError::Sizes(format!("it has {found} {what}, and the game has {wanted}")))
            }
        };
        sizes("inputs", first.n_inputs, n_facts)?;
        sizes("outputs", last.n_outputs, n_heads)?;
        if first.n_outputs != last.n_inputs {
            return Err(OnnxError::Sizes("its layers do not fit each other".to_owned()));
        }
        let facts = serde_json::json!(texts).to_string();
        if file.property("agon.facts").is_some_and(|known| *known != *facts) {
            return Err(OnnxError::Sizes("it was written for other facts".to_owned()));
        }
        let view = match file.property(VIEW) {
            Some(text) => View::read(text, n_facts)?,
            None => View {
                rows: vec![(0..n_facts as u32).collect()],
                turn: None,
                signs: vec![1.0],
                symmetries: Vec::new(),
            },
        };
        let layers = Layers {
            n_facts,
            n_hidden: first.n_outputs,
            n_outputs: n_heads,
            hidden_weights: first.weights,
            hidden_biases: first.biases,
            output_weights: last.weights,
            output_biases: last.biases,
            ceiling: Some(ceiling),
            exchange: None,
        };
        let (n_hidden, weights) = layers.heads();
        let net = Neural {
            n_hidden,
            n_rows: n_facts,
            ceiling,
            rows: view.rows,
            signs: view.signs,
            turn: view.turn,
            symmetries: view.symmetries,
        };
        Model::of_network(net, &weights, start, labels, history).map_err(OnnxError::Game)
    }
}

impl View {
    fn read(text: &str, n_facts: usize) -> Result<View, OnnxError> {
        let wrong = || OnnxError::Unsupported(format!("its property {VIEW} is wrong"));
        let json: serde_json::Value = serde_json::from_str(text).map_err(|_| wrong())?;
        let list = |value: &serde_json::Value| -> Option<Vec<u32>> {
            let list: Option<Vec<u32>> = value
                .as_array()?
                .iter()
                .map(|n| u32::try_from(n.as_u64()?).ok().filter(|&n| (n as usize) < n_facts))
                .collect();
            // Each fact has a row of its own.
            let mut seen = vec![false; n_facts];
            list.iter().flatten().for_each(|&n| seen[n as usize] = true);
            list.filter(|list| list.len() == n_facts && seen.iter().all(|&seen| seen))
        };
        let lists = |key: &str| -> Option<Vec<Vec<u32>>> {
            json[key].as_array()?.iter().map(list).collect()
        };
        let rows = lists("rows").ok_or_else(wrong)?;
        let symmetries = lists("symmetries").filter(|all| all.len() <= 64).ok_or_else(wrong)?;
        let turn = match &json["turn"] {
            serde_json::Value::Null => None,
            turn => {
                let turn = turn.as_u64().filter(|&turn| turn < n_facts as u64);
                Some(turn.ok_or_else(wrong)? as u32)
            }
        };
        let signs: Option<Vec<f32>> = json["signs"]
            .as_array()
            .and_then(|signs| signs.iter().map(|sign| Some(sign.as_f64()? as f32)).collect());
        let signs = signs.filter(|signs| signs.iter().all(|sign| sign.abs() == 1.0));
        let signs = signs.ok_or_else(wrong)?;
        let n = 1 + usize::from(turn.is_some());
        let are_opposite = signs.windows(2).all(|pair| pair[0] == -pair[1]);
        if rows.len() != n || signs.len() != n || !are_opposite {
            return Err(wrong());
        }
        Ok(View { rows, turn, signs, symmetries })
    }
}

/// An ONNX model that was read.
struct File<'b> {
    nodes: Vec<Node<'b>>,
    tensors: Vec<(&'b str, Tensor)>,
    properties: Vec<(&'b str, &'b str)>,
}

impl<'b> File<'b> {
    fn read(bytes: &'b [u8]) -> Result<File<'b>, OnnxError> {
        let model = fields(bytes).ok_or(OnnxError::NotOnnx)?;
        let graph = model.iter().find(|(field, _)| *field == 7).and_then(|(_, v)| v.bytes());
        let graph = fields(graph.ok_or(OnnxError::NotOnnx)?).ok_or(OnnxError::NotOnnx)?;
        let mut file = File { nodes: Vec::new(), tensors: Vec::new(), properties: Vec::new() };
        for (field, value) in &model {
            if let (14, Some(bytes)) = (field, value.bytes()) {
                let parts = fields(bytes).ok_or(OnnxError::NotOnnx)?;
                let text = |wanted: u32| {
                    let part = parts.iter().find(|(field, _)| *field == wanted);
                    part.and_then(|(_, value)| value.text()).unwrap_or("")
                };
                file.properties.push((text(1), text(2)));
            }
        }
        for (field, value) in graph {
            match (field, value.bytes()) {
                (1, Some(bytes)) => file.nodes.push(Node::read(bytes).ok_or(OnnxError::NotOnnx)?),
                (5, Some(bytes)) => file.tensors.extend(tensor(bytes)?),
                _ => {}
            }
        }
        Ok(file)
    }

    fn property(&self, wanted: &str) -> Option<&'b str> {
        self.properties.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value)
    }

    fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|(other, _)| *other == name).map(|(_, tensor)| tensor)
    }

    /// Returns the two layers, and the upper end of the activation between them.
    fn layers(&self) -> Result<(Vec<Layer>, f32), OnnxError> {
        let is_own = self.property(VIEW).is_some();
        let mut layers: Vec<Layer> = Vec::new();
        let (mut ceiling, mut end): (Option<f32>, Option<f32>) = (None, None);
        for node in &self.nodes {
            let input = |at: usize| node.inputs.get(at).and_then(|name| self.tensor(name));
            if end.is_some() {
                return unsupported(format!("{} after the end of the network", node.op));
            }
            match node.op {
                "Gemm" | "MatMul" => {
                    if !layers.is_empty() && (ceiling.is_none() || layers.len() == 2) {
                        return unsupported("it must have two layers with Relu or Clip between");
                    }
                    let weights = input(1);
                    let Some(weights) = weights else {
                        return unsupported(format!("{} without constant weights", node.op));
                    };
                    let biases = if node.op == "Gemm" { input(2) } else { None };
                    layers.push(Layer::read(node, weights, biases)?);
                }
                "Relu" | "Clip" if layers.len() == 1 && ceiling.is_none() => {
                    ceiling = Some(self.ceiling(node)?);
                }
                "Sigmoid" | "Tanh" if layers.len() == 2 => {
                    // The hyperbolic tangent goes from -1 to 1: it is the logistic function of
                    // twice its argument.
                    end = Some(if node.op == "Tanh" { 2.0 } else { 1.0 });
                }
                "Identity" | "Flatten" | "Constant" => {}
                "Add" if !is_own => {
                    let bias = input(0).or(input(1)).map_or(&[][..], |tensor| &tensor.numbers[..]);
                    let is_open = layers.len() == 2 || ceiling.is_none();
                    match layers.last_mut().filter(|_| is_open) {
                        Some(layer) if bias.len() == layer.n_outputs => {
                            layer.biases.iter_mut().zip(bias).for_each(|(b, n)| *b += n);
                        }
                        _ => return unsupported("Add of something else than biases"),
                    }
                }
                "Gather" | "Sub" | "Mul" | "Add" if is_own => {}
                op => return unsupported(format!("the operator {op}, or not in this place")),
            }
        }
        let (Some(ceiling), Some(factor), 2) = (ceiling, end, layers.len()) else {
            return unsupported("it must have two layers and end with Sigmoid or Tanh");
        };
        if let Some(last) = layers.last_mut() {
            let numbers = last.weights.iter_mut().chain(&mut last.biases);
            numbers.for_each(|number| *number *= factor);
        }
        let mut numbers = layers.iter().flat_map(|layer| layer.weights.iter().chain(&layer.biases));
        if numbers.any(|number| number.is_nan() || number.abs() > MAX_WEIGHT) {
            return unsupported("a weight is too large or not a number");
        }
        Ok((layers, ceiling))
    }

    /// Returns the upper end of an activation whose lower end is 0.
    fn ceiling(&self, node: &Node<'_>) -> Result<f32, OnnxError> {
        if node.op == "Relu" {
            return Ok(NO_CEILING);
        }
        let bound = |at: usize, name: &str| -> Option<f32> {
            let input = node.inputs.get(at).and_then(|name| self.tensor(name));
            let input = input.and_then(|tensor| tensor.numbers.first().copied());
            input.or_else(|| node.attribute(name).map(|value| value as f32))
        };
        let (least, most) = (bound(1, "min"), bound(2, "max").unwrap_or(NO_CEILING));
        match least {
            Some(0.0) if most > 0.0 && most <= NO_CEILING => Ok(most),
            _ => unsupported("Clip must go from 0 to a number above"),
        }
    }
}

impl Layer {
    fn read(
        node: &Node<'_>,
        weights: &Tensor,
        biases: Option<&Tensor>,
    ) -> Result<Layer, OnnxError> {
        let [rows, columns] = weights.dims[..] else {
            return unsupported("weights that are not a matrix");
        };
        let is = |name: &str, value: f64| node.attribute(name).is_none_or(|found| found == value);
        if !is("alpha", 1.0) || !is("beta", 1.0) || !is("transA", 0.0) {
            return unsupported("Gemm with factors");
        }
        let is_turned = node.attribute("transB") == Some(1.0);
        let (n_inputs, n_outputs) = if is_turned { (columns, rows) } else { (rows, columns) };
        if n_inputs > MAX_ROWS || n_outputs > MAX_HIDDEN || n_inputs == 0 || n_outputs == 0 {
            return unsupported(format!("a layer of {n_inputs} inputs and {n_outputs} outputs"));
        }
        let at = |input: usize, output: usize| match is_turned {
            true => weights.numbers[output * n_inputs + input],
            false => weights.numbers[input * n_outputs + output],
        };
        let all = (0..n_inputs).flat_map(|input| (0..n_outputs).map(move |output| (input, output)));
        let numbers = all.map(|(input, output)| at(input, output)).collect();
        let biases = match biases {
            None => vec![0.0; n_outputs],
            Some(biases) if biases.numbers.len() == n_outputs => biases.numbers.clone(),
            Some(biases) if biases.numbers.len() == 1 => vec![biases.numbers[0]; n_outputs],
            Some(biases) => return unsupported(format!("{} biases", biases.numbers.len())),
        };
        Ok(Layer { n_inputs, n_outputs, weights: numbers, biases })
    }
}

impl<'b> Node<'b> {
    fn read(bytes: &'b [u8]) -> Option<Node<'b>> {
        let mut node = Node::default();
        for (field, value) in fields(bytes)? {
            match field {
                1 => node.inputs.push(value.text()?),
                4 => node.op = value.text()?,
                5 => {
                    let parts = fields(value.bytes()?)?;
                    let name = parts.iter().find(|(field, _)| *field == 1);
                    let name = name.and_then(|(_, value)| value.text())?;
                    let number = parts.iter().find_map(|(field, value)| match (field, value) {
                        (2, Value::Four(bytes)) => Some(f64::from(f32::from_le_bytes(*bytes))),
                        (3, Value::Number(number)) => Some(*number as i64 as f64),
                        _ => None,
                    });
                    node.attributes.extend(number.map(|number| (name, number)));
                }
                _ => {}
            }
        }
        Some(node)
    }

    fn attribute(&self, wanted: &str) -> Option<f64> {
        self.attributes.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value)
    }
}

/// Reads a tensor of floating point numbers. `None` if it has another type.
fn tensor(bytes: &[u8]) -> Result<Option<(&str, Tensor)>, OnnxError> {
    let parts = fields(bytes).ok_or(OnnxError::NotOnnx)?;
    let (mut name, mut kind) = ("", 0);
    let (mut dims, mut numbers): (Vec<usize>, Vec<f32>) = (Vec::new(), Vec::new());
    for (field, value) in parts {
        match field {
            1 => {
                for dim in value.integers().ok_or(OnnxError::NotOnnx)? {
                    dims.push(usize::try_from(dim).map_err(|_| OnnxError::NotOnnx)?);
                }
            }
            2 => kind = value.integers().and_then(|all| all.first().copied()).unwrap_or(0),
            4 => numbers.extend(value.floats().ok_or(OnnxError::NotOnnx)?),
            8 => name = value.text().ok_or(OnnxError::NotOnnx)?,
            9 if kind == FLOAT as i64 || kind == 0 => {
                numbers = value.floats().ok_or(OnnxError::NotOnnx)?;
            }
            13 => return unsupported("weights in another file"),
            _ => {}
        }
    }
    if kind != FLOAT as i64 {
        return Ok(None);
    }
    let n = dims.iter().try_fold(1_usize, |n, &dim| n.checked_mul(dim));
    if n != Some(numbers.len()) {
        return Err(OnnxError::NotOnnx);
    }
    Ok(Some((name, Tensor { dims, numbers })))
}
