/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissection tree of a frame, see tree.h. */
#include "tree.h"

#include <string.h>

#include <epan/expert.h>

#include "answer.h"
#include "fields.h"

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10

/* What one direction of a connection has sent. */
struct direction {
    uint32_t first; /* sequence number of its first octet */
    uint32_t sent;  /* octets up to the highest seen */
    bool opening;   /* it sent a SYN, and has not acknowledged the answer yet */
};

struct visit {
    struct tree_reading *reading;
    unsigned frame;
    unsigned k;           /* packets seen in the frame */
    unsigned inside;      /* k of the packet being visited, 0 outside */
    int64_t offset;       /* of the unit being visited, -1 if unknown */
    int end;              /* who sent the frame to whom, as a place in ends; -1 if unknown */
    GString *values;      /* of the packet being visited */
    const field_info *whole; /* the first value of octets of that packet, NULL: none yet */
    unsigned whole_place;    /* its place in fields */
    const header_field_info **fields;
    unsigned field_count;
};

void tree_reading_init(struct tree_reading *reading)
{
    reading->ends = g_string_new(NULL);
    reading->packets = g_string_new(NULL);
    reading->tcp = g_string_new(NULL);
    reading->experts = g_string_new(NULL);
    reading->differences = g_string_new(NULL);
    reading->lua_errors = g_string_new(NULL);
    reading->packet_count = 0;
    reading->end_numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    reading->marks = g_array_new(FALSE, TRUE, sizeof(struct marks));
    reading->directions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

void tree_reading_release(struct tree_reading *reading)
{
    g_string_free(reading->ends, TRUE);
    g_string_free(reading->packets, TRUE);
    g_string_free(reading->tcp, TRUE);
    g_string_free(reading->experts, TRUE);
    g_string_free(reading->differences, TRUE);
    g_string_free(reading->lua_errors, TRUE);
    g_hash_table_destroy(reading->end_numbers);
    g_array_free(reading->marks, TRUE);
    g_hash_table_destroy(reading->directions);
}

/* Begin an element of an array of the answer: it is an array as well. */
static GString *begin(GString *text)
{
    answer_comma(text);
    return g_string_append_c(text, '[');
}

static const char *severity_name(uint32_t severity)
{
    switch (severity & PI_SEVERITY_MASK) {
    case PI_ERROR:
        return "error";
    case PI_WARN:
        return "warn";
    case PI_NOTE:
        return "note";
    default:
        return "chat";
    }
}

/* The strict expert info (or Lua error) below an "_ws.expert" node. */
static void visit_expert(proto_node *node, struct visit *visit)
{
    const char *id = NULL;
    const char *severity = "chat";
    char *message = NULL;
    bool lua = false;

    for (proto_node *child = node->first_child; child != NULL; child = child->next) {
        const field_info *finfo = PNODE_FINFO(child);

        if (finfo == NULL)
            continue;
        if (finfo->hfinfo->id == fields_id(KNOWN_LUA_ERROR))
            lua = true;
        else if (fields_is_expert(finfo->hfinfo))
            id = finfo->hfinfo->abbrev;
        else if (finfo->hfinfo->id == fields_id(KNOWN_EXPERT_SEVERITY))
            severity = severity_name(compat_number(finfo));
        else if (finfo->hfinfo->id == fields_id(KNOWN_EXPERT_MESSAGE) && message == NULL)
            message = fields_text(finfo);
    }
    if (lua) {
        char *text = g_strdup_printf("frame %u: %s", visit->frame, message ? message : "Lua error");

        answer_string(visit->reading->lua_errors, text);
        g_free(text);
    } else if (id != NULL) {
        GString *expert = begin(visit->reading->experts);

        answer_number(expert, visit->frame);
        answer_number(expert, visit->inside);
        answer_number(expert, visit->end);
        answer_number(expert, visit->offset);
        answer_string(expert, id);
        answer_string(expert, message ? message : "");
        answer_string(expert, severity);
        g_string_append_c(expert, ']');
    }
    g_free(message);
}

static void visit_field(const field_info *finfo, struct visit *visit)
{
    int id = finfo->hfinfo->id;

    if (id == fields_id(KNOWN_UNIT_OFFSET) || id == fields_id(KNOWN_PACKET_OFFSET) ||
        id == fields_id(KNOWN_FRAME_OFFSET)) {
        visit->offset = compat_number(finfo);
    } else if (id == fields_id(KNOWN_DIFFERENCE) && visit->inside > 0) {
        GString *difference = begin(visit->reading->differences);
        char *text = fields_text(finfo);

        answer_number(difference, visit->frame);
        answer_number(difference, visit->inside);
        answer_string(difference, text);
        g_string_append_c(difference, ']');
        g_free(text);
    }
    if (visit->inside == 0)
        return;

    const header_field_info *named = fields_last(finfo->hfinfo);

    for (unsigned i = 0; i < visit->field_count; i++) {
        if (visit->fields[i] != named)
            continue;
        answer_number(visit->values, i);
        if (visit->whole != NULL &&
            fields_write_part(visit->values, finfo, visit->whole, visit->whole_place))
            break;
        fields_write(visit->values, finfo);
        if (visit->whole == NULL && fields_is_octets(finfo->hfinfo)) {
            visit->whole = finfo;
            visit->whole_place = i;
        }
        break;
    }
}

static void visit_node(proto_node *node, gpointer data);

/* Visit what lies below a node as the next packet of the frame. Offsets come before expert infos in
 * a packet, so that one visit in order knows them. */
static void visit_packet(proto_node *node, struct visit *visit)
{
    GString *packet = visit->reading->packets;

    visit->k++;
    visit->reading->packet_count++;
    visit->inside = visit->k;
    g_string_truncate(visit->values, 0);
    visit->whole = NULL;
    proto_tree_children_foreach(node, visit_node, visit);
    begin(packet);
    answer_number(packet, visit->frame);
    answer_number(packet, visit->k);
    answer_number(packet, visit->end);
    answer_number(packet, visit->offset);
    if (visit->values->len > 0) {
        answer_comma(packet);
        g_string_append_len(packet, visit->values->str, (gssize)visit->values->len);
    }
    g_string_append_c(packet, ']');
    visit->inside = 0;
    visit->offset = -1;
}

static void visit_node(proto_node *node, gpointer data)
{
    struct visit *visit = data;
    field_info *finfo = PNODE_FINFO(node);

    if (finfo == NULL) {
        proto_tree_children_foreach(node, visit_node, visit);
        return;
    }
    int id = finfo->hfinfo->id;

    if (id == fields_packet_protocol() && visit->inside == 0) {
        finfo->proto_layer_num = (int)visit->k + 1;
        visit_packet(node, visit);
        return;
    }
    if (visit->inside > 0) {
        /* libwireshark counts layers in one octet in 4.0; the order in the tree has no such end. */
        finfo->proto_layer_num = (int)visit->inside;
    } else if (id == fields_unit_protocol()) {
        visit->offset = -1;
    }
    if (id == fields_expert_protocol())
        visit_expert(node, visit);
    else
        visit_field(finfo, visit);
    proto_tree_children_foreach(node, visit_node, visit);
}

static uint32_t number_of(const epan_dissect_t *dissect, enum known_field field)
{
    const field_info *finfo = fields_first(dissect, field);

    return finfo ? compat_number(finfo) : 0;
}

static char *address_of(const epan_dissect_t *dissect, enum known_field v4, enum known_field v6)
{
    const field_info *finfo = fields_first(dissect, v4);

    if (finfo == NULL)
        finfo = fields_first(dissect, v6);
    return finfo ? fields_text(finfo) : g_strdup("");
}

/* The place in ends of this sender and this receiver. */
static int end_number(struct tree_reading *reading, uint32_t stream, const char *from,
                      uint32_t from_port, const char *to, uint32_t to_port)
{
    GString *end = g_string_new("[");
    gpointer known;

    answer_number(end, stream);
    answer_string(end, from);
    answer_number(end, from_port);
    answer_string(end, to);
    answer_number(end, to_port);
    g_string_append_c(end, ']');
    if (g_hash_table_lookup_extended(reading->end_numbers, end->str, NULL, &known)) {
        g_string_free(end, TRUE);
        return GPOINTER_TO_INT(known);
    }
    int number = (int)g_hash_table_size(reading->end_numbers);

    answer_comma(reading->ends);
    g_string_append_len(reading->ends, end->str, (gssize)end->len);
    g_hash_table_insert(reading->end_numbers, g_string_free(end, FALSE), GINT_TO_POINTER(number));
    return number;
}

/* Follow the octets that each direction sent; report the frames that open or end a connection: those
 * with SYN, FIN or RST, and the acknowledgement that completes the handshake. */
static void read_tcp(struct tree_reading *reading, const epan_dissect_t *dissect, unsigned frame,
                     int number, const char *from)
{
    uint32_t flags = number_of(dissect, KNOWN_TCP_FLAGS);
    uint32_t sequence = number_of(dissect, KNOWN_TCP_SEQ);
    uint32_t length = number_of(dissect, KNOWN_TCP_LEN);
    char *key = g_strdup_printf("%u %s %u", number_of(dissect, KNOWN_TCP_STREAM),
                                from, number_of(dissect, KNOWN_TCP_SRCPORT));
    struct direction *direction = g_hash_table_lookup(reading->directions, key);

    if (direction == NULL) {
        direction = g_new0(struct direction, 1);
        direction->first = flags & TCP_SYN ? sequence + 1 : sequence;
        direction->opening = (flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
        g_hash_table_insert(reading->directions, key, direction);
    } else {
        g_free(key);
    }
    bool opened = direction->opening && (flags & (TCP_SYN | TCP_RST | TCP_ACK)) == TCP_ACK;

    if (opened)
        direction->opening = false;
    if (opened || flags & (TCP_SYN | TCP_FIN | TCP_RST)) {
        GString *end = begin(reading->tcp);
        /* What was sent before a FIN it says itself: octets that were lost are captured later. */
        uint32_t before = flags & TCP_FIN ? sequence + (flags & TCP_SYN ? 1 : 0) - direction->first
                                          : direction->sent;

        answer_number(end, frame);
        answer_number(end, number);
        answer_number(end, flags);
        answer_number(end, sequence);
        answer_number(end, length);
        answer_number(end, before);
        g_string_append_c(end, ']');
    }
    uint32_t reached = sequence + (flags & TCP_SYN ? 1 : 0) - direction->first + length;

    if (length > 0 && reached - direction->sent < 0x80000000u)
        direction->sent = reached;
}

static uint32_t value_of(const field_info *finfo)
{
    const uint8_t *octets;
    size_t count;

    if (!fields_is_octets(finfo->hfinfo))
        return compat_number(finfo);
    octets = compat_octets(finfo, &count);
    return filters_sum(octets, count);
}

/* Note one mark of the packets of the frame, where a field of its name has it. */
static void note_mark(struct tree_reading *reading, const epan_dissect_t *dissect, unsigned packets,
                      enum mark mark, const header_field_info *field)
{
    const GPtrArray *all = proto_get_finfo_ptr_array(dissect->tree, field->id);

    for (unsigned i = 0; all != NULL && i < all->len; i++) {
        const field_info *finfo = g_ptr_array_index(all, i);
        int k = finfo->proto_layer_num;

        if (k >= 1 && (unsigned)k <= packets)
            marks_add(&g_array_index(reading->marks, struct marks, k - 1), mark, value_of(finfo));
    }
}

/* Note the marks of the packets of the frame, by the layer numbers that a filter looks at. */
static void note_marks(struct tree_reading *reading, const epan_dissect_t *dissect, unsigned packets)
{
    g_array_set_size(reading->marks, 0);
    g_array_set_size(reading->marks, packets);
    for (enum mark mark = 0; packets > 0 && mark < MARKS; mark++)
        for (const header_field_info *field = fields_mark(mark); field != NULL;
             field = fields_before(field))
            note_mark(reading, dissect, packets, mark, field);
}

unsigned tree_read(struct tree_reading *reading, epan_dissect_t *dissect, unsigned frame,
                   const header_field_info **fields, unsigned field_count)
{
    struct visit visit = {
        .reading = reading,
        .frame = frame,
        .offset = -1,
        .end = -1,
        .values = g_string_new(NULL),
        .fields = fields,
        .field_count = field_count,
    };

    if (fields_first(dissect, KNOWN_TCP_SRCPORT) != NULL) {
        char *from = address_of(dissect, KNOWN_IP_SRC, KNOWN_IPV6_SRC);
        char *to = address_of(dissect, KNOWN_IP_DST, KNOWN_IPV6_DST);

        visit.end = end_number(reading, number_of(dissect, KNOWN_TCP_STREAM), from,
                               number_of(dissect, KNOWN_TCP_SRCPORT), to,
                               number_of(dissect, KNOWN_TCP_DSTPORT));
        read_tcp(reading, dissect, frame, visit.end, from);
        g_free(from);
        g_free(to);
    } else if (fields_first(dissect, KNOWN_FRAME_DIRECTION) != NULL) {
        bool from_router = number_of(dissect, KNOWN_FRAME_DIRECTION) != 0;

        visit.end = end_number(reading, number_of(dissect, KNOWN_FRAME_LINK),
                               from_router ? "R" : "A", 0, from_router ? "A" : "R", 0);
    }
    /* An HDLC frame is one packet, whether or not it carries one of X.25. */
    if (fields_first(dissect, KNOWN_FRAME_OFFSET) != NULL)
        visit_packet(dissect->tree, &visit);
    else
        proto_tree_children_foreach(dissect->tree, visit_node, &visit);
    g_string_free(visit.values, TRUE);
    note_marks(reading, dissect, visit.k);
    return visit.k;
}
