// SPDX-License-Identifier: MIT OR Apache-2.0
//! Weighted and deficit round robin: visits to queues in rounds.

use cemark_marking::QueueId;
use cemark_wire::Nanos;

use super::{Heads, MAX_QUEUES, Pick, Rounds, Scheduler};
use crate::lines::Lines;

/// Deficit weighted round robin with a quantum of bytes for each queue (Shreedhar and Varghese's
/// DRR): a visit adds the quantum to the queue's deficit and sends heads while they fit. A queue
/// carries unused credit over, and loses it when it empties. If a quantum is below one packet, a
/// visit takes several quanta at once until its head fits.
pub type Dwrr = Visits<true>;

/// Weighted round robin with a quantum of bits: a visit sends at most a quantum, and at least one
/// packet; unused credit is discarded. With packets of mixed lengths shares are therefore not
/// exact, which [`Dwrr`] corrects.
pub type Wrr = Visits<false>;

/// The list of active queues and the credit of each. A queue joins the end of the list when its
/// first packet arrives, and returns to the end after each visit.
#[repr(align(64))]
pub struct Visits<const CARRY: bool> {
    /// Active queues: `count` of them from `front` on, around the array.
    line: [u8; MAX_QUEUES],
    front: u8,
    count: u8,
    active: u64,
    /// Queues whose present visit has received its credit.
    granted: u64,
    accounts: Lines<Account>,
    queues: u8,
    /// Credit of the queue picked last before it sent, for a refund.
    before: u32,
    /// Whether that pick ended the visit.
    ended: bool,
}

/// A queue's credit and what a visit adds to it, in bytes.
#[derive(Clone, Copy, Default)]
struct Account {
    credit: u32,
    quantum: u32,
}

const WRAP: u8 = MAX_QUEUES as u8 - 1;

impl<const CARRY: bool> Visits<CARRY> {
    /// Quanta in bytes (above zero) in order of class.
    pub fn new(quanta: &[u32]) -> Self {
        assert!(quanta.len() <= MAX_QUEUES && quanta.iter().all(|&q| q > 0));
        Visits {
            line: [0; MAX_QUEUES],
            front: 0,
            count: 0,
            active: 0,
            granted: 0,
            accounts: quanta
                .iter()
                .map(|&quantum| Account { credit: 0, quantum })
                .collect(),
            queues: quanta.len() as u8,
            before: 0,
            ended: false,
        }
    }

    #[inline]
    fn join(&mut self, q: u8) {
        self.line[usize::from(self.front.wrapping_add(self.count) & WRAP)] = q;
        self.count += 1;
    }

    #[inline]
    fn leave_front(&mut self) {
        self.front = (self.front + 1) & WRAP;
        self.count -= 1;
    }
}

impl<const CARRY: bool> Scheduler for Visits<CARRY> {
    #[inline]
    fn arrived(&mut self, queue: QueueId, _: u32, _: Nanos) {
        let bit = 1u64 << queue.0;
        if self.active & bit == 0 {
            self.active |= bit;
            self.join(queue.0);
        }
    }

    #[inline(always)]
    fn pick(&mut self, heads: &Heads<'_>) -> Option<Pick> {
        for _ in 0..self.count {
            let q = self.line[usize::from(self.front)];
            let bit = 1u64 << q;
            if heads.paused & bit != 0 {
                // It lets the others pass; a visit that had begun continues when the queue may send
                // again.
                self.leave_front();
                self.join(q);
                continue;
            }
            let (head, next) = heads.lengths[usize::from(q)];
            let account = &mut self.accounts[usize::from(q)];
            if self.granted & bit == 0 {
                self.granted |= bit;
                account.credit = grant::<CARRY>(account.credit, account.quantum, head);
            }
            self.before = account.credit;
            account.credit -= head;
            self.ended = next == 0 || next > account.credit;
            if self.ended && (next == 0 || !CARRY) {
                account.credit = 0;
            }
            if self.ended {
                self.granted &= !bit;
                self.leave_front();
                if next == 0 {
                    self.active &= !bit;
                } else {
                    self.join(q);
                }
            }
            return Some(Pick {
                queue: QueueId(q),
                visit_ends: self.ended,
            });
        }
        None
    }

    fn is_traceless(&self) -> bool {
        true
    }

    fn refunded(&mut self, queue: QueueId, _: u32, heads: &Heads<'_>) -> bool {
        let i = usize::from(queue.0);
        let (head, _) = heads.lengths[i];
        if head == 0 {
            return true;
        }
        if head > self.before {
            // Even with the credit returned the new head does not fit into this visit, so the visit
            // has ended.
            self.accounts[i].credit = if CARRY { self.before } else { 0 };
            return true;
        }
        self.accounts[i].credit = self.before;
        if self.ended {
            // Moves the queue back from the end of the list: its visit continues.
            self.count -= 1;
            self.front = self.front.wrapping_sub(1) & WRAP;
            self.count += 1;
            self.line[usize::from(self.front)] = queue.0;
            self.granted |= 1 << queue.0;
        }
        false
    }

    /// Every queue.
    fn rounds(&self) -> Rounds {
        Rounds::Visits(u64::MAX >> (MAX_QUEUES - usize::from(self.queues)))
    }
}

/// Credit at the start of a visit. A visit always sends: a head longer than the quantum gets as
/// many quanta at once as it needs (DWRR), or exactly its own length (WRR); otherwise the port
/// would stall.
#[inline]
fn grant<const CARRY: bool>(left: u32, quantum: u32, head: u32) -> u32 {
    if !CARRY {
        return quantum.max(head);
    }
    let one = left.saturating_add(quantum);
    if one >= head {
        return one;
    }
    left + (head - left).div_ceil(quantum) * quantum
}
