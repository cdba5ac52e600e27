// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[transport]`: how senders and receivers behave.

use cemark_sim::topology::Topology;
use cemark_transport::rdma::{Dcqcn, Rdma, Retransmit};
use cemark_transport::{Config, Stack};
use cemark_wire::{Nanos, Picos};

use crate::class::own_class;
use crate::classes::Classes;
use crate::controllers::{self, CONTROL_KEYS};
use crate::error::{Fallible, fold};
use crate::key::{Key, keys, words};
use crate::section::Section;
use crate::sections::{Form, SectionSpec};
use crate::senders::{self, Sender};
use crate::tree::{Node, Table, Value, items};

pub(crate) static TRANSPORT: SectionSpec = SectionSpec::new(
    "transport",
    Form::Table,
    &[CONTROL_KEYS, KEYS, STACK_KEYS, QUEUE_PAIR_KEYS],
    "How senders and receivers behave.",
)
.chosen_by("control")
.and(controllers::of_the_catalogue)
.per_scheme();

/// Largest payload and largest header of a segment: what a packet's 16-bit length can hold
/// together.
const LARGEST_MSS: u64 = 65_000;
const LARGEST_HEADER: u64 = 500;
const _: () = assert!(LARGEST_MSS + LARGEST_HEADER <= u16::MAX as u64);

keys! { KEYS:
    MSS: u16 = Key::bytes("mss", 64, LARGEST_MSS).usual("1460B").doc("payload of a full segment");
    HEADER: u16 = Key::bytes("header", 20, LARGEST_HEADER).usual("40B")
        .doc("bytes that a data segment adds on the wire");
    ACK: u16 = Key::bytes("ack", 20, 1_500).usual("40B").doc("a pure ACK on the wire");
    INIT_WINDOW: u32 = Key::count("init-window", 1, 1_000_000).usual("10")
        .doc("initial window in segments");
    KEEP_WINDOW: bool = Key::flag("keep-window").usual("true").doc(
        "an idle persistent connection keeps its window; `false`: it restarts at `init-window`",
    );
    RTO_MIN: Nanos = Key::timer("rto-min").usual("5ms").doc("smallest retransmission timeout");
    RTO_INIT: Nanos = Key::timer("rto-init").usual("5ms")
        .doc("retransmission timeout before the first sample of the RTT");
    RTO_MAX: Nanos = Key::timer("rto-max").usual("64s").doc("largest retransmission timeout");
    ACK_EVERY: u32 = Key::count("ack-every", 1, 1_000).usual("1")
        .doc("an ACK at least every this many segments");
    ACK_DELAY: Nanos = Key::timer("ack-delay").usual("500us")
        .doc("longest wait of a delayed ACK");
    RECEIVE_WINDOW: u64 = Key::bytes("receive-window", 1_500, 1 << 40).usual("16MiB")
        .doc("most bytes in flight that the receiver allows");
    HANDSHAKE: bool = Key::flag("handshake").usual("false")
        .doc("SYN and SYN-ACK before the data of a fresh connection");
    MAX_BURST: u32 = Key::count("max-burst", 0, 1_000_000).usual("0").doc(
        "most segments that one start, ACK or timer releases, whatever the window allows, while \
         the window grows as if it were full (ns-2's `maxburst_`); `0`: no limit. It takes `nic` \
         `fifo` or `switch-port`",
    );
    SACK: bool = Key::flag("sack").usual("true")
        .doc("selective acknowledgements; `false`: NewReno");
    SLOW_BUT_STEADY: bool = Key::flag("slow-but-steady").usual("false").doc(
        "without SACK the timer restarts at every partial ACK of a recovery; `false`: at the \
         first alone (RFC 6582)",
    );
    DUP_ACKS: u32 = Key::count("dup-acks", 1, 1_000_000).usual("3")
        .doc("duplicate ACKs that start a fast retransmit");
    LOST_RETRANSMISSIONS: bool = Key::flag("lost-repairs")
        .follows("`true` for `bbr`, else `false`")
        .doc(
        "a lost retransmission is detected by acknowledgements of later segments (as RACK does), \
         not by the timer",
    );
}

keys! { STACK_KEYS:
    ACK_CWR: bool = Key::flag("ack-cwr").usual("false").doc(
        "a segment with CWR is acknowledged at once, even if ACKs are delayed",
    );
    QUICK_ACKS: u32 = Key::count("quick-acks", 0, 1_000_000).usual("0").doc(
        "this many segments at the start of a connection are acknowledged one by one, even if ACKs \
         are delayed; 16 in Linux",
    );
    PRR: bool = Key::flag("prr").usual("false").doc(
        "proportional rate reduction (RFC 6937) after losses and echoes: a cut takes a round trip, \
         in which the window does not grow",
    );
    WHOLE_SEGMENTS: bool = Key::flag("whole-segments").usual("false").doc(
        "windows are cut by whole segments: DCTCP's cut is rounded down, the window that others \
         keep is",
    );
    COARSE_ALPHA: bool = Key::flag("coarse-alpha").usual("false").doc(
        "DCTCP counts alpha in parts of 1024: below 1/64 it falls to zero within a window",
    );
    TLP: bool = Key::flag("tlp").usual("false").doc(
        "tail loss probes (RFC 8985): one segment after two round trips and 2 ms of silence, \
         before the timeout; it takes `sack`",
    );
    RACK: bool = Key::flag("rack").usual("false").doc(
        "losses are found by time (RFC 8985): a segment is lost once one that was sent later has \
         arrived, and a quarter of the smallest RTT has passed; it takes `sack`, and replaces \
         `dup-acks` and `lost-repairs`",
    );
    CUBIC_HOLD: bool = Key::flag("cubic-hold").usual("false").doc(
        "CUBIC keeps its rate of growth for up to 31.25 ms while the window stays the same, and \
         grows by whole segments",
    );
    QUICK_ACKS_CE: u32 = Key::count("quick-acks-ce", 0, 100).usual("0").doc(
        "with classic ECN this many acknowledgements from the first CE of an episode on leave at \
         once, even if ACKs are delayed; 2 in Linux",
    );
    CUBIC_SLOPE: bool = Key::flag("cubic-slope").usual("false").doc(
        "CUBIC's estimate of Reno's window keeps its slope beyond the window before the last cut; \
         `false`: a segment a round trip from there on (RFC 9438)",
    );
    CUBIC_TICK: Picos = Key::time("cubic-tick").usual("0").doc(
        "with `cubic-hold` CUBIC computes its rate of growth once in this time; `0`: whenever the \
         window changes",
    );
    HYSTART: bool = Key::flag("hystart-linux").usual("false").doc(
        "CUBIC leaves slow start as Linux does: once ACKs at most 2 ms apart span half of the \
         smallest RTT and of 1 ms, or the RTT has grown by an eighth (by 4 to 16 ms)",
    );
    RACK_WAIT: Picos = Key::time("rack-wait").usual("0").doc(
        "with `rack` suspected segments are looked at again this long after the last of them may \
         be late; `0`: as soon as the first of them is late; 2ms in Linux",
    );
    THIRD_PACKET: bool = Key::flag("third-packet").usual("false").doc(
        "with `handshake` the answer to a SYN-ACK is a packet without data that takes its place in \
         buffers; `false`: the first data answers",
    );
    UNDO: bool = Key::flag("undo").usual("false").doc(
        "a cut of the window after a loss that was none is taken back: a timestamp shows that the \
         original arrived (Eifel), or DSACK blocks that every retransmission arrived twice; it \
         takes `sack`",
    );
    ECT_CONTROL: bool = Key::flag("ect-control").usual("false").doc(
        "SYNs, SYN-ACKs and pure ACKs are ECN-capable where data is",
    );
    TSO_DEFER: bool = Key::flag("tso-defer").usual("false").doc(
        "with `rack` and `tso` the clock decides too whether a train waits for the next ACK, and a \
         train is as long as the window sends in a millisecond, longer at short RTTs",
    );
    WRITE_WINDOW: bool = Key::flag("write-window").usual("false").doc(
        "the application writes whenever a third of the send buffer is free, which is the largest \
         window so far with `tso`, and two thirds of it without; the segment that ends a write is \
         acknowledged at once",
    );
    WRITE_SIZE: u64 = Key::bytes("write-size", 0, 1 << 30).usual("0B").doc(
        "the application writes a stream in pieces of this size, and the segment that ends one is \
         acknowledged at once, even if ACKs are delayed; `0B`: in one piece",
    );
    RTO_OVER_RTT: bool = Key::flag("rto-over-rtt").usual("false").doc(
        "`rto-min` is the least margin over the smoothed RTT; `false`: the least timeout",
    );
}

words! { Retransmit:
    "go-back-n" => Retransmit::GoBackN,
    "selective" => Retransmit::Selective,
}

const DCQCN: &[&str] = &["dcqcn"];

/// The DCQCN paper's.
const USUAL_GAP: Nanos = Nanos::from_micros(50);

keys! { QUEUE_PAIR_KEYS:
    PRESET: &'static Sender = Key::choice("preset").only(DCQCN).follows("`dcqcn`").doc(
        "a published sender ([transports.md](transports.md#published-senders)): parameters, \
         `cnp-gap` and window as a paper, a simulator of the field or an adapter has them; the \
         file may still write each of them",
    );
    RETRANSMIT: Retransmit = Key::choice("repair").only(DCQCN).usual("go-back-n").doc(
        "what is retransmitted after a loss: everything from the hole on, or (`selective`) only \
         what is missing",
    );
    CNP_GAP: Nanos = Key::timer("cnp-gap").only(DCQCN).follows("50us, or the preset's")
        .doc("least time between two notifications of a flow");
    CNP_CLASS: Node = Key::own(
        "cnp-class",
        "a queue or a traffic class",
        r#"{"type":["integer","string"],"minimum":0,"maximum":63}"#,
    )
    .only(DCQCN)
    .follows("the flow's")
    .doc("queue of notifications at every port");
}

/// `[transport]`. The keys of queue pairs are read under every control, so that a scheme or a point
/// of a sweep may have another one.
pub(crate) fn transport(root: &Table, classes: &Classes, topology: &Topology) -> Fallible<Config> {
    let mut s = Section::of(root, &TRANSPORT)?;
    let usual = Config::default();
    let sender = s.given(&PRESET)?;
    let line = topology.host_rate();
    let chosen = controllers::control(&mut s, |param| sender?.value(param, line))?;
    let sender = sender.filter(|_| chosen.spec().is_queue_pair());
    let mss = s.read(&MSS)?;
    let queue_pairs = Rdma {
        retransmit: s.read(&RETRANSMIT)?,
        cnp_gap: s.read_or(&CNP_GAP, sender.map_or(USUAL_GAP, |sender| sender.cnp_gap))?,
        cnp_class: s
            .node(&CNP_CLASS)
            .map(|n| own_class(n, classes))
            .transpose()?,
        dcqcn: Rdma::default().dcqcn,
    };
    // Hosts with queue pairs have no TCP sender, so its controller is never used.
    let (control, rdma) = if chosen.spec().is_queue_pair() {
        let dcqcn = Dcqcn::from(chosen.values());
        (
            usual.control,
            Some(Rdma {
                dcqcn,
                ..queue_pairs
            }),
        )
    } else {
        (chosen, None)
    };
    // A controller that does not slow down for losses would otherwise wait for the timer in every
    // round trip.
    let insistent = !control.spec().slows_for_loss;
    let config = Config {
        control,
        mss,
        header_bytes: s.read(&HEADER)?,
        ack_bytes: s.read(&ACK)?,
        init_window: s.read(&INIT_WINDOW)?,
        keep_window: s.read(&KEEP_WINDOW)?,
        rto_min: s.read(&RTO_MIN)?,
        rto_init: s.read(&RTO_INIT)?,
        rto_max: s.read(&RTO_MAX)?,
        ack_every: s.read(&ACK_EVERY)?,
        ack_delay: s.read(&ACK_DELAY)?,
        receive_window: match sender.filter(|sender| sender.window) {
            Some(_) => s.read_or(&RECEIVE_WINDOW, senders::window(topology, mss))?,
            None => s.read(&RECEIVE_WINDOW)?,
        },
        handshake: s.read(&HANDSHAKE)?,
        max_burst: s.read(&MAX_BURST)?,
        sack: s.read(&SACK)?,
        slow_but_steady: s.read(&SLOW_BUT_STEADY)?,
        dup_acks: s.read(&DUP_ACKS)?,
        lost_retransmissions: s.read_or(&LOST_RETRANSMISSIONS, insistent)?,
        pacing: usual.pacing,
        pace_train: usual.pace_train,
        stack: stack(&mut s)?,
        rdma,
    };
    s.finish()?;
    Ok(config)
}

/// A line for each published sender that `[transport]` or a workload names.
pub(crate) fn published(root: &Table) -> Vec<String> {
    let of = |table: &Table| match table.get(TRANSPORT.name).map(|entry| &entry.node.value) {
        Some(Value::Table(keys)) => keys.get(PRESET.spec.name).map(|entry| entry.node.clone()),
        _ => None,
    };
    let workloads = items(root, "workload");
    let own = workloads.iter().filter_map(|node| match &node.value {
        Value::Table(table) => of(table),
        _ => None,
    });
    let mut lines = Vec::new();
    for node in of(root).into_iter().chain(own) {
        let named = senders::ALL.iter().find(|sender| match &node.value {
            Value::Text(word) => fold(word) == fold(sender.name),
            _ => false,
        });
        lines.extend(named.map(Sender::said).filter(|line| !lines.contains(line)));
    }
    lines
}

fn stack(s: &mut Section<'_>) -> Fallible<Stack> {
    Ok(Stack {
        ack_cwr: s.read(&ACK_CWR)?,
        whole_segments: s.read(&WHOLE_SEGMENTS)?,
        prr: s.read(&PRR)?,
        tlp: s.read(&TLP)?,
        rack: s.read(&RACK)?,
        quick_acks: s.read(&QUICK_ACKS)?,
        ect_control: s.read(&ECT_CONTROL)?,
        quick_acks_ce: s.read(&QUICK_ACKS_CE)?,
        cubic_hold: s.read(&CUBIC_HOLD)?,
        cubic_slope: s.read(&CUBIC_SLOPE)?,
        cubic_tick: s.read(&CUBIC_TICK)?.to_nanos(),
        hystart: s.read(&HYSTART)?,
        third_packet: s.read(&THIRD_PACKET)?,
        undo: s.read(&UNDO)?,
        rack_wait: s.read(&RACK_WAIT)?.to_nanos(),
        rto_over_rtt: s.read(&RTO_OVER_RTT)?,
        coarse_alpha: s.read(&COARSE_ALPHA)?,
        tso_defer: s.read(&TSO_DEFER)?,
        write_window: match s.read(&WRITE_WINDOW)? {
            true => Stack::WRITE_WINDOW,
            false => 0,
        },
        write_size: s.read(&WRITE_SIZE)? as u32,
    })
}
