/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of the dissection tree, see fields.h. */
#include "fields.h"

#include <string.h>

#include "answer.h"

/* Fewer octets are as short in hexadecimal. */
#define LEAST_OF_A_PART 8

static const char *const names[KNOWN_FIELDS] = {
    [KNOWN_IP_SRC] = "ip.src",
    [KNOWN_IP_DST] = "ip.dst",
    [KNOWN_IPV6_SRC] = "ipv6.src",
    [KNOWN_IPV6_DST] = "ipv6.dst",
    [KNOWN_TCP_STREAM] = "tcp.stream",
    [KNOWN_TCP_SRCPORT] = "tcp.srcport",
    [KNOWN_TCP_DSTPORT] = "tcp.dstport",
    [KNOWN_TCP_FLAGS] = "tcp.flags",
    [KNOWN_TCP_SEQ] = "tcp.seq_raw",
    [KNOWN_TCP_LEN] = "tcp.len",
    [KNOWN_UNIT_OFFSET] = "xots.offset",
    [KNOWN_PACKET_OFFSET] = "x25s.offset",
    [KNOWN_FRAME_OFFSET] = "hdlcs.offset",
    [KNOWN_FRAME_DIRECTION] = "hdlcs.direction",
    [KNOWN_FRAME_LINK] = "hdlcs.link",
    [KNOWN_DIFFERENCE] = "x25s.builtin_differs",
    [KNOWN_EXPERT_MESSAGE] = "_ws.expert.message",
    [KNOWN_EXPERT_SEVERITY] = "_ws.expert.severity",
    [KNOWN_LUA_ERROR] = "_ws.lua.error",
};

static const char *const mark_names[MARKS] = {
    [MARK_TYPE] = "x25s.type",
    [MARK_P_S] = "x25s.p_s",
    [MARK_CAUSE] = "x25s.cause",
    [MARK_DIAGNOSTIC] = "x25s.diagnostic",
    [MARK_USER_DATA] = "x25s.user_data",
};

static const char *const strict_protocols[] = {"x25s", "xots", "x25t", "hdlcs", "lapbs"};

static int ids[KNOWN_FIELDS];
static const header_field_info *marks[MARKS];
static int packet_protocol, unit_protocol, expert_protocol;
static GArray *wanted;

static bool is_strict(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(strict_protocols); i++) {
        size_t length = strlen(strict_protocols[i]);

        if (strncmp(name, strict_protocols[i], length) == 0 && name[length] == '.')
            return true;
    }
    return false;
}

bool fields_is_expert(const header_field_info *field)
{
    return field->type == FT_NONE && is_strict(field->abbrev);
}

bool fields_start(const char **missing)
{
    wanted = g_array_new(FALSE, FALSE, sizeof(int));
    for (int i = 0; i < KNOWN_FIELDS; i++) {
        const header_field_info *field = proto_registrar_get_byname(names[i]);

        if (field == NULL) {
            *missing = names[i];
            return false;
        }
        ids[i] = field->id;
        g_array_append_val(wanted, field->id);
    }
    /* Filters that name them have them in the tree. */
    for (enum mark mark = 0; mark < MARKS; mark++) {
        marks[mark] = proto_registrar_get_byname(mark_names[mark]);
        if (marks[mark] == NULL) {
            *missing = mark_names[mark];
            return false;
        }
    }
    packet_protocol = proto_get_id_by_filter_name("x25s");
    unit_protocol = proto_get_id_by_filter_name("xots");
    expert_protocol = proto_get_id_by_filter_name("_ws.expert");
    if (packet_protocol < 0 || unit_protocol < 0 || expert_protocol < 0) {
        *missing = "x25s";
        return false;
    }
    /* What nothing asks for is not in the tree: expert infos, and since 4.6 protocols. */
    g_array_append_val(wanted, expert_protocol);
    for (size_t i = 0; i < G_N_ELEMENTS(strict_protocols); i++) {
        void *cookie = NULL;
        int protocol = proto_get_id_by_filter_name(strict_protocols[i]);
        const header_field_info *field =
            protocol < 0 ? NULL : proto_get_first_protocol_field(protocol, &cookie);

        if (protocol >= 0)
            g_array_append_val(wanted, protocol);

        for (; field != NULL; field = proto_get_next_protocol_field(protocol, &cookie))
            if (fields_is_expert(field))
                g_array_append_val(wanted, field->id);
    }
    return true;
}

int fields_id(enum known_field field)
{
    return ids[field];
}

const header_field_info *fields_mark(enum mark mark)
{
    return marks[mark];
}

const header_field_info *fields_last(const header_field_info *field)
{
    while (field->same_name_next != NULL)
        field = field->same_name_next;
    return field;
}

const header_field_info *fields_before(const header_field_info *field)
{
    return field->same_name_prev_id < 0
               ? NULL
               : proto_registrar_get_nth((unsigned)field->same_name_prev_id);
}

const char *fields_mark_name(enum mark mark)
{
    return mark_names[mark];
}

int fields_packet_protocol(void)
{
    return packet_protocol;
}

int fields_unit_protocol(void)
{
    return unit_protocol;
}

int fields_expert_protocol(void)
{
    return expert_protocol;
}

const GArray *fields_wanted(void)
{
    return wanted;
}

char *fields_text(const field_info *finfo)
{
    char *text = fvalue_to_string_repr(NULL, FIELD_VALUE(finfo), FTREPR_DISPLAY,
                                       finfo->hfinfo->display);
    char *valid = g_utf8_make_valid(text ? text : "", -1);

    wmem_free(NULL, text);
    return valid;
}

bool fields_is_octets(const header_field_info *field)
{
    return field->type == FT_BYTES;
}

bool fields_write_part(GString *answer, const field_info *finfo, const field_info *whole,
                       unsigned whole_place)
{
    size_t count, all;
    const uint8_t *octets, *among;

    if (!fields_is_octets(finfo->hfinfo) || finfo->start < whole->start)
        return false;
    octets = compat_octets(finfo, &count);
    among = compat_octets(whole, &all);
    size_t at = (size_t)(finfo->start - whole->start);

    if (count < LEAST_OF_A_PART || at > all || count > all - at ||
        memcmp(octets, among + at, count) != 0)
        return false;
    answer_comma(answer);
    g_string_append_c(answer, '[');
    answer_number(answer, whole_place);
    answer_number(answer, (int64_t)at);
    answer_number(answer, (int64_t)count);
    g_string_append_c(answer, ']');
    return true;
}

void fields_write(GString *answer, const field_info *finfo)
{
    char *text;
    size_t count;

    switch (finfo->hfinfo->type) {
    case FT_UINT8:
    case FT_UINT16:
    case FT_UINT24:
    case FT_UINT32:
    case FT_CHAR:
    case FT_FRAMENUM:
        answer_number(answer, compat_number(finfo));
        break;
    case FT_UINT64:
    case FT_BOOLEAN:
        answer_number(answer, (int64_t)compat_number64(finfo));
        break;
    case FT_BYTES: {
        const uint8_t *octets = compat_octets(finfo, &count);

        answer_octets(answer, octets, count);
        break;
    }
    default:
        text = fields_text(finfo);
        answer_string(answer, text);
        g_free(text);
    }
}

const field_info *fields_first(const epan_dissect_t *dissect, enum known_field field)
{
    const GPtrArray *all = proto_get_finfo_ptr_array(dissect->tree, ids[field]);

    return all != NULL && all->len > 0 ? g_ptr_array_index(all, 0) : NULL;
}
