// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counters of middleboxes are in the JSON of the run.

use std::path::Path;
use std::process::Command;

#[test]
fn a_run_reports_the_counters_of_its_middleboxes() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("edges");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    let file = dir.join("edges.toml");
    let text = r#"
max-time = "60ms"
[topology]
kind = "two-sites"
left = 2
right = 2
wan-delay = "1ms"
[[workload]]
kind = "long"
pattern = "pairs"
pairs = [[0, 2], [1, 3]]
[transport]
control = "cubic"
[[fault]]
links = ["wan0.0->wan1.0"]
rate = "1%"
victims = "prefer-not-ect"
[measure]
from = "0s"
[[scheme]]
label = "plain"
marker = "none"
[[scheme]]
label = "dcib"
marker = "none"
edge = { kind = "dcib" }
[[scheme]]
label = "pep"
marker = "none"
edge = { kind = "pep" }
"#;
    std::fs::write(&file, text).expect("a temporary file");
    let o = Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(["run", "--format", "json", "--out"])
        .arg(dir.join("out"))
        .arg(&file)
        .output()
        .expect("the program runs");
    assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr));
    let json: serde_json::Value = serde_json::from_slice(&o.stdout).expect("JSON");
    let of = |scheme: &str, name: &str| {
        let points = json["points"].as_array().expect("a list");
        let point = points.iter().find(|p| p["scheme"] == scheme);
        point.expect("each scheme has its point")["edges"][name].as_u64()
    };
    assert_eq!(of("plain", "selected"), None);
    // A tenth of the data is selected, lost packets are sent again from the copies, and copies wait
    // in the stalled queue.
    for name in ["selected", "resent", "router_acks", "stalled_peak_bytes"] {
        assert!(of("dcib", name) > Some(0), "{name}");
    }
    assert!(of("dcib", "resent") < of("dcib", "selected"));
    assert_eq!(of("pep", "pep_peak_flows"), Some(2));
    assert!(of("pep", "pep_stored_peak_bytes") > Some(0));
}
