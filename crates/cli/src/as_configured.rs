// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--switch FILE`: the marking of a switch as a scheme of a scenario.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use cemark_platform::{Length, Profile, Switch};
use cemark_scenario::{Overrides, Plan};

use crate::exit::{Failure, complain, user};

/// Label of the scheme.
const LABEL: &str = "as configured";

/// A `[[scheme]]` with the profile of each traffic class, as the switch has it.
pub(crate) fn scheme(
    files: &[PathBuf],
    scenario: &str,
    overrides: &Overrides,
) -> Result<String, Failure> {
    scheme_of(files, &cemark_scenario::load(scenario, overrides)?)
}

/// A `[[scheme]]` with the profile of each traffic class of a plan, as the switch has it.
pub(crate) fn scheme_of(files: &[PathBuf], plan: &Plan) -> Result<String, Failure> {
    let switches = crate::doctor::of_files(files)?;
    let [switch] = &switches[..] else {
        return Err(user(
            "the files are of a switch with a database for each ASIC",
            "name the configuration of one ASIC",
        ));
    };
    let mut text = format!("[[scheme]]\nlabel = \"{LABEL}\"\n");
    if plan.dscps.is_empty() {
        text += &marker(only(switch)?)?;
        return Ok(text);
    }
    text += "marker = \"none\"\n";
    for (class, profile) in by_class(switch, &plan.dscps)? {
        // A name of a class is a key of TOML in quotes.
        let class = class.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "[scheme.class.\"{class}\"]");
        text += &match profile {
            Some(profile) => marker(profile)?,
            None => "marker = \"none\"\n".to_owned(),
        };
    }
    Ok(text)
}

/// The one curve of a switch, for a scenario without classes.
fn only(switch: &Switch) -> Result<&Profile, Failure> {
    let bound = |profile: &&Profile| switch.bound(&profile.name).next().is_some();
    let mut all: Vec<&Profile> = switch.profiles.values().filter(bound).collect();
    all.retain(|profile| profile.marks());
    let curve = |profile: &Profile| {
        let curve = &profile.curves[0];
        let of = |end: &Option<cemark_platform::At<Length>>| end.as_ref().map(|at| at.value);
        (of(&curve.min), of(&curve.max), curve.height())
    };
    match all.split_first() {
        Some((first, rest)) if rest.iter().all(|other| curve(other) == curve(first)) => Ok(first),
        Some(_) => {
            let names: Vec<&str> = all.iter().map(|profile| profile.name.as_str()).collect();
            Err(user(
                format!("the switch has several curves: {}", names.join(", ")),
                "write [[switch.class]] with dscp in the scenario, so that each class has its own",
            ))
        }
        None => Err(user(
            "no queue of the switch marks",
            "see what `cemark doctor` says of the files",
        )),
    }
}

/// The profile of each class by its first DSCP, at the first port that sorts by DSCP.
fn by_class<'a>(
    switch: &'a Switch,
    dscps: &'a BTreeMap<String, Vec<u8>>,
) -> Result<Vec<(&'a str, Option<&'a Profile>)>, Failure> {
    let sorts = switch.ports.iter().find(|(_, port)| port.classes.is_some());
    let Some((name, port)) = sorts else {
        return Err(user(
            "no port of the switch sorts packets by DSCP",
            "name a file that has the map from DSCP to traffic class as well",
        ));
    };
    let mut all = Vec::new();
    for (class, dscps) in dscps {
        let Some(dscp) = dscps.first() else {
            return Err(user(
                format!("the class `{class}` of the scenario has no DSCP"),
                "write dscp = 26 in its [[switch.class]]",
            ));
        };
        let queue = switch
            .class_of(port, usize::from(*dscp))
            .map(|(class, _)| port.queue(class));
        let profile = queue.and_then(|queue| switch.profile_of(name, queue));
        if let Some(profile) = profile.filter(|profile| !profile.marks()) {
            complain(
                &format!("{} of `{class}` marks nothing", profile.name),
                "the scheme has no marker there; `cemark doctor` says why",
            );
        }
        all.push((class.as_str(), profile.filter(|profile| profile.marks())));
    }
    Ok(all)
}

/// The curve of a profile as a marker.
fn marker(profile: &Profile) -> Result<String, Failure> {
    let curve = &profile.curves[0];
    let ends = (
        curve.min.as_ref().map(|at| at.value),
        curve.max.as_ref().map(|at| at.value),
    );
    match ends {
        (Some(Length::Bytes(min)), Some(Length::Bytes(max))) => {
            let weight = curve.weight.as_ref().map_or(0, |at| at.value);
            Ok(format!(
                "marker = \"wred\"\nmin = \"{min}B\"\nmax = \"{max}B\"\ndrop-probability = \
                 \"{}%\"\nweight = {weight}\n",
                curve.height() * 100.0
            ))
        }
        (Some(Length::Nanos(nanos)), _) => {
            Ok(format!("marker = \"tcn\"\nthreshold = \"{nanos}ns\"\n"))
        }
        _ => Err(user(
            format!("{} has no thresholds in bytes or time", profile.name),
            "thresholds in percent, packets or segments depend on the chip: write a [[scheme]] \
             with bytes",
        )),
    }
}
