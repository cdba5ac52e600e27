/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "swx.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_swx_port_ring.h>

/* DPDK reads a .spec in two ways: it makes C code of it, which needs a header that Debian does not
 * install, or it configures its interpreter. The functions of the second way are in the library and
 * in no installed header. */
struct pipeline_spec;
struct pipeline_spec *pipeline_spec_parse(FILE *spec, uint32_t *line, const char **what);
int pipeline_spec_configure(struct rte_swx_pipeline *p, struct pipeline_spec *s, const char **what);
void pipeline_spec_free(struct pipeline_spec *s);

void swx_die(int code, const char *form, ...)
{
	va_list args;

	va_start(args, form);
	fputs("swx: ", stderr);
	vfprintf(stderr, form, args);
	fputc('\n', stderr);
	va_end(args);
	exit(code);
}

static void must(int result, const char *what)
{
	if (result)
		swx_die(1, "%s: %s", what, strerror(abs(result)));
}

void swx_start(char **devices)
{
	char *args[32] = {
		"swx", "--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--no-shconf", "-l",
		"0", "--log-level=4",
	};
	int n = 10;

	while (*devices && n < 31)
		args[n++] = *devices++;
	if (rte_eal_init(n, args) < 0)
		swx_die(1, "DPDK does not start");
}

void swx_load(struct swx *swx, const char *spec)
{
	struct rte_swx_port_ring_reader_params reader = { .name = "in", .burst_size = SWX_BURST };
	struct rte_swx_port_ring_writer_params writer = { .name = "out", .burst_size = SWX_BURST };
	struct pipeline_spec *parsed;
	const char *what = "";
	uint32_t line = 0;
	FILE *file = fopen(spec, "r");

	if (!file)
		swx_die(2, "%s: %s", spec, strerror(errno));
	parsed = pipeline_spec_parse(file, &line, &what);
	fclose(file);
	if (!parsed)
		swx_die(2, "%s:%u: %s", spec, line, what);
	swx->pool = rte_pktmbuf_pool_create("packets", 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	swx->in = rte_ring_create("in", 1024, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
	swx->out = rte_ring_create("out", 1024, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (!swx->pool || !swx->in || !swx->out)
		swx_die(1, "there is not enough memory");
	must(rte_swx_pipeline_config(&swx->pipeline, "cemark", 0), "the pipeline");
	must(rte_swx_pipeline_port_in_config(swx->pipeline, 0, "ring", &reader), "the port in");
	must(rte_swx_pipeline_port_out_config(swx->pipeline, 0, "ring", &writer), "the port out");
	if (pipeline_spec_configure(swx->pipeline, parsed, &what))
		swx_die(2, "%s: %s", spec, what);
	pipeline_spec_free(parsed);
	if (rte_swx_pipeline_build(swx->pipeline))
		swx_die(2, "%s: SWX does not build it", spec);
	swx->control = rte_swx_ctl_pipeline_create(swx->pipeline);
	if (!swx->control)
		swx_die(1, "there is no control of the pipeline");
}

void swx_entries(struct swx *swx, const char *table, const char *path)
{
	FILE *file = fopen(path, "r");
	char text[1024];
	unsigned line = 0;

	if (!file)
		swx_die(2, "%s: %s", path, strerror(errno));
	while (fgets(text, sizeof(text), file)) {
		struct rte_swx_table_entry *entry;
		int blank = 0;

		line++;
		entry = rte_swx_ctl_pipeline_table_entry_read(swx->control, table, text, &blank);
		if (!entry && blank)
			continue;
		if (!entry || rte_swx_ctl_pipeline_table_entry_add(swx->control, table, entry))
			swx_die(2, "%s:%u: no entry of the table %s", path, line, table);
		free(entry->key);
		free(entry->key_mask);
		free(entry->action_data);
		free(entry);
	}
	fclose(file);
	must(rte_swx_ctl_pipeline_commit(swx->control, 1), "the entries");
}

unsigned swx_pass(struct swx *swx, struct rte_mbuf **in, unsigned n, struct rte_mbuf **out,
		  unsigned *left)
{
	unsigned came = 0;

	if (n && rte_ring_sp_enqueue_burst(swx->in, (void **)in, n, NULL) != n)
		swx_die(1, "the ring is full");
	*left += n;
	/* An instruction counts as a step, and so does a wait for a packet: a packet that is in the
	 * pipeline leaves it within a few hundred. A program may drop one. */
	for (unsigned idle = 0; came < *left && idle < 8; idle++) {
		unsigned got;

		rte_swx_pipeline_run(swx->pipeline, 64 * (*left - came));
		rte_swx_pipeline_flush(swx->pipeline);
		got = rte_ring_sc_dequeue_burst(swx->out, (void **)out + came, SWX_BURST - came,
						NULL);
		came += got;
		if (got)
			idle = 0;
	}
	*left -= came;
	return came;
}
