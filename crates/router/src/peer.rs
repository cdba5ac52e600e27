// SPDX-License-Identifier: MIT OR Apache-2.0
//! Knowledge of the other router: its epoch, whether it lives and hears this one, the round
//! trip, and how large a packet may be.

use cemark_wire::Nanos;

use crate::replay::Seen;
use crate::wire::{Hello, micros};

/// Sizes of hosts' packets that are tried, besides the largest that is configured.
const SIZES: [u16; 7] = [1_452, 1_420, 1_360, 1_280, 1_200, 1_000, 576];
/// Time over which a size that arrived counts.
const RECENT: Nanos = Nanos::from_millis(2_000);

/// The largest padded hello that arrived lately: in this stretch of [`RECENT`], and in the one
/// before.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    now: u16,
    before: u16,
    until: Nanos,
}

impl Sizes {
    fn turn(&mut self, now: Nanos) {
        if now >= self.until {
            let long_ago = now >= self.until + RECENT;
            self.before = if long_ago { 0 } else { self.now };
            self.now = 0;
            self.until = now + RECENT;
        }
    }
}

/// The peer since its last start.
#[derive(Debug)]
pub struct Peer {
    /// Epoch of the peer: it rises with each start.
    pub epoch: u64,
    /// Time at which the peer's last hello arrived.
    pub heard: Nanos,
    /// Whether the peer takes packets of this router's epoch.
    pub hears: bool,
    /// Serial number of the last hello. Hellos with lower ones are out of date.
    last: Option<u64>,
    /// Time in the last hello, which the next one to the peer echoes.
    echo: u32,
    /// Round trip between the routers, measured by the last hello.
    pub round_trip: Option<Nanos>,
    /// Largest packet of a host, in bytes, that arrives at the peer.
    pub path: u16,
    sizes: Sizes,
    /// Serial numbers of router ACKs that arrived.
    pub serials: Seen,
    /// Places that arrived, of each lane.
    pub places: Vec<Seen>,
}

impl Peer {
    /// A peer whose first hello has just arrived.
    pub fn new(now: Nanos, epoch: u64, lanes: u16) -> Peer {
        Peer {
            epoch,
            heard: now,
            hears: false,
            last: None,
            echo: 0,
            round_trip: None,
            path: 0,
            sizes: Sizes::default(),
            serials: Seen::default(),
            places: (0..lanes).map(|_| Seen::default()).collect(),
        }
    }

    /// Takes in a hello of its epoch, to a router of the epoch `own`. Returns whether it is news.
    pub fn hello(&mut self, now: Nanos, hello: &Hello, own: u64) -> bool {
        if self.last.is_some_and(|last| hello.serial <= last) {
            return false;
        }
        self.last = Some(hello.serial);
        self.heard = now;
        self.hears = hello.peer == own;
        self.echo = hello.sent;
        self.path = hello.arrived;
        self.sizes.turn(now);
        self.sizes.now = self.sizes.now.max(hello.size);
        if hello.echo != 0 {
            let age = micros(now).wrapping_sub(hello.echo);
            self.round_trip = Some(Nanos::from_micros(age.wrapping_sub(hello.held).into()));
        }
        true
    }

    /// Fills in what a hello says of this peer.
    pub fn describe(&mut self, now: Nanos, hello: &mut Hello) {
        self.sizes.turn(now);
        hello.peer = self.epoch;
        hello.echo = self.echo;
        hello.held = (now.saturating_sub(self.heard).0 / 1_000) as u32;
        hello.arrived = self.sizes.now.max(self.sizes.before);
    }
}

/// Sizes that hellos are padded to, so that the path shows what fits: all up to `most` while less
/// than that has arrived; then the largest, and one that fits nearly everywhere.
pub fn sizes(most: u16, arrived: u16) -> Vec<u16> {
    let smaller = SIZES.iter().copied().filter(|s| *s < most);
    let whole = arrived >= most;
    core::iter::once(most)
        .chain(smaller.filter(|s| !whole || *s == 1_280))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(serial: u64, size: u16) -> Hello {
        Hello {
            serial,
            size,
            ..Hello::default()
        }
    }

    fn arrived(peer: &mut Peer, now: Nanos) -> u16 {
        let mut said = Hello::default();
        peer.describe(now, &mut said);
        said.arrived
    }

    #[test]
    fn a_size_counts_for_two_to_four_seconds() {
        let at = |ms: u64| Nanos::from_millis(10_000 + ms);
        let mut peer = Peer::new(at(0), 1, 1);
        peer.hello(at(0), &hello(0, 1_436), 1);
        peer.hello(at(10), &hello(1, 1_280), 1);
        assert_eq!(arrived(&mut peer, at(20)), 1_436);
        peer.hello(at(2_100), &hello(2, 1_280), 1);
        assert_eq!(arrived(&mut peer, at(2_200)), 1_436);
        peer.hello(at(4_300), &hello(3, 0), 1);
        assert_eq!(arrived(&mut peer, at(4_300)), 1_280);
        assert_eq!(arrived(&mut peer, at(20_000)), 0);
    }

    #[test]
    fn the_round_trip_is_without_the_time_that_the_peer_held_the_hello() {
        let mut peer = Peer::new(Nanos(0), 1, 1);
        let back = Hello {
            echo: 1_000,
            held: 94_000,
            ..Hello::default()
        };
        peer.hello(Nanos::from_millis(101), &back, 1);
        assert_eq!(peer.round_trip, Some(Nanos::from_millis(6)));
    }

    #[test]
    fn smaller_sizes_are_tried_until_the_largest_arrives() {
        assert_eq!(
            sizes(1_436, 0),
            [1_436, 1_420, 1_360, 1_280, 1_200, 1_000, 576]
        );
        assert_eq!(sizes(1_436, 1_436), [1_436, 1_280]);
        assert_eq!(sizes(1_200, 1_200), [1_200]);
    }
}
