// SPDX-License-Identifier: MIT OR Apache-2.0
//! Marks the packets that a Linux device sends, by any scheme of the catalogue that a virtual queue
//! can serve, with an eBPF program on the device's `clsact` hook. No module is loaded.
//!
//! [`Program::attach`] puts the program of a scheme on a device; [`Program::on`] finds it again,
//! also from another process: it is the kernel that keeps it. The program keeps a virtual queue
//! (`dataplane/tc/virtual_queue.h`) and calls the scheme's C form.
//!
//! All of it needs the capabilities CAP_NET_ADMIN and CAP_BPF (CAP_SYS_ADMIN to find a program).
#![cfg(target_os = "linux")]

mod error;
mod fit;
mod kernel;
mod layout;
mod netlink;
mod program;
mod trial;

pub use error::Error;
pub use fit::{Misfit, fits};
pub use layout::{Counts, NotEct, Settings};
pub use program::{Earlier, Program, earlier};
pub use trial::{Judged, Trial};

/// Largest rate of a virtual queue, in bit/s.
pub const FASTEST: u64 = 1_000_000_000_000;
/// Smallest rate of a virtual queue, in bit/s.
pub const SLOWEST: u64 = 1_000_000;
/// Largest limit of a virtual queue, in nanoseconds.
pub const LONGEST: u64 = 10_000_000_000;
