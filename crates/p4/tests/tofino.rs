// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Tofino's rules: the shipped programs keep them, and programs that break one are refused.

use cemark_p4::{Defines, sources, tofino};

fn broken(from: &str, to: &str) -> Vec<String> {
    let text = sources::text("ecn_sharp.p4").expect("a program");
    assert_eq!(text.matches(from).count(), 1, "{from}");
    let text = text.replace(from, to);
    let program = sources::of_text("broken.p4", &text, &Defines::new());
    let program = program.unwrap_or_else(|e| panic!("{e}"));
    tofino::check(&program)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn the_programs_keep_the_rules() {
    for (name, text) in sources::FILES {
        if text.contains("main;") && text.contains("tna.p4") {
            let program = sources::program(name, &Defines::new()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(tofino::check(&program), [], "{name}");
        }
    }
}

#[test]
fn ecn_sharp_takes_no_more_than_the_paper_s_prototype() {
    let program = sources::program("ecn_sharp.p4", &Defines::new()).expect("a program");
    let takes = tofino::takes(&program);
    assert_eq!(takes.arrays(), "3 of 64 bits, 1 of 8 bits");
    assert_eq!((takes.tables, takes.bytes, takes.stages), (7, 25_600, 9));
}

#[test]
fn a_second_access_of_a_register_is_refused() {
    let wrong = broken(
        "        mark.apply();\n",
        "        mark.apply();\n        marking = enter.execute(queue);\n",
    );
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(
        wrong[0].contains("marking_state` is accessed again"),
        "{wrong:?}"
    );
}

#[test]
fn a_third_condition_and_a_third_operand_are_refused() {
    let wrong = broken(
        "                if (value.count < LAST_COUNT) {",
        "                if (value.count < LAST_COUNT && late != over) {",
    );
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(wrong[0].contains("3 conditions"), "{wrong:?}");
    assert!(wrong[1].contains("operands"), "{wrong:?}");
}

/// As in a public CoDel for the Tofino, which tests its operand twice.
#[test]
fn a_condition_that_is_repeated_or_negated_counts_once() {
    let if_ = "                if (value.count < LAST_COUNT) {";
    let again = "                if (value.count < LAST_COUNT && !(value.count >= LAST_COUNT)) {";
    assert_eq!(broken(if_, again), [""; 0]);
    let another = "                if (value.count < LAST_COUNT && value.count != 7) {";
    let wrong = broken(if_, another);
    assert!(wrong[0].contains("3 conditions"), "{wrong:?}");
}

#[test]
fn a_division_and_a_product_of_variables_are_refused() {
    for (value, what) in [
        ("low / now", "divide"),
        ("low * now", "multiply"),
        ("now % 3", "divide"),
    ] {
        let wrong = broken("late = earlier - since;", &format!("late = {value};"));
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains(what), "{wrong:?}");
    }
    assert!(broken("late = earlier - since;", "late = now * 3;").is_empty());
}

#[test]
fn an_if_that_orders_two_fields_and_a_wide_register_are_refused() {
    let wrong = broken(
        "        mark.apply();\n",
        "        if (now < low) { mark.apply(); }\n",
    );
    assert!(wrong[0].contains("order two fields"), "{wrong:?}");
    let wrong = broken(
        "    Register<bit<8>, queue_t>(QUEUES, 0) marking_state;",
        "    Register<bit<64>, queue_t>(QUEUES, 0) wide;
    RegisterAction<bit<64>, queue_t, bit<64>>(wide) add = {
        void apply(inout bit<64> value, out bit<64> sum) { value = value + 1; sum = value; }
    };
    Register<bit<8>, queue_t>(QUEUES, 0) marking_state;",
    );
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].contains("64 bits"), "{wrong:?}");
}
