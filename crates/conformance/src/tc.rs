// SPDX-License-Identifier: MIT OR Apache-2.0
//! The markers as tc programs: the running kernel has verified and translated them, and runs them
//! on blocks that a test sends as packets.

use std::sync::{Arc, Mutex, PoisonError};

use cemark_foreign::abi::{Call, Entry};
use cemark_foreign::{Breach, Code, Error};
use cemark_marking::SchemeSpec;
use cemark_tcbpf::Trial;

/// A scheme whose programs the kernel has loaded.
#[derive(Clone)]
pub struct OnTc {
    stem: &'static str,
    trial: Arc<Trial>,
}

impl OnTc {
    /// Loads the programs of a scheme, once.
    ///
    /// # Errors
    ///
    /// Where the running kernel does not load them.
    pub fn of(spec: &SchemeSpec) -> Result<Self, Error> {
        static LOADED: Mutex<Vec<OnTc>> = Mutex::new(Vec::new());
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(twin) = loaded.iter().find(|t| t.stem == spec.name) {
            return Ok(twin.clone());
        }
        let trial = Trial::of_functions(spec.name).map_err(|e| Error::Kernel {
            why: e.to_string(),
            help: e.help(),
        })?;
        let twin = OnTc {
            stem: spec.name,
            trial: Arc::new(trial),
        };
        loaded.push(twin.clone());
        Ok(twin)
    }
}

impl Code for OnTc {
    fn name(&self) -> &str {
        self.stem
    }

    fn run(&self, entry: Entry, call: &mut Call) -> Result<u32, Breach> {
        self.trial
            .call(entry as usize, call.bytes())
            .map_err(|e| Breach {
                why: e.to_string(),
                help: "this is a bug in cemark",
            })
    }
}
