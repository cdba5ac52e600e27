// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong between this program and the kernel.

use std::io;

/// Why a program is not attached, found or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such device in this network namespace.
    #[error("there is no device `{0}`")]
    NoDevice(String),
    /// The device has a program of cemark.
    #[error("{device} is marked already, by {scheme}")]
    Taken {
        /// The device.
        device: String,
        /// The scheme.
        scheme: String,
    },
    /// The device has no program of cemark.
    #[error("{0} has no program of cemark")]
    NotAttached(String),
    /// The kernel wants more privileges.
    #[error("{what} is not permitted")]
    NotPermitted {
        /// What was refused.
        what: &'static str,
    },
    /// The kernel lacks something.
    #[error("this kernel has no {what}")]
    Lacks {
        /// What it lacks, with its configuration option.
        what: &'static str,
    },
    /// The scheme has no program in this build.
    #[error("the scheme {0} has no tc program: cargo xtask bpf makes it")]
    NoObject(String),
    /// The verifier refused the program.
    #[error("the kernel refuses the program of {scheme}: {why}")]
    Refused {
        /// The scheme.
        scheme: String,
        /// The verifier's last lines.
        why: String,
    },
    /// The attached program is of another version of cemark.
    #[error("the program on {0} was attached by another version of cemark")]
    Stranger(String),
    /// Anything else.
    #[error("{what}: {source}")]
    System {
        /// What failed.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl Error {
    /// What an error of the kernel means.
    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Error {
        move |source| match source.raw_os_error() {
            // EPERM, EACCES
            Some(1 | 13) => Error::NotPermitted { what },
            _ => Error::System { what, source },
        }
    }

    /// Whether the user can do something about it: another argument, another user, another kernel.
    pub fn is_the_users(&self) -> bool {
        !matches!(self, Error::Refused { .. } | Error::System { .. })
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Error::NoDevice(_) => "`ip link` lists the devices of this network namespace".into(),
            Error::Taken { device, .. } => format!(
                "change it with `cemark bpf retune {device} PARAMETER=VALUE`, or remove it first \
                 with `cemark bpf detach {device}`"
            ),
            Error::NotAttached(device) => {
                format!("attach one: cemark bpf attach {device} --rate 1Gbps scheme ecn_sharp")
            }
            Error::NotPermitted { .. } => {
                "run it as root, or with CAP_NET_ADMIN, CAP_BPF and CAP_SYS_ADMIN".into()
            }
            Error::Lacks { .. } => "docs/linux.md lists what it needs, and two ways without".into(),
            Error::Stranger(device) => format!(
                "remove it with `cemark bpf detach {device}`, and attach it again with this version"
            ),
            Error::NoObject(_) | Error::Refused { .. } | Error::System { .. } => return None,
        })
    }
}
