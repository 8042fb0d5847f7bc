//! The instructions of XSLT 1.0.

use std::collections::BTreeMap;
use std::rc::Rc;

use roxmltree::Node;

use super::StylesheetError;
use super::evaluate::{Context, Value, Variables, evaluate};
use super::output::{Output, text_of};
use super::xpath::{self, Axis, Expr, NodeTest};

const NAMESPACE: &str = "http://www.w3.org/1999/XSL/Transform";

/// Maximum depth of templates within templates. Stylesheets use recursion as loops over a board.
const MAX_DEPTH: usize = 3000;
/// Maximum number of instructions that are carried out.
const MAX_STEPS: usize = 5_000_000;

/// A template of a stylesheet.
struct Template<'s> {
    node: Node<'s, 's>,
    pattern: Option<Expr>,
    mode: Option<&'s str>,
    priority: f64,
}

/// A stylesheet that is being applied to a document.
pub(super) struct Transform<'s, 'd> {
    /// Later ones take precedence.
    templates: Vec<Template<'s>>,
    named: BTreeMap<&'s str, Node<'s, 's>>,
    expressions: BTreeMap<&'s str, Rc<Expr>>,
    globals: Variables<'d>,
    n_steps: usize,
    depth: usize,
}

/// Parameters that a template is called with.
type Arguments<'d> = Variables<'d>;

type Done<T> = Result<T, StylesheetError>;

impl<'s, 'd> Transform<'s, 'd> {
    /// Collects the templates of stylesheets; each takes precedence over those before it.
    ///
    /// # Errors
    /// [`StylesheetError`] if a stylesheet uses what is not supported.
    pub(super) fn new(
        sheets: &[Node<'s, 's>],
        parameters: &[(&str, f64)],
        root: Node<'d, 'd>,
    ) -> Done<Transform<'s, 'd>> {
        let mut transform = Transform {
            templates: Vec::new(),
            named: BTreeMap::new(),
            expressions: BTreeMap::new(),
            globals: BTreeMap::new(),
            n_steps: 0,
            depth: 0,
        };
        for sheet in sheets {
            if !is_instruction(*sheet, "stylesheet") && !is_instruction(*sheet, "transform") {
                return Err(StylesheetError::new(
                    "the file is not a stylesheet: its root must be xsl:stylesheet",
                ));
            }
            for node in sheet.children().filter(|node| is_instruction(*node, "template")) {
                transform.add_template(node)?;
            }
        }
        for sheet in sheets {
            for node in sheet.children().filter(Node::is_element) {
                transform.add_global(node, parameters, root)?;
            }
        }
        Ok(transform)
    }

    fn add_template(&mut self, node: Node<'s, 's>) -> Done<()> {
        if let Some(name) = node.attribute("name") {
            self.named.insert(name, node);
        }
        let Some(pattern) = node.attribute("match") else { return Ok(()) };
        for pattern in alternatives(xpath::parse(pattern)?) {
            let priority = match node.attribute("priority") {
                Some(text) => text.parse().unwrap_or(0.0),
                None => default_priority(&pattern),
            };
            let mode = node.attribute("mode");
            self.templates.push(Template { node, pattern: Some(pattern), mode, priority });
        }
        Ok(())
    }

    fn add_global(
        &mut self,
        node: Node<'s, 's>,
        parameters: &[(&str, f64)],
        root: Node<'d, 'd>,
    ) -> Done<()> {
        let name = instruction(node);
        match name {
            Some("param" | "variable") => {
                let key = required(node, "name")?;
                let given = parameters.iter().find(|(name, _)| *name == key);
                let value = match given {
                    Some((_, number)) if name == Some("param") => Value::Number(*number),
                    _ => {
                        let globals = self.globals.clone();
                        self.value_of(node, root, 1, 1, &globals)?
                    }
                };
                self.globals.insert(key.to_owned(), value);
                Ok(())
            }
            Some(
                "template" | "output" | "strip-space" | "preserve-space" | "import" | "include",
            )
            | None => Ok(()),
            Some(other) => Err(unsupported(other, node)),
        }
    }

    /// Applies the stylesheet to the root of a document.
    pub(super) fn run(&mut self, root: Node<'d, 'd>) -> Done<Vec<Output>> {
        let mut out = Vec::new();
        self.apply(&[root], None, &BTreeMap::new(), &mut out)?;
        Ok(out)
    }

    fn expression(&mut self, text: &'s str) -> Done<Rc<Expr>> {
        if let Some(known) = self.expressions.get(text) {
            return Ok(Rc::clone(known));
        }
        let parsed = Rc::new(xpath::parse(text)?);
        self.expressions.insert(text, Rc::clone(&parsed));
        Ok(parsed)
    }

    /// Applies templates to nodes: the best matching one, or the built-in rule.
    fn apply(
        &mut self,
        nodes: &[Node<'d, 'd>],
        mode: Option<&str>,
        arguments: &Arguments<'d>,
        out: &mut Vec<Output>,
    ) -> Done<()> {
        for (index, node) in nodes.iter().enumerate() {
            let found = self.best_template(*node, mode)?;
            match found {
                Some(template) => {
                    self.call(template, (*node, index + 1, nodes.len()), arguments, out)?;
                }
                None if node.is_text() => {
                    out.push(Output::Text(node.text().unwrap_or_default().to_owned()));
                }
                None => {
                    let children: Vec<Node<'d, 'd>> = node.children().collect();
                    self.deeper(|transform| {
                        transform.apply(&children, mode, &BTreeMap::new(), out)
                    })?;
                }
            }
        }
        Ok(())
    }

    fn best_template(&self, node: Node<'d, 'd>, mode: Option<&str>) -> Done<Option<Node<'s, 's>>> {
        let mut best: Option<&Template<'s>> = None;
        for template in self.templates.iter().filter(|template| template.mode == mode) {
            let is_better = best.is_none_or(|best| template.priority >= best.priority);
            if is_better
                && let Some(pattern) = &template.pattern
                && matches(node, pattern, &self.globals)?
            {
                best = Some(template);
            }
        }
        Ok(best.map(|template| template.node))
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(StylesheetError::new(format!(
                "templates call each other more than {MAX_DEPTH} deep: is there an endless loop?"
            )));
        }
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// Carries out a template with its own variables.
    fn call(
        &mut self,
        template: Node<'s, 's>,
        at: (Node<'d, 'd>, usize, usize),
        arguments: &Arguments<'d>,
        out: &mut Vec<Output>,
    ) -> Done<()> {
        self.deeper(|transform| {
            let mut variables = transform.globals.clone();
            let (node, position, size) = at;
            for child in template.children().filter(|child| is_instruction(*child, "param")) {
                let name = required(child, "name")?;
                let value = match arguments.get(name) {
                    Some(value) => value.clone(),
                    None => transform.value_of(child, node, position, size, &variables)?,
                };
                variables.insert(name.to_owned(), value);
            }
            transform.body(template, at, variables, out)
        })
    }

    /// Carries out the content of an element. Variables are visible to what follows them.
    fn body(
        &mut self,
        parent: Node<'s, 's>,
        at: (Node<'d, 'd>, usize, usize),
        mut variables: Variables<'d>,
        out: &mut Vec<Output>,
    ) -> Done<()> {
        for child in parent.children() {
            if is_instruction(child, "variable") {
                let name = required(child, "name")?;
                let value = self.value_of(child, at.0, at.1, at.2, &variables)?;
                variables.insert(name.to_owned(), value);
            } else {
                self.one(child, at, &variables, out)?;
            }
        }
        Ok(())
    }

    fn one(
        &mut self,
        node: Node<'s, 's>,
        at: (Node<'d, 'd>, usize, usize),
        variables: &Variables<'d>,
        out: &mut Vec<Output>,
    ) -> Done<()> {
        self.n_steps += 1;
        if self.n_steps > MAX_STEPS {
            return Err(StylesheetError::new(format!(
                "the stylesheet needs more than {MAX_STEPS} instructions"
            )));
        }
        if node.is_text() {
            let text = node.text().unwrap_or_default();
            if !text.trim().is_empty() {
                push_text(out, text);
            }
            return Ok(());
        }
        if !node.is_element() {
            return Ok(());
        }
        let Some(name) = instruction(node) else {
            return self.literal(node, at, variables, out);
        };
        match name {
            "value-of" => {
                let value = self.select(node, "select", at, variables)?;
                push_text(out, &value.text());
            }
            "text" => push_text(out, node.text().unwrap_or_default()),
            "if" => {
                if self.select(node, "test", at, variables)?.truth() {
                    self.body(node, at, variables.clone(), out)?;
                }
            }
            "choose" => {
                for branch in node.children().filter(Node::is_element) {
                    let is_taken = match instruction(branch) {
                        Some("when") => self.select(branch, "test", at, variables)?.truth(),
                        Some("otherwise") => true,
                        _ => return Err(unsupported(branch.tag_name().name(), branch)),
                    };
                    if is_taken {
                        return self.body(branch, at, variables.clone(), out);
                    }
                }
            }
            "for-each" => {
                let nodes = self.selected_nodes(node, at, variables)?;
                for (index, each) in nodes.iter().enumerate() {
                    self.body(node, (*each, index + 1, nodes.len()), variables.clone(), out)?;
                }
            }
            "call-template" => {
                let wanted = required(node, "name")?;
                let Some(&template) = self.named.get(wanted) else {
                    return Err(at_line(node, format!("there is no template `{wanted}`")));
                };
                let arguments = self.arguments(node, at, variables)?;
                self.call(template, at, &arguments, out)?;
            }
            "apply-templates" => {
                let nodes = self.selected_nodes(node, at, variables)?;
                let arguments = self.arguments(node, at, variables)?;
                self.deeper(|transform| {
                    transform.apply(&nodes, node.attribute("mode"), &arguments, out)
                })?;
            }
            "attribute" => {
                let name = self.template_text(required(node, "name")?, at, variables)?;
                let mut content = Vec::new();
                self.body(node, at, variables.clone(), &mut content)?;
                out.push(attribute(name, text_of(&content)));
            }
            "element" => {
                let name = self.template_text(required(node, "name")?, at, variables)?;
                let mut content = Vec::new();
                self.body(node, at, variables.clone(), &mut content)?;
                out.push(element(name, Vec::new(), content));
            }
            "copy-of" => match self.select(node, "select", at, variables)? {
                Value::Fragment(content) => out.extend(content.iter().cloned()),
                Value::Nodes(nodes) => out.extend(nodes.into_iter().map(copy)),
                other => push_text(out, &other.text()),
            },
            // The parameters of a template have been read when it was called.
            "param" | "sort" | "with-param" | "comment" | "message" => {}
            other => return Err(unsupported(other, node)),
        }
        Ok(())
    }

    /// Carries out an element that is part of the result.
    fn literal(
        &mut self,
        node: Node<'s, 's>,
        at: (Node<'d, 'd>, usize, usize),
        variables: &Variables<'d>,
        out: &mut Vec<Output>,
    ) -> Done<()> {
        let mut attributes = Vec::new();
        for attribute in node.attributes().filter(|a| a.namespace() != Some(NAMESPACE)) {
            let value = self.template_text(attribute.value(), at, variables)?;
            attributes.push((attribute.name().to_owned(), value));
        }
        let mut content = Vec::new();
        self.body(node, at, variables.clone(), &mut content)?;
        out.push(element(node.tag_name().name().to_owned(), attributes, content));
        Ok(())
    }

    fn select(
        &mut self,
        node: Node<'s, 's>,
        attribute: &'static str,
        at: (Node<'d, 'd>, usize, usize),
        variables: &Variables<'d>,
    ) -> Done<Value<'d>> {
        let expr = self.expression(required(node, attribute)?)?;
        evaluate(&expr, &context(at, variables)).map_err(|error| error.at(node))
    }

    /// Returns the nodes that `select` names, sorted by the `xsl:sort` children.
    fn selected_nodes(
        &mut self,
        node: Node<'s, 's>,
        at: (Node<'d, 'd>, usize, usize),
        variables: &Variables<'d>,
    ) -> Done<Vec<Node<'d, 'd>>> {
        let expr = self.expression(node.attribute("select").unwrap_or("node()"))?;
        let value = evaluate(&expr, &context(at, variables)).map_err(|error| error.at(node))?;
        let Value::Nodes(mut nodes) = value else {
            return Err(at_line(node, "`select` does not give nodes".to_owned()));
        };
        let sorts: Vec<Node<'s, 's>> =
            node.children().filter(|child| is_instruction(*child, "sort")).collect();
        // The first key counts most, and sorting is stable.
        for sort in sorts.into_iter().rev() {
            let key = self.expression(sort.attribute("select").unwrap_or("."))?;
            let is_number = sort.attribute("data-type") == Some("number");
            let mut keyed = Vec::with_capacity(nodes.len());
            for node in &nodes {
                let value = evaluate(&key, &context((*node, 1, 1), variables))?;
                keyed.push((value.number(), value.text(), *node));
            }
            keyed.sort_by(|a, b| if is_number { a.0.total_cmp(&b.0) } else { a.1.cmp(&b.1) });
            if sort.attribute("order") == Some("descending") {
                keyed.reverse();
            }
            nodes = keyed.into_iter().map(|(_, _, node)| node).collect();
        }
        Ok(nodes)
    }

    fn arguments(
        &mut self,
        node: Node<'s, 's>,
        at: (Node<'d, 'd>, usize, usize),
        variables: &Variables<'d>,
    ) -> Done<Arguments<'d>> {
        let mut arguments = BTreeMap::new();
        for child in node.children().filter(|child| is_instruction(*child, "with-param")) {
            let name = required(child, "name")?.to_owned();
            arguments.insert(name, self.value_of(child, at.0, at.1, at.2, variables)?);
        }
        Ok(arguments)
    }

    /// Returns the value of a variable or parameter: of its `select`, or its content.
    fn value_of(
        &mut self,
        node: Node<'s, 's>,
        here: Node<'d, 'd>,
        position: usize,
        size: usize,
        variables: &Variables<'d>,
    ) -> Done<Value<'d>> {
        let at = (here, position, size);
        if node.attribute("select").is_some() {
            return self.select(node, "select", at, variables);
        }
        if !node.has_children() {
            return Ok(Value::Text(String::new()));
        }
        let mut content = Vec::new();
        self.body(node, at, variables.clone(), &mut content)?;
        Ok(Value::Fragment(Rc::new(content)))
    }

    /// Evaluates the expressions in braces of an attribute.
    fn template_text(
        &mut self,
        text: &'s str,
        at: (Node<'d, 'd>, usize, usize),
        variables: &Variables<'d>,
    ) -> Done<String> {
        let mut result = String::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            result.push_str(&rest[..open]);
            let after = &rest[open + 1..];
            let brace = &rest[open..=open];
            if let Some(doubled) = after.strip_prefix(brace) {
                result.push_str(brace);
                rest = doubled;
                continue;
            }
            let Some((inner, outer)) = after.split_once('}').filter(|_| brace == "{") else {
                return Err(StylesheetError::new(format!("`{text}`: a brace is not closed")));
            };
            let expr = self.expression(inner)?;
            result.push_str(&evaluate(&expr, &context(at, variables))?.text());
            rest = outer;
        }
        result.push_str(rest);
        Ok(result)
    }
}

fn context<'c, 'd>(
    (node, position, size): (Node<'d, 'd>, usize, usize),
    variables: &'c Variables<'d>,
) -> Context<'c, 'd> {
    Context { node, position, size, variables, current: node }
}

fn instruction<'s>(node: Node<'s, 's>) -> Option<&'s str> {
    (node.is_element() && node.tag_name().namespace() == Some(NAMESPACE))
        .then(|| node.tag_name().name())
}

fn is_instruction(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element()
        && node.tag_name().namespace() == Some(NAMESPACE)
        && node.tag_name().name() == name
}

fn required<'s>(node: Node<'s, 's>, attribute: &str) -> Done<&'s str> {
    node.attribute(attribute).ok_or_else(|| {
        let name = node.tag_name().name();
        at_line(node, format!("xsl:{name} needs the attribute `{attribute}`"))
    })
}

fn unsupported(name: &str, node: Node<'_, '_>) -> StylesheetError {
    at_line(node, format!("xsl:{name} is not supported here"))
}

fn at_line(node: Node<'_, '_>, message: String) -> StylesheetError {
    StylesheetError::new(message).at(node)
}

/// The marker of an attribute among the content of an element. No element has such a name.
const ATTRIBUTE: &str = "@";

fn attribute(name: String, value: String) -> Output {
    let attributes = vec![(name, value)];
    Output::Element { name: ATTRIBUTE.to_owned(), attributes, children: Vec::new() }
}

/// Makes an element of a result. Attributes among its content become its own.
fn element(name: String, mut attributes: Vec<(String, String)>, content: Vec<Output>) -> Output {
    let mut children = Vec::new();
    for output in content {
        match output {
            Output::Element { name, attributes: own, .. } if name == ATTRIBUTE => {
                for (key, value) in own {
                    attributes.retain(|(known, _)| *known != key);
                    attributes.push((key, value));
                }
            }
            other => children.push(other),
        }
    }
    Output::Element { name, attributes, children }
}

fn push_text(out: &mut Vec<Output>, text: &str) {
    match out.last_mut() {
        Some(Output::Text(last)) => last.push_str(text),
        _ if text.is_empty() => {}
        _ => out.push(Output::Text(text.to_owned())),
    }
}

/// Copies a node of the document to the result.
fn copy(node: Node<'_, '_>) -> Output {
    if node.is_text() {
        return Output::Text(node.text().unwrap_or_default().to_owned());
    }
    let children = node.children().filter(|child| child.is_element() || child.is_text());
    let name = node.tag_name().name().to_owned();
    Output::Element { name, attributes: Vec::new(), children: children.map(copy).collect() }
}

/// Returns the alternatives of a pattern with `|`.
fn alternatives(pattern: Expr) -> Vec<Expr> {
    match pattern {
        Expr::Union(a, b) => [alternatives(*a), alternatives(*b)].concat(),
        other => vec![other],
    }
}

/// Returns the priority of a pattern without one (XSLT 1.0, section 5.5).
fn default_priority(pattern: &Expr) -> f64 {
    match pattern {
        Expr::Path { is_absolute: false, steps } => match steps.as_slice() {
            [step] if step.predicates.is_empty() && step.axis == Axis::Child => match step.test {
                NodeTest::Name(_) => 0.0,
                NodeTest::AnyElement | NodeTest::Text | NodeTest::AnyNode => -0.5,
            },
            _ => 0.5,
        },
        _ => 0.5,
    }
}

/// Returns whether a node matches a pattern: whether the pattern, read as a path, leads to the node
/// from one of its ancestors or from itself.
fn matches<'d>(node: Node<'d, 'd>, pattern: &Expr, globals: &Variables<'d>) -> Done<bool> {
    for from in node.ancestors() {
        if let Value::Nodes(found) = evaluate(pattern, &context((from, 1, 1), globals))?
            && found.contains(&node)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
