// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark bpf`: marks the packets of a Linux device with an eBPF program, without a module.

mod show;

use std::hash::{BuildHasher, Hasher, RandomState};

use cemark_marking::{SchemeSpec, Values, catalogue};
use cemark_scenario::{Measure, change_in_words, read_quantity, scheme_in_words};
use cemark_tcbpf::{
    Earlier, Error, FASTEST, LONGEST, NotEct, Program, SLOWEST, Settings, earlier, fits,
};
use cemark_wire::{Nanos, Rate};
use clap::{Subcommand, ValueEnum};

use crate::Format;
use crate::exit::{Failure, answer, complain, user};
use crate::schemes::must_be_deployed;

/// Behind a longer virtual wait packets do not join: ours, long beside any threshold for a data
/// centre, and short beside the time in which a sender without ECN would fill it.
const LIMIT: Nanos = Nanos(100_000_000);

/// Arguments of `cemark bpf`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Mark the packets that a device sends, as a port of this rate would.
    ///
    /// cemark bpf attach eth0 --rate 200Mbps scheme ecn_sharp ins_target=300us
    Attach {
        /// A network device.
        #[arg(value_name = "DEVICE")]
        device: String,
        /// Rate of the virtual link: a little below that of the link or of the shaper behind it.
        #[arg(long, value_name = "RATE")]
        rate: String,
        #[command(flatten)]
        options: Options,
        /// The scheme, and parameters as in a scenario file (cemark schemes NAME lists them).
        #[arg(value_name = "scheme NAME [PARAMETER=VALUE]…", required = true)]
        scheme: Vec<String>,
    },
    /// Change parameters, rate, limit or policy. The scheme keeps its state.
    Retune {
        /// A network device.
        #[arg(value_name = "DEVICE")]
        device: String,
        /// Rate of the virtual link.
        #[arg(long, value_name = "RATE")]
        rate: Option<String>,
        #[command(flatten)]
        options: Options,
        /// Parameters to change, as in a scenario file.
        #[arg(value_name = "PARAMETER=VALUE")]
        params: Vec<String>,
    },
    /// Show what is attached, and what it has counted.
    Show {
        /// A network device.
        #[arg(value_name = "DEVICE")]
        device: String,
        /// How the answer is written.
        #[arg(long, value_enum, default_value = "table")]
        format: Format,
    },
    /// Remove the program from a device.
    Detach {
        /// A network device.
        #[arg(value_name = "DEVICE")]
        device: String,
    },
}

#[derive(clap::Args)]
struct Options {
    /// Behind a longer virtual wait a packet does not join the virtual queue [default: 100ms].
    #[arg(long, value_name = "TIME")]
    limit: Option<String>,
    /// A packet that is to be marked and is not ECN-capable is sent as it is, or dropped [default:
    /// forward].
    #[arg(long, value_enum, value_name = "POLICY")]
    not_ect: Option<Policy>,
}

/// Policy for packets that cannot be marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Policy {
    /// They are sent as they are.
    Forward,
    /// They are dropped, ARP and the SYNs of ordinary TCP among them.
    Drop,
}

pub(crate) fn bpf(args: &Args) -> Result<(), Failure> {
    match &args.what {
        What::Attach {
            device,
            rate,
            options,
            scheme,
        } => attach(device, rate, options, scheme),
        What::Retune {
            device,
            rate,
            options,
            params,
        } => retune(device, rate.as_deref(), options, params),
        What::Show { device, format } => show::show(device, *format),
        What::Detach { device } => detach(device),
    }
}

fn failed(e: Error) -> Failure {
    let report = match e.help() {
        Some(help) => miette::miette!(help = help, "{e}"),
        None => miette::miette!("{e}"),
    };
    match e.is_the_users() {
        true => Failure::User(report),
        false => Failure::Machine(report),
    }
}

/// A quantity of an option, inside its range.
fn quantity(
    option: &str,
    text: &str,
    measure: Measure,
    (low, high): (u64, u64),
    range: &str,
) -> Result<u64, Failure> {
    match read_quantity(text, measure) {
        Ok(n) if (low..=high).contains(&n) => Ok(n),
        Ok(_) => Err(user(
            format!("{option} {text} is out of range"),
            format!("the range is {range}"),
        )),
        Err(why) => Err(Failure::User(miette::miette!("{option}: {why}"))),
    }
}

fn rate(text: &str) -> Result<Rate, Failure> {
    let range = (SLOWEST, FASTEST);
    quantity("--rate", text, Measure::Rate, range, "1Mbps to 1Tbps").map(Rate)
}

impl Options {
    fn limit(&self) -> Result<Option<Nanos>, Failure> {
        let Some(text) = &self.limit else {
            return Ok(None);
        };
        // Times are read in picoseconds.
        let range = (1_000_000, LONGEST * 1_000);
        let picos = quantity("--limit", text, Measure::Time, range, "1us to 10s")?;
        Ok(Some(Nanos(picos / 1_000)))
    }

    fn not_ect(&self) -> Option<NotEct> {
        self.not_ect.map(|policy| match policy {
            Policy::Forward => NotEct::Forward,
            Policy::Drop => NotEct::Drop,
        })
    }
}

/// Fails where a virtual queue cannot serve the scheme.
fn must_fit(settings: &Settings) -> Result<(), Failure> {
    let queue = settings.queue();
    let why = match fits(settings.scheme, &settings.values, &queue) {
        Ok(()) => return Ok(()),
        Err(why) => why.text(),
    };
    let others: Vec<&str> = catalogue::deployed()
        .filter(|s| fits(s, &Values::defaults(s), &queue).is_ok())
        .map(|s| s.name)
        .collect();
    Err(Failure::User(miette::miette!(
        help = format!("with their defaults these fit: {}", others.join(", ")),
        "{} with these parameters {why}",
        settings.scheme.title
    )))
}

fn attach(device: &str, speed: &str, options: &Options, words: &[String]) -> Result<(), Failure> {
    let words = match words {
        [first, rest @ ..] if first == "scheme" => rest,
        all => all,
    };
    let rate = rate(speed)?;
    let (scheme, values): (&'static SchemeSpec, Values) = scheme_in_words(words, rate)?;
    must_be_deployed(scheme)?;
    let settings = Settings {
        scheme,
        values,
        rate,
        limit: options.limit()?.unwrap_or(LIMIT),
        not_ect: options.not_ect().unwrap_or(NotEct::Forward),
    };
    must_fit(&settings)?;
    // Two devices should not draw the same numbers.
    let seed = RandomState::new().build_hasher().finish();
    Program::attach(device, &settings, seed).map_err(failed)?;
    warn(device, &earlier(device).map_err(failed)?);
    answer(&format!(
        "{} marks what {device} sends; see it with cemark bpf show {device}\n",
        scheme.title
    ))
}

fn retune(
    device: &str,
    speed: Option<&str>,
    options: &Options,
    words: &[String],
) -> Result<(), Failure> {
    if speed.is_none() && options.limit.is_none() && options.not_ect.is_none() && words.is_empty() {
        return Err(user(
            "there is nothing to change",
            "write --rate, --limit, --not-ect, or a parameter: ins_target=300us",
        ));
    }
    let new_rate = speed.map(rate).transpose()?;
    let limit = options.limit()?;
    let mut program = Program::on(device).map_err(failed)?;
    let before = *program.settings();
    let rate = new_rate.unwrap_or(before.rate);
    let settings = Settings {
        scheme: before.scheme,
        values: change_in_words(before.scheme, &before.values, words, rate)?,
        rate,
        limit: limit.unwrap_or(before.limit),
        not_ect: options.not_ect().unwrap_or(before.not_ect),
    };
    must_fit(&settings)?;
    program.retune(&settings).map_err(failed)
}

fn detach(device: &str) -> Result<(), Failure> {
    Program::detach(device).map_err(failed)
}

/// Says what may keep packets from the program of a device.
fn warn(device: &str, earlier: &[Earlier]) {
    for one in earlier {
        let (what, help) = match one {
            Earlier::Filter { priority, kind, .. } => (
                format!(
                    "{} comes first: a packet that it matches is neither seen nor marked, unless \
                     {}",
                    show::earlier(one),
                    match kind.as_str() {
                        "bpf" => "the program returns TC_ACT_UNSPEC",
                        _ => "its action is `continue`",
                    }
                ),
                format!(
                    "give it a priority above 3296; `tc filter show dev {device} egress pref \
                     {priority}` shows it"
                ),
            ),
            Earlier::Tcx { .. } => (
                format!(
                    "{} comes first: a packet is neither seen nor marked, unless the program \
                     returns TCX_NEXT",
                    show::earlier(one)
                ),
                format!("`bpftool net show dev {device}` lists it"),
            ),
        };
        complain(&what, &help);
    }
}
