// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN#: marks on instantaneous and on persistent congestion (Algorithm 1), with the variants that
//! papers and code have shown.

mod persistent;
pub mod tofino;

use cemark_wire::Nanos;

use crate::{
    At, FirstMark, Hook, Kind, Level, Marker, Ordered, ParamSpec, QueueId, QueueSpec, SchemeSpec,
    Values, Verdict, Why, fixed,
};
use persistent::Persistent;
use tofino::{Clock, Ticks};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "ins_target",
        kind: Kind::Time,
        default: 200_000,
        min: 0,
        max: MAX_TIME,
        doc: "Longest wait that the instantaneous part leaves unmarked (3.2; testbed 5.2: 200 us).",
    },
    ParamSpec {
        name: "pst_target",
        kind: Kind::Time,
        default: 85_000,
        min: 0,
        max: MAX_TIME,
        doc: "Wait from which on the queue counts as standing (3.3; testbed 5.2: 85 us).",
    },
    ParamSpec {
        name: "pst_interval",
        kind: Kind::Time,
        default: 200_000,
        min: 1,
        max: MAX_TIME,
        doc: "How long a queue must stand before the first mark, about a worst-case RTT (3.3; testbed 5.2: 200 us).",
    },
    ParamSpec {
        name: "law",
        kind: Kind::Choice(&["harmonic", "sqrt"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "Gap after the n-th mark: pst_interval / n (Algorithm 1) or / sqrt(n) (the authors' ns-3 code).",
    },
    ParamSpec {
        name: "base",
        kind: Kind::Choice(&["previous", "now"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "The gap runs from the previous schedule (Algorithm 1) or from the mark itself (the authors' ns-3 code).",
    },
    ParamSpec {
        name: "cmp",
        kind: Kind::Choice(&["strict", "at_least"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "A mark is due after its time (Algorithm 1) or from its time on (the authors' ns-3 code).",
    },
    ParamSpec {
        name: "reset_on_empty",
        kind: Kind::Flag,
        default: 0,
        min: 0,
        max: 1,
        doc: "An empty queue forgets that it stood and leaves the marking state, as in CoDel (paper: no).",
    },
    ParamSpec {
        name: "max_catchup",
        kind: Kind::Count,
        default: 0,
        min: 0,
        max: u16::MAX as u64,
        doc: "Most marks in a row that leave the schedule still behind the clock; the next one restarts it from now. 0: no limit (paper).",
    },
    ParamSpec {
        name: "signal",
        kind: Kind::Choice(&["sojourn", "length"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "What is compared: the wait, or the length that a packet sees against rate x target (3.5).",
    },
    ParamSpec {
        name: "instant",
        kind: Kind::Choice(&["step", "ramp"]),
        default: 0,
        min: 0,
        max: 1,
        doc: "The instantaneous part: a step at ins_target, or RED's ramp from kmin to kmax (3.5, for DCQCN).",
    },
    ParamSpec {
        name: "kmin",
        kind: Kind::Time,
        default: 5_000,
        min: 0,
        max: MAX_TIME,
        doc: "Foot of the ramp, as a time (times the rate where the signal is length).",
    },
    ParamSpec {
        name: "kmax",
        kind: Kind::Time,
        default: 200_000,
        min: 0,
        max: MAX_TIME,
        doc: "Head of the ramp, as a time; above it every packet is marked.",
    },
    ParamSpec {
        name: "pmax",
        kind: Kind::Fraction,
        default: 655,
        min: 0,
        max: fixed::ONE as u64,
        doc: "Probability at the head of the ramp (DCQCN: 1 %; the text of 3.5: 1).",
    },
    ParamSpec {
        name: "by_round",
        kind: Kind::Flag,
        default: 0,
        min: 0,
        max: 1,
        doc: "Scale by the queue's share of the round, as MQ-ECN: ins_target, and with the length signal pst_target too (not published).",
    },
    ParamSpec {
        name: "arithmetic",
        kind: Kind::Choice(&["exact", "tofino", "printed_clock", "printed_division"]),
        default: 0,
        min: 0,
        max: 3,
        doc: "Nanoseconds and exact quotients, or the Tofino's ticks and table (section 4), with Algorithm 2 or 3 corrected or as printed.",
    },
    ParamSpec {
        name: "hook",
        kind: Kind::Choice(&["enqueue", "dequeue"]),
        default: 1,
        min: 0,
        max: 1,
        doc: "Judge packets as they leave (the paper), or by the length that they find as they join (3.5: a switch without timestamps).",
    },
];

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "ecn_sharp",
    title: "ECN#",
    aliases: &["ecnsharp"],
    paper: "Zhang et al., Enabling ECN for Datacenter Networks with RTT Variations, CoNEXT 2019",
    doc: "Marks a packet that waited longer than ins_target, and one in a while when every wait of pst_interval was at least pst_target.",
    params: PARAMS,
    ordered: &[Ordered::pair(
        PARAMS,
        "kmin",
        "kmax",
        "kmin = \"5us\", kmax = \"200us\"",
    )],
    reads_round: |v| v.of(&SPEC, "by_round") == 1,
    first_mark: |v| {
        let time = |name| v.of(&SPEC, name);
        let lower = time("pst_target") <= time("ins_target");
        let param = if lower { "pst_target" } else { "ins_target" };
        Some(FirstMark {
            param,
            level: Level::Wait(Nanos(time(param))),
        })
    },
};

/// Longest time parameter: one second.
const MAX_TIME: u64 = 1_000_000_000;

/// ECN# at one queue.
#[derive(Clone, Copy, Debug)]
pub struct EcnSharp {
    params: Params,
    state: State,
}

/// Everything decided when the marker is built. Thresholds are in the unit of the signal:
/// nanoseconds or bytes.
#[derive(Clone, Copy, Debug)]
struct Params {
    ins_target: u32,
    pst_target: u32,
    /// Nanoseconds or ticks, as the arithmetic counts, whatever the signal.
    pst_interval: u32,
    kmin: u32,
    pmax: u32,
    /// Time of the queue's quantum on the link in nanoseconds, where rounds are looked at; zero
    /// elsewhere.
    quantum_time: u32,
    max_catchup: u16,
    arithmetic: Arithmetic,
    sqrt: bool,
    from_now: bool,
    at_least: bool,
    reset_on_empty: bool,
    by_length: bool,
    at_enqueue: bool,
    ramp: bool,
}

/// How times are kept and intervals divided. Waits and lengths are compared as they come, in all of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arithmetic {
    Exact,
    Tofino,
    PrintedClock,
    PrintedDivision,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Exact(Persistent<Nanos>),
    Tofino(Clock, Persistent<Ticks>),
}

impl State {
    fn new(arithmetic: Arithmetic) -> Self {
        match arithmetic {
            Arithmetic::Exact => State::Exact(Persistent::default()),
            _ => State::Tofino(Clock::default(), Persistent::default()),
        }
    }

    fn persistent_forgets(&mut self) {
        match self {
            State::Exact(persistent) => persistent.forget(),
            State::Tofino(_, persistent) => persistent.forget(),
        }
    }
}

impl EcnSharp {
    /// A marker with these parameters, in the order of [`SPEC`].
    pub fn new(params: &Values, queue: &QueueSpec) -> Self {
        let choice = |name| params.of(&SPEC, name) == 1;
        let by_length = choice("signal");
        // Lengths are 32-bit in `At`: a longer threshold is out of reach, and so is the largest
        // one.
        let level = |name| {
            let time = params.of(&SPEC, name);
            let level = if by_length {
                queue.rate.bytes_in(Nanos(time))
            } else {
                time
            };
            u32::try_from(level).unwrap_or(u32::MAX)
        };
        let ramp = choice("instant");
        let arithmetic = match params.of(&SPEC, "arithmetic") {
            0 => Arithmetic::Exact,
            1 => Arithmetic::Tofino,
            2 => Arithmetic::PrintedClock,
            _ => Arithmetic::PrintedDivision,
        };
        let interval = params.of_u32(&SPEC, "pst_interval").max(1);
        EcnSharp {
            params: Params {
                // The ramp's head is its step: above it every packet is marked.
                ins_target: level(if ramp { "kmax" } else { "ins_target" }),
                pst_target: level("pst_target"),
                pst_interval: match arithmetic {
                    Arithmetic::Exact => interval,
                    _ => Ticks::span(interval),
                },
                kmin: level("kmin"),
                pmax: params.of_u32(&SPEC, "pmax").min(fixed::ONE),
                quantum_time: if choice("by_round") && !queue.strict {
                    let time = queue.rate.nanos_for(u64::from(queue.quantum)).0;
                    u32::try_from(time).unwrap_or(u32::MAX)
                } else {
                    0
                },
                max_catchup: params.of(&SPEC, "max_catchup").min(u64::from(u16::MAX)) as u16,
                arithmetic,
                sqrt: choice("law"),
                from_now: choice("base"),
                at_least: choice("cmp"),
                reset_on_empty: choice("reset_on_empty"),
                by_length,
                at_enqueue: !choice("hook"),
                ramp,
            },
            state: State::new(arithmetic),
        }
    }

    /// The wait in nanoseconds, or a length in bytes: what an arriving packet finds, or what a
    /// departing one leaves and itself.
    #[inline]
    fn signal(&self, at: &At) -> u32 {
        if self.params.by_length {
            // The backlog seen at a departure contains the packet. What a packet finds as it joins,
            // and will wait for, does not.
            let own = if self.params.at_enqueue {
                0
            } else {
                at.pkt_bytes
            };
            at.queue_bytes.saturating_add(own)
        } else {
            u32::try_from(at.sojourn.0).unwrap_or(u32::MAX)
        }
    }

    /// The signal as it would be if the queue had the link to itself, for either condition: times
    /// round / quantum time, at least 1.
    ///
    /// Up for the first and down for the second, so that each compares exactly as with its
    /// threshold divided by that factor.
    #[inline]
    fn alone(&self, signal: u32, round: Nanos) -> (u32, u32) {
        let time = self.params.quantum_time;
        if time == 0 || round.0 <= u64::from(time) {
            return (signal, signal);
        }
        let round = u32::try_from(round.0).unwrap_or(u32::MAX);
        let product = u64::from(signal) * u64::from(round);
        let fit = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let up = fit(product.div_ceil(u64::from(time)));
        let standing = if self.params.by_length {
            fit(product / u64::from(time))
        } else {
            signal
        };
        (up, standing)
    }

    /// The first condition: congestion right now.
    #[inline]
    fn instantaneous(&self, signal: u32, packet_hash: u64) -> Option<Why> {
        let p = &self.params;
        if signal > p.ins_target {
            return Some(Why::Instant);
        }
        if p.ramp && signal > p.kmin {
            let probability = fixed::ramp(signal, p.kmin, p.ins_target, p.pmax);
            return fixed::chance(packet_hash, 0, probability).then_some(Why::Random);
        }
        None
    }

    /// The second condition: one mark in a while from a standing queue, faster the longer it
    /// stands.
    #[inline(always)]
    fn persistent(&mut self, signal: u32, now: Nanos) -> bool {
        let p = &self.params;
        match &mut self.state {
            State::Exact(persistent) => persistent.judge(signal, now, p),
            State::Tofino(clock, persistent) => {
                let now = if p.arithmetic == Arithmetic::PrintedClock {
                    clock.read_as_printed(now)
                } else {
                    clock.read(now)
                };
                persistent.judge(signal, now, p)
            }
        }
    }

    #[inline(always)]
    fn judge(&mut self, at: &At) -> Verdict {
        let (signal, standing) = self.alone(self.signal(at), at.round);
        // Always judged, so that the state moves on when both conditions hold.
        let persistent = self.persistent(standing, at.now);
        match self.instantaneous(signal, at.packet_hash) {
            Some(why) => Verdict::Mark(why),
            None if persistent => Verdict::Mark(Why::Persistent),
            None => Verdict::Pass,
        }
    }
}

impl Marker for EcnSharp {
    #[inline]
    fn hook(&self) -> Hook {
        if self.params.at_enqueue {
            Hook::Enqueue
        } else {
            Hook::Dequeue
        }
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.params.by_length && !self.params.at_enqueue
    }

    fn watches_empty(&self) -> bool {
        self.params.reset_on_empty
    }

    #[inline]
    fn quiet_sojourn(&self) -> Nanos {
        let p = &self.params;
        // A Tofino's clock has to see every packet, or it loses a wrap.
        let State::Exact(persistent) = &self.state else {
            return Nanos::ZERO;
        };
        let by_wait = !p.by_length && !p.at_enqueue && p.quantum_time == 0;
        if !by_wait || persistent.above || persistent.marking {
            return Nanos::ZERO;
        }
        let instantaneous = if p.ramp { p.kmin } else { p.ins_target };
        Nanos(u64::from(p.pst_target.min(instantaneous)))
    }

    fn draws(&self) -> bool {
        self.params.ramp
    }

    // Not inlined a second time: departures are the common case, and their code is the faster for
    // being the only one.
    #[inline(never)]
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    #[inline]
    fn emptied(&mut self, _: QueueId, _: Nanos) {
        if self.params.reset_on_empty {
            self.state.persistent_forgets();
        }
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        let new = EcnSharp::new(params, queue);
        // Times of one clock mean nothing on the other.
        let same_clock = matches!(
            (&self.state, &new.state),
            (State::Exact(_), State::Exact(_)) | (State::Tofino(..), State::Tofino(..))
        );
        if !same_clock {
            self.state = new.state;
        }
        self.params = new.params;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_wire::Rate;

    #[test]
    fn the_count_stands_at_its_largest_and_the_schedule_still_moves() {
        for law in [0, 1] {
            let values = Values::defaults(&SPEC).with(&SPEC, "law", law);
            let mut marker = EcnSharp::new(&values, &QueueSpec::fifo(Rate::gbps(10)));
            marker.state = State::Exact(Persistent {
                first_above: Nanos(0),
                next: Nanos(1_000_000),
                count: u32::MAX,
                behind: 0,
                above: true,
                marking: true,
            });
            let at = |now| At::fifo(Nanos(now), Nanos(100_000), 125_000, 1_500);
            let (last, step) = if law == 0 {
                (1_000_001, 1)
            } else {
                (1_000_003, 3)
            };
            assert_eq!(
                marker.dequeue(&at(1_000_001)),
                Verdict::Mark(Why::Persistent)
            );
            let State::Exact(state) = marker.state else {
                panic!("the default is exact")
            };
            assert_eq!(state.count, u32::MAX);
            // 200,000 / 2^32 would be 0 and is taken as 1; 200,000 / sqrt(2^32) = 3.05.
            assert_eq!(state.next, Nanos(1_000_000 + step));
            assert_eq!(marker.dequeue(&at(last)), Verdict::Pass);
            assert_eq!(
                marker.dequeue(&at(last + 1)),
                Verdict::Mark(Why::Persistent)
            );
        }
    }
}
