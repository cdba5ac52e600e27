// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers as BPF bytecode, run in this process by an interpreter that checks every load and store
//! and limits the number of instructions.

mod compile;
mod elf;
mod verify;
mod vm;

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cemark_marking::SchemeSpec;

use crate::abi::{Call, Entry};
use crate::{Breach, Code, Error, gathered};

pub use compile::{clang, compile};
pub use vm::BUDGET;
use vm::Vm;

/// The programs of one marker (`CEMARK_MARKER` of `cemark/marker.h`), as `clang -target bpf` wrote
/// them.
#[derive(Clone)]
pub struct Object(Arc<Programs>);

struct Programs {
    name: String,
    // In the order of `Entry`.
    entries: Vec<Vm>,
}

impl Object {
    /// Reads an object file.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, is no BPF object, lacks a program, or needs something that the
    /// interpreter does not have.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let fault = |why: String| Error::File {
            path: path.display().to_string(),
            why,
        };
        let bytes = std::fs::read(path).map_err(|e| fault(e.to_string()))?;
        Object::parse(&bytes).map_err(fault)
    }

    /// An object from the bytes of a file.
    ///
    /// # Errors
    ///
    /// As [`Object::open`]; the text says what is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file = elf::read(bytes)?;
        let entries = file
            .programs
            .into_iter()
            .zip(Entry::ALL)
            .map(|(program, entry)| {
                Vm::load(&program).map_err(|why| format!("section cemark/{}: {why}", entry.name()))
            })
            .collect::<Result<_, _>>()?;
        Ok(Object(Arc::new(Programs {
            name: file.declared.name,
            entries,
        })))
    }

    /// The bytecode of a scheme.
    ///
    /// # Errors
    ///
    /// As [`object_file`].
    pub fn of(spec: &SchemeSpec) -> Result<Self, Error> {
        static LOADED: Mutex<Vec<Object>> = Mutex::new(Vec::new());
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(object) = loaded.iter().find(|object| object.name() == spec.name) {
            return Ok(object.clone());
        }
        let object = Object::parse(&object_file(spec.name)?).map_err(|why| Error::Marker {
            name: spec.name.to_owned(),
            why,
            help: "this is a bug in cemark",
        })?;
        loaded.push(object.clone());
        Ok(object)
    }
}

impl Code for Object {
    fn name(&self) -> &str {
        &self.0.name
    }

    #[inline]
    fn run(&self, entry: Entry, call: &mut Call) -> Result<u32, Breach> {
        self.0.entries[entry as usize]
            .run(call)
            .map_err(|trap| Breach {
                why: trap.why(),
                help: trap.help(),
            })
    }
}

/// The object file of a scheme: the one in `dataplane/bpf` when this program was built, or, where
/// there was none, what clang makes of the header now.
///
/// # Errors
///
/// [`Error::NoTwin`] where the scheme has no header, [`Error::Clang`] where clang is needed and
/// missing.
pub fn object_file(stem: &str) -> Result<Cow<'static, [u8]>, Error> {
    let shipped = gathered::objects().iter().find(|(s, _)| *s == stem);
    match shipped {
        Some((_, bytes)) => Ok(Cow::Borrowed(*bytes)),
        None => compile(stem, &clang()).map(Cow::Owned),
    }
}
