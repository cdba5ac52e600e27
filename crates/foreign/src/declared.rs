// SPDX-License-Identifier: MIT OR Apache-2.0
//! The declaration of a user's marker, read from its file without running its code.

use std::ffi::CStr;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

/// How a file holds the code of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A shared object of this machine, whose code can do anything to the process.
    C,
    /// Bytecode, which an interpreter runs within limits.
    Bpf,
}

impl Form {
    /// The word before the file's name: `c:mine.so`, `bpf:mine.o`.
    pub const fn word(self) -> &'static str {
        match self {
            Form::C => "c",
            Form::Bpf => "bpf",
        }
    }

    /// Advice on how to make such a file, with the commands of docs/own-marker.md.
    pub const fn advice(self) -> &'static str {
        match self {
            Form::C => {
                "`cemark init mine.c` writes a marker and the header that it includes; compile it \
                 with: cc -O2 -fPIC -shared mine.c -o mine.so"
            }
            Form::Bpf => {
                "`cemark init mine.c` writes a marker and the header that it includes; compile it \
                 with: clang -O2 -target bpf -mcpu=v3 -c mine.c -o mine.o"
            }
        }
    }
}

/// The declaration that `CEMARK_MARKER` and `CEMARK_PARAMS` of `cemark/marker.h` leave in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The name in `CEMARK_MARKER(name)`.
    pub name: String,
    /// A line for each parameter, with tabs between name, kind, default, least and largest value,
    /// and a sentence. `None`: the file declares no parameters.
    pub params: Option<String>,
}

impl Declared {
    /// Reads the declaration in the bytes of a file.
    ///
    /// # Errors
    ///
    /// Where the bytes are no file of this form, or have no name. The text says what to do.
    pub fn read(form: Form, bytes: &[u8]) -> Result<Self, String> {
        match form {
            Form::Bpf => Declared::of_bytecode(&bytecode(bytes)?),
            Form::C => of_shared(bytes),
        }
    }

    pub(crate) fn of_bytecode(elf: &Elf<'_>) -> Result<Self, String> {
        let section = |name: &str| elf.section_by_name(name)?.data().ok();
        Declared::new(section("cemark.name"), section("cemark.params"))
    }

    fn new(name: Option<&[u8]>, params: Option<&[u8]>) -> Result<Self, String> {
        let name = name.and_then(text).ok_or(
            "declares no marker: write CEMARK_MARKER(name) of <cemark/marker.h> in its source",
        )?;
        let params = match params {
            None => None,
            Some(bytes) => Some(text(bytes).ok_or("declares parameters that are no UTF-8 text")?),
        };
        Ok(Declared { name, params })
    }
}

/// An object file of 64 bits.
pub(crate) type Elf<'a> = ElfFile64<'a, Endianness>;

/// An object file of bytecode.
pub(crate) fn bytecode(bytes: &[u8]) -> Result<Elf<'_>, String> {
    let elf = Elf::parse(bytes).map_err(|e| format!("not an object file: {e}"))?;
    match elf.architecture() == object::Architecture::Bpf && elf.is_little_endian() {
        true => Ok(elf),
        false => Err("not little-endian BPF: compile it with clang -O2 -target bpf -c".to_owned()),
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    let text = CStr::from_bytes_until_nul(bytes).ok()?.to_str().ok()?;
    Some(text.to_owned())
}

fn of_shared(bytes: &[u8]) -> Result<Declared, String> {
    let elf =
        Elf::parse(bytes).map_err(|e| format!("not a shared object in ELF of 64 bits: {e}"))?;
    let constant = |name: &str| {
        let symbol = elf.dynamic_symbols().find(|s| s.name() == Ok(name))?;
        let section = elf.section_by_index(symbol.section_index()?).ok()?;
        section.data_range(symbol.address(), symbol.size()).ok()?
    };
    Declared::new(
        constant("cemark_marker_name"),
        constant("cemark_marker_params"),
    )
}
