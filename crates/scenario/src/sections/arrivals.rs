// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the flows of a Poisson workload are drawn: by which hosts, how sizes and starts are drawn,
//! and what its load counts.

use cemark_sim::topology::Topology;
use cemark_sim::workload::load::most_loaded;
use cemark_sim::workload::{Arrivals, Pairs, SizeTable, Span};
use cemark_wire::Picos;

use crate::error::{Fallible, Fault};
use crate::key::{Key, keys, words};
use crate::poisson::{FLOWS, LOAD, LOAD_HOLD, SHARE, WARMUP};
use crate::section::{Section, list};
use crate::tree::{Node, Value};
use crate::workload::host;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Draws {
    Stratified,
    Independent,
}

words! { Draws: "stratified" => Draws::Stratified, "independent" => Draws::Independent }

/// JSON schema of a list of hosts.
pub(crate) const SOME_HOSTS: &str = r#"{"type":"array","minItems":1,"items":{"anyOf":
    [{"type":"integer","minimum":0},{"type":"string"}]}}"#;

keys! { ARRIVAL_KEYS:
    DRAWS: Draws = Key::choice("draws").only(&["poisson"]).usual("stratified").doc(
        "`stratified`: sizes are spread evenly over the table, and each block of flows offers \
         exactly the load. `independent`: each size and each time between flows is drawn by \
         itself, as in most simulators, and the load is met on average",
    );
    WHO: Node = Key::own(
        "senders",
        "a list of hosts",
        SOME_HOSTS,
    )
    .only(&["poisson"])
    .follows("all hosts")
    .doc(
        "the hosts that send: numbers, ranges `\"8..15\"` (ends included), or every n-th, \
         `\"1 mod 8\"`; `load` still refers to the links of all hosts",
    );
    SPAN: Picos = Key::span("span").only(&["poisson"]).follows("none").doc(
        "instead of `load`: the flows start uniformly over this time, from `at` on; without \
         warm-up, and without flows after them",
    );
    SPAN_AT: Picos = Key::time("at").only(&["poisson"]).usual("0").doc("begin of `span`");
    OVERHEAD: u64 = Key::bytes("load-overhead", 0, 1_500).only(&["poisson"]).usual("0").doc(
        "bytes that each segment of `mss` adds to what `load` counts: `0` is payload, `\"40B\"` \
         IP, `\"78B\"` an Ethernet link",
    );
}

/// The hosts and the draws.
pub(crate) fn arrivals(s: &mut Section<'_>, topology: &Topology) -> Fallible<Arrivals> {
    let senders = match s.node(&WHO) {
        None => Vec::new(),
        Some(node) => senders(node, topology)?,
    };
    let at = s.given(&SPAN_AT)?;
    let length = s.given(&SPAN)?;
    let span = length.map(|length| Span {
        at: at.unwrap_or(Picos::ZERO),
        length,
    });
    if let (Some(_), Some(node)) = (span, s.node(&LOAD)) {
        return Err(Fault::new(node.at, "the arrivals are given in two ways")
            .help("keep load = 0.8, or span = \"400ms\", in which all flows start"));
    }
    let idle = match span {
        None => s
            .node(&SPAN_AT)
            .map(|node| (node, "without span = \"...\"")),
        Some(_) => {
            let of_loads = s.node(&WARMUP).or(s.node(&LOAD_HOLD)).or(s.node(&SHARE));
            let of_loads = of_loads.or(s.node(&OVERHEAD));
            of_loads.map(|node| (node, "with span: all flows start in it, at no given load"))
        }
    };
    if let Some((node, why)) = idle {
        return Err(Fault::new(node.at, format!("this has no meaning {why}")).help("remove it"));
    }
    Ok(Arrivals {
        independent: s.read(&DRAWS)? == Draws::Independent,
        senders,
        span,
    })
}

/// The load that `flows` flows in a span make on average, for estimates.
pub(crate) fn load_of(
    s: &mut Section<'_>,
    (topology, pairs): (&Topology, &Pairs),
    sizes: &SizeTable,
    span: Span,
) -> Fallible<f64> {
    let tier = most_loaded(topology, pairs);
    let bits = s.read(&FLOWS)? as f64 * sizes.mean() * 8.0 * tier.share;
    let seconds = span.length.0 as f64 / 1e12;
    Ok((bits / seconds / tier.capacity).clamp(1e-6, 1.0))
}

/// The part of `load` that is payload.
pub(crate) fn payload(s: &mut Section<'_>, sizes: &SizeTable, mss: u16) -> Fallible<f64> {
    const PARTS: u32 = 1 << 16;
    let overhead = s.read(&OVERHEAD)?;
    if overhead == 0 {
        return Ok(1.0);
    }
    let (mut bytes, mut added) = (0.0, 0.0);
    for i in 0..PARTS {
        let size = sizes.draw((f64::from(i) + 0.5) / f64::from(PARTS));
        bytes += size as f64;
        added += (size.div_ceil(u64::from(mss)) * overhead) as f64;
    }
    Ok(bytes / (bytes + added))
}

/// Refuses a load that would keep the links of its senders busier than they can be.
pub(crate) fn fits(
    node: &Node,
    (topology, pairs): (&Topology, &Pairs),
    arrivals: &Arrivals,
    load: f64,
) -> Fallible<()> {
    let n = arrivals.senders.len();
    if n == 0 {
        return Ok(());
    }
    let tier = most_loaded(topology, pairs);
    let each = load * tier.capacity / tier.share / n as f64;
    let line = topology.host_rate().0 as f64;
    if each <= line {
        return Ok(());
    }
    let message = format!(
        "{n} senders cannot offer this load: each would send {:.3} Gb/s over a link of {:.3} Gb/s",
        each / 1e9,
        line / 1e9
    );
    Err(Fault::new(node.at, message).help(format!(
        "write a load of at most {:.3} (it refers to the links of all hosts), or more senders",
        load * line / each
    )))
}

/// The hosts that answer an incast: `receiver` is none of them.
pub(crate) fn who_answers(
    node: Option<&Node>,
    receiver: u32,
    topology: &Topology,
) -> Fallible<Vec<u32>> {
    let Some(node) = node else {
        return Ok(Vec::new());
    };
    let from = senders(node, topology)?;
    if !from.contains(&receiver) {
        return Ok(from);
    }
    let message = format!("host {receiver} is the receiver, and sends nothing to itself");
    Err(Fault::new(node.at, message).help("leave it out of `from`"))
}

fn senders(node: &Node, topology: &Topology) -> Fallible<Vec<u32>> {
    let mut all = Vec::new();
    for item in list(node)? {
        match &item.value {
            Value::Text(text) => all.extend(some_hosts(item, text, topology)?),
            _ => all.push(host(item, topology)?),
        }
    }
    all.sort_unstable();
    if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("host {} is among the senders twice", twice[0]);
        return Err(Fault::new(node.at, message).help("name each host once"));
    }
    match all.is_empty() {
        true => Err(Fault::new(node.at, "no host sends").help("write senders = [0, \"8..15\"]")),
        false => Ok(all),
    }
}

/// `8..15` or `1 mod 8`.
fn some_hosts(node: &Node, text: &str, topology: &Topology) -> Fallible<Vec<u32>> {
    let hosts = topology.hosts();
    let two = |a: &str, b: &str| Some((a.trim().parse::<u32>().ok()?, b.trim().parse().ok()?));
    if let Some((from, to)) = text.split_once("..").and_then(|(a, b)| two(a, b)) {
        if from <= to && to < hosts {
            return Ok((from..=to).collect());
        }
        let message = format!("`{text}` is not a range of this fabric's {hosts} hosts");
        return Err(Fault::new(node.at, message)
            .help(format!("write \"0..{}\" for all of them", hosts - 1)));
    }
    if let Some((rest, every)) = text.split_once("mod").and_then(|(a, b)| two(a, b)) {
        if rest < every && rest < hosts {
            return Ok((rest..hosts).step_by(every as usize).collect());
        }
        return Err(
            Fault::new(node.at, format!("no host has the number `{text}`"))
                .help("write \"0 mod 8\" to \"7 mod 8\" for every eighth host"),
        );
    }
    let message = format!("`{text}` names no hosts");
    Err(Fault::new(node.at, message)
        .help("write the number of a host, a range \"8..15\", or \"1 mod 8\""))
}
