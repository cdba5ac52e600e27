// SPDX-License-Identifier: MIT OR Apache-2.0
//! Duties of a shard in a divided simulation: news of flows for the other shards, and notes for the
//! time when all shards are put together. Packets are its network's business (`network/border.rs`).

use std::mem::swap;

use super::Shard;
use crate::agenda::{When, kind};
use crate::endpoints::conn::Announced;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId};
use crate::network::{Border, Parcels};
use crate::workload::Flow;

/// Mail of one window from one shard to another.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    pub news: Vec<News>,
    pub parcels: Parcels,
}

/// News of a connection from one shard to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    /// A persistent connection was opened: number, flow that opened it, name.
    Opened(ConnId, Flow, u64),
    /// Its next flow.
    Announced(ConnId, Announced),
}

/// See the module's text.
pub(crate) struct Part {
    pub me: u32,
    /// By shard: what is for it.
    pub news: Vec<Vec<News>>,
    /// Measured flows that ended here, in the order of `Metrics::flows`: connection, and when.
    pub ends: Vec<(ConnId, When)>,
    /// When each of `Metrics::probe_answers` came.
    pub answers: Vec<When>,
    /// Measured flows of this shard's hosts that may have much to send.
    sending: Vec<ConnId>,
    /// Fresh connections whose flows have ended here and whose ends may still be referred to.
    pub closed: Vec<ConnId>,
}

impl Part {
    /// The part of the shard with this border.
    pub fn new(border: &Border) -> Part {
        Part {
            me: border.me,
            news: vec![Vec::new(); border.division.shards],
            ends: Vec::new(),
            answers: Vec::new(),
            sending: Vec::new(),
            closed: Vec::new(),
        }
    }

    /// The first shard does what is done once for all.
    pub fn is_first(&self) -> bool {
        self.me == 0
    }
}

impl<Q: EventQueue> Shard<Q> {
    #[inline]
    pub fn part_mut(&mut self) -> &mut Part {
        self.part.as_mut().expect("a shard has its part")
    }

    /// When something happens here that another shard may have to know in time: the next event, or
    /// a departure that has no event of its own.
    pub fn next_tick(&self) -> u64 {
        let next = self.core.agenda.events.peek();
        let event = next.map_or(u64::MAX, |(at, _)| at);
        event.min(self.core.net.border().begins)
    }

    /// Handles an event of this shard. It is not inlined, so that the loop of `run_window` is.
    #[inline(never)]
    pub fn step(&mut self, now: u64, event: u32) {
        self.core.agenda.event = event;
        self.handle(now, event);
    }

    /// Simulates up to a tick, exclusive.
    pub fn run_window(&mut self, until: u64) {
        self.core.agenda.insert(until - 1, kind::WINDOW);
        while let Some((now, event)) = self.core.agenda.events.pop() {
            if event >= kind::WINDOW {
                return;
            }
            self.core.agenda.event = event;
            self.handle(now, event);
        }
    }

    /// At the end of a window: tells other shards what will arrive there.
    pub fn tell_arrivals(&mut self, until: u64) {
        self.core.tell(until);
    }

    /// Takes what another shard has sent.
    pub fn receive(&mut self, mail: &mut Mail) {
        self.core.receive(&mut mail.parcels);
        for news in mail.news.drain(..) {
            match news {
                News::Opened(conn, flow, name) => {
                    self.ends.open(&mut self.core, conn, flow, name);
                }
                News::Announced(conn, announced) => self.announce(conn, announced),
            }
        }
    }

    /// Hands over what is for another shard, which has taken all that it got before.
    pub fn post(&mut self, to: usize, mail: &mut Mail) {
        debug_assert!(mail.news.is_empty() && mail.parcels.len() == 0);
        swap(&mut mail.news, &mut self.part_mut().news[to]);
        swap(
            &mut mail.parcels,
            &mut self.core.net.border_mut().parcels[to],
        );
    }

    /// Whether there is something for another shard.
    pub fn has_mail(&self, to: usize) -> bool {
        let news = self.part.as_ref().is_some_and(|p| !p.news[to].is_empty());
        news || self.core.net.border().parcels[to].len() > 0
    }

    /// A flow starts at a host of this shard.
    pub fn note_start(&mut self, flow: &Flow, conn: ConnId) {
        if flow.measured {
            self.part_mut().sending.push(conn);
        }
    }

    /// Tells all other shards of a connection that persists.
    pub fn tell_opened(&mut self, conn: ConnId, flow: Flow, name: u64) {
        let part = self.part_mut();
        let me = part.me as usize;
        let others = part.news.iter_mut().enumerate().filter(|o| o.0 != me);
        for (_, news) in others {
            news.push(News::Opened(conn, flow, name));
        }
    }

    /// Tells the shard of the receiver of the next flow. Returns whether it is another shard.
    pub fn tell_announced(&mut self, conn: ConnId, announced: Announced) -> bool {
        let receiver = HostId(announced.flow.dst);
        let to = self.core.net.border().division.of(receiver.nic());
        let part = self.part_mut();
        let other = to != part.me;
        if other {
            part.news[to as usize].push(News::Announced(conn, announced));
        }
        other
    }

    /// Notes when a measured flow has ended.
    pub fn note_end(&mut self, conn: ConnId) {
        let when = self.core.agenda.when();
        self.part_mut().ends.push((conn, when));
    }

    /// Notes when the answer to a probe came.
    pub fn note_answer(&mut self) {
        let when = self.core.agenda.when();
        self.part_mut().answers.push(when);
    }

    /// Notes that the flow of a fresh connection has ended.
    pub fn note_closed(&mut self, conn: ConnId) {
        self.part_mut().closed.push(conn);
    }

    /// Whether some measured flow surely does not end within the next `span` ticks: one with more
    /// bytes that have not left than its NIC can send in that time.
    pub fn goes_on(&mut self, span: u64) -> bool {
        let clock = self.core.agenda.clock;
        let Some(part) = &mut self.part else {
            return false;
        };
        while let Some(&conn) = part.sending.last() {
            let Some(tx) = &self.ends.conns.list[conn].tx else {
                part.sending.pop();
                continue;
            };
            let nic = HostId(tx.flow.src).nic();
            let byte = self.core.net.fabric.links()[nic].rate.picos_per_byte().0;
            let most = span * clock.tick_ps() / byte + u64::from(u16::MAX);
            if tx.flow.measured && tx.begin + tx.flow.bytes > tx.source.sent() + most {
                return true;
            }
            // What has not left gets less, so this is true for ever.
            part.sending.pop();
        }
        false
    }

    /// The tick at which the next flow starts; `u64::MAX` if none is left. Between two windows it
    /// is the same in all shards.
    pub fn next_start(&self) -> u64 {
        let next = self.traffic.peek().filter(|_| self.traffic.ahead() > 0);
        next.map_or(u64::MAX, |at| self.core.agenda.ticks(at))
    }
}
