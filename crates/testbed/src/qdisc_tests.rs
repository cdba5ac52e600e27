// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words of a port whose queues have markers of their own.

use cemark_marking::{Values, catalogue};
use cemark_sim::Config;
use cemark_sim::config::{MarkerChoice, QueueConfig, SchedulerKind};
use cemark_sim::topology::Star;
use cemark_wire::{Picos, Rate};

use super::{port, port_with};
use crate::refusal::{by_queue, markers};

fn builtin(name: &str) -> MarkerChoice {
    let scheme = catalogue::find(name).expect("a scheme");
    MarkerChoice::Builtin {
        scheme,
        values: Values::defaults(scheme),
    }
}

fn config(queues: usize) -> Config {
    let star = Star {
        hosts: 2,
        rate: Rate::mbps(200),
        delay: Picos::from_micros(10),
    };
    let mut config = Config::new(star, Vec::new(), builtin("tcn"), Picos::from_micros(1000));
    config.switch.queues = vec![QueueConfig::PLAIN; queues];
    if queues > 1 {
        config.switch.scheduler = SchedulerKind::Dwrr;
    }
    config
}

#[test]
fn equal_markers_are_those_of_the_port() {
    let config = config(3);
    let words = port(&config, Rate::mbps(200));
    assert!(
        words.starts_with("cemark scheme tcn threshold 150000ns limit "),
        "{words}"
    );
    assert!(words.ends_with(" round_idle mtu"), "{words}");
    assert_eq!(words.matches("scheme ").count(), 1, "{words}");
    let same = [&builtin("tcn"), &builtin("tcn"), &builtin("tcn")];
    assert_eq!(port_with(&config, Rate::mbps(200), &same), words);
}

#[test]
fn markers_that_differ_are_words_of_their_queues_behind_those_of_the_port() {
    let config = config(4);
    let equal = port(&config, Rate::mbps(200));
    let (tcn, wred) = (builtin("tcn"), builtin("wred"));
    let words = port_with(
        &config,
        Rate::mbps(200),
        &[&tcn, &MarkerChoice::None, &tcn, &wred],
    );
    let own = words.strip_prefix(&equal).expect("the words of the port");
    assert!(
        own.starts_with(" queue 1 scheme none queue 3 scheme wred min 150000b max 1500000b "),
        "{own}"
    );
    // The port has the marker of the first queue.
    let first = port_with(&config, Rate::mbps(200), &[&wred, &tcn, &wred, &wred]);
    assert!(first.starts_with("cemark scheme wred "), "{first}");
    assert!(
        first.ends_with(" queue 1 scheme tcn threshold 150000ns"),
        "{first}"
    );
}

#[test]
fn a_port_has_one_marker_for_each_queue() {
    assert_eq!(by_queue(&config(1)).len(), 1);
    assert_eq!(by_queue(&config(5)).len(), 5);
}

#[test]
fn a_marker_that_the_qdisc_lacks_is_refused_in_any_queue() {
    let (tcn, lab) = (builtin("tcn"), builtin("ecn_sharp_lab"));
    assert_eq!(markers(&[&tcn, &MarkerChoice::None]), Ok(()));
    let e = markers(&[&tcn, &lab]).expect_err("a scheme for research");
    assert_eq!(
        (e.key.as_str(), e.value.as_str()),
        ("scheme.marker", "\"ecn_sharp_lab\"")
    );
}
