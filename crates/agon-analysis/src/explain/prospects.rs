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
    /// Whether a part is unknown, because it was too large, or because no choice among its
    /// alternatives was found that does not need a fluent to hold and not to hold.
    pub(super) has_unknown: bool,
}

/// A way in which a formula can hold, while it is being found. Invariant: it needs no fluent both
/// to hold and not to hold, and no two fluents that exclude each other.
#[derive(Clone, Default)]
struct Way {
    /// By fluent: whether it is to hold.
    truths: BTreeMap<usize, bool>,
    /// By group of fluents of which at most one holds: the one that is to hold.
    chosen: BTreeMap<u32, usize>,
    has_unknown: bool,
}

/// Maximum number of parts of a formula that are visited to find one way. A formula with many
/// choices that contradict each other would take exponential time.
const MAX_COLLECTED: usize = 20_000;
/// Maximum number of alternatives of a formula for which that many parts are visited in vain. The
/// others then count as unknown.
const MAX_GIVEN_UP: usize = 4;

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
    /// By fluent: the groups of which at most one fluent holds.
    groups_of: Vec<Vec<u32>>,
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
        let groups_of = knowledge.groups_of(holds.len());
        Prospects { formulas, holds, is_over, is_lasting, groups_of, costs: BTreeMap::new() }
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
        let mut n_given_up = 0;
        for alternative in alternatives {
            let Some(cost) = self.cost(alternative) else { continue };
            let mut way = Way::default();
            let mut n_left = MAX_COLLECTED;
            if n_given_up >= MAX_GIVEN_UP || !self.collect(alternative, &mut way, &mut n_left) {
                n_given_up += usize::from(n_left == 0);
                way = Way { has_unknown: true, ..Way::default() };
            }
            let cost = if way.has_unknown { cost.max(UNKNOWN) } else { way.n_missing(&self.holds) };
            let prospect = self.prospect(&way);
            found.push((cost, prospect));
        }
        // Of two ways that need the same, the one that has more already says more.
        found.sort_by(|(a, x), (b, y)| {
            a.cmp(b).then(y.held.len().cmp(&x.held.len())).then(x.cmp(y))
        });
        found.dedup();
        found.into_iter().map(|(_, prospect)| prospect).collect()
    }

    /// Returns the ways in which a formula can hold, without naming these fluents among what holds
    /// already.
    pub(super) fn without(&mut self, formula: Formula, used: &[usize]) -> Vec<Prospect> {
        let mut ways = self.of(formula);
        for way in &mut ways {
            way.held.retain(|fluent| !used.contains(fluent));
        }
        ways
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

    /// Adds the literals of the nearest way in which a formula can hold, among the ways that agree
    /// with what was added before. Returns whether there is one; if not, `way` is of no use. Takes
    /// the first choice that fits where it stands, so it may miss ways.
    fn collect(&mut self, formula: Formula, way: &mut Way, n_left: &mut usize) -> bool {
        let Some(left) = n_left.checked_sub(1) else { return false };
        *n_left = left;
        let formulas = self.formulas;
        match formulas.shape(formula) {
            Shape::False => formula.is_negated(),
            Shape::Unknown => {
                way.has_unknown = true;
                true
            }
            Shape::Fluent(fluent) => {
                let is_positive = !formula.is_negated();
                way.add(fluent, is_positive, &self.groups_of[fluent])
            }
            Shape::And(operands) => stacker::maybe_grow(64 << 10, 1 << 20, || {
                if !formula.is_negated() {
                    // What leaves no choice comes first, then what holds already, so that the other
                    // choices can respect it.
                    let mut ordered: Vec<Formula> = operands.to_vec();
                    ordered.sort_by_key(|&operand| {
                        let rank = match formulas.shape(operand) {
                            Shape::And(_) => 1 + u8::from(operand.is_negated()),
                            Shape::False | Shape::Unknown | Shape::Fluent(_) => 0,
                        };
                        (rank, self.cost(operand))
                    });
                    return ordered.into_iter().all(|operand| self.collect(operand, way, n_left));
                }
                // What was chosen before may leave nothing to choose here.
                let is_settled = |&operand: &Formula| match formulas.shape(!operand) {
                    Shape::Fluent(fluent) => {
                        way.settles(fluent, operand.is_negated(), &self.groups_of[fluent])
                    }
                    Shape::False | Shape::Unknown | Shape::And(_) => false,
                };
                if operands.iter().any(is_settled) {
                    return true;
                }
                // Of equal choices the end of a fact is said rather than the coming of another one,
                // such as the place where a piece would stay for ever.
                let mut choices: Vec<(u32, bool, Formula)> = Vec::new();
                for choice in operands.iter().map(|&operand| !operand) {
                    let Some(cost) = self.cost(choice) else { continue };
                    let is_fact = matches!(formulas.shape(choice), Shape::Fluent(_));
                    choices.push((cost, is_fact && !choice.is_negated(), choice));
                }
                choices.sort_unstable();
                for (.., choice) in choices {
                    let mut tried = way.clone();
                    if self.collect(choice, &mut tried, n_left) {
                        *way = tried;
                        return true;
                    }
                }
                false
            }),
        }
    }

    /// Separates what a way still needs from what it has.
    fn prospect(&self, way: &Way) -> Prospect {
        let mut prospect =
            Prospect { missing: Vec::new(), held: Vec::new(), has_unknown: way.has_unknown };
        for (&fluent, &is_positive) in &way.truths {
            if self.holds[fluent] != is_positive {
                prospect.missing.push(Literal { fluent, is_positive });
            } else if is_positive {
                prospect.held.push(fluent);
            }
        }
        prospect
    }
}

impl Way {
    /// Adds a literal. Returns whether it agrees with those before.
    fn add(&mut self, fluent: usize, is_positive: bool, groups: &[u32]) -> bool {
        if *self.truths.entry(fluent).or_insert(is_positive) != is_positive {
            return false;
        }
        !is_positive
            || groups.iter().all(|&group| *self.chosen.entry(group).or_insert(fluent) == fluent)
    }

    /// Returns whether a literal follows from those before: it is one of them, or a fluent that it
    /// excludes is to hold.
    fn settles(&self, fluent: usize, is_positive: bool, groups: &[u32]) -> bool {
        self.truths.get(&fluent) == Some(&is_positive)
            || (!is_positive
                && groups
                    .iter()
                    .any(|group| self.chosen.get(group).is_some_and(|&chosen| chosen != fluent)))
    }

    fn n_missing(&self, holds: &[bool]) -> u32 {
        let missing = self.truths.iter().filter(|&(&fluent, &truth)| holds[fluent] != truth);
        u32::try_from(missing.count()).unwrap_or(UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts of what is missing for the nearest way, and whether a part is unknown.
    fn nearest(formulas: &Formulas, formula: Formula, holds: &[bool]) -> (Vec<String>, bool) {
        let knowledge = Knowledge::default();
        let mut prospects = Prospects::new(formulas, &knowledge, holds.to_vec());
        let ways = prospects.of(formula);
        let way = ways.first().expect("there is a way");
        let text = |literal: &Literal| {
            format!("{}{}", if literal.is_positive { "" } else { "not " }, literal.fluent)
        };
        (way.missing.iter().map(text).collect(), way.has_unknown)
    }

    fn or(formulas: &mut Formulas, a: Formula, b: Formula) -> Formula {
        !formulas.and(&mut vec![!a, !b])
    }

    /// Each part alone has a nearest way, but they do not go together.
    #[test]
    fn a_way_needs_nothing_and_its_contrary() {
        let mut formulas = Formulas::new(4);
        let [a, b, c, d] = [0, 1, 2, 3].map(|fluent| formulas.fluent(fluent));
        let one = or(&mut formulas, a, b);
        let other = or(&mut formulas, !a, c);
        let both = formulas.and(&mut vec![one, other]);
        assert_eq!(nearest(&formulas, both, &[false; 4]), (vec!["1".to_owned()], false));
        // `a` holds and must end, unless `c` and `d` come.
        let ends = formulas.and(&mut vec![c, d]);
        let ends = or(&mut formulas, !a, ends);
        let stays = formulas.and(&mut vec![a, ends]);
        let (missing, has_unknown) = nearest(&formulas, stays, &[true, false, false, false]);
        assert_eq!((missing, has_unknown), (vec!["2".to_owned(), "3".to_owned()], false));
    }

    /// Fluents that exclude each other are not parts of one way.
    #[test]
    fn a_way_needs_no_two_facts_of_a_group() {
        let mut formulas = Formulas::new(3);
        let [a, b, c] = [0, 1, 2].map(|fluent| formulas.fluent(fluent));
        let rest = or(&mut formulas, b, c);
        let both = formulas.and(&mut vec![a, rest]);
        let knowledge = Knowledge { groups: vec![vec![0, 1]], ..Knowledge::default() };
        let mut prospects = Prospects::new(&formulas, &knowledge, vec![false; 3]);
        let ways = prospects.of(both);
        let missing: Vec<usize> = ways[0].missing.iter().map(|literal| literal.fluent).collect();
        assert_eq!(missing, [0, 2]);
    }

    /// What holds instead of a fluent of the same group ends it, so its end is not missing as well.
    #[test]
    fn a_fact_that_excludes_another_ends_it() {
        let mut formulas = Formulas::new(3);
        let [a, b, c] = [0, 1, 2].map(|fluent| formulas.fluent(fluent));
        // `b` is to hold, and `a`, which holds now, or `c` must not.
        let rest = or(&mut formulas, !a, !c);
        let both = formulas.and(&mut vec![b, rest]);
        let knowledge = Knowledge { groups: vec![vec![0, 1]], ..Knowledge::default() };
        let mut prospects = Prospects::new(&formulas, &knowledge, vec![true, false, true]);
        let ways = prospects.of(both);
        let missing: Vec<usize> = ways[0].missing.iter().map(|literal| literal.fluent).collect();
        assert_eq!(missing, [1]);
    }

    /// Many choices that contradict each other are given up, and not told as a way.
    #[test]
    fn contradictions_are_not_told_as_ways() {
        let n = 24;
        let mut formulas = Formulas::new(n + 1);
        let x = formulas.fluent(n);
        let mut parts = Vec::new();
        for fluent in 0..n {
            let one = formulas.fluent(fluent);
            parts.push(or(&mut formulas, one, x));
            parts.push(or(&mut formulas, !one, x));
        }
        // Whatever holds, one of the two parts of each fluent needs `x`, and here `x` must not.
        let mut all = parts;
        let y = or(&mut formulas, !x, !x);
        all.push(y);
        let formula = formulas.and(&mut all);
        let knowledge = Knowledge::default();
        let mut prospects = Prospects::new(&formulas, &knowledge, vec![false; n + 1]);
        assert!(prospects.of(formula).iter().all(|way| way.has_unknown));
    }
}
