// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small plan of twelve points, and the order to run it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cemark_report::Provenance;
use cemark_runner::marker::Watches;
use cemark_runner::{Cores, Order};
use cemark_scenario::{Overrides, Plan, parse};

pub(crate) const FILE: &str = "
seeds = 3
[topology]
kind = \"star\"
hosts = 4
[[workload]]
kind = \"poisson\"
sizes = \"web-search\"
load = 0.5
flows = 30
[[scheme]]
marker = \"threshold\"
[[scheme]]
marker = \"ecn_sharp\"
[sweep]
\"workload.load\" = [0.3, 0.8]
";

pub(crate) fn plan(precision: Option<&str>) -> Plan {
    let overrides = Overrides {
        precision: precision.map(str::to_owned),
        ..Overrides::default()
    };
    parse(FILE, "f.toml", &overrides).expect("a scenario")
}

/// A plan whose flows have one short size.
pub(crate) fn brief(precision: Option<&str>) -> Plan {
    let overrides = Overrides {
        precision: precision.map(str::to_owned),
        ..Overrides::default()
    };
    let text = FILE.replace("web-search", "200KB");
    parse(&text, "f.toml", &overrides).expect("a scenario")
}

/// A folder that is removed.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("cemark-runner-{}-{name}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // There may be none.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn order(plan: Plan, out: &Path) -> Order {
    Order {
        plan,
        watches: Watches::default(),
        part: None,
        out: out.to_path_buf(),
        cores: Cores::default(),
        anyway: false,
        fresh: false,
        who: Provenance {
            build: "this".to_owned(),
            ..Provenance::default()
        },
        stop: Arc::default(),
    }
}
