//! The examples of Kaiser and Stafiniak 2011, to the letter, and what must hold of any game.

use std::sync::Arc;

use agon_game::{Position as _, Rng};
use agon_logic::formula::{Formula, Term, Variable};
use agon_text::Source;
use agon_toss::arena::CheckedArena;
use agon_toss::check::check;
use agon_toss::interpreter::{Game, Options, State};
use rand::SeedableRng as _;

use super::words::in_words;
use super::{
    Change, Describer, GoalCircuit, GoalCircuitLimits, GoalJudge, GoalOptions, LANES, ManyStates, Method,
    NoTerms, OneState, Rational, Weights, changes, goal_terms,
};

/// A board with marks P and Q, and goals in rows and columns only, as the examples have it.
fn arena(rows: usize, columns: usize, goal: &str) -> CheckedArena {
    let board = vec![vec!["."; columns].join(" "); rows].join("\n  ");
    let text = format!(
        "PLAYERS X, O\n\
         REL WinP() = {goal}\n\
         REL WinQ() = ex x Q(x) and false\n\
         RULE Cross: [a | - | -] -> [a | P(a) | -] emb P, Q pre not WinQ()\n\
         RULE Circle: [a | - | -] -> [a | Q(a) | -] emb P, Q pre not WinP()\n\
         PAYOFF {{ X: :(WinP()); O: 0 - :(WinP()) }}\n\
         LOC 0 {{ PLAYER X MOVES [Cross -> 1] }}\n\
         LOC 1 {{ PLAYER O MOVES [Circle -> 0] }}\n\
         MODEL [ | P:1 {{}}; Q:1 {{}} | ] \"\n  {board}\n\"\n"
    );
    let checked = check(Arc::new(Source::new("example.toss", text)));
    let findings: Vec<&str> = checked.findings.0.iter().map(|finding| finding.message.as_str()).collect();
    checked.arena.unwrap_or_else(|| panic!("{findings:?}"))
}

const LINES: &str =
    "ex x, y, z (P(x) and P(y) and P(z) and ((R(x, y) and R(y, z)) or (C(x, y) and C(y, z))))";

fn of_cross(arena: &CheckedArena, method: Method, options: &GoalOptions) -> Term {
    goal_terms(arena, method, options).expect("the example is small").terms[0][0].clone()
}

#[test]
fn marks_are_only_added_and_the_board_is_stable() {
    let arena = arena(3, 3, LINES);
    let changes = changes(&arena);
    let names: Vec<(&str, Change)> = changes.iter().map(|(name, change)| (&**name, *change)).collect();
    assert_eq!(names, [("P", Change::Added), ("Q", Change::Added)]);
}

#[test]
fn example_8_by_the_formula() {
    let term = of_cross(&arena(3, 3, LINES), Method::Existential, &GoalOptions::default());
    assert_eq!(
        term.to_string(),
        "Sum (x | P(x) : 0.0625 + Sum (y | P(y) and R(x, y) : 0.25 + Sum (z | P(z) and R(y, z) : 1))) + \
         Sum (x | P(x) : 0.0625 + Sum (y | P(y) and C(x, y) : 0.25 + Sum (z | P(z) and C(y, z) : 1)))"
    );
}

#[test]
fn example_8_as_printed() {
    let options = GoalOptions { weights: Weights::of_the_example(), ..GoalOptions::default() };
    let term = of_cross(&arena(3, 3, LINES), Method::Existential, &options);
    assert_eq!(
        term.to_string(),
        "Sum (x | P(x) : 0.125 + Sum (y | P(y) and R(x, y) : 0.25 + Sum (z | P(z) and R(y, z) : 1))) + \
         Sum (x | P(x) : 0.125 + Sum (y | P(y) and C(x, y) : 0.25 + Sum (z | P(z) and C(y, z) : 1)))"
    );
}

#[test]
fn example_9_the_last_row_of_three() {
    let arena = arena(3, 3, LINES);
    let [x, y] = ["x", "y"].map(Variable::new);
    let last_row = Formula::not(Formula::exists([&y], Formula::atom("C", [&x, &y])));
    let found = Describer::new(&arena, 12).describe(&last_row, &[x]).expect("a small board");
    let found = found.expect("two steps lead there");
    // The paper's `ex y1, y2 (C(y1, y2) and C(y2, x))`, its variables the other way round.
    assert_eq!(found.to_string(), "ex y1, y2 (C(y1, x) and C(y2, y1))");
}

#[test]
fn the_last_row_of_any_board_is_as_many_steps_away_as_there_are_rows() {
    for rows in 2..=6 {
        let arena = arena(rows, 3, "ex x (P(x) and not ex y C(x, y))");
        let term = of_cross(&arena, Method::Descriptions, &GoalOptions::default());
        assert_eq!(term.to_string().matches("Sum").count(), rows, "{term}");
        let plain = of_cross(&arena, Method::Existential, &GoalOptions::default());
        assert_eq!(plain.to_string(), "Sum (x | P(x) and all y not C(x, y) : 1)");
    }
}

#[test]
fn what_cannot_be_described_within_the_bound_stays() {
    let arena = arena(6, 3, "ex x (P(x) and not ex y C(x, y))");
    let options = GoalOptions { literals: 3, ..GoalOptions::default() };
    let term = of_cross(&arena, Method::Descriptions, &options);
    assert_eq!(term, of_cross(&arena, Method::Existential, &options));
}

#[test]
fn example_10_open_lines_to_the_fourth_power() {
    let term = of_cross(&arena(3, 3, LINES), Method::RuleConditions, &GoalOptions::default());
    assert_eq!(
        term.to_string(),
        "Sum (x, y, z | (R(x, y) and R(y, z) or C(x, y) and C(y, z)) and (P(x) or P(y) or P(z)) and not Q(x) and \
         not Q(y) and not Q(z) : (:(P(x)) + :(P(y)) + :(P(z))) ^ 4)"
    );
}

#[test]
fn words_follow_the_steps() {
    let term = of_cross(&arena(3, 3, LINES), Method::Existential, &GoalOptions::default());
    assert_eq!(
        in_words(&term)[..3],
        [
            "for every x with P(x): 0.0625".to_owned(),
            "  and further, for every y with P(y) and R(x, y): 0.25".to_owned(),
            "    and further, for every z with P(z) and R(y, z): 1".to_owned(),
        ]
    );
    let term = of_cross(&arena(3, 3, LINES), Method::RuleConditions, &GoalOptions::default());
    assert!(in_words(&term)[0].ends_with("how many of P(x), P(y), P(z) hold, to the power of 4"));
}

#[test]
fn weights_halve_beyond_the_list() {
    let listed = Weights::of_the_example();
    let shown: Vec<String> = (0..5).map(|n| listed.before_end(n).to_string()).collect();
    assert_eq!(shown, ["1", "0.25", "0.125", "0.0625", "0.03125"]);
}

fn name_of(path: &std::path::Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[test]
fn shipped_games_but_chess_get_terms_by_every_method() {
    let games = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/toss");
    let (mut n_games, mut refused) = (0, Vec::new());
    for entry in std::fs::read_dir(&games).expect("games ship") {
        let path = entry.expect("entries are readable").path();
        if path.extension().is_none_or(|extension| extension != "toss") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("games are readable");
        let checked = check(Arc::new(Source::new(path.to_string_lossy(), text)));
        let Some(arena) = checked.arena else { panic!("{}: not accepted", path.display()) };
        for method in [Method::Existential, Method::Descriptions, Method::RuleConditions] {
            let made = goal_terms(&arena, method, &GoalOptions::default());
            match made {
                Ok(made) => assert_eq!(made.terms.len(), arena.locations().len()),
                Err(why) => refused.push((name_of(&path), method, why)),
            }
        }
        n_games += 1;
    }
    assert!(n_games >= 12, "{n_games}");
    // Check and mate in chess speak of all moves of all pieces: written out, that is too much. No other game may be refused.
    let is_chess =
        |(name, _, why): &(String, Method, NoTerms)| name == "chess" && matches!(why, NoTerms::TooLarge(_));
    assert!(refused.iter().all(is_chess), "{refused:?}");
    assert_eq!(refused.len(), 3, "chess by each method: {refused:?}");
}

/// States of random plays of a shipped game.
fn states_of(game: &Arc<Game>, n_plays: u64, n_states: usize) -> Vec<State> {
    let mut states = Vec::new();
    for seed in 0..n_plays {
        let (mut position, mut rng) = (game.start(), Rng::seed_from_u64(seed));
        let mut joint = Vec::new();
        while !position.is_terminal() && states.len() < n_states {
            states.push(position.state().clone());
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
    }
    states
}

/// The evaluator, gates at one state and gates at many states at once say the same, to the last digit.
#[test]
fn gates_are_worth_what_the_evaluator_says() {
    let games = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/toss");
    // What is refused should be refused soon.
    let limits = GoalCircuitLimits { gates: 20_000, summands: 10_000, assignments: 50_000 };
    let (mut n_compared, mut refused) = (0, Vec::new());
    for name in
        ["tic-tac-toe", "breakthrough", "pawn-whopping", "entanglement", "stepping-stones", "connect-four"]
    {
        let text = std::fs::read_to_string(games.join(format!("{name}.toss"))).expect("games are readable");
        let arena = check(Arc::new(Source::new(name, text))).arena.expect("shipped games are accepted");
        let game =
            Game::open(arena, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message));
        let states = states_of(&game, 1, 20);
        for method in [Method::Existential, Method::Descriptions, Method::RuleConditions] {
            let terms =
                goal_terms(game.arena(), method, &GoalOptions::default()).expect("no game is too large");
            let circuit = match GoalCircuit::new(&game, &terms, limits) {
                Ok(circuit) => circuit,
                Err(why) => {
                    refused.push(format!("{name} {method:?}: {why}"));
                    continue;
                }
            };
            let mut judge = GoalJudge::new(&game, &terms).expect("the terms fit the game");
            let (mut one, mut many) = (OneState::new(&circuit), ManyStates::new(&circuit));
            let mut facts = Vec::new();
            for (lane, state) in states.iter().enumerate() {
                circuit.read(state.structure(), &mut facts);
                many.tell(lane, &facts);
            }
            many.work_out();
            let mut sums = [0; LANES];
            for player in 0..game.arena().players().len() {
                for (lane, state) in states.iter().enumerate() {
                    let expected =
                        judge.value(state.structure(), state.location(), player).expect("it is small");
                    circuit.read(state.structure(), &mut facts);
                    one.go_to(&facts);
                    assert_eq!(one.value(state.location(), player), expected, "{name} {method:?}");
                    let below = many.values(state.location(), player, &mut sums);
                    assert_eq!(Rational::fraction(sums[lane], below), expected, "{name} {method:?}");
                    n_compared += 1;
                }
            }
        }
    }
    assert!(n_compared > 500, "{n_compared}");
    // Diagonals are defined by way of a third cell, so their sums go through all pairs of cells: too many to be written out.
    assert!(refused.iter().all(|why| why.starts_with("connect-four")), "{refused:?}");
}

#[test]
fn a_mark_more_is_worth_more_and_a_blocked_line_less() {
    let arena = arena(3, 3, LINES);
    let options = GoalOptions::default();
    let game =
        Game::open(arena.clone(), Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message));
    for method in [Method::Existential, Method::RuleConditions] {
        let terms = goal_terms(&arena, method, &options).expect("the example is small");
        let mut judge = GoalJudge::new(&game, &terms).expect("the terms fit the game");
        let location = arena.start_location();
        let with = |marks: &[(&str, &str)]| {
            let mut structure = game.start_structure().clone();
            for (relation, element) in marks {
                let relation = structure.vocabulary().relation(relation).expect("a mark");
                let element = structure.element(element).expect("a cell");
                structure.add(relation, &[element]).expect("a mark on a cell");
            }
            structure
        };
        let mut value = |marks: &[(&str, &str)]| judge.estimate(&with(marks), location, 0);
        let (none, one, two) = (value(&[]), value(&[("P", "a1")]), value(&[("P", "a1"), ("P", "a2")]));
        assert!(none < one && one < two && two < 1.0, "{method:?}: {none} {one} {two}");
        if method == Method::RuleConditions {
            assert!(value(&[("P", "a1"), ("P", "a2"), ("Q", "a3")]) < two);
        }
    }
}
