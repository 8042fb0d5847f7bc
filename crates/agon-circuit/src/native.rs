//! Machine code: generated AVX2 code for programs, and loops written with SIMD intrinsics.
//!
//! This module tree is the only one with unsafe code. It has three parts:
//!
//! - The **code generator** turns a [`Program`](crate::run::program::Program) into a function in
//!   executable memory. `allocate` assigns registers, `machine` encodes instructions, `generate`
//!   writes the pages. [`NativeLanes`] computes 256 games at once, [`NativeOne`] a single game.
//!   Pages are written first and made executable afterwards; they are never writable and executable
//!   at the same time.
//! - **[`simd`]** has loops over whole planes that compilers do not vectorise well enough. Each has
//!   a portable twin in the same file.
//! - **[`with_wide_registers`]** compiles ordinary loops around generated code for the same
//!   processors.
//!
//! Every fast path has a safe twin that gives the same bits: `run::interpret` for generated code,
//! the portable functions in `simd` for intrinsics. Tests compare them.
#![allow(unsafe_code)]

mod allocate;
mod generate;
mod lanes;
mod machine;
mod one;
pub(crate) mod simd;

#[cfg(test)]
pub(crate) use generate::n_generated;
pub(crate) use lanes::NativeLanes;
pub(crate) use one::NativeOne;

/// Returns whether this processor runs the code that is generated here.
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

/// A loop around generated code, to be compiled for the processors that run the generated code.
pub(crate) trait Work {
    /// Runs the loop.
    ///
    /// Implementations are marked `#[inline(always)]`, and so is everything they call: only what is
    /// inlined is compiled with the wider instruction set.
    fn work(self);
}

/// Does the work, compiled for AVX2 and the bit counting instructions if this processor has them.
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
