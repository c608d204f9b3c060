/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The octets of XOT (RFC 1613) and of the X.25 packets it carries, as far as a gateway has to
 * look at them.  Pure functions on octet strings: no input or output, no allocation, so that they
 * can be tested on any host.
 */
#ifndef X25SHARK_XOT_H
#define X25SHARK_XOT_H

#include <stddef.h>
#include <stdint.h>

enum {
	XOT_HEADER = 4,		/* version (2), length (2); RFC 1613 4.1 */
	XOT_MIN_PACKET = 3,	/* general format identifier, channel, type; X.25 5.1 */
	XOT_MAX_PACKET = 4100,	/* modulo 128 header (4) and 4096 octets of user data */
	XOT_ADDED_FACILITIES = 6	/* packet size (3) and window size (3) */
};

enum packet_type {		/* octet 3 of the packets a gateway acts on; X.25 5.1, RFC 1613 6.5 */
	CALL_REQUEST = 0x0B,
	CALL_ACCEPTED = 0x0F,
	CLEAR_REQUEST = 0x13,
	CLEAR_CONFIRMATION = 0x17,
	RESTART_REQUEST = 0xFB,
	RESTART_CONFIRMATION = 0xFF,
	PVC_SETUP = 0xF5
};

/*
 * Length in octets of the packet that a four-octet header announces; 0 if the header is illegal,
 * upon which the TCP connection has to be closed (RFC 1613 4.1).
 */
size_t xot_packet_length(const uint8_t header[XOT_HEADER]);

/* Write the header for a packet of `length` octets (RFC 1613 4.1). */
void xot_write_header(uint8_t header[XOT_HEADER], size_t length);

/* The twelve bits of the logical channel, group and number together (X.25 5.1.2). */
unsigned int x25_channel(const uint8_t *packet);
void x25_set_channel(uint8_t *packet, unsigned int channel);

/* Non-zero if bits 6-5 of octet 1 say modulo 128 (X.25 5.1.1). */
int x25_is_modulo_128(const uint8_t *packet);

/*
 * Non-zero for Restart, Restart Confirmation, Reject, Diagnostic and Registration: they mean
 * something on one local interface only and are discarded in silence (RFC 1613 6.4).
 * `modulo_128` is the modulus of the circuit; it decides how Reject is coded.
 */
int x25_is_local_significance(const uint8_t *packet, int modulo_128);

/*
 * Copy a Call Request and put packet size 128/128 and window size 2/2, the X.25 defaults, in
 * front of its facilities where the caller left them out.  A called DTE that answers with what it
 * was asked for then states both values in its Call Accepted, which RFC 1613 6.1 requires of
 * whoever takes such a call.  A packet whose address block or facilities do not parse is copied
 * as it is: to refuse it is the business of the packet layer.
 *
 * `copy` holds at least length + XOT_ADDED_FACILITIES octets.  Returns the octets in `copy`.
 */
size_t x25_complete_call(const uint8_t *packet, size_t length, uint8_t *copy);

#endif
