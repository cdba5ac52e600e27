// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One scheme of the catalogue as programs for a clsact qdisc:
 *
 *   cemark     judges the packets that a device sends
 *   cemark_at  the same with the packet's time stamp in place of the clock
 *   test_...   the functions of the marker one by one, on a block that is in the packet
 *
 * The last two are for tests, which run them by BPF_PROG_TEST_RUN.
 *
 *   clang -target bpf -g -DCEMARK_STEM=red '-DCEMARK_HEADER="cemark/red.h"' -I include -c marker.c
 */
#include CEMARK_HEADER

#include "cemark/fixed.h"
#include "cemark/marker.h"

#include "bpf.h"
#include "virtual_queue.h"

char cemark_license[] __attribute__((section("license"), used)) = "Dual MIT/GPL";

/* The functions of the marker become part of the programs here. */
#undef CEMARK_ENTRY
#undef CEMARK_NAME_
#define CEMARK_ENTRY(hook) CEMARK_FN u32 cemark_call_##hook(struct cemark_call *call)
#define CEMARK_NAME_(stem) struct cemark_no_name
CEMARK_MARKER(CEMARK_STEM);

CEMARK_ONE_VALUE(cemark_config, struct cemark_tc_config);
CEMARK_ONE_VALUE(cemark_queue, struct cemark_tc_queue);

CEMARK_FN struct cemark_tc_queue *cemark_tc_queue(void)
{
	u32 first = 0;

	return bpf_map_lookup_elem(&cemark_queue, &first);
}

/* The ECN field; that of a packet that is not IP counts as not ECN-capable. */
CEMARK_FN u8 cemark_tc_ecn(const struct __sk_buff *skb)
{
	u8 head[2] = {};

	if (skb->protocol == __builtin_bswap16(0x0800)) {
		bpf_skb_load_bytes_relative(skb, 0, head, 2, BPF_HDR_START_NET);
		return head[1] & 3;
	}
	if (skb->protocol == __builtin_bswap16(0x86dd)) {
		bpf_skb_load_bytes_relative(skb, 0, head, 2, BPF_HDR_START_NET);
		return head[1] >> 4 & 3;
	}
	return CEMARK_NOT_ECT;
}

/* What the marker sees of a packet that arrives now and would start on the link at `start`. */
CEMARK_FN void cemark_tc_look(struct cemark_tc_queue *q, u64 now, u64 start, u32 bytes, u32 segs,
			      u8 ecn)
{
	struct cemark_at *at = &q->call.at;
	u32 found = cemark_tc_bytes(q, start - now);

	at->now = now;
	at->sojourn = 0;
	at->round = 0;
	at->salt = cemark_mix(q->seed + q->number++);
	at->pkt_bytes = bytes;
	at->segs = segs ? segs : 1;
	at->ecn = ecn;
	at->intent = CEMARK_NO_INTENT;
	at->queue_bytes = found;
	at->queue_pkts = found / 1500;
	at->port_bytes = found;
	at->pool_bytes = found;
	at->limit_bytes = CEMARK_U32_MAX;
}

/* What is done with a packet. */
enum cemark_tc_fate {
	CEMARK_TC_PASSES,
	CEMARK_TC_IS_MARKED,
	CEMARK_TC_IS_DROPPED,
};

CEMARK_FN enum cemark_tc_fate cemark_tc_fate(struct cemark_tc_queue *q, u32 verdict, u8 ecn)
{
	switch (verdict & 0xff) {
	case CEMARK_PASS:
		return CEMARK_TC_PASSES;
	case CEMARK_MARK(0):
		if (ecn != CEMARK_NOT_ECT)
			return CEMARK_TC_IS_MARKED;
		if (!q->not_ect_drop) {
			q->counts.spared++;
			return CEMARK_TC_PASSES;
		}
		q->counts.dropped++;
		return CEMARK_TC_IS_DROPPED;
	default:
		q->counts.dropped++;
		return CEMARK_TC_IS_DROPPED;
	}
}

/*
 * Judges a packet and counts it, except for its mark, which is not written yet. `why` is the mark's
 * reason. The packet joins the virtual queue unless it is dropped.
 */
CEMARK_FN enum cemark_tc_fate cemark_tc_judge(struct cemark_tc_queue *q, u64 now, u32 bytes,
					      u32 segs, u8 ecn, u32 *why)
{
	enum cemark_tc_fate fate;
	u32 verdict = CEMARK_PASS;
	u64 start, wait;

	/* Another processor may have read the clock later and come first. */
	if (now < q->seen)
		now = q->seen;
	q->seen = now;
	start = q->busy > now ? q->busy : now;
	if (q->waiting && q->left <= now) {
		q->waiting = 0;
		if (q->traits & CEMARK_WATCHES_EMPTY) {
			q->call.now = q->left;
			cemark_call_emptied(&q->call);
		}
	}
	wait = start - now;
	cemark_tc_look(q, now, start, bytes, segs, ecn);
	if (q->traits & CEMARK_AT_ENQUEUE)
		verdict = cemark_call_enqueue(&q->call);
	if (q->traits & CEMARK_AT_DEQUEUE) {
		q->call.at.now = start;
		q->call.at.sojourn = wait;
		verdict = cemark_call_dequeue(&q->call);
	}
	*why = verdict >> 8;
	fate = cemark_tc_fate(q, verdict, ecn);
	if (fate == CEMARK_TC_IS_DROPPED)
		return fate;
	q->counts.packets++;
	q->counts.bytes += bytes;
	q->counts.waited += wait;
	if (wait > q->counts.longest)
		q->counts.longest = wait;
	if (wait > q->limit)
		q->counts.full++;
	else
		cemark_tc_send(q, start, bytes);
	return fate;
}

/* Puts the configuration into effect where it has changed. */
CEMARK_FN void cemark_tc_configure(struct cemark_tc_queue *q, const struct cemark_tc_config *c)
{
	u64 old = q->generation;

	if (c->generation == old)
		return;
	for (int i = 0; i < CEMARK_MAX_PARAMS; i++)
		q->call.values[i] = c->values[i];
	q->call.queue = c->queue;
	q->limit = c->limit;
	q->seed = c->seed;
	q->not_ect_drop = c->not_ect_drop;
	if (old)
		cemark_call_retune(&q->call);
	else
		cemark_call_build(&q->call);
	q->traits = cemark_call_traits(&q->call);
	q->generation = c->generation;
}

CEMARK_FN int cemark_tc_egress(struct __sk_buff *skb, u64 now)
{
	struct cemark_tc_queue *q = cemark_tc_queue();
	u32 first = 0;
	const struct cemark_tc_config *c = bpf_map_lookup_elem(&cemark_config, &first);
	u8 ecn = cemark_tc_ecn(skb);
	u32 bytes = skb->wire_len, segs = skb->gso_segs;
	enum cemark_tc_fate fate;
	u32 why = 0;

	if (!q || !c || !c->generation)
		return TC_ACT_UNSPEC;
	bpf_spin_lock(&q->lock);
	cemark_tc_configure(q, c);
	fate = cemark_tc_judge(q, now, bytes, segs, ecn, &why);
	bpf_spin_unlock(&q->lock);
	if (fate == CEMARK_TC_IS_DROPPED)
		return TC_ACT_SHOT;
	if (fate == CEMARK_TC_PASSES)
		return TC_ACT_UNSPEC;
	/* No helper may be called under the lock. The kernel does not write to shared packets. */
	if (bpf_skb_ecn_set_ce(skb) != 1)
		__sync_fetch_and_add(&q->counts.failed, 1);
	else if (why < 6)
		__sync_fetch_and_add(&q->counts.marks[why], 1);
	return TC_ACT_UNSPEC;
}

CEMARK_PROGRAM(cemark)
{
	return cemark_tc_egress(skb, bpf_ktime_get_ns());
}

CEMARK_PROGRAM(cemark_at)
{
	return cemark_tc_egress(skb, skb->tstamp);
}

/* The functions of the marker: their block is behind the packet's Ethernet header, in and out. */
#define CEMARK_TEST(hook)                                                              \
	CEMARK_PROGRAM(test_##hook)                                                    \
	{                                                                              \
		struct cemark_tc_queue *q = cemark_tc_queue();                         \
		u32 answer;                                                            \
										       \
		if (!q || bpf_skb_load_bytes(skb, 14, &q->call, sizeof(q->call)))      \
			return -1;                                                     \
		bpf_spin_lock(&q->lock);                                               \
		answer = cemark_call_##hook(&q->call);                                 \
		bpf_spin_unlock(&q->lock);                                             \
		if (bpf_skb_store_bytes(skb, 14, &q->call, sizeof(q->call), 0))        \
			return -1;                                                     \
		return (int)answer;                                                    \
	}

CEMARK_TEST(build)
CEMARK_TEST(retune)
CEMARK_TEST(traits)
CEMARK_TEST(enqueue)
CEMARK_TEST(dequeue)
CEMARK_TEST(emptied)
CEMARK_TEST(wake)
CEMARK_TEST(next_wake)
