// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where each parameter of a figure comes from.
//!
//! A row is decided on the set-up that the authors ran: (1) what the paper says; (2) where it is
//! silent, their public code; (3) where that is silent, the defaults of the tool that they name;
//! (4) only then our choice. `docs/figures.md` has the rule. The tables `[why.paper]`,
//! `[why.code]`, `[why.tool]` and `[why.ours]` of a figure's file say which of the four each
//! parameter is:
//!
//! ```toml
//! [why.paper]
//! topology = "section 5.3: 128 hosts under 8 leaves and 8 spines"
//! [why.code]
//! "transport.rto-min" = "large-scale.cc:269"
//! [why.ours]
//! "transport.mss" = { why = "1500 B on the wire", code = "1400 B: large-scale.cc:28" }
//! ```
//!
//! A path names a parameter (`scheme.ECN#.k`, with the label or name of an entry of a list), or all
//! below it (`topology`); `*` fits any one part. Of several that fit, the longest counts.
//! Every parameter must have a grade, and every path a parameter.

use cemark_scenario::{settings, value_text};
use serde::Serialize;
use toml::{Table, Value};

use super::calibration::Calibration;
use super::error::Mistake;

/// Where a parameter comes from, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The paper says so.
    Paper,
    /// The paper is silent, and the authors' public code has it so.
    Code,
    /// Both are silent, and it is the default of the simulator or the kernel that they name.
    Tool,
    /// Our choice.
    Ours,
}

impl Grade {
    /// All of them, the best first.
    pub const ALL: [Grade; 4] = [Grade::Paper, Grade::Code, Grade::Tool, Grade::Ours];

    /// Its name in figure files, tables and JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Grade::Paper => "paper",
            Grade::Code => "code",
            Grade::Tool => "tool",
            Grade::Ours => "ours",
        }
    }
}

/// A parameter of a figure, with its grade.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// `scheme.ECN#.pst_target`.
    pub path: String,
    /// Its value, as the file writes it.
    pub value: String,
    /// Where it comes from.
    pub grade: Grade,
    /// The section of the paper, the file and line of the code, or the reason for our choice.
    pub why: String,
    /// Value of a source of a better grade, where it differs: a row may be decided on the wrong
    /// value. `None` where no better source is known to differ.
    pub instead: Option<Instead>,
}

/// Value of a source that the figure does not follow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Instead {
    /// The grade of that source.
    pub grade: Grade,
    /// Its value, and the place.
    pub text: String,
}

/// Line of a `[why.…]` table.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    path: String,
    grade: Grade,
    why: String,
    instead: Option<Instead>,
}

/// Takes `[why]` out of a figure's table, which is otherwise a scenario with variants, and returns
/// the parameters in the order of the file. Keys that say what is measured and how long, and not
/// how the experiment is set up, are no parameters: see [`is_parameter`].
///
/// # Errors
/// A parameter without a grade, a path without a parameter, or a table that is no such table.
pub(super) fn take(
    table: &mut Table,
    calibration: &Calibration,
) -> Result<Vec<Parameter>, Mistake> {
    let lines = match table.remove("why") {
        None => Vec::new(),
        Some(why) => read(why)?,
    };
    let mut leaves = settings(table);
    leaves.retain(|setting| is_parameter(&setting.path));
    let mut used = vec![false; lines.len()];
    let mut parameters = Vec::new();
    let mut bare = Vec::new();
    for setting in leaves {
        let path = setting.path.join(".");
        let fits = lines
            .iter()
            .enumerate()
            .filter(|(_, l)| fits(&l.path, &setting.path));
        let best = fits.max_by_key(|(_, line)| depth(&line.path));
        let fitted = setting
            .value
            .as_str()
            .and_then(|text| text.strip_prefix('$'))
            .and_then(|name| calibration.parameters().find(|p| p.0 == name));
        let (grade, why, instead) = match (best, fitted) {
            (Some((i, line)), _) => {
                used[i] = true;
                (line.grade, line.why.clone(), line.instead.clone())
            }
            (None, Some((_, fitted))) => {
                let why = format!("a free parameter, fitted on {}", fitted.row);
                (Grade::Ours, why, None)
            }
            (None, None) => {
                bare.push(path);
                continue;
            }
        };
        let value = match fitted {
            Some((_, fitted)) => value_text(&fitted.value),
            None => setting.text(),
        };
        parameters.push(Parameter {
            path,
            value,
            grade,
            why,
            instead,
        });
    }
    if !bare.is_empty() {
        return Err(Mistake::NoGrade(bare.join(", ")));
    }
    if let Some(i) = used.iter().position(|used| !used) {
        return Err(Mistake::StrayGrade(lines[i].path.clone()));
    }
    Ok(parameters)
}

fn read(why: Value) -> Result<Vec<Line>, Mistake> {
    let Value::Table(why) = why else {
        return Err(Mistake::NotATable("[why]"));
    };
    let mut lines = Vec::new();
    for (key, entries) in why {
        let grade = Grade::ALL.into_iter().find(|g| g.key() == key);
        let (Some(grade), Value::Table(entries)) = (grade, entries) else {
            return Err(Mistake::UnknownGrade(key));
        };
        for (path, entry) in entries {
            if lines.iter().any(|l: &Line| l.path == path) {
                return Err(Mistake::Twice(path));
            }
            let (why, instead) = match entry {
                Value::String(why) => (why, None),
                Value::Table(entry) => reason(&path, entry, grade)?,
                _ => return Err(Mistake::Grade(path)),
            };
            if why.trim().is_empty() {
                return Err(Mistake::Grade(path));
            }
            lines.push(Line {
                path,
                grade,
                why,
                instead,
            });
        }
    }
    Ok(lines)
}

/// `{ why = "…", code = "…" }`: the reason, and what a better source has.
fn reason(
    path: &str,
    mut entry: Table,
    grade: Grade,
) -> Result<(String, Option<Instead>), Mistake> {
    let wrong = || Mistake::Grade(path.to_owned());
    let Some(Value::String(why)) = entry.remove("why") else {
        return Err(wrong());
    };
    let mut instead = None;
    for (key, text) in entry {
        let better = Grade::ALL.into_iter().find(|g| g.key() == key);
        match (better, text) {
            (Some(better), Value::String(text)) if better < grade && instead.is_none() => {
                let grade = better;
                instead = Some(Instead { grade, text });
            }
            _ => return Err(wrong()),
        }
    }
    Ok((why, instead))
}

/// Whether a key belongs to the set-up. Titles and names do not; nor do seeds, which only narrow
/// intervals, and what is measured.
fn is_parameter(parts: &[String]) -> bool {
    const NONE: [&str; 9] = [
        "title",
        "description",
        "seeds",
        "baseline",
        "measure",
        "quick",
        "full",
        "until",
        "max-time",
    ];
    let inner = match parts {
        [first, _, rest @ ..] if first == "variant" => rest,
        all => all,
    };
    let last = parts.last().map_or("", String::as_str);
    inner.first().is_some_and(|first| {
        let budget = first == "workload" && matches!(last, "flows" | "warmup" | "hold");
        !NONE.contains(&&**first) && !budget && !matches!(last, "label" | "name")
    })
}

/// Whether a path names a parameter or something above it. Names may contain dots (`K2 1.5`), so
/// the path is not cut at them.
fn fits(path: &str, parts: &[String]) -> bool {
    let Some((first, rest)) = parts.split_first() else {
        return path.is_empty();
    };
    [first.as_str(), "*"].iter().any(|part| {
        path.strip_prefix(part).is_some_and(|left| {
            left.is_empty() || left.strip_prefix('.').is_some_and(|left| fits(left, rest))
        })
    })
}

/// How exact a path is: its length, where `*` counts for nothing.
fn depth(path: &str) -> (usize, usize) {
    (path.matches('.').count(), path.replace('*', "").len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        title = "no parameter"
        seeds = 3
        [topology]
        leaves = 8
        rate = "10Gbps"
        [[workload]]
        load = 0.5
        flows = 100
        [transport]
        init-window = "$open"
        [[scheme]]
        label = "K2 1.5"
        k = "14pkt"
        [[scheme]]
        label = "RED"
        k = "20pkt"
        [[variant]]
        name = "many"
        topology = { leaves = 9 }
        measure = { from = "1ms" }
    "#;

    fn taken(why: &str) -> Result<Vec<Parameter>, Mistake> {
        let calibration = "[open]\nvalue = 70\nrow = \"ECNSHARP-T07\"\nwhy = \"not given\"\n";
        let calibration = Calibration::parse(calibration).unwrap();
        let mut table: Table = format!("{SCENARIO}\n{why}").parse().unwrap();
        take(&mut table, &calibration)
    }

    const WHOLE: &str = r#"
        [why.paper]
        topology = "section 5"
        "workload.load" = "section 5"
        "variant.*.topology" = "section 6"
        [why.code]
        "topology.rate" = "script.cc:12"
        "scheme.*.k" = "script.cc:13"
        [why.ours]
        "scheme.K2 1.5.k" = { why = "as cheap", code = "20 packets: script.cc:14" }
    "#;

    #[test]
    fn the_longest_path_grades_a_parameter() {
        let found = taken(WHOLE).unwrap();
        let found: Vec<(&str, &str, Grade)> = found
            .iter()
            .map(|p| (&*p.path, &*p.value, p.grade))
            .collect();
        let mut wanted = [
            ("topology.leaves", "8", Grade::Paper),
            ("topology.rate", "10Gbps", Grade::Code),
            ("workload.load", "0.5", Grade::Paper),
            ("transport.init-window", "70", Grade::Ours),
            ("scheme.K2 1.5.k", "14pkt", Grade::Ours),
            ("scheme.RED.k", "20pkt", Grade::Code),
            ("variant.many.topology.leaves", "9", Grade::Paper),
        ];
        let mut found = found;
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_a_better_source_has_is_kept() {
        let found = taken(WHOLE).unwrap();
        let differing: Vec<&Parameter> = found.iter().filter(|p| p.instead.is_some()).collect();
        assert_eq!(differing.len(), 1);
        let instead = differing[0].instead.as_ref().unwrap();
        assert_eq!(instead.grade, Grade::Code);
        assert_eq!(instead.text, "20 packets: script.cc:14");
    }

    #[test]
    fn mistakes_name_the_parameter() {
        let without = WHOLE.replace("\"workload.load\" = \"section 5\"", "");
        let said = taken(&without).unwrap_err().to_string();
        assert!(said.contains("workload.load"), "{said}");
        let stray = WHOLE.replace("\"topology.rate\"", "\"topology.rates\"");
        let said = taken(&stray).unwrap_err().to_string();
        assert!(said.contains("topology.rates"), "{said}");
        let better = WHOLE.replace("code = \"20", "ours = \"20");
        let said = taken(&better).unwrap_err().to_string();
        assert!(said.contains("scheme.K2 1.5.k"), "{said}");
        let unknown = WHOLE.replace("[why.paper]", "[why.papers]");
        let said = taken(&unknown).unwrap_err().to_string();
        assert!(said.contains("papers"), "{said}");
        let empty = WHOLE.replace("script.cc:12", " ");
        let said = taken(&empty).unwrap_err().to_string();
        assert!(said.contains("topology.rate"), "{said}");
    }
}
