// SPDX-License-Identifier: MIT OR Apache-2.0
// DCTCP-RED for a Tofino (TNA): Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010. Marks a
// packet that found the queue longer than K. It has no state.
//
// The traffic manager reports the length that a packet found in cells of 80 bytes, so that K is a
// number of cells. The packet itself is not counted (`count_self = false`).

#include <core.p4>
#include <tna.p4>
#include "headers.p4"
#include "switch.p4"
#include "write_ce.p4"

typedef bit<10> queue_t;

// 1,219 cells are 97,520 bytes, 65 packets.
#ifndef K_CELLS
#define K_CELLS 1219
#endif

control Threshold(in queue_t queue, in bit<19> found, out bit<2> why, out bit<1> marked) {
    bit<19> k;
    bit<19> over;

    action set_k(bit<19> cells) {
        k = cells;
    }

    table thresholds {
        key = { queue : exact; }
        actions = { set_k; }
        default_action = set_k(K_CELLS);
        size = 1024;
    }

    action decide(bit<2> reason, bit<1> ce) {
        why = reason;
        marked = ce;
    }

    table verdict {
        key = { over : exact; }
        actions = { decide; }
        const default_action = decide(1, 1);
        const entries = { 0 : decide(0, 0); }
        size = 1;
    }

    apply {
        thresholds.apply();
        over = found |-| k;
        verdict.apply();
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Threshold() threshold;
    WriteCe() write_ce;
    bit<1> marked = 0;

    apply {
        threshold.apply(eg_intr_md.egress_port[6:0] ++ eg_intr_md.egress_qid[2:0],
                        eg_intr_md.enq_qdepth, md.why, marked);
        write_ce.apply(hdr, marked);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
