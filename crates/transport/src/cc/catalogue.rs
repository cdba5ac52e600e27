// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of congestion controllers. A new one is a file in this folder, its `pub mod` line in
//! `mod.rs`, and one line here, at the end of the first list. One of more than 40 bytes goes
//! behind a `Box`; one that is paced or wants samples into the second list.

// Everything, so that a new controller needs no line of its own here.
use super::*;
use crate::rdma;
use crate::tcp::{Paced, Rack, needs_state};

macro_rules! catalogue {
    (
        direct { $($Variant:ident($Type:ty) in $spec:path,)+ }
        by_pointer { $($other:path,)* }
    ) => {
        /// Every controller, in the order in which it is shown to people; the first is the default.
        pub static ALL: &[&ControllerSpec] = &[$(&$spec,)+ $(&$other,)*];

        /// The controller of one TCP sender. The common ones are variants, so that the sender calls
        /// them directly; those that are paced or want samples share one variant, since only they
        /// pay for that.
        #[derive(Debug)]
        pub enum Congestion {
            $(
                #[doc = concat!("Declared by [`", stringify!($spec), "`].")]
                $Variant($Type),
            )+
            /// A controller that is paced or wants [`Delivered`](super::Delivered) samples, or a
            /// user's own.
            Paced(Box<Paced>),
        }

        impl Congestion {
            /// The variant for `control`, if it has one.
            fn direct(path: &PathSpec, control: &Control) -> Option<Congestion> {
                $(
                    if core::ptr::eq(control.spec(), &$spec) {
                        let controller = FromControl::from_control(path, control);
                        return Some(Congestion::$Variant(controller));
                    }
                )+
                None
            }

            /// The controller itself, for reading its state.
            pub fn controller(&self) -> &dyn Controller {
                match self {
                    $(Congestion::$Variant(c) => c,)+
                    Congestion::Paced(paced) => &*paced.controller,
                }
            }

            fn controller_mut(&mut self) -> &mut dyn Controller {
                match self {
                    $(Congestion::$Variant(c) => c,)+
                    Congestion::Paced(paced) => &mut *paced.controller,
                }
            }

            /// The ECN field of data segments.
            #[inline]
            pub fn ecn(&self) -> Ecn {
                match self {
                    $(Congestion::$Variant(c) => c.ecn(),)+
                    Congestion::Paced(paced) => paced.controller.ecn(),
                }
            }

            /// Congestion window in bytes.
            #[inline]
            pub fn cwnd(&self) -> u64 {
                match self {
                    $(Congestion::$Variant(c) => c.cwnd(),)+
                    Congestion::Paced(paced) => paced.cwnd(),
                }
            }

            /// Passes on an acknowledgement; `una` is the first byte that is not acknowledged. Each
            /// arm copies the event, so that it need not be in memory where the call is inlined:
            /// fields that a controller does not read are then never computed.
            #[inline(always)]
            pub(crate) fn on_ack(&mut self, ack: Acked, una: u64) {
                match self {
                    $(Congestion::$Variant(c) => c.on_ack(&{ ack }),)+
                    Congestion::Paced(paced) => paced.on_ack(&{ ack }, una),
                }
            }
        }
    };
}

catalogue! {
    direct {
        Dctcp(dctcp::Dctcp) in dctcp::SPEC,
        EcnStar(ecn_star::EcnStar) in ecn_star::SPEC,
        Reno(reno::Reno) in reno::SPEC,
        Cubic(Box<cubic::Cubic>) in cubic::SPEC,
        CubicEcn(Box<cubic::Cubic>) in cubic::SPEC_ECN,
    }
    by_pointer {
        bbr::SPEC,
        rdma::SPEC,
    }
}

/// The controller that scenario files call `name`.
pub fn find(name: &str) -> Option<&'static ControllerSpec> {
    ALL.iter().copied().find(|spec| spec.name == name)
}

impl Congestion {
    /// The controller that `control` names. `pace_window` is the largest train of a window that is
    /// released over its round trip, for controllers without a pacing rate of their own.
    pub(crate) fn new(path: &PathSpec, control: &Control, pacing: Pacing) -> Congestion {
        let spec = control.spec();
        let spread = pacing.window && !spec.paced;
        if !spread
            && !spec.paced
            && !spec.wants_delivered
            && !needs_state(&path.stack)
            && let Some(direct) = Congestion::direct(path, control)
        {
            return direct;
        }
        // Hosts with queue pairs hold no TCP sender that sends: any controller serves.
        let controller = control
            .build(path)
            .unwrap_or_else(|| Box::new(reno::Reno::new(path)));
        Congestion::Paced(Box::new(Paced::new(controller, path, spread, &pacing)))
    }

    /// A user's own controller.
    pub(crate) fn custom(
        path: &PathSpec,
        controller: Box<dyn Controller>,
        pacing: Pacing,
    ) -> Congestion {
        Congestion::Paced(Box::new(Paced::new(controller, path, false, &pacing)))
    }

    /// Rate at which segments leave, if they are paced.
    pub fn pacing_rate(&self) -> Option<Rate> {
        match self {
            Congestion::Paced(paced) => paced.rate(),
            direct => direct.controller().pacing_rate(),
        }
    }

    /// Passes on a loss; `nxt` is the next new byte.
    pub(crate) fn on_loss(&mut self, loss: &Lost, nxt: u64) {
        match self {
            Congestion::Paced(paced) => paced.on_loss(loss, nxt),
            direct => direct.controller_mut().on_loss(loss),
        }
    }

    /// Passes on a report of CE; `nxt` is the next new byte.
    pub(crate) fn on_ce(&mut self, ce: &CeCounted, nxt: u64) {
        match self {
            Congestion::Paced(paced) => paced.on_ce(ce, nxt),
            direct => direct.controller_mut().on_ce(ce),
        }
    }

    /// The detector of losses by time, where there is one.
    pub(crate) fn rack(&mut self) -> Option<&mut Rack> {
        match self {
            Congestion::Paced(paced) => paced.rack.as_mut(),
            _ => None,
        }
    }

    /// The last loss was none.
    pub(crate) fn undo(&mut self, cwnd: u64, ssthresh: u64) {
        if let Congestion::Paced(paced) = self {
            paced.end_reduction();
        }
        self.controller_mut().undo(cwnd, ssthresh);
    }

    pub(crate) fn restart(&mut self, bytes: u64) {
        if let Congestion::Paced(paced) = self {
            paced.end_reduction();
        }
        self.controller_mut().restart(bytes);
    }

    /// Whether pacing holds everything back.
    #[inline]
    pub(crate) fn is_gated(&self) -> bool {
        matches!(self, Congestion::Paced(paced) if paced.gate.is_some())
    }

    /// When the controller or its gate has to be woken; those that are called directly never.
    #[inline]
    pub(crate) fn next_wake(&self) -> Option<Nanos> {
        match self {
            Congestion::Paced(paced) => paced.next_wake(),
            _ => None,
        }
    }
}

/// Settings of pacing in a TCP configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacing {
    /// Windows are released over their round trip.
    pub(crate) window: bool,
    /// Largest train that leaves together, in bytes; 0: one segment.
    pub(crate) train: u32,
    /// Shortest retransmission timeout, for which a tail loss probe of a single segment waits
    /// longer.
    pub(crate) rto_min: Nanos,
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use cemark_param::{Kind, MAX_PARAMS};

    /// Every controller of streams with every parameter at each end of its range.
    fn extremes() -> Vec<Control> {
        let mut all = Vec::new();
        for spec in ALL.iter().filter(|s| !s.is_queue_pair()) {
            let defaults = Control::of(spec);
            all.push(defaults);
            for (i, param) in spec.params.iter().enumerate() {
                for value in [param.min, param.max] {
                    let mut values = *defaults.values();
                    values.0[i] = value;
                    all.push(defaults.with(values));
                }
            }
        }
        all
    }

    #[test]
    fn every_declaration_is_complete_and_names_are_distinct() {
        for (i, spec) in ALL.iter().enumerate() {
            assert!(!spec.name.is_empty() && !spec.title.is_empty());
            assert!(spec.doc.ends_with('.'), "{}: {}", spec.name, spec.doc);
            assert!(
                core::ptr::eq(find(spec.name).unwrap(), ALL[i]),
                "{}",
                spec.name
            );
            assert!(spec.params.len() <= MAX_PARAMS);
            for p in spec.params {
                assert!(p.doc.ends_with('.'), "{}: {}", p.name, p.doc);
                assert!((p.min..=p.max).contains(&p.default), "{}", p.name);
                if let Kind::Fraction { one, .. } = p.kind {
                    assert_eq!(p.max, one.into(), "{}", p.name);
                }
                assert_eq!(
                    spec.index_of(p.name).map(|i| spec.params[i].name),
                    Some(p.name)
                );
            }
        }
        assert!(find("vegas").is_none());
    }

    /// Controllers do as they declare: estimates and receivers rely on the declarations.
    #[test]
    fn every_controller_is_as_declared() {
        let path = PathSpec::default();
        for control in extremes() {
            let spec = control.spec();
            let c = control.build(&path).expect("a controller of streams");
            assert_eq!(c.ecn().is_capable(), spec.ecn, "{}", spec.name);
            assert_eq!(c.pacing_rate().is_some(), spec.paced, "{}", spec.name);
            assert_eq!(c.wants_delivered(), spec.wants_delivered, "{}", spec.name);
            assert_eq!(c.cwnd(), 14_600, "{}: the initial window", spec.name);
        }
    }

    /// A direct variant exists for each that can use one, and behaves as the boxed one does.
    #[test]
    fn direct_calls_and_calls_by_pointer_agree() {
        let path = PathSpec::default();
        for control in extremes() {
            let spec = control.spec();
            let pacing = Pacing {
                window: false,
                train: 0,
                rto_min: Nanos::ZERO,
            };
            let mut one = Congestion::new(&path, &control, pacing);
            let paced = matches!(one, Congestion::Paced(_));
            assert_eq!(paced, spec.paced || spec.wants_delivered, "{}", spec.name);
            let mut other = control.build(&path).unwrap();
            for n in 1..200u64 {
                let ack = Acked {
                    now: Nanos(n * 100_000),
                    bytes: 1460,
                    packets: 1,
                    ce_bytes: if n % 7 == 0 { 1460 } else { 0 },
                    ce_packets: u64::from(n % 7 == 0),
                    bytes_in_flight: 14_600,
                    cwnd_limited: true,
                    round_ended: n % 10 == 0,
                    rtt: Some(100_000),
                    ..Acked::default()
                };
                one.on_ack(ack, n * 1460);
                other.on_ack(&ack);
                if n % 70 == 0 {
                    let ce = CeCounted::default();
                    one.on_ce(&ce, n * 1460);
                    other.on_ce(&ce);
                }
                if n % 90 == 0 {
                    let loss = Lost {
                        bytes_in_flight: one.cwnd(),
                        ..Lost::default()
                    };
                    one.on_loss(&loss, n * 1460);
                    other.on_loss(&loss);
                }
                assert_eq!((one.cwnd(), one.ecn()), (other.cwnd(), other.ecn()));
                assert_eq!(one.pacing_rate(), other.pacing_rate());
            }
            assert_ne!(one.cwnd(), 0);
            one.restart(1460);
            other.restart(1460);
            assert_eq!(one.controller().cwnd(), other.cwnd());
        }
    }
}
