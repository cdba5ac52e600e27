// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios that commands write: templates of TOML with comments, filled with values.

use cemark_report::text::wrap;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};

/// Most columns of a comment.
const WIDTH: usize = 98;

/// A template with these values. Its filter `comment` breaks a text into lines of a comment.
pub(crate) fn filled(template: &str, values: Value) -> String {
    let mut env = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    env.set_syntax(syntax.expect("the usual delimiters"));
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.add_filter("comment", |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let lines = wrap(&words.join(" "), WIDTH - 2).replace('\n', "\n# ");
        format!("# {lines}\n")
    });
    env.render_str(template, values)
        .expect("a fixed template over these values")
}

/// A text as TOML writes it.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}
