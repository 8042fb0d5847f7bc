//! Counting in all lanes at once.

use std::ops::Range;

use crate::Plane;

/// How many planes are waited for before they are counted.
const BUNCH: usize = 8;

/// A number in each lane, its bits in planes. What is added is put by until there are eight of it and then counted in one go:
/// one by one, a carry would run through many planes, for among 256 lanes there is always one that carries.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Ones, twos and fours.
    low: [Plane; 3],
    /// The bits from the fourth on. Grows as numbers do.
    high: Vec<Plane>,
    put_by: [Plane; BUNCH],
    n_put_by: usize,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            low: [Plane::ZERO; 3],
            high: Vec::new(),
            put_by: [Plane::ZERO; BUNCH],
            n_put_by: 0,
        }
    }
}

/// Three bits of one weight as one of this weight and one of the next.
#[inline(always)]
fn add_three(a: Plane, b: Plane, c: Plane) -> (Plane, Plane) {
    let either = a ^ b;
    (either ^ c, (a & b) | (either & c))
}

impl Counts {
    /// Adds one in these lanes.
    #[inline(always)]
    pub(super) fn add(&mut self, lanes: Plane) {
        self.put_by[self.n_put_by & (BUNCH - 1)] = lanes;
        self.n_put_by += 1;
        if self.n_put_by == BUNCH {
            self.count_put_by();
        }
    }

    #[inline(always)]
    fn count_put_by(&mut self) {
        let [a, b, c, d, e, f, g, h] = self.put_by;
        let [ones, twos, fours] = self.low;
        let (ones, two_a) = add_three(ones, a, b);
        let (ones, two_b) = add_three(ones, c, d);
        let (twos, four_a) = add_three(twos, two_a, two_b);
        let (ones, two_a) = add_three(ones, e, f);
        let (ones, two_b) = add_three(ones, g, h);
        let (twos, four_b) = add_three(twos, two_a, two_b);
        let (fours, mut carry) = add_three(fours, four_a, four_b);
        self.low = [ones, twos, fours];
        self.n_put_by = 0;
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

    /// Counts what was put by, so that nothing is.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        if self.n_put_by > 0 {
            self.put_by[self.n_put_by..].fill(Plane::ZERO);
            self.count_put_by();
        }
    }

    /// Sets the numbers of all lanes to zero.
    pub(super) fn clear(&mut self) {
        self.low = [Plane::ZERO; 3];
        self.high.clear();
        self.n_put_by = 0;
    }

    /// The sum over some lanes, once nothing is put by. They are few as a rule, so only the words they are in are looked at.
    #[inline(always)]
    pub(super) fn sum(&self, lanes: &Range<usize>) -> u64 {
        debug_assert_eq!(self.n_put_by, 0, "all is counted before it is summed up");
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

    /// The bits, the lowest first, once nothing is put by.
    fn bits(&self) -> impl Iterator<Item = Plane> {
        debug_assert_eq!(self.n_put_by, 0, "all is counted before it is looked at");
        self.low.iter().chain(&self.high).copied()
    }
}

/// A number in each lane that only ever gets smaller, by one at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Left {
    /// Its bits, the lowest first, without what was taken since.
    bits: Vec<Plane>,
    taken: Counts,
    /// The lanes in which it is not zero.
    any: Plane,
    /// So many times can be taken before it is zero in any of these lanes.
    n_sure: u64,
}

/// Where less is left than this it is looked at every time.
const FEW: u64 = 16;

impl Left {
    /// The lanes in which it is not zero.
    #[inline(always)]
    pub(super) fn any(&self) -> Plane {
        self.any
    }

    /// Takes one in these lanes, none of which has zero.
    #[inline(always)]
    pub(super) fn take(&mut self, lanes: Plane) {
        if self.n_sure > 0 {
            self.taken.add(lanes);
            self.n_sure -= 1;
            if self.n_sure == 0 {
                self.look();
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
        debug_assert!(borrow.is_zero(), "nothing is taken from nothing");
    }

    /// Whether it is looked at every time, for little is left.
    #[inline(always)]
    pub(super) fn is_little(&self) -> bool {
        self.n_sure == 0
    }

    /// Takes one from each of the givers, and gives one to each of as many takers, which have nothing. Only where little is left.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, givers: Plane, takers: Plane) {
        debug_assert!((takers & self.any).is_zero(), "who has something takes nothing");
        debug_assert_eq!(givers.count(), takers.count(), "nothing is lost");
        self.take(givers);
        self.bits[0] = self.bits[0] | takers;
        self.any = self.any | takers;
    }

    /// Subtracts what was taken, and works out how long nothing needs to be looked at.
    pub(super) fn look(&mut self) {
        self.taken.settle();
        let mut borrow = Plane::ZERO;
        let taken = self.taken.bits().chain(std::iter::repeat(Plane::ZERO));
        self.any = Plane::ZERO;
        for (bit, taken) in self.bits.iter_mut().zip(taken) {
            let difference = *bit ^ taken ^ borrow;
            borrow = (!*bit & (taken | borrow)) | (taken & borrow);
            *bit = difference;
            self.any = self.any | difference;
        }
        debug_assert!(borrow.is_zero(), "nothing is taken from nothing");
        self.taken.clear();
        // The least number of any lane that has one: from the highest bit down, the lanes without it if there are any.
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

    /// Sets the number of these lanes. To be followed by a [`Left::look`].
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

    /// Planes that look random, the same in each run.
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
            counts.settle();
            assert!((0..256).all(|lane| counts.sum(&(lane..lane + 1)) == expected[lane]));
            for range in [0..256, 3..70, 64..128, 5..5, 130..256] {
                assert_eq!(counts.sum(&range.clone()), expected[range].iter().sum::<u64>());
            }
            counts.clear();
            assert_eq!(counts.sum(&(0..256)), 0);
        }
    }

    #[test]
    fn what_is_left_is_that_of_single_lanes() {
        let mut expected = [0_u64; 256];
        let mut left = Left::default();
        for (range, value) in
            [(0..256, 30), (3..70, 1000), (64..128, 17), (200..201, 0), (130..140, 1)]
        {
            left.set(Plane::range(range.clone()), value);
            expected[range].fill(value);
        }
        left.look();
        let n_all: u64 = expected.iter().sum();
        let mut n_taken = 0;
        for lanes in planes().take(5000) {
            assert!((0..256).all(|lane| left.any().lane(lane) == (expected[lane] > 0)));
            let lanes = lanes & left.any();
            left.take(lanes);
            lanes.lanes().for_each(|lane| expected[lane] -= 1);
            n_taken += u64::from(lanes.count());
        }
        assert!(left.any().is_zero(), "all is taken in the end");
        assert_eq!(n_taken, n_all);
    }

    #[test]
    fn what_is_handed_over_is_neither_lost_nor_made() {
        let mut expected = [0_u64; 256];
        let mut left = Left::default();
        left.set(Plane::range(0..128), 5);
        expected[..128].fill(5);
        left.look();
        assert!(left.is_little());
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
        assert_eq!(expected, [0; 256], "all is taken in the end");
    }
}
