// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving end: what has arrived, what to answer, and which echo of CE the answer carries.

use alloc::boxed::Box;

use cemark_wire::{Ecn, Flags, Nanos};

use crate::ranges::Ranges;
use crate::{Ack, Acks, Config, Control, Segment};

/// No delayed acknowledgement is running.
const NEVER: Nanos = Nanos::MAX;

/// Receives one stream. It never reneges: what a SACK block told stays held.
#[derive(Debug)]
pub struct Receiver {
    /// Every byte before this offset has arrived.
    cum: u64,
    /// When the withheld acknowledgement goes out, or `NEVER`.
    deadline: Nanos,
    /// Timestamp to echo: of the first segment that the next acknowledgement answers (RFC 7323 section 4.3).
    ts_recent: u32,
    /// In-order segments that wait for an acknowledgement.
    pending: u32,
    /// CE packets seen.
    ce_packets: u32,
    /// The echo that acknowledgements carry now: the current run's mark (DCTCP), or the latch that CWR opens (RFC 3168).
    echo: bool,
    /// Echo exactly, run by run, as DCTCP needs it.
    exact: bool,
    /// Tell SACK blocks.
    sack: bool,
    /// Segments beyond a hole. Allocated at the first one and kept.
    beyond: Option<Box<Beyond>>,
}

#[derive(Debug, Default)]
struct Beyond {
    ranges: Ranges,
    /// An offset in each of the most recently changed ranges, latest first; 0 (never beyond a hole) where there is none.
    recent: [u64; 3],
}

impl Receiver {
    /// A receiver of a stream that begins at offset 0. How it echoes CE follows `cfg.control`.
    pub fn new(cfg: &Config) -> Receiver {
        Receiver {
            cum: 0,
            deadline: NEVER,
            ts_recent: 0,
            pending: 0,
            ce_packets: 0,
            echo: false,
            exact: matches!(cfg.control, Control::Dctcp { .. }),
            sack: cfg.sack,
            beyond: None,
        }
    }

    /// Takes one segment, `seg.ecn` as it arrived, and says what to answer.
    #[inline]
    pub fn on_data(&mut self, cfg: &Config, now: Nanos, seg: &Segment) -> Acks {
        if seg.flags.has(Flags::SYN) {
            return self.on_syn(seg);
        }
        let ce = seg.ecn == Ecn::Ce;
        self.ce_packets += u32::from(ce);
        let mut closed = None;
        let mut run_changed = false;
        if self.exact {
            if ce != self.echo {
                run_changed = true;
                // What waits belongs to the run that just ended, and is answered with that run's mark.
                if self.pending > 0 {
                    closed = Some(self.ack());
                }
                self.echo = ce;
            }
        } else {
            if seg.flags.has(Flags::CWR) {
                self.echo = false;
            }
            self.echo |= ce;
        }
        if seg.seq != self.cum || self.beyond.as_ref().is_some_and(|b| !b.ranges.is_empty()) {
            let ack = self.on_disorder(seg);
            return closed.map_or(Acks::One(ack), |c| Acks::Two(c, ack));
        }
        if self.pending == 0 {
            self.ts_recent = seg.ts;
        }
        self.cum += u64::from(seg.len);
        self.pending += 1;
        // The first segment of a new run is not withheld either: Linux since 4.18, since waiting for it starved windows of one.
        if self.pending >= cfg.ack_every || run_changed || seg.flags.has(Flags::PUSH) {
            let ack = self.ack();
            return closed.map_or(Acks::One(ack), |c| Acks::Two(c, ack));
        }
        if self.deadline == NEVER {
            self.deadline = now + cfg.ack_delay;
        }
        Acks::None
    }

    /// Bytes delivered in order so far.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.cum
    }

    /// The SACK blocks of the acknowledgement just returned, `[start, end)`, most recently changed first; says how many.
    pub fn sack_blocks(&self, out: &mut [(u64, u64); 3]) -> usize {
        let Some(beyond) = &self.beyond else { return 0 };
        let mut n = 0;
        for block in beyond
            .recent
            .iter()
            .filter(|&&at| at != 0)
            .filter_map(|&at| beyond.ranges.holding(at))
        {
            out[n] = block;
            n += 1;
        }
        n
    }

    /// When the withheld acknowledgement has to go out.
    #[inline]
    pub fn timeout(&self) -> Option<Nanos> {
        (self.deadline != NEVER).then_some(self.deadline)
    }

    /// Sends the withheld acknowledgement if its time has come; nothing otherwise.
    pub fn on_timeout(&mut self, _cfg: &Config, now: Nanos) -> Acks {
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
    fn on_syn(&mut self, seg: &Segment) -> Acks {
        // A SYN that comes again asks for the lost answer; the stream behind it is not touched.
        Acks::One(Ack {
            cum: 0,
            flags: Flags::ACK.with(Flags::SYN),
            ts_echo: seg.ts,
            sacks: 0,
        })
    }

    /// A segment beyond a hole, one that fills a hole, or one that came before: all are answered at once (RFC 5681 section 4.2).
    #[cold]
    fn on_disorder(&mut self, seg: &Segment) -> Ack {
        let end = seg.seq + u64::from(seg.len);
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
            // One entry a range: this one comes first, others of the same (perhaps merged) range go.
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
        if let (true, Some(b)) = (self.sack, &self.beyond) {
            ack.sacks = b.recent.iter().filter(|&&at| at != 0).count() as u8;
        }
        ack
    }
}
