// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares `ecn_sharp.p4` in DPDK's software switch with the Rust model and with the interpreter,
//! packet by packet and byte by byte; then puts single faults into the `.spec`, each of which has
//! to be noticed.
//!
//! `cargo run -p cemark-p4 --example swx -- TRACE FOLDER PACKETS FAULTS`: TRACE is the program that
//! `make -C dataplane/p4/swx` makes, FOLDER is for its files, one of FAULTS instructions is changed
//! (1: every one). `spec FILE NAME=VALUE...` writes the program with other constants.
//! `dataplane/p4/test/run.sh` does all this.

mod faults;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use cemark_p4::control::Interval;
use cemark_p4::testbed::{Came, Testbed};
use cemark_p4::traffic::{Drawn, Model, TARGETS, Traffic, set_targets, third};
use cemark_p4::{Defines, Rounding, sources, spec};

/// Seeds and intervals in nanoseconds.
const RUNS: [(u64, u32); 4] = [(1, 200_000), (2, 200_000), (3, 24_000), (4, 1_000_000)];

type Result<T, E = String> = std::result::Result<T, E>;

/// The harness and where its files are.
struct Harness {
    trace: PathBuf,
    folder: PathBuf,
}

/// Packets in the form of the harness, and what has to come out.
#[derive(Default)]
struct Packets {
    sent: Vec<u8>,
    wanted: Vec<u8>,
    marks: [u64; 4],
    nanos: u64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match &args[..] {
        [word, path, defines @ ..] if word == "spec" => specified(Path::new(path), defines),
        [trace, folder, packets, faults] => match (packets.parse(), faults.parse::<usize>()) {
            (Ok(packets), Ok(faults)) => {
                let harness = Harness {
                    trace: trace.into(),
                    folder: folder.into(),
                };
                all(&harness, packets, faults.max(1))
            }
            _ => return usage("PACKETS and FAULTS are whole numbers"),
        },
        _ => return usage("write swx TRACE FOLDER PACKETS FAULTS, or swx spec FILE NAME=VALUE..."),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn usage(what: &str) -> ExitCode {
    eprintln!("{what}");
    ExitCode::from(2)
}

/// Writes the `.spec` of other constants to a file.
fn specified(path: &Path, defines: &[String]) -> Result<()> {
    let defines = defines.iter().filter_map(|d| d.split_once('='));
    let defines = defines.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let program = sources::program("ecn_sharp.p4", &defines.collect());
    let text = emit(&program.map_err(|e| e.to_string())?)?;
    write(path, text.as_bytes())
}

fn all(harness: &Harness, packets: usize, every: usize) -> Result<()> {
    for (seed, interval) in RUNS {
        let program = program(interval)?;
        let made = made(&program, seed, interval, packets / RUNS.len())?;
        let text = emit(&program)?;
        let said = harness.run(&text, &made.sent, Some(entry()?))?;
        compare(&made.wanted, &harness.came()?).map_err(|e| format!("seed {seed}: {e}"))?;
        let [_, instant, persistent, _] = made.marks;
        println!(
            "seed {seed}, pst_interval {} us: model = interpreter = SWX, none differing: {} \
             packets, {instant} marks of the instantaneous condition, {persistent} of the \
             persistent one; {:.0} s of the switch's time, {} wraps of 2^32 ns",
            interval / 1_000,
            packets / RUNS.len(),
            made.nanos as f64 / 1e9,
            made.nanos >> 32,
        );
        println!("    {}", said.trim());
    }
    others(harness, packets / RUNS.len())?;
    let program = program(200_000)?;
    let made = made(&program, 1, 200_000, 100_000)?;
    faults::all(harness, &emit(&program)?, &made, every)
}

/// The entry of the third queue in the words of SWX.
fn entry() -> Result<String> {
    let key = third().ok_or("the queue is not of the switch")?;
    let (ins, pst) = (TARGETS.ins, TARGETS.pst);
    Ok(format!(
        "match {key:#x} action set_targets ins {ins} pst {pst}\n"
    ))
}

type Program = std::sync::Arc<cemark_p4::ir::Program>;

fn program(interval: u32) -> Result<Program> {
    let defines = Interval::new(interval, Rounding::Nearest).defines();
    sources::program("ecn_sharp.p4", &defines).map_err(|e| e.to_string())
}

fn emit(program: &Program) -> Result<String> {
    spec::emit(program, Rounding::Nearest).map_err(|e| e.to_string())
}

/// Random packets, judged by the model and by the interpreter, which have to agree.
fn made(program: &Program, seed: u64, interval: u32, packets: usize) -> Result<Packets> {
    let mut switch = Testbed::new(program.clone());
    set_targets(&mut switch);
    let mut model = Model::new(interval.into());
    let judge = |packet: &Drawn| Some(model.judge(packet));
    through(program, switch, seed, packets, judge)
}

/// Random packets through the interpreter, and a model where there is one.
fn through(
    program: &Program,
    mut switch: Testbed,
    seed: u64,
    packets: usize,
    mut judge: impl FnMut(&Drawn) -> Option<Came>,
) -> Result<Packets> {
    let shim = spec::given(program);
    let mut made = Packets::default();
    let mut traffic = Traffic::new(seed);
    for (number, packet) in traffic.by_ref().take(packets).enumerate() {
        let through = switch.through(&packet.passage)?;
        let came = through.came;
        if let Some(want) = judge(&packet).filter(|want| *want != came) {
            return Err(format!(
                "packet {number}: the interpreter says {came:?}, not {want:?}"
            ));
        }
        let mut given = Vec::new();
        for (slot, bytes) in &shim {
            let value = switch.machine().get(*slot).to_be_bytes();
            given.extend_from_slice(&value[value.len() - *bytes as usize..]);
        }
        put(&mut made.sent, &[&given, &[0], &through.seen]);
        put(&mut made.wanted, &[&given, &[came.why], &through.left]);
        made.marks[usize::from(came.why)] += 1;
    }
    made.nanos = traffic.now();
    Ok(made)
}

/// The other programs, which have no model of their arithmetic: the interpreter and SWX.
fn others(harness: &Harness, packets: usize) -> Result<()> {
    for name in ["tcn.p4", "threshold.p4", "cedm.p4"] {
        let program = sources::program(name, &Defines::new()).map_err(|e| e.to_string())?;
        let made = through(&program, Testbed::new(program.clone()), 5, packets, |_| {
            None
        })?;
        harness.run(&emit(&program)?, &made.sent, None)?;
        compare(&made.wanted, &harness.came()?).map_err(|e| format!("{name}: {e}"))?;
        let [pass, marks @ ..] = made.marks;
        let marks: u64 = marks.iter().sum();
        if pass == 0 || marks == 0 {
            return Err(format!("{name}: {pass} packets pass, {marks} are marked"));
        }
        println!("{name}: interpreter = SWX, none differing: {packets} packets, {marks} marks");
    }
    Ok(())
}

/// A packet in the form of the harness: its length, the lower byte first, and its bytes.
fn put(to: &mut Vec<u8>, parts: &[&[u8]]) {
    let bytes = parts.concat();
    let length = u16::try_from(bytes.len()).expect("a short packet");
    to.extend(length.to_le_bytes());
    to.extend(bytes);
}

/// The first packet that is not as it has to be.
fn compare(wanted: &[u8], came: &[u8]) -> Result<()> {
    if wanted == came {
        return Ok(());
    }
    let (mut wanted, mut came) = (wanted, came);
    for number in 0.. {
        let (want, left) = split(wanted);
        let (have, rest) = split(came);
        if want != have {
            return Err(format!(
                "packet {number}: SWX sends {have:02x?}, not {want:02x?}"
            ));
        }
        (wanted, came) = (left, rest);
    }
    unreachable!("they differ somewhere")
}

fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes {
        [low, high, rest @ ..] => rest.split_at(usize::from(u16::from_le_bytes([*low, *high]))),
        _ => (&[], &[]),
    }
}

impl Harness {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs packets through a program with entries of the table `targets`; what the harness says of
    /// it.
    fn run(&self, text: &str, sent: &[u8], targets: Option<String>) -> Result<String> {
        write(&self.file("sent"), sent)?;
        if let Some(entries) = &targets {
            write(&self.file("targets"), entries.as_bytes())?;
        }
        self.again(text, targets.is_some())
    }

    /// Runs the packets of the last run through another program.
    fn again(&self, text: &str, targets: bool) -> Result<String> {
        write(&self.file("program.spec"), text.as_bytes())?;
        let mut command = Command::new(&self.trace);
        command.args(["program.spec", "sent", "came"].map(|name| self.file(name)));
        if targets {
            command.arg("targets").arg(self.file("targets"));
        }
        let done = command.output();
        let done = done.map_err(|e| format!("{}: {e}", self.trace.display()))?;
        match done.status.success() {
            true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    }

    fn came(&self) -> Result<Vec<u8>> {
        let path = self.file("came");
        std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}
