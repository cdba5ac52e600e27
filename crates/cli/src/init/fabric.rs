// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a number of hosts and an oversubscription to a topology.

use super::answers::{Answers, Kind};

/// Hosts on a leaf, if nothing else decides: the rack of the papers' simulations.
const RACK: f64 = 16.0;
/// Most hosts on a leaf.
const MOST_IN_RACK: u32 = 64;
/// The oversubscription may be off by this factor where hosts and uplinks are whole numbers.
const NEAR_ENOUGH: f64 = 1.1;

/// A topology with what is said about it.
pub(super) struct Fabric {
    /// Its keys, each with a comment or none.
    pub keys: Vec<(&'static str, u32, String)>,
    /// Hosts, perhaps more than asked for.
    pub hosts: u32,
    /// The oversubscription that it has.
    pub ratio: f64,
    /// Links from host to host on the longest path.
    pub links: u32,
    /// In words: `64 hosts under 4 leaves and 8 spines`.
    pub words: String,
}

/// The fabric of these answers, or what to write instead.
pub(super) fn fabric(answers: &Answers) -> Result<Fabric, String> {
    match answers.kind {
        Kind::Star if answers.ratio > 1.0 => Err(
            "one switch has no uplinks: leave --oversubscription out, or write --kind leaf-spine"
                .to_owned(),
        ),
        Kind::Star if answers.uplink.is_some() => Err(
            "one switch has no uplinks: leave --uplink out, or write --kind leaf-spine".to_owned(),
        ),
        Kind::Star => Ok(Fabric {
            keys: vec![("hosts", answers.hosts, String::new())],
            hosts: answers.hosts,
            ratio: 1.0,
            links: 2,
            words: format!("{} hosts on one switch", answers.hosts),
        }),
        Kind::LeafSpine => {
            let faster = answers.uplink.unwrap_or(answers.rate) as f64 / answers.rate as f64;
            leaf_spine(answers.hosts, answers.ratio, faster)
        }
        Kind::FatTree if answers.uplink.is_some() => Err(
            "all links of a fat tree have one rate here: leave --uplink out, or write --kind \
             leaf-spine"
                .to_owned(),
        ),
        Kind::FatTree => fat_tree(answers.hosts, answers.ratio),
    }
}

/// `faster`: the rate of an uplink over that of a host's link.
fn leaf_spine(hosts: u32, ratio: f64, faster: f64) -> Result<Fabric, String> {
    let asked = ratio;
    let ratio = ratio * faster;
    let most = hosts + hosts / 4 + 4;
    let (hosts, rack, spines) = (hosts..=most).find_map(|n| rack(n, ratio)).ok_or_else(|| {
        let least = 2 * ratio.ceil() as u32;
        format!(
            "{hosts} hosts cannot be oversubscribed {asked}:1: write --hosts {least} or more, or a \
             smaller --oversubscription"
        )
    })?;
    let leaves = hosts / rack;
    let ratio = f64::from(rack) / f64::from(spines) / faster;
    let shown = (ratio * 100.0).round() / 100.0;
    let uplinks = if spines == 1 { "link" } else { "links" };
    Ok(Fabric {
        keys: vec![
            ("leaves", leaves, String::new()),
            (
                "spines",
                spines,
                format!("{rack} links of hosts on {spines} {uplinks} to spines: {shown}:1"),
            ),
            ("hosts-per-leaf", rack, String::new()),
        ],
        hosts,
        ratio,
        links: 4,
        words: format!(
            "{hosts} hosts under {leaves} leaves and {spines} spine{}",
            if spines == 1 { "" } else { "s" }
        ),
    })
}

/// Hosts on a leaf and spines for exactly `n` hosts: the best oversubscription, and among those the
/// rack that is nearest to the usual one.
fn rack(n: u32, ratio: f64) -> Option<(u32, u32, u32)> {
    let divides = |rack: &u32| n.is_multiple_of(*rack) && n / rack >= 2;
    let choices = (2..=MOST_IN_RACK).filter(divides).map(|rack| {
        let spines = (f64::from(rack) / ratio).round().max(1.0);
        let error = (f64::from(rack) / spines / ratio).ln().abs();
        let unusual = (f64::from(rack) / RACK).ln().abs();
        (error, unusual, rack, spines as u32)
    });
    let allowed = choices.filter(|(error, ..)| *error <= NEAR_ENOUGH.ln());
    // An error below half a percent is a matter of how the ratio was written.
    let rank = |c: &(f64, f64, u32, u32)| if c.0 < 0.005 { c.1 } else { 10.0 + c.0 };
    let best = allowed.min_by(|a, b| rank(a).total_cmp(&rank(b)));
    best.map(|(_, _, rack, spines)| (n, rack, spines))
}

fn fat_tree(hosts: u32, ratio: f64) -> Result<Fabric, String> {
    let fits = |k: u32| {
        let up = k / 2;
        let edge = (f64::from(up) * ratio).round() as u32;
        let error = (f64::from(edge) / f64::from(up) / ratio).ln().abs();
        let all = k * up * edge;
        (error <= NEAR_ENOUGH.ln() && all >= hosts).then_some((k, edge, all))
    };
    let found = (4..=64).step_by(2).find_map(fits);
    let (k, edge, all) = found.ok_or_else(|| "write fewer hosts".to_owned())?;
    let ratio = f64::from(edge) / f64::from(k / 2);
    let shown = (ratio * 100.0).round() / 100.0;
    Ok(Fabric {
        keys: vec![
            ("k", k, "ports of a switch".to_owned()),
            (
                "hosts-per-edge",
                edge,
                format!("on {} links up: {shown}:1", k / 2),
            ),
        ],
        hosts: all,
        ratio,
        links: 6,
        words: format!("{all} hosts on a fat tree of switches with {k} ports"),
    })
}

#[cfg(test)]
mod tests {
    use super::{fat_tree, leaf_spine};

    #[test]
    fn usual_fabrics_are_exact() {
        for (hosts, ratio, rack, spines) in [
            (128, 2.0, 16, 8),
            (64, 2.0, 16, 8),
            (64, 1.0, 16, 16),
            (48, 3.0, 12, 4),
            (4, 1.0, 2, 2),
        ] {
            let f = leaf_spine(hosts, ratio, 1.0)
                .map_err(|_| hosts)
                .expect("a fabric");
            let of = |key: &str| f.keys.iter().find(|k| k.0 == key).map(|k| k.1);
            assert_eq!(
                (f.hosts, of("hosts-per-leaf"), of("spines")),
                (hosts, Some(rack), Some(spines))
            );
        }
        let f = fat_tree(128, 1.0).map_err(|_| ()).expect("a fabric");
        assert_eq!((f.hosts, f.keys[0].1, f.keys[1].1), (128, 8, 4));
    }

    /// A fabric has at least the hosts asked for, and about the oversubscription.
    #[test]
    fn every_fabric_is_near_to_what_was_asked() {
        for hosts in (2..300).chain([511, 1000, 1021, 4093, 4096]) {
            for ratio in [1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0] {
                if let Ok(f) = leaf_spine(hosts, ratio, 1.0) {
                    assert!(f.hosts >= hosts && f.hosts <= hosts + hosts / 4 + 4);
                    assert!((f.ratio / ratio).ln().abs() < 0.1, "{hosts} {ratio}");
                }
                let f = fat_tree(hosts, ratio).map_err(|_| hosts).expect("a fabric");
                assert!(f.hosts >= hosts && (f.ratio / ratio).ln().abs() < 0.1);
            }
            assert!(leaf_spine(hosts, 1.0, 1.0).is_ok(), "{hosts}");
        }
        assert!(leaf_spine(4, 32.0, 1.0).is_err_and(|e| e.contains("--hosts 64")));
    }
}
