// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every scheme in a program without std, allocator or C library. ../embedding.rs compiles it.
#![no_std]

#[cfg(needs_alloc)]
extern crate alloc;
#[cfg(needs_std)]
extern crate std;

use cemark_marking::{At, Marker, QueueId, QueueSpec, Values, Verdict, catalogue};
use cemark_wire::{Nanos, Rate};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Number of marks of all schemes together on a queue that persists for a while and then empties.
#[unsafe(no_mangle)]
pub extern "C" fn embedded_marks() -> u32 {
    let queue = QueueSpec::fifo(Rate::gbps(10));
    let mut marks = 0;
    for spec in catalogue::ALL {
        let params = Values::defaults(spec);
        let mut marker = catalogue::build(spec, &params, &queue);
        for n in 0..1_000 {
            let (now, wait) = (Nanos(n * 1_200), Nanos::from_micros(250));
            let at = At::departure(now, wait, 312_500, 1_500);
            let intent = match marker.enqueue(&at) {
                Verdict::Mark(why) => Some(why),
                _ => None,
            };
            marks += u32::from(matches!(marker.dequeue(&At { intent, ..at }), Verdict::Mark(_)));
        }
        marker.emptied(QueueId(0), Nanos(2_000_000));
        marker.retune(&params, &queue);
        marker.wake(&At::arrival(Nanos(2_000_001), 0, 0));
    }
    #[cfg(needs_alloc)]
    {
        marks += *alloc::boxed::Box::new(marks);
    }
    marks
}
