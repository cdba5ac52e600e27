// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of the documentation that `cemark help` shows. The texts are those of docs/, included when
//! the program is built.

use std::sync::LazyLock;

use serde::Deserialize;

/// The page of scenario files, whose sections are topics of their own.
pub(super) const SCENARIOS: &str = include_str!("../../../../docs/scenarios.md");
/// The page of terms.
pub(super) const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

/// Which part of a page a topic is.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    /// The whole page.
    Whole,
    /// Text before the first heading of the second level.
    Beginning,
    /// The section with this heading.
    Section(String),
    /// The item of a list that begins with these words in bold type.
    Item(String),
}

/// A topic.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Topic {
    pub names: Vec<String>,
    /// Subject in a few words.
    pub about: String,
    page: String,
    part: Part,
    /// Advice on the next command or page.
    pub next: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Topics {
    topic: Vec<Topic>,
}

/// Every topic beside commands, schemes, sections and keys of scenarios.
pub(super) static ALL: LazyLock<Vec<Topic>> = LazyLock::new(|| {
    let topics: Topics = toml::from_str(include_str!("topics.toml")).expect("topics of this crate");
    topics.topic
});

macro_rules! pages {
    ($($path:literal)*) => {
        [$(($path, include_str!(concat!("../../../../", $path)))),*]
    };
}

/// The pages that topics are cut out of.
const PAGES: [(&str, &str); 19] = pages! {
    "docs/scenarios.md" "docs/install.md" "docs/output.md"
    "docs/formats.md" "docs/trust.md" "docs/pfc.md" "docs/classes.md"
    "docs/transports.md" "docs/dcib.md" "docs/dataplane.md"
    "docs/questions.md" "docs/findings.md" "workloads/README.md"
    "docs/glossary.md" "docs/doctor.md"
    "docs/export.md" "docs/search.md" "docs/operators.md" "docs/edge.md"
};

impl Topic {
    /// Its text, in the language of Markdown.
    pub(super) fn text(&self) -> Option<String> {
        let page = PAGES.iter().find(|(path, _)| *path == self.page)?;
        part(page.1, &self.part)
    }
}

/// A part of a page.
pub(super) fn part(page: &str, part: &Part) -> Option<String> {
    let page = match page.strip_prefix("<!-- ") {
        Some(comment) => comment.split_once("-->")?.1,
        None => page,
    };
    match part {
        Part::Whole => Some(page.to_owned()),
        Part::Beginning => Some(page.split("\n## ").next()?.to_owned()),
        Part::Section(heading) => section(page, heading),
        Part::Item(words) => {
            let start = page.find(&format!("- **{words}**"))? + 2;
            let rest = &page[start..];
            let end = rest.find("\n- ").or_else(|| rest.find("\n\n"));
            Some(rest[..end.unwrap_or(rest.len())].to_owned())
        }
    }
}

/// From a heading to the next one of its level or above.
fn section(page: &str, heading: &str) -> Option<String> {
    let (mut level, mut in_code, mut out) = (0, false, String::new());
    for line in page.lines() {
        in_code ^= line.starts_with("```");
        let hashes = line.len() - line.trim_start_matches('#').len();
        if hashes > 0 && !in_code {
            if level > 0 && hashes <= level {
                break;
            }
            if level == 0 && line[hashes..].trim() == heading {
                level = hashes;
            }
        }
        if level > 0 {
            out.push_str(line);
            out.push('\n');
        }
    }
    (level > 0).then_some(out)
}

#[cfg(test)]
mod tests {
    /// A heading that is renamed in docs/ would leave a topic without text.
    #[test]
    fn every_topic_has_its_text() {
        for topic in super::ALL.iter() {
            let text = topic.text();
            assert!(text.is_some_and(|t| t.len() > 200), "{:?}", topic.names);
        }
    }

    #[test]
    fn a_section_ends_where_the_next_one_begins() {
        let page = "# t\n\n## a\none\n```\n# not a heading\n```\n### b\ntwo\n## c\nthree\n";
        let text = super::section(page, "a").expect("a section");
        assert_eq!(text, "## a\none\n```\n# not a heading\n```\n### b\ntwo\n");
        assert_eq!(super::section(page, "d"), None);
    }
}
