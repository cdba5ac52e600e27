/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The catalogue of marking schemes, for the qdisc and its tc plugin. Written by
 * CEMARK_WRITE=1 cargo test -p cemark-marking linux::
 */
#ifndef CEMARK_CATALOGUE_H
#define CEMARK_CATALOGUE_H

#include "catalogue_types.h"

#ifdef __KERNEL__
#include "cemark/cedm.h"
#include "cemark/cedm_sharp.h"
#include "cemark/codel.h"
#include "cemark/dynamic.h"
#include "cemark/ecn_sharp.h"
#include "cemark/mq_ecn.h"
#include "cemark/pi.h"
#include "cemark/pie.h"
#include "cemark/red.h"
#include "cemark/tcn.h"
#include "cemark/threshold.h"
#include "cemark/wred.h"
#endif

/* X(stem) for each scheme, in their order. */
#define CEMARK_SCHEMES(X) \
	X(threshold) \
	X(red) \
	X(tcn) \
	X(codel) \
	X(ecn_sharp) \
	X(mq_ecn) \
	X(cedm) \
	X(dynamic) \
	X(pie) \
	X(pi) \
	X(cedm_sharp) \
	X(wred)

static const struct cemark_param cemark_threshold_list[] = {
	{ "k", CEMARK_KIND_BYTES, 97500ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Threshold K (DCTCP 3.1; 65 packets of 1500 B at 10 Gb/s).") },
	{ "count_self", CEMARK_KIND_FLAG, 1ULL, 0ULL, 1ULL,
	  NULL,
	  CEMARK_DOC("Whether the length includes the judged packet (MQ-ECN's code: yes; "
		     "CEDM's switch: no).") },
	{ "cmp", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "strict at_least",
	  CEMARK_DOC("Mark above K (strict) or from K on (at_least).") },
	{ "hook", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "enqueue dequeue",
	  CEMARK_DOC("Judge packets as they join the queue (as most switches do) or as "
		     "they leave it.") },
	{ "scope", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 2ULL,
	  "queue port pool",
	  CEMARK_DOC("Compare the length of the queue, of the whole port or of the "
		     "service pool (MQ-ECN 2.2).") },
	{ "level", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "standard minimum",
	  CEMARK_DOC("K itself, or the queue's share of K by its weight among all queues "
		     "of the port, busy or not (MQ-ECN 2.2.2).") },
};

static const struct cemark_param cemark_red_list[] = {
	{ "kmin", CEMARK_KIND_BYTES, 7500ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Smoothed length from which on packets may be marked (Floyd's "
		     "advice: 5 packets).") },
	{ "kmax", CEMARK_KIND_BYTES, 22500ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Smoothed length from which on every packet is marked (Floyd's "
		     "advice: 3 x kmin).") },
	{ "pmax", CEMARK_KIND_FRACTION, 6554ULL, 0ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Probability just below kmax (Floyd's advice: 10 %; DCQCN: 1 %).") },
	{ "weight", CEMARK_KIND_FRACTION, 128ULL, 1ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Weight of the newest length in the average (Floyd: 0.002, here "
		     "1/512). 1: the instantaneous length, as DCQCN.") },
	{ "spacing", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "uniform independent",
	  CEMARK_DOC("Marks evenly spread (the paper's count, section 7) or each packet "
		     "drawn independently (switches, DCQCN).") },
	{ "count_self", CEMARK_KIND_FLAG, 0ULL, 0ULL, 1ULL,
	  NULL,
	  CEMARK_DOC("Whether the length includes the judged packet (the paper: no).") },
	{ "mean_pkt", CEMARK_KIND_BYTES, 1500ULL, 1ULL, 65535ULL,
	  NULL,
	  CEMARK_DOC("An idle queue ages as if packets of this size had been sent "
		     "meanwhile (the paper's s).") },
	{ "hook", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "enqueue dequeue",
	  CEMARK_DOC("Judge packets as they join the queue (the paper) or as they leave "
		     "it, by the bytes that stay behind (HPCC's simulator).") },
};

static const struct cemark_ordered cemark_red_ordered[] = {
	{ 0, 1, 0 },
};

static const struct cemark_param cemark_tcn_list[] = {
	{ "threshold", CEMARK_KIND_TIME, 150000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Longest sojourn time that is not marked (ECN# 5.4.3: 150 us).") },
};

static const struct cemark_param cemark_codel_list[] = {
	{ "target", CEMARK_KIND_TIME, 85000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Acceptable standing sojourn time (ECN# 5.2: 85 us; RFC 8289: 5 ms "
		     "on the Internet).") },
	{ "interval", CEMARK_KIND_TIME, 200000ULL, 1ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("How long the sojourn time must stay at or above the target: a "
		     "worst-case RTT (ECN# 5.2: 200 us; RFC 8289: 100 ms).") },
	{ "min_bytes", CEMARK_KIND_BYTES, 1500ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Never mark if this many bytes or fewer remain behind the packet: "
		     "one MTU (Linux). 0 turns this off.") },
};

static const struct cemark_param cemark_ecn_sharp_list[] = {
	{ "ins_target", CEMARK_KIND_TIME, 200000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Longest sojourn time that is not marked (3.2; testbed 5.2: 200 us).") },
	{ "pst_target", CEMARK_KIND_TIME, 85000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Sojourn time from which on the queue counts as persistent (3.2; "
		     "testbed 5.2: 85 us).") },
	{ "pst_interval", CEMARK_KIND_TIME, 200000ULL, 1ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Time until the first mark, about a worst-case RTT (3.2; testbed "
		     "5.2: 200 us).") },
	{ "signal", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "sojourn length",
	  CEMARK_DOC("Sojourn times, or lengths against rate x target (3.5).") },
	{ "hook", CEMARK_KIND_CHOICE, 1ULL, 0ULL, 1ULL,
	  "enqueue dequeue",
	  CEMARK_DOC("Judge departures, or arrivals by the length that they find (3.5).") },
	{ "instant", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "step ramp",
	  CEMARK_DOC("A step at ins_target, or RED's ramp (3.5, for DCQCN).") },
	{ "kmin", CEMARK_KIND_TIME, 5000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Lower end of the ramp, as a time.") },
	{ "kmax", CEMARK_KIND_TIME, 200000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Upper end; above it every packet is marked.") },
	{ "pmax", CEMARK_KIND_FRACTION, 655ULL, 0ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Probability there (DCQCN: 1 %; 3.5: 1).") },
};

static const struct cemark_ordered cemark_ecn_sharp_ordered[] = {
	{ 6, 7, 0 },
};

static const struct cemark_param cemark_mq_ecn_list[] = {
	{ "k", CEMARK_KIND_BYTES, 97500ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Standard threshold C x RTT x lambda (2.1; 65 packets at 10 Gb/s in "
		     "5.2).") },
	{ "shape", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "step ramp",
	  CEMARK_DOC("A step at k, or RED's ramp with Kmin, Kmax and Pmax all scaled "
		     "(3.4, for DCQCN).") },
	{ "kmin", CEMARK_KIND_BYTES, 5000ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Lower end of the ramp at the full rate (DCQCN: 5 KB at 40 Gb/s).") },
	{ "kmax", CEMARK_KIND_BYTES, 200000ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Upper end of the ramp at the full rate; above it every packet is "
		     "marked (DCQCN: 200 KB at 40 Gb/s).") },
	{ "pmax", CEMARK_KIND_FRACTION, 655ULL, 0ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Probability at the upper end of the ramp at the full rate (DCQCN: 1 "
		     "%).") },
	{ "count_self", CEMARK_KIND_FLAG, 1ULL, 0ULL, 1ULL,
	  NULL,
	  CEMARK_DOC("Whether the length includes the judged packet (the authors' code: "
		     "yes).") },
	{ "cmp", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "strict at_least",
	  CEMARK_DOC("Mark above the threshold (the authors' code) or from it on.") },
	{ "hook", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "enqueue dequeue",
	  CEMARK_DOC("Judge packets as they join the queue (the authors' code) or as they "
		     "leave it.") },
	{ "period", CEMARK_KIND_TIME, 0ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Average the port's round once per period, as a switch chip would "
		     "(4.1: about the time of one MTU). 0: use the port's own average.") },
	{ "beta", CEMARK_KIND_FRACTION, 49152ULL, 0ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Weight of the old average if there is a period (3.3.1; 0.75 in "
		     "section 5).") },
};

static const struct cemark_ordered cemark_mq_ecn_ordered[] = {
	{ 2, 3, 0 },
};

static const struct cemark_param cemark_cedm_list[] = {
	{ "k1", CEMARK_KIND_BYTES, 21000ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Lower threshold, 0.17 x rate x RTT for DCTCP (14 packets at 10 Gb/s "
		     "and 100 us).") },
	{ "k2", CEMARK_KIND_BYTES, 0ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Upper threshold. 0: the authors' rule k1 + (k1 + rate x rtt) / 4, "
		     "which is k1 and one oscillation (57.5 KB).") },
	{ "rtt", CEMARK_KIND_TIME, 100000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Base round-trip time in the rule for k2 (the authors' switch: 100 "
		     "us).") },
	{ "parts", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 2ULL,
	  "both slope thresholds",
	  CEMARK_DOC("Ablation: the whole scheme, the slope without k2, or the two "
		     "thresholds with every queue taken as growing.") },
	{ "withdraw", CEMARK_KIND_FLAG, 1ULL, 0ULL, 1ULL,
	  NULL,
	  CEMARK_DOC("Whether a tentative mark is reconsidered as the packet leaves "
		     "(ablation: false marks at enqueue only).") },
	{ "mark_at_dequeue", CEMARK_KIND_FLAG, 0ULL, 0ULL, 1ULL,
	  NULL,
	  CEMARK_DOC("Whether a packet that leaves k2 or more behind is marked too (the "
		     "authors' switch: yes; the slides: no).") },
	{ "cmp", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "strict at_least",
	  CEMARK_DOC("Marked without reconsideration above k2 (slides) or from k2 on (the "
		     "authors' switch).") },
	{ "weight", CEMARK_KIND_FRACTION, 8454ULL, 1ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Weight of the newest slope in its average (the authors' switch: "
		     "0.129).") },
	{ "min_pkt", CEMARK_KIND_BYTES, 800ULL, 0ULL, 65535ULL,
	  NULL,
	  CEMARK_DOC("Only larger packets measure the slope as they leave (the authors' "
		     "switch: 800 B).") },
	{ "flat", CEMARK_KIND_FLAG, 1ULL, 0ULL, 1ULL,
	  NULL,
	  CEMARK_DOC("Whether a departure that leaves as many bytes behind as the last "
		     "one measures a slope of zero (the authors' switch: yes) or nothing "
		     "(their ns-2: no).") },
	{ "signal", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "instant average",
	  CEMARK_DOC("Ablation: whether lengths are the instantaneous one or a moving "
		     "average over arrivals and departures.") },
	{ "avg_weight", CEMARK_KIND_FRACTION, 128ULL, 1ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Weight of the newest length in the moving average (RED's usual "
		     "1/512).") },
};

static const struct cemark_ordered cemark_cedm_ordered[] = {
	{ 0, 1, 1 },
};

static const struct cemark_param cemark_dynamic_list[] = {
	{ "mode", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "offset percent",
	  CEMARK_DOC("The threshold is the limit less an offset, or a ramp between two "
		     "percentages of the limit.") },
	{ "offset", CEMARK_KIND_BYTES, 150000ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("How far below the limit marking begins (our choice: 100 packets, a "
		     "burst that fits before the first drop).") },
	{ "floor", CEMARK_KIND_BYTES, 97500ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Smallest dynamic threshold, however small the limit (our choice: "
		     "DCTCP's 65 packets at 10 Gb/s).") },
	{ "min_percent", CEMARK_KIND_FRACTION, 13107ULL, 0ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Lower end of the ramp as a fraction of the limit (Cumulus Linux's "
		     "example: 20 %).") },
	{ "max_percent", CEMARK_KIND_FRACTION, 52429ULL, 0ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Upper end of the ramp as a fraction of the limit; above it every "
		     "packet is marked (Cumulus Linux's example: 80 %).") },
	{ "pmax", CEMARK_KIND_FRACTION, 65536ULL, 0ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Probability at the upper end of the ramp (Cumulus Linux: 100 %).") },
	{ "k", CEMARK_KIND_BYTES, 4294967295ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("A static threshold beside the dynamic one; either marks. The "
		     "default is none.") },
	{ "count_self", CEMARK_KIND_FLAG, 1ULL, 0ULL, 1ULL,
	  NULL,
	  CEMARK_DOC("Whether the length includes the judged packet.") },
	{ "cmp", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "strict at_least",
	  CEMARK_DOC("Mark above a threshold (strict) or from it on (at_least).") },
	{ "hook", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "enqueue dequeue",
	  CEMARK_DOC("Judge packets as they join the queue or as they leave it.") },
	{ "off_offset", CEMARK_KIND_BYTES, 0ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("How far below the limit marking by the offset ends once it has "
		     "begun (OcNOS's off offset). 0: where it begins.") },
};

static const struct cemark_ordered cemark_dynamic_ordered[] = {
	{ 3, 4, 0 },
	{ 1, 10, 1 },
};

static const struct cemark_param cemark_pie_list[] = {
	{ "target", CEMARK_KIND_TIME, 15000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Delay at which the queue is to settle, QDELAY_REF (RFC 8033: 15 ms; "
		     "here a thousandth, as RTTs are).") },
	{ "t_update", CEMARK_KIND_TIME, 15000ULL, 1ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Time between two updates, T_UPDATE (RFC 8033: 15 ms; here a "
		     "thousandth).") },
	{ "alpha", CEMARK_KIND_COUNT, 2000ULL, 0ULL, 65535ULL,
	  NULL,
	  CEMARK_DOC("Gain of the deviation from the target in sixteenths per second (RFC "
		     "8033: 1/8, that is 2; here a thousandfold).") },
	{ "beta", CEMARK_KIND_COUNT, 20000ULL, 0ULL, 65535ULL,
	  NULL,
	  CEMARK_DOC("Gain of the change of the delay in sixteenths per second (RFC 8033: "
		     "5/4, that is 20; here a thousandfold).") },
	{ "max_burst", CEMARK_KIND_TIME, 150000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("How long a burst after a quiet time is not marked, MAX_BURST (RFC "
		     "8033: 150 ms; here a thousandth).") },
	{ "mark_ecnth", CEMARK_KIND_FRACTION, 6554ULL, 0ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Probability from which on packets are dropped, ECN-capable or not "
		     "(5.1: 10 %). 1: always mark.") },
	{ "tuning", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "rfc paper",
	  CEMARK_DOC("How steps shrink while the probability is small: RFC 8033's seven "
		     "ranges (4.2), or the paper's three.") },
	{ "cap", CEMARK_KIND_FLAG, 1ULL, 0ULL, 1ULL,
	  NULL,
	  CEMARK_DOC("Whether a step is at most 2 % once the probability is 10 % (5.5).") },
	{ "delay", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "length sojourn",
	  CEMARK_DOC("The delay is the length over the link's rate (Little's law), or the "
		     "sojourn time of the last packet that left.") },
	{ "mean_pkt", CEMARK_KIND_BYTES, 1500ULL, 0ULL, 65535ULL,
	  NULL,
	  CEMARK_DOC("While at most two packets of this size are in the queue, none is "
		     "marked (4.1).") },
};

static const struct cemark_param cemark_pi_list[] = {
	{ "qref", CEMARK_KIND_BYTES, 30000ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Length at which the queue is to settle (our choice: 20 packets; the "
		     "paper: 200).") },
	{ "interval", CEMARK_KIND_TIME, 20000ULL, 1ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Time between two samples of the length (the paper: 1/160 s at an "
		     "RTT of 246 ms; here a fifth of 100 us).") },
	{ "a", CEMARK_KIND_COUNT, 336521ULL, 0ULL, 268435456ULL,
	  NULL,
	  CEMARK_DOC("Gain of the newest deviation, in parts of 2^40 per byte (the "
		     "paper's rule at 10 Gb/s, 8 flows, 100 us).") },
	{ "b", CEMARK_KIND_COUNT, 323842ULL, 0ULL, 268435456ULL,
	  NULL,
	  CEMARK_DOC("Gain of the previous deviation, which is subtracted, in parts of "
		     "2^40 per byte; smaller than a.") },
};

static const struct cemark_param cemark_cedm_sharp_list[] = {
	{ "k1", CEMARK_KIND_BYTES, 250000ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("CEDM's lower threshold (our choice: ECN#'s ins_target of 200 us at "
		     "10 Gb/s).") },
	{ "k2", CEMARK_KIND_BYTES, 0ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("CEDM's upper threshold. 0: k1 + (k1 + rate x rtt) / 4 (375 KB).") },
	{ "rtt", CEMARK_KIND_TIME, 200000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Base round-trip time in the rule for k2 (our choice: the tail that "
		     "ECN# is set for).") },
	{ "pst_target", CEMARK_KIND_TIME, 85000ULL, 0ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("Sojourn time from which on the queue counts as persistent (ECN# "
		     "3.2; testbed 5.2: 85 us).") },
	{ "pst_interval", CEMARK_KIND_TIME, 200000ULL, 1ULL, 1000000000ULL,
	  NULL,
	  CEMARK_DOC("How long the queue must be persistent before the first mark (ECN# "
		     "3.2; testbed 5.2: 200 us).") },
};

static const struct cemark_ordered cemark_cedm_sharp_ordered[] = {
	{ 0, 1, 1 },
};

static const struct cemark_param cemark_wred_list[] = {
	{ "min", CEMARK_KIND_BYTES, 150000ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Length up to which no packet is marked (Cumulus Linux: 150 KB).") },
	{ "max", CEMARK_KIND_BYTES, 1500000ULL, 0ULL, 4294967295ULL,
	  NULL,
	  CEMARK_DOC("Length at which the probability reaches drop_probability; above it "
		     "every packet is marked (Cumulus Linux: 1500 KB).") },
	{ "drop_probability", CEMARK_KIND_FRACTION, 65536ULL, 0ULL, 65536ULL,
	  NULL,
	  CEMARK_DOC("Probability of a mark at max (SAI, Cumulus Linux: 100 %; SONiC's "
		     "AZURE_LOSSLESS: 5 %).") },
	{ "weight", CEMARK_KIND_COUNT, 0ULL, 0ULL, 15ULL,
	  NULL,
	  CEMARK_DOC("n: the newest length counts 2^-n in the average. 0: the length "
		     "itself (SAI's default, and DCTCP's advice).") },
	{ "hook", CEMARK_KIND_CHOICE, 0ULL, 0ULL, 1ULL,
	  "enqueue dequeue",
	  CEMARK_DOC("Judge packets as they join the queue (Cisco, Dell) or as they leave "
		     "it, by the bytes that stay behind (SONiC's test plan, HPCC's "
		     "simulator).") },
};

static const struct cemark_ordered cemark_wred_ordered[] = {
	{ 0, 1, 0 },
};

static const struct cemark_scheme cemark_catalogue[] = {
	{
		"threshold", "DCTCP-RED", "step",
		CEMARK_DOC("Marks a packet when the instantaneous queue length exceeds one "
			   "threshold."),
		6, 0, cemark_threshold_list, NULL,
	},
	{
		"red", "RED", "",
		CEMARK_DOC("Marks with a probability that rises from kmin to kmax of the "
			   "smoothed queue length, and always from kmax on."),
		8, 1, cemark_red_list, cemark_red_ordered,
	},
	{
		"tcn", "TCN", "latency_ecn sojourn",
		CEMARK_DOC("Marks a packet at dequeue if its sojourn time exceeds one threshold."),
		1, 0, cemark_tcn_list, NULL,
	},
	{
		"codel", "CoDel", "codel_ecn",
		CEMARK_DOC("Marks at an increasing rate once the sojourn time has stayed at or "
			   "above the target for an interval."),
		3, 0, cemark_codel_list, NULL,
	},
	{
		"ecn_sharp", "ECN#", "ecnsharp",
		CEMARK_DOC("Marks a packet whose sojourn time exceeds ins_target, and one "
			   "packet at increasing frequency while it has stayed at or above "
			   "pst_target for pst_interval."),
		9, 1, cemark_ecn_sharp_list, cemark_ecn_sharp_ordered,
	},
	{
		"mq_ecn", "MQ-ECN", "mqecn",
		CEMARK_DOC("Marks above a queue's share of the standard threshold: K x "
			   "min(quantum time / round time, 1)."),
		10, 1, cemark_mq_ecn_list, cemark_mq_ecn_ordered,
	},
	{
		"cedm", "CEDM", "slope_ecn",
		CEMARK_DOC("Marks above k2, and from k1 on while the queue grows, unless it "
			   "shrinks again before the packet leaves."),
		12, 1, cemark_cedm_list, cemark_cedm_ordered,
	},
	{
		"dynamic", "D-ECN", "dynamic_ecn relative_ecn",
		CEMARK_DOC("Marks above a threshold that follows the queue's dynamic buffer "
			   "limit: an offset below it, or a percentage of it."),
		11, 2, cemark_dynamic_list, cemark_dynamic_ordered,
	},
	{
		"pie", "PIE", "rfc8033",
		CEMARK_DOC("Marks with a probability that rises while the queueing delay is "
			   "above its target or growing, and drops packets once that "
			   "probability is high."),
		10, 0, cemark_pie_list, NULL,
	},
	{
		"pi", "PI", "pi_aqm",
		CEMARK_DOC("Marks with a probability that is updated at fixed intervals from "
			   "how far the queue is, and was, from its reference length."),
		4, 0, cemark_pi_list, NULL,
	},
	{
		"cedm_sharp", "CEDM x ECN#", "cedm_ecn_sharp",
		CEMARK_DOC("Marks where CEDM does, and like ECN# one packet at increasing "
			   "frequency while the sojourn time stays at or above pst_target."),
		5, 1, cemark_cedm_sharp_list, cemark_cedm_sharp_ordered,
	},
	{
		"wred", "WRED", "random_detect",
		CEMARK_DOC("Marks each packet independently with a probability that rises from "
			   "min to max of the queue length, and every packet above max."),
		5, 1, cemark_wred_list, cemark_wred_ordered,
	},
};

#define CEMARK_N_SCHEMES 12

#endif
