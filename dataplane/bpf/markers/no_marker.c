// SPDX-License-Identifier: GPL-2.0 OR MIT
/* An object file without a marker. */
int nothing;
