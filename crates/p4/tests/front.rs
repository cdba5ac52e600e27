// SPDX-License-Identifier: MIT OR Apache-2.0
//! The front end refuses and accepts programs as p4c 1.2.5.16 does: single changes of the
//! programs, each of which both were given (`dataplane/p4/README.md`).

use cemark_p4::{Defines, Machine, Rounding, compile, sources, spec};

fn load(name: &str) -> Option<String> {
    sources::text(name).map(str::to_owned)
}

fn changed(file: &str, from: &str, to: &str) -> Result<(), String> {
    // Parsers and forwarding are in a file of their own.
    let program = match file {
        "v1model/ecn_sharp.p4" => file,
        _ => "ecn_sharp.p4",
    };
    let loader = |name: &str| {
        let text = load(name)?;
        if name != file {
            return Some(text);
        }
        assert!(text.contains(from), "{from}");
        Some(text.replacen(from, to, 1))
    };
    let text = loader(program).expect("a program");
    let read = compile(program, &text, &Defines::new(), &loader);
    read.map(drop).map_err(|e| e.to_string())
}

const ECN_SHARP: &str = "ecn_sharp.p4";
const SWITCH: &str = "switch.p4";
const V1MODEL: &str = "v1model/ecn_sharp.p4";

#[test]
fn what_p4c_refuses_is_refused() {
    for (file, from, to, said) in [
        (
            ECN_SHARP,
            "Pipeline(IngressParser(), Ingress(), IngressDeparser(),",
            "Pipeline(IngressParser(), IngressDeparser(), Ingress(),",
            "`IngressDeparser` is no IngressT: its parameter 1",
        ),
        (
            ECN_SHARP,
            "Pipeline(IngressParser(), Ingress(), IngressDeparser(),",
            "Pipeline(IngressParser(), Egress(), IngressDeparser(),",
            "its parameter 3 is `in egress_intrinsic_metadata_t`, wanted is `in \
             ingress_intrinsic_metadata_t`",
        ),
        (
            ECN_SHARP,
            "Pipeline(IngressParser(), Ingress(), IngressDeparser(),",
            "Pipeline(Ingress(), IngressParser(), IngressDeparser(),",
            "the place of a parser",
        ),
        (
            ECN_SHARP,
            "         EgressParser(), Egress(), EgressDeparser()) pipe;",
            "         EgressParser(), Egress()) pipe;",
            "`egress_deparser` is missing",
        ),
        (
            ECN_SHARP,
            "Switch(pipe) main;",
            "Switch(pip) main;",
            "the name of a Pipeline",
        ),
        (
            ECN_SHARP,
            "    bit<32> late;\n",
            "    bit<32> late;\n    bit<32> late;\n",
            "`late` is declared twice",
        ),
        (
            ECN_SHARP,
            "    table detect {",
            "    table targets { actions = { NoAction; } }\n    table detect {",
            "`targets` is declared twice",
        ),
        (
            ECN_SHARP,
            "    bit<32> time;\n",
            "    bit<32> time;\n    bit<32> time;\n",
            "`since_t` has two members `time`",
        ),
        (
            ECN_SHARP,
            "        targets.apply();\n",
            "        targets.apply();\n        arrived = 1;\n",
            "`arrived` is a parameter that is read only",
        ),
        (
            ECN_SHARP,
            "        targets.apply();\n",
            "        targets.apply();\n        timestamp[7:0] = 1;\n",
            "`timestamp` is a parameter that is read only",
        ),
        (
            ECN_SHARP,
            "        ins_target = ins;\n",
            "        ins = 7;\n        ins_target = ins;\n",
            "`ins` is a parameter that is read only",
        ),
        (
            ECN_SHARP,
            "hdr.bridged.arrived, eg_prsr_md.global_tstamp, md.why, marked);",
            "hdr.bridged.arrived, eg_prsr_md.global_tstamp, md.why, eg_intr_md.egress_rid_first);",
            "`eg_intr_md` is a parameter that is read only",
        ),
        (
            ECN_SHARP,
            "enter.execute(queue)",
            "enter.execute(ins_target)",
            "wants bit<10>, came bit<32>",
        ),
        (
            ECN_SHARP,
            "MathUnit<bit<32>>",
            "MathUnit<bit<32>, bit<8>>",
            "`MathUnit` has 1 type parameters, came 2",
        ),
        (
            ECN_SHARP,
            "RegisterAction<bit<8>, queue_t, bit<8>>(marking_state) enter",
            "RegisterAction<bit<8>, queue_t, bit<16>>(marking_state) enter",
            "`before` of `apply` is `out bit<16>`",
        ),
        (
            ECN_SHARP,
            "    apply {\n        ecn_sharp.apply(",
            "    apply {\n        eg_oport_md.force_tx_error = 1;\n        ecn_sharp.apply(",
            "has no member `force_tx_error`",
        ),
        (
            ECN_SHARP,
            "    apply {\n        ecn_sharp.apply(",
            "    apply {\n        eg_dprsr_md.mirror_type = 4w1;\n        ecn_sharp.apply(",
            "wants bit<3>, came bit<4>",
        ),
        (
            ECN_SHARP,
            "#include <tna.p4>",
            "#include <tofino1arch.p4>",
            "there is no <tofino1arch.p4>",
        ),
        (
            ECN_SHARP,
            "#include \"headers.p4\"",
            "#include \"p4/headers.p4\"",
            "there is no file p4/headers.p4",
        ),
        (
            ECN_SHARP,
            "control EcnSharp(",
            "control EgressT(in bit<8> x) { apply { } }\ncontrol EcnSharp(",
            "`EgressT` is declared already, at tna.p4:",
        ),
        (
            SWITCH,
            "control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,",
            "control IngressDeparser(packet_out pkt, in headers_t hdr, in metadata_t md,",
            "its parameter 2 is `in headers_t`, wanted is `inout headers_t`",
        ),
        (
            V1MODEL,
            "        forward.apply();\n",
            "        forward.apply();\n        standard.qid = 1;\n",
            "has no member `qid`",
        ),
        (
            V1MODEL,
            "        forward.apply();\n",
            "        if (standard.parser_error == 32w0) { forward.apply(); }\n",
            "wants error, came bit<32>",
        ),
        (
            V1MODEL,
            "control SwitchIngress(",
            "control Ingress(",
            "`Ingress` is declared already, at v1model.p4:",
        ),
        (
            V1MODEL,
            "#include \"../headers.p4\"",
            "#include \"headers.p4\"",
            "there is no file v1model/headers.p4",
        ),
    ] {
        let error = changed(file, from, to).expect_err(to);
        assert!(error.contains(said), "{to}: {error}");
        // The package names the block that is wrong.
        let place = if file == SWITCH { ECN_SHARP } else { file };
        assert!(error.starts_with(&format!("{place}:")), "{to}: {error}");
    }
}

#[test]
fn what_p4c_accepts_is_accepted() {
    for (file, from, to) in [
        (
            ECN_SHARP,
            "    apply {\n        ecn_sharp.apply(",
            "    apply {\n        eg_dprsr_md.mirror_type = 3w1;\n        ecn_sharp.apply(",
        ),
        (
            SWITCH,
            "        ig_dprsr_md.drop_ctl = 1;\n",
            "        ig_dprsr_md.digest_type = 3w1;\n",
        ),
        (
            ECN_SHARP,
            "MathUnit<bit<32>>(true, 0, GAP_SCALE, {GAP_TABLE, 0, 0, 0, 0, 0, 0, 0, 0}) gap;",
            "MathUnit<bit<32>>(MathOp_t.DIV, PST_INTERVAL) gap;",
        ),
        (
            V1MODEL,
            "        forward.apply();\n",
            "        if (standard.parser_error == error.NoError) { forward.apply(); }\n",
        ),
        // A parameter that is `@optional` in the architecture.
        (
            SWITCH,
            "in metadata_t md,\n                        in \
             ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md)",
            "in metadata_t md)",
        ),
        (
            ECN_SHARP,
            "Pipeline(IngressParser(), Ingress(), IngressDeparser(),\n         EgressParser(), \
             Egress(), EgressDeparser()) pipe;",
            "Pipeline<headers_t, metadata_t, headers_t, _>(egress = Egress(), ingress = Ingress(),
             ingress_parser = IngressParser(), ingress_deparser = IngressDeparser(),
             egress_parser = EgressParser(), egress_deparser = EgressDeparser()) pipe;",
        ),
        // A name of an inner block hides that of an outer one.
        (
            ECN_SHARP,
            "    action measure() {\n",
            "    action measure() {\n        bit<8> queue = 7;\n",
        ),
    ] {
        changed(file, from, to).unwrap_or_else(|e| panic!("{to}: {e}"));
    }
}

/// p4c makes the table of A / x: 8 bits of A, so that 195 begins with 195 and not with 98.
#[test]
fn a_math_unit_has_the_table_that_p4c_makes() {
    let units = |made: &str| {
        let text = sources::text(ECN_SHARP).expect("a program").replace(
            "MathUnit<bit<32>>(true, 0, GAP_SCALE, {GAP_TABLE, 0, 0, 0, 0, 0, 0, 0, 0}) gap;",
            &format!("MathUnit<bit<32>>({made}) gap;"),
        );
        let program = compile(ECN_SHARP, &text, &Defines::new(), &load);
        program
            .map(|p| p.math[0].clone())
            .map_err(|e| e.to_string())
    };
    let division = units("MathOp_t.DIV, 195").expect("a unit");
    assert_eq!(
        (division.invert, division.shift, division.scale),
        (true, 0, 0)
    );
    assert_eq!(
        division.table[8..],
        [195, 173, 156, 142, 130, 120, 111, 104]
    );
    assert_eq!(division.table[..8], [0; 8]);
    for (made, invert, shift, scale, first, last) in [
        // 256 = 2^8: 128 x 2^1.
        ("MathOp_t.DIV, 256", true, 0, 1, 128, 68),
        ("MathOp_t.MUL, 1", false, 0, -7, 128, 240),
        // 3 x 225 / 64 = 10.5: the scale is 3 - 7.
        ("MathOp_t.SQR, 3", false, 1, -4, 48, 169),
        ("MathOp_t.SQRT, 1", false, -1, -7, 128, 175),
        ("MathOp_t.RSQRT, 1", true, -1, -7, 128, 93),
        ("MathOp_t.DIV, 195, 2", true, 0, -1, 195, 104),
    ] {
        let unit = units(made).unwrap_or_else(|e| panic!("{e}"));
        let came = (unit.invert, unit.shift, unit.scale);
        assert_eq!(came, (invert, shift, scale), "{made}");
        assert_eq!((unit.table[8], unit.table[15]), (first, last), "{made}");
    }
    for (made, said) in [
        ("MathOp_t.RSQR, 7", "wrong table"),
        ("MathOp_t.DIV, 0", "1 to 2^64 - 1"),
        (
            "true, 4294967296, 1, {GAP_TABLE, 0, 0, 0, 0, 0, 0, 0, 0}",
            "the shift is -1, 0 or 1",
        ),
    ] {
        let error = units(made).expect_err(made);
        assert!(error.contains(said), "{made}: {error}");
    }
}

/// A record names its members, in any order.
#[test]
fn a_record_is_read_by_its_names() {
    let initial = |values: &str| {
        let text = sources::text(ECN_SHARP).expect("a program");
        let text = text.replace(
            "(QUEUES, {0, 0}) clock;",
            &format!("(QUEUES, {values}) clock;"),
        );
        let program = compile(ECN_SHARP, &text, &Defines::new(), &load);
        program
            .map(|p| p.registers[0].initial.clone())
            .map_err(|e| e.to_string())
    };
    for values in ["{5, 7}", "{low = 5, wraps = 7}", "{wraps = 7, low = 5}"] {
        assert_eq!(initial(values), Ok(vec![5, 7]), "{values}");
    }
    for values in ["{low = 5}", "{low = 5, low = 7}", "{low = 5, high = 7}"] {
        let error = initial(values).expect_err(values);
        assert!(error.contains("each member of its type once"), "{error}");
    }
}

/// A program as tutorials have it: marks by the queue's length, and computes the checksum.
const TUTORIAL: &str = "
#include <core.p4>
#include <v1model.p4>
const bit<16> TYPE_IPV4 = 0x800;
const bit<19> ECN_THRESHOLD = 10;
typedef bit<48> macAddr_t;
header ethernet_t { macAddr_t dstAddr; macAddr_t srcAddr; bit<16> etherType; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<6> diffserv; bit<2> ecn; bit<16> totalLen;
    bit<16> identification; bit<3> flags; bit<13> fragOffset; bit<8> ttl; bit<8> protocol;
    bit<16> hdrChecksum; bit<32> srcAddr; bit<32> dstAddr;
}
struct metadata { }
struct headers { ethernet_t ethernet; ipv4_t ipv4; }
error { BadHeader }
parser MyParser(packet_in packet, out headers hdr, inout metadata meta,
                inout standard_metadata_t standard_metadata) {
    state start { transition parse_ethernet; }
    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.etherType) { TYPE_IPV4: parse_ipv4; default: accept; }
    }
    state parse_ipv4 { packet.extract(hdr.ipv4); transition accept; }
}
control MyVerifyChecksum(inout headers hdr, inout metadata meta) { apply { VERIFY } }
control MyIngress(inout headers hdr, inout metadata meta,
                  inout standard_metadata_t standard_metadata) {
    action drop() { mark_to_drop(standard_metadata); }
    action forward(macAddr_t dstAddr, bit<9> port) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.srcAddr = hdr.ethernet.dstAddr;
        hdr.ethernet.dstAddr = dstAddr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table ipv4_lpm {
        key = { hdr.ipv4.dstAddr: lpm; }
        actions = { forward; drop; NoAction; }
        size = 1024;
        default_action = NoAction();
    }
    apply { if (hdr.ipv4.isValid()) { ipv4_lpm.apply(); } }
}
control MyEgress(inout headers hdr, inout metadata meta,
                 inout standard_metadata_t standard_metadata) {
    action mark_ecn() { hdr.ipv4.ecn = 3; }
    apply {
        if (hdr.ipv4.ecn == 1 || hdr.ipv4.ecn == 2) {
            if (standard_metadata.enq_qdepth >= ECN_THRESHOLD) { mark_ecn(); }
        }
    }
}
control MyComputeChecksum(inout headers hdr, inout metadata meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.ecn, hdr.ipv4.totalLen,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragOffset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.srcAddr, hdr.ipv4.dstAddr },
            hdr.ipv4.hdrChecksum, HashAlgorithm.csum16);
    }
}
control MyDeparser(packet_out packet, in headers hdr) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.ipv4); }
}
V1Switch(MyParser(), MyVerifyChecksum(), MyIngress(), MyEgress(), MyComputeChecksum(),
         MyDeparser()) main;
";
const VERIFY: &str = "verify_checksum(true, { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv,
    hdr.ipv4.ecn, hdr.ipv4.totalLen, hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragOffset,
    hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.srcAddr, hdr.ipv4.dstAddr },
    hdr.ipv4.hdrChecksum, HashAlgorithm.csum16);";

/// The Internet checksum of a header, with its own field as it is: 0 if that is right.
fn internet_sum(header: &[u8]) -> u16 {
    let words = header
        .chunks(2)
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}

#[test]
fn a_tutorial_s_program_marks_and_its_checksum_is_right() {
    let text = TUTORIAL.replace("VERIFY", VERIFY);
    let program = compile("ecn.p4", &text, &Defines::new(), &load);
    let program = program.unwrap_or_else(|e| panic!("{e}"));
    let field = |name: &str| program.field(&format!("switch.{name}")).expect(name);
    let depth = field("standard_metadata.enq_qdepth");
    let wrong = field("standard_metadata.checksum_error");
    let mut machine = Machine::new(std::sync::Arc::new(program));
    let mut packet = vec![0; 14];
    packet[12] = 8;
    packet.extend([
        0x45, 2, 0, 20, 0xff, 0xff, 0x40, 0, 64, 6, 0, 0, 255, 255, 255, 254, 10, 0, 0, 2,
    ]);
    let sum = internet_sum(&packet[14..]);
    packet[24..26].copy_from_slice(&sum.to_be_bytes());
    for (ecn, queued, left) in [(2, 9, 2), (2, 10, 3), (1, 10, 3), (0, 10, 0), (3, 10, 3)] {
        for damage in [0, 1] {
            let mut sent = packet.clone();
            sent[15] = ecn;
            sent[24..26].copy_from_slice(&[0, 0]);
            let sum = internet_sum(&sent[14..]);
            sent[24..26].copy_from_slice(&sum.to_be_bytes());
            sent[25] ^= damage;
            machine.begin(0);
            machine.set(depth, queued);
            let out = machine.run(0, &sent).expect("a packet");
            assert_eq!(machine.get(wrong), u128::from(damage), "{ecn} {queued}");
            assert_eq!(out[15] & 3, left, "{ecn} {queued}");
            assert_eq!(internet_sum(&out[14..34]), 0, "{ecn} {queued}: {out:?}");
        }
    }
}

#[test]
fn a_checksum_that_cannot_be_computed_is_refused() {
    let whole = TUTORIAL.replace("VERIFY", "");
    for (from, to, said) in [
        (
            "{ hdr.ipv4.version, hdr.ipv4.ihl,",
            "{ hdr.ipv4.ihl,",
            "whole 16-bit words",
        ),
        (
            "HashAlgorithm.csum16",
            "HashAlgorithm.crc16",
            "another algorithm",
        ),
        (
            "hdr.ipv4.hdrChecksum, Hash",
            "hdr.ipv4.ecn, Hash",
            "a checksum of bit<2>",
        ),
        (
            "update_checksum(",
            "update_checksum_with_payload(",
            "a payload is not read",
        ),
        ("hdr.ipv4.isValid(),", "hdr.ipv4.ttl,", "wants bool"),
    ] {
        let error = compile("ecn.p4", &whole.replace(from, to), &Defines::new(), &load);
        let error = error.map(drop).expect_err(to).to_string();
        assert!(error.contains(said), "{to}: {error}");
    }
}

/// Sizes at the ends of their ranges: refused with a place, or emitted. Nothing panics.
#[test]
fn sizes_of_nothing_and_of_too_much_are_refused() {
    let refused = |from: &str, to: &str| -> Option<String> {
        let text = sources::text(ECN_SHARP).expect("a program");
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        let program = compile(ECN_SHARP, &text, &Defines::new(), &load);
        let spec = program.and_then(|program| spec::emit(&program, Rounding::Nearest));
        spec.err().map(|e| e.to_string())
    };
    let no_entries = Some("a register of no entries");
    let too_wide = Some("does not fit into bit<32>");
    let no_size = Some("the size of a table is 1 to 4294967295");
    let register = "Register<clock_t, queue_t>(QUEUES,";
    let table = "        size = 1024;";
    for (from, size, said) in [
        (register, "0", no_entries),
        (register, "1", None),
        (register, "163840", None),
        (register, "4294967295", None),
        (register, "4294967296", too_wide),
        (register, "-1", too_wide),
        (table, "0", no_size),
        (table, "-1", no_size),
        (table, "4294967296", no_size),
        (table, "18446744073709551616", no_size),
        (table, "4294967295", None),
    ] {
        let to = from.replace("QUEUES", size).replace("1024", size);
        let came = refused(from, &to);
        match said {
            None => assert_eq!(came, None, "{to}"),
            Some(said) => assert!(came.as_ref().is_some_and(|c| c.contains(said)), "{came:?}"),
        }
    }
    // The bridged header.
    let text = sources::text(ECN_SHARP).expect("a program");
    let loader = |name: &str| Some(load(name)?.replace("bit<32> arrived;", "bit<31> arrived;"));
    let error = compile(ECN_SHARP, text, &Defines::new(), &loader).map(drop);
    let error = error.expect_err("31 bits").to_string();
    assert!(
        error.contains("`bridged_h` has 31 bits, no whole bytes"),
        "{error}"
    );
}
