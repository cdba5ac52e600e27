// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of other simulators: what they say is in the scenario, in a note, or refused.

use std::fs;
use std::path::{Path, PathBuf};

use cemark_formats::hpcc::{Fate, KEYS};

use crate::common::{cemark, folder, line};

/// Four hosts at 40 Gb/s on one switch, which is node 0.
const STAR: &str = "5 1 4\n0\n0 1 40Gbps 0.001ms 0\n0 2 40Gbps 0.001ms 0\n\
                    0 3 40Gbps 0.001ms 0\n0 4 40Gbps 0.001ms 0\n";

/// The answer of `import`: the scenario and the lines printed beside it, or the message.
fn import(dir: &Path, files: &[&str]) -> Result<(String, String), String> {
    let args = [&["import"], files, &["--out", "o.toml", "--force"]].concat();
    let o = cemark(dir, &args);
    match o.status.code() {
        Some(0) => {
            let text = fs::read_to_string(dir.join("o.toml")).expect("the scenario");
            Ok((text, line(&o.stderr)))
        }
        Some(2) => {
            assert!(!dir.join("o.toml").exists(), "nothing is written");
            Err(line(&o.stderr))
        }
        code => panic!("{code:?}: {}", line(&o.stderr)),
    }
}

/// The message has all these parts. Words may be broken behind a hyphen.
pub(super) fn says(message: &str, parts: &[&str]) {
    let whole = |text: &str| text.replace("- ", "-");
    for part in parts {
        assert!(
            whole(message).contains(&whole(part)),
            "{part:?} is not in: {message}"
        );
    }
}

/// A list of packets, with starts and ends, of the simulator of DCQCN: 20,000 packets of 1000 bytes
/// are no flow of 2 bytes. It is refused wherever a list is read.
#[test]
fn c01_a_list_of_packets_is_no_list_of_bytes() {
    for (list, place) in [
        ("2\n2 1 3 20000 2.0 9.5\n3 1 3 20000 2.0 9.5\n", 2),
        ("2\n2 1 3 20000 2 9\n3 1 3 20000 2 9\n", 2),
        ("1\n2 1 3 100 0.00 1.5\n", 2),
        // The place of the port has more than any port.
        (
            "2\n2 1 3 100 2000 2\n3 1 3 10000000 2000 9\n\nsrc dst pg packets start end\n",
            3,
        ),
    ] {
        let scenario = "[topology]\nkind = \"star\"\nhosts = 5\n[[workload]]\nkind = \"list\"\n\
                        file = \"flow.txt\"\n[[scheme]]\nmarker = \"tcn\"\n";
        let files = [("topo.txt", STAR), ("flow.txt", list), ("s.toml", scenario)];
        let dir = folder("cases-c01", &files);
        let said = import(&dir, &["topo.txt", "flow.txt"]).expect_err(list);
        let at = format!("flow.txt:{place}: this list counts packets");
        says(&said, &[&at, "packets times the payload", "$4 * 1000"]);
        let o = cemark(&dir, &["check", "s.toml"]);
        assert_eq!(o.status.code(), Some(2), "{list}");
        says(
            &line(&o.stderr),
            &[&format!("line {place}: this list counts packets")],
        );
    }
    // As the help says: 20 MB at 2 s.
    let right = "2\n2 1 3 100 20000000 2.0\n3 1 3 100 20000000 2.0\n";
    let dir = folder("cases-c01", &[("topo.txt", STAR), ("flow.txt", right)]);
    let (text, _) = import(&dir, &["topo.txt", "flow.txt"]).expect("a list of bytes");
    says(
        &text,
        &["{ at = \"0s\", src = 1, dst = 0, size = \"20000000B\" }"],
    );
}

/// HPCC's usual configuration for DCQCN: every key that its simulator reads.
const CONFIG: &str = "\
ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\n\nPACKET_PAYLOAD_SIZE 1000\n\n\
TOPOLOGY_FILE mix/topology.txt\nFLOW_FILE mix/flow.txt\nTRACE_FILE mix/trace.txt\n\
TRACE_OUTPUT_FILE mix/mix.tr\nFCT_OUTPUT_FILE mix/fct.txt\nPFC_OUTPUT_FILE mix/pfc.txt\n\n\
SIMULATOR_STOP_TIME 4.00\n\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\n\
CLAMP_TARGET_RATE 0\nRP_TIMER 900\nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\n\
RATE_AI 50Mb/s\nRATE_HAI 100Mb/s\nMIN_RATE 100Mb/s\nDCTCP_RATE_AI 1000Mb/s\n\n\
ERROR_RATE_PER_LINK 0.0000\nL2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nL2_BACK_TO_ZERO 0\n\n\
HAS_WIN 1\nGLOBAL_T 1\nVAR_WIN 0\nFAST_REACT 0\nU_TARGET 0.95\nMI_THRESH 5\nINT_MULTI 1\n\
MULTI_RATE 0\nSAMPLE_FEEDBACK 0\nPINT_LOG_BASE 1.05\nPINT_PROB 1.0\n\n\
RATE_BOUND 1\n\nACK_HIGH_PRIO 0\n\nLINK_DOWN 0 0 0\n\nENABLE_TRACE 0\n\n\
KMAX_MAP 1 40000000000 400\nKMIN_MAP 1 40000000000 100\nPMAX_MAP 1 40000000000 0.2\n\
BUFFER_SIZE 32\nQLEN_MON_FILE mix/qlen.txt\nQLEN_MON_START 2000000000\n\
QLEN_MON_END 3000000000\nPAUSE_TIME 5\nDATA_RATE 40Gb/s\nLINK_DELAY 0.001ms\n";

const LIST: &str = "2\n2 1 3 100 2000000 2.0\n3 1 3 100 2000000 2.0\n";

fn with_config(name: &str, config: &str) -> PathBuf {
    let files = [
        ("topo.txt", STAR),
        ("flow.txt", LIST),
        ("config.txt", config),
    ];
    folder(&format!("cases-{name}"), &files)
}

fn configured(name: &str, config: &str) -> Result<(String, String), String> {
    let dir = with_config(name, config);
    import(&dir, &["topo.txt", "flow.txt", "config.txt"])
}

/// A copy of [`CONFIG`] with another value of a key.
fn with(key: &str, value: &str) -> String {
    let head = format!("{key} ");
    let found = CONFIG.lines().any(|line| line.starts_with(&head));
    let own = format!("{key} {value}\n");
    match found {
        false => format!("{CONFIG}{own}"),
        true => CONFIG
            .lines()
            .map(|line| match line.starts_with(&head) {
                true => own.clone(),
                false => format!("{line}\n"),
            })
            .collect(),
    }
}

/// Windows and cuts of DCQCN are in the scenario: at 40 Gb/s and 1 us a round trip of 4 us and two
/// payloads of 200 ns are 22,000 bytes.
#[test]
fn c03_windows_and_cuts_are_in_the_scenario() {
    let (text, said) = configured("c03", CONFIG).expect("a scenario");
    says(
        &text,
        &[
            "max-time = \"2s\" # SIMULATOR_STOP_TIME",
            "receive-window = \"22000B\" # HAS_WIN",
            "decrease-interval = \"4us\" # RATE_DECREASE_INTERVAL",
            "timer-hyper = true",
            "ack-every = 1 # L2_ACK_INTERVAL",
            "alpha-timer = \"1us\"",
            "min-rate = \"100Mbps\"",
            "hook = \"dequeue\"",
        ],
    );
    assert!(!said.contains("note"), "nothing differs: {said}");
    let plain = |text: &str| text.replace("config.txt", "");
    let (open, _) = configured("c03", &with("HAS_WIN", "0")).expect("a scenario");
    assert!(!open.contains("receive-window") && plain(&open) != plain(&text));
    let (slow, _) = configured("c03", &with("RATE_DECREASE_INTERVAL", "50")).expect("a scenario");
    says(&slow, &["decrease-interval = \"50us\""]);
    // SimAI's file has VAR_WIN 1.
    let (text, said) = configured("c03", &with("VAR_WIN", "1")).expect("a scenario");
    says(
        &text,
        &[
            "window-by-rate = true # VAR_WIN",
            "receive-window = \"22000B\"",
        ],
    );
    assert!(!said.contains("VAR_WIN"), "{said}");
    let dctcp = with("VAR_WIN", "1").replace("CC_MODE 1\n", "CC_MODE 8\n");
    let (text, said) = configured("c03", &dctcp).expect("a scenario");
    says(
        &said,
        &["config.txt:", "VAR_WIN 1: the window shrinks there"],
    );
    says(
        &line(text.as_bytes()),
        &["VAR_WIN 1: the window shrinks there"],
    );
    // Without a word of windows the simulator has one.
    let silent: String = CONFIG
        .lines()
        .filter(|line| {
            !["HAS_WIN", "RATE_DECR", "MIN_RATE"]
                .iter()
                .any(|k| line.starts_with(k))
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let (text, _) = configured("c03", &silent).expect("a scenario");
    says(
        &text,
        &[
            "receive-window = \"22000B\"",
            "decrease-interval = \"4us\"",
            "min-rate = \"100Mbps\"",
        ],
    );
}

/// Every key of the simulator, with another value than the usual one: it changes the scenario, is
/// named in a note, or is refused by its name, or the table of keys says that it changes nothing.
#[test]
fn c03_every_key_is_mapped_named_or_refused() {
    let (usual, _) = configured("c03-keys", CONFIG).expect("a scenario");
    let body = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.collect::<Vec<_>>().join("\n")
    };
    let other = |key: &str| match key {
        "CC_MODE" => "8",
        "ENABLE_QCN" | "RATE_BOUND" | "GLOBAL_T" | "PAUSE_TIME" | "HAS_WIN" | "ENABLE_PFC" => "0",
        "KMIN_MAP" => "1 40000000000 50",
        "KMAX_MAP" => "1 40000000000 500",
        "PMAX_MAP" => "1 40000000000 0.5",
        "RATE_AI" | "RATE_HAI" | "MIN_RATE" | "DCTCP_RATE_AI" => "70Mb/s",
        "EWMA_GAIN" => "0.0625",
        "ERROR_RATE_PER_LINK" => "0.01",
        "LINK_DOWN" => "2100000 0 1",
        "L2_ACK_INTERVAL" => "4000",
        "SIMULATOR_STOP_TIME" => "3.5",
        "PACKET_PAYLOAD_SIZE" => "1400",
        "BUFFER_SIZE" => "12",
        "ALPHA_RESUME_INTERVAL" | "RATE_DECREASE_INTERVAL" | "RP_TIMER" => "77",
        "FAST_RECOVERY_TIMES" => "4",
        _ => "1",
    };
    for &(key, fate) in KEYS {
        let mut config = with(key, other(key));
        if key == "DCTCP_RATE_AI" {
            config = config.replace("CC_MODE 1", "CC_MODE 8");
        }
        let answer = configured("c03-keys", &config);
        match (fate, answer) {
            (Fate::Mapped(own), Ok((text, said))) => {
                let other = body(&text) != body(&usual);
                // The mapped value of an interval of acknowledgements is that of every packet.
                assert!(
                    other || said.contains(&format!("{key} ")),
                    "{key}: {own} is the same"
                );
            }
            (Fate::Judged, Ok((text, said))) => {
                says(&said, &[&format!("{key} {}: ", other(key))]);
                says(
                    &line(text.as_bytes()),
                    &[&format!("{key} {}: ", other(key))],
                );
            }
            (Fate::Judged, Err(said)) => {
                let named =
                    said.contains(key) || said.contains("error rate") && key.contains("ERR");
                assert!(named || said.contains("link that fails"), "{key}: {said}");
            }
            (
                Fate::With(_) | Fate::Output | Fate::Controller(_) | Fate::Unused,
                Ok((text, said)),
            ) => {
                assert_eq!(body(&text), body(&usual), "{key}");
                assert!(!said.contains("note"), "{key}: {said}");
            }
            (Fate::Older(_), Err(said)) => {
                let at = format!("{key} is a key of the first simulator of DCQCN");
                says(&said, &[&at, "not imported"]);
            }
            (fate, answer) => panic!("{key} ({fate:?}): {answer:?}"),
        }
    }
    // Every key of the file above is in the table, and one that is not is named.
    for line in CONFIG.lines().filter(|line| !line.is_empty()) {
        let key = line.split(' ').next().expect("a key");
        assert!(KEYS.iter().any(|(known, _)| *known == key), "{key}");
    }
    let (_, said) = configured("c03-keys", &with("MY_KNOB", "7")).expect("a scenario");
    says(
        &said,
        &["MY_KNOB: HPCC's simulator has no such key; it is not read"],
    );
}

#[test]
fn c04b_a_list_that_is_too_short_names_both_counts() {
    let list = format!("8\n{}", "2 1 3 100 1000 2.0\n".repeat(7));
    let dir = folder("cases-c04b", &[("topo.txt", STAR), ("flow.txt", &list)]);
    let said = import(&dir, &["topo.txt", "flow.txt"]).expect_err("seven of eight");
    says(
        &said,
        &["flow.txt:8: the file has 7 flows, and its first line counts 8"],
    );
}

/// HPCC's own list counts 2 flows of 256: the others are left out, and that is said.
#[test]
fn c04_flows_behind_the_counted_ones_are_named() {
    let list = format!(
        "2\n{}\nFirst line: # of flows\n",
        "2 1 3 100 1000 2.0\n".repeat(5)
    );
    let scenario = "[topology]\nkind = \"star\"\nhosts = 5\n[[workload]]\nkind = \"list\"\n\
                    file = \"flow.txt\"\n[[scheme]]\nmarker = \"tcn\"\n";
    let files = [
        ("topo.txt", STAR),
        ("flow.txt", &list[..]),
        ("s.toml", scenario),
    ];
    let dir = folder("cases-c04", &files);
    let (_, said) = import(&dir, &["topo.txt", "flow.txt"]).expect("a scenario");
    says(
        &said,
        &["flow.txt: 4 lines behind the flows that its first line counts"],
    );
    let o = cemark(&dir, &["check", "s.toml"]);
    assert_eq!(o.status.code(), Some(0));
    says(
        &line(&o.stderr),
        &["3 flows behind those that its first line counts are not read"],
    );
    // Words alone are no flows.
    let words = list.replacen("2\n", "5\n", 1);
    fs::write(dir.join("flow.txt"), words).expect("a file");
    let o = cemark(&dir, &["check", "s.toml"]);
    assert!(!line(&o.stderr).contains("not read"), "{}", line(&o.stderr));
}

/// PowerTCP's first line counts top-of-rack switches too, and its rates have no unit.
#[test]
fn c05_a_first_line_of_four_numbers() {
    let links = "4 5\n0 4 25000000000.0 1us 0\n1 4 25000000000.0 1us 0\n\
                 2 5 25000000000.0 1us 0\n3 5 25000000000.0 1us 0\n4 5 100000000000.0 1us 0\n";
    let read = |first: &str| {
        let dir = folder(
            "cases-c05",
            &[("topology.txt", &format!("{first}\n{links}"))],
        );
        import(&dir, &["topology.txt"])
    };
    let (three, said) = read("6 2 5").expect("a fabric");
    let (four, again) = read("6 2 1 5").expect("a fabric");
    assert_eq!((&three, &said), (&four, &again));
    says(&four, &["kind = \"graph\"\nfile = \"topology.txt\"\n"]);
    says(
        &read("6 2 3 5").expect_err("more racks than switches"),
        &[
            "topology.txt:1: 3 top-of-rack switches of 2 switches",
            "nodes, switches, top-of-rack switches and links",
        ],
    );
    says(
        &read("6 2 1 5 7").expect_err("five"),
        &[
            "topology.txt:1: a first line of 5 numbers",
            "with three (nodes, switches, links) or four",
        ],
    );
    says(
        &read("topology of 6 nodes").expect_err("words"),
        &["topology.txt:1: this begins no file"],
    );
}

/// ASTRA-sim's default names a controller that its simulator does not have.
#[test]
fn c07_a_mode_that_reaches_no_controller() {
    let said = configured("c07", &with("CC_MODE", "12")).expect_err("no controller");
    says(
        &said,
        &[
            "CC_MODE 12 reaches no controller",
            "rate of their link",
            "write CC_MODE 1",
        ],
    );
    let ring = "6 2 6\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n\
                3 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n0 1 100Gbps 1us 0\n";
    let dir = folder("cases-c07", &[("topology.txt", ring)]);
    let said = import(&dir, &["topology.txt"]).expect_err("a ring of hosts");
    says(
        &said,
        &["topology.txt:8: a link between two hosts, `host0` and `host1`"],
    );
}

/// Thresholds in proportion to the rate are `threshold-rate`; equal ones hold everywhere; others
/// cannot be said.
#[test]
fn c08_thresholds_by_the_rate_of_links() {
    let mut topology = String::from("12 4 12\n8 9 10 11\n");
    for host in 0..8 {
        topology += &format!("{host} {} 100Gbps 1us 0\n", 8 + host / 4);
    }
    topology += "8 10 400Gbps 1us 0\n8 11 400Gbps 1us 0\n9 10 400Gbps 1us 0\n9 11 400Gbps 1us 0\n";
    let read = |kmin: &str, kmax: &str, pmax: &str| {
        let map = |name: &str, values: &str| {
            let (near, far) = values.split_once(' ').expect("two values");
            format!("{name} 2 100000000000 {near} 400000000000 {far}\n")
        };
        let config = format!(
            "CC_MODE 1\n{}{}{}",
            map("KMIN_MAP", kmin),
            map("KMAX_MAP", kmax),
            map("PMAX_MAP", pmax)
        );
        let files = [("topo.txt", &topology[..]), ("config.txt", &config)];
        import(&folder("cases-c08", &files), &["topo.txt", "config.txt"])
    };
    let (text, _) = read("400 1600", "1600 6400", "0.2 0.2").expect("a scenario");
    says(
        &text,
        &[
            "threshold-rate = \"100Gbps\"\n",
            "min = \"400KB\"\nmax = \"1600KB\"\ndrop-probability = \"20%\"\n",
        ],
    );
    let o = cemark(
        Path::new(env!("CARGO_TARGET_TMPDIR")),
        &["check", "cases-c08/o.toml"],
    );
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let (text, _) = read("400 400", "1600 1600", "1 1").expect("a scenario");
    assert!(!text.contains("threshold-rate = "), "{text}");
    says(&text, &["drop-probability = \"100%\"\n"]);
    for (kmin, kmax, pmax) in [
        ("400 800", "1600 6400", "0.2 0.2"),
        ("400 1600", "1600 1600", "0.2 0.2"),
        ("400 1600", "1600 6400", "0.2 0.1"),
    ] {
        let said = read(kmin, kmax, pmax).expect_err("neither");
        says(
            &said,
            &["at 100Gbps and 400Gbps are neither equal nor in proportion"],
        );
    }
    let config = "KMIN_MAP 1 100000000000 400\nKMAX_MAP 1 100000000000 1600\n\
                  PMAX_MAP 1 100000000000 0.2\n";
    let files = [("topo.txt", &topology[..]), ("config.txt", config)];
    let said = import(&folder("cases-c08", &files), &["topo.txt", "config.txt"]);
    says(
        &said.expect_err("one of two rates"),
        &["no value for links of 400Gbps"],
    );
    // Without maps the choice is ours, in proportion too.
    let (text, _) = import(
        &folder("cases-c08", &[("topo.txt", &topology)]),
        &["topo.txt"],
    )
    .expect("a scenario");
    says(
        &text,
        &[
            "threshold-rate = \"100Gbps\"\n",
            "min = \"400KB\"\nmax = \"1600KB\"\n",
        ],
    );
}

/// Matrices of csg-htsim, with and without ids, with an exponent, without a last newline.
#[test]
fn c14_matrices_of_htsim() {
    let topo = "Nodes 8\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\n\
                Radix_Up 2\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\n\
                Radix_Down 2\nDownlink_Latency_ns 1000\n";
    let read = |matrix: &str| {
        let dir = folder("cases-c14", &[("a.topo", topo), ("a.cm", matrix)]);
        import(&dir, &["a.topo", "a.cm"])
    };
    let matrix = "Nodes 8\nConnections 3\n0->7 id 1 start 0 size 2000000\n\
                  1->7 start 0 size 2000000\n2->7 start 1e6 size 1e9";
    let (text, _) = read(matrix).expect("a scenario");
    says(
        &text,
        &[
            "size = \"2000000B\"",
            "at = \"1us\", src = 2, dst = 7, size = \"1000000000B\"",
        ],
    );
    let (_, said) = read(&matrix.replace("1e9", "1e9 prio 2")).expect("a scenario");
    says(&said, &["a.cm:5: `prio` is not read"]);
    let said = read(&matrix.replace("2000000\n1", "0\n1")).expect_err("a flow of no bytes");
    says(&said, &["a.cm:3:"]);
}
