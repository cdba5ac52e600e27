// SPDX-License-Identifier: MIT OR Apache-2.0
//! `control` in `[transport]` and the parameters of all congestion controllers, from the catalogue
//! of `cemark-transport`: no controller is named here.

use cemark_param::{ParamSpec, Values};
use cemark_transport::cc::{ControllerSpec, catalogue};
use cemark_transport::{Config, Control};

use crate::error::{At, Fallible, Fault};
use crate::key::{Key, KeySpec, Words, keys};
use crate::param::parameter;
use crate::section::Section;
use crate::transport::TRANSPORT;
use crate::tree::Table;

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
/// key: it is then checked against the chosen one.
pub(crate) fn control(s: &mut Section<'_>) -> Fallible<Control> {
    let Chosen(chosen) = s.read(&CONTROL)?;
    let values = Values::read(chosen, |param, _| read(s, param))?;
    for key in keys() {
        if chosen.index_of(key).is_some() {
            continue;
        }
        let mut declared = catalogue::ALL.iter().flat_map(|spec| spec.params);
        if let Some(param) = declared.find(|param| param.name == key) {
            read(s, param)?;
        }
    }
    Ok(Control::of(chosen).with(values))
}

/// The controller of a workload, its parameters from `[transport]`; `None` if it is that of
/// `[transport]`.
///
/// All connections of a run share what the controller does not decide: whether hosts have queue
/// pairs, whether their NICs wait for a pace, and how lost retransmissions are found.
pub(crate) fn own(
    Chosen(chosen): Chosen,
    at: At,
    root: &Table,
    transport: &Config,
) -> Fallible<Option<Control>> {
    let common = running(transport);
    if chosen.name == common.name {
        return Ok(None);
    }
    let name = chosen.name;
    if chosen.is_queue_pair() || common.is_queue_pair() {
        let message = format!(
            "a workload under \"{name}\" beside \"{}\" in [transport]: hosts have either TCP or \
             queue pairs",
            common.name
        );
        return Err(Fault::new(at, message).help(format!(
            "write one control for all in [transport], or a controller of TCP in both: {}",
            words(|spec| !spec.is_queue_pair())
        )));
    }
    let apart = |spec: &ControllerSpec| spec.paced || !spec.slows_for_loss;
    if apart(chosen) && !apart(common) {
        let message = format!(
            "\"{name}\" in a workload, and \"{}\" in [transport]: its pacing and its repair of \
             losses are set for all senders there",
            common.name
        );
        return Err(Fault::new(at, message).help(format!(
            "write control = \"{name}\" in [transport], and control = \"{}\" in the other \
             workloads",
            common.name
        )));
    }
    let mut s = Section::of(root, &TRANSPORT)?;
    let values = Values::read(chosen, |param, _| read(&mut s, param))?;
    Ok(Some(Control::of(chosen).with(values)))
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

/// The controller that a configuration runs.
pub(crate) fn running(config: &Config) -> &'static ControllerSpec {
    match config.rdma {
        Some(_) => &cemark_transport::rdma::SPEC,
        None => config.control.spec(),
    }
}

/// The controllers that a configuration runs: that of queue pairs, or those of its workloads.
pub(crate) fn all_running(config: &cemark_sim::Config) -> Vec<&'static ControllerSpec> {
    match config.transport.rdma {
        Some(_) => vec![running(&config.transport)],
        None => config.controls().iter().map(|c| c.spec()).collect(),
    }
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

/// The value of one parameter in its stored unit.
fn read(s: &mut Section<'_>, param: &'static ParamSpec) -> Fallible<u64> {
    match s.get(param.name) {
        Some(node) => parameter(node, param, None),
        None => Ok(param.default),
    }
}
