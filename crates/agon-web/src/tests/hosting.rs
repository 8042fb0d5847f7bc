//! Matches: play, take back, secrets, hidden information, storage.

use std::path::PathBuf;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Server, is_asked, text};
use crate::config::Config;

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("agon-web-{}-{name}.db", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn a_person_beats_the_clockless_computer_or_not_but_the_match_ends() {
    let server = Server::new();
    let made = server.create(&json!({"game": "tic-tac-toe", "players": ["human", "mcts"],
        "iterations": 50, "start_clock": 0}));
    let (id, key) = (text(&made["id"]), text(&made["role_keys"][0]));
    assert!(made["role_keys"][1].is_null());
    loop {
        let view =
            server.wait(&id, &key, "a turn", |view| is_asked(view, 0) || !view["ending"].is_null());
        if !view["ending"].is_null() {
            assert_eq!(view["ending"]["kind"], "finished");
            assert_eq!(view["ending"]["payoffs"].as_array().map(Vec::len), Some(2));
            break;
        }
        let moves = view["asked"][0]["moves"].as_array().expect("moves");
        server.play(&id, &key, moves[0]["text"].as_str().expect("a text"));
        let n_steps = view["n_steps"].as_u64();
        server.wait(&id, &key, "the step", |view| view["n_steps"].as_u64() > n_steps);
    }
    let record = server.get_json(&format!("/api/v1/matches/{id}/record"), "");
    assert_eq!(record["isCompleted"], true);
    // The record can be imported again.
    let made = server.post_ok("/api/v1/matches/import", "", &json!({"record": record}));
    let copy = server.get_json(&format!("/api/v1/matches/{}", text(&made["id"])), "");
    assert_eq!(
        copy["ending"]["payoffs"],
        record["goalValues"]
            .as_array()
            .map(|goals| { goals.iter().map(|goal| json!(goal.as_f64())).collect::<Value>() })
            .expect("goals")
    );
}

#[test]
fn a_trace_that_was_cut_off_differs_from_nothing() {
    let server = Server::new();
    let state = |row: i32, mark: &str| format!("(cell {row} 1 {mark})");
    let cells = |first: &str| -> Vec<String> {
        let rest = (1..=3).flat_map(|x| (1..=3).map(move |y| (x, y))).filter(|at| *at != (1, 1));
        let rest = rest.map(|(x, y)| format!("(cell {x} {y} blank)"));
        rest.chain([state(1, first)]).collect()
    };
    let (mut before, mut after) = (cells("blank"), cells("x"));
    before.push("(control xplayer)".to_owned());
    after.push("(control oplayer)".to_owned());
    let step = json!({"state": before, "move": ["(mark 1 1)", "noop"]});
    let play =
        |goals: Value| json!({"steps": [step], "final": after, "terminal": false, "goals": goals});
    let record = json!({"game": "tic-tac-toe.kif", "plays": [play(json!([50, 50]))]});
    let made = server.post_ok("/api/v1/matches/import", "", &json!({"record": record}));
    let view = server.get_json(&format!("/api/v1/matches/{}", text(&made["id"])), "");
    assert_eq!(view["ending"]["note"], Value::Null, "{}", view["ending"]);
    assert_eq!(view["seats"][0]["player"], "unknown");
}

#[test]
fn moves_are_checked_and_belong_to_their_role_and_step() {
    let server = Server::new();
    let body = json!({"game": "tic-tac-toe", "players": ["human", "human"]});
    let made = server.create(&body);
    let id = text(&made["id"]);
    let keys = [text(&made["role_keys"][0]), text(&made["role_keys"][1])];
    server.wait(&id, &keys[0], "x's turn", |view| is_asked(view, 0));
    let path = format!("/api/v1/matches/{id}/moves");
    let refuse = |key: &str, body: Value, wanted: StatusCode| {
        let (status, answer) = server.post(&path, key, &body);
        assert_eq!(status, wanted, "{answer}");
        text(&answer["error"])
    };
    refuse("", json!({"move": "(mark 1 1)"}), StatusCode::FORBIDDEN);
    refuse(&keys[1], json!({"move": "(mark 1 1)"}), StatusCode::CONFLICT);
    refuse(&keys[1], json!({"role": 0, "move": "(mark 1 1)"}), StatusCode::FORBIDDEN);
    refuse(&keys[0], json!({"move": "(mark 1 4)"}), StatusCode::BAD_REQUEST);
    refuse(&keys[0], json!({"step": 1, "move": "(mark 1 1)"}), StatusCode::CONFLICT);
    server.play(&id, &keys[0], "( MARK 1 1 )");
    let view = server.wait(&id, &keys[1], "o's turn", |view| is_asked(view, 1));
    assert_eq!(view["steps"][0]["joint"], json!(["(mark 1 1)", "noop"]));
    // A viewer without a secret sees the board, but is not told how to move.
    let view = server.get_json(&format!("/api/v1/matches/{id}"), "");
    assert!(view["asked"][0]["moves"].is_null() && view["boards"][0]["svg"].is_string());
    assert!(view["seats"][0]["key"].is_null(), "secrets are for the owner");
}

#[test]
fn a_person_plays_numbers_within_the_intervals() {
    let server = Server::new();
    let made = server.create(&json!({"game": "toss-cat-and-mouse", "players": ["human", "human"]}));
    let id = text(&made["id"]);
    let keys = [text(&made["role_keys"][0]), text(&made["role_keys"][1])];
    let view = server.wait(&id, &keys[0], "the cat is asked", |view| is_asked(view, 0));
    let cat = view["asked"].as_array().expect("a list").iter().find(|one| one["role"] == 0);
    let families = &cat.expect("the cat is asked")["families"];
    assert_eq!(families[0]["text"], "(Chase c)");
    let names: Vec<&Value> =
        families[0]["parameters"].as_array().expect("a list").iter().map(|p| &p["name"]).collect();
    assert_eq!(names, ["t", "px", "py"]);
    let path = format!("/api/v1/matches/{id}/moves");
    let outside = json!({"move": "(Chase c (t 1) (px 1.001) (py 0))"});
    assert_eq!(server.post(&path, &keys[0], &outside).0, StatusCode::BAD_REQUEST);
    server.play(&id, &keys[0], "(Chase c (t 0.75) (px 0.3125) (py -0.125))");
    server.wait(&id, &keys[1], "the mouse is asked", |view| is_asked(view, 1));
    server.play(&id, &keys[1], "(Run m (t 1) (px 0.0625) (py 0.5))");
    let view = server.wait(&id, "", "a step", |view| view["n_steps"] == 1);
    let state = view["boards"][0]["state"].as_array().expect("a state");
    // Time passes until the shorter duration is over.
    assert!(state.contains(&json!("(x c 0.234375)")), "{state:?}");
}

#[test]
fn taking_back_needs_all_people_and_goes_to_their_last_decision() {
    let server = Server::new();
    let made = server.create(&json!({"game": "tic-tac-toe", "players": ["human", "human"]}));
    let id = text(&made["id"]);
    let keys = [text(&made["role_keys"][0]), text(&made["role_keys"][1])];
    server.wait(&id, &keys[0], "x's turn", |view| is_asked(view, 0));
    server.play(&id, &keys[0], "(mark 1 1)");
    server.wait(&id, &keys[1], "o's turn", |view| is_asked(view, 1));
    let path = format!("/api/v1/matches/{id}/takeback");
    assert_eq!(server.post_ok(&path, &keys[0], &json!({}))["done"], false);
    let view = server.get_json(&format!("/api/v1/matches/{id}"), "");
    assert_eq!((&view["n_steps"], &view["takeback"]), (&json!(1), &json!([0])));
    assert_eq!(server.post_ok(&path, &keys[1], &json!({}))["done"], true);
    let view = server.wait(&id, &keys[0], "x's turn again", |view| is_asked(view, 0));
    assert_eq!(view["n_steps"], 0);
    server.play(&id, &keys[0], "(mark 3 3)");
    server.wait(&id, &keys[1], "o's turn", |view| is_asked(view, 1));
}

#[test]
fn resigning_ends_the_match_and_owners_may_replace_players() {
    let server = Server::new();
    let made = server.create(&json!({"game": "tic-tac-toe", "players": ["human", "human"]}));
    let id = text(&made["id"]);
    let owner = text(&made["owner_key"]);
    let body = json!({"role": 1, "player": "random"});
    let seat = format!("/api/v1/matches/{id}/seat");
    assert_eq!(server.post(&seat, "", &body).0, StatusCode::FORBIDDEN);
    let keys = server.post_ok(&seat, &owner, &body)["role_keys"].clone();
    assert!(keys[1].is_null());
    let key = text(&keys[0]);
    server.wait(&id, &key, "x's turn", |view| is_asked(view, 0));
    server.play(&id, &key, "(mark 2 2)");
    server.wait(&id, &key, "the answer", |view| view["n_steps"] == 2);
    server.post_ok(&format!("/api/v1/matches/{id}/resign"), &key, &json!({}));
    let view = server.get_json(&format!("/api/v1/matches/{id}"), "");
    assert_eq!(view["ending"], json!({"kind": "resigned", "role": 0}));
}

#[test]
fn an_invitation_is_good_for_one_person() {
    let server = Server::new();
    let made = server.create(&json!({"game": "tic-tac-toe", "players": ["human", "human"]}));
    let id = text(&made["id"]);
    let (owner, invitation) = (text(&made["owner_key"]), text(&made["role_keys"][1]));
    let path = format!("/api/v1/matches/{id}/claim");
    let claimed = server.post_ok(&path, "", &json!({"key": invitation}));
    assert_eq!(claimed["role"], 1);
    assert_ne!(text(&claimed["key"]), invitation);
    let (status, _) = server.post(&path, "", &json!({"key": invitation}));
    assert_eq!(status, StatusCode::FORBIDDEN);
    let view = server.get_json(&format!("/api/v1/matches/{id}"), &owner);
    assert!(view["seats"][1]["key"].is_null() && view["seats"][0]["key"].is_string());
}

#[test]
fn the_secret_of_a_role_that_is_taken_is_not_told_to_the_owner() {
    let server = Server::new();
    let made = server.create(&json!({"game": "four-way-tron", "players": ["human", "human"]}));
    let id = text(&made["id"]);
    let (owner, invitation) = (text(&made["owner_key"]), text(&made["role_keys"][1]));
    let path = format!("/api/v1/matches/{id}/claim");
    let claimed = server.post_ok(&path, "", &json!({"key": invitation}));
    // Changing the seat of a computer returns the secrets of seats that are free.
    let body = json!({"role": 2, "player": "random"});
    let answer = server.post_ok(&format!("/api/v1/matches/{id}/seat"), &owner, &body);
    assert_eq!(answer["role_keys"][0], made["role_keys"][0]);
    assert!(answer["role_keys"][1].is_null(), "{answer}");
    assert!(!answer.to_string().contains(&text(&claimed["key"])));
}

#[test]
fn the_seed_is_drawn_anew_and_is_a_secret_where_it_tells_the_cards() {
    let server = Server::new();
    let seed = |game: &str| {
        let made = server.create(&json!({"game": game, "players": ["human", "human"]}));
        let path = format!("/api/v1/matches/{}", text(&made["id"]));
        let views = ["owner_key", "watch_key"].map(|name| text(&made[name]));
        let views = views.map(|key| server.get_json(&path, &key)["seed"].clone());
        let of_player = server.get_json(&path, &text(&made["role_keys"][0]))["seed"].clone();
        assert_eq!(views, [of_player.clone(), of_player.clone()]);
        of_player
    };
    assert!(seed("kuhn-poker").is_null());
    let open = [seed("tic-tac-toe"), seed("tic-tac-toe")];
    assert!(open[0].is_u64() && open[0] != open[1], "{open:?}");
    let made = server.create(&json!({"game": "tic-tac-toe", "players": ["human"], "seed": 7}));
    let view = server.get_json(&format!("/api/v1/matches/{}", text(&made["id"])), "");
    assert_eq!(view["seed"], 7);
}

#[test]
fn a_view_has_the_time_at_which_it_is_sent() {
    let server = Server::new();
    let made = server.create(&json!({"game": "tic-tac-toe", "players": ["human", "human"]}));
    let (id, key) = (text(&made["id"]), text(&made["role_keys"][0]));
    let first = server.wait(&id, &key, "x's turn", |view| is_asked(view, 0));
    std::thread::sleep(std::time::Duration::from_millis(5));
    let second = server.get_json(&format!("/api/v1/matches/{id}"), &key);
    // Nothing has happened meanwhile, so all but the time is as before.
    assert!(second["now"].as_u64() > first["now"].as_u64());
    assert_eq!(second["asked"], first["asked"]);
}

#[test]
fn what_a_role_may_not_know_is_not_sent_to_it() {
    let server = Server::new();
    // Both roles choose a coin side in secret; nothing of the other's choice is perceived.
    let rules = "(role a) (role b) (side heads) (side tails) (init (step 1))
        (<= (legal ?r (secretly ?s)) (role ?r) (side ?s) (true (step 1)))
        (<= (legal ?r (guess ?s)) (role ?r) (side ?s) (true (step 2)))
        (<= (next (step 2)) (true (step 1)))
        (<= (next (step 3)) (true (step 2)))
        (<= (next (chosen ?r ?s)) (does ?r (secretly ?s)))
        (<= (next (chosen ?r ?s)) (true (chosen ?r ?s)))
        (<= (next (guessed ?r ?s)) (does ?r (guess ?s)))
        (<= (sees ?r (mine ?s)) (does ?r (secretly ?s)))
        (<= terminal (true (step 3)))
        (other a b) (other b a)
        (<= (right ?r) (true (guessed ?r ?s)) (other ?r ?o) (true (chosen ?o ?s)))
        (<= (goal ?r 100) (role ?r) (right ?r))
        (<= (goal ?r 0) (role ?r) (not (right ?r)))";
    let game = server.post_ok("/api/v1/games", "", &json!({"name": "coins.kif", "rules": rules}));
    let made = server.create(&json!({"game": game["id"], "players": ["human", "human"]}));
    let id = text(&made["id"]);
    let keys = [text(&made["role_keys"][0]), text(&made["role_keys"][1])];
    server.wait(&id, &keys[0], "a's turn", |view| is_asked(view, 0));
    server.play(&id, &keys[0], "(secretly heads)");
    server.wait(&id, &keys[1], "b's turn", |view| is_asked(view, 1));
    server.play(&id, &keys[1], "(secretly tails)");
    let wait = |key: &str| server.wait(&id, key, "step 2", |view| view["n_steps"] == 1);
    let views = [wait(&keys[0]).to_string(), wait(&keys[1]).to_string(), wait("").to_string()];
    assert!(views[0].contains("(chosen a heads)"), "a role knows its own choice: {}", views[0]);
    assert!(!views[0].contains("(chosen b") && !views[0].contains("(secretly tails)"));
    assert!(!views[1].contains("(chosen a") && !views[1].contains("(secretly heads)"));
    for secret in ["heads", "tails", "chosen", "svg"] {
        assert!(!views[2].contains(&format!("{secret} ")), "a viewer sees {secret}: {}", views[2]);
    }
    assert!(views[2].contains("\"boards\":[]"));
    let (status, _) = server.get(&format!("/api/v1/matches/{id}/record"), &keys[0]);
    assert_eq!(status, StatusCode::FORBIDDEN);
    let (_, past) = server.get(&format!("/api/v1/matches/{id}/positions/1"), &keys[1]);
    assert!(past.contains("(chosen b tails)") && !past.contains("(chosen a"), "{past}");
    // When the match is over, everybody may know everything.
    server.wait(&id, &keys[0], "a's guess", |view| is_asked(view, 0));
    server.play(&id, &keys[0], "(guess tails)");
    server.wait(&id, &keys[1], "b's guess", |view| is_asked(view, 1));
    server.play(&id, &keys[1], "(guess tails)");
    let view = server.wait(&id, "", "the end", |view| !view["ending"].is_null());
    assert_eq!(view["ending"]["payoffs"], json!([100.0, 0.0]));
    assert_eq!(view["steps"][0]["joint"], json!(["(secretly heads)", "(secretly tails)"]));
}

#[test]
fn a_stored_match_goes_on_where_it_was() {
    let path = scratch("resume");
    let config = Config { store: Some(path.clone()), ..Config::loopback() };
    let (id, keys) = {
        let server = Server::with(config.clone());
        let made = server.create(&json!({"game": "tic-tac-toe", "players": ["human", "human"]}));
        let id = text(&made["id"]);
        let keys = [text(&made["role_keys"][0]), text(&made["role_keys"][1])];
        server.wait(&id, &keys[0], "x's turn", |view| is_asked(view, 0));
        server.play(&id, &keys[0], "(mark 2 2)");
        server.wait(&id, &keys[1], "o's turn", |view| is_asked(view, 1));
        (id, keys)
    };
    let server = Server::with(config);
    assert!(server.app.resume().is_empty());
    let view = server.wait(&id, &keys[1], "o's turn again", |view| is_asked(view, 1));
    assert_eq!(view["steps"][0]["joint"], json!(["(mark 2 2)", "noop"]));
    server.play(&id, &keys[1], "(mark 1 1)");
    server.wait(&id, &keys[0], "x's turn", |view| is_asked(view, 0));
    let _ = std::fs::remove_file(path);
}

#[test]
fn players_that_the_server_does_not_allow_are_refused() {
    let server = Server::new();
    for (player, wanted) in [
        ("cmd:rm -rf /", StatusCode::FORBIDDEN),
        ("no-such-player", StatusCode::BAD_REQUEST),
        ("mcts(c=", StatusCode::BAD_REQUEST),
    ] {
        let body = json!({"game": "tic-tac-toe", "players": [player]});
        let (status, answer) = server.post("/api/v1/matches", "", &body);
        assert_eq!(status, wanted, "{player}: {answer}");
    }
    let body = json!({"game": "tic-tac-toe", "players": ["human"], "play_clock": -1});
    assert_eq!(server.post("/api/v1/matches", "", &body).0, StatusCode::BAD_REQUEST);
}

#[test]
fn matches_between_computers_are_limited_by_processors() {
    let mut config = Config::loopback();
    config.limits.cores = 1;
    let server = Server::with(config);
    let body = json!({"game": "connect-four", "players": ["mcts", "mcts"], "play_clock": 5});
    let made = server.create(&body);
    let (status, _) = server.post("/api/v1/matches", "", &body);
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let path = format!("/api/v1/matches/{}/abort", text(&made["id"]));
    server.post_ok(&path, &text(&made["owner_key"]), &json!({}));
    let made = server.create(&body);
    let path = format!("/api/v1/matches/{}/abort", text(&made["id"]));
    server.post_ok(&path, &text(&made["owner_key"]), &json!({}));
}

#[test]
fn a_match_can_start_from_a_given_line() {
    let server = Server::new();
    let made = server.create(&json!({"game": "tic-tac-toe", "players": ["human", "human"],
        "opening": [["(mark 2 2)"], [null, "(mark 1 1)"]]}));
    let (id, key) = (text(&made["id"]), text(&made["role_keys"][0]));
    let view = server.wait(&id, &key, "x's turn", |view| is_asked(view, 0));
    assert_eq!(view["n_steps"], 2);
    let path = format!("/api/v1/matches/{id}/hint");
    let hint = server.post_ok(&path, &key, &json!({"seconds": 0.2, "player": "mcts"}));
    assert!(text(&hint["best"]).starts_with("(mark"));
}
