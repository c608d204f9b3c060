/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libwireshark with the settings that captures are judged with, and the strict dissector. */
#ifndef X25SHARK_START_H
#define X25SHARK_START_H

#include <stdbool.h>

/* Once in a process. program: its path; lua: that of the strict dissector. False if it cannot be had;
 * standard error says why. */
bool start_wireshark(const char *program, const char *lua);

#endif
