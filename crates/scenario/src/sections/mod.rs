// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sections of a scenario file. This list exists once: paths, overrides of schemes, messages,
//! the tables of `docs/scenarios.md` and the JSON schema follow it.

pub(crate) mod around;
pub(crate) mod chip;
pub(crate) mod class;
pub(crate) mod classes;
pub(crate) mod controllers;
pub(crate) mod edge;
pub(crate) mod fabric;
pub(crate) mod faults;
pub(crate) mod full;
pub(crate) mod graph;
pub(crate) mod host;
pub(crate) mod incast;
pub(crate) mod list;
pub(crate) mod long;
pub(crate) mod markers;
pub(crate) mod measure;
pub(crate) mod pfc;
pub(crate) mod poisson;
pub(crate) mod precision;
pub(crate) mod preset;
pub(crate) mod profiles;
pub(crate) mod published;
pub(crate) mod retune;
pub(crate) mod rtt;
pub(crate) mod senders;
pub(crate) mod switch;
pub(crate) mod top;
pub(crate) mod transport;
pub(crate) mod workload;

use crate::key::KeySpec;

/// How a section is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The keys above the first table.
    Top,
    /// `[name]`, once.
    Table,
    /// `[[name]]`, as often as wanted.
    List,
    /// `{ ... }` in a list under another key.
    Inline,
}

/// A section of a scenario file.
#[derive(Debug)]
pub(crate) struct SectionSpec {
    /// Its name; `switch.queue` is `[[switch.queue]]`.
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    /// The key by whose value the section has other keys, if it has one.
    pub(crate) chooser: Option<&'static str>,
    /// Whether `[scheme.NAME]` changes it for one scheme.
    pub(crate) per_scheme: bool,
    /// Whether paths of `--set` and `[sweep]` may begin with it.
    pub(crate) by_path: bool,
    /// Description of the section, a sentence or two.
    pub(crate) doc: &'static str,
    /// Its keys, in groups.
    pub(crate) groups: &'static [&'static [&'static KeySpec]],
    /// Keys that are declared elsewhere: parameters of topologies, schemes and controllers.
    pub(crate) more: fn() -> Vec<KeySpec>,
}

impl SectionSpec {
    pub(crate) const fn new(
        name: &'static str,
        form: Form,
        groups: &'static [&'static [&'static KeySpec]],
        doc: &'static str,
    ) -> Self {
        SectionSpec {
            name,
            form,
            chooser: None,
            per_scheme: false,
            by_path: !matches!(form, Form::Inline),
            doc,
            groups,
            more: Vec::new,
        }
    }

    /// The value of this key decides which keys there are.
    pub(crate) const fn chosen_by(mut self, key: &'static str) -> Self {
        self.chooser = Some(key);
        self
    }

    /// `[scheme.NAME]` changes it for one scheme.
    pub(crate) const fn per_scheme(mut self) -> Self {
        self.per_scheme = true;
        self
    }

    /// Paths do not lead into it.
    pub(crate) const fn fixed(mut self) -> Self {
        self.by_path = false;
        self
    }

    /// Adds the keys of a registry.
    pub(crate) const fn and(mut self, more: fn() -> Vec<KeySpec>) -> Self {
        self.more = more;
        self
    }

    /// The keys that its file declares.
    pub(crate) fn own_keys(&self) -> impl Iterator<Item = &'static KeySpec> + use<> {
        self.groups.iter().flat_map(|group| group.iter().copied())
    }

    /// All its keys, those of registries after its own.
    pub(crate) fn keys(&self) -> impl Iterator<Item = KeySpec> + use<> {
        self.own_keys().copied().chain((self.more)())
    }

    /// As messages name it: `[topology]`, `[[scheme]]`.
    pub(crate) fn shown(&self) -> String {
        match self.form {
            Form::Top => "the file".to_owned(),
            Form::Table => format!("[{}]", self.name),
            Form::List => format!("[[{}]]", self.name),
            Form::Inline => format!("a {}", self.name),
        }
    }
}

/// Every section, in the order of `docs/scenarios.md`.
pub(crate) static ALL: &[&SectionSpec] = &[
    &crate::top::TOP,
    &crate::fabric::TOPOLOGY,
    &crate::graph::NODE,
    &crate::graph::LINK,
    &crate::rtt::RTT,
    &crate::workload::WORKLOAD,
    &crate::list::FLOW,
    &crate::transport::TRANSPORT,
    &crate::host::HOST,
    &crate::switch::SWITCH,
    &crate::switch::QUEUE,
    &crate::classes::CLASS,
    &crate::markers::SCHEME,
    &crate::retune::RETUNE,
    &crate::edge::EDGE,
    &crate::faults::FAULT,
    &crate::sweep::SWEEP,
    &crate::precision::PRECISION,
    &crate::full::FULL,
    &crate::measure::MEASURE,
    &crate::published::PUBLISHED,
];

/// The sections of a form that a path may begin with.
pub(crate) fn by_path(form: Form) -> impl Iterator<Item = &'static SectionSpec> {
    ALL.iter()
        .copied()
        .filter(move |spec| spec.by_path && spec.form == form && !spec.name.contains('.'))
}

/// The sections that a scheme may change for itself.
pub(crate) fn per_scheme() -> impl Iterator<Item = &'static str> {
    ALL.iter()
        .filter(|spec| spec.per_scheme)
        .map(|spec| spec.name)
}
