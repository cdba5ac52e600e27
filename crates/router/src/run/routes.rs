// SPDX-License-Identifier: MIT OR Apache-2.0
//! Routes of the other site's prefixes. They lead into the tunnel while it works, and are taken
//! away otherwise. The kernel's plain routes, of a higher metric, stay untouched.

use std::io::Write;
use std::process::{Command, Stdio};

use cemark_wire::Nanos;

use super::device::Device;
use super::say::say;
use crate::config::{Prefix, Tunnel, prefix};

/// Smallest MTU of a device that the kernel uses for IPv6.
const LEAST_V6: u16 = 1_280;
/// Time between two looks at the kernel's routes.
const LOOK: Nanos = Nanos::from_millis(5_000);

/// Routes into the tunnel.
pub(super) struct Routes {
    device: String,
    metric: String,
    prefixes: Vec<(String, Prefix)>,
    /// Whether any prefix leads here now.
    here: bool,
    mtu: u16,
    said: Option<&'static str>,
    /// When to look at the kernel's routes.
    look_at: Nanos,
    /// The last error, which is said once.
    failed: String,
}

impl Routes {
    pub(super) fn new(tunnel: &Tunnel) -> Routes {
        let read = |text: &String| Some((text.clone(), prefix(text)?));
        Routes {
            device: tunnel.device.clone(),
            metric: tunnel.metric.to_string(),
            prefixes: tunnel.routes.iter().filter_map(read).collect(),
            here: false,
            mtu: 0,
            said: None,
            look_at: Nanos::ZERO,
            failed: String::new(),
        }
    }

    /// Says which devices check senders strictly (`rp_filter`): the kernel then drops packets that
    /// arrive by the tunnel while the routes lead elsewhere, or the other way round.
    pub(super) fn warn_of_filters() {
        let read = |name: &str| {
            let path = format!("/proc/sys/net/ipv4/conf/{name}/rp_filter");
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.trim().parse().unwrap_or(0)
        };
        let folder = std::fs::read_dir("/proc/sys/net/ipv4/conf");
        let names = folder.into_iter().flatten().flatten();
        let names: Vec<_> = names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .map(|name| (read(&name), name))
            .collect();
        let strict = strict(&names);
        if !strict.is_empty() {
            say(format!(
                "strict checks of senders drop packets while routes change, on {}: set \
                 net.ipv4.conf.all.rp_filter and theirs to 0 or 2",
                strict.join(", ")
            ));
        }
    }

    /// Says which routes of others keep packets from the tunnel, because their metric is not above
    /// that of its own.
    pub(super) fn warn(&self) {
        for (text, _) in &self.prefixes {
            for line in self.others(text) {
                say(format!(
                    "a route of the same prefix comes first: `{line}`; give it a metric above {}",
                    self.metric
                ));
            }
        }
    }

    /// Routes of other devices for a prefix whose metric is not above this one.
    fn others(&self, prefix: &str) -> Vec<String> {
        let said = ip(&[family(prefix), "route", "show", prefix]);
        let lines = blocking(&said, &self.device, &self.metric);
        lines.into_iter().map(str::to_owned).collect()
    }

    /// Whether any route leads into the tunnel.
    pub(super) fn lead_here(&self) -> bool {
        self.here
    }

    /// Sets or takes away the routes, as the router is serving or not, and again where somebody has
    /// changed them.
    ///
    /// # Errors
    /// Where a route cannot be taken away, or another device has one of the same metric. The kernel
    /// takes them away with the device, when the program ends.
    pub(super) fn follow(
        &mut self,
        now: Nanos,
        why: Option<&'static str>,
        mtu: u16,
        device: &Device,
    ) -> Result<(), String> {
        let begun = self.look_at > Nanos::ZERO;
        let news = !begun || why != self.said || (mtu != self.mtu && why.is_none());
        if !news && now < self.look_at {
            return Ok(());
        }
        if why.is_none() && mtu != self.mtu {
            device.set_mtu(mtu);
            self.mtu = mtu;
        }
        self.said = why;
        self.look_at = now + LOOK;
        if news {
            say(match why {
                None => format!("the tunnel takes packets of up to {mtu} bytes"),
                Some(why) => format!("plain forwarding: {why}"),
            });
        }
        let wanted = |text: &str| why.is_none() && (mtu >= LEAST_V6 || !text.contains(':'));
        self.set(wanted)
    }

    fn set(&mut self, wanted: impl Fn(&str) -> bool) -> Result<(), String> {
        let have = self.have();
        let each = |is: &dyn Fn(&str, bool) -> bool| -> Vec<&str> {
            let all = self.prefixes.iter();
            all.filter(|(text, prefix)| is(text, have.contains(prefix)))
                .map(|(text, _)| text.as_str())
                .collect()
        };
        let gone = each(&|text, there| there && !wanted(text));
        let missing = each(&|text, there| !there && wanted(text));
        self.here = self.prefixes.iter().any(|(text, _)| wanted(text));
        if gone.is_empty() && missing.is_empty() {
            return Ok(());
        }
        let said = self.batch("del", &gone) + &self.batch("add", &missing);
        let have = self.have();
        for (text, prefix) in &self.prefixes {
            let there = have.contains(prefix);
            if there && !wanted(text) {
                return Err(format!("the route of {text} cannot be taken away: {said}"));
            }
            if !there && wanted(text) {
                let equal = format!(" metric {}", self.metric);
                let of = |line: &String| format!("{line} ").contains(&format!("{equal} "));
                if let Some(line) = self.others(text).into_iter().find(of) {
                    return Err(format!(
                        "another device has a route of the same prefix and metric: `{}`; give it \
                         a metric above {}",
                        line.trim(),
                        self.metric
                    ));
                }
            }
        }
        // Such as a device that somebody has set down. It is tried again.
        let said: String = said.chars().take(1_000).collect();
        if said != self.failed && !said.is_empty() {
            say(format!("`ip route`: {}", said.trim()));
        }
        self.failed = said;
        Ok(())
    }

    /// Prefixes that lead into the device by a route of this metric.
    fn have(&self) -> Vec<Prefix> {
        let mut all = Vec::new();
        for family in ["-4", "-6"] {
            if self
                .prefixes
                .iter()
                .any(|(text, _)| self::family(text) == family)
            {
                let said = ip(&[family, "route", "show", "dev", &self.device]);
                all.extend(own(&said, family == "-4", &self.metric));
            }
        }
        all
    }

    /// Adds or deletes routes, all by one process. Returns its errors.
    fn batch(&self, what: &str, prefixes: &[&str]) -> String {
        if prefixes.is_empty() {
            return String::new();
        }
        let (device, metric) = (&self.device, &self.metric);
        let lines: String = prefixes
            .iter()
            .map(|prefix| format!("route {what} {prefix} dev {device} metric {metric}\n"))
            .collect();
        let done = Command::new("ip")
            .args(["-force", "-batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .and_then(|mut child| {
                if let Some(mut input) = child.stdin.take() {
                    input.write_all(lines.as_bytes())?;
                }
                child.wait_with_output()
            });
        match done {
            Ok(out) => String::from_utf8_lossy(&out.stderr).into_owned(),
            Err(e) => format!("`ip`, of iproute2: {e}"),
        }
    }
}

fn family(prefix: &str) -> &'static str {
    if prefix.contains(':') { "-6" } else { "-4" }
}

/// Devices whose check is strict. The kernel takes the larger value of the device's own and that of
/// `all`.
fn strict(filters: &[(u8, String)]) -> Vec<&str> {
    let all = filters.iter().find(|(_, name)| name == "all");
    let all = all.map_or(0, |(value, _)| *value);
    let devices = filters
        .iter()
        .filter(|(_, name)| !["all", "default", "lo"].contains(&name.as_str()));
    devices
        .filter(|(own, _)| *own.max(&all) == 1)
        .map(|(_, name)| name.as_str())
        .collect()
}

/// Output of `ip`; nothing where it fails.
fn ip(words: &[&str]) -> String {
    let out = Command::new("ip").args(words).output();
    out.map_or_else(
        |_| String::new(),
        |out| String::from_utf8_lossy(&out.stdout).into_owned(),
    )
}

/// Prefixes of `ip route show dev` with this metric.
fn own(said: &str, v4: bool, metric: &str) -> Vec<Prefix> {
    let read = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "metric")?;
        if words.get(at + 1) != Some(&metric) {
            return None;
        }
        match (*words.first()?, v4) {
            ("default", true) => prefix("0.0.0.0/0"),
            ("default", false) => prefix("::/0"),
            (one, _) if one.contains('/') => prefix(one),
            (one, true) => prefix(&format!("{one}/32")),
            (one, false) => prefix(&format!("{one}/128")),
        }
    };
    said.lines().filter_map(read).collect()
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
    use super::{blocking, own};
    use crate::config::prefix;

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

    #[test]
    fn strict_checks_are_found_where_the_larger_value_is_one() {
        let of = |all, one| {
            let names = [(all, "all"), (1, "default"), (1, "lo"), (one, "eth1")];
            let names = names.map(|(value, name)| (value, name.to_owned()));
            super::strict(&names).len()
        };
        assert_eq!((of(0, 0), of(0, 1), of(1, 0), of(1, 1)), (0, 1, 1, 1));
        assert_eq!((of(2, 1), of(1, 2), of(0, 2)), (0, 0, 0));
    }

    #[test]
    fn own_routes_are_read_as_the_kernel_shows_them() {
        let four = "default scope link metric 5 \n\
                    10.2.0.0/16 scope link metric 5 \n\
                    10.3.0.7 scope link metric 5 \n\
                    10.4.0.0/16 scope link metric 50 \n\
                    10.5.0.0/16 scope link \n";
        let wanted = ["0.0.0.0/0", "10.2.0.0/16", "10.3.0.7/32"];
        let read = |texts: [&str; 3]| texts.map(|text| prefix(text).expect(text));
        assert_eq!(own(four, true, "5"), read(wanted));
        let six = "default metric 5 pref medium\n\
                   fd00:2::/64 metric 5 pref medium\n\
                   fd00::7 metric 5 pref medium\n\
                   fe80::/64 proto kernel metric 256 pref medium\n";
        let wanted = ["::/0", "fd00:2:0::/64", "fd00::7/128"];
        assert_eq!(own(six, false, "5"), read(wanted));
    }
}
