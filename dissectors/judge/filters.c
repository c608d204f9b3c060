/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Display filters, compiled once for each layer number, see filters.h. */
#include "filters.h"

#include <string.h>

#define MOST_CACHED 20000

static GHashTable *cache; /* text with its layer number -> dfilter_t */

static void release(void *filter)
{
    dfilter_free(filter);
}

void filters_start(void)
{
    cache = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, release);
}

void filters_trim(void)
{
    if (g_hash_table_size(cache) > MOST_CACHED)
        g_hash_table_remove_all(cache);
}

static char *with_layer(const char *text, unsigned k)
{
    char number[16];
    char **parts = g_strsplit(text, "{k}", -1);

    g_snprintf(number, sizeof number, "%u", k);
    char *whole = g_strjoinv(number, parts);

    g_strfreev(parts);
    return whole;
}

static dfilter_t *compile(const struct filter *filter, unsigned k, char **message)
{
    char *text = filter->per_packet ? with_layer(filter->text, k) : g_strdup(filter->text);
    dfilter_t *found = g_hash_table_lookup(cache, text);

    *message = NULL;
    if (found == NULL) {
        found = compat_compile(text, message);
        if (found != NULL) {
            g_hash_table_insert(cache, text, found);
            return found;
        }
    }
    g_free(text);
    return found;
}

bool filter_prepare(struct filter *filter, const char *text, char **message)
{
    filter->text = text;
    filter->per_packet = strstr(text, "{k}") != NULL;
    filter->compiled = g_ptr_array_new();
    return filter_for(filter, 1, message) != NULL;
}

dfilter_t *filter_for(struct filter *filter, unsigned k, char **message)
{
    unsigned place = filter->per_packet ? k - 1 : 0;

    *message = NULL;
    while (filter->compiled->len <= place) {
        dfilter_t *next = compile(filter, filter->compiled->len + 1, message);

        if (next == NULL)
            return NULL;
        g_ptr_array_add(filter->compiled, next);
    }
    return g_ptr_array_index(filter->compiled, place);
}

void filter_release(struct filter *filter)
{
    g_ptr_array_free(filter->compiled, TRUE);
}
