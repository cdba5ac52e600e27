// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long a port and each of its queues were paused, counted by hand.

use cemark_switch::Paused;
use cemark_switch::sched::SchedulerKind;

use crate::common::{Rig, queue};

#[test]
fn times_of_pauses_add_up_by_queue_and_for_the_port() {
    let queues = [queue(1500, 1, false); 3];
    let mut rig = Rig::new(SchedulerKind::Dwrr, &queues);
    // Queue 0: 100 to 300 and 500 on. Queue 2: 150 to 400. Some queue: 100 to 400 and 500 on.
    rig.port.pause(100, 0);
    rig.port.pause(150, 2);
    for (at, queue) in [(300, 0), (400, 2)] {
        rig.port.resume(at, queue, &mut rig.pools, &mut rig.gone);
    }
    let paused = |frames, ticks| Paused { frames, ticks };
    assert_eq!(rig.port.pauses(450), paused(2, 300));
    rig.port.pause(500, 0);
    assert_eq!(rig.port.pauses(600), paused(3, 400));
    assert_eq!(rig.port.pauses_of(0, 600), paused(2, 300));
    assert_eq!(rig.port.pauses_of(1, 600), paused(0, 0));
    assert_eq!(rig.port.pauses_of(2, 600), paused(1, 250));
    rig.port.resume(650, 0, &mut rig.pools, &mut rig.gone);
    assert_eq!(rig.port.pauses(700), paused(3, 450));
    assert_eq!(rig.port.pauses_of(0, 700), paused(2, 350));
}
