// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markers of the user's own in a tree: their declarations, and schemes that the command line adds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cemark_foreign::Form;
use cemark_marking::catalogue;

use crate::classes::PROFILE;
use crate::declaration;
use crate::error::{Fallible, Fault, Texts, alike, fold};
use crate::markers::{CLASS, LABEL, MARKER, SCHEME, label_of, marker_of, spec_of};
use crate::own::{AddedMarker, Own, OwnMarker, is_own, of_file};
use crate::sections;
use crate::sweep::Axis;
use crate::switch::SWITCH;
use crate::tree::{Entry, Node, Table, Value};

/// Finds the declarations of own markers in a tree.
pub(crate) struct Finder<'a> {
    /// Relative paths begin here.
    base: PathBuf,
    /// Markers whose declarations are known without their files.
    known: &'a [OwnMarker],
    found: Vec<Arc<Own>>,
    /// Names of files on the command line, as a scenario writes them.
    named: Vec<String>,
    /// Schemes of the file, which come before those that are added.
    first_added: usize,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(base: &Path, known: &'a [OwnMarker]) -> Self {
        Finder {
            base: base.to_owned(),
            known,
            found: Vec::new(),
            named: Vec::new(),
            first_added: 0,
        }
    }

    /// Markers that were found, each once.
    pub(crate) fn markers(self) -> Vec<OwnMarker> {
        let named = &self.named;
        let marker = |own: &Arc<Own>| OwnMarker {
            named: own.marker.named || named.contains(&own.marker.written),
            ..own.marker.clone()
        };
        self.found.iter().map(marker).collect()
    }

    /// Replaces the name of each own marker by its declaration, in all schemes and axes.
    pub(crate) fn declare(&mut self, root: &mut Table, axes: &mut [Axis]) -> Fallible<()> {
        for node in schemes(root) {
            self.declare_in(node)?;
            for profile in tables_of(node, CLASS.spec.name) {
                self.declare_in(profile)?;
            }
        }
        for class in classes(root) {
            if let Value::Table(table) = &mut class.value
                && let Some(entry) = table.get_mut(PROFILE.spec.name)
            {
                self.declare_in(&mut entry.node)?;
            }
        }
        let of_marker = |axis: &&mut Axis| {
            let last = axis.path.rsplit('.').next().unwrap_or_default();
            let of = [SCHEME.name, SWITCH.name];
            let inside = of.iter().any(|name| fold(&axis.path).starts_with(name));
            inside && fold(last) == MARKER.spec.name
        };
        let swept = axes.iter_mut().filter(of_marker);
        swept
            .flat_map(|axis| &mut axis.values)
            .try_for_each(|node| self.declare_one(node))
    }

    fn declare_in(&mut self, table: &mut Node) -> Fallible<()> {
        match &mut table.value {
            Value::Table(table) => match table.get_mut(MARKER.spec.name) {
                Some(entry) => self.declare_one(&mut entry.node),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn declare_one(&mut self, node: &mut Node) -> Fallible<()> {
        let Value::Text(written) = &node.value else {
            return Ok(());
        };
        if !is_own(written) {
            return Ok(());
        }
        let known = self.found.iter().find(|own| own.marker.written == *written);
        let own = match known {
            Some(own) => Arc::clone(own),
            None => {
                let own = Arc::new(self.read(node, written)?);
                self.found.push(Arc::clone(&own));
                own
            }
        };
        node.value = Value::Own(own);
        Ok(())
    }

    fn read(&self, node: &Node, written: &str) -> Fallible<Own> {
        let known = self.known.iter().find(|marker| marker.written == written);
        let marker = match known {
            Some(known) => known.clone(),
            None if of_file(written).is_some() => self.of_file(node, written)?,
            None => return Err(needs_python(node, written)),
        };
        let spec = declaration::of(&marker).map_err(|why| {
            Fault::new(node.at, format!("{written}: {why}")).help(declaration::HELP)
        })?;
        Ok(Own { marker, spec })
    }

    fn of_file(&self, node: &Node, written: &str) -> Fallible<OwnMarker> {
        let (form, path) = of_file(written).unwrap_or((Form::C, ""));
        let at = self.base.join(path);
        let fault = |why: String| {
            Fault::new(node.at, format!("{}: {why}", at.display())).help(form.advice())
        };
        OwnMarker::of_file(written, &self.base).map_err(fault)
    }

    /// Adds schemes to those of the file, with label and marker only: [`Finder::complete`] adds the
    /// rest once the command line has changed the file.
    pub(crate) fn add(
        &mut self,
        root: &mut Table,
        added: &[AddedMarker],
        texts: &mut Texts,
    ) -> Fallible<()> {
        self.first_added = schemes(root).len();
        for one in added {
            let there = |node: &Node| match marker_of(node) {
                Some(Value::Own(own)) => own.marker.written == one.marker,
                _ => false,
            };
            // A class of Python is the code of the schemes that name it.
            if of_file(&one.marker).is_none() && schemes(root).iter().any(there) {
                continue;
            }
            let written = self.rebased(&one.marker);
            self.named.push(written.clone());
            let at = texts.add("--marker", &one.marker);
            let text = |text| Node {
                value: Value::Text(text),
                at,
            };
            let mut marker = text(written);
            self.declare_one(&mut marker)?;
            let Value::Own(own) = &marker.value else {
                return Err(
                    Fault::new(at, format!("`{}` is no file of a marker", one.marker)).help(
                        "write bpf:own.o (from clang -target bpf) or c:own.so (from cc -shared)",
                    ),
                );
            };
            let label = match &one.label {
                Some(label) => label.clone(),
                None => called(&own.marker, schemes(root)),
            };
            let mut table = Table::default();
            table.put(LABEL.spec.name, text(label));
            table.put(MARKER.spec.name, marker);
            let value = Value::Table(table);
            push(root, Node { value, at });
        }
        Ok(())
    }

    /// A marker of the command line, whose path begins in the working directory, as the scenario
    /// writes it.
    fn rebased(&self, marker: &str) -> String {
        match of_file(marker) {
            Some((form, path)) if !self.base.as_os_str().is_empty() => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
                format!("{}:{}", form.word(), path.display())
            }
            _ => marker.to_owned(),
        }
    }

    /// Gives each added scheme what it lacks: the keys of the scheme of the file that marks as the
    /// marker's name says, or else the sections of the first.
    pub(crate) fn complete(&self, root: &mut Table) {
        let (of_file, added) = schemes(root).split_at_mut(self.first_added);
        for node in added {
            let twin = spec_of(node).and_then(|own| {
                let same = |other: &&Node| {
                    spec_of(other).is_some_and(|s| std::ptr::eq(s.params, own.params))
                };
                of_file.iter().find(same)
            });
            let like = twin.or(of_file.first()).map(|like| &like.value);
            if let (Value::Table(table), Some(Value::Table(like))) = (&mut node.value, like) {
                let keys = like.0.iter().filter(|e| twin.is_some() || is_section(e));
                fill(table, keys);
            }
        }
    }
}

/// The label of an added marker: the name in its code, or else form and file name, where a scheme
/// of the file or of the catalogue has that name.
fn called(marker: &OwnMarker, others: &[Node]) -> String {
    let taken = |node: &Node| label_of(node).is_some_and(|label| alike(label, &marker.name));
    let name = marker.name.trim();
    match name.is_empty() || catalogue::find(name).is_some() || others.iter().any(taken) {
        true => marker.title(),
        false => name.to_owned(),
    }
}

/// Whether a key of a scheme is a section that it lays over one of the file.
fn is_section(entry: &Entry) -> bool {
    sections::per_scheme().any(|name| fold(name) == fold(&entry.key))
}

/// Puts keys into a table that has none of their names.
fn fill<'a>(table: &mut Table, keys: impl Iterator<Item = &'a Entry>) {
    for entry in keys {
        let own = table.get_mut(&entry.key).map(|own| &mut own.node.value);
        match (own, &entry.node.value) {
            (None, _) => table.0.push(entry.clone()),
            (Some(Value::Table(own)), Value::Table(theirs)) => fill(own, theirs.0.iter()),
            _ => {}
        }
    }
}

/// The tables `[[scheme]]` of a file.
fn schemes(root: &mut Table) -> &mut [Node] {
    match root.get_mut(SCHEME.name).map(|entry| &mut entry.node) {
        None => &mut [],
        Some(Node {
            value: Value::List(nodes),
            ..
        }) => nodes,
        Some(single) => std::slice::from_mut(single),
    }
}

/// The tables `[[switch.class]]` of a file.
fn classes(root: &mut Table) -> &mut [Node] {
    let Some(Entry { node, .. }) = root.get_mut(SWITCH.name) else {
        return &mut [];
    };
    let Value::Table(switch) = &mut node.value else {
        return &mut [];
    };
    match switch.get_mut("class").map(|entry| &mut entry.node) {
        None => &mut [],
        Some(Node {
            value: Value::List(nodes),
            ..
        }) => nodes,
        Some(single) => std::slice::from_mut(single),
    }
}

/// The tables below a key of a table.
fn tables_of<'a>(node: &'a mut Node, key: &str) -> impl Iterator<Item = &'a mut Node> {
    let below = match &mut node.value {
        Value::Table(table) => table.get_mut(key).map(|entry| &mut entry.node.value),
        _ => None,
    };
    let entries = match below {
        Some(Value::Table(tables)) => tables.0.as_mut_slice(),
        _ => &mut [],
    };
    entries.iter_mut().map(|entry| &mut entry.node)
}

/// Adds a scheme to those of a scenario.
pub(crate) fn push(root: &mut Table, scheme: Node) {
    let at = scheme.at;
    let mut all = schemes(root).to_vec();
    all.push(scheme);
    root.put(
        SCHEME.name,
        Node {
            value: Value::List(all),
            at,
        },
    );
}

fn needs_python(node: &Node, written: &str) -> Box<Fault> {
    let name = written.split_once(':').map_or(written, |(_, name)| name);
    let message = format!("`{written}` is a marker in Python, which this program does not run");
    Fault::new(node.at, message).help(format!(
        "run the scenario from Python: cemark.run(\"my.toml\", markers={{\"{name}\": Mine}}), \
         where Mine is the class of the marker"
    ))
}
