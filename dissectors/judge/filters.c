/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Display filters, compiled once for each layer number, see filters.h. */
#include "filters.h"

#include <stdlib.h>
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

void types_add(struct types *types, uint32_t type)
{
    types->bits[type >> 6 & 3] |= (uint64_t)1 << (type & 63);
}

/* "or", "xor", or a name that ends so. */
static bool ends_with_or(const char *text)
{
    return g_ascii_strncasecmp(text, "or", 2) == 0 && !g_ascii_isalnum(text[2]) &&
           strchr("_.-#", text[2]) == NULL;
}

/* Whether the text joins conditions otherwise than by "&&" outside of parentheses. */
static bool has_alternatives(const char *text)
{
    int depth = 0;
    bool quoted = false;

    for (const char *c = text; *c != '\0'; c++) {
        if (quoted) {
            if (*c == '\\' && c[1] != '\0')
                c++;
            else if (*c == '"')
                quoted = false;
        } else if (*c == '"') {
            quoted = true;
        } else if (*c == '(') {
            depth++;
        } else if (*c == ')') {
            depth--;
        } else if (depth <= 0 && (strchr("|^'", *c) != NULL || ends_with_or(c))) {
            return true;
        }
    }
    return quoted || depth != 0;
}

/* A number as filters write it, 0 to 255; NULL if there is none. */
static const char *read_type(const char *text, uint32_t *type)
{
    char *end;

    if (!g_ascii_isdigit(text[0]) || (text[0] == '0' && g_ascii_isdigit(text[1])))
        return NULL;
    unsigned long value = strtoul(text, &end, 0);

    *type = (uint32_t)value;
    return value <= 255 ? end : NULL;
}

/* The packet types that a filter begins with: "x25s.type#{k} == 19 && ..." or "in {0x13, 0x1b}". */
static bool read_types(const char *text, struct types *types)
{
    static const char field[] = "x25s.type#{k} ";
    uint32_t type;

    if (!g_str_has_prefix(text, field) || has_alternatives(text))
        return false;
    text += strlen(field);
    bool listed = g_str_has_prefix(text, "in {");

    if (!listed && !g_str_has_prefix(text, "== "))
        return false;
    text += listed ? 4 : 3;
    do {
        text = read_type(text, &type);
        if (text == NULL)
            return false;
        types_add(types, type);
    } while (listed && g_str_has_prefix(text, ", ") && (text += 2));
    if (listed && *text++ != '}')
        return false;
    return *text == '\0' || g_str_has_prefix(text, " && ");
}

bool filter_prepare(struct filter *filter, const char *text, char **message)
{
    filter->text = text;
    filter->per_packet = strstr(text, "{k}") != NULL;
    filter->compiled = g_ptr_array_new();
    filter->typed = read_types(text, &filter->types);
    return filter_for(filter, 1, message) != NULL;
}

bool filter_may_hold(const struct filter *filter, const struct types *types)
{
    if (!filter->typed)
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(types->bits); i++)
        if (filter->types.bits[i] & types->bits[i])
            return true;
    return false;
}

dfilter_t *filter_for(struct filter *filter, unsigned k, char **message)
{
    unsigned place = filter->per_packet ? k - 1 : 0;

    *message = NULL;
    if (filter->compiled->len <= place)
        g_ptr_array_set_size(filter->compiled, (int)place + 1);
    if (g_ptr_array_index(filter->compiled, place) == NULL)
        g_ptr_array_index(filter->compiled, place) = compile(filter, place + 1, message);
    return g_ptr_array_index(filter->compiled, place);
}

void filter_release(struct filter *filter)
{
    g_ptr_array_free(filter->compiled, TRUE);
}
