// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark init`: writes a commented scenario of the user's fabric from a few answers, or a marker.

mod answers;
mod ask;
mod fabric;
mod marker;
mod quantiles;
mod rtts;
mod schemes;
mod size;
mod text;

use std::io::{IsTerminal, stderr, stdin};
use std::path::{Path, PathBuf};

use cemark_report::units;
use cemark_scenario::{Overrides, parse};

use self::answers::{Answers, Buffer, Kind, Rtts};
use self::ask::Questions;
use self::rtts::Numbers;
use self::size::Extent;
use self::text::Parts;
use crate::exit::{Failure, answer, note, user};
use crate::output::{IN_THE_WAY, Replace, exists, put};
use crate::quantity::rate;

/// Arguments of `cemark init`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file to write; `marker`, or a file that ends in .c or .py: a marker of your own.
    #[arg(default_value = "my-fabric.toml")]
    file: PathBuf,
    /// Kind of fabric [default: leaf-spine].
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Number of hosts [default: 64; star: 16; fat-tree: 128].
    #[arg(long, value_name = "N", value_parser = answers::hosts)]
    hosts: Option<u32>,
    /// Rate of the links [default: 25Gbps].
    #[arg(long, value_name = "RATE", value_parser = answers::rate)]
    rate: Option<u64>,
    /// Rate of a switch's hosts over that of its uplinks [default: 2; fat-tree: 1].
    #[arg(long, value_name = "N", value_parser = answers::ratio)]
    oversubscription: Option<f64>,
    /// Base RTTs of flows, smallest to largest (20us..120us), with the typical one in between
    /// (20us..50us..120us), percentiles (p50=12us,p99=95us; min= and max= are the ends), or a
    /// file of measured RTTs [default: 20us..120us].
    #[arg(long, value_name = "TIMES|FILE", value_parser = answers::rtt)]
    rtt: Option<Rtts>,
    /// Buffer of a switch (16MB) or of a port (600KB/port), in bytes or cells (65536cells)
    /// [default: 16MB].
    #[arg(long, value_name = "SIZE", value_parser = answers::buffer)]
    buffer: Option<Buffer>,
    /// Size of a cell, for a buffer in cells.
    #[arg(long, value_name = "SIZE", value_parser = answers::cell)]
    cell: Option<u64>,
    /// Flow sizes: a table (cemark help sizes), a file of yours, or one size [default: web-search].
    #[arg(long, value_name = "TABLE|FILE|SIZE", value_parser = answers::sizes)]
    sizes: Option<String>,
    /// Load of the tier that fills first [default: 0.6].
    #[arg(long, value_name = "LOAD", value_parser = answers::load)]
    load: Option<f64>,
    /// Congestion controller of the senders [default: dctcp].
    #[arg(long, value_name = "NAME", value_parser = answers::transport)]
    transport: Option<&'static str>,
    /// Queues of a port that flows are spread over [default: 1].
    #[arg(long, value_name = "N", value_parser = answers::queues)]
    queues: Option<u32>,
    /// Ask nothing; take the default for every answer that is not given.
    #[arg(long, short)]
    yes: bool,
    /// Overwrite the file if it exists.
    #[arg(long)]
    force: bool,
}

impl Args {
    /// Whether an option describes a fabric.
    fn describes_a_fabric(&self) -> bool {
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
        ];
        numbers
            .iter()
            .chain(&words)
            .chain(&others)
            .any(|given| *given)
    }
}

/// How an answer that no option gives is found.
struct Source {
    questions: Option<Questions>,
    /// Answers for which the default was taken.
    defaults: Vec<&'static str>,
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

/// Writes the scenario and says what to type next.
pub(crate) fn init(args: &Args) -> Result<(), Failure> {
    if marker::is_one(&args.file) {
        return marker::init(args);
    }
    let file = writable(&args.file, args.force)?;
    let asks = !args.yes && stdin().is_terminal() && stderr().is_terminal();
    let mut source = Source {
        questions: asks.then(Questions::new),
        defaults: Vec::new(),
    };
    let mut answers = collect(args, &mut source)?;
    if !asks && !args.yes && !source.defaults.is_empty() {
        note(&format!(
            "no terminal to ask on: the defaults are taken for {}",
            source.defaults.join(", ")
        ));
    }
    let cell = args.cell;
    if cell.is_some() && !answers.buffer.in_cells {
        return Err(user(
            "--cell says how large a cell is, and the buffer is in bytes",
            "write --buffer 65536cells, or leave --cell out",
        ));
    }
    let bytes = answers
        .buffer
        .bytes(cell)
        .map_err(|why| user("--buffer cannot be used", why))?;
    beside(&mut answers, &args.file);
    let made = compose(&answers, bytes, cell, &file)?;
    write(&args.file, &made.text, args.force)?;
    made.notes
        .iter()
        .for_each(|text| note(&format!("note: {text}")));
    answer(&format!(
        "{file}: {}, {}; {} flows, about {} of CPU a replication\n\n\
         next    cemark check {file}\n        cemark run {file}\n",
        made.words,
        rate(answers.rate),
        made.flows,
        units::span(made.seconds),
    ))
}

/// A scenario, and what is said about it.
struct Made {
    text: String,
    /// The fabric.
    words: String,
    flows: u64,
    /// CPU of one replication of all schemes, by the estimate.
    seconds: f64,
    /// Notes on parts of the scenario that are not exactly as they were asked for.
    notes: Vec<String>,
}

/// The scenario of these answers. `file` is where it will be, from which paths in it start.
fn compose(answers: &Answers, buffer: u64, cell: Option<u64>, file: &str) -> Result<Made, Failure> {
    let fabric = fabric::fabric(answers).map_err(|why| user("there is no such fabric", why))?;
    let mut parts = Parts {
        answers,
        fabric: &fabric,
        buffer,
        cell,
        file,
        extent: Extent::DRAFT,
    };
    let draft = parse(&parts.draft(), file, &Overrides::default())?;
    let config = &draft.points[0].config;
    let rtt = Numbers::of(&config.rtt);
    parts.extent = Extent::of(config, &rtt);
    let text = parts.whole(&rtt);
    let one = Overrides {
        seed: Some(1),
        ..Overrides::default()
    };
    let seconds = size::replication(&parse(&text, file, &one)?);
    let mut notes = notes(&parts, &rtt);
    notes.extend(parts.extent.note());
    notes.extend(size::dear(seconds));
    Ok(Made {
        text,
        notes,
        words: fabric.words.clone(),
        flows: parts.extent.flows,
        seconds,
    })
}

/// Notes for the user beside the file.
fn notes(parts: &Parts<'_>, rtt: &Numbers) -> Vec<String> {
    let (fabric, asked) = (parts.fabric, parts.answers);
    let mut all = Vec::new();
    if fabric.hosts != asked.hosts {
        all.push(format!(
            "{} hosts do not divide evenly; the fabric has {}",
            asked.hosts, fabric.hosts
        ));
    }
    if (fabric.ratio / asked.ratio - 1.0).abs() > 0.005 {
        all.push(format!(
            "the oversubscription is {:.2}:1, since links are whole ones",
            fabric.ratio
        ));
    }
    all.extend(schemes::note(parts, rtt));
    all
}

/// The answers, from options, questions or defaults.
fn collect(args: &Args, source: &mut Source) -> Result<Answers, Failure> {
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
    Ok(Answers {
        kind,
        hosts,
        rate,
        ratio,
        rtt,
        buffer,
        sizes: source.take(
            args.sizes.clone(),
            "sizes",
            "Flow sizes: a table, a file or one size",
            "web-search",
            sizes_that_exist,
        )?,
        load: source.take(args.load, "load", "Load", "0.6", answers::load)?,
        transport: source.take(
            args.transport,
            "transport",
            "Congestion controller",
            "dctcp",
            answers::transport,
        )?,
        queues: source.take(
            args.queues,
            "queues",
            "Queues of a port",
            "1",
            answers::queues,
        )?,
    })
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

/// Files of the answers, as the scenario has to name them: relative to its own folder. An absolute
/// path is right for every folder but the present one.
fn beside(answers: &mut Answers, scenario: &Path) {
    let folder = scenario.parent().unwrap_or(Path::new(""));
    if folder.as_os_str().is_empty() || folder == Path::new(".") {
        return;
    }
    let absolute = |text: &mut String| {
        if let Ok(path) = Path::new(text.as_str()).canonicalize() {
            *text = path.display().to_string();
        }
    };
    if let Rtts::File(path) = &mut answers.rtt {
        absolute(path);
    }
    if Path::new(&answers.sizes).is_file() {
        absolute(&mut answers.sizes);
    }
}

/// The file's name, if it may be written.
pub(crate) fn writable(path: &Path, force: bool) -> Result<String, Failure> {
    let file = path.display().to_string();
    if path.extension().is_none_or(|end| end != "toml") {
        let what = format!("{file} is no name for a scenario: it ends in .toml");
        return Err(user(&what, format!("write {file}.toml")));
    }
    if path.exists() && !force {
        return Err(exists(path, IN_THE_WAY));
    }
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|dir| !dir.is_dir()) {
        let what = format!("there is no directory {}", folder.display());
        return Err(user(&what, "make it first, or write a file in another one"));
    }
    Ok(file)
}

/// Writes a scenario.
pub(crate) fn write(file: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let replace = match force {
        true => Replace::All,
        false => Replace::Nothing,
    };
    put(file, text.as_bytes(), replace, IN_THE_WAY)
}

#[cfg(test)]
mod tests;
