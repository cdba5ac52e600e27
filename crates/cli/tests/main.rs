// SPDX-License-Identifier: MIT OR Apache-2.0
//! The integration tests of this crate, without `plot` and `own_marker`: one program, one module
//! for each subject.
#![allow(missing_docs)]

mod alone;
mod anytime;
mod bpf;
mod capture;
mod cases;
mod check;
mod common;
mod compare;
mod damage;
mod edges;
mod first_run;
mod foreign;
mod fuzz_check;
mod fuzz_readers;
mod import;
mod init;
mod others;
mod p4;
mod pages;
mod parts;
mod pauses;
mod research;
mod running;
mod screens;
mod testbed;
mod threads;
mod typed;
mod why;
mod words;
