// SPDX-License-Identifier: MIT OR Apache-2.0
//! One BPF program, ready to run.
#![allow(unsafe_code)]

use crate::abi::Call;

use super::elf::INSN;

/// A verified program.
pub(super) struct Vm(rbpf::EbpfVmRaw<'static>);

// SAFETY: nothing in the machine is tied to a thread; it merely could hold a user's data for stack checks, which we never give it
// (`set_stack_usage_calculator` is not called).
unsafe impl Send for Vm {}
// SAFETY: running takes `&self`, reads the program and writes only to the block that it is given and to a stack of its own.
unsafe impl Sync for Vm {}

impl Vm {
    /// Checks a program and keeps it for the life of the process. `Err` says what is wrong.
    pub(super) fn load(program: Vec<u8>) -> Result<Self, String> {
        same_meaning(&program)?;
        // The machine borrows its program. Objects are few and live as long as the simulation.
        let program: &'static [u8] = Box::leak(program.into_boxed_slice());
        rbpf::EbpfVmRaw::new(Some(program))
            .map(Vm)
            .map_err(|e| e.to_string())
    }

    /// Runs it with the block's address in its first register.
    #[inline]
    pub(super) fn run(&self, call: &mut Call) -> Result<u32, String> {
        let block = std::ptr::from_mut(call).cast::<u8>();
        // SAFETY: `Call` is plain integers without padding that matters, any bytes are a valid one, and the borrow is ours.
        let block = unsafe { std::slice::from_raw_parts_mut(block, size_of::<Call>()) };
        run(&self.0, block)
    }
}

/// With a lifetime of its own, shorter than the program's.
fn run<'a>(vm: &rbpf::EbpfVmRaw<'a>, block: &'a mut [u8]) -> Result<u32, String> {
    vm.execute_program(block)
        .map(|answer| answer as u32)
        .map_err(|e| e.to_string())
}

/// Refuses what this machine would run otherwise than a kernel: it does not extend the sign of an immediate that a 64-bit register
/// is compared with (rbpf 0.4; RFC 9669 section 4.3 and Linux do).
fn same_meaning(program: &[u8]) -> Result<(), String> {
    const JUMP: u8 = 0x05;
    const UNSIGNED: [u8; 6] = [0x10, 0x20, 0x30, 0x50, 0xa0, 0xb0];
    const LOAD_64: u8 = 0x18;
    let mut rows = program.chunks_exact(INSN).enumerate();
    while let Some((i, insn)) = rows.next() {
        let code = insn[0];
        if code == LOAD_64 {
            rows.next(); // its second half is data
        } else if code & 0x07 == JUMP
            && code & 0x08 == 0
            && UNSIGNED.contains(&(code & 0xf0))
            && insn[7] & 0x80 != 0
        {
            return Err(format!(
                "instruction {i} compares 64 bits with a negative constant, which the built-in machine would get wrong: compare with a variable, or in 32 bits"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One instruction.
    fn insn(code: u8, registers: u8, offset: i16, imm: i32) -> [u8; INSN] {
        let (o, i) = (offset.to_le_bytes(), imm.to_le_bytes());
        [code, registers, o[0], o[1], i[0], i[1], i[2], i[3]]
    }

    const EXIT: [u8; INSN] = [0x95, 0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn a_comparison_that_it_would_get_wrong_is_refused() {
        let jump = |imm| [insn(0xb7, 0, 0, 0), insn(0x15, 0, 0, imm), EXIT].concat();
        assert!(Vm::load(jump(1)).is_ok());
        assert!(Vm::load(jump(-1)).is_err_and(|e| e.contains("instruction 1")));
    }

    #[test]
    fn a_load_outside_the_block_is_an_error() {
        let mut call = Call::new(
            &cemark_marking::Values([0; 16]),
            &cemark_marking::QueueSpec::fifo(cemark_wire::Rate::gbps(1)),
        );
        let read = |at: i16| [insn(0x61, 0x10, at, 0), EXIT].concat(); // w0 = *(u32 *)(r1 + at)
        call.at.now = 77;
        assert_eq!(Vm::load(read(0)).unwrap().run(&mut call), Ok(77));
        let last = size_of::<Call>() as i16 - 4;
        assert_eq!(Vm::load(read(last)).unwrap().run(&mut call), Ok(0));
        assert!(Vm::load(read(last + 1)).unwrap().run(&mut call).is_err());
        assert!(Vm::load(read(-1)).unwrap().run(&mut call).is_err());
    }
}
