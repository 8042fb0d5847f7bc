//! Bounds on the length of play: step counters, and irreversible progress.

use agon_circuit::{Circuit, Signal};

use super::{Fluent, Group, Known, Plays};
use crate::prove::{Answer, Prover};

/// The length of play.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// The step counters, each as its fluents in the order of time. After each step the next one
    /// holds, whatever the moves are. This is proved.
    pub counters: Vec<Vec<usize>>,
    /// The maximum number of steps of a play, with the reason.
    pub bound: Option<(u64, Bound)>,
    /// The number of steps of the longest random play.
    pub longest_seen: u64,
}

/// The reason for a bound on the length of play. It is proved.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// The counter with this index reaches a value at which the state is terminal.
    Counter(usize),
    /// Each step changes some fluent for ever.
    Progress,
}

/// Maximum number of counter values for which a proof that the state is terminal is tried.
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

/// Returns the chains of bits in which each bit takes over the value of the one before.
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
        // Several bits may take over the value of one. Each way is a counter, and the first one
        // suffices.
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

/// Returns the number of irreversible changes, if it is proved that each step makes one.
fn progress(fluents: &[Fluent], groups: &[Group], prover: &mut Prover<'_>) -> Option<u64> {
    let is_proved = |known: Option<Known>| known.is_some_and(Known::is_proved);
    let gains: Vec<usize> = (0..fluents.len())
        .filter(|&bit| is_proved(fluents[bit].persistent_true) && !fluents[bit].is_initial)
        .collect();
    let losses: Vec<usize> = (0..fluents.len())
        .filter(|&bit| is_proved(fluents[bit].persistent_false) && fluents[bit].is_initial)
        .collect();
    let mut is_progress_proved = |gains: &[usize], losses: &[usize]| {
        if gains.is_empty() && losses.is_empty() {
            return false;
        }
        let has_no_progress = prover.fresh();
        for &bit in gains {
            let (now, next) = (prover.base(bit), prover.next(bit));
            prover.clause(&[!has_no_progress, now, !next]);
        }
        for &bit in losses {
            let (now, next) = (prover.base(bit), prover.next(bit));
            prover.clause(&[!has_no_progress, !now, next]);
        }
        prover.ask(&[prover.step(), has_no_progress]) == Answer::Impossible
    };
    // Only one fluent of an exclusive group can become true for ever.
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
    if is_progress_proved(&[], &losses) {
        best = Some(n_losses);
    }
    if is_progress_proved(&gains, &[]) {
        best = Some(best.map_or(n_gains, |known| known.min(n_gains)));
    }
    if best.is_none() && is_progress_proved(&gains, &losses) {
        best = Some(n_gains + n_losses);
    }
    best
}
