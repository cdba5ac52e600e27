// SPDX-License-Identifier: MIT OR Apache-2.0
// The architecture of BMv2's simple_switch, as p4c 1.2.5.16 has it. Times are microseconds, queue
// depths packets. Without a V1MODEL_VERSION it is that of 20180101.
#include <core.p4>
match_kind { range, optional, selector }

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#endif

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
    error parser_error;
    bit<3> priority;
}

enum CounterType { packets, bytes, packets_and_bytes }
enum MeterType { packets, bytes }
enum HashAlgorithm { crc32, crc32_custom, crc16, crc16_custom, random, identity, csum16, xor16 }
enum CloneType { I2E, E2E }

#if V1MODEL_VERSION >= 20200408
extern counter<I> { }
extern meter<I> { }
extern register<T, I> { }
#else
extern counter { }
extern meter { }
extern register<T> { }
#endif
extern direct_counter { }
extern direct_meter<T> { }
extern action_profile { }
extern action_selector { }
extern Checksum16 { }

extern void random<T>(out T result, in T lo, in T hi);
extern void digest<T>(in bit<32> receiver, in T data);
extern void mark_to_drop(inout standard_metadata_t standard_metadata);
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum,
                                  HashAlgorithm algo);
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum,
                                               HashAlgorithm algo);
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum,
                                               HashAlgorithm algo);
extern void clone(in CloneType type, in bit<32> session);
extern void truncate(in bit<32> length);
extern void assert(in bool check);
extern void assume(in bool check);

parser Parser<H, M>(packet_in b, out H hdr, inout M meta, inout standard_metadata_t standard);
control VerifyChecksum<H, M>(inout H hdr, inout M meta);
control Ingress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard);
control Egress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard);
control ComputeChecksum<H, M>(inout H hdr, inout M meta);
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(Parser<H, M> p, VerifyChecksum<H, M> vr, Ingress<H, M> ig, Egress<H, M> eg,
                       ComputeChecksum<H, M> ck, Deparser<H> dep);
