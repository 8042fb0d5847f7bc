//! The evaluation of states.

use std::any::Any;
use std::sync::Arc;

use agon_circuit::{Circuit, ScalarCircuit};
use agon_datalog::{Limits, TermId};
use agon_game::{Notation, Position as _};
use agon_gdl::interpreter::{Interpreter, QueryEngine};

use super::{
    ComparisonSide, Degree, DistanceAggregation, FuzzyEvaluation, Node, NodeId, OrderComparison,
    PairDistance, Pattern, TargetDistance,
};

/// A state, given by the fluents that hold.
#[derive(Copy, Clone, Debug)]
pub enum FluentSet<'a> {
    /// The numbers of the fluents that hold: the base bits of the circuit that the evaluation was
    /// built with.
    Bits(&'a [u32]),
    /// The terms of the fluents that hold.
    Terms(&'a [TermId]),
}

/// By base bit of a circuit: the number of the fluent, if the evaluation knows the fluent.
type FluentOfBit = Arc<[Option<u32>]>;

/// Applies a [`FuzzyEvaluation`] to one state after another. Each part of a tree is evaluated at
/// most once for a state, and only if another part or the caller needs it.
pub struct FuzzyEvaluator {
    fuzzy: Arc<FuzzyEvaluation>,
    engine: Option<QueryEngine>,
    /// By fluent: the number of the last state in which it held.
    held: Vec<u32>,
    /// By node: the number of the state for which its value was computed, and the value.
    values: Vec<(u32, Degree)>,
    state: u32,
    /// The terms of the fluents that hold, for the reasoner.
    terms: Vec<TermId>,
    /// Whether the reasoner has been given the current state.
    is_engine_current: bool,
    /// By node of the compiled formulas: the number of the state for which it was computed, and
    /// whether it holds there.
    crisp: Vec<(u32, bool)>,
    /// Buffer for the bits of a state.
    bits: Vec<u32>,
    /// The circuit of the last position, with the fluents of its bits.
    circuit: Option<(Arc<Circuit>, FluentOfBit)>,
}

impl FuzzyEvaluator {
    /// Creates an evaluator, positioned at the initial state.
    pub fn new(fuzzy: &Arc<FuzzyEvaluation>) -> FuzzyEvaluator {
        let limits = Limits { steps: fuzzy.options.max_steps, ..Limits::default() };
        let mut evaluator = FuzzyEvaluator {
            engine: fuzzy.inquiry.as_ref().map(|inquiry| QueryEngine::new(inquiry, limits)),
            held: vec![0; fuzzy.theory.fluents().len()],
            values: vec![(0, Degree::FALSE); fuzzy.tree.len()],
            state: 0,
            terms: Vec::new(),
            is_engine_current: false,
            crisp: vec![(0, false); fuzzy.crisp.tree.len()],
            bits: Vec::new(),
            circuit: None,
            fuzzy: Arc::clone(fuzzy),
        };
        let initial = fuzzy.game.initial_fluents();
        evaluator.set_fluents(FluentSet::Terms(initial));
        evaluator
    }

    /// Returns the evaluation function.
    pub fn fuzzy(&self) -> &Arc<FuzzyEvaluation> {
        &self.fuzzy
    }

    /// Moves to the state in which exactly these fluents hold.
    pub fn set_fluents(&mut self, seen: FluentSet<'_>) {
        if self.state == u32::MAX {
            self.held.fill(0);
            self.values.fill((0, Degree::FALSE));
            self.crisp.fill((0, false));
            self.state = 0;
        }
        self.state += 1;
        self.terms.clear();
        self.is_engine_current = false;
        match seen {
            FluentSet::Bits(bits) => {
                let fluents = self.fuzzy.theory.fluents();
                for &bit in bits {
                    self.held[bit as usize] = self.state;
                    self.terms.push(fluents[bit as usize]);
                }
            }
            // An unknown fluent does not occur in any tree. Only the reasoner needs it.
            FluentSet::Terms(terms) => {
                for &term in terms {
                    if let Some(fluent) = self.fuzzy.theory.fluent(term) {
                        self.held[fluent] = self.state;
                    }
                }
                self.terms.extend_from_slice(terms);
            }
        }
    }

    /// Moves to the state of a position of the same game, played by any engine.
    pub fn set_position<P: Notation + 'static>(&mut self, position: &P) {
        let any: &dyn Any = position;
        if let Some(circuit) = any.downcast_ref::<ScalarCircuit>() {
            let mut bits = std::mem::take(&mut self.bits);
            circuit.features(&mut bits);
            let fluents = self.fluents_of(circuit.circuit());
            bits.retain_mut(|bit| match fluents[*bit as usize] {
                Some(fluent) => {
                    *bit = fluent;
                    true
                }
                None => false,
            });
            self.set_fluents(FluentSet::Bits(&bits));
            self.bits = bits;
        } else if let Some(interpreter) = any.downcast_ref::<Interpreter>() {
            self.set_fluents(FluentSet::Terms(interpreter.state().fluents()));
        } else {
            let texts = position.state_text();
            let terms: Vec<TermId> =
                texts.iter().filter_map(|text| self.fuzzy.game.parse(text)).collect();
            self.set_fluents(FluentSet::Terms(&terms));
        }
    }

    /// Returns the fluents of the base bits of a circuit. The circuit may be built from other
    /// rules, as long as it names its bits by the same texts.
    fn fluents_of(&mut self, circuit: &Arc<Circuit>) -> FluentOfBit {
        if let Some((known, fluents)) = &self.circuit
            && Arc::ptr_eq(known, circuit)
        {
            return Arc::clone(fluents);
        }
        let number = |text: &String| {
            let fluent = self.fuzzy.theory.fluent(self.fuzzy.game.parse(text)?)?;
            u32::try_from(fluent).ok()
        };
        let fluents: FluentOfBit = circuit.base.iter().map(number).collect();
        self.circuit = Some((Arc::clone(circuit), Arc::clone(&fluents)));
        fluents
    }

    /// Returns the value of the state for a role: the mean of its goal values, each weighted by the
    /// truth of its condition.
    pub fn value(&mut self, role: usize) -> f64 {
        let fuzzy = Arc::clone(&self.fuzzy);
        let (mut sum, mut weight) = (0.0, 0.0);
        for &(value, root) in &fuzzy.goals[role] {
            let truth = self.truth(root);
            sum += truth * value as f64;
            weight += truth;
        }
        if weight > 0.0 {
            return sum / weight;
        }
        let n = fuzzy.goals[role].len().max(1) as f64;
        fuzzy.goals[role].iter().map(|&(value, _)| value as f64).sum::<f64>() / n
    }

    /// Returns the truth of a part of the tree in the current state.
    pub fn truth(&mut self, node: NodeId) -> f64 {
        self.degree(node).truth
    }

    /// Returns the degree of a part of the tree in the current state.
    fn degree(&mut self, node: NodeId) -> Degree {
        let (state, value) = self.values[node.index()];
        if state == self.state {
            return value;
        }
        let fuzzy = Arc::clone(&self.fuzzy);
        let value = self.compute(&fuzzy, node);
        self.values[node.index()] = (self.state, value);
        value
    }

    /// Returns the number of solutions of a pattern or query in the current state. `None` for other
    /// nodes, or if the solutions could not be counted.
    pub fn solutions(&mut self, node: NodeId) -> Option<usize> {
        let fuzzy = Arc::clone(&self.fuzzy);
        match fuzzy.tree.get(node) {
            Node::Pattern(number) => {
                let members = &fuzzy.patterns[*number as usize].fluents;
                Some(members.iter().filter(|&&fluent| self.holds(fluent)).count())
            }
            Node::Query(number) => self.count(*number as usize),
            _ => None,
        }
    }

    /// Returns whether a fluent, by its number, holds in the current state.
    pub(crate) fn holds(&self, fluent: usize) -> bool {
        self.held[fluent] == self.state
    }

    /// Returns the number of solutions of a query, if they can be counted.
    fn count(&mut self, query: usize) -> Option<usize> {
        let fuzzy = Arc::clone(&self.fuzzy);
        if let Some(solutions) = &fuzzy.crisp.solutions[query] {
            return Some(
                solutions.iter().filter(|&&formula| self.formula_holds(&fuzzy, formula)).count(),
            );
        }
        self.update_engine();
        self.engine.as_mut()?.count(query).ok()
    }

    /// Returns whether a query has a solution.
    fn is_solvable(&mut self, query: usize) -> bool {
        let fuzzy = Arc::clone(&self.fuzzy);
        if let Some(solutions) = &fuzzy.crisp.solutions[query] {
            return solutions.iter().any(|&formula| self.formula_holds(&fuzzy, formula));
        }
        self.update_engine();
        self.engine.as_mut().is_some_and(|engine| engine.holds(query).unwrap_or(false))
    }

    /// Returns whether a compiled formula holds.
    fn formula_holds(&mut self, fuzzy: &FuzzyEvaluation, formula: NodeId) -> bool {
        let (state, value) = self.crisp[formula.index()];
        if state == self.state {
            return value;
        }
        let value = match fuzzy.crisp.tree.get(formula) {
            Node::Constant(value) => *value,
            Node::Fluent(fluent) => self.holds(*fluent as usize),
            Node::Pattern(number) => fuzzy.crisp.patterns[*number as usize]
                .fluents
                .iter()
                .any(|&fluent| self.holds(fluent)),
            Node::Not(child) => !self.formula_holds(fuzzy, *child),
            Node::And(children) => children.iter().all(|&child| self.formula_holds(fuzzy, child)),
            Node::Or(children) => children.iter().any(|&child| self.formula_holds(fuzzy, child)),
            Node::Query(_) | Node::Order(_) | Node::PairDistance(_) => {
                unreachable!("expressions with such parts are not compiled")
            }
        };
        self.crisp[formula.index()] = (self.state, value);
        value
    }

    /// Moves the reasoner to the current state.
    fn update_engine(&mut self) {
        if !self.is_engine_current
            && let Some(engine) = &mut self.engine
        {
            engine.go_to(&self.terms);
            self.is_engine_current = true;
        }
    }

    /// Computes the degree of a node from the degrees of its children and the state.
    fn compute(&mut self, fuzzy: &FuzzyEvaluation, node: NodeId) -> Degree {
        let logic = &fuzzy.options.logic;
        if let Some(target) = fuzzy.target_distances.get(&node) {
            return Degree::of(self.distance(fuzzy, node, target));
        }
        match fuzzy.tree.get(node) {
            Node::Constant(true) => Degree::TRUE,
            Node::Constant(false) => Degree::FALSE,
            Node::Fluent(fluent) => Degree::of(self.fluent_truth(fuzzy, *fluent as usize)),
            Node::Pattern(number) => self.pattern_degree(fuzzy, &fuzzy.patterns[*number as usize]),
            Node::Query(number) => self.query_degree(fuzzy, *number as usize),
            Node::Order(number) => {
                Degree::of(self.order_truth(fuzzy, &fuzzy.orders[*number as usize]))
            }
            Node::PairDistance(number) => {
                let pair = &fuzzy.pair_distances[*number as usize];
                let distances = self.pair_distances(pair);
                let closeness = Closeness {
                    aggregation: fuzzy.options.aggregation,
                    smallest_step: pair.smallest_step(),
                    least: logic.fuzzy(false),
                    infinite: if pair.is_only_moved { 0.0 } else { logic.fuzzy(false) },
                };
                Degree::of(closeness.of(&distances))
            }
            Node::Not(child) => !self.degree(*child),
            Node::And(children) => {
                let mut value = Degree::TRUE;
                for &child in children {
                    value = logic.and(value, self.degree(child));
                    if value.truth == 0.0 {
                        break;
                    }
                }
                value
            }
            Node::Or(children) => {
                let mut value = Degree::FALSE;
                for &child in children {
                    value = logic.or(value, self.degree(child));
                    if value.falsity == 0.0 {
                        break;
                    }
                }
                value
            }
        }
    }

    fn fluent_truth(&self, fuzzy: &FuzzyEvaluation, fluent: usize) -> f64 {
        self.certain_truth(fuzzy, fluent)
            .unwrap_or_else(|| fuzzy.options.logic.fuzzy(self.holds(fluent)))
    }

    /// Returns the truth of a fluent that is proved not to change any more. `None` if it may
    /// change.
    fn certain_truth(&self, fuzzy: &FuzzyEvaluation, fluent: usize) -> Option<f64> {
        match (self.holds(fluent), fuzzy.persistent[fluent]) {
            (true, (true, _)) => Some(1.0),
            (false, (_, true)) => Some(0.0),
            (true, _) => None,
            (false, _) => self.obstacle(fluent).map(|_| 0.0),
        }
    }

    /// Returns a fluent that holds, stays true for ever, and excludes this one. `None` if there is
    /// none.
    pub(crate) fn obstacle(&self, fluent: usize) -> Option<usize> {
        let excluding = self.fuzzy.excluded_by[fluent].iter();
        excluding.map(|&other| other as usize).find(|&other| self.holds(other))
    }

    fn pattern_degree(&self, fuzzy: &FuzzyEvaluation, pattern: &Pattern) -> Degree {
        let members = &pattern.fluents;
        let n_true = members.iter().filter(|&&fluent| self.holds(fluent)).count();
        let is_over = |&fluent: &usize| self.certain_truth(fuzzy, fluent) == Some(0.0);
        if n_true == 0 && members.iter().all(is_over) {
            return Degree::FALSE;
        }
        match fuzzy.options.features.cardinality {
            true => fuzzy.options.logic.generalised_or(n_true, members.len()),
            false => Degree::of(fuzzy.options.logic.fuzzy(n_true > 0)),
        }
    }

    fn query_degree(&mut self, fuzzy: &FuzzyEvaluation, query: usize) -> Degree {
        let logic = &fuzzy.options.logic;
        if !fuzzy.options.features.cardinality {
            return Degree::of(logic.fuzzy(self.is_solvable(query)));
        }
        let n_true = self.count(query).unwrap_or(0);
        // Where the maximum is unknown, nothing is assumed to be possible beyond what holds. A
        // guess of a hundred instances would make a condition without any solution almost true.
        let n_instances = fuzzy.queries[query].n_instances.unwrap_or(n_true.max(1));
        logic.generalised_or(n_true, n_instances)
    }

    fn order_truth(&self, fuzzy: &FuzzyEvaluation, order: &OrderComparison) -> f64 {
        let rank = |side: &ComparisonSide| match side {
            ComparisonSide::Constant(rank) => Some(*rank as f64),
            ComparisonSide::Fluents(members) => {
                members.iter().find(|(fluent, _)| self.holds(*fluent)).map(|&(_, rank)| rank as f64)
            }
        };
        match (rank(&order.sides[0]), rank(&order.sides[1])) {
            (Some(a), Some(b)) => 0.5 + (a - b) / (2.0 * order.size as f64),
            (None, _) | (_, None) => fuzzy.options.logic.fuzzy(false),
        }
    }

    /// Returns the distances of all pairs of different fluents that hold.
    fn pair_distances(&self, pair: &PairDistance) -> Vec<Option<f64>> {
        let [first, second] = pair
            .ends
            .each_ref()
            .map(|end| end.fluents.iter().filter(|(fluent, _)| self.holds(*fluent)));
        let mut distances = Vec::new();
        for (a, at_a) in first {
            for (b, at_b) in second.clone() {
                if a != b {
                    distances.push(pair.distance(at_a, at_b));
                }
            }
        }
        distances
    }

    /// Returns the truth of a fluent or pattern that is a place to be reached.
    fn distance(&self, fuzzy: &FuzzyEvaluation, node: NodeId, target: &TargetDistance) -> f64 {
        let logic = &fuzzy.options.logic;
        match fuzzy.tree.get(node) {
            Node::Fluent(fluent) => {
                if let Some(certain) = self.certain_truth(fuzzy, *fluent as usize) {
                    return certain;
                }
            }
            Node::Pattern(number) => {
                let members = &fuzzy.patterns[*number as usize].fluents;
                if members.iter().any(|&member| self.certain_truth(fuzzy, member) == Some(1.0)) {
                    return 1.0;
                }
            }
            _ => {}
        }
        let there = target.fluents.iter().filter(|(fluent, _)| self.holds(*fluent));
        let distances: Vec<Option<f64>> = there.map(|&(_, distance)| distance).collect();
        if distances.is_empty() && !target.is_only_moved {
            return logic.fuzzy(false);
        }
        let closeness = Closeness {
            aggregation: fuzzy.options.aggregation,
            smallest_step: target.smallest_step(),
            least: logic.fuzzy(false),
            infinite: 0.0,
        };
        closeness.of(&distances)
    }
}

/// How distances become degrees of truth.
struct Closeness {
    aggregation: DistanceAggregation,
    /// The smallest distance above zero.
    smallest_step: f64,
    /// The least degree of a finite distance: that of a fluent that does not hold.
    least: f64,
    /// The degree of an infinite distance, and of no distance at all.
    infinite: f64,
}

impl Closeness {
    /// Returns the degree of truth that follows from distances. `None` is an infinite distance.
    ///
    /// The paper has `1 - distance`. A distance of zero counts as half a step instead, because the
    /// degree 1 would decide every disjunction although the piece may leave again.
    fn of(&self, distances: &[Option<f64>]) -> f64 {
        let closeness = |distance: &Option<f64>| match distance {
            Some(distance) => (1.0 - distance.max(self.smallest_step / 2.0)).max(self.least),
            None => self.infinite,
        };
        let all = distances.iter().map(closeness);
        match self.aggregation {
            DistanceAggregation::Nearest => all.fold(self.infinite, f64::max),
            DistanceAggregation::Mean if distances.is_empty() => self.infinite,
            DistanceAggregation::Mean => all.sum::<f64>() / distances.len() as f64,
        }
    }
}
