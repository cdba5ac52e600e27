// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark doctor`: what makes ECN silent or harmful in the configuration of a switch.

mod curve;
mod json;
mod sarif;
mod text;
mod yang;

use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use cemark_platform::{
    Document, Finding, Hook, Level, Platform, RULES, Rule, Switch, judge, recognise, rule,
};
use cemark_report::text::hang;
use cemark_scenario::{Measure, files, near, read_quantity};
use clap::ValueEnum;

use crate::exit::{Failure, answer, answer_json, machine, user};
use crate::import::Source;
use crate::terminal::look;

const AFTER: &str = "\
Examples:
  cemark doctor /etc/sonic/config_db.json
  tc -j -d qdisc show | cemark doctor -
  nv config show -o json > leaf1.json; cemark doctor leaf1.json
  cemark doctor leaf1.json --expect
  cemark doctor --explain CE03

Exit codes: 0 without a finding, 1 with findings, 2 where a file cannot be read. docs/doctor.md has
the rules and the platforms.";

/// Largest file that is read.
const MOST_BYTES: u64 = 64 << 20;
/// Largest cell and packet in bytes.
const LARGEST: u64 = 1 << 20;

/// Arguments of `cemark doctor`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Files of one switch, in any order; `-` is standard input. The contents say the platform:
    /// SONiC (config_db.json, or a patch), NVUE (`nv config show -o json`, or commands), Linux
    /// (`tc -j -d qdisc show`), EOS and NX-OS (`show running-config`), OpenConfig (JSON).
    #[arg(required_unless_present = "explain", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How the answer is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
    /// Explain a rule by its number or name; every rule without one.
    #[arg(long, value_name = "RULE", num_args = 0..=1, default_missing_value = "all")]
    explain: Option<String>,
    /// Print the marks that each profile must show on a tester that sends a burst into a paused
    /// port, instead of findings.
    #[arg(long, conflicts_with = "explain")]
    expect: bool,
    /// Packets of the burst [default: 10 more than fit below the upper threshold].
    #[arg(long, value_name = "PACKETS", requires = "expect")]
    burst: Option<u64>,
    /// Size of the burst's packets, with all headers.
    #[arg(
        long,
        value_name = "BYTES",
        requires = "expect",
        default_value = "1024B"
    )]
    packet: String,
    /// Where the chip judges a packet [default: both].
    #[arg(long, value_enum, value_name = "WHERE", requires = "expect")]
    hook: Option<Where>,
    /// Cell of the packet buffer, for the rule on rounding: 208B, 256B.
    #[arg(long, value_name = "BYTES")]
    cell: Option<String>,
    /// Validate CONFIG_DB against the YANG models in this directory with `yanglint` of libyang.
    #[arg(long, value_name = "DIR")]
    yang: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people.
    Text,
    /// JSON document (docs/doctor.md).
    Json,
    /// SARIF 2.1.0, for code review and continuous integration.
    Sarif,
}

/// Where a chip judges a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Where {
    /// As it joins the queue.
    Enqueue,
    /// As it departs.
    Dequeue,
}

/// A switch with its findings.
struct Judged {
    switch: Switch,
    findings: Vec<Finding>,
}

/// The files of a switch, and the answer on it.
struct Answer {
    platform: &'static dyn Platform,
    files: Vec<String>,
    judged: Vec<Judged>,
    /// Complaints of `yanglint`, if it was asked.
    yang: Vec<String>,
}

impl Answer {
    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.judged.iter().flat_map(|judged| &judged.findings)
    }

    fn count(&self, level: Level) -> usize {
        self.findings().filter(|f| f.level == level).count() + self.extra(level)
    }

    /// Mistakes that the models find are errors.
    fn extra(&self, level: Level) -> usize {
        match level {
            Level::Error => self.yang.len(),
            Level::Warning => 0,
        }
    }
}

pub(crate) fn doctor(args: &Args) -> Result<(), Failure> {
    if let Some(name) = &args.explain {
        return explain(name, args.format);
    }
    let cell = args
        .cell
        .as_deref()
        .map(|text| bytes("--cell", text))
        .transpose()?;
    let sources = args
        .files
        .iter()
        .map(|path| open(path))
        .collect::<Result<Vec<_>, _>>()?;
    let (platform, mut switches) = read(&sources)?;
    for switch in &mut switches {
        if let Some(cell) = cell {
            switch.cell = Some((cell, "--cell"));
        }
    }
    if args.expect {
        let packet = bytes("--packet", &args.packet)?;
        let hooks = match args.hook {
            None => vec![Hook::Enqueue, Hook::Dequeue],
            Some(Where::Enqueue) => vec![Hook::Enqueue],
            Some(Where::Dequeue) => vec![Hook::Dequeue],
        };
        return curve::answer(&switches, packet, args.burst, &hooks, args.format);
    }
    let yang = match &args.yang {
        Some(models) => yang::validate(platform, models, &sources)?,
        None => Vec::new(),
    };
    let all = Answer {
        platform,
        files: sources.iter().map(|source| source.name.clone()).collect(),
        judged: switches
            .into_iter()
            .map(|switch| Judged {
                findings: judge(platform, &switch),
                switch,
            })
            .collect(),
        yang,
    };
    match args.format {
        Form::Text => answer(&text::answer(&all, look().width))?,
        Form::Json => answer_json(&json::answer(&all))?,
        Form::Sarif => answer_json(&sarif::answer(&all))?,
    }
    let (errors, warnings) = (all.count(Level::Error), all.count(Level::Warning));
    match errors + warnings {
        0 => Ok(()),
        _ => Err(machine(format!(
            "{} and {}",
            counted(errors, "error"),
            counted(warnings, "warning")
        ))),
    }
}

/// A number with its noun.
fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A length of an option.
fn bytes(option: &str, text: &str) -> Result<u64, Failure> {
    let read = read_quantity(text, Measure::Length).ok();
    read.filter(|bytes| (1..=LARGEST).contains(bytes))
        .ok_or_else(|| {
            user(
                format!("`{option} {text}` is no length from 1 B to 1 MB"),
                format!("write {option} 256B"),
            )
        })
}

/// The switch of these files, or its ASICs.
pub(crate) fn of_files(paths: &[PathBuf]) -> Result<Vec<Switch>, Failure> {
    let sources = paths
        .iter()
        .map(|path| open(path))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(read(&sources)?.1)
}

fn open(path: &Path) -> Result<Source, Failure> {
    let (name, read) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes);
        let whole = match read {
            Err(e) => Err(e.into()),
            Ok(n) if n as u64 > MOST_BYTES => Err(files::Unread::TooLarge(MOST_BYTES)),
            Ok(_) => String::from_utf8(bytes).map_err(|_| files::Unread::NotText),
        };
        ("standard input".to_owned(), whole)
    } else {
        (path.display().to_string(), files::text(path, MOST_BYTES))
    };
    match read {
        Ok(text) => Ok(Source { name, text }),
        Err(why) => Err(user(
            format!("{name}: {why}"),
            "name a configuration that the switch wrote, as text",
        )),
    }
}

/// The platform of the files, and the switch or its ASICs.
fn read(sources: &[Source]) -> Result<(&'static dyn Platform, Vec<Switch>), Failure> {
    let mut documents = Vec::new();
    let mut platform: Option<(&'static dyn Platform, &str)> = None;
    for source in sources {
        let document = Document::of(&source.text).map_err(|fault| source.fault(&fault))?;
        let found = recognise(&document).map_err(|fault| source.fault(&fault))?;
        match platform {
            Some((known, first)) if known.name() != found.name() => {
                return Err(user(
                    format!(
                        "{first} is of {} and {} of {}",
                        known.title(),
                        source.name,
                        found.title()
                    ),
                    "name the files of one switch",
                ));
            }
            _ => platform = Some((found, &source.name)),
        }
        documents.push(document);
    }
    let (platform, _) = platform.ok_or_else(|| user("no file is named", "name a file"))?;
    let all: Vec<&Document> = documents.iter().collect();
    let switches = platform.read(&all);
    let switches = switches.map_err(|(file, fault)| sources[file].fault(&fault))?;
    Ok((platform, switches))
}

/// Every rule, for completion and help.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied()
}

fn explain(name: &str, format: Form) -> Result<(), Failure> {
    let chosen: Vec<&Rule> = match name {
        "all" => rules().collect(),
        name => vec![rule(name).ok_or_else(|| {
            let known = rules().flat_map(|rule| [rule.id, rule.name]);
            user(format!("there is no rule `{name}`"), near(name, known))
        })?],
    };
    match format {
        Form::Text => answer(&explained(&chosen, look().width)),
        Form::Json => answer_json(&chosen.iter().map(|r| json::rule(r)).collect::<Vec<_>>()),
        Form::Sarif => Err(user(
            "SARIF has findings, and --explain has rules",
            "leave --format out, or write --format json",
        )),
    }
}

/// Rules in words.
pub(crate) fn explained(rules: &[&Rule], width: usize) -> String {
    let one = |rule: &&Rule| {
        let mut text = format!("{} {} ({})\n", rule.id, rule.name, rule.level.name());
        let mut part = |name: &str, said: &str| {
            text += &format!("  {name:<9} {}\n", hang(said, width, 12));
        };
        part("why", rule.why);
        part("packets", rule.packets);
        for source in rule.evidence {
            part("evidence", source);
        }
        text
    };
    rules.iter().map(one).collect::<Vec<_>>().join("\n")
}
