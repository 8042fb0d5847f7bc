//! Factoring: `(a & x) | (a & y)` becomes `a & (x | y)`, the most frequent literal first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::nary::{Nary, Renamed};
use crate::{Builder, Circuit, Deadline, Signal};

/// Factors every disjunction of conjunctions that have no other reader.
///
/// The literal that most of them share is pulled out first. Then the same is done within the group
/// and with the rest. Occurrence lists and a heap with lazy deletion keep the time near `n log n`
/// in the number of literals. All literals that a whole group shares are pulled out together, so no
/// group is visited twice in vain.
pub(crate) fn factor(circuit: &Circuit, deadline: Deadline<'_>) -> Option<Circuit> {
    let nary = Nary::new(circuit);
    nary.rebuild(deadline, |builder, root, renamed| {
        let mut factors = Vec::new();
        let mut cubes = Vec::new();
        for operand in nary.operands(root) {
            match nary.cube(operand) {
                Some(mut cube) => {
                    cube.sort_unstable();
                    cubes.push(Cube { literals: cube, whole: Some(operand) });
                }
                None => factors.push(renamed.of(operand)),
            }
        }
        factors.extend(none_of(builder, cubes, renamed));
        builder.and_all(&factors)
    })
}

/// A conjunction. Invariant: `literals` is sorted.
struct Cube {
    literals: Vec<Signal>,
    /// Its negation in the old circuit, as long as no literal has been pulled out of it.
    whole: Option<Signal>,
}

/// Returns signals whose conjunction says that none of the cubes holds.
fn none_of(builder: &mut Builder, mut cubes: Vec<Cube>, renamed: &Renamed) -> Vec<Signal> {
    let mut factors = Vec::new();
    let mut occurrences: Vec<(Signal, u32)> = Vec::new();
    for (cube_idx, cube) in (0..).zip(&cubes) {
        occurrences.extend(cube.literals.iter().map(|&literal| (literal, cube_idx)));
    }
    occurrences.sort_unstable();
    let runs: Vec<&[(Signal, u32)]> =
        occurrences.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1).collect();
    let run_of = |literal: Signal| runs.binary_search_by_key(&literal, |run| run[0].0).ok();

    let mut n_left: Vec<usize> = runs.iter().map(|run| run.len()).collect();
    let mut heap: BinaryHeap<(usize, Reverse<usize>)> =
        n_left.iter().enumerate().map(|(run, &n)| (n, Reverse(run))).collect();
    let mut is_left = vec![true; cubes.len()];
    while let Some((n, Reverse(run))) = heap.pop() {
        if n_left[run] < 2 {
            continue;
        }
        if n != n_left[run] {
            heap.push((n_left[run], Reverse(run)));
            continue;
        }
        let mut group = Vec::with_capacity(n);
        for &(_, cube_idx) in runs[run] {
            if std::mem::replace(&mut is_left[cube_idx as usize], false) {
                let literals = std::mem::take(&mut cubes[cube_idx as usize].literals);
                literals
                    .iter()
                    .filter_map(|&literal| run_of(literal))
                    .for_each(|run| n_left[run] -= 1);
                group.push(literals);
            }
        }
        factors.push(!group_holds(builder, group, renamed));
    }
    for (cube, is_left) in cubes.iter().zip(is_left) {
        match cube.whole {
            _ if !is_left => {}
            Some(whole) => factors.push(renamed.of(whole)),
            None => factors.push(!builder.and_all(&renamed.all(&cube.literals))),
        }
    }
    factors
}

/// Returns the signal that at least one cube of a group holds, all of which share a literal.
fn group_holds(builder: &mut Builder, group: Vec<Vec<Signal>>, renamed: &Renamed) -> Signal {
    let mut shared = group[0].clone();
    for cube in &group[1..] {
        shared.retain(|literal| cube.binary_search(literal).is_ok());
    }
    let mut factors = renamed.all(&shared);
    let rests: Vec<Cube> = group
        .into_iter()
        .map(|mut literals| {
            literals.retain(|literal| shared.binary_search(literal).is_err());
            Cube { literals, whole: None }
        })
        .collect();
    // If one of the rests is empty, the others add nothing.
    if rests.iter().all(|rest| !rest.literals.is_empty()) {
        let none = none_of(builder, rests, renamed);
        factors.push(!builder.and_all(&none));
    }
    builder.and_all(&factors)
}
