//! The parts that all code generators share: checks before generation, executable memory after.

use memmap2::{Mmap, MmapMut};

use super::is_available;
use crate::run::program::{Output, Program};

/// The reason why there is no machine code for a program. The portable interpreter is used instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// The processor lacks AVX2, or is not an x86-64.
    Processor,
    /// The operating system gave no executable memory, with its message.
    Memory(String),
}

/// Checks what generated code relies on: the processor, and that every operand is a leaf or an
/// earlier result.
///
/// # Panics
/// If the program breaks its invariants.
pub(super) fn check(program: &Program) -> Result<(), Unavailable> {
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

/// Copies code to memory from which it can be called.
pub(super) fn executable(bytes: &[u8]) -> Result<Mmap, Unavailable> {
    let memory = |error: std::io::Error| Unavailable::Memory(error.to_string());
    let mut pages = MmapMut::map_anon(bytes.len()).map_err(memory)?;
    pages[..bytes.len()].copy_from_slice(bytes);
    #[cfg(test)]
    N_GENERATED.with(|n| n.set(n.get() + 1));
    pages.make_exec().map_err(memory)
}

#[cfg(test)]
thread_local! {
    static N_GENERATED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns how many functions this thread has generated so far.
#[cfg(test)]
pub(crate) fn n_generated() -> usize {
    N_GENERATED.with(std::cell::Cell::get)
}
