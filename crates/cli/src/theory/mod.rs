// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark theory`: the papers' closed forms with their inputs.

mod forms;

use std::fmt::Write as _;

use cemark_report::text::{hang, listed, wrap};
use cemark_report::units;
use cemark_scenario::{Measure, alike, read_quantity};
use serde::Serialize;

use self::forms::{ALL, Form, Input, Quantity, Unit};
use crate::Format;
use crate::exit::{Failure, answer, answer_json, user};
use crate::terminal::look;

/// Arguments of `cemark theory`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A theory's name; all theories without it.
    name: Option<String>,
    /// Inputs that differ from their defaults; one of them may have several values, a column each.
    #[arg(value_name = "INPUT=VALUE[,VALUE…]")]
    inputs: Vec<String>,
    /// How the answer is written.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// A theory evaluated, as JSON.
#[derive(Serialize)]
struct Evaluated {
    name: &'static str,
    source: &'static str,
    columns: Vec<Column>,
}

/// Column of inputs and the outputs that follow from them, in base units: bits per second, seconds,
/// bytes, packets.
#[derive(Serialize)]
struct Column {
    inputs: serde_json::Map<String, serde_json::Value>,
    outputs: Vec<Value>,
}

/// An output as JSON.
#[derive(Serialize)]
struct Value {
    name: &'static str,
    unit: Unit,
    formula: &'static str,
    /// `null` where it is unlimited.
    value: f64,
    /// Whether the formula does not bound it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unlimited: bool,
}

/// Every theory, with what it says.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, String)> {
    ALL.iter().map(|form| (&form.name[..], form.doc.clone()))
}

/// Every theory with its inputs and outputs.
pub(crate) fn list() -> serde_json::Value {
    serde_json::to_value(&*ALL).expect("strings")
}

/// A theory by its name.
fn find(name: &str) -> Result<&'static Form, Failure> {
    ALL.iter().find(|f| alike(&f.name, name)).ok_or_else(|| {
        let names = ALL.iter().map(|f| &f.name[..]);
        user(
            format!("there is no theory called `{name}`"),
            cemark_scenario::near(name, names),
        )
    })
}

/// JSON document of `cemark theory NAME INPUT=VALUE… --format json`.
pub(crate) fn evaluated(name: &str, inputs: &[String]) -> Result<serde_json::Value, Failure> {
    let form = find(name)?;
    let columns = columns(form, inputs)?;
    Ok(serde_json::to_value(json(form, &columns)).expect("numbers and strings"))
}

pub(crate) fn theory(args: &Args) -> Result<(), Failure> {
    let Some(name) = &args.name else {
        return match args.format {
            Format::Table => answer(&all()),
            Format::Json => answer_json(&ALL.iter().map(|f| &f.name).collect::<Vec<_>>()),
        };
    };
    let form = find(name)?;
    let columns = columns(form, &args.inputs)?;
    match args.format {
        Format::Table => answer(&table(form, &columns)),
        Format::Json => answer_json(&json(form, &columns)),
    }
}

/// The inputs of each column as the user wrote them.
fn columns(form: &Form, given: &[String]) -> Result<Vec<Vec<String>>, Failure> {
    let mut values: Vec<Vec<String>> = form
        .inputs
        .iter()
        .map(|i| vec![i.default.clone()])
        .collect();
    for option in given {
        let known = || {
            let names: Vec<_> = form.inputs.iter().map(|i| &i.name[..]).collect();
            format!("the inputs of {} are {}", form.name, names.join(", "))
        };
        let (name, value) = option.split_once('=').ok_or_else(|| {
            user(
                format!("`{option}` has no value: write NAME=VALUE"),
                known(),
            )
        })?;
        let i = form
            .inputs
            .iter()
            .position(|i| alike(&i.name, name))
            .ok_or_else(|| {
                let names = form.inputs.iter().map(|i| &i.name[..]);
                let near = cemark_scenario::near(name, names);
                user(format!("`{name}` is no input of {}", form.name), near)
            })?;
        values[i] = value.split(',').map(str::to_owned).collect();
        for text in &values[i] {
            number(&form.inputs[i], text)?;
        }
    }
    let many = values.iter().filter(|v| v.len() > 1).count();
    if many > 1 {
        return Err(user(
            "two inputs have several values".to_owned(),
            "give one of them a single value".to_owned(),
        ));
    }
    let n = values.iter().map(Vec::len).max().unwrap_or(1);
    Ok((0..n)
        .map(|c| {
            values
                .iter()
                .map(|v| v[c.min(v.len() - 1)].clone())
                .collect()
        })
        .collect())
}

/// An input in its base unit.
fn number(input: &Input, text: &str) -> Result<f64, Failure> {
    let read = |measure, scale: f64| {
        let n = read_quantity(text, measure).map_err(|why| {
            user(
                format!("{}: {why}", input.name),
                format!("such as {}", input.default),
            )
        })?;
        if n == 0 {
            return Err(user(
                format!("{}: it cannot be zero", input.name),
                format!("such as {}", input.default),
            ));
        }
        Ok(n as f64 / scale)
    };
    match input.kind {
        Quantity::Rate => read(Measure::Rate, 1.0),
        Quantity::Time => read(Measure::Time, 1e12),
        Quantity::Bytes => read(Measure::Length, 1.0),
        Quantity::Number(low, high) => match plain(text) {
            Some(x) if (low..=high).contains(&x) => Ok(x),
            _ => Err(user(
                format!(
                    "{}: `{text}` is not a number from {low} to {high}",
                    input.name
                ),
                format!("such as {}", input.default),
            )),
        },
    }
}

/// `0.25` or `1/4`.
fn plain(text: &str) -> Option<f64> {
    let number = |t: &str| t.trim().parse::<f64>().ok();
    match text.split_once('/') {
        Some((over, under)) => Some(number(over)? / number(under)?),
        None => number(text),
    }
}

fn evaluate(form: &Form, column: &[String]) -> Vec<f64> {
    let x: Vec<f64> = form
        .inputs
        .iter()
        .zip(column)
        .map(|(input, text)| number(input, text).unwrap_or(f64::NAN))
        .collect();
    forms::outputs(&form.name, &x)
}

/// The word for a number that a formula does not bound: DCIB's gain where the buffer holds every
/// lost packet.
const UNLIMITED: &str = "no limit";

fn shown(unit: Unit, x: f64) -> String {
    if x == f64::INFINITY {
        return UNLIMITED.to_owned();
    }
    match unit {
        Unit::Time => units::micros(x * 1e6),
        Unit::Bytes => units::bytes(x),
        Unit::Rate => units::bits_per_second(x),
        Unit::Packets => format!("{x:.1} pkt"),
        Unit::Plain => format!("{x:.3}"),
    }
}

fn all() -> String {
    let forms = ALL
        .iter()
        .map(|f| (&f.name[..], format!("{}\n{}", f.doc, f.source)));
    let forms = listed(&forms.collect::<Vec<_>>(), look().width, 0);
    let last = "cemark theory NAME INPUT=VALUE… evaluates one: cemark theory cedm n=2,4,8,16,32";
    format!("{forms}\n{}\n", wrap(last, look().width))
}

fn table(form: &Form, columns: &[Vec<String>]) -> String {
    let results: Vec<Vec<f64>> = columns.iter().map(|c| evaluate(form, c)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for (i, input) in form.inputs.iter().enumerate() {
        let cells = columns.iter().map(|c| c[i].clone()).collect();
        rows.push((input.name.to_owned(), cells, input.doc.to_owned()));
    }
    for (i, output) in form.outputs.iter().enumerate() {
        let cells = results.iter().map(|r| shown(output.unit, r[i])).collect();
        rows.push((output.name.to_owned(), cells, output.formula.to_owned()));
    }
    let width = look().width;
    let mut out = format!(
        "{}\n{}\n\n",
        wrap(&form.doc, width),
        wrap(&form.source, width)
    );
    let (inputs, results) = rows.split_at(form.inputs.len());
    out += &drawn(inputs, results, width);
    out
}

/// A row of the table: a name, a value for each column, and a sentence or a formula.
type Row = (String, Vec<String>, String);

/// Least columns of the terminal for sentences beside numbers.
const BESIDE: usize = 24;

/// Inputs and results in columns of equal widths. Sentences stand beside the numbers, or below all
/// where a terminal is too narrow.
fn drawn(inputs: &[Row], results: &[Row], width: usize) -> String {
    let rows = || inputs.iter().chain(results);
    let len = |text: &String| text.chars().count();
    let name = rows().map(|r| len(&r.0)).max().unwrap_or(0);
    let cell = rows().flat_map(|r| &r.1).map(len).max().unwrap_or(0);
    let columns = rows().map(|r| r.1.len()).max().unwrap_or(0);
    let numbers = name + columns * (cell + 2);
    let longest = rows().map(|r| len(&r.2)).max().unwrap_or(0);
    let is_beside = numbers + 2 + longest.min(BESIDE) <= width;
    let fit = match is_beside {
        true => columns,
        false => (width.saturating_sub(name) / (cell + 2)).max(1),
    };
    let mut out = String::new();
    for first in (0..columns).step_by(fit.max(1)) {
        if first > 0 {
            out.push('\n');
        }
        for (i, (label, cells, doc)) in rows().enumerate() {
            if i == inputs.len() {
                out.push('\n');
            }
            let mut line = format!("{label:name$}");
            for c in cells.iter().skip(first).take(fit) {
                let _ = write!(line, "  {c:>cell$}");
            }
            if is_beside {
                let _ = write!(line, "  {}", hang(doc, width, numbers + 2));
            }
            let _ = writeln!(out, "{line}");
        }
    }
    if !is_beside {
        let all = rows().map(|(label, _, doc)| (&label[..], doc.clone()));
        out += &format!("\n{}", listed(&all.collect::<Vec<_>>(), width, 0));
    }
    out
}

fn json(form: &'static Form, columns: &[Vec<String>]) -> Evaluated {
    let column = |c: &Vec<String>| Column {
        inputs: form
            .inputs
            .iter()
            .zip(c)
            .map(|(input, text)| (input.name.to_owned(), text.as_str().into()))
            .collect(),
        outputs: form
            .outputs
            .iter()
            .zip(evaluate(form, c))
            .map(|(o, value)| Value {
                name: &o.name,
                unit: o.unit,
                formula: &o.formula,
                value,
                unlimited: value == f64::INFINITY,
            })
            .collect(),
    };
    Evaluated {
        name: &form.name,
        source: &form.source,
        columns: columns.iter().map(column).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(name: &str, inputs: &[&str]) -> Vec<Vec<f64>> {
        let form = ALL.iter().find(|f| f.name == name).expect("it is there");
        let given: Vec<String> = inputs.iter().map(|&s| s.to_owned()).collect();
        let Ok(columns) = columns(form, &given) else {
            panic!("{name} takes {inputs:?}");
        };
        columns.iter().map(|c| evaluate(form, c)).collect()
    }

    fn near(x: f64, y: f64, within: f64) {
        assert!((x - y).abs() <= within, "{x} is not {y}");
    }

    /// A buffer of tau C holds every lost packet: the rest has no loss, and the law no bound.
    #[test]
    fn a_number_without_a_bound_says_so() {
        let form = ALL.iter().find(|f| f.name == "dcib").expect("it is there");
        for rtt in ["1.6ms", "1ms", "1us"] {
            let Ok(columns) = columns(form, &[format!("rtt={rtt}")]) else {
                panic!("a time");
            };
            let text = table(form, &columns);
            assert!(!text.contains("inf") && text.matches(UNLIMITED).count() == 2);
            let json = serde_json::to_value(json(form, &columns)).expect("numbers");
            let outputs = &json["columns"][0]["outputs"];
            for (output, unlimited) in [(0, false), (2, false), (3, true), (4, true)] {
                let output = &outputs[output];
                assert_eq!(output["value"].is_null(), unlimited, "{output}");
                assert_eq!(output["unlimited"] == true, unlimited, "{output}");
            }
        }
    }

    #[test]
    fn every_form_takes_its_defaults_and_fills_its_columns() {
        for form in ALL.iter() {
            let all = outputs(&form.name, &[]);
            assert_eq!(all[0].len(), form.outputs.len(), "{}", form.name);
            assert!(all[0].iter().all(|x| x.is_finite()), "{}", form.name);
        }
    }

    #[test]
    fn names_are_compared_as_those_of_scenario_files_are() {
        let Ok(form) = find("ECN-Sharp") else {
            panic!("case and dashes do not matter");
        };
        assert_eq!(form.name, "ecn_sharp");
        for form in ALL.iter() {
            for input in &form.inputs {
                for name in [input.name.to_uppercase(), input.name.replace('_', "-")] {
                    let typed = format!("{name}={}", input.default);
                    assert_eq!(
                        outputs(&form.name, &[&typed]),
                        outputs(&form.name, &[]),
                        "{typed}"
                    );
                }
            }
        }
    }

    /// The slides' 22.9 packets at two flows, and the values of the second branch worked out by
    /// hand.
    #[test]
    fn cedm_gives_the_thresholds_of_the_slides() {
        let all = outputs("cedm", &["n=2,3,4,8,16,32"]);
        for (column, k) in all.iter().zip([22.9, 31.8, 38.0, 61.7, 137.0, 411.0]) {
            near(column[5], k, 0.5);
        }
        near(all[0][4], 14.17, 0.01);
        near(all[0][6], 38.3, 0.1);
    }

    #[test]
    fn the_papers_own_examples() {
        // ECN# section 3.4: 200 us at 10 Gb/s are 250 KB; Algorithm 1's fourth mark comes I (1 +
        // 1/2 + 1/3) after the first.
        let sharp = &outputs("ecn_sharp", &["marks=4"])[0];
        near(sharp[3], 250_000.0, 1.0);
        near(sharp[5], 366.667e-6, 1e-9);
        // MQ-ECN section 4: four queues of 1.5 KB at 10 Gb/s take 4.8 us a round, and a quarter of
        // the threshold each.
        let mq = &outputs("mq_ecn", &[])[0];
        near(mq[0], 4.8e-6, 1e-12);
        near(mq[2] / mq[1], 0.25, 1e-12);
        // DCIB section III: 16 % for 2 MB at 10 ms and 10 Gb/s.
        near(outputs("dcib", &[])[0][0], 0.16, 1e-9);
        near(outputs("newreno", &["loss=0.015"])[0][0], 10.0, 1e-9);
        near(outputs("dctcp", &["n=8"])[0][3], 73.0, 1e-9);
    }
}
