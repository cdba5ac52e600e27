// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of a flow's packets.

use super::random::Stream;

/// Which queue (class) of the ports a flow uses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ClassMap {
    /// All in one.
    Fixed(u8),
    /// At random with these weights.
    Weighted(Vec<u32>),
    /// ((dst+1) * hosts + src + 1) mod n, as MQ-ECN's scripts do.
    ByPair(u8),
    /// src mod n.
    BySender(u8),
    /// By bytes already sent: class i until `bounds[i]` bytes of the flow have left (PIAS).
    ByBytesSent(Vec<u64>),
}

impl ClassMap {
    /// The class of a flow's first packet.
    pub(super) fn first(&self, stream: &mut Stream, hosts: u32, src: u32, dst: u32) -> u8 {
        let modulo = |n: u64, m: u8| (n % u64::from(m.max(1))) as u8;
        match self {
            ClassMap::Fixed(class) => *class,
            ClassMap::Weighted(weights) => stream.weighted(weights) as u8,
            ClassMap::ByPair(n) => modulo(
                (u64::from(dst) + 1) * u64::from(hosts) + u64::from(src) + 1,
                *n,
            ),
            ClassMap::BySender(n) => modulo(u64::from(src), *n),
            ClassMap::ByBytesSent(_) => 0,
        }
    }
}
