// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[edge]`: the middleboxes at the edges of two sites.

use cemark_edge::{AckForm, CePolicy, Clones, CopyPolicy, Recovery};
use cemark_sim::config::{DcibConfig, Edge};
use cemark_sim::topology::Topology;
use cemark_wire::{Ecn, Nanos, Picos, Rate};

use crate::error::{Fallible, Fault};
use crate::key::{Key, keys, words};
use crate::section::{Section, count};
use crate::sections::{Form, SectionSpec};
use crate::tree::Table;
use crate::units::span;

pub(crate) static EDGE: SectionSpec = SectionSpec::new(
    "edge",
    Form::Table,
    &[KEYS],
    "The middleboxes at the edge routers of `two-sites`, in both directions.",
)
.chosen_by("kind")
.per_scheme();

/// [`Edge`] without its parameters.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum EdgeKind {
    Plain,
    Dcib,
    Pep,
}

words! { EdgeKind:
    "plain" => EdgeKind::Plain,
    "dcib" => EdgeKind::Dcib,
    "pep" => EdgeKind::Pep,
}
words! { Recovery: "evidence" => Recovery::Evidence, "idle" => Recovery::Idle }
words! { CopyPolicy:
    "once" => CopyPolicy::Once,
    "restore" => CopyPolicy::Restore,
    "protect" => CopyPolicy::Protect,
}
words! { Clones: "selected" => Clones::Selected, "others" => Clones::Others }
words! { AckForm:
    "named" => AckForm::Named,
    "cumulative" => AckForm::Cumulative,
    "bitmap" => AckForm::Bitmap,
}
words! { Ecn: "ect0" => Ecn::Ect0, "ect1" => Ecn::Ect1 }
words! { CePolicy: "pass" => CePolicy::Pass, "clear" => CePolicy::Clear }

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Release {
    AtOnce,
    InOrder,
}

words! { Release: "at-once" => Release::AtOnce, "in-order" => Release::InOrder }

const DCIB: &[&str] = &["dcib"];

keys! { KEYS:
    KIND: EdgeKind = Key::choice("kind").follows("none").doc(
        "`plain`: no middlebox. `dcib`: two DCIB routers. `pep`: a proxy that splits connections",
    );
    SHARE: f64 = Key::fraction("share").only(DCIB).usual("0.1")
        .doc("share of the bytes that is selected");
    STALLED: u64 = Key::bytes("stalled", 1_500, 1 << 34).only(DCIB)
        .follows(
            "4/3 of share x tau x rate (of 1 - share with `clones = \"others\"`), at least 100 KB",
        )
        .doc("bytes that the stalled queue may hold");
    TAU: Picos = Key::time("tau").only(DCIB).follows("from the links").doc(
        "round trip between the routers; not below the round trip of the links, a longer one is \
         taken as measured",
    );
    RECOVERY: Recovery = Key::choice("recovery").only(DCIB).usual("evidence").doc(
        "`evidence`: a copy is sent when its packet is lost; `idle`: whenever the port is idle",
    );
    COPIES: CopyPolicy = Key::choice("copies").only(DCIB).usual("once").doc(
        "`once`: a copy is sent once; `restore`: it is kept again; `protect`: it is sent \
         ECN-capable",
    );
    CLONES: Clones = Key::choice("clones").only(DCIB).usual("selected").doc(
        "which packets have a copy and a router ACK: the selected ones, or all others, whose \
         copies are sent ECN-capable (the paper's Figure 7 as printed)",
    );
    MOST_COPIES: u8 = Key::count("most-copies", 1, 255).only(DCIB).usual("15")
        .doc("with `restore`, the most times that one packet is sent again");
    REORDER: Nanos = Key::nanos("reorder").only(DCIB).usual("0").doc(
        "a copy counts as lost only if it was sent this long before one that arrived",
    );
    ACKS: AckForm = Key::choice("acks").only(DCIB).usual("named").doc(
        "router ACKs: of one packet, cumulative, or with a bitmap of the last 64 numbers",
    );
    ACK_EVERY: u32 = Key::count("ack-every", 1, 64).only(DCIB).usual("1")
        .doc("one router ACK for this many packets");
    ACK_DELAY: Nanos = Key::nanos("ack-delay").only(DCIB).usual("100us")
        .doc("the longest time that a router ACK is withheld");
    RAISE: Ecn = Key::choice("raise").only(DCIB).usual("ect0").doc(
        "ECN field of packets of hosts without ECN that are not selected",
    );
    CE: CePolicy = Key::choice("ce").only(DCIB).usual("pass").doc(
        "whether CE from the WAN reaches hosts that use ECN",
    );
    RELEASE: Release = Key::choice("release").only(DCIB).usual("at-once").doc(
        "`in-order`: the far router waits for a missing selected packet",
    );
    HOLD: Picos = Key::time("hold").only(DCIB).follows("2.5 round trips")
        .doc("with `in-order`, the longest such wait");
    LANES: u16 = Key::count("lanes", 1, 32_768).only(DCIB).usual("1024")
        .doc("with `in-order`, the number of lanes that wait separately; a power of two");
    FILTER: Picos = Key::time("filter").only(DCIB).follows("none")
        .doc("duplicate ACKs are kept from senders for this long; `0`: not");
    HEADER: u16 = Key::bytes("header", 0, 128).only(DCIB).usual("0")
        .doc("bytes that the header between the routers adds to a packet");
    PROBE_ABOVE: Rate = Key::rate("probe-above").only(DCIB).follows("none")
        .doc("packets above this rate are sent Not-ECT, without a copy");
    OUTSIDE: u32 = Key::count("outside", 0, u32::MAX as u64).only(DCIB).usual("0").doc(
        "this many hosts, the last of the first site, send past the near router",
    );
    BUFFER: u64 = Key::bytes("buffer", 10_000, 1 << 40).only(&["pep"]).usual("32MB")
        .doc("bytes that a proxy stores of one flow at most");
}

pub(crate) fn edge(root: &Table, topology: &Topology) -> Fallible<Edge> {
    let mut s = Section::of(root, &EDGE)?;
    let (Some(kind), Some(kind_node)) = (s.given(&KIND)?, s.node(&KIND)) else {
        without_kind(&mut s)?;
        s.finish()?;
        return Ok(Edge::Plain);
    };
    let Some(sites) = topology.two_sites() else {
        return Err(Fault::new(
            kind_node.at,
            "edge routers are between two sites, which this fabric does not have",
        )
        .help("write kind = \"two-sites\" in [topology], or leave [edge] out"));
    };
    s.allow_every_kind();
    let round = Picos(2 * sites.between_delay().0);
    let edge = match kind {
        EdgeKind::Plain => Edge::Plain,
        EdgeKind::Pep => Edge::Pep {
            buffer: s.read(&BUFFER)?,
        },
        EdgeKind::Dcib => dcib(&mut s, round, sites.between_rate(), sites.left)?,
    };
    s.finish()?;
    Ok(edge)
}

/// A key that belongs to a kind is a mistake where the kind is missing.
fn without_kind(s: &mut Section<'_>) -> Fallible<()> {
    for key in KEYS {
        if let ([kind, ..], Some(node)) = (key.only, s.get(key.name)) {
            let message = format!("`{}` in [edge] belongs to a kind", key.name);
            return Err(
                Fault::new(node.at, message).help(format!("write kind = \"{kind}\" beside it"))
            );
        }
    }
    Ok(())
}

/// The round trip that the routers are configured with. With one below the round trip of the links,
/// every copy would be sent before any news of its packet can arrive.
fn configured_round(s: &mut Section<'_>, round: Picos) -> Fallible<Nanos> {
    let tau = s.read_or(&TAU, round)?;
    match s.node(&TAU).filter(|_| tau < round) {
        None => Ok(Nanos(tau.0.div_ceil(1000))),
        Some(node) => Err(Fault::new(
            node.at,
            format!(
                "a tau of {} is below the round trip of the links ({})",
                span(tau),
                span(round)
            ),
        )
        .help("leave tau out: it follows from the links")),
    }
}

/// `round`: propagation from edge to edge and back. `line`: the slowest link between them. `left`:
/// hosts of site 0.
fn dcib(s: &mut Section<'_>, round: Picos, line: Rate, left: u32) -> Fallible<Edge> {
    const ONE: f64 = 65_536.0;
    let share = s.read(&SHARE)?;
    let tau = configured_round(s, round)?;
    // The product r tau C, and a third more for router ACKs that queues delay.
    let clones = s.read(&CLONES)?;
    let copied = match clones {
        Clones::Selected => share,
        Clones::Others => 1.0 - share,
    };
    let rule = (copied * tau.0 as f64 * line.0 as f64 / 8e9 * 4.0 / 3.0) as u64;
    let (ack_form, ack_every) = router_acks(s)?;
    let hold = hold(s, round)?;
    let lanes = s.read(&LANES)?;
    if let Some(node) = s.node(&LANES).filter(|_| !lanes.is_power_of_two()) {
        return Err(Fault::new(node.at, "lanes must be a power of two").help("write lanes = 1024"));
    }
    let config = DcibConfig {
        share: (share * ONE + 0.5) as u32,
        stalled_bytes: s.read_or(&STALLED, rule.max(100_000))?,
        tau,
        recovery: s.read(&RECOVERY)?,
        copies: s.read(&COPIES)?,
        most_copies: s.read(&MOST_COPIES)?,
        reorder: s.read(&REORDER)?,
        ack_form,
        ack_every,
        ack_delay: s.read(&ACK_DELAY)?,
        raise: s.read(&RAISE)?,
        ce: s.read(&CE)?,
        hold,
        lanes,
        header_bytes: s.read(&HEADER)?,
        probe_above: probe_above(s, clones)?,
        clones,
    };
    Ok(Edge::Dcib {
        config,
        filter: s.given(&FILTER)?.filter(|wait| wait.0 > 0),
        outside: outside(s, left)?,
    })
}

/// The rate above which packets are probes. They have no copy, so there are none where every packet
/// that is not selected has one.
fn probe_above(s: &mut Section<'_>, clones: Clones) -> Fallible<Option<Rate>> {
    let rate = s.given(&PROBE_ABOVE)?;
    match s.node(&PROBE_ABOVE).filter(|_| clones == Clones::Others) {
        None => Ok(rate),
        Some(node) => Err(Fault::new(
            node.at,
            "probes have no copy, and with clones = \"others\" every packet that is not selected \
             has one",
        )
        .help("leave probe-above out, or write clones = \"selected\"")),
    }
}

/// Form of router ACKs, and for how many packets there is one.
fn router_acks(s: &mut Section<'_>) -> Fallible<(AckForm, u32)> {
    let (form, every) = (s.read(&ACKS)?, s.read(&ACK_EVERY)?);
    let several = s.node(&ACK_EVERY).filter(|_| every > 1);
    match several.filter(|_| form == AckForm::Named) {
        None => Ok((form, every)),
        Some(node) => Err(Fault::new(
            node.at,
            "a router ACK that names one packet cannot acknowledge several",
        )
        .help("write acks = \"bitmap\", or ack-every = 1")),
    }
}

/// How long the far router waits for a missing packet; `None`: it does not.
fn hold(s: &mut Section<'_>, round: Picos) -> Fallible<Option<Nanos>> {
    let in_order = s.read(&RELEASE)? == Release::InOrder;
    // A copy arrives a round trip after its packet was missed, and may be lost twice.
    let usual = Picos(round.0 * 5 / 2);
    let hold = s.read_or(&HOLD, usual)?;
    if let Some(node) = s.node(&HOLD).filter(|_| in_order && hold.0 == 0) {
        return Err(Fault::new(
            node.at,
            "in-order release without waiting drops every packet that arrives late",
        )
        .help(format!(
            "write hold = \"{}\", the default, or release = \"at-once\"",
            span(usual)
        )));
    }
    Ok(in_order.then_some(Nanos(hold.0.div_ceil(1000))))
}

fn outside(s: &mut Section<'_>, left: u32) -> Fallible<u32> {
    match s.node(&OUTSIDE) {
        // At most all hosts of the first site.
        Some(node) => Ok(count(node, (0, left.into()))? as u32),
        None => s.read(&OUTSIDE),
    }
}

/// Keys of `kind = "dcib"`.
pub(crate) const DCIB_KEYS: &[&str] = &[
    "share",
    "stalled",
    "tau",
    "recovery",
    "copies",
    "clones",
    "most-copies",
    "reorder",
    "acks",
    "ack-every",
    "ack-delay",
    "raise",
    "ce",
    "release",
    "hold",
    "lanes",
    "header",
    "probe-above",
    "filter",
    "outside",
];
