// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark bpf` on the running kernel, in two network namespaces that the test makes and removes.
//! It needs root and `ip` and `tc` (iproute2); without, it says so and passes.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};

/// Bytes that the connection of the test carries.
const PAYLOAD: usize = 30_000_000;
/// Tells this program which end of the connection it is.
const ROLE: &str = "CEMARK_TEST_BPF_ROLE";
const ADDRESS: &str = "10.99.7.2:5201";

/// Two namespaces joined by a pair of devices; removed on drop. The sender's `out` is shaped.
struct Pair {
    sender: String,
    receiver: String,
}

fn run(line: &[&str]) -> Output {
    let (program, args) = line.split_first().expect("a program");
    let done = Command::new(program).args(args).output();
    done.unwrap_or_else(|e| panic!("{program}: {e}"))
}

fn ok(line: &[&str]) -> String {
    let done = run(line);
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}: {said}", line.join(" "));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

impl Pair {
    /// `None` where this machine does not let the test make namespaces.
    fn new(name: &str) -> Option<Pair> {
        let id = std::process::id();
        let pair = Pair {
            sender: format!("cemark-{name}-a-{id}"),
            receiver: format!("cemark-{name}-b-{id}"),
        };
        let first = Command::new("ip")
            .args(["netns", "add", &pair.sender])
            .output();
        if !first.is_ok_and(|o| o.status.success()) {
            eprintln!("left out: needs root and `ip netns`");
            return None;
        }
        let (a, b) = (pair.sender.as_str(), pair.receiver.as_str());
        ok(&["ip", "netns", "add", b]);
        ok(&[
            "ip", "link", "add", "out", "netns", a, "type", "veth", "peer", "name", "in", "netns",
            b,
        ]);
        for (space, device, address) in [(a, "out", "10.99.7.1/24"), (b, "in", "10.99.7.2/24")] {
            ok(&["ip", "-n", space, "addr", "add", address, "dev", device]);
            ok(&[
                "ip",
                "-n",
                space,
                "link",
                "set",
                device,
                "gso_max_segs",
                "1",
            ]);
            ok(&["ip", "-n", space, "link", "set", device, "up"]);
            let ecn = "echo 1 > /proc/sys/net/ipv4/tcp_ecn";
            ok(&["ip", "netns", "exec", space, "sh", "-c", ecn]);
        }
        Some(pair)
    }

    fn shape(&self) {
        ok(&[
            "tc",
            "-n",
            &self.sender,
            "qdisc",
            "add",
            "dev",
            "out",
            "root",
            "tbf",
            "rate",
            "205mbit",
            "burst",
            "20kb",
            "limit",
            "2mb",
        ]);
    }

    fn within(&self, space: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", space, program]);
        command
    }

    fn cemark(&self, args: &str) -> Output {
        self.within(&self.sender, env!("CARGO_BIN_EXE_cemark"))
            .args(args.split_whitespace())
            .output()
            .expect("the program runs")
    }

    fn good(&self, args: &str) -> String {
        let done = self.cemark(args);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "cemark {args}: {said}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// A user's mistake, with these parts of its message.
    fn bad(&self, args: &str, parts: &[&str]) {
        let done = self.cemark(args);
        let said = String::from_utf8_lossy(&done.stderr);
        // A message may be wrapped.
        let flat: String = said
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace("│ ", "");
        assert_eq!(done.status.code(), Some(2), "cemark {args}: {said}");
        for part in parts {
            assert!(
                flat.contains(part),
                "cemark {args}: `{part}` is not in: {said}"
            );
        }
    }

    fn show(&self) -> serde_json::Value {
        let text = self.good("bpf show out --format json");
        serde_json::from_str(&text).expect("JSON")
    }

    /// State of traffic control on the device, without the shaper.
    fn left(&self) -> String {
        let device = ["tc", "-n", &self.sender];
        let filters = [&device[..], &["filter", "show", "dev", "out", "egress"]].concat();
        let qdiscs = [&device[..], &["qdisc", "show", "dev", "out"]].concat();
        let clsact: String = ok(&qdiscs)
            .lines()
            .filter(|l| l.contains("clsact"))
            .collect();
        clsact + &String::from_utf8_lossy(&run(&filters).stdout)
    }

    /// This program again, in a namespace, as one end of the connection.
    fn end(&self, space: &str, role: &str) -> Child {
        let me = std::env::current_exe().expect("this program");
        self.within(space, &me.display().to_string())
            .args(["--exact", "bpf::one_end", "--nocapture"])
            .env(ROLE, role)
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program")
    }

    /// Sends the payload over one connection; returns how many of its packets arrived with CE.
    fn transfer(&self) -> u64 {
        let receiver = self.end(&self.receiver, "receiver");
        let sender = self
            .end(&self.sender, "sender")
            .wait_with_output()
            .expect("an end");
        let receiver = receiver.wait_with_output().expect("an end");
        assert!(sender.status.success() && receiver.status.success());
        let said = String::from_utf8_lossy(&receiver.stdout).into_owned();
        let count = said.lines().find_map(|l| l.strip_prefix("CE "));
        count
            .expect("the receiver's count")
            .parse()
            .expect("a number")
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for space in [&self.sender, &self.receiver] {
            let _ = Command::new("ip").args(["netns", "del", space]).output();
        }
    }
}

/// `InCEPkts` of this namespace.
fn ce_packets() -> u64 {
    let text = std::fs::read_to_string("/proc/net/netstat").expect("the counters");
    let mut lines = text.lines().filter_map(|l| l.strip_prefix("IpExt: "));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let mut pairs = names.split(' ').zip(values.split(' '));
    let (_, value) = pairs
        .find(|(name, _)| *name == "InCEPkts")
        .expect("the counter");
    value.parse().expect("a number")
}

/// Not a test of its own: an end of the connection, where another test starts this program so.
#[test]
fn one_end() {
    match std::env::var(ROLE).as_deref() {
        Ok("receiver") => {
            let listener = TcpListener::bind(ADDRESS).expect("an address");
            let (mut stream, _) = listener.accept().expect("a connection");
            let (mut buffer, mut got) = (vec![0; 1 << 16], 0);
            loop {
                match stream.read(&mut buffer).expect("data") {
                    0 => break,
                    n => got += n,
                }
            }
            assert_eq!(got, PAYLOAD);
            println!("\nCE {}", ce_packets());
        }
        Ok("sender") => {
            // The receiver may not listen yet.
            let mut tries = (0..200).map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                TcpStream::connect(ADDRESS)
            });
            let mut stream = tries.find_map(Result::ok).expect("a connection");
            stream.write_all(&vec![0; PAYLOAD]).expect("sent");
        }
        _ => {}
    }
}

#[test]
fn a_device_is_marked_retuned_and_left_as_it_was() {
    let Some(pair) = Pair::new("mark") else {
        return;
    };
    pair.shape();
    let came = pair.cemark("bpf attach out --rate 200Mbps scheme tcn threshold=500us");
    let said = String::from_utf8_lossy(&came.stderr);
    if said.contains("this kernel has no") || said.contains("is not permitted") {
        eprintln!("left out: {said}");
        return;
    }
    assert!(came.status.success(), "{said}");
    let ce = pair.transfer();
    let shown = pair.show();
    let number = |path: &str| {
        shown
            .pointer(path)
            .and_then(|v| v.as_u64())
            .expect("a number")
    };
    let marks = number("/marks/instant");
    assert!(marks > 0 && ce > 0 && ce <= marks, "{ce} arrived: {shown}");
    assert!(number("/packets") > PAYLOAD as u64 / 1_500, "{shown}");
    assert_eq!(
        (number("/not_writable"), number("/dropped")),
        (0, 0),
        "{shown}"
    );
    // The round trip here is shorter than a packet, so two packets in flight fill the shaper. The
    // virtual queue grows by what that sends beyond its rate: 16 ms in the mean of this transfer.
    assert!(number("/mean_wait_ns") < 20_000_000, "{shown}");

    // A change keeps what was counted, and every other parameter.
    pair.good("bpf retune out threshold=1ms --not-ect drop");
    let after = pair.show();
    assert_eq!(after["parameters"]["threshold"], "1ms");
    assert_eq!(after["not_ect"], "drop");
    assert_eq!(after["rate"], 200_000_000);
    assert!(after["packets"].as_u64() >= shown["packets"].as_u64());
    let table = pair.good("bpf show out");
    for part in [
        "out: TCN at 200 Mb/s",
        "threshold = 1ms",
        "instant",
        "virtual wait, mean",
    ] {
        assert!(table.contains(part), "{table}");
    }

    pair.bad(
        "bpf attach out --rate 200Mbps scheme tcn",
        &["out is marked already, by TCN", "cemark bpf detach out"],
    );
    assert!(pair.left().contains("clsact"));
    pair.good("bpf detach out");
    assert_eq!(pair.left(), "");
    pair.bad("bpf detach out", &["out has no program of cemark"]);
}

#[test]
fn what_is_not_ours_stays() {
    let Some(pair) = Pair::new("others") else {
        return;
    };
    let space = pair.sender.as_str();
    let own = run(&["tc", "-n", space, "qdisc", "add", "dev", "out", "clsact"]);
    if !own.status.success() {
        eprintln!("left out: this kernel has no clsact");
        return;
    }
    pair.good("bpf attach out --rate 1Gbps scheme wred min=30KB max=90KB drop-probability=5%");
    pair.good("bpf retune out drop-probability=6% WEIGHT=2");
    let parameters = &pair.show()["parameters"];
    assert_eq!(parameters["drop_probability"], "0.06");
    assert_eq!(parameters["weight"], "2");
    pair.good("bpf detach out");
    assert!(pair.left().contains("clsact"), "it was there before");
}

/// A line for `tc` about the sender's device. `false` where the kernel does not know what it asks.
fn tc(pair: &Pair, line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let done = run(&[&["tc", "-n", pair.sender.as_str()], &words[..]].concat());
    if !done.status.success() {
        eprintln!("left out: {}", String::from_utf8_lossy(&done.stderr));
    }
    done.status.success()
}

/// A filter of sent packets on an `ingress` qdisc would see the received ones.
#[test]
fn an_ingress_qdisc_is_no_place_for_a_program() {
    let Some(pair) = Pair::new("ingress") else {
        return;
    };
    if !tc(&pair, "qdisc add dev out handle ffff: ingress") {
        return;
    }
    pair.bad(
        "bpf attach out --rate 1Mbps scheme tcn threshold=0us",
        &[
            "out has an `ingress` qdisc",
            "would see received ones",
            "tc qdisc add dev out clsact",
        ],
    );
    let device = ["tc", "-n", &pair.sender, "filter", "show", "dev", "out"];
    for hook in ["ingress", "egress"] {
        assert_eq!(ok(&[&device[..], &[hook]].concat()), "", "{hook}");
    }
    pair.bad("bpf show out", &["out has no program of cemark"]);

    // The remedy, as the message gives it.
    assert!(tc(&pair, "qdisc del dev out ingress"));
    assert!(tc(&pair, "qdisc add dev out clsact"));
    pair.good("bpf attach out --rate 1Mbps scheme tcn threshold=0us");
    pair.good("bpf detach out");

    // A block of filters that devices share.
    assert!(tc(&pair, "qdisc del dev out clsact"));
    if tc(&pair, "qdisc add dev out egress_block 22 clsact") {
        pair.bad(
            "bpf attach out --rate 1Mbps scheme tcn",
            &["block 22", "without `egress_block`"],
        );
    }
}

#[test]
fn what_comes_first_is_named() {
    let Some(pair) = Pair::new("first") else {
        return;
    };
    if !tc(&pair, "qdisc add dev out clsact")
        || !tc(
            &pair,
            "filter add dev out egress prio 10 protocol ip u32 match u32 0 0 classid 1:1",
        )
    {
        return;
    }
    let done = pair.cemark("bpf attach out --rate 1Gbps scheme ecn_sharp");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{said}");
    let text = "filter u32 of priority 10 comes first: a packet that it matches is neither seen";
    assert!(said.contains(text), "{said}");
    assert_eq!(
        pair.show()["earlier"],
        serde_json::json!(["filter u32 of priority 10"])
    );
    let shown = pair.cemark("bpf show out");
    assert!(String::from_utf8_lossy(&shown.stderr).contains(text));
    // One with a larger priority comes later, and one in another chain comes by leave of the first.
    let later = "filter add dev out egress prio 4000 protocol ip u32 match u32 0 0 classid 1:1";
    assert!(tc(&pair, later));
    let chain =
        "filter add dev out egress chain 5 prio 10 protocol ip u32 match u32 0 0 classid 1:1";
    assert!(tc(&pair, chain));
    assert!(tc(&pair, "filter del dev out egress prio 10"));
    assert_eq!(pair.show()["earlier"], serde_json::json!([]));
    pair.good("bpf detach out");

    // Ours cannot be added to another filter's priority.
    assert!(tc(&pair, &later.replace("4000", "3296")));
    pair.bad(
        "bpf attach out --rate 1Gbps scheme tcn",
        &[
            "filter `u32` of priority 3296",
            "tc filter del dev out egress pref 3296",
        ],
    );
}

/// A packet whose header another packet shares, which waits on another device, cannot be written.
#[test]
fn a_mark_that_was_not_written_is_no_mark() {
    let Some(pair) = Pair::new("shared") else {
        return;
    };
    pair.shape();
    let space = pair.sender.as_str();
    let link = ["ip", "-n", space, "link"];
    ok(&[
        &link[..],
        &["add", "hold", "type", "veth", "peer", "name", "held"],
    ]
    .concat());
    for device in ["hold", "held"] {
        ok(&[&link[..], &["set", device, "up"]].concat());
    }
    let mirror = "filter add dev out egress prio 10 protocol all u32 match u32 0 0 action mirred \
                  egress mirror dev hold continue";
    if !tc(
        &pair,
        "qdisc add dev hold root tbf rate 8kbit burst 20kb limit 200mb",
    ) || !tc(&pair, "qdisc add dev out clsact")
        || !tc(&pair, mirror)
    {
        return;
    }
    pair.good("bpf attach out --rate 200Mbps scheme tcn threshold=500us");
    let ce = pair.transfer();
    let shown = pair.show();
    let marks = shown["marks"]["instant"].as_u64().expect("a number");
    let failed = shown["not_writable"].as_u64().expect("a number");
    assert!(failed > 1_000, "{shown}");
    assert!(ce <= marks && marks < failed / 10, "{ce} arrived: {shown}");
}

#[test]
fn mistakes_are_the_users() {
    let Some(pair) = Pair::new("wrong") else {
        return;
    };
    let cases: [(&str, &[&str]); 13] = [
        (
            "bpf attach out --rate 1Gbps scheme codel ce-threshold=1ms",
            &["CoDel has no parameter `ce-threshold`", "tcn", "ecn_sharp"],
        ),
        (
            "bpf attach no-such --rate 1Gbps scheme tcn",
            &["no device `no-such`"],
        ),
        (
            "bpf attach out --rate 1Gbps scheme tnc",
            &["no marking scheme is called `tnc`", "`tcn`"],
        ),
        (
            "bpf attach out --rate 1Gbps scheme tcn target=1us",
            &["TCN has no parameter `target`"],
        ),
        (
            "bpf attach out --rate 1Gbps scheme tcn threshold=2s",
            &["`threshold` is out of range"],
        ),
        (
            "bpf attach out --rate 1Gbps scheme",
            &["no scheme is named"],
        ),
        ("bpf attach out --rate 1 scheme tcn", &["`1` is not a rate"]),
        (
            "bpf attach out --rate 2Tbps scheme tcn",
            &["out of range", "1Mbps to 1Tbps"],
        ),
        (
            "bpf attach out --rate 1Gbps --limit 20s scheme tcn",
            &["1us to 10s"],
        ),
        (
            "bpf attach out --rate 1Gbps scheme pie",
            &["PIE", "acts on a timer", "ecn_sharp"],
        ),
        (
            "bpf attach out --rate 1Gbps scheme cedm",
            &["CEDM", "again as they leave"],
        ),
        (
            "bpf show out",
            &["out has no program of cemark", "cemark bpf attach out"],
        ),
        ("bpf retune out", &["nothing to change"]),
    ];
    for (args, parts) in cases {
        pair.bad(args, parts);
    }
    assert_eq!(pair.left(), "", "a refused command leaves nothing");
}

#[test]
fn another_user_is_told_what_is_missing() {
    let done = Command::new(env!("CARGO_BIN_EXE_cemark"))
        .args(["bpf", "attach", "lo", "--rate", "1Gbps", "scheme", "tcn"])
        .uid(65_534)
        .output();
    // Only root may become another user, who must be able to read the program.
    let Ok(done) = done else {
        eprintln!("left out: needs root");
        return;
    };
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(
        said.contains("is not permitted") && said.contains("as root"),
        "{said}"
    );
}
