// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two ends of a connection, each of which belongs to the host where it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use cemark_transport::rdma::{Requester, Responder};
use cemark_transport::{Config, Receiver, Segment, Sender};
use cemark_wire::{Ecn, Flags, Nanos, Packet, Rate};
use prefetch_index::prefetch_index;

use super::Transport;
use crate::agenda::Timer;
use crate::ids::{ConnId, HostId, indexed};
use crate::workload::Flow;

/// The ends of a connection that are here: in a divided simulation those of the shard's own hosts.
#[derive(Debug, Default)]
pub(crate) struct Conn {
    pub tx: Option<Box<SenderEnd>>,
    pub rx: Option<Box<ReceiverEnd>>,
}

indexed!(ConnId: Conn);

/// Transport of a sending end: TCP, or one end of a queue pair.
#[derive(Debug)]
pub(crate) enum Source {
    Tcp(Sender),
    Rdma(Box<Requester>),
}

/// Transport of a receiving end: TCP, or one end of a queue pair.
#[derive(Debug)]
pub(crate) enum Sink {
    Tcp(Receiver),
    Rdma(Responder),
}

/// The end that sends data.
#[derive(Debug)]
pub(crate) struct SenderEnd {
    pub source: Source,
    pub timer: Timer,
    /// Stream offset whose acknowledgement matters: it completes the flow where the sender says
    /// so, and makes a persistent connection idle. `u64::MAX`: none.
    pub acked_end: u64,
    /// Stream offset at which its flow began.
    pub begin: u64,
    pub class: u8,
    /// The connection is in its NIC's queue of connections.
    pub in_line: bool,
    /// Its FIN has been sent.
    pub closing: bool,
    /// The connection serves other flows of its pair afterwards.
    pub persistent: bool,
    /// Index of the workload whose class bounds apply to bytes sent.
    pub bounds: Option<u16>,
    pub group: Group,
    pub transport: Arc<Transport>,
    /// Its counters when the flow began.
    pub before: Counts,
    /// The flow that it sends, or sent last.
    pub flow: Flow,
}

/// The end that receives data.
#[derive(Debug)]
pub(crate) struct ReceiverEnd {
    pub sink: Sink,
    /// Stream offset at which its flow is complete, where the receiver says so.
    pub end: u64,
    /// Stream offset behind the last byte of its flow.
    pub last: u64,
    /// Timer of the delayed ACK.
    pub timer: Timer,
    pub class: u8,
    pub transport: Arc<Transport>,
    /// The ECN field of its acknowledgements.
    pub ack_ecn: Ecn,
    /// Its flow has not ended.
    pub open: bool,
    /// Packets with CE when the flow began.
    pub before: u32,
    /// The flow that it receives, or received last.
    pub flow: Flow,
    /// The flow after it on a persistent connection, until its first packet arrives.
    pub next: Option<Box<Announced>>,
}

/// A flow that a persistent connection will carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced {
    pub flow: Flow,
    /// The stream offsets of its first byte and behind its last.
    pub begin: u64,
    pub last: u64,
    /// Stream offset at which the receiver says that the flow is complete.
    pub end: u64,
}

/// Connections with the same transport: 0 is that of the configuration. Only flows of one group
/// share persistent connections.
pub(crate) type Group = u16;

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub retransmits: u32,
    pub timeouts: u32,
}

/// Totals of connections whose ends are gone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Retired {
    pub retransmits: u64,
    pub timeouts: u64,
    /// Payload bytes that their receivers held in order.
    pub delivered: u64,
}

impl Retired {
    fn count_sender(&mut self, tx: &SenderEnd) {
        let counts = tx.source.counts();
        self.retransmits += u64::from(counts.retransmits);
        self.timeouts += u64::from(counts.timeouts);
    }

    /// Counts those of another shard.
    pub fn absorb(&mut self, other: Retired) {
        self.retransmits += other.retransmits;
        self.timeouts += other.timeouts;
        self.delivered += other.delivered;
    }
}

impl Source {
    /// The sender of a connection whose host has a link of rate `line`.
    pub fn new(cfg: &Config, line: Rate) -> Source {
        match &cfg.rdma {
            None => Source::Tcp(Sender::new(cfg)),
            Some(rdma) => Source::Rdma(Box::new(Requester::new(rdma, line))),
        }
    }

    pub fn counts(&self) -> Counts {
        let (retransmits, timeouts) = match self {
            Source::Tcp(sender) => (sender.stats().retransmits, sender.stats().timeouts),
            Source::Rdma(requester) => (requester.stats().retransmits, requester.stats().timeouts),
        };
        Counts {
            retransmits,
            timeouts,
        }
    }

    /// Just past the highest byte ever sent.
    pub fn sent(&self) -> u64 {
        match self {
            Source::Tcp(sender) => sender.sent(),
            Source::Rdma(requester) => requester.sent(),
        }
    }

    /// Bytes acknowledged.
    #[inline]
    pub fn acked(&self) -> u64 {
        match self {
            Source::Tcp(sender) => sender.acked(),
            Source::Rdma(requester) => requester.acked(),
        }
    }

    /// Appends a message; the offset just past its last byte.
    pub fn write(&mut self, bytes: u64) -> u64 {
        match self {
            Source::Tcp(sender) => sender.write(bytes),
            Source::Rdma(requester) => requester.write(bytes),
        }
    }

    /// Whether it has a segment to send now. Only a queue pair asks for the time.
    #[inline]
    pub fn can_send(&self, cfg: &Config, now: impl FnOnce() -> Nanos) -> bool {
        match self {
            Source::Tcp(sender) => sender.can_send(cfg),
            Source::Rdma(requester) => requester.can_send(cfg, now()),
        }
    }

    #[inline]
    pub fn poll_transmit(&mut self, cfg: &Config, now: Nanos) -> Option<Segment> {
        match self {
            Source::Tcp(sender) => sender.poll_transmit(cfg, now),
            Source::Rdma(requester) => requester.poll_transmit(cfg, cfg.rdma.as_ref()?, now),
        }
    }

    /// Its one deadline.
    #[inline]
    pub fn timeout(&self, cfg: &Config, now: impl FnOnce() -> Nanos) -> Option<Nanos> {
        match self {
            Source::Tcp(sender) => sender.timeout(),
            Source::Rdma(requester) => requester.timeout(cfg, now()),
        }
    }

    /// Its timer fires at or after its deadline. Returns whether there was something to do.
    pub fn on_timeout(&mut self, cfg: &Config, now: Nanos) -> bool {
        match self {
            Source::Tcp(sender) => {
                let due = sender.timeout().is_some_and(|d| d <= now);
                if due {
                    sender.on_timeout(cfg, now);
                }
                due
            }
            // It may just have waited for its pace.
            Source::Rdma(requester) => {
                if let Some(rdma) = &cfg.rdma {
                    requester.on_timeout(cfg, rdma, now);
                }
                true
            }
        }
    }

    /// Whether a whole train of `tso` bytes can leave, or all that there is.
    pub fn fills_train(&self, cfg: &Config, tso: u32, now: impl FnOnce() -> Nanos) -> bool {
        match self {
            Source::Tcp(sender) => sender.fills_train(cfg, tso, now),
            Source::Rdma(_) => true,
        }
    }
}

impl Sink {
    /// The receiver of a connection.
    pub fn new(cfg: &Config) -> Sink {
        match &cfg.rdma {
            None => Sink::Tcp(Receiver::new(cfg)),
            Some(_) => Sink::Rdma(Responder::new()),
        }
    }

    /// Payload bytes that it holds in order.
    #[inline]
    pub fn delivered(&self) -> u64 {
        match self {
            Sink::Tcp(receiver) => receiver.delivered(),
            Sink::Rdma(responder) => responder.delivered(),
        }
    }

    /// Payload bytes that have arrived, each counted once, in order or beyond a hole: in any time
    /// at most what the last link carries. Bytes in order come in jumps, when a hole closes.
    pub fn arrived(&self) -> u64 {
        match self {
            Sink::Tcp(receiver) => receiver.arrived(),
            Sink::Rdma(responder) => responder.arrived(),
        }
    }

    /// Packets that arrived with CE.
    pub fn ce_packets(&self) -> u32 {
        match self {
            Sink::Tcp(receiver) => receiver.ce_packets(),
            Sink::Rdma(responder) => responder.ce_packets(),
        }
    }
}

impl SenderEnd {
    pub fn new(transport: &Arc<Transport>, line: Rate, flow: Flow, group: Group) -> SenderEnd {
        SenderEnd {
            source: Source::new(&transport.cfg, line),
            transport: Arc::clone(transport),
            timer: Timer::IDLE,
            acked_end: u64::MAX,
            begin: 0,
            class: flow.class,
            in_line: false,
            closing: false,
            persistent: false,
            bounds: None,
            group,
            before: Counts::default(),
            flow,
        }
    }

    /// Whether no event refers to it, and it carries no flow after this one.
    fn is_quiet(&self) -> bool {
        self.timer.pending == 0 && !self.in_line && !self.persistent
    }

    /// Counts of the sender since its flow began.
    pub fn gained(&self) -> Counts {
        let now = self.source.counts();
        Counts {
            retransmits: now.retransmits - self.before.retransmits,
            timeouts: now.timeouts - self.before.timeouts,
        }
    }
}

impl ReceiverEnd {
    pub fn new(transport: &Arc<Transport>, flow: Flow) -> ReceiverEnd {
        ReceiverEnd {
            sink: Sink::new(&transport.cfg),
            end: u64::MAX,
            last: flow.bytes,
            timer: Timer::IDLE,
            class: flow.class,
            ack_ecn: transport.cfg.ack_ecn(),
            transport: Arc::clone(transport),
            open: true,
            before: 0,
            flow,
            next: None,
        }
    }

    /// Whether its flow is complete and no event refers to it.
    fn is_quiet(&self) -> bool {
        !self.open && self.timer.pending == 0
    }

    /// The flow that it receives or will receive, if that has not ended.
    pub fn unfinished(&self) -> Option<&Flow> {
        match &self.next {
            Some(next) => Some(&next.flow),
            None => self.open.then_some(&self.flow),
        }
    }

    /// Packets of its flow that arrived with CE.
    pub fn marks(&self) -> u32 {
        match &self.next {
            Some(_) => 0,
            None => self.sink.ce_packets() - self.before,
        }
    }

    /// A packet from this stream offset on arrives: perhaps the first of the next flow.
    #[inline]
    pub fn turn_to(&mut self, seq: u64) {
        if self.next.is_some() {
            self.turn(seq);
        }
    }

    #[cold]
    fn turn(&mut self, seq: u64) {
        let Some(next) = self.next.take_if(|next| seq >= next.begin) else {
            return;
        };
        (self.flow, self.class) = (next.flow, next.flow.class);
        (self.end, self.last) = (next.end, next.last);
        self.open = true;
        self.before = self.sink.ce_packets();
    }
}

impl Conn {
    /// The end that sends, which is here: whoever asks handles an event of its host.
    #[inline]
    pub fn tx(&self) -> &SenderEnd {
        self.tx.as_ref().expect("the sender is here")
    }

    #[inline]
    pub fn tx_mut(&mut self) -> &mut SenderEnd {
        self.tx.as_mut().expect("the sender is here")
    }

    /// The end that receives, which is here.
    #[inline]
    pub fn rx(&self) -> &ReceiverEnd {
        self.rx.as_ref().expect("the receiver is here")
    }

    #[inline]
    pub fn rx_mut(&mut self) -> &mut ReceiverEnd {
        self.rx.as_mut().expect("the receiver is here")
    }

    /// Whether it carries no flow and no event refers to it any more.
    fn is_quiet(&self) -> bool {
        let sent = self.tx.as_ref().is_some_and(|tx| tx.is_quiet());
        let received = self.rx.as_ref().is_some_and(|rx| rx.is_quiet());
        sent && received
    }
}

/// All connections, by number. A connection keeps its number, by which its timers are in order: it
/// is the same whichever shard knows that the connection has ended. Its ends go once no packet and
/// no event refers to them.
#[derive(Default)]
pub(crate) struct Conns {
    pub list: Vec<Conn>,
    /// The number of the first flow's connection.
    pub first: u32,
    /// The ends stay: here it is not known what of them is elsewhere.
    pub keeps_ends: bool,
    /// Connections whose ends are gone are listed,
    pub lists_ended: bool,
    /// here, for whoever keeps a record of each.
    pub ended: Vec<ConnId>,
    pools: BTreeMap<(HostId, HostId, Group), Vec<ConnId>>,
    opened: BTreeMap<(HostId, HostId), u64>,
    /// Totals of connections whose ends are gone.
    pub retired: Retired,
}

/// Prefetches the beginning of a value.
#[inline(always)]
fn fetch<T>(value: &T) {
    prefetch_index(std::slice::from_ref(value), 0);
}

impl Conns {
    /// Prefetches where the ends of a connection are.
    #[inline]
    pub fn prefetch(&self, conn: ConnId) {
        prefetch_index(&self.list[..], conn.0 as usize);
    }

    /// Prefetches the end of its connection that a packet is for.
    #[inline]
    pub fn prefetch_end(&self, packet: &Packet) {
        let Some(conn) = self.list.get(packet.conn as usize) else {
            return;
        };
        if !packet.flags().has(Flags::ACK) {
            if let Some(rx) = &conn.rx {
                fetch(&rx.sink);
                fetch(&rx.timer);
                fetch(&rx.last);
                fetch(&rx.flow);
            }
        } else if let Some(tx) = &conn.tx {
            fetch(&tx.source);
            fetch(&tx.timer);
            fetch(&tx.flow);
        }
    }

    /// An idle persistent connection of the pair, if there is one.
    pub fn take_idle(&mut self, src: HostId, dst: HostId, group: Group) -> Option<ConnId> {
        self.pools.get_mut(&(src, dst, group))?.pop()
    }

    /// The sender of a persistent connection knows that everything has arrived.
    pub fn put_idle(&mut self, i: ConnId) {
        let tx = self.list[i].tx();
        let (src, dst) = (HostId(tx.flow.src), HostId(tx.flow.dst));
        let pool = (src, dst, tx.group);
        self.pools.entry(pool).or_default().push(i);
    }

    /// The number of a new persistent connection of the pair.
    pub fn opened_for(&mut self, src: HostId, dst: HostId) -> u64 {
        let n = self.opened.entry((src, dst)).or_default();
        *n += 1;
        *n
    }

    /// The number of the connection that a flow opens. A flow that opens none leaves it unused.
    pub fn of_flow(&self, id: u64) -> ConnId {
        ConnId(self.first + id as u32)
    }

    /// The place of a connection's ends.
    pub fn at_mut(&mut self, i: ConnId) -> &mut Conn {
        let n = i.0 as usize + 1;
        if n > self.list.len() {
            self.list.resize_with(n, Conn::default);
        }
        &mut self.list[i]
    }

    /// Whether the end that sends is here.
    pub fn has_sender(&self, i: ConnId) -> bool {
        let conn = self.list.get(i.0 as usize);
        conn.is_some_and(|c| c.tx.is_some())
    }

    /// Whether the end that receives is here.
    pub fn has_receiver(&self, i: ConnId) -> bool {
        let conn = self.list.get(i.0 as usize);
        conn.is_some_and(|c| c.rx.is_some())
    }

    /// Whether no event refers to the ends that are here, of a flow that is over: the receiver may
    /// not know that, where the sender is in another shard and ends the flow.
    pub fn is_quiet_here(&self, i: ConnId) -> bool {
        self.list.get(i.0 as usize).is_none_or(|c| {
            let received = c.rx.as_ref().is_none_or(|rx| rx.timer.pending == 0);
            received && c.tx.as_ref().is_none_or(|tx| tx.is_quiet())
        })
    }

    /// Drops the ends that are here.
    pub fn retire_here(&mut self, i: ConnId) {
        let Some(c) = self.list.get_mut(i.0 as usize) else {
            return;
        };
        if let Some(tx) = c.tx.take() {
            self.retired.count_sender(&tx);
        }
        if let Some(rx) = c.rx.take() {
            self.retired.delivered += rx.sink.delivered();
        }
    }

    /// Drops the ends of a fresh connection that no event refers to. Called when the network has no
    /// packet of it.
    #[inline]
    pub fn maybe_retire(&mut self, i: ConnId) {
        if !self.keeps_ends {
            self.retire_if_quiet(i);
        }
    }

    #[cold]
    fn retire_if_quiet(&mut self, i: ConnId) {
        if self.list[i].is_quiet() {
            self.retire_here(i);
            if self.lists_ended {
                self.ended.push(i);
            }
        }
    }
}
