// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's numbers beside the simulator's: one table for each scheme and value of the axes.

use cemark_report::stats::{self, Comparison, SizeClass, Statistic};
use cemark_report::text::aligned;
use cemark_report::{Finished, units};
use cemark_scenario::{Plan, Point};
use cemark_sim::Outcome;
use cemark_sim::outcome::{PortReport, hottest};
use serde::Serialize;

use super::run::axes;

/// The table of one scheme and one value of the axes.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    title: String,
    rows: Vec<Row>,
}

/// Quantity in the simulator and on the kernel.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    simulator: f64,
    kernel: f64,
    /// Both as people read them.
    shown: (String, String),
    /// 100 (kernel / simulator - 1).
    percent: Option<f64>,
    /// 95 % interval of it.
    interval: Option<(f64, f64)>,
    /// Largest difference that counts as agreement, in percent.
    bound: Option<f64>,
    verdict: Option<&'static str>,
}

/// The tables of a run whose plan has each scheme twice.
pub(super) fn tables(plan: &Plan, finished: &[Finished]) -> Vec<Table> {
    let alike = |a: &Point, b: &Point| a.axes == b.axes && a.scheme == b.scheme;
    let groups: Vec<&[Point]> = plan.points.chunk_by(alike).collect();
    let mut tables = Vec::new();
    let mut at = 0;
    for pair in groups.chunks(2) {
        let [simulated, real] = pair else { break };
        let n = simulated.len();
        let side = |from: usize, n: usize| -> Vec<&Outcome> {
            finished[from..from + n]
                .iter()
                .map(|f| &f.outcome)
                .collect()
        };
        let both = Both {
            simulator: side(at, n),
            kernel: side(at + n, real.len()),
            points: simulated,
        };
        at += n + real.len();
        tables.push(Table {
            title: format!("{}{}", simulated[0].scheme, axes(&simulated[0])),
            rows: both.rows(),
        });
    }
    tables
}

/// The outcomes of all seeds, by both.
struct Both<'a> {
    simulator: Vec<&'a Outcome>,
    kernel: Vec<&'a Outcome>,
    points: &'a [Point],
}

impl Both<'_> {
    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let goodput = |o: &Outcome, p: &Point| {
            let bytes: u64 = o.long_flows.iter().map(|l| l.delivered).sum();
            (!o.long_flows.is_empty()).then(|| bytes as f64 * 8.0 / span(p))
        };
        rows.extend(self.scalar("goodput", Some(3.0), units::bits_per_second, goodput));
        rows.extend(self.shares());
        rows.extend(self.controllers());
        rows.extend(self.port("queue mean", Some(15.0), units::bytes, |p| p.queue.mean));
        rows.extend(self.port("queue p99", None, units::bytes, |p| p.queue.p99));
        rows.extend(self.port("marked share", Some(15.0), share, |p| {
            p.marks as f64 / p.packets.max(1) as f64
        }));
        let rtt = |o: &Outcome, _: &Point| {
            let all: Vec<f64> = o.probes.iter().map(|p| p.rtt.as_micros_f64()).collect();
            stats::mean(&all)
        };
        rows.extend(self.scalar("ping mean", Some(20.0), units::micros, rtt));
        rows.extend(self.completions());
        rows.extend(self.scalar("drops", None, units::count, |o, _| {
            Some(o.totals.all_drops() as f64)
        }));
        rows.extend(self.scalar("sent again", None, units::count, |o, _| {
            Some(o.totals.retransmits as f64)
        }));
        rows.extend(self.scalar("timeouts", None, units::count, |o, _| {
            Some(o.totals.timeouts as f64)
        }));
        rows
    }

    /// A number of each run.
    fn scalar(
        &self,
        name: &str,
        bound: Option<f64>,
        show: fn(f64) -> String,
        of: impl Fn(&Outcome, &Point) -> Option<f64>,
    ) -> Option<Row> {
        let runs = self.simulator.iter().zip(&self.kernel).zip(self.points);
        let pairs: Vec<(f64, f64)> = runs
            .filter_map(|((s, k), p)| Some((of(s, p)?, of(k, p)?)))
            .collect();
        let (simulator, kernel) = means(&pairs)?;
        let compared = stats::compare_scalars(&pairs);
        Some(Row::new(name, (simulator, kernel), compared, bound, show))
    }

    /// The part of the endless flows' goodput that each queue gets, where there are several.
    fn shares(&self) -> Vec<Row> {
        let flows = self.simulator.iter().flat_map(|o| &o.long_flows);
        let mut classes: Vec<u8> = flows.map(|l| l.class).collect();
        classes.sort_unstable();
        classes.dedup();
        if classes.len() < 2 {
            return Vec::new();
        }
        let each = classes.iter().filter_map(|class| {
            self.scalar(&format!("share of queue {class}"), None, share, |o, _| {
                let sum = |l: &[u64]| l.iter().sum::<u64>() as f64;
                let all: Vec<u64> = o.long_flows.iter().map(|l| l.delivered).collect();
                let own = o.long_flows.iter().filter(|l| l.class == *class);
                let own: Vec<u64> = own.map(|l| l.delivered).collect();
                (sum(&all) > 0.0).then(|| sum(&own) / sum(&all))
            })
        });
        each.collect()
    }

    /// Goodput of the endless flows of each workload, where controllers differ.
    fn controllers(&self) -> Vec<Row> {
        let Some(config) = self.points.first().map(|p| &p.config) else {
            return Vec::new();
        };
        if config.controls().len() < 2 {
            return Vec::new();
        }
        let each = (0u16..).zip(&config.workloads).filter_map(|(i, w)| {
            let control = config.transport_of(w).control.spec().name;
            let name = match w.name == control {
                true => format!("goodput of {control}"),
                false => format!("goodput of {} ({control})", w.name),
            };
            self.scalar(&name, None, units::bits_per_second, |o, p| {
                let own = o.long_flows.iter().filter(|l| l.workload == i);
                let own: Vec<u64> = own.map(|l| l.delivered).collect();
                (!own.is_empty()).then(|| own.iter().sum::<u64>() as f64 * 8.0 / span(p))
            })
        });
        each.collect()
    }

    /// A number of the port with the longest queue.
    fn port(
        &self,
        name: &str,
        bound: Option<f64>,
        show: fn(f64) -> String,
        of: impl Fn(&PortReport) -> f64,
    ) -> Option<Row> {
        let place = hottest(&self.simulator.first()?.ports)?;
        self.scalar(name, bound, show, |o, _| o.ports.get(place).map(&of))
    }

    fn completions(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let percentile = Statistic::Percentile;
        for (class, name) in [
            (SizeClass::Short, "short"),
            (SizeClass::Medium, "medium"),
            (SizeClass::Large, "large"),
        ] {
            let seeds: Vec<Vec<(f64, f64)>> = self
                .simulator
                .iter()
                .zip(&self.kernel)
                .map(|(s, k)| stats::pairs(&s.flows, &k.flows, |f| class.has(f.bytes), stats::fct))
                .collect();
            let flows: usize = seeds.iter().map(Vec::len).sum();
            if flows == 0 {
                continue;
            }
            let decides = class != SizeClass::Medium;
            let each = [
                ("mean", Statistic::Mean, decides),
                ("p50", percentile(0.5), class == SizeClass::Short),
                ("p95", percentile(0.95), class == SizeClass::Short),
                ("p99", percentile(0.99), false),
            ];
            for (what, statistic, decides) in each {
                let side = |of: fn(&(f64, f64)) -> f64| {
                    let per: Vec<f64> = seeds
                        .iter()
                        .filter_map(|s| statistic.of(&s.iter().map(of).collect::<Vec<_>>()))
                        .collect();
                    stats::mean(&per)
                };
                let (Some(simulator), Some(kernel)) = (side(|p| p.0), side(|p| p.1)) else {
                    continue;
                };
                let mut compared = stats::compare(&seeds, statistic);
                if let (Some(c), [one]) = (&mut compared, &seeds[..])
                    && c.interval.is_none()
                {
                    let half = stats::half_by_flows(one, statistic);
                    c.interval = half.map(|h| (c.percent - h, c.percent + h));
                }
                let name = format!("{name} {what} ({flows} flows)");
                let bound = decides.then_some(20.0);
                let values = (simulator, kernel);
                rows.push(Row::new(&name, values, compared, bound, units::micros));
            }
        }
        rows
    }
}

/// Seconds that a point measures.
fn span(point: &Point) -> f64 {
    let m = &point.config.measure;
    let span = m.until.0.min(point.config.max_time.0) - m.from.0;
    span.max(1) as f64 / 1e12
}

fn share(x: f64) -> String {
    format!("{:.4}", x)
}

fn means(pairs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let side = |of: fn(&(f64, f64)) -> f64| stats::mean(&pairs.iter().map(of).collect::<Vec<_>>());
    Some((side(|p| p.0)?, side(|p| p.1)?))
}

impl Row {
    fn new(
        name: &str,
        (simulator, kernel): (f64, f64),
        compared: Option<Comparison>,
        bound: Option<f64>,
        show: fn(f64) -> String,
    ) -> Row {
        let percent = compared.map(|c| c.percent);
        let interval = compared.and_then(|c| c.interval);
        let verdict = bound.zip(percent).map(|(b, p)| verdict(p, interval, b));
        Row {
            name: name.to_owned(),
            simulator,
            kernel,
            shown: (show(simulator), show(kernel)),
            percent,
            interval,
            bound,
            verdict,
        }
    }

    fn difference(&self) -> String {
        let Some(p) = self.percent else {
            return String::new();
        };
        let interval = self.interval.map(|i| units::interval(p, i));
        let text = format!("{} {}", units::percent(p), interval.unwrap_or_default());
        text.trim_end().to_owned()
    }

    fn cells(&self) -> Vec<String> {
        let (simulator, kernel) = self.shown.clone();
        vec![
            self.name.clone(),
            simulator,
            kernel,
            self.difference(),
            self.judged(),
        ]
    }

    fn judged(&self) -> String {
        match (self.bound, self.verdict) {
            (Some(b), Some(v)) => format!("{v} {b} %"),
            _ => String::new(),
        }
    }
}

/// Whether the difference is within the bound, and the interval decides it.
fn verdict(percent: f64, interval: Option<(f64, f64)>, bound: f64) -> &'static str {
    let (low, high) = interval.unwrap_or((percent, percent));
    if low >= -bound && high <= bound {
        "within"
    } else if low > bound || high < -bound {
        "beyond"
    } else if percent.abs() <= bound {
        "within, not decided,"
    } else {
        "beyond, not decided,"
    }
}

/// The tables for a terminal.
pub(super) fn text(tables: &[Table]) -> String {
    let mut out = String::new();
    for table in tables {
        out += &format!("\n{}\n", table.title);
        let head = ["", "simulator", "Linux", "difference", ""].map(str::to_owned);
        let mut lines = vec![head.to_vec()];
        lines.extend(table.rows.iter().map(Row::cells));
        for line in aligned(&lines, |column| matches!(column, 1 | 2)).lines() {
            out += format!("  {line}").trim_end();
            out.push('\n');
        }
    }
    out
}

/// The report with these tables in front of its own parts.
pub(super) fn insert(report: String, tables: &[Table]) -> String {
    let escape = |s: &str| {
        s.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let mut section = String::from("<section id=\"beside\"><h2>Simulator and Linux</h2>\n");
    for table in tables {
        section += &format!("<h3>{}</h3>\n<table>\n<tr>", escape(&table.title));
        for head in ["", "simulator", "Linux", "difference", "bound"] {
            section += &format!("<th>{head}</th>");
        }
        section += "</tr>\n";
        for r in &table.rows {
            section += "<tr>";
            for cell in r.cells() {
                section += &format!("<td>{}</td>", escape(&cell));
            }
            section += "</tr>\n";
        }
        section += "</table>\n";
    }
    section += "</section>\n";
    match report.find("</main>") {
        Some(at) => format!("{}{section}{}", &report[..at], &report[at..]),
        None => report + &section,
    }
}
