// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[workload]]` of kind `poisson`: random arrivals at a load.

use cemark_sim::topology::Topology;
use cemark_sim::workload::{Kind, MOST_FLOWS, Pairs, Poisson};
use cemark_wire::Picos;

use crate::arrivals;
use crate::error::{Fallible, Fault};
use crate::key::{Key, keys, words};
use crate::section::Section;
use crate::tree::Node;
use crate::workload::{Around, HOST, host};

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
    let arrivals = arrivals::arrivals(s, around.topology)?;
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
            let load = arrivals::load_of(s, (around.topology, &pairs), &sizes, span)?;
            (load, s.at())
        }
        None => {
            let (load, node) = offered(s)?;
            let load = load * arrivals::payload(s, &sizes, around.transport.mss)?;
            arrivals::fits(node, (around.topology, &pairs), &arrivals, load)?;
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
