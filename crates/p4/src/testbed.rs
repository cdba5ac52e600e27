// SPDX-License-Identifier: MIT OR Apache-2.0
//! A switch around a program: it makes packets, runs them through ingress and egress with the
//! intrinsic metadata that the hardware would add, and reads what came out.

use std::sync::Arc;

use crate::Machine;
use crate::ir::{Entry, Pattern, Program, Slot};
use crate::run::Written;

/// A packet, and when and where it passes the switch.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// The port and the queue that it leaves through.
    pub queue: (u16, u8),
    /// When it arrives at the ingress, in nanoseconds.
    pub arrived: u64,
    /// When it arrives at the egress.
    pub now: u64,
    /// Its ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// Whether it is IPv6.
    pub v6: bool,
    /// Whether it has a VLAN tag.
    pub vlan: bool,
    /// Whether it is not of IP, and so has no ECN field.
    pub other: bool,
    /// Bytes in the queue as it joined and as it left it.
    pub depths: (u32, u32),
    /// Bytes of the packet.
    pub bytes: u32,
}

impl Passage {
    /// An ECT(0) packet of IPv4 and 1500 bytes at port 0, queue 0.
    pub fn new(arrived: u64, now: u64) -> Self {
        Passage {
            queue: (0, 0),
            arrived,
            now,
            ecn: 2,
            v6: false,
            vlan: false,
            other: false,
            depths: (0, 0),
            bytes: 1500,
        }
    }
}

/// Decision of a program about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Its reason: 0 none, 1 instantaneous, 2 persistent, 3 tentative.
    pub why: u8,
    /// The ECN field of the packet that left.
    pub ecn: u8,
}

/// A packet on its way through the egress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Through {
    /// Decision of the program.
    pub came: Came,
    /// Bytes that the egress parser saw: intrinsic metadata, the bridged header, the packet.
    pub seen: Vec<u8>,
    /// Bytes of the packet that left.
    pub left: Vec<u8>,
}

/// A switch of the Tofino architecture with one program.
#[derive(Debug)]
pub struct Testbed {
    machine: Machine,
    arrival: Slot,
    departure: Slot,
    why: Slot,
    /// The intrinsic header in front of a packet at the egress: names and widths.
    intrinsic: Vec<(String, u32)>,
    forward: usize,
    send: usize,
    queues: Vec<(u16, u8)>,
    packets: u16,
}

/// Bytes of Ethernet, and of the headers behind it.
const ETHERNET: usize = 14;
const IPV4: usize = 20;
const IPV6: usize = 40;

impl Testbed {
    /// A switch with this program, which is built on `switch.p4`.
    ///
    /// # Panics
    ///
    /// If it is not.
    pub fn new(program: Arc<Program>) -> Self {
        let field = |name: &str| {
            let slot = program.field(name);
            slot.unwrap_or_else(|| panic!("{} has no {name}", program.file))
        };
        let header = "egress.eg_intr_md";
        let intrinsic = program.headers.iter().find(|h| h.name == header);
        let intrinsic = intrinsic.unwrap_or_else(|| panic!("there is no {header}"));
        let names = intrinsic.fields.iter().map(|slot| {
            let field = &program.fields[*slot];
            let (_, name) = field.name.rsplit_once('.').expect("a path");
            (name.to_owned(), field.width)
        });
        let forward = program
            .table("ingress.forward")
            .expect("a forwarding table");
        let send = program
            .actions
            .iter()
            .position(|a| a.name == "ingress.send");
        Testbed {
            arrival: field("ingress.ig_prsr_md.global_tstamp"),
            departure: field("egress.eg_prsr_md.global_tstamp"),
            why: field("egress.md.why"),
            intrinsic: names.collect(),
            forward,
            send: send.expect("an action"),
            queues: Vec::new(),
            packets: 0,
            machine: Machine::new(program),
        }
    }

    /// The machine, to set entries or read fields.
    pub fn machine(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// Sends a packet through.
    ///
    /// # Errors
    ///
    /// Where a packet is lost, or comes out as no correct program would send it: with bytes changed
    /// that are neither ECN nor checksum, with a checksum that is wrong, or with CE where it was
    /// Not-ECT.
    pub fn pass(&mut self, p: &Passage) -> Result<Came, String> {
        self.through(p).map(|through| through.came)
    }

    /// Sends a packet through, and keeps what the egress saw and sent.
    ///
    /// # Errors
    ///
    /// As [`pass`](Testbed::pass).
    pub fn through(&mut self, p: &Passage) -> Result<Through, String> {
        self.route(p.queue);
        let sent = self.packet(p);
        let front = [0u8; 16];
        self.machine.begin(0);
        self.machine.set(self.arrival, u128::from(p.arrived));
        let bridged = self.machine.run(0, &[&front[..], &sent].concat());
        let bridged = bridged.ok_or("the ingress parser refused it")?;

        let mut front = Written::default();
        for (name, width) in &self.intrinsic {
            let value = match name.as_str() {
                "egress_port" => u128::from(p.queue.0),
                "egress_qid" => u128::from(p.queue.1),
                // In cells of 80 bytes.
                "enq_qdepth" => u128::from(p.depths.0.div_ceil(80)),
                "deq_qdepth" => u128::from(p.depths.1.div_ceil(80)),
                "deq_timedelta" => u128::from(p.now.saturating_sub(p.arrived)),
                "enq_tstamp" => u128::from(p.arrived),
                "pkt_length" => u128::from(p.bytes),
                // A program has to take no notice of these.
                pad if pad.starts_with("_pad") => u128::from(self.packets),
                _ => 0,
            };
            front.put(crate::run::mask(value, *width), *width);
        }
        self.machine.begin(1);
        self.machine.set(self.departure, u128::from(p.now));
        let seen = front.with(&bridged);
        let left = self.machine.run(1, &seen);
        let left = left.ok_or("the egress parser refused it")?;
        let why = self.machine.get(self.why) as u8;
        let came = check(&sent, &left, p).map(|ecn| Came { why, ecn })?;
        Ok(Through { came, seen, left })
    }

    /// An entry for the packets to a queue, once.
    fn route(&mut self, queue: (u16, u8)) {
        if self.queues.contains(&queue) {
            return;
        }
        self.queues.push(queue);
        let entry = Entry {
            patterns: vec![Pattern::Mask(address(queue), u128::MAX)],
            action: self.send,
            args: vec![queue.0.into(), queue.1.into()],
        };
        self.machine.insert(self.forward, entry);
    }

    /// Ethernet and IP with a good checksum. Some checksums are small, so that an update borrows.
    fn packet(&mut self, p: &Passage) -> Vec<u8> {
        self.packets = self.packets.wrapping_add(1);
        let mut bytes = address(p.queue).to_be_bytes()[10..].to_vec();
        bytes.extend([2, 0, 0, 0, 0, 2]);
        let dscp = (self.packets & 63) as u8;
        if p.vlan {
            bytes.extend([0x81, 0x00, 0x20, 0x07]);
        }
        if p.other {
            bytes.extend([0x08, 0x06]);
        } else if p.v6 {
            let (high, low) = (0x60 | dscp >> 2, dscp << 6 | p.ecn << 4);
            bytes.extend([0x86, 0xdd, high, low, 0, 0, 0, 4, 6, 64]);
            bytes.resize(before(p) + IPV6, 0x20);
        } else {
            let first = dscp << 2 | p.ecn;
            let mut ip = [
                0x45, first, 0, 24, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
            ];
            let mut identification = self.packets;
            if identification.is_multiple_of(8) {
                let small = identification / 8 % 4;
                let rest = u32::from(ones_complement(&ip));
                identification = ((0xffff_u32 - u32::from(small) + 0xffff - rest) % 0xffff) as u16;
            }
            ip[4..6].copy_from_slice(&identification.to_be_bytes());
            let sum = !ones_complement(&ip);
            ip[10..12].copy_from_slice(&sum.to_be_bytes());
            bytes.extend([0x08, 0x00]);
            bytes.extend(ip);
        }
        bytes.extend(b"data");
        bytes
    }
}

/// Bytes in front of the header of IP.
fn before(p: &Passage) -> usize {
    if p.vlan { ETHERNET + 4 } else { ETHERNET }
}

/// The address of the packets to a queue.
fn address(queue: (u16, u8)) -> u128 {
    0x0200_0000_0000 | u128::from(queue.0) << 8 | u128::from(queue.1)
}

/// The sum of 16-bit words that a checksum makes 0xffff (RFC 1071).
fn ones_complement(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
    let sum = words.fold(0, |sum, word| {
        let sum: u32 = sum + word;
        (sum & 0xffff) + (sum >> 16)
    });
    sum as u16
}

/// The ECN field of what came, if all else is as it was sent.
fn check(sent: &[u8], came: &[u8], p: &Passage) -> Result<u8, String> {
    if sent.len() != came.len() {
        return Err(format!("{} bytes became {}", sent.len(), came.len()));
    }
    if p.other {
        let same = sent == came;
        return same.then_some(p.ecn).ok_or("it has changed".to_owned());
    }
    let ip = before(p);
    let (place, shift) = (ip + 1, if p.v6 { 4 } else { 0 });
    let field = |bytes: &[u8]| bytes[place] >> shift & 3;
    let (before, after) = (field(sent), field(came));
    let mut rest = came.to_vec();
    rest[place] ^= (before ^ after) << shift;
    if !p.v6 {
        if ones_complement(&came[ip..ip + IPV4]) != 0xffff {
            return Err("the checksum is wrong".to_owned());
        }
        rest[ip + 10..ip + 12].copy_from_slice(&sent[ip + 10..ip + 12]);
    }
    if rest != sent {
        return Err("other bytes than ECN and checksum have changed".to_owned());
    }
    if before != after && (after != 3 || before == 0) {
        return Err(format!("ECN {before:02b} became {after:02b}"));
    }
    Ok(after)
}
