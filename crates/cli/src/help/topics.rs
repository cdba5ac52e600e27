// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of the documentation that `cemark help` shows. The texts are those of docs/, included when
//! the program is built.

macro_rules! page {
    ($path:literal) => {
        include_str!(concat!("../../../../", $path))
    };
}

/// The page of scenario files, whose sections are topics of their own.
pub(super) const SCENARIOS: &str = page!("docs/scenarios.md");
/// The page of terms.
pub(super) const GLOSSARY: &str = page!("docs/glossary.md");

/// Which part of a page a topic is.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// The whole page.
    Whole,
    /// What comes before the first heading of the second level.
    Beginning,
    /// The section with this heading.
    Section(&'static str),
    /// The item of a list that begins with these words in bold type.
    Item(&'static str),
}

/// A topic.
pub(super) struct Topic {
    pub names: &'static [&'static str],
    /// What it is about, in a few words.
    pub about: &'static str,
    page: &'static str,
    part: Part,
    /// What to type or read next.
    pub next: &'static str,
}

const fn topic(
    names: &'static [&'static str],
    about: &'static str,
    (page, part): (&'static str, Part),
    next: &'static str,
) -> Topic {
    Topic {
        names,
        about,
        page,
        part,
        next,
    }
}

/// Every topic beside commands, schemes, sections and keys of scenarios.
pub(super) static ALL: &[Topic] = &[
    topic(
        &["scenarios", "scenario-files"],
        "how a scenario file is written",
        (SCENARIOS, Part::Beginning),
        "cemark help SECTION, for instance: cemark help workload",
    ),
    topic(
        &["units"],
        "times, rates, lengths and fractions in scenario files",
        (SCENARIOS, Part::Section("Units")),
        "cemark help scenarios",
    ),
    topic(
        &["sweep", "sweeps", "set", "paths"],
        "running several values of a key: [sweep] and --set",
        (SCENARIOS, Part::Section("`[sweep]` and `--set`")),
        "cemark run rtt-variation --set workload.load=0.3,0.6",
    ),
    topic(
        &["editor", "editors"],
        "completion of scenario files in an editor",
        (SCENARIOS, Part::Section("In an editor")),
        "cemark check --schema",
    ),
    topic(
        &["install", "completion"],
        "installation, completion at the prompt, manual pages",
        (page!("docs/install.md"), Part::Whole),
        "cemark completions bash, cemark man run",
    ),
    topic(
        &["exit-codes", "exit-code"],
        "what the exit code says",
        (page!("docs/output.md"), Part::Section("Exit codes")),
        "cemark help output",
    ),
    topic(
        &["output", "json"],
        "what a run prints and writes, and the fields of its JSON",
        (
            page!("docs/output.md"),
            Part::Section("`cemark run --format json`, and `summary.json`"),
        ),
        "cemark help run-directory, cemark help statistics",
    ),
    topic(
        &["run-directory", "runs", "parquet"],
        "the files of a run directory",
        (page!("docs/output.md"), Part::Section("The run directory")),
        "cemark help output",
    ),
    topic(
        &["statistics", "intervals"],
        "where the 95 % intervals come from",
        (
            page!("docs/output.md"),
            Part::Section("How the statistics are taken"),
        ),
        "cemark help output",
    ),
    topic(
        &["metrics"],
        "every metric by which schemes are compared",
        (page!("docs/output.md"), Part::Section("Metrics")),
        "cemark help output",
    ),
    topic(
        &["formats", "hpcc", "htsim"],
        "files of other simulators that `cemark import` reads",
        (page!("docs/formats.md"), Part::Whole),
        "cemark import --help",
    ),
    topic(
        &["figures"],
        "figures of the papers, and what counts as reproduced",
        (page!("docs/trust.md"), Part::Item("Figures.")),
        "cemark figure --list",
    ),
    topic(
        &["physics"],
        "how the simulator is checked against theory",
        (page!("docs/trust.md"), Part::Item("Physics.")),
        "cemark bench --physics",
    ),
    topic(
        &["pauses", "pfc"],
        "priority flow control: pauses, storms and deadlocks",
        (page!("docs/pfc.md"), Part::Whole),
        "cemark run roce-100g",
    ),
    topic(
        &["transports", "senders"],
        "the congestion controllers",
        (
            page!("docs/transports.md"),
            Part::Section("The congestion controllers"),
        ),
        "cemark help controllers, cemark help transport",
    ),
    topic(
        &["controllers"],
        "the rules of each congestion controller",
        (
            page!("docs/transports.md"),
            Part::Section("Rules of the controllers"),
        ),
        "cemark help transports",
    ),
    topic(
        &["dcib", "middleboxes"],
        "DCIB's routers and proxies between two data centres",
        (page!("docs/dcib.md"), Part::Whole),
        "cemark help edge",
    ),
    topic(
        &["embedding", "dataplane", "c", "bpf"],
        "a scheme in C or BPF",
        (page!("docs/dataplane.md"), Part::Section("Embed a scheme")),
        "cemark export ecn_sharp",
    ),
    topic(
        &["own-marker", "marker"],
        "simulating a marker of your own",
        (
            page!("docs/dataplane.md"),
            Part::Section("Simulate what you deploy"),
        ),
        "cemark run rtt-variation --marker bpf:own.o",
    ),
    topic(
        &["parts"],
        "what each part of ECN#, MQ-ECN and CEDM contributes",
        (
            page!("docs/questions.md"),
            Part::Section("What does each part contribute?"),
        ),
        "cemark figure parts",
    ),
    topic(
        &["findings"],
        "what could not be reproduced, and why",
        (page!("docs/findings.md"), Part::Beginning),
        "read docs/findings.md of the repository",
    ),
    topic(
        &["sizes", "size-tables", "workloads"],
        "the published tables of flow sizes",
        (page!("workloads/README.md"), Part::Whole),
        "cemark help workload",
    ),
    topic(
        &["glossary", "terms"],
        "the terms that cemark uses",
        (GLOSSARY, Part::Whole),
        "cemark help TERM, for instance: cemark help packet-hop",
    ),
];

impl Topic {
    /// Its text, in the language of Markdown.
    pub(super) fn text(&self) -> Option<String> {
        part(self.page, self.part)
    }
}

/// A part of a page.
pub(super) fn part(page: &str, part: Part) -> Option<String> {
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
        for topic in super::ALL {
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
