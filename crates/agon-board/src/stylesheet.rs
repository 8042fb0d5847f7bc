//! Old stylesheets: XSLT 1.0 sheets of public game repositories, which draw a state as HTML.
//!
//! Such a stylesheet reads the state as XML, `<state><fact><relation>cell</relation>
//! <argument>1</argument>…</fact></state>`, has the parameters `width` and `height`, and writes HTML.
//! The entity `&ROOT;` stands for the address below which its images are. Browsers no longer open
//! them.
//!
//! Supported are all instructions and functions that these sheets use, and the rest of XSLT 1.0 that
//! comes with them. Attributes of the document, keys, `xsl:number`, formats of numbers and
//! `document()` are refused by name.
//!
//! ```
//! use agon_board::stylesheet::{Stylesheet, StylesheetOptions};
//!
//! let sheet = r#"<xsl:stylesheet version="1.0"
//!     xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
//!   <xsl:param name="width" select="400"/>
//!   <xsl:template match="/">
//!     <div id="{$width div 2}"><xsl:for-each select="//fact[relation='cell']">
//!       <b><xsl:value-of select="argument[2]"/></b></xsl:for-each></div>
//!   </xsl:template>
//! </xsl:stylesheet>"#;
//! let sheet = Stylesheet::new(sheet.to_owned(), &|_| Err("no other files".to_owned()))?;
//! let state = ["(cell 1 x)".to_owned(), "(control white)".to_owned()];
//! let drawing = sheet.draw(&state, &StylesheetOptions::default())?;
//! assert_eq!(drawing.xml, r#"<div id="280"><b>x</b></div>"#);
//! # Ok::<(), agon_board::stylesheet::StylesheetError>(())
//! ```

mod evaluate;
mod output;
mod transform;
mod xpath;

use std::fmt;

use roxmltree::{Document, Node, ParsingOptions};

use crate::svg::escape;
use output::Syntax;
use transform::Transform;

/// Why a stylesheet cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StylesheetError {
    message: String,
    line: Option<u32>,
}

impl StylesheetError {
    fn new(message: impl Into<String>) -> StylesheetError {
        StylesheetError { message: message.into(), line: None }
    }

    /// Adds the line of an instruction, unless there is one.
    fn at(mut self, node: Node<'_, '_>) -> StylesheetError {
        if self.line.is_none() {
            self.line = Some(node.document().text_pos_at(node.range().start).row);
        }
        self
    }
}

impl fmt::Display for StylesheetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for StylesheetError {}

/// A stylesheet with the sheets that it imports.
pub struct Stylesheet {
    /// The texts. Each takes precedence over those before it.
    texts: Vec<String>,
}

/// How a stylesheet draws.
#[derive(Clone, Debug)]
pub struct StylesheetOptions {
    /// The width of the picture in pixels.
    pub width: f64,
    /// The height of the picture in pixels.
    pub height: f64,
    /// The address that `&ROOT;` stands for.
    pub root: String,
}

impl Default for StylesheetOptions {
    fn default() -> StylesheetOptions {
        // The size and the address of ggp.org.
        let root = "http://games.ggp.org/base".to_owned();
        StylesheetOptions { width: 560.0, height: 560.0, root }
    }
}

/// What a stylesheet has made of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// The result as HTML, without a page around it.
    pub html: String,
    /// The result as XML.
    pub xml: String,
}

/// Maximum number of sheets that import each other.
const MAX_SHEETS: usize = 50;
/// Size of the stack of the thread in which a stylesheet is applied. Stylesheets recurse.
const STACK: usize = 512 << 20;

impl Stylesheet {
    /// Reads a stylesheet. `load` returns the text of a sheet that it imports, by its address.
    ///
    /// # Errors
    /// [`StylesheetError`] if a sheet is not XML or cannot be loaded.
    pub fn new(
        text: String,
        load: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Stylesheet, StylesheetError> {
        let mut texts = vec![text];
        let mut at = 0;
        while at < texts.len() {
            let full = with_entities(&texts[at], "");
            let document = parse(&full)?;
            let imports = document.root_element().children().filter(|node| {
                matches!(node.tag_name().name(), "import" | "include") && node.is_element()
            });
            let addresses: Vec<String> =
                imports.filter_map(|node| node.attribute("href")).map(str::to_owned).collect();
            for address in addresses {
                if texts.len() >= MAX_SHEETS {
                    return Err(StylesheetError::new(format!(
                        "more than {MAX_SHEETS} sheets import each other"
                    )));
                }
                let text = load(&address).map_err(|why| {
                    StylesheetError::new(format!("cannot import {address}: {why}"))
                })?;
                texts.push(text);
            }
            at += 1;
        }
        texts.reverse();
        Ok(Stylesheet { texts })
    }

    /// Draws a state.
    ///
    /// # Errors
    /// [`StylesheetError`] if the sheet uses what is not supported, or does not end.
    pub fn draw(
        &self,
        state: &[String],
        options: &StylesheetOptions,
    ) -> Result<Drawing, StylesheetError> {
        let xml = state_xml(state);
        std::thread::scope(|scope| {
            let work = std::thread::Builder::new().stack_size(STACK);
            let drawn = work.spawn_scoped(scope, || self.apply(&xml, options));
            let drawn =
                drawn.map_err(|error| StylesheetError::new(format!("no thread: {error}")))?;
            drawn.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn apply(&self, state: &str, options: &StylesheetOptions) -> Result<Drawing, StylesheetError> {
        let texts: Vec<String> =
            self.texts.iter().map(|text| with_entities(text, &options.root)).collect();
        let sheets: Vec<Document<'_>> =
            texts.iter().map(|text| parse(text)).collect::<Result<_, _>>()?;
        let document = parse(state)?;
        let roots: Vec<Node<'_, '_>> = sheets.iter().map(Document::root_element).collect();
        let parameters = [("width", options.width), ("height", options.height)];
        let mut transform = Transform::new(&roots, &parameters, document.root())?;
        let result = transform.run(document.root())?;
        let (mut html, mut xml) = (String::new(), String::new());
        output::write(&result, Syntax::Html, &mut html);
        output::write(&result, Syntax::Xml, &mut xml);
        Ok(Drawing { html, xml })
    }
}

impl Drawing {
    /// Returns a complete page with the drawing.
    pub fn page(&self, title: &str) -> String {
        let title = escape(title);
        format!(
            "<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
             <body>\n{}\n</body>\n</html>\n",
            self.html
        )
    }
}

/// Puts a definition of the entities in front that sheets use.
fn with_entities(text: &str, root: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    // A declaration must be the first thing of a document.
    let (declaration, rest) = match text.strip_prefix("<?xml ").and_then(|rest| rest.find("?>")) {
        Some(end) => text.split_at("<?xml ".len() + end + 2),
        None => ("", text),
    };
    if rest.contains("<!DOCTYPE") {
        return text.to_owned();
    }
    let root = escape(root);
    format!(
        "{declaration}<!DOCTYPE stylesheet [<!ENTITY ROOT \"{root}\"><!ENTITY nbsp \"&#160;\">]>{rest}"
    )
}

fn parse(text: &str) -> Result<Document<'_>, StylesheetError> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options)
        .map_err(|error| StylesheetError::new(format!("not XML: {error}")))
}

/// Returns a state as XML, in the form of ggp.org.
pub fn state_xml(state: &[String]) -> String {
    let mut xml = String::from("<state>");
    for fact in state {
        xml.push_str("<fact>");
        let tokens = fact.replace('(', " ( ").replace(')', " ) ");
        let tokens: Vec<&str> = tokens.split_whitespace().collect();
        match tokens.as_slice() {
            ["(", inner @ .., ")"] => push_terms(inner, &mut xml),
            other => xml.push_str(&escape(&other.join(" "))),
        }
        xml.push_str("</fact>\n");
    }
    xml.push_str("</state>");
    xml
}

/// Writes a relation or function and its arguments. Function terms are nested.
fn push_terms(tokens: &[&str], xml: &mut String) {
    // By open parenthesis: whether its name has been written.
    let mut open = vec![false];
    for &token in tokens {
        match token {
            "(" => {
                xml.push_str("<argument>");
                open.push(false);
            }
            ")" => {
                xml.push_str("</argument>");
                open.pop();
            }
            word => {
                let is_named = open.last_mut().is_none_or(|named| std::mem::replace(named, true));
                let name = if is_named { "argument" } else { "relation" };
                xml.push_str(&format!("<{name}>{}</{name}>", escape(word)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
