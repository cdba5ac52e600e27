// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks a program before it runs: known instructions, existing registers, and jumps that lead to
//! instructions.

use super::elf::INSN;
use super::vm::{Insn, class};

/// A call of a function (`src` 1) or of a helper (`src` 0).
pub(super) const CALL: u8 = 0x85;
/// The end of a function.
pub(super) const EXIT: u8 = 0x95;
/// The two halves of a 64-bit constant.
const LOAD_64: u8 = 0x18;
/// Modes of loads and stores.
const MEMORY: u8 = 0x60;
pub(super) const SIGNED: u8 = 0x80;
const ATOMIC: u8 = 0xc0;
/// A jump whose distance is in `imm`.
const JUMP_FAR: u8 = 0x06;

/// Where a jump or a call at `at` leads. [`decode`] has checked that an instruction is there.
#[inline]
pub(super) fn target(at: usize, insn: Insn) -> usize {
    (at as i64 + 1 + distance(insn)) as usize
}

fn distance(insn: Insn) -> i64 {
    match insn.code {
        CALL | JUMP_FAR => insn.imm,
        _ => insn.off.into(),
    }
}

/// Decodes a program. `Err` names the instruction that the interpreter cannot run.
pub(super) fn decode(program: &[u8]) -> Result<Vec<Insn>, String> {
    if program.is_empty() || !program.len().is_multiple_of(INSN) {
        return Err("no whole number of instructions".to_owned());
    }
    let mut insns: Vec<Insn> = program
        .chunks_exact(INSN)
        .map(|b| Insn {
            code: b[0],
            dst: b[1] & 15,
            src: b[1] >> 4,
            off: i16::from_le_bytes([b[2], b[3]]),
            imm: i32::from_le_bytes([b[4], b[5], b[6], b[7]]).into(),
        })
        .collect();
    // The second half of a 64-bit constant is not an instruction, so no jump may lead there.
    let mut half = vec![false; insns.len()];
    for i in 0..insns.len() {
        if half[i] {
            continue;
        }
        let insn = insns[i];
        one(insn).map_err(|why| format!("instruction {i}: {why}"))?;
        if insn.code == LOAD_64 {
            let second = *insns
                .get(i + 1)
                .ok_or_else(|| format!("instruction {i}: half a constant"))?;
            half[i + 1] = true;
            insns[i].imm = i64::from(insn.imm as u32) | second.imm << 32;
        }
    }
    for (i, insn) in insns.iter().enumerate() {
        let leads = matches!(insn.class(), class::JMP | class::JMP32)
            && insn.code != EXIT
            && !(insn.code == CALL && insn.src == 0);
        let to = i as i64 + 1 + distance(*insn);
        let lands = usize::try_from(to).is_ok_and(|to| half.get(to) == Some(&false));
        if leads && !half[i] && !lands {
            return Err(format!(
                "instruction {i}: leads to {to}, where no instruction is"
            ));
        }
    }
    Ok(insns)
}

/// Checks one instruction.
fn one(insn: Insn) -> Result<(), String> {
    let unknown = || Err(format!("{:#04x} is not known to this machine", insn.code));
    let writes = match insn.class() {
        class::LD if insn.code != LOAD_64 => return unknown(),
        class::LD if insn.src != 0 => {
            return Err("uses a map or a global variable, and there are none".to_owned());
        }
        class::LD => true,
        class::STX if insn.code & 0xe0 == ATOMIC => {
            return Err("is atomic: a marker runs alone, so write it without".to_owned());
        }
        class::LDX if insn.code & 0xe0 == SIGNED && insn.code & 0x18 != 0x18 => true,
        class::LDX | class::ST | class::STX if insn.code & 0xe0 != MEMORY => return unknown(),
        class::LDX => true,
        class::ST | class::STX => false,
        class::ALU | class::ALU64 => {
            arithmetic(insn)?;
            true
        }
        _ => {
            jump(insn)?;
            false
        }
    };
    // Register 10, the frame pointer, is read-only.
    if insn.dst > 10 || insn.src > 10 || (writes && insn.dst == 10) {
        return Err(format!(
            "has no use for the registers {} and {}",
            insn.dst, insn.src
        ));
    }
    Ok(())
}

fn arithmetic(insn: Insn) -> Result<(), String> {
    let wide = insn.class() == class::ALU64;
    let known = match insn.op() {
        // Offset 1: signed division. 0xb0: moves that extend the sign.
        0x30 | 0x90 => matches!(insn.off, 0 | 1),
        0xb0 => {
            insn.off == 0
                || (insn.by_register() && (matches!(insn.off, 8 | 16) || (wide && insn.off == 32)))
        }
        0xd0 => insn.off == 0 && matches!(insn.imm, 16 | 32 | 64) && !(wide && insn.by_register()),
        0x80 => insn.off == 0 && !insn.by_register(),
        0xe0 | 0xf0 => false,
        _ => insn.off == 0,
    };
    known.then_some(()).ok_or_else(|| {
        format!(
            "{:#04x} with offset {} is not known to this machine",
            insn.code, insn.off
        )
    })
}

fn jump(insn: Insn) -> Result<(), String> {
    let wide = insn.class() == class::JMP;
    let known = match insn.op() {
        0x00 => !insn.by_register(),
        0x80 | 0x90 => wide && !insn.by_register(),
        0xe0 | 0xf0 => false,
        _ => true,
    };
    if !known {
        return Err(format!("{:#04x} is not known to this machine", insn.code));
    }
    if insn.code == CALL && insn.src > 1 {
        return Err("calls by a way that is not known to this machine".to_owned());
    }
    Ok(())
}
