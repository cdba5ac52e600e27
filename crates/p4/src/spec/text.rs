// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file: structures, headers, metadata, registers, actions, tables, the packet's way.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Emitter;
use super::expr::number;
use super::layout::{bytes, groups};
use super::table::keys;
use crate::error::Result;

/// Fields of a structure: names and widths.
type Fields = Vec<(String, u32)>;

fn structure(out: &mut String, name: &str, fields: &Fields) {
    let _ = writeln!(out, "struct {name} {{");
    for (field, width) in fields {
        let _ = writeln!(out, "\tbit<{width}> {field}");
    }
    out.push_str("}\n\n");
}

fn bare(operand: String) -> String {
    operand.trim_start_matches("m.").to_owned()
}

pub(super) fn text(e: &Emitter<'_>) -> Result<String> {
    let program = e.program;
    let mut out = format!(
        "// SPDX-License-Identifier: MIT OR Apache-2.0\n\
         // {}, as `cemark p4 spec` writes it for DPDK's SWX. Do not change it by hand.\n\n",
        program.file.rsplit('/').next().unwrap_or_default()
    );
    headers(e, &mut out);
    metadata(e, &mut out);
    for register in &e.registers {
        let of = &program.registers[*register];
        for (lane, initial) in of.initial.iter().enumerate() {
            let name = e.register_name(*register, lane);
            let _ = writeln!(out, "regarray {name} size {} initval {initial}", of.size);
        }
    }
    for (action, code) in &e.actions {
        let name = e.action_name(*action);
        let params = &program.actions[*action].params;
        let args = match params.is_empty() {
            true => "none".to_owned(),
            false => {
                let fields = params.iter().zip(e.arguments(*action)).map(|(slot, arg)| {
                    let width = bytes(program.fields[*slot].width);
                    (arg.to_owned(), width)
                });
                out.push('\n');
                structure(&mut out, &format!("{name}_args"), &fields.collect());
                format!("instanceof {name}_args")
            }
        };
        let _ = writeln!(out, "action {name} args {args} {{\n{}}}\n", code.text());
    }
    for table in &e.tables {
        self::table(e, *table, &mut out)?;
    }
    let _ = writeln!(out, "apply {{\n{}}}", e.code.text());
    Ok(out)
}

fn headers(e: &Emitter<'_>, out: &mut String) {
    let mut shim: Fields = e
        .layout
        .given()
        .map(|slot| {
            let width = bytes(e.program.fields[slot].width);
            (bare(e.layout.meta(slot)), width)
        })
        .collect();
    shim.push(("why".to_owned(), 8));
    structure(out, "shim_h", &shim);
    let mut types = BTreeSet::new();
    for header in e.layout.headers().keys() {
        let name = &e.program.headers[*header].type_name;
        if types.insert(name) {
            let fields = groups(e.program, *header).into_iter();
            structure(out, name, &fields.map(|(f, width, _)| (f, width)).collect());
        }
    }
    out.push_str("header shim instanceof shim_h\n");
    for (header, name) in e.layout.headers() {
        let of = &e.program.headers[*header].type_name;
        let _ = writeln!(out, "header {name} instanceof {of}");
    }
    out.push('\n');
}

/// The metadata that the code names.
fn metadata(e: &Emitter<'_>, out: &mut String) {
    let codes = e.actions.values().chain([&e.code]);
    let texts: Vec<String> = codes.map(super::code::Code::text).collect();
    let used: BTreeSet<&str> = texts
        .iter()
        .flat_map(|text| text.split_whitespace())
        .collect();
    let mut fields: Fields = vec![("port".to_owned(), 32)];
    for slot in 0..e.program.fields.len() {
        let name = e.layout.meta(slot);
        if e.layout.is_meta(slot) && used.contains(name.as_str()) {
            fields.push((bare(name), bytes(e.program.fields[slot].width)));
        }
    }
    // The keys of a table are compared as one piece.
    for table in &e.tables {
        fields.extend(keys(*table, &e.program.tables[*table]));
    }
    for (width, most) in &e.most_temps {
        fields.extend((0..*most).map(|n| (format!("t{width}_{n}"), *width)));
    }
    structure(out, "metadata_t", &fields);
    out.push_str("metadata instanceof metadata_t\n\n");
}

fn table(e: &Emitter<'_>, table: usize, out: &mut String) -> Result<()> {
    let of = &e.program.tables[table];
    let _ = writeln!(out, "table {} {{\n\tkey {{", e.table_name(table));
    for (i, (key, _)) in keys(table, of).iter().enumerate() {
        let _ = writeln!(out, "\t\tm.{key} {}", Emitter::kind(of, i)?);
    }
    out.push_str("\t}\n\tactions {\n");
    for action in &of.actions {
        let _ = writeln!(out, "\t\t{}", e.action_name(*action));
    }
    let (action, values) = &of.default;
    let mut args = String::new();
    for (arg, value) in e.arguments(*action).zip(values) {
        let _ = write!(args, " {arg} {}", number(*value));
    }
    if args.is_empty() {
        args = " none".to_owned();
    }
    let name = e.action_name(*action);
    let _ = writeln!(
        out,
        "\t}}\n\tdefault_action {name} args{args}\n\tsize {}\n}}\n",
        of.size
    );
    Ok(())
}
