// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fabric and its traffic, from options, questions or defaults.

use std::path::{Path, PathBuf};

use cemark_scenario::{Overrides, parse};

use super::answers::{self, Answers, Buffer, Class, Kind, Rtts};
use super::ask::Questions;
use crate::exit::{Failure, user};
use crate::quantity::length;

/// Options that describe a fabric and its traffic.
#[derive(clap::Args)]
pub(crate) struct Described {
    /// Kind of fabric [default: leaf-spine].
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Number of hosts [default: 64; star: 16; fat-tree: 128; of advise: 16].
    #[arg(long, value_name = "N", value_parser = answers::hosts)]
    pub(crate) hosts: Option<u32>,
    /// Rate of the links, or of the hosts' links [default: 25Gbps].
    #[arg(long, value_name = "RATE", value_parser = answers::rate)]
    pub(crate) rate: Option<u64>,
    /// Rate of the links between switches [default: that of the hosts' links].
    #[arg(long, value_name = "RATE", value_parser = answers::rate)]
    uplink: Option<u64>,
    /// Rate of a switch's hosts over that of its uplinks [default: 2; fat-tree: 1].
    #[arg(long, value_name = "N", value_parser = answers::ratio)]
    oversubscription: Option<f64>,
    /// Base RTTs of flows, smallest to largest (20us..120us), with the typical one in between
    /// (20us..50us..120us), percentiles (p50=12us,p99=95us; min= and max= are the ends), or a
    /// file of measured RTTs [default: 20us..120us].
    #[arg(long, value_name = "TIMES|FILE", value_parser = answers::rtt)]
    pub(crate) rtt: Option<Rtts>,
    /// A key about a file of RTTs: its column (column=rtt_p50), its unit (unit=us), or series=sum
    /// to add the histograms of all peers (cemark help rtt).
    #[arg(long, value_name = "KEY=VALUE", value_parser = answers::rtt_key)]
    rtt_key: Vec<(&'static str, String)>,
    /// Buffer of a switch (16MB) or of a port (600KB/port), in bytes or cells (65536cells)
    /// [default: 16MB].
    #[arg(long, value_name = "SIZE", value_parser = answers::buffer)]
    buffer: Option<Buffer>,
    /// Size of a cell, for a buffer in cells.
    #[arg(long, value_name = "SIZE", value_parser = answers::cell)]
    pub(crate) cell: Option<u64>,
    /// Flow sizes: a table (cemark help sizes), a file of yours, or one size [default: web-search].
    #[arg(long, value_name = "TABLE|FILE|SIZE", value_parser = answers::sizes)]
    sizes: Option<String>,
    /// Load of the tier that fills first [default: 0.6].
    #[arg(long, value_name = "LOAD", value_parser = answers::load)]
    load: Option<f64>,
    /// A traffic class: its name, the congestion controller of its senders, its DSCPs. A class
    /// without DSCPs has DSCP 0, the rest. Classes of dcqcn are lossless (PFC).
    #[arg(long, value_name = "NAME:CONTROLLER[:DSCP,…]", value_parser = answers::class,
        conflicts_with_all = ["transport", "queues"])]
    pub(crate) class: Vec<Class>,
    /// Today's configuration of a switch, which the scenario compares with (cemark help platforms).
    #[arg(long, value_name = "FILE", requires = "class")]
    pub(crate) today: Vec<PathBuf>,
    /// Congestion controller of the senders [default: dctcp].
    #[arg(long, value_name = "NAME", value_parser = answers::transport)]
    pub(crate) transport: Option<&'static str>,
    /// Queues of a port that flows are spread over [default: 1].
    #[arg(long, value_name = "N", value_parser = answers::queues)]
    pub(crate) queues: Option<u32>,
}

impl Described {
    /// Whether an option describes a fabric.
    pub(super) fn describes_a_fabric(&self) -> bool {
        let numbers = [
            self.rate.is_some(),
            self.cell.is_some(),
            self.hosts.is_some(),
        ];
        let words = [
            self.sizes.is_some(),
            self.transport.is_some(),
            self.kind.is_some(),
        ];
        let others = [
            self.oversubscription.is_some(),
            self.rtt.is_some(),
            self.buffer.is_some(),
            self.load.is_some(),
            self.queues.is_some(),
            self.uplink.is_some(),
            !self.rtt_key.is_empty(),
            !self.class.is_empty(),
            !self.today.is_empty(),
        ];
        numbers
            .iter()
            .chain(&words)
            .chain(&others)
            .any(|given| *given)
    }
}

/// How an answer that no option gives is found.
pub(super) struct Source {
    pub(super) questions: Option<Questions>,
    /// Answers for which the default was taken.
    pub(super) defaults: Vec<&'static str>,
}

impl Source {
    fn take<T>(
        &mut self,
        given: Option<T>,
        name: &'static str,
        question: &str,
        usual: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        match (given, &self.questions) {
            (Some(value), _) => Ok(value),
            (None, Some(questions)) => questions.text(question, usual, read),
            (None, None) => {
                self.defaults.push(name);
                Ok(read(usual).expect("a default is read"))
            }
        }
    }
}

/// The answers of options, with defaults for the others: their names and values. Without classes
/// all flows are in one.
pub(crate) fn answers(args: &Described, hosts: u32) -> Result<(Answers, Vec<String>), Failure> {
    let mut source = Source {
        questions: None,
        defaults: Vec::new(),
    };
    let mut answers = collect(args, &mut source)?;
    if args.hosts.is_none() {
        answers.hosts = hosts;
    }
    if answers.classes.is_empty() {
        answers.classes.push(Class {
            name: "all".to_owned(),
            control: answers.transport,
            dscps: vec![0],
        });
    }
    let value = |name: &&str| match *name {
        "buffer" => Some(format!(
            "a buffer of {}",
            length(answers.buffer.bytes(None).ok()?)
        )),
        "sizes" => Some(format!("sizes {}", answers.sizes)),
        "load" => Some(format!("load {}", answers.load)),
        "transport" => Some(format!("transport {}", answers.transport)),
        "oversubscription" => Some(format!("oversubscription {}:1", answers.ratio)),
        "hosts" => Some(format!("{} hosts", answers.hosts)),
        _ => None,
    };
    let assumed = source.defaults.iter().filter_map(value).collect();
    Ok((answers, assumed))
}

/// The answers, from options, questions or defaults.
pub(super) fn collect(args: &Described, source: &mut Source) -> Result<Answers, Failure> {
    let kind = match (args.kind, &source.questions) {
        (Some(kind), _) => kind,
        (None, Some(questions)) => questions.kind()?,
        (None, None) => {
            source.defaults.push("kind");
            Kind::LeafSpine
        }
    };
    let usual_hosts = kind.usual_hosts().to_string();
    let hosts = source.take(args.hosts, "hosts", "Hosts", &usual_hosts, answers::hosts)?;
    let rate = source.take(
        args.rate,
        "rate",
        "Rate of the links",
        "25Gbps",
        answers::rate,
    )?;
    let uplink = match kind {
        Kind::LeafSpine => Some(source.take(
            args.uplink,
            "uplink",
            "Rate of the links between switches",
            &crate::quantity::rate(rate),
            answers::rate,
        )?),
        Kind::Star | Kind::FatTree => args.uplink,
    };
    let ratio = match (kind, args.oversubscription) {
        (Kind::Star, None) => 1.0,
        (_, given) => source.take(
            given,
            "oversubscription",
            "Oversubscription (hosts' rate over uplinks' rate)",
            &kind.usual_ratio().to_string(),
            answers::ratio,
        )?,
    };
    let rtt = source.take(
        args.rtt.clone(),
        "rtt",
        "Base RTTs: smallest..largest, smallest..typical..largest, p50=..,p99=.., or a file",
        "20us..120us",
        answers::rtt,
    )?;
    if !args.rtt_key.is_empty() && !matches!(rtt, Rtts::File(_)) {
        return Err(user(
            "--rtt-key is about a file of RTTs, and --rtt names none",
            "write --rtt rtts.csv, or leave --rtt-key out",
        ));
    }
    let buffer = source.take(
        args.buffer,
        "buffer",
        "Buffer of a switch (16MB) or of a port (600KB/port)",
        "16MB",
        |text| {
            let buffer = answers::buffer(text)?;
            buffer.bytes(args.cell).map(|_| buffer)
        },
    )?;
    let sizes = source.take(
        args.sizes.clone(),
        "sizes",
        "Flow sizes: a table, a file or one size",
        "web-search",
        sizes_that_exist,
    )?;
    let load = source.take(args.load, "load", "Load", "0.6", answers::load)?;
    let classes = classes(args, source)?;
    let has_classes = !classes.is_empty();
    Ok(Answers {
        kind,
        hosts,
        rate,
        uplink: uplink.filter(|uplink| *uplink != rate),
        ratio,
        rtt,
        rtt_keys: args.rtt_key.clone(),
        buffer,
        classes,
        sizes,
        load,
        transport: match has_classes {
            true => "dctcp",
            false => source.take(
                args.transport,
                "transport",
                "Congestion controller",
                "dctcp",
                answers::transport,
            )?,
        },
        queues: match has_classes {
            true => 1,
            false => source.take(
                args.queues,
                "queues",
                "Queues of a port",
                "1",
                answers::queues,
            )?,
        },
    })
}

/// Today's configuration; asked for where there are classes, to which it can be fitted.
pub(super) fn today(
    args: &Described,
    answers: &Answers,
    source: &Source,
) -> Result<Vec<PathBuf>, Failure> {
    match &source.questions {
        Some(questions) if !answers.classes.is_empty() && args.today.is_empty() => questions.text(
            "Today's configuration of a switch (a file), or none",
            "none",
            |text| match (text.trim(), Path::new(text.trim()).is_file()) {
                ("none", _) => Ok(Vec::new()),
                (file, true) => Ok(vec![PathBuf::from(file)]),
                _ => Err("there is no such file".to_owned()),
            },
        ),
        _ => Ok(args.today.clone()),
    }
}

/// The traffic classes; asked for where no option says how senders and queues are.
fn classes(args: &Described, source: &Source) -> Result<Vec<Class>, Failure> {
    let free = args.class.is_empty() && args.transport.is_none() && args.queues.is_none();
    let classes = match &source.questions {
        Some(questions) if free => questions.text(
            "Traffic classes (storage:dcqcn:26 rest:dctcp), or none",
            "none",
            answers::classes,
        )?,
        _ => args.class.clone(),
    };
    answers::fit(&classes).map_err(|why| user("the classes cannot be used", why))?;
    Ok(classes)
}

/// For a question: a table that is not known should be said there and not after the last question.
fn sizes_that_exist(text: &str) -> Result<String, String> {
    let sizes = answers::sizes(text)?;
    let scenario = format!(
        "[topology]\nkind = \"star\"\nhosts = 2\n[[workload]]\nkind = \"poisson\"\nload = 0.1\n\
         flows = 1\nsizes = {}\n[[scheme]]\nmarker = \"none\"\n[transport]\ncontrol = \"cubic\"\n",
        crate::template::quoted(&sizes)
    );
    match parse(&scenario, "here.toml", &Overrides::default()) {
        Ok(_) => Ok(sizes),
        Err(e) => Err(e.to_string()),
    }
}
