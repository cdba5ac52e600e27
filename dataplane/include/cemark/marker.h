/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How cemark calls a marker that is not written in Rust: one block of memory and a few functions that take its address. The same
 * source compiles to a shared object (`cemark run --marker c:own.so`) and to BPF (`--marker bpf:own.o`).
 *
 * A marker called `own` is struct cemark_own_params, struct cemark_own_vars and ten functions, of which CEMARK_NO_...() of at.h gives
 * those that it has no use for; CEMARK_MARKER(own) in one .c file makes them callable. examples/own_marker.c is one.
 */
#ifndef CEMARK_MARKER_H
#define CEMARK_MARKER_H

#include "at.h"

/* Version of struct cemark_call and of the functions; traits() reports it. */
#define CEMARK_ABI 1u
#define CEMARK_MAX_PARAMS 16
/* Bytes for params and vars of a marker. */
#define CEMARK_MEMORY 256

struct cemark_call {
	struct cemark_at at;                /* read by enqueue, dequeue and wake */
	struct cemark_queue_spec queue;     /* read by set */
	u64 values[CEMARK_MAX_PARAMS];      /* read by set: parameters in the order and the units of the catalogue */
	u64 now;                            /* read by emptied, written by next_wake: ns */
	u64 memory[CEMARK_MEMORY / 8];      /* the marker's own, kept from call to call */
};

/* Names of the functions begin with this; a shared object that holds one marker leaves it as it is. */
#ifndef CEMARK_PREFIX
#define CEMARK_PREFIX cemark_marker
#endif

#define CEMARK_JOIN_(a, b) a##_##b
#define CEMARK_JOIN(a, b) CEMARK_JOIN_(a, b)
#define CEMARK_QUOTE_(x) #x
#define CEMARK_QUOTE(x) CEMARK_QUOTE_(x)

/* In BPF each function is a program of its own, in a section of its own. */
#if defined(__bpf__)
#define CEMARK_ENTRY(type, hook)                                                                                               \
	__attribute__((section("cemark/" #hook), used)) type CEMARK_JOIN(CEMARK_PREFIX, hook)(struct cemark_call * call)
#else
#define CEMARK_ENTRY(type, hook)                                                                                               \
	type CEMARK_JOIN(CEMARK_PREFIX, hook)(struct cemark_call * call);                                                      \
	__attribute__((visibility("default"))) type CEMARK_JOIN(CEMARK_PREFIX, hook)(struct cemark_call * call)
#endif

#define CEMARK_MARKER_(stem)                                                                                                   \
	struct cemark_##stem##_marker {                                                                                        \
		struct cemark_##stem##_params params;                                                                          \
		struct cemark_##stem##_vars vars;                                                                              \
	};                                                                                                                     \
	_Static_assert(sizeof(struct cemark_##stem##_marker) <= CEMARK_MEMORY, "params and vars are too large");               \
	/* A new marker. */                                                                                                    \
	CEMARK_ENTRY(u32, build)                                                                                               \
	{                                                                                                                      \
		struct cemark_##stem##_marker *m = (void *)call->memory;                                                       \
                                                                                                                               \
		cemark_##stem##_set(&m->params, call->values, &call->queue);                                                   \
		cemark_##stem##_init(&m->params, &m->vars);                                                                    \
		return 0;                                                                                                      \
	}                                                                                                                      \
	/* New parameters; what it knows is kept. */                                                                           \
	CEMARK_ENTRY(u32, retune)                                                                                              \
	{                                                                                                                      \
		struct cemark_##stem##_marker *m = (void *)call->memory;                                                       \
                                                                                                                               \
		cemark_##stem##_set(&m->params, call->values, &call->queue);                                                   \
		cemark_##stem##_retuned(&m->params, &m->vars);                                                                 \
		return 0;                                                                                                      \
	}                                                                                                                      \
	CEMARK_ENTRY(u32, traits)                                                                                              \
	{                                                                                                                      \
		struct cemark_##stem##_marker *m = (void *)call->memory;                                                       \
                                                                                                                               \
		return CEMARK_ABI << 24 | cemark_##stem##_traits(&m->params);                                                  \
	}                                                                                                                      \
	CEMARK_ENTRY(u32, enqueue)                                                                                             \
	{                                                                                                                      \
		struct cemark_##stem##_marker *m = (void *)call->memory;                                                       \
                                                                                                                               \
		return cemark_##stem##_enqueue(&m->params, &m->vars, &call->at);                                               \
	}                                                                                                                      \
	CEMARK_ENTRY(u32, dequeue)                                                                                             \
	{                                                                                                                      \
		struct cemark_##stem##_marker *m = (void *)call->memory;                                                       \
                                                                                                                               \
		return cemark_##stem##_dequeue(&m->params, &m->vars, &call->at);                                               \
	}                                                                                                                      \
	CEMARK_ENTRY(u32, emptied)                                                                                             \
	{                                                                                                                      \
		struct cemark_##stem##_marker *m = (void *)call->memory;                                                       \
                                                                                                                               \
		cemark_##stem##_emptied(&m->params, &m->vars, call->now);                                                      \
		return 0;                                                                                                      \
	}                                                                                                                      \
	CEMARK_ENTRY(u32, wake)                                                                                                \
	{                                                                                                                      \
		struct cemark_##stem##_marker *m = (void *)call->memory;                                                       \
                                                                                                                               \
		cemark_##stem##_wake(&m->params, &m->vars, &call->at);                                                         \
		return 0;                                                                                                      \
	}                                                                                                                      \
	CEMARK_ENTRY(u32, next_wake)                                                                                           \
	{                                                                                                                      \
		struct cemark_##stem##_marker *m = (void *)call->memory;                                                       \
                                                                                                                               \
		return cemark_##stem##_next_wake(&m->params, &m->vars, &call->now);                                            \
	}                                                                                                                      \
	CEMARK_NAME_(stem)

/* The marker's name: where the catalogue has a scheme of it, `cemark run` gives the scheme's parameters. */
#if defined(__bpf__)
#define CEMARK_NAME_(stem) __attribute__((section("cemark.name"), used)) static const char cemark_name[] = #stem
#else
#define CEMARK_NAME_(stem)                                                                                                     \
	extern const char CEMARK_JOIN(CEMARK_PREFIX, name)[];                                                                  \
	__attribute__((visibility("default"))) const char CEMARK_JOIN(CEMARK_PREFIX, name)[] = #stem
#endif

#define CEMARK_MARKER(stem) CEMARK_MARKER_(stem)

#endif
