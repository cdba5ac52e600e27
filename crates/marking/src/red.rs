// SPDX-License-Identifier: MIT OR Apache-2.0
//! RED: a probability that rises with the smoothed queue length.

use cemark_wire::Nanos;

use crate::Fraction;
use crate::config::{OneHook, choice, config};
use crate::{
    At, FirstMark, Hook, Marker, Ordered, QueueId, QueueSpec, Rule, RuleTime, SchemeSpec, Values,
    Verdict, Why, fixed,
};

/// The catalogue entry.
pub const SPEC: SchemeSpec = SchemeSpec {
    name: "red",
    title: "RED",
    aliases: &[],
    paper: "Floyd and Jacobson, Random Early Detection Gateways for Congestion Avoidance, ToN 1993",
    doc: "Marks with a probability that rises from kmin to kmax of the smoothed queue length, and \
          always from kmax on.",
    params: RedConfig::PARAMS,
    ordered: &[Ordered::pair(
        RedConfig::PARAMS,
        "kmin",
        "kmax",
        "kmin = \"5pkt\", kmax = \"15pkt\"",
    )],
    first_mark: |values| {
        let config = RedConfig::from(values);
        let param = const { RedConfig::param("kmin") };
        Some(FirstMark::length(param, config.kmin))
    },
    rules: &[Rule::new(RedConfig::PARAMS, "kmax", RuleTime::TailRtt)],
    ..SchemeSpec::BLANK
};

config! {
    /// Parameters of [`Red`].
    pub struct RedConfig {
        /// Smoothed length from which on packets may be marked (Floyd's advice: 5 packets). A time
        /// is read as rate x time.
        kmin: u32 = bytes(7_500),
        /// Smoothed length from which on every packet is marked (Floyd's advice: 3 x kmin).
        kmax: u32 = bytes(22_500),
        /// Probability just below kmax (Floyd's advice: 10 %; DCQCN: 1 %).
        pmax: Fraction = fraction(6_554),
        /// Weight of the newest length in the average (Floyd: 0.002, here 1/512). 1: the
        /// instantaneous length, as DCQCN.
        weight: Fraction = weight(128, 1..=fixed::ONE as u64),
        /// Marks evenly spread (the paper's count, section 7) or each packet drawn independently
        /// (switches, DCQCN).
        spacing: Spacing = choice(Spacing::Uniform),
        /// Whether the length includes the judged packet (the paper: no).
        count_self: bool = flag(false),
        /// An idle queue ages as if packets of this size had been sent meanwhile (the paper's s).
        mean_pkt: u32 = packet(1_500, 1..=65_535),
        /// Judge packets as they join the queue (the paper) or as they leave it, by the bytes that
        /// stay behind (HPCC's simulator).
        hook: OneHook = choice(OneHook::Enqueue),
    }
}

choice! {
    /// How marks are spread over the packets between kmin and kmax.
    pub enum Spacing {
        /// Gaps between marks are uniformly distributed.
        Uniform = "uniform",
        /// Each packet is drawn independently, so that gaps are geometric.
        Independent = "independent",
    }
}

/// RED at one queue.
#[derive(Clone, Copy, Debug)]
pub struct Red {
    params: Params,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct Params {
    kmin: u32,
    kmax: u32,
    pmax: u32,
    weight: u32,
    /// Time one mean packet takes on the link, at least a nanosecond.
    packet_time: u32,
    independent: bool,
    count_self: bool,
    hook: OneHook,
}

impl Params {
    fn new(config: RedConfig, queue: &QueueSpec) -> Self {
        let config = config.clamped();
        let time = queue.rate.nanos_for(u64::from(config.mean_pkt)).0;
        Params {
            kmin: config.kmin,
            kmax: config.kmax,
            pmax: config.pmax.0,
            weight: config.weight.0,
            packet_time: u32::try_from(time).unwrap_or(u32::MAX).max(1),
            independent: config.spacing == Spacing::Independent,
            count_self: config.count_self,
            hook: config.hook,
        }
    }

    /// Whether the length itself is compared: with weight 1 there is no average.
    #[inline(always)]
    fn instantaneous(&self) -> bool {
        self.weight == fixed::ONE
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Smoothed length in 2^-12 bytes; zero if lengths are not averaged.
    avg: u64,
    /// Until when the average of an empty queue has been aged; `None` while the queue is not empty,
    /// before the first packet, and if lengths are not averaged.
    idle_since: Option<Nanos>,
    /// Packets between kmin and kmax since the last mark, without the judged one; zero if each
    /// packet is drawn independently.
    passed: u32,
}

impl Red {
    /// A marker with these parameters.
    pub fn from_config(config: RedConfig, queue: &QueueSpec) -> Self {
        Red {
            params: Params::new(config, queue),
            state: State::default(),
        }
    }

    /// Brings the average up to the judged packet, and returns what is compared, in bytes.
    #[inline]
    fn smooth(&mut self, at: &At) -> u32 {
        let p = &self.params;
        let own = if p.count_self { at.pkt_bytes } else { 0 };
        let length = at.queue_bytes.saturating_add(own);
        if p.instantaneous() {
            return length;
        }
        self.state.avg = match self.state.idle_since.take() {
            // As in the paper, the packet that ends an idle time ages the average and is not a
            // sample itself. At departure, the idle time ended when that packet joined. The idle
            // time continues while no packet stays behind, in case this packet is dropped:
            // otherwise an average above kmax would block the queue until enough packets had been
            // lost.
            Some(since) if p.hook == OneHook::Dequeue || at.queue_bytes == 0 => {
                let until = match p.hook {
                    OneHook::Enqueue => at.now,
                    OneHook::Dequeue => at.now.saturating_sub(at.sojourn),
                };
                self.state.idle_since = (at.queue_bytes == 0).then_some(at.now);
                let missed = until.saturating_sub(since).0 / u64::from(p.packet_time);
                fixed::decay(self.state.avg, p.weight, missed)
            }
            _ => fixed::ewma(self.state.avg, length, p.weight),
        };
        (self.state.avg >> fixed::AVG_BITS) as u32
    }

    /// Draws whether a packet between kmin and kmax is marked.
    #[inline]
    fn draw(&mut self, avg: u32, packet_hash: u64) -> bool {
        let p = &self.params;
        let share = fixed::ramp(avg, p.kmin, p.kmax, p.pmax);
        let draw = fixed::draw(packet_hash, 0);
        if p.independent {
            return draw < share;
        }
        // draw < share / (1 - passed * share), without the division; from passed = 1 / share on it
        // always holds.
        let rest =
            u64::from(fixed::ONE).saturating_sub(u64::from(self.state.passed) * u64::from(share));
        let marked = u64::from(draw) * rest < u64::from(share) << 16;
        self.state.passed = if marked {
            0
        } else {
            self.state.passed.saturating_add(1)
        };
        marked
    }

    #[inline(always)]
    fn judge(&mut self, at: &At) -> Verdict {
        let avg = self.smooth(at);
        if avg >= self.params.kmax {
            self.state.passed = 0;
            return Verdict::Mark(Why::Average);
        }
        if avg < self.params.kmin {
            self.state.passed = 0;
            return Verdict::Pass;
        }
        if self.draw(avg, at.packet_hash) {
            Verdict::Mark(Why::Random)
        } else {
            Verdict::Pass
        }
    }
}

impl Marker for Red {
    #[inline]
    fn hook(&self) -> Hook {
        self.params.hook.into()
    }

    #[inline]
    fn reads_length_at_dequeue(&self) -> bool {
        self.params.hook == OneHook::Dequeue
    }

    fn watches_empty(&self) -> bool {
        !self.params.instantaneous()
    }

    fn quiet_below(&self, mtu: u32) -> u32 {
        let p = &self.params;
        // An average changes with every packet. Even spacing counts packets, and a length below
        // kmin sets its count to zero.
        if !p.instantaneous() || !p.independent {
            return 0;
        }
        p.kmin
            .min(p.kmax)
            .saturating_sub(if p.count_self { mtu } else { 0 })
    }

    #[inline]
    fn enqueue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    #[inline]
    fn dequeue(&mut self, at: &At) -> Verdict {
        self.judge(at)
    }

    #[inline]
    fn emptied(&mut self, _: QueueId, now: Nanos) {
        if !self.params.instantaneous() {
            self.state.idle_since = Some(now);
        }
    }

    fn retune(&mut self, params: &Values, queue: &QueueSpec) {
        self.params = Params::new(params.into(), queue);
        if self.params.instantaneous() {
            (self.state.avg, self.state.idle_since) = (0, None);
        }
        if self.params.independent {
            self.state.passed = 0;
        }
    }
}
