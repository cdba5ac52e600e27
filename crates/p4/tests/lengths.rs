// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs that judge by lengths, in cells of 80 bytes: hand-worked packets.

use cemark_p4::testbed::{Passage, Testbed};
use cemark_p4::{Defines, sources};

fn testbed(name: &str) -> Testbed {
    Testbed::new(sources::program(name, &Defines::new()).unwrap_or_else(|e| panic!("{e}")))
}

/// The reason for a packet that finds and leaves this many cells.
fn why(switch: &mut Testbed, found: u32, left: u32) -> u8 {
    let passage = Passage {
        depths: (found * 80, left * 80),
        ..Passage::new(1_000, 2_000)
    };
    let came = switch.pass(&passage).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(came.ecn == 3, came.why != 0);
    came.why
}

#[test]
fn dctcp_red_marks_above_k_and_not_at_k() {
    let mut switch = testbed("threshold.p4");
    assert_eq!(why(&mut switch, 0, 0), 0);
    assert_eq!(why(&mut switch, 1_219, 0), 0);
    assert_eq!(why(&mut switch, 1_220, 0), 1);
    assert_eq!(why(&mut switch, (1 << 19) - 1, 0), 1);
}

#[test]
fn cedm_withdraws_a_tentative_mark_from_a_queue_that_falls() {
    let mut switch = testbed("cedm.p4");
    // K1 = 263, K2 = 719 cells. The register begins at 0, so that nothing has fallen.
    assert_eq!(why(&mut switch, 262, 700), 0); // below K1
    assert_eq!(why(&mut switch, 263, 700), 3); // from K1 on, not falling
    assert_eq!(why(&mut switch, 719, 699), 0); // falling, and left less than K2
    assert_eq!(why(&mut switch, 719, 699), 3); // no longer
    assert_eq!(why(&mut switch, 719, 800), 3);
    assert_eq!(why(&mut switch, 719, 719), 3); // falling, but K2 is left
    assert_eq!(why(&mut switch, 719, 262), 0); // less than K1 is left
    assert_eq!(why(&mut switch, 300, 262), 0);
    assert_eq!(why(&mut switch, 720, 0), 1); // above K2: never withdrawn
}
