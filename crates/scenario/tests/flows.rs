// SPDX-License-Identifier: MIT OR Apache-2.0
//! The flows of a `list` from a file.

use std::path::PathBuf;
use std::sync::Arc;

use cemark_scenario::{Overrides, Plan, parse};
use cemark_sim::workload::{FlowLine, Kind, List};
use cemark_wire::Picos;
use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// A folder of a test's own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("cemark-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn read(&self, csv: &str, more: &str) -> Result<Plan, (String, String)> {
        self.read_with(csv.as_bytes(), more)
    }

    fn read_bytes(&self, content: &[u8]) -> Result<Plan, (String, String)> {
        self.read_with(content, "")
    }

    fn read_with(&self, content: &[u8], more: &str) -> Result<Plan, (String, String)> {
        std::fs::write(self.0.join("flows.csv"), content).expect("a file");
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 4\n[switch]\nscheduler = \"dwrr\"\n\
             queues = 2\n[[workload]]\nkind = \"list\"\nfile = \"flows.csv\"\n{more}\
             [[scheme]]\nmarker = \"none\"\n"
        );
        let file = self.0.join("s.toml");
        parse(&text, &file.to_string_lossy(), &Overrides::default()).map_err(|error| {
            let help = error.help_text().unwrap_or_default().to_owned();
            (error.message().to_owned(), help)
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn lines(plan: &Plan) -> &[FlowLine] {
    match &plan.points[0].config.workloads[0].kind {
        Kind::List(list) => &list.lines,
        other => panic!("{other:?}"),
    }
}

#[test]
fn columns_have_names_and_units() {
    let folder = Folder::new("flows-good");
    let plan = folder
        .read(
            "# made by hand\nsize,dst,src,at_us,rtt,class\n100KB,1,0,20,90us,1\n\
             1460,2,3,5ms,,\n7,0,1,,,0\n",
            "",
        )
        .expect("flows");
    let line = |at: u64, src, dst, bytes, class, rtt: Option<u64>| FlowLine {
        start: Picos::from_micros(at),
        src,
        dst,
        bytes,
        class,
        rtt: rtt.map(Picos::from_micros),
    };
    assert_eq!(
        lines(&plan),
        [
            line(0, 1, 0, 7, Some(0), None),
            line(20, 0, 1, 100_000, Some(1), Some(90)),
            line(5_000, 3, 2, 1_460, None, None),
        ]
    );
}

#[test]
fn a_mistake_is_named_with_its_line() {
    let folder = Folder::new("flows-bad");
    for (csv, says) in [
        ("src,dst\n0,1\n", "it has no column `size`"),
        ("src,dst,size,colour\n0,1,5,red\n", "`colour` is no column"),
        ("src,dst,size,size_bytes\n0,1,5,5\n", "two columns"),
        ("src,dst,size\n", "no flows"),
        (
            "src,dst,size\n0,1,5\n0,4,5\n",
            "line 3: `dst` is not a host, 0 to 3",
        ),
        (
            "src,dst,size\n1,1,5\n",
            "line 2: host 1 cannot send to itself",
        ),
        ("src,dst,size\n0,1,0\n", "line 2: a flow has from one byte"),
        (
            "src,dst,size\n0,1,much\n",
            "line 2: `size` cannot be read: `much`",
        ),
        (
            "src,dst,size,at\n0,1,5,7\n",
            "line 2: `at` cannot be read: `7`",
        ),
        (
            "src,dst,size,class\n0,1,5,2\n",
            "line 2: `class` is not a queue, 0 to 1",
        ),
        ("src,dst,size\n0,1\n", "found record with 2 fields"),
    ] {
        let (message, help) = folder.read(csv, "").expect_err(csv);
        assert!(message.contains(says), "{csv}: {message}");
        assert!(help.contains("at_us,src,dst,size"), "{help}");
    }
    let both = "flow = [{ src = 0, dst = 1, size = \"1KB\" }]\n";
    let (message, _) = folder
        .read("src,dst,size\n0,1,5\n", both)
        .expect_err("two ways");
    assert!(message.contains("two ways"), "{message}");
}

/// Flows wait for others by their ids, in a file as in the scenario.
#[test]
fn flows_wait_for_others() {
    let folder = Folder::new("chain");
    let csv = "id,at_us,src,dst,size,after\na,1,0,1,10KB,\n7,0,1,2,10KB,a\n,5,2,3,10KB,a 7\n";
    let chain = |plan: &Plan| match &plan.points[0].config.workloads[0].kind {
        Kind::List(List { lines, after }) => (lines.clone(), after.clone()),
        other => panic!("{other:?}"),
    };
    let (lines, after) = chain(&folder.read(csv, "").expect("a chain"));
    let pairs: Vec<(u32, u32)> = after.iter().map(|of| (of.flow, of.ended)).collect();
    assert_eq!(pairs, [(1, 0), (2, 0), (2, 1)]);
    assert_eq!(lines[2].start, Picos::from_micros(5));
    let inline = |flows: &str| {
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 4\n[[workload]]\nkind = \"list\"\n\
             flow = [{flows}]\n[[scheme]]\nmarker = \"none\"\n"
        );
        parse(&text, "chain.toml", &Overrides::default())
    };
    let good = "{ id = \"a\", at = \"1us\", src = 0, dst = 1, size = \"10KB\" }, \
                { id = 7, src = 1, dst = 2, size = \"10KB\", after = [\"a\"] }, \
                { at = \"5us\", src = 2, dst = 3, size = \"10KB\", after = [\"a\", 7] }";
    assert_eq!(chain(&inline(good).expect("a chain")), (lines, after));
    for (from, to, message) in [
        (
            "after = [\"a\"]",
            "after = [\"b\"]",
            "no flow has the id `b`",
        ),
        (
            "after = [\"a\"]",
            "after = [7]",
            "the flow `7` waits for its own end",
        ),
        ("id = 7", "id = \"a\"", "two flows have the id `a`"),
        (
            "after = [\"a\"]",
            "after = [0.5]",
            "a text or a whole number",
        ),
        (
            "id = \"a\",",
            "id = \"a\", after = [7],",
            "flows wait for each other in a circle: `a`, `7`",
        ),
    ] {
        let error = inline(&good.replacen(from, to, 1)).expect_err(message);
        assert!(error.message().contains(message), "{error}");
        assert!(
            error.position().is_some() && error.help_text().is_some(),
            "{error:?}"
        );
    }
    for (from, to, message) in [
        (",a 7", ",a x", "flow 3: no flow has the id `x`"),
        (
            "10KB,a\n",
            "10KB,7\n",
            "flow 2: the flow `7` waits for its own end",
        ),
        ("\n7,", "\na,", "line 3: two flows have the id `a`"),
    ] {
        let (said, help) = folder
            .read(&csv.replacen(from, to, 1), "")
            .expect_err(message);
        assert!(said.contains(message) && !help.is_empty(), "{said}");
    }
}

#[test]
fn many_flows_are_read() {
    use std::fmt::Write;
    const MANY: u64 = 100_000;
    let folder = Folder::new("flows-many");
    let mut csv = String::from("at_ns,src,dst,size\n");
    for i in 0..MANY {
        writeln!(csv, "{i},{},{},{}", i % 4, (i + 1) % 4, 1 + i % 5_000).expect("text");
    }
    let plan = folder.read(&csv, "").expect("flows");
    assert_eq!(lines(&plan).len() as u64, MANY);
    let last = lines(&plan).last().map(|line| line.start);
    assert_eq!(last, Some(Picos::from_nanos(MANY - 1)));
}

#[test]
fn lists_of_other_simulators_are_read_as_they_are() {
    let folder = Folder::new("flows-foreign");
    // HPCC: seconds, and a queue for each priority, in their order.
    let hpcc = "3\n2 1 4 100 200 2.5\n0 1 3 100 100 2\n1 3 3 100 300 2.000000001\nFirst line: #\n";
    let plan = folder.read(hpcc, "").expect("flows");
    let line = |at: u64, src, dst, bytes, class| FlowLine {
        start: Picos(at),
        src,
        dst,
        bytes,
        class,
        rtt: None,
    };
    assert_eq!(
        lines(&plan),
        [
            line(0, 0, 1, 100, Some(0)),
            line(1_000, 1, 3, 300, Some(0)),
            line(500_000_000_000, 2, 1, 200, Some(1)),
        ]
    );
    // One priority is the queue of the workload. htsim: picoseconds.
    let plan = folder
        .read("1\n0 1 3 100 7 2\n", "class = 1\n")
        .expect("flows");
    assert_eq!(lines(&plan), [line(0, 0, 1, 7, None)]);
    let htsim = "Nodes 4\nConnections 2\n0->3 id 1 start 50 size 20000\n1->2 start 57 size 1\n";
    let plan = folder.read(htsim, "").expect("flows");
    assert_eq!(
        lines(&plan),
        [line(0, 0, 3, 20_000, None), line(7, 1, 2, 1, None)]
    );
    for (list, says) in [
        (
            "1\n0 4 3 100 7 2\n",
            "line 2: node 4 is no host, 0 to 3; `cemark import`",
        ),
        (
            "1\n0 1 0 100 7 2\n",
            "line 2: priority 0 is that of control packets",
        ),
        ("2\n0 1 3 100 7 2\n", "its first line counts 2"),
        ("1\n0 1 3 100 0 2\n", "line 2: a flow of no bytes"),
        ("0\n", "it has no flows"),
        (
            "3\n0 1 1 100 7 2\n0 1 2 100 7 2\n0 1 3 100 7 2\n",
            "3 priorities, and a port has 2 queues; write queues = 3",
        ),
        (
            "4 1 3\n0\n0 1 1Gbps 1us 0\n",
            "`cemark import` makes a scenario",
        ),
        ("Nodes 4\nConnections 1\n0->9 start 0 size 1\n", "node 9"),
    ] {
        let (message, _) = folder.read(list, "").expect_err(list);
        assert!(message.contains(says), "{list}: {message}");
    }
}

/// A column of a Parquet file: whether a cell may be empty, and the values.
enum Values {
    Whole(bool, Vec<Option<i64>>),
    Real(Vec<f64>),
    Text(Vec<&'static str>),
}

fn parquet(columns: &[(&str, Values)], compression: Compression) -> Vec<u8> {
    let field = |(name, values): &(&str, Values)| {
        let (physical, optional) = match values {
            Values::Whole(optional, _) => (Physical::INT64, *optional),
            Values::Real(_) => (Physical::DOUBLE, false),
            Values::Text(_) => (Physical::BYTE_ARRAY, false),
        };
        let repetition = match optional {
            true => Repetition::OPTIONAL,
            false => Repetition::REQUIRED,
        };
        let built = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        Arc::new(built.build().expect("a column"))
    };
    let fields = columns.iter().map(field).collect();
    let schema = Type::group_type_builder("flows")
        .with_fields(fields)
        .build();
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    let mut out = Vec::new();
    let schema = Arc::new(schema.expect("a schema"));
    let mut file =
        SerializedFileWriter::new(&mut out, schema, Arc::new(properties)).expect("a file");
    // Two groups of rows, so that both are read.
    for half in 0..2 {
        let mut group = file.next_row_group().expect("a group");
        for (_, values) in columns {
            let mut column = group
                .next_column()
                .expect("a column")
                .expect("as in the schema");
            let part = |n: usize| if half == 0 { 0..n / 2 } else { n / 2..n };
            match (column.untyped(), values) {
                (ColumnWriter::Int64ColumnWriter(w), Values::Whole(optional, all)) => {
                    let part = &all[part(all.len())];
                    let some: Vec<i64> = part.iter().copied().flatten().collect();
                    let levels: Vec<i16> = part.iter().map(|v| i16::from(v.is_some())).collect();
                    let levels = optional.then_some(&levels[..]);
                    w.write_batch(&some, levels, None).expect("values");
                }
                (ColumnWriter::DoubleColumnWriter(w), Values::Real(all)) => {
                    w.write_batch(&all[part(all.len())], None, None)
                        .expect("values");
                }
                (ColumnWriter::ByteArrayColumnWriter(w), Values::Text(all)) => {
                    let texts: Vec<ByteArray> = all[part(all.len())]
                        .iter()
                        .map(|t| ByteArray::from(*t))
                        .collect();
                    w.write_batch(&texts, None, None).expect("values");
                }
                _ => unreachable!("the writer of the schema"),
            }
            column.close().expect("a column");
        }
        group.close().expect("a group");
    }
    file.close().expect("a file");
    out
}

#[test]
fn a_list_in_parquet_has_the_same_columns() {
    let folder = Folder::new("flows-parquet");
    let whole = |values: &[i64]| Values::Whole(false, values.iter().copied().map(Some).collect());
    let good = |compression| {
        parquet(
            &[
                ("size", whole(&[100, 200, 300])),
                ("src", whole(&[0, 1, 2])),
                ("dst", whole(&[1, 2, 3])),
                ("at_us", Values::Real(vec![2.5, 0.000_001, 0.0])),
                ("class", Values::Whole(true, vec![Some(1), None, Some(0)])),
            ],
            compression,
        )
    };
    let plan = folder
        .read_bytes(&good(Compression::SNAPPY))
        .expect("flows");
    let line = |at: u64, src, bytes, class| FlowLine {
        start: Picos(at),
        src,
        dst: src + 1,
        bytes,
        class,
        rtt: None,
    };
    assert_eq!(
        lines(&plan),
        [
            line(0, 2, 300, Some(0)),
            line(1, 1, 200, None),
            line(2_500_000, 0, 100, Some(1)),
        ]
    );
    assert_eq!(
        lines(&plan),
        lines(
            &folder
                .read_bytes(&good(Compression::UNCOMPRESSED))
                .expect("flows")
        )
    );
    let of = |columns: &[(&str, Values)]| parquet(columns, Compression::SNAPPY);
    let host = || whole(&[0, 1, 2]);
    let other = || whole(&[1, 2, 3]);
    for (file, says) in [
        (of(&[("src", host()), ("dst", other())]), "no column `size`"),
        (
            of(&[
                ("src", host()),
                ("dst", other()),
                ("size", whole(&[5, 5, -5])),
            ]),
            "row 3: `size` cannot be read: `-5`",
        ),
        (
            of(&[("src", host()), ("dst", host()), ("size", host())]),
            "row 1: host 0 cannot send to itself",
        ),
        (
            of(&[
                ("src", host()),
                ("dst", other()),
                ("size", Values::Text(vec!["1KB"; 3])),
            ]),
            "the column `size` has values of the type BYTE_ARRAY",
        ),
        (
            of(&[
                ("src", whole(&[])),
                ("dst", whole(&[])),
                ("size", whole(&[])),
            ]),
            "no flows",
        ),
        (good(Compression::SNAPPY)[..40].to_vec(), "cannot be read"),
    ] {
        let (message, help) = folder.read_bytes(&file).expect_err(says);
        assert!(message.contains(says), "{says}: {message}");
        assert!(help.contains("Parquet"), "{help}");
    }
}

/// A list of three flows, some cells of which are empty.
fn three() -> Vec<u8> {
    let whole = |values: &[i64]| Values::Whole(false, values.iter().copied().map(Some).collect());
    parquet(
        &[
            ("size", whole(&[100, 200, 300])),
            ("src", whole(&[0, 1, 2])),
            ("dst", whole(&[1, 2, 3])),
            ("class", Values::Whole(true, vec![Some(1), None, Some(0)])),
        ],
        Compression::SNAPPY,
    )
}

/// A damaged list has all of its flows, whatever their values, or is refused: none is cut off, and
/// no length in the file is believed.
#[test]
fn a_damaged_list_in_parquet_is_whole_or_refused() {
    let folder = Folder::new("flows-damaged");
    let whole = three();
    let check = |bytes: &[u8], what: String| {
        if let Ok(plan) = folder.read_bytes(bytes) {
            assert_eq!(lines(&plan).len(), 3, "{what}");
        }
    };
    check(&whole, "the file".to_owned());
    for at in (0..whole.len()).step_by(2) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        check(&bytes, format!("bit {} of byte {at}", at % 8));
        if at % 16 == 0 {
            check(&whole[..at], format!("a cut at {at}"));
        }
    }
    // Each number of the footer as 2, as 10^11, and as the largest and the smallest of 64 bits.
    let length = u32::from_le_bytes(whole[whole.len() - 8..][..4].try_into().expect("four"));
    let footer = whole.len() - 8 - length as usize;
    let huge = [0x80, 0xa0, 0xcf, 0xc8, 0xe0, 0x05];
    let most = [&[0xfe; 1][..], &[0xff; 8], &[0x01]].concat();
    let least = [&[0xff; 9][..], &[0x01]].concat();
    for at in footer..whole.len() - 8 {
        for number in [&[4][..], &huge, &most, &least] {
            let mut bytes = [&whole[..at], number, &whole[at + 1..whole.len() - 8]].concat();
            let length = (bytes.len() - footer) as u32;
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(b"PAR1");
            check(&bytes, format!("{number:?} at {at}"));
        }
    }
}

#[test]
fn a_list_in_parquet_has_a_most_number_of_rows() {
    let open = |most| cemark_scenario::guard::open(three().into(), most).map(|_| ());
    assert_eq!(open(3), Ok(()));
    let said = open(2).expect_err("three rows");
    assert_eq!(said, "it has 3 rows, and 2 are the most that are read");
}
