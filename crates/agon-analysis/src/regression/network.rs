//! A network of formulas for evaluation in fuzzy logic (Trutman 2015, 4.4).

use std::collections::BTreeMap;

use agon_game::Role;

use super::formula::{Formula, Shape};
use super::regress::{ActionHeuristics, Aim};

/// A fuzzy logic: a t-norm and its dual, and the value of a fluent.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Logic {
    /// The product t-norm, with the probabilistic sum as its dual.
    Product {
        /// The value of a fluent that holds. A fluent that does not hold has the value `1 - p`.
        p: f64,
    },
    /// The Yager family: one minus the `q`-th root of the sum of the `q`-th powers of the
    /// complements.
    Yager {
        /// The exponent.
        q: f64,
        /// The value of a fluent that holds.
        p: f64,
    },
}

impl Logic {
    /// The logic of Trutman 2015, 3.3: ten times as fast to evaluate as Yager's.
    pub const PRODUCT: Logic = Logic::Product { p: 0.97 };
    /// The logic of Trutman 2015, 2.3.4.
    pub const YAGER: Logic = Logic::Yager { q: 15.0, p: 0.775 };

    /// Returns the value of a fluent that holds and may change.
    pub fn holding(self) -> f64 {
        let (Logic::Product { p } | Logic::Yager { p, .. }) = self;
        p
    }

    /// Returns the value of a fluent that does not hold and may change.
    pub fn failing(self) -> f64 {
        1.0 - self.holding()
    }

    /// Returns the value of a conjunction.
    #[cfg(test)]
    pub(super) fn and(self, values: impl Iterator<Item = f64>) -> f64 {
        let mut so_far = self.empty();
        for value in values {
            so_far = self.extended(so_far, value);
            if self.is_zero(so_far) {
                break;
            }
        }
        self.result(so_far)
    }

    /// Returns the accumulator of the empty conjunction. [`Self::extended`] adds an operand, and
    /// [`Self::result`] gives the value.
    #[inline]
    pub(super) fn empty(self) -> f64 {
        match self {
            Logic::Product { .. } => 1.0,
            Logic::Yager { .. } => 0.0,
        }
    }

    #[inline]
    pub(super) fn extended(self, so_far: f64, value: f64) -> f64 {
        match self {
            Logic::Product { .. } => so_far * value,
            Logic::Yager { q, .. } => so_far + libm::pow(1.0 - value, q),
        }
    }

    /// Returns whether the value is 0 whatever operands follow.
    #[inline]
    pub(super) fn is_zero(self, so_far: f64) -> bool {
        match self {
            Logic::Product { .. } => so_far == 0.0,
            Logic::Yager { .. } => so_far >= 1.0,
        }
    }

    #[inline]
    pub(super) fn result(self, so_far: f64) -> f64 {
        match self {
            Logic::Product { .. } => so_far,
            Logic::Yager { .. } if so_far >= 1.0 => 0.0,
            Logic::Yager { q, .. } => 1.0 - libm::pow(so_far, 1.0 / q),
        }
    }
}

/// The value of the unknown.
pub(super) const UNKNOWN: f64 = 0.5;

/// The formulas of all moves as a network. It is immutable and shared by all evaluators.
pub struct Network {
    pub(super) logic: Logic,
    /// Maximum number of operands of a conjunction.
    max_width: usize,
    /// By fluent: its node, or `NO_NODE` if it is not read.
    pub(super) node_of_fluent: Vec<u32>,
    /// By fluent: its value if it does not hold, and if it holds.
    pub(super) counts: Vec<[f64; 2]>,
    /// The first conjunction. Node 0 is false, node 1 is unknown, then come fluents, then
    /// conjunctions, operands first.
    pub(super) first_and: usize,
    /// By conjunction: where its operands start. They are in ascending order, so that fluents come
    /// first.
    pub(super) starts: Vec<u32>,
    pub(super) operands: Vec<Literal>,
    reader_starts: Vec<u32>,
    readers: Vec<u32>,
    /// By role and move: the range of its goals in `goals`. `None` for moves without a formula.
    outputs: Vec<Vec<Option<[u32; 2]>>>,
    /// Goals with their weights.
    goals: Vec<(f64, Literal)>,
}

/// A node, possibly negated: twice the index of the node, plus one if it is negated.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Literal(pub(super) u32);

impl Literal {
    #[inline]
    pub(super) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }
}

pub(super) const NO_NODE: u32 = u32::MAX;

/// Maximum width of conjunctions for [`super::Evaluator`]. Of 6, 12, 24, 64 and more, the example
/// `heuristic_cost` was fastest with 64 on connect four, pentago and small checkers (two to three
/// times as fast as with 6), and no slower than with 6 on breakthrough and nine boards. A step
/// changes many operands of a wide conjunction, and then one node costs less than a tree.
const MAX_WIDTH: usize = 64;

/// Widths that are tried for [`super::BatchEvaluator`], which recomputes everything. Fewer operands
/// are better there, and narrow conjunctions share more of them.
const WIDTHS: [usize; 5] = [2, 4, 8, 16, MAX_WIDTH];
/// Maximum number of operands for which several widths are tried, because building a network takes
/// time.
const MAX_TRIED: usize = 500_000;
/// The cost of a conjunction besides its operands, in operands.
const NODE_COST: usize = 2;

impl Network {
    /// Builds the network of the formulas of all moves, for [`super::Evaluator`].
    pub fn new(heuristics: &ActionHeuristics, logic: Logic) -> Network {
        Network::of_width(heuristics, logic, MAX_WIDTH)
    }

    /// Builds the network for [`super::BatchEvaluator`], with the width of conjunctions that
    /// minimises the cost of computing everything.
    pub fn for_batch(heuristics: &ActionHeuristics, logic: Logic) -> Network {
        let of_width = |width: usize| Network::of_width(heuristics, logic, width);
        let cost = |network: &Network| network.n_operands() + NODE_COST * network.n_nodes();
        if heuristics.formulas.size() > MAX_TRIED {
            return of_width(MAX_WIDTH);
        }
        let all = WIDTHS.into_iter().map(of_width);
        all.min_by_key(cost).expect("there are some widths")
    }

    /// Builds a network with the same logic and width for other formulas, such as those of a later
    /// state of the match.
    #[must_use]
    pub fn rebuilt(&self, heuristics: &ActionHeuristics) -> Network {
        Network::of_width(heuristics, self.logic, self.max_width)
    }

    fn of_width(heuristics: &ActionHeuristics, logic: Logic, max_width: usize) -> Network {
        let formulas = &heuristics.formulas;
        let wanted =
            heuristics.roles.iter().flat_map(|role| role.regressed.iter().flatten().flatten());
        let cone = formulas.cone(wanted.copied());
        let mut network = Network {
            logic,
            max_width,
            node_of_fluent: vec![NO_NODE; formulas.n_fluents()],
            counts: counts(heuristics, logic),
            first_and: 2,
            starts: vec![0],
            operands: Vec::new(),
            reader_starts: Vec::new(),
            readers: Vec::new(),
            outputs: Vec::new(),
            goals: Vec::new(),
        };
        let mut place = vec![NO_NODE; formulas.n_nodes()];
        (place[0], place[1]) = (0, 1);
        let mut branches = BTreeMap::new();
        // Fluents come first in a cone, because their indices are the smallest.
        for &node in cone.iter().filter(|&&node| node > 1) {
            match formulas.shape(Formula::of_node(node)) {
                Shape::Fluent(fluent) => {
                    place[node] = network.first_and as u32;
                    network.node_of_fluent[fluent] = place[node];
                    network.first_and += 1;
                }
                Shape::And(operands) => {
                    let literals: Vec<Literal> =
                        operands.iter().map(|&operand| literal(operand, &place)).collect();
                    let parts = network.branches(&literals, max_width, &mut branches);
                    place[node] = network.conjunction(&parts);
                }
                Shape::False | Shape::Unknown => {}
            }
        }
        for role in &heuristics.roles {
            let highest = role.goals.last().copied().unwrap_or(100).max(1) as f64;
            let weights: Vec<f64> = (role.goals.iter())
                .map(|&value| match heuristics.extent.aim {
                    Aim::Reach | Aim::ReachAtEnd => (value as f64 / highest).clamp(0.0, 1.0),
                    Aim::AvoidWorst => 1.0,
                })
                .collect();
            let mut outputs = Vec::with_capacity(role.regressed.len());
            for regressed in &role.regressed {
                outputs.push(regressed.as_ref().map(|regressed| {
                    let start = network.goals.len() as u32;
                    let goals = weights.iter().zip(regressed);
                    network.goals.extend(
                        goals.map(|(&weight, &formula)| (weight, literal(formula, &place))),
                    );
                    [start, network.goals.len() as u32]
                }));
            }
            network.outputs.push(outputs);
        }
        let n_nodes = network.first_and + network.starts.len() - 1;
        network.find_readers(n_nodes);
        network
    }

    /// Adds a conjunction of these literals.
    fn conjunction(&mut self, literals: &[Literal]) -> u32 {
        let node = self.first_and + self.starts.len() - 1;
        self.operands.extend_from_slice(literals);
        self.starts.push(self.operands.len() as u32);
        node as u32
    }

    /// Returns the operands of a conjunction of all these literals, which are sorted. If it is
    /// wide, its branches become nodes.
    ///
    /// The list is split where the highest differing bit of the literals changes. Conjunctions that
    /// differ in few operands therefore share all but a few branches, and the regressed goals of a
    /// role's moves are like that. A product of products is the same product.
    fn branches(
        &mut self,
        literals: &[Literal],
        max_width: usize,
        known: &mut BTreeMap<Vec<Literal>, u32>,
    ) -> Vec<Literal> {
        if literals.len() <= max_width {
            return literals.to_vec();
        }
        let (first, last) = (literals[0].0, literals[literals.len() - 1].0);
        let bit = (first ^ last).ilog2();
        let half = literals.partition_point(|literal| literal.0 >> bit == first >> bit);
        [&literals[..half], &literals[half..]]
            .map(|part| self.branch(part, max_width, known))
            .to_vec()
    }

    fn branch(
        &mut self,
        literals: &[Literal],
        max_width: usize,
        known: &mut BTreeMap<Vec<Literal>, u32>,
    ) -> Literal {
        if let [only] = literals {
            return *only;
        }
        let parts = self.branches(literals, max_width, known);
        let node = match known.get(&parts) {
            Some(&node) => node,
            None => {
                let node = self.conjunction(&parts);
                known.insert(parts, node);
                node
            }
        };
        Literal(node << 1)
    }

    fn find_readers(&mut self, n_nodes: usize) {
        let mut starts = vec![0_u32; n_nodes + 1];
        for operand in &self.operands {
            starts[operand.node() + 1] += 1;
        }
        for node in 0..n_nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        self.readers = vec![0; self.operands.len()];
        for and in 0..self.starts.len() - 1 {
            for operand in &self.operands[self.starts[and] as usize..self.starts[and + 1] as usize]
            {
                let place = &mut next[operand.node()];
                self.readers[*place as usize] = (self.first_and + and) as u32;
                *place += 1;
            }
        }
        self.reader_starts = starts;
    }

    /// Returns the number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.reader_starts.len() - 1
    }

    /// Returns the number of operands of all nodes.
    pub fn n_operands(&self) -> usize {
        self.operands.len()
    }

    /// Returns whether a move has a formula.
    pub fn knows(&self, role: Role, move_idx: usize) -> bool {
        self.outputs[role.index()].get(move_idx).is_some_and(Option::is_some)
    }

    /// Returns the number of roles.
    pub fn n_roles(&self) -> usize {
        self.outputs.len()
    }

    /// Returns, by move of a role, the range of its goals. `None` for moves without a formula.
    pub(super) fn outputs_of(&self, role: Role) -> &[Option<[u32; 2]>] {
        &self.outputs[role.index()]
    }

    /// Returns the goals of a move with their weights. `None` if the move has no formula.
    #[inline]
    pub(super) fn goals_of(&self, role: Role, move_idx: usize) -> Option<&[(f64, Literal)]> {
        let place = (*self.outputs[role.index()].get(move_idx)?)?;
        Some(self.goals_at(place))
    }

    /// Returns a range of goals with their weights.
    #[inline]
    pub(super) fn goals_at(&self, [start, end]: [u32; 2]) -> &[(f64, Literal)] {
        &self.goals[start as usize..end as usize]
    }

    /// Returns the operands of a conjunction.
    #[inline]
    pub(super) fn operands_of(&self, node: usize) -> &[Literal] {
        let and = node - self.first_and;
        &self.operands[self.starts[and] as usize..self.starts[and + 1] as usize]
    }

    #[inline]
    pub(super) fn readers_of(&self, node: usize) -> &[u32] {
        &self.readers[self.reader_starts[node] as usize..self.reader_starts[node + 1] as usize]
    }
}

fn literal(formula: Formula, place: &[u32]) -> Literal {
    Literal(place[formula.node()] << 1 | u32::from(formula.is_negated()))
}

/// Returns, by fluent, its value if it does not hold, and if it holds. Permanent values are 0 and 1
/// (Trutman 2015, 3.5.1).
fn counts(heuristics: &ActionHeuristics, logic: Logic) -> Vec<[f64; 2]> {
    let knowledge = &heuristics.knowledge;
    let of = |fluent| {
        let failing = if knowledge.stays_false(fluent) { 0.0 } else { logic.failing() };
        let holding = if knowledge.stays_true(fluent) { 1.0 } else { logic.holding() };
        [failing, holding]
    };
    (0..heuristics.formulas.n_fluents()).map(of).collect()
}

/// Values that differ by less than this part of the largest one count as equal, unless another
/// threshold is asked for.
pub const EQUAL_BELOW: f64 = 0.001;

/// Scales values to the range from 0 for the smallest to 1 for the largest. Equal values become 0.
/// Trutman 2015, table 3.1, scales to 50 instead. Values that differ by less than [`EQUAL_BELOW`]
/// are equal.
pub fn normalise(values: &mut [f64]) {
    normalise_above(values, EQUAL_BELOW);
}

/// Like [`normalise`], with another threshold. Values that differ by less than the part `threshold`
/// of the largest one count as equal: scaling would turn noise into certainty.
pub fn normalise_above(values: &mut [f64], threshold: f64) {
    // Four at a time, so that comparisons do not wait for each other.
    let (mut least, mut most) = ([f64::INFINITY; 4], [f64::NEG_INFINITY; 4]);
    let (fours, rest) = values.as_chunks::<4>();
    let mut look = |at: usize, value: f64| {
        least[at] = if value < least[at] { value } else { least[at] };
        most[at] = if value > most[at] { value } else { most[at] };
    };
    for four in fours {
        (0..4).for_each(|at| look(at, four[at]));
    }
    rest.iter().enumerate().for_each(|(at, &value)| look(at, value));
    let (least, most) = (
        least.into_iter().fold(f64::INFINITY, f64::min),
        most.into_iter().fold(f64::NEG_INFINITY, f64::max),
    );
    let range = most - least;
    if range > threshold * most.abs() && range > 0.0 {
        values.iter_mut().for_each(|value| *value = (*value - least) / range);
    } else {
        values.fill(0.0);
    }
}

#[cfg(test)]
impl super::formula::Formulas {
    /// Returns the value of a formula for given values of the fluents. This is the slow reference
    /// implementation.
    pub(super) fn fuzzy_value(
        &self,
        formula: Formula,
        logic: Logic,
        count: &dyn Fn(usize) -> f64,
    ) -> f64 {
        let cone = self.cone([formula]);
        let mut values = vec![0.0; cone.len()];
        let read = |values: &[f64], literal: Formula| {
            let value =
                values[cone.binary_search(&literal.node()).expect("operands are in the cone")];
            if literal.is_negated() { 1.0 - value } else { value }
        };
        for (at, &node) in cone.iter().enumerate() {
            values[at] = match self.shape(Formula::of_node(node)) {
                Shape::False => 0.0,
                Shape::Unknown => UNKNOWN,
                Shape::Fluent(fluent) => count(fluent),
                Shape::And(operands) => {
                    logic.and(operands.iter().map(|&operand| read(&values, operand)))
                }
            };
        }
        read(&values, formula)
    }
}
