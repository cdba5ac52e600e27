// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slowdown by flow size of the compared schemes.

use super::{Comparisons, Group};
use crate::by_size::{Buckets, Replications, SchemeSlowdown, of_schemes};
use crate::rundir::Finished;

impl Group {
    /// Slowdown of each scheme by flow size, in buckets that all schemes have in common.
    pub fn slowdown_by_size(
        &self,
        finished: &[Finished],
        buckets: &Buckets,
    ) -> Vec<SchemeSlowdown> {
        let rows = self.rows.iter().map(|row| Replications {
            scheme: &row.scheme,
            flows: row
                .points
                .iter()
                .map(|i| &finished[*i].outcome.flows[..])
                .collect(),
        });
        let look = self.standing.as_ref().map(|_| self.seeds.len() as u32);
        of_schemes(&self.axes, &rows.collect::<Vec<_>>(), buckets, look)
    }
}

impl Comparisons {
    /// Slowdown of each scheme by flow size at each value of the axes.
    pub fn slowdown_by_size(
        &self,
        finished: &[Finished],
        buckets: &Buckets,
    ) -> Vec<SchemeSlowdown> {
        let groups = self.groups.iter();
        groups
            .flat_map(|group| group.slowdown_by_size(finished, buckets))
            .collect()
    }
}
