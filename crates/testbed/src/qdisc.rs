// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port of the scenario as options of the qdisc `cemark`.

use std::collections::BTreeMap;

use cemark_param::{Dialect, Kind};
use cemark_sim::Config;
use cemark_sim::config::{MarkerChoice, NonEct, SchedulerKind};
use cemark_switch::sched::Share;
use cemark_wire::Rate;

use crate::refusal::{HEADERS, Refusal, by_queue, queues_of};

/// Bytes that the kernel counts of a packet beside IP: the header of Ethernet.
const ETHERNET: i32 = 14;

/// How `tc` is told what a packet counts on the wire of the scenario.
pub(crate) fn stab(config: &Config) -> String {
    let header = config.transport.header_bytes;
    let own = 40 + if stamps(config) { 12 } else { 0 };
    format!("stab overhead {}", i32::from(header) - own - ETHERNET)
}

/// A NIC: sends at its rate, never drops, marks nothing.
pub(crate) fn nic(rate: Rate) -> String {
    format!(
        "cemark scheme threshold k 4294967295b limit 268435456b rate {}bit shaper 100% burst 150b",
        rate.0
    )
}

/// A port of a switch.
pub(crate) fn port(config: &Config, rate: Rate) -> String {
    port_with(config, rate, &by_queue(config))
}

/// A port of a switch, with the marker of each of its queues. `burst` is a tenth of a packet: a
/// packet leaves when the one before it has been sent, and the port makes up for a late timer.
pub(crate) fn port_with(config: &Config, rate: Rate, markers: &[&MarkerChoice]) -> String {
    let of_port = format!(
        " limit {}b rate {}bit shaper 100% burst 150b gso split",
        config.switch.buffer_bytes, rate.0
    );
    words(config, rate, markers, &of_port, "")
}

/// DSCPs of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Dscps<'a> {
    /// DSCPs of each traffic class by name.
    pub of_class: &'a BTreeMap<String, Vec<u8>>,
    /// Queue of a DSCP without a class.
    pub rest: u8,
}

/// The marking and the queues of a port of any device, whose limit and rate follow the device.
/// Strict queues come first, as the qdisc has them.
///
/// # Errors
/// Schedulers and markers that the qdisc `cemark` lacks, and more than 32 queues.
pub fn exported(config: &Config, rate: Rate, dscps: Dscps<'_>) -> Result<String, Refusal> {
    let (config, place) = strict_first(config);
    queues_of(&config)?;
    let s = &config.switch;
    let queues = 0..s.queues.len();
    let markers: Vec<MarkerChoice> = queues.map(|queue| s.marker_at(queue, rate)).collect();
    let mut to = [place[usize::from(dscps.rest)]; 64];
    for class in &s.classes {
        for dscp in dscps.of_class.get(&class.name).into_iter().flatten() {
            to[usize::from(*dscp)] = class.queue;
        }
    }
    let last = s.queues.len().saturating_sub(1);
    let moved = to.iter().enumerate();
    let moved = moved.filter(|(dscp, queue)| (*dscp).min(last) != usize::from(**queue));
    let pairs: String = moved
        .map(|(dscp, queue)| format!(" {dscp}:{queue}"))
        .collect();
    let map = match s.classes.is_empty() || pairs.is_empty() {
        true => String::new(),
        false => format!(" map{pairs}"),
    };
    let markers: Vec<&MarkerChoice> = markers.iter().collect();
    Ok(words(&config, rate, &markers, "", &map))
}

/// The configuration with its strict queues before the others, and the new place of each queue.
fn strict_first(config: &Config) -> (Config, Vec<u8>) {
    let mut config = config.clone();
    let s = &mut config.switch;
    let mut order: Vec<usize> = (0..s.queues.len()).collect();
    if matches!(s.scheduler, SchedulerKind::Dwrr | SchedulerKind::Wrr) {
        order.sort_by_key(|queue| !s.queues[*queue].strict);
    }
    let mut place = vec![0; order.len()];
    for (to, from) in order.iter().enumerate() {
        place[*from] = to as u8;
    }
    s.queues = order.iter().map(|from| s.queues[*from]).collect();
    let profile = |from: &usize| s.profiles.get(*from).cloned().flatten();
    s.profiles = order.iter().map(profile).collect();
    for class in &mut s.classes {
        class.queue = place[usize::from(class.queue)];
    }
    (config, place)
}

/// The words of a port: its scheme is that of the first queue, and a queue with another one has
/// words of its own at the end.
fn words(
    config: &Config,
    rate: Rate,
    markers: &[&MarkerChoice],
    of_port: &str,
    map: &str,
) -> String {
    let s = &config.switch;
    let schemes: Vec<String> = markers.iter().map(|marker| scheme(marker)).collect();
    let mut words = format!("cemark {}{of_port}", schemes[0]);
    if s.non_ect == NonEct::Drop {
        words += " not_ect drop";
    }
    if s.queues.len() > 1 {
        words += &queues(config, rate, map);
    }
    for (queue, own) in schemes.iter().enumerate() {
        let mut of_queue = String::new();
        if *own != schemes[0] {
            of_queue += &format!(" {own}");
        }
        if s.non_ect_of(queue) != s.non_ect {
            of_queue += match s.non_ect_of(queue) {
                NonEct::Drop => " not_ect drop",
                NonEct::Forward => " not_ect forward",
            };
        }
        if !of_queue.is_empty() {
            words += &format!(" queue {queue}{of_queue}");
        }
    }
    words
}

/// A marker with all its parameters.
fn scheme(marker: &MarkerChoice) -> String {
    let MarkerChoice::Builtin { scheme, values } = marker else {
        return "scheme none".to_owned();
    };
    let mut words = format!("scheme {}", scheme.name);
    for (i, p) in scheme.params.iter().enumerate() {
        words += &format!(" {} {}", p.name, p.show(values.get(i), Dialect::Tc));
    }
    words
}

fn queues(config: &Config, rate: Rate, map: &str) -> String {
    let s = &config.switch;
    let mtu = u32::from(config.transport.mss) + u32::from(config.transport.header_bytes);
    let (scheduler, visits) = match s.scheduler {
        SchedulerKind::Fifo => ("fifo", false),
        SchedulerKind::StrictPriority => ("sp", false),
        SchedulerKind::Wrr => ("wrr", true),
        SchedulerKind::Dwrr | SchedulerKind::Wfq => ("dwrr", true),
    };
    let mut words = format!(
        " queues {} scheduler {scheduler} by dscp{map}",
        s.queues.len()
    );
    if !visits {
        return words;
    }
    let strict = s.queues.iter().take_while(|q| q.strict).count();
    words += &format!(" strict {strict} quanta");
    let share = |q: &cemark_sim::config::QueueConfig| Share {
        quantum: q.quantum,
        weight: q.weight,
        strict: q.strict,
        limit_bytes: s.buffer_bytes,
    };
    let shares: Vec<Share> = s.queues.iter().map(share).collect();
    for spec in s.scheduler.queue_specs(&shares, rate, mtu) {
        words += &format!(" {}", spec.quantum);
    }
    words += &format!(
        " round_beta {}",
        Kind::WEIGHT.show(u64::from(s.round.beta), Dialect::Tc)
    );
    words += &match s.round.idle {
        None => " round_idle mtu".to_owned(),
        Some(idle) if idle.0 == 0 => " round_idle never".to_owned(),
        Some(idle) => format!(" round_idle {}ns", idle.0),
    };
    words
}

/// Whether segments carry TCP's timestamps.
pub(crate) fn stamps(config: &Config) -> bool {
    let header = config.transport.header_bytes;
    HEADERS.iter().any(|(h, stamps)| *h == header && *stamps)
}

#[cfg(test)]
#[path = "qdisc_tests.rs"]
mod tests;
