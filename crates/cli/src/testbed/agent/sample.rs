// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lengths of queues, asked of the kernel by netlink: one message for each sample.

use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

use super::network::{Network, enter};
use super::{Done, Told};

const RTM_NEWQDISC: u16 = 36;
const RTM_GETQDISC: u16 = 38;
const NLM_F_REQUEST: u16 = 1;
/// Without it the answer goes to listeners of changes only.
const NLM_F_ECHO: u16 = 8;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;
/// Lengths of the headers `nlmsghdr` and `tcmsg`.
const NLMSG: usize = 16;
const TCMSG: usize = 20;
/// The handle `1:`.
const HANDLE: u32 = 1 << 16;

/// Asks for one qdisc.
pub(super) struct Sampler {
    socket: OwnedFd,
    message: Vec<u8>,
    buffer: Vec<u8>,
}

impl Sampler {
    /// Sampler of a port of the network.
    pub(super) fn new(network: &Network, port: usize) -> Done<Sampler> {
        let (_, namespace, device) = &network.ports[port];
        enter(namespace)?;
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None, // protocol 0: NETLINK_ROUTE
        )
        .told("netlink")?;
        let index = index(device)?;
        network.leave()?;
        let mut message = Vec::with_capacity(NLMSG + TCMSG);
        message.extend(((NLMSG + TCMSG) as u32).to_ne_bytes());
        message.extend(RTM_GETQDISC.to_ne_bytes());
        message.extend((NLM_F_REQUEST | NLM_F_ECHO).to_ne_bytes());
        message.extend([0; 8]);
        message.extend([0; 4]);
        message.extend(index.to_ne_bytes());
        message.extend(HANDLE.to_ne_bytes());
        message.extend([0; 8]);
        Ok(Sampler {
            socket,
            message,
            buffer: vec![0; 32_768],
        })
    }

    /// Bytes that wait.
    pub(super) fn backlog(&mut self) -> Done<u32> {
        send(&self.socket, &self.message, SendFlags::empty()).told("netlink")?;
        let got = recv(&self.socket, &mut self.buffer[..], RecvFlags::DONTWAIT);
        let (_, n) = got.told("netlink")?;
        backlog(&self.buffer[..n]).ok_or_else(|| "netlink: no length of a queue".to_owned())
    }
}

/// The number of a device in this thread's namespace.
fn index(device: &str) -> Done<u32> {
    let out = std::process::Command::new("ip")
        .args(["-j", "link", "show", "dev", device])
        .output();
    let out = out.told("ip")?;
    let all: serde_json::Value = serde_json::from_slice(&out.stdout).told("ip")?;
    let index = all[0]["ifindex"].as_u64().ok_or("ip: no ifindex")?;
    u32::try_from(index).told("ip")
}

/// The attributes of a message: (type, contents).
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?) & 0x3fff;
        let contents = bytes.get(4..len)?;
        bytes = bytes.get((len + 3) & !3..).unwrap_or_default();
        Some((kind, contents))
    })
}

/// The second number of `gnet_stats_queue`.
fn backlog(message: &[u8]) -> Option<u32> {
    let kind = u16::from_ne_bytes(message.get(4..6)?.try_into().ok()?);
    if kind != RTM_NEWQDISC {
        return None;
    }
    let mut all = attributes(message.get(NLMSG + TCMSG..)?);
    let (_, stats) = all.find(|(kind, _)| *kind == TCA_STATS2)?;
    let (_, queue) = attributes(stats).find(|(kind, _)| *kind == TCA_STATS_QUEUE)?;
    Some(u32::from_ne_bytes(queue.get(4..8)?.try_into().ok()?))
}
