// SPDX-License-Identifier: MIT OR Apache-2.0
//! Artificial faults of links: losses that are not caused by queues, and routers that bleach the
//! ECN field.
//!
//! A packet is lost after it has crossed the link. Each link draws from its own random stream,
//! derived from the seed and the link's number, so that runs are repeatable and a fault on one link
//! does not change another's draws.

use cemark_wire::{Ecn, Packet};

use crate::faults::{LinkFault, Loss, MOST_DUE, Victims};
use crate::workload::random::Stream;

/// A link's fault while it runs.
#[derive(Clone, Debug)]
pub(crate) struct Faulty {
    fault: LinkFault,
    stream: Stream,
    bad: bool,
    /// Bytes that are due to be lost from Not-ECT packets, less bytes that were lost in excess.
    due: i64,
    /// Bytes of a full packet.
    full: u16,
    /// Packets lost.
    pub lost: u32,
    /// ECN fields cleared.
    pub bleached: u64,
}

impl Faulty {
    /// `full`: bytes of a full packet on the wire.
    pub fn new(fault: LinkFault, full: u16, seed: u64) -> Self {
        Faulty {
            fault,
            stream: Stream::new(seed, "fault", u64::from(fault.link)),
            bad: false,
            due: 0,
            full,
            lost: 0,
            bleached: 0,
        }
    }

    /// Counts what the same link's fault did in another shard.
    pub fn absorb(&mut self, other: &Faulty) {
        self.lost += other.lost;
        self.bleached += other.bleached;
    }

    fn chance(&mut self, parts: u64) -> bool {
        self.stream.bits() >> 32 < parts
    }

    fn is_due(&mut self) -> bool {
        match self.fault.loss {
            Loss::Uniform { chance } => self.chance(chance),
            Loss::Bursty {
                enter,
                leave,
                good,
                bad,
            } => {
                self.bad = if self.bad {
                    !self.chance(leave)
                } else {
                    self.chance(enter)
                };
                let parts = if self.bad { bad } else { good };
                self.chance(parts)
            }
        }
    }

    /// Whether the packet that crossed the link is lost; a packet that passes may be bleached.
    pub fn takes(&mut self, packet: &mut Packet) -> bool {
        let capable = packet.ecn().is_capable();
        let lost = match self.fault.victims {
            Victims::Any => self.is_due(),
            Victims::NotEct => !capable && self.is_due(),
            Victims::PreferNotEct => {
                let bytes = packet.wire_bytes();
                self.due += i64::from(bytes) * i64::from(self.is_due());
                let most = MOST_DUE * i64::from(bytes.max(self.full));
                let hit = (!capable && self.due > 0) || self.due > most;
                self.due -= i64::from(bytes) * i64::from(hit);
                hit
            }
        };
        if lost {
            self.lost = self
                .lost
                .checked_add(1)
                .expect("fewer than 2^32 losses on a link");
        } else if self.fault.bleach {
            let mut ecn = packet.ecn();
            self.bleached += u64::from(ecn.rewrite(Ecn::NotEct));
            packet.set_ecn(ecn);
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::ALWAYS;
    use cemark_wire::{Fields, NONE};

    fn packet(ecn: Ecn) -> Packet {
        sized(ecn, 1_500)
    }

    fn sized(ecn: Ecn, wire_bytes: u16) -> Packet {
        let f = Fields {
            ecn,
            wire_bytes,
            ..Fields::default()
        };
        Packet::new(0, 0, 0, NONE, f)
    }

    fn parts(p: f64) -> u64 {
        (p * ALWAYS as f64) as u64
    }

    /// Losses among `n` packets, of which every tenth is Not-ECT, as (of Not-ECT, of others,
    /// longest run of losses).
    fn losses(loss: Loss, victims: Victims, packets: u32) -> (u32, u32, u32) {
        let fault = LinkFault {
            link: 3,
            loss,
            victims,
            bleach: false,
        };
        let mut faulty = Faulty::new(fault, 1_500, 1);
        let (mut droppable, mut others, mut run, mut longest) = (0, 0, 0, 0);
        for n in 0..packets {
            let ecn = if n % 10 == 9 { Ecn::NotEct } else { Ecn::Ect0 };
            let lost = faulty.takes(&mut packet(ecn));
            run = if lost { run + 1 } else { 0 };
            longest = longest.max(run);
            match ecn {
                Ecn::NotEct => droppable += u32::from(lost),
                _ => others += u32::from(lost),
            }
        }
        assert_eq!(faulty.lost, droppable + others);
        (droppable, others, longest)
    }

    #[test]
    fn a_loss_hits_whom_it_may() {
        let uniform = Loss::Uniform {
            chance: parts(0.05),
        };
        let near = |n: u32, mean: f64| {
            let off = (f64::from(n) - mean).abs() / mean.sqrt();
            assert!(off < 4.0, "{n} losses where {mean} are expected");
        };
        let (droppable, others, _) = losses(uniform, Victims::Any, 1_000_000);
        near(droppable, 5_000.0);
        near(others, 45_000.0);
        let (droppable, others, _) = losses(uniform, Victims::NotEct, 1_000_000);
        near(droppable, 5_000.0);
        assert_eq!(others, 0);
        // The same 5 % of all packets, all of them Not-ECT.
        let (droppable, others, _) = losses(uniform, Victims::PreferNotEct, 1_000_000);
        near(droppable, 50_000.0);
        assert_eq!(others, 0);
    }

    /// Three ACKs for each data packet, as on a link whose other direction is busy: 5 % of the
    /// bytes are lost, all from the Not-ECT tenth of the data, of which that is half. If each ACK
    /// cost a full packet, all of that tenth would be lost.
    #[test]
    fn acks_cost_their_bytes() {
        let fault = LinkFault {
            link: 3,
            loss: Loss::Uniform {
                chance: parts(0.05),
            },
            victims: Victims::PreferNotEct,
            bleach: false,
        };
        let mut faulty = Faulty::new(fault, 1_500, 1);
        let (mut droppable, mut others) = (0, 0);
        for n in 0..1_000_000 {
            let ecn = if n % 10 == 9 { Ecn::NotEct } else { Ecn::Ect0 };
            let lost = u32::from(faulty.takes(&mut sized(ecn, 1_500)));
            match ecn {
                Ecn::NotEct => droppable += lost,
                _ => others += lost,
            }
            for _ in 0..3 {
                others += u32::from(faulty.takes(&mut sized(Ecn::Ect0, 40)));
            }
        }
        let expected = 50_000.0 * (1_500.0 + 3.0 * 40.0) / 1_500.0;
        let off = (f64::from(droppable) - expected).abs() / expected;
        assert!(off < 0.03, "{droppable} lost, {expected} expected");
        assert!(others < 100, "{others}");
    }

    /// The bad state is entered once in 1000 packets and left once in 10: 1 in 101 packets is in
    /// it, and bursts are ten packets long.
    #[test]
    fn bursts_have_their_rate_and_length() {
        let bursty = Loss::Bursty {
            enter: parts(0.001),
            leave: parts(0.1),
            good: 0,
            bad: ALWAYS,
        };
        let (droppable, others, longest) = losses(bursty, Victims::Any, 2_000_000);
        let share = f64::from(droppable + others) / 2e6;
        assert!((share * 101.0 - 1.0).abs() < 0.1, "{share}");
        assert!(longest > 30, "{longest}");
    }

    #[test]
    fn a_bleaching_link_clears_the_field_and_counts() {
        let fault = LinkFault {
            link: 0,
            loss: Loss::Uniform { chance: 0 },
            victims: Victims::Any,
            bleach: true,
        };
        let mut faulty = Faulty::new(fault, 1_500, 1);
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            let mut p = packet(ecn);
            assert!(!faulty.takes(&mut p));
            assert_eq!(p.ecn(), Ecn::NotEct);
        }
        assert_eq!(faulty.bleached, 3);
    }
}
