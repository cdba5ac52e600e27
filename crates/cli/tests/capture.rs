// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark capture` as a user types it, and its file in tshark.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{cemark, line};

const SCENARIO: &str = r#"
[topology]
kind = "star"
hosts = 4

[[workload]]
kind = "incast"
senders = 3
receiver = 0
size = "200KB"

[[scheme]]
label = "low"
marker = "threshold"
k = "20pkt"

[[scheme]]
label = "high"
marker = "threshold"
k = "60pkt"
"#;

/// An empty directory with the scenario.
fn folder(name: &str) -> PathBuf {
    crate::common::folder(&format!("capture-{name}"), &[("my.toml", SCENARIO)])
}

/// Packets and marks of a link in the point's JSON.
fn of_run(dir: &Path) -> (String, serde_json::Value) {
    let o = cemark(dir, &["run", "my.toml", "--out", "run", "--format", "json"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let json: serde_json::Value = serde_json::from_slice(&o.stdout).expect("JSON");
    let points = json["points"].as_array().expect("points");
    let point = points
        .iter()
        .find(|p| p["scheme"] == "low")
        .expect("a point")
        .clone();
    let digest = point["digest"].as_str().expect("a digest").to_owned();
    (digest, point)
}

/// (time in nanoseconds, bytes of the packet, captured bytes) of every packet block.
fn packets(file: &[u8]) -> Vec<(u64, u32, Vec<u8>)> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("4 bytes"));
    let (mut at, mut all) = (0, Vec::new());
    while at < file.len() {
        let length = word(at + 4) as usize;
        assert_eq!(
            word(at + length - 4) as usize,
            length,
            "the length is at both ends"
        );
        if word(at) == 6 {
            let nanos = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            let bytes = file[at + 28..at + 28 + word(at + 20) as usize].to_vec();
            all.push((nanos, word(at + 24), bytes));
        }
        at += length;
    }
    all
}

#[test]
fn a_capture_is_of_the_same_point_as_the_run() {
    let dir = folder("same");
    let (digest, point) = of_run(&dir);
    let link = "switch0->host0";
    let args = ["capture", "my.toml", "--link", link, "--scheme", "low"];
    let o = cemark(&dir, &args);
    assert_eq!((o.status.code(), line(&o.stderr)), (Some(0), String::new()));
    let text = line(&o.stdout);
    assert!(text.contains(&format!("digest {digest}")), "{text} {point}");
    let file = fs::read(dir.join("capture.pcapng")).expect("the file");
    let all = packets(&file);
    assert!(
        text.contains(&format!("{} packets of {link}", all.len())),
        "{text}"
    );
    // 3 x 137 segments of 200,000 bytes, if nothing is sent again.
    assert!(all.len() >= 411, "{}", all.len());
    let marked = all.iter().filter(|p| p.2[15] & 3 == 3).count() as u64;
    assert!(marked > 0);
    assert_eq!(point["marks"].as_u64(), Some(marked), "{point}");
    assert!(all.is_sorted_by_key(|p| p.0));
    // All links of the switch, of which the first packet each.
    let o = cemark(
        &dir,
        &[
            &args[..2],
            &["--link", "switch0->*", "--packets", "1"],
            &args[4..],
        ]
        .concat(),
    );
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    assert!(line(&o.stderr).contains("keeps all"), "{}", line(&o.stderr));
    assert_eq!(
        packets(&fs::read(dir.join("capture.pcapng")).expect("the file")).len(),
        4
    );
}

/// Each packet has the headers of its own workload's transport.
#[test]
fn queue_pairs_beside_tcp_are_roce_packets() {
    let dir = folder("mixed");
    let pairs = "[[workload]]\nkind = \"incast\"\nsenders = 2\nreceiver = 0\nsize = \"50KB\"\n\
                 [workload.transport]\ncontrol = \"dcqcn\"\nmss = \"4096B\"\n";
    fs::write(dir.join("my.toml"), format!("{SCENARIO}\n{pairs}")).expect("a file");
    let link = ["--link", "switch0->host0", "--scheme", "low"];
    let o = cemark(&dir, &[&["capture", "my.toml"], &link[..]].concat());
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let all = packets(&fs::read(dir.join("capture.pcapng")).expect("the file"));
    // The protocol of IP; data of TCP has 137 segments a sender, that of queue pairs 13 packets.
    let of = |protocol: u8| all.iter().filter(move |p| p.2[23] == protocol);
    assert!(of(6).count() >= 3 * 137, "{}", of(6).count());
    assert_eq!(of(6).count() + of(17).count(), all.len());
    assert!(of(17).count() >= 2 * 13, "{}", of(17).count());
    let numbers = of(17).map(|p| u32::from_be_bytes([0, p.2[51], p.2[52], p.2[53]]));
    assert_eq!(numbers.max(), Some(12));
}

/// CI installs tshark, and sets CEMARK_TSHARK: then its absence is a failure.
#[test]
fn tshark_reads_what_the_simulator_says() {
    if Command::new("tshark").arg("-v").output().is_err() {
        assert!(
            std::env::var_os("CEMARK_TSHARK").is_none(),
            "tshark is not installed"
        );
        eprintln!("tshark is not installed (apt-get install tshark): not compared");
        return;
    }
    let dir = folder("tshark");
    for (more, fields, first) in [
        (
            "",
            &[
                "ip.src",
                "ip.dst",
                "ip.dsfield.ecn",
                "ip.len",
                "tcp.seq_raw",
                "tcp.len",
            ][..],
            "10.0.0.2 10.0.0.1 2 1500 1 1460",
        ),
        (
            "[transport]\ncontrol = \"dcqcn\"\n",
            &[
                "ip.src",
                "ip.dst",
                "udp.dstport",
                "infiniband.bth.opcode",
                "infiniband.bth.psn",
            ],
            "10.0.0.2 10.0.0.1 4791 4 0",
        ),
    ] {
        fs::write(dir.join("my.toml"), format!("{SCENARIO}\n{more}")).expect("a file");
        let args = [
            "capture",
            "my.toml",
            "--link",
            "switch0->host0",
            "--scheme",
            "low",
        ];
        let o = cemark(&dir, &args);
        assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
        let file = dir.join("capture.pcapng");
        let ours = packets(&fs::read(&file).expect("the file"));
        let mut tshark = Command::new("tshark");
        tshark
            .arg("-r")
            .arg(&file)
            .args(["-o", "ip.check_checksum:TRUE"]);
        tshark.args(["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len"]);
        tshark.args(["-e", "ip.checksum.status", "-e", "_ws.malformed"]);
        fields.iter().for_each(|field| {
            tshark.args(["-e", field]);
        });
        let o = tshark.output().expect("tshark runs");
        assert!(o.status.success(), "{}", line(&o.stderr));
        let text = String::from_utf8(o.stdout).expect("text");
        let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split('\t').collect()).collect();
        assert_eq!(rows.len(), ours.len());
        for (row, (nanos, length, _)) in rows.iter().zip(&ours) {
            let epoch = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
            assert_eq!((row[0], row[1]), (&epoch[..], &length.to_string()[..]));
            assert_eq!(
                (row[2], row[3]),
                ("1", ""),
                "checksum good, not malformed: {row:?}"
            );
        }
        let found = rows.iter().any(|row| row[4..].join(" ") == first);
        assert!(found, "{first}: {:?}", &rows[..3]);
    }
}

#[test]
fn mistakes_say_what_to_write() {
    let dir = folder("mistakes");
    for (args, message, help) in [
        (
            &["--link", "switch0->host0"][..],
            "2 points fit",
            "--scheme",
        ),
        (
            &["--link", "switch0->host9", "--scheme", "low"],
            "switch0->host9",
            "did you mean",
        ),
        (
            &["--link", "nowhere*", "--scheme", "low"],
            "nowhere*",
            "each direction",
        ),
        (
            &["--link", "switch0->host0", "--scheme", "lo"],
            "the label `lo`",
            "`low`",
        ),
        (&["--scheme", "low"], "--link", ""),
    ] {
        let o = cemark(&dir, &[&["capture", "my.toml"], args].concat());
        let text = line(&o.stderr);
        assert_eq!(o.status.code(), Some(2), "{args:?} {text}");
        assert!(
            text.contains(message) && text.contains(help),
            "{args:?}: {text}"
        );
        assert!(!dir.join("capture.pcapng").exists());
    }
}
