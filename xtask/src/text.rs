// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules about the text of sources and documents: lines of 100 columns, words that an engineer
//! knows, and no citation of a document that is not in the repository.

use std::fs;

/// Most columns of a line.
const WIDEST: usize = 100;

/// Files whose lines are counted and whose words are read.
const KINDS: &[&str] = &[
    ".rs",
    ".c",
    ".h",
    ".py",
    ".md",
    ".toml",
    ".sh",
    ".ci/run",
    ".cargo/rustc",
];

/// Texts that keep their words: what was said at the time, and what another program reads or wrote.
const OLD_WORDS: &[&str] = &[
    "CHANGELOG.md",
    // This list.
    "xtask/src/text.rs",
];

/// Words of an earlier style, and what an engineer expects instead. An entry of several words is
/// found across the end of a line too.
const WORDS: &[(&str, &str)] = &[
    ("luck", "random draws"),
    ("heed", "apply_offer, or `follow`"),
    ("look_ahead", "prefetch"),
    ("turn_ends", "visit_ends"),
    ("lost_repairs", "lost_retransmissions"),
    ("repairs", "retransmissions"),
    ("stands", "is"),
    ("nobody", "no user, no sender, no code …: say which"),
    ("so many", "the number, or `this many`"),
    ("anew", "again"),
    ("wherefrom", "from where"),
    ("at hand", "current"),
    ("goes on", "continues"),
    ("has it that", "says that"),
];

/// Where a word belongs to a scenario key, it stays.
const KEYS: &[&str] = &["lost-repairs"];

/// Mistakes in the text of a file.
pub(crate) fn judge(path: &str, text: &str) -> Vec<String> {
    if !KINDS.iter().any(|kind| path.ends_with(kind)) {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    if !is_data(path) {
        wrong.extend(wide(path, text));
    }
    if !OLD_WORDS.contains(&path) {
        wrong.extend(words(path, text));
        let cited = |(_, line): &(usize, &str)| cites_elsewhere(line);
        wrong.extend(numbered(text).filter(cited).map(|(number, _)| {
            format!("{path}:{number}: cites a specification that is not in the repository")
        }));
    }
    wrong
}

/// `cargo xtask text [PATH…]`: the files below these paths, or all.
pub(crate) fn run(paths: &[&str]) -> Result<(), String> {
    let mut wrong = Vec::new();
    for path in crate::tree::files()? {
        let wanted = paths.is_empty() || paths.iter().any(|below| path.starts_with(below));
        if wanted && KINDS.iter().any(|kind| path.ends_with(kind)) {
            let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
            wrong.extend(judge(&path, &text));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n       ")),
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(i, line)| (i + 1, line))
}

/// Tables of packets and hand-worked numbers read better on one line each.
fn is_data(path: &str) -> bool {
    path.starts_with("vectors/") && path.ends_with(".toml")
}

fn wide(path: &str, text: &str) -> Vec<String> {
    let is_document = path.ends_with(".md");
    let mut wrong = Vec::new();
    // What opened the block of code that this line is in.
    let mut fence: Option<&str> = None;
    for (number, line) in numbered(text) {
        if is_document && line.trim_start().starts_with("```") {
            fence = match fence {
                None => Some(line.trim()),
                Some(_) => None,
            };
            continue;
        }
        // What a program printed is shown as it was printed.
        let in_output = matches!(fence, Some("```" | "```text" | "```console"));
        let is_heading = is_document && fence.is_none() && line.starts_with('#');
        let is_table = is_document && line.trim_start().starts_with('|');
        let is_value = path.ends_with(".toml") && is_key_and_value(line);
        let columns = line.chars().count();
        let may = in_output || is_heading || is_table || is_value || is_address(line);
        if columns > WIDEST && !may {
            wrong.push(format!(
                "{path}:{number}: {columns} columns; at most {WIDEST}"
            ));
        }
    }
    wrong
}

/// `key = value` in TOML, which must be on one line where the value is an inline table or a string;
/// a comment behind it could have its own line.
fn is_key_and_value(line: &str) -> bool {
    let Some((key, value)) = line.split_once(" = ") else {
        return false;
    };
    let is_key = key
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.\" ".contains(c));
    is_key && value.starts_with(['[', '{', '"']) && !value.contains(" # ")
}

/// A line whose width comes from one address that cannot be broken.
fn is_address(line: &str) -> bool {
    let parts = line.split_whitespace();
    parts
        .filter(|part| part.contains("://"))
        .any(|part| line.chars().count() - part.chars().count() < WIDEST / 2)
}

fn words(path: &str, text: &str) -> Vec<String> {
    let mut lower = text.to_lowercase();
    for key in KEYS {
        lower = lower.replace(key, &"x".repeat(key.len()));
    }
    // Every sign that begins a line of a comment counts as a space, so that the length of the text
    // and the places in it stay.
    let plain: Vec<u8> = lower
        .bytes()
        .map(|b| match b {
            b'\n' | b'/' | b'#' | b'*' | b'!' => b' ',
            _ => b,
        })
        .collect();
    let mut wrong = Vec::new();
    for (word, instead) in WORDS {
        for at in places(&plain, word) {
            let number = lower.as_bytes()[..at]
                .iter()
                .filter(|b| **b == b'\n')
                .count()
                + 1;
            wrong.push(format!("{path}:{number}: `{word}`; write: {instead}"));
        }
    }
    wrong
}

/// Where the words of `wanted` follow each other with nothing but spaces between them.
fn places(text: &[u8], wanted: &str) -> Vec<usize> {
    let is_part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let parts: Vec<&[u8]> = wanted.split(' ').map(str::as_bytes).collect();
    let mut found = Vec::new();
    for at in 0..text.len() {
        if !text[at..].starts_with(parts[0]) || (at > 0 && is_part(text.get(at - 1))) {
            continue;
        }
        let mut end = at + parts[0].len();
        let all = parts[1..].iter().all(|part| {
            let spaces = text[end..].iter().take_while(|b| **b == b' ').count();
            let begin = end + spaces;
            end = begin + part.len();
            spaces > 0 && text[begin.min(text.len())..].starts_with(part)
        });
        if all && !is_part(text.get(end)) {
            found.push(at);
        }
    }
    found
}

/// `spec A.12`, as an earlier document was cited.
fn cites_elsewhere(line: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find("spec") {
        rest = &rest[at + 4..];
        let after = rest.trim_start_matches("ification");
        let mut letters = after.trim_start().chars();
        let section = letters.next().is_some_and(|c| c.is_ascii_uppercase());
        if after.starts_with(' ') && section && letters.next() == Some('.') {
            let digit = letters.next().is_some_and(|c| c.is_ascii_digit());
            if digit {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_line_is_found_and_a_table_an_address_or_output_is_not() {
        let long = "x".repeat(101);
        let wrong = |path: &str, text: &str| judge(path, text).len();
        assert_eq!(wrong("a.rs", &long), 1);
        assert_eq!(wrong("a.rs", &long[1..]), 0);
        // Columns, not bytes.
        assert_eq!(wrong("a.py", &"µ".repeat(100)), 0);
        assert_eq!(wrong("a.md", &format!("| {long} |")), 0);
        assert_eq!(wrong("a.toml", &format!("| {long} |")), 1);
        assert_eq!(wrong("a.toml", &format!("flow = [{{ {long} }}]")), 0);
        assert_eq!(wrong("a.rs", &format!("flow = [{{ {long} }}]")), 1);
        assert_eq!(wrong("a.toml", &format!("# https://{long}")), 0);
        assert_eq!(wrong("a.toml", &format!("# {long} https://a.b")), 1);
        assert_eq!(wrong("a.md", &format!("```text\n{long}\n```\n{long}")), 1);
        assert_eq!(wrong("a.md", &format!("```\n{long}\n```\n{long}")), 1);
        assert_eq!(wrong("a.md", &format!("## {long}")), 0);
        assert_eq!(wrong("a.rs", &format!("# {long}")), 1);
        assert_eq!(wrong("a.md", &format!("```rust\n{long}\n```\n")), 1);
        assert_eq!(wrong("vectors/x/y.toml", &long), 0);
        assert_eq!(wrong("vectors/README.md", &long), 1);
        assert_eq!(wrong("workloads/sizes.txt", &long), 0);
    }

    #[test]
    fn a_word_of_the_list_is_found_with_its_line() {
        let said = |text: &str| judge("a.rs", text);
        assert_eq!(
            said("//! One.\n// Luck decides.\n"),
            ["a.rs:2: `luck`; write: random draws"]
        );
        assert_eq!(said("fn f(turn_ends: bool) {}").len(), 1);
        // Within a longer word it is another word.
        assert!(said("unlucky, heedless, my_luck, luck_of").is_empty());
        assert!(said("key = \"lost-repairs\"").is_empty());
        assert_eq!(said("the repairs of it").len(), 1);
        // Across lines of a comment.
        assert_eq!(said("// a run that goes\n// on").len(), 1);
        assert_eq!(said("/// so\n/// many").len(), 1);
        assert!(said("so much; many").is_empty());
        assert!(judge("CHANGELOG.md", "luck").is_empty());
        assert!(judge("a.txt", "luck").is_empty());
    }

    #[test]
    fn a_section_of_a_missing_document_is_found() {
        for line in ["// spec A.12", "the specification B.3 says", "(spec A.1)"] {
            assert_eq!(judge("a.rs", line).len(), 1, "{line}");
        }
        for line in [
            "spec.A",
            "the spec. A good one",
            "QueueSpec A.b",
            "spec a.1",
            "inspect A. 1",
        ] {
            assert!(judge("a.rs", line).is_empty(), "{line}");
        }
    }
}
