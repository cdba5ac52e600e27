// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[precision]`: how narrow the intervals are to be, instead of a number of seeds.

use crate::error::{At, Fallible, Fault, Texts, fold, near};
use crate::key::{Key, keys};
use crate::plan::Precision;
use crate::read::Overrides;
use crate::section::{Section, count, list, text, wrong};
use crate::sections::{Form, SectionSpec};
use crate::top;
use crate::tree::{Node, Table, Value, bare};

pub(crate) static PRECISION: SectionSpec = SectionSpec::new(
    "precision",
    Form::Table,
    &[KEYS],
    "How narrow the intervals are to be; replications are added until they are.",
);

/// The narrowest and the widest half of an interval that can be asked for, in percentage points.
const WITHIN: (f64, f64) = (0.1, 100.0);
/// The most replications: as far as the looks are fixed (`stats::sequential` of `cemark-report`).
pub(crate) const MOST: u64 = 256;

keys! { KEYS:
    WITHIN_KEY: Node = Key::own(
        "within",
        "0.1 to 100 percentage points",
        r#"{"anyOf":[{"type":"number","minimum":0.1,"maximum":100},
            {"type":"string","pattern":"^ *[0-9.]+ *%? *$"}]}"#,
    )
    .needed("5")
    .doc(
        "half the width of the 95 % interval of every difference from the baseline: with 5, \
         -20 % is known to be between -25 and -15 %; `\"5 %\"` is the same",
    );
    METRICS: Node = Key::own(
        "metrics",
        "a list of metrics",
        r#"{"type":"array","items":{"type":"string"},"minItems":1}"#,
    )
    .follows("the means of short and large flows, or what was measured instead")
    .doc(
        "the [metrics](output.md#metrics) whose intervals decide: means, `queue.mean` or \
         `goodput`, no percentiles",
    );
    MOST_KEY: u32 = Key::count("most", 3, MOST).usual("64")
        .doc("after this many replications the run ends, however wide the intervals are");
}

/// The metrics that may decide. A percentile may not: it is known much later than a mean, and a
/// rare burst that a few replications happen to miss is in no interval.
const MAY_DECIDE: &[&str] = &[
    "overall.mean",
    "short.mean",
    "medium.mean",
    "large.mean",
    "queue.mean",
    "goodput",
    "probe.mean",
];

/// Takes `[precision]` out of the tree and reads it. `--precision` states one or changes it;
/// `--seed`, `--seeds`, `--set seeds` and `--full` switch it off.
pub(crate) fn precision(
    root: &mut Table,
    overrides: &Overrides,
    texts: &mut Texts,
) -> Fallible<Option<Precision>> {
    let mut table = root.take(PRECISION.name).map(|entry| entry.node);
    let wanted = match &overrides.precision {
        None => None,
        Some(written) => {
            let at = At {
                text: texts.0.len(),
                start: 0,
                end: written.len(),
            };
            texts.0.push(("--precision".to_owned(), written.clone()));
            Some(bare(written.trim(), at))
        }
    };
    if let Some(node) = &wanted {
        let table = table.get_or_insert_with(|| Node {
            value: Value::Table(Table::default()),
            at: node.at,
        });
        if let Value::Table(keys) = &mut table.value {
            keys.put(WITHIN_KEY.spec.name, node.clone());
        }
    }
    let Some(table) = table else {
        return Ok(None);
    };
    let mut s = Section::under(&table, &PRECISION)?;
    let precision = Precision {
        within: points(s.need(&WITHIN_KEY)?)?,
        metrics: s.node(&METRICS).map_or(Ok(Vec::new()), metrics)?,
        most: s.read(&MOST_KEY)?,
    };
    s.finish()?;
    match fixed_seeds(overrides) {
        None => Ok(Some(precision)),
        Some(option) if wanted.is_some() => Err(Fault::nowhere(format!(
            "--precision and {option} contradict each other"
        ))
        .help("leave one of them out: a precision decides how many seeds are run")),
        Some(_) => Ok(None),
    }
}

/// The option that says exactly what is run, if there is one.
fn fixed_seeds(overrides: &Overrides) -> Option<&'static str> {
    let set = || {
        let mut paths = overrides.set.iter().map(|(path, _)| fold(path));
        paths.any(|path| path == top::SEEDS.spec.name)
    };
    match overrides {
        Overrides { seed: Some(_), .. } => Some("--seed"),
        Overrides { seeds: Some(_), .. } => Some("--seeds"),
        Overrides { full: true, .. } => Some("--full"),
        _ => set().then_some("--set seeds"),
    }
}

/// Percentage points: a number, or a text with `%`.
fn points(node: &Node) -> Fallible<f64> {
    let help = || {
        let (least, most) = WITHIN;
        format!("write percentage points, {least} to {most}: 5, or \"5 %\"")
    };
    let n = match &node.value {
        Value::Integer(n) => *n as f64,
        Value::Float(x, _) => *x,
        Value::Text(text) => {
            let number = text.trim().trim_end_matches('%').trim();
            number.parse().map_err(|_| {
                Fault::new(node.at, format!("`{text}` is not a precision")).help(help())
            })?
        }
        _ => return Err(wrong(node, "a number").help(help())),
    };
    // Written so that NaN fails too.
    if n >= WITHIN.0 && n <= WITHIN.1 {
        return Ok(n);
    }
    Err(Fault::new(
        node.at,
        format!("a precision of {n} points is out of range"),
    )
    .help(help()))
}

fn metrics(node: &Node) -> Fallible<Vec<String>> {
    let mut found = Vec::new();
    for item in
        list(node).map_err(|f| f.help("write metrics = [\"short.mean\", \"large.mean\"]"))?
    {
        let written = text(item)?;
        if !MAY_DECIDE.contains(&written) {
            let why = match written.rsplit('.').next() {
                Some("p50" | "p95" | "p99") => {
                    format!("`{written}` is a percentile, which cannot decide when a run ends")
                }
                _ => format!("`{written}` cannot decide when a run ends"),
            };
            return Err(Fault::new(item.at, why).help(near(written, MAY_DECIDE.iter().copied())));
        }
        if found.iter().any(|m| m == written) {
            return Err(Fault::new(item.at, "this metric is listed twice").help("remove one"));
        }
        found.push(written.to_owned());
    }
    if found.is_empty() {
        return Err(Fault::new(node.at, "no metric decides")
            .help("write metrics = [\"short.mean\"], or leave the key out"));
    }
    Ok(found)
}

/// The seeds of the replications: `most` from the first one on. A file that states a precision may
/// name the first seed, as a list of one.
pub(crate) fn seeds(
    precision: &Precision,
    root: &Table,
    overrides: &Overrides,
) -> Fallible<Vec<u64>> {
    let most = u64::from(precision.most);
    let from = |first: u64| Ok((first..first + most).collect());
    let Some(entry) = root.get(top::SEEDS.spec.name) else {
        return from(1);
    };
    // Other scenarios keep their first seed under --precision.
    let stated_by_file = overrides.precision.is_none();
    match &entry.node.value {
        Value::List(nodes) if nodes.len() == 1 || !stated_by_file => match nodes.first() {
            Some(first) => from(count(first, (0, top::LARGEST_SEED - most))?),
            None => from(1),
        },
        _ if !stated_by_file => from(1),
        _ => Err(Fault::new(
            entry.node.at,
            "[precision] decides how many seeds are run, so `seeds` cannot",
        )
        .help(
            "leave seeds out, or name the first one: seeds = [1]; or leave [precision] out and \
             run exactly these",
        )),
    }
}

/// `[precision]` as TOML has it, for the manifest.
pub(crate) fn written(precision: &Precision) -> Node {
    let node = |value| Node {
        value,
        at: At::default(),
    };
    let mut keys = Table::default();
    let within = Value::Float(precision.within, precision.within.to_string());
    keys.put(WITHIN_KEY.spec.name, node(within));
    if !precision.metrics.is_empty() {
        let metrics = precision.metrics.iter().cloned().map(Value::Text);
        let list = metrics.map(node).collect();
        keys.put(METRICS.spec.name, node(Value::List(list)));
    }
    keys.put(
        MOST_KEY.spec.name,
        node(Value::Integer(precision.most.into())),
    );
    node(Value::Table(keys))
}
