// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ping.

use cemark_param::{Absent, config};
use cemark_wire::Picos;

use super::facts::{Burst, Facts, Sending};
use super::long::InOrder;
use super::{Declared, MOST_FLOWS, Mistake, Seat, Sends, Source, WorkloadSpec};
use crate::topology::Topology;

/// Bytes of a probe and of its answer on the wire.
pub(crate) const PROBE_BYTES: u16 = 64;

/// The registry's entry.
pub const SPEC: WorkloadSpec = WorkloadSpec {
    name: "probe",
    declared: Some(Declared {
        keys: Probe::PARAMS,
        build: |values| Probe::from(values).into(),
    }),
};

config! {
    /// A ping: one small packet each interval that the receiver answers at once; its round trips
    /// are recorded.
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    pub struct Probe {
        /// The host that pings.
        src: u32 = host(0; Absent::Needed),
        /// The host that answers.
        dst: u32 = host(1; Absent::Needed),
        /// The first ping.
        at: Picos = delay(0),
        /// Time from one ping to the next.
        every: Picos = span(10_000_000; Absent::Needed),
        /// Number of pings.
        count: u64 = count(1_000, 1..=MOST_FLOWS; Absent::Needed),
    }
}

impl Sends for Probe {
    fn mistake(&self, _: &Topology) -> Option<Mistake> {
        (self.src == self.dst).then(|| Mistake {
            key: "dst",
            message: format!("host {} cannot send to itself", self.src),
            help: "write two different hosts".to_owned(),
        })
    }

    fn facts(&self, _: &Topology) -> Facts<'_> {
        let pings = Burst {
            every: self.every,
            times: u32::try_from(self.count).unwrap_or(u32::MAX),
            ..Burst::of_one(self.at, self.src, self.dst, 0)
        };
        Facts::new("pings", Sending::Pings(pings))
    }

    fn source(&self, _: &Seat<'_>) -> Box<dyn Source> {
        Box::new(InOrder::of(Vec::new()))
    }
}
