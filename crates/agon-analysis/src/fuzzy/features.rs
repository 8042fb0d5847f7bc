//! Features: patterns in conditions that say more than true and false.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_datalog::TermId;
use agon_gdl::rules::{Condition, RuleTerm};

use super::conditions::{known_arguments, variables};
use super::evolution::{Domain, DomainKind};
use super::expand::Expander;
use crate::properties::{Known, Relation, RelationKind};
use crate::theory::{Bindings, Theory, fluent_of, relation_of};

/// `true(piece_count(white, W)), true(piece_count(black, B)), greater(W, B)`: which of two numbers is the larger, and
/// by how much.
#[derive(Clone, Debug)]
pub struct Order {
    /// The two sides of the comparison; the feature is high where the first is above the second.
    pub sides: [Side; 2],
    /// How many elements the order has.
    pub size: usize,
    /// The relation that is the order.
    pub relation: agon_datalog::Symbol,
    /// How it is known that each side has one value at every state.
    pub known: Known,
    /// The expression.
    pub text: String,
}

/// A side of a comparison.
#[derive(Clone, Debug)]
pub enum Side {
    /// The fluents that give its value, each with the rank of the value.
    Fluents(Vec<(usize, usize)>),
    /// A constant's rank.
    Constant(usize),
}

/// `true(location(pacman, X, Y)), true(location(inky, X, Y))`: how far two things are apart.
#[derive(Clone, Debug)]
pub struct Between {
    /// The two things.
    pub ends: [End; 2],
    /// The arguments in which they must agree.
    pub arguments: Vec<usize>,
    /// What distances are measured along: by end and argument.
    pub domains: [Vec<Arc<Domain>>; 2],
    /// The expression.
    pub text: String,
}

/// A thing in some place.
#[derive(Clone, Debug)]
pub struct End {
    /// The fluents that say where it is, each with the values of the arguments in question.
    pub fluents: Vec<(usize, Vec<TermId>)>,
}

/// A fluent to be reached: each fluent that may become it is worth the more the closer it is.
#[derive(Clone, Debug)]
pub struct Towards {
    /// The arguments that move, with the value to be reached and what the distance is measured along.
    pub arguments: Vec<(usize, TermId, Arc<Domain>)>,
    /// The fluents from which it may be reached, each with its distance from 0 to 1; `None` if there is no way.
    pub fluents: Vec<(usize, Option<f64>)>,
    /// The rules by which the fluent moves.
    pub rules: Vec<usize>,
    /// Whether such fluents come about by staying and moving alone, so that what cannot be reached never will be.
    pub is_only_moved: bool,
}

impl Towards {
    /// Whether distances are those of a line of numbers in all arguments.
    pub fn kind(&self) -> DomainKind {
        let is_line =
            self.arguments.iter().all(|(_, _, domain)| domain.kind == DomainKind::Natural);
        if is_line { DomainKind::Natural } else { DomainKind::Graph }
    }

    /// How far a fluent with these arguments is from the one to be reached: the mean over the arguments that move, each
    /// from 0 to 1. `None` if there is no way.
    pub fn distance(&self, arguments: &[TermId]) -> Option<f64> {
        let mut sum = 0.0;
        for (argument, target, domain) in &self.arguments {
            sum += f64::from(domain.steps(arguments[*argument], *target)?) / domain.norm;
        }
        Some(sum / self.arguments.len() as f64)
    }
}

impl Between {
    /// How far two fluents are apart, given the values of the arguments in question: the mean over these, each from 0 to 1,
    /// whichever of the two goes. `None` if neither can come to the other.
    pub fn distance(&self, a: &[TermId], b: &[TermId]) -> Option<f64> {
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
    /// The order feature that a conjunction is, if it is one.
    ///
    /// One condition is a static total order; each variable in it is an argument of one fluent that occurs exactly once in
    /// every state; other static conditions on those variables only repeat their domains.
    pub(super) fn order(&self, part: &[Condition]) -> Option<Order> {
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
        // `line` goes from an element that is related to all others to one that is related to none: the first is the highest.
        let rank: BTreeMap<TermId, usize> =
            line.iter().rev().enumerate().map(|(rank, &element)| (element, rank)).collect();
        let mut known = Known::Proved;
        let mut n_used = 0;
        let mut side = |term: &RuleTerm| -> Option<Side> {
            let RuleTerm::Variable(variable) = term else {
                return Some(Side::Constant(*rank.get(&self.theory.ground(term)?)?));
            };
            let own: Vec<&&Condition> = fluents
                .iter()
                .filter(|condition| variables(std::slice::from_ref(**condition)) == [*variable])
                .collect();
            let [condition] = own.as_slice() else { return None };
            n_used += 1;
            let rows = self.theory.possible(
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
                // A value outside of the order is taken for its lowest.
                members
                    .push((self.theory.fluent(fluent)?, rank.get(&row[0]).copied().unwrap_or(0)));
            }
            let places: Vec<usize> = members.iter().map(|&(fluent, _)| fluent).collect();
            known = known.and(self.properties.exactly_one(&places)?);
            Some(Side::Fluents(members))
        };
        let sides = [side(a)?, side(b)?];
        if n_used != fluents.len() || n_used == 0 {
            return None;
        }
        Some(Order {
            sides,
            size: line.len(),
            relation: atom.relation,
            known,
            text: self.text(part),
        })
    }

    fn relation(&self, name: agon_datalog::Symbol) -> Option<&Relation> {
        self.properties.relations.iter().find(|relation| relation.name == name)
    }

    /// The distance between two fluents that a conjunction is, if it is one: two fluents of one form with the same variables
    /// at the same arguments, along which both move.
    pub(super) fn between(&mut self, part: &[Condition]) -> Option<Between> {
        if !self.options.features.between {
            return None;
        }
        let mut fluents = Vec::new();
        for condition in part {
            match condition {
                Condition::Holds(atom) if fluent_of(condition).is_none() => {
                    // A domain of a coordinate says nothing new.
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
                .map(|&argument| self.evolution.domain(self.theory, form, &fixed, argument))
                .collect();
            domains.push(of_side?);
            ends.push(End { fluents: members(self.theory, form, &fixed, &arguments) });
        }
        let domains = <[Vec<Arc<Domain>>; 2]>::try_from(domains).ok()?;
        let ends = <[End; 2]>::try_from(ends).ok()?;
        Some(Between { ends, arguments, domains, text: self.text(part) })
    }
}

/// The fluents of a form whose known arguments are these, each with the values of some arguments.
fn members(
    theory: &Theory,
    form: crate::theory::RelationId,
    fixed: &[Option<TermId>],
    arguments: &[usize],
) -> Vec<(usize, Vec<TermId>)> {
    theory
        .of_form(form)
        .filter(|(_, values)| {
            fixed.iter().zip(*values).all(|(known, value)| known.is_none_or(|k| k == *value))
        })
        .map(|(place, values)| {
            (place, arguments.iter().map(|&argument| values[argument]).collect())
        })
        .collect()
}
