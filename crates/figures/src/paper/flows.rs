// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts of the flows, queues and buffers of a figure, as runs and sweeps have them.

use cemark_report::by_size::Buckets;
use cemark_report::chart;
use cemark_report::html::page::{Picture, fitting};
use cemark_report::{Comparisons, Group};

use super::stored::Stored;

/// Bytes of these charts on a page, of all figures together.
const ROOM: usize = 1_500_000;

/// Charts of a figure's points that find room.
pub(super) struct Flows {
    pub(super) pictures: Vec<Picture>,
    /// Whether a chart found no room.
    pub(super) is_cut: bool,
}

/// The charts of a figure on a page of `figures` figures. Schemes that nothing tells apart have
/// none.
pub(super) fn of_figure(stored: &Stored, figures: usize) -> Flows {
    let mut room = ROOM / figures.max(1);
    let mut pictures = Vec::new();
    if let Some(plan) = &stored.plan {
        let finished = &stored.finished;
        let groups = Comparisons::grouped(plan, finished).groups;
        let differ = |g: &&Group| g.alike.is_none();
        for group in groups.iter().filter(differ) {
            if room == 0 {
                break;
            }
            let mut charts = chart::of_flows(plan, finished, group, &Buckets::Deciles);
            charts.extend(chart::of_queues(plan, finished, group));
            charts.extend(chart::of_buffers(plan, finished, group));
            pictures.extend(fitting(charts, &mut room));
        }
    }
    // Charts of several figures on a page have the same names.
    let id = |picture: Picture| picture.of(&stored.id);
    Flows {
        pictures: pictures.into_iter().map(id).collect(),
        is_cut: room == 0,
    }
}
