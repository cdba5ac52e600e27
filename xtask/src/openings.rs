// SPDX-License-Identifier: MIT OR Apache-2.0
//! Doc comments that begin with a pronoun: rustdoc and a search show such a comment without the
//! sentence that it refers to. Their number may only fall.

use std::cmp::Ordering;
use std::fs;

/// Doc comments of the tree that begin with one of [`WORDS`]. Lower it with every one that is
/// rewritten.
const MOST: usize = 575;

/// First words that refer to another sentence.
const WORDS: [&str; 7] = ["What ", "One ", "The same", "It ", "Of ", "Those ", "That "];

/// Counts the doc comments of all Rust files.
pub(crate) fn check() -> Result<(), String> {
    let mut count = 0;
    for path in crate::tree::files()? {
        if path.ends_with(".rs") {
            let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
            count += vague(&text);
        }
    }
    let words = WORDS.map(str::trim).join(", ");
    match count.cmp(&MOST) {
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(format!(
            "{count} doc comments begin with {words}; at most {MOST}. Begin new ones with a noun \
             of the field, such as packet, port, flow or run"
        )),
        Ordering::Less => Err(format!(
            "{count} doc comments begin with {words}: write {count} for MOST in \
             xtask/src/openings.rs"
        )),
    }
}

/// Doc comments of a text that begin with one of [`WORDS`].
fn vague(text: &str) -> usize {
    let mut inside = false;
    let mut count = 0;
    for line in text.lines().map(str::trim_start) {
        let doc = ["///", "//!"]
            .iter()
            .find_map(|sign| line.strip_prefix(sign));
        if let (false, Some(first)) = (inside, doc) {
            let first = first.trim_start();
            count += usize::from(WORDS.iter().any(|word| first.starts_with(word)));
        }
        inside = doc.is_some();
    }
    count
}

#[cfg(test)]
mod tests {
    use super::vague;

    #[test]
    fn only_first_lines_of_doc_comments_count() {
        let text = "/// What a port sends.\n/// One more line.\nfn a() {}\n\n/// Packets of a \
                    flow.\n    /// The same of a port.\n// It is no doc comment.\n//! Of ports.\n";
        assert_eq!(vague(text), 2);
    }
}
