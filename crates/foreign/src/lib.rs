// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers in C and as BPF bytecode: the schemes of the catalogue, and markers of a user's.
//!
//! ```
//! use cemark_foreign::{Implementation, build};
//! use cemark_marking::{At, QueueSpec, Values, tcn};
//! use cemark_wire::{Nanos, Rate};
//!
//! let (params, queue) = (Values::defaults(&tcn::SPEC), QueueSpec::fifo(Rate::gbps(10)));
//! let mut twin = build(Implementation::C, &tcn::SPEC, &params, &queue)?;
//! let verdict = twin.dequeue(&At::departure(Nanos(900_000), Nanos(150_001), 3_000, 1_500));
//! assert!(matches!(verdict, cemark_marking::Verdict::Mark(_)));
//! # Ok::<(), cemark_foreign::Error>(())
//! ```

pub mod abi;
mod bpf;
mod c;
#[doc(hidden)]
pub mod config;
mod declared;
mod error;
mod fault;
mod foreign;
mod gathered;
mod headers;
mod kernel;

pub use bpf::{BUDGET, Object, clang, compile, object_file};
#[doc(hidden)]
pub use c::layout as c_layout;
#[doc(hidden)]
pub use c::round as c_round;
pub use c::{Shared, Twin};
pub use declared::{Declared, Form};
pub use error::Error;
pub use fault::{Breach, Fault, Watch};
pub use foreign::{Code, Foreign};
pub use gathered::headers;
pub use headers::header;
pub use kernel::InKernel;

use cemark_marking::{Marker, QueueSpec, SchemeSpec, Values, catalogue};

/// An implementation of every scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Implementation {
    /// `crates/marking`.
    Rust,
    /// `dataplane/include/cemark`, compiled for this machine.
    C,
    /// BPF bytecode of the C headers, interpreted in this process.
    Bpf,
    /// The C headers inside the module `sch_cemark` of the running kernel.
    Kernel,
}

/// A marker of the scheme `spec` in this implementation.
///
/// # Errors
///
/// [`Error::NoTwin`] where the scheme has no C form, [`Error::Clang`] where its bytecode is not in
/// `dataplane/bpf` and clang cannot make it.
pub fn build(
    implementation: Implementation,
    spec: &SchemeSpec,
    params: &Values,
    queue: &QueueSpec,
) -> Result<Box<dyn Marker>, Error> {
    Ok(match implementation {
        Implementation::Rust => Box::new(catalogue::build(spec, params, queue)),
        Implementation::C => Box::new(Foreign::new(Twin::of(spec)?, params, queue)?),
        Implementation::Bpf => Box::new(Foreign::new(Object::of(spec)?, params, queue)?),
        Implementation::Kernel => Box::new(Foreign::new(InKernel::of(spec)?, params, queue)?),
    })
}
