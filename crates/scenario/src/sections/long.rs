// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[workload]]` of kind `long`: endless flows.

use cemark_sim::topology::Topology;
use cemark_sim::workload::{Kind, Long, LongFlows};
use cemark_wire::Picos;

use crate::around::{Around, HOST, host, two_hosts};
use crate::error::{Fallible, Fault};
use crate::key::{Key, keys, words};
use crate::section::{self, Section};
use crate::tree::Node;

/// [`LongFlows`] without its parameters.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Pattern {
    Permutation,
    ToOne,
    Pairs,
}

words! { Pattern:
    "permutation" => Pattern::Permutation,
    "to-one" => Pattern::ToOne,
    "pairs" => Pattern::Pairs,
}

keys! { LONG:
    PATTERN: Pattern = Key::choice("pattern").only(&["long"]).usual("permutation").doc(
        "`permutation`: every host sends to one and receives from one; `to-one`: `count` flows to \
         `receiver`; `pairs`: those listed in `pairs`",
    );
    PER_HOST: u32 = Key::count("per-host", 1, 1_000).only(&["long"]).usual("1")
        .doc("for `permutation`: flows of each host");
    FLOW_COUNT: u32 = Key::count("count", 1, 1_000_000).only(&["long"]).needed("8")
        .doc("for `to-one`: number of flows; the hosts send in turn");
    SINK: Node = Key::own("receiver", "a host", HOST).only(&["long"]).needed("0")
        .doc("for `to-one`: the host that receives");
    LONG_PAIRS: Node = Key::own(
        "pairs",
        "a list of pairs of hosts",
        r#"{"type":"array","items":{"type":"array","minItems":2,"maxItems":2}}"#,
    )
    .only(&["long"])
    .needed("[[0, 1], [2, 3]]")
    .doc("for `pairs`: sender and receiver of each flow");
    LONG_AT: Picos = Key::time("at").only(&["long"]).usual("0").doc("start of the first flow");
    STAGGER: Picos = Key::time("stagger").only(&["long"]).usual("0")
        .doc("each next flow starts this much later");
    LONG_JITTER: Picos = Key::time("jitter").only(&["long"]).usual("0")
        .doc("and up to this much more, at random");
}

pub(crate) fn long(s: &mut Section<'_>, around: &mut Around<'_>) -> Fallible<Kind> {
    Ok(Kind::Long(Long {
        flows: flows(s, around.topology)?,
        at: s.read(&LONG_AT)?,
        stagger: s.read(&STAGGER)?,
        jitter: s.read(&LONG_JITTER)?,
    }))
}

fn flows(s: &mut Section<'_>, topology: &Topology) -> Fallible<LongFlows> {
    match s.read(&PATTERN)? {
        Pattern::Permutation => Ok(LongFlows::Permutation {
            per_host: s.read(&PER_HOST)?,
        }),
        Pattern::ToOne => Ok(LongFlows::ToOne {
            count: s.read(&FLOW_COUNT)?,
            receiver: host(s.need(&SINK)?, topology)?,
        }),
        Pattern::Pairs => {
            let node = s.need(&LONG_PAIRS)?;
            let mut pairs = Vec::new();
            for row in section::list(node)? {
                let [src, dst] = section::list(row)? else {
                    return Err(Fault::new(row.at, "a pair has two hosts")
                        .help("write [0, 1]: sender and receiver"));
                };
                pairs.push(two_hosts(src, dst, topology)?);
            }
            if pairs.is_empty() {
                return Err(Fault::new(node.at, "no pair").help(LONG_PAIRS.spec.advice()));
            }
            Ok(LongFlows::Pairs(pairs))
        }
    }
}
