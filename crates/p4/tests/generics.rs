// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parsers and controls with type parameters, as the examples for the Tofino have them.

use cemark_p4::ir::StmtKind;
use cemark_p4::{Defines, compile};

const BLOCKS: &str = "
    #include <tna.p4>
    header ethernet_t { bit<48> to; bit<48> from; bit<16> type; }
    header other_t { bit<8> x; }
    struct headers_t { ethernet_t ethernet; }
    struct others_t { other_t other; }
    struct meta_t { bit<8> m; }
    parser IP(packet_in p, out headers_t h, out meta_t m, out ingress_intrinsic_metadata_t i) {
        state start { p.extract(i); p.extract(h.ethernet); transition accept; }
    }
    control IC(inout headers_t h, inout meta_t m, in ingress_intrinsic_metadata_t i,
        in ingress_intrinsic_metadata_from_parser_t f,
        inout ingress_intrinsic_metadata_for_deparser_t d,
        inout ingress_intrinsic_metadata_for_tm_t t) { apply { } }
    control ID<H, M>(packet_out p, inout H h, in M m,
        in ingress_intrinsic_metadata_for_deparser_t d) { apply { p.emit(h); } }
    parser EP<H, M>(packet_in p, out H h, out M m, out egress_intrinsic_metadata_t e) {
        state start { p.extract(e); transition accept; }
    }
    control EC<H, M>(inout H h, inout M m, in egress_intrinsic_metadata_t e,
        in egress_intrinsic_metadata_from_parser_t f,
        inout egress_intrinsic_metadata_for_deparser_t d,
        inout egress_intrinsic_metadata_for_output_port_t o) { apply { } }
    control ED<H, M>(packet_out p, inout H h, in M m,
        in egress_intrinsic_metadata_for_deparser_t d) { apply { p.emit(h); } }
    Pipeline(IP(), IC(), ID(), EP(), EC(), ED()) pipe;
    Switch(pipe) main;
";

#[test]
fn a_type_parameter_stands_for_what_the_other_blocks_have_there() {
    // Files from Windows have another end of lines.
    for text in [BLOCKS.to_owned(), BLOCKS.replace('\n', "\r\n")] {
        let program = compile("a.p4", &text, &Defines::new(), &|_| None);
        let program = program.unwrap_or_else(|e| panic!("{e}"));
        let emitted = |gress: usize| -> Vec<&str> {
            let deparser = &program.gresses[gress].deparser;
            deparser
                .iter()
                .map(|stmt| match stmt.kind {
                    StmtKind::Emit(header) => program.headers[header].name.as_str(),
                    _ => panic!("{stmt:?}"),
                })
                .collect()
        };
        assert_eq!(emitted(0), ["ingress.h.ethernet"]);
        // Nothing but type parameters: there is nothing in them.
        assert_eq!(emitted(1), [""; 0]);
    }
}

#[test]
fn a_member_of_a_type_parameter_is_refused_at_its_place() {
    let text = BLOCKS.replace(
        "{ p.emit(h); } }\n    parser",
        "{ p.emit(h.ethernet.to); } }\n    parser",
    );
    let error = compile("a.p4", &text, &Defines::new(), &|_| None).expect_err("wrong");
    assert!(error.to_string().starts_with("a.p4:16:"), "{error}");
}
