/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the judge gives up before it looks at a capture. */
#ifndef X25SHARK_PRIVILEGES_H
#define X25SHARK_PRIVILEGES_H

#include <stdbool.h>

/* Move into a network namespace of its own, with a user namespace where that takes one. Whether that
 * could be had. Before privileges_drop. */
bool privileges_leave_network(void);

/* Leave root, if the process is root: libwireshark ignores its settings for root, and a capture is
 * hostile input. False, with a reason, if that cannot be done. */
bool privileges_drop(const char **reason);

/* Give up all capabilities; bound memory, files and core dumps; die with the parent. False if the parent is gone already. */
bool privileges_bound(void);

#endif
