// SPDX-License-Identifier: MIT OR Apache-2.0
//! `flow.txt`: a line with the number of flows, and a line for each:
//! `src dst priority port bytes start`, the start in seconds.

use cemark_wire::Picos;

use crate::fault::{Fallible, Fault};
use crate::flow::Flow;
use crate::lines::{Line, lines, shown};
use crate::number;

/// A flow list, and what its reader should say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flows {
    /// The flows in the order of the file.
    pub flows: Vec<Flow>,
    /// Lines after the last flow that the first line counts; the simulator does not read them.
    pub ignored: usize,
}

/// Reads `flow.txt`. Starts are rounded to the picosecond. Some versions of the simulator have no
/// column for the port, which says nothing here.
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

fn flow(line: &Line<'_>) -> Fallible<Flow> {
    let form = "a flow is `src dst priority port bytes start`: `2 1 3 100 200000000 2.0`";
    let (size, start) = match line.words.len() {
        6 => (4, 5),
        5 => (3, 4),
        n => return Err(line.fault(format!("{n} words instead of six"), form)),
    };
    let flow = Flow {
        line: line.number,
        src: line.count(0, "node")?,
        dst: line.count(1, "node")?,
        priority: Some(line.count(2, "priority")?),
        bytes: line.count(size, "number of bytes")?,
        start: number::rounded(line.words[start], 12)
            .and_then(|ps| u64::try_from(ps).ok())
            .map(Picos)
            .ok_or_else(|| {
                let word = shown(line.words[start]);
                line.fault(
                    format!("`{word}` is no start of a flow"),
                    "write seconds: 2.000000533",
                )
            })?,
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
