// SPDX-License-Identifier: MIT OR Apache-2.0
//! Histograms as Prometheus has them: cumulative counts below upper bounds, as a table with the
//! columns `le` and `count` or as the text that an exporter serves.
//!
//! Inside of a bucket RTTs are spread evenly, from zero in the first one, and what lies above the
//! largest bound counts as that bound: `histogram_quantile` computes quantiles so.

use std::collections::BTreeMap;

use cemark_sim::workload::RttModel;
use cemark_wire::Picos;

use super::column::significant;
use super::value::{rtt, shortened, unit_of_name};
use super::{Ask, Column, Found, Trouble};
use crate::error::alike;
use crate::units::span;

/// What follows the name of a metric in its buckets.
const SUFFIX: &str = "_bucket";

/// An upper bound, none for `+Inf`, and how many observations are no longer.
pub(super) struct Bucket {
    le: Option<Picos>,
    count: f64,
}

impl Bucket {
    pub(super) fn read(le: &str, count: &str, unit: Option<u64>) -> Result<Bucket, Trouble> {
        let word = le.trim_start_matches('+').to_lowercase();
        let le = match word.as_str() {
            "inf" | "infinity" => None,
            _ => Some(rtt(le, unit)?),
        };
        match count.parse::<f64>() {
            Ok(count) if count.is_finite() && count >= 0.0 => Ok(Bucket { le, count }),
            _ => Err(Trouble::new(
                format!("`{}` is not a count", shortened(count)),
                "write how many observations are at most as long as `le`",
            )),
        }
    }
}

/// The distribution that buckets describe; each comes with its line.
pub(super) fn model(buckets: Vec<(usize, Bucket)>) -> Result<Found, Trouble> {
    check(&buckets)?;
    let total = buckets.last().map_or(0.0, |(_, last)| last.count);
    if total == 0.0 {
        let help = "write the counts of a histogram that has observations";
        return Err(Trouble::new(
            "its buckets contain no observation".to_owned(),
            help,
        ));
    }
    let mut rows: Vec<(f64, Picos)> = Vec::new();
    let (mut below, mut lower) = (0.0, Picos::ZERO);
    for (_, bucket) in &buckets {
        // An infinite bucket ends where it begins.
        let upper = bucket.le.unwrap_or(lower);
        if bucket.count > below {
            let foot = (below / total, lower);
            if rows.last() != Some(&foot) {
                rows.push(foot);
            }
            rows.push((bucket.count / total, upper));
        }
        (below, lower) = (bucket.count, upper);
    }
    let finite = buckets.iter().rev().find(|(_, b)| b.le.is_some());
    let above = total - finite.map_or(0.0, |(_, b)| b.count);
    let note = (above > 0.0).then(|| {
        format!(
            "{above} of {total} observations are above the largest bound, {0}, and count as {0}",
            span(lower)
        )
    });
    Ok(Found {
        model: RttModel::Quantiles(rows),
        note,
    })
}

/// Bounds rise, counts do not fall, and there is a finite bound.
fn check(buckets: &[(usize, Bucket)]) -> Result<(), Trouble> {
    if buckets.iter().all(|(_, bucket)| bucket.le.is_none()) {
        let help = "write upper bounds such as 0.0001 in the column `le`";
        return Err(Trouble::new(
            "it has no bucket with a finite bound".to_owned(),
            help,
        ));
    }
    for pair in buckets.windows(2) {
        let ((_, before), (line, bucket)) = (&pair[0], &pair[1]);
        let rises = match (before.le, bucket.le) {
            (Some(before), Some(le)) => le > before,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if !rises {
            let help = "sort the lines by `le`, one for each bound, +Inf last";
            return Err(
                Trouble::new("this bound is not above the one before".to_owned(), help).at(*line),
            );
        }
        if bucket.count < before.count {
            let help = "counts are cumulative: each includes those of all smaller bounds";
            return Err(
                Trouble::new("this count is below the one before".to_owned(), help).at(*line),
            );
        }
    }
    Ok(())
}

/// Reads `name_bucket{le="0.0001"} 42` and the like; other metrics are passed over.
pub(super) fn exposition(text: &str, ask: &Ask) -> Result<Found, Trouble> {
    let mut series: BTreeMap<(String, String), Vec<(usize, Bucket)>> = BTreeMap::new();
    for (line, text) in significant(text) {
        let Some((name, rest)) = text.split_once('{') else {
            continue;
        };
        let Some(name) = name.trim().strip_suffix(SUFFIX) else {
            continue;
        };
        if !wanted(name, ask) {
            continue;
        }
        let parsed = labels(rest).and_then(|(labels, value)| {
            let place = labels.iter().position(|(key, _)| key == "le")?;
            Some((labels, place, value.split_whitespace().next()?))
        });
        let Some((mut labels, place, count)) = parsed else {
            return Err(Trouble::new(
                format!("`{}` is not a bucket", shortened(text)),
                "write it like rtt_seconds_bucket{le=\"0.0001\"} 42",
            )
            .at(line));
        };
        let (_, le) = labels.remove(place);
        let unit = unit(name, ask).map_err(|t| t.at(line))?;
        let bucket = Bucket::read(&le, count, unit).map_err(|t| t.at(line))?;
        let others: Vec<String> = labels.iter().map(|(k, v)| format!("{k}=\"{v}\"")).collect();
        let key = (name.to_owned(), others.join(","));
        series.entry(key).or_default().push((line, bucket));
    }
    one(series, ask)
}

/// The buckets of the one histogram that there is.
fn one(
    mut series: BTreeMap<(String, String), Vec<(usize, Bucket)>>,
    ask: &Ask,
) -> Result<Found, Trouble> {
    let shown = |(name, labels): &(String, String)| format!("`{name}{{{labels}}}`");
    match (series.pop_first(), series.last_key_value()) {
        (Some((_, buckets)), None) => model(buckets),
        (None, _) => Err(Trouble::new(
            "it has no buckets of that name".to_owned(),
            "write the name of a metric of the file as `column`, without _bucket",
        )),
        (Some((first, _)), Some((last, _))) => {
            let help = match first.0 == last.0 {
                true => "keep the lines of one, or add their counts for each le".to_owned(),
                false => format!("say which: write column = \"{}\" in [rtt]", first.0),
            };
            let (first, last, n) = (shown(&first), shown(last), series.len() + 1);
            let all = format!("it has {n} histograms, from {first} to {last}");
            debug_assert!(ask.column.is_none() || n > 1);
            Err(Trouble::new(all, help))
        }
    }
}

fn wanted(name: &str, ask: &Ask) -> bool {
    match &ask.column {
        Some(Column::Name(column)) => alike(column.trim_end_matches(SUFFIX), name),
        Some(Column::Number(_)) => false,
        None => true,
    }
}

/// The unit of a metric's bounds. Prometheus asks for seconds and for names that say so.
fn unit(name: &str, ask: &Ask) -> Result<Option<u64>, Trouble> {
    match (unit_of_name(name), ask.unit) {
        (Some(named), Some(asked)) if named != asked => Err(Trouble::new(
            format!(
                "the name of the metric `{}` ends in another unit than `unit`",
                shortened(name)
            ),
            "leave `unit` out",
        )),
        (named, asked) => Ok(asked.or(named)),
    }
}

/// The labels of a sample, and what follows their closing brace.
fn labels(text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(value) = rest.strip_prefix('}') {
            return Some((labels, value));
        }
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start().strip_prefix('"')?;
        // A quote within a value has a backslash before it.
        let mut escaped = false;
        let end = after.char_indices().find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        })?;
        labels.push((key.trim().to_owned(), after[..end.0].to_owned()));
        rest = after[end.0 + 1..].trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
}
