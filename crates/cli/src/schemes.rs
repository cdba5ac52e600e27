// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark schemes`: the catalogue.

use std::fmt::Write as _;

use cemark_marking::{Kind, ParamSpec, SchemeSpec, catalogue};
use cemark_param::Dialect;
use cemark_report::text::{hang, listed, wrap};
use cemark_scenario::{Plan, alike, declared_scheme, near};
use serde::Serialize;

use crate::Format;
use crate::exit::{Failure, answer, answer_json, user};
use crate::terminal::look;

/// Arguments of `cemark schemes`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Name, title or alias of a scheme, or a marker of your own (`c:mine.so`, `bpf:mine.o`), whose
    /// declaration is read and whose code is not run. Without it all schemes are listed.
    name: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// A scheme as JSON.
#[derive(Serialize)]
struct Scheme {
    name: &'static str,
    title: &'static str,
    aliases: &'static [&'static str],
    paper: &'static str,
    doc: &'static str,
    /// The scheme that data planes have instead of a research scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    research_of: Option<&'static str>,
    parameters: Vec<Parameter>,
}

/// A parameter as JSON.
#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    unit: &'static str,
    default: serde_json::Value,
    /// The default as markers store it, and C takes it: an integer in `stored_unit`.
    stored_default: u64,
    stored_min: u64,
    stored_max: u64,
    stored_unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<&'static [&'static str]>,
    doc: &'static str,
}

pub(crate) fn schemes(args: &Args) -> Result<(), Failure> {
    let found: Vec<&SchemeSpec> = match &args.name {
        None => catalogue::ALL.to_vec(),
        Some(name) => vec![found(name)?],
    };
    match (args.format, &args.name) {
        (Format::Json, _) => answer_json(&found.iter().map(|s| json(s)).collect::<Vec<_>>()),
        (Format::Table, Some(_)) => answer(&found.iter().map(|s| one(s)).collect::<String>()),
        (Format::Table, None) => answer(&all(&found)),
    }
}

/// A scheme of the catalogue, or that of a marker's file.
fn found(name: &str) -> Result<&'static SchemeSpec, Failure> {
    match declared_scheme(name) {
        Some(declared) => Ok(declared?),
        None => catalogue::find(name).ok_or_else(|| unknown(name)),
    }
}

/// JSON document of `cemark schemes --format json`.
pub(crate) fn list() -> serde_json::Value {
    let all: Vec<Scheme> = catalogue::ALL.iter().map(|s| json(s)).collect();
    serde_json::to_value(all).expect("numbers and strings")
}

fn unknown(name: &str) -> Failure {
    let names = catalogue::ALL
        .iter()
        .flat_map(|s| std::iter::once(s.name).chain(s.aliases.iter().copied()));
    user(
        format!("there is no scheme called `{name}`"),
        cemark_scenario::near(name, names),
    )
}

/// The label of a scheme of a scenario, as the scenario writes it.
pub(crate) fn labelled<'a>(plan: &'a Plan, label: &str) -> Result<&'a String, Failure> {
    let found = plan.schemes.iter().find(|known| alike(known, label));
    found.ok_or_else(|| {
        user(
            format!("no scheme of {} is labelled `{label}`", plan.name),
            near(label, plan.schemes.iter().map(String::as_str)),
        )
    })
}

/// Refuses a research scheme, which the simulator has and no data plane.
pub(crate) fn must_be_deployed(spec: &SchemeSpec) -> Result<(), Failure> {
    let Some(deployed) = spec.research_of else {
        return Ok(());
    };
    Err(user(
        format!(
            "{} is for research: the simulator has it, and no data plane does",
            spec.name
        ),
        format!("data planes have {deployed}"),
    ))
}

fn json(s: &SchemeSpec) -> Scheme {
    let parameter = |p: &'static ParamSpec| Parameter {
        name: p.name,
        unit: p.kind.word(),
        default: serde_json::from_str(&p.show(p.default, Dialect::Json).to_string())
            .expect("a value of JSON"),
        stored_default: p.default,
        stored_min: p.min,
        stored_max: p.max,
        stored_unit: p.kind.stored_unit(),
        choices: match p.kind {
            Kind::Choice(words) => Some(words),
            _ => None,
        },
        doc: p.doc,
    };
    Scheme {
        name: s.name,
        title: s.title,
        aliases: s.aliases,
        paper: s.paper,
        doc: s.doc,
        research_of: s.research_of,
        parameters: s.params.iter().map(parameter).collect(),
    }
}

fn all(schemes: &[&SchemeSpec]) -> String {
    let schemes = schemes
        .iter()
        .map(|s| (s.name, format!("{}\n{}", s.doc, s.paper)));
    listed(&schemes.collect::<Vec<_>>(), look().width, 0)
        + "\ncemark schemes NAME shows one with its parameters\n"
}

/// A scheme with its parameters.
pub(crate) fn one(s: &SchemeSpec) -> String {
    let width = look().width;
    let mut out = format!("{} ({})\n", s.title, s.name);
    // A marker of the user's own has no texts, and ranges that its author chose.
    for text in [s.doc, s.paper].into_iter().filter(|text| !text.is_empty()) {
        let _ = writeln!(out, "{}", wrap(text, width));
    }
    let is_own = s.doc.is_empty();
    if is_own && s.params.is_empty() {
        out += "no parameters\n";
        return out;
    }
    if !s.aliases.is_empty() {
        let _ = writeln!(out, "also known as {}", s.aliases.join(", "));
    }
    if let Some(deployed) = s.research_of {
        let _ = writeln!(out, "for research: data planes have {deployed}");
    }
    let default = |p: &ParamSpec| p.show(p.default, Dialect::Table).to_string();
    let wide = |title: &str, cell: &dyn Fn(&ParamSpec) -> usize| {
        s.params.iter().map(cell).fold(title.len(), usize::max)
    };
    let name = wide("parameter", &|p| p.name.len());
    let value = wide("default", &|p| default(p).len());
    let unit = wide("unit", &|p| p.kind.word().len());
    let _ = writeln!(
        out,
        "\n{:name$}  {:>value$}  {:unit$}",
        "parameter", "default", "unit"
    );
    let show = |p: &ParamSpec, value| p.show(value, Dialect::Table).to_string();
    for p in s.params {
        let mut doc = p.doc.to_owned();
        if is_own && !matches!(p.kind, Kind::Choice(_) | Kind::Flag) {
            doc += &format!(" From {} to {}.", show(p, p.min), show(p, p.max));
        }
        if let Kind::Choice(words) = p.kind {
            doc += &format!(" One of {}.", words.join(", "));
        }
        let indent = name + value + unit + 6;
        let doc = hang(&doc, width.max(indent + 20), indent);
        let default = default(p);
        let _ = writeln!(
            out,
            "{:name$}  {default:>value$}  {:unit$}  {doc}",
            p.name,
            p.kind.word()
        );
    }
    out
}
