/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the plugin share. */
#ifndef Q_CEMARK_H
#define Q_CEMARK_H

#include <stdio.h>

#include "../catalogue_types.h"
#include "tc_abi.h"

/* The words of the choices, in the order of the enums of cemark_netlink.h. */
#define CEMARK_SCHEDULER_WORDS "fifo dwrr wrr sp"
#define CEMARK_CLASSES_WORDS "dscp priority"
#define CEMARK_NON_ECT_WORDS "forward drop"
#define CEMARK_OWN_NON_ECT_WORDS CEMARK_NON_ECT_WORDS " default"
#define CEMARK_GSO_WORDS "split keep"

/* By name, title or alias; NULL if there is none. */
const struct cemark_scheme *cemark_scheme(const char *name);
const struct cemark_param *cemark_param(const struct cemark_scheme *s, const char *name);

int cemark_print(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
int cemark_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats);

#endif
