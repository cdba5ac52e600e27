// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[switch]` and `[measure]`.

use cemark_sim::config::{
    MarkerChoice, Measure, NonEct, QueueConfig, SchedulerKind, SwitchConfig, TracePorts,
};
use cemark_sim::topology::Topology;
use cemark_sim::workload::load::flows_per_second;
use cemark_sim::workload::{Kind, Workload};
use cemark_wire::Picos;

use crate::error::{Fallible, Fault};
use crate::section::{Section, bytes, list};
use crate::tree::{Node, Table, Value};
use crate::units::span;
use crate::workload::{MOST_QUEUES, host};

/// A full packet at 1 Tb/s takes 12 ns.
const SHORTEST_INTERVAL: Picos = Picos::from_nanos(10);

pub(crate) fn switch(root: &Table, marker: MarkerChoice) -> Fallible<SwitchConfig> {
    let mut s = Section::of(root, "switch")?;
    let usual = match &marker {
        MarkerChoice::Builtin { scheme, .. } => usize::from(scheme.drops_not_ect),
        _ => 0,
    };
    let scheduler_at = s.get("scheduler").map_or(s.at(), |node| node.at);
    let SchedulerKind::Fifo = [SchedulerKind::Fifo][s.choice("scheduler", 0, &["fifo"])?];
    let queues = queues(&mut s)?;
    if queues.len() > 1 {
        return Err(
            Fault::new(scheduler_at, "the scheduler `fifo` serves one queue")
                .help("remove all but one [[switch.queue]]"),
        );
    }
    let config = SwitchConfig {
        buffer_bytes: s.get("buffer").map_or(Ok(1_000_000), |node| {
            bytes(node, None, (1, u32::MAX.into()))
        })? as u32,
        queues,
        scheduler: SchedulerKind::Fifo,
        marker,
        non_ect: [NonEct::Forward, NonEct::Drop]
            [s.choice("non-ect", usual, &["forward", "drop"])?],
        never_fuse: !s.flag("fuse", true)?,
    };
    s.finish()?;
    Ok(config)
}

fn queues(s: &mut Section<'_>) -> Fallible<Vec<QueueConfig>> {
    let nodes: &[Node] = match s.get("queue") {
        None => {
            return Ok(vec![QueueConfig {
                quantum: 1500,
                weight: 1,
                strict: false,
            }]);
        }
        Some(Node {
            value: Value::List(nodes),
            ..
        }) => nodes,
        Some(node) => std::slice::from_ref(node),
    };
    if nodes.is_empty() || nodes.len() as u64 > MOST_QUEUES {
        return Err(Fault::new(
            s.at(),
            format!("a port has 1 to {MOST_QUEUES} queues"),
        ));
    }
    nodes
        .iter()
        .map(|node| {
            let mut q = Section::node(node, "[[switch.queue]]".to_owned())?;
            let queue = QueueConfig {
                quantum: q.bytes("quantum", 1500, (1, 1 << 30))? as u32,
                weight: q.count32("weight", 1, (1, 1_000_000))?,
                strict: q.flag("strict", false)?,
            };
            q.finish()?;
            Ok(queue)
        })
        .collect()
}

pub(crate) fn measure(
    root: &Table,
    topology: &Topology,
    workloads: &[Workload],
) -> Fallible<Measure> {
    let mut s = Section::of(root, "measure")?;
    let hosts = s.get("trace-hosts");
    let trace = match (
        s.choice(
            "trace",
            if hosts.is_some() { 2 } else { 0 },
            &["none", "hottest", "hosts"],
        )?,
        hosts,
    ) {
        (0, None) => TracePorts::None,
        (1, None) => TracePorts::Hottest,
        (2, Some(node)) => TracePorts::ToHosts(
            list(node)?
                .iter()
                .map(|n| host(n, topology))
                .collect::<Fallible<_>>()?,
        ),
        (2, None) => {
            s.need("trace-hosts", "[0]")?;
            TracePorts::None
        }
        (_, Some(node)) => {
            return Err(Fault::new(
                node.at,
                "trace-hosts goes with trace = \"hosts\"",
            ));
        }
        _ => TracePorts::None,
    };
    let measure = Measure {
        queue_interval: interval(&mut s, "queue-interval", Picos::from_micros(50))?,
        trace,
        from: s.time("from", warmed_up(topology, workloads))?,
        until: s.time("until", Picos::MAX)?,
        goodput_interval: interval(&mut s, "goodput-interval", Picos::ZERO)?,
    };
    let place = |s: &mut Section<'_>, key| s.get(key).map_or(s.at(), |node| node.at);
    if measure.until <= measure.from {
        return Err(Fault::new(
            place(&mut s, "until"),
            format!(
                "`until` ({}) is not after the beginning of the measurement ({})",
                span(measure.until),
                span(measure.from)
            ),
        )
        .help("measure from the end of the warm-up (or from = \"1ms\") to a later time"));
    }
    if measure.trace != TracePorts::None && measure.queue_interval == Picos::ZERO {
        return Err(Fault::new(
            place(&mut s, "queue-interval"),
            "a trace needs queue-interval",
        )
        .help("write queue-interval = \"10us\""));
    }
    s.finish()?;
    Ok(measure)
}

/// How often something is recorded; zero: never. A mistyped unit would otherwise be a run without end.
fn interval(s: &mut Section<'_>, key: &'static str, default: Picos) -> Fallible<Picos> {
    let Some(node) = s.get(key) else {
        return Ok(default);
    };
    match crate::section::time(node)? {
        span if span != Picos::ZERO && span < SHORTEST_INTERVAL => Err(Fault::new(
            node.at,
            format!("{key} is shorter than a packet takes on the fastest link"),
        )
        .help("write at least \"10ns\"; usual are \"10us\" to \"1ms\", and 0 for never")),
        span => Ok(span),
    }
}

/// When the last warm-up ends, to the microsecond, as the load foretells.
fn warmed_up(topology: &Topology, workloads: &[Workload]) -> Picos {
    let end = |w: &Workload| match &w.kind {
        Kind::Poisson {
            sizes,
            load,
            pairs,
            warmup,
            ..
        } => {
            let seconds = *warmup as f64 / flows_per_second(topology, pairs, sizes.mean(), *load);
            Picos::from_micros((seconds * 1e6).min(1e12) as u64)
        }
        _ => Picos::ZERO,
    };
    workloads.iter().map(end).max().unwrap_or(Picos::ZERO)
}
