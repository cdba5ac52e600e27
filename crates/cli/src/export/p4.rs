// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN# as table entries of the P4 program.

use super::{Args, Chosen, Exported, Target};
use crate::exit::Failure;

pub(super) struct P4;

impl Target for P4 {
    fn name(&self) -> &'static str {
        "p4"
    }

    fn about(&self) -> &'static str {
        "constants and table entries of ecn_sharp.p4"
    }

    #[cfg(not(feature = "deploy"))]
    fn of_scenario(&self, _: &Chosen, _: &Args) -> Result<Exported, Failure> {
        crate::absent::refuse("`--as p4`")
    }

    #[cfg(feature = "deploy")]
    fn of_scenario(&self, chosen: &Chosen, _: &Args) -> Result<Exported, Failure> {
        use crate::exit::user;

        let (spec, values) = chosen.scheme()?;
        if spec.name != "ecn_sharp" {
            return Err(user(
                format!(
                    "ecn_sharp.p4 marks as ECN#, and {} is {}",
                    chosen.label, spec.title
                ),
                "the programs of dataplane/p4 for other schemes take their parameters when they \
                 are compiled (dataplane/p4/README.md)",
            ));
        }
        let nanos = |name: &str| {
            let at = spec.params.iter().position(|p| p.name == name);
            values.get(at.expect("a parameter of ECN#"))
        };
        let text = crate::p4::of_values(
            nanos("pst_interval"),
            nanos("ins_target"),
            nanos("pst_target"),
        )?;
        Ok(Exported {
            bytes: text.into_bytes(),
            notes: vec![chosen.parameters()?],
        })
    }
}
