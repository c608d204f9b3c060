/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One capture, read with the strict dissector, see reading.h. */
#define _GNU_SOURCE
#include "reading.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer.h"
#include "compat.h"
#include "fields.h"
#include "filters.h"
#include "tree.h"

/* What libwireshark asks back about frames seen before. */
struct packet_provider_data {
    GArray *times;
};

static const nstime_t *frame_time(struct packet_provider_data *provider, guint32 number)
{
    if (number == 0 || number > provider->times->len)
        return NULL;
    return &g_array_index(provider->times, nstime_t, number - 1);
}

static const struct packet_provider_funcs provider_functions = {.get_frame_ts = frame_time};

struct request {
    gint64 id;
    struct filter *filters;
    unsigned filter_count;
    const header_field_info **fields;
    unsigned field_count;
};

static GString *error_answer(const struct request *request, const char *kind, gint64 place,
                             const char *message)
{
    GString *answer = g_string_new("{\"load\":");
    char *valid = g_utf8_make_valid(message, -1);

    answer_number(answer, request->id);
    g_string_append(answer, ",\"error\":{\"kind\":");
    answer_string(answer, kind);
    if (place >= 0) {
        g_string_append(answer, ",\"place\":");
        answer_number(answer, place);
    }
    g_string_append(answer, ",\"message\":");
    answer_string(answer, valid);
    g_string_append(answer, "}}");
    g_free(valid);
    return answer;
}

/* An array of strings of the request; an absent one is empty. False if it is anything else. */
static bool strings_of(JsonObject *object, const char *name, unsigned most, JsonArray **array)
{
    JsonNode *node = json_object_get_member(object, name);

    *array = NULL;
    if (node == NULL)
        return true;
    if (!JSON_NODE_HOLDS_ARRAY(node))
        return false;
    *array = json_node_get_array(node);
    if (json_array_get_length(*array) > most)
        return false;
    for (unsigned i = 0; i < json_array_get_length(*array); i++) {
        JsonNode *element = json_array_get_element(*array, i);

        if (!JSON_NODE_HOLDS_VALUE(element) || json_node_get_value_type(element) != G_TYPE_STRING)
            return false;
    }
    return true;
}

/* Fill the request; an answer instead if it is wrong. */
static GString *understand(JsonNode *node, struct request *request)
{
    JsonArray *filters, *fields;
    char *message;

    if (node == NULL || !JSON_NODE_HOLDS_OBJECT(node))
        return error_answer(request, "request", -1, "the request is no JSON object");
    JsonObject *object = json_node_get_object(node);

    request->id = json_object_get_int_member_with_default(object, "load", -1);
    if (!strings_of(object, "filters", READING_MOST_FILTERS, &filters) ||
        !strings_of(object, "fields", READING_MOST_FIELDS, &fields))
        return error_answer(request, "request", -1,
                            "\"filters\" and \"fields\" must be lists of strings, not too long");
    request->filter_count = 0;
    if (filters != NULL) {
        unsigned count = json_array_get_length(filters);

        request->filters = g_new0(struct filter, count + 1);
        for (unsigned i = 0; i < count; i++) {
            const char *text = json_array_get_string_element(filters, i);

            request->filter_count = i + 1;
            if (!filter_prepare(&request->filters[i], text, &message)) {
                GString *answer = error_answer(request, "filter", i, message);

                g_free(message);
                return answer;
            }
        }
    }
    if (fields != NULL) {
        request->field_count = json_array_get_length(fields);
        request->fields = g_new0(const header_field_info *, request->field_count + 1);
        for (unsigned i = 0; i < request->field_count; i++) {
            const char *name = json_array_get_string_element(fields, i);

            request->fields[i] = proto_registrar_get_byname(name);
            if (request->fields[i] == NULL)
                return error_answer(request, "field", i, "Wireshark knows no such field");
        }
    }
    return NULL;
}

static void forget(struct request *request)
{
    for (unsigned i = 0; i < request->filter_count; i++)
        filter_release(&request->filters[i]);
    g_free(request->filters);
    g_free(request->fields);
}

static void prime(epan_dissect_t *dissect, const struct request *request)
{
    const GArray *wanted = fields_wanted();

    for (unsigned i = 0; i < wanted->len; i++)
        epan_dissect_prime_with_hfid(dissect, g_array_index(wanted, int, i));
    for (unsigned i = 0; i < request->field_count; i++)
        for (const header_field_info *field = request->fields[i]; field != NULL;
             field = fields_before(field))
            epan_dissect_prime_with_hfid(dissect, field->id);
    for (unsigned i = 0; i < request->filter_count; i++)
        epan_dissect_prime_with_dfilter(dissect,
                                        g_ptr_array_index(request->filters[i].compiled, 0));
}

struct passage {
    unsigned frames;
    unsigned hit_count;
    GString **hits;
    struct tree_reading found;
    char *file_error;
    char *limit;
};

/* Evaluate a filter on the packets of a frame, or on the frame: frame and k of each hit. False with a
 * message if it cannot be compiled for a k. */
static bool evaluate(epan_dissect_t *dissect, struct filter *filter, const GArray *marks,
                     struct passage *passage, GString *hits)
{
    unsigned first = filter->per_packet ? 1 : 0;
    unsigned last = filter->per_packet ? marks->len : 0;

    for (unsigned k = first; k <= last; k++) {
        if (k > 0 && !filter_may_hold(filter, &g_array_index(marks, struct marks, k - 1)))
            continue;
        dfilter_t *compiled = filter_for(filter, k, &passage->limit);

        if (compiled == NULL)
            return false;
        if (!dfilter_apply_edt(compiled, dissect))
            continue;
        answer_number(hits, passage->frames);
        answer_number(hits, k);
        if (++passage->hit_count > READING_MOST_HITS) {
            passage->limit = g_strdup("too many hits");
            return false;
        }
    }
    return true;
}

/* Open the capture through standard input: no path, so no right to it is needed. */
static wtap *open_capture(int descriptor, char **message)
{
    struct stat status;
    int error = 0;
    char *info = NULL;

    *message = NULL;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        *message = g_strdup("the capture is not a regular file");
        return NULL;
    }
    if (status.st_size == 0) {
        *message = g_strdup("the capture is empty: not even a file header");
        return NULL;
    }
    if (dup2(descriptor, STDIN_FILENO) < 0 || lseek(STDIN_FILENO, 0, SEEK_SET) != 0) {
        *message = g_strdup("the capture cannot be read from its start");
        return NULL;
    }
    wtap *file = wtap_open_offline("-", WTAP_TYPE_AUTO, &error, &info, FALSE);

    if (file == NULL)
        *message = g_strdup_printf("%s%s%s", wtap_strerror(error), info ? ": " : "", info ? info : "");
    g_free(info);
    return file;
}

static void dissect_all(wtap *file, struct request *request, struct passage *passage)
{
    struct packet_provider_data provider = {g_array_new(FALSE, TRUE, sizeof(nstime_t))};
    epan_t *session = epan_new(&provider, &provider_functions);
    epan_dissect_t *dissect = epan_dissect_new(session, TRUE, FALSE);
    frame_data first, last;
    const frame_data *reference = NULL, *previous = NULL;
    guint32 octets = 0;
    nstime_t elapsed;
    struct record record;
    int error = 0;
    char *info = NULL;
    gint64 offset;

    nstime_set_zero(&elapsed);
    compat_record_init(&record);
    while (passage->limit == NULL &&
           compat_record_read(file, &record, &error, &info, &offset)) {
        frame_data frame;

        if (++passage->frames > READING_MOST_FRAMES) {
            passage->limit = g_strdup("too many frames in the capture");
            break;
        }
        frame_data_init(&frame, passage->frames, &record.rec, offset, octets);
        g_array_append_val(provider.times, frame.abs_ts);
        prime(dissect, request);
        frame_data_set_before_dissect(&frame, &elapsed, &reference, previous);
        if (reference == &frame) {
            first = frame;
            reference = &first;
        }
        compat_record_dissect(dissect, file, &record, &frame);
        tree_read(&passage->found, dissect, passage->frames, request->fields,
                  request->field_count);
        if (passage->found.packet_count > READING_MOST_PACKETS)
            passage->limit = g_strdup("too many packets in the capture");
        for (unsigned i = 0; i < request->filter_count && passage->limit == NULL; i++)
            evaluate(dissect, &request->filters[i], passage->found.marks, passage,
                     passage->hits[i]);
        frame_data_set_after_dissect(&frame, &octets);
        last = frame;
        last.pfd = NULL;
        previous = &last;
        epan_dissect_reset(dissect);
        frame_data_destroy(&frame);
        wtap_rec_reset(&record.rec);
    }
    if (error != 0)
        passage->file_error = g_strdup_printf("%s%s%s", wtap_strerror(error), info ? ": " : "", info ? info : "");
    g_free(info);
    compat_record_cleanup(&record);
    epan_dissect_free(dissect);
    epan_free(session);
    g_array_free(provider.times, TRUE);
}

static void add_array(GString *answer, const char *name, const GString *elements)
{
    g_string_append_printf(answer, ",\"%s\":[", name);
    g_string_append_len(answer, elements->str, (gssize)elements->len);
    g_string_append_c(answer, ']');
}

static GString *whole_answer(const struct request *request, struct passage *passage, gint64 started)
{
    struct tree_reading *found = &passage->found;
    /* The packets are by far the most: they become the answer, and are not there twice. */
    GString *answer = g_string_prepend(found->packets, "{\"packets\":[");

    found->packets = g_string_new(NULL);
    g_string_append_printf(answer, "],\"load\":%" G_GINT64_FORMAT ",\"frames\":%u,\"octets\":[",
                           request->id, passage->frames);
    for (unsigned i = 0; i < request->field_count; i++)
        if (fields_is_octets(request->fields[i]))
            answer_number(answer, i);
    g_string_append_c(answer, ']');
    add_array(answer, "ends", found->ends);
    add_array(answer, "tcp", found->tcp);
    g_string_append(answer, ",\"hits\":[");
    for (unsigned i = 0; i < request->filter_count; i++) {
        answer_comma(answer);
        g_string_append_printf(answer, "[%s]", passage->hits[i]->str);
    }
    g_string_append_c(answer, ']');
    add_array(answer, "experts", found->experts);
    add_array(answer, "differences", found->differences);
    add_array(answer, "lua_errors", found->lua_errors);
    g_string_append(answer, ",\"malformed_file\":");
    if (passage->file_error != NULL) {
        char *valid = g_utf8_make_valid(passage->file_error, -1);

        answer_string(answer, valid);
        g_free(valid);
    } else {
        g_string_append(answer, "null");
    }
    g_string_append_printf(answer, ",\"us\":%" G_GINT64_FORMAT "}", g_get_monotonic_time() - started);
    return answer;
}

GString *reading_answer(JsonNode *node, int descriptor)
{
    struct request request = {.id = -1};
    struct passage passage = {0};
    gint64 started = g_get_monotonic_time();
    char *message;

    filters_trim();
    GString *answer = understand(node, &request);

    if (answer == NULL && descriptor < 0)
        answer = error_answer(&request, "request", -1, "no capture came with the request");
    if (answer != NULL) {
        forget(&request);
        return answer;
    }
    wtap *file = open_capture(descriptor, &message);

    if (file == NULL) {
        answer = error_answer(&request, "file", -1, message);
        g_free(message);
        forget(&request);
        return answer;
    }
    tree_reading_init(&passage.found);
    passage.hits = g_new0(GString *, request.filter_count + 1);
    for (unsigned i = 0; i < request.filter_count; i++)
        passage.hits[i] = g_string_new(NULL);
    dissect_all(file, &request, &passage);
    wtap_close(file);
    if (passage.limit != NULL)
        answer = error_answer(&request, "limit", passage.frames, passage.limit);
    else
        answer = whole_answer(&request, &passage, started);
    for (unsigned i = 0; i < request.filter_count; i++)
        g_string_free(passage.hits[i], TRUE);
    g_free(passage.hits);
    g_free(passage.limit);
    g_free(passage.file_error);
    tree_reading_release(&passage.found);
    forget(&request);
    return answer;
}
