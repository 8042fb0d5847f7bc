//! Proof-number search: can this player make sure of at least so much?
//!
//! Depth-first (df-pn; Nagai 2002), with a bounded table. Where positions are reached in many ways, sums count the same work many
//! times over, so proof numbers are put together by maximum plus number of open siblings (weak proof numbers;
//! Ueda and others, 2008).

use agon_game::{Position, Role};

use super::Why;
use super::graph::payoffs;
use crate::Meter;
use crate::choices::Choices;
use crate::hash::{Map, fold};

/// Whether a player can make sure of something.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// Who.
    pub(super) player: Role,
    /// Of what payoff.
    pub(super) payoff: f64,
    /// Of how much of it.
    pub(super) threshold: Threshold,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Threshold {
    AtLeast,
    MoreThan,
}

impl Question {
    fn holds(&self, payoffs: &[f64]) -> bool {
        let payoff = payoffs[self.player.index()];
        match self.threshold {
            Threshold::AtLeast => payoff >= self.payoff,
            Threshold::MoreThan => payoff > self.payoff,
        }
    }

    /// The key under which a position is kept for this question.
    fn key(&self, position_key: u64) -> u64 {
        let which =
            (self.player.index() as u64) << 1 | u64::from(self.threshold == Threshold::MoreThan);
        fold(fold(position_key, self.payoff.to_bits()), which)
    }
}

/// Why there is no answer.
#[derive(Debug, PartialEq)]
pub(super) enum Stop {
    /// The game is not one for proofs: positions repeat, players move at once, nature moves, or the payoffs do not add up
    /// to a constant.
    NotForProofs,
    /// Something else.
    Why(Why),
}

/// Answers questions, and remembers what it found out.
pub(super) struct Prover {
    table: ProofTable,
    /// The keys on the way to where we are: to see positions repeat.
    path: Map<u64, ()>,
    /// Every payoff of each role at which play was seen to end, sorted.
    pub(super) seen: Vec<Vec<f64>>,
    /// What payoffs add up to.
    pub(super) sum: Option<f64>,
}

/// How hard it is to prove and to disprove: at least so many leaves.
type Numbers = (u32, u32);

const INFINITE: u32 = u32::MAX;
const PROVED: Numbers = (0, INFINITE);
const DISPROVED: Numbers = (INFINITE, 0);

/// Deeper than any game that is worth a proof; keeps the stack small.
const MAX_PLY: u32 = 2000;

impl Prover {
    pub(super) fn new(n_roles: usize, max_bytes: usize) -> Prover {
        Prover {
            table: ProofTable::new(max_bytes),
            path: Map::default(),
            seen: vec![Vec::new(); n_roles],
            sum: None,
        }
    }

    /// Notes what everybody gets where play has ended.
    pub(super) fn note_end<P: Position>(&mut self, position: &P) -> Result<Vec<f64>, Stop> {
        if let Some(fault) = position.fault() {
            return Err(Stop::Why(Why::Fault(fault.to_string())));
        }
        let payoffs = payoffs(position);
        let sum = payoffs.iter().sum();
        if *self.sum.get_or_insert(sum) != sum {
            return Err(Stop::NotForProofs);
        }
        for (seen, &payoff) in self.seen.iter_mut().zip(&payoffs) {
            if let Err(place) = seen.binary_search_by(|other| other.total_cmp(&payoff)) {
                seen.insert(place, payoff);
            }
        }
        Ok(payoffs)
    }

    /// The answer, for the position stood at.
    pub(super) fn ask<P: Position>(
        &mut self,
        position: &mut P,
        question: &Question,
        meter: &mut Meter<'_>,
    ) -> Result<bool, Stop> {
        self.path.clear();
        if position.is_terminal() {
            return Ok(question.holds(&self.note_end(position)?));
        }
        loop {
            let (proof, disproof) =
                self.search(position, question, (INFINITE, INFINITE), 0, meter)?;
            if proof == 0 || disproof == 0 {
                return Ok(proof == 0);
            }
        }
    }

    /// The answer, if it is still known.
    pub(super) fn remembers<P: Position>(&self, position: &P, question: &Question) -> Option<bool> {
        let (proof, disproof) = self.table.get(question.key(position.key()))?;
        (proof == 0 || disproof == 0).then_some(proof == 0)
    }

    /// Works at the position stood at until its numbers reach the limits; returns them and stands there again.
    fn search<P: Position>(
        &mut self,
        position: &mut P,
        question: &Question,
        limits: Numbers,
        ply: u32,
        meter: &mut Meter<'_>,
    ) -> Result<Numbers, Stop> {
        let key = position.key();
        let here = position.state().clone();
        self.path.insert(key, ());
        let (children, is_ours) = self.expand(position, question, meter)?;
        if ply >= MAX_PLY {
            return Err(Stop::NotForProofs);
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
                return Err(Stop::Why(Why::Budget));
            }
            let child = &children[sum.best];
            let child_limits = sum.limits(limits);
            position.go_to(&child.state);
            self.search(position, question, child_limits, ply + 1, meter)?;
        };
        self.table.put(question.key(key), numbers, meter.n_nodes - work_before);
        self.path.remove(&key);
        position.go_to(&here);
        Ok(numbers)
    }

    /// The children of the position stood at, and whether the player of the question chooses among them.
    fn expand<P: Position>(
        &mut self,
        position: &mut P,
        question: &Question,
        meter: &mut Meter<'_>,
    ) -> Result<Family<P::State>, Stop> {
        let mut choosers = position.choosers();
        let chooser = choosers.next();
        if choosers.next().is_some()
            || chooser.is_some_and(|role| Some(role) == position.shape().nature)
        {
            return Err(Stop::NotForProofs);
        }
        drop(choosers);
        let choices = Choices::at(position);
        let mut joint = choices.first_joint();
        let role = chooser.unwrap_or(question.player);
        let here = position.state().clone();
        let mut children = Vec::with_capacity(choices.count(role));
        let is_ours = role == question.player;
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
                let holds = question.holds(&self.note_end(position)?);
                answer = Some(if holds { PROVED } else { DISPROVED });
            } else if self.path.contains_key(&position_key) {
                return Err(Stop::NotForProofs);
            }
            let decides = answer.is_some_and(|(proof, _)| (proof == 0) == is_ours);
            children.push(Child {
                state: position.state().clone(),
                key: question.key(position_key),
                answer,
            });
            if decides {
                break;
            }
        }
        Ok((children, is_ours))
    }
}

/// Children, and whether the player of the question chooses among them.
type Family<S> = (Vec<Child<S>>, bool);

struct Child<S> {
    state: S,
    /// Under which it is in the table.
    key: u64,
    /// Known for good, because play has ended.
    answer: Option<Numbers>,
}

/// Numbers of children being put together. The player who chooses needs one child (`easy`: the least), the other
/// side must deal with all of them (`hard`: the greatest, and one for each other that is open).
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
        // Of children that are equally easy the one that is harder to refute is worked on.
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

    /// How far the best child may be worked on before another may be better.
    fn limits(&self, (proof, disproof): Numbers) -> Numbers {
        let (easy_limit, hard_limit) =
            if self.is_ours { (proof, disproof) } else { (disproof, proof) };
        // A quarter more than needed, so that two equal children do not take turns (the 1 + epsilon trick of Pawlewicz and Lew).
        let patience = self.second_easy.saturating_add(self.second_easy / 4).saturating_add(1);
        let easy = easy_limit.min(patience);
        let hard = if hard_limit == INFINITE {
            INFINITE
        } else {
            hard_limit.saturating_sub(self.n_open - 1)
        };
        let hard = hard.max(self.best_hard.saturating_add(1));
        if self.is_ours { (easy, hard) } else { (hard, easy) }
    }
}

/// A bounded table of numbers by key: it grows as long as it may, then what took the most work stays.
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

const BUCKET: u64 = 4;
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

    /// Makes the table twice as large.
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
