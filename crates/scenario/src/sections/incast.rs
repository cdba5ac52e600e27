// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[workload]]` of kind `incast`: many senders to one receiver at the same time.

use cemark_sim::topology::Topology;
use cemark_sim::workload::{Incast, Kind, MOST_FLOWS};
use cemark_wire::Picos;

use crate::around::{Around, HOST, SOME_HOSTS, host, hosts};
use crate::error::{Fallible, Fault};
use crate::key::{Key, keys};
use crate::section::{Section, time};
use crate::tree::Node;
use crate::units::LARGEST_FLOW;

keys! { INCAST:
    SENDERS: u32 = Key::count("senders", 1, 1_000_000).only(&["incast"]).needed("32").doc(
        "hosts that each send a flow to `receiver` at the same time; with more senders than hosts, \
         hosts send several",
    );
    RECEIVER: Node = Key::own("receiver", "a host", HOST).only(&["incast"]).needed("0")
        .doc("the host that receives");
    FROM: Node = Key::own("from", "a list of hosts", SOME_HOSTS).only(&["incast"])
        .follows("all but the receiver")
        .doc("the hosts of which `senders` are drawn, written as `senders` of `poisson`");
    SIZE: u64 = Key::bytes("size", 1, LARGEST_FLOW).only(&["incast"])
        .follows("`min-size` to `max-size`").doc("size of every flow");
    MIN_SIZE: u64 = Key::bytes("min-size", 1, LARGEST_FLOW).only(&["incast"])
        .needed("\"3KB\"  # or size = \"30KB\" for all")
        .doc("instead of `size`: sizes are uniform from here");
    MAX_SIZE: u64 = Key::bytes("max-size", 1, LARGEST_FLOW).only(&["incast"]).needed("60KB")
        .doc("to here");
    QUERY_AT: Picos = Key::time("at").only(&["incast"]).usual("0").doc("start of the first query");
    REPEAT: u32 = Key::count("repeat", 1, 10_000_000).only(&["incast"]).usual("1")
        .doc("number of queries");
    QUERY_EVERY: Picos = Key::span("every").only(&["incast"]).needed("1ms")
        .doc("time from one query to the next; needed if they are repeated");
    QUERY_JITTER: Picos = Key::time("jitter").only(&["incast"]).usual("0")
        .doc("each flow starts up to this much later");
}

pub(crate) fn incast(s: &mut Section<'_>, around: &mut Around<'_>) -> Fallible<Kind> {
    let topology = around.topology;
    let senders = s.read(&SENDERS)?;
    let receiver = host(s.need(&RECEIVER)?, topology)?;
    let from = answering(s.node(&FROM), receiver, topology)?;
    let (min_bytes, max_bytes) = match s.given(&SIZE)? {
        Some(size) => (size, size),
        None => (s.read(&MIN_SIZE)?, s.read(&MAX_SIZE)?),
    };
    if max_bytes < min_bytes {
        let at = s.need(&MAX_SIZE)?.at;
        return Err(
            Fault::new(at, "the largest flow is smaller than the smallest")
                .help("swap min-size and max-size"),
        );
    }
    let repeat = s.read(&REPEAT)?;
    let every = match repeat {
        // Allowed, for a sweep of `repeat`, and without effect.
        1 => s.node(&QUERY_EVERY).map_or(Ok(Picos::ZERO), time)?,
        _ => s.read(&QUERY_EVERY)?,
    };
    if u64::from(senders) * u64::from(repeat) > MOST_FLOWS {
        return Err(Fault::new(s.at(), format!("more than {MOST_FLOWS} flows"))
            .help("fewer senders or repeats"));
    }
    Ok(Kind::Incast(Incast {
        from,
        senders,
        receiver,
        min_bytes,
        max_bytes,
        at: s.read(&QUERY_AT)?,
        repeat,
        every,
        jitter: s.read(&QUERY_JITTER)?,
    }))
}

/// The hosts that answer an incast: `receiver` is none of them.
fn answering(node: Option<&Node>, receiver: u32, topology: &Topology) -> Fallible<Vec<u32>> {
    let Some(node) = node else {
        return Ok(Vec::new());
    };
    let from = hosts(node, topology)?;
    if !from.contains(&receiver) {
        return Ok(from);
    }
    let message = format!("host {receiver} is the receiver, and sends nothing to itself");
    Err(Fault::new(node.at, message).help("leave it out of `from`"))
}
