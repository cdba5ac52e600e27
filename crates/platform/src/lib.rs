// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configurations of switches and hosts: read into one model ([`Switch`]) and judged by rules
//! ([`judge`]).
//!
//! A [`Platform`] is an operating system of switches: SONiC, NVUE, EOS, NX-OS, or a model that
//! several speak (OpenConfig). [`Document::of`] parses a file, [`recognise`] says whose it is, and
//! [`Platform::read`] makes a [`Switch`] of all files of one.
//!
//! Readers open no file and never panic whatever the text. A message quotes names and values of
//! marking, classes and queues; other text of a configuration, which has passwords, communities and
//! keys, reaches no message.

mod document;
mod expect;
mod model;
mod place;
mod platforms;
pub mod published;
mod rules;
mod text;
mod wanted;

pub use document::Document;
pub use expect::{Expectation, Hook, expect};
pub use model::{
    ClassMap, Curve, DSCPS, Length, Malformed, Port, Profile, Queue, Refused, Said, Switch, Xoff,
};
pub use place::{At, Place};
pub use platforms::sonic::yang::{Instance, Models};
pub use platforms::{ALL as PLATFORMS, Fix, Platform, recognise};
pub use rules::{ALL as RULES, Finding, Level, Rule, judge, rule};
pub use wanted::{Form, Ramp, SonicForm, SonicSchema, Unwritable, Wanted, WantedQueue, Written};
