// SPDX-License-Identifier: MIT OR Apache-2.0
// ECN# for BMv2's simple_switch (v1model): the decisions of ../ecn_sharp.p4 without a Tofino's
// limits. Registers are read and written in place, so that `if` takes the place of tables.
//
// BMv2 counts microseconds, so a tick is 1 us, and the clock needs no counted wraps: its time has
// 48 bits. It does not divide either, and the gap after the n-th mark comes from a table with an
// entry for the top four bits of n: 40 of them for an interval of 200 us.

#include <core.p4>
#include <v1model.p4>
#include "../headers.p4"

// Registers are arrays of 128 ports of 8 queues.
const bit<32> QUEUES = 1024;

// Microseconds.
#ifndef INS_TARGET
#define INS_TARGET 200
#define PST_TARGET 85
#endif
#ifndef PST_INTERVAL
#define PST_INTERVAL 200
#endif

struct headers_t {
    ethernet_h ethernet;
    vlan_h vlan;
    ipv4_h ipv4;
    ipv6_h ipv6;
}

// What was decided: 0 pass, 1 instantaneous condition, 2 persistent condition.
struct metadata_t {
    bit<2> why;
}

#include "../write_ce.p4"

parser Network(packet_in pkt, out headers_t hdr, inout metadata_t md,
               inout standard_metadata_t standard) {
    state start {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            TYPE_VLAN : vlan;
            TYPE_IPV4 : ipv4;
            TYPE_IPV6 : ipv6;
            default : accept;
        }
    }

    state vlan {
        pkt.extract(hdr.vlan);
        transition select(hdr.vlan.kind) {
            TYPE_IPV4 : ipv4;
            TYPE_IPV6 : ipv6;
            default : accept;
        }
    }

    state ipv4 {
        pkt.extract(hdr.ipv4);
        transition accept;
    }

    state ipv6 {
        pkt.extract(hdr.ipv6);
        transition accept;
    }
}

control NoVerification(inout headers_t hdr, inout metadata_t md) {
    apply { }
}

control SwitchIngress(inout headers_t hdr, inout metadata_t md, inout standard_metadata_t standard) {
    action send(bit<9> port) {
        standard.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard);
    }

    table forward {
        key = { hdr.ethernet.dst : exact; }
        actions = { send; drop; }
        const default_action = drop();
        size = 1024;
    }

    apply {
        forward.apply();
    }
}

control EcnSharp(in bit<32> queue, in bit<32> waited, in bit<32> now, out bit<2> why) {
    register<bit<32>>(QUEUES) first_above;
    register<bit<1>>(QUEUES) is_above;
    register<bit<1>>(QUEUES) is_marking;
    register<bit<32>>(QUEUES) next_mark;
    register<bit<32>>(QUEUES) marks;

    bit<32> since;
    bit<1> above;
    bit<1> marking;
    bit<32> next;
    bit<32> count;
    bit<32> gap = 1;
    bit<1> persistent = 0;

    action set_gap(bit<32> ticks) {
        gap = ticks;
    }

    // pst_interval / count. The entries of an interval are those of `control::gaps` in crates/p4.
    table gaps {
        key = { count : ternary; }
        actions = { set_gap; }
        default_action = set_gap(1);
        size = 256;
    }

    apply {
        why = 0;
        is_above.read(above, queue);
        if (waited < PST_TARGET) {
            above = 0;
        } else {
            first_above.read(since, queue);
            if (above == 0) {
                since = now;
                first_above.write(queue, since);
            }
            above = 1;
            if ((int<32>)(now - PST_INTERVAL - since) > 0) {
                persistent = 1;
            }
        }
        is_above.write(queue, above);

        is_marking.read(marking, queue);
        if (persistent == 1) {
            next_mark.read(next, queue);
            marks.read(count, queue);
            if (marking == 0) {
                why = 2;
                next = now + PST_INTERVAL;
                count = 1;
            } else if ((int<32>)(now - next) > 0) {
                why = 2;
                count = count |+| 1;
                gaps.apply();
                next = next + gap;
            }
            next_mark.write(queue, next);
            marks.write(queue, count);
        }
        is_marking.write(queue, persistent);

        if (waited > INS_TARGET) {
            why = 1;
        }
    }
}

control SwitchEgress(inout headers_t hdr, inout metadata_t md, inout standard_metadata_t standard) {
    EcnSharp() ecn_sharp;
    WriteCe() write_ce;
    bit<1> marked = 0;

    apply {
        // BMv2 has one queue for each port, unless it is built with priority queues.
        ecn_sharp.apply((bit<32>)(standard.egress_port[6:0] ++ 3w0), standard.deq_timedelta,
                        standard.egress_global_timestamp[31:0], md.why);
        if (md.why != 0) {
            marked = 1;
        }
        write_ce.apply(hdr, marked);
    }
}

// The checksum was updated with the ECN field.
control NoComputation(inout headers_t hdr, inout metadata_t md) {
    apply { }
}

control SwitchDeparser(packet_out pkt, in headers_t hdr) {
    apply {
        pkt.emit(hdr);
    }
}

V1Switch(Network(), NoVerification(), SwitchIngress(), SwitchEgress(), NoComputation(),
         SwitchDeparser()) main;
