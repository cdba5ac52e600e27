// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scheme and its parameters as words of a command line, read as `[[scheme]]` of a file is.

use cemark_marking::{ParamSpec, SchemeSpec, Values, catalogue};
use cemark_param::Dialect;
use cemark_sim::config::MarkerChoice;
use cemark_wire::Rate;

use crate::aliases;
use crate::chip::Chip;
use crate::error::{At, Error, Fallible, Fault, Texts, alike, near};
use crate::markers;
use crate::tree::{Node, Table, Value, bare};

/// Reads `ecn_sharp`, `ins_target=200us`, … A queue length written as a time is what a link of
/// `rate` sends in it.
///
/// # Errors
///
/// Where there is no such scheme or parameter, or a value is wrong. The message points at the word.
pub fn scheme_in_words(
    words: &[String],
    rate: Rate,
) -> Result<(&'static SchemeSpec, Values), Error> {
    read(words, |words| {
        let Some((name, at)) = words.first() else {
            let help = "write scheme ecn_sharp, or another of `cemark schemes`";
            return Err(Fault::nowhere("no scheme is named").help(help));
        };
        let known = catalogue::ALL
            .iter()
            .flat_map(|s| std::iter::once(s.name).chain(s.aliases.iter().copied()));
        let spec = catalogue::find(name).ok_or_else(|| {
            Fault::new(*at, format!("no marking scheme is called `{name}`"))
                .label("not known")
                .help(near(name, known))
        })?;
        scheme(spec, *at, Table::default(), &words[1..], rate)
    })
}

/// Reads `ins_target=200us`, …: these parameters of a scheme are changed, the others stay.
///
/// # Errors
///
/// As [`scheme_in_words`].
pub fn change_in_words(
    spec: &'static SchemeSpec,
    before: &Values,
    words: &[String],
    rate: Rate,
) -> Result<Values, Error> {
    let read = read(words, |words| {
        let at = At::default();
        let mut table = Table::default();
        for (param, stored) in spec.params.iter().zip(before.0) {
            let value = written(param, stored);
            table.put(param.name, Node { value, at });
        }
        scheme(spec, at, table, words, rate)
    })?;
    Ok(read.1)
}

type Read = (&'static SchemeSpec, Values);

/// Calls `with` with each word and its place.
fn read(
    words: &[String],
    with: impl FnOnce(&[(&str, At)]) -> Fallible<Read>,
) -> Result<Read, Error> {
    let texts = Texts(vec![("the command line".to_owned(), words.join(" "))]);
    let mut start = 0;
    let mut placed = Vec::with_capacity(words.len());
    for word in words {
        let end = start + word.len();
        placed.push((
            word.as_str(),
            At {
                text: 0,
                start,
                end,
            },
        ));
        start = end + 1;
    }
    with(&placed).map_err(|fault| texts.error(*fault))
}

fn scheme(
    spec: &'static SchemeSpec,
    at: At,
    mut table: Table,
    words: &[(&str, At)],
    rate: Rate,
) -> Fallible<Read> {
    let mut given: Vec<&str> = Vec::new();
    for (word, at) in words {
        let Some((name, value)) = word.split_once('=') else {
            let example = spec.params.first().map_or("target", |p| p.name);
            return Err(
                Fault::new(*at, format!("`{word}` is not a parameter and its value")).help(
                    format!("write PARAMETER=VALUE without spaces, as in {example}=…"),
                ),
            );
        };
        let Some(param) = spec.params.iter().find(|p| alike(p.name, name)) else {
            let names = spec.params.iter().map(|p| p.name);
            let help = aliases::key(spec.name, name);
            let message = format!("{} has no parameter `{name}`", spec.title);
            return Err(Fault::new(*at, message)
                .label("not known")
                .help(help.unwrap_or_else(|| near(name, names))));
        };
        if given.contains(&param.name) {
            return Err(Fault::new(*at, format!("`{name}` is set twice")).help("leave one out"));
        }
        given.push(param.name);
        let start = at.start + name.len() + 1;
        table.put(param.name, bare(value, At { start, ..*at }));
    }
    let value = Value::Text(spec.name.to_owned());
    table.put("marker", Node { value, at });
    let value = Value::Table(table);
    let read = markers::scheme(&Node { value, at }, rate, Chip::default())?;
    match read.marker {
        MarkerChoice::Builtin { scheme, values } => Ok((scheme, values)),
        _ => Err(Fault::new(at, "this scheme marks nothing")),
    }
}

/// A stored value as a file writes it, without loss.
fn written(param: &ParamSpec, stored: u64) -> Value {
    let text = param.show(stored, Dialect::Toml).to_string();
    bare(&text, At::default()).value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    const RATE: Rate = Rate(200_000_000);

    #[test]
    fn words_are_read_as_a_file_is() {
        let (spec, values) = scheme_in_words(&words("ECN# ins_target=300us signal=length"), RATE)
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            (spec.name, values.0[0], values.0[3]),
            ("ecn_sharp", 300_000, 1)
        );
        // A length as a time: what 200 Mb/s sends in 400 us.
        let (_, values) =
            scheme_in_words(&words("threshold k=400us"), RATE).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(values.0[0], 10_000);
    }

    #[test]
    fn a_change_keeps_every_other_parameter() {
        for spec in catalogue::ALL {
            let mut before = Values::defaults(spec);
            for (value, p) in before.0.iter_mut().zip(spec.params) {
                // Zero often means a value that follows from another.
                *value = (*value + u64::from(*value > 0)).clamp(p.min, p.max);
            }
            let after = change_in_words(spec, &before, &[], RATE);
            assert_eq!(
                after.unwrap_or_else(|e| panic!("{}: {e}", spec.name)),
                before
            );
        }
    }

    #[test]
    fn a_name_is_compared_as_a_file_compares_it() {
        for spec in catalogue::ALL {
            let defaults = Values::defaults(spec);
            for (param, stored) in spec.params.iter().zip(defaults.0) {
                let value = match written(param, stored) {
                    // A whole 1 may mean 1 %.
                    Value::Float(x, _) => format!("{}%", 100.0 * x),
                    Value::Text(text) => text,
                    Value::Integer(n) => n.to_string(),
                    Value::Flag(flag) => flag.to_string(),
                    other => panic!("{}: {other:?}", param.name),
                };
                for name in [param.name.replace('_', "-"), param.name.to_uppercase()] {
                    let typed = vec![format!("{name}={value}")];
                    let read = change_in_words(spec, &defaults, &typed, RATE);
                    let read = read.unwrap_or_else(|e| panic!("{} {typed:?}: {e}", spec.name));
                    assert_eq!(read, defaults, "{} {typed:?}", spec.name);
                }
            }
        }
        let (_, values) =
            scheme_in_words(&words("wred min=30KB max=90KB drop-probability=5%"), RATE)
                .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(values.0[2], 3_277, "5 % of 65,536, to the nearest");
        let twice = words("wred drop-probability=5% drop_probability=6%");
        let e = scheme_in_words(&twice, RATE).expect_err("twice");
        assert!(e.message().contains("is set twice"), "{e}");
    }

    #[test]
    fn mistakes_are_pointed_at() {
        for (typed, says, help) in [
            ("", "no scheme is named", "cemark schemes"),
            ("ecn", "no marking scheme is called `ecn`", "`ecn_sharp`"),
            (
                "tcn target=1ms",
                "TCN has no parameter `target`",
                "`threshold`",
            ),
            ("tcn label=x", "TCN has no parameter `label`", "`threshold`"),
            (
                "tcn threshold",
                "`threshold` is not a parameter and its value",
                "threshold=…",
            ),
            (
                "tcn threshold=1ms threshold=2ms",
                "`threshold` is set twice",
                "leave one out",
            ),
            (
                "tcn threshold=2s",
                "`threshold` is out of range",
                "from 0 to \"1s\"",
            ),
            ("tcn threshold=2KB", "`2KB` is a length", "85us"),
            (
                "ecn_sharp law=sqrt",
                "ECN# has no parameter `law`",
                "research scheme ecn_sharp_lab",
            ),
            ("codel ce_threshold=1ms", "CoDel has no parameter", "tcn"),
            (
                "codel ce-threshold=1ms",
                "CoDel has no parameter",
                "ecn_sharp",
            ),
        ] {
            let e = scheme_in_words(&words(typed), RATE).expect_err(typed);
            assert!(e.message().contains(says), "{typed}: {e}");
            assert!(
                e.help_text().is_some_and(|h| h.contains(help)),
                "{typed}: {:?}",
                e.help_text()
            );
        }
        let e = scheme_in_words(&words("tcn threshold=1"), RATE).expect_err("no unit");
        assert_eq!(e.position(), Some((1, 15)));
    }
}
