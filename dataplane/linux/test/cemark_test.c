// SPDX-License-Identifier: GPL-2.0
/*
 * Calls the markers of sch_cemark from user space, for the tests: the golden vectors and random
 * packets are replayed on the very code that marks packets. `make test-module` builds it; it is
 * not for installation.
 *
 * /sys/kernel/debug/cemark/marker: write a struct cemark_request, read it back with its answer.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "cemark/marker.h"
#include "markers.h"

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

static int cemark_answer(struct cemark_request *r)
{
	const struct cemark_ops *ops;
	struct cemark_call *c = &r->call;
	union cemark_marker *m = (void *)c->memory;

	static_assert(sizeof(c->memory) == sizeof(*m));
	r->scheme[sizeof(r->scheme) - 1] = 0;
	ops = cemark_find(r->scheme);
	if (!ops)
		return -ENOENT;
	r->answer = 0;
	switch (r->entry) {
	case CEMARK_BUILD:
		ops->build(m, c->values, &c->queue);
		return 0;
	case CEMARK_RETUNE:
		ops->retune(m, c->values, &c->queue);
		return 0;
	case CEMARK_TRAITS:
		r->answer = CEMARK_ABI << 24 | ops->traits(m);
		return 0;
	case CEMARK_ENQUEUE:
		r->answer = ops->enqueue(m, &c->at);
		return 0;
	case CEMARK_DEQUEUE:
		r->answer = ops->dequeue(m, &c->at);
		return 0;
	case CEMARK_EMPTIED:
		ops->emptied(m, c->now);
		return 0;
	case CEMARK_WAKE:
		ops->wake(m, &c->at);
		return 0;
	case CEMARK_NEXT_WAKE:
		r->answer = ops->next_wake(m, &c->now);
		return 0;
	}
	return -EINVAL;
}

static int cemark_open(struct inode *inode, struct file *file)
{
	file->private_data = kzalloc(sizeof(struct cemark_request), GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

static int cemark_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static ssize_t cemark_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct cemark_request *r = file->private_data;
	int err;

	if (len != sizeof(*r))
		return -EINVAL;
	if (copy_from_user(r, from, len))
		return -EFAULT;
	err = cemark_answer(r);
	return err ?: (ssize_t)len;
}

static ssize_t cemark_read(struct file *file, char __user *to, size_t len, loff_t *pos)
{
	if (len < sizeof(struct cemark_request))
		return -EINVAL;
	if (copy_to_user(to, file->private_data, sizeof(struct cemark_request)))
		return -EFAULT;
	return sizeof(struct cemark_request);
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
