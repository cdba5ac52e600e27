// SPDX-License-Identifier: GPL-2.0 OR MIT
/* An object without a marker. */
int nothing;
