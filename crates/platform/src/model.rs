// SPDX-License-Identifier: MIT OR Apache-2.0
//! A switch as it is configured: the part of a configuration that decides which packets are marked,
//! in words that all platforms share.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use cemark_wire::Rate;

use crate::place::{At, Place};

/// DSCPs of an IP header.
pub const DSCPS: usize = 64;

/// A switch, or an ASIC of a switch whose configuration has a database for each ASIC.
pub struct Switch {
    /// Name of the ASIC; empty where the configuration is that of the whole switch.
    pub part: String,
    /// Marking profiles by name.
    pub profiles: BTreeMap<String, Profile>,
    /// Queues by port and number.
    pub queues: BTreeMap<(String, u8), Queue>,
    /// Queues that name a profile, by the name.
    bound: BTreeMap<String, BTreeSet<(String, u8)>>,
    /// Ports by name.
    pub ports: BTreeMap<String, Port>,
    /// Maps from DSCP to traffic class, by name.
    pub classes: BTreeMap<String, ClassMap>,
    /// Values that the platform does not read as they are written.
    pub malformed: Vec<Malformed>,
    /// Operations of a patch that the platform refuses.
    pub refused: Vec<Refused>,
    /// Mistakes in the form of keys: queues of a chassis with virtual output queues.
    pub misplaced: Vec<Refused>,
    /// Whether the platform's files say which priorities PFC pauses.
    pub says_pauses: bool,
    /// Whether packets wait in virtual output queues at the ingress.
    pub voq: bool,
    /// Cell of the packet buffer in bytes, and its source, where the configuration names a chip
    /// whose cell is known.
    pub cell: Option<(u64, &'static str)>,
    /// Whether the files have the section that would bind or define profiles; a lone fragment is
    /// not judged by what it lacks.
    pub whole: bool,
    /// Sections that were not read, with the number of their entries or lines.
    pub unread: BTreeMap<String, usize>,
}

impl Switch {
    /// A switch of which nothing is known.
    pub(crate) fn new() -> Switch {
        Switch {
            part: String::new(),
            profiles: BTreeMap::new(),
            queues: BTreeMap::new(),
            bound: BTreeMap::new(),
            ports: BTreeMap::new(),
            classes: BTreeMap::new(),
            malformed: Vec::new(),
            refused: Vec::new(),
            misplaced: Vec::new(),
            says_pauses: true,
            voq: false,
            cell: None,
            whole: true,
            unread: BTreeMap::new(),
        }
    }

    /// Adds a profile; of several with a name the last counts.
    pub(crate) fn define(&mut self, profile: Profile) {
        self.profiles.insert(profile.name.clone(), profile);
    }

    /// Adds a queue; of several with a port and a number the last counts.
    pub(crate) fn bind(&mut self, queue: Queue) {
        let key = (queue.port.clone(), queue.index);
        let named = queue.profile.as_ref().map(|name| name.value.clone());
        let before = self.queues.insert(key.clone(), queue);
        if let Some(name) = before.and_then(|queue| queue.profile)
            && let Some(queues) = self.bound.get_mut(&name.value)
        {
            queues.remove(&key);
        }
        if let Some(name) = named {
            self.bound.entry(name).or_default().insert(key);
        }
    }

    /// Queues that name a profile.
    pub fn bound(&self, name: &str) -> impl Iterator<Item = &Queue> {
        let keys = self.bound.get(name).into_iter().flatten();
        keys.filter_map(|key| self.queues.get(key))
    }

    /// The queue of a port.
    pub fn queue(&self, port: &str, index: u8) -> Option<&Queue> {
        self.queues.get(&(port.to_owned(), index))
    }

    /// The profile of a queue of a port.
    pub fn profile_of(&self, port: &str, index: u8) -> Option<&Profile> {
        let named = self.queue(port, index)?.profile.as_ref()?;
        self.profiles.get(&named.value)
    }

    /// The traffic class of packets with a DSCP that enter a port, and the place that says so;
    /// without a place it is the default of the map or of the platform.
    pub fn class_of(&self, port: &Port, dscp: usize) -> Option<(u8, Option<&Place>)> {
        let map = self.classes.get(port.classes.as_deref()?)?;
        match &map.explicit[dscp] {
            Some(class) => Some((class.value, Some(&class.place))),
            None => map.absent[dscp].map(|class| (class, None)),
        }
    }
}

/// A marking profile: WRED, RED, or an active queue management of a host.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Name of the profile, or the command that defines it.
    pub name: String,
    /// Place of the profile.
    pub place: Place,
    /// The curves: one, or one for each colour of packets.
    pub curves: Vec<Curve>,
    /// Whether the platform ships the profile, and the files do not write it.
    pub shipped: bool,
}

impl Profile {
    /// A profile without a curve.
    pub(crate) fn new(name: impl Into<String>, place: Place) -> Profile {
        Profile {
            name: name.into(),
            place,
            curves: Vec::new(),
            shipped: false,
        }
    }

    /// Whether packets of the first colour (packets without a meter) are marked.
    pub fn marks(&self) -> bool {
        self.curves.first().is_some_and(Curve::marks)
    }
}

/// A statement that a configuration makes, or leaves to the platform's default.
#[derive(Clone, Debug)]
pub struct Said {
    /// Whether the statement holds.
    pub holds: bool,
    /// Place of the statement, or the place that lacks the statement.
    pub place: Place,
    /// How the configuration says so: "`ecn` is absent, and absent means ecn_none".
    pub how: String,
}

impl Said {
    /// A statement at a place.
    pub(crate) fn new(holds: bool, place: Place, how: impl Into<String>) -> Said {
        Said {
            holds,
            place,
            how: how.into(),
        }
    }
}

/// The marking curve of a profile.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Colour of the packets; empty without colours.
    pub colour: &'static str,
    /// Whether the profile acts on packets of this colour at all.
    pub acts: Said,
    /// Whether it marks ECN-capable packets; otherwise it drops them.
    pub ecn: Said,
    /// Queue length up to which no packet is marked.
    pub min: Option<At<Length>>,
    /// Queue length above which every packet is marked.
    pub max: Option<At<Length>>,
    /// Marking probability at `max`, in percent; the platform's default where it is absent.
    pub probability: Option<At<f64>>,
    /// Exponent of the moving average of the queue length; 0 or absent: the length itself.
    pub weight: Option<At<u64>>,
}

impl Curve {
    /// A curve without thresholds, for packets of every colour.
    pub(crate) fn new(acts: Said, ecn: Said) -> Curve {
        Curve {
            colour: "",
            acts,
            ecn,
            min: None,
            max: None,
            probability: None,
            weight: None,
        }
    }

    /// Whether packets are marked.
    pub fn marks(&self) -> bool {
        self.acts.holds && self.ecn.holds
    }

    /// Both ends in bytes.
    pub fn bytes(&self) -> Option<(&At<Length>, u64, &At<Length>, u64)> {
        let (min, max) = (self.min.as_ref()?, self.max.as_ref()?);
        Some((min, min.value.bytes()?, max, max.value.bytes()?))
    }

    /// Probability at the upper end as a fraction, 1 where the profile has none.
    pub fn height(&self) -> f64 {
        self.probability.as_ref().map_or(1.0, |p| p.value / 100.0)
    }
}

/// A queue length or a waiting time as platforms write thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Bytes.
    Bytes(u64),
    /// Percent of the buffer.
    Percent(f64),
    /// Nanoseconds.
    Nanos(u64),
    /// Packets.
    Packets(u64),
    /// Segments of the buffer, whose size depends on the chip.
    Segments(u64),
}

impl Length {
    /// A number with a unit, one of those that a platform knows. A kbyte is 1000 bytes.
    pub(crate) fn read(number: u64, unit: &str, known: &[&str]) -> Option<Length> {
        let scaled = |scale: u64| number.checked_mul(scale);
        match unit {
            unit if !known.contains(&unit) => None,
            "segments" => Some(Length::Segments(number)),
            "packets" => Some(Length::Packets(number)),
            "bytes" => Some(Length::Bytes(number)),
            "kbytes" => scaled(1_000).map(Length::Bytes),
            "mbytes" => scaled(1_000_000).map(Length::Bytes),
            "microseconds" | "us" => scaled(1_000).map(Length::Nanos),
            "milliseconds" | "ms" => scaled(1_000_000).map(Length::Nanos),
            _ => None,
        }
    }

    /// The length in bytes, if the configuration alone says it.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Length::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Whether this length is above another one of the same unit.
    pub(crate) fn above(self, other: Length) -> bool {
        match (self, other) {
            (Length::Bytes(a), Length::Bytes(b))
            | (Length::Nanos(a), Length::Nanos(b))
            | (Length::Packets(a), Length::Packets(b))
            | (Length::Segments(a), Length::Segments(b)) => a > b,
            (Length::Percent(a), Length::Percent(b)) => a > b,
            _ => false,
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::Bytes(bytes) => write!(f, "{bytes} B"),
            Length::Percent(percent) => write!(f, "{percent} % of the buffer"),
            Length::Nanos(nanos) if *nanos >= 1_000 => write!(f, "{} us", *nanos as f64 / 1e3),
            Length::Nanos(nanos) => write!(f, "{nanos} ns"),
            Length::Packets(packets) => write!(f, "{packets} packets"),
            Length::Segments(segments) => write!(f, "{segments} segments"),
        }
    }
}

/// A queue of a port.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The port.
    pub port: String,
    /// Number of the queue.
    pub index: u8,
    /// Name of its marking profile.
    pub profile: Option<At<String>>,
    /// Place of the queue.
    pub place: Place,
}

/// A port.
#[derive(Clone, Debug, Default)]
pub struct Port {
    /// Place of the port.
    pub place: Place,
    /// Link rate of the port.
    pub rate: Option<Rate>,
    /// Largest packet in bytes.
    pub mtu: Option<u64>,
    /// Name of its map from DSCP to traffic class.
    pub classes: Option<String>,
    /// Queues of traffic classes that do not go to the queue of their own number.
    pub queue_of: BTreeMap<u8, u8>,
    /// Priorities of traffic classes whose pauses are not those of their own number.
    pub priority_of: BTreeMap<u8, u8>,
    /// Queues that pauses of a priority stop, where it is not the queue of its traffic class.
    pub stopped: BTreeMap<u8, u8>,
    /// Priorities that PFC pauses, with the place that says so.
    pub lossless: BTreeMap<u8, Place>,
    /// Queue lengths at which PFC pauses the sender, by priority.
    pub xoff: BTreeMap<u8, Xoff>,
}

impl Port {
    /// The queue of a traffic class.
    pub fn queue(&self, class: u8) -> u8 {
        self.queue_of.get(&class).copied().unwrap_or(class)
    }

    /// The priority whose pauses protect a traffic class.
    fn priority(&self, class: u8) -> u8 {
        self.priority_of.get(&class).copied().unwrap_or(class)
    }

    /// Traffic classes that pauses of a priority protect.
    pub fn protected(&self, priority: u8) -> impl Iterator<Item = u8> {
        (0..8).filter(move |class| self.priority(*class) == priority)
    }

    /// Why PFC does not protect a traffic class; none where it does.
    pub fn unprotected(&self, class: u8) -> Option<String> {
        let (priority, queue) = (self.priority(class), self.queue(class));
        let stopped = self.stopped.get(&priority).copied().unwrap_or(queue);
        let lossless = self.lossless.contains_key(&priority);
        match (lossless, priority == class, stopped == queue) {
            (true, _, true) => None,
            (true, _, false) => Some(format!(
                "pauses of priority {priority} stop queue {stopped}, and its packets wait in queue \
                 {queue}"
            )),
            (false, true, _) => Some("PFC does not protect it".to_owned()),
            (false, false, _) => Some(format!(
                "its pauses have priority {priority}, which PFC does not protect"
            )),
        }
    }
}

/// The rate of a link in Gb/s; none for a number that no link has.
pub(crate) fn link_rate(gbps: u64) -> Option<Rate> {
    let known = (1..=10_000).contains(&gbps);
    known.then(|| Rate::gbps(gbps))
}

/// The ingress queue at which a port pauses its sender.
#[derive(Clone, Debug)]
pub struct Xoff {
    /// Bytes while one port alone is congested: the largest value that the threshold has.
    pub bytes: u64,
    /// How the configuration says so.
    pub how: String,
    /// Place of the buffer profile.
    pub place: Place,
}

/// A map from DSCP to traffic class.
#[derive(Clone, Debug)]
pub struct ClassMap {
    /// Classes that the configuration gives, by DSCP.
    pub explicit: Vec<Option<At<u8>>>,
    /// Class of a DSCP without an entry, by DSCP.
    pub absent: Vec<Option<u8>>,
    /// Place of the map.
    pub place: Place,
}

impl ClassMap {
    /// A map without an entry; a DSCP without an entry has the class that `absent` gives.
    pub(crate) fn new(place: Place, absent: impl Fn(usize) -> Option<u8>) -> ClassMap {
        ClassMap {
            explicit: vec![None; DSCPS],
            absent: (0..DSCPS).map(absent).collect(),
            place,
        }
    }
}

/// Gives every port a queue, or the port `all ports` where the configuration names no port.
pub(crate) fn everywhere(ports: &BTreeMap<String, Port>) -> Vec<String> {
    match ports.is_empty() {
        true => vec![ALL_PORTS.to_owned()],
        false => ports.keys().cloned().collect(),
    }
}

/// The port of a configuration that names none.
pub(crate) const ALL_PORTS: &str = "all ports";

/// A value that the platform does not read as it is written.
#[derive(Clone, Debug)]
pub struct Malformed {
    /// Place of the value.
    pub place: Place,
    /// The value as it is written.
    pub written: String,
    /// The mistake: "begins with a blank", "is no number".
    pub mistake: &'static str,
    /// Name of the profile that has it.
    pub profile: String,
}

/// An operation or a key that the platform refuses.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Place of the operation or the key.
    pub place: Place,
    /// Why.
    pub why: String,
    /// The remedy.
    pub instead: String,
}

/// Ports of queues, in order, each once.
pub(crate) fn ports<'a>(queues: impl Iterator<Item = &'a Queue>) -> BTreeSet<&'a str> {
    queues.map(|queue| queue.port.as_str()).collect()
}
