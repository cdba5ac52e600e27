// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many flows are measured, so that one replication of all schemes takes seconds.

use cemark_scenario::{Error, Overrides, Plan, parse};

/// CPU seconds that one replication of all schemes may take by the estimate.
const MOST_SECONDS: f64 = 10.0;
/// What the first guess aims at.
const WANTED_SECONDS: f64 = 8.0;
/// Fewer flows say nothing; more are not needed for a first answer.
const FLOWS: (u64, u64) = (50, 10_000);

/// The measured flows of a scenario, given its text by their number, and the seconds that a
/// replication takes.
pub(super) fn flows(text: &dyn Fn(u64) -> String, file: &str) -> Result<(u64, f64), Error> {
    let seconds = |flows: u64| -> Result<f64, Error> {
        let one = Overrides {
            seed: Some(1),
            ..Overrides::default()
        };
        let plan = parse(&text(flows), file, &one)?;
        Ok(replication(&plan))
    };
    let tried = 1000;
    let guess = tried as f64 * WANTED_SECONDS / seconds(tried)?;
    let mut flows = round_down(guess.clamp(FLOWS.0 as f64, FLOWS.1 as f64) as u64);
    loop {
        let takes = seconds(flows)?;
        if takes <= MOST_SECONDS || flows == FLOWS.0 {
            return Ok((flows, takes));
        }
        flows = round_down((flows * 7 / 10).max(FLOWS.0));
    }
}

/// CPU seconds of a plan with one seed. One that would end before its flows have arrived counts as
/// too long.
fn replication(plan: &Plan) -> f64 {
    let too_long = plan
        .warnings
        .iter()
        .any(|w| w.about.starts_with("max-time"));
    let seconds: f64 = plan.points.iter().map(|p| p.cpu_seconds()).sum();
    if too_long { f64::MAX } else { seconds }
}

/// To two digits.
fn round_down(n: u64) -> u64 {
    let scale = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    n / scale * scale
}

#[cfg(test)]
mod tests {
    use super::round_down;

    #[test]
    fn flows_have_two_digits() {
        assert_eq!(
            [7, 57, 1234, 9999, 10_000].map(round_down),
            [7, 57, 1200, 9900, 10_000]
        );
    }
}
