// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[scheme]]`: the catalogue's declaration of each parameter drives how it is read.

use cemark_marking::{Kind, ParamSpec, SchemeSpec, Values, catalogue};
use cemark_param::Dialect;
use cemark_platform::published::{self, Ramp, Thresholds};
use cemark_sim::config::{MarkerChoice, OwnScheme};
use cemark_wire::Rate;

use crate::aliases;
use crate::chip::Chip;
use crate::error::{At, Fallible, Fault, fold, near};
use crate::key::{Key, KeySpec, Shape, Words, keys};
use crate::param;
use crate::section::Section;
use crate::sections::{self, Form, SectionSpec};
use crate::tree::{Node, Value};
use crate::units::{self, Measure};

/// The word for a port that never marks.
pub(crate) const NONE: &str = "none";
/// Title of a port that never marks.
const NONE_TITLE: &str = "drop-tail";

pub(crate) static SCHEME: SectionSpec = SectionSpec::new(
    "scheme",
    Form::List,
    &[KEYS],
    "A marking scheme; every other key is a parameter of it.",
)
.chosen_by("marker")
.and(of_the_catalogue);

keys! { KEYS:
    MARKER: String = Key::text("marker").needed("ecn_sharp").doc(
        "a scheme of the catalogue, `\"none\"` (drop-tail), or code of your own: \
         `\"bpf:mine.o\"`, `\"c:mine.so\"` (path from the folder of the scenario)",
    );
    LABEL: String = Key::text("label").follows("the scheme's title").doc("its name in tables");
    PRESET: &'static Thresholds = Key::choice("preset").follows("none").doc(
        "for `wred` and `red`: thresholds that a switch ships or a simulator of the field runs, at \
         the rate of the slowest link ([classes.md](classes.md#published-thresholds)); the file \
         may still write each of them",
    );
    CLASS: Node = Key::own("class", "tables", r#"{"type":"object"}"#)
        .follows("the profiles of `[[switch.class]]`")
        .doc(
            "`[scheme.class.NAME]`: the profile of a traffic class under this scheme; without \
             `marker` its keys replace those of the class's own profile, or else of the scheme",
        );
}

impl Words for &'static Thresholds {
    fn words() -> Vec<(&'static str, Self)> {
        published::ALL.iter().map(|set| (set.name, set)).collect()
    }
}

/// The parameters of every scheme.
pub(crate) fn of_the_catalogue() -> Vec<KeySpec> {
    let params = |spec: &'static SchemeSpec| {
        spec.params.iter().map(|param| {
            let key = KeySpec::of_param(param, std::slice::from_ref(&spec.name));
            let shape = match param.kind {
                Kind::Bytes => Shape::LengthOrTime,
                _ => key.shape,
            };
            let doc = param.doc;
            KeySpec { shape, doc, ..key }
        })
    };
    catalogue::ALL.iter().copied().flat_map(params).collect()
}

/// The stored value of a parameter of `wred` or `red` under a ramp.
fn of_ramp(param: &ParamSpec, (low, high, height): Ramp) -> Option<u64> {
    match param.name {
        "min" | "kmin" => Some(low),
        "max" | "kmax" => Some(high),
        "drop_probability" | "pmax" => Some((height * 65_536 + 500) / 1_000),
        _ => None,
    }
}

/// A `[[scheme]]` as read.
#[derive(Clone, Debug)]
pub(crate) struct Scheme {
    pub(crate) label: String,
    pub(crate) marker: MarkerChoice,
    /// Parameters that the file writes.
    pub(crate) written: Vec<&'static str>,
    /// Written parameters that are lengths, written as times.
    pub(crate) timed: Vec<&'static str>,
    /// The published set that the file names.
    pub(crate) preset: Option<&'static Thresholds>,
    /// Written parameters that the chip rounds, with the value that was asked for.
    pub(crate) rounded: Vec<(&'static str, u64)>,
}

/// Letters of a label.
const LONGEST_LABEL: usize = 100;

/// Reads one scheme; a queue length written as a time is what a link of `rate` sends in it, and the
/// chip rounds what is written.
pub(crate) fn scheme(node: &Node, rate: Rate, chip: Chip) -> Fallible<Scheme> {
    let mut s = Section::under(node, &SCHEME)?;
    // Laid over their sections by the caller.
    s.allow(sections::per_scheme());
    let name = s.read(&MARKER)?;
    let at = s.need(&MARKER)?.at;
    let label = s.given(&LABEL)?.map(|label| label.trim().to_owned());
    if let (Some(""), Some(node)) = (label.as_deref(), s.node(&LABEL)) {
        return Err(Fault::new(node.at, "an empty label")
            .help("write a name for the table, such as label = \"ECN#\""));
    }
    let letters = label.as_deref().map_or(0, |label| label.chars().count());
    if let (true, Some(node)) = (letters > LONGEST_LABEL, s.node(&LABEL)) {
        let message = format!("this label has {letters} letters");
        return Err(Fault::new(node.at, message).help(format!(
            "write one of at most {LONGEST_LABEL}: it is a column of tables and part of file names"
        )));
    }
    if let Some(node) = s
        .node(&CLASS)
        .filter(|n| !matches!(n.value, Value::Table(_)))
    {
        return Err(Fault::new(node.at, "[scheme.class.NAME] is a table")
            .help("write [scheme.class.NAME] below the scheme, with the name of a traffic class"));
    }
    let read = parameters(s, node, (rate, chip), &name, at)?;
    let label = label.unwrap_or_else(|| read.label.clone());
    Ok(Scheme { label, ..read })
}

/// Reads the profile of a traffic class, whose label is the title of its marker.
pub(crate) fn profile(node: &Node, rate: Rate, chip: Chip) -> Fallible<Scheme> {
    let mut s = Section::under(node, &SCHEME)?;
    let name = s.read(&MARKER)?;
    let at = s.need(&MARKER)?.at;
    if let Some(node) = s.node(&LABEL) {
        return Err(Fault::new(node.at, "a profile has no label").help("remove it"));
    }
    parameters(s, node, (rate, chip), &name, at)
}

/// Reads the parameters of the marker `name`.
fn parameters(
    mut s: Section<'_>,
    node: &Node,
    (rate, chip): (Rate, Chip),
    name: &str,
    at: At,
) -> Fallible<Scheme> {
    let (mut written, mut timed, mut rounded) = (Vec::new(), Vec::new(), Vec::new());
    let set = s.given(&PRESET)?;
    let (title, choice) = if fold(name) == NONE {
        (NONE_TITLE, MarkerChoice::None)
    } else {
        let spec = spec_of(node).ok_or_else(|| unknown(at, name))?;
        s.describes(spec.name);
        let mut values = Values::defaults(spec);
        let preset = match (set, s.node(&PRESET)) {
            (Some(set), Some(node)) => Some(ramp(set, node.at, spec, rate)?),
            _ => None,
        };
        for (i, param) in spec.params.iter().enumerate() {
            if let Some(node) = s.get(param.name) {
                let asked = parameter(node, spec, param, rate)?;
                values.0[i] = chip.holds(param, asked);
                if values.0[i] != asked {
                    rounded.push((param.name, asked));
                }
                written.push(param.name);
                let time = |text: &str| Measure::other(text, &[Measure::Length]);
                if let (Kind::Bytes, Value::Text(text)) = (param.kind, &node.value)
                    && time(text) == Some(Measure::Time)
                {
                    timed.push(param.name);
                }
            } else if let Some(asked) = preset.and_then(|ramp| of_ramp(param, ramp)) {
                values.0[i] = chip.holds(param, asked);
                if values.0[i] != asked {
                    rounded.push((param.name, asked));
                }
                written.push(param.name);
            }
        }
        (spec.title, choice(node, spec, values))
    };
    let own = match marker_of(node) {
        Some(Value::Own(own)) => Some(&own.marker.written),
        _ => None,
    };
    s.finish().map_err(|mut fault| {
        // A scheme whose marker a `--set` replaces still has the keys of the replaced marker.
        if let (Some(written), Some(help)) = (own, &mut fault.help) {
            *help +=
                &format!("; --marker {written} adds the marker beside the schemes of the file");
        }
        fault
    })?;
    rising(node, &choice)?;
    waited(node, &choice)?;
    Ok(Scheme {
        label: title.to_owned(),
        marker: choice,
        written,
        timed,
        preset: set,
        rounded,
    })
}

/// The published ramp that a scheme names, at ports of this rate.
fn ramp(set: &Thresholds, at: At, spec: &SchemeSpec, rate: Rate) -> Fallible<Ramp> {
    if !["wred", "red"].contains(&spec.name) {
        let message = format!("`{}` is a set of thresholds for wred and red", set.name);
        return Err(Fault::new(at, message).help("write marker = \"wred\", or remove preset"));
    }
    set.at(rate).ok_or_else(|| {
        let rates: Vec<String> = set
            .rates()
            .iter()
            .map(|gbps| format!("{gbps} Gb/s"))
            .collect();
        let message = format!(
            "`{}` has no thresholds for {}, the rate of the slowest link",
            set.name,
            units::rate(rate.0)
        );
        Fault::new(at, message).help(format!(
            "it has them for {}; write another preset, or min, max and drop-probability",
            rates.join(", ")
        ))
    })
}

/// The marker of a `[[scheme]]` with these parameters.
fn choice(node: &Node, scheme: &'static SchemeSpec, values: Values) -> MarkerChoice {
    match marker_of(node) {
        Some(Value::Own(own)) => MarkerChoice::Own(OwnScheme {
            scheme,
            values,
            content: own.marker.content,
            code: None,
        }),
        _ => MarkerChoice::Builtin { scheme, values },
    }
}

fn unknown(at: At, name: &str) -> Box<Fault> {
    let names = catalogue::ALL
        .iter()
        .flat_map(|s| std::iter::once(s.name).chain(s.aliases.iter().copied()));
    let help = match name.ends_with(".so") || name.ends_with(".o") {
        true => format!("write c:{name} or bpf:{name} for a file of your own"),
        false => near(name, names.chain([NONE])),
    };
    Fault::new(at, format!("no marking scheme is called `{name}`"))
        .label("not known")
        .help(help)
}

/// A parameter of a scheme, in the unit in which the catalogue stores it.
pub(crate) fn parameter(
    node: &Node,
    spec: &SchemeSpec,
    param: &ParamSpec,
    rate: Rate,
) -> Fallible<u64> {
    let advised = |fault: Box<Fault>| match aliases::parameter(spec.name, param.name) {
        Some(help) => fault.help(help),
        None => fault,
    };
    fitting(node, spec, param)?;
    param::parameter(node, param, Some(rate)).map_err(advised)
}

/// Fails on a value whose unit does not fit the parameter: meant is most likely another parameter
/// of the scheme, or the parameter of this name of another scheme, since a path without a label
/// sets all of them.
fn fitting(node: &Node, spec: &SchemeSpec, param: &ParamSpec) -> Fallible<()> {
    let (wanted, all) = match param.kind {
        Kind::Time => (Measure::Time, &[Measure::Time][..]),
        // What the link sends in a time is a length.
        Kind::Bytes => (Measure::Length, &[Measure::Length, Measure::Time][..]),
        _ => return Ok(()),
    };
    let Value::Text(written) = &node.value else {
        return Ok(());
    };
    let Some(found) = Measure::other(written, all) else {
        return Ok(());
    };
    let kind = match found {
        Measure::Length => Some(Kind::Bytes),
        Measure::Time | Measure::Rate => None,
    };
    let has = |p: &&ParamSpec| Some(p.kind) == kind;
    let name = param.name;
    let mut help = format!("write a value such as {}", wanted.example());
    let own: Vec<String> = spec
        .params
        .iter()
        .filter(has)
        .map(|p| format!("`{}`", p.name))
        .collect();
    if !own.is_empty() {
        help += &format!("; {} in {}: {}", found.words(), spec.title, own.join(", "));
    }
    let mut others = catalogue::ALL.iter().flat_map(|s| s.params);
    if others.any(|p| p.name == name && has(&p)) {
        help += &format!(
            "; to set `{name}` of another scheme only, write scheme.LABEL.{name}, with the label \
             of that scheme"
        );
    }
    let (title, found, wanted) = (spec.title, found.word(), wanted.word());
    let message = format!("`{written}` is {found}, and `{name}` is {wanted} in {title}");
    Err(Fault::new(node.at, message).help(help))
}

/// A ramp must rise, where either of its ends was written.
fn rising(node: &Node, choice: &MarkerChoice) -> Fallible<()> {
    let (Some((scheme, values)), Value::Table(table)) = (choice.declared(), &node.value) else {
        return Ok(());
    };
    for pair in scheme.ordered {
        let (foot, head) = (values.get(pair.low), values.get(pair.high));
        let (low, high) = (&scheme.params[pair.low], &scheme.params[pair.high]);
        let computed = pair.zero_follows && head == 0;
        let written = table.get(high.name).or_else(|| table.get(low.name));
        let Some(entry) = written.filter(|_| head < foot && !computed) else {
            continue;
        };
        let say = |param: &ParamSpec, value: u64| {
            let number = param.show(value, Dialect::Message).to_string();
            match table.get(param.name) {
                Some(_) => number,
                None => format!("{number}, its default"),
            }
        };
        let message = format!(
            "{} ({}) is below {} ({})",
            high.name,
            say(high, head),
            low.name,
            say(low, foot)
        );
        let help = format!("write both, {} first: {}", low.name, pair.example);
        return Err(Fault::new(entry.node.at, message).help(help));
    }
    Ok(())
}

/// A packet that joins a queue has not waited yet: a scheme that judges it there must read the
/// length.
fn waited(node: &Node, choice: &MarkerChoice) -> Fallible<()> {
    let (Some((scheme, values)), Value::Table(table)) = (choice.declared(), &node.value) else {
        return Ok(());
    };
    let says = |name: &str, wanted: &str| {
        scheme.index_of(name).is_some_and(|place| {
            let value = values.0[place] as usize;
            matches!(scheme.params[place].kind, Kind::Choice(words) if words[value] == wanted)
        })
    };
    match table.get("hook") {
        Some(entry) if says("hook", "enqueue") && says("signal", "sojourn") => {
            let message = "hook = \"enqueue\" with the signal sojourn: a packet that joins the \
                           queue has not waited yet";
            Err(Fault::new(entry.node.at, message).help("write signal = \"length\" beside it"))
        }
        _ => Ok(()),
    }
}

/// Name of a `[[scheme]]`: its label, or else its marker's title.
pub(crate) fn label_of(node: &Node) -> Option<&str> {
    let Value::Table(table) = &node.value else {
        return None;
    };
    match table.get("label").map(|entry| &entry.node.value) {
        Some(Value::Text(label)) => Some(label.trim()),
        _ => match marker_of(node)? {
            Value::Text(name) if fold(name) == NONE => Some(NONE_TITLE),
            _ => spec_of(node).map(|spec| spec.title),
        },
    }
}

/// The value of the key `marker`.
pub(crate) fn marker_of(node: &Node) -> Option<&Value> {
    let Value::Table(table) = &node.value else {
        return None;
    };
    Some(&table.get("marker")?.node.value)
}

/// The scheme that a `[[scheme]]` table names, if it names one.
pub(crate) fn spec_of(node: &Node) -> Option<&'static SchemeSpec> {
    match marker_of(node)? {
        Value::Text(name) => catalogue::find(name),
        Value::Own(own) => Some(own.spec),
        _ => None,
    }
}
