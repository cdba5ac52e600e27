// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of a workload's flows.

use cemark_sim::workload::ClassMap;

use crate::error::{Fallible, Fault};
use crate::key::{Key, keys, words};
use crate::section::{self, Section, bytes, choice, count, wrong};
use crate::switch::MOST_QUEUES;
use crate::tree::{Node, Value};
use crate::units::LARGEST_FLOW;

/// How the class of a flow follows from its hosts.
#[derive(Clone, Copy, PartialEq)]
enum ClassBy {
    Pair,
    Sender,
}

words! { ClassBy: "by-pair" => ClassBy::Pair, "by-sender" => ClassBy::Sender }

keys! { CLASSES:
    CLASS: Node = Key::own(
        "class",
        "a queue, `by-pair` or `by-sender`",
        r#"{"anyOf":[{"type":"integer","minimum":0,"maximum":63},
            {"enum":["by-pair","by-sender"]}]}"#,
    )
    .follows("`0`")
    .doc(
        "the queue at every port: a number, `\"by-pair\"` (((dst + 1) x hosts + src + 1) mod \
         queues) or `\"by-sender\"` (src mod queues)",
    );
    CLASS_WEIGHTS: Node = Key::own(
        "class-weights",
        "a list of whole numbers",
        r#"{"type":"array","items":{"type":"integer","minimum":0}}"#,
    )
    .doc("instead of `class`: a queue at random with these weights, `[2, 1, 1]`");
    CLASS_BOUNDS: Node = Key::own(
        "class-bounds",
        "a list of lengths",
        r#"{"type":"array"}"#,
    )
    .doc("instead of `class`: by bytes sent, `[\"140KB\"]`: the second queue after 140 KB (PIAS)");
}

/// The map of flows to queues.
pub(crate) fn class(s: &mut Section<'_>, queues: usize) -> Fallible<ClassMap> {
    let given = (
        s.node(&CLASS),
        s.node(&CLASS_WEIGHTS),
        s.node(&CLASS_BOUNDS),
    );
    match given {
        (None, None, None) => Ok(ClassMap::Fixed(0)),
        (Some(node), None, None) => fixed_class(node, queues),
        (None, Some(node), None) => weighted_class(node, queues),
        (None, None, Some(node)) => class_by_bytes(node, queues),
        (_, Some(node), _) | (_, _, Some(node)) => {
            Err(Fault::new(node.at, "the class is given in two ways")
                .help("keep one of class, class-weights and class-bounds"))
        }
    }
}

/// Every class needs its queue.
fn enough_queues(node: &Node, classes: usize, queues: usize) -> Fallible<()> {
    if classes <= queues {
        return Ok(());
    }
    let message = format!("{classes} classes, but a port has {queues} queues");
    Err(Fault::new(node.at, message).help(format!(
        "write queues = {classes} and a scheduler in [switch], or a [[switch.queue]] for each \
         class, or fewer classes"
    )))
}

/// The number of a queue.
pub(crate) fn own_class(node: &Node, queues: usize) -> Fallible<u8> {
    let class = count(node, (0, MOST_QUEUES - 1))?;
    enough_queues(node, class as usize + 1, queues)?;
    Ok(class as u8)
}

fn fixed_class(node: &Node, queues: usize) -> Fallible<ClassMap> {
    match &node.value {
        Value::Integer(_) => Ok(ClassMap::Fixed(own_class(node, queues)?)),
        Value::Text(_) => Ok(match choice(node)? {
            ClassBy::Pair => ClassMap::ByPair(queues as u8),
            ClassBy::Sender => ClassMap::BySender(queues as u8),
        }),
        _ => Err(wrong(
            node,
            "the number of a queue, \"by-pair\" or \"by-sender\"",
        )),
    }
}

fn weighted_class(node: &Node, queues: usize) -> Fallible<ClassMap> {
    let weights = section::list(node)?
        .iter()
        .map(|w| Ok(count(w, (0, 1_000_000))? as u32))
        .collect::<Fallible<Vec<u32>>>()?;
    if weights.iter().all(|&w| w == 0) {
        return Err(
            Fault::new(node.at, "all weights are zero").help("write class-weights = [2, 1, 1]")
        );
    }
    enough_queues(node, weights.len(), queues)?;
    Ok(ClassMap::Weighted(weights))
}

fn class_by_bytes(node: &Node, queues: usize) -> Fallible<ClassMap> {
    let mut all: Vec<u64> = Vec::new();
    for bound in section::list(node)? {
        let n = bytes(bound, None, (1, LARGEST_FLOW))?;
        if all.last().is_some_and(|&before| n <= before) {
            return Err(Fault::new(bound.at, "bounds must rise")
                .help("write class-bounds = [\"140KB\", \"1MB\"]"));
        }
        all.push(n);
    }
    enough_queues(node, all.len() + 1, queues)?;
    Ok(ClassMap::ByBytesSent(all))
}
