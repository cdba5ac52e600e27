/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that the module is built for. */
#ifndef CEMARK_COMPAT_H
#define CEMARK_COMPAT_H

#include <linux/atomic.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#include <net/sch_generic.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "sch_cemark is for Linux 6.1 and newer"
#endif

/* skb_gso_segment() moved in 6.5. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#include <net/gso.h>
#endif

/*
 * How many packets of the wire a packet is, as the qdisc's own counters have it. Before 6.19, a
 * frame that a user has written may say nothing of it, and counts as one.
 */
static inline u32 cemark_segs(const struct sk_buff *skb)
{
#ifdef CEMARK_PACKETS_KNOW_SEGS
	return qdisc_skb_cb(skb)->pkt_segs;
#else
	return skb_is_gso(skb) && skb_shinfo(skb)->gso_segs ? skb_shinfo(skb)->gso_segs : 1;
#endif
}

/* A segment inherits the number of the packet that it was part of. */
static inline void cemark_is_one(struct sk_buff *skb)
{
#ifdef CEMARK_PACKETS_KNOW_SEGS
	qdisc_skb_cb(skb)->pkt_segs = 1;
#endif
}

/*
 * Messages with values: since 6.2. Before, a message is a pointer to text that has to stay until
 * it is sent, so the last eight of each kind are kept.
 */
#ifndef NL_SET_ERR_MSG_FMT_MOD
#define NL_SET_ERR_MSG_FMT_MOD(extack, fmt, ...)                                   \
	do {                                                                       \
		static char cemark_said[8][96];                                    \
		static atomic_t cemark_next;                                       \
		char *text = cemark_said[atomic_inc_return(&cemark_next) & 7];     \
										   \
		snprintf(text, sizeof(cemark_said[0]), KBUILD_MODNAME ": " fmt,    \
			 ##__VA_ARGS__);                                           \
		if (extack)                                                        \
			(extack)->_msg = text;                                     \
	} while (0)
#endif

/*
 * Linux 6.15 changed what a child does that drops packets at departure and is empty then ("codel:
 * remove sch->q.qlen check"). Before, telling the parent made HTB deactivate a class twice, so the
 * child waits for its next packet. Since then it has to tell. Stable kernels have the change from
 * about these releases on; waiting is the safe choice where this errs.
 */
#define CEMARK_SINCE(minor, patch)                                 \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, minor, patch) &&  \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, (minor) + 1, 0))
#define CEMARK_TELL_WHEN_EMPTY                                                 \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0) ||                     \
	 CEMARK_SINCE(1, 140) || CEMARK_SINCE(6, 92) || CEMARK_SINCE(12, 30) || \
	 CEMARK_SINCE(14, 8))

#endif
