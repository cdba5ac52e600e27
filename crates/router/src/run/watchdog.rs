// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signs of life for systemd (sd_notify), which ends a program that hangs (`WatchdogSec`).

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use cemark_wire::Nanos;

/// Time between two signs of life.
const EVERY: Nanos = Nanos::from_millis(500);

/// Socket of the service manager, if there is one.
pub(super) struct Watchdog {
    to: Option<(UnixDatagram, SocketAddr)>,
    next: Nanos,
}

impl Watchdog {
    /// Reads the environment variable `NOTIFY_SOCKET`.
    pub(super) fn new() -> Watchdog {
        let to = std::env::var("NOTIFY_SOCKET").ok().and_then(|name| {
            let address = match name.strip_prefix('@') {
                Some(name) => SocketAddr::from_abstract_name(name),
                None => SocketAddr::from_pathname(name),
            };
            let socket = UnixDatagram::unbound().ok()?;
            socket.set_nonblocking(true).ok()?;
            Some((socket, address.ok()?))
        });
        Watchdog {
            to,
            next: Nanos::ZERO,
        }
    }

    /// Gives a sign of life if one is due.
    pub(super) fn live(&mut self, now: Nanos) {
        if let Some((socket, address)) = &self.to
            && now >= self.next
        {
            let _ = socket.send_to_addr(b"WATCHDOG=1", address);
            self.next = now + EVERY;
        }
    }
}
