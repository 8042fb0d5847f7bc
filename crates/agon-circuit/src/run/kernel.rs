//! Programs ready to run on 256 lanes, by either executor.

use std::sync::Arc;

use crate::Plane;
use crate::native::NativeLanes;
use crate::run::interpret::Interpreter;
use crate::run::program::Program;

/// The way in which programs are executed. Both give the same results.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Generated machine code where the processor has AVX2, else the same as `Portable`.
    #[default]
    Native,
    /// The interpreter, which runs everywhere and is the oracle of the generated code.
    Portable,
}

/// A program with scratch memory of its own. One per thread. A clone shares the code.
#[derive(Clone)]
pub(crate) struct Kernel {
    executor: Arc<Executor>,
    n_state: usize,
    scratch: Vec<Plane>,
}

enum Executor {
    Native(NativeLanes),
    Portable(Interpreter),
}

impl Kernel {
    /// Prepares a program. Its first `n_state` leaves are the state, the others the rest.
    pub(crate) fn new(program: &Program, n_state: usize, backend: Backend) -> Kernel {
        let native = match backend {
            Backend::Native => NativeLanes::new(program, n_state).ok(),
            Backend::Portable => None,
        };
        match native {
            Some(native) => {
                let scratch = vec![Plane::ZERO; native.n_scratch()];
                Kernel { executor: Arc::new(Executor::Native(native)), n_state, scratch }
            }
            None => {
                let scratch = vec![Plane::ZERO; program.n_leaves];
                let executor = Arc::new(Executor::Portable(Interpreter::new(program)));
                Kernel { executor, n_state, scratch }
            }
        }
    }

    /// Computes the outputs from a state and the rest of the leaves.
    #[inline(always)]
    pub(crate) fn run(&mut self, state: &[Plane], rest: &[Plane], out: &mut [Plane]) {
        match &*self.executor {
            Executor::Native(native) => native.run(state, rest, out, &mut self.scratch),
            Executor::Portable(interpreter) => {
                self.scratch[..self.n_state].copy_from_slice(&state[..self.n_state]);
                self.scratch[self.n_state..self.n_state + rest.len()].copy_from_slice(rest);
                interpreter.run(&mut self.scratch, out);
            }
        }
    }

    /// Returns the numbers of machine instructions and of bytes of code, if it is native.
    pub(crate) fn native_size(&self) -> Option<(usize, usize)> {
        match &*self.executor {
            Executor::Native(native) => Some(native.size()),
            Executor::Portable(_) => None,
        }
    }
}
