// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors between this program and the kernel.

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
    /// The device has a qdisc that takes filters of received packets only.
    #[error("{0} has an `ingress` qdisc, where a filter of sent packets would see received ones")]
    Ingress(String),
    /// A program of cemark sees what the device receives.
    #[error("the program on {0} is on an `ingress` qdisc: it marks what {0} receives")]
    Received(String),
    /// The filters of what the device sends are shared with other devices.
    #[error("the filters of what {device} sends are block {block}, which devices share")]
    SharedBlock {
        /// The device.
        device: String,
        /// The number of the block.
        block: u32,
    },
    /// A filter that is not ours has our priority.
    #[error("{device} has a filter `{kind}` of priority {priority}, which cemark's needs")]
    PriorityTaken {
        /// The device.
        device: String,
        /// Ours.
        priority: u32,
        /// `bpf`, `u32`, `flower`, …
        kind: String,
    },
    /// The device has no program of cemark.
    #[error("{0} has no program of cemark")]
    NotAttached(String),
    /// The kernel wants more privileges.
    #[error("{what} is not permitted")]
    NotPermitted {
        /// Action that the kernel refused.
        what: &'static str,
    },
    /// The kernel lacks something.
    #[error("this kernel has no {what}")]
    Lacks {
        /// Feature that the kernel lacks, with its configuration option.
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
        /// Action that failed.
        what: &'static str,
        /// Error of the kernel.
        source: io::Error,
    },
}

impl Error {
    /// Turns an error of the kernel during the action `what` into an error of this crate.
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

    /// Advice for the user.
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
            Error::Ingress(device) => format!(
                "`clsact` takes the same filters of received packets, and those of sent ones. List \
                 them with `tc filter show dev {device} ingress`, replace the qdisc with `tc qdisc \
                 del dev {device} ingress` and `tc qdisc add dev {device} clsact`, and add them \
                 again"
            ),
            Error::Received(device) => format!("remove it: cemark bpf detach {device}"),
            Error::SharedBlock { device, .. } => format!(
                "a virtual queue is of one device: make the qdisc of {device} without \
                 `egress_block` (`tc qdisc show dev {device}` shows it)"
            ),
            Error::PriorityTaken {
                device, priority, ..
            } => format!(
                "`tc filter show dev {device} egress pref {priority}` shows it: add it with \
                 another priority, or remove it with `tc filter del dev {device} egress pref \
                 {priority}`"
            ),
            Error::NotPermitted { what } => match *what {
                // The kernel gives no other way to a program that is attached already.
                "to look for the program" => {
                    "run it as root, or with CAP_NET_ADMIN and CAP_SYS_ADMIN".into()
                }
                _ => "run it as root, or with CAP_NET_ADMIN and CAP_BPF".into(),
            },
            Error::Lacks { .. } => "docs/linux.md lists what it needs, and two ways without".into(),
            Error::Stranger(device) => format!(
                "remove it with `cemark bpf detach {device}`, and attach it again with this version"
            ),
            Error::NoObject(_) | Error::Refused { .. } | Error::System { .. } => return None,
        })
    }
}
