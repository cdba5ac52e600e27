// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cemark vectors --impl tc`: the tc programs in the running kernel. Beside the vectors they judge
//! random packets, since another kernel has another verifier and another compiler.

use cemark_conformance::OnTc;
use cemark_conformance::differential::{Unequal, rust_and};
use cemark_foreign::{Error, Foreign};
use cemark_marking::{Marker, SchemeSpec};
use cemark_vectors::{Replayed, Vectors};

use super::{Args, Nothing, Row, row, say, table, verdict, wrong};
use crate::exit::Failure;

/// Random packets for each scheme. All schemes together judge more than a million.
const RANDOM: u64 = 100_000;

pub(super) fn vectors(args: &Args, files: &[Vectors]) -> Result<(), Failure> {
    let replayed: Vec<(&Vectors, Replayed)> = files
        .iter()
        .map(|file| {
            let code = OnTc::of(file.scheme)?;
            let make =
                |v: &_, q: &_| Ok(Box::new(Foreign::new(code.clone(), v, q)?) as Box<dyn Marker>);
            Ok((file, file.replay(make, wrong)?))
        })
        .collect::<Result<_, Failure>>()?;
    let mut schemes: Vec<&'static SchemeSpec> = files.iter().map(|f| f.scheme).collect();
    schemes.dedup_by_key(|s| s.name);
    let random: Vec<(&'static SchemeSpec, Replayed)> = schemes
        .into_iter()
        .map(|scheme| Ok((scheme, judged(scheme)?)))
        .collect::<Result<_, Error>>()?;
    let of_random = random.iter().map(|(scheme, came)| Row {
        scheme: scheme.name,
        file: "random",
        cases: came.cases,
        packets: came.packets,
        verdict: verdict(&came.differ),
        differ: &came.differ,
        more: Nothing {},
    });
    let of_files = replayed.iter().map(|(file, came)| row(file, came));
    let rows: Vec<Row<'_, Nothing>> = of_files.chain(of_random).collect();
    say(args.format, "tc", &rows, |rows| table("tc", rows))
}

/// Random packets of one scheme; a case is a marker that was built or given new parameters.
fn judged(scheme: &'static SchemeSpec) -> Result<Replayed, Error> {
    match rust_and(&OnTc::of(scheme)?, scheme, 1, RANDOM) {
        Ok(agreed) => Ok(Replayed {
            cases: agreed.settings,
            packets: agreed.decisions,
            differ: Vec::new(),
        }),
        Err(Unequal::Differ(difference)) => Ok(Replayed {
            differ: vec![difference.to_string()],
            ..Replayed::default()
        }),
        Err(Unequal::Missing(e)) => Err(e),
    }
}
