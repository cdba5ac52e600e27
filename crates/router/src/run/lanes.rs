// SPDX-License-Identifier: MIT OR Apache-2.0
//! A UDP socket for each lane. Each has ports of its own, so that a network that balances flows
//! keeps a lane on one path.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use cemark_wire::Ecn;
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};

use crate::config::Tunnel;

/// Datagrams, or trains of them, of one read.
const READ: usize = 16;
/// Bytes of the longest train.
const LONGEST: usize = 65_535;
/// Bytes of a train that is sent, less than the kernel takes.
const TRAIN: usize = 60_000;
/// Bytes that a socket may hold, as far as the kernel allows.
const BUFFER: usize = 8 << 20;

/// A socket, and what is known of the kernel's abilities.
pub(super) struct Socket {
    udp: UdpSocket,
    state: UdpSocketState,
}

impl Socket {
    fn open(local: SocketAddr, peer: SocketAddr) -> io::Result<Socket> {
        let udp = UdpSocket::bind(local)?;
        udp.connect(peer)?;
        let state = UdpSocketState::new((&udp).into())?;
        state.set_send_buffer_size((&udp).into(), BUFFER)?;
        state.set_recv_buffer_size((&udp).into(), BUFFER)?;
        Ok(Socket { udp, state })
    }

    pub(super) fn udp(&self) -> &UdpSocket {
        &self.udp
    }
}

/// Datagrams of one lane that go out together: of one size, but for the last, and one ECN field.
struct Train {
    bytes: Vec<u8>,
    size: usize,
    count: usize,
    ecn: Ecn,
    ended: bool,
}

/// The way out.
pub(super) struct Lanes {
    peers: Vec<SocketAddr>,
    sockets: Arc<[Socket]>,
    trains: Vec<Train>,
    /// Datagrams of a train at most; 1 without offload.
    longest: usize,
    errors: usize,
    /// Trains that were sent.
    pub trains_sent: u64,
    /// Datagrams that the sockets did not take.
    pub dropped: u64,
}

impl Lanes {
    /// Opens the sockets of all lanes.
    pub(super) fn open(tunnel: &Tunnel) -> Result<(Lanes, Reader), String> {
        let of =
            |address: SocketAddr, lane: u16| SocketAddr::new(address.ip(), address.port() + lane);
        let peers: Vec<_> = (0..tunnel.lanes).map(|l| of(tunnel.peer, l)).collect();
        let mut sockets = Vec::new();
        for (lane, peer) in peers.iter().enumerate() {
            let local = of(tunnel.local, lane as u16);
            let socket = Socket::open(local, *peer)
                .map_err(|e| format!("no socket from {local} to {peer}: {e}"))?;
            sockets.push(socket);
        }
        let most = sockets[0].state.max_gso_segments();
        let sockets: Arc<[Socket]> = sockets.into();
        let empty = || Train {
            bytes: Vec::new(),
            size: 0,
            count: 0,
            ecn: Ecn::NotEct,
            ended: false,
        };
        let lanes = Lanes {
            trains: peers.iter().map(|_| empty()).collect(),
            peers,
            sockets: Arc::clone(&sockets),
            longest: if tunnel.offload { most } else { 1 },
            errors: 0,
            trains_sent: 0,
            dropped: 0,
        };
        Ok((lanes, Reader::new(sockets)))
    }

    /// Sends a datagram, at the end of the batch at the latest.
    pub(super) fn send(&mut self, lane: u16, ecn: Ecn, head: &[u8], body: &[u8]) {
        let lane = usize::from(lane);
        let size = head.len() + body.len();
        let train = &self.trains[lane];
        let fits = train.count > 0
            && !train.ended
            && train.ecn == ecn
            && size <= train.size
            && train.count < self.longest
            && train.bytes.len() + size <= TRAIN;
        if !fits {
            self.depart(lane);
        }
        let train = &mut self.trains[lane];
        if train.count == 0 {
            (train.size, train.ecn, train.ended) = (size, ecn, false);
        }
        train.ended = size < train.size;
        train.count += 1;
        train.bytes.extend_from_slice(head);
        train.bytes.extend_from_slice(body);
        if self.longest == 1 {
            self.depart(lane);
        }
    }

    /// Sends all that waits.
    pub(super) fn flush(&mut self) {
        for lane in 0..self.trains.len() {
            self.depart(lane);
        }
    }

    fn depart(&mut self, lane: usize) {
        let train = &mut self.trains[lane];
        if train.count == 0 {
            return;
        }
        let transmit = Transmit {
            destination: self.peers[lane],
            ecn: EcnCodepoint::from_bits(train.ecn as u8),
            contents: &train.bytes,
            segment_size: (train.count > 1).then_some(train.size),
            src_ip: None,
        };
        let socket = &self.sockets[lane];
        // An error that the path reported earlier comes instead of the result of the first call.
        for _ in 0..2 {
            match socket.state.try_send((&socket.udp).into(), &transmit) {
                Err(e) if is_of_path(&e) => self.errors += 1,
                Err(_) => {
                    self.dropped += train.count as u64;
                    break;
                }
                Ok(()) => {
                    self.trains_sent += 1;
                    break;
                }
            }
        }
        train.bytes.clear();
        train.count = 0;
    }

    /// Errors of the path since the last call.
    pub(super) fn errors(&mut self) -> usize {
        std::mem::take(&mut self.errors)
    }
}

/// Whether an ICMP message is the cause.
fn is_of_path(e: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    matches!(
        e.kind(),
        ConnectionRefused | HostUnreachable | NetworkUnreachable
    )
}

/// The way in, with buffers for one read.
pub(super) struct Reader {
    sockets: Arc<[Socket]>,
    buffers: Vec<Vec<u8>>,
    metas: [RecvMeta; READ],
    /// Errors of the path since the owner looked.
    pub errors: usize,
}

impl Reader {
    fn new(sockets: Arc<[Socket]>) -> Reader {
        Reader {
            sockets,
            buffers: vec![vec![0; LONGEST]; READ],
            metas: [RecvMeta::default(); READ],
            errors: 0,
        }
    }

    /// The sockets, to wait for.
    pub(super) fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// Reads a lane once.
    pub(super) fn read(&mut self, lane: usize, mut each: impl FnMut(Ecn, &mut [u8])) {
        let socket = &self.sockets[lane];
        let mut slices: [IoSliceMut<'_>; READ] = self
            .buffers
            .iter_mut()
            .map(|b| IoSliceMut::new(b))
            .collect::<Vec<_>>()
            .try_into()
            .unwrap_or_else(|_| unreachable!("as many buffers as a read takes"));
        let read = socket
            .state
            .recv((&socket.udp).into(), &mut slices, &mut self.metas);
        let count = match read {
            Ok(count) => count,
            Err(e) => {
                self.errors += usize::from(is_of_path(&e));
                return;
            }
        };
        for (meta, buffer) in self.metas[..count].iter().zip(&mut self.buffers) {
            let ecn = meta.ecn.map_or(Ecn::NotEct, |e| Ecn::from_bits(e as u8));
            for datagram in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                each(ecn, datagram);
            }
        }
    }
}
