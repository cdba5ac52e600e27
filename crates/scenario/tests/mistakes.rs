// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes of somebody who types a scenario by hand: values that are each well formed and make no
//! sense, or none together. Every one is refused with what is wrong, where, and what to write
//! instead.

use cemark_scenario::{Error, Overrides, parse};

/// A scenario without fault. Each row of the tables changes one place.
const GOOD: &str = r#"title = "t"
max-time = "1s"

[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts-per-leaf = 4
delay = "10us"

[rtt]
model = "variation"
min = "80us"
max = "240us"

[[workload]]
kind = "poisson"
sizes = "web-search"
load = 0.8
flows = 100

[transport]
mss = "1460B"

[switch]
buffer = "600KB"

[[scheme]]
marker = "threshold"
k = "65pkt"

[measure]
queue-interval = "50us"
"#;

/// A mistake: text of the scenario, text in its place, line and column of the error, words of its
/// message, words of its help.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const POISSON: &str = "kind = \"poisson\"\nsizes = \"web-search\"\nload = 0.8\nflows = 100";
const SCHEME: &str = "marker = \"threshold\"\nk = \"65pkt\"";
const MSS: &str = "mss = \"1460B\"";
const BUFFER: &str = "buffer = \"600KB\"";
const SAMPLES: &str = "queue-interval = \"50us\"";
const LOAD: &str = "load = 0.8";
const FLOWS: &str = "flows = 100";
const SIZES: &str = "sizes = \"web-search\"";

fn fails(text: &str) -> Error {
    match parse(text, "s.toml", &Overrides::default()) {
        Ok(_) => panic!("this should not be accepted:\n{text}"),
        Err(error) => error,
    }
}

fn refused(rows: &[Row]) {
    for (from, to, place, says, help) in rows {
        assert_eq!(GOOD.matches(from).count(), 1, "{from}");
        let error = fails(&GOOD.replace(from, to));
        let line = error.to_string();
        assert!(
            line.starts_with(&format!("s.toml:{place}: ")) && line.contains(says),
            "{to}: expected {place}: {says}: {line}"
        );
        let advice = error.help_text().unwrap_or_default();
        assert!(
            !help.is_empty() && advice.contains(help),
            "{to}: {line}: help: {advice}"
        );
    }
}

#[test]
fn the_base_is_without_fault() {
    let plan = parse(GOOD, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((plan.points.len(), plan.warnings.len()), (1, 0));
}

#[test]
fn senders() {
    refused(&[
        (
            MSS,
            "header = \"500B\"\nack = \"1B\"",
            "24:7",
            "1 bytes are out of range",
            "20 to 1500",
        ),
        (
            MSS,
            "header = \"500B\"\nack = \"2KB\"",
            "24:7",
            "2000 bytes are out of range",
            "20 to 1500",
        ),
        (
            MSS,
            "mss = \"65100B\"",
            "23:7",
            "65100 bytes are out of range",
            "64 to 65000",
        ),
        (
            MSS,
            "mss = 1460",
            "23:7",
            "`1460` has no unit",
            "units: B, KB",
        ),
        (MSS, "init-window = 0", "23:15", "0 is too small", "from 1"),
        (
            MSS,
            "init-window = \"10pkt\"",
            "23:15",
            "expected a whole number",
            "from 1",
        ),
        (
            MSS,
            "receive-window = \"1000B\"",
            "23:18",
            "out of range",
            "1500",
        ),
        (
            MSS,
            "mss = \"9000B\"\nreceive-window = \"5KB\"",
            "24:18",
            "smaller than one segment (mss, 9000 bytes)",
            "16MiB",
        ),
        (
            MSS,
            "rto-min = \"10s\"\nrto-max = \"1s\"",
            "24:11",
            "rto-max (1s) is below rto-min (10s)",
            "64s",
        ),
        (
            MSS,
            "rto-init = \"100s\"",
            "23:12",
            "rto-init (100s) is above rto-max (64s)",
            "5ms",
        ),
        (MSS, "rto-min = 5", "23:11", "`5` has no unit", "ms"),
        (MSS, "g = 0.1", "23:5", "not a power of two", "0.0625"),
        (
            MSS,
            "alpha-init = 1024",
            "23:14",
            "1024 is not between 0 and 1",
            "0.25",
        ),
        (MSS, "ack-every = 0", "23:13", "0 is too small", "from 1"),
        (MSS, "cubic-beta = 1", "23:14", "1 is out of range", "0."),
        (MSS, "dup-acks = 0", "23:12", "0 is too small", "from 1"),
        (
            MSS,
            "control = \"vegas\"",
            "23:11",
            "`vegas` is not known",
            "`dctcp`",
        ),
        (
            MSS,
            "sack = \"yes\"",
            "23:8",
            "expected true or false",
            "without quotes",
        ),
    ]);
}

#[test]
fn switches_and_schemes() {
    refused(&[
        (
            BUFFER,
            "buffer = \"1499B\"",
            "26:10",
            "1499 bytes holds no packet: a full one is 1500",
            "buffer = \"1500B\"",
        ),
        (
            BUFFER,
            "buffer = \"0\"",
            "26:10",
            "0 bytes are out of range",
            "1 to",
        ),
        (
            BUFFER,
            "buffer = \"600Kb\"",
            "26:10",
            "`600Kb` can be read in two ways",
            "\"600KB\" (kilobytes)",
        ),
        (
            SCHEME,
            "marker = \"red\"\nkmin = \"60pkt\"\nkmax = \"5pkt\"",
            "31:8",
            "kmax (7.5KB) is below kmin (90KB)",
            "kmin first",
        ),
        (
            SCHEME,
            "marker = \"red\"\nkmin = \"60pkt\"",
            "30:8",
            "kmax (22.5KB, its default) is below kmin",
            "kmin first",
        ),
        (
            SCHEME,
            "marker = \"wred\"\nmin = \"60pkt\"\nmax = \"5pkt\"",
            "31:7",
            "max (7.5KB) is below min (90KB)",
            "min first",
        ),
        (
            SCHEME,
            "marker = \"wred\"\nmax = \"100KB\"",
            "30:7",
            "max (100KB) is below min (150KB, its default)",
            "min first",
        ),
        (
            SCHEME,
            "marker = \"dynamic\"\nmode = \"percent\"\n\
             min_percent = \"90%\"\nmax_percent = \"10%\"",
            "32:15",
            "max_percent (10%) is below min_percent (90%)",
            "min_percent first",
        ),
        (
            SCHEME,
            "marker = \"dynamic\"\noff_offset = \"100KB\"",
            "30:14",
            "off_offset (100KB) is below offset (150KB, its default)",
            "offset first",
        ),
        (
            SCHEME,
            "marker = \"cedm\"\nk1 = \"40pkt\"\nk2 = \"20pkt\"",
            "31:6",
            "k2 (30KB) is below k1 (60KB)",
            "k1 first",
        ),
        (
            SCHEME,
            "marker = \"red\"\npmax = 80",
            "30:8",
            "80 is not between 0 and 1",
            "\"80%\" or 0.8",
        ),
        (
            SCHEME,
            "marker = \"red\"\nweight = 0",
            "30:10",
            "`weight` is out of range",
            "the default, or another value from 0.0000152587890625 to 1",
        ),
        (
            SCHEME,
            "marker = \"ecn_sharp\"\npst_interval = \"0\"",
            "30:16",
            "`pst_interval` must be above zero",
            "another value from \"1ns\" to \"1s\"",
        ),
        (
            SCHEME,
            "marker = \"ecn_sharp\"\nins_target = \"250KB\"",
            "30:14",
            "`250KB` is a length, and `ins_target` is a time in ECN#",
            "such as \"85us\"",
        ),
        (
            SCHEME,
            "marker = \"ecn_sharp\"\nlaw = \"sqrt\"",
            "30:1",
            "unknown key `law`",
            "write marker = \"ecn_sharp_lab\"",
        ),
        (
            SCHEME,
            "marker = \"ecn_sharp\"\nmax-catchup = 3",
            "30:1",
            "unknown key `max-catchup`",
            "write marker = \"ecn_sharp_lab\"",
        ),
    ]);
}

#[test]
fn workloads() {
    refused(&[
        (
            LOAD,
            "load = 50",
            "19:8",
            "50 is not between 0 and 1",
            "at most 1",
        ),
        (LOAD, "load = 0,5", "19:9", "not valid TOML", "quotes"),
        (
            FLOWS,
            "flows = 1e4",
            "20:9",
            "expected a whole number, found a number",
            "from 1",
        ),
        (
            FLOWS,
            "flows = \"10k\"",
            "20:9",
            "expected a whole number, found a string",
            "from 1",
        ),
        (
            FLOWS,
            "flows = 100\nreceiver = 3",
            "21:12",
            "a receiver without pairs = \"to-one\"",
            "to this host alone",
        ),
        (
            FLOWS,
            "flows = 100\nclass = 1",
            "21:9",
            "a port has 1 queues",
            "[[switch.queue]]",
        ),
        (
            SIZES,
            "sizes = \"0B\"",
            "18:9",
            "from one byte to a petabyte",
            "100KB",
        ),
        (
            SIZES,
            "sizes = 100",
            "18:9",
            "expected a string",
            "web-search",
        ),
        (
            POISSON,
            "kind = \"list\"\nflow = []",
            "18:8",
            "no flow in the list",
            "size = \"100KB\"",
        ),
        (
            POISSON,
            "kind = \"incast\"\nsenders = 3\nreceiver = 0\nsize = \"1KB\"\nat = \"5s\"",
            "21:6",
            "`incast` sends nothing: it starts at 5s, the run ends at 1s",
            "longer max-time",
        ),
        (
            POISSON,
            "kind = \"incast\"\nsenders = 3\nreceiver = 0\nsize = \"1KB\"\nrepeat = 3",
            "16:1",
            "`every` is missing",
            "1ms",
        ),
        (
            POISSON,
            "kind = \"long\"\nat = \"1s\"",
            "18:6",
            "`long` sends nothing",
            "earlier `at`",
        ),
        (
            POISSON,
            "kind = \"probe\"\nsrc = 0\ndst = 1\nevery = \"0us\"\ncount = 5",
            "20:9",
            "above zero",
            "10us",
        ),
    ]);
}

/// Words of other tools, keys of another section, percent without their sign: the help names the
/// key that is meant.
#[test]
fn words_that_are_near_to_nothing() {
    let top = |section: &'static str| -> Row {
        // Leaked once a test: the table's rows are static.
        let to = format!("{section}\n\n[measure]").leak();
        ("[measure]", to, "32:2", "unknown key", "")
    };
    let row = |(from, to, place, says, _): Row, help: &'static str| (from, to, place, says, help);
    refused(&[
        row(top("[pfc]"), "write pfc = true in [switch]"),
        row(top("[quick]"), "run it with `cemark figure NAME`"),
        row(top("[pep]"), "kind = \"pep\""),
        row(top("[middlebox]"), "in [edge]"),
        row(top("[rdma]"), "control = \"dcqcn\" in [transport]"),
        (
            MSS,
            "tso = \"64KB\"",
            "23:1",
            "unknown key `tso` in [transport]",
            "tso belongs to [host]",
        ),
        (
            MSS,
            "pacing = \"tcp\"",
            "23:1",
            "unknown key `pacing`",
            "pacing belongs to [host]",
        ),
        (
            MSS,
            "ai-rate = \"40Mbps\"",
            "23:1",
            "unknown key `ai-rate`",
            "rate-ai",
        ),
        (
            MSS,
            "control = \"roce\"",
            "23:11",
            "`roce` is not known",
            "control = \"dcqcn\"",
        ),
        (
            MSS,
            "control = \"RDMA\"",
            "23:11",
            "`RDMA` is not known",
            "control = \"dcqcn\"",
        ),
        (
            MSS,
            "dcqcn-g = 1.5",
            "23:11",
            "1.5 is not between 0 and 1",
            "write \"1.5%\" or 0.015",
        ),
        (
            MSS,
            "dcqcn-g = 0",
            "23:11",
            "`dcqcn-g` is out of range",
            "write dcqcn-g = 0.00390625, the default, or another value from",
        ),
        (
            MSS,
            "min-rate = \"0\"",
            "23:12",
            "a rate of zero carries nothing",
            "min-rate = \"40Mbps\"",
        ),
        (
            MSS,
            "[host]\ngso = \"64KB\"",
            "24:1",
            "unknown key `gso` in [host]",
            "tso = \"64KB\"",
        ),
        (
            MSS,
            "[host]\nmtu = 9000",
            "24:1",
            "unknown key `mtu`",
            "mss = \"8960B\" in [transport]",
        ),
        (
            MSS,
            "[host]\njumbo = true",
            "24:1",
            "unknown key `jumbo`",
            "mss = \"8960B\" in [transport]",
        ),
        (
            BUFFER,
            "pfc-storm = 10",
            "26:13",
            "10 is not between 0 and 1",
            "\"10%\" or 0.1",
        ),
        (
            BUFFER,
            "xoff = \"100KB\"",
            "26:1",
            "unknown key `xoff` in [switch]",
            "pfc-xoff",
        ),
        (
            "[measure]",
            "[edge]\nshare = 0.1\n\n[measure]",
            "33:9",
            "`share` in [edge] belongs to a kind",
            "kind = \"dcib\"",
        ),
        (
            "[measure]",
            "[edge]\nbuffer = \"1MB\"\n\n[measure]",
            "33:10",
            "belongs to a kind",
            "kind = \"pep\"",
        ),
    ]);
}

#[test]
fn times() {
    refused(&[
        (
            "max-time = \"1s\"",
            "max-time = \"1ms\"",
            "2:12",
            "nothing is measured: the warm-up ends at",
            "raise max-time",
        ),
        (
            "max-time = \"1s\"",
            "max-time = \"1h\"",
            "2:12",
            "`h` is not a unit",
            "ms",
        ),
        (
            "\"80us\"\nmax = \"240us\"",
            "\"10us\"\nmax = \"20us\"",
            "14:7",
            "below what the links alone take (40us)",
            "shorter links",
        ),
        (
            "\"10us\"",
            "\"10ms\"",
            "14:7",
            "below what the links alone take (40ms)",
            "shorter links",
        ),
        (
            SAMPLES,
            "queue-interval = \"1ps\"",
            "33:18",
            "shorter than a packet",
            "10us",
        ),
        (
            SAMPLES,
            "goodput-interval = \"1ps\"",
            "33:20",
            "shorter than a packet",
            "10us",
        ),
        (
            SAMPLES,
            "queue-interval = \"0\"\ntrace = \"hottest\"",
            "33:18",
            "a trace needs queue-interval",
            "10us",
        ),
        (
            SAMPLES,
            "from = \"2s\"",
            "2:12",
            "measuring begins (`from`) at 2s, the run ends at 1s",
            "raise max-time",
        ),
        (
            SAMPLES,
            "from = \"1ms\"\nuntil = \"1us\"",
            "34:9",
            "`until` (1us) is not after",
            "later time",
        ),
        (
            SAMPLES,
            "trace = \"hosts\"\ntrace-hosts = [8]",
            "34:16",
            "there is no host 8",
            "0 to 7",
        ),
        (
            SAMPLES,
            "trace = \"hottest\"\ntrace-ports = \"leaf0->host0\"",
            "34:15",
            "trace-ports goes with trace = \"ports\"",
            "leave out trace-ports",
        ),
        (
            SAMPLES,
            "trace = \"ports\"\ntrace-ports = []",
            "34:15",
            "a trace of no port",
            "leaf0->host1",
        ),
        (
            SAMPLES,
            "trace-ports = [\"host0->*\"]",
            "33:16",
            "no switch port of this fabric is called `host0->*`",
            "->host0",
        ),
        (
            "[measure]",
            "[sweep]\nload = [0.1, 0.2]\n[measure]",
            "33:1",
            "neither a section with a key nor a key of the top",
            "workload.load",
        ),
        (
            "[measure]",
            "[sweep]\n\"workload.load\" = \"0.1,0.2\"\n[measure]",
            "33:19",
            "expected a list",
            "[a, b]",
        ),
    ]);
}

/// Two workloads that each fit, and do not fit together.
#[test]
fn loads_of_several_workloads_add_up() {
    let second = |pairs: &str, load: &str| {
        GOOD.replace(
            "[transport]",
            &format!(
                "[[workload]]\nname = \"mice\"\nkind = \"poisson\"\nsizes = \"100KB\"\n\
                     flows = 100\n{pairs}\nload = {load}\n\n[transport]"
            ),
        )
    };
    let error = fails(&second("", "0.3"));
    let line = error.to_string();
    assert!(
        line.starts_with("s.toml:28:8: ")
            && line.contains(
                "together load the leaf uplinks to 1.1: 0.8 by `poisson` and 0.3 by `mice`"
            ),
        "{line}"
    );
    assert!(error.help_text().unwrap().contains("at most 1"));
    // A sum of exactly one fits, whatever decimal fractions add up to.
    for load in ["0.2", "0.1"] {
        parse(&second("", load), "s.toml", &Overrides::default())
            .unwrap_or_else(|e| panic!("{load}: {e}"));
    }
    // 0.8 of the uplinks is 0.7 of every host's link, a receiver's among them.
    let error = fails(&second("pairs = \"to-one\"\nreceiver = 5", "0.5"));
    assert!(
        error
            .to_string()
            .contains("the link of host 5 to 1.2: 0.7 by `poisson` and 0.5 by `mice`"),
        "{error}"
    );
    // Two receivers have a link each.
    let apart = second("pairs = \"to-one\"\nreceiver = 5", "0.9").replace(
        "load = 0.8\n",
        "load = 0.9\npairs = \"to-one\"\nreceiver = 6\n",
    );
    parse(&apart, "s.toml", &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    // The same one has one, and its error says so.
    let error = fails(&apart.replace("receiver = 6", "receiver = 5"));
    assert!(
        error.to_string().contains("the link of host 5 to 1.8"),
        "{error}"
    );
}
