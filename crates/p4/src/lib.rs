// SPDX-License-Identifier: MIT OR Apache-2.0
//! A front end for the P4_16 that the programs in `dataplane/p4` contain: lexer, preprocessor,
//! parser, types, an interpreter, and the `.spec` for DPDK's software switch. Tests run the source
//! that is handed out.
//!
//! The parser reads nearly all of the language's grammar. The subset that runs is in the table of
//! `dataplane/p4/README.md`; the front end refuses anything else with file, line and column.
//!
//! ```
//! let read = cemark_p4::compile("a.p4", "header h { bit<8 x; }", &Default::default(), &|_| None);
//! assert_eq!(read.unwrap_err().to_string(), "a.p4:1:18: wants `>`, came `x`");
//! ```

mod arch;
mod ast;
pub mod control;
mod error;
pub mod ir;
mod lex;
mod lower;
mod parse;
mod pre;
mod run;
pub mod sources;
pub mod spec;
pub mod testbed;
pub mod traffic;
mod visit;

pub use error::{Error, Place};
pub use pre::{Defines, Loader};
pub use run::{Machine, Rounding};

/// Parses a program and resolves its names and types.
///
/// # Errors
///
/// Where it is wrong, or contains what is not supported; with file, line and column.
pub fn compile(
    file: &str,
    text: &str,
    defines: &Defines,
    load: &Loader<'_>,
) -> Result<ir::Program, Error> {
    let decls = parse::program(pre::tokens(file, text, defines, load)?)?;
    lower::program(file, &decls)
}
