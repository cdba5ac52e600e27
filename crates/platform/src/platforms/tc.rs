// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linux: `tc -j qdisc show`. Times are microseconds, RED's lengths bytes.
//!
//! RED, GRED, CHOKe and netem say `ecn` as true or false; CoDel and PIE in all forms have `ecn`
//! where it is on and no such key where it is off. CAKE and DualPI2 always mark.

use cemark_formats::Fault;

use super::{Fix, Platform, at};
use crate::document::Document;
use crate::model::{Curve, Length, Port, Profile, Queue, Said, Switch};
use crate::place::{At, Place};
use crate::text::json::{Json, Value};

/// Most qdiscs of a file.
const MOST: usize = 65_536;

/// Device of qdiscs that were asked for by `dev NAME`.
const UNNAMED: &str = "the device";

/// Linux qdiscs.
pub(crate) struct Tc;

impl Platform for Tc {
    fn name(&self) -> &'static str {
        "tc"
    }

    fn title(&self) -> &'static str {
        "Linux"
    }

    fn reads(&self) -> &'static str {
        "`tc -j -d qdisc show` of Linux"
    }

    fn marks(&self, document: &Document) -> usize {
        let qdisc = |json: &Json| json.get("kind").is_some() && json.get("handle").is_some();
        let all = document.json().map_or(&[][..], Json::elements);
        usize::from(all.first().is_some_and(qdisc))
    }

    fn read(&self, documents: &[&Document]) -> Result<Vec<Switch>, (usize, Fault)> {
        let mut switch = Switch::new();
        switch.says_pauses = false;
        for (file, document) in documents.iter().enumerate() {
            let all = document.json().map_or(&[][..], Json::elements);
            if all.len() > MOST {
                let message = format!("the file has more than {MOST} qdiscs");
                return at(
                    file,
                    Err(Fault::whole(message, "name the device: `dev NAME`")),
                );
            }
            for (index, json) in all.iter().enumerate() {
                at(file, qdisc(&mut switch, file, index, json))?;
            }
        }
        Ok(vec![switch])
    }

    fn remedy(&self, fix: &Fix) -> String {
        let change = |profile: &str, words: &str| {
            // `red handle 8001: of eth0`, `fq_codel parent :1 of the device`
            let (what, device) = profile.split_once(" of ").unwrap_or((profile, UNNAMED));
            let (kind, place) = what.split_once(' ').unwrap_or((what, "root"));
            let device = if device == UNNAMED { "DEVICE" } else { device };
            let verb = if place.starts_with("handle") {
                "change"
            } else {
                "replace"
            };
            // RED takes its lengths with every change.
            let words = match kind {
                "red" | "gred" | "choke" => format!("LENGTHS {words}"),
                _ => words.to_owned(),
            };
            format!("tc qdisc {verb} dev {device} {place} {kind} {words}")
        };
        match fix {
            Fix::Enable(profile) | Fix::Mark(profile) => change(profile, "ecn"),
            Fix::Thresholds(profile, min, max) => match (min.bytes(), max.bytes()) {
                (Some(min), Some(max)) => change(profile, &format!("min {min} max {max} ecn")),
                _ => change(profile, "min BYTES max BYTES ecn"),
            },
            Fix::Probability(profile, percent) => change(
                profile,
                &format!("probability {} ecn", *percent as f64 / 100.0),
            ),
            Fix::Bind { .. } | Fix::Define(_) => {
                "tc qdisc replace dev DEVICE root fq_codel ecn".to_owned()
            }
            Fix::Classify { .. } => "a filter of `tc filter` that matches the DSCP".to_owned(),
            Fix::Pause { .. } => "dcb pfc set dev DEVICE prio-pfc PRIORITY:on".to_owned(),
            Fix::Instantaneous(profile) => change(profile, "with the smallest `burst` ecn"),
            Fix::Write(words) => words.clone(),
        }
    }
}

fn qdisc(
    switch: &mut Switch,
    file: usize,
    index: usize,
    json: &Json,
) -> cemark_formats::Fallible<()> {
    let word = |name: &str| json.get(name).and_then(Json::word);
    let Some(kind) = word("kind") else {
        return Err(Fault::at(
            json.line as usize,
            "a qdisc has no `kind`",
            "name what `tc -j -d qdisc show` wrote",
        ));
    };
    let device = word("dev").unwrap_or(UNNAMED);
    let place = Place::new(file, json.line, format!("{device} {kind}"));
    switch
        .ports
        .entry(device.to_owned())
        .or_insert_with(|| Port {
            place: place.clone(),
            ..Port::default()
        });
    // Without options a qdisc has its defaults.
    let none = Json {
        line: json.line,
        value: Value::Null,
    };
    let options = json.get("options").unwrap_or(&none);
    // Qdiscs that the kernel makes below mq and mqprio have no handle of their own.
    let handle = match (word("handle").unwrap_or_default(), word("parent")) {
        ("0:", Some(parent)) => format!("parent {parent}"),
        (handle, _) => format!("handle {handle}"),
    };
    let name = format!("{kind} {handle} of {device}");
    let Some(curve) = curve(kind, options, &place) else {
        *switch.unread.entry(kind.to_owned()).or_default() += 1;
        return Ok(());
    };
    let mut profile = Profile::new(name.clone(), place.clone());
    profile.curves.push(curve);
    switch.define(profile);
    switch.bind(Queue {
        port: device.to_owned(),
        index: (index % 256) as u8,
        profile: Some(At::new(name, place.clone())),
        place,
    });
    Ok(())
}

/// The curve of a qdisc that can mark; of another one none.
fn curve(kind: &str, options: &Json, place: &Place) -> Option<Curve> {
    let said = |holds: bool, how: &str| Said::new(holds, place.clone(), how);
    let acts = said(true, "a qdisc acts");
    let field = |name: &str| {
        let json = options.get(name)?;
        Some(At::new(json.number()?, place.below(json.line, " ", name)))
    };
    let length = |name: &str, unit: fn(u64) -> Length| {
        let at = field(name)?;
        Some(At::new(unit(at.value as u64), at.place))
    };
    let flag = options.get("ecn").and_then(Json::truth);
    let ecn = match flag {
        Some(on) => said(on, if on { "`ecn` is on" } else { "`ecn` is off" }),
        None => said(false, "`ecn` is absent, and absent means off"),
    };
    let mut curve = Curve::new(acts, ecn);
    let micros = |us: u64| Length::Nanos(us.saturating_mul(1_000));
    match kind {
        "red" => {
            curve.min = length("min", Length::Bytes);
            curve.max = length("max", Length::Bytes);
            curve.probability = field("probability").map(|p| At::new(p.value * 100.0, p.place));
        }
        "choke" => {
            curve.min = length("min", Length::Packets);
            curve.max = length("max", Length::Packets);
        }
        "gred" | "pie" | "fq_pie" => {}
        "codel" | "fq_codel" => {
            curve.min = length("ce_threshold", micros);
            curve.max = curve.min.clone();
        }
        "fq" => {
            curve.min = Some(length("ce_threshold", micros)?);
            curve.max = curve.min.clone();
            curve.ecn = said(true, "`ce_threshold` is given");
        }
        "cake" | "dualpi2" | "cemark" => curve.ecn = said(true, "the qdisc always marks"),
        "sfq" if flag == Some(true) => {}
        _ => return None,
    }
    Some(curve)
}
