//! Text that is being written still has an index.

use serde_json::{Value, json};

use super::client::Client;
use super::{GAME, at, place};

fn symbol_names(client: &mut Client, uri: &str) -> Vec<String> {
    let symbols = client.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}));
    let list = symbols.as_array().expect("a list");
    list.iter().map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn an_open_list_does_not_hide_the_clauses_after_it() {
    let mut client = Client::start();
    let uri = "file:///tmp/open.kif";
    let text = GAME.replace("(init (at 1))\n", "(init (at 1))\n(<= (legal walker (st");
    let found = client.open(uri, &text);
    let errors: Vec<&Value> = found.iter().filter(|one| one["severity"] == 1).collect();
    assert!(errors.iter().all(|one| one["code"] == "unmatched-parenthesis"), "{errors:?}");
    assert!(!errors.is_empty());
    let names = symbol_names(&mut client, uri);
    assert_eq!(names, ["role", "init", "legal", "next", "terminal", "goal", "succ"]);
    let definition = client.ask("textDocument/definition", at(uri, place(&text, "(succ ?m", 0, 2)));
    assert_eq!(definition.as_array().map(Vec::len), Some(3));
}

#[test]
fn clauses_with_mistakes_keep_their_names() {
    let mut client = Client::start();
    let uri = "file:///tmp/faulty.kif";
    let text = GAME.replace("(succ ?m ?n))", "(succ ?m ?n) () (?x))");
    let found = client.open(uri, &text);
    assert!(found.iter().any(|one| one["code"] == "empty-list"), "{found:?}");
    let references = client.ask("textDocument/references", at(uri, place(&text, "succ", 0, 1)));
    assert_eq!(references.as_array().map(Vec::len), Some(4));
    let variable = client.ask("textDocument/references", at(uri, place(&text, "?m", 0, 1)));
    assert_eq!(variable.as_array().map(Vec::len), Some(2));
}

#[test]
fn infix_clauses_with_mistakes_keep_their_names() {
    let mut client = Client::start();
    let uri = "file:///tmp/faulty.gdl";
    let text = "role(w).\nlegal(w,go(N)) :- true(at(M)) & succ(M,N) & (\nsucc(1,2).\np(\nq(1).\n";
    client.open(uri, text);
    // What stands in an open group belongs to it.
    assert_eq!(symbol_names(&mut client, uri), ["role", "legal", "p"]);
    let references = client.ask("textDocument/references", at(uri, place(text, "succ", 1, 1)));
    assert_eq!(references.as_array().map(Vec::len), Some(2));
}

#[test]
fn sections_with_mistakes_keep_their_names() {
    let mut client = Client::start();
    let uri = "file:///tmp/faulty.toss";
    let text = "PLAYERS a, b\nREL Won(x) = P(x) and )\nRULE Put: [e | - | -] -> [e | P(e) | -] emb ]\n\
        LOC 0 { PLAYER a MOVES [Put -> 0] }\nSTART [ | P:1 {} | ] \". P\"\n";
    client.open(uri, text);
    assert_eq!(symbol_names(&mut client, uri), ["PLAYERS", "Won", "Put", "0", "START"]);
    let references = client.ask("textDocument/references", at(uri, place(text, "P(x)", 0, 0)));
    assert_eq!(references.as_array().map(Vec::len), Some(4), "{references}");
}
