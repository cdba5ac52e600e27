// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small configurations on which the checks are based.

use cemark_marking::{Values, catalogue};
use cemark_sim::config::{Config, MarkerChoice};
use cemark_sim::topology::Star;
use cemark_sim::workload::{ClassMap, Kind, Long, LongFlows, Workload};
use cemark_wire::{Picos, Rate};

/// A packet on the wire in every check.
pub(super) const PACKET: u64 = 1500;

/// A scheme of the catalogue with some parameters changed.
pub(super) fn scheme(name: &str, params: &[(&str, u64)]) -> MarkerChoice {
    let scheme = catalogue::find(name).expect("a scheme of the catalogue");
    let values = params.iter().fold(Values::defaults(scheme), |v, (n, x)| {
        v.with(scheme, n, *x).expect("a parameter")
    });
    MarkerChoice::Builtin { scheme, values }
}

/// DCTCP-RED at `packets`.
pub(super) fn step(packets: u64) -> MarkerChoice {
    scheme("threshold", &[("k", packets * PACKET)])
}

/// `flows` endless flows from as many hosts to one, 10 Gb/s, base RTT 100 us (83.3 packets), for
/// `millis`; the first fifth is warm-up.
pub(super) fn many_to_one(flows: u32, millis: u64, marker: MarkerChoice) -> Config {
    let star = Star {
        hosts: flows + 1,
        rate: Rate::gbps(10),
        delay: Picos::from_micros(25),
    };
    let long = Workload {
        name: "long".into(),
        kind: Kind::Long(Long {
            flows: LongFlows::ToOne {
                count: flows,
                receiver: 0,
            },
            at: Picos::ZERO,
            stagger: Picos::ZERO,
            jitter: Picos::from_micros(100),
        }),
        class: ClassMap::Fixed(0),
        persistent: false,
        transport: None,
    };
    let end = Picos::from_micros(millis * 1000);
    let mut config = Config::new(star, vec![long], marker, end);
    config.switch.buffer_bytes = 4_000_000;
    config.measure.queue_interval = Picos::from_micros(5);
    config.measure.from = Picos::from_micros(millis * 200);
    config.measure.until = end;
    config
}
