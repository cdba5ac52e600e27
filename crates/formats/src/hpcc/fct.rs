// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fct.txt`, which the simulator writes: a line for each flow, in the order in which they end:
//! addresses of sender and receiver in hexadecimal, ports, bytes, start, completion time, and
//! completion time of the flow alone, in nanoseconds.

use std::fmt::Write as _;

use cemark_wire::Picos;

/// The first of the senders' ports in the simulator.
const FIRST_PORT: u64 = 10_000;
/// The receivers' port that its flow lists have.
const RECEIVER: u64 = 100;

/// A flow that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its number, from which its port follows.
    pub id: u64,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// When it started.
    pub start: Picos,
    /// How long it took.
    pub fct: Picos,
    /// How long it takes in an empty network.
    pub alone: Picos,
}

/// The address that the simulator gives a node: node 1 has 11.0.1.1.
fn address(node: u32) -> u32 {
    0x0b00_0001_u32.wrapping_add((node / 256).wrapping_mul(0x1_0000)) + node % 256 * 0x100
}

/// The file. Times are rounded down to nanoseconds.
pub fn fct(flows: &[Done]) -> String {
    let mut flows = flows.to_vec();
    flows.sort_by_key(|flow| (flow.start.0.saturating_add(flow.fct.0), flow.id));
    let mut out = String::new();
    for flow in flows {
        let _ = writeln!(
            out,
            "{:08x} {:08x} {} {RECEIVER} {} {} {} {}",
            address(flow.src),
            address(flow.dst),
            FIRST_PORT + flow.id % 50_000,
            flow.bytes,
            flow.start.0 / 1000,
            flow.fct.0 / 1000,
            flow.alone.0 / 1000
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_written_as_they_end() {
        let flow = |id, src, start, fct| Done {
            id,
            src,
            dst: 1,
            bytes: 5_000_000,
            start: Picos::from_micros(start),
            fct: Picos(fct),
            alone: Picos(1_500),
        };
        let text = fct(&[flow(3, 2, 2_000_000, 417_000_999), flow(0, 257, 5, 100)]);
        assert_eq!(
            text,
            "0b010101 0b000101 10000 100 5000000 5000 0 1\n\
             0b000201 0b000101 10003 100 5000000 2000000000 417000 1\n"
        );
    }
}
