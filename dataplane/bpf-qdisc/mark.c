// SPDX-License-Identifier: GPL-2.0
/* At the egress of the device, before the qdisc: writes the marks that the qdisc owes. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "pair.h"

char mark_license[] SEC("license") = "GPL";

SEC("tc")
int pair_mark(struct __sk_buff *skb)
{
	struct cemark_pair *pair = the_pair();

	/* A packet that is not ECN-capable leaves the mark to the next one. */
	if (!pair || !pair->owed || bpf_skb_ecn_set_ce(skb) != 1)
		return -1; /* TCX_NEXT */
	__sync_fetch_and_sub(&pair->owed, 1);
	__sync_fetch_and_add(&pair->carried, 1);
	return -1;
}
