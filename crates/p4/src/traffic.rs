// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random packets of four queues for comparisons of the ECN# programs with their model: waits that
//! move around both targets, wraps of the 22-bit and of the 32-bit clock, silences of up to 9 s.

use cemark_marking::ecn_sharp_lab::{EcnSharpLab, SPEC};
use cemark_marking::{At, Marker, QueueSpec, Values, Verdict, Why};
use cemark_wire::{Nanos, Rate, hash::SplitMix64};

use crate::control::{Targets, queue_key};
use crate::ir::{Entry, Pattern};
use crate::testbed::{Came, Passage, Testbed};

/// The queues: ports and queue numbers. Of the third, the bits that make its index are 127 and 3.
pub const QUEUES: [(u16, u8); 4] = [(0, 0), (0, 7), (255, 11), (64, 0)];

/// A packet: which of the [`QUEUES`] it is in, how long it waited in nanoseconds, and the packet.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// Which of [`QUEUES`].
    pub queue: usize,
    /// Nanoseconds.
    pub waited: u64,
    /// The packet.
    pub passage: Passage,
}

/// Draws packets, without end.
#[derive(Debug)]
pub struct Traffic {
    random: SplitMix64,
    packet: u64,
    now: u64,
    waits: [u64; 4],
}

impl Traffic {
    /// Packets that depend on the seed only.
    pub fn new(seed: u64) -> Self {
        Traffic {
            random: SplitMix64::new(seed),
            packet: 0,
            now: 0,
            waits: [100_000; 4],
        }
    }

    /// Nanoseconds since the first packet.
    pub fn now(&self) -> u64 {
        self.now
    }
}

impl Iterator for Traffic {
    type Item = Drawn;

    fn next(&mut self) -> Option<Drawn> {
        let packet = self.packet;
        self.packet += 1;
        let random = &mut self.random;
        // To a millisecond before the end of the 32-bit clock: each of these steps is a wrap of the
        // lower bits, which every queue has to see.
        let leaps = packet < 4 * 1_024;
        // One queue stays persistent, and has several packets in a tick: the count of marks reaches
        // its end, and a gap of one tick differs from one of two.
        let steady = packet / 20_000 % 2 == 1;
        let queue = match leaps {
            true => packet % 4,
            false if steady && random.below(8) > 0 => 1,
            false => random.below(4),
        } as usize;
        self.now += match random.below(4_096) {
            _ if leaps => [4_294_966_272, 0, 0, 0][queue],
            _ if steady => random.below(400),
            0 if packet > 16_384 => random.below(9_000_000_000),
            1..40 if packet > 16_384 => random.below(300_000),
            n if n < 2_048 => random.below(400),
            _ => random.below(2_500),
        };
        let wait = &mut self.waits[queue];
        *wait = match random.below(1_024) {
            0 => random.below(300_000),
            1 => 85_000,
            2 => 84_999,
            3 => 200_000,
            4 => 200_001,
            5..8 => random.below(85_000),
            n => (*wait + n % 1_500).saturating_sub(720 - n % 3),
        };
        // Most of the time the queue is persistent.
        if *wait < 85_000 && random.below(64) == 0 {
            *wait = 90_000 + random.below(20_000);
        }
        if steady && queue == 1 {
            let begins = packet % 20_000 < 16;
            *wait = if begins { 1_000 } else { (*wait).max(86_000) };
        }
        let (waited, bits) = (*wait, random.next_u64());
        let joined = (waited / 2) as u32;
        let passage = Passage {
            queue: QUEUES[queue],
            ecn: (bits & 3) as u8,
            v6: bits & 28 == 0,
            vlan: bits & 96 == 0,
            other: bits & 896 == 0,
            // Bytes at 4 Gbit/s, more or fewer as the packet leaves.
            depths: (joined, joined ^ (bits >> 32 & 0xfff) as u32),
            ..Passage::new(self.now.wrapping_sub(waited), self.now)
        };
        Some(Drawn {
            queue,
            waited,
            passage,
        })
    }
}

/// The targets of the third of the [`QUEUES`] in nanoseconds, an entry of the table `targets`; the
/// others have the defaults.
pub const TARGETS: Targets = Targets {
    ins: 150_000,
    pst: 60_000,
};

/// ECN# in the arithmetic of a Tofino, one for each of the [`QUEUES`].
#[derive(Debug)]
pub struct Model([EcnSharpLab; 4]);

/// The third queue's key in the table `targets`.
pub fn third() -> Option<u16> {
    let (port, queue) = QUEUES[2];
    queue_key(port & 127, queue & 7)
}

/// Puts the [`TARGETS`] of the third queue into the table of a switch with `ecn_sharp.p4`.
///
/// # Panics
///
/// If it has another program.
pub fn set_targets(switch: &mut Testbed) {
    let program = switch.machine().program();
    let table = program.table("egress.ecn_sharp.targets");
    let action = |a: &crate::ir::Action| a.name == "egress.ecn_sharp.set_targets";
    let action = program.actions.iter().position(action);
    let key = third().expect("a queue of the switch");
    let entry = Entry {
        patterns: vec![Pattern::Mask(key.into(), u128::MAX)],
        action: action.expect("an action"),
        args: vec![TARGETS.ins.into(), TARGETS.pst.into()],
    };
    switch.machine().insert(table.expect("a table"), entry);
}

impl Model {
    /// The defaults with this `pst_interval` in nanoseconds.
    ///
    /// # Panics
    ///
    /// If the scheme does not allow it.
    pub fn new(interval: u64) -> Self {
        let values = Values::defaults(&SPEC)
            .with(&SPEC, "arithmetic", 1)
            .and_then(|v| v.with(&SPEC, "pst_interval", interval))
            .expect("parameters");
        let third = values
            .with(&SPEC, "ins_target", TARGETS.ins.into())
            .and_then(|v| v.with(&SPEC, "pst_target", TARGETS.pst.into()))
            .expect("parameters");
        let queue = QueueSpec::fifo(Rate::gbps(10));
        let of = |values: &Values| EcnSharpLab::from_config(values.into(), &queue);
        Model([of(&values), of(&values), of(&third), of(&values)])
    }

    /// The model's decision about a packet.
    ///
    /// # Panics
    ///
    /// On a verdict that ECN# does not give.
    pub fn judge(&mut self, packet: &Drawn) -> Came {
        let Passage {
            now, ecn, other, ..
        } = packet.passage;
        let at = At::departure(Nanos(now), Nanos(packet.waited), 100_000, 1_500);
        let why = match self.0[packet.queue].dequeue(&at) {
            Verdict::Pass => 0,
            Verdict::Mark(Why::Instant) => 1,
            Verdict::Mark(Why::Persistent) => 2,
            other => panic!("{other:?}"),
        };
        let marked = why > 0 && ecn > 0 && !other;
        Came {
            why,
            ecn: if marked { 3 } else { ecn },
        }
    }
}
