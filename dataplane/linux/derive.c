// SPDX-License-Identifier: GPL-2.0
/*
 * The values in force: what the user has set, and defaults that follow the device. The MTU of a
 * tunnel may be 0 and that of the loopback device two gigabytes, and a user without privileges
 * makes such devices in a namespace. So no other place derives a value from a device. Here it
 * happens in 64 bits, with a floor and a ceiling for each value, and the result is checked as
 * values from netlink are.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <net/netlink.h>

#include "cemark.h"

/* No default is for a smaller packet than this, in bytes. */
#define CEMARK_LEAST_FRAME 256
/* bit/s: below it the kernel's rate, in byte/s, is 0. */
#define CEMARK_LEAST_RATE 8
/* ns: what late timers miss may leave at once. */
#define CEMARK_LATE 20000
/*
 * Bytes. A full packet takes about 1.5 times its length of memory, one of 64 bytes 12 times. So
 * with four times the limit it is the limit that refuses full packets. More than the ceiling has to
 * be asked for.
 */
#define CEMARK_LEAST_MEMORY (1U << 20)
#define CEMARK_MOST_MEMORY (128U << 20)

/* What the scheduler, the shaper and the schemes divide by or count down from. */
static int cemark_check_port(const struct cemark_port *port, struct netlink_ext_ack *extack)
{
	bool fine = port->bits >= CEMARK_LEAST_RATE && port->slack <= S64_MAX && port->frame &&
		    port->limit && port->memory;
	u32 i;

	for (i = 0; i < CEMARK_MAX_QUEUES; i++)
		fine = fine && port->quantum[i];
	if (!WARN_ON_ONCE(!fine))
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "a value that follows from this device is out of range");
	return -ERANGE;
}

/*
 * mtu: bytes of the device's largest packet with its header. device: bit/s, its rate. Returns 0, or
 * a negative error; then the port is not to be used.
 */
int cemark_derive(const struct cemark_settings *set, u64 mtu, u64 device, struct cemark_port *port,
		  struct netlink_ext_ack *extack)
{
	u64 frame = clamp_t(u64, mtu, CEMARK_LEAST_FRAME, U32_MAX);
	u64 bits = max_t(u64, set->rate ?: device, CEMARK_LEAST_RATE);
	u64 burst = set->burst;
	u32 i;

	if (set->shape)
		bits = max_t(u64, cemark_muldiv(bits, set->shape, 1000000), CEMARK_LEAST_RATE);
	if (!burst)
		burst = max_t(u64, 2 * frame, cemark_bytes_in(bits, CEMARK_LATE));
	/* Ports are compared byte by byte, padding included. */
	memset(port, 0, sizeof(*port));
	port->bits = bits;
	port->slack = min_t(u64, cemark_nanos_for(bits, burst), S64_MAX);
	port->idle = set->idle;
	port->frame = frame;
	port->limit = set->limit ?: min_t(u64, 1000 * frame, U32_MAX);
	port->memory = set->memory ?: clamp_t(u64, 4ULL * port->limit, CEMARK_LEAST_MEMORY,
					      CEMARK_MOST_MEMORY);
	if (set->idle == CEMARK_IDLE_MTU)
		port->idle = max_t(u64, cemark_nanos_for(bits, frame), 1);
	for (i = 0; i < CEMARK_MAX_QUEUES; i++)
		port->quantum[i] = set->quantum[i] ?: frame;
	return cemark_check_port(port, extack);
}
