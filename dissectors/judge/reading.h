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
 * `descriptor`. The answer has either "error" or the whole reading. */
JsonNode *reading_answer(JsonNode *request, int descriptor);

#endif
