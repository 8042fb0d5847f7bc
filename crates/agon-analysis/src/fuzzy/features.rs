//! Features: conjunctions that are valued by more than the truth of their conditions.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_datalog::TermId;
use agon_gdl::rules::{Condition, RuleTerm};

use super::conditions::{known_arguments, variables};
use super::evolution::{Domain, DomainKind};
use super::expand::Expander;
use crate::properties::{Relation, RelationKind};
use crate::theory::{Bindings, Theory, fluent_of, relation_of};

/// A comparison of two numbers, valued by their difference.
///
/// Example: `true(piece_count(white, W)), true(piece_count(black, B)), greater(W, B)`.
#[derive(Clone, Debug)]
pub(crate) struct OrderComparison {
    /// The two sides of the comparison. The value is high where the first is above the second.
    pub(crate) sides: [ComparisonSide; 2],
    /// The number of elements of the order.
    pub(crate) size: usize,
    /// The relation that is the order.
    pub(crate) relation: agon_datalog::Symbol,
    /// The conjunction as text.
    pub(crate) text: String,
}

/// A side of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum ComparisonSide {
    /// The fluents that hold the value, each with the rank of its value.
    Fluents(Vec<(usize, usize)>),
    /// The rank of a constant.
    Constant(usize),
}

/// The distance between two fluents that must meet.
///
/// Example: `true(location(pacman, X, Y)), true(location(inky, X, Y))`.
#[derive(Clone, Debug)]
pub(crate) struct PairDistance {
    /// The two sides.
    pub(crate) ends: [PairEnd; 2],
    /// The arguments in which the two fluents must agree.
    pub(crate) arguments: Vec<usize>,
    /// By side and argument: the graph along which the distance is measured.
    pub(crate) domains: [Vec<Arc<Domain>>; 2],
    /// Whether such fluents come about only by staying and moving. Then two that cannot reach each
    /// other never meet.
    pub(crate) is_only_moved: bool,
    /// The conjunction as text.
    pub(crate) text: String,
}

/// One side of a [`PairDistance`].
#[derive(Clone, Debug)]
pub(crate) struct PairEnd {
    /// The fluents of this side, each with the values of the arguments that must agree.
    pub(crate) fluents: Vec<(usize, Vec<TermId>)>,
}

/// The distance to a fluent that is to be reached. A fluent that may become it is worth the more,
/// the closer it is.
#[derive(Clone, Debug)]
pub(crate) struct TargetDistance {
    /// The arguments that move, each with the value to be reached and the graph along which the
    /// distance is measured.
    pub(crate) arguments: Vec<(usize, TermId, Arc<Domain>)>,
    /// The fluents from which it may be reached, each with its distance from 0 to 1. `None` if
    /// there is no path.
    pub(crate) fluents: Vec<(usize, Option<f64>)>,
    /// The rules by which the fluent moves.
    pub(crate) rules: Vec<usize>,
    /// Whether such fluents come about only by staying and moving. Then a fluent that cannot be
    /// reached never holds.
    pub(crate) is_only_moved: bool,
}

impl TargetDistance {
    /// Returns `Natural` if all arguments move along lines of numbers.
    pub(crate) fn kind(&self) -> DomainKind {
        let is_line =
            self.arguments.iter().all(|(_, _, domain)| domain.kind == DomainKind::Natural);
        if is_line { DomainKind::Natural } else { DomainKind::Graph }
    }

    /// Returns the smallest distance above zero.
    pub(crate) fn smallest_step(&self) -> f64 {
        smallest_step(self.arguments.iter().map(|(_, _, domain)| domain))
    }

    /// Returns the distance from a fluent with these arguments to the target: the mean over the
    /// arguments that move, each from 0 to 1. `None` if there is no path.
    pub(crate) fn distance(&self, arguments: &[TermId]) -> Option<f64> {
        let mut sum = 0.0;
        for (argument, target, domain) in &self.arguments {
            sum += f64::from(domain.steps(arguments[*argument], *target)?) / domain.norm;
        }
        Some(sum / self.arguments.len() as f64)
    }
}

/// Returns the smallest distance above zero, if the mean over arguments with these graphs counts.
fn smallest_step<'d>(domains: impl ExactSizeIterator<Item = &'d Arc<Domain>>) -> f64 {
    let n = domains.len().max(1) as f64;
    domains.map(|domain| 1.0 / domain.norm).fold(1.0, f64::min) / n
}

impl PairDistance {
    /// Returns the smallest distance above zero.
    pub(crate) fn smallest_step(&self) -> f64 {
        let of_side = |side: &Vec<Arc<Domain>>| smallest_step(side.iter());
        self.domains.iter().map(of_side).fold(1.0, f64::min)
    }

    /// Returns the distance between two fluents, given the values of the arguments that must agree:
    /// the mean over these arguments, each from 0 to 1. Either fluent may move to the other. `None`
    /// if neither can.
    pub(crate) fn distance(&self, a: &[TermId], b: &[TermId]) -> Option<f64> {
        let mut sum = 0.0;
        for place in 0..self.arguments.len() {
            let [of_a, of_b] = [&self.domains[0][place], &self.domains[1][place]];
            let there = of_a.steps(a[place], b[place]).map(|steps| f64::from(steps) / of_a.norm);
            let back = of_b.steps(b[place], a[place]).map(|steps| f64::from(steps) / of_b.norm);
            sum += match (there, back) {
                (Some(x), Some(y)) => x.min(y),
                (Some(x), None) | (None, Some(x)) => x,
                (None, None) => return None,
            };
        }
        Some(sum / self.arguments.len() as f64)
    }
}

impl Expander<'_> {
    /// Recognises a conjunction as a comparison along an order.
    ///
    /// One condition must be a static total order. Each variable of it must be an argument of one
    /// fluent that holds for exactly one value in every state. Unary static conditions are ignored,
    /// because they only repeat the domains of the variables.
    pub(super) fn order(&self, part: &[Condition]) -> Option<OrderComparison> {
        if !self.options.features.order {
            return None;
        }
        let (mut order, mut fluents) = (None, Vec::new());
        for condition in part {
            match condition {
                Condition::Holds(_) if fluent_of(condition).is_some() => fluents.push(condition),
                Condition::Holds(atom) => match atom.arguments.as_slice() {
                    [a, b] if order.is_none() && a != b => order = Some((atom, a, b)),
                    [RuleTerm::Variable(_)] if self.theory.is_static(relation_of(atom)) => {}
                    _ => return None,
                },
                Condition::Fails(_) | Condition::Differ(..) => return None,
            }
        }
        let (atom, a, b) = order?;
        let relation = self.relation(atom.relation)?;
        if relation.kind() != RelationKind::Order {
            return None;
        }
        let line = relation.line.as_ref()?;
        // `line` starts with the element that is related to all others: the first is the highest.
        let rank: BTreeMap<TermId, usize> =
            line.iter().rev().enumerate().map(|(rank, &element)| (element, rank)).collect();
        let mut n_used = 0;
        let mut side = |term: &RuleTerm| -> Option<ComparisonSide> {
            let RuleTerm::Variable(variable) = term else {
                return Some(ComparisonSide::Constant(*rank.get(&self.theory.ground(term)?)?));
            };
            let own: Vec<&&Condition> = fluents
                .iter()
                .filter(|condition| variables(std::slice::from_ref(**condition)) == [*variable])
                .collect();
            let [condition] = own.as_slice() else { return None };
            n_used += 1;
            let rows = self.theory.possible_values(
                std::slice::from_ref(**condition),
                &[*variable],
                self.theory.fluents().len(),
                usize::MAX,
            );
            let mut members = Vec::new();
            for row in rows.ok()? {
                let mut bindings = Bindings::default();
                bindings.bind(*variable, self.theory.term(row[0]));
                let fluent = self.theory.ground(&bindings.fill(fluent_of(condition)?))?;
                // A value outside of the order counts as the lowest.
                members
                    .push((self.theory.fluent(fluent)?, rank.get(&row[0]).copied().unwrap_or(0)));
            }
            let places: Vec<usize> = members.iter().map(|&(fluent, _)| fluent).collect();
            self.properties.exactly_one(&places)?;
            Some(ComparisonSide::Fluents(members))
        };
        let sides = [side(a)?, side(b)?];
        if n_used != fluents.len() || n_used == 0 {
            return None;
        }
        Some(OrderComparison {
            sides,
            size: line.len(),
            relation: atom.relation,
            text: self.text(part),
        })
    }

    fn relation(&self, name: agon_datalog::Symbol) -> Option<&Relation> {
        self.properties.relations.iter().find(|relation| relation.name == name)
    }

    /// Recognises a conjunction as the distance between two fluents: two fluents of one form that
    /// have the same variables in the same arguments, and move in these arguments.
    pub(super) fn pair_distance(&mut self, part: &[Condition]) -> Option<PairDistance> {
        if !self.options.features.between {
            return None;
        }
        let mut fluents = Vec::new();
        for condition in part {
            match condition {
                Condition::Holds(atom) if fluent_of(condition).is_none() => {
                    // The domain of a coordinate adds nothing to the distance.
                    let is_domain =
                        self.theory.is_static(relation_of(atom)) && atom.arguments.len() == 1;
                    if !is_domain {
                        return None;
                    }
                }
                Condition::Holds(_) => fluents.push(fluent_of(condition)?.clone()),
                Condition::Fails(_) | Condition::Differ(..) => return None,
            }
        }
        let [RuleTerm::Function(f, xs), RuleTerm::Function(g, ys)] = fluents.as_slice() else {
            return None;
        };
        if f != g || xs.len() != ys.len() {
            return None;
        }
        let is_variable = |term: &RuleTerm| matches!(term, RuleTerm::Variable(_));
        let arguments: Vec<usize> =
            (0..xs.len()).filter(|&i| is_variable(&xs[i]) && xs[i] == ys[i]).collect();
        let form = (*f, xs.len());
        let moving = self.evolution.moving(form);
        let is_rest_known = (0..xs.len()).all(|i| {
            arguments.contains(&i)
                || (self.theory.ground(&xs[i]).is_some() && self.theory.ground(&ys[i]).is_some())
        });
        if arguments.is_empty() || !is_rest_known || !arguments.iter().all(|i| moving.contains(i)) {
            return None;
        }
        let mut domains = Vec::new();
        let mut ends = Vec::new();
        for side in [xs, ys] {
            let fixed = known_arguments(self.theory, side);
            let of_side: Option<Vec<Arc<Domain>>> = arguments
                .iter()
                .map(|&argument| self.evolution.domain(self.theory, form, &fixed, argument, None))
                .collect();
            domains.push(of_side?);
            ends.push(PairEnd { fluents: members(self.theory, form, &fixed, &arguments) });
        }
        let domains = <[Vec<Arc<Domain>>; 2]>::try_from(domains).ok()?;
        let ends = <[PairEnd; 2]>::try_from(ends).ok()?;
        let is_only_moved = self.evolution.is_only_moved(form);
        Some(PairDistance { ends, arguments, domains, is_only_moved, text: self.text(part) })
    }
}

/// Returns the fluents of a form with these known arguments, each with the values of `arguments`.
fn members(
    theory: &Theory,
    form: crate::theory::RelationId,
    fixed: &[Option<TermId>],
    arguments: &[usize],
) -> Vec<(usize, Vec<TermId>)> {
    theory
        .fluents_of_form(form)
        .filter(|(_, values)| {
            fixed.iter().zip(*values).all(|(known, value)| known.is_none_or(|k| k == *value))
        })
        .map(|(place, values)| {
            (place, arguments.iter().map(|&argument| values[argument]).collect())
        })
        .collect()
}
