//! Formulas over the fluents of a game, simplified on construction and shared structurally.
//!
//! There is one connective, the n-ary conjunction, and negation is a property of the reference. A
//! disjunction is therefore the negation of a conjunction of negations, De Morgan's laws hold by
//! construction, and equal formulas are stored once.

use std::fmt;
use std::ops::Not;

use hashbrown::HashTable;

/// A reference to a formula of some [`Formulas`], possibly negated.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Formula(u32);

impl Formula {
    /// The formula that is always false.
    pub const FALSE: Formula = Formula(0);
    /// The formula that is always true.
    pub const TRUE: Formula = Formula(1);
    /// The third truth value: unknown. It is its own negation.
    pub const UNKNOWN: Formula = Formula(2);

    /// Returns the constant with this value.
    pub fn constant(value: bool) -> Formula {
        if value { Formula::TRUE } else { Formula::FALSE }
    }

    /// Returns the formula, negated if `negate` is true.
    #[must_use]
    pub(crate) fn negated_if(self, negate: bool) -> Formula {
        if negate { !self } else { self }
    }

    /// Returns the index of the node, negated or not: 0 for the constants, 1 for unknown, then the
    /// fluents.
    #[inline]
    pub(super) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    #[inline]
    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) fn of_node(node: usize) -> Formula {
        Formula(u32::try_from(node).expect("the budget keeps formulas far below 2^31") << 1)
    }

    /// Returns whether the formula is a constant, true or false.
    pub fn is_constant(self) -> bool {
        self.0 < 2
    }
}

impl Not for Formula {
    type Output = Formula;

    #[inline]
    fn not(self) -> Formula {
        // In three-valued logic, the negation of unknown is unknown.
        if self == Formula::UNKNOWN { self } else { Formula(self.0 ^ 1) }
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negated() { "!" } else { "" };
        write!(f, "{sign}f{}", self.node())
    }
}

/// The structure of a formula without its negation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// The constant false.
    False,
    /// The unknown truth value.
    Unknown,
    /// The fluent with this index.
    Fluent(usize),
    /// A conjunction of two or more operands, sorted.
    And(&'a [Formula]),
}

/// Maximum length of a conjunction that is spliced into another. Splicing copies the operands.
const SPLICED: usize = 32;
/// Maximum length of a disjunction that is checked for absorption by another operand.
const ABSORBED: usize = 64;
/// Maximum number of disjunctions in a conjunction that are compared with one another.
const COMPARED: usize = 24;

/// A collection of formulas over the fluents `0..n_fluents`.
///
/// They are simplified by these laws: constants in three-valued logic, idempotence, `a & !a` for
/// operands other than unknown, and absorption such as `a & (a | b) = a` (Trutman 2015, 4.3).
/// Factoring is not applied, because it would change the fuzzy value.
#[derive(Clone)]
pub struct Formulas {
    n_fluents: usize,
    /// Where the operands of each conjunction start, and where those of the last one end.
    starts: Vec<u32>,
    operands: Vec<Formula>,
    index: HashTable<u32>,
}

impl Formulas {
    /// Creates a collection with the fluents as its only formulas.
    pub fn new(n_fluents: usize) -> Formulas {
        Formulas { n_fluents, starts: vec![0], operands: Vec::new(), index: HashTable::new() }
    }

    /// Returns the formula of a fluent.
    pub fn fluent(&self, fluent: usize) -> Formula {
        assert!(fluent < self.n_fluents, "fluents are dense");
        Formula::of_node(2 + fluent)
    }

    /// Returns the number of fluents.
    pub fn n_fluents(&self) -> usize {
        self.n_fluents
    }

    /// Returns the number of operands of all conjunctions: a measure of memory.
    pub fn size(&self) -> usize {
        self.operands.len()
    }

    pub(super) fn n_nodes(&self) -> usize {
        2 + self.n_fluents + self.starts.len() - 1
    }

    /// Returns the structure of a formula without its negation.
    #[inline]
    pub fn shape(&self, formula: Formula) -> Shape<'_> {
        match formula.node() {
            0 => Shape::False,
            1 => Shape::Unknown,
            node if node < 2 + self.n_fluents => Shape::Fluent(node - 2),
            node => Shape::And(self.operands_of(node)),
        }
    }

    #[inline]
    fn operands_of(&self, node: usize) -> &[Formula] {
        let at = node - 2 - self.n_fluents;
        &self.operands[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    fn is_and(&self, formula: Formula) -> bool {
        formula.node() >= 2 + self.n_fluents
    }

    /// Returns the conjunction of the formulas. The contents of `list` are unspecified afterwards.
    pub fn and(&mut self, list: &mut Vec<Formula>) -> Formula {
        self.splice(list);
        list.sort_unstable();
        list.dedup();
        // Constants sort first.
        match list.first() {
            Some(&Formula::FALSE) => return Formula::FALSE,
            Some(&Formula::TRUE) => {
                list.remove(0);
            }
            _ => {}
        }
        // A formula and its negation are adjacent.
        if list.windows(2).any(|pair| pair[1] == !pair[0]) {
            return Formula::FALSE;
        }
        self.absorb(list);
        match list.as_slice() {
            [] => Formula::TRUE,
            [only] => *only,
            _ => self.shared(list),
        }
    }

    /// Returns the disjunction of the formulas. The contents of `list` are unspecified afterwards.
    pub fn or(&mut self, list: &mut Vec<Formula>) -> Formula {
        list.iter_mut().for_each(|formula| *formula = !*formula);
        !self.and(list)
    }

    /// Replaces short conjunctions in the list by their operands.
    fn splice(&self, list: &mut Vec<Formula>) {
        for at in 0..list.len() {
            let formula = list[at];
            if !formula.is_negated() && self.is_and(formula) {
                let inner = self.operands_of(formula.node());
                if inner.len() <= SPLICED {
                    list[at] = inner[0];
                    list.extend_from_slice(&inner[1..]);
                }
            }
        }
    }

    /// Removes the disjunctions that follow from the rest: those with an operand that is required
    /// anyway, and those that are implied by another disjunction.
    fn absorb(&self, list: &mut Vec<Formula>) {
        let is_or = |formula: Formula| formula.is_negated() && self.is_and(formula);
        if !list.iter().any(|&formula| is_or(formula)) {
            return;
        }
        let follows = |formula: Formula| {
            let operands = self.operands_of(formula.node());
            operands.len() <= ABSORBED
                && operands.iter().any(|&operand| {
                    // Two unknown operands do not stand for the same unknown fact.
                    operand != Formula::UNKNOWN && list.binary_search(&!operand).is_ok()
                })
        };
        let kept: Vec<Formula> =
            list.iter().copied().filter(|&formula| !is_or(formula) || !follows(formula)).collect();
        *list = kept;
        let ors: Vec<Formula> = list.iter().copied().filter(|&formula| is_or(formula)).collect();
        if ors.len() < 2 || ors.len() > COMPARED {
            return;
        }
        let says_less = |less: Formula, more: Formula| {
            let (less, more) = (self.operands_of(less.node()), self.operands_of(more.node()));
            more.len() < less.len()
                && more.iter().all(|operand| less.binary_search(operand).is_ok())
        };
        let is_implied = |formula: Formula| ors.iter().any(|&other| says_less(formula, other));
        list.retain(|&formula| !is_or(formula) || !is_implied(formula));
    }

    /// Returns the conjunction of a simplified list, creating it if it does not exist.
    fn shared(&mut self, list: &[Formula]) -> Formula {
        let Formulas { n_fluents, starts, operands, index } = self;
        let of = |operands: &Vec<Formula>, starts: &Vec<u32>, at: u32| {
            hash(&operands[starts[at as usize] as usize..starts[at as usize + 1] as usize])
        };
        let is_it = |&at: &u32| {
            operands[starts[at as usize] as usize..starts[at as usize + 1] as usize] == *list
        };
        if let Some(&at) = index.find(hash(list), is_it) {
            return Formula::of_node(2 + *n_fluents + at as usize);
        }
        let at = starts.len() - 1;
        operands.extend_from_slice(list);
        starts
            .push(u32::try_from(operands.len()).expect("the budget keeps formulas far below 2^32"));
        index.insert_unique(hash(list), at as u32, |&at| of(operands, starts, at));
        Formula::of_node(2 + *n_fluents + at)
    }

    /// Returns the nodes that the formulas consist of, operands before their readers.
    pub(super) fn cone(&self, roots: impl IntoIterator<Item = Formula>) -> Vec<usize> {
        let mut is_in = vec![false; self.n_nodes()];
        let mut left: Vec<usize> = roots.into_iter().map(Formula::node).collect();
        while let Some(node) = left.pop() {
            if !std::mem::replace(&mut is_in[node], true) && node >= 2 + self.n_fluents {
                left.extend(self.operands_of(node).iter().map(|operand| operand.node()));
            }
        }
        // Operands are created before their readers, so their indices are smaller.
        (0..self.n_nodes()).filter(|&node| is_in[node]).collect()
    }
}

fn hash(list: &[Formula]) -> u64 {
    // FNV over words with a final mix: fast, and the same on every machine.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for formula in list {
        hash = (hash ^ u64::from(formula.0)).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}
