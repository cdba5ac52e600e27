// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows that need no network: what an RTT model or a size table gives.

use cemark_sim::workload::random::Stream;
use cemark_sim::workload::{RttModel, SizeTable};

use super::estimate::Estimate;
use super::row::{Row, Statistic};
use crate::stats;

/// Draws of an RTT model, in batches that serve as seeds.
const BATCHES: u64 = 10;
const DRAWS: usize = 100_000;

/// The number of a row that is computed or drawn, `None` where the row is taken from points.
///
/// # Errors
/// Where the row names what does not exist.
pub fn evaluate(row: &Row) -> Option<Result<Estimate, String>> {
    match row.statistic {
        Statistic::Rtt => Some(rtt(row)),
        Statistic::RttRatio => Some(ratio(row)),
        Statistic::Sizes => Some(sizes(row)),
        _ => None,
    }
}

fn named(row: &Row) -> Result<&str, String> {
    row.model.as_deref().ok_or_else(|| "this row needs a model".to_owned())
}

/// `stack` is the quantile table of ECN# Table 1, `fitted stack` the lognormal.
fn model(name: &str) -> Result<RttModel, String> {
    let found = match name.strip_prefix("fitted ") {
        Some(case) => RttModel::fitted(case),
        None => RttModel::measured(name),
    };
    found.ok_or_else(|| format!("no RTT model is called `{name}`"))
}

fn rtt(row: &Row) -> Result<Estimate, String> {
    let model = model(named(row)?)?;
    let mut batches = Vec::new();
    for seed in 0..BATCHES {
        let mut stream = Stream::new(seed, "figure", 0);
        let mut draws = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            draws.push(model.draw(&mut stream).ok_or("the model adds no RTT")?.as_micros_f64());
        }
        let mean = stats::mean(&draws).unwrap_or_default();
        batches.push(match row.metric.as_str() {
            "mean" => mean,
            "std" => stats::mean(&draws.iter().map(|x| (x - mean) * (x - mean)).collect::<Vec<_>>()).unwrap_or_default().sqrt(),
            "p90" | "p99" => {
                draws.sort_unstable_by(f64::total_cmp);
                stats::percentile(&draws, if row.metric == "p90" { 0.9 } else { 0.99 }).unwrap_or_default()
            }
            other => return Err(format!("`{other}` is not taken of an RTT model: mean, std, p90, p99")),
        });
    }
    Ok(Estimate::of_seeds(batches))
}

fn ratio(row: &Row) -> Result<Estimate, String> {
    Ok(Estimate::exact(model(named(row)?)?.mean() / model(&row.against)?.mean()))
}

fn sizes(row: &Row) -> Result<Estimate, String> {
    let name = named(row)?;
    let table = SizeTable::builtin(name).ok_or_else(|| format!("no size table is called `{name}`"))?;
    match row.metric.split_once(' ') {
        None if row.metric == "mean" => Ok(Estimate::exact(table.mean())),
        Some(("below", bytes)) => {
            let bytes: f64 = bytes.parse().map_err(|_| format!("`{bytes}` is not a size in bytes"))?;
            Ok(Estimate::exact(table.below(bytes)))
        }
        _ => Err(format!("`{}` is not taken of a size table: mean, below BYTES", row.metric)),
    }
}
