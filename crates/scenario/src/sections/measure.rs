// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[measure]`: what is recorded.

use cemark_sim::config::{Fct, Measure, TracePorts};
use cemark_sim::topology::Topology;
use cemark_sim::workload::Workload;
use cemark_wire::Picos;

use crate::around::host;
use crate::error::{Fallible, Fault};
use crate::key::{Key, keys, words};
use crate::section::{Section, list};
use crate::sections::{Form, SectionSpec};
use crate::tree::{Node, Table};
use crate::units::span;

pub(crate) static MEASURE: SectionSpec =
    SectionSpec::new("measure", Form::Table, &[KEYS], "What is recorded.");

/// A full packet at 1 Tb/s takes 12 ns.
const SHORTEST_INTERVAL: Picos = Picos::from_nanos(10);

/// [`TracePorts`] without its hosts.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Trace {
    None,
    Hottest,
    Hosts,
}

words! { Trace: "none" => Trace::None, "hottest" => Trace::Hottest, "hosts" => Trace::Hosts }

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
         2,048 samples of each at most, evenly spaced), `hosts` (those of `trace-hosts`)",
    );
    TRACE_HOSTS: Node = Key::own(
        "trace-hosts",
        "a list of hosts",
        r#"{"type":"array","items":{"type":"integer","minimum":0}}"#,
    )
    .needed("[0]")
    .doc("for `hosts`: the ports that face these, `[0, 7]`");
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
    let hosts = s.node(&TRACE_HOSTS);
    let trace = match s.given(&TRACE)? {
        None if hosts.is_some() => Trace::Hosts,
        None => TRACE.usual_value(),
        Some(trace) => trace,
    };
    match (trace, hosts) {
        (Trace::None, None) => Ok(TracePorts::None),
        (Trace::Hottest, None) => Ok(TracePorts::Hottest),
        (Trace::Hosts, _) => {
            let hosts = list(s.need(&TRACE_HOSTS)?)?.iter();
            let hosts = hosts.map(|node| host(node, topology));
            Ok(TracePorts::ToHosts(hosts.collect::<Fallible<_>>()?))
        }
        (_, Some(node)) => Err(Fault::new(
            node.at,
            "trace-hosts goes with trace = \"hosts\"",
        )),
    }
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
