// SPDX-License-Identifier: MIT OR Apache-2.0
//! `[[workload]]` of kind `list`: flows one by one, in the scenario or in a file.

use cemark_sim::workload::{FlowLine, Kind};
use cemark_wire::Picos;

use crate::around::{Around, HOST, two_hosts};
use crate::class::own_class;
use crate::error::{Fallible, Fault};
use crate::flows::{self, Names, Wrong};
use crate::key::{Key, keys};
use crate::section::{Section, list, wrong};
use crate::sections::{Form, SectionSpec};
use crate::tree::{Node, Value};
use crate::units::LARGEST_FLOW;

pub(crate) static FLOW: SectionSpec =
    SectionSpec::new("flow", Form::Inline, &[FLOW_KEYS], "One flow of a list.");

/// JSON schema of a queue, by number or name.
const QUEUE: &str = r#"{"type":["integer","string"],"minimum":0}"#;

keys! { LIST:
    FLOW_LIST: Node = Key::own(
        "flow",
        "a list of flows",
        r##"{"type":"array","minItems":1,"items":{"$ref":"#/definitions/flow"}}"##,
    )
    .only(&["list"])
    .needed("[{ at = \"0us\", src = 0, dst = 1, size = \"100KB\" }]")
    .doc("the flows, in any order: `[{ at = \"2us\", src = 0, dst = 1, size = \"1MB\" }]`");
    FLOW_FILE: String = Key::text("file").only(&["list"]).follows("`flow`").doc(
        "instead of `flow`: a file of comma-separated values whose first line names its columns: \
         `src`, `dst`, `size`, and where wanted `at`, `class`, `rtt`, with a unit in the cell or \
         in the name (`at_us`), `id`, and `after` with ids between spaces; or Parquet with such \
         columns, HPCC's `flow.txt` or a `.cm` of htsim; relative to the scenario's folder, up to \
         256 MB and ten million flows",
    );
}

keys! { FLOW_KEYS:
    AT: Picos = Key::time("at").usual("0").doc("when it starts");
    FLOW_SRC: Node = Key::own("src", "a host", HOST).needed("0").doc("the sender");
    FLOW_DST: Node = Key::own("dst", "a host", HOST).needed("1").doc("the receiver");
    FLOW_SIZE: u64 = Key::bytes("size", 1, LARGEST_FLOW).needed("100KB").doc("its bytes");
    FLOW_CLASS: Node = Key::own("class", "a queue or a traffic class", QUEUE)
        .follows("the workload's").doc("its queue at every port");
    FLOW_RTT: Picos = Key::time("rtt").follows("drawn from `[rtt]`").doc("its base RTT");
    FLOW_ID: Node = Key::own("id", "a text or a number", r#"{"type":["string","integer"]}"#)
        .follows("none").doc("its name in `after` of others");
    FLOW_AFTER: Node = Key::own(
        "after",
        "a list of ids",
        r#"{"type":"array","items":{"type":["string","integer"]}}"#,
    )
    .follows("none")
    .doc("flows of this list: the flow starts `at` after the last of them has ended");
}

/// The flows of a list.
pub(crate) fn flows(s: &mut Section<'_>, around: &mut Around<'_>) -> Fallible<Kind> {
    let (topology, classes) = (around.topology, around.classes);
    if let Some(name) = s.given(&FLOW_FILE)? {
        let at = s.need(&FLOW_FILE)?.at;
        if let Some(node) = s.node(&FLOW_LIST) {
            return Err(Fault::new(node.at, "the flows are given in two ways")
                .help("keep flow = [...], or file = \"flows.csv\""));
        }
        let content = around.tables.flows(&name);
        return flows::of(content, (&name, at), topology, classes.queues);
    }
    let node = s.need(&FLOW_LIST)?;
    let rows = list(node)?;
    let (mut lines, mut names) = (Vec::new(), Names::default());
    let fault = |wrong: Wrong| Fault::new(rows[wrong.place].at, wrong.message).help(wrong.help);
    for row in rows {
        let mut line = Section::under(row, &FLOW)?;
        let start = line.read(&AT)?;
        let (src, dst) = two_hosts(line.need(&FLOW_SRC)?, line.need(&FLOW_DST)?, topology)?;
        let bytes = line.read(&FLOW_SIZE)?;
        let class = line.node(&FLOW_CLASS).map(|node| own_class(node, classes));
        let (class, rtt) = (class.transpose()?, line.given(&FLOW_RTT)?);
        let id = line.node(&FLOW_ID).map(flow_name).transpose()?;
        let after = match line.node(&FLOW_AFTER) {
            None => &[],
            Some(node) => list(node)?,
        };
        let after = after
            .iter()
            .map(flow_name)
            .collect::<Fallible<Vec<String>>>()?;
        names
            .add(lines.len(), id.as_deref(), after)
            .map_err(fault)?;
        line.finish()?;
        lines.push(FlowLine {
            start,
            src,
            dst,
            bytes,
            class,
            rtt,
        });
    }
    if lines.is_empty() {
        let help = format!("{}, with a line for each flow", FLOW_LIST.spec.advice());
        return Err(Fault::new(node.at, "no flow in the list").help(help));
    }
    names.kind(lines).map_err(fault)
}

/// The name of a flow: a text or a number.
fn flow_name(node: &Node) -> Fallible<String> {
    match &node.value {
        Value::Text(name) => Ok(name.clone()),
        Value::Integer(n) => Ok(n.to_string()),
        _ => Err(wrong(node, "the id of a flow, a text or a whole number")
            .help("write id = \"a\" or id = 3, and after = [\"a\"] or after = [3]")),
    }
}
