// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points that another process simulates, perhaps on another machine: it encodes them, and the
//! owner of the run directory checks them and stores the same bytes.

use cemark_scenario::{Plan, Point};

use super::stored::{self, Stored};
use super::{Finished, Manifest, RunDir, document, point_path, write_whole};
use crate::Error;
use crate::summary::hex;

/// Result of bringing a point to a run directory.
#[derive(Clone, Debug)]
pub enum Brought {
    /// The point, which is stored now.
    Whole(Box<Finished>),
    /// Bytes that are not as they were made; nothing is stored.
    Damaged,
    /// A point of another build, scenario or place in the plan; nothing is stored.
    Other,
}

/// The bytes of a point's file, for the run directory of its plan in another process. `build` is
/// the fingerprint of the program that simulated it.
pub fn encode(plan: &Plan, point: &Point, finished: &Finished, build: &str) -> Vec<u8> {
    let scenario = &hex(plan.digest);
    let key = stored::Key {
        build,
        scenario,
        point,
    };
    stored::encode(finished, key)
}

/// The digest of the scenario that a point's file or a manifest belongs to; `None` where the bytes
/// are not as they were written.
pub fn scenario_of(bytes: Vec<u8>) -> Option<String> {
    match bytes.first() {
        Some(b'{') => document::decode::<Manifest>(bytes).map(|m| m.scenario_digest),
        _ => stored::scenario_in(bytes),
    }
}

impl RunDir {
    /// Checks what [`encode`] has made of this point elsewhere, and stores it as
    /// [`RunDir::store`] does.
    ///
    /// # Errors
    /// As [`RunDir::store`].
    pub fn bring(&self, point: &Point, bytes: &[u8]) -> Result<Brought, Error> {
        match stored::decode(bytes.to_vec(), self.key(point)) {
            Stored::Whole(finished) => {
                write_whole(&point_path(&self.path, point), bytes)?;
                Ok(Brought::Whole(finished))
            }
            Stored::Damaged | Stored::Missing => Ok(Brought::Damaged),
            Stored::Other => Ok(Brought::Other),
        }
    }
}
