// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events of a run, for whoever shows it.

use std::path::Path;

use cemark_report::Group;
use cemark_scenario::Plan;

/// Is told how a run gets on, from the threads that simulate. Points are indices into the plan.
pub trait Show: Sync {
    /// This number of the points, of those that the run needs, was found in its directory.
    fn resumes(&self, _found: usize, _needed: usize, _dir: &Path) {}
    /// Points that are missing, in the order of simulation, and the number of them that run at a
    /// time. A run with a stated precision may need only some of the points.
    fn starts(&self, _plan: &Plan, _missing: &[usize], _threads: usize) {}
    /// Something about how it is run that the user may not expect.
    fn notes(&self, _text: &str) {}
    /// A point begins.
    fn begins(&self, _point: usize) {}
    /// How much of a point is done (0 to 1), and its packet-hops until now. Called hundreds of
    /// times a second.
    fn at(&self, _point: usize, _done: f64, _hops: u64) {}
    /// A point is finished and stored.
    fn finished(&self, _point: usize, _hops: u64) {}
    /// The missing points that will probably be needed, where not all of them are.
    fn expects(&self, _points: &[usize]) {}
    /// In a run with a stated precision, the last look of each block. `block` is the one that has
    /// just looked, and `line` says what it found.
    fn looks(&self, _plan: &Plan, _groups: &[Option<Group>], _block: usize, _line: &str) {}
    /// The last point has ended.
    fn ends(&self) {}
}

/// Shows nothing.
pub struct Silent;

impl Show for Silent {}
