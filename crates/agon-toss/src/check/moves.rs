//! Checks the continuous parts of moves: intervals of durations and parameters, random interval
//! ends, and edges for tuples of moves.

use std::collections::BTreeSet;

use agon_structures::formula::{Term, Variable};
use agon_structures::rational::Rational;
use agon_text::{Diagnostic, Diagnostics};

use super::equations::TIME;
use super::formulas::Scope;
use super::locations::{Locations, constant};
use crate::arena::{ArenaRule, Distribution, Draw, Edge, JointEdge, LocationId};
use crate::syntax::{self, Interval, Name};

/// Maximum number of tuples of moves at a location with edges for tuples.
const MAX_TUPLES: usize = 4096;

/// The intervals of a move.
pub(super) struct Intervals {
    pub(super) time: (Term, Term),
    pub(super) parameters: Vec<(Term, Term)>,
}

impl Locations<'_> {
    /// Returns the random numbers of a location, and reports invalid distributions.
    pub(super) fn draws(
        &self,
        location: &syntax::Location,
        findings: &mut Diagnostics,
    ) -> Vec<Draw> {
        let mut draws: Vec<Draw> = Vec::new();
        let edges = location.moves.iter().flat_map(|moves| &moves.edges);
        let of_tuples = location.joint.iter().flat_map(|edge| &edge.draws);
        for written in edges.flat_map(|edge| &edge.draws).chain(of_tuples) {
            // After an error, any distribution keeps the name known.
            let distribution = self
                .distribution(written, findings)
                .unwrap_or(Distribution::Uniform { low: 0.0, high: 1.0 });
            let name = Variable::new(&format!(":{}", written.name.text));
            match draws.iter().find(|draw| draw.name == name) {
                Some(known) if known.distribution != distribution => {
                    let what = format!(
                        "`{}` has another distribution elsewhere at this location",
                        written.name.text
                    );
                    findings.push(
                        Diagnostic::error("toss-distribution", written.span, what)
                            .hint("a name stands for one random number of the location"),
                    );
                }
                Some(_) => {}
                None => draws.push(Draw { name, distribution }),
            }
        }
        draws
    }

    /// Reports random numbers that no interval of the location uses.
    pub(super) fn check_unused_draws(
        &self,
        location: &syntax::Location,
        edges: &[Vec<Edge>],
        findings: &mut Diagnostics,
    ) {
        let ends = |edge: &Edge| -> Vec<Term> {
            let intervals = std::iter::once(&edge.time).chain(&edge.parameters);
            intervals.flat_map(|(low, high)| [low.clone(), high.clone()]).collect()
        };
        let used: BTreeSet<Variable> =
            edges.iter().flatten().flat_map(ends).flat_map(|term| term.free_variables()).collect();
        let of_moves = location.moves.iter().flat_map(|moves| &moves.edges).flat_map(|e| &e.draws);
        let of_tuples = location.joint.iter().flat_map(|edge| &edge.draws);
        let mut seen = BTreeSet::new();
        for written in of_moves.chain(of_tuples) {
            let name = &written.name.text;
            if seen.insert(name) && !used.contains(&Variable::new(&format!(":{name}"))) {
                let what = format!("no interval at this location uses the random number `{name}`");
                findings.push(
                    Diagnostic::warning("toss-unused-parameter", written.span, what)
                        .hint(format!("use it as an end: `[Rule, p: 0 -- {name}, …]`")),
                );
            }
        }
    }

    fn distribution(
        &self,
        written: &syntax::Draw,
        findings: &mut Diagnostics,
    ) -> Option<Distribution> {
        let mut numbers = Vec::new();
        for argument in &written.arguments {
            let term = Scope::new(self.signature, &[], "").term(argument, findings);
            let Some(number) = constant(&term) else {
                let what = "an argument of a distribution is a number that is always the same";
                findings.push(Diagnostic::error("toss-distribution", argument.span, what));
                return None;
            };
            numbers.push(number.to_f64());
        }
        let made = match (written.distribution.text.as_str(), numbers.as_slice()) {
            ("N", &[mean, deviation]) if deviation >= 0.0 => {
                Some(Distribution::Normal { mean, deviation })
            }
            ("U", &[low, high]) if low <= high => Some(Distribution::Uniform { low, high }),
            ("E", &[rate]) if rate > 0.0 => Some(Distribution::Exponential { rate }),
            _ => None,
        };
        if made.is_none() {
            let what = "this is not a distribution";
            findings.push(Diagnostic::error("toss-distribution", written.span, what).hint(
                "write `N(mean, deviation)`, `U(low, high)` with low <= high, or `E(rate)` with a \
                 positive rate",
            ));
        }
        made
    }

    /// Returns the intervals of a move, in the order of the rule's parameters.
    pub(super) fn intervals(
        &self,
        edge: &syntax::Edge,
        rule: &ArenaRule,
        draws: &[Draw],
        findings: &mut Diagnostics,
    ) -> Intervals {
        let mut time = (Term::whole(0), Term::whole(0));
        let mut parameters: Vec<Option<(Term, Term)>> = vec![None; rule.parameters.len()];
        let mut seen = BTreeSet::new();
        for interval in &edge.intervals {
            let name = &interval.parameter.text;
            if !seen.insert(name.clone()) {
                let what = format!("the interval of `{name}` is given a second time");
                findings.push(Diagnostic::error("toss-given-twice", interval.parameter.span, what));
                continue;
            }
            let ends = self.ends(interval, draws, findings);
            if name == TIME {
                time = ends;
                continue;
            }
            let variable = Variable::new(&format!(":{name}"));
            match rule.parameters.iter().position(|parameter| *parameter == variable) {
                Some(place) => parameters[place] = Some(ends),
                None => {
                    let what = format!("the rule `{}` does not use `:{name}`", rule.name);
                    findings.push(
                        Diagnostic::warning("toss-unused-parameter", interval.parameter.span, what)
                            .hint("remove the interval, or use the parameter in the rule"),
                    );
                }
            }
        }
        for (parameter, given) in rule.parameters.iter().zip(&parameters) {
            if given.is_none() {
                let what = format!("this move does not give an interval for `{parameter}`");
                let name = parameter.name().trim_start_matches(':');
                findings.push(
                    Diagnostic::error("toss-missing-parameter", edge.span, what)
                        .note(rule.span, format!("`{}` uses `{parameter}`", rule.name))
                        .hint(format!("write `[{}, {name}: 0 -- 1 -> …]`", rule.name)),
                );
            }
        }
        let zero = || (Term::whole(0), Term::whole(0));
        let parameters = parameters.into_iter().map(|given| given.unwrap_or_else(zero)).collect();
        Intervals { time, parameters }
    }

    /// Returns the ends of an interval, and reports an empty one.
    fn ends(
        &self,
        interval: &Interval,
        draws: &[Draw],
        findings: &mut Diagnostics,
    ) -> (Term, Term) {
        let reals: Vec<String> = draws.iter().map(|draw| draw.name.name().to_owned()).collect();
        let mut end = |term: &syntax::Term| {
            // A random end is written without its colon, as in `t: 0 -- x ~ E(1)`.
            let scope = Scope::new(self.signature, &[], "").with_reals(reals.clone());
            scope.at_interval().term(term, findings)
        };
        let (low, high) = (end(&interval.low), end(&interval.high));
        let span = interval.low.span.to(interval.high.span);
        if let (Some(least), Some(greatest)) = (constant(&low), constant(&high))
            && least > greatest
        {
            let what = format!("the interval from {least} to {greatest} is empty");
            findings.push(
                Diagnostic::error("toss-bad-interval", span, what)
                    .hint("write the smaller number first"),
            );
        }
        if interval.parameter.text == TIME && constant(&low).is_some_and(|least| least.signum() < 0)
        {
            let what = "a duration cannot be negative";
            findings.push(
                Diagnostic::error("toss-bad-interval", span, what)
                    .hint("an interval from 0 to 1 is written `t: 0 -- 1`"),
            );
        }
        (low, high)
    }

    /// Returns the edges for tuples of moves. Reports unknown labels, wrong probabilities, and
    /// tuples without an edge.
    pub(super) fn joint(
        &self,
        location: &syntax::Location,
        written: &[Vec<&syntax::Edge>],
        edges: &[Vec<Edge>],
        findings: &mut Diagnostics,
    ) -> Vec<JointEdge> {
        if location.joint.is_empty() {
            return Vec::new();
        }
        let acting: Vec<usize> = (0..edges.len()).filter(|&p| !edges[p].is_empty()).collect();
        let mut joint: Vec<JointEdge> = Vec::new();
        let mut chance: Vec<bool> = Vec::new();
        // Whether all edges are known. A missing one says nothing otherwise.
        let mut is_complete = true;
        for edge in &location.joint {
            if edge.labels.len() != acting.len() {
                is_complete = false;
                let n = edge.labels.len();
                let what = format!(
                    "{} players act here, but the edge names {n} move{}",
                    acting.len(),
                    if n == 1 { "" } else { "s" }
                );
                findings.push(
                    Diagnostic::error("toss-joint-edges", edge.span, what)
                        .hint("name one move of each acting player in order, or `_` for any"),
                );
                continue;
            }
            let mut choices = vec![None; edges.len()];
            for (&player, label) in acting.iter().zip(&edge.labels) {
                if label.text != "_" {
                    choices[player] = Some(self.labelled(label, &written[player], findings));
                }
            }
            let Some(target) = self.target(&edge.target, findings) else {
                is_complete = false;
                continue;
            };
            let probability = edge.probability.as_ref().and_then(|term| {
                let term = Scope::new(self.signature, &[], "").term(term, findings);
                constant(&term).filter(|value| value.signum() > 0)
            });
            let has_chance = edge.probability.is_some();
            if has_chance && probability.is_none() {
                let what = "a probability is a positive number that does not depend on the state";
                findings.push(Diagnostic::error("toss-probability", edge.span, what));
            }
            let outcome = (target, probability.unwrap_or(Rational::ONE));
            match joint.iter().position(|other| other.choices == choices) {
                Some(place) if has_chance && chance[place] => joint[place].outcomes.push(outcome),
                Some(_) => {
                    let what = "this tuple of moves has an edge already";
                    findings.push(
                        Diagnostic::error("toss-joint-edges", edge.span, what)
                            .hint("remove one, or give each a probability: `[A, B -> 1 : 1/2]`"),
                    );
                }
                None if joint.iter().any(|earlier| covers(&earlier.choices, &choices)) => {
                    let what = "this edge never counts, because an earlier one fits its moves";
                    findings.push(
                        Diagnostic::error("toss-joint-edges", edge.span, what)
                            .hint("write edges for particular moves before those with `_`"),
                    );
                }
                None => {
                    joint.push(JointEdge { choices, outcomes: vec![outcome] });
                    chance.push(has_chance);
                }
            }
        }
        for edge in &joint {
            self.check_joint_sum(edge, location, findings);
        }
        if is_complete {
            self.check_coverage(location, edges, &joint, findings);
        }
        joint
    }

    /// Returns the index of the edge with a label, and reports an unknown one.
    fn labelled(
        &self,
        label: &Name,
        written: &[&syntax::Edge],
        findings: &mut Diagnostics,
    ) -> usize {
        let name = |edge: &syntax::Edge| edge.label.as_ref().unwrap_or(&edge.rule).text.clone();
        let found = written.iter().position(|edge| name(edge) == label.text);
        found.unwrap_or_else(|| {
            let known: Vec<String> = written.iter().map(|edge| name(edge)).collect();
            let what = format!("`{}` is not a move of this player here", label.text);
            findings.push(
                Diagnostic::error("toss-joint-edges", label.span, what)
                    .hint(format!("the moves are {}", known.join(", "))),
            );
            0
        })
    }

    fn check_joint_sum(
        &self,
        edge: &JointEdge,
        location: &syntax::Location,
        findings: &mut Diagnostics,
    ) {
        let sum = edge
            .outcomes
            .iter()
            .try_fold(Rational::ZERO, |sum, (_, probability)| sum.plus(*probability).ok());
        if sum != Some(Rational::ONE) {
            let sum = sum.map_or("a number that is too large".to_owned(), |sum| sum.to_string());
            let what = format!("the probabilities of a tuple add up to {sum}, not to 1");
            findings.push(Diagnostic::error("toss-probability", location.name.span, what));
        }
    }

    /// Reports a tuple of moves that has no edge.
    fn check_coverage(
        &self,
        location: &syntax::Location,
        edges: &[Vec<Edge>],
        joint: &[JointEdge],
        findings: &mut Diagnostics,
    ) {
        let n_tuples = edges
            .iter()
            .try_fold(1usize, |n, edges| n.checked_mul(edges.len().max(1)))
            .filter(|&n| n <= MAX_TUPLES);
        if n_tuples.is_none() {
            let what = format!("there are more than {MAX_TUPLES} tuples of moves here");
            findings.push(Diagnostic::error("toss-too-large", location.name.span, what));
            return;
        }
        let mut chosen: Vec<Option<usize>> =
            edges.iter().map(|edges| (!edges.is_empty()).then_some(0)).collect();
        loop {
            let fits = |edge: &JointEdge| {
                edge.choices
                    .iter()
                    .zip(&chosen)
                    .all(|(wanted, chosen)| wanted.is_none_or(|wanted| Some(wanted) == *chosen))
            };
            if !joint.iter().any(fits) {
                let names: Vec<&str> = location
                    .moves
                    .iter()
                    .filter_map(|moves| {
                        let player = self.players.iter().position(|p| *p == moves.player.text)?;
                        let edge = moves.edges.get(chosen[player]?)?;
                        Some(edge.label.as_ref().unwrap_or(&edge.rule).text.as_str())
                    })
                    .collect();
                let what = format!("there is no edge for the moves {}", names.join(", "));
                findings.push(
                    Diagnostic::error("toss-joint-edges", location.name.span, what)
                        .hint("add one to `EDGES`; `_` stands for any move of a player"),
                );
                return;
            }
            // The next tuple: the last player's choice changes fastest.
            let mut at = edges.len();
            loop {
                let Some(before) = at.checked_sub(1) else { return };
                at = before;
                if let Some(choice) = &mut chosen[at] {
                    *choice += 1;
                    if *choice < edges[at].len() {
                        break;
                    }
                    *choice = 0;
                }
            }
        }
    }
}

/// Returns whether an edge for tuples of moves fits all tuples that another one fits.
fn covers(one: &[Option<usize>], other: &[Option<usize>]) -> bool {
    one.iter().zip(other).all(|(one, other)| one.is_none() || one == other)
}

/// Returns the locations that a list of outcomes leads to, sorted.
pub(super) fn targets(outcomes: &[(LocationId, Rational)]) -> Vec<LocationId> {
    let mut targets: Vec<LocationId> = outcomes.iter().map(|outcome| outcome.0).collect();
    targets.sort();
    targets
}
