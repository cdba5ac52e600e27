// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scheme as a command of `tc` for the qdisc `cemark`.

use super::{Args, Chosen, Exported, Target};
use crate::exit::Failure;

pub(super) struct Tc;

impl Target for Tc {
    fn name(&self) -> &'static str {
        "tc"
    }

    fn about(&self) -> &'static str {
        "command of `tc` for Linux' qdisc cemark (docs/linux.md)"
    }

    fn of_scenario(&self, chosen: &Chosen, args: &Args) -> Result<Exported, Failure> {
        let words = chosen.as_qdisc()?;
        let ports = args.ports.as_deref().unwrap_or("eth0");
        let lines = ports
            .split(',')
            .map(|port| format!("tc qdisc replace dev {} root {words}\n", port.trim()));
        let mut notes = vec![format!(
            "lengths are those of {}; the qdisc needs the module of docs/linux.md",
            chosen.title
        )];
        if chosen.config.switch.pfc.is_some() {
            notes.push("Linux forwards without pauses: no queue is lossless there".to_owned());
        }
        Ok(Exported {
            bytes: lines.collect::<String>().into_bytes(),
            notes,
        })
    }

    fn wrote(&self) -> fn(&[u8]) -> bool {
        |head| head.starts_with(b"tc qdisc replace dev ")
    }
}
