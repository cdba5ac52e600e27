// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark sweep`: the points of a run on this machine, or on a Ray cluster.

use std::path::Path;
use std::sync::Arc;

use cemark_report::RunDir;

use super::redraw::Screen;
use super::{answer, order, run, so_far};
use crate::exit::{Failure, Stderr, user};
use crate::program::{self, OnCluster};
use crate::shell;

/// Arguments of `cemark sweep`.
#[derive(clap::Args)]
pub(crate) struct SweepArgs {
    /// Simulate the points on a Ray cluster: the one that this machine belongs to, or that of
    /// --address. With it, --out may be the URL of a store (s3://bucket/folder), which receives the
    /// same files as the run directory (docs/cluster.md).
    #[arg(long, conflicts_with_all = ["jobs", "threads", "part"])]
    ray: bool,
    /// Address of the Ray cluster, as `ray.init` takes it [default: that of this machine].
    #[arg(long, value_name = "HOST:PORT", requires = "ray")]
    address: Option<String>,
    #[command(flatten)]
    run: super::Args,
}

pub(crate) fn sweep(args: &SweepArgs) -> Result<(), Failure> {
    let store = args.run.out.as_deref().and_then(url);
    if !args.ray {
        return match store {
            None => run(&args.run),
            Some(url) => Err(user(
                format!("--out {url}: this is the URL of a store, and only --ray writes to one"),
                "name a folder of this machine; `cemark sweep --ray --out URL` and \
                        cemark.sweep(…, out=URL) of the Python package write to stores",
            )),
        };
    }
    let Some(cluster) = program::cluster() else {
        let help = format!(
            "pip install 'cemark[ray]' (in a checkout: pip install './python[ray]'), and type the \
             same with the `cemark` that pip installs. Or run parts, without Ray: cemark run {} \
             --part 1/4 --seeds N (docs/cluster.md)",
            shell::quoted(&args.run.scenario)
        );
        return Err(user(
            "--ray needs the Python package of cemark: this program is only the command",
            help,
        ));
    };
    let mut order = order(&args.run)?;
    if store.is_some() {
        order.out = RunDir::default_path(&order.plan);
    }
    let asked = OnCluster {
        scenario: args.run.scenario.clone(),
        address: args.address.clone(),
        store,
    };
    let screen = Screen::new(args.run.quiet);
    let mut ran = cluster.run(order, &Stderr, Arc::new(screen), &asked)?;
    if let Some(why) = ran.interrupted.take() {
        so_far(&ran, args.run.format)?;
        return Err(why);
    }
    // The directory is still to be copied to the store.
    let held = ran.dir.clone();
    answer(&mut ran, args.run.format)?;
    let kept = cluster.kept();
    drop(held);
    kept
}

/// The URL of a store, if this is one.
fn url(out: &Path) -> Option<String> {
    let text = out.to_str()?;
    text.contains("://").then(|| text.to_owned())
}
