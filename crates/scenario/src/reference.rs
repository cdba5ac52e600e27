// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables of keys in `docs/scenarios.md`, from the declarations of the keys.

use cemark_param::{Absent, Kind};

use crate::key::{KeySpec, Shape, Usual};
use crate::sections::{ALL, Form, SectionSpec};
use crate::units;

/// A key of a scenario file, as `cemark help` and completions show it.
#[derive(Clone, Debug)]
pub struct DocumentedKey {
    /// Its section (`workload`, `switch.queue`), empty for the top of the file.
    pub section: &'static str,
    /// The section as files write it: `[[workload]]`.
    pub shown: String,
    /// Its name.
    pub name: &'static str,
    /// The kinds of the section that have it; empty: all.
    pub kinds: Vec<&'static str>,
    /// The values that the key may have, in words.
    pub values: String,
    /// The key's default, in words.
    pub usual: String,
    /// Meaning of the key, in Markdown.
    pub doc: String,
}

/// Every key of scenario files, section by section; parameters of schemes are not among them.
pub fn documented_keys() -> Vec<DocumentedKey> {
    let of = |spec: &&'static SectionSpec| {
        let (section, shown) = (spec.name, spec.shown());
        let rows = rows(spec, |_| true).into_iter();
        rows.map(move |row| DocumentedKey {
            section,
            shown: shown.clone(),
            name: row.name,
            kinds: row.kinds,
            values: row.values,
            usual: row.usual,
            doc: row.docs.join("; "),
        })
    };
    ALL.iter().flat_map(of).collect()
}

/// A row of a table of keys.
struct Row {
    name: &'static str,
    kinds: Vec<&'static str>,
    values: String,
    usual: String,
    docs: Vec<&'static str>,
}

/// The keys of a section as a Markdown table; `None` where there is no such section.
///
/// `section` is its name, empty for the top of the file. `kind` selects the keys that belong to one
/// kind of the section; with an empty `kind` those of all kinds, and with `*` every key, with a
/// column that says which kinds have it.
pub fn key_table(section: &str, kind: &str) -> Option<String> {
    let spec = ALL.iter().find(|spec| spec.name == section)?;
    let wanted = |key: &KeySpec| match kind {
        "*" => true,
        "" => key.only.is_empty(),
        kind => key.only.contains(&kind),
    };
    let mut out = match kind {
        "*" => "| key | kinds | value | default | meaning |\n|---|---|---|---|---|\n".to_owned(),
        _ => "| key | value | default | meaning |\n|---|---|---|---|\n".to_owned(),
    };
    for row in rows(spec, wanted) {
        let kinds = match (kind, row.kinds.is_empty()) {
            ("*", true) => " all |".to_owned(),
            ("*", false) => format!(" {} |", row.kinds.join(", ")),
            _ => String::new(),
        };
        out += &format!(
            "| `{}` |{kinds} {} | {} | {} |\n",
            row.name,
            row.values,
            row.usual,
            row.docs.join("; ")
        );
    }
    Some(out)
}

/// Keys that differ only in their kind and their sentence share a row.
fn rows(spec: &SectionSpec, wanted: impl Fn(&KeySpec) -> bool) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for key in spec.keys().filter(wanted) {
        let (values, usual) = (values(&key.shape), usual(&key));
        let same =
            |row: &&mut Row| (row.name, &row.values, &row.usual) == (key.name, &values, &usual);
        match rows.iter_mut().find(same) {
            Some(row) => {
                row.kinds.extend(key.only);
                if !row.docs.contains(&key.doc) {
                    row.docs.push(key.doc);
                }
            }
            None => rows.push(Row {
                name: key.name,
                kinds: key.only.to_vec(),
                values,
                usual,
                docs: vec![key.doc],
            }),
        }
    }
    rows
}

/// The values that a key may have, in words.
pub(crate) fn values(shape: &Shape) -> String {
    let words = |words: &[&str]| {
        let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        quoted.join(", ")
    };
    match *shape {
        Shape::Of(kind, min, max) => match kind {
            Kind::Time | Kind::Delay => "time".to_owned(),
            Kind::Rate => "rate".to_owned(),
            Kind::Bytes => format!("{} to {}", length(min), length(max)),
            Kind::Host => "a host".to_owned(),
            Kind::Count if max >= u64::from(u32::MAX) => format!("from {min}"),
            Kind::Count => format!("{} to {}", thousands(min), thousands(max)),
            Kind::Fraction { .. } => "fraction".to_owned(),
            Kind::Power => "a power of two, at most 1".to_owned(),
            Kind::Thousandths => format!("{} to {}", min as f64 / 1e3, max as f64 / 1e3),
            Kind::Flag => "`true`, `false`".to_owned(),
            Kind::Choice(all) => words(all),
        },
        Shape::Number(min, max) => format!("{min} to {max}"),
        Shape::Text => "text".to_owned(),
        Shape::Choice(all) => words(&all()),
        Shape::LengthOrTime => "length or time".to_owned(),
        Shape::Own(text, _) => text.to_owned(),
    }
}

/// The default of a key, in words.
fn usual(key: &KeySpec) -> String {
    match key.usual {
        Usual::Needed(_) => "needed".to_owned(),
        Usual::Is("") => "empty".to_owned(),
        Usual::Param(param) => match param.absent {
            Absent::Default => format!("`{}`", key.example().unwrap_or_default()),
            Absent::Needed => "needed".to_owned(),
            Absent::As(other) => format!("as `{other}`"),
            Absent::Formula { text, .. } => text.to_owned(),
        },
        Usual::Is(_) => format!("`{}`", key.example().unwrap_or_default()),
        Usual::Follows(words) => words.to_owned(),
    }
}

/// `64KiB`, `1GB`; limits of 32 bits to three places.
fn length(bytes: u64) -> String {
    for (unit, scale) in [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20)] {
        if bytes >= scale && bytes.is_multiple_of(scale) {
            return format!("{}{unit}", bytes / scale);
        }
    }
    match bytes {
        0 => "0".to_owned(),
        1_000_000_000_000_000 => "1PB".to_owned(),
        bytes => units::length(bytes),
    }
}

/// `65,536`.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A page in which every table of keys is as the declarations have it.
///
/// A table lies between the lines `<!-- keys: SECTION KIND -->` and `<!-- end of keys -->`. The
/// section `top` is the top of the file.
///
/// # Errors
/// The comment that names no section, or has no end; and every section that has no table.
pub fn with_key_tables(page: &str) -> Result<String, String> {
    const END: &str = "<!-- end of keys -->\n";
    let mut out = String::new();
    let mut rest = page;
    let mut shown = Vec::new();
    while let Some(start) = rest.find("<!-- keys: ") {
        let line_end = rest[start..]
            .find('\n')
            .map_or(rest.len(), |n| start + n + 1);
        let comment = &rest[start..line_end];
        let words = comment.trim_start_matches("<!-- keys: ");
        let mut words = words.trim_end().trim_end_matches("-->").split_whitespace();
        let section = match words.next() {
            Some("top") => "",
            section => section.unwrap_or_default(),
        };
        let table = key_table(section, words.next().unwrap_or_default())
            .ok_or_else(|| format!("{}: there is no such section", comment.trim()))?;
        let end = rest[line_end..]
            .find(END)
            .ok_or_else(|| format!("{}: {} is missing", comment.trim(), END.trim()))?;
        out += &rest[..line_end];
        out += &format!("\n{table}\n{END}");
        rest = &rest[line_end + end + END.len()..];
        shown.push(section);
    }
    let has_table = |spec: &&&SectionSpec| spec.form == Form::Inline || shown.contains(&spec.name);
    match ALL
        .iter()
        .find(|spec| !has_table(spec) && !spec.groups.is_empty())
    {
        Some(spec) => Err(format!("{} has no table of keys", spec.shown())),
        None => Ok(out + rest),
    }
}
