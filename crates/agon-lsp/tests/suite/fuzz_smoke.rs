//! A short run of the fuzz targets of the language server, on any compiler: the laws of
//! `fuzz/lsp_laws.rs` on made-up edits and on damaged messages. `AGON_FUZZ_CASES` sets the number.

use agon_game::Rng;
use agon_testkit::fuzz;
use rand::{RngExt as _, SeedableRng as _};

use super::GAME;
use super::lsp_laws::{self, SEPARATOR};

const PIECES: [&str; 14] = [
    "(",
    ")",
    "?x",
    "\r\n",
    "\n",
    "\u{1f600}",
    "; c\n",
    "{1..3}",
    "|",
    "\"",
    " ",
    "|:-",
    ".",
    "or",
];

#[test]
fn edits() {
    let seeds = [GAME.to_owned(), "role(r).\r\nlegal(r,a) :- true(x).\r".to_owned()];
    let mut rng = Rng::seed_from_u64(5);
    let mutate = |seeds: &[String]| {
        let mut text = seeds[rng.random_range(0..seeds.len())].clone();
        for _ in 0..rng.random_range(1..6) {
            text.push(SEPARATOR);
            for _ in 0..4 {
                text.push(char::from(b'@' + rng.random_range(0..60)));
            }
            for _ in 0..rng.random_range(0..4) {
                text.push_str(PIECES[rng.random_range(0..PIECES.len())]);
            }
        }
        text
    };
    fuzz::try_law("lsp_edits", &seeds, 300, mutate, lsp_laws::edits);
}

#[test]
fn messages() {
    let document = "{\"textDocument\":{\"uri\":\"file:///e.kif\"},\"position\":{\"line\":1,\
        \"character\":3},\"range\":{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":9,\
        \"character\":9}},\"contentChanges\":[{\"text\":\"(role r\"}],\"newName\":\"q\",\
        \"context\":{\"diagnostics\":[]},\"options\":{\"tabSize\":2},\"positions\":[]}";
    let methods = [
        "textDocument/hover",
        "textDocument/rename",
        "textDocument/didChange",
        "textDocument/codeAction",
        "textDocument/selectionRange",
        "textDocument/semanticTokens/full/delta",
        "workspace/executeCommand",
        "workspace/symbol",
        "$/cancelRequest",
        "no/such",
    ];
    let seeds: Vec<String> = methods.iter().map(|name| format!("{name} {document}")).collect();
    let mut rng = Rng::seed_from_u64(6);
    let values = ["null", "-1", "1e300", "{}", "[]", "\"x\"", "4294967296", "true", "[[[]]]"];
    let mutate = |seeds: &[String]| {
        let mut text = String::new();
        for _ in 0..rng.random_range(1..5) {
            let seed = &seeds[rng.random_range(0..seeds.len())];
            let parts: Vec<&str> = seed.split_inclusive(':').collect();
            let at = rng.random_range(0..parts.len());
            for (place, part) in parts.iter().enumerate() {
                // One value is replaced by another one, and what follows stays.
                if place == at && place > 0 && part.ends_with(':') {
                    let rest = part.find([',', '}']).map_or("", |end| &part[end..]);
                    text.push_str(values[rng.random_range(0..values.len())]);
                    text.push_str(rest);
                } else {
                    text.push_str(part);
                }
            }
            text.push('\n');
        }
        text
    };
    fuzz::try_law("lsp_messages", &seeds, 1000, mutate, lsp_laws::messages);
}
