/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the fuzz target on files, once each, where there is no libFuzzer. */
#include <stdint.h>
#include <stdio.h>

#include <glib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size);

int main(int argc, char **argv)
{
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        char *octets;
        gsize size;

        if (!g_file_get_contents(argv[i], &octets, &size, NULL)) {
            fprintf(stderr, "x25shark-judge-fuzz: %s cannot be read\n", argv[i]);
            return 2;
        }
        fprintf(stderr, "%s\n", argv[i]);
        LLVMFuzzerTestOneInput((const uint8_t *)octets, size);
        g_free(octets);
    }
    return 0;
}
