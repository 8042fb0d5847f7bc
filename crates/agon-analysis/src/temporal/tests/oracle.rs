//! Random formulas about random games, compared with a naive evaluation.
//!
//! A game is a walk on a random graph. The oracle knows the graph, not the rules: it evaluates a
//! formula by repeating the definition of each word until nothing changes.

use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::super::formula::{Condition, Formula, Tree};
use super::*;

/// A graph whose states are numbered from 0, where play starts.
struct Walk {
    steps: Vec<Vec<usize>>,
    is_terminal: Vec<bool>,
    /// Two random sets of states.
    marks: Vec<[bool; 2]>,
}

impl Walk {
    fn random(rng: &mut Rng) -> Walk {
        let n = rng.random_range(2..7);
        let mut walk = Walk { steps: Vec::new(), is_terminal: Vec::new(), marks: Vec::new() };
        for _ in 0..n {
            let n_steps = rng.random_range(1..4);
            let mut steps: Vec<usize> = (0..n_steps).map(|_| rng.random_range(0..n)).collect();
            steps.sort_unstable();
            steps.dedup();
            walk.steps.push(steps);
            walk.is_terminal.push(rng.random_bool(0.25));
            walk.marks.push([rng.random_bool(0.6), rng.random_bool(0.3)]);
        }
        walk
    }

    fn rules(&self) -> String {
        let mut rules = String::from(
            "(role robot) (init (at 0)) (goal robot 0)
             (<= (legal robot (go ?m)) (true (at ?n)) (step ?n ?m))
             (<= (next (at ?m)) (does robot (go ?m)))
             (<= terminal (true (at ?n)) (end ?n)) (end none)\n",
        );
        for state in 0..self.steps.len() {
            self.steps[state].iter().for_each(|to| rules.push_str(&format!("(step {state} {to})")));
            if self.is_terminal[state] {
                rules.push_str(&format!("(end {state})"));
            }
        }
        rules
    }

    fn next(&self, state: usize) -> &[usize] {
        if self.is_terminal[state] { &[] } else { &self.steps[state] }
    }

    /// Returns the states at which a formula holds.
    fn values(&self, formula: &Formula) -> Vec<bool> {
        let n = self.steps.len();
        let map = |of: &dyn Fn(usize) -> bool| (0..n).map(of).collect::<Vec<bool>>();
        match formula {
            Formula::Condition(condition) => map(&|state| self.holds(condition, state)),
            Formula::Not(inner) => self.values(inner).into_iter().map(|value| !value).collect(),
            Formula::And(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.values(part)).collect();
                map(&|state| parts.iter().all(|part| part[state]))
            }
            Formula::Or(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.values(part)).collect();
                map(&|state| parts.iter().any(|part| part[state]))
            }
            Formula::Always(inner) => {
                let inner = self.values(inner);
                self.fixed_point(true, &|now, state| {
                    inner[state] && self.next(state).iter().all(|&next| now[next])
                })
            }
            Formula::Reachable(inner) => {
                let inner = self.values(inner);
                self.fixed_point(false, &|now, state| {
                    inner[state] || self.next(state).iter().any(|&next| now[next])
                })
            }
            Formula::Until(first, second) => {
                let (first, second) = (self.values(first), self.values(second));
                self.fixed_point(false, &|now, state| {
                    let goes_on =
                        !self.is_terminal[state] && self.next(state).iter().all(|&next| now[next]);
                    second[state] || (first[state] && goes_on)
                })
            }
        }
    }

    fn fixed_point(&self, start: bool, step: &dyn Fn(&[bool], usize) -> bool) -> Vec<bool> {
        let mut now = vec![start; self.steps.len()];
        loop {
            let next: Vec<bool> = (0..now.len()).map(|state| step(&now, state)).collect();
            if next == now {
                return now;
            }
            now = next;
        }
    }

    fn holds(&self, condition: &Condition, state: usize) -> bool {
        match condition {
            Condition::True => true,
            Condition::Not(inner) => !self.holds(inner, state),
            Condition::And(parts) => parts.iter().all(|part| self.holds(part, state)),
            Condition::Or(parts) => parts.iter().any(|part| self.holds(part, state)),
            Condition::Atom(Tree::Word(word)) if word == "terminal" => self.is_terminal[state],
            Condition::Atom(atom) => atom.to_string() == format!("(at {state})"),
        }
    }

    /// Checks that the play of a decision follows the graph. Returns its states.
    fn follow(&self, decision: &Decision) -> Option<Vec<usize>> {
        let mut states = vec![0];
        for joint in decision.line.as_ref()? {
            let state = states[states.len() - 1];
            let number = joint[0].trim_start_matches("(go ").trim_end_matches(')');
            let to: usize = number.parse().expect("the move has a number");
            assert!(self.next(state).contains(&to), "{state} to {to} is not a step");
            states.push(to);
        }
        if let Some(start) = decision.loop_start {
            assert_eq!(states.last(), Some(&states[start]), "the play returns to {start}");
        }
        Some(states)
    }
}

/// Returns a random condition: the place, a mark or the end.
fn condition(rng: &mut Rng, walk: &Walk) -> String {
    let marked = |mark: usize| {
        let places = (0..walk.marks.len()).filter(|&state| walk.marks[state][mark]);
        let places: Vec<String> = places.map(|state| format!("(at {state})")).collect();
        format!("(or terminal {})", places.join(" "))
    };
    match rng.random_range(0..6) {
        0 => "terminal".to_owned(),
        1 => format!("(at {})", rng.random_range(0..walk.steps.len())),
        2 => format!("(not (at {}))", rng.random_range(0..walk.steps.len())),
        3 => format!("(not {})", marked(0)),
        4 => marked(0),
        _ => marked(1),
    }
}

fn random_formula(rng: &mut Rng, walk: &Walk, depth: usize) -> String {
    if depth == 0 {
        return condition(rng, walk);
    }
    let mut part = || random_formula(rng, walk, depth - 1);
    let (first, second) = (part(), part());
    match rng.random_range(0..9) {
        0 => format!("(always {first})"),
        1 => format!("(never {first})"),
        2 => format!("(reachable {first})"),
        3 => format!("(eventually {first})"),
        4 => format!("(until {first} {second})"),
        5 => format!("(and {first} {second})"),
        6 => format!("(or {first} {second})"),
        7 => format!("(implies {first} {second})"),
        _ => format!("(not {first})"),
    }
}

#[test]
fn random_formulas_have_the_value_of_the_definition() {
    let mut rng = Rng::seed_from_u64(28);
    let (mut n_formulas, mut n_solved, mut n_loops, mut n_rests) = (0, 0, 0, 0);
    for _ in 0..60 {
        let walk = Walk::random(&mut rng);
        let game = game(&walk.rules());
        for _ in 0..4 {
            let depth = rng.random_range(1..4);
            let text = random_formula(&mut rng, &walk, depth);
            let Ok(formula) = Formula::parse(&text) else { continue };
            n_formulas += 1;
            let wanted = match walk.values(&formula)[0] {
                true => Verdict::Proved,
                false => Verdict::Refuted,
            };
            let context = || format!("{text}\n{}", walk.rules());
            let decision = decided(&game, &text);
            assert_eq!(decision.verdict, wanted, "{decision:?} {}", context());
            walk.follow(&decision);
            n_loops += usize::from(decision.loop_start.is_some());
            n_rests += usize::from(decision.rest.is_some());
            // The solver alone may give up, but it is never wrong.
            let limits = SafetyLimits { states: 0, plays: 0, steps: 12, ..SafetyLimits::default() };
            let decision = decide(&game, &formula, &limits).expect("the game has a circuit");
            walk.follow(&decision);
            if decision.verdict != Verdict::Unknown {
                n_solved += 1;
                assert_eq!(decision.verdict, wanted, "{decision:?} {}", context());
            }
        }
    }
    assert!(n_formulas > 150, "{n_formulas} formulas were tried");
    assert!(2 * n_solved > n_formulas, "the solver decided {n_solved} of {n_formulas}");
    assert!(n_loops > 5 && n_rests > 5, "{n_loops} plays return, {n_rests} have a rest");
}

/// The play that refutes `always` inside of which `until` stands is a violation of `until`.
#[test]
fn plays_violate_what_they_refute() {
    let mut rng = Rng::seed_from_u64(7);
    let (mut n_plays, mut n_loops) = (0, 0);
    for _ in 0..60 {
        let walk = Walk::random(&mut rng);
        let game = game(&walk.rules());
        let (a, b) = (condition(&mut rng, &walk), condition(&mut rng, &walk));
        let text = format!("(always (implies {a} (eventually {b})))");
        for states in [300_000, 0] {
            let limits = SafetyLimits { states, plays: 0, steps: 12, ..SafetyLimits::default() };
            let formula = Formula::parse(&text).expect("it is right");
            let decision = decide(&game, &formula, &limits).expect("the game has a circuit");
            let Some(play) = walk.follow(&decision) else { continue };
            assert_eq!(decision.verdict, Verdict::Refuted);
            let [a, b] = [&a, &b].map(|text| match Formula::parse(&format!("(always {text})")) {
                Ok(Formula::Always(inner)) => walk.values(&inner),
                other => panic!("{other:?}"),
            });
            // The goal is missing from some state with the condition to the end of the play.
            let from = (0..play.len()).rfind(|&step| b[play[step]]).map_or(0, |step| step + 1);
            let last = play[play.len() - 1];
            assert!((from..play.len()).any(|step| a[play[step]]), "{text} {play:?}");
            match decision.loop_start {
                // Around the loop, the goal is missing, too.
                Some(start) => assert!(start >= from && start + 1 < play.len()),
                None => assert!(walk.is_terminal[last]),
            }
            n_plays += 1;
            n_loops += usize::from(decision.loop_start.is_some());
        }
    }
    assert!(n_plays > 20 && n_loops > 10, "{n_plays} plays, {n_loops} return");
}
