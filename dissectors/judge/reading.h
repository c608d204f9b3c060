/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One capture, read with the strict dissector: what a request asks for and what is found. */
#ifndef X25SHARK_READING_H
#define X25SHARK_READING_H

#include <json-glib/json-glib.h>

/* Bounds. A capture that goes beyond one of them gives an error, never a part of the truth. */
#define READING_MOST_FRAMES 1000000u
#define READING_MOST_PACKETS 2000000u
#define READING_MOST_HITS 20000000u
#define READING_MOST_FILTERS 10000u
#define READING_MOST_FIELDS 256u

/* Answer a request {"load": id, "filters": [...], "fields": [...]} on the capture that is open as
 * `descriptor`. The answer is JSON text, to be freed with g_string_free; it has "load" and either
 * "error" {kind, place, message} or the whole reading:
 *
 *   frames          how many there are
 *   octets          places (in the request) of the fields whose values are octets, in hexadecimal
 *   ends            [stream, source, port, destination, port]; others refer to it by its place
 *   packets         [frame, k, end, offset, field, value, field, value ...]; -1: unknown. Octets that
 *                   are among those of an earlier field of the packet: [field, from, how many]
 *   tcp             [frame, end, flags, sequence, length, offset]
 *   hits            for each filter: frame, k, frame, k ...
 *   experts         [frame, k, end, offset, id, message, severity]
 *   differences     [frame, k, text]
 *   lua_errors, malformed_file, us (microseconds that it took) */
GString *reading_answer(JsonNode *request, int descriptor);

#endif
