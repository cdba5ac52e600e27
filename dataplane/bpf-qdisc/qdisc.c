// SPDX-License-Identifier: GPL-2.0
/*
 * A qdisc in BPF (Linux 6.16 or newer): a FIFO that sends at RATE bit/s and asks ECN# about each
 * packet that leaves, with the time that it has really waited. INS_TARGET, PST_TARGET and
 * PST_INTERVAL are in ns. mark.c writes the marks. build.sh compiles both.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "pair.h"
#include "cemark/ecn_sharp.h"
#include "cemark/fixed.h"

char qdisc_license[] SEC("license") = "GPL";

#undef CEMARK_ENTRY
#undef CEMARK_NAME_
#define CEMARK_ENTRY(hook) CEMARK_FN u32 cemark_call_##hook(struct cemark_call *call)
#define CEMARK_NAME_(stem) struct cemark_no_name
CEMARK_MARKER(ecn_sharp);

#define ROOM 1000     /* packets */
#define LATE 120000ull /* ns: a watchdog that fires later than this loses the time */

extern void bpf_qdisc_skb_drop(struct sk_buff *skb, struct bpf_sk_buff_ptr *to_free) __ksym;
extern void bpf_kfree_skb(struct sk_buff *skb) __ksym;
extern void bpf_qdisc_watchdog_schedule(struct Qdisc *sch, u64 expire, u64 slack) __ksym;
extern void bpf_qdisc_bstats_update(struct Qdisc *sch, const struct sk_buff *skb) __ksym;
extern void *bpf_obj_new_impl(u64 type, void *meta) __ksym;
extern void bpf_obj_drop_impl(void *object, void *meta) __ksym;
extern int bpf_list_push_back_impl(struct bpf_list_head *head, struct bpf_list_node *node,
				   void *meta, u64 offset) __ksym;
extern struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *head) __ksym;

struct waiting {
	struct sk_buff __kptr *skb;
	struct bpf_list_node node;
	u64 since;
	u32 bytes;
};

#define QUEUE SEC(".data.queue") __hidden __attribute__((aligned(8)))
QUEUE struct bpf_spin_lock lock;
QUEUE struct bpf_list_head queue __attribute__((btf_decl_tag("contains:waiting:node")));

static struct waiting *take(void)
{
	struct bpf_list_node *node;

	bpf_spin_lock(&lock);
	node = bpf_list_pop_front(&queue);
	bpf_spin_unlock(&lock);
	return node ? container_of(node, struct waiting, node) : NULL;
}

SEC("struct_ops/pair_enqueue")
int BPF_PROG(pair_enqueue, struct sk_buff *skb, struct Qdisc *sch, struct bpf_sk_buff_ptr *to_free)
{
	struct waiting *w = NULL;
	u32 bytes = ((struct qdisc_skb_cb *)skb->cb)->pkt_len;

	if (sch->q.qlen < sch->limit)
		w = bpf_obj_new_impl(__builtin_btf_type_id(*(struct waiting *)0, 0), NULL);
	if (!w) {
		bpf_qdisc_skb_drop(skb, to_free);
		return 1; /* NET_XMIT_DROP */
	}
	w->since = bpf_ktime_get_ns();
	w->bytes = bytes;
	skb = bpf_kptr_xchg(&w->skb, skb);
	if (skb)
		bpf_qdisc_skb_drop(skb, to_free);
	bpf_spin_lock(&lock);
	bpf_list_push_back_impl(&queue, &w->node, NULL, 0);
	bpf_spin_unlock(&lock);
	sch->q.qlen++;
	sch->qstats.backlog += bytes;
	return 0;
}

static void judge(struct cemark_pair *pair, u64 now, u64 since, u32 bytes, u32 backlog)
{
	struct cemark_at *at = &pair->call.at;

	if (!pair->built) {
		/* The other values are zero: by the wait, with a step. */
		pair->call.values[CEMARK_ECN_SHARP_INS_TARGET] = INS_TARGET;
		pair->call.values[CEMARK_ECN_SHARP_PST_TARGET] = PST_TARGET;
		pair->call.values[CEMARK_ECN_SHARP_PST_INTERVAL] = PST_INTERVAL;
		pair->call.values[CEMARK_ECN_SHARP_HOOK] = CEMARK_HOOK_DEQUEUE;
		pair->call.queue.rate = RATE;
		cemark_call_build(&pair->call);
		pair->built = 1;
	}
	at->now = now;
	at->sojourn = now - since;
	at->pkt_bytes = bytes;
	at->segs = 1;
	at->ecn = 2; /* ECT(0): which packet will carry the mark is not known yet */
	at->queue_bytes = backlog;
	pair->packets++;
	pair->bytes += bytes;
	pair->waited += at->sojourn;
	if ((cemark_call_dequeue(&pair->call) & 0xff) == CEMARK_MARK(0)) {
		pair->wanted++;
		__sync_fetch_and_add(&pair->owed, 1);
	}
}

SEC("struct_ops/pair_dequeue")
struct sk_buff *BPF_PROG(pair_dequeue, struct Qdisc *sch)
{
	struct cemark_pair *pair = the_pair();
	struct sk_buff *skb = NULL;
	struct waiting *w;
	u64 now = bpf_ktime_get_ns(), since;
	u32 bytes;

	if (!pair)
		return NULL;
	if (pair->free_at > now) {
		if (sch->q.qlen)
			bpf_qdisc_watchdog_schedule(sch, pair->free_at, 0);
		return NULL;
	}
	w = take();
	if (!w)
		return NULL;
	since = w->since;
	bytes = w->bytes;
	skb = bpf_kptr_xchg(&w->skb, skb);
	bpf_obj_drop_impl(w, NULL);
	if (!skb)
		return NULL;
	if (now - pair->free_at > LATE)
		pair->free_at = now;
	pair->free_at += (u64)bytes * 8 * CEMARK_SEC / RATE;
	judge(pair, now, since, bytes, sch->qstats.backlog);
	sch->qstats.backlog -= bytes;
	sch->q.qlen--;
	bpf_qdisc_bstats_update(sch, skb);
	return skb;
}

SEC("struct_ops/pair_init")
int BPF_PROG(pair_init, struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	sch->limit = ROOM;
	return 0;
}

SEC("struct_ops/pair_reset")
void BPF_PROG(pair_reset, struct Qdisc *sch)
{
	for (int i = 0; i < ROOM; i++) {
		struct waiting *w = take();
		struct sk_buff *skb = NULL;

		if (!w)
			break;
		skb = bpf_kptr_xchg(&w->skb, skb);
		if (skb)
			bpf_kfree_skb(skb);
		bpf_obj_drop_impl(w, NULL);
	}
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
}

SEC("struct_ops/pair_destroy")
void BPF_PROG(pair_destroy, struct Qdisc *sch)
{
}

SEC(".struct_ops")
struct Qdisc_ops cemark_bpf = {
	.enqueue = (void *)pair_enqueue,
	.dequeue = (void *)pair_dequeue,
	.init = (void *)pair_init,
	.reset = (void *)pair_reset,
	.destroy = (void *)pair_destroy,
	.id = "cemark_bpf",
};
