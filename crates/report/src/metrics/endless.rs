// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics of endless flows: goodput and shares of MQ-ECN's static experiments (its Figures 3 and
//! 6), and the payload of single flows.

use cemark_sim::Outcome;
use cemark_sim::outcome::LongRecord;

use super::{Missing, Sample};

/// A share has settled when it stays this close to one half (as a part of the half) ...
const NEAR: f64 = 0.1;
/// ... for this many consecutive intervals.
const IN_A_ROW: usize = 5;

/// Payload of the endless flows that count, in bit/s between `Measure::from` and `Measure::until`.
pub(crate) fn goodput(sample: &Sample<'_>) -> Result<f64, Missing> {
    let measure = sample.measure;
    let span = measure.until.min(sample.outcome.end);
    let seconds = span.saturating_sub(measure.from).as_secs_f64();
    Ok(payload(sample, seconds)? as f64 * 8.0 / seconds)
}

/// Goodput in Mb/s. Verdicts were recorded with this order of operations, which may differ from
/// [`goodput`] in the last digit.
pub(super) fn goodput_in_figures(sample: &Sample<'_>) -> Result<f64, Missing> {
    let until = sample.measure.until.min(sample.outcome.end);
    let seconds = until.as_secs_f64() - sample.measure.from.as_secs_f64();
    Ok(payload(sample, seconds)? as f64 * 8e-6 / seconds)
}

/// Payload bytes of the endless flows that count, where there are some and the time is not empty.
fn payload(sample: &Sample<'_>, seconds: f64) -> Result<u64, Missing> {
    match seconds > 0.0 && counted(sample).next().is_some() {
        true => Ok(counted(sample).map(|f| f.arrived).sum()),
        false => Err(Missing::EndlessFlows),
    }
}

/// The endless flows that count.
fn counted<'a>(sample: &Sample<'a>) -> impl Iterator<Item = &'a LongRecord> + use<'a> {
    let class = sample.only.class;
    let all = sample.outcome.long_flows.iter();
    all.filter(move |f| class.is_none_or(|c| f.class == c))
}

/// Jain's index of the goodput of the endless flows that count.
pub(crate) fn fairness(sample: &Sample<'_>) -> Result<f64, Missing> {
    let arrived: Vec<u64> = counted(sample).map(|f| f.arrived).collect();
    match arrived.len() {
        0 => Err(Missing::EndlessFlows),
        1 => Err(Missing::SingleFlow),
        _ => jain(&arrived).ok_or(Missing::NothingDelivered),
    }
}

/// Jain's index `(sum x)^2 / (n sum x^2)`: 1 where all shares are equal, 1/n where one has all.
fn jain(shares: &[u64]) -> Option<f64> {
    let shares = || shares.iter().map(|x| *x as f64);
    let (sum, squares): (f64, f64) = (shares().sum(), shares().map(|x| x * x).sum());
    (squares > 0.0).then(|| sum * sum / (shares().count() as f64 * squares))
}

/// Which endless flow [`delivered`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// All together.
    All,
    /// The one that delivered least.
    Min,
    /// The median.
    P50,
    /// The one that delivered most.
    Max,
    /// The last in order of id.
    Last,
    /// The mean of all but the last.
    Others,
    /// The last in percent of the mean of all.
    LastOfFair,
}

/// Megabytes that endless flows delivered (a percentage for [`Flow::LastOfFair`]).
pub(super) fn delivered(sample: &Sample<'_>, flow: Flow) -> Result<f64, Missing> {
    let flows = sample.outcome.long_flows.iter();
    let mut all: Vec<u64> = flows.map(|f| f.delivered).collect();
    let last = *all.last().ok_or(Missing::EndlessFlows)?;
    let sum: u64 = all.iter().sum();
    all.sort_unstable();
    let n = all.len();
    let bytes = match flow {
        Flow::All => sum as f64,
        Flow::Min => all[0] as f64,
        Flow::P50 => all[(n - 1) / 2] as f64,
        Flow::Max => all[n - 1] as f64,
        Flow::Last => last as f64,
        Flow::Others => (sum - last) as f64 / (n - 1).max(1) as f64,
        // A percentage and not a length, so it returns here.
        Flow::LastOfFair => return Ok(100.0 * last as f64 * n as f64 / sum.max(1) as f64),
    };
    Ok(bytes / 1e6)
}

/// Percent of the payload of all endless flows that the flows of the class got.
pub(super) fn share(sample: &Sample<'_>) -> Result<f64, Missing> {
    let class = sample.class()?;
    percent(sample.outcome, class, |f| f.arrived).ok_or(Missing::NothingDelivered)
}

/// Milliseconds from `Measure::from` until the end of the first of [`IN_A_ROW`] consecutive whole
/// intervals in which the class has half of what all endless flows get, within a tenth of it.
pub(super) fn settling(sample: &Sample<'_>) -> Result<f64, Missing> {
    let (class, outcome) = (sample.class()?, sample.outcome);
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
            let interval = sample.measure.goodput_interval.as_micros_f64();
            return Ok(first as f64 * interval / 1e3);
        }
    }
    Err(Missing::NotSettled { class, intervals })
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
    use cemark_sim::config::{Measure, TracePorts};
    use cemark_wire::Picos;

    use crate::metrics::Restriction;

    fn flow(class: u8, intervals: &[u64]) -> LongRecord {
        LongRecord {
            id: 0,
            src: 0,
            dst: 1,
            class,
            delivered: intervals.iter().sum(),
            arrived: intervals.iter().sum(),
            intervals: intervals.to_vec(),
            timeouts: 0,
            workload: 0,
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
            fct: cemark_sim::config::Fct::LastByte,
            goodput_interval: Picos::from_micros(10_000),
            until: Picos::MAX,
            queue_interval: Picos::ZERO,
            trace: TracePorts::None,
        };
        (outcome, measure)
    }

    fn sample<'a>(made: &'a (Outcome, Measure), class: Option<u8>) -> Sample<'a> {
        Sample {
            workloads: &[],
            measure: &made.1,
            lossless: false,
            outcome: &made.0,
            only: Restriction {
                class,
                ..Restriction::default()
            },
        }
    }

    #[test]
    fn shares_and_goodput() {
        let mut made = made();
        // 3300 + 2 x 2350 bytes in 80 ms.
        let of = |class| goodput_in_figures(&sample(&made, class));
        assert_eq!(of(None), Ok(8000.0 * 8e-6 / 0.08));
        assert_eq!(of(Some(1)), Ok(4700.0 * 8e-6 / 0.08));
        assert_eq!(of(Some(2)), Err(Missing::EndlessFlows));
        assert_eq!(goodput(&sample(&made, None)), Ok(8000.0 * 8.0 / 0.08));
        assert_eq!(share(&sample(&made, Some(0))), Ok(41.25));
        assert_eq!(share(&sample(&made, None)), Err(Missing::Class));
        made.1.from = made.0.end;
        for of in [goodput, goodput_in_figures] {
            assert_eq!(of(&sample(&made, None)), Err(Missing::EndlessFlows));
        }
        made.0.long_flows.clear();
        let none = share(&sample(&made, Some(0)));
        assert_eq!(none, Err(Missing::NothingDelivered));
    }

    #[test]
    fn equal_flows_are_fair_and_one_that_takes_all_is_not() {
        for n in 1..9_usize {
            assert_eq!(jain(&vec![7_000_000; n]), Some(1.0), "{n}");
            let mut one = vec![0; n];
            one[n - 1] = 40;
            assert_eq!(jain(&one), Some(1.0 / n as f64), "{n}");
        }
        assert_eq!(jain(&[0, 0]), None);
        let (mut made, of) = (made(), |made: &_, class| fairness(&sample(made, class)));
        // 3300, 2350 and 2350 bytes.
        let squares = 3300.0 * 3300.0 + 2.0 * 2350.0 * 2350.0;
        assert_eq!(of(&made, None), Ok(8000.0 * 8000.0 / (3.0 * squares)));
        assert_eq!(of(&made, Some(1)), Ok(1.0));
        assert_eq!(of(&made, Some(0)), Err(Missing::SingleFlow));
        assert_eq!(of(&made, Some(2)), Err(Missing::EndlessFlows));
        made.0.long_flows.iter_mut().for_each(|f| f.arrived = 0);
        assert_eq!(of(&made, None), Err(Missing::NothingDelivered));
    }

    #[test]
    fn settling_is_the_first_of_five_near_the_half() {
        let mut made = made();
        assert_eq!(settling(&sample(&made, Some(0))), Ok(30.0));
        assert_eq!(settling(&sample(&made, Some(1))), Ok(30.0));
        // 449 of 1000 are more than a tenth of the half away.
        made.0.long_flows[0].intervals[3] = 440;
        let said = settling(&sample(&made, Some(0))).unwrap_err().to_string();
        assert!(said.contains("8 intervals"), "{said}");
    }
}
