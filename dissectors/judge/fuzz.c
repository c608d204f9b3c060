/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the judge, for libFuzzer or, through fuzz_once.c, for one file at a time.
 *
 * An input is a request in JSON on a line of its own (an empty one stands for the usual request) and
 * a capture: a file as it is, or behind "XOT" what two ends of TCP connections send each other, or
 * behind "LINE" the frames of a serial line. In both a piece is a control octet, a length octet and
 * as many octets. X25SHARK_FUZZ_LUA names the strict dissector.
 *
 * libFuzzer sees the coverage of the judge's own code; what libwireshark and the dissector in Lua do
 * is seen by what they say: each expert info, message and value of a field counts as a place. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <json-glib/json-glib.h>

#include "reading.h"
#include "start.h"

enum { LINK_RAW_IP = 101, LINK_USER0 = 147, NOBODY = 65534, PLACES = 16384, LONGEST_LINE = 8192 };
enum control { TO_A = 1, FIN = 2, RST = 4, AGAIN = 8, OTHER_CONNECTION = 16, SIXTEEN_TIMES = 32 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size);

#if defined(__clang__)
__attribute__((section("__libfuzzer_extra_counters")))
#endif
static uint8_t places[PLACES];

static const char usual[] =
    "{\"load\":1,\"filters\":[\"x25s.type#{k} == 19\",\"x25s.cause#{k} in {0, 5} && x25s.lcn#{k} == 1\","
    "\"!(x25s.user_data#{k})\",\"tcp.flags.reset == 1\",\"x25s.user_data#{k} == 61:62\"],"
    "\"fields\":[\"x25s.type\",\"x25s.cause\",\"x25s.diagnostic\",\"x25s.facility_code\","
    "\"x25s.pvc_status\",\"x25s.undefined\",\"x25s.called_address\",\"x25s.user_data\","
    "\"x25t.crc_status\",\"lapbs.type\",\"lapbs.undefined\",\"hdlcs.fcs_status\"]}";

/* Started as root libwireshark trusts no data folder that the environment names, and reads all its
 * own tables again with each capture. The judge is nobody then; who fuzzes has files to write. */
static void be(uid_t user)
{
    if (setresuid(0, 0, 0) != 0 || setresgid(user, user, 0) != 0 || setresuid(user, user, 0) != 0)
        perror("x25shark-judge-fuzz");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *lua = getenv("X25SHARK_FUZZ_LUA");
    bool root = getuid() == 0;

    (void)argc;
    if (root)
        be(NOBODY);
    if (lua == NULL || !start_wireshark((*argv)[0], lua)) {
        fputs("x25shark-judge-fuzz: X25SHARK_FUZZ_LUA names no dissector that works\n", stderr);
        exit(3);
    }
    if (root)
        be(0);
    return 0;
}

static void append_number(GByteArray *file, uint32_t number, unsigned octets, bool big)
{
    for (unsigned i = 0; i < octets; i++) {
        uint8_t octet = (uint8_t)(number >> 8 * (big ? octets - 1 - i : i));

        g_byte_array_append(file, &octet, 1);
    }
}

static void append_record_head(GByteArray *file, unsigned number, size_t size)
{
    append_number(file, number / 1000, 4, false);
    append_number(file, number % 1000 * 1000, 4, false);
    append_number(file, (uint32_t)size, 4, false);
    append_number(file, (uint32_t)size, 4, false);
}

static void append_segment(GByteArray *file, unsigned control, uint32_t sent[2][2],
                           const uint8_t *octets, size_t size)
{
    unsigned connection = (control & OTHER_CONNECTION) != 0, to_a = control & TO_A;
    uint32_t *own = &sent[connection][to_a];
    uint32_t client = 40000 + connection;

    if (control & AGAIN && *own >= size)
        *own -= (uint32_t)size;
    append_number(file, 0x45000000 | (uint32_t)(40 + size), 4, true);
    append_number(file, 0, 4, true);
    append_number(file, 0x40060000, 4, true);
    append_number(file, to_a ? 0x0a000002 : 0x0a000001, 4, true);
    append_number(file, to_a ? 0x0a000001 : 0x0a000002, 4, true);
    append_number(file, to_a ? 1998 : client, 2, true);
    append_number(file, to_a ? client : 1998, 2, true);
    append_number(file, 1 + *own, 4, true);
    append_number(file, 1 + sent[connection][!to_a], 4, true);
    append_number(file, 0x5010 | (control & FIN ? 1 : 0) | (control & RST ? 4 : 0), 2, true);
    append_number(file, 0xffff0000, 4, true);
    append_number(file, 0, 2, true);
    g_byte_array_append(file, octets, (guint)size);
    *own += (uint32_t)size;
}

/* A capture of what the pieces are. */
static GByteArray *pieces(const uint8_t *octets, size_t size, bool line)
{
    GByteArray *file = g_byte_array_new();
    uint32_t sent[2][2] = {{0, 0}, {0, 0}};

    append_number(file, 0xa1b2c3d4, 4, false);
    append_number(file, 0x00040002, 4, false);
    append_number(file, 0, 4, false);
    append_number(file, 0, 4, false);
    append_number(file, 262144, 4, false);
    append_number(file, line ? LINK_USER0 : LINK_RAW_IP, 4, false);
    for (unsigned number = 0; size >= 2; number++) {
        unsigned control = octets[0];
        size_t wanted = (size_t)octets[1] * (control & SIXTEEN_TIMES ? 16 : 1);
        size_t length = MIN(wanted, size - 2);

        append_record_head(file, number, length + (line ? 0 : 40));
        if (line)
            g_byte_array_append(file, octets + 2, (guint)length);
        else
            append_segment(file, control, sent, octets + 2, length);
        octets += 2 + length;
        size -= 2 + length;
    }
    return file;
}

static GByteArray *capture_of(const uint8_t *octets, size_t size)
{
    GByteArray *file;

    if (size >= 3 && memcmp(octets, "XOT", 3) == 0)
        return pieces(octets + 3, size - 3, false);
    if (size >= 4 && memcmp(octets, "LINE", 4) == 0)
        return pieces(octets + 4, size - 4, true);
    file = g_byte_array_new();
    g_byte_array_append(file, octets, (guint)size);
    return file;
}

/* A text counts as one place whatever numbers it names. */
static void count_text(const char *text)
{
    uint32_t sum = 0;

    for (; *text != '\0'; text++)
        if (!g_ascii_isxdigit(*text))
            sum = sum * 31 + (uint8_t)*text;
    places[sum % PLACES]++;
}

static void count_texts(JsonArray *rows)
{
    for (unsigned i = 0; rows != NULL && i < json_array_get_length(rows); i++) {
        JsonArray *row = json_array_get_array_element(rows, i);

        for (unsigned k = 0; k < json_array_get_length(row); k++)
            if (json_node_get_value_type(json_array_get_element(row, k)) == G_TYPE_STRING)
                count_text(json_array_get_string_element(row, k));
    }
}

/* Field and value of each packet stand behind its frame, k, end and offset. */
static void count_values(JsonArray *packets)
{
    for (unsigned i = 0; packets != NULL && i < json_array_get_length(packets); i++) {
        JsonArray *packet = json_array_get_array_element(packets, i);

        for (unsigned k = 4; k + 1 < json_array_get_length(packet); k += 2)
            if (json_node_get_value_type(json_array_get_element(packet, k + 1)) == G_TYPE_INT64)
                places[(256 * json_array_get_int_element(packet, k) +
                        (json_array_get_int_element(packet, k + 1) & 255)) % PLACES]++;
    }
}

static JsonArray *member(JsonObject *answer, const char *name)
{
    return json_object_has_member(answer, name) ? json_object_get_array_member(answer, name) : NULL;
}

static void count_places(JsonObject *answer)
{
    if (json_object_has_member(answer, "error"))
        count_text(json_object_get_string_member(json_object_get_object_member(answer, "error"),
                                                 "message"));
    count_texts(member(answer, "experts"));
    count_texts(member(answer, "differences"));
    count_texts(member(answer, "lua_errors"));
    count_values(member(answer, "packets"));
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size)
{
    const uint8_t *newline = memchr(octets, '\n', MIN(size, LONGEST_LINE));
    size_t length = newline == NULL ? 0 : (size_t)(newline - octets);
    char *line = length == 0 ? g_strdup(usual) : g_strndup((const char *)octets, length);
    size_t rest = newline == NULL ? 0 : size - length - 1;
    JsonNode *request = json_from_string(line, NULL);
    GByteArray *file = capture_of(newline == NULL ? octets : newline + 1, newline == NULL ? size : rest);
    int descriptor = memfd_create("capture", MFD_CLOEXEC);

    if (descriptor < 0 || write(descriptor, file->data, file->len) != (ssize_t)file->len)
        abort();
    GString *answer = reading_answer(request, descriptor);
    JsonNode *read = json_from_string(answer->str, NULL);

    /* An answer that is no JSON object, or ends at an octet 0, would be lost on the tester. */
    if (read == NULL || !JSON_NODE_HOLDS_OBJECT(read) || strlen(answer->str) != answer->len)
        abort();
    count_places(json_node_get_object(read));
    json_node_unref(read);
    if (request != NULL)
        json_node_unref(request);
    g_string_free(answer, TRUE);
    g_byte_array_free(file, TRUE);
    g_free(line);
    close(descriptor);
    return 0;
}
