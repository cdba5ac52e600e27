// SPDX-License-Identifier: MIT OR Apache-2.0
//! From text to plan.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cemark_sim::Config;
use cemark_sim::config::{NonEct, Offload};
use cemark_sim::workload::{Kind, Workload};
use cemark_wire::Picos;

use crate::builtin::{builtin, builtins};
use crate::digest::{Digest, canonical};
use crate::error::{Error, Fallible, Fault, Texts, fold, near};
use crate::idle::Idle;
use crate::markers;
use crate::plan::{Plan, Point, Warning};
use crate::section::{LONGEST, Section, count, list};
use crate::sizes::{Tables, read};
use crate::sweep::{self, Axis, combinations};
use crate::tree::{Entry, Node, Table, Value, render};
use crate::{
    cost, edge, fabric, faults, host, path, published, sense, switch, transport, warn, workload,
};

/// More points than anybody waits for.
const MOST_POINTS: usize = 100_000;
/// A point ends with its last measured flow; this is for the case that it never does.
const USUAL_MAX_TIME: Picos = Picos(100_000_000_000_000);
/// A few thousand large flows at a low load take longer than that to arrive; up to here nobody has
/// to ask for the time.
const ENOUGH: Picos = Picos(USUAL_MAX_TIME.0 / 2);

/// What a TOML integer holds, so that a manifest can name every seed.
const LARGEST_SEED: u64 = i64::MAX as u64;

/// What the command line changes in a scenario.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--set path=value[,value]`: a path and its values as written; several values sweep.
    pub set: Vec<(String, Vec<String>)>,
    /// `--seed`: this seed alone.
    pub seed: Option<u64>,
    /// `--seeds`: the seeds 1 to this number.
    pub seeds: Option<u64>,
}

impl Overrides {
    /// Adds what stands behind one `--set`.
    pub fn add(&mut self, option: &str) -> Result<(), Error> {
        match option.split_once('=') {
            Some((path, values)) if !path.trim().is_empty() => {
                self.set.push((path.trim().to_owned(), values.split(',').map(|v| v.trim().to_owned()).collect()));
                Ok(())
            }
            _ => Err(Error::whole(
                "--set",
                format!("`{option}` does not name a path and a value"),
                Some("write --set workload.load=0.8, or several values to sweep: --set workload.load=0.5,0.9".to_owned()),
            )),
        }
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.seed.is_none() && self.seeds.is_none()
    }
}

/// Reads the scenario called `name`: a built-in, or a file (what ends in `.toml`, contains a `/`,
/// or exists).
pub fn load(name: &str, overrides: &Overrides) -> Result<Plan, Error> {
    if let Some(found) = builtin(name) {
        return parse(found.text, &format!("{name}.toml"), overrides);
    }
    let path = Path::new(name);
    if !name.ends_with(".toml") && !name.contains(['/', '\\']) && !path.exists() {
        let help = format!(
            "{}. Or the path of a file that ends in .toml",
            near(name, builtins().map(|b| b.name))
        );
        return Err(Error::whole(
            name,
            "no built-in scenario has this name and no file is called so",
            Some(help),
        ));
    }
    let text = read(path).map_err(|why| {
        let names = builtins().map(|b| b.name).collect::<Vec<_>>().join(", ");
        Error::whole(
            name,
            format!("cannot be read: {why}"),
            Some(format!(
                "write the path of a scenario file, or a built-in: {names}"
            )),
        )
    })?;
    parse(&text, name, overrides)
}

/// Reads a scenario's text. `file` names it in errors, gives it its name, and its folder is where
/// relative paths of size tables start.
pub fn parse(text: &str, file: &str, overrides: &Overrides) -> Result<Plan, Error> {
    let mut texts = Texts(vec![(file.to_owned(), text.to_owned())]);
    plan(text, file, overrides, &mut texts).map_err(|fault| texts.error(*fault))
}

fn plan(text: &str, file: &str, overrides: &Overrides, texts: &mut Texts) -> Fallible<Plan> {
    let mut root = Table::parse(text, 0)?;
    let mut axes = sweep::axes(&mut root)?;
    let mut given = sweep::Given::default();
    for (path, values) in &overrides.set {
        given.set(&mut root, &mut axes, texts, path, values)?;
    }
    let seeds = seeds(&root, overrides)?;
    let published_nodes = root.take("published");
    let mut top = Section::new(&root, Default::default(), "the file".to_owned());
    let title = top.text("title")?.map(str::to_owned);
    let description = top
        .text("description")?
        .unwrap_or_default()
        .trim()
        .to_owned();
    let next = top.text("next")?.map(str::to_owned);
    let baseline_node = top.get("baseline").cloned();
    for key in [
        "seeds",
        "max-time",
        "topology",
        "rtt",
        "workload",
        "transport",
        "host",
        "switch",
        "scheme",
        "fault",
        "edge",
        "measure",
        "sweep",
        "published",
    ] {
        top.get(key);
    }
    top.finish()?;

    // Counted before they are made: ten axes of ten values would not fit.
    let sizes = axes.iter().map(|axis| axis.values.len());
    // A file that names no scheme yet has its axes all the same.
    let schemes = markers::nodes(&root).len().max(1);
    let counts = sizes.chain([schemes, seeds.len()]);
    if counts.fold(1, usize::saturating_mul) > MOST_POINTS {
        return Err(Fault::nowhere(format!("more than {MOST_POINTS} points"))
            .help("fewer axes, values, schemes or seeds"));
    }
    let combined = combinations(&axes);
    let mut tables = Tables::beside(file);
    let mut cells: Vec<ReadCell> = Vec::new();
    let mut idle = Idle::default();
    // What every cell starts from, without the words that no simulation looks at.
    let mut base = root.clone();
    for words in ["title", "description", "next"] {
        base.take(words);
    }
    for cell in &combined {
        let mut tree = base.clone();
        for (axis, &i) in axes.iter().zip(cell) {
            path::set(&mut tree, &axis.path, axis.at, &axis.values[i])?;
        }
        let schemes = tree.take("scheme");
        let configs = configs(&tree, schemes.as_ref(), &mut tables, |tree, config| {
            idle.see(tree, config, seeds.len());
        })?;
        cells.push((written(&axes, cell), configs));
    }
    let last = cells.last().map_or(&[][..], |(_, configs)| configs);
    let labels: Vec<String> = last.iter().map(|read| read.label.clone()).collect();
    let workloads = last.first().map_or_else(Vec::new, |read| {
        let names = read.config.workloads.iter().map(|w| w.name.clone());
        names.collect()
    });
    let (points, mut warnings) = points(cells, &seeds);
    warnings.extend(idle.warnings());
    let baseline = match &baseline_node {
        None => 0,
        Some(node) => {
            let label = crate::section::text(node)?;
            labels
                .iter()
                .position(|l| fold(l) == fold(label))
                .ok_or_else(|| {
                    Fault::new(
                        node.at,
                        format!("the baseline `{label}` is not a scheme of this file"),
                    )
                    .label("no such label")
                    .help(near(label, labels.iter().map(String::as_str)))
                })?
        }
    };
    let published = published::published(published_nodes.as_ref(), &root, &axes, &labels)?;
    let name = Path::new(file).file_stem().map_or_else(
        || "scenario".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let digest = points
        .iter()
        .fold(Digest::new().number(baseline as u64), |d, p| {
            d.number(p.digest)
        })
        .finish();
    let source = if overrides.is_empty() {
        text.to_owned()
    } else {
        changed_source(root, &axes, published_nodes, &seeds)
    };
    Ok(Plan {
        title: title.unwrap_or_else(|| name.clone()),
        name,
        description,
        schemes: labels,
        baseline,
        axes: axes.into_iter().map(|axis| axis.path).collect(),
        points,
        published,
        next,
        workloads,
        digest,
        warnings,
        source,
    })
}

fn written(axes: &[Axis], cell: &[usize]) -> BTreeMap<String, String> {
    let value = |axis: &Axis, i: usize| axis.values[i].written().unwrap_or_default();
    axes.iter()
        .zip(cell)
        .map(|(axis, &i)| (axis.path.clone(), value(axis, i)))
        .collect()
}

/// The points of all cells, in order, and what is odd about them.
fn points(cells: Vec<ReadCell>, seeds: &[u64]) -> (Vec<Point>, Vec<Warning>) {
    let all = cells.iter().flat_map(|(_, schemes)| schemes);
    let usual = switch::not_ect(all.map(|read| &read.config));
    let mut points = Vec::new();
    let mut warnings = warn::Collected::default();
    let mut costs = cost::Costs::default();
    for (axes, schemes) in cells {
        for read in schemes {
            let (label, mut config) = (read.label, read.config);
            config.switch.non_ect = read.non_ect.unwrap_or(usual);
            let mut found = warn::warnings(&config, &label);
            if read.non_ect.is_none() {
                warn::drops_instead(&config, &mut found);
            }
            warnings.add(found, seeds.len());
            for &seed in seeds {
                config.seed = seed;
                points.push(point(&axes, &label, config.clone(), &mut costs));
            }
        }
    }
    (points, warnings.all)
}

fn point(
    axes: &BTreeMap<String, String>,
    label: &str,
    config: Config,
    costs: &mut cost::Costs,
) -> Point {
    let mut digest = Digest::new().word(&canonical(&config)).word(label);
    for (path, value) in axes {
        digest = digest.word(path).word(value);
    }
    let load = config.workloads.iter().find_map(|w| match w.kind {
        Kind::Poisson { load, .. } => Some(load),
        _ => None,
    });
    let cost = costs.of(&config);
    Point {
        axes: axes.clone(),
        scheme: label.to_owned(),
        load,
        seed: config.seed,
        cost: cost.hops,
        peak_bytes: cost.peak_bytes,
        kept_bytes: cost.kept_bytes,
        digest: digest.finish(),
        config,
    }
}

/// One configuration for each scheme, all with seed zero; `see` is shown each with the tree that it
/// was read from. The tree comes without its schemes: it is copied for each of them.
fn configs(
    root: &Table,
    schemes: Option<&Entry>,
    tables: &mut Tables,
    mut see: impl FnMut(&Table, &Config),
) -> Fallible<Vec<Read>> {
    let nodes = markers::of(schemes);
    if nodes.is_empty() {
        return Err(Fault::nowhere("there is no [[scheme]]").help(
            "write [[scheme]] and under it marker = \"threshold\" (or \"none\": never mark)",
        ));
    }
    let mut all: Vec<Read> = Vec::new();
    let mut labels = BTreeSet::new();
    for node in nodes {
        let merged = merged(root, node)?;
        let read = config(&merged, node, tables)?;
        see(&merged, &read.config);
        if !labels.insert(fold(&read.label)) {
            return Err(Fault::new(
                node.at,
                format!("two schemes are labelled `{}`", read.label),
            )
            .help("give each its own label = \"...\""));
        }
        all.push(read);
    }
    Ok(all)
}

/// The tree with `[scheme.transport]`, `[scheme.host]`, `[scheme.switch]` and `[scheme.edge]` laid
/// over the sections of these names.
fn merged(root: &Table, scheme: &Node) -> Fallible<Table> {
    let mut tree = root.clone();
    let Value::Table(own) = &scheme.value else {
        return Ok(tree);
    };
    for section in ["transport", "host", "switch", "edge"] {
        let Some(entry) = own.get(section) else {
            continue;
        };
        let Value::Table(keys) = &entry.node.value else {
            return Err(Fault::new(
                entry.node.at,
                format!("[scheme.{section}] is a table"),
            ));
        };
        match tree.get_mut(section).map(|e| &mut e.node.value) {
            Some(Value::Table(base)) => {
                let places = base.0.iter().map(|e| fold(&e.key)).zip(0..);
                let places: BTreeMap<String, usize> = places.collect();
                for key in &keys.0 {
                    match places.get(&fold(&key.key)) {
                        Some(&place) => base.0[place] = key.clone(),
                        None => base.0.push(key.clone()),
                    }
                }
            }
            _ => tree.put(section, entry.node.clone()),
        }
    }
    Ok(tree)
}

/// The values of the axes as written, and every scheme there.
type ReadCell = (BTreeMap<String, String>, Vec<Read>);

/// One scheme of one combination of the axes.
struct Read {
    label: String,
    config: Config,
    /// What the file says of packets that are not ECN-capable; `None`: the default of the run.
    non_ect: Option<NonEct>,
}

fn config(root: &Table, node: &Node, tables: &mut Tables) -> Fallible<Read> {
    let topology = fabric::topology(root)?;
    let rtt = fabric::rtt(root)?;
    let scheme = markers::scheme(node, topology.slowest())?;
    let mut transport = transport::transport(root)?;
    let mtu = u32::from(transport.mss) + u32::from(transport.header_bytes);
    let (switch, non_ect) = switch::switch(root, scheme.marker.clone(), mtu)?;
    let workloads = workload::workloads(root, &topology, tables, switch.queues.len())?;
    let faults = faults::faults(root, &topology)?;
    let edge = edge::edge(root, &topology)?;
    let mut top = Section::new(root, Default::default(), String::new());
    let max_time = match transport::max_time(&mut top)? {
        Some(span) => span,
        None if workloads.iter().any(ends) => {
            let last = workloads
                .iter()
                .filter_map(|w| warn::last_start(w, &topology));
            match last.max() {
                Some(last) if last > ENOUGH => LONGEST,
                _ => USUAL_MAX_TIME,
            }
        }
        None => {
            return Err(
                Fault::nowhere("this scenario never ends: only endless flows and probes")
                    .help("write max-time = \"20ms\" at the top of the file"),
            );
        }
    };
    let measure = switch::measure(root, &topology, &workloads)?;
    let (nic, offload) = match (host::host(root, &mut transport)?, &transport.rdma) {
        (read, None) => read,
        // The adapters of queue pairs do by themselves what these options are about.
        ((nic, _), Some(_)) => (nic, Offload::NONE),
    };
    let config = Config {
        topology,
        rtt,
        workloads,
        transport,
        nic,
        offload,
        switch,
        faults,
        edge,
        measure,
        seed: 0,
        max_time,
    };
    sense::check(root, &config)?;
    Ok(Read {
        label: scheme.label,
        config,
        non_ect,
    })
}

/// Whether a workload has flows that end and are waited for.
fn ends(workload: &Workload) -> bool {
    !matches!(workload.kind, Kind::Long { .. } | Kind::Probe { .. })
}

fn seeds(root: &Table, overrides: &Overrides) -> Fallible<Vec<u64>> {
    const MOST: u64 = 10_000;
    let first = |n: u64| (1..=n).collect();
    if let Some((path, _)) = overrides.set.iter().find(|(path, _)| fold(path) == "seeds") {
        let option = match (overrides.seed, overrides.seeds) {
            (None, None) => None,
            (Some(_), _) => Some("--seed"),
            (None, Some(_)) => Some("--seeds"),
        };
        if let Some(option) = option {
            return Err(
                Fault::nowhere(format!("{option} and --set {path} set the same key"))
                    .help("leave one of them out"),
            );
        }
    }
    match (overrides.seed, overrides.seeds) {
        (Some(seed), _) if seed <= LARGEST_SEED => return Ok(vec![seed]),
        (Some(seed), _) => {
            return Err(Fault::nowhere(format!("seed {seed} is too large"))
                .help(format!("write a whole number up to {LARGEST_SEED}")));
        }
        (None, Some(n)) if (1..=MOST).contains(&n) => return Ok(first(n)),
        (None, Some(n)) => {
            return Err(Fault::nowhere(format!("{n} is not a number of seeds"))
                .help(format!("write --seeds 1 to {MOST}")));
        }
        (None, None) => {}
    }
    let Some(entry) = root.get("seeds") else {
        return Ok(vec![1]);
    };
    let Value::List(_) = entry.node.value else {
        return count(&entry.node, (1, MOST))
            .map(first)
            .map_err(|f| f.help("write seeds = 3 (the seeds 1, 2, 3) or seeds = [7, 8]"));
    };
    let mut seeds = Vec::new();
    let mut known = BTreeSet::new();
    for node in list(&entry.node)? {
        let seed = count(node, (0, LARGEST_SEED))?;
        if !known.insert(seed) {
            return Err(Fault::new(node.at, format!("seed {seed} is there twice"))
                .help("remove one: it would be counted twice"));
        }
        seeds.push(seed);
    }
    match seeds.is_empty() || seeds.len() as u64 > MOST {
        true => Err(
            Fault::new(entry.node.at, format!("a scenario has 1 to {MOST} seeds"))
                .help("write seeds = [1, 2, 3]"),
        ),
        false => Ok(seeds),
    }
}

/// The scenario as TOML after the command line has changed it.
fn changed_source(
    mut root: Table,
    axes: &[Axis],
    published: Option<Entry>,
    seeds: &[u64],
) -> String {
    let at = Default::default();
    let whole = |n: &u64| Node {
        value: Value::Integer((*n).into()),
        at,
    };
    root.put(
        "seeds",
        Node {
            value: Value::List(seeds.iter().map(whole).collect()),
            at,
        },
    );
    if !axes.is_empty() {
        let mut sweep = Table::default();
        for axis in axes {
            sweep.put(
                &axis.path,
                Node {
                    value: Value::List(axis.values.clone()),
                    at,
                },
            );
        }
        root.put(
            "sweep",
            Node {
                value: Value::Table(sweep),
                at,
            },
        );
    }
    if let Some(entry) = published {
        root.put("published", entry.node);
    }
    render(&root)
}
