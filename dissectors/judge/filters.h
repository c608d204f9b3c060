/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Display filters, compiled once for each layer number. */
#ifndef X25SHARK_FILTERS_H
#define X25SHARK_FILTERS_H

#include <stdbool.h>

#include "compat.h"

/* A filter of a request. {k} in its text stands for the number of a packet in its frame; a filter
 * without {k} is evaluated once for each frame. */
struct filter {
    const char *text;
    bool per_packet;
    GPtrArray *compiled; /* dfilter_t for k = 1, 2, ... or, without {k}, for the frame */
};

/* The compiled filters live in a cache across requests. */
void filters_start(void);

/* Drop the cache if it has grown too large. Only between requests. */
void filters_trim(void);

/* False with a message (to be freed with g_free) if the text is no display filter. */
bool filter_prepare(struct filter *filter, const char *text, char **message);

/* The filter for packet k of a frame (k from 1), or for the frame if it has no {k}. */
dfilter_t *filter_for(struct filter *filter, unsigned k, char **message);

void filter_release(struct filter *filter);

#endif
