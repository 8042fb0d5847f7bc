//! Checks the game graph: the moves of the players at each location, and the payoffs.

use std::collections::BTreeMap;

use agon_structures::formula::{Operator, Term};
use agon_structures::rational::Rational;
use agon_text::{Diagnostic, Diagnostics};

use super::formulas::Scope;
use super::moves::{Intervals, targets};
use super::rules::unknown_rule;
use super::signature::Signature;
use super::suggest::did_you_mean;
use crate::arena::{ArenaLocation, ArenaRule, Draw, Edge, LocationId, RuleId};
use crate::syntax::{self, GameSheet, Name, Payoff};

/// The name of the player that moves by chance, as in GDL-II.
pub(super) const NATURE: &str = "random";

/// Returns the players. Nature is added at the end if only probabilities require it.
pub(super) fn players(sheet: &GameSheet, findings: &mut Diagnostics) -> Vec<String> {
    let mut players: Vec<String> = Vec::new();
    for name in &sheet.players {
        if players.iter().any(|other| other.eq_ignore_ascii_case(&name.text)) {
            let what = format!("the player `{}` is listed a second time", name.text);
            findings.push(Diagnostic::error("toss-given-twice", name.span, what));
            continue;
        }
        players.push(name.text.clone());
    }
    let edges =
        sheet.locations.iter().flat_map(|location| &location.moves).flat_map(|moves| &moves.edges);
    let has_chance =
        edges.into_iter().any(|edge| edge.probability.is_some() || !edge.draws.is_empty())
            || sheet
                .locations
                .iter()
                .flat_map(|location| &location.joint)
                .any(|edge| edge.probability.is_some() || !edge.draws.is_empty());
    if has_chance && !players.iter().any(|player| player == NATURE) {
        players.push(NATURE.to_owned());
    }
    players
}

/// The parts of a game that locations refer to.
pub(super) struct Locations<'a> {
    pub(super) sheet: &'a GameSheet,
    pub(super) signature: &'a Signature,
    pub(super) players: &'a [String],
    /// The checked rules by name. A rule with errors is missing.
    pub(super) rules: &'a BTreeMap<&'a str, &'a ArenaRule>,
}

impl Locations<'_> {
    /// Checks all locations and reports errors.
    pub(super) fn lower(&self, findings: &mut Diagnostics) -> Vec<ArenaLocation> {
        for (place, location) in self.sheet.locations.iter().enumerate() {
            let earlier =
                self.sheet.locations[..place].iter().find(|l| l.name.text == location.name.text);
            if let Some(earlier) = earlier {
                let what = format!("the location `{}` is given a second time", location.name.text);
                findings.push(
                    Diagnostic::error("toss-given-twice", location.name.span, what)
                        .note(earlier.name.span, "first given here"),
                );
            }
        }
        self.sheet.locations.iter().map(|location| self.location(location, findings)).collect()
    }

    fn location(&self, location: &syntax::Location, findings: &mut Diagnostics) -> ArenaLocation {
        let payoffs = self.payoffs(location, findings);
        let draws = self.draws(location, findings);
        let has_joint = !location.joint.is_empty();
        let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); self.players.len()];
        let mut written: Vec<Vec<&syntax::Edge>> = vec![Vec::new(); self.players.len()];
        for moves in &location.moves {
            let Some(player) = self.player(&moves.player, findings) else { continue };
            if !edges[player].is_empty() {
                let what = format!("the moves of `{}` are given a second time", moves.player.text);
                findings.push(Diagnostic::error("toss-given-twice", moves.player.span, what));
                continue;
            }
            let is_nature = self.players[player] == NATURE;
            self.check_missing_targets(&moves.edges, has_joint, findings);
            edges[player] = if has_joint {
                self.tuple_moves(&moves.edges, &draws, findings)
            } else if is_nature {
                self.chances(&moves.edges, &draws, findings)
            } else {
                self.choices(&moves.edges, &draws, findings)
            };
            written[player] = moves.edges.iter().collect();
        }
        if !has_joint {
            self.check_targets(location, &edges, findings);
        }
        let joint = self.joint(location, &written, &edges, findings);
        if !findings.has_errors() {
            self.check_unused_draws(location, &edges, findings);
        }
        let (name, span) = (location.name.text.clone(), location.name.span);
        ArenaLocation { name, payoffs, edges, joint, draws, span }
    }

    /// Reports moves without a location, or with one where tuples of moves decide.
    fn check_missing_targets(
        &self,
        written: &[syntax::Edge],
        has_joint: bool,
        findings: &mut Diagnostics,
    ) {
        for edge in written {
            let finding = match (&edge.target, has_joint) {
                (None, false) => {
                    let what = "this move does not say where play continues";
                    Diagnostic::error("toss-missing-target", edge.span, what)
                        .hint(format!("write `[{} -> location]`", edge.rule.text))
                }
                (Some(target), true) => {
                    let what = "`EDGES` says where play continues, so moves do not";
                    Diagnostic::error("toss-missing-target", target.span, what)
                        .hint(format!("write `[{}]`, or remove `EDGES`", edge.rule.text))
                }
                _ => continue,
            };
            findings.push(finding);
        }
    }

    /// Builds the edges of a player at a location with edges for tuples of moves.
    fn tuple_moves(
        &self,
        written: &[syntax::Edge],
        draws: &[Draw],
        findings: &mut Diagnostics,
    ) -> Vec<Edge> {
        let mut edges = Vec::new();
        for edge in written {
            let Some(rule) = self.rule(&edge.rule, findings) else { continue };
            edges.push(self.edge(edge, rule, Vec::new(), None, draws, findings));
        }
        edges
    }

    fn edge(
        &self,
        written: &syntax::Edge,
        rule: RuleId,
        outcomes: Vec<(LocationId, Rational)>,
        weight: Option<Rational>,
        draws: &[Draw],
        findings: &mut Diagnostics,
    ) -> Edge {
        let intervals = match self.rules.get(written.rule.text.as_str()) {
            Some(rule) => self.intervals(written, rule, draws, findings),
            None => {
                let zero = Term::whole(0);
                Intervals { time: (zero.clone(), zero), parameters: Vec::new() }
            }
        };
        Edge {
            rule,
            label: written.label.as_ref().map(|label| label.text.clone()),
            multiplicity: written.multiplicity,
            time: intervals.time,
            parameters: intervals.parameters,
            outcomes,
            weight,
            span: written.span,
        }
    }

    /// Checks that all moves lead to one location where several players act at once.
    fn check_targets(
        &self,
        location: &syntax::Location,
        edges: &[Vec<Edge>],
        findings: &mut Diagnostics,
    ) {
        if edges.iter().filter(|edges| !edges.is_empty()).count() < 2 {
            return;
        }
        let mut targets: Vec<LocationId> = edges
            .iter()
            .flatten()
            .flat_map(|edge| edge.outcomes.iter().map(|outcome| outcome.0))
            .collect();
        targets.sort();
        targets.dedup();
        if targets.len() > 1 {
            let what =
                "several players act here at once, but their moves lead to different locations";
            findings.push(
                Diagnostic::error("toss-concurrent-targets", location.name.span, what)
                    .hint("let all moves of this location lead to one location"),
            );
        }
    }

    fn payoffs(&self, location: &syntax::Location, findings: &mut Diagnostics) -> Vec<Term> {
        let own = self.by_player(&location.payoffs, findings);
        let everywhere = self.by_player(&self.sheet.payoffs, &mut Diagnostics::default());
        let mut terms = Vec::new();
        let locations = &self.sheet.locations;
        let has_payoffs = !self.sheet.payoffs.is_empty()
            || locations.iter().any(|location| !location.payoffs.is_empty());
        // A game without any payoffs is one mistake, not one for each player and location.
        if !has_payoffs && locations.first().is_some_and(|first| std::ptr::eq(first, location)) {
            let players: Vec<String> = self
                .players
                .iter()
                .filter(|name| *name != NATURE)
                .map(|name| format!("{name}: …"))
                .collect();
            let what = "there are no payoffs: what do players receive at the end?";
            let hint =
                format!("write `PAYOFF {{ {} }}`, once for all locations", players.join("; "));
            findings.push(
                Diagnostic::error("toss-missing-payoff", location.name.span, what).hint(hint),
            );
        }
        for (player, name) in self.players.iter().enumerate() {
            let Some(payoff) = own[player].or(everywhere[player]) else {
                if name != NATURE && has_payoffs {
                    let what =
                        format!("`{name}` has no payoff at the location `{}`", location.name.text);
                    let hint =
                        format!("write `PAYOFF {{ {name}: … }}`, here or once for all locations");
                    findings.push(
                        Diagnostic::error("toss-missing-payoff", location.name.span, what)
                            .hint(hint),
                    );
                }
                terms.push(Term::whole(0));
                continue;
            };
            terms.push(Scope::new(self.signature, &[], "").term(&payoff.value, findings));
        }
        terms
    }

    fn by_player<'p>(
        &self,
        payoffs: &'p [Payoff],
        findings: &mut Diagnostics,
    ) -> Vec<Option<&'p Payoff>> {
        let mut found: Vec<Option<&Payoff>> = vec![None; self.players.len()];
        for payoff in payoffs {
            let Some(player) = self.player(&payoff.player, findings) else { continue };
            if found[player].is_some() {
                let what = format!("the payoff of `{}` is given a second time", payoff.player.text);
                findings.push(Diagnostic::error("toss-given-twice", payoff.player.span, what));
            }
            found[player] = Some(payoff);
        }
        found
    }

    /// Returns the index of a player. Early games number players from 1.
    pub(super) fn player(&self, name: &Name, findings: &mut Diagnostics) -> Option<usize> {
        let found = self.players.iter().position(|player| *player == name.text);
        let numbered = || {
            let number: usize = name.text.parse().ok()?;
            (1..=self.players.len()).contains(&number).then(|| number - 1)
        };
        let found = found.or_else(numbered);
        // Missing players are reported once, elsewhere.
        if found.is_none() && !self.players.is_empty() {
            let what = format!("there is no player `{}`", name.text);
            let finding = Diagnostic::error("toss-unknown-player", name.span, what);
            let known = self.players.iter().map(String::as_str);
            findings.push(match did_you_mean(&name.text, known) {
                Some(meant) => finding.did_you_mean(name.span, meant),
                None => finding.hint(format!("the players are {}", self.players.join(", "))),
            });
        }
        found
    }

    pub(super) fn target(&self, name: &Name, findings: &mut Diagnostics) -> Option<LocationId> {
        let found =
            self.sheet.locations.iter().position(|location| location.name.text == name.text);
        if found.is_none() {
            let what = format!("there is no location `{}`", name.text);
            let mut finding = Diagnostic::error("toss-unknown-location", name.span, what);
            let known = self.sheet.locations.iter().map(|location| location.name.text.as_str());
            if let Some(meant) = did_you_mean(&name.text, known) {
                finding = finding.did_you_mean(name.span, meant);
            }
            findings.push(finding);
        }
        found.map(LocationId::new)
    }

    /// Returns the location in which play starts.
    pub(super) fn start(&self, findings: &mut Diagnostics) -> LocationId {
        let named = self.sheet.start.as_ref().and_then(|name| self.target(name, findings));
        named.unwrap_or(LocationId::new(0))
    }

    fn rule(&self, name: &Name, findings: &mut Diagnostics) -> Option<RuleId> {
        let found = self.sheet.rules.iter().position(|rule| rule.name.text == name.text);
        if found.is_none() {
            unknown_rule(name, self.sheet, findings);
        }
        found.map(RuleId::new)
    }

    /// Builds the edges of a player. Several edges of one rule with probabilities become one edge
    /// with several outcomes.
    fn choices(
        &self,
        written: &[syntax::Edge],
        draws: &[Draw],
        findings: &mut Diagnostics,
    ) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::new();
        let mut done: Vec<bool> = vec![false; written.len()];
        for (place, first) in written.iter().enumerate() {
            if done[place] {
                continue;
            }
            let same: Vec<usize> = (place..written.len())
                .filter(|&other| is_same_move(&written[other], first))
                .collect();
            let has_chance = same.iter().any(|&other| written[other].probability.is_some());
            let together: Vec<usize> = if has_chance { same } else { vec![place] };
            let mut outcomes = Vec::new();
            for &other in &together {
                done[other] = true;
                let edge = &written[other];
                let Some(target) = &edge.target else { continue };
                let Some(target) = self.target(target, findings) else { continue };
                let probability = if has_chance {
                    self.probability(edge, findings)
                } else {
                    Some(Rational::whole(1))
                };
                outcomes.push((target, probability.unwrap_or(Rational::whole(1))));
            }
            let Some(rule) = self.rule(&first.rule, findings) else { continue };
            if has_chance {
                self.check_sum(&outcomes, first, findings);
            }
            let edge = self.edge(first, rule, outcomes, None, draws, findings);
            let same = edges.iter().find(|other| {
                other.rule == edge.rule
                    && other.label == edge.label
                    && targets(&other.outcomes) == targets(&edge.outcomes)
            });
            match same {
                Some(other) if has_same_intervals(other, &edge) && !has_chance => {
                    let what = format!(
                        "the move `{}` to the same location is listed twice",
                        first.rule.text
                    );
                    findings.push(Diagnostic::warning("toss-duplicate-move", first.span, what));
                    continue;
                }
                Some(other) => {
                    let what = "two moves with the same rule cannot be told apart";
                    findings.push(
                        Diagnostic::error("toss-ambiguous-move", first.span, what)
                            .note(other.span, "the other one is here")
                            .hint(format!("give them labels: `[{} as fast, …]`", first.rule.text)),
                    );
                }
                None => {}
            }
            edges.push(edge);
        }
        edges
    }

    /// Builds the edges of nature: either all have weights or none has.
    fn chances(
        &self,
        written: &[syntax::Edge],
        draws: &[Draw],
        findings: &mut Diagnostics,
    ) -> Vec<Edge> {
        let has_weights = written.iter().any(|edge| edge.probability.is_some());
        let mut edges = Vec::new();
        let mut weights = Vec::new();
        for edge in written {
            let weight = if has_weights { self.probability(edge, findings) } else { None };
            let target = edge.target.as_ref().and_then(|target| self.target(target, findings));
            let (Some(rule), Some(target)) = (self.rule(&edge.rule, findings), target) else {
                continue;
            };
            weights.push((target, weight.unwrap_or(Rational::whole(0))));
            let outcomes = vec![(target, Rational::whole(1))];
            edges.push(self.edge(edge, rule, outcomes, weight, draws, findings));
        }
        if has_weights && let Some(first) = written.first() {
            self.check_sum(&weights, first, findings);
        }
        edges
    }

    /// Returns the probability of an edge, and reports invalid ones.
    fn probability(&self, edge: &syntax::Edge, findings: &mut Diagnostics) -> Option<Rational> {
        let Some(written) = &edge.probability else {
            let what = "this edge has no probability, but another edge of the same choice has one";
            findings.push(Diagnostic::error("toss-probability", edge.span, what));
            return None;
        };
        let term = Scope::new(self.signature, &[], "").term(written, findings);
        let value = constant(&term);
        let is_fine = value.is_some_and(|value| value.signum() > 0);
        if !is_fine {
            let what = "a probability is a positive number that does not depend on the state";
            findings.push(Diagnostic::error("toss-probability", written.span, what));
        }
        value.filter(|_| is_fine)
    }

    fn check_sum(
        &self,
        outcomes: &[(LocationId, Rational)],
        first: &syntax::Edge,
        findings: &mut Diagnostics,
    ) {
        let sum = outcomes
            .iter()
            .try_fold(Rational::whole(0), |sum, (_, probability)| sum.plus(*probability).ok());
        if sum != Some(Rational::whole(1))
            && !findings.0.iter().any(|finding| finding.code == "toss-probability")
        {
            let sum = sum.map_or("a number that is too large".to_owned(), |sum| sum.to_string());
            let what = format!("the probabilities add up to {sum}, not to 1");
            findings.push(Diagnostic::error("toss-probability", first.span, what));
        }
    }
}

/// Returns whether two edges are outcomes of the same move.
fn is_same_move(left: &syntax::Edge, right: &syntax::Edge) -> bool {
    let label = |edge: &syntax::Edge| edge.label.as_ref().map(|label| label.text.clone());
    left.rule.text == right.rule.text && label(left) == label(right)
}

fn has_same_intervals(left: &Edge, right: &Edge) -> bool {
    left.multiplicity == right.multiplicity
        && left.time == right.time
        && left.parameters == right.parameters
}

/// Returns the value of a term that does not depend on a structure.
pub(super) fn constant(term: &Term) -> Option<Rational> {
    match term {
        Term::Number(number) => Some(*number),
        Term::Binary(operator, left, right) => {
            let (left, right) = (constant(left)?, constant(right)?);
            match operator {
                Operator::Plus => left.plus(right).ok(),
                Operator::Minus => left.minus(right).ok(),
                Operator::Times => left.times(right).ok(),
                Operator::Divide => left.divided_by(right).ok().flatten(),
                Operator::Power => left.power(right).ok().flatten(),
            }
        }
        Term::Variable(_)
        | Term::ElementNumber(_)
        | Term::Function(..)
        | Term::Characteristic(_)
        | Term::Aggregate(_)
        | Term::Apply(..)
        | Term::Least(..)
        | Term::Let(..) => None,
    }
}
