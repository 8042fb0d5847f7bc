//! A network standing at several states side by side: everything that a role's moves depend on is worked out anew for all of them,
//! without looking what has changed. With many states at once that takes less than to keep track of changes.

use std::sync::Arc;

use agon_circuit::{Backend, Products, Wide};
use agon_game::Role;

use super::network::{Literal, Logic, NO_NODE, Network, UNKNOWN};

/// Networks with more places than this are not taken: 64 MB for each role.
const MAX_PLACES: usize = 1 << 19;

/// A network standing at several states side by side, each in a lane of its own; for each role the states that it was last asked about.
#[derive(Clone)]
pub struct Abreast {
    programs: Arc<Vec<Program>>,
    /// By role.
    standing: Vec<Standing>,
    backend: Backend,
}

/// The part of a network that the moves of one role depend on, as products.
struct Program {
    products: Products,
    /// What is known beforehand, in the first places.
    given: Vec<f64>,
    /// By fluent.
    fluents: Vec<FluentPlaces>,
    /// By move that counts as much as its only goal does: the place of that. Nowhere for other moves.
    plain: Vec<u32>,
    /// By move: where its goals are among all. None for moves that nothing is said of.
    outputs: Vec<Option<[u32; 2]>>,
    /// Goals: weights and places.
    goals: Vec<(f64, u32)>,
}

/// Where a fluent is written to, itself and its negation, and what it counts if it fails and if it holds.
#[derive(Copy, Clone)]
struct FluentPlaces {
    places: [u32; 2],
    counts: [f64; 2],
}

/// What a place is called that there is not.
const NOWHERE: u32 = u32::MAX;

#[derive(Clone)]
struct Standing {
    values: Vec<Wide>,
    /// By lane: the words of the state as they were last told.
    seen: [Vec<u64>; Wide::LANES],
}

impl Abreast {
    /// How many states there are side by side.
    pub const LANES: usize = Wide::LANES;

    /// At states in which no fluent holds. None for networks that are too large, and for logics other than that of products.
    pub fn new(network: &Network) -> Option<Abreast> {
        let Logic::Product { .. } = network.logic else { return None };
        let n_roles = network.n_roles();
        let programs: Vec<Program> =
            (0..n_roles).map(|role| Program::new(network, Role::new(role))).collect();
        if programs.iter().any(|program| program.products.n_places() > MAX_PLACES) {
            return None;
        }
        let standing = programs.iter().map(Standing::new).collect();
        Some(Abreast { programs: Arc::new(programs), standing, backend: Backend::Native })
    }

    /// The same, by a given backend: for comparison.
    #[must_use]
    pub fn with_backend(self, backend: Backend) -> Abreast {
        Abreast { backend, ..self }
    }

    /// How many factors are multiplied for the moves of a role, whatever they are.
    pub fn n_factors(&self, role: Role) -> usize {
        self.programs[role.index()].products.n_factors()
    }

    /// Puts a state in a lane, for one role: words of 64 bits, the lowest first, the fluent of each bit being what `fluent_of` says. What
    /// they mean must be the same every time, for only what has changed in the lane is looked at.
    #[inline]
    pub fn go_to(
        &mut self,
        role: Role,
        lane: usize,
        state: &[u64],
        fluent_of: impl Fn(usize) -> Option<usize>,
    ) {
        let program = &self.programs[role.index()];
        let Standing { values, seen } = &mut self.standing[role.index()];
        let seen = &mut seen[lane];
        seen.resize(state.len(), 0);
        for (at, (&word, seen)) in state.iter().zip(seen).enumerate() {
            let mut changed = std::mem::replace(seen, word) ^ word;
            while changed != 0 {
                let bit = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                let Some(fluent) = fluent_of(64 * at + bit) else { continue };
                let Some(fluent) = program.fluents.get(fluent) else { continue };
                fluent.write(values, lane, word >> bit & 1 == 1);
            }
        }
    }

    /// Works out what the moves of a role are worth in the first lanes.
    pub fn work_out(&mut self, role: Role, n_lanes: usize) {
        let values = &mut self.standing[role.index()].values;
        self.programs[role.index()].products.work_out(values, n_lanes, self.backend);
    }

    /// What was worked out for a role in a lane.
    #[inline]
    pub fn lane(&self, role: Role, lane: usize) -> Lane<'_> {
        let (program, values) = (&self.programs[role.index()], &self.standing[role.index()].values);
        Lane { program, values, lane }
    }
}

/// What was worked out in one lane, for one role.
#[derive(Copy, Clone)]
pub struct Lane<'a> {
    program: &'a Program,
    values: &'a [Wide],
    lane: usize,
}

impl Lane<'_> {
    /// How near the goals a move is, from 0 to 1; `None` if nothing is said of it.
    #[inline]
    pub fn value(&self, move_idx: usize) -> Option<f64> {
        let place = *self.program.plain.get(move_idx)?;
        match self.values.get(place as usize) {
            Some(value) => Some(value.0[self.lane]),
            None => self.weighed(move_idx),
        }
    }

    /// The same for moves of which not just one goal counts, or not all of that.
    fn weighed(&self, move_idx: usize) -> Option<f64> {
        let [start, end] = (*self.program.outputs.get(move_idx)?)?;
        let goals = &self.program.goals[start as usize..end as usize];
        let value = |&(weight, place): &(f64, u32)| weight * self.values[place as usize].0[self.lane];
        if let [only] = goals {
            return Some(value(only));
        }
        // At least one of them: not none.
        Some(1.0 - goals.iter().fold(1.0, |none, goal| none * (1.0 - value(goal))))
    }
}

impl FluentPlaces {
    #[inline]
    fn write(&self, values: &mut [Wide], lane: usize, holds: bool) {
        let count = self.counts[usize::from(holds)];
        for (place, count) in self.places.into_iter().zip([count, 1.0 - count]) {
            if place != NOWHERE {
                values[place as usize].0[lane] = count;
            }
        }
    }
}

impl Standing {
    fn new(program: &Program) -> Standing {
        let mut values = vec![Wide::all(0.0); program.products.n_places()];
        for (place, &given) in values.iter_mut().zip(&program.given) {
            *place = Wide::all(given);
        }
        for fluent in &program.fluents {
            (0..Wide::LANES).for_each(|lane| fluent.write(&mut values, lane, false));
        }
        Standing { values, seen: std::array::from_fn(|_| Vec::new()) }
    }
}

/// A product on its way into a program.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    /// What is read comes from lower levels.
    level: u32,
    missing: bool,
    width: u32,
    /// The literal that it makes.
    literal: u32,
}

impl Program {
    fn new(network: &Network, role: Role) -> Program {
        let n_literals = 2 * network.n_nodes();
        let outputs = network.outputs_of(role);
        // Which literals are read, found from the outputs down: operands have lower numbers.
        let mut is_read = vec![false; n_literals];
        for &(_, literal) in outputs.iter().flatten().flat_map(|goals| network.goals_at(*goals)) {
            is_read[literal.0 as usize] = true;
        }
        for node in (network.first_and..network.n_nodes()).rev() {
            if is_read[2 * node] || is_read[2 * node + 1] {
                network.operands_of(node).iter().for_each(|operand| is_read[operand.0 as usize] = true);
            }
        }
        let (mut place, given, fluents) = givens(network, &is_read);
        let due = schedule(network, &is_read);
        let mut products = Products::new(given.len());
        let mut factors: Vec<u32> = Vec::new();
        for run in due.chunk_by(|a, b| (a.level, a.missing, a.width) == (b.level, b.missing, b.width)) {
            factors.clear();
            for due in run {
                let node = (due.literal >> 1) as usize;
                if is_twin(&is_read, due.literal) {
                    factors.push(place[2 * node]);
                } else if network.operands_of(node).is_empty() {
                    // The conjunction of nothing is true, and so is not false.
                    factors.push(place[1]);
                } else {
                    factors.extend(network.operands_of(node).iter().map(|operand| place[operand.0 as usize]));
                }
            }
            let first = products.push_run(run[0].width as usize, &factors, run[0].missing);
            (first..).zip(run).for_each(|(at, due)| place[due.literal as usize] = at as u32);
        }
        let mut goals = Vec::new();
        let outputs = outputs.iter().map(|known| {
            known.map(|known| {
                let start = goals.len() as u32;
                goals.extend(
                    network.goals_at(known).iter().map(|&(weight, goal)| (weight, place[goal.0 as usize])),
                );
                [start, goals.len() as u32]
            })
        });
        let outputs: Vec<Option<[u32; 2]>> = outputs.collect();
        let plain = outputs.iter().map(|known| {
            match known.map(|[start, end]| &goals[start as usize..end as usize]) {
                Some(&[(weight, place)]) if weight == 1.0 => place,
                _ => NOWHERE,
            }
        });
        let plain = plain.collect();
        Program { products, given, fluents, plain, outputs, goals }
    }
}

/// Places for what is not worked out: by literal its place, what is in these places, and where fluents are written to.
fn givens(network: &Network, is_read: &[bool]) -> (Vec<u32>, Vec<f64>, Vec<FluentPlaces>) {
    let mut place = vec![NOWHERE; is_read.len()];
    // Never and always, then the unknown, which is its own opposite.
    let mut given = vec![0.0, 1.0, UNKNOWN];
    (place[0], place[1], place[2], place[3]) = (0, 1, 2, 2);
    let mut give = |literal: usize| {
        if is_read[literal] {
            place[literal] = given.len() as u32;
            given.push(0.0);
        }
        place[literal]
    };
    let fluents = network.node_of_fluent.iter().zip(&network.counts).map(|(&node, &counts)| {
        let places = if node == NO_NODE {
            [NOWHERE; 2]
        } else {
            [2 * node as usize, 2 * node as usize + 1].map(&mut give)
        };
        FluentPlaces { places, counts }
    });
    let fluents = fluents.collect();
    (place, given, fluents)
}

/// Whether a literal is the negation of a conjunction that is read itself, too: it is made from that.
fn is_twin(is_read: &[bool], literal: u32) -> bool {
    literal & 1 == 1 && is_read[literal as usize - 1]
}

/// The conjunctions that are read, and the negations of conjunctions, level by level, those alike together.
fn schedule(network: &Network, is_read: &[bool]) -> Vec<Due> {
    let mut levels = vec![0_u32; is_read.len()];
    let mut due = Vec::new();
    for node in network.first_and..network.n_nodes() {
        let operands = network.operands_of(node);
        let level = |operand: &Literal| levels[operand.0 as usize];
        let level = 1 + operands.iter().map(level).max().unwrap_or(0);
        let width = operands.len().max(1) as u32;
        for literal in [2 * node as u32, 2 * node as u32 + 1] {
            if is_read[literal as usize] {
                let is_twin = is_twin(is_read, literal);
                let (level, width) = if is_twin { (level + 1, 1) } else { (level, width) };
                levels[literal as usize] = level;
                due.push(Due { level, missing: literal & 1 == 1, width, literal });
            }
        }
    }
    due.sort_unstable();
    due
}
