// SPDX-License-Identifier: MIT OR Apache-2.0
//! The markers as tc programs: the running kernel has verified and translated them, and runs them
//! on blocks that a test sends as packets.

use std::sync::{Arc, Mutex, PoisonError};

use cemark_marking::{QueueSpec, Values};
use cemark_tcbpf::Trial;

use crate::abi::{Call, Entry};
use crate::{Breach, Code, Error, Foreign};

/// A scheme whose programs the kernel has loaded.
#[derive(Clone)]
pub(crate) struct OnTc {
    stem: &'static str,
    trial: Arc<Trial>,
}

/// Loads the programs of a scheme, once.
pub(crate) fn twin(stem: &'static str) -> Result<OnTc, Error> {
    static LOADED: Mutex<Vec<OnTc>> = Mutex::new(Vec::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(twin) = loaded.iter().find(|t| t.stem == stem) {
        return Ok(twin.clone());
    }
    let trial = Trial::of_functions(stem).map_err(|e| Error::Kernel {
        why: e.to_string(),
        help: e.help(),
    })?;
    let twin = OnTc {
        stem,
        trial: Arc::new(trial),
    };
    loaded.push(twin.clone());
    Ok(twin)
}

impl OnTc {
    pub(crate) fn marker(self, params: &Values, queue: &QueueSpec) -> Result<Foreign<OnTc>, Error> {
        Foreign::new(self, params, queue)
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
