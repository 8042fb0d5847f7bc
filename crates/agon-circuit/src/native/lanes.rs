//! Generated code for 256 games at once.

use memmap2::Mmap;

use super::allocate::allocate;
use super::generate::{Unavailable, check, executable};
use super::machine::{Width, assemble};
use crate::Plane;
use crate::run::program::Program;

/// A program as machine code for 256 lanes.
///
/// Invariants: `code` is what `assemble` made of steps that `allocate` made. So it reads `n_state`
/// planes of the first area and `n_rest` of the second, writes `n_outputs` planes of the third,
/// uses `n_scratch` of the fourth, touches no other memory, keeps to the System V calling
/// convention and returns. A value exists only on a machine with AVX2.
pub(crate) struct NativeLanes {
    code: Mmap,
    n_state: usize,
    n_rest: usize,
    n_outputs: usize,
    n_scratch: usize,
    n_steps: usize,
}

impl NativeLanes {
    /// Generates code. The first `n_state` leaves are read from the state area.
    pub(crate) fn new(program: &Program, n_state: usize) -> Result<NativeLanes, Unavailable> {
        check(program)?;
        let allocated = allocate(program, n_state);
        Ok(NativeLanes {
            code: executable(&assemble(&allocated.steps, Width::Lanes))?,
            n_state,
            n_rest: program.n_leaves - n_state,
            n_outputs: program.outputs.len(),
            n_scratch: allocated.n_scratch,
            n_steps: allocated.steps.len(),
        })
    }

    /// Returns how many planes of scratch memory [`NativeLanes::run`] needs.
    pub(crate) fn n_scratch(&self) -> usize {
        self.n_scratch
    }

    /// Returns the number of machine instructions and the number of bytes of code.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.n_steps, self.code.len())
    }

    /// Computes the outputs from the leaves.
    #[inline(always)]
    pub(crate) fn run(
        &self,
        state: &[Plane],
        rest: &[Plane],
        out: &mut [Plane],
        scratch: &mut [Plane],
    ) {
        assert!(state.len() >= self.n_state && rest.len() >= self.n_rest, "all leaves are given");
        assert!(
            out.len() >= self.n_outputs && scratch.len() >= self.n_scratch,
            "there is memory for the results"
        );
        scratch[0] = Plane::ONES;
        #[cfg(target_arch = "x86_64")]
        {
            type Function = extern "sysv64" fn(*const Plane, *const Plane, *mut Plane, *mut Plane);
            // SAFETY: by the invariants of `NativeLanes`, the code is a function of this type on a
            // processor that can run it, and it touches only the first planes of the four areas,
            // which exist by the assertions above. The slices are distinct memory, since two of
            // them are borrowed mutably.
            let function =
                unsafe { std::mem::transmute::<*const u8, Function>(self.code.as_ptr()) };
            function(state.as_ptr(), rest.as_ptr(), out.as_mut_ptr(), scratch.as_mut_ptr());
        }
    }
}
