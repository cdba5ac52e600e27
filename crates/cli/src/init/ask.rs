// SPDX-License-Identifier: MIT OR Apache-2.0
//! The questions of `cemark init` on a terminal.

use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Input, Select};

use super::answers::Kind;
use crate::exit::Failure;
use crate::terminal::plain;

/// Asks on the terminal.
pub(super) struct Questions(Box<dyn Theme>);

impl Questions {
    pub(super) fn new() -> Self {
        Questions(match plain() {
            true => Box::new(SimpleTheme),
            false => Box::new(ColorfulTheme::default()),
        })
    }

    /// A question with a text for an answer, repeated until `read` accepts it.
    pub(super) fn text<T>(
        &self,
        question: &str,
        usual: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        let answer: String = Input::with_theme(&*self.0)
            .with_prompt(question)
            .default(usual.to_owned())
            .validate_with(|text: &String| read(text).map(|_| ()))
            .interact_text()
            .map_err(stopped)?;
        read(&answer).map_err(|why| Failure::User(miette::miette!("{answer}: {why}")))
    }

    /// Which kind of fabric.
    pub(super) fn kind(&self) -> Result<Kind, Failure> {
        let place = Select::with_theme(&*self.0)
            .with_prompt("Which fabric?")
            .items(Kind::ALL.map(Kind::words))
            .default(0)
            .interact()
            .map_err(stopped)?;
        Ok(Kind::ALL[place])
    }
}

/// Ctrl-C at a question, or a terminal that went away.
fn stopped(e: dialoguer::Error) -> Failure {
    let dialoguer::Error::IO(e) = e;
    match e.kind() {
        std::io::ErrorKind::Interrupted => {
            Failure::Interrupted("interrupted: nothing was written".to_owned())
        }
        _ => Failure::Machine(miette::miette!(
            help = "give the answers as options (cemark init --help), or --yes for the defaults",
            "cannot ask on this terminal: {e}"
        )),
    }
}
