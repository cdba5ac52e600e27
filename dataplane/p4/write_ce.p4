// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes Congestion Experienced. A packet that is not ECN-capable is left alone, and so is one that
// carries CE already.
//
// IPv4's checksum is updated (RFC 1624) and not computed again: a header that arrived damaged must
// not leave with a good checksum. ECT(0) to CE adds 1 to the header's first word, ECT(1) to CE
// adds 2, so that 1 or 2 are taken from the checksum in ones' complement: 1 more where that
// borrows. A Tofino does not subtract what an entry holds, so an entry holds the negative number.

control WriteCe(inout headers_t hdr, in bit<1> mark) {
    action ipv4(bit<16> more) {
        hdr.ipv4.ecn = 3;
        hdr.ipv4.checksum = hdr.ipv4.checksum + more;
    }

    action ipv6() {
        hdr.ipv6.ecn = 3;
    }

    table write_ipv4 {
        key = {
            mark : exact;
            hdr.ipv4.ecn : exact;
            hdr.ipv4.checksum : ternary;
        }
        actions = { ipv4; NoAction; }
        const default_action = NoAction();
        const entries = {
            (1, 2, 0) : ipv4(0xfffe);
            (1, 2, _) : ipv4(0xffff);
            (1, 1, 0) : ipv4(0xfffd);
            (1, 1, 1) : ipv4(0xfffd);
            (1, 1, _) : ipv4(0xfffe);
        }
        size = 5;
    }

    table write_ipv6 {
        key = {
            mark : exact;
            hdr.ipv6.ecn : exact;
        }
        actions = { ipv6; NoAction; }
        const default_action = NoAction();
        const entries = {
            (1, 1) : ipv6();
            (1, 2) : ipv6();
        }
        size = 2;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            write_ipv4.apply();
        } else if (hdr.ipv6.isValid()) {
            write_ipv6.apply();
        }
    }
}
