// SPDX-License-Identifier: MIT OR Apache-2.0
//! What endless flows get: the goodput of MQ-ECN's static experiments (its Figures 3 and 6).

use cemark_sim::Outcome;
use cemark_sim::config::Measure;
use cemark_sim::outcome::LongRecord;

/// A share has settled where it stays this close to one half, as a share of the half …
const NEAR: f64 = 0.1;
/// … for so many intervals in a row.
const IN_A_ROW: usize = 5;

/// Payload of all endless flows, or of those of one class, in Mb/s between `Measure::from` and
/// `Measure::until`.
pub(super) fn goodput(
    outcome: &Outcome,
    measure: &Measure,
    class: Option<u8>,
) -> Result<f64, String> {
    let flows = || {
        let wanted = move |f: &&LongRecord| class.is_none_or(|c| f.class == c);
        outcome.long_flows.iter().filter(wanted)
    };
    let bytes: u64 = flows().map(|f| f.delivered).sum();
    let until = measure.until.min(outcome.end);
    let seconds = until.as_secs_f64() - measure.from.as_secs_f64();
    match seconds > 0.0 && flows().next().is_some() {
        true => Ok(bytes as f64 * 8e-6 / seconds),
        false => Err("no endless flow was measured".to_owned()),
    }
}

/// Percent of that payload which the flows of one class have.
pub(super) fn share(outcome: &Outcome, class: u8) -> Result<f64, String> {
    percent(outcome, class, |f| f.delivered)
        .ok_or_else(|| "no endless flow got anything".to_owned())
}

/// Milliseconds from `Measure::from` until the end of the first of [`IN_A_ROW`] whole intervals in
/// a row in which the class has half of what all endless flows get, give or take a tenth of it.
pub(super) fn settling(outcome: &Outcome, measure: &Measure, class: u8) -> Result<f64, String> {
    let intervals = outcome.long_flows.iter().map(|f| f.intervals.len());
    let intervals = intervals.min().unwrap_or(0);
    let near = |i: usize| {
        percent(outcome, class, |f| f.intervals[i])
            .is_some_and(|share| (share / 50.0 - 1.0).abs() <= NEAR)
    };
    let mut row = 0;
    for i in 0..intervals {
        row = if near(i) { row + 1 } else { 0 };
        if row == IN_A_ROW {
            let first = i + 2 - IN_A_ROW;
            return Ok(first as f64 * measure.goodput_interval.as_micros_f64() / 1e3);
        }
    }
    Err(format!(
        "the share of class {class} does not settle within {intervals} intervals"
    ))
}

fn percent(outcome: &Outcome, class: u8, of: impl Fn(&LongRecord) -> u64) -> Option<f64> {
    let all: u64 = outcome.long_flows.iter().map(&of).sum();
    let ours = outcome.long_flows.iter().filter(|f| f.class == class);
    let ours: u64 = ours.map(&of).sum();
    (all > 0).then(|| 100.0 * ours as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_sim::config::TracePorts;
    use cemark_wire::Picos;

    fn flow(class: u8, intervals: &[u64]) -> LongRecord {
        LongRecord {
            id: 0,
            src: 0,
            dst: 1,
            class,
            delivered: intervals.iter().sum(),
            intervals: intervals.to_vec(),
            timeouts: 0,
        }
    }

    /// 10 ms intervals from 100 ms on; class 1 has its half from the third on.
    fn made() -> (Outcome, Measure) {
        let outcome = Outcome {
            long_flows: vec![
                flow(0, &[0, 300, 500, 460, 540, 500, 500, 500]),
                flow(1, &[500, 350, 250, 270, 230, 250, 250, 250]),
                flow(1, &[500, 350, 250, 270, 230, 250, 250, 250]),
            ],
            end: Picos::from_micros(180_000),
            ..Outcome::default()
        };
        let measure = Measure {
            from: Picos::from_micros(100_000),
            goodput_interval: Picos::from_micros(10_000),
            until: Picos::MAX,
            queue_interval: Picos::ZERO,
            trace: TracePorts::None,
        };
        (outcome, measure)
    }

    #[test]
    fn shares_and_goodput() {
        let (mut outcome, mut measure) = made();
        // 3300 + 2 x 2350 bytes in 80 ms.
        let of = |class| goodput(&outcome, &measure, class);
        assert_eq!(of(None), Ok(8000.0 * 8e-6 / 0.08));
        assert_eq!(of(Some(1)), Ok(4700.0 * 8e-6 / 0.08));
        assert!(of(Some(2)).is_err());
        assert_eq!(share(&outcome, 0), Ok(41.25));
        measure.from = outcome.end;
        assert!(goodput(&outcome, &measure, None).is_err());
        outcome.long_flows.clear();
        assert!(share(&outcome, 0).is_err());
    }

    #[test]
    fn settling_is_the_first_of_five_near_the_half() {
        let (mut outcome, measure) = made();
        assert_eq!(settling(&outcome, &measure, 0), Ok(30.0));
        assert_eq!(settling(&outcome, &measure, 1), Ok(30.0));
        // 449 of 1000 are more than a tenth of the half away.
        outcome.long_flows[0].intervals[3] = 440;
        let said = settling(&outcome, &measure, 0).unwrap_err();
        assert!(said.contains("8 intervals"), "{said}");
    }
}
