// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole program in the running kernel, packet by packet, against a FIFO in Rust with the
//! scheme in Rust. Times and lengths are arguments. It needs root; without, it says so.
#![cfg(target_os = "linux")]

use cemark_marking::{At, Hook, Marker, QueueId, Values, Verdict, catalogue};
use cemark_tcbpf::{Counts, Error, Judged, NotEct, Settings, Trial, fits};
use cemark_wire::hash::mix;
use cemark_wire::{Ecn, Nanos, Rate};

/// Packets for each scheme.
const PACKETS: u64 = 20_000;
const SEED: u64 = 42;

/// The queue of `dataplane/tc/virtual_queue.h`, with a marker in Rust.
struct Fifo {
    settings: Settings,
    marker: Box<dyn Marker>,
    busy: u64,
    part: u64,
    left: Option<u64>,
    seen: u64,
    number: u64,
    counts: Counts,
}

impl Fifo {
    fn new(settings: Settings) -> Fifo {
        let queue = settings.queue();
        Fifo {
            settings,
            marker: Box::new(catalogue::build(settings.scheme, &settings.values, &queue)),
            busy: 0,
            part: 0,
            left: None,
            seen: 0,
            number: 0,
            counts: Counts::default(),
        }
    }

    fn retune(&mut self, settings: Settings) {
        self.settings = settings;
        self.marker.retune(&settings.values, &settings.queue());
    }

    fn packet(&mut self, now: u64, bytes: u32, ecn: Ecn) -> Judged {
        let now = now.max(self.seen);
        self.seen = now;
        let start = self.busy.max(now);
        let wait = start - now;
        if let Some(left) = self.left.filter(|left| *left <= now) {
            self.left = None;
            if self.marker.watches_empty() {
                self.marker.emptied(QueueId(0), Nanos(left));
            }
        }
        let rate = self.settings.rate.0;
        let found = u128::from(wait) * u128::from(rate / 8_000) / 1_000_000;
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        let mut at = At::arrival(Nanos(now), found, bytes);
        at.ecn = ecn;
        at.packet_hash = mix(SEED.wrapping_add(self.number));
        self.number += 1;
        let verdict = match self.marker.hook() {
            Hook::Enqueue => self.marker.enqueue(&at),
            _ => {
                (at.now, at.sojourn) = (Nanos(start), Nanos(wait));
                self.marker.dequeue(&at)
            }
        };
        let mut out = ecn;
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark(why) if ecn != Ecn::NotEct => {
                self.counts.marks[why as usize] += 1;
                out = Ecn::Ce;
            }
            Verdict::Mark(_) if self.settings.not_ect == NotEct::Forward => self.counts.spared += 1,
            Verdict::Mark(_) | Verdict::Drop(_) => {
                self.counts.dropped += 1;
                return Judged::Dropped;
            }
        }
        self.counts.packets += 1;
        self.counts.bytes += u64::from(bytes);
        self.counts.waited += wait;
        self.counts.longest = self.counts.longest.max(wait);
        if wait > self.settings.limit.0 {
            self.counts.full += 1;
        } else {
            let rest = if self.busy == start { self.part } else { 0 };
            let work = u128::from(bytes) * 8_000_000_000 + u128::from(rest);
            self.busy = start + (work / u128::from(rate)) as u64;
            self.part = (work % u128::from(rate)) as u64;
            self.left = Some(start);
        }
        Judged::Sent(out as u8)
    }
}

/// Random numbers for a test.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0) % n
    }
}

/// Compares one scheme; `false` where the test is not permitted.
fn one(mut settings: Settings, packets: u64) -> bool {
    let name = settings.scheme.name;
    let mut trial = match Trial::of_packets(&settings, SEED) {
        Ok(trial) => trial,
        Err(e @ (Error::NotPermitted { .. } | Error::Lacks { .. })) => {
            eprintln!("left out: {e}");
            return false;
        }
        Err(e) => panic!("{name}: {e}"),
    };
    let (mut fifo, mut draw) = (Fifo::new(settings), Draw(7));
    let (mut now, mut generation) = (1_000, 1);
    for n in 0..packets {
        // Bursts, pauses, and now and then a clock that lies behind.
        now += match draw.below(40) {
            0 => draw.below(3_000_000),
            1..10 => 0,
            _ => draw.below(100_000),
        };
        let seen = if draw.below(50) == 0 {
            now - draw.below(1_000)
        } else {
            now
        };
        let bytes = if draw.below(20) == 0 {
            60_000
        } else {
            64 + draw.below(1_451) as u32
        };
        let ecn = [Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct, Ecn::Ce][draw.below(5) as usize];
        let came = trial
            .packet(seen, bytes, ecn as u8)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(came, fifo.packet(seen, bytes, ecn), "{name}: packet {n}");
        if n % 5_000 == 4_999 {
            generation += 1;
            settings.rate = Rate(150_000_000 + 7 * n);
            settings.limit = Nanos(2_000_000);
            settings.not_ect = NotEct::Drop;
            let set = trial.set(&settings, SEED, generation);
            set.unwrap_or_else(|e| panic!("{name}: {e}"));
            fifo.retune(settings);
        }
    }
    let counts = trial.counts().unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(counts, fifo.counts, "{name}");
    let marks: u64 = counts.marks.iter().sum();
    assert!(
        marks > packets / 50 && marks < packets && counts.full > 0 && counts.dropped > 0,
        "{name}: too little happens: {counts:?}"
    );
    true
}

/// Parameters with which a scheme marks some of these packets.
fn settings(spec: &'static cemark_marking::SchemeSpec) -> Settings {
    let mut values = Values::defaults(spec);
    for (value, p) in values.0.iter_mut().zip(spec.params) {
        if p.kind == cemark_marking::Kind::Bytes && *value > 20_000 {
            *value /= if spec.name == "wred" { 20 } else { 5 };
        }
    }
    Settings {
        scheme: spec,
        values,
        rate: Rate(200_000_000),
        limit: Nanos(5_000_000),
        not_ect: NotEct::Forward,
    }
}

#[test]
fn the_program_decides_as_a_fifo_does() {
    let mut compared = 0;
    for spec in catalogue::deployed() {
        let settings = settings(spec);
        if fits(spec, &settings.values, &settings.queue()).is_err() {
            continue;
        }
        if !one(settings, PACKETS) {
            return;
        }
        compared += 1;
    }
    assert_eq!(compared, 6, "threshold, RED, TCN, CoDel, ECN#, WRED");
}

/// The reset of CoDel at an empty queue follows from the arrivals.
#[test]
fn an_empty_queue_is_noticed() {
    let spec = &cemark_marking::codel::SPEC;
    let mut settings = settings(spec);
    settings.values = settings
        .values
        .with(spec, "min_bytes", 0)
        .expect("a parameter of CoDel");
    one(settings, PACKETS);
}
