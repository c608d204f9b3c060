/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Display filters, compiled once for each layer number, see filters.h. */
#include "filters.h"

#include <stdlib.h>
#include <string.h>

#include "fields.h"

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

void marks_add(struct marks *marks, enum mark mark, uint32_t value)
{
    marks->bits[mark][value >> 6 & 3] |= (uint64_t)1 << (value & 63);
}

uint32_t filters_sum(const uint8_t *octets, size_t count)
{
    uint32_t sum = (uint32_t)count;

    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + octets[i];
    return (sum ^ sum >> 8 ^ sum >> 16) & 255;
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
static const char *read_number(const char *text, uint32_t *number)
{
    char *end;

    if (!g_ascii_isdigit(text[0]) || (text[0] == '0' && g_ascii_isdigit(text[1])))
        return NULL;
    unsigned long value = strtoul(text, &end, 0);

    *number = (uint32_t)value;
    return value <= 255 ? end : NULL;
}

/* Octets as filters write them, "30:31" or ":30", of which the sum is wanted; NULL if there are
 * none. */
static const char *read_octets(const char *text, uint32_t *sum)
{
    GByteArray *octets = g_byte_array_new();
    bool colon = *text == ':';

    text += colon;
    while (g_ascii_isxdigit(text[0]) && g_ascii_isxdigit(text[1])) {
        uint8_t octet = (uint8_t)(g_ascii_xdigit_value(text[0]) << 4 | g_ascii_xdigit_value(text[1]));

        g_byte_array_append(octets, &octet, 1);
        text += 2;
        if (*text != ':')
            break;
        colon = true;
        text++;
    }
    bool whole = colon && octets->len > 0 && text[-1] != ':';

    *sum = filters_sum(octets->data, octets->len);
    g_byte_array_free(octets, TRUE);
    return whole ? text : NULL;
}

/* The values that a condition demands of a field: "x25s.type#{k} == 19" or "in {0x13, 0x1b}". */
static bool read_values(const char *text, enum mark mark, struct marks *marks)
{
    char *field = g_strdup_printf("%s#{k} ", fields_mark_name(mark));
    bool named = g_str_has_prefix(text, field);
    uint32_t value;

    text += strlen(field);
    g_free(field);
    if (!named)
        return false;
    bool listed = g_str_has_prefix(text, "in {");

    if (!listed && !g_str_has_prefix(text, "== "))
        return false;
    text += listed ? 4 : 3;
    do {
        text = mark == MARK_USER_DATA ? read_octets(text, &value) : read_number(text, &value);
        if (text == NULL)
            return false;
        marks_add(marks, mark, value);
    } while (listed && g_str_has_prefix(text, ", ") && (text += 2));
    if (listed && *text++ != '}')
        return false;
    return *text == '\0' || g_str_has_prefix(text, " && ");
}

/* The next condition of a text that joins them by " && " outside of parentheses; NULL: no more. */
static const char *next_condition(const char *text)
{
    int depth = 0;
    bool quoted = false;

    for (; *text != '\0'; text++) {
        if (quoted && *text == '\\' && text[1] != '\0')
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (!quoted && (*text == '(' || *text == ')'))
            depth += *text == '(' ? 1 : -1;
        else if (!quoted && depth == 0 && g_str_has_prefix(text, " && "))
            return text + strlen(" && ");
    }
    return NULL;
}

/* Note which values a packet must have for the filter to hold. */
static void read_marks(struct filter *filter)
{
    if (has_alternatives(filter->text))
        return;
    for (const char *text = filter->text; text != NULL; text = next_condition(text)) {
        for (enum mark mark = 0; mark < MARKS; mark++) {
            struct marks found = {0};

            if (filter->marked[mark] || !read_values(text, mark, &found))
                continue;
            memcpy(filter->marks.bits[mark], found.bits[mark], sizeof found.bits[mark]);
            filter->marked[mark] = true;
        }
    }
}

bool filter_prepare(struct filter *filter, const char *text, char **message)
{
    filter->text = text;
    filter->per_packet = strstr(text, "{k}") != NULL;
    filter->compiled = g_ptr_array_new();
    read_marks(filter);
    return filter_for(filter, 1, message) != NULL;
}

static bool meet(const uint64_t *some, const uint64_t *others)
{
    return (some[0] & others[0]) | (some[1] & others[1]) | (some[2] & others[2]) |
           (some[3] & others[3]);
}

bool filter_may_hold(const struct filter *filter, const struct marks *packet)
{
    for (enum mark mark = 0; mark < MARKS; mark++)
        if (filter->marked[mark] && !meet(filter->marks.bits[mark], packet->bits[mark]))
            return false;
    return true;
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
