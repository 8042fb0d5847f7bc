//! What a formula still needs to hold: the ways in which it can become true, the nearest first.

use std::collections::BTreeMap;

use crate::regression::{Formula, Formulas, Knowledge, Shape, flat_operands};

/// A fluent, and whether it is to hold.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Literal {
    pub(super) fluent: usize,
    pub(super) is_positive: bool,
}

/// A way in which a formula can hold. What need not hold or is kept by nothing is left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Prospect {
    /// The literals that do not hold yet.
    pub(super) missing: Vec<Literal>,
    /// The fluents that are needed and hold already.
    pub(super) held: Vec<usize>,
    /// Whether a part is unknown, because it was too large.
    pub(super) has_unknown: bool,
}

/// The number of literals that are missing. `None` if the formula cannot hold any more.
type Cost = Option<u32>;

/// The cost of an unknown part: more than that of all known ones together.
const UNKNOWN: u32 = 1 << 20;

/// Finds what formulas need in one state.
pub(super) struct Prospects<'f> {
    formulas: &'f Formulas,
    /// By fluent: whether it holds.
    holds: Vec<bool>,
    /// By fluent: whether it is proved never to hold again.
    is_over: Vec<bool>,
    /// By fluent: whether it is proved to hold for ever.
    is_lasting: Vec<bool>,
    costs: BTreeMap<Formula, Cost>,
}

impl<'f> Prospects<'f> {
    /// Prepares a state. `knowledge` says what is proved about the fluents.
    pub(super) fn new(
        formulas: &'f Formulas,
        knowledge: &Knowledge,
        holds: Vec<bool>,
    ) -> Prospects<'f> {
        let is_lasting: Vec<bool> =
            (0..holds.len()).map(|fluent| holds[fluent] && knowledge.stays_true(fluent)).collect();
        let mut is_over: Vec<bool> = (0..holds.len())
            .map(|fluent| !holds[fluent] && knowledge.stays_false(fluent))
            .collect();
        // A fluent that lasts excludes the others of its group for ever.
        for group in &knowledge.groups {
            if group.iter().any(|&fluent| is_lasting[fluent]) {
                for &fluent in group.iter().filter(|&&fluent| !is_lasting[fluent]) {
                    is_over[fluent] = true;
                }
            }
        }
        Prospects { formulas, holds, is_over, is_lasting, costs: BTreeMap::new() }
    }

    /// Returns the ways in which a formula can hold, those with the fewest missing literals first.
    /// Empty if there is none.
    pub(super) fn of(&mut self, formula: Formula) -> Vec<Prospect> {
        let is_disjunction =
            formula.is_negated() && matches!(self.formulas.shape(formula), Shape::And(_));
        let alternatives = match is_disjunction {
            true => flat_operands(self.formulas, formula),
            false => vec![formula],
        };
        let mut found: Vec<(u32, Prospect)> = Vec::new();
        for alternative in alternatives {
            let Some(cost) = self.cost(alternative) else { continue };
            let mut prospect =
                Prospect { missing: Vec::new(), held: Vec::new(), has_unknown: false };
            self.collect(alternative, &mut prospect);
            prospect.missing.sort_unstable();
            prospect.missing.dedup();
            prospect.held.sort_unstable();
            prospect.held.dedup();
            found.push((cost, prospect));
        }
        // Of two ways that need the same, the one that has more already says more.
        found.sort_by(|(a, x), (b, y)| {
            a.cmp(b).then(y.held.len().cmp(&x.held.len())).then(x.cmp(y))
        });
        found.dedup();
        found.into_iter().map(|(_, prospect)| prospect).collect()
    }

    /// Returns how many literals are missing for a formula to hold.
    fn cost(&mut self, formula: Formula) -> Cost {
        if let Some(&known) = self.costs.get(&formula) {
            return known;
        }
        let formulas = self.formulas;
        let cost = match formulas.shape(formula) {
            Shape::False => formula.is_negated().then_some(0),
            Shape::Unknown => Some(UNKNOWN),
            Shape::Fluent(fluent) => match (self.holds[fluent], formula.is_negated()) {
                (true, false) | (false, true) => Some(0),
                (false, false) => (!self.is_over[fluent]).then_some(1),
                (true, true) => (!self.is_lasting[fluent]).then_some(1),
            },
            Shape::And(operands) => stacker::maybe_grow(64 << 10, 1 << 20, || {
                match formula.is_negated() {
                    // The nearest operand of a disjunction.
                    true => operands.iter().filter_map(|&operand| self.cost(!operand)).min(),
                    false => {
                        let costs = operands.iter().map(|&operand| self.cost(operand));
                        costs.sum::<Option<u32>>().map(|sum| sum.min(UNKNOWN << 4))
                    }
                }
            }),
        };
        self.costs.insert(formula, cost);
        cost
    }

    /// Adds the literals of the nearest way in which a formula can hold.
    fn collect(&mut self, formula: Formula, prospect: &mut Prospect) {
        let formulas = self.formulas;
        match formulas.shape(formula) {
            Shape::False => {}
            Shape::Unknown => prospect.has_unknown = true,
            Shape::Fluent(fluent) => {
                let is_positive = !formula.is_negated();
                if self.holds[fluent] != is_positive {
                    prospect.missing.push(Literal { fluent, is_positive });
                } else if is_positive {
                    prospect.held.push(fluent);
                }
            }
            Shape::And(operands) => stacker::maybe_grow(64 << 10, 1 << 20, || {
                if !formula.is_negated() {
                    for &operand in operands {
                        self.collect(operand, prospect);
                    }
                    return;
                }
                let nearest = operands
                    .iter()
                    .filter_map(|&operand| Some((self.cost(!operand)?, !operand)))
                    .min();
                if let Some((_, nearest)) = nearest {
                    self.collect(nearest, prospect);
                }
            }),
        }
    }
}
