// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[measure]`: what is recorded.

use cemark_sim::config::{Fct, Measure, TracePorts};
use cemark_sim::topology::Topology;
use cemark_sim::workload::Workload;
use cemark_wire::Picos;

use crate::around::host;
use crate::error::{Fallible, Fault, near};
use crate::key::{Key, keys, words};
use crate::section::{Section, link_names, list, text};
use crate::sections::{Form, SectionSpec};
use crate::tree::{Node, Table};
use crate::units::span;

pub(crate) static MEASURE: SectionSpec =
    SectionSpec::new("measure", Form::Table, &[KEYS], "What is recorded.");

/// A full packet at 1 Tb/s takes 12 ns.
const SHORTEST_INTERVAL: Picos = Picos::from_nanos(10);

/// [`TracePorts`] without its hosts and ports.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Trace {
    None,
    Hottest,
    Hosts,
    Ports,
}

words! { Trace:
    "none" => Trace::None,
    "hottest" => Trace::Hottest,
    "hosts" => Trace::Hosts,
    "ports" => Trace::Ports,
}

words! { Fct:
    "last-byte" => Fct::LastByte,
    "last-ack" => Fct::LastAck,
    "closed" => Fct::Closed,
    "client" => Fct::Client,
}

keys! { KEYS:
    FCT: Fct = Key::choice("fct").usual("last-byte").doc(
        "when a flow is complete; it begins with its start, which is its SYN under `handshake`. \
         `last-byte`: its receiver holds the last byte. `last-ack`: its sender has the ACK of the \
         last byte. `closed`: its sender then sends a FIN (one byte of the stream), and has the \
         ACK of that. `client`: as `last-byte`, plus the way of a request from the receiver to the \
         sender through the empty network, without the extra delay of `[rtt]`",
    );
    QUEUE_INTERVAL: Picos = Key::time("queue-interval").usual("50us")
        .doc("all switch queues are sampled this often; `0`: never");
    TRACE: Trace = Key::choice("trace").usual("none").doc(
        "the ports whose samples are kept as a trace: `none`, `hottest` (the port with the largest \
         mean, and the port to which the flows send most, which is the same for every scheme; \
         2,048 samples of each at most, evenly spaced), `hosts` (those of `trace-hosts`), `ports` \
         (those of `trace-ports`). Where the ports of a switch share a buffer, its occupancy is \
         kept as well: under `hottest` of the fullest buffer and of the one of the port to which \
         the flows send most, otherwise of the buffers that the named ports use",
    );
    TRACE_HOSTS: Node = Key::own(
        "trace-hosts",
        "a list of hosts",
        r#"{"type":"array","items":{"type":"integer","minimum":0}}"#,
    )
    .needed("[0]")
    .doc("for `hosts`: the ports that face these, `[0, 7]`");
    TRACE_PORTS: Node = Key::own(
        "trace-ports",
        "the name of a switch port, or a list of names",
        r#"{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}"#,
    )
    .needed("\"leaf0->spine*\"")
    .doc("for `ports`: these ports; in `\"leaf*->spine0\"` the `*` is any text");
    FROM: Picos = Key::time("from").follows("end of the warm-up").doc(
        "samples, traces, utilisation, shares of pauses and goodput of endless flows count from \
         here",
    );
    UNTIL: Picos = Key::time("until").follows("the end").doc(
        "and until here; packets, marks, drops and flows are counted over [the whole \
         run](output.md#columns-of-linksparquet)",
    );
    GOODPUT_INTERVAL: Picos = Key::time("goodput-interval").usual("0").doc(
        "goodput over intervals, of each endless flow and of all flows together, into \
         `goodput.parquet`; `0`: only totals",
    );
}

pub(crate) fn measure(
    root: &Table,
    topology: &Topology,
    workloads: &[Workload],
) -> Fallible<Measure> {
    let mut s = Section::of(root, &MEASURE)?;
    let measure = Measure {
        queue_interval: interval(&mut s, &QUEUE_INTERVAL)?,
        fct: s.read(&FCT)?,
        trace: traced(&mut s, topology)?,
        from: s.read_or(&FROM, warmed_up(topology, workloads))?,
        until: s.read_or(&UNTIL, Picos::MAX)?,
        goodput_interval: interval(&mut s, &GOODPUT_INTERVAL)?,
    };
    let place = |s: &mut Section<'_>, key| s.node::<Picos>(key).map_or(s.at(), |node| node.at);
    if measure.until <= measure.from {
        return Err(Fault::new(
            place(&mut s, &UNTIL),
            format!(
                "`until` ({}) is not after the beginning of the measurement ({})",
                span(measure.until),
                span(measure.from)
            ),
        )
        .help("measure from the end of the warm-up (or from = \"1ms\") to a later time"));
    }
    if measure.trace != TracePorts::None && measure.queue_interval == Picos::ZERO {
        return Err(Fault::new(
            place(&mut s, &QUEUE_INTERVAL),
            "a trace needs queue-interval",
        )
        .help("write queue-interval = \"10us\""));
    }
    s.finish()?;
    Ok(measure)
}

fn traced(s: &mut Section<'_>, topology: &Topology) -> Fallible<TracePorts> {
    let (hosts, ports) = (s.node(&TRACE_HOSTS), s.node(&TRACE_PORTS));
    let trace = match s.given(&TRACE)? {
        None if hosts.is_some() => Trace::Hosts,
        None if ports.is_some() => Trace::Ports,
        None => TRACE.usual_value(),
        Some(trace) => trace,
    };
    for (other, key, word) in [
        (
            hosts.filter(|_| trace != Trace::Hosts),
            &TRACE_HOSTS,
            "hosts",
        ),
        (
            ports.filter(|_| trace != Trace::Ports),
            &TRACE_PORTS,
            "ports",
        ),
    ] {
        if let Some(node) = other {
            let key = key.spec.name;
            let message = format!("{key} goes with trace = \"{word}\"");
            return Err(Fault::new(node.at, message).help(format!("leave out {key}, or `trace`")));
        }
    }
    match trace {
        Trace::None => Ok(TracePorts::None),
        Trace::Hottest => Ok(TracePorts::Hottest),
        Trace::Hosts => {
            let hosts = list(s.need(&TRACE_HOSTS)?)?.iter();
            let hosts = hosts.map(|node| host(node, topology));
            Ok(TracePorts::ToHosts(hosts.collect::<Fallible<_>>()?))
        }
        Trace::Ports => Ok(TracePorts::Ports(named(s.need(&TRACE_PORTS)?, topology)?)),
    }
}

/// The switch ports that `trace-ports` names, each once, counted from the first.
fn named(node: &Node, topology: &Topology) -> Fallible<Vec<u32>> {
    let fabric = topology.fabric();
    let help = "write trace-ports = \"leaf0->host1\", or trace = \"none\"";
    let mut ports = Vec::new();
    for name in link_names(node, "a trace of no port", help)? {
        let pattern = text(name)?;
        let links = fabric.matching(pattern).into_iter();
        let fitting = links.filter_map(|link| link.0.checked_sub(fabric.nics()));
        let before = ports.len();
        ports.extend(fitting);
        if ports.len() == before {
            let known = fabric.links()[fabric.nics() as usize..].iter().take(64);
            let message = format!("no switch port of this fabric is called `{pattern}`");
            return Err(Fault::new(name.at, message)
                .label("not known")
                .help(near(pattern, known.map(|link| link.name.as_str()))));
        }
    }
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

/// How often something is recorded; zero: never. A mistyped unit would otherwise make a run that
/// does not end.
fn interval(s: &mut Section<'_>, key: &Key<Picos>) -> Fallible<Picos> {
    let span = s.read(key)?;
    match s.node(key) {
        Some(node) if span != Picos::ZERO && span < SHORTEST_INTERVAL => Err(Fault::new(
            node.at,
            format!(
                "{} is shorter than a packet takes on the fastest link",
                key.spec.name
            ),
        )
        .help("write at least \"10ns\"; usual are \"10us\" to \"1ms\", and 0 for never")),
        _ => Ok(span),
    }
}

/// When the last warm-up ends, to the microsecond, as the load predicts.
fn warmed_up(topology: &Topology, workloads: &[Workload]) -> Picos {
    let end = |w: &Workload| {
        let end = w.kind.facts(topology).warmed_up(topology);
        Picos(end.0 - end.0 % 1_000_000)
    };
    workloads.iter().map(end).max().unwrap_or(Picos::ZERO)
}
