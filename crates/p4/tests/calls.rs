// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Tofino's rules where statements are not in one row: actions that call actions, branches, and
//! tables that a condition applies.

use std::sync::Arc;

use cemark_p4::ir::{Program, Stmt, StmtKind};
use cemark_p4::{Defines, sources, tofino};

/// `ecn_sharp.p4` with more declarations in its control, and more statements at the end of `apply`.
fn program(declarations: &str, apply: &str) -> Arc<Program> {
    let text = sources::text("ecn_sharp.p4").expect("a program");
    let (from, last) = (
        "    apply {\n        targets.apply();\n",
        "verdict.apply();\n",
    );
    assert_eq!(
        (text.matches(from).count(), text.matches(last).count()),
        (1, 1)
    );
    let text = text
        .replace(from, &format!("{declarations}\n{from}"))
        .replace(last, &format!("{last}{apply}\n"));
    let program = sources::of_text("more.p4", &text, &Defines::new());
    program.unwrap_or_else(|e| panic!("{e}:\n{declarations}"))
}

fn said(program: &Program) -> Vec<String> {
    let wrong = tofino::check(program);
    wrong.iter().map(ToString::to_string).collect()
}

fn refused(declarations: &str, apply: &str, what: &str) {
    let wrong = said(&program(declarations, apply));
    assert_eq!(wrong.len(), 1, "{declarations}{apply}: {wrong:?}");
    assert!(wrong[0].contains(what), "{declarations}{apply}: {wrong:?}");
}

fn accepted(declarations: &str, apply: &str) {
    let wrong = said(&program(declarations, apply));
    assert_eq!(wrong, [""; 0], "{declarations}{apply}");
}

/// A table that runs an action for entries from outside.
fn table(name: &str, action: &str) -> String {
    format!(
        "table {name} {{
            key = {{ queue : exact; }}
            actions = {{ {action}; NoAction; }}
            const default_action = NoAction();
        }}\n"
    )
}

const SUBTRACT: &str = "bit<32> x; bit<32> y; bit<32> z;
    action subtract(bit<32> by) { x = y - by; }\n";

#[test]
fn what_a_called_action_subtracts_comes_from_no_entry() {
    let negative = "let the entry hold the negative number";
    for (outer, is_wrong) in [
        ("action outer(bit<32> data) { subtract(data); }", true),
        (
            "action outer(bit<32> data) { subtract(7); z = data; }",
            false,
        ),
        (
            "action outer(bit<32> data) { subtract(z); y = data; }",
            false,
        ),
        // Bits of the entry, a copy of them, and a copy on one path.
        ("action outer(bit<64> data) { subtract(data[31:0]); }", true),
        (
            "action outer(bit<32> data) { z = data; subtract(z); }",
            true,
        ),
        (
            "action outer(bit<32> data) { z = data; z = 3; subtract(z); }",
            false,
        ),
        (
            "action outer(bit<32> data) { z = data; if (queue == 3) { z = 1; } subtract(z); }",
            true,
        ),
        // Over a third action.
        (
            "action middle(bit<32> by, bit<32> other) { subtract(by); z = other; }
             action outer(bit<32> data) { middle(data, 1); }",
            true,
        ),
        (
            "action middle(bit<32> by, bit<32> other) { subtract(by); z = other; }
             action outer(bit<32> data) { middle(1, data); }",
            false,
        ),
    ] {
        let all = format!("{SUBTRACT}{outer}\n{}", table("t", "outer"));
        match is_wrong {
            true => refused(&all, "t.apply();", negative),
            false => accepted(&all, "t.apply();"),
        }
    }
    // The error is at the subtraction and names the caller.
    let outer = "action outer(bit<32> data) { subtract(data); }\n";
    let all = format!("{SUBTRACT}{outer}{}", table("t", "outer"));
    refused(
        &all,
        "t.apply();",
        "(in `egress.ecn_sharp.outer`, with the actions",
    );
    // A fault of the called action itself is told once, where a table runs it too.
    let tables = table("t", "outer") + &table("u", "subtract");
    let all = format!("{SUBTRACT}{outer}{tables}");
    refused(&all, "t.apply(); u.apply();", "and add it");
    // Without a table there is no entry.
    accepted(SUBTRACT, "subtract(arrived);");
}

#[test]
fn a_called_action_has_no_stage_of_its_own() {
    let add = "bit<32> x; bit<32> y; bit<32> z;\naction add(bit<32> to) { x = to + 1; }
        action copy(bit<32> of) { x = of; }\n";
    let one_stage = "an action has one stage";
    for (outer, wrong) in [
        ("action outer() { y = z + 1; add(y); }", Some(one_stage)),
        ("action outer() { add(z); y = x + 1; }", Some(one_stage)),
        ("action outer() { add(z + 2); }", Some(one_stage)),
        (
            "action outer() { copy(z + 2 + y); }",
            Some("two operations"),
        ),
        ("action outer() { copy(z + 2); }", None),
        ("action outer() { add(z); y = z + 1; }", None),
        ("action outer() { add(2 + 3); y = z; }", None),
        ("action outer() { add(z); y = x; }", None),
        // The argument is what the field was before the call.
        (
            "action swap(bit<32> new) { x = y; z = new; } action outer() { swap(x); }",
            None,
        ),
        // The stateful ALU is part of the action.
        (
            "Register<bit<32>, queue_t>(QUEUES, 0) sum;
             RegisterAction<bit<32>, queue_t, bit<32>>(sum) more = {
                 void apply(inout bit<32> value) { value = value + x; }
             };
             action count() { more.execute(queue); }
             action outer() { add(z); count(); }",
            Some("this needs `egress.ecn_sharp.x`"),
        ),
    ] {
        let all = format!("{add}{outer}\n");
        match wrong {
            Some(what) => refused(&all, "outer();", what),
            None => accepted(&all, "outer();"),
        }
    }
}

/// An action that only actions call is no action of the compiled program: its parameters are what
/// the callers give.
#[test]
fn a_parameter_is_what_the_caller_gives() {
    let times = "bit<32> x; bit<32> y;\naction times(bit<32> by) { x = y * by; }\n";
    let constant = format!("{times}action outer() {{ times(3); }}\n");
    accepted(&constant, "outer();");
    let field = format!("{times}action outer() {{ times(y); }}\n");
    refused(&field, "outer();", "does not multiply two variables");
    // Where it is called by `apply` too, its parameter is a variable.
    refused(
        &constant,
        "outer(); times(4);",
        "does not multiply two variables",
    );
}

#[test]
fn a_register_that_called_actions_access_is_accessed_once() {
    let state = "Register<bit<8>, queue_t>(QUEUES, 0) state;
        RegisterAction<bit<8>, queue_t, bit<8>>(state) set = {
            void apply(inout bit<8> value) { value = 1; }
        };
        action inner() { set.execute(queue); }\n";
    let again = "state` is accessed again";
    accepted(
        &format!("{state}action outer() {{ inner(); }}\n"),
        "outer();",
    );
    let twice = format!("{state}action outer() {{ inner(); inner(); }}\n");
    refused(&twice, "outer();", again);
    // A table that a condition applies, or a value.
    let with_table = format!(
        "{state}action outer() {{ inner(); }}\n{}",
        table("t", "outer")
    );
    accepted(&with_table, "if (t.apply().hit) { since = 1; }");
    refused(&with_table, "if (t.apply().hit) { inner(); }", again);
    refused(&with_table, "bool hit = t.apply().hit; inner();", again);
    // A branch of `switch` comes after the action.
    accepted(
        &with_table,
        "switch (t.apply().action_run) { outer: { since = 1; } }",
    );
    refused(
        &with_table,
        "switch (t.apply().action_run) { outer: { inner(); } }",
        again,
    );
    // What only an entry runs, or the default, is run as well.
    let hidden = format!(
        "{state}table t {{
            key = {{ queue : exact; }}
            actions = {{ NoAction; }}
            const entries = {{ 0 : inner(); }}
            const default_action = NoAction();
        }}\n"
    );
    refused(&hidden, "t.apply(); inner();", again);
}

#[test]
fn a_default_action_that_calls_does_not_need_the_hash_units() {
    let set = "Register<bit<8>, queue_t>(QUEUES, 0) state;
        RegisterAction<bit<8>, queue_t, bit<8>>(state) set = {
            void apply(inout bit<8> value) { value = 1; }
        };
        action at(queue_t index) { set.execute(index); }\n";
    let by_default = "table t {
            key = { queue : exact; }
            actions = { outer; }
            const default_action = outer();
        }\n";
    let hashed = format!("{set}action outer() {{ at(queue); }}\n{by_default}");
    refused(&hashed, "t.apply();", "outer` cannot be the default action");
    accepted(
        &format!("{set}action outer() {{ at(7); }}\n{by_default}"),
        "t.apply();",
    );
}

#[test]
fn statements_of_apply_see_what_called_actions_and_tables_set() {
    let add = "bit<32> x; bit<32> y; bit<32> z;
        action inner() { z = y; }
        action outer() { inner(); }
        action other(bit<32> by) { y = by; }\n";
    let joined = "computes this and `egress.ecn_sharp.x`";
    refused(add, "x = z + 1; y = x + 2;", joined);
    // The expression of `x` cannot go beyond a change of `z`.
    accepted(add, "x = z + 1; outer(); y = x + 2;");
    let all = format!("{add}{}", table("t", "outer"));
    accepted(&all, "x = z + 1; if (t.apply().hit) { y = x + 2; }");
    // Arguments and keys are computed in `apply`.
    refused(add, "x = z + 1; other(x + 2);", joined);
    refused(add, "other(x + z + 2);", "two operations");
    accepted(add, "x = z + 1; other(x); other(z + 2);");
    let keyed = |key: &str| {
        format!(
            "{add}table k {{
                key = {{ {key} : exact @name(\"key\"); }}
                actions = {{ outer; }}
                const default_action = outer();
            }}\n"
        )
    };
    accepted(&keyed("x + 1"), "k.apply();");
    refused(&keyed("x + 1"), "x = z + 1; k.apply();", joined);
    refused(&keyed("x + y + 1"), "k.apply();", "two operations");
    refused(&keyed("x / y"), "k.apply();", "does not divide");
}

#[test]
fn what_one_branch_of_an_action_computes_is_computed_behind_it() {
    let x = "bit<32> x; bit<32> y; bit<32> z;\n";
    let branch = |yes: &str, no: &str, then: &str| {
        format!("{x}action outer() {{ if (queue == 3) {{ {yes} }} else {{ {no} }} {then} }}\n")
    };
    let one_stage = "an action has one stage";
    let behind = "y = x + 1;";
    refused(
        &branch("x = z + 1;", "x = 0;", behind),
        "outer();",
        one_stage,
    );
    refused(
        &branch("x = 0;", "x = z + 1;", behind),
        "outer();",
        one_stage,
    );
    accepted(&branch("x = 0;", "x = z;", behind), "outer();");
    accepted(&branch("x = z + 1;", "y = x + 1;", ""), "outer();");
    let condition = format!("{x}action outer() {{ x = z + 1; if (x == 3) {{ y = 1; }} }}\n");
    refused(&condition, "outer();", one_stage);
}

#[test]
fn a_register_without_a_stateful_action_is_read_in_the_stage_of_its_action() {
    let read = |first: &str, then: &str| {
        format!(
            "Register<bit<32>, bit<32>>(1024) state;
             bit<32> x; bit<32> y; bit<32> z;
             action outer() {{ {first} {then} }}\n"
        )
    };
    for then in [
        "y = state.read(x);",
        "state.write(x, y);",
        "state.write(y, x);",
    ] {
        refused(
            &read("x = z + 1;", then),
            "outer();",
            "an action has one stage",
        );
        accepted(&read("x = z;", then), "outer();");
    }
    let after = "y = x + 1;";
    refused(
        &read("x = state.read(z);", after),
        "outer();",
        "an action has one stage",
    );
}

#[test]
fn parsers_and_deparsers_do_not_divide() {
    let text = sources::text("ecn_sharp.p4").expect("a program");
    let switch = sources::text("switch.p4").expect("a part");
    let include = "#include \"switch.p4\"";
    let divides = "hdr.vlan.kind = hdr.vlan.kind / hdr.ethernet.kind;";
    for (from, to) in [
        ("pkt.advance(", &*format!("{divides} pkt.advance(")),
        (
            "pkt.emit(hdr.vlan)",
            &format!("{divides} pkt.emit(hdr.vlan)"),
        ),
        ("select(hdr.vlan.kind)", "select(hdr.vlan.kind / 3)"),
    ] {
        assert_eq!(switch.matches(from).count(), 1, "{from}");
        let switch = switch.replace(from, to);
        let text = text.replace(include, &switch);
        let program = sources::of_text("more.p4", &text, &Defines::new());
        let wrong = said(&program.unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains("does not divide"), "{wrong:?}");
    }
}

#[test]
fn a_stage_and_a_table_are_counted_where_calls_and_conditions_hide_them() {
    let steps = "bit<32> x; bit<32> y;
        action inner() { x = (bit<32>)due + 1; }
        action outer() { inner(); }
        action branch() { if (queue == 3) { x = (bit<32>)due + 1; } }
        action next() { y = x + 1; }\n";
    let takes = |apply: &str| {
        let more = format!("{steps}{}", table("t", "outer"));
        tofino::takes(&program(&more, apply))
    };
    // `due` is ready in the stage of `verdict`, which is stage 8 of 9 with `write_ce` behind it.
    let plain = takes("inner(); next(); next();").stages;
    assert_eq!(takes("outer(); next(); next();").stages, plain);
    assert_eq!(takes("branch(); next(); next();").stages, plain);
    let hit = takes("if (t.apply().hit) { next(); next(); }");
    assert_eq!(hit, takes("t.apply(); next(); next();"));
    assert_eq!(hit.tables, 8);
}

#[test]
fn an_action_applies_no_table_and_a_register_action_calls_nothing() {
    let all = format!("action inner() {{ since = 1; }}\n{}", table("t", "inner"));
    let nothing = "an action applies no table";
    for body in ["t.apply();", "if (t.apply().hit) { since = 2; }"] {
        refused(
            &format!("{all}action outer() {{ {body} }}\n"),
            "outer();",
            nothing,
        );
    }
    for call in ["inner();", "t.apply();", "since = other.execute(queue);"] {
        let all = format!(
            "{all}Register<bit<32>, queue_t>(QUEUES, 0) others;
            RegisterAction<bit<32>, queue_t, bit<32>>(others) other = {{
                void apply(inout bit<32> value, out bit<32> was) {{ was = value; }}
            }};
            Register<bit<32>, queue_t>(QUEUES, 0) state;
            RegisterAction<bit<32>, queue_t, bit<32>>(state) set = {{
                void apply(inout bit<32> value) {{ {call} value = 1; }}
            }};
            action outer() {{ set.execute(queue); }}\n"
        );
        refused(
            &all,
            "outer();",
            "a register action only compares, and sets",
        );
    }
}

/// The text of a program has no action before its declaration, so that only a program that is made
/// otherwise can call in circles.
#[test]
fn an_action_that_calls_itself_is_refused() {
    let program = program(
        "action first() { since = 1; }\naction second() { first(); }",
        "second();",
    );
    let of = |name: &str| {
        let name = format!("egress.ecn_sharp.{name}");
        let found = program
            .actions
            .iter()
            .position(|action| action.name == name);
        found.expect("an action")
    };
    let (first, second) = (of("first"), of("second"));
    assert_eq!(said(&program), [""; 0]);
    for called in [first, second] {
        let mut circle = Program::clone(&program);
        let place = circle.actions[first].body[0].place.clone();
        let kind = StmtKind::Action(called, Vec::new());
        circle.actions[first].body.push(Stmt { place, kind });
        let wrong = said(&circle);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].contains("P4 has no recursion"), "{wrong:?}");
        let _ = tofino::takes(&circle);
    }
}

#[test]
fn calls_without_end_are_refused() {
    let chain = |n: usize, call: &dyn Fn(usize) -> String| {
        let more = (1..n).map(|i| format!("action a{i}(bit<32> v) {{ {} }}\n", call(i - 1)));
        format!(
            "action a0(bit<32> v) {{ since = v; }}\n{}",
            more.collect::<String>()
        )
    };
    accepted(&chain(150, &|i| format!("a{i}(v);")), "a149(1);");
    let said_of = |actions: &str, apply: &str| said(&program(actions, apply)).join("\n");
    let deep = said_of(&chain(2_000, &|i| format!("a{i}(v);")), "a1999(1);");
    assert!(deep.contains("within each other"), "{deep}");
    let nested = |i| format!("{}a{i}(v);{}", "if (v == 1) {".repeat(40), "}".repeat(40));
    let deep = said_of(&chain(10, &nested), "a9(1);");
    assert!(deep.contains("within each other"), "{deep}");
    let wide = said_of(&chain(60, &|i| format!("a{i}(v); a{i}(v);")), "a59(1);");
    assert!(wide.contains("calls add more than"), "{wide}");
    let sums = said_of(&chain(60, &|i| format!("a{i}(v + v);")), "a59(1);");
    assert!(sums.contains("an action has one stage"), "{sums}");
}
