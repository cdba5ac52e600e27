// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long generated traces, stored as a seed and a digest. The oracles replay the same traces and
//! must give the same digests.

use std::collections::VecDeque;

use cemark_marking::{At, Hook, Marker, QueueId, Verdict, Why};
use cemark_wire::{
    Ecn, Nanos, Rate,
    hash::{Fnv1a, GOLDEN},
};

use crate::Outcome;
use crate::file::Trace;

/// Replays a trace on a marker that is built for its parameters. `Err` is a mistake in the file. A
/// wrong digest is an outcome.
pub(crate) fn trace(trace: &Trace, marker: Box<dyn Marker>) -> Result<Outcome, String> {
    if trace.packets < 10_000 {
        return Err("a trace has 10,000 packets or more".to_owned());
    }
    let (digest, marks) = run(trace, marker);
    let digest = format!("{digest:016x}");
    let same = digest == trace.digest && marks == trace.marks && marks > 0;
    let differs = (!same).then(|| {
        format!(
            "wants marks = {}, digest = \"{}\"; came marks = {marks}, digest = \"{digest}\"",
            trace.marks, trace.digest
        )
    });
    Ok(Outcome {
        packets: trace.packets,
        differs,
    })
}

/// xorshift64* (Marsaglia, Vigna): the upper 32 bits, as `vectors/README.md` defines it.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(GOLDEN) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

struct Waiting {
    since: u64,
    bytes: u32,
    salt: u64,
    ecn: Ecn,
    intent: Option<Why>,
}

/// A FIFO with room for 400,000 bytes. The bytes in the other queues of its port are random.
struct Port {
    marker: Box<dyn Marker>,
    rate: Rate,
    queue: VecDeque<Waiting>,
    bytes: u32,
    free: u64,
    round: u64,
    limit: u32,
    other: u32,
    digest: Fnv1a,
    marks: u64,
}

const ROOM: u32 = 400_000;

impl Port {
    fn view(
        &self,
        now: u64,
        sojourn: u64,
        bytes: u32,
        salt: u64,
        ecn: Ecn,
        intent: Option<Why>,
    ) -> At {
        At {
            packet_hash: salt,
            ecn,
            intent,
            round: Nanos(self.round),
            port_bytes: self.bytes + self.other,
            pool_bytes: self.bytes + 2 * self.other,
            limit_bytes: self.limit,
            ..At::departure(Nanos(now), Nanos(sojourn), self.bytes, bytes)
        }
    }

    /// Adds an event to the digest: its time and its code.
    fn note(&mut self, now: u64, code: u8) {
        self.digest.write(&now.to_le_bytes());
        self.digest.write(&[code]);
    }

    fn judged(&mut self, now: u64, at_dequeue: bool, verdict: Verdict) {
        let code = match verdict {
            Verdict::Pass => 0,
            Verdict::Mark(Why::Instant) => 1,
            Verdict::Mark(Why::Persistent) => 2,
            Verdict::Mark(Why::Random) => 3,
            Verdict::Mark(Why::Average) => 4,
            Verdict::Mark(Why::Tentative) => 5,
            Verdict::Drop(_) => 6,
        };
        self.marks += u64::from(code > 0);
        self.note(now, code + if at_dequeue { 16 } else { 0 });
    }

    fn clocks(&mut self, until: u64) {
        while let Some(due) = self.marker.next_wake().filter(|due| due.0 <= until) {
            let at = self.view(due.0, 0, 0, 0, Ecn::Ect0, None);
            self.marker.wake(&at);
            self.note(due.0, 32);
        }
    }

    /// Runs everything up to and including `now`: departures and timers. A timer runs before other
    /// events of its time.
    fn until(&mut self, now: u64) {
        while let Some(head) = self.queue.front() {
            let begins = self.free.max(head.since);
            if begins > now {
                break;
            }
            self.clocks(begins);
            let head = self.queue.pop_front().expect("asked");
            self.bytes -= head.bytes;
            self.free = begins + self.rate.nanos_for(u64::from(head.bytes)).0;
            if matches!(self.marker.hook(), Hook::Dequeue | Hook::Both) {
                let wait = begins - head.since;
                let at = self.view(begins, wait, head.bytes, head.salt, head.ecn, head.intent);
                let verdict = self.marker.dequeue(&at);
                self.judged(begins, true, verdict);
            }
            if self.queue.is_empty() {
                self.marker.emptied(QueueId(0), Nanos(begins));
            }
        }
        self.clocks(now);
    }

    fn arrives(&mut self, now: u64, bytes: u32, salt: u64, ecn: Ecn) {
        if self.bytes + bytes > ROOM {
            return;
        }
        let mut intent = None;
        if matches!(self.marker.hook(), Hook::Enqueue | Hook::Both) {
            let at = self.view(now, 0, bytes, salt, ecn, None);
            let verdict = self.marker.enqueue(&at);
            self.judged(now, false, verdict);
            match verdict {
                Verdict::Pass => {}
                Verdict::Mark(why) => intent = Some(why),
                Verdict::Drop(_) => return,
            }
        }
        self.bytes += bytes;
        self.queue.push_back(Waiting {
            since: now,
            bytes,
            salt,
            ecn,
            intent,
        });
    }
}

/// Runs a trace: phases of 256 packets that overload the link, match its rate or leave it idle.
fn run(trace: &Trace, marker: Box<dyn Marker>) -> (u64, u64) {
    let mut dice = Dice::new(trace.seed);
    let mut port = Port {
        marker,
        rate: Rate(trace.rate_bps),
        queue: VecDeque::new(),
        bytes: 0,
        free: 0,
        round: 0,
        limit: ROOM,
        other: 0,
        digest: Fnv1a::new(),
        marks: 0,
    };
    let (mut now, mut mean) = (trace.start, 0);
    for n in 0..trace.packets {
        if n % 256 == 0 {
            mean = [300, 900, 1_100, 4_000][dice.below(4) as usize];
        }
        now += 1 + dice.below(2 * mean);
        port.until(now);
        if dice.below(16) == 0 {
            let round = dice.below(40_000);
            port.round = if round < 4_000 { 0 } else { round };
        }
        if dice.below(16) == 0 {
            port.limit = 50_000 + dice.below(400_000) as u32;
        }
        if dice.below(16) == 0 {
            let other = dice.below(200_000) as u32;
            port.other = other.saturating_sub(100_000);
        }
        let bytes = match dice.below(4) {
            0 => 64 + dice.below(1_400) as u32,
            _ => 1_500,
        };
        let ecn = match dice.below(16) {
            0 => Ecn::NotEct,
            1 => Ecn::Ce,
            2 => Ecn::Ect1,
            _ => Ecn::Ect0,
        };
        let salt = dice.next() << 32 | dice.next();
        port.arrives(now, bytes, salt, ecn);
    }
    port.until(now + 10_000_000);
    (port.digest.finish(), port.marks)
}
