// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scheme of your own in Rust, simulated without changing cemark:
//! `cargo run --release -p cemark --example own_marker`.
//!
//! It starts marking at a high queue length and stops below a low one, so that it does not switch
//! on and off with every packet. `own_marker.c` is the same scheme in C.

use std::sync::Arc;

use cemark_marking::{At, Hook, Marker, QueueSpec, Values, Verdict, Why};
use cemark_sim::config::MarkerChoice;

struct OwnMarker {
    high: u32,
    low: u32,
    marking: bool,
}

impl OwnMarker {
    fn new(queue: &QueueSpec) -> Self {
        OwnMarker {
            high: 65 * queue.mtu,
            low: 40 * queue.mtu,
            marking: false,
        }
    }
}

impl Marker for OwnMarker {
    fn hook(&self) -> Hook {
        Hook::Enqueue
    }

    fn enqueue(&mut self, at: &At) -> Verdict {
        if at.queue_bytes >= self.high {
            self.marking = true;
        } else if at.queue_bytes < self.low {
            self.marking = false;
        }
        if self.marking {
            Verdict::Mark(Why::Instant)
        } else {
            Verdict::Pass
        }
    }

    fn retune(&mut self, _: &Values, queue: &QueueSpec) {
        (self.high, self.low) = (65 * queue.mtu, 40 * queue.mtu);
    }
}

/// Any scenario works here. Its first scheme is the one that the marker is compared with.
const SCENARIO: &str = r#"
    [topology]
    kind = "star"
    hosts = 8
    rate = "10Gbps"
    delay = "2us"
    [[workload]]
    kind = "poisson"
    sizes = "web-search"
    load = 0.6
    flows = 300
    [[scheme]]
    marker = "threshold"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = cemark_scenario::parse(SCENARIO, "own.toml", &Default::default())?;
    let mut config = plan.points[0].config.clone();
    let theirs = cemark_sim::run(&config);
    config.switch.marker = MarkerChoice::Custom(Arc::new(|queue| Box::new(OwnMarker::new(queue))));
    let ours = cemark_sim::run(&config);
    for (name, outcome) in [("threshold", theirs), ("own marker", ours)] {
        println!(
            "{name:10} {} marks, {} drops",
            outcome.totals.all_marks(),
            outcome.totals.all_drops()
        );
    }
    Ok(())
}
