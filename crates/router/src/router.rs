// SPDX-License-Identifier: MIT OR Apache-2.0
//! Router of a pair, without devices, sockets and clocks: packets and times come in as
//! arguments, and what it sends goes out through [`Ports`].

use cemark_edge::{DcibConfig, Report, Shim};
use cemark_wire::{Ecn, Nanos};

use crate::counts::Counts;
use crate::incoming::{Comes, Incoming};
use crate::inner;
use crate::key::{End, Key};
use crate::outgoing::{Bounds, Leaves, Outgoing};
use crate::peer::{self, Peer};
use crate::wire::{self, HEAD, Head, Hello, Malformed, NUMBERS};

/// Where packets go.
pub trait Ports {
    /// Sends a datagram, `head` and then `body`, on a lane, with this field in its IP header.
    fn to_peer(&mut self, lane: u16, ecn: Ecn, head: &[u8], body: &[u8]);
    /// Gives a packet to the hosts of this site.
    fn to_host(&mut self, packet: &[u8]);
    /// Gives a packet of a host of this site back, to be forwarded as if there were no router.
    fn back(&mut self, packet: &[u8]);
}

/// Settings of a router.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Which end of the pair.
    pub end: End,
    /// Configuration of the state machines.
    pub dcib: DcibConfig,
    /// Bounds of the memory for copies.
    pub bounds: Bounds,
    /// Most memory of packets that wait for others.
    pub held: u64,
    /// Time between two hellos.
    pub interval: Nanos,
    /// Silence after which the peer counts as dead.
    pub dead: Nanos,
    /// Time that a router stays off after the path has cleared ECN.
    pub retry: Nanos,
    /// Largest packet of a host, in bytes.
    pub mtu: u16,
}

/// Least time between a hello and an answer that is not due yet.
const HASTE: Nanos = Nanos::from_millis(5);
/// Hellos between two that are padded.
const PADDED: u64 = 5;
/// Share of the peer below which a path is not judged more strictly: few packets that arrive
/// Not-ECT are no path that clears ECN.
const LEAST_SHARE: u32 = 3_277;
/// Packets shorter than this are no use to hosts.
const LEAST_MTU: u16 = 576;

/// Router of a pair.
#[derive(Debug)]
pub struct Router {
    settings: Settings,
    key: Key,
    epoch: u64,
    /// The epoch before, and until when its tags are taken.
    prior: Option<(u64, Nanos)>,
    peer: Option<Peer>,
    /// Whether the peer was alive when that was last looked at.
    alive: bool,
    /// The highest epoch of the hellos that the next one answers.
    answer: u64,
    outgoing: Outgoing,
    incoming: Incoming,
    serial: u64,
    hellos: u64,
    hello_at: Nanos,
    hello_sent: Nanos,
    /// When the near router turned itself off.
    off: Option<Nanos>,
    counts: Counts,
    head: Vec<u8>,
}

impl Router {
    /// A router that knows no peer. `epoch` must be higher than at its last start, as a date is.
    pub fn new(settings: Settings, key: Key, epoch: u64) -> Router {
        Router {
            settings,
            key,
            epoch,
            prior: None,
            peer: None,
            alive: false,
            answer: 0,
            outgoing: Outgoing::new(settings.dcib, settings.bounds),
            incoming: Incoming::new(settings.dcib, settings.held),
            serial: 0,
            hellos: 0,
            hello_at: Nanos::ZERO,
            hello_sent: Nanos::ZERO,
            off: None,
            counts: Counts::default(),
            head: Vec::new(),
        }
    }

    /// Why hosts' packets must not take the tunnel now; `None` where they may.
    pub fn plain_because(&self) -> Option<&'static str> {
        match &self.peer {
            None => Some("no peer has answered"),
            Some(_) if !self.alive => Some("the peer is silent"),
            Some(p) if !p.hears => Some("the peer does not hear this router"),
            Some(_) if self.off.is_some() => Some("the path clears the ECN field"),
            Some(p) if p.path < LEAST_MTU => Some("the path takes no packet of 576 bytes"),
            Some(_) => None,
        }
    }

    /// Largest packet of a host that fits through the tunnel.
    pub fn mtu(&self) -> u16 {
        let path = self.peer.as_ref().map_or(0, |p| p.path);
        path.min(self.settings.mtu)
    }

    /// A packet that the device has read.
    pub fn from_host(&mut self, now: Nanos, packet: &[u8], ports: &mut impl Ports) {
        self.counts.from_hosts += 1;
        self.counts.from_hosts_bytes += packet.len() as u64;
        let Some(inner) = inner::read(packet) else {
            self.counts.not_ip += 1;
            return;
        };
        if self.plain_because().is_some() {
            self.counts.handed_back += 1;
            ports.back(packet);
            return;
        }
        let Parts {
            outgoing,
            counts,
            mut wrap,
            ..
        } = self.parts();
        outgoing.packet(now, inner, packet, &mut |l| wrap.leaves(l, counts, ports));
    }

    /// A datagram that arrived on a lane with this field in its IP header.
    pub fn from_peer(&mut self, now: Nanos, outer: Ecn, data: &mut [u8], ports: &mut impl Ports) {
        self.counts.from_peer += 1;
        let parsed = match wire::read(data) {
            Ok(parsed) => parsed,
            Err(Malformed::Form) => return self.counts.refused_form += 1,
            Err(Malformed::Version(_)) => return self.counts.refused_version += 1,
        };
        let sender = self.settings.end.other();
        let (header, body) = data.split_at_mut(parsed.bytes);
        let receivers = match parsed.head {
            Head::Hello(_) => [Some(0), None],
            _ => [Some(self.epoch), self.prior(now)],
        };
        let right = |r: &u64| self.key.verify(sender, *r, header, body);
        if !receivers.iter().flatten().any(right) {
            return self.counts.refused_tag += 1;
        }
        if let Head::Hello(hello) = parsed.head {
            return self.hello(now, &hello, ports);
        }
        let known = self
            .peer
            .as_mut()
            .filter(|p| p.epoch as u32 == parsed.epoch);
        let Some(peer) = known else {
            return self.counts.refused_epoch += 1;
        };
        match parsed.head {
            Head::Report(serial, mut report) => {
                if !peer.serials.note(serial) {
                    return self.counts.refused_replay += 1;
                }
                report.first_sent = wire::since(now, wire::micros(report.first_sent));
                self.report(now, report, ports);
            }
            Head::Data(shim) => {
                let Some(places) = peer.places.get_mut(usize::from(shim.lane)) else {
                    return self.counts.refused_form += 1;
                };
                // A copy has the place of its packet; the far router knows whether that arrived.
                if shim.copy == 0 && !places.note(shim.place) {
                    return self.counts.refused_replay += 1;
                }
                self.data(now, shim, outer, body, ports);
            }
            Head::Hello(_) => {}
        }
    }

    fn prior(&self, now: Nanos) -> Option<u64> {
        self.prior.filter(|(_, until)| now < *until).map(|p| p.0)
    }

    fn report(&mut self, now: Nanos, report: Report, ports: &mut impl Ports) {
        let Parts {
            outgoing,
            counts,
            mut wrap,
            ..
        } = self.parts();
        outgoing.report(now, report, &mut |l| wrap.leaves(l, counts, ports));
        if self.off.is_none() && self.outgoing.stats().off {
            self.off = Some(now);
        }
    }

    fn data(
        &mut self,
        now: Nanos,
        shim: Shim,
        outer: Ecn,
        body: &mut [u8],
        ports: &mut impl Ports,
    ) {
        let Parts {
            incoming,
            counts,
            serial,
            mut wrap,
            ..
        } = self.parts();
        let lane = shim.lane;
        incoming.packet(now, shim, outer, body, &mut |c| {
            wrap.comes(c, lane, serial, counts, ports);
        });
    }

    /// When to call [`Router::wake`].
    pub fn next_wake(&self) -> Nanos {
        let times = [self.outgoing.next_wake(), self.incoming.next_wake()];
        times.into_iter().flatten().fold(self.hello_at, Nanos::min)
    }

    /// Does what is due.
    pub fn wake(&mut self, now: Nanos, ports: &mut impl Ports) {
        let Parts {
            outgoing,
            incoming,
            counts,
            serial,
            mut wrap,
        } = self.parts();
        outgoing.wake(now, &mut |l| wrap.leaves(l, counts, ports));
        incoming.wake(now, &mut |c| wrap.comes(c, 0, serial, counts, ports));
        let dead = self.settings.dead;
        let alive = self.peer.as_ref().is_some_and(|p| now < p.heard + dead);
        if self.alive && !alive {
            self.silence(ports);
            self.doubt(now, ports);
        }
        if let Some(off) = self.off.filter(|off| now >= *off + self.settings.retry) {
            self.again(now.max(off));
        }
        if now >= self.hello_at {
            self.greet(now, ports);
        }
    }

    /// An error of the path, such as an unreachable port. Anybody may have sent it, so that it only
    /// shortens the wait for a peer that is late already.
    pub fn path_error(&mut self, now: Nanos, ports: &mut impl Ports) {
        self.counts.path_errors += 1;
        let late = Nanos(self.settings.interval.0 * 3 / 2);
        if self.alive && self.peer.as_ref().is_some_and(|p| now >= p.heard + late) {
            self.silence(ports);
            self.doubt(now, ports);
        }
    }

    /// Tells the peer that this router ends, so that it forwards plainly from now on. Twice, since
    /// one may be lost.
    pub fn leave(&mut self, now: Nanos, ports: &mut impl Ports) {
        if self.alive {
            self.silence(ports);
        }
        self.greet(now, ports);
        self.greet(now, ports);
    }

    /// Both directions, and what their packets need on the way out.
    fn parts(&mut self) -> Parts<'_> {
        Parts {
            outgoing: &mut self.outgoing,
            incoming: &mut self.incoming,
            counts: &mut self.counts,
            serial: &mut self.serial,
            wrap: Wrap {
                key: &self.key,
                end: self.settings.end,
                epoch: self.epoch,
                peer: self.peer.as_ref().map(|p| p.epoch),
                head: &mut self.head,
            },
        }
    }

    fn silence(&mut self, ports: &mut impl Ports) {
        self.alive = false;
        self.counts.peer_losses += 1;
        let Parts {
            incoming,
            counts,
            serial,
            mut wrap,
            ..
        } = self.parts();
        incoming.end_waits(&mut |c| wrap.comes(c, 0, serial, counts, ports));
    }

    /// Takes a new epoch after the peer has fallen silent: hellos that any of its starts has sent
    /// until now answer an earlier epoch, so that a repeated one is not taken for a new start. A
    /// peer that lives learns before, twice as one may be lost, that it is not heard.
    fn doubt(&mut self, now: Nanos, ports: &mut impl Ports) {
        self.greet(now, ports);
        self.greet(now, ports);
        self.epoch += 1;
        self.prior = None;
    }

    /// Begins again after a path has cleared ECN: with a new epoch, and without copies.
    fn again(&mut self, now: Nanos) {
        self.prior = Some((self.epoch, now + self.settings.dead));
        self.epoch += 1;
        self.counts.stalled_memory_peak = self.counts().stalled_memory_peak;
        self.outgoing.add_to(&mut self.counts);
        self.outgoing = Outgoing::new(self.settings.dcib, self.settings.bounds);
        self.off = None;
        self.hello_at = now;
        if let Some(peer) = &mut self.peer {
            peer.hears = false;
        }
    }

    fn hello(&mut self, now: Nanos, hello: &Hello, ports: &mut impl Ports) {
        if hello.lanes != self.settings.dcib.lanes {
            self.counts.refused_lanes += 1;
            return;
        }
        let fresh = hello.peer == self.epoch || hello.answer == self.epoch;
        let known = self.peer.as_ref().map(|p| p.epoch);
        if known != Some(hello.own) {
            // It answers this epoch, so it is no replay from before; and it is later than the last
            // start, or that one is silent.
            if fresh && (!self.alive || known.is_none_or(|k| hello.own > k)) {
                if self.alive {
                    self.silence(ports);
                }
                self.peer = Some(Peer::new(now, hello.own, self.settings.dcib.lanes));
                self.incoming.add_to(&mut self.counts);
                self.incoming = Incoming::new(self.settings.dcib, self.settings.held);
                self.counts.peer_starts += 1;
            } else {
                // Epochs rise: repeated hellos of earlier starts do not hide that of the last.
                self.answer = self.answer.max(hello.own);
                self.hasten(now);
                return;
            }
        }
        let Some(peer) = &mut self.peer else { return };
        let (heard, path) = (peer.hears, peer.path);
        if !peer.hello(now, hello, self.epoch) {
            self.counts.refused_late_hello += 1;
            return;
        }
        self.incoming
            .set_share(u32::from(hello.share).max(LEAST_SHARE));
        let (news, resized) = (heard != peer.hears || !self.alive, path != peer.path);
        self.counts.mtu_changes += u64::from(resized);
        if news || resized {
            self.hasten(now);
        }
        self.alive = true;
    }

    /// The next hello is due soon: there is news.
    fn hasten(&mut self, now: Nanos) {
        self.hello_at = self.hello_at.min(now.max(self.hello_sent + HASTE));
    }

    fn greet(&mut self, now: Nanos, ports: &mut impl Ports) {
        let lanes = self.settings.dcib.lanes;
        let mut hello = Hello {
            lanes,
            share: self.settings.dcib.share as u16,
            own: self.epoch,
            answer: self.answer,
            sent: wire::micros(now).max(1),
            ..Hello::default()
        };
        if let Some(peer) = self.peer.as_mut().filter(|_| self.alive) {
            peer.describe(now, &mut hello);
        }
        let lane = (self.hellos % u64::from(lanes)) as u16;
        let path = self.peer.as_ref().map_or(0, |p| p.path);
        // Padded hellos begin with the peer's answer, so that no third party gets more than was
        // sent.
        let padded = self.alive && (self.hellos.is_multiple_of(PADDED) || path == 0);
        let sizes = if padded {
            peer::sizes(self.settings.mtu, path)
        } else {
            vec![]
        };
        for size in core::iter::once(0).chain(sizes) {
            hello.size = size;
            hello.serial = self.serial;
            self.serial = (self.serial + 1) % NUMBERS;
            wire::write(&mut self.head, &Head::Hello(hello), self.epoch, lane);
            self.key.sign(self.settings.end, 0, &mut self.head, &[]);
            self.counts.to_peer += 1;
            ports.to_peer(lane, Ecn::Ect0, &self.head, &[]);
        }
        self.answer = 0;
        self.hellos += 1;
        self.hello_sent = now;
        self.hello_at = now + self.settings.interval;
    }

    /// Counts and states now.
    pub fn counts(&self) -> Counts {
        let trip = self.peer.as_ref().and_then(|p| p.round_trip);
        let (memory, peak) = self.outgoing.memory();
        let mut counts = Counts {
            serving: self.plain_because().is_none().into(),
            peer_alive: self.alive.into(),
            off: self.off.is_some().into(),
            epoch: self.epoch,
            mtu: self.mtu().into(),
            round_trip_us: trip.map_or(0, |t| t.0 / 1_000),
            stalled_memory: memory,
            stalled_memory_peak: peak.max(self.counts.stalled_memory_peak),
            stalled_packets: self.outgoing.kept() as u64,
            ..self.counts
        };
        self.outgoing.add_to(&mut counts);
        self.incoming.add_to(&mut counts);
        counts
    }
}

/// Parts of a router that a packet goes through.
struct Parts<'a> {
    outgoing: &'a mut Outgoing,
    incoming: &'a mut Incoming,
    counts: &'a mut Counts,
    serial: &'a mut u64,
    wrap: Wrap<'a>,
}

/// Puts headers before packets, and signs them.
struct Wrap<'a> {
    key: &'a Key,
    end: End,
    epoch: u64,
    /// Epoch of the peer.
    peer: Option<u64>,
    head: &'a mut Vec<u8>,
}

impl Wrap<'_> {
    fn send(&mut self, head: &Head, lane: u16, ecn: Ecn, body: &[u8], ports: &mut impl Ports) {
        let Some(peer) = self.peer else { return };
        wire::write(self.head, head, self.epoch, lane);
        self.key.sign(self.end, peer, self.head, body);
        ports.to_peer(lane, ecn, self.head, body);
    }

    fn leaves(&mut self, leaves: Leaves<'_>, counts: &mut Counts, ports: &mut impl Ports) {
        match leaves {
            Leaves::Wrapped(shim, ecn, bytes) => {
                counts.to_peer += 1;
                self.send(&Head::Data(shim), shim.lane, ecn, bytes, ports);
            }
            Leaves::Plain(bytes) => {
                counts.handed_back += 1;
                ports.back(bytes);
            }
        }
    }

    fn comes(
        &mut self,
        comes: Comes<'_>,
        lane: u16,
        serial: &mut u64,
        counts: &mut Counts,
        ports: &mut impl Ports,
    ) {
        match comes {
            Comes::Deliver(packet) => {
                counts.to_hosts += 1;
                counts.to_hosts_bytes += packet.len() as u64;
                ports.to_host(packet);
            }
            Comes::Acknowledge(report) => {
                let head = Head::Report(*serial, report);
                *serial = (*serial + 1) % NUMBERS;
                counts.to_peer += 1;
                self.send(&head, lane, Ecn::Ect0, &[], ports);
            }
        }
    }
}

// The header must leave room for the tag to cover the headers of the host's packet.
const _: () = assert!(HEAD + 60 <= crate::key::COVERED);
