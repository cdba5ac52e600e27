// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules on configurations: what makes ECN silent or harmful. A rule is an entry of [`ALL`]; a
//! rule without evidence in public is not in the list.

mod classes;
mod curve;
mod form;
mod marking;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Switch;
use crate::place::Place;
use crate::platforms::{Fix, Platform};

/// Most places of a finding that are kept; more are counted.
const MOST_PLACES: usize = 256;

/// How certain a rule is that packets suffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The configuration does not do what it says.
    Error,
    /// The configuration does what it says, and operators who wrote the like regretted it.
    Warning,
}

impl Level {
    /// Word of the level in answers.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
        }
    }
}

/// A rule.
pub struct Rule {
    /// Number of the rule, which never changes: `CE01`.
    pub id: &'static str,
    /// Name of the rule in a few words: `profile-disabled`.
    pub name: &'static str,
    /// Level of its findings.
    pub level: Level,
    /// The mistake, in one sentence.
    pub why: &'static str,
    /// The effect on packets, in one sentence.
    pub packets: &'static str,
    /// Public threads, pages and code in which the mistake is seen.
    pub evidence: &'static [&'static str],
    /// Finds the mistake in a switch.
    find: fn(&'static Rule, &Switch, &mut Findings),
}

/// Every rule, by number.
pub static ALL: &[&Rule] = &[
    &marking::DISABLED,
    &marking::DROPS,
    &marking::UNBOUND,
    &marking::MISSING,
    &curve::CROSSED,
    &curve::FLAT,
    &curve::SHORT,
    &classes::PAUSES_FIRST,
    &classes::DSCP_DEFAULT,
    &classes::PAUSES_ONLY,
    &classes::MARKS_ONLY,
    &curve::OTHER_RATE,
    &form::MALFORMED,
    &form::VOQ,
    &curve::CELLS,
    &form::PATCH,
    &curve::AVERAGED,
    &marking::NOTHING,
];

/// The rule with a number or a name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    let named = |rule: &&&Rule| rule.id.eq_ignore_ascii_case(name) || rule.name == name;
    ALL.iter().find(named).copied()
}

/// A mistake in a configuration.
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// Level of the finding: that of the rule, or a higher one.
    pub level: Level,
    /// The profile, queue or map that has the mistake.
    pub subject: String,
    /// The mistake with the values that the configuration has.
    pub message: String,
    /// Places of the mistake, the first of them first; at most 256.
    pub places: Vec<Place>,
    /// Ports that have it; empty where the mistake is not one of ports.
    pub ports: BTreeSet<String>,
    /// The remedy in the platform's words.
    pub remedy: String,
}

/// Findings while the rules run: equal mistakes of several ports are one finding.
pub(crate) struct Findings {
    platform: &'static dyn Platform,
    all: Vec<Finding>,
    /// Index of each finding by its rule, subject and message.
    known: BTreeMap<(&'static str, String, String), usize>,
}

impl Findings {
    /// Adds a finding, or its place and port to the finding that says it already.
    fn add(
        &mut self,
        rule: &'static Rule,
        place: &Place,
        subject: &str,
        message: String,
        fix: &Fix,
    ) -> &mut Finding {
        let key = (rule.id, subject.to_owned(), message.clone());
        let at = *self.known.entry(key).or_insert_with(|| {
            self.all.push(Finding {
                rule,
                level: rule.level,
                subject: subject.to_owned(),
                message,
                places: Vec::new(),
                ports: BTreeSet::new(),
                remedy: self.platform.remedy(fix),
            });
            self.all.len() - 1
        });
        let finding = &mut self.all[at];
        if finding.places.len() < MOST_PLACES && !finding.places.contains(place) {
            finding.places.push(place.clone());
        }
        finding
    }
}

impl Finding {
    /// Adds ports that have the mistake.
    fn on<'a>(&mut self, ports: impl IntoIterator<Item = &'a str>) {
        self.ports.extend(ports.into_iter().map(str::to_owned));
    }
}

/// Judges a switch of a platform: findings by rule, then by profile.
pub fn judge(platform: &'static dyn Platform, switch: &Switch) -> Vec<Finding> {
    let mut findings = Findings {
        platform,
        all: Vec::new(),
        known: BTreeMap::new(),
    };
    for rule in ALL {
        (rule.find)(rule, switch, &mut findings);
    }
    findings.all
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn numbers_follow_each_other_and_every_rule_has_evidence() {
        for (rule, number) in ALL.iter().zip(1..) {
            assert_eq!(rule.id, format!("CE{number:02}"));
            assert!(!rule.evidence.is_empty(), "{}", rule.id);
            for sentence in [rule.why, rule.packets] {
                assert!(
                    sentence.ends_with('.') && !sentence.contains("  "),
                    "{sentence}"
                );
            }
        }
        assert_eq!(super::rule("ce03").map(|r| r.name), Some("profile-unbound"));
        assert!(super::rule("CE99").is_none());
    }
}
