// SPDX-License-Identifier: MIT OR Apache-2.0
//! The schemes that the scenario compares, with thresholds by the rules of their papers
//! (docs/schemes; `cemark theory threshold` and `cemark theory ecn_sharp` print the same numbers).

use std::fmt::Write as _;

use super::answers::Per;
use super::rtts::Numbers;
use super::text::{Parts, comment, length, rate, time};

/// Bytes of two packets: below this a threshold marks nearly every packet.
const FEWEST_BYTES: u64 = 3_000;

/// The thresholds of one fabric, in picoseconds.
struct Thresholds {
    /// lambda x 90th percentile of the base RTTs.
    tail: u64,
    /// lambda x mean.
    mean: u64,
    /// The largest base RTT.
    largest: u64,
    /// The most that the buffer leaves for a threshold, where that decided.
    most: Option<u64>,
}

impl Thresholds {
    fn of(parts: &Parts<'_>, rtt: &Numbers) -> Thresholds {
        let rate = parts.answers.rate;
        let spent = |bytes: u64| (bytes as f64 * 8e12 / rate as f64) as u64;
        let most = spent(match parts.answers.buffer.per {
            Per::Port => parts.buffer / 2,
            Per::Switch => parts.buffer / 4,
        });
        let least = spent(FEWEST_BYTES);
        Thresholds {
            tail: rtt.tail.max(least).min(most),
            mean: rtt.mean.max(least).min(most),
            largest: rtt.largest.max(least),
            most: (rtt.tail > most).then_some(most),
        }
    }
}

/// Whether the buffer is too small for the threshold that the RTTs ask for: a note for the user.
pub(super) fn note(parts: &Parts<'_>, rtt: &Numbers) -> Option<String> {
    let capped = Thresholds::of(parts, rtt).most?;
    let need = bytes(parts, rtt.tail);
    Some(format!(
        "the buffer ({}) is small for these RTTs: a threshold of {} ({}) would leave no room above \
         it, so {} is written",
        length(parts.buffer),
        time(rtt.tail),
        length(need / 1000 * 1000),
        time(capped)
    ))
}

/// What a link sends in this time.
fn bytes(parts: &Parts<'_>, picos: u64) -> u64 {
    (picos as f64 * parts.answers.rate as f64 / 8e12) as u64
}

/// All `[[scheme]]`s.
pub(super) fn section(parts: &Parts<'_>, rtt: &Numbers) -> String {
    let thresholds = Thresholds::of(parts, rtt);
    let mut out = String::new();
    if parts.answers.transport == "dcqcn" {
        dcqcn(&mut out, parts, &thresholds);
    } else {
        tcp(&mut out, parts, rtt, &thresholds);
    }
    out
}

fn tcp(out: &mut String, parts: &Parts<'_>, rtt: &Numbers, t: &Thresholds) {
    let link = rate(parts.answers.rate);
    let varies = rtt.tail > rtt.mean + rtt.mean / 50;
    let several = parts.answers.queues > 1;
    *out += &comment(&format!(
        "Thresholds follow from the base RTTs by the rules of the papers, with lambda = 1 as in \
         their experiments. RTTs: mean {}, 90th percentile {}, largest {}. At {link}, {} are on \
         the way in a 90th percentile RTT. The same numbers are printed by",
        time(rtt.mean),
        time(rtt.tail),
        time(rtt.largest),
        length(bytes(parts, rtt.tail).max(1000) / 100 * 100),
    ));
    let _ = write!(
        out,
        "#   cemark theory threshold rate={link} rtt={1}\n\
         #   cemark theory ecn_sharp rate={link} rtt_avg={0} rtt_high={1}\n",
        time(rtt.mean),
        time(rtt.tail),
    );
    if let Some(most) = t.most {
        *out += &comment(&format!(
            "The buffer is small for that: no threshold here is above {}, so that there is room \
             above it.",
            time(most)
        ));
    }
    let name = if varies {
        "DCTCP-RED-Tail"
    } else {
        "DCTCP-RED"
    };
    let _ = write!(
        out,
        "\n[[scheme]] # the first scheme is the one that the others are compared with\n\
         label = \"{name}\"\n\
         marker = \"threshold\" # one threshold on the length of the queue\n\
         k = \"{}\" # K = lambda x C x RTT, RTT the 90th percentile: no flow is starved\n\n",
        time(t.tail)
    );
    if varies && !several {
        let _ = write!(
            out,
            "[[scheme]]\n\
             label = \"DCTCP-RED-AVG\"\n\
             marker = \"threshold\"\n\
             k = \"{}\" # the same rule with the mean RTT: shorter queues, less for long RTTs\n\n",
            time(t.mean)
        );
    }
    if several {
        let _ = write!(
            out,
            "[[scheme]]\n\
             marker = \"mq_ecn\" # K of a queue follows its share of the link\n\
             k = \"{0}\" # the standard threshold, lambda x C x RTT\n\n\
             [[scheme]]\n\
             marker = \"tcn\" # a threshold on the time that a packet has waited\n\
             threshold = \"{0}\" # T = K / C = lambda x RTT, whatever the queue's share\n\n",
            time(t.tail)
        );
    }
    let _ = write!(
        out,
        "[[scheme]]\n\
         marker = \"codel\" # marks while the queue stays above a target for an interval\n\
         interval = \"{}\" # about the largest RTT\n\
         target = \"{}\" # lambda x the mean RTT\n\n",
        time(t.largest),
        time(t.mean)
    );
    let _ = write!(
        out,
        "[[scheme]]\n\
         marker = \"ecn_sharp\" # marks bursts at once, and standing queues after an interval\n\
         ins_target = \"{}\" # lambda x the 90th percentile RTT, as above\n\
         pst_interval = \"{}\" # the largest RTT (ECN#, section 3.4)\n\
         pst_target = \"{}\" # lambda x the mean RTT; a lower one gives shorter queues\n\n",
        time(t.tail),
        time(t.largest),
        time(t.mean)
    );
    if !several {
        *out += &comment(
            "TCN (T = K / C = lambda x RTT) marks as a threshold does while a port has one queue \
             and all links have one rate. To add it:",
        );
        let _ = write!(
            out,
            "# [[scheme]]\n# marker = \"tcn\"\n# threshold = \"{}\"\n\n",
            time(t.tail)
        );
    }
}

fn dcqcn(out: &mut String, parts: &Parts<'_>, t: &Thresholds) {
    // 150 and 1500 KB at 100 Gb/s are 12 and 120 us.
    let limit = t.most.unwrap_or(u64::MAX);
    let spent = |bytes: u64| (bytes as f64 * 8e12 / parts.answers.rate as f64) as u64;
    let least = spent(FEWEST_BYTES);
    let most = match parts.answers.buffer.per {
        Per::Port => spent(parts.buffer / 2),
        Per::Switch => spent(parts.buffer / 8),
    };
    let high = 120_000_000_u64.max(10 * least).min(most).min(limit);
    let low = high / 10;
    let step = t.mean.max(least).min(high);
    *out += &comment(
        "Queue pairs are slowed by a ramp: no packet is marked below Kmin, every one above Kmax. \
         150 and 1500 KB at 100 Gb/s (Cumulus Linux) are 12 and 120 us; less where the buffer is \
         small.",
    );
    let _ = write!(
        out,
        "\n[[scheme]] # the first scheme is the one that the others are compared with\n\
         marker = \"wred\"\n\
         min = \"{0}\" # Kmin, as the time in which the link sends it\n\
         max = \"{1}\" # Kmax\n\
         drop-probability = \"100%\" # at Kmax; marks, where packets are ECN-capable\n\n\
         [[scheme]]\n\
         marker = \"tcn\" # a threshold on the time that a packet has waited\n\
         threshold = \"{2}\" # T = lambda x RTT, lambda = 1\n\n\
         [[scheme]]\n\
         marker = \"ecn_sharp\" # the same ramp, and marks for standing queues\n\
         instant = \"ramp\"\n\
         kmin = \"{0}\"\n\
         kmax = \"{1}\"\n\
         pmax = \"100%\"\n\
         pst_target = \"{2}\" # lambda x the mean RTT (ECN#, section 3.4)\n\
         pst_interval = \"{3}\" # the largest RTT, and at least two gaps between notifications\n\n",
        time(low),
        time(high),
        time(step),
        time(t.largest.max(100_000_000))
    );
}
