// SPDX-License-Identifier: MIT OR Apache-2.0
//! `control` in `[transport]` and the parameters of all congestion controllers, from the catalogue
//! of `cemark-transport`: no controller is named here.

use cemark_transport::cc::{ControllerSpec, Kind, MAX_PARAMS, ParamSpec, catalogue};
use cemark_transport::{Config, Control};
use cemark_wire::{Nanos, Rate};

use crate::error::{Fallible, Fault};
use crate::section::{Section, fraction, number};
use crate::transport::span;
use crate::tree::{Node, Value};
use crate::units;

/// The chosen controller and its parameters. The parameters of the others are read and checked as
/// well, so that a scheme or a point of a sweep may choose another one. Two controllers may share a
/// key: it is then checked against the chosen one.
pub(crate) fn control(s: &mut Section<'_>) -> Fallible<Control> {
    let words: Vec<&str> = catalogue::ALL.iter().map(|spec| spec.name).collect();
    let chosen = catalogue::ALL[s.choice("control", 0, &words)?];
    let mut values = Control::of(chosen).values::<MAX_PARAMS>();
    for (value, param) in values.iter_mut().zip(chosen.params) {
        *value = read(s, param)?;
    }
    for key in keys()
        .into_iter()
        .filter(|key| chosen.index_of(key).is_none())
    {
        let declared = catalogue::ALL.iter().flat_map(|spec| spec.params);
        if let Some(param) = declared.into_iter().find(|param| param.key == key) {
            read(s, param)?;
        }
    }
    Ok(Control::of(chosen).with_values(&values[..chosen.params.len()]))
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
fn read(s: &mut Section<'_>, param: &ParamSpec) -> Fallible<u64> {
    let (key, default) = (param.key, param.default);
    let stored = |x: f64, one: f64| (x * one + 0.5) as u64;
    match param.kind {
        Kind::Weight => weight(s, param),
        Kind::Fraction { one } => {
            let value = s.get(key).map(fraction).transpose()?;
            Ok(value.map_or(default, |x| stored(x, f64::from(one))))
        }
        Kind::Thousandths => {
            let range = (param.min as f64 / 1000.0, param.max as f64 / 1000.0);
            let value = s.get(key).map(|node| number(node, range)).transpose()?;
            Ok(value.map_or(default, |x| stored(x, 1000.0)))
        }
        Kind::Count => s.count(key, default, (param.min, param.max)),
        Kind::Flag => Ok(s.flag(key, default != 0)?.into()),
        Kind::Time => Ok(span(s, key, Nanos(default))?.0),
        Kind::Bytes => s.bytes(key, default, (param.min, param.max)),
        Kind::Rate => rate(s, param),
    }
}

/// A rate. Zero has a message of its own: a sender at rate zero would send no packet whose mark or
/// loss could ever change that.
fn rate(s: &mut Section<'_>, param: &ParamSpec) -> Fallible<u64> {
    let key = param.key;
    let zero = |node: &&Node| match &node.value {
        Value::Text(text) => units::quantity(text, units::RATES) == Ok(0),
        Value::Integer(n) => *n == 0,
        _ => false,
    };
    match s.get(key).filter(zero) {
        None => Ok(s.rate(key, Rate(param.default))?.0),
        Some(node) => Err(Fault::new(
            node.at,
            format!("{key} must be above zero: a sender at rate zero would never send again"),
        )
        .help(format!(
            "write {key} = \"{}Mbps\", the default, or another rate from \"1kbps\" on",
            param.default / 1_000_000
        ))),
    }
}

/// A weight that is a power of two, as its exponent.
fn weight(s: &mut Section<'_>, param: &ParamSpec) -> Fallible<u64> {
    let Some(node) = s.get(param.key) else {
        return Ok(param.default);
    };
    let g = fraction(node)?;
    (param.min..=param.max)
        .find(|&shift| (1u64 << shift) as f64 * g == 1.0)
        .ok_or_else(|| {
            Fault::new(
                node.at,
                format!("{} = {g} is not a power of two", param.key),
            )
            .help(format!("write {}", powers_near(g, param.default)))
        })
}

/// The powers of two on both sides of `g`, the nearer one first:
/// `0.00390625 (1/256) or 0.0078125 (1/128)`.
fn powers_near(g: f64, default: u64) -> String {
    let one = |shift: u64| {
        let n = 1u64 << shift;
        format!("{} (1/{n})", 1.0 / n as f64)
    };
    // Halvings from one to below it.
    let below = (1..=20u64).find(|&shift| g * (1u64 << shift) as f64 > 1.0);
    match below {
        None => one(default),
        Some(shift) => {
            let (low, high) = (shift, shift - 1);
            // Nearer by its factor.
            let up = g * (1u64 << low) as f64 * g * (1u64 << high) as f64 > 1.0;
            match up {
                true => format!("{} or {}", one(high), one(low)),
                false => format!("{} or {}", one(low), one(high)),
            }
        }
    }
}
