/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* swx-live PROGRAM.spec FROM TO MBIT LIMIT SECONDS: a bottleneck between two interfaces.
 *
 * Packets from FROM wait in a queue of LIMIT packets that is served at MBIT megabits a second, pass
 * the program and leave at TO; the other way they are passed on as they are. SWX has no queues, so
 * that this is the traffic manager. In front of each packet it puts what a Tofino's egress parser
 * sees: `shim`, intrinsic metadata, and the time of arrival. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_ethdev.h>

#include "swx.h"

/* Bytes of the headers that `cemark p4 spec` makes of ecn_sharp.p4. */
#define SHIM 7
#define INTRINSIC 27
#define BRIDGED 4

struct waiting {
	struct rte_mbuf *packet;
	uint64_t since;
};

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void open_port(uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = { 0 };

	if (rte_eth_dev_configure(port, 1, 1, &conf) ||
	    rte_eth_rx_queue_setup(port, 0, 256, 0, NULL, pool) ||
	    rte_eth_tx_queue_setup(port, 0, 256, 0, NULL) || rte_eth_dev_start(port))
		swx_die(1, "an interface does not start");
	rte_eth_promiscuous_enable(port);
}

static void send_all(uint16_t port, struct rte_mbuf **packets, unsigned n)
{
	unsigned sent = rte_eth_tx_burst(port, 0, packets, n);

	while (sent < n)
		rte_pktmbuf_free(packets[sent++]);
}

static void put(unsigned char *to, uint64_t value, unsigned bytes)
{
	while (bytes--) {
		to[bytes] = value & 255;
		value >>= 8;
	}
}

/* A packet leaves the queue: the program's decision, or -1 where it dropped the packet. */
static int decide(struct swx *swx, struct waiting *w, uint64_t now, uint16_t port)
{
	struct rte_mbuf *out[SWX_BURST];
	unsigned char *front;
	unsigned left = 0;
	int why;

	front = (unsigned char *)rte_pktmbuf_prepend(w->packet, SHIM + INTRINSIC + BRIDGED);
	if (!front)
		swx_die(1, "there is no room in front of a packet");
	memset(front, 0, SHIM + INTRINSIC + BRIDGED);
	put(front, now, 6);
	put(front + SHIM + INTRINSIC, w->since, BRIDGED);
	if (!swx_pass(swx, &w->packet, 1, out, &left))
		return -1;
	why = rte_pktmbuf_mtod(out[0], unsigned char *)[6];
	rte_pktmbuf_adj(out[0], SHIM);
	send_all(port, out, 1);
	return why;
}

int main(int argc, char **argv)
{
	char from[64], to[64], *devices[] = { from, to, NULL };
	uint64_t why[4] = { 0 }, dropped = 0, waited = 0, passed = 0;
	uint64_t stop, busy_until = 0, bits_per_us;
	struct rte_mbuf *burst[SWX_BURST];
	unsigned head = 0, count = 0, limit;
	struct waiting *queue;
	struct swx swx;

	if (argc != 7)
		swx_die(2, "write swx-live PROGRAM.spec FROM TO MBIT LIMIT SECONDS");
	bits_per_us = strtoul(argv[4], NULL, 10);
	limit = strtoul(argv[5], NULL, 10);
	if (!bits_per_us || !limit || limit > 4096)
		swx_die(2, "MBIT is at least 1, LIMIT is 1 to 4096 packets");
	snprintf(from, sizeof(from), "--vdev=net_af_packet0,iface=%s", argv[2]);
	snprintf(to, sizeof(to), "--vdev=net_af_packet1,iface=%s", argv[3]);
	swx_start(devices);
	if (rte_eth_dev_count_avail() != 2)
		swx_die(2, "%s and %s cannot be opened", argv[2], argv[3]);
	swx_load(&swx, argv[1]);
	open_port(0, swx.pool);
	open_port(1, swx.pool);
	queue = calloc(limit, sizeof(*queue));
	if (!queue)
		swx_die(1, "there is not enough memory");
	signal(SIGTERM, end);
	signal(SIGINT, end);
	puts("ready");
	fflush(stdout);
	stop = now_ns() + strtoul(argv[6], NULL, 10) * 1000000000;
	while (!ended && now_ns() < stop) {
		unsigned n = rte_eth_rx_burst(0, 0, burst, SWX_BURST);
		uint64_t now = now_ns();

		for (unsigned i = 0; i < n; i++) {
			if (count == limit) {
				rte_pktmbuf_free(burst[i]);
				dropped++;
				continue;
			}
			queue[(head + count++) % limit] = (struct waiting){ burst[i], now };
		}
		while (count && now >= busy_until) {
			struct waiting *w = &queue[head];
			uint64_t begin = busy_until > w->since ? busy_until : w->since;
			int decision;

			busy_until = begin + rte_pktmbuf_pkt_len(w->packet) * 8000 / bits_per_us;
			waited += begin - w->since;
			decision = decide(&swx, w, begin, 1);
			if (decision >= 0)
				why[decision & 3]++;
			passed++;
			head = (head + 1) % limit;
			count--;
		}
		n = rte_eth_rx_burst(1, 0, burst, SWX_BURST);
		send_all(0, burst, n);
	}
	printf("packets %" PRIu64 " dropped %" PRIu64 " instantaneous %" PRIu64 " persistent %" PRIu64
	       " mean-wait-us %.0f\n",
	       passed, dropped, why[1], why[2], passed ? (double)waited / passed / 1e3 : 0.0);
	return 0;
}
