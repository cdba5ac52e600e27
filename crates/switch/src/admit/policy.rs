// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies, in one table ([`ALL`]).

use super::ingress::times;
use super::{ActiveShare, Admission, Admit, Pool, RoomRequest};
use crate::counters::DropReason;

/// A policy of admission. Under each of them a queue's own static limit holds as well, and a
/// lossless queue that is refused ordinary room uses headroom while there is any.
pub enum RoomPolicy {
    /// First come first served: whatever fits into the pool, whether it belongs to one port or to
    /// all ports of a switch.
    Whole,
    /// Only the queues' static limits (which together may not exceed the buffer).
    PerQueue,
    /// Dynamic threshold: a queue may hold `alpha` (parts of 2^16) times the room that is free
    /// (Choudhury and Hahne, 1998).
    Dynamic {
        /// Its factor in parts of 2^16.
        alpha: u32,
    },
    /// The dynamic threshold with a factor for each queue, in parts of 2^16, in order of class.
    DynamicByQueue(Box<[u32]>),
    /// ABM or Reverie: the rule is that of the pool ([`Pool::with_active`]).
    Active(Box<ActiveShare>),
    /// A user's own.
    Custom(Box<dyn Admission>),
}

/// Entry of the table of policies.
#[derive(Clone, Copy, Debug)]
pub struct PolicySpec {
    /// Its word in scenario files.
    pub name: &'static str,
    /// Whether the ports of a switch share one pool.
    pub shared: bool,
    /// Packets that get room, in one sentence.
    pub doc: &'static str,
}

/// Every policy, in the order in which it is shown to people.
pub static ALL: &[PolicySpec] = &[
    PolicySpec {
        name: "port",
        shared: false,
        doc: "Each port has its buffer; its queues share it first come first served.",
    },
    PolicySpec {
        name: "static",
        shared: false,
        doc: "Each queue has its own bytes.",
    },
    PolicySpec {
        name: "shared",
        shared: true,
        doc: "The ports of a switch share one buffer first come first served.",
    },
    PolicySpec {
        name: "dynamic",
        shared: true,
        doc: "The ports of a switch share one buffer; a queue may hold alpha times what is free.",
    },
    PolicySpec {
        name: "abm",
        shared: true,
        doc: "As dynamic, divided by the number of congested queues of the class and scaled by the \
              rate at which the queue is served (ABM).",
    },
    PolicySpec {
        name: "reverie",
        shared: true,
        doc: "As dynamic, divided by the number of congested queues of the class and compared with \
              a low-pass filter of the length (Reverie).",
    },
];

impl RoomPolicy {
    /// `alpha x free`, rounded down.
    #[inline]
    fn share(alpha: u32, pool: &Pool) -> u32 {
        times(alpha, pool.free())
    }

    /// Whether [`Admission::admit`] is certainly `Ok` for a packet of a queue that is not lossless.
    /// False where that takes a full check.
    #[inline(always)]
    pub(crate) fn surely_takes(
        &self,
        pool: &Pool,
        bytes: u32,
        queue_bytes: u32,
        limit: u32,
    ) -> bool {
        matches!(self, RoomPolicy::Whole | RoomPolicy::PerQueue)
            && bytes <= pool.free()
            && queue_bytes.saturating_add(bytes) <= limit
    }

    /// [`Admission::admit`] with what is most common in place.
    #[inline(always)]
    pub(crate) fn decide(&mut self, pool: &Pool, request: &RoomRequest) -> Admit {
        match pool.ingress() {
            Some(ingress) if request.lossless && !matches!(self, RoomPolicy::Custom(_)) => {
                ingress.admit(pool.free(), request)
            }
            _ => self.admit(pool, request),
        }
    }

    /// Why there is no ordinary room, if there is none.
    #[inline]
    fn refuse(&self, pool: &Pool, request: &RoomRequest) -> Option<DropReason> {
        let length = u64::from(request.queue_bytes) + u64::from(request.bytes);
        let cap = match self {
            RoomPolicy::Dynamic { alpha } => request.queue_limit.min(Self::share(*alpha, pool)),
            RoomPolicy::DynamicByQueue(alphas) => {
                let alpha = alphas[request.queue];
                request.queue_limit.min(Self::share(alpha, pool))
            }
            RoomPolicy::Active(own) if own.exceeds(pool, request.queue, request.bytes) => 0,
            _ => request.queue_limit,
        };
        // The reason names what is full: the whole buffer before a share of it.
        if request.bytes > pool.free() {
            Some(if pool.is_shared() {
                DropReason::Pool
            } else {
                DropReason::Tail
            })
        } else if length > u64::from(cap) {
            Some(DropReason::Queue)
        } else {
            None
        }
    }
}

impl Admission for RoomPolicy {
    #[inline(never)]
    fn admit(&mut self, pool: &Pool, request: &RoomRequest) -> Admit {
        if let RoomPolicy::Custom(own) = self {
            return own.admit(pool, request);
        }
        if request.lossless
            && let Some(ingress) = pool.ingress()
        {
            return ingress.admit(pool.free(), request);
        }
        match self.refuse(pool, request) {
            None => Admit::Ok,
            Some(why) if !request.lossless => Admit::Drop(why),
            Some(_) if request.bytes <= pool.free_headroom() => Admit::Headroom,
            Some(_) => Admit::Drop(DropReason::Headroom),
        }
    }

    #[inline]
    fn limit(&self, pool: &Pool, queue: usize, queue_limit: u32) -> u32 {
        match self {
            RoomPolicy::Whole | RoomPolicy::PerQueue => pool.room().min(queue_limit),
            RoomPolicy::Dynamic { alpha } => Self::share(*alpha, pool).min(queue_limit),
            RoomPolicy::DynamicByQueue(alphas) => Self::share(alphas[queue], pool).min(queue_limit),
            RoomPolicy::Active(own) => own.threshold(pool, queue).min(queue_limit),
            RoomPolicy::Custom(own) => own.limit(pool, queue, queue_limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::asks as ask;
    use super::*;

    #[test]
    fn a_dynamic_threshold_leaves_room_in_proportion() {
        // One greedy queue under alpha = 1 settles at half the buffer, two at a third each: alpha /
        // (1 + n alpha).
        for (queues, alpha, each) in [
            (1u32, 1u32 << 16, 50_000u32),
            (2, 1 << 16, 33_333),
            (4, 1 << 15, 16_666),
        ] {
            let mut policy = RoomPolicy::Dynamic { alpha };
            let mut pool = Pool::new(100_000, 0, true);
            let mut held = vec![0u32; queues as usize];
            let mut refused = 0;
            while refused < queues {
                refused = 0;
                for h in &mut held {
                    match policy.admit(&pool, &ask(100, *h)) {
                        Admit::Ok => {
                            pool.take(100, false);
                            *h += 100;
                        }
                        other => {
                            assert_eq!(other, Admit::Drop(DropReason::Queue));
                            refused += 1;
                        }
                    }
                }
            }
            for h in &held {
                assert!(h.abs_diff(each) <= 200, "{queues} queues: {held:?}");
            }
        }
    }

    #[test]
    fn every_refusal_has_its_reason_and_headroom_is_for_lossless_queues() {
        let mut own = Pool::new(3_000, 1_000, false);
        let mut whole = RoomPolicy::Whole;
        assert_eq!(whole.admit(&own, &ask(2_000, 0)), Admit::Ok);
        assert_eq!(
            whole.admit(&own, &ask(2_001, 0)),
            Admit::Drop(DropReason::Tail)
        );
        let lossless = RoomRequest {
            lossless: true,
            ..ask(600, 2_000)
        };
        own.take(2_000, false);
        assert_eq!(
            whole.admit(&own, &ask(1, 2_000)),
            Admit::Drop(DropReason::Tail)
        );
        assert_eq!(whole.admit(&own, &lossless), Admit::Headroom);
        own.take(600, true);
        assert_eq!(own.held(), 2_600);
        assert_eq!(
            whole.admit(&own, &lossless),
            Admit::Drop(DropReason::Headroom)
        );
        own.give(600, true);
        assert_eq!((own.held(), own.free_headroom()), (2_000, 1_000));
        let switch = Pool::new(500, 0, true);
        assert_eq!(
            whole.admit(&switch, &ask(501, 0)),
            Admit::Drop(DropReason::Pool)
        );
        let mut fixed = RoomPolicy::PerQueue;
        let limited = RoomRequest {
            queue_limit: 300,
            ..ask(101, 200)
        };
        assert_eq!(
            fixed.admit(&switch, &limited),
            Admit::Drop(DropReason::Queue)
        );
        assert_eq!(fixed.limit(&switch, 0, 300), 300);
        let half = RoomPolicy::Dynamic { alpha: 1 << 15 };
        assert_eq!(half.limit(&switch, 0, u32::MAX), 250);
        let mut each = RoomPolicy::DynamicByQueue([1 << 15, 1 << 14].into());
        assert_eq!(each.limit(&switch, 1, u32::MAX), 125);
        let of_second = |bytes| RoomRequest {
            queue: 1,
            ..ask(bytes, 100)
        };
        assert_eq!(each.admit(&switch, &of_second(25)), Admit::Ok);
        let refused = Admit::Drop(DropReason::Queue);
        assert_eq!(each.admit(&switch, &of_second(26)), refused);
    }
}
