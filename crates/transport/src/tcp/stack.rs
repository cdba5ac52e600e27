// SPDX-License-Identifier: MIT OR Apache-2.0
//! Habits of operating systems that the RFCs leave open, or that only newer ones describe.

use cemark_wire::Nanos;

/// Habits of an operating system's stack, beyond the common core of TCP. Every habit is off by
/// default, as in the simulators of the field; each field can be switched on by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Stack {
    /// A segment with CWR is acknowledged at once, even if ACKs are delayed: the sender has just
    /// reduced its window, which may be smaller than what a delayed ACK waits for.
    pub ack_cwr: bool,
    /// Windows are whole segments: DCTCP reduces by whole segments, rounded down (a window of 5
    /// with alpha 1/4 stays), the other controllers keep whole segments, rounded down.
    pub whole_segments: bool,
    /// Proportional rate reduction (RFC 6937) after a loss and after an ECN echo: the window
    /// shrinks over a round trip instead of at once, and does not grow meanwhile.
    pub prr: bool,
    /// Tail loss probes (RFC 8985 section 7): two round trips after the last segment, and before
    /// the retransmission timeout, one more segment asks for an acknowledgement.
    pub tlp: bool,
    /// Losses are found by time (RACK, RFC 8985 section 6): a segment is lost once one that was
    /// sent later has arrived, and a quarter of the smallest round trip has passed.
    pub rack: bool,
    /// This many segments at the start of a connection are acknowledged one by one, even if ACKs
    /// are delayed.
    pub quick_acks: u32,
    /// SYNs, SYN-ACKs and pure ACKs are ECN-capable where data is.
    pub ect_control: bool,
    /// This many acknowledgements from the first CE of an episode on leave at once, even if ACKs
    /// are delayed. A receiver of classic ECN only (Linux: 2, `__tcp_ecn_check_ce`, `tcp_input.c`).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_off"))]
    pub quick_acks_ce: u32,
    /// CUBIC keeps its rate of growth as long as the window stays the same, up to 31.25 ms.
    pub cubic_hold: bool,
    /// CUBIC's estimate of Reno's window keeps its slope of 3 (1 - beta) / (1 + beta) beyond the
    /// window before the last cut, where RFC 9438 section 4.3 has one segment a round trip (Linux:
    /// `beta_scale` of `bictcp_update` in `tcp_cubic.c`).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_off"))]
    pub cubic_slope: bool,
    /// With `cubic_hold`: length of a timer tick. CUBIC computes its rate of growth once a tick.
    /// Zero: at every change of the window (Linux: `bictcp_update` in `tcp_cubic.c`).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_off"))]
    pub cubic_tick: Nanos,
    /// CUBIC leaves slow start as Linux does (`hystart_update` in `tcp_cubic.c`).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_off"))]
    pub hystart: bool,
    /// With `rack`: suspected segments are looked at again this long after the last of them may be
    /// late. Zero: as soon as the first of them is late (Linux: `tcp_rack_mark_lost` in
    /// `tcp_recovery.c`, two ticks).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_off"))]
    pub rack_wait: Nanos,
    /// The answer to the SYN-ACK is a packet of its own before the data, as
    /// `tcp_rcv_synsent_state_process` in `tcp_input.c` sends it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_off"))]
    pub third_packet: bool,
    /// Cuts of the window after a loss that was none are undone, and RACK then waits longer
    /// (`tcp_try_undo_recovery` and others in `tcp_input.c`, `tcp_rack_update_reo_wnd` in
    /// `tcp_recovery.c`). Receivers report segments that arrive twice (DSACK, RFC 2883).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_off"))]
    pub undo: bool,
    /// `rto_min` bounds the margin over the smoothed round trip, not the whole timeout.
    pub rto_over_rtt: bool,
    /// DCTCP counts alpha in parts of 1024: below 1/64 it falls to zero within one window.
    pub coarse_alpha: bool,
    /// With `rack`: the clock decides too whether a train waits for a longer one, and its length
    /// follows the window's rate (Linux: `tcp_tso_should_defer` and `tcp_tso_autosize` in
    /// `tcp_output.c`).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_off"))]
    pub tso_defer: bool,
    /// The application writes whenever a third of the send buffer is free, which is this percentage
    /// of the largest window so far. The segment that ends a write carries PUSH. 0: as `write_size`
    /// says (Linux: [`Stack::WRITE_WINDOW`], with TSO [`Stack::WRITE_WINDOW_OF_TRAINS`]).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_off"))]
    pub write_window: u32,
    /// The application hands over a stream in pieces of this many bytes, as the send buffer has
    /// room for them. The segment that ends a piece carries PUSH, and is acknowledged at once even
    /// if ACKs are delayed. 0: in one piece.
    pub write_size: u32,
}

/// Whether a habit is that of a stack without any: the identity of a configuration leaves it out.
#[cfg(feature = "serde")]
fn is_off<T: Default + PartialEq>(habit: &T) -> bool {
    *habit == T::default()
}

impl Stack {
    /// Nothing of it.
    pub const NONE: Stack = Stack {
        ack_cwr: false,
        whole_segments: false,
        prr: false,
        tlp: false,
        rack: false,
        quick_acks: 0,
        ect_control: false,
        quick_acks_ce: 0,
        cubic_hold: false,
        cubic_slope: false,
        cubic_tick: Nanos::ZERO,
        hystart: false,
        rack_wait: Nanos::ZERO,
        third_packet: false,
        tso_defer: false,
        write_window: 0,
        undo: false,
        rto_over_rtt: false,
        coarse_alpha: false,
        write_size: 0,
    };

    /// Linux's `write_window` where the send buffer holds single segments. For each segment of the
    /// window the buffer has 4608 bytes, and a segment takes 2280.
    pub const WRITE_WINDOW: u32 = 67;

    /// Linux's `write_window` where the send buffer holds trains, of which a segment takes 1570
    /// bytes.
    pub const WRITE_WINDOW_OF_TRAINS: u32 = 100;

    /// Linux 6.12. Its other values are those of the fields of [`Config`](crate::Config).
    pub const LINUX: Stack = Stack {
        ack_cwr: true,
        whole_segments: true,
        prr: true,
        tlp: true,
        rack: true,
        quick_acks: 16,
        ect_control: true,
        quick_acks_ce: 2,
        cubic_hold: true,
        cubic_slope: true,
        // 1000 ticks a second.
        cubic_tick: Nanos::from_millis(1),
        hystart: true,
        rack_wait: Nanos::from_millis(2),
        third_packet: true,
        undo: true,
        rto_over_rtt: true,
        coarse_alpha: true,
        tso_defer: true,
        // Without TSO.
        write_window: Stack::WRITE_WINDOW,
        write_size: 0,
    };

    /// Without what takes selective acknowledgements, if there are none.
    #[must_use]
    pub(crate) fn with(mut self, sack: bool) -> Stack {
        self.tlp &= sack;
        self.rack &= sack;
        self.undo &= sack;
        self
    }
}
