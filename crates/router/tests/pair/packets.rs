// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of hosts.

use cemark_wire::Ecn;

/// A packet of TCP with this many bytes of payload, from `site` to the other.
pub fn tcp(version: u8, site: u8, port: u16, number: u32, ecn: Ecn, payload: usize) -> Vec<u8> {
    let mut p = Vec::new();
    let length = (20 + payload) as u16;
    let other = 3 - site;
    if version == 4 {
        p.extend_from_slice(&[0x45, 0x20 | ecn as u8]);
        p.extend_from_slice(&(20 + length).to_be_bytes());
        p.extend_from_slice(&[0, 0, 0x40, 0, 63, 6, 0, 0, 10, site, 0, 2, 10, other, 0, 2]);
        let checksum = checksum(&p);
        p[10..12].copy_from_slice(&checksum.to_be_bytes());
    } else {
        p.extend_from_slice(&[0x62, (ecn as u8) << 4, 0, 0]);
        p.extend_from_slice(&length.to_be_bytes());
        p.extend_from_slice(&[6, 63]);
        for end in [site, other] {
            p.extend_from_slice(&[0xfd, 0, 0, end, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        }
    }
    p.extend_from_slice(&port.to_be_bytes());
    p.extend_from_slice(&[0x14, 0x51]);
    p.extend_from_slice(&number.to_be_bytes());
    p.extend_from_slice(&[0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    p.resize(p.len() + payload, number as u8);
    p
}

/// Checksum of an IPv4 header whose own field is zero.
fn checksum(header: &[u8]) -> u16 {
    let words = header
        .chunks(2)
        .map(|p| u32::from(u16::from_be_bytes([p[0], p[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Whether the checksum of an IPv4 header is right.
pub fn is_sound(packet: &[u8]) -> bool {
    packet[0] >> 4 != 4 || checksum(&packet[..20]) == 0
}

/// The ECN field.
pub fn field(packet: &[u8]) -> Ecn {
    match packet[0] >> 4 {
        4 => Ecn::from_bits(packet[1]),
        _ => Ecn::from_bits(packet[1] >> 4),
    }
}

/// The sequence number.
pub fn number(packet: &[u8]) -> u32 {
    let at = if packet[0] >> 4 == 4 { 24 } else { 44 };
    u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]])
}
