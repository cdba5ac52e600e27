// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark doctor --expect`: the marks that a profile must show on a tester.

use std::fmt::Write as _;

use cemark_platform::{Curve, Expectation, Hook, Profile, Switch, expect};
use cemark_report::text::aligned;
use serde_json::{Value, json};

use super::{Form, text::shown};
use crate::exit::{Failure, answer_json, user};

/// Packets of a burst above those that fill the queue up to the upper threshold.
const BEYOND: u64 = 10;
/// Most packets of a burst.
const MOST: u64 = 10_000_000;
/// Most profiles that are shown.
const MOST_PROFILES: usize = 4_096;

/// A profile with thresholds in bytes: its name, the ends in bytes, the height from 0 to 1.
struct Shape {
    name: String,
    min: u64,
    max: u64,
    height: f64,
}

pub(super) fn answer(
    switches: &[Switch],
    packet: u64,
    burst: Option<u64>,
    hooks: &[Hook],
    format: Form,
) -> Result<(), Failure> {
    let all = switches.iter().flat_map(|switch| {
        let profiles = switch.profiles.values();
        profiles.flat_map(move |profile| shapes(&switch.part, profile))
    });
    let shapes: Vec<Shape> = all.take(MOST_PROFILES).collect();
    if shapes.is_empty() {
        return Err(user(
            "no profile marks between thresholds in bytes",
            "leave --expect out to see why; thresholds in percent or time have no curve over bytes",
        ));
    }
    let mut rows = Vec::new();
    for shape in &shapes {
        let count = burst.unwrap_or((shape.max / packet).saturating_add(BEYOND));
        if !(1..=MOST).contains(&count) {
            return Err(user(
                format!("a burst of {count} packets is none that a tester sends"),
                format!("write --burst with 1 to {MOST} packets, or a larger --packet"),
            ));
        }
        for hook in hooks {
            let ends = (shape.min, shape.max, shape.height);
            rows.push((shape, *hook, expect(ends, packet, count, *hook)));
        }
    }
    match format {
        Form::Text => crate::exit::answer(&text(&shapes, packet, &rows)),
        Form::Json => answer_json(&document(packet, &rows)),
        Form::Sarif => Err(user(
            "SARIF has findings, and --expect has none",
            "write --format json",
        )),
    }
}

fn shapes(part: &str, profile: &Profile) -> Vec<Shape> {
    let of = |curve: &Curve| {
        let (_, min, _, max) = curve.bytes().filter(|_| curve.marks())?;
        let words = [part, &profile.name, curve.colour];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        (min <= max).then(|| Shape {
            name: shown(&words.join(" ")),
            min,
            max,
            height: curve.height(),
        })
    };
    profile.curves.iter().filter_map(of).collect()
}

/// Word of a hook.
fn word(hook: Hook) -> &'static str {
    match hook {
        Hook::Enqueue => "enqueue",
        Hook::Dequeue => "dequeue",
    }
}

fn text(shapes: &[Shape], packet: u64, rows: &[(&Shape, Hook, Expectation)]) -> String {
    let mut out = String::from("marking probability by queue length\n");
    for shape in shapes {
        let (low, high) = (shape.min, shape.max);
        let height = shape.height * 100.0;
        let _ = match low == high {
            true => writeln!(out, "  {}: 0 up to {low} B, 100 % above", shape.name),
            false => writeln!(
                out,
                "  {}: 0 up to {low} B, {:.4} % for each packet of {packet} B above, {height} % \
                 at {high} B, 100 % above",
                shape.name,
                height * packet as f64 / (high - low) as f64,
            ),
        };
    }
    let _ = write!(
        out,
        "\nmarks of a burst of {packet} B packets into a paused port, all ECN-capable, none \
         dropped\n\n"
    );
    let head = [
        "profile",
        "judged at",
        "packets",
        "surely marked",
        "marked",
        "± 3 sigma",
    ];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for (shape, hook, e) in rows {
        table.push(vec![
            shape.name.clone(),
            word(*hook).to_owned(),
            e.packets.to_string(),
            e.certain.to_string(),
            format!("{:.1}", e.mean),
            format!("{:.1}", 3.0 * e.deviation),
        ]);
    }
    out += &aligned(&table, |column| column > 1);
    out
}

fn document(packet: u64, rows: &[(&Shape, Hook, Expectation)]) -> Value {
    let rows = rows.iter().map(|(shape, hook, e)| {
        json!({
            "profile": shape.name,
            "min_bytes": shape.min,
            "max_bytes": shape.max,
            "probability_at_max": shape.height,
            "judged_at": word(*hook),
            "packet_bytes": packet,
            "packets": e.packets,
            "surely_marked": e.certain,
            "marked_mean": e.mean,
            "marked_deviation": e.deviation,
        })
    });
    Value::Array(rows.collect())
}
