// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flows of a `list` from a file.

use std::path::PathBuf;

use cemark_scenario::{Overrides, Plan, parse};
use cemark_sim::workload::{FlowLine, Kind};
use cemark_wire::Picos;

/// A folder of a test's own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("cemark-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn read(&self, csv: &str, more: &str) -> Result<Plan, (String, String)> {
        std::fs::write(self.0.join("flows.csv"), csv).expect("a file");
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 4\n[switch]\nscheduler = \"dwrr\"\n\
             queues = 2\n[[workload]]\nkind = \"list\"\nfile = \"flows.csv\"\n{more}\
             [[scheme]]\nmarker = \"none\"\n"
        );
        let file = self.0.join("s.toml");
        parse(&text, &file.to_string_lossy(), &Overrides::default()).map_err(|error| {
            let help = error.help_text().unwrap_or_default().to_owned();
            (error.message().to_owned(), help)
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn lines(plan: &Plan) -> &[FlowLine] {
    match &plan.points[0].config.workloads[0].kind {
        Kind::List(lines) => lines,
        other => panic!("{other:?}"),
    }
}

#[test]
fn columns_have_names_and_units() {
    let folder = Folder::new("flows-good");
    let plan = folder
        .read(
            "# made by hand\nsize,dst,src,at_us,rtt,class\n100KB,1,0,20,90us,1\n\
             1460,2,3,5ms,,\n7,0,1,,,0\n",
            "",
        )
        .expect("flows");
    let line = |at: u64, src, dst, bytes, class, rtt: Option<u64>| FlowLine {
        start: Picos::from_micros(at),
        src,
        dst,
        bytes,
        class,
        rtt: rtt.map(Picos::from_micros),
    };
    assert_eq!(
        lines(&plan),
        [
            line(0, 1, 0, 7, Some(0), None),
            line(20, 0, 1, 100_000, Some(1), Some(90)),
            line(5_000, 3, 2, 1_460, None, None),
        ]
    );
}

#[test]
fn a_mistake_is_named_with_its_line() {
    let folder = Folder::new("flows-bad");
    for (csv, says) in [
        ("src,dst\n0,1\n", "names no column `size`"),
        ("src,dst,size,colour\n0,1,5,red\n", "`colour` is no column"),
        ("src,dst,size,size_bytes\n0,1,5,5\n", "two columns"),
        ("src,dst,size\n", "no flows"),
        (
            "src,dst,size\n0,1,5\n0,4,5\n",
            "line 3: `dst` is not a host, 0 to 3",
        ),
        (
            "src,dst,size\n1,1,5\n",
            "line 2: host 1 cannot send to itself",
        ),
        ("src,dst,size\n0,1,0\n", "line 2: a flow has from one byte"),
        (
            "src,dst,size\n0,1,much\n",
            "line 2: `size` cannot be read: `much`",
        ),
        (
            "src,dst,size,at\n0,1,5,7\n",
            "line 2: `at` cannot be read: `7`",
        ),
        (
            "src,dst,size,class\n0,1,5,2\n",
            "line 2: `class` is not a queue, 0 to 1",
        ),
        ("src,dst,size\n0,1\n", "found record with 2 fields"),
    ] {
        let (message, help) = folder.read(csv, "").expect_err(csv);
        assert!(message.contains(says), "{csv}: {message}");
        assert!(help.contains("at_us,src,dst,size"), "{help}");
    }
    let both = "flow = [{ src = 0, dst = 1, size = \"1KB\" }]\n";
    let (message, _) = folder
        .read("src,dst,size\n0,1,5\n", both)
        .expect_err("two ways");
    assert!(message.contains("two ways"), "{message}");
}

#[test]
fn a_million_flows_are_read() {
    use std::fmt::Write;
    let folder = Folder::new("flows-many");
    let mut csv = String::from("at_ns,src,dst,size\n");
    for i in 0..1_000_000u64 {
        writeln!(csv, "{i},{},{},{}", i % 4, (i + 1) % 4, 1 + i % 5_000).expect("text");
    }
    let plan = folder.read(&csv, "").expect("flows");
    assert_eq!(lines(&plan).len(), 1_000_000);
    assert_eq!(lines(&plan)[999_999].start, Picos::from_nanos(999_999));
}
