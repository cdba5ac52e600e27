// SPDX-License-Identifier: MIT OR Apache-2.0
//! The structs of the interface have the same layout in C, BPF and Rust.

use std::mem::offset_of;

use cemark_foreign::abi::{Call, NO_INTENT, PacketView, QueueView};
use cemark_foreign::c_layout;
use cemark_marking::{At, QueueSpec};

macro_rules! offsets {
    ($Type:ty: $($field:ident),+) => { vec![size_of::<$Type>(), $(offset_of!($Type, $field)),+] };
}

#[test]
fn the_markers_view_is_the_same_in_rust_in_the_interface_and_in_c() {
    let c: Vec<usize> = c_layout().iter().map(|n| *n as usize).collect();
    let at = offsets!(
        At: now, sojourn, round, packet_hash, pkt_bytes, segs, ecn, intent,
        queue_bytes, queue_pkts, port_bytes, pool_bytes, limit_bytes
    );
    let view = offsets!(
        PacketView: now, sojourn, round, salt, pkt_bytes, segs, ecn, intent,
        queue_bytes, queue_pkts, port_bytes, pool_bytes, limit_bytes
    );
    assert_eq!(at, c[..14]);
    assert_eq!(view, c[..14]);
    let spec = offsets!(QueueSpec: rate, quantum, weight, weight_sum, strict, mtu, limit_bytes);
    let queue = offsets!(QueueView: rate, quantum, weight, weight_sum, strict, mtu, limit_bytes);
    assert_eq!(spec, c[14..22]);
    assert_eq!(queue, c[14..22]);
    assert_eq!(offsets!(Call: at, queue, values, now, memory), c[22..28]);
    assert_eq!(c[28], usize::from(NO_INTENT));
}

#[test]
#[allow(unsafe_code)]
fn an_intent_is_the_same_byte() {
    use cemark_marking::Why;
    let reasons = [
        Why::Instant,
        Why::Persistent,
        Why::Random,
        Why::Average,
        Why::Tentative,
    ];
    for (intent, byte) in reasons
        .map(Some)
        .into_iter()
        .zip(0..)
        .chain([(None, NO_INTENT)])
    {
        // SAFETY: one initialised byte.
        let held: u8 = unsafe { std::mem::transmute::<Option<Why>, u8>(intent) };
        assert_eq!(held, byte, "{intent:?}");
    }
}
