//! Formulas of every form, decided by visiting all reachable states.
//!
//! Each part of the formula is evaluated at all states at once, from the inside to the outside
//! (Clarke, Emerson & Sistla 1986). The play that shows the result follows the formula as far as
//! single plays can: to a state at which the inside of `always` fails, and so on.

use agon_circuit::{Circuit, Signal};

use super::formula::{Condition, Formula};
use crate::safety::{Explorer, Line, SafetyLimits, Visited, shortest_way};

/// All reachable states with the values of conditions.
struct Graph {
    successors: Vec<Vec<u32>>,
    predecessors: Vec<Vec<u32>>,
    is_terminal: Vec<bool>,
    /// By condition and state.
    labels: Vec<Vec<bool>>,
}

/// The truth of a formula, and a play that shows why.
pub(super) struct Truth {
    pub(super) holds: bool,
    pub(super) n_states: usize,
    /// The play, if it has steps or if single plays explain the truth.
    pub(super) line: Option<Line>,
    /// Number of steps to the state to which the play returns at its end.
    pub(super) loop_start: Option<usize>,
    /// What is true at the end of the play and cannot be shown by a play.
    pub(super) rest: Option<String>,
}

/// Returns the conditions of a formula, from left to right.
pub(super) fn conditions(formula: &Formula) -> Vec<&Condition> {
    match formula {
        Formula::Condition(condition) => vec![condition],
        Formula::Not(inner) | Formula::Always(inner) | Formula::Reachable(inner) => {
            conditions(inner)
        }
        Formula::And(parts) | Formula::Or(parts) => parts.iter().flat_map(conditions).collect(),
        Formula::Until(first, second) => {
            conditions(first).into_iter().chain(conditions(second)).collect()
        }
    }
}

/// Decides a formula whose conditions have these signals.
///
/// # Errors
/// If there are too many states, the number of steps of plays whose states were all visited.
pub(super) fn decide(
    circuit: &Circuit,
    formula: &Formula,
    signals: &[Signal],
    limits: &SafetyLimits,
) -> Result<Truth, usize> {
    let mut explorer = Explorer::new(circuit, limits);
    let graph = Graph::explore(&mut explorer, signals)?;
    let part = Part::new(&graph, formula, &mut (0..));
    let mut evidence = Evidence { graph: &graph, path: vec![0], loop_start: None, rest: None };
    evidence.follow(&part);
    let Evidence { path, loop_start, rest, .. } = evidence;
    let is_shown = path.len() > 1 || rest.is_none();
    Ok(Truth {
        holds: part.values[0],
        n_states: graph.successors.len(),
        line: is_shown.then(|| explorer.line_along(&path)),
        loop_start,
        rest,
    })
}

impl Graph {
    fn explore(explorer: &mut Explorer<'_>, signals: &[Signal]) -> Result<Graph, usize> {
        let mut graph = Graph {
            successors: Vec::new(),
            predecessors: Vec::new(),
            is_terminal: Vec::new(),
            labels: vec![Vec::new(); signals.len()],
        };
        loop {
            match explorer.go_on() {
                Visited::State(_) => {}
                Visited::All => break,
                Visited::GaveUp => return Err(explorer.complete_steps()),
            }
            for (label, &signal) in graph.labels.iter_mut().zip(signals) {
                label.push(explorer.holds(signal));
            }
            let is_terminal = explorer.is_terminal();
            let successors = if is_terminal { Some(Vec::new()) } else { explorer.successors() };
            graph.successors.push(successors.ok_or(explorer.complete_steps())?);
            graph.is_terminal.push(is_terminal);
        }
        graph.predecessors = vec![Vec::new(); graph.successors.len()];
        for (state, successors) in (0_u32..).zip(&graph.successors) {
            for &to in successors {
                graph.predecessors[to as usize].push(state);
            }
        }
        Ok(graph)
    }

    /// Returns the states from which one of these can be reached.
    fn leads_to(&self, mut found: Vec<bool>) -> Vec<bool> {
        let mut open: Vec<usize> = (0..found.len()).filter(|&state| found[state]).collect();
        while let Some(state) = open.pop() {
            for &before in &self.predecessors[state] {
                if !std::mem::replace(&mut found[before as usize], true) {
                    open.push(before as usize);
                }
            }
        }
        found
    }

    /// Returns the states from which every play stays in `first` until it is in `second`. A play
    /// that stops because a role has no legal move requires nothing more.
    fn until(&self, first: &[bool], second: &[bool]) -> Vec<bool> {
        let mut n_left: Vec<usize> = self.successors.iter().map(Vec::len).collect();
        let is_stuck = |state: usize| !self.is_terminal[state] && self.successors[state].is_empty();
        let starts = |&state: &usize| second[state] || (first[state] && is_stuck(state));
        let mut open: Vec<usize> = (0..second.len()).filter(starts).collect();
        let mut found = vec![false; second.len()];
        open.iter().for_each(|&state| found[state] = true);
        while let Some(state) = open.pop() {
            for before in self.predecessors[state].iter().map(|&before| before as usize) {
                n_left[before] -= 1;
                if n_left[before] == 0 && first[before] && !found[before] {
                    found[before] = true;
                    open.push(before);
                }
            }
        }
        found
    }
}

/// A part of a formula with its values at all states.
struct Part<'a> {
    formula: &'a Formula,
    inner: Vec<Part<'a>>,
    values: Vec<bool>,
}

impl<'a> Part<'a> {
    /// Evaluates a formula. `numbers` counts the conditions from left to right.
    fn new(
        graph: &Graph,
        formula: &'a Formula,
        numbers: &mut dyn Iterator<Item = usize>,
    ) -> Part<'a> {
        let inner: Vec<&Formula> = match formula {
            Formula::Condition(_) => Vec::new(),
            Formula::Not(inner) | Formula::Always(inner) | Formula::Reachable(inner) => vec![inner],
            Formula::And(parts) | Formula::Or(parts) => parts.iter().collect(),
            Formula::Until(first, second) => vec![first, second],
        };
        let inner: Vec<Part<'a>> =
            inner.into_iter().map(|part| Part::new(graph, part, numbers)).collect();
        let n_states = graph.successors.len();
        let not = |values: &[bool]| values.iter().map(|value| !value).collect::<Vec<bool>>();
        let values = match formula {
            Formula::Condition(_) => {
                let number = numbers.next().expect("numbers do not end");
                graph.labels[number].clone()
            }
            Formula::Not(_) => not(&inner[0].values),
            Formula::And(_) => {
                (0..n_states).map(|state| inner.iter().all(|part| part.values[state])).collect()
            }
            Formula::Or(_) => {
                (0..n_states).map(|state| inner.iter().any(|part| part.values[state])).collect()
            }
            Formula::Always(_) => not(&graph.leads_to(not(&inner[0].values))),
            Formula::Reachable(_) => graph.leads_to(inner[0].values.clone()),
            Formula::Until(..) => graph.until(&inner[0].values, &inner[1].values),
        };
        Part { formula, inner, values }
    }
}

/// A play that shows why a formula holds or does not.
struct Evidence<'a> {
    graph: &'a Graph,
    path: Vec<usize>,
    loop_start: Option<usize>,
    rest: Option<String>,
}

impl Evidence<'_> {
    /// Goes on with the play, to show the value of a formula at its last state.
    fn follow(&mut self, part: &Part<'_>) {
        let state = *self.path.last().expect("a play has a state");
        let holds = part.values[state];
        match (part.formula, holds) {
            (Formula::Condition(_), _) => {}
            (Formula::Not(_), _) => self.follow(&part.inner[0]),
            (Formula::And(_), false) | (Formula::Or(_), true) => {
                let mut deciding = part.inner.iter().filter(|inner| inner.values[state] == holds);
                let first = deciding.next().expect("one part decides the value");
                let simple = deciding.find(|inner| !inner.formula.is_temporal());
                self.follow(match first.formula.is_temporal() {
                    true => simple.unwrap_or(first),
                    false => first,
                });
            }
            (Formula::And(_), true) | (Formula::Or(_), false) => {
                let temporal: Vec<&Part<'_>> =
                    part.inner.iter().filter(|inner| inner.formula.is_temporal()).collect();
                match temporal.as_slice() {
                    [] => {}
                    [only] => self.follow(only),
                    _ => self.stop(part, holds),
                }
            }
            (Formula::Always(_), false) | (Formula::Reachable(_), true) => {
                let inner = &part.inner[0];
                self.go_to(&|_| true, &|state| inner.values[state] == holds);
                self.follow(inner);
            }
            (Formula::Until(..), false) => self.never_reach(part),
            (Formula::Always(_) | Formula::Until(..), true) | (Formula::Reachable(_), false) => {
                self.stop(part, holds);
            }
        }
    }

    /// Ends the play: only all plays together show the value.
    fn stop(&mut self, part: &Part<'_>, holds: bool) {
        let holds = if holds { "holds" } else { "does not hold" };
        self.rest = Some(format!("{} {holds}", part.formula));
    }

    /// Goes on to the nearest goal, through allowed states. Returns whether there is one.
    fn go_to(
        &mut self,
        is_allowed: &dyn Fn(usize) -> bool,
        is_goal: &dyn Fn(usize) -> bool,
    ) -> bool {
        let state = *self.path.last().expect("a play has a state");
        if is_goal(state) {
            return true;
        }
        let way = shortest_way(&self.graph.successors, state, is_allowed, is_goal);
        way.map(|way| self.path.extend(&way[1..])).is_some()
    }

    /// Goes on with a play that violates `until`: to the end, to a state without the first formula,
    /// or for ever.
    fn never_reach(&mut self, part: &Part<'_>) {
        let (first, graph) = (&part.inner[0], self.graph);
        let fails = |state: usize| !part.values[state];
        let ends = |state: usize| !first.values[state] || graph.is_terminal[state];
        if self.go_to(&fails, &ends) {
            let state = *self.path.last().expect("a play has a state");
            if !first.values[state] {
                self.follow(first);
            }
            return;
        }
        // What came before the violation is not part of a loop.
        let first = self.path.len() - 1;
        loop {
            let state = *self.path.last().expect("a play has a state");
            let next = graph.successors[state].iter().map(|&next| next as usize);
            let next = next.into_iter().find(|&next| fails(next));
            let next = next.expect("a state that violates `until` has such a successor");
            let seen = self.path[first..].iter().position(|&before| before == next);
            self.path.push(next);
            if let Some(seen) = seen {
                self.loop_start = Some(first + seen);
                return;
            }
        }
    }
}
