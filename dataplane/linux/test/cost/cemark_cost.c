// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what a qdisc costs per packet, for the tests. Write the name of a device of the first
 * network namespace into /sys/kernel/debug/cemark_cost: packets of 64 bytes go through its root
 * qdisc, 32 in and 32 out at a time, above a backlog that stays, and never reach the device. Read
 * the file for the ticks of enqueue and dequeue, in hundredths for one packet, and the packets
 * that were marked. An empty line as the name: what the loop itself costs.
 *
 * Ticks are those of the time stamp counter. In a QEMU that counts instructions (`-icount
 * shift=0`) each is an instruction. The device has to be out of use otherwise.
 */
#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/fs.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/sch_generic.h>

#define CEMARK_COST_BATCH 32
#define CEMARK_COST_STANDING 32
#define CEMARK_COST_PACKETS (CEMARK_COST_BATCH + CEMARK_COST_STANDING)
#define CEMARK_COST_ROUNDS 1000
#define CEMARK_COST_WARM 100
#define CEMARK_COST_BYTES 64

static struct {
	u64 in, out, marked;
} cemark_cost;

/* The loop without a qdisc. */
static struct sk_buff *cemark_cost_kept[CEMARK_COST_PACKETS];
static u32 cemark_cost_first, cemark_cost_count;

static noinline int cemark_cost_nothing_in(struct sk_buff *skb, struct Qdisc *sch,
					   struct sk_buff **to_free)
{
	cemark_cost_kept[cemark_cost_first++ % CEMARK_COST_PACKETS] = skb;
	return NET_XMIT_SUCCESS;
}

static noinline struct sk_buff *cemark_cost_nothing_out(struct Qdisc *sch)
{
	return cemark_cost_kept[cemark_cost_count++ % CEMARK_COST_PACKETS];
}

/* An ECN-capable UDP packet as a socket sends it: its flow is known by a hash. */
static struct sk_buff *cemark_cost_packet(struct net_device *dev, u32 n)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	struct iphdr *ip;

	if (!skb)
		return NULL;
	skb_reserve(skb, 64);
	skb->dev = dev;
	skb->protocol = htons(ETH_P_IP);
	skb_reset_mac_header(skb);
	skb_put_zero(skb, CEMARK_COST_BYTES);
	skb_set_network_header(skb, ETH_HLEN);
	ip = ip_hdr(skb);
	ip->version = 4;
	ip->ihl = 5;
	ip->protocol = IPPROTO_UDP;
	ip->tot_len = htons(CEMARK_COST_BYTES - ETH_HLEN);
	ip->ttl = 64;
	ip->saddr = htonl(0x0a000001);
	ip->daddr = htonl(0x0a000002);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(*ip));
	__skb_set_sw_hash(skb, 0x9e3779b9 * (1 + n % 8), true);
	return skb;
}

/* As it was before a qdisc marked it. */
static void cemark_cost_renew(struct sk_buff *skb)
{
	struct iphdr *ip = ip_hdr(skb);

	cemark_cost.marked += INET_ECN_is_ce(ip->tos);
	ip->tos = INET_ECN_ECT_0;
	ip_send_check(ip);
	qdisc_skb_cb(skb)->pkt_len = CEMARK_COST_BYTES;
	skb->next = NULL;
	skb->prev = NULL;
}

typedef int (*cemark_cost_in)(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
typedef struct sk_buff *(*cemark_cost_out)(struct Qdisc *sch);

/* Enqueues `n` packets and counts the ticks of it. */
static u64 cemark_cost_enter(cemark_cost_in in, struct Qdisc *sch, struct sk_buff **packets,
			     u32 n)
{
	struct sk_buff *to_free = NULL;
	unsigned long flags;
	u64 before, after;
	u32 i;

	local_irq_save(flags);
	before = get_cycles();
	for (i = 0; i < n; i++)
		in(packets[i], sch, &to_free);
	after = get_cycles();
	local_irq_restore(flags);
	while (to_free) {
		struct sk_buff *next = to_free->next;

		kfree_skb(to_free);
		to_free = next;
	}
	return after - before;
}

/* Dequeues `n` packets and counts the ticks of it. */
static u64 cemark_cost_leave(cemark_cost_out out, struct Qdisc *sch, struct sk_buff **packets,
			     u32 n)
{
	unsigned long flags;
	u64 before, after;
	u32 i;

	local_irq_save(flags);
	before = get_cycles();
	for (i = 0; i < n; i++)
		packets[i] = out(sch);
	after = get_cycles();
	local_irq_restore(flags);
	return after - before;
}

static int cemark_cost_rounds(cemark_cost_in in, cemark_cost_out out, struct Qdisc *sch,
			      struct sk_buff **packets)
{
	u32 round, i;

	cemark_cost_enter(in, sch, packets + CEMARK_COST_BATCH, CEMARK_COST_STANDING);
	for (round = 0; round < CEMARK_COST_WARM + CEMARK_COST_ROUNDS; round++) {
		u64 came = cemark_cost_enter(in, sch, packets, CEMARK_COST_BATCH);
		u64 left = cemark_cost_leave(out, sch, packets, CEMARK_COST_BATCH);

		if (round == CEMARK_COST_WARM - 1)
			cemark_cost.marked = 0;
		if (round >= CEMARK_COST_WARM) {
			cemark_cost.in += came;
			cemark_cost.out += left;
		}
		for (i = 0; i < CEMARK_COST_BATCH; i++) {
			if (!packets[i])
				return -EIO;
			cemark_cost_renew(packets[i]);
		}
	}
	cemark_cost_leave(out, sch, packets + CEMARK_COST_BATCH, CEMARK_COST_STANDING);
	return 0;
}

/* Runs the packets through the root qdisc of the device, or through nothing. */
static int cemark_cost_run(struct net_device *dev)
{
	struct sk_buff *packets[CEMARK_COST_PACKETS] = {};
	struct Qdisc *sch = dev ? rtnl_dereference(dev->qdisc) : NULL;
	int err = 0;
	u32 i;

	memset(&cemark_cost, 0, sizeof(cemark_cost));
	cemark_cost_first = 0;
	cemark_cost_count = 0;
	if (dev && (!sch || !sch->enqueue))
		return -EINVAL;
	for (i = 0; !err && i < CEMARK_COST_PACKETS; i++) {
		packets[i] = cemark_cost_packet(dev, i);
		if (packets[i])
			cemark_cost_renew(packets[i]);
		else
			err = -ENOMEM;
	}
	if (!err) {
		rcu_read_lock_bh();
		err = cemark_cost_rounds(sch ? sch->enqueue : cemark_cost_nothing_in,
					 sch ? sch->dequeue : cemark_cost_nothing_out, sch,
					 packets);
		rcu_read_unlock_bh();
	}
	/* A qdisc that loses packets has freed some. Which ones is not known, so all are left. */
	if (err == -EIO)
		return err;
	for (i = 0; i < CEMARK_COST_PACKETS; i++)
		kfree_skb(packets[i]);
	return err;
}

static ssize_t cemark_cost_write(struct file *file, const char __user *from, size_t len,
				 loff_t *pos)
{
	char name[IFNAMSIZ + 1] = {};
	struct net_device *dev;
	int err;

	if (!len || len >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, from, len))
		return -EFAULT;
	rtnl_lock();
	dev = __dev_get_by_name(&init_net, strim(name));
	err = dev || !*strim(name) ? cemark_cost_run(dev) : -ENODEV;
	rtnl_unlock();
	return err ?: (ssize_t)len;
}

static ssize_t cemark_cost_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	const u64 n = CEMARK_COST_ROUNDS * CEMARK_COST_BATCH / 100;
	char text[96];
	int used = scnprintf(text, sizeof(text), "%llu %llu %llu\n", cemark_cost.in / n,
			     cemark_cost.out / n, cemark_cost.marked);

	return simple_read_from_buffer(to, len, pos, text, used);
}

static const struct file_operations cemark_cost_file = {
	.owner = THIS_MODULE,
	.write = cemark_cost_write,
	.read = cemark_cost_read,
};

static struct dentry *cemark_cost_entry;

static int __init cemark_cost_init(void)
{
	cemark_cost_entry = debugfs_create_file("cemark_cost", 0600, NULL, NULL,
						&cemark_cost_file);
	return 0;
}

static void __exit cemark_cost_exit(void)
{
	debugfs_remove(cemark_cost_entry);
}

module_init(cemark_cost_init)
module_exit(cemark_cost_exit)
MODULE_DESCRIPTION("What a qdisc costs per packet, for tests");
MODULE_LICENSE("GPL");
