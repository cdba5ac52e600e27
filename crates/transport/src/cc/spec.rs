// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a controller is declared: its name, its parameters, and what others need to know about it.

use alloc::boxed::Box;
use core::fmt;

use cemark_param::{Declares, ParamSpec, Values};

use super::Controller;
use crate::Stack;

/// Facts about the transport, for a controller when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSpec {
    /// Payload bytes of a full packet (TCP's MSS, QUIC's maximum datagram size).
    pub mss: u16,
    /// Header bytes of a packet, for rates: they are paced as sent on the wire.
    pub header: u16,
    /// Initial window in packets.
    pub init_window: u32,
    /// Habits of an operating system, some of which are the controller's.
    pub stack: Stack,
}

impl PathSpec {
    /// The initial window in bytes.
    #[inline]
    pub const fn init_bytes(&self) -> u64 {
        let packets = if self.init_window == 0 {
            1
        } else {
            self.init_window
        };
        packets as u64 * self.mss as u64
    }
}

impl Default for PathSpec {
    /// 1460 bytes after 40 bytes of headers, ten packets at first (RFC 6928).
    fn default() -> Self {
        PathSpec {
            mss: 1460,
            header: 40,
            init_window: 10,
            stack: Stack::NONE,
        }
    }
}

/// How a controller is made, which depends on the endpoints that it belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Build {
    /// A [`Controller`] of a stream (TCP, QUIC). [`boxed`] is the function for any type that
    /// implements [`FromControl`].
    Stream(fn(&PathSpec, &Control) -> Box<dyn Controller>),
    /// The reaction point of RDMA queue pairs, which [`crate::rdma`] makes.
    QueuePair,
}

/// The declaration of one controller. Scenario files, messages and estimates are driven by it.
#[derive(Clone, Copy, Debug)]
pub struct ControllerSpec {
    /// Its word in scenario files (`control = "dctcp"`).
    pub name: &'static str,
    /// How papers and people write it.
    pub title: &'static str,
    /// How the controller reacts, in one sentence.
    pub doc: &'static str,
    /// Its parameters, in the order of [`Control::values`].
    pub params: &'static [ParamSpec],
    /// Its data packets are ECN-capable.
    pub ecn: bool,
    /// Its receiver has to report every CE mark exactly, as RFC 8257 section 3.2 describes;
    /// otherwise it repeats an echo until the sender confirms it (RFC 3168).
    pub exact_echo: bool,
    /// The controller sets a pacing rate itself.
    pub paced: bool,
    /// The controller wants [`Delivered`](super::Delivered) samples.
    pub wants_delivered: bool,
    /// The controller sends less after a loss. A controller that does not keeps so much in flight
    /// at a high loss rate that the sender should detect lost retransmissions too, instead of
    /// waiting for the timer.
    pub slows_for_loss: bool,
    /// How it is made.
    pub build: Build,
}

impl ControllerSpec {
    /// A controller of streams without parameters and without ECN, for the start of a declaration:
    /// `ControllerSpec { ecn: true, ..ControllerSpec::new(…) }`.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        doc: &'static str,
        build: Build,
    ) -> ControllerSpec {
        ControllerSpec {
            name,
            title,
            doc,
            params: &[],
            ecn: false,
            exact_echo: false,
            paced: false,
            wants_delivered: false,
            slows_for_loss: true,
            build,
        }
    }

    /// The place of the parameter `name` in [`ControllerSpec::params`].
    pub fn index_of(&self, name: &str) -> Option<usize> {
        Declares::index_of(self, name)
    }

    /// Whether it is the congestion controller of RDMA queue pairs.
    pub const fn is_queue_pair(&self) -> bool {
        matches!(self.build, Build::QueuePair)
    }
}

impl Declares for ControllerSpec {
    fn params(&self) -> &'static [ParamSpec] {
        self.params
    }
}

/// A congestion controller and its parameters: what a configuration holds, and what controllers
/// are made from.
///
/// Each built-in controller has a constant with its defaults, such as [`Control::DCTCP`], and one
/// with parameters also a configuration with named fields, such as
/// [`DctcpConfig`](super::dctcp::DctcpConfig), which [`Control::with`] takes. For a controller
/// of your own write a [`ControllerSpec`] and use [`Control::of`].
#[derive(Clone, Copy)]
pub struct Control {
    spec: &'static ControllerSpec,
    values: Values,
}

impl Control {
    /// The controller that `spec` declares, with its default parameters.
    pub const fn of(spec: &'static ControllerSpec) -> Control {
        Control {
            spec,
            values: Values::of_defaults(spec.params),
        }
    }

    /// This controller with these values, such as a configuration's:
    /// `Control::DCTCP.with(config)`.
    #[must_use]
    pub fn with(self, values: impl Into<Values>) -> Control {
        Control {
            values: values.into(),
            ..self
        }
    }

    /// The declaration of the controller.
    #[inline]
    pub const fn spec(&self) -> &'static ControllerSpec {
        self.spec
    }

    /// The values of its parameters, in the order of [`ControllerSpec::params`].
    #[inline]
    pub const fn values(&self) -> &Values {
        &self.values
    }

    /// Whether its data packets are ECN-capable.
    pub const fn ecn_capable(&self) -> bool {
        self.spec.ecn
    }

    /// Makes the controller for a stream. `None` for that of RDMA queue pairs, which
    /// [`crate::rdma::Requester`] holds.
    pub fn build(&self, path: &PathSpec) -> Option<Box<dyn Controller>> {
        match self.spec.build {
            Build::Stream(build) => Some(build(path, self)),
            Build::QueuePair => None,
        }
    }
}

impl PartialEq for Control {
    fn eq(&self, other: &Control) -> bool {
        core::ptr::eq(self.spec, other.spec) && self.values == other.values
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(self.spec.name);
        for (param, value) in self.spec.params.iter().zip(&self.values.0) {
            out.field(param.name, value);
        }
        out.finish()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Control {
    /// A map: `control` has the name, and each parameter its key.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let params = self.spec.params.iter().zip(&self.values.0);
        let mut map = serializer.serialize_map(Some(1 + params.len()))?;
        map.serialize_entry("control", self.spec.name)?;
        for (param, value) in params {
            map.serialize_entry(param.name, value)?;
        }
        map.end()
    }
}

/// A controller that is made from a [`Control`] of its own [`ControllerSpec`].
pub trait FromControl: Controller + Sized + 'static {
    /// A new controller at the initial window.
    fn from_control(path: &PathSpec, control: &Control) -> Self;
}

impl<C: FromControl> FromControl for Box<C> {
    fn from_control(path: &PathSpec, control: &Control) -> Self {
        Box::new(C::from_control(path, control))
    }
}

/// Makes a controller behind a pointer: the function for [`Build::Stream`].
pub fn boxed<C: FromControl>(path: &PathSpec, control: &Control) -> Box<dyn Controller> {
    Box::new(C::from_control(path, control))
}
