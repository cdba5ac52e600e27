// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priority flow control between ports: pause frames in flight, hosts that obey them, deadlocks.

use cemark_marking::QueueId;
use cemark_switch::admit::{Ingress, Signal, Xoff};
use cemark_switch::sched::MAX_QUEUES;
use cemark_switch::{Clock, PAUSE_BYTES, Pool, PoolId, Port};
use cemark_wire::{Flags, Packet, Picos};

use super::{Core, Network, Shares};
use crate::agenda::kind;
use crate::config::{Config, Pfc, Policy};
use crate::events::EventQueue;
use crate::ids::{ConnId, LinkId};
use crate::outcome::{PauseReport, QueuePause};
use crate::topology::{Fabric, Route};

/// How often stalled ports are checked for deadlock.
pub(crate) const CHECK: Picos = Picos::from_micros(100);

/// The state of flow control.
pub(crate) struct Lossless {
    /// By link: its place among the links into the switch at its far end.
    place: Vec<u32>,
    /// By link: the pool of the switch at its far end; none at a host.
    far: Vec<Option<PoolId>>,
    /// By link: the pool of the switch that sends on it; none for a NIC.
    near: Vec<Option<PoolId>>,
    /// By link: the link in the other direction.
    reverse: Vec<LinkId>,
    /// By link: packets sent when last looked at.
    sent: Vec<u64>,
    /// Queues of a port.
    queues: u8,
    /// Ticks that a port takes to obey a frame.
    reaction: u64,
    /// The cycle of ports, once nothing moves any more.
    deadlock: Vec<String>,
}

/// Headroom of a lossless queue at the far end of a link: the bytes that may still arrive after its
/// meter has exceeded XOFF. The frame waits for a packet in the other direction (and for frames of
/// other queues); its receiver takes a time to obey it; then a packet is in transmission; packets
/// on the wire arrive too; and one packet exceeded XOFF.
fn headroom(cfg: &Config, pfc: &Pfc, fabric: &Fabric, link: LinkId, back: LinkId) -> u32 {
    let (link, back) = (&fabric.links()[link], &fabric.links()[back]);
    let acks = cfg.transports().into_iter().map(|t| u32::from(t.ack_bytes));
    let mtu = u64::from(acks.fold(cfg.full_packet(), u32::max));
    let frames = u64::from(PAUSE_BYTES) * cfg.switch.queues.len() as u64 * 2;
    let span = (mtu + frames) * back.rate.picos_per_byte().0
        + back.delay.0
        + link.delay.0
        + pfc.reaction.0;
    let bytes = span.div_ceil(link.rate.picos_per_byte().0) + 3 * mtu;
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Lossless {
    /// Lays out the meters of every switch. `of`: the pool of each switch port, in order of links.
    pub fn new(
        cfg: &Config,
        pfc: &Pfc,
        clock: Clock,
        fabric: &Fabric,
        pools: &mut [Pool],
        of: &[PoolId],
    ) -> Lossless {
        let links = fabric.links();
        assert!(
            links.len() <= (kind::INDEX >> LINK) as usize,
            "too many links to pause"
        );
        let hosts = links.len() - of.len();
        let reverse: Vec<LinkId> = links.iter().map(|l| l.reverse).collect();
        // A port of the switch at the far end is the reverse link.
        let far: Vec<Option<PoolId>> = reverse
            .iter()
            .map(|r| r.place().checked_sub(hosts).map(|port| of[port]))
            .collect();
        let mut into: Vec<Vec<(u32, u32)>> = vec![Vec::new(); pools.len()];
        let mut place = vec![u32::MAX; links.len()];
        for (l, &pool) in (0u32..).zip(&far) {
            let Some(pool) = pool else { continue };
            let room = match pfc.headroom {
                0 => headroom(cfg, pfc, fabric, LinkId(l), reverse[l as usize]),
                n => n,
            };
            let list = &mut into[pool.0 as usize];
            place[l as usize] = list.len() as u32;
            list.push((l, room));
        }
        let queues = cfg.switch.queues.len();
        let lossless = cfg.switch.queues.iter().filter(|q| q.lossless).count() as u64;
        let xoff = match (cfg.switch.buffering.policy, pfc.xoff) {
            (
                Policy::Reverie {
                    gamma, congested, ..
                },
                Xoff::Dynamic { alpha },
            ) => Xoff::Filtered {
                alpha,
                gamma,
                congested,
            },
            (_, xoff) => xoff,
        };
        for (pool, list) in pools.iter_mut().zip(&into) {
            // The headroom comes on top of what is shared.
            let shared = pool.capacity();
            let kept: u64 = list.iter().map(|l| u64::from(l.1) * lossless).sum();
            let kept = u32::try_from(kept)
                .unwrap_or(u32::MAX)
                .min(u32::MAX - shared);
            let ingress = Ingress::new(list, queues, xoff, pfc.xon_offset);
            *pool = Pool::new(shared + kept, kept, true).with_ingress(ingress);
        }
        let near = vec![None; hosts];
        Lossless {
            place,
            far,
            near: near
                .into_iter()
                .chain(of.iter().map(|&p| Some(p)))
                .collect(),
            reverse,
            sent: vec![u64::MAX; links.len()],
            queues: queues as u8,
            reaction: clock.ticks(pfc.reaction),
            deadlock: Vec::new(),
        }
    }

    /// The pool of the switch at the far end of a link; none at a host.
    pub fn pool_behind(&self, link: LinkId) -> Option<PoolId> {
        self.far[link.place()]
    }

    /// The place of a link among the links into the switch at its far end.
    #[inline]
    pub fn place_of(&self, link: LinkId) -> u32 {
        self.place[link.place()]
    }

    /// The place of the link over which a packet came to the switch where it is now.
    #[inline]
    pub fn came_by(&self, route: &Route, packet: &Packet) -> u32 {
        self.place[route[usize::from(packet.hop()) - 1].place()]
    }
}

/// A pause frame in flight as the index of its event: link, queue, and whether it pauses. So the
/// event is all that is known of it, and frames of one tick are in order of links and queues.
fn event_of(frame: &Signal) -> u32 {
    frame.link << LINK | u32::from(frame.queue) << 1 | u32::from(frame.pause)
}

fn frame_of(event: u32) -> Signal {
    Signal {
        link: event >> LINK,
        queue: (event >> 1) as u8 & (MAX_QUEUES - 1) as u8,
        pause: event & 1 == 1,
    }
}

/// Where the link starts in the index of a pause frame's event.
const LINK: u32 = 1 + MAX_QUEUES.ilog2();

/// A queue of a port.
type Node = (LinkId, u8);

impl<Q: EventQueue> Core<Q> {
    /// Sends the pending pause frames of the switch of port `l`.
    #[cold]
    pub(super) fn send_signals(&mut self, l: LinkId) {
        let Some(pfc) = &mut self.net.pfc else { return };
        let Some(near) = pfc.near[l.place()] else {
            return;
        };
        let Some(ingress) = self.net.pools[near.place()].ingress_mut() else {
            return;
        };
        if ingress.signals.is_empty() {
            return;
        }
        let mut signals = std::mem::take(&mut ingress.signals);
        for signal in signals.drain(..) {
            let pfc = self.net.pfc.as_ref().expect("looked at above");
            let back = pfc.reverse[signal.link as usize];
            // Both kinds of frames are obeyed late, so that they keep their order.
            let reaction = pfc.reaction;
            let (arrive, serve_at) = self.net.ports[back].send_pause(self.agenda.now);
            let obeyed = arrive.saturating_add(reaction);
            let event = kind::PAUSE | event_of(&signal);
            if Q::SHARDED {
                self.send_frame(LinkId(signal.link), obeyed, event);
            } else {
                self.agenda.insert(obeyed, event);
            }
            self.agenda.arm_serve(back, serve_at);
        }
        // The room for the list is used again.
        if let Some(ingress) = self.net.pools[near.place()].ingress_mut() {
            ingress.signals = signals;
        }
    }

    /// A port obeys a pause frame, or the frame that ends a pause. Returns the link of that port
    /// where a pause has ended.
    pub fn pause_frame(&mut self, event: u32) -> Option<LinkId> {
        let frame = frame_of(event);
        let link = LinkId(frame.link);
        let (net, now) = (&mut self.net, self.agenda.now);
        let port = &mut net.ports[link];
        if frame.pause {
            port.pause(now, frame.queue);
            return None;
        }
        let offer = port.resume(now, frame.queue, &mut net.pools, &mut net.gone);
        self.agenda.arm_delivery(link, offer.deliver_at);
        self.agenda.arm_serve(link, offer.serve_at);
        net.free_gone();
        self.send_signals(link);
        Some(link)
    }

    /// Inserts the event of the next check for deadlock.
    pub fn check_again(&mut self) {
        let again = self.agenda.now + self.agenda.ticks(CHECK);
        self.agenda.insert(again, kind::CHECK);
    }
}

impl Network {
    /// Whether the queue of a port for a class is paused; `class` is asked only if some queue is.
    #[inline]
    pub fn is_paused(&self, link: LinkId, class: impl FnOnce() -> u8) -> bool {
        let paused = self.ports[link].paused();
        if paused == 0 {
            return false;
        }
        let queues = self.pfc.as_ref().map_or(1, |pfc| pfc.queues);
        paused >> class().min(queues - 1) & 1 == 1
    }

    /// Whether some port is paused and has sent nothing since the check before.
    pub fn stalls(&mut self) -> bool {
        let Some(pfc) = &mut self.pfc else {
            return false;
        };
        let mut stalled = false;
        for (port, sent) in self.ports.iter().zip(&mut pfc.sent) {
            let now = port.counters().sent;
            stalled |= port.paused() != 0 && now == *sent;
            *sent = now;
        }
        stalled
    }

    /// Whether ports wait for each other in a cycle, which ends the run.
    pub fn is_deadlocked(&mut self) -> bool {
        let stuck = self.stuck();
        let (Some(cycle), Some(pfc)) = (self.cycle(&stuck), &mut self.pfc) else {
            return false;
        };
        pfc.deadlock = cycle;
        true
    }

    /// The ports of the cycle, by name, that [`Network::is_deadlocked`] has found.
    pub fn deadlock(&mut self) -> Vec<String> {
        self.pfc.take().map_or_else(Vec::new, |pfc| pfc.deadlock)
    }

    /// Queues of switch ports that can never resume. Such a queue is paused, and even when all
    /// other queues have emptied, the packets that came over its link and wait in queues of this
    /// set keep the meter at the far end above XON.
    fn stuck(&self) -> Vec<Node> {
        let Some(pfc) = &self.pfc else {
            return Vec::new();
        };
        let queues = pfc.queues;
        let mut stuck: Vec<Node> = Vec::new();
        for (port, l) in self.ports.iter().zip(0u32..) {
            let far = pfc.far[l as usize];
            let (Some(far), Some(_)) = (far, pfc.near[l as usize]) else {
                continue;
            };
            if port.paused() == 0 {
                continue;
            }
            // A switch that has already sent the frame that ends the pause does not hold the queue.
            let asks = |q: &u8| {
                let ingress = self.pools[far.place()].ingress();
                ingress.is_some_and(|i| i.is_paused(pfc.place[l as usize], usize::from(*q)))
            };
            let held = (0..queues)
                .filter(|q| port.paused() >> q & 1 == 1)
                .filter(asks);
            stuck.extend(held.map(|q| (LinkId(l), q)));
        }
        loop {
            let before = stuck.len();
            let still = stuck.clone();
            stuck.retain(|&(l, q)| {
                let Some(far) = pfc.far[l.place()] else {
                    return false;
                };
                let (mut mine, mut all) = (0u64, 0u64);
                for &(m, mq) in still.iter().filter(|n| pfc.near[n.0.place()] == Some(far)) {
                    self.ports[m].waiting(QueueId(mq), |from, bytes| {
                        all += u64::from(bytes);
                        if from == pfc.place[l.place()] && mq == q {
                            mine += u64::from(bytes);
                        }
                    });
                }
                let pool = &self.pools[far.place()];
                let free = u64::from(pool.room()).saturating_sub(all) as u32;
                let low = pool.ingress().map_or(u32::MAX, |i| i.resumes_at(free));
                mine > u64::from(low)
            });
            if stuck.len() == before {
                return stuck;
            }
        }
    }

    /// The names of ports that wait for each other in a cycle.
    fn cycle(&self, stuck: &[Node]) -> Option<Vec<String>> {
        let pfc = self.pfc.as_ref()?;
        let mut way = vec![*stuck.first()?];
        loop {
            let &(l, q) = way.last()?;
            let next = stuck.iter().copied().find(|&(m, mq)| {
                let mut waits = false;
                if mq == q && pfc.near[m.place()] == pfc.far[l.place()] {
                    self.ports[m]
                        .waiting(QueueId(mq), |from, _| waits |= from == pfc.place[l.place()]);
                }
                waits
            })?;
            if let Some(begin) = way.iter().position(|&n| n == next) {
                let name = |&(l, _): &Node| self.fabric.links()[l].name.clone();
                return Some(way[begin..].iter().map(name).collect());
            }
            way.push(next);
        }
    }

    /// Queues of a port that can be paused; none where no switch pauses.
    pub fn pausable(&self) -> u8 {
        self.pfc.as_ref().map_or(0, |pfc| pfc.queues)
    }

    /// Every port that was ever paused, NICs among them.
    pub fn pause_reports(&self, now: u64, shares: &[Shares]) -> Vec<PauseReport> {
        if self.pfc.is_none() {
            return Vec::new();
        }
        let of_queues = |port: &Port, shares: &Shares| {
            let all = (0..self.pausable()).map(|class| QueuePause {
                class,
                frames: port.pauses_of(class, now).frames,
                share: shares
                    .queues
                    .get(usize::from(class))
                    .copied()
                    .unwrap_or(0.0),
            });
            all.filter(|queue| queue.frames > 0).collect()
        };
        let report = |((port, link), shares): ((&Port, &crate::topology::Link), &Shares)| {
            let frames = port.pauses(now).frames;
            (frames > 0).then(|| PauseReport {
                name: link.name.clone(),
                frames,
                share: shares.paused,
                queues: of_queues(port, shares),
            })
        };
        self.ports
            .iter()
            .zip(self.fabric.links())
            .zip(shares)
            .filter_map(report)
            .collect()
    }

    /// Stamps a packet at a switch with the link over which it came.
    #[inline]
    pub(super) fn stamp(&self, packet: &mut Packet) {
        if let Some(pfc) = &self.pfc {
            let direction = usize::from(packet.flags().has(Flags::ACK));
            let route = &self.rows.routes(ConnId::of(packet))[direction];
            packet.stamp = pfc.came_by(route, packet);
        }
    }
}
