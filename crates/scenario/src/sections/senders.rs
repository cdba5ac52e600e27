// SPDX-License-Identifier: MIT OR Apache-2.0
//! Published senders of DCQCN (`preset` in `[transport]`): the constants and the window that papers
//! and simulators of the field run, and that adapters ship.

#[cfg(test)]
use cemark_param::Dialect;
use cemark_param::ParamSpec;
use cemark_sim::topology::Topology;
use cemark_transport::rdma::ALPHA_ONE;
use cemark_wire::{Nanos, Rate};

use crate::key::Words;

/// A published sender.
#[derive(Debug)]
pub(crate) struct Sender {
    /// Word of the sender in scenario files.
    pub(crate) name: &'static str,
    /// Where it is published.
    pub(crate) source: &'static str,
    /// A remark on the sender; empty without one.
    pub(crate) note: &'static str,
    /// Shortest time between two notifications of a flow.
    pub(crate) cnp_gap: Nanos,
    /// The bytes in flight are bounded by the largest bandwidth-delay product, in proportion to the
    /// rate.
    pub(crate) window: bool,
    /// Parameters that differ from the DCQCN paper's.
    settings: &'static [(&'static str, Setting)],
}

#[derive(Clone, Copy, Debug)]
enum Setting {
    /// A value in the stored unit.
    Is(u64),
    /// Mb/s for each Gb/s of the host's link, in thousandths.
    PerLine(u64),
}

use Setting::{Is, PerLine};

const US: u64 = 1_000;
const MBPS: u64 = 1_000_000;

/// Every sender, in the order of docs/transports.md.
pub(crate) static ALL: &[Sender] = &[
    Sender {
        name: "dcqcn",
        source: "the DCQCN paper (SIGCOMM 2015)",
        note: "its increments are for 40 Gb/s",
        cnp_gap: Nanos::from_micros(50),
        window: false,
        settings: &[],
    },
    Sender {
        name: "hpcc",
        source: "HPCC's simulator, simulation/run.py, `dcqcn`",
        note: "hyper increase without the byte counter",
        cnp_gap: Nanos::from_micros(1),
        window: false,
        settings: &HPCC,
    },
    Sender {
        name: "hpcc-window",
        source: "HPCC's simulator, simulation/run.py, `dcqcn_vwin`",
        note: "as `hpcc`, and at most one bandwidth-delay product in flight",
        cnp_gap: Nanos::from_micros(1),
        window: true,
        settings: &HPCC,
    },
    Sender {
        name: "hpcc-paper",
        source: "HPCC's simulator, simulation/run.py, `dcqcn_paper`",
        note: "the paper's timers; F, increments and hyper increase are those of `hpcc`",
        cnp_gap: Nanos::from_micros(1),
        window: false,
        settings: &HPCC_PAPER,
    },
    Sender {
        name: "hpcc-paper-window",
        source: "HPCC's simulator, simulation/run.py, `dcqcn_paper_vwin`",
        note: "as `hpcc-paper`, and at most one bandwidth-delay product in flight",
        cnp_gap: Nanos::from_micros(1),
        window: true,
        settings: &HPCC_PAPER,
    },
    Sender {
        name: "simai",
        source: "SimAI, astra-sim-alibabacloud/inputs/config/SimAI.conf",
        note: "every rate has these increments; SimAI's window is that of the flow's own path, \
               here of the longest path",
        cnp_gap: Nanos::from_micros(1),
        window: true,
        settings: &adapter(1, 4, 900, (Is(50 * MBPS), Is(100 * MBPS), 100)),
    },
    Sender {
        name: "conweave",
        source: "ConWeave's simulator, run.py",
        note: "hyper increase is 2.5 times additive increase, and ten times in HPCC's simulator",
        cnp_gap: Nanos::from_micros(1),
        window: false,
        settings: &adapter(1, 4, 300, (PerLine(400), PerLine(1_000), 100)),
    },
    Sender {
        name: "nvidia",
        source: "NVIDIA, DCQCN parameters of ConnectX adapters, defaults",
        note: "every rate has these increments",
        cnp_gap: Nanos::from_micros(4),
        window: false,
        settings: &[
            ("dcqcn-g", Is(ALPHA_ONE as u64 / 1024 * 5)),
            ("dcqcn-alpha-init", Is(ALPHA_ONE as u64 / 1024 * 1023)),
            ("alpha-timer", Is(US)),
            ("decrease-interval", Is(4 * US)),
            ("rate-timer", Is(300 * US)),
            ("byte-counter", Is(32_767)),
            ("fast-recovery", Is(1)),
            ("clamp-target", Is(0)),
            ("rate-ai", Is(5 * MBPS)),
            ("rate-hai", Is(50 * MBPS)),
            ("min-rate", Is(MBPS)),
        ],
    },
];

type Settings<const N: usize> = [(&'static str, Setting); N];

static HPCC: Settings<9> = adapter(1, 4, 300, (PerLine(200), PerLine(2_000), 1_000));
static HPCC_PAPER: Settings<9> = adapter(50, 50, 55, (PerLine(200), PerLine(2_000), 1_000));

/// The sender of HPCC's simulator and of its descendants: the times in us, increments and the
/// smallest rate in Mb/s.
const fn adapter(
    alpha_timer: u64,
    decrease_interval: u64,
    rate_timer: u64,
    (rate_ai, rate_hai, min_rate): (Setting, Setting, u64),
) -> Settings<9> {
    [
        ("alpha-timer", Is(alpha_timer * US)),
        ("decrease-interval", Is(decrease_interval * US)),
        ("rate-timer", Is(rate_timer * US)),
        ("byte-counter", Is(0)),
        ("fast-recovery", Is(1)),
        ("rate-ai", rate_ai),
        ("rate-hai", rate_hai),
        ("min-rate", Is(min_rate * MBPS)),
        ("clamp-target", Is(0)),
    ]
}

impl Sender {
    /// The stored value of a parameter of DCQCN at hosts with links of rate `line`; `None`: the
    /// DCQCN paper's.
    pub(crate) fn value(&self, param: &ParamSpec, line: Rate) -> Option<u64> {
        match param.name {
            "timer-hyper" => Some(u64::from(self.has("byte-counter", 0))),
            "window-by-rate" => Some(u64::from(self.window)),
            name => {
                let found = self.settings.iter().find(|(key, _)| *key == name);
                found.map(|(_, setting)| setting.at(line))
            }
        }
    }

    fn has(&self, name: &str, value: u64) -> bool {
        let mut all = self.settings.iter();
        all.any(|(key, setting)| *key == name && matches!(setting, Is(n) if *n == value))
    }

    /// The line of `cemark check`.
    pub(crate) fn said(&self) -> String {
        let parts = [self.source, self.note]
            .into_iter()
            .filter(|part| !part.is_empty());
        let parts: Vec<&str> = parts.collect();
        format!("DCQCN sender {}: {}", self.name, parts.join("; "))
    }

    /// A row of the table of docs/transports.md.
    #[cfg(test)]
    fn row(&self) -> String {
        let of = |name: &str| {
            let params = cemark_transport::rdma::SPEC.params;
            let param = params.iter().find(|p| p.name == name).expect("a parameter");
            let line = self.settings.iter().find(|(key, _)| *key == name);
            match line {
                Some((_, PerLine(part))) => format!("{} Mb/s per Gb/s", *part as f64 / 1e3),
                Some((_, Is(value))) => param.show(*value, Dialect::Message).to_string(),
                None => param.show(param.default, Dialect::Message).to_string(),
            }
        };
        let window = if self.window { "yes" } else { "no" };
        let cut = match of("decrease-interval").as_str() {
            "0ns" => "each CNP".to_owned(),
            time => time.to_owned(),
        };
        format!(
            "| `{}` | {} | {cut} | {} | {} | {} | {} | {} | {window} | {} | {} |",
            self.name,
            of("alpha-timer"),
            of("rate-timer"),
            of("byte-counter"),
            of("rate-ai"),
            of("rate-hai"),
            of("min-rate"),
            self.source,
            self.note
        )
    }
}

impl Setting {
    fn at(self, line: Rate) -> u64 {
        match self {
            Is(value) => value,
            PerLine(part) => (u128::from(line.0) * u128::from(part) / 1_000_000) as u64,
        }
    }
}

/// Bytes in flight under [`Sender::window`]: the largest bandwidth-delay product of the fabric for
/// packets of `mss` bytes.
pub(crate) fn window(topology: &Topology, mss: u16) -> u64 {
    topology
        .bandwidth_delay(u32::from(mss))
        .clamp(1_500, 1 << 40)
}

impl Words for &'static Sender {
    fn words() -> Vec<(&'static str, Self)> {
        ALL.iter().map(|sender| (sender.name, sender)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str, key: &str, gbps: u64) -> Option<u64> {
        let sender = ALL
            .iter()
            .find(|sender| sender.name == name)
            .expect("a sender");
        let params = cemark_transport::rdma::SPEC.params;
        let param = params.iter().find(|p| p.name == key).expect("a parameter");
        sender.value(param, Rate::gbps(gbps))
    }

    /// Numbers of the sources: `ai = 5 * bw / 25`, `hai = 50 * bw / 25` in HPCC's run.py, `10 * bw
    /// / 25` and `25 * bw / 25` in ConWeave's, `RP_TIMER 900` in SimAI.conf, `dce_tcp_g` 1019.
    #[test]
    fn senders_are_those_of_their_sources() {
        assert_eq!(value("hpcc", "rate-ai", 100), Some(20_000_000));
        assert_eq!(value("hpcc", "rate-hai", 100), Some(200_000_000));
        assert_eq!(value("hpcc", "min-rate", 100), Some(1_000_000_000));
        assert_eq!(value("hpcc", "decrease-interval", 100), Some(4_000));
        assert_eq!(value("hpcc-paper", "rate-timer", 25), Some(55_000));
        assert_eq!(value("hpcc-paper-window", "window-by-rate", 25), Some(1));
        assert_eq!(value("conweave", "rate-ai", 100), Some(40_000_000));
        assert_eq!(value("conweave", "rate-hai", 100), Some(100_000_000));
        assert_eq!(value("simai", "rate-timer", 400), Some(900_000));
        assert_eq!(value("simai", "rate-hai", 400), Some(100_000_000));
        assert_eq!(value("nvidia", "dcqcn-g", 100), Some(1024 * 1024 * 5));
        assert_eq!(value("nvidia", "timer-hyper", 100), Some(0));
        assert_eq!(value("dcqcn", "rate-ai", 100), None);
    }

    #[test]
    fn every_setting_is_a_parameter_of_dcqcn_in_its_range() {
        let params = cemark_transport::rdma::SPEC.params;
        for sender in ALL {
            for (key, setting) in sender.settings {
                let param = params.iter().find(|p| p.name == *key);
                let param = param.unwrap_or_else(|| panic!("{}: {key}", sender.name));
                let value = setting.at(Rate::gbps(400));
                assert!(
                    (param.min..=param.max).contains(&value),
                    "{}: {key}",
                    sender.name
                );
            }
        }
    }

    #[test]
    fn the_document_has_every_sender() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/transports.md");
        let text = std::fs::read_to_string(path).expect("docs/transports.md");
        for sender in ALL {
            let row = sender.row();
            assert!(
                text.contains(&row),
                "docs/transports.md lacks this row:\n{row}"
            );
        }
    }
}
