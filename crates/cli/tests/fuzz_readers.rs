// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every reader of files, with files that are changed at random: the command answers or says what
//! is wrong, in bounded time and memory, and of a document of our own it gives the answer that the
//! whole document has, or none.
//!
//! `CEMARK_FUZZ_SECONDS` sets for how long (`cargo xtask proof attack`: ten minutes),
//! `CEMARK_FUZZ_SEED` where it begins, `CEMARK_FUZZ_CASE` runs one case again, and
//! `CEMARK_FUZZ_READER` names the only reader.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{cemark, folder, line};
use cemark_wire::hash::{GOLDEN, SplitMix64};

/// Most seconds that a case may take, on a machine with other work.
const LIMIT: Duration = Duration::from_secs(30);
/// Address space of one command, in KiB.
const MEMORY: u64 = 4 << 20;

const RUN: &str = include_str!("data/attacked.toml");

/// A scenario that reads a file beside it.
const READS: &str = "max-time = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 8\n\
                     [[scheme]]\nmarker = \"tcn\"\n";
const CSV: &str = "at_us,src,dst,size,class\n0,0,1,1000,\n2.5,1,2,20KB,0\n1ms,2,3,7B,\n";
const HPCC: &str = "6 2 5\n0 1\n0 1 25Gbps 0.002ms 0\n0 2 25Gbps 1us 0\n0 3 25Gbps 1us 0\n\
                    1 4 25Gbps 1us 0\n1 5 25Gbps 1us 0\n";
const HPCC_FLOWS: &str = "3\n2 4 3 100 20000 2\n3 4 3 100 30000 2.00001\n5 2 4 100 1000 2.5\n";
const HPCC_CONFIG: &str = "CC_MODE 1\nKMAX_MAP 1 25000000000 400\nKMIN_MAP 1 25000000000 100\n\
                           PMAX_MAP 1 25000000000 0.2\nBUFFER_SIZE 8\nPACKET_PAYLOAD_SIZE 1000\n";
const HTSIM: &str = "Nodes 24\nTiers 3\nPodsize 8\n\nTier 0\nDownlink_speed_Gbps 100\n\
                     Radix_Down 4\nRadix_Up 3\nDownlink_Latency_ns 1000\n\nTier 1\n\
                     Downlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 5\n\
                     Downlink_Latency_ns 1000\n\nTier 2\nDownlink_speed_Gbps 400\n\
                     Radix_Down 3\nDownlink_Latency_ns 7000\n";
const HTSIM_FLOWS: &str = "Nodes 8\nConnections 2\n0->3 id 1 start 50 size 20000\n\
                           1->2 start 57 size 1\n";
const MONITOR: &str = "<?xml version=\"1.0\" ?>\n<FlowMonitor>\n<FlowStats>\n\
                       <Flow flowId=\"1\" timeFirstTxPacket=\"+2e+09ns\" \
                       timeLastRxPacket=\"+2.00004e+09ns\" txBytes=\"20560\" txPackets=\"14\" \
                       rxPackets=\"14\">\n</Flow>\n</FlowStats>\n</FlowMonitor>\n";
const FCT: &str = "0b000001 0b000101 10000 100 20000 2000000000 40000 30000\n";
const SIZES: &str = "# bytes share\n1000 0.1\n20000 0.5\n1000000 1\n";
const RTTS: &str = "rtt_us\n80\n95.5\n240\n";
const CONNECTIONS: &str = "State Recv-Q Send-Q Local Peer\n\
                           ESTAB 0 0 10.0.0.1:22 10.0.0.2:5000\n\
                           \t cubic rtt:0.5/0.2 minrtt:0.04\n\
                           ESTAB 0 0 [::1]:22 [::1]:5001\n\
                           \t dctcp rtt:0.1/0.02 minrtt:0.08\n";
const HISTOGRAM: &str = "# TYPE rtt_seconds histogram\nrtt_seconds_bucket{le=\"0.00002\"} 0\n\
                         rtt_seconds_bucket{le=\"0.00004\"} 90\nrtt_seconds_bucket{le=\"+Inf\"} \
                         100\n";
const BUCKETS: &str = "le,count\n0.0001,10\n0.0005,90\n+Inf,100\n";

/// A reader: its name, the file that is changed, and the command that reads it.
struct Reader {
    name: &'static str,
    file: PathBuf,
    /// Whether its bytes have a checksum: then no other byte is used.
    ours: bool,
    command: Vec<String>,
    /// The answer about the whole file.
    answer: Vec<u8>,
    whole: Vec<u8>,
}

impl Reader {
    /// The file is below `dir`, where the command runs.
    fn new(name: &'static str, dir: &Path, file: &str, ours: bool, command: &str) -> Reader {
        let command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let o = cemark(dir, &words);
        assert_eq!(o.status.code(), Some(0), "{name}: {}", line(&o.stderr));
        let file = dir.join(file);
        Reader {
            name,
            whole: fs::read(&file).expect(name),
            file,
            ours,
            command,
            answer: o.stdout,
        }
    }
}

fn scenario(more: &str) -> String {
    format!("{READS}{more}")
}

/// The files of all readers, and the readers, in a folder of the first worker.
fn readers() -> (PathBuf, Vec<Reader>) {
    let list = |file: &str| {
        scenario(&format!(
            "[[workload]]\nkind = \"list\"\nfile = \"{file}\"\n"
        ))
    };
    let poisson = |more: &str| {
        scenario(&format!(
            "[[workload]]\nkind = \"poisson\"\nload = 0.3\nflows = 20\n{more}"
        ))
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let texts = [
        ("s.toml", RUN.to_owned()),
        ("list-parquet.toml", list("f.parquet")),
        ("list-csv.toml", list("f.csv")),
        ("list-hpcc.toml", list("flow.txt")),
        ("list-htsim.toml", list("f.cm")),
        ("sizes.toml", poisson("sizes = \"sizes.txt\"\n")),
        (
            "rtts.toml",
            poisson("sizes = \"web-search\"\n[rtt]\nmodel = \"samples\"\nfile = \"rtts.csv\"\n"),
        ),
        (
            "buckets.toml",
            poisson(
                "sizes = \"web-search\"\n[rtt]\nmodel = \"samples\"\nfile = \"buckets.csv\"\n\
                 unit = \"s\"\n",
            ),
        ),
        ("f.csv", CSV.to_owned()),
        ("topology.txt", HPCC.to_owned()),
        ("flow.txt", "1\n0 1 3 100 20000 2\n".to_owned()),
        ("flows.txt", HPCC_FLOWS.to_owned()),
        ("config.txt", HPCC_CONFIG.to_owned()),
        ("t.topo", HTSIM.to_owned()),
        ("f.cm", HTSIM_FLOWS.to_owned()),
        ("monitor.xml", MONITOR.to_owned()),
        ("fct.txt", FCT.to_owned()),
        ("sizes.txt", SIZES.to_owned()),
        ("rtts.csv", RTTS.to_owned()),
        ("buckets.csv", BUCKETS.to_owned()),
        ("ss.txt", CONNECTIONS.to_owned()),
        ("rtts.prom", HISTOGRAM.to_owned()),
    ];
    let texts: Vec<(&str, &str)> = texts.iter().map(|(n, t)| (*n, t.as_str())).collect();
    let dir = folder("fuzz-readers-0", &texts);
    let parquet = include_bytes!("data/flows.parquet");
    fs::write(dir.join("f.parquet"), parquet).expect("a file");
    fs::copy(root.join("dataplane/bpf/codel.o"), dir.join("m.o")).expect("an object");
    for entry in fs::read_dir(root.join("dataplane/p4")).expect("programs") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let name = path.file_name().expect("a name");
            fs::copy(&path, dir.join(name)).expect("a program");
        }
    }
    for entry in fs::read_dir(root.join("crates/platform/tests/clean")).expect("configurations") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        fs::copy(&path, dir.join(name)).expect("a configuration");
    }
    let done = |words: &[&str]| {
        let o = cemark(&dir, words);
        assert_eq!(o.status.code(), Some(0), "{words:?}: {}", line(&o.stderr));
    };
    done(&["run", "s.toml", "--seeds", "1", "--out", "r", "--quiet"]);
    done(&["figure", "mqecn-numbers", "--out", "runs", "--quiet"]);
    let points = fs::read_dir(dir.join("r/points")).expect("points");
    let mut points: Vec<String> = points
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    points.sort();
    let point = format!("r/points/{}", points[0]);
    let plot = "plot r --only comparison --format csv";
    let page = "figure --paper mqecn --from runs --out pages";
    let all = [
        ("scenario", "s.toml", false, "check s.toml"),
        (
            "list in Parquet",
            "f.parquet",
            false,
            "check list-parquet.toml",
        ),
        ("list in CSV", "f.csv", false, "check list-csv.toml"),
        ("list of HPCC", "flow.txt", false, "check list-hpcc.toml"),
        ("list of htsim", "f.cm", false, "check list-htsim.toml"),
        ("sizes", "sizes.txt", false, "check sizes.toml"),
        ("RTTs", "rtts.csv", false, "check rtts.toml"),
        (
            "buckets of RTTs",
            "buckets.csv",
            false,
            "check buckets.toml",
        ),
        (
            "topology of HPCC",
            "topology.txt",
            false,
            "import topology.txt flows.txt config.txt --out i.toml --force",
        ),
        (
            "configuration of HPCC",
            "config.txt",
            false,
            "import topology.txt flows.txt config.txt --out i.toml --force",
        ),
        (
            "topology of htsim",
            "t.topo",
            false,
            "import t.topo f.cm --out h.toml --force",
        ),
        ("FlowMonitor", "monitor.xml", false, "compare r monitor.xml"),
        ("fct.txt", "fct.txt", false, "compare r fct.txt"),
        ("manifest", "r/manifest.json", true, plot),
        ("summary", "r/summary.json", true, plot),
        ("point", &point, true, plot),
        ("rows", "runs/mqecn-numbers-quick/rows.json", true, page),
        ("P4", "tcn.p4", false, "p4 spec tcn.p4"),
        ("SONiC", "sonic.json", false, "doctor sonic.json"),
        ("patch of SONiC", "patch.json", false, "doctor patch.json"),
        (
            "SONiC, simulated",
            "sonic.json",
            false,
            "check s.toml --switch sonic.json",
        ),
        (
            "SONiC, advised",
            "sonic.json",
            false,
            "advise --rules --rate 25G --rtt 20us --class a:dcqcn:26 --class b:dctcp \
             --today sonic.json",
        ),
        (
            "connections of ss",
            "ss.txt",
            false,
            "advise --rules --rate 25G --rtt ss.txt",
        ),
        (
            "RTTs of Prometheus",
            "rtts.prom",
            false,
            "advise --rules --rate 25G --rtt rtts.prom",
        ),
        ("NVUE", "nvue.json", false, "doctor nvue.json"),
        ("commands of NVUE", "nvue.txt", false, "doctor nvue.txt"),
        ("qdiscs", "tc.json", false, "doctor tc.json"),
        ("EOS", "eos.txt", false, "doctor eos.txt"),
        ("NX-OS", "nxos.txt", false, "doctor nxos.txt"),
        (
            "OpenConfig",
            "openconfig.json",
            false,
            "doctor openconfig.json",
        ),
        (
            "BPF object",
            "m.o",
            false,
            "run s.toml --marker bpf:m.o --seeds 1 --set workload.load=0.3 --set workload.flows=5 \
             --fresh --quiet --out b",
        ),
    ];
    let only = std::env::var("CEMARK_FUZZ_READER").unwrap_or_default();
    let readers = all
        .iter()
        .filter(|(name, ..)| only.is_empty() || *name == only)
        .map(|&(name, file, ours, command)| Reader::new(name, &dir, file, ours, command));
    let readers = readers.collect();
    (dir, readers)
}

/// Files and readers in a folder of another worker.
fn copied(dir: &Path, readers: &[Reader], worker: usize) -> (PathBuf, Vec<Reader>) {
    let own = folder(&format!("fuzz-readers-{worker}"), &[]);
    copy(dir, &own);
    let of = |reader: &Reader| {
        let file = reader.file.strip_prefix(dir).expect("a file in the folder");
        Reader {
            name: reader.name,
            file: own.join(file),
            ours: reader.ours,
            command: reader.command.clone(),
            answer: reader.answer.clone(),
            whole: reader.whole.clone(),
        }
    };
    let readers = readers.iter().map(of).collect();
    (own, readers)
}

/// Copies what a folder holds into another one.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            fs::create_dir_all(&to).expect("a folder");
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("a file");
        }
    }
}

/// The random choices of one case: they depend on its number only.
struct Dice(SplitMix64);

/// Bytes that parsers stumble over: lengths in several encodings, ends of texts, numbers.
const NASTY: &[&[u8]] = &[
    b"\x00",
    b"\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x80\xa0\xcf\xc8\xe0\x05",
    b"\xfc\xff\xff\xff\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\n",
    b"\"",
    b"-1",
    b"0",
    b"1e308",
    b"18446744073709551615",
    b"18446744073709551616",
    b"4294967296",
    b"0.0000000000000000001",
    b"nan",
    b"inf",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
    b"\xe2\x80\xae",
];

impl Dice {
    fn new(seed: u64, case: u64) -> Self {
        let start = seed.wrapping_mul(GOLDEN) ^ case.wrapping_mul(0xd1b5_4a32_d192_ed03);
        Dice(SplitMix64::new(start))
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.0.next_u64() >> 1) as usize) % n.max(1)
    }

    /// Changes bytes, of texts mostly whole numbers.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        let nasty = NASTY[self.below(NASTY.len())];
        match self.below(10) {
            0..=2 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            3 if at < bytes.len() => bytes[at] = self.below(256) as u8,
            4 => bytes.truncate(at),
            5 => {
                let end = bytes.len().min(at + 1 + self.below(64));
                let part = bytes[at..end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, part);
            }
            6 => {
                let end = bytes.len().min(at + 1 + self.below(16));
                bytes.drain(at..end);
            }
            7 => {
                let end = bytes.len().min(at + nasty.len());
                bytes.splice(at..end, nasty.iter().copied());
            }
            _ => {
                // A number of a text, or else a byte.
                let is_digit = |b: &u8| b.is_ascii_digit();
                let start = bytes[at..].iter().position(is_digit).map_or(at, |n| at + n);
                let length = bytes[start..].iter().take_while(|b| is_digit(b)).count();
                let end = bytes.len().min(start + length.max(1));
                bytes.splice(start..end, nasty.iter().copied());
            }
        }
    }
}

/// Runs a reader's command on other bytes. `Err` says what it did wrong.
fn judge(dir: &Path, reader: &Reader, bytes: &[u8]) -> Result<bool, String> {
    fs::write(&reader.file, bytes).expect("a file");
    let (out, said) = (dir.join("out.txt"), dir.join("said.txt"));
    let mut line = Command::new("sh");
    line.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh"])
        .arg(env!("CARGO_BIN_EXE_cemark"))
        .args(&reader.command)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(File::create(&out).expect("a file"))
        .stderr(File::create(&said).expect("a file"));
    let code = finish(line);
    let answer = fs::read(&out).expect("an answer");
    let wrong = match code {
        None => format!("not finished after {} s", LIMIT.as_secs()),
        Some(Some(0)) if reader.ours && (bytes != reader.whole && answer != reader.answer) => {
            "another answer than that of the whole document".to_owned()
        }
        Some(Some(code @ (0 | 2))) => return Ok(code == 0),
        // A configuration with findings.
        Some(Some(1)) if reader.command[0] == "doctor" && !answer.is_empty() => return Ok(true),
        // A marker that runs and breaks is the user's, one that cannot be mapped the machine's.
        Some(code) => format!("ends with {code:?}"),
    };
    let said = String::from_utf8_lossy(&fs::read(&said).unwrap_or_default()).into_owned();
    let head: String = said.lines().take(12).map(|l| format!("  {l}\n")).collect();
    Err(format!(
        "{}: {wrong}: {}\n{head}",
        reader.name,
        reader.file.display()
    ))
}

/// Waits for a command, and kills it if it takes too long: then `None`, otherwise its code.
#[allow(clippy::disallowed_methods)] // a test of how long something takes
fn finish(mut line: Command) -> Option<Option<i32>> {
    let began = Instant::now();
    let mut child = line.spawn().expect("a shell");
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status.code());
        }
        if began.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|e| panic!("{name} = {text}: {e}")),
    )
}

#[test]
#[allow(clippy::disallowed_methods)] // runs for a time that is asked for
fn changed_files() {
    let seconds = number("CEMARK_FUZZ_SECONDS").unwrap_or(2);
    let seed = number("CEMARK_FUZZ_SEED").unwrap_or(1);
    let one = number("CEMARK_FUZZ_CASE");
    let workers = match one {
        Some(_) => 1,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let next = AtomicU64::new(one.unwrap_or(0));
    let (accepted, wrong) = (AtomicU64::new(0), Mutex::new(None));
    let mut all = vec![readers()];
    for worker in 1..workers {
        let (dir, first) = &all[0];
        let more = copied(dir, first, worker);
        all.push(more);
    }
    let until = Instant::now() + Duration::from_secs(seconds);
    std::thread::scope(|scope| {
        for (dir, readers) in &mut all {
            let (next, accepted, wrong) = (&next, &accepted, &wrong);
            scope.spawn(move || {
                while Instant::now() < until && wrong.lock().expect("a lock").is_none() {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    let mut dice = Dice::new(seed, case);
                    let reader = &readers[dice.below(readers.len())];
                    let mut bytes = reader.whole.clone();
                    for _ in 0..1 + dice.below(3) {
                        dice.change(&mut bytes);
                    }
                    match judge(dir, reader, &bytes) {
                        Ok(good) => {
                            accepted.fetch_add(u64::from(good), Ordering::Relaxed);
                            fs::write(&reader.file, &reader.whole).expect("a file");
                        }
                        Err(why) => {
                            let again = format!("CEMARK_FUZZ_SEED={seed} CEMARK_FUZZ_CASE={case}");
                            let mut wrong = wrong.lock().expect("a lock");
                            wrong.get_or_insert(format!("{again}: {why}"));
                        }
                    }
                    if one.is_some() {
                        return;
                    }
                }
            });
        }
    });
    if let Some(why) = wrong.into_inner().expect("a lock") {
        panic!("{why}");
    }
    let (cases, good) = (next.into_inner(), accepted.into_inner());
    println!(
        "seed {seed}: {cases} changed files of {} readers in {seconds} s, {good} accepted, the \
         others refused with exit code 2",
        all[0].1.len()
    );
    assert!(
        one.is_some() || (good > 0 && good < cases),
        "{good} of {cases}"
    );
    for (dir, _) in all {
        let _ = fs::remove_dir_all(dir);
    }
}
