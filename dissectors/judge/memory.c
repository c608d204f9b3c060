/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What starting took, see memory.h: libwireshark describes 200,000 fields of 3,000 protocols, and so
 * touches nearly all of its 85 MB once; reading X.25 needs a small part of that again. */
#define _GNU_SOURCE
#include "memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Pages of a file, in memory for this process. */
struct pages {
    unsigned long from, to;
    /* They can be had from the file again, as long as nobody has written to them. */
    bool from_file;
};

/* Whether a line of smaps begins a mapping; if so, which. */
static bool begins(const char *line, struct pages *pages)
{
    char may[5];
    unsigned long from, to, offset, inode;
    unsigned major, minor;

    if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &from, &to, may, &offset, &major, &minor,
               &inode) != 7)
        return false;
    *pages = (struct pages){from, to, inode != 0 && strchr(may, 'w') == NULL};
    return true;
}

void memory_give_back(void)
{
    FILE *smaps = fopen("/proc/self/smaps", "re");
    struct pages pages = {0, 0, false};
    unsigned long written;
    char line[8192];

    malloc_trim(0);
    if (smaps == NULL)
        return;
    while (fgets(line, sizeof line, smaps) != NULL) {
        if (begins(line, &pages))
            continue;
        /* Anonymous pages of a mapping are what was written to it, such as relocated addresses. */
        if (sscanf(line, "Anonymous: %lu kB", &written) == 1 && written == 0 && pages.from_file)
            (void)madvise((void *)pages.from, pages.to - pages.from, MADV_DONTNEED);
    }
    fclose(smaps);
}
