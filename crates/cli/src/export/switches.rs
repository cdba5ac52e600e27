// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scheme as the configuration of a switch: the platforms that `cemark doctor` reads.

use cemark_platform::{PLATFORMS, Platform};

use cemark_report::text::wrap;

use super::{Args, Chosen, Exported, Target};
use crate::exit::{Failure, user};

/// Columns of a comment without its mark.
const COLUMNS: usize = 94;

/// A platform as a target.
pub(super) struct Switch {
    name: &'static str,
    about: &'static str,
    /// A port that the platform could have.
    port: &'static str,
}

pub(super) static SONIC: Switch = Switch {
    name: "sonic",
    about: "SONiC: tables for `config load`, a patch, or lines of ecnconfig (--form)",
    port: "Ethernet0",
};

pub(super) static NVUE: Switch = Switch {
    name: "nvue",
    about: "`nv set` commands of NVUE",
    port: "swp1",
};

pub(super) static EOS: Switch = Switch {
    name: "eos",
    about: "commands of Arista EOS",
    port: "Ethernet1",
};

pub(super) static NXOS: Switch = Switch {
    name: "nxos",
    about: "commands of Cisco NX-OS",
    port: "Ethernet1/1",
};

pub(super) static OPENCONFIG: Switch = Switch {
    name: "openconfig",
    about: "JSON of openconfig-qos",
    port: "Ethernet1",
};

impl Switch {
    fn platform(&self) -> &'static dyn Platform {
        let found = PLATFORMS.iter().find(|p| p.name() == self.name);
        *found.expect("a platform")
    }
}

impl Target for Switch {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn of_scenario(&self, chosen: &Chosen, args: &Args) -> Result<Exported, Failure> {
        let ports = args.ports.as_deref().unwrap_or(self.port);
        let plain = |c: char| c.is_ascii_alphanumeric() || "/,.:_- ".contains(c);
        if ports.trim().is_empty() || !ports.chars().all(plain) {
            return Err(user(
                format!("`--ports {ports}` is no list of ports"),
                format!("write --ports {}", self.port),
            ));
        }
        let mut wanted = chosen.wanted(ports)?;
        if args.ports.is_none() {
            let sentence = format!("Written for {}: name your ports with --ports.", self.port);
            wanted.notes.push(sentence);
        }
        let sentences = std::iter::once(&chosen.title).chain(&wanted.notes);
        wanted.comments = sentences
            .flat_map(|sentence| {
                let lines = wrap(sentence, COLUMNS);
                lines.lines().map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        let written = self.platform().write(&wanted, args.form());
        let written = written.expect("the platform writes");
        let written = written.map_err(|no| user(no.why, no.instead))?;
        Ok(Exported {
            bytes: written.text.into_bytes(),
            notes: written.notes,
        })
    }
}
