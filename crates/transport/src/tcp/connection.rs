// SPDX-License-Identifier: MIT OR Apache-2.0
//! A whole endpoint for embedders: a [`Sender`] and a [`Receiver`] behind quinn's verbs.
//!
//! A host loop is: `handle` what arrived, `poll_transmit` until it returns nothing, `poll_event`
//! until it returns nothing, sleep until `poll_timeout`, `handle_timeout`. The simulator drives
//! `Sender` and `Receiver` directly, since a flow uses one of each.

use alloc::collections::VecDeque;

use cemark_wire::Nanos;

use super::{Receiver, Sender};
use crate::{Ack, Acks, Config, Segment};

/// The SACK blocks of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u64, u64); 3],
    len: u8,
}

impl SackBlocks {
    /// The blocks, `[start, end)` each: a segment that arrived twice, with
    /// [`Stack::undo`](crate::Stack::undo), then ranges, most recently changed first.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// A frame that two connections exchange over the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Data or a packet of the handshake. Switches on the way may change its `ecn` to CE.
    Data(Segment),
    /// An acknowledgement, sent Not-ECT.
    Ack(Ack, SackBlocks),
}

/// Names a message of one connection: 0 for the first written, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId(pub u64);

/// An event that a connection reports to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The peer has all of this message.
    Acknowledged(MessageId),
    /// In-order bytes of the peer's stream, counted from its beginning.
    Received(u64),
}

/// Both directions of a connection. With [`Config::handshake`] each direction opens itself.
///
/// ```
/// use cemark_transport::{Config, Connection, Event, Frame};
/// use cemark_wire::{Ecn, Nanos};
///
/// let mut client = Connection::new(Config::default());
/// let mut server = Connection::new(Config::default());
/// let id = client.write(3_000);
///
/// // A network of 50 us each way that marks every data segment.
/// while let Some(frame) = client.poll_transmit(Nanos(0)) {
///     if let Frame::Data(mut segment) = frame {
///         segment.ecn = Ecn::Ce;
///         server.handle(Nanos(50_000), &Frame::Data(segment));
///     }
/// }
/// assert_eq!(server.poll_event(), Some(Event::Received(3_000)));
/// while let Some(ack) = server.poll_transmit(Nanos(50_000)) {
///     client.handle(Nanos(100_000), &ack);
/// }
/// assert_eq!(client.poll_event(), Some(Event::Acknowledged(id)));
/// assert_eq!(client.sender().stats().ecn_cuts, 1);
/// ```
#[derive(Debug)]
pub struct Connection {
    cfg: Config,
    sender: Sender,
    receiver: Receiver,
    answers: VecDeque<(Ack, SackBlocks)>,
    /// Ends of the messages that are not acknowledged.
    ends: VecDeque<u64>,
    /// Number of the first of `ends`.
    first: u64,
    /// Bytes of the peer's stream that were reported to the user.
    reported: u64,
}

impl Connection {
    /// A connection with nothing to send.
    pub fn new(cfg: Config) -> Connection {
        let sender = Sender::new(&cfg);
        Connection::with_sender(cfg, sender)
    }

    /// A connection with this sender, for one with a controller of your own
    /// ([`Sender::with_controller`]).
    pub fn with_sender(cfg: Config, sender: Sender) -> Connection {
        let receiver = Receiver::new(&cfg);
        Connection {
            cfg,
            sender,
            receiver,
            answers: VecDeque::new(),
            ends: VecDeque::new(),
            first: 0,
            reported: 0,
        }
    }

    /// Queues a message of `bytes` bytes. [`Event::Acknowledged`] will name it.
    pub fn write(&mut self, bytes: u64) -> MessageId {
        self.ends.push_back(self.sender.write(bytes));
        MessageId(self.first + self.ends.len() as u64 - 1)
    }

    /// Processes a frame from the network.
    pub fn handle(&mut self, now: Nanos, frame: &Frame) {
        match frame {
            Frame::Data(segment) => {
                let acks = self.receiver.on_data(&self.cfg, now, segment);
                self.answer(acks);
            }
            Frame::Ack(ack, sacks) => self.sender.on_ack(&self.cfg, now, ack, sacks.as_slice()),
        }
    }

    /// The next frame for the network; acknowledgements first.
    pub fn poll_transmit(&mut self, now: Nanos) -> Option<Frame> {
        if let Some((ack, sacks)) = self.answers.pop_front() {
            return Some(Frame::Ack(ack, sacks));
        }
        self.sender.poll_transmit(&self.cfg, now).map(Frame::Data)
    }

    /// The next event for the user.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self
            .ends
            .front()
            .is_some_and(|&end| end <= self.sender.acked())
        {
            self.ends.pop_front();
            self.first += 1;
            return Some(Event::Acknowledged(MessageId(self.first - 1)));
        }
        let delivered = self.receiver.delivered();
        (delivered > self.reported).then(|| {
            self.reported = delivered;
            Event::Received(delivered)
        })
    }

    /// When `handle_timeout` wants to be called. Ask again after every other call.
    pub fn poll_timeout(&self) -> Option<Nanos> {
        match (self.sender.timeout(), self.receiver.timeout()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The time of `poll_timeout` has come. Does nothing when called early.
    pub fn handle_timeout(&mut self, now: Nanos) {
        self.sender.on_timeout(&self.cfg, now);
        let acks = self.receiver.on_timeout(now);
        self.answer(acks);
    }

    /// The sending half.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The receiving half.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    fn answer(&mut self, acks: Acks) {
        let (first, second) = match acks {
            Acks::None => return,
            Acks::One(ack) => (ack, None),
            Acks::Two(first, second) => (first, Some(second)),
        };
        for ack in core::iter::once(first).chain(second) {
            let mut sacks = SackBlocks::default();
            if ack.sacks > 0 {
                sacks.len = self.receiver.sack_blocks(&mut sacks.blocks) as u8;
            }
            self.answers.push_back((ack, sacks));
        }
    }
}
