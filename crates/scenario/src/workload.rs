// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[workload]]`: what is sent, by whom and when.

use cemark_sim::topology::Topology;
use cemark_sim::workload::load::flows_per_second;
use cemark_sim::workload::{ClassMap, FlowLine, Kind, LongFlows, Pairs, Workload};
use cemark_wire::Picos;

use crate::error::{Fallible, Fault};
use crate::section::{Section, bytes, count, fraction, list, time, wrong};
use crate::sizes::Tables;
use crate::tree::{Node, Table, Value};

/// More flows than anybody waits for.
const MOST_FLOWS: u64 = 1_000_000_000;
/// A petabyte.
const LARGEST_FLOW: u64 = 1_000_000_000_000_000;
/// Most queues of a port.
pub(crate) const MOST_QUEUES: u64 = 64;

const KINDS: &[&str] = &["poisson", "incast", "long", "list", "probe"];

/// What a workload may refer to.
struct Around<'a> {
    topology: &'a Topology,
    tables: &'a mut Tables,
    queues: usize,
}

/// All workloads of a scenario.
pub(crate) fn workloads(
    root: &Table,
    topology: &Topology,
    tables: &mut Tables,
    queues: usize,
) -> Fallible<Vec<Workload>> {
    let nodes: &[Node] = match root.get("workload").map(|entry| &entry.node) {
        None => &[],
        Some(Node {
            value: Value::List(nodes),
            ..
        }) => nodes,
        Some(node) => std::slice::from_ref(node),
    };
    if nodes.is_empty() {
        return Err(Fault::nowhere("nothing is sent: there is no [[workload]]")
            .help("write [[workload]], kind = \"poisson\", sizes = \"web-search\", load = 0.8, flows = 10000"));
    }
    if nodes.len() > 1_000 {
        return Err(Fault::new(nodes[1_000].at, "more than 1000 workloads"));
    }
    let mut around = Around {
        topology,
        tables,
        queues,
    };
    let mut all: Vec<Workload> = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        let mut workload = one(node, &mut around)?;
        let taken = |name: &str, all: &[Workload]| all.iter().any(|w| w.name == name);
        if workload.name.is_empty() {
            let kind = kind_name(&workload.kind);
            workload.name = if taken(kind, &all) {
                format!("{kind}-{i}")
            } else {
                kind.to_owned()
            };
        }
        if taken(&workload.name, &all) {
            return Err(Fault::new(
                node.at,
                format!("two workloads are called `{}`", workload.name),
            )
            .help("give each its own name = \"...\""));
        }
        all.push(workload);
    }
    let loads: Vec<Option<&Node>> = nodes.iter().map(load_node).collect();
    crate::together::check(&all, &loads, topology)?;
    Ok(all)
}

/// Where a workload says its load.
fn load_node(workload: &Node) -> Option<&Node> {
    match &workload.value {
        Value::Table(table) => table.get("load").map(|entry| &entry.node),
        _ => None,
    }
}

/// The word for a kind of workload.
pub(crate) fn kind_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Poisson { .. } => KINDS[0],
        Kind::Incast { .. } => KINDS[1],
        Kind::Long { .. } => KINDS[2],
        Kind::List(_) => KINDS[3],
        Kind::Probe { .. } => KINDS[4],
    }
}

fn one(node: &Node, around: &mut Around<'_>) -> Fallible<Workload> {
    let mut s = Section::node(node, "[[workload]]".to_owned())?;
    let kind = crate::section::choice(s.need("kind", "\"poisson\"")?, KINDS)?;
    let name = s.text("name")?.unwrap_or_default().to_owned();
    let class = class(&mut s, around.queues)?;
    let persistent = s.choice("connections", 0, &["fresh", "persistent"])? == 1;
    let kind = match kind {
        0 => poisson(&mut s, around)?,
        1 => incast(&mut s, around.topology)?,
        2 => Kind::Long {
            flows: long_flows(&mut s, around.topology)?,
            at: s.time("at", Picos::ZERO)?,
            stagger: s.time("stagger", Picos::ZERO)?,
            jitter: s.time("jitter", Picos::ZERO)?,
        },
        3 => flow_list(&mut s, around.topology)?,
        _ => Kind::Probe {
            src: host(s.need("src", "0")?, around.topology)?,
            dst: other_host(&mut s, "src", "dst", around.topology)?,
            at: s.time("at", Picos::ZERO)?,
            every: positive(s.need("every", "\"10us\"")?)?,
            count: count(s.need("count", "1000")?, (1, MOST_FLOWS))?,
        },
    };
    s.finish()?;
    Ok(Workload {
        name,
        kind,
        class,
        persistent,
    })
}

fn poisson(s: &mut Section<'_>, around: &mut Around<'_>) -> Fallible<Kind> {
    let sizes = around.tables.sizes(s)?;
    let node = s.need("load", "0.8")?;
    let load = fraction(node).map_err(|fault| {
        fault.help("a load is above 0 and at most 1: offered payload bits on the most loaded tier over its capacity")
    })?;
    // A load of 1e-300 would be a wait of ages for the first flow.
    if load < 1e-6 {
        return Err(Fault::new(node.at, "a load of zero sends nothing")
            .help("write a load above 0 and at most 1, such as 0.8"));
    }
    let load = match s.get("share") {
        None => load,
        Some(node) => {
            let share = fraction(node).map_err(|fault| {
                fault.help("a share is above 0 and at most 1: the part of the load that this workload offers")
            })?;
            if load * share < 1e-6 {
                return Err(Fault::new(node.at, "a share of zero sends nothing")
                    .help("write a share above 0 and at most 1, such as 0.25"));
            }
            load * share
        }
    };
    let topology = around.topology;
    let pairs = s.choice("pairs", 0, &["all", "other-rack", "to-one"])?;
    if let Some(receiver) = s.get("receiver").filter(|_| pairs != 2) {
        return Err(
            Fault::new(receiver.at, "a receiver without pairs = \"to-one\"")
                .help("write pairs = \"to-one\" for flows to this host alone, or remove it"),
        );
    }
    let pairs = match pairs {
        0 => Pairs::All,
        1 => {
            if topology.rack(topology.hosts() - 1) == 0 {
                return Err(
                    Fault::new(s.at(), "pairs = \"other-rack\" needs more than one rack")
                        .help("write pairs = \"all\""),
                );
            }
            Pairs::OtherRack
        }
        _ => Pairs::ToOne(host(s.need("receiver", "0")?, topology)?),
    };
    let flows = count(s.need("flows", "10000")?, (1, MOST_FLOWS))?;
    let warmup = s.count("warmup", flows / 10, (0, MOST_FLOWS))?;
    let hold = s.time("hold", Picos::MAX)?;
    let rate = flows_per_second(topology, &pairs, sizes.mean(), load);
    if rate > 1e9 {
        return Err(Fault::new(
            node.at,
            format!("this load is {rate:.0} flows a second, more than one a nanosecond"),
        )
        .help("larger flows, or a lower load"));
    }
    Ok(Kind::Poisson {
        sizes,
        load,
        pairs,
        flows,
        warmup,
        hold,
    })
}

fn incast(s: &mut Section<'_>, topology: &Topology) -> Fallible<Kind> {
    let senders = count(s.need("senders", "32")?, (1, 1_000_000))? as u32;
    let receiver = host(s.need("receiver", "0")?, topology)?;
    let flow = (1, LARGEST_FLOW);
    let (min_bytes, max_bytes) = match s.get("size") {
        Some(node) => {
            let n = bytes(node, None, flow)?;
            (n, n)
        }
        None => {
            let min = bytes(
                s.need("min-size", "\"3KB\"  # or size = \"30KB\" for all")?,
                None,
                flow,
            )?;
            let node = s.need("max-size", "\"60KB\"")?;
            let max = bytes(node, None, flow)?;
            if max < min {
                return Err(
                    Fault::new(node.at, "the largest flow is smaller than the smallest")
                        .help("swap min-size and max-size"),
                );
            }
            (min, max)
        }
    };
    let repeat = s.count32("repeat", 1, (1, 10_000_000))?;
    let every = match repeat {
        1 => s.time("every", Picos::ZERO)?,
        _ => positive(s.need("every", "\"1ms\"")?)?,
    };
    if u64::from(senders) * u64::from(repeat) > MOST_FLOWS {
        return Err(
            Fault::new(s.at(), "more than 1000000000 flows").help("fewer senders or repeats")
        );
    }
    Ok(Kind::Incast {
        senders,
        receiver,
        min_bytes,
        max_bytes,
        at: s.time("at", Picos::ZERO)?,
        repeat,
        every,
        jitter: s.time("jitter", Picos::ZERO)?,
    })
}

fn long_flows(s: &mut Section<'_>, topology: &Topology) -> Fallible<LongFlows> {
    Ok(
        match s.choice("pattern", 0, &["permutation", "to-one", "pairs"])? {
            0 => LongFlows::Permutation {
                per_host: s.count32("per-host", 1, (1, 1_000))?,
            },
            1 => LongFlows::ToOne {
                count: count(s.need("count", "8")?, (1, 1_000_000))? as u32,
                receiver: host(s.need("receiver", "0")?, topology)?,
            },
            _ => {
                let node = s.need("pairs", "[[0, 1], [2, 3]]")?;
                let mut pairs = Vec::new();
                for row in list(node)? {
                    let [src, dst] = list(row)? else {
                        return Err(Fault::new(row.at, "a pair has two hosts")
                            .help("write [0, 1]: sender and receiver"));
                    };
                    pairs.push(two_hosts(src, dst, topology)?);
                }
                if pairs.is_empty() {
                    return Err(
                        Fault::new(node.at, "no pair").help("write pairs = [[0, 1], [2, 3]]")
                    );
                }
                LongFlows::Pairs(pairs)
            }
        },
    )
}

fn flow_list(s: &mut Section<'_>, topology: &Topology) -> Fallible<Kind> {
    let node = s.need(
        "flow",
        "[{ at = \"0us\", src = 0, dst = 1, size = \"100KB\" }]",
    )?;
    let mut lines = Vec::new();
    for row in list(node)? {
        let mut line = Section::node(row, "a flow".to_owned())?;
        let start = line.time("at", Picos::ZERO)?;
        let (src, dst) = two_hosts(line.need("src", "0")?, line.need("dst", "1")?, topology)?;
        let size = bytes(line.need("size", "\"100KB\"")?, None, (1, LARGEST_FLOW))?;
        line.finish()?;
        lines.push(FlowLine {
            start,
            src,
            dst,
            bytes: size,
        });
    }
    if lines.is_empty() {
        return Err(Fault::new(node.at, "no flow in the list").help(
            "write flow = [{ at = \"0us\", src = 0, dst = 1, size = \"100KB\" }], with a line for each flow",
        ));
    }
    lines.sort_by_key(|line| line.start);
    Ok(Kind::List(lines))
}

fn class(s: &mut Section<'_>, queues: usize) -> Fallible<ClassMap> {
    let given = s.get("class");
    let weights = s.get("class-weights");
    let bounds = s.get("class-bounds");
    let too_many = |node: &Node, n: usize| {
        match n {
        n if n > queues => Err(Fault::new(
            node.at,
            format!("{n} classes, but a port has {queues} queues"),
        )
        .help(format!(
            "write queues = {n} and a scheduler in [switch], or a [[switch.queue]] for each class, or fewer classes"
        ))),
        _ => Ok(()),
    }
    };
    match (given, weights, bounds) {
        (None, None, None) => Ok(ClassMap::Fixed(0)),
        (Some(node), None, None) => match &node.value {
            Value::Integer(_) => {
                let class = count(node, (0, MOST_QUEUES - 1))?;
                too_many(node, class as usize + 1)?;
                Ok(ClassMap::Fixed(class as u8))
            }
            Value::Text(_) => Ok(
                match crate::section::choice(node, &["by-pair", "by-sender"])? {
                    0 => ClassMap::ByPair(queues as u8),
                    _ => ClassMap::BySender(queues as u8),
                },
            ),
            _ => Err(wrong(
                node,
                "the number of a queue, \"by-pair\" or \"by-sender\"",
            )),
        },
        (None, Some(node), None) => {
            let weights = list(node)?
                .iter()
                .map(|w| Ok(count(w, (0, 1_000_000))? as u32))
                .collect::<Fallible<Vec<u32>>>()?;
            if weights.iter().all(|&w| w == 0) {
                return Err(Fault::new(node.at, "all weights are zero")
                    .help("write class-weights = [2, 1, 1]"));
            }
            too_many(node, weights.len())?;
            Ok(ClassMap::Weighted(weights))
        }
        (None, None, Some(node)) => {
            let mut all: Vec<u64> = Vec::new();
            for bound in list(node)? {
                let n = bytes(bound, None, (1, LARGEST_FLOW))?;
                if all.last().is_some_and(|&before| n <= before) {
                    return Err(Fault::new(bound.at, "bounds must rise")
                        .help("write class-bounds = [\"140KB\", \"1MB\"]"));
                }
                all.push(n);
            }
            too_many(node, all.len() + 1)?;
            Ok(ClassMap::ByBytesSent(all))
        }
        (_, Some(node), _) | (_, _, Some(node)) => {
            Err(Fault::new(node.at, "the class is given in two ways")
                .help("keep one of class, class-weights and class-bounds"))
        }
    }
}

/// The number of a host that exists.
pub(crate) fn host(node: &Node, topology: &Topology) -> Fallible<u32> {
    let hosts = topology.hosts();
    match node.value {
        Value::Integer(n) if n < 0 || n >= i128::from(hosts) => {
            Err(
                Fault::new(node.at, format!("there is no host {n}")).help(format!(
                    "this fabric has {hosts} hosts: write 0 to {}",
                    hosts - 1
                )),
            )
        }
        _ => Ok(count(node, (0, u64::from(hosts) - 1))? as u32),
    }
}

fn two_hosts(src: &Node, dst: &Node, topology: &Topology) -> Fallible<(u32, u32)> {
    let pair = (host(src, topology)?, host(dst, topology)?);
    match pair.0 == pair.1 {
        true => Err(
            Fault::new(dst.at, format!("host {} cannot send to itself", pair.0))
                .help("write two different hosts"),
        ),
        false => Ok(pair),
    }
}

fn other_host(
    s: &mut Section<'_>,
    src: &'static str,
    dst: &'static str,
    topology: &Topology,
) -> Fallible<u32> {
    Ok(two_hosts(s.need(src, "0")?, s.need(dst, "1")?, topology)?.1)
}

fn positive(node: &Node) -> Fallible<Picos> {
    match time(node)? {
        Picos::ZERO => {
            Err(Fault::new(node.at, "this time must be above zero").help("write it like \"10us\""))
        }
        span => Ok(span),
    }
}
