// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters and packets of an episode.

use cemark_marking::{At, Kind, ParamSpec, QueueSpec, SchemeSpec, Values};
use cemark_wire::{Ecn, Nanos, Rate};

use super::source::Source;

/// The pattern of an episode's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// A queue that grows and shrinks by a packet at a time, with the matching wait.
    Walk,
    /// A queue of constant length, with packets at a steady pace.
    Steady,
    /// Fields equal to a parameter, or one off.
    Edge,
    /// Unrelated random fields, extremes included.
    Wild,
}

/// Where episodes begin: at zero, at an ordinary time, shortly before 32-bit counters of
/// nanoseconds and of ticks wrap, and shortly before the largest time.
const STARTS: [u64; 8] = [
    0,
    1_000_000_000,
    (1 << 32) - 100_000,
    (1 << 42) - 1_000_000,
    (1 << 53) - 50_000,
    1 << 63,
    u64::MAX - 30_000_000,
    u64::MAX - 1_000,
];

const RATES: [u64; 8] = [
    1,
    1_000_000,
    1_000_000_000,
    10_000_000_000,
    25_000_000_000,
    100_000_000_000,
    800_000_000_000,
    u64::MAX,
];

/// An episode and its current packet.
#[derive(Clone, Debug)]
pub(super) struct Episode {
    pub(super) values: Values,
    pub(super) queue: QueueSpec,
    pub(super) packets: u64,
    pattern: Pattern,
    /// Values that decisions change at: the parameters, and times among them as bytes.
    edges: Vec<u64>,
    /// Time between two packets.
    gap: u64,
    /// Latest time that the markers have seen: time must not go back behind it.
    earliest: u64,
    at: At,
}

impl Episode {
    pub(super) fn draw(
        spec: &SchemeSpec,
        fixed: fn(&ParamSpec) -> bool,
        source: &mut Source,
    ) -> Self {
        let mut values = values(spec, source);
        for (slot, param) in values.0.iter_mut().zip(spec.params) {
            if fixed(param) {
                *slot = param.default;
            }
        }
        let queue = queue(source);
        let mut edges = vec![0, u64::from(u32::MAX)];
        for (i, param) in spec.params.iter().enumerate() {
            let value = values.get(i);
            edges.push(value);
            if param.kind == Kind::Time {
                edges.push(queue.rate.bytes_in(Nanos(value)));
                edges.push(value / source.pick(&[2, 3, 4, 7, 16]));
            }
        }
        let now = match source.below(3) {
            0 => source.pick(&STARTS),
            _ => source.below(1 << 40),
        };
        let gap = match source.below(3) {
            0 => source.magnitude(0, 1 << 20),
            1 => source.pick(&edges) / source.pick(&[1, 2, 10, 100]),
            _ => 1_200,
        };
        let level = source.pick(&edges);
        let mut at = At::departure(
            Nanos(now),
            Nanos(level),
            level.min(u64::from(u32::MAX)) as u32,
            1_500,
        );
        at.round = Nanos(source.magnitude(0, 1 << 24));
        Episode {
            values,
            queue,
            packets: 1 + source.magnitude(0, 8_192),
            pattern: source.pick(&[Pattern::Walk, Pattern::Steady, Pattern::Edge, Pattern::Wild]),
            edges,
            gap,
            earliest: now,
            at,
        }
    }

    /// Begins no earlier than `now`, when the last episode of the same marker ended.
    pub(super) fn continue_from(&mut self, now: u64) {
        self.at.now = self.at.now.max(Nanos(now));
        self.earliest = self.at.now.0.min(now);
    }

    pub(super) fn now(&self) -> u64 {
        self.at.now.0
    }

    /// Goes back to `due`, but not behind a time that the markers have seen.
    pub(super) fn back_to(&mut self, due: u64) {
        self.at.now = Nanos(due.max(self.earliest));
        self.earliest = self.at.now.0;
    }

    /// The packet as the marker sees it.
    pub(super) fn view(&self) -> At {
        self.at
    }

    /// The next packet.
    pub(super) fn step(&mut self, source: &mut Source) {
        self.earliest = self.at.now.0;
        self.at.packet_hash = source.next();
        match self.pattern {
            Pattern::Walk => self.walk(source),
            Pattern::Steady => self.pass(self.gap),
            Pattern::Edge => self.edge(source),
            Pattern::Wild => self.wild(source),
        }
        if source.one_in(256) {
            self.at.round = Nanos(self.length(source));
            self.at.limit_bytes = self.length(source) as u32;
        }
    }

    /// A packet far in the future, for copies.
    pub(super) fn leap(&mut self, source: &mut Source) {
        self.earliest = self.at.now.0;
        self.at.packet_hash = source.next();
        let gap = self.length(source) / source.pick(&[1, 1, 2, 10]);
        self.pass(gap);
        if source.one_in(2) {
            self.at.sojourn = Nanos(self.length(source));
            self.lengths(source);
        }
    }

    #[inline]
    fn pass(&mut self, gap: u64) {
        self.at.now = self.at.now.saturating_add(Nanos(gap));
    }

    #[inline]
    fn walk(&mut self, source: &mut Source) {
        let bytes = source.pick(&[64, 1_500, 1_500, 1_500, 9_000]);
        let queue = if source.one_in(2) {
            self.at.queue_bytes.saturating_add(bytes)
        } else {
            self.at.queue_bytes.saturating_sub(bytes)
        };
        self.at.pkt_bytes = bytes;
        self.at.queue_bytes = queue;
        self.at.queue_pkts = queue / 1_500;
        self.at.port_bytes = queue.saturating_add(bytes);
        self.at.pool_bytes = queue.saturating_add(2 * bytes);
        // A 10 Gb/s link, whatever rate the marker was configured for: 0.8 ns per byte.
        self.at.sojourn = Nanos(u64::from(queue) * 4 / 5);
        self.pass(u64::from(bytes));
    }

    #[inline]
    fn edge(&mut self, source: &mut Source) {
        let near = self.length(source);
        match source.below(4) {
            0 => self.at.sojourn = Nanos(near),
            1 => self.at.queue_bytes = near.min(u64::from(u32::MAX)) as u32,
            2 => self.lengths(source),
            _ => {}
        }
        let gap = match source.below(8) {
            0 => self.length(source),
            1 => 0,
            2 => 1,
            _ => self.gap,
        };
        self.pass(gap);
    }

    #[inline]
    fn wild(&mut self, source: &mut Source) {
        let noise = source.next();
        self.at.sojourn = Nanos(source.magnitude(0, u64::MAX));
        self.at.round = Nanos(source.magnitude(0, u64::MAX));
        self.at.segs = (noise >> 8) as u16;
        self.at.ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][noise as usize & 3];
        self.lengths(source);
        let bits = source.pick(&[8, 20, 30, 40, 62]);
        let gap = source.magnitude(0, 1 << bits);
        self.pass(gap);
    }

    /// Draws every length again.
    fn lengths(&mut self, source: &mut Source) {
        let mut one = || source.magnitude(0, u64::from(u32::MAX)) as u32;
        self.at.queue_bytes = one();
        self.at.port_bytes = one();
        self.at.pool_bytes = one();
        self.at.pkt_bytes = one();
        self.at.queue_pkts = one();
        self.at.limit_bytes = one();
    }

    /// A value of `edges`, or one more or less.
    #[inline]
    fn length(&self, source: &mut Source) -> u64 {
        let edge = self.edges[source.below(self.edges.len() as u64) as usize];
        match source.below(4) {
            0 => edge.saturating_add(1),
            1 => edge.saturating_sub(1),
            _ => edge,
        }
    }
}

/// Parameters: defaults, near the defaults, at the ends of their ranges, or anywhere in them.
fn values(spec: &SchemeSpec, source: &mut Source) -> Values {
    let mut values = Values::defaults(spec);
    let mode = source.below(4);
    for (i, param) in spec.params.iter().enumerate() {
        let worded = matches!(param.kind, Kind::Flag | Kind::Choice(_));
        values.0[i] = match mode {
            // Defaults for numbers, random choices and flags.
            0 if worded => any(param, source),
            0 => param.default,
            1 => around(param, source),
            2 if source.one_in(2) => source.pick(&[param.min, param.max]),
            _ => any(param, source),
        };
    }
    values
}

fn any(param: &ParamSpec, source: &mut Source) -> u64 {
    match param.kind {
        Kind::Flag | Kind::Choice(_) => param.min + source.below(param.max - param.min + 1),
        _ => source.magnitude(param.min, param.max),
    }
}

/// Within a factor of two of the default.
fn around(param: &ParamSpec, source: &mut Source) -> u64 {
    match param.kind {
        Kind::Flag | Kind::Choice(_) => any(param, source),
        _ => (param.default / 2 + source.below(2 * param.default + 2)).clamp(param.min, param.max),
    }
}

fn queue(source: &mut Source) -> QueueSpec {
    let rate = if source.one_in(2) {
        10_000_000_000
    } else if source.one_in(2) {
        source.pick(&RATES)
    } else {
        1 + source.below(400_000_000_000)
    };
    let mut one = |usual: u32| match source.below(4) {
        0 => source.magnitude(0, u64::from(u32::MAX)) as u32,
        _ => usual,
    };
    QueueSpec {
        quantum: one(1_500),
        weight: one(1),
        weight_sum: one(8),
        mtu: one(1_500),
        limit_bytes: one(1_000_000),
        strict: one(0) & 1 == 1,
        rate: Rate(rate),
    }
}
