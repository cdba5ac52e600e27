// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows start when they are due and are recorded when they are complete.

use super::Shard;
use crate::agenda::kind;
use crate::endpoints::Came;
use crate::endpoints::conn::Announced;
use crate::events::EventQueue;
use crate::ids::{ConnId, EndId, HostId};
use crate::metrics::{Goodput, Received};
use crate::workload::Flow;
use cemark_wire::Packet;

impl<Q: EventQueue> Shard<Q> {
    /// Puts the start of the next flow into the event list.
    pub fn arm_flow(&mut self) {
        if let Some(at) = self.traffic.peek() {
            let at = self.core.agenda.ticks(at).max(self.core.agenda.now);
            self.core.agenda.insert(at, kind::FLOW);
        }
    }

    /// Starts the flow that is due.
    pub fn next_flow(&mut self) {
        // Where a flow became known that starts earlier, two events are for one start.
        let due = |at| self.core.agenda.ticks(at) <= self.core.agenda.now;
        if !self.traffic.peek().is_some_and(due) {
            return;
        }
        let Some(flow) = self.traffic.pop() else {
            return;
        };
        self.arm_flow();
        let hash = flow.path(self.cfg.seed);
        let [src, dst] = self.core.net.fabric.ends(flow.src, flow.dst, hash);
        let flow = Flow { src, dst, ..flow };
        if self.cfg.workloads[usize::from(flow.workload)].persistent {
            self.start_on_persistent(flow);
        } else {
            self.start_on_fresh(flow);
        }
    }

    /// Starts a flow on a connection of its own. It takes its random draws and its path from the
    /// flow, so that both are the same under every scheme.
    fn start_on_fresh(&mut self, flow: Flow) {
        let (core, ends) = (&mut self.core, &mut self.ends);
        let conn = match self.boxes.splits() {
            false => ends.conns.of_flow(flow.id),
            true => ConnId(core.net.rows.len()),
        };
        ends.open(core, conn, flow, flow.id);
        let split = self.boxes.split(core, ends, conn, flow);
        let last = split.unwrap_or(conn);
        if flow.bytes == u64::MAX && self.ends.conns.has_receiver(last) {
            self.watch_goodput(last);
        }
        if split.is_none() && self.ends.conns.has_sender(conn) {
            self.send_flow(conn, flow);
        }
    }

    /// Starts a flow on a connection of its pair that persists.
    fn start_on_persistent(&mut self, flow: Flow) {
        if !self.core.net.owns(HostId(flow.src).nic()) {
            return;
        }
        let (conn, opened) = self.ends.claim(&mut self.core, flow);
        if let Some(name) = opened.filter(|_| Q::SHARDED) {
            self.tell_opened(conn, flow, name);
        }
        self.send_flow(conn, flow);
    }

    /// The sender of a connection gets the bytes of a flow, and sends what it may.
    fn send_flow(&mut self, conn: ConnId, flow: Flow) {
        if let Some(announced) = self.ends.give(conn, flow)
            && (!Q::SHARDED || !self.tell_announced(conn, announced))
        {
            self.announce(conn, announced);
        }
        if Q::SHARDED {
            self.note_start(&flow, conn);
        }
        let host = HostId(flow.src);
        self.ends.ready(&mut self.core, EndId { host, conn });
    }

    /// The receiver of a persistent connection learns of its next flow, before anything of it
    /// arrives.
    pub fn announce(&mut self, conn: ConnId, announced: Announced) {
        self.ends.announce(conn, announced);
        if announced.flow.bytes == u64::MAX {
            self.watch_goodput(conn);
        }
    }

    /// Records the goodput of an endless flow from now on.
    fn watch_goodput(&mut self, conn: ConnId) {
        let before = Received::of(&self.ends.conns.list[conn].rx().sink);
        // A flow that starts after the measurement delivers nothing in it, and no later event
        // would record that.
        let over = self.core.agenda.picos() >= self.cfg.measure.until;
        self.metrics.goodput.push(Goodput {
            conn,
            at_from: before,
            at_until: over.then_some(before),
            last: before.arrived,
            // One that starts later delivered nothing in the intervals before.
            intervals: vec![0; self.metrics.all_goodput.len()],
        });
    }

    /// A probe of workload `w` is due.
    pub fn send_probe(&mut self, w: u32) {
        let state = &mut self.metrics.probes[w as usize];
        state.left -= 1;
        if state.left > 0 {
            let again = self.core.agenda.now + state.every;
            self.core.agenda.insert(again, kind::PROBE | w);
        }
        let (conn, class) = (state.conn, state.class);
        self.ends.send_probe(&mut self.core, conn, class);
    }

    /// Records what has come of a packet at its host.
    #[inline]
    pub fn came(&mut self, packet: &Packet, came: Came) {
        if came != Came::Nothing {
            self.record_what_came(packet, came);
        }
    }

    #[cold]
    fn record_what_came(&mut self, packet: &Packet, came: Came) {
        if came == Came::Complete {
            return self.complete(ConnId::of(packet));
        }
        let record = self.ends.answered(&self.core.agenda, packet);
        self.metrics.probe_answers.push(record);
        if Q::SHARDED {
            self.note_answer();
        }
    }

    /// The flow on `conn` is complete.
    fn complete(&mut self, conn: ConnId) {
        let flow = self.ends.completed(conn);
        if flow.measured {
            let record = self.ends.record(&self.core, conn, &flow, true);
            self.metrics.flows.push(record);
            if Q::SHARDED {
                self.note_end(conn);
            }
            self.awaited -= 1;
            if self.awaited == 0 {
                self.stop = true;
            }
        }
        if self.traffic.completed(&flow, self.core.agenda.picos()) {
            self.arm_flow();
        }
        // The proxies read from the connection until no byte is left in them, and end it then.
        let stays = self.boxes.reads_from(conn);
        self.ends.close(&self.core.net, conn, stays);
        if Q::SHARDED && !self.cfg.workloads[usize::from(flow.workload)].persistent {
            self.note_closed(conn);
        }
    }
}
