// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark check` of every scenario, changed at random: it answers or says what is wrong, in
//! bounded time and memory.
//!
//! The whole command runs: options, reading, expanding, warnings, costs, printing.
//! `CEMARK_FUZZ_SECONDS` sets for how long (`cargo xtask proof check`: ten minutes),
//! `CEMARK_FUZZ_SEED` where it begins, and `CEMARK_FUZZ_CASE` runs one case again.

#[path = "../../scenario/tests/mutate/mod.rs"]
mod mutate;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cemark_wire::hash::{GOLDEN, SplitMix64};
use mutate::{Change, NASTY, apply};

/// Most seconds that a case may take, on a machine with other work. The slowest take less than
/// a second.
const LIMIT: Duration = Duration::from_secs(20);
/// Address space of one command, in KiB.
const MEMORY: u64 = 4 << 20;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|e| panic!("{name} = {text}: {e}")),
    )
}

/// Every scenario of the repository, including test files that the reader refuses.
fn corpus() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for folder in [
        "scenarios",
        "scenarios/bench",
        "figures",
        "crates/scenario/tests/corpus/good",
        "crates/scenario/tests/corpus/bad",
    ] {
        let before = all.len();
        for entry in fs::read_dir(root.join(folder)).expect(folder) {
            let path = entry.expect("an entry").path();
            let fitted = path.ends_with("calibration.toml");
            if path.extension().is_some_and(|e| e == "toml") && !fitted {
                let text = fs::read_to_string(&path).expect("a scenario");
                // The checkout may itself be in a folder called `figures`.
                let file = path.file_name().expect("a file").display();
                let name = format!("./{folder}/{file}");
                if folder == "figures" {
                    all.push((format!("{name}, its scenario"), scenario_of(&text)));
                }
                all.push((name, text));
            }
        }
        assert!(all.len() > before, "{folder} is empty");
    }
    all.sort();
    all
}

/// The scenario in the file of a figure: without rows, variants and budgets, and with a value in
/// place of each fitted one.
fn scenario_of(figure: &str) -> String {
    let mut of_figure = false;
    let mut lines = Vec::new();
    for line in figure.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_start_matches('[');
            let words = ["row", "variant", "quick", "full", "why"];
            of_figure = words.iter().any(|word| section.starts_with(word));
        }
        if !of_figure {
            let fitted = line.replace("\"$open_window\"", "100");
            lines.push(fitted.replace("$shallow_buffer", "700KB"));
        }
    }
    lines.join("\n")
}

/// The random choices of one case: they depend on its number only.
struct Dice(SplitMix64);

impl Dice {
    fn new(seed: u64, case: u64) -> Self {
        let start = seed.wrapping_mul(GOLDEN) ^ case.wrapping_mul(0xd1b5_4a32_d192_ed03);
        Dice(SplitMix64::new(start))
    }

    fn next(&mut self) -> usize {
        (self.0.next_u64() >> 1) as usize
    }

    fn below(&mut self, n: usize) -> usize {
        self.next() % n
    }

    fn change(&mut self) -> Change {
        let (a, b, c) = (self.next(), self.next(), self.next());
        match self.below(20) {
            0 => Change::Cut(a),
            1 => Change::Copy(a, b),
            2..=5 => Change::Value(a, b),
            6..=15 => Change::Number(a, b),
            16 | 17 => Change::Borrow(a, b, c),
            18 => Change::Byte(a, b, c as u8),
            _ => Change::Truncate(a),
        }
    }

    /// A file of the corpus, rarely one that the reader refuses.
    fn base<'a>(&mut self, all: &'a [(String, String)]) -> &'a str {
        loop {
            let (name, text) = &all[self.below(all.len())];
            let refused = name.contains("/bad/")
                || (name.contains("/figures/") && !name.ends_with("its scenario"));
            if !refused || self.below(8) == 0 {
                return text;
            }
        }
    }

    /// An option of the command: mostly none.
    fn option(&mut self) -> Vec<String> {
        const PATHS: &[&str] = &[
            "workload.load",
            "workload.flows",
            "workload.sizes",
            "switch.buffer",
            "topology.hosts",
            "topology.rate",
            "transport.control",
            "scheme.ECN#.pst_target",
            "scheme.ECN#.",
            "measure.queue-interval",
            "max-time",
            "seeds",
            "title",
            "rtt",
            "",
            ".",
            "a.b.c.d",
        ];
        let value = NASTY[self.below(NASTY.len())].trim_matches('"');
        match self.below(12) {
            0 => vec!["--seed".to_owned(), value.to_owned()],
            1 => vec!["--seeds".to_owned(), value.to_owned()],
            2..=4 => {
                let path = PATHS[self.below(PATHS.len())];
                let more = ["", ",", ",0.5", ",10us"][self.below(4)];
                vec!["--set".to_owned(), format!("{path}={value}{more}")]
            }
            5 | 6 => vec!["--format".to_owned(), "json".to_owned()],
            _ => Vec::new(),
        }
    }
}

/// A folder for the files of one worker. It is kept if something went wrong.
struct Bench {
    folder: PathBuf,
    keep: bool,
    /// Duration of the slowest case.
    slowest: Duration,
}

impl Bench {
    fn new(worker: usize) -> Self {
        let name = format!("cemark-fuzz-{}-{worker}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a temporary directory");
        Bench {
            folder,
            keep: false,
            slowest: Duration::ZERO,
        }
    }

    /// Runs `cemark check` on a text. `Err` says what it did wrong.
    fn check(&mut self, text: &str, options: &[String]) -> Result<i32, String> {
        let (scenario, said) = (self.folder.join("s.toml"), self.folder.join("said.txt"));
        fs::write(&scenario, text).expect("a file");
        let out = File::create(&said).expect("a file");
        // If the shell can limit it, memory is bounded too.
        let mut line = Command::new("sh");
        line.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh"])
            .arg(env!("CARGO_BIN_EXE_cemark"))
            .arg("check")
            .arg(&scenario)
            .args(options)
            .stdout(out.try_clone().expect("a file"))
            .stderr(out);
        let wrong = match finish(line) {
            Some((status, took)) => {
                self.slowest = self.slowest.max(took);
                match status.code() {
                    Some(code @ (0 | 2)) => return Ok(code),
                    _ => status.to_string(),
                }
            }
            None => format!("not finished after {} s", LIMIT.as_secs()),
        };
        self.keep = true;
        let said = String::from_utf8_lossy(&fs::read(&said).unwrap_or_default()).into_owned();
        let head: String = said.lines().take(12).map(|l| format!("  {l}\n")).collect();
        let (file, options) = (scenario.display(), options.join(" "));
        Err(format!("{wrong}: cemark check {file} {options}\n{head}"))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Waits for a command, and kills it if it takes too long.
#[allow(clippy::disallowed_methods)] // a test of how long something takes
fn finish(mut line: Command) -> Option<(ExitStatus, Duration)> {
    let began = Instant::now();
    let mut child = line.spawn().expect("a shell");
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some((status, began.elapsed()));
        }
        if began.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

#[test]
fn every_scenario_as_it_is() {
    let mut bench = Bench::new(1_000);
    let mut accepted = 0;
    for (name, text) in corpus() {
        let code = bench
            .check(&text, &[])
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let refused = name.contains("/bad/") || name.contains("/figures/");
        // Some figures define their workloads only in the variants.
        if !name.ends_with("its scenario") {
            assert_eq!(code, if refused { 2 } else { 0 }, "{name}");
        }
        accepted += u32::from(code == 0);
    }
    assert!(accepted > 40, "{accepted}");
}

#[test]
#[allow(clippy::disallowed_methods)] // runs for a time that is asked for
fn changed_scenarios() {
    let seconds = number("CEMARK_FUZZ_SECONDS").unwrap_or(2);
    let seed = number("CEMARK_FUZZ_SEED").unwrap_or(1);
    let one = number("CEMARK_FUZZ_CASE");
    let (all, until) = (corpus(), Instant::now() + Duration::from_secs(seconds));
    let (next, accepted, wrong) = (
        AtomicU64::new(one.unwrap_or(0)),
        AtomicU64::new(0),
        Mutex::new(None),
    );
    let slowest = Mutex::new(Duration::ZERO);
    let workers = if one.is_some() {
        1
    } else {
        std::thread::available_parallelism().map_or(1, usize::from)
    };
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (all, next, accepted) = (&all, &next, &accepted);
            let (wrong, slowest) = (&wrong, &slowest);
            scope.spawn(move || {
                let mut bench = Bench::new(worker);
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    let mut dice = Dice::new(seed, case);
                    let base = dice.base(all);
                    let changes: Vec<Change> =
                        (0..1 + dice.below(3)).map(|_| dice.change()).collect();
                    match bench.check(&apply(base, &changes, all), &dice.option()) {
                        Ok(code) => accepted.fetch_add(u64::from(code == 0), Ordering::Relaxed),
                        Err(why) => {
                            let again = format!("CEMARK_FUZZ_SEED={seed} CEMARK_FUZZ_CASE={case}");
                            wrong
                                .lock()
                                .unwrap()
                                .get_or_insert(format!("{again}: {why}"));
                            return;
                        }
                    };
                    let mut longest = slowest.lock().unwrap();
                    *longest = bench.slowest.max(*longest);
                    drop(longest);
                    if one.is_some() || Instant::now() > until || wrong.lock().unwrap().is_some() {
                        return;
                    }
                }
            });
        }
    });
    let slowest = slowest.into_inner().unwrap();
    if let Some(why) = wrong.into_inner().unwrap() {
        panic!("{why}");
    }
    let (cases, good) = (next.into_inner(), accepted.into_inner());
    println!(
        "seed {seed}: {cases} changed scenarios in {seconds} s, {good} accepted, the others \
         refused with exit code 2; the slowest took {slowest:.1?}"
    );
    // If all were refused, the rest of the command would not have been tested.
    assert!(
        one.is_some() || (good * 20 > cases && good < cases),
        "{good} of {cases} accepted"
    );
}
