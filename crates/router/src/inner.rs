// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of a host's packet that the routers read: its length, its flow, its ECN field, and whether
//! it carries data. Only the ECN field is ever written, and only with a CE that the WAN has set.

use cemark_wire::Ecn;
use cemark_wire::hash::mix;

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Protocols whose packets are errors and questions about the path.
const ICMP: [u8; 2] = [1, 58];

/// A host's packet, as far as it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inner {
    /// The ECN field.
    pub ecn: Ecn,
    /// Bytes of payload: 0 for a TCP segment that only acknowledges.
    pub data: u16,
    /// Hash of addresses, protocol and ports.
    pub flow: u32,
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

/// Reads the headers; `None` where the bytes are no whole packet of IPv4 or IPv6, or one for
/// several hosts: devices send such packets on their own, and no route leads them to another site.
pub fn read(packet: &[u8]) -> Option<Inner> {
    match packet.first()? >> 4 {
        4 => v4(packet),
        6 => v6(packet),
        _ => None,
    }
}

fn v4(packet: &[u8]) -> Option<Inner> {
    let header = usize::from(packet[0] & 0xf) * 4;
    let total = usize::from(word(packet, 2)?);
    if header < 20 || packet.len() < total || total < header || for_several(packet) {
        return None;
    }
    let later_fragment = word(packet, 6)? & 0x1fff != 0;
    let (flow, data) = upper(&packet[..total], header, packet[9], later_fragment);
    Some(Inner {
        ecn: Ecn::from_bits(packet[1]),
        data,
        flow: hash(flow, &packet[12..20], packet[9]),
    })
}

/// Whether the receiver is 224.0.0.0/4 or 255.255.255.255.
fn for_several(packet: &[u8]) -> bool {
    matches!(packet[16], 224..=239) || packet[16..20] == [255; 4]
}

fn v6(packet: &[u8]) -> Option<Inner> {
    let total = 40 + usize::from(word(packet, 4)?);
    if packet.len() < total || packet[24] == 0xff {
        return None;
    }
    let (mut next, mut at, mut later_fragment) = (packet[6], 40, false);
    // Hop-by-hop, routing and destination options, and a fragment's header.
    while matches!(next, 0 | 43 | 44 | 60) && at + 8 <= total {
        if next == 44 {
            later_fragment |= word(packet, at + 2)? & 0xfff8 != 0;
        }
        let length = if next == 44 {
            0
        } else {
            usize::from(packet[at + 1])
        };
        next = packet[at];
        at = (at + 8 + length * 8).min(total);
    }
    let (flow, data) = upper(&packet[..total], at, next, later_fragment);
    Some(Inner {
        ecn: Ecn::from_bits(packet[1] >> 4),
        data,
        flow: hash(flow, &packet[8..40], next),
    })
}

/// Ports, and bytes of payload, of what begins at `at`.
fn upper(packet: &[u8], at: usize, protocol: u8, later_fragment: bool) -> (u32, u16) {
    let rest = packet.len() - at;
    let ports = || match (word(packet, at), word(packet, at + 2)) {
        (Some(a), Some(b)) if !later_fragment => u32::from(a) << 16 | u32::from(b),
        _ => 0,
    };
    let header = match protocol {
        _ if later_fragment => 0,
        TCP => packet
            .get(at + 12)
            .map_or(rest, |b| usize::from(b >> 4) * 4),
        UDP => 8,
        _ if ICMP.contains(&protocol) => rest,
        _ => 0,
    };
    let ports = if matches!(protocol, TCP | UDP) {
        ports()
    } else {
        0
    };
    (ports, rest.saturating_sub(header) as u16)
}

fn hash(ports: u32, addresses: &[u8], protocol: u8) -> u32 {
    let start = u64::from(ports) << 8 | u64::from(protocol);
    let sum = addresses.chunks(4).fold(start, |h, four| {
        mix(h ^ four.iter().fold(0, |n, b| n << 8 | u64::from(*b)))
    });
    (sum >> 32) as u32
}

/// Writes CE, and corrects the checksum of an IPv4 header.
pub fn set_ce(packet: &mut [u8]) {
    match packet.first().map(|b| b >> 4) {
        Some(4) if packet.len() >= 20 => {
            let before = u16::from_be_bytes([packet[0], packet[1]]);
            packet[1] |= 0b11;
            let after = u16::from_be_bytes([packet[0], packet[1]]);
            let sum = u16::from_be_bytes([packet[10], packet[11]]);
            // RFC 1624, equation 3.
            let mut next = u32::from(!sum) + u32::from(!before) + u32::from(after);
            next = (next & 0xffff) + (next >> 16);
            next = (next & 0xffff) + (next >> 16);
            packet[10..12].copy_from_slice(&(!(next as u16)).to_be_bytes());
        }
        Some(6) if packet.len() >= 2 => packet[1] |= 0b11 << 4,
        _ => {}
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn sum(header: &[u8]) -> u16 {
        let mut sum: u32 = header
            .chunks(2)
            .map(|p| u32::from(u16::from_be_bytes([p[0], p[1]])))
            .sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    /// A packet of TCP with this many bytes of payload.
    pub(crate) fn tcp(version: u8, port: u16, ecn: Ecn, payload: usize) -> Vec<u8> {
        let mut p = Vec::new();
        let length = 20 + payload;
        if version == 4 {
            p.extend_from_slice(&[0x45, 0xb8 | ecn as u8]);
            p.extend_from_slice(&((20 + length) as u16).to_be_bytes());
            p.extend_from_slice(&[0, 0, 0x40, 0, 63, TCP, 0, 0, 10, 1, 0, 1, 10, 2, 0, 2]);
            let checksum = sum(&p);
            p[10..12].copy_from_slice(&checksum.to_be_bytes());
        } else {
            p.extend_from_slice(&[0x6b, 0x80 | (ecn as u8) << 4, 1, 2]);
            p.extend_from_slice(&(length as u16).to_be_bytes());
            p.extend_from_slice(&[TCP, 63]);
            p.extend_from_slice(&[0xfd, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
            p.extend_from_slice(&[0xfd, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        }
        p.extend_from_slice(&port.to_be_bytes());
        p.extend_from_slice(&[
            0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0,
        ]);
        p.extend((0..payload).map(|i| i as u8));
        p
    }

    #[test]
    fn data_flow_and_field_of_both_versions() {
        for version in [4, 6] {
            for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                let full = read(&tcp(version, 7, ecn, 1_000)).expect("a packet");
                let ack = read(&tcp(version, 7, ecn, 0)).expect("a packet");
                let other = read(&tcp(version, 8, ecn, 0)).expect("a packet");
                assert_eq!((full.ecn, full.data, ack.data), (ecn, 1_000, 0));
                assert_eq!(full.flow, ack.flow);
                assert_ne!(full.flow, other.flow);
            }
            let mut to_many = tcp(version, 7, Ecn::Ect0, 9);
            match version {
                4 => to_many[16..20].fill(0xff),
                _ => to_many[24] = 0xff,
            }
            assert_eq!(read(&to_many), None);
            for (first, one) in [(224, false), (239, false), (240, true), (255, true)] {
                to_many[16..20].copy_from_slice(&[first, 0, 0, 5]);
                assert!(version == 6 || read(&to_many).is_some() == one, "{first}");
            }
            let whole = tcp(version, 7, Ecn::Ect0, 9);
            for cut in 0..whole.len() {
                assert_eq!(read(&whole[..cut]), None, "{cut} bytes");
            }
        }
    }

    #[test]
    fn ce_changes_the_field_the_checksum_and_nothing_else() {
        for version in [4, 6] {
            let before = tcp(version, 7, Ecn::Ect0, 30);
            let mut after = before.clone();
            set_ce(&mut after);
            assert_eq!(after, tcp(version, 7, Ecn::Ce, 30));
        }
    }

    proptest::proptest! {
        #[test]
        fn bytes_from_anywhere_do_not_stop_it(mut bytes: Vec<u8>) {
            read(&bytes);
            set_ce(&mut bytes);
            if let Some(first) = bytes.first_mut() {
                *first = 0x60 | *first & 0xf;
            }
            read(&bytes);
        }
    }
}
