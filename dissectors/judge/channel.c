/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket to the tester, see channel.h. */
#include "channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

void channel_open(struct channel *channel, int socket)
{
    channel->socket = socket;
    channel->capture = -1;
    channel->pending = g_string_new(NULL);
}

void channel_close(struct channel *channel)
{
    if (channel->capture >= 0)
        close(channel->capture);
    close(channel->socket);
    g_string_free(channel->pending, TRUE);
}

/* Keep the last descriptor of a message, close any other. */
static void take_descriptors(struct channel *channel, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        for (size_t i = 0; i < count; i++) {
            int descriptor;

            memcpy(&descriptor, CMSG_DATA(c) + i * sizeof(int), sizeof descriptor);
            if (channel->capture >= 0)
                close(channel->capture);
            channel->capture = descriptor;
        }
    }
}

static ssize_t receive(struct channel *channel, char *octets, size_t size)
{
    union {
        char octets[CMSG_SPACE(4 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec vector = {.iov_base = octets, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &vector,
        .msg_iovlen = 1,
        .msg_control = control.octets,
        .msg_controllen = sizeof control.octets,
    };
    ssize_t got;

    do {
        got = recvmsg(channel->socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got >= 0)
        take_descriptors(channel, &message);
    return got;
}

char *channel_read(struct channel *channel)
{
    char octets[65536];
    size_t searched = 0;

    for (;;) {
        const char *start = channel->pending->str;
        const char *newline =
            memchr(start + searched, '\n', channel->pending->len - searched);

        if (newline != NULL) {
            char *line = g_strndup(start, (gsize)(newline - start));

            g_string_erase(channel->pending, 0, newline - start + 1);
            return line;
        }
        searched = channel->pending->len;
        if (searched > CHANNEL_LONGEST_LINE)
            return NULL;
        ssize_t got = receive(channel, octets, sizeof octets);

        if (got <= 0)
            return NULL;
        g_string_append_len(channel->pending, octets, got);
    }
}

bool channel_write(struct channel *channel, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(channel->socket, text, length, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        text += sent;
        length -= (size_t)sent;
    }
    return true;
}
