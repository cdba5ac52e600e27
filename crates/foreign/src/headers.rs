// SPDX-License-Identifier: MIT OR Apache-2.0
//! A header together with everything that it includes.

use crate::{Error, gathered};

/// The C header of a scheme, or `marker` or `round`, as one file that includes no other (except the
/// types of a kernel in a kernel).
///
/// # Errors
///
/// [`Error::NoTwin`] where there is no such header.
pub fn header(stem: &str) -> Result<String, Error> {
    let mut text = String::new();
    let mut had = Vec::new();
    include(stem, &mut had, &mut text)?;
    Ok(text)
}

/// Adds a header. The headers that it includes take the place of its `#include` lines, each once.
fn include(stem: &str, had: &mut Vec<String>, text: &mut String) -> Result<(), Error> {
    if had.iter().any(|h| h == stem) {
        return Ok(());
    }
    had.push(stem.to_owned());
    let (_, source) = gathered::headers()
        .iter()
        .find(|(name, _)| *name == stem)
        .ok_or_else(|| Error::NoTwin(stem.to_owned()))?;
    for line in source.lines() {
        match line
            .strip_prefix("#include \"")
            .and_then(|l| l.strip_suffix(".h\""))
        {
            Some(other) => include(other, had, text)?,
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    Ok(())
}
