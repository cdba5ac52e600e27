/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* swx-trace PROGRAM.spec IN OUT [TABLE ENTRIES]...: runs packets of a file through a program.
 *
 * IN and OUT hold one packet after the other, each as two bytes of its length, the lower one first,
 * and its bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "swx.h"

static struct rte_mbuf *next(struct swx *swx, FILE *file)
{
	unsigned char length[2];
	struct rte_mbuf *packet;
	unsigned bytes;
	char *place;

	if (fread(length, 1, 2, file) != 2)
		return NULL;
	bytes = length[0] | length[1] << 8;
	packet = rte_pktmbuf_alloc(swx->pool);
	if (!packet)
		swx_die(1, "there is no room for a packet");
	place = rte_pktmbuf_append(packet, bytes);
	if (!place || fread(place, 1, bytes, file) != bytes)
		swx_die(2, "a packet of %u bytes is not whole, or too long", bytes);
	return packet;
}

static void put(struct rte_mbuf *packet, FILE *file)
{
	unsigned bytes = rte_pktmbuf_data_len(packet);
	unsigned char length[2] = { bytes & 255, bytes >> 8 };

	if (fwrite(length, 1, 2, file) != 2 ||
	    fwrite(rte_pktmbuf_mtod(packet, void *), 1, bytes, file) != bytes)
		swx_die(1, "the packets that came out cannot be written");
	rte_pktmbuf_free(packet);
}

int main(int argc, char **argv)
{
	struct rte_mbuf *in[SWX_BURST], *out[SWX_BURST];
	unsigned long sent = 0, came = 0;
	char *devices[] = { NULL };
	FILE *from, *to;
	struct swx swx;
	clock_t begin, work = 0;

	if (argc < 4 || argc % 2)
		swx_die(2, "write swx-trace PROGRAM.spec IN OUT [TABLE ENTRIES]...");
	swx_start(devices);
	swx_load(&swx, argv[1]);
	for (int i = 4; i < argc; i += 2)
		swx_entries(&swx, argv[i], argv[i + 1]);
	from = fopen(argv[2], "rb");
	if (!from)
		swx_die(2, "%s: %s", argv[2], strerror(errno));
	to = fopen(argv[3], "wb");
	if (!to)
		swx_die(2, "%s: %s", argv[3], strerror(errno));
	for (;;) {
		unsigned n = 0, left = 0, got;

		while (n < SWX_BURST && (in[n] = next(&swx, from)))
			n++;
		if (!n)
			break;
		begin = clock();
		got = swx_pass(&swx, in, n, out, &left);
		work += clock() - begin;
		for (unsigned i = 0; i < got; i++)
			put(out[i], to);
		sent += n;
		came += got;
	}
	if (fclose(to))
		swx_die(1, "%s: %s", argv[3], strerror(errno));
	printf("%lu packets in, %lu out, %.2f CPU seconds\n", sent, came,
	       (double)work / CLOCKS_PER_SEC);
	return 0;
}
