// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scheme of a scenario that is exported, and the marking curve that is nearest to it.

use std::collections::BTreeMap;

use cemark_marking::{SchemeSpec, Values};
use cemark_param::Dialect;
use cemark_platform::{Ramp, Wanted, WantedQueue};
use cemark_scenario::Overrides;
use cemark_sim::Config;
use cemark_sim::config::{MarkerChoice, NonEct};
use cemark_wire::{Nanos, Rate};

use super::Args;
use crate::exit::{Failure, user};
use crate::schemes::labelled;

/// Cost of the ramp instead of ECN#, as the page of approximations has it.
const RAMP_FOR_ECN_SHARP: &str = "ECN#'s persistent marks cannot be said: a switch does not know \
    for how long a queue has stood. The ramp from pst_target to ins_target is nearest. With DCTCP \
    at load 0.9 it has 125 % (121 to 129) of ECN#'s gain for short flows, and large flows take 0 % \
    (± 2) longer (docs/p4.md, cemark figure approximations --full).";

/// A scheme of a scenario.
pub(super) struct Chosen {
    /// Label of the scheme.
    pub label: String,
    /// Scheme and scenario in words.
    pub title: String,
    /// Configuration of the scheme's first point.
    pub config: Config,
    /// Rate of the ports that was asked for, in bits per second.
    rate: Option<u64>,
    /// DSCPs of traffic classes by name.
    dscps: BTreeMap<String, Vec<u8>>,
}

impl Chosen {
    /// Reads the scenario and finds the scheme.
    pub fn of(args: &Args) -> Result<Chosen, Failure> {
        let mut overrides = Overrides {
            seed: Some(1),
            ..Overrides::default()
        };
        for set in &args.set {
            overrides.add(set)?;
        }
        let plan = cemark_scenario::load(&args.name, &overrides)?;
        let label = match (&args.scheme, &plan.schemes[..]) {
            (Some(label), _) => labelled(&plan, label)?,
            (None, [only]) => only,
            (None, all) => {
                return Err(user(
                    format!("{} has {} schemes", args.name, all.len()),
                    format!("write --scheme with one of: {}", all.join(", ")),
                ));
            }
        };
        let points = plan.points.iter().filter(|point| point.scheme == *label);
        let points: Vec<_> = points.collect();
        let chosen = Chosen {
            label: label.clone(),
            title: format!("{label} of {}", plan.name),
            config: points[0].config.clone(),
            rate: args.rate,
            dscps: plan.dscps.clone(),
        };
        chosen.is_of_the_catalogue(&args.target)?;
        let like = |config: &Config| {
            let (own, other) = (&chosen.config, config);
            let mut pairs = own.switch.markers().zip(other.switch.markers());
            own.switch.queues.len() == other.switch.queues.len()
                && own.topology.slowest() == other.topology.slowest()
                && pairs.all(|(own, other)| same(own, other))
        };
        if let Some(other) = points.iter().find(|point| !like(&point.config)) {
            let axes: Vec<&str> = other.axes.keys().map(String::as_str).collect();
            return Err(user(
                format!("{label} has other thresholds in other cells of the sweep"),
                format!("choose a cell with --set: {}", axes.join(", ")),
            ));
        }
        Ok(chosen)
    }

    /// Refuses a marker of the user's own, which no target has a form of.
    fn is_of_the_catalogue(&self, target: &str) -> Result<(), Failure> {
        let mut markers = self.config.switch.markers();
        let own = |m: &MarkerChoice| matches!(m, MarkerChoice::Own(_) | MarkerChoice::Custom(_));
        if !markers.any(own) {
            return Ok(());
        }
        Err(user(
            format!(
                "{} is a marker of your own, and {target} has no form of it",
                self.label
            ),
            "name a scheme of the catalogue with --scheme; docs/own-marker.md says where the code \
             of a marker runs",
        ))
    }

    /// The rate of the ports: that of the slowest links where none is asked for.
    fn rate(&self) -> Rate {
        let slowest = self.config.topology.slowest();
        self.rate.map_or(slowest, Rate)
    }

    /// The scheme of the catalogue, where every queue has the same one.
    pub fn scheme(&self) -> Result<(&'static SchemeSpec, &Values), Failure> {
        let mut markers = self.config.switch.markers();
        let first = markers.next();
        match first {
            Some(MarkerChoice::Builtin { scheme, values })
                if markers.all(|other| same(first.unwrap_or(other), other)) =>
            {
                crate::schemes::must_be_deployed(scheme)?;
                Ok((scheme, values))
            }
            Some(MarkerChoice::Builtin { .. }) => Err(user(
                format!("the queues of {} have unlike markers", self.label),
                "export to a switch (--as sonic), or write one scheme for all classes",
            )),
            _ => Err(user(
                format!("{} is no scheme of the catalogue", self.label),
                "export a scheme of the catalogue: cemark schemes",
            )),
        }
    }

    /// The port as words of `tc` for the qdisc `cemark`.
    pub fn as_qdisc(&self) -> Result<String, Failure> {
        let queues = cemark_testbed::Dscps {
            of_class: &self.dscps,
            rest: self.rest(),
        };
        let words = cemark_testbed::exported(&self.config, self.rate(), queues);
        words.map_err(|no| user(no.to_string(), no.instead))
    }

    /// The queue of a DSCP without a class: that of best effort, or else the first that is neither
    /// lossless nor strict.
    fn rest(&self) -> u8 {
        let switch = &self.config.switch;
        let has = |class: &str, dscp: u8| self.dscps.get(class).is_some_and(|d| d.contains(&dscp));
        let plain = |queue: u8| {
            let queue = switch.queues.get(usize::from(queue));
            queue.is_some_and(|queue| !queue.lossless && !queue.strict)
        };
        let mut queues = switch.classes.iter().map(|class| class.queue);
        let best_effort = switch.classes.iter().find(|class| has(&class.name, 0));
        best_effort
            .map(|class| class.queue)
            .or_else(|| queues.find(|queue| plain(*queue)))
            .unwrap_or(0)
    }

    /// The parameters in a line.
    pub fn parameters(&self) -> Result<String, Failure> {
        let (spec, values) = self.scheme()?;
        let all = spec.params.iter().enumerate().map(|(i, param)| {
            format!(
                "{} = {}",
                param.name,
                param.show(values.get(i), Dialect::Message)
            )
        });
        Ok(format!(
            "{}: {}",
            self.title,
            all.collect::<Vec<_>>().join(", ")
        ))
    }

    /// The scheme as a switch can have it.
    pub fn wanted(&self, ports: &str) -> Result<Wanted, Failure> {
        let switch = &self.config.switch;
        let mut notes = Vec::new();
        let mut queues = Vec::new();
        for (index, queue) in switch.queues.iter().enumerate() {
            let classes = switch
                .classes
                .iter()
                .filter(|c| usize::from(c.queue) == index);
            let mut dscps: Vec<u8> = classes
                .filter_map(|class| self.dscps.get(&class.name))
                .flatten()
                .copied()
                .collect();
            dscps.sort_unstable();
            queues.push(WantedQueue {
                index: index.min(255) as u8,
                dscps,
                lossless: queue.lossless && switch.pfc.is_some(),
                ramp: nearest(
                    &switch.marker_at(index, self.rate()),
                    self.rate(),
                    &mut notes,
                )?,
            });
        }
        // Without classes every queue is one; otherwise those that a class has.
        let has = |queue: &WantedQueue| switch.classes.iter().any(|c| c.queue == queue.index);
        if !switch.classes.is_empty() {
            queues.retain(has);
        }
        if queues.iter().all(|queue| queue.ramp.is_none()) {
            return Err(user(
                format!("{} marks in no queue", self.label),
                "export a scheme that marks",
            ));
        }
        if let (Some(rate), None) = (switch.threshold_rate, self.rate) {
            notes.push(format!(
                "The thresholds are those of ports with {} Gb/s; other ports have them in \
                 proportion, and need a profile of their own (--rate).",
                rate.0 as f64 / 1e9
            ));
        }
        if switch.non_ect == NonEct::Drop {
            notes.push(
                "Packets that are not ECN-capable are dropped where others are marked, as the \
                 scenario says."
                    .to_owned(),
            );
        }
        Ok(Wanted {
            ports: ports.to_owned(),
            suffix: self.rate.map_or_else(String::new, suffix),
            queues,
            rest: self.rest(),
            notes,
            comments: Vec::new(),
        })
    }
}

/// End of the name of a profile for ports of a rate. Names of profiles have no point.
fn suffix(rate: u64) -> String {
    match rate % 1_000_000_000 {
        0 => format!("_{}G", rate / 1_000_000_000),
        _ => format!("_{}M", rate / 1_000_000),
    }
}

/// Whether two markers are the same scheme of the catalogue with the same parameters.
fn same(one: &MarkerChoice, other: &MarkerChoice) -> bool {
    match (one, other) {
        (MarkerChoice::None, MarkerChoice::None) => true,
        (
            MarkerChoice::Builtin { scheme, values },
            MarkerChoice::Builtin {
                scheme: other,
                values: others,
            },
        ) => scheme.name == other.name && values.0 == others.0,
        _ => false,
    }
}

/// Adds a sentence once.
fn say(notes: &mut Vec<String>, sentence: String) {
    if !notes.contains(&sentence) {
        notes.push(sentence);
    }
}

/// The curve over the queue length that is nearest to a marker; none for a queue without marks.
fn nearest(
    marker: &MarkerChoice,
    rate: Rate,
    notes: &mut Vec<String>,
) -> Result<Option<Ramp>, Failure> {
    let (spec, values) = match marker {
        MarkerChoice::None => return Ok(None),
        MarkerChoice::Builtin { scheme, values } => (*scheme, values),
        MarkerChoice::Own(_) | MarkerChoice::Custom(_) => {
            return Err(user(
                "a marker of one's own has no curve that a switch knows",
                "export a scheme of the catalogue",
            ));
        }
    };
    let get = |name: &str| {
        let at = spec.params.iter().position(|param| param.name == name);
        values.get(at.expect("a parameter of the scheme"))
    };
    let shown = |name: &str| {
        let at = spec.params.iter().position(|param| param.name == name);
        let at = at.expect("a parameter of the scheme");
        spec.params[at]
            .show(values.get(at), Dialect::Message)
            .to_string()
    };
    let length = |name: &str| rate.bytes_in(Nanos(get(name)));
    let gbps = rate.0 as f64 / 1e9;
    let (min, max, height) = match spec.name {
        "threshold" => {
            if shown("scope") != "queue" {
                say(
                    notes,
                    format!(
                        "The scheme compares the length of the {}; a switch compares that of each \
                         queue.",
                        shown("scope")
                    ),
                );
            }
            (get("k"), get("k"), 65_536)
        }
        "wred" => {
            if get("weight") > 0 {
                say(
                    notes,
                    "The average of the queue length is left out: weight 0.".to_owned(),
                );
            }
            (get("min"), get("max"), get("drop_probability"))
        }
        "red" => {
            if get("weight") < 65_536 {
                say(
                    notes,
                    format!(
                        "RED's average (weight {}) is left out: the switch judges the queue \
                         length itself.",
                        shown("weight")
                    ),
                );
            }
            (get("kmin"), get("kmax"), get("pmax"))
        }
        "tcn" => {
            let k = length("threshold");
            say(
                notes,
                format!(
                    "A sojourn time of {} is {k} B at {gbps} Gb/s while one queue has the whole \
                     link. With n busy queues packets wait n times as long before they are marked.",
                    shown("threshold")
                ),
            );
            (k, k, 65_536)
        }
        "ecn_sharp" if shown("instant") == "ramp" => {
            say(
                notes,
                RAMP_FOR_ECN_SHARP
                    .split(" The ramp")
                    .next()
                    .unwrap_or("")
                    .to_owned()
                    + ".",
            );
            (length("kmin"), length("kmax"), get("pmax"))
        }
        "ecn_sharp" => {
            say(notes, RAMP_FOR_ECN_SHARP.to_owned());
            (length("pst_target"), length("ins_target"), 65_536)
        }
        _ => {
            return Err(user(
                format!(
                    "{} has no curve over the queue length that is near to it",
                    spec.title
                ),
                "export threshold, wred, red, tcn or ecn_sharp; docs/p4.md says what a switch \
                 without the scheme can do",
            ));
        }
    };
    let exact = height as f64 / 655.36;
    let percent = (exact.round() as u64).clamp(1, 100);
    if (exact - percent as f64).abs() > 0.01 {
        say(
            notes,
            format!(
                "The probability {exact:.2} % is written as {percent} %: switches have whole \
                 percents."
            ),
        );
    }
    if min > max {
        return Err(user(
            format!(
                "the lower threshold of {} is {min} B and the upper one {max} B",
                spec.title
            ),
            "write the smaller one first",
        ));
    }
    Ok(Some(Ramp { min, max, percent }))
}
