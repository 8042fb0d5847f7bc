//! Each request on a small game in KIF and in infix.

use serde_json::{Value, json};

use super::client::Client;
use super::{GAME, apply, at, place};
use agon_lsp::{CodePages, Options};

const URI: &str = "file:///rules/race.kif";

fn opened() -> Client {
    let mut client = Client::start();
    client.open(URI, GAME);
    client
}

fn lines(locations: &Value) -> Vec<u64> {
    let list = locations.as_array().expect("a list");
    list.iter().map(|one| one["range"]["start"]["line"].as_u64().expect("a line")).collect()
}

fn labels(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().expect("a list");
    items.iter().map(|item| item["label"].as_str().expect("a label").to_owned()).collect()
}

#[test]
fn diagnostics_have_codes_related_places_and_links() {
    let folder = std::env::temp_dir().join(format!("agon-lsp-codes-{}", std::process::id()));
    let code_pages = CodePages::Folder(folder.clone());
    let options = Options { idle: None, code_pages, ..Options::default() };
    let mut client = Client::start_with(options, json!({}));
    let text = GAME.replace("(succ ?m ?n))", "(suc ?m ?n))");
    let found = client.open(URI, &text);
    let undefined = found.iter().find(|one| one["code"] == "undefined-relation").expect("found");
    assert_eq!(undefined["severity"], 2);
    assert_eq!(undefined["range"]["start"], place(&text, "(suc ", 0, 1));
    let href = undefined["codeDescription"]["href"].as_str().expect("a link");
    let path = href.strip_prefix("file://").expect("a file");
    let page = std::fs::read_to_string(path).expect("the page was written");
    assert!(page.contains("undefined-relation"), "{page}");
    let _ = std::fs::remove_dir_all(folder);

    let twice = GAME.replace("(succ 2 3)\n", "(succ 2 3)\n(succ 2 3)\n");
    let found = client.change(URI, 2, json!([{"text": twice}]));
    let double = found.iter().find(|one| one["code"] == "duplicate-rule").expect("found");
    assert!(!double["relatedInformation"].as_array().expect("a list").is_empty(), "{double}");
}

#[test]
fn parameters_are_expanded_before_the_check() {
    let mut client = Client::start();
    let text = format!(";; param n = 3 in 1..9\n{GAME}\n(q {{1..n}} {{i=1..n: (w {{i}})}})\n");
    let found = client.open(URI, &text);
    let found_in_plain = client.change(URI, 2, json!([{"text": GAME}]));
    let codes = |found: &[serde_json::Value]| {
        let codes = found.iter().map(|one| one["code"].to_string());
        codes.filter(|code| code.contains("param") || code.contains("parenthes")).count()
    };
    assert_eq!(codes(&found), codes(&found_in_plain), "{found:?}");
    let wrong = client.change(URI, 3, json!([{"text": text.replace("..n}", "..m}")}]));
    let finding = wrong.iter().find(|one| one["code"] == "param-expression").expect("found");
    assert!(finding["message"].to_string().contains("no parameter `m`"), "{finding}");
}

#[test]
fn quick_fixes_and_fix_all_remove_the_findings() {
    let mut client = Client::start();
    let text = GAME.replace("(succ 2 3)", "(<= (succ 2 3))\n(<= (succ 2 3))");
    let found = client.open(URI, &text);
    assert!(found.iter().any(|one| one["code"] == "empty-body"), "{found:?}");
    let spot = place(&text, "(<= (succ 2 3))", 0, 1);
    let params = json!({"textDocument": {"uri": URI}, "range": {"start": spot, "end": spot},
        "context": {"diagnostics": []}});
    let actions = client.ask("textDocument/codeAction", params);
    let actions = actions.as_array().expect("a list");
    let kinds: Vec<&Value> = actions.iter().map(|action| &action["kind"]).collect();
    assert!(kinds.contains(&&json!("quickfix")), "{kinds:?}");
    let all = actions.iter().find(|one| one["kind"] == "source.fixAll.agon").expect("offered");
    let fixed = apply(&text, &all["edit"]["changes"][URI]);
    let left = client.change(URI, 2, json!([{"text": fixed}]));
    assert!(left.iter().all(|one| one["data"]["fixable"] == false), "{left:?}\n{fixed}");

    let only = json!({"textDocument": {"uri": URI}, "range": {"start": spot, "end": spot},
        "context": {"diagnostics": [], "only": ["refactor"]}});
    assert_eq!(client.ask("textDocument/codeAction", only), json!([]));
}

#[test]
fn misspelt_names_have_a_quick_fix_for_all_their_places() {
    let mut client = Client::start();
    let text = GAME.replace("(succ ?m ?n))", "(suc ?m ?n) (suc 1 2))");
    client.open(URI, &text);
    let spot = place(&text, "(suc ", 0, 2);
    let params = json!({"textDocument": {"uri": URI}, "range": {"start": spot, "end": spot},
        "context": {"diagnostics": []}});
    let actions = client.ask("textDocument/codeAction", params);
    let titles: Vec<&Value> =
        actions.as_array().expect("a list").iter().map(|action| &action["title"]).collect();
    assert_eq!(titles, ["change to `succ`"], "a suggestion is not part of all fixes");
    assert_eq!(actions[0]["isPreferred"], false);
    let meant = text.replace("(suc ", "(succ ");
    assert_eq!(apply(&text, &actions[0]["edit"]["changes"][URI]), meant);

    let toss = "PLAYERS X\nRULE Go: [a | - | -] -> [a | P(a) | -] emb P\nPAYOFF { X: 1 }\n\
        LOC here { PLAYER X MOVES [Goo -> hear] }\nSTART [ a | P:1 {} | ]\n";
    let uri = "file:///rules/misspelt.toss";
    let found = client.open(uri, toss);
    let codes: Vec<&Value> = found.iter().map(|one| &one["code"]).collect();
    assert!(codes.contains(&&json!("toss-unknown-rule")), "{codes:?}");
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let params = json!({"textDocument": {"uri": uri}, "range": whole,
        "context": {"diagnostics": []}});
    let actions = client.ask("textDocument/codeAction", params);
    let titles: Vec<&Value> =
        actions.as_array().expect("a list").iter().map(|action| &action["title"]).collect();
    assert_eq!(titles, ["change to `Go`", "change to `here`"]);
}

#[test]
fn unknown_commands_are_refused_by_name() {
    let mut client = opened();
    let command = json!({"command": "agon.dance", "arguments": []});
    let answer = client.try_ask("workspace/executeCommand", command);
    assert_eq!(answer, Err("there is no command `agon.dance`".to_owned()));
}

#[test]
fn hover_explains_keywords_domains_and_variables() {
    let mut client = opened();
    let mut hover = |wanted: &str, nth, plus| {
        let answer = client.ask("textDocument/hover", at(URI, place(GAME, wanted, nth, plus)));
        answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    assert!(hover("legal", 0, 2).contains("may make the move"));
    assert!(hover("distinct", 0, 2).contains("The terms differ"));
    assert!(hover("<=", 0, 0).contains("A rule"));
    let succ = hover("succ", 0, 1);
    assert!(succ.contains("**succ**/2") && succ.contains("argument 2: {`2`…`4`}"), "{succ}");
    let at = hover("(at ?m)", 0, 1);
    assert!(at.contains("term **at**/1") && at.contains("`1`…`4`"), "{at}");
    let variable = hover("?m", 0, 1);
    assert!(variable.contains("**?m** ∈ {`1`…`3`}"), "{variable}");
    assert!(hover("title", 0, 1).is_empty(), "comments have no help");
}

#[test]
fn definitions_references_and_highlights_are_found() {
    let mut client = opened();
    let spot = at(URI, place(GAME, "(succ ?m", 0, 2));
    let lines_of_facts = lines(&client.ask("textDocument/definition", spot.clone()));
    assert_eq!(lines_of_facts.len(), 3);
    let mut with = spot.clone();
    with["context"] = json!({"includeDeclaration": true});
    assert_eq!(client.ask("textDocument/references", with).as_array().map(Vec::len), Some(4));
    let mut without = spot.clone();
    without["context"] = json!({"includeDeclaration": false});
    assert_eq!(lines(&client.ask("textDocument/references", without)), [8]);
    assert_eq!(
        client.ask("textDocument/documentHighlight", spot).as_array().map(Vec::len),
        Some(4)
    );
    // Variables belong to their clause: `?n` occurs in three clauses.
    let variable = at(URI, place(GAME, "?n", 0, 1));
    assert_eq!(lines(&client.ask("textDocument/documentHighlight", variable)), [6, 8]);
}

#[test]
fn rename_changes_all_places_and_keeps_the_rules() {
    let mut client = opened();
    let mut params = at(URI, place(GAME, "succ", 0, 0));
    assert_eq!(client.ask("textDocument/prepareRename", params.clone())["placeholder"], "succ");
    params["newName"] = json!("after");
    let edit = client.ask("textDocument/rename", params.clone());
    let renamed = apply(GAME, &edit["changes"][URI]);
    assert_eq!(renamed, GAME.replace("succ", "after"));

    let mut variable = at(URI, place(GAME, "?m", 0, 1));
    variable["newName"] = json!("from");
    let edit = client.ask("textDocument/rename", variable.clone());
    assert_eq!(apply(GAME, &edit["changes"][URI]), GAME.replace("?m", "?from"));

    for (wrong, why) in [("two words", "not a name"), ("legal", "word of the language")] {
        params["newName"] = json!(wrong);
        let error = client.try_ask("textDocument/rename", params.clone()).expect_err("refused");
        assert!(error.contains(why), "{error}");
    }
    variable["newName"] = json!("?n");
    let error = client.try_ask("textDocument/rename", variable).expect_err("refused");
    assert!(error.contains("in use already, in line 7"), "{error}");
    let keyword = at(URI, place(GAME, "legal", 0, 0));
    assert!(client.ask("textDocument/prepareRename", keyword).is_null());
}

#[test]
fn symbols_folding_and_selection_follow_the_clauses() {
    let mut client = opened();
    let document = json!({"textDocument": {"uri": URI}});
    let symbols = client.ask("textDocument/documentSymbol", document.clone());
    let names: Vec<&str> = symbols
        .as_array()
        .expect("a list")
        .iter()
        .map(|symbol| symbol["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["role", "init", "legal", "next", "terminal", "goal", "succ"]);
    assert_eq!(symbols[6]["children"].as_array().map(Vec::len), Some(3));

    let folds = client.ask("textDocument/foldingRange", document.clone());
    let folds: Vec<(u64, u64)> = folds
        .as_array()
        .expect("a list")
        .iter()
        .map(|fold| (fold["startLine"].as_u64().unwrap(), fold["endLine"].as_u64().unwrap()))
        .collect();
    assert_eq!(folds, [(6, 8), (15, 17), (0, 1)]);

    let mut params = document;
    params["positions"] = json!([place(GAME, "?m", 0, 1)]);
    let selection = client.ask("textDocument/selectionRange", params);
    let mut texts = Vec::new();
    let mut range = &selection[0];
    while range.is_object() {
        let length = range["range"]["end"]["line"].as_u64().unwrap()
            - range["range"]["start"]["line"].as_u64().unwrap();
        texts.push((length, range["range"]["start"]["character"].as_u64().unwrap()));
        range = &range["parent"];
    }
    // ?m, at ?m, (at ?m), true (at ?m), (true (at ?m)), the inside of the rule, the rule, the text.
    assert_eq!(texts, [(0, 14), (0, 11), (0, 10), (0, 5), (0, 4), (2, 1), (2, 0), (22, 0)]);
}

#[test]
fn completion_knows_keywords_relations_and_domains() {
    let mut client = opened();
    let mut complete = |inserted: &str, after: &str| {
        let at_byte = GAME.find(after).expect("part of the game") + after.len();
        let text = format!("{}{inserted}{}", &GAME[..at_byte], &GAME[at_byte..]);
        let version = client.published[URI]["version"].as_i64().unwrap() + 1;
        client.change(URI, version, json!([{"text": text}]));
        let params =
            at(URI, place(&text, &format!("{after}{inserted}"), 0, after.len() + inserted.len()));
        labels(&client.ask("textDocument/completion", params))
    };
    let constants = complete(" (succ ", "(true (at ?m))");
    assert!(
        ["?m", "?n", "1", "2", "3"].iter().all(|c| constants.contains(&(*c).into())),
        "{constants:?}"
    );
    assert!(!constants.contains(&"4".into()), "4 has no successor: {constants:?}");
    let conditions = complete(" (", "(true (at ?m))");
    assert!(["true", "not", "succ"].iter().all(|c| conditions.contains(&(*c).into())));
    assert!(!conditions.contains(&"init".into()), "{conditions:?}");
    let fluents = complete(" (true (", "(true (at ?m))");
    assert_eq!(fluents, ["at", "control"]);
    let clauses = complete("\n(", "(succ 3 4)");
    assert!(["<=", "init", "succ"].iter().all(|c| clauses.contains(&(*c).into())), "{clauses:?}");
    assert!(complete(" suc", "; the only one").is_empty(), "comments are not completed");
}

#[test]
fn semantic_tokens_cover_all_words() {
    let mut client = opened();
    let answer =
        client.ask("textDocument/semanticTokens/full", json!({"textDocument": {"uri": URI}}));
    let legend = &client.capabilities["capabilities"]["semanticTokensProvider"]["legend"];
    let types = legend["tokenTypes"].as_array().expect("types");
    let data: Vec<usize> = answer["data"]
        .as_array()
        .expect("numbers")
        .iter()
        .map(|number| number.as_u64().expect("a number") as usize)
        .collect();
    let lines: Vec<&str> = GAME.lines().collect();
    let (mut line, mut start) = (0, 0);
    let mut shown = Vec::new();
    for token in data.chunks(5) {
        start = if token[0] > 0 { token[1] } else { start + token[1] };
        line += token[0];
        let word = &lines[line][start..start + token[2]];
        shown.push(format!("{word}:{}", types[token[3]].as_str().expect("a type")));
    }
    for wanted in [
        "role:keyword",
        "walker:enumMember",
        "at:method",
        "succ:function",
        "?m:variable",
        "100:number",
        "<=:keyword",
        "distinct:keyword",
        "; the only one:comment",
    ] {
        assert!(shown.iter().any(|token| token == wanted), "{wanted} is missing in {shown:?}");
    }
}

#[test]
fn formatting_returns_one_edit_or_none() {
    let mut client = opened();
    let params = json!({"textDocument": {"uri": URI}, "options": {"tabSize": 4}});
    assert_eq!(client.ask("textDocument/formatting", params.clone()), json!([]));
    let untidy = GAME.replace("(succ 1 2)", "( succ  1\n2 )");
    client.change(URI, 2, json!([{"text": untidy}]));
    let edits = client.ask("textDocument/formatting", params.clone());
    assert_eq!(apply(&untidy, &edits), GAME);
    client.change(URI, 3, json!([{"text": "(role a"}]));
    assert!(client.ask("textDocument/formatting", params).is_null());
}

#[test]
fn lenses_play_simulate_and_explain() {
    let mut client = opened();
    let lenses = client.ask("textDocument/codeLens", json!({"textDocument": {"uri": URI}}));
    let commands: Vec<(&str, &Value)> = lenses
        .as_array()
        .expect("a list")
        .iter()
        .map(|lens| (lens["command"]["command"].as_str().unwrap(), &lens["command"]["arguments"]))
        .collect();
    let names: Vec<&str> = commands.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["agon.play", "agon.simulate", "agon.why", "agon.why", "agon.why"]);
    let mut run = |name: &str, arguments: &Value| {
        client.ask("workspace/executeCommand", json!({"command": name, "arguments": arguments}))
    };
    assert_eq!(
        run("agon.play", &json!([URI]))["terminal"],
        json!(["agon", "play", "/rules/race.kif"])
    );
    let simulated = run("agon.simulate", &json!([URI]));
    assert_eq!(
        (&simulated["mean_length"], &simulated["ended"]),
        (&json!(3.0), &simulated["plays"])
    );
    assert_eq!(simulated["payoffs"], json!([{"role": "walker", "mean": 100.0}]));
    assert_eq!(run("agon.why", commands[2].1)["holds"], true);
    assert_eq!(run("agon.why", commands[3].1)["holds"], false);
    assert!(run("agon.explainCode", &json!(["unsafe-variable"]))["page"].is_string());
    let (_, message) =
        client.notes.iter().rfind(|(method, _)| method == "window/showMessage").expect("shown");
    assert!(message["message"].as_str().is_some_and(|text| text.contains("unsafe-variable")));
}

#[test]
fn clients_that_show_results_get_no_messages_of_commands() {
    let options = Options { idle: None, ..Options::default() };
    let params = json!({"capabilities": {}, "initializationOptions": {"commandMessages": false}});
    let mut client = Client::start_as(options, params);
    client.open(URI, GAME);
    let command = json!({"command": "agon.why", "arguments": [URI, "(legal walker (go 2))"]});
    let answer = client.ask("workspace/executeCommand", command);
    assert!(answer["text"].as_str().is_some_and(|text| text.contains("holds")));
    let command = json!({"command": "agon.why", "arguments": [URI, "(legal"]});
    client.try_ask("workspace/executeCommand", command).expect_err("not a sentence");
    assert!(!client.notes.iter().any(|(method, _)| method == "window/showMessage"));
}

#[test]
fn why_says_how_many_ways_it_does_not_show() {
    let mut client = Client::start();
    let starts = "(init (at 1)) (init (at 2)) (init (at 3)) (init (at 4))";
    let many = GAME.replace("(init (at 1))", starts).replace("(succ 1 2)", "(succ 1 2) (succ 4 5)");
    client.open(URI, &many);
    let command = json!({"command": "agon.why", "arguments": [URI, "(legal walker (go ?n))"]});
    let answer = client.ask("workspace/executeCommand", command);
    let text = answer["text"].as_str().unwrap_or_default();
    assert!(text.contains("in 4 ways") && text.ends_with("  and in 1 more way\n"), "{text}");
}

#[test]
fn infix_has_the_same_features() {
    let mut client = Client::start();
    let uri = "file:///rules/race.gdl";
    let text = "role(walker).\nsucc(1,2). succ(2,3).\n\
        legal(walker,go(N)) :- true(at(M)) & succ(M,N).\ninit(at(1)).\n\
        next(at(N)) :- does(walker,go(N)).\nterminal :- true(at(3)).\ngoal(walker,100).\n";
    let found = client.open(uri, text);
    assert!(found.iter().all(|one| one["severity"] != 1), "{found:?}");
    let spot = at(uri, place(text, "succ(M", 0, 1));
    assert_eq!(lines(&client.ask("textDocument/definition", spot.clone())), [1, 1]);
    let hover = client.ask("textDocument/hover", at(uri, place(text, "M", 0, 0)));
    assert!(
        hover["contents"]["value"].as_str().is_some_and(|text| text.contains("`1`, `2`")),
        "{hover}"
    );
    let mut rename = at(uri, place(text, "N", 0, 0));
    rename["newName"] = json!("Next");
    let edit = client.ask("textDocument/rename", rename.clone());
    assert!(
        apply(text, &edit["changes"][uri]).contains("go(Next)) :- true(at(M)) & succ(M,Next).")
    );
    rename["newName"] = json!("lower");
    assert!(client.try_ask("textDocument/rename", rename).is_err(), "variables are upper case");
    let typed = text.replace("succ(M,N)", "succ(M,");
    client.change(uri, 2, json!([{"text": typed}]));
    let spot = at(uri, place(&typed, "succ(M,", 0, 7));
    let offered = labels(&client.ask("textDocument/completion", spot));
    assert!(["2", "3", "M", "N"].iter().all(|c| offered.contains(&(*c).into())), "{offered:?}");
}

#[test]
fn requests_about_unknown_things_are_refused() {
    let mut client = opened();
    let unknown = client.try_ask("textDocument/hover", at("file:///other.kif", json!({})));
    assert!(unknown.expect_err("refused").contains("not open"));
    assert!(client.try_ask("textDocument/noSuchThing", at(URI, json!({}))).is_err());
    assert!(client.try_ask("noSuchThing", json!({})).is_err());
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    assert!(client.try_ask("textDocument/hover", at(URI, json!({}))).is_err());
    assert_eq!(client.published[URI]["diagnostics"], json!([]));
    assert_eq!(client.ask("shutdown", Value::Null), Value::Null);
}
