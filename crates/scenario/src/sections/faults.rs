// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[fault]]`: artificial losses, and routers that bleach the ECN field.

use std::collections::{BTreeMap, BTreeSet};

use cemark_sim::faults::{ALWAYS, LinkFault, Loss, Victims};
use cemark_sim::topology::{Fabric, Topology};

use crate::error::{Fallible, Fault, near};
use crate::key::{Key, keys, words};
use crate::section::{Section, link_names, text};
use crate::sections::{Form, SectionSpec};
use crate::tree::{Node, Table, Value, items};

pub(crate) static FAULT: SectionSpec = SectionSpec::new(
    "fault",
    Form::List,
    &[KEYS],
    "Artificial losses on links, and routers that bleach the ECN field.",
);

words! { Victims:
    "any" => Victims::Any,
    "not-ect" => Victims::NotEct,
    "prefer-not-ect" => Victims::PreferNotEct,
}

keys! { KEYS:
    NAME: String = Key::text("name").follows("none").doc("its name in paths (`fault.wan.rate`)");
    LINKS: Node = Key::own(
        "links",
        "the name of a link, or a list of names",
        r#"{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}"#,
    )
    .needed("[\"wan0.0->wan1.0\"]")
    .doc(
        "names of links, one direction each; `\"wan0.*\"` is every link whose name begins so. \
         `cemark run` names those of switches in its report",
    );
    RATE: f64 = Key::fraction("rate").usual("0").doc("share of packets lost");
    BURST: f64 = Key::number("burst", 1.0, 1e6).follows("none").doc(
        "losses come in bursts of this many packets on average (Gilbert and Elliott); without it \
         each packet is lost independently",
    );
    BURST_LOSS: f64 = Key::fraction("burst-loss").usual("1")
        .doc("share of packets lost within a burst");
    VICTIMS: Victims = Key::choice("victims").usual("any").doc(
        "`any`; `not-ect`: of the Not-ECT packets that share is lost, of others none; \
         `prefer-not-ect`: that share of all bytes is lost, taken from the next Not-ECT packets \
         (the cooperative WAN of DCIB); where the bytes of 16 full packets are due, the next \
         packet of any kind is lost",
    );
    BLEACH: bool = Key::flag("bleach").usual("false")
        .doc("clears the ECN field of every packet, as some routers do");
}

pub(crate) fn faults(root: &Table, topology: &Topology) -> Fallible<Vec<LinkFault>> {
    let nodes = items(root, FAULT.name);
    if nodes.is_empty() {
        return Ok(Vec::new());
    }
    let fabric = topology.fabric();
    let links = fabric
        .links()
        .iter()
        .map(|link| link.name.as_str())
        .zip(0..);
    let links: BTreeMap<&str, u32> = links.collect();
    let mut all: Vec<LinkFault> = Vec::new();
    let mut taken = BTreeSet::new();
    for node in nodes {
        let mut s = Section::under(node, &FAULT)?;
        // For paths and for variants of figures.
        s.given(&NAME)?;
        let links_node = s.need(&LINKS)?;
        if s.node(&RATE).is_none() && s.node(&BLEACH).is_none() {
            return Err(Fault::new(links_node.at, "this fault does nothing")
                .help("write rate = 0.05 for losses, or bleach = true"));
        }
        let loss = loss(&mut s)?;
        let victims = s.read(&VICTIMS)?;
        let bleach = s.read(&BLEACH)?;
        s.finish()?;
        let help = "write links = [\"wan0.0->wan1.0\"], or leave this [[fault]] out";
        let names = link_names(links_node, "a fault of no link", help)?;
        for name in names {
            let exact = match &name.value {
                Value::Text(name) => links.get(name.as_str()),
                _ => None,
            };
            let found = exact.map_or_else(|| named(name, fabric), |link| Ok(vec![*link]))?;
            for link in found {
                if !taken.insert(link) {
                    return Err(Fault::new(
                        name.at,
                        format!(
                            "the link {} has two faults",
                            fabric.links()[link as usize].name
                        ),
                    )
                    .help("keep one [[fault]] for each link"));
                }
                all.push(LinkFault {
                    link,
                    loss,
                    victims,
                    bleach,
                });
            }
        }
    }
    Ok(all)
}

/// The links of a name; `wan0.*` is every link whose name begins so.
fn named(node: &Node, fabric: &Fabric) -> Fallible<Vec<u32>> {
    let name = text(node)?;
    let fits = |link: &str| match name.strip_suffix('*') {
        Some(begin) => link.starts_with(begin),
        None => link == name,
    };
    let all = fabric.links().iter().zip(0..);
    let found: Vec<u32> = all
        .filter(|(link, _)| fits(&link.name))
        .map(|(_, i)| i)
        .collect();
    if found.is_empty() {
        // Thousands of links are not worth reading: those between switches come last.
        let names = fabric
            .links()
            .iter()
            .rev()
            .take(64)
            .map(|l| l.name.as_str());
        return Err(Fault::new(
            node.at,
            format!("no link of this fabric is called `{name}`"),
        )
        .label("not known")
        .help(if name.trim_end_matches('*').contains('*') {
            "`*` matches the end of a name, and only there: wan0.*".to_owned()
        } else {
            near(name, names)
        }));
    }
    Ok(found)
}

fn loss(s: &mut Section<'_>) -> Fallible<Loss> {
    let rate = s.read(&RATE)?;
    let inside = s.read(&BURST_LOSS)?;
    let inside_node = s.node(&BURST_LOSS);
    let burst_node = s.node(&BURST);
    if let Some(node) = inside_node.filter(|_| burst_node.is_none() || inside == 0.0) {
        return Err(Fault::new(
            node.at,
            match burst_node {
                None => "burst-loss without bursts: here each packet is lost independently",
                Some(_) => "bursts in which nothing is lost",
            },
        )
        .help("write burst = 5 for bursts of five packets on average, and burst-loss above 0"));
    }
    let Some(burst_node) = burst_node else {
        return Ok(Loss::Uniform {
            chance: parts(rate),
        });
    };
    let burst =
        (BURST.value(burst_node)).map_err(|e| e.help("burst counts packets: write burst = 5"))?;
    // Of all packets a share `bad` meets the bad state, in runs of `burst`; there a packet is lost
    // with the chance `inside`.
    let bad = rate / inside;
    let leave = 1.0 / burst;
    let enter = leave * bad / (1.0 - bad);
    if !(0.0..=1.0).contains(&enter) {
        let at = s.node(&RATE).map_or(burst_node.at, |node| node.at);
        return Err(Fault::new(
            at,
            "bursts of this length and loss cannot make up this rate",
        )
        .help(
            "a lower rate, longer bursts, or more burst-loss: rate / burst-loss is the share of \
             packets in a burst",
        ));
    }
    Ok(Loss::Bursty {
        enter: parts(enter),
        leave: parts(leave),
        good: 0,
        bad: parts(inside),
    })
}

/// In the unit of the simulator.
fn parts(p: f64) -> u64 {
    (p * ALWAYS as f64).round() as u64
}
