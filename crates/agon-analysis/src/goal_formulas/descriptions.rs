//! Existential descriptions of stable relations: "the last row" is the set of cells that two steps
//! upwards lead to.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_structures::evaluate::{Assignment, EvaluationError, Evaluator, Limits};
use agon_structures::formula::{Argument, Formula, Fresh, Name, Variable};
use agon_structures::structure::Element;
use agon_toss::arena::CheckedArena;

use super::{all_of, one_of};

/// Maximum number of splits of conjunctions.
const MAX_SPLITS: usize = 64;
/// Maximum arity of a relation that is used in a description. Larger ones allow too many
/// combinations of variables.
const MAX_ARITY: usize = 3;

type Solutions = BTreeSet<Vec<Element>>;

/// A search for descriptions that are correct in the start structure of a game.
pub(super) struct Describer<'a> {
    arena: &'a CheckedArena,
    stable: Vec<(Name, usize)>,
    max_literals: usize,
    known: Vec<(Formula, Vec<Variable>, Option<Formula>)>,
}

/// A conjunction of stable literals.
#[derive(Clone)]
struct Conjunction {
    literals: Vec<Formula>,
    /// The variables of the relation first, then those of the conjunction itself.
    variables: Vec<Variable>,
    /// The values of the relation's variables for which the conjunction holds.
    solutions: Solutions,
    /// The best split, once it is computed.
    best: Option<Option<Split>>,
}

#[derive(Clone)]
struct Split {
    rank: Rank,
    with: Vec<Conjunction>,
}

/// A hit rank: the fraction of solutions that are wanted. Compared without rounding; 0 out of 0 is
/// 0.
#[derive(Copy, Clone, Debug)]
struct Rank {
    hits: usize,
    of: usize,
}

impl Rank {
    fn exceeds(self, other: Rank) -> bool {
        self.hits * other.of.max(1) > other.hits * self.of.max(1)
    }

    fn max(self, other: Rank) -> Rank {
        if other.exceeds(self) { other } else { self }
    }
}

impl<'a> Describer<'a> {
    /// Creates a search over the stable relations of a game.
    pub(super) fn new(arena: &'a CheckedArena, max_literals: usize) -> Describer<'a> {
        let vocabulary = arena.vocabulary();
        let stable = vocabulary
            .relations()
            .filter(|&relation| !arena.is_fluent(relation))
            .map(|relation| {
                (vocabulary.relation_name(relation).clone(), vocabulary.arity(relation))
            })
            .filter(|(_, arity)| (1..=MAX_ARITY).contains(arity))
            .collect();
        Describer { arena, stable, max_literals, known: Vec::new() }
    }

    /// Returns the formula with each maximal universal part without fluents replaced by its
    /// description, if one is found. The formula must be in negation normal form.
    pub(super) fn described(
        &mut self,
        formula: &Formula,
        fluents: &BTreeSet<Name>,
    ) -> Result<Formula, EvaluationError> {
        Ok(match formula {
            Formula::And(parts) => Formula::And(self.each(parts, fluents)?),
            Formula::Or(parts) => Formula::Or(self.each(parts, fluents)?),
            Formula::Exists(variables, inner) => {
                Formula::exists(variables, self.described(inner, fluents)?)
            }
            Formula::All(..) if !mentions(formula, fluents) => {
                let variables: Vec<Variable> = formula.free_variables().into_iter().collect();
                match self.describe(formula, &variables)? {
                    Some(description) => description,
                    None => formula.clone(),
                }
            }
            other => other.clone(),
        })
    }

    fn each(
        &mut self,
        parts: &[Formula],
        fluents: &BTreeSet<Name>,
    ) -> Result<Vec<Formula>, EvaluationError> {
        parts.iter().map(|part| self.described(part, fluents)).collect()
    }

    /// Returns an existential formula over stable relations that holds in the start structure for
    /// the same values of the variables. `None` if none is found within the limit on literals.
    ///
    /// The procedure is that of Kaiser & Stafiniak 2011: conjunctions are split by the literal with
    /// the best hit rank, until those that hold only where the relation holds cover it.
    pub(super) fn describe(
        &mut self,
        relation: &Formula,
        variables: &[Variable],
    ) -> Result<Option<Formula>, EvaluationError> {
        if variables.is_empty() {
            return Ok(None);
        }
        let known =
            self.known.iter().find(|(formula, of, _)| formula == relation && of == variables);
        if let Some((_, _, description)) = known {
            return Ok(description.clone());
        }
        let found = self.search(relation, variables)?;
        self.known.push((relation.clone(), variables.to_vec(), found.clone()));
        Ok(found)
    }

    fn search(
        &self,
        relation: &Formula,
        variables: &[Variable],
    ) -> Result<Option<Formula>, EvaluationError> {
        let wanted = self.solutions(relation, variables)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let top = Conjunction {
            literals: Vec::new(),
            variables: variables.to_vec(),
            solutions: self.solutions(&Formula::truth(), variables)?,
            best: None,
        };
        let mut conjunctions = vec![top];
        let mut taken = relation.all_names();
        taken.extend(variables.iter().map(|variable| Name::from(variable.name())));
        for _ in 0..=MAX_SPLITS {
            if let Some(description) = covering(&conjunctions, &wanted, variables.len()) {
                return Ok(Some(description));
            }
            let mut best: Option<(usize, Rank)> = None;
            for (at, conjunction) in conjunctions.iter_mut().enumerate() {
                if conjunction.best.is_none() {
                    conjunction.best =
                        Some(self.best_split(conjunction, &wanted, variables.len(), &taken)?);
                }
                let Some(Some(split)) = &conjunction.best else { continue };
                if best.is_none_or(|(_, rank)| split.rank.exceeds(rank)) {
                    best = Some((at, split.rank));
                }
            }
            let Some((at, _)) = best else { return Ok(None) };
            let split = conjunctions.remove(at);
            conjunctions.extend(split.best.flatten().into_iter().flat_map(|split| split.with));
        }
        Ok(None)
    }

    /// Returns the split of a conjunction by the first of the literals with the highest rank.
    fn best_split(
        &self,
        conjunction: &Conjunction,
        wanted: &Solutions,
        n_asked: usize,
        taken: &BTreeSet<Name>,
    ) -> Result<Option<Split>, EvaluationError> {
        let own = rank(&conjunction.solutions, wanted);
        // A conjunction with no hits, or with only hits, need not be split.
        if own.hits == 0 || own.hits == own.of || conjunction.literals.len() >= self.max_literals {
            return Ok(None);
        }
        let mut fresh = Fresh::avoiding(taken.clone());
        fresh.avoid(
            conjunction.variables.iter().map(|variable| Name::from(variable.name())).collect(),
        );
        let new = fresh.variable(&Variable::new("y"));
        let mut best: Option<Split> = None;
        for (name, arity) in &self.stable {
            for arguments in argument_lists(&conjunction.variables, &new, *arity) {
                let is_new = arguments.contains(&new);
                let mut variables = conjunction.variables.clone();
                variables.extend(is_new.then(|| new.clone()));
                let atom = Formula::Relation(
                    name.clone(),
                    arguments.into_iter().map(Argument::from).collect(),
                );
                let negated = Formula::not(atom.clone());
                if conjunction.literals.contains(&atom) || conjunction.literals.contains(&negated) {
                    continue;
                }
                let extended = |literal: Formula| -> Result<Conjunction, EvaluationError> {
                    let mut literals = conjunction.literals.clone();
                    literals.push(literal);
                    let formula = Formula::exists(&variables[n_asked..], all_of(literals.clone()));
                    let solutions = self.solutions(&formula, &variables[..n_asked])?;
                    Ok(Conjunction {
                        literals,
                        variables: variables.clone(),
                        solutions,
                        best: None,
                    })
                };
                let with = vec![extended(atom)?, extended(negated)?];
                let rank = rank(&with[0].solutions, wanted).max(rank(&with[1].solutions, wanted));
                if best.as_ref().is_none_or(|best| rank.exceeds(best.rank)) {
                    best = Some(Split { rank, with });
                }
            }
        }
        Ok(best)
    }

    fn solutions(
        &self,
        formula: &Formula,
        variables: &[Variable],
    ) -> Result<Solutions, EvaluationError> {
        let vocabulary = Arc::clone(self.arena.vocabulary());
        let definitions = Arc::clone(self.arena.definitions());
        let mut evaluator = Evaluator::new(vocabulary, definitions, Limits::default());
        let query = evaluator.formula(formula, variables)?;
        let found = evaluator.solve(query, self.arena.start(), &Assignment::new())?;
        Ok(found.iter().map(<[Element]>::to_vec).collect())
    }
}

fn rank(solutions: &Solutions, wanted: &Solutions) -> Rank {
    Rank { hits: solutions.intersection(wanted).count(), of: solutions.len() }
}

/// Returns a disjunction of the conjunctions that hold only for wanted values, if they cover all
/// wanted values. Conjunctions that are not needed are left out.
fn covering(conjunctions: &[Conjunction], wanted: &Solutions, n_asked: usize) -> Option<Formula> {
    let mut missing = wanted.clone();
    let mut ways = Vec::new();
    for conjunction in conjunctions {
        let is_inside =
            !conjunction.solutions.is_empty() && conjunction.solutions.is_subset(wanted);
        if is_inside && conjunction.solutions.iter().any(|solution| missing.contains(solution)) {
            missing.retain(|solution| !conjunction.solutions.contains(solution));
            let own = &conjunction.variables[n_asked..];
            ways.push(Formula::exists(own, all_of(conjunction.literals.clone())));
        }
    }
    missing.is_empty().then(|| one_of(ways))
}

/// Returns all argument lists of a relation with at least one known and at most one new variable.
fn argument_lists(known: &[Variable], new: &Variable, arity: usize) -> Vec<Vec<Variable>> {
    let mut lists: Vec<Vec<Variable>> = vec![Vec::new()];
    for _ in 0..arity {
        lists = lists
            .into_iter()
            .flat_map(|list| {
                let all = known.iter().chain(std::iter::once(new));
                all.map(move |variable| {
                    list.iter().chain(std::iter::once(variable)).cloned().collect()
                })
                .collect::<Vec<_>>()
            })
            .collect();
    }
    lists.retain(|list| list.iter().any(|variable| variable != new));
    lists
}

/// Returns whether the formula contains one of the relations.
fn mentions(formula: &Formula, relations: &BTreeSet<Name>) -> bool {
    formula.free_relations().keys().any(|name| relations.contains(name))
}
