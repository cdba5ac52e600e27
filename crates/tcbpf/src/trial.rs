// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program of a scheme without a device: the running kernel's verifier has checked it, and its
//! compiler has translated it, but packets, their times and their lengths are arguments
//! (BPF_PROG_TEST_RUN).

use aya::programs::{SchedClassifier, TestRun, TestRunOptions};

use crate::Error;
use crate::kernel::{Object, cause};
use crate::layout::{CALL, Config, Counts, Settings};

/// The functions of a marker, in the order of `struct cemark_call`'s users.
const HOOKS: [&str; 8] = [
    "test_build",
    "test_retune",
    "test_traits",
    "test_enqueue",
    "test_dequeue",
    "test_emptied",
    "test_wake",
    "test_next_wake",
];
/// With the time stamp of the packet for the clock.
const AT: &str = "cemark_at";
/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Bytes of the block.
const BLOCK: usize = CALL * 8;
/// Bytes of `struct __sk_buff`, and places in it.
const CONTEXT: usize = 192;
const TSTAMP: usize = 152;
const WIRE_LEN: usize = 160;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The program sends the packet with this ECN field.
    Sent(u8),
    /// The program drops the packet.
    Dropped,
}

/// A program of a scheme that is called by tests.
pub struct Trial {
    object: Object,
}

impl Trial {
    /// Loads the functions of a scheme's marker, to be called with [`Trial::call`].
    ///
    /// # Errors
    ///
    /// Where the kernel refuses.
    pub fn of_functions(scheme: &'static str) -> Result<Trial, Error> {
        let mut object = Object::open(scheme)?;
        for hook in HOOKS {
            object.load(hook)?;
        }
        Ok(Trial { object })
    }

    /// Loads the whole program, to be called with [`Trial::packet`].
    ///
    /// # Errors
    ///
    /// Where the kernel refuses.
    pub fn of_packets(settings: &Settings, seed: u64) -> Result<Trial, Error> {
        let mut object = Object::open(settings.scheme.name)?;
        object.load(AT)?;
        let mut trial = Trial { object };
        trial.set(settings, seed, 1)?;
        Ok(trial)
    }

    /// Another configuration, from the next packet on.
    ///
    /// # Errors
    ///
    /// Where the kernel refuses.
    pub fn set(&mut self, settings: &Settings, seed: u64, generation: u64) -> Result<(), Error> {
        let config = Config {
            settings: *settings,
            seed,
            generation,
            own_clsact: false,
        };
        self.object.configure(&config.words())
    }

    /// Calls function `place` of the marker (build, retune, traits, enqueue, dequeue, emptied,
    /// wake, next_wake) with a `struct cemark_call`, and returns its answer.
    ///
    /// # Errors
    ///
    /// Where the kernel refuses.
    ///
    /// # Panics
    ///
    /// Where there is no such function, or `block` has another size.
    pub fn call(&self, place: usize, block: &mut [u8]) -> Result<u32, Error> {
        assert_eq!(block.len(), BLOCK, "struct cemark_call");
        let (mut packet, mut out) = ([0; ETHERNET + BLOCK], [0; ETHERNET + BLOCK]);
        packet[ETHERNET..].copy_from_slice(block);
        let answer = self.run(HOOKS[place], &packet, &mut out, None)?;
        block.copy_from_slice(&out[ETHERNET..]);
        Ok(answer)
    }

    /// Sends an IPv4 packet of `bytes` on the wire at `now` (ns, not 0).
    ///
    /// # Errors
    ///
    /// Where the kernel refuses.
    pub fn packet(&self, now: u64, bytes: u32, ecn: u8) -> Result<Judged, Error> {
        let (mut packet, mut out) = ([0; 64], [0; 64]);
        // Its type, then version, header length and the ECN field.
        packet[12..16].copy_from_slice(&[8, 0, 0x45, ecn]);
        let mut context = [0; CONTEXT];
        context[TSTAMP..TSTAMP + 8].copy_from_slice(&now.to_ne_bytes());
        context[WIRE_LEN..WIRE_LEN + 4].copy_from_slice(&bytes.to_ne_bytes());
        match self.run(AT, &packet, &mut out, Some(&context))? {
            2 => Ok(Judged::Dropped),
            _ => Ok(Judged::Sent(out[15] & 3)),
        }
    }

    /// Counts of the program since it was loaded.
    ///
    /// # Errors
    ///
    /// Where the kernel refuses.
    pub fn counts(&self) -> Result<Counts, Error> {
        Ok(Counts::of(&self.object.queue()?))
    }

    fn run(
        &self,
        name: &str,
        packet: &[u8],
        out: &mut [u8],
        context: Option<&[u8]>,
    ) -> Result<u32, Error> {
        let program: Option<&SchedClassifier> = self.object.program(name);
        let options = TestRunOptions {
            data_in: Some(packet),
            data_out: Some(out),
            ctx_in: context,
            ..TestRunOptions::new()
        };
        let ran = program
            .expect("loaded with the trial")
            .test_run(options)
            .map_err(|e| Error::system("to run the program on a packet")(cause(e.into())))?;
        Ok(ran.return_value)
    }
}
