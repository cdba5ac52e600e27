// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the value of a declared parameter: of a marking scheme, a congestion controller or a
//! topology.

use cemark_param::{Absent, Dialect, Kind, ParamSpec};
use cemark_wire::Rate;

use crate::error::{Fallible, Fault};
use crate::key::{KeySpec, Shape, Usual, power_of_two};
use crate::section::{Section, bytes, count, flag, fraction, nanos, number, rate, time, word};
use crate::tree::{Node, Value};
use crate::units::{self, Measure};

impl KeySpec {
    /// The key of a parameter that the kinds `only` of a section have.
    pub(crate) fn of_param(param: &'static ParamSpec, only: &'static [&'static str]) -> KeySpec {
        KeySpec {
            name: param.name,
            shape: Shape::Of(param.kind, param.min, param.max),
            usual: Usual::Param(param),
            only,
            doc: param.doc.trim_end_matches('.'),
        }
    }
}

/// The stored value of a parameter. Where `line` is known, a time in place of a length means the
/// bytes that the line sends in it.
pub(crate) fn parameter(node: &Node, param: &ParamSpec, line: Option<Rate>) -> Fallible<u64> {
    let (min, max) = (param.min, param.max);
    let stored = match param.kind {
        Kind::Time => nanos(node)?.0,
        Kind::Delay => time(node)?.0,
        Kind::Bytes => bytes(node, line, (min, max))?,
        Kind::Rate if is_zero(node) => return Err(rate_of_zero(node, param)),
        Kind::Rate => rate(node)?.0,
        Kind::Fraction { percent: true, .. } if matches!(node.value, Value::Integer(1)) => {
            let message = format!("`{}` = 1 can be read in two ways", param.name);
            return Err(Fault::new(node.at, message)
                .help("write \"1%\" (one in a hundred, as switches count) or \"100%\""));
        }
        Kind::Fraction { one, .. } => (fraction(node)? * f64::from(one) + 0.5) as u64,
        Kind::Power => power(node, param)?,
        Kind::Thousandths => {
            let [min, max] = [min, max].map(|n| n as f64 / 1000.0);
            (number(node, (min, max))? * 1000.0 + 0.5) as u64
        }
        Kind::Count | Kind::Host => count(node, (min, max))?,
        Kind::Flag => flag(node)?.into(),
        Kind::Choice(words) => word(node, words)? as u64,
    };
    if (min..=max).contains(&stored) {
        return Ok(stored);
    }
    let spans = matches!(param.kind, Kind::Time | Kind::Delay);
    let message = match stored {
        0 if spans => format!("`{}` must be above zero", param.name),
        _ => format!("`{}` is out of range", param.name),
    };
    let [usual, min, max] = [param.default, min, max].map(|n| param.show(n, Dialect::Toml));
    Err(Fault::new(node.at, message).help(format!(
        "write {} = {usual}, the default, or another value from {min} to {max}",
        param.name
    )))
}

fn is_zero(node: &Node) -> bool {
    match &node.value {
        Value::Text(text) => units::quantity(text, &units::RATES) == Ok(0),
        Value::Integer(n) => *n == 0,
        _ => false,
    }
}

fn rate_of_zero(node: &Node, param: &ParamSpec) -> Box<Fault> {
    let name = param.name;
    let example = match param.absent {
        Absent::Default => format!("{}, the default,", param.show(param.default, Dialect::Toml)),
        _ => "\"10Gbps\"".to_owned(),
    };
    Fault::new(
        node.at,
        format!("`{name}` must be above zero: a rate of zero carries nothing"),
    )
    .help(format!(
        "write {name} = {example} or another rate from \"1kbps\" on"
    ))
}

/// A weight that is a power of two, as its exponent.
fn power(node: &Node, param: &ParamSpec) -> Fallible<u64> {
    let weight = fraction(node)?;
    let found = (param.min..=param.max).find(|&n| power_of_two(n) * weight == 1.0);
    found.ok_or_else(|| {
        let message = format!("{} = {weight} is not a power of two", param.name);
        let help = format!("write {}", powers_near(weight, param.default));
        Fault::new(node.at, message).help(help)
    })
}

/// The powers of two on both sides of `weight`, the nearer one first:
/// `0.00390625 (1/256) or 0.0078125 (1/128)`.
fn powers_near(weight: f64, default: u64) -> String {
    let shown = |n: u64| format!("{} (1/{})", 1.0 / power_of_two(n), 1u64 << n);
    // Halvings from one until the result is below `weight`.
    let Some(low) = (1..=20).find(|&n| weight * power_of_two(n) > 1.0) else {
        return shown(default);
    };
    let high = low - 1;
    // Nearer by its factor.
    let up = weight * power_of_two(low) * weight * power_of_two(high) > 1.0;
    let (first, second) = if up { (high, low) } else { (low, high) };
    format!("{} or {}", shown(first), shown(second))
}

/// The value of a key that a topology or a workload declares; `usual` where it is not written.
pub(crate) fn declared(
    s: &mut Section<'_>,
    key: &'static ParamSpec,
    usual: Option<u64>,
) -> Fallible<u64> {
    let Some(node) = s.get(key.name) else {
        return usual.ok_or_else(|| {
            let example = key.show(key.default, Dialect::Toml);
            s.missing(key.name, format!("write {} = {example}", key.name))
        });
    };
    match key.kind {
        Kind::Rate => s.fits(key.name, Measure::Rate, node)?,
        Kind::Delay => s.fits(key.name, Measure::Time, node)?,
        _ => {}
    }
    parameter(node, key, None)
}
