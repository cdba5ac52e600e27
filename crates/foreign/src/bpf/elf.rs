// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the programs of a BPF object file and links their calls.

use object::elf::R_BPF_64_32;
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};

use super::verify::CALL;
use crate::abi::Entry;
use crate::declared::{self, Declared, Elf};

/// Bytes of an instruction.
pub(super) const INSN: usize = 8;

pub(super) struct File {
    pub(super) declared: Declared,
    /// Programs in the order of [`Entry`], each followed by the functions that it calls.
    pub(super) programs: Vec<Vec<u8>>,
}

/// Reads an object file. `Err` says what is wrong with it.
pub(super) fn read(bytes: &[u8]) -> Result<File, String> {
    let elf = declared::bytecode(bytes)?;
    let programs = Entry::ALL
        .into_iter()
        .map(|entry| program(&elf, &format!("cemark/{}", entry.name())))
        .collect::<Result<_, _>>()?;
    Ok(File {
        declared: Declared::of_bytecode(&elf)?,
        programs,
    })
}

fn program(elf: &Elf<'_>, section: &str) -> Result<Vec<u8>, String> {
    let main = elf.section_by_name(section).ok_or_else(|| {
        format!("has no section {section}: write CEMARK_MARKER(name) of <cemark/marker.h> in it")
    })?;
    let mut code = main.data().map_err(|e| e.to_string())?.to_vec();
    let others = elf.section_by_name(".text");
    let behind = code.len();
    let mut calls = relocations(&main, section)?;
    if let Some(text) = others.as_ref().filter(|_| !calls.is_empty()) {
        code.extend_from_slice(text.data().map_err(|e| e.to_string())?);
        for (at, symbol) in relocations(text, ".text")? {
            let at = at.checked_add(behind).ok_or_else(|| misplaced(at))?;
            calls.push((at, symbol));
        }
    }
    for (at, symbol) in calls {
        let symbol = elf.symbol_by_index(symbol).map_err(|e| e.to_string())?;
        let called = symbol.name().unwrap_or("?").to_owned();
        if symbol.section_index() != others.as_ref().map(ObjectSection::index) {
            return Err(format!(
                "{section} calls {called}, which is not in this file's .text"
            ));
        }
        let call = at.checked_add(INSN).and_then(|end| code.get_mut(at..end));
        let [CALL, _, _, _, field @ ..] = call.ok_or_else(|| misplaced(at))? else {
            return Err(misplaced(at));
        };
        let written = i32::from_le_bytes([field[0], field[1], field[2], field[3]]);
        // The instruction holds the target as an index into .text, minus one. A call instruction
        // holds the distance from the next instruction.
        let target = usize::try_from(symbol.address())
            .ok()
            .and_then(|address| address.checked_add(behind))
            .and_then(|address| i64::try_from(address).ok())
            .filter(|address| address % INSN as i64 == 0)
            .ok_or_else(|| format!("{called} is at {}: no instruction", symbol.address()))?;
        // Both are at most 2^60 instructions.
        let distance = target / INSN as i64 + i64::from(written) - (at / INSN) as i64;
        let distance = i32::try_from(distance).map_err(|_| "a call too far")?;
        field.copy_from_slice(&distance.to_le_bytes());
    }
    Ok(code)
}

/// The error of a relocation.
fn misplaced(at: usize) -> String {
    format!("a relocation at byte {at}, where no call is")
}

/// Offset and target of each call. Other relocations are refused.
fn relocations<'a>(
    section: &impl ObjectSection<'a>,
    name: &str,
) -> Result<Vec<(usize, object::SymbolIndex)>, String> {
    section
        .relocations()
        .map(|(at, r)| match (r.flags(), r.target()) {
            (
                RelocationFlags::Elf {
                    r_type: R_BPF_64_32,
                },
                RelocationTarget::Symbol(symbol),
            ) => match usize::try_from(at) {
                Ok(at) if at.is_multiple_of(INSN) => Ok((at, symbol)),
                _ => Err(format!("a relocation at byte {at}, where no call is")),
            },
            _ => Err(format!(
                "{name} uses a global variable or a constant table: a marker keeps all of its \
                 state in its params and vars"
            )),
        })
        .collect()
}
