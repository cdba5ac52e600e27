// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections: both ends of each, and the flows that they carry.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::time::Duration;

use cemark_testbed::{Key, LabFlow, address, port};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, acceptfrom_with, bind, connect,
    listen, recv, send, socket_with, sockopt,
};

use super::network::Network;
use super::{Done, Told};

/// Kinds of events: the upper half of an event's data is one of these, the lower half a number.
pub(super) mod kind {
    pub(crate) const SENDER: u64 = 0;
    pub(crate) const RECEIVER: u64 = 1 << 32;
    pub(crate) const LISTENER: u64 = 2 << 32;
    pub(crate) const TIMER: u64 = 3 << 32;
    pub(crate) const ASKS: u64 = 4 << 32;
    pub(crate) const ANSWERS: u64 = 5 << 32;
}

/// Lowest source port by sixteens.
const LOWEST: u32 = 0x600;
/// Bytes that are written or read at once.
const CHUNK: usize = 1 << 18;
/// Bits of the DSCP in the TOS byte are above those of ECN.
const DSCP: u8 = 2;

/// A connection. Without sockets its place is free.
#[derive(Default)]
pub(super) struct Conn {
    sender: Option<OwnedFd>,
    receiver: Option<OwnedFd>,
    pub(super) persistent: bool,
    pub(super) key: Key,
    /// The flow that it carries, by its place in the lab.
    pub(super) flow: Option<usize>,
    /// Bytes that are not yet written.
    left: u64,
    /// Bytes that the receiver has read since the connection began.
    pub(super) received: u64,
    /// Bytes received at which the connection's flow has ended.
    pub(super) end: u64,
    class: u8,
}

/// All connections.
pub(super) struct Conns<'a> {
    network: &'a Network,
    controls: &'a [String],
    pub(super) epoll: OwnedFd,
    pub(super) list: Vec<Conn>,
    free: Vec<usize>,
    idle: BTreeMap<Key, Vec<usize>>,
    /// By host and port.
    listeners: BTreeMap<(u32, u16), OwnedFd>,
    /// Connections whose other end is not accepted: by sender, its port, receiver.
    pending: BTreeMap<(Ipv4Addr, u16, u32), usize>,
    /// Next source port by host and band, in sixteens.
    next_port: BTreeMap<(u32, u8), u32>,
    buffer: Vec<u8>,
}

pub(super) fn ip(host: u32) -> Ipv4Addr {
    Ipv4Addr::from(address(host))
}

pub(super) fn watch(epoll: &OwnedFd, fd: &OwnedFd, data: u64, flags: EventFlags) -> Done<()> {
    let flags = flags | EventFlags::ET;
    epoll::add(epoll, fd, EventData::new_u64(data), flags).told("epoll")
}

impl<'a> Conns<'a> {
    pub(super) fn new(network: &'a Network, controls: &'a [String]) -> Done<Conns<'a>> {
        Ok(Conns {
            network,
            controls,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC).told("epoll")?,
            list: Vec::new(),
            free: Vec::new(),
            idle: BTreeMap::new(),
            listeners: BTreeMap::new(),
            pending: BTreeMap::new(),
            next_port: BTreeMap::new(),
            buffer: vec![0; CHUNK],
        })
    }

    /// The congestion control of a connection.
    fn control(&self, key: Key) -> Done<&'a str> {
        let control = self.controls.get(usize::from(key.control));
        control
            .map(String::as_str)
            .ok_or("a connection without congestion control".to_owned())
    }

    fn listener(&mut self, host: u32, port: u16, control: &str) -> Done<()> {
        if self.listeners.contains_key(&(host, port)) {
            return Ok(());
        }
        let fd = self.network.at(host, || tcp(control))?;
        let here = SocketAddrV4::new(ip(host), port);
        bind(&fd, &here).told("bind")?;
        listen(&fd, 4096).told("listen")?;
        let number = u64::from(host) << 16 | u64::from(port);
        watch(&self.epoll, &fd, kind::LISTENER | number, EventFlags::IN)?;
        self.listeners.insert((host, port), fd);
        Ok(())
    }

    /// Opens a connection.
    pub(super) fn open(&mut self, key: Key, persistent: bool) -> Done<usize> {
        let Key { src, dst, band, .. } = key;
        let (control, at) = (self.control(key)?, port(key.control, key.back));
        self.listener(dst, at, control)?;
        let fd = self.network.at(src, || tcp(control))?;
        let next = self.next_port.entry((src, band)).or_insert(LOWEST);
        let port = (*next << 4) as u16 | u16::from(band);
        *next = if *next == 0xfff { LOWEST } else { *next + 1 };
        bind(&fd, &SocketAddrV4::new(ip(src), port)).told("bind")?;
        let there = SocketAddrV4::new(ip(dst), at);
        match connect(&fd, &there) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(e) => return Err(format!("connect: {e}")),
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.list.push(Conn::default());
            self.list.len() - 1
        });
        watch(
            &self.epoll,
            &fd,
            kind::SENDER | place as u64,
            EventFlags::OUT,
        )?;
        self.pending.insert((ip(src), port, dst), place);
        self.list[place] = Conn {
            sender: Some(fd),
            persistent,
            key,
            ..Conn::default()
        };
        Ok(place)
    }

    /// Accepts all that wait at a listener.
    pub(super) fn accept(&mut self, number: u64) -> Done<()> {
        let (host, port) = ((number >> 16) as u32, number as u16);
        let Some(listener) = self.listeners.get(&(host, port)) else {
            return Ok(());
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        loop {
            let (fd, from) = match acceptfrom_with(listener, flags) {
                Ok(accepted) => accepted,
                Err(Errno::AGAIN) => return Ok(()),
                Err(e) => return Err(format!("accept: {e}")),
            };
            let from = from.and_then(|a| SocketAddrV4::try_from(a).ok());
            let from = from.ok_or("a connection from nowhere")?;
            let Some(place) = self.pending.remove(&(*from.ip(), from.port(), host)) else {
                continue;
            };
            prepare(&fd)?;
            sockopt::set_ip_tos(&fd, self.list[place].class << DSCP).told("IP_TOS")?;
            let data = kind::RECEIVER | place as u64;
            watch(&self.epoll, &fd, data, EventFlags::IN)?;
            self.list[place].receiver = Some(fd);
        }
    }

    /// An idle persistent connection.
    pub(super) fn idle(&mut self, key: Key) -> Option<usize> {
        self.idle.get_mut(&key)?.pop()
    }

    /// Starts a flow on a connection.
    pub(super) fn start(&mut self, place: usize, number: usize, flow: &LabFlow) -> Done<()> {
        let c = &mut self.list[place];
        c.flow = Some(number);
        c.left = flow.bytes;
        c.end = c.received.saturating_add(flow.bytes);
        c.class = flow.class;
        for fd in c.sender.iter().chain(&c.receiver) {
            sockopt::set_ip_tos(fd, flow.class << DSCP).told("IP_TOS")?;
        }
        self.write(place)
    }

    /// Writes as much as the socket takes.
    pub(super) fn write(&mut self, place: usize) -> Done<()> {
        let c = &mut self.list[place];
        let Some(fd) = &c.sender else { return Ok(()) };
        while c.left > 0 {
            let chunk = c.left.min(CHUNK as u64) as usize;
            match send(fd, &self.buffer[..chunk], SendFlags::NOSIGNAL) {
                Ok(_) if c.left == u64::MAX => {}
                Ok(n) => c.left -= n as u64,
                // It is not connected yet, or full.
                Err(Errno::AGAIN | Errno::NOTCONN) => break,
                Err(e) => return Err(format!("send: {e}")),
            }
        }
        Ok(())
    }

    /// Reads what has arrived; returns how much.
    pub(super) fn read(&mut self, place: usize) -> Done<u64> {
        let c = &mut self.list[place];
        let Some(fd) = &c.receiver else { return Ok(0) };
        let mut sum = 0;
        loop {
            // The bytes are of no interest, and TRUNC spares their copy.
            match recv(fd, &mut self.buffer[..], RecvFlags::TRUNC) {
                Ok((_, 0)) | Err(Errno::AGAIN) => break,
                Ok((_, n)) => sum += n as u64,
                Err(e) => return Err(format!("receive: {e}")),
            }
        }
        c.received += sum;
        Ok(sum)
    }

    /// The flow of a connection has ended: the connection waits for another one, or is closed.
    pub(super) fn ended(&mut self, place: usize) {
        let c = &mut self.list[place];
        c.flow = None;
        if c.persistent {
            self.idle.entry(c.key).or_default().push(place);
            return;
        }
        *c = Conn::default();
        self.free.push(place);
    }

    /// A persistent connection that carries nothing.
    pub(super) fn rests(&mut self, place: usize) {
        let key = self.list[place].key;
        self.idle.entry(key).or_default().push(place);
    }
}

fn tcp(control: &str) -> Done<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).told("socket")?;
    // Accepted sockets have that of their listener.
    let set = sockopt::set_tcp_congestion(&fd, control);
    set.told(&format!("congestion control {control}"))?;
    prepare(&fd)?;
    Ok(fd)
}

/// No delay of small segments; and a closed connection leaves nothing behind.
fn prepare(fd: &OwnedFd) -> Done<()> {
    sockopt::set_tcp_nodelay(fd, true).told("TCP_NODELAY")?;
    sockopt::set_socket_reuseaddr(fd, true).told("SO_REUSEADDR")?;
    sockopt::set_socket_linger(fd, Some(Duration::ZERO)).told("SO_LINGER")
}
