/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the functions of xot.c on octets from standard input, one line each: a function's name and
 * the octets in hexadecimal.  Prints one line of result for each.  Every octet string is handed
 * over in an allocation of exactly its size, so that the address sanitizer sees each octet beyond.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../vm/xot.h"

static uint8_t *exact_copy(const uint8_t *octets, size_t length)
{
	uint8_t *copy = malloc(length ? length : 1);

	memcpy(copy, octets, length);
	return copy;
}

int main(void)
{
	static char line[20000];
	static uint8_t octets[10000];
	char function[32];
	int at;

	while (fgets(line, sizeof(line), stdin)) {
		size_t length = 0;
		unsigned int octet;
		uint8_t *exact;

		if (sscanf(line, "%31s%n", function, &at) != 1)
			return 1;
		while (sscanf(line + at, " %2x", &octet) == 1) {
			at += (line[at] == ' ') + 2;
			octets[length++] = (uint8_t)octet;
		}
		exact = exact_copy(octets, length);
		if (!strcmp(function, "length")) {
			printf("%zu\n", xot_packet_length(exact));
		} else if (!strcmp(function, "local8") || !strcmp(function, "local128")) {
			printf("%d\n", x25_is_local_significance(exact, function[5] == '1'));
		} else if (!strcmp(function, "complete")) {
			uint8_t *copy = malloc(length + XOT_ADDED_FACILITIES);
			size_t i, count = x25_complete_call(exact, length, copy);

			for (i = 0; i < count; i++)
				printf("%02x", copy[i]);
			puts("");
			free(copy);
		} else {
			return 1;
		}
		free(exact);
	}
	return 0;
}
