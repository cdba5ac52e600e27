// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port with real queues behind a scheduler: two events a hop under backlog, one without.

use cemark_marking::{At, Hook, QueueId, QueueSpec, Verdict, Why};
use cemark_wire::{Ecn, Nanos, Packet};

use crate::ce::{self, Fate, NonEct};
use crate::clock::Clock;
use crate::counters::{Counters, DropReason};
use crate::marker::AnyMarker;
use crate::port::{Discarded, NEVER, Offer, PortSpec};
use crate::ring::Ring;
use crate::sched::{Heads, Scheduler};

/// A packet in a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    since: u64,
    salt: u64,
    packet: Packet,
    intent: Option<Why>,
}

impl Waiting {
    fn bytes(&self) -> u32 {
        u32::from(self.packet.wire_bytes())
    }
}

/// A packet on the wire.
#[derive(Clone, Copy, Debug, Default)]
struct OnWire {
    arrive: u64,
    packet: Packet,
}

struct Queue {
    waiting: Ring<Waiting>,
    bytes: u32,
    hook: Option<Hook>,
    marker: AnyMarker,
    spec: QueueSpec,
}

/// See [`crate::port::Port`].
pub struct ExplicitPort {
    queues: Vec<Queue>,
    heads: Vec<(u32, u32)>,
    scheduler: Box<dyn Scheduler>,
    wire: Ring<OnWire>,
    pub(crate) busy: u64,
    pub(crate) byte_ticks: u64,
    delay: u64,
    pub(crate) port_bytes: u32,
    limit: u32,
    armed: u64,
    pub(crate) draws: bool,
    pub(crate) tag: u32,
    non_ect: NonEct,
    clock: Clock,
    pub(crate) counters: Counters,
}

impl ExplicitPort {
    pub(crate) fn new(spec: PortSpec) -> Self {
        let queues: Vec<Queue> = spec
            .queues
            .into_iter()
            .map(|q| Queue {
                waiting: Ring::new(),
                bytes: 0,
                hook: q.marker.hook(),
                marker: q.marker,
                spec: q.spec,
            })
            .collect();
        ExplicitPort {
            heads: vec![(0, 0); queues.len()],
            draws: queues.iter().any(|q| q.marker.draws()),
            tag: spec.tag,
            queues,
            scheduler: spec.scheduler,
            wire: Ring::new(),
            busy: 0,
            byte_ticks: spec.byte_ticks,
            delay: spec.delay,
            port_bytes: 0,
            limit: spec.buffer_bytes,
            armed: NEVER,
            non_ect: spec.non_ect,
            clock: spec.clock,
            counters: Counters::default(),
        }
    }

    pub(crate) fn queued_packets(&self) -> u32 {
        self.queues.iter().map(|q| q.waiting.len()).sum()
    }

    pub(crate) fn held(&self) -> u64 {
        u64::from(self.queued_packets()) + u64::from(self.wire.len())
    }

    pub(crate) fn offer(
        &mut self,
        now: u64,
        packet: Packet,
        salt: u64,
        gone: &mut Discarded,
    ) -> Offer {
        // At equal times departures come before arrivals, as in the fused port: the event for this tick may still be behind us.
        let mut result = if self.busy <= now && self.port_bytes > 0 {
            self.serve(now, gone)
        } else {
            Offer::QUIET
        };
        let bytes = u32::from(packet.wire_bytes());
        let index = usize::from(packet.class()).min(self.queues.len() - 1);
        if self.port_bytes + bytes > self.limit {
            self.discard(DropReason::Tail);
            result.refused = true;
            return result;
        }
        let mut intent = None;
        let queue = &mut self.queues[index];
        if matches!(queue.hook, Some(Hook::Enqueue | Hook::Both)) {
            let at = look(
                self.clock,
                queue,
                now,
                now,
                bytes,
                packet.ecn(),
                salt,
                None,
                self.port_bytes,
                self.limit,
            );
            match queue.marker.enqueue(&at) {
                Verdict::Pass => {}
                // Judged only here: what cannot be marked is refused before it takes room.
                Verdict::Mark(_)
                    if queue.hook == Some(Hook::Enqueue)
                        && self.non_ect == NonEct::Drop
                        && !packet.ecn().is_capable() =>
                {
                    self.discard(DropReason::NotEct);
                    result.refused = true;
                    return result;
                }
                Verdict::Mark(why) => intent = Some(why),
                Verdict::Drop(_) => {
                    self.discard(DropReason::Marker);
                    result.refused = true;
                    return result;
                }
            }
        }
        queue.waiting.push(Waiting {
            since: now,
            salt,
            packet,
            intent,
        });
        queue.bytes += bytes;
        self.port_bytes += bytes;
        self.refresh(index);
        self.scheduler
            .arrived(QueueId(index as u8), bytes, self.clock.nanos(now));
        if self.busy <= now {
            let served = self.serve(now, gone);
            result.deliver_at = result.deliver_at.min(served.deliver_at);
            result.serve_at = result.serve_at.min(served.serve_at);
        } else if self.armed != self.busy {
            self.armed = self.busy;
            result.serve_at = self.busy;
        }
        result
    }

    fn discard(&mut self, why: DropReason) {
        self.counters.drops[why as usize] += 1;
    }

    /// Tells the scheduler's view of queue `i` what is at its head.
    fn refresh(&mut self, i: usize) {
        let w = &self.queues[i].waiting;
        self.heads[i] = (
            w.front().map_or(0, Waiting::bytes),
            w.second().map_or(0, Waiting::bytes),
        );
    }

    pub(crate) fn serve(&mut self, now: u64, gone: &mut Discarded) -> Offer {
        let mut result = Offer::QUIET;
        if self.busy > now {
            return result;
        }
        while let Some(pick) = self.scheduler.pick(&Heads {
            lengths: &self.heads,
            paused: 0,
        }) {
            let i = usize::from(pick.queue.0);
            let queue = &mut self.queues[i];
            let mut w = queue
                .waiting
                .pop()
                .expect("the scheduler picked a queue with packets");
            let bytes = w.bytes();
            queue.bytes -= bytes;
            self.port_bytes -= bytes;
            let mut ecn = w.packet.ecn();
            let verdict = if matches!(queue.hook, Some(Hook::Dequeue | Hook::Both)) {
                let at = look(
                    self.clock,
                    queue,
                    w.since,
                    now,
                    bytes,
                    ecn,
                    w.salt,
                    w.intent,
                    self.port_bytes,
                    self.limit,
                );
                queue.marker.dequeue(&at)
            } else {
                w.intent.map_or(Verdict::Pass, Verdict::Mark)
            };
            let fate = ce::apply(verdict, &mut ecn, self.non_ect);
            w.packet.set_ecn(ecn);
            w.packet.set_out();
            if queue.bytes == 0 {
                queue.marker.emptied(pick.queue, self.clock.nanos(now));
            }
            self.refresh(i);
            match fate {
                Fate::Passed => {}
                Fate::Marked(why) => self.counters.marks[why as usize] += 1,
                Fate::Spared => self.counters.spared += 1,
                Fate::Dropped | Fate::DroppedNotEct => {
                    self.discard(if fate == Fate::Dropped {
                        DropReason::Marker
                    } else {
                        DropReason::NotEct
                    });
                    self.scheduler.refunded(pick.queue, bytes);
                    gone.push(w.packet);
                    continue;
                }
            }
            self.counters.sent += 1;
            self.counters.sent_bytes += u64::from(bytes);
            self.busy = now + u64::from(bytes) * self.byte_ticks;
            let arrive = self.busy + self.delay;
            if self.wire.is_empty() {
                result.deliver_at = arrive;
            }
            self.wire.push(OnWire {
                arrive,
                packet: w.packet,
            });
            break;
        }
        if self.port_bytes > 0 && self.armed != self.busy {
            self.armed = self.busy;
            result.serve_at = self.busy;
        }
        result
    }

    pub(crate) fn deliver(&mut self, now: u64) -> (Packet, u64) {
        let w = self
            .wire
            .pop()
            .expect("a delivery event has its packet on the wire");
        debug_assert_eq!(now, w.arrive);
        (w.packet, self.wire.front().map_or(NEVER, |n| n.arrive))
    }
}

#[allow(clippy::too_many_arguments)] // one place that fills the view, called at both hooks
#[inline]
fn look(
    clock: Clock,
    queue: &Queue,
    since: u64,
    now: u64,
    bytes: u32,
    ecn: Ecn,
    salt: u64,
    intent: Option<Why>,
    port_bytes: u32,
    limit: u32,
) -> At {
    let at = clock.nanos(now);
    At {
        now: at,
        sojourn: Nanos(at.0 - clock.nanos(since).0),
        round: Nanos::ZERO,
        salt,
        pkt_bytes: bytes,
        segs: 1,
        ecn,
        intent,
        queue_bytes: queue.bytes,
        queue_pkts: queue.waiting.len(),
        port_bytes,
        pool_bytes: port_bytes,
        limit_bytes: limit.min(queue.spec.limit_bytes),
    }
}
