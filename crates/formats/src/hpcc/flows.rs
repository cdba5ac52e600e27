// SPDX-License-Identifier: MIT OR Apache-2.0
//! `flow.txt`: a line with the number of flows, and a line for each:
//! `src dst priority port bytes start`, the start in seconds.
//!
//! The simulator of DCQCN that HPCC's grew from has lists of another kind, of six words too:
//! `src dst priority packets start end`. They are refused.

use cemark_wire::Picos;

use crate::fault::{Fallible, Fault};
use crate::flow::Flow;
use crate::lines::{Line, lines};
use crate::number;

/// A flow list, and what its reader should say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flows {
    /// The flows in the order of the file.
    pub flows: Vec<Flow>,
    /// Lines after the last flow that the first line counts; the simulator does not read them.
    pub ignored: usize,
}

/// Largest port.
const MOST_PORT: u128 = u16::MAX as u128;

/// Reads `flow.txt`. Starts are rounded to the picosecond. Some versions of the simulator have no
/// column for the port, which says nothing here. A list that counts packets is refused.
pub fn flows(text: &str) -> Fallible<Flows> {
    let mut rest = lines(text);
    let first = rest
        .next()
        .filter(|line| line.words.len() == 1)
        .ok_or_else(|| {
            let help = "the first line has the number of flows, and nothing else";
            match lines(text).next() {
                None => Fault::whole("the file is empty", help),
                Some(line) => line.fault("the number of flows is missing", help),
            }
        })?;
    let count: u64 = first.count(0, "number of flows")?;
    if let Some(line) = counts_packets(text, count) {
        return Err(packets(&line));
    }
    let mut flows = Vec::new();
    for _ in 0..count {
        let line = rest.next().ok_or_else(|| {
            Fault::at(
                text.lines().count(),
                format!(
                    "the file has {} flows, and its first line counts {count}",
                    flows.len()
                ),
                "add the others, or correct the first line",
            )
        })?;
        flows.push(flow(&line)?);
    }
    Ok(Flows {
        flows,
        ignored: rest.count(),
    })
}

/// Flows behind those that the first line counts, which the simulator does not read: lines of five
/// numbers or more.
pub fn uncounted(text: &str) -> usize {
    let mut rest = lines(text);
    let first = rest
        .next()
        .and_then(|line| line.count::<usize>(0, "number of flows").ok());
    let is_flow = |line: &Line<'_>| {
        let mut words = line.words.iter();
        line.words.len() >= 5 && words.all(|word| number::rounded(word, 0).is_some())
    };
    first.map_or(0, |count| rest.skip(count).filter(is_flow).count())
}

/// The line that shows that a list is one of packets, with starts and ends, if it is. A word in the
/// place of the port is larger than any port; a word in the place of the bytes has a point; or all
/// flows would have fewer bytes than seconds until they start.
fn counts_packets(text: &str, count: u64) -> Option<Line<'_>> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let list = || lines(text).skip(1).take(count);
    let sure = list().find(|line| match line.words[..] {
        [_, _, _, port, bytes, _] => {
            let port = number::scaled(port, 0).unwrap_or(0);
            port > MOST_PORT || bytes.contains('.') && number::rounded(bytes, 0).is_some()
        }
        _ => false,
    });
    let rises = |line: &Line<'_>| match line.words[..] {
        [_, _, _, _, start, end] => {
            let [start, end] = [start, end].map(|word| number::rounded(word, 12));
            // A flow of no bytes has a message of its own.
            start.is_some_and(|start| start > 0) && start < end
        }
        _ => false,
    };
    sure.or_else(|| {
        let mut all = list();
        let first = all.next().filter(rises)?;
        all.all(|line| rises(&line)).then_some(first)
    })
}

fn packets(line: &Line<'_>) -> Fault {
    line.fault(
        "this list counts packets (`src dst priority packets start end`), as the first simulator \
         of DCQCN did",
        "write bytes, packets times the payload of each (1000 there), and leave the ends out: awk \
         'NF == 6 {print $1, $2, $3, 100, $4 * 1000, $5} NF == 1' flow.txt",
    )
}

fn flow(line: &Line<'_>) -> Fallible<Flow> {
    let form = "a flow is `src dst priority port bytes start`: `2 1 3 100 200000000 2.0`";
    let (size, start) = match line.words.len() {
        6 => (4, 5),
        5 => (3, 4),
        n => return Err(line.fault(format!("{n} words instead of six"), form)),
    };
    let picos = |word: &str| u64::try_from(number::rounded(word, 12)?).ok();
    let flow = Flow {
        line: line.number,
        src: line.count(0, "node")?,
        dst: line.count(1, "node")?,
        priority: Some(line.count(2, "priority")?),
        bytes: line.count(size, "number of bytes")?,
        start: line
            .read(
                start,
                "start of a flow",
                "write seconds: 2.000000533",
                picos,
            )
            .map(Picos)?,
    };
    if flow.bytes == 0 {
        return Err(line.fault("a flow of no bytes", "write at least 1"));
    }
    if flow.src == flow.dst {
        let message = format!("a flow from node {} to itself", flow.src);
        return Err(line.fault(
            message,
            "remove the line, and count it off in the first line",
        ));
    }
    Ok(flow)
}
