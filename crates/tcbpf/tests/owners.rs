// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs of somebody else on the same device, in a network namespace that the test makes and
//! removes. It needs root and `ip` (iproute2); without, it says so and passes.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use aya::programs::tc::{NlOptions, TcHandle, qdisc_add_clsact};
use aya::programs::{LinkOrder, SchedClassifier, TcAttachType, tc::TcAttachOptions};
use aya::{Ebpf, EbpfLoader};
use cemark_marking::{Values, tcn};
use cemark_tcbpf::{Earlier, Error, NotEct, Program, Settings, earlier};
use cemark_wire::{Nanos, Rate};

/// Tells this program that it runs in the namespace.
const INSIDE: &str = "CEMARK_TEST_OWNERS_INSIDE";
const DEVICE: &str = "d0";

/// Removed on drop.
struct Space(String);

impl Drop for Space {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).output();
    }
}

/// Runs the test of this name again, in a namespace with a device. `false` where it is there.
fn outside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    let space = Space(format!("cemark-owners-{test}-{}", std::process::id()));
    let ip = |args: &[&str]| {
        let done = Command::new("ip").args(args).output();
        done.is_ok_and(|o| o.status.success())
    };
    if !ip(&["netns", "add", &space.0]) {
        eprintln!("left out: needs root and `ip netns`");
        return true;
    }
    let pair = ["type", "veth", "peer", "name", "d1"];
    assert!(ip(&[
        &["-n", &space.0, "link", "add", DEVICE][..],
        &pair[..]
    ]
    .concat()));
    let me = std::env::current_exe().expect("this program");
    let done = Command::new("ip")
        .args(["netns", "exec", &space.0])
        .arg(me)
        .args(["--exact", &format!("owners::{test}"), "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("this program");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&done.stdout).contains("1 passed"));
    eprint!("{said}");
    true
}

/// Somebody's program: ours, of which one map has another name. Both are called `cemark`.
fn foreign() -> Option<Ebpf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = here.join("../../dataplane/bpf/tc/tcn.o");
    let mut bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (old, new) = (b"cemark_config\0", b"common_config\0");
    let places: Vec<usize> = (0..bytes.len() - old.len())
        .filter(|i| bytes[*i..].starts_with(old))
        .collect();
    assert!(!places.is_empty(), "the map has a name");
    for at in places {
        bytes[at..at + new.len()].copy_from_slice(new);
    }
    let mut object = match EbpfLoader::new().btf(None).load(&bytes) {
        Ok(object) => object,
        Err(e) => {
            eprintln!("left out: {e}");
            return None;
        }
    };
    program(&mut object).load().expect("the verifier takes it");
    Some(object)
}

fn program(object: &mut Ebpf) -> &mut SchedClassifier {
    let program = object.program_mut("cemark").expect("the program");
    program.try_into().expect("of its kind")
}

/// Adds a program as a filter of this priority.
fn filter(object: &mut Ebpf, priority: u16) {
    let options = NlOptions {
        priority,
        handle: TcHandle::new(0, 1),
        ..NlOptions::default()
    };
    program(object)
        .attach_with_options(
            DEVICE,
            TcAttachType::Egress,
            TcAttachOptions::Netlink(options),
        )
        .expect("a filter");
}

fn settings() -> Settings {
    Settings {
        scheme: &tcn::SPEC,
        values: Values::defaults(&tcn::SPEC),
        rate: Rate::gbps(1),
        limit: Nanos(100_000_000),
        not_ect: NotEct::Forward,
    }
}

fn first(names: &[&str]) -> Earlier {
    Earlier::Filter {
        priority: 100,
        kind: "bpf".to_owned(),
        names: names.iter().map(|n| (*n).to_owned()).collect(),
    }
}

#[test]
fn a_program_is_ours_by_its_maps() {
    if outside("a_program_is_ours_by_its_maps") {
        return;
    }
    let Some(mut other) = foreign() else {
        return;
    };
    qdisc_add_clsact(DEVICE).expect("a qdisc");
    filter(&mut other, 3296);
    // It has our name, our priority and our handle.
    assert!(matches!(Program::on(DEVICE), Err(Error::NotAttached(_))));
    assert!(matches!(
        Program::detach(DEVICE),
        Err(Error::NotAttached(_))
    ));
    let refused = Program::attach(DEVICE, &settings(), 1);
    assert!(
        matches!(&refused, Err(Error::PriorityTaken { kind, .. }) if kind == "bpf"),
        "{refused:?}"
    );
    // Still there, which a filter of the same kind shows.
    drop(other);

    let mut other = foreign().expect("as before");
    filter(&mut other, 100);
    Program::attach(DEVICE, &settings(), 1).expect("attached");
    assert_eq!(earlier(DEVICE).expect("a list"), [first(&["cemark"])]);
    let ours = Program::on(DEVICE).expect("ours is found behind the other");
    assert_eq!(ours.settings().scheme.name, "tcn");
    Program::detach(DEVICE).expect("detached");
    assert_eq!(earlier(DEVICE).expect("a list"), [first(&["cemark"])]);
    assert!(matches!(Program::on(DEVICE), Err(Error::NotAttached(_))));
}

#[test]
fn a_tcx_program_comes_first() {
    if outside("a_tcx_program_comes_first") {
        return;
    }
    let Some(mut other) = foreign() else {
        return;
    };
    assert_eq!(earlier(DEVICE).expect("a list"), []);
    let order = TcAttachOptions::TcxOrder(LinkOrder::default());
    let done = program(&mut other).attach_with_options(DEVICE, TcAttachType::Egress, order);
    if let Err(e) = done {
        eprintln!("left out: no tcx: {e}");
        return;
    }
    let name = "cemark".to_owned();
    assert_eq!(earlier(DEVICE).expect("a list"), [Earlier::Tcx { name }]);
}
