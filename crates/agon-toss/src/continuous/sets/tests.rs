//! Compares the decision of quantifiers over sets with the definition: all sets are tried.

use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Role};
use agon_reals::interrupt::Interrupt;
use agon_structures::formula::{Formula, Variable};
use agon_text::Source;

use super::decide;
use crate::check::{check, lower_formula};
use crate::continuous::direct::Moment;
use crate::continuous::{ContinuousError, Watch};
use crate::interpreter::{Game, Interpreter, Options, Values};
use crate::read::read_formula;

/// A path of seven elements with numbers, and relations defined with and without them.
const PATH: &str = "PLAYERS X
    REL Heavy(x) = :w(x) > 3/2
    REL Linked(x, y) = E(x, y) or E(y, x)
    REL Rising(x, y) = E(x, y) and :w(x) < :w(y)
    RULE Go: [x | P(x) | -] -> [x | P(x) | -] dynamics :w(x)' = :w(x) update :w(x) = :w(x) + 1
    LOC 0 { PLAYER X { PAYOFF 0 MOVES [Go, t: 1 -> 0] } }
    START [a, b, c, d, e, f, g | E { (a, b); (b, c); (c, d); (d, e); (e, f); (f, g) }; P(d) |
      w { a -> 1, b -> 2, c -> 1/2, d -> 3, e -> 2, f -> 1, g -> 5/2 } | home = a]";

fn path() -> Interpreter {
    let checked = check(Arc::new(Source::new("path.toss", PATH)));
    let arena = checked.arena.unwrap_or_else(|| panic!("{:?}", checked.findings.0));
    Game::open(arena, Options::default()).expect("the game is small").start()
}

fn formula(position: &Interpreter, text: &str) -> Formula {
    let formula = read_formula(&Source::new("formula", text)).expect(text);
    lower_formula(position.game().arena().sheet(), &formula, &[]).expect(text)
}

/// Returns the answer of the decision and that of trying all values of the outermost set.
fn both(position: &Interpreter, quantified: &Formula) -> (Option<bool>, bool) {
    let (structure, definitions) =
        (position.state().structure(), position.game().arena().definitions());
    let watch = Watch::new(Interrupt::NEVER);
    let kept = position.state().values().cloned();
    let values = kept.unwrap_or_else(|| Values::of_structure(structure));
    let max_steps = 1 << 30;
    let moment = Moment { structure, values: &values, definitions, max_steps, watch: &watch };
    let mut walker = moment.walker(&[], &[]);
    let decided = decide(&mut walker, quantified).expect("the formula is small");
    let (variables, body, exists) = match quantified {
        Formula::Exists(variables, body) => (variables, body, true),
        Formula::All(variables, body) => (variables, body, false),
        other => panic!("{other} is no quantifier"),
    };
    let [set] = &variables[..] else { panic!("{quantified} has several variables") };
    let elements: Vec<_> = structure.elements().collect();
    let tried = (0..1u32 << elements.len()).map(|subset| {
        let members = (0..elements.len()).map(|bit| subset >> bit & 1 == 1).collect();
        walker.sets.push((set.clone(), members));
        let holds = walker.formula(body).expect("the formula is small");
        walker.sets.pop();
        holds == exists
    });
    let found = tried.into_iter().any(|found| found);
    (decided, found == exists)
}

const FORMULAS: [&str; 16] = [
    "ex X all x, y (not Linked(x, y) or x in X and not y in X or not x in X and y in X)",
    "ex X (home in X and all x, y (not x in X or not Linked(x, y) or y in X) and not ex x x in X)",
    "ex X all x (x in X and Heavy(x) or not x in X and not Heavy(x))",
    "ex X all x (x in X and :w(x) > 2 or not x in X and :w(x) < 2)",
    "all X (not home in X or ex x, y (x in X and E(x, y) and not y in X and :w(x) < :w(y)) or
        all x x in X)",
    "ex X (Sum (x | x in X : :w(x)) = 12)",
    "ex X (Sum (x | x in X : :w(x)) = 47/4)",
    "ex X (Sum (x | x in X : :w(x) + 1) > 15 and all x, y (not x in X or not E(x, y) or not y in X))",
    "ex X (Sum (x | x in X and Heavy(x) : 1) = 4 and Sum (x | x in X : 1) = 4)",
    "all X (Sum (x | x in X : :w(x)) <= 12)",
    "all X (ex x (x in X and :w(x) = Min (y | true : :w(y))) or not home in X)",
    "ex X (Sum (x | x in X : 1) = 3 and all x (x in X or ex y (y in X and Linked(x, y))))",
    "ex X (Sum (x | x in X : 1) = 2 and all x (x in X or ex y (y in X and Linked(x, y))))",
    "all X (not home in X or ex x, y (x in X and Rising(x, y) and not y in X) or
        (tc x, y (x in X and Linked(x, y)))(home, home))",
    "ex X all x (not x in X or ex :r (:r * :r = :w(x) and :r > 3/2))",
    "ex X (home in X and all x (x in X or sqrt(:w(x)) > 1/2) and not all x (not x in X or Heavy(x)))",
];

#[test]
fn decisions_agree_with_trying_all_sets() {
    let mut position = path();
    let mut n_decided = 0;
    for round in 0..2 {
        for text in FORMULAS {
            let formula = formula(&position, text);
            let (decided, tried) = both(&position, &formula);
            if let Some(decided) = decided {
                n_decided += 1;
                assert_eq!(decided, tried, "round {round}: {text}");
            } else {
                // After the first round a value is an interval.
                assert!(round == 1 && text.contains("x in X : :w"), "round {round}: {text}");
            }
        }
        let m = position.parse_move(Role::new(0), "(Go d)");
        position.advance(&[m.expect("the move is legal")]);
    }
    assert!(n_decided > FORMULAS.len() + 8, "{n_decided}");
}

/// A set and an element that are bound outside, as in a formula below another quantifier.
#[test]
fn outer_variables_keep_their_values() {
    let position = path();
    for (text, holds) in [
        ("all x ex X (x in X and all y (not y in X or :w(y) >= :w(x)))", true),
        ("all x ex X (not x in X and ex y (y in X and :w(y) > :w(x)))", false),
        ("ex Y (home in Y and all x (x in Y or ex X (x in X and not x in Y)))", true),
    ] {
        let formula = formula(&position, text);
        let held = position.holds(&formula, &[] as &[Variable], &[]);
        assert_eq!(held, Ok(holds), "{text}");
    }
}

/// Members counted with inexact numbers are counted by trying all sets, which has a limit.
#[test]
fn inexact_counts_of_many_are_refused() {
    let error = ContinuousError::SetsOfMany(14).to_string();
    assert!(error.contains("14 elements") && error.contains("inexact"), "{error}");
    let elements: Vec<String> = (0..20).map(|n| format!("e{n}")).collect();
    let text = format!(
        "PLAYERS X
        RULE Go: [x | P(x) | -] -> [x | P(x) | -] dynamics :w(x)' = :w(x)
        LOC 0 {{ PLAYER X {{ PAYOFF 0 MOVES [Go, t: 1 -> 0] }} }}
        START [{} | P(e0) | w {{ e0 -> 1 }}]",
        elements.join(", ")
    );
    let checked = check(Arc::new(Source::new("many.toss", text)));
    let arena = checked.arena.unwrap_or_else(|| panic!("{:?}", checked.findings.0));
    let mut position = Game::open(arena, Options::default()).expect("it is small").start();
    let ask = |position: &Interpreter, text: &str| {
        position.holds(&formula(position, text), &[] as &[Variable], &[])
    };
    let counted = "ex X (Sum (x | x in X : :w(x)) > 2)";
    assert_eq!(ask(&position, counted), Ok(false));
    assert_eq!(
        ask(&position, "ex X (Sum (x | x in X : 1) = 19 and all x (x in X or P(x)))"),
        Ok(true)
    );
    let m = position.parse_move(Role::new(0), "(Go e0)");
    position.advance(&[m.expect("the move is legal")]);
    let refused = ask(&position, counted).expect_err("the number is not exact");
    assert_eq!(refused, error);
    // Comparisons with such numbers need no counting.
    assert_eq!(
        ask(&position, "ex X all x (x in X and :w(x) > 2 or not x in X and :w(x) = 0)"),
        Ok(true)
    );
}
