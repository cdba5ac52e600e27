// SPDX-License-Identifier: MIT OR Apache-2.0
// What a Tofino (TNA) can do of CEDM: Shan and Ren, Improving ECN Marking Scheme with Micro-burst
// Traffic in Data Center Networks, INFOCOM 2017.
//
// CEDM judges a packet as it joins the queue, by a slope that is measured as packets leave it. The
// slope's register belongs to the egress, and the ingress cannot read it. So all is judged at the
// egress, with the length that the packet found (the traffic manager reports it) and the length
// that it leaves behind:
//
// - above K2 as it joined: marked;
// - from K1 on as it joined, whatever the slope was: a tentative mark, which is withdrawn if the
//   packet leaves less than K1 behind, or less than K2 while the queue falls.
//
// A Tofino does not divide, so that no slope in bytes a second can be averaged: the queue falls if
// it is shorter than one packet before. Lengths are in cells of 80 bytes.

#include <core.p4>
#include <tna.p4>
#include "headers.p4"
#include "switch.p4"
#include "write_ce.p4"

const bit<32> QUEUES = 1024;
typedef bit<10> queue_t;

// 21,000 and 57,500 bytes.
#ifndef K1_CELLS
#define K1_CELLS 263
#define K2_CELLS 719
#endif

control Cedm(in queue_t queue, in bit<19> found, in bit<19> left, out bit<2> why,
             out bit<1> marked) {
    bit<19> k1;
    bit<19> k2;
    bit<32> left_now = 0;
    bit<32> before;
    // How far the length that was found is over K2 and under K1, and that left under either.
    bit<19> over_k2;
    bit<19> under_k1;
    bit<19> left_under_k1;
    bit<19> left_under_k2;
    bit<32> fallen;

    action set_thresholds(bit<19> lower, bit<19> upper) {
        k1 = lower;
        k2 = upper;
    }

    table thresholds {
        key = { queue : exact; }
        actions = { set_thresholds; }
        default_action = set_thresholds(K1_CELLS, K2_CELLS);
        size = 1024;
    }

    Register<bit<32>, queue_t>(QUEUES, 0) length;
    RegisterAction<bit<32>, queue_t, bit<32>>(length) exchange = {
        void apply(inout bit<32> value, out bit<32> old) {
            old = value;
            value = left_now;
        }
    };

    action decide(bit<2> reason, bit<1> ce) {
        why = reason;
        marked = ce;
    }

    // The first that matches counts.
    table verdict {
        key = {
            over_k2 : ternary;
            under_k1 : ternary;
            left_under_k1 : ternary;
            left_under_k2 : ternary;
            fallen : ternary;
        }
        actions = { decide; }
        const default_action = decide(0, 0);
        const entries = {
            (0, 0, 0, 0, _) : decide(3, 1);
            (0, 0, 0, _, 0) : decide(3, 1);
            (0, _, _, _, _) : decide(0, 0);
            (_, _, _, _, _) : decide(1, 1);
        }
        size = 4;
    }

    apply {
        thresholds.apply();
        left_now = (bit<32>)left;
        over_k2 = found |-| k2;
        under_k1 = k1 |-| found;
        left_under_k1 = k1 |-| left;
        left_under_k2 = k2 |-| left;
        before = exchange.execute(queue);
        fallen = before |-| left_now;
        verdict.apply();
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Cedm() cedm;
    WriteCe() write_ce;
    bit<1> marked = 0;

    apply {
        cedm.apply(eg_intr_md.egress_port[6:0] ++ eg_intr_md.egress_qid[2:0],
                   eg_intr_md.enq_qdepth, eg_intr_md.deq_qdepth, md.why, marked);
        write_ce.apply(hdr, marked);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
