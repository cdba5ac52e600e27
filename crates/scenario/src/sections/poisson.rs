// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[workload]]` of kind `poisson`: random arrivals at a load.

use cemark_sim::topology::Topology;
use cemark_sim::workload::load::most_loaded;
use cemark_sim::workload::{Arrivals, Kind, MOST_FLOWS, Pairs, Poisson, SizeTable, Span};
use cemark_wire::Picos;

use crate::around::{Around, HOST, SOME_HOSTS, host, hosts};
use crate::error::{Fallible, Fault};
use crate::key::{Key, keys, words};
use crate::section::Section;
use crate::tree::Node;

/// [`Pairs`] without the receiver.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PairsKind {
    All,
    OtherRack,
    ToOne,
}

words! { PairsKind:
    "all" => PairsKind::All,
    "other-rack" => PairsKind::OtherRack,
    "to-one" => PairsKind::ToOne,
}

keys! { POISSON:
    LOAD: f64 = Key::fraction("load").only(&["poisson"]).needed("0.8").doc(
        "offered payload bits on the most loaded tier over its capacity, above 0, at most 1",
    );
    SHARE: f64 = Key::fraction("share").only(&["poisson"]).usual("1").doc(
        "the part of `load` that this workload offers, where several divide one load among them",
    );
    PAIRS: PairsKind = Key::choice("pairs").only(&["poisson"]).usual("all").doc(
        "`all`: any two hosts; `other-rack`: any two of different racks; `to-one`: to `receiver`, \
         from any other",
    );
    TO: Node = Key::own("receiver", "a host", HOST).only(&["poisson"]).needed("0")
        .doc("the receiver of `pairs = \"to-one\"`");
    FLOWS: u64 = Key::count("flows", 1, MOST_FLOWS).only(&["poisson"]).needed("10000")
        .doc("measured flows");
    WARMUP: u64 = Key::count("warmup", 0, MOST_FLOWS).only(&["poisson"])
        .follows("a tenth of `flows`").doc("flows before them that are not measured");
    LOAD_HOLD: Picos = Key::time("hold").only(&["poisson"])
        .follows("until the last measured flow has ended").doc(
        "how long flows continue to arrive after the last measured one has arrived: `\"100ms\"` \
         spares the long wait for a few huge flows, which then end among fewer others",
    );
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Draws {
    Stratified,
    Independent,
}

words! { Draws: "stratified" => Draws::Stratified, "independent" => Draws::Independent }

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

/// The load that a workload offers, and where it is written.
fn offered<'a>(s: &mut Section<'a>) -> Fallible<(f64, &'a Node)> {
    let node = s.need(&LOAD)?;
    let load = s.read(&LOAD).map_err(|fault| {
        fault.help(
            "a load is above 0 and at most 1: offered payload bits on the most loaded tier over \
             its capacity",
        )
    })?;
    // With a load of 1e-300 the first flow would never arrive.
    if load < 1e-6 {
        return Err(Fault::new(node.at, "a load of zero sends nothing")
            .help("write a load above 0 and at most 1, such as 0.8"));
    }
    let share = s.read(&SHARE).map_err(|fault| {
        fault.help(
            "a share is above 0 and at most 1: the part of the load that this workload offers",
        )
    })?;
    match s.node(&SHARE).filter(|_| load * share < 1e-6) {
        Some(node) => Err(Fault::new(node.at, "a share of zero sends nothing")
            .help("write a share above 0 and at most 1, such as 0.25")),
        None => Ok((load * share, node)),
    }
}

fn pairs(s: &mut Section<'_>, topology: &Topology) -> Fallible<Pairs> {
    let pairs = s.read(&PAIRS)?;
    if let Some(receiver) = s.node(&TO).filter(|_| pairs != PairsKind::ToOne) {
        return Err(
            Fault::new(receiver.at, "a receiver without pairs = \"to-one\"")
                .help("write pairs = \"to-one\" for flows to this host alone, or remove it"),
        );
    }
    match pairs {
        PairsKind::All => Ok(Pairs::All),
        PairsKind::OtherRack if topology.fabric().racks() == 1 => Err(Fault::new(
            s.at(),
            "pairs = \"other-rack\" needs more than one rack",
        )
        .help("write pairs = \"all\"")),
        PairsKind::OtherRack => Ok(Pairs::OtherRack),
        PairsKind::ToOne => Ok(Pairs::ToOne(host(s.need(&TO)?, topology)?)),
    }
}

pub(crate) fn poisson(s: &mut Section<'_>, around: &mut Around<'_>) -> Fallible<Kind> {
    let sizes = around.tables.sizes(s)?;
    let arrivals = arrivals(s, around.topology)?;
    let pairs = pairs(s, around.topology)?;
    if let Pairs::ToOne(to) = pairs
        && arrivals.senders.contains(&to)
    {
        let message = format!("host {to} is the receiver, and among the senders");
        return Err(Fault::new(s.at(), message).help("leave it out of senders"));
    }
    let flows = s.read(&FLOWS)?;
    let (load, at) = match arrivals.span {
        Some(span) => {
            let load = load_of(s, (around.topology, &pairs), &sizes, span)?;
            (load, s.at())
        }
        None => {
            let (load, node) = offered(s)?;
            let load = load * payload(s, &sizes, around.transport.mss)?;
            fits(node, (around.topology, &pairs), &arrivals, load)?;
            (load, node.at)
        }
    };
    let (warmup, hold) = match arrivals.span {
        Some(_) => (0, Picos::ZERO),
        None => (
            s.read_or(&WARMUP, flows / 10)?,
            s.read_or(&LOAD_HOLD, Picos::MAX)?,
        ),
    };
    let poisson = Poisson {
        sizes,
        load,
        pairs,
        flows,
        warmup,
        hold,
        arrivals,
    };
    let rate = poisson.rate(around.topology);
    if rate > 1e9 {
        return Err(Fault::new(
            at,
            format!("this load is {rate:.0} flows a second, more than one a nanosecond"),
        )
        .help("larger flows, or a lower load"));
    }
    Ok(Kind::Poisson(poisson))
}

/// The hosts and the draws.
fn arrivals(s: &mut Section<'_>, topology: &Topology) -> Fallible<Arrivals> {
    let senders = match s.node(&WHO) {
        None => Vec::new(),
        Some(node) => hosts(node, topology)?,
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
fn load_of(
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
fn payload(s: &mut Section<'_>, sizes: &SizeTable, mss: u16) -> Fallible<f64> {
    const PARTS: u32 = 1 << 16;
    let overhead = s.read(&OVERHEAD)?;
    if overhead == 0 {
        return Ok(1.0);
    }
    let (mut bytes, mut added) = (0.0, 0.0);
    for size in sizes.strata(PARTS) {
        bytes += size as f64;
        added += (size.div_ceil(u64::from(mss)) * overhead) as f64;
    }
    Ok(bytes / (bytes + added))
}

/// Refuses a load that would keep the links of its senders busier than they can be.
fn fits(
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
