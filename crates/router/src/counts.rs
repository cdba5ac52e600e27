// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts of a router, each with its sentence; JSON and Prometheus text are written from them.

use core::fmt::Write as _;

macro_rules! counts {
    ($($(#[doc = $doc:literal])* $kind:ident $name:ident,)*) => {
        /// Counts and states at one time.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
        pub struct Counts {
            $($(#[doc = $doc])* pub $name: u64,)*
        }

        impl Counts {
            /// Each name with its kind in Prometheus, its sentence and its value.
            fn each(&self) -> Vec<(&'static str, &'static str, String, u64)> {
                vec![$((
                    stringify!($name),
                    stringify!($kind),
                    [$($doc),*].concat().trim().to_owned(),
                    self.$name,
                )),*]
            }
        }
    };
}

counts! {
    /// 1 while hosts' packets take the tunnel, 0 while they are forwarded plainly.
    gauge serving,
    /// 1 while the peer's signs of life arrive.
    gauge peer_alive,
    /// 1 while the near router is off because the path clears ECN.
    gauge off,
    /// Epoch of this router: it rises with each start.
    gauge epoch,
    /// Largest packet of a host that fits through the tunnel, in bytes; 0 while none is known.
    gauge mtu,
    /// Round trip between the routers in microseconds, of the last sign of life.
    gauge round_trip_us,
    /// Packets of hosts read from the device.
    counter from_hosts,
    /// Bytes of those packets.
    counter from_hosts_bytes,
    /// Trains of the device that could not be split, and were dropped (with `offload`).
    counter from_hosts_unsplit,
    /// Packets of hosts given to the device.
    counter to_hosts,
    /// Bytes of those packets.
    counter to_hosts_bytes,
    /// Trains that packets were read in; as many as packets without offload.
    counter from_hosts_trains,
    /// Packets that the device did not take.
    counter to_hosts_dropped,
    /// Datagrams sent to the peer.
    counter to_peer,
    /// Trains that these left in; as many as datagrams without offload.
    counter to_peer_trains,
    /// Datagrams that the sockets did not take.
    counter to_peer_dropped,
    /// Datagrams received from the peer.
    counter from_peer,
    /// Packets of hosts that were given back for plain forwarding.
    counter handed_back,
    /// Packets of the device that are no whole IPv4 or IPv6 packet for one host.
    counter not_ip,
    /// Packets selected: Not-ECT on the WAN, with a copy here.
    counter selected,
    /// Data packets that may not be selected, of hosts with ECT(1) or with CE.
    counter spared,
    /// Data packets that were not selected because the memory for copies is full.
    counter stalled_full,
    /// Copies sent because a router ACK shows a loss.
    counter resent,
    /// Copies sent because no router ACK came.
    counter flushed,
    /// Router ACKs that match no copy.
    counter acks_unmatched,
    /// Memory of copies, in bytes.
    gauge stalled_memory,
    /// The most memory of copies, in bytes.
    gauge stalled_memory_peak,
    /// Copies that are kept.
    gauge stalled_packets,
    /// Router ACKs sent.
    counter router_acks,
    /// Duplicates that were dropped.
    counter twice,
    /// Packets that came after their place had been given up (in-order release).
    counter late,
    /// Waits that ended without the missing packet (in-order release).
    counter given_up,
    /// Waits that ended because the memory for waiting packets was full (in-order release).
    counter hurried,
    /// The most memory of packets that waited (in-order release), in bytes.
    gauge held_memory_peak,
    /// CE marks of the WAN that hosts did not get, because they do not use ECN or `ce = "clear"`.
    counter marks_taken,
    /// CE marks of the WAN that hosts with ECN got.
    counter marks_passed,
    /// Datagrams with a wrong tag: forged, reflected, damaged, or from before a restart.
    counter refused_tag,
    /// Packets and router ACKs with a right tag that had arrived before.
    counter refused_replay,
    /// Hellos that came after a later one: reordered by the WAN, or repeated.
    counter refused_late_hello,
    /// Datagrams of an epoch that is not the peer's.
    counter refused_epoch,
    /// Datagrams that are no datagrams of a router.
    counter refused_form,
    /// Datagrams of another version.
    counter refused_version,
    /// Signs of life of a peer with another number of lanes.
    counter refused_lanes,
    /// Starts of the peer that were noticed.
    counter peer_starts,
    /// Times that the peer fell silent.
    counter peer_losses,
    /// Changes of the largest packet that fits.
    counter mtu_changes,
    /// Errors that the path reported, such as an unreachable port.
    counter path_errors,
}

impl Counts {
    /// Line of JSON. `why`: the reason why the tunnel is not used.
    pub fn json(&self, why: Option<&str>) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value["plain_because"] = why.into();
        value.to_string()
    }

    /// Text for Prometheus. `end` is the value of a label, as is `device`.
    pub fn prometheus(&self, end: &str, device: &str) -> String {
        let mut text = String::new();
        for (name, kind, doc, value) in self.each() {
            let suffix = if kind == "counter" { "_total" } else { "" };
            let name = format!("cemark_edge_{name}{suffix}");
            let _ = writeln!(text, "# HELP {name} {doc}");
            let _ = writeln!(text, "# TYPE {name} {kind}");
            let _ = writeln!(text, "{name}{{end=\"{end}\",device=\"{device}\"}} {value}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_text_has_a_sentence_a_type_and_a_value_for_each() {
        let counts = Counts {
            resent: 7,
            serving: 1,
            ..Counts::default()
        };
        let text = counts.prometheus("near", "dcib0");
        let labels = "{end=\"near\",device=\"dcib0\"}";
        assert!(text.contains(&format!("cemark_edge_resent_total{labels} 7\n")));
        assert!(text.contains(&format!("cemark_edge_serving{labels} 1\n")));
        assert!(text.contains("# TYPE cemark_edge_resent_total counter\n"));
        for group in text.lines().collect::<Vec<_>>().chunks(3) {
            let [help, kind, value] = group else {
                panic!("three lines each: {group:?}")
            };
            let name = value.split('{').next().unwrap_or_default();
            assert!(help.starts_with(&format!("# HELP {name} ")) && help.ends_with('.'));
            assert!(kind.starts_with(&format!("# TYPE {name} ")));
        }
    }

    #[test]
    fn json_is_one_line_with_the_reason() {
        let line = Counts::default().json(Some("the peer is silent"));
        assert!(!line.contains('\n'));
        let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(value["plain_because"], "the peer is silent");
        assert_eq!(value["refused_tag"], 0);
    }
}
