//! Formulas over the fluents of a game: shared, and simplified as they are made.
//!
//! There is one connective, the conjunction of any number of operands, and negation is a property of the reference. So a
//! disjunction is the negation of a conjunction of negations, De Morgan's laws hold by themselves, and what is the same is
//! stored once.

use std::fmt;
use std::ops::Not;

use hashbrown::HashTable;

/// A formula of some [`Formulas`], or its negation.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Formula(u32);

impl Formula {
    /// Never holds.
    pub const FALSE: Formula = Formula(0);
    /// Always holds.
    pub const TRUE: Formula = Formula(1);
    /// The third truth value: nobody knows. Its negation is itself.
    pub const UNKNOWN: Formula = Formula(2);

    /// The constant of this value.
    pub fn constant(value: bool) -> Formula {
        if value { Formula::TRUE } else { Formula::FALSE }
    }

    /// The same, negated if `negate`.
    #[must_use]
    pub fn negated_if(self, negate: bool) -> Formula {
        if negate { !self } else { self }
    }

    /// The number of what it refers to, negated or not: constants are 0, the unknown is 1, then come the fluents.
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

    /// Whether it is true or false whatever holds.
    pub fn is_constant(self) -> bool {
        self.0 < 2
    }
}

impl Not for Formula {
    type Output = Formula;

    #[inline]
    fn not(self) -> Formula {
        // Three-valued: not knowing whether is not knowing whether not.
        if self == Formula::UNKNOWN { self } else { Formula(self.0 ^ 1) }
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negated() { "!" } else { "" };
        write!(f, "{sign}f{}", self.node())
    }
}

/// What a formula is, its negation taken off.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// Never holds.
    False,
    /// Nobody knows.
    Unknown,
    /// The fluent of this number holds.
    Fluent(usize),
    /// All of these hold; two or more, sorted.
    And(&'a [Formula]),
}

/// Conjunctions longer than this are not spliced into others: that would copy them too often.
const SPLICED: usize = 32;
/// Disjunctions longer than this are not looked into for what the rest of a conjunction makes superfluous.
const ABSORBED: usize = 64;
/// In a conjunction of more disjunctions than this, those are not compared with one another.
const COMPARED: usize = 24;

/// Formulas over fluents `0..n_fluents`.
///
/// The laws by which they are simplified: constants in three-valued logic, idempotence, `a & !a` for what is not
/// unknown, and absorption, `a & (a | b) = a` and so on (003, 4.3). Factoring and the like are left alone, for they would
/// change the fuzzy value.
#[derive(Clone)]
pub struct Formulas {
    n_fluents: usize,
    /// Where the operands of each conjunction start, and where those of the last end.
    starts: Vec<u32>,
    operands: Vec<Formula>,
    index: HashTable<u32>,
}

impl Formulas {
    /// None yet but the fluents themselves.
    pub fn new(n_fluents: usize) -> Formulas {
        Formulas { n_fluents, starts: vec![0], operands: Vec::new(), index: HashTable::new() }
    }

    /// The formula that a fluent holds.
    pub fn fluent(&self, fluent: usize) -> Formula {
        assert!(fluent < self.n_fluents, "fluents are dense");
        Formula::of_node(2 + fluent)
    }

    /// The fluent that a formula is about, if it is one or the negation of one.
    pub fn as_fluent(&self, formula: Formula) -> Option<usize> {
        match self.shape(formula) {
            Shape::Fluent(fluent) => Some(fluent),
            Shape::False | Shape::Unknown | Shape::And(_) => None,
        }
    }

    /// How many fluents there are.
    pub fn n_fluents(&self) -> usize {
        self.n_fluents
    }

    /// How many operands all conjunctions have: what the formulas cost in memory.
    pub fn size(&self) -> usize {
        self.operands.len()
    }

    pub(super) fn n_nodes(&self) -> usize {
        2 + self.n_fluents + self.starts.len() - 1
    }

    /// What a formula is, its negation taken off.
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

    /// All of these hold. The list is left in disorder.
    pub fn and(&mut self, list: &mut Vec<Formula>) -> Formula {
        self.splice(list);
        list.sort_unstable();
        list.dedup();
        // The constants are the smallest of all.
        match list.first() {
            Some(&Formula::FALSE) => return Formula::FALSE,
            Some(&Formula::TRUE) => {
                list.remove(0);
            }
            _ => {}
        }
        // A formula and its negation are neighbours.
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

    /// At least one of these holds. The list is left in disorder.
    pub fn or(&mut self, list: &mut Vec<Formula>) -> Formula {
        list.iter_mut().for_each(|formula| *formula = !*formula);
        !self.and(list)
    }

    /// Puts the operands of short conjunctions in the place of these.
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

    /// Takes the disjunctions out that follow from the rest: those with an operand that is required anyway, and those that
    /// say less than another one.
    fn absorb(&self, list: &mut Vec<Formula>) {
        let is_or = |formula: Formula| formula.is_negated() && self.is_and(formula);
        if !list.iter().any(|&formula| is_or(formula)) {
            return;
        }
        let follows = |formula: Formula| {
            let operands = self.operands_of(formula.node());
            operands.len() <= ABSORBED
                && operands.iter().any(|&operand| {
                    // The unknown on both sides is not the same unknown thing.
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

    /// The conjunction of a list that is as it should be, made if it is new.
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

    /// The nodes that formulas are made of, operands before what uses them.
    pub(super) fn cone(&self, roots: impl IntoIterator<Item = Formula>) -> Vec<usize> {
        let mut is_in = vec![false; self.n_nodes()];
        let mut left: Vec<usize> = roots.into_iter().map(Formula::node).collect();
        while let Some(node) = left.pop() {
            if !std::mem::replace(&mut is_in[node], true) && node >= 2 + self.n_fluents {
                left.extend(self.operands_of(node).iter().map(|operand| operand.node()));
            }
        }
        // Operands are older than what is made of them, so their numbers are smaller.
        (0..self.n_nodes()).filter(|&node| is_in[node]).collect()
    }

    /// How large a formula is as it is printed, every part as often as it occurs; `None` if that is more than `limit`.
    pub fn printed_size(&self, formula: Formula, limit: u64) -> Option<u64> {
        let cone = self.cone([formula]);
        let mut sizes = vec![1_u64; cone.len()];
        for (at, &node) in cone.iter().enumerate() {
            if node >= 2 + self.n_fluents {
                let size = |operand: &Formula| {
                    sizes[cone.binary_search(&operand.node()).expect("operands are in the cone")]
                };
                sizes[at] = self.operands_of(node).iter().map(size).fold(1, u64::saturating_add);
            }
        }
        let place = cone.binary_search(&formula.node()).expect("a formula is in its own cone");
        Some(sizes[place]).filter(|&size| size <= limit)
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
