/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that the module is built for. */
#ifndef CEMARK_COMPAT_H
#define CEMARK_COMPAT_H

#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "sch_cemark is for Linux 6.1 and newer"
#endif

/* skb_gso_segment() moved in 6.5. */
#if __has_include(<net/gso.h>)
#include <net/gso.h>
#endif

/* Messages with values: since 6.2. Before, the text alone is sent. */
#ifndef NL_SET_ERR_MSG_FMT_MOD
#define NL_SET_ERR_MSG_FMT_MOD(extack, fmt, ...)                         \
	do {                                                             \
		no_printk(fmt, ##__VA_ARGS__);                           \
		NL_SET_ERR_MSG_MOD(extack, "a parameter is out of range"); \
	} while (0)
#endif

/*
 * Before 6.15 a parent must not be told of drops by a child that has become empty meanwhile, or HTB
 * deactivates a class twice. Since then it must.
 */
#define CEMARK_TELL_WHEN_EMPTY (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0))

#endif
