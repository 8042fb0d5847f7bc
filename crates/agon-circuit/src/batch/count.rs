//! Counting in all lanes at once.

use crate::Plane;

/// A number in each lane, its bits in planes, the lowest first. Grows as numbers do.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Vec<Plane>);

impl Counts {
    /// Adds one in these lanes.
    #[inline(always)]
    pub(super) fn add(&mut self, lanes: Plane) {
        let mut carry = lanes;
        let mut bit = 0;
        while !carry.is_zero() {
            if bit == self.0.len() {
                self.0.push(carry);
                return;
            }
            let sum = self.0[bit] ^ carry;
            carry = self.0[bit] & carry;
            self.0[bit] = sum;
            bit += 1;
        }
    }

    /// Subtracts one in these lanes, none of which has zero.
    #[inline(always)]
    pub(super) fn subtract(&mut self, lanes: Plane) {
        let mut borrow = lanes;
        let mut bit = 0;
        while !borrow.is_zero() && bit < self.0.len() {
            let difference = self.0[bit] ^ borrow;
            borrow = borrow & !self.0[bit];
            self.0[bit] = difference;
            bit += 1;
        }
        debug_assert!(borrow.is_zero(), "nothing is taken from nothing");
    }

    /// The lanes in which it is not zero.
    #[inline(always)]
    pub(super) fn any(&self) -> Plane {
        let mut any = Plane::ZERO;
        for plane in &self.0 {
            any = any | *plane;
        }
        any
    }

    /// Sets the number of these lanes.
    pub(super) fn set(&mut self, lanes: Plane, value: u64) {
        let n_bits = 64 - value.leading_zeros() as usize;
        if self.0.len() < n_bits {
            self.0.resize(n_bits, Plane::ZERO);
        }
        for (bit, plane) in self.0.iter_mut().enumerate() {
            *plane = if bit < 64 && value >> bit & 1 == 1 { *plane | lanes } else { *plane & !lanes };
        }
    }

    /// Sets the numbers of all lanes to zero.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The sum over some lanes.
    #[inline(always)]
    pub(super) fn sum(&self, lanes: Plane) -> u64 {
        let mut sum = 0;
        let mut bit = 0;
        while bit < self.0.len() {
            sum += u64::from((self.0[bit] & lanes).count()) << bit;
            bit += 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_single_lanes() {
        let mut expected = [0_u64; 256];
        let mut counts = Counts::default();
        counts.set(Plane::range(200..201), 1000);
        expected[200] = 1000;
        let mut word = 0x9e37_79b9_7f4a_7c15_u64;
        for round in 0..3000 {
            word = word.wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(17) ^ round;
            let lanes = Plane([word, word.rotate_left(7) & word, !word, word ^ word << 3]);
            if round % 3 < 2 {
                counts.add(lanes);
                lanes.lanes().for_each(|lane| expected[lane] += 1);
            } else {
                let lanes = lanes & counts.any();
                counts.subtract(lanes);
                lanes.lanes().for_each(|lane| expected[lane] -= 1);
            }
        }
        assert!((0..256).all(|lane| counts.sum(Plane::range(lane..lane + 1)) == expected[lane]));
        for range in [0..256, 3..70, 64..128, 5..5, 130..256] {
            assert_eq!(counts.sum(Plane::range(range.clone())), expected[range].iter().sum::<u64>());
        }
        assert!((0..256).all(|lane| counts.any().lane(lane) == (expected[lane] > 0)));
        counts.set(Plane::range(60..70), 5);
        expected[60..70].fill(5);
        assert_eq!(counts.sum(Plane::ONES), expected.iter().sum::<u64>());
    }
}
