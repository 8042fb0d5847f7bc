//! Evaluation of XPath expressions on a document.

use std::collections::BTreeMap;
use std::rc::Rc;

use roxmltree::Node;

use super::StylesheetError;
use super::output::{Output, text_of};
use super::xpath::{Axis, Comparison, Expr, NodeTest, Operation, Step};

/// A value of an expression or variable.
#[derive(Clone, Debug)]
pub(super) enum Value<'d> {
    /// Nodes in document order, without repetitions.
    Nodes(Vec<Node<'d, 'd>>),
    Text(String),
    Number(f64),
    Truth(bool),
    /// What a variable with content holds (a result tree fragment).
    Fragment(Rc<Vec<Output>>),
}

/// Variables by name.
pub(super) type Variables<'d> = BTreeMap<String, Value<'d>>;

/// Where an expression is evaluated.
#[derive(Clone)]
pub(super) struct Context<'c, 'd> {
    pub(super) node: Node<'d, 'd>,
    /// From 1.
    pub(super) position: usize,
    pub(super) size: usize,
    pub(super) variables: &'c Variables<'d>,
    /// The current node of the stylesheet, for `current()`.
    pub(super) current: Node<'d, 'd>,
}

impl Value<'_> {
    pub(super) fn text(&self) -> String {
        match self {
            Value::Nodes(nodes) => nodes.first().map_or(String::new(), |node| node_text(*node)),
            Value::Text(text) => text.clone(),
            Value::Number(number) => number_text(*number),
            Value::Truth(truth) => truth.to_string(),
            Value::Fragment(outputs) => text_of(outputs),
        }
    }

    pub(super) fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            Value::Truth(truth) => f64::from(*truth),
            Value::Nodes(_) | Value::Text(_) | Value::Fragment(_) => parse_number(&self.text()),
        }
    }

    pub(super) fn truth(&self) -> bool {
        match self {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Text(text) => !text.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Truth(truth) => *truth,
            Value::Fragment(_) => true,
        }
    }
}

/// Reads a number as XPath does: digits with an optional sign and point, nothing else.
fn parse_number(text: &str) -> f64 {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digits.chars().any(|c| c.is_ascii_digit());
    if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Writes a number as XPath does: whole numbers without a point.
pub(super) fn number_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    // Fifteen digits, as libxslt writes, so that sums of decimals look as expected.
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

fn node_text(node: Node<'_, '_>) -> String {
    if node.is_text() {
        return node.text().unwrap_or_default().to_owned();
    }
    node.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect()
}

type Evaluated<'d> = Result<Value<'d>, StylesheetError>;

/// Evaluates an expression.
///
/// # Errors
/// [`StylesheetError`] if a variable or function does not exist, or an argument has the wrong type.
pub(super) fn evaluate<'d>(expr: &Expr, context: &Context<'_, 'd>) -> Evaluated<'d> {
    Ok(match expr {
        Expr::Or(a, b) => {
            Value::Truth(evaluate(a, context)?.truth() || evaluate(b, context)?.truth())
        }
        Expr::And(a, b) => {
            Value::Truth(evaluate(a, context)?.truth() && evaluate(b, context)?.truth())
        }
        Expr::Compare(comparison, a, b) => {
            let (a, b) = (evaluate(a, context)?, evaluate(b, context)?);
            Value::Truth(compare(*comparison, &a, &b))
        }
        Expr::Arithmetic(operation, a, b) => {
            let (a, b) = (evaluate(a, context)?.number(), evaluate(b, context)?.number());
            Value::Number(match operation {
                Operation::Add => a + b,
                Operation::Subtract => a - b,
                Operation::Multiply => a * b,
                Operation::Divide => a / b,
                Operation::Remainder => libm::fmod(a, b),
            })
        }
        Expr::Negate(inner) => Value::Number(-evaluate(inner, context)?.number()),
        Expr::Union(a, b) => {
            let mut nodes = nodes(evaluate(a, context)?)?;
            nodes.extend(self::nodes(evaluate(b, context)?)?);
            Value::Nodes(in_order(nodes))
        }
        Expr::Variable(name) => match context.variables.get(name) {
            Some(value) => value.clone(),
            None => return Err(StylesheetError::new(format!("there is no variable `${name}`"))),
        },
        Expr::Literal(text) => Value::Text(text.clone()),
        Expr::Number(number) => Value::Number(*number),
        Expr::Call(name, arguments) => call(name, arguments, context)?,
        Expr::Path { is_absolute, steps } => {
            let from = if *is_absolute { context.node.document().root() } else { context.node };
            Value::Nodes(walk(vec![from], steps, context)?)
        }
        Expr::Filter { from, predicates, steps } => {
            let mut found = nodes(evaluate(from, context)?)?;
            for predicate in predicates {
                found = filter(found, predicate, context)?;
            }
            Value::Nodes(walk(found, steps, context)?)
        }
    })
}

fn nodes<'d>(value: Value<'d>) -> Result<Vec<Node<'d, 'd>>, StylesheetError> {
    match value {
        Value::Nodes(nodes) => Ok(nodes),
        _ => Err(StylesheetError::new("a path begins at something that is not a set of nodes")),
    }
}

/// Sorts nodes in document order and removes repetitions.
fn in_order<'d>(mut nodes: Vec<Node<'d, 'd>>) -> Vec<Node<'d, 'd>> {
    nodes.sort_by_key(|node| node.id().get());
    nodes.dedup();
    nodes
}

fn walk<'d>(
    mut nodes: Vec<Node<'d, 'd>>,
    steps: &[Step],
    context: &Context<'_, 'd>,
) -> Result<Vec<Node<'d, 'd>>, StylesheetError> {
    for step in steps {
        let mut found = Vec::new();
        for node in &nodes {
            let mut selected: Vec<Node<'d, 'd>> =
                along(*node, step.axis).filter(|node| fits(*node, &step.test)).collect();
            for predicate in &step.predicates {
                selected = filter(selected, predicate, context)?;
            }
            found.extend(selected);
        }
        nodes = in_order(found);
    }
    Ok(nodes)
}

/// Returns the nodes along an axis, the nearest first.
fn along<'d>(node: Node<'d, 'd>, axis: Axis) -> Box<dyn Iterator<Item = Node<'d, 'd>> + 'd> {
    match axis {
        Axis::Child => Box::new(node.children()),
        Axis::Descendant => Box::new(node.descendants().skip(1)),
        Axis::DescendantOrSelf => Box::new(node.descendants()),
        Axis::Itself => Box::new(std::iter::once(node)),
        Axis::Parent => Box::new(node.parent().into_iter()),
        Axis::Ancestor => Box::new(node.ancestors().skip(1)),
        Axis::FollowingSibling => Box::new(node.next_siblings().skip(1)),
        Axis::PrecedingSibling => Box::new(node.prev_siblings().skip(1)),
    }
}

fn fits(node: Node<'_, '_>, test: &NodeTest) -> bool {
    match test {
        NodeTest::Name(name) => node.is_element() && node.tag_name().name() == name,
        NodeTest::AnyElement => node.is_element(),
        NodeTest::Text => node.is_text(),
        NodeTest::AnyNode => true,
    }
}

/// Returns the nodes that satisfy a predicate. A number selects a position.
fn filter<'d>(
    nodes: Vec<Node<'d, 'd>>,
    predicate: &Expr,
    context: &Context<'_, 'd>,
) -> Result<Vec<Node<'d, 'd>>, StylesheetError> {
    let size = nodes.len();
    let mut kept = Vec::new();
    for (index, node) in nodes.into_iter().enumerate() {
        let inner = Context { node, position: index + 1, size, ..context.clone() };
        let is_kept = match evaluate(predicate, &inner)? {
            Value::Number(number) => number == (index + 1) as f64,
            other => other.truth(),
        };
        if is_kept {
            kept.push(node);
        }
    }
    Ok(kept)
}

/// Compares values. A set of nodes satisfies a comparison if one of its nodes does.
fn compare(comparison: Comparison, a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Nodes(left), Value::Nodes(right)) => left.iter().any(|left| {
            let left = Value::Text(node_text(*left));
            right
                .iter()
                .any(|right| compare_plain(comparison, &left, &Value::Text(node_text(*right))))
        }),
        (Value::Nodes(_), Value::Truth(truth)) => {
            compare_plain(comparison, &Value::Truth(a.truth()), &Value::Truth(*truth))
        }
        (Value::Truth(truth), Value::Nodes(_)) => {
            compare_plain(comparison, &Value::Truth(*truth), &Value::Truth(b.truth()))
        }
        (Value::Nodes(nodes), other) => nodes
            .iter()
            .any(|node| compare_plain(comparison, &Value::Text(node_text(*node)), other)),
        (other, Value::Nodes(nodes)) => nodes
            .iter()
            .any(|node| compare_plain(comparison, other, &Value::Text(node_text(*node)))),
        _ => compare_plain(comparison, a, b),
    }
}

fn compare_plain(comparison: Comparison, a: &Value<'_>, b: &Value<'_>) -> bool {
    let is_equal = || match (a, b) {
        (Value::Truth(_), _) | (_, Value::Truth(_)) => a.truth() == b.truth(),
        (Value::Number(_), _) | (_, Value::Number(_)) => a.number() == b.number(),
        _ => a.text() == b.text(),
    };
    match comparison {
        Comparison::Equal => is_equal(),
        Comparison::Different => !is_equal(),
        Comparison::Less => a.number() < b.number(),
        Comparison::AtMost => a.number() <= b.number(),
        Comparison::Greater => a.number() > b.number(),
        Comparison::AtLeast => a.number() >= b.number(),
    }
}

/// Calls a function of the core library, or `current`.
fn call<'d>(name: &str, arguments: &[Expr], context: &Context<'_, 'd>) -> Evaluated<'d> {
    let values: Vec<Value<'d>> =
        arguments.iter().map(|argument| evaluate(argument, context)).collect::<Result<_, _>>()?;
    let wrong = || {
        let n = values.len();
        StylesheetError::new(format!("`{name}` with {n} arguments is not a function"))
    };
    let here = || Value::Nodes(vec![context.node]);
    let first = || values.first().cloned().unwrap_or_else(here);
    let text = |at: usize| values.get(at).map(Value::text).ok_or_else(wrong);
    let number = |at: usize| values.get(at).map(Value::number).ok_or_else(wrong);
    let set = || values.first().cloned().ok_or_else(wrong).and_then(nodes);
    Ok(match (name, values.len()) {
        ("position", 0) => Value::Number(context.position as f64),
        ("last", 0) => Value::Number(context.size as f64),
        ("current", 0) => Value::Nodes(vec![context.current]),
        ("true", 0) => Value::Truth(true),
        ("false", 0) => Value::Truth(false),
        ("count", 1) => Value::Number(set()?.len() as f64),
        ("sum", 1) => {
            Value::Number(set()?.iter().map(|node| parse_number(&node_text(*node))).sum())
        }
        ("name" | "local-name", 0 | 1) => {
            let node = nodes(first())?.first().copied();
            Value::Text(node.map_or(String::new(), |node| node.tag_name().name().to_owned()))
        }
        ("string", 0 | 1) => Value::Text(first().text()),
        ("number", 0 | 1) => Value::Number(first().number()),
        ("boolean", 1) => Value::Truth(first().truth()),
        ("not", 1) => Value::Truth(!first().truth()),
        ("concat", 2..) => Value::Text(values.iter().map(Value::text).collect()),
        ("starts-with", 2) => Value::Truth(text(0)?.starts_with(&text(1)?)),
        ("contains", 2) => Value::Truth(text(0)?.contains(&text(1)?)),
        ("substring-before", 2) => {
            let (all, part) = (text(0)?, text(1)?);
            Value::Text(all.split_once(&part).map_or("", |(before, _)| before).to_owned())
        }
        ("substring-after", 2) => {
            let (all, part) = (text(0)?, text(1)?);
            Value::Text(all.split_once(&part).map_or("", |(_, after)| after).to_owned())
        }
        ("substring", 2 | 3) => {
            let from = round(number(1)?);
            let to = if values.len() == 3 { from + round(number(2)?) } else { f64::INFINITY };
            let is_inside = |at: usize| (at + 1) as f64 >= from && ((at + 1) as f64) < to;
            let all = text(0)?;
            let kept = all.chars().enumerate().filter(|(at, _)| is_inside(*at));
            Value::Text(kept.map(|(_, c)| c).collect())
        }
        ("string-length", 0 | 1) => Value::Number(first().text().chars().count() as f64),
        ("normalize-space", 0 | 1) => {
            Value::Text(first().text().split_whitespace().collect::<Vec<_>>().join(" "))
        }
        ("translate", 3) => {
            let (from, to): (Vec<char>, Vec<char>) =
                (text(1)?.chars().collect(), text(2)?.chars().collect());
            let translated = |c: char| match from.iter().position(|other| *other == c) {
                None => Some(c),
                Some(at) => to.get(at).copied(),
            };
            Value::Text(text(0)?.chars().filter_map(translated).collect())
        }
        ("floor", 1) => Value::Number(libm::floor(number(0)?)),
        ("ceiling", 1) => Value::Number(libm::ceil(number(0)?)),
        ("round", 1) => Value::Number(round(number(0)?)),
        _ => return Err(wrong()),
    })
}

/// Rounds halves up, as XPath does.
fn round(number: f64) -> f64 {
    libm::floor(number + 0.5)
}
