// SPDX-License-Identifier: MIT OR Apache-2.0
//! The platform of a file.

use cemark_formats::{Fallible, Fault};

use super::{ALL, Platform};
use crate::document::Document;

/// Files that are known and not read: how one is recognised, its name, and what to name instead.
const UNREAD: &[(&str, &str, &str)] = &[
    (
        "qdisc ",
        "text of `tc qdisc`",
        "write `tc -j -d qdisc show > FILE`",
    ),
    (
        "set class-of-service",
        "a configuration of Junos",
        "Junos is not read; its drop profiles are percents of a buffer that the file does not say",
    ),
    (
        "class-of-service {",
        "a configuration of Junos",
        "Junos is not read; its drop profiles are percents of a buffer that the file does not say",
    ),
    (
        "- header:",
        "YAML of NVUE",
        "write `nv config show -o json > FILE`",
    ),
    (
        "- set:",
        "YAML of NVUE",
        "write `nv config show -o json > FILE`",
    ),
    (
        "default_ecn_red_conf.",
        "qos_features.conf of Cumulus Linux before NVUE",
        "write `nv config show -o json > FILE`",
    ),
    (
        "qos wred ",
        "a configuration of a switch whose WRED is in percent of a buffer",
        "it is not read",
    ),
    (
        "!<arch>",
        "an archive",
        "name a file of text that the switch wrote",
    ),
];

/// The platform that wrote a file.
///
/// # Errors
/// Where no platform recognises the file, with the name of what the file is if that is known.
pub fn recognise(document: &Document) -> Fallible<&'static dyn Platform> {
    // Of platforms with equally many marks the first counts.
    let marks = ALL.iter().rev().map(|p| (p.marks(document), *p));
    if let Some((1.., platform)) = marks.max_by_key(|(marks, _)| *marks) {
        return Ok(platform);
    }
    let known: Vec<&str> = ALL.iter().map(|p| p.reads()).collect();
    let known = format!("read are {}", known.join("; "));
    for row in document.lines().unwrap_or_default().lines() {
        let row = row.trim_start();
        if let Some((_, what, help)) = UNREAD.iter().find(|(start, _, _)| row.starts_with(start)) {
            return Err(Fault::whole(
                format!("this is {what}, which is not read"),
                *help,
            ));
        }
    }
    Err(Fault::whole("this is no configuration that is read", known))
}
