// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of all parameters of one declaration.

use core::error::Error;
use core::fmt;

use cemark_wire::Rate;

use crate::{Declares, ParamSpec};

/// More parameters than any declaration has.
pub const MAX_PARAMS: usize = 16;

/// A value for each parameter of one declaration, in the order and the stored units of its
/// [`ParamSpec`]s.
///
/// Catalogues, C and BPF pass parameters of any scheme in this form. Code that knows its scheme
/// takes the scheme's configuration instead; each converts into the other with `into()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values(pub [u64; MAX_PARAMS]);

impl Values {
    /// Every parameter of `of` where none is written, and the example of one that must be.
    pub fn defaults(of: &impl Declares) -> Self {
        let mut all = Values([0; MAX_PARAMS]);
        let params = of.params();
        for (i, param) in params.iter().enumerate() {
            all.0[i] = param.unwritten(params, &all).unwrap_or(param.default);
        }
        all
    }

    /// The field `default` of every parameter.
    pub const fn of_defaults(params: &[ParamSpec]) -> Self {
        let mut values = [0; MAX_PARAMS];
        let mut i = 0;
        while i < params.len() {
            values[i] = params[i].default;
            i += 1;
        }
        Values(values)
    }

    /// Reads every parameter in its order. `read` gets a parameter and its value where it is not
    /// written (`None`: it must be written).
    pub fn read<E>(
        of: &impl Declares,
        mut read: impl FnMut(&'static ParamSpec, Option<u64>) -> Result<u64, E>,
    ) -> Result<Values, E> {
        let mut all = Values([0; MAX_PARAMS]);
        let params = of.params();
        for (i, param) in params.iter().enumerate() {
            all.0[i] = read(param, param.unwritten(params, &all))?;
        }
        Ok(all)
    }

    /// The value at a place.
    #[inline]
    pub const fn get(&self, place: usize) -> u64 {
        self.0[place]
    }

    /// Copy of the values with the parameter `name` changed, in its stored unit. `None` without a
    /// parameter of this name.
    #[must_use]
    pub fn with(mut self, of: &impl Declares, name: &str, value: u64) -> Option<Self> {
        self.0[of.index_of(name)?] = value;
        Some(self)
    }

    /// Values for a line of another rate: every length of a queue times `to / from`, rounded
    /// down and inside its range. Times, fractions and sizes of packets stay.
    #[must_use]
    pub fn at_rate(mut self, params: &[ParamSpec], from: Rate, to: Rate) -> Self {
        for (value, p) in self.0.iter_mut().zip(params) {
            if p.of_queue {
                let scaled = u128::from(*value) * u128::from(to.0) / u128::from(from.0.max(1));
                *value = u64::try_from(scaled)
                    .unwrap_or(u64::MAX)
                    .clamp(p.min, p.max);
            }
        }
        self
    }

    /// Copy of the values, each inside its range.
    #[must_use]
    pub fn clamped(mut self, params: &[ParamSpec]) -> Self {
        for (value, p) in self.0.iter_mut().zip(params) {
            *value = (*value).clamp(p.min, p.max);
        }
        self
    }

    /// Checks that each value is inside its range.
    ///
    /// # Errors
    ///
    /// The first value that is outside.
    pub fn check(&self, params: &'static [ParamSpec]) -> Result<(), OutOfRange> {
        let mut pairs = self.0.iter().zip(params);
        match pairs.find(|(value, p)| !(p.min..=p.max).contains(value)) {
            None => Ok(()),
            Some((&value, param)) => Err(OutOfRange { param, value }),
        }
    }
}

/// A value outside the range of its parameter.
#[derive(Clone, Copy, Debug)]
pub struct OutOfRange {
    /// The parameter.
    pub param: &'static ParamSpec,
    /// The value, in the stored unit.
    pub value: u64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = self.param;
        let unit = match p.kind {
            crate::Kind::Fraction { one, .. } => return self.of_parts(f, one),
            crate::Kind::Count | crate::Kind::Host | crate::Kind::Flag | crate::Kind::Choice(_) => {
                ""
            }
            kind => kind.stored_unit(),
        };
        let gap = if unit.is_empty() { "" } else { " " };
        write!(
            f,
            "`{}` is {}{gap}{unit}, out of its range of {} to {}{gap}{unit}",
            p.name, self.value, p.min, p.max
        )
    }
}

impl OutOfRange {
    fn of_parts(&self, f: &mut fmt::Formatter<'_>, one: u32) -> fmt::Result {
        let (p, value) = (self.param, self.value);
        write!(
            f,
            "`{}` is {value} parts of {one}, out of its range of {} to {} parts of {one}",
            p.name, p.min, p.max
        )
    }
}

impl Error for OutOfRange {}
