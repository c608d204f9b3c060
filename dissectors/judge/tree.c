/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dissection tree of a frame, see tree.h. */
#include "tree.h"

#include <string.h>

#include <epan/expert.h>

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
    JsonObject *packet;   /* being filled, or NULL */
    const JsonObject *head;
    const header_field_info **fields;
    unsigned field_count;
};

void tree_reading_init(struct tree_reading *reading)
{
    reading->packets = json_array_new();
    reading->tcp = json_array_new();
    reading->experts = json_array_new();
    reading->differences = json_array_new();
    reading->lua_errors = json_array_new();
    reading->packet_count = 0;
    reading->directions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

void tree_reading_release(struct tree_reading *reading)
{
    json_array_unref(reading->packets);
    json_array_unref(reading->tcp);
    json_array_unref(reading->experts);
    json_array_unref(reading->differences);
    json_array_unref(reading->lua_errors);
    g_hash_table_destroy(reading->directions);
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

        json_array_add_string_element(visit->reading->lua_errors, text);
        g_free(text);
    } else if (id != NULL) {
        JsonObject *expert = json_object_new();

        json_object_set_int_member(expert, "frame", visit->frame);
        json_object_set_int_member(expert, "k", visit->inside);
        if (visit->offset >= 0)
            json_object_set_int_member(expert, "offset", visit->offset);
        json_object_set_string_member(expert, "id", id);
        json_object_set_string_member(expert, "message", message ? message : "");
        json_object_set_string_member(expert, "severity", severity);
        json_array_add_object_element(visit->reading->experts, expert);
    }
    g_free(message);
}

static void visit_field(const field_info *finfo, struct visit *visit)
{
    int id = finfo->hfinfo->id;

    if (id == fields_id(KNOWN_UNIT_OFFSET) || id == fields_id(KNOWN_PACKET_OFFSET) ||
        id == fields_id(KNOWN_FRAME_OFFSET)) {
        visit->offset = compat_number(finfo);
        if (visit->packet != NULL)
            json_object_set_int_member(visit->packet, "offset", visit->offset);
    } else if (id == fields_id(KNOWN_DIFFERENCE) && visit->inside > 0) {
        JsonObject *difference = json_object_new();
        char *text = fields_text(finfo);

        json_object_set_int_member(difference, "frame", visit->frame);
        json_object_set_int_member(difference, "k", visit->inside);
        json_object_set_string_member(difference, "text", text);
        json_array_add_object_element(visit->reading->differences, difference);
        g_free(text);
    }
    if (visit->packet == NULL)
        return;
    for (unsigned i = 0; i < visit->field_count; i++) {
        if (visit->fields[i]->id != id)
            continue;
        JsonObject *values = json_object_get_object_member(visit->packet, "fields");
        const char *name = finfo->hfinfo->abbrev;
        JsonArray *list;

        if (json_object_has_member(values, name)) {
            list = json_object_get_array_member(values, name);
        } else {
            list = json_array_new();
            json_object_set_array_member(values, name, list);
        }
        json_array_add_element(list, fields_json(finfo));
        break;
    }
}

static void copy_member(JsonObject *object, const char *name, JsonNode *value, gpointer target)
{
    (void)object;
    json_object_set_member(target, name, json_node_copy(value));
}

static void visit_node(proto_node *node, gpointer data);

/* Visit what lies below a node as the next packet of the frame. Offsets come before expert infos in
 * a packet, so that one visit in order knows them. */
static void visit_packet(proto_node *node, struct visit *visit)
{
    JsonObject *packet = json_object_new();

    visit->k++;
    visit->reading->packet_count++;
    visit->inside = visit->k;
    visit->packet = packet;
    json_object_set_int_member(packet, "frame", visit->frame);
    json_object_set_int_member(packet, "k", visit->k);
    json_object_foreach_member((JsonObject *)(uintptr_t)visit->head, copy_member, packet);
    json_object_set_object_member(packet, "fields", json_object_new());
    proto_tree_children_foreach(node, visit_node, visit);
    json_array_add_object_element(visit->reading->packets, packet);
    visit->inside = 0;
    visit->packet = NULL;
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

/* Follow the octets that each direction sent; report the frames that open or end a connection: those
 * with SYN, FIN or RST, and the acknowledgement that completes the handshake. */
static void read_tcp(struct tree_reading *reading, const epan_dissect_t *dissect, unsigned frame,
                     JsonObject *head)
{
    uint32_t flags = number_of(dissect, KNOWN_TCP_FLAGS);
    uint32_t sequence = number_of(dissect, KNOWN_TCP_SEQ);
    uint32_t length = number_of(dissect, KNOWN_TCP_LEN);
    char *key = g_strdup_printf("%u %s %u", number_of(dissect, KNOWN_TCP_STREAM),
                                json_object_get_string_member(head, "src"),
                                number_of(dissect, KNOWN_TCP_SRCPORT));
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
        JsonObject *end = json_object_new();

        json_object_set_int_member(end, "frame", frame);
        json_object_foreach_member(head, copy_member, end);
        json_object_set_int_member(end, "flags", flags);
        json_object_set_int_member(end, "seq", sequence);
        json_object_set_int_member(end, "len", length);
        /* What was sent before a FIN it says itself: octets that were lost are captured later. */
        json_object_set_int_member(end, "offset",
                                   flags & TCP_FIN ? sequence + (flags & TCP_SYN ? 1 : 0) - direction->first
                                                   : direction->sent);
        json_array_add_object_element(reading->tcp, end);
    }
    uint32_t reached = sequence + (flags & TCP_SYN ? 1 : 0) - direction->first + length;

    if (length > 0 && reached - direction->sent < 0x80000000u)
        direction->sent = reached;
}

unsigned tree_read(struct tree_reading *reading, epan_dissect_t *dissect, unsigned frame,
                   const header_field_info **fields, unsigned field_count)
{
    struct visit visit = {
        .reading = reading,
        .frame = frame,
        .offset = -1,
        .fields = fields,
        .field_count = field_count,
    };
    JsonObject *head = json_object_new();

    if (fields_first(dissect, KNOWN_TCP_SRCPORT) != NULL) {
        char *from = address_of(dissect, KNOWN_IP_SRC, KNOWN_IPV6_SRC);
        char *to = address_of(dissect, KNOWN_IP_DST, KNOWN_IPV6_DST);

        json_object_set_int_member(head, "stream", number_of(dissect, KNOWN_TCP_STREAM));
        json_object_set_string_member(head, "src", from);
        json_object_set_int_member(head, "sport", number_of(dissect, KNOWN_TCP_SRCPORT));
        json_object_set_string_member(head, "dst", to);
        json_object_set_int_member(head, "dport", number_of(dissect, KNOWN_TCP_DSTPORT));
        g_free(from);
        g_free(to);
        read_tcp(reading, dissect, frame, head);
    } else if (fields_first(dissect, KNOWN_FRAME_DIRECTION) != NULL) {
        bool from_router = number_of(dissect, KNOWN_FRAME_DIRECTION) != 0;

        json_object_set_int_member(head, "stream", number_of(dissect, KNOWN_FRAME_LINK));
        json_object_set_string_member(head, "src", from_router ? "R" : "A");
        json_object_set_int_member(head, "sport", 0);
        json_object_set_string_member(head, "dst", from_router ? "A" : "R");
        json_object_set_int_member(head, "dport", 0);
    }
    visit.head = head;
    /* An HDLC frame is one packet, whether or not it carries one of X.25. */
    if (fields_first(dissect, KNOWN_FRAME_OFFSET) != NULL)
        visit_packet(dissect->tree, &visit);
    else
        proto_tree_children_foreach(dissect->tree, visit_node, &visit);
    json_object_unref(head);
    return visit.k;
}
