// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values that are each in range and together make no sense: refused, with the key that is most
//! likely wrong.

use cemark_sim::Config;
use cemark_sim::config::{Buffering, Edge, Nic, Policy};
use cemark_sim::workload::Workload;
use cemark_wire::{Nanos, Picos};

use super::limits;
use crate::error::{Fallible, Fault};
use crate::tree::{Node, Table, Value, items};
use crate::units;
use crate::warn::{path_rtts, whole};
use crate::workload::WORKLOAD;

/// Fails on a configuration that could run and would show nothing. `root` is the tree it was read
/// from, for the places.
pub(crate) fn check(root: &Table, config: &Config) -> Fallible<()> {
    transport(root, &config.transport)?;
    limits::check(root, config)?;
    wire_length(root, config)?;
    buffer(root, config)?;
    drains(root, config)?;
    base_rtt(root, config)?;
    pauses(root, config)?;
    queue_pairs(root, config)?;
    proxies(root, config)?;
    times(root, config)
}

/// The fault at the first of these keys that is written in the file.
pub(super) fn at(root: &Table, keys: &[(&str, &str)], message: String) -> Box<Fault> {
    let written = keys.iter().find_map(|(section, key)| match *section {
        "" => root.get(key),
        _ => match &root.get(section)?.node.value {
            Value::Table(table) => table.get(key),
            _ => None,
        },
    });
    match written {
        Some(entry) => Fault::new(entry.node.at, message),
        None => Fault::nowhere(message),
    }
}

fn buffer(root: &Table, config: &Config) -> Fallible<()> {
    let packet = config.full_packet();
    if config.switch.buffer_bytes >= packet {
        return Ok(());
    }
    let buffer = config.switch.buffer_bytes;
    Err(at(
        root,
        &[("switch", "buffer"), ("transport", "mss")],
        format!("a buffer of {buffer} bytes holds no packet: a full one is {packet} bytes"),
    )
    .help(format!(
        "write at least buffer = \"{packet}B\"; usual are \"250KB\" to \"1MB\" a port"
    )))
}

/// Longest time in which a full buffer may drain. A port computes when its last packet leaves, and
/// a time has 2^64 picoseconds, which are 18 times as long.
const SLOWEST_DRAIN: u64 = 1_000_000;

fn drains(root: &Table, config: &Config) -> Fallible<()> {
    let own = u64::from(config.switch.buffer_bytes);
    let most = match config.switch.buffering {
        Buffering {
            policy: Policy::Port | Policy::Static,
            ..
        } => own,
        Buffering { pool_bytes: 0, .. } => own.saturating_mul(u64::from(config.topology.hosts())),
        Buffering { pool_bytes, .. } => pool_bytes.into(),
    };
    let slowest = config.topology.slowest();
    let seconds = u128::from(most) * 8 / u128::from(slowest.0);
    if seconds <= u128::from(SLOWEST_DRAIN) {
        return Ok(());
    }
    let (buffer, rate) = (units::length(most), units::rate(slowest.0));
    Err(at(
        root,
        &[
            ("switch", "pool"),
            ("switch", "buffer"),
            ("topology", "rate"),
        ],
        format!("a full buffer of {buffer} takes {seconds} seconds to drain at {rate}"),
    )
    .help(format!(
        "{SLOWEST_DRAIN} seconds are the most: write a smaller buffer or a faster link"
    )))
}

/// The length of a packet has 16 bits, on a real wire as here.
fn wire_length(root: &Table, config: &Config) -> Fallible<()> {
    let Edge::Dcib { config: dcib, .. } = &config.edge else {
        return Ok(());
    };
    let packet = config.full_packet();
    let whole = packet + u32::from(dcib.header_bytes);
    if whole <= u32::from(u16::MAX) {
        return Ok(());
    }
    Err(at(
        root,
        &[("edge", "header"), ("transport", "mss")],
        format!(
            "a packet of {packet} bytes with the header between the routers is {whole} bytes \
                 long: 65535 is the most"
        ),
    )
    .help("write a smaller mss"))
}

/// A host stops when its pause frame arrives.
fn pauses(root: &Table, config: &Config) -> Fallible<()> {
    if config.switch.pfc.is_some() && matches!(config.nic, Nic::Limited { .. }) {
        let message = "a host that is paused keeps what it has to send, and loses none of it";
        return Err(at(
            root,
            &[("host", "nic-limit"), ("switch", "pfc")],
            message.to_owned(),
        )
        .help("remove nic-limit, or write pfc = false"));
    }
    if config.switch.pfc.is_some() && config.nic == Nic::SwitchPort {
        let message = "a NIC that is a switch's port does not obey pauses";
        return Err(at(
            root,
            &[("host", "nic"), ("switch", "pfc")],
            message.to_owned(),
        )
        .help("write nic = \"back-pressure\" or \"fifo\", or pfc = false"));
    }
    Ok(())
}

/// The middleboxes at the edges read TCP headers, or were tested with TCP only.
fn queue_pairs(root: &Table, config: &Config) -> Fallible<()> {
    let line = config.topology.host_rate();
    let pairs = config.queue_pairs();
    let least = pairs.iter().map(|r| r.dcqcn.min_rate).max();
    if let Some(least) = least.filter(|least| *least >= line) {
        let message = format!(
            "a min-rate of {} Gb/s is no less than the hosts' links ({} Gb/s): no queue pair \
             would ever slow down",
            least.0 as f64 / 1e9,
            line.0 as f64 / 1e9
        );
        return Err(at(root, &[("transport", "min-rate")], message)
            .help("write min-rate = \"40Mbps\", the default"));
    }
    if pairs.is_empty() || config.edge == Edge::Plain {
        return Ok(());
    }
    let message = "the middleboxes in [edge] are for TCP, not for queue pairs";
    Err(at(
        root,
        &[("transport", "control"), ("edge", "kind")],
        message.to_owned(),
    )
    .help("write another control than dcqcn, or leave [edge] out"))
}

/// A proxy splits each flow into three connections of its own and ends them with it: it has no
/// connection to keep.
fn proxies(root: &Table, config: &Config) -> Fallible<()> {
    let keeps = |(workload, _): &(&Workload, &Node)| workload.persistent;
    let mut all = config.workloads.iter().zip(items(root, WORKLOAD.name));
    let Some((workload, node)) = all
        .find(keeps)
        .filter(|_| matches!(config.edge, Edge::Pep { .. }))
    else {
        return Ok(());
    };
    let written = match &node.value {
        Value::Table(table) => table.get("connections").map_or(node.at, |e| e.node.at),
        _ => node.at,
    };
    Err(Fault::new(
        written,
        format!(
            "`{}` keeps its connections, and a proxy opens three new ones for each flow",
            workload.name
        ),
    )
    .help("write connections = \"fresh\" with a pep, or another kind in [edge]"))
}

/// Fails on a transport that could send nothing, read from the tree `root`.
pub(crate) fn transport(root: &Table, t: &cemark_transport::Config) -> Fallible<()> {
    let mss = u32::from(t.mss);
    if t.receive_window < u64::from(mss) {
        return Err(at(
            root,
            &[("transport", "receive-window"), ("transport", "mss")],
            format!(
                "a receive-window of {} bytes is smaller than one segment (mss, {mss} bytes): \
                 nothing could be sent",
                t.receive_window
            ),
        )
        .help("write receive-window = \"16MiB\", the default, or a smaller mss"));
    }
    let time = |n: Nanos| units::span(Picos::from_nanos(n.0));
    if t.rto_max < t.rto_min {
        return Err(at(
            root,
            &[("transport", "rto-max"), ("transport", "rto-min")],
            format!(
                "rto-max ({}) is below rto-min ({})",
                time(t.rto_max),
                time(t.rto_min)
            ),
        )
        .help("raise rto-max (default \"64s\"), or lower rto-min (default \"5ms\")"));
    }
    if t.rto_init > t.rto_max {
        return Err(at(
            root,
            &[("transport", "rto-init"), ("transport", "rto-max")],
            format!(
                "rto-init ({}) is above rto-max ({})",
                time(t.rto_init),
                time(t.rto_max)
            ),
        )
        .help("lower rto-init (default \"5ms\"), or raise rto-max (default \"64s\")"));
    }
    Ok(())
}

/// An RTT model of which not one draw is as long as the shortest path: every flow would get its
/// path's RTT, and the section says nothing.
fn base_rtt(root: &Table, config: &Config) -> Fallible<()> {
    let paths: Vec<Picos> = config
        .workloads
        .iter()
        .flat_map(|w| path_rtts(w, &config.topology))
        .map(|(_, rtt)| rtt)
        .collect();
    let Some(shortest) = paths.iter().min().copied() else {
        return Ok(());
    };
    if config.rtt.share_below(shortest) < 1.0 {
        return Ok(());
    }
    let keys = [
        "rtt", "max", "table", "values", "case", "floor", "file", "model",
    ];
    Err(at(
        root,
        &keys.map(|key| ("rtt", key)),
        format!(
            "every base RTT drawn here is below what the links alone take ({})",
            units::span(shortest)
        ),
    )
    .help(
        "write shorter links (`delay` in [topology]), longer RTTs, or model = \"path\" for what \
           the links give",
    ))
}

fn times(root: &Table, config: &Config) -> Fallible<()> {
    let end = config.max_time;
    if config.measure.from >= end {
        let measure = root.get("measure").map(|m| &m.node.value);
        let own = matches!(measure, Some(Value::Table(t)) if t.get("from").is_some());
        let what = if own {
            "measuring begins (`from`)"
        } else {
            "the warm-up ends"
        };
        return Err(at(
            root,
            &[("", "max-time"), ("measure", "from")],
            format!(
                "nothing is measured: {what} at {}, the run ends at {}",
                units::span(config.measure.from),
                units::span(end)
            ),
        )
        .help("raise max-time, or shorten what comes before the measurement (`warmup`, `from`)"));
    }
    for (workload, node) in config.workloads.iter().zip(items(root, WORKLOAD.name)) {
        let start = workload.kind.facts(&config.topology).first_start();
        let Some(start) = start.filter(|start| *start >= end) else {
            continue;
        };
        let written = match &node.value {
            Value::Table(table) => table.get("at").map_or(node.at, |entry| entry.node.at),
            _ => node.at,
        };
        return Err(Fault::new(
            written,
            format!(
                "`{}` sends nothing: it starts at {}, the run ends at {}",
                workload.name,
                units::span(start),
                units::span(end)
            ),
        )
        .help("an earlier `at`, or a longer max-time"));
    }
    Ok(())
}

/// Share of a whole in percent, as messages write it.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p >= 99.95 && share < 1.0 => "more than 99.9 %".to_owned(),
        p if p < 0.1 => "less than 0.1 %".to_owned(),
        p if whole(p) => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}
