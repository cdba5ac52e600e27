// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark help`: a command, a scheme, a key or section of scenario files, a topic or a term.

mod figures;
mod markdown;
mod topics;

use cemark_marking::{SchemeSpec, catalogue};
use cemark_param::Dialect;
use cemark_report::text::{hang, wrap};
use cemark_scenario::{DocumentedKey, documented_keys};
use cemark_transport::cc;
use clap::{Command, CommandFactory};

use self::topics::Part;
use crate::exit::{Failure, answer, user};
use crate::terminal::look;
use crate::{Cli, doctor, schemes, screen, theory};

/// Arguments of `cemark help`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A command, a scheme, a key of scenario files (`workload.load`), a section (`switch`), a
    /// topic (`units`) or a term (`packet-hop`).
    #[arg(value_name = "COMMAND|SCHEME|KEY|TOPIC")]
    words: Vec<String>,
}

/// Meaning of a word.
struct Found {
    /// Kind and name: `scheme ecn_sharp`.
    what: String,
    text: String,
}

pub(crate) fn help(args: &Args) -> Result<(), Failure> {
    let width = look().width;
    if args.words.is_empty() {
        return answer(&screen::first(width));
    }
    let word = args.words.join("-");
    let mut found = lookup(&word, width).into_iter();
    let Some(first) = found.next() else {
        return Err(unknown(&args.words.join(" ")));
    };
    let mut text = first.text;
    let others: Vec<String> = found.map(|other| other.what).collect();
    if !others.is_empty() {
        let line = format!("`{word}` is also {}.", others.join("; "));
        text += &format!("\n{}\n", wrap(&line, width));
    }
    answer(&text)
}

fn unknown(word: &str) -> Failure {
    let words = words();
    let known = words.iter().map(|(word, _)| word.as_str());
    let list = "type cemark help for the commands, cemark schemes for the schemes, or cemark help \
                scenarios for the keys of scenario files";
    user(
        format!("there is no help on `{word}`"),
        cemark_scenario::near_of_many(word, known, list),
    )
}

/// Every word that has an answer, with what it is about; for completions and near misses.
pub(crate) fn words() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for sub in Cli::command().get_subcommands() {
        let about = sub.get_about().map(ToString::to_string);
        all.push((sub.get_name().to_owned(), about.unwrap_or_default()));
    }
    all.extend(
        catalogue::ALL
            .iter()
            .map(|s| (s.name.to_owned(), s.title.to_owned())),
    );
    for topic in topics::ALL.iter() {
        let names = topic.names.iter();
        all.extend(names.map(|name| (name.clone(), topic.about.clone())));
    }
    all.extend(sections().map(|(name, heading)| (name, heading.to_owned())));
    let keys = documented_keys().into_iter();
    all.extend(
        keys.filter(|key| !is_parameter(key))
            .map(|key| (path(&key), key.doc)),
    );
    for scheme in catalogue::ALL {
        let path = |p: &cemark_marking::ParamSpec| format!("{}.{}", scheme.name, p.name);
        all.extend(scheme.params.iter().map(|p| (path(p), p.doc.to_owned())));
    }
    all.extend(
        cc::catalogue::ALL
            .iter()
            .map(|c| (c.name.to_owned(), c.title.to_owned())),
    );
    all.extend(theory::names().map(|(name, doc)| (name.to_owned(), doc)));
    let builtins = cemark_scenario::builtins();
    all.extend(builtins.map(|b| (b.name.to_owned(), b.title())));
    let figures = cemark_figures::names();
    all.extend(figures.map(|name| (name.to_owned(), "a figure".to_owned())));
    all.extend(terms().map(|(term, _)| (term, "a term".to_owned())));
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|(word, _)| seen.insert(word.clone()));
    all
}

/// All that a word means, the likeliest first.
fn lookup(word: &str, width: usize) -> Vec<Found> {
    let folded = fold(word);
    let same = |name: &str| fold(name) == folded;
    let mut all = Vec::new();
    let mut add = |what: String, text: String| all.push(Found { what, text });
    if let Some(text) = command(&folded) {
        add(format!("a command (cemark {folded} --help)"), text);
    }
    if let Some(spec) = catalogue::find(word) {
        add(
            format!("a scheme (cemark schemes {})", spec.name),
            scheme(spec, width),
        );
    }
    if let Some((_, heading)) = sections().find(|(name, _)| same(name)) {
        let text =
            topics::part(topics::SCENARIOS, &Part::Section(heading.to_owned())).unwrap_or_default();
        add(
            format!("a section of scenario files ({heading} in docs/scenarios.md)"),
            markdown::render(&text, width),
        );
    }
    if let Some(topic) = topics::ALL.iter().find(|t| t.names.iter().any(|n| same(n))) {
        let text = markdown::render(&topic.text().unwrap_or_default(), width);
        add(
            format!("a topic (cemark help {}): {}", topic.names[0], topic.about),
            format!("{text}\nnext    {}\n", topic.next),
        );
    }
    let keys = keys(word);
    if !keys.is_empty() {
        let names: Vec<String> = keys.iter().map(path).collect();
        add(
            format!("a key of scenario files ({})", names.join(", ")),
            key_lines(&keys, width),
        );
    }
    let params = parameters(word);
    if !params.is_empty() {
        let names: Vec<&str> = params.iter().map(|(s, _)| s.name).collect();
        let text = params.iter().map(|(s, p)| parameter(s, p, width)).collect();
        add(format!("a parameter of {}", names.join(", ")), text);
    }
    if let Some(spec) = cc::catalogue::ALL
        .iter()
        .find(|c| same(c.name) || same(c.title))
    {
        add(
            format!("a congestion controller (control = \"{}\")", spec.name),
            control(spec, width),
        );
    }
    if let Some(builtin) = cemark_scenario::builtins().find(|b| same(b.name)) {
        add("a built-in scenario".to_owned(), scenario(builtin, width));
    }
    if let Some(text) = figures::about(&folded.replace('_', "-"), width) {
        add("a figure".to_owned(), text);
    }
    if let Some((name, doc)) = theory::names().find(|(name, _)| same(name)) {
        let next = format!("next    cemark theory {name}\n");
        add(
            format!("a theory (cemark theory {name})"),
            format!("{}\n\n{next}", wrap(&doc, width)),
        );
    }
    if let Some(rule) = cemark_platform::rule(word) {
        add(
            format!(
                "a rule of cemark doctor (cemark doctor --explain {})",
                rule.id
            ),
            doctor::explained(&[rule], width),
        );
    }
    if let Some((term, text)) = terms().find(|(term, _)| same(term)) {
        let text = markdown::render(&format!("{term}: {text}"), width);
        add("a term (cemark help glossary)".to_owned(), text);
    }
    all
}

/// Words are compared without case, and `-`, `_` and spaces are the same.
fn fold(word: &str) -> String {
    let same = |c: char| if matches!(c, '-' | ' ') { '_' } else { c };
    let word = word.trim_matches(['[', ']', '`']);
    word.to_lowercase().chars().map(same).collect()
}

/// The long help of a command.
fn command(name: &str) -> Option<String> {
    let mut all: Command = crate::command();
    all.build();
    let sub = all.find_subcommand_mut(name)?;
    (!sub.is_hide_set()).then(|| sub.render_long_help().to_string())
}

/// A scheme: its parameters, and its page without their table, which would repeat them.
fn scheme(spec: &SchemeSpec, width: usize) -> String {
    let mut text = schemes::one(spec);
    if let Some(page) = page(spec.name) {
        let body = page.split_once('\n').map_or("", |(_, body)| body);
        let is_parameter = |line: &&str| {
            let named = |p: &cemark_marking::ParamSpec| line.contains(&format!("`{}`", p.name));
            line.starts_with("| `") && spec.params.iter().any(named)
                || line.starts_with("| parameter ")
        };
        let kept: Vec<&str> = body.lines().filter(|line| !is_parameter(line)).collect();
        text += &format!("\n{}", markdown::render(&kept.join("\n"), width));
    }
    if let Some(deployed) = spec.research_of {
        return text + &format!("\nnext    cemark help {deployed}\n");
    }
    let theory = match theory::names().any(|(name, _)| name == spec.name) {
        true => format!(", cemark theory {}", spec.name),
        false => String::new(),
    };
    text + &format!("\nnext    cemark export {}{theory}\n", spec.name)
}

macro_rules! pages {
    ($($name:literal)*) => {
        /// The pages of the schemes.
        const PAGES: &[(&str, &str)] = &[$((
            $name,
            include_str!(concat!("../../../../docs/schemes/", $name, ".md")),
        )),*];
    };
}

pages! {
    "threshold" "red" "wred" "tcn" "codel" "mq_ecn" "cedm" "cedm_sharp" "dynamic" "pie" "pi"
    "ecn_sharp" "ecn_sharp_lab"
}

fn page(scheme: &str) -> Option<&'static str> {
    let found = PAGES.iter().find(|(name, _)| *name == scheme);
    found.map(|(_, text)| *text)
}

/// The sections of scenario files: their names, and their headings in docs/scenarios.md.
fn sections() -> impl Iterator<Item = (String, &'static str)> {
    let headings = topics::SCENARIOS
        .lines()
        .filter_map(|l| l.strip_prefix("## "));
    headings.filter_map(|heading| {
        if heading == "The top of the file" {
            return Some(("top".to_owned(), heading));
        }
        let name = heading.strip_prefix('`')?.strip_suffix('`')?;
        Some((
            name.strip_prefix('[')?.trim_matches(['[', ']']).to_owned(),
            heading,
        ))
    })
}

/// The keys of scenario files that a word names: `workload.load`, `load`, `[switch] buffer`.
fn keys(word: &str) -> Vec<DocumentedKey> {
    let (section, name) = match word.rsplit_once('.') {
        Some((section, name)) => (Some(fold(section)), fold(name)),
        None => (None, fold(word)),
    };
    let wanted = |key: &DocumentedKey| {
        let in_section = section.as_ref().is_none_or(|s| {
            // `workload.*.load`, `workload.background.load` and `scheme.ECN#.transport.mss` too.
            let first = s.split('.').next().unwrap_or_default();
            let last = s.rsplit('.').next().unwrap_or_default();
            *s == key.section || first == key.section || last == key.section
        });
        // Parameters of schemes are shown with their schemes.
        in_section && fold(key.name) == name && !is_parameter(key)
    };
    documented_keys().into_iter().filter(wanted).collect()
}

fn is_parameter(key: &DocumentedKey) -> bool {
    let mut params = catalogue::ALL.iter().flat_map(|s| s.params);
    key.section == "scheme" && params.any(|p| p.name == key.name)
}

/// The path of a key.
fn path(key: &DocumentedKey) -> String {
    match key.section {
        "" => key.name.to_owned(),
        section => format!("{section}.{}", key.name),
    }
}

fn key_lines(keys: &[DocumentedKey], width: usize) -> String {
    let mut out = String::new();
    for key in keys {
        let kinds = match key.kinds.is_empty() {
            true => String::new(),
            false => format!(", only of {}", key.kinds.join(", ")),
        };
        let place = if key.section.is_empty() {
            "at the top of the file".to_owned()
        } else {
            format!("in {}{kinds}", key.shown)
        };
        out += &format!("{} ({place})\n", key.name);
        let values = format!("value: {}", key.values);
        let usual = format!("default: {}", key.usual);
        for line in [&key.doc, &values, &usual] {
            let text = markdown::render(line, width.saturating_sub(4));
            for line in text.lines() {
                out += &format!("    {line}\n");
            }
        }
    }
    let first = &keys[0];
    if !first.section.contains('.') {
        let section = if first.section.is_empty() {
            "top"
        } else {
            first.section
        };
        out += &format!("\nnext    cemark help {section}, cemark help units\n");
    }
    out
}

/// The parameters of schemes that a word names: `ecn_sharp.pst_target`, `pst_target`, or with
/// `scheme.` before.
fn parameters(word: &str) -> Vec<(&'static SchemeSpec, &'static cemark_marking::ParamSpec)> {
    let word = word.strip_prefix("scheme.").unwrap_or(word);
    let (scheme, name) = match word.rsplit_once('.') {
        Some((scheme, name)) => (Some(scheme), fold(name)),
        None => (None, fold(word)),
    };
    let scheme = match scheme {
        None => None,
        Some(name) => match catalogue::find(name) {
            Some(spec) => Some(spec.name),
            None => return Vec::new(),
        },
    };
    let all = catalogue::ALL.iter();
    all.filter(|s| scheme.is_none_or(|name| name == s.name))
        .flat_map(|s| s.params.iter().map(move |p| (*s, p)))
        .filter(|(_, p)| fold(p.name) == name)
        .collect()
}

fn parameter(s: &SchemeSpec, p: &cemark_marking::ParamSpec, width: usize) -> String {
    let default = p.show(p.default, Dialect::Table);
    let doc = hang(p.doc, width, 4);
    let mut text = format!("{} of {} ({})\n    {doc}\n", p.name, s.title, s.name);
    if let cemark_marking::Kind::Choice(words) = p.kind {
        text += &format!("    One of {}.\n", words.join(", "));
    }
    text + &format!("    {}, default: {default}\n", p.kind.word())
}

fn control(spec: &cc::ControllerSpec, width: usize) -> String {
    let mut text = format!(
        "{} ({})\n{}\n",
        spec.title,
        spec.name,
        wrap(spec.doc, width)
    );
    if !spec.params.is_empty() {
        text.push_str("\nits keys in [transport]:\n");
    }
    for p in spec.params {
        let doc = hang(p.doc, width, 4);
        text += &format!("{}\n    {doc}\n", p.name);
    }
    text + "\nnext    cemark help transports, cemark help transport\n"
}

fn scenario(builtin: &cemark_scenario::Builtin, width: usize) -> String {
    let plan = cemark_scenario::load(builtin.name, &Default::default());
    let description = plan.map(|plan| plan.description).unwrap_or_default();
    format!(
        "{}\n\n{}\n\nnext    cemark check {2}, cemark run {2}\n",
        wrap(&builtin.title(), width),
        wrap(&description, width),
        builtin.name
    )
}

/// The terms of the glossary, each with its meaning.
fn terms() -> impl Iterator<Item = (String, &'static str)> {
    let rows = topics::GLOSSARY.lines().filter(|l| l.starts_with("| **"));
    rows.flat_map(|row| {
        let row = row.trim_matches('|');
        let (names, text) = row.split_once(" | ").unwrap_or((row, ""));
        let names = names.replace("**", "");
        let names: Vec<String> = names
            .split(',')
            .map(|n| n.split('(').next().unwrap_or(n).trim().to_owned())
            .collect();
        names.into_iter().map(move |name| (name, text.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::{PAGES, lookup, words};

    #[test]
    fn every_scheme_has_its_page() {
        let names: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
        for spec in cemark_marking::catalogue::ALL {
            assert!(
                names.contains(&spec.name),
                "{} has no page in help/mod.rs",
                spec.name
            );
        }
    }

    /// Whatever completions and near misses offer has an answer.
    #[test]
    fn every_word_has_an_answer() {
        for (word, _) in words() {
            let found = lookup(&word, 80);
            assert!(!found.is_empty(), "{word}");
            assert!(found.iter().all(|f| f.text.len() > 10), "{word}");
        }
    }
}
