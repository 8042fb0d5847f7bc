//! Shipped games told as structure rewriting games, and played in both languages with the same moves.

use std::path::Path;
use std::sync::Arc;

use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;
use agon_translate::joint::{Agreement, Difference, Extent, differences, play_jointly};
use agon_translate::to_toss::{self, Construct, Translation, Untranslatable, to_toss};

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
    Game::open(checked.rules.expect("the rules are sound"), Options::default())
        .expect("the game opens")
}

/// Less is looked at than by default, so that tests take little time.
fn translated(game: &Arc<Game>) -> Result<Translation, Untranslatable> {
    to_toss(
        game,
        &to_toss::Options {
            plays: 25,
            states: 200,
            joint_plays: 15,
            ..to_toss::Options::default()
        },
    )
}

fn jointly(
    game: &Arc<Game>,
    text: &str,
    translation: &Translation,
) -> Result<Agreement, Difference> {
    let arena = agon_toss::check::check(Arc::new(Source::new("translated.toss", text))).arena;
    let options = agon_toss::interpreter::Options::default();
    let toss = agon_toss::interpreter::Game::open(arena.expect("the text is a game"), options);
    let toss = toss.map_err(|finding| finding.message.clone()).expect("the translation opens");
    let extent = Extent { plays: 20, steps: 400, seed: 2024 };
    play_jointly(
        &game.start(),
        &toss.start(),
        &|role, text| translation.gdl_move(role, text),
        &extent,
    )
}

fn check(name: &str) {
    let game = game("gdl", name);
    let translation = translated(&game).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    let agreement = jointly(&game, &translation.text, &translation);
    let agreement = agreement.unwrap_or_else(|difference| panic!("{name}: {difference}"));
    assert_eq!(agreement.plays, 20, "{name}");
}

#[test]
fn games_in_turns_play_alike() {
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
fn games_with_counters_graphs_and_nested_terms_play_alike() {
    for name in ["nim", "dots-and-boxes", "hex", "sheep-and-wolf", "three-way-tic-tac-toe"] {
        check(name);
    }
}

#[test]
fn puzzles_play_alike() {
    for name in ["eight-puzzle", "hanoi", "knights-tour", "peg-solitaire"] {
        check(name);
    }
}

#[test]
fn roles_that_choose_at_once_act_at_one_location() {
    for name in ["matching-pennies", "prisoners-dilemma", "rock-paper-scissors"] {
        check(name);
    }
}

#[test]
fn nature_stays_nature() {
    let game = opened(
        "(role guesser) (role RANDOM) (init start)
         (<= (legal guesser (guess heads)) (true start)) (<= (legal guesser (guess tails)) (true start))
         (<= (legal random (flip heads)) (true start)) (<= (legal random (flip tails)) (true start))
         (<= (next (guessed ?x)) (does guesser (guess ?x))) (<= (next (fell ?x)) (does random (flip ?x)))
         (<= terminal (not (true start)))
         (<= (goal guesser 100) (true (guessed ?x)) (true (fell ?x)))
         (<= (goal guesser 10) (true (guessed ?x)) (not (true (fell ?x))))",
    );
    let translation = translated(&game).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert!(translation.text.starts_with("PLAYERS guesser, random\n"), "{}", translation.text);
    jointly(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn places_are_elements_and_turns_are_locations() {
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
    assert!(!translation.text.contains("Control"), "turns are told by locations alone");
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
fn whether_anything_can_be_done_makes_no_elements_of_moves() {
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
    let asked = "(<= (can ?r) (legal ?r ?m)) (<= terminal (true (control ?r)) (not (can ?r)))";
    let game = rules(asked);
    let translation = translated(&game).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert!(!translation.text.contains("Form_"), "{}", translation.text);
    jointly(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
    // Where it matters which move it is, moves are elements.
    let told = "(<= (can ?r) (legal ?r ?m) (distinct ?m noop)) (<= terminal (true (control ?r)) (not (can ?r)))";
    let game = rules(told);
    let translation = translated(&game).unwrap_or_else(|refusal| panic!("{refusal}"));
    assert!(translation.text.contains("Form_step"), "{}", translation.text);
    jointly(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn joint_play_finds_what_is_wrong() {
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
        assert_ne!(text, translation.text, "{from:?} stands in the text");
        assert!(
            jointly(&game, &text, &translation).is_err(),
            "nobody saw that {from:?} became {to:?}"
        );
    }
}

#[test]
fn play_goes_on_after_a_difference() {
    let game = game("gdl", "tic-tac-toe");
    let translation = translated(&game).expect("tic-tac-toe is translated");
    let text = translation.text.replace("50 * ", "49 * ");
    let arena = agon_toss::check::check(Arc::new(Source::new("translated.toss", text))).arena;
    let options = agon_toss::interpreter::Options::default();
    let toss = agon_toss::interpreter::Game::open(arena.expect("the text is a game"), options);
    let toss = toss.map_err(|finding| finding.message.clone()).expect("the translation opens");
    let translate = |role: usize, text: &str| translation.gdl_move(role, text);
    let extent = Extent { plays: 200, steps: 20, seed: 3 };
    let played = differences(&game.start(), &toss.start(), &translate, &extent, None, 3);
    // One play in eight is a draw, and only then the payoffs differ.
    assert_eq!(played.differences.len(), 3);
    assert_eq!(
        played.agreement.plays + 3,
        played.differences[2].play + 1,
        "every play is one or the other"
    );
    assert_eq!(played.agreement.plays, played.agreement.ended);
    for difference in &played.differences {
        assert_eq!((difference.moves.len(), difference.is_fault), (9, false), "{difference}");
    }
}

#[test]
fn a_translation_plays_beside_its_original_by_all_engines() {
    let game = game("gdl", "connect-four");
    let translation = translated(&game).expect("connect four is translated");
    let beside = to_toss::Beside::new(&game, &translation, None).expect("the translation opens");
    assert!(beside.has_circuit(), "it is small");
    let extent = Extent { plays: 30, steps: 100, seed: 5 };
    let agreement = beside.play(&extent, None).unwrap_or_else(|difference| panic!("{difference}"));
    assert_eq!((agreement.plays, agreement.ended), (30, 30));
}

#[test]
fn legal_moves_with_many_arguments_are_asked_about_by_their_rules() {
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
    let translation = translated(&game).unwrap_or_else(|refusal| panic!("{refusal}"));
    jointly(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

/// Whoever has all marks gets both values, and the highest counts; that no play of the sample came to it proves nothing.
#[test]
fn ends_that_no_play_came_to_pay_the_highest_value_too() {
    let game = opened(
        "(role a) (init (step 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (legal a mark) (legal a pass)
         (<= (next (step ?m)) (true (step ?n)) (s ?n ?m)) (<= (next missed) (does a pass))
         (<= (next missed) (true missed)) (<= perfect (not (true missed)))
         (<= terminal (true (step 5))) (<= (goal a 100) perfect) (<= (goal a 40) (true (step 5)))
         (<= (goal a 30) (true (step 5)) (not perfect))",
    );
    let options =
        to_toss::Options { plays: 1, states: 3, joint_plays: 0, ..to_toss::Options::default() };
    let translation = to_toss(&game, &options).unwrap_or_else(|refusal| panic!("{refusal}"));
    let beside = to_toss::Beside::new(&game, &translation, None).expect("the translation opens");
    let extent = Extent { plays: 400, steps: 100, seed: 5 };
    let agreement = beside.play(&extent, None).unwrap_or_else(|difference| panic!("{difference}"));
    assert_eq!((agreement.plays, agreement.ended), (400, 400));
}

/// What a move brings in a case that no play of the sample came to is brought all the same.
#[test]
fn conditions_that_were_never_seen_to_hold_are_asked() {
    let game = opened(
        "(role a) (init (at 0)) (init (step 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5) (s 5 6) (s 6 7) (s 7 8)
         (legal a up) (legal a stay)
         (<= (next (at ?y)) (does a up) (true (at ?x)) (s ?x ?y)) (<= (next (at ?x)) (does a stay) (true (at ?x)))
         (<= (next (step ?m)) (true (step ?n)) (s ?n ?m)) (<= top (true (at 7)))
         (<= (next crowned) top) (<= (next crowned) (true crowned))
         (<= terminal (true (step 8))) (<= (goal a 100) (true crowned)) (<= (goal a 0) (not (true crowned)))",
    );
    let options = to_toss::Options { plays: 40, joint_plays: 0, ..to_toss::Options::default() };
    let translation = to_toss(&game, &options).unwrap_or_else(|refusal| panic!("{refusal}"));
    let beside = to_toss::Beside::new(&game, &translation, None).expect("the translation opens");
    let extent = Extent { plays: 2000, steps: 100, seed: 5 };
    let agreement = beside.play(&extent, None).unwrap_or_else(|difference| panic!("{difference}"));
    assert_eq!((agreement.plays, agreement.ended), (2000, 2000));
}

/// What several cases of a move ask is said once.
#[test]
fn what_rules_have_in_common_is_a_relation() {
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
    let translation = translated(&game).unwrap_or_else(|refusal| panic!("{refusal}"));
    jointly(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
    assert!(translation.text.contains("REL Flip_if"), "{}", translation.text);
}

#[test]
fn when_a_move_is_legal_is_said_once() {
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
    let translation = translated(&game).unwrap_or_else(|refusal| panic!("{refusal}"));
    jointly(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
    let text = &translation.text;
    assert!(text.contains("REL Go_legal"), "{text}");
    let rules: Vec<&str> = text.lines().filter(|line| line.starts_with("  MATCH")).collect();
    assert!(rules.len() > 1 && rules.iter().all(|rule| rule.contains("Go_legal")), "{text}");
}

#[test]
fn many_tuples_that_come_at_once_are_named_one_after_the_other() {
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
    let translation = translated(&game).unwrap_or_else(|refusal| panic!("{refusal}"));
    jointly(&game, &translation.text, &translation)
        .unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn what_takes_too_much_to_play_is_refused_by_the_steps_that_it_takes() {
    let options =
        to_toss::Options { joint_plays: 15, play_steps: 1000, ..to_toss::Options::default() };
    // It has a circuit: the few plays by the rules may be left, and the others take no steps.
    to_toss(&game("gdl", "tic-tac-toe"), &options).unwrap_or_else(|refusal| panic!("{refusal}"));
    // Hands that all move at once, so that a rule has more matches, of which one is there at a time, than a circuit may have.
    let hands: String = (0..6)
        .map(|hand| {
            format!("(init (hand{hand} 0)) (<= (next (hand{hand} ?m)) (true (hand{hand} ?n)) (s ?n ?m)) ")
        })
        .collect();
    let digits: String = (0..16).map(|n| format!("(s {n} {}) ", n + 1)).collect();
    let clock = opened(&format!(
        "(role a) (legal a tick) {digits} {hands} (<= terminal (true (hand0 16))) (goal a 100)"
    ));
    translated(&clock).unwrap_or_else(|refusal| panic!("{refusal}"));
    let refusal = to_toss(&clock, &options).expect_err("it takes more than that");
    assert_eq!(refusal.construct, Construct::Size);
    assert!(refusal.why.contains("steps of evaluation"), "{}", refusal.why);
}

#[test]
fn what_cannot_be_said_is_refused_by_name() {
    let refusal =
        translated(&game("gdl2", "krieg-tic-tac-toe")).expect_err("roles know different things");
    assert_eq!(refusal.construct, Construct::Percepts);
    let game = opened(
        "(role a) (role b) (d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9) (init (step 0))
         (s 0 1) (s 1 2) (s 2 3) (s 3 4) (<= (next (step ?m)) (true (step ?n)) (s ?n ?m))
         (legal a go) (legal a stay) (legal b go) (legal b stay)
         (<= (next (p ?x)) (does a go) (does b go) (d ?x))
         (<= terminal (true (step 4))) (<= (goal a 100) (true (p 1))) (goal b 0)",
    );
    let refusal = translated(&game).expect_err("both together bring more than a rule can name");
    assert_eq!((refusal.construct, refusal.line), (Construct::JointEffect, Some(4)));
    assert!(refusal.why.contains("changes 10 tuples of `p` at once"), "{}", refusal.why);
    let game = opened(
        "(role a) (init (p 1)) (init (q 1)) (<= (legal a go) (true (p 1))) (<= (next ?x) (true ?x))
         (<= terminal (not (true (p 1)))) (goal a 100)",
    );
    let refusal = translated(&game).expect_err("a variable stands for a whole state term");
    assert_eq!((refusal.construct, refusal.line), (Construct::StateVariable, Some(1)));
}

#[test]
fn translations_are_the_same_every_time() {
    let game = game("gdl", "connect-four");
    assert_eq!(
        translated(&game).expect("it is translated").text,
        translated(&game).expect("it is translated").text
    );
}
