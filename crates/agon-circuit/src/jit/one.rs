//! Generated code for one game at a time.
//!
//! Values are 128 bits that are all the same; results are words of 32, so that eight of them are packed by one instruction.

use memmap2::Mmap;

use super::machine::{Width, assemble};
use super::{Unavailable, allocate, check, executable};
use crate::program::Program;

/// A program as machine code for one game.
///
/// Invariants: as those of [`super::Native`], with values of 16 bytes in the first, second and fourth area and of 4
/// bytes in the third.
pub(crate) struct NativeOne {
    code: Mmap,
    n_state: usize,
    n_rest: usize,
    n_outputs: usize,
    n_scratch: usize,
}

impl NativeOne {
    /// Generates code. The first `n_state` leaves are read from the state area.
    pub(crate) fn new(program: &Program, n_state: usize) -> Result<NativeOne, Unavailable> {
        check(program)?;
        let allocated = allocate::allocate(program, n_state);
        Ok(NativeOne {
            code: executable(&assemble(&allocated.steps, Width::One))?,
            n_state,
            n_rest: program.n_leaves - n_state,
            n_outputs: program.outputs.len(),
            n_scratch: allocated.n_scratch,
        })
    }

    /// How many words of scratch memory [`NativeOne::run`] needs.
    pub(crate) fn n_scratch(&self) -> usize {
        self.n_scratch
    }

    /// Computes the outputs from the leaves; each value is zero or all ones.
    #[inline(always)]
    pub(crate) fn run(&self, state: &[u128], rest: &[u128], out: &mut [u32], scratch: &mut [u128]) {
        assert!(state.len() >= self.n_state && rest.len() >= self.n_rest, "all leaves are given");
        assert!(
            out.len() >= self.n_outputs && scratch.len() >= self.n_scratch,
            "there is room for the results"
        );
        scratch[0] = !0;
        #[cfg(target_arch = "x86_64")]
        {
            type Function = extern "sysv64" fn(*const u128, *const u128, *mut u32, *mut u128);
            // SAFETY: by the invariants of `NativeOne`, the code is a function of this type on a processor that can run
            // it, and it touches only the first values of the four areas, which are there by the assertions above. The
            // slices are distinct memory, since two of them are borrowed mutably.
            let function =
                unsafe { std::mem::transmute::<*const u8, Function>(self.code.as_ptr()) };
            function(state.as_ptr(), rest.as_ptr(), out.as_mut_ptr(), scratch.as_mut_ptr());
        }
    }
}

/// Packs the highest bit of each result, 64 to a word. Results without a word of their own are left out, and words without
/// results of their own are left alone.
#[inline]
pub(crate) fn pack_signs(results: &[u32], words: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;

        #[target_feature(enable = "avx2")]
        fn pack(results: &[[u32; 64]], words: &mut [u64]) {
            for (word, results) in words.iter_mut().zip(results) {
                let mut packed = 0;
                for (idx, eight) in results.as_chunks::<8>().0.iter().enumerate() {
                    // SAFETY: eight words of 32 bits are 32 bytes, as is what they become, and any bits are a value of it.
                    let eight = unsafe { std::mem::transmute::<[u32; 8], __m256>(*eight) };
                    packed |= u64::from(_mm256_movemask_ps(eight) as u32) << (8 * idx);
                }
                *word = packed;
            }
        }
        if super::is_available() {
            // SAFETY: `is_available` has just found AVX2.
            unsafe { pack(results.as_chunks::<64>().0, words) };
            return;
        }
    }
    for (word, results) in words.iter_mut().zip(results.as_chunks::<64>().0) {
        *word =
            results.iter().rev().fold(0, |packed, result| packed << 1 | u64::from(result >> 31));
    }
}
