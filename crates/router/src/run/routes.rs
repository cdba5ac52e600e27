// SPDX-License-Identifier: MIT OR Apache-2.0
//! Routes of the other site's prefixes. They lead into the tunnel while it works, and are taken
//! away otherwise. The kernel's plain routes, of a higher metric, stay untouched.

use std::process::Command;

use super::device::Device;
use crate::config::Tunnel;

/// Smallest MTU of a device that the kernel uses for IPv6.
const LEAST_V6: u16 = 1_280;

/// Routes into the tunnel.
pub(super) struct Routes {
    device: String,
    metric: String,
    prefixes: Vec<String>,
    /// Prefixes that lead here now.
    here: Vec<String>,
    mtu: u16,
    said: Option<&'static str>,
    begun: bool,
}

impl Routes {
    pub(super) fn new(tunnel: &Tunnel) -> Routes {
        Routes {
            device: tunnel.device.clone(),
            metric: tunnel.metric.to_string(),
            prefixes: tunnel.routes.clone(),
            here: Vec::new(),
            mtu: 0,
            said: None,
            begun: false,
        }
    }

    /// Says which routes of others keep packets from the tunnel, because their metric is not above
    /// that of its own.
    pub(super) fn warn(&self) {
        for prefix in &self.prefixes {
            let family = if prefix.contains(':') { "-6" } else { "-4" };
            let show = Command::new("ip")
                .args([family, "route", "show", prefix])
                .output();
            let said = show.map_or_else(|_| Vec::new(), |out| out.stdout);
            let said = String::from_utf8_lossy(&said).into_owned();
            for line in blocking(&said, &self.device, &self.metric) {
                eprintln!(
                    "cemark-edge: a route of the same prefix comes first: `{line}`; give it a \
                     metric above {}",
                    self.metric
                );
            }
        }
    }

    /// Whether any route leads into the tunnel.
    pub(super) fn lead_here(&self) -> bool {
        !self.here.is_empty()
    }

    /// Sets or takes away the routes, as the router is serving or not.
    pub(super) fn follow(&mut self, why: Option<&'static str>, mtu: u16, device: &Device) {
        if self.begun && why == self.said && (mtu == self.mtu || why.is_some()) {
            return;
        }
        if why.is_none() && mtu != self.mtu {
            device.set_mtu(mtu);
            self.mtu = mtu;
        }
        let fits = |prefix: &&String| mtu >= LEAST_V6 || !prefix.contains(':');
        let wanted: Vec<String> = match why {
            None => self.prefixes.iter().filter(fits).cloned().collect(),
            Some(_) => Vec::new(),
        };
        for gone in self.here.iter().filter(|p| !wanted.contains(p)) {
            self.ip("del", gone);
        }
        // Also those that are there: a device that was too small for IPv6 has lost them.
        for prefix in &wanted {
            self.ip("replace", prefix);
        }
        self.here = wanted;
        (self.said, self.begun) = (why, true);
        match why {
            None => eprintln!("cemark-edge: the tunnel takes packets of up to {mtu} bytes"),
            Some(why) => eprintln!("cemark-edge: plain forwarding: {why}"),
        }
    }

    fn ip(&self, what: &str, prefix: &str) {
        let words = [
            "route",
            what,
            prefix,
            "dev",
            &self.device,
            "metric",
            &self.metric,
        ];
        match Command::new("ip").args(words).output() {
            Ok(out) if out.status.success() => {}
            Ok(out) => {
                let said = String::from_utf8_lossy(&out.stderr);
                eprintln!("cemark-edge: `ip {}`: {}", words.join(" "), said.trim());
            }
            Err(e) => eprintln!("cemark-edge: `ip`, of iproute2: {e}"),
        }
    }
}

/// Lines of `ip route show` of other devices whose metric is not above this one. IPv4 routes
/// without a metric have 0.
fn blocking<'a>(said: &'a str, device: &str, metric: &str) -> Vec<&'a str> {
    let ours: u32 = metric.parse().unwrap_or(0);
    let value = |line: &str, name: &str| {
        let mut words = line.split_whitespace();
        words.find(|word| *word == name)?;
        words.next().map(str::to_owned)
    };
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .filter(|line| value(line, "dev").as_deref() != Some(device))
        .filter(|line| value(line, "metric").map_or(0, |m| m.parse().unwrap_or(0)) <= ours)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::blocking;

    #[test]
    fn routes_that_come_before_the_tunnel_are_named() {
        let said = "10.2.0.0/16 via 192.0.2.254 dev eth1 \n\
                    10.2.0.0/16 dev dcib0 scope link metric 5 \n\
                    10.2.0.0/16 via 192.0.2.254 dev eth1 metric 100 \n\
                    10.2.0.0/16 via 192.0.2.253 dev eth1 metric 5 \n";
        let found = blocking(said, "dcib0", "5");
        assert_eq!(
            found,
            [
                "10.2.0.0/16 via 192.0.2.254 dev eth1",
                "10.2.0.0/16 via 192.0.2.253 dev eth1 metric 5"
            ]
        );
        assert!(blocking("", "dcib0", "5").is_empty());
    }
}
