// SPDX-License-Identifier: MIT OR Apache-2.0
//! One header that holds all that a scheme needs.

use crate::{Error, gathered};

/// The C form of a scheme as one file that includes nothing outside itself (but a kernel's own
/// types in a kernel).
///
/// # Errors
///
/// [`Error::NoTwin`] where the scheme has no C form.
pub fn header(stem: &str) -> Result<String, Error> {
    let mut text = String::new();
    let mut had = Vec::new();
    include(stem, &mut had, &mut text)?;
    Ok(text)
}

/// Adds a header, and before its code those that it includes and that are not there yet.
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
