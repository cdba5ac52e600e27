// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ends of a fresh connection go when nothing refers to them any more. In a divided simulation
//! no shard knows that alone: its packets may be anywhere.
//!
//! The shard of the sender asks, some time after the flow is complete and once it has no event of
//! the sender. All shards answer what they have counted of the connection's packets at the same
//! barrier, so that the counts belong together. If their sum is zero and both ends are quiet then,
//! nothing can happen to the connection any more, and its ends go.

use std::collections::BTreeMap;

use super::part::News;
use crate::engine::Shard;
use crate::events::EventQueue;
use crate::ids::{ConnId, HostId};
use crate::workload::Flow;

/// Windows between two looks at what has closed.
const LOOK: u32 = 16;

/// What shards tell each other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Retire {
    /// The flow is complete: between the shards of its ends.
    Closed(ConnId),
    /// A shard, whose number follows, asks for what is known.
    Ask(ConnId, u32),
    /// The answer.
    State(ConnId, State),
    /// The ends go.
    Go(ConnId),
}

/// What a shard knows of a connection at a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// Of its packets, modulo 2^32.
    counted: u32,
    /// No event of the ends that are here, and the flow is complete.
    quiet: bool,
}

/// A connection that others have been asked about.
#[derive(Debug)]
struct Asked {
    receiver: HostId,
    /// All that is known so far.
    state: State,
    /// Shards that have said what they know, this one among them.
    shards: usize,
}

/// The connections of a shard's senders whose flows are complete, with their receivers.
#[derive(Debug, Default)]
pub(super) struct Closing {
    waiting: Vec<(ConnId, HostId)>,
    asked: BTreeMap<ConnId, Asked>,
    windows: u32,
}

impl<Q: EventQueue> Shard<Q> {
    /// The flow of a fresh connection is complete, as one of its ends knows.
    pub(crate) fn tell_closed(&mut self, conn: ConnId, flow: &Flow) {
        let receiver = HostId(flow.dst);
        let other = match self.ends.sender_ends() {
            true => receiver,
            false => HostId(flow.src),
        };
        if self.ends.conns.has_sender(conn) {
            self.part_mut().closing.waiting.push((conn, receiver));
        }
        self.tell(other, Retire::Closed(conn));
    }

    /// Tells the shard of a host, if that is another one.
    fn tell(&mut self, host: HostId, what: Retire) {
        let to = self.net.border().division.of(host.nic());
        let part = self.part_mut();
        if to != part.me {
            part.news[to as usize].push(News::Retire(what));
        }
    }

    fn state_of(&self, conn: ConnId) -> State {
        State {
            counted: self.net.rows.counted(conn),
            quiet: self.ends.conns.is_quiet_here(conn),
        }
    }

    /// Takes what another shard tells.
    pub(super) fn hear(&mut self, what: Retire) {
        match what {
            Retire::Closed(conn) if self.ends.conns.has_sender(conn) => {
                let receiver = self.net.rows.of(conn).dst;
                self.part_mut().closing.waiting.push((conn, receiver));
            }
            Retire::Closed(conn) => self.ends.close(&self.net, conn, false),
            Retire::Ask(conn, from) => {
                let state = self.state_of(conn);
                self.part_mut().news[from as usize].push(News::Retire(Retire::State(conn, state)));
            }
            Retire::State(conn, state) => {
                let asked = &mut self.part_mut().closing.asked;
                if let Some(asked) = asked.get_mut(&conn) {
                    asked.add(state);
                }
            }
            Retire::Go(conn) => self.ends.conns.retire_here(conn),
        }
    }

    /// All mail of a barrier has been taken: what is known of connections here is as old as what
    /// others know at this barrier, and who has all answers decides.
    pub(super) fn settle(&mut self) {
        let mut closing = std::mem::take(&mut self.part_mut().closing);
        let all = self.net.border().division.shards;
        closing.asked.retain(|&conn, asked| {
            if asked.shards == 0 {
                asked.add(self.state_of(conn));
            }
            if asked.shards < all {
                return true;
            }
            if asked.state.quiet && asked.state.counted == 0 {
                self.ends.conns.retire_here(conn);
                self.tell(asked.receiver, Retire::Go(conn));
            } else {
                closing.waiting.push((conn, asked.receiver));
            }
            false
        });
        self.part_mut().closing = closing;
    }

    /// At the end of a window: asks about connections, from time to time.
    pub(super) fn ask(&mut self) {
        let part = self.part.as_mut().expect("a shard has its part");
        part.closing.windows += 1;
        if !part.closing.windows.is_multiple_of(LOOK) {
            return;
        }
        let (me, conns) = (part.me, &self.ends.conns);
        let closing = &mut part.closing;
        let news = &mut part.news;
        closing.waiting.retain(|&(conn, receiver)| {
            if !conns.is_quiet_here(conn) {
                return true;
            }
            for (_, news) in news.iter_mut().enumerate().filter(|n| n.0 != me as usize) {
                news.push(News::Retire(Retire::Ask(conn, me)));
            }
            let asked = Asked {
                receiver,
                state: State {
                    counted: 0,
                    quiet: true,
                },
                shards: 0,
            };
            closing.asked.insert(conn, asked);
            false
        });
    }
}

impl Asked {
    fn add(&mut self, state: State) {
        self.state.counted = self.state.counted.wrapping_add(state.counted);
        self.state.quiet &= state.quiet;
        self.shards += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::queries;
    use super::super::work::Sim;
    use crate::shards::Spread;

    /// Queries of 200 flows, one query after the other: the ends of most have gone long before the
    /// last.
    #[test]
    fn ends_go_in_a_divided_simulation() {
        let cfg = queries(5, [20_000, 40_000], 40, 10_000);
        let sim = Sim::new(&cfg, 2, 1);
        sim.work(
            0,
            &mut |_| true,
            &AtomicBool::new(true),
            &mut Spread::default(),
        );
        for shard in &sim.shards {
            let shard = shard.0.lock().expect("no thread has panicked");
            let ends = |c: &&crate::endpoints::conn::Conn| c.tx.is_some() || c.rx.is_some();
            let left = shard.ends.conns.list.iter().filter(ends).count();
            assert!(left < 20, "{left} connections have ends");
        }
        let outcome = sim.into_outcome().expect("not abandoned");
        assert_eq!(outcome.flows.len(), 200);
        assert_eq!(outcome.digest, crate::run(&cfg).digest);
    }
}
