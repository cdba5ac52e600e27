// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[rtt]`: the base RTT of a flow.

use cemark_sim::workload::{RTT_CASES, RttModel};
use cemark_wire::Picos;

use crate::error::{At, Fallible, Fault, alike, fold, near};
use crate::key::{Key, Words, keys, word_of, words};
use crate::rtts::FILE_KEYS;
use crate::section::{Section, fraction, list, time};
use crate::sections::{Form, SectionSpec};
use crate::sizes::Tables;
use crate::sweep::Axis;
use crate::tree::{Node, Table, Value};

pub(crate) static RTT: SectionSpec = SectionSpec::new(
    "rtt",
    Form::Table,
    &[KEYS, FILE_KEYS],
    "The base RTT of a flow, drawn once for its life.",
)
.chosen_by("model");

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Model {
    Path,
    Fixed,
    Variation,
    Measured,
    Fitted,
    Quantiles,
    Lognormal,
    Classes,
    BySender,
    Samples,
}

words! { Model:
    "path" => Model::Path,
    "fixed" => Model::Fixed,
    "variation" => Model::Variation,
    "measured" => Model::Measured,
    "fitted" => Model::Fitted,
    "quantiles" => Model::Quantiles,
    "lognormal" => Model::Lognormal,
    "classes" => Model::Classes,
    "by-sender" => Model::BySender,
    "samples" => Model::Samples,
}

keys! { KEYS:
    MODEL: Model = Key::choice("model").usual("path").doc(
        "`path`: what the path gives. `fixed`: the same for all. `variation`: min + (max - min) x \
         min(Exp(0.38), 1), the shape of ECN#, for 80 to 240 us mean 136 and 90th percentile 220. \
         `measured`: a row of ECN# Table 1 as a table of quantiles. `fitted`: the same rows as \
         shifted lognormals (smooth, up to 4 % off). `quantiles`: a table of your own, linear \
         between its rows. `lognormal`: loc + exp(N(mu, sigma)) microseconds. `classes`: one of a \
         list, each equally likely. `by-sender`: host i has number i of the list, and hosts \
         beyond its end begin again. `samples`: drawn from the measured RTTs of a file (below)",
    );
    FIXED: Picos = Key::time("rtt").only(&["fixed"]).needed("100us").doc("the RTT of every flow");
    MIN: Picos = Key::time("min").only(&["variation"]).needed("80us").doc("the smallest RTT");
    MAX: Picos = Key::time("max").only(&["variation"]).needed("240us").doc("the largest RTT");
    CASE: String = Key::text("case").only(&["measured", "fitted"]).needed("slb").doc(
        "`stack`, `slb`, `hypervisor`, `slb-hypervisor` or `high-load`",
    );
    TABLE: Node = Key::own(
        "table",
        "rows of a probability and an RTT",
        r#"{"type":"array","minItems":2,"items":{"type":"array","minItems":2,"maxItems":2}}"#,
    )
    .only(&["quantiles"])
    .needed("[[0, \"17us\"], [0.9, \"59us\"], [1, \"106us\"]]")
    .doc("the quantiles, rising, the last one at probability 1");
    LOC: f64 = Key::number("loc", -1e6, 1e6).only(&["lognormal"]).needed("15.39")
        .doc("the shift in microseconds");
    MU: f64 = Key::number("mu", -20.0, 20.0).only(&["lognormal"]).needed("3.8088")
        .doc("mean of the logarithm");
    SIGMA: f64 = Key::number("sigma", 0.0, 10.0).only(&["lognormal"]).needed("0.3662")
        .doc("standard deviation of the logarithm");
    FLOOR: Picos = Key::time("floor").only(&["lognormal"]).usual("0").doc("no RTT is below this");
    VALUES: Node = Key::own("values", "a list of times", r#"{"type":"array","minItems":1}"#)
        .only(&["classes", "by-sender"])
        .needed("[\"82us\", \"140us\"]")
        .doc("the RTTs to choose from; those of host 0, 1, ...");
    SYN: bool = Key::flag("syn").usual("true").doc(
        "the delay that is added to a flow's data applies to its SYN too; `false`: a handshake \
         takes the RTT of the path alone",
    );
}

/// Refuses keys and axes of `[rtt]` that no model of the scenario has, since no model would read
/// their values. `set` are the paths that the command line names; where the command line names
/// another model, the keys of the model in the file go with that.
pub(crate) fn keep_to_model(root: &mut Table, axes: &[Axis], set: &[String]) -> Fallible<()> {
    let path = |name: &str| fold(&format!("{}.{name}", RTT.name));
    let swept = |name: &str| axes.iter().find(|axis| fold(&axis.path) == path(name));
    let given = |name: &str| set.iter().any(|set| fold(set) == path(name));
    let Some(table) = root.get_mut(RTT.name).map(|entry| &mut entry.node.value) else {
        return foreign(&[word_of(&Model::Path)], axes);
    };
    let Value::Table(table) = table else {
        return Ok(());
    };
    let models: Vec<&str> = match (swept(MODEL.spec.name), table.get(MODEL.spec.name)) {
        (Some(axis), _) => axis.values.iter().filter_map(known).collect(),
        (None, Some(entry)) => known(&entry.node).into_iter().collect(),
        (None, None) => vec![word_of(&Model::Path)],
    };
    if models.is_empty() {
        return Ok(());
    }
    let other = |key: &str| is_other(key, &models) && swept(key).is_none();
    if given(MODEL.spec.name) {
        let named: Vec<bool> = table.0.iter().map(|entry| given(&entry.key)).collect();
        let mut named = named.into_iter();
        table
            .0
            .retain(|entry| named.next() == Some(true) || !other(&entry.key));
    }
    if let Some(entry) = table.0.iter().find(|entry| is_other(&entry.key, &models)) {
        return Err(not_of(&entry.key, entry.at, &models));
    }
    foreign(&models, axes)
}

/// Fails on an axis of a key that none of the models has.
fn foreign(models: &[&str], axes: &[Axis]) -> Fallible<()> {
    for axis in axes {
        let parts = axis.path.split_once('.');
        let key = parts.filter(|(section, _)| alike(section, RTT.name));
        if let Some((_, key)) = key.filter(|(_, key)| is_other(key, models)) {
            return Err(not_of(key, axis.at, models));
        }
    }
    Ok(())
}

/// The model that a value names.
fn known(node: &Node) -> Option<&'static str> {
    let Value::Text(written) = &node.value else {
        return None;
    };
    let mut words = Model::words().into_iter().map(|(word, _)| word);
    words.find(|word| alike(word, written))
}

/// Whether a key is one of models, and of none of these.
fn is_other(key: &str, models: &[&str]) -> bool {
    let spec = RTT.keys().find(|spec| alike(spec.name, key));
    spec.is_some_and(|spec| {
        !spec.only.is_empty() && !spec.only.iter().any(|model| models.contains(model))
    })
}

fn not_of(key: &str, at: At, models: &[&str]) -> Box<Fault> {
    let spec = RTT.keys().find(|spec| alike(spec.name, key));
    let quoted = |models: &[&str]| {
        let models = models.iter().map(|model| format!("\"{model}\""));
        models.collect::<Vec<_>>().join(" or ")
    };
    let own = quoted(spec.map_or(&[], |spec| spec.only));
    let message = format!(
        "unknown key `{key}` under model = {} in [rtt]",
        quoted(models)
    );
    Fault::new(at, message).label("not known").help(format!(
        "it belongs to model = {own}: write that model, or leave `{key}` out"
    ))
}

/// The base RTTs, and whether what they add to a path applies to SYNs.
pub(crate) fn rtt(root: &Table, files: &mut Tables) -> Fallible<(RttModel, bool)> {
    let mut s = Section::of(root, &RTT)?;
    let syn = s.read(&SYN)?;
    let kind = s.read(&MODEL)?;
    let model = match kind {
        Model::Path => RttModel::Path,
        Model::Fixed => RttModel::Fixed(s.read(&FIXED)?),
        Model::Variation => {
            let (lo, hi) = (s.read(&MIN)?, s.read(&MAX)?);
            if hi < lo {
                let at = s.need(&MAX)?.at;
                return Err(Fault::new(at, "the largest RTT is below the smallest")
                    .help("swap min and max"));
            }
            RttModel::Variation { lo, hi }
        }
        Model::Measured => table_1(&mut s, RttModel::measured)?,
        Model::Fitted => table_1(&mut s, RttModel::fitted)?,
        Model::Quantiles => RttModel::Quantiles(quantiles(s.need(&TABLE)?)?),
        Model::Lognormal => RttModel::Lognormal {
            loc: s.read(&LOC)?,
            mu: s.read(&MU)?,
            sigma: s.read(&SIGMA)?,
            floor: s.read(&FLOOR)?,
        },
        Model::Classes | Model::BySender => {
            let node = s.need(&VALUES)?;
            let values = list(node)?.iter().map(time).collect::<Fallible<Vec<_>>>()?;
            if values.is_empty() {
                return Err(Fault::new(node.at, "no RTT to choose from")
                    .help("write values = [\"82us\", \"140us\"]"));
            }
            match kind {
                Model::BySender => RttModel::BySender(values),
                _ => RttModel::Classes(values),
            }
        }
        Model::Samples => files.rtts(&mut s)?,
    };
    s.allow_every_kind();
    s.finish()?;
    Ok((model, syn))
}

/// A row of ECN# Table 1.
fn table_1(s: &mut Section<'_>, model: fn(&str) -> Option<RttModel>) -> Fallible<RttModel> {
    let case = s.read(&CASE)?;
    let at = s.need(&CASE)?.at;
    model(&case).ok_or_else(|| {
        Fault::new(at, format!("`{case}` is not a row of ECN# Table 1"))
            .help(near(&case, RTT_CASES.iter().copied()))
    })
}

fn quantiles(node: &Node) -> Fallible<Vec<(f64, Picos)>> {
    let mut rows: Vec<(f64, Picos)> = Vec::new();
    for row in list(node)? {
        let [p, rtt] = list(row)? else {
            return Err(Fault::new(row.at, "a row has two columns")
                .help("write [0.9, \"59us\"]: probability and RTT"));
        };
        let (at, p, rtt) = (row.at, fraction(p)?, time(rtt)?);
        if rows
            .last()
            .is_some_and(|before| p < before.0 || rtt < before.1)
        {
            return Err(Fault::new(at, "this row is below the one before")
                .help("sort the rows; neither column may fall"));
        }
        rows.push((p, rtt));
    }
    if rows.len() < 2 || rows.last().is_some_and(|last| last.0 != 1.0) {
        return Err(Fault::new(
            node.at,
            "the table must have two rows or more and end at probability 1",
        ));
    }
    Ok(rows)
}
