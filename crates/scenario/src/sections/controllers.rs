// SPDX-License-Identifier: MIT OR Apache-2.0
//! `control` in `[transport]` and the parameters of all congestion controllers, from the catalogue
//! of `cemark-transport`: no controller is named here.

use cemark_transport::cc::{ControllerSpec, Kind, MAX_PARAMS, ParamSpec, catalogue};
use cemark_transport::{Config, Control};

use crate::error::{At, Fallible, Fault};
use crate::key::{Key, KeySpec, Shape, Usual, Words, keys, power_of_two};
use crate::section::{Section, bytes, count, flag, fraction, number, rate, timer};
use crate::transport::TRANSPORT;
use crate::tree::{Node, Table, Value};
use crate::units;

/// An entry of the catalogue.
#[derive(Clone, Copy)]
pub(crate) struct Chosen(&'static ControllerSpec);

impl Words for Chosen {
    fn words() -> Vec<(&'static str, Self)> {
        let all = catalogue::ALL.iter();
        all.map(|&spec| (spec.name, Chosen(spec))).collect()
    }
}

keys! {
    /// The key that chooses the controller.
    CONTROL_KEYS:
    CONTROL: Chosen = Key::choice("control").usual("dctcp").doc(
        "the congestion controller ([transports.md](transports.md)): `ecn-star` halves once per \
         window on an echo; `reno`, `cubic` and `bbr` (version 1) do not use ECN; under \
         `cubic-ecn` an echo cuts as a loss does; `dcqcn` gives hosts RDMA queue pairs \
         instead of TCP",
    );
}

/// The parameters of every controller.
pub(crate) fn of_the_catalogue() -> Vec<KeySpec> {
    let params = |spec: &'static ControllerSpec| {
        spec.params.iter().map(|param| KeySpec {
            name: param.key,
            shape: match param.kind {
                Kind::Weight => Shape::Weight,
                Kind::Fraction { .. } => Shape::Fraction,
                Kind::Thousandths => {
                    Shape::Number(param.min as f64 / 1000.0, param.max as f64 / 1000.0)
                }
                Kind::Count => Shape::Count(param.min, param.max),
                Kind::Flag => Shape::Flag,
                Kind::Time => Shape::Time,
                Kind::Bytes => Shape::Bytes(param.min, param.max),
                Kind::Rate => Shape::Rate,
            },
            usual: Usual::Controllers(param),
            only: std::slice::from_ref(&spec.name),
            doc: param.doc.trim_end_matches('.'),
        })
    };
    catalogue::ALL.iter().copied().flat_map(params).collect()
}

/// The chosen controller and its parameters. The parameters of the others are read and checked as
/// well, so that a scheme or a point of a sweep may choose another one. Two controllers may share a
/// key: it is then checked against the chosen one.
pub(crate) fn control(s: &mut Section<'_>) -> Fallible<Control> {
    let Chosen(chosen) = s.read(&CONTROL)?;
    let mut values = Control::of(chosen).values::<MAX_PARAMS>();
    for (value, param) in values.iter_mut().zip(chosen.params) {
        *value = read(s, param)?;
    }
    for key in keys() {
        if chosen.index_of(key).is_some() {
            continue;
        }
        let mut declared = catalogue::ALL.iter().flat_map(|spec| spec.params);
        if let Some(param) = declared.find(|param| param.key == key) {
            read(s, param)?;
        }
    }
    Ok(Control::of(chosen).with_values(&values[..chosen.params.len()]))
}

/// The controller of a workload, its parameters from `[transport]`; `None` if it is that of
/// `[transport]`.
///
/// All connections of a run share what the controller does not decide: whether hosts have queue
/// pairs, whether their NICs wait for a pace, and how lost retransmissions are found.
pub(crate) fn own(
    Chosen(chosen): Chosen,
    at: At,
    root: &Table,
    transport: &Config,
) -> Fallible<Option<Control>> {
    let common = running(transport);
    if chosen.name == common.name {
        return Ok(None);
    }
    let name = chosen.name;
    if chosen.is_queue_pair() || common.is_queue_pair() {
        let message = format!(
            "a workload under \"{name}\" beside \"{}\" in [transport]: hosts have either TCP or \
             queue pairs",
            common.name
        );
        return Err(Fault::new(at, message).help(format!(
            "write one control for all in [transport], or a controller of TCP in both: {}",
            words(|spec| !spec.is_queue_pair())
        )));
    }
    let apart = |spec: &ControllerSpec| spec.paced || !spec.slows_for_loss;
    if apart(chosen) && !apart(common) {
        let message = format!(
            "\"{name}\" in a workload, and \"{}\" in [transport]: its pacing and its repair of \
             losses are set for all senders there",
            common.name
        );
        return Err(Fault::new(at, message).help(format!(
            "write control = \"{name}\" in [transport], and control = \"{}\" in the other \
             workloads",
            common.name
        )));
    }
    let mut s = Section::of(root, &TRANSPORT)?;
    let mut values = Control::of(chosen).values::<MAX_PARAMS>();
    for (value, param) in values.iter_mut().zip(chosen.params) {
        *value = read(&mut s, param)?;
    }
    Ok(Some(
        Control::of(chosen).with_values(&values[..chosen.params.len()]),
    ))
}

/// The keys of all controllers, each once.
pub(crate) fn keys() -> Vec<&'static str> {
    let mut keys: Vec<&str> = Vec::new();
    for param in catalogue::ALL.iter().flat_map(|spec| spec.params) {
        if !keys.contains(&param.key) {
            keys.push(param.key);
        }
    }
    keys
}

/// The controller that a configuration runs.
pub(crate) fn running(config: &Config) -> &'static ControllerSpec {
    match config.rdma {
        Some(_) => &cemark_transport::rdma::SPEC,
        None => config.control.spec(),
    }
}

/// The controllers that a configuration runs: that of queue pairs, or those of its workloads.
pub(crate) fn all_running(config: &cemark_sim::Config) -> Vec<&'static ControllerSpec> {
    match config.transport.rdma {
        Some(_) => vec![running(&config.transport)],
        None => config.controls().iter().map(|c| c.spec()).collect(),
    }
}

/// The words of the controllers that `wanted` selects, for messages: `"a", "b" or "c"`.
pub(crate) fn words(wanted: impl Fn(&ControllerSpec) -> bool) -> String {
    let all = catalogue::ALL.iter().filter(|spec| wanted(spec));
    let words: Vec<String> = all.map(|spec| format!("\"{}\"", spec.name)).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The words of the TCP controllers with ECN, for messages.
pub(crate) fn ecn_words() -> String {
    words(|spec| spec.ecn && !spec.is_queue_pair())
}

/// The value of one parameter in its stored unit.
fn read(s: &mut Section<'_>, param: &'static ParamSpec) -> Fallible<u64> {
    let Some(node) = s.get(param.key) else {
        return Ok(param.default);
    };
    let stored = |x: f64, one: f64| (x * one + 0.5) as u64;
    let range = (param.min, param.max);
    match param.kind {
        Kind::Weight => weight(node, param),
        Kind::Fraction { one } => {
            let one = f64::from(one);
            let x = fraction(node)?;
            match stored(x, one) {
                n if n >= param.min => Ok(n),
                _ => Err(beneath(node, param, x, one)),
            }
        }
        Kind::Thousandths => {
            let range = (param.min as f64 / 1000.0, param.max as f64 / 1000.0);
            Ok(stored(number(node, range)?, 1000.0))
        }
        Kind::Count => count(node, range),
        Kind::Flag => Ok(flag(node)?.into()),
        Kind::Time => Ok(timer(node, param.key)?.0),
        Kind::Bytes => bytes(node, None, range),
        Kind::Rate => pace(node, param),
    }
}

/// A rate. Zero has a message of its own: a sender at rate zero would send no packet whose mark or
/// loss could ever change that.
fn pace(node: &Node, param: &ParamSpec) -> Fallible<u64> {
    let zero = match &node.value {
        Value::Text(text) => units::quantity(text, &units::RATES) == Ok(0),
        Value::Integer(n) => *n == 0,
        _ => false,
    };
    if !zero {
        return Ok(rate(node)?.0);
    }
    let key = param.key;
    let message = format!("{key} must be above zero: a sender at rate zero would never send again");
    Err(Fault::new(node.at, message).help(format!(
        "write {key} = \"{}Mbps\", the default, or another rate from \"1kbps\" on",
        param.default / 1_000_000
    )))
}

/// The error of a fraction below the least of its parameter.
fn beneath(node: &Node, param: &ParamSpec, x: f64, one: f64) -> Box<Fault> {
    let [usual, least] = [param.default, param.min].map(|n| n as f64 / one);
    let key = param.key;
    Fault::new(node.at, format!("{key} = {x} is out of range")).help(format!(
        "write {key} = {usual}, the default, or another fraction from {least} to 1"
    ))
}

/// A weight that is a power of two, as its exponent.
fn weight(node: &Node, param: &ParamSpec) -> Fallible<u64> {
    let g = fraction(node)?;
    let found = (param.min..=param.max).find(|&shift| power_of_two(shift) * g == 1.0);
    found.ok_or_else(|| {
        let message = format!("{} = {g} is not a power of two", param.key);
        let help = format!("write {}", powers_near(g, param.default));
        Fault::new(node.at, message).help(help)
    })
}

/// The powers of two on both sides of `g`, the nearer one first:
/// `0.00390625 (1/256) or 0.0078125 (1/128)`.
fn powers_near(g: f64, default: u64) -> String {
    let one = |shift: u64| format!("{} (1/{})", 1.0 / power_of_two(shift), 1u64 << shift);
    // Halvings from one until the result is below `g`.
    let Some(low) = (1..=20).find(|&shift| g * power_of_two(shift) > 1.0) else {
        return one(default);
    };
    let high = low - 1;
    // Nearer by its factor.
    let up = g * power_of_two(low) * g * power_of_two(high) > 1.0;
    let (first, second) = if up { (high, low) } else { (low, high) };
    format!("{} or {}", one(first), one(second))
}
