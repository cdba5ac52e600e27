/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The part of the kernel's interface for tc programs that marker.c uses. All of it is stable: the
 * layout of struct __sk_buff and the numbers of the helpers never change, so an object needs no
 * relocation. Linux 5.3 has all of it, and a verifier that follows loops.
 */
#ifndef CEMARK_TC_BPF_H
#define CEMARK_TC_BPF_H

/* The context of a tc program, as in <linux/bpf.h>. */
struct __sk_buff {
	u32 len;
	u32 pkt_type;
	u32 mark;
	u32 queue_mapping;
	u32 protocol; /* big endian, as all of the network's numbers */
	u32 vlan_present;
	u32 vlan_tci;
	u32 vlan_proto;
	u32 priority;
	u32 ingress_ifindex;
	u32 ifindex;
	u32 tc_index;
	u32 cb[5];
	u32 hash;
	u32 tc_classid;
	u32 data;
	u32 data_end;
	u32 napi_id;
	u32 family;
	u32 remote_ip4;
	u32 local_ip4;
	u32 remote_ip6[4];
	u32 local_ip6[4];
	u32 remote_port;
	u32 local_port;
	u32 data_meta;
	u64 flow_keys;
	u64 tstamp;
	u32 wire_len; /* bytes with the headers of every segment; a qdisc's length of the packet */
	u32 gso_segs;
};

/* The kernel finds the lock in a map's value by this name. */
struct bpf_spin_lock {
	u32 val;
};

/* What a program of a clsact qdisc returns. */
#define TC_ACT_UNSPEC (-1) /* go on: to the next program, or to the device */
#define TC_ACT_SHOT 2      /* drop the packet */

#define BPF_MAP_TYPE_ARRAY 2
#define BPF_HDR_START_NET 1

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static long (*bpf_skb_store_bytes)(struct __sk_buff *skb, u32 offset, const void *from, u32 len,
				   u64 flags) = (void *)9;
static long (*bpf_skb_load_bytes)(const struct __sk_buff *skb, u32 offset, void *to,
				  u32 len) = (void *)26;
static long (*bpf_skb_load_bytes_relative)(const struct __sk_buff *skb, u32 offset, void *to,
					   u32 len, u32 start) = (void *)68;
static long (*bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;
static long (*bpf_skb_ecn_set_ce)(struct __sk_buff *skb) = (void *)97;

/* A map with one value, described by the types of its fields. */
#define CEMARK_ONE_VALUE(Name, Type)                        \
	struct {                                            \
		int (*type)[BPF_MAP_TYPE_ARRAY];            \
		int (*max_entries)[1];                      \
		u32 *key;                                   \
		Type *value;                                \
	} Name __attribute__((section(".maps"), used))

#define CEMARK_PROGRAM(Name) \
	__attribute__((section("classifier"), used)) int Name(struct __sk_buff *skb)

#endif
