/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program in DPDK's software switch (SWX): packets go in at one ring and come out of another. */
#ifndef CEMARK_SWX_H
#define CEMARK_SWX_H

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>

#define SWX_BURST 32

struct swx {
	struct rte_swx_pipeline *pipeline;
	struct rte_swx_ctl_pipeline *control;
	struct rte_mempool *pool;
	struct rte_ring *in;
	struct rte_ring *out;
};

/* Starts DPDK without huge pages and devices; `devices` are options such as --vdev=..., ended by
 * NULL. Ends the process where that fails. */
void swx_start(char **devices);

/* Reads a program and builds its pipeline. Ends the process with code 2 where the program is
 * wrong. */
void swx_load(struct swx *swx, const char *spec);

/* Adds the entries of a file, one a line, to a table; code 2 where one is wrong. */
void swx_entries(struct swx *swx, const char *table, const char *file);

/* Up to SWX_BURST packets go in, those that came out are returned. Both arrays have SWX_BURST
 * entries. `left` counts the packets that are in the pipeline. */
unsigned swx_pass(struct swx *swx, struct rte_mbuf **in, unsigned n, struct rte_mbuf **out,
		  unsigned *left);

/* Says what is wrong and ends the process. */
void swx_die(int code, const char *form, ...) __attribute__((noreturn, format(printf, 2, 3)));

#endif
