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

/// The statements that the actions of `apply` hold, as they would stand in `apply` itself.
const MEASURE: &str = "waited = timestamp[31:0] - arrived;\n low = (bit<32>)timestamp[31:10];\n";
const COMPARE: &str = "over = waited |-| ins_target;\n under = pst_target |-| waited;\n";

/// Actions of which p4c's back end for the Tofino says "action spanning multiple stages".
#[test]
fn an_operation_on_the_result_of_another_takes_two_stages() {
    let calls = "        measure();\n        compare();\n";
    let wrong = broken(calls, &format!("{MEASURE}{COMPARE}"));
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    for said in &wrong {
        assert!(said.contains("and `egress.ecn_sharp.waited` of"), "{said}");
    }
    // The expression of `earlier` goes where it is used, beyond the table between them.
    let text = sources::text("ecn_sharp.p4").expect("a program");
    let text = text
        .replace(
            "        around();\n",
            "        earlier = now - PST_INTERVAL;\n",
        )
        .replace("        lateness();\n", "        late = earlier - since;\n");
    let program = sources::of_text("broken.p4", &text, &Defines::new()).expect("a program");
    let wrong = tofino::check(&program);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(
        wrong[0].what.contains("`egress.ecn_sharp.earlier`"),
        "{wrong:?}"
    );
    // A variable that is set again cannot go there, so that the compiler makes two actions.
    assert_eq!(
        broken("        join();\n", "        now = now | low;\n"),
        [""; 0]
    );

    let wrong = broken(
        "        over = waited |-| ins_target;\n",
        "        waited = timestamp[31:0] - arrived;\n        over = waited |-| ins_target;\n",
    );
    assert_eq!(wrong.len(), 2, "both comparisons: {wrong:?}");
    assert!(wrong[0].contains("an action has one stage"), "{wrong:?}");
    let wrong = broken(
        "late = earlier - since;",
        "late = now - PST_INTERVAL - since;",
    );
    assert!(wrong[0].contains("two operations"), "{wrong:?}");
    // The stateful ALU is part of the action.
    let wrong = broken(
        "        now = read_clock.execute(queue);\n",
        "        low = low + 1;\n        now = read_clock.execute(queue);\n",
    );
    assert!(
        wrong[0].contains("needs `egress.ecn_sharp.low`"),
        "{wrong:?}"
    );
}

#[test]
fn what_is_subtracted_comes_from_no_entry() {
    for sign in ["-", "|-|"] {
        let wrong = broken(
            "        pst_target = pst;\n",
            &format!("        pst_target = arrived {sign} pst;\n"),
        );
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains("negative number"), "{wrong:?}");
    }
    for fine in ["arrived + pst", "pst - arrived", "arrived - 7"] {
        let set = format!("        pst_target = {fine};\n");
        assert_eq!(
            broken("        pst_target = pst;\n", &set),
            [""; 0],
            "{fine}"
        );
    }
}

#[test]
fn a_default_action_does_not_need_the_hash_units() {
    let wrong = broken(
        "        actions = { above; below; NoAction; }\n        const default_action = NoAction();",
        "        actions = { above; below; NoAction; }\n        const default_action = below();",
    );
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(
        wrong[0].contains("below` cannot be the default action of `egress.ecn_sharp.detect`"),
        "{wrong:?}"
    );
}

/// Each rule of a stateful ALU that p4c's back end has, with what it says.
#[test]
fn what_a_stateful_alu_cannot_do_is_refused() {
    let cases = [
        (
            "value.count = value.count + 1;",
            "value.count = gap.execute(value.count);",
            "to the first part, `egress.ecn_sharp.next_mark.value.next`, only",
        ),
        (
            "            value.low = low;\n",
            "            value.low = low;\n            value.low = 7;\n",
            "value.low` is set again on the same path",
        ),
        (
            "            mark = 0;\n",
            "            mark = 1;\n",
            "mark` is set again on the same path",
        ),
        (
            "    Register<bit<8>, queue_t>(QUEUES, 0) marking_state;",
            "    Register<bit<10>, queue_t>(QUEUES, 0) odd;
    Register<bit<8>, queue_t>(QUEUES, 0) marking_state;",
            "an entry of bit<10> cannot be had",
        ),
        (
            "value.wraps = value.wraps + 0x400000;",
            "value.wraps = value.wraps + 0x400000 + low;",
            "one in a statement",
        ),
        (
            "wraps = value.wraps;",
            "wraps = value.wraps + low;",
            "wraps` is computed, beside an entry of two parts",
        ),
        (
            "            value.low = low;\n",
            "            bit<32> tmp = value.low + low;\n            value.low = tmp;\n",
            "no place for `egress.ecn_sharp.read_clock.tmp`",
        ),
        (
            "            before = value;\n            value = 1;\n",
            "            before = value;\n            if (now == 7) { value = 1; }\n",
            "has 32 bits, and a stateful ALU for this entry reads 8",
        ),
        (
            "(value.count < LAST_COUNT)",
            "(value.count < 0x90000000)",
            "2415919104 is compared without a sign",
        ),
        (
            "            value.next = later;\n            value.count = 2;\n",
            "            value.next = later + 500;
            if (later == 100) { value.count = 200; } else { value.count = 300; }\n",
            "numbers outside of -8 to 7",
        ),
    ];
    for (from, to, said) in cases {
        let wrong = broken(from, to);
        assert_eq!(wrong.len(), 1, "{to}: {wrong:?}");
        assert!(wrong[0].contains(said), "{to}: {wrong:?}");
    }
    // What the compiler takes.
    for (from, to) in [
        (
            "            value.count = 2;\n",
            "            value.count = 200;\n",
        ),
        (
            "value.wraps = value.wraps + 0x400000;",
            "value.wraps = (value.wraps & low) | (value.wraps & 0x400000);",
        ),
        (
            "            mark = 1;\n        }\n    };",
            "            mark = 0;\n        }\n    };",
        ),
        (
            "    Register<bit<8>, queue_t>(QUEUES, 0) marking_state;",
            "    Register<bit<64>, queue_t>(QUEUES, 0) held;
    Register<bit<1>, queue_t>(QUEUES, 0) bits;
    Register<bit<8>, queue_t>(QUEUES, 0) marking_state;",
        ),
    ] {
        assert_eq!(broken(from, to), [""; 0], "{to}");
    }
}

/// A part that is set in several places of a register action, and whether a packet can come by two
/// of them.
#[test]
fn a_part_is_set_again_unless_the_branches_exclude_each_other() {
    let cases = [
        // Nested: the outer assignment and the inner one are on one path.
        ("if (A) { value = 1; if (B) { value = 2; } }", true),
        ("if (A) { if (B) { value = 2; } value = 1; }", true),
        (
            "if (A) { value = 1; } else { value = 3; if (B) { value = 2; } }",
            true,
        ),
        (
            "if (A) { if (B) { value = 2; } else { value = 1; } }",
            false,
        ),
        (
            "if (A) { if (B) { value = 2; } } else { value = 1; }",
            false,
        ),
        ("if (A && B) { value = 1; } else { value = 3; }", false),
        (
            "if (A) { value = 1; } else if (B) { value = 2; } else { value = 3; }",
            false,
        ),
        // Side by side: both can be true.
        ("if (A) { value = 1; } if (B) { value = 2; }", true),
        (
            "if (A) { value = 1; } else { if (B) { value = 2; } } if (B) { value = 3; }",
            true,
        ),
        ("if (A) { value = 1; } if (A) { value = 2; }", true),
        // The second condition is the opposite of the first, as long as neither is set between.
        ("if (A) { value = 1; } if (!(A)) { value = 2; }", false),
        (
            "if (A) { value = 1; } if (now >= low) { value = 2; }",
            false,
        ),
        ("if (A && B) { value = 1; } if (!(A)) { value = 2; }", false),
        (
            "if (A || B) { value = 1; } else { if (A) { value = 2; } }",
            false,
        ),
        (
            "if (value == 0) { value = 1; } if (value != 0) { value = 2; }",
            true,
        ),
        // A zero that comes first.
        ("value = 0; if (A) { value = 1; }", false),
        ("if (A) { value = 0; if (B) { value = 1; } }", false),
        ("if (A) { value = 1; if (B) { value = 0; } }", true),
        ("if (A) { value = 0; value = 1; }", true),
        ("if (A) { value = 0; } value = 1;", true),
    ];
    let state = "    Register<bit<8>, queue_t>(QUEUES, 0) marking_state;";
    for (body, again) in cases {
        let body = body.replace('A', "now < low").replace('B', "value == 7");
        let more = format!(
            "    Register<bit<32>, queue_t>(QUEUES, 0) more;
    RegisterAction<bit<32>, queue_t, bit<32>>(more) change = {{
        void apply(inout bit<32> value) {{ {body} }}
    }};
{state}"
        );
        let wrong = broken(state, &more);
        // Three updates of a part are too many, wherever they are.
        let more = usize::from(body.matches("value = ").count() > 2);
        assert_eq!(wrong.len(), more + usize::from(again), "{body}: {wrong:?}");
        let said = |what: &str| wrong.iter().any(|one| one.contains(what));
        assert_eq!(
            said("value` is set again on the same path"),
            again,
            "{body}: {wrong:?}"
        );
        assert_eq!(said("a third update"), more > 0, "{body}: {wrong:?}");
    }
}

#[test]
fn what_no_tofino_holds_is_refused() {
    let queues = "const bit<32> QUEUES = 1024;";
    assert_eq!(broken(queues, "const bit<32> QUEUES = 163840;"), [""; 0]);
    for (size, wanted) in [("163841", 3), ("4294967295", 4)] {
        let wrong = broken(queues, &format!("const bit<32> QUEUES = {size};"));
        assert_eq!(wrong.len(), wanted, "{wrong:?}");
        assert!(
            wrong[0].contains("a stage of a Tofino 1310720"),
            "{wrong:?}"
        );
    }
    let exact =
        "        default_action = set_targets(INS_TARGET, PST_TARGET);\n        size = 1024;";
    let wrong = broken(exact, &exact.replace("1024", "4294967295"));
    assert!(wrong[0].contains("the memory of 12 stages"), "{wrong:?}");
    let ternary = "            _ : below();\n        }\n        size = 2;";
    assert_eq!(broken(ternary, &ternary.replace("2;", "147456;")), [""; 0]);
    let wrong = broken(ternary, &ternary.replace("2;", "147457;"));
    assert!(wrong[0].contains("ternary memory"), "{wrong:?}");
}
