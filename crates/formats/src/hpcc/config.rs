// SPDX-License-Identifier: MIT OR Apache-2.0
//! `config.txt`: a key and its values in each line. What is read says how switches mark, how large
//! their buffers are and how hosts react; the others are paths and settings of the simulator.

use cemark_wire::{Picos, Rate};

use crate::exact;
use crate::fault::{Fallible, Fault};
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

/// What is read of `config.txt`.
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
}

/// One of the three maps of thresholds: the line and its pairs.
type Map<'a> = Option<(usize, Vec<(Rate, &'a str)>)>;

impl Config {
    /// Reads `config.txt`. A controller that cemark does not have, losses and failing links are
    /// refused.
    pub fn read(text: &str) -> Fallible<Config> {
        let mut config = Config::default();
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
                "MIN_RATE" => config.min_rate = Some(rate(&line)?),
                "EWMA_GAIN" => config.gain = Some(gain(&line)?),
                "ALPHA_RESUME_INTERVAL" => config.alpha_timer = Some(micros(&line)?),
                "RP_TIMER" => config.rate_timer = Some(micros(&line)?),
                "FAST_RECOVERY_TIMES" => config.recovery = Some(line.count(1, "number of steps")?),
                "CLAMP_TARGET_RATE" => config.clamp = Some(line.count::<u32>(1, "switch")? != 0),
                "PACKET_PAYLOAD_SIZE" => config.payload = Some(line.count(1, "payload")?),
                "ENABLE_QCN" => config.unmarked = line.count::<u32>(1, "switch")? == 0,
                "ERROR_RATE_PER_LINK" if !zero(&line, 1) => return Err(lossy(&line)),
                "LINK_DOWN" if (1..line.words.len()).any(|i| !zero(&line, i)) => {
                    return Err(line.fault(
                        "a link that fails during the run is not imported",
                        "write LINK_DOWN 0 0 0: links of a scenario do not fail",
                    ));
                }
                _ => {}
            }
        }
        config.ramps = ramps(kmin, kmax, pmax)?;
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
    number::rate(word(line)).ok_or_else(|| {
        let message = format!("`{}` is no rate", shown(word(line)));
        line.fault(message, "write a rate above zero as ns-3 does: 50Mb/s")
    })
}

fn gain(line: &Line<'_>) -> Fallible<f64> {
    let gain = word(line).parse::<f64>().ok();
    gain.filter(|g| *g > 0.0 && *g <= 1.0).ok_or_else(|| {
        let message = format!("`{}` is no weight", shown(word(line)));
        line.fault(message, "write a number above 0, at most 1: 0.00390625")
    })
}

fn micros(line: &Line<'_>) -> Fallible<Picos> {
    let picos = number::scaled(word(line), 6).and_then(|ps| u64::try_from(ps).ok());
    picos.map(Picos).ok_or_else(|| {
        let message = format!("`{}` is no time", shown(word(line)));
        line.fault(message, "write microseconds")
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
        _ => ("none that is known", "known are 1 (DCQCN) and 8 (DCTCP)"),
    };
    Err(line.fault(
        format!("CC_MODE {} is {name}", shown(line.words[1])),
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
