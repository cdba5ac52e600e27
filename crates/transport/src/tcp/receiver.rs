// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving end: what has arrived, when to acknowledge it, and how to echo CE.

use alloc::boxed::Box;

use cemark_wire::{Ecn, Flags, Nanos};

use crate::ranges::Ranges;
use crate::{Ack, Acks, Config, Segment};

/// No acknowledgement is delayed.
const NEVER: Nanos = Nanos::MAX;

/// Receives one stream. It never reneges: it keeps what a SACK block has reported.
#[derive(Debug)]
pub struct Receiver {
    /// Every byte before this offset has arrived.
    cum: u64,
    /// When the delayed acknowledgement leaves, or `NEVER`.
    deadline: Nanos,
    /// Timestamp to echo: that of the first segment covered by the next acknowledgement (RFC 7323
    /// section 4.3).
    ts_recent: u32,
    /// In-order segments that wait for an acknowledgement.
    pending: u32,
    /// CE packets received.
    ce_packets: u32,
    /// Acknowledgements carry ECE now: the last segment was marked (DCTCP), or CWR has not arrived
    /// since a mark (RFC 3168).
    echo: bool,
    /// Report every mark exactly (RFC 8257 section 3.2).
    exact: bool,
    /// Acknowledgements that still leave at once although ACKs are delayed.
    quick: u8,
    /// Segments beyond a hole. Allocated at the first hole and kept.
    beyond: Option<Box<Beyond>>,
}

#[derive(Debug, Default)]
struct Beyond {
    ranges: Ranges,
    /// An offset in each of the most recently changed ranges, latest first; 0, which is never
    /// beyond a hole, marks an empty place.
    recent: [u64; 3],
    /// The segment that this acknowledgement reports to have arrived twice; empty without one.
    twice: (u64, u64),
}

// The state of a proxy that DCIB's figure 10 counts is made of these bytes.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Receiver>() == 40);

impl Receiver {
    /// A receiver of a stream that begins at offset 0. It echoes CE as the controller in
    /// `cfg.control` needs it.
    pub fn new(cfg: &Config) -> Receiver {
        Receiver {
            cum: 0,
            deadline: NEVER,
            ts_recent: 0,
            pending: 0,
            ce_packets: 0,
            echo: false,
            exact: cfg.control.spec().exact_echo,
            quick: 0,
            beyond: None,
        }
    }

    /// Processes one segment, `seg.ecn` as it arrived, and returns the acknowledgements to send.
    #[inline]
    pub fn on_data(&mut self, cfg: &Config, now: Nanos, seg: &Segment) -> Acks {
        if seg.len == 0 {
            return self.on_handshake(seg);
        }
        let ce = seg.ecn == Ecn::Ce;
        self.ce_packets += u32::from(ce);
        let mut closed = None;
        let mut run_changed = false;
        if self.exact {
            if ce != self.echo {
                run_changed = true;
                // The segments that wait belong to the run that just ended, and are acknowledged
                // with that run's mark.
                if self.pending > 0 {
                    closed = Some(self.ack());
                }
                self.echo = ce;
            }
        } else {
            if seg.flags.has(Flags::CWR) {
                self.echo = false;
            }
            if ce && !self.echo {
                self.echo = true;
                self.quick = self.quick.max(cfg.stack.quick_acks_ce as u8);
            }
        }
        if seg.seq != self.cum || self.beyond.as_ref().is_some_and(|b| !b.ranges.is_empty()) {
            let ack = self.on_disorder(cfg, seg);
            return closed.map_or(Acks::One(ack), |c| Acks::Two(c, ack));
        }
        if self.pending == 0 {
            self.ts_recent = seg.ts;
        }
        self.cum += u64::from(seg.len);
        self.pending += 1;
        // The ACK of the first segment of a new run is not delayed either, as in Linux since 4.18:
        // a window of one segment would wait for the delay in every round trip.
        if self.pending >= cfg.ack_every
            || run_changed
            || seg.flags.has(Flags::PUSH)
            || self.quick > 0
            || self.hurries(cfg, seg)
        {
            let ack = self.ack();
            return closed.map_or(Acks::One(ack), |c| Acks::Two(c, ack));
        }
        if self.deadline == NEVER {
            self.deadline = now + cfg.ack_delay;
        }
        Acks::None
    }

    /// Whether the stack acknowledges this segment at once although ACKs are delayed.
    fn hurries(&self, cfg: &Config, seg: &Segment) -> bool {
        let start = u64::from(cfg.stack.quick_acks) * u64::from(cfg.mss);
        seg.seq < start || cfg.stack.ack_cwr && seg.flags.has(Flags::CWR)
    }

    /// Bytes delivered in order so far.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.cum
    }

    /// Bytes that have arrived so far, each counted once: those in order, and those beyond a hole.
    pub fn arrived(&self) -> u64 {
        self.cum + self.beyond.as_ref().map_or(0, |b| b.ranges.bytes())
    }

    /// Writes the SACK blocks of the acknowledgement just returned, `[start, end)`: a segment that
    /// arrived twice, then ranges, most recently changed first. Returns how many there are.
    pub fn sack_blocks(&self, out: &mut [(u64, u64); 3]) -> usize {
        let Some(beyond) = &self.beyond else { return 0 };
        let twice = Some(beyond.twice).filter(|block| block.0 < block.1);
        let known = beyond.recent.iter().filter(|&&at| at != 0);
        let ranges = known.filter_map(|&at| beyond.ranges.holding(at));
        let mut n = 0;
        for (slot, block) in out.iter_mut().zip(twice.into_iter().chain(ranges)) {
            *slot = block;
            n += 1;
        }
        n
    }

    /// When the delayed acknowledgement has to leave.
    #[inline]
    pub fn timeout(&self) -> Option<Nanos> {
        (self.deadline != NEVER).then_some(self.deadline)
    }

    /// Returns the delayed acknowledgement if its time has come.
    pub fn on_timeout(&mut self, now: Nanos) -> Acks {
        if now < self.deadline {
            return Acks::None;
        }
        Acks::One(self.ack())
    }

    /// Packets that arrived with CE.
    #[inline]
    pub fn ce_packets(&self) -> u32 {
        self.ce_packets
    }

    /// Acknowledges everything that arrived.
    #[inline]
    fn ack(&mut self) -> Ack {
        self.pending = 0;
        self.quick = self.quick.saturating_sub(1);
        self.deadline = NEVER;
        let flags = if self.echo {
            Flags::ACK.with(Flags::ECE)
        } else {
            Flags::ACK
        };
        Ack {
            cum: self.cum,
            flags,
            ts_echo: self.ts_recent,
            sacks: 0,
        }
    }

    #[cold]
    fn on_handshake(&mut self, seg: &Segment) -> Acks {
        if !seg.flags.has(Flags::SYN) {
            return Acks::None;
        }
        // A repeated SYN means that the SYN-ACK was lost. The stream is not changed.
        Acks::One(Ack {
            cum: 0,
            flags: Flags::ACK.with(Flags::SYN),
            ts_echo: seg.ts,
            sacks: 0,
        })
    }

    /// A segment beyond a hole, one that fills a hole, or a duplicate: all are acknowledged at once
    /// (RFC 5681 section 4.2).
    #[cold]
    fn on_disorder(&mut self, cfg: &Config, seg: &Segment) -> Ack {
        let end = seg.seq + u64::from(seg.len);
        if cfg.sack && cfg.stack.undo {
            self.note_duplicate(cfg, seg.seq, end);
        }
        if seg.seq <= self.cum && end > self.cum {
            if self.pending == 0 {
                self.ts_recent = seg.ts;
            }
            self.cum = end;
            if let Some(beyond) = &mut self.beyond {
                beyond.ranges.trim(self.cum);
                // The hole before the lowest range may just have closed.
                if let Some((_, reached)) = beyond.ranges.holding(self.cum) {
                    beyond.ranges.trim(reached);
                    self.cum = reached;
                }
                for at in &mut beyond.recent {
                    if *at < self.cum {
                        *at = 0;
                    }
                }
            }
        } else if seg.seq > self.cum {
            let beyond = self.beyond.get_or_insert_default();
            beyond.ranges.insert(seg.seq, end);
            let block = beyond.ranges.holding(seg.seq);
            // One entry per range: this one is first, and others in the same (perhaps merged) range
            // are removed.
            let mut recent = [seg.seq, 0, 0];
            let others = beyond
                .recent
                .iter()
                .filter(|&&at| at != 0 && beyond.ranges.holding(at) != block);
            for (slot, &at) in recent[1..].iter_mut().zip(others) {
                *slot = at;
            }
            beyond.recent = recent;
        }
        let mut ack = self.ack();
        if let (true, Some(b)) = (cfg.sack, &self.beyond) {
            let ranges = b.recent.iter().filter(|&&at| at != 0).count();
            ack.sacks = (ranges + usize::from(b.twice.0 < b.twice.1)).min(3) as u8;
        }
        ack
    }

    /// Remembers a segment for the next report if all of it had arrived before.
    fn note_duplicate(&mut self, cfg: &Config, seq: u64, end: u64) {
        let held = |b: &Beyond| b.ranges.holding(seq).is_some_and(|r| r.1 >= end);
        let twice = end <= self.cum || self.beyond.as_deref().is_some_and(held);
        if twice {
            self.quick = self.quick.max(cfg.stack.quick_acks.min(16) as u8);
        }
        if twice || self.beyond.is_some() {
            let beyond = self.beyond.get_or_insert_default();
            beyond.twice = if twice { (seq, end) } else { (0, 0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;

    fn config(control: Control, ack_every: u32) -> Config {
        Config {
            control,
            ack_every,
            mss: 1000,
            ..Config::default()
        }
    }

    fn data(n: u64, ecn: Ecn) -> Segment {
        Segment {
            seq: n * 1000,
            len: 1000,
            flags: Flags::EMPTY,
            ecn,
            ts: n as u32 + 100,
        }
    }

    fn ack(cum: u64, ts_echo: u32, echo: bool) -> Ack {
        let flags = if echo {
            Flags::ACK.with(Flags::ECE)
        } else {
            Flags::ACK
        };
        Ack {
            cum: cum * 1000,
            flags,
            ts_echo,
            sacks: 0,
        }
    }

    #[test]
    fn dctcp_answers_each_run_of_marks_with_its_own_echo() {
        let cfg = config(Control::DCTCP, 2);
        let mut r = Receiver::new(&cfg);
        let mut take = |n, ecn| r.on_data(&cfg, Nanos(n), &data(n, ecn));
        assert_eq!(take(0, Ecn::Ect0), Acks::None);
        assert_eq!(take(1, Ecn::Ect0), Acks::One(ack(2, 100, false)));
        assert_eq!(take(2, Ecn::Ect0), Acks::None);
        // The run changes while one segment waits: it is acknowledged unmarked, then the first
        // marked one at once.
        assert_eq!(
            take(3, Ecn::Ce),
            Acks::Two(ack(3, 102, false), ack(4, 103, true))
        );
        assert_eq!(take(4, Ecn::Ce), Acks::None);
        assert_eq!(take(5, Ecn::Ce), Acks::One(ack(6, 104, true)));
        // It changes while nothing waits: one acknowledgement.
        assert_eq!(take(6, Ecn::Ect0), Acks::One(ack(7, 106, false)));
        assert_eq!(r.ce_packets(), 3);
    }

    #[test]
    fn with_an_ack_per_packet_every_echo_is_its_packets_own_mark() {
        let cfg = config(Control::DCTCP, 1);
        let mut r = Receiver::new(&cfg);
        for (n, ce) in [false, true, true, false, true, false]
            .into_iter()
            .enumerate()
        {
            let ecn = if ce { Ecn::Ce } else { Ecn::Ect0 };
            let n = n as u64;
            assert_eq!(
                r.on_data(&cfg, Nanos(n), &data(n, ecn)),
                Acks::One(ack(n + 1, n as u32 + 100, ce))
            );
        }
    }

    #[test]
    fn classic_ecn_repeats_its_echo_until_cwr() {
        let cfg = config(Control::ECN_STAR, 1);
        let mut r = Receiver::new(&cfg);
        let mut echo = |n, ecn, flags| match r.on_data(
            &cfg,
            Nanos(n),
            &Segment {
                flags,
                ..data(n, ecn)
            },
        ) {
            Acks::One(a) => a.flags.has(Flags::ECE),
            other => panic!("{other:?}"),
        };
        assert!(!echo(0, Ecn::Ect0, Flags::EMPTY));
        assert!(echo(1, Ecn::Ce, Flags::EMPTY));
        assert!(echo(2, Ecn::Ect0, Flags::EMPTY));
        assert!(!echo(3, Ecn::Ect0, Flags::CWR));
        assert!(
            echo(4, Ecn::Ce, Flags::CWR),
            "a marked segment with CWR starts the next echo"
        );
    }

    #[test]
    fn a_delayed_ack_leaves_by_count_push_or_time() {
        let cfg = config(Control::DCTCP, 3);
        let mut r = Receiver::new(&cfg);
        assert_eq!(r.timeout(), None);
        assert_eq!(
            r.on_data(&cfg, Nanos(1_000), &data(0, Ecn::Ect0)),
            Acks::None
        );
        assert_eq!(
            r.on_data(&cfg, Nanos(2_000), &data(1, Ecn::Ect0)),
            Acks::None
        );
        let due = Nanos(1_000) + cfg.ack_delay;
        assert_eq!(
            r.timeout(),
            Some(due),
            "the first segment that waits starts the delay"
        );
        assert_eq!(r.on_timeout(Nanos(due.0 - 1)), Acks::None);
        assert_eq!(
            r.on_timeout(due),
            Acks::One(ack(2, 100, false)),
            "and its timestamp is echoed"
        );
        assert_eq!(r.timeout(), None);
        let last = Segment {
            flags: Flags::PUSH,
            ..data(2, Ecn::Ect0)
        };
        assert_eq!(r.on_data(&cfg, due, &last), Acks::One(ack(3, 102, false)));
    }

    #[test]
    fn a_segment_with_cwr_is_acknowledged_at_once_where_the_stack_does_so() {
        for (ack_cwr, expected) in [(false, Acks::None), (true, Acks::One(ack(1, 100, false)))] {
            let mut cfg = config(Control::DCTCP, 2);
            cfg.stack.ack_cwr = ack_cwr;
            let mut r = Receiver::new(&cfg);
            let first = Segment {
                flags: Flags::CWR,
                ..data(0, Ecn::Ect0)
            };
            assert_eq!(r.on_data(&cfg, Nanos(0), &first), expected);
        }
    }

    #[test]
    fn the_first_segments_of_a_connection_are_acknowledged_one_by_one() {
        let mut cfg = config(Control::DCTCP, 2);
        cfg.stack.quick_acks = 3;
        let mut r = Receiver::new(&cfg);
        let mut take = |n| r.on_data(&cfg, Nanos(n), &data(n, Ecn::Ect0));
        for n in 0..3 {
            assert_eq!(take(n), Acks::One(ack(n + 1, n as u32 + 100, false)));
        }
        assert_eq!(take(3), Acks::None);
        assert_eq!(take(4), Acks::One(ack(5, 103, false)));
    }

    #[test]
    fn the_first_mark_of_an_episode_of_classic_ecn_is_answered_at_once() {
        for (control, ce, quick) in [
            (Control::CUBIC_ECN, 2, [true, true, false, true, false]),
            (Control::CUBIC_ECN, 0, [false, true, false, true, false]),
        ] {
            let mut cfg = config(control, 2);
            cfg.stack.quick_acks_ce = ce;
            let mut r = Receiver::new(&cfg);
            let mut now = |n, ecn, flags| {
                let seg = Segment {
                    flags,
                    ..data(n, ecn)
                };
                r.on_data(&cfg, Nanos(n), &seg) != Acks::None
            };
            // A mark within the episode changes nothing.
            let marked = [Ecn::Ce, Ecn::Ect0, Ecn::Ce, Ecn::Ect0, Ecn::Ect0];
            for (n, (ecn, expected)) in marked.into_iter().zip(quick).enumerate() {
                assert_eq!(now(n as u64, ecn, Flags::EMPTY), expected, "{ce} {n}");
            }
            // CWR ends it, and the next mark begins another.
            assert!(now(5, Ecn::Ect0, Flags::CWR));
            assert_eq!(now(6, Ecn::Ce, Flags::EMPTY), ce > 0);
            assert!(now(7, Ecn::Ect0, Flags::EMPTY));
        }
    }

    #[test]
    fn a_segment_that_arrives_twice_is_the_first_block() {
        let mut cfg = config(Control::DCTCP, 1);
        cfg.stack.undo = true;
        let mut r = Receiver::new(&cfg);
        let mut blocks = |n: u64| {
            let (Acks::One(ack) | Acks::Two(_, ack)) =
                r.on_data(&cfg, Nanos(n), &data(n, Ecn::Ect0))
            else {
                panic!("no acknowledgement");
            };
            let mut out = [(0, 0); 3];
            let known = match ack.sacks {
                0 => 0,
                _ => r.sack_blocks(&mut out),
            };
            assert_eq!(known, usize::from(ack.sacks));
            out[..known].to_vec()
        };
        assert_eq!(blocks(0), []);
        assert_eq!(blocks(0), [(0, 1000)], "below the cumulative number");
        assert_eq!(blocks(2), [(2000, 3000)]);
        assert_eq!(blocks(4), [(4000, 5000), (2000, 3000)]);
        assert_eq!(blocks(6), [(6000, 7000), (4000, 5000), (2000, 3000)]);
        // A range beyond a hole is the one that holds it, and the oldest has no room.
        assert_eq!(blocks(4), [(4000, 5000), (4000, 5000), (6000, 7000)]);
        assert_eq!(blocks(1), [(4000, 5000), (6000, 7000)]);
        assert_eq!(blocks(3), [(6000, 7000)]);
        assert_eq!(blocks(5), []);
    }

    #[test]
    fn holes_are_acknowledged_at_once_with_the_latest_block_first() {
        let cfg = config(Control::DCTCP, 2);
        let mut r = Receiver::new(&cfg);
        let mut out = [(0, 0); 3];
        for (n, expected) in [
            (2, &[(2, 3)][..]),
            (4, &[(4, 5), (2, 3)]),
            (6, &[(6, 7), (4, 5), (2, 3)]),
            (8, &[(8, 9), (6, 7), (4, 5)]),
            (3, &[(2, 5), (8, 9), (6, 7)]),
            (7, &[(6, 9), (2, 5)]),
            (7, &[(6, 9), (2, 5)]),
        ] {
            let acks = r.on_data(&cfg, Nanos(n), &data(n, Ecn::Ect0));
            assert_eq!(
                acks,
                Acks::One(Ack {
                    sacks: expected.len() as u8,
                    ..ack(0, 0, false)
                })
            );
            let blocks: std::vec::Vec<_> = expected
                .iter()
                .map(|&(a, b)| (a * 1000, b * 1000))
                .collect();
            let n = r.sack_blocks(&mut out);
            assert_eq!(out[..n], blocks);
        }
        // Filling the first hole joins it to the range behind, and echoes the filler's timestamp.
        assert_eq!(
            r.on_data(&cfg, Nanos(9), &data(0, Ecn::Ect0)),
            Acks::One(Ack {
                sacks: 2,
                ..ack(1, 100, false)
            })
        );
        assert_eq!(
            r.on_data(&cfg, Nanos(9), &data(1, Ecn::Ect0)),
            Acks::One(Ack {
                sacks: 1,
                ..ack(5, 101, false)
            })
        );
        assert_eq!(
            r.on_data(&cfg, Nanos(9), &data(5, Ecn::Ect0)),
            Acks::One(ack(9, 105, false))
        );
        assert_eq!(r.delivered(), 9_000);
    }

    #[test]
    fn a_duplicate_segment_changes_nothing() {
        let cfg = config(Control::DCTCP, 1);
        let mut r = Receiver::new(&cfg);
        r.on_data(&cfg, Nanos(0), &data(0, Ecn::Ect0));
        r.on_data(&cfg, Nanos(0), &data(1, Ecn::Ect0));
        assert_eq!(
            r.on_data(&cfg, Nanos(1), &data(0, Ecn::Ect0)),
            Acks::One(ack(2, 101, false))
        );
        assert_eq!(r.delivered(), 2_000);
    }

    #[test]
    fn every_syn_is_answered() {
        let cfg = config(Control::DCTCP, 2);
        let mut r = Receiver::new(&cfg);
        let syn = Segment {
            seq: 0,
            len: 0,
            flags: Flags::SYN,
            ecn: Ecn::NotEct,
            ts: 7,
        };
        let answer = Acks::One(Ack {
            cum: 0,
            flags: Flags::ACK.with(Flags::SYN),
            ts_echo: 7,
            sacks: 0,
        });
        assert_eq!(r.on_data(&cfg, Nanos(0), &syn), answer);
        assert_eq!(r.on_data(&cfg, Nanos(1), &syn), answer);
    }
}
