// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a workload's flow sizes come from: a built-in table, a file, or one size for all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cemark_sim::topology::Topology;
use cemark_sim::workload::SizeTable;
use cemark_sim::workload::sizes::{BUILTIN, Unit};

use crate::error::{Fallible, Fault, near};
use crate::files;
use crate::key::{Key, keys, words};
use crate::rtts;
use crate::section::{Section, text};
use crate::tree::Node;
use crate::units::LARGEST_FLOW;
use crate::units::{self, Bad};

/// Unit of a table of sizes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum SizeUnit {
    Bytes,
    Packets,
}

words! { SizeUnit: "bytes" => SizeUnit::Bytes, "packets" => SizeUnit::Packets }

keys! {
    /// The keys that say how large flows are.
    SIZE_KEYS:
    SIZES: Node = Key::own(
        "sizes",
        "a table, a file or a length",
        r#"{"type":"string"}"#,
    )
    .only(&["poisson"])
    .needed("web-search")
    .doc(
        "a table: `web-search`, `data-mining`, `facebook-small`, `mq-ecn-web-search`, \
         `mq-ecn-data-mining`, `mq-ecn-cache`, `mq-ecn-hadoop`; the path of a file (relative to \
         the scenario's folder); or one size, `\"100KB\"`",
    );
    SIZE_UNIT: SizeUnit = Key::choice("size-unit").only(&["poisson"]).usual("bytes")
        .doc("what the file counts");
    PACKET_SIZE: f64 = Key::number("packet-bytes", 1.0, 65_535.0).only(&["poisson"]).usual("1460")
        .doc("bytes of such a packet");
}

/// A size table has dozens of rows and a few kilobytes; nothing useful is this large.
pub(crate) const LARGEST_FILE: u64 = 4 << 20;

/// A topology of half a million cables is shorter.
const LARGEST_GRAPH: u64 = 64 << 20;

/// Files that are read already: one that changes meanwhile must not change points of one sweep.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) base: PathBuf,
    read: BTreeMap<PathBuf, String>,
    flows: BTreeMap<PathBuf, Vec<u8>>,
    graphs: BTreeMap<PathBuf, Topology>,
    /// Files of `[rtt]`.
    pub(crate) rtts: BTreeMap<rtts::Source, rtts::Found>,
}

impl Tables {
    /// Relative paths start from `folder`.
    pub(crate) fn below(folder: &Path) -> Tables {
        Tables {
            base: folder.to_owned(),
            read: BTreeMap::new(),
            flows: BTreeMap::new(),
            graphs: BTreeMap::new(),
            rtts: BTreeMap::new(),
        }
    }

    /// Reads the keys `sizes`, `size-unit` and `packet-bytes` of a workload.
    pub(crate) fn sizes(&mut self, s: &mut Section<'_>) -> Fallible<SizeTable> {
        let node = s.need(&SIZES)?;
        let unit = s.read(&SIZE_UNIT)?;
        let packet = s.read(&PACKET_SIZE)?;
        let name = text(node).map_err(|fault| fault.help(choices()))?;
        if let Some(table) = SizeTable::builtin(name) {
            return Ok(table);
        }
        let mistake =
            |what: String| Err(Fault::new(node.at, what).help("write a size such as \"100KB\""));
        match units::quantity(name, &units::LENGTHS) {
            Ok(bytes @ 1..=LARGEST_FLOW) => return Ok(SizeTable::constant(bytes)),
            Ok(_) => return mistake("a flow has from one byte to a petabyte".to_owned()),
            Err(Bad::Fraction) => {
                return mistake(format!("`{name}` is not a whole number of bytes"));
            }
            Err(_) => {}
        }
        if !name.contains(['/', '\\', '.']) {
            return Err(
                Fault::new(node.at, format!("no flow-size table is called `{name}`"))
                    .label("not known")
                    .help(format!(
                        "{}. Or the path of a file, or a size such as \"100KB\"",
                        near(name, BUILTIN.iter().copied())
                    )),
            );
        }
        let path = self.base.join(name);
        let unit = match unit {
            SizeUnit::Bytes => Unit::Bytes,
            SizeUnit::Packets => Unit::Packets(packet),
        };
        let stem = path.file_stem().map_or_else(
            || name.to_owned(),
            |stem| stem.to_string_lossy().into_owned(),
        );
        let text = self.text(&path).map_err(|why| {
            Fault::new(
                node.at,
                format!("the size table `{}` cannot be read: {why}", path.display()),
            )
            .help("a relative path starts from the scenario's folder")
        })?;
        SizeTable::parse(&stem, text, unit).map_err(|error| {
            let file = path.display();
            Fault::new(
                node.at,
                format!("the size table `{file}` is malformed: {error}"),
            )
            .label("this table")
            .help(
                "two columns: the size, and the share of flows no larger than this (0 to 1, or \
                     0 to 100)",
            )
        })
    }

    /// The topology of a file, which `read` makes of its text or of the reason why there is none.
    pub(crate) fn graph(
        &mut self,
        name: &str,
        read: impl FnOnce(Result<&str, String>) -> Fallible<Topology>,
    ) -> Fallible<Topology> {
        let path = self.base.join(name);
        if let Some(known) = self.graphs.get(&path) {
            return Ok(known.clone());
        }
        let text = files::text(&path, LARGEST_GRAPH).map_err(|e| e.to_string());
        let made = read(text.as_deref().map_err(Clone::clone))?;
        self.graphs.insert(path, made.clone());
        Ok(made)
    }

    /// Content of a file of flows.
    pub(crate) fn flows(&mut self, name: &str) -> Result<&[u8], String> {
        let path = self.base.join(name);
        if !self.flows.contains_key(&path) {
            let content = files::bytes(&path, crate::flows::LARGEST).map_err(|e| e.to_string())?;
            self.flows.insert(path.clone(), content);
        }
        Ok(&self.flows[&path])
    }

    /// The files of flows, each with the number of flows that are not read.
    pub(crate) fn uncounted(&self) -> impl Iterator<Item = (&Path, usize)> {
        let files = self.flows.iter();
        let counted =
            files.map(|(path, content)| (path.as_path(), crate::flows::uncounted(content)));
        counted.filter(|(_, flows)| *flows > 0)
    }

    fn text(&mut self, path: &Path) -> Result<&str, String> {
        if !self.read.contains_key(path) {
            let text = files::text(path, LARGEST_FILE).map_err(|e| e.to_string())?;
            self.read.insert(path.to_owned(), text);
        }
        Ok(&self.read[path])
    }
}

fn choices() -> String {
    format!(
        "write the name of a table ({}), the path of a file, or a size such as \"100KB\"",
        BUILTIN.join(", ")
    )
}
