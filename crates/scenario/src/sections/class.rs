// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of a workload's flows.

use cemark_sim::workload::ClassMap;

use crate::classes::Classes;
use crate::error::{Fallible, Fault, fold};
use crate::key::{Key, Words, keys, words};
use crate::section::{self, Section, bytes, count, wrong};
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
        "a queue, a traffic class, `by-pair` or `by-sender`",
        r#"{"type":["integer","string"],"minimum":0,"maximum":63}"#,
    )
    .follows("`0`")
    .doc(
        "the queue at every port: a number, the name of a `[[switch.class]]`, `\"by-pair\"` \
         (((dst + 1) x hosts + src + 1) mod queues) or `\"by-sender\"` (src mod queues)",
    );
    CLASS_DSCP: Node = Key::own(
        "dscp",
        "a DSCP (0 to 63)",
        r#"{"type":"integer","minimum":0,"maximum":63}"#,
    )
    .follows("`class`")
    .doc("instead of `class`: the DSCP of its packets, which a `[[switch.class]]` has");
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
pub(crate) fn class(s: &mut Section<'_>, classes: &Classes) -> Fallible<ClassMap> {
    let queues = classes.queues;
    let given = (
        s.node(&CLASS),
        s.node(&CLASS_WEIGHTS),
        s.node(&CLASS_BOUNDS),
        s.node(&CLASS_DSCP),
    );
    match given {
        (None, None, None, None) => Ok(ClassMap::Fixed(0)),
        (Some(node), None, None, None) => fixed_class(node, classes),
        (None, Some(node), None, None) => weighted_class(node, queues),
        (None, None, Some(node), None) => class_by_bytes(node, queues),
        (None, None, None, Some(node)) => Ok(ClassMap::Fixed(classes.queue_of_dscp(node)?)),
        (.., Some(node)) | (_, Some(node), ..) | (_, _, Some(node), _) => {
            Err(Fault::new(node.at, "the class is given in two ways")
                .help("keep one of class, dscp, class-weights and class-bounds"))
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

/// A queue, by its number or by the name of a traffic class.
pub(crate) fn own_class(node: &Node, classes: &Classes) -> Fallible<u8> {
    if let Value::Text(name) = &node.value {
        return classes.queue_named(node.at, name);
    }
    let class = count(node, (0, MOST_QUEUES - 1))?;
    enough_queues(node, class as usize + 1, classes.queues)?;
    Ok(class as u8)
}

fn fixed_class(node: &Node, classes: &Classes) -> Fallible<ClassMap> {
    match &node.value {
        Value::Text(name) => match choice_of(name) {
            Some(ClassBy::Pair) => Ok(ClassMap::ByPair(classes.queues as u8)),
            Some(ClassBy::Sender) => Ok(ClassMap::BySender(classes.queues as u8)),
            None => Ok(ClassMap::Fixed(own_class(node, classes)?)),
        },
        Value::Integer(_) => Ok(ClassMap::Fixed(own_class(node, classes)?)),
        _ => Err(wrong(
            node,
            "the number of a queue, a traffic class, \"by-pair\" or \"by-sender\"",
        )),
    }
}

fn choice_of(name: &str) -> Option<ClassBy> {
    let mut words = ClassBy::words().into_iter();
    words.find_map(|(word, by)| (fold(word) == fold(name)).then_some(by))
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
