//! What can be left out of a formula without changing what it says.

use std::cell::Cell;
use std::collections::BTreeMap;

use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, lbool};

use crate::formula::{Argument, Closure, Fix, Formula, Let, Term};
use crate::rational::Rational;

use super::{conjunction, disjunction};

/// Constants, double negations, lists within lists, what is said twice, contradictions that are plain to see, quantifiers
/// without their variable and `let`s without use are left out.
pub fn simplified(formula: &Formula) -> Formula {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::Relation(..) => formula.clone(),
        // A constant may name nothing, so only variables are certainly themselves.
        Formula::Equal(Argument::Variable(left), Argument::Variable(right)) if left == right => {
            Formula::truth()
        }
        Formula::Equal(..) => formula.clone(),
        Formula::Compare(left, sign, right) => {
            let (left, right) = (simplified_term(left), simplified_term(right));
            if let (Term::Number(left), Term::Number(right)) = (&left, &right) {
                return if sign.admits(left.cmp(right)) {
                    Formula::truth()
                } else {
                    Formula::falsity()
                };
            }
            Formula::compare(left, *sign, right)
        }
        Formula::Not(inner) => negated(simplified(inner)),
        Formula::And(parts) => joined(parts.iter().map(simplified), true),
        Formula::Or(parts) => joined(parts.iter().map(simplified), false),
        Formula::Exists(variables, inner) | Formula::All(variables, inner) => {
            let exists = matches!(formula, Formula::Exists(..));
            let inner = simplified(inner);
            let free = inner.free_variables();
            let mut used: Vec<_> =
                variables.iter().filter(|variable| free.contains(variable)).cloned().collect();
            match inner {
                Formula::Exists(more, inner) if exists && !used.is_empty() => {
                    used.retain(|variable| !more.contains(variable));
                    used.extend(more);
                    Formula::exists(&used, *inner)
                }
                Formula::All(more, inner) if !exists && !used.is_empty() => {
                    used.retain(|variable| !more.contains(variable));
                    used.extend(more);
                    Formula::all(&used, *inner)
                }
                inner if exists => Formula::exists(&used, inner),
                inner => Formula::all(&used, inner),
            }
        }
        Formula::Fix(fix) => {
            let body = simplified(&fix.body);
            Formula::Fix(Box::new(Fix { body, ..(**fix).clone() }))
        }
        Formula::Closure(closure) => {
            let body = simplified(&closure.body);
            Formula::Closure(Box::new(Closure { body, ..(**closure).clone() }))
        }
        Formula::Let(local) => {
            let body = simplified(&local.body);
            if !body.free_relations().contains_key(&local.relation) {
                return body;
            }
            let definition = simplified(&local.definition);
            Formula::Let(Box::new(Let { definition, body, ..(**local).clone() }))
        }
    })
}

fn simplified_term(term: &Term) -> Term {
    let changed = term
        .rebuilt::<std::convert::Infallible>(&mut |part| Ok(simplified(part)), &mut |part| {
            Ok(simplified_term(part))
        });
    let Ok(term) = changed;
    match term {
        Term::Characteristic(inner) if inner.is_truth() => Term::Number(Rational::ONE),
        Term::Characteristic(inner) if inner.is_falsity() => Term::Number(Rational::ZERO),
        other => other,
    }
}

fn negated(formula: Formula) -> Formula {
    match formula {
        Formula::Not(inner) => *inner,
        formula if formula.is_truth() => Formula::falsity(),
        formula if formula.is_falsity() => Formula::truth(),
        formula => Formula::not(formula),
    }
}

/// A list of which all must hold, or one, without what is needless.
fn joined(parts: impl Iterator<Item = Formula>, all: bool) -> Formula {
    let formula = if all { conjunction(parts) } else { disjunction(parts) };
    let (Formula::And(list) | Formula::Or(list)) = &formula else { return formula };
    if matches!(formula, Formula::And(_)) != all {
        return formula;
    }
    let decides = |part: &Formula| if all { part.is_falsity() } else { part.is_truth() };
    let opposed = |part: &Formula| matches!(part, Formula::Not(inner) if list.contains(inner));
    if list.iter().any(|part| decides(part) || opposed(part)) {
        return if all { Formula::falsity() } else { Formula::truth() };
    }
    // Lists of the same kind have been taken apart, so what is true in a conjunction is gone already.
    formula
}

/// The formula with all that can be proved needless left out, by propositional logic: subformulas that are no
/// connectives are taken as unknowns. Parts of which the solver does not find out within `conflicts` are kept.
pub fn irredundant(formula: &Formula, conflicts: u64) -> Formula {
    simplified(&region(&simplified(formula), conflicts))
}

/// One Boolean combination, after those inside of its quantifiers.
fn region(formula: &Formula, conflicts: u64) -> Formula {
    let inside = with_regions(formula, conflicts);
    match inside {
        Formula::And(_) | Formula::Or(_) | Formula::Not(_) => {
            let mut proof = Proof::new(conflicts);
            proof.reduced(&inside, &mut Vec::new())
        }
        other => other,
    }
}

fn with_regions(formula: &Formula, conflicts: u64) -> Formula {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::And(parts) => {
            Formula::And(parts.iter().map(|part| with_regions(part, conflicts)).collect())
        }
        Formula::Or(parts) => {
            Formula::Or(parts.iter().map(|part| with_regions(part, conflicts)).collect())
        }
        Formula::Not(inner) => Formula::not(with_regions(inner, conflicts)),
        other => {
            let changed = other.rebuilt::<std::convert::Infallible>(
                &mut |part| Ok(region(part, conflicts)),
                &mut |term| Ok(term.clone()),
            );
            let Ok(changed) = changed;
            changed
        }
    })
}

/// Stops the solver when it has learnt as much as it may.
struct Patience {
    left: Cell<u64>,
}

impl Callbacks for Patience {
    fn on_new_clause(&mut self, _: &[Lit], _: batsat::ClauseKind) {
        self.left.set(self.left.get().saturating_sub(1));
    }

    fn stop(&self) -> bool {
        self.left.get() == 0
    }
}

struct Proof {
    solver: Solver<Patience>,
    known: BTreeMap<Formula, Lit>,
    conflicts: u64,
}

impl Proof {
    fn new(conflicts: u64) -> Proof {
        let patience = Patience { left: Cell::new(conflicts) };
        Proof {
            solver: Solver::new(SolverOpts::default(), patience),
            known: BTreeMap::new(),
            conflicts,
        }
    }

    /// A literal that is equivalent to the formula (Tseitin).
    fn literal(&mut self, formula: &Formula) -> Lit {
        if let Formula::Not(inner) = formula {
            return !self.literal(inner);
        }
        if let Some(&literal) = self.known.get(formula) {
            return literal;
        }
        let own = Lit::new(self.solver.new_var_default(), true);
        if let Formula::And(parts) | Formula::Or(parts) = formula {
            let all = matches!(formula, Formula::And(_));
            // A disjunction is a negated conjunction of negations.
            let turn = |literal: Lit| if all { literal } else { !literal };
            let literals: Vec<Lit> = parts.iter().map(|part| self.literal(part)).collect();
            let mut long: Vec<Lit> = literals.iter().map(|&literal| !turn(literal)).collect();
            long.push(turn(own));
            self.solver.add_clause_reuse(&mut long);
            for &literal in &literals {
                self.solver.add_clause_reuse(&mut vec![!turn(own), turn(literal)]);
            }
        }
        self.known.insert(formula.clone(), own);
        own
    }

    fn impossible(&mut self, assumptions: &[Lit]) -> bool {
        self.solver.cb_mut().left.set(self.conflicts.max(1));
        self.solver.solve_limited(assumptions) == lbool::FALSE
    }

    /// The formula without what is needless where the assumptions hold.
    fn reduced(&mut self, formula: &Formula, assumptions: &mut Vec<Lit>) -> Formula {
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            let own = self.literal(formula);
            for (literal, answer) in [(own, Formula::falsity()), (!own, Formula::truth())] {
                assumptions.push(literal);
                let is_impossible = self.impossible(assumptions);
                assumptions.pop();
                if is_impossible {
                    return answer;
                }
            }
            match formula {
                Formula::Not(inner) => negated(self.reduced(inner, assumptions)),
                Formula::And(parts) | Formula::Or(parts) => {
                    let all = matches!(formula, Formula::And(_));
                    let mut parts = parts.clone();
                    let mut place = 0;
                    while place < parts.len() {
                        // One part matters only where all others hold, or none of them.
                        let n_assumptions = assumptions.len();
                        for (other, part) in parts.iter().enumerate() {
                            if other != place {
                                let literal = self.literal(part);
                                assumptions.push(if all { literal } else { !literal });
                            }
                        }
                        let reduced = self.reduced(&parts[place], assumptions);
                        assumptions.truncate(n_assumptions);
                        if if all { reduced.is_truth() } else { reduced.is_falsity() } {
                            parts.remove(place);
                        } else {
                            parts[place] = reduced;
                            place += 1;
                        }
                    }
                    if all { Formula::And(parts) } else { Formula::Or(parts) }
                }
                other => other.clone(),
            }
        })
    }
}
