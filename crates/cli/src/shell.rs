// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands as a person can paste them into a shell.

/// A word, in single quotes where the shell would not take it literally.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_./=:,%+@-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A command line.
pub(crate) fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|w| quoted(w)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let words = [
            "a b",
            "",
            "it's",
            "scheme.ECN#.x=1us,2us",
            "plain-1.toml",
            "$HOME",
            "é*",
        ];
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let script = format!("printf '%s\\n' {}", line(&words));
        let out = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .expect("a shell");
        let said = String::from_utf8(out.stdout).expect("UTF-8");
        assert_eq!(said.lines().collect::<Vec<_>>(), words);
        assert!(line(&words).ends_with(" plain-1.toml '$HOME' 'é*'"));
    }
}
