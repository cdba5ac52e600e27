// SPDX-License-Identifier: MIT OR Apache-2.0
// Tofino Native Architecture, as far as programs here use it: the widths and the order of the
// intrinsic metadata are those that a Tofino puts in front of a packet.
#include <core.p4>
match_kind { range, selector, atcam_partition_index, dleft_hash }

typedef bit<9> PortId_t;
typedef bit<16> MulticastGroupId_t;
typedef bit<5> QueueId_t;
typedef bit<10> MirrorId_t;
typedef bit<8> MirrorType_t;
typedef bit<16> ReplicationId_t;
typedef bit<4> ResubmitType_t;
typedef bit<4> DigestType_t;
typedef bit<16> ParserError_t;

const bit<32> PORT_METADATA_SIZE = 64;

enum MeterType_t { PACKETS, BYTES }
enum bit<8> MeterColor_t { GREEN = 0, YELLOW = 1, RED = 3 }
enum CounterType_t { PACKETS, BYTES, PACKETS_AND_BYTES }
enum SelectorMode_t { FAIR, RESILIENT }
enum HashAlgorithm_t { IDENTITY, RANDOM, XOR8, XOR16, XOR32, CRC8, CRC16, CRC32, CRC64, CUSTOM }
enum MathOp_t { MUL, SQR, SQRT, DIV, RSQR, RSQRT }

header ingress_intrinsic_metadata_t {
    bit<1> resubmit_flag;
    bit<1> _pad1;
    bit<2> packet_version;
    bit<3> _pad2;
    bit<9> ingress_port;
    bit<48> ingress_mac_tstamp;
}

struct ingress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;
    bit<32> global_ver;
    bit<16> parser_err;
}

struct ingress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;
    bit<4> digest_type;
    bit<4> resubmit_type;
    bit<4> mirror_type;
}

struct ingress_intrinsic_metadata_for_tm_t {
    bit<9> ucast_egress_port;
    bit<1> bypass_egress;
    bit<1> deflect_on_drop;
    bit<3> ingress_cos;
    bit<5> qid;
    bit<3> icos_for_copy_to_cpu;
    bit<1> copy_to_cpu;
    bit<2> packet_color;
    bit<1> disable_ucast_cutthru;
    bit<1> enable_mcast_cutthru;
    bit<16> mcast_grp_a;
    bit<16> mcast_grp_b;
    bit<13> level1_mcast_hash;
    bit<13> level2_mcast_hash;
    bit<16> level1_exclusion_id;
    bit<9> level2_exclusion_id;
    bit<16> rid;
}

header egress_intrinsic_metadata_t {
    bit<7> _pad0;
    bit<9> egress_port;
    bit<5> _pad1;
    bit<19> enq_qdepth;
    bit<6> _pad2;
    bit<2> enq_congest_stat;
    bit<14> _pad3;
    bit<18> enq_tstamp;
    bit<5> _pad4;
    bit<19> deq_qdepth;
    bit<6> _pad5;
    bit<2> deq_congest_stat;
    bit<8> app_pool_congest_stat;
    bit<14> _pad6;
    bit<18> deq_timedelta;
    bit<16> egress_rid;
    bit<7> _pad7;
    bit<1> egress_rid_first;
    bit<3> _pad8;
    bit<5> egress_qid;
    bit<5> _pad9;
    bit<3> egress_cos;
    bit<7> _pad10;
    bit<1> deflection_flag;
    bit<16> pkt_length;
}

struct egress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;
    bit<32> global_ver;
    bit<16> parser_err;
}

struct egress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;
    bit<4> mirror_type;
    bit<1> coalesce_flush;
    bit<7> coalesce_length;
}

struct egress_intrinsic_metadata_for_output_port_t {
    bit<1> capture_tstamp_on_tx;
    bit<1> update_delay_on_tx;
    bit<1> force_tx_error;
}

header ptp_metadata_t {
    bit<8> udp_cksum_byte_offset;
    bit<8> cf_byte_offset;
    bit<48> updated_cf;
}

header pktgen_timer_header_t {
    bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_port_down_header_t {
    bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    bit<15> _pad2;
    bit<9> port_num;
    bit<16> packet_id;
}

header pktgen_recirc_header_t {
    bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    bit<24> key;
    bit<16> packet_id;
}

extern Checksum { }
extern ParserCounter { }
extern ParserPriority { }
extern CRCPolynomial<T> { }
extern Hash<W> { }
extern Random<W> { }
extern Counter<W, I> { }
extern DirectCounter<W> { }
extern Meter<I> { }
extern DirectMeter { }
extern Lpf<T, I> { }
extern DirectLpf<T> { }
extern Wred<T, I> { }
extern DirectWred<T> { }
extern Register<T, I> { }
extern DirectRegister<T> { }
extern RegisterParam<T> { }
extern MathUnit<T> { }
extern RegisterAction<T, I, U> { }
extern DirectRegisterAction<T, U> { }
extern LearnAction<T, H, D, U> { }
extern MinMaxAction<T, I, U> { }
extern SelectorAction { }
extern ActionProfile { }
extern ActionSelector { }
extern Mirror { }
extern Resubmit { }
extern Digest<T> { }
extern Atcam { }
extern Alpm { }

package Pipeline<IH, IM, EH, EM>();
package Switch<IH0, IM0, EH0, EM0, IH1, IM1, EH1, EM1>();
