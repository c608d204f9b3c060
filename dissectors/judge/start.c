/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libwireshark and the strict dissector, see start.h. */
#include "start.h"

#include <stdio.h>
#include <string.h>

#include "compat.h"
#include "fields.h"
#include "filters.h"
#include "memory.h"

static void say(const char *format, va_list arguments)
{
    fputs("x25shark-judge: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

static void say_open(const char *name, int error, ws_truth writing)
{
    fprintf(stderr, "x25shark-judge: %s cannot be %s: %s\n", name, writing ? "written" : "read",
            strerror(error));
}

static void say_failed(const char *name, int error)
{
    fprintf(stderr, "x25shark-judge: %s: %s\n", name, strerror(error));
}

static const struct report_message_routines routines = {
    .vreport_failure = say,
    .vreport_warning = say,
    .report_open_failure = say_open,
    .report_read_failure = say_failed,
    .report_write_failure = say_failed,
};

static bool set_preference(const char *text)
{
    char *copy = g_strdup(text);
    char *message = NULL;
    bool set = prefs_set_pref(copy, &message) == PREFS_SET_OK;

    if (!set)
        fprintf(stderr, "x25shark-judge: preference %s: %s\n", text, message ? message : "unknown");
    g_free(message);
    g_free(copy);
    return set;
}

/* Told now and then while 3,000 protocols register: each touches pages that nobody needs again. */
static void meanwhile(register_action_e action, const char *what, void *nothing)
{
    (void)action;
    (void)what;
    (void)nothing;
    memory_give_back();
}

bool start_wireshark(const char *program, const char *lua)
{
    const char *missing = NULL;
    char *option = g_strdup_printf("lua_script:%s", lua);

    compat_start("x25shark-judge", program, say);
    init_report_message("x25shark-judge", &routines);
    timestamp_set_type(TS_RELATIVE);
    timestamp_set_precision(TS_PREC_AUTO);
    timestamp_set_seconds_type(TS_SECONDS_DEFAULT);
    ex_opt_add(option);
    g_free(option);
    wtap_init(FALSE);
    memory_give_back();
    if (!epan_init(meanwhile, NULL, TRUE))
        return false;
    memory_give_back();
    epan_load_settings();
    /* Fragments of different connections must not be joined; segments out of order must be. */
    if (!set_preference("x25.reassemble:FALSE") ||
        !set_preference("tcp.reassemble_out_of_order:TRUE"))
        return false;
    prefs_apply_all();
    disable_name_resolution();
    if (!fields_start(&missing)) {
        fprintf(stderr, "x25shark-judge: %s is not known: %s was not loaded\n", missing, lua);
        return false;
    }
    filters_start();
    return true;
}
