//! The few x86-64 instructions that straight-line logic on vector registers needs, as bytes.
//!
//! Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, VEX.128 and VEX.256.

use crate::program::Operation;

/// How wide the values of a program are, and what lies in memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// 256 bits everywhere: as many games at once.
    Lanes,
    /// 128 bits, all of them the same, for one game; results are 32 bits each, so that they lie close together.
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

/// What a general register points at, in the order of the arguments of the generated function.
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

/// The bytes of a function that does these steps and returns.
pub(super) fn assemble(steps: &[Step], width: Width) -> Vec<u8> {
    let mut code = Vec::with_capacity(8 * steps.len() + 4);
    for &step in steps {
        match step {
            // vmovdqu from memory and to memory; vmovd m32, xmm.
            Step::Load { to, from } => {
                encode(&mut code, width, Prefix::F3, 0x6f, to, Register(0), Operand::Memory(from));
            }
            Step::Store { from, to } if width == Width::One && to.area == Area::Out => {
                encode(
                    &mut code,
                    width,
                    Prefix::Is66,
                    0x7e,
                    from,
                    Register(0),
                    Operand::Memory(to),
                );
            }
            Step::Store { from, to } => {
                encode(&mut code, width, Prefix::F3, 0x7f, from, Register(0), Operand::Memory(to));
            }
            Step::Compute { operation, to, left, right } => {
                let opcode = match operation {
                    Operation::And => 0xdb,
                    Operation::AndNot => 0xdf,
                    Operation::Or => 0xeb,
                    Operation::Xor => 0xef,
                };
                // A high register on the right takes a longer prefix; where the order is free, it goes to the left.
                match right {
                    Operand::Register(high)
                        if high.0 >= 8 && left.0 < 8 && operation != Operation::AndNot =>
                    {
                        encode(
                            &mut code,
                            width,
                            Prefix::Is66,
                            opcode,
                            to,
                            high,
                            Operand::Register(left),
                        );
                    }
                    _ => encode(&mut code, width, Prefix::Is66, opcode, to, left, right),
                }
            }
        }
    }
    // vzeroupper; ret.
    code.extend([0xc5, 0xf8, 0x77, 0xc3]);
    code
}

/// The `pp` field of a VEX prefix.
#[derive(Copy, Clone)]
enum Prefix {
    Is66 = 1,
    F3 = 2,
}

/// One VEX.0F instruction: opcode, the register field, the extra operand and the register-or-memory field.
fn encode(
    code: &mut Vec<u8>,
    width: Width,
    prefix: Prefix,
    opcode: u8,
    register: Register,
    extra: Register,
    operand: Operand,
) {
    let not_r = u8::from(register.0 < 8) << 7;
    // The extra operand is stored in one's complement; bit 2 says 256 bits.
    let rest = (!extra.0 & 15) << 3 | u8::from(width == Width::Lanes) << 2 | prefix as u8;
    match operand {
        Operand::Register(Register(high @ 8..)) => {
            // Three bytes: bit 6 (no index) set, bit 5 clear for the high register, map 1.
            code.extend([
                0xc4,
                not_r | 1 << 6 | 1,
                rest,
                opcode,
                3 << 6 | (register.0 & 7) << 3 | high & 7,
            ]);
        }
        Operand::Register(Register(low)) => {
            code.extend([0xc5, not_r | rest, opcode, 3 << 6 | (register.0 & 7) << 3 | low]);
        }
        Operand::Memory(Memory { area, index }) => {
            let base = match area {
                Area::State => 7,
                Area::Rest => 6,
                Area::Out => 2,
                Area::Scratch => 1,
            };
            let size = match (width, area) {
                (Width::Lanes, _) => 32,
                (Width::One, Area::Out) => 4,
                (Width::One, Area::State | Area::Rest | Area::Scratch) => 16,
            };
            let offset =
                i32::try_from(size * i64::from(index)).expect("areas are smaller than 2 GiB");
            code.extend([0xc5, not_r | rest, opcode]);
            match i8::try_from(offset) {
                Ok(short) => code.extend([1 << 6 | (register.0 & 7) << 3 | base, short as u8]),
                Err(_) => {
                    code.push(2 << 6 | (register.0 & 7) << 3 | base);
                    code.extend(offset.to_le_bytes());
                }
            }
        }
    }
}
