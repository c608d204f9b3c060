/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The called DTEs of the Linux X.25 router, on the kernel's AF_X25 sockets.
 *
 *   dte echo ADDRESS            sends every complete packet sequence back, with its Q bit
 *   dte sink ADDRESS            takes data and says nothing
 *   dte source ADDRESS OCTETS   sends one message when a call is accepted, then is a sink
 *   dte delay ADDRESS SECONDS   accepts a call only after that time, then echoes
 *
 * One process serves all calls of its address, with poll(): many calls may be up at a time in a
 * small machine.  Interrupts are confirmed by the kernel; their octets are read and dropped.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/sockios.h>
#include <linux/x25.h>

enum {
	MAX_CALLS = 2048,
	MAX_MESSAGE = 65535 + 1,	/* the kernel joins at most 65535 octets; 1 for the Q octet */
	SEND_BUFFER = 1 << 20
};

enum behaviour { ECHO, SINK, SOURCE, DELAY };

struct call {
	int fd;
	long long accept_at;		/* ms; when a delayed call is to be accepted, else 0 */
	unsigned char *pending;		/* Q octet and octets that did not fit yet, or NULL */
	size_t pending_length;
};

static struct call calls[MAX_CALLS];
static int call_count;
static unsigned char message[MAX_MESSAGE];

static void die(const char *what)
{
	fprintf(stderr, "dte: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* A listening socket that negotiates down from the largest values X.25 has. */
static int listen_on(const char *address, int delayed)
{
	struct sockaddr_x25 name = { .sx25_family = AF_X25 };
	struct x25_facilities facilities = {
		.winsize_in = 127, .winsize_out = 127,	/* the kernel itself limits modulo 8 to 7 */
		.pacsize_in = X25_PS4096, .pacsize_out = X25_PS4096,
	};
	int include_q = 1;
	int size = SEND_BUFFER;
	int fd = socket(AF_X25, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die("socket(AF_X25)");
	if (strlen(address) >= sizeof(name.sx25_addr.x25_addr)) {
		fprintf(stderr, "dte: %s: an X.121 address has at most 15 digits\n", address);
		exit(2);
	}
	strcpy(name.sx25_addr.x25_addr, address);
	if (bind(fd, (struct sockaddr *)&name, sizeof(name)))
		die("bind");
	/* Accepted sockets inherit all of this, so no packet can come before it is in force. */
	if (ioctl(fd, SIOCX25SFACILITIES, &facilities))
		die("SIOCX25SFACILITIES");
	if (setsockopt(fd, SOL_X25, X25_QBITINCL, &include_q, sizeof(include_q)))
		die("X25_QBITINCL");
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		die("SO_SNDBUFFORCE");
	if (delayed && ioctl(fd, SIOCX25CALLACCPTAPPRV, 0))
		die("SIOCX25CALLACCPTAPPRV");
	if (listen(fd, 1024))
		die("listen");
	return fd;
}

static void drop(struct call *call)
{
	close(call->fd);
	free(call->pending);
	*call = calls[--call_count];
}

/*
 * Send `length` octets, the first of which is the Q octet; keep what does not fit.  A message that
 * the kernel takes in part has gone out with the M bit set, so the rest continues its sequence.
 * Returns 0, or -1 if the call is over.
 */
static int deliver(struct call *call, const unsigned char *octets, size_t length)
{
	unsigned char *rest;
	size_t left;
	ssize_t sent = send(call->fd, octets, length, MSG_EOR | MSG_DONTWAIT);

	if (sent == (ssize_t)length)
		return 0;
	if (sent < 0 && errno == EMSGSIZE)
		return 0;	/* 65535 octets and a Q octet: one more than the kernel sends */
	if (sent < 0 && errno != EAGAIN && errno != EINTR)
		return -1;
	if (sent < 1)
		sent = 1;	/* not even the Q octet went; it is repeated in front of the rest */
	left = length - (size_t)sent + 1;
	rest = malloc(left);
	if (rest == NULL)
		return -1;
	rest[0] = octets[0];
	memcpy(rest + 1, octets + sent, left - 1);
	call->pending = rest;
	call->pending_length = left;
	return 0;
}

static int send_pending(struct call *call)
{
	unsigned char *octets = call->pending;
	int over;

	call->pending = NULL;
	over = deliver(call, octets, call->pending_length);
	free(octets);
	return over;
}

static int send_source_message(struct call *call, size_t octets)
{
	size_t i;

	message[0] = 0;		/* Q bit 0 */
	for (i = 0; i < octets; i++)
		message[1 + i] = (unsigned char)('a' + i % 26);
	return deliver(call, message, octets + 1);
}

/* AF_X25 waits in accept() even on a non-blocking socket: ask poll() before each. */
static void accept_calls(int listener, enum behaviour behaviour, long amount)
{
	struct pollfd waiting = { .fd = listener, .events = POLLIN };

	while (poll(&waiting, 1, 0) == 1 && waiting.revents & POLLIN) {
		struct call *call = &calls[call_count];
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

		if (fd < 0)
			return;
		if (call_count == MAX_CALLS) {
			close(fd);	/* the kernel clears the call */
			continue;
		}
		memset(call, 0, sizeof(*call));
		call->fd = fd;
		call_count++;
		if (fcntl(fd, F_SETOWN, getpid()))
			die("F_SETOWN");	/* SIGURG for interrupts */
		if (behaviour == DELAY)
			call->accept_at = now_ms() + amount * 1000;
		if (behaviour == SOURCE && send_source_message(call, (size_t)amount))
			drop(call);
	}
}

/* One message, or the end of the call.  Returns -1 if the call is over. */
static int receive(struct call *call, enum behaviour behaviour)
{
	ssize_t length = recv(call->fd, message, sizeof(message), MSG_DONTWAIT);

	if (length < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (length == 0 || behaviour == SINK || behaviour == SOURCE)
		return 0;
	return deliver(call, message, (size_t)length);
}

static volatile sig_atomic_t interrupt_came;

static void on_urgent(int number)
{
	(void)number;
	interrupt_came = 1;
}

/* The kernel keeps interrupts until they are read, without a limit: never leave them there. */
static void drop_interrupts(void)
{
	unsigned char octets[64];
	int i;

	interrupt_came = 0;
	for (i = 0; i < call_count; i++)
		while (recv(calls[i].fd, octets, sizeof(octets), MSG_OOB | MSG_DONTWAIT) >= 0)
			;
}

/* Accept delayed calls that are due; returns how long poll() may wait, in ms, -1 for ever. */
static int accept_due(void)
{
	long long now = now_ms();
	long long wait = -1;
	int i;

	for (i = call_count - 1; i >= 0; i--) {
		if (calls[i].accept_at == 0)
			continue;
		if (calls[i].accept_at <= now) {
			calls[i].accept_at = 0;
			if (ioctl(calls[i].fd, SIOCX25SENDCALLACCPT, 0))
				drop(&calls[i]);	/* cleared meanwhile */
		} else if (wait < 0 || calls[i].accept_at - now < wait) {
			wait = calls[i].accept_at - now;
		}
	}
	return (int)wait;
}

static void serve(int listener, enum behaviour behaviour, long amount)
{
	static struct pollfd polled[MAX_CALLS + 1];

	for (;;) {
		int wait = accept_due();
		int count = call_count;
		int i;

		polled[0] = (struct pollfd){ .fd = listener, .events = POLLIN };
		for (i = 0; i < count; i++)
			polled[i + 1] = (struct pollfd){
				.fd = calls[i].fd,
				.events = calls[i].pending ? POLLOUT : POLLIN,
			};
		if (poll(polled, (nfds_t)count + 1, wait) < 0 && errno != EINTR)
			die("poll");
		if (interrupt_came) {
			drop_interrupts();
			continue;	/* a poll() cut short leaves no valid events behind */
		}
		/* Backwards: drop() moves the last call, which has been seen, to the free place. */
		for (i = count - 1; i >= 0; i--) {
			struct call *call = &calls[i];
			short events = polled[i + 1].revents;
			int over = 0;

			if (events == 0)
				continue;
			if (call->pending && events & POLLOUT)
				over = send_pending(call);
			else if (!call->pending && events & POLLIN)
				over = receive(call, behaviour);
			else if (events & (POLLHUP | POLLERR | POLLNVAL))
				over = 1;
			if (over)
				drop(call);
		}
		accept_calls(listener, behaviour, amount);
	}
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "echo", "sink", "source", "delay" };
	struct sigaction urgent = { .sa_handler = on_urgent };
	enum behaviour behaviour;
	long amount = 0;

	for (behaviour = ECHO; behaviour <= DELAY; behaviour++)
		if (argc > 2 && strcmp(argv[1], names[behaviour]) == 0)
			break;
	if (behaviour > DELAY || (behaviour >= SOURCE) != (argc == 4)) {
		fprintf(stderr, "usage: dte echo|sink ADDRESS, dte source ADDRESS OCTETS, "
			"dte delay ADDRESS SECONDS\n");
		return 2;
	}
	if (argc == 4)
		amount = strtol(argv[3], NULL, 10);
	if (amount < 0 || amount > 65000) {
		fprintf(stderr, "dte: %s: from 0 to 65000\n", argv[3]);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);	/* AF_X25 raises it and does not know MSG_NOSIGNAL */
	sigaction(SIGURG, &urgent, NULL);
	serve(listen_on(argv[2], behaviour == DELAY), behaviour, amount);
}
