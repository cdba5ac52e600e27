// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts of the flows, queues and buffers of a figure, as runs and sweeps have them.

use cemark_report::by_port::Share;
use cemark_report::by_size::Buckets;
use cemark_report::chart;
use cemark_report::html::page::Picture;
use cemark_report::{Comparisons, Group};

use super::stored::Stored;

/// Charts of a figure's points that find room.
pub(super) struct Flows {
    pub(super) pictures: Vec<Picture>,
    /// Whether a chart found no room.
    pub(super) is_cut: bool,
}

/// Bytes of these charts on a page, and the figures among which they are still to be shared.
pub(super) struct Room {
    bytes: usize,
    figures: usize,
}

impl Room {
    /// The room on a page of this many figures: with the other charts, a page stays small enough
    /// for a browser and for mail.
    pub(super) fn of(figures: usize) -> Self {
        Room {
            bytes: 2_400_000,
            figures,
        }
    }

    /// The charts of the next figure, `None` where it has no points. Bytes that a figure leaves are
    /// for later ones. Schemes that nothing tells apart have no charts.
    pub(super) fn next(&mut self, stored: Option<&Stored>) -> Option<Flows> {
        let share = self.bytes / self.figures.max(1);
        self.figures = self.figures.saturating_sub(1);
        let stored = stored?;
        let (plan, finished) = (stored.plan.as_ref()?, &stored.finished);
        let mut left = share;
        let (mut pictures, mut is_cut) = (Vec::new(), false);
        let groups = Comparisons::grouped(plan, finished).groups;
        let differ = |g: &&Group| g.alike.is_none();
        for group in groups.iter().filter(differ) {
            let mut charts = chart::of_flows(plan, finished, group, &Buckets::Deciles);
            charts.extend(chart::of_ports(plan, finished, group, &Share::EACH));
            charts.extend(chart::of_queues(plan, finished, group));
            charts.extend(chart::of_buffers(plan, finished, group));
            for chart in charts {
                // Charts of several figures on a page have the same names.
                let picture = Picture::from(chart).of(&stored.id);
                match left.checked_sub(picture.size()) {
                    None => is_cut = true,
                    Some(rest) => {
                        left = rest;
                        pictures.push(picture);
                    }
                }
            }
            if is_cut {
                break;
            }
        }
        self.bytes -= share - left;
        Some(Flows { pictures, is_cut })
    }
}
