/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The yardstick of the engine: a bare epoll program that makes the system calls of XOT calls
 * without any X.25. Client and server have a thread each, as the engine's two sides have.
 *
 * A "call": connect; send 30 octets, receive 27; send a message of one packet and receive as many
 * octets; send 9, receive 7; close. Octets are counted, never looked at.
 *
 * usage: bare_epoll CIRCUITS SECONDS MESSAGE_OCTETS   (prints calls per second)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CALL = 30, ACCEPTED = 27, CLEAR = 9, CONFIRMATION = 7, HEADERS = 7 };
enum { MOST = 65536, EVENTS = 512 };

static size_t message;
static int port;
static volatile int stop;
static unsigned char octets[1 << 20];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void transmit(int fd, size_t length)
{
    if (send(fd, octets, length, MSG_NOSIGNAL) != (ssize_t)length)
        die("send");
}

static void watch(int epoll, int fd, unsigned events)
{
    struct epoll_event e = {.events = events, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0)
        die("epoll_ctl");
}

static void one(int fd, int level, int option)
{
    int on = 1;
    if (setsockopt(fd, level, option, &on, sizeof on) != 0)
        die("setsockopt");
}

/* What a connection still has to receive before it sends the next thing. */
struct step {
    size_t left;
    int stage;
};
static struct step served[MOST], called[MOST];

static void serve_one(int fd, unsigned char *buffer, size_t size)
{
    ssize_t n = recv(fd, buffer, size, 0);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        close(fd);
        return;
    }
    struct step *s = &served[fd];
    while (n > 0) {
        size_t part = (size_t)n < s->left ? (size_t)n : s->left;
        s->left -= part;
        n -= (ssize_t)part;
        if (s->left > 0)
            break;
        switch (s->stage++) {
        case 0:
            transmit(fd, ACCEPTED);
            s->left = message + HEADERS;
            break;
        case 1:
            transmit(fd, message + HEADERS);
            s->left = CLEAR;
            break;
        default:
            transmit(fd, CONFIRMATION);
            s->left = 1;
            break;
        }
    }
}

static void *serve(void *argument)
{
    int listener = *(int *)argument;
    int epoll = epoll_create1(0);
    struct epoll_event events[EVENTS];
    size_t size = 256 * 1024;
    unsigned char *buffer = malloc(size);
    watch(epoll, listener, EPOLLIN);
    while (!stop) {
        int n = epoll_wait(epoll, events, EVENTS, 50);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd != listener) {
                serve_one(fd, buffer, size);
                continue;
            }
            for (;;) {
                int peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (peer < 0)
                    break;
                if (peer >= MOST)
                    die("too many descriptors");
                served[peer] = (struct step){.left = CALL, .stage = 0};
                watch(epoll, peer, EPOLLIN | EPOLLOUT | EPOLLET);
            }
        }
    }
    free(buffer);
    return NULL;
}

static void place_call(int epoll)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || fd >= MOST)
        die("socket");
    one(fd, IPPROTO_TCP, TCP_NODELAY);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)
        die("connect");
    called[fd] = (struct step){.left = ACCEPTED, .stage = 0};
    transmit(fd, CALL);
    watch(epoll, fd, EPOLLIN | EPOLLOUT | EPOLLET);
}

/* Whether the call is over. */
static int call_one(int fd, unsigned char *buffer, size_t size)
{
    ssize_t n = recv(fd, buffer, size, 0);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0)
        die("recv");
    struct step *s = &called[fd];
    s->left -= (size_t)n;
    if (s->left > 0)
        return 0;
    switch (s->stage++) {
    case 0:
        transmit(fd, message + HEADERS);
        s->left = message + HEADERS;
        return 0;
    case 1:
        transmit(fd, CLEAR);
        s->left = CONFIRMATION;
        return 0;
    default:
        close(fd);
        return 1;
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s CIRCUITS SECONDS MESSAGE_OCTETS\n", argv[0]);
        return 2;
    }
    int circuits = atoi(argv[1]);
    double seconds = atof(argv[2]);
    message = (size_t)atol(argv[3]);
    if (circuits < 1 || seconds <= 0 || message < 1 || message + HEADERS > sizeof octets)
        return 2;
    struct rlimit limit = {MOST, MOST};
    setrlimit(RLIMIT_NOFILE, &limit);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    one(listener, IPPROTO_TCP, TCP_NODELAY);
    one(listener, SOL_SOCKET, SO_REUSEADDR);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 65535) != 0 ||
        getsockname(listener, (struct sockaddr *)&at, &length) != 0)
        die("listen");
    port = ntohs(at.sin_port);
    pthread_t server;
    if (pthread_create(&server, NULL, serve, &listener) != 0)
        die("pthread_create");
    int epoll = epoll_create1(0);
    struct epoll_event events[EVENTS];
    size_t size = 256 * 1024;
    unsigned char *buffer = malloc(size);
    long calls = 0;
    int open = 0;
    double start = now(), end = start + seconds;
    for (; open < circuits; open++)
        place_call(epoll);
    while (open > 0) {
        int n = epoll_wait(epoll, events, EVENTS, 50);
        int go_on = now() < end;
        for (int i = 0; i < n; i++) {
            if (!call_one(events[i].data.fd, buffer, size))
                continue;
            if (go_on) {
                calls++;
                place_call(epoll);
            } else {
                open--;
            }
        }
    }
    printf("%.0f\n", (double)calls / seconds);
    stop = 1;
    pthread_join(server, NULL);
    free(buffer);
    return 0;
}
