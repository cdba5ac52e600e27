// SPDX-License-Identifier: MIT OR Apache-2.0
// ECN# for a Tofino (TNA): Algorithm 1 of Zhang et al., Enabling ECN for Datacenter Networks with
// RTT Variations, CoNEXT 2019, with the three devices of its section 4: a 32-bit clock made of a
// 64-bit one (Algorithm 2), tables in place of branches so that each register is accessed once
// (Figure 5), and the division by a table (Algorithm 3). Both listings are corrected; the page
// docs/schemes/ecn_sharp.md says what is wrong with them.
//
// Times are ticks of 1,024 ns, sojourn times and targets nanoseconds. The interval is a constant of
// the program, since a math unit's table cannot be changed at run time; `control::Interval` in
// crates/p4 makes the constants of another one. The targets are entries of the table `targets`.

#include <core.p4>
#include <tna.p4>
#include "headers.p4"
#include "switch.p4"
#include "write_ce.p4"

// Registers are arrays of 128 ports of 8 queues.
const bit<32> QUEUES = 1024;
typedef bit<10> queue_t;

#ifndef INS_TARGET
#define INS_TARGET 200000
#define PST_TARGET 85000
#endif

// 200 us are 195 ticks. An entry is 195 * 4 / i to the nearest, for i from 15 down to 8; its power
// of two is -2, and 3 for the three bits behind the first one of an index. From the count
// LAST_COUNT on the gap is one tick.
#ifndef PST_INTERVAL
#define PST_INTERVAL 195
#define GAP_SCALE 1
#define GAP_TABLE 52, 56, 60, 65, 71, 78, 87, 98
#define LAST_COUNT 415
#endif

struct clock_t {
    bit<32> low;
    bit<32> wraps;
}

struct since_t {
    bit<32> time;
    bit<32> above;
}

// `count` is one more than the marks of this marking state, so that it divides the interval when
// the next one is due.
struct schedule_t {
    bit<32> next;
    bit<32> count;
}

control EcnSharp(in queue_t queue, in bit<32> arrived, in bit<48> timestamp, out bit<2> why,
                 out bit<1> marked) {
    bit<32> ins_target;
    bit<32> pst_target;
    bit<32> waited;
    bit<32> low = 0;
    bit<32> over;
    bit<32> under;
    bit<32> now = 0;
    bit<32> earlier;
    bit<32> later = 0;
    bit<32> since;
    bit<32> late;
    bit<1> persistent = 0;
    bit<8> marking = 0;
    bit<1> due = 0;

    // The targets of a queue.

    action set_targets(bit<32> ins, bit<32> pst) {
        ins_target = ins;
        pst_target = pst;
    }

    table targets {
        key = { queue : exact; }
        actions = { set_targets; }
        default_action = set_targets(INS_TARGET, PST_TARGET);
        size = 1024;
    }

    // Algorithm 2: 22 bits of the timestamp, above them ten bits that count its wraps. Strictly
    // less: two packets in one tick are no wrap.

    Register<clock_t, queue_t>(QUEUES, {0, 0}) clock;
    RegisterAction<clock_t, queue_t, bit<32>>(clock) read_clock = {
        void apply(inout clock_t value, out bit<32> wraps) {
            if (low < value.low) {
                value.wraps = value.wraps + 0x400000;
            }
            value.low = low;
            wraps = value.wraps;
        }
    };

    // Since when the sojourn time has been at or above the lower target.

    Register<since_t, queue_t>(QUEUES, {0, 0}) first_above;
    RegisterAction<since_t, queue_t, bit<32>>(first_above) stay_above = {
        void apply(inout since_t value, out bit<32> time) {
            if (value.above == 0) {
                value.time = now;
            }
            value.above = 1;
            time = value.time;
        }
    };
    RegisterAction<since_t, queue_t, bit<32>>(first_above) fall_below = {
        void apply(inout since_t value, out bit<32> time) {
            value.above = 0;
            time = value.time;
        }
    };

    action above() {
        since = stay_above.execute(queue);
    }

    action below() {
        since = fall_below.execute(queue);
    }

    // A default action cannot access a register by an index of the packet, an entry can.
    table detect {
        key = { under : ternary; }
        actions = { above; below; NoAction; }
        const default_action = NoAction();
        const entries = {
            0 : above();
            _ : below();
        }
        size = 2;
    }

    // Whether the queue is persistent, and whether it was so at the packet before.

    Register<bit<8>, queue_t>(QUEUES, 0) marking_state;
    RegisterAction<bit<8>, queue_t, bit<8>>(marking_state) enter = {
        void apply(inout bit<8> value, out bit<8> before) {
            before = value;
            value = 1;
        }
    };
    RegisterAction<bit<8>, queue_t, bit<8>>(marking_state) leave = {
        void apply(inout bit<8> value, out bit<8> before) {
            before = value;
            value = 0;
        }
    };

    action is_persistent() {
        persistent = 1;
        marking = enter.execute(queue);
    }

    action is_not() {
        marking = leave.execute(queue);
    }

    // Late by more than zero ticks, as a signed number.
    table persistence {
        key = {
            under : ternary;
            late : ternary;
        }
        actions = { is_persistent; is_not; NoAction; }
        const default_action = NoAction();
        const entries = {
            (0, 0) : is_not();
            (0, 0x80000000 &&& 0x80000000) : is_not();
            (0, _) : is_persistent();
            (_, _) : is_not();
        }
        size = 4;
    }

    // When the next mark is due. Algorithm 3 is the math unit.

    MathUnit<bit<32>>(true, 0, GAP_SCALE, {GAP_TABLE, 0, 0, 0, 0, 0, 0, 0, 0}) gap;

    Register<schedule_t, queue_t>(QUEUES, {0, 0}) schedule;
    RegisterAction<schedule_t, queue_t, bit<1>>(schedule) first_mark = {
        void apply(inout schedule_t value, out bit<1> mark) {
            value.next = later;
            value.count = 2;
            mark = 1;
        }
    };
    RegisterAction<schedule_t, queue_t, bit<1>>(schedule) next_mark = {
        void apply(inout schedule_t value, out bit<1> mark) {
            mark = 0;
            if ((int<32>)(now - value.next) > 0) {
                value.next = value.next + gap.execute(value.count);
                if (value.count < LAST_COUNT) {
                    value.count = value.count + 1;
                }
                mark = 1;
            }
        }
    };

    action start_marking() {
        due = first_mark.execute(queue);
    }

    action continue_marking() {
        due = next_mark.execute(queue);
    }

    table mark {
        key = {
            persistent : exact;
            marking : exact;
        }
        actions = { start_marking; continue_marking; NoAction; }
        const default_action = NoAction();
        const entries = {
            (1, 0) : start_marking();
            (1, 1) : continue_marking();
        }
        size = 2;
    }

    // Either condition marks.

    action decide(bit<2> reason, bit<1> ce) {
        why = reason;
        marked = ce;
    }

    table verdict {
        key = {
            over : ternary;
            due : exact;
        }
        actions = { decide; }
        const default_action = decide(1, 1);
        const entries = {
            (0, 0) : decide(0, 0);
            (0, 1) : decide(2, 1);
        }
        size = 2;
    }

    // The steps of `apply`. An action takes one stage, so that an operation on the result of another
    // is in an action of its own.

    action measure() {
        waited = timestamp[31:0] - arrived;
        low = (bit<32>)timestamp[31:10];
    }

    action compare() {
        over = waited |-| ins_target;
        under = pst_target |-| waited;
    }

    action advance() {
        now = read_clock.execute(queue);
    }

    action join() {
        now = now | low;
    }

    action around() {
        earlier = now - PST_INTERVAL;
        later = now + PST_INTERVAL;
    }

    action lateness() {
        late = earlier - since;
    }

    apply {
        targets.apply();
        measure();
        compare();
        advance();
        join();
        around();
        detect.apply();
        lateness();
        persistence.apply();
        mark.apply();
        verdict.apply();
    }
}

control Egress(inout headers_t hdr, inout metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    EcnSharp() ecn_sharp;
    WriteCe() write_ce;
    bit<1> marked = 0;

    apply {
        ecn_sharp.apply(eg_intr_md.egress_port[6:0] ++ eg_intr_md.egress_qid[2:0],
                        hdr.bridged.arrived, eg_prsr_md.global_tstamp, md.why, marked);
        write_ce.apply(hdr, marked);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
