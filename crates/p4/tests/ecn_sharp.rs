// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shipped ECN# program against the Rust model of the same arithmetic.

use cemark_marking::ecn_sharp_lab::{EcnSharpLab, SPEC};
use cemark_marking::{At, Marker, QueueSpec, Values, Verdict, Why};
use cemark_p4::testbed::{Passage, Testbed};
use cemark_p4::{Rounding, control::Interval, sources};
use cemark_wire::{Nanos, Rate};

fn testbed(nanos: u32) -> Testbed {
    let defines = Interval::new(nanos, Rounding::Nearest).defines();
    Testbed::new(sources::program("ecn_sharp.p4", &defines).unwrap_or_else(|e| panic!("{e}")))
}

fn model(nanos: u64) -> EcnSharpLab {
    let values = Values::defaults(&SPEC)
        .with(&SPEC, "arithmetic", 1)
        .and_then(|v| v.with(&SPEC, "pst_interval", nanos))
        .expect("parameters");
    EcnSharpLab::from_config((&values).into(), &QueueSpec::fifo(Rate::gbps(10)))
}

fn code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Mark(Why::Instant) => 1,
        Verdict::Mark(Why::Persistent) => 2,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_golden_train_is_marked_as_the_model_marks_it() {
    let (mut switch, mut model) = (testbed(200_000), model(200_000));
    let mut marks = 0;
    for now in (1..=2_500u64).map(|n| n * 1_200) {
        let came = switch.pass(&Passage::new(now - 100_000u64.min(now), now));
        let came = came.unwrap_or_else(|e| panic!("{now}: {e}"));
        let waited = Nanos(100_000.min(now));
        let want = code(model.dequeue(&At::departure(Nanos(now), waited, 100_000, 1500)));
        assert_eq!(came.why, want, "at {now}");
        assert_eq!(came.ecn, if want > 0 { 3 } else { 2 });
        marks += u32::from(want > 0);
    }
    assert!(marks > 1_000, "{marks}");
}
