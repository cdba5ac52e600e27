// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two ends and a path between them: one drop-tail link that marks above a threshold, a delay, and
//! random losses and reordering.

use std::collections::BTreeMap;

use cemark_transport::{Ack, Acks, Config, Receiver, Segment, Sender, segment_wire_bytes};
use cemark_wire::hash::SplitMix64;
use cemark_wire::{Ecn, Nanos, Rate};

/// True `ppm` times in a million.
fn chance(random: &mut SplitMix64, ppm: u32) -> bool {
    random.next_u64() % 1_000_000 < u64::from(ppm)
}

/// The path: data crosses a link of `rate` with `buffer` bytes and a threshold, ACKs only a delay.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) rate: Rate,
    pub(crate) delay: Nanos,
    pub(crate) buffer: u64,
    /// Bytes above which an arriving packet is marked.
    pub(crate) mark_above: u64,
    pub(crate) data_loss_ppm: u32,
    pub(crate) ack_loss_ppm: u32,
    /// Share of packets, in both directions, that are delayed by up to `jitter`.
    pub(crate) reorder_ppm: u32,
    pub(crate) jitter: Nanos,
    pub(crate) seed: u64,
    /// Numbers (from 0, in order of sending) of data segments that are lost.
    pub(crate) lose: Vec<u64>,
}

impl Default for Path {
    fn default() -> Self {
        Path {
            rate: Rate::gbps(10),
            delay: Nanos::from_micros(50),
            buffer: u64::MAX,
            mark_above: u64::MAX,
            data_loss_ppm: 0,
            ack_loss_ppm: 0,
            reorder_ppm: 0,
            jitter: Nanos::from_micros(100),
            seed: 1,
            lose: Vec::new(),
        }
    }
}

enum Event {
    Data(Segment),
    Ack(Ack, Vec<(u64, u64)>),
    Write(u64),
}

/// The two ends, the path, and what was recorded.
pub(crate) struct Net {
    pub(crate) cfg: Config,
    pub(crate) path: Path,
    pub(crate) now: Nanos,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    events: BTreeMap<(Nanos, u64), Event>,
    order: u64,
    random: SplitMix64,
    link_free: Nanos,
    /// Data segments sent, in order.
    pub(crate) sent: Vec<(Nanos, Segment)>,
    pub(crate) acks_sent: u64,
    pub(crate) drops: u64,
    pub(crate) acks_lost: u64,
    /// Packets of both kinds that were delayed.
    pub(crate) late: u64,
    /// Backlog of the link at each arrival, in bytes.
    pub(crate) backlogs: Vec<(Nanos, u64)>,
    pub(crate) windows: Vec<(Nanos, u64)>,
}

impl Net {
    pub(crate) fn new(cfg: Config, path: Path) -> Net {
        let sender = Sender::new(&cfg);
        let receiver = Receiver::new(&cfg);
        let random = SplitMix64::new(path.seed);
        Net {
            cfg,
            path,
            now: Nanos::ZERO,
            sender,
            receiver,
            events: BTreeMap::new(),
            order: 0,
            random,
            link_free: Nanos::ZERO,
            sent: Vec::new(),
            acks_sent: 0,
            drops: 0,
            acks_lost: 0,
            late: 0,
            backlogs: Vec::new(),
            windows: Vec::new(),
        }
    }

    fn at(&mut self, when: Nanos, event: Event) {
        self.order += 1;
        self.events.insert((when, self.order), event);
    }

    /// Writes `bytes` at `when`.
    pub(crate) fn write_at(&mut self, when: Nanos, bytes: u64) {
        self.at(when, Event::Write(bytes));
    }

    fn jitter(&mut self) -> Nanos {
        if chance(&mut self.random, self.path.reorder_ppm) {
            self.late += 1;
            Nanos(self.random.next_u64() % self.path.jitter.0)
        } else {
            Nanos::ZERO
        }
    }

    fn transmit(&mut self) {
        loop {
            let could = self.sender.can_send(&self.cfg);
            let polled = self.sender.poll_transmit(&self.cfg, self.now);
            assert_eq!(could, polled.is_some(), "can_send foretells poll_transmit");
            let Some(mut segment) = polled else { return };
            let number = self.sent.len() as u64;
            self.sent.push((self.now, segment));
            let bytes = u64::from(segment_wire_bytes(&self.cfg, &segment));
            let backlog = self
                .path
                .rate
                .bytes_in(self.link_free.saturating_sub(self.now));
            self.backlogs.push((self.now, backlog));
            if chance(&mut self.random, self.path.data_loss_ppm)
                || self.path.lose.contains(&number)
                || backlog + bytes > self.path.buffer
            {
                self.drops += 1;
                continue;
            }
            if backlog > self.path.mark_above && segment.ecn.is_capable() {
                segment.ecn = Ecn::Ce;
            }
            self.link_free = self.link_free.max(self.now) + self.path.rate.nanos_for(bytes);
            let arrival = self.link_free + self.path.delay + self.jitter();
            self.at(arrival, Event::Data(segment));
        }
    }

    fn answer(&mut self, acks: Acks) {
        let list = match acks {
            Acks::None => vec![],
            Acks::One(a) => vec![a],
            Acks::Two(a, b) => vec![a, b],
        };
        for ack in list {
            self.acks_sent += 1;
            let mut blocks = [(0, 0); 3];
            let n = if ack.sacks > 0 {
                self.receiver.sack_blocks(&mut blocks)
            } else {
                0
            };
            assert_eq!(n, usize::from(ack.sacks));
            if chance(&mut self.random, self.path.ack_loss_ppm) {
                self.acks_lost += 1;
                continue;
            }
            let arrival = self.now + self.path.delay + self.jitter();
            self.at(arrival, Event::Ack(ack, blocks[..n].to_vec()));
        }
    }

    /// Runs one event or timer; false when none is left.
    pub(crate) fn step(&mut self) -> bool {
        let event = self.events.keys().next().map(|k| k.0).unwrap_or(Nanos::MAX);
        let rto = self.sender.timeout().unwrap_or(Nanos::MAX);
        let delack = self.receiver.timeout().unwrap_or(Nanos::MAX);
        let next = event.min(rto).min(delack);
        if next == Nanos::MAX {
            return false;
        }
        assert!(next >= self.now, "time does not run backwards");
        self.now = next;
        if event == next {
            match self.events.pop_first().unwrap().1 {
                Event::Data(segment) => {
                    let acks = self.receiver.on_data(&self.cfg, self.now, &segment);
                    self.answer(acks);
                }
                Event::Ack(ack, sacks) => self.sender.on_ack(&self.cfg, self.now, &ack, &sacks),
                Event::Write(bytes) => {
                    self.sender.write(bytes);
                }
            }
        } else if rto == next {
            self.sender.on_timeout(&self.cfg, self.now);
        } else {
            let acks = self.receiver.on_timeout(self.now);
            self.answer(acks);
        }
        self.transmit();
        assert!(self.sender.acked() <= self.receiver.delivered());
        assert!(self.sender.cwnd() >= u64::from(self.cfg.mss));
        self.windows.push((self.now, self.sender.cwnd()));
        true
    }

    /// Runs until `until` or until no event is left.
    pub(crate) fn run(&mut self, until: Nanos) {
        while self.now < until && self.step() {}
    }
}
