// SPDX-License-Identifier: MIT OR Apache-2.0
//! Patches for `config apply-patch` (RFC 6902): operations that SONiC refuses.
//!
//! sonic-utilities' `gcu_field_operation_validators.conf.json` permits `replace` of three fields of
//! one profile, on listed ASICs and from listed releases on.

use cemark_formats::{Fallible, Fault};

use crate::model::Refused;
use crate::place::Place;
use crate::text::json::{Json, Value};

/// The profile and its fields that a patch may replace.
pub(super) const PROFILE: &str = "azure_lossless";
pub(super) const FIELDS: [&str; 3] = [
    "green_min_threshold",
    "green_max_threshold",
    "green_drop_probability",
];

/// ASICs on which it may, with the first release.
pub(super) const ASICS: &str = "Spectrum 1 20181100, Spectrum 2 20191100, Spectrum 3 20220500, \
    Spectrum 4 20221100, Trident 2 and Tomahawk 1 and 2 20181100, Trident 3 20201200, Tomahawk 3 \
    to 5 20240500, Jericho 2c+ 20220500, Cisco 8000 20201200";

/// Whether a document is a patch: a list of operations.
pub(super) fn is_patch(json: &Json) -> bool {
    let all = json.elements();
    let operation = |json: &Json| json.get("op").is_some() && json.get("path").is_some();
    !all.is_empty() && all.iter().all(operation)
}

/// Operations on marking profiles that SONiC refuses. The values of other operations may be
/// secrets, and their paths too.
pub(super) fn refusals(file: usize, json: &Json) -> Fallible<Vec<Refused>> {
    let mut refused = Vec::new();
    for operation in json.elements() {
        let word = |name: &str| match operation.get(name).map(|json| &json.value) {
            Some(Value::Text(text)) => Ok(text.as_str()),
            _ => Err(Fault::at(
                operation.line as usize,
                format!("`{name}` of an operation is no text"),
                "write a patch as RFC 6902 says",
            )),
        };
        let (op, path) = (word("op")?, word("path")?);
        let parts: Vec<String> = path.split('/').skip(1).map(unescaped).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let parts = match parts.first() {
            Some(&"localhost") => &parts[1..],
            Some(first) if first.starts_with("asic") => &parts[1..],
            _ => &parts[..],
        };
        if parts.first() != Some(&"WRED_PROFILE") {
            continue;
        }
        let place = Place::new(file, operation.line, format!("{op} {path}"));
        let why = match parts[1..] {
            _ if op != "replace" => {
                format!("a patch cannot {op} what is in WRED_PROFILE: only `replace` is permitted")
            }
            [profile, _] if !profile.eq_ignore_ascii_case(PROFILE) => {
                "a patch changes the profile AZURE_LOSSLESS only".to_owned()
            }
            [_, field] if !FIELDS.contains(&field) => {
                format!("a patch changes {} only", FIELDS.join(", "))
            }
            [_, _] => continue,
            _ => "a patch replaces single fields of WRED_PROFILE only".to_owned(),
        };
        let instead = format!(
            "load the table with `sudo config load FILE`, or write `sudo ecnconfig -p PROFILE \
             -gmin BYTES -gmax BYTES`. Patches of AZURE_LOSSLESS are accepted at {ASICS}"
        );
        refused.push(Refused {
            place,
            why,
            instead,
        });
    }
    Ok(refused)
}

/// A part of a JSON pointer.
fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}
