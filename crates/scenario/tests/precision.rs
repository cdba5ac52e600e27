// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[precision]`, `--precision`, and what switches them off.

use cemark_scenario::{Error, Overrides, Plan, parse};

const FILE: &str = "
[topology]
kind = \"star\"
hosts = 4
[[workload]]
kind = \"poisson\"
sizes = \"web-search\"
load = 0.5
flows = 100
[[scheme]]
label = \"low\"
marker = \"threshold\"
[[scheme]]
label = \"none\"
marker = \"none\"
[sweep]
\"workload.load\" = [0.3, 0.5]
";

fn read(top: &str, more: &str, overrides: &Overrides) -> Result<Plan, Error> {
    parse(&format!("{top}{FILE}{more}"), "file.toml", overrides)
}

fn said(top: &str, more: &str, overrides: &Overrides) -> String {
    let e = read(top, more, overrides).expect_err("a mistake");
    format!("{e} | {}", e.help_text().unwrap_or_default())
}

fn with(precision: &str) -> Overrides {
    Overrides {
        precision: Some(precision.to_owned()),
        ..Overrides::default()
    }
}

fn set(option: &str) -> Overrides {
    let mut overrides = Overrides::default();
    overrides.add(option).expect("a path and a value");
    overrides
}

const PRECISE: &str = "[precision]\nwithin = \"5 %\"\n";

#[test]
fn a_plan_with_a_precision_has_the_points_of_all_replications() {
    let plan = read("", PRECISE, &Overrides::default()).unwrap();
    let precision = plan.precision.as_ref().unwrap();
    assert_eq!((precision.within, precision.most), (5.0, 64));
    assert!(precision.metrics.is_empty());
    assert_eq!(plan.points.len(), 2 * 2 * 64);
    let blocks = plan.blocks();
    assert_eq!(blocks.len(), 2);
    for block in &blocks {
        assert_eq!(block.replications.len(), 64);
        for (replication, points) in block.replications.iter().enumerate() {
            let of: Vec<(&str, u64)> = points
                .iter()
                .map(|i| (plan.points[*i].scheme.as_str(), plan.points[*i].seed))
                .collect();
            let seed = replication as u64 + 1;
            assert_eq!(of, [("low", seed), ("none", seed)]);
        }
    }
    // The first replications of both blocks, as a plan of their own.
    let some: Vec<usize> = (0..plan.points.len())
        .filter(|i| plan.points[*i].seed <= 3)
        .collect();
    let part = plan.only(&some);
    assert_eq!(part.points.len(), 2 * 2 * 3);
    assert_eq!((part.digest, &part.schemes), (plan.digest, &plan.schemes));
    // A list of one names the first seed.
    let later = read("seeds = [7]\n", PRECISE, &Overrides::default()).unwrap();
    assert_eq!(later.points[0].seed, 7);
    assert_eq!(later.points[63].seed, 70);
}

#[test]
fn how_narrow_and_how_many_is_no_part_of_the_question() {
    let of = |top: &str, more: &str, o: &Overrides| read(top, more, o).unwrap().digest;
    let plain = Overrides::default();
    let digest = of("", PRECISE, &plain);
    assert_eq!(of("", PRECISE, &with("3")), digest);
    assert_eq!(of("", PRECISE, &set("precision.within=2.5")), digest);
    assert_eq!(of("", PRECISE, &set("precision.most=8")), digest);
    let metrics = "[precision]\nwithin = 1\nmetrics = [\"short.mean\"]\n";
    assert_eq!(of("", metrics, &plain), digest);
    // On any scenario, whatever its seeds.
    assert_eq!(of("", "", &with("5%")), digest);
    assert_eq!(of("seeds = 3\n", "", &with("5")), digest);
    assert_eq!(of("seeds = [1, 9]\n", "", &with("5")), digest);
    // The first seed is, and so is the way in which replications are counted.
    assert_ne!(of("seeds = [2]\n", PRECISE, &plain), digest);
    assert_ne!(of("seeds = 64\n", "", &plain), digest);
    assert_ne!(of("", "", &plain), digest);
}

#[test]
fn fixed_seeds_switch_it_off() {
    let exactly = |overrides: &Overrides| {
        let plan = read("", PRECISE, overrides).unwrap();
        assert_eq!(plan.precision, None);
        assert!(!plan.source.contains("precision"), "{}", plan.source);
        let seeds = plan.points.iter().take(2).map(|p| p.seed);
        (plan.points.len(), seeds.collect::<Vec<_>>())
    };
    let seeds = Overrides {
        seeds: Some(2),
        ..Overrides::default()
    };
    assert_eq!(exactly(&seeds), (8, vec![1, 2]));
    let seed = Overrides {
        seed: Some(4),
        ..Overrides::default()
    };
    assert_eq!(exactly(&seed), (4, vec![4, 4]));
    assert_eq!(exactly(&set("seeds=3")), (12, vec![1, 2]));
    // The digest is that of the file without the section.
    let plain = read("seeds = 2\n", "", &Overrides::default()).unwrap();
    assert_eq!(read("", PRECISE, &seeds).unwrap().digest, plain.digest);
}

#[test]
fn the_source_states_the_precision_that_was_asked_for() {
    let plan = read("seeds = 3\n", "", &with("2.5 %")).unwrap();
    let again = parse(&plan.source, "file.toml", &Overrides::default())
        .unwrap_or_else(|e| panic!("{e}\n{}", plan.source));
    assert_eq!(
        (again.digest, again.precision),
        (plan.digest, plan.precision)
    );
}

#[test]
fn mistakes_say_what_to_write() {
    let plain = Overrides::default();
    for (more, word, help) in [
        (
            "[precision]\nmost = 8\n",
            "`within` is missing",
            "within = 5",
        ),
        (
            "[precision]\nwithin = 0\n",
            "0 points is out of range",
            "0.1 to 100",
        ),
        (
            "[precision]\nwithin = \"narrow\"\n",
            "not a precision",
            "5 %",
        ),
        (
            "[precision]\nwithin = 5\nmost = 2\n",
            "too small",
            "3 to 256",
        ),
        (
            "[precision]\nwithin = 5\nmetrics = [\"short.p99\"]\n",
            "a percentile, which cannot decide",
            "short.mean",
        ),
        (
            "[precision]\nwithin = 5\nmetrics = [\"shot.mean\"]\n",
            "cannot decide",
            "short.mean",
        ),
        (
            "[precision]\nwithin = 5\nmetrics = []\n",
            "no metric",
            "leave the key out",
        ),
        (
            "[precision]\nwithin = 5\nwidth = 3\n",
            "unknown key `width`",
            "within",
        ),
    ] {
        let text = said("", more, &plain);
        assert!(text.contains(word) && text.contains(help), "{more}{text}");
    }
    let both = said("seeds = 3\n", PRECISE, &plain);
    assert!(both.contains("`seeds` cannot"), "{both}");
    let two = Overrides {
        seeds: Some(2),
        ..with("5")
    };
    assert!(
        said("", "", &two).contains("contradict"),
        "{}",
        said("", "", &two)
    );
    let wrong = said("", "", &with("five"));
    assert!(
        wrong.contains("--precision") && wrong.contains("`five`"),
        "{wrong}"
    );
}
