// SPDX-License-Identifier: GPL-2.0
/*
 * Calls the markers of sch_cemark from user space, for the tests: the golden vectors and random
 * packets are replayed on the very code that marks packets. `make test-module` builds it; it is
 * not for installation.
 *
 * The marker is in queue 3 of a port, whose scheme is the queue's own. Queue 0 has the scheme of
 * the port, another one, and gets each call too: it has to answer as a marker alone does. Before
 * queue 3 gets its scheme it has had the port's, so that a change of the scheme leaves nothing.
 *
 * /sys/kernel/debug/cemark/marker: write a struct cemark_request, read it back with its answer.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "cemark/marker.h"
/* The declaration of a user's own marker, which is none of the module. */
#undef CEMARK_PARAMS
#include "cemark.h"

/* The same in Rust: crates/foreign/src/kernel.rs. */
struct cemark_request {
	char scheme[32];
	u32 entry; /* in the order of enum cemark_entry */
	u32 answer;
	struct cemark_call call;
};

/* crates/foreign/src/abi.rs, Entry. */
enum cemark_entry {
	CEMARK_BUILD,
	CEMARK_RETUNE,
	CEMARK_TRAITS,
	CEMARK_ENQUEUE,
	CEMARK_DEQUEUE,
	CEMARK_EMPTIED,
	CEMARK_WAKE,
	CEMARK_NEXT_WAKE,
};

/* A port of four queues. */
struct cemark_test {
	struct cemark_request request;
	struct cemark_settings set;
	struct cemark_queue queues[4];
	union cemark_marker alone; /* of the scheme in queue 0 */
};

/* The queue with the scheme under test. */
#define CEMARK_TESTED 3

/* The settings of a message with a scheme for the port and one for the queue. */
static int cemark_choose(struct cemark_test *t)
{
	struct cemark_choice *port = &t->set.choice, *own = &t->set.own[CEMARK_TESTED].choice;
	struct cemark_request *r = &t->request;
	u32 i;

	r->scheme[sizeof(r->scheme) - 1] = 0;
	own->ops = cemark_find(r->scheme);
	if (!own->ops)
		return -ENOENT;
	memcpy(own->values, r->call.values, sizeof(own->values));
	port->ops = cemark_find(strcmp(r->scheme, "cedm_sharp") ? "cedm_sharp" : "codel");
	if (!port->ops)
		return -ENOENT;
	for (i = 0; i < port->ops->spec->params; i++)
		port->values[i] = port->ops->spec->param[i].usual;
	t->set.queues = ARRAY_SIZE(t->queues);
	return 0;
}

static void cemark_configure(struct cemark_test *t, bool build)
{
	const struct cemark_queue_spec *spec = &t->request.call.queue;
	const struct cemark_choice *port = cemark_choice_of(&t->set, 0);

	if (build) {
		cemark_set_marker(&t->queues[CEMARK_TESTED], port, spec, true);
		cemark_set_marker(&t->queues[0], port, spec, true);
		port->ops->build(&t->alone, port->values, spec);
	}
	cemark_set_marker(&t->queues[CEMARK_TESTED], cemark_choice_of(&t->set, CEMARK_TESTED),
			  spec, false);
}

/* A call of a marker; what it answers. */
static u32 cemark_ask(const struct cemark_ops *ops, union cemark_marker *m, u32 entry,
		      struct cemark_call *c)
{
	switch (entry) {
	case CEMARK_TRAITS:
		return CEMARK_ABI << 24 | ops->traits(m);
	case CEMARK_ENQUEUE:
		return ops->enqueue(m, &c->at);
	case CEMARK_DEQUEUE:
		return ops->dequeue(m, &c->at);
	case CEMARK_EMPTIED:
		ops->emptied(m, c->now);
		return 0;
	case CEMARK_WAKE:
		ops->wake(m, &c->at);
		return 0;
	default:
		return ops->next_wake(m, &c->now);
	}
}

static int cemark_answer(struct cemark_test *t)
{
	struct cemark_queue *tested = &t->queues[CEMARK_TESTED], *other = &t->queues[0];
	struct cemark_request *r = &t->request;
	u32 here, alone;
	u64 now = r->call.now;
	int err;

	static_assert(sizeof(r->call.memory) == sizeof(tested->marker));
	if (r->entry > CEMARK_NEXT_WAKE)
		return -EINVAL;
	err = cemark_choose(t);
	if (err)
		return err;
	r->answer = 0;
	tested->ops = t->set.own[CEMARK_TESTED].choice.ops;
	memcpy(&tested->marker, r->call.memory, sizeof(tested->marker));
	if (r->entry <= CEMARK_RETUNE) {
		cemark_configure(t, r->entry == CEMARK_BUILD);
	} else {
		if (other->ops != t->set.choice.ops)
			return -EINVAL;
		here = cemark_ask(other->ops, &other->marker, r->entry, &r->call);
		r->call.now = now;
		r->answer = cemark_ask(tested->ops, &tested->marker, r->entry, &r->call);
		now = r->call.now;
		alone = cemark_ask(other->ops, &t->alone, r->entry, &r->call);
		r->call.now = now;
		if (here != alone || memcmp(&other->marker, &t->alone, sizeof(t->alone)))
			return -EIO;
	}
	memcpy(r->call.memory, &tested->marker, sizeof(tested->marker));
	return 0;
}

static int cemark_open(struct inode *inode, struct file *file)
{
	file->private_data = kzalloc(sizeof(struct cemark_test), GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

static int cemark_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static ssize_t cemark_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct cemark_test *t = file->private_data;
	int err;

	if (len != sizeof(t->request))
		return -EINVAL;
	if (copy_from_user(&t->request, from, len))
		return -EFAULT;
	err = cemark_answer(t);
	return err ?: (ssize_t)len;
}

static ssize_t cemark_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	struct cemark_test *t = file->private_data;

	if (len < sizeof(t->request))
		return -EINVAL;
	if (copy_to_user(to, &t->request, sizeof(t->request)))
		return -EFAULT;
	return sizeof(t->request);
}

static const struct file_operations cemark_file = {
	.owner = THIS_MODULE,
	.open = cemark_open,
	.release = cemark_release,
	.write = cemark_write,
	.read = cemark_read,
};

static struct dentry *cemark_folder;

static int __init cemark_test_init(void)
{
	cemark_folder = debugfs_create_dir("cemark", NULL);
	debugfs_create_file("marker", 0600, cemark_folder, NULL, &cemark_file);
	return 0;
}

static void __exit cemark_test_exit(void)
{
	debugfs_remove_recursive(cemark_folder);
}

module_init(cemark_test_init)
module_exit(cemark_test_exit)
MODULE_DESCRIPTION("Tests of the marking schemes of sch_cemark");
MODULE_LICENSE("GPL");
