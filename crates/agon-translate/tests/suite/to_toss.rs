//! Translations of shipped GDL games, compared in lockstep play with the same moves.

use std::path::Path;
use std::sync::Arc;

use agon_game::laws::Plan;
use agon_game::lockstep::{Agreement, Difference};
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;
use agon_translate::to_toss::{self, Construct, ToTossError, Translation, to_toss};

fn game(folder: &str, name: &str) -> Arc<Game> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../games")
        .join(folder)
        .join(format!("{name}.kif"));
    let text = std::fs::read_to_string(&path).expect("the game ships");
    opened(&text)
}

fn opened(text: &str) -> Arc<Game> {
    let checked = agon_gdl::check::check(Arc::new(Source::new("game.kif", text)));
    Game::open(checked.rules.expect("the rules are valid"), Options::default())
        .expect("the game opens")
}

/// Translates with fewer samples than the default, to keep the tests fast.
fn translated(game: &Arc<Game>) -> Result<Translation, ToTossError> {
    to_toss(
        game,
        &to_toss::ToTossOptions {
            plays: 25,
            states: 200,
            joint_plays: 15,
            ..to_toss::ToTossOptions::default()
        },
    )
}

/// Opens the text of a translation.
fn open_toss(text: &str) -> Arc<agon_toss::interpreter::Game> {
    let arena = agon_toss::check::check(Arc::new(Source::new("translated.toss", text))).arena;
    let options = agon_toss::interpreter::Options::default();
    let toss = agon_toss::interpreter::Game::open(arena.expect("the text is a game"), options);
    toss.map_err(|finding| finding.message.clone()).expect("the translation opens")
}

/// Plays the game and a text that stands for the translation in lockstep.
fn compare(
    game: &Arc<Game>,
    text: &str,
    translation: &Translation,
) -> Result<Agreement, Difference> {
    let plan = Plan { plays: 20, max_steps: 400, seed: 2024 };
    translation.compare(&game.start(), &open_toss(text).start(), &plan)
}

fn check(name: &str) {
    let game = game("gdl", name);
    let translation = translated(&game).unwrap_or_else(|error| panic!("{name}: {error}"));
    let agreement = compare(&game, &translation.text, &translation);
    let agreement = agreement.unwrap_or_else(|difference| panic!("{name}: {difference}"));
    assert_eq!(agreement.plays, 20, "{name}");
}

#[test]
fn translations_of_turn_taking_games_agree() {
    for name in [
        "tic-tac-toe",
        "connect-four",
        "connect-three",
        "breakthrough",
        "pawn-whopping",
        "knightthrough",
    ] {
        check(name);
    }
}

#[test]
fn translations_of_games_with_counters_graphs_and_nested_terms_agree() {
    for name in ["nim", "dots-and-boxes", "hex", "sheep-and-wolf", "three-way-tic-tac-toe"] {
        check(name);
    }
}

#[test]
fn translations_of_puzzles_agree() {
    for name in ["eight-puzzle", "hanoi", "knights-tour", "peg-solitaire"] {
        check(name);
    }
}

#[test]
fn translations_of_simultaneous_games_agree() {
    for name in ["matching-pennies", "prisoners-dilemma", "rock-paper-scissors"] {
        check(name);
    }
}

#[test]
fn nature_is_translated_to_nature() {
    let game = opened(
        "(role guesser) (role RANDOM) (init start)
         (<= (legal guesser (guess heads)) (true start)) (<= (legal guesser (guess tails)) (true start))
         (<= (legal random (flip heads)) (true start)) (<= (legal random (flip tails)) (true start))
         (<= (next (guessed ?x)) (does guesser (guess ?x))) (<= (next (fell ?x)) (does random (flip ?x)))
         (<= terminal (not (true start)))
         (<= (goal guesser 100) (true (guessed ?x)) (true (fell ?x)))
         (<= (goal guesser 10) (true (guessed ?x)) (not (true (fell ?x))))",
    );
    let translation = translated(&game).unwrap_or_else(|error| panic!("{error}"));
    assert!(translation.text.starts_with("PLAYERS guesser, random\n"), "{}", translation.text);
    compare(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn places_become_elements_and_turns_become_locations() {
    let translation = translated(&game("gdl", "tic-tac-toe")).expect("tic-tac-toe is translated");
    for line in [
        "  MATCH Cell_blank(c) and not Terminal()",
        "  RELS not Cell_blank(c); not Cell_o(c); Cell_x(c)",
    ] {
        assert!(
            translation.text.lines().any(|known| known == line),
            "no {line:?} in\n{}",
            translation.text
        );
    }
    assert!(translation.text.contains("MOVES [Mark -> 1]"));
    assert!(!translation.text.contains("Control"), "turns are expressed by locations only");
    assert_eq!(translation.gdl_move(0, "(Mark cell_2_3)").as_deref(), Some("(mark 2 3)"));
    assert_eq!(translation.gdl_move(1, "noop").as_deref(), Some("noop"));
    assert_eq!(
        translation.gdl_move(1, "(Mark cell_2_3)"),
        None,
        "this is the rule of the other role"
    );
    assert_eq!(
        translation.toss_move(0, "(mark 1 1)", ["(Mark cell_2_3)", "(Mark cell_1_1)"]),
        Some("(Mark cell_1_1)")
    );
}

#[test]
fn asking_for_any_legal_move_does_not_make_moves_elements() {
    let rules = |terminal: &str| {
        let places: String = (1..6).map(|n| format!("(succ {n} {}) ", n + 1)).collect();
        opened(&format!(
            "(role a) (role b) {places} (init (at a 1)) (init (at b 1)) (init (control a))
             (<= (legal ?r (step ?x ?y)) (true (control ?r)) (true (at ?r ?x)) (succ ?x ?y))
             (<= (legal ?r (leap ?x ?z)) (true (control ?r)) (true (at ?r ?x)) (succ ?x ?y) (succ ?y ?z))
             (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
             (<= (next (at ?r ?y)) (does ?r (step ?x ?y))) (<= (next (at ?r ?y)) (does ?r (leap ?x ?y)))
             (<= (next (at ?r ?x)) (does ?r noop) (true (at ?r ?x)))
             (<= (next (control a)) (true (control b))) (<= (next (control b)) (true (control a)))
             {terminal}
             (<= (goal ?r 100) (true (at ?r 6))) (<= (goal ?r 0) (role ?r) (not (true (at ?r 6))))"
        ))
    };
    let any = "(<= (can ?r) (legal ?r ?m)) (<= terminal (true (control ?r)) (not (can ?r)))";
    let game = rules(any);
    let translation = translated(&game).unwrap_or_else(|error| panic!("{error}"));
    assert!(!translation.text.contains("Form_"), "{}", translation.text);
    compare(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
    // Where the identity of a move matters, moves are elements.
    let named = "(<= (can ?r) (legal ?r ?m) (distinct ?m noop)) (<= terminal (true (control ?r)) (not (can ?r)))";
    let game = rules(named);
    let translation = translated(&game).unwrap_or_else(|error| panic!("{error}"));
    assert!(translation.text.contains("Form_step"), "{}", translation.text);
    compare(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn lockstep_play_finds_wrong_translations() {
    let game = game("gdl", "tic-tac-toe");
    let translation = translated(&game).expect("tic-tac-toe is translated");
    let wrong = [
        (" and not Terminal()", ""),
        ("RELS not Cell_blank(c); not Cell_o(c); Cell_x(c)", "RELS not Cell_o(c); Cell_x(c)"),
        ("50 * ", "49 * "),
        ("MOVES [Mark -> 1]", "MOVES [Mark -> 0]"),
    ];
    for (from, to) in wrong {
        let text = translation.text.replace(from, to);
        assert_ne!(text, translation.text, "{from:?} is in the text");
        assert!(
            compare(&game, &text, &translation).is_err(),
            "no difference although {from:?} became {to:?}"
        );
    }
}

#[test]
fn several_differences_are_collected() {
    let game = game("gdl", "tic-tac-toe");
    let translation = translated(&game).expect("tic-tac-toe is translated");
    let text = translation.text.replace("50 * ", "49 * ");
    let toss = open_toss(&text);
    let plan = Plan { plays: 200, max_steps: 20, seed: 3 };
    let played = translation.differences(&game.start(), &toss.start(), &plan, 3);
    // One play in eight is a draw, and only then do the payoffs differ.
    assert_eq!(played.differences.len(), 3);
    assert_eq!(
        played.agreement.plays + 3,
        played.differences[2].play + 1,
        "every play agrees or differs"
    );
    assert_eq!(played.agreement.plays, played.agreement.ended);
    for difference in &played.differences {
        assert_eq!(
            (difference.moves.len(), difference.mismatch.is_fault()),
            (9, false),
            "{difference}"
        );
    }
}

#[test]
fn all_engines_agree_with_the_original() {
    let game = game("gdl", "connect-four");
    let translation = translated(&game).expect("connect four is translated");
    let check =
        to_toss::TranslationCheck::new(&game, &translation, None).expect("the translation opens");
    assert!(check.has_circuit(), "the game is small");
    let plan = Plan { plays: 30, max_steps: 100, seed: 5 };
    let agreement = check.play(&plan, None).unwrap_or_else(|difference| panic!("{difference}"));
    assert_eq!((agreement.plays, agreement.ended), (30, 30));
}

#[test]
fn legality_of_moves_with_many_arguments_is_expressed_by_rules() {
    let game = opened(
        "(role a) (init (at 1 1 1 1 1)) (init (left 3)) (d 1) (d 2) (m 3 2) (m 2 1) (m 1 0)
         (<= (legal a (go ?p ?q ?r ?s ?t ?v ?w ?x ?y ?z)) (true (at ?p ?q ?r ?s ?t))
             (d ?v) (d ?w) (d ?x) (d ?y) (d ?z))
         (<= (next (at ?v ?w ?x ?y ?z)) (does a (go ?p ?q ?r ?s ?t ?v ?w ?x ?y ?z)))
         (<= (next (left ?n)) (true (left ?m)) (m ?m ?n))
         (<= can_go (legal a (go ?p ?q ?r ?s ?t ?v ?w ?x ?y ?z)))
         (<= terminal (not can_go)) (<= terminal (true (left 0)))
         (<= (goal a 100) can_go) (<= (goal a 0) (not can_go))",
    );
    let translation = translated(&game).unwrap_or_else(|error| panic!("{error}"));
    compare(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

/// A role with all marks gets both values, and the highest counts. That no sampled play reached
/// such an end proves nothing.
#[test]
fn unsampled_ends_pay_the_highest_value() {
    let game = opened(
        "(role a) (init (step 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (legal a mark) (legal a pass)
         (<= (next (step ?m)) (true (step ?n)) (s ?n ?m)) (<= (next missed) (does a pass))
         (<= (next missed) (true missed)) (<= perfect (not (true missed)))
         (<= terminal (true (step 5))) (<= (goal a 100) perfect) (<= (goal a 40) (true (step 5)))
         (<= (goal a 30) (true (step 5)) (not perfect))",
    );
    let options = to_toss::ToTossOptions {
        plays: 1,
        states: 3,
        joint_plays: 0,
        ..to_toss::ToTossOptions::default()
    };
    let translation = to_toss(&game, &options).unwrap_or_else(|error| panic!("{error}"));
    let check =
        to_toss::TranslationCheck::new(&game, &translation, None).expect("the translation opens");
    let plan = Plan { plays: 400, max_steps: 100, seed: 5 };
    let agreement = check.play(&plan, None).unwrap_or_else(|difference| panic!("{difference}"));
    assert_eq!((agreement.plays, agreement.ended), (400, 400));
}

/// A move has its effect also in a case that no sampled play reached.
#[test]
fn conditions_that_never_held_in_the_sample_are_cases() {
    let game = opened(
        "(role a) (init (at 0)) (init (step 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (s 5 6) (s 6 7) (s 7 8)
         (legal a up) (legal a stay)
         (<= (next (at ?y)) (does a up) (true (at ?x)) (s ?x ?y)) (<= (next (at ?x)) (does a stay) (true (at ?x)))
         (<= (next (step ?m)) (true (step ?n)) (s ?n ?m)) (<= top (true (at 7)))
         (<= (next crowned) top) (<= (next crowned) (true crowned))
         (<= terminal (true (step 8))) (<= (goal a 100) (true crowned)) (<= (goal a 0) (not (true crowned)))",
    );
    let options =
        to_toss::ToTossOptions { plays: 40, joint_plays: 0, ..to_toss::ToTossOptions::default() };
    let translation = to_toss(&game, &options).unwrap_or_else(|error| panic!("{error}"));
    let check =
        to_toss::TranslationCheck::new(&game, &translation, None).expect("the translation opens");
    let plan = Plan { plays: 2000, max_steps: 100, seed: 5 };
    let agreement = check.play(&plan, None).unwrap_or_else(|difference| panic!("{difference}"));
    assert_eq!((agreement.plays, agreement.ended), (2000, 2000));
}

/// A condition that several cases of a move share is written once.
#[test]
fn shared_conditions_become_relations() {
    let game = opened(
        "(role a) (init (on 1 1)) (init (on 2 3)) (init (step 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4)
         (d 1) (d 2) (d 3) (n 1 2) (n 2 3)
         (<= (legal a (flip ?x ?y)) (d ?x) (d ?y))
         (<= (near ?x ?y ?x ?y) (d ?x) (d ?y)) (<= (near ?x ?y ?x ?z) (d ?x) (n ?y ?z))
         (<= (hit ?u ?v) (does a (flip ?x ?y)) (near ?x ?y ?u ?v))
         (<= (next (on ?u ?v)) (hit ?u ?v) (not (true (on ?u ?v))))
         (<= (next (on ?u ?v)) (true (on ?u ?v)) (not (hit ?u ?v)))
         (<= (next (step ?m)) (true (step ?n)) (s ?n ?m))
         (<= some (true (on ?x ?y))) (<= terminal (true (step 4))) (<= terminal (not some))
         (<= (goal a 100) (not some)) (<= (goal a 0) some)",
    );
    let translation = translated(&game).unwrap_or_else(|error| panic!("{error}"));
    compare(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
    assert!(translation.text.contains("REL Flip_if"), "{}", translation.text);
}

#[test]
fn legality_of_a_move_is_written_once() {
    let game = opened(
        "(role a) (init (at 1)) (init (coin 3)) (init (step 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5)
         (e 1 2) (e 2 3) (e 3 1) (e 2 1) (colour red) (colour blue)
         (<= (legal a (go ?x ?y ?c)) (true (at ?x)) (e ?x ?y) (colour ?c))
         (<= (next (at ?y)) (does a (go ?x ?y ?c)))
         (<= (next (got ?c)) (does a (go ?x ?y ?c)) (true (coin ?y)))
         (<= (next (got ?c)) (true (got ?c)))
         (<= (next (coin ?z)) (true (coin ?z)) (does a (go ?x ?y ?c)) (distinct ?z ?y))
         (<= (next (step ?m)) (true (step ?n)) (s ?n ?m))
         (<= terminal (true (step 5))) (<= (goal a 100) (true (got red))) (<= (goal a 0) (not (true (got red))))",
    );
    let translation = translated(&game).unwrap_or_else(|error| panic!("{error}"));
    compare(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
    let text = &translation.text;
    assert!(text.contains("REL Go_legal"), "{text}");
    let rules: Vec<&str> = text.lines().filter(|line| line.starts_with("  MATCH")).collect();
    assert!(rules.len() > 1 && rules.iter().all(|rule| rule.contains("Go_legal")), "{text}");
}

#[test]
fn many_added_tuples_are_chained_in_order() {
    let lit: String = (1..=8).map(|lamp| format!("(init (lit {lamp})) ")).collect();
    let ring: String = (1..=10).map(|lamp| format!("(s {lamp} {}) ", lamp % 10 + 1)).collect();
    let steps: String = (0..6).map(|n| format!("(after {n} {}) ", n + 1)).collect();
    let game = opened(&format!(
        "(role a) {lit} {ring} {steps} (init (step 0))
         (legal a shift) (<= (legal a (drop ?x)) (true (lit ?x)))
         (<= (next (lit ?y)) (does a shift) (true (lit ?x)) (s ?x ?y))
         (<= (next (lit ?x)) (does a (drop ?y)) (true (lit ?x)) (distinct ?x ?y))
         (<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
         (<= terminal (true (step 6))) (<= (goal a 100) (true (lit 1))) (<= (goal a 0) (not (true (lit 1))))"
    ));
    let translation = translated(&game).unwrap_or_else(|error| panic!("{error}"));
    compare(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn translations_that_take_too_many_steps_are_rejected() {
    let options = to_toss::ToTossOptions {
        joint_plays: 15,
        play_steps: 1000,
        ..to_toss::ToTossOptions::default()
    };
    // The translation has a circuit: the interpreted plays may be cut short, and the others take no
    // evaluation steps.
    to_toss(&game("gdl", "tic-tac-toe"), &options).unwrap_or_else(|error| panic!("{error}"));
    // Hands that all move at once. So a rule has more embeddings than a circuit may have, although
    // only one exists at a time.
    let hands: String = (0..6)
        .map(|hand| {
            format!("(init (hand{hand} 0)) (<= (next (hand{hand} ?m)) (true (hand{hand} ?n)) (s ?n ?m)) ")
        })
        .collect();
    let digits: String = (0..16).map(|n| format!("(s {n} {}) ", n + 1)).collect();
    let clock = opened(&format!(
        "(role a) (legal a tick) {digits} {hands} (<= terminal (true (hand0 16))) (goal a 100)"
    ));
    translated(&clock).unwrap_or_else(|error| panic!("{error}"));
    let error = to_toss(&clock, &options).expect_err("the step limit is exceeded");
    assert_eq!(error.construct, Construct::Size);
    assert!(error.why.contains("steps of evaluation"), "{}", error.why);
}

#[test]
fn unsupported_constructs_are_rejected() {
    let error =
        translated(&game("gdl2", "krieg-tic-tac-toe")).expect_err("roles have different knowledge");
    assert_eq!(error.construct, Construct::Percepts);
    let game = opened(
        "(role a) (role b) (d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9) (init (step 0))
         (s 0 1) (s 1 2) (s 2 3) (s 3 4) (<= (next (step ?m)) (true (step ?n)) (s ?n ?m))
         (legal a go) (legal a stay) (legal b go) (legal b stay)
         (<= (next (p ?x)) (does a go) (does b go) (d ?x))
         (<= terminal (true (step 4))) (<= (goal a 100) (true (p 1))) (goal b 0)",
    );
    let error =
        translated(&game).expect_err("the joint effect has more tuples than a rule can name");
    assert_eq!((error.construct, error.line), (Construct::JointEffect, Some(4)));
    assert!(error.why.contains("changes 10 tuples of `p` at once"), "{}", error.why);
    let game = opened(
        "(role a) (init (p 1)) (init (q 1)) (<= (legal a go) (true (p 1))) (<= (next ?x) (true ?x))
         (<= terminal (not (true (p 1)))) (goal a 100)",
    );
    let error = translated(&game).expect_err("a variable stands for a whole state term");
    assert_eq!((error.construct, error.line), (Construct::StateVariable, Some(1)));
}

#[test]
fn translation_is_deterministic() {
    let game = game("gdl", "connect-four");
    assert_eq!(
        translated(&game).expect("the game is translated").text,
        translated(&game).expect("the game is translated").text
    );
}
