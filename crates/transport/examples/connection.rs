// SPDX-License-Identifier: MIT OR Apache-2.0
//! A whole connection over two queues: a client sends a megabyte through a bottleneck that marks,
//! and the acknowledgements return through a queue of their own.

use std::collections::VecDeque;

use cemark_transport::{Config, Connection, Event, Frame, segment_wire_bytes};
use cemark_wire::{Ecn, Nanos, Rate};

/// A direction of the path: a FIFO queue in front of a link with a propagation delay.
struct Queue {
    rate: Rate,
    delay: Nanos,
    /// Frames that arrive behind more bytes than this are marked.
    mark_above: u64,
    /// When the link has sent everything that is queued.
    free_at: Nanos,
    /// Frames on their way, and when each arrives.
    frames: VecDeque<(Nanos, Frame)>,
    marks: u64,
    deepest: u64,
}

impl Queue {
    fn new(rate: Rate, mark_above: u64) -> Queue {
        Queue {
            rate,
            delay: Nanos::from_micros(20),
            mark_above,
            free_at: Nanos::ZERO,
            frames: VecDeque::new(),
            marks: 0,
            deepest: 0,
        }
    }

    fn push(&mut self, cfg: &Config, now: Nanos, mut frame: Frame) {
        let backlog = self.rate.bytes_in(self.free_at.saturating_sub(now));
        self.deepest = self.deepest.max(backlog);
        let bytes = match &mut frame {
            Frame::Data(segment) => {
                if backlog > self.mark_above && segment.ecn.is_capable() {
                    segment.ecn = Ecn::Ce;
                    self.marks += 1;
                }
                segment_wire_bytes(cfg, segment)
            }
            Frame::Ack(..) => cfg.ack_bytes,
        };
        self.free_at = self.free_at.max(now) + self.rate.nanos_for(bytes.into());
        self.frames.push_back((self.free_at + self.delay, frame));
    }
}

/// Measurements of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    /// When the client learnt that the server has everything.
    pub done: Nanos,
    /// Marked segments.
    pub marks: u64,
    /// Longest queue before the bottleneck, in bytes.
    pub deepest: u64,
    /// Retransmitted segments.
    pub retransmits: u32,
}

/// Sends one message of `bytes` bytes over 10 Gb/s, marking above `mark_above` bytes.
pub fn run(bytes: u64, mark_above: u64) -> Seen {
    let cfg = Config::default(); // DCTCP
    let mut ends = [Connection::new(cfg.clone()), Connection::new(cfg.clone())];
    // Queue 0 leads from end 0 to end 1.
    let mut queues = [
        Queue::new(Rate::gbps(10), mark_above),
        Queue::new(Rate::gbps(10), u64::MAX),
    ];
    let message = ends[0].write(bytes);
    let mut now = Nanos::ZERO;
    loop {
        for (end, queue) in ends.iter_mut().zip(&mut queues) {
            while let Some(frame) = end.poll_transmit(now) {
                queue.push(&cfg, now, frame);
            }
        }
        while let Some(event) = ends[0].poll_event() {
            if event == Event::Acknowledged(message) {
                return Seen {
                    done: now,
                    marks: queues[0].marks,
                    deepest: queues[0].deepest,
                    retransmits: ends[0].sender().stats().retransmits,
                };
            }
        }
        // The next thing that happens is an arrival or a timer.
        let arrivals = queues.iter().filter_map(|q| Some(q.frames.front()?.0));
        let timers = ends.iter().filter_map(Connection::poll_timeout);
        now = arrivals
            .chain(timers)
            .min()
            .expect("a message that is not acknowledged has a timer");
        for (from, queue) in queues.iter_mut().enumerate() {
            while let Some((_, frame)) = queue.frames.pop_front_if(|f| f.0 <= now) {
                ends[1 - from].handle(now, &frame);
            }
        }
        for end in &mut ends {
            end.handle_timeout(now);
        }
    }
}

fn main() {
    println!("{:#?}", run(1_000_000, 65 * 1500));
}
