// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolution of a switch chip: thresholds are whole cells of its memory, probabilities whole
//! steps.

use cemark_marking::{Kind, ParamSpec};

use crate::error::Fallible;
use crate::section::Section;
use crate::switch::{CELL, PROBABILITY_STEP, SWITCH};
use crate::tree::Table;

/// The fraction 1 as parameters store it.
const ONE: f64 = 65_536.0;

/// Resolution of the values that a chip holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chip {
    /// Bytes of a cell.
    cell: Option<u32>,
    /// The smallest difference of two probabilities.
    step: Option<f64>,
}

impl Chip {
    /// The chip of a scenario's switches.
    pub(crate) fn of_scenario(root: &Table) -> Fallible<Chip> {
        let mut s = Section::of(root, &SWITCH)?;
        Ok(Chip {
            cell: s.given(&CELL)?,
            step: s.given(&PROBABILITY_STEP)?.filter(|step| *step > 0.0),
        })
    }

    /// The stored value of a parameter that the chip holds for a stored value: lengths of queues
    /// down to whole cells, and to one at least; fractions to the nearest step.
    pub(crate) fn holds(&self, param: &ParamSpec, asked: u64) -> u64 {
        match (param.kind, self.cell, self.step) {
            (Kind::Bytes, Some(cell), _) if param.of_queue && (1..param.max).contains(&asked) => {
                let cell = u64::from(cell);
                (asked / cell).max(1) * cell
            }
            (Kind::Fraction { .. }, _, Some(step)) => {
                let steps = (asked as f64 / ONE / step).round();
                (steps * step * ONE).round().min(ONE) as u64
            }
            _ => asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cemark_marking::catalogue;

    #[test]
    fn values_are_those_that_a_chip_can_hold() {
        let chip = Chip {
            cell: Some(208),
            step: Some(0.01),
        };
        let wred = catalogue::find("wred").expect("in the catalogue");
        let held = |name: &str, asked| {
            let place = wred.index_of(name).expect("a parameter");
            chip.holds(&wred.params[place], asked)
        };
        assert_eq!(held("min", 100_000), 480 * 208);
        assert_eq!(held("min", 207), 208);
        assert_eq!(held("min", 0), 0);
        // 5.4 % is 5 %, 0.4 % is nothing, and 100 % stays.
        assert_eq!(held("drop_probability", 3_539), 3_277);
        assert_eq!(held("drop_probability", 262), 0);
        assert_eq!(held("drop_probability", 65_536), 65_536);
        let as_asked = Chip::default().holds(&wred.params[0], 100_001);
        assert_eq!(as_asked, 100_001);
    }
}
