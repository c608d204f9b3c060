/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket to the tester: one JSON document a line, a capture as a descriptor beside it. */
#ifndef X25SHARK_CHANNEL_H
#define X25SHARK_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

#define CHANNEL_LONGEST_LINE (16u * 1024 * 1024)

struct channel {
    int socket;
    int capture; /* descriptor that came with the line, or -1 */
    GString *pending;
};

void channel_open(struct channel *channel, int socket);

/* The next line without its newline, to be freed with g_free; NULL at the end of the stream, on an
 * error or if the line is longer than CHANNEL_LONGEST_LINE. channel->capture is the descriptor that
 * came last; the caller closes it and sets it to -1. */
char *channel_read(struct channel *channel);

bool channel_write(struct channel *channel, const char *text, size_t length);

void channel_close(struct channel *channel);

#endif
