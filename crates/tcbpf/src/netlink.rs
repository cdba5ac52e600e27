// SPDX-License-Identifier: MIT OR Apache-2.0
//! The six requests of traffic control that are needed (rtnetlink(7), tc-bpf(8)): list qdiscs, make
//! and remove a `clsact` qdisc, make and remove a filter on its egress, list filters.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::netdevice::name_to_index;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
};

// <linux/netlink.h>, <linux/rtnetlink.h>
const ERROR: u16 = 2;
const DONE: u16 = 3;
const REQUEST: u16 = 1;
const ACK: u16 = 4;
const EXCLUSIVE: u16 = 0x200;
const CREATE: u16 = 0x400;
const DUMP: u16 = 0x300;
const NEW_QDISC: u16 = 36;
const DEL_QDISC: u16 = 37;
const GET_QDISC: u16 = 38;
const NEW_FILTER: u16 = 44;
const DEL_FILTER: u16 = 45;
const GET_FILTER: u16 = 46;
/// Bytes of a header, and of `struct tcmsg` behind it.
const HEAD: usize = 16;
const TCMSG: usize = 20;
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const CHAIN: u16 = 11;
const EGRESS_BLOCK: u16 = 14;
// <linux/pkt_sched.h>
const CLSACT: u32 = 0xffff_fff1;
const CLSACT_HANDLE: u32 = 0xffff_0000;
pub(crate) const INGRESS: u32 = 0xffff_fff2;
pub(crate) const EGRESS: u32 = 0xffff_fff3;
// <linux/pkt_cls.h>
const BPF_FD: u16 = 6;
const BPF_NAME: u16 = 7;
const BPF_FLAGS: u16 = 8;
const BPF_ID: u16 = 11;
const DIRECT_ACTION: u32 = 1;

/// The name of our filter.
const NAME: &str = "cemark";
/// Its priority among the filters of the device: those with a smaller one come first.
pub(crate) const PRIORITY: u32 = 3296;

/// A filter of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    handle: u32,
    info: u32,
    /// `bpf`, `u32`, `flower`, …
    pub(crate) kind: String,
    /// The name of a filter with a BPF program.
    pub(crate) name: Option<String>,
    /// The BPF program.
    pub(crate) program: Option<u32>,
}

impl Filter {
    /// A filter of a list. `None` in a chain that only another filter leads to.
    fn of(message: &[u8]) -> Option<Filter> {
        let attributes = message.get(TCMSG..)?;
        if find(attributes, CHAIN).is_some_and(|chain| u32_at(chain, 0) != 0) {
            return None;
        }
        let kind = text(find(attributes, KIND)?);
        let options = find(attributes, OPTIONS).filter(|_| kind == "bpf");
        Some(Filter {
            handle: u32_at(message, 8),
            info: u32_at(message, 16),
            name: options.and_then(|o| find(o, BPF_NAME)).map(text),
            program: options
                .and_then(|o| find(o, BPF_ID))
                .map(|id| u32_at(id, 0)),
            kind,
        })
    }

    /// Filters with a smaller one come first.
    pub(crate) fn priority(&self) -> u32 {
        self.info >> 16
    }

    /// Whether it is called as ours is. Its program says whether it is ours.
    pub(crate) fn is_called_ours(&self) -> bool {
        self.name.as_deref() == Some(NAME)
    }
}

/// The qdisc that takes the filters of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hooks {
    /// There is none.
    Free,
    /// `clsact`: filters of received and of sent packets.
    Clsact,
    /// `clsact`, whose filters of sent packets are a block that devices share.
    Block(u32),
    /// `ingress`: filters of received packets. The kernel adds a filter of sent packets to them.
    Ingress,
}

/// The hooks of a device in a list of qdiscs.
fn hooks(qdiscs: &[Vec<u8>], device: u32) -> Hooks {
    let here = |m: &&Vec<u8>| u32_at(m, 4) == device && u32_at(m, 12) == CLSACT;
    let Some(attributes) = qdiscs.iter().find(here).and_then(|m| m.get(TCMSG..)) else {
        return Hooks::Free;
    };
    let block = find(attributes, EGRESS_BLOCK).map_or(0, |b| u32_at(b, 0));
    match find(attributes, KIND) {
        Some(b"clsact\0") if block != 0 => Hooks::Block(block),
        Some(b"clsact\0") => Hooks::Clsact,
        _ => Hooks::Ingress,
    }
}

/// A socket for requests about one device.
pub(crate) struct Device {
    socket: OwnedFd,
    index: u32,
}

struct Request {
    kind: u16,
    flags: u16,
    handle: u32,
    parent: u32,
    info: u32,
    attributes: Vec<u8>,
}

/// Adds an attribute, padded to a multiple of four bytes.
fn attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(4 + value.len()).expect("a short attribute");
    to.extend_from_slice(&length.to_ne_bytes());
    to.extend_from_slice(&kind.to_ne_bytes());
    to.extend_from_slice(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes
        .get(at..at + 2)
        .map_or(0, |b| u16::from_ne_bytes([b[0], b[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .map_or(0, |b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

/// A text up to its zero byte.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The value of the first attribute of this kind.
fn find(mut bytes: &[u8], kind: u16) -> Option<&[u8]> {
    while bytes.len() >= 4 {
        let length = usize::from(u16_at(bytes, 0)).clamp(4, bytes.len());
        // The upper two bits are flags.
        if u16_at(bytes, 2) & 0x3fff == kind {
            return Some(&bytes[4..length]);
        }
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    None
}

impl Device {
    /// A device of this network namespace. `Err` with ENODEV where there is none.
    pub(crate) fn open(name: &str) -> io::Result<Device> {
        // NETLINK_ROUTE is protocol 0.
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None,
        )?;
        bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        // The kernel would cut a longer name off.
        if name.is_empty() || name.len() > 15 {
            return Err(rustix::io::Errno::NODEV.into());
        }
        let index = name_to_index(&socket, name)?;
        Ok(Device { socket, index })
    }

    /// Sends a request and returns the payloads of the messages that answer it.
    fn ask(&self, request: &Request) -> io::Result<Vec<Vec<u8>>> {
        let mut message = Vec::with_capacity(HEAD + TCMSG + request.attributes.len());
        let length = u32::try_from(HEAD + TCMSG + request.attributes.len()).expect("short");
        message.extend_from_slice(&length.to_ne_bytes());
        message.extend_from_slice(&request.kind.to_ne_bytes());
        message.extend_from_slice(&(REQUEST | request.flags).to_ne_bytes());
        message.extend_from_slice(&[0; 8]);
        message.extend_from_slice(&[0; 4]);
        for word in [self.index, request.handle, request.parent, request.info] {
            message.extend_from_slice(&word.to_ne_bytes());
        }
        message.extend_from_slice(&request.attributes);
        send(&self.socket, &message, SendFlags::empty())?;
        self.answers()
    }

    /// Reads until the end of a list, or the acknowledgement.
    fn answers(&self) -> io::Result<Vec<Vec<u8>>> {
        let (mut all, mut buffer) = (Vec::new(), vec![0; 65_536]);
        loop {
            let (_, length) = recv(&self.socket, &mut *buffer, RecvFlags::empty())?;
            let mut bytes = &buffer[..length];
            while bytes.len() >= HEAD {
                let length = (u32_at(bytes, 0) as usize).clamp(HEAD, bytes.len());
                let payload = &bytes[HEAD..length];
                match u16_at(bytes, 4) {
                    DONE => return Ok(all),
                    ERROR => {
                        return match i32::from_ne_bytes(u32_at(payload, 0).to_ne_bytes()) {
                            0 => Ok(all),
                            error => Err(io::Error::from_raw_os_error(-error)),
                        };
                    }
                    _ => all.push(payload.to_vec()),
                }
                bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
            }
        }
    }

    /// Makes the qdisc whose hooks take filters. `false` where it is there already.
    pub(crate) fn add_clsact(&self) -> io::Result<bool> {
        let mut attributes = Vec::new();
        attribute(&mut attributes, KIND, b"clsact\0");
        let done = self.ask(&Request {
            kind: NEW_QDISC,
            flags: ACK | CREATE | EXCLUSIVE,
            handle: CLSACT_HANDLE,
            parent: CLSACT,
            info: 0,
            attributes,
        });
        match done {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(e),
        }
    }

    pub(crate) fn remove_clsact(&self) -> io::Result<()> {
        let mut attributes = Vec::new();
        attribute(&mut attributes, KIND, b"clsact\0");
        self.ask(&Request {
            kind: DEL_QDISC,
            flags: ACK,
            handle: CLSACT_HANDLE,
            parent: CLSACT,
            info: 0,
            attributes,
        })
        .map(drop)
    }

    /// Calls a program for each packet that the device sends.
    pub(crate) fn add_filter(&self, program: BorrowedFd<'_>) -> io::Result<()> {
        let mut options = Vec::new();
        let fd = program.as_raw_fd();
        attribute(&mut options, BPF_FD, &fd.to_ne_bytes());
        attribute(&mut options, BPF_NAME, format!("{NAME}\0").as_bytes());
        attribute(&mut options, BPF_FLAGS, &DIRECT_ACTION.to_ne_bytes());
        let mut attributes = Vec::new();
        attribute(&mut attributes, KIND, b"bpf\0");
        attribute(&mut attributes, OPTIONS, &options);
        // Packets of every protocol: ETH_P_ALL, in the network's byte order.
        let protocol = u32::from(3_u16.to_be());
        self.ask(&Request {
            kind: NEW_FILTER,
            flags: ACK | CREATE | EXCLUSIVE,
            handle: 1,
            parent: EGRESS,
            info: PRIORITY << 16 | protocol,
            attributes,
        })
        .map(drop)
    }

    pub(crate) fn remove_filter(&self, filter: &Filter) -> io::Result<()> {
        let mut attributes = Vec::new();
        attribute(&mut attributes, KIND, b"bpf\0");
        self.ask(&Request {
            kind: DEL_FILTER,
            flags: ACK,
            handle: filter.handle,
            parent: EGRESS,
            info: filter.info,
            attributes,
        })
        .map(drop)
    }

    /// The payloads of a list of filters; none where there is no such hook.
    fn filters(&self, parent: u32) -> io::Result<Vec<Vec<u8>>> {
        let listed = self.ask(&Request {
            kind: GET_FILTER,
            flags: DUMP,
            handle: 0,
            parent,
            info: 0,
            attributes: Vec::new(),
        });
        match listed {
            // EINVAL, ENOENT: no clsact.
            Err(e) if matches!(e.raw_os_error(), Some(22 | 2)) => Ok(Vec::new()),
            other => other,
        }
    }

    /// Whether either hook has a filter.
    pub(crate) fn in_use(&self) -> io::Result<bool> {
        Ok(!self.filters(EGRESS)?.is_empty() || !self.filters(INGRESS)?.is_empty())
    }

    /// The filters of what the device sends, as the kernel asks them.
    pub(crate) fn egress(&self) -> io::Result<Vec<Filter>> {
        let all = self.filters(EGRESS)?;
        Ok(all.iter().filter_map(|m| Filter::of(m)).collect())
    }

    /// The qdisc or block that takes the filters of the device.
    pub(crate) fn hooks(&self) -> io::Result<Hooks> {
        let qdiscs = self.ask(&Request {
            kind: GET_QDISC,
            flags: DUMP,
            handle: 0,
            parent: 0,
            info: 0,
            attributes: Vec::new(),
        })?;
        Ok(hooks(&qdiscs, self.index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_found() {
        let mut bytes = Vec::new();
        attribute(&mut bytes, KIND, b"bpf\0");
        attribute(&mut bytes, BPF_NAME, b"a\0");
        attribute(&mut bytes, BPF_ID | 0x8000, &7_u32.to_ne_bytes());
        assert_eq!(bytes.len(), 8 + 8 + 8);
        assert_eq!(find(&bytes, KIND), Some(&b"bpf\0"[..]));
        assert_eq!(find(&bytes, BPF_NAME), Some(&b"a\0"[..]));
        assert_eq!(find(&bytes, BPF_ID).map(|b| u32_at(b, 0)), Some(7));
        assert_eq!(find(&bytes, OPTIONS), None);
        // A length of zero, which would never end, and one beyond the end.
        assert_eq!(find(&[0; 8], OPTIONS), None);
        assert_eq!(find(&[0xff, 0xff, 2, 0, 9], OPTIONS), Some(&[9][..]));
    }

    /// A message about `device`, with these words of `struct tcmsg` and these attributes.
    fn message(device: u32, [handle, parent, info]: [u32; 3], with: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for word in [device, handle, parent, info] {
            bytes.extend_from_slice(&word.to_ne_bytes());
        }
        for (kind, value) in with {
            attribute(&mut bytes, *kind, value);
        }
        bytes
    }

    #[test]
    fn hooks_are_those_of_the_device() {
        let clsact: &[(u16, &[u8])] = &[(KIND, b"clsact\0")];
        let block = [(KIND, &b"clsact\0"[..]), (EGRESS_BLOCK, &[22, 0, 0, 0])];
        let list = [
            message(7, [0x1_0000, 0xffff_ffff, 0], &[(KIND, b"htb\0")]),
            message(8, [CLSACT_HANDLE, CLSACT, 0], clsact),
            message(9, [CLSACT_HANDLE, CLSACT, 0], &[(KIND, b"ingress\0")]),
            message(10, [CLSACT_HANDLE, CLSACT, 0], &block),
        ];
        assert_eq!(hooks(&list, 7), Hooks::Free);
        assert_eq!(hooks(&list, 8), Hooks::Clsact);
        assert_eq!(hooks(&list, 9), Hooks::Ingress);
        let shared = Hooks::Block(u32::from_ne_bytes([22, 0, 0, 0]));
        assert_eq!(hooks(&list, 10), shared);
        assert_eq!(hooks(&[], 8), Hooks::Free);
        assert_eq!(hooks(&[vec![0; 3]], 8), Hooks::Free);
    }

    #[test]
    fn filters_of_other_chains_are_left_out() {
        let mut options = Vec::new();
        attribute(&mut options, BPF_NAME, b"cemark\0");
        attribute(&mut options, BPF_ID, &5_u32.to_ne_bytes());
        let words = [1, EGRESS, PRIORITY << 16 | 3];
        let bpf = message(8, words, &[(KIND, b"bpf\0"), (OPTIONS, &options)]);
        let read = Filter::of(&bpf).expect("a filter");
        assert!(read.is_called_ours() && read.priority() == PRIORITY);
        assert_eq!((read.kind.as_str(), read.program), ("bpf", Some(5)));
        // The options of another kind have other meanings.
        let u32s = message(8, words, &[(KIND, b"u32\0"), (OPTIONS, &options)]);
        let read = Filter::of(&u32s).expect("a filter");
        assert_eq!((read.name, read.program), (None, None));
        let chain = 1_u32.to_ne_bytes();
        let other = message(8, words, &[(KIND, b"u32\0"), (CHAIN, &chain)]);
        assert_eq!(Filter::of(&other), None);
    }
}
