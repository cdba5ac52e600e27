// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of a running configuration, or of a session at a switch, as words.

use std::collections::BTreeMap;

/// First words of commands that begin a section of their own. Only these are listed among sections
/// that were not read: another word may be a piece of a secret.
const SECTIONS: &[&str] = &[
    "aaa",
    "access-list",
    "alias",
    "arp",
    "banner",
    "boot",
    "callhome",
    "cdp",
    "class-map",
    "clock",
    "control-plane",
    "copp",
    "crypto",
    "daemon",
    "dot1x",
    "enable",
    "errdisable",
    "event-handler",
    "evpn",
    "fabric",
    "feature",
    "hardware",
    "hostname",
    "ip",
    "ipv6",
    "key",
    "lacp",
    "ldap",
    "line",
    "lldp",
    "load-interval",
    "logging",
    "mac",
    "management",
    "monitor",
    "mpls",
    "ntp",
    "nv",
    "nxapi",
    "platform",
    "policy-map",
    "port-channel",
    "port-profile",
    "ptp",
    "queue-monitor",
    "radius",
    "radius-server",
    "rmon",
    "role",
    "route-map",
    "router",
    "sflow",
    "snmp",
    "snmp-server",
    "spanning-tree",
    "ssh",
    "switch",
    "system",
    "tacacs",
    "tacacs-server",
    "telemetry",
    "transceiver",
    "tunnel",
    "username",
    "vdc",
    "version",
    "vlan",
    "vpc",
    "vrf",
    "vxlan",
];

/// A line with words.
#[derive(Clone, Debug)]
pub(crate) struct Command<'a> {
    /// Counted from one.
    pub line: u32,
    /// Whether the line is indented.
    pub indented: bool,
    pub words: Vec<&'a str>,
}

impl Command<'_> {
    /// Whether the line begins with these words.
    pub fn begins(&self, words: &[&str]) -> bool {
        self.words.starts_with(words)
    }

    /// The word at an index, or an empty one.
    pub fn word(&self, i: usize) -> &str {
        self.words.get(i).copied().unwrap_or_default()
    }

    /// The line in words, for places: only lines of marking, classes and queues are shown.
    pub fn path(&self) -> String {
        self.words.join(" ")
    }

    /// Whether the line begins a section that is not read; the section is counted.
    pub fn is_other(&self, unread: &mut BTreeMap<String, usize>) -> bool {
        let first = self.word(0);
        let other = SECTIONS.contains(&first);
        if other {
            *unread.entry(first.to_owned()).or_default() += 1;
        }
        other
    }
}

/// Lines that have words, without the prompts of a session, and whether any line is indented. A
/// line of `!` ends a block and is kept; comments after it are not.
pub(crate) fn commands(text: &str) -> Vec<Command<'_>> {
    let read = text.lines().zip(1_u32..).filter_map(|(row, line)| {
        let indented = row.starts_with([' ', '\t']);
        let row = command(row.trim());
        let words = match row.strip_prefix('!') {
            Some(_) => vec!["!"],
            None => row.split_whitespace().collect(),
        };
        (!words.is_empty()).then_some(Command {
            line,
            indented,
            words,
        })
    });
    read.collect()
}

/// A line without a prompt such as `leaf1(config-if-Et1)#`.
fn command(row: &str) -> &str {
    match row.split_once('#') {
        Some((prompt, rest)) if prompt.ends_with(')') && prompt.contains("(config") => rest.trim(),
        _ => row,
    }
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn prompts_and_comments_are_no_words() {
        let text = "leaf1(config-if-Et1)# mtu 9214\n! a comment\n\n   speed 100g\nnote # 1\n";
        let read = commands(text);
        let words: Vec<String> = read.iter().map(|c| c.path()).collect();
        assert_eq!(words, ["mtu 9214", "!", "speed 100g", "note # 1"]);
        assert_eq!((read[2].line, read[2].indented), (4, true));
    }
}
