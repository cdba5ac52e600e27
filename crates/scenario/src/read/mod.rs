// SPDX-License-Identifier: MIT OR Apache-2.0
//! From text to plan.

pub(crate) mod cells;
pub(crate) mod declaration;
pub(crate) mod finder;
pub(crate) mod flows;
pub(crate) mod key;
pub(crate) mod param;
pub(crate) mod path;
pub(crate) mod rtts;
pub(crate) mod section;
pub(crate) mod sizes;
pub(crate) mod sweep;
pub(crate) mod tree;
pub(crate) mod units;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cemark_sim::Config;
use cemark_sim::config::{NonEct, Offload};
use cemark_sim::topology::Topology;
use cemark_sim::workload::Workload;
use cemark_wire::Picos;

use self::finder::Finder;
use self::sweep::{Axis, SWEEP, combinations};
use crate::builtin::{builtin, builtins};
use crate::chip::Chip;
use crate::cost::{self, Cost};
use crate::digest::{Digest, canonical};
use crate::error::{Error, Fallible, Fault, Texts, alike, fold, near};
use crate::idle::Idle;
use crate::markers::SCHEME;
use crate::own::{AddedMarker, OwnMarker};
use crate::plan::{Plan, Point, Precision, Warning};
use crate::precision::PRECISION;
use crate::section::{LONGEST, Section};
use crate::sections::{self, Form};
use crate::sizes::{LARGEST_FILE, Tables};
use crate::top::{self, TOP};
use crate::tree::{Entry, Node, Table, Value, items, render, tables};
use crate::{
    classes, edge, fabric, faults, files, full, host, markers, measure, precision, preset,
    profiles, published, retune, rtt, rules, sense, switch, transport, warn, workload,
};

/// A plan with more points would take more memory than a run can use.
const MOST_POINTS: usize = 100_000;
/// A point ends with its last measured flow; this is for the case that it never does.
const USUAL_MAX_TIME: Picos = Picos(100_000_000_000_000);
/// A few thousand large flows at a low load take longer than the usual time to arrive. Where they
/// take longer than this, the default is the longest time.
const ENOUGH: Picos = Picos(USUAL_MAX_TIME.0 / 2);

/// Changes that the command line makes to a scenario.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--set path=value[,value]`: a path and its values as written; several values sweep.
    pub set: Vec<(String, Vec<String>)>,
    /// `--seed`: only this seed.
    pub seed: Option<u64>,
    /// `--seeds`: the seeds 1 to this number.
    pub seeds: Option<u64>,
    /// `--precision`: half of the intervals in percentage points, as written.
    pub precision: Option<String>,
    /// `--full`: what `[full]` of the file says.
    pub full: bool,
    /// `--marker`: schemes beside those of the file.
    pub added: Vec<AddedMarker>,
    /// `--switch`: schemes beside those of the file, a `[[scheme]]` of TOML each.
    pub schemes: Vec<String>,
    /// Markers whose declarations are known: no file is read for them.
    pub known: Vec<OwnMarker>,
}

impl Overrides {
    /// Adds one `--set`, its `path=value[,value]`.
    pub fn add(&mut self, option: &str) -> Result<(), Error> {
        match sweep::path_and_values(option) {
            Some((path, values)) if !path.trim().is_empty() => {
                let values = values.split(',').map(|v| v.trim().to_owned());
                self.set.push((path.trim().to_owned(), values.collect()));
                Ok(())
            }
            _ => {
                let help = "write --set workload.load=0.8, or several values to sweep: \
                            --set workload.load=0.5,0.9";
                let message = format!("`{option}` does not name a path and a value");
                Err(Error::whole("--set", message, Some(help.to_owned())))
            }
        }
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        let counted = self.seed.is_some() || self.seeds.is_some() || self.precision.is_some();
        self.set.is_empty()
            && !counted
            && !self.full
            && self.added.is_empty()
            && self.schemes.is_empty()
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
            "{}. Or write the path of a file that ends in .toml",
            like(name)
        );
        return Err(Error::whole(
            name,
            "no built-in scenario or file has this name",
            Some(help),
        ));
    }
    let text = files::text(path, LARGEST_FILE)
        .map_err(|why| Error::whole(name, format!("cannot be read: {why}"), Some(like(name))))?;
    parse(&text, name, overrides)
}

/// Scenarios that may be meant by a name: those of the folder of that path, and built-ins.
fn like(name: &str) -> String {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let place = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut files: Vec<String> = entries
        .map(|entry| folder.join(entry.file_name()).display().to_string())
        .filter(|path| path.ends_with(".toml"))
        .collect();
    files.sort_unstable();
    let builtins = builtins().map(|b| b.name);
    near(name, files.iter().map(String::as_str).chain(builtins))
}

/// Reads a scenario's text. `file` names it in errors, gives it its name, and its folder is where
/// relative paths of size tables start.
pub fn parse(text: &str, file: &str, overrides: &Overrides) -> Result<Plan, Error> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    parse_in(folder, text, file, overrides)
}

/// Reads a scenario's text as [`parse`] does, with relative paths that start in `folder`.
pub fn parse_in(
    folder: &Path,
    text: &str,
    file: &str,
    overrides: &Overrides,
) -> Result<Plan, Error> {
    let mut texts = Texts(vec![(file.to_owned(), text.to_owned())]);
    plan((folder, text, file), overrides, &mut texts).map_err(|fault| texts.error(*fault))
}

fn plan(
    (folder, text, file): (&Path, &str, &str),
    overrides: &Overrides,
    texts: &mut Texts,
) -> Fallible<Plan> {
    let mut root = Table::parse(text, 0)?;
    let mut axes = sweep::axes(&mut root)?;
    full::apply(&mut root, &mut axes, overrides.full)?;
    let mut files = Tables::below(folder);
    let mut own = Finder::new(&files.base, &overrides.known);
    own.declare(&mut root, &mut axes)?;
    for text in &overrides.schemes {
        let added = Table::parse(text, texts.add("--switch", text).text)?;
        for scheme in items(&added, SCHEME.name) {
            finder::push(&mut root, scheme.clone());
        }
    }
    own.add(&mut root, &overrides.added, texts)?;
    let mut given = sweep::Given::default();
    for (path, values) in &overrides.set {
        given.set(&mut root, &mut axes, texts, path, values)?;
    }
    own.declare(&mut root, &mut axes)?;
    own.complete(&mut root);
    let set: Vec<String> = overrides.set.iter().map(|(path, _)| path.clone()).collect();
    rtt::keep_to_model(&mut root, &axes, &set)?;
    let precision = precision::precision(&mut root, overrides, texts)?;
    let seeds = match &precision {
        None => top::seeds(&root, overrides)?,
        Some(precision) => precision::seeds(precision, &root, overrides)?,
    };
    let published_entry = root.take(published::PUBLISHED.name);
    let words = Front::read(&root)?;
    few_enough(&axes, &root, seeds.len())?;
    let mut idle = Idle::default();
    let cells = cells(&root, &axes, &mut files, &mut |tree, config| {
        idle.see(tree, config, seeds.len());
    })?;
    let last = cells.last().map_or(&[][..], |(_, configs)| configs);
    let labels: Vec<String> = last.iter().map(|read| read.label.clone()).collect();
    let workloads = last.first().map_or_else(Vec::new, |read| {
        let names = read.config.workloads.iter().map(|w| w.name.clone());
        names.collect()
    });
    let presets = lines(&cells, &labels, |read| &read.presets);
    let parameters = of_schemes(&cells, &labels);
    let retunes = lines(&cells, &labels, |read| &read.retunes);
    let (points, mut warnings) = points(cells, &seeds);
    warnings.extend(idle.warnings());
    warnings.extend(files.warnings(&points));
    let baseline = baseline(&root, &labels)?;
    let published = published::published(published_entry.as_ref(), &root, &axes, &labels)?;
    let dscps = crate::classes::dscps(&root);
    let name = Path::new(file).file_stem().map_or_else(
        || "scenario".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let source = if overrides.is_empty() {
        text.to_owned()
    } else {
        changed_source(root, &axes, published_entry, &seeds, precision.as_ref())
    };
    Ok(Plan {
        title: words.title.unwrap_or_else(|| name.clone()),
        name,
        description: words.description,
        schemes: labels,
        baseline,
        axes: axes.into_iter().map(|axis| axis.path).collect(),
        digest: digest(baseline, &points, precision.is_some()),
        precision,
        points,
        published,
        next: words.next,
        workloads,
        warnings,
        presets,
        parameters,
        retunes,
        dscps,
        markers: own.markers(),
        source,
    })
}

/// The texts at the top of a file.
struct Front {
    title: Option<String>,
    description: String,
    next: Option<String>,
}

impl Front {
    /// Reads them; every other key of the top must be one that exists.
    fn read(root: &Table) -> Fallible<Front> {
        let mut s = Section::new(root, Default::default(), &TOP);
        let front = Front {
            title: s.given(&top::TITLE)?,
            description: s.read(&top::DESCRIPTION)?.trim().to_owned(),
            next: s.given(&top::NEXT)?,
        };
        s.allow_every_kind();
        let written = [Form::Table, Form::List];
        let tables = sections::ALL
            .iter()
            .filter(|spec| written.contains(&spec.form));
        s.allow(tables.map(|spec| spec.name));
        s.finish()?;
        Ok(front)
    }
}

/// Fails on more points than a run can have, before any is made: ten axes of ten values would not
/// fit into the memory.
fn few_enough(axes: &[Axis], root: &Table, seeds: usize) -> Fallible<()> {
    let sizes = axes.iter().map(|axis| axis.values.len());
    // A file without schemes gets its message later.
    let schemes = items(root, SCHEME.name).len().max(1);
    let points = sizes.chain([schemes, seeds]).fold(1, usize::saturating_mul);
    if points > MOST_POINTS {
        return Err(Fault::nowhere(format!("more than {MOST_POINTS} points"))
            .help("fewer axes, values, schemes or seeds"));
    }
    Ok(())
}

/// Every combination of the axes with the configurations of its schemes.
fn cells(
    root: &Table,
    axes: &[Axis],
    files: &mut Tables,
    see: &mut dyn FnMut(&Table, &Config),
) -> Fallible<Vec<ReadCell>> {
    let mut cells = Vec::new();
    // What every cell starts from, without the texts, which no simulation uses.
    let mut base = root.clone();
    for words in [&top::TITLE.spec, &top::DESCRIPTION.spec, &top::NEXT.spec] {
        base.take(words.name);
    }
    for cell in &combinations(axes) {
        let mut tree = base.clone();
        for (axis, &i) in axes.iter().zip(cell) {
            path::set(&mut tree, &axis.path, axis.at, &axis.values[i])?;
        }
        let schemes = tree.take(SCHEME.name);
        let configs = configs(&tree, schemes.as_ref(), files, &mut *see)?;
        cells.push((written(axes, cell), configs));
    }
    Ok(cells)
}

/// Lines that presets or other settings of a scheme give: each line once, with the schemes that
/// have it, unless all have it.
fn lines<'a, I: IntoIterator<Item = &'a String>>(
    cells: &'a [ReadCell],
    labels: &[String],
    of: impl Fn(&'a Read) -> I,
) -> Vec<String> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let reads = cells.iter().flat_map(|(_, schemes)| schemes);
    for (read, line) in reads.flat_map(|read| of(read).into_iter().map(move |line| (read, line))) {
        let place = *places.entry(line).or_insert_with(|| {
            found.push((line, Vec::new()));
            found.len() - 1
        });
        if !found[place].1.contains(&read.label.as_str()) {
            found[place].1.push(&read.label);
        }
    }
    let shown = |(line, schemes): (&str, Vec<&str>)| match schemes.len() == labels.len() {
        true => line.to_owned(),
        false => format!("{}: {line}", schemes.join(", ")),
    };
    found.into_iter().map(shown).collect()
}

/// The parameters in force of each scheme that has some, a line each. Where an axis changes them,
/// each line has its own.
fn of_schemes(cells: &[ReadCell], labels: &[String]) -> Vec<String> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for read in cells.iter().flat_map(|(_, schemes)| schemes) {
        let common = read.config.switch.has_common().then_some(&read.scheme);
        for scheme in common.into_iter().chain(&read.profiles) {
            let Some(values) = rules::in_force(scheme) else {
                continue;
            };
            let line = format!("{}: {values}", scheme.label);
            if seen.insert(line.clone()) {
                found.entry(&read.label).or_default().push(line);
            }
        }
    }
    let own = |label: &String| found.remove(label.as_str()).unwrap_or_default();
    labels.iter().flat_map(own).collect()
}

/// The place of the baseline among the schemes.
fn baseline(root: &Table, labels: &[String]) -> Fallible<usize> {
    let mut s = Section::new(root, Default::default(), &TOP);
    let (Some(label), Some(node)) = (s.given(&top::BASELINE)?, s.node(&top::BASELINE)) else {
        return Ok(0);
    };
    let found = labels.iter().position(|l| fold(l) == fold(label.trim()));
    found.ok_or_else(|| {
        let message = format!("the baseline `{label}` is not a scheme of this file");
        Fault::new(node.at, message)
            .label("no such label")
            .help(near(&label, labels.iter().map(String::as_str)))
    })
}

/// The fingerprint of a whole plan. Of one that states a precision, only the first replication
/// counts, since how many there are is no part of the question.
pub(crate) fn digest(baseline: usize, points: &[Point], precise: bool) -> u64 {
    let first = points.first().map(|point| point.seed);
    let start = match precise {
        false => Digest::new(),
        true => Digest::new().word("replications"),
    };
    let counts = |point: &&Point| !precise || Some(point.seed) == first;
    points
        .iter()
        .filter(counts)
        .fold(start.number(baseline as u64), |digest, point| {
            digest.number(point.digest)
        })
        .finish()
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
    for (axes, schemes) in cells {
        for read in schemes {
            let (label, mut config) = (read.label, read.config);
            config.switch.non_ect = read.non_ect.unwrap_or(usual);
            let mut found = warn::warnings(&config, &label);
            let own = config.switch.has_common().then_some(&read.scheme);
            for scheme in own.into_iter().chain(&read.profiles) {
                warn::never_marks(&config, scheme, &mut found);
                rules::warnings(&config, scheme, &mut found);
            }
            if read.non_ect.is_none() {
                warn::drops_instead(&config, &mut found);
            }
            warnings.add(found, seeds.len());
            let cost = cost::of(&config);
            for &seed in seeds {
                config.seed = seed;
                points.push(point(&axes, &label, config.clone(), cost));
            }
        }
    }
    (points, warnings.all)
}

fn point(axes: &BTreeMap<String, String>, label: &str, config: Config, cost: Cost) -> Point {
    let simulation = Digest::new().word(&canonical(&config));
    let mut digest = simulation.word(label);
    for (path, value) in axes {
        digest = digest.word(path).word(value);
    }
    let mut facts = config
        .workloads
        .iter()
        .map(|w| w.kind.facts(&config.topology));
    let load = facts.find_map(|facts| facts.load());
    Point {
        axes: axes.clone(),
        scheme: label.to_owned(),
        load,
        seed: config.seed,
        cost: cost.hops,
        tail: cost.tail,
        samples: cost.samples,
        seconds: cost.seconds,
        peak_bytes: cost.peak_bytes,
        kept_bytes: cost.kept_bytes,
        digest: digest.finish(),
        simulation: simulation.finish(),
        config,
    }
}

/// Configurations of all schemes, with seed zero; `see` is shown each with the tree that it was
/// read from. The tree comes without its schemes: each scheme gets a copy.
fn configs(
    root: &Table,
    schemes: Option<&Entry>,
    files: &mut Tables,
    see: &mut dyn FnMut(&Table, &Config),
) -> Fallible<Vec<Read>> {
    let nodes = schemes.map_or(&[][..], |entry| tables(&entry.node));
    if nodes.is_empty() {
        return Err(Fault::nowhere("there is no [[scheme]]").help(
            "write [[scheme]] and under it marker = \"threshold\" (or \"none\": never mark)",
        ));
    }
    retune::check(root, nodes)?;
    let mut all: Vec<Read> = Vec::new();
    let mut labels = BTreeSet::new();
    for node in nodes {
        let mut merged = merged(root, node)?;
        let scheme = cells::in_bytes(&mut merged, node)?;
        let read = config(&merged, &scheme, files)?;
        see(&merged, &read.config);
        if !labels.insert(fold(&read.label)) {
            return Err(called_twice(nodes, &all, node, &read.label));
        }
        all.push(read);
    }
    Ok(all)
}

/// The mistake of a scheme with the name of an earlier one, by its label or for want of one.
fn called_twice(nodes: &[Node], earlier: &[Read], node: &Node, label: &str) -> Box<Fault> {
    let first = earlier.iter().position(|read| alike(&read.label, label));
    let written = |node: &Node| match &node.value {
        Value::Table(table) => table.get(markers::LABEL.spec.name).is_some(),
        _ => false,
    };
    let help = match first.map(|i| (i, written(&nodes[i]))) {
        Some((_, true)) if written(node) => "write another label for one of them".to_owned(),
        first => {
            let number = first.map_or(0, |(i, _)| i);
            format!(
                "a scheme without a label is called by its title: write label = \"{label} {}\" \
                 here, or a label for scheme {number} (counted from 0)",
                earlier.len()
            )
        }
    };
    Fault::new(node.at, format!("two schemes are called `{label}`")).help(help)
}

/// The tree with `[scheme.transport]` and the like laid over the sections of these names.
fn merged(root: &Table, scheme: &Node) -> Fallible<Table> {
    let mut tree = root.clone();
    let Value::Table(own) = &scheme.value else {
        return Ok(tree);
    };
    for section in sections::per_scheme() {
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

/// A scheme at one combination of the axes.
struct Read {
    label: String,
    config: Config,
    /// The file's `non-ect`; `None`: the default of the run.
    non_ect: Option<NonEct>,
    /// Settings that a preset of the host makes, and published senders.
    presets: Vec<String>,
    /// Parameters that change in mid-run.
    retunes: Vec<String>,
    /// The scheme as the file has it.
    scheme: markers::Scheme,
    /// The profiles of its traffic classes.
    profiles: Vec<markers::Scheme>,
}

fn config(root: &Table, node: &Node, files: &mut Tables) -> Fallible<Read> {
    let applied = preset::applied(root)?;
    let root = applied.as_ref().map_or(root, |(tree, _)| tree);
    let mut presets: Vec<String> = applied.iter().map(|(_, line)| line.clone()).collect();
    let topology = fabric::topology(root, files)?;
    let (rtt, delays_syn) = rtt::rtt(root, files)?;
    let (rate, chip) = (topology.slowest(), Chip::of_scenario(root)?);
    let scheme = markers::scheme(node, rate, chip)?;
    let classes = classes::of_scenario(root)?;
    let profiles = profiles::profiles(node, &scheme.label, &classes, (rate, chip))?;
    let mut transport = transport::transport(root, &classes, &topology)?;
    let (nic, mut offload) = host::host(root, &mut transport)?;
    let workloads = workload::workloads(root, &transport, &topology, files, &classes)?;
    let mtu = full_packet(&transport, &workloads);
    let (mut switch, non_ect) = switch::switch(root, &classes, scheme.marker.clone(), mtu)?;
    switch.profiles = profiles::by_queue(&profiles, &classes);
    let faults = faults::faults(root, &topology)?;
    let edge = edge::edge(root, &topology)?;
    let max_time = max_time(root, &workloads, &topology)?;
    let measure = measure::measure(root, &topology, &workloads)?;
    let tcp = |own: &Workload| {
        own.transport
            .as_deref()
            .unwrap_or(&transport)
            .rdma
            .is_none()
    };
    if !workloads.iter().any(tcp) {
        // The adapters of queue pairs do this work themselves.
        offload = Offload::NONE;
    }
    let mut config = Config {
        topology,
        rtt,
        delays_syn,
        workloads,
        transport,
        nic,
        offload,
        switch,
        faults,
        edge,
        retunes: Vec::new(),
        measure,
        seed: 0,
        max_time,
    };
    sense::check(root, &config)?;
    if !config.queue_pairs().is_empty() {
        presets.extend(transport::published(root));
    }
    let retunes = retune::retunes(root, &mut config, &scheme.label, (&classes, chip))?;
    let profiles = profiles.into_iter().map(|own| own.scheme).collect();
    Ok(Read {
        label: scheme.label.clone(),
        config,
        non_ect,
        presets,
        retunes,
        scheme,
        profiles,
    })
}

/// Bytes on the wire of the largest data packet of any flow.
fn full_packet(common: &cemark_transport::Config, workloads: &[Workload]) -> u32 {
    let of = |t: &cemark_transport::Config| u32::from(t.mss) + u32::from(t.header_bytes);
    let all = workloads
        .iter()
        .map(|w| w.transport.as_deref().unwrap_or(common));
    all.map(of).max().unwrap_or_else(|| of(common))
}

/// The end of the simulated time: as written, or long enough for the flows.
fn max_time(root: &Table, workloads: &[Workload], topology: &Topology) -> Fallible<Picos> {
    if let Some(span) = top::max_time(root)? {
        return Ok(span);
    }
    let ends = |w: &Workload| w.kind.facts(topology).measured > 0;
    if !workloads.iter().any(ends) {
        return Err(
            Fault::nowhere("this scenario never ends: only endless flows and probes")
                .help("write max-time = \"20ms\" at the top of the file"),
        );
    }
    let last = workloads
        .iter()
        .filter_map(|w| w.kind.facts(topology).last_start(topology));
    Ok(match last.max() {
        Some(last) if last > ENOUGH => LONGEST,
        _ => USUAL_MAX_TIME,
    })
}

/// The scenario as TOML after the command line has changed it.
fn changed_source(
    mut root: Table,
    axes: &[Axis],
    published: Option<Entry>,
    seeds: &[u64],
    precision: Option<&Precision>,
) -> String {
    let node = |value| Node {
        value,
        at: Default::default(),
    };
    let named = match precision {
        None => seeds,
        Some(_) => &seeds[..1],
    };
    let seeds = named.iter().map(|&n| node(Value::Integer(n.into())));
    root.put(top::SEEDS.spec.name, node(Value::List(seeds.collect())));
    if let Some(precision) = precision {
        root.put(PRECISION.name, precision::written(precision));
    }
    if !axes.is_empty() {
        let mut sweep = Table::default();
        for axis in axes {
            sweep.put(&axis.path, node(Value::List(axis.values.clone())));
        }
        root.put(SWEEP.name, node(Value::Table(sweep)));
    }
    if let Some(entry) = published {
        root.put(published::PUBLISHED.name, entry.node);
    }
    render(&root)
}
