// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thresholds of a traffic class by the rules of the papers, and published sets.

use cemark_platform::published;
use cemark_wire::Rate;

/// Base RTTs that thresholds follow from, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base {
    pub mean: u64,
    /// 90th percentile.
    pub tail: u64,
}

/// Ports and buffers that thresholds are for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    /// Rate of the slowest ports, in bits per second.
    pub rate: u64,
    /// Longest queue that leaves room above it, in bytes: below XOFF in a lossless class.
    pub most: u64,
    /// Cell of the chip: thresholds are whole cells. One byte where the cell is not known.
    pub cell: u64,
}

/// A marking curve by a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    /// Name in scenarios and tables: `lambda C RTT p90`.
    pub name: String,
    /// The rule in a sentence, and its source.
    pub source: String,
    /// Ends at the slowest ports, in bytes.
    pub low: u64,
    pub high: u64,
    /// Probability at the upper end in thousandths.
    pub height: u64,
    /// Whether ports of another rate have the ends in proportion.
    pub by_rate: bool,
    /// Whether the buffer is too small for the rule.
    pub capped: bool,
}

/// Bytes of two packets: a shorter threshold marks nearly every packet.
const FEWEST: u64 = 3_000;
/// Part of C x RTT above which DCTCP keeps a link busy, in thousandths (Alizadeh, Javanmard and
/// Prabhakar, SIGMETRICS 2011).
const DCTCP: u64 = 170;

impl Ports {
    /// Bytes that the slowest port sends in a time.
    fn sent(&self, picos: u64) -> u64 {
        (u128::from(self.rate) * u128::from(picos) / 8_000_000_000_000) as u64
    }

    fn curve(&self, name: &str, source: &str, (low, high, height): (u64, u64, u64)) -> Curve {
        let round = |bytes: u64| {
            let bytes = bytes.max(FEWEST).min(self.most);
            (bytes / self.cell).max(1) * self.cell
        };
        Curve {
            name: name.to_owned(),
            source: source.to_owned(),
            low: round(low),
            high: round(high),
            height,
            by_rate: true,
            capped: high > self.most,
        }
    }
}

/// The curves for a class; the first is the choice. `roce`: its senders are queue pairs.
pub(crate) fn curves(control: &str, base: Base, ports: Ports) -> Vec<Curve> {
    let mut all = match control {
        "dcqcn" => of_roce(ports),
        _ => of_tcp(control, base, ports),
    };
    all.extend(of_sets(control, ports));
    all
}

fn of_roce(ports: Ports) -> Vec<Curve> {
    let hpcc = published::ALL.iter().find(|set| set.name == "hpcc");
    let hpcc = hpcc.and_then(|set| Some((set, set.at(Rate(ports.rate))?)));
    let of = |(set, ramp): (&published::Thresholds, _)| {
        ports.curve("hpcc", &format!("{}: {}", set.source, set.note), ramp)
    };
    hpcc.into_iter().map(of).collect()
}

fn of_tcp(control: &str, base: Base, ports: Ports) -> Vec<Curve> {
    let (mean, tail) = (ports.sent(base.mean), ports.sent(base.tail));
    let mut all = vec![
        ports.curve(
            "ECN# as a ramp",
            "lambda C RTT from the mean to the 90th percentile (ECN#, section 3.4; docs/p4.md)",
            // A few large RTTs may lift the mean above the 90th percentile.
            (mean.min(tail), tail, 1_000),
        ),
        ports.curve(
            "lambda C RTT, p90",
            "DCTCP-RED-Tail (ECN#, section 2.2)",
            (tail, tail, 1_000),
        ),
        ports.curve(
            "lambda C RTT, mean",
            "DCTCP-RED-AVG (ECN#, section 2.2)",
            (mean, mean, 1_000),
        ),
    ];
    if control == "dctcp" {
        let low = tail * DCTCP / 1_000;
        let source = "0.17 C RTT of the 90th percentile (DCTCP's analysis, SIGMETRICS 2011)";
        all.push(ports.curve("0.17 C RTT, p90", source, (low, low, 1_000)));
    }
    all
}

/// Published sets at the rate, as they are published.
fn of_sets(control: &str, ports: Ports) -> Vec<Curve> {
    let applies = |set: &&published::Thresholds| match control {
        "dcqcn" => set.name != "hpcc" && set.name != "hpcc-dctcp",
        "dctcp" => set.is_shipped() || set.name == "hpcc-dctcp",
        _ => set.is_shipped(),
    };
    let of = |set: &published::Thresholds| {
        let (low, high, height) = set.at(Rate(ports.rate))?;
        let source = match set.note.is_empty() {
            true => set.source.to_owned(),
            false => format!("{}: {}", set.source, set.note),
        };
        Some(Curve {
            name: set.name.to_owned(),
            source,
            low,
            high,
            height,
            by_rate: set.rates().len() != 1 && set.name == "hpcc-dctcp",
            capped: false,
        })
    };
    published::ALL
        .iter()
        .filter(applies)
        .filter_map(of)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Base, Curve, Ports, curves};

    const MICRO: u64 = 1_000_000;

    fn of(control: &str, most: u64, cell: u64) -> Vec<Curve> {
        let base = Base {
            mean: 40 * MICRO,
            tail: 80 * MICRO,
        };
        let ports = Ports {
            rate: 25_000_000_000,
            most,
            cell,
        };
        curves(control, base, ports)
    }

    fn named<'a>(all: &'a [Curve], name: &str) -> &'a Curve {
        all.iter().find(|c| c.name == name).expect("a curve")
    }

    /// 25 Gb/s send 3125 bytes a microsecond.
    #[test]
    fn curves_are_those_of_the_papers() {
        let all = of("dctcp", u64::MAX, 1);
        assert_eq!(
            (all[0].low, all[0].high, all[0].height),
            (125_000, 250_000, 1_000)
        );
        assert_eq!(named(&all, "lambda C RTT, p90").low, 250_000);
        assert_eq!(named(&all, "0.17 C RTT, p90").high, 42_500);
        assert_eq!(named(&all, "hpcc-dctcp").low, 75_000);
        assert_eq!(named(&all, "nvue").high, 1_500_000);
        let roce = of("dcqcn", u64::MAX, 1);
        assert_eq!(
            (roce[0].low, roce[0].high, roce[0].height),
            (100_000, 400_000, 200)
        );
        assert!(roce.iter().any(|c| c.name == "simai") && roce.iter().all(|c| !c.capped));
        assert!(
            of("ecn-star", u64::MAX, 1)
                .iter()
                .all(|c| !c.name.starts_with("0.17"))
        );
    }

    #[test]
    fn a_threshold_is_whole_cells_and_leaves_room() {
        let all = of("dctcp", 200_000, 256);
        assert_eq!((all[0].low, all[0].high), (124_928, 199_936));
        assert!(all[0].capped && !named(&all, "lambda C RTT, mean").capped);
    }
}
