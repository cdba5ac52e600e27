// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of flows of other simulators, as they are: HPCC's `flow.txt`, htsim's `.cm`. Their nodes
//! are hosts of the scenario with the same numbers.

use std::collections::BTreeSet;

use cemark_formats::{Fault, Flow, Kind, hpcc, htsim};
use cemark_sim::workload::FlowLine;
use cemark_wire::Picos;

use super::MOST;
use crate::units::LARGEST_FLOW;

/// The flows, the first of which starts at 0. Each priority of HPCC has a queue of its own, in
/// their order.
pub(super) fn read(
    kind: Kind,
    text: &str,
    hosts: u32,
    queues: usize,
) -> Result<Vec<FlowLine>, String> {
    let said = |fault: Fault| {
        let place = fault.line.map(|line| format!("line {line}: "));
        format!(
            "{}{}; {}",
            place.unwrap_or_default(),
            fault.message,
            fault.help
        )
    };
    let flows = match kind {
        Kind::HpccFlows => hpcc::flows(text).map_err(said)?.flows,
        Kind::HtsimFlows => {
            let mut flows = htsim::matrix(text).map_err(said)?.flows;
            // htsim's priorities order the packets of a receiver's own flows, and choose no queue.
            flows.iter_mut().for_each(|flow| flow.priority = None);
            flows
        }
        Kind::HpccTopology | Kind::HpccConfig | Kind::HtsimTopology => {
            return Err("it has no flows; `cemark import` makes a scenario of it".to_owned());
        }
    };
    if flows.len() > MOST {
        return Err(format!("it has more than {MOST} flows"));
    }
    let first = flows.iter().map(|flow| flow.start).min();
    let first = first.ok_or_else(|| "it has no flows".to_owned())?;
    let priorities: BTreeSet<u32> = flows.iter().filter_map(|flow| flow.priority).collect();
    if priorities.len() > queues.max(1) {
        return Err(format!(
            "its flows have {n} priorities, and a port has {queues} queues; write queues = {n} and \
             a scheduler in [switch]",
            n = priorities.len()
        ));
    }
    let line = |flow: &Flow| {
        line(flow, hosts, first, &priorities).map_err(|why| format!("line {}: {why}", flow.line))
    };
    flows.iter().map(line).collect()
}

fn line(
    flow: &Flow,
    hosts: u32,
    first: Picos,
    priorities: &BTreeSet<u32>,
) -> Result<FlowLine, String> {
    if let Some(node) = [flow.src, flow.dst].into_iter().find(|node| *node >= hosts) {
        return Err(format!(
            "node {node} is no host, 0 to {}; `cemark import` with the topology gives nodes other \
             numbers",
            hosts - 1
        ));
    }
    if flow.priority == Some(0) {
        return Err("priority 0 is that of control packets; write 1 to 7".to_owned());
    }
    if flow.bytes > LARGEST_FLOW {
        return Err("a flow has from one byte to a petabyte".to_owned());
    }
    let class = flow.priority.filter(|_| priorities.len() > 1);
    let class = class.and_then(|own| priorities.iter().position(|p| *p == own));
    Ok(FlowLine {
        start: Picos(flow.start.0 - first.0),
        src: flow.src,
        dst: flow.dst,
        bytes: flow.bytes,
        class: class.and_then(|class| u8::try_from(class).ok()),
        rtt: None,
    })
}
