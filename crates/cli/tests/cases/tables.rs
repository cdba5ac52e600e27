// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables and documents of a run.

use crate::common::{cemark, folder, line};

fn ran(name: &str, text: &str) -> (serde_json::Value, String) {
    let dir = folder(&format!("cases-{name}"), &[("my.toml", text)]);
    let run = |format: &str| {
        let o = cemark(
            &dir,
            &["run", "my.toml", "--out", format, "--format", format],
        );
        assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
        o.stdout
    };
    let doc = serde_json::from_slice(&run("json")).expect("a document");
    (doc, line(&run("table")))
}

/// Weights 5, 15 and 20 of 40: an eighth, three eighths and a half of the link, in the table and in
/// the document.
#[test]
fn c15_shares_of_classes() {
    let class = |n: u32| {
        format!(
            "[[workload]]\nname = \"tc{n}\"\nkind = \"long\"\npattern = \"pairs\"\n\
             pairs = [[{}, 3], [{}, 3]]\nclass = {n}\n",
            n, n
        )
    };
    let text = format!(
        "max-time = \"30ms\"\n[topology]\nkind = \"star\"\nhosts = 4\nrate = \"10Gbps\"\n\
         delay = \"1us\"\n{}{}{}[switch]\nbuffer = \"2MB\"\nscheduler = \"dwrr\"\n\
         [[switch.queue]]\nquantum = \"1500B\"\n[[switch.queue]]\nquantum = \"4500B\"\n\
         [[switch.queue]]\nquantum = \"6000B\"\n[[scheme]]\nmarker = \"mq_ecn\"\nk = \"60KB\"\n\
         [measure]\nfrom = \"5ms\"\nuntil = \"30ms\"\n",
        class(0),
        class(1),
        class(2)
    );
    let (doc, shown) = ran("c15", &text);
    let point = &doc["points"][0];
    let all = point["long_goodput_bps"].as_f64().expect("goodput");
    for (place, share) in [("0", 0.125), ("1", 0.375), ("2", 0.5)] {
        for (map, key) in [
            ("goodput_bps_by_class", place.to_owned()),
            ("goodput_bps_by_workload", format!("tc{place}")),
        ] {
            let own = point[map][&key].as_f64().expect("goodput of a part") / all;
            assert!((own / share - 1.0).abs() < 0.02, "{map} {key}: {own}");
        }
    }
    for part in ["(12.5 %)", "(37.5 %)", "(50.0 %)"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(
        shown.contains("goodput by queue class: MQ-ECN: class 0"),
        "{shown}"
    );
}

/// 1460 of 1500 bytes on the wire are payload: 97.3 Mb/s of 100 is the most. Bytes that wait behind
/// a hole count as they arrive, so no window of time has more than the link carries in it.
#[test]
fn c20b_goodput_is_never_above_the_link() {
    let text = "max-time = \"8s\"\n[topology]\nkind = \"dumbbell\"\nleft = 1\nright = 1\n\
                rate = \"10Gbps\"\ndelay = \"5us\"\nmiddle-rate = \"100Mbps\"\n\
                middle-delay = \"50us\"\n[[workload]]\nkind = \"long\"\npattern = \"pairs\"\n\
                pairs = [[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1]]\n\
                [host]\npreset = \"linux\"\n[transport]\ncontrol = \"cubic\"\n[switch]\n\
                buffer = \"25MB\"\n[[scheme]]\nmarker = \"none\"\n[measure]\nfrom = \"FROM\"\n\
                until = \"UNTIL\"\n";
    for (from, until) in [("2s", "4s"), ("4s", "8s"), ("5s", "6s")] {
        let text = text.replace("FROM", from).replace("UNTIL", until);
        let (doc, _) = ran(&format!("c20b-{from}"), &text);
        let bps = doc["points"][0]["long_goodput_bps"]
            .as_f64()
            .expect("goodput");
        assert!(bps <= 97.4e6, "{from} to {until}: {bps}");
        assert!(
            bps >= 90e6,
            "{from} to {until}: {bps}, and the queue is never empty"
        );
    }
}

/// A device below the marker delays the ping by its packets, 120 us for 100, and the table says
/// that they are not in the queue's column.
#[test]
fn c21_the_queue_that_is_not_in_the_column() {
    let text = "max-time = \"20ms\"\n[topology]\nkind = \"star\"\nhosts = 6\nrate = \"10Gbps\"\n\
                delay = \"10us\"\n[[workload]]\nkind = \"long\"\npattern = \"pairs\"\n\
                pairs = [[0, 4], [1, 4], [2, 4], [3, 4]]\n[[workload]]\nkind = \"probe\"\nsrc = 5\n\
                dst = 4\nevery = \"100us\"\ncount = 150\n[switch]\nbuffer = \"2MB\"\n\
                device-packets = N\n[[scheme]]\nmarker = \"threshold\"\nk = \"65pkt\"\n\
                [measure]\nfrom = \"5ms\"\nuntil = \"20ms\"\n";
    let of = |n: &str| {
        let (doc, shown) = ran(&format!("c21-{n}"), &text.replace('N', n));
        let rtt = doc["points"][0]["probe_rtt_us"]["mean"].as_f64();
        (rtt.expect("a round trip"), shown)
    };
    let ((without, plain), (with, noted)) = (of("0"), of("100"));
    let more = with - without;
    assert!((90.0..=140.0).contains(&more), "{without} and {with}");
    assert!(!plain.contains("below the marker"), "{plain}");
    assert!(
        noted.contains("do not include the up to 100 packets"),
        "{noted}"
    );
}
