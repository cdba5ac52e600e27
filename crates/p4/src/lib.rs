// SPDX-License-Identifier: MIT OR Apache-2.0
//! A front end for the P4_16 that the programs in `dataplane/p4` contain, so that the source that
//! is handed out is what runs in the tests: lexer, preprocessor, parser, types and an interpreter.
//!
//! It reads nearly all of the language's grammar. What it can run is the subset in the table of
//! `dataplane/p4/README.md`; anything else is refused with file, line and column.
//!
//! ```
//! let error = cemark_p4::parse("a.p4", "header h { bit<8 x; }", &Default::default(), &|_| None);
//! assert_eq!(error.unwrap_err().to_string(), "a.p4:1:18: wants `>`, came `x`");
//! ```

mod arch;
#[allow(dead_code)] // the grammar is read whole, and not all of it is used
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
pub mod tofino;
pub mod traffic;
mod visit;

pub use error::{Error, Place};
pub use pre::{Defines, Loader};
pub use run::{Machine, Rounding};

/// How large a program is, once it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// Declarations, with those of included files.
    pub declarations: usize,
}

/// Parses a program without resolving its names.
///
/// # Errors
///
/// Where it is not in the grammar; with file, line and column.
pub fn parse(
    file: &str,
    text: &str,
    defines: &Defines,
    load: &Loader<'_>,
) -> Result<Parsed, Error> {
    let decls = parse::program(pre::tokens(file, text, defines, load)?)?;
    Ok(Parsed {
        declarations: decls.len(),
    })
}

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
