// SPDX-License-Identifier: MIT OR Apache-2.0
//! A UDP socket for each lane. Each has ports of its own, so that a network that balances flows
//! keeps a lane on one path.

use super::say::say;
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use cemark_wire::Ecn;
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use rustix::net::sockopt;

use crate::config::Tunnel;

/// Datagrams, or trains of them, of one read.
const READ: usize = 16;
/// Bytes of the longest train.
const LONGEST: usize = 65_535;
/// Bytes of a train that is sent, less than the kernel takes.
const TRAIN: usize = 60_000;
/// Bytes that a socket may hold, as far as the kernel allows.
const BUFFER: usize = 8 << 20;

/// UDP socket of a lane, with the kernel's abilities for reading.
pub(super) struct Socket {
    udp: UdpSocket,
    state: UdpSocketState,
}

impl Socket {
    fn open(local: SocketAddr, peer: SocketAddr) -> io::Result<Socket> {
        let udp = UdpSocket::bind(local)?;
        udp.connect(peer)?;
        let state = UdpSocketState::new((&udp).into())?;
        // Beyond the kernel's limits, which takes CAP_NET_ADMIN, or up to them.
        if sockopt::set_socket_send_buffer_size_force(&udp, BUFFER).is_err() {
            state.set_send_buffer_size((&udp).into(), BUFFER)?;
        }
        if sockopt::set_socket_recv_buffer_size_force(&udp, BUFFER).is_err() {
            state.set_recv_buffer_size((&udp).into(), BUFFER)?;
        }
        Ok(Socket { udp, state })
    }

    /// The smaller of its two buffers, in bytes of packets: the kernel counts twice as much.
    fn buffer(&self) -> io::Result<usize> {
        let socket = &self.udp;
        let send = self.state.send_buffer_size(socket.into())?;
        let receive = self.state.recv_buffer_size(socket.into())?;
        Ok(send.min(receive) / 2)
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

/// Abilities of the kernel for the sending of one lane.
struct Sending {
    state: UdpSocketState,
    /// Whether datagrams may leave in trains: with `offload`, until the kernel refuses one.
    in_trains: bool,
}

impl Sending {
    /// Most datagrams of a train. It falls when the kernel has refused one.
    fn longest(&self) -> usize {
        if self.in_trains {
            self.state.max_gso_segments()
        } else {
            1
        }
    }

    /// Sends a train, or a datagram. After EINVAL `quinn-udp` would write no ECN field, and after
    /// EIO no train: what it has concluded is forgotten.
    fn send(&mut self, socket: &UdpSocket, transmit: &Transmit<'_>) -> io::Result<()> {
        let before = self.state.max_gso_segments();
        let sent = self.state.try_send(socket.into(), transmit);
        let refused = sent.as_ref().is_err_and(is_refusal);
        if refused || self.state.max_gso_segments() < before {
            self.state = UdpSocketState::new(socket.into())?;
        }
        sent
    }
}

/// The way out.
pub(super) struct Lanes {
    peers: Vec<SocketAddr>,
    sockets: Arc<[Socket]>,
    sending: Vec<Sending>,
    trains: Vec<Train>,
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
        let (mut sockets, mut sending) = (Vec::new(), Vec::new());
        for (lane, peer) in peers.iter().enumerate() {
            let local = of(tunnel.local, lane as u16);
            let said = |e| format!("no socket from {local} to {peer}: {e}");
            let socket = Socket::open(local, *peer).map_err(said)?;
            let state = UdpSocketState::new(socket.udp().into()).map_err(said)?;
            sending.push(Sending {
                state,
                in_trains: tunnel.offload,
            });
            let buffer = socket.buffer().map_err(said)?;
            if lane == 0 && buffer < BUFFER {
                say(format!(
                    "each socket holds {buffer} bytes instead of {BUFFER}: run it \
                     with CAP_NET_ADMIN, or set net.core.wmem_max and net.core.rmem_max"
                ));
            }
            sockets.push(socket);
        }
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
            sending,
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
        let longest = self.sending[lane].longest();
        let train = &self.trains[lane];
        let fits = train.count > 0
            && !train.ended
            && train.ecn == ecn
            && size <= train.size
            && train.count < longest
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
        if longest == 1 {
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
        let (sending, socket) = (&mut self.sending[lane], &self.sockets[lane].udp);
        let (destination, ecn) = (self.peers[lane], EcnCodepoint::from_bits(train.ecn as u8));
        let transmit = |contents, segment_size| Transmit {
            destination,
            ecn,
            contents,
            segment_size,
            src_ip: None,
        };
        let errors = &mut self.errors;
        let mut send = |contents, segment_size| {
            let transmit = transmit(contents, segment_size);
            // An error that the path reported earlier comes instead of the first call's result.
            match sending.send(socket, &transmit) {
                Err(e) if is_of_path(&e) => {
                    *errors += 1;
                    sending.send(socket, &transmit)
                }
                done => done,
            }
        };
        let whole = send(&train.bytes, (train.count > 1).then_some(train.size));
        match whole {
            Ok(()) => self.trains_sent += 1,
            Err(e) if train.count > 1 && is_refusal(&e) => {
                let mut sent = 0;
                for datagram in train.bytes.chunks(train.size) {
                    sent += usize::from(send(datagram, None).is_ok());
                }
                self.trains_sent += sent as u64;
                self.dropped += (train.count - sent) as u64;
                // Otherwise it was no matter of trains.
                if sent > 0 {
                    sending.in_trains = false;
                    say(format!("the kernel takes no trains of datagrams: {e}"));
                }
            }
            Err(e) => {
                *errors += usize::from(is_of_path(&e));
                self.dropped += train.count as u64;
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

/// Whether the kernel refuses the form of a datagram or train (EIO, EINVAL).
fn is_refusal(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(5 | 22))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tunnel(local: u16, peer: u16) -> Tunnel {
        let text = format!(
            "[tunnel]\nlocal = \"127.0.0.1:{local}\"\npeer = \"127.0.0.1:{peer}\"\nkey = \"k\"\n\
             routes = [\"10.2.0.0/16\"]\nlanes = 1\noffload = true\n"
        );
        crate::config::parse(&text).expect("it is right").tunnel
    }

    /// Two free ports.
    fn ports() -> [u16; 2] {
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("a port");
        let both = [bind(), bind()];
        both.map(|s| s.local_addr().expect("it is bound").port())
    }

    /// All that has arrived: how many datagrams, and of which fields.
    fn arrived(reader: &mut Reader) -> Vec<(Ecn, usize)> {
        let mut all = Vec::new();
        loop {
            let before = all.len();
            reader.read(0, |ecn, datagram| all.push((ecn, datagram.len())));
            if all.len() == before {
                return all;
            }
        }
    }

    /// The kernel refuses trains of more than 128 datagrams (EINVAL).
    #[test]
    fn a_refused_train_leaves_datagram_by_datagram_and_later_ones_keep_their_field() {
        let [one, other] = ports();
        let (mut lanes, _) = Lanes::open(&tunnel(one, other)).expect("sockets");
        let (_other, mut reader) = Lanes::open(&tunnel(other, one)).expect("sockets");
        lanes.trains[0] = Train {
            bytes: vec![1; 200 * 10],
            size: 10,
            count: 200,
            ecn: Ecn::Ect0,
            ended: false,
        };
        lanes.flush();
        assert_eq!(arrived(&mut reader), [(Ecn::Ect0, 10); 200]);
        assert_eq!((lanes.dropped, lanes.sending[0].in_trains), (0, false));
        for _ in 0..5 {
            lanes.send(0, Ecn::Ect0, &[2; 20], &[3; 30]);
        }
        lanes.flush();
        assert_eq!(arrived(&mut reader), [(Ecn::Ect0, 50); 5]);
    }
}
