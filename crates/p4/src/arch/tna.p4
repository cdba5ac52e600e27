// SPDX-License-Identifier: MIT OR Apache-2.0
// Tofino Native Architecture: names, widths and orders as p4c 1.2.5.16 has them for a Tofino 1.
#include <core.p4>
match_kind { range, selector, atcam_partition_index }
error { CounterRange, Timeout, PhvOwner, MultiWrite, IbufOverflow, IbufUnderflow }

typedef bit<9> PortId_t;
typedef bit<16> MulticastGroupId_t;
typedef bit<5> QueueId_t;
typedef bit<10> MirrorId_t;
typedef bit<3> MirrorType_t;
typedef bit<16> ReplicationId_t;
typedef bit<3> ResubmitType_t;
typedef bit<3> DigestType_t;
typedef bit<16> L1ExclusionId_t;
typedef bit<9> L2ExclusionId_t;
typedef error ParserError_t;

const bit<32> PORT_METADATA_SIZE = 64;

const bit<16> PARSER_ERROR_OK = 0x0000;
const bit<16> PARSER_ERROR_NO_MATCH = 0x0001;
const bit<16> PARSER_ERROR_PARTIAL_HDR = 0x0002;
const bit<16> PARSER_ERROR_CTR_RANGE = 0x0004;
const bit<16> PARSER_ERROR_TIMEOUT_USER = 0x0008;
const bit<16> PARSER_ERROR_TIMEOUT_HW = 0x0010;
const bit<16> PARSER_ERROR_SRC_EXT = 0x0020;
const bit<16> PARSER_ERROR_DST_CONT = 0x0040;
const bit<16> PARSER_ERROR_PHV_OWNER = 0x0080;
const bit<16> PARSER_ERROR_MULTIWRITE = 0x0100;
const bit<16> PARSER_ERROR_ARAM_MBE = 0x0400;
const bit<16> PARSER_ERROR_FCS = 0x0800;

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
    DigestType_t digest_type;
    ResubmitType_t resubmit_type;
    MirrorType_t mirror_type;
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
    MirrorType_t mirror_type;
    bit<1> coalesce_flush;
    bit<7> coalesce_length;
}

struct egress_intrinsic_metadata_for_output_port_t {
    bit<1> capture_tstamp_on_tx;
    bit<1> update_delay_on_tx;
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
extern SelectorAction { }
extern ActionProfile { }
extern ActionSelector { }
extern Mirror { }
extern Resubmit { }
extern Digest<T> { }
extern Atcam { }
extern Alpm { }

extern T max<T>(in T t1, in T t2);
extern T min<T>(in T t1, in T t2);
extern void funnel_shift_right<T>(inout T dst, in T src1, in T src2, int shift_amount);
extern void invalidate<T>(in T field);
extern bool is_validated<T>(in T field);
extern T port_metadata_unpack<T>(packet_in pkt);
extern bit<32> sizeInBits<H>(in H h);
extern bit<32> sizeInBytes<H>(in H h);

// An `@optional` block parameter may be left out at the end.

parser IngressParserT<H, M>(
    packet_in pkt, out H hdr, out M md,
    @optional out ingress_intrinsic_metadata_t intr,
    @optional out ingress_intrinsic_metadata_for_tm_t tm,
    @optional out ingress_intrinsic_metadata_from_parser_t prsr);

parser EgressParserT<H, M>(
    packet_in pkt, out H hdr, out M md,
    @optional out egress_intrinsic_metadata_t intr,
    @optional out egress_intrinsic_metadata_from_parser_t prsr,
    @optional out egress_intrinsic_metadata_for_deparser_t dprsr);

control IngressT<H, M>(
    inout H hdr, inout M md,
    @optional in ingress_intrinsic_metadata_t intr,
    @optional in ingress_intrinsic_metadata_from_parser_t prsr,
    @optional inout ingress_intrinsic_metadata_for_deparser_t dprsr,
    @optional inout ingress_intrinsic_metadata_for_tm_t tm);

control EgressT<H, M>(
    inout H hdr, inout M md,
    @optional in egress_intrinsic_metadata_t intr,
    @optional in egress_intrinsic_metadata_from_parser_t prsr,
    @optional inout egress_intrinsic_metadata_for_deparser_t dprsr,
    @optional inout egress_intrinsic_metadata_for_output_port_t oport);

control IngressDeparserT<H, M>(
    packet_out pkt, inout H hdr, in M md,
    @optional in ingress_intrinsic_metadata_for_deparser_t dprsr,
    @optional in ingress_intrinsic_metadata_t intr);

control EgressDeparserT<H, M>(
    packet_out pkt, inout H hdr, in M md,
    @optional in egress_intrinsic_metadata_for_deparser_t dprsr,
    @optional in egress_intrinsic_metadata_t intr,
    @optional in egress_intrinsic_metadata_from_parser_t prsr);

package Pipeline<IH, IM, EH, EM>(
    IngressParserT<IH, IM> ingress_parser, IngressT<IH, IM> ingress,
    IngressDeparserT<IH, IM> ingress_deparser, EgressParserT<EH, EM> egress_parser,
    EgressT<EH, EM> egress, EgressDeparserT<EH, EM> egress_deparser);

package Switch<IH0, IM0, EH0, EM0, IH1, IM1, EH1, EM1, IH2, IM2, EH2, EM2, IH3, IM3, EH3, EM3>(
    Pipeline<IH0, IM0, EH0, EM0> pipe0,
    @optional Pipeline<IH1, IM1, EH1, EM1> pipe1,
    @optional Pipeline<IH2, IM2, EH2, EM2> pipe2,
    @optional Pipeline<IH3, IM3, EH3, EM3> pipe3);
