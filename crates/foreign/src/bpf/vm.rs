// SPDX-License-Identifier: MIT OR Apache-2.0
//! An interpreter of BPF (RFC 9669) for markers. It checks every load and store and limits the
//! number of instructions.
//!
//! A marker has two regions of memory, its block and its stack, at virtual addresses. There are no
//! maps, no helpers and no atomic instructions. An error at run time is a [`Trap`].

use crate::abi::Call;

use super::verify;

/// Instructions that one call may execute: as many as Linux's verifier follows. Schemes of the
/// catalogue execute hundreds, and fewer than 10,000 on random input.
pub const BUDGET: u32 = 1_000_000;
/// Functions that may be active at the same time, including the entry point, as in a kernel.
pub(super) const DEPTH: usize = 8;
/// Bytes of stack of each function.
pub(super) const FRAME: usize = 512;
/// Virtual addresses of the block and of the stack. They are far apart, so that an offset error in
/// one cannot reach the other.
const BLOCK: u64 = 0x1000_0000_0000;
const STACK: u64 = 0x2000_0000_0000;

/// Instruction classes: the lowest three bits of the opcode.
pub(super) mod class {
    pub const LD: u8 = 0;
    pub const LDX: u8 = 1;
    pub const ST: u8 = 2;
    pub const STX: u8 = 3;
    pub const ALU: u8 = 4;
    pub const JMP: u8 = 5;
    pub const JMP32: u8 = 6;
    pub const ALU64: u8 = 7;
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Insn {
    pub code: u8,
    pub dst: u8,
    pub src: u8,
    pub off: i16,
    /// Sign-extended; for a 64-bit load the whole constant.
    pub imm: i64,
}

impl Insn {
    pub(super) fn class(self) -> u8 {
        self.code & 0x07
    }

    /// The operation of arithmetic and of jumps.
    pub(super) fn op(self) -> u8 {
        self.code & 0xf0
    }

    /// Whether the second operand is a register.
    pub(super) fn by_register(self) -> bool {
        self.code & 0x08 != 0
    }

    /// Bytes that a load or a store moves.
    fn size(self) -> usize {
        match self.code & 0x18 {
            0x00 => 4,
            0x08 => 2,
            0x10 => 1,
            _ => 8,
        }
    }
}

/// An error at run time, and its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trap {
    pub at: usize,
    pub what: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Load { address: u64, size: usize },
    Store { address: u64, size: usize },
    Depth,
    Helper(i64),
    Budget,
    End,
}

impl Trap {
    /// The trap in words, with its instruction.
    pub(super) fn why(self) -> String {
        let what = match self.what {
            Wrong::Load { address, size } => format!("reads {size} bytes {}", place(address)),
            Wrong::Store { address, size } => format!("writes {size} bytes {}", place(address)),
            Wrong::Depth => format!("calls functions more than {DEPTH} deep"),
            Wrong::Helper(id) => format!("calls the helper {id}, and there are no helpers"),
            Wrong::Budget => format!("has not come to its end after {BUDGET} instructions"),
            Wrong::End => "runs past the end of its code".to_owned(),
        };
        format!("instruction {}: {what}", self.at)
    }

    /// Advice for the marker's author.
    pub(super) fn help(self) -> &'static str {
        match self.what {
            Wrong::Load { .. } | Wrong::Store { .. } => {
                "a marker may access its block (struct cemark_call) and 512 bytes of stack per \
                 function: check pointers for NULL and indices for their range"
            }
            Wrong::Depth => {
                "write a loop instead of the recursion: a kernel has the same limit of 8 functions"
            }
            Wrong::Helper(_) => {
                "a marker calls only its own functions: all of its input is in struct cemark_at"
            }
            Wrong::Budget => "bound the loop: a kernel would refuse it as well",
            Wrong::End => "end every path with a return",
        }
    }
}

/// An address in the terms of the marker's author.
fn place(address: u64) -> String {
    let near = 1 << 20;
    let (block, stack) = (
        address.wrapping_sub(BLOCK) as i64,
        STACK.wrapping_sub(address) as i64,
    );
    if block.abs() < near {
        format!(
            "at byte {block} of its block of {} bytes",
            size_of::<Call>()
        )
    } else if stack > 0 && stack < near {
        format!("{stack} bytes below the top of its stack, which has {FRAME} for each function")
    } else if stack.abs() < near {
        format!("{} bytes above its stack", -stack)
    } else {
        format!("at the address {address:#x}, where nothing is")
    }
}

/// A checked program.
#[derive(Debug)]
pub(super) struct Vm {
    insns: Vec<Insn>,
    // A program without calls needs the stack of one function.
    calls: bool,
}

impl Vm {
    /// Checks a program. `Err` says what is wrong.
    pub(super) fn load(program: &[u8]) -> Result<Self, String> {
        let insns = verify::decode(program)?;
        let calls = insns.iter().any(|i| i.code == verify::CALL && i.src == 1);
        Ok(Vm { insns, calls })
    }

    /// Runs it with the block's address in its first register.
    #[inline]
    pub(super) fn run(&self, call: &mut Call) -> Result<u32, Trap> {
        self.execute(call.bytes(), BUDGET)
            .map(|answer| answer as u32)
    }

    /// Executes at most `budget` instructions.
    fn execute(&self, block: &mut [u8], budget: u32) -> Result<u64, Trap> {
        if self.calls {
            self.interpret(block, &mut [0; DEPTH * FRAME], budget)
        } else {
            self.interpret(block, &mut [0; FRAME], budget)
        }
    }

    fn interpret(&self, block: &mut [u8], stack: &mut [u8], budget: u32) -> Result<u64, Trap> {
        // 16 registers, so that any 4-bit number is a valid index without a check.
        let mut reg = [0_u64; 16];
        reg[1] = BLOCK;
        reg[10] = STACK;
        let mut memory = Memory {
            block,
            stack,
            depth: 1,
        };
        let mut callers = [Caller::default(); DEPTH];
        let mut pc = 0_usize;
        for _ in 0..budget {
            let at = pc;
            let trap = |what| Trap { at, what };
            let Some(&insn) = self.insns.get(pc) else {
                return Err(trap(Wrong::End));
            };
            pc += 1;
            let (dst, src) = (usize::from(insn.dst & 15), usize::from(insn.src & 15));
            let second = if insn.by_register() {
                reg[src]
            } else {
                insn.imm as u64
            };
            match insn.class() {
                class::ALU64 => reg[dst] = alu64(insn, reg[dst], second),
                class::ALU => reg[dst] = alu32(insn, reg[dst], second),
                class::LDX => {
                    let (address, size) = (reg[src].wrapping_add(insn.off as u64), insn.size());
                    let bytes = memory.at(address, size);
                    let bytes = bytes.ok_or_else(|| trap(Wrong::Load { address, size }))?;
                    reg[dst] = number(bytes, insn.code & 0xe0 == verify::SIGNED);
                }
                class::ST | class::STX => {
                    let (address, size) = (reg[dst].wrapping_add(insn.off as u64), insn.size());
                    let bytes = memory.at(address, size);
                    let bytes = bytes.ok_or_else(|| trap(Wrong::Store { address, size }))?;
                    let value = if insn.class() == class::ST {
                        insn.imm as u64
                    } else {
                        reg[src]
                    };
                    bytes.copy_from_slice(&value.to_le_bytes()[..size]);
                }
                class::LD => {
                    reg[dst] = insn.imm as u64;
                    pc += 1;
                }
                _ if insn.code == verify::EXIT => {
                    memory.depth -= 1;
                    if memory.depth == 0 {
                        return Ok(reg[0]);
                    }
                    pc = callers[memory.depth].back(&mut reg);
                }
                _ if insn.code == verify::CALL => {
                    if insn.src == 0 {
                        return Err(trap(Wrong::Helper(insn.imm)));
                    }
                    if memory.depth == DEPTH {
                        return Err(trap(Wrong::Depth));
                    }
                    callers[memory.depth] = Caller::leave(pc, &reg);
                    memory.enter();
                    reg[10] -= FRAME as u64;
                    pc = verify::target(at, insn);
                }
                _ if jumps(insn, reg[dst], second) => pc = verify::target(at, insn),
                _ => {}
            }
        }
        Err(Trap {
            at: pc,
            what: Wrong::Budget,
        })
    }
}

/// State of a caller, restored when the called function returns.
#[derive(Clone, Copy, Default)]
struct Caller {
    pc: usize,
    // r6 to r9 and the frame.
    kept: [u64; 5],
}

impl Caller {
    fn leave(pc: usize, reg: &[u64; 16]) -> Self {
        let kept = [reg[6], reg[7], reg[8], reg[9], reg[10]];
        Caller { pc, kept }
    }

    fn back(self, reg: &mut [u64; 16]) -> usize {
        reg[6..=10].copy_from_slice(&self.kept);
        self.pc
    }
}

/// The memory of a program.
struct Memory<'a> {
    block: &'a mut [u8],
    stack: &'a mut [u8],
    /// Functions that are active.
    depth: usize,
}

impl Memory<'_> {
    #[inline]
    fn at(&mut self, address: u64, size: usize) -> Option<&mut [u8]> {
        let inside = address.wrapping_sub(BLOCK);
        if inside < self.block.len() as u64 {
            let from = inside as usize;
            return self.block.get_mut(from..from + size);
        }
        // The stack grows downwards. Only the frames of active functions are accessible.
        let below = STACK.wrapping_sub(address);
        if below <= (self.depth * FRAME) as u64 {
            let from = self.stack.len() - below as usize;
            return self.stack.get_mut(from..from + size);
        }
        None
    }

    /// A function is entered. Its frame is cleared, so that it cannot read what an earlier call
    /// left there.
    fn enter(&mut self) {
        let top = self.stack.len() - self.depth * FRAME;
        self.stack[top - FRAME..top].fill(0);
        self.depth += 1;
    }
}

/// The integer in 1, 2, 4 or 8 little-endian bytes.
#[inline]
fn number(bytes: &[u8], signed: bool) -> u64 {
    match (bytes, signed) {
        (&[a], false) => a.into(),
        (&[a], true) => a as i8 as u64,
        (&[a, b], false) => u16::from_le_bytes([a, b]).into(),
        (&[a, b], true) => i16::from_le_bytes([a, b]) as u64,
        (&[a, b, c, d], false) => u32::from_le_bytes([a, b, c, d]).into(),
        (&[a, b, c, d], true) => i32::from_le_bytes([a, b, c, d]) as u64,
        (&[a, b, c, d, e, f, g, h], _) => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

#[inline]
fn alu64(insn: Insn, a: u64, b: u64) -> u64 {
    let signed = insn.off == 1;
    match insn.op() {
        0x00 => a.wrapping_add(b),
        0x10 => a.wrapping_sub(b),
        0x20 => a.wrapping_mul(b),
        0x30 if b == 0 => 0,
        0x30 if signed => (a as i64).wrapping_div(b as i64) as u64,
        0x30 => a / b,
        0x40 => a | b,
        0x50 => a & b,
        0x60 => a.wrapping_shl(b as u32),
        0x70 => a.wrapping_shr(b as u32),
        0x80 => a.wrapping_neg(),
        0x90 if b == 0 => a,
        0x90 if signed => (a as i64).wrapping_rem(b as i64) as u64,
        0x90 => a % b,
        0xa0 => a ^ b,
        0xb0 => match insn.off {
            8 => b as i8 as u64,
            16 => b as i16 as u64,
            32 => b as i32 as u64,
            _ => b,
        },
        0xc0 => (a as i64).wrapping_shr(b as u32) as u64,
        _ => swapped(a, insn.imm, true),
    }
}

#[inline]
fn alu32(insn: Insn, whole: u64, second: u64) -> u64 {
    let (a, b, signed) = (whole as u32, second as u32, insn.off == 1);
    let answer = match insn.op() {
        0x00 => a.wrapping_add(b),
        0x10 => a.wrapping_sub(b),
        0x20 => a.wrapping_mul(b),
        0x30 if b == 0 => 0,
        0x30 if signed => (a as i32).wrapping_div(b as i32) as u32,
        0x30 => a / b,
        0x40 => a | b,
        0x50 => a & b,
        0x60 => a.wrapping_shl(b),
        0x70 => a.wrapping_shr(b),
        0x80 => a.wrapping_neg(),
        0x90 if b == 0 => a,
        0x90 if signed => (a as i32).wrapping_rem(b as i32) as u32,
        0x90 => a % b,
        0xa0 => a ^ b,
        0xb0 => match insn.off {
            8 => b as i8 as u32,
            16 => b as i16 as u32,
            _ => b,
        },
        0xc0 => (a as i32).wrapping_shr(b) as u32,
        // Conversion to the named byte order. The interpreter is little-endian.
        _ => return swapped(whole, insn.imm, insn.by_register()),
    };
    answer.into()
}

/// The lowest `bits` of a register, with their bytes reversed if `swap` is set.
fn swapped(a: u64, bits: i64, swap: bool) -> u64 {
    match (bits, swap) {
        (16, true) => (a as u16).swap_bytes().into(),
        (16, false) => (a as u16).into(),
        (32, true) => (a as u32).swap_bytes().into(),
        (32, false) => (a as u32).into(),
        (_, true) => a.swap_bytes(),
        (_, false) => a,
    }
}

#[inline]
fn jumps(insn: Insn, a: u64, b: u64) -> bool {
    let narrow = insn.class() == class::JMP32;
    let (x, y) = if narrow {
        (a as i32 as i64, b as i32 as i64)
    } else {
        (a as i64, b as i64)
    };
    let (a, b) = if narrow {
        (a as u32 as u64, b as u32 as u64)
    } else {
        (a, b)
    };
    match insn.op() {
        0x10 => a == b,
        0x20 => a > b,
        0x30 => a >= b,
        0x40 => a & b != 0,
        0x50 => a != b,
        0x60 => x > y,
        0x70 => x >= y,
        0xa0 => a < b,
        0xb0 => a <= b,
        0xc0 => x < y,
        0xd0 => x <= y,
        _ => true,
    }
}

#[cfg(test)]
#[path = "vm_tests.rs"]
mod tests;
