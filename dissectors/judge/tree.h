/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissection tree of a frame: its strict packets, expert infos, and the ends of TCP. */
#ifndef X25SHARK_TREE_H
#define X25SHARK_TREE_H

#include <json-glib/json-glib.h>

#include "compat.h"

struct tree_reading {
    JsonArray *packets;
    JsonArray *tcp;
    JsonArray *experts;
    JsonArray *differences;
    JsonArray *lua_errors;
    unsigned packet_count;
    GHashTable *directions; /* octets sent so far, by stream and sender */
};

void tree_reading_init(struct tree_reading *reading);
void tree_reading_release(struct tree_reading *reading);

/* Read the tree of a frame and give the fields of its k-th packet the layer number k. Returns the
 * number of packets. */
unsigned tree_read(struct tree_reading *reading, epan_dissect_t *dissect, unsigned frame,
                   const header_field_info **fields, unsigned field_count);

#endif
