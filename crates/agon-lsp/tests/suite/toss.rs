//! Structure rewriting games.

use serde_json::{Value, json};

use super::client::Client;
use super::{apply, at, place};

const URI: &str = "file:///rules/row.toss";
const ROW: &str = "\
// title: Row
PLAYERS X, O
REL Full() = not ex x (not P(x) and not Q(x))
RULE Cross: [a | - | -] -> [a | P(a) | -] emb P, Q
  pre not Full()
RULE Circle: [a | - | -] -> [a | Q(a) | -] emb P, Q
PAYOFF { X: 0; O: 0 }
LOC 0 { PLAYER X MOVES [Cross -> 1] }
LOC 1 { PLAYER O MOVES [Circle -> 0] }
START [ | P:1 {}; Q:1 {} | ] \". . .\"
";

#[test]
fn all_features_work_on_structure_rewriting_games() {
    let mut client = Client::start();
    let found = client.open(URI, ROW);
    assert!(found.iter().all(|one| one["severity"] != 1), "{found:?}");
    let rule = at(URI, place(ROW, "[Cross", 0, 2));
    let definition = client.ask("textDocument/definition", rule.clone());
    assert_eq!(definition[0]["range"]["start"], place(ROW, "Cross", 0, 0));
    let hover = client.ask("textDocument/hover", rule.clone());
    let hover = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(hover.contains("rule **Cross**") && hover.contains("pre not Full()"), "{hover}");
    let keyword = client.ask("textDocument/hover", at(URI, place(ROW, "emb", 0, 1)));
    assert!(keyword["contents"]["value"].as_str().is_some_and(|t| t.contains("embedded exactly")));

    let mut rename = rule;
    rename["newName"] = json!("Mark");
    let edit = client.ask("textDocument/rename", rename);
    assert_eq!(apply(ROW, &edit["changes"][URI]), ROW.replace("Cross", "Mark"));
    // Elements are known in their section alone.
    let element = client.ask("textDocument/references", at(URI, place(ROW, "[a |", 0, 1)));
    assert_eq!(element.as_array().map(Vec::len), Some(3));

    let lenses = client.ask("textDocument/codeLens", json!({"textDocument": {"uri": URI}}));
    let whys: Vec<&Value> = lenses
        .as_array()
        .expect("a list")
        .iter()
        .filter(|lens| lens["command"]["command"] == "agon.why")
        .map(|lens| &lens["command"]["arguments"])
        .collect();
    assert_eq!(whys.len(), 3);
    for arguments in whys {
        let command = json!({"command": "agon.why", "arguments": arguments});
        match client.try_ask("workspace/executeCommand", command) {
            Ok(answer) => assert!(answer["findings"].is_array(), "{answer}"),
            Err(why) => assert!(why.contains("Circle"), "{why}"),
        }
    }
    let command = json!({"command": "agon.why", "arguments": [URI, "Full()"]});
    let answer = client.ask("workspace/executeCommand", command);
    let parts = "at the start, Full(): no\n  ex x (not P(x) and not Q(x)): yes\n    with x = a1\n";
    assert!(answer["text"].as_str().is_some_and(|text| text.starts_with(parts)), "{answer}");
    let untidy = ROW.replace("P, Q\n  pre", "P ,Q\npre");
    client.change(URI, 2, json!([{"text": untidy}]));
    let params = json!({"textDocument": {"uri": URI}, "options": {}});
    let edits = client.ask("textDocument/formatting", params);
    assert_eq!(apply(&untidy, &edits), ROW);
    let offered = client.ask("textDocument/completion", at(URI, place(&untidy, "not Full", 0, 4)));
    let offered = offered["items"].to_string();
    assert!(offered.contains("relation P/1") && offered.contains("\"ex\""), "{offered}");
}

#[test]
fn completion_knows_which_names_fit() {
    let mut client = Client::start();
    let mut offered = |typed: &str, after: &str| {
        let text = format!("{ROW}{typed}{after}");
        client.open(URI, &text);
        let spot = at(URI, place(&text, typed, 0, typed.len()));
        let list = client.ask("textDocument/completion", spot);
        let items = list["items"].as_array().expect("a list").iter();
        let labels: Vec<String> =
            items.map(|item| item["label"].as_str().expect("a label").to_owned()).collect();
        client.tell("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
        labels
    };
    assert_eq!(offered("LOC 2 { PLAYER ", ""), ["O", "X"]);
    assert_eq!(offered("LOC 2 { PLAYER X MOVES [", " -> 0] }\n"), ["Circle", "Cross"]);
    assert_eq!(offered("LOC 2 { PLAYER X MOVES [Cro", ""), ["Circle", "Cross"]);
    let locations = offered("LOC 2 { PLAYER X MOVES [Cross -> ", "] }\n");
    assert!(["0", "1"].iter().all(|name| locations.contains(&(*name).into())), "{locations:?}");
    assert!(!locations.contains(&"Cross".to_owned()), "{locations:?}");
    let rule = "RULE Third: [a | - | -] -> [a | P(a) | -] emb P, ";
    let relations = offered(rule, "");
    assert!(relations.contains(&"Q".to_owned()), "{relations:?}");
    assert!(!relations.iter().any(|name| name == "Cross" || name == "LOC"), "{relations:?}");
    let anything = offered("RULE Third: [a | ", "");
    assert!(anything.contains(&"P".to_owned()) && anything.contains(&"emb".to_owned()));
}
