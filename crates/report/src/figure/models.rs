// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows that need no network: what an RTT model or a size table gives.

use std::collections::BTreeMap;

use cemark_sim::workload::random::Stream;
use cemark_sim::workload::{RttModel, SizeTable};

use super::estimate::Estimate;
use super::row::{Row, Statistic};
use crate::stats;

/// Draws of an RTT model: a million, ten times, the repetitions serving as seeds.
const BATCHES: u64 = 10;
const DRAWS: usize = 1_000_000;

/// The statistics taken of an RTT model.
const OF_RTT: [&str; 4] = ["mean", "std", "p90", "p99"];

/// Models that have been drawn from already: the four statistics of one share their draws.
#[derive(Clone, Debug, Default)]
pub struct Models(BTreeMap<String, [Estimate; 4]>);

impl Models {
    /// The number of a row that is computed or drawn, `None` where the row is taken from points.
    pub fn evaluate(&mut self, row: &Row) -> Option<Result<Estimate, String>> {
        match row.statistic {
            Statistic::Rtt => Some(self.rtt(row)),
            Statistic::RttRatio => Some(ratio(row)),
            Statistic::Sizes => Some(sizes(row)),
            _ => None,
        }
    }

    fn rtt(&mut self, row: &Row) -> Result<Estimate, String> {
        let name = named(row)?;
        let which = OF_RTT.iter().position(|s| *s == row.metric);
        let which = which.ok_or_else(|| {
            format!(
                "`{}` is not taken of an RTT model: {}",
                row.metric,
                OF_RTT.join(", ")
            )
        })?;
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), draw(&model(name)?)?);
        }
        Ok(self.0[name][which].clone())
    }
}

fn named(row: &Row) -> Result<&str, String> {
    row.model
        .as_deref()
        .ok_or_else(|| "this row needs a model".to_owned())
}

/// `stack` is the quantile table of ECN# Table 1, `fitted stack` the lognormal.
fn model(name: &str) -> Result<RttModel, String> {
    let found = match name.strip_prefix("fitted ") {
        Some(case) => RttModel::fitted(case),
        None => RttModel::measured(name),
    };
    found.ok_or_else(|| format!("no RTT model is called `{name}`"))
}

fn draw(model: &RttModel) -> Result<[Estimate; 4], String> {
    let mut found: [Vec<f64>; 4] = Default::default();
    for seed in 0..BATCHES {
        let mut stream = Stream::new(seed, "figure", 0);
        let mut draws = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            draws.push(
                model
                    .draw(&mut stream)
                    .ok_or("the model adds no RTT")?
                    .as_micros_f64(),
            );
        }
        draws.sort_unstable_by(f64::total_cmp);
        let mean = stats::mean(&draws).unwrap_or_default();
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / DRAWS as f64;
        let rank = |p| stats::percentile(&draws, p).unwrap_or_default();
        for (all, one) in found
            .iter_mut()
            .zip([mean, variance.sqrt(), rank(0.9), rank(0.99)])
        {
            all.push(one);
        }
    }
    Ok(found.map(Estimate::of_seeds))
}

fn ratio(row: &Row) -> Result<Estimate, String> {
    Ok(Estimate::exact(
        model(named(row)?)?.mean() / model(&row.against)?.mean(),
    ))
}

fn sizes(row: &Row) -> Result<Estimate, String> {
    let name = named(row)?;
    let table =
        SizeTable::builtin(name).ok_or_else(|| format!("no size table is called `{name}`"))?;
    match row.metric.split_once(' ') {
        None if row.metric == "mean" => Ok(Estimate::exact(table.mean())),
        Some(("below", bytes)) => {
            let bytes: f64 = bytes
                .parse()
                .map_err(|_| format!("`{bytes}` is not a size in bytes"))?;
            Ok(Estimate::exact(table.below(bytes)))
        }
        _ => Err(format!(
            "`{}` is not taken of a size table: mean, below BYTES",
            row.metric
        )),
    }
}
