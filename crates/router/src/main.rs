// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program `cemark-edge`, which `cemark edge` hands over to.

use std::path::PathBuf;
use std::process::ExitCode;

use cemark_router::config;
use cemark_router::key::{End, Key};
use clap::{Parser, ValueEnum};

/// Runs one router of a DCIB pair: packets of hosts come out of a tun device and go to the other
/// router over UDP.
///
/// Each site runs one, `near` at one end and `far` at the other. Both serve both directions; the
/// words only tell the ends apart. docs/edge.md describes the file.
#[derive(Parser)]
#[command(name = "cemark-edge", version)]
struct Words {
    /// Which end of the pair this is.
    end: EndWord,
    /// File with addresses, key, prefixes and parameters.
    file: PathBuf,
    /// Prints counts from time to time and at the end.
    #[arg(long, value_name = "FORM")]
    stats: Option<FormWord>,
    /// Reads file and key, says what would be done, and ends.
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum EndWord {
    Near,
    Far,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormWord {
    /// A line of JSON each time.
    Json,
}

/// Exit code of a mistake in the command or its file.
const MISTAKE: u8 = 2;

fn main() -> ExitCode {
    let words = Words::parse();
    let end = match words.end {
        EndWord::Near => End::Near,
        EndWord::Far => End::Far,
    };
    let read = config::load(&words.file).and_then(|file| Key::load(&file.tunnel.key).map(|_| file));
    let file = match read {
        Ok(file) => file,
        Err(said) => {
            eprintln!("× {said}");
            return ExitCode::from(MISTAKE);
        }
    };
    if words.check {
        let mtu = file.settings(end).mtu;
        let t = &file.tunnel;
        println!(
            "{}: {} lanes from {} to {}",
            t.device, t.lanes, t.local, t.peer
        );
        println!(
            "{} bytes a packet at most, {} less than on the WAN",
            mtu,
            file.overhead()
        );
        println!(
            "{} by way of the tunnel, metric {}",
            t.routes.join(", "),
            t.metric
        );
        return ExitCode::SUCCESS;
    }
    match run(&file, end, words.stats) {
        Ok(()) => ExitCode::SUCCESS,
        Err(said) => {
            eprintln!("× {said}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_os = "linux")]
fn run(file: &config::File, end: End, form: Option<FormWord>) -> Result<(), String> {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use cemark_router::run::{Form, run};

    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    ctrlc::set_handler(move || told.store(true, Ordering::Relaxed)).map_err(|e| e.to_string())?;
    let form = form.map(|FormWord::Json| Form::Json);
    run(file, end, form, &stop)
}

#[cfg(not(target_os = "linux"))]
fn run(_: &config::File, _: End, _: Option<FormWord>) -> Result<(), String> {
    Err("the routers need Linux: they use its tun devices".to_owned())
}
