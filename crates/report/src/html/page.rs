// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts common to all pages: style, script, contents and the way in which templates are filled.

use cemark_scenario::visible_lines;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, HtmlEscape, Value, context};
use serde::Serialize;

use crate::chart::{self, COLOURS, Chart};

/// More entries than this stand beside the page instead of above it.
const BAR: usize = 7;

/// The templates on which pages build, by name.
const TEMPLATES: [(&str, &str); 2] = [
    ("base.html", include_str!("base.html")),
    ("block.html", include_str!("block.html")),
];

/// An entry of the contents.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Where it leads to, an `id` of the page.
    pub anchor: String,
    /// Title of the entry.
    pub name: String,
    /// Entries of its parts, where the text is long.
    pub parts: Vec<Entry>,
}

impl Entry {
    /// An entry without parts.
    pub fn new(anchor: &str, name: &str) -> Self {
        Entry {
            anchor: anchor.to_owned(),
            name: name.to_owned(),
            parts: Vec::new(),
        }
    }
}

/// A chart in a page.
#[derive(Serialize)]
pub struct Picture {
    /// Anchor of the chart in the page.
    id: String,
    title: String,
    caption: String,
    svg: String,
    /// Where it is as a file, from the page; empty: nowhere.
    file: String,
}

impl Picture {
    /// Picture of a chart that is a file as well, `file` as seen from the page.
    pub fn linked(chart: Chart, file: String) -> Self {
        Picture {
            file,
            ..Picture::from(chart)
        }
    }

    /// Picture on a page on which several figures have charts of this name.
    pub fn of(self, figure: &str) -> Self {
        Picture {
            id: format!("{figure}-{}", self.id),
            ..self
        }
    }

    /// Anchor of the chart in the page.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How many bytes of the page it takes, nearly.
    pub fn size(&self) -> usize {
        self.svg.len()
    }
}

impl From<Chart> for Picture {
    fn from(chart: Chart) -> Self {
        Picture {
            id: format!("chart-{}", chart.name),
            svg: chart.inline(),
            title: chart.title,
            caption: chart.caption,
            file: String::new(),
        }
    }
}

/// Charts that fit; after the first that does not, `room` is zero.
pub(super) fn fitting(charts: impl IntoIterator<Item = Chart>, room: &mut usize) -> Vec<Picture> {
    let mut out = Vec::new();
    for chart in charts {
        if *room == 0 {
            break;
        }
        let picture = Picture::from(chart);
        *room = room.saturating_sub(picture.size());
        if *room > 0 {
            out.push(picture);
        }
    }
    out
}

/// A whole page: the text of a template, filled with `values`.
pub fn page(text: &str, contents: &[Entry], values: Value) -> String {
    let mut env = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    env.set_syntax(syntax.expect("the usual delimiters"));
    // The ending of a name turns escapes on.
    for (name, text) in TEMPLATES.into_iter().chain([("page.html", text)]) {
        env.add_template(name, text).expect("a fixed template");
    }
    env.add_filter("code", |text: String| Value::from_safe_string(code(&text)));
    let template = env.get_template("page.html").expect("just added");
    let html = template
        .render(context! {
            // Ours comes second, so that its colours count.
            style => chart::style() + include_str!("style.css"),
            script => include_str!("script.js"),
            colours => COLOURS,
            contents => Value::from(Serde(contents)),
            many => contents.len() > BAR || contents.iter().any(|e| !e.parts.is_empty()),
            ..values
        })
        .expect("a fixed template over these values");
    // The template escapes HTML; marks that turn the direction of writing are no HTML.
    visible_lines(&html).into_owned()
}

/// Text as HTML, with the words between backticks as code. A backtick without its twin stays.
fn code(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, (word, after))) = rest
        .split_once('`')
        .and_then(|(before, from)| Some((before, from.split_once('`')?)))
    {
        out += &format!("{}<code>{}</code>", HtmlEscape(before), HtmlEscape(word));
        rest = after;
    }
    out + &HtmlEscape(rest).to_string()
}

/// A typographic minus, and numbers that stay on one line with their percent sign.
pub fn typeset(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let digit = rest.peek().is_some_and(char::is_ascii_digit);
        out.push(match c {
            '-' if digit && !before.is_alphanumeric() && before != '-' => '\u{2212}',
            ' ' if rest.peek() == Some(&'%') => '\u{a0}',
            _ => c,
        });
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{code, typeset};

    #[test]
    fn words_between_backticks_are_code() {
        for (text, html) in [
            ("plain <b>", "plain &lt;b&gt;"),
            (
                "write `a < b`, or `c`.",
                "write <code>a &lt; b</code>, or <code>c</code>.",
            ),
            ("`<script>`", "<code>&lt;script&gt;</code>"),
            ("one ` alone", "one ` alone"),
        ] {
            assert_eq!(code(text), html, "{text}");
        }
    }

    #[test]
    fn only_numbers_get_a_minus() {
        assert_eq!(
            typeset("TCN-2 (-3.5 %, [-84, 0.3]) x--1 WF-Q"),
            "TCN-2 (\u{2212}3.5\u{a0}%, [\u{2212}84, 0.3]) x--1 WF-Q"
        );
    }
}
