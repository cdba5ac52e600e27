// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers in machine code: the C forms of the catalogue, which are linked into this program, and a
//! user's shared objects.
//!
//! C code can do anything to this process. The C forms are tested here; a shared object is trusted
//! like any program that its user starts.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::path::Path;
use std::sync::Arc;

use cemark_marking::SchemeSpec;

use crate::abi::{Call, Entry, Functions};
use crate::{Breach, Code, Error, gathered};

/// The C form of a scheme.
#[derive(Clone, Copy)]
pub struct Twin {
    stem: &'static str,
    functions: &'static Functions,
}

impl Twin {
    /// Finds the C form of a scheme.
    ///
    /// # Errors
    ///
    /// [`Error::NoTwin`] where the scheme has none.
    pub fn of(spec: &SchemeSpec) -> Result<Self, Error> {
        gathered::twin(spec.name)
            .map(|functions| Twin {
                stem: spec.name,
                functions,
            })
            .ok_or_else(|| Error::NoTwin(spec.name.to_owned()))
    }
}

impl Code for Twin {
    fn name(&self) -> &str {
        self.stem
    }

    #[inline]
    fn run(&self, entry: Entry, call: &mut Call) -> Result<u32, Breach> {
        // SAFETY: marker.h defines the function with this signature. It reads and writes only the
        // block, whose layout tests/layout.rs compares with C.
        Ok(unsafe { self.functions[entry as usize](call) })
    }
}

/// A shared object with one marker (`CEMARK_MARKER` of `cemark/marker.h`).
#[derive(Clone)]
pub struct Shared(Arc<Loaded>);

struct Loaded {
    name: String,
    functions: Functions,
    // Dropped last: the library must not be unloaded before the last marker is gone.
    _library: libloading::Library,
}

impl Shared {
    /// Opens a shared object.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened or lacks a function.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let fault = |why: String| Error::File {
            path: path.display().to_string(),
            why,
        };
        // The loader searches the system's directories for a name without a slash.
        let file = path.canonicalize().map_err(|e| fault(e.to_string()))?;
        // SAFETY: the user asked for this code to run. Its initialisers run now.
        let library = unsafe { libloading::Library::new(file) }.map_err(|e| {
            // The loader's message is the source of the error.
            let why =
                std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string);
            fault(format!("cannot be opened: {why}"))
        })?;
        let find = |entry: Entry| {
            let symbol = format!("cemark_marker_{}", entry.name());
            // SAFETY: marker.h gives the symbol this type.
            unsafe { library.get::<unsafe extern "C" fn(*mut Call) -> u32>(symbol.as_bytes()) }
                .map(|f| *f)
                .map_err(|_| {
                    fault(format!(
                        "has no function {symbol}: write CEMARK_MARKER(name) of \
                         <cemark/marker.h> in it"
                    ))
                })
        };
        let mut functions = Vec::with_capacity(Entry::ALL.len());
        for entry in Entry::ALL {
            functions.push(find(entry)?);
        }
        let functions = Functions::try_from(functions).expect("one for each entry");
        // SAFETY: marker.h makes the symbol an array of characters that ends with a zero.
        let name = unsafe {
            library
                .get::<*const c_char>(b"cemark_marker_name")
                .map_err(|_| fault("has no cemark_marker_name".to_owned()))?
                .try_as_raw_ptr()
                .map(|p| CStr::from_ptr(p.cast::<c_char>()))
        };
        let name = name
            .map(|n| n.to_string_lossy().into_owned())
            .ok_or_else(|| fault("has no cemark_marker_name".to_owned()))?;
        Ok(Shared(Arc::new(Loaded {
            name,
            functions,
            _library: library,
        })))
    }
}

impl Code for Shared {
    fn name(&self) -> &str {
        &self.0.name
    }

    #[inline]
    fn run(&self, entry: Entry, call: &mut Call) -> Result<u32, Breach> {
        // SAFETY: with CEMARK_MARKER the object's author promises that the function reads and
        // writes only the block.
        Ok(unsafe { self.0.functions[entry as usize](call) })
    }
}

/// Sizes and offsets as the C compiler laid them out, for the test of the layout.
#[doc(hidden)]
pub fn layout() -> &'static [u32; 29] {
    unsafe extern "C" {
        static cemark_layout: [u32; 29];
    }
    // SAFETY: a constant of layout.c with this many entries.
    unsafe { &cemark_layout }
}

/// Calls round.h for the port in `block`, which is all zeros at first. `round.c` defines what each
/// call does. Returns the round time.
#[doc(hidden)]
pub fn round(block: &mut [u64; 32], what: u32, args: [u64; 4]) -> u64 {
    unsafe extern "C" {
        fn cemark_round_call(block: *mut u64, what: u32, args: *const u64) -> u64;
    }
    // SAFETY: round.c reads the four arguments, and reads and writes a port, which it asserts to
    // fit into the block. Any bytes are a valid port.
    unsafe { cemark_round_call(block.as_mut_ptr(), what, args.as_ptr()) }
}
