// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every scheme of the catalogue in Rust, in C and as BPF bytecode, replayed over the same golden
//! vectors and compared decision by decision, so that a kernel, a switch and the simulator mark the
//! same packets.
//!
//! ```
//! use cemark_conformance::{Implementation, build};
//! use cemark_marking::{At, QueueSpec, Values, tcn};
//! use cemark_wire::{Nanos, Rate};
//!
//! let (params, queue) = (Values::defaults(&tcn::SPEC), QueueSpec::fifo(Rate::gbps(10)));
//! let mut twin = build(Implementation::C, &tcn::SPEC, &params, &queue)?;
//! let verdict = twin.dequeue(&At::departure(Nanos(900_000), Nanos(150_001), 3_000, 1_500));
//! assert!(matches!(verdict, cemark_marking::Verdict::Mark(_)));
//! # Ok::<(), cemark_conformance::Error>(())
//! ```

pub mod abi;
mod bpf;
mod c;
#[doc(hidden)]
pub mod config;
pub mod differential;
mod error;
mod fault;
mod foreign;
mod gathered;
mod headers;
mod kernel;
#[cfg(all(target_os = "linux", feature = "deploy"))]
mod tc;
pub mod vectors;

pub use bpf::{BUDGET, Object, clang, compile, object_file};
pub use c::Shared;
#[doc(hidden)]
pub use c::layout as c_layout;
#[doc(hidden)]
pub use c::round as c_round;
/// How a P4 math unit rounds.
#[cfg(feature = "deploy")]
pub use cemark_p4::Rounding;
pub use error::Error;
pub use fault::{Breach, Fault, Watch};
pub use foreign::{Code, Foreign};
pub use gathered::headers;
pub use headers::header;

use cemark_marking::{Marker, QueueSpec, SchemeSpec, Values, catalogue};

/// An implementation of every scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Implementation {
    /// `crates/marking`.
    Rust,
    /// `dataplane/include/cemark`, compiled for this machine.
    C,
    /// The same C compiled to BPF, the bytecode run in this process.
    Bpf,
    /// The same C inside the running kernel, in the module `sch_cemark`.
    Kernel,
    /// The same C as a tc program of the running kernel.
    #[cfg(all(target_os = "linux", feature = "deploy"))]
    Tc,
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
        Implementation::C => Box::new(c::twin(spec.name)?.marker(params, queue)?),
        Implementation::Bpf => Box::new(bpf::twin(spec.name)?.marker(params, queue)?),
        Implementation::Kernel => Box::new(kernel::twin(spec.name)?.marker(params, queue)?),
        #[cfg(all(target_os = "linux", feature = "deploy"))]
        Implementation::Tc => Box::new(tc::twin(spec.name)?.marker(params, queue)?),
    })
}
