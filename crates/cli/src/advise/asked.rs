// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fabric that advice is for, and the reduced one that is simulated.

use cemark_platform::published;
use cemark_scenario::near;

use super::Args;
use crate::exit::{Failure, user};
use crate::init::{Answers, Numbers, Parts, answers};

/// Hosts of the reduced fabric.
const HOSTS: u32 = 16;

/// Answers with everything that was not said.
pub(super) struct Asked {
    answers: Answers,
    buffer: u64,
    cell: Option<u64>,
    file: String,
    /// Assumptions, a sentence each.
    pub notes: Vec<String>,
}

/// A published set by its name.
pub(super) fn set(text: &str) -> Result<&'static str, String> {
    let found = published::ALL.iter().find(|set| set.name == text.trim());
    found
        .map(|set| set.name)
        .ok_or_else(|| near(text, published::ALL.iter().map(|set| set.name)))
}

impl Asked {
    pub fn of(args: &Args, file: String) -> Result<Asked, Failure> {
        let (answers, defaults) = answers(&args.fabric, HOSTS)?;
        let cell = args.fabric.cell;
        let buffer = answers
            .buffer_bytes(cell)
            .map_err(|why| user("--buffer cannot be used", why))?;
        let mut notes = Vec::new();
        if !defaults.is_empty() {
            notes.push(format!("assumed: {}", defaults.join(", ")));
        }
        Ok(Asked {
            answers,
            buffer,
            cell,
            file,
            notes,
        })
    }

    /// The parts of the scenario.
    pub fn with<T>(
        &self,
        then: impl FnOnce(&Parts<'_>, &Numbers) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (parts, rtt) = Parts::of(&self.answers, self.buffer, self.cell, &self.file)?;
        then(&parts, &rtt)
    }

    /// The parts with RTTs that are longer by a factor.
    pub fn scaled<T>(
        &self,
        rtt: &Numbers,
        factor: f64,
        then: impl FnOnce(&Parts<'_>, &Numbers) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let answers = self.answers.with_rtts(rtt.scaled(factor));
        let (parts, rtt) = Parts::of(&answers, self.buffer, self.cell, &self.file)?;
        then(&parts, &rtt)
    }
}
