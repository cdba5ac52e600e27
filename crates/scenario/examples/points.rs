// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prints the points of a scenario: `cargo run -p cemark-scenario --example points -- rtt-variation
//! workload.load=0.3,0.6`.

use cemark_scenario::{Overrides, load};

fn main() -> miette::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments
        .next()
        .unwrap_or_else(|| "rtt-variation".to_owned());
    let mut overrides = Overrides::default();
    for option in arguments {
        overrides.add(&option)?;
    }
    let plan = load(&name, &overrides)?;
    for point in &plan.points {
        println!(
            "{:016x} {:?} {} seed {}: {:.1} million packet-hops",
            point.digest,
            point.axes,
            point.scheme,
            point.seed,
            point.cost / 1e6
        );
    }
    Ok(())
}
