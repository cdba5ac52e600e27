// SPDX-License-Identifier: MIT OR Apache-2.0
// The headers that the programs of this folder parse. Everything behind them is payload, also the
// options of IPv4: the checksum is updated, not computed again, and so they need not be read.

typedef bit<48> mac_t;

const bit<16> TYPE_IPV4 = 0x0800;
const bit<16> TYPE_IPV6 = 0x86dd;
const bit<16> TYPE_VLAN = 0x8100;

header ethernet_h {
    mac_t dst;
    mac_t src;
    bit<16> kind;
}

header vlan_h {
    bit<16> tag;
    bit<16> kind;
}

header ipv4_h {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> length;
    bit<16> identification;
    bit<3> flags;
    bit<13> fragment;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header ipv6_h {
    bit<4> version;
    bit<6> dscp;
    bit<2> ecn;
    bit<20> flow;
    bit<16> length;
    bit<8> next;
    bit<8> hops;
    bit<128> src;
    bit<128> dst;
}
