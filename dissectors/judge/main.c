/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The resident judge: reads captures with libwireshark and the strict dissector and evaluates
 * display filters on every X.25 packet.
 *
 *     x25shark-judge --socket NUMBER --lua FILE
 *
 * The socket (an inherited stream socket) carries one JSON document a line. The judge starts with
 * {"ready": VERSION, "confined": [NAME...]}. Request and answer: see reading.h. The judge ends when the socket does. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-glib/json-glib.h>

#include "answer.h"
#include "channel.h"
#include "compat.h"
#include "confinement.h"
#include "memory.h"
#include "privileges.h"
#include "reading.h"
#include "start.h"

enum { EXIT_USE = 2, EXIT_START = 3 };

/* Behind a capture of more octets than that, what it took goes back to the system. */
enum { MUCH = 1 << 19 };

static bool send_answer(struct channel *channel, GString *answer)
{
    bool sent;

    g_string_append_c(answer, '\n');
    sent = channel_write(channel, answer->str, answer->len);
    g_string_free(answer, TRUE);
    return sent;
}

static bool send_ready(struct channel *channel, GPtrArray *confined)
{
    GString *ready = g_string_new("{\"ready\":");

    answer_string(ready, epan_get_version());
    g_string_append(ready, ",\"confined\":[");
    for (guint i = 0; i < confined->len; i++) {
        if (i > 0)
            g_string_append_c(ready, ',');
        answer_string(ready, g_ptr_array_index(confined, i));
    }
    g_string_append(ready, "]}");
    return send_answer(channel, ready);
}

static void serve(struct channel *channel, GPtrArray *confined)
{
    char *line;
    bool going = send_ready(channel, confined);

    while (going && (line = channel_read(channel)) != NULL) {
        GError *error = NULL;
        JsonNode *request = json_from_string(line, &error);
        struct stat capture = {.st_size = 0};

        if (channel->capture >= 0)
            (void)fstat(channel->capture, &capture);
        confinement_grant_processor();
        going = send_answer(channel, reading_answer(request, channel->capture));
        if (channel->capture >= 0) {
            close(channel->capture);
            channel->capture = -1;
        }
        g_clear_error(&error);
        if (request != NULL)
            json_node_unref(request);
        g_free(line);
        if (capture.st_size > MUCH)
            malloc_trim(0);
    }
}

static int number_of_socket(const char *text)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    return errno != 0 || *end != '\0' || end == text || number < 3 || number > 1023 ? -1 : (int)number;
}

int main(int argc, char **argv)
{
    struct channel channel;
    GPtrArray *confined = g_ptr_array_new();
    const char *reason = NULL;
    const char *lua = NULL;
    int socket = -1;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--socket") == 0)
            socket = number_of_socket(argv[i + 1]);
        else if (strcmp(argv[i], "--lua") == 0)
            lua = argv[i + 1];
    }
    if (argc != 5 || socket < 0 || lua == NULL) {
        fputs("usage: x25shark-judge --socket NUMBER --lua FILE\n", stderr);
        return EXIT_USE;
    }
    if (privileges_leave_network())
        g_ptr_array_add(confined, "no network");
    if (!privileges_drop(&reason)) {
        fprintf(stderr, "x25shark-judge: will not read captures as root: %s\n", reason);
        return EXIT_START;
    }
    if (!privileges_bound() || !start_wireshark(argv[0], lua))
        return EXIT_START;
    channel_open(&channel, socket);
    memory_give_back();
    confinement_enter(confined);
    serve(&channel, confined);
    channel_close(&channel);
    /* libwireshark's own clean-up has nothing left to save. */
    fflush(NULL);
    _exit(0);
}
