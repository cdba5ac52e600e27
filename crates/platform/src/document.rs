// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file of a configuration.

use cemark_formats::{Fallible, Fault};

use crate::text::extent;
use crate::text::json::Json;

/// A parsed file.
pub struct Document {
    pub(crate) body: Body,
}

/// Contents of a file.
pub(crate) enum Body {
    /// A JSON document.
    Json(Json),
    /// Lines of commands.
    Commands(String),
}

impl Document {
    /// Parses a file: JSON where its first character is a bracket, otherwise lines.
    ///
    /// # Errors
    /// With the line of a mistake in JSON; where the file is empty; where its ranges have more
    /// members than a switch.
    pub fn of(text: &str) -> Fallible<Document> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let body = match text.trim_start().chars().next() {
            None => {
                return Err(Fault::whole(
                    "the file is empty",
                    "name a file that the switch wrote",
                ));
            }
            Some('{' | '[') => {
                let json = Json::read(text)?;
                extent::of_json(&json)?;
                Body::Json(json)
            }
            Some(_) => {
                extent::of_lines(text)?;
                Body::Commands(text.to_owned())
            }
        };
        Ok(Document { body })
    }

    /// The JSON of the file.
    pub(crate) fn json(&self) -> Option<&Json> {
        match &self.body {
            Body::Json(json) => Some(json),
            Body::Commands(_) => None,
        }
    }

    /// The text of a file that is not JSON.
    pub(crate) fn lines(&self) -> Option<&str> {
        match &self.body {
            Body::Json(_) => None,
            Body::Commands(text) => Some(text),
        }
    }
}
