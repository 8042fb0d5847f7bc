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
    /// What fluents write.
    quarters: Vec<Quarters>,
    /// By move that counts as much as its only goal does: the place of that. Nowhere for other moves.
    plain: Vec<u32>,
    /// By move: where its goals are among all. None for moves that nothing is said of.
    outputs: Vec<Option<[u32; 2]>>,
    /// Goals: weights and places.
    goals: Vec<(f64, u32)>,
}

/// Where a fluent is written to, itself and its negation, and what: by number among [`Program::quarters`].
#[derive(Copy, Clone)]
struct FluentPlaces {
    places: [u32; 2],
    quarters: [u32; 2],
}

/// What a literal counts in four lanes, by which of them a fluent holds in: fluents differ little in what they count, and a quarter of the lanes
/// is written at once.
type Quarters = [[f64; 4]; 16];

/// What a place is called that there is not.
const NOWHERE: u32 = u32::MAX;

#[derive(Clone)]
struct Standing {
    values: Vec<Wide>,
    /// By word of a state.
    seen: Vec<Seen>,
}

/// One word of the states in all lanes as they were last told, and the bits that have changed in any of them since they were followed.
#[derive(Copy, Clone)]
struct Seen {
    words: [u64; Wide::LANES],
    changed: u64,
    /// The bits that are read, and those that have not been looked at yet.
    counting: u64,
}

impl Seen {
    const NOTHING: Seen = Seen { words: [0; Wide::LANES], changed: 0, counting: !0 };
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

    /// Puts a state in a lane, for one role: words of 64 bits, the lowest first. To be followed by [`Abreast::follow`].
    #[inline]
    pub fn put(&mut self, role: Role, lane: usize, state: &[u64]) {
        let seen = &mut self.standing[role.index()].seen;
        if seen.len() < state.len() {
            seen.resize(state.len(), Seen::NOTHING);
        }
        for (seen, &word) in seen.iter_mut().zip(state) {
            seen.changed |= seen.words[lane] ^ word;
            seen.words[lane] = word;
        }
    }

    /// Takes over what was put in lanes: the fluent of each bit is what `fluent_of` says. What bits mean must be the same every time, for
    /// only those are looked at that have changed.
    #[inline]
    pub fn follow(&mut self, role: Role, fluent_of: impl Fn(usize) -> Option<usize>) {
        let program = &self.programs[role.index()];
        let Standing { values, seen } = &mut self.standing[role.index()];
        for (at, seen) in seen.iter_mut().enumerate() {
            let mut changed = std::mem::take(&mut seen.changed) & seen.counting;
            if changed == 0 {
                continue;
            }
            let holding = turned(&seen.words);
            while changed != 0 {
                let bit = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                match fluent_of(64 * at + bit).and_then(|fluent| program.fluents.get(fluent)) {
                    Some(fluent) if fluent.places != [NOWHERE; 2] => {
                        fluent.write(values, &program.quarters, holding[bit]);
                    }
                    _ => seen.counting &= !(1 << bit),
                }
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
        let value =
            |&(weight, place): &(f64, u32)| weight * self.values[place as usize].0[self.lane];
        if let [only] = goals {
            return Some(value(only));
        }
        // At least one of them: not none.
        Some(1.0 - goals.iter().fold(1.0, |none, goal| none * (1.0 - value(goal))))
    }
}

impl FluentPlaces {
    /// Writes what counts in all lanes, where it holds in these.
    #[inline]
    fn write(&self, values: &mut [Wide], quarters: &[Quarters], holding: u16) {
        for (place, number) in self.places.into_iter().zip(self.quarters) {
            if place == NOWHERE {
                continue;
            }
            let quarter = &quarters[number as usize];
            let (lanes, _) = values[place as usize].0.as_chunks_mut::<4>();
            for (at, four) in lanes.iter_mut().enumerate() {
                *four = quarter[usize::from(holding >> (4 * at)) % 16];
            }
        }
    }
}

/// A matrix of bits turned over: bit `j` of word `i` becomes bit `i` of word `j`.
fn turned(words: &[u64; Wide::LANES]) -> [u16; 64] {
    let mut holding = [0; 64];
    for (part, holding) in holding.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        // 16 rows of 16 bits, four to a word, and rounds of swapping blocks (Warren, "Hacker's Delight", 7-3).
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

impl Standing {
    fn new(program: &Program) -> Standing {
        let mut values = vec![Wide::all(0.0); program.products.n_places()];
        for (place, &given) in values.iter_mut().zip(&program.given) {
            *place = Wide::all(given);
        }
        program.fluents.iter().for_each(|fluent| fluent.write(&mut values, &program.quarters, 0));
        Standing { values, seen: Vec::new() }
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
                network
                    .operands_of(node)
                    .iter()
                    .for_each(|operand| is_read[operand.0 as usize] = true);
            }
        }
        let (mut place, given) = givens(network, &is_read);
        let (fluents, quarters) = fluent_places(network, &place);
        let due = schedule(network, &is_read);
        let mut products = Products::new(given.len());
        let mut factors: Vec<u32> = Vec::new();
        for run in
            due.chunk_by(|a, b| (a.level, a.missing, a.width) == (b.level, b.missing, b.width))
        {
            factors.clear();
            for due in run {
                let node = (due.literal >> 1) as usize;
                if is_twin(&is_read, due.literal) {
                    factors.push(place[2 * node]);
                } else if network.operands_of(node).is_empty() {
                    // The conjunction of nothing is true, and so is not false.
                    factors.push(place[1]);
                } else {
                    factors.extend(
                        network.operands_of(node).iter().map(|operand| place[operand.0 as usize]),
                    );
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
        Program { products, given, fluents, quarters, plain, outputs, goals }
    }
}

/// Places for what is not worked out: by literal its place, and what is in these places.
fn givens(network: &Network, is_read: &[bool]) -> (Vec<u32>, Vec<f64>) {
    let mut place = vec![NOWHERE; is_read.len()];
    // Never and always, then the unknown, which is its own opposite.
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

/// By fluent where it is written to, and all that fluents write.
fn fluent_places(network: &Network, place: &[u32]) -> (Vec<FluentPlaces>, Vec<Quarters>) {
    let mut quarters: Vec<Quarters> = Vec::new();
    let mut number = |[fails, holds]: [f64; 2]| {
        let wanted: Quarters = std::array::from_fn(|holding| {
            std::array::from_fn(|lane| if holding >> lane & 1 == 1 { holds } else { fails })
        });
        let at = quarters.iter().position(|known| *known == wanted).unwrap_or(quarters.len());
        if at == quarters.len() {
            quarters.push(wanted);
        }
        at as u32
    };
    let fluents =
        network.node_of_fluent.iter().zip(&network.counts).map(|(&node, &counts)| FluentPlaces {
            places: match node {
                NO_NODE => [NOWHERE; 2],
                node => [place[2 * node as usize], place[2 * node as usize + 1]],
            },
            quarters: [number(counts), number(counts.map(|count| 1.0 - count))],
        });
    let fluents = fluents.collect();
    (fluents, quarters)
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
