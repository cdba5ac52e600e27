// SPDX-License-Identifier: MIT OR Apache-2.0
//! Senders over one link that marks what has waited longer than a threshold (TCN), with and without
//! the habits of an operating system: what `dataplane/linux/test/senders.py` measures of a kernel,
//! in the same columns.
//!
//! `cargo run -p cemark-transport --example senders -- [NAME=VALUE]...`, where NAME is `control`
//! (dctcp or cubic), `flows`, `rate` (Mb/s), `rtt` and `t` (us), `ms`, `warm` (ms that are not
//! counted), `gap` (us by which flows start apart), or a field of [`Stack`] (`prr=true`);
//! `stack=linux` switches all on. With `bytes` each flow ends after that many (an incast, with
//! `gap=0`), and `limit` is the room for packets. `samples=true` prints ms, flow, window, in
//! flight, alpha of 1024, delivered and marked packets. The last line has the goodput in Mb/s, the
//! mean wait in us, the share of packets marked, packets dropped, and when the last ACK arrived.

use std::collections::{BTreeMap, VecDeque};

use cemark_transport::{Ack, Acks, Config, Control, Receiver, Segment, Sender, Stack};
use cemark_wire::{Ecn, Nanos, Rate};

/// Senders, a path and a bottleneck: a run of the comparison.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Configuration of all connections.
    pub config: Config,
    /// How many there are.
    pub flows: usize,
    /// Bytes of each; `u64::MAX`: endless.
    pub bytes: u64,
    /// Packets that may wait.
    pub limit: usize,
    /// Between the starts of two.
    pub gap: Nanos,
    /// End of the warm-up: packets count from here on.
    pub warm: Nanos,
    /// Rate of the link.
    pub rate: Rate,
    /// Round-trip time of an empty path, without the transmission time of the link.
    pub rtt: Nanos,
    /// Packets that have waited longer are marked.
    pub threshold: Nanos,
    /// The end.
    pub end: Nanos,
}

/// State of a sender in a millisecond.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// When.
    pub ms: u64,
    /// Whose.
    pub flow: usize,
    /// The congestion window in segments.
    pub window: u64,
    /// Segments in flight.
    pub in_flight: u64,
    /// DCTCP's alpha, of 1024.
    pub alpha: u32,
    /// Segments acknowledged.
    pub delivered: u64,
    /// Segments that arrived with CE.
    pub marked: u32,
}

/// Counts of a run, after the warm-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Bytes acknowledged.
    pub acked: u64,
    /// Packets that left the queue.
    pub packets: u64,
    /// Packets that left with CE.
    pub marks: u64,
    /// Nanoseconds that they have waited together.
    pub waited: u64,
    /// Packets that found no room.
    pub drops: u64,
    /// When the last acknowledgement arrived.
    pub last: Nanos,
}

enum Event {
    Data(usize, Segment),
    Ack(usize, Ack, Vec<(u64, u64)>),
    Start(usize),
    /// The link has sent a packet.
    Sent,
    Warm,
    Tick(u64),
}

struct Net {
    setup: Setup,
    now: Nanos,
    events: BTreeMap<(Nanos, u64), Event>,
    order: u64,
    ends: Vec<(Sender, Receiver)>,
    queue: VecDeque<(Nanos, usize, Segment)>,
    busy: bool,
    samples: Vec<Sample>,
    totals: Totals,
}

/// Runs the senders; the samples in order, and what was counted.
pub fn run(setup: &Setup) -> (Vec<Sample>, Totals) {
    let ends = |_| (Sender::new(&setup.config), Receiver::new(&setup.config));
    let mut net = Net {
        setup: setup.clone(),
        now: Nanos::ZERO,
        events: BTreeMap::new(),
        order: 0,
        ends: (0..setup.flows).map(ends).collect(),
        queue: VecDeque::new(),
        busy: false,
        samples: Vec::new(),
        totals: Totals::default(),
    };
    for flow in 0..setup.flows {
        net.at(Nanos(setup.gap.0 * flow as u64), Event::Start(flow));
    }
    net.at(Nanos::from_millis(1), Event::Tick(1));
    net.at(setup.warm, Event::Warm);
    while net.step() {}
    net.totals.acked = net.acked() - net.totals.acked;
    (net.samples, net.totals)
}

impl Net {
    fn at(&mut self, when: Nanos, event: Event) {
        self.order += 1;
        self.events.insert((when, self.order), event);
    }

    fn step(&mut self) -> bool {
        let event = self.events.keys().next().map_or(Nanos::MAX, |k| k.0);
        let timers = self.ends.iter().enumerate();
        let timers = timers.flat_map(|(i, (s, r))| [(s.timeout(), i), (r.timeout(), i)]);
        let timer = timers.filter_map(|(at, i)| at.map(|at| (at, i))).min();
        let next = timer.map_or(event, |t| t.0.min(event));
        if next > self.setup.end {
            return false;
        }
        self.now = next;
        if event == next {
            if let Some((_, event)) = self.events.pop_first() {
                self.handle(event);
            }
        } else if let Some((_, flow)) = timer {
            let cfg = &self.setup.config;
            self.ends[flow].0.on_timeout(cfg, next);
            let acks = self.ends[flow].1.on_timeout(next);
            self.answer(flow, acks);
            self.send(flow);
        }
        true
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Start(flow) => {
                self.ends[flow].0.write(self.setup.bytes);
                self.send(flow);
            }
            Event::Data(flow, segment) => {
                let acks = self.ends[flow]
                    .1
                    .on_data(&self.setup.config, self.now, &segment);
                self.answer(flow, acks);
            }
            Event::Ack(flow, ack, sacks) => {
                let sender = &mut self.ends[flow].0;
                sender.on_ack(&self.setup.config, self.now, &ack, &sacks);
                self.totals.last = self.now;
                self.send(flow);
            }
            Event::Sent => {
                self.busy = false;
                self.serve();
            }
            Event::Warm => {
                self.totals = Totals {
                    acked: self.acked(),
                    ..Totals::default()
                };
            }
            Event::Tick(ms) => {
                self.sample(ms);
                self.at(Nanos::from_millis(ms + 1), Event::Tick(ms + 1));
            }
        }
    }

    fn acked(&self) -> u64 {
        self.ends.iter().map(|(sender, _)| sender.acked()).sum()
    }

    fn send(&mut self, flow: usize) {
        while let Some(segment) = self.ends[flow]
            .0
            .poll_transmit(&self.setup.config, self.now)
        {
            if self.queue.len() < self.setup.limit {
                self.queue.push_back((self.now, flow, segment));
                self.serve();
            } else {
                self.totals.drops += 1;
            }
        }
    }

    /// The link takes the next packet, which arrives at once: what the kernel's shaper lets out is
    /// at the receiver in the same moment, and the link is busy afterwards.
    fn serve(&mut self) {
        if self.busy {
            return;
        }
        let Some((since, flow, mut segment)) = self.queue.pop_front() else {
            return;
        };
        let waited = self.now - since;
        self.totals.packets += 1;
        self.totals.waited += waited.0;
        if waited > self.setup.threshold && segment.ecn.is_capable() {
            segment.ecn = Ecn::Ce;
            self.totals.marks += 1;
        }
        let cfg = &self.setup.config;
        let bytes = u64::from(cemark_transport::segment_wire_bytes(cfg, &segment));
        self.busy = true;
        self.at(self.now + self.setup.rate.nanos_for(bytes), Event::Sent);
        self.at(self.now, Event::Data(flow, segment));
    }

    fn answer(&mut self, flow: usize, acks: Acks) {
        let list = match acks {
            Acks::None => return,
            Acks::One(ack) => [Some(ack), None],
            Acks::Two(first, second) => [Some(first), Some(second)],
        };
        for ack in list.into_iter().flatten() {
            let mut blocks = [(0, 0); 3];
            let n = self.ends[flow].1.sack_blocks(&mut blocks);
            let sacks = blocks[..n.min(ack.sacks.into())].to_vec();
            self.at(self.now + self.setup.rtt, Event::Ack(flow, ack, sacks));
        }
    }

    fn sample(&mut self, ms: u64) {
        let mss = u64::from(self.setup.config.mss);
        for (flow, (sender, receiver)) in self.ends.iter().enumerate() {
            let share = sender.congestion().controller().marked_share();
            let alpha = share.unwrap_or(0) >> 10;
            self.samples.push(Sample {
                ms,
                flow,
                window: sender.cwnd() / mss,
                in_flight: sender.bytes_in_flight() / mss,
                alpha,
                delivered: sender.acked().div_ceil(mss),
                marked: receiver.ce_packets(),
            });
        }
    }
}

/// The setup that the words of a command line describe, and whether samples are wanted.
///
/// # Errors
///
/// The first word that is not understood.
pub fn setup(words: impl Iterator<Item = String>) -> Result<(Setup, bool), String> {
    let mut control = Control::DCTCP;
    let mut stack = Stack::NONE;
    let (mut flows, mut rate, mut rtt, mut t) = (1, 200, 1000, 240);
    let (mut ms, mut warm, mut gap, mut samples) = (2000, 500, 20_000, false);
    let (mut bytes, mut limit, mut handshake) = (u64::MAX, usize::MAX, false);
    for word in words {
        let (name, value) = word.split_once('=').ok_or("write NAME=VALUE")?;
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("{name}: a number"))
        };
        let flag = || {
            value
                .parse::<bool>()
                .map_err(|_| format!("{name}: true or false"))
        };
        match name {
            "control" if value == "cubic" => control = Control::CUBIC_ECN,
            "control" if value == "dctcp" => control = Control::DCTCP,
            "stack" if value == "linux" => stack = Stack::LINUX,
            "flows" => flows = number()? as usize,
            "rate" => rate = number()?,
            "rtt" => rtt = number()?,
            "t" => t = number()?,
            "ms" => ms = number()?,
            "warm" => warm = number()?,
            "gap" => gap = number()?,
            "samples" => samples = flag()?,
            "bytes" => bytes = number()?,
            "limit" => limit = number()? as usize,
            "handshake" => handshake = flag()?,
            "rto_over_rtt" => stack.rto_over_rtt = flag()?,
            "ect_control" => stack.ect_control = flag()?,
            "ack_cwr" => stack.ack_cwr = flag()?,
            "whole_segments" => stack.whole_segments = flag()?,
            "prr" => stack.prr = flag()?,
            "tlp" => stack.tlp = flag()?,
            "rack" => stack.rack = flag()?,
            "quick_acks" => stack.quick_acks = number()? as u32,
            "write_window" => stack.write_window = number()? as u32,
            "write_size" => stack.write_size = number()? as u32,
            "quick_acks_ce" => stack.quick_acks_ce = number()? as u32,
            "cubic_slope" => stack.cubic_slope = flag()?,
            "cubic_tick" => stack.cubic_tick = Nanos(number()?),
            "hystart" => stack.hystart = flag()?,
            "third_packet" => stack.third_packet = flag()?,
            "tso_defer" => stack.tso_defer = flag()?,
            "undo" => stack.undo = flag()?,
            "rack_wait" => stack.rack_wait = Nanos(number()?),
            "cubic_hold" => stack.cubic_hold = flag()?,
            "coarse_alpha" => stack.coarse_alpha = flag()?,
            _ => return Err(format!("{word} is not known")),
        }
    }
    let setup = Setup {
        config: Config {
            control,
            mss: 1448,
            header_bytes: 66,
            ack_bytes: 66,
            rto_min: Nanos::from_millis(200),
            rto_init: Nanos::from_millis(1000),
            ack_every: 2,
            ack_delay: Nanos::from_millis(40),
            stack,
            handshake,
            ..Config::default()
        },
        flows,
        bytes,
        limit,
        rate: Rate(rate * 1_000_000),
        rtt: Nanos::from_micros(rtt),
        threshold: Nanos::from_micros(t),
        end: Nanos::from_millis(ms),
        warm: Nanos::from_millis(warm),
        gap: Nanos::from_micros(gap),
    };
    Ok((setup, samples))
}

fn main() {
    match setup(std::env::args().skip(1)) {
        Ok((setup, wanted)) => {
            let (samples, totals) = run(&setup);
            for s in samples.iter().filter(|_| wanted) {
                println!(
                    "{} {} {} {} {} {} {}",
                    s.ms, s.flow, s.window, s.in_flight, s.alpha, s.delivered, s.marked
                );
            }
            let packets = totals.packets.max(1) as f64;
            println!(
                "{{\"goodput_mbps\": {:.1}, \"wait_us\": {:.1}, \"marked\": {:.3}, \"drops\": {}, \
                 \"last_ms\": {:.1}}}",
                totals.acked as f64 * 8e3 / (setup.end - setup.warm).0 as f64,
                totals.waited as f64 / packets / 1e3,
                totals.marks as f64 / packets,
                totals.drops,
                totals.last.0 as f64 / 1e6,
            );
        }
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(2);
        }
    }
}
