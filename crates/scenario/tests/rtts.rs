// SPDX-License-Identifier: MIT OR Apache-2.0
//! Base RTTs from files: columns, units, histograms, and files that are none of that.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use cemark_scenario::{Error, Overrides, Plan, parse};
use cemark_sim::workload::{RttModel, RttSpread};
use cemark_wire::Picos;

/// A folder of its own with a scenario in it, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("cemark-rtts-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a temporary directory");
        Folder(folder)
    }

    fn plan(&self, keys: &str) -> Result<Plan, Error> {
        let text = format!(
            "{}[rtt]\nmodel = \"samples\"\nfile = \"rtts.csv\"\n{keys}\n[[scheme]]\n\
             marker = \"tcn\"\n[[scheme]]\nmarker = \"ecn_sharp\"\n",
            crate::common::STAR
        );
        let file = self.0.join("s.toml");
        parse(&text, &file.display().to_string(), &Overrides::default())
    }

    /// The plan of a file with these bytes.
    fn of(&self, bytes: impl AsRef<[u8]>, keys: &str) -> Result<Plan, Error> {
        fs::write(self.0.join("rtts.csv"), bytes).expect("a file");
        self.plan(keys)
    }

    fn spread(&self, bytes: &str, keys: &str) -> RttSpread {
        let plan = self
            .of(bytes, keys)
            .unwrap_or_else(|e| panic!("{bytes:?}: {e}"));
        plan.points[0].config.rtt.spread().expect("a table")
    }

    /// Message and help of the error, without the folder.
    fn error(&self, bytes: impl AsRef<[u8]>, keys: &str) -> (String, String) {
        let bytes = bytes.as_ref();
        let error = self.of(bytes, keys).map(|_| ()).expect_err("a mistake");
        let folder = format!("{}/", self.0.display());
        let help = error.help_text().unwrap_or_default().to_owned();
        assert!(!help.is_empty() && error.position().is_some(), "{error}");
        (error.message().replace(&folder, ""), help)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn us(n: u64) -> Picos {
    Picos::from_micros(n)
}

/// Three RTTs, written in every way.
#[test]
fn columns_and_units() {
    let folder = Folder::new("columns");
    let mut digests = Vec::new();
    for (text, keys) in [
        ("90\n100\n140\n", "unit = \"us\""),
        ("rtt_us\n90\n100\n140\n", ""),
        ("RTT (ms)\n0.09\n0.1\n0.14", ""),
        ("seconds\n9e-05\n1e-4\n0.00014\n", ""),
        ("90us\n0.1 ms\n140 \u{3bc}s\n", ""),
        ("rtt\n90\n100\n140\n", "unit = \"us\""),
        // A byte order mark, the line ends of other systems, empty lines, comments, another order.
        (
            "\u{feff}rtt_us\r\n\r\n140\r\n90\r\n  \r\n# host 3\r\n100\r\n",
            "",
        ),
        (
            "host,rtt_us,n\na,90,1\nb,100,2\nc,140,3\n",
            "column = \"rtt_us\"",
        ),
        ("host,rtt_us,n\na,90,1\nb,100,2\nc,140,3\n", ""),
        ("host;rtt_us\na;90\nb;100\nc;140\n", "column = \"RTT-us\""),
        ("a\t90\nb\t100\nc\t140\n", "column = 2\nunit = \"us\""),
        (
            "\"host, rack\",\"rtt_us\"\n\"a, 1\",\"90\"\n\"b\",100\nc,140\n",
            "column = \"rtt_us\"",
        ),
    ] {
        let spread = folder.spread(text, keys);
        assert_eq!(
            (spread.samples, spread.min, spread.max),
            (Some(3), us(90), us(140)),
            "{text}"
        );
        assert_eq!(
            (spread.mean, spread.p50, spread.p90),
            (us(110), us(100), us(140)),
            "{text}"
        );
        let plan = folder.plan(keys).expect("it was read before");
        digests.push(plan.digest);
        // Every scheme draws from the same list.
        assert_eq!(plan.points[0].config.rtt, plan.points[1].config.rtt);
    }
    digests.dedup();
    assert_eq!(
        digests.len(),
        1,
        "the content is the identity, not how it is written"
    );
    let other = folder.of("90\n100\n141\n", "unit = \"us\"").expect("RTTs");
    assert_ne!(other.digest, digests[0]);
}

/// A mesh of probes: a line for each pair of hosts, with percentiles of a minute or single probes.
#[test]
fn a_mesh_of_probes() {
    let folder = Folder::new("mesh");
    let single = "src,dst,rtt_us\na,b,90\na,c,100\nb,c,140\n";
    let minutes = "time,src,dst,rtt_p50_us,rtt_p99_us\n\
                   2026-03-01T12:00:00Z,10.0.0.1:7,10.0.1.1:7,90,911.5\n\
                   2026-03-01T12:00:00Z,10.0.0.1:7,10.0.2.1:7,100,200\n\
                   2026-03-01T12:01:00Z,10.0.0.1:7,10.0.1.1:7,140,700\n";
    for (text, keys) in [(single, ""), (minutes, "column = \"rtt_p50_us\"")] {
        let spread = folder.spread(text, keys);
        let found = (spread.samples, spread.min, spread.p50, spread.max);
        assert_eq!(found, (Some(3), us(90), us(100), us(140)), "{text}");
    }
    let tail = folder.spread(minutes, "column = \"rtt_p99_us\"");
    assert_eq!(tail.max, Picos::from_nanos(911_500));
    // Two columns end in a unit, so the scenario says which.
    let (_, help) = folder.error(minutes, "");
    assert!(help.contains("column = \"rtt_p50_us\""), "{help}");
}

/// The output of `ss`: connections to other hosts with the smallest RTT of each.
#[test]
fn connections_of_a_host() {
    let folder = Folder::new("ss");
    let line = |peer: &str, words: &str| {
        format!("ESTAB 0 0 10.0.1.17:22 {peer}\n\t cubic rto:204 rtt:9.1/4.5 {words} cwnd:10\n")
    };
    let text = [
        line("10.0.0.5:51234", "minrtt:0.09"),
        line("10.0.0.6:51234", "minrtt:0.14"),
        line("10.0.0.7:51234", ""),
        line("127.0.0.1:51234", "minrtt:0.01"),
    ]
    .concat();
    let spread = folder.spread(&text, "");
    let found = (spread.samples, spread.min, spread.max);
    assert_eq!(found, (Some(2), us(90), us(140)));
    let (what, help) = folder.error(line("10.0.0.7:51234", ""), "");
    assert!(
        what.contains("`rtts.csv`: it has 1 connection, and no minrtt"),
        "{what}"
    );
    assert!(
        help.contains("`ss -tin` of an established connection prints minrtt"),
        "{help}"
    );
    let (what, _) = folder.error(text.replace("minrtt:0.14", "minrtt:-1"), "");
    assert!(
        what.contains("`rtts.csv`, line 4: `-1` is negative"),
        "{what}"
    );
}

#[test]
fn mistakes_name_file_and_line() {
    let folder = Folder::new("mistakes");
    for (text, keys, says, help) in [
        ("", "", "`rtts.csv`: it contains no RTT", "column of RTTs"),
        (
            "\n# nothing\n",
            "",
            "`rtts.csv`: it contains no RTT",
            "column of RTTs",
        ),
        (
            "rtt_us\n",
            "",
            "`rtts.csv`: it has a line of names and no RTT",
            "below",
        ),
        ("90\n100\n", "", "line 1: `90` has no unit", "unit = \"us\""),
        ("rtt\n90\n", "", "line 2: `90` has no unit", "rtt_us"),
        (
            "rtt_us\n90\n\n-5\n",
            "",
            "`rtts.csv`, line 4: `-5` is negative",
            "remove the line",
        ),
        (
            "rtt_us\n90\nNaN\n",
            "",
            "line 3: `NaN` is not an RTT",
            "such as 85.2",
        ),
        (
            "nan\n90\n",
            "unit = \"us\"",
            "line 1: `nan` is not an RTT",
            "such as 85.2",
        ),
        ("rtt_us\n9x\n", "", "line 2: `x` is not a unit", "us"),
        (
            "rtt_us\n1e99\n",
            "",
            "line 2: `1e99` is longer than 1000 seconds",
            "unit",
        ),
        (
            "rtt_us\n2e9\n",
            "",
            "line 2: `2e9` is longer than 1000 seconds",
            "unit",
        ),
        (
            "rtt_ms\n1\n",
            "unit = \"us\"",
            "`rtt_ms` ends in another unit",
            "leave `unit` out",
        ),
        (
            "ack_us,rtt_us\n1,2\n",
            "",
            "it has 2 columns: `ack_us`, `rtt_us`",
            "column = \"rtt_us\"",
        ),
        (
            "a,b\n1,2\n",
            "",
            "it has 2 columns: `a`, `b`",
            "column = \"a\"",
        ),
        ("90,5\n", "unit = \"us\"", "no line of names", "column = 1"),
        (
            "a,rtt_us\n1,2\n",
            "column = \"rt_us\"",
            "no column `rt_us`",
            "did you mean `rtt_us`",
        ),
        (
            "1,2\n",
            "column = \"rtt\"",
            "line 1: it has no line of names",
            "column = 1 to 2",
        ),
        (
            "1,2\n",
            "column = 3",
            "line 1: it has no column 3",
            "column = 1 to 2",
        ),
        (
            "a,rtt_us\n1,2\n1\n",
            "column = \"rtt_us\"",
            "line 3: column 2 is missing",
            "remove",
        ),
        (
            "a,rtt_us\n1,\n",
            "column = \"rtt_us\"",
            "line 2: `` is not an RTT",
            "remove",
        ),
    ] {
        let (what, advice) = folder.error(text, keys);
        assert!(what.contains(says), "{text:?}: {what}");
        assert!(advice.contains(help), "{text:?}: {advice}");
    }
    for keys in ["column = 0", "column = 1.5", "unit = \"h\"", "unit = 1"] {
        assert!(folder.of("rtt_us\n90\n", keys).is_err(), "{keys}");
    }
}

#[test]
fn what_is_no_text_file_is_refused() {
    let folder = Folder::new("files");
    let (what, _) = folder.error(
        [0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, b'\n'],
        "unit = \"us\"",
    );
    assert!(
        what.contains("cannot be read: it is not UTF-8 text"),
        "{what}"
    );
    // Valid UTF-8 that is no number: shown shortly, without what would steer a terminal.
    let junk = "\u{1b}[2J\u{0}".repeat(1000);
    let (what, _) = folder.error(&junk, "unit = \"us\"");
    assert!(
        what.contains("line 1") && what.len() < 400 && !what.contains('\u{1b}'),
        "{what}"
    );
    fs::remove_file(folder.0.join("rtts.csv")).expect("it is there");
    let missing = folder.plan("").expect_err("no file");
    assert!(
        missing.message().contains("`rtts.csv` cannot be read"),
        "{missing}"
    );
    fs::create_dir(folder.0.join("rtts.csv")).expect("a folder");
    let folder_there = folder.plan("").expect_err("a folder");
    assert!(
        folder_there.message().contains("it is not a file"),
        "{folder_there}"
    );
    fs::remove_dir(folder.0.join("rtts.csv")).expect("empty");
}

/// By hand, as `histogram_quantile` has it: 10 below 50 us, 60 from 50 to 100, 30 to 200.
#[test]
fn histograms() {
    let folder = Folder::new("histograms");
    let tables = [
        ("le_us,count\n50,10\n100,70\n200,100\n+Inf,100\n", ""),
        (
            "le,count\n0.00005,10\n0.0001,70\n0.0002,100\n",
            "unit = \"s\"",
        ),
        (
            "host,cumulative,le (ms)\na,10,0.05\na,70,0.1\na,100,0.2\n",
            "",
        ),
        (
            "# HELP rtt_seconds Round trips.\n# TYPE rtt_seconds histogram\n\
             rtt_seconds_bucket{host=\"a}\\\"\",le=\"5e-05\"} 10\n\
             rtt_seconds_bucket{host=\"a}\\\"\",le=\"0.0001\",} 70 1700000000\n\
             rtt_seconds_bucket{host=\"a}\\\"\",le=\"0.0002\"} 100\n\
             rtt_seconds_bucket{host=\"a}\\\"\",le=\"+Inf\"} 100.0\n\
             rtt_seconds_sum{host=\"a}\\\"\"} 0.0093\nrtt_seconds_count{host=\"a}\\\"\"} 100\n\
             other_total{le=\"x\"} 3\n",
            "",
        ),
        (
            "a_seconds_bucket{le=\"1\"} 7\nb_bucket{le=\"50\"} 10\nb_bucket{le=\"100\"} 70\n\
             b_bucket{le=\"200\"} 100\n",
            "column = \"b\"\nunit = \"us\"",
        ),
    ];
    for (text, keys) in tables {
        let plan = folder
            .of(text, keys)
            .unwrap_or_else(|e| panic!("{text}: {e}"));
        let rows = vec![(0.0, us(0)), (0.1, us(50)), (0.7, us(100)), (1.0, us(200))];
        assert_eq!(
            plan.points[0].config.rtt,
            RttModel::Quantiles(rows),
            "{text}"
        );
    }
    // Empty buckets, below and between; and observations above the largest bound.
    let plan = folder
        .of(
            "le_us,count\n20,0\n40,0\n60,50\n80,50\n100,80\n+Inf,100\n",
            "",
        )
        .expect("buckets");
    let rows = [(0.0, 40), (0.5, 60), (0.5, 80), (0.8, 100), (1.0, 100)];
    let rows = rows.map(|(p, n)| (p, us(n))).to_vec();
    assert_eq!(plan.points[0].config.rtt, RttModel::Quantiles(rows));
    let said = plan.warning_lines().join("\n");
    assert!(
        said.contains("20 of 100 observations are above the largest bound, 100us, and count as"),
        "{said}"
    );
}

#[test]
fn broken_histograms() {
    let folder = Folder::new("buckets");
    for (text, keys, says) in [
        ("le,count\n50,10\n", "", "line 2: `50` has no unit"),
        (
            "le_us,count\n50,10\n50,20\n",
            "",
            "line 3: this bound is not above the one before",
        ),
        (
            "le_us,count\n+Inf,10\n50,20\n",
            "",
            "line 3: this bound is not above the one before",
        ),
        (
            "le_us,count\n50,10\n60,5\n",
            "",
            "line 3: this count is below the one before",
        ),
        (
            "le_us,count\n50,many\n",
            "",
            "line 2: `many` is not a count",
        ),
        ("le_us,count\n50,-1\n", "", "line 2: `-1` is not a count"),
        ("le_us,count\n-50,1\n", "", "line 2: `-50` is negative"),
        ("le_us,count\n50,0\n+Inf,0\n", "", "contain no observation"),
        (
            "le_us,count\n+Inf,10\n",
            "",
            "no bucket with a finite bound",
        ),
        ("le_us,count\n", "", "no bucket with a finite bound"),
        ("x_bucket{le=\"1\"} 5\n", "", "line 1: `1` has no unit"),
        (
            "x_seconds_bucket{le=\"1\" 5\n",
            "",
            "line 1: `x_seconds_bucket{le=\"1\" 5` is not a",
        ),
        (
            "x_seconds_bucket{a=\"1\"} 5\n",
            "",
            "line 1: `x_seconds_bucket{a=\"1\"} 5` is not a",
        ),
        (
            "x_s_bucket{le=\"1\"} 5\n",
            "unit = \"us\"",
            "`x_s` ends in another unit",
        ),
        (
            "a_s_bucket{le=\"1\"} 5\nb_s_bucket{le=\"1\"} 5\n",
            "",
            "it has 2 histograms, from `a_s{}` to `b_s{}`",
        ),
        (
            "a_s_bucket{h=\"1\",le=\"1\"} 5\na_s_bucket{h=\"2\",le=\"1\"} 5\n",
            "",
            "it has 2 histograms, from `a_s{h=\"1\"}` to `a_s{h=\"2\"}`",
        ),
        (
            "a_s_bucket{le=\"1\"} 5\n",
            "column = \"b\"",
            "it has no buckets of that name",
        ),
    ] {
        let (what, _) = folder.error(text, keys);
        assert!(what.contains(says), "{text:?}: {what}");
    }
}

/// As other models: a draw below the path's RTT is the path's, which is a warning with the numbers,
/// and a mistake where it holds for all.
#[test]
fn samples_below_the_path_are_counted() {
    let folder = Folder::new("short");
    // The star's links take 8 us.
    let plan = folder.of("rtt_us\n3\n7\n90\n100\n", "").expect("RTTs");
    let said = plan.warning_lines().join("\n");
    assert!(
        said.contains("(up to 8us; 2 of 4 samples are below that): 50 % of the flows"),
        "{said}"
    );
    let (what, help) = folder.error("rtt_us\n3\n7\n", "");
    assert!(
        what.contains("every base RTT drawn here is below"),
        "{what}"
    );
    assert!(help.contains("model = \"path\""), "{help}");
    assert!(
        folder
            .of("rtt_us\n9\n90\n", "")
            .expect("RTTs")
            .warnings
            .is_empty()
    );
}

/// The points of a run share one list, so that a million values and many points take no longer than
/// reading the file.
#[test]
fn a_million_values() {
    let folder = Folder::new("million");
    let mut text = String::from("rtt_us\n");
    for i in 0..1_000_000_u64 {
        writeln!(text, "{}.{}", 80 + i % 160, i % 10).expect("a string");
    }
    let swept = "\n[sweep]\n\"workload.load\" = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]";
    let plan = folder.of(&text, swept).expect("RTTs");
    let RttModel::Samples(samples) = &plan.points[11].config.rtt else {
        panic!("not samples");
    };
    assert_eq!(
        (samples.count(), samples.quantile(0.0)),
        (1_000_000, us(80))
    );
    assert!(format!("{:?}", plan.points[0].config).len() < 10_000);
}

/// The file of the repository that a reader begins from.
#[test]
fn the_example_is_read() {
    let root = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/measured-rtts.toml"
    );
    let plan = cemark_scenario::load(root, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(plan.warnings.is_empty(), "{:?}", plan.warning_lines());
    let spread = plan.points[0].config.rtt.spread().expect("a list");
    assert_eq!(spread.samples, Some(500));
    let mut overrides = Overrides::default();
    overrides
        .add("rtt.file=rtts.prom")
        .expect("a path and a value");
    let plan = cemark_scenario::load(root, &overrides).unwrap_or_else(|e| panic!("{e}"));
    assert!(matches!(plan.points[0].config.rtt, RttModel::Quantiles(_)));
}
