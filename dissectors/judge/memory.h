/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What starting took and reading does not need. */
#ifndef X25SHARK_MEMORY_H
#define X25SHARK_MEMORY_H

/* Give it back to the system. Before confinement_enter: it reads a file of /proc. */
void memory_give_back(void);

#endif
