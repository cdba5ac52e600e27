// SPDX-License-Identifier: MIT OR Apache-2.0
// The architecture of BMv2's simple_switch, as far as programs here use it. Its times are
// microseconds, its queue depths packets.
#include <core.p4>
match_kind { range, optional, selector }

typedef bit<9> PortId_t;

struct standard_metadata_t {
    bit<9> ingress_port;
    bit<9> egress_spec;
    bit<9> egress_port;
    bit<32> instance_type;
    bit<32> packet_length;
    bit<32> enq_timestamp;
    bit<19> enq_qdepth;
    bit<32> deq_timedelta;
    bit<19> deq_qdepth;
    bit<48> ingress_global_timestamp;
    bit<48> egress_global_timestamp;
    bit<16> mcast_grp;
    bit<16> egress_rid;
    bit<1> checksum_error;
    bit<32> parser_error;
    bit<3> priority;
    bit<5> qid;
}

enum CounterType { packets, bytes, packets_and_bytes }
enum MeterType { packets, bytes }
enum HashAlgorithm { crc32, crc32_custom, crc16, crc16_custom, random, identity, csum16, xor16 }
enum CloneType { I2E, E2E }

extern counter { }
extern direct_counter { }
extern meter { }
extern direct_meter<T> { }
extern register<T> { }
extern action_profile { }
extern action_selector { }
extern Checksum16 { }

package V1Switch<H, M>();
