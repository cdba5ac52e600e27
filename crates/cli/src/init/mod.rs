// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark init`: writes a commented scenario of the user's fabric from a few answers, or a marker.

mod answers;
mod ask;
mod classes;
mod described;
mod fabric;
mod marker;
mod parts;
mod quantiles;
mod rtts;
mod schemes;
mod size;
mod text;

use std::io::{IsTerminal, stderr, stdin};
use std::path::{Path, PathBuf};

use cemark_report::units;
use cemark_scenario::{Overrides, parse};

pub(crate) use self::answers::{Answers, Class, Rtts};
use self::ask::Questions;
pub(crate) use self::classes::{BY_RULE, Bound};
pub(crate) use self::described::{Described, answers};
use self::described::{Source, collect, today};
pub(crate) use self::parts::Parts;
pub(crate) use self::rtts::Numbers;
use self::size::Extent;
use crate::as_configured;
use crate::exit::{Failure, answer, note, user};
use crate::quantity::rate;
use crate::scenario_file::{writable, write};

/// Arguments of `cemark init`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file to write; `marker`, or a file that ends in .c or .py: a marker of your own.
    #[arg(default_value = "my-fabric.toml")]
    file: PathBuf,
    #[command(flatten)]
    fabric: Described,
    /// Ask nothing; take the default for every answer that is not given.
    #[arg(long, short)]
    yes: bool,
    /// Overwrite the file if it exists.
    #[arg(long)]
    force: bool,
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
    let mut answers = collect(&args.fabric, &mut source)?;
    if !asks && !args.yes && !source.defaults.is_empty() {
        note(&format!(
            "no terminal to ask on: the defaults are taken for {}",
            source.defaults.join(", ")
        ));
    }
    let cell = args.fabric.cell;
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
    let today = today(&args.fabric, &answers, &source)?;
    let made = compose(&answers, bytes, cell, &file, &today)?;
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

/// Set that is compared with where no configuration of today is given.
const USUAL_SET: &str = "sonic";

impl<'a> Parts<'a> {
    /// Fabric, flows and base RTTs of these answers. `file` is where the scenario will be, from
    /// which paths in it start.
    pub(crate) fn of(
        answers: &'a Answers,
        buffer: u64,
        cell: Option<u64>,
        file: &'a str,
    ) -> Result<(Parts<'a>, Numbers), Failure> {
        let fabric = fabric::fabric(answers).map_err(|why| user("there is no such fabric", why))?;
        let mut parts = Parts {
            answers,
            fabric,
            buffer,
            cell,
            file,
            extent: Extent::DRAFT,
        };
        let draft = parse(&parts.draft(), file, &Overrides::default())?;
        let config = &draft.points[0].config;
        let rtt = Numbers::of(&config.rtt);
        parts.extent = Extent::of(config, &rtt);
        Ok((parts, rtt))
    }

    /// The scenario of classes with these schemes alone.
    pub(crate) fn of_schemes(&self, rtt: &Numbers, schemes: &[Bound]) -> String {
        self.whole_by_class(rtt, None, schemes, None)
    }

    /// The scenario of classes with the marking of today, or with a published set.
    pub(crate) fn compared(
        &self,
        rtt: &Numbers,
        preset: &str,
        schemes: &[Bound],
        today: &[PathBuf],
    ) -> Result<String, Failure> {
        let text = self.whole_by_class(rtt, Some(preset), schemes, None);
        if today.is_empty() {
            return Ok(text);
        }
        let plan = parse(&text, self.file, &one_seed())?;
        let today = as_configured::scheme_of(today, &plan)?;
        Ok(self.whole_by_class(rtt, None, schemes, Some(&today)))
    }
}

/// Overrides for a single replication.
fn one_seed() -> Overrides {
    Overrides {
        seed: Some(1),
        ..Overrides::default()
    }
}

/// The scenario of these answers.
fn compose(
    answers: &Answers,
    buffer: u64,
    cell: Option<u64>,
    file: &str,
    today: &[PathBuf],
) -> Result<Made, Failure> {
    let (parts, rtt) = Parts::of(answers, buffer, cell, file)?;
    let text = match answers.classes.is_empty() {
        true => parts.whole(&rtt),
        false => parts.compared(&rtt, USUAL_SET, &[parts.by_rule(&rtt)], today)?,
    };
    let seconds = size::replication(&parse(&text, file, &one_seed())?);
    let mut notes = notes(&parts, &rtt);
    notes.extend(parts.extent.note());
    notes.extend(size::dear(seconds));
    Ok(Made {
        text,
        notes,
        words: parts.fabric.words.clone(),
        flows: parts.extent.flows,
        seconds,
    })
}

/// Notes for the user beside the file.
fn notes(parts: &Parts<'_>, rtt: &Numbers) -> Vec<String> {
    let (fabric, asked) = (&parts.fabric, parts.answers);
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

#[cfg(test)]
mod tests;
