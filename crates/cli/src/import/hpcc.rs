// SPDX-License-Identifier: MIT OR Apache-2.0
//! HPCC's `config.txt` as sections of a scenario: hosts, buffers and pauses, marking.

use std::fmt::Write as _;

use cemark_formats::exact::{length, rate, time};
use cemark_formats::hpcc::{Config, Control, USUAL_PAYLOAD};
use cemark_formats::{Fallible, Fault};
use cemark_sim::topology::Topology;
use cemark_wire::Rate;

use super::Found;
use super::text::priorities;
use crate::init::comment;

/// The thresholds of every switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Marks {
    /// Bytes.
    kmin: u64,
    /// Bytes.
    kmax: u64,
    /// Probability at `kmax`.
    pmax: f64,
    /// The rate that they are for, where ports of other rates have them in proportion.
    per: Option<Rate>,
    /// They are of the file.
    said: bool,
}

/// The simulator's window: the largest product of a path's rate and its round trip, in which data
/// takes the time of a payload at every link. A packet may leave while fewer bytes are in flight,
/// so that the last one goes beyond it: here the window is rounded up to whole packets.
fn window(topology: &Topology, payload: u32) -> u64 {
    let payload = u64::from(payload.max(1));
    let fabric = topology.fabric();
    let product = |src: u32, dst: u32| {
        let path = || fabric.path(src, dst, 0).map(|l| &fabric.links()[l.place()]);
        let slowest = path().map(|link| link.rate.0).min().unwrap_or(0);
        let nanos: u128 = path()
            .map(|link| {
                let sending = u128::from(payload) * 8_000_000_000 / u128::from(link.rate.0.max(1));
                2 * u128::from(link.delay.0 / 1000) + sending
            })
            .sum();
        nanos * u128::from(slowest) / 8_000_000_000
    };
    let ends = fabric.representatives();
    let pairs = ends.iter().flat_map(|&a| ends.iter().map(move |&b| (a, b)));
    let most = pairs
        .filter(|(a, b)| a != b)
        .map(|(a, b)| product(a, b))
        .max();
    let most = u64::try_from(most.unwrap_or(0))
        .unwrap_or(u64::MAX)
        .min(1 << 39);
    (most.max(1).div_ceil(payload) * payload).max(1_500)
}

/// The rates of links, the hosts' first.
fn rates(topology: &Topology) -> Vec<Rate> {
    let mut rates = vec![topology.host_rate()];
    for link in topology.fabric().links() {
        if !rates.contains(&link.rate) {
            rates.push(link.rate);
        }
    }
    rates
}

/// Thresholds that hold at the links of every rate: equal ones, or ones in proportion to the rate.
pub(super) fn marks(topology: &Topology, config: Option<&Config>) -> Fallible<Marks> {
    let rates = rates(topology);
    let host = rates[0];
    let several = rates.len() > 1;
    let Some(config) = config.filter(|config| !config.ramps.is_empty()) else {
        // 100 and 400 KB at 25 Gb/s.
        let part = |bytes: u64| {
            let part = u128::from(host.0) * u128::from(bytes) / 25_000_000_000;
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        return Ok(Marks {
            kmin: part(100_000),
            kmax: part(400_000),
            pmax: 0.2,
            per: several.then_some(host),
            said: false,
        });
    };
    let of = |speed: Rate| {
        config.ramp(speed).ok_or_else(|| {
            Fault::whole(
                format!(
                    "KMIN_MAP, KMAX_MAP and PMAX_MAP have no value for links of {}",
                    rate(speed.0)
                ),
                "name every rate of the topology's links in all three, as the simulator asks",
            )
        })
    };
    let own = of(host)?;
    let mut marks = Marks {
        kmin: own.kmin,
        kmax: own.kmax,
        pmax: own.pmax,
        per: None,
        said: true,
    };
    let (mut equal, mut rising) = (true, true);
    for &speed in &rates[1..] {
        let other = of(speed)?;
        let scaled = |a: u64, b: u64| {
            u128::from(a) * u128::from(speed.0) == u128::from(b) * u128::from(host.0)
        };
        equal &= (other.kmin, other.kmax, other.pmax) == (own.kmin, own.kmax, own.pmax);
        rising &=
            scaled(own.kmin, other.kmin) && scaled(own.kmax, other.kmax) && own.pmax == other.pmax;
        if !equal && !rising {
            return Err(Fault::whole(
                format!(
                    "the thresholds at {} and {} are neither equal nor in proportion to the rate",
                    rate(host.0),
                    rate(speed.0)
                ),
                "write KMIN_MAP and KMAX_MAP in proportion to the rates, with one probability in \
                 PMAX_MAP: 100 at 25 Gb/s is 400 at 100 Gb/s",
            ));
        }
    }
    marks.per = (several && !equal).then_some(host);
    Ok(marks)
}

/// The sections of hosts, switches and marking.
pub(super) fn write(out: &mut String, found: &Found, marks: &Marks) {
    let usual = Config::default();
    let config = found.config.as_ref().unwrap_or(&usual);
    for text in &found.differs {
        // A name must not end the comment.
        *out += &comment(&cemark_scenario::visible(text));
    }
    transport(out, found, config);
    match config.no_pauses {
        false => {
            *out += &comment(
                "Ports of a switch share its memory, and pause their neighbours before it \
                 overflows: PFC with the simulator's dynamic threshold, 1/8 of the free part.",
            );
        }
        true => *out += "# Ports of a switch share its memory. ENABLE_PFC 0: they pause no link.\n",
    }
    let rates = rates(&found.topology);
    if rates.iter().any(|rate| *rate > rates[0]) && !config.no_pauses {
        *out += &comment(
            "In the simulator the factor is larger at links faster than the hosts': it doubles, up \
             to 1, for each time that half of the rate is still faster.",
        );
    }
    *out += "[switch]\nbuffer-policy = \"dynamic\"\n";
    match config.buffer {
        Some(bytes) => {
            let _ = writeln!(out, "pool = \"{}\" # BUFFER_SIZE, in MiB", length(bytes));
        }
        None => *out += "pool = \"16MiB\" # our choice: no config.txt says it\n",
    }
    if !config.no_pauses {
        *out += "pfc = true\npfc-alpha = 0.125\n";
    }
    if let Some(per) = marks.per.filter(|_| !config.unmarked) {
        let _ = writeln!(out, "threshold-rate = \"{}\"", rate(per.0));
    }
    let queues = priorities(&found.flows).len();
    if queues > 1 {
        let _ = writeln!(
            out,
            "# A queue for each priority of the flows. The simulator serves one packet of each in \
             turn.\nqueues = {queues}\nscheduler = \"dwrr\""
        );
    }
    out.push('\n');
    scheme(out, found, config, marks);
}

fn transport(out: &mut String, found: &Found, config: &Config) {
    match (config.control, found.config.is_some()) {
        (Some(Control::Dctcp), _) => {
            *out += &comment(
                "CC_MODE 8: in the simulator DCTCP sets the rate of queue pairs; here it sets the \
                 window of TCP.",
            );
            *out += "[transport]\ncontrol = \"dctcp\"\n";
        }
        (Some(Control::Dcqcn), _) => *out += "# CC_MODE 1.\n[transport]\ncontrol = \"dcqcn\"\n",
        (None, _) => {
            *out += "# Our choice: no config.txt names a controller (CC_MODE).\n[transport]\n\
                     control = \"dcqcn\"\n";
        }
    }
    if let Some(payload) = config.payload {
        let _ = writeln!(out, "mss = \"{payload}B\" # PACKET_PAYLOAD_SIZE");
    }
    if found.config.is_some() && config.window {
        let bytes = window(&found.topology, config.payload.unwrap_or(USUAL_PAYLOAD));
        let _ = writeln!(
            out,
            "receive-window = \"{bytes}B\" # HAS_WIN: the largest bandwidth-delay product"
        );
    }
    if config.acks {
        *out += "ack-every = 1 # L2_ACK_INTERVAL\n";
    }
    *out += "header = \"48B\" # as in the simulator, where no queue lengths are in headers\n";
    if config.control == Some(Control::Dctcp) {
        if let Some(gain) = config.gain {
            let _ = writeln!(out, "g = {gain} # EWMA_GAIN");
        }
        *out += "\n# A flow is complete when its sender has the last acknowledgement.\n[measure]\n\
                 fct = \"last-ack\"\n\n";
        return;
    }
    // What the simulator takes where its file says nothing, and cemark's default is another.
    let least = config
        .min_rate
        .or(found.config.as_ref().map(|_| Rate::mbps(100)));
    let rates = [
        ("rate-ai", "RATE_AI", config.rate_ai),
        ("rate-hai", "RATE_HAI", config.rate_hai),
        ("min-rate", "MIN_RATE", least),
    ];
    for (key, word, value) in rates {
        if let Some(value) = value {
            let _ = writeln!(out, "{key} = \"{}\" # {word}", rate(value.0));
        }
    }
    if let Some(gain) = config.gain {
        let _ = writeln!(out, "dcqcn-g = {gain} # EWMA_GAIN");
    }
    let timers = [
        ("alpha-timer", "ALPHA_RESUME_INTERVAL", config.alpha_timer),
        ("rate-timer", "RP_TIMER", config.rate_timer),
        (
            "cnp-gap",
            "RATE_DECREASE_INTERVAL: a sender cuts once in this time",
            config.cut_gap,
        ),
    ];
    for (key, word, value) in timers {
        if let Some(value) = value {
            let _ = writeln!(out, "{key} = \"{}\" # {word}", time(value.0));
        }
    }
    if let Some(steps) = config.recovery {
        let _ = writeln!(out, "fast-recovery = {steps} # FAST_RECOVERY_TIMES");
    }
    if let Some(clamp) = config.clamp {
        let _ = writeln!(out, "clamp-target = {clamp} # CLAMP_TARGET_RATE");
    }
    if found.config.is_some() {
        *out += "byte-counter = 0 # the simulator has none\n";
    }
    out.push('\n');
}

fn scheme(out: &mut String, found: &Found, config: &Config, marks: &Marks) {
    if config.unmarked {
        *out += "# ENABLE_QCN 0.\n[[scheme]]\nlabel = \"no marks\"\nmarker = \"none\"\n";
        return;
    }
    let whence = match marks.said {
        true => "of config.txt",
        false => {
            "of our choice: no file gives them. They are 100 KB and 400 KB at 25 Gb/s, in \
             proportion to the rate"
        }
    };
    let others = match (marks.per, rates(&found.topology).len()) {
        (_, 1) => "",
        (None, _) => " Links of other rates have the same ones.",
        (Some(_), _) => {
            " Links of other rates have them in proportion (`threshold-rate` in [switch])."
        }
    };
    *out += &comment(&format!(
        "The thresholds are those at links of {}, the hosts', {whence}.{others} KB are 1000 bytes, \
         as in the simulator. Neither marks at lengths up to `min`; both always mark above `max` \
         (`>`, not `>=`), and judge a packet as it leaves, by the bytes that stay behind. The \
         simulator never marks in its queue 0, of control packets; here ACKs and notifications are \
         not ECN-capable and so are never marked either.",
        rate(found.topology.host_rate().0)
    ));
    let _ = write!(
        out,
        "[[scheme]]\nlabel = \"HPCC's switch\"\nmarker = \"wred\"\nmin = \"{}\"\nmax = \"{}\"\n\
         drop-probability = \"{}%\"\nhook = \"dequeue\"\n",
        length(marks.kmin.min(u32::MAX.into())),
        length(marks.kmax.min(u32::MAX.into())),
        percent(marks.pmax)
    );
}

/// A share as percent, without the digits that its multiplication by 100 adds.
fn percent(share: f64) -> String {
    let text = format!("{:.9}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use cemark_sim::topology::{Dumbbell, Star};
    use cemark_wire::Picos;

    use super::*;

    /// 25 Gb/s, 1 us, two links, 1000 bytes: 4000 ns there and back and 2 x 320 ns are 14,500
    /// bytes, in packets of 1000 bytes 15.
    #[test]
    fn the_window_is_the_largest_product_in_whole_packets() {
        let star = |gbps: u64| {
            Topology::from(Star {
                hosts: 17,
                rate: Rate::gbps(gbps),
                delay: Picos::from_micros(1),
            })
        };
        assert_eq!(window(&star(25), 1000), 15_000);
        // A path over the slow link in the middle has less in flight than one beside it.
        let dumbbell = |left| {
            Topology::from(Dumbbell {
                left,
                right: 1,
                host_rate: Rate::gbps(25),
                middle_rate: Rate::gbps(1),
                host_delay: Picos::from_micros(1),
                middle_delay: Picos::from_micros(1),
            })
        };
        assert_eq!(window(&dumbbell(2), 1000), 15_000);
        // 6000 + 8000 + 2 x 320 ns at 1 Gb/s: 1830 bytes.
        assert_eq!(window(&dumbbell(1), 1000), 2_000);
        assert_eq!(percent(0.2), "20");
        assert_eq!(percent(0.07), "7");
        assert_eq!(percent(1.0), "100");
        assert_eq!(percent(0.0), "0");
    }
}
