// SPDX-License-Identifier: MIT OR Apache-2.0
//! The named configuration of a scheme in C (`CEMARK_TCN_DEFAULTS`, `cemark_tcn_configure()`), for
//! the test that compares it with the catalogue.
#![allow(unsafe_code)]

use cemark_marking::{MAX_PARAMS, QueueSpec, SchemeSpec, Values};

use crate::abi::{MEMORY, QueueView};
use crate::{Error, gathered};

/// The C function that build.rs writes for each scheme: what to do, values by position, the queue,
/// and memory for the scheme's `params`.
pub(crate) type Configuration =
    unsafe extern "C" fn(u32, *mut u64, *const QueueView, *mut u64) -> i32;

/// The bytes of a scheme's `params`, with zeros behind them.
pub type Params = [u64; MEMORY];

/// The configuration of one scheme.
#[derive(Clone, Copy)]
pub struct Config(Configuration);

impl Config {
    /// Configuration of a scheme.
    ///
    /// # Errors
    ///
    /// [`Error::NoTwin`] where the scheme has no C form.
    pub fn of(spec: &SchemeSpec) -> Result<Self, Error> {
        gathered::configuration(spec.name)
            .map(Config)
            .ok_or_else(|| Error::NoTwin(spec.name.to_owned()))
    }

    fn call(
        self,
        what: u32,
        values: &mut [u64; 2 * MAX_PARAMS],
        queue: &QueueSpec,
    ) -> (i32, Params) {
        let (queue, mut params) = (QueueView::from(queue), [0; MEMORY]);
        // SAFETY: the function of build.rs reads and writes at most 32 values (a scheme has at
        // most 16 parameters, and fewer than 32 words for choices, which `words` asserts), reads
        // the queue, and writes a `params`, which marker.h asserts to fit into the memory.
        let came = unsafe { self.0(what, values.as_mut_ptr(), &queue, params.as_mut_ptr()) };
        (came, params)
    }

    /// `CEMARK_..._DEFAULTS`, each field at the place of its parameter.
    pub fn defaults(self, queue: &QueueSpec) -> Values {
        let mut values = [0; 2 * MAX_PARAMS];
        self.call(0, &mut values, queue);
        Values(values[..MAX_PARAMS].try_into().expect("the first half"))
    }

    /// `cemark_..._configure()`: its answer, and the params that it wrote.
    pub fn configure(self, values: &Values, queue: &QueueSpec) -> (i32, Params) {
        self.call(1, &mut padded(values), queue)
    }

    /// `cemark_..._set()`: the params that it wrote.
    pub fn set(self, values: &Values, queue: &QueueSpec) -> Params {
        self.call(2, &mut padded(values), queue).1
    }

    /// The numbers of the constants that stand for words, choice after choice.
    pub fn words(self, queue: &QueueSpec) -> Vec<u64> {
        let mut values = [0; 2 * MAX_PARAMS];
        let (count, _) = self.call(3, &mut values, queue);
        values[..usize::try_from(count).expect("a number of words")].to_vec()
    }
}

fn padded(values: &Values) -> [u64; 2 * MAX_PARAMS] {
    let mut all = [0; 2 * MAX_PARAMS];
    all[..MAX_PARAMS].copy_from_slice(&values.0);
    all
}
