// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--marker bpf:FILE` and `--marker c:FILE`: simulates the code that would be deployed.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use cemark_foreign::{Code, Error, Foreign, Object, Shared, Watch};
use cemark_marking::QueueSpec;
use cemark_scenario::files::{self, Unread};
use cemark_scenario::{Plan, Point};
use cemark_sim::config::MarkerChoice;
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

/// For each point of a plan, whom to ask for the mistakes of its marker. A point whose scheme is in
/// the catalogue has none.
#[derive(Default)]
pub struct Watches(Vec<Option<Ask>>);

impl Watches {
    /// Whether any point has a marker of the user's.
    pub(crate) fn any(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// Mistake of the marker of point `i`.
    pub(crate) fn mistake(&self, i: usize) -> Option<Mistake> {
        self.0.get(i)?.as_ref()?()
    }
}

/// A marker of the user's, beside the schemes of a plan.
pub trait Own {
    /// Its label among the schemes.
    fn label(&self) -> String;

    /// Adds it to every cell of a plan. Returns whom to ask for the mistakes of its points, in
    /// order.
    ///
    /// # Errors
    /// The author's mistakes that show before anything runs.
    fn add_to(&self, plan: &mut Plan) -> Result<Vec<Ask>, Failure>;
}

/// Adds every marker to every cell of a plan.
///
/// # Errors
/// As [`Own::add_to`].
pub fn add_all<T: Own>(given: &[T], plan: &mut Plan) -> Result<Watches, Failure> {
    let mut added = Vec::with_capacity(given.len());
    for marker in given {
        added.push((marker.label(), marker.add_to(plan)?.into_iter()));
    }
    // The points of one marker are still in the order in which they were added, even if points of
    // another marker were inserted between them.
    let watches = plan.points.iter().map(|point| {
        let (_, watches) = added.iter_mut().find(|(label, _)| *label == point.scheme)?;
        watches.next()
    });
    Ok(Watches(watches.collect()))
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

/// Bytes of the largest file of a marker.
const LARGEST: u64 = 256 << 20;

/// The value of one `--marker` option.
#[derive(Clone, Debug)]
pub struct Given {
    form: Form,
    path: PathBuf,
    /// `None`: form and file name.
    label: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Bpf,
    C,
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (form, path) = match text.split_once(':') {
            Some(("bpf", path)) => (Form::Bpf, path),
            Some(("c", path)) => (Form::C, path),
            _ => {
                let help = "write bpf:own.o (from clang -O2 -target bpf -c own.c) or c:own.so \
                            (from cc -O2 -fPIC -shared own.c)";
                return Err(help.to_owned());
            }
        };
        if path.is_empty() {
            return Err("there is no file name after the colon".to_owned());
        }
        Ok(Given {
            form,
            path: path.into(),
            label: None,
        })
    }
}

fn mistake(watch: &Watch) -> Option<Mistake> {
    let fault = watch.fault()?;
    Some(Mistake {
        what: fault.to_string(),
        help: format!("{} (docs/dataplane.md)", fault.breach.help),
    })
}

impl Own for Given {
    /// Form and file name.
    fn label(&self) -> String {
        if let Some(label) = &self.label {
            return label.clone();
        }
        let form = match self.form {
            Form::Bpf => "bpf",
            Form::C => "c",
        };
        let file = Path::file_name(&self.path).unwrap_or_default();
        format!("{form}:{}", file.display())
    }

    fn add_to(&self, plan: &mut Plan) -> Result<Vec<Ask>, Failure> {
        // A pipe or a device is refused before a loader waits for its end.
        match files::bytes(&self.path, LARGEST) {
            Ok(_) | Err(Unread::System(_)) => {}
            Err(why) => return Err(self.unread(&why)),
        }
        match self.form {
            Form::Bpf => {
                let object = Object::open(&self.path);
                self.add(plan, &object.map_err(|e| self.not_opened(&e))?)
            }
            Form::C => {
                let shared = Shared::open(&self.path);
                self.add(plan, &shared.map_err(|e| self.not_opened(&e))?)
            }
        }
    }
}

impl Given {
    /// Gives the marker another label.
    pub fn labelled(self, label: String) -> Self {
        Given {
            label: Some(label),
            ..self
        }
    }

    fn unread(&self, why: &Unread) -> Failure {
        Failure::User(miette::miette!("{}: {why}", self.path.display()))
    }

    /// The error for a file that cannot be loaded, with the command that makes one.
    fn not_opened(&self, e: &Error) -> Failure {
        let help = match self.form {
            Form::Bpf => {
                "compile it with: clang -O2 -target bpf -mcpu=v3 -I dataplane/include -c own.c \
                 -o own.o"
            }
            Form::C => "compile it with: cc -O2 -fPIC -shared -I dataplane/include own.c -o own.so",
        };
        Failure::User(miette::miette!(help = help, "{e}"))
    }

    /// Adds the code that was loaded.
    fn add<C: Code + Sync + 'static>(
        &self,
        plan: &mut Plan,
        code: &C,
    ) -> Result<Vec<Ask>, Failure> {
        let content = files::bytes(&self.path, LARGEST).map_err(|why| self.unread(&why))?;
        let (mut broken, mut watches) = (None, Vec::<Ask>::new());
        plan.add_marker(&self.label(), Some(code.name()), &content, &mut |values| {
            // A marker that cannot be built is reported before anything runs.
            let first = Foreign::new(code.clone(), values, &QueueSpec::fifo(Rate::gbps(10)));
            if let Err(e) = first {
                broken.get_or_insert(e);
            }
            let (values, code, watch) = (*values, code.clone(), Watch::default());
            let asked = watch.clone();
            watches.push(Box::new(move || mistake(&asked)));
            MarkerChoice::Custom(Arc::new(move |queue| {
                Box::new(Foreign::watched(code.clone(), &values, queue, &watch))
            }))
        })?;
        match broken {
            None => Ok(watches),
            Some(e) => Err(Failure::User(match e.help() {
                Some(help) => miette::miette!(help = help, "{e}"),
                None => miette::miette!("{e}"),
            })),
        }
    }
}
