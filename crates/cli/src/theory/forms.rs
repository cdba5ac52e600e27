// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `cemark theory` shows, one entry in [`ALL`] for each theory: its inputs, its outputs, and
//! its place in the papers. The formulas themselves are in `cemark_report::theory`.
//!
//! Inputs reach a form in base units: bits per second, seconds, bytes, or plain numbers. Outputs
//! leave in the unit of their column.

use cemark_report::theory::{self, bdp, cedm, dcib, dctcp, ecn_sharp, mq_ecn};

/// What an input is.
#[derive(Clone, Copy)]
pub(super) enum Quantity {
    Rate,
    Time,
    Bytes,
    /// A number in an interval, ends included.
    Number(f64, f64),
}

/// How an output is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Time,
    Bytes,
    Rate,
    Packets,
    Plain,
}

/// An input with its default, as the user writes it.
pub(super) struct Input {
    pub name: &'static str,
    pub kind: Quantity,
    pub default: &'static str,
    pub doc: &'static str,
}

/// An output.
pub(super) struct Output {
    pub name: &'static str,
    pub unit: Unit,
    pub formula: &'static str,
}

/// One theory.
pub(super) struct Form {
    pub name: &'static str,
    pub source: &'static str,
    pub doc: &'static str,
    pub inputs: &'static [Input],
    pub outputs: &'static [Output],
    pub eval: fn(&[f64]) -> Vec<f64>,
}

const fn input(
    name: &'static str,
    kind: Quantity,
    default: &'static str,
    doc: &'static str,
) -> Input {
    Input {
        name,
        kind,
        default,
        doc,
    }
}

const fn output(name: &'static str, unit: Unit, formula: &'static str) -> Output {
    Output {
        name,
        unit,
        formula,
    }
}

const RATE: Input = input("rate", Quantity::Rate, "10Gbps", "C, of the link");
const RTT: Input = input("rtt", Quantity::Time, "100us", "d, without queueing");
const MTU: Input = input("mtu", Quantity::Bytes, "1500B", "a packet on the wire");
const MANY: Quantity = Quantity::Number(1.0, 1e6);
const PART: Quantity = Quantity::Number(1e-9, 1.0);

/// Every form, in the order in which they are shown.
pub(super) static ALL: &[Form] = &[
    Form {
        name: "threshold",
        source: "DCTCP section 3.3; ECN# section 2.1; MQ-ECN section 2.2",
        doc: "The smallest marking threshold that keeps a link busy, as a length and as a time.",
        inputs: &[
            RATE,
            RTT,
            input(
                "lambda",
                Quantity::Number(1e-6, 10.0),
                "1",
                "1 for ECN* (halving), 0.17 for DCTCP in theory",
            ),
            MTU,
        ],
        outputs: &[
            output("BDP", Unit::Bytes, "C d"),
            output("K", Unit::Bytes, "lambda C d"),
            output("K", Unit::Packets, "lambda C d / mtu"),
            output("sojourn", Unit::Time, "lambda d"),
        ],
        eval: |x| {
            let k = theory::threshold(x[0], x[1], x[2]);
            vec![bdp(x[0], x[1]), k, k / x[3], x[2] * x[1]]
        },
    },
    Form {
        name: "dctcp",
        source: "DCTCP section 3.3",
        doc: "The sawtooth of n synchronised DCTCP flows at one threshold on the length.",
        inputs: &[
            RATE,
            RTT,
            input("n", MANY, "2", "flows"),
            input("k", Quantity::Bytes, "65pkt", "the threshold"),
            MTU,
        ],
        outputs: &[
            output("window", Unit::Packets, "W = (C d + K) / n"),
            output("alpha", Unit::Plain, "sqrt(2 / W)"),
            output("amplitude", Unit::Packets, "A = sqrt(2 n (C d + K)) / 2"),
            output("queue max", Unit::Packets, "K + n"),
            output("queue min", Unit::Packets, "K + n - A, not below 0"),
            output("period", Unit::Time, "d sqrt(2 (C d + K) / n) / 2"),
            output("smallest K", Unit::Packets, "C d / 7"),
        ],
        eval: |x| {
            let (pipe, k, n) = (bdp(x[0], x[1]) / x[4], x[3] / x[4], x[2]);
            let window = dctcp::window(pipe, k, n);
            vec![
                window,
                dctcp::alpha(window),
                dctcp::amplitude(pipe, k, n),
                dctcp::longest_queue(k, n),
                dctcp::shortest_queue(pipe, k, n),
                dctcp::period(x[1], pipe, k, n),
                dctcp::smallest_threshold(pipe),
            ]
        },
    },
    Form {
        name: "ecn_sharp",
        source: "ECN# sections 3.3 and 3.4",
        doc: "The rule of thumb for ECN#'s parameters, and when its persistent marks fall, \
             counted from the first.",
        inputs: &[
            RATE,
            input(
                "rtt_avg",
                Quantity::Time,
                "85us",
                "average base RTT of the flows",
            ),
            input(
                "rtt_high",
                Quantity::Time,
                "200us",
                "a high percentile of the base RTTs",
            ),
            input(
                "lambda",
                Quantity::Number(1e-6, 10.0),
                "1",
                "1 for ECN*, 0.17 for DCTCP in theory",
            ),
            input("marks", MANY, "10", "the mark whose time is asked"),
        ],
        outputs: &[
            output("ins_target", Unit::Time, "lambda rtt_high"),
            output("pst_target", Unit::Time, "lambda rtt_avg"),
            output("pst_interval", Unit::Time, "rtt_high"),
            output("ins_target", Unit::Bytes, "C ins_target"),
            output("pst_target", Unit::Bytes, "C pst_target"),
            output(
                "mark at, harmonic",
                Unit::Time,
                "pst_interval (1 + 1/2 + ... + 1/(marks - 1))",
            ),
            output(
                "mark at, sqrt",
                Unit::Time,
                "pst_interval (1 + 1/sqrt 2 + ... + 1/sqrt(marks - 1))",
            ),
        ],
        eval: |x| {
            let (ins, pst) = (x[3] * x[2], x[3] * x[1]);
            let mark = |spacing| ecn_sharp::mark_time(x[2], x[4], spacing);
            vec![
                ins,
                pst,
                x[2],
                bdp(x[0], ins),
                bdp(x[0], pst),
                mark(ecn_sharp::Spacing::Harmonic),
                mark(ecn_sharp::Spacing::Sqrt),
            ]
        },
    },
    Form {
        name: "mq_ecn",
        source: "MQ-ECN sections 3 and 4.1",
        doc: "Round time and thresholds of n backlogged queues of equal quanta under DWRR or WRR.",
        inputs: &[
            RATE,
            RTT,
            input(
                "lambda",
                Quantity::Number(1e-6, 10.0),
                "1",
                "1 for ECN*, 0.17 for DCTCP in theory",
            ),
            input("n", MANY, "4", "backlogged queues"),
            input("quantum", Quantity::Bytes, "1500B", "of each queue"),
            MTU,
        ],
        outputs: &[
            output("round", Unit::Time, "T = n quantum / C"),
            output("standard K", Unit::Bytes, "lambda C d"),
            output("K of a queue", Unit::Bytes, "min(quantum / T, C) lambda d"),
            output("K of a queue", Unit::Packets, "in packets of mtu"),
            output("rate of a queue", Unit::Rate, "min(quantum / T, C)"),
        ],
        eval: |x| {
            let round = mq_ecn::round(x[0], x[3], x[4]);
            let share = mq_ecn::share(x[0], x[4], round);
            let standard = theory::threshold(x[0], x[1], x[2]);
            let k = theory::threshold(share, x[1], x[2]);
            vec![round, standard, k, k / x[5], share]
        },
    },
    Form {
        name: "cedm",
        source: "CEDM, slides on buffer underflow; the second threshold as in its authors' switch",
        doc: "How far queues swing with and without bursts of segmentation offload, and the \
             thresholds that keep them from running empty.",
        inputs: &[
            RATE,
            RTT,
            input("n", Quantity::Number(2.0, 1e6), "2", "synchronised flows"),
            input(
                "beta",
                Quantity::Number(1e-6, 0.999_999),
                "1/3",
                "part of the window that a cut takes (alpha / 2; ECN*: 0.5)",
            ),
            input("k", Quantity::Bytes, "14pkt", "K1, the threshold"),
            MTU,
        ],
        outputs: &[
            output("BDP", Unit::Packets, "C d"),
            output("A, smooth", Unit::Packets, "sqrt(2 n (C d + K)) / 2"),
            output(
                "A low, bursts",
                Unit::Packets,
                "beta (n - 1) / (n - beta) (C d + K)",
            ),
            output(
                "A high, bursts",
                Unit::Packets,
                "beta (n - 1) / (n (1 - beta)) (C d + K) + n sqrt((1 - beta) (C d + K) / 2)",
            ),
            output("K, smooth", Unit::Packets, "0.17 C d"),
            output("K, bursts", Unit::Packets, "see docs/schemes/cedm.md"),
            output("K2", Unit::Packets, "K1 + (K1 + C d) / 4"),
        ],
        eval: |x| {
            let (n, beta) = (x[2], x[3]);
            let (pipe, k) = (bdp(x[0], x[1]) / x[5], x[4] / x[5]);
            vec![
                pipe,
                cedm::smooth_swing(pipe, k, n),
                cedm::least_swing(pipe, k, n, beta),
                cedm::largest_swing(pipe, k, n, beta),
                cedm::smooth_threshold(pipe),
                cedm::burst_threshold(pipe, n, beta),
                cedm::upper_threshold(pipe, k),
            ]
        },
    },
    Form {
        name: "dcib",
        source: "DCIB sections III and IV",
        doc: "The share that selective dropping needs for a stalled buffer, and the most that \
             recovering that share can gain.",
        inputs: &[
            input("rate", Quantity::Rate, "10Gbps", "C, between the routers"),
            input(
                "rtt",
                Quantity::Time,
                "10ms",
                "tau, between the routers, there and back",
            ),
            input("buffer", Quantity::Bytes, "2MB", "B, for stalled clones"),
            input("loss", PART, "0.05", "p, of packets on the way"),
            MTU,
        ],
        outputs: &[
            output("share", Unit::Plain, "r = B / (tau C)"),
            output("stalled", Unit::Bytes, "r tau C, what the buffer holds"),
            output("plain TCP", Unit::Rate, "mtu / tau sqrt(3 / (2 p))"),
            output("repaired", Unit::Rate, "mtu / tau sqrt(3 / (2 p (1 - r)))"),
            output(
                "gain at most",
                Unit::Plain,
                "1 / sqrt(1 - r), where the way drops what it likes",
            ),
        ],
        eval: |x| {
            let share = dcib::share(x[2], x[0], x[1]).min(1.0);
            vec![
                share,
                dcib::buffer(share, x[0], x[1]),
                dcib::tcp_rate(x[4], x[1], x[3]),
                dcib::tcp_rate(x[4], x[1], x[3] * (1.0 - share)),
                dcib::largest_gain(share),
            ]
        },
    },
    Form {
        name: "newreno",
        source: "Mathis, Semke, Mahdavi and Ott, 1997",
        doc: "The square-root law: what one NewReno or ECN* flow reaches under random loss or \
             marks.",
        inputs: &[
            RTT,
            input(
                "loss",
                PART,
                "0.01",
                "p, loss or mark probability of a packet",
            ),
            input("mss", Quantity::Bytes, "1460B", "payload of a packet"),
            input(
                "ack_every",
                Quantity::Number(1.0, 2.0),
                "1",
                "packets an ACK: 1, or 2 where ACKs are delayed",
            ),
        ],
        outputs: &[
            output("window", Unit::Packets, "sqrt(3 / (2 b p))"),
            output("goodput", Unit::Rate, "mss / d sqrt(3 / (2 b p))"),
        ],
        eval: |x| {
            let window = theory::newreno_window(x[1], x[3]);
            vec![window, window * x[2] * 8.0 / x[0]]
        },
    },
];
