// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one flow can do on its own: its window, the losses of its path, how many acknowledgements
//! answer it.

use cemark_sim::config::{Config, Edge};
use cemark_sim::faults::{ALWAYS, Loss, Victims};
use cemark_wire::Picos;

/// Most payload that one acknowledgement answers under GRO.
const GRO_BYTES: f64 = 65_536.0;

/// Notifications that a flow gets while the first queue drains: a queue of a megabyte, at 100 Gb/s
/// and one each 50 us.
const CUTS: i32 = 4;

/// What limits every flow of a point.
pub(super) struct Sender {
    mss: f64,
    /// Share of the packets of a flow between two sites that are lost and not hidden from its
    /// sender.
    lost: f64,
    /// Mean seconds that a lost packet costs beyond the window that it halves.
    waits: f64,
    window: f64,
    /// Bytes of the first round trip; infinite without slow start.
    first: f64,
    ack_every: f64,
    /// Seconds that a host gathers what it receives, where it answers a bunch as one; 0: it does
    /// not.
    gathers: f64,
    most: f64,
    train: f64,
    line: f64,
    two_sites: bool,
    dcqcn: Option<Dcqcn>,
}

/// DCQCN's timers.
struct Dcqcn {
    /// Bytes a second by which the target climbs when the timer ends.
    step: f64,
    timer: f64,
    /// Share of its alpha that is lost each second.
    decay: f64,
}

/// The rate that a controller has come down to, and the one that it aims at; infinite until it has
/// met a full link.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    now: f64,
    target: f64,
}

impl Pace {
    pub(super) const FREE: Pace = Pace {
        now: f64::INFINITY,
        target: f64::INFINITY,
    };
}

impl Sender {
    pub(super) fn new(config: &Config) -> Self {
        let t = &config.transport;
        let mss = f64::from(t.mss);
        let lost = lost(config);
        // A repair that is lost as well waits for the timer.
        let waits = if t.lost_retransmissions || t.stack.rack || t.rdma.is_some() {
            0.0
        } else {
            lost * seconds(Picos::from(t.rto_min))
        };
        let gathers = if config.offload.gro {
            seconds(Picos::from(config.offload.coalesce))
        } else {
            0.0
        };
        Sender {
            mss,
            lost,
            waits,
            window: t.receive_window as f64,
            first: match t.rdma {
                Some(_) => f64::INFINITY,
                None => mss * f64::from(t.init_window),
            },
            ack_every: f64::from(t.ack_every.max(1)),
            gathers,
            most: (GRO_BYTES / mss)
                .min(f64::from(config.offload.coalesce_packets))
                .max(1.0),
            train: f64::from(config.offload.tso) / mss,
            line: config.topology.host_rate().0 as f64 / 8.0 / mss,
            two_sites: config.topology.two_sites().is_some(),
            dcqcn: t.rdma.as_ref().map(|r| Dcqcn {
                step: r.dcqcn.rate_ai.0 as f64 / 8.0,
                timer: seconds(Picos::from(r.dcqcn.rate_timer)).max(1e-9),
                decay: f64::from(r.dcqcn.g)
                    / f64::from(cemark_transport::rdma::ALPHA_ONE)
                    / seconds(Picos::from(r.dcqcn.alpha_timer)).max(1e-9),
            }),
        }
    }

    /// Bytes a second that a flow may send over the next seconds, in the mean.
    pub(super) fn mean(&self, pace: &Pace, span: f64) -> f64 {
        match &self.dcqcn {
            Some(d) if pace.target.is_finite() => {
                let steps = span / d.timer * std::f64::consts::LN_2;
                pace.target - (pace.target - pace.now) * (1.0 - (-steps).exp()) / steps
            }
            _ => f64::INFINITY,
        }
    }

    /// What becomes of its pace, where its links gave it `got` bytes a second and it wanted more
    /// (`full`). DCQCN starts at the rate of the line: the queue that this builds keeps asking
    /// for cuts until it has drained, each by half while alpha is 1 as it begins, and each takes
    /// the target down. From there the target climbs in small steps. Later cuts are single ones.
    /// Other controllers find their share in a few round trips.
    pub(super) fn paced(&self, pace: &mut Pace, got: f64, full: bool, age: f64, span: f64) {
        let Some(d) = &self.dcqcn else { return };
        if full {
            let cut = 1.0 - 0.5 * (-age * d.decay).exp();
            let first = pace.target.is_infinite();
            pace.target = got * if first { cut.powi(CUTS - 1) } else { 1.0 };
            pace.now = pace.target * cut;
        } else if pace.target.is_finite() {
            let steps = span / d.timer;
            pace.now = pace.target - (pace.target - pace.now) * (-steps).exp2();
            pace.target += d.step * steps;
        }
    }

    /// Bytes a second at most, by the receive window and by the losses between two sites: the
    /// square-root law, and the wait for retransmissions.
    pub(super) fn rate(&self, round: f64, leaves: bool) -> f64 {
        let window = self.window / round.max(1e-9);
        if self.lost == 0.0 || !(leaves && self.two_sites) {
            return window;
        }
        let packet = round * (2.0 * self.lost / 3.0).sqrt() + self.lost * self.waits;
        window.min(self.mss / packet.max(1e-12))
    }

    /// Bytes that slow start has sent after a number of round trips.
    pub(super) fn let_out(&self, rounds: f64) -> f64 {
        if rounds > 40.0 {
            f64::INFINITY
        } else {
            self.first * ((rounds + 1.0).exp2() - 1.0)
        }
    }

    /// Acknowledgements for a data packet of a flow, by its rate in bytes a second.
    pub(super) fn acks(&self, rate: f64) -> f64 {
        let mut bunch = self.ack_every;
        if self.gathers > 0.0 {
            // A train comes at the rate of the line; what is not in one comes at the rate of the
            // flow.
            let train = self.train.min(self.line * self.gathers);
            let spread = rate / self.mss * self.gathers;
            bunch = bunch.max(train.max(spread).min(self.most));
        }
        1.0 / bunch
    }
}

pub(super) fn seconds(time: Picos) -> f64 {
    time.as_secs_f64()
}

/// Share of the packets between two sites that senders see lost.
fn lost(config: &Config) -> f64 {
    if !config.transport.control.spec().slows_for_loss && config.transport.rdma.is_none() {
        return 0.0; // They do not bound its rate.
    }
    let share = |loss: &Loss| match *loss {
        Loss::Uniform { chance } => chance as f64 / ALWAYS as f64,
        Loss::Bursty {
            enter,
            leave,
            good,
            bad,
        } => {
            let within = enter as f64 / (enter + leave).max(1) as f64;
            (bad as f64 * within + good as f64 * (1.0 - within)) / ALWAYS as f64
        }
    };
    let capable = config.controls().iter().all(|c| c.ecn_capable());
    let seen = |victims: Victims| match (config.edge, victims) {
        // A proxy is a sender itself. It meets the same losses, and so does one behind plain
        // routers.
        (Edge::Plain | Edge::Pep { .. }, Victims::NotEct) => !capable,
        (Edge::Plain | Edge::Pep { .. }, _) => true,
        // The routers repair what they selected, and only that is lost where the WAN chooses what
        // is not ECN-capable. What comes out of order counts as lost unless it is put in order
        // again or kept from the sender.
        (Edge::Dcib { .. }, Victims::Any) => true,
        (Edge::Dcib { config, filter, .. }, _) => config.hold.is_none() && filter.is_none(),
    };
    let faults = config.faults.iter().filter(|f| seen(f.victims));
    faults.map(|f| share(&f.loss)).fold(0.0, f64::max)
}
