// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where fields are kept. SWX's fields are whole bytes: those of a header that are not are parts of
//! a larger one, and metadata takes up to seven bits more.

use std::collections::{BTreeMap, BTreeSet};

use super::REPORTED;
use crate::ir::{Program, Slot, Stmt, StmtKind};

/// Where a field is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// A field of metadata, of this width.
    Meta(String, u32),
    /// A field of a header.
    Whole(String, u32),
    /// Bits of a header's field: its width, and how many bits are below them.
    Part(String, u32, u32),
}

/// Where all fields are.
pub(super) struct Layout<'p> {
    program: &'p Program,
    names: Vec<At>,
    headers: BTreeMap<usize, String>,
    given: BTreeSet<Slot>,
    reported: Option<Slot>,
}

/// A header's fields as SWX has them: name and width.
pub(super) fn groups(program: &Program, header: usize) -> Vec<(String, u32, Vec<Slot>)> {
    let mut all = Vec::new();
    let (mut name, mut width, mut slots) = (String::new(), 0, Vec::new());
    for slot in &program.headers[header].fields {
        let field = &program.fields[*slot];
        if !name.is_empty() {
            name.push('_');
        }
        name.push_str(last(&field.name));
        width += field.width;
        slots.push(*slot);
        if width % 8 == 0 {
            all.push((std::mem::take(&mut name), width, std::mem::take(&mut slots)));
            width = 0;
        }
    }
    all
}

/// The own name at the end of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Bits in whole bytes.
pub(super) fn bytes(width: u32) -> u32 {
    width.next_multiple_of(8)
}

/// A path as a name, without the half that it is in.
fn plain(path: &str) -> String {
    let (_, path) = path.split_once('.').unwrap_or(("", path));
    let name: String = path
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    // SWX's names have at most 63 characters.
    let from = name.len().saturating_sub(48);
    name[from..].to_owned()
}

impl<'p> Layout<'p> {
    pub fn new(program: &'p Program, gress: usize) -> Self {
        let used = headers(program, gress);
        let mut taken = BTreeSet::from(["shim".to_owned()]);
        let mut names = BTreeMap::new();
        for header in used {
            let path = &program.headers[header].name;
            let short = last(path).to_owned();
            let name = if taken.contains(&short) {
                plain(path)
            } else {
                short
            };
            taken.insert(name.clone());
            names.insert(header, name);
        }
        let mut fields: Vec<At> = Vec::new();
        let mut taken = BTreeSet::from(["port".to_owned()]);
        for (slot, field) in program.fields.iter().enumerate() {
            let mut name = match half(program, gress, &field.name) {
                true => plain(&field.name),
                false => format!("other_{slot}"),
            };
            if !taken.insert(name.clone()) {
                name = format!("{name}_{slot}");
                taken.insert(name.clone());
            }
            fields.push(At::Meta(format!("m.{name}"), bytes(field.width)));
        }
        for (header, name) in &names {
            for (group, width, slots) in groups(program, *header) {
                let place = format!("h.{name}.{group}");
                let mut below = width;
                for slot in slots {
                    below -= program.fields[slot].width;
                    fields[slot] = match program.fields[slot].width == width {
                        true => At::Whole(place.clone(), width),
                        false => At::Part(place.clone(), width, below),
                    };
                }
            }
        }
        let mut layout = Layout {
            program,
            names: fields,
            headers: names,
            given: BTreeSet::new(),
            reported: None,
        };
        layout.given = layout.read_from_outside(gress);
        layout.reported = program
            .fields
            .iter()
            .position(|f| f.name.ends_with(REPORTED) && half(program, gress, &f.name));
        layout
    }

    /// Intrinsic metadata that the last half reads: what nothing in the program sets.
    fn read_from_outside(&self, gress: usize) -> BTreeSet<Slot> {
        let (mut reads, mut set) = (BTreeSet::new(), BTreeSet::new());
        let program = self.program;
        let actions = program.actions.iter().flat_map(|a| &a.body);
        let register_actions = program.register_actions.iter().flat_map(|a| &a.body);
        let controls = program.gresses[gress].controls.iter().flatten();
        for stmt in controls.chain(actions).chain(register_actions) {
            stmt.all_reads(&mut reads);
            stmt.walk(&mut |stmt| match &stmt.kind {
                StmtKind::Set(slot, ..) | StmtKind::Execute(_, _, Some(slot)) => {
                    set.insert(*slot);
                }
                StmtKind::Read(_, _, into) => set.extend(into),
                _ => {}
            });
        }
        for table in &program.tables {
            table.keys.iter().for_each(|k| k.value.reads(&mut reads));
        }
        set.extend(program.actions.iter().flat_map(|a| &a.params));
        for action in &program.register_actions {
            set.extend(action.lanes.iter().chain(&action.result));
        }
        reads.retain(|slot| {
            let ours = half(program, gress, &program.fields[*slot].name);
            ours && self.is_meta(*slot) && !set.contains(slot)
        });
        reads
    }

    pub fn at(&self, slot: Slot) -> &At {
        &self.names[slot]
    }

    pub fn is_meta(&self, slot: Slot) -> bool {
        matches!(self.names[slot], At::Meta(..))
    }

    /// The operand of a field of metadata.
    pub fn meta(&self, slot: Slot) -> String {
        match &self.names[slot] {
            At::Meta(name, _) | At::Whole(name, _) | At::Part(name, ..) => name.clone(),
        }
    }

    /// Fields of the header `shim`, besides `why`.
    pub fn given(&self) -> impl Iterator<Item = Slot> {
        self.given.iter().copied()
    }

    /// The operand of such a field.
    pub fn shim(&self, slot: Slot) -> String {
        self.meta(slot).replacen("m.", "h.shim.", 1)
    }

    pub fn reported(&self) -> Option<Slot> {
        self.reported
    }

    /// The headers of packets, and their names.
    pub fn headers(&self) -> &BTreeMap<usize, String> {
        &self.headers
    }

    pub fn header(&self, header: usize) -> String {
        format!("h.{}", self.headers[&header])
    }
}

/// Whether a path is one of this half of the program.
fn half(program: &Program, gress: usize, path: &str) -> bool {
    match program.gresses.len() {
        2 => path.starts_with(["ingress.", "egress."][gress]),
        _ => true,
    }
}

/// Headers that are taken from or put in front of packets of this half.
fn headers(program: &Program, gress: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut look = |stmt: &Stmt| {
        if let StmtKind::Extract(header) | StmtKind::Emit(header) = stmt.kind {
            found.insert(header);
        }
    };
    let of = &program.gresses[gress];
    for stmt in of.deparser.iter().chain(of.controls.iter().flatten()) {
        stmt.walk(&mut look);
    }
    let mut parsers: Vec<usize> = of.parser.into_iter().collect();
    while let Some(parser) = parsers.pop() {
        for state in &program.parsers[parser].states {
            for stmt in &state.body {
                stmt.walk(&mut |stmt| match stmt.kind {
                    StmtKind::Parse(inner) => parsers.push(inner),
                    _ => look(stmt),
                });
            }
        }
    }
    found
}
