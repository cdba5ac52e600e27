// SPDX-License-Identifier: MIT OR Apache-2.0
//! The named configuration of every scheme in C against its entry in the catalogue: the same
//! parameters, the same defaults, the same words, the same ranges, and what `configure` writes is
//! what the markers of the differential tests are built with.

use cemark_foreign::config::{Config, Params};
use cemark_marking::{Kind, QueueSpec, SchemeSpec, Values, catalogue};
use cemark_wire::{Rate, hash::SplitMix64};

/// The answer for a value out of range.
const EINVAL: i32 = -22;

fn config(spec: &SchemeSpec) -> Config {
    Config::of(spec).unwrap_or_else(|e| panic!("{e}"))
}

fn queue() -> QueueSpec {
    QueueSpec {
        quantum: 4_500,
        weight: 2,
        weight_sum: 9,
        ..QueueSpec::fifo(Rate::gbps(25))
    }
}

/// Names of the fields of a C struct, in order.
fn fields(text: &str, name: &str) -> Vec<String> {
    let begin = format!("struct {name} {{");
    let (_, rest) = text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {begin}"));
    let (body, _) = rest.split_once("\n};").expect("the end of the struct");
    let mut code = String::new();
    let mut rest = body;
    while let Some((before, after)) = rest.split_once("/*") {
        code += before;
        rest = after.split_once("*/").expect("the end of a comment").1;
    }
    code += rest;
    let mut names = Vec::new();
    for field in code.split(';') {
        // `u64 kmin, kmax`: the last word before each comma or the end.
        for part in field.split(',') {
            names.extend(part.split_whitespace().next_back().map(str::to_owned));
        }
    }
    names
}

#[test]
fn the_catalogue_and_c_name_the_same_parameters() {
    for spec in catalogue::deployed() {
        let text = cemark_foreign::header(spec.name).unwrap_or_else(|e| panic!("{e}"));
        let names = fields(&text, &format!("cemark_{}_config", spec.name));
        let known: Vec<&str> = spec.params.iter().map(|p| p.name).collect();
        assert_eq!(names, known, "{}", spec.name);
    }
}

#[test]
fn the_defaults_are_those_of_the_catalogue() {
    for spec in catalogue::deployed() {
        let (c, rust) = (config(spec).defaults(&queue()), Values::defaults(spec));
        for (i, p) in spec.params.iter().enumerate() {
            assert_eq!(c.get(i), rust.get(i), "{}: {}", spec.name, p.name);
        }
        assert_eq!(c, rust, "{}", spec.name);
    }
}

#[test]
fn the_words_are_at_the_same_places() {
    for spec in catalogue::deployed() {
        let places = spec.params.iter().flat_map(|p| match p.kind {
            Kind::Choice(words) => 0..words.len() as u64,
            _ => 0..0,
        });
        let places: Vec<u64> = places.collect();
        assert_eq!(config(spec).words(&queue()), places, "{}", spec.name);
    }
}

/// Whether the pairs that the catalogue orders are in order.
fn ordered(spec: &SchemeSpec, values: &Values) -> bool {
    spec.ordered.iter().all(|pair| {
        let (low, high) = (values.get(pair.low), values.get(pair.high));
        low <= high || (pair.zero_follows && high == 0)
    })
}

/// Parameters that `configure` makes of values that it must accept, as `set` does.
fn accepted(spec: &SchemeSpec, values: &Values) -> Params {
    let (answer, params) = config(spec).configure(values, &queue());
    assert_eq!(answer, 0, "{}: {values:?}", spec.name);
    let by_position = config(spec).set(values, &queue());
    assert_eq!(params, by_position, "{}: {values:?}", spec.name);
    params
}

fn refused(spec: &SchemeSpec, values: &Values, what: &str) {
    let (answer, params) = config(spec).configure(values, &queue());
    assert_eq!(answer, EINVAL, "{}: {what}: {values:?}", spec.name);
    assert_eq!(params, [0; _], "{}: {what}: params are written", spec.name);
}

#[test]
fn the_ranges_are_those_of_the_catalogue() {
    let mut ends = 0;
    for spec in catalogue::deployed() {
        accepted(spec, &Values::defaults(spec));
        for (i, p) in spec.params.iter().enumerate() {
            let with = |value: u64| {
                // The other one of an ordered pair at its end, so that only this value decides.
                let mut values = Values::defaults(spec);
                for pair in spec.ordered {
                    values.0[pair.low] = spec.params[pair.low].min;
                    values.0[pair.high] = spec.params[pair.high].max;
                }
                values.0[i] = value;
                values
            };
            accepted(spec, &with(p.min));
            accepted(spec, &with(p.max));
            // A C bool cannot be out of range.
            if p.kind == Kind::Flag {
                continue;
            }
            refused(spec, &with(p.max + 1), p.name);
            if p.min > 0 {
                refused(spec, &with(p.min - 1), p.name);
            }
            ends += 1;
        }
        for pair in spec.ordered {
            let mut values = Values::defaults(spec);
            (values.0[pair.low], values.0[pair.high]) = (1_001, 1_000);
            refused(spec, &values, "a pair out of order");
            values.0[pair.low] = 1_000;
            accepted(spec, &values);
        }
    }
    assert!(ends > 50, "{ends} parameters only");
}

#[test]
fn random_values_configure_what_the_differential_tests_run() {
    let mut random = SplitMix64::new(12);
    for spec in catalogue::deployed() {
        let mut seen = Vec::new();
        for _ in 0..2_000 {
            let mut values = Values::defaults(spec);
            for (slot, p) in values.0.iter_mut().zip(spec.params) {
                // All magnitudes alike.
                let bits = random.below(65) as u32;
                let value = random.next_u64().checked_shr(bits).unwrap_or(0);
                *slot = value.clamp(p.min, p.max);
            }
            if ordered(spec, &values) {
                seen.push(accepted(spec, &values));
            } else {
                refused(spec, &values, "a pair out of order");
            }
        }
        let tried = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert!(
            tried > 500 && seen.len() > tried / 4,
            "{}: {} params of {tried} values",
            spec.name,
            seen.len()
        );
    }
}
