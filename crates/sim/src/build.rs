// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a resolved configuration to a simulation ready to run.

use cemark_marking::QueueSpec;
use cemark_marking::catalogue;
use cemark_switch::edge::Actions;
use cemark_switch::sched;
use cemark_switch::{AnyMarker, Clock, Pool, PoolId, Port, PortSpec, QueueSetup, RoundSpec, admit};
use cemark_wire::{Flags, Picos};

use crate::config::{Config, DeviceQueue, MarkerChoice, Nic, NonEct, Policy, QueueConfig};
use crate::endpoints::conn::Conns;
use crate::engine::{Host, Sim, kind, turn_of};
use crate::events::EventQueue;
use crate::ids::{HostId, LinkId};
use crate::metrics::{Metrics, ProbeState, Sampler};
use crate::network::pfc::Lossless;
use crate::network::pool::{Delayed, Sacks};
use crate::network::tap::{Tap, Taps};
use crate::network::waypoint::{self, Waypoint};
use crate::retune::Tuning;
use crate::shards::Part;
use crate::topology::{Fabric, Link};
use crate::workload::Traffic;
use crate::workload::{ClassMap, Flow, Kind};

/// Buffer of a NIC: far above what can wait there, so that it never drops. Under back-pressure that
/// is a few packets and ACKs.
const NIC_TURNS: u32 = 1 << 20;
/// The same where everything that the windows allow goes into the NIC.
const NIC_WINDOWS: u32 = 1 << 27;
/// The buffer of a port that faces a host and does not drop; it fits a fused port.
const PLAIN_PORT: u32 = 1 << 26;

impl<Q: EventQueue> Sim<Q> {
    /// Lays everything out at tick zero. `taps` are of different links.
    pub fn new(cfg: &Config, taps: &[Tap]) -> Self {
        Self::laid_out(cfg, taps, &[], None)
    }

    /// The same, where the ports of some links keep real queues and may be retuned.
    pub fn with_queues(cfg: &Config, watched: &[LinkId]) -> Self {
        Self::laid_out(cfg, &[], watched, None)
    }

    /// The same for one shard of a divided simulation.
    pub fn of_part(cfg: &Config, taps: &[Tap], part: Option<Box<Part>>) -> Self {
        Self::laid_out(cfg, taps, &[], part)
    }

    fn laid_out(cfg: &Config, taps: &[Tap], watched: &[LinkId], part: Option<Box<Part>>) -> Self {
        let fabric = Fabric::new(&cfg.topology);
        let clock = Clock::new(tick_ps(&fabric));
        let hosts = cfg.topology.hosts();
        let mut buffers = Buffers::new(cfg, &fabric);
        let pfc = cfg.switch.pfc.as_ref().map(|pfc| {
            let (pools, of) = (&mut buffers.pools, &buffers.of);
            Box::new(Lossless::new(cfg, pfc, &fabric, pools, of))
        });
        let largest = buffers.pools.iter().map(Pool::capacity).max().unwrap_or(0);
        buffers.add_nics(cfg);
        let waypoints = waypoint::waypoints(cfg, &fabric, taps);
        let owns = |l: LinkId| part.as_ref().is_none_or(|part| part.owns(l));
        let kept = kept(cfg, &fabric, watched);
        let ports = ports(cfg, clock, &fabric, (&buffers, &waypoints, &kept), owns);
        let tuning = tuning(cfg, &fabric, &buffers, &kept);
        let traffic = Traffic::new(cfg);
        let own = (hosts..ports.len() as u32).filter(|&l| owns(LinkId(l)));
        let sampler = sampler(cfg, clock, own, largest);
        let awaited = traffic.measured_total();
        let drawn = cfg.draws_rtts();
        // A sender that is paced segment by segment does not wait for a train.
        let tso = if cfg.transport.is_paced() && cfg.transport.pace_train == 0 {
            0
        } else {
            cfg.offload.tso
        };
        let mut sim = Sim {
            clock,
            events: Q::new(ports.len() as u32),
            now: 0,
            delayed: Delayed::default(),
            sacks: Sacks::default(),
            ports,
            pools: buffers.pools,
            hosts: (0..hosts).map(|_| Host::default()).collect(),
            waypoints,
            taps: Taps::new(taps),
            edges: Vec::new(),
            actions: Actions::default(),
            steps: Vec::new(),
            filter: None,
            pep: None,
            conns: Conns::default(),
            traffic,
            metrics: Metrics {
                flows: Vec::with_capacity(awaited.min(1 << 24) as usize),
                probes: vec![ProbeState::default(); cfg.workloads.len()],
                probe_answers: Vec::new(),
                sampler,
                goodput: Vec::new(),
                all_goodput: Vec::new(),
                all_delivered: 0,
                at_from: Vec::new(),
                at_until: Vec::new(),
            },
            extras: drawn && cfg.switch.pfc.is_none(),
            late_extras: drawn && cfg.switch.pfc.is_some(),
            prompt: match cfg.delays_syn {
                true => Flags::ACK,
                false => Flags::ACK.with(Flags::SYN),
            },
            sender_ends: cfg.measure.fct.is_of_sender(),
            pfc,
            rdma: cfg.transport.rdma.is_some(),
            // A queue pair has no window and always has something to send, so the NIC serves queue
            // pairs in turn.
            turn: turn_of(cfg.nic, tso, cfg.transport.mss)
                .max(u32::from(cfg.transport.rdma.is_some())),
            tso,
            bunches: cfg.offload.coalesce.0 > 0,
            gathers: false,
            answers: Vec::new(),
            sent: 0,
            delivered: 0,
            hops: 0,
            handled: 0,
            next_report: 1 << 17,
            awaited,
            gone: Vec::new(),
            stop: false,
            tuning,
            watched: None,
            part,
            cfg: cfg.clone(),
            fabric,
        };
        sim.conns.keeps_ends = sim.part.is_some();
        sim.mark_crossings();
        sim.prime_pep();
        sim.prime();
        sim.prime_edges();
        sim.conns.first = sim.conns.list.len() as u32;
        sim.prime_retunes();
        for l in (0..sim.ports.len() as u32).map(LinkId) {
            if !sim.has_port(l) {
                continue;
            }
            let at = sim.ports[l].first_wake();
            sim.arm_wake(l, at);
        }
        sim
    }

    /// Opens the connection of probe workload `w` and inserts its first event.
    pub fn prime_probe(&mut self, w: usize) {
        let Kind::Probe {
            src,
            dst,
            at,
            every,
            count,
        } = self.cfg.workloads[w].kind
        else {
            return;
        };
        let class = match self.cfg.workloads[w].class {
            ClassMap::Fixed(c) => c,
            _ => 0,
        };
        let flow = Flow {
            id: u64::MAX - w as u64,
            start: at,
            src,
            dst,
            bytes: 0,
            workload: w as u16,
            class,
            measured: false,
            extra: Picos::ZERO,
        };
        // It never ends.
        let conn = self.conns.next();
        self.open(conn, flow, flow.id);
        self.metrics.probes[w] = ProbeState {
            conn,
            src: HostId(src),
            class,
            every: self.clock.ticks(every).max(1),
            left: count,
        };
        if count > 0 && self.has_port(LinkId(src)) {
            self.events
                .insert(self.clock.ticks(at), kind::PROBE | w as u32);
        }
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
struct Buffers {
    pools: Vec<Pool>,
    /// By switch port, in order of links.
    of: Vec<PoolId>,
    /// The pool of the first NIC; those of the others follow it.
    first_nic: u32,
}

impl Buffers {
    /// The buffers of the switch ports.
    fn new(cfg: &Config, fabric: &Fabric) -> Buffers {
        let switch = &cfg.switch;
        let b = &switch.buffering;
        let links = &fabric.links()[cfg.topology.hosts() as usize..];
        if matches!(b.policy, Policy::Port | Policy::Static) {
            let pool = Pool::new(switch.buffer_bytes, b.headroom, false);
            let plain = Pool::new(PLAIN_PORT, 0, false);
            let of = |link: &Link| match link.host {
                Some(_) if switch.plain_host_ports => plain.clone(),
                _ => pool.clone(),
            };
            return Buffers {
                pools: links.iter().map(of).collect(),
                of: (0..links.len() as u32).map(PoolId).collect(),
                first_nic: 0,
            };
        }
        // By switch: the number of its ports.
        let mut switches: Vec<u32> = Vec::new();
        let mut of = Vec::with_capacity(links.len());
        let mut number = std::collections::BTreeMap::new();
        for link in links {
            let i = *number.entry(link.switch()).or_insert_with(|| {
                switches.push(0);
                switches.len() - 1
            });
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
            first_nic: 0,
        }
    }

    /// Adds a buffer for each NIC, which is used where the NIC's port cannot be fused (with very
    /// short ticks).
    fn add_nics(&mut self, cfg: &Config) {
        let bytes = match cfg.nic {
            // While it is paused, acknowledgements and notifications wait in it.
            _ if cfg.switch.pfc.is_some() => NIC_WINDOWS,
            Nic::BackPressure { .. } => NIC_TURNS,
            Nic::Fifo => NIC_WINDOWS,
            Nic::SwitchPort => cfg.switch.buffer_bytes,
        };
        self.first_nic = self.pools.len() as u32;
        let nics = (0..cfg.topology.hosts()).map(|_| Pool::of_port(bytes));
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

/// Whether the port of a link, a NIC's or a switch's, has the markers of the configuration.
pub(crate) fn marks(cfg: &Config, link: &Link, nic: bool) -> bool {
    let s = &cfg.switch;
    let plain = match nic {
        true => cfg.nic != Nic::SwitchPort || s.pfc.is_some(),
        false => s.plain_host_ports && link.host.is_some(),
    };
    !plain
}

/// By link: whether its port keeps real queues because it is watched or retuned.
fn kept(cfg: &Config, fabric: &Fabric, watched: &[LinkId]) -> Vec<bool> {
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
                    kept[l] |= marks(cfg, link, l < cfg.topology.hosts() as usize);
                }
            }
        }
    }
    kept
}

/// What may be retuned: ports that keep their queues and mark.
fn tuning(cfg: &Config, fabric: &Fabric, buffers: &Buffers, kept: &[bool]) -> Option<Box<Tuning>> {
    if !kept.contains(&true) {
        return None;
    }
    let hosts = cfg.topology.hosts() as usize;
    let links = fabric.links().iter().enumerate();
    let tunable = links.filter(|&(l, link)| kept[l] && marks(cfg, link, l < hosts));
    let specs = tunable.map(|(l, link)| {
        let room = buffers.pools[buffers.of_link(l, hosts).place()].room();
        (l as u32, queue_specs(cfg, link, room))
    });
    Tuning::new(cfg, specs).map(Box::new)
}

/// The port of every link. Of those in other shards the tag alone is right: they hold nothing.
fn ports(
    cfg: &Config,
    clock: Clock,
    fabric: &Fabric,
    (buffers, waypoints, kept): (&Buffers, &[Waypoint], &[bool]),
    owns: impl Fn(LinkId) -> bool,
) -> Vec<Port> {
    let hosts = cfg.topology.hosts() as usize;
    let port = |(i, link): (usize, &Link)| {
        let pool = buffers.of_link(i, hosts);
        let room = buffers.pools[pool.place()].room();
        let mut spec = match owns(LinkId(i as u32)) {
            true => port_spec(cfg, clock, link, i < hosts, (pool, room)),
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

/// What samples the queues of these links' ports, of which the largest buffer of all is `largest`.
fn sampler(cfg: &Config, clock: Clock, links: impl Iterator<Item = u32>, largest: u32) -> Sampler {
    let hosts = cfg.topology.hosts();
    let longest_wait = cfg.topology.slowest().nanos_for(u64::from(largest));
    Sampler::new(
        hosts,
        links.map(|l| l - hosts),
        clock.ticks(cfg.measure.queue_interval),
        (largest, longest_wait.0),
        cfg.measure.trace.clone(),
    )
}

/// One FIFO that marks nothing. `pool`: its buffer, and how much ordinary room that has.
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
        non_ect: NonEct::Forward,
        queues: vec![QueueSetup {
            spec: QueueSpec::fifo(rate),
            marker: AnyMarker::None,
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

/// The port that feeds `link`. `pool`: its buffer, and how much ordinary room that has.
fn port_spec(cfg: &Config, clock: Clock, link: &Link, nic: bool, pool: (PoolId, u32)) -> PortSpec {
    let common = plain_port(clock, link, pool);
    let (room, rate, s) = (pool.1, link.rate, &cfg.switch);
    if nic && !marks(cfg, link, nic) {
        // A NIC that can be paused has the queues of its switch, served in the order of arrival.
        let plain = |_| QueueSetup {
            spec: QueueSpec::fifo(rate),
            marker: AnyMarker::None,
            lossless: false,
        };
        return match s.pfc {
            None => common,
            Some(_) => PortSpec {
                queues: s.queues.iter().map(plain).collect(),
                scheduler: sched::fifo(s.queues.len()),
                never_fuse: true,
                ..common
            },
        };
    }
    if !marks(cfg, link, nic) {
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
            Policy::Dynamic { alpha } => admit::RoomPolicy::Dynamic { alpha },
        },
        own_pool: nic || s.buffering.policy == Policy::Port && s.buffering.headroom == 0,
        non_ect: s.non_ect,
        scheduler: sched::build(s.scheduler, &specs),
        queues: specs
            .into_iter()
            .zip(&s.queues)
            .map(|(spec, q)| QueueSetup {
                spec,
                marker: marker(&s.marker, &spec),
                lossless: q.lossless,
            })
            .collect(),
        round: s.round,
        device: s.device,
        most_packets: s.most_packets,
        never_fuse: s.never_fuse || s.pfc.is_some(),
        may_lag: !s.never_fuse
            && s.pfc.is_none()
            && (nic || matches!(s.buffering.policy, Policy::Port | Policy::Static)),
        ..common
    }
}

/// What the markers and the scheduler of a port learn about its queues.
fn queue_specs(cfg: &Config, link: &Link, room: u32) -> Vec<QueueSpec> {
    let s = &cfg.switch;
    let mtu = u32::from(cfg.transport.mss) + u32::from(cfg.transport.header_bytes);
    let share = |q: &QueueConfig| sched::Share {
        quantum: q.quantum,
        weight: q.weight,
        strict: q.strict,
        limit_bytes: q.limit_bytes.min(room),
    };
    let shares: Vec<sched::Share> = s.queues.iter().map(share).collect();
    s.scheduler.queue_specs(&shares, link.rate, mtu)
}

fn marker(choice: &MarkerChoice, spec: &QueueSpec) -> AnyMarker {
    match choice {
        MarkerChoice::None => AnyMarker::None,
        MarkerChoice::Builtin { scheme, values } => {
            AnyMarker::Builtin(catalogue::build(scheme, values, spec))
        }
        MarkerChoice::Custom(make) => AnyMarker::Custom(make(spec)),
    }
}
