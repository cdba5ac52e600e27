// SPDX-License-Identifier: MIT OR Apache-2.0
//! Features that a scenario may have and a network of namespaces cannot, named by key and value.

use std::fmt;

use cemark_param::Dialect;
use cemark_sim::Config;
use cemark_sim::config::{Buffering, Edge, MarkerChoice, Nic, Policy, SchedulerKind};
use cemark_sim::topology::Form;
use cemark_sim::workload::ClassMap;
use cemark_transport::Control;

use crate::lab::CONTROLS;

/// Most hosts: each is a namespace with its own TCP, and all share one processor.
const MOST_HOSTS: u32 = 64;
/// Most queues of the qdisc `cemark`.
const MOST_QUEUES: usize = 32;
/// Header bytes of a segment that a kernel can send: IP and TCP, TCP's timestamps, and what the
/// link adds (Ethernet's header; its preamble, checksum and gap too).
pub(crate) const HEADERS: [(u16, bool); 6] = [
    (40, false),
    (52, true),
    (54, false),
    (66, true),
    (78, false),
    (90, true),
];

/// A key that a kernel has no counterpart of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The key as a scenario file has it: `topology.kind`.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Why not.
    pub why: String,
    /// Remedy, as an instruction to the author of the scenario.
    pub instead: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.value, self.why)
    }
}

impl std::error::Error for Refusal {}

fn no(key: &str, value: impl ToString, why: &str, instead: &str) -> Result<(), Refusal> {
    Err(Refusal {
        key: key.to_owned(),
        value: value.to_string(),
        why: why.to_owned(),
        instead: instead.to_owned(),
    })
}

pub(crate) fn check(config: &Config) -> Result<(), Refusal> {
    fabric(config)?;
    switch(config)?;
    transport(config)?;
    hosts(config)?;
    workloads(config)
}

fn fabric(config: &Config) -> Result<(), Refusal> {
    let one_or_two = matches!(config.topology.form(), Form::Star(_) | Form::Dumbbell(_));
    if !one_or_two {
        return no(
            "topology.kind",
            format!("\"{}\"", config.topology.spec().name),
            "the testbed has one switch or two",
            "write kind = \"star\" or kind = \"dumbbell\"",
        );
    }
    let hosts = config.topology.hosts();
    if hosts > MOST_HOSTS {
        return no(
            "topology",
            format!("{hosts} hosts"),
            "each host is a network namespace, and all share one processor",
            &format!("write at most {MOST_HOSTS} hosts"),
        );
    }
    if config.edge != Edge::Plain {
        return no(
            "edge.kind",
            "\"dcib\" or \"pep\"",
            "a kernel has no such middlebox",
            "leave the section [edge] out",
        );
    }
    if !config.faults.is_empty() {
        return no(
            "fault",
            format!("{} links", config.faults.len()),
            "the testbed makes no artificial losses",
            "leave the sections [[fault]] out",
        );
    }
    if !config.retunes.is_empty() {
        return no(
            "retune",
            format!("{} times", config.retunes.len()),
            "the testbed sets its qdiscs once",
            "leave the sections [[retune]] out",
        );
    }
    Ok(())
}

fn switch(config: &Config) -> Result<(), Refusal> {
    let s = &config.switch;
    if s.pfc.is_some() {
        return no(
            "switch.pfc",
            "true",
            "Linux forwards without pauses",
            "leave pfc out",
        );
    }
    let plain = Buffering {
        policy: Policy::Port,
        ..s.buffering
    };
    if s.buffering != plain || s.buffering.headroom > 0 {
        return no(
            "switch.buffer-policy",
            "shared, static or dynamic",
            "each port of the testbed has its own buffer, which its queues share",
            "write buffer-policy = \"port\"",
        );
    }
    if s.queues.iter().any(|q| q.limit_bytes < s.buffer_bytes) {
        return no(
            "switch.queue.bytes",
            "below the buffer",
            "the qdisc has one limit for all queues of a port",
            "leave `bytes` of queues out",
        );
    }
    queues_of(config)
}

/// Refuses queues that a port of the qdisc `cemark` cannot have.
pub(crate) fn queues_of(config: &Config) -> Result<(), Refusal> {
    let s = &config.switch;
    if s.queues.len() > MOST_QUEUES {
        return no(
            "switch.queues",
            s.queues.len(),
            "the qdisc has at most 32 queues",
            "write 32 queues or fewer",
        );
    }
    if s.scheduler == SchedulerKind::Wfq {
        return no(
            "switch.scheduler",
            "\"wfq\"",
            "the qdisc has no weighted fair queueing",
            "write scheduler = \"dwrr\" or \"wrr\"",
        );
    }
    let behind = s.queues.iter().skip_while(|q| q.strict).any(|q| q.strict);
    if behind {
        return no(
            "switch.queue.strict",
            "true",
            "the qdisc serves its first queues strictly, and this one is behind another kind",
            "put the strict queues first",
        );
    }
    markers(&by_queue(config))
}

/// The marker of each queue of a port.
pub(crate) fn by_queue(config: &Config) -> Vec<&MarkerChoice> {
    config.switch.markers().collect()
}

/// Refuses a marker of a queue that the qdisc lacks.
pub(crate) fn markers(markers: &[&MarkerChoice]) -> Result<(), Refusal> {
    markers.iter().try_for_each(|of_queue| marker(of_queue))
}

fn marker(marker: &MarkerChoice) -> Result<(), Refusal> {
    if let MarkerChoice::Builtin { scheme, .. } = marker
        && let Some(deployed) = scheme.research_of
    {
        return no(
            "scheme.marker",
            format!("\"{}\"", scheme.name),
            "this scheme is for research: the simulator has it, and the qdisc does not",
            &format!("write marker = \"{deployed}\""),
        );
    }
    if matches!(marker, MarkerChoice::Own(_) | MarkerChoice::Custom(_)) {
        return no(
            "scheme.marker",
            "your own",
            "the qdisc has the schemes of the catalogue",
            "run your own marker with `cemark run`",
        );
    }
    Ok(())
}

fn transport(config: &Config) -> Result<(), Refusal> {
    let t = &config.transport;
    if !config.queue_pairs().is_empty() {
        return no(
            "transport.control",
            "\"dcqcn\"",
            "the test kernel has no such congestion control",
            KNOWN,
        );
    }
    for own in config.controls() {
        control(config, own)?;
    }
    let but_control = |own: &cemark_transport::Config| own.under(&t.control) == *t;
    if !config.transports().into_iter().all(but_control) {
        return no(
            "workload.transport",
            "more than `control`",
            "hosts of the testbed have one setting for all connections",
            "write [workload.transport] with control alone, and the other keys in [transport]",
        );
    }
    if config.controls().len() > CONTROLS {
        return no(
            "workload.control",
            format!("{} different controllers", config.controls().len()),
            "the testbed tells them apart by four bits of a port",
            &format!("write at most {CONTROLS} different controllers"),
        );
    }
    if !HEADERS.iter().any(|(bytes, _)| *bytes == t.header_bytes) {
        return no(
            "transport.header",
            format!("{}B", t.header_bytes),
            "a kernel's segments have 40 bytes of headers, or 52 with timestamps, and the link \
             adds 14 or 38",
            "write header = \"40B\", \"52B\", \"54B\", \"66B\", \"78B\" or \"90B\"",
        );
    }
    if t.ack_every > 2 {
        return no(
            "transport.ack-every",
            t.ack_every,
            "a kernel acknowledges every segment or every second one",
            "write ack-every = 1 or 2",
        );
    }
    if t.pacing {
        return no(
            "transport.pacing",
            "true",
            "the testbed's senders are not paced",
            "leave pacing out",
        );
    }
    Ok(())
}

/// Remedy that names the controllers of a kernel.
const KNOWN: &str = "write control = \"dctcp\", \"ecn-star\", \"reno\", \"cubic\" or \"cubic-ecn\"";

/// Refuses a controller of the scenario that the kernel lacks or has with other values, under the
/// key that chose it.
fn control(config: &Config, own: &Control) -> Result<(), Refusal> {
    let spec = own.spec();
    if algorithm(own).is_none() {
        let key = match *own == config.transport.control {
            true => "transport.control",
            false => "workload.control",
        };
        return no(
            key,
            format!("\"{}\"", spec.name),
            "the test kernel has no such congestion control",
            KNOWN,
        );
    }
    for (param, value) in spec.params.iter().zip(own.values().0) {
        if value != param.default {
            return no(
                &format!("transport.{}", param.name),
                param.show(value, Dialect::Message).to_string(),
                "the kernel's congestion control has its own value",
                "leave it out",
            );
        }
    }
    Ok(())
}

/// A congestion control of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Algorithm {
    /// Its name there.
    pub(crate) name: &'static str,
    /// Whether its connections use ECN.
    pub(crate) echo: bool,
    /// Whether it asks for ECN by itself, whatever `tcp_ecn` says.
    pub(crate) asks: bool,
}

/// The kernel's congestion control for a controller of the scenario.
pub(crate) fn algorithm(control: &Control) -> Option<Algorithm> {
    let (name, echo) = match control.spec().name {
        "dctcp" => ("dctcp", true),
        "cubic" => ("cubic", false),
        "cubic-ecn" => ("cubic", true),
        "reno" => ("reno", false),
        "ecn-star" => ("reno", true),
        _ => return None,
    };
    Some(Algorithm {
        name,
        echo,
        asks: name == "dctcp",
    })
}

fn hosts(config: &Config) -> Result<(), Refusal> {
    if !matches!(config.nic, Nic::BackPressure { .. }) {
        return no(
            "host.nic",
            "\"fifo\" or \"switch-port\"",
            "a kernel's sockets wait for its NIC",
            "write nic = \"back-pressure\"",
        );
    }
    if config.offload.coalesce.0 > 0 {
        return no(
            "host.coalesce",
            format!("{}ns", config.offload.coalesce.0),
            "a virtual network card has no interrupts to coalesce",
            "leave coalesce out",
        );
    }
    Ok(())
}

fn workloads(config: &Config) -> Result<(), Refusal> {
    for w in &config.workloads {
        if matches!(w.class, ClassMap::ByBytesSent(_)) {
            return no(
                "workload.class-bounds",
                &w.name,
                "the testbed's senders keep the DSCP of a flow",
                "write class or class-weights",
            );
        }
    }
    Ok(())
}
