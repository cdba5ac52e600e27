// SPDX-License-Identifier: MIT OR Apache-2.0
//! Samples of a run whose length is not known in advance, evenly spaced and of bounded number.

/// Samples that are kept; when there are as many, every second one is dropped and the stride
/// doubles.
const MOST: usize = 2048;

/// See the module's text.
pub(super) struct Thinned<S> {
    samples: Vec<S>,
    stride: u32,
    skip: u32,
}

impl<S> Thinned<S> {
    pub fn new() -> Self {
        Thinned {
            samples: Vec::new(),
            stride: 1,
            skip: 0,
        }
    }

    /// Another sample is due, which `take` takes.
    pub fn offer(&mut self, take: impl FnOnce() -> S) {
        self.skip += 1;
        if self.skip < self.stride {
            return;
        }
        self.skip = 0;
        if self.samples.len() == MOST {
            let mut odd = false;
            self.samples.retain(|_| {
                odd = !odd;
                odd
            });
            self.stride *= 2;
        }
        self.samples.push(take());
    }

    /// The samples, which are forgotten.
    pub fn take(&mut self) -> Vec<S> {
        std::mem::take(&mut self.samples)
    }
}
