// SPDX-License-Identifier: MIT OR Apache-2.0
//! The theories of `cemark theory`, from `forms.toml`, and how each follows from its inputs by the
//! formulas of `cemark_report::theory`.
//!
//! Inputs reach a form in base units: bits per second, seconds, bytes, or plain numbers. Outputs
//! leave in the unit of their column.

use std::sync::LazyLock;

use cemark_report::theory::{self, bdp, cedm, dcib, dctcp, ecn_sharp, mq_ecn};
use serde::{Deserialize, Serialize};

/// The measure of an input.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Quantity {
    Rate,
    Time,
    Bytes,
    /// A number in an interval, ends included.
    Number(f64, f64),
}

/// The unit of an output; in JSON a base unit.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    #[serde(rename(serialize = "s"))]
    Time,
    #[serde(rename(serialize = "B"))]
    Bytes,
    #[serde(rename(serialize = "bit/s"))]
    Rate,
    Packets,
    #[serde(rename(serialize = ""))]
    Plain,
}

/// An input with its default, as the user writes it.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    pub name: String,
    #[serde(skip_serializing)]
    pub kind: Quantity,
    pub default: String,
    pub doc: String,
}

/// An output.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    pub name: String,
    pub unit: Unit,
    pub formula: String,
}

/// Theory with its inputs and outputs.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    pub name: String,
    pub source: String,
    pub doc: String,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forms {
    form: Vec<Form>,
}

/// Every form, in the order in which they are shown.
pub(super) static ALL: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let forms: Forms = toml::from_str(include_str!("forms.toml")).expect("forms of this crate");
    forms.form
});

/// The outputs of the form of this name.
pub(super) fn outputs(form: &str, x: &[f64]) -> Vec<f64> {
    match form {
        "threshold" => {
            let k = theory::threshold(x[0], x[1], x[2]);
            vec![bdp(x[0], x[1]), k, k / x[3], x[2] * x[1]]
        }
        "dctcp" => {
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
        }
        "ecn_sharp" => {
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
        }
        "mq_ecn" => {
            let round = mq_ecn::round(x[0], x[3], x[4]);
            let share = mq_ecn::share(x[0], x[4], round);
            let standard = theory::threshold(x[0], x[1], x[2]);
            let k = theory::threshold(share, x[1], x[2]);
            vec![round, standard, k, k / x[5], share]
        }
        "cedm" => {
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
        }
        "dcib" => {
            let share = dcib::share(x[2], x[0], x[1]).min(1.0);
            vec![
                share,
                dcib::buffer(share, x[0], x[1]),
                dcib::tcp_rate(x[4], x[1], x[3]),
                dcib::tcp_rate(x[4], x[1], x[3] * (1.0 - share)),
                dcib::largest_gain(share),
            ]
        }
        "newreno" => {
            let window = theory::newreno_window(x[1], x[3]);
            vec![window, window * x[2] * 8.0 / x[0]]
        }
        _ => unreachable!("every form has a formula"),
    }
}
