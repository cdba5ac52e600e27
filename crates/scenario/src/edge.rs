// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[edge]`: what stands at the edges of two sites.

use cemark_sim::config::{DcibConfig, Edge};
use cemark_sim::topology::Topology;
use cemark_switch::edge::{AckForm, CePolicy, CopyPolicy, Recovery};
use cemark_wire::{Ecn, Nanos, Picos};

use crate::error::{Fallible, Fault};
use crate::section::{Section, choice, fraction, nanos, rate, time};
use crate::tree::Table;
use crate::units::span;

const KINDS: &[&str] = &["plain", "dcib", "pep"];

/// Keys of `kind = "dcib"`. They may stand under another kind, so that schemes and sweeps may go
/// through the kinds.
pub(crate) const DCIB_KEYS: &[&str] = &[
    "share",
    "stalled",
    "tau",
    "recovery",
    "copies",
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

pub(crate) fn edge(root: &Table, topology: &Topology) -> Fallible<Edge> {
    let mut s = Section::of(root, "edge")?;
    let Some(kind_node) = s.get("kind") else {
        without_kind(&mut s)?;
        s.finish()?;
        return Ok(Edge::Plain);
    };
    let kind = choice(kind_node, KINDS)?;
    let Some(sites) = topology.two_sites() else {
        return Err(Fault::new(
            kind_node.at,
            "edge routers stand between two sites, which this fabric does not have",
        )
        .help("write kind = \"two-sites\" in [topology], or leave [edge] out"));
    };
    s.allow(DCIB_KEYS);
    s.allow(&["buffer"]);
    let round = Picos(2 * sites.between_delay().0);
    let edge = match kind {
        0 => Edge::Plain,
        2 => Edge::Pep {
            buffer: s.bytes("buffer", 32_000_000, (10_000, 1 << 40))?,
        },
        _ => dcib(&mut s, round, sites.between_rate(), sites.left)?,
    };
    s.finish()?;
    Ok(edge)
}

/// A key of a kind, and no kind.
fn without_kind(s: &mut Section<'_>) -> Fallible<()> {
    let first = DCIB_KEYS
        .iter()
        .chain(&["buffer"])
        .find_map(|key| s.get(key).map(|node| (*key, node)));
    let Some((key, node)) = first else {
        return Ok(());
    };
    let kind = if key == "buffer" { "pep" } else { "dcib" };
    Err(
        Fault::new(node.at, format!("`{key}` in [edge] belongs to a kind"))
            .help(format!("write kind = \"{kind}\" beside it")),
    )
}

/// The round trip that the routers are told. One below what the links alone take would have every
/// copy sent before its packet can be heard of.
fn told_round(s: &mut Section<'_>, round: Picos) -> Fallible<Nanos> {
    let tau = s.time("tau", round)?;
    match s.get("tau").filter(|_| tau < round) {
        None => Ok(Nanos(tau.0.div_ceil(1000))),
        Some(node) => Err(Fault::new(
            node.at,
            format!(
                "a tau of {} is below what the links take there and back ({})",
                span(tau),
                span(round)
            ),
        )
        .help("leave tau out: it follows from the links")),
    }
}

/// `round`: propagation from edge to edge and back. `line`: the slowest link between them. `left`:
/// hosts of site 0.
fn dcib(s: &mut Section<'_>, round: Picos, line: cemark_wire::Rate, left: u32) -> Fallible<Edge> {
    const ONE: f64 = 65_536.0;
    let share = s.get("share").map_or(Ok(0.1), fraction)?;
    let tau = told_round(s, round)?;
    let plain = DcibConfig::LITERAL;
    // What r tau C asks for, and a third for router ACKs that queues delay.
    let law = (share * tau.0 as f64 * line.0 as f64 / 8e9 * 4.0 / 3.0) as u64;
    let stalled_bytes = s.bytes("stalled", law.max(100_000), (1_500, 1 << 34))?;
    let acks = [AckForm::Named, AckForm::Cumulative, AckForm::Bitmap]
        [s.choice("acks", 0, &["named", "cumulative", "bitmap"])?];
    let every_node = s.get("ack-every");
    let ack_every = match every_node {
        None => 1,
        Some(node) => crate::section::count(node, (1, 64))? as u32,
    };
    if let Some(node) = every_node.filter(|_| ack_every > 1 && acks == AckForm::Named) {
        return Err(Fault::new(
            node.at,
            "a router ACK that names one packet cannot stand for several",
        )
        .help("write acks = \"bitmap\", or ack-every = 1"));
    }
    let in_order = s.choice("release", 0, &["at-once", "in-order"])? == 1;
    // A copy comes a round trip after its packet was missed, and may be lost twice.
    let usual_hold = Picos(round.0 * 5 / 2);
    let hold = s.time("hold", usual_hold)?;
    if let Some(node) = s.get("hold").filter(|_| in_order && hold.0 == 0) {
        return Err(Fault::new(
            node.at,
            "in-order release that waits for nothing drops every packet that comes late",
        )
        .help(format!(
            "write hold = \"{}\", the usual, or release = \"at-once\"",
            span(usual_hold)
        )));
    }
    let filter = match s.get("filter") {
        None => None,
        Some(node) => Some(time(node)?).filter(|t| t.0 > 0),
    };
    let lanes_node = s.get("lanes");
    let lanes = match lanes_node {
        None => plain.lanes,
        Some(node) => crate::section::count(node, (1, 32_768))? as u16,
    };
    if let Some(node) = lanes_node.filter(|_| !lanes.is_power_of_two()) {
        return Err(Fault::new(node.at, "lanes must be a power of two").help("write lanes = 1024"));
    }
    let config = DcibConfig {
        share: (share * ONE + 0.5) as u32,
        stalled_bytes,
        tau,
        recovery: [Recovery::Evidence, Recovery::Idle]
            [s.choice("recovery", 0, &["evidence", "idle"])?],
        copies: [CopyPolicy::Once, CopyPolicy::Restore, CopyPolicy::Protect]
            [s.choice("copies", 0, &["once", "restore", "protect"])?],
        most_copies: s.count32("most-copies", plain.most_copies.into(), (1, 255))? as u8,
        reorder: s.get("reorder").map_or(Ok(plain.reorder), nanos)?,
        ack_form: acks,
        ack_every,
        ack_delay: s.get("ack-delay").map_or(Ok(plain.ack_delay), nanos)?,
        raise: [Ecn::Ect0, Ecn::Ect1][s.choice("raise", 0, &["ect0", "ect1"])?],
        ce: [CePolicy::Pass, CePolicy::Clear][s.choice("ce", 0, &["pass", "clear"])?],
        hold: in_order.then_some(Nanos(hold.0.div_ceil(1000))),
        lanes,
        header_bytes: s.bytes("header", 0, (0, 128))? as u16,
        probe_above: s.get("probe-above").map(rate).transpose()?,
    };
    Ok(Edge::Dcib {
        config,
        filter,
        outside: s.count32("outside", 0, (0, left))?,
    })
}
