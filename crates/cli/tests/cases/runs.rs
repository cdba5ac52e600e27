// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs whose outcome follows by hand.

use std::fs;

use crate::common::{cemark, folder, line};

/// The only point of a run.
fn point(name: &str, text: &str, more: &[&str]) -> serde_json::Value {
    let dir = folder(&format!("cases-{name}"), &[("my.toml", text)]);
    let args = ["run", "my.toml", "--out", "run", "--format", "json"];
    let o = cemark(&dir, &[&args, more].concat());
    assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
    let mut doc: serde_json::Value = serde_json::from_slice(&o.stdout).expect("a document");
    doc["points"][0].take()
}

fn drops(point: &serde_json::Value) -> u64 {
    let by_reason = point["drops"].as_object().expect("drops by reason");
    by_reason
        .values()
        .map(|n| n.as_u64().expect("a number"))
        .sum()
}

/// 5000 packets of 1024 bytes join the queue of a port that sends one in 0.8 ms, within 41 us.
fn burst(scheme: &str) -> String {
    format!(
        "max-time = \"60s\"\n[topology]\nkind = \"dumbbell\"\nleft = 1\nright = 1\n\
         rate = \"1Tbps\"\ndelay = \"1us\"\nmiddle-rate = \"10Mbps\"\nmiddle-delay = \"1us\"\n\
         [[workload]]\nkind = \"list\"\nflow = [{{ at = \"0s\", src = 0, dst = 1, size = \
         \"4920000B\" }}]\n[transport]\nmss = \"984B\"\nheader = \"40B\"\ninit-window = 5000\n\
         rto-min = \"50s\"\nrto-init = \"50s\"\n[switch]\nbuffer = \"10MB\"\n[[scheme]]\n{scheme}\n"
    )
}

const RAMP: &str = "marker = \"wred\"\nmin = \"800KB\"\nmax = \"1200KB\"\n\
                    drop-probability = \"100%\"";

/// The first packet is sent at once, and packet i finds i - 1 in the queue. 3827 find more than
/// 1200 KB; 390 find 800.8 to 1199.1 KB and are marked with a probability of one half on average:
/// 3827 + 195, with a standard deviation of 8. Judged as they leave, by what stays behind, as many.
#[test]
fn c18_a_burst_is_marked_as_the_ramp_says() {
    for hook in ["", "\nhook = \"dequeue\""] {
        for seed in ["1", "2", "3"] {
            let point = point("c18", &burst(&format!("{RAMP}{hook}")), &["--seed", seed]);
            let marks = point["marks"].as_i64().expect("marks");
            assert!((marks - 4022).abs() <= 24, "{hook} seed {seed}: {marks}");
        }
    }
}

/// The ECN fields of packets on a link, in order: 3 is a mark.
fn fields(capture: &[u8]) -> Vec<u8> {
    let word = |at: usize| {
        let bytes = capture[at..at + 4].try_into().expect("four bytes");
        u32::from_le_bytes(bytes) as usize
    };
    let (mut at, mut fields) = (0, Vec::new());
    while at < capture.len() {
        // An enhanced packet block has 28 bytes before the Ethernet header of 14.
        if word(at) == 6 {
            fields.push(capture[at + 28 + 14 + 1] & 3);
        }
        at += word(at + 4);
    }
    fields
}

/// With one threshold a burst shows where packets are judged. As they leave: the first are marked
/// (but for the very first, behind which nothing waits yet), and the last 800 KB, 781 packets and
/// the last one, are not. As they join: the other way round. RED marks from its threshold on.
#[test]
fn c18b_marks_at_departure() {
    let wred = "marker = \"wred\"\nmin = \"800KB\"\nmax = \"800KB\"";
    let red = "marker = \"red\"\nkmin = \"800KB\"\nkmax = \"800KB\"\nweight = 1";
    let threshold = "marker = \"threshold\"\nk = \"800KB\"\ncount-self = false";
    for scheme in [wred, red, threshold] {
        for (hook, first) in [("dequeue", 1), ("enqueue", 783)] {
            let text = burst(&format!("{scheme}\nhook = \"{hook}\""));
            let dir = folder("cases-c18b", &[("my.toml", &text)]);
            let args = [
                "capture",
                "my.toml",
                "--link",
                "switch0->switch1",
                "--out",
                "o.pcapng",
            ];
            let o = cemark(&dir, &args);
            assert_eq!(o.status.code(), Some(0), "{}", line(&o.stderr));
            let fields = fields(&fs::read(dir.join("o.pcapng")).expect("the capture"));
            assert_eq!(fields.len(), 5000);
            let marked: Vec<usize> = (0..5000).filter(|&i| fields[i] == 3).collect();
            let all: Vec<usize> = (first..first + 4217).collect();
            assert_eq!(marked, all, "{scheme} {hook}");
        }
    }
}

/// 1000 flows of 8 packets to one of 144 hosts: pauses lose nothing, and without them packets are
/// lost.
#[test]
fn c22_pauses_against_an_incast() {
    let text = "max-time = \"1s\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 9\nspines = 4\n\
                hosts-per-leaf = 16\nrate = \"10Gbps\"\ndelay = \"1us\"\nuplink-rate = \"40Gbps\"\n\
                uplink-delay = \"1us\"\n[[workload]]\nkind = \"incast\"\nsenders = 1000\n\
                receiver = 0\nsize = \"8000B\"\n[transport]\ncontrol = \"dcqcn\"\nmss = \"1000B\"\n\
                [switch]\nbuffer-policy = \"dynamic\"\npool = \"2MB\"\npfc = PFC\n[[scheme]]\n\
                marker = \"wred\"\nmin = \"100KB\"\nmax = \"400KB\"\ndrop-probability = \"20%\"\n";
    let with = point("c22", &text.replace("PFC", "true"), &["--seed", "1"]);
    let pauses = with["pauses"].as_u64().expect("pauses");
    assert!(drops(&with) == 0 && pauses > 0, "{with}");
    assert_eq!(with["unfinished"], 0);
    let without = point("c22", &text.replace("PFC", "false"), &["--seed", "1"]);
    assert!(drops(&without) > 0 && without["pauses"] == 0, "{without}");
}

/// 40 to 1 at 100 Gb/s over flow control with headroom for exactly the frame's way: 2 us and four
/// packets are 29 to 30 KB. A sender that takes 1 us to obey needs 12.5 KB more.
fn incast(name: &str, keys: &str) -> serde_json::Value {
    let text = format!(
        "max-time = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 41\nrate = \"100Gbps\"\n\
         delay = \"1us\"\n[[workload]]\nkind = \"incast\"\nsenders = 40\nreceiver = 40\n\
         size = \"200KB\"\n[transport]\ncontrol = \"dcqcn\"\nmss = \"1000B\"\n{keys}\n[[scheme]]\n\
         marker = \"wred\"\nmin = \"400KB\"\nmax = \"1600KB\"\ndrop-probability = \"20%\"\n"
    );
    point(name, &text, &["--seed", "1"])
}

/// Rate alone lets every sender begin at the rate of its link. A window bounds what is in flight,
/// to 520 KB of 2 MB here, and no link is paused.
#[test]
fn c23_a_window_prevents_pauses() {
    let switch = "[switch]\nbuffer-policy = \"dynamic\"\npool = \"2MB\"\npfc = true";
    let open = incast("c23", switch);
    assert!(
        open["pauses"].as_u64().expect("pauses") > 0 && drops(&open) == 0,
        "{open}"
    );
    let bounded = incast("c23", &format!("receive-window = \"13KB\"\n{switch}"));
    assert_eq!((bounded["pauses"].as_u64(), drops(&bounded)), (Some(0), 0));
}

#[test]
fn c24_headroom_and_a_sender_that_obeys_late() {
    let switch = |headroom: &str, reaction: &str| {
        let keys = format!(
            "[switch]\nbuffer-policy = \"shared\"\npool = \"8MB\"\npfc = true\n\
             pfc-xoff = \"50KB\"\n{headroom}pfc-reaction = \"{reaction}\""
        );
        let point = incast("c24", &keys);
        assert!(point["pauses"].as_u64().expect("pauses") > 0, "{point}");
        drops(&point)
    };
    assert_eq!(switch("pfc-headroom = \"32KB\"\n", "0"), 0);
    assert!(
        switch("pfc-headroom = \"20KB\"\n", "0") > 0,
        "the frame's way is 25 KB long"
    );
    assert!(
        switch("pfc-headroom = \"32KB\"\n", "1us") > 0,
        "12.5 KB more arrive"
    );
    assert_eq!(switch("pfc-headroom = \"45KB\"\n", "1us"), 0);
    // The headroom that is computed covers the reaction.
    assert_eq!(switch("", "0"), 0);
    assert_eq!(switch("", "1us"), 0);
}

/// Every packet is marked, and two flows hold two packets each: 4 packets of 1460 bytes in a round
/// trip of 100 us are 0.467 Gb/s.
#[test]
fn c30_one_cut_in_a_round_trip() {
    let text = "max-time = \"40ms\"\n[topology]\nkind = \"star\"\nhosts = 3\nrate = \"10Gbps\"\n\
                delay = \"25us\"\n[[workload]]\nkind = \"long\"\npattern = \"pairs\"\n\
                pairs = [[0, 2], [1, 2]]\n[transport]\ncontrol = \"dctcp\"\n[[scheme]]\n\
                marker = \"threshold\"\nk = \"0B\"\n[measure]\nfrom = \"20ms\"\nuntil = \"40ms\"\n";
    let point = point("c30", text, &["--seed", "1"]);
    let goodput = point["long_goodput_bps"].as_f64().expect("goodput");
    assert!((0.43e9..0.47e9).contains(&goodput), "{goodput}");
}
