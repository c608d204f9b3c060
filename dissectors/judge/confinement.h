/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the judge may not do any more once libwireshark is up: a capture is hostile input. */
#ifndef X25SHARK_CONFINEMENT_H
#define X25SHARK_CONFINEMENT_H

#include <glib.h>

/* Confine this process for good, as far as this system can, and add to names (of static strings)
 * what is in force: "no new privileges", "limits", "no files written" (Landlock), "system calls
 * filtered" (seccomp). */
void confinement_enter(GPtrArray *names);

/* Give the next reading its seconds of processor time. A process that takes more is ended. */
void confinement_grant_processor(void);

#endif
