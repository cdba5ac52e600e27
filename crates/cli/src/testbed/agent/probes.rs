// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pings: UDP datagrams that are ECN-capable and of the class of their workload.

use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;

use cemark_testbed::{LabProbe, port};
use rustix::event::epoll::EventFlags;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, connect, recv, send,
    socket_with, sockopt,
};

use super::conns::{ip, kind, watch};
use super::network::Network;
use super::{Done, Told};

/// Payload of a ping: with its headers 40 bytes.
const BYTES: usize = 12;
/// Where the ports of those who ask begin, and of those who answer; both by sixteens.
const ASKS: u16 = 0x5800;
const ECT0: u8 = 2;

/// The sockets of one workload of pings.
pub(super) struct Probe {
    asks: OwnedFd,
    answers: OwnedFd,
}

impl Probe {
    pub(super) fn new(
        network: &Network,
        epoll: &OwnedFd,
        number: usize,
        p: &LabProbe,
    ) -> Done<Probe> {
        let place = (number as u16) << 4;
        let asks = SocketAddrV4::new(ip(p.src), ASKS + place + u16::from(p.bands.0));
        let answers = SocketAddrV4::new(ip(p.dst), port(0, p.bands.1) + place);
        let probe = Probe {
            asks: udp(network, p.src, asks, p.class)?,
            answers: udp(network, p.dst, answers, p.class)?,
        };
        connect(&probe.asks, &answers).told("connect")?;
        connect(&probe.answers, &asks).told("connect")?;
        let number = number as u64;
        watch(epoll, &probe.asks, kind::ASKS | number, EventFlags::IN)?;
        watch(
            epoll,
            &probe.answers,
            kind::ANSWERS | number,
            EventFlags::IN,
        )?;
        Ok(probe)
    }

    pub(super) fn ask(&self, now: u64) -> Done<()> {
        let mut message = [0; BYTES];
        message[..8].copy_from_slice(&now.to_le_bytes());
        send(&self.asks, &message, SendFlags::NOSIGNAL).told("ping")?;
        Ok(())
    }

    /// Answers all that has arrived.
    pub(super) fn answer(&self) -> Done<()> {
        let mut message = [0; BYTES];
        while recv(&self.answers, &mut message[..], RecvFlags::empty()).is_ok() {
            send(&self.answers, &message, SendFlags::NOSIGNAL).told("ping")?;
        }
        Ok(())
    }

    /// When the answers that have arrived were asked for.
    pub(super) fn answered(&self) -> Vec<u64> {
        let (mut message, mut all) = ([0; BYTES], Vec::new());
        while recv(&self.asks, &mut message[..], RecvFlags::empty()).is_ok() {
            let (sent, _) = message.split_at(8);
            all.push(u64::from_le_bytes(sent.try_into().unwrap_or_default()));
        }
        all
    }
}

fn udp(network: &Network, host: u32, here: SocketAddrV4, class: u8) -> Done<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = network.at(host, || {
        socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None).told("socket")
    })?;
    sockopt::set_ip_tos(&fd, class << 2 | ECT0).told("IP_TOS")?;
    bind(&fd, &here).told("bind")?;
    Ok(fd)
}
