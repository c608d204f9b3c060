/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON text, written as it comes up: an answer can hold 100,000 packets. */
#ifndef X25SHARK_ANSWER_H
#define X25SHARK_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* A comma, unless the text is empty or ends with an opening bracket or a comma. */
void answer_comma(GString *text);

void answer_number(GString *text, int64_t number);

/* A string in quotes. It must be valid UTF-8. */
void answer_string(GString *text, const char *string);

/* Octets as a string of lower case hexadecimal digits. */
void answer_octets(GString *text, const uint8_t *octets, size_t count);

#endif
