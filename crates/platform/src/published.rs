// SPDX-License-Identifier: MIT OR Apache-2.0
//! Published thresholds of RED ramps by the rate of a port: the sets that switches ship and that
//! simulations of the field run (`preset` in `[[scheme]]`).

use cemark_wire::Rate;

/// A published set.
#[derive(Debug)]
pub struct Thresholds {
    /// Word of the set in scenario files.
    pub name: &'static str,
    /// Where the set is published.
    pub source: &'static str,
    /// A remark on the set; empty without one.
    pub note: &'static str,
    rule: Rule,
}

/// A ramp: its ends in bytes, and its height in thousandths.
pub type Ramp = (u64, u64, u64);

#[derive(Debug)]
enum Rule {
    /// At every rate the same.
    Flat(Ramp),
    /// Ends for each Gb/s.
    PerGigabit(Ramp),
    /// By rate in Gb/s.
    Table(&'static [(u64, Ramp)]),
}

const KB: u64 = 1_000;
const MIB: u64 = 1 << 20;

/// Every set, in the order of docs/classes.md.
pub static ALL: &[Thresholds] = &[
    Thresholds {
        name: "dcqcn",
        source: "the DCQCN paper (SIGCOMM 2015)",
        note: "for 40 Gb/s; the author of HPCC's simulator says that they do not work in \
               production (issue 21 there)",
        rule: Rule::Table(&[(40, (5 * KB, 200 * KB, 10))]),
    },
    Thresholds {
        name: "hpcc",
        source: "HPCC's simulator, simulation/run.py",
        note: "100 and 400 KB for each 25 Gb/s",
        rule: Rule::PerGigabit((4 * KB, 16 * KB, 200)),
    },
    Thresholds {
        name: "hpcc-dctcp",
        source: "HPCC's simulator, simulation/run.py, DCTCP",
        note: "a step: 30 KB for each 10 Gb/s",
        rule: Rule::PerGigabit((3 * KB, 3 * KB, 1_000)),
    },
    Thresholds {
        name: "simai",
        source: "SimAI, astra-sim-alibabacloud/inputs/config/SimAI.conf",
        note: "200 and 1600 Gb/s are out of line with the other rates",
        rule: Rule::Table(&[
            (25, (100 * KB, 400 * KB, 200)),
            (50, (200 * KB, 800 * KB, 200)),
            (100, (400 * KB, 1_600 * KB, 200)),
            (200, (300 * KB, 1_200 * KB, 800)),
            (400, (800 * KB, 3_200 * KB, 200)),
            (1_600, (600 * KB, 2_400 * KB, 200)),
        ]),
    },
    Thresholds {
        name: "astra",
        source: "astra-network-ns3, scratch/config/config.txt",
        note: "out of proportion at 40 Gb/s and from 200 Gb/s on",
        rule: Rule::Table(&[
            (25, (100 * KB, 400 * KB, 200)),
            (40, (200 * KB, 800 * KB, 200)),
            (100, (400 * KB, 1_600 * KB, 200)),
            (200, (600 * KB, 2_400 * KB, 200)),
            (400, (800 * KB, 3_200 * KB, 200)),
            (2_400, (800 * KB, 3_200 * KB, 200)),
        ]),
    },
    Thresholds {
        name: "powertcp",
        source: "ns3-datacenter, examples/PowerTCP",
        note: "",
        rule: Rule::Table(&[
            (25, (100 * KB, 400 * KB, 200)),
            (50, (200 * KB, 800 * KB, 200)),
            (100, (400 * KB, 1_600 * KB, 200)),
        ]),
    },
    Thresholds {
        name: "conweave",
        source: "ConWeave's simulator, run.py",
        note: "the same at every rate: at 100 Gb/s a quarter of `hpcc`",
        rule: Rule::Flat((100 * KB, 400 * KB, 200)),
    },
    Thresholds {
        name: "sonic",
        source: "SONiC, AZURE_LOSSLESS of the qos_config templates",
        note: "the same from 25 to 400 Gb/s",
        rule: Rule::Flat((MIB, 2 * MIB, 50)),
    },
    Thresholds {
        name: "sonic-th5",
        source: "SONiC, Arista C448O16 and C512S2 (buildimage PR 25626)",
        note: "for 800 Gb/s ports of Tomahawk 5",
        rule: Rule::Table(&[(800, (166_912, 282_624, 50))]),
    },
    Thresholds {
        name: "nvue",
        source: "NVUE (Cumulus Linux), default of a RoCE profile",
        note: "the same at every rate",
        rule: Rule::Flat((150 * KB, 1_500 * KB, 1_000)),
    },
    Thresholds {
        name: "cisco-ai",
        source: "Cisco's blueprint for AI fabrics",
        note: "950 and 3000 KB are published as well",
        rule: Rule::Flat((150 * KB, 3_000 * KB, 70)),
    },
];

impl Thresholds {
    /// The ramp at ports of a rate.
    pub fn at(&self, rate: Rate) -> Option<Ramp> {
        match self.rule {
            Rule::Flat(ramp) => Some(ramp),
            Rule::PerGigabit((low, high, height)) => {
                let at =
                    |bytes: u64| (u128::from(bytes) * u128::from(rate.0) / 1_000_000_000) as u64;
                Some((at(low), at(high), height))
            }
            Rule::Table(rows) => {
                let row = rows.iter().find(|(gbps, _)| rate == Rate::gbps(*gbps));
                row.map(|(_, ramp)| *ramp)
            }
        }
    }

    /// Whether a switch ships the set; the others are of simulators and papers.
    pub fn is_shipped(&self) -> bool {
        ["sonic", "sonic-th5", "nvue", "cisco-ai"].contains(&self.name)
    }

    /// The rates that the set has, in Gb/s; empty: every rate.
    pub fn rates(&self) -> Vec<u64> {
        match self.rule {
            Rule::Table(rows) => rows.iter().map(|(gbps, _)| *gbps).collect(),
            Rule::Flat(_) | Rule::PerGigabit(_) => Vec::new(),
        }
    }

    /// A row of the table of docs/classes.md.
    #[cfg(test)]
    fn row(&self) -> String {
        let show = |(low, high, height): Ramp| {
            let kb = |bytes: u64| (bytes as f64 / 1e3).to_string();
            format!("{}/{} KB, {} %", kb(low), kb(high), height as f64 / 10.0)
        };
        let ramps = match self.rule {
            Rule::Flat(ramp) => show(ramp),
            Rule::PerGigabit(ramp) => format!("{} for each Gb/s", show(ramp)),
            Rule::Table(rows) => {
                let rows = rows
                    .iter()
                    .map(|(gbps, ramp)| format!("{gbps}G: {}", show(*ramp)));
                rows.collect::<Vec<_>>().join("; ")
            }
        };
        format!(
            "| `{}` | {ramps} | {} | {} |",
            self.name, self.source, self.note
        )
    }
}

/// Thresholds that are published for a rate, at ports of another rate.
pub(crate) struct Elsewhere {
    /// Source of the set.
    pub source: &'static str,
    /// The rate for which the set has the thresholds, in Gb/s.
    pub gbps: u64,
    /// Thresholds of the set at the ports' rate.
    pub here: Ramp,
}

/// Rates of ports in Gb/s, for sets that have a rule instead of a table.
const RATES: [u64; 9] = [10, 25, 40, 50, 100, 200, 400, 800, 1_600];

/// The set that has these thresholds at another rate and not at this one; none where a set of a
/// switch, or another set by rate, has them at this rate.
pub(crate) fn of_another_rate(low: u64, high: u64, rate: Rate) -> Option<Elsewhere> {
    let is = |ramp: Option<Ramp>| ramp.is_some_and(|(min, max, _)| (min, max) == (low, high));
    let by_rate = |set: &&Thresholds| !matches!(set.rule, Rule::Flat(_));
    if ALL
        .iter()
        .filter(|s| s.is_shipped() || by_rate(s))
        .any(|set| is(set.at(rate)))
    {
        return None;
    }
    ALL.iter().filter(by_rate).find_map(|set| {
        let here = set.at(rate)?;
        let gbps = RATES
            .into_iter()
            .find(|gbps| is(set.at(Rate::gbps(*gbps))))?;
        Some(Elsewhere {
            source: set.source,
            gbps,
            here,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the sources, one rate each.
    #[test]
    fn sets_are_those_of_their_sources() {
        let at = |name: &str, gbps| {
            let set = ALL.iter().find(|set| set.name == name).expect("a set");
            set.at(Rate::gbps(gbps))
        };
        assert_eq!(at("hpcc", 25), Some((100_000, 400_000, 200)));
        assert_eq!(at("hpcc", 100), Some((400_000, 1_600_000, 200)));
        assert_eq!(at("hpcc-dctcp", 10), Some((30_000, 30_000, 1_000)));
        assert_eq!(at("simai", 200), Some((300_000, 1_200_000, 800)));
        assert_eq!(at("astra", 200), Some((600_000, 2_400_000, 200)));
        assert_eq!(at("conweave", 100), Some((100_000, 400_000, 200)));
        assert_eq!(at("sonic", 400), Some((1_048_576, 2_097_152, 50)));
        assert_eq!(at("sonic-th5", 800), Some((166_912, 282_624, 50)));
        assert_eq!(at("nvue", 40), Some((150_000, 1_500_000, 1_000)));
        assert_eq!(at("dcqcn", 40), Some((5_000, 200_000, 10)));
        assert_eq!(at("dcqcn", 100), None);
    }

    #[test]
    fn thresholds_of_another_rate_name_their_rate() {
        let other = |low, high, gbps| {
            of_another_rate(low, high, Rate::gbps(gbps)).map(|e| (e.gbps, e.here.0, e.here.1))
        };
        assert_eq!(other(100_000, 400_000, 100), Some((25, 400_000, 1_600_000)));
        assert_eq!(other(100_000, 400_000, 25), None);
        // ASTRA-sim has these at 40 Gb/s, and HPCC at 50.
        assert_eq!(other(200_000, 800_000, 40), None);
        assert_eq!(other(200_000, 800_000, 50), None);
        // SONiC and NVUE ship one set for every rate.
        assert_eq!(other(1_048_576, 2_097_152, 400), None);
        assert_eq!(other(150_000, 1_500_000, 400), None);
        assert_eq!(other(123_456, 400_000, 100), None);
        assert_eq!(
            ALL.iter().filter(|set| set.is_shipped()).count(),
            4,
            "a set of a switch was renamed"
        );
    }

    #[test]
    fn the_document_has_every_set() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/classes.md");
        let text = std::fs::read_to_string(path).expect("docs/classes.md");
        for set in ALL {
            let row = set.row();
            assert!(
                text.contains(&row),
                "docs/classes.md lacks this row:\n{row}"
            );
        }
    }
}
