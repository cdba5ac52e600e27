// SPDX-License-Identifier: MIT OR Apache-2.0
//! The markers inside a running kernel: those of the module `sch_cemark`, called through the file
//! that its test module makes (`dataplane/linux/test/cemark_test.c`).

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use cemark_marking::SchemeSpec;

use crate::abi::{Call, Entry};
use crate::{Breach, Code, Error};

/// Where requests go.
const PATH: &str = "/sys/kernel/debug/cemark/marker";
/// Bytes of a request before the block of the marker: its name, the entry and the answer.
const HEAD: usize = 32 + 4 + 4;

/// A scheme of the module.
#[derive(Clone)]
pub struct InKernel {
    stem: &'static str,
    // One request at a time: a write, and the read of its answer.
    file: Arc<Mutex<File>>,
}

impl InKernel {
    /// Finds a scheme in the running kernel.
    ///
    /// # Errors
    ///
    /// Where the kernel has no test module.
    pub fn of(spec: &SchemeSpec) -> Result<Self, Error> {
        let file = OpenOptions::new().read(true).write(true).open(PATH);
        let file = file.map_err(|e| Error::File {
            path: PATH.to_owned(),
            why: format!(
                "{e}: load sch_cemark and cemark_test in a test kernel, as \
                 dataplane/linux/test/vectors.sh does"
            ),
        })?;
        Ok(InKernel {
            stem: spec.name,
            file: Arc::new(Mutex::new(file)),
        })
    }

    fn ask(&self, entry: Entry, call: &mut Call) -> std::io::Result<u32> {
        let mut request = vec![0; HEAD];
        request[..self.stem.len()].copy_from_slice(self.stem.as_bytes());
        request[32..36].copy_from_slice(&(entry as u32).to_ne_bytes());
        request.extend_from_slice(call.bytes());
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&request)?;
        file.read_exact(&mut request)?;
        call.bytes().copy_from_slice(&request[HEAD..]);
        let mut answer = [0; 4];
        answer.copy_from_slice(&request[36..HEAD]);
        Ok(u32::from_ne_bytes(answer))
    }
}

impl Code for InKernel {
    fn name(&self) -> &str {
        self.stem
    }

    fn run(&self, entry: Entry, call: &mut Call) -> Result<u32, Breach> {
        self.ask(entry, call).map_err(|e| Breach {
            why: format!("the kernel refuses the call: {e}"),
            help: "build the test module from the same sources as this program",
        })
    }
}
