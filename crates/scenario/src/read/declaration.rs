// SPDX-License-Identifier: MIT OR Apache-2.0
//! The declaration of a user's scheme: a text with a line for each parameter.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use cemark_marking::{Kind, MAX_PARAMS, ParamSpec, SchemeSpec, catalogue};
use cemark_param::Absent;

use crate::error::{At, Error, fold};
use crate::markers::SCHEME;
use crate::own::{OwnMarker, of_file};
use crate::param::parameter;
use crate::sections;
use crate::tree::bare;

/// Advice on declarations.
pub(crate) const HELP: &str = "write P(name, kind, default, min, max, \"A sentence.\") in \
     CEMARK_PARAMS, with a kind of time, bytes, rate, fraction, number, count, flag or \
     choice(word|word), and values such as 85us, 65pkt, 10Gbps or 25%";

/// Letters of the name of a parameter.
const LONGEST_NAME: usize = 40;

/// A declaration is part of the program from its first use on: paths, messages and tables name its
/// parameters as they name those of the catalogue.
static KNOWN: Mutex<BTreeMap<Identity, &'static SchemeSpec>> = Mutex::new(BTreeMap::new());

/// Name, title and parameters of a declaration.
type Identity = (String, String, Option<String>);

/// The scheme that the file of a marker declares: `c:mine.so` or `bpf:mine.o`, whose path begins
/// in the working directory. `None` where the word names no file of a marker.
///
/// # Errors
/// A file that cannot be read, and one that declares no marker or a wrong parameter.
pub fn declared_scheme(written: &str) -> Option<Result<&'static SchemeSpec, Error>> {
    let (form, _) = of_file(written)?;
    let read = || {
        let marker = OwnMarker::of_file(written, Path::new(""))
            .map_err(|why| (why, form.advice().to_owned()))?;
        of(&marker).map_err(|why| (why, HELP.to_owned()))
    };
    let wrong = |(why, help)| Error::whole(written, why, Some(help));
    Some(read().map_err(wrong))
}

/// The scheme that a marker declares.
pub(crate) fn of(marker: &OwnMarker) -> Result<&'static SchemeSpec, String> {
    let of_name = catalogue::ALL.iter().find(|s| s.name == marker.name);
    spec(
        &marker.name,
        &marker.title(),
        marker.params.as_deref(),
        of_name,
    )
}

/// The scheme of a marker called `name` with these parameters, or those of the catalogue's scheme.
fn spec(
    name: &str,
    title: &str,
    params: Option<&str>,
    of_name: Option<&&'static SchemeSpec>,
) -> Result<&'static SchemeSpec, String> {
    let key = (name.to_owned(), title.to_owned(), params.map(str::to_owned));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(spec) = known.get(&key) {
        return Ok(spec);
    }
    let base = match (params, of_name) {
        (None, Some(spec)) => **spec,
        _ => SchemeSpec {
            params: parsed(params.unwrap_or_default())?.leak(),
            reads_round: |_| true,
            ..SchemeSpec::BLANK
        },
    };
    let spec: &SchemeSpec = Box::leak(Box::new(SchemeSpec {
        name: leaked(name),
        title: leaked(title),
        ..base
    }));
    known.insert(key, spec);
    Ok(spec)
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn parsed(text: &str) -> Result<Vec<ParamSpec>, String> {
    let mut all: Vec<ParamSpec> = Vec::new();
    for line in text.lines() {
        let one = one(line)?;
        if all.iter().any(|p| fold(p.name) == fold(one.name)) {
            return Err(format!("the parameter `{}` is declared twice", one.name));
        }
        all.push(one);
    }
    match all.len() > MAX_PARAMS {
        true => Err(format!("a marker has at most {MAX_PARAMS} parameters")),
        false => Ok(all),
    }
}

fn one(line: &str) -> Result<ParamSpec, String> {
    let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
    let &[name, kind, usual, min, max, doc] = fields.as_slice() else {
        return Err(format!("a parameter has six fields, not {}", fields.len()));
    };
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(letters);
    if !plain || name.len() > LONGEST_NAME {
        return Err(format!("`{name}` is no name of a parameter"));
    }
    let mut taken = SCHEME
        .own_keys()
        .map(|key| key.name)
        .chain(sections::per_scheme());
    if taken.any(|key| fold(key) == fold(name)) {
        return Err(format!(
            "`{name}` is a key of every scheme, so no parameter is called so"
        ));
    }
    let known = kind_of(kind).ok_or_else(|| format!("`{kind}` is no kind of a parameter"))?;
    let any = ParamSpec {
        name: leaked(name),
        kind: known,
        default: 0,
        min: 0,
        max: u64::MAX,
        absent: Absent::Default,
        of_queue: kind == "bytes",
        doc: leaked(doc),
    };
    let value = |which: &str, text: &str| {
        let node = bare(text, At::default());
        parameter(&node, &any, None)
            .map_err(|fault| format!("the {which} of `{name}` is `{text}`: {}", fault.message))
    };
    let (min, max) = match known {
        // The words of a choice, and true and false, are its range.
        Kind::Choice(words) => (0, words.len() as u64 - 1),
        Kind::Flag => (0, 1),
        _ => (value("least value", min)?, value("largest value", max)?),
    };
    let default = value("default", usual)?;
    if !(min..=max).contains(&default) {
        return Err(format!(
            "the default of `{name}` is `{usual}`, which is not between its least and its largest \
             value"
        ));
    }
    Ok(ParamSpec {
        default,
        min,
        max,
        ..any
    })
}

fn kind_of(word: &str) -> Option<Kind> {
    Some(match word {
        "time" => Kind::Time,
        "bytes" => Kind::Bytes,
        "rate" => Kind::Rate,
        "fraction" => Kind::PERCENT,
        "number" => Kind::Thousandths,
        "count" => Kind::Count,
        "flag" => Kind::Flag,
        _ => {
            let words = word.strip_prefix("choice(")?.strip_suffix(')')?;
            let words: Vec<&'static str> = words.split('|').map(|w| leaked(w.trim())).collect();
            if words.iter().any(|w| w.is_empty()) {
                return None;
            }
            Kind::Choice(words.leak())
        }
    })
}
