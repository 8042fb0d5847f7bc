//! Text that is being written still has an index.

use serde_json::{Value, json};

use super::client::Client;
use super::{GAME, apply, at, place};

fn symbol_names(client: &mut Client, uri: &str) -> Vec<String> {
    let symbols = client.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}));
    let list = symbols.as_array().expect("a list");
    list.iter().map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn an_open_list_does_not_hide_the_clauses_after_it() {
    let mut client = Client::start();
    let uri = "file:///rules/open.kif";
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
    let uri = "file:///rules/faulty.kif";
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
    let uri = "file:///rules/faulty.gdl";
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
    let uri = "file:///rules/faulty.toss";
    let text = "PLAYERS a, b\nREL Won(x) = P(x) and )\nRULE Put: [e | - | -] -> [e | P(e) | -] emb ]\n\
        LOC 0 { PLAYER a MOVES [Put -> 0] }\nSTART [ | P:1 {} | ] \". P\"\n";
    client.open(uri, text);
    assert_eq!(symbol_names(&mut client, uri), ["PLAYERS", "Won", "Put", "0", "START"]);
    let references = client.ask("textDocument/references", at(uri, place(text, "P(x)", 0, 0)));
    assert_eq!(references.as_array().map(Vec::len), Some(4), "{references}");
}

/// Returns what is offered at the end of `typed`, which is written after the game.
fn offered(client: &mut Client, uri: &str, game: &str, typed: &str, after: &str) -> Vec<String> {
    let text = format!("{game}{typed}{after}");
    client.open(uri, &text);
    let spot = at(uri, place(&text, typed, 0, typed.len()));
    let list = client.ask("textDocument/completion", spot);
    let items = list["items"].as_array().expect("a list").iter();
    let labels = items.map(|item| item["label"].as_str().expect("a label").to_owned()).collect();
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    labels
}

#[test]
fn a_clause_that_is_being_written_is_completed_after_a_blank() {
    let mut client = Client::start();
    let uri = "file:///rules/open.kif";
    let next_clause = "\n(succ 4 5)\n";
    for after in ["", next_clause] {
        let mut complete = |typed: &str| offered(&mut client, uri, GAME, typed, after);
        // The clause after it adds one more number.
        let known = ["?a", "1", "2", "3", "4", "5"];
        let n_more = usize::from(!after.is_empty());
        assert_eq!(complete("(<= (far ?a) (succ "), known[..4 + n_more]);
        assert_eq!(complete("(<= (far ?a)\n    (true (at "), known[..5 + n_more]);
        // The word that is being written is no suggestion.
        let conditions = complete("(<= (far ?a)\n    (suc");
        assert!(conditions.contains(&"succ".to_owned()), "{conditions:?}");
        assert!(!conditions.contains(&"suc".to_owned()), "{conditions:?}");
        // At the start of a line a new clause begins.
        let clauses = complete("(<= (far ?a) (true (at 1)\n");
        assert!(clauses.contains(&"init".to_owned()), "{clauses:?}");
    }
}

#[test]
fn an_infix_clause_that_is_being_written_is_completed_after_a_blank() {
    let mut client = Client::start();
    let uri = "file:///rules/open.infix";
    let game = "role(w).\ninit(at(1)).\nsucc(1,2).\nlegal(w,go(N)) :- true(at(M)) & succ(M,N).\n";
    let mut complete = |typed: &str| offered(&mut client, uri, game, typed, "");
    assert_eq!(complete("far(A) :- succ(A, "), ["A", "2"]);
    let conditions = complete("far(A) :- succ(A,2) & ");
    assert!(conditions.contains(&"true".to_owned()), "{conditions:?}");
    assert!(!conditions.contains(&"init".to_owned()), "{conditions:?}");
}

/// Returns the text after the first quick fix at a place.
fn fixed(client: &mut Client, uri: &str, text: &str, at: &Value) -> String {
    client.open(uri, text);
    let params = json!({
        "textDocument": {"uri": uri}, "range": {"start": at, "end": at},
        "context": {"diagnostics": [], "only": ["quickfix"]},
    });
    let actions = client.ask("textDocument/codeAction", params);
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    apply(text, &actions[0]["edit"]["changes"][uri])
}

#[test]
fn an_open_list_can_be_closed() {
    let mut client = Client::start();
    let uri = "file:///rules/open.kif";
    let (whole, open) = ("(succ ?m ?n))\n", "(succ ?m ?n ; the way\n");
    let text = GAME.replace(whole, open);
    let mended = fixed(&mut client, uri, &text, &place(&text, "(<= (legal", 0, 0));
    assert_eq!(mended, GAME.replace(whole, "(succ ?m ?n)) ; the way\n"));
}

#[test]
fn usual_mistakes_have_quick_fixes() {
    let mut client = Client::start();
    let uri = "file:///rules/mistakes.kif";
    let right = "(<= terminal (true (at 4)))";
    for (wrong, place_of) in
        [("(<= terminal (at 4))", "(at 4))\n(<= (goal"), ("(<= terminal (true at 4))", "(true at")]
    {
        let text = GAME.replace(right, wrong);
        let mended = fixed(&mut client, uri, &text, &place(&text, place_of, 0, 1));
        assert_eq!(mended, GAME, "{wrong}");
    }
    let text = GAME.replace(
        "(<= (legal walker (go ?n))\n    (true (at ?m))\n    (succ ?m ?n))",
        "(legal walker (go ?n)) <=\n    (true (at ?m))\n    (succ ?m ?n)",
    );
    let arrow = place(&text, ") <=", 0, 2);
    let expected =
        GAME.replace("(legal walker (go ?n))\n    (true", "(legal walker (go ?n)) (true");
    assert_eq!(fixed(&mut client, uri, &text, &arrow), expected);
    let done = format!("{}(<= done (true (at 4)))\n", GAME.replace(right, "(<= terminal done)"));
    let text = done.replace("(<= terminal done)", "(<= terminal (true done))");
    assert_eq!(fixed(&mut client, uri, &text, &place(&text, "(true done)", 0, 7)), done);
}
