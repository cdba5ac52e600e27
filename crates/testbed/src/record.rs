// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurements of a lab, as whoever ran the network writes them down, and as the simulator's
//! outcome.

use std::collections::BTreeMap;

use cemark_sim::outcome::{FlowRecord, LongRecord, PortReport, ProbeRecord, Spread};
use cemark_sim::{Config, Outcome};
use cemark_wire::Picos;
use cemark_wire::hash::Fnv1a;
use serde::{Deserialize, Serialize};

/// Measurements of a run of a [`Lab`](crate::Lab). Times are nanoseconds from the start of the
/// traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The kernel, as `uname -r` names it.
    pub kernel: String,
    /// Completion times of measured flows, by number.
    pub ended: BTreeMap<u64, u64>,
    /// Endless flows.
    pub long: Vec<LongCount>,
    /// Payload bytes of all flows in each whole interval.
    pub goodput: Vec<u64>,
    /// Payload bytes of all flows in the whole run.
    pub delivered: u64,
    /// Pings: workload, when sent, round trip.
    pub probes: Vec<(u16, u64, u64)>,
    /// Ports, in the order of the lab.
    pub ports: Vec<PortCount>,
    /// Segments sent again, all hosts.
    pub retransmits: u64,
    /// Retransmission timeouts, all hosts.
    pub timeouts: u64,
    /// Tail loss probes, all hosts.
    pub tail_probes: u64,
    /// Packets that arrived with CE, all hosts.
    pub marked_arrivals: u64,
    /// Time at the end.
    pub end: u64,
}

/// An endless flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongCount {
    /// Its number.
    pub id: u64,
    /// Payload bytes between the times of the measurement.
    pub delivered: u64,
    /// Payload bytes in each whole interval.
    pub intervals: Vec<u64>,
}

/// A port of a switch: what `tc -s -j qdisc show` says of its qdisc, and samples of its length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortCount {
    /// When measuring began.
    pub from: serde_json::Value,
    /// When it ended.
    pub until: serde_json::Value,
    /// At the end of the run.
    pub end: serde_json::Value,
    /// Lengths in bytes.
    pub samples: Vec<u32>,
}

fn count(at: &serde_json::Value, key: &str) -> u64 {
    at[key].as_u64().unwrap_or(0)
}

fn sum(at: &serde_json::Value, key: &str) -> u64 {
    let parts = at[key].as_object().into_iter().flatten();
    parts.filter_map(|(_, v)| v.as_u64()).sum()
}

impl PortCount {
    /// Mean time that the packets sent while it was measured have waited, in nanoseconds; `None`
    /// where none was sent.
    pub fn wait(&self) -> Option<f64> {
        let packets = count(&self.until, "packets_sent") - count(&self.from, "packets_sent");
        let waited = count(&self.until, "waited_ns") - count(&self.from, "waited_ns");
        (packets > 0).then(|| waited as f64 / packets as f64)
    }

    /// Share of packets that were marked while it was measured.
    pub fn marked(&self) -> Option<f64> {
        let packets = count(&self.until, "packets_sent") - count(&self.from, "packets_sent");
        let marks = sum(&self.until, "mark_reasons") - sum(&self.from, "mark_reasons");
        (packets > 0).then(|| marks as f64 / packets as f64)
    }
}

impl Record {
    /// The outcome of the point that was run. `simulated` is the simulator's outcome of the same
    /// flows, from which everything is taken that cannot differ: pairs, sizes, names of ports.
    pub fn outcome(&self, config: &Config, simulated: &Outcome) -> Outcome {
        let mut out = Outcome {
            end: Picos::from_nanos(self.end),
            goodput: self.goodput.clone(),
            ..Outcome::default()
        };
        out.flows = simulated.flows.iter().map(|f| self.flow(f)).collect();
        out.long_flows = simulated.long_flows.iter().map(|f| self.long(f)).collect();
        out.probes = self.probes.iter().map(probe).collect();
        let ports = self.ports.iter().zip(&simulated.ports);
        out.ports = ports.map(|(p, s)| self.port(config, p, s)).collect();
        let t = &mut out.totals;
        t.timeouts = self.timeouts;
        t.retransmits = self.retransmits;
        t.goodput_bytes = self.delivered;
        t.marks = simulated.totals.marks.keys().map(|k| (*k, 0)).collect();
        t.drops = simulated.totals.drops.keys().map(|k| (*k, 0)).collect();
        for p in &self.ports {
            for (reason, n) in &mut t.marks {
                *n += count(&p.end["mark_reasons"], reason);
            }
            for (theirs, ours) in [
                ("limit", "tail"),
                ("memory", "tail"),
                ("scheme", "marker"),
                ("not_ect", "not_ect"),
            ] {
                *t.drops.entry(ours).or_default() += count(&p.end["drop_reasons"], theirs);
            }
        }
        out.packet_hops = out.ports.iter().map(|p| p.packets).sum();
        t.sent = out.packet_hops;
        t.delivered = t.sent - t.all_drops().min(t.sent);
        out.digest = self.digest();
        out
    }

    fn flow(&self, like: &FlowRecord) -> FlowRecord {
        let fct = self.ended.get(&like.id);
        FlowRecord {
            fct: fct.map(|ns| Picos::from_nanos(*ns)),
            // The kernel counts these by host.
            marks: 0,
            retransmits: 0,
            timeouts: 0,
            ..*like
        }
    }

    fn long(&self, like: &LongRecord) -> LongRecord {
        let ours = self.long.iter().find(|l| l.id == like.id);
        LongRecord {
            delivered: ours.map_or(0, |l| l.delivered),
            arrived: ours.map_or(0, |l| l.delivered),
            intervals: ours.map_or_else(Vec::new, |l| l.intervals.clone()),
            timeouts: 0,
            ..like.clone()
        }
    }

    fn port(&self, config: &Config, p: &PortCount, like: &PortReport) -> PortReport {
        let until = config.measure.until.0.min(self.end.saturating_mul(1000));
        let span = until.saturating_sub(config.measure.from.0).max(1) as f64 / 1e12;
        let sent = count(&p.until, "bytes_sent") - count(&p.from, "bytes_sent");
        let lengths: Vec<f64> = p.samples.iter().map(|b| f64::from(*b)).collect();
        let byte = 8e9 / like.rate.0 as f64;
        let waits = lengths.iter().map(|b| b * byte).collect();
        PortReport {
            packets: count(&p.end, "packets_sent"),
            bytes: count(&p.end, "bytes_sent"),
            marks: sum(&p.end, "mark_reasons"),
            drops: sum(&p.end, "drop_reasons"),
            utilisation: sent as f64 * 8.0 / like.rate.0 as f64 / span,
            queue: spread(lengths),
            sojourn: spread(waits),
            ..like.clone()
        }
    }

    fn digest(&self) -> u64 {
        let mut hash = Fnv1a::new();
        for (id, fct) in &self.ended {
            hash.write(&id.to_le_bytes());
            hash.write(&fct.to_le_bytes());
        }
        for l in &self.long {
            hash.write(&l.delivered.to_le_bytes());
        }
        hash.write(&self.end.to_le_bytes());
        hash.finish()
    }
}

fn probe((workload, sent, rtt): &(u16, u64, u64)) -> ProbeRecord {
    ProbeRecord {
        workload: *workload,
        sent: Picos::from_nanos(*sent),
        rtt: Picos::from_nanos(*rtt),
    }
}

fn spread(mut values: Vec<f64>) -> Spread {
    if values.is_empty() {
        return Spread::default();
    }
    values.sort_unstable_by(f64::total_cmp);
    let at =
        |p: f64| values[((p * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1];
    Spread {
        count: values.len() as u64,
        mean: values.iter().sum::<f64>() / values.len() as f64,
        p50: at(0.5),
        p99: at(0.99),
        max: at(1.0),
        min: values[0],
    }
}
