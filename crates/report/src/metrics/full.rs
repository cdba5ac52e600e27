// SPDX-License-Identifier: MIT OR Apache-2.0
//! When a queue is full, and for how long: DCIB's Figure 2, from the samples of a traced port that
//! drops packets.

use cemark_sim::Outcome;
use cemark_sim::outcome::QueueSample;
use cemark_wire::Picos;

use super::Missing;

/// A sample counts as full from this part of the longest one on: the few packets that leave between
/// two drops do not end a spell.
const FULL: f64 = 0.95;

/// Which time [`milliseconds`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// Milliseconds from the start of the run until the queue is full.
    First,
    /// How long it stays full that first time.
    For,
    /// The longest time that it stays full.
    Longest,
}

/// Time of [`Full`] at the first traced port, in milliseconds. A queue that is full at the last
/// sample counts up to that sample.
pub(super) fn milliseconds(outcome: &Outcome, what: Full) -> Result<f64, Missing> {
    let trace = outcome.traces.first().ok_or(Missing::Trace)?;
    let port = outcome.ports.get(trace.port as usize);
    if port.is_none_or(|p| p.drops == 0) {
        let port = trace.name.clone();
        return Err(Missing::NeverFull { port });
    }
    let longest = trace.samples.iter().map(|s| s.bytes).max().unwrap_or(0);
    let full = |bytes: u32| f64::from(bytes) >= FULL * f64::from(longest);
    let mut spells: Vec<(Picos, Picos)> = Vec::new();
    let mut before = false;
    for &QueueSample { at, bytes, .. } in &trace.samples {
        match (before, full(bytes)) {
            (false, true) => spells.push((at, at)),
            (true, _) => spells.last_mut().expect("it began").1 = at,
            (false, false) => {}
        }
        before = full(bytes);
    }
    let first = spells.first().ok_or(Missing::Samples)?;
    let length = |s: &(Picos, Picos)| s.1.saturating_sub(s.0);
    let span = match what {
        Full::First => first.0,
        Full::For => length(first),
        Full::Longest => spells.iter().map(length).max().unwrap_or(Picos::ZERO),
    };
    Ok(span.as_micros_f64() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_sim::outcome::{PortReport, PortTrace, Spread};
    use cemark_wire::Rate;

    /// A sample a millisecond.
    fn made(bytes: &[u32], drops: u64) -> Outcome {
        let samples = bytes.iter().enumerate();
        let samples = samples.map(|(i, &bytes)| QueueSample {
            at: Picos::from_micros(1000 * i as u64),
            bytes,
            ..QueueSample::default()
        });
        Outcome {
            ports: vec![PortReport {
                name: "a->b".into(),
                rate: Rate::gbps(10),
                packets: 0,
                bytes: 0,
                marks: 0,
                drops,
                utilisation: 1.0,
                queue: Spread::default(),
                sojourn: Spread::default(),
            }],
            traces: vec![PortTrace {
                name: "a->b".into(),
                port: 0,
                samples: samples.collect(),
            }],
            ..Outcome::default()
        }
    }

    #[test]
    fn spells_are_told_apart() {
        // Full (95 or more of 100) from 2 to 4 ms, when it is seen below again, and from 5 ms to
        // the end.
        let out = made(&[0, 50, 95, 100, 94, 96, 97, 98, 99], 1);
        assert_eq!(milliseconds(&out, Full::First), Ok(2.0));
        assert_eq!(milliseconds(&out, Full::For), Ok(2.0));
        assert_eq!(milliseconds(&out, Full::Longest), Ok(3.0));
    }

    #[test]
    fn a_port_that_drops_nothing_was_never_full() {
        let said = milliseconds(&made(&[0, 100], 0), Full::First).unwrap_err();
        let said = said.to_string();
        assert!(said.contains("a->b dropped nothing"), "{said}");
        let said = milliseconds(&Outcome::default(), Full::For).unwrap_err();
        let said = said.to_string();
        assert!(said.contains("trace"), "{said}");
    }
}
