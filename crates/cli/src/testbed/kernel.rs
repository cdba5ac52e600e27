// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel that a lab runs on: a User Mode Linux in virtual time, built once, or the running
//! one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cemark_testbed::{Lab, Record};
use clap::ValueEnum;

use crate::exit::{Failure, machine, note, user};

/// The test kernel, as `dataplane/linux/test/kernel.sh` names it.
const NAME: &str = "uml-hz1000";
/// Most real seconds that one point may take.
const MOST_SECONDS: &str = "3600";

/// Which kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kernel {
    /// User Mode Linux in virtual time: exact on any machine, needs no root. Built once.
    Uml,
    /// The running kernel, in network namespaces: needs root, the modules sch_cemark, sch_netem,
    /// ifb and tcp_dctcp, and a machine whose clock can be trusted.
    Host,
}

/// A kernel that is ready.
pub(super) struct Ready {
    kernel: Kernel,
    /// The folder `dataplane` of a checkout.
    sources: PathBuf,
}

impl Kernel {
    /// Promise of a run's digest, the end of a sentence.
    pub(super) fn repeats(self) -> &'static str {
        match self {
            Kernel::Uml => {
                "of simulated and measured points together. The simulated ones are the same on any \
                 machine; those named \u{201c}kernel\u{201d} were measured on a Linux kernel in \
                 virtual time, which takes random numbers (ports, hashes, sequence numbers) from \
                 the machine, so another run differs slightly and has another digest"
            }
            Kernel::Host => {
                "of simulated and measured points together. The simulated ones are the same on any \
                 machine; those named \u{201c}host\u{201d} were measured on this machine's own \
                 kernel and clock, so another run has another digest"
            }
        }
    }

    /// Builds what is missing, with progress on standard error, or says what is missing.
    pub(super) fn ready(self, quiet: bool) -> Result<Ready, Failure> {
        match self {
            Kernel::Uml => {
                alone()?;
                let sources = sources()?;
                let test = sources.join("linux/test");
                script(&test.join("kernel.sh"), "the test kernel", quiet)?;
                script(&test.join("module.sh"), "the qdisc", true)?;
                Ok(Ready {
                    kernel: self,
                    sources,
                })
            }
            Kernel::Host => {
                able()?;
                Ok(Ready {
                    kernel: self,
                    sources: PathBuf::new(),
                })
            }
        }
    }
}

/// The guest kernel starts this program again, and has no Python.
fn alone() -> Result<(), Failure> {
    if crate::program::is_alone() {
        return Ok(());
    }
    Err(user(
        "this command is part of a Python package, and the test kernel starts it without Python",
        "build the command: `cargo install --path crates/cli --features deploy` in a checkout; or \
                measure on the running kernel with --kernel host",
    ))
}

impl Ready {
    /// Runs a lab in a folder of its own, which is removed.
    pub(super) fn run(&self, lab: &Lab) -> Result<Record, Failure> {
        let scratch = Scratch::new().map_err(|e| machine(format!("a scratch folder: {e}")))?;
        let (plan, record) = (scratch.0.join("lab.json"), scratch.0.join("record.json"));
        let text = serde_json::to_vec(lab).map_err(machine)?;
        std::fs::write(&plan, text).map_err(|e| machine(format!("{}: {e}", plan.display())))?;
        let mut command = match self.kernel {
            Kernel::Uml => {
                let program = std::env::current_exe().map_err(machine)?;
                let mut command = Command::new(self.sources.join("linux/test/uml.sh"));
                command
                    .arg(NAME)
                    .arg(self.sources.join("testbed/guest.sh"))
                    .arg(format!("CEMARK={}", program.display()))
                    .arg(format!("LAB={}", scratch.0.display()))
                    .arg("NO_COLOR=1")
                    .env("SECONDS_MAX", MOST_SECONDS)
                    .env("CEMARK_MEM", "512M");
                command
            }
            Kernel::Host => {
                let mut command = crate::program::again()
                    .ok_or_else(|| machine("this program cannot be found to run it again"))?;
                command.args(["testbed", "agent"]).args([&plan, &record]);
                command
            }
        };
        let out = command
            .stdin(Stdio::null())
            .output()
            .map_err(|e| machine(format!("the kernel: {e}")))?;
        let text = std::fs::read(&record);
        match text {
            Ok(text) if out.status.success() => serde_json::from_slice(&text)
                .map_err(|e| machine(format!("what the kernel recorded: {e}"))),
            _ => Err(machine(format!(
                "the run in the kernel failed:\n{}{}",
                String::from_utf8_lossy(&out.stdout).trim_end(),
                String::from_utf8_lossy(&out.stderr).trim_end()
            ))),
        }
    }
}

/// A folder that is removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cemark-testbed-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The folder `dataplane` of the checkout that this is run in, or that `CEMARK_CHECKOUT` names.
fn sources() -> Result<PathBuf, Failure> {
    let named = std::env::var_os("CEMARK_CHECKOUT").map(PathBuf::from);
    let here = std::env::current_dir().unwrap_or_default();
    let above = here.ancestors().map(Path::to_path_buf);
    let mut all = named.into_iter().chain(above).map(|p| p.join("dataplane"));
    all.find(|p| p.join("linux/test/kernel.sh").is_file())
        .ok_or_else(|| {
            user(
                "the test kernel and the qdisc are built from the folder dataplane of a checkout, \
                 and there is none here",
                "run it inside a checkout of cemark, or set CEMARK_CHECKOUT to one",
            )
        })
}

/// Runs a script of the checkout for the test kernel.
fn script(path: &Path, what: &str, quiet: bool) -> Result<(), Failure> {
    let mut command = Command::new(path);
    command.arg(NAME).stdin(Stdio::null());
    if !quiet {
        // Its progress is a line on standard output, which is for answers here.
        command.stdout(std::io::stderr());
        let status = command
            .status()
            .map_err(|e| machine(format!("{}: {e}", path.display())))?;
        return match status.success() {
            true => Ok(()),
            false => Err(machine(format!("building {what} failed, as said above"))),
        };
    }
    let out = command
        .output()
        .map_err(|e| machine(format!("{}: {e}", path.display())))?;
    match out.status.success() {
        true => Ok(()),
        false => {
            note(&String::from_utf8_lossy(&out.stderr));
            Err(machine(format!(
                "building {what} failed; {} {NAME} shows how",
                path.display()
            )))
        }
    }
}

/// Refuses a running kernel that lacks something, with the commands that add it.
fn able() -> Result<(), Failure> {
    let mut missing = vec!["root: run it with sudo"];
    if rustix::process::geteuid().is_root() {
        missing = attempts();
        let _ = quietly("ip netns del cemark-try");
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::User(miette::miette!(
        help = "add it, or leave --kernel out: User Mode Linux needs nothing of this",
        "the running kernel lacks\n  {}",
        missing.join("\n  ")
    )))
}

/// Commands that a lab needs, in a namespace of their own, each with what the kernel lacks if it
/// refuses the command.
const TRIED: &str = "\
ip netns add cemark-try # network namespaces
ip -n cemark-try link add name lag type ifb # ifb: modprobe ifb numifbs=0
ip -n cemark-try link add name va type veth peer name vb # veth: modprobe veth
tc -n cemark-try qdisc add dev va root handle 1: stab overhead -14 \
cemark scheme tcn threshold 200us queues 2 # sch_cemark and its plugin for tc: see docs/linux.md
tc -n cemark-try qdisc add dev lag root handle 1: prio bands 3 # sch_prio: modprobe sch_prio
tc -n cemark-try qdisc add dev lag parent 1:1 netem delay 10us # sch_netem: modprobe sch_netem
tc -n cemark-try filter add dev lag parent 1: protocol ip prio 1 \
u32 match ip sport 1 0x000f flowid 1:1 # cls_u32: modprobe cls_u32
tc -n cemark-try qdisc add dev vb clsact # sch_ingress: modprobe sch_ingress
tc -n cemark-try filter add dev vb ingress matchall action mirred egress redirect dev lag \
# cls_matchall and act_mirred: modprobe cls_matchall act_mirred
";

/// Features that a lab needs and the kernel lacks. Trying their commands makes the kernel load the
/// modules that it has.
fn attempts() -> Vec<&'static str> {
    let tried = TRIED.lines().filter_map(|line| line.split_once(" # "));
    let lacks = tried.filter(|(command, _)| !quietly(command));
    lacks.map(|(_, what)| what).collect()
}

/// Whether a command succeeds; what it says is not shown.
fn quietly(line: &str) -> bool {
    let (program, words) = line.split_once(' ').unwrap_or((line, ""));
    let done = Command::new(program)
        .args(words.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    done.is_ok_and(|status| status.success())
}
