// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows that simulate nothing: numbers of an RTT model, a size table, a switch's division or a
//! closed form.

use std::collections::BTreeMap;

use cemark_marking::ecn_sharp::tofino;
use cemark_marking::ecn_sharp_lab::arithmetic;
use cemark_report::stats;
use cemark_report::theory::{bdp, cedm, dcib as dcib_theory};
use cemark_sim::workload::random::Stream;
use cemark_sim::workload::{RttModel, SizeTable};

use super::error::RowError;
use super::estimate::Estimate;
use super::row::{Formula, Row};

/// An RTT model is drawn from a million times; ten repetitions serve as seeds.
const BATCHES: u64 = 10;
const DRAWS: usize = 1_000_000;

/// Short flows are smaller, in bytes.
const SHORT: f64 = 100_000.0;

/// The statistics taken of an RTT model.
const OF_RTT: [&str; 4] = ["mean", "std", "p90", "p99"];

/// Draws of each RTT model, so that its four statistics use the same ones.
#[derive(Clone, Debug, Default)]
pub struct Models(BTreeMap<String, [Estimate; 4]>);

impl Models {
    /// The number of a row that is computed or drawn, `None` where the row is taken from points.
    pub fn evaluate(&mut self, row: &Row) -> Option<Result<Estimate, RowError>> {
        match row.formula {
            Formula::Rtt => Some(self.rtt(row)),
            Formula::RttRatio => Some(ratio(row)),
            Formula::Sizes => Some(sizes(row)),
            Formula::Division => Some(division(row)),
            Formula::Dcib => Some(dcib(row)),
            Formula::Cedm => Some(slides(row)),
            Formula::Quotient => Some(quotient(row)),
            _ => None,
        }
    }

    fn rtt(&mut self, row: &Row) -> Result<Estimate, RowError> {
        let name = named(row)?;
        let which = OF_RTT.iter().position(|s| *s == row.metric);
        let which = which.ok_or_else(|| {
            let wanted = format!("taken of an RTT model: write {}", OF_RTT.join(", "));
            wrong(&row.metric, wanted)
        })?;
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), draw(&model(name)?)?);
        }
        Ok(self.0[name][which].clone())
    }
}

fn named(row: &Row) -> Result<&str, RowError> {
    row.model.as_deref().ok_or(RowError::NoModel)
}

fn wrong(found: &str, wanted: impl Into<String>) -> RowError {
    RowError::Model {
        found: found.to_owned(),
        wanted: wanted.into(),
    }
}

/// `stack` is the quantile table of ECN# Table 1, `fitted stack` the lognormal.
fn model(name: &str) -> Result<RttModel, RowError> {
    let found = match name.strip_prefix("fitted ") {
        Some(case) => RttModel::fitted(case),
        None => RttModel::measured(name),
    };
    found.ok_or_else(|| {
        wrong(
            name,
            "an RTT model of ECN#'s Table 1: write stack or fitted stack",
        )
    })
}

fn draw(model: &RttModel) -> Result<[Estimate; 4], RowError> {
    let mut found: [Vec<f64>; 4] = Default::default();
    for seed in 0..BATCHES {
        let mut stream = Stream::new(seed, "figure", 0);
        let mut draws = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            draws.push(
                model
                    .draw(&mut stream)
                    .ok_or_else(|| wrong("path", "an RTT model that can be drawn from"))?
                    .as_micros_f64(),
            );
        }
        let mean = stats::mean(&draws).unwrap_or_default();
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / DRAWS as f64;
        let p99 = stats::select(&mut draws, 0.99).unwrap_or_default();
        let p90 = stats::select(&mut draws, 0.9).unwrap_or_default();
        for (all, one) in found.iter_mut().zip([mean, variance.sqrt(), p90, p99]) {
            all.push(one);
        }
    }
    Ok(found.map(Estimate::of_seeds))
}

fn ratio(row: &Row) -> Result<Estimate, RowError> {
    Ok(Estimate::exact(
        model(named(row)?)?.mean() / model(&row.against)?.mean(),
    ))
}

/// Tables that each offer the same load (`a + b`): the larger the flows of a table, the fewer there
/// are.
fn mix(names: &str) -> Result<Vec<(f64, SizeTable)>, RowError> {
    let tables: Vec<SizeTable> = names
        .split('+')
        .map(|name| {
            SizeTable::builtin(name.trim())
                .ok_or_else(|| wrong(name.trim(), "a built-in size table"))
        })
        .collect::<Result<_, _>>()?;
    let all: f64 = tables.iter().map(|t| 1.0 / t.mean()).sum();
    Ok(tables
        .into_iter()
        .map(|t| (1.0 / t.mean() / all, t))
        .collect())
}

fn sizes(row: &Row) -> Result<Estimate, RowError> {
    let mix = mix(named(row)?)?;
    let over = |of: &dyn Fn(&SizeTable) -> f64| mix.iter().map(|(w, t)| w * of(t)).sum::<f64>();
    let (what, bytes) = match row.metric.rsplit_once(' ') {
        None => (row.metric.as_str(), 0.0),
        Some((what, bytes)) => {
            let bytes: f64 = bytes.parse().map_err(|_| wrong(bytes, "a size in bytes"))?;
            (what, bytes)
        }
    };
    match what {
        "mean" => Ok(over(&SizeTable::mean)),
        "below" => Ok(over(&|t| t.below(bytes))),
        "share below" => Ok(100.0 * over(&|t| t.below(bytes)) / over(&|t| t.below(SHORT))),
        "bytes below" => {
            let carried = over(&|t| t.bytes_below(bytes) * t.mean());
            Ok(100.0 * carried / over(&SizeTable::mean))
        }
        _ => Err(wrong(
            &row.metric,
            "taken of a size table: write mean, below BYTES, share below BYTES or bytes below \
                 BYTES",
        )),
    }
    .map(Estimate::exact)
}

/// `0.25` or `1 / 4`.
fn number(text: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match text.split_once('/') {
        None => number(text),
        Some((over, under)) => Some(number(over)? / number(under)?),
    }
}

/// The numbers of a row's model; none where a word is no number.
fn numbers(row: &Row) -> Result<Vec<f64>, RowError> {
    let numbers: Option<Vec<f64>> = named(row)?.split_whitespace().map(number).collect();
    Ok(numbers.unwrap_or_default())
}

fn quotient(row: &Row) -> Result<Estimate, RowError> {
    let name = named(row)?;
    let quotient = number(name).filter(|q| name.contains('/') && q.is_finite());
    let quotient = quotient.map(Estimate::exact);
    quotient.ok_or_else(|| wrong(name, "a quotient: write NUMBER / NUMBER"))
}

/// Marking counts of ECN#'s Figure 6.
const COUNTS: std::ops::RangeInclusive<u32> = 1..=100;

/// Quotients of a table division over the exact ones, by count from 1.
pub(super) fn division_shares(name: &str) -> Result<Vec<f64>, RowError> {
    let (form, interval): (fn(u32, u32) -> _, _) = match name.split_once(' ') {
        Some(("corrected", interval)) => (tofino::divide, interval),
        Some(("printed", interval)) => (arithmetic::divide_as_printed, interval),
        _ => {
            return Err(wrong(
                name,
                "a division: write corrected INTERVAL or printed INTERVAL",
            ));
        }
    };
    let interval: u32 = interval
        .parse()
        .ok()
        .filter(|&i| i > 0)
        .ok_or_else(|| wrong(interval, "an interval in ticks"))?;
    let share = |count| {
        let tofino::Product { entry, exponent } = form(interval, count);
        f64::from(entry) * f64::from(exponent).exp2() * f64::from(count) / f64::from(interval)
    };
    Ok(COUNTS.map(share).collect())
}

fn division(row: &Row) -> Result<Estimate, RowError> {
    let shares = division_shares(named(row)?)?;
    let errors: Vec<f64> = shares.iter().map(|s| 100.0 * (s - 1.0).abs()).collect();
    let number = match row.metric.as_str() {
        "worst" => errors.iter().copied().reduce(f64::max),
        "mean" => stats::mean(&errors),
        "share" => stats::mean(&shares),
        other => {
            return Err(wrong(
                other,
                "taken of a division: write worst, mean or share",
            ));
        }
    };
    Ok(Estimate::exact(number.unwrap_or_default()))
}

fn dcib(row: &Row) -> Result<Estimate, RowError> {
    let numbers = numbers(row)?;
    let number = match (row.metric.as_str(), &numbers[..]) {
        ("share", &[bytes, ms, gbps]) => dcib_theory::share(bytes, gbps * 1e9, ms * 1e-3),
        ("buffer", &[share, ms, gbps]) => dcib_theory::buffer(share, gbps * 1e9, ms * 1e-3) / 1e6,
        ("bound", &[share]) => dcib_theory::largest_gain(share),
        _ => {
            return Err(wrong(
                &format!("{} of {}", row.metric, named(row)?),
                "DCIB's arithmetic: write share of `BYTES MS GBPS`, buffer of `SHARE MS GBPS` or \
                 bound of `SHARE`",
            ));
        }
    };
    Ok(Estimate::exact(number))
}

/// Packets of the closed forms.
const PACKET: f64 = 1500.0;

/// CEDM's closed forms: of `GBPS US`, or `GBPS US FLOWS BETA`.
fn slides(row: &Row) -> Result<Estimate, RowError> {
    let numbers = numbers(row)?;
    let pipe = |gbps: f64, us: f64| bdp(gbps * 1e9, us * 1e-6) / PACKET;
    let number = match (row.metric.as_str(), &numbers[..]) {
        ("smooth", &[gbps, us]) => cedm::smooth_threshold(pipe(gbps, us)),
        ("bursts", &[gbps, us, n, beta]) => cedm::burst_threshold(pipe(gbps, us), n, beta),
        ("increase", &[gbps, us, n, beta]) => {
            let pipe = pipe(gbps, us);
            100.0 * (cedm::burst_threshold(pipe, n, beta) / cedm::smooth_threshold(pipe) - 1.0)
        }
        _ => {
            return Err(wrong(
                &format!("{} of {}", row.metric, named(row)?),
                "CEDM's arithmetic: write smooth of `GBPS US`, bursts or increase of `GBPS US \
                 FLOWS BETA`",
            ));
        }
    };
    Ok(Estimate::exact(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(metric: &str, model: &str) -> Result<f64, RowError> {
        let text =
            format!("id = 'X'\nstatistic = 'division'\nmetric = '{metric}'\nmodel = '{model}'");
        let row: Row = toml::from_str(&text).unwrap();
        Models::default().evaluate(&row).unwrap().map(|e| e.value())
    }

    /// 0.16 and 0.08, 0.75 MB and 3.75 MB, 1.054.
    #[test]
    fn the_arithmetic_of_dcib() {
        let of = |metric: &str, model: &str| {
            let text =
                format!("id = 'X'\nstatistic = 'dcib'\nmetric = '{metric}'\nmodel = '{model}'");
            let row: Row = toml::from_str(&text).unwrap();
            Models::default().evaluate(&row).unwrap().map(|e| e.value())
        };
        assert_eq!(of("share", "2e6 10 10").unwrap(), 0.16);
        assert_eq!(of("share", "2e6 20 10").unwrap(), 0.08);
        assert!((of("buffer", "0.1 6 10").unwrap() - 0.75).abs() < 1e-12);
        assert!((of("buffer", "0.1 30 10").unwrap() - 3.75).abs() < 1e-12);
        assert!((of("bound", "0.1").unwrap() - 1.0541).abs() < 1e-4);
        assert!(of("bound", "a tenth").is_err());
    }

    /// 14.17 and 12.07, 22.92, and 61.8 % with nothing rounded on the way (the slide says 61.6).
    #[test]
    fn the_arithmetic_of_cedm() {
        let of = |metric: &str, model: &str| {
            let text =
                format!("id = 'X'\nstatistic = 'cedm'\nmetric = '{metric}'\nmodel = '{model}'");
            let row: Row = toml::from_str(&text).unwrap();
            Models::default().evaluate(&row).unwrap().map(|e| e.value())
        };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 0.005 * b, "{a} is not {b}");
        near(of("smooth", "10 100").unwrap(), 14.17);
        near(of("smooth", "10 85.2").unwrap(), 12.07);
        near(of("bursts", "10 100 2 1/3").unwrap(), 22.92);
        near(of("increase", "10 100 2 1/3").unwrap(), 61.76);
        for (metric, model) in [
            ("smooth", "10"),
            ("bursts", "10 100"),
            ("beta", "10 100 2 1/3"),
        ] {
            assert!(of(metric, model).is_err(), "{metric} {model}");
        }
    }

    #[test]
    fn the_division_of_figure_6() {
        // Worst at a count of 71: 125 / 8 = 15.625 against 1000 / 71.
        assert_eq!(of("worst", "corrected 1000").unwrap(), 10.9375);
        // At a count of 1 the listing gives 125 * 2^-(0 + 3) = 15.625.
        let share = of("share", "printed 1000").unwrap();
        assert!(share > 1.0 / 64.0 && share < 1.05 / 64.0, "{share}");
        assert!(of("mean", "corrected 1000").unwrap() < of("worst", "corrected 1000").unwrap());
        for (metric, model) in [
            ("worst", "corrected"),
            ("worst", "corrected 0"),
            ("worst", "exact 1000"),
            ("best", "corrected 1000"),
        ] {
            assert!(of(metric, model).is_err(), "{metric} {model}");
        }
    }
}
