/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How `cemark run` calls a marker that is not written in Rust: a block of memory, and functions
 * that take its address. The same source compiles to a shared object (`--marker c:own.so`) and to
 * BPF (`--marker bpf:own.o`).
 *
 * A marker called `own` consists of struct cemark_own_params, struct cemark_own_vars and ten
 * functions. The CEMARK_NO_...() macros of at.h stand in for the functions that it does not need.
 * CEMARK_MARKER(own) in one .c file then defines the entry points. examples/own_marker.c is a
 * complete one.
 */
#ifndef CEMARK_MARKER_H
#define CEMARK_MARKER_H

#include "at.h"

/* Version of struct cemark_call and of the entry points. The entry point `traits` reports it. */
#define CEMARK_ABI 1u
#define CEMARK_MAX_PARAMS 16
/* Bytes that a marker has for its params and vars. */
#define CEMARK_MEMORY 256

struct cemark_call {
	struct cemark_at at;             /* read by enqueue, dequeue and wake */
	struct cemark_queue_spec queue;  /* read by build and retune */
	u64 values[CEMARK_MAX_PARAMS];   /* read by build and retune: in the catalogue's order */
	u64 now;                         /* ns: read by emptied, written by next_wake */
	u64 memory[CEMARK_MEMORY / 8];   /* the marker's own: kept between calls */
};

/* Prefix of the entry points. A shared object that contains one marker leaves it as it is. */
#ifndef CEMARK_PREFIX
#define CEMARK_PREFIX cemark_marker
#endif

#define CEMARK_JOIN_(a, b) a##_##b
#define CEMARK_JOIN(a, b) CEMARK_JOIN_(a, b)

/*
 * Declares the parameters of the marker: CEMARK_PARAMS(LIST), where LIST(P) is a line for each,
 *
 *     P(name, kind, default, min, max, "A sentence.")
 *
 * kind: time, bytes, rate, fraction, number, count, flag or choice(word|word). Values are written
 * as in a scenario, without quotes: 85us, 65pkt, 250KB, 10Gbps, 25%, 0.7, 3, true, word.
 * CEMARK_VALUE(values, name) is the value in cemark_..._set(): nanoseconds, bytes, bits per second,
 * parts of 2^16, thousandths, a whole number, 0 or 1, the place of the word.
 *
 * A marker without CEMARK_PARAMS has the parameters of the catalogue's scheme of its name, if there
 * is one. cemark reads the declaration from the file and runs no code for it.
 */
#define CEMARK_VALUE(values, name) ((values)[cemark_param_##name])
#define CEMARK_PLACE_(name, kind, usual, min, max, doc) cemark_param_##name,
#define CEMARK_TEXT_(name, kind, usual, min, max, doc)                                             \
	#name "\t" #kind "\t" #usual "\t" #min "\t" #max "\t" doc "\n"
#define CEMARK_PARAMS(LIST)                                                                        \
	enum cemark_param { LIST(CEMARK_PLACE_) cemark_params_count };                             \
	_Static_assert(cemark_params_count <= CEMARK_MAX_PARAMS, "too many parameters");           \
	CEMARK_CONSTANT(params) = LIST(CEMARK_TEXT_)

/*
 * An entry point, and the name of the marker. In BPF each entry point is a program in a section of
 * its own.
 */
#if defined(__bpf__)
#define CEMARK_ENTRY(hook)                                                                         \
	__attribute__((section("cemark/" #hook), used))                                            \
	u32 CEMARK_JOIN(CEMARK_PREFIX, hook)(struct cemark_call *call)
#define CEMARK_CONSTANT(name)                                                                      \
	__attribute__((section("cemark." #name), used)) static const char cemark_##name[]
#else
#define CEMARK_ENTRY(hook)                                                                         \
	u32 CEMARK_JOIN(CEMARK_PREFIX, hook)(struct cemark_call *call);                            \
	__attribute__((visibility("default")))                                                     \
	u32 CEMARK_JOIN(CEMARK_PREFIX, hook)(struct cemark_call *call)
#define CEMARK_CONSTANT(name)                                                                      \
	extern const char CEMARK_JOIN(CEMARK_PREFIX, name)[];                                      \
	__attribute__((visibility("default")))                                                     \
	const char CEMARK_JOIN(CEMARK_PREFIX, name)[]
#endif

#define CEMARK_MARKER_(stem)                                                                       \
	struct cemark_##stem##_marker {                                                            \
		struct cemark_##stem##_params params;                                              \
		struct cemark_##stem##_vars vars;                                                  \
	};                                                                                         \
	_Static_assert(sizeof(struct cemark_##stem##_marker) <= CEMARK_MEMORY,                     \
		       "params and vars are too large");                                           \
	/* A new marker. */                                                                        \
	CEMARK_ENTRY(build)                                                                        \
	{                                                                                          \
		struct cemark_##stem##_marker *m = (void *)call->memory;                           \
                                                                                                   \
		cemark_##stem##_set(&m->params, call->values, &call->queue);                       \
		cemark_##stem##_init(&m->params, &m->vars);                                        \
		return 0;                                                                          \
	}                                                                                          \
	/* New parameters. The state is kept. */                                                   \
	CEMARK_ENTRY(retune)                                                                       \
	{                                                                                          \
		struct cemark_##stem##_marker *m = (void *)call->memory;                           \
                                                                                                   \
		cemark_##stem##_set(&m->params, call->values, &call->queue);                       \
		cemark_##stem##_retuned(&m->params, &m->vars);                                     \
		return 0;                                                                          \
	}                                                                                          \
	CEMARK_ENTRY(traits)                                                                       \
	{                                                                                          \
		struct cemark_##stem##_marker *m = (void *)call->memory;                           \
                                                                                                   \
		return CEMARK_ABI << 24 | cemark_##stem##_traits(&m->params);                      \
	}                                                                                          \
	CEMARK_ENTRY(enqueue)                                                                      \
	{                                                                                          \
		struct cemark_##stem##_marker *m = (void *)call->memory;                           \
                                                                                                   \
		return cemark_##stem##_enqueue(&m->params, &m->vars, &call->at);                   \
	}                                                                                          \
	CEMARK_ENTRY(dequeue)                                                                      \
	{                                                                                          \
		struct cemark_##stem##_marker *m = (void *)call->memory;                           \
                                                                                                   \
		return cemark_##stem##_dequeue(&m->params, &m->vars, &call->at);                   \
	}                                                                                          \
	CEMARK_ENTRY(emptied)                                                                      \
	{                                                                                          \
		struct cemark_##stem##_marker *m = (void *)call->memory;                           \
                                                                                                   \
		cemark_##stem##_emptied(&m->params, &m->vars, call->now);                          \
		return 0;                                                                          \
	}                                                                                          \
	CEMARK_ENTRY(wake)                                                                         \
	{                                                                                          \
		struct cemark_##stem##_marker *m = (void *)call->memory;                           \
                                                                                                   \
		cemark_##stem##_wake(&m->params, &m->vars, &call->at);                             \
		return 0;                                                                          \
	}                                                                                          \
	CEMARK_ENTRY(next_wake)                                                                    \
	{                                                                                          \
		struct cemark_##stem##_marker *m = (void *)call->memory;                           \
                                                                                                   \
		return cemark_##stem##_next_wake(&m->params, &m->vars, &call->now);                \
	}                                                                                          \
	CEMARK_CONSTANT(name) = #stem

/* Defines the entry points of marker `stem`, which may itself be a macro. */
#define CEMARK_MARKER(stem) CEMARK_MARKER_(stem)

#endif
