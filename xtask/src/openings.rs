// SPDX-License-Identifier: MIT OR Apache-2.0
//! Doc comments that begin with a pronoun: rustdoc and a search show such a comment without the
//! sentence that it refers to. There are none.

use std::fs;

/// First words that refer to another sentence.
const WORDS: [&str; 8] = [
    "What ", "One ", "The same", "It ", "Of ", "Those ", "That ", "These ",
];

/// Fails on doc comments of Rust files that begin with one of [`WORDS`].
pub(crate) fn check() -> Result<(), String> {
    let mut wrong = Vec::new();
    for path in crate::tree::files()? {
        if path.ends_with(".rs") {
            let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
            wrong.extend(vague(&text).map(|line| format!("{path}:{line}")));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}: a doc comment begins with {}. Begin with a noun of the field, such as packet, port, \
         flow or run",
        wrong.join(", "),
        WORDS.map(str::trim).join(", ")
    ))
}

/// Lines of a text, from 1, on which such a doc comment begins.
fn vague(text: &str) -> impl Iterator<Item = usize> {
    let mut inside = false;
    let lines = text.lines().map(str::trim_start).zip(1..);
    lines.filter_map(move |(line, number)| {
        let doc = ["///", "//!"]
            .iter()
            .find_map(|sign| line.strip_prefix(sign))
            .map(str::trim_start);
        let begins = doc.is_some_and(|first| WORDS.iter().any(|word| first.starts_with(word)));
        let found = !inside && begins;
        inside = doc.is_some();
        found.then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::vague;

    #[test]
    fn only_first_lines_of_doc_comments_count() {
        let text = "/// What a port sends.\n/// One more line.\nfn a() {}\n\n/// Packets of a \
                    flow.\n    /// The same of a port.\n// It is no doc comment.\n//! Of ports.\n";
        assert_eq!(vague(text).collect::<Vec<_>>(), [1, 8]);
    }
}
