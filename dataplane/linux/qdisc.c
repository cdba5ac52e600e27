// SPDX-License-Identifier: GPL-2.0
/*
 * sch_cemark: ECN marking schemes of data-centre switches as a queueing discipline.
 *
 * A port with up to 32 queues: admission by a shared limit, a marking scheme at enqueue, dequeue or
 * both, FIFO, DWRR, WRR or strict priority, the round time that MQ-ECN needs, and an optional
 * shaper so that the queue is here and not in the device below. The schemes are those of
 * dataplane/include/cemark. The order of the calls equals that of crates/switch/src/explicit.rs.
 *
 * A packet that is to be marked gets Congestion Experienced (CE) if it is ECN-capable. If it is
 * not, it is sent as it is, or dropped with `not_ect drop`. CE is never cleared.
 *
 * Each queue has a marker, of the port's scheme or of a scheme of its own. The round time is the
 * port's: it is measured over all queues that are served in rounds, whatever their schemes. A
 * strict queue has no rounds, and its marker is told so when it is configured.
 *
 * TCQ_F_CAN_BYPASS is not set: a packet that passes an empty qdisc still changes the state of most
 * schemes and the round time.
 */
#include <linux/bitops.h>
#include <linux/indirect_call_wrapper.h>
#include <net/inet_ecn.h>

#include "cemark.h"

/* What a packet carries while it waits, in the qdisc's part of its control block. */
struct cemark_skb {
	u64 since;  /* ns: when it joined */
	u32 number; /* its random bits are a function of this and of the qdisc's seed */
	u8 intent;  /* enum cemark_why */
};

static struct cemark_skb *cemark_cb(struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct cemark_skb));
	return (struct cemark_skb *)qdisc_skb_cb(skb)->data;
}

/*
 * `ecn` is left out: no scheme reads it (crates/foreign/tests/headers.rs), and to find it costs
 * as much as a decision.
 */
static void cemark_look_packet(const struct cemark_sched *q, const struct cemark_queue *queue,
			       struct sk_buff *skb, struct cemark_at *at)
{
	const struct cemark_skb *cb = cemark_cb(skb);

	if (queue->traits & CEMARK_DRAWS)
		at->salt = cemark_mix(q->seed + cb->number);
	at->pkt_bytes = qdisc_pkt_len(skb);
	if (q->set.gso == CEMARK_GSO_KEEP)
		at->segs = clamp_t(u32, cemark_segs(skb), 1, U16_MAX);
}

static void cemark_poll_clock(struct cemark_queue *queue)
{
	queue->clock_set = queue->ops->next_wake(&queue->marker, &queue->wake);
}

/*
 * Wakes the markers whose time has come. Nothing has changed in the queues since the last packet,
 * so each call sees what it would have seen at its time, and no timer is needed. After a long pause
 * most of the calls are left out: the state has settled by then.
 */
static void cemark_run_clocks(struct cemark_sched *q, u64 now)
{
	struct cemark_at at;
	u32 i, calls;

	for (i = 0; i < q->n; i++) {
		struct cemark_queue *queue = &q->queues[i];

		for (calls = 0; queue->clock_set && queue->wake <= now; calls++) {
			cemark_look(q, queue, &at, calls < 1000 ? queue->wake : now);
			queue->ops->wake(&queue->marker, &at);
			cemark_poll_clock(queue);
			if (calls > 1000)
				break;
		}
	}
}

static inline struct cemark_queue *cemark_classify(struct sk_buff *skb, struct Qdisc *sch,
						   int *ret)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct tcf_result res;
	struct tcf_proto *fl;
	u32 i = TC_H_MIN(skb->priority) - 1;
	int dsfield;

	*ret = NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
	if (TC_H_MAJ(skb->priority) == sch->handle && i < q->n)
		return &q->queues[i];

	fl = rcu_dereference_bh(q->filter_list);
	if (fl) {
		int result = tcf_classify(skb, NULL, fl, &res, false);

#ifdef CONFIG_NET_CLS_ACT
		switch (result) {
		case TC_ACT_STOLEN:
		case TC_ACT_QUEUED:
		case TC_ACT_TRAP:
			*ret = NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
			fallthrough;
		case TC_ACT_SHOT:
			return NULL;
		}
#endif
		i = TC_H_MIN(res.classid) - 1;
		if (result >= 0 && i < q->n)
			return &q->queues[i];
	}
	if (q->set.classes == CEMARK_BY_PRIORITY) {
		i = min(skb->priority, CEMARK_MAP_VALUES - 1U);
	} else {
		dsfield = cemark_dsfield(skb);
		i = dsfield < 0 ? 0 : dsfield >> 2;
	}
	/* Values above the last queue share it. */
	return &q->queues[min_t(u32, q->set.map[i], q->n - 1)];
}

/* The qdisc's own count of drops is the sum of those by reason. */
static noinline int cemark_drop(struct sk_buff *skb, struct Qdisc *sch,
				struct cemark_queue *queue, enum cemark_gone why,
				struct sk_buff **to_free)
{
	u32 segs = cemark_segs(skb);

	queue->stats.drops[why] += segs;
	__qdisc_qstats_drop(sch, segs);
	__qdisc_drop(skb, to_free);
	switch (why) {
	case CEMARK_GONE_LIMIT:
	case CEMARK_GONE_MEMORY:
		qdisc_qstats_overlimit(sch);
		fallthrough;
	case CEMARK_GONE_SPLIT:
		return NET_XMIT_DROP;
	default:
		return NET_XMIT_CN;
	}
}

static bool cemark_is_ect(struct sk_buff *skb)
{
	int dsfield = cemark_dsfield(skb);

	return dsfield >= 0 && (dsfield & INET_ECN_MASK) != INET_ECN_NOT_ECT;
}

/* Asks the marker about a packet that arrives. Returns whether it may join. */
static bool cemark_judge_arrival(struct cemark_sched *q, struct cemark_queue *queue,
				 struct sk_buff *skb, u64 now, enum cemark_gone *why)
{
	struct cemark_skb *cb = cemark_cb(skb);
	struct cemark_at at;
	u32 verdict;

	cemark_look(q, queue, &at, now);
	cemark_look_packet(q, queue, skb, &at);
	verdict = queue->ops->enqueue(&queue->marker, &at);
	switch (verdict & 0xff) {
	case CEMARK_PASS:
		return true;
	case CEMARK_MARK(0):
		/* If nothing can change the verdict, a packet takes no room in vain. */
		if (!(queue->traits & CEMARK_AT_DEQUEUE) && !cemark_is_ect(skb) &&
		    queue->non_ect == CEMARK_NON_ECT_DROP) {
			*why = CEMARK_GONE_NON_ECT;
			return false;
		}
		cb->intent = verdict >> 8;
		return true;
	default:
		*why = CEMARK_GONE_MARKER;
		return false;
	}
}

/* Puts a packet at the end of its queue. */
static __always_inline void cemark_append(struct Qdisc *sch, struct cemark_queue *queue,
					  struct sk_buff *skb, u32 len)
{
	struct cemark_sched *q = qdisc_priv(sch);

	skb->next = NULL;
	if (queue->head)
		queue->tail->next = skb;
	else
		queue->head = skb;
	queue->tail = skb;
	queue->bytes += len;
	queue->packets++;
	q->room -= len;
	q->spare -= skb->truesize;
	sch->q.qlen++;
	sch->qstats.backlog += len;
}

static int cemark_join(struct sk_buff *skb, struct Qdisc *sch, struct cemark_queue *queue,
		       struct sk_buff **to_free)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct cemark_skb *cb = cemark_cb(skb);
	u32 len = qdisc_pkt_len(skb), i = queue - q->queues;
	enum cemark_gone why;
	u64 now = ktime_get_ns();

	if (q->traits & CEMARK_CLOCK)
		cemark_run_clocks(q, now);
	if (q->measured && !q->backlogged && q->busy <= now)
		cemark_round_woke(&q->round, now, q->busy);
	if (len > q->room)
		return cemark_drop(skb, sch, queue, CEMARK_GONE_LIMIT, to_free);
	if (skb->truesize > q->spare)
		return cemark_drop(skb, sch, queue, CEMARK_GONE_MEMORY, to_free);

	cb->since = now;
	cb->number = q->number++;
	cb->intent = CEMARK_NO_INTENT;
	if (queue->traits & CEMARK_AT_ENQUEUE) {
		bool joins = cemark_judge_arrival(q, queue, skb, now, &why);

		if (queue->traits & CEMARK_CLOCK)
			cemark_poll_clock(queue);
		if (!joins)
			return cemark_drop(skb, sch, queue, why, to_free);
	}

	cemark_append(sch, queue, skb, len);
	if (queue->packets == 1) {
		q->backlogged |= BIT(i);
		if (q->measured)
			cemark_round_activated(&q->round, &queue->round, now);
	}
	if (!(q->direct & BIT(i)))
		cemark_visits_arrived(&q->visits, i);
	return NET_XMIT_SUCCESS;
}

/* A marker judges packets of the wire, so a packet that the device would split is split here. */
static noinline int cemark_split(struct sk_buff *skb, struct Qdisc *sch,
				 struct cemark_queue *queue, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	struct qdisc_size_table *stab = rcu_dereference_bh(sch->stab);
	u32 before = qdisc_pkt_len(skb), len = 0, joined = 0;
	/* What `stab overhead` adds to each packet of the wire. */
	int overhead = stab ? max_t(int, stab->szopts.overhead, 0) : 0;
	struct sk_buff *segs, *next;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs))
		return cemark_drop(skb, sch, queue, CEMARK_GONE_SPLIT, to_free);

	skb_list_walk_safe(segs, segs, next) {
		u32 seg_len;

		skb_mark_not_on_list(segs);
		seg_len = segs->len + overhead;
		qdisc_skb_cb(segs)->pkt_len = seg_len;
		cemark_is_one(segs);
		if (cemark_join(segs, sch, queue, to_free) == NET_XMIT_SUCCESS) {
			joined++;
			len += seg_len;
		}
	}
	if (!joined) {
		kfree_skb(skb);
		return NET_XMIT_DROP;
	}
	/* The parent counts one packet of the old length. */
	qdisc_tree_reduce_backlog(sch, 1 - joined, before - len);
	consume_skb(skb);
	return NET_XMIT_SUCCESS;
}

static noinline int cemark_enqueue_any(struct sk_buff *skb, struct Qdisc *sch,
				       struct sk_buff **to_free)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct cemark_queue *queue = q->queues;
	int ret;

	/* A filter may take or drop a packet even if there is one queue. */
	if (q->n > 1 || rcu_access_pointer(q->filter_list)) {
		queue = cemark_classify(skb, sch, &ret);
		if (unlikely(!queue)) {
			if (ret & __NET_XMIT_BYPASS) {
				q->filtered += cemark_segs(skb);
				__qdisc_qstats_drop(sch, cemark_segs(skb));
			}
			__qdisc_drop(skb, to_free);
			return ret;
		}
	}
	if (skb_is_gso(skb) && q->set.gso == CEMARK_GSO_SPLIT)
		return cemark_split(skb, sch, queue, to_free);
	return cemark_join(skb, sch, queue, to_free);
}

int cemark_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct cemark_queue *queue = q->queues;
	struct cemark_skb *cb = cemark_cb(skb);
	u64 now;
	u32 len;

	if (!q->plain || rcu_access_pointer(q->filter_list) || skb_is_gso(skb))
		return cemark_enqueue_any(skb, sch, to_free);
	now = ktime_get_ns();
	len = qdisc_pkt_len(skb);
	if (len > q->room)
		return cemark_drop(skb, sch, queue, CEMARK_GONE_LIMIT, to_free);
	if (skb->truesize > q->spare)
		return cemark_drop(skb, sch, queue, CEMARK_GONE_MEMORY, to_free);
	cb->since = now;
	/* Read only if a scheme that draws lots is chosen before the packet has left. */
	cb->number = now;
	cb->intent = CEMARK_NO_INTENT;
	cemark_append(sch, queue, skb, len);
	return NET_XMIT_SUCCESS;
}

/* Which queue sends its head, and whether this is the last packet of its visit. */
static struct cemark_queue *cemark_pick(struct cemark_sched *q, bool *visit_ends)
{
	u32 first = q->backlogged & q->direct;
	struct cemark_queue *queue;
	struct sk_buff *next;

	*visit_ends = true;
	if (first)
		return &q->queues[__ffs(first)];
	if (!q->visits.count)
		return NULL;
	queue = &q->queues[q->visits.line[q->visits.front]];
	next = queue->head->next;
	*visit_ends = cemark_visits_pick(&q->visits, queue->round.quantum,
					 qdisc_pkt_len(queue->head),
					 next ? qdisc_pkt_len(next) : 0);
	return queue;
}

/* Takes the head from its queue. */
static __always_inline void cemark_unlink(struct Qdisc *sch, struct cemark_queue *queue,
					  struct sk_buff *skb)
{
	struct cemark_sched *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb);

	queue->head = skb->next;
	skb_mark_not_on_list(skb);
	queue->bytes -= len;
	queue->packets--;
	q->room += len;
	q->spare += skb->truesize;
	sch->q.qlen--;
	sch->qstats.backlog -= len;
}

/* Takes the head from its queue and returns the final verdict on it. */
static struct sk_buff *cemark_leave(struct Qdisc *sch, struct cemark_queue *queue, u64 now,
				    u32 *verdict)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = queue->head;
	const struct cemark_skb *cb = cemark_cb(skb);

	cemark_unlink(sch, queue, skb);
	if (queue->traits & CEMARK_AT_DEQUEUE) {
		struct cemark_at at;

		cemark_look(q, queue, &at, now);
		cemark_look_packet(q, queue, skb, &at);
		at.sojourn = now - cb->since;
		at.intent = cb->intent;
		*verdict = INDIRECT_CALL_1(queue->ops->dequeue, cemark_op_ecn_sharp_dequeue,
					   &queue->marker, &at);
		if (queue->traits & CEMARK_CLOCK)
			cemark_poll_clock(queue);
	} else {
		/* A queue without a scheme carries out no verdict of the scheme that it had. */
		*verdict = cb->intent == CEMARK_NO_INTENT || !queue->traits ?
				   CEMARK_PASS :
				   CEMARK_MARK(cb->intent);
	}
	if (!queue->packets) {
		q->backlogged &= ~BIT(queue - q->queues);
		if (queue->watches_empty)
			queue->ops->emptied(&queue->marker, now);
	}
	return skb;
}

/* Carries out the verdict. Returns whether the packet is sent. */
static noinline bool cemark_act(struct cemark_sched *q, struct cemark_queue *queue,
				struct sk_buff *skb, u32 verdict)
{
	struct tc_cemark_queue *s = &queue->stats;
	u32 segs = cemark_segs(skb);

	switch (verdict & 0xff) {
	case CEMARK_PASS:
		return true;
	case CEMARK_MARK(0):
		break;
	default:
		s->drops[CEMARK_GONE_MARKER] += segs;
		return false;
	}
	switch (cemark_write_ce(skb)) {
	case CEMARK_WRITTEN:
		s->marks[min_t(u32, verdict >> 8, CEMARK_WHYS - 1)] += segs;
		return true;
	case CEMARK_NO_MEMORY:
		s->unwritten += segs;
		return true;
	case CEMARK_NOT_CAPABLE:
		break;
	}
	if (queue->non_ect == CEMARK_NON_ECT_FORWARD) {
		s->spared += segs;
		return true;
	}
	s->drops[CEMARK_GONE_NON_ECT] += segs;
	return false;
}

static __always_inline void cemark_count(struct cemark_queue *queue, struct sk_buff *skb, u64 now,
					 u32 segs)
{
	struct tc_cemark_queue *s = &queue->stats;
	u64 wait = now - cemark_cb(skb)->since;

	s->packets += segs;
	s->bytes += qdisc_pkt_len(skb);
	s->waited += wait * segs;
	s->longest = max(s->longest, wait);
	queue->recent += wait - (queue->recent >> CEMARK_RECENT);
}

/* A packet that was picked is dropped: its visit continues, and its parent will be told. */
static noinline void cemark_discard(struct Qdisc *sch, struct cemark_queue *queue,
				    struct sk_buff *skb, u64 now)
{
	struct cemark_sched *q = qdisc_priv(sch);
	u32 i = queue - q->queues;
	bool over = true;

	if (!(q->direct & BIT(i)))
		over = cemark_visits_refunded(&q->visits, i,
					      queue->head ? qdisc_pkt_len(queue->head) : 0);
	if (q->measured)
		cemark_round_discarded(&q->round, &queue->round, now, over, !queue->packets);
	q->gone_packets++;
	q->gone_bytes += qdisc_pkt_len(skb);
	__qdisc_qstats_drop(sch, cemark_segs(skb));
	kfree_skb(skb);
}

static inline struct sk_buff *cemark_next(struct Qdisc *sch)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct cemark_queue *queue;
	u64 now = ktime_get_ns();
	struct sk_buff *skb;
	bool visit_ends;
	u32 verdict;

	if (q->shaped && q->backlogged && now + q->slack < q->busy) {
		qdisc_qstats_overlimit(sch);
		qdisc_watchdog_schedule_ns(&q->watchdog, q->busy - q->slack);
		return NULL;
	}
	if (q->traits & CEMARK_CLOCK)
		cemark_run_clocks(q, now);
	while ((queue = cemark_pick(q, &visit_ends))) {
		skb = cemark_leave(sch, queue, now, &verdict);
		if (verdict != CEMARK_PASS && !cemark_act(q, queue, skb, verdict)) {
			cemark_discard(sch, queue, skb, now);
			continue;
		}
		cemark_count(queue, skb, now, cemark_segs(skb));
		if (!q->shaped || q->busy < now)
			q->busy = now;
		if (q->shaped || q->measured)
			q->busy += psched_l2t_ns(&q->rate, qdisc_pkt_len(skb));
		if (q->measured)
			cemark_round_served(&q->round, &queue->round, q->busy, visit_ends,
					    !queue->packets);
		qdisc_bstats_update(sch, skb);
		return skb;
	}
	return NULL;
}

/* Tells the parent of packets that were dropped at departure. */
static void cemark_tell(struct Qdisc *sch)
{
	struct cemark_sched *q = qdisc_priv(sch);

	if (q->gone_packets && (CEMARK_TELL_WHEN_EMPTY || sch->q.qlen)) {
		qdisc_tree_reduce_backlog(sch, q->gone_packets, q->gone_bytes);
		q->gone_packets = 0;
		q->gone_bytes = 0;
	}
}

static noinline struct sk_buff *cemark_dequeue_any(struct Qdisc *sch)
{
	struct sk_buff *skb = cemark_next(sch);

	cemark_tell(sch);
	return skb;
}

static noinline u32 cemark_ask(const struct cemark_sched *q, struct cemark_queue *queue,
			       struct sk_buff *skb, u64 now)
{
	struct cemark_at at;

	cemark_look(q, queue, &at, now);
	cemark_look_packet(q, queue, skb, &at);
	at.sojourn = now - cemark_cb(skb)->since;
	return queue->ops->dequeue(&queue->marker, &at);
}

/*
 * A plain port has one queue and a marker that judges only how long packets have waited, so most
 * of what is done for other ports is left out. `backlogged` is not kept: cemark_apply() finds it.
 * Each packet is one packet of the wire.
 */

/* Takes the head of a plain port; the verdict on it. */
static __always_inline u32 cemark_leave_plain(struct Qdisc *sch, struct cemark_queue *queue,
					      struct sk_buff *skb, u64 now)
{
	struct cemark_sched *q = qdisc_priv(sch);

	cemark_unlink(sch, queue, skb);
	if (likely(queue->ops->dequeue == cemark_op_ecn_sharp_dequeue &&
		   cemark_ecn_sharp_by_wait(&queue->marker)))
		return cemark_ecn_sharp_wait(&queue->marker, now, now - cemark_cb(skb)->since);
	return cemark_ask(q, queue, skb, now);
}

/* The rest of a departure from a plain port, if there is more to do than to send. */
static noinline struct sk_buff *cemark_finish(struct Qdisc *sch, struct sk_buff *skb, u64 now,
					      u32 verdict)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct cemark_queue *queue = q->queues;

	for (;;) {
		if (!queue->packets && queue->watches_empty)
			queue->ops->emptied(&queue->marker, now);
		if (cemark_act(q, queue, skb, verdict)) {
			cemark_count(queue, skb, now, 1);
			qdisc_bstats_update(sch, skb);
			break;
		}
		cemark_discard(sch, queue, skb, now);
		skb = queue->head;
		if (!skb)
			break;
		verdict = cemark_leave_plain(sch, queue, skb, now);
	}
	cemark_tell(sch);
	return skb;
}

struct sk_buff *cemark_dequeue(struct Qdisc *sch)
{
	struct cemark_sched *q = qdisc_priv(sch);
	struct cemark_queue *queue = q->queues;
	struct sk_buff *skb;
	u32 verdict;
	u64 now;

	if (!q->plain)
		return cemark_dequeue_any(sch);
	if (!CEMARK_TELL_WHEN_EMPTY)
		cemark_tell(sch);
	skb = queue->head;
	if (!skb)
		return NULL;
	now = ktime_get_ns();
	verdict = cemark_leave_plain(sch, queue, skb, now);
	if (unlikely(verdict || (!queue->packets && queue->watches_empty)))
		return cemark_finish(sch, skb, now, verdict);
	cemark_count(queue, skb, now, 1);
	qdisc_bstats_update(sch, skb);
	return skb;
}

void cemark_reset(struct Qdisc *sch)
{
	struct cemark_sched *q = qdisc_priv(sch);
	u32 i;

	for (i = 0; i < q->n; i++) {
		struct cemark_queue *queue = &q->queues[i];

		rtnl_kfree_skbs(queue->head, queue->tail);
		queue->head = NULL;
		queue->bytes = 0;
		queue->packets = 0;
	}
	q->backlogged = 0;
	q->room = q->limit;
	q->spare = q->port.memory;
	q->gone_packets = 0;
	q->gone_bytes = 0;
	cemark_restart(sch);
	if (q->watchdog.qdisc)
		qdisc_watchdog_cancel(&q->watchdog);
}
