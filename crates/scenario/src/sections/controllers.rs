// SPDX-License-Identifier: MIT OR Apache-2.0
//! `control` in `[transport]` and the parameters of all congestion controllers, from the catalogue
//! of `cemark-transport`: no controller is named here.

use cemark_param::{ParamSpec, Values};
use cemark_transport::Control;
use cemark_transport::cc::{ControllerSpec, catalogue};

use crate::error::Fallible;
use crate::key::{Key, KeySpec, Words, keys};
use crate::param::parameter;
use crate::section::Section;

/// An entry of the catalogue.
#[derive(Clone, Copy)]
pub(crate) struct Chosen(&'static ControllerSpec);

impl Words for Chosen {
    fn words() -> Vec<(&'static str, Self)> {
        let all = catalogue::ALL.iter();
        all.map(|&spec| (spec.name, Chosen(spec))).collect()
    }
}

keys! {
    /// The key that chooses the controller.
    CONTROL_KEYS:
    CONTROL: Chosen = Key::choice("control").usual("dctcp").doc(
        "the congestion controller ([transports.md](transports.md)): `ecn-star` halves once per \
         window on an echo; `reno`, `cubic` and `bbr` (version 1) do not use ECN; under \
         `cubic-ecn` an echo cuts as a loss does; `dcqcn` gives hosts RDMA queue pairs \
         instead of TCP",
    );
}

/// The parameters of every controller.
pub(crate) fn of_the_catalogue() -> Vec<KeySpec> {
    let params = |spec: &'static ControllerSpec| {
        let only = std::slice::from_ref(&spec.name);
        spec.params.iter().map(|p| KeySpec::of_param(p, only))
    };
    catalogue::ALL.iter().copied().flat_map(params).collect()
}

/// The chosen controller and its parameters. The parameters of the others are read and checked as
/// well, so that a scheme or a point of a sweep may choose another one. Two controllers may share a
/// key: it is then checked against the chosen one. `published`: values of parameters that the file
/// does not write.
pub(crate) fn control(
    s: &mut Section<'_>,
    published: impl Fn(&ParamSpec) -> Option<u64>,
) -> Fallible<Control> {
    let Chosen(chosen) = s.read(&CONTROL)?;
    let values = Values::read(chosen, |param, _| {
        let usual = published(param).filter(|_| chosen.is_queue_pair());
        read(s, param, usual)
    })?;
    for key in keys() {
        if chosen.index_of(key).is_some() {
            continue;
        }
        let mut declared = catalogue::ALL.iter().flat_map(|spec| spec.params);
        if let Some(param) = declared.find(|param| param.name == key) {
            read(s, param, None)?;
        }
    }
    Ok(Control::of(chosen).with(values))
}

/// The keys of all controllers, each once.
pub(crate) fn keys() -> Vec<&'static str> {
    let mut keys: Vec<&str> = Vec::new();
    for param in catalogue::ALL.iter().flat_map(|spec| spec.params) {
        if !keys.contains(&param.name) {
            keys.push(param.name);
        }
    }
    keys
}

/// The controllers that a configuration runs, of all its workloads.
pub(crate) fn all_running(config: &cemark_sim::Config) -> Vec<&'static ControllerSpec> {
    let all = config.transports().into_iter();
    all.map(|t| t.controller()).collect()
}

/// The words of the controllers that `wanted` selects, for messages: `"a", "b" or "c"`.
pub(crate) fn words(wanted: impl Fn(&ControllerSpec) -> bool) -> String {
    let all = catalogue::ALL.iter().filter(|spec| wanted(spec));
    let words: Vec<String> = all.map(|spec| format!("\"{}\"", spec.name)).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The words of the TCP controllers with ECN, for messages.
pub(crate) fn ecn_words() -> String {
    words(|spec| spec.ecn && !spec.is_queue_pair())
}

/// The value of one parameter in its stored unit; `usual` where the file does not write it.
fn read(s: &mut Section<'_>, param: &'static ParamSpec, usual: Option<u64>) -> Fallible<u64> {
    match s.get(param.name) {
        Some(node) => parameter(node, param, None),
        None => Ok(usual.unwrap_or(param.default)),
    }
}
