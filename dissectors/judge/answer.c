/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON text, see answer.h. */
#include "answer.h"

#include <string.h>

void answer_comma(GString *text)
{
    if (text->len > 0 && strchr("[{,:", text->str[text->len - 1]) == NULL)
        g_string_append_c(text, ',');
}

void answer_number(GString *text, int64_t number)
{
    char digits[24];
    char *start = digits + sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    do {
        *--start = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        *--start = '-';
    answer_comma(text);
    g_string_append_len(text, start, digits + sizeof digits - start);
}

void answer_string(GString *text, const char *string)
{
    answer_comma(text);
    g_string_append_c(text, '"');
    for (const char *c = string; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            g_string_append_c(text, '\\');
        if ((unsigned char)*c < 0x20)
            g_string_append_printf(text, "\\u%04x", (unsigned char)*c);
        else
            g_string_append_c(text, *c);
    }
    g_string_append_c(text, '"');
}

void answer_octets(GString *text, const uint8_t *octets, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    gsize at;

    answer_comma(text);
    g_string_append_c(text, '"');
    at = text->len;
    g_string_set_size(text, at + 2 * count);
    for (size_t i = 0; i < count; i++) {
        text->str[at + 2 * i] = digits[octets[i] >> 4];
        text->str[at + 2 * i + 1] = digits[octets[i] & 15];
    }
    g_string_append_c(text, '"');
}
