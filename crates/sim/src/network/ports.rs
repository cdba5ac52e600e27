// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ports and buffers of a configuration.

use std::sync::Arc;

use cemark_edge::Headers;
use cemark_marking::QueueSpec;
use cemark_marking::catalogue;
use cemark_switch::sched;
use cemark_switch::{AnyMarker, Clock, Pool, PoolId, Port, PortSpec, QueueSetup, RoundSpec, admit};

use super::pfc::Lossless;
use super::pool::{Delayed, Sacks};
use super::rows::Rows;
use super::tap::{Tap, Taps};
use super::waypoint::{self, Waypoint};
use super::{Border, Network};
use crate::config::{
    Config, DeviceQueue, MarkerChoice, Nic, NonEct, Policy, QueueConfig, SwitchConfig,
};
use crate::ids::LinkId;
use crate::topology::{Fabric, Link};
use cemark_wire::Flags;

/// Buffer of a NIC: far above what can wait there, so that it never drops. Under back-pressure that
/// is a few packets and ACKs.
const NIC_TURNS: u32 = 1 << 20;
/// Buffer of a NIC into which everything goes that the windows allow; the NIC never drops.
const NIC_WINDOWS: u32 = 1 << 27;
/// The buffer of a port that faces a host and does not drop; it fits a fused port.
const PLAIN_PORT: u32 = 1 << 26;

/// Additions to some links of a network.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extras<'a> {
    /// Recorders of packets, each of another link.
    pub taps: &'a [Tap],
    /// The links whose ports keep real queues, whatever they are.
    pub kept: &'a [LinkId],
    /// The links behind which middleboxes have a place.
    pub places: &'a [LinkId],
}

impl Network {
    /// Lays out the ports and buffers of a configuration, or of one shard of it. Also returns the
    /// capacity of the largest buffer of a switch.
    pub fn new(
        cfg: &Config,
        clock: Clock,
        fabric: &Arc<Fabric>,
        extras: Extras<'_>,
        border: Option<Box<Border>>,
    ) -> (Network, u32) {
        let mut buffers = Buffers::new(cfg, fabric);
        let pfc = cfg.switch.pfc.as_ref().map(|pfc| {
            let (pools, of) = (&mut buffers.pools, &buffers.of);
            Box::new(Lossless::new(cfg, pfc, clock, fabric, pools, of))
        });
        buffers.divide(cfg, clock, fabric);
        let largest = buffers.pools.iter().map(Pool::capacity).max().unwrap_or(0);
        buffers.add_nics(cfg);
        let waypoints = waypoint::waypoints(cfg, fabric, extras.taps, extras.places);
        let owns = |l: LinkId| border.as_ref().is_none_or(|border| border.owns(l));
        let kept = kept(cfg, fabric, extras.kept);
        let ports = ports(cfg, clock, fabric, &buffers, &waypoints, &kept, owns);
        let drawn = cfg.draws_rtts();
        let mut network = Network {
            fabric: Arc::clone(fabric),
            rows: Rows::default(),
            ports,
            gates: Vec::new(),
            pools: buffers.pools,
            delayed: Delayed::default(),
            sacks: Sacks::default(),
            headers: Headers::default(),
            waypoints,
            taps: Taps::new(extras.taps),
            pfc,
            extras: drawn && cfg.switch.pfc.is_none(),
            late_extras: drawn && cfg.switch.pfc.is_some(),
            prompt: match cfg.delays_syn {
                true => Flags::ACK,
                false => Flags::ACK.with(Flags::SYN),
            },
            sent: 0,
            hops: 0,
            gone: Vec::new(),
            cleared: Vec::new(),
            border,
        };
        let gate = || gate(clock, &fabric.links()[0]);
        network.mark_crossings(gate);
        (network, largest)
    }

    /// Specifications that the markers of a port were built for. The port keeps real queues.
    pub fn queue_specs(&self, cfg: &Config, link: LinkId) -> Vec<QueueSpec> {
        let pool = self.ports[link].pool();
        let room = pool.map_or(0, |pool| self.pools[pool.place()].room());
        queue_specs(cfg, &self.fabric.links()[link], room)
    }
}

/// The longest tick that divides every byte time and every delay of the fabric, and a nanosecond.
pub(crate) fn tick_ps(fabric: &Fabric) -> u64 {
    fabric
        .links()
        .iter()
        .flat_map(|l| [l.rate.picos_per_byte().0, l.delay.0])
        .fold(1000, gcd)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// All buffers, and which of them each link's port uses.
pub(super) struct Buffers {
    pub pools: Vec<Pool>,
    /// By switch port, in order of links.
    pub of: Vec<PoolId>,
    /// By switch port: its place among those of its switch, where a policy divides room among them.
    places: Vec<u32>,
    /// The pool of the first NIC; those of the others follow it.
    first_nic: u32,
}

impl Buffers {
    /// The buffers of the switch ports.
    pub fn new(cfg: &Config, fabric: &Fabric) -> Buffers {
        let switch = &cfg.switch;
        let b = &switch.buffering;
        let links = &fabric.links()[cfg.topology.fabric().nics() as usize..];
        if !b.policy.is_shared() {
            let pool = Pool::new(switch.buffer_bytes, b.headroom, false);
            let plain = Pool::new(PLAIN_PORT, 0, false);
            let of = |link: &Link| match link.host {
                Some(_) if switch.plain_host_ports => plain.clone(),
                _ => pool.clone(),
            };
            return Buffers {
                pools: links.iter().map(of).collect(),
                of: (0..links.len() as u32).map(PoolId).collect(),
                places: Vec::new(),
                first_nic: 0,
            };
        }
        // By switch: the number of its ports.
        let mut switches: Vec<u32> = Vec::new();
        let mut of = Vec::with_capacity(links.len());
        for link in links {
            let i = link
                .from
                .switch(cfg.topology.fabric().nics())
                .unwrap_or_default();
            switches.resize(switches.len().max(i + 1), 0);
            switches[i] += 1;
            of.push(PoolId(i as u32));
        }
        let pool = |ports: u32| {
            let bytes = match b.pool_bytes {
                0 => switch.buffer_bytes.saturating_mul(ports),
                n => n,
            };
            Pool::new(bytes, b.headroom, true)
        };
        Buffers {
            pools: switches.into_iter().map(pool).collect(),
            of,
            places: Vec::new(),
            first_nic: 0,
        }
    }

    /// Adds the queues of a policy that divides room among congested ones.
    fn divide(&mut self, cfg: &Config, clock: Clock, fabric: &Fabric) {
        let (rule, congested) = match cfg.switch.buffering.policy {
            Policy::Abm {
                interval,
                congested,
                ..
            } => {
                let interval = clock.ticks(interval.into()).max(1);
                (admit::Rule::Abm { interval }, congested)
            }
            Policy::Reverie {
                gamma, congested, ..
            } => (admit::Rule::Reverie { gamma }, congested),
            Policy::Port | Policy::Static | Policy::Shared | Policy::Dynamic { .. } => return,
        };
        let nics = cfg.topology.fabric().nics() as usize;
        let mut lines = vec![Vec::new(); self.pools.len()];
        for (link, pool) in fabric.links()[nics..].iter().zip(&self.of) {
            let byte = link.rate.picos_per_byte().0 / clock.tick_ps();
            let line = match rule {
                admit::Rule::Abm { interval } => interval / byte.max(1),
                admit::Rule::Reverie { .. } => 1,
            };
            let own = &mut lines[pool.place()];
            self.places.push(own.len() as u32);
            own.push(line);
        }
        let classes = cfg.switch.queues.len();
        let pools = std::mem::take(&mut self.pools).into_iter().zip(&lines);
        self.pools = pools
            .map(|(pool, lines)| {
                pool.with_active(admit::Active::new(rule, congested, classes, lines))
            })
            .collect();
    }

    /// The place of the port that feeds link `i` among those of its switch, where a policy divides
    /// room among them.
    fn place_of(&self, i: usize, hosts: usize) -> u32 {
        let port = i.checked_sub(hosts);
        port.and_then(|port| self.places.get(port).copied())
            .unwrap_or(0)
    }

    /// Adds a buffer for each NIC, which is used where the NIC's port cannot be fused (with very
    /// short ticks).
    fn add_nics(&mut self, cfg: &Config) {
        let bytes = match cfg.nic {
            // While it is paused, acknowledgements and notifications wait in it.
            _ if cfg.switch.pfc.is_some() => NIC_WINDOWS,
            Nic::BackPressure { .. } => NIC_TURNS,
            Nic::Fifo | Nic::Limited { .. } => NIC_WINDOWS,
            Nic::SwitchPort => cfg.switch.buffer_bytes,
        };
        self.first_nic = self.pools.len() as u32;
        let nics = (0..cfg.topology.fabric().nics()).map(|_| Pool::of_port(bytes));
        self.pools.extend(nics);
    }

    /// The pool of the port that feeds link `i`, of which the first `hosts` are NICs.
    fn of_link(&self, i: usize, hosts: usize) -> PoolId {
        match i.checked_sub(hosts) {
            None => PoolId(self.first_nic + i as u32),
            Some(port) => self.of[port],
        }
    }
}

/// By link: whether its port keeps real queues because it is watched or retuned.
pub(crate) fn kept(cfg: &Config, fabric: &Fabric, watched: &[LinkId]) -> Vec<bool> {
    let links = fabric.links();
    let mut kept = vec![false; links.len()];
    for link in watched {
        kept[link.place()] = true;
    }
    for retune in &cfg.retunes {
        match &retune.links {
            Some(some) => some.iter().for_each(|&l| kept[l as usize] = true),
            None => {
                for (l, link) in links.iter().enumerate() {
                    kept[l] |= cfg.marks_on(link, l < cfg.topology.fabric().nics() as usize);
                }
            }
        }
    }
    kept
}

/// The port of every link. Of those in other shards the tag alone is right: they hold nothing.
fn ports(
    cfg: &Config,
    clock: Clock,
    fabric: &Fabric,
    buffers: &Buffers,
    waypoints: &[Waypoint],
    kept: &[bool],
    owns: impl Fn(LinkId) -> bool,
) -> Vec<Port> {
    let hosts = cfg.topology.fabric().nics() as usize;
    let port = |(i, link): (usize, &Link)| {
        let pool = buffers.of_link(i, hosts);
        let room = buffers.pools[pool.place()].room();
        let mut spec = match owns(LinkId(i as u32)) {
            true => {
                let place = buffers.place_of(i, hosts);
                port_spec(cfg, clock, link, i < hosts, (pool, room, place))
            }
            false => plain_port(clock, link, (pool, 0)),
        };
        if let Some(n) = waypoints.iter().position(|w| w.link.place() == i) {
            spec.tag = waypoint::FIRST + n as u32;
        }
        spec.never_fuse |= kept[i];
        Port::new(spec)
    };
    fabric.links().iter().enumerate().map(port).collect()
}

/// A port that sends nothing and holds what is on the wire.
fn gate(clock: Clock, link: &Link) -> Port {
    let mut spec = plain_port(clock, link, (PoolId(0), 0));
    // Short times, so that it is fused.
    (spec.byte_ticks, spec.delay) = (1, 0);
    Port::new(spec)
}

/// A port with a single FIFO that marks nothing. `pool` and `room`: its buffer, and the bytes of
/// ordinary room there.
fn plain_port(clock: Clock, link: &Link, (pool, room): (PoolId, u32)) -> PortSpec {
    let rate = link.rate;
    PortSpec {
        clock,
        byte_ticks: rate.picos_per_byte().0 / clock.tick_ps(),
        tag: link.host.unwrap_or(waypoint::SWITCH),
        delay: clock.ticks(link.delay),
        buffer_bytes: room,
        buffering: admit::RoomPolicy::Whole,
        pool,
        own_pool: true,
        queues: vec![QueueSetup {
            spec: QueueSpec::fifo(rate),
            marker: AnyMarker::None,
            non_ect: NonEct::Forward,
            lossless: false,
        }],
        scheduler: sched::fifo(1),
        round: RoundSpec::default(),
        device: DeviceQueue::NONE,
        most_packets: 0,
        never_fuse: false,
        may_lag: false,
    }
}

/// The port that feeds `link`, with its buffer, how much ordinary room that has, and the place of
/// the port among those of the buffer.
fn port_spec(
    cfg: &Config,
    clock: Clock,
    link: &Link,
    nic: bool,
    (pool, room, place): (PoolId, u32, u32),
) -> PortSpec {
    let common = plain_port(clock, link, (pool, room));
    let (rate, s) = (link.rate, &cfg.switch);
    if nic && !cfg.marks_on(link, nic) {
        // A NIC that can be paused has the queues of its switch, served in the order of arrival.
        let plain = |_| QueueSetup {
            spec: QueueSpec::fifo(rate),
            marker: AnyMarker::None,
            non_ect: NonEct::Forward,
            lossless: false,
        };
        return match s.pfc {
            None => PortSpec {
                most_packets: match cfg.nic {
                    Nic::Limited { packets } => packets,
                    Nic::BackPressure { .. } | Nic::Fifo | Nic::SwitchPort => 0,
                },
                ..common
            },
            Some(_) => PortSpec {
                queues: s.queues.iter().map(plain).collect(),
                scheduler: sched::fifo(s.queues.len()),
                never_fuse: true,
                ..common
            },
        };
    }
    if !cfg.marks_on(link, nic) {
        return PortSpec {
            may_lag: true,
            ..common
        };
    }
    let specs = queue_specs(cfg, link, room);
    PortSpec {
        buffering: match s.buffering.policy {
            Policy::Port | Policy::Shared => admit::RoomPolicy::Whole,
            Policy::Static => admit::RoomPolicy::PerQueue,
            Policy::Dynamic { alpha } if s.queues.iter().all(|q| q.alpha == 0) => {
                admit::RoomPolicy::Dynamic { alpha }
            }
            Policy::Dynamic { alpha } => admit::RoomPolicy::DynamicByQueue(alphas(s, alpha)),
            // The pools of NICs have no such queues.
            Policy::Abm { .. } | Policy::Reverie { .. } if nic => admit::RoomPolicy::Whole,
            Policy::Abm { alpha, .. } | Policy::Reverie { alpha, .. } => {
                admit::RoomPolicy::Active(Box::new(admit::ActiveShare {
                    alphas: alphas(s, alpha),
                    port: place,
                }))
            }
        },
        own_pool: nic || s.buffering.policy == Policy::Port && s.buffering.headroom == 0,
        scheduler: sched::build(s.scheduler, &specs),
        queues: specs
            .into_iter()
            .enumerate()
            .map(|(i, spec)| QueueSetup {
                spec,
                marker: marker(s, s.marker_of(i), &spec),
                non_ect: s.non_ect_of(i),
                lossless: s.queues[i].lossless,
            })
            .collect(),
        round: s.round,
        device: s.device,
        most_packets: s.most_packets,
        never_fuse: s.never_fuse || s.pfc.is_some(),
        may_lag: !s.never_fuse && s.pfc.is_none() && (nic || !s.buffering.policy.is_shared()),
        ..common
    }
}

/// The factor of each queue; `alpha` where it has none of its own.
fn alphas(s: &SwitchConfig, alpha: u32) -> Box<[u32]> {
    let own = |q: &QueueConfig| if q.alpha > 0 { q.alpha } else { alpha };
    s.queues.iter().map(own).collect()
}

/// Specifications of a port's queues for their markers and the scheduler. `room`: bytes of ordinary
/// room in the buffer.
fn queue_specs(cfg: &Config, link: &Link, room: u32) -> Vec<QueueSpec> {
    let s = &cfg.switch;
    let mtu = cfg.full_packet();
    let share = |q: &QueueConfig| sched::Share {
        quantum: q.quantum,
        weight: q.weight,
        strict: q.strict,
        limit_bytes: q.limit_bytes.min(room),
    };
    let shares: Vec<sched::Share> = s.queues.iter().map(share).collect();
    s.scheduler.queue_specs(&shares, link.rate, mtu)
}

fn marker(s: &SwitchConfig, choice: &MarkerChoice, spec: &QueueSpec) -> AnyMarker {
    match choice {
        MarkerChoice::None => AnyMarker::None,
        MarkerChoice::Builtin { scheme, values } => {
            let values = s.values_at(scheme, values, spec.rate);
            AnyMarker::Builtin(catalogue::build(scheme, &values, spec))
        }
        MarkerChoice::Own(own) => {
            let values = s.values_at(own.scheme, &own.values, spec.rate);
            let code = own.code.as_ref().expect("the code of the scheme is loaded");
            AnyMarker::Custom(code(&values, spec))
        }
        MarkerChoice::Custom(make) => AnyMarker::Custom(make(spec)),
    }
}
