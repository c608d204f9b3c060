/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of the dissection tree: which ones the judge needs, and their values in the answer. */
#ifndef X25SHARK_FIELDS_H
#define X25SHARK_FIELDS_H

#include <stdbool.h>

#include <glib.h>

#include "compat.h"
#include "filters.h"

enum known_field {
    KNOWN_IP_SRC,
    KNOWN_IP_DST,
    KNOWN_IPV6_SRC,
    KNOWN_IPV6_DST,
    KNOWN_TCP_STREAM,
    KNOWN_TCP_SRCPORT,
    KNOWN_TCP_DSTPORT,
    KNOWN_TCP_FLAGS,
    KNOWN_TCP_SEQ,
    KNOWN_TCP_LEN,
    KNOWN_UNIT_OFFSET,
    KNOWN_PACKET_OFFSET,
    KNOWN_FRAME_OFFSET,
    KNOWN_FRAME_DIRECTION,
    KNOWN_FRAME_LINK,
    KNOWN_DIFFERENCE,
    KNOWN_EXPERT_MESSAGE,
    KNOWN_EXPERT_SEVERITY,
    KNOWN_LUA_ERROR,
    KNOWN_FIELDS
};

/* Look up everything; false with the name of what is missing. Call after libwireshark is up. */
bool fields_start(const char **missing);

int fields_id(enum known_field field);
/* The field of a mark, the last registered of its name. */
const header_field_info *fields_mark(enum mark mark);
const char *fields_mark_name(enum mark mark);
int fields_packet_protocol(void);
int fields_unit_protocol(void);
int fields_expert_protocol(void);

/* The numbers of all fields to prime each dissection with. */
const GArray *fields_wanted(void);

/* A name may have several fields, as P(S) has one for each modulus. The last registered of them, by
 * which the name is known, and the one registered before a field, or NULL. */
const header_field_info *fields_last(const header_field_info *field);
const header_field_info *fields_before(const header_field_info *field);

/* True for the field that names an expert info of the strict protocols. */
bool fields_is_expert(const header_field_info *field);

/* Whether the field's values are octets. */
bool fields_is_octets(const header_field_info *field);

/* Add a field's value: numbers and booleans as numbers, octets in hexadecimal, else text. */
void fields_write(GString *answer, const field_info *finfo);

/* Add where a value of octets is among those of another field of the packet, and how many they are,
 * if it is: [whole_place, from, how many]. A long packet is in the answer once then. */
bool fields_write_part(GString *answer, const field_info *finfo, const field_info *whole,
                       unsigned whole_place);

/* A field's value as text, to be freed with g_free. */
char *fields_text(const field_info *finfo);

/* The outermost occurrence of a field in the frame, or NULL. */
const field_info *fields_first(const epan_dissect_t *dissect, enum known_field field);

#endif
