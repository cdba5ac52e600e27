// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration of one simulation point, fully resolved: no units, no names to look up, no choices
//! left open.

use std::sync::Arc;

use cemark_marking::{Marker, QueueSpec, SchemeSpec, Values};
use cemark_wire::{Nanos, Picos, Rate};

pub use cemark_edge::DcibConfig;
pub use cemark_switch::DeviceQueue;
pub use cemark_switch::RoundSpec;
pub use cemark_switch::admit::Xoff;
pub use cemark_switch::ce::NonEct;
pub use cemark_switch::sched::SchedulerKind;

use crate::faults::LinkFault;
use crate::ids::LinkId;
use crate::retune::Retune;
use crate::topology::{Fabric, Link, Topology};
use crate::workload::{RttModel, Traffic, Workload};

/// Configuration of one simulation point.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Config {
    /// Hosts, switches and links.
    pub topology: Topology,
    /// Base RTT of each flow.
    pub rtt: RttModel,
    /// The delay that this adds to a flow's data applies to its SYN too.
    pub delays_syn: bool,
    /// Traffic; the flows of all workloads are merged in time.
    pub workloads: Vec<Workload>,
    /// How senders and receivers behave, where a workload has no transport of its own.
    pub transport: cemark_transport::Config,
    /// How a host feeds its NIC.
    pub nic: Nic,
    /// Bunches in which hosts process packets.
    pub offload: Offload,
    /// Ports of every switch.
    pub switch: SwitchConfig,
    /// Faults of links; at most one fault a link.
    pub faults: Vec<LinkFault>,
    /// Middleboxes at the edges of two sites.
    pub edge: Edge,
    /// Parameters of the markers that change in mid-run, in the order in which those of equal times
    /// take effect.
    pub retunes: Vec<Retune>,
    /// Measurements beside flows and counters.
    pub measure: Measure,
    /// Root of every random draw.
    pub seed: u64,
    /// Hard end of the simulated time; measured flows that have not ended by then are reported
    /// unfinished.
    pub max_time: Picos,
}

impl Config {
    /// A point with the usual values of everything that a simulation need not choose: base RTTs of
    /// the paths, DCTCP senders, back-pressure from the NIC, one FIFO of 1 MB per port, and queues
    /// sampled every 10 us. Change the public fields for anything else.
    pub fn new(
        topology: impl Into<Topology>,
        workloads: Vec<Workload>,
        marker: MarkerChoice,
        max_time: Picos,
    ) -> Config {
        Config {
            topology: topology.into(),
            rtt: RttModel::Path,
            delays_syn: true,
            workloads,
            transport: cemark_transport::Config::default(),
            nic: Nic::BackPressure { packets: 2 },
            offload: Offload::NONE,
            switch: SwitchConfig {
                buffer_bytes: 1_000_000,
                buffering: Buffering::PORT,
                queues: vec![QueueConfig::PLAIN],
                scheduler: SchedulerKind::Fifo,
                round: RoundSpec::default(),
                marker,
                profiles: Vec::new(),
                classes: Vec::new(),
                threshold_rate: None,
                non_ect: NonEct::Forward,
                device: DeviceQueue::NONE,
                most_packets: 0,
                plain_host_ports: false,
                never_fuse: false,
                pfc: None,
            },
            faults: Vec::new(),
            edge: Edge::Plain,
            retunes: Vec::new(),
            measure: Measure {
                queue_interval: Picos::from_micros(10),
                trace: TracePorts::None,
                fct: Fct::LastByte,
                from: Picos::ZERO,
                until: Picos::MAX,
                goodput_interval: Picos::ZERO,
            },
            seed: 1,
            max_time,
        }
    }
}

impl Config {
    /// Whether the port of a link of `fabric` has the markers of the configuration.
    pub fn marks(&self, fabric: &Fabric, link: LinkId) -> bool {
        let nic = link.0 < self.topology.fabric().nics();
        self.marks_on(&fabric.links()[link], nic)
    }

    /// The flows of all workloads.
    pub fn traffic(&self) -> Traffic {
        Traffic::new(&self.topology, &self.workloads, &self.rtt, self.seed)
    }

    /// Whether the port of a link, a NIC's or a switch's, has the markers of the configuration.
    pub(crate) fn marks_on(&self, link: &Link, nic: bool) -> bool {
        let s = &self.switch;
        let plain = match nic {
            true => self.nic != Nic::SwitchPort || s.pfc.is_some(),
            false => s.plain_host_ports && link.host.is_some(),
        };
        !plain
    }

    /// Whether some flow may have an extra delay.
    pub(crate) fn draws_rtts(&self) -> bool {
        let own = |w: &Workload| w.kind.sends().own_rtts();
        self.rtt != RttModel::Path || self.workloads.iter().any(own)
    }
}

/// Middleboxes at the edges of [`TwoSites`](crate::topology::TwoSites), in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Edge {
    /// Plain routers.
    Plain,
    /// A pair of DCIB routers for each path.
    Dcib {
        /// The configuration of both routers.
        config: DcibConfig,
        /// How long the near router hides holes from senders (duplicate-ACK filter).
        filter: Option<Picos>,
        /// Number of hosts, the last ones of site 0, whose packets bypass the near router (to see
        /// what a flow outside gets).
        outside: u32,
    },
    /// A split-connection proxy at each edge.
    Pep {
        /// Bytes that a proxy stores of one flow at most.
        buffer: u64,
    },
}

/// How a host feeds its NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Nic {
    /// A connection puts at most `packets` packets into the NIC, which serves connections in turn
    /// (as Linux with TSQ and fq).
    BackPressure {
        /// Most packets a connection may have in the NIC.
        packets: u32,
    },
    /// Everything the window allows goes into one unbounded FIFO.
    Fifo,
    /// A FIFO for everything that the window allows, with a bound on the waiting packets of any
    /// size. The host loses packets beyond the bound, as ns-3's and ns-2's drop-tail queues of a
    /// host do.
    Limited {
        /// Most packets that wait.
        packets: u32,
    },
    /// A port like a switch's takes everything that the window allows, with its buffer, queues,
    /// scheduler and marker, as ns-2 scripts build hosts: a flow alone on its path is marked by its
    /// own host.
    SwitchPort,
}

/// Bunches in which a host's network card and the layer above it process packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Offload {
    /// Largest train in bytes that a connection hands to its NIC at once (TSO, GSO), and waits for;
    /// 0: segment by segment.
    pub tso: u32,
    /// Longest time that a packet waits in the NIC for others before the host handles them
    /// together; zero: it does not wait.
    pub coalesce: Nanos,
    /// Number of packets that ends the wait. At least one.
    pub coalesce_packets: u32,
    /// Segments of a connection that are handled together are answered together.
    pub gro: bool,
}

impl Offload {
    /// Every packet by itself.
    pub const NONE: Offload = Offload {
        tso: 0,
        coalesce: Nanos::ZERO,
        coalesce_packets: 64,
        gro: false,
    };
}

/// The ports of every switch.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SwitchConfig {
    /// Buffer of a port in bytes. Where ports share, this is what each brings to the pool of its
    /// switch.
    pub buffer_bytes: u32,
    /// Which packets get room in it.
    pub buffering: Buffering,
    /// Queues of a port, in order of class. At least one.
    pub queues: Vec<QueueConfig>,
    /// Who sends next.
    pub scheduler: SchedulerKind,
    /// How ports smooth their round time, where the scheduler has rounds.
    pub round: RoundSpec,
    /// When to mark, in queues without a profile.
    pub marker: MarkerChoice,
    /// By queue: its own profile. Queues beyond the last have none.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub profiles: Vec<Option<Profile>>,
    /// Names of traffic classes, for reports.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub classes: Vec<TrafficClass>,
    /// The rate of the ports that the marker's lengths of queues are meant for: a port of another
    /// rate has them in proportion. None: every port has them as they are.
    pub threshold_rate: Option<Rate>,
    /// Policy for a packet that should be marked and is not ECN-capable.
    pub non_ect: NonEct,
    /// Queue of the device below the queues of a port, where no marker sees its packets.
    pub device: DeviceQueue,
    /// Packets of any size, ACKs included, that the queues of a port hold at most; 0: only bytes
    /// count.
    pub most_packets: u32,
    /// The ports that face hosts neither mark nor drop: one FIFO of 64 MiB each.
    pub plain_host_ports: bool,
    /// Forces explicit queues that are served by their own events, where a faster form would be
    /// legal (for tests and comparisons).
    pub never_fuse: bool,
    /// Priority flow control for the lossless queues. Needs a policy under which the ports of a
    /// switch share one buffer.
    pub pfc: Option<Pfc>,
}

impl SwitchConfig {
    /// The marking scheme of a queue.
    pub fn marker_of(&self, queue: usize) -> &MarkerChoice {
        match self.profiles.get(queue) {
            Some(Some(Profile {
                marker: Some(own), ..
            })) => own,
            _ => &self.marker,
        }
    }

    /// Policy of a queue for a packet that should be marked and is not ECN-capable.
    pub fn non_ect_of(&self, queue: usize) -> NonEct {
        let profile = self.profiles.get(queue).and_then(Option::as_ref);
        profile.and_then(|p| p.non_ect).unwrap_or(self.non_ect)
    }

    /// The marking scheme of a queue at ports of a rate.
    pub fn marker_at(&self, queue: usize, rate: Rate) -> MarkerChoice {
        match self.marker_of(queue) {
            MarkerChoice::Builtin { scheme, values } => MarkerChoice::Builtin {
                scheme,
                values: self.values_at(scheme, values, rate),
            },
            other => other.clone(),
        }
    }

    /// The marking scheme of each queue, in order.
    pub fn markers(&self) -> impl Iterator<Item = &MarkerChoice> {
        (0..self.queues.len()).map(|queue| self.marker_of(queue))
    }

    /// Every scheme, that of queues without a profile first.
    pub fn markers_mut(&mut self) -> impl Iterator<Item = &mut MarkerChoice> {
        let own = self.profiles.iter_mut().flatten();
        let own = own.filter_map(|profile| profile.marker.as_mut());
        std::iter::once(&mut self.marker).chain(own)
    }

    /// Whether some queue has the scheme of queues without a profile.
    pub fn has_common(&self) -> bool {
        let own = |queue: usize| {
            let profile = self.profiles.get(queue).and_then(Option::as_ref);
            profile.is_some_and(|profile| profile.marker.is_some())
        };
        !(0..self.queues.len()).all(own)
    }

    /// Whether queues have unlike schemes or policies.
    pub fn has_profiles(&self) -> bool {
        self.profiles.iter().any(Option::is_some)
    }

    /// The name of a queue: those of its traffic classes, or its number.
    pub fn queue_name(&self, queue: u8) -> String {
        let own = self.classes.iter().filter(|class| class.queue == queue);
        let names: Vec<&str> = own.map(|class| class.name.as_str()).collect();
        match names.is_empty() {
            true => format!("queue {queue}"),
            false => names.join("+"),
        }
    }

    /// The parameters of the marker at a port of this rate.
    pub fn values_at(&self, scheme: &SchemeSpec, values: &Values, rate: Rate) -> Values {
        match self.threshold_rate {
            Some(from) => values.at_rate(scheme.params, from, rate),
            None => *values,
        }
    }
}

/// The marking profile of one queue.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Profile {
    /// When to mark; `None`: [`SwitchConfig::marker`].
    pub marker: Option<MarkerChoice>,
    /// Policy for a packet that should be marked and is not ECN-capable; `None`:
    /// [`SwitchConfig::non_ect`].
    pub non_ect: Option<NonEct>,
}

/// A traffic class: packets that switches recognise by their DSCP or priority.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TrafficClass {
    /// Name of the class in reports.
    pub name: String,
    /// The queue of every port that its packets join.
    pub queue: u8,
}

/// Priority flow control.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Pfc {
    /// When a link and queue is paused.
    pub xoff: Xoff,
    /// Bytes below that threshold at which a link may resume.
    pub xon_offset: u32,
    /// Time that a port takes to obey a frame after it has arrived.
    pub reaction: Picos,
    /// Headroom of each link and lossless queue, on top of the buffer; 0: computed from its rate,
    /// delay and packet sizes.
    pub headroom: u32,
    /// Share of the time above which a paused port counts as a storm.
    pub storm: f64,
}

impl Default for Pfc {
    /// Dynamic with alpha = 1/8, resumes 2 packets below, a storm from a tenth of the time on.
    fn default() -> Self {
        Pfc {
            xoff: Xoff::Dynamic { alpha: 1 << 13 },
            xon_offset: 3_000,
            headroom: 0,
            reaction: Picos::ZERO,
            storm: 0.1,
        }
    }
}

/// Who gets room in the buffers of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Buffering {
    /// The policy.
    pub policy: Policy,
    /// Size of a pool that ports share in bytes; 0: what its ports bring together.
    pub pool_bytes: u32,
    /// Bytes of each buffer or pool that only lossless queues may use.
    pub headroom: u32,
}

impl Buffering {
    /// Each port has its own buffer, first come first served.
    pub const PORT: Buffering = Buffering {
        policy: Policy::Port,
        pool_bytes: 0,
        headroom: 0,
    };
}

/// A policy of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Policy {
    /// Each port has its buffer; its queues share it first come first served.
    Port,
    /// Each queue has its own bytes.
    Static,
    /// The ports of a switch share one buffer first come first served.
    Shared,
    /// The ports of a switch share one buffer; a queue may hold `alpha` (parts of 2^16) times what
    /// is free.
    Dynamic {
        /// Its factor.
        alpha: u32,
    },
    /// ABM (SIGCOMM 2022): as `Dynamic`, divided by the number of congested queues of the class in
    /// the switch, and scaled by the rate at which the queue is served.
    Abm {
        /// Factor of the free room in parts of 2^16.
        alpha: u32,
        /// The rate is that of the last whole interval of this length.
        interval: Nanos,
        /// A queue of this many bytes counts as one congested queue, a shorter one in proportion.
        congested: u32,
    },
    /// Reverie (NSDI 2024): as `Dynamic`, divided by the number of congested queues of the class in
    /// the switch, and compared with a low-pass filter of the length; under priority flow control
    /// so are the thresholds of meters.
    Reverie {
        /// Factor of the free room in parts of 2^16.
        alpha: u32,
        /// Weight of the old filter in parts of 2^16.
        gamma: u32,
        /// A queue whose filter has this many bytes counts as one congested queue, a smaller one in
        /// proportion.
        congested: u32,
    },
}

impl Policy {
    /// Whether the ports of a switch share one buffer.
    pub fn is_shared(&self) -> bool {
        !matches!(self, Policy::Port | Policy::Static)
    }

    /// The factor of the free room, in parts of 2^16.
    pub fn alpha(&self) -> Option<u32> {
        match *self {
            Policy::Port | Policy::Static | Policy::Shared => None,
            Policy::Dynamic { alpha }
            | Policy::Abm { alpha, .. }
            | Policy::Reverie { alpha, .. } => Some(alpha),
        }
    }
}

/// Configuration of one queue of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct QueueConfig {
    /// Scheduling quantum in bytes.
    pub quantum: u32,
    /// Scheduling weight.
    pub weight: u32,
    /// Served before all that are not strict.
    pub strict: bool,
    /// Static limit in bytes; `u32::MAX`: none.
    pub limit_bytes: u32,
    /// Whether it may use headroom.
    pub lossless: bool,
    /// Factor of the queue in parts of 2^16 ([`Policy::alpha`]); 0: that of the policy.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub alpha: u32,
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes references
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl QueueConfig {
    /// A queue like any other: a quantum of one MTU, weight one, no limit of its own.
    pub const PLAIN: QueueConfig = QueueConfig {
        quantum: 1500,
        weight: 1,
        strict: false,
        limit_bytes: u32::MAX,
        lossless: false,
        alpha: 0,
    };
}

/// Builds one marker per queue for a user's own scheme.
pub type MarkerFactory = Arc<dyn Fn(&QueueSpec) -> Box<dyn Marker> + Send + Sync>;

/// The marking scheme of every switch port.
#[derive(Clone)]
pub enum MarkerChoice {
    /// No marking: drop-tail.
    None,
    /// A scheme of the catalogue.
    Builtin {
        /// Its entry.
        scheme: &'static SchemeSpec,
        /// Its parameters.
        values: Values,
    },
    /// A user's own, declared as schemes of the catalogue are.
    Own(OwnScheme),
    /// A user's own without a declaration.
    Custom(MarkerFactory),
}

/// Builds the marker of one queue from the values of its scheme's parameters.
pub type OwnFactory = Arc<dyn Fn(&Values, &QueueSpec) -> Box<dyn Marker> + Send + Sync>;

/// A scheme of a user's: its declaration, its parameters, and its code.
#[derive(Clone)]
pub struct OwnScheme {
    /// The declaration.
    pub scheme: &'static SchemeSpec,
    /// The parameters.
    pub values: Values,
    /// Fingerprint of the code: schemes of unlike code are unlike schemes.
    pub content: u64,
    /// The code; `None` until it is loaded, which a simulation needs.
    pub code: Option<OwnFactory>,
}

impl MarkerChoice {
    /// The declaration and the parameters of the scheme, where it has a declaration.
    pub fn declared(&self) -> Option<(&'static SchemeSpec, &Values)> {
        match self {
            MarkerChoice::Builtin { scheme, values } => Some((*scheme, values)),
            MarkerChoice::Own(own) => Some((own.scheme, &own.values)),
            MarkerChoice::None | MarkerChoice::Custom(_) => None,
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for MarkerChoice {
    /// The scheme's name and its parameters in the order of its entry. A user's own marker has no
    /// contents that could be written down: whoever builds it names it.
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            MarkerChoice::None => to.serialize_str("none"),
            MarkerChoice::Builtin { scheme, values } => {
                (scheme.name, &values.0[..scheme.params.len()]).serialize(to)
            }
            MarkerChoice::Own(own) => {
                let values = &own.values.0[..own.scheme.params.len()];
                ("own", own.content, values).serialize(to)
            }
            MarkerChoice::Custom(_) => to.serialize_str("custom"),
        }
    }
}

impl std::fmt::Debug for MarkerChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MarkerChoice::None => f.write_str("None"),
            MarkerChoice::Builtin { scheme, values } => {
                write!(f, "{}{:?}", scheme.name, &values.0[..scheme.params.len()])
            }
            MarkerChoice::Own(own) => {
                let values = &own.values.0[..own.scheme.params.len()];
                write!(f, "own {} {:x}{values:?}", own.scheme.name, own.content)
            }
            MarkerChoice::Custom(_) => f.write_str("Custom"),
        }
    }
}

/// Measurements of a run beside flows and counters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Measure {
    /// Lengths of all switch queues are sampled this often (for means and percentiles). Zero:
    /// never.
    pub queue_interval: Picos,
    /// The ports whose every sample is kept as a trace.
    pub trace: TracePorts,
    /// When a flow counts as complete.
    pub fct: Fct,
    /// First instant that samples, utilisation, pauses and goodput count from.
    pub from: Picos,
    /// The last one. Counters of packets, flows and probes are of the whole run.
    pub until: Picos,
    /// Goodput of each endless flow, and of all flows together, is summed over intervals of this
    /// length. Zero: only the totals.
    pub goodput_interval: Picos,
}

/// Between which events a completion time is measured. Each begins with the start of the flow,
/// which is its SYN under a handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Fct {
    /// Until the receiver holds the last byte in order.
    #[default]
    LastByte,
    /// Until the sender has the acknowledgement of the last byte.
    LastAck,
    /// Until the sender has the acknowledgement of a FIN, which leaves once all data has been
    /// acknowledged.
    Closed,
    /// As the receiver sees it, if it asked for the flow: the way of a request through the empty
    /// network, and then until it holds the last byte.
    Client,
}

impl Fct {
    /// Whether the sender ends the flow.
    pub fn is_of_sender(self) -> bool {
        matches!(self, Fct::LastAck | Fct::Closed)
    }
}

/// Ports whose queue length is kept over time. Where the ports of a switch share a buffer, its
/// occupancy is kept too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TracePorts {
    /// None.
    None,
    /// The switch ports that face these hosts.
    ToHosts(Vec<u32>),
    /// Switch ports by number, counted from the first.
    Ports(Vec<u32>),
    /// The switch port with the largest mean queue, and the one to which the flows send the most
    /// payload, which is the same under every marking scheme.
    Hottest,
}
