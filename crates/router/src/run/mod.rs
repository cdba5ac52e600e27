// SPDX-License-Identifier: MIT OR Apache-2.0
//! A router between a tun device and UDP sockets: one thread, which waits for all of them and for
//! the next deadline.

mod device;
mod lanes;
mod report;
mod routes;
mod say;
mod watchdog;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use cemark_wire::{Ecn, Nanos};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::config::File;
use crate::counts::Counts;
use crate::key::{End, Key};
use crate::router::{Ports, Router};
use device::Device;
use lanes::Lanes;
pub use report::Form;
use report::Reports;
use routes::Routes;
use watchdog::Watchdog;

/// Reads of the device, and of each lane, between two looks at the clock.
const READS: usize = 32;

struct Clock(Instant);

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "a router on a real network has real time"
    )]
    fn start() -> Clock {
        Clock(Instant::now())
    }

    fn now(&self) -> Nanos {
        // Not zero, which the state machines take for "never".
        Nanos(self.0.elapsed().as_nanos() as u64 + 1_000_000)
    }
}

/// Milliseconds since 1970: they rise from start to start.
#[expect(clippy::disallowed_methods, reason = "an epoch is the date of a start")]
fn epoch() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(1, |d| d.as_millis() as u64).max(1)
}

struct Wires {
    device: Device,
    lanes: Lanes,
}

impl Ports for Wires {
    fn to_peer(&mut self, lane: u16, ecn: Ecn, head: &[u8], body: &[u8]) {
        self.lanes.send(lane, ecn, head, body);
    }

    fn to_host(&mut self, packet: &[u8]) {
        self.device.write(packet);
    }

    fn back(&mut self, packet: &[u8]) {
        self.device.back(packet);
    }
}

/// Runs a router until it is told to end.
///
/// # Errors
/// In a sentence, where the device, the sockets or the routes cannot be had.
pub fn run(
    file: &File,
    end: End,
    form: Option<Form>,
    stop: &Arc<AtomicBool>,
) -> Result<(), String> {
    let key = Key::load(&file.tunnel.key)?;
    let settings = file.settings(end);
    let (device, mut from_device) =
        Device::open(&file.tunnel.device, settings.mtu, file.tunnel.offload)?;
    let (lanes, mut from_lanes) = Lanes::open(&file.tunnel)?;
    let mut wires = Wires { device, lanes };
    let mut routes = Routes::new(&file.tunnel);
    routes.warn();
    Routes::warn_of_filters();
    let mut reports = Reports::new(file, end, form);
    let clock = Clock::start();
    let mut router = Router::new(settings, key, epoch());
    let mut watchdog = Watchdog::new();
    let mut failed = Ok(());
    while !stop.load(Ordering::Relaxed) {
        let now = clock.now();
        watchdog.live(now);
        if now >= router.next_wake() {
            router.wake(now, &mut wires);
        }
        let why = router.plain_because();
        failed = routes.follow(now, why, router.mtu(), &wires.device);
        if failed.is_err() {
            break;
        }
        wires.lanes.flush();
        wires.device.flush(routes.lead_here());
        for _ in 0..wires.lanes.errors() + std::mem::take(&mut from_lanes.errors) {
            router.path_error(now, &mut wires);
        }
        reports.write(now, || counts(&router, &wires, &from_device), why);
        let until = router.next_wake().min(reports.next());
        let longest = until.saturating_sub(clock.now());
        wait(&from_device, &from_lanes, longest).map_err(|e| format!("waiting: {e}"))?;
        for _ in 0..READS {
            let now = clock.now();
            let each = |packet: &[u8]| router.from_host(now, packet, &mut wires);
            if from_device
                .read(each)
                .map_err(|e| format!("the device: {e}"))?
                == 0
            {
                break;
            }
        }
        for lane in 0..from_lanes.sockets().len() {
            let now = clock.now();
            from_lanes.read(lane, |ecn, data| {
                router.from_peer(now, ecn, data, &mut wires)
            });
        }
    }
    let (last, why) = (
        counts(&router, &wires, &from_device),
        router.plain_because(),
    );
    let now = clock.now();
    router.leave(now, &mut wires);
    wires.lanes.flush();
    // Otherwise the kernel takes the routes away, with the device.
    if failed.is_ok() {
        failed = routes.follow(now, router.plain_because(), router.mtu(), &wires.device);
        wires.device.flush(routes.lead_here());
    }
    reports.write_now(&last, why);
    say::end();
    failed
}

fn counts(router: &Router, wires: &Wires, device: &device::Reader) -> Counts {
    Counts {
        from_hosts_trains: device.trains,
        to_peer_trains: wires.lanes.trains_sent,
        from_hosts_unsplit: device.unsplit,
        to_hosts_dropped: wires.device.dropped,
        to_peer_dropped: wires.lanes.dropped,
        ..router.counts()
    }
}

/// Waits until something can be read, or for this long.
fn wait(device: &device::Reader, lanes: &lanes::Reader, longest: Nanos) -> io::Result<()> {
    let sockets = lanes
        .sockets()
        .iter()
        .map(|s| PollFd::new(s.udp(), PollFlags::IN));
    let device = PollFd::new(device.tun(), PollFlags::IN);
    let mut waits: Vec<PollFd<'_>> = sockets.chain([device]).collect();
    let timeout = Timespec {
        tv_sec: (longest.0 / 1_000_000_000) as i64,
        tv_nsec: (longest.0 % 1_000_000_000) as i64,
    };
    match poll(&mut waits, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}
