// SPDX-License-Identifier: MIT OR Apache-2.0
//! Units as people write them, cells of a switch's buffer, and units that do not fit a key.

use crate::common::read;
use cemark_scenario::{Error, Plan};
use cemark_sim::config::MarkerChoice;
use cemark_wire::Rate;

fn text(switch: &str, schemes: &str) -> String {
    format!(
        "{}[rtt]\nmodel = \"fixed\"\nrtt = \"100us\"\n[transport]\nrto-min = \"5ms\"\n\
         [switch]\n{switch}\n{schemes}\n",
        crate::common::STAR
    )
}

fn plan(text: &str) -> Plan {
    read(text).unwrap_or_else(|e| panic!("{e}: {:?}", e.help_text()))
}

fn k(plan: &Plan) -> u64 {
    match &plan.points[0].config.switch.marker {
        MarkerChoice::Builtin { scheme, values } => values.get(scheme.index_of("k").expect("k")),
        other => panic!("{other:?}"),
    }
}

fn said(text: &str) -> (String, String) {
    let error: Error = read(text).map(|_| ()).expect_err(text);
    assert!(error.position().is_some(), "{error}");
    (
        error.message().to_owned(),
        error.help_text().unwrap_or_default().to_owned(),
    )
}

const STEP: &str = "[[scheme]]\nmarker = \"threshold\"\nk = \"65pkt\"";

#[test]
fn one_value_in_many_spellings() {
    let one = plan(&text("buffer = \"600KB\"", STEP));
    assert_eq!(one.points[0].config.topology.slowest(), Rate::gbps(10));
    for (from, to) in [
        ("\"10Gbps\"", "\"10G\""),
        ("\"10Gbps\"", "\"10g\""),
        ("\"10Gbps\"", "\"10Gbit\""),
        ("\"10Gbps\"", "\"10Gb/s\""),
        ("\"10Gbps\"", "\"10 Gb\""),
        ("\"10Gbps\"", "\"10000Mbit\""),
        ("\"600KB\"", "\"600kb\""),
        ("\"600KB\"", "\"600 kbytes\""),
        ("\"600KB\"", "\"4800kbit\""),
        ("\"600KB\"", "\"600000 bytes\""),
        ("\"65pkt\"", "\"65 packets\""),
        ("\"5ms\"", "\"5msec\""),
        ("\"2us\"", "\"2usec\""),
    ] {
        let other = text("buffer = \"600KB\"", STEP).replacen(from, to, 1);
        assert!(other.contains(to), "{from}");
        assert_eq!(plan(&other).digest, one.digest, "{to}");
    }
}

#[test]
fn doubtful_units_name_both_readings() {
    let good = text("buffer = \"600KB\"", STEP);
    for (from, to, one, other) in [
        (
            "\"10Gbps\"",
            "\"10gbps\"",
            "\"10Gbps\" (gigabits)",
            "\"80Gbps\" (gigabytes, as tc",
        ),
        (
            "\"10Gbps\"",
            "\"10GB/s\"",
            "\"10Gbps\" (gigabits)",
            "\"80Gbps\" (gigabytes)",
        ),
        (
            "\"600KB\"",
            "\"8Mb\"",
            "\"8MB\" (megabytes)",
            "\"1MB\" (megabits)",
        ),
        ("\"600KB\"", "\"64K\"", "\"64KB\"", "\"65.536KB\""),
    ] {
        let (what, help) = said(&good.replacen(from, to, 1));
        assert!(what.ends_with("can be read in two ways"), "{to}: {what}");
        assert!(help.contains(one) && help.contains(other), "{to}: {help}");
    }
}

#[test]
fn cells_are_bytes() {
    let cells = "buffer = \"4000 cells\"\ncell = \"256B\"";
    let bytes = plan(&text("buffer = \"1024000B\"", STEP));
    let two = plan(&text(
        cells,
        "[[scheme]]\nmarker = \"threshold\"\nk = \"400 cells\"",
    ));
    assert_eq!(
        (two.points[0].config.switch.buffer_bytes, k(&two)),
        (1_024_000, 102_400)
    );
    // Bytes are the identity: cells of any size hold a threshold that is whole in them.
    let whole = "[[scheme]]\nmarker = \"threshold\"\nk = \"102400B\"";
    let bytes_whole = plan(&text("buffer = \"1024000B\"", whole));
    assert_eq!(plan(&text(cells, whole)).digest, bytes_whole.digest);
    let other = plan(&text("buffer = \"1024000B\"\ncell = \"80B\"", whole));
    assert_eq!(other.digest, bytes_whole.digest);
    assert_eq!(k(&plan(&text(cells, STEP))), k(&bytes) / 256 * 256);
    // Queues, a scheme's own switch with other cells, labels that look like a length.
    let queues = "scheduler = \"dwrr\"\ncell = \"208B\"\nqueue = [{ bytes = \"100 cells\" }, {}]";
    let one = plan(&text(queues, STEP));
    assert_eq!(one.points[0].config.switch.queues[0].limit_bytes, 20_800);
    let own = "[[scheme]]\nlabel = \"10 cells\"\nmarker = \"threshold\"\nk = \"1 cell\"\n\
               [scheme.switch]\ncell = \"100B\"\nbuffer = \"5000 cells\"\n";
    let own = plan(&text(cells, own));
    assert_eq!((own.schemes[0].as_str(), k(&own)), ("10 cells", 100));
    assert_eq!(own.points[0].config.switch.buffer_bytes, 500_000);
    // Swept, and set.
    let swept = text(cells, STEP) + "[sweep]\n\"switch.buffer\" = [\"1000 cells\", \"2000 cells\"]";
    let swept = plan(&swept);
    let buffers: Vec<u32> = swept
        .points
        .iter()
        .map(|p| p.config.switch.buffer_bytes)
        .collect();
    assert_eq!(buffers, [256_000, 512_000]);
    assert_eq!(swept.points[0].axes["switch.buffer"], "1000 cells");
}

#[test]
fn cells_need_their_size() {
    let marker = |k: &str| format!("[[scheme]]\nmarker = \"threshold\"\nk = \"{k}\"");
    for (switch, scheme) in [
        ("buffer = \"4000 cells\"", STEP),
        ("", &marker("400 cells")),
    ] {
        let (what, help) = said(&text(switch, scheme));
        assert!(what.ends_with(" cells` needs the size of a cell"), "{what}");
        assert!(help.contains("cell = \"256B\" in [switch]"), "{help}");
    }
    for (number, says) in [
        ("-4", "cannot be negative"),
        ("1.2.3", "is not a number of cells"),
        ("99999999999999999999", "is too large"),
    ] {
        let switch = format!("cell = \"256B\"\nbuffer = \"{number} cells\"");
        assert!(said(&text(&switch, STEP)).0.contains(says), "{number}");
    }
    let (what, help) = said(&text("cell = \"256B\"", STEP).replacen("\"5ms\"", "\"5 cells\"", 1));
    assert!(
        what.contains("`cells` is not a unit of a time here"),
        "{what}"
    );
    assert!(help.contains("[switch]"), "{help}");
    for wrong in ["0B", "70KB", "5us", "2 cells"] {
        said(&text(&format!("cell = \"{wrong}\""), STEP));
    }
}

/// The message names the key, and the keys that were probably meant.
#[test]
fn a_unit_of_something_else() {
    let good = text("buffer = \"600KB\"", STEP);
    for (from, to, says, advises) in [
        (
            "rto-min = \"5ms\"",
            "rto-min = \"5KB\"",
            "`5KB` is a length, and `rto-min` is a time",
            "write rto-min = \"85us\"; lengths here: `mss`, `header`, `ack`",
        ),
        (
            "rate = \"10Gbps\"",
            "rate = \"10us\"",
            "`10us` is a time, and `rate` is a rate",
            "write rate = \"10Gbps\"",
        ),
        (
            "buffer = \"600KB\"",
            "buffer = \"60us\"",
            "`60us` is a time, and `buffer` is a length",
            "times here: `abm-interval`, `round-idle`",
        ),
        (
            "marker = \"threshold\"\nk = \"65pkt\"",
            "marker = \"ecn_sharp\"\nkmax = \"10KB\"",
            "`10KB` is a length, and `kmax` is a time in ECN#",
            "write scheme.LABEL.kmax",
        ),
        (
            "k = \"65pkt\"",
            "k = \"10Gbps\"",
            "`10Gbps` is a rate, and `k` is a length in DCTCP-RED",
            "\"250KB\"",
        ),
    ] {
        let (what, help) = said(&good.replacen(from, to, 1));
        assert_eq!(what, says);
        assert!(help.contains(advises), "{help}");
    }
}
