// SPDX-License-Identifier: MIT OR Apache-2.0
//! A point as a network and the flows in it, written down as JSON for whoever runs them.

use serde::{Deserialize, Serialize};

/// Most congestion controllers of a network: the number of one is in the port of its listeners.
pub const CONTROLS: usize = 16;

/// Setup of a network and traffic to send. Times are nanoseconds from the start of the traffic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lab {
    /// Number of hosts.
    pub hosts: u32,
    /// Namespaces, devices, addresses, routes.
    pub links: Vec<Batch>,
    /// Settings of namespaces, made between `links` and `qdiscs`.
    pub settings: Vec<Setting>,
    /// Qdiscs and filters.
    pub qdiscs: Vec<Batch>,
    /// Ports of switches in the simulator's order: namespace and device.
    pub ports: Vec<(String, String)>,
    /// Congestion controllers of sockets, as the kernel names them; at most [`CONTROLS`].
    pub controls: Vec<String>,
    /// Which of them are sampled: those with the longest queues in the simulator.
    pub sampled: Vec<usize>,
    /// When what happens.
    pub times: Times,
    /// Whether a fresh connection makes its handshake when its flow starts; otherwise before.
    pub handshake: bool,
    /// Connections of each pair and band that are opened before the traffic, for persistent ones.
    pub ready: Vec<(Key, u32)>,
    /// In order of start.
    pub flows: Vec<LabFlow>,
    /// In order of start.
    pub endless: Vec<Endless>,
    /// Pings.
    pub probes: Vec<LabProbe>,
}

/// Commands for one run of `ip -batch -` or `tc -batch -`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// `ip` or `tc`.
    pub program: String,
    /// The namespace that it is run in; empty: the one of the caller.
    pub netns: String,
    /// Commands, a line each.
    pub lines: Vec<String>,
}

/// A value under `/proc/sys/net` of a namespace, or a path of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The namespace.
    pub netns: String,
    /// `ipv4/tcp_ecn`, below `/proc/sys/net`.
    pub path: String,
    /// Value that is written.
    pub value: String,
}

/// When what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Connections are opened this long before their flow starts.
    pub lead: u64,
    /// Measuring begins.
    pub from: u64,
    /// Measuring ends.
    pub until: u64,
    /// The run ends, if its flows have not ended it before.
    pub end: u64,
    /// Queues are sampled this often; zero: never.
    pub sample: u64,
    /// Goodput is summed over intervals of this length; zero: only the totals.
    pub goodput: u64,
}

/// Properties that make connections interchangeable.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Key {
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Band of the data.
    pub band: u8,
    /// Band of the acknowledgements.
    pub back: u8,
    /// Which of the lab's controllers.
    pub control: u8,
}

/// A flow with an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabFlow {
    /// Its number in the simulator.
    pub id: u64,
    /// Its start.
    pub start: u64,
    /// Sender.
    pub src: u32,
    /// Receiver.
    pub dst: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// DSCP.
    pub class: u8,
    /// Band of its data.
    pub band: u8,
    /// Band of its acknowledgements.
    pub back: u8,
    /// Which of the lab's congestion controllers.
    pub control: u8,
    /// Whether it is awaited and recorded.
    pub measured: bool,
    /// Whether it uses an idle connection of its pair.
    pub persistent: bool,
    /// Its workload.
    pub workload: u16,
    /// Nanoseconds before the start at which a handshake begins that belongs to it: a SYN is held
    /// as long as a full segment, and is shorter.
    pub early: u64,
    /// Nanoseconds by which its last segment is held too long, since it is held as long as a full
    /// one; taken off its completion time.
    pub spare: u64,
}

impl LabFlow {
    /// Which connections it may use.
    pub fn key(&self) -> Key {
        Key {
            src: self.src,
            dst: self.dst,
            band: self.band,
            back: self.back,
            control: self.control,
        }
    }
}

/// A flow without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endless {
    /// As in [`LabFlow`], whose `bytes` is the largest number.
    pub flow: LabFlow,
}

/// A ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabProbe {
    /// Its workload.
    pub workload: u16,
    /// Sender.
    pub src: u32,
    /// Who answers.
    pub dst: u32,
    /// The first.
    pub at: u64,
    /// Time between two.
    pub every: u64,
    /// How many.
    pub count: u64,
    /// DSCP.
    pub class: u8,
    /// Bands of question and answer.
    pub bands: (u8, u8),
}
