//! The server as a client sees it, over channels in memory.

mod client;
mod edits;
mod features;
mod fuzz_smoke;
mod incomplete;
mod latency;
#[path = "../../../../fuzz/lsp_laws.rs"]
mod lsp_laws;
mod neovim;
mod slow_path;
mod stdio;
mod toss;
mod vscode;

use serde_json::{Value, json};

/// A small game without findings worth mentioning.
const GAME: &str = "\
;; title: Race
;; summary: Walk from 1 to 4.
(role walker) ; the only one
(init (at 1))
(init (control walker))

(<= (legal walker (go ?n))
    (true (at ?m))
    (succ ?m ?n))

(<= (next (at ?n)) (does walker (go ?n)))
(<= (next (control walker)) (true (control walker)))

(<= terminal (true (at 4)))
(<= (goal walker 100) (true (at 4)))
(<= (goal walker 0)
    (true (at ?n))
    (distinct ?n 4))

(succ 1 2)
(succ 2 3)
(succ 3 4)
";

/// Returns the position of the `nth` occurrence of a text, counted from 0, plus some characters.
fn place(text: &str, wanted: &str, nth: usize, plus: usize) -> Value {
    let (byte, _) = text.match_indices(wanted).nth(nth).expect("the text contains it");
    let before = &text[..byte + plus];
    let line = before.matches('\n').count();
    let character = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
    json!({"line": line, "character": character})
}

/// Returns the parameters of a request about a position.
fn at(uri: &str, position: Value) -> Value {
    json!({"textDocument": {"uri": uri}, "position": position})
}

/// Applies edits of the protocol to an ASCII text.
fn apply(text: &str, edits: &Value) -> String {
    let byte = |position: &Value| {
        let number = |key: &str| position[key].as_u64().expect("a number") as usize;
        let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
        start + number("character")
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("a list of edits")
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let new = edit["newText"].as_str().expect("a text");
            (byte(&range["start"]), byte(&range["end"]), new)
        })
        .collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.0));
    let mut text = text.to_owned();
    for (start, end, new) in edits {
        text.replace_range(start..end, new);
    }
    text
}
