//! Generated code for one game at a time.
//!
//! A value is 128 equal bits. Results are words of 32 bits, so that one instruction packs eight of
//! them.

use memmap2::Mmap;

use super::allocate::allocate;
use super::generate::{Unavailable, check, executable};
use super::machine::{Width, assemble};
use crate::run::program::Program;

/// A program as machine code for one game.
///
/// Invariants: those of [`NativeLanes`](super::NativeLanes), with values of 16 bytes in the first,
/// second and fourth area and of 4 bytes in the third.
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
        let allocated = allocate(program, n_state);
        Ok(NativeOne {
            code: executable(&assemble(&allocated.steps, Width::One))?,
            n_state,
            n_rest: program.n_leaves - n_state,
            n_outputs: program.outputs.len(),
            n_scratch: allocated.n_scratch,
        })
    }

    /// Returns how many words of scratch memory [`NativeOne::run`] needs.
    pub(crate) fn n_scratch(&self) -> usize {
        self.n_scratch
    }

    /// Computes the outputs from the leaves. Each value is zero or all ones.
    #[inline(always)]
    pub(crate) fn run(&self, state: &[u128], rest: &[u128], out: &mut [u32], scratch: &mut [u128]) {
        assert!(state.len() >= self.n_state && rest.len() >= self.n_rest, "all leaves are given");
        assert!(
            out.len() >= self.n_outputs && scratch.len() >= self.n_scratch,
            "there is memory for the results"
        );
        scratch[0] = !0;
        #[cfg(target_arch = "x86_64")]
        {
            type Function = extern "sysv64" fn(*const u128, *const u128, *mut u32, *mut u128);
            // SAFETY: by the invariants of `NativeOne`, the code is a function of this type on a
            // processor that can run it, and it touches only the first values of the four areas,
            // which exist by the assertions above. The slices are distinct memory, since two of
            // them are borrowed mutably.
            let function =
                unsafe { std::mem::transmute::<*const u8, Function>(self.code.as_ptr()) };
            function(state.as_ptr(), rest.as_ptr(), out.as_mut_ptr(), scratch.as_mut_ptr());
        }
    }
}
