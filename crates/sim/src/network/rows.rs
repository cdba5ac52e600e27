// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections as the network knows them: the routes of their packets, and how many packets there
//! are.

use cemark_wire::{Flags, Packet};
use prefetch_index::prefetch_index;

use crate::ids::{ConnId, HostId, LinkId, indexed};
use crate::topology::{MAX_LINKS, Route};

/// A connection. In a divided simulation every shard has the row of each connection whose packets
/// it may see.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    /// Seed of its packets' random hashes.
    pub hash_seed: u64,
    /// Ticks that data is delayed behind the sender's NIC, or before the receiver.
    pub extra: u64,
    pub src: HostId,
    pub dst: HostId,
    /// Its packets in the network, and what else keeps its ends.
    in_fabric: u32,
    /// Place of the transport in [`Config::grouped`](crate::Config::grouped).
    pub group: u16,
}

indexed!(ConnId: Row, [Route; 2]);

/// All connections, by number.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    list: Vec<Row>,
    /// Route of the data and route of the ACKs; outside `Row` because every hop reads them.
    routes: Vec<[Route; 2]>,
}

impl Row {
    pub fn new(hash_seed: u64, extra: u64, src: HostId, dst: HostId, group: u16) -> Row {
        Row {
            hash_seed,
            extra,
            src,
            dst,
            in_fabric: 0,
            group,
        }
    }
}

impl Rows {
    /// Largest number of a connection, plus one.
    pub fn len(&self) -> u32 {
        self.list.len() as u32
    }

    /// Makes a connection known.
    pub fn put(&mut self, conn: ConnId, row: Row, routes: [Route; 2]) {
        self.reach(conn);
        self.list[conn] = row;
        self.routes[conn] = routes;
    }

    /// Counts a connection none of whose packets is ever here.
    pub fn reach(&mut self, conn: ConnId) {
        let n = conn.0 as usize + 1;
        if n > self.list.len() {
            self.list.resize_with(n, Row::default);
            self.routes.resize(n, [[LinkId::NONE; MAX_LINKS]; 2]);
        }
    }

    #[inline]
    pub fn of(&self, conn: ConnId) -> &Row {
        &self.list[conn]
    }

    #[inline]
    pub fn of_mut(&mut self, conn: ConnId) -> &mut Row {
        &mut self.list[conn]
    }

    /// Takes the routes of connections that only another shard knows, as both are put together.
    pub fn absorb(&mut self, other: &Rows) {
        for (conn, routes) in (0..).map(ConnId).zip(&other.routes) {
            if routes[0][0] != LinkId::NONE {
                self.reach(conn);
                if self.routes[conn][0][0] == LinkId::NONE {
                    self.routes[conn] = *routes;
                }
            }
        }
    }

    pub fn routes(&self, conn: ConnId) -> &[Route; 2] {
        &self.routes[conn]
    }

    pub fn set_routes(&mut self, conn: ConnId, routes: [Route; 2]) {
        self.routes[conn] = routes;
    }

    /// The link that a packet takes next from where it is.
    #[inline]
    pub fn next_link(&self, packet: &Packet) -> LinkId {
        let direction = usize::from(packet.flags().has(Flags::ACK));
        self.routes[ConnId::of(packet)][direction][usize::from(packet.hop())]
    }

    /// Prefetches the routes of a packet's connection.
    #[inline]
    pub fn prefetch_route(&self, conn: ConnId) {
        prefetch_index(&self.routes[..], conn.0 as usize);
    }

    /// Prefetches what else is known of a connection.
    #[inline]
    pub fn prefetch(&self, conn: ConnId) {
        prefetch_index(&self.list[..], conn.0 as usize);
    }

    /// Counts one more packet of a connection, or something else that keeps its ends.
    #[inline]
    pub fn hold(&mut self, conn: ConnId) {
        let row = &mut self.list[conn];
        row.in_fabric = row.in_fabric.wrapping_add(1);
    }

    /// Counts one packet or other holder less. Returns whether it was the last.
    #[inline]
    pub fn release(&mut self, conn: ConnId) -> bool {
        // A packet that left another shard is counted there: the sum over shards is right.
        let row = &mut self.list[conn];
        row.in_fabric = row.in_fabric.wrapping_sub(1);
        row.in_fabric == 0
    }

    /// Packets of a connection as this shard has counted them: the sum over shards, modulo 2^32, is
    /// how many there are.
    pub fn counted(&self, conn: ConnId) -> u32 {
        let row = self.list.get(conn.0 as usize);
        row.map_or(0, |row| row.in_fabric)
    }

    /// Whether the network has nothing of a connection.
    #[inline]
    pub fn is_clear(&self, conn: ConnId) -> bool {
        self.list[conn].in_fabric == 0
    }

    /// The packet's random hash at this hop: the same under every scheme for what is sent for the
    /// first time.
    #[inline]
    pub fn packet_hash(&self, p: &Packet) -> u64 {
        // A retransmission, or an ACK with the same number, would get the same hash again: the time
        // of sending tells them apart.
        let again = if p.flags().0 & (Flags::RETX.0 | Flags::ACK.0) != 0 {
            u64::from(p.ts) + 1
        } else {
            0
        };
        let seed = self.list[ConnId::of(p)].hash_seed;
        cemark_marking::fixed::hash(seed, again, p.seq, p.hop())
    }
}
