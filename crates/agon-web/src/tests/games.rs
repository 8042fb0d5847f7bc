//! Games, checks, positions, analysis.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Server, text};
use crate::config::Config;

#[test]
fn all_shipped_games_are_listed_with_their_players_and_kind() {
    let server = Server::new();
    let answer = server.get_json("/api/v1/games", "");
    let games = answer["games"].as_array().expect("a list");
    assert_eq!(games.len(), agon::shipped::SHIPPED.len());
    let find = |id: &str| games.iter().find(|game| game["id"] == id).expect("the game");
    let chess = find("tic-tac-toe");
    assert_eq!((&chess["players"], &chess["kind"]), (&json!(2), &json!("GDL")));
    assert_eq!(find("toss-tic-tac-toe")["kind"], "Toss");
    assert!(games.iter().any(|game| game["kind"] == "GDL-II" && game["hidden"] == true));
    assert!(games.iter().all(|game| game["problem"].is_null()));
}

#[test]
fn a_game_that_does_not_exist_is_refused_with_a_hint() {
    let (status, body) = Server::new().get("/api/v1/games/tic-tac-to", "");
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(body.contains("tic-tac-toe"), "{body}");
}

#[test]
fn a_picture_of_the_start_position_is_svg_without_script() {
    let (status, svg) = Server::new().get("/api/v1/games/connect-four/picture.svg", "");
    assert_eq!(status, StatusCode::OK);
    assert!(svg.starts_with("<svg") && !svg.contains("<script") && !svg.contains("style="));
}

#[test]
fn a_check_names_the_place_and_the_fix() {
    let server = Server::new();
    let rules = "(role é)\n(<= (legal é ?m) )\n(<= (goal é 100) (not (p ?x)))";
    let answer = server.post_ok("/api/v1/check", "", &json!({"rules": rules}));
    assert!(answer["errors"].as_u64() > Some(0), "{answer}");
    let findings = answer["findings"].as_array().expect("findings");
    let units: Vec<u16> = rules.encode_utf16().collect();
    for finding in findings {
        let (from, to) = (finding["from"].as_u64(), finding["to"].as_u64());
        assert!(from <= to && to <= Some(units.len() as u64), "{finding}");
    }
    // Offsets count UTF-16 units, so the letter with an accent counts once.
    let unsafe_ = findings.iter().find(|f| f["message"].as_str().unwrap_or("").contains("?x"));
    let unsafe_ = unsafe_.expect("a finding about ?x");
    let at = usize::try_from(unsafe_["from"].as_u64().expect("a number")).expect("small");
    assert_eq!(String::from_utf16_lossy(&units[at..at + 2]), "?x");
}

#[test]
fn a_rulesheet_with_errors_is_refused_with_its_findings() {
    let server = Server::new();
    let (status, body) = server.post("/api/v1/games", "", &json!({"rules": "(role me)"}));
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(!body["findings"].as_array().expect("findings").is_empty());
}

#[test]
fn a_rulesheet_can_be_added_and_played() {
    let server = Server::new();
    let rules = agon::shipped::Shipped::named("nim").expect("nim").text;
    let body = json!({"name": "../../etc/mine.kif", "rules": rules});
    let game = server.post_ok("/api/v1/games", "", &body);
    assert_eq!((&game["name"], &game["origin"]), (&json!("mine.kif"), &json!("upload")));
    let body = json!({"game": game["id"]});
    let position = server.post_ok("/api/v1/positions", "", &body);
    assert!(!position["roles"][0]["moves"].as_array().expect("moves").is_empty());
}

#[test]
fn drafts_are_played_but_neither_listed_nor_stored_and_the_oldest_are_forgotten() {
    let mut config = Config::loopback();
    config.limits.drafts = 2;
    let server = Server::with(config);
    let draft = |limit: u32| {
        let rules = format!(
            "(role a) (init (n 0)) (legal a go) (succ 0 1) (succ 1 2) (succ 2 3)
            (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
            (<= terminal (true (n {limit}))) (goal a 100)"
        );
        let body = json!({"name": "draft.kif", "rules": rules, "draft": true});
        let game = server.post_ok("/api/v1/games", "", &body);
        assert_eq!(game["origin"], "draft");
        text(&game["id"])
    };
    let n_before = server.app.library.list().len();
    let ids = [1, 2, 3].map(draft);
    assert_eq!(server.app.library.list().len(), n_before);
    assert!(server.app.host.store.uploads().expect("they can be read").is_empty());
    let (status, _) = server.get(&format!("/api/v1/games/{}", ids[0]), "");
    assert_eq!(status, StatusCode::NOT_FOUND, "the oldest draft is forgotten");
    let position = server.post_ok("/api/v1/positions", "", &json!({"game": ids[2], "moves": []}));
    assert_eq!(position["terminal"], false);
    // A draft that is sent again becomes the newest one.
    assert_eq!(draft(2), ids[1]);
    draft(1);
    let (status, _) = server.get(&format!("/api/v1/games/{}", ids[1]), "");
    assert_eq!(status, StatusCode::OK);
}

#[test]
fn a_line_is_completed_and_its_position_shown() {
    let server = Server::new();
    let body = json!({"game": "tic-tac-toe", "moves": [["(mark 2 2)"], [null, "(mark 1 1)"]]});
    let position = server.post_ok("/api/v1/positions", "", &body);
    assert_eq!(position["moves"], json!([["(mark 2 2)", "noop"], ["noop", "(mark 1 1)"]]));
    assert_eq!(position["choosers"], json!([0]));
    assert_eq!(position["roles"][0]["n_moves"], 7);
    assert_eq!(position["terminal"], false);
    let body = json!({"game": "tic-tac-toe", "moves": [["(mark 2 2)"], ["(mark 2 2)"]]});
    let (status, answer) = server.post("/api/v1/positions", "", &body);
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text(&answer["error"]).starts_with("step 2: "), "{answer}");
}

#[test]
fn moves_with_real_numbers_have_families_and_any_number_inside_is_played() {
    let server = Server::new();
    let at = |moves: Value| json!({"game": "toss-lunar-lander", "moves": moves});
    let start = server.post_ok("/api/v1/positions", "", &at(json!([])));
    let families = start["roles"][0]["families"].as_array().expect("families");
    let burn =
        families.iter().find(|family| family["text"] == "(Burn s)").expect("there is thrust");
    let expected = json!([{"name": "t", "low": 0.5, "high": 12.0},
        {"name": "a", "low": 0.0, "high": 4.05}]);
    assert_eq!(burn["parameters"], expected);
    assert!(text(&start["svg"]).contains("data-place=\"plane/s\""), "the ship is a point");
    // Numbers that no listed move has.
    let played = "(Burn s (t 1.2345) (a 2.6543))";
    let listed = start["roles"][0]["moves"].as_array().expect("moves");
    assert!(listed.iter().all(|one| one["text"] != played));
    let next = server.post_ok("/api/v1/positions", "", &at(json!([[played]])));
    let value = |name: &str| {
        let state = next["state"].as_array().expect("a state").iter().map(text);
        let fluent = state.clone().find(|fluent| fluent.starts_with(&format!("({name} ")));
        let fluent =
            fluent.unwrap_or_else(|| panic!("no {name} in {:?}", state.collect::<Vec<_>>()));
        let number = fluent.trim_end_matches(')').rsplit(' ').next().expect("a number").to_owned();
        // Numbers without decimals are fractions.
        let parts = number.split('/').map(|part| part.parse::<f64>().expect("a number"));
        parts.reduce(|above, below| above / below).expect("a number")
    };
    let height = 194.4 + (2.6543 - 1.62) * 1.2345 * 1.2345 / 2.0;
    assert!((value("h") - height).abs() < 1e-6, "{}", value("h"));
    assert!((value("fuel") - (40.0 - 2.6543 * 1.2345)).abs() < 1e-6);
    for outside in ["(Burn s (t 1.2345) (a 4.06))", "(Burn s (t 0.49) (a 1))", "(Burn s (t 1))"] {
        let (status, answer) = server.post("/api/v1/positions", "", &at(json!([[outside]])));
        assert_eq!(status, StatusCode::BAD_REQUEST, "{outside}: {answer}");
    }
}

/// Returns the reports of an analysis.
fn analysis(server: &Server, body: &Value) -> Vec<Value> {
    let request = axum::http::Request::post("/api/v1/analysis")
        .header("host", "localhost")
        .header("content-type", "application/json");
    let request = request.body(axum::body::Body::from(body.to_string())).expect("a request");
    let (status, stream) = server.send(request);
    assert_eq!(status, StatusCode::OK, "{stream}");
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

#[test]
fn an_analysis_streams_reports_until_the_value_is_proved() {
    let server = Server::new();
    let moves = json!([["(mark 1 1)"], [null, "(mark 2 1)"], ["(mark 2 2)"], [null, "(mark 3 1)"]]);
    let body = json!({"game": "tic-tac-toe", "moves": moves, "player": "mcts", "seconds": 20});
    let reports = analysis(&server, &body);
    let last = reports.last().expect("a report");
    assert_eq!((&last["best"], &last["proven"]), (&json!("(mark 3 3)"), &json!(true)));
    assert_eq!(last["last"], true);
}

/// The counts are those of the whole analysis. A search with a small memory goes on when it is full.
#[test]
fn an_analysis_counts_everything_since_its_beginning() {
    let server = Server::new();
    let body = json!({"game": "connect-four", "player": "mcts(nodes=20000)", "seconds": 2.5});
    let reports = analysis(&server, &body);
    let numbers = |key: &str| -> Vec<u64> {
        reports.iter().map(|report| report[key].as_u64().expect("a number")).collect()
    };
    for key in ["iterations", "playouts", "nodes"] {
        let counts = numbers(key);
        assert!(counts.is_sorted() && counts.len() > 1, "{key}: {counts:?}");
        assert!(counts[0] < counts[counts.len() - 1], "{key}: {counts:?}");
    }
}

#[test]
fn a_position_is_explained_in_words() {
    let server = Server::new();
    let body = json!({"game": "tic-tac-toe", "moves": [["(mark 2 2)"]]});
    let answer = server.post_ok("/api/v1/explain", "", &body);
    assert!(!answer["sections"][0]["lines"].as_array().expect("lines").is_empty());
}

#[test]
fn the_trajectory_of_a_step_has_values_events_and_pictures() {
    let server = Server::new();
    let ask = |game: &str, moves: Value| {
        let body = json!({"game": game, "moves": moves, "points": 5});
        server.post("/api/v1/trajectory", "", &body)
    };
    let (status, fall) = ask("toss-bouncing-ball", json!([["(Watch b)"]]));
    assert_eq!(status, StatusCode::OK, "{fall}");
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().expect("a list").iter().filter_map(Value::as_f64).collect()
    };
    let times = numbers(&fall["times"]);
    assert_eq!(times.len(), 5);
    assert_eq!(numbers(&fall["events"]), [fall["duration"].as_f64().expect("a number")]);
    let values = fall["values"].as_array().expect("values");
    let height = values.iter().find(|value| value["function"] == "y").expect("the height");
    for (height, time) in numbers(&height["samples"]).iter().zip(&times) {
        assert!((height - (10.0 - 9.81 * time * time / 2.0)).abs() < 1e-9);
    }
    let frames = fall["frames"].as_array().expect("frames");
    assert_eq!(frames.len(), 5);
    assert!(frames.iter().all(|frame| frame.as_str().is_some_and(|svg| svg.starts_with("<svg"))));
    // The picture is the same part of the line in all frames, so heights are proportional.
    let places = fall["places"]["plane/b"].as_array().expect("the ball");
    let y = |at: usize| places[at][1].as_f64().expect("a number");
    assert!((((y(2) - y(0)) / (y(4) - y(0))) - 0.25).abs() < 1e-6, "{places:?}");

    let (_, still) = ask("tic-tac-toe", json!([["(mark 1 1)", "noop"]]));
    assert_eq!((&still["duration"], &still["frames"]), (&json!(0), &json!([])));
    let (status, refusal) = ask("toss-bouncing-ball", json!([]));
    assert_eq!(status, StatusCode::BAD_REQUEST, "{refusal}");
    let (status, refusal) = ask("toss-bouncing-ball", json!([["(Watch z)"]]));
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(
        refusal["error"].as_str().is_some_and(|text| text.starts_with("step 1: ")),
        "{refusal}"
    );
    let position = server.post_ok(
        "/api/v1/positions",
        "",
        &json!({"game": "toss-bouncing-ball", "moves": []}),
    );
    assert_eq!(position["continuous"], true);
}

#[test]
fn a_place_has_questions_about_facts_and_about_legal_and_illegal_moves() {
    let server = Server::new();
    let ask = |game: &str, moves: Value, place: &str| {
        let body = json!({"game": game, "moves": moves, "place": place});
        let answer = server.post_ok("/api/v1/questions", "", &body);
        let questions = answer["questions"].as_array().expect("questions").clone();
        let question = |q: &Value| format!("{} {}", text(&q["kind"]), text(&q["sentence"]));
        questions.iter().map(question).collect::<Vec<String>>()
    };
    assert_eq!(
        ask("tic-tac-toe", json!([["(mark 2 2)", "noop"]]), "board/2/2"),
        [
            "fact (true (cell 2 2 x))",
            "illegal (legal xplayer (mark 2 2))",
            "illegal (legal oplayer (mark 2 2))"
        ]
    );
    let free = ask("tic-tac-toe", json!([["(mark 2 2)", "noop"]]), "board/1/1");
    assert!(free.contains(&"legal (legal oplayer (mark 1 1))".to_owned()), "{free:?}");
    assert!(ask("tic-tac-toe", json!([]), "board/9/9").is_empty());
}

#[test]
fn games_are_opened_side_by_side_and_each_only_once() {
    let server = Server::new();
    let library = &server.app.library;
    std::thread::scope(|scope| {
        let open = |id: &'static str| scope.spawn(move || library.open(id).is_ok());
        let threads: Vec<_> =
            ["nim", "tic-tac-toe", "nim", "connect-three"].into_iter().map(open).collect();
        assert!(threads.into_iter().all(|thread| thread.join().expect("no panic")));
    });
    assert!(library.is_idle(), "no lock is left behind");
}

#[test]
fn experiments_are_listed_and_need_workers() {
    let server = Server::new();
    let answer = server.get_json("/api/v1/experiments", "");
    let known = answer["experiments"].as_array().expect("a list");
    assert_eq!(known.len(), agon::experiment::EXPERIMENTS.len());
    assert!(known.iter().all(|one| one["title"].is_string() && one["games"].is_array()));
    assert_eq!(answer["runs"], json!([]));
    for (body, wanted) in [
        (json!({"name": "none"}), "there is no experiment `none`"),
        (json!({"name": "trutman-table-5.2", "repeats": 0}), "at least 1"),
        (json!({"name": "trutman-table-5.2"}), "without worker processes"),
    ] {
        let (status, refusal) = server.post("/api/v1/experiments", "", &body);
        assert_ne!(status, StatusCode::OK);
        assert!(refusal["error"].as_str().is_some_and(|text| text.contains(wanted)), "{refusal}");
    }
}

#[test]
fn an_explanation_has_concepts_with_their_places() {
    let server = Server::new();
    let body = json!({"game": "tic-tac-toe", "moves": [["(mark 2 2)", "noop"]]});
    let answer = server.post_ok("/api/v1/explain", "", &body);
    let concepts = answer["concepts"].as_array().expect("concepts");
    assert!(!concepts.is_empty(), "{answer}");
    for concept in concepts {
        let facts = concept["facts"].as_array().expect("facts");
        let places = concept["places"].as_array().expect("places");
        assert!(facts.len() > 1 && places.len() == facts.len(), "{concept}");
        assert!(facts.iter().all(|fact| text(fact).starts_with("(cell ")), "{concept}");
    }
    let held: Vec<&Value> =
        concepts.iter().flat_map(|concept| concept["held"].as_array().expect("held")).collect();
    assert!(!held.is_empty() && held.iter().all(|fact| **fact == "(cell 2 2 x)"), "{held:?}");
}
