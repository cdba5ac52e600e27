// SPDX-License-Identifier: MIT OR Apache-2.0
//! The keys at the top of a scenario file.

use std::collections::BTreeSet;

use cemark_wire::Picos;

use crate::error::{Fallible, Fault, fold};
use crate::key::{Key, keys};
use crate::read::Overrides;
use crate::section::{LONGEST, Section, count, list};
use crate::sections::{Form, SectionSpec};
use crate::tree::{Node, Table, Value};

pub(crate) static TOP: SectionSpec = SectionSpec::new("", Form::Top, &[KEYS], "");

keys! { KEYS:
    TITLE: String = Key::text("title").follows("the file's name")
        .doc("one line for the head of the table");
    DESCRIPTION: String = Key::text("description").usual("")
        .doc("what is modelled, after which figure, and which choices are yours");
    SEEDS: Node = Key::own(
        "seeds",
        "a number of seeds, or a list",
        r#"{"anyOf":[{"type":"integer","minimum":1,"maximum":10000},
            {"type":"array","items":{"type":"integer","minimum":0},"minItems":1}]}"#,
    )
    .follows("`1`")
    .doc("`3` means the seeds 1, 2, 3; a list names them, `[7, 8]`");
    BASELINE: String = Key::text("baseline").follows("the first scheme")
        .doc("label of the scheme that the others are compared with");
    MAX_TIME: Picos = Key::time("max-time").follows("`\"100s\"`").doc(
        "end of the simulated time. A point ends earlier, with its last measured flow; needed \
         where there is none. Where the flows take more than 50 s to arrive the default is \
         `\"1000s\"`",
    );
    NEXT: String = Key::text("next").follows("none")
        .doc("a command worth trying, printed at the end");
}

/// The largest TOML integer, so that a manifest can name every seed.
pub(crate) const LARGEST_SEED: u64 = i64::MAX as u64;
const MOST_SEEDS: u64 = 10_000;

/// `max-time`: the end of the simulated time.
pub(crate) fn max_time(root: &Table) -> Fallible<Option<Picos>> {
    let mut s = Section::new(root, Default::default(), &TOP);
    let span = s.given(&MAX_TIME)?;
    match s.node(&MAX_TIME).filter(|_| span == Some(Picos::ZERO)) {
        None => Ok(span),
        Some(node) => Err(
            Fault::new(node.at, "with a max-time of zero nothing happens").help(format!(
                "write up to \"{}s\"",
                LONGEST.0 / 1_000_000_000_000
            )),
        ),
    }
}

/// The seeds of every scheme and cell.
pub(crate) fn seeds(root: &Table, overrides: &Overrides) -> Fallible<Vec<u64>> {
    if let Some(seeds) = seeds_of_options(overrides)? {
        return Ok(seeds);
    }
    let Some(entry) = root.get(SEEDS.spec.name) else {
        return Ok(vec![1]);
    };
    let Value::List(_) = entry.node.value else {
        return count(&entry.node, (1, MOST_SEEDS))
            .map(|n| (1..=n).collect())
            .map_err(|f| f.help("write seeds = 3 (the seeds 1, 2, 3) or seeds = [7, 8]"));
    };
    let mut seeds = Vec::new();
    let mut known = BTreeSet::new();
    for node in list(&entry.node)? {
        let seed = count(node, (0, LARGEST_SEED))?;
        if !known.insert(seed) {
            return Err(
                Fault::new(node.at, format!("seed {seed} is listed twice")).help("remove one")
            );
        }
        seeds.push(seed);
    }
    if seeds.is_empty() || seeds.len() as u64 > MOST_SEEDS {
        let message = format!("a scenario has 1 to {MOST_SEEDS} seeds");
        return Err(Fault::new(entry.node.at, message).help("write seeds = [1, 2, 3]"));
    }
    Ok(seeds)
}

/// Seeds of `--seed` and `--seeds`. Neither option goes with a `--set` of the same key.
fn seeds_of_options(overrides: &Overrides) -> Fallible<Option<Vec<u64>>> {
    let option = match (overrides.seed, overrides.seeds) {
        (None, None) => return Ok(None),
        (Some(_), _) => "--seed",
        (None, Some(_)) => "--seeds",
    };
    let mut set = overrides.set.iter();
    if let Some((path, _)) = set.find(|(path, _)| fold(path) == SEEDS.spec.name) {
        return Err(
            Fault::nowhere(format!("{option} and --set {path} set the same key"))
                .help("leave one of them out"),
        );
    }
    match (overrides.seed, overrides.seeds) {
        (Some(seed), _) if seed <= LARGEST_SEED => Ok(Some(vec![seed])),
        (Some(seed), _) => Err(Fault::nowhere(format!("seed {seed} is too large"))
            .help(format!("write a whole number up to {LARGEST_SEED}"))),
        (None, Some(n)) if (1..=MOST_SEEDS).contains(&n) => Ok(Some((1..=n).collect())),
        (None, n) => Err(
            Fault::nowhere(format!("{} is not a number of seeds", n.unwrap_or(0)))
                .help(format!("write --seeds 1 to {MOST_SEEDS}")),
        ),
    }
}
