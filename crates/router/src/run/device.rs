// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tun device: packets of this site's hosts come out of it, and packets for them go in. It is
//! gone with its process, and its routes with it, so that the kernel's other route takes over.

use super::say::say;
use std::io;
use std::process::Command;
use std::sync::Arc;

use tun_rs::{DeviceBuilder, GROTable, SyncDevice, VIRTIO_NET_HDR_LEN};

/// Packets of one train at most, and of one batch towards hosts.
const BATCH: usize = 128;
/// Bytes of the longest packet.
const LONGEST: usize = 65_536;
/// Packets that wait to be given back at most.
const BACK: usize = 1_024;

/// A tun device.
pub(super) struct Device {
    tun: Arc<SyncDevice>,
    offload: bool,
    /// Packets for hosts that wait for the end of the batch, where trains are formed.
    batch: Vec<Vec<u8>>,
    used: usize,
    table: GROTable,
    back: Vec<Vec<u8>>,
    /// Packets that the device did not take.
    pub dropped: u64,
}

/// The way out of the device, with buffers for one read.
pub(super) struct Reader {
    tun: Arc<SyncDevice>,
    whole: Vec<u8>,
    parts: Vec<Vec<u8>>,
    sizes: Vec<usize>,
    /// Trains that were read.
    pub trains: u64,
    /// Trains that could not be split, and were dropped.
    pub unsplit: u64,
}

impl Reader {
    /// The device, to wait for.
    pub(super) fn tun(&self) -> &SyncDevice {
        &self.tun
    }

    /// Reads once: one packet, or the packets of one train. Returns 0 where there was nothing.
    pub(super) fn read(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<usize> {
        match self
            .tun
            .recv_multiple(&mut self.whole, &mut self.parts, &mut self.sizes, 0)
        {
            Ok(count) => {
                self.trains += 1;
                for (part, size) in self.parts.iter().zip(&self.sizes).take(count) {
                    each(&part[..*size]);
                }
                Ok(count)
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(0),
            // EIO: somebody has set the device down. It may be up again later.
            Err(e) if e.raw_os_error() == Some(5) => Ok(0),
            // No error of the kernel: a train that tun-rs does not split.
            Err(e) if e.raw_os_error().is_none() => {
                self.unsplit += 1;
                Ok(1)
            }
            Err(e) => Err(e),
        }
    }
}

/// Tells the kernel to split trains of more packets than one read takes: those of hosts whose
/// segments are short.
fn split_longer_trains(name: &str) {
    let most = BATCH.to_string();
    let done = Command::new("ip")
        .args(["link", "set", "dev", name, "gso_max_segs", &most])
        .output();
    if !done.is_ok_and(|out| out.status.success()) {
        say(format!(
            "{name}: trains of more than {most} packets will be dropped"
        ));
    }
}

impl Device {
    /// Makes the device, and sets it up.
    pub(super) fn open(name: &str, mtu: u16, offload: bool) -> Result<(Device, Reader), String> {
        let tun = DeviceBuilder::new()
            .name(name)
            .mtu(mtu)
            .with(|b| {
                b.offload(offload);
            })
            .build_sync()
            .map_err(|e| {
                format!(
                    "no tun device {name}: {e}; run as root or with CAP_NET_ADMIN, and `modprobe \
                     tun`"
                )
            })?;
        tun.set_nonblocking(true)
            .map_err(|e| format!("{name}: {e}"))?;
        // No address of its own, and no check of senders against its routes: these come and go.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/addr_gen_mode"), "1");
        let _ = std::fs::write(format!("/proc/sys/net/ipv4/conf/{name}/rp_filter"), "0");
        if offload {
            split_longer_trains(name);
        }
        let parts = if offload { BATCH } else { 1 };
        let tun = Arc::new(tun);
        let reader = Reader {
            tun: Arc::clone(&tun),
            whole: vec![0; LONGEST + VIRTIO_NET_HDR_LEN],
            parts: vec![vec![0; if offload { 9_216 } else { LONGEST }]; parts],
            sizes: vec![0; parts],
            trains: 0,
            unsplit: 0,
        };
        let device = Device {
            tun,
            offload,
            batch: Vec::new(),
            used: 0,
            table: GROTable::default(),
            back: Vec::new(),
            dropped: 0,
        };
        Ok((device, reader))
    }

    /// Gives a packet to the hosts, at the end of the batch at the latest.
    pub(super) fn write(&mut self, packet: &[u8]) {
        if !self.offload {
            if self.tun.send(packet).is_err() {
                self.dropped += 1;
            }
            return;
        }
        if self.used == self.batch.len() {
            self.batch
                .push(Vec::with_capacity(LONGEST + VIRTIO_NET_HDR_LEN));
        }
        let slot = &mut self.batch[self.used];
        slot.clear();
        slot.resize(VIRTIO_NET_HDR_LEN, 0);
        slot.extend_from_slice(packet);
        self.used += 1;
        if self.used == BATCH {
            self.end_batch();
        }
    }

    fn end_batch(&mut self) {
        if self.used == 0 {
            return;
        }
        let batch = &mut self.batch[..self.used];
        if self
            .tun
            .send_multiple(&mut self.table, batch, VIRTIO_NET_HDR_LEN)
            .is_err()
        {
            self.dropped += 1;
        }
        self.used = 0;
    }

    /// Keeps a packet of a host, to be given back when no route leads here any more.
    pub(super) fn back(&mut self, packet: &[u8]) {
        if self.back.len() < BACK {
            self.back.push(packet.to_vec());
        } else {
            self.dropped += 1;
        }
    }

    /// Ends the batch, and gives packets back unless they would return at once.
    pub(super) fn flush(&mut self, routes_lead_here: bool) {
        if !routes_lead_here {
            for packet in std::mem::take(&mut self.back) {
                self.write(&packet);
            }
        }
        self.end_batch();
    }

    /// Sets the largest packet that hosts may send through it. The kernel tells hosts whose packets
    /// are larger.
    pub(super) fn set_mtu(&self, mtu: u16) {
        if let Err(e) = self.tun.set_mtu(mtu) {
            say(format!("the device takes no MTU of {mtu}: {e}"));
        }
    }
}
