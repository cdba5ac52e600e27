// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of the two maps, word by word, as `dataplane/tc/virtual_queue.h` declares them.

use cemark_marking::{MAX_PARAMS, QueueSpec, SchemeSpec, Values, catalogue};
use cemark_wire::{Nanos, Rate};

/// Words of `struct cemark_tc_config`.
pub(crate) const CONFIG: usize = 28;
/// Words of `struct cemark_tc_queue`.
pub(crate) const QUEUE: usize = 85;
/// Words of `struct cemark_call`, the end of `struct cemark_tc_queue`.
pub(crate) const CALL: usize = 61;

// Places in `struct cemark_tc_config`.
const SPEC: usize = MAX_PARAMS;
const LIMIT: usize = 20;
const SEED: usize = 21;
const GENERATION: usize = 22;
const FLAGS: usize = 23;
const SCHEME: usize = 24;
/// Place in `struct cemark_tc_queue`.
const COUNTS: usize = 10;

/// Treatment of a packet that is to be marked and is not ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotEct {
    /// The program sends the packet as it is.
    Forward,
    /// The program drops the packet.
    Drop,
}

/// Settings of a program, which the user makes.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The scheme.
    pub scheme: &'static SchemeSpec,
    /// Its parameters.
    pub values: Values,
    /// Rate of the virtual link: [`crate::SLOWEST`] to [`crate::FASTEST`].
    pub rate: Rate,
    /// Behind a longer wait a packet does not join the virtual queue: up to [`crate::LONGEST`].
    pub limit: Nanos,
    /// Treatment of packets that cannot be marked.
    pub not_ect: NotEct,
}

impl Settings {
    /// The queue that the scheme is configured for.
    pub fn queue(&self) -> QueueSpec {
        QueueSpec::fifo(self.rate)
    }
}

/// The map's value and what only this crate knows of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    pub(crate) settings: Settings,
    pub(crate) seed: u64,
    pub(crate) generation: u64,
    /// Whether `attach` has made the `clsact` qdisc.
    pub(crate) own_clsact: bool,
}

fn pair(low: u32, high: u32) -> u64 {
    let (low, high) = (low.to_ne_bytes(), high.to_ne_bytes());
    u64::from_ne_bytes([
        low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3],
    ])
}

fn halves(word: u64) -> (u32, u32) {
    let b = word.to_ne_bytes();
    let half = |i: usize| u32::from_ne_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
    (half(0), half(4))
}

impl Config {
    pub(crate) fn words(&self) -> [u64; CONFIG] {
        let (s, queue) = (&self.settings, self.settings.queue());
        let mut words = [0; CONFIG];
        words[..MAX_PARAMS].copy_from_slice(&s.values.0);
        words[SPEC] = queue.rate.0;
        words[SPEC + 1] = pair(queue.quantum, queue.weight);
        let strict = u32::from_ne_bytes([queue.strict.into(), 0, 0, 0]);
        words[SPEC + 2] = pair(queue.weight_sum, strict);
        words[SPEC + 3] = pair(queue.mtu, queue.limit_bytes);
        words[LIMIT] = s.limit.0;
        words[SEED] = self.seed;
        words[GENERATION] = self.generation;
        words[FLAGS] = pair((s.not_ect == NotEct::Drop).into(), self.own_clsact.into());
        let name = s.scheme.name.as_bytes();
        for (i, chunk) in name.chunks(8).enumerate() {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            words[SCHEME + i] = u64::from_ne_bytes(bytes);
        }
        words
    }

    /// `None` where this program has no such scheme.
    pub(crate) fn of(words: &[u64; CONFIG]) -> Option<Config> {
        let name: Vec<u8> = words[SCHEME..]
            .iter()
            .flat_map(|w| w.to_ne_bytes())
            .take_while(|b| *b != 0)
            .collect();
        let scheme = catalogue::ALL
            .iter()
            .copied()
            .find(|s| s.name.as_bytes() == name)?;
        let (not_ect, own_clsact) = halves(words[FLAGS]);
        let mut values = Values::defaults(scheme);
        values.0.copy_from_slice(&words[..MAX_PARAMS]);
        Some(Config {
            settings: Settings {
                scheme,
                values,
                rate: Rate(words[SPEC]),
                limit: Nanos(words[LIMIT]),
                not_ect: match not_ect {
                    0 => NotEct::Forward,
                    _ => NotEct::Drop,
                },
            },
            seed: words[SEED],
            generation: words[GENERATION],
            own_clsact: own_clsact != 0,
        })
    }
}

/// Sums since the program was attached. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that were sent. One that the device will split counts once.
    pub packets: u64,
    /// Their bytes, with link headers.
    pub bytes: u64,
    /// Marks by reason, in the order of [`cemark_marking::Why`].
    pub marks: [u64; 6],
    /// To be marked, sent unmarked: not ECN-capable.
    pub spared: u64,
    /// Dropped: not ECN-capable under [`NotEct::Drop`], or by the scheme.
    pub dropped: u64,
    /// Sent but not added to the virtual queue, which was at its limit.
    pub full: u64,
    /// To be marked, and the kernel could not write to them.
    pub failed: u64,
    /// Sum of the virtual waits.
    pub waited: u64,
    /// Longest virtual wait.
    pub longest: u64,
}

impl Counts {
    pub(crate) fn of(words: &[u64; QUEUE]) -> Counts {
        let w = &words[COUNTS..];
        Counts {
            packets: w[0],
            bytes: w[1],
            marks: [w[2], w[3], w[4], w[5], w[6], w[7]],
            spared: w[8],
            dropped: w[9],
            full: w[10],
            failed: w[11],
            waited: w[12],
            longest: w[13],
        }
    }

    /// Mean virtual wait.
    pub fn mean_wait(&self) -> Nanos {
        Nanos(self.waited.checked_div(self.packets).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_marking::ecn_sharp;

    #[test]
    fn a_configuration_is_read_as_it_was_written() {
        let config = Config {
            settings: Settings {
                scheme: &ecn_sharp::SPEC,
                values: Values::defaults(&ecn_sharp::SPEC),
                rate: Rate(200_000_000),
                limit: Nanos(7),
                not_ect: NotEct::Drop,
            },
            seed: 8,
            generation: 9,
            own_clsact: true,
        };
        let words = config.words();
        let read = Config::of(&words).expect("a scheme of the catalogue");
        assert_eq!(read.words(), words);
        assert_eq!(read.settings.scheme.name, "ecn_sharp");
        assert_eq!((read.seed, read.generation, read.own_clsact), (8, 9, true));
        assert_eq!(read.settings.not_ect, NotEct::Drop);
        let mut other = words;
        other[SCHEME] = u64::from_ne_bytes(*b"no_such_");
        assert!(Config::of(&other).is_none());
    }
}
