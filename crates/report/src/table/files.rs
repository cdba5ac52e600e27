// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables as files: CSV with every digit and the units in the header, for programs; Markdown as
//! people read it, for documents.

mod ports;

use std::borrow::Cow;

use cemark_scenario::{Plan, visible};

use crate::by_size::{self, SchemeSlowdown};
use crate::comparison::{Comparisons, Group, OfClass, Row};
use crate::metrics::{self, Metric, Sample};
use crate::{Finished, chart, params, rundir};

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// File name of the table, without extension.
    pub name: String,
    /// Title above the table, one line.
    pub title: String,
    /// Heads of the columns.
    pub head: Vec<String>,
    /// As many cells in each as there are heads.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// As CSV (RFC 4180, lines end in `\n`).
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let lines = std::iter::once(&self.head).chain(&self.rows);
        for line in lines {
            let cells = line.iter().map(|cell| harmless(cell).into_owned());
            writer.write_record(cells).expect("a file in memory");
        }
        let bytes = writer.into_inner().expect("a file in memory");
        String::from_utf8(bytes).expect("made of strings")
    }

    /// As Markdown: the first column to the left, the others to the right.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells = cells.iter().map(|c| in_markdown(c).replace('|', "\\|"));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut out = format!("{}\n\n{}", in_markdown(&self.title), line(&self.head));
        let rule = |i: usize| if i == 0 { "---" } else { "---:" };
        let rules: Vec<String> = (0..self.head.len()).map(|i| rule(i).to_owned()).collect();
        out += &format!("|{}|\n", rules.join("|"));
        self.rows.iter().for_each(|row| out += &line(row));
        out
    }
}

/// A cell of CSV. A text that a spreadsheet would compute has an apostrophe before it.
fn harmless(cell: &str) -> Cow<'_, str> {
    let computed = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    // A dash alone means that there is no value.
    match computed && cell != "-" && cell.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{cell}")),
        false => Cow::Borrowed(cell),
    }
}

/// Text in Markdown, which is no HTML.
fn in_markdown(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;")
}

/// The tables of a run for programs.
pub fn exact(plan: &Plan, finished: &[Finished], comparisons: &Comparisons) -> Vec<Table> {
    let compared: Vec<&Metric> = metrics::compared()
        .filter(|m| comparisons.groups.iter().any(|g| g.has(m)))
        .collect();
    let cells = comparisons
        .groups
        .iter()
        .flat_map(|g| &g.rows)
        .flat_map(|r| &r.cells);
    // Metrics with a percentile somewhere that is the largest of its values.
    let largest: Vec<&Metric> = compared
        .iter()
        .copied()
        .filter(|m| {
            cells
                .clone()
                .any(|c| c.metric == *m && c.largest_of.is_some())
        })
        .collect();
    let mut head: Vec<String> = plan.axes.clone();
    head.push("scheme".to_owned());
    for m in &compared {
        head.push(format!("{} [{}]", m.key, m.unit.name()));
        let against = ["difference", "low", "high", "published"];
        head.extend(against.map(|what| format!("{} {what} [%]", m.key)));
        head.push(format!("{} values [{}]", m.key, m.counts()));
        if largest.contains(m) {
            head.push(format!("{} largest of [{}]", m.key, m.counts()));
        }
    }
    head.extend(metrics::counted().map(|m| format!("{} [{}]", m.key, m.unit.name())));
    head.extend(["flows", "unfinished", "seeds"].map(str::to_owned));
    let mut rows = Vec::new();
    for group in &comparisons.groups {
        for row in &group.rows {
            let axes = plan.axes.iter();
            let mut cells: Vec<String> = axes
                .map(|path| group.axes.get(path).cloned().unwrap_or_default())
                .collect();
            cells.push(row.scheme.clone());
            for m in &compared {
                let cell = row.cell(m);
                let interval = cell.against.and_then(|c| c.interval);
                let published = cell.published.as_ref().map(|p| p.percent);
                let values = [
                    cell.absolute,
                    cell.against.map(|c| c.percent),
                    interval.map(|i| i.0),
                    interval.map(|i| i.1),
                    published,
                ];
                cells.extend(values.map(number));
                let points = row.points.iter();
                let samples = points.map(|i| Sample::new(&plan.points[*i], &finished[*i].outcome));
                cells.push(samples.map(|s| m.samples(&s)).sum::<u64>().to_string());
                if largest.contains(m) {
                    cells.push(number(cell.largest_of.map(|n| n as f64)));
                }
            }
            cells.extend(metrics::counted().map(|m| number(Some(row.sum(m)))));
            cells.extend(
                [row.flows, row.unfinished, group.seeds.len() as u64].map(|n| n.to_string()),
            );
            rows.push(cells);
        }
    }
    let all = Table {
        name: "comparison".to_owned(),
        title: plan.title.clone(),
        head,
        rows,
    };
    vec![all, schemes(plan), ports::ports(plan, finished)]
}

/// Slowdown by flow size at every value of the axes; `None` where no flow was measured.
pub fn slowdown_by_size(plan: &Plan, slowdowns: &[SchemeSlowdown]) -> Option<Table> {
    let columns = rundir::slowdown_by_size(plan, slowdowns).0;
    let texts: Vec<Vec<String>> = columns.iter().map(|(_, c)| c.texts()).collect();
    let rows = texts.first().map_or(0, Vec::len);
    (rows > 0).then(|| Table {
        name: by_size::NAME.to_owned(),
        title: "Slowdown of flows by size, means over the seeds.".to_owned(),
        head: columns.into_iter().map(|(name, _)| name).collect(),
        rows: (0..rows)
            .map(|row| texts.iter().map(|column| column[row].clone()).collect())
            .collect(),
    })
}

/// The tables of a run for people.
pub fn rounded(plan: &Plan, comparisons: &Comparisons) -> Vec<Table> {
    let groups = comparisons.groups.iter();
    let mut all = Vec::new();
    for group in groups {
        all.push(comparison(plan, group, None));
        let classes = group.classes.iter();
        all.extend(classes.map(|class| comparison(plan, &class.group, Some(class))));
    }
    all.push(schemes(plan));
    all
}

/// The comparison at one value of the axes, of all flows or of those of a traffic class.
fn comparison(plan: &Plan, group: &Group, class: Option<&OfClass>) -> Table {
    let shown = metrics::shown(metrics::compared(), |c| c.report);
    let shown: Vec<&Metric> = shown.into_iter().filter(|m| group.has(m)).collect();
    let counted = match class {
        None => metrics::shown(metrics::counted(), |c| c.report),
        Some(_) => Vec::new(),
    };
    let of_class = class.map_or_else(String::new, |c| format!(", class {}", c.name));
    let mut head = vec!["scheme".to_owned()];
    head.extend(shown.iter().map(|m| {
        let (first, second) = m.heading();
        format!("{first}, {second}")
    }));
    head.extend(counted.iter().map(|m| m.heading().1.to_owned()));
    let cells = |row: &Row| {
        let mut cells = vec![row.scheme.clone()];
        cells.extend(shown.iter().map(|m| {
            let cell = row.cell(m);
            match (cell.against, cell.absolute) {
                (Some(c), _) => {
                    let word = if cell.worse() { " worse" } else { "" };
                    chart::difference(c.percent, c.interval) + word
                }
                (None, Some(value)) => m.show(value),
                (None, None) => "–".to_owned(),
            }
        }));
        cells.extend(counted.iter().map(|m| m.show(row.sum(m))));
        cells
    };
    Table {
        name: match class {
            None => format!("comparison{}", chart::place_of(group)),
            Some(c) => format!("comparison{}-class-{}", chart::place_of(group), c.name),
        },
        title: format!(
            "{}{}{of_class}: {} in absolute units, the others in percent against it with paired \
             95 % intervals.",
            plan.title,
            chart::at(group),
            group.baseline().scheme
        ),
        head,
        rows: group.rows.iter().map(cells).collect(),
    }
}

/// The schemes with their parameters.
fn schemes(plan: &Plan) -> Table {
    let row = |label: &String| {
        let point = plan.points.iter().find(|p| p.scheme == *label)?;
        let (marker, parameters) = params::of_switch(&point.config.switch);
        let parameters = parameters
            .iter()
            .map(|(key, value)| format!("{key} = {value}"));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        Some(vec![label.clone(), marker, parameters])
    };
    Table {
        name: "schemes".to_owned(),
        title: "The schemes, with the parameters of the first value of each axis.".to_owned(),
        head: ["scheme", "marker", "parameters"]
            .map(str::to_owned)
            .to_vec(),
        rows: plan.schemes.iter().filter_map(row).collect(),
    }
}

/// Every digit; empty where there is no value.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |v| v.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_as_csv_and_as_markdown() {
        let words = |all: &[&str]| all.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let table = Table {
            name: "t".to_owned(),
            title: "Two schemes.".to_owned(),
            head: words(&["scheme", "short, mean [µs]"]),
            rows: vec![words(&["a|b, \"c\"", "0.1"]), words(&["ECN#", ""])],
        };
        assert_eq!(
            table.csv(),
            "scheme,\"short, mean [µs]\"\n\"a|b, \"\"c\"\"\",0.1\nECN#,\n"
        );
        assert_eq!(
            table.markdown(),
            "Two schemes.\n\n| scheme | short, mean [µs] |\n|---|---:|\n\
             | a\\|b, \"c\" | 0.1 |\n| ECN# |  |\n"
        );
        assert_eq!(number(Some(0.1 + 0.2)), "0.30000000000000004");
        assert_eq!(number(None), "");
    }
}
