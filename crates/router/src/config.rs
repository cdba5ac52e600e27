// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of a router. Its part `[dcib]` has the keys of `[edge]` in scenarios.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use cemark_edge::{AckForm, CePolicy, Clones, CopyPolicy, DcibConfig, Recovery};
use cemark_wire::{Ecn, Nanos};
use serde::Deserialize;

use crate::key::End;
use crate::outgoing::Bounds;
use crate::quantity::{Bytes, Time};
use crate::router::Settings;
use crate::wire::HEAD;

/// Bytes of an IPv4, an IPv6 and a UDP header.
const IPV4: u16 = 20;
const IPV6: u16 = 40;
const UDP: u16 = 8;

/// All that a file says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    /// The tunnel.
    pub tunnel: Tunnel,
    /// The state machines.
    #[serde(default)]
    pub dcib: Dcib,
    /// Reports about them.
    #[serde(default)]
    pub stats: Stats,
}

/// Part `[tunnel]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tunnel {
    /// Name of the tun device.
    #[serde(default = "device")]
    pub device: String,
    /// Address and port of this router on the WAN.
    pub local: SocketAddr,
    /// Address and port of the other one.
    pub peer: SocketAddr,
    /// File with the key that both have.
    pub key: PathBuf,
    /// Prefixes of the other site, which are led into the tunnel while it works.
    pub routes: Vec<String>,
    /// Metric of these routes. The plain ones must have a higher one.
    #[serde(default = "metric")]
    pub metric: u32,
    /// Number of lanes, a power of two up to 64. Each has its own pair of ports.
    #[serde(default = "lanes")]
    pub lanes: u16,
    /// Largest IP packet on the WAN, in bytes.
    #[serde(default = "mtu")]
    pub mtu: u16,
    /// Whether the device gives trains of segments, which are split here.
    #[serde(default)]
    pub offload: bool,
    /// Time between two signs of life.
    #[serde(default = "interval")]
    pub interval: Time,
    /// Silence after which the peer counts as dead.
    #[serde(default = "dead")]
    pub dead: Time,
    /// Time that a router stays off after the path has cleared ECN.
    #[serde(default = "retry")]
    pub retry: Time,
}

fn device() -> String {
    "dcib0".to_owned()
}
const fn metric() -> u32 {
    5
}
const fn lanes() -> u16 {
    4
}
const fn mtu() -> u16 {
    1_500
}
const fn interval() -> Time {
    Time(100_000_000)
}
const fn dead() -> Time {
    Time(500_000_000)
}
const fn retry() -> Time {
    Time(60_000_000_000)
}

/// Part `[dcib]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Dcib {
    /// Share of the data's bytes that is selected.
    pub share: f64,
    /// Memory for copies.
    pub stalled: Bytes,
    /// Copies at most.
    pub most_stalled: usize,
    /// Round trip between the routers; a longer measured one replaces it.
    pub tau: Time,
    /// Treatment of a copy that is sent.
    pub copies: Copies,
    /// Most retransmissions of one packet.
    pub most_copies: u8,
    /// Reordering tolerance.
    pub reorder: Time,
    /// Contents of a router ACK.
    pub acks: Acks,
    /// Selected packets for each router ACK.
    pub ack_every: u32,
    /// Longest time that one is withheld.
    pub ack_delay: Time,
    /// Treatment of CE on packets whose hosts use ECN.
    pub ce: Ce,
    /// When packets are delivered.
    pub release: Release,
    /// Longest wait for a missing packet (in-order release).
    pub hold: Time,
    /// Memory for waiting packets (in-order release).
    pub held: Bytes,
}

impl Default for Dcib {
    fn default() -> Self {
        Dcib {
            share: 0.1,
            stalled: Bytes(4_000_000),
            most_stalled: 4_096,
            tau: Time(6_000_000),
            copies: Copies::Once,
            most_copies: 15,
            reorder: Time(1_000_000),
            acks: Acks::Bitmap,
            ack_every: 1,
            ack_delay: Time(100_000),
            ce: Ce::Pass,
            release: Release::AtOnce,
            hold: Time(20_000_000),
            held: Bytes(16_000_000),
        }
    }
}

/// Value of `copies`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// Sent Not-ECT and not kept.
    Once,
    /// Sent Not-ECT and kept again.
    Restore,
    /// Sent ECN-capable and not kept.
    Protect,
}

/// Value of `acks`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// The number of one packet.
    Named,
    /// The number of one packet, and that below which all have arrived or were given up.
    Cumulative,
    /// The number of one packet, and which of the last 64 have arrived.
    Bitmap,
}

/// Value of `ce`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Ce {
    /// Hosts with ECN get it.
    Pass,
    /// No host gets it.
    Clear,
}

/// Value of `release`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// As packets arrive.
    AtOnce,
    /// In order within a lane.
    InOrder,
}

/// Part `[stats]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Stats {
    /// Time between two reports.
    pub every: Time,
    /// File for the textfile collector of Prometheus' node_exporter.
    pub prometheus: Option<PathBuf>,
}

impl Default for Stats {
    fn default() -> Self {
        Stats {
            every: Time(10_000_000_000),
            prometheus: None,
        }
    }
}

/// Reads a file.
///
/// # Errors
/// With the place in the file, what is wrong there, and what to write instead.
pub fn load(path: &Path) -> Result<File, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    parse(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Reads the text of a file.
///
/// # Errors
/// As [`load`], without the file's name.
pub fn parse(text: &str) -> Result<File, String> {
    let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
    let (t, d) = (&file.tunnel, &file.dcib);
    let wrong = |part: &str, key: &str, said: String| Err(located(text, part, key, &said));
    if t.device.is_empty() || t.device.len() > 15 || t.device.contains(['/', ' ', '%', '"']) {
        return wrong(
            "tunnel",
            "device",
            "a device has a name of 1 to 15 letters".into(),
        );
    }
    if t.local.is_ipv4() != t.peer.is_ipv4() {
        let said = "local and peer must both be IPv4 or both IPv6".into();
        return wrong("tunnel", "peer", said);
    }
    if !t.lanes.is_power_of_two() || t.lanes > 64 {
        let said = format!("{} lanes: write 1, 2, 4, 8, 16, 32 or 64", t.lanes);
        return wrong("tunnel", "lanes", said);
    }
    for (key, address) in [("local", t.local), ("peer", t.peer)] {
        if address.port() == 0 || address.port().checked_add(t.lanes - 1).is_none() {
            let said = format!(
                "{} lanes need as many ports from {} on",
                t.lanes,
                address.port()
            );
            return wrong("tunnel", key, said);
        }
        if address.ip().is_unspecified() {
            let said = "write the address of one interface: sockets are connected".into();
            return wrong("tunnel", key, said);
        }
    }
    if let Some(said) = mistake_of_routes(t) {
        return wrong("tunnel", "routes", said);
    }
    if t.metric == 0 {
        let said = "write 1 or more, less than that of the plain routes".into();
        return wrong("tunnel", "metric", said);
    }
    if !(700..=9_216).contains(&t.mtu) {
        let said = format!(
            "{} bytes: write the largest packet of the WAN, 700 to 9216",
            t.mtu
        );
        return wrong("tunnel", "mtu", said);
    }
    // Each fifth hello shows how large a packet may be, and what it shows counts for 2 s.
    if !(1_000_000..=200_000_000).contains(&t.interval.0) {
        return wrong("tunnel", "interval", "write 1ms to 200ms".into());
    }
    if t.dead.0 < 3 * t.interval.0 {
        let said = "dead is at least three intervals".into();
        return wrong("tunnel", "dead", said);
    }
    if !(0.0..=0.5).contains(&d.share) {
        let said = format!("{}: write a share from 0 to 0.5, such as 0.1", d.share);
        return wrong("dcib", "share", said);
    }
    if d.most_stalled == 0 || d.most_stalled > 32_768 {
        let said = format!("{} copies: write 1 to 32768", d.most_stalled);
        return wrong("dcib", "most-stalled", said);
    }
    if d.ack_every == 0 || (d.ack_every > 1 && d.acks == Acks::Named) {
        let said = "more than one packet a router ACK needs acks = \"bitmap\" or \"cumulative\"";
        return wrong("dcib", "ack-every", said.into());
    }
    if file.stats.every.0 < 100_000_000 {
        return wrong("stats", "every", "write 100ms or more".into());
    }
    Ok(file)
}

fn mistake_of_routes(t: &Tunnel) -> Option<String> {
    if t.routes.is_empty() {
        return Some("no prefix: write those of the other site, [\"10.2.0.0/16\"]".into());
    }
    if let Some(bad) = t.routes.iter().find(|r| prefix(r).is_none()) {
        return Some(format!(
            "`{bad}` is no prefix: write 10.2.0.0/16 or fd00:2::/64, with zeros behind its length"
        ));
    }
    let holds_peer = |r: &&String| prefix(r).is_some_and(|p| p.contains(t.peer.ip()));
    t.routes.iter().find(holds_peer).map(|bad| {
        format!(
            "`{bad}` contains {}, so that the tunnel would lead into itself: write the prefixes of \
             the other site's hosts",
            t.peer.ip()
        )
    })
}

/// Prefix of addresses: the first one, and the number of bits that all share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix(pub IpAddr, pub u8);

impl Prefix {
    fn bits(address: IpAddr) -> (u128, u8) {
        match address {
            IpAddr::V4(a) => (u128::from(a.to_bits()) << 96, 32),
            IpAddr::V6(a) => (a.to_bits(), 128),
        }
    }

    /// Bits behind the prefix, as a mask.
    fn rest(self) -> u128 {
        u128::MAX.checked_shr(self.1.into()).unwrap_or(0)
    }

    fn contains(self, address: IpAddr) -> bool {
        let differ = Prefix::bits(self.0).0 ^ Prefix::bits(address).0;
        self.0.is_ipv4() == address.is_ipv4() && differ & !self.rest() == 0
    }
}

/// Reads a prefix; `None` where it is none, or its address has bits behind its length.
pub(crate) fn prefix(text: &str) -> Option<Prefix> {
    let (address, length) = text.split_once('/')?;
    let prefix = Prefix(address.parse().ok()?, length.parse().ok()?);
    let (bits, most) = Prefix::bits(prefix.0);
    (prefix.1 <= most && bits & prefix.rest() == 0).then_some(prefix)
}

/// A sentence with the line of a key, in the form of the messages of `toml`.
fn located(text: &str, part: &str, key: &str, said: &str) -> String {
    let mut here = "";
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if let Some(name) = line
            .trim()
            .strip_prefix('[')
            .and_then(|l| l.strip_suffix(']'))
        {
            here = name.trim();
        }
        let named = line.split('=').next().unwrap_or_default().trim();
        if (here == part && named == key) || named == format!("{part}.{key}") {
            let n = i + 1;
            return format!("line {n}\n  |\n{n} | {line}\n  |\n[{part}] {key}: {said}");
        }
    }
    format!("[{part}] {key}: {said}")
}

impl File {
    /// Bytes that the tunnel adds to a packet.
    pub fn overhead(&self) -> u16 {
        let ip = if self.tunnel.peer.is_ipv4() {
            IPV4
        } else {
            IPV6
        };
        ip + UDP + HEAD as u16
    }

    /// The settings of a router of this file.
    pub fn settings(&self, end: End) -> Settings {
        let d = &self.dcib;
        Settings {
            end,
            dcib: DcibConfig {
                share: (d.share * 65_536.0).round() as u32,
                stalled_bytes: d.stalled.0,
                tau: Nanos(d.tau.0),
                recovery: Recovery::Evidence,
                copies: match d.copies {
                    Copies::Once => CopyPolicy::Once,
                    Copies::Restore => CopyPolicy::Restore,
                    Copies::Protect => CopyPolicy::Protect,
                },
                most_copies: d.most_copies,
                reorder: Nanos(d.reorder.0),
                ack_form: match d.acks {
                    Acks::Named => AckForm::Named,
                    Acks::Cumulative => AckForm::Cumulative,
                    Acks::Bitmap => AckForm::Bitmap,
                },
                ack_every: d.ack_every,
                ack_delay: Nanos(d.ack_delay.0),
                // Never ECT(1): that would claim to be L4S traffic.
                raise: Ecn::Ect0,
                ce: match d.ce {
                    Ce::Pass => CePolicy::Pass,
                    Ce::Clear => CePolicy::Clear,
                },
                hold: (d.release == Release::InOrder).then_some(Nanos(d.hold.0)),
                lanes: self.tunnel.lanes,
                header_bytes: 0,
                probe_above: None,
                clones: Clones::Selected,
            },
            bounds: Bounds {
                memory: d.stalled.0,
                packets: d.most_stalled,
            },
            held: d.held.0,
            interval: Nanos(self.tunnel.interval.0),
            dead: Nanos(self.tunnel.dead.0),
            retry: Nanos(self.tunnel.retry.0),
            mtu: self.tunnel.mtu - self.overhead(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"[tunnel]
local = "192.0.2.1:4790"
peer = "198.51.100.1:4790"
key = "/etc/cemark/edge.key"
routes = ["10.2.0.0/16", "fd00:2::/64"]
"#;

    #[test]
    fn a_short_file_is_whole() {
        let file = parse(GOOD).expect("it is right");
        let settings = file.settings(End::Near);
        assert_eq!(settings.mtu, 1_500 - 64);
        assert_eq!(settings.dcib.share, 6_554);
        let six = GOOD
            .replace("192.0.2.1:", "[fd00::1]:")
            .replace("198.51.100.1:", "[fd00::2]:");
        assert_eq!(
            parse(&six).expect("it is right").settings(End::Far).mtu,
            1_500 - 84
        );
    }

    #[test]
    fn a_mistake_is_located_and_says_what_to_write() {
        for (from, to, line, said) in [
            ("local =", "locale =", "line 2", "expected one of"),
            (
                "routes =",
                "lanes = 3\nroutes =",
                "line 5",
                "write 1, 2, 4, 8, 16, 32 or 64",
            ),
            (
                "10.2.0.0/16",
                "10.2.0.0/33",
                "line 5",
                "10.2.0.0/16 or fd00:2::/64",
            ),
            ("10.2.0.0/16", "10.2.0.1/16", "line 5", "with zeros behind"),
            (
                "10.2.0.0/16",
                "198.51.0.0/16",
                "line 5",
                "would lead into itself",
            ),
            (
                "10.2.0.0/16",
                "0.0.0.0/0",
                "line 5",
                "would lead into itself",
            ),
            ("key =", "metric = 0\nkey =", "line 4", "1 or more"),
            (
                "key =",
                "interval = \"300ms\"\ndead = \"1s\"\nkey =",
                "line 4",
                "1ms to 200ms",
            ),
            (
                "198.51.100.1:",
                "[fd00::2]:",
                "line 3",
                "both be IPv4 or both IPv6",
            ),
            (
                "198.51.100.1:4790",
                "198.51.100.1:65535",
                "line 3",
                "4 lanes need as many ports",
            ),
            (
                "192.0.2.1:",
                "0.0.0.0:",
                "line 2",
                "address of one interface",
            ),
            (
                "key =",
                "dead = \"1 minute\"\nkey =",
                "line 4",
                "such as \"6ms\"",
            ),
            (
                "key =",
                "dead = \"1ms\"\nkey =",
                "line 4",
                "three intervals",
            ),
            ("key =", "device = \"\"\nkey =", "line 4", "1 to 15 letters"),
            ("key =", "mtu = 100\nkey =", "line 4", "700 to 9216"),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD, "{from}");
            let message = parse(&text).expect_err(to);
            assert!(message.contains(line), "{to}: {message}");
            assert!(message.contains(said), "{to}: {message}");
        }
    }

    #[test]
    fn a_mistake_of_a_part_is_named() {
        for (part, said) in [
            ("[dcib]\nshare = 0.9", "0 to 0.5"),
            ("[dcib]\nmost-stalled = 0", "1 to 32768"),
            (
                "[dcib]\nacks = \"named\"\nack-every = 2",
                "needs acks = \"bitmap\"",
            ),
            ("[dcib]\nacks = \"none\"", "`named`, `cumulative`, `bitmap`"),
            ("[dcib]\nstalled = \"4\"", "such as \"4MB\""),
            ("[stats]\nevery = \"1ms\"", "100ms or more"),
        ] {
            let message = parse(&format!("{GOOD}{part}")).expect_err(part);
            assert!(message.contains("line "), "{message}");
            assert!(message.contains(said), "{message}");
        }
    }
}
