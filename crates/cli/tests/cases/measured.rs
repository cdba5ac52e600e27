// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurements of others: completion times, RTTs, sizes of flows.

use std::path::PathBuf;

use super::imports::says;
use super::scenario_digest;
use crate::common::{cemark, folder, line};

const STAR: &str = "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"10Gbps\"\ndelay = \"10us\"\n\
                    [[workload]]\nkind = \"list\"\n\
                    flow = [{ at = \"1us\", src = 0, dst = 1, size = \"20KB\" }]\n\
                    [[scheme]]\nmarker = \"threshold\"\n";

/// The mean completion time that `compare` prints for a file of one flow, in microseconds.
fn mean_of(name: &str, file: &str, text: &str) -> f64 {
    let dir = folder(&format!("cases-{name}"), &[("my.toml", STAR), (file, text)]);
    let o = cemark(&dir, &["run", "my.toml", "--out", "run"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let o = cemark(&dir, &["compare", "run", file, "--format", "csv"]);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let csv = String::from_utf8(o.stdout).expect("text");
    let mut rows = csv.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let names = rows.next().expect("a line of names");
    let place = names
        .iter()
        .position(|name| name.contains("mean"))
        .expect("a mean");
    let row = rows
        .find(|row| row[0].contains(file))
        .unwrap_or_else(|| panic!("{csv}"));
    row[place].parse().unwrap_or_else(|_| panic!("{csv}"))
}

/// The completion time is the seventh column, whether ends are addresses or numbers of nodes.
#[test]
fn c10_the_seventh_column_is_the_completion_time() {
    for ends in ["0b000401 0b001201", "4 18"] {
        let text = format!("{ends} 10000 100 12000 2000799999 60084 8664\n");
        let mean = mean_of("c10", "fct.txt", &text);
        assert!((mean - 60.084).abs() < 1e-6, "{ends}: {mean}");
    }
}

/// Older versions of ns-3 write seconds.
#[test]
fn c11b_times_of_flow_monitor_in_seconds() {
    let text = "<?xml version=\"1.0\" ?>\n<FlowMonitor>\n  <FlowStats>\n    <Flow flowId=\"1\" \
                timeFirstTxPacket=\"+1.0s\" timeLastRxPacket=\"+2.2s\" txBytes=\"20560\" \
                txPackets=\"14\" rxPackets=\"14\">\n    </Flow>\n  </FlowStats>\n</FlowMonitor>\n";
    let mean = mean_of("c11b", "monitor.xml", text);
    assert!((mean - 1_200_000.0).abs() < 1e-6, "{mean}");
}

/// The buckets of an exporter: counts below 5 ms, below 10 ms and so on to 10 s.
fn buckets(labels: &str, first: u32, others: u32) -> String {
    let bounds = ["0.005", "0.01", "0.1", "1", "10", "+Inf"];
    let rows = bounds.iter().zip(0..).map(|(le, i)| {
        let count = if i == 0 { first } else { others };
        format!("obi_tcp_rtt_seconds_bucket{{{labels}le=\"{le}\"}} {count}\n")
    });
    format!(
        "# TYPE obi_tcp_rtt_seconds histogram\n{}",
        rows.collect::<String>()
    )
}

fn rtts(name: &str, text: &str, keys: &str) -> (PathBuf, &'static [&'static str]) {
    let scenario = format!("{STAR}\n[rtt]\nmodel = \"samples\"\nfile = \"rtts.txt\"\n{keys}");
    let files = [("my.toml", &scenario[..]), ("rtts.txt", text)];
    (
        folder(&format!("cases-{name}"), &files),
        &["check", "my.toml"],
    )
}

/// Where most observations are in one wide bucket the scenario says how little is known.
#[test]
fn c12_one_bucket_for_everything() {
    let (dir, check) = rtts("c12", &buckets("", 97, 100), "");
    let o = cemark(&dir, check);
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let said = line(&[&o.stdout[..], &o.stderr[..]].concat());
    let note = "97 % of 100 observations lie between 0 and 5ms: nothing is known below 5ms";
    says(&said, &[note]);
    // Half of them are not most, and fine buckets are fine.
    let (dir, check) = rtts("c12", &buckets("", 50, 100), "");
    let said = line(&cemark(&dir, check).stderr);
    assert!(!said.contains("nothing is known below"), "{said}");
}

/// A series for each peer: the error offers their sum, which is their counts added bound by bound.
#[test]
fn c12b_several_series_are_added_where_asked() {
    let two = buckets("peer=\"a\",", 3, 100) + &buckets("peer=\"b\",", 7, 300);
    let (dir, check) = rtts("c12b", &two, "");
    let o = cemark(&dir, check);
    assert_eq!(o.status.code(), Some(2));
    let said = line(&o.stderr);
    says(&said, &["it has 2 histograms", "series = \"sum\""]);
    let plan = |name: &str, text: &str, keys: &str| {
        let (dir, _) = rtts(name, text, keys);
        scenario_digest(&dir)
    };
    let sum = plan("c12b", &two, "series = \"sum\"\n");
    assert_eq!(sum, plan("c12b", &buckets("", 10, 400), ""));
    assert_ne!(sum, plan("c12b", &buckets("", 11, 400), ""));
    // Other bounds cannot be added.
    let other = two.replacen("le=\"0.1\"", "le=\"0.2\"", 1);
    let (dir, check) = rtts("c12b", &other, "series = \"sum\"\n");
    let said = line(&cemark(&dir, check).stderr);
    says(
        &said,
        &["line 9: `obi_tcp_rtt_seconds{peer=\"b\"}` has other bounds"],
    );
}

/// Tables of sizes as they are published: shares up to 1 or to 100, with and without a last
/// newline; a third column, commas within numbers and percent signs are refused by line.
#[test]
fn c13_tables_of_sizes() {
    let check = |table: &str| {
        let scenario = "[topology]\nkind = \"star\"\nhosts = 3\n[[workload]]\nkind = \"poisson\"\n\
                        sizes = \"sizes.txt\"\nload = 0.5\nflows = 100\n[[scheme]]\n\
                        marker = \"tcn\"\n";
        let dir = folder("cases-c13", &[("my.toml", scenario), ("sizes.txt", table)]);
        let o = cemark(&dir, &["check", "my.toml"]);
        (o.status.code(), line(&o.stderr))
    };
    for table in [
        "0 0\n10000 0.15\n20000 0.2\n30000000 1\n",
        "0 0\n10000 15\n20000 20\n30000000 100",
        "100 0.1\n10000 0.6\n1000000 1.0",
    ] {
        let (code, said) = check(table);
        assert_eq!(code, Some(0), "{table:?}: {said}");
    }
    for (table, place) in [
        ("1 1 0\n10 1 0.5\n100 1 1\n", "line 1"),
        ("0 0\n10,000 0.15\n30,000 1\n", "line 2"),
        ("1 0\n10 15%\n100 1\n", "line 2"),
    ] {
        let (code, said) = check(table);
        assert_eq!(code, Some(2), "{table:?}");
        assert!(said.contains(place), "{table:?}: {said}");
    }
}
