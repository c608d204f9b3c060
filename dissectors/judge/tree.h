/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissection tree of a frame: its strict packets, expert infos, and the ends of TCP. */
#ifndef X25SHARK_TREE_H
#define X25SHARK_TREE_H

#include <glib.h>

#include "compat.h"
#include "filters.h"

/* The elements of the arrays of the answer, as JSON text (see reading.h). */
struct tree_reading {
    GString *ends;
    GString *packets;
    GString *tcp;
    GString *experts;
    GString *differences;
    GString *lua_errors;
    unsigned packet_count;
    GHashTable *end_numbers; /* place in ends, by its text */
    GArray *marks;           /* struct marks of each packet of the latest frame */
    GHashTable *directions; /* octets sent so far, by stream and sender */
};

void tree_reading_init(struct tree_reading *reading);
void tree_reading_release(struct tree_reading *reading);

/* Read the tree of a frame and give the fields of its k-th packet the layer number k. Returns the
 * number of packets. */
unsigned tree_read(struct tree_reading *reading, epan_dissect_t *dissect, unsigned frame,
                   const header_field_info **fields, unsigned field_count);

#endif
