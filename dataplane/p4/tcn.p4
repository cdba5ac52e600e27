// SPDX-License-Identifier: MIT OR Apache-2.0
// TCN for a Tofino (TNA): Bai et al., Enabling ECN over Generic Packet Scheduling, CoNEXT 2016.
// Marks a packet whose sojourn time exceeds one threshold. It has no state.

#include <core.p4>
#include <tna.p4>
#include "headers.p4"
#include "switch.p4"
#include "write_ce.p4"

typedef bit<10> queue_t;

// Nanoseconds.
#ifndef THRESHOLD
#define THRESHOLD 150000
#endif

control Tcn(in queue_t queue, in bit<32> arrived, in bit<48> timestamp, out bit<2> why,
            out bit<1> marked) {
    bit<32> threshold;
    bit<32> waited;
    bit<32> over;

    action set_threshold(bit<32> nanoseconds) {
        threshold = nanoseconds;
    }

    table thresholds {
        key = { queue : exact; }
        actions = { set_threshold; }
        default_action = set_threshold(THRESHOLD);
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

    // The steps of `apply`. An action takes one stage, so that an operation on the result of another
    // is in an action of its own.

    action measure() {
        waited = timestamp[31:0] - arrived;
    }

    action compare() {
        over = waited |-| threshold;
    }

    apply {
        thresholds.apply();
        measure();
        compare();
        verdict.apply();
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Tcn() tcn;
    WriteCe() write_ce;
    bit<1> marked = 0;

    apply {
        tcn.apply(eg_intr_md.egress_port[6:0] ++ eg_intr_md.egress_qid[2:0],
                  hdr.bridged.arrived, eg_prsr_md.global_tstamp, md.why, marked);
        write_ce.apply(hdr, marked);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
