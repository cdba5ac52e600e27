// SPDX-License-Identifier: MIT OR Apache-2.0
//! `config.txt`: a key and its values in each line. What is read says how switches mark, how large
//! their buffers are and how hosts react. The table in `keys.rs` says what becomes of each key; a
//! key that the simulator obeys and a scenario does not is named in a note, or refused.

use cemark_wire::{Picos, Rate};

use crate::exact;
use crate::fault::{Fallible, Fault};
use crate::hpcc::keys::{Fate, fate};
use crate::lines::{Line, lines, shown};
use crate::number;

/// How hosts react to congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// `CC_MODE 1`.
    Dcqcn,
    /// `CC_MODE 8`: DCTCP over queue pairs.
    Dctcp,
}

/// How switches mark at links of one rate: never up to `kmin`, always above `kmax`, and between
/// them with a probability that rises to `pmax`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Rate of the links.
    pub rate: Rate,
    /// Bytes. The file counts KB, which are 1000 bytes in the simulator.
    pub kmin: u64,
    /// Bytes.
    pub kmax: u64,
    /// Probability, 0 to 1.
    pub pmax: f64,
}

/// A line that changes the simulator and not the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line, counted from one.
    pub line: usize,
    /// Key and value, and the difference.
    pub text: String,
}

/// The settings of `config.txt`. The default holds without the file: nothing is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The controller, if the file names one, and the line.
    pub control: Option<Control>,
    /// Marking, by rate of links.
    pub ramps: Vec<Ramp>,
    /// Buffer of a switch in bytes. The file counts MB, which are 1024 x 1024 bytes.
    pub buffer: Option<u64>,
    /// Payload of a full packet in bytes.
    pub payload: Option<u32>,
    /// `ENABLE_QCN 0`: nothing is marked.
    pub unmarked: bool,
    /// DCQCN's step of additive increase.
    pub rate_ai: Option<Rate>,
    /// DCQCN's step of hyper increase.
    pub rate_hai: Option<Rate>,
    /// The rate never falls below it.
    pub min_rate: Option<Rate>,
    /// Weight of a notification in alpha, as the file writes it.
    pub gain: Option<f64>,
    /// Alpha decays once in every such time without a notification.
    pub alpha_timer: Option<Picos>,
    /// The rate rises once in every such time without a notification.
    pub rate_timer: Option<Picos>,
    /// Steps of fast recovery.
    pub recovery: Option<u32>,
    /// Every notification lowers the target rate.
    pub clamp: Option<bool>,
    /// A sender cuts its rate at most once in this time.
    pub cut_gap: Option<Picos>,
    /// The bytes in flight are bounded by the largest bandwidth-delay product.
    pub window: bool,
    /// The window shrinks in proportion to the rate of the flow.
    pub window_by_rate: bool,
    /// The file says that packets are acknowledged.
    pub acks: bool,
    /// Links are not paused.
    pub no_pauses: bool,
    /// When the simulation ends, and the line.
    pub stop: Option<(usize, Picos)>,
    /// Settings that the scenario does not follow, in the order of the file.
    pub notes: Vec<Note>,
}

/// A map of thresholds by rate: the line and its pairs.
type Map<'a> = Option<(usize, Vec<(Rate, &'a str)>)>;

/// Payload of a packet where the file does not say it.
pub const USUAL_PAYLOAD: u32 = 1000;

impl Config {
    /// Reads `config.txt`. A controller that cemark does not have, losses and failing links are
    /// refused. Where the file does not say it, senders have a window and cut at most once in 4 us,
    /// as in the simulator.
    pub fn read(text: &str) -> Fallible<Config> {
        let mut config = Config {
            window: true,
            cut_gap: Some(Picos::from_micros(4)),
            ..Config::default()
        };
        let mut judged = Vec::new();
        let mut unknown = Vec::new();
        let (mut kmin, mut kmax, mut pmax): (Map<'_>, Map<'_>, Map<'_>) = (None, None, None);
        for line in lines(text) {
            match line.words[0] {
                "CC_MODE" => config.control = Some(control(&line)?),
                "KMIN_MAP" => kmin = Some(map(&line)?),
                "KMAX_MAP" => kmax = Some(map(&line)?),
                "PMAX_MAP" => pmax = Some(map(&line)?),
                "BUFFER_SIZE" => {
                    let mega: u32 = line.count(1, "buffer in MB")?;
                    config.buffer = Some(u64::from(mega) << 20);
                }
                "RATE_AI" => config.rate_ai = Some(rate(&line)?),
                "RATE_HAI" => config.rate_hai = Some(rate(&line)?),
                "MIN_RATE" => {
                    config.min_rate = Some(rate(&line)?);
                    judged.push(line);
                }
                "EWMA_GAIN" => config.gain = Some(gain(&line)?),
                "ALPHA_RESUME_INTERVAL" => config.alpha_timer = Some(micros(&line)?),
                "RP_TIMER" => config.rate_timer = Some(micros(&line)?),
                "FAST_RECOVERY_TIMES" => config.recovery = Some(line.count(1, "number of steps")?),
                "CLAMP_TARGET_RATE" => config.clamp = Some(line.count::<u32>(1, "switch")? != 0),
                "PACKET_PAYLOAD_SIZE" => config.payload = Some(line.count(1, "payload")?),
                "ENABLE_QCN" => config.unmarked = line.count::<u32>(1, "switch")? == 0,
                "RATE_DECREASE_INTERVAL" => config.cut_gap = Some(micros(&line)?),
                "VAR_WIN" => {
                    config.window_by_rate = line.count::<u32>(1, "switch")? != 0;
                    judged.push(line);
                }
                "HAS_WIN" => config.window = line.count::<u32>(1, "switch")? != 0,
                "L2_ACK_INTERVAL" => {
                    config.acks = true;
                    judged.push(line);
                }
                "ENABLE_PFC" => config.no_pauses = line.count::<u32>(1, "switch")? == 0,
                "SIMULATOR_STOP_TIME" => config.stop = Some((line.number, seconds(&line)?)),
                key => match fate(key) {
                    None => unknown.push(line),
                    Some(Fate::Older(other)) => return Err(older(&line, other)),
                    Some(_) => judged.push(line),
                },
            }
        }
        config.ramps = ramps(kmin, kmax, pmax)?;
        for line in &judged {
            let text = judge(&config, line)?;
            let note = text.map(|text| Note {
                line: line.number,
                text: format!("{} {}: {text}", line.words[0], shown(word(line))),
            });
            config.notes.extend(note);
        }
        config.notes.extend(unknown_keys(&unknown));
        Ok(config)
    }

    /// Marking at links of this rate: the entry with it.
    pub fn ramp(&self, rate: Rate) -> Option<&Ramp> {
        self.ramps.iter().find(|ramp| ramp.rate == rate)
    }
}

fn word<'a>(line: &Line<'a>) -> &'a str {
    line.words.get(1).copied().unwrap_or_default()
}

fn rate(line: &Line<'_>) -> Fallible<Rate> {
    let help = "write a rate above zero as ns-3 does: 50Mb/s";
    line.read(1, "rate", help, number::rate)
}

fn gain(line: &Line<'_>) -> Fallible<f64> {
    let gain = |word: &str| word.parse().ok().filter(|g| *g > 0.0 && *g <= 1.0);
    let help = "write a number above 0, at most 1: 0.00390625";
    line.read(1, "weight", help, gain)
}

fn micros(line: &Line<'_>) -> Fallible<Picos> {
    let picos = |word: &str| u64::try_from(number::scaled(word, 6)?).ok();
    line.read(1, "time", "write microseconds", picos).map(Picos)
}

fn seconds(line: &Line<'_>) -> Fallible<Picos> {
    let picos = |word: &str| Some(u64::try_from(number::rounded(word, 12)?).unwrap_or(u64::MAX));
    line.read(1, "time", "write seconds: 4.00", picos)
        .map(Picos)
}

/// The note of a line that changes the simulator and that no field has.
fn judge(config: &Config, line: &Line<'_>) -> Fallible<Option<String>> {
    let on = || line.count::<u32>(1, "switch").map(|n| n != 0);
    let dctcp = config.control == Some(Control::Dctcp);
    let bytes = || line.count::<u32>(1, "number of bytes");
    let note = match line.words[0] {
        "L2_ACK_INTERVAL" if bytes()? == 0 => {
            return Err(line.fault(
                "L2_ACK_INTERVAL 0: no packet is acknowledged, and no flow ever ends",
                "write L2_ACK_INTERVAL 1: every packet is acknowledged",
            ));
        }
        "L2_ACK_INTERVAL" if bytes()? > config.payload.unwrap_or(USUAL_PAYLOAD) => {
            "the first packets of a flow, up to this many bytes, are not acknowledged there; here \
             every packet is"
        }
        "ERROR_RATE_PER_LINK" if !zero(line, 1) => return Err(lossy(line)),
        "LINK_DOWN" if (1..line.words.len()).any(|i| !zero(line, i)) => {
            return Err(line.fault(
                "a link that fails during the run is not imported",
                "write LINK_DOWN 0 0 0: links of a scenario do not fail",
            ));
        }
        "PAUSE_TIME" if zero(line, 1) => {
            return Err(line.fault(
                "PAUSE_TIME 0: a pause frame of no time ends a pause instead of beginning one",
                "write PAUSE_TIME 5: in the simulator every other time holds until the frame that \
                 ends the pause",
            ));
        }
        "RATE_BOUND" if !on()? => {
            return Err(line.fault(
                "RATE_BOUND 0: senders do not obey the rate of their controller",
                "write RATE_BOUND 1",
            ));
        }
        "VAR_WIN" if dctcp && on()? && config.window => {
            "the window shrinks there with the rate of its flow; here it is the receiver's, and \
             constant"
        }
        "GLOBAL_T" if !on()? && config.window => {
            "the window is there the bandwidth-delay product of each flow's own path; here it is \
             the largest one for all flows"
        }
        "L2_BACK_TO_ZERO" if on()? => {
            "after a loss a flow goes back there to the beginning of its chunk of L2_CHUNK_SIZE \
             bytes; here to the missing packet"
        }
        "ACK_HIGH_PRIO" if on()? => {
            "acknowledgements pass data there, in queue 0; here they are in the queue of their flow"
        }
        "ENABLE_IRN" if on()? => {
            "receivers keep there what arrives out of order, and senders repeat only what is \
             missing; here they go back to the missing packet (write repair = \"selective\" in \
             [transport])"
        }
        "LB_MODE" if on()? => {
            "flows are moved there among equal paths; here a hash of the flow chooses its path"
        }
        "MIN_RATE" if dctcp => {
            "the rate never falls below it there; here DCTCP's window falls to a segment at least"
        }
        "DCTCP_RATE_AI" if dctcp => {
            "the rate rises there by this much in a round trip; here DCTCP's window rises by a \
             segment"
        }
        _ => return Ok(None),
    };
    Ok(Some(note.to_owned()))
}

fn older(line: &Line<'_>, other: &str) -> Fault {
    line.fault(
        format!(
            "{} is a key of the first simulator of DCQCN, whose configurations are not imported",
            line.words[0]
        ),
        format!("write what HPCC's simulator reads, {other} here, or leave config.txt out"),
    )
}

/// A note of all unknown keys, and the line of the first.
fn unknown_keys(lines: &[Line<'_>]) -> Option<Note> {
    let first = lines.first()?;
    let names: Vec<String> = lines.iter().map(|line| shown(line.words[0])).collect();
    Some(Note {
        line: first.number,
        text: format!(
            "{}: HPCC's simulator has no such key; it is not read, and what it changes is missing \
             in the scenario",
            names.join(", ")
        ),
    })
}

fn zero(line: &Line<'_>, i: usize) -> bool {
    line.words.get(i).and_then(|word| number::scaled(word, 0)) == Some(0)
}

fn lossy(line: &Line<'_>) -> Fault {
    line.fault(
        format!(
            "the error rate {} of links is not imported",
            line.words
                .get(1)
                .map_or_else(String::new, |word| shown(word))
        ),
        "write ERROR_RATE_PER_LINK 0, and into the scenario a section [[fault]] with the links and \
         `rate` (docs/scenarios.md)",
    )
}

fn control(line: &Line<'_>) -> Fallible<Control> {
    let (name, help) = match line.count::<u32>(1, "CC_MODE")? {
        1 => return Ok(Control::Dcqcn),
        8 => return Ok(Control::Dctcp),
        3 => (
            "HPCC",
            "it reads queue lengths that switches write into packets, not ECN marks",
        ),
        7 => ("TIMELY", "it measures RTTs, and ECN marks do not reach it"),
        10 => (
            "HPCC-PINT",
            "it reads what switches write into packets, not ECN marks",
        ),
        _ => (
            "",
            "none of the simulator's branches has this number, so flows send at the rate of their \
             link whatever is marked",
        ),
    };
    let number = shown(line.words[1]);
    let message = match name {
        "" => format!("CC_MODE {number} reaches no controller"),
        name => format!("CC_MODE {number} is {name}"),
    };
    Err(line.fault(
        message,
        format!("{help}; write CC_MODE 1 (DCQCN) or 8 (DCTCP), or leave config.txt out"),
    ))
}

/// `KMAX_MAP 2 25000000000 400 100000000000 1600`.
fn map<'a>(line: &Line<'a>) -> Fallible<(usize, Vec<(Rate, &'a str)>)> {
    let name = line.words[0];
    let count: usize = line.count(1, "number of rates")?;
    let pairs = &line.words[2..];
    if count.checked_mul(2) != Some(pairs.len()) {
        return Err(line.fault(
            format!(
                "{name} counts {count} rates and has {} words for them",
                pairs.len()
            ),
            format!("write a rate in bit/s and a value for each: {name} 1 25000000000 400"),
        ));
    }
    let mut all = Vec::new();
    for (i, pair) in pairs.chunks_exact(2).enumerate() {
        let rate: u64 = line.count(2 + 2 * i, "rate in bit/s")?;
        all.push((Rate(rate), pair[1]));
    }
    Ok((line.number, all))
}

/// The value of a map for links of this rate, and its line.
fn value<'a>(
    (line, pairs): &(usize, Vec<(Rate, &'a str)>),
    rate: Rate,
    name: &str,
) -> Fallible<(usize, &'a str)> {
    match pairs.iter().find(|pair| pair.0 == rate) {
        Some((_, word)) => Ok((*line, word)),
        None => Err(Fault::at(
            *line,
            format!("{name} has no value for {}", exact::rate(rate.0)),
            "name the same rates in all three maps",
        )),
    }
}

fn ramps(kmin: Map<'_>, kmax: Map<'_>, pmax: Map<'_>) -> Fallible<Vec<Ramp>> {
    let (kmin, kmax, pmax) = match (kmin, kmax, pmax) {
        (None, None, None) => return Ok(Vec::new()),
        (Some(kmin), Some(kmax), Some(pmax)) => (kmin, kmax, pmax),
        _ => {
            return Err(Fault::whole(
                "one of KMIN_MAP, KMAX_MAP and PMAX_MAP is missing",
                "marking needs all three",
            ));
        }
    };
    let bytes = |(line, word): (usize, &str)| {
        number::scaled(word, 3)
            .and_then(|bytes| u64::try_from(bytes).ok())
            .ok_or_else(|| {
                let message = format!("`{}` is no threshold", shown(word));
                Fault::at(line, message, "write KB: 400 is 400,000 bytes")
            })
    };
    let mut all = Vec::new();
    for &(rate, _) in &kmax.1 {
        let (line, word) = value(&pmax, rate, "PMAX_MAP")?;
        let probability = word.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
        let ramp = Ramp {
            rate,
            kmin: bytes(value(&kmin, rate, "KMIN_MAP")?)?,
            kmax: bytes(value(&kmax, rate, "KMAX_MAP")?)?,
            pmax: probability.ok_or_else(|| {
                let message = format!("`{}` is no probability", shown(word));
                Fault::at(line, message, "write 0 to 1: 0.2 is 20 %")
            })?,
        };
        if ramp.kmin > ramp.kmax {
            return Err(Fault::at(
                kmax.0,
                format!("at {} KMIN is above KMAX", exact::rate(rate.0)),
                "write KMIN up to KMAX",
            ));
        }
        all.push(ramp);
    }
    Ok(all)
}
