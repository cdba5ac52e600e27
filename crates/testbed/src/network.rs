// SPDX-License-Identifier: MIT OR Apache-2.0
//! The network: a namespace for each host and each switch, `veth` pairs between them.
//!
//! A packet of host 0 leaves through the qdisc of `eth0`, which sends at the rate of the host's
//! link. Where it enters the switch it is redirected to the device `lag`, whose `netem` holds it
//! for the propagation and transmission times of its whole path and the flow's own delay. Then it
//! is routed to the port of its receiver, whose qdisc is the marked one. The band of `lag` is
//! chosen by the lowest four bits of the source port.
//!
//! All devices have the same hardware address and no ARP, so that no packet but those of the
//! scenario is in the network.

use cemark_sim::Config;
use cemark_sim::config::Nic;

use crate::echo::Asking;
use crate::lab::{Batch, Setting};
use crate::qdisc;

/// Lowest port of listeners.
const PORT: u16 = 0x5000;
/// The hardware address of every device.
const MAC: &str = "02:00:00:00:00:01";
/// Packets that a `netem` may hold.
const HELD: u32 = 1_000_000;

/// The namespace of a host.
pub fn host(i: u32) -> String {
    format!("cemark-h{i}")
}

/// The namespace of a switch.
pub fn switch(i: u32) -> String {
    format!("cemark-s{i}")
}

/// The IPv4 address of a host.
pub fn address(i: u32) -> [u8; 4] {
    [10, 77, (i / 250) as u8, (i % 250) as u8 + 1]
}

/// The port of the listener for connections with this controller, whose acknowledgements belong to
/// this band: its lowest four bits are the band.
pub fn port(control: u8, band: u8) -> u16 {
    PORT | u16::from(control) << 4 | u16::from(band)
}

fn text(i: u32) -> String {
    let [a, b, c, d] = address(i);
    format!("{a}.{b}.{c}.{d}")
}

/// Namespaces, devices, addresses and routes.
pub(crate) fn links(config: &Config, asking: &Asking) -> Vec<Batch> {
    let hosts = config.topology.hosts();
    let switches = config.topology.fabric().racks();
    let mtu = u32::from(config.transport.mss) + 40 + 12 * u32::from(qdisc::stamps(config));
    let mut all = Vec::new();
    let names = (0..hosts).map(host).chain((0..switches).map(switch));
    for name in names {
        all.push(format!("netns add {name}"));
    }
    let pair = |a: (String, &str), b: (String, &str)| {
        format!(
            "link add name {} address {MAC} mtu {mtu} netns {} type veth peer name {} address \
             {MAC} mtu {mtu} netns {}",
            a.1, a.0, b.1, b.0
        )
    };
    for i in 0..hosts {
        let port = format!("p{i}");
        let s = switch(config.topology.rack(i));
        all.push(pair((s, &port), (host(i), "eth0")));
    }
    if switches > 1 {
        all.push(pair((switch(0), "middle"), (switch(1), "middle")));
    }
    let mut batches = vec![batch("ip", "", all)];
    for i in 0..hosts {
        batches.push(batch("ip", &host(i), host_lines(config, asking, i)));
    }
    for s in 0..switches {
        batches.push(batch("ip", &switch(s), switch_lines(config, s, switches)));
    }
    batches
}

fn batch(program: &str, netns: &str, lines: Vec<String>) -> Batch {
    Batch {
        program: program.to_owned(),
        netns: netns.to_owned(),
        lines,
    }
}

/// With TSO a sender hands this many segments to its NIC at once, whose qdisc splits them.
fn up(config: &Config, device: &str) -> String {
    let segments = config.offload.tso / u32::from(config.transport.mss).max(1);
    format!(
        "link set dev {device} arp off gso_max_segs {} up",
        segments.clamp(1, 44)
    )
}

fn host_lines(config: &Config, asking: &Asking, i: u32) -> Vec<String> {
    let t = &config.transport;
    let quick = if t.ack_every == 1 { " quickack 1" } else { "" };
    let path = format!(
        "dev eth0 src {} initcwnd {} rto_min {}ms{quick}",
        text(i),
        t.init_window,
        (t.rto_min.0 / 1_000_000).max(1),
    );
    let mut lines = vec![
        "link set dev lo up".to_owned(),
        up(config, "eth0"),
        format!("addr add {}/32 dev eth0", text(i)),
        format!("route add default {path}"),
    ];
    let to = asking.pairs.iter().filter(|(src, _)| *src == i);
    lines.extend(to.map(|(_, dst)| format!("route add {}/32 {path} features ecn", text(*dst))));
    lines
}

fn switch_lines(config: &Config, s: u32, switches: u32) -> Vec<String> {
    let mut lines = vec!["link add name lag type ifb".to_owned()];
    lines.push("link set dev lag up".to_owned());
    for i in (0..config.topology.hosts()).filter(|i| config.topology.rack(*i) == s) {
        lines.push(up(config, &format!("p{i}")));
        lines.push(format!("route add {}/32 dev p{i}", text(i)));
    }
    if switches > 1 {
        lines.push(up(config, "middle"));
        lines.push("route add default dev middle".to_owned());
    }
    lines
}

/// Qdiscs: of NICs, of the delays, and of the ports whose marks are studied.
pub(crate) fn qdiscs(config: &Config, delays: &[u64]) -> Vec<Batch> {
    let hosts = config.topology.hosts();
    let stab = qdisc::stab(config);
    let root = |device: &str, what: &str| {
        format!("qdisc replace dev {device} root handle 1: {stab} {what}")
    };
    let nic = qdisc::nic(config.topology.host_rate());
    let mut batches: Vec<Batch> = (0..hosts)
        .map(|i| batch("tc", &host(i), vec![root("eth0", &nic)]))
        .collect();
    let fabric = config.topology.fabric();
    let switches = config.topology.fabric().racks();
    for s in 0..switches {
        let mut lines = lag(delays);
        for i in (0..hosts).filter(|i| config.topology.rack(*i) == s) {
            lines.push(format!("qdisc add dev p{i} clsact"));
            lines.push(format!(
                "filter add dev p{i} ingress matchall action mirred egress redirect dev lag"
            ));
        }
        for link in &fabric.links()[hosts as usize..] {
            if let Some((netns, device)) = place(config, link.host, &link.name)
                && netns == switch(s)
            {
                lines.push(root(&device, &qdisc::port(config, link.rate)));
            }
        }
        batches.push(batch("tc", &switch(s), lines));
    }
    batches
}

/// Namespace and device of a switch's port, by the host at its far end and its name.
pub(crate) fn place(config: &Config, host: Option<u32>, name: &str) -> Option<(String, String)> {
    match host {
        Some(i) => Some((switch(config.topology.rack(i)), format!("p{i}"))),
        None => {
            let (near, _) = name.split_once("->")?;
            let number = near.trim_start_matches(char::is_alphabetic);
            Some((switch(number.parse().ok()?), "middle".to_owned()))
        }
    }
}

/// Nanoseconds as `netem` reads them.
fn micros(ns: u64) -> String {
    format!("{}.{:03}us", ns / 1000, ns % 1000)
}

fn lag(delays: &[u64]) -> Vec<String> {
    if let [one] = delays {
        return vec![format!(
            "qdisc add dev lag root netem delay {} limit {HELD}",
            micros(*one)
        )];
    }
    let map = vec!["0"; 16].join(" ");
    let mut lines = vec![format!(
        "qdisc add dev lag root handle 1: prio bands {} priomap {map}",
        delays.len()
    )];
    for (i, delay) in delays.iter().enumerate() {
        lines.push(format!(
            "qdisc add dev lag parent 1:{:x} netem delay {} limit {HELD}",
            i + 1,
            micros(*delay)
        ));
        lines.push(format!(
            "filter add dev lag parent 1: protocol ip prio 1 u32 match ip sport {i} 0x000f flowid \
             1:{:x}",
            i + 1
        ));
    }
    lines
}

/// Bytes that a connection may have in its NIC (TCP small queues), as the kernel counts them: 2304
/// for a packet of 1500. Two packets are its least. Without this limit it is what the connection
/// sends in a millisecond.
fn output(config: &Config) -> u32 {
    let Nic::BackPressure { packets } = config.nic else {
        return 1 << 20;
    };
    let mtu = u32::from(config.transport.mss) + 40;
    let train = config.offload.tso.max(mtu);
    packets.saturating_mul(train + 804)
}

/// Settings of the kernel: TCP as the scenario has it, and nothing that sends packets of its own.
pub(crate) fn settings(config: &Config, ecn: u8) -> Vec<Setting> {
    let hosts = config.topology.hosts();
    let switches = config.topology.fabric().racks();
    let t = &config.transport;
    let window = t.receive_window.clamp(65_536, 1 << 30);
    let mut all = Vec::new();
    let mut set = |netns: &str, path: &str, value: String| {
        all.push(Setting {
            netns: netns.to_owned(),
            path: path.to_owned(),
            value,
        });
    };
    for i in 0..hosts {
        let h = host(i);
        set(&h, "ipv6/conf/all/disable_ipv6", "1".to_owned());
        set(&h, "ipv6/conf/default/disable_ipv6", "1".to_owned());
        set(&h, "ipv4/tcp_ecn", ecn.to_string());
        set(&h, "ipv4/tcp_no_metrics_save", "1".to_owned());
        set(
            &h,
            "ipv4/tcp_timestamps",
            u8::from(qdisc::stamps(config)).to_string(),
        );
        set(&h, "ipv4/tcp_sack", u8::from(t.sack).to_string());
        set(
            &h,
            "ipv4/tcp_reordering",
            t.dup_acks.clamp(3, 300).to_string(),
        );
        set(
            &h,
            "ipv4/tcp_slow_start_after_idle",
            u8::from(!t.keep_window).to_string(),
        );
        set(
            &h,
            "ipv4/tcp_limit_output_bytes",
            output(config).to_string(),
        );
        // The kernel counts its own overhead in a buffer, up to as much again.
        let most = (2 * window).min(1 << 30);
        set(&h, "ipv4/tcp_rmem", format!("4096 1048576 {most}"));
        set(&h, "ipv4/tcp_wmem", format!("4096 262144 {most}"));
    }
    for s in (0..switches).map(switch) {
        set(&s, "ipv6/conf/all/disable_ipv6", "1".to_owned());
        set(&s, "ipv6/conf/default/disable_ipv6", "1".to_owned());
        set(&s, "ipv4/ip_forward", "1".to_owned());
        set(&s, "ipv4/conf/all/send_redirects", "0".to_owned());
        set(&s, "ipv4/conf/default/send_redirects", "0".to_owned());
    }
    all
}
