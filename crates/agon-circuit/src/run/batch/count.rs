//! Counting in all lanes at once, with bit-sliced numbers.

use std::ops::Range;

use crate::Plane;

/// Number of planes that are collected before they are added.
const BUNCH: usize = 8;

/// A number in each lane, its bits in planes.
///
/// Planes to be added are collected until there are eight, and then added in one go. Added one by
/// one, a carry would run through many planes, because one of 256 lanes nearly always carries.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Ones, twos and fours.
    low: [Plane; 3],
    /// The bits from the fourth on. Grows with the numbers.
    high: Vec<Plane>,
    pending: [Plane; BUNCH],
    n_pending: usize,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            low: [Plane::ZERO; 3],
            high: Vec::new(),
            pending: [Plane::ZERO; BUNCH],
            n_pending: 0,
        }
    }
}

/// Adds three bits of one weight. Returns a bit of this weight and a bit of the next.
#[inline(always)]
fn add_three(a: Plane, b: Plane, c: Plane) -> (Plane, Plane) {
    let either = a ^ b;
    (either ^ c, (a & b) | (either & c))
}

impl Counts {
    /// Adds one in these lanes.
    #[inline(always)]
    pub(super) fn add(&mut self, lanes: Plane) {
        self.pending[self.n_pending & (BUNCH - 1)] = lanes;
        self.n_pending += 1;
        if self.n_pending == BUNCH {
            self.count_pending();
        }
    }

    #[inline(always)]
    fn count_pending(&mut self) {
        let [a, b, c, d, e, f, g, h] = self.pending;
        let [ones, twos, fours] = self.low;
        let (ones, two_a) = add_three(ones, a, b);
        let (ones, two_b) = add_three(ones, c, d);
        let (twos, four_a) = add_three(twos, two_a, two_b);
        let (ones, two_a) = add_three(ones, e, f);
        let (ones, two_b) = add_three(ones, g, h);
        let (twos, four_b) = add_three(twos, two_a, two_b);
        let (fours, mut carry) = add_three(fours, four_a, four_b);
        self.low = [ones, twos, fours];
        self.n_pending = 0;
        let mut bit = 0;
        while !carry.is_zero() {
            if bit == self.high.len() {
                self.high.push(carry);
                return;
            }
            let sum = self.high[bit] ^ carry;
            carry = self.high[bit] & carry;
            self.high[bit] = sum;
            bit += 1;
        }
    }

    /// Adds the pending planes.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        if self.n_pending > 0 {
            self.pending[self.n_pending..].fill(Plane::ZERO);
            self.count_pending();
        }
    }

    /// Sets the numbers of all lanes to zero.
    pub(super) fn clear(&mut self) {
        self.low = [Plane::ZERO; 3];
        self.high.clear();
        self.n_pending = 0;
    }

    /// Returns the sum over some lanes. Nothing may be pending. The lanes are usually few, so only
    /// their words are read.
    #[inline(always)]
    pub(super) fn sum(&self, lanes: &Range<usize>) -> u64 {
        debug_assert_eq!(self.n_pending, 0, "nothing is pending when numbers are read");
        let Plane(mask) = Plane::range(lanes.clone());
        let mut sum = 0;
        let mut word = lanes.start / 64;
        while 64 * word < lanes.end {
            let mut bit = 0;
            while bit < self.low.len() {
                sum += u64::from((self.low[bit].0[word] & mask[word]).count_ones()) << bit;
                bit += 1;
            }
            while bit < self.low.len() + self.high.len() {
                let high = &self.high[bit - self.low.len()];
                sum += u64::from((high.0[word] & mask[word]).count_ones()) << bit;
                bit += 1;
            }
            word += 1;
        }
        sum
    }

    /// Returns the bits, the lowest first. Nothing may be pending.
    fn bits(&self) -> impl Iterator<Item = Plane> {
        debug_assert_eq!(self.n_pending, 0, "nothing is pending when numbers are read");
        self.low.iter().chain(&self.high).copied()
    }
}

/// A number in each lane that is decremented by one at a time.
///
/// While all numbers are large, decrements are only collected: it is known for how long no number
/// can become zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Left {
    /// Its bits, the lowest first, before the collected decrements.
    bits: Vec<Plane>,
    taken: Counts,
    /// The lanes in which it is not zero.
    any: Plane,
    /// Number of decrements that may be collected before a number could become zero.
    n_sure: u64,
}

/// Numbers below this are decremented at once.
const FEW: u64 = 16;

impl Left {
    /// Returns the lanes in which it is not zero.
    #[inline(always)]
    pub(super) fn any(&self) -> Plane {
        self.any
    }

    /// Decrements the numbers of these lanes, none of which is zero.
    #[inline(always)]
    pub(super) fn take(&mut self, lanes: Plane) {
        if self.n_sure > 0 {
            self.taken.add(lanes);
            self.n_sure -= 1;
            if self.n_sure == 0 {
                self.update();
            }
            return;
        }
        let mut borrow = lanes;
        let mut any = Plane::ZERO;
        let mut bit = 0;
        while bit < self.bits.len() {
            let difference = self.bits[bit] ^ borrow;
            borrow = borrow & !self.bits[bit];
            self.bits[bit] = difference;
            any = any | difference;
            bit += 1;
        }
        self.any = any;
        debug_assert!(borrow.is_zero(), "a number that is decremented is not zero");
    }

    /// Returns whether decrements are made at once, because some number is small.
    #[inline(always)]
    pub(super) fn is_exact(&self) -> bool {
        self.n_sure == 0
    }

    /// Decrements the numbers of the givers, and sets those of as many takers, which are zero, to
    /// one. Only where [`Left::is_exact`].
    #[inline(always)]
    pub(super) fn hand_over(&mut self, givers: Plane, takers: Plane) {
        debug_assert!((takers & self.any).is_zero(), "takers have zero");
        debug_assert_eq!(givers.count(), takers.count(), "there are as many takers as givers");
        self.take(givers);
        self.bits[0] = self.bits[0] | takers;
        self.any = self.any | takers;
    }

    /// Makes the collected decrements, and computes how many may be collected next.
    pub(super) fn update(&mut self) {
        self.taken.flush();
        let mut borrow = Plane::ZERO;
        let taken = self.taken.bits().chain(std::iter::repeat(Plane::ZERO));
        self.any = Plane::ZERO;
        for (bit, taken) in self.bits.iter_mut().zip(taken) {
            let difference = *bit ^ taken ^ borrow;
            borrow = (!*bit & (taken | borrow)) | (taken & borrow);
            *bit = difference;
            self.any = self.any | difference;
        }
        debug_assert!(borrow.is_zero(), "a number that is decremented is not zero");
        self.taken.clear();
        // The least number that is not zero: from the highest bit down, keep the lanes without the
        // bit if there are any.
        let (mut least, mut lanes) = (0, self.any);
        for (index, bit) in self.bits.iter().enumerate().rev() {
            let without = lanes & !*bit;
            if without.is_zero() {
                least |= 1_u64 << index;
            } else {
                lanes = without;
            }
        }
        self.n_sure = if self.any.is_zero() || least < FEW { 0 } else { least };
    }

    /// Sets the number of these lanes. Must be followed by a [`Left::update`].
    pub(super) fn set(&mut self, lanes: Plane, value: u64) {
        let n_bits = 64 - value.leading_zeros() as usize;
        if self.bits.len() < n_bits {
            self.bits.resize(n_bits, Plane::ZERO);
        }
        for (bit, plane) in self.bits.iter_mut().enumerate() {
            *plane = if value >> bit & 1 == 1 { *plane | lanes } else { *plane & !lanes };
        }
    }

    /// Sets the numbers of all lanes to zero.
    pub(super) fn clear(&mut self) {
        self.bits.clear();
        self.taken.clear();
        (self.any, self.n_sure) = (Plane::ZERO, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pseudorandom planes, the same in each run.
    fn planes() -> impl Iterator<Item = Plane> {
        let mut word = 0x9e37_79b9_7f4a_7c15_u64;
        std::iter::from_fn(move || {
            word = word.wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(17) ^ 0x5555;
            Some(Plane([word, word.rotate_left(7) & word, !word, word ^ word << 3]))
        })
    }

    #[test]
    fn counts_are_those_of_single_lanes() {
        for n in [0, 1, 7, 8, 9, 100, 3000] {
            let mut expected = [0_u64; 256];
            let mut counts = Counts::default();
            for lanes in planes().take(n) {
                counts.add(lanes);
                lanes.lanes().for_each(|lane| expected[lane] += 1);
            }
            counts.flush();
            assert!((0..256).all(|lane| counts.sum(&(lane..lane + 1)) == expected[lane]));
            for range in [0..256, 3..70, 64..128, 5..5, 130..256] {
                assert_eq!(counts.sum(&range.clone()), expected[range].iter().sum::<u64>());
            }
            counts.clear();
            assert_eq!(counts.sum(&(0..256)), 0);
        }
    }

    #[test]
    fn numbers_left_are_those_of_single_lanes() {
        let mut expected = [0_u64; 256];
        let mut left = Left::default();
        for (range, value) in
            [(0..256, 30), (3..70, 1000), (64..128, 17), (200..201, 0), (130..140, 1)]
        {
            left.set(Plane::range(range.clone()), value);
            expected[range].fill(value);
        }
        left.update();
        let n_all: u64 = expected.iter().sum();
        let mut n_taken = 0;
        for lanes in planes().take(5000) {
            assert!((0..256).all(|lane| left.any().lane(lane) == (expected[lane] > 0)));
            let lanes = lanes & left.any();
            left.take(lanes);
            lanes.lanes().for_each(|lane| expected[lane] -= 1);
            n_taken += u64::from(lanes.count());
        }
        assert!(left.any().is_zero(), "all numbers are zero in the end");
        assert_eq!(n_taken, n_all);
    }

    #[test]
    fn handing_over_keeps_the_sum() {
        let mut expected = [0_u64; 256];
        let mut left = Left::default();
        left.set(Plane::range(0..128), 5);
        expected[..128].fill(5);
        left.update();
        assert!(left.is_exact());
        for lanes in planes().take(300) {
            let givers = lanes & left.any() & Plane::range(0..128);
            let takers = givers.from_below(128) & !left.any();
            let givers = takers.from_above(128);
            left.hand_over(givers, takers);
            givers.lanes().for_each(|lane| expected[lane] -= 1);
            takers.lanes().for_each(|lane| expected[lane] += 1);
            let taken = (lanes.from_above(77) | lanes.from_below(179)) & left.any();
            left.take(taken);
            taken.lanes().for_each(|lane| expected[lane] -= 1);
            assert!((0..256).all(|lane| left.any().lane(lane) == (expected[lane] > 0)));
        }
        assert_eq!(expected, [0; 256], "all numbers are zero in the end");
    }
}
