// SPDX-License-Identifier: GPL-2.0
/*
 * Where a packet's IP header is, and CE written into it.
 *
 * The kernel's own helper looks through VLAN tags for the protocol and then writes at the network
 * header. A frame with two tags that a bridge forwards has its network header at the inner tag
 * (docs/netdev-qinq.md). Here the place is found together with the protocol, the version in the
 * header has to agree, and data that other packets share are copied before they change.
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "cemark.h"

/* More VLAN tags than any network uses. */
#define CEMARK_TAGS 8

/* Behind the tags that are in the frame, which begins at skb->data. -1: there is no such frame. */
static int cemark_behind_tags(const struct sk_buff *skb, __be16 *proto)
{
	int at = offsetof(struct ethhdr, h_proto), i;
	__be16 *type, buffer;

	if (!skb->dev || skb->dev->type != ARPHRD_ETHER)
		return -1;
	for (i = 0; i <= CEMARK_TAGS; i++) {
		type = skb_header_pointer(skb, at, sizeof(buffer), &buffer);
		if (!type)
			return -1;
		*proto = *type;
		if (!eth_type_vlan(*proto))
			return at + sizeof(*type);
		at += VLAN_HLEN;
	}
	return -1;
}

/* The version of a packet's IP header and its place, from skb->data on; 0: it has none. */
static int cemark_find_ip(struct sk_buff *skb, int *at)
{
	__be16 proto = skb->protocol;
	int version, size;

	*at = eth_type_vlan(proto) ? cemark_behind_tags(skb, &proto) : skb_network_offset(skb);
	if (proto == htons(ETH_P_IP)) {
		version = 4;
		size = sizeof(struct iphdr);
	} else if (proto == htons(ETH_P_IPV6)) {
		version = 6;
		size = sizeof(struct ipv6hdr);
	} else {
		return 0;
	}
	if (*at < 0 || !pskb_may_pull(skb, *at + size))
		return 0;
	return skb->data[*at] >> 4 == version ? version : 0;
}

/* The field of DSCP and ECN; -1: not an IP packet. */
int cemark_dsfield(struct sk_buff *skb)
{
	int at;

	switch (cemark_find_ip(skb, &at)) {
	case 4:
		return ipv4_get_dsfield((struct iphdr *)(skb->data + at));
	case 6:
		return ipv6_get_dsfield((struct ipv6hdr *)(skb->data + at));
	}
	return -1;
}

enum cemark_written cemark_write_ce(struct sk_buff *skb)
{
	int at, version = cemark_find_ip(skb, &at);
	struct ipv6hdr *six;
	u8 dsfield;

	if (!version)
		return CEMARK_NOT_CAPABLE;
	six = (struct ipv6hdr *)(skb->data + at);
	dsfield = version == 4 ? ipv4_get_dsfield((struct iphdr *)six) : ipv6_get_dsfield(six);
	if (INET_ECN_is_not_ect(dsfield))
		return CEMARK_NOT_CAPABLE;
	if (INET_ECN_is_ce(dsfield))
		return CEMARK_WRITTEN;
	/* A frame that a bridge floods has the same data on each of its ports. */
	if (skb_ensure_writable(skb, at + (version == 4 ? sizeof(struct iphdr) : sizeof(*six))))
		return CEMARK_NO_MEMORY;
	if (version == 4)
		IP_ECN_set_ce((struct iphdr *)(skb->data + at));
	else
		IP6_ECN_set_ce(skb, (struct ipv6hdr *)(skb->data + at));
	return CEMARK_WRITTEN;
}
