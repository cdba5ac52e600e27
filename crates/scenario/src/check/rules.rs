// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thresholds beside the fabric: defaults that are far from their paper's rule, thresholds above
//! the buffer, and lengths that were written as times where links have several rates.

use std::collections::BTreeMap;

use cemark_marking::{Kind, Rule, RuleTime, SchemeSpec, Values};
use cemark_param::Dialect;
use cemark_sim::Config;
use cemark_sim::config::MarkerChoice;
use cemark_sim::workload::{RttModel, rtt_quantile};
use cemark_wire::{Picos, Rate};

use crate::markers::Scheme;
use crate::plan::Warning;
use crate::units::{length, rate, span};
use crate::warn::{never, path_rtts};

/// A default that is off its rule by more than this factor is pointed out.
const FAR: f64 = 3.0;

/// Base RTTs of the flows of a configuration.
struct BaseRtts<'a> {
    model: &'a RttModel,
    /// Shares of the flows by the RTT of the links of their paths.
    paths: BTreeMap<Picos, f64>,
}

impl<'a> BaseRtts<'a> {
    /// `None` where there are no flows.
    fn of(config: &'a Config) -> Option<Self> {
        let workloads = config.workloads.iter();
        let mut paths = BTreeMap::new();
        for (share, rtt) in workloads.flat_map(|w| path_rtts(w, &config.topology)) {
            *paths.entry(rtt).or_insert(0.0) += share;
        }
        let model = &config.rtt;
        (!paths.is_empty()).then_some(BaseRtts { model, paths })
    }

    /// Share of the flows below an RTT. A flow has its draw, or the RTT of its path where that is
    /// longer.
    fn below(&self, rtt: Picos) -> f64 {
        let drawn = match self.model {
            RttModel::Path => 1.0,
            model => model.share_below(rtt),
        };
        let all: f64 = self.paths.values().sum();
        drawn * self.paths.range(..rtt).map(|(_, share)| share).sum::<f64>() / all
    }

    /// In picoseconds.
    fn quantile(&self, share: f64) -> f64 {
        rtt_quantile(|rtt| self.below(rtt), share).0 as f64
    }

    /// In picoseconds, within a few percent.
    fn mean(&self) -> f64 {
        let steps = 16;
        let middle = |i: u32| self.quantile((f64::from(i) + 0.5) / f64::from(steps));
        (0..steps).map(middle).sum::<f64>() / f64::from(steps)
    }

    /// The time that a rule gives, in picoseconds, and its words.
    fn time(&self, rule: &Rule) -> (f64, String) {
        let (time, words) = match rule.time {
            RuleTime::MeanRtt => (self.mean(), "the mean base RTT".to_owned()),
            RuleTime::TailRtt => (
                self.quantile(0.9),
                "the 90th percentile of the base RTTs".to_owned(),
            ),
            RuleTime::LargestRtt => (self.quantile(1.0 - 1e-6), "the largest base RTT".to_owned()),
            RuleTime::Fixed(t) => (t.0 as f64 * 1e3, span(Picos(t.0 * 1000))),
        };
        let part = f64::from(rule.thousandths) / 1e3;
        match rule.thousandths {
            1000 => (time, words),
            _ => (part * time, format!("{part} times {words}")),
        }
    }
}

/// The rate at which times of this configuration are turned into lengths.
fn reference(config: &Config) -> Rate {
    let slowest = config.topology.slowest();
    config.switch.threshold_rate.unwrap_or(slowest)
}

/// Warnings of one configuration, whose scheme was read as `scheme`.
pub(crate) fn warnings(config: &Config, scheme: &Scheme, all: &mut Vec<Warning>) {
    let Some((spec, values)) = scheme.marker.declared() else {
        return;
    };
    defaults(config, scheme, spec, values, all);
    above_the_buffer(config, scheme, spec, values, all);
    of_several_rates(config, scheme, all);
}

fn defaults(
    config: &Config,
    scheme: &Scheme,
    spec: &SchemeSpec,
    values: &Values,
    all: &mut Vec<Warning>,
) {
    let unwritten = |rule: &&Rule| {
        let param = &spec.params[rule.param];
        (rule.reads)(values) && !scheme.written.contains(&param.name)
    };
    let rules: Vec<&Rule> = spec.rules.iter().filter(unwritten).collect();
    let Some(rtts) = (!rules.is_empty()).then(|| BaseRtts::of(config)).flatten() else {
        return;
    };
    let (mut far, mut better) = (Vec::new(), Vec::new());
    for rule in rules {
        let param = &spec.params[rule.param];
        let (picos, words) = rtts.time(rule);
        let stored = values.get(rule.param);
        let wanted = match param.kind {
            Kind::Time => picos / 1e3,
            _ => picos / 8e12 * reference(config).0 as f64,
        };
        let factor = (stored as f64).max(1.0) / wanted.max(1.0);
        if (1.0 / FAR..=FAR).contains(&factor) {
            continue;
        }
        let (own, rule) = (
            param.show(stored, Dialect::Message),
            param.show(digits(wanted), Dialect::Message),
        );
        let words = match param.kind {
            Kind::Time => words,
            _ => format!("{} x {words}", rate(reference(config).0)),
        };
        far.push(format!(
            "`{}` is {own}, and by its rule, {words}, it is {rule}",
            param.name
        ));
        better.push(format!("{} = \"{rule}\"", param.name));
    }
    if far.is_empty() {
        return;
    }
    all.push(Warning {
        about: format!("default {}", scheme.label),
        message: format!(
            "`{}` has defaults for another fabric: {}",
            scheme.label,
            far.join("; ")
        ),
        help: format!("{} in its [[scheme]]", better.join(", ")),
        points: 0,
    });
}

/// Three digits of a number.
fn digits(x: f64) -> u64 {
    let n = x.round().max(1.0) as u64;
    let scale = 10_u64.pow(n.ilog10().saturating_sub(2));
    n / scale * scale
}

/// A threshold that the buffer never reaches, of a scheme whose lowest one it does reach: another
/// warning says that a scheme never marks.
fn above_the_buffer(
    config: &Config,
    scheme: &Scheme,
    spec: &SchemeSpec,
    values: &Values,
    all: &mut Vec<Warning>,
) {
    if all.iter().any(|w| w.about == never(&scheme.label)) {
        return;
    }
    let buffer = match config.switch.buffering.pool_bytes {
        0 => u64::from(config.switch.buffer_bytes),
        pool => u64::from(pool),
    };
    let first = (spec.first_mark)(values).map(|first| first.param.name);
    let fastest = config.topology.fastest();
    let alone = config.switch.queues.len() == 1;
    let waits = |rule: &&Rule| rule.waits && (rule.reads)(values);
    let of_rules = spec.rules.iter().filter(waits).filter_map(|rule| {
        let param = &spec.params[rule.param];
        let wait = values.get(rule.param);
        let bytes = (wait as f64 * fastest.0 as f64 / 8e9) as u64;
        // With several queues a packet may wait for longer than a full buffer takes to send.
        (alone && bytes >= buffer).then(|| {
            let at = rate(fastest.0);
            let wait = param.show(wait, Dialect::Message);
            (
                param.name,
                format!("{wait} of waiting, which at {at} is {}", length(bytes)),
            )
        })
    });
    let lengths = spec.params.iter().enumerate().filter_map(|(i, param)| {
        let bytes = values.get(i);
        let read = spec.rules.iter().all(|r| r.param != i || (r.reads)(values));
        let written = scheme.written.contains(&param.name);
        let high = param.of_queue && bytes >= buffer && bytes < param.max && read && written;
        high.then(|| (param.name, length(bytes)))
    });
    for (name, level) in of_rules
        .chain(lengths)
        .filter(|(name, _)| Some(*name) != first)
    {
        all.push(Warning {
            about: format!("above {} {name}", scheme.label),
            message: format!(
                "`{name}` of `{}` is {level}, and the whole buffer is {}: no queue gets there",
                scheme.label,
                length(buffer)
            ),
            help: "a lower threshold, or a larger buffer in [switch]".to_owned(),
            points: 0,
        });
    }
}

/// A length that was written as a time holds at ports of every rate, unless `threshold-rate` says
/// otherwise.
fn of_several_rates(config: &Config, scheme: &Scheme, all: &mut Vec<Warning>) {
    let (slowest, fastest) = (config.topology.slowest(), config.topology.fastest());
    if slowest == fastest || config.switch.threshold_rate.is_some() || scheme.timed.is_empty() {
        return;
    }
    let names: Vec<String> = scheme.timed.iter().map(|n| format!("`{n}`")).collect();
    all.push(Warning {
        about: format!("rates {}", scheme.label),
        message: format!(
            "{} of `{}` is a length, written as a time: it is what the slowest link, {}, sends in \
             that time, at ports of {} as well",
            names.join(", "),
            scheme.label,
            rate(slowest.0),
            rate(fastest.0)
        ),
        help: format!(
            "threshold-rate = \"{}\" in [switch], and every port has what its own link sends in \
             that time",
            rate(slowest.0)
        ),
        points: 0,
    });
}

/// The parameters in force of a scheme that a file wrote or that a rule speaks of, in order. Of a
/// marker of the user's own with parameters of its own, all of them.
pub(crate) fn in_force(scheme: &Scheme) -> Option<String> {
    let (spec, values) = scheme.marker.declared()?;
    let of_code = matches!(scheme.marker, MarkerChoice::Own(_)) && spec.rules.is_empty();
    let shown = spec.params.iter().enumerate().filter_map(|(i, param)| {
        let written = scheme.written.contains(&param.name);
        let ruled = spec.rules.iter().any(|r| r.param == i && (r.reads)(values));
        let value = param.show(values.get(i), Dialect::Message);
        let asked = scheme.rounded.iter().find(|(name, _)| *name == param.name);
        match (written, ruled || of_code) {
            (true, _) => Some(match asked {
                None => format!("{} = {value}", param.name),
                Some((_, asked)) => {
                    let asked = param.show(*asked, Dialect::Message);
                    format!(
                        "{} = {value} (rounded by the chip from {asked})",
                        param.name
                    )
                }
            }),
            (false, true) => Some(format!("{} = {value} (default)", param.name)),
            (false, false) => None,
        }
    });
    let mut shown: Vec<String> = shown.collect();
    if let Some(set) = scheme.preset {
        let parts = [set.source, set.note]
            .into_iter()
            .filter(|part| !part.is_empty());
        let parts: Vec<&str> = parts.collect();
        shown.push(format!("preset {} ({})", set.name, parts.join("; ")));
    }
    (!shown.is_empty()).then(|| shown.join(", "))
}
