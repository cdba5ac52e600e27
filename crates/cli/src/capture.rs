// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark capture`: the packets of chosen links of one point, as a file that Wireshark opens.

use std::path::PathBuf;

use cemark_formats::pcapng::{self, Header, Interface, Record};
use cemark_report::units;
use cemark_scenario::{Plan, Point, near, near_of_many};
use cemark_sim::topology::Fabric;
use cemark_sim::{LinkId, Seen, Sightings, Tap, run_with_taps};
use cemark_wire::Flags;

use crate::exit::{Failure, answer, note, user};
use crate::output::{IN_THE_WAY, Replace, has, put};
use crate::{Changes, Consent};

const AFTER: &str = "\
Examples:
  cemark capture my.toml --link 'switch0->host7' --scheme ECN# --out bottleneck.pcapng
  cemark capture rtt-variation --link 'leaf0->*' --scheme TCN --seed 1 --set workload.load=0.9
  tshark -r bottleneck.pcapng -Y 'ip.dsfield.ecn == 3'";

/// Arguments of `cemark capture`.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// A scenario file, or the name of a built-in.
    scenario: String,
    /// A link by its name, `leaf0->host3`: one direction. `leaf0->*` is every link whose name
    /// begins so. Repeat it for several.
    #[arg(long, required = true, value_name = "LINK")]
    link: Vec<String>,
    /// The scheme of the point, by its label.
    #[arg(long, value_name = "LABEL")]
    scheme: Option<String>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    consent: Consent,
    /// The file to write.
    #[arg(long, value_name = "FILE", default_value = "capture.pcapng")]
    out: PathBuf,
    /// Overwrite the file if it is there and is not a capture of cemark's.
    #[arg(long)]
    force: bool,
    /// Most packets of a link; the first ones are kept.
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    packets: u32,
}

/// Simulates the point once more, with taps on the links, and writes what they saw. A point is a
/// pure function: it is the same as in a run of the scenario, and so is its digest.
pub(crate) fn capture(args: &Args) -> Result<(), Failure> {
    let mut plan = cemark_scenario::load(&args.scenario, &args.changes.overrides(&args.scenario)?)?;
    args.consent.load(&mut plan)?;
    let point = chosen(&plan, args)?;
    let captures = |head: &[u8]| head.starts_with(b"\x0a\x0d\x0d\x0a") && has(head, "cemark ");
    let replace = Replace::ours(args.force, captures);
    replace.check(&args.out, IN_THE_WAY)?;
    let fabric = point.config.topology.fabric();
    let links = links(fabric, &args.link)?;
    let most = args.packets as usize;
    let taps: Vec<Tap> = links.iter().map(|&link| Tap { link, most }).collect();
    let (outcome, sightings) =
        run_with_taps(&point.config, &taps, &mut |_| true).expect("nothing ends it");
    let interfaces: Vec<Interface> = links
        .iter()
        .map(|&link| Interface {
            name: fabric.links()[link.0 as usize].name.clone(),
            rate: fabric.links()[link.0 as usize].rate,
        })
        .collect();
    let records = records(&sightings, point);
    let program = concat!("cemark ", env!("CARGO_PKG_VERSION"));
    let bytes = pcapng::file(program, &interfaces, &records);
    put(&args.out, &bytes, replace, IN_THE_WAY)?;
    for (interface, &arrived) in interfaces.iter().zip(&sightings.arrived) {
        if arrived > u64::from(args.packets) {
            note(&format!(
                "note: {}: the first {} of {arrived} packets are kept; --packets {arrived} keeps \
                 all",
                interface.name, args.packets
            ));
        }
    }
    let out = args.out.display();
    answer(&format!(
        "{out}: {} packets of {}\n{}, seed {}, {} simulated, digest {:016x}\n\n\
         next    tshark -r {out} -Y 'ip.dsfield.ecn == 3' # the marked ones\n",
        records.len(),
        match &interfaces[..] {
            [one] => one.name.clone(),
            many => format!("{} links", many.len()),
        },
        point.scheme,
        point.seed,
        units::micros(outcome.end.as_micros_f64()),
        outcome.digest,
    ))
}

/// The one point that the options leave.
fn chosen<'a>(plan: &'a Plan, args: &Args) -> Result<&'a Point, Failure> {
    let labels = || plan.schemes.iter().map(String::as_str);
    if let Some(label) = args
        .scheme
        .as_deref()
        .filter(|l| labels().all(|known| known != *l))
    {
        return Err(user(
            format!("no scheme of this scenario has the label `{label}`"),
            near(label, labels()),
        ));
    }
    let fits = |point: &&Point| {
        args.scheme
            .as_ref()
            .is_none_or(|label| point.scheme == *label)
    };
    let points: Vec<&Point> = plan.points.iter().filter(fits).collect();
    if let [one] = points[..] {
        return Ok(one);
    }
    let several = |values: Vec<String>| {
        let mut values = values;
        values.sort();
        values.dedup();
        (values.len() > 1).then_some(values)
    };
    let mut advice = Vec::new();
    if let Some(labels) = several(points.iter().map(|p| p.scheme.clone()).collect()) {
        advice.push(format!("--scheme {:?}", labels[0]));
    }
    for axis in &plan.axes {
        let of = |p: &&Point| p.axes.get(axis).cloned();
        if let Some(values) = several(points.iter().filter_map(of).collect()) {
            advice.push(format!("--set {axis}={}", values[0]));
        }
    }
    if several(points.iter().map(|p| p.seed.to_string()).collect()).is_some() {
        advice.push(format!("--seed {}", points[0].seed));
    }
    Err(user(
        format!("{} points fit, and one is captured", points.len()),
        format!("add {}", advice.join(" ")),
    ))
}

/// The links of these names, each once.
fn links(fabric: &Fabric, names: &[String]) -> Result<Vec<LinkId>, Failure> {
    let mut all: Vec<LinkId> = Vec::new();
    for name in names {
        let fits = |link: &str| match name.strip_suffix('*') {
            Some(begin) => link.starts_with(begin),
            None => link == name,
        };
        let named = fabric
            .links()
            .iter()
            .zip(0..)
            .filter(|(link, _)| fits(&link.name));
        let before = all.len();
        let found: Vec<LinkId> = named.map(|(_, i)| LinkId(i)).collect();
        if found.is_empty() {
            let known = fabric.links().iter().map(|link| &link.name[..]);
            let first = fabric.links().last().map_or("", |link| &link.name);
            let list =
                format!("links are named as `{first}`: each direction is one, and * ends it");
            return Err(user(
                format!("no link of this fabric is called `{name}`"),
                near_of_many(name, known, &list),
            ));
        }
        all.extend(
            found
                .into_iter()
                .filter(|l| !all[..before].contains(l))
                .collect::<Vec<_>>(),
        );
    }
    Ok(all)
}

/// Headers of the packets that the taps saw. A connection's first byte of data has the number 1.
fn records(sightings: &Sightings, point: &Point) -> Vec<Record> {
    let (transports, _) = point.config.grouped();
    let record = |seen: &Seen| Record {
        interface: seen.tap as u32,
        nanos: seen.at.0 / 1000,
        src: seen.src,
        dst: seen.dst,
        back: seen.flags.has(Flags::ACK),
        conn: seen.conn,
        payload: seen.len,
        ecn: seen.ecn,
        class: seen.class,
        hops: seen.hop.saturating_sub(1),
        header: match transports[usize::from(seen.transport)] {
            own if own.rdma.is_some() => roce(seen, own.mss),
            _ => tcp(seen),
        },
    };
    sightings.seen.iter().map(record).collect()
}

fn tcp(seen: &Seen) -> Header {
    let has = |flag| seen.flags.has(flag);
    let bit = |flag, bit: u8| if has(flag) { bit } else { 0 };
    let number = (seen.seq as u32).wrapping_add(1);
    let common = bit(Flags::ECE, 0x40) | bit(Flags::CWR, 0x80) | bit(Flags::PUSH, 0x08);
    match (has(Flags::SYN), has(Flags::ACK)) {
        (true, back) => Header::Tcp {
            seq: 0,
            ack: u32::from(back),
            flags: common | 0x02 | if back { 0x10 } else { 0 },
        },
        (false, true) => Header::Tcp {
            seq: 1,
            ack: number,
            flags: common | 0x10,
        },
        (false, false) => Header::Tcp {
            seq: number,
            ack: 1,
            flags: common | 0x10,
        },
    }
}

/// A queue pair's header. Packets have a number, where the simulator counts bytes.
fn roce(seen: &Seen, mss: u16) -> Header {
    let (ack, cnp) = (seen.flags.has(Flags::ACK), seen.flags.has(Flags::ECE));
    let number = |byte: u64| (byte / u64::from(mss.max(1))) as u32;
    match (ack, cnp) {
        (false, _) => Header::Roce {
            opcode: 0x04,
            psn: number(seen.seq),
        },
        (true, false) => Header::Roce {
            opcode: 0x11,
            psn: number(seen.seq.saturating_sub(1)),
        },
        (true, true) => Header::Roce {
            opcode: 0x81,
            psn: 0,
        },
    }
}
