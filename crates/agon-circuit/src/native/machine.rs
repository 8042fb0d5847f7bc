//! An assembler for the few x86-64 instructions that straight-line logic on vector registers needs.
//!
//! Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, VEX.128 and
//! VEX.256.

use crate::run::program::Operation;

/// The width of the values of a program, in registers and in memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// 256 bits everywhere, a bit for each of 256 games.
    Lanes,
    /// 128 equal bits for one game. Results have 32 bits each, so that they lie close together.
    One,
}

/// One of `ymm0` to `ymm15`, or its lower half.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Register(u8);

impl Register {
    pub(super) fn new(index: usize) -> Register {
        debug_assert!(index < 16, "there are sixteen registers");
        Register(index as u8)
    }

    pub(super) fn index(self) -> usize {
        self.0.into()
    }
}

/// An area of memory, in the order of the arguments of the generated function.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Area {
    State,
    Rest,
    Out,
    Scratch,
}

/// A value in memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) area: Area,
    /// Counted in values from the beginning of the area.
    pub(super) index: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Register(Register),
    Memory(Memory),
}

/// One machine instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Load { to: Register, from: Memory },
    Store { from: Register, to: Memory },
    Compute { operation: Operation, to: Register, left: Register, right: Operand },
}

/// Returns the bytes of a function that executes these steps and returns.
pub(super) fn assemble(steps: &[Step], width: Width) -> Vec<u8> {
    let mut assembler = Assembler { code: Vec::with_capacity(8 * steps.len() + 4), width };
    for &step in steps {
        assembler.step(step);
    }
    assembler.code.extend([0xc5, 0xf8, 0x77, 0xc3]); // vzeroupper; ret
    assembler.code
}

/// The `pp` field of a VEX prefix, and the byte of the opcode.
#[derive(Copy, Clone)]
struct Opcode {
    prefix: u8,
    byte: u8,
}

impl Opcode {
    const fn with_66(byte: u8) -> Opcode {
        Opcode { prefix: 1, byte }
    }

    const fn with_f3(byte: u8) -> Opcode {
        Opcode { prefix: 2, byte }
    }
}

/// `vmovdqu` from memory.
const LOAD: Opcode = Opcode::with_f3(0x6f);
/// `vmovdqu` to memory.
const STORE: Opcode = Opcode::with_f3(0x7f);
/// `vmovd m32, xmm`.
const STORE_32_BITS: Opcode = Opcode::with_66(0x7e);

/// Machine code that grows by one instruction at a time.
struct Assembler {
    code: Vec<u8>,
    width: Width,
}

impl Assembler {
    fn step(&mut self, step: Step) {
        match step {
            Step::Load { to, from } => {
                self.encode(LOAD, to, Register(0), Operand::Memory(from));
            }
            Step::Store { from, to } => {
                let is_result = self.width == Width::One && to.area == Area::Out;
                let opcode = if is_result { STORE_32_BITS } else { STORE };
                self.encode(opcode, from, Register(0), Operand::Memory(to));
            }
            Step::Compute { operation, to, left, right } => {
                let opcode = Opcode::with_66(match operation {
                    Operation::And => 0xdb,
                    Operation::AndNot => 0xdf,
                    Operation::Or => 0xeb,
                    Operation::Xor => 0xef,
                });
                // A high register on the right takes a longer prefix. Where the order is free, it
                // goes to the left.
                match right {
                    Operand::Register(high)
                        if high.0 >= 8 && left.0 < 8 && operation != Operation::AndNot =>
                    {
                        self.encode(opcode, to, high, Operand::Register(left));
                    }
                    _ => self.encode(opcode, to, left, right),
                }
            }
        }
    }

    /// Encodes one VEX.0F instruction: opcode, the register field, the extra operand and the
    /// register-or-memory field.
    fn encode(&mut self, opcode: Opcode, register: Register, extra: Register, operand: Operand) {
        let Assembler { code, width } = self;
        let not_r = u8::from(register.0 < 8) << 7;
        // The extra operand is stored in one's complement. Bit 2 says 256 bits.
        let rest = (!extra.0 & 15) << 3 | u8::from(*width == Width::Lanes) << 2 | opcode.prefix;
        let field = (register.0 & 7) << 3;
        match operand {
            Operand::Register(Register(high @ 8..)) => {
                // Three bytes: bit 6 (no index) set, bit 5 clear for the high register, map 1.
                let prefix = [0xc4, not_r | 1 << 6 | 1, rest];
                code.extend(prefix);
                code.extend([opcode.byte, 3 << 6 | field | high & 7]);
            }
            Operand::Register(Register(low)) => {
                code.extend([0xc5, not_r | rest, opcode.byte, 3 << 6 | field | low]);
            }
            Operand::Memory(memory) => {
                let offset = memory.offset(*width);
                code.extend([0xc5, not_r | rest, opcode.byte]);
                match i8::try_from(offset) {
                    Ok(short) => code.extend([1 << 6 | field | memory.base(), short as u8]),
                    Err(_) => {
                        code.push(2 << 6 | field | memory.base());
                        code.extend(offset.to_le_bytes());
                    }
                }
            }
        }
    }
}

impl Memory {
    /// Returns the number of the general register that points at the area: an argument of the
    /// function by the System V calling convention.
    fn base(self) -> u8 {
        match self.area {
            Area::State => 7,
            Area::Rest => 6,
            Area::Out => 2,
            Area::Scratch => 1,
        }
    }

    /// Returns the distance from the beginning of the area in bytes.
    fn offset(self, width: Width) -> i32 {
        let size = match (width, self.area) {
            (Width::Lanes, _) => 32,
            (Width::One, Area::Out) => 4,
            (Width::One, Area::State | Area::Rest | Area::Scratch) => 16,
        };
        i32::try_from(size * i64::from(self.index)).expect("areas are smaller than 2 GiB")
    }
}
