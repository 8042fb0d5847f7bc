//! One wire in 256 lanes.

// Always inlined: loops that are compiled for wider registers must contain all of this.

/// One bit in each of 256 lanes. Bit `i % 64` of word `i / 64` belongs to lane `i`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Plane(pub [u64; 4]);

impl Plane {
    /// False in every lane.
    pub const ZERO: Plane = Plane([0; 4]);
    /// True in every lane.
    pub const ONES: Plane = Plane([!0; 4]);
    /// Number of lanes.
    pub const LANES: usize = 256;

    /// Returns the same value in every lane.
    pub fn splat(value: bool) -> Plane {
        if value { Plane::ONES } else { Plane::ZERO }
    }

    /// Returns a plane that is true in the lanes of a range.
    #[inline(always)]
    pub fn range(lanes: std::ops::Range<usize>) -> Plane {
        let mut words = [0; 4];
        let mut quarter = 0;
        while quarter < 4 {
            words[quarter] = ones_below(lanes.end, quarter) & !ones_below(lanes.start, quarter);
            quarter += 1;
        }
        Plane(words)
    }

    /// Returns the value in one lane.
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 == 1
    }

    /// Sets the value of one lane.
    #[inline(always)]
    pub fn set_lane(&mut self, lane: usize, value: bool) {
        let word = &mut self.0[lane / 64];
        *word = *word & !(1 << (lane % 64)) | u64::from(value) << (lane % 64);
    }

    /// Returns the number of lanes in which it is true.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.0[0].count_ones()
            + self.0[1].count_ones()
            + self.0[2].count_ones()
            + self.0[3].count_ones()
    }

    /// Returns whether it is true in no lane.
    #[inline(always)]
    pub fn is_zero(&self) -> bool {
        self.0 == [0; 4]
    }

    /// Returns the values moved down by `n` lanes: lane `i` gets the value of lane `i + n`, or
    /// false if there is none.
    #[inline(always)]
    pub fn from_above(&self, n: usize) -> Plane {
        let (words, bits) = (n / 64, n % 64);
        let word = |at: usize| if at < 4 { self.0[at] } else { 0 };
        // Two shifts, because a single shift by 64 is not defined.
        let moved =
            |at: usize| word(at + words) >> bits | (word(at + words + 1) << 1) << (63 - bits);
        Plane([moved(0), moved(1), moved(2), moved(3)])
    }

    /// Returns the values moved up by `n` lanes: lane `i + n` gets the value of lane `i`, or false
    /// if there is none.
    #[inline(always)]
    pub fn from_below(&self, n: usize) -> Plane {
        let (words, bits) = (n / 64, n % 64);
        let word = |at: usize, words: usize| if at >= words { self.0[at - words] } else { 0 };
        let moved = |at: usize| word(at, words) << bits | (word(at, words + 1) >> 1) >> (63 - bits);
        Plane([moved(0), moved(1), moved(2), moved(3)])
    }

    /// Returns the lanes in which it is true, in ascending order.
    pub fn lanes(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(idx, mut word)| {
            std::iter::from_fn(move || {
                let lane = word.trailing_zeros() as usize;
                (word != 0).then(|| {
                    word &= word - 1;
                    64 * idx + lane
                })
            })
        })
    }

    #[inline(always)]
    fn zip(self, other: Plane, f: impl Fn(u64, u64) -> u64) -> Plane {
        Plane([
            f(self.0[0], other.0[0]),
            f(self.0[1], other.0[1]),
            f(self.0[2], other.0[2]),
            f(self.0[3], other.0[3]),
        ])
    }
}

/// Returns the bits of a quarter that belong to lanes below this one.
#[inline(always)]
fn ones_below(lane: usize, quarter: usize) -> u64 {
    match lane.saturating_sub(64 * quarter) {
        64.. => !0,
        n => (1 << n) - 1,
    }
}

impl std::ops::BitAnd for Plane {
    type Output = Plane;
    #[inline(always)]
    fn bitand(self, other: Plane) -> Plane {
        self.zip(other, |a, b| a & b)
    }
}

impl std::ops::BitOr for Plane {
    type Output = Plane;
    #[inline(always)]
    fn bitor(self, other: Plane) -> Plane {
        self.zip(other, |a, b| a | b)
    }
}

impl std::ops::BitXor for Plane {
    type Output = Plane;
    #[inline(always)]
    fn bitxor(self, other: Plane) -> Plane {
        self.zip(other, |a, b| a ^ b)
    }
}

impl std::ops::Not for Plane {
    type Output = Plane;
    #[inline(always)]
    fn not(self) -> Plane {
        Plane([!self.0[0], !self.0[1], !self.0[2], !self.0[3]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_moved_by_any_number_of_places() {
        let plane = Plane([
            0x9e37_79b9_7f4a_7c15,
            0xa076_1d64_78bd_642f,
            0xe703_7ed1_a0b4_28db,
            0x8ebc_6af0_9c88_c6e3,
        ]);
        for n in [0, 1, 2, 31, 63, 64, 65, 127, 128, 130, 192, 255, 256, 300] {
            let (from_above, from_below) = (plane.from_above(n), plane.from_below(n));
            for lane in 0..Plane::LANES {
                assert_eq!(
                    from_above.lane(lane),
                    lane + n < Plane::LANES && plane.lane(lane + n),
                    "{lane} + {n}"
                );
                assert_eq!(
                    from_below.lane(lane),
                    lane >= n && plane.lane(lane - n),
                    "{lane} - {n}"
                );
            }
        }
    }
}
