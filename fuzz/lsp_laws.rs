//! Laws of the language server, on any edits and any messages. The fuzz targets and the tests of
//! `agon-lsp` include this file, both beside a module `client`. A broken law panics.
#![allow(dead_code)] // Each target uses one law.

use serde_json::{Value, json};

use crate::client::Client;

/// Separates the text of a document from edits, and edits from each other.
pub(crate) const SEPARATOR: char = '\u{1}';

/// Checks that after any edits the server knows what it would know of the text opened afresh. Each
/// edit has the line and the column of its start and of its end as four characters; then comes the
/// new text.
pub(crate) fn edits(text: &str) {
    let mut parts = text.split(SEPARATOR);
    let mut client = Client::start();
    let (edited, fresh) = ("file:///e.kif", "file:///f.kif");
    let mut text = parts.next().unwrap_or_default().to_owned();
    client.open(edited, &text);
    for (version, part) in (2..).zip(parts.take(8)) {
        let mut characters = part.chars();
        let mut number = || characters.next().map_or(0, |c| u32::from(c) % 64);
        let [line, column, end_line, end_column] = [number(), number(), number(), number()];
        let start = json!({"line": line.min(end_line), "character": column.min(end_column)});
        let end = json!({"line": line.max(end_line), "character": column.max(end_column)});
        let range = json!({"start": start, "end": end});
        let change = json!([{"range": range, "text": characters.as_str()}]);
        let shown = client.change(edited, version, change);
        let formatted = client.try_ask(
            "textDocument/formatting",
            json!({"textDocument": {"uri": edited}, "options": {}}),
        );
        formatted.expect("formatting never fails");
        // The text as the server sees it: replace everything by what it would be.
        text = replaced(&text, &start, &end, characters.as_str());
        let document = json!({"uri": fresh, "languageId": "x", "version": version, "text": text});
        client.tell("textDocument/didOpen", json!({"textDocument": document}));
        let again = client.diagnostics(fresh, version);
        let plain = |values: &[Value]| json!(values).to_string().replace(fresh, edited);
        assert_eq!(plain(&shown), plain(&again), "{text:?}");
        let at = json!({"textDocument": {"uri": edited}, "position": start});
        for method in ["hover", "completion", "definition", "references", "documentSymbol"] {
            let _ = client.try_ask(&format!("textDocument/{method}"), at.clone());
        }
    }
}

/// Returns a text after an edit, by the rules of the protocol: columns count UTF-16 units, and a
/// place behind the end of a line or of the text is that end.
fn replaced(text: &str, start: &Value, end: &Value, new: &str) -> String {
    let byte = |place: &Value| {
        let number = |key: &str| place[key].as_u64().unwrap_or(0) as usize;
        let mut at = 0;
        for _ in 0..number("line") {
            match text[at..].find(['\n', '\r']) {
                Some(end) if text[at + end..].starts_with("\r\n") => at += end + 2,
                Some(end) => at += end + 1,
                None => return text.len(),
            }
        }
        let line = text[at..].split(['\n', '\r']).next().unwrap_or_default();
        let mut units = 0;
        for (offset, c) in line.char_indices() {
            if units + c.len_utf16() > number("character") {
                return at + offset;
            }
            units += c.len_utf16();
        }
        at + line.len()
    };
    let (from, to) = (byte(start), byte(end));
    [&text[..from], new, &text[to.max(from)..]].concat()
}

/// Checks that no message stops the server. Each line has a method and parameters as JSON; without
/// a method it is sent as a change of a document.
pub(crate) fn messages(text: &str) {
    let mut client = Client::start();
    client.open("file:///e.kif", "(role r)\n(legal r a)");
    for line in text.lines().take(20) {
        let (method, params) = line.split_once(' ').unwrap_or((line, "{}"));
        let Ok(params) = serde_json::from_str::<Value>(params) else { continue };
        match method {
            // These end the server or its start-up, as they should.
            "" | "exit" | "shutdown" | "initialize" | "initialized" => {}
            _ if method.contains("/did") || method.starts_with('$') => client.tell(method, params),
            _ => {
                if let Err(why) = client.try_ask(method, params) {
                    assert!(!why.contains("please report"), "{line}: {why}");
                }
            }
        }
    }
    let at = json!({"textDocument": {"uri": "file:///g.kif"}});
    client.open("file:///g.kif", "(role r)");
    client.try_ask("textDocument/documentSymbol", at).expect("the server still answers");
}
