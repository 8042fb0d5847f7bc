//! Register allocation for straight-line code.
//!
//! By Belady's rule: when a register is needed and none is free, the value whose next use lies
//! farthest ahead is evicted. In code without branches the next use is known, and no other rule
//! evicts less often.

use super::machine::{Area, Memory, Operand, Register, Step};
use crate::run::program::{Instruction, Operation, Output, Program, Value};

/// Machine instructions, and the number of scratch values that they need. Scratch value 0 is all
/// ones.
pub(super) struct Allocated {
    pub(super) steps: Vec<Step>,
    pub(super) n_scratch: usize,
}

/// Assigns registers to the values of a program.
///
/// The first `n_state` leaves lie in the state area, the others in the rest area. Outputs go to the
/// out area in order.
pub(super) fn allocate(program: &Program, n_state: usize) -> Allocated {
    let n_values = program.n_leaves + program.instructions.len();
    let mut allocator = Allocator {
        n_state: n_state as Value,
        n_leaves: program.n_leaves as Value,
        next_uses: next_uses(program),
        register_of: vec![None; n_values],
        spilled_to: vec![None; n_values],
        held: [None; 16],
        free_scratch: Vec::new(),
        n_scratch: 1,
        steps: Vec::with_capacity(2 * program.instructions.len()),
    };
    let mut outputs: Vec<(Value, u32, bool)> = Vec::new();
    for (idx, output) in (0..).zip(&program.outputs) {
        match *output {
            Output::Value { value, inverted } => outputs.push((value, idx, inverted)),
            Output::Constant(value) => allocator.constant(value, idx),
        }
    }
    outputs.sort_unstable();
    let (of_leaves, mut of_instructions) =
        outputs.split_at(outputs.partition_point(|&(value, ..)| value < allocator.n_leaves));
    for &(leaf, idx, inverted) in of_leaves {
        allocator.copy_leaf(leaf, idx, inverted);
    }
    for (idx, &instruction) in program.instructions.iter().enumerate() {
        let value = (program.n_leaves + idx) as Value;
        let register = allocator.instruction(idx, instruction, value);
        let n_own = of_instructions.iter().take_while(|&&(output, ..)| output == value).count();
        let (own, others) = of_instructions.split_at(n_own);
        of_instructions = others;
        for &(_, output, inverted) in own {
            allocator.output(register, output, inverted);
        }
        // A value that only outputs read has been stored.
        if allocator.held[register.index()].is_some_and(|held| held.next_use == NEVER) {
            allocator.release(register);
        }
    }
    Allocated { steps: allocator.steps, n_scratch: allocator.n_scratch }
}

/// The next use of a value that is not read again.
const NEVER: u32 = u32::MAX;

/// When values are read.
struct NextUses {
    /// By instruction and operand: the next instruction that reads the same value.
    after: Vec<[u32; 2]>,
    /// By value: its first use.
    first: Vec<u32>,
}

fn next_uses(program: &Program) -> NextUses {
    let mut first = vec![NEVER; program.n_leaves + program.instructions.len()];
    let mut after = vec![[NEVER; 2]; program.instructions.len()];
    for (idx, &Instruction { a, b, .. }) in program.instructions.iter().enumerate().rev() {
        after[idx] = [first[a as usize], first[b as usize]];
        first[a as usize] = idx as u32;
        first[b as usize] = idx as u32;
    }
    NextUses { after, first }
}

/// A value in a register.
#[derive(Copy, Clone)]
struct Held {
    value: Value,
    /// The instruction that reads it next, after the current one.
    next_use: u32,
    /// Whether the current instruction needs it, so that it must stay.
    is_pinned: bool,
}

/// The state of the allocation after some instructions.
///
/// Invariants: `register_of[v]` is `r` exactly if `held[r]` holds `v`. A value that is still to be
/// read is in a register, a leaf, or spilled.
struct Allocator {
    n_state: Value,
    n_leaves: Value,
    next_uses: NextUses,
    register_of: Vec<Option<Register>>,
    spilled_to: Vec<Option<u32>>,
    held: [Option<Held>; 16],
    free_scratch: Vec<u32>,
    n_scratch: usize,
    steps: Vec<Step>,
}

impl Allocator {
    /// Emits one instruction. Returns the register of its result.
    fn instruction(&mut self, idx: usize, instruction: Instruction, value: Value) -> Register {
        let Instruction { operation, mut a, mut b } = instruction;
        let [mut after_a, mut after_b] = self.next_uses.after[idx];
        // Only the right operand may come from memory. Where the order is free, the operand in
        // memory goes there.
        let is_symmetric = operation != Operation::AndNot;
        if is_symmetric
            && self.register_of[a as usize].is_none()
            && self.register_of[b as usize].is_some()
        {
            (a, b, after_a, after_b) = (b, a, after_b, after_a);
        }
        for operand in [a, b] {
            self.pin(operand);
        }
        let left = self.in_register(a, after_a);
        let right = match self.register_of[b as usize] {
            Some(register) => Operand::Register(register),
            None if after_b == NEVER || !self.is_worth_register(after_b) => {
                Operand::Memory(self.home(b))
            }
            None => Operand::Register(self.in_register(b, after_b)),
        };
        for (operand, after) in [(a, after_a), (b, after_b)] {
            self.read(operand, after);
        }
        let to = self.take_register();
        self.steps.push(Step::Compute { operation, to, left, right });
        // Slots are freed last: `take_register` may have spilled a value, which must not go into
        // the slot of an operand.
        for (operand, after) in [(a, after_a), (b, after_b)] {
            if after == NEVER
                && let Some(slot) = self.spilled_to[operand as usize].take()
            {
                self.free_scratch.push(slot);
            }
        }
        self.hold(to, value, self.next_uses.first[value as usize]);
        to
    }

    fn pin(&mut self, value: Value) {
        if let Some(register) = self.register_of[value as usize]
            && let Some(held) = &mut self.held[register.index()]
        {
            held.is_pinned = true;
        }
    }

    /// Notes that an operand has been read and when it is read again.
    fn read(&mut self, value: Value, after: u32) {
        if let Some(register) = self.register_of[value as usize] {
            if after == NEVER {
                self.release(register);
            } else if let Some(held) = &mut self.held[register.index()] {
                held.next_use = after;
                held.is_pinned = false;
            }
        }
    }

    /// Returns the register that holds a value, which is loaded if necessary and pinned.
    fn in_register(&mut self, value: Value, after: u32) -> Register {
        if let Some(register) = self.register_of[value as usize] {
            return register;
        }
        let register = self.take_register();
        let from = self.home(value);
        self.steps.push(Step::Load { to: register, from });
        self.hold(register, value, after);
        self.pin(value);
        register
    }

    /// Returns whether a value that is read again at `after` is worth a register.
    fn is_worth_register(&self, after: u32) -> bool {
        self.held.iter().any(|held| match held {
            None => true,
            Some(held) => !held.is_pinned && held.next_use > after,
        })
    }

    /// Returns a free register. An evicted value is spilled if it is still needed and is not in
    /// memory.
    fn take_register(&mut self) -> Register {
        if let Some(free) = self.held.iter().position(Option::is_none) {
            return Register::new(free);
        }
        let candidates =
            self.held.iter().enumerate().filter_map(|(idx, held)| Some((idx, (*held)?)));
        let (idx, held) = candidates
            .filter(|(_, held)| !held.is_pinned)
            .max_by_key(|(_, held)| held.next_use)
            .expect("an instruction pins at most two of sixteen registers");
        let register = Register::new(idx);
        if held.value >= self.n_leaves
            && self.spilled_to[held.value as usize].is_none()
            && held.next_use != NEVER
        {
            let slot = self.free_scratch.pop().unwrap_or_else(|| {
                self.n_scratch += 1;
                self.n_scratch as u32 - 1
            });
            self.spilled_to[held.value as usize] = Some(slot);
            self.steps.push(Step::Store {
                from: register,
                to: Memory { area: Area::Scratch, index: slot },
            });
        }
        self.release(register);
        register
    }

    fn hold(&mut self, register: Register, value: Value, next_use: u32) {
        debug_assert!(self.held[register.index()].is_none(), "a register holds one value");
        self.held[register.index()] = Some(Held { value, next_use, is_pinned: false });
        self.register_of[value as usize] = Some(register);
    }

    fn release(&mut self, register: Register) {
        if let Some(held) = self.held[register.index()].take() {
            self.register_of[held.value as usize] = None;
        }
    }

    /// Returns where a value lies in memory.
    fn home(&self, value: Value) -> Memory {
        if value < self.n_state {
            return Memory { area: Area::State, index: value };
        }
        if value < self.n_leaves {
            return Memory { area: Area::Rest, index: value - self.n_state };
        }
        let index = self.spilled_to[value as usize]
            .expect("a value that is still to be read is in a register, a leaf, or spilled");
        Memory { area: Area::Scratch, index }
    }

    fn output(&mut self, register: Register, output: u32, inverted: bool) {
        let to = Memory { area: Area::Out, index: output };
        if !inverted {
            self.steps.push(Step::Store { from: register, to });
            return;
        }
        if let Some(held) = &mut self.held[register.index()] {
            held.is_pinned = true;
        }
        let temporary = self.take_register();
        self.steps.push(Step::Compute {
            operation: Operation::Xor,
            to: temporary,
            left: register,
            right: Operand::Memory(ONES),
        });
        self.steps.push(Step::Store { from: temporary, to });
        if let Some(held) = &mut self.held[register.index()] {
            held.is_pinned = false;
        }
    }

    fn constant(&mut self, value: bool, output: u32) {
        let register = self.take_register();
        self.steps.push(Step::Load { to: register, from: ONES });
        if !value {
            let (operation, right) = (Operation::Xor, Operand::Register(register));
            self.steps.push(Step::Compute { operation, to: register, left: register, right });
        }
        self.steps
            .push(Step::Store { from: register, to: Memory { area: Area::Out, index: output } });
    }

    fn copy_leaf(&mut self, leaf: Value, output: u32, inverted: bool) {
        let register = self.take_register();
        self.steps.push(Step::Load { to: register, from: self.home(leaf) });
        if inverted {
            let (operation, right) = (Operation::Xor, Operand::Memory(ONES));
            self.steps.push(Step::Compute { operation, to: register, left: register, right });
        }
        self.steps
            .push(Step::Store { from: register, to: Memory { area: Area::Out, index: output } });
    }
}

/// The scratch value that is all ones.
const ONES: Memory = Memory { area: Area::Scratch, index: 0 };
