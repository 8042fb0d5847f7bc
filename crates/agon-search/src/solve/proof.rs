//! Proof-number search: decides whether a player can guarantee a payoff.
//!
//! The search is depth-first (df-pn; Nagai 2002) with a bounded table. Where many paths lead to the
//! same position, sums would count the same work several times. So proof numbers are combined by
//! the maximum plus the number of open siblings (weak proof numbers; Ueda et al. 2008).

use std::sync::Arc;

use agon_game::{Position, Role};

use super::graph::payoffs;
use super::{Endgames, UnsolvedReason};
use crate::Meter;
use crate::choices::Choices;
use crate::hash::{Map, fold};

/// The claim that a player can guarantee a payoff.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Claim {
    /// The player.
    pub(super) player: Role,
    /// The payoff.
    pub(super) payoff: f64,
    /// How the guaranteed payoff compares with `payoff`.
    pub(super) threshold: Threshold,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Threshold {
    AtLeast,
    MoreThan,
}

impl Claim {
    fn holds(&self, payoffs: &[f64]) -> bool {
        let payoff = payoffs[self.player.index()];
        match self.threshold {
            Threshold::AtLeast => payoff >= self.payoff,
            Threshold::MoreThan => payoff > self.payoff,
        }
    }

    /// Returns the key of the table entry for a position and this claim.
    fn key(&self, position_key: u64) -> u64 {
        let which =
            (self.player.index() as u64) << 1 | u64::from(self.threshold == Threshold::MoreThan);
        fold(fold(position_key, self.payoff.to_bits()), which)
    }
}

/// The reason why a claim was not decided.
#[derive(Debug, PartialEq)]
pub(super) enum Stop {
    /// The game does not suit this search: positions repeat, players move at the same time, nature
    /// moves, or the payoffs do not add up to a constant.
    Unsuitable,
    /// Another reason.
    Reason(UnsolvedReason),
}

/// A prover of claims. It keeps its results.
pub(super) struct Prover {
    table: ProofTable,
    /// The keys on the path to the current position, to detect repeating positions.
    path: Map<u64, ()>,
    /// Positions whose payoffs are known.
    endgames: Option<Arc<Endgames>>,
    /// By role: the payoffs at all terminal positions that were seen, sorted.
    pub(super) seen: Vec<Vec<f64>>,
    /// The sum of the payoffs.
    pub(super) sum: Option<f64>,
}

/// The proof number and the disproof number.
type Numbers = (u32, u32);

const INFINITE: u32 = u32::MAX;
const PROVED: Numbers = (0, INFINITE);
const DISPROVED: Numbers = (INFINITE, 0);

/// Maximum depth, which keeps the stack small. No game that can be solved is deeper.
const MAX_PLY: u32 = 2000;

impl Prover {
    pub(super) fn new(n_roles: usize, max_bytes: usize, endgames: Option<Arc<Endgames>>) -> Prover {
        Prover {
            table: ProofTable::new(max_bytes),
            path: Map::default(),
            endgames,
            seen: vec![Vec::new(); n_roles],
            sum: None,
        }
    }

    /// Records the payoffs at a terminal position and returns them.
    pub(super) fn record_end<P: Position>(&mut self, position: &P) -> Result<Vec<f64>, Stop> {
        if let Some(fault) = position.fault() {
            return Err(Stop::Reason(UnsolvedReason::Fault(fault.to_string())));
        }
        self.record(payoffs(position))
    }

    /// Returns the payoffs of perfect play at a position, and records them, if they are known.
    fn look_up<P: Position>(&mut self, position: &P) -> Result<Option<Vec<f64>>, Stop> {
        let known = self.endgames.as_ref().and_then(|table| table.payoffs::<P>(position.state()));
        let known = known.map(<[f64]>::to_vec);
        known.map(|payoffs| self.record(payoffs)).transpose()
    }

    /// Records payoffs and returns them.
    fn record(&mut self, payoffs: Vec<f64>) -> Result<Vec<f64>, Stop> {
        let sum = payoffs.iter().sum();
        if *self.sum.get_or_insert(sum) != sum {
            return Err(Stop::Unsuitable);
        }
        for (seen, &payoff) in self.seen.iter_mut().zip(&payoffs) {
            if let Err(index) = seen.binary_search_by(|other| other.total_cmp(&payoff)) {
                seen.insert(index, payoff);
            }
        }
        Ok(payoffs)
    }

    /// Decides a claim at the current position.
    pub(super) fn prove<P: Position>(
        &mut self,
        position: &mut P,
        claim: &Claim,
        meter: &mut Meter<'_>,
    ) -> Result<bool, Stop> {
        self.path.clear();
        if position.is_terminal() {
            return Ok(claim.holds(&self.record_end(position)?));
        }
        loop {
            let (proof, disproof) = self.search(position, claim, (INFINITE, INFINITE), 0, meter)?;
            if proof == 0 || disproof == 0 {
                return Ok(proof == 0);
            }
        }
    }

    /// Returns the decision of a claim at the current position, if the table still has it.
    pub(super) fn recall<P: Position>(&self, position: &P, claim: &Claim) -> Option<bool> {
        let (proof, disproof) = self.table.get(claim.key(position.key()))?;
        (proof == 0 || disproof == 0).then_some(proof == 0)
    }

    /// Searches the current position until its numbers reach the limits, and returns the numbers.
    /// The position is unchanged afterwards.
    fn search<P: Position>(
        &mut self,
        position: &mut P,
        claim: &Claim,
        limits: Numbers,
        ply: u32,
        meter: &mut Meter<'_>,
    ) -> Result<Numbers, Stop> {
        let key = position.key();
        let here = position.state().clone();
        self.path.insert(key, ());
        let (children, is_ours) = self.expand(position, claim, meter)?;
        if ply >= MAX_PLY {
            return Err(Stop::Unsuitable);
        }
        let work_before = meter.n_nodes;
        let numbers = loop {
            let mut sum = Sum::new(is_ours);
            for (index, child) in children.iter().enumerate() {
                let numbers = child.answer.or_else(|| self.table.get(child.key)).unwrap_or((1, 1));
                sum.add(index, numbers);
            }
            let numbers = sum.numbers();
            if numbers.0 == 0 || numbers.1 == 0 || numbers.0 >= limits.0 || numbers.1 >= limits.1 {
                break numbers;
            }
            if meter.is_over(64) {
                return Err(Stop::Reason(UnsolvedReason::Budget));
            }
            let child = &children[sum.best];
            let child_limits = sum.limits(limits);
            position.go_to(&child.state);
            self.search(position, claim, child_limits, ply + 1, meter)?;
        };
        self.table.put(claim.key(key), numbers, meter.n_nodes - work_before);
        self.path.remove(&key);
        position.go_to(&here);
        Ok(numbers)
    }

    /// Returns the children of the current position, and whether the player of the claim chooses
    /// among them.
    fn expand<P: Position>(
        &mut self,
        position: &mut P,
        claim: &Claim,
        meter: &mut Meter<'_>,
    ) -> Result<Children<P::State>, Stop> {
        let mut choosers = position.choosers();
        let chooser = choosers.next();
        if choosers.next().is_some()
            || chooser.is_some_and(|role| Some(role) == position.shape().nature)
        {
            return Err(Stop::Unsuitable);
        }
        drop(choosers);
        let choices = Choices::at(position);
        let mut joint = choices.first_joint();
        let role = chooser.unwrap_or(claim.player);
        let here = position.state().clone();
        let mut children = Vec::with_capacity(choices.count(role));
        let is_ours = role == claim.player;
        for (index, m) in choices.of(role).iter().enumerate() {
            joint[role.index()] = m.clone();
            if index > 0 {
                position.go_to(&here);
            }
            position.advance(&joint);
            meter.n_nodes += 1;
            let position_key = position.key();
            let mut answer = None;
            if position.is_terminal() {
                let holds = claim.holds(&self.record_end(position)?);
                answer = Some(if holds { PROVED } else { DISPROVED });
            } else if self.path.contains_key(&position_key) {
                return Err(Stop::Unsuitable);
            } else if let Some(payoffs) = self.look_up(position)? {
                answer = Some(if claim.holds(&payoffs) { PROVED } else { DISPROVED });
            }
            let decides = answer.is_some_and(|(proof, _)| (proof == 0) == is_ours);
            children.push(Child {
                state: position.state().clone(),
                key: claim.key(position_key),
                answer,
            });
            if decides {
                break;
            }
        }
        Ok((children, is_ours))
    }
}

/// The children of a position, and whether the player of the claim chooses among them.
type Children<S> = (Vec<Child<S>>, bool);

struct Child<S> {
    state: S,
    /// The key of its entry in the table.
    key: u64,
    /// The final numbers, if play has ended there or its payoffs are known.
    answer: Option<Numbers>,
}

/// The combined numbers of the children of a position. The side that chooses needs one child
/// (`easy`: the minimum). The other side needs all of them (`hard`: the maximum plus one for each
/// other open child).
struct Sum {
    is_ours: bool,
    best: usize,
    easy: u32,
    second_easy: u32,
    /// The hard number of the best child.
    best_hard: u32,
    hard: u32,
    n_open: u32,
}

impl Sum {
    fn new(is_ours: bool) -> Sum {
        Sum {
            is_ours,
            best: 0,
            easy: INFINITE,
            second_easy: INFINITE,
            best_hard: 0,
            hard: 0,
            n_open: 0,
        }
    }

    fn add(&mut self, index: usize, (proof, disproof): Numbers) {
        let (easy, hard) = if self.is_ours { (proof, disproof) } else { (disproof, proof) };
        self.hard = self.hard.max(hard);
        self.n_open += u32::from(hard > 0);
        // Of equally easy children, the one that is harder to refute is searched.
        if easy < self.easy || (easy == self.easy && hard > self.best_hard) {
            self.second_easy = self.easy;
            (self.easy, self.best, self.best_hard) = (easy, index, hard);
        } else {
            self.second_easy = self.second_easy.min(easy);
        }
    }

    fn numbers(&self) -> Numbers {
        let hard = match self.hard {
            0 | INFINITE => self.hard,
            hard => hard.saturating_add(self.n_open - 1).min(INFINITE - 1),
        };
        if self.is_ours { (self.easy, hard) } else { (hard, self.easy) }
    }

    /// Returns the limits for the best child, beyond which another child may be better.
    fn limits(&self, (proof, disproof): Numbers) -> Numbers {
        let (easy_limit, hard_limit) =
            if self.is_ours { (proof, disproof) } else { (disproof, proof) };
        // A quarter more than needed, so that two equal children do not alternate (the 1 + epsilon
        // trick of Pawlewicz & Lew 2007).
        let second_limit = self.second_easy.saturating_add(self.second_easy / 4).saturating_add(1);
        let easy = easy_limit.min(second_limit);
        let hard = if hard_limit == INFINITE {
            INFINITE
        } else {
            hard_limit.saturating_sub(self.n_open - 1)
        };
        let hard = hard.max(self.best_hard.saturating_add(1));
        if self.is_ours { (easy, hard) } else { (hard, easy) }
    }
}

/// A bounded table of numbers by key. It grows up to its limit. Then entries that took more work
/// are kept.
struct ProofTable {
    slots: Vec<Slot>,
    mask: u64,
    n_used: usize,
    max_slots: usize,
}

#[derive(Copy, Clone, Default)]
struct Slot {
    key: u64,
    numbers: Numbers,
    work: u32,
}

/// Number of slots of a bucket.
const BUCKET: u64 = 4;
/// Number of slots of a new table.
const FIRST_SLOTS: usize = 1 << 14;

impl ProofTable {
    fn new(max_bytes: usize) -> ProofTable {
        let fits = (max_bytes / size_of::<Slot>()).max(FIRST_SLOTS);
        ProofTable {
            slots: vec![Slot::default(); FIRST_SLOTS],
            mask: FIRST_SLOTS as u64 - 1,
            n_used: 0,
            max_slots: 1 << fits.ilog2(),
        }
    }

    /// Doubles the size of the table.
    fn grow(&mut self) {
        let n_slots = self.slots.len() * 2;
        let before = std::mem::replace(&mut self.slots, vec![Slot::default(); n_slots]);
        self.mask = n_slots as u64 - 1;
        self.n_used = 0;
        for slot in before.into_iter().filter(|slot| slot.work > 0) {
            self.put(slot.key, slot.numbers, slot.work.into());
        }
    }

    fn bucket(&self, key: u64) -> std::ops::Range<usize> {
        let first = key & self.mask & !(BUCKET - 1);
        first as usize..(first + BUCKET) as usize
    }

    fn get(&self, key: u64) -> Option<Numbers> {
        let slots = &self.slots[self.bucket(key)];
        slots.iter().find(|slot| slot.key == key && slot.work > 0).map(|slot| slot.numbers)
    }

    fn put(&mut self, key: u64, numbers: Numbers, work: u64) {
        if self.n_used * 2 > self.slots.len() && self.slots.len() < self.max_slots {
            self.grow();
        }
        let range = self.bucket(key);
        let slots = &mut self.slots[range];
        let work = work.clamp(1, u64::from(u32::MAX)) as u32;
        let slot = slots.iter().position(|slot| slot.key == key && slot.work > 0);
        let index = slot.unwrap_or_else(|| {
            (0..slots.len()).min_by_key(|&i| slots[i].work).expect("a bucket has slots")
        });
        let before = if slot.is_some() { slots[index].work } else { 0 };
        self.n_used += usize::from(slots[index].work == 0);
        slots[index] = Slot { key, numbers, work: work.saturating_add(before) };
    }
}
