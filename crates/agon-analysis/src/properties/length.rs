//! How long play can last: step counters, and progress that cannot be undone.

use agon_circuit::{Circuit, Signal};

use super::{Fluent, Group, Known, Plays};
use crate::prove::{Answer, Prover};

/// How long play can last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// Fluents of which the next one holds after each step, whatever is done: by counter, in the order of time. Proved.
    pub counters: Vec<Vec<usize>>,
    /// Steps after which play has ended, with the reason.
    pub bound: Option<(u64, Bound)>,
    /// Steps of the longest play that was seen.
    pub longest_seen: u64,
}

/// Why play ends. Proved.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// A counter, by its place in the list, comes to where play ends.
    Counter(usize),
    /// Each step changes a fluent for ever.
    Progress,
}

/// Places of a counter that are asked one by one whether play ends there.
const MAX_ASKED: usize = 400;

pub(super) fn find(
    circuit: Option<&Circuit>,
    fluents: &[Fluent],
    groups: &[Group],
    plays: &Plays,
    prover: Option<&mut Prover<'_>>,
) -> Length {
    let longest = plays.plays.iter().map(|play| play.len() as u64 - 1).max().unwrap_or(0);
    let mut length = Length { longest_seen: longest, ..Length::default() };
    let Some(circuit) = circuit else { return length };
    length.counters = counters(circuit);
    let Some(prover) = prover else { return length };
    let terminal = prover.now(circuit.outputs.terminal);
    for (number, counter) in length.counters.iter().enumerate() {
        let asked = counter.iter().enumerate().skip(counter.len().saturating_sub(MAX_ASKED));
        let end = asked
            .filter(|&(_, &bit)| {
                let token = prover.base(bit);
                prover.ask(&[token, !terminal]) == Answer::Impossible
            })
            .map(|(place, _)| place as u64)
            .next();
        if let Some(end) = end {
            shorten(&mut length.bound, end, Bound::Counter(number));
        }
    }
    if let Some(steps) = progress(fluents, groups, prover) {
        shorten(&mut length.bound, steps, Bound::Progress);
    }
    length
}

fn shorten(bound: &mut Option<(u64, Bound)>, steps: u64, why: Bound) {
    if bound.is_none_or(|(known, _)| steps < known) {
        *bound = Some((steps, why));
    }
}

/// Chains of bits each of which takes over the value of the one before.
fn counters(circuit: &Circuit) -> Vec<Vec<usize>> {
    let n_base = circuit.base.len();
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); n_base];
    let mut begins = vec![false; n_base];
    for (bit, &next) in circuit.outputs.next.iter().enumerate() {
        let is_base = !next.is_inverted() && (1..=n_base).contains(&next.gate());
        if is_base {
            after[next.gate() - 1].push(bit);
        }
        begins[bit] = next == Signal::FALSE && circuit.initial[bit];
    }
    let mut found = Vec::new();
    for first in (0..n_base).filter(|&bit| begins[bit]) {
        // Several bits may take over the value of one; then each way is a counter, and the first will do.
        let mut chain = vec![first];
        while let Some(&next) = after[chain[chain.len() - 1]].first() {
            if circuit.initial[next] || chain.len() > n_base {
                break;
            }
            chain.push(next);
        }
        if chain.len() > 1 {
            found.push(chain);
        }
    }
    found
}

/// A number of steps within which everything that changes for ever has changed, if each step changes something so.
fn progress(fluents: &[Fluent], groups: &[Group], prover: &mut Prover<'_>) -> Option<u64> {
    let is_proved = |known: Option<Known>| known.is_some_and(Known::is_proved);
    let gains: Vec<usize> = (0..fluents.len())
        .filter(|&bit| is_proved(fluents[bit].persistent_true) && !fluents[bit].is_initial)
        .collect();
    let losses: Vec<usize> = (0..fluents.len())
        .filter(|&bit| is_proved(fluents[bit].persistent_false) && fluents[bit].is_initial)
        .collect();
    let mut asked = |gains: &[usize], losses: &[usize]| {
        if gains.is_empty() && losses.is_empty() {
            return false;
        }
        let is_still = prover.fresh();
        for &bit in gains {
            let (now, next) = (prover.base(bit), prover.next(bit));
            prover.clause(&[!is_still, now, !next]);
        }
        for &bit in losses {
            let (now, next) = (prover.base(bit), prover.next(bit));
            prover.clause(&[!is_still, !now, next]);
        }
        prover.ask(&[prover.step(), is_still]) == Answer::Impossible
    };
    // Of fluents that exclude each other and stay, only one ever comes.
    let mut n_gains = 0;
    let mut left: std::collections::BTreeSet<usize> = gains.iter().copied().collect();
    for group in groups.iter().filter(|group| group.at_most_one.is_proved()) {
        let own: Vec<usize> =
            group.fluents.iter().copied().filter(|bit| left.contains(bit)).collect();
        if own.len() > 1 {
            own.iter().for_each(|bit| {
                left.remove(bit);
            });
            n_gains += 1;
        }
    }
    n_gains += left.len() as u64;
    let n_losses = losses.len() as u64;
    let mut best: Option<u64> = None;
    if asked(&[], &losses) {
        best = Some(n_losses);
    }
    if asked(&gains, &[]) {
        best = Some(best.map_or(n_gains, |known| known.min(n_gains)));
    }
    if best.is_none() && asked(&gains, &losses) {
        best = Some(n_gains + n_losses);
    }
    best
}
