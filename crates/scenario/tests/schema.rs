// SPDX-License-Identifier: MIT OR Apache-2.0
//! The JSON schema for editors: it takes every scenario of the repository and finds mistakes.

use std::fs;
use std::path::{Path, PathBuf};

use cemark_scenario::{builtins, json_schema};
use serde_json::Value;

use crate::draft7::Schema;

fn schema() -> Schema {
    Schema::new(&json_schema())
}

fn json(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("valid TOML");
    serde_json::to_value(table).expect("TOML as JSON")
}

/// The TOML files of a folder of the repository.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect()
}

#[test]
fn every_built_in_scenario_fits() {
    let schema = schema();
    for builtin in builtins() {
        let found = schema.mistakes(&json(builtin.text));
        assert_eq!(found, Vec::<String>::new(), "{}", builtin.name);
    }
}

#[test]
fn examples_and_the_corpus_fit() {
    let schema = schema();
    let folders = ["examples", "crates/scenario/tests/corpus/good"];
    let all: Vec<PathBuf> = folders.iter().flat_map(|folder| files(folder)).collect();
    assert!(all.len() > 5, "{all:?}");
    for path in all {
        let text = fs::read_to_string(&path).expect("a file");
        let found = schema.mistakes(&json(&text));
        assert_eq!(found, Vec::<String>::new(), "{}", path.display());
    }
}

/// A figure is a scenario with rows, variants, modes and sources beside it.
#[test]
fn the_scenario_part_of_every_figure_fits() {
    let schema = schema();
    let free = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../figures/calibration.toml");
    let free = json(&fs::read_to_string(free).expect("a file"));
    let mut figures = 0;
    for path in files("figures") {
        let text = fs::read_to_string(&path).expect("a file");
        let mut scenario = json(&text);
        let top = scenario.as_object_mut().expect("a table");
        if top.remove("row").is_none() {
            // calibration.toml
            continue;
        }
        for key in ["variant", "quick", "full", "why"] {
            top.remove(key);
        }
        free_parameters(&mut scenario, &free);
        let found = schema.mistakes(&scenario);
        assert_eq!(found, Vec::<String>::new(), "{}", path.display());
        figures += 1;
    }
    assert!(figures > 20, "{figures}");
}

/// Replaces each `"$name"` by the value of figures/calibration.toml.
fn free_parameters(value: &mut Value, free: &Value) {
    match value {
        Value::String(text) if text.starts_with('$') => *value = free[&text[1..]]["value"].clone(),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| free_parameters(item, free)),
        Value::Object(map) => map
            .values_mut()
            .for_each(|item| free_parameters(item, free)),
        _ => {}
    }
}

#[test]
fn mistakes_are_found() {
    let schema = schema();
    let good = r#"
        max_time = "1ms"
        [topology]
        kind = "star"
        hosts = 3
        [[workload]]
        kind = "long"
        pattern = "pairs"
        pairs = [[0, 1]]
        [transport]
        init_window = 4
        [[scheme]]
        marker = "red"
        kmin = "20us"
    "#;
    assert_eq!(schema.mistakes(&json(good)), Vec::<String>::new());
    for (from, to) in [
        ("max_time", "max_tim"),
        ("\"1ms\"", "\"1mss\""),
        ("\"star\"", "\"stra\""),
        ("hosts = 3", "hosts = 1"),
        ("hosts = 3", "hosts = \"3\""),
        ("hosts = 3", "host = 3"),
        ("init_window", "initial-window"),
        ("[[workload]]", "[[workloads]]"),
        ("kind = \"long\"", "count = 1"),
        ("\"red\"", "\"rde\""),
        ("kmin", "kmni"),
        ("marker = \"red\"", "label = \"x\""),
        ("[transport]", "[transport]\nsack = 1"),
        ("[transport]", "[transport]\ng = 2"),
        ("[transport]", "[switch]\nbuffer = \"1us\"\n[transport]"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        assert!(!schema.mistakes(&json(&bad)).is_empty(), "{to}");
    }
}

/// Editors show what a key means, and what holds without it.
#[test]
fn keys_are_explained() {
    let schema = json_schema();
    let key = &schema["definitions"]["switch"]["properties"]["buffer"];
    assert_eq!(key["default"], "1MB");
    assert!(
        key["description"]
            .as_str()
            .unwrap()
            .starts_with("buffer of a port")
    );
    let target = &schema["definitions"]["scheme"]["properties"]["ins_target"];
    assert_eq!(target["default"], "200us");
    assert!(
        target["description"]
            .as_str()
            .unwrap()
            .contains("for ecn_sharp")
    );
}
