// SPDX-License-Identifier: MIT OR Apache-2.0
// The part of a TNA program that is not about marking: parsers, deparsers, and an ingress that
// forwards by destination address. In a real switch program it is what you have already.
//
// The ingress gives the packet its arrival time. The egress takes the sojourn time from it and not
// from deq_timedelta, which has 18 bits and so ends at 262 us. It therefore includes the time that
// a packet needs from its arrival through the ingress pipeline, which is the same for all of them:
// add it to the targets.

header bridged_h {
    bit<32> arrived;
}

struct headers_t {
    bridged_h bridged;
    ethernet_h ethernet;
    vlan_h vlan;
    ipv4_h ipv4;
    ipv6_h ipv6;
}

// What a marker decided: 0 pass, 1 instantaneous condition, 2 persistent condition, 3 tentative.
struct metadata_t {
    bit<2> why;
}

parser Network(packet_in pkt, inout headers_t hdr) {
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

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Network() network;

    state start {
        md.why = 0;
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        network.apply(pkt, hdr);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action send(PortId_t port, QueueId_t queue) {
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.qid = queue;
    }

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }

    table forward {
        key = { hdr.ethernet.dst : exact; }
        actions = { send; drop; }
        const default_action = drop();
        size = 1024;
    }

    apply {
        hdr.bridged.setValid();
        hdr.bridged.arrived = ig_prsr_md.global_tstamp[31:0];
        forward.apply();
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    Network() network;

    state start {
        md.why = 0;
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.bridged);
        network.apply(pkt, hdr);
        transition accept;
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ipv6);
    }
}
