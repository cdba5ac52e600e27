// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenario that `cemark init` writes: every line with what it means, every threshold with the
//! rule that it follows from.

use std::fmt::Write as _;

use cemark_report::table::wrap;

use super::answers::{Answers, Per};
use super::fabric::Fabric;
use super::rtts::{self, Numbers};
use super::schemes;
use super::size::Extent;

/// The longest propagation delay of a link, in picoseconds: 100 m of cable, and what a switch and
/// an adapter add.
const LONGEST_LINK: u64 = 1_000_000;

/// 10 m of cable: a histogram of RTTs may begin at zero.
const SHORTEST_LINK: u64 = 50_000;

/// Most columns of a comment.
const WIDTH: usize = 98;

/// What a scenario is made of.
pub(super) struct Parts<'a> {
    pub answers: &'a Answers,
    pub fabric: &'a Fabric,
    /// Size of the buffer in bytes, and of a cell where the answer counts cells.
    pub buffer: u64,
    pub cell: Option<u64>,
    /// As the user named it, for commands in comments.
    pub file: &'a str,
    pub extent: Extent,
}

impl Parts<'_> {
    /// A scenario without schemes of its own, from which the numbers of the base RTTs are read.
    pub fn draft(&self) -> String {
        let mut out = self.top("draft");
        self.topology(&mut out, 0);
        self.rtt(&mut out);
        self.workload(&mut out);
        self.switch(&mut out);
        out + "[transport]\ncontrol = \"cubic\"\n\n[[scheme]]\nmarker = \"none\"\n"
    }

    /// The whole scenario.
    pub fn whole(&self, rtt: &Numbers) -> String {
        let mut out = self.top(&self.title());
        Self::precision(&mut out);
        self.topology(&mut out, rtt.smallest);
        self.rtt(&mut out);
        self.workload(&mut out);
        self.transport(&mut out, rtt);
        self.switch(&mut out);
        out += &schemes::section(self, rtt);
        self.measure(&mut out);
        out
    }

    fn title(&self) -> String {
        let answers = self.answers;
        format!(
            "My fabric: {}, {} links",
            self.fabric.words,
            rate(answers.rate)
        )
    }

    fn top(&self, title: &str) -> String {
        let file = self.file;
        let mut out =
            "# A scenario of cemark, written by `cemark init`. Change what you like:\n".to_owned();
        for (typed, does) in [
            (
                format!("cemark check {file}"),
                "reads it and estimates what it costs",
            ),
            (
                format!("cemark run {file}"),
                "simulates it and compares the schemes",
            ),
            (
                "cemark help KEY".to_owned(),
                "explains a key, for instance workload.load",
            ),
        ] {
            let _ = writeln!(out, "#   {typed:30}  {does}");
        }
        out.push('\n');
        let _ = writeln!(out, "title = {}\n", quoted(title));
        if !has_precision() {
            out += "# Replications: each seed draws other flows. From three on, differences have \
                    95 % intervals.\nseeds = 3\n\n";
        }
        out
    }

    /// How many replications are run, where scenario files can leave that to the run.
    fn precision(out: &mut String) {
        if has_precision() {
            *out += &comment(
                "Replications, which draw other flows, are added until the 95 % interval of every \
                 mean in the table is within this many percentage points. `--seeds 3` runs three \
                 instead.",
            );
            *out += "[precision]\nwithin = 5\n\n";
        }
    }

    fn topology(&self, out: &mut String, smallest_rtt: u64) {
        let answers = self.answers;
        let kind = match answers.kind {
            super::answers::Kind::Star => "star",
            super::answers::Kind::LeafSpine => "leaf-spine",
            super::answers::Kind::FatTree => "fat-tree",
        };
        let _ = writeln!(out, "[topology]\nkind = \"{kind}\" # {}", self.fabric.words);
        for (key, value, comment) in &self.fabric.keys {
            let comment = match comment.is_empty() {
                true => String::new(),
                false => format!(" # {comment}"),
            };
            let _ = writeln!(out, "{key} = {value}{comment}");
        }
        // The links there and back are the least that a base RTT can be.
        let share = smallest_rtt / u64::from(2 * self.fabric.links) / 1000 * 1000;
        let delay = share.clamp(SHORTEST_LINK, LONGEST_LINK);
        let _ = writeln!(
            out,
            "rate = \"{}\" # of every link\n\
             # Of a link, one way. Base RTTs are longer than the links: hosts make up the rest.\n\
             delay = \"{}\"\n",
            rate(answers.rate),
            time(delay)
        );
    }

    fn rtt(&self, out: &mut String) {
        *out += "# RTTs of flows when all queues are empty.\n[rtt]\n";
        *out += &rtts::section(&self.answers.rtt);
        out.push('\n');
    }

    fn workload(&self, out: &mut String) {
        let answers = self.answers;
        let sizes = quoted(&answers.sizes);
        let tier = match answers.kind {
            super::answers::Kind::Star => "host links",
            _ if self.fabric.ratio > 1.0 => "uplinks, the tier that fills first",
            _ => "links",
        };
        let extent = &self.extent;
        let _ = write!(
            out,
            "[[workload]]\n\
             kind = \"poisson\" # flows arrive at random, between any two hosts\n\
             sizes = {sizes} # cemark help sizes lists the tables; a file of yours works too\n\
             load = {} # of the {tier}\n\
             flows = {} # measured; more of them make narrower intervals and longer runs\n\
             # Unmeasured flows before them: they arrive for about twice the time that a byte is\n\
             # under way, until as many flows are under way, and queues as long, as under this\n\
             # load.\n\
             warmup = {}\n\
             # New flows keep the load up for this long after the last measured one has arrived.\n\
             hold = \"{}\"\n",
            answers.load,
            extent.flows,
            extent.warmup,
            time(extent.hold)
        );
        if answers.queues > 1 {
            let weights = vec!["1"; answers.queues as usize].join(", ");
            let _ = writeln!(
                out,
                "# Each flow draws its queue, all equally likely.\nclass-weights = [{weights}]"
            );
        }
        out.push('\n');
    }

    fn transport(&self, out: &mut String, rtt: &Numbers) {
        let control = self.answers.transport;
        let _ = writeln!(
            out,
            "[transport]\ncontrol = \"{control}\" # how senders react; see cemark help {control}"
        );
        if control == "dcqcn" {
            let part = |n: u64| rate(self.answers.rate / n);
            let _ = write!(
                out,
                "# Our choice: the steps of the paper, 40 and 200 Mb/s at 40 Gb/s, scaled with \
                 the rate.\nrate-ai = \"{}\"\nrate-hai = \"{}\"\nmin-rate = \"{}\"\n",
                part(1000),
                part(200),
                part(1000)
            );
            if self.answers.buffer.per == Per::Port {
                *out += "# Without pauses packets are lost: only those are sent again.\n\
                         repair = \"selective\"\n";
            }
        } else {
            *out += "init-window = 10 # segments that a new connection sends at once (Linux)\n";
        }
        // Milliseconds, rounded up.
        let longest = (3 * rtt.largest).div_ceil(1_000_000_000) * 1_000_000_000;
        let _ = write!(
            out,
            "rto-min = \"{0}\" # smallest retransmission timeout: Linux has 200ms, data centres \
             lower it\n\
             rto-init = \"{0}\" # the one before the first measured RTT\n",
            time(longest.max(5_000_000_000))
        );
        out.push('\n');
    }

    fn switch(&self, out: &mut String) {
        let answers = self.answers;
        *out += "[switch]\n";
        let cells = match (answers.buffer.in_cells, self.cell) {
            (true, Some(cell)) => format!("{} cells of {cell} bytes", answers.buffer.amount),
            _ => String::new(),
        };
        let bytes = length(self.buffer);
        match answers.buffer.per {
            Per::Port => {
                let cells = if cells.is_empty() {
                    cells
                } else {
                    format!(": {cells}")
                };
                let _ = writeln!(out, "buffer = \"{bytes}\" # of each port{cells}");
            }
            Per::Switch => {
                let cells = if cells.is_empty() {
                    cells
                } else {
                    format!(" # {cells}")
                };
                let _ = write!(
                    out,
                    "# The ports of a switch share its buffer. A queue may hold alpha times the \
                     part that is free.\n\
                     buffer-policy = \"dynamic\"\n\
                     pool = \"{bytes}\"{cells}\n\
                     alpha = 1\n"
                );
                if answers.transport == "dcqcn" {
                    *out += "# A switch pauses its neighbours before it would lose packets.\n\
                             pfc = true\n";
                }
            }
        }
        if answers.queues > 1 {
            let _ = write!(
                out,
                "scheduler = \"dwrr\" # queues take turns and send a quantum of bytes each\n\
                 queues = {}\n",
                answers.queues
            );
        }
        out.push('\n');
    }

    fn measure(&self, out: &mut String) {
        *out += "[measure]\n\
                 trace = \"hottest\" # the report shows the queue of the busiest port over time\n\n\
                 # Run several loads:\n\
                 # [sweep]\n\
                 # \"workload.load\" = [0.3, 0.6, 0.9]\n";
    }
}

/// Whether a scenario may state a precision instead of its seeds.
fn has_precision() -> bool {
    cemark_scenario::key_table("precision", "").is_some()
}

/// A text as a comment, in lines that fit.
pub(crate) fn comment(text: &str) -> String {
    format!("# {}\n", wrap(text, WIDTH - 2).replace('\n', "\n# "))
}

/// A text as TOML writes it.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

/// A number with at most three digits behind the point.
fn number(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Picoseconds as files write them, at most four digits.
pub(super) fn time(picos: u64) -> String {
    let units = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)];
    let x = picos as f64;
    let fits = units.iter().find(|(_, scale)| x >= *scale);
    let (unit, scale) = fits.copied().unwrap_or(units[3]);
    let digits = x / scale;
    // `ns` have no digits behind the point: the simulator counts whole ones.
    let rounded = match digits {
        d if unit == "ns" || d >= 1000.0 => d.round(),
        d if d >= 100.0 => (d * 10.0).round() / 10.0,
        d if d >= 10.0 => (d * 100.0).round() / 100.0,
        d => (d * 1000.0).round() / 1000.0,
    };
    format!("{}{unit}", number(rounded))
}

/// Bytes as files write them; exact.
pub(super) fn length(bytes: u64) -> String {
    for (unit, scale, least) in [("MB", 1_000_000, 1000), ("KB", 1000, 10)] {
        if bytes >= scale && bytes.is_multiple_of(least) {
            return format!("{}{unit}", number(bytes as f64 / scale as f64));
        }
    }
    format!("{bytes}B")
}

/// Bits per second as files write them.
pub(super) fn rate(bps: u64) -> String {
    for (unit, scale) in [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1000)] {
        if bps >= scale && bps.is_multiple_of(scale / 1000) {
            return format!("{}{unit}", number(bps as f64 / scale as f64));
        }
    }
    format!("{bps}bps")
}

#[cfg(test)]
mod tests {
    use super::{length, rate, time};

    #[test]
    fn numbers_have_units_that_scenario_files_read() {
        let micro = 1_000_000;
        assert_eq!(time(80 * micro), "80us");
        assert_eq!(time(107_500_123), "107.5us");
        assert_eq!(time(12_345_678), "12.35us");
        assert_eq!(time(1_250 * micro), "1.25ms");
        assert_eq!(time(125_000), "125ns");
        assert_eq!(time(5_000 * micro), "5ms");
        assert_eq!(length(16_777_216), "16777216B");
        assert_eq!(length(600_000), "600KB");
        assert_eq!(length(1_500), "1.5KB");
        assert_eq!(length(15), "15B");
        assert_eq!(rate(25_000_000_000), "25Gbps");
        assert_eq!(rate(2_500_000), "2.5Mbps");
    }
}
