// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenario that `cemark init` writes, three templates: every line with what it means,
//! every threshold with the rule that it follows from.

use minijinja::value::merge_maps;
use minijinja::{Value, context};

use super::answers::{Kind, Per};
use super::classes::Bound;
use super::parts::Parts;
use super::rtts::{self, Numbers};
use super::schemes;
use crate::quantity::{length, rate, time};
use crate::template::{filled, quoted};

/// Fabric and RTTs, with places for the answers.
const FABRIC: &str = include_str!("fabric.toml.jinja");
/// Flows, transport, switches and schemes where all flows are alike.
const FLOWS: &str = include_str!("flows.toml.jinja");
/// Flows, transports, queues and schemes by traffic class.
const CLASSES: &str = include_str!("classes.toml.jinja");

/// The longest propagation delay of a link, in picoseconds: 100 m of cable, and what a switch and
/// an adapter add.
const LONGEST_LINK: u64 = 1_000_000;

/// 10 m of cable: a histogram of RTTs may begin at zero.
const SHORTEST_LINK: u64 = 50_000;

impl Parts<'_> {
    /// A scenario without schemes of its own, from which the numbers of the base RTTs are read.
    pub fn draft(&self) -> String {
        let values = context! {
            draft => true,
            title => quoted("draft"),
            delay => time(SHORTEST_LINK),
            ..self.fabric_and_flows()
        };
        filled(FABRIC, values.clone()) + &filled(FLOWS, values)
    }

    /// The whole scenario.
    pub fn whole(&self, rtt: &Numbers) -> String {
        let values = merge_maps([
            schemes::thresholds(self, rtt),
            context! { control => self.answers.transport },
            self.head(rtt),
        ]);
        filled(FABRIC, values.clone()) + &filled(FLOWS, values)
    }

    /// The whole scenario of traffic classes: a published set, these schemes, today's.
    pub(crate) fn whole_by_class(
        &self,
        rtt: &Numbers,
        preset: Option<&str>,
        schemes: &[Bound],
        today: Option<&str>,
    ) -> String {
        let values = merge_maps([self.of_classes(preset, schemes, today), self.head(rtt)]);
        filled(FABRIC, values.clone()) + &filled(CLASSES, values)
    }

    /// Values that follow from the fabric and its RTTs.
    fn head(&self, rtt: &Numbers) -> Value {
        let answers = self.answers;
        let title = format!(
            "My fabric: {}, {} links",
            self.fabric.words,
            rate(answers.rate)
        );
        // The links there and back are the least that a base RTT can be.
        let share = rtt.smallest / u64::from(2 * self.fabric.links) / 1000 * 1000;
        // Milliseconds, rounded up.
        let longest = (3 * rtt.largest).div_ceil(1_000_000_000) * 1_000_000_000;
        context! {
            draft => false,
            title => quoted(&title),
            delay => time(share.clamp(SHORTEST_LINK, LONGEST_LINK)),
            rto => time(longest.max(5_000_000_000)),
            step => rate(answers.rate / 1000),
            fast_step => rate(answers.rate / 200),
            ..self.fabric_and_flows()
        }
    }

    fn fabric_and_flows(&self) -> Value {
        let (answers, extent) = (self.answers, &self.extent);
        let commands = [
            (
                format!("cemark check {}", self.file),
                "reads it and estimates what it costs",
            ),
            (
                format!("cemark run {}", self.file),
                "simulates it and compares the schemes",
            ),
            (
                "cemark help KEY".to_owned(),
                "explains a key, for instance workload.load",
            ),
        ];
        let keys = answers
            .rtt_keys
            .iter()
            .map(|(key, value)| (*key, quoted(value)));
        let cells = self.cell.filter(|_| answers.buffer.in_cells);
        let cells = cells.map(|cell| format!("{} cells of {cell} bytes", answers.buffer.amount));
        context! {
            commands => commands.map(|(typed, does)| (format!("{typed:30}"), does)),
            kind => match answers.kind {
                Kind::Star => "star",
                Kind::LeafSpine => "leaf-spine",
                Kind::FatTree => "fat-tree",
            },
            words => self.fabric.words.clone(),
            keys => self.fabric.keys.clone(),
            rate => rate(answers.rate),
            uplink => answers.uplink.map(rate),
            rtt => rtts::section(&answers.rtt),
            rtt_keys => keys.collect::<Vec<_>>(),
            sizes => quoted(&answers.sizes),
            load => answers.load.to_string(),
            tier => match answers.kind {
                Kind::Star => "host links",
                _ if self.fabric.ratio > 1.0 => "uplinks, the tier that fills first",
                _ => "links",
            },
            flows => extent.flows,
            warmup => extent.warmup,
            hold => time(extent.hold),
            several => answers.queues > 1,
            queues => answers.queues,
            weights => vec!["1"; answers.queues as usize].join(", "),
            buffer => length(self.buffer),
            cells => cells,
            per_port => answers.buffer.per == Per::Port,
            dcqcn => answers.transport == "dcqcn",
        }
    }
}
