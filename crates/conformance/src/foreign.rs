// SPDX-License-Identifier: MIT OR Apache-2.0
//! A marker whose code is not Rust.

use cemark_marking::{At, Hook, Marker, QueueId, QueueSpec, Values, Verdict};
use cemark_wire::Nanos;

use crate::Error;
use crate::abi::{self, Call, Entry, PacketView, Traits};

/// Code of a marker, in whatever form: runs one of its functions on a block of memory.
pub trait Code: Clone + Send {
    /// What it is called in messages.
    fn name(&self) -> &str;

    /// Runs a function. `Err` says how the code broke its promises.
    fn run(&self, entry: Entry, call: &mut Call) -> Result<u32, String>;
}

/// One marker of foreign code: its block of memory and what it has said of itself.
///
/// A breach of the interface in mid-run (a verdict that is none, a load outside the block) panics with the marker's name: there is no
/// answer to go on with.
#[derive(Clone)]
pub struct Foreign<C> {
    code: C,
    call: Box<Call>,
    traits: Traits,
    // Kept, because `next_wake` is asked of a shared marker and code needs the block to itself.
    clock: Option<Nanos>,
}

impl<C: Code> Foreign<C> {
    /// A marker with these parameters.
    ///
    /// # Errors
    ///
    /// Where the code breaks the interface.
    pub fn new(code: C, params: &Values, queue: &QueueSpec) -> Result<Self, Error> {
        let call = Box::new(Call::new(params, queue));
        let mut marker = Foreign {
            code,
            call,
            traits: Traits(0),
            clock: None,
        };
        marker.set(Entry::Build).map_err(|why| Error::Marker {
            name: marker.code.name().to_owned(),
            why,
        })?;
        Ok(marker)
    }

    fn set(&mut self, entry: Entry) -> Result<(), String> {
        self.code.run(entry, &mut self.call)?;
        let traits = Traits(self.code.run(Entry::Traits, &mut self.call)?);
        if traits.version() != abi::VERSION {
            return Err(format!(
                "written for version {} of the interface, and this is version {}: compile it with this cemark's headers",
                traits.version(),
                abi::VERSION
            ));
        }
        if !traits.has(Traits::AT_ENQUEUE) && !traits.has(Traits::AT_DEQUEUE) {
            return Err(
                "traits() names no hook: answer CEMARK_AT_ENQUEUE, CEMARK_AT_DEQUEUE or both"
                    .to_owned(),
            );
        }
        self.traits = traits;
        self.set_clock()
    }

    /// Asks a marker with a clock when it wants to be woken.
    #[inline]
    fn set_clock(&mut self) -> Result<(), String> {
        if self.traits.has(Traits::CLOCK) {
            let wants = self.code.run(Entry::NextWake, &mut self.call)? != 0;
            self.clock = wants.then_some(Nanos(self.call.now));
        } else {
            self.clock = None;
        }
        Ok(())
    }

    /// Runs a function after which the clock may be another; what it answers.
    #[inline]
    fn go(&mut self, entry: Entry) -> u32 {
        let answer = self.code.run(entry, &mut self.call);
        match answer.and_then(|a| self.set_clock().map(|()| a)) {
            Ok(answer) => answer,
            Err(why) => self.broken(entry, &why),
        }
    }

    #[cold]
    fn broken(&self, entry: Entry, why: &str) -> ! {
        panic!("{}: {}: {why}", self.code.name(), entry.name())
    }

    #[inline]
    fn judge(&mut self, entry: Entry, at: &At) -> Verdict {
        self.call.at = PacketView::from(at);
        let number = self.go(entry);
        abi::verdict(number)
            .unwrap_or_else(|| self.broken(entry, &format!("{number:#x} is no verdict")))
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
        self.go(Entry::Emptied);
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        self.call.values = params.0;
        self.call.queue = queue.into();
        if let Err(why) = self.set(Entry::Retune) {
            self.broken(Entry::Retune, &why);
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
    }
}
