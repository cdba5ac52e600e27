// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[workload]]`: what is sent, by whom and when.

use cemark_sim::topology::Topology;
use cemark_sim::workload::load::flows_per_second;
use cemark_sim::workload::{ClassMap, Kind, LongFlows, Pairs, Workload};
use cemark_wire::Picos;

use crate::arrivals::{self, ARRIVAL_KEYS, SOME_HOSTS};
use crate::controllers::{self, Chosen};
use crate::error::{Fallible, Fault};
use crate::key::{Key, keys, word_of, words};
use crate::list::{self, LIST};
use crate::section::{self, Section, bytes, choice, count, time, wrong};
use crate::sections::{Form, SectionSpec};
use crate::sizes::{SIZE_KEYS, Tables};
use crate::switch::MOST_QUEUES;
use crate::together;
use crate::tree::{Node, Table, Value, items};

pub(crate) static WORKLOAD: SectionSpec = SectionSpec::new(
    "workload",
    Form::List,
    &[
        COMMON,
        SIZE_KEYS,
        POISSON,
        ARRIVAL_KEYS,
        INCAST,
        LONG,
        LIST,
        PROBE,
    ],
    "What is sent, by whom and when.",
)
.chosen_by("kind");

/// No scenario should need more flows.
const MOST_FLOWS: u64 = 1_000_000_000;
/// A petabyte.
pub(crate) const LARGEST_FLOW: u64 = 1_000_000_000_000_000;
const MOST_WORKLOADS: usize = 1_000;

/// [`Kind`] without its parameters.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum WorkloadKind {
    Poisson,
    Incast,
    Long,
    List,
    Probe,
}

words! { WorkloadKind:
    "poisson" => WorkloadKind::Poisson,
    "incast" => WorkloadKind::Incast,
    "long" => WorkloadKind::Long,
    "list" => WorkloadKind::List,
    "probe" => WorkloadKind::Probe,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Connections {
    Fresh,
    Persistent,
}

words! { Connections: "fresh" => Connections::Fresh, "persistent" => Connections::Persistent }

/// [`Pairs`] without the receiver.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PairsKind {
    All,
    OtherRack,
    ToOne,
}

words! { PairsKind:
    "all" => PairsKind::All,
    "other-rack" => PairsKind::OtherRack,
    "to-one" => PairsKind::ToOne,
}

/// [`LongFlows`] without its parameters.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Pattern {
    Permutation,
    ToOne,
    Pairs,
}

words! { Pattern:
    "permutation" => Pattern::Permutation,
    "to-one" => Pattern::ToOne,
    "pairs" => Pattern::Pairs,
}

/// How the class of a flow follows from its hosts.
#[derive(Clone, Copy, PartialEq)]
enum ClassBy {
    Pair,
    Sender,
}

words! { ClassBy: "by-pair" => ClassBy::Pair, "by-sender" => ClassBy::Sender }

/// Kinds that have senders of TCP.
const SENDING: &[&str] = &["poisson", "incast", "long", "list"];

/// JSON schema of the number of a host.
pub(crate) const HOST: &str = r#"{"type":"integer","minimum":0}"#;

keys! { COMMON:
    KIND: WorkloadKind = Key::choice("kind").needed("poisson").doc(
        "`poisson`: random arrivals at a load. `incast`: many senders to one receiver at the same \
         time. `long`: endless flows. `list`: the flows that are listed. `probe`: a ping",
    );
    NAME: String = Key::text("name").follows("the kind").doc("its name in reports and in paths");
    CONNECTIONS: Connections = Key::choice("connections").usual("fresh").doc(
        "`fresh`: a connection per flow, which starts at the initial window. `persistent`: flows \
         reuse idle connections of their pair (not through a `pep`)",
    );
    CONTROL: Chosen = Key::choice("control").only(SENDING).follows("as in `[transport]`").doc(
        "the congestion controller of its flows; its parameters are read from `[transport]`, as \
         is everything else. With `cubic` and `reno` its packets are not ECN-capable \
         ([transports.md](transports.md#several-controllers))",
    );
    CLASS: Node = Key::own(
        "class",
        "a queue, `by-pair` or `by-sender`",
        r#"{"anyOf":[{"type":"integer","minimum":0,"maximum":63},
            {"enum":["by-pair","by-sender"]}]}"#,
    )
    .follows("`0`")
    .doc(
        "the queue at every port: a number, `\"by-pair\"` (((dst + 1) x hosts + src + 1) mod \
         queues) or `\"by-sender\"` (src mod queues)",
    );
    CLASS_WEIGHTS: Node = Key::own(
        "class-weights",
        "a list of whole numbers",
        r#"{"type":"array","items":{"type":"integer","minimum":0}}"#,
    )
    .doc("instead of `class`: a queue at random with these weights, `[2, 1, 1]`");
    CLASS_BOUNDS: Node = Key::own(
        "class-bounds",
        "a list of lengths",
        r#"{"type":"array"}"#,
    )
    .doc("instead of `class`: by bytes sent, `[\"140KB\"]`: the second queue after 140 KB (PIAS)");
}

keys! { POISSON:
    LOAD: f64 = Key::fraction("load").only(&["poisson"]).needed("0.8").doc(
        "offered payload bits on the most loaded tier over its capacity, above 0, at most 1",
    );
    SHARE: f64 = Key::fraction("share").only(&["poisson"]).usual("1").doc(
        "the part of `load` that this workload offers, where several divide one load among them",
    );
    PAIRS: PairsKind = Key::choice("pairs").only(&["poisson"]).usual("all").doc(
        "`all`: any two hosts; `other-rack`: any two of different racks; `to-one`: to `receiver`, \
         from any other",
    );
    TO: Node = Key::own("receiver", "a host", HOST).only(&["poisson"]).needed("0")
        .doc("the receiver of `pairs = \"to-one\"`");
    FLOWS: u64 = Key::count("flows", 1, MOST_FLOWS).only(&["poisson"]).needed("10000")
        .doc("measured flows");
    WARMUP: u64 = Key::count("warmup", 0, MOST_FLOWS).only(&["poisson"])
        .follows("a tenth of `flows`").doc("flows before them that are not measured");
    LOAD_HOLD: Picos = Key::time("hold").only(&["poisson"])
        .follows("until the last measured flow has ended").doc(
        "how long flows continue to arrive after the last measured one has arrived: `\"100ms\"` \
         spares the long wait for a few huge flows, which then end among fewer others",
    );
}

keys! { INCAST:
    SENDERS: u32 = Key::count("senders", 1, 1_000_000).only(&["incast"]).needed("32").doc(
        "hosts that each send a flow to `receiver` at the same time; with more senders than hosts, \
         hosts send several",
    );
    RECEIVER: Node = Key::own("receiver", "a host", HOST).only(&["incast"]).needed("0")
        .doc("the host that receives");
    FROM: Node = Key::own("from", "a list of hosts", SOME_HOSTS).only(&["incast"])
        .follows("all but the receiver")
        .doc("the hosts of which `senders` are drawn, written as `senders` of `poisson`");
    SIZE: u64 = Key::bytes("size", 1, LARGEST_FLOW).only(&["incast"])
        .follows("`min-size` to `max-size`").doc("size of every flow");
    MIN_SIZE: u64 = Key::bytes("min-size", 1, LARGEST_FLOW).only(&["incast"])
        .needed("\"3KB\"  # or size = \"30KB\" for all")
        .doc("instead of `size`: sizes are uniform from here");
    MAX_SIZE: u64 = Key::bytes("max-size", 1, LARGEST_FLOW).only(&["incast"]).needed("60KB")
        .doc("to here");
    QUERY_AT: Picos = Key::time("at").only(&["incast"]).usual("0").doc("start of the first query");
    REPEAT: u32 = Key::count("repeat", 1, 10_000_000).only(&["incast"]).usual("1")
        .doc("number of queries");
    QUERY_EVERY: Picos = Key::span("every").only(&["incast"]).needed("1ms")
        .doc("time from one query to the next; needed if they are repeated");
    QUERY_JITTER: Picos = Key::time("jitter").only(&["incast"]).usual("0")
        .doc("each flow starts up to this much later");
}

keys! { LONG:
    PATTERN: Pattern = Key::choice("pattern").only(&["long"]).usual("permutation").doc(
        "`permutation`: every host sends to one and receives from one; `to-one`: `count` flows to \
         `receiver`; `pairs`: those listed in `pairs`",
    );
    PER_HOST: u32 = Key::count("per-host", 1, 1_000).only(&["long"]).usual("1")
        .doc("for `permutation`: flows of each host");
    FLOW_COUNT: u32 = Key::count("count", 1, 1_000_000).only(&["long"]).needed("8")
        .doc("for `to-one`: number of flows; the hosts send in turn");
    SINK: Node = Key::own("receiver", "a host", HOST).only(&["long"]).needed("0")
        .doc("for `to-one`: the host that receives");
    LONG_PAIRS: Node = Key::own(
        "pairs",
        "a list of pairs of hosts",
        r#"{"type":"array","items":{"type":"array","minItems":2,"maxItems":2}}"#,
    )
    .only(&["long"])
    .needed("[[0, 1], [2, 3]]")
    .doc("for `pairs`: sender and receiver of each flow");
    LONG_AT: Picos = Key::time("at").only(&["long"]).usual("0").doc("start of the first flow");
    STAGGER: Picos = Key::time("stagger").only(&["long"]).usual("0")
        .doc("each next flow starts this much later");
    LONG_JITTER: Picos = Key::time("jitter").only(&["long"]).usual("0")
        .doc("and up to this much more, at random");
}

keys! { PROBE:
    SRC: Node = Key::own("src", "a host", HOST).only(&["probe"]).needed("0")
        .doc("the host that pings");
    DST: Node = Key::own("dst", "a host", HOST).only(&["probe"]).needed("1")
        .doc("the host that answers");
    PROBE_AT: Picos = Key::time("at").only(&["probe"]).usual("0").doc("the first ping");
    PROBE_EVERY: Picos = Key::span("every").only(&["probe"]).needed("10us")
        .doc("time from one ping to the next");
    PINGS: u64 = Key::count("count", 1, MOST_FLOWS).only(&["probe"]).needed("1000")
        .doc("number of pings");
}

/// What a workload may refer to.
pub(crate) struct Around<'a> {
    root: &'a Table,
    transport: &'a cemark_transport::Config,
    pub(crate) topology: &'a Topology,
    pub(crate) tables: &'a mut Tables,
    pub(crate) queues: usize,
}

/// All workloads of a scenario.
pub(crate) fn workloads(
    root: &Table,
    transport: &cemark_transport::Config,
    topology: &Topology,
    tables: &mut Tables,
    queues: usize,
) -> Fallible<Vec<Workload>> {
    let nodes = items(root, WORKLOAD.name);
    if nodes.is_empty() {
        return Err(
            Fault::nowhere("nothing is sent: there is no [[workload]]").help(
                "write [[workload]], kind = \"poisson\", sizes = \"web-search\", load = 0.8, \
                 flows = 10000",
            ),
        );
    }
    if let Some(node) = nodes.get(MOST_WORKLOADS) {
        return Err(Fault::new(
            node.at,
            format!("more than {MOST_WORKLOADS} workloads"),
        ));
    }
    let mut around = Around {
        root,
        transport,
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
    together::check(&all, &loads, topology)?;
    Ok(all)
}

/// Where a workload says its load.
fn load_node(workload: &Node) -> Option<&Node> {
    match &workload.value {
        Value::Table(table) => table.get(LOAD.spec.name).map(|entry| &entry.node),
        _ => None,
    }
}

/// The word for a kind of workload.
pub(crate) fn kind_name(kind: &Kind) -> &'static str {
    word_of(&match kind {
        Kind::Poisson { .. } => WorkloadKind::Poisson,
        Kind::Incast { .. } => WorkloadKind::Incast,
        Kind::Long { .. } => WorkloadKind::Long,
        Kind::List(_) | Kind::Chain { .. } => WorkloadKind::List,
        Kind::Probe { .. } => WorkloadKind::Probe,
    })
}

fn one(node: &Node, around: &mut Around<'_>) -> Fallible<Workload> {
    let mut s = Section::under(node, &WORKLOAD)?;
    let kind = s.read(&KIND)?;
    let name = s.given(&NAME)?.unwrap_or_default();
    let class = class(&mut s, around.queues)?;
    let persistent = s.read(&CONNECTIONS)? == Connections::Persistent;
    let control = match s.given(&CONTROL)? {
        Some(chosen) => {
            controllers::own(chosen, s.need(&CONTROL)?.at, around.root, around.transport)?
        }
        None => None,
    };
    let kind = match kind {
        WorkloadKind::Poisson => poisson(&mut s, around)?,
        WorkloadKind::Incast => incast(&mut s, around.topology)?,
        WorkloadKind::Long => Kind::Long {
            flows: long_flows(&mut s, around.topology)?,
            at: s.read(&LONG_AT)?,
            stagger: s.read(&STAGGER)?,
            jitter: s.read(&LONG_JITTER)?,
        },
        WorkloadKind::List => list::flows(&mut s, around)?,
        WorkloadKind::Probe => probe(&mut s, around.topology)?,
    };
    s.finish()?;
    Ok(Workload {
        name,
        kind,
        class,
        persistent,
        control,
    })
}

fn probe(s: &mut Section<'_>, topology: &Topology) -> Fallible<Kind> {
    let (src, dst) = two_hosts(s.need(&SRC)?, s.need(&DST)?, topology)?;
    Ok(Kind::Probe {
        src,
        dst,
        at: s.read(&PROBE_AT)?,
        every: s.read(&PROBE_EVERY)?,
        count: s.read(&PINGS)?,
    })
}

/// The load that a workload offers, and where it is written.
fn offered<'a>(s: &mut Section<'a>) -> Fallible<(f64, &'a Node)> {
    let node = s.need(&LOAD)?;
    let load = s.read(&LOAD).map_err(|fault| {
        fault.help(
            "a load is above 0 and at most 1: offered payload bits on the most loaded tier over \
             its capacity",
        )
    })?;
    // With a load of 1e-300 the first flow would never arrive.
    if load < 1e-6 {
        return Err(Fault::new(node.at, "a load of zero sends nothing")
            .help("write a load above 0 and at most 1, such as 0.8"));
    }
    let share = s.read(&SHARE).map_err(|fault| {
        fault.help(
            "a share is above 0 and at most 1: the part of the load that this workload offers",
        )
    })?;
    match s.node(&SHARE).filter(|_| load * share < 1e-6) {
        Some(node) => Err(Fault::new(node.at, "a share of zero sends nothing")
            .help("write a share above 0 and at most 1, such as 0.25")),
        None => Ok((load * share, node)),
    }
}

fn pairs(s: &mut Section<'_>, topology: &Topology) -> Fallible<Pairs> {
    let pairs = s.read(&PAIRS)?;
    if let Some(receiver) = s.node(&TO).filter(|_| pairs != PairsKind::ToOne) {
        return Err(
            Fault::new(receiver.at, "a receiver without pairs = \"to-one\"")
                .help("write pairs = \"to-one\" for flows to this host alone, or remove it"),
        );
    }
    match pairs {
        PairsKind::All => Ok(Pairs::All),
        PairsKind::OtherRack if topology.fabric().racks() == 1 => Err(Fault::new(
            s.at(),
            "pairs = \"other-rack\" needs more than one rack",
        )
        .help("write pairs = \"all\"")),
        PairsKind::OtherRack => Ok(Pairs::OtherRack),
        PairsKind::ToOne => Ok(Pairs::ToOne(host(s.need(&TO)?, topology)?)),
    }
}

fn poisson(s: &mut Section<'_>, around: &mut Around<'_>) -> Fallible<Kind> {
    let sizes = around.tables.sizes(s)?;
    let arrivals = arrivals::arrivals(s, around.topology)?;
    let pairs = pairs(s, around.topology)?;
    if let Pairs::ToOne(to) = pairs
        && arrivals.senders.contains(&to)
    {
        let message = format!("host {to} is the receiver, and among the senders");
        return Err(Fault::new(s.at(), message).help("leave it out of senders"));
    }
    let flows = s.read(&FLOWS)?;
    let (load, at) = match arrivals.span {
        Some(span) => {
            let load = arrivals::load_of(s, (around.topology, &pairs), &sizes, span)?;
            (load, s.at())
        }
        None => {
            let (load, node) = offered(s)?;
            let load = load * arrivals::payload(s, &sizes, around.transport.mss)?;
            arrivals::fits(node, (around.topology, &pairs), &arrivals, load)?;
            (load, node.at)
        }
    };
    let (warmup, hold) = match arrivals.span {
        Some(_) => (0, Picos::ZERO),
        None => (
            s.read_or(&WARMUP, flows / 10)?,
            s.read_or(&LOAD_HOLD, Picos::MAX)?,
        ),
    };
    let rate = flows_per_second(around.topology, &pairs, sizes.mean(), load);
    if rate > 1e9 {
        return Err(Fault::new(
            at,
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
        arrivals,
    })
}

fn incast(s: &mut Section<'_>, topology: &Topology) -> Fallible<Kind> {
    let senders = s.read(&SENDERS)?;
    let receiver = host(s.need(&RECEIVER)?, topology)?;
    let from = arrivals::who_answers(s.node(&FROM), receiver, topology)?;
    let (min_bytes, max_bytes) = match s.given(&SIZE)? {
        Some(size) => (size, size),
        None => (s.read(&MIN_SIZE)?, s.read(&MAX_SIZE)?),
    };
    if max_bytes < min_bytes {
        let at = s.need(&MAX_SIZE)?.at;
        return Err(
            Fault::new(at, "the largest flow is smaller than the smallest")
                .help("swap min-size and max-size"),
        );
    }
    let repeat = s.read(&REPEAT)?;
    let every = match repeat {
        // Allowed, for a sweep of `repeat`, and without effect.
        1 => s.node(&QUERY_EVERY).map_or(Ok(Picos::ZERO), time)?,
        _ => s.read(&QUERY_EVERY)?,
    };
    if u64::from(senders) * u64::from(repeat) > MOST_FLOWS {
        return Err(Fault::new(s.at(), format!("more than {MOST_FLOWS} flows"))
            .help("fewer senders or repeats"));
    }
    Ok(Kind::Incast {
        from,
        senders,
        receiver,
        min_bytes,
        max_bytes,
        at: s.read(&QUERY_AT)?,
        repeat,
        every,
        jitter: s.read(&QUERY_JITTER)?,
    })
}

fn long_flows(s: &mut Section<'_>, topology: &Topology) -> Fallible<LongFlows> {
    match s.read(&PATTERN)? {
        Pattern::Permutation => Ok(LongFlows::Permutation {
            per_host: s.read(&PER_HOST)?,
        }),
        Pattern::ToOne => Ok(LongFlows::ToOne {
            count: s.read(&FLOW_COUNT)?,
            receiver: host(s.need(&SINK)?, topology)?,
        }),
        Pattern::Pairs => {
            let node = s.need(&LONG_PAIRS)?;
            let mut pairs = Vec::new();
            for row in section::list(node)? {
                let [src, dst] = section::list(row)? else {
                    return Err(Fault::new(row.at, "a pair has two hosts")
                        .help("write [0, 1]: sender and receiver"));
                };
                pairs.push(two_hosts(src, dst, topology)?);
            }
            if pairs.is_empty() {
                return Err(Fault::new(node.at, "no pair").help(LONG_PAIRS.spec.advice()));
            }
            Ok(LongFlows::Pairs(pairs))
        }
    }
}

fn class(s: &mut Section<'_>, queues: usize) -> Fallible<ClassMap> {
    let given = (
        s.node(&CLASS),
        s.node(&CLASS_WEIGHTS),
        s.node(&CLASS_BOUNDS),
    );
    match given {
        (None, None, None) => Ok(ClassMap::Fixed(0)),
        (Some(node), None, None) => fixed_class(node, queues),
        (None, Some(node), None) => weighted_class(node, queues),
        (None, None, Some(node)) => class_by_bytes(node, queues),
        (_, Some(node), _) | (_, _, Some(node)) => {
            Err(Fault::new(node.at, "the class is given in two ways")
                .help("keep one of class, class-weights and class-bounds"))
        }
    }
}

/// Every class needs its queue.
fn enough_queues(node: &Node, classes: usize, queues: usize) -> Fallible<()> {
    if classes <= queues {
        return Ok(());
    }
    let message = format!("{classes} classes, but a port has {queues} queues");
    Err(Fault::new(node.at, message).help(format!(
        "write queues = {classes} and a scheduler in [switch], or a [[switch.queue]] for each \
         class, or fewer classes"
    )))
}

/// The number of a queue.
pub(crate) fn own_class(node: &Node, queues: usize) -> Fallible<u8> {
    let class = count(node, (0, MOST_QUEUES - 1))?;
    enough_queues(node, class as usize + 1, queues)?;
    Ok(class as u8)
}

fn fixed_class(node: &Node, queues: usize) -> Fallible<ClassMap> {
    match &node.value {
        Value::Integer(_) => Ok(ClassMap::Fixed(own_class(node, queues)?)),
        Value::Text(_) => Ok(match choice(node)? {
            ClassBy::Pair => ClassMap::ByPair(queues as u8),
            ClassBy::Sender => ClassMap::BySender(queues as u8),
        }),
        _ => Err(wrong(
            node,
            "the number of a queue, \"by-pair\" or \"by-sender\"",
        )),
    }
}

fn weighted_class(node: &Node, queues: usize) -> Fallible<ClassMap> {
    let weights = section::list(node)?
        .iter()
        .map(|w| Ok(count(w, (0, 1_000_000))? as u32))
        .collect::<Fallible<Vec<u32>>>()?;
    if weights.iter().all(|&w| w == 0) {
        return Err(
            Fault::new(node.at, "all weights are zero").help("write class-weights = [2, 1, 1]")
        );
    }
    enough_queues(node, weights.len(), queues)?;
    Ok(ClassMap::Weighted(weights))
}

fn class_by_bytes(node: &Node, queues: usize) -> Fallible<ClassMap> {
    let mut all: Vec<u64> = Vec::new();
    for bound in section::list(node)? {
        let n = bytes(bound, None, (1, LARGEST_FLOW))?;
        if all.last().is_some_and(|&before| n <= before) {
            return Err(Fault::new(bound.at, "bounds must rise")
                .help("write class-bounds = [\"140KB\", \"1MB\"]"));
        }
        all.push(n);
    }
    enough_queues(node, all.len() + 1, queues)?;
    Ok(ClassMap::ByBytesSent(all))
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

pub(crate) fn two_hosts(src: &Node, dst: &Node, topology: &Topology) -> Fallible<(u32, u32)> {
    let pair = (host(src, topology)?, host(dst, topology)?);
    if pair.0 == pair.1 {
        let message = format!("host {} cannot send to itself", pair.0);
        return Err(Fault::new(dst.at, message).help("write two different hosts"));
    }
    Ok(pair)
}
