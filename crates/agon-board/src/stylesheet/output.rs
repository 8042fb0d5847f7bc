//! The result of a stylesheet, and its text as HTML and XML.

use crate::svg::escape;

/// A node of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Element { name: String, attributes: Vec<(String, String)>, children: Vec<Output> },
    Text(String),
}

/// Elements that HTML never closes.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// Returns the text of nodes without their tags.
pub(super) fn text_of(outputs: &[Output]) -> String {
    let text = |output: &Output| match output {
        Output::Element { children, .. } => text_of(children),
        Output::Text(text) => text.clone(),
    };
    outputs.iter().map(text).collect()
}

/// Which rules of syntax a text follows.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Syntax {
    Html,
    Xml,
}

/// Writes nodes as text.
pub(super) fn write(outputs: &[Output], syntax: Syntax, out: &mut String) {
    for output in outputs {
        match output {
            Output::Text(text) => out.push_str(&escape(text)),
            Output::Element { name, attributes, children } => {
                out.push_str(&format!("<{name}"));
                for (key, value) in attributes {
                    out.push_str(&format!(" {key}=\"{}\"", escape(value)));
                }
                let lower = name.to_ascii_lowercase();
                if syntax == Syntax::Xml && children.is_empty() {
                    out.push_str("/>");
                    continue;
                }
                out.push('>');
                if syntax == Syntax::Html && VOID.contains(&lower.as_str()) {
                    continue;
                }
                // HTML reads the content of these elements as it stands.
                if syntax == Syntax::Html && matches!(lower.as_str(), "style" | "script") {
                    out.push_str(&text_of(children).replace("</", "<\\/"));
                } else {
                    write(children, syntax, out);
                }
                out.push_str(&format!("</{name}>"));
            }
        }
    }
}
