// SPDX-License-Identifier: MIT OR Apache-2.0
//! Switches, hosts and cables by number, before they are laid out as links.

use cemark_wire::{Picos, Rate};

/// Rate and propagation delay of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Picos,
}

/// A port of a host, and its cable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nic {
    /// Index into [`Wiring::hosts`].
    pub host: u32,
    /// The switch at the other end.
    pub switch: u32,
    /// Both directions of the cable.
    pub line: Line,
}

/// A cable between two switches, in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cable {
    pub from: u32,
    pub to: u32,
    pub line: Line,
    /// Index into [`Wiring::tiers`].
    pub tier: u8,
    /// Packets take this direction. Pause frames take every cable.
    pub routed: bool,
}

/// A fabric by numbers.
///
/// Switches with hosts come first, in the order of their first ports to hosts. Packets take the
/// fewest links; equal choices keep the order of the cables.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    pub(super) switches: Vec<String>,
    pub(super) hosts: Vec<String>,
    /// The ports of the hosts, host by host.
    pub(super) nics: Vec<Nic>,
    pub(super) cables: Vec<Cable>,
    /// Names of sets of cables that are loaded alike when all hosts send to each other; empty
    /// where each cable has a load of its own.
    pub(super) tiers: Vec<&'static str>,
    /// All racks see the same fabric.
    pub(super) alike: bool,
}

impl Wiring {
    /// Switches `name0`, `name1`, ... with as many hosts each as `racks` says, and no cables
    /// between the switches.
    pub(super) fn of_racks(name: &str, racks: impl IntoIterator<Item = u32>, line: Line) -> Wiring {
        let mut wiring = Wiring::default();
        for hosts in racks {
            let switch = wiring.switch(format!("{name}{}", wiring.switches.len()));
            for _ in 0..hosts {
                let host = wiring.hosts.len() as u32;
                wiring.hosts.push(format!("host{host}"));
                wiring.nics.push(Nic { host, switch, line });
            }
        }
        wiring
    }

    /// States that all racks see the same fabric: loads and estimates then follow the paths of one
    /// rack alone.
    pub(super) fn alike(self) -> Wiring {
        Wiring {
            alike: true,
            ..self
        }
    }

    /// Adds a switch. Returns its number.
    pub(super) fn switch(&mut self, name: String) -> u32 {
        self.switches.push(name);
        self.switches.len() as u32 - 1
    }

    /// Adds switches `name0`, `name1`, ... Returns the number of the first.
    pub(super) fn switches(&mut self, name: &str, count: u32) -> u32 {
        let first = self.switches.len() as u32;
        self.switches
            .extend((0..count).map(|i| format!("{name}{i}")));
        first
    }

    /// Begins a tier, to which the cables that follow belong. Returns its number.
    pub(super) fn tier(&mut self, name: &'static str) -> u8 {
        self.tiers.push(name);
        self.tiers.len() as u8 - 1
    }

    /// Adds one direction of a cable to the last tier. The k-th from one switch to another belongs
    /// to the k-th back.
    pub(super) fn cable(&mut self, from: u32, to: u32, line: Line) {
        let tier = self.tiers.len().saturating_sub(1) as u8;
        self.add(from, to, line, tier, true);
    }

    /// Adds a direction of a cable that only pause frames take.
    pub(super) fn unrouted(&mut self, from: u32, to: u32, line: Line) {
        let tier = self.tiers.len().saturating_sub(1) as u8;
        self.add(from, to, line, tier, false);
    }

    /// Adds one direction of a cable.
    pub(super) fn add(&mut self, from: u32, to: u32, line: Line, tier: u8, routed: bool) {
        self.cables.push(Cable {
            from,
            to,
            line,
            tier,
            routed,
        });
    }
}
