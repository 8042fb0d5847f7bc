//! Random edits: the server never fails, and knows the same as if the text were opened afresh.

use serde_json::{Value, json};

use super::GAME;
use super::client::Client;

/// A small generator of random numbers: the tests must be the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound.max(1)
    }
}

const PIECES: &[&str] = &[
    "(",
    ")",
    "()",
    " ",
    "\n",
    "\r\n",
    "?x",
    "(<= ",
    "(true (",
    "succ",
    "; c\n",
    "\"",
    "|",
    "\u{e4}",
    "\u{1f600}",
    ":-",
    ".",
    "&",
    "~",
    "p(X)",
    "/*",
    "*/",
    "{",
    "}",
    "[",
    "]",
    "RULE ",
    "REL R(x) = ",
    "LOC 0 {",
    "->",
    "//",
    "START",
    "1",
    "\u{feff}",
    "or",
    "not ",
    "emb",
    ":f(",
    "'",
    "\t",
];

/// Returns the position of a byte in UTF-16 units, for texts with any line ends.
fn position(text: &str, byte: usize) -> Value {
    let before = text[..byte].replace("\r\n", "\n");
    // A position between the two characters of a line end is the end of the line.
    let before = match before.strip_suffix('\r') {
        Some(line) if text[byte..].starts_with('\n') => line.to_owned(),
        _ => before,
    };
    let lines: Vec<&str> = before.split(['\n', '\r']).collect();
    let last = lines.last().copied().unwrap_or_default();
    json!({"line": lines.len() - 1, "character": last.encode_utf16().count()})
}

/// Asks everything that needs no position, and a few things at a position.
fn answers(client: &mut Client, uri: &str, place: &Value) -> Vec<Value> {
    let document = json!({"uri": uri});
    let at = json!({"textDocument": document, "position": place, "positions": [place],
        "newName": "renamed", "range": {"start": place, "end": place}, "context": {},
        "options": {}});
    let methods = [
        "documentSymbol",
        "foldingRange",
        "semanticTokens/full",
        "codeLens",
        "inlayHint",
        "hover",
        "completion",
        "definition",
        "references",
        "documentHighlight",
        "prepareRename",
        "selectionRange",
        "codeAction",
        "formatting",
    ];
    let mut answers = Vec::new();
    for method in methods {
        answers.push(client.ask(&format!("textDocument/{method}"), at.clone()));
    }
    match client.try_ask("textDocument/rename", at) {
        Ok(edit) => answers.push(edit),
        Err(why) => assert!(!why.contains("please report"), "{why}"),
    }
    answers
}

/// Makes random edits to a text and compares after each with a fresh document.
fn check(ending: &str, start: &str, seed: u64, n_edits: usize) {
    let mut random = Random(seed);
    let mut client = Client::start();
    let (edited, fresh) = (format!("file:///e.{ending}"), format!("file:///f.{ending}"));
    let mut text = start.to_owned();
    client.open(&edited, &text);
    for version in 2..i64::try_from(n_edits).expect("few edits") + 2 {
        let boundary = |mut byte: usize| {
            while !text.is_char_boundary(byte) {
                byte -= 1;
            }
            // Editors do not send positions between the two characters of a line end.
            if text[..byte].ends_with('\r') && text[byte..].starts_with('\n') {
                byte - 1
            } else {
                byte
            }
        };
        let from = boundary(random.below(text.len() + 1));
        let to = boundary((from + random.below(12)).min(text.len())).max(from);
        let new: String =
            (0..random.below(4)).map(|_| PIECES[random.below(PIECES.len())]).collect();
        let range = json!({"start": position(&text, from), "end": position(&text, to)});
        let shown = client.change(&edited, version, json!([{"range": range, "text": new}]));
        text.replace_range(from..to, &new);
        let place = position(&text, boundary_of(&text, random.below(text.len() + 1)));
        let document = json!({"uri": fresh, "languageId": "x", "version": version, "text": text});
        client.tell("textDocument/didOpen", json!({"textDocument": document}));
        let again = client.diagnostics(&fresh, version);
        let plain = |values: &[Value]| json!(values).to_string().replace(&fresh, &edited);
        assert_eq!(plain(&shown), plain(&again), "{text}");
        let one = answers(&mut client, &edited, &place);
        let other = answers(&mut client, &fresh, &place);
        assert_eq!(plain(&one), plain(&other), "{text}");
        if text.len() > 4000 {
            start.clone_into(&mut text);
            client.change(&edited, version, json!([{"text": text}]));
        }
    }
}

fn boundary_of(text: &str, mut byte: usize) -> usize {
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

#[test]
fn random_edits_of_kif_equal_a_fresh_start() {
    check("kif", GAME, 1, 150);
}

#[test]
fn random_edits_of_infix_equal_a_fresh_start() {
    let text = "role(w). % c\ninit(at(1)).\nlegal(w,go(N)) :- true(at(M)) & succ(M,N).\n\
        next(at(N)) :- does(w,go(N)).\nterminal :- true(at(3)) | ~p.\ngoal(w,100).\nsucc(1,2).\n";
    check("gdl", text, 2, 150);
}

#[test]
fn random_edits_of_structure_rewriting_games_equal_a_fresh_start() {
    let path = agon_testkit::files::repository().join("games/toss/bouncing-ball.toss");
    let text = std::fs::read_to_string(path).expect("a shipped game");
    check("toss", &text, 3, 150);
}

#[test]
fn random_pieces_alone_are_harmless() {
    check("kif", "", 4, 100);
    check("txt", "", 5, 100);
    check("toss", "", 6, 100);
}
