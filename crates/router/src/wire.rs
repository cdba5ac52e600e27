// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes between the two routers: one UDP payload each, big-endian.
//!
//! ```text
//! every datagram   version|kind 1, flags 1, copy 1, lane 1, epoch 4, tag 8
//! data             place 6, after 2, number 6, oldest 2, first sent 4, then the host's packet
//! router ACK       serial 6, number 6, first sent 4, below 6, highest 6, bits 8
//! hello            serial 6, lanes 2, own epoch 8, peer's epoch 8, answered epoch 8, sent 4,
//!                  echo 4, held 4, size 2, largest received 2, then zeros up to the size; flags
//!                  and copy hold the sender's share 2
//! ```
//!
//! `epoch` is the low half of the sender's. The tag covers the header, the length and the first
//! bytes of what follows it ([`crate::key::COVERED`]).

use cemark_edge::{Report, Shim};
use cemark_wire::{Ecn, NONE, Nanos};

/// Version of these bytes. A peer of another version gets none of them.
pub const VERSION: u8 = 1;
/// Bytes of the header before a host's packet.
pub const HEAD: usize = 36;
/// Bytes of a router ACK.
pub const REPORT: usize = 52;
/// Bytes of a hello without padding.
pub const HELLO: usize = 64;
/// Place of the tag in every datagram.
pub const TAG: core::ops::Range<usize> = 8..16;
/// Numbers and places are below this.
pub const NUMBERS: u64 = 1 << 48;

/// Distance to the oldest copy that does not fit its field: the receiver takes it as unknown.
const FAR: u16 = u16::MAX;

const ECN_BITS: u8 = 0b11;
const SELECTED: u8 = 1 << 2;
const PROBE: u8 = 1 << 3;
const BLEACHED: u8 = 1 << 4;

/// Header of a datagram, without its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A packet of a host follows.
    Data(Shim),
    /// A router ACK with its serial number.
    Report(u64, Report),
    /// A sign of life.
    Hello(Hello),
}

/// Sign of life, with what each end knows of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// Serial number; it rises with each hello and router ACK.
    pub serial: u64,
    /// Number of lanes of the sender.
    pub lanes: u16,
    /// Share of the data that the sender selects, in 1/65536.
    pub share: u16,
    /// Epoch of the sender: it rises with each start.
    pub own: u64,
    /// Epoch of the receiver whose packets the sender takes; 0 while it does not hear the receiver.
    pub peer: u64,
    /// Epoch of the hello that this one answers; the sender does not trust it yet, because it may
    /// be a replayed one. 0 for none.
    pub answer: u64,
    /// When it was sent, by the sender's clock, in microseconds modulo 2^32.
    pub sent: u32,
    /// Time of the last hello that the sender received, as written there; 0 for none.
    pub echo: u32,
    /// Microseconds since that arrived.
    pub held: u32,
    /// Largest packet of a host that would fit in the place of this datagram; 0 without padding.
    pub size: u16,
    /// The largest such size that arrived lately.
    pub arrived: u16,
}

/// Reason why a datagram is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Too short for its kind, or of no kind.
    Form,
    /// Another version.
    Version(u8),
}

/// Microseconds modulo 2^32.
pub fn micros(now: Nanos) -> u32 {
    (now.0 / 1_000) as u32
}

/// The latest time up to `now` whose microseconds are these.
pub fn since(now: Nanos, micros_then: u32) -> Nanos {
    let age = micros(now).wrapping_sub(micros_then);
    Nanos((now.0 / 1_000).saturating_sub(u64::from(age)) * 1_000)
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn u48(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_be_bytes()[2..]);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// Writes a header, with zeros in the place of the tag, over what `to` holds. A datagram of another
/// `lane` than the shim's does not exist; router ACKs and hellos say which lane they take.
pub fn write(to: &mut Vec<u8>, head: &Head, epoch: u64, lane: u16) {
    to.clear();
    let (kind, flags, copy) = match head {
        Head::Data(s) => {
            let selected = if s.number.is_some() { SELECTED } else { 0 };
            let probe = if s.probe { PROBE } else { 0 };
            (1, s.ecn as u8 | selected | probe, s.copy)
        }
        Head::Report(_, r) => (2, if r.bleached { BLEACHED } else { 0 }, r.named.1),
        Head::Hello(h) => (3, (h.share >> 8) as u8, h.share as u8),
    };
    let mut w = Writer(to);
    w.put(&[VERSION << 4 | kind, flags, copy, lane as u8]);
    w.put(&(epoch as u32).to_be_bytes());
    w.put(&[0; 8]);
    match head {
        Head::Data(s) => {
            let number = s.number.unwrap_or(0);
            // Distances that do not fit say less than is known, and nothing that is wrong.
            let after = match s.after {
                0 => 0,
                place => u16::try_from(s.place - place).unwrap_or(0),
            };
            let oldest = u16::try_from(number.saturating_sub(s.oldest)).unwrap_or(FAR);
            w.u48(s.place);
            w.put(&after.to_be_bytes());
            w.u48(number);
            w.put(&oldest.to_be_bytes());
            w.put(&micros(s.first_sent).to_be_bytes());
        }
        Head::Report(serial, r) => {
            w.u48(*serial);
            w.u48(r.named.0);
            w.put(&micros(r.first_sent).to_be_bytes());
            w.u48(r.below);
            w.u48(r.highest);
            w.put(&r.bits.to_be_bytes());
        }
        Head::Hello(h) => {
            w.u48(h.serial);
            w.put(&h.lanes.to_be_bytes());
            w.put(&h.own.to_be_bytes());
            w.put(&h.peer.to_be_bytes());
            w.put(&h.answer.to_be_bytes());
            for time in [h.sent, h.echo, h.held] {
                w.put(&time.to_be_bytes());
            }
            w.put(&h.size.to_be_bytes());
            w.put(&h.arrived.to_be_bytes());
            let padded = match h.size {
                0 => HELLO,
                size => HEAD + usize::from(size),
            };
            w.0.resize(padded.max(HELLO), 0);
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self, bytes: usize) -> Result<u64, Malformed> {
        let (head, rest) = self.0.split_at_checked(bytes).ok_or(Malformed::Form)?;
        self.0 = rest;
        Ok(head.iter().fold(0, |n, b| n << 8 | u64::from(*b)))
    }

    fn small(&mut self) -> Result<u16, Malformed> {
        Ok(self.number(2)? as u16)
    }

    fn micros(&mut self) -> Result<u32, Malformed> {
        Ok(self.number(4)? as u32)
    }
}

/// A datagram that was understood. Its tag is not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The header. Times of a shim or report are microseconds of their owner's clock, as
    /// nanoseconds.
    pub head: Head,
    /// Low half of the sender's epoch.
    pub epoch: u32,
    /// Lane that the sender took.
    pub lane: u8,
    /// Bytes before the host's packet, or all.
    pub bytes: usize,
}

/// Reads a datagram.
///
/// # Errors
/// Where it is too short, of no kind, or of another version.
pub fn read(datagram: &[u8]) -> Result<Parsed, Malformed> {
    let mut r = Reader(datagram);
    let first = r.number(1)? as u8;
    if first >> 4 != VERSION {
        return Err(Malformed::Version(first >> 4));
    }
    let flags = r.number(1)? as u8;
    let copy = r.number(1)? as u8;
    let lane = r.number(1)? as u8;
    let epoch = r.number(4)? as u32;
    r.number(8)?;
    let head = match first & 0xf {
        1 => {
            let place = r.number(6)?;
            let after = u64::from(r.small()?);
            let number = r.number(6)?;
            let oldest = r.small()?;
            let first_sent = Nanos(u64::from(r.micros()?) * 1_000);
            let selected = flags & SELECTED != 0;
            Head::Data(Shim {
                number: selected.then_some(number),
                copy,
                first_sent,
                oldest: match oldest {
                    FAR => 0,
                    distance => number.saturating_sub(distance.into()),
                },
                probe: flags & PROBE != 0,
                ecn: Ecn::from_bits(flags & ECN_BITS),
                lane: u16::from(lane),
                place,
                after: if after == 0 {
                    0
                } else {
                    place.saturating_sub(after)
                },
                aux: NONE,
            })
        }
        2 => {
            let serial = r.number(6)?;
            let number = r.number(6)?;
            let first_sent = Nanos(u64::from(r.micros()?) * 1_000);
            let report = Report {
                named: (number, copy),
                first_sent,
                below: r.number(6)?,
                highest: r.number(6)?,
                bits: r.number(8)?,
                bleached: flags & BLEACHED != 0,
            };
            Head::Report(serial, report)
        }
        3 => Head::Hello(Hello {
            serial: r.number(6)?,
            lanes: r.small()?,
            share: u16::from_be_bytes([flags, copy]),
            own: r.number(8)?,
            peer: r.number(8)?,
            answer: r.number(8)?,
            sent: r.micros()?,
            echo: r.micros()?,
            held: r.micros()?,
            size: r.small()?,
            arrived: r.small()?,
        }),
        _ => return Err(Malformed::Form),
    };
    let bytes = match head {
        Head::Data(_) => HEAD,
        Head::Report(..) | Head::Hello(_) => datagram.len(),
    };
    Ok(Parsed {
        head,
        epoch,
        lane,
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shim() -> Shim {
        Shim {
            number: Some(NUMBERS - 1),
            copy: 3,
            first_sent: Nanos(7_000),
            oldest: NUMBERS - 41,
            probe: true,
            ecn: Ecn::Ect1,
            lane: 5,
            place: NUMBERS - 2,
            after: NUMBERS - 30,
            aux: NONE,
        }
    }

    fn round(head: Head) -> Parsed {
        let mut bytes = Vec::new();
        write(&mut bytes, &head, 0x1_2345_6789, 5);
        read(&bytes).expect("what was written can be read")
    }

    #[test]
    fn every_field_comes_back() {
        let report = Report {
            named: (NUMBERS - 9, 2),
            first_sent: Nanos(9_000),
            below: 1,
            highest: NUMBERS - 7,
            bits: u64::MAX - 5,
            bleached: true,
        };
        let hello = Hello {
            serial: NUMBERS - 1,
            lanes: 64,
            share: 32_768,
            own: u64::MAX - 1,
            peer: u64::MAX - 2,
            answer: u64::MAX - 3,
            sent: 3,
            echo: u32::MAX,
            held: 4,
            size: 1_400,
            arrived: 1_280,
        };
        for head in [
            Head::Data(shim()),
            Head::Data(Shim {
                number: None,
                oldest: 0,
                after: 0,
                ..shim()
            }),
            Head::Report(NUMBERS - 3, report),
            Head::Hello(hello),
        ] {
            let parsed = round(head);
            assert_eq!(parsed.head, head);
            assert_eq!((parsed.epoch, parsed.lane), (0x2345_6789, 5));
        }
        let mut bytes = Vec::new();
        write(&mut bytes, &Head::Data(shim()), 0, 5);
        assert_eq!(bytes.len(), HEAD);
        write(&mut bytes, &Head::Report(0, report), 0, 5);
        assert_eq!(bytes.len(), REPORT);
        write(&mut bytes, &Head::Hello(hello), 0, 5);
        assert_eq!(bytes.len(), HEAD + 1_400);
        write(&mut bytes, &Head::Hello(Hello { size: 0, ..hello }), 0, 5);
        assert_eq!(bytes.len(), HELLO);
    }

    #[test]
    fn distances_too_long_for_their_fields_say_less_and_nothing_wrong() {
        let far = Shim {
            after: 1,
            oldest: 0,
            ..shim()
        };
        let Head::Data(back) = round(Head::Data(far)).head else {
            panic!("data")
        };
        assert_eq!(back.after, 0, "no place is better than a wrong one");
        assert_eq!(back.oldest, 0, "nothing is known to be over");
    }

    #[test]
    fn times_of_the_last_hour_come_back() {
        let now = Nanos(3 * (1 << 32) * 1_000 + 5_000);
        for age in [0, 1_000, 7_000, 3_600_000_000_000] {
            let then = Nanos(now.0 - age);
            assert_eq!(since(now, micros(then)), then);
        }
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Vec::new();
        write(&mut bytes, &Head::Data(shim()), 0, 5);
        bytes[0] = 7 << 4 | 1;
        assert_eq!(read(&bytes), Err(Malformed::Version(7)));
    }
}
