// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a scenario warms up, measures and holds its load: long enough that queues and the flows
//! under way are those of the load, whatever the simulation costs.

use cemark_report::units;
use cemark_scenario::Plan;
use cemark_sim::Config;
use cemark_sim::workload::Kind;
use cemark_sim::workload::load::most_loaded;

use super::rtts::Numbers;

/// Fewest measured flows: fewer have no 99th percentile worth a comparison.
const FEWEST: f64 = 1000.0;
/// Most flows of a workload that a scenario file may ask for.
const MOST: f64 = 1e9;
/// Length of warm-up and of hold, in the mean time that a byte is under way. The largest flow of a
/// built-in table takes at most one and a half times that. With half of it, the fabric of
/// `tests.rs` carries 0.89 of the offered bytes.
const STAYS: f64 = 4.0;
/// Length of the measured part in that time, for one flow under way. The bytes under way at its two
/// ends differ by 1.4 / sqrt(n) of their mean, n being the flows under way: of all bytes of a part
/// of 45 / sqrt(n), that is 3 %, and a tenth in one of a thousand draws.
const STAYS_OF_ONE: f64 = 45.0;
/// Warm-up and hold last at least this many of the largest base RTTs, in which windows and queues
/// come to their usual length.
const ROUNDS: f64 = 10.0;
/// Payload that a new connection sends in its first round: ten segments.
const FIRST_ROUND: f64 = 14_600.0;
/// CPU seconds of a replication of which the user is told how to make them fewer.
const DEAR: f64 = 300.0;
/// Most simulated seconds of warm-up, measured flows and hold together: a run ends after 1000 s,
/// and the last flows take their time.
const LONGEST: f64 = 500.0;

/// Flows and times of a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    /// Flows before the measured ones.
    pub warmup: u64,
    /// Measured flows.
    pub flows: u64,
    /// Time in which flows arrive after the last measured one, in picoseconds.
    pub hold: u64,
    /// Part of the time that the flows need, where a run may not last as long; otherwise 1.
    pub part: f64,
}

impl Extent {
    /// The flows of a draft, which is read once for the RTTs and the topology.
    pub(super) const DRAFT: Extent = Extent {
        warmup: 1,
        flows: 1,
        hold: 1_000_000_000,
        part: 1.0,
    };

    /// The flows and times that a fabric with one Poisson workload needs.
    pub(super) fn of(config: &Config, rtt: &Numbers) -> Extent {
        let Some(Kind::Poisson(poisson)) = config.workloads.first().map(|w| &w.kind) else {
            return Extent::DRAFT;
        };
        let (sizes, per_second) = (&poisson.sizes, poisson.rate(&config.topology));
        let rounds = ROUNDS * rtt.largest as f64 / 1e12;
        let typical = sizes.mean_of_bytes();
        let stay = stay(config, typical, poisson.load, rtt);
        // Flows of that size whose bytes are under way at once, through the most loaded tier.
        let crossing = most_loaded(&config.topology, &poisson.pairs).share;
        let together = (crossing * per_second * sizes.mean() * stay / typical).max(1.0);
        let edge = (STAYS * stay).max(rounds);
        let measured = (STAYS_OF_ONE * stay / together.sqrt())
            .max(edge)
            .max(FEWEST / per_second);
        let flows = |seconds: f64| two_digits((seconds * per_second).clamp(1.0, MOST));
        let part = (LONGEST / (edge + measured + edge)).min(1.0);
        Extent {
            warmup: flows(part * edge),
            flows: flows(part * measured),
            hold: (part * edge * 1e12) as u64,
            part,
        }
    }
}

impl Extent {
    /// A note where a run may not last as long as its flows need.
    pub(super) fn note(&self) -> Option<String> {
        (self.part < 1.0).then(|| {
            format!(
                "the flows need {:.1} times as long as a run may last to come to this load: what \
                 is measured begins and ends too early; write a higher --rate or smaller --sizes",
                1.0 / self.part
            )
        })
    }
}

/// A note where a replication takes many CPU seconds.
pub(super) fn dear(seconds: f64) -> Option<String> {
    (seconds > DEAR).then(|| {
        format!(
            "a replication takes about {} of CPU: large fabrics and large flows need many packets \
             until the load is there; a fabric with fewer --hosts, smaller --sizes or a lower \
             --load answers sooner",
            units::span(seconds)
        )
    })
}

/// Seconds that a byte of a flow of this size is under way, about: the rounds of slow start until
/// the flow has its rate, and what it sends at the rate that the load leaves on its host's link.
fn stay(config: &Config, bytes: f64, load: f64, rtt: &Numbers) -> f64 {
    let host = config.topology.host_rate().0 as f64 / 8.0;
    let round = rtt.mean as f64 / 1e12;
    let grows = bytes.min(host * round).max(FIRST_ROUND) / FIRST_ROUND;
    bytes / host / (1.0 - load).max(0.05) + (1.0 + grows.log2()) * round
}

/// CPU seconds of a plan with one seed, by the estimate.
pub(super) fn replication(plan: &Plan) -> f64 {
    plan.points.iter().map(|p| p.cpu_seconds()).sum()
}

/// Rounded up to two digits.
fn two_digits(x: f64) -> u64 {
    let n = x.ceil() as u64;
    let scale = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    n.div_ceil(scale) * scale
}

#[cfg(test)]
mod tests {
    use super::two_digits;

    #[test]
    fn flows_have_two_digits() {
        assert_eq!(
            [7.0, 57.0, 1234.0, 9999.0, 10_000.0].map(two_digits),
            [7, 57, 1300, 10_000, 10_000]
        );
    }
}
