//! Neural networks in integers of 16 bits, as searches use them.
//!
//! All sums are exact, so the sum of a child is that of its parent plus the rows of the facts that
//! changed, in any order and with vectors of any width. The instructions that the processor has are
//! chosen at run time; the portable code gives the same bits.

use fearless_simd::{Level, dispatch};

use crate::network::for_each_bit;
use crate::neural::Neural;
use crate::units::holds;

/// Hidden units come in groups of this size, which fills the widest vectors.
const GROUP: usize = 32;
/// Maximum absolute value of the sum of a hidden unit, before rounding of weights.
const MAX_SUM: f64 = 32_000.0;
/// Maximum absolute value of the sum of the output.
const MAX_OUTPUT: f64 = 2.0e9;
/// Largest scale of the first layer: more bits than that do not matter.
const MAX_SCALE: f64 = 8192.0;

/// The weights of one output in integers.
///
/// Invariants: the sum of the absolute values of all weights and the bias of a hidden unit is at
/// most `i16::MAX`, so no sum overflows; the sum over hidden units of `ceiling` times the absolute
/// value of the weight to the output is at most `i32::MAX`.
#[derive(Clone, Debug)]
pub(crate) struct Quantised {
    /// Number of hidden units, filled up to whole groups with units that are always 0.
    n_hidden: usize,
    /// By row and hidden unit.
    rows: Vec<i16>,
    biases: Vec<i16>,
    outputs: Vec<i16>,
    ceiling: i16,
    /// The output is the sum times this, plus `bias`.
    factor: f32,
    bias: f32,
    level: Level,
}

impl Quantised {
    /// Rounds weights, which are in the order that [`Neural`] defines.
    pub(crate) fn new(net: &Neural, weights: &[f32]) -> Quantised {
        let n_hidden = net.n_hidden.next_multiple_of(GROUP);
        let (biases, outputs) = (net.biases(), net.outputs());
        let mut largest = 1e-6_f64;
        for unit in 0..net.n_hidden {
            let rows = (0..net.n_rows).map(|row| weights[row * net.n_hidden + unit]);
            let sum: f64 = rows.map(|weight| f64::from(weight.abs())).sum();
            largest = largest.max(sum + f64::from(weights[biases + unit].abs()));
        }
        // Rounding adds at most one half for each row and for the bias.
        let rounding = 0.5 * (net.n_rows + 1) as f64;
        let scale = ((MAX_SUM - rounding) / largest).min(MAX_SCALE);
        let ceiling = (f64::from(net.ceiling) * scale).round().clamp(1.0, f64::from(i16::MAX));
        let to_output = &weights[outputs..outputs + net.n_hidden];
        let sum: f64 = to_output.iter().map(|weight| f64::from(weight.abs())).sum();
        let most = to_output.iter().fold(1e-6, |most: f64, weight| most.max(weight.abs().into()));
        let room = MAX_OUTPUT / ceiling - 0.5 * net.n_hidden as f64;
        let output_scale = (f64::from(i16::MAX) / most).min(room / sum.max(1e-6));
        let round = |weight: f32, scale: f64| (f64::from(weight) * scale).round() as i16;
        let padded = |weights: &[f32], scale: f64| {
            let mut padded: Vec<i16> = weights.iter().map(|&weight| round(weight, scale)).collect();
            padded.resize(n_hidden, 0);
            padded
        };
        let rows = (0..net.n_rows)
            .flat_map(|row| padded(&weights[row * net.n_hidden..(row + 1) * net.n_hidden], scale));
        Quantised {
            n_hidden,
            rows: rows.collect(),
            biases: padded(&weights[biases..outputs], scale),
            outputs: padded(to_output, output_scale),
            ceiling: ceiling as i16,
            factor: (1.0 / (scale * output_scale)) as f32,
            bias: weights[outputs + net.n_hidden],
            level: Level::new(),
        }
    }

    #[inline(always)]
    fn row(&self, row: u32) -> &[i16] {
        &self.rows[row as usize * self.n_hidden..][..self.n_hidden]
    }

    /// Adds the rows of the facts that hold to the biases.
    #[inline(always)]
    fn sums(&self, rows: &[u32], words: &[u64], sums: &mut [i16]) {
        sums.copy_from_slice(&self.biases);
        for_each_bit(words.iter().copied(), |fact| add(sums, self.row(rows[fact])));
    }

    /// Changes the sums of a parent to those of its child. Returns the sum of the output.
    #[inline(always)]
    fn child(&self, rows: &[u32], parent: &[u64], child: &[u64], sums: &mut [i16]) -> i32 {
        let changed = child.iter().zip(parent).map(|(child, parent)| child ^ parent);
        for_each_bit(changed, |fact| {
            let row = self.row(rows[fact]);
            if holds(child, fact as u32) { add(sums, row) } else { subtract(sums, row) }
        });
        let ceiling = self.ceiling;
        sums.iter()
            .zip(&self.outputs)
            .map(|(&sum, &weight)| i32::from(sum.clamp(0, ceiling)) * i32::from(weight))
            .sum()
    }
}

#[inline(always)]
fn add(sums: &mut [i16], row: &[i16]) {
    sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum = sum.wrapping_add(*weight));
}

#[inline(always)]
fn subtract(sums: &mut [i16], row: &[i16]) {
    sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum = sum.wrapping_sub(*weight));
}

/// Which instructions compute sums.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instructions {
    /// The best that the processor has.
    Best,
    /// Those of every processor of the kind.
    #[cfg(test)]
    Portable,
}

/// Memory for the evaluation of the children of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuantisedScratch {
    parent: Vec<u64>,
    /// By perspective: the sums of the hidden units at the parent, if they are known.
    seen: [Vec<i16>; 2],
    is_current: [bool; 2],
    sums: Vec<i16>,
}

impl QuantisedScratch {
    /// Sets the state whose children are evaluated next.
    pub(crate) fn set_parent(&mut self, words: &[u64]) {
        self.parent.clear();
        self.parent.extend_from_slice(words);
        self.is_current = [false; 2];
    }

    /// Returns the output at a state for the first player.
    pub(crate) fn output(&mut self, net: &Neural, weights: &Quantised, words: &[u64]) -> f32 {
        let number = net.perspective(words);
        let sum = self.sum(net, weights, words, number, Instructions::Best);
        net.signs[number] * (sum as f32 * weights.factor + weights.bias)
    }

    /// Returns the sum of the output in integers.
    pub(crate) fn sum(
        &mut self,
        net: &Neural,
        weights: &Quantised,
        words: &[u64],
        number: usize,
        instructions: Instructions,
    ) -> i32 {
        let rows = &net.rows[number][..];
        let QuantisedScratch { parent, seen, is_current, sums } = self;
        let seen = &mut seen[number];
        if !is_current[number] {
            seen.resize(weights.n_hidden, 0);
            match instructions {
                Instructions::Best => {
                    dispatch!(weights.level, _ => weights.sums(rows, parent, seen));
                }
                #[cfg(test)]
                Instructions::Portable => weights.sums(rows, parent, seen),
            }
            is_current[number] = true;
        }
        sums.clone_from(seen);
        match instructions {
            Instructions::Best => {
                dispatch!(weights.level, _ => weights.child(rows, parent, words, sums))
            }
            #[cfg(test)]
            Instructions::Portable => weights.child(rows, parent, words, sums),
        }
    }
}
