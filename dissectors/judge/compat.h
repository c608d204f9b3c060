/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between the versions of libwireshark and libwiretap that the judge is built against:
 * 4.0, 4.4 and 4.6. No other file of the judge looks at the version. */
#ifndef X25SHARK_COMPAT_H
#define X25SHARK_COMPAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include <glib.h>
#include <ws_version.h>

#define WSV(major, minor) \
    (WIRESHARK_VERSION_MAJOR * 100 + WIRESHARK_VERSION_MINOR >= (major) * 100 + (minor))

#if !WSV(4, 0)
#error "libwireshark 4.0 or later is needed"
#endif

#include <wireshark.h>

#include <epan/addr_resolv.h>
#include <epan/dfilter/dfilter.h>
#include <epan/epan.h>
#include <epan/epan_dissect.h>
#include <epan/ex-opt.h>
#include <epan/frame_data.h>
#include <epan/prefs.h>
#include <epan/proto.h>
#include <epan/timestamp.h>
#include <epan/tvbuff.h>
#include <wiretap/wtap.h>
#include <wsutil/filesystem.h>
#include <wsutil/privileges.h>
#include <wsutil/report_message.h>
#include <wsutil/wslog.h>
#if WSV(4, 6)
#include <wsutil/application_flavor.h>
#endif

/* 4.2 went from GLib's types to those of C. */
#if WSV(4, 2)
typedef bool ws_truth;
#else
typedef gboolean ws_truth;
#endif

/* 4.4 keeps the value of a field behind a pointer. */
#if WSV(4, 4)
#define FIELD_VALUE(finfo) ((finfo)->value)
#else
#define FIELD_VALUE(finfo) (&(finfo)->value)
#endif

static inline void compat_start(const char *program, const char *path,
                                void (*log_failure)(const char *, va_list))
{
    char *message;

#if WSV(4, 6)
    set_application_flavor(APPLICATION_FLAVOR_WIRESHARK);
    ws_log_init(log_failure);
    init_process_policies();
    message = configuration_init(path);
    (void)program;
#else
    ws_log_init(program, log_failure);
    init_process_policies();
    message = configuration_init(path, NULL);
#endif
    g_free(message); /* only says that a build folder is not being used */
}

/* NULL and a message (to be freed with g_free) if the text is not a display filter. */
static inline dfilter_t *compat_compile(const char *text, char **message)
{
    dfilter_t *filter = NULL;

    *message = NULL;
#if WSV(4, 2)
    df_error_t *error = NULL;

    if (!dfilter_compile(text, &filter, &error)) {
        *message = g_strdup(error && error->msg ? error->msg : "not a display filter");
        df_error_free(&error);
        return NULL;
    }
#else
    gchar *error = NULL;

    if (!dfilter_compile(text, &filter, &error)) {
        *message = error ? error : g_strdup("not a display filter");
        return NULL;
    }
#endif
    if (filter == NULL)
        *message = g_strdup("the filter is empty");
    return filter;
}

/* The octets of an FT_BYTES value. */
static inline const uint8_t *compat_octets(const field_info *finfo, size_t *count)
{
#if WSV(4, 2)
    *count = fvalue_get_bytes_size(FIELD_VALUE(finfo));
    return fvalue_get_bytes_data(FIELD_VALUE(finfo));
#else
    const GByteArray *octets = finfo->value.value.bytes;

    *count = octets ? octets->len : 0;
    return octets ? octets->data : NULL;
#endif
}

static inline uint32_t compat_number(const field_info *finfo)
{
    return fvalue_get_uinteger((fvalue_t *)(uintptr_t)FIELD_VALUE(finfo));
}

static inline uint64_t compat_number64(const field_info *finfo)
{
    return fvalue_get_uinteger64((fvalue_t *)(uintptr_t)FIELD_VALUE(finfo));
}

/* A record of the capture file with its octets. */
struct record {
    wtap_rec rec;
#if !WSV(4, 6)
    Buffer buffer;
#endif
};

static inline void compat_record_init(struct record *record)
{
#if WSV(4, 6)
    wtap_rec_init(&record->rec, 1514);
#else
    wtap_rec_init(&record->rec);
    ws_buffer_init(&record->buffer, 1514);
#endif
}

static inline bool compat_record_read(wtap *file, struct record *record, int *error, char **info,
                                      gint64 *offset)
{
#if WSV(4, 6)
    return wtap_read(file, &record->rec, error, info, offset);
#else
    return wtap_read(file, &record->rec, &record->buffer, error, info, offset);
#endif
}

static inline void compat_record_dissect(epan_dissect_t *dissect, wtap *file, struct record *record,
                                         frame_data *frame)
{
#if WSV(4, 6)
    epan_dissect_run(dissect, wtap_file_type_subtype(file), &record->rec, frame, NULL);
#else
    /* A file can announce more octets than a buffer may have; the buffer would throw. */
    gint announced = frame->pkt_len > G_MAXINT ? G_MAXINT : (gint)frame->pkt_len;
    tvbuff_t *octets =
        tvb_new_real_data(ws_buffer_start_ptr(&record->buffer), frame->cap_len, announced);

    epan_dissect_run(dissect, wtap_file_type_subtype(file), &record->rec, octets, frame, NULL);
#endif
}

static inline void compat_record_cleanup(struct record *record)
{
    wtap_rec_cleanup(&record->rec);
#if !WSV(4, 6)
    ws_buffer_free(&record->buffer);
#endif
}

#endif
