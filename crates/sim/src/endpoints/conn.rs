// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection of the simulation: its two ends, its route through the fabric, and the flow it
//! carries.

use std::collections::BTreeMap;

use cemark_switch::NEVER;
use cemark_transport::{Config, Receiver, Sender};
use cemark_wire::{Ecn, Nanos};

use crate::endpoints::rdma::QueuePair;
use crate::ids::{ConnId, HostId};
use crate::topology::Route;
use crate::workload::Flow;

/// Both ends of a connection. The fields that every packet touches come first.
pub(crate) struct Conn {
    pub sender: Sender,
    pub receiver: Receiver,
    /// A queue pair, which replaces both ends of TCP where hosts use RDMA.
    pub pair: Option<Box<QueuePair>>,
    pub src: HostId,
    pub dst: HostId,
    /// Stream offset at which the flow it carries is complete.
    pub end: u64,
    /// Ticks that data is delayed behind the sender's NIC, or before the receiver.
    pub extra: u64,
    /// Tick of the earliest pending timer event of the sender.
    pub timer_at: u64,
    /// The same for the receiver's delayed ACK.
    pub ack_timer_at: u64,
    /// Seed of its packets' random hashes.
    pub hash_seed: u64,
    /// Its packets in the fabric.
    pub in_fabric: u32,
    /// Pending timer events, including stale ones.
    pub timers: u32,
    pub class: u8,
    /// The ECN field of its acknowledgements.
    pub ack_ecn: Ecn,
    /// It is in its NIC's queue of connections.
    pub in_line: bool,
    /// It carries no flow now.
    pub idle: bool,
    /// It returns to the pool of its pair when idle; otherwise its slot is reused.
    pub persistent: bool,
    /// Its slot waits for reuse.
    retired: bool,
    /// Index of the workload whose class bounds apply to bytes sent.
    pub bounds: Option<u16>,
    /// Only flows of the same group share persistent connections.
    pub group: Group,
    pub flow: Flow,
    /// Stream offset at which the flow began.
    pub begin: u64,
    /// Counters of the ends when the flow began.
    pub before: Tally,
    /// Stream offset whose acknowledgement completes the flow, where the sender says so.
    pub acked_end: u64,
    /// Its FIN has been sent.
    pub closing: bool,
}

/// Flows with the same congestion controller: 0 is that of the configuration, any other number the
/// first workload with it, counted from 1.
pub(crate) type Group = u16;

/// Counters of a connection's ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub marks: u32,
    pub retransmits: u32,
    pub timeouts: u32,
}

/// Totals of connections whose slots were reused.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Retired {
    pub retransmits: u64,
    pub timeouts: u64,
    /// Payload bytes that their receivers held in order.
    pub delivered: u64,
}

impl Conn {
    pub fn tally(&self) -> Tally {
        let (retransmits, timeouts) = self.sender_counts();
        Tally {
            marks: match &self.pair {
                None => self.receiver.ce_packets(),
                Some(pair) => pair.responder.ce_packets(),
            },
            retransmits,
            timeouts,
        }
    }

    /// Payload bytes that the receiver holds in order.
    #[inline]
    pub fn delivered(&self) -> u64 {
        match &self.pair {
            None => self.receiver.delivered(),
            Some(pair) => pair.responder.delivered(),
        }
    }

    /// Retransmissions and timeouts of the sender.
    pub fn sender_counts(&self) -> (u32, u32) {
        match &self.pair {
            None => {
                let s = self.sender.stats();
                (s.retransmits, s.timeouts)
            }
            Some(pair) => {
                let s = pair.requester.stats();
                (s.retransmits, s.timeouts)
            }
        }
    }

    /// Just past the highest byte that the sender ever sent.
    pub fn sent(&self) -> u64 {
        match &self.pair {
            None => self.sender.sent(),
            Some(pair) => pair.requester.sent(),
        }
    }

    /// Appends a message; the offset just past its last byte.
    pub fn write(&mut self, bytes: u64) -> u64 {
        match &mut self.pair {
            None => self.sender.write(bytes),
            Some(pair) => pair.requester.write(bytes),
        }
    }

    /// Whether it has a segment to send now. Only a queue pair asks for the time.
    #[inline]
    pub fn can_send(&self, cfg: &Config, now: impl FnOnce() -> Nanos) -> bool {
        match &self.pair {
            None => self.sender.can_send(cfg),
            Some(pair) => pair.requester.can_send(cfg, now()),
        }
    }

    /// The sender's one deadline.
    #[inline]
    pub fn timeout(&self, cfg: &Config, now: impl FnOnce() -> Nanos) -> Option<Nanos> {
        match &self.pair {
            None => self.sender.timeout(),
            Some(pair) => pair.requester.timeout(cfg, now()),
        }
    }

    /// Whether nothing refers to it any more.
    fn is_quiet(&self) -> bool {
        self.idle && self.in_fabric == 0 && self.timers == 0 && !self.in_line
    }
}

/// All connections. Slots of finished fresh connections are reused once no packet and no event
/// refers to them.
#[derive(Default)]
pub(crate) struct Conns {
    pub list: Vec<Conn>,
    /// Route of the data and route of the ACKs; outside `Conn` because every hop reads them.
    pub routes: Vec<[Route; 2]>,
    free: Vec<ConnId>,
    /// Slots are not used again: a connection keeps its number, by which its timers are in order,
    /// so that it is the same whichever shard knows that the connection has ended.
    pub keeps_slots: bool,
    pools: BTreeMap<(HostId, HostId, Group), Vec<ConnId>>,
    opened: BTreeMap<(HostId, HostId), u64>,
    /// Totals of connections whose slots were reused.
    pub retired: Retired,
}

impl Conns {
    /// An idle persistent connection of the pair, if there is one.
    pub fn take_idle(&mut self, src: HostId, dst: HostId, group: Group) -> Option<ConnId> {
        self.pools.get_mut(&(src, dst, group))?.pop()
    }

    /// The number of a new persistent connection of the pair.
    pub fn opened_for(&mut self, src: HostId, dst: HostId) -> u64 {
        let n = self.opened.entry((src, dst)).or_default();
        *n += 1;
        *n
    }

    pub fn open(
        &mut self,
        cfg: &Config,
        flow: Flow,
        extra: u64,
        hash_seed: u64,
        routes: [Route; 2],
    ) -> ConnId {
        let conn = Conn {
            sender: Sender::new(cfg),
            receiver: Receiver::new(cfg),
            pair: None,
            src: HostId(flow.src),
            dst: HostId(flow.dst),
            end: u64::MAX,
            extra,
            timer_at: NEVER,
            ack_timer_at: NEVER,
            hash_seed,
            in_fabric: 0,
            timers: 0,
            class: flow.class,
            ack_ecn: cfg.ack_ecn(),
            in_line: false,
            idle: true,
            persistent: false,
            bounds: None,
            group: Group::default(),
            retired: false,
            flow,
            begin: 0,
            before: Tally::default(),
            acked_end: u64::MAX,
            closing: false,
        };
        match self.free.pop() {
            Some(i) => {
                self.list[i] = conn;
                self.routes[i] = routes;
                i
            }
            None => {
                self.list.push(conn);
                self.routes.push(routes);
                ConnId(self.list.len() as u32 - 1)
            }
        }
    }

    /// The flow on `i` has ended: a persistent connection goes back to its pool at once.
    pub fn ended(&mut self, i: ConnId) {
        let c = &mut self.list[i];
        c.idle = true;
        c.end = u64::MAX;
        if c.persistent {
            let pool = (c.src, c.dst, c.group);
            self.pools.entry(pool).or_default().push(i);
        }
    }

    /// Reuses the slot of a fresh connection that nothing refers to. Called when a packet or an
    /// event of it has gone.
    #[inline]
    pub fn maybe_retire(&mut self, i: ConnId) {
        let c = &mut self.list[i];
        if c.idle && !self.keeps_slots && !c.persistent && c.is_quiet() && !c.retired {
            c.retired = true;
            let t = c.tally();
            self.retired.retransmits += u64::from(t.retransmits);
            self.retired.timeouts += u64::from(t.timeouts);
            self.retired.delivered += c.delivered();
            self.free.push(i);
        }
    }

    /// Connections whose slots are in use.
    pub fn in_use(&self) -> impl Iterator<Item = &Conn> {
        self.list.iter().filter(|c| !c.retired)
    }
}
