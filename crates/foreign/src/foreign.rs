// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers that are not written in Rust.

use cemark_marking::{At, Hook, Marker, QueueId, QueueSpec, Values, Verdict};
use cemark_wire::Nanos;

use crate::abi::{self, Call, Entry, PacketView, Traits};
use crate::{Breach, Error, Fault, Watch};

/// The code of a marker, in C or BPF: runs one of its functions on a block of memory.
pub trait Code: Clone + Send {
    /// The name in `CEMARK_MARKER(name)`: the stem of a scheme, or a name of the author's.
    fn name(&self) -> &str;

    /// Runs a function. `Err` says how the code violated the interface.
    fn run(&self, entry: Entry, call: &mut Call) -> Result<u32, Breach>;
}

/// A marker in C or BPF: its code, its block of memory and its traits.
///
/// A violation of the interface during a run (an invalid verdict, a load outside the block) is
/// stored in the [`Watch`] that the marker was made with, and the marker then lets every packet
/// pass. Without a watch, as for the C forms of the catalogue, it is a bug in cemark and panics.
#[derive(Clone)]
pub struct Foreign<C> {
    code: C,
    call: Box<Call>,
    traits: Traits,
    // Stored, because `next_wake` gets a shared reference and the code needs the block exclusively.
    clock: Option<Nanos>,
    watch: Option<Watch>,
    // Packets judged at enqueue and at dequeue, for messages.
    packets: [u64; 2],
}

impl<C: Code> Foreign<C> {
    /// A marker with these parameters.
    ///
    /// # Errors
    ///
    /// Where the code violates the interface.
    pub fn new(code: C, params: &Values, queue: &QueueSpec) -> Result<Self, Error> {
        let mut marker = Foreign::unbuilt(code, params, queue, None);
        match marker.set(Entry::Build) {
            Ok(()) => Ok(marker),
            Err((_, breach)) => Err(Error::Marker {
                name: marker.code.name().to_owned(),
                why: breach.why,
                help: breach.help,
            }),
        }
    }

    /// A marker with these parameters. Faults, including those while it is built, go into `watch`.
    pub fn watched(code: C, params: &Values, queue: &QueueSpec, watch: &Watch) -> Self {
        let mut marker = Foreign::unbuilt(code, params, queue, Some(watch.clone()));
        if let Err((entry, breach)) = marker.set(Entry::Build) {
            marker.broken(entry, breach);
        }
        marker
    }

    fn unbuilt(code: C, params: &Values, queue: &QueueSpec, watch: Option<Watch>) -> Self {
        Foreign {
            code,
            call: Box::new(Call::new(params, queue)),
            traits: Traits(0),
            clock: None,
            watch,
            packets: [0; 2],
        }
    }

    /// Builds or retunes the marker and asks for its traits. `Err` names the function that failed.
    fn set(&mut self, entry: Entry) -> Result<(), (Entry, Breach)> {
        self.run(entry)?;
        let traits = Traits(self.run(Entry::Traits)?);
        let wrong = |why, help| Err((Entry::Traits, Breach { why, help }));
        if traits.version() != abi::VERSION {
            return wrong(
                format!(
                    "written for version {} of the interface, and this is version {}",
                    traits.version(),
                    abi::VERSION
                ),
                "compile it with the headers of this cemark",
            );
        }
        if !traits.has(Traits::AT_ENQUEUE) && !traits.has(Traits::AT_DEQUEUE) {
            return wrong(
                "traits() names no hook".to_owned(),
                "answer CEMARK_AT_ENQUEUE, CEMARK_AT_DEQUEUE or both",
            );
        }
        self.traits = traits;
        self.set_clock()
    }

    #[inline]
    fn run(&mut self, entry: Entry) -> Result<u32, (Entry, Breach)> {
        let answer = self.code.run(entry, &mut self.call);
        answer.map_err(|breach| (entry, breach))
    }

    /// Asks a marker with a timer for the time of its next wake-up.
    #[inline]
    fn set_clock(&mut self) -> Result<(), (Entry, Breach)> {
        if self.traits.has(Traits::CLOCK) {
            let wants = self.run(Entry::NextWake)? != 0;
            self.clock = wants.then_some(Nanos(self.call.now));
        } else {
            self.clock = None;
        }
        Ok(())
    }

    /// Whether a marker of this point has failed. Then no marker of the point runs any more.
    #[inline]
    fn is_over(&self) -> bool {
        self.watch.as_ref().is_some_and(|w| w.fault().is_some())
    }

    /// Runs a function that may change the timer. `None` if it failed.
    #[inline]
    fn go(&mut self, entry: Entry) -> Option<u32> {
        if self.is_over() {
            // A timer that stays set would be due forever.
            self.clock = None;
            return None;
        }
        let answer = self.run(entry);
        match answer.and_then(|a| self.set_clock().map(|()| a)) {
            Ok(answer) => Some(answer),
            Err((entry, breach)) => {
                self.broken(entry, breach);
                None
            }
        }
    }

    /// Stores a fault, or panics where there is no watch.
    #[cold]
    fn broken(&mut self, hook: Entry, breach: Breach) {
        let judged = self.packets != [0; 2];
        let fault = Fault {
            marker: self.code.name().to_owned(),
            hook,
            packets: self.packets,
            now: Nanos(self.call.at.now),
            packet: judged.then_some(self.call.at),
            breach,
        };
        self.clock = None;
        if self.traits.0 == 0 {
            // It was never built. A port still needs a hook, and nothing else.
            self.traits = Traits(Traits::AT_ENQUEUE);
        }
        match &self.watch {
            Some(watch) => watch.leave(fault),
            None => panic!("{fault}"),
        }
    }

    #[inline]
    fn judge(&mut self, entry: Entry, at: &At) -> Verdict {
        self.call.at = PacketView::from(at);
        self.packets[usize::from(entry == Entry::Dequeue)] += 1;
        let Some(number) = self.go(entry) else {
            return Verdict::Pass;
        };
        abi::verdict(number).unwrap_or_else(|| {
            let breach = Breach {
                why: format!("{number:#x} is no verdict"),
                help: "answer CEMARK_PASS, CEMARK_MARK(reason) or CEMARK_DROP(reason) of \
                       <cemark/at.h>",
            };
            self.broken(entry, breach);
            Verdict::Pass
        })
    }
}

impl<C: Code> Marker for Foreign<C> {
    fn hook(&self) -> Hook {
        match (
            self.traits.has(Traits::AT_ENQUEUE),
            self.traits.has(Traits::AT_DEQUEUE),
        ) {
            (true, true) => Hook::Both,
            (true, false) => Hook::Enqueue,
            (false, _) => Hook::Dequeue,
        }
    }

    fn reads_length_at_dequeue(&self) -> bool {
        self.traits.has(Traits::READS_LENGTH)
    }

    fn watches_empty(&self) -> bool {
        self.traits.has(Traits::WATCHES_EMPTY)
    }

    fn draws(&self) -> bool {
        self.traits.has(Traits::DRAWS)
    }

    fn enqueue(&mut self, at: &At) -> Verdict {
        self.judge(Entry::Enqueue, at)
    }

    fn dequeue(&mut self, at: &At) -> Verdict {
        self.judge(Entry::Dequeue, at)
    }

    fn emptied(&mut self, _: QueueId, now: Nanos) {
        self.call.now = now.0;
        // For the message of a fault. The other functions get a packet with its time.
        self.call.at.now = now.0;
        self.go(Entry::Emptied);
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        self.call.values = params.0;
        self.call.queue = queue.into();
        if self.is_over() {
            return;
        }
        let before = self.traits;
        match self.set(Entry::Retune) {
            Err((entry, breach)) => self.broken(entry, breach),
            Ok(()) if self.watch.is_some() && before.form() != self.traits.form() => {
                let breach = Breach {
                    why: "these values change its hook or its timer".to_owned(),
                    help: "ports are built for both: answer the same traits() for all values",
                };
                self.broken(Entry::Retune, breach);
            }
            Ok(()) => {}
        }
    }

    fn keeps_time(&self) -> bool {
        self.traits.has(Traits::CLOCK)
    }

    fn next_wake(&self) -> Option<Nanos> {
        self.clock
    }

    fn wake(&mut self, at: &At) {
        self.call.at = PacketView::from(at);
        self.go(Entry::Wake);
        let stuck = self.clock.filter(|due| *due <= at.now);
        if let (Some(due), Some(_)) = (stuck, &self.watch) {
            let breach = Breach {
                why: format!(
                    "was woken at {} ns and asks for {} ns again",
                    at.now.0, due.0
                ),
                help: "after a wake-up next_wake names a later time, or none",
            };
            self.broken(Entry::NextWake, breach);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use cemark_wire::Rate;

    /// Code that fails in one function, once `armed` is set.
    #[derive(Clone)]
    struct Breaks {
        at: Entry,
        /// Its answer there. `None`: it returns an error.
        answer: Option<u32>,
        armed: Arc<AtomicBool>,
    }

    impl Code for Breaks {
        fn name(&self) -> &str {
            "breaks"
        }

        fn run(&self, entry: Entry, call: &mut Call) -> Result<u32, Breach> {
            if entry == self.at && self.armed.load(Ordering::Relaxed) {
                return self.answer.ok_or_else(|| Breach {
                    why: "on purpose".to_owned(),
                    help: "none",
                });
            }
            let all =
                Traits::AT_ENQUEUE | Traits::AT_DEQUEUE | Traits::WATCHES_EMPTY | Traits::CLOCK;
            Ok(match entry {
                Entry::Traits => abi::VERSION << 24 | all,
                Entry::Enqueue | Entry::Dequeue => 1,
                Entry::NextWake => {
                    call.now = 5_000;
                    1
                }
                _ => 0,
            })
        }
    }

    /// A call of a marker.
    type Step = fn(&mut Foreign<Breaks>);

    fn at(now: u64) -> At {
        At::departure(Nanos(now), Nanos(30), 4_500, 1_500)
    }

    /// A marker that has judged two arrivals and one departure. Then `what` is called, and it fails
    /// in `hook`.
    fn broken(hook: Entry, answer: Option<u32>, what: Step) -> Fault {
        let armed = Arc::new(AtomicBool::new(false));
        let code = Breaks {
            at: hook,
            answer,
            armed: Arc::clone(&armed),
        };
        let (queue, watch) = (QueueSpec::fifo(Rate::gbps(10)), Watch::default());
        let mut marker = Foreign::watched(code, &Values([0; _]), &queue, &watch);
        for _ in 0..2 {
            assert!(matches!(marker.enqueue(&at(10)), Verdict::Mark(_)));
        }
        assert!(matches!(marker.dequeue(&at(20)), Verdict::Mark(_)));
        assert_eq!(marker.next_wake(), Some(Nanos(5_000)));
        assert_eq!(watch.fault(), None);
        armed.store(true, Ordering::Relaxed);
        what(&mut marker);
        let fault = watch.fault().expect("a fault").clone();
        // From then on every packet passes, no timer is set, and no function is called.
        assert_eq!(marker.enqueue(&at(50)), Verdict::Pass);
        assert_eq!(marker.dequeue(&at(50)), Verdict::Pass);
        marker.wake(&at(60));
        marker.emptied(QueueId(0), Nanos(70));
        marker.retune(&Values([1; _]), &queue);
        assert_eq!(marker.next_wake(), None);
        assert_eq!(watch.fault(), Some(&fault));
        fault
    }

    #[test]
    fn a_fault_in_any_function_names_it_with_its_packet() {
        let retune =
            |m: &mut Foreign<Breaks>| m.retune(&Values([0; _]), &QueueSpec::fifo(Rate::gbps(1)));
        let cases: [(Entry, Step, &str); 7] = [
            (
                Entry::Enqueue,
                |m| _ = m.enqueue(&at(40)),
                "enqueue: packet 3 of its queue, 40 ns, 1500 bytes, 4500 bytes queued before it",
            ),
            (
                Entry::Dequeue,
                |m| _ = m.dequeue(&at(41)),
                "dequeue: packet 2 of its queue, 41 ns, 1500 bytes, 4500 bytes queued before it, \
                 waited 30 ns",
            ),
            (
                Entry::Emptied,
                |m| m.emptied(QueueId(0), Nanos(42)),
                "emptied: after packet 2 of its queue, 42 ns",
            ),
            (
                Entry::Wake,
                |m| m.wake(&at(43)),
                "wake: after packet 2 of its queue, 43 ns",
            ),
            (
                Entry::NextWake,
                |m| m.wake(&at(44)),
                "next_wake: after packet 2 of its queue, 44 ns",
            ),
            (
                Entry::Retune,
                retune,
                "retune: after packet 2 of its queue, 20 ns",
            ),
            (
                Entry::Traits,
                retune,
                "traits: after packet 2 of its queue, 20 ns",
            ),
        ];
        for (hook, what, says) in cases {
            let fault = broken(hook, None, what);
            assert_eq!(fault.hook, hook);
            assert_eq!(fault.to_string(), format!("breaks: {says}: on purpose"));
        }
    }

    #[test]
    fn invalid_answers_are_faults() {
        let fault = broken(Entry::Enqueue, Some(7), |m| _ = m.enqueue(&at(40)));
        assert!(fault.to_string().ends_with("0x7 is no verdict"), "{fault}");
        let retune =
            |m: &mut Foreign<Breaks>| m.retune(&Values([0; _]), &QueueSpec::fifo(Rate::gbps(1)));
        let fault = broken(Entry::Traits, Some(abi::VERSION << 24), retune);
        assert!(fault.to_string().contains("names no hook"), "{fault}");
        let fault = broken(Entry::Traits, Some(9 << 24), retune);
        assert!(
            fault.to_string().contains("version 9 of the interface"),
            "{fault}"
        );
        // It is woken at the time that it asked for, and asks for the same time again.
        let fault = broken(Entry::Wake, Some(0), |m| m.wake(&at(5_000)));
        assert!(
            fault.to_string().contains("asks for 5000 ns again"),
            "{fault}"
        );
    }

    #[test]
    fn a_marker_that_cannot_be_built_is_a_fault() {
        let code = Breaks {
            at: Entry::Build,
            answer: None,
            armed: Arc::new(AtomicBool::new(true)),
        };
        let (params, queue) = (Values([0; _]), QueueSpec::fifo(Rate::gbps(10)));
        assert!(
            Foreign::new(code.clone(), &params, &queue).is_err_and(|e| e.help() == Some("none"))
        );
        let watch = Watch::default();
        let mut marker = Foreign::watched(code, &params, &queue, &watch);
        assert_eq!(marker.enqueue(&at(1)), Verdict::Pass);
        let said = watch.fault().expect("a fault").to_string();
        assert!(
            said.starts_with("breaks: build: before the first packet"),
            "{said}"
        );
    }

    #[test]
    #[should_panic(expected = "breaks: enqueue: packet 1 of its queue")]
    fn a_fault_without_a_watch_panics() {
        let armed = Arc::new(AtomicBool::new(true));
        let code = Breaks {
            at: Entry::Enqueue,
            answer: None,
            armed,
        };
        let mut marker =
            Foreign::new(code, &Values([0; _]), &QueueSpec::fifo(Rate::gbps(10))).unwrap();
        marker.enqueue(&at(1));
    }
}
