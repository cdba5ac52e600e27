// SPDX-License-Identifier: MIT OR Apache-2.0
//! Histograms as Prometheus has them: cumulative counts below upper bounds, as a table with the
//! columns `le` and `count` or as the text that an exporter serves.
//!
//! Inside of a bucket RTTs are spread evenly, from zero in the first one, and what lies above the
//! largest bound counts as that bound: `histogram_quantile` computes quantiles so. A bucket that is
//! wide and has most of the observations says little about them, and a note says so.

use std::collections::BTreeMap;

use cemark_sim::workload::RttModel;
use cemark_wire::Picos;

use super::column::significant;
use super::value::{rtt, shortened, unit_of_name};
use super::{Ask, Column, Found, Series, Trouble};
use crate::error::alike;
use crate::units::span;

/// Share of the observations in one bucket from which on a note says so.
const MOST: f64 = 0.5;

/// End of the name of a metric in its buckets.
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
    let mut notes = Vec::new();
    if above > 0.0 {
        let note = format!(
            "{above} of {total} observations are above the largest bound, {0}, and count as {0}",
            span(lower)
        );
        notes.push((note, "measure with a larger last bucket"));
    }
    notes.extend(coarse(&buckets, total));
    Ok(Found {
        model: RttModel::Quantiles(rows),
        notes,
    })
}

/// A warning where most observations are in one bucket, wider than a factor of two.
fn coarse(buckets: &[(usize, Bucket)], total: f64) -> Option<(String, &'static str)> {
    let (mut below, mut lower) = (0.0, Picos::ZERO);
    for (_, bucket) in buckets {
        let upper = bucket.le?;
        let part = (bucket.count - below) / total;
        if part > MOST && upper.0 / 2 > lower.0 {
            let upper = span(upper);
            let (lower, unknown) = match lower {
                Picos::ZERO => ("0".to_owned(), format!("below {upper}")),
                _ => (span(lower), "between them".to_owned()),
            };
            let note = format!(
                "{:.0} % of {total} observations lie between {lower} and {upper}: nothing is known \
                 {unknown}, and RTTs are spread evenly there",
                part * 100.0
            );
            return Some((note, "measure with smaller buckets, or write another model"));
        }
        (below, lower) = (bucket.count, upper);
    }
    None
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
    match ask.series {
        Series::One => one(series, ask),
        Series::Sum => one(sums(series)?, ask),
    }
}

/// A metric, and its other labels.
type Key = (String, String);

/// The series of each metric as one: the counts at each bound are added. All must have the same
/// bounds.
fn sums(
    series: BTreeMap<Key, Vec<(usize, Bucket)>>,
) -> Result<BTreeMap<Key, Vec<(usize, Bucket)>>, Trouble> {
    let mut all: BTreeMap<Key, Vec<(usize, Bucket)>> = BTreeMap::new();
    for ((name, labels), buckets) in series {
        let Some(sum) = all.get_mut(&(name.clone(), String::new())) else {
            all.insert((name, String::new()), buckets);
            continue;
        };
        let bounds = |list: &[(usize, Bucket)]| list.iter().map(|b| b.1.le).collect::<Vec<_>>();
        if bounds(sum) != bounds(&buckets) {
            let line = buckets.first().map_or(1, |bucket| bucket.0);
            let what = format!("`{name}{{{labels}}}` has other bounds than the series before it");
            let help = "series are added bound by bound: keep those with the same `le`";
            return Err(Trouble::new(what, help).at(line));
        }
        for ((_, into), (_, more)) in sum.iter_mut().zip(buckets) {
            into.count += more.count;
        }
    }
    Ok(all)
}

/// The buckets of the one histogram that there is.
fn one(mut series: BTreeMap<Key, Vec<(usize, Bucket)>>, ask: &Ask) -> Result<Found, Trouble> {
    let shown = |(name, labels): &(String, String)| format!("`{name}{{{labels}}}`");
    match (series.pop_first(), series.last_key_value()) {
        (Some((_, buckets)), None) => model(buckets),
        (None, _) => Err(Trouble::new(
            "it has no buckets of that name".to_owned(),
            "write the name of a metric of the file as `column`, without _bucket",
        )),
        (Some((first, _)), Some((last, _))) => {
            let help = match first.0 == last.0 {
                true => {
                    "keep the lines of one, or write series = \"sum\" in [rtt], which adds their \
                         counts"
                        .to_owned()
                }
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
