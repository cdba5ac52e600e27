// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code of the user's own markers: `marker = "bpf:mine.o"` and `"c:mine.so"` of a scenario, and
//! `--marker`. A plan declares them; here their code is loaded, and nowhere else.

use std::sync::Arc;

use cemark_foreign::{Code, Error, Foreign, Form, Object, Shared, Watch};
use cemark_marking::{QueueSpec, Values};
use cemark_scenario::files::{self, Unread};
use cemark_scenario::{LARGEST_MARKER, OwnMarker, Plan, Point};
use cemark_sim::config::{MarkerChoice, OwnFactory, SwitchConfig};
use cemark_wire::Rate;

use crate::Failure;

/// Forbidden action of a marker in the middle of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Action of the marker, and its place.
    pub what: String,
    /// Advice to the marker's author.
    pub help: String,
}

/// Answers whether the marker of a point has made a mistake. It is asked hundreds of times a
/// second.
pub type Ask = Box<dyn Fn() -> Option<Mistake> + Send + Sync>;

/// For each point of a plan, whom to ask for the mistakes of its markers. A point whose schemes are
/// in the catalogue has none.
#[derive(Default)]
pub struct Watches(Vec<Vec<Ask>>);

impl Watches {
    /// First mistake of a marker of point `i`.
    pub(crate) fn mistake(&self, i: usize) -> Option<Mistake> {
        self.0.get(i)?.iter().find_map(|ask| ask())
    }
}

/// Code of a marker.
pub trait Library {
    /// The code for one point, and whom to ask for the mistakes of the point's markers.
    ///
    /// # Errors
    /// Mistakes of the author that show before anything runs, with these parameters.
    fn code(&self, values: &Values) -> Result<(OwnFactory, Ask), Failure>;
}

/// Code that may be loaded.
pub struct Consent<'a> {
    /// Machine code of files that the command line does not name.
    pub native: bool,
    /// Markers that are in no file.
    pub others: &'a dyn Fn(&OwnMarker) -> Option<Box<dyn Library>>,
}

impl Consent<'_> {
    /// Files only.
    pub fn of_files(native: bool) -> Consent<'static> {
        Consent {
            native,
            others: &|_| None,
        }
    }
}

/// Loads the code of every marker of a plan into its points.
///
/// # Errors
/// Machine code without consent, files that cannot be loaded or have changed since the plan was
/// read, and mistakes of their authors.
pub fn load(plan: &mut Plan, consent: &Consent<'_>) -> Result<Watches, Failure> {
    let mut libraries: Vec<(u64, Box<dyn Library>)> = Vec::new();
    let runs = |marker: &&OwnMarker| {
        let switches = plan.points.iter().map(|p| &p.config.switch);
        let mut choices = switches.flat_map(SwitchConfig::markers);
        choices.any(|choice| match choice {
            MarkerChoice::Own(own) => own.content == marker.content,
            _ => false,
        })
    };
    for marker in plan.markers.iter().filter(runs) {
        libraries.push((marker.content, library(marker, consent)?));
    }
    let mut watches = Vec::with_capacity(plan.points.len());
    for point in &mut plan.points {
        let mut asks = Vec::new();
        for choice in point.config.switch.markers_mut() {
            let MarkerChoice::Own(own) = choice else {
                continue;
            };
            let found = libraries
                .iter()
                .find(|(content, _)| *content == own.content);
            // A scheme whose queues all have profiles runs nowhere.
            let Some((_, library)) = found else {
                continue;
            };
            let (code, ask) = library.code(&own.values)?;
            own.code = Some(code);
            asks.push(ask);
        }
        watches.push(asks);
    }
    Ok(Watches(watches))
}

fn library(marker: &OwnMarker, consent: &Consent<'_>) -> Result<Box<dyn Library>, Failure> {
    let Some(form) = marker.form() else {
        return (consent.others)(marker).ok_or_else(|| {
            Failure::User(miette::miette!(
                help = "name its class: markers={...} in Python",
                "the code of `{}` is not here",
                marker.written
            ))
        });
    };
    if form == Form::C && !marker.named && !consent.native {
        let path = marker.path.display();
        return Err(Failure::User(miette::miette!(
            help = "add --allow-native (allow_native=True in Python) if you trust the file; \
                    bytecode (bpf:mine.o) needs no consent, since an interpreter runs it within \
                    limits",
            "the scenario runs the machine code of {path}, which can do anything that you can"
        )));
    }
    let unread = |why: &Unread| Failure::User(miette::miette!("{}: {why}", marker.path.display()));
    let bytes = files::bytes(&marker.path, LARGEST_MARKER).map_err(|why| unread(&why))?;
    if !marker.is_made_of(&bytes) {
        return Err(Failure::User(miette::miette!(
            help = "run the command again",
            "{} has changed since the scenario was read",
            marker.path.display()
        )));
    }
    let not_loaded = |e: &Error| Failure::User(miette::miette!(help = form.advice(), "{e}"));
    Ok(match form {
        Form::Bpf => Box::new(OfFile(Object::parse(&bytes).map_err(|why| {
            not_loaded(&Error::File {
                path: marker.path.display().to_string(),
                why,
            })
        })?)),
        Form::C => Box::new(OfFile(
            Shared::open(&marker.path).map_err(|e| not_loaded(&e))?,
        )),
    })
}

/// Code that was loaded from a file.
struct OfFile<C>(C);

impl<C: Code + Sync + 'static> Library for OfFile<C> {
    fn code(&self, values: &Values) -> Result<(OwnFactory, Ask), Failure> {
        let code = &self.0;
        // A marker that cannot be built is reported before anything runs.
        if let Err(e) = Foreign::new(code.clone(), values, &QueueSpec::fifo(Rate::gbps(10))) {
            return Err(Failure::User(match e.help() {
                Some(help) => miette::miette!(help = help, "{e}"),
                None => miette::miette!("{e}"),
            }));
        }
        let (code, watch) = (code.clone(), Watch::default());
        let asked = watch.clone();
        let make: OwnFactory = Arc::new(move |values, queue| {
            Box::new(Foreign::watched(code.clone(), values, queue, &watch))
        });
        Ok((make, Box::new(move || mistake(&asked))))
    }
}

fn mistake(watch: &Watch) -> Option<Mistake> {
    let fault = watch.fault()?;
    Some(Mistake {
        what: fault.to_string(),
        help: format!("{} (docs/dataplane.md)", fault.breach.help),
    })
}

/// The error for a marker that failed during a run: a mistake of its author, so the user's.
pub(crate) fn failure(mistake: &Mistake, point: &Point, kept: &str) -> Failure {
    let help = format!("{}; {kept}", mistake.help);
    let axes: String = point
        .axes
        .iter()
        .map(|(path, value)| format!("{path} = {value}, "))
        .collect();
    Failure::User(miette::miette!(
        help = help,
        "{}: {axes}seed {}: {}",
        point.scheme,
        point.seed,
        mistake.what
    ))
}
