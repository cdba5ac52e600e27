// SPDX-License-Identifier: MIT OR Apache-2.0
//! A scheme as a command of `tc` for the qdisc `cemark`.

use cemark_param::Dialect;

use super::{Args, Chosen, Exported, Target};
use crate::exit::{Failure, user};

pub(super) struct Tc;

impl Target for Tc {
    fn name(&self) -> &'static str {
        "tc"
    }

    fn about(&self) -> &'static str {
        "command of `tc` for Linux' qdisc cemark (docs/linux.md)"
    }

    fn of_scenario(&self, chosen: &Chosen, args: &Args) -> Result<Exported, Failure> {
        if chosen.config.switch.queues.len() > 1 {
            return Err(user(
                "a port of this scenario has several queues, and a qdisc shares them by DSCP",
                "see docs/linux.md for the words `queues` and `queue N`; `cemark testbed run` \
                 writes them for its own network",
            ));
        }
        let (spec, values) = chosen.scheme()?;
        let mut words = format!("cemark scheme {}", spec.name);
        for (i, param) in spec.params.iter().enumerate() {
            let value = param.show(values.get(i), Dialect::Tc);
            words += &format!(" {} {value}", param.name);
        }
        let ports = args.ports.as_deref().unwrap_or("eth0");
        let lines = ports
            .split(',')
            .map(|port| format!("tc qdisc replace dev {} root {words}\n", port.trim()));
        Ok(Exported {
            bytes: lines.collect::<String>().into_bytes(),
            notes: vec![format!(
                "lengths are those of {}; the qdisc needs the module of docs/linux.md",
                chosen.title
            )],
        })
    }

    fn wrote(&self) -> fn(&[u8]) -> bool {
        |head| head.starts_with(b"tc qdisc replace dev ")
    }
}
