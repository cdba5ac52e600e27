// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thresholds of each class by every rule that applies.

use std::fmt::Write as _;

use cemark_report::text::{aligned, hang};
use serde_json::{Value, json};

use crate::init::{Numbers, Parts};
use crate::quantity::{length, rate, time};
use crate::terminal::look;
use crate::thresholds::Curve;

/// Curves by class, the choice first.
pub(super) struct Thresholds {
    rate: u64,
    uplink: Option<u64>,
    rtt: Numbers,
    fabric: String,
    classes: Vec<(String, &'static str, Vec<Curve>)>,
}

impl Thresholds {
    pub fn of(parts: &Parts<'_>, rtt: &Numbers) -> Thresholds {
        let of = |class: &crate::init::Class| {
            (class.name.clone(), class.control, parts.curves(class, rtt))
        };
        Thresholds {
            rate: parts.rate(),
            uplink: parts.uplink(),
            rtt: *rtt,
            fabric: parts.words().to_owned(),
            classes: parts.classes().iter().map(of).collect(),
        }
    }

    /// A table a class.
    pub fn text(&self) -> String {
        let width = look().width;
        let mut out = format!(
            "Thresholds at ports of {}; base RTTs: mean {}, p90 {}, largest {}\n",
            rate(self.rate),
            time(self.rtt.mean),
            time(self.rtt.tail),
            time(self.rtt.largest)
        );
        if let Some(uplink) = self.uplink {
            let _ = writeln!(
                out,
                "Uplinks of {}: rules by the rate (*) times {}",
                rate(uplink),
                uplink as f64 / self.rate as f64
            );
        }
        for (name, control, curves) in &self.classes {
            let _ = writeln!(out, "\n{name} ({control})");
            let mut rows = vec![["rule", "lower", "upper", "probability", ""].map(str::to_owned)];
            rows.extend(curves.iter().enumerate().map(|(i, curve)| {
                let words = [
                    (i == 0, "the choice"),
                    (curve.capped, "limited by the buffer"),
                ];
                let words = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
                [
                    format!("{}{}", curve.name, if curve.by_rate { " *" } else { "" }),
                    length(curve.low),
                    length(curve.high),
                    format!("{} %", curve.height as f64 / 10.0),
                    words.collect::<Vec<_>>().join(", "),
                ]
            }));
            let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
            out += &aligned(&rows, |column| (1..4).contains(&column));
            let source = curves.first().map(|choice| choice.source.as_str());
            let _ = writeln!(
                out,
                "choice  {}",
                hang(source.unwrap_or_default(), width, 8)
            );
        }
        let _ = writeln!(out, "\nsimulated on {}", self.fabric);
        out
    }

    pub fn json(&self) -> Value {
        let curve = |curve: &Curve| {
            json!({
                "rule": curve.name,
                "source": curve.source,
                "low_bytes": curve.low,
                "high_bytes": curve.high,
                "probability_percent": curve.height as f64 / 10.0,
                "by_rate": curve.by_rate,
                "limited_by_buffer": curve.capped,
            })
        };
        let classes = self.classes.iter().map(|(name, control, curves)| {
            json!({
                "class": name,
                "controller": control,
                "curves": curves.iter().map(curve).collect::<Vec<_>>(),
            })
        });
        json!({
            "rate_bps": self.rate,
            "uplink_bps": self.uplink,
            "rtt_us": {
                "mean": self.rtt.mean as f64 / 1e6,
                "p90": self.rtt.tail as f64 / 1e6,
                "largest": self.rtt.largest as f64 / 1e6,
            },
            "fabric": self.fabric,
            "classes": classes.collect::<Vec<_>>(),
        })
    }
}
