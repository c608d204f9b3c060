/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xotd: a gateway between XOT (RFC 1613, TCP port 1998) and the Linux X.25 packet layer.
 *
 * The kernel's side are two TUN devices of type ARPHRD_X25, one for modulo 8 and one for modulo
 * 128 (Linux decides the modulus per device); a Call goes to the one its general format identifier
 * asks for.  There the gateway is the link: it answers Restarts and assigns logical channels.
 *
 * One TCP connection carries one virtual circuit at a time and may carry another after it (RFC
 * 1613 5).  The gateway frames, translates the logical channel, adds the flow control facilities
 * a Call left out (6.1), and follows set-up and clearing; whatever else is in a packet is for the
 * kernel to judge, so that a tester sees the kernel's faults and none that the gateway hid.  It
 * knows no permanent circuits.
 *
 *   xotd            takes calls and places none: the kernel is a DTE
 *   xotd A B        the kernel is a switch between two sides, told apart by these IPv4 addresses.
 *                   Side B has two devices of its own, and a call that the kernel sends to a side
 *                   is placed there, on a new TCP connection.  The kernel forwards by the calling
 *                   address: calls from `2...` go to A, all others to B, whatever they call.  It
 *                   knows a forwarded call by its logical channel alone, on all devices alike; so
 *                   the gateway gives no channel to two calls.
 *
 * Memory is bounded: MAX_CIRCUITS connections, MAX_QUEUE octets for each, MAX_QUEUED for all.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <linux/x25.h>

#include "xot.h"

enum {
	XOT_PORT = 1998,
	MAX_CIRCUITS = 2048,
	MAX_CHANNEL = 4095,
	MAX_QUEUE = 640 * 1024,		/* a window of 127 packets of 4100 octets, and answers */
	HIGH_WATER = 64 * 1024,		/* no more is read from a peer that leaves so much unread */
	MAX_QUEUED = 48 * 1024 * 1024,
	/* Devices: one for each modulus, of side A first. */
	MODULO_128 = 1, SIDE_B = 2, LINKS = 4,
	HARDWARE_X25 = 271,		/* ARPHRD_X25 */
	ETHERTYPE_X25 = 0x0805,
	IFACE_DATA = 0, IFACE_CONNECT = 1, IFACE_DISCONNECT = 2,	/* first octet, kernel's X.25 */
	FACILITY_MASK = X25_MASK_REVERSE | X25_MASK_THROUGHPUT | X25_MASK_PACKET_SIZE |
			X25_MASK_WINDOW_SIZE | X25_MASK_CALLING_AE | X25_MASK_CALLED_AE,
	CAUSE_OUT_OF_ORDER = 0x09, CAUSE_NOT_OBTAINABLE = 0x0D, CAUSE_CONGESTION = 0x05,
};

enum {					/* milliseconds */
	T_CONFIRM_PEER = 60000,		/* Clear Confirmation by the peer; T13 of X.25 Annex D */
	T_CONFIRM_KERNEL = 5000,	/* the kernel answers within the write; a safeguard */
	T_CONFIRM_FAR = 60000,		/* a switch: the far side answers, through the kernel */
	T_LINGER = 5000,		/* end of TCP after our own FIN */
	T_EMPTY = 300000		/* a connection that carries no call */
};

enum circuit_state {
	P1_READY,	/* no call */
	CALL_UP,	/* from Call Request to Clear; set-up and data transfer alike */
	CLEAR_BY_PEER,	/* the kernel has to confirm */
	CLEAR_BY_KERNEL,	/* the peer has to confirm */
	ORPHAN		/* TCP is gone; the kernel has to confirm our Clear */
};

enum tcp_state { TCP_OPEN, TCP_FLUSHING, TCP_LINGERING, TCP_GONE };

struct circuit {
	int fd;
	enum tcp_state tcp;
	int peer_ended;			/* its FIN has been read */
	enum circuit_state state;
	int link;			/* on which the call came or went */
	int modulo_128;			/* of the call */
	unsigned int channel;		/* towards the kernel; 0 = none */
	unsigned int peer_channel;	/* as in the peer's Call */
	long long deadline;		/* ms, 0 = none */
	size_t in_length;
	uint8_t in[XOT_HEADER + XOT_MAX_PACKET];
	uint8_t *out;
	size_t out_start, out_length, out_size;
};

static struct circuit *circuits[MAX_CIRCUITS];
static struct circuit *by_channel[LINKS][MAX_CHANNEL + 1];
static unsigned int next_channel = 1;
static int tun[LINKS];
static int links = SIDE_B;		/* how many are in use: with a side B all of them */
static struct in_addr side_a, side_b;
static size_t queued;
static long long now;

static void read_kernels(void);

/* The log is a file on the host: a hostile peer must not be able to fill it. */
static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	static long long window;
	static int lines;
	va_list arguments;

	if (now - window >= 10000) {
		window = now;
		lines = 0;
	}
	if (++lines > 20)
		return;
	va_start(arguments, format);
	fputs("xotd: ", stdout);
	vprintf(format, arguments);
	puts(lines == 20 ? " (quiet for 10 s)" : "");
	va_end(arguments);
}

static void die(const char *what)
{
	printf("xotd: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void read_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	now = time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/* ---- the kernel's side ------------------------------------------------------------------- */

/* TUN header (flags, Ethertype), the X.25 interface octet, the packet. */
static void to_kernel(int link, int interface_octet, const uint8_t *packet, size_t length)
{
	uint8_t frame[5 + XOT_MAX_PACKET + XOT_ADDED_FACILITIES] = {
		0, 0, ETHERTYPE_X25 >> 8, ETHERTYPE_X25 & 255, (uint8_t)interface_octet
	};

	if (length)
		memcpy(frame + 5, packet, length);
	if (write(tun[link], frame, 5 + length) < 0)
		note("write to the kernel: %s", strerror(errno));
}

/* A Clear Request (cause, diagnostic 0) or one of the three-octet packets. */
static size_t build(uint8_t packet[5], int modulo_128, unsigned int channel, int type, int cause)
{
	packet[0] = modulo_128 ? 0x20 : 0x10;
	x25_set_channel(packet, channel);
	packet[2] = (uint8_t)type;
	packet[3] = (uint8_t)cause;
	packet[4] = 0;
	return type == CLEAR_REQUEST ? 5 : 3;
}

static void tell_kernel(int link, unsigned int channel, int type, int cause)
{
	uint8_t packet[5];

	to_kernel(link, IFACE_DATA, packet,
		  build(packet, link & MODULO_128, channel, type, cause));
}

/* The same on the channel of a circuit, with the modulus of its call. */
static void end_in_kernel(struct circuit *c, int type)
{
	uint8_t packet[5];

	to_kernel(c->link, IFACE_DATA, packet,
		  build(packet, c->modulo_128, c->channel, type, CAUSE_OUT_OF_ORDER));
}

static void take_channel(struct circuit *c, int link, unsigned int channel)
{
	by_channel[link][channel] = c;
	c->link = link;
	c->channel = channel;
}

static int is_free(unsigned int channel)
{
	int link;

	for (link = 0; link < links; link++)
		if (by_channel[link][channel])
			return 0;
	return 1;
}

/* Channels go round, so that a late packet of a cleared call does not meet the next one. */
static int assign_channel(struct circuit *c, int link)
{
	unsigned int tries;

	for (tries = 0; tries < MAX_CHANNEL; tries++) {
		unsigned int channel = next_channel;

		next_channel = channel == MAX_CHANNEL ? 1 : channel + 1;
		if (is_free(channel)) {
			take_channel(c, link, channel);
			return 0;
		}
	}
	return -1;
}

static void release_channel(struct circuit *c)
{
	if (c->channel)
		by_channel[c->link][c->channel] = NULL;
	c->channel = 0;
	c->state = P1_READY;
	c->deadline = c->tcp == TCP_OPEN ? now + T_EMPTY : c->tcp == TCP_GONE ? now : c->deadline;
}

/* ---- the peer's side --------------------------------------------------------------------- */

/* Whatever becomes of TCP, the kernel hears of it: the call, if there is one, is cleared. */
static void orphan(struct circuit *c)
{
	if (c->state == CALL_UP)
		end_in_kernel(c, CLEAR_REQUEST);
	else if (c->state == CLEAR_BY_KERNEL)
		end_in_kernel(c, CLEAR_CONFIRMATION);
	if (c->state == P1_READY || c->state == CLEAR_BY_KERNEL) {
		release_channel(c);
		return;
	}
	c->state = ORPHAN;
}

/* The connection is over at once (RST, error); the circuit stays until the kernel confirmed. */
static void tcp_lost(struct circuit *c)
{
	if (c->tcp == TCP_GONE)
		return;
	close(c->fd);
	c->fd = -1;
	c->tcp = TCP_GONE;
	queued -= c->out_size;
	free(c->out);
	c->out = NULL;
	c->out_size = c->out_length = c->out_start = 0;
	orphan(c);
	c->deadline = now + (c->state == ORPHAN ? T_CONFIRM_KERNEL : 0);
}

/*
 * Close in order: first the answers to what the peer sent before (the kernel gives them within the
 * write to it, and a Clear Confirmation may be among them), then FIN, then wait for the peer's end.
 */
static void tcp_close(struct circuit *c)
{
	if (c->tcp != TCP_OPEN)
		return;
	read_kernels();
	if (c->tcp != TCP_OPEN)
		return;
	c->tcp = TCP_FLUSHING;
	orphan(c);
	c->deadline = now + T_LINGER;
}

/* Send what is queued, as far as TCP takes it. */
static void flush(struct circuit *c)
{
	while (c->out_length) {
		ssize_t n = send(c->fd, c->out + c->out_start, c->out_length, MSG_NOSIGNAL);

		if (n < 0) {
			if (errno != EAGAIN && errno != EINTR)
				tcp_lost(c);
			return;
		}
		c->out_start += (size_t)n;
		c->out_length -= (size_t)n;
	}
	c->out_start = 0;
	if (c->out_size > HIGH_WATER) {	/* a burst is over: give its memory back */
		queued -= c->out_size;
		free(c->out);
		c->out = NULL;
		c->out_size = 0;
	}
	if (c->tcp == TCP_FLUSHING) {
		shutdown(c->fd, SHUT_WR);
		c->tcp = TCP_LINGERING;
		if (c->peer_ended)
			tcp_lost(c);
	}
}

static int make_room(struct circuit *c, size_t length)
{
	size_t size = c->out_size ? c->out_size : 8192;
	uint8_t *bigger;

	if (c->out_start) {
		memmove(c->out, c->out + c->out_start, c->out_length);
		c->out_start = 0;
	}
	if (c->out_length + length <= c->out_size)
		return 0;
	while (size < c->out_length + length)
		size *= 2;
	if (c->out_length + length > MAX_QUEUE || queued + size - c->out_size > MAX_QUEUED)
		return -1;
	bigger = realloc(c->out, size);
	if (bigger == NULL)
		return -1;
	queued += size - c->out_size;
	c->out = bigger;
	c->out_size = size;
	return 0;
}

/* Queue a packet for the peer, on the logical channel that its Call used. */
static void to_peer(struct circuit *c, const uint8_t *packet, size_t length)
{
	uint8_t *unit;

	if (c->tcp != TCP_OPEN)
		return;
	if (c->out_start + c->out_length + XOT_HEADER + length > c->out_size &&
	    make_room(c, XOT_HEADER + length)) {
		note("a peer leaves %zu octets unread: connection dropped", c->out_length);
		tcp_lost(c);
		return;
	}
	unit = c->out + c->out_start + c->out_length;
	xot_write_header(unit, length);
	memcpy(unit + XOT_HEADER, packet, length);
	x25_set_channel(unit + XOT_HEADER, c->peer_channel);
	c->out_length += XOT_HEADER + length;
}

static void tell_peer(struct circuit *c, int type, int cause)
{
	uint8_t packet[5];

	to_peer(c, packet, build(packet, c->modulo_128, c->peer_channel, type, cause));
}

/* A circuit for a connection; NULL, and the connection closed, if there is no place. */
static struct circuit *add_circuit(int fd)
{
	struct circuit *c;
	int place;
	int on = 1;
	int idle = 60, interval = 15, probes = 4;

	for (place = 0; place < MAX_CIRCUITS && circuits[place]; place++)
		;
	c = place < MAX_CIRCUITS ? calloc(1, sizeof(*c)) : NULL;
	if (c == NULL) {
		note("no place for a connection: closed");
		close(fd);
		return NULL;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	/* With XOT no octet is out of band (RFC 1613 4): urgent data stays in the stream. */
	setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	c->fd = fd;
	c->deadline = now + T_EMPTY;
	circuits[place] = c;
	return c;
}

/* ---- packets ----------------------------------------------------------------------------- */

static void call_by_peer(struct circuit *c, const uint8_t *packet, size_t length)
{
	uint8_t complete[XOT_MAX_PACKET + XOT_ADDED_FACILITIES];
	int link;

	c->modulo_128 = x25_is_modulo_128(packet) != 0;
	link = (c->link & SIDE_B) | (c->modulo_128 ? MODULO_128 : 0);
	c->peer_channel = x25_channel(packet);
	if (assign_channel(c, link)) {
		c->link = link;
		tell_peer(c, CLEAR_REQUEST, CAUSE_CONGESTION);
		return;
	}
	c->state = CALL_UP;
	c->deadline = 0;
	length = x25_complete_call(packet, length, complete);
	x25_set_channel(complete, c->channel);
	to_kernel(link, IFACE_DATA, complete, length);
}

/* In state p1: RFC 1613 6.1 wants unknown types discarded, and 5 one circuit per connection. */
static void without_call(struct circuit *c, const uint8_t *packet, size_t length)
{
	switch (packet[2]) {
	case CALL_REQUEST:
		call_by_peer(c, packet, length);
		break;
	case CLEAR_REQUEST:	/* p1 to p6, confirmed at once (X.25 Table C-3) */
		c->peer_channel = x25_channel(packet);
		c->modulo_128 = x25_is_modulo_128(packet);
		tell_peer(c, CLEAR_CONFIRMATION, 0);
		break;
	case PVC_SETUP:		/* to close is one of the two answers RFC 1613 6.5 has */
		tcp_close(c);
		break;
	default:
		break;
	}
}

static void from_peer(struct circuit *c, uint8_t *packet, size_t length)
{
	int type = packet[2];
	int modulo_128 = c->channel ? c->modulo_128 : x25_is_modulo_128(packet);

	if (x25_is_local_significance(packet, modulo_128))
		return;
	switch (c->state) {
	case P1_READY:
		without_call(c, packet, length);
		break;
	case CALL_UP:
		x25_set_channel(packet, c->channel);
		if (type == CLEAR_REQUEST) {
			c->state = CLEAR_BY_PEER;
			c->deadline = now + (links > SIDE_B ? T_CONFIRM_FAR : T_CONFIRM_KERNEL);
		}
		to_kernel(c->link, IFACE_DATA, packet, length);
		break;
	case CLEAR_BY_KERNEL:
		/* The confirmation, or a clear collision, which ends the call too (X.25 4.1.9). */
		if (type == CLEAR_CONFIRMATION || type == CLEAR_REQUEST) {
			end_in_kernel(c, CLEAR_CONFIRMATION);
			release_channel(c);
		}
		break;
	case CLEAR_BY_PEER:
	case ORPHAN:
		break;
	}
}

static void link_packet(int link, const uint8_t *packet)
{
	unsigned int channel;

	if (packet[2] != RESTART_REQUEST)
		return;
	tell_kernel(link, 0, RESTART_CONFIRMATION, 0);
	for (channel = 1; channel <= MAX_CHANNEL; channel++) {
		struct circuit *c = by_channel[link][channel];

		if (c == NULL)
			continue;
		if (c->state == CALL_UP)	/* no Restart on XOT: a Clear (RFC 1613 6.4) */
			tell_peer(c, CLEAR_REQUEST, CAUSE_OUT_OF_ORDER);
		if (c->state == CLEAR_BY_PEER)
			tell_peer(c, CLEAR_CONFIRMATION, 0);
		release_channel(c);
	}
}

/*
 * A connection to a side, for a call that the kernel sends there.  What is queued waits until TCP
 * is up; where it does not come up, the kernel gets a Clear, as when it is lost later.
 */
static void call_by_kernel(int link, const uint8_t *packet, size_t length)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_port = htons(XOT_PORT),
		.sin_addr = link & SIDE_B ? side_b : side_a,
	};
	int fd = links > SIDE_B ? socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0) : -1;
	struct circuit *c = fd < 0 ? NULL : add_circuit(fd);

	if (c == NULL) {
		tell_kernel(link, x25_channel(packet), CLEAR_REQUEST, CAUSE_NOT_OBTAINABLE);
		return;
	}
	/* The kernel may send a call of one modulus to the device of the other. */
	c->modulo_128 = x25_is_modulo_128(packet);
	take_channel(c, link, x25_channel(packet));
	c->peer_channel = c->channel;
	c->state = CALL_UP;
	c->deadline = 0;
	if (connect(fd, (struct sockaddr *)&name, sizeof(name)) && errno != EINPROGRESS)
		tcp_lost(c);
	else
		to_peer(c, packet, length);
}

static void from_kernel(int link, const uint8_t *packet, size_t length)
{
	unsigned int channel = x25_channel(packet);
	struct circuit *c = by_channel[link][channel];
	int type = packet[2];

	if (channel == 0) {
		link_packet(link, packet);
		return;
	}
	if (c == NULL) {
		if (type == CALL_REQUEST)
			call_by_kernel(link, packet, length);
		else if (type == CLEAR_REQUEST)
			tell_kernel(link, channel, CLEAR_CONFIRMATION, 0);
		return;
	}
	if (x25_is_local_significance(packet, c->modulo_128))
		return;
	switch (c->state) {
	case CALL_UP:
		to_peer(c, packet, length);
		if (type == CLEAR_REQUEST && c->state == CALL_UP) {
			c->state = CLEAR_BY_KERNEL;
			c->deadline = now + T_CONFIRM_PEER;
		}
		break;
	case CLEAR_BY_PEER:
		/* A Clear here is a collision: whole for both sides (X.25 4.1.9). */
		if (type == CLEAR_REQUEST)
			tell_kernel(link, channel, CLEAR_CONFIRMATION, 0);
		if (type == CLEAR_REQUEST || type == CLEAR_CONFIRMATION) {
			to_peer(c, packet, length);
			if (c->state == CLEAR_BY_PEER)
				release_channel(c);
		}
		break;
	case ORPHAN:
		if (type == CLEAR_REQUEST)
			tell_kernel(link, channel, CLEAR_CONFIRMATION, 0);
		if (type == CLEAR_REQUEST || type == CLEAR_CONFIRMATION)
			release_channel(c);
		break;
	case CLEAR_BY_KERNEL:
	case P1_READY:
		break;
	}
}

/* ---- reading ----------------------------------------------------------------------------- */

static void read_kernel(int link)
{
	uint8_t frame[5 + XOT_MAX_PACKET];
	int turns;

	for (turns = 0; turns < 512; turns++) {
		ssize_t length = read(tun[link], frame, sizeof(frame));

		if (length < 0)
			return;
		if (length < 5 || (frame[2] << 8 | frame[3]) != ETHERTYPE_X25)
			continue;
		if (frame[4] == IFACE_CONNECT || frame[4] == IFACE_DISCONNECT)
			to_kernel(link, frame[4], NULL, 0);	/* the link is always there */
		else if (frame[4] == IFACE_DATA && length >= 5 + XOT_MIN_PACKET)
			from_kernel(link, frame + 5, (size_t)length - 5);
	}
}

static void read_kernels(void)
{
	int link;

	for (link = 0; link < links; link++)
		read_kernel(link);
}

/* Take whole units out of the buffer.  The header is judged as soon as its four octets are there. */
static void take_units(struct circuit *c)
{
	size_t start = 0;

	while (c->tcp == TCP_OPEN && c->in_length - start >= XOT_HEADER) {
		size_t length = xot_packet_length(c->in + start);

		if (length == 0) {
			note("illegal XOT header %02x %02x %02x %02x: closed", c->in[start],
			     c->in[start + 1], c->in[start + 2], c->in[start + 3]);
			tcp_close(c);
			return;
		}
		if (c->in_length - start < XOT_HEADER + length)
			break;
		from_peer(c, c->in + start + XOT_HEADER, length);
		start += XOT_HEADER + length;
	}
	memmove(c->in, c->in + start, c->in_length - start);
	c->in_length -= start;
}

static void read_peer(struct circuit *c)
{
	ssize_t n;

	if (c->tcp != TCP_OPEN)		/* after our end: read only to learn of the peer's */
		c->in_length = 0;
	n = recv(c->fd, c->in + c->in_length, sizeof(c->in) - c->in_length, 0);
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			tcp_lost(c);
		return;
	}
	if (n == 0) {
		c->peer_ended = 1;
		if (c->tcp == TCP_LINGERING)
			tcp_lost(c);
		else
			tcp_close(c);
		return;
	}
	c->in_length += (size_t)n;
	if (c->tcp == TCP_OPEN && c->state == P1_READY)
		c->deadline = now + T_EMPTY;
	take_units(c);
}

static void accept_peers(int listener)
{
	for (;;) {
		struct sockaddr_in name;
		socklen_t length = sizeof(name);
		struct circuit *c;
		int fd = accept4(listener, (struct sockaddr *)&name, &length, SOCK_NONBLOCK);

		if (fd < 0)
			return;
		c = add_circuit(fd);
		if (c && links > SIDE_B && name.sin_addr.s_addr == side_b.s_addr)
			c->link = SIDE_B;
	}
}

/* ---- time -------------------------------------------------------------------------------- */

static void expire(struct circuit *c)
{
	c->deadline = 0;
	if (c->tcp == TCP_GONE) {
		if (c->channel) {
			note("the kernel did not confirm a Clear on channel %u", c->channel);
			release_channel(c);
		}
	} else if (c->tcp != TCP_OPEN) {
		tcp_lost(c);
	} else {		/* a Clear not confirmed, or a connection without a call */
		tcp_close(c);
	}
}

/* Expire deadlines, free what is over; returns how long poll() may wait, in ms. */
static int look_after_circuits(void)
{
	long long wait = 60000;
	int i;

	for (i = 0; i < MAX_CIRCUITS; i++) {
		struct circuit *c = circuits[i];

		if (c == NULL)
			continue;
		if (c->tcp != TCP_GONE && (c->out_length || c->tcp == TCP_FLUSHING))
			flush(c);
		if (c->deadline && c->deadline <= now)
			expire(c);
		if (c->tcp == TCP_GONE && c->channel == 0) {
			free(c);
			circuits[i] = NULL;
		} else if (c->deadline && c->deadline - now < wait) {
			wait = c->deadline > now ? c->deadline - now : 0;
		}
	}
	return (int)wait;
}

/* ---- start ------------------------------------------------------------------------------- */

static int open_link(const char *name, int modulo_128)
{
	struct x25_subscrip_struct subscription = { .extended = (unsigned int)modulo_128 };
	struct ifreq request = { 0 };
	int control = socket(AF_X25, SOCK_SEQPACKET, 0);
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);

	if (fd < 0 || control < 0)
		die("open /dev/net/tun and AF_X25");
	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	request.ifr_flags = IFF_TUN;
	if (ioctl(fd, TUNSETIFF, &request) || ioctl(fd, TUNSETLINK, HARDWARE_X25))
		die("TUN device of type X.25");
	/* Octets queued towards us are bounded by the windows: never drop one for a short queue. */
	request.ifr_qlen = 10000;
	if (ioctl(control, SIOCSIFTXQLEN, &request))
		note("queue length of %s: %s", name, strerror(errno));
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(control, SIOCSIFFLAGS, &request))
		die("interface up");
	strncpy(subscription.device, name, sizeof(subscription.device) - 1);
	subscription.global_facil_mask = FACILITY_MASK;
	if (ioctl(control, SIOCX25SSUBSCRIP, &subscription))
		die("SIOCX25SSUBSCRIP");
	close(control);
	return fd;
}

static int open_listener(void)
{
	struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = htons(XOT_PORT) };
	int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&name, sizeof(name)) || listen(fd, 1024))
		die("listen on TCP port 1998");
	return fd;
}

/* Calls from an address that begins with `digits` go to a device, when the kernel forwards. */
static void add_route(const char *digits, const char *device)
{
	struct x25_route_struct route = { .sigdigits = (unsigned int)strlen(digits) };
	int control = socket(AF_X25, SOCK_SEQPACKET, 0);

	strncpy(route.address.x25_addr, digits, sizeof(route.address.x25_addr) - 1);
	strncpy(route.device, device, sizeof(route.device) - 1);
	if (control < 0 || ioctl(control, SIOCADDRT, &route))
		die("SIOCADDRT");
	close(control);
}

int main(int argc, char **argv)
{
	static const char *const names[LINKS] = { "x25m8", "x25m128", "x25b8", "x25b128" };
	static struct pollfd polled[LINKS + 1 + MAX_CIRCUITS];
	static int place[LINKS + 1 + MAX_CIRCUITS];
	struct rlimit files = { MAX_CIRCUITS + 64, MAX_CIRCUITS + 64 };
	int listener;
	int link;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit");
	if (argc == 3) {
		if (!inet_aton(argv[1], &side_a) || !inet_aton(argv[2], &side_b)) {
			puts("xotd: not an IPv4 address");
			return 2;
		}
		links = LINKS;
	} else if (argc != 1) {
		puts("usage: xotd [ADDRESS-OF-A ADDRESS-OF-B]");
		return 2;
	}
	for (link = 0; link < links; link++)
		tun[link] = open_link(names[link], link & MODULO_128);
	for (link = 0; link < links; link++)
		to_kernel(link, IFACE_CONNECT, NULL, 0);
	if (links > SIDE_B) {
		add_route("2", names[0]);
		add_route("", names[SIDE_B]);
	}
	listener = open_listener();
	printf("xotd: TCP port %d, modulo 8 on x25m8, modulo 128 on x25m128%s\n", XOT_PORT,
	       links > SIDE_B ? ", side B on x25b8 and x25b128" : "");

	for (;;) {
		nfds_t count = (nfds_t)links + 1;
		nfds_t k;
		int reads;
		int wait;
		int i;

		read_clock();
		wait = look_after_circuits();
		for (link = 0; link < links; link++)
			polled[link] = (struct pollfd){ .fd = tun[link], .events = POLLIN };
		polled[links] = (struct pollfd){ .fd = listener, .events = POLLIN };
		for (i = 0; i < MAX_CIRCUITS; i++) {
			struct circuit *c = circuits[i];

			if (c == NULL || c->tcp == TCP_GONE)
				continue;
			reads = c->out_length < HIGH_WATER && !c->peer_ended;
			place[count] = i;
			polled[count++] = (struct pollfd){
				.fd = c->fd,
				.events = (short)((c->out_length ? POLLOUT : 0) | (reads ? POLLIN : 0)),
			};
		}
		if (poll(polled, count, wait) < 0 && errno != EINTR)
			die("poll");
		read_clock();
		for (k = (nfds_t)links + 1; k < count; k++) {
			struct circuit *c = circuits[place[k]];

			if (polled[k].revents & (POLLIN | POLLHUP | POLLERR) &&
			    c->tcp != TCP_GONE)
				read_peer(c);
		}
		read_kernels();
		if (polled[links].revents)
			accept_peers(listener);
	}
}
