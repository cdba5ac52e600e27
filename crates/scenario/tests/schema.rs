// SPDX-License-Identifier: MIT OR Apache-2.0
//! The JSON schema for editors explains its keys. `python/tests/test_schema.py` validates scenarios
//! by it.

use cemark_scenario::json_schema;

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
