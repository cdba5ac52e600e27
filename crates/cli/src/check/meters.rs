// SPDX-License-Identifier: MIT OR Apache-2.0
//! The headroom and XOFF of flow control that `cemark check` prints: the meters of a run, as the
//! simulator lays them out.

use cemark_report::text::{folded, wrap};
use cemark_report::units;
use cemark_scenario::{Plan, visible};
use cemark_sim::config::Xoff;
use cemark_sim::{Config, Meters, meters};
use serde::Serialize;

use crate::terminal::look;

/// Parts of the factor 1.
const ONE: f64 = 65_536.0;

/// The flow control of points that have the same.
#[derive(Serialize)]
pub(super) struct FlowControl {
    points: usize,
    lossless_queues: usize,
    /// The factor of the free pool; none for a fixed XOFF.
    alpha: Option<f64>,
    xon_offset_bytes: u32,
    links: Vec<LinkMeters>,
}

/// Links with meters that are alike.
#[derive(Serialize, PartialEq)]
struct LinkMeters {
    first: String,
    links: usize,
    rate_bps: u64,
    delay_us: f64,
    headroom_bytes: u32,
    xoff_bytes: u32,
    pool_bytes: u32,
    switch_headroom_bytes: u32,
}

impl From<Meters> for LinkMeters {
    fn from(m: Meters) -> LinkMeters {
        LinkMeters {
            first: m.first,
            links: m.links,
            rate_bps: m.rate.0,
            delay_us: m.delay.as_micros_f64(),
            headroom_bytes: m.headroom,
            xoff_bytes: m.xoff,
            pool_bytes: m.shared,
            switch_headroom_bytes: m.reserved,
        }
    }
}

impl FlowControl {
    fn of(config: &Config, points: usize) -> Option<FlowControl> {
        let pfc = config.switch.pfc.as_ref()?;
        let lossless = config.switch.queues.iter().filter(|q| q.lossless);
        Some(FlowControl {
            points,
            lossless_queues: lossless.count(),
            alpha: match pfc.xoff {
                Xoff::Bytes(_) => None,
                Xoff::Dynamic { alpha } | Xoff::Filtered { alpha, .. } => {
                    Some(f64::from(alpha) / ONE)
                }
            },
            xon_offset_bytes: pfc.xon_offset,
            links: meters(config).into_iter().map(LinkMeters::from).collect(),
        })
    }

    fn is_like(&self, other: &FlowControl) -> bool {
        let rule = |f: &FlowControl| (f.lossless_queues, f.alpha, f.xon_offset_bytes);
        rule(self) == rule(other) && self.links == other.links
    }

    fn text(&self, all: usize) -> String {
        let xoff = match self.alpha {
            Some(alpha) => format!("{} of the free pool", units::number(alpha)),
            None => "a fixed length".to_owned(),
        };
        let queues = match self.lossless_queues {
            1 => "1 lossless queue".to_owned(),
            n => format!("{n} lossless queues"),
        };
        let points = match self.points {
            points if points == all => String::new(),
            points => format!(" ({points} of {all} points)"),
        };
        let names = [
            "links",
            "first",
            "rate",
            "delay",
            "headroom a queue",
            "XOFF, empty pool",
            "pool",
            "headroom of the switch",
        ];
        let mut rows = vec![names.map(str::to_owned).to_vec()];
        rows.extend(self.links.iter().map(|link| {
            vec![
                link.links.to_string(),
                visible(&link.first).into_owned(),
                units::bits_per_second(link.rate_bps as f64),
                units::micros(link.delay_us),
                format!("{} B", link.headroom_bytes),
                format!("{} B", link.xoff_bytes),
                format!("{} B", link.pool_bytes),
                format!("{} B", link.switch_headroom_bytes),
            ]
        }));
        format!(
            "\n{}\n{}",
            wrap(
                &format!(
                    "Flow control: XOFF is {xoff}, XON {} B below; {queues}{points}",
                    self.xon_offset_bytes
                ),
                look().width
            ),
            folded(&rows, 2, look().width, |_| false)
        )
    }
}

/// Each flow control of a plan once, in the order of its points. `settings`: a configuration of
/// each scheme and value of the axes, and the number of its points.
pub(super) fn of<'a>(settings: impl Iterator<Item = (&'a Config, usize)>) -> Vec<FlowControl> {
    let mut found: Vec<FlowControl> = Vec::new();
    for one in settings.filter_map(|(config, points)| FlowControl::of(config, points)) {
        match found.iter_mut().find(|known| known.is_like(&one)) {
            Some(known) => known.points += one.points,
            None => found.push(one),
        }
    }
    found
}

/// A table for each flow control of a plan.
pub(super) fn text(all: &[FlowControl], plan: &Plan) -> String {
    all.iter().map(|one| one.text(plan.points.len())).collect()
}
