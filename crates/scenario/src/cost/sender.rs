// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits of a single flow: its window, the losses of its path, the acknowledgements that answer
//! it.

use cemark_sim::config::{Config, Edge};
use cemark_sim::faults::{ALWAYS, Loss, Victims};
use cemark_transport::Config as Transport;
use cemark_wire::Picos;

/// Most payload that one acknowledgement answers under GRO.
const GRO_BYTES: f64 = 65_536.0;

pub(super) fn seconds(time: Picos) -> f64 {
    time.as_secs_f64()
}

/// Share of a link's bytes that is payload.
pub(super) fn payload(t: &Transport) -> f64 {
    let mss = f64::from(t.mss);
    mss / (mss + f64::from(t.header_bytes))
}

/// Acknowledgements for a data packet of a flow, by its rate in bytes a second.
pub(super) fn acks(config: &Config, t: &Transport, rate: f64) -> f64 {
    let mss = f64::from(t.mss);
    let mut bunch = f64::from(t.ack_every.max(1));
    if config.offload.gro && t.rdma.is_none() {
        let gathers = seconds(Picos::from(config.offload.coalesce));
        let most = (GRO_BYTES / mss).min(f64::from(config.offload.coalesce_packets));
        // A train comes at the rate of the line; what is not in one comes at the rate of the flow.
        let line = config.topology.host_rate().0 as f64 / 8.0;
        let train = f64::from(config.offload.tso).min(line * gathers);
        bunch = bunch.max((train.max(rate * gathers) / mss).min(most));
    }
    1.0 / bunch
}

/// Bytes a second at most of a flow with this round trip, by the receive window and by the losses
/// between two sites: the square-root law, and the wait for retransmissions.
pub(super) fn most(config: &Config, t: &Transport, round: f64) -> f64 {
    let window = t.receive_window as f64 / round.max(1e-9);
    let lost = lost(config, t);
    if lost == 0.0 || config.topology.two_sites().is_none() {
        return window;
    }
    // A repair that is lost as well waits for the timer.
    let waits = if t.lost_retransmissions || t.stack.rack || t.rdma.is_some() {
        0.0
    } else {
        lost * seconds(Picos::from(t.rto_min))
    };
    let packet = round * (2.0 * lost / 3.0).sqrt() + lost * waits;
    window.min(f64::from(t.mss) / packet.max(1e-12))
}

/// Share of the packets between two sites that senders see lost.
fn lost(config: &Config, t: &Transport) -> f64 {
    if !t.control.spec().slows_for_loss && t.rdma.is_none() {
        return 0.0; // Losses do not bound its rate.
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
