// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[full]`: what `cemark run --full` changes, such as the number of flows that a paper used.

use crate::error::{Fallible, Fault, fold};
use crate::path;
use crate::sections::{Form, SectionSpec};
use crate::sweep::{self, Axis};
use crate::top;
use crate::tree::{Table, Value};

pub(crate) static FULL: SectionSpec = SectionSpec::new(
    "full",
    Form::Table,
    &[],
    "Paths and their values under `cemark run --full`, which also switches `[precision]` off.",
)
.fixed();

/// Takes `[full]` out of the tree and, if the command line asks for it, applies it. The paths are
/// those of `--set`, and a list sweeps.
pub(crate) fn apply(root: &mut Table, axes: &mut Vec<Axis>, wanted: bool) -> Fallible<()> {
    let entry = root.take(FULL.name);
    let Some(entry) = entry else {
        return match wanted {
            false => Ok(()),
            true => Err(Fault::nowhere(
                "--full: this scenario has no section [full], so there is nothing to run in full",
            )
            .help(
                "leave --full out, or write [full] into the file and under it what changes: \
                 seeds = 3 and \"workload.flows\" = 10000",
            )),
        };
    };
    let Value::Table(table) = &entry.node.value else {
        return Err(Fault::new(entry.node.at, "[full] is a table")
            .help("write [full] and under it \"workload.flows\" = 10000"));
    };
    let mut all = Vec::new();
    sweep::flatten(table, "", &mut all);
    // Without --full the section is checked all the same: a wrong path in it is a mistake today.
    let mut trial = root.clone();
    let mut trial_axes = axes.clone();
    let (root, axes) = match wanted {
        true => (root, axes),
        false => (&mut trial, &mut trial_axes),
    };
    for (path, at, node) in all {
        if fold(&path) == top::SEEDS.spec.name {
            root.put(top::SEEDS.spec.name, node);
            continue;
        }
        let swept = axes.iter().any(|axis| fold(&axis.path) == fold(&path));
        match node.value {
            Value::List(values) => sweep::add(axes, path, at, values, node.at)?,
            _ if swept => sweep::add(axes, path, at, vec![node.clone()], node.at)?,
            _ => path::set(root, &path, at, &node)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Overrides, parse};

    const FILE: &str = "
[topology]
kind = \"star\"
hosts = 4
[[workload]]
kind = \"poisson\"
sizes = \"web-search\"
load = 0.5
flows = 100
[[scheme]]
marker = \"threshold\"
[sweep]
\"workload.load\" = [0.3, 0.5]
";

    fn read(full: &str, wanted: bool) -> Result<crate::Plan, String> {
        let overrides = Overrides {
            full: wanted,
            ..Overrides::default()
        };
        let text = format!("{FILE}{full}");
        parse(&text, "f.toml", &overrides)
            .map_err(|e| format!("{e} | {}", e.help_text().unwrap_or_default()))
    }

    #[test]
    fn full_changes_what_it_names() {
        let full = "[full]\nseeds = 3\n\"workload.flows\" = 200\nworkload.load = 0.7\n";
        assert_eq!(read(full, false).unwrap().points.len(), 2);
        let plan = read(full, true).unwrap();
        assert_eq!(plan.points.len(), 3);
        assert_eq!(plan.points[0].load, Some(0.7));
        assert!(!plan.source.contains("full"), "{}", plan.source);
    }

    #[test]
    fn mistakes_say_what_to_write() {
        let none = read("", true).unwrap_err();
        assert!(none.contains("no section [full]"), "{none}");
        // A path that leads nowhere is a mistake with and without the option.
        for wanted in [false, true] {
            let wrong = read("[full]\n\"nowhere.flows\" = 3\n", wanted).unwrap_err();
            assert!(wrong.contains("nowhere"), "{wrong}");
        }
        let word = read("full = 3\n", true).unwrap_err();
        assert!(word.contains("full"), "{word}");
    }
}
