// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--marker bpf:FILE` and `--marker c:FILE`: the very code that would be deployed, simulated.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use cemark_conformance::{Code, Error, Foreign, Object, Shared};
use cemark_marking::{Marker, QueueSpec, Values};
use cemark_scenario::Plan;
use cemark_sim::config::MarkerChoice;
use cemark_wire::Rate;

use crate::exit::Failure;

/// What stands behind one `--marker`.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    form: Form,
    path: PathBuf,
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
                return Err("write bpf:own.o (from clang -O2 -target bpf -c own.c) or c:own.so (from cc -O2 -fPIC -shared own.c)".to_owned());
            }
        };
        if path.is_empty() {
            return Err("no file behind the colon".to_owned());
        }
        Ok(Given {
            form,
            path: path.into(),
        })
    }
}

impl Given {
    /// Adds the marker to every cell of a plan, under the name of its file.
    pub(crate) fn add_to(&self, plan: &mut Plan) -> Result<(), Failure> {
        match self.form {
            Form::Bpf => {
                let object = Object::open(&self.path).map_err(|e| self.not_opened(&e))?;
                let name = object.name().to_owned();
                let build = move |v: &Values, q: &QueueSpec| object.marker(v, q);
                self.add(plan, "bpf", &name, build)
            }
            Form::C => {
                let shared = Shared::open(&self.path).map_err(|e| self.not_opened(&e))?;
                let name = shared.name().to_owned();
                let build = move |v: &Values, q: &QueueSpec| shared.marker(v, q);
                self.add(plan, "c", &name, build)
            }
        }
    }

    /// The file's fault, and how such a file is made.
    fn not_opened(&self, e: &Error) -> Failure {
        let help = match self.form {
            Form::Bpf => {
                "compile it with: clang -O2 -target bpf -mcpu=v3 -I dataplane/include -c own.c -o own.o"
            }
            Form::C => "compile it with: cc -O2 -fPIC -shared -I dataplane/include own.c -o own.so",
        };
        Failure::User(miette::miette!(help = help, "{e}"))
    }

    fn add<C: Code + 'static>(
        &self,
        plan: &mut Plan,
        form: &str,
        name: &str,
        build: impl Fn(&Values, &QueueSpec) -> Result<Foreign<C>, Error> + Clone + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let content = std::fs::read(&self.path)
            .map_err(|e| Failure::User(miette::miette!("{}: {e}", self.path.display())))?;
        let file = Path::file_name(&self.path).unwrap_or_default();
        let label = format!("{form}:{}", file.display());
        let mut broken = None;
        plan.add_marker(&label, Some(name), &content, &mut |values| {
            // Once here, so that a marker that cannot be built is the user's mistake and not a port's.
            if let Err(e) = build(values, &QueueSpec::fifo(Rate::gbps(10))) {
                broken.get_or_insert(e);
            }
            let (values, build) = (*values, build.clone());
            MarkerChoice::Custom(Arc::new(move |queue| {
                let marker = build(&values, queue).unwrap_or_else(|e| panic!("{e}"));
                Box::new(marker) as Box<dyn Marker>
            }))
        })?;
        broken.map_or(Ok(()), |e| Err(e.into()))
    }
}
