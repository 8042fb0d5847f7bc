//! Generated AVX2 code for programs: the one module with unsafe code.
//!
//! In goes a [`Program`], out comes a function in executable memory that computes it for 256 lanes, or for one. The pages are written
//! first and made executable afterwards, never both at once. The portable twin is [`crate::interpret`]; tests compare
//! the two bit by bit.
#![allow(unsafe_code)]

mod allocate;
mod machine;
mod one;
mod products;
mod turn;

pub(crate) use one::{NativeOne, pack_signs};
pub(crate) use products::multiply;
pub(crate) use turn::turn;

use machine::Width;
use memmap2::{Mmap, MmapMut};

use crate::Plane;
use crate::program::{Output, Program};

/// A program as machine code.
///
/// Invariants: `code` is what `assemble` made of steps that `allocate` made, so it reads `n_state` planes of the first
/// area, `n_rest` of the second, writes `n_outputs` planes of the third, uses `n_scratch` of the fourth, touches no other
/// memory, keeps to the System V calling convention and returns. A value exists only on a machine with AVX2.
pub(crate) struct Native {
    code: Mmap,
    n_state: usize,
    n_rest: usize,
    n_outputs: usize,
    n_scratch: usize,
    n_steps: usize,
}

/// Why there is no machine code for a program. Never anybody's fault: the interpreter stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// This processor lacks AVX2, or is no x86-64.
    Processor,
    /// The system gave no executable memory.
    Memory(String),
}

impl Native {
    /// Generates code. The first `n_state` leaves are read from the state area.
    pub(crate) fn new(program: &Program, n_state: usize) -> Result<Native, Unavailable> {
        check(program)?;
        let allocated = allocate::allocate(program, n_state);
        Ok(Native {
            code: executable(&machine::assemble(&allocated.steps, Width::Lanes))?,
            n_state,
            n_rest: program.n_leaves - n_state,
            n_outputs: program.outputs.len(),
            n_scratch: allocated.n_scratch,
            n_steps: allocated.steps.len(),
        })
    }

    /// How many planes of scratch memory [`Native::run`] needs.
    pub(crate) fn n_scratch(&self) -> usize {
        self.n_scratch
    }

    /// How many machine instructions there are, and how many bytes of code.
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
            "there is room for the results"
        );
        scratch[0] = Plane::ONES;
        #[cfg(target_arch = "x86_64")]
        {
            type Function = extern "sysv64" fn(*const Plane, *const Plane, *mut Plane, *mut Plane);
            // SAFETY: by the invariants of `Native`, the code is a function of this type on a processor that can run it,
            // and it touches only the first planes of the four areas, which are there by the assertions above. The slices
            // are distinct memory, since two of them are borrowed mutably.
            let function =
                unsafe { std::mem::transmute::<*const u8, Function>(self.code.as_ptr()) };
            function(state.as_ptr(), rest.as_ptr(), out.as_mut_ptr(), scratch.as_mut_ptr());
        }
    }
}

/// Code in memory that can be called.
fn executable(bytes: &[u8]) -> Result<Mmap, Unavailable> {
    let memory = |error: std::io::Error| Unavailable::Memory(error.to_string());
    let mut pages = MmapMut::map_anon(bytes.len()).map_err(memory)?;
    pages[..bytes.len()].copy_from_slice(bytes);
    pages.make_exec().map_err(memory)
}

/// What the generated code relies on: the processor, and that every operand is a leaf or an earlier result.
fn check(program: &Program) -> Result<(), Unavailable> {
    if !is_available() {
        return Err(Unavailable::Processor);
    }
    for (value, instruction) in (program.n_leaves as u32..).zip(&program.instructions) {
        assert!(
            instruction.a < value && instruction.b < value,
            "an instruction reads leaves or earlier instructions"
        );
    }
    let n_values = (program.n_leaves + program.instructions.len()) as u32;
    for output in &program.outputs {
        assert!(
            !matches!(output, Output::Value { value, .. } if *value >= n_values),
            "outputs are values"
        );
    }
    Ok(())
}

/// Whether this processor runs the code generated here.
pub(crate) fn is_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Fills planes by four generators xoshiro256+ side by side, as [`crate::random::fill_portable`] does. Says whether it has:
/// compilers make single words of that one, which takes three times as long as these instructions.
pub(crate) fn fill_random(s: &mut [Plane; 4], planes: &mut [Plane]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;

        #[target_feature(enable = "avx2")]
        fn fill(s: &mut [Plane; 4], planes: &mut [Plane]) {
            // SAFETY: a plane is 32 bytes, as is what is loaded from it, and any bits are a value of both.
            let [mut s0, mut s1, mut s2, mut s3] =
                s.map(|plane| unsafe { std::mem::transmute::<Plane, __m256i>(plane) });
            for plane in planes {
                // SAFETY: as above.
                *plane = unsafe { std::mem::transmute::<__m256i, Plane>(_mm256_add_epi64(s0, s3)) };
                let t = _mm256_slli_epi64::<17>(s1);
                s2 = _mm256_xor_si256(s2, s0);
                s3 = _mm256_xor_si256(s3, s1);
                s1 = _mm256_xor_si256(s1, s2);
                s0 = _mm256_xor_si256(s0, s3);
                s2 = _mm256_xor_si256(s2, t);
                s3 = _mm256_or_si256(_mm256_slli_epi64::<45>(s3), _mm256_srli_epi64::<19>(s3));
            }
            // SAFETY: as above.
            *s = [s0, s1, s2, s3]
                .map(|vector| unsafe { std::mem::transmute::<__m256i, Plane>(vector) });
        }
        if is_available() {
            // SAFETY: `is_available` has just found AVX2.
            unsafe { fill(s, planes) };
            return true;
        }
    }
    let _ = (s, planes);
    false
}

/// A loop around generated code that is to be compiled for the processors that run it.
pub(crate) trait Work {
    /// The loop. To be marked `#[inline(always)]`, and so is what it calls, for only what is inlined is compiled anew.
    fn work(self);
}

/// Does the work, compiled for processors like those that run the generated code if this is one.
pub(crate) fn with_wide_registers(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
        fn wide(work: impl Work) {
            work.work();
        }
        if is_available() {
            // SAFETY: `is_available` has just found every feature that `wide` is compiled for.
            unsafe { wide(work) };
            return;
        }
    }
    work.work();
}
