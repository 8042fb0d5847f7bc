//! The evaluation applied to states.

use std::any::Any;
use std::sync::Arc;

use agon_circuit::{Circuit, ScalarCircuit};
use agon_datalog::{Limits, TermId};
use agon_game::{Notation, Position as _};
use agon_gdl::interpreter::{Asker, Interpreter};

use super::{Degree, Fuzzy, Node, NodeId, Several, Side, Towards};

/// A state as a judge sees it.
#[derive(Copy, Clone, Debug)]
pub enum Seen<'a> {
    /// The fluents that hold, as numbers of the base bits of the circuit that the evaluation was made with.
    Bits(&'a [u32]),
    /// The fluents that hold, as terms.
    Terms(&'a [TermId]),
}

/// By base bit of a circuit: the number of the fluent, if the evaluation knows of it.
type FluentOfBit = Arc<[Option<u32>]>;

/// Applies an evaluation to one state after another. A part of the tree is worked out once for a state, and only if
/// something depends on it.
pub struct FuzzyJudge {
    fuzzy: Arc<Fuzzy>,
    asker: Option<Asker>,
    /// By fluent: the number of the last state in which it held.
    held: Vec<u32>,
    /// By node: the number of the state for which its value was worked out, and the value.
    values: Vec<(u32, Degree)>,
    state: u32,
    /// The fluents that hold, as terms: for the reasoner.
    terms: Vec<TermId>,
    is_told: bool,
    /// By node of the formulas: the number of the state for which it was worked out, and whether it holds there.
    crisp: Vec<(u32, bool)>,
    /// Room for the bits of a state.
    bits: Vec<u32>,
    /// The circuit that was looked at last, with the fluents that its bits are.
    circuit: Option<(Arc<Circuit>, FluentOfBit)>,
}

impl FuzzyJudge {
    /// A judge who stands at the initial state.
    pub fn new(fuzzy: &Arc<Fuzzy>) -> FuzzyJudge {
        let limits = Limits { steps: fuzzy.options.max_steps, ..Limits::default() };
        let mut judge = FuzzyJudge {
            asker: fuzzy.inquiry.as_ref().map(|inquiry| Asker::new(inquiry, limits)),
            held: vec![0; fuzzy.theory.fluents().len()],
            values: vec![(0, Degree::FALSE); fuzzy.tree.len()],
            state: 0,
            terms: Vec::new(),
            is_told: false,
            crisp: vec![(0, false); fuzzy.crisp.tree.len()],
            bits: Vec::new(),
            circuit: None,
            fuzzy: Arc::clone(fuzzy),
        };
        let initial = fuzzy.game.initial_fluents();
        judge.look(Seen::Terms(initial));
        judge
    }

    /// The evaluation.
    pub fn fuzzy(&self) -> &Arc<Fuzzy> {
        &self.fuzzy
    }

    /// Turns to a state.
    pub fn look(&mut self, seen: Seen<'_>) {
        if self.state == u32::MAX {
            self.held.fill(0);
            self.values.fill((0, Degree::FALSE));
            self.crisp.fill((0, false));
            self.state = 0;
        }
        self.state += 1;
        self.terms.clear();
        self.is_told = false;
        match seen {
            Seen::Bits(bits) => {
                let fluents = self.fuzzy.theory.fluents();
                for &bit in bits {
                    self.held[bit as usize] = self.state;
                    self.terms.push(fluents[bit as usize]);
                }
            }
            // A fluent that is not known of occurs in no tree; only the reasoner cares.
            Seen::Terms(terms) => {
                for &term in terms {
                    if let Some(fluent) = self.fuzzy.theory.fluent(term) {
                        self.held[fluent] = self.state;
                    }
                }
                self.terms.extend_from_slice(terms);
            }
        }
    }

    /// Turns to the state of a position of the same game, whatever engine plays it.
    pub fn look_at<P: Notation + 'static>(&mut self, position: &P) {
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
            self.look(Seen::Bits(&bits));
            self.bits = bits;
        } else if let Some(interpreter) = any.downcast_ref::<Interpreter>() {
            self.look(Seen::Terms(interpreter.state().fluents()));
        } else {
            let texts = position.state_text();
            let terms: Vec<TermId> =
                texts.iter().filter_map(|text| self.fuzzy.game.parse(text)).collect();
            self.look(Seen::Terms(&terms));
        }
    }

    /// By base bit of a circuit, which need not be made of the same rules as long as it tells its bits in the same words: the number of
    /// the fluent.
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

    /// What the state is worth to a role: the mean of its goal values, each weighted by how true its condition is.
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

    /// How true a part of the tree is here.
    pub fn truth(&mut self, node: NodeId) -> f64 {
        self.degree(node).truth
    }

    /// How true and how false a part of the tree is here.
    pub fn degree(&mut self, node: NodeId) -> Degree {
        let (state, value) = self.values[node.index()];
        if state == self.state {
            return value;
        }
        let fuzzy = Arc::clone(&self.fuzzy);
        let value = self.work_out(&fuzzy, node);
        self.values[node.index()] = (self.state, value);
        value
    }

    /// How many solutions a counted part has here. `None` if it is none, or could not be counted.
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

    /// Whether a fluent, by its number, holds here.
    pub fn holds(&self, fluent: usize) -> bool {
        self.held[fluent] == self.state
    }

    /// How many solutions a query has here, if they can be counted.
    fn count(&mut self, query: usize) -> Option<usize> {
        let fuzzy = Arc::clone(&self.fuzzy);
        if let Some(solutions) = &fuzzy.crisp.solutions[query] {
            return Some(solutions.iter().filter(|&&formula| self.is_so(&fuzzy, formula)).count());
        }
        self.tell();
        self.asker.as_mut()?.count(query).ok()
    }

    /// Whether a query has a solution here.
    fn is_solvable(&mut self, query: usize) -> bool {
        let fuzzy = Arc::clone(&self.fuzzy);
        if let Some(solutions) = &fuzzy.crisp.solutions[query] {
            return solutions.iter().any(|&formula| self.is_so(&fuzzy, formula));
        }
        self.tell();
        self.asker.as_mut().is_some_and(|asker| asker.holds(query).unwrap_or(false))
    }

    /// Whether a formula holds here.
    fn is_so(&mut self, fuzzy: &Fuzzy, formula: NodeId) -> bool {
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
            Node::Not(child) => !self.is_so(fuzzy, *child),
            Node::And(children) => children.iter().all(|&child| self.is_so(fuzzy, child)),
            Node::Or(children) => children.iter().any(|&child| self.is_so(fuzzy, child)),
            Node::Query(_) | Node::Order(_) | Node::Between(_) => {
                unreachable!("formulas with these are left to the reasoner")
            }
        };
        self.crisp[formula.index()] = (self.state, value);
        value
    }

    /// Tells the reasoner where we are.
    fn tell(&mut self) {
        if !self.is_told
            && let Some(asker) = &mut self.asker
        {
            asker.go_to(&self.terms);
            self.is_told = true;
        }
    }

    fn work_out(&mut self, fuzzy: &Fuzzy, node: NodeId) -> Degree {
        let logic = &fuzzy.options.logic;
        if let Some(towards) = fuzzy.towards.get(&node) {
            return Degree::of(self.distance(fuzzy, node, towards));
        }
        let truth = match fuzzy.tree.get(node) {
            Node::Constant(value) => f64::from(u8::from(*value)),
            Node::Fluent(fluent) => {
                let holds = self.holds(*fluent as usize);
                match (holds, fuzzy.persistent[*fluent as usize]) {
                    (true, (true, _)) => 1.0,
                    (false, (_, true)) => 0.0,
                    (holds, _) => logic.fuzzy(holds),
                }
            }
            Node::Pattern(number) => {
                let members = &fuzzy.patterns[*number as usize].fluents;
                let n_true = members.iter().filter(|&&fluent| self.holds(fluent)).count();
                if n_true == 0 && members.iter().all(|&fluent| fuzzy.persistent[fluent].1) {
                    return Degree::FALSE;
                }
                match fuzzy.options.features.cardinality {
                    true => logic.generalised_or(n_true, members.len()),
                    false => logic.fuzzy(n_true > 0),
                }
            }
            Node::Query(number) => {
                let n_true = match fuzzy.options.features.cardinality {
                    true => self.count(*number as usize).unwrap_or(0),
                    false => return Degree::of(logic.fuzzy(self.is_solvable(*number as usize))),
                };
                let known = fuzzy.queries[*number as usize].n_instances;
                logic.generalised_or(n_true, known.unwrap_or(UNKNOWN_INSTANCES))
            }
            Node::Order(number) => {
                let order = &fuzzy.orders[*number as usize];
                let rank = |side: &Side| match side {
                    Side::Constant(rank) => Some(*rank as f64),
                    Side::Fluents(members) => members
                        .iter()
                        .find(|(fluent, _)| self.holds(*fluent))
                        .map(|&(_, rank)| rank as f64),
                };
                match (rank(&order.sides[0]), rank(&order.sides[1])) {
                    (Some(a), Some(b)) => 0.5 + (a - b) / (2.0 * order.size as f64),
                    (None, _) | (_, None) => logic.fuzzy(false),
                }
            }
            Node::Between(number) => {
                let between = &fuzzy.betweens[*number as usize];
                let mut distances = Vec::new();
                for (a, at_a) in
                    between.ends[0].fluents.iter().filter(|(fluent, _)| self.holds(*fluent))
                {
                    for (b, at_b) in
                        between.ends[1].fluents.iter().filter(|(fluent, _)| self.holds(*fluent))
                    {
                        if a != b {
                            distances.push(between.distance(at_a, at_b));
                        }
                    }
                }
                closeness(&distances, fuzzy.options.several, logic.fuzzy(false))
            }
            Node::Not(child) => return !self.degree(*child),
            Node::And(children) => {
                let mut value = Degree::TRUE;
                for &child in children {
                    value = logic.and(value, self.degree(child));
                    if value.truth == 0.0 {
                        break;
                    }
                }
                return value;
            }
            Node::Or(children) => {
                let mut value = Degree::FALSE;
                for &child in children {
                    value = logic.or(value, self.degree(child));
                    if value.falsity == 0.0 {
                        break;
                    }
                }
                return value;
            }
        };
        Degree::of(truth)
    }

    fn distance(&self, fuzzy: &Fuzzy, node: NodeId, towards: &Towards) -> f64 {
        let logic = &fuzzy.options.logic;
        if let Node::Fluent(fluent) = fuzzy.tree.get(node) {
            match (self.holds(*fluent as usize), fuzzy.persistent[*fluent as usize]) {
                (true, (true, _)) => return 1.0,
                (false, (_, true)) => return 0.0,
                _ => {}
            }
        }
        let there = towards.fluents.iter().filter(|(fluent, _)| self.holds(*fluent));
        let distances: Vec<Option<f64>> = there.map(|&(_, distance)| distance).collect();
        if distances.is_empty() && !towards.is_only_moved {
            return logic.fuzzy(false);
        }
        closeness(&distances, fuzzy.options.several, logic.fuzzy(false))
    }
}

/// Solutions of an expression of which nobody knows how many there can be.
const UNKNOWN_INSTANCES: usize = 100;

/// What distances are worth together. Infinite ones, and none at all, are worth nothing; a finite one is worth no less
/// than what does not hold.
fn closeness(distances: &[Option<f64>], several: Several, least: f64) -> f64 {
    let closeness =
        |distance: Option<f64>| distance.map_or(0.0, |distance| (1.0 - distance).max(least));
    let all = distances.iter().map(|&distance| closeness(distance));
    match several {
        Several::Nearest => all.fold(0.0, f64::max),
        Several::Mean if distances.is_empty() => 0.0,
        Several::Mean => all.sum::<f64>() / distances.len() as f64,
    }
}
