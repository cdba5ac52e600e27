// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark import`: files of other simulators as a scenario.

mod hpcc;
mod text;

use std::path::{Path, PathBuf};

use cemark_formats::{Fault, Flow, Kind, hpcc as hpcc_files, htsim};
use cemark_scenario::files::{self, Unread};
use cemark_scenario::{Overrides, parse, topology_of};
use cemark_sim::topology::Topology;
use cemark_wire::Picos;

use crate::exit::{Failure, answer, note, user};

const AFTER: &str = "\
Examples:
  cemark import topology.txt flow.txt config.txt --out hpcc.toml
  cemark import leaf_spine.topo incast.cm --out incast.toml

docs/formats.md has the formats, and what of them cannot be said in a scenario.";

/// Largest file that is read.
const MOST_BYTES: u64 = 1 << 30;

/// Flows that are written into the scenario; more are a file beside it.
const MOST_INLINE: usize = 10_000;

/// Longest `max-time` of a scenario.
const LONGEST: Picos = Picos(1_000_000_000_000_000);

/// Most bytes of such a file that a scenario reads.
const MOST_LIST: usize = 256 << 20;

/// Arguments of `cemark import`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// A topology, and with it a list of flows and a configuration, in any order: topology.txt,
    /// flow.txt and config.txt of HPCC's simulator, or a .topo and a .cm of htsim. The first lines
    /// of each file say what it is.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The scenario to write.
    #[arg(long, value_name = "FILE", default_value = "imported.toml")]
    out: PathBuf,
    /// Overwrite the scenario if it exists.
    #[arg(long)]
    force: bool,
}

/// A file by its name, with its text.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Source, Failure> {
        let name = path.display().to_string();
        let bad = |what: String, help: &str| {
            let help = help.to_owned();
            user(what, help)
        };
        let bytes = files::bytes(path, MOST_BYTES).map_err(|why| match why {
            Unread::Directory => bad(format!("{name} is a directory"), "name its files"),
            Unread::TooLarge(_) => bad(
                format!("{name} has more than 1 GiB"),
                "name a file of text: a topology, a list of flows or a configuration",
            ),
            why => bad(format!("{name}: {why}"), "name a file"),
        })?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
            let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
            bad(
                format!("{name}:{line}: this is not UTF-8 text"),
                "name a file of text",
            )
        })?;
        Ok(Source { name, text })
    }

    /// Failure for a fault of this file, as `file:line: message`.
    pub(crate) fn fault(&self, fault: &Fault) -> Failure {
        let place = match fault.line {
            Some(line) => format!("{}:{line}", self.name),
            None => self.name.clone(),
        };
        let help = fault.help.clone();
        Failure::User(miette::miette!(help = help, "{place}: {}", fault.message))
    }
}

/// Contents of all files together.
struct Found {
    topology: Topology,
    /// The file of the topology, as the scenario names it.
    file: String,
    /// The node that each host is in the files.
    nodes: Vec<u32>,
    flows: Vec<Flow>,
    config: Option<hpcc_files::Config>,
    from: From,
    /// When the simulation ends, counted from the first flow.
    end: Option<Picos>,
    /// Keys that the other simulator obeys and the scenario does not, each in a sentence.
    differs: Vec<String>,
    /// Notes for the reader of the scenario on how the files were read.
    notes: Vec<String>,
}

/// The simulator that the files are of.
enum From {
    Hpcc(hpcc::Marks),
    Htsim,
}

/// Reads the files and writes the scenario.
pub(crate) fn import(args: &Args) -> Result<(), Failure> {
    let out = args.out.display().to_string();
    crate::scenario_file::writable(&args.out, args.force)?;
    let mut given = Vec::new();
    for path in &args.files {
        let source = Source::open(path)?;
        let kind = Kind::of(&source.text).map_err(|fault| source.fault(&fault))?;
        if given.iter().any(|(known, _)| *known == kind) {
            return Err(user(
                format!("{} is the second {}", source.name, word(kind)),
                "name one topology, one list of flows and one configuration",
            ));
        }
        given.push((kind, source));
    }
    let take = |kind| {
        given
            .iter()
            .find(|(k, _)| *k == kind)
            .map(|(_, source)| source)
    };
    let hpcc = (
        take(Kind::HpccTopology),
        take(Kind::HpccFlows),
        take(Kind::HpccConfig),
    );
    let htsim = (take(Kind::HtsimTopology), take(Kind::HtsimFlows));
    let mut found = match (hpcc, htsim) {
        ((Some(topology), flows, config), (None, None)) => of_hpcc(topology, flows, config)?,
        ((None, None, None), (Some(topology), flows)) => of_htsim(topology, flows)?,
        ((None, _, _), (None, _)) => {
            return Err(user(
                "no file has a topology",
                "name one as well: HPCC's topology.txt, or a .topo of htsim",
            ));
        }
        _ => {
            return Err(user(
                "these files are of two simulators",
                "name the files of one: HPCC's topology.txt, flow.txt and config.txt, or a .topo \
                 and a .cm of htsim",
            ));
        }
    };
    let topology = args
        .files
        .iter()
        .zip(&given)
        .find(|(_, (kind, _))| kind.is_topology());
    found.file = topology.map_or_else(String::new, |(path, _)| beside(path, &args.out));
    let list = (found.flows.len() > MOST_INLINE).then(|| args.out.with_extension("flows.csv"));
    let name = list.as_deref().and_then(Path::file_name);
    let name = name.map(|name| name.to_string_lossy().into_owned());
    let scenario = text::scenario(&found, &given, name.as_deref());
    if let Some(list) = &list {
        write_list(list, &found, args.force)?;
    }
    // The reader of scenarios has the last word, so that no file is left that cannot be run.
    let plan = parse(&scenario, &out, &Overrides::default())
        .map_err(Failure::from)
        .and_then(|plan| {
            crate::scenario_file::write(&args.out, &scenario, args.force).map(|()| plan)
        });
    let plan = plan.inspect_err(|_| {
        if let Some(list) = &list {
            let _ = std::fs::remove_file(list);
        }
    })?;
    found
        .notes
        .iter()
        .for_each(|text| note(&format!("note: {text}")));
    answer(&format!(
        "{out}: {}; {} flows{}\n\nnext    cemark check {out}\n        cemark run {out}\n",
        text::fabric(&found.topology),
        match found.flows.len() {
            0 => "random".to_owned(),
            n => n.to_string(),
        },
        match &list {
            Some(list) => format!(", in {}", list.display()),
            None => String::new(),
        },
    ))?;
    drop(plan);
    Ok(())
}

/// The path of a file for a scenario, which reads it from its own folder.
fn beside(file: &Path, scenario: &Path) -> String {
    let same = file.parent() == scenario.parent();
    let path = match file.file_name().filter(|_| same) {
        Some(name) => PathBuf::from(name),
        None => std::path::absolute(file).unwrap_or_else(|_| file.to_owned()),
    };
    path.to_string_lossy().into_owned()
}

/// Writes the flows as a file of their own.
fn write_list(path: &Path, found: &Found, force: bool) -> Result<(), Failure> {
    let text = text::csv(found);
    if text.len() > MOST_LIST {
        let fit = found.flows.len() / (text.len() / MOST_LIST + 1);
        return Err(user(
            format!(
                "{} flows make a list of {} MB, and at most 256 MB are read",
                found.flows.len(),
                text.len() >> 20
            ),
            format!("import fewer flows, about {fit}"),
        ));
    }
    crate::scenario_file::write(path, &text, force)
}

/// A kind of file in words.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::HpccTopology => "topology.txt of HPCC",
        Kind::HpccFlows => "flow.txt of HPCC",
        Kind::HpccConfig => "config.txt of HPCC",
        Kind::HtsimTopology => ".topo of htsim",
        Kind::HtsimFlows => ".cm of htsim",
    }
}

/// Note that lines behind the counted ones are not read; `None` without such lines.
fn rest(source: &Source, ignored: usize, what: &str) -> Option<String> {
    (ignored > 0).then(|| {
        format!(
            "{}: {ignored} lines behind the {what} that its first line counts are not read, as in \
             the simulator",
            source.name
        )
    })
}

fn of_hpcc(
    topology: &Source,
    flows: Option<&Source>,
    config: Option<&Source>,
) -> Result<Found, Failure> {
    let read = hpcc_files::topology(&topology.text).map_err(|e| topology.fault(&e))?;
    let laid = topology_of(&read.graph).map_err(|e| topology.fault(&e))?;
    let nodes: Vec<u32> = read.graph.hosts().collect();
    let mut notes: Vec<String> = rest(topology, read.ignored, "links").into_iter().collect();
    let mut list = Vec::new();
    if let Some(source) = flows {
        let read = hpcc_files::flows(&source.text).map_err(|e| source.fault(&e))?;
        notes.extend(rest(source, read.ignored, "flows"));
        list = read.flows;
        if let Some(flow) = list.iter().find(|flow| flow.priority == Some(0)) {
            return Err(source.fault(&Fault {
                line: Some(flow.line),
                message: "priority 0 is that of control packets".to_owned(),
                help: "write a priority of data, 1 to 7: 3 is usual".to_owned(),
            }));
        }
        renumber(source, &nodes, &mut list)?;
    }
    let source = config;
    let fault = |fault: Fault| source.unwrap_or(topology).fault(&fault);
    let config = match source {
        None => None,
        Some(source) => Some(hpcc_files::Config::read(&source.text).map_err(fault)?),
    };
    let marks = hpcc::marks(&laid, config.as_ref()).map_err(fault)?;
    let mut differs = Vec::new();
    let mut end = None;
    if let (Some(source), Some(config)) = (source, &config) {
        let line =
            |note: &hpcc_files::Note| format!("{}:{}: {}", source.name, note.line, note.text);
        differs.extend(config.notes.iter().map(line));
        end = ends(config, &list).map_err(fault)?;
    }
    notes.extend(differs.iter().cloned());
    Ok(Found {
        topology: laid,
        file: String::new(),
        nodes,
        flows: list,
        config,
        from: From::Hpcc(marks),
        end,
        differs,
        notes,
    })
}

/// The end of the simulation, counted from the first flow of the list.
fn ends(config: &hpcc_files::Config, flows: &[Flow]) -> Result<Option<Picos>, Fault> {
    let first = flows.iter().map(|flow| flow.start).min();
    let (Some((line, stop)), Some(first)) = (config.stop, first) else {
        return Ok(None);
    };
    if stop <= first {
        return Err(Fault {
            line: Some(line),
            message: "the simulation ends before the first flow starts".to_owned(),
            help: "write a later SIMULATOR_STOP_TIME, in seconds".to_owned(),
        });
    }
    // A run ends with its last flow, and before `max-time`.
    let end = Picos(stop.0 - first.0);
    Ok((end <= LONGEST).then_some(end))
}

fn of_htsim(topology: &Source, flows: Option<&Source>) -> Result<Found, Failure> {
    let topo = htsim::topo(&topology.text).map_err(|e| topology.fault(&e))?;
    let mut notes = Vec::new();
    if topo.latencies {
        notes.push(format!(
            "{}: half of each Switch_Latency_ns is counted into the links on each side of the \
             switch; the delay of every path is the same",
            topology.name
        ));
    }
    if let Some(line) = topo.queues.first() {
        notes.push(format!(
            "{}:{line}: sizes of queues are not read; write `buffer` in [switch]",
            topology.name
        ));
    }
    let mut list = Vec::new();
    if let Some(source) = flows {
        let matrix = htsim::matrix(&source.text).map_err(|e| source.fault(&e))?;
        if matrix.nodes > topo.nodes {
            return Err(user(
                format!(
                    "{} has {} nodes, and {} has {}",
                    source.name, matrix.nodes, topology.name, topo.nodes
                ),
                "name the topology that the flows were made for",
            ));
        }
        list = matrix.flows;
        let ranked = list.iter().find(|flow| flow.priority.is_some());
        notes.extend(ranked.map(|flow| {
            format!(
                "{}:{}: `prio` is not read: in htsim it orders the flows of a receiver, and here \
                 they share the link",
                source.name, flow.line
            )
        }));
    }
    Ok(Found {
        topology: topology_of(&topo.graph).map_err(|e| topology.fault(&e))?,
        file: String::new(),
        nodes: topo.graph.hosts().collect(),
        flows: list,
        config: None,
        from: From::Htsim,
        end: None,
        differs: Vec::new(),
        notes,
    })
}

/// Sender and receiver of each flow as hosts of the scenario.
fn renumber(source: &Source, nodes: &[u32], flows: &mut [Flow]) -> Result<(), Failure> {
    let hosts: std::collections::BTreeMap<u32, u32> = nodes.iter().copied().zip(0..).collect();
    for flow in flows {
        for end in [&mut flow.src, &mut flow.dst] {
            *end = *hosts.get(end).ok_or_else(|| {
                source.fault(&Fault {
                    line: Some(flow.line),
                    message: format!("node {end} is no host of the topology"),
                    help: "senders and receivers are nodes that are no switches".to_owned(),
                })
            })?;
        }
    }
    Ok(())
}
