/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The octets of XOT and X.25 that a gateway looks at; the contract of each function is in xot.h. */
#include "xot.h"

#include <string.h>

enum {
	FACILITY_MARKER = 0x00,
	FACILITY_PACKET_SIZE = 0x42,
	FACILITY_WINDOW_SIZE = 0x43,
	DEFAULT_PACKET_SIZE = 7,	/* log2 of 128 octets */
	DEFAULT_WINDOW_SIZE = 2
};

size_t xot_packet_length(const uint8_t header[XOT_HEADER])
{
	size_t length = (size_t)header[2] << 8 | header[3];

	if (header[0] != 0 || header[1] != 0)
		return 0;
	if (length < XOT_MIN_PACKET || length > XOT_MAX_PACKET)
		return 0;
	return length;
}

void xot_write_header(uint8_t header[XOT_HEADER], size_t length)
{
	header[0] = 0;
	header[1] = 0;
	header[2] = (uint8_t)(length >> 8);
	header[3] = (uint8_t)length;
}

unsigned int x25_channel(const uint8_t *packet)
{
	return (packet[0] & 0x0Fu) << 8 | packet[1];
}

void x25_set_channel(uint8_t *packet, unsigned int channel)
{
	packet[0] = (uint8_t)((packet[0] & 0xF0u) | (channel >> 8 & 0x0Fu));
	packet[1] = (uint8_t)channel;
}

int x25_is_modulo_128(const uint8_t *packet)
{
	return (packet[0] & 0x30) == 0x20;
}

int x25_is_local_significance(const uint8_t *packet, int modulo_128)
{
	switch (packet[2]) {
	case RESTART_REQUEST:
	case RESTART_CONFIRMATION:
	case 0xF1:		/* Diagnostic */
	case 0xF3:		/* Registration Request */
	case 0xF7:		/* Registration Confirmation */
		return 1;
	default:		/* Reject: P(R) shares octet 3 in modulo 8, not in modulo 128 */
		return (modulo_128 ? packet[2] : packet[2] & 0x1F) == 0x09;
	}
}

/* Offset of the facility length octet of a Call Request, 0 if the address block is cut short. */
static size_t facility_length_offset(const uint8_t *packet, size_t length)
{
	size_t digits;
	size_t offset;

	if (packet[0] & 0x80) {	/* A bit: one length octet for each address (X.25 5.2.1) */
		if (length < 5)
			return 0;
		digits = (size_t)packet[3] + packet[4];
		offset = 5;
	} else {
		if (length < 4)
			return 0;
		digits = (size_t)(packet[3] >> 4) + (packet[3] & 0x0F);
		offset = 4;
	}
	offset += (digits + 1) / 2;
	return offset < length ? offset : 0;
}

/* Octets of the facility at `at`, 0 if fewer than that are left (X.25 7.1: class by bits 8-7). */
static size_t facility_size(const uint8_t *at, size_t left)
{
	size_t size = 2u + (at[0] >> 6);

	if (at[0] >> 6 == 3) {
		if (left < 2)
			return 0;
		size = 2u + at[1];
	}
	return size <= left ? size : 0;
}

size_t x25_complete_call(const uint8_t *packet, size_t length, uint8_t *copy)
{
	size_t offset = facility_length_offset(packet, length);
	size_t end;
	size_t at;
	size_t added = 0;
	int packet_size = 0;
	int window_size = 0;

	memcpy(copy, packet, length);
	if (offset == 0)
		return length;
	end = offset + 1 + packet[offset];
	if (end > length)
		return length;

	for (at = offset + 1; at < end;) {
		size_t size = facility_size(packet + at, end - at);

		if (size == 0)
			return length;
		if (packet[at] == FACILITY_MARKER)
			break;	/* what follows belongs to other networks or to the DTEs */
		packet_size |= packet[at] == FACILITY_PACKET_SIZE;
		window_size |= packet[at] == FACILITY_WINDOW_SIZE;
		at += size;
	}

	at = offset + 1;
	if (!packet_size && packet[offset] + added + 3 <= 255) {
		copy[at + added++] = FACILITY_PACKET_SIZE;
		copy[at + added++] = DEFAULT_PACKET_SIZE;
		copy[at + added++] = DEFAULT_PACKET_SIZE;
	}
	if (!window_size && packet[offset] + added + 3 <= 255) {
		copy[at + added++] = FACILITY_WINDOW_SIZE;
		copy[at + added++] = DEFAULT_WINDOW_SIZE;
		copy[at + added++] = DEFAULT_WINDOW_SIZE;
	}
	copy[offset] = (uint8_t)(packet[offset] + added);
	memcpy(copy + at + added, packet + at, length - at);
	return length + added;
}
