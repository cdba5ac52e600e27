// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows of many seeds, simulated once for all tests that draw from them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cemark_scenario::Plan;
use cemark_sim::outcome::FlowRecord;
use rayon::prelude::*;

/// By seed: the flows under the baseline and under the scheme.
pub type Runs = Arc<Vec<[Vec<FlowRecord>; 2]>>;

static KNOWN: Mutex<BTreeMap<String, Runs>> = Mutex::new(BTreeMap::new());

/// The flows of the seeds 1, 2, 3 and so on. `plan` has two schemes.
pub fn of(plan: &Plan, seeds: usize) -> Runs {
    let mut known = KNOWN.lock().unwrap_or_else(|e| e.into_inner());
    let runs = known.entry(plan.title.clone()).or_insert_with(|| {
        let all = (1..=seeds as u64).into_par_iter();
        Arc::new(all.map(|seed| run(plan, seed)).collect())
    });
    assert_eq!(runs.len(), seeds, "every test draws from as many seeds");
    runs.clone()
}

fn run(plan: &Plan, seed: u64) -> [Vec<FlowRecord>; 2] {
    [0, 1].map(|scheme| {
        let mut config = plan.points[scheme].config.clone();
        config.seed = seed;
        cemark_sim::run(&config).flows
    })
}
