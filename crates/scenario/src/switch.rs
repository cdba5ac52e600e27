// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[switch]` and `[measure]`.

use cemark_sim::config::{
    Buffering, Config, MarkerChoice, Measure, NonEct, Policy, QueueConfig, RoundSpec,
    SchedulerKind, SwitchConfig, TracePorts,
};
use cemark_sim::topology::Topology;
use cemark_sim::workload::load::flows_per_second;
use cemark_sim::workload::{Kind, Workload};
use cemark_switch::{admit, sched};
use cemark_wire::Picos;

use crate::error::{At, Fallible, Fault};
use crate::pfc;
use crate::section::{Section, bytes, count, list, nanos, number};
use crate::tree::{Node, Table, Value};
use crate::units::span;
use crate::workload::{MOST_QUEUES, host};

/// A full packet at 1 Tb/s takes 12 ns.
const SHORTEST_INTERVAL: Picos = Picos::from_nanos(10);

/// One in parts of 2^16, as factors and weights are stored.
const ONE: f64 = 65_536.0;

/// `mtu`: a full packet on the wire in bytes. `non_ect` is what the file says; where it says
/// nothing, [`not_ect`] decides once all schemes are known, and the configuration holds `Forward`
/// until then.
pub(crate) fn switch(
    root: &Table,
    marker: MarkerChoice,
    mtu: u32,
) -> Fallible<(SwitchConfig, Option<NonEct>)> {
    let mut s = Section::of(root, "switch")?;
    let buffer_bytes = s.get("buffer").map_or(Ok(1_000_000), |node| {
        bytes(node, None, (1, u32::MAX.into()))
    })? as u32;
    let scheduler_node = s.get("scheduler");
    let names: Vec<&str> = sched::ALL.iter().map(|spec| spec.name).collect();
    let scheduler = sched::ALL[s.choice("scheduler", 0, &names)?].kind;
    let (mut queues, several) = queues(&mut s, scheduler, mtu)?;
    if let Some(at) = several.filter(|_| scheduler == SchedulerKind::Fifo) {
        let at = scheduler_node.map_or(at, |node| node.at);
        return Err(
            Fault::new(at, "the scheduler `fifo` serves one queue").help(format!(
                "write scheduler = \"dwrr\" ({}), or keep one queue",
                names[1..].join(", ")
            )),
        );
    }
    let buffering = buffering(&mut s, buffer_bytes, &mut queues)?;
    let pfc = pfc::pfc(&mut s, &buffering, &mut queues, mtu)?;
    let round = RoundSpec {
        beta: s
            .get("round-beta")
            .map_or(Ok(0.75), |node| number(node, (0.0, 1.0)))
            .map(|beta| (beta * ONE + 0.5) as u32)?,
        idle: s.get("round-idle").map(nanos).transpose()?,
    };
    let policies = [NonEct::Forward, NonEct::Drop];
    let written = s.get("non-ect").is_some();
    let non_ect = policies[s.choice("non-ect", 0, &["forward", "drop"])?];
    let config = SwitchConfig {
        buffer_bytes,
        buffering,
        queues,
        scheduler,
        round,
        marker,
        non_ect,
        never_fuse: !s.flag("fuse", true)?,
        pfc,
    };
    s.finish()?;
    Ok((config, written.then_some(non_ect)))
}

/// What becomes of packets that a scheme wants to mark and that are not ECN-capable, where the file
/// does not say: the same for every scheme and every point of a run, so that a comparison compares
/// schemes and not policies. Where senders use ECN, the packets without it are acknowledgements and
/// notifications, and dropping them is no signal to anybody; where links pause, nothing is to be
/// lost. Where no sender uses ECN, a drop is the only signal there is.
pub(crate) fn not_ect<'a>(configs: impl IntoIterator<Item = &'a Config>) -> NonEct {
    let capable = |config: &Config| {
        let transport = &config.transport;
        transport.rdma.is_some() || transport.control.ecn_capable() || config.switch.pfc.is_some()
    };
    match configs.into_iter().any(capable) {
        true => NonEct::Forward,
        false => NonEct::Drop,
    }
}

/// The queues, and where it is said that there are several.
fn queues(
    s: &mut Section<'_>,
    scheduler: SchedulerKind,
    mtu: u32,
) -> Fallible<(Vec<QueueConfig>, Option<At>)> {
    // Visits of less than a packet would make rounds of nothing.
    let by_quanta = scheduler.spec().divides == sched::Divides::Quanta;
    let quantum = |node: &Node| -> Fallible<u32> {
        let n = bytes(node, None, (1, 1 << 30))? as u32;
        if by_quanta && n < mtu {
            return Err(
                Fault::new(node.at, "a quantum of less than a full packet").help(format!(
                    "a full packet has {mtu} bytes on the wire: write at least quantum = \"{mtu}B\""
                )),
            );
        }
        Ok(n)
    };
    let plain = QueueConfig {
        quantum: s.get("quantum").map_or(Ok(mtu), &quantum)?,
        ..QueueConfig::PLAIN
    };
    let number_node = s.get("queues");
    let nodes: &[Node] = match (s.get("queue"), number_node) {
        (None, None) => return Ok((vec![plain], None)),
        (None, Some(node)) => {
            let n = count(node, (1, MOST_QUEUES))? as usize;
            return Ok((vec![plain; n], (n > 1).then_some(node.at)));
        }
        (Some(_), Some(node)) => {
            return Err(Fault::new(node.at, "the queues are given in two ways")
                .help("keep queues = 8 (all alike), or a [[switch.queue]] for each"));
        }
        (
            Some(Node {
                value: Value::List(nodes),
                ..
            }),
            None,
        ) => nodes,
        (Some(node), None) => std::slice::from_ref(node),
    };
    if nodes.is_empty() || nodes.len() as u64 > MOST_QUEUES {
        return Err(Fault::new(
            s.at(),
            format!("a port has 1 to {MOST_QUEUES} queues"),
        ));
    }
    let all = nodes
        .iter()
        .map(|node| {
            let mut q = Section::node(node, "[[switch.queue]]".to_owned())?;
            let queue = QueueConfig {
                quantum: q.get("quantum").map_or(Ok(plain.quantum), &quantum)?,
                weight: q.count32("weight", 1, (1, 1_000_000))?,
                strict: q.flag("strict", false)?,
                limit_bytes: q.get("bytes").map_or(Ok(u32::MAX.into()), |node| {
                    bytes(node, None, (1, u32::MAX.into()))
                })? as u32,
                lossless: q.flag("lossless", false)?,
            };
            q.finish()?;
            Ok(queue)
        })
        .collect::<Fallible<Vec<_>>>()?;
    let several = nodes.get(1).map(|node| node.at);
    Ok((all, several))
}

fn buffering(
    s: &mut Section<'_>,
    buffer_bytes: u32,
    queues: &mut [QueueConfig],
) -> Fallible<Buffering> {
    let names: Vec<&str> = admit::ALL.iter().map(|spec| spec.name).collect();
    let policy_node = s.get("buffer-policy");
    let place = s.choice("buffer-policy", 0, &names)?;
    let alpha = s
        .get("alpha")
        .map_or(Ok(1.0), |node| number(node, (0.001, 1000.0)))?;
    let pool = s.get("pool");
    let pool_bytes = pool.map_or(Ok(0), |node| bytes(node, None, (1, u32::MAX.into())))? as u32;
    let policy = [
        Policy::Port,
        Policy::Static,
        Policy::Shared,
        Policy::Dynamic {
            alpha: (alpha * ONE + 0.5) as u32,
        },
    ][place];
    let headroom_node = s.get("headroom");
    let headroom =
        headroom_node.map_or(Ok(0), |node| bytes(node, None, (0, u32::MAX.into())))? as u32;
    let whole = match (admit::ALL[place].shared, pool_bytes) {
        (true, n) if n > 0 => n,
        _ => buffer_bytes,
    };
    if let Some(node) = headroom_node.filter(|_| headroom >= whole) {
        return Err(
            Fault::new(node.at, "headroom leaves nothing of the buffer").help(format!(
                "the buffer has {whole} bytes: write a smaller headroom"
            )),
        );
    }
    if policy == Policy::Static {
        share_out(buffer_bytes - headroom, queues).map_err(|what| {
            Fault::new(policy_node.map_or(s.at(), |node| node.at), what)
                .help("give the queues less with bytes = \"...\", or write a larger buffer")
        })?;
    }
    Ok(Buffering {
        policy,
        pool_bytes,
        headroom,
    })
}

/// Queues that do not say how many bytes they have get equal parts of what the others leave.
fn share_out(buffer: u32, queues: &mut [QueueConfig]) -> Result<(), String> {
    let given: u64 = queues
        .iter()
        .filter(|q| q.limit_bytes != u32::MAX)
        .map(|q| u64::from(q.limit_bytes))
        .sum();
    let silent = queues.iter().filter(|q| q.limit_bytes == u32::MAX).count() as u64;
    if given + silent > u64::from(buffer) {
        return Err(format!(
            "the queues ask for {given} bytes of a buffer of {buffer}"
        ));
    }
    for q in queues.iter_mut().filter(|q| q.limit_bytes == u32::MAX) {
        q.limit_bytes = ((u64::from(buffer) - given) / silent) as u32;
    }
    Ok(())
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

/// How often something is recorded; zero: never. A mistyped unit would otherwise be a run without
/// end.
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
