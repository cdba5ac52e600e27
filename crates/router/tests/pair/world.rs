// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two routers and a WAN that loses, delays, marks and repeats as a test wants.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cemark_edge::DcibConfig;
use cemark_router::key::{End, Key};
use cemark_router::wire::{self, Head};
use cemark_router::{Bounds, Ports, Router, Settings};
use cemark_wire::{Ecn, Nanos};

/// Nanoseconds from router to router.
pub const ONE_WAY: u64 = 3_000_000;
/// A millisecond.
pub const MS: u64 = 1_000_000;

/// A datagram on the WAN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Whether it goes from the near router to the far one.
    pub outward: bool,
    pub ecn: Ecn,
    pub bytes: Vec<u8>,
}

impl Datagram {
    /// Header of the datagram.
    pub fn head(&self) -> Head {
        wire::read(&self.bytes).expect("a router wrote it").head
    }

    pub fn is_data(&self) -> bool {
        matches!(self.head(), Head::Data(_))
    }

    pub fn is_ack(&self) -> bool {
        matches!(self.head(), Head::Report(..))
    }
}

/// Fate of a datagram, which a WAN may change: a delay for each time that it arrives.
pub type Wan = Box<dyn FnMut(&mut Datagram) -> Vec<u64>>;

/// A WAN without faults.
pub fn clean() -> Wan {
    Box::new(|_| vec![0])
}

/// Where the packets of one call went.
#[derive(Default)]
pub struct Out {
    pub peer: Vec<(u16, Ecn, Vec<u8>)>,
    pub host: Vec<Vec<u8>>,
    pub back: Vec<Vec<u8>>,
}

impl Ports for Out {
    fn to_peer(&mut self, lane: u16, ecn: Ecn, head: &[u8], body: &[u8]) {
        self.peer.push((lane, ecn, [head, body].concat()));
    }

    fn to_host(&mut self, packet: &[u8]) {
        self.host.push(packet.to_vec());
    }

    fn back(&mut self, packet: &[u8]) {
        self.back.push(packet.to_vec());
    }
}

pub struct World {
    pub now: u64,
    /// The near router and the far one; `None` while it is dead.
    pub routers: [Option<Router>; 2],
    pub wan: Wan,
    /// (time, order, what).
    flying: BinaryHeap<Reverse<(u64, u64, usize)>>,
    cargo: Vec<Datagram>,
    /// All that the routers have sent, as they sent it.
    pub sent: Vec<Datagram>,
    order: u64,
    /// Packets that hosts got, at the near site and at the far one.
    pub got: [Vec<Vec<u8>>; 2],
    /// Packets that were given back for plain forwarding, by the near router and the far one.
    pub back: [Vec<Vec<u8>>; 2],
    settings: Settings,
    starts: u64,
}

/// Settings that tests change.
pub fn settings() -> Settings {
    Settings {
        end: End::Near,
        dcib: DcibConfig {
            lanes: 4,
            ..DcibConfig::LITERAL
        },
        bounds: Bounds {
            memory: 4_000_000,
            packets: 4_096,
        },
        held: 16_000_000,
        interval: Nanos(100 * MS),
        dead: Nanos(500 * MS),
        retry: Nanos(60_000 * MS),
        mtu: 1_436,
    }
}

pub fn key() -> Key {
    Key::new(*b"a key for tests.")
}

impl World {
    /// A pair that is not up yet.
    pub fn new(settings: Settings) -> World {
        let mut world = World {
            now: 10 * MS,
            routers: [None, None],
            wan: clean(),
            flying: BinaryHeap::new(),
            cargo: Vec::new(),
            sent: Vec::new(),
            order: 0,
            got: [Vec::new(), Vec::new()],
            back: [Vec::new(), Vec::new()],
            settings,
            starts: 0,
        };
        world.start(0);
        world.start(1);
        world
    }

    /// A pair that serves.
    pub fn up(settings: Settings) -> World {
        let mut world = World::new(settings);
        world.run(1_000 * MS);
        for r in world.routers.iter().flatten() {
            assert_eq!(r.plain_because(), None);
        }
        world
    }

    /// Starts a router, again where it had been.
    pub fn start(&mut self, which: usize) {
        self.starts += 1;
        let settings = Settings {
            end: [End::Near, End::Far][which],
            ..self.settings
        };
        let epoch = 1_000_000 + self.starts * 1_000;
        self.routers[which] = Some(Router::new(settings, key(), epoch));
    }

    /// Ends a router as a service manager does.
    pub fn leave(&mut self, which: usize) {
        let mut out = Out::default();
        if let Some(mut router) = self.routers[which].take() {
            router.leave(Nanos(self.now), &mut out);
        }
        self.follow(which, out);
    }

    pub fn router(&self, which: usize) -> &Router {
        self.routers[which].as_ref().expect("it lives")
    }

    fn follow(&mut self, which: usize, out: Out) {
        self.got[which].extend(out.host);
        self.back[which].extend(out.back);
        for (_, ecn, bytes) in out.peer {
            let outward = which == 0;
            let mut datagram = Datagram {
                outward,
                ecn,
                bytes,
            };
            self.sent.push(datagram.clone());
            for later in (self.wan)(&mut datagram) {
                self.throw(datagram.clone(), later);
            }
        }
    }

    /// Lets a datagram arrive `later` than others that are sent now.
    pub fn throw(&mut self, datagram: Datagram, later: u64) {
        self.order += 1;
        self.cargo.push(datagram);
        let what = self.cargo.len() - 1;
        self.flying
            .push(Reverse((self.now + ONE_WAY + later, self.order, what)));
    }

    /// A packet of a host at the near site (0) or the far one (1).
    pub fn host(&mut self, which: usize, packet: &[u8]) {
        let mut out = Out::default();
        let now = Nanos(self.now);
        match &mut self.routers[which] {
            Some(router) => router.from_host(now, packet, &mut out),
            None => out.back.push(packet.to_vec()),
        }
        self.follow(which, out);
    }

    /// Everything that happens in so much time.
    pub fn run(&mut self, span: u64) {
        let until = self.now + span;
        loop {
            let wakes = [0, 1].map(|i| {
                self.routers[i]
                    .as_ref()
                    .map_or(u64::MAX, |r| r.next_wake().0)
            });
            let arrival = self.flying.peek().map_or(u64::MAX, |f| f.0.0);
            let next = wakes[0].min(wakes[1]).min(arrival);
            if next > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            let now = Nanos(self.now);
            let mut out = Out::default();
            let which;
            if arrival == next {
                let Some(Reverse((_, _, what))) = self.flying.pop() else {
                    return;
                };
                let mut datagram = self.cargo[what].clone();
                which = usize::from(datagram.outward);
                if let Some(router) = &mut self.routers[which] {
                    router.from_peer(now, datagram.ecn, &mut datagram.bytes, &mut out);
                }
            } else {
                which = usize::from(wakes[1] < wakes[0]);
                if let Some(router) = &mut self.routers[which] {
                    router.wake(now, &mut out);
                }
            }
            self.follow(which, out);
        }
    }

    /// Sends packets one after the other, `gap` nanoseconds apart, and runs on until all is quiet.
    pub fn stream(&mut self, which: usize, packets: impl IntoIterator<Item = Vec<u8>>, gap: u64) {
        for packet in packets {
            self.host(which, &packet);
            self.run(gap);
        }
        self.run(100 * MS);
    }

    /// Data datagrams that the near router has sent.
    pub fn data(&self) -> Vec<Datagram> {
        let all = self.sent.iter().filter(|d| d.outward && d.is_data());
        all.cloned().collect()
    }
}

/// A WAN that loses each `every`th datagram that `of` picks.
pub fn losing(every: u64, of: fn(&Datagram) -> bool) -> Wan {
    let mut count = 0;
    Box::new(move |d| {
        count += u64::from(of(d));
        if of(d) && count.is_multiple_of(every) {
            vec![]
        } else {
            vec![0]
        }
    })
}
