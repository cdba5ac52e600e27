// SPDX-License-Identifier: GPL-2.0
/* See markers.h. The code of the schemes is in the headers, which other tests prove. */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "catalogue.h"
#include "cemark_netlink.h"
#include "markers.h"

/* What a scheme keeps in the block. */
#define CEMARK_OPS(stem)                                                                    \
	struct cemark_##stem##_kept {                                                       \
		struct cemark_##stem##_params params;                                       \
		struct cemark_##stem##_vars vars;                                           \
	};                                                                                  \
	static_assert(sizeof(struct cemark_##stem##_kept) <= CEMARK_MARKER_BYTES);          \
	static void cemark_op_##stem##_build(union cemark_marker *m, const u64 *values,     \
					     const struct cemark_queue_spec *queue)         \
	{                                                                                   \
		struct cemark_##stem##_kept *k = (void *)m->block;                          \
											    \
		cemark_##stem##_set(&k->params, values, queue);                             \
		cemark_##stem##_init(&k->params, &k->vars);                                 \
	}                                                                                   \
	static void cemark_op_##stem##_retune(union cemark_marker *m, const u64 *values,    \
					      const struct cemark_queue_spec *queue)        \
	{                                                                                   \
		struct cemark_##stem##_kept *k = (void *)m->block;                          \
											    \
		cemark_##stem##_set(&k->params, values, queue);                             \
		cemark_##stem##_retuned(&k->params, &k->vars);                              \
	}                                                                                   \
	static u32 cemark_op_##stem##_traits(const union cemark_marker *m)                  \
	{                                                                                   \
		const struct cemark_##stem##_kept *k = (const void *)m->block;              \
											    \
		return cemark_##stem##_traits(&k->params);                                  \
	}                                                                                   \
	static u32 cemark_op_##stem##_enqueue(union cemark_marker *m,                       \
					      const struct cemark_at *at)                   \
	{                                                                                   \
		struct cemark_##stem##_kept *k = (void *)m->block;                          \
											    \
		return cemark_##stem##_enqueue(&k->params, &k->vars, at);                   \
	}                                                                                   \
	u32 cemark_op_##stem##_dequeue(union cemark_marker *m, const struct cemark_at *at); \
	u32 cemark_op_##stem##_dequeue(union cemark_marker *m, const struct cemark_at *at)  \
	{                                                                                   \
		struct cemark_##stem##_kept *k = (void *)m->block;                          \
											    \
		return cemark_##stem##_dequeue(&k->params, &k->vars, at);                   \
	}                                                                                   \
	static void cemark_op_##stem##_emptied(union cemark_marker *m, u64 now)             \
	{                                                                                   \
		struct cemark_##stem##_kept *k = (void *)m->block;                          \
											    \
		cemark_##stem##_emptied(&k->params, &k->vars, now);                         \
	}                                                                                   \
	static void cemark_op_##stem##_wake(union cemark_marker *m,                         \
					    const struct cemark_at *at)                     \
	{                                                                                   \
		struct cemark_##stem##_kept *k = (void *)m->block;                          \
											    \
		cemark_##stem##_wake(&k->params, &k->vars, at);                             \
	}                                                                                   \
	static bool cemark_op_##stem##_next_wake(const union cemark_marker *m, u64 *when)   \
	{                                                                                   \
		const struct cemark_##stem##_kept *k = (const void *)m->block;              \
											    \
		return cemark_##stem##_next_wake(&k->params, &k->vars, when);               \
	}

CEMARK_SCHEMES(CEMARK_OPS)

static_assert(offsetof(struct cemark_ecn_sharp_kept, vars) ==
	      offsetof(struct cemark_ecn_sharp_block, vars));

enum cemark_place {
#define CEMARK_PLACE(stem) CEMARK_PLACE_##stem,
	CEMARK_SCHEMES(CEMARK_PLACE)
};

static const struct cemark_ops cemark_table[] = {
#define CEMARK_ROW(stem)                                              \
	{                                                             \
		.spec = &cemark_catalogue[CEMARK_PLACE_##stem],       \
		.build = cemark_op_##stem##_build,                    \
		.retune = cemark_op_##stem##_retune,                  \
		.traits = cemark_op_##stem##_traits,                  \
		.enqueue = cemark_op_##stem##_enqueue,                \
		.dequeue = cemark_op_##stem##_dequeue,                \
		.emptied = cemark_op_##stem##_emptied,                \
		.wake = cemark_op_##stem##_wake,                      \
		.next_wake = cemark_op_##stem##_next_wake,            \
	},
	CEMARK_SCHEMES(CEMARK_ROW)
};

/* The scheme that never marks. */
static const struct cemark_scheme cemark_none_spec = { .name = CEMARK_NONE };

static void cemark_none_set(union cemark_marker *m, const u64 *values,
			    const struct cemark_queue_spec *queue)
{
}

static u32 cemark_none_traits(const union cemark_marker *m)
{
	return 0;
}

static u32 cemark_none_pass(union cemark_marker *m, const struct cemark_at *at)
{
	return CEMARK_PASS;
}

static void cemark_none_emptied(union cemark_marker *m, u64 now)
{
}

static void cemark_none_wake(union cemark_marker *m, const struct cemark_at *at)
{
}

static bool cemark_none_next_wake(const union cemark_marker *m, u64 *when)
{
	return false;
}

static const struct cemark_ops cemark_none = {
	.spec = &cemark_none_spec,
	.build = cemark_none_set,
	.retune = cemark_none_set,
	.traits = cemark_none_traits,
	.enqueue = cemark_none_pass,
	.dequeue = cemark_none_pass,
	.emptied = cemark_none_emptied,
	.wake = cemark_none_wake,
	.next_wake = cemark_none_next_wake,
};

const struct cemark_ops *cemark_find(const char *name)
{
	unsigned int i;

	if (!strcmp(name, CEMARK_NONE))
		return &cemark_none;

	for (i = 0; i < ARRAY_SIZE(cemark_table); i++)
		if (!strcmp(cemark_table[i].spec->name, name))
			return &cemark_table[i];
	return NULL;
}

#ifdef CEMARK_TEST
EXPORT_SYMBOL_GPL(cemark_find);
#endif
