// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pauses (priority flow control): one line for each scheme, storms, deadlocks.

use std::fmt::Write;

use cemark_scenario::{Plan, Point};
use cemark_sim::Outcome;
use cemark_sim::outcome::most_paused;

use crate::Finished;
use crate::units;

fn name(point: &Point) -> String {
    let axes = point
        .axes
        .iter()
        .map(|(path, value)| format!(", {path} = {value}"));
    format!(
        "{}{}, seed {}",
        point.scheme,
        axes.collect::<String>(),
        point.seed
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Lines for the schemes under flow control, one each, and a line that names the schemes that never
/// triggered it. Empty where no point has flow control.
pub fn lines(plan: &Plan, finished: &[Finished]) -> String {
    let mut out = String::new();
    let mut all: Vec<(u64, &str)> = Vec::new();
    for scheme in &plan.schemes {
        let points = plan.points.iter().zip(finished);
        let mine: Vec<_> = points
            .filter(|(p, _)| p.scheme == *scheme && p.config.switch.pfc.is_some())
            .map(|(_, f)| f)
            .collect();
        if mine.is_empty() {
            continue;
        }
        let frames: u64 = mine.iter().map(|f| f.summary.pauses).sum();
        let most = mine
            .iter()
            .filter_map(|f| most_paused(&f.outcome.pauses))
            .max_by(|a, b| a.share.total_cmp(&b.share));
        let most = most.map_or_else(String::new, |p| {
            format!(", {} paused {} of the time", p.name, percent(p.share))
        });
        let _ = writeln!(
            out,
            "pauses  {scheme}: {}{most}",
            units::count(frames as f64)
        );
        all.push((frames, scheme));
    }
    out + &who_never_paused(&all)
}

/// Which schemes never triggered flow control, if some did and some did not.
fn who_never_paused(all: &[(u64, &str)]) -> String {
    let without: Vec<&str> = all.iter().filter(|s| s.0 == 0).map(|s| s.1).collect();
    let least = all.iter().min_by_key(|s| s.0);
    match (least, without.len()) {
        (Some((_, least)), 0) if all.len() > 1 => {
            format!("Every scheme triggered PFC, {least} the fewest times.\n")
        }
        (Some(_), n) if n > 0 && n < all.len() => {
            format!("Never triggered PFC: {}.\n", without.join(", "))
        }
        _ => String::new(),
    }
}

/// Ports that were paused for a larger share of the time than `pfc-storm`, one sentence per point.
pub fn storms(plan: &Plan, finished: &[Finished]) -> Vec<String> {
    let points = plan.points.iter().zip(finished);
    points
        .filter_map(|(point, f)| {
            let limit = point.config.switch.pfc?.storm;
            let over = f.outcome.pauses.iter().filter(|p| p.share > limit).count();
            let worst = most_paused(&f.outcome.pauses).filter(|_| over > 0)?;
            let more = match over {
                1 => String::new(),
                n => format!(" and {} more ports", n - 1),
            };
            Some(format!(
                "pause storm: {} was paused {} of the time{more} longer than {} ({})",
                worst.name,
                percent(worst.share),
                percent(limit),
                name(point)
            ))
        })
        .collect()
}

/// Advice on a storm of pauses.
pub const STORM_HELP: &str = "DCQCN's marks should come before the pauses: lower Kmin or \
     pst_target, or increase the pool or pfc-alpha";

/// Advice on a deadlock.
pub const DEADLOCK_HELP: &str = "each of these ports is paused until the next one sends; use \
     routes without a cycle of buffers (up, then down), or a network without pauses (pfc = false)";

/// Which port waits for which, where a point was stopped because no packet could move any more.
pub fn deadlock(point: &Point, outcome: &Outcome) -> Option<String> {
    let first = outcome.deadlock.first()?;
    let ring = outcome.deadlock.join(" waits for ");
    Some(format!(
        "deadlock after {:.0} us of simulated time: {ring} waits for {first} ({})",
        outcome.end.as_micros_f64(),
        name(point)
    ))
}

#[cfg(test)]
mod tests {
    use super::who_never_paused;

    #[test]
    fn the_last_line_chooses_where_there_is_a_choice() {
        assert_eq!(
            who_never_paused(&[(3, "a"), (0, "b"), (0, "c")]),
            "Never triggered PFC: b, c.\n"
        );
        assert_eq!(
            who_never_paused(&[(3, "a"), (2, "b")]),
            "Every scheme triggered PFC, b the fewest times.\n"
        );
        for same in [&[][..], &[(3, "a")], &[(0, "a"), (0, "b")]] {
            assert_eq!(who_never_paused(same), "");
        }
    }
}
