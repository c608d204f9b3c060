/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Display filters, compiled once for each layer number. */
#ifndef X25SHARK_FILTERS_H
#define X25SHARK_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "compat.h"

/* Fields by which a packet is told to be none that a filter can hold for. */
enum mark { MARK_TYPE, MARK_P_S, MARK_CAUSE, MARK_DIAGNOSTIC, MARK_USER_DATA, MARKS };

/* Sets of the values of these fields: of one octet, or sums of one octet (filters_sum). */
struct marks {
    uint64_t bits[MARKS][4];
};

/* A filter of a request. {k} in its text stands for the number of a packet in its frame; a filter
 * without {k} is evaluated once for each frame. */
struct filter {
    const char *text;
    bool per_packet;
    bool marked[MARKS];  /* it can only hold for a packet with one of these values */
    struct marks marks;
    GPtrArray *compiled; /* dfilter_t for k = 1, 2, ... (or NULL) or, without {k}, for the frame */
};

/* The compiled filters live in a cache across requests. */
void filters_start(void);

/* Drop the cache if it has grown too large. Only between requests. */
void filters_trim(void);

/* False with a message (to be freed with g_free) if the text is not a display filter. */
bool filter_prepare(struct filter *filter, const char *text, char **message);

/* Whether the filter can hold for a packet with these values at all. Says true where it is not sure:
 * most filters begin with the packet type and a few values, and need not be evaluated for packets
 * with others. */
bool filter_may_hold(const struct filter *filter, const struct marks *packet);

void marks_add(struct marks *marks, enum mark mark, uint32_t value);

/* A sum of octets, of one octet itself. */
uint32_t filters_sum(const uint8_t *octets, size_t count);

/* The filter for packet k of a frame (k from 1), or for the frame if it has no {k}. */
dfilter_t *filter_for(struct filter *filter, unsigned k, char **message);

void filter_release(struct filter *filter);

#endif
