// SPDX-License-Identifier: MIT OR Apache-2.0
//! `.cm`: `Nodes N`, `Connections M`, and a line for each flow:
//! `0->15 id 1 start 0 size 2000000`, the start in picoseconds.

use cemark_wire::Picos;

use crate::fault::{Fallible, Fault};
use crate::flow::Flow;
use crate::lines::{Line, lines, shown};
use crate::number;

/// A connection matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Number of hosts.
    pub nodes: u32,
    /// The flows in the order of the file.
    pub flows: Vec<Flow>,
}

/// Reads a connection matrix. Triggers, failures and endless flows are refused. The simulator reads
/// a start as a `float` and so rounds it to 24 bits; here it is read exactly.
pub fn matrix(text: &str) -> Fallible<Matrix> {
    let (mut nodes, mut count) = (None, None);
    let mut flows = Vec::new();
    for line in lines(text) {
        let word = line.words[0];
        if let Some((src, dst)) = word.split_once("->") {
            flows.push(flow(&line, src, dst)?);
            continue;
        }
        match word {
            "Nodes" => nodes = Some(line.count::<u32>(1, "number of nodes")?),
            "Connections" => {
                count = Some((
                    line.number,
                    line.count::<usize>(1, "number of connections")?,
                ));
            }
            "Triggers" | "Failures" if line.count::<u32>(1, "number")? == 0 => {}
            "Triggers" | "trigger" => return Err(triggered(&line)),
            "Failures" | "failure" => {
                return Err(line.fault(
                    "failures of switches and links are not imported",
                    "remove them, and write Failures 0: links of a scenario do not fail",
                ));
            }
            _ => {
                let message = format!("`{}` is not known here", shown(word));
                let help = "known are Nodes, Connections, and flows: `0->15 start 0 size 2000000`";
                return Err(line.fault(message, help));
            }
        }
    }
    let nodes = nodes.ok_or_else(|| {
        Fault::whole(
            "the number of nodes is missing",
            "write `Nodes 16` in the first line",
        )
    })?;
    if let Some((line, count)) = count.filter(|(_, count)| *count != flows.len()) {
        return Err(Fault::at(
            line,
            format!(
                "Connections {count}, and the file has {} flows",
                flows.len()
            ),
            format!("write Connections {}", flows.len()),
        ));
    }
    if let Some(flow) = flows.iter().find(|flow| flow.src.max(flow.dst) >= nodes) {
        return Err(Fault::at(
            flow.line,
            format!("there is no node {}", flow.src.max(flow.dst)),
            format!("Nodes {nodes} numbers them from 0 to {}", nodes.max(1) - 1),
        ));
    }
    Ok(Matrix { nodes, flows })
}

fn triggered(line: &Line<'_>) -> Fault {
    line.fault(
        "triggers are not imported: flows of a scenario start at a time",
        "write `start` with the time in picoseconds, and remove the triggers",
    )
}

fn flow(line: &Line<'_>, src: &str, dst: &str) -> Fallible<Flow> {
    let node = |word: &str| {
        let value = word.parse::<u32>().ok();
        value.ok_or_else(|| {
            let message = format!("`{}` is no node", shown(word));
            line.fault(message, "write sender and receiver without spaces: `0->15`")
        })
    };
    let (mut start, mut bytes, mut priority) = (None, None, None);
    let mut i = 1;
    while let Some(&word) = line.words.get(i) {
        match word {
            "start" => start = Some(picos(line, i + 1)?),
            "size" => bytes = Some(line.count::<u64>(i + 1, "number of bytes")?),
            "id" => drop(line.count::<u64>(i + 1, "id of a flow")?),
            "prio" => priority = Some(line.count::<u32>(i + 1, "priority")?),
            "trigger" | "send_done_trigger" | "recv_done_trigger" | "addon" => {
                return Err(triggered(line));
            }
            _ => {
                let message = format!("`{}` is not known here", shown(word));
                return Err(line.fault(message, "known are id, start, size and prio"));
            }
        }
        i += 2;
    }
    let start = start.ok_or_else(|| {
        line.fault(
            "the start of this flow is missing",
            "write `start 0`, in picoseconds",
        )
    })?;
    let bytes = bytes.filter(|&bytes| bytes > 0).ok_or_else(|| {
        line.fault(
            "a flow without a size is endless, and is not imported",
            "write a size above zero; endless flows of a scenario are a workload of kind `long`",
        )
    })?;
    let (src, dst) = (node(src)?, node(dst)?);
    if src == dst {
        return Err(line.fault(
            format!("a flow from node {src} to itself"),
            "remove the line, and count it off in Connections",
        ));
    }
    Ok(Flow {
        line: line.number,
        src,
        dst,
        bytes,
        start,
        priority,
    })
}

fn picos(line: &Line<'_>, i: usize) -> Fallible<Picos> {
    let picos = |word: &str| u64::try_from(number::rounded(word, 0)?).ok();
    let help = "write picoseconds: `start 1000000` is a microsecond";
    line.read(i, "start of a flow", help, picos).map(Picos)
}
