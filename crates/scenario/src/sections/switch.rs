// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[switch]` and its `[[switch.queue]]`s.

use cemark_sim::config::{
    Buffering, Config, DeviceQueue, MarkerChoice, NonEct, Policy, QueueConfig, RoundSpec,
    SchedulerKind, SwitchConfig,
};
use cemark_switch::{admit, sched};
use cemark_wire::{Nanos, Rate};

use crate::classes::Classes;
use crate::error::{At, Fallible, Fault};
use crate::key::{Key, Usual, Words, keys, power_of_two, words};
use crate::pfc::{PFC_KEYS, pfc};
use crate::section::{Section, count};
use crate::sections::{Form, SectionSpec};
use crate::tree::{Node, Table, Value, tables};

pub(crate) static SWITCH: SectionSpec = SectionSpec::new(
    "switch",
    Form::Table,
    &[KEYS, PFC_KEYS, LAST],
    "Ports of every switch: buffer, queues, scheduler and flow control.",
)
.per_scheme();

pub(crate) static QUEUE: SectionSpec = SectionSpec::new(
    "switch.queue",
    Form::List,
    &[QUEUE_KEYS],
    "One queue of every port; the first is class 0.",
);

/// Most queues of a port.
pub(crate) const MOST_QUEUES: u64 = 64;
const MOST_BYTES: u64 = u32::MAX as u64;
/// The factor or weight 1 as it is stored, in parts of 2^16.
const ONE: f64 = 65_536.0;

impl Words for SchedulerKind {
    fn words() -> Vec<(&'static str, Self)> {
        sched::ALL
            .iter()
            .map(|spec| (spec.name, spec.kind))
            .collect()
    }
}

/// [`Policy`] without its parameters.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PolicyKind {
    Port,
    Static,
    Shared,
    Dynamic,
    Abm,
    Reverie,
}

impl Words for PolicyKind {
    fn words() -> Vec<(&'static str, Self)> {
        let kinds = [
            PolicyKind::Port,
            PolicyKind::Static,
            PolicyKind::Shared,
            PolicyKind::Dynamic,
            PolicyKind::Abm,
            PolicyKind::Reverie,
        ];
        admit::ALL.iter().map(|spec| spec.name).zip(kinds).collect()
    }
}

words! { NonEct: "forward" => NonEct::Forward, "drop" => NonEct::Drop }

keys! { KEYS:
    BUFFER: u32 = Key::bytes("buffer", 1, MOST_BYTES).usual("1MB").doc(
        "buffer of a port; where ports share, what each contributes to the pool of its switch",
    );
    BUFFER_PACKETS: u32 = Key::count("buffer-packets", 1, 1_000_000).follows("no such limit").doc(
        "most packets of any size, ACKs included, in the buffer of a port, as ns-2 and ns-3 count; \
         `buffer` holds besides, and is by default that number of full packets",
    );
    DEVICE_PACKETS: u32 = Key::count("device-packets", 0, 1_000_000).usual("0").doc(
        "packets that wait in the device below each port, where neither marker nor scheduler sees \
         them and `buffer` does not count them (ns-3's NetDevice queue, a driver's ring): they are \
         dequeued and judged when they enter it; `0` with `device-bytes` `0`: no such queue",
    );
    PLAIN_HOST_PORTS: bool = Key::flag("plain-host-ports").usual("false").doc(
        "the ports of switches that face hosts neither mark nor drop: each is one FIFO of 64 MiB. \
         It takes a buffer for each port",
    );
    DEVICE_BYTES: u32 = Key::bytes("device-bytes", 0, 1 << 30).usual("0").doc(
        "packets enter the device below each port while fewer bytes than these wait in it (Linux's \
         byte queue limits)",
    );
    CELL: u32 = Key::bytes("cell", 1, 65_535).follows("none").doc(
        "a cell of the buffer's memory (a segment, in some manuals): lengths of this section and \
         thresholds of schemes may then be written as `\"1000 cells\"` or `\"1000 segments\"`. A \
         scheme has its thresholds in whole cells, rounded down, and `cemark check` prints both",
    );
    PROBABILITY_STEP: f64 = Key::fraction("probability-step").follows("none").doc(
        "the resolution of probabilities and percentages in the switch chip (`\"1%\"` on \
         Spectrum): a scheme has each of its fractions rounded to the nearest multiple",
    );
    SCHEDULER: SchedulerKind = Key::choice("scheduler").usual("fifo")
        .doc("which queue sends next (below)");
    QUEUES: Node = Key::own(
        "queues",
        "1 to 64",
        r#"{"type":"integer","minimum":1,"maximum":64}"#,
    )
    .follows("`1`")
    .doc(
        "number of queues of a port, all alike; or write a `[[switch.queue]]` or a \
         `[[switch.class]]` for each",
    );
    EACH_CLASS: Node = Key::own(
        "class",
        "tables",
        r##"{"type":"array","items":{"$ref":"#/definitions/switch.class"}}"##,
    )
    .follows("`queue`")
    .doc("a `[[switch.class]]` for each traffic class");
    EACH_QUEUE: Node = Key::own(
        "queue",
        "tables",
        r##"{"type":"array","items":{"$ref":"#/definitions/switch.queue"}}"##,
    )
    .follows("`queues`")
    .doc("a `[[switch.queue]]` for each queue of a port");
    QUANTUM: u32 = Key::bytes("quantum", 1, 1 << 30).follows("a full packet")
        .doc("quantum of every queue that has none of its own");
    POLICY: PolicyKind = Key::choice("buffer-policy").usual("port")
        .doc("which packets get buffer space (below)");
    POOL: u32 = Key::bytes("pool", 1, MOST_BYTES).follows("the buffers of its ports")
        .doc("size of the pool that the ports of a switch share");
    ALPHA: f64 = Key::number("alpha", 0.001, 1000.0).usual("1")
        .doc("for `dynamic`, `abm` and `reverie`: the factor of the free part of the pool");
    DYNAMIC_TH: f64 = Key::number("dynamic-th", -9.0, 9.0).follows("`alpha`").doc(
        "instead of `alpha`, the whole exponent n that switches write (`dynamic_th` of SAI and \
         SONiC): the factor is 2^n, 0.125 for -3",
    );
    CONGESTED: u32 = Key::bytes("congested-bytes", 1, MOST_BYTES).usual("20480B").doc(
        "for `abm` and `reverie`: a queue of this length counts as one congested queue of its \
         class, a shorter one in proportion (20 KiB in the authors' simulator)",
    );
    ABM_INTERVAL: Nanos = Key::nanos("abm-interval").usual("30us").doc(
        "for `abm`: a congested queue's rate is that of the last whole interval",
    );
    REVERIE_GAMMA: f64 = Key::number("reverie-gamma", 0.0, 1.0).usual("0.99")
        .doc("for `reverie`: weight of the old filter at each departure (the paper's gamma)");
    HEADROOM: u32 = Key::bytes("headroom", 0, MOST_BYTES).usual("0")
        .doc("bytes of each buffer or pool that only lossless queues may use");
    ROUND_BETA: f64 = Key::number("round-beta", 0.0, 1.0).usual("0.75")
        .doc("weight of the old average in the port's round time (MQ-ECN 3.3.1)");
    ROUND_IDLE: Nanos = Key::nanos("round-idle").follows("one packet's time").doc(
        "T_idle: each time that the port has been empty for this long, the round time is \
         multiplied by `round-beta`; `0`: never",
    );
    THRESHOLD_RATE: Rate = Key::rate("threshold-rate").follows("thresholds hold at every port").doc(
        "the rate of the ports that a scheme's thresholds are written for: at a port of another \
         rate each of them is multiplied by its rate and divided by this one. Times, fractions \
         and sizes of packets stay as they are",
    );
    NON_ECT: NonEct = Key::choice("non-ect").follows("by run").doc(
        "a packet that should be marked and is not ECN-capable: `forward` or `drop`. The default \
         is the same for the whole run: `forward` where any sender of any scheme uses ECN (or any \
         switch has `pfc`), `drop` where none does",
    );
}

keys! { LAST:
    FUSE: bool = Key::flag("fuse").usual("true")
        .doc("`false` forces explicit queues where the faster equivalent would be legal");
}

keys! {
    /// The scheduling of a queue.
    QUEUE_KEYS:
    Q_QUANTUM: u32 = Key::bytes("quantum", 1, 1 << 30).follows("as [switch]")
        .doc("its quantum, for `dwrr` and `wrr`");
    Q_WEIGHT: u32 = Key::count("weight", 1, 1_000_000).usual("1").doc("its weight, for `wfq`");
    Q_STRICT: bool = Key::flag("strict").usual("false")
        .doc("served before all queues that are not strict, in their order");
    Q_BYTES: u32 = Key::bytes("bytes", 1, MOST_BYTES).follows("no limit of its own")
        .doc("bytes that it may hold");
    Q_LOSSLESS: bool = Key::flag("lossless").usual("false").doc("it may use headroom");
    Q_ALPHA: f64 = Key::number("alpha", 0.001, 1000.0).follows("as [switch]")
        .doc("its factor under `buffer-policy` `dynamic`, `abm` and `reverie`");
    Q_DYNAMIC_TH: f64 = Key::number("dynamic-th", -9.0, 9.0).follows("`alpha`")
        .doc("instead of `alpha`, the whole exponent n: the factor is 2^n");
}

/// `mtu`: a full packet on the wire in bytes. `non_ect` is what the file says; where it says
/// nothing, [`not_ect`] decides once all schemes are known, and the configuration holds `Forward`
/// until then.
pub(crate) fn switch(
    root: &Table,
    classes: &Classes,
    marker: MarkerChoice,
    mtu: u32,
) -> Fallible<(SwitchConfig, Option<NonEct>)> {
    let mut s = Section::of(root, &SWITCH)?;
    let most_packets = s.read_or(&BUFFER_PACKETS, 0)?;
    let buffer_bytes = match s.node(&BUFFER) {
        None if most_packets > 0 => u32::try_from(u64::from(most_packets) * u64::from(mtu))
            .map_err(|_| Fault::new(s.at(), "these packets are more than 4 GB"))?,
        _ => s.read(&BUFFER)?,
    };
    // Lengths in cells are bytes by now.
    s.given(&CELL)?;
    s.given(&PROBABILITY_STEP)?;
    let scheduler = s.read(&SCHEDULER)?;
    let (mut queues, several) = queues(&mut s, classes, scheduler, mtu)?;
    if let Some(at) = several.filter(|_| scheduler == SchedulerKind::Fifo) {
        let at = s.node(&SCHEDULER).map_or(at, |node| node.at);
        let others: Vec<&str> = sched::ALL[1..].iter().map(|spec| spec.name).collect();
        return Err(
            Fault::new(at, "the scheduler `fifo` serves one queue").help(format!(
                "write scheduler = \"dwrr\" ({}), or keep one queue",
                others.join(", ")
            )),
        );
    }
    let buffering = buffering(&mut s, buffer_bytes, &mut queues)?;
    if let Some(node) = s
        .node(&BUFFER_PACKETS)
        .filter(|_| buffering.policy != Policy::Port)
    {
        return Err(
            Fault::new(node.at, "packets are counted in the buffer of one port")
                .help("write buffer-policy = \"port\", or remove buffer-packets"),
        );
    }
    let pfc = pfc(&mut s, &buffering, &mut queues, mtu)?;
    let round = RoundSpec {
        beta: (s.read(&ROUND_BETA)? * ONE + 0.5) as u32,
        idle: s.given(&ROUND_IDLE)?,
    };
    let non_ect = s.given(&NON_ECT)?;
    let config = SwitchConfig {
        buffer_bytes,
        buffering,
        queues,
        scheduler,
        round,
        marker,
        profiles: Vec::new(),
        classes: classes.in_words(),
        threshold_rate: s.given(&THRESHOLD_RATE)?,
        device: DeviceQueue {
            packets: s.read(&DEVICE_PACKETS)?,
            bytes: s.read(&DEVICE_BYTES)?,
        },
        most_packets,
        plain_host_ports: s.read(&PLAIN_HOST_PORTS)?,
        non_ect: non_ect.unwrap_or(NonEct::Forward),
        never_fuse: !s.read(&FUSE)?,
        pfc,
    };
    s.finish()?;
    Ok((config, non_ect))
}

/// Default of `non-ect`, for packets that a scheme wants to mark and that are not ECN-capable.
/// Every scheme and every point of a run has the same default, so that a comparison compares
/// schemes and not policies. Where senders use ECN, the packets without it are acknowledgements and
/// notifications, and dropping them signals nothing to a sender; where links pause, no packet
/// should be lost. Where no sender uses ECN, a drop is the only signal there is.
pub(crate) fn not_ect<'a>(configs: impl IntoIterator<Item = &'a Config>) -> NonEct {
    let capable = |config: &Config| config.any_capable() || config.switch.pfc.is_some();
    if configs.into_iter().any(capable) {
        NonEct::Forward
    } else {
        NonEct::Drop
    }
}

/// The nodes that say which queues a port has: classes, their number, one by one.
pub(crate) fn queue_nodes<'a>(
    s: &mut Section<'a>,
) -> (Option<&'a Node>, Option<&'a Node>, Option<&'a Node>) {
    (s.node(&EACH_CLASS), s.node(&QUEUES), s.node(&EACH_QUEUE))
}

/// The queues, and where the file says that there are several.
fn queues(
    s: &mut Section<'_>,
    classes: &Classes,
    scheduler: SchedulerKind,
    mtu: u32,
) -> Fallible<(Vec<QueueConfig>, Option<At>)> {
    // A visit of less than a packet would make rounds in which no packet is sent.
    let by_quanta = scheduler.spec().divides == sched::Divides::Quanta;
    let quantum = |s: &mut Section<'_>, key: &Key<u32>, usual: u32| -> Fallible<u32> {
        let n = s.read_or(key, usual)?;
        match s.node(key).filter(|_| by_quanta && n < mtu) {
            None => Ok(n),
            Some(node) => Err(
                Fault::new(node.at, "a quantum of less than a full packet").help(format!(
                    "a full packet has {mtu} bytes on the wire: write at least quantum = \"{mtu}B\""
                )),
            ),
        }
    };
    let plain = QueueConfig {
        quantum: quantum(s, &QUANTUM, mtu)?,
        ..QueueConfig::PLAIN
    };
    let one = |q: &mut Section<'_>| {
        Ok(QueueConfig {
            quantum: quantum(q, &Q_QUANTUM, plain.quantum)?,
            weight: q.read(&Q_WEIGHT)?,
            strict: q.read(&Q_STRICT)?,
            limit_bytes: q.read_or(&Q_BYTES, u32::MAX)?,
            lossless: q.read(&Q_LOSSLESS)?,
            alpha: factor(q, &Q_ALPHA, &Q_DYNAMIC_TH)?
                .map_or(0, |factor| (factor * ONE + 0.5) as u32),
        })
    };
    let (each_class, counted, listed) = queue_nodes(s);
    if each_class.is_some() {
        let several = classes.all.iter().find(|class| class.queue > 0);
        return Ok((classes.queues(plain, one)?, several.map(|class| class.at)));
    }
    let nodes: &[Node] = match (listed, counted) {
        (None, None) => return Ok((vec![plain], None)),
        (None, Some(node)) => {
            let n = count(node, (1, MOST_QUEUES))? as usize;
            return Ok((vec![plain; n], (n > 1).then_some(node.at)));
        }
        (Some(_), Some(node)) => {
            return Err(Fault::new(node.at, "the queues are given in two ways")
                .help("keep queues = 8 (all alike), or a [[switch.queue]] for each"));
        }
        (Some(node), None) => tables(node),
    };
    if nodes.is_empty() || nodes.len() as u64 > MOST_QUEUES {
        return Err(Fault::new(
            s.at(),
            format!("a port has 1 to {MOST_QUEUES} queues"),
        ));
    }
    let one = |node: &Node| {
        let mut q = Section::under(node, &QUEUE)?;
        let queue = one(&mut q)?;
        q.finish()?;
        Ok(queue)
    };
    let all = nodes.iter().map(one).collect::<Fallible<Vec<_>>>()?;
    Ok((all, nodes.get(1).map(|node| node.at)))
}

/// A factor, or the exponent of two that switches write for it; `None` where neither is written
/// and the key has no default.
pub(crate) fn factor(
    s: &mut Section<'_>,
    key: &Key<f64>,
    exponent: &Key<f64>,
) -> Fallible<Option<f64>> {
    let (name, other) = (key.spec.name, exponent.spec.name);
    let two = |n: f64| match n >= 0.0 {
        true => power_of_two(n as u64),
        false => 1.0 / power_of_two(-n as u64),
    };
    let written = s.node(key).map(|node| match node.value {
        Value::Integer(n) => (node.at, n as f64),
        Value::Float(n, _) => (node.at, n),
        _ => (node.at, 0.0),
    });
    if let Some((at, n)) = written.filter(|(_, n)| *n < 0.0) {
        let fault = Fault::new(at, format!("{name} is a factor, and {n} is below zero"));
        let example = if n >= -9.0 && n.fract() == 0.0 {
            n
        } else {
            -3.0
        };
        return Err(fault.help(format!(
            "a switch's dynamic_th n is the factor 2^n (SAI, SONiC): for {example} write {name} = \
             {} or {other} = {example}",
            two(example)
        )));
    }
    let factor = match s.given(key)? {
        None if matches!(key.spec.usual, Usual::Is(_)) => Some(key.usual_value()),
        given => given,
    };
    let Some(n) = s.given(exponent)? else {
        return Ok(factor);
    };
    let at = s.need(exponent)?.at;
    if written.is_some() {
        return Err(
            Fault::new(at, format!("{name} and {other} say the same in two ways"))
                .help(format!("keep one: {other} = n is {name} = 2^n")),
        );
    }
    if n.fract() != 0.0 {
        return Err(
            Fault::new(at, format!("{other} = {n} is no whole exponent"))
                .help(format!("write {other} = -3, which is {name} = 0.125")),
        );
    }
    Ok(Some(two(n)))
}

fn buffering(
    s: &mut Section<'_>,
    buffer_bytes: u32,
    queues: &mut [QueueConfig],
) -> Fallible<Buffering> {
    let alpha = factor(s, &ALPHA, &DYNAMIC_TH)?.unwrap_or(1.0);
    let alpha = (alpha * ONE + 0.5) as u32;
    let congested = s.read(&CONGESTED)?;
    let interval = s.read(&ABM_INTERVAL)?;
    if let Some(node) = s.node(&ABM_INTERVAL).filter(|_| interval.0 == 0) {
        return Err(Fault::new(node.at, "an interval of no time has no rate")
            .help("write abm-interval = \"30us\", as in the authors' simulator"));
    }
    let gamma = (s.read(&REVERIE_GAMMA)? * ONE + 0.5) as u32;
    let policy = match s.read(&POLICY)? {
        PolicyKind::Port => Policy::Port,
        PolicyKind::Static => Policy::Static,
        PolicyKind::Shared => Policy::Shared,
        PolicyKind::Dynamic => Policy::Dynamic { alpha },
        PolicyKind::Abm => Policy::Abm {
            alpha,
            interval,
            congested,
        },
        PolicyKind::Reverie => Policy::Reverie {
            alpha,
            gamma,
            congested,
        },
    };
    // 0: the buffers of its ports together.
    let pool_bytes = s.read_or(&POOL, 0)?;
    let headroom = s.read(&HEADROOM)?;
    let whole = if policy.is_shared() && pool_bytes > 0 {
        pool_bytes
    } else {
        buffer_bytes
    };
    if let Some(node) = s.node(&HEADROOM).filter(|_| headroom >= whole) {
        return Err(
            Fault::new(node.at, "headroom leaves nothing of the buffer").help(format!(
                "the buffer has {whole} bytes: write a smaller headroom"
            )),
        );
    }
    if policy == Policy::Static {
        share_out(buffer_bytes - headroom, queues).map_err(|what| {
            Fault::new(s.node(&POLICY).map_or(s.at(), |node| node.at), what)
                .help("give the queues less with bytes = \"...\", or write a larger buffer")
        })?;
    }
    Ok(Buffering {
        policy,
        pool_bytes,
        headroom,
    })
}

/// Queues without a limit of their own get equal parts of what the others leave.
fn share_out(buffer: u32, queues: &mut [QueueConfig]) -> Result<(), String> {
    let given: u64 = queues
        .iter()
        .filter(|q| q.limit_bytes != u32::MAX)
        .map(|q| u64::from(q.limit_bytes))
        .sum();
    let open = queues.iter().filter(|q| q.limit_bytes == u32::MAX).count() as u64;
    if given + open > u64::from(buffer) {
        return Err(format!(
            "the queues ask for {given} bytes of a buffer of {buffer}"
        ));
    }
    for q in queues.iter_mut().filter(|q| q.limit_bytes == u32::MAX) {
        q.limit_bytes = ((u64::from(buffer) - given) / open) as u32;
    }
    Ok(())
}
