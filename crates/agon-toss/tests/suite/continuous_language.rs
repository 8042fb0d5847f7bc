//! The language of Kaiser & Stafiniak 2010: functions that change, differential equations,
//! parameters, time, multiplicities, edges for tuples, random interval ends. How it is read, and
//! what it means.

use std::sync::Arc;

use agon_game::{Fault, Notation as _, Position as _, Rng, Role};
use agon_text::{Source, render};
use agon_toss::by_play::{PlayPlan, check_by_play};
use agon_toss::check::check;
use agon_toss::interpreter::{Game, Interpreter, Options};
use agon_toss::print::print_sheet;
use agon_toss::read::{read, read_formula, read_term};
use agon_toss::syntax::{FormulaKind, TermKind};
use agon_toss::why::explain;
use rand::{RngExt as _, SeedableRng as _};

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("test.toss", text))
}

pub(super) fn open(text: &str) -> Interpreter {
    let source = source(text);
    let checked = check(Arc::clone(&source));
    let arena = checked
        .arena
        .unwrap_or_else(|| panic!("{text}\n{}", render(&checked.findings.0, &source, false)));
    Game::open(arena, Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message))
        .start()
}

/// Makes a joint move, by the texts of the moves of all roles in order.
pub(super) fn play(position: &mut Interpreter, joint: &[&str]) {
    let joint: Vec<_> = joint
        .iter()
        .enumerate()
        .map(|(role, text)| {
            let found = position.parse_move(Role::new(role), text);
            found.unwrap_or_else(|| panic!("{text} in {:?}", position.state_text()))
        })
        .collect();
    position.advance(&joint);
}

pub(super) fn has(position: &Interpreter, text: &str) -> bool {
    position.state_text().iter().any(|line| line == text)
}

/// Returns the number at the end of the line of the state that starts with these words.
pub(super) fn number(position: &Interpreter, words: &str) -> f64 {
    let state = position.state_text();
    let line = state.iter().find_map(|line| line.strip_prefix(&format!("({words} ")));
    let line = line.unwrap_or_else(|| panic!("no `{words}` in {state:?}"));
    line.trim_end_matches(')').parse().expect("a decimal number")
}

pub(super) fn moves(position: &Interpreter, role: usize) -> Vec<String> {
    position.legal_moves(Role::new(role)).iter().map(|m| position.move_text(m)).collect()
}

pub(super) fn is_read(position: &Interpreter, role: usize, text: &str) -> bool {
    position.parse_move(Role::new(role), text).is_some()
}

const CAT_AND_MOUSE: &str = "PLAYERS cat, mouse
RULE Chase: [c | Cat(c) | -] -> [c | Cat(c) | -]
  dynamics :x(c)' = :px; :y(c)' = :py
  pre not ex a, b (Cat(a) and Mouse(b) and (:x(a) - :x(b))^2 + (:y(a) - :y(b))^2 < 1/4)
    and ex a (Cat(a) and :n(a) < 10)
  update :n(c) = :n(c) + 1
RULE Run: [m | Mouse(m) | -] -> [m | Mouse(m) | -]
  dynamics :x(m)' = :px; :y(m)' = :py
LOC 0 {
  PLAYER cat {
    PAYOFF 0 - min(100, Sum (a, b | Cat(a) and Mouse(b) :
      sqrt((:x(a) - :x(b))^2 + (:y(a) - :y(b))^2)))
    MOVES [Chase, t: 1/2 -- 1, px: -1 -- 1, py: -1 -- 1 -> 0]
  }
  PLAYER mouse {
    PAYOFF 0
    MOVES [Run, t: 1 -- 1, px: -1/2 -- 1/2, py: -1/2 -- 1/2 -> 0]
  }
}
START [ c, m | Cat(c); Mouse(m) | x { c -> 0, m -> 3 }; y { c -> 0, m -> 1.5 }; n { c -> 0 } ]";

// ---- Reading ----

/// Returns the debug text of the parsed game without its places.
fn without_places(text: &str) -> String {
    let (sheet, findings) = read(source(text));
    assert!(!findings.has_errors(), "{}", render(&findings.0, &sheet.source, false));
    let parts = (&sheet.players, &sheet.relations, &sheet.rules, &sheet.payoffs, &sheet.locations);
    let debug = format!("{parts:?} {:?} {:?}", sheet.model, sheet.start);
    // A place is written `8..11`.
    let mut bare = String::new();
    for piece in debug.split("span: ") {
        bare.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
    }
    bare
}

/// Printing a game and reading it again gives the same tree.
fn assert_survives_printing(text: &str) {
    let printed = print_sheet(&read(source(text)).0);
    assert_eq!(without_places(text), without_places(&printed), "{text}\nprinted as\n{printed}");
}

#[test]
fn every_construct_survives_printing() {
    assert_survives_printing(CAT_AND_MOUSE);
    assert_survives_printing(
        "PLAYERS X, O, random
        RULE A: [a, b | E(a, b) | x { a -> -1/3 }; x' { b -> 0.5 }] -> [a, b | - | y { b -> 2 }]
          pre ex S (a in S and not b in S) and all :r (:r > 0 or :r <= 0)
          inv :x(a) >= 0 and :x'(a)' < 2 post min :r (:r > :x(a)) = 1
          dynamics :x(a)'' = -:x'(a) + sin(:t) * :p; :y(b)' = root(3, 2 ^ :x(b)) / -2
          update :x'(a) = max(0, 1, :x(a)) ; :y(b) = let :q = abs(1 - 2) in :q + Sum (z | E(z, b) : :x(z))
        RULE B: ELEMS a MATCH not E(a, a) RELS E(a, a) dynamics :x(a)' = exp(cos(log(2)))
        LOC 0 {
          PLAYER X { PAYOFF 0 MOVES [A * as each, t: 0 -- w, p: -1/2 -- 1, w ~ U(1/4, 2)]; [B as one] }
          PLAYER O { PAYOFF 0 MOVES [B inf, t: v, v ~ N(1, 0.5)]; [B as two, t: u, u ~ E(2)] }
          EDGES [each, B, v ~ N(1, 0.5) -> 0 : 1/3]; [each, B -> 1 : 2/3]; [_, _, u ~ E(2) -> 1]
        }
        LOC 1 { PAYOFF { X: 1/2; O: -1 } }
        START [ a, b, c | E {(a, b); (b, c)} | x { a -> 1/3, b -> -0.25 }; x' { a -> 7 } ]",
    );
}

/// Writes random terms and formulas.
struct Writer(Rng);

impl Writer {
    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.0.random_range(0..words.len())]
    }

    fn term(&mut self, depth: u32) -> String {
        let atoms = ["0", "12", "0.25", ":x(a)", ":x'(a)", ":x(a)''", ":y(b)", ":t", ":p"];
        if depth == 0 {
            return self.pick(&atoms).to_owned();
        }
        let (one, two) = (self.term(depth - 1), self.term(depth - 1));
        match self.0.random_range(0..12) {
            0..4 => format!("{one} {} {two}", self.pick(&["+", "-", "*", "/", "^"])),
            4..6 => format!("({one}) {} ({two})", self.pick(&["+", "-", "*", "/", "^"])),
            6 => format!("- {one}"),
            7 => format!("{}({one})", self.pick(&["sqrt", "sin", "cos", "exp", "log", "abs"])),
            8 => format!("{}({one}, {two}, 3)", self.pick(&["min", "max"])),
            9 => format!("(let :q = {one} in :q + {two})"),
            10 => format!("Sum (z | {} : {one})", self.formula(depth - 1)),
            _ => format!("(min :r ({}))", self.formula(depth - 1)),
        }
    }

    fn formula(&mut self, depth: u32) -> String {
        let atoms = ["E(a, b)", "P(a)", "a = b", "true", "min(a, b)", "sin(b)"];
        if depth == 0 {
            return self.pick(&atoms).to_owned();
        }
        match self.0.random_range(0..6) {
            0 => format!("not ({})", self.formula(depth - 1)),
            1 => {
                let (one, two) = (self.formula(depth - 1), self.formula(depth - 1));
                format!("({one}) {} ({two})", self.pick(&["and", "or"]))
            }
            2 => format!("ex S (a in S or {})", self.formula(0)),
            3 => format!("all :r (:r < 1 or ({}))", self.formula(depth - 1)),
            _ => {
                let (one, two) = (self.term(depth - 1), self.term(depth - 1));
                format!("{one} {} {two}", self.pick(&["<", "<=", "=", "!=", ">=", ">"]))
            }
        }
    }

    fn edge(&mut self) -> String {
        let times = self.pick(&["", " *", " inf"]);
        let label = self.pick(&["", " as fast"]);
        let interval = match self.0.random_range(0..4) {
            0 => String::new(),
            1 => ", t: 1/2".to_owned(),
            2 => format!(", t: 0 -- {}", self.term(1)),
            _ => ", p: 0 -- w, w ~ U(0, 1), t: v -- v, v ~ N(1, 1/2)".to_owned(),
        };
        let chance = self.pick(&["", " : 1/3"]);
        format!("[A{times}{label}{interval} -> 0{chance}]")
    }

    fn sheet(&mut self) -> String {
        let (pre, inv, post) = (self.formula(3), self.formula(2), self.formula(2));
        let (first, second, update) = (self.term(3), self.term(2), self.term(3));
        let (one, two) = (self.edge(), self.edge());
        format!(
            "PLAYERS X, O
            RULE A: [a, b | - | x {{ a -> -1/3 }}] -> [a, b | - | x' {{ b -> 2 }}]
              pre {pre} inv {inv} post {post}
              dynamics :x(a)'' = {first}; :y(b)' = {second} update :y(b) = {update}
            LOC 0 {{ PLAYER X {{ PAYOFF {} MOVES {one}; {two} }} }}
            LOC 1 {{ PLAYER X MOVES [A] PLAYER O MOVES [A as other]
              EDGES [A, other -> 0 : 1/2]; [A, _ -> 1 : 0.5] }}
            START [ a, b | E(a, b); P(a); min(a, b); sin(b) | x {{ a -> 2/3, b -> -0.5 }} ]",
            self.term(3)
        )
    }
}

#[test]
fn random_games_survive_printing() {
    let mut writer = Writer(Rng::seed_from_u64(23));
    for _ in 0..400 {
        assert_survives_printing(&writer.sheet());
    }
}

#[test]
fn functions_of_numbers_and_relations_may_share_names() {
    let kind = |text: &str| read_formula(&source(text)).expect("it is a formula").kind;
    assert!(matches!(kind("min(a, b)"), FormulaKind::Atom(..)));
    assert!(matches!(kind("sin(a)"), FormulaKind::Atom(..)));
    assert!(matches!(kind("sin(:x(a)) < 1"), FormulaKind::Compare(..)));
    assert!(matches!(kind("min :r (:r > 1) = 1"), FormulaKind::Compare(..)));
    let FormulaKind::And(parts) = kind("min(a, b) and 1 >= min(:x(a), :x(b))") else {
        panic!("a conjunction")
    };
    assert!(matches!(parts[0].kind, FormulaKind::Atom(..)));
    assert!(matches!(parts[1].kind, FormulaKind::Compare(..)));
    let position = open(
        "PLAYERS X RULE A: [a, b | min(a, b) | -] -> [a, b | - | -]
           pre sin(b) and min(:x(a), :x(b)) = 1 and abs(sin(:x(a))) < 1
         LOC 0 { PLAYER X { PAYOFF 0 MOVES [A -> 0] } }
         START [ a, b, c | min {(a, b); (b, a); (b, c)}; sin {b; c} | x { a -> 1; b -> 2; c -> 3 } ]",
    );
    assert_eq!(moves(&position, 0), ["(A a b)"]);
}

#[test]
fn terms_bind_as_in_mathematics() {
    let kind = |text: &str| read_term(&source(text)).expect("it is a term").kind;
    assert!(matches!(kind("-2 ^ 2"), TermKind::Negative(_)));
    assert!(matches!(kind("1 + 2 * 3"), TermKind::Sum(..)));
    assert!(matches!(kind("1 - 2 - 3"), TermKind::Sum(_, rest) if rest.len() == 2));
    assert!(matches!(kind("1 / 2 * 3"), TermKind::Product(_, rest) if rest.len() == 2));
    assert!(matches!(kind("2 ^ 3 ^ 2"), TermKind::Power(_, exponent)
        if matches!(exponent.kind, TermKind::Power(..))));
    for text in [":x''(a)", ":x'(a)'", ":x(a)''"] {
        assert!(matches!(kind(text), TermKind::Value(_, 2, _)), "{text}");
    }
    let position = open(
        "PLAYERS X RULE A: [a | - | -] -> [a | - | -] LOC 0 { PLAYER X { PAYOFF 0 MOVES [A -> 0] } }
         START [ a | - | x { a -> 1/3 } ]",
    );
    for (text, value) in [
        ("-2 ^ 2", "-4"),
        ("2 ^ 3 ^ 2", "512"),
        ("1 - 2 - 3", "-4"),
        ("Sum (z | true : :x(z)) * 6", "2"),
        ("max(1, 3, 2) - min(1, 3, 2) + abs(0 - 5)", "7"),
    ] {
        let answer = explain(&position, text).expect("it is a term");
        assert_eq!(answer.findings[0].text, format!("its value is {value}"), "{text}");
    }
}

/// Questions may use constants: they denote elements and are not free variables.
#[test]
fn questions_know_constants() {
    let position = open(
        "PLAYERS X RULE A: [x | - | -] -> [x | P(x) | -] emb P LOC 0 { PLAYER X { PAYOFF 0 MOVES [A -> 0] } }
         START [ a, b, c | P {b}; E {(a, b); (b, c)} | - | home = b ]",
    );
    let at_home = explain(&position, "P(home)").expect("it is a formula");
    assert_eq!((at_home.holds, at_home.witnesses.len()), (Some(true), 0));
    let next = explain(&position, "E(home, y)").expect("it is a formula");
    assert_eq!(next.witnesses, [[("y".to_owned(), "c".to_owned())]]);
    assert_eq!(explain(&position, "&home").expect("a term").findings[0].text, "its value is 2");
}

// ---- Meaning ----

pub(super) fn frame(rules: &str, moves: &str, start: &str) -> String {
    format!("PLAYERS X\n{rules}\nLOC 0 {{ PLAYER X {{ PAYOFF 0 MOVES {moves} }} }}\nSTART {start}")
}

/// Plays a game by the discrete engine and by the continuous engine, which is used because a move
/// takes time.
fn both_engines(rules: &str, rule: &str, start: &str) -> [Interpreter; 2] {
    let games = ["", ", t: 1"].map(|time| frame(rules, &format!("[{rule}{time} -> 0]"), start));
    let games = games.map(|text| open(&text));
    assert_eq!(games.each_ref().map(|g| g.game().arena().is_continuous()), [false, true]);
    games
}

#[test]
fn updates_use_the_values_before_the_rule() {
    let swap = "RULE Swap: [a, b | E(a, b) | -] -> [a, b | E(a, b) | -]
        update :x(a) = :x(b); :x(b) = :x(a)";
    for mut position in both_engines(swap, "Swap", "[a, b | E(a, b) | x { a -> 1/3, b -> 2 }]") {
        play(&mut position, &["(Swap a b)"]);
        assert!(has(&position, "(x a 2)") && has(&position, "(x b 1/3)"));
    }
}

#[test]
fn functions_are_zero_where_the_start_gives_no_value() {
    let rule = "RULE A: [a | - | -] -> [a | - | -] update :x(a) = :x(a) + 1/2";
    for mut position in both_engines(rule, "A", "[a, b | - | x { a -> 1 }]") {
        play(&mut position, &["(A b)"]);
        assert!(has(&position, "(x a 1)") && has(&position, "(x b 0.5)"));
    }
}

#[test]
fn new_elements_have_the_value_zero_and_copies_that_of_the_original() {
    let rule = "RULE Bud: [a | P(a) | -] -> [a, b, c, d | P(a) | -] with [a <- a, c <- a, d <- a]
        update :x(a) = :x(a) + 1; :x(d) = 2 * :x(a)";
    for mut position in both_engines(rule, "Bud", "[p | P(p) | x { p -> 5 }; y { p -> 3 }]") {
        play(&mut position, &["(Bud p)"]);
        for line in ["(x p 6)", "(x b_1 0)", "(x c_1 5)", "(x d_1 10)"] {
            assert!(has(&position, line), "{line} in {:?}", position.state_text());
        }
        play(&mut position, &["(Bud p)"]);
        assert!(has(&position, "(x p 7)") && has(&position, "(x c_2 6)"));
    }
}

#[test]
fn random_interval_ends_are_drawn_first() {
    let go = "RULE Go: [a | - | -] -> [a | - | -] dynamics :x(a)' = 1";
    let game =
        |ends: &str| open(&frame(go, &format!("[Go, {ends} -> 0]"), "[a | - | x { a -> 0 }]"));
    let mut position = game("t: 0 -- w, w ~ U(1, 2)");
    assert_eq!(moves(&position, 0), ["noop"]);
    assert!(is_read(&position, 1, "(draw (w 1.25))"));
    for wrong in ["(draw (w 3))", "(draw (w 0.999))", "(draw (w nan))", "(draw)", "(draw (v 1.5))"]
    {
        assert!(!is_read(&position, 1, wrong), "{wrong}");
    }
    play(&mut position, &["noop", "(draw (w 1.25))"]);
    assert!(is_read(&position, 0, "(Go a (t 1.25))") && is_read(&position, 0, "(Go a (t 0))"));
    assert!(!is_read(&position, 0, "(Go a (t 1.2500001))"));
    play(&mut position, &["(Go a (t 1.2))", "noop"]);
    assert!((number(&position, "x a") - 1.2).abs() < 1e-12);
    assert!(is_read(&position, 1, "(draw (w 2))"), "the next number is drawn");
    let exponential = game("t: w, w ~ E(2)");
    assert!(
        is_read(&exponential, 1, "(draw (w 0.1))") && !is_read(&exponential, 1, "(draw (w -1))")
    );
    let normal = game("t: 0 -- w, w ~ N(1, 1)");
    assert!(is_read(&normal, 1, "(draw (w -1))"), "a duration is not negative, its end may be");
    // Draws by chance follow the distribution.
    let mut rng = Rng::seed_from_u64(5);
    let mut joint = Vec::new();
    for (ends, mean) in
        [("t: w, w ~ U(1, 2)", 1.5), ("t: w, w ~ E(2)", 0.5), ("t: w, w ~ N(3, 0.5)", 3.0)]
    {
        let start = game(ends);
        let n = 2000;
        let sum: f64 = (0..n)
            .map(|_| {
                let mut position = start.clone();
                position.draw(&mut rng, &mut joint);
                position.advance(&joint);
                number(&position, "drawn w")
            })
            .sum();
        assert!((sum / f64::from(n) - mean).abs() < 0.05, "{ends}: {}", sum / f64::from(n));
    }
}

#[test]
fn any_number_of_the_interval_is_legal() {
    let position = open(CAT_AND_MOUSE);
    for right in [
        "(Chase c (t 0.5) (px -1) (py 1))",
        "(chase c (py 0.25) (t 0.7320508075688772) (px 0.1))",
        "(Chase c (t 1) (px 1e-300) (py -0))",
    ] {
        assert!(is_read(&position, 0, right), "{right}");
    }
    for wrong in [
        "(Chase c (t 0.49) (px 0) (py 0))",
        "(Chase c (t 1.0000000000000002) (px 0) (py 0))",
        "(Chase c (t 1) (px 0))",
        "(Chase c (t 1) (px 0) (px 0))",
        "(Chase c (t 1) (px 0) (py 0) (pz 0))",
        "(Chase c (t 1) (px 0) (py 0) (py 0))",
        "(Chase c (t nan) (px 0) (py 0))",
        "(Chase c (t inf) (px 0) (py 0))",
        "(Chase m (t 1) (px 0) (py 0))",
        "(Run m (t 1) (px 0) (py 0))",
        "(Chase c)",
        "((((",
        "",
    ] {
        assert!(!is_read(&position, 0, wrong), "{wrong}");
    }
}

/// The text of a drawn move denotes exactly that move, and the same texts give the same states.
#[test]
fn records_of_numbers_are_exact() {
    let mut rng = Rng::seed_from_u64(11);
    let mut joint = Vec::new();
    for _ in 0..10 {
        let mut position = open(CAT_AND_MOUSE);
        let mut replayed = position.clone();
        while !position.is_terminal() {
            position.draw(&mut rng, &mut joint);
            let texts: Vec<String> = joint.iter().map(|m| position.move_text(m)).collect();
            for (role, (text, m)) in texts.iter().zip(&joint).enumerate() {
                assert_eq!(position.parse_move(Role::new(role), text).as_ref(), Some(m), "{text}");
            }
            position.advance(&joint);
            play(&mut replayed, &texts.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(position.key(), replayed.key());
            assert_eq!(position.state_text(), replayed.state_text());
        }
        assert_eq!(position.fault(), None);
    }
}

/// Keys are equal if and only if the texts of the states are, over many states of random plays.
#[test]
fn keys_tell_states_apart() {
    let mut rng = Rng::seed_from_u64(3);
    let mut seen: std::collections::BTreeMap<Vec<String>, u64> = std::collections::BTreeMap::new();
    let mut joint = Vec::new();
    for play in 0..30 {
        let mut position = open(CAT_AND_MOUSE);
        while !position.is_terminal() {
            let key = *seen.entry(position.state_text()).or_insert(position.key());
            assert_eq!(key, position.key());
            if play % 2 == 0 {
                position.draw(&mut rng, &mut joint);
            } else {
                // Listed moves lead to equal states again and again.
                joint = (0..2)
                    .map(|role| {
                        let legal = position.legal_moves(Role::new(role));
                        legal[if rng.random() { 0 } else { legal.len() - 1 }].clone()
                    })
                    .collect();
            }
            position.advance(&joint);
        }
    }
    let keys: std::collections::BTreeSet<u64> = seen.values().copied().collect();
    assert_eq!(keys.len(), seen.len());
    assert!(seen.len() > 100);
}

#[test]
fn time_that_comes_to_a_halt_is_refused() {
    let stuck = "RULE Stuck: [b | - | -] -> [b | - | -] dynamics :y(b)' = -1 inv :y(b) >= 0
        update :n(b) = :n(b) + 1";
    let mut position =
        open(&frame(stuck, "[Stuck, t: 1 -> 0]", "[b | - | y { b -> 0 }; n { b -> 0 }]"));
    for _ in 0..1100 {
        if position.fault().is_some() {
            break;
        }
        play(&mut position, &["(Stuck b)"]);
    }
    let Some(Fault::Refused(why)) = position.fault() else { panic!("it is refused") };
    assert!(why.contains("time comes to a halt") && why.contains("`Stuck`"), "{why}");
    assert!(position.is_terminal());
}

#[test]
fn values_that_leave_the_reals_are_named() {
    for (term, time) in [("1000 * :x(a) ^ 2", 0.001), ("sqrt(-:x(a))", 0.0)] {
        let go = format!("RULE Go: [a | - | -] -> [a | - | -] dynamics :x(a)' = {term}");
        let mut position = open(&frame(&go, "[Go, t: 1 -> 0]", "[b | - | x { b -> 1 }]"));
        play(&mut position, &["(Go b)"]);
        let Some(Fault::Refused(why)) = position.fault() else { panic!("{term} has no value") };
        assert!(why.contains("the value `:x(b)` or its derivative is undefined"), "{why}");
        let found: f64 = why.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a time");
        assert!((found - time).abs() < 1e-9, "{why}");
    }
}

#[test]
fn stiff_equations_are_refused_with_a_reason() {
    let stiff = "RULE Stiff: [b | - | -] -> [b | - | -]
        dynamics :y(b)' = -1000000000 * (:y(b) - cos(:t)) + :y(b)^2";
    let mut position = open(&frame(stiff, "[Stiff, t: 1000 -> 0]", "[b | - | y { b -> 0 }]"));
    play(&mut position, &["(Stiff b)"]);
    let Some(Fault::Refused(why)) = position.fault() else { panic!("it is refused") };
    assert!(why.contains("the equations are stiff at time") && why.contains("`Stiff`"), "{why}");
}

/// A payoff without a value says what is wrong.
#[test]
fn a_payoff_without_a_value_gives_its_reason() {
    for term in ["1 / Sum (z | P(z) : 1)", "Min (z | P(z) : 1)"] {
        let text = format!(
            "PLAYERS X RULE A: [a | P(a) | -] -> [a | - | -] emb P
             LOC 0 {{ PLAYER X {{ PAYOFF {term} MOVES [A -> 0] }} }} START [ a | P(a) | - ]"
        );
        let mut position = open(&text);
        play(&mut position, &["(A a)"]);
        let Some(Fault::Refused(why)) = position.fault() else { panic!("{term} has no value") };
        assert!(why.contains("the payoff of `X` at the location `0`"), "{why}");
        assert!(why.contains("it divides by zero, or takes the least of nothing"), "{why}");
        let found = check_by_play(position.game(), &PlayPlan::default(), &mut || {});
        let found = format!("{found:?}");
        assert!(found.contains("give the payoff a value in every state"), "{found}");
    }
}

/// Bounds of payoffs follow from the terms, so that searches scale their exploration.
#[test]
fn payoffs_have_bounds() {
    let bounds = |term: &str, rule: &str| {
        let text = format!(
            "PLAYERS X RULE A: {rule}
             LOC 0 {{ PLAYER X {{ PAYOFF {term} MOVES [A -> 0] }} }}
             START [ a, b, c | P:1 {{}} | v {{ a -> 2; b -> -1/2; c -> 3 }}; w {{ a -> 5 }}; u {{ a -> 1 }} ]"
        );
        let bounds = open(&text).game().arena().payoff_bounds();
        (*bounds.start(), *bounds.end())
    };
    let mark = "[a | - | -] -> [a | P(a) | -] emb P update :u(a) = 1";
    let grow = "[a | - | -] -> [a, b | P(a) | -] with [a <- a] emb P";
    let far = 1e9;
    for (term, rule, expected) in [
        ("Max (z | P(z) : :v(z))", mark, (-0.5, 3.0)),
        ("Max (z | P(z) : :w(z))", mark, (0.0, 5.0)),
        ("Sum (z | P(z) : :v(z))", mark, (-1.5, 9.0)),
        ("Max (z | P(z) : abs(:v(z)))", mark, (0.0, 3.0)),
        ("Max (z | P(z) : 10 + :v(z))", grow, (9.5, 13.0)),
        ("Max (z | P(z) : 2 - :w(z) * 2)", grow, (-8.0, 2.0)),
        ("Sum (z | P(z) : :u(z))", mark, (-far, far)),
        ("max(0, min(100, Sum (z | P(z) : :u(z))))", mark, (0.0, 100.0)),
        ("min(100, max(0, Sum (z | P(z) : :u(z))))", mark, (0.0, 100.0)),
        ("max(0, Sum (z | P(z) : :u(z)))", mark, (0.0, far)),
        ("0 - abs(Sum (z | P(z) : :u(z)))", mark, (-far, 0.0)),
        ("let :q = max(1, min(2, Sum (z | P(z) : :u(z)))) in 3 * :q - 1", mark, (2.0, 5.0)),
        ("sqrt(max(4, min(9, Sum (z | P(z) : :u(z)))))", mark, (2.0, 3.0)),
        ("10 * sin(Sum (z | P(z) : :u(z)))", mark, (-10.0, 10.0)),
        ("(max(-3, min(2, Sum (z | P(z) : :u(z))))) ^ 2", mark, (0.0, 9.0)),
        ("(max(-3, min(2, Sum (z | P(z) : :u(z))))) ^ 3", mark, (-27.0, 8.0)),
    ] {
        assert_eq!(bounds(term, rule), expected, "{term}");
    }
}

// ---- The two engines ----

/// A discrete game plays the same if every move takes one unit of time, so that the continuous
/// engine plays it.
#[test]
fn discrete_games_play_the_same_on_the_continuous_engine() {
    use agon_game::laws::Plan;
    use agon_game::lockstep::{Draw, MoveTexts, Options as Lockstep, compare};
    for (name, max_steps) in [
        ("tic-tac-toe", 9),
        ("concurrent-tic-tac-toe", 9),
        ("entanglement", 12),
        ("rewriting", 8),
        ("stepping-stones", 12),
        ("breakthrough", 3),
    ] {
        let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        let printed = print_sheet(&read(source(&text)).0);
        let timed = with_time(&printed);
        let (discrete, continuous) = (open(&printed), open(&timed));
        assert!(!discrete.game().arena().is_continuous(), "{name}");
        assert!(continuous.game().arena().is_continuous(), "{name}\n{timed}");
        let options = Lockstep {
            plan: Plan { plays: 3, max_steps, seed: 17 },
            draw: Draw::Uniform,
            // The state of a continuous game has the time too.
            states: false,
            move_texts: MoveTexts::ByPosition,
            ..Lockstep::default()
        };
        let agreement = compare(&discrete, &continuous, &options)
            .unwrap_or_else(|difference| panic!("{name}: {difference}"));
        assert_eq!(agreement.plays, 3, "{name}");
    }
}

/// Gives every move of a printed game the duration 1: `[Rule -> 0]` becomes `[Rule, t: 1 -> 0]`.
fn with_time(printed: &str) -> String {
    let mut text = String::new();
    let mut rest = printed;
    while let Some(at) = rest.find('[') {
        let (before, after) = rest.split_at(at + 1);
        text.push_str(before);
        let name = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(0);
        rest = after;
        if name > 0 && after[name..].starts_with(" -> ") {
            text.push_str(&after[..name]);
            text.push_str(", t: 1");
            rest = &after[name..];
        }
    }
    text + rest
}
