//! Evaluation of a network in several states at once.
//!
//! Everything that the moves of a role depend on is recomputed for all states, without tracking
//! changes. For many states at once this is faster than tracking.

use std::sync::Arc;

use agon_circuit::{Backend, Products, RunKind, Wide};
use agon_game::Role;

use super::network::{Literal, Logic, NO_NODE, Network, UNKNOWN};

/// Maximum number of values of a program: 64 MB for each role. Larger networks are refused.
const MAX_PLACES: usize = 1 << 19;

/// An evaluator of a network in several states at once, one state in each lane. Each role has its
/// own states.
#[derive(Clone)]
pub struct BatchEvaluator {
    programs: Arc<Vec<Program>>,
    /// By role: its states and values.
    states: Vec<RoleState>,
    backend: Backend,
}

/// The part of a network that the moves of one role depend on, as products.
struct Program {
    products: Products,
    /// The constants and initial fluent values, in the first places.
    given: Vec<f64>,
    /// By fluent: the places where its value is written.
    fluents: Vec<FluentPlaces>,
    /// The distinct lane patterns that fluents write.
    patterns: Vec<LanePatterns>,
    /// By move whose value is that of its only goal: the place of that goal. `NOWHERE` for other
    /// moves.
    plain: Vec<u32>,
    /// By move: the range of its goals in `goals`. `None` for moves without a value.
    outputs: Vec<Option<[u32; 2]>>,
    /// Goals: weights and places.
    goals: Vec<(f64, u32)>,
}

/// The places of a fluent and of its negation, and the patterns written there (indices into
/// [`Program::patterns`]).
#[derive(Copy, Clone)]
struct FluentPlaces {
    places: [u32; 2],
    patterns: [u32; 2],
}

/// The values of a literal in four lanes, for each of the 16 sets of lanes in which the fluent
/// holds. Few fluents have distinct values, and a pattern of the lanes is written at once.
type LanePatterns = [[f64; 4]; 16];

/// Marks a missing place.
const NOWHERE: u32 = u32::MAX;

#[derive(Clone)]
struct RoleState {
    values: Vec<Wide>,
    /// By word of a state: its contents in all lanes.
    words_seen: Vec<StateWord>,
}

/// One word of the states in all lanes, and the bits that have changed in some lane since the last
/// update.
#[derive(Copy, Clone)]
struct StateWord {
    words: [u64; Wide::LANES],
    changed: u64,
    /// The bits that the program reads, and those for which this is not yet known.
    counting: u64,
}

impl StateWord {
    const EMPTY: StateWord = StateWord { words: [0; Wide::LANES], changed: 0, counting: !0 };
}

impl BatchEvaluator {
    /// The number of lanes.
    pub const LANES: usize = Wide::LANES;

    /// Creates an evaluator with empty states. Returns `None` for networks that are too large, and
    /// for logics other than [`Logic::Product`].
    pub fn new(network: &Network) -> Option<BatchEvaluator> {
        let Logic::Product { .. } = network.logic else { return None };
        let n_roles = network.n_roles();
        let programs: Vec<Program> =
            (0..n_roles).map(|role| Program::new(network, Role::new(role))).collect();
        if programs.iter().any(|program| program.products.n_places() > MAX_PLACES) {
            return None;
        }
        let states = programs.iter().map(RoleState::new).collect();
        Some(BatchEvaluator { programs: Arc::new(programs), states, backend: Backend::Native })
    }

    /// Selects the backend of the executor. Tests use it to compare backends.
    #[cfg(test)]
    #[must_use]
    pub(super) fn with_backend(self, backend: Backend) -> BatchEvaluator {
        BatchEvaluator { backend, ..self }
    }

    /// Returns the number of factors that are multiplied for the moves of a role.
    pub fn n_factors(&self, role: Role) -> usize {
        self.programs[role.index()].products.n_factors()
    }

    /// Puts a state in a lane, for one role: words of 64 bits, lowest bit first. Must be followed
    /// by [`BatchEvaluator::update_fluents`].
    #[inline]
    pub fn set_state(&mut self, role: Role, lane: usize, state: &[u64]) {
        let words_seen = &mut self.states[role.index()].words_seen;
        if words_seen.len() < state.len() {
            words_seen.resize(state.len(), StateWord::EMPTY);
        }
        for (words_seen, &word) in words_seen.iter_mut().zip(state) {
            words_seen.changed |= words_seen.words[lane] ^ word;
            words_seen.words[lane] = word;
        }
    }

    /// Updates the fluents whose bits have changed. `fluent_of` maps bits to fluents. It must be
    /// the same function on every call, because only changed bits are updated.
    #[inline]
    pub fn update_fluents(&mut self, role: Role, fluent_of: impl Fn(usize) -> Option<usize>) {
        let program = &self.programs[role.index()];
        let RoleState { values, words_seen } = &mut self.states[role.index()];
        for (at, words_seen) in words_seen.iter_mut().enumerate() {
            let mut changed = std::mem::take(&mut words_seen.changed) & words_seen.counting;
            if changed == 0 {
                continue;
            }
            let holding = transposed(&words_seen.words);
            while changed != 0 {
                let bit = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                match fluent_of(64 * at + bit).and_then(|fluent| program.fluents.get(fluent)) {
                    Some(fluent) if fluent.places != [NOWHERE; 2] => {
                        fluent.write(values, &program.patterns, holding[bit]);
                    }
                    _ => words_seen.counting &= !(1 << bit),
                }
            }
        }
    }

    /// Computes the values of the moves of a role in the first `n_lanes` lanes.
    pub fn evaluate(&mut self, role: Role, n_lanes: usize) {
        let values = &mut self.states[role.index()].values;
        self.programs[role.index()].products.compute(values, n_lanes, self.backend);
    }

    /// Returns the values of a role in a lane.
    #[inline]
    pub fn lane(&self, role: Role, lane: usize) -> Lane<'_> {
        let (program, values) = (&self.programs[role.index()], &self.states[role.index()].values);
        Lane { program, values, lane }
    }
}

/// The values of one role in one lane.
#[derive(Copy, Clone)]
pub struct Lane<'a> {
    program: &'a Program,
    values: &'a [Wide],
    lane: usize,
}

impl Lane<'_> {
    /// Returns how close a move brings the role to its goals, from 0 to 1. `None` if the move has
    /// no formula.
    #[inline]
    pub fn value(&self, move_idx: usize) -> Option<f64> {
        let place = *self.program.plain.get(move_idx)?;
        match self.values.get(place as usize) {
            Some(value) => Some(value.0[self.lane]),
            None => self.weighted(move_idx),
        }
    }

    /// Returns the value of a move with several goals or with a weight other than 1.
    fn weighted(&self, move_idx: usize) -> Option<f64> {
        let [start, end] = (*self.program.outputs.get(move_idx)?)?;
        let goals = &self.program.goals[start as usize..end as usize];
        let value =
            |&(weight, place): &(f64, u32)| weight * self.values[place as usize].0[self.lane];
        if let [only] = goals {
            return Some(value(only));
        }
        // A disjunction is the negation of a conjunction of negations.
        Some(1.0 - goals.iter().fold(1.0, |none, goal| none * (1.0 - value(goal))))
    }
}

impl FluentPlaces {
    /// Writes the values in all lanes. `holding` is the set of lanes in which the fluent holds.
    #[inline]
    fn write(&self, values: &mut [Wide], patterns: &[LanePatterns], holding: u16) {
        for (place, number) in self.places.into_iter().zip(self.patterns) {
            if place == NOWHERE {
                continue;
            }
            let pattern = &patterns[number as usize];
            let (lanes, _) = values[place as usize].0.as_chunks_mut::<4>();
            for (at, four) in lanes.iter_mut().enumerate() {
                *four = pattern[usize::from(holding >> (4 * at)) % 16];
            }
        }
    }
}

/// Transposes a matrix of bits: bit `j` of word `i` becomes bit `i` of word `j`.
fn transposed(words: &[u64; Wide::LANES]) -> [u16; 64] {
    let mut holding = [0; 64];
    for (part, holding) in holding.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        // 16 rows of 16 bits, four to a word, transposed by swapping blocks (Warren, "Hacker's
        // Delight", 7-3).
        let mut rows: [u64; 4] = std::array::from_fn(|four| {
            (0..4).fold(0, |rows, at| {
                rows | (words[4 * four + at] >> (16 * part) & 0xffff) << (16 * at)
            })
        });
        for (upper, lower) in [(0, 2), (1, 3)] {
            let swapped = (rows[upper] >> 8 ^ rows[lower]) & 0x00ff_00ff_00ff_00ff;
            rows[upper] ^= swapped << 8;
            rows[lower] ^= swapped;
        }
        for (upper, lower) in [(0, 1), (2, 3)] {
            let swapped = (rows[upper] >> 4 ^ rows[lower]) & 0x0f0f_0f0f_0f0f_0f0f;
            rows[upper] ^= swapped << 4;
            rows[lower] ^= swapped;
        }
        for (four, rows) in rows.iter_mut().enumerate() {
            let swapped = (*rows >> 2 ^ *rows >> 32) & 0x3333_3333;
            *rows ^= swapped << 2 ^ swapped << 32;
            let swapped = (*rows >> 1 ^ *rows >> 16) & 0x0000_5555_0000_5555;
            *rows ^= swapped << 1 ^ swapped << 16;
            (0..4).for_each(|at| holding[4 * four + at] = (*rows >> (16 * at)) as u16);
        }
    }
    holding
}

impl RoleState {
    fn new(program: &Program) -> RoleState {
        let mut values = vec![Wide::all(0.0); program.products.n_places()];
        for (place, &given) in values.iter_mut().zip(&program.given) {
            *place = Wide::all(given);
        }
        program.fluents.iter().for_each(|fluent| fluent.write(&mut values, &program.patterns, 0));
        RoleState { values, words_seen: Vec::new() }
    }
}

/// A product to be added to a program. The order of the fields is the order of execution.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Scheduled {
    /// The level: all operands have lower levels.
    level: u32,
    missing: bool,
    width: u32,
    /// The literal that the product computes.
    literal: u32,
}

impl Program {
    fn new(network: &Network, role: Role) -> Program {
        let n_literals = 2 * network.n_nodes();
        let outputs = network.outputs_of(role);
        // Literals that are read, found from the outputs down. Operands have lower numbers.
        let mut is_read = vec![false; n_literals];
        for &(_, literal) in outputs.iter().flatten().flat_map(|goals| network.goals_at(*goals)) {
            is_read[literal.0 as usize] = true;
        }
        for node in (network.first_and..network.n_nodes()).rev() {
            if is_read[2 * node] || is_read[2 * node + 1] {
                network
                    .operands_of(node)
                    .iter()
                    .for_each(|operand| is_read[operand.0 as usize] = true);
            }
        }
        let (mut place, given) = givens(network, &is_read);
        let (fluents, patterns) = fluent_places(network, &place);
        let scheduled = schedule(network, &is_read);
        let mut products = Products::new(given.len());
        let mut factors: Vec<u32> = Vec::new();
        for run in scheduled
            .chunk_by(|a, b| (a.level, a.missing, a.width) == (b.level, b.missing, b.width))
        {
            factors.clear();
            for scheduled in run {
                let node = (scheduled.literal >> 1) as usize;
                if is_complement(&is_read, scheduled.literal) {
                    factors.push(place[2 * node]);
                } else if network.operands_of(node).is_empty() {
                    // The empty conjunction is true.
                    factors.push(place[1]);
                } else {
                    factors.extend(
                        network.operands_of(node).iter().map(|operand| place[operand.0 as usize]),
                    );
                }
            }
            let kind = if run[0].missing { RunKind::Complement } else { RunKind::Product };
            let first = products.push_run(run[0].width as usize, &factors, kind);
            (first..)
                .zip(run)
                .for_each(|(at, scheduled)| place[scheduled.literal as usize] = at as u32);
        }
        let mut goals = Vec::new();
        let outputs = outputs.iter().map(|known| {
            known.map(|known| {
                let start = goals.len() as u32;
                goals.extend(
                    network
                        .goals_at(known)
                        .iter()
                        .map(|&(weight, goal)| (weight, place[goal.0 as usize])),
                );
                [start, goals.len() as u32]
            })
        });
        let outputs: Vec<Option<[u32; 2]>> = outputs.collect();
        let plain = outputs.iter().map(|known| {
            match known.map(|[start, end]| &goals[start as usize..end as usize]) {
                Some(&[(1.0, place)]) => place,
                _ => NOWHERE,
            }
        });
        let plain = plain.collect();
        Program { products, given, fluents, patterns, plain, outputs, goals }
    }
}

/// Returns the places of constants and fluents: by literal its place, and the initial contents of
/// these places.
fn givens(network: &Network, is_read: &[bool]) -> (Vec<u32>, Vec<f64>) {
    let mut place = vec![NOWHERE; is_read.len()];
    // False, true, and unknown, which is its own negation.
    let mut given = vec![0.0, 1.0, UNKNOWN];
    (place[0], place[1], place[2], place[3]) = (0, 1, 2, 2);
    for &node in network.node_of_fluent.iter().filter(|&&node| node != NO_NODE) {
        for literal in [2 * node as usize, 2 * node as usize + 1] {
            if is_read[literal] {
                place[literal] = given.len() as u32;
                given.push(0.0);
            }
        }
    }
    (place, given)
}

/// Returns the places of each fluent, and the distinct patterns that fluents write.
fn fluent_places(network: &Network, place: &[u32]) -> (Vec<FluentPlaces>, Vec<LanePatterns>) {
    let mut patterns: Vec<LanePatterns> = Vec::new();
    let mut number = |[fails, holds]: [f64; 2]| {
        let wanted: LanePatterns = std::array::from_fn(|holding| {
            std::array::from_fn(|lane| if holding >> lane & 1 == 1 { holds } else { fails })
        });
        let at = patterns.iter().position(|known| *known == wanted).unwrap_or(patterns.len());
        if at == patterns.len() {
            patterns.push(wanted);
        }
        at as u32
    };
    let fluents =
        network.node_of_fluent.iter().zip(&network.counts).map(|(&node, &counts)| FluentPlaces {
            places: match node {
                NO_NODE => [NOWHERE; 2],
                node => [place[2 * node as usize], place[2 * node as usize + 1]],
            },
            patterns: [number(counts), number(counts.map(|count| 1.0 - count))],
        });
    let fluents = fluents.collect();
    (fluents, patterns)
}

/// Returns whether a literal is the negation of a conjunction that is read too. It is then computed
/// from the conjunction.
fn is_complement(is_read: &[bool], literal: u32) -> bool {
    literal & 1 == 1 && is_read[literal as usize - 1]
}

/// Returns the conjunctions and negated conjunctions that are read, by level, with those of the
/// same kind adjacent.
fn schedule(network: &Network, is_read: &[bool]) -> Vec<Scheduled> {
    let mut levels = vec![0_u32; is_read.len()];
    let mut scheduled = Vec::new();
    for node in network.first_and..network.n_nodes() {
        let operands = network.operands_of(node);
        let level = |operand: &Literal| levels[operand.0 as usize];
        let level = 1 + operands.iter().map(level).max().unwrap_or(0);
        let width = operands.len().max(1) as u32;
        for literal in [2 * node as u32, 2 * node as u32 + 1] {
            if is_read[literal as usize] {
                let is_complement = is_complement(is_read, literal);
                let (level, width) = if is_complement { (level + 1, 1) } else { (level, width) };
                levels[literal as usize] = level;
                scheduled.push(Scheduled { level, missing: literal & 1 == 1, width, literal });
            }
        }
    }
    scheduled.sort_unstable();
    scheduled
}
