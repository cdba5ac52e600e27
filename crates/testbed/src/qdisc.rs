// SPDX-License-Identifier: MIT OR Apache-2.0
//! A port of the scenario as options of the qdisc `cemark`.

use cemark_param::{Dialect, Kind};
use cemark_sim::Config;
use cemark_sim::config::{MarkerChoice, NonEct, SchedulerKind};
use cemark_switch::sched::Share;
use cemark_wire::Rate;

use crate::refusal::{HEADERS, by_queue};

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

/// A port of a switch, with the marker of each of its queues: the port has the marker of the first
/// queue, and a queue with another marker has words of its own at the end. `burst`, a tenth of a
/// packet: a packet leaves when the one before it has been sent, and what a late timer has cost is
/// made up for.
pub(crate) fn port_with(config: &Config, rate: Rate, markers: &[&MarkerChoice]) -> String {
    let s = &config.switch;
    let schemes: Vec<String> = markers.iter().map(|marker| scheme(marker)).collect();
    let mut words = format!("cemark {}", schemes[0]);
    words += &format!(
        " limit {}b rate {}bit shaper 100% burst 150b gso split",
        s.buffer_bytes, rate.0
    );
    if s.non_ect == NonEct::Drop {
        words += " not_ect drop";
    }
    if s.queues.len() > 1 {
        words += &queues(config, rate);
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

fn queues(config: &Config, rate: Rate) -> String {
    let s = &config.switch;
    let mtu = u32::from(config.transport.mss) + u32::from(config.transport.header_bytes);
    let (scheduler, visits) = match s.scheduler {
        SchedulerKind::Fifo => ("fifo", false),
        SchedulerKind::StrictPriority => ("sp", false),
        SchedulerKind::Wrr => ("wrr", true),
        SchedulerKind::Dwrr | SchedulerKind::Wfq => ("dwrr", true),
    };
    let mut words = format!(" queues {} scheduler {scheduler} by dscp", s.queues.len());
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
