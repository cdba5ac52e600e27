// SPDX-License-Identifier: MIT OR Apache-2.0
//! Captures as pcapng (draft-ietf-opsawg-pcapng), with nanoseconds: what Wireshark, tshark and
//! tcpdump read. Of each packet the headers are written, which are made of what a simulator knows:
//! Ethernet, IPv4 with the ECN field, and TCP, or UDP with an InfiniBand header (RoCEv2).

use cemark_wire::{Ecn, Rate};

/// Ethernet and IPv4.
const OUTER: usize = 14 + 20;
/// The UDP port of RoCEv2.
const ROCE: u16 = 4791;
/// The receiver's port of TCP connections: the first of the dynamic ports.
const RECEIVER: u16 = 49_152;

/// A link whose packets are in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its rate.
    pub rate: Rate,
}

/// Transport header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// TCP.
    Tcp {
        /// Number of the first byte; the SYN is zero, and the first byte of data 1.
        seq: u32,
        /// Number of the next byte expected.
        ack: u32,
        /// FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128.
        flags: u8,
    },
    /// A queue pair, in UDP.
    Roce {
        /// 0x04: a packet of data; 0x11: acknowledgement; 0x81: congestion notification.
        opcode: u8,
        /// Number of the packet.
        psn: u32,
    },
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which of the interfaces.
    pub interface: u32,
    /// When, in nanoseconds.
    pub nanos: u64,
    /// The host that sent it; its address is 10.0.0.1 and up.
    pub src: u32,
    /// The host that it is for.
    pub dst: u32,
    /// Whether it goes from the receiver of the connection to its sender.
    pub back: bool,
    /// Number of the connection, from which its ports follow.
    pub conn: u32,
    /// Payload bytes.
    pub payload: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// The queue class, written as the DSCP.
    pub class: u8,
    /// Switches that it has passed, by which the time to live is less than 64.
    pub hops: u8,
    /// The transport header.
    pub header: Header,
}

/// A capture file. Records at equal times stay in the order in which they are given.
pub fn file(program: &str, interfaces: &[Interface], records: &[Record]) -> Vec<u8> {
    let mut out = Vec::with_capacity(200 + 90 * records.len());
    let mut body = Vec::new();
    body.extend(0x1A2B_3C4D_u32.to_le_bytes());
    body.extend([1, 0, 0, 0]); // version 1.0
    body.extend(u64::MAX.to_le_bytes()); // length of the section: not given
    option(&mut body, 4, program.as_bytes()); // shb_userappl
    option(&mut body, 0, &[]);
    block(&mut out, 0x0A0D_0D0A, &body);
    for interface in interfaces {
        body.clear();
        body.extend([1, 0, 0, 0]); // Ethernet
        body.extend(0_u32.to_le_bytes()); // no limit on what is captured
        option(&mut body, 2, interface.name.as_bytes()); // if_name
        option(&mut body, 8, &interface.rate.0.to_le_bytes()); // if_speed
        option(&mut body, 9, &[9]); // if_tsresol: nanoseconds
        option(&mut body, 0, &[]);
        block(&mut out, 1, &body);
    }
    for record in records {
        let (bytes, length) = packet(record);
        body.clear();
        body.extend(record.interface.to_le_bytes());
        body.extend(((record.nanos >> 32) as u32).to_le_bytes());
        body.extend((record.nanos as u32).to_le_bytes());
        body.extend((bytes.len() as u32).to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(&bytes);
        pad(&mut body);
        block(&mut out, 6, &body);
    }
    out
}

fn pad(body: &mut Vec<u8>) {
    while !body.len().is_multiple_of(4) {
        body.push(0);
    }
}

/// An option of a block; number 0 ends them. Values above 65535 bytes are cut off.
fn option(body: &mut Vec<u8>, number: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    body.extend(number.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

fn block(out: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let length = (body.len() as u32 + 12).to_le_bytes();
    out.extend(kind.to_le_bytes());
    out.extend(length);
    out.extend(body);
    out.extend(length);
}

/// The headers, and the length of the whole packet.
fn packet(r: &Record) -> (Vec<u8>, u32) {
    let transport = transport(r);
    let whole = 20 + transport.len() as u32 + u32::from(r.payload);
    let mut bytes = Vec::with_capacity(OUTER + transport.len());
    bytes.extend(mac(r.dst));
    bytes.extend(mac(r.src));
    bytes.extend([0x08, 0x00]);
    let mut ip = [0_u8; 20];
    ip[0] = 0x45;
    ip[1] = r.class << 2 | r.ecn as u8;
    ip[2..4].copy_from_slice(&(whole.min(65_535) as u16).to_be_bytes());
    ip[6] = 0x40; // not to be fragmented
    ip[8] = 64_u8.saturating_sub(r.hops);
    ip[9] = match r.header {
        Header::Tcp { .. } => 6,
        Header::Roce { .. } => 17,
    };
    ip[12..16].copy_from_slice(&address(r.src));
    ip[16..20].copy_from_slice(&address(r.dst));
    let sum = checksum(&ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(ip);
    bytes.extend(&transport);
    (bytes, 14 + whole)
}

/// The transport header. Its checksum is zero: it would cover a payload that is not written.
fn transport(r: &Record) -> Vec<u8> {
    let near = 1024 + (r.conn % (u32::from(RECEIVER) - 1024)) as u16;
    let mut bytes = Vec::with_capacity(24);
    match r.header {
        Header::Tcp { seq, ack, flags } => {
            let ports = if r.back {
                [RECEIVER, near]
            } else {
                [near, RECEIVER]
            };
            bytes.extend(ports.map(u16::to_be_bytes).as_flattened());
            bytes.extend(seq.to_be_bytes());
            bytes.extend(ack.to_be_bytes());
            bytes.extend([0x50, flags]);
            bytes.extend([0xff, 0xff, 0, 0, 0, 0]); // window, checksum, urgent pointer
        }
        Header::Roce { opcode, psn } => {
            // An acknowledgement has a header of its own behind the first one.
            let more: &[u8] = if opcode == 0x11 { &[0; 4] } else { &[] };
            let length = 8 + 12 + more.len() as u32 + u32::from(r.payload);
            bytes.extend([near, ROCE].map(u16::to_be_bytes).as_flattened());
            bytes.extend((length.min(65_535) as u16).to_be_bytes());
            bytes.extend([0, 0]);
            bytes.extend([opcode, 0, 0xff, 0xff]);
            bytes.extend((r.conn & 0xff_ffff).to_be_bytes());
            bytes.extend((psn & 0xff_ffff).to_be_bytes());
            bytes.extend(more);
        }
    }
    bytes
}

/// A locally administered address.
fn mac(host: u32) -> [u8; 6] {
    let h = host.to_be_bytes();
    [2, 0, h[0], h[1], h[2], h[3]]
}

fn address(host: u32) -> [u8; 4] {
    let h = host.wrapping_add(1).to_be_bytes();
    [10, h[1], h[2], h[3]]
}

/// The Internet checksum (RFC 1071).
fn checksum(header: &[u8; 20]) -> u16 {
    let words = header.chunks_exact(2);
    let sum: u32 = words
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of a header and its checksum in RFC 1071's manner, worked by hand.
    #[test]
    fn the_checksum_of_a_header_with_it_is_zero() {
        let record = Record {
            interface: 0,
            nanos: 0,
            src: 0,
            dst: 300,
            back: false,
            conn: 7,
            payload: 1460,
            ecn: Ecn::Ce,
            class: 5,
            hops: 3,
            header: Header::Tcp {
                seq: 1,
                ack: 1,
                flags: 0x18,
            },
        };
        let (bytes, length) = packet(&record);
        assert_eq!((bytes.len(), length), (54, 1514));
        let ip: [u8; 20] = bytes[14..34].try_into().expect("20 bytes");
        assert_eq!(checksum(&ip), 0);
        assert_eq!(&ip[..4], [0x45, 5 << 2 | 3, 0x05, 0xdc]);
        assert_eq!((ip[8], ip[9]), (61, 6));
        assert_eq!(&ip[12..], [10, 0, 0, 1, 10, 0, 1, 45]);
    }

    /// A whole file byte by byte: a section, an interface with three options, and one packet.
    #[test]
    fn a_file_is_written_as_the_draft_says() {
        let interfaces = [Interface {
            name: "a->b".to_owned(),
            rate: Rate::gbps(10),
        }];
        let record = Record {
            interface: 0,
            nanos: 0x1_0000_0002,
            src: 1,
            dst: 0,
            back: true,
            conn: 0,
            payload: 0,
            ecn: Ecn::NotEct,
            class: 0,
            hops: 2,
            header: Header::Tcp {
                seq: 1,
                ack: 1461,
                flags: 0x50,
            },
        };
        let got = file("cemark", &interfaces, &[record]);
        #[rustfmt::skip]
        let expected = [
            0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            4, 0, 6, 0, b'c', b'e', b'm', b'a', b'r', b'k', 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,

            1, 0, 0, 0, 52, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
            2, 0, 4, 0, b'a', b'-', b'>', b'b',
            8, 0, 8, 0, 0, 0xe4, 0x0b, 0x54, 2, 0, 0, 0,
            9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 52, 0, 0, 0,

            6, 0, 0, 0, 88, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 54, 0, 0, 0, 54, 0, 0, 0,
            2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8, 0,
            0x45, 0, 0, 40, 0, 0, 0x40, 0, 62, 6, 0x28, 0xce, 10, 0, 0, 2, 10, 0, 0, 1,
            0xc0, 0, 4, 0, 0, 0, 0, 1, 0, 0, 5, 0xb5, 0x50, 0x50, 0xff, 0xff, 0, 0, 0, 0,
            0, 0, 88, 0, 0, 0,
        ];
        assert_eq!(got, expected);
    }
}
