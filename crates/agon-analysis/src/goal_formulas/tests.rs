//! The examples of Kaiser & Stafiniak 2011 literally, and laws for all games.

mod circuits;

use std::sync::Arc;

use agon_circuit::Deadline;
use agon_game::{Notation as _, Position as _, Rng};
use agon_structures::formula::{Formula, Oversize, Term, Variable};
use agon_text::Source;
use agon_toss::arena::CheckedArena;
use agon_toss::check::check;
use agon_toss::circuit::CircuitLimits;
use agon_toss::interpreter::{Game, Options};
use rand::SeedableRng as _;

use super::descriptions::Describer;
use super::words::in_words;
use super::{
    Change, GoalEvaluator, GoalOptions, GoalTermsError, Method, Rational, RewritingAnalysis,
    Weights, changes, goal_terms,
};

/// Returns a game with marks P and Q and a goal in rows and columns only, as in the examples.
fn arena(rows: usize, columns: usize, goal: &str) -> CheckedArena {
    arena_with("", rows, columns, goal)
}

/// Returns the example game with additional defined relations.
fn arena_with(relations: &str, rows: usize, columns: usize, goal: &str) -> CheckedArena {
    let board = vec![vec!["."; columns].join(" "); rows].join("\n  ");
    let text = format!(
        "PLAYERS X, O\n\
         {relations}\n\
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
    let findings: Vec<&str> =
        checked.findings.0.iter().map(|finding| finding.message.as_str()).collect();
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
    let names: Vec<(&str, Change)> =
        changes.iter().map(|(name, change)| (&**name, *change)).collect();
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
    let options = GoalOptions { weights: Weights::of_example_8(), ..GoalOptions::default() };
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
    // Kaiser & Stafiniak 2011 print `ex y1, y2 (C(y1, y2) and C(y2, x))`, with the variables in the
    // opposite order.
    assert_eq!(found.to_string(), "ex y1, y2 (C(y1, x) and C(y2, y1))");
}

#[test]
fn the_description_of_the_last_row_has_a_step_for_each_row() {
    for rows in 2..=6 {
        let arena = arena(rows, 3, "ex x (P(x) and not ex y C(x, y))");
        let term = of_cross(&arena, Method::Descriptions, &GoalOptions::default());
        assert_eq!(term.to_string().matches("Sum").count(), rows, "{term}");
        let plain = of_cross(&arena, Method::Existential, &GoalOptions::default());
        assert_eq!(plain.to_string(), "Sum (x | P(x) and all y not C(x, y) : 1)");
    }
}

#[test]
fn parts_without_a_short_description_are_kept() {
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
    let listed = Weights::of_example_8();
    let shown: Vec<String> = (0..5).map(|n| listed.before_end(n).to_string()).collect();
    assert_eq!(shown, ["1", "0.25", "0.125", "0.0625", "0.03125"]);
}

#[test]
fn shipped_games_get_terms_by_every_method() {
    let names = shipped_names();
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        let game = shipped(&name);
        for method in [Method::Existential, Method::Descriptions, Method::RuleConditions] {
            let made = goal_terms(game.arena(), method, &GoalOptions::default());
            let made = made.unwrap_or_else(|why| panic!("{name} {method:?}: {why}"));
            assert_eq!(made.terms.len(), game.arena().locations().len());
        }
    }
}

/// The expanded lines and diagonals of chess are too large. Kept as relations they are not, with
/// the same meaning.
#[test]
fn stable_relations_are_kept_where_expansion_is_too_large() {
    let goal = "ex x, y (P(x) and P(y) and Near(x, y))";
    let near = "REL Near(x, y) = ex z (R(x, z) and C(z, y)) or R(x, y) or C(x, y)";
    let arena = arena_with(near, 3, 3, goal);
    let whole = of_cross(&arena, Method::Existential, &GoalOptions::default()).to_string();
    assert!(!whole.contains("Near") && whole.matches("Sum").count() == 6, "{whole}");
    // With growing limits the result is first an error, then keeps the relation, then expands it.
    let mut stages: Vec<Result<String, GoalTermsError>> = Vec::new();
    for size in 1..200 {
        let options = GoalOptions { size, ..GoalOptions::default() };
        let made = goal_terms(&arena, Method::Existential, &options)
            .map(|made| made.terms[0][0].to_string());
        let made = made.map_err(|why| match why {
            GoalTermsError::TooLarge(_) => GoalTermsError::TooLarge(Oversize { limit: 0 }),
            GoalTermsError::Evaluation(_) => why,
        });
        if stages.last() != Some(&made) {
            stages.push(made);
        }
    }
    let kept = "Sum (x | P(x) : 0.25 + Sum (y | P(y) and Near(x, y) : 1))".to_owned();
    assert_eq!(stages, [Err(GoalTermsError::TooLarge(Oversize { limit: 0 })), Ok(kept), Ok(whole)]);
}

/// A diagonal via a third cell is a condition on the second cell, like a row, and not a step.
#[test]
fn a_static_relation_between_elements_is_not_a_step() {
    let goal = "ex x, y, z (P(x) and P(y) and P(z) and D(x, y) and D(y, z))";
    let arena = arena_with("REL D(x, y) = ex z (R(x, z) and C(z, y))", 3, 3, goal);
    let term = of_cross(&arena, Method::Existential, &GoalOptions::default());
    assert_eq!(
        term.to_string(),
        "Sum (x | P(x) : 0.0625 + Sum (y | P(y) and ex z1 (R(x, z1) and C(z1, y)) : 0.25 + \
         Sum (z | P(z) and ex z2 (R(y, z2) and C(z2, z)) : 1)))"
    );
    let game = Game::open(arena, Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message));
    let terms = goal_terms(game.arena(), Method::Existential, &GoalOptions::default())
        .expect("it is small");
    let mut evaluator = GoalEvaluator::new(&game, &terms).expect("the terms fit the game");
    let mut value = |cells: &[&str]| {
        let mut structure = game.start_structure().clone();
        let mark = structure.vocabulary().relation("P").expect("a mark");
        for cell in cells {
            let cell = structure.element(cell).expect("a cell");
            structure.add(mark, &[cell]).expect("a mark on a cell");
        }
        let found =
            evaluator.value(&structure, game.arena().start_location(), 0).expect("it is small");
        found.expect("it has a value").to_f64()
    };
    // A diagonal neighbour has the weight of a step. Other cells add only their own weight.
    assert_eq!(value(&["a1", "c1"]), 2.0 * 0.0625);
    assert_eq!(value(&["a1", "b2"]), 2.0 * 0.0625 + 0.25);
    assert_eq!(value(&["a1", "b2", "c3"]), 3.0 * 0.0625 + 2.0 * 0.25 + 1.0);
}

/// Estimates do not depend on the engine, stay within the bounds of the payoffs, and are ordered
/// like the values.
#[test]
fn estimates_do_not_depend_on_the_engine() {
    for name in ["tic-tac-toe", "breakthrough", "pawn-whopping"] {
        let game = shipped(name);
        let compiled = game.compile(&CircuitLimits::modest(), Deadline::NEVER);
        let compiled = compiled.unwrap_or_else(|why| panic!("{name}: {why}"));
        for method in [Method::Existential, Method::Descriptions, Method::RuleConditions] {
            let terms = goal_terms(game.arena(), method, &GoalOptions::default())
                .expect("no game is too large");
            let mut evaluator =
                GoalEvaluator::for_search(&game, &terms).expect("the terms fit the game");
            let (mut slow, mut fast) = (game.start(), compiled.start());
            let bounds = slow.shape().payoffs.clone();
            let (mut rng, mut joint) = (Rng::seed_from_u64(3), Vec::new());
            let mut seen: Vec<(Rational, f64)> = Vec::new();
            while !slow.is_terminal() {
                for role in slow.shape().roles() {
                    let estimate = evaluator.estimate_at(&slow, role);
                    assert_eq!(estimate, evaluator.estimate_at(&fast, role), "{name} {method:?}");
                    assert!(
                        *bounds.start() < estimate && estimate < *bounds.end(),
                        "{name}: {estimate}"
                    );
                    // The slow evaluation takes too long for the other methods.
                    if method != Method::Descriptions {
                        continue;
                    }
                    let state = slow.state();
                    let value = evaluator.value(state.structure(), state.location(), role.index());
                    seen.push((value.expect("it is small").expect("it has a value"), estimate));
                }
                slow.draw(&mut rng, &mut joint);
                let texts: Vec<String> = joint.iter().map(|m| slow.move_text(m)).collect();
                let roles = slow.shape().roles();
                let same: Option<Vec<_>> =
                    roles.zip(&texts).map(|(role, text)| fast.parse_move(role, text)).collect();
                fast.advance(&same.expect("both know the move"));
                slow.advance(&joint);
            }
            seen.sort_by_key(|(value, _)| *value);
            assert!(
                seen.is_sorted_by(|a, b| a.1 <= b.1),
                "{name} {method:?}: the order is that of the values"
            );
            let is_informative = seen.first().map(|s| s.1) != seen.last().map(|s| s.1);
            // If a goal has a single quantifier, only descriptions distinguish the states on the
            // way there.
            assert!(
                is_informative || method != Method::Descriptions,
                "{name} {method:?} has the same estimate in all states"
            );
        }
    }
}

/// Returns the names of all shipped structure rewriting games.
fn shipped_names() -> Vec<String> {
    let games = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/toss");
    let paths = std::fs::read_dir(&games).expect("games ship");
    let paths = paths.map(|entry| entry.expect("entries are readable").path());
    let rules = paths.filter(|path| path.extension().is_some_and(|end| end == "toss"));
    let mut names: Vec<String> = rules
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Opens a shipped game.
fn shipped(name: &str) -> Arc<Game> {
    let games = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/toss");
    let text =
        std::fs::read_to_string(games.join(format!("{name}.toss"))).expect("games are readable");
    let arena = check(Arc::new(Source::new(name, text))).arena.expect("shipped games are accepted");
    Game::open(arena, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message))
}

#[test]
fn another_mark_raises_the_estimate_and_a_blocked_line_lowers_it() {
    let arena = arena(3, 3, LINES);
    let options = GoalOptions::default();
    let game = Game::open(arena.clone(), Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message));
    for method in [Method::Existential, Method::RuleConditions] {
        let terms = goal_terms(&arena, method, &options).expect("the example is small");
        let mut evaluator = GoalEvaluator::new(&game, &terms).expect("the terms fit the game");
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
        let mut value = |marks: &[(&str, &str)]| evaluator.estimate(&with(marks), location, 0);
        let (none, one, two) =
            (value(&[]), value(&[("P", "a1")]), value(&[("P", "a1"), ("P", "a2")]));
        assert!(none < one && one < two && two < 1.0, "{method:?}: {none} {one} {two}");
        if method == Method::RuleConditions {
            assert!(value(&[("P", "a1"), ("P", "a2"), ("Q", "a3")]) < two);
        }
    }
}

#[test]
fn an_analysis_builds_each_evaluator_once() {
    let analysis = RewritingAnalysis::new(shipped("tic-tac-toe"));
    let options = GoalOptions::default();
    let terms = |analysis: &RewritingAnalysis, method| {
        let evaluator = analysis.goal_evaluator(method, &options).expect("the game is small");
        std::ptr::from_ref(evaluator.terms())
    };
    let first = terms(&analysis, Method::Descriptions);
    assert_ne!(first, terms(&analysis, Method::RuleConditions));
    assert_eq!(first, terms(&analysis, Method::Descriptions));
    assert_eq!(first, terms(&analysis.clone(), Method::Descriptions));
    let other = RewritingAnalysis::new(Arc::clone(analysis.game()));
    assert_ne!(first, terms(&other, Method::Descriptions), "another analysis has its own");
}
