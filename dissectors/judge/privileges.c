/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the judge gives up before it looks at a capture, see privileges.h. */
#define _GNU_SOURCE
#include "privileges.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOBODY 65534
#define MOST_MEMORY (4ull * 1024 * 1024 * 1024)
#define MOST_FILES 64

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static bool write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t length = (ssize_t)strlen(text);

    if (file < 0)
        return false;
    bool written = write(file, text, (size_t)length) == length;

    close(file);
    return written;
}

/* In a user namespace that maps one id only no other id can be taken; a namespace inside it can
 * show that id under another number. */
static bool become_nobody_by_namespace(void)
{
    if (unshare(CLONE_NEWUSER) != 0)
        return false;
    (void)write_file("/proc/self/setgroups", "deny");
    return write_file("/proc/self/gid_map", "65534 0 1") &&
           write_file("/proc/self/uid_map", "65534 0 1");
}

bool privileges_drop(const char **reason)
{
    if (geteuid() != 0)
        return true;
    if (setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0) {
        if (setresuid(NOBODY, NOBODY, NOBODY) == 0)
            return true;
        *reason = "the group could be left but not the user";
        return false;
    }
    if (become_nobody_by_namespace() && geteuid() != 0)
        return true;
    *reason = "neither another user nor a nested user namespace can be had";
    return false;
}

bool privileges_bound(void)
{
    const struct rlimit memory = {MOST_MEMORY, MOST_MEMORY};
    const struct rlimit files = {MOST_FILES, MOST_FILES};
    const struct rlimit none = {0, 0};
    pid_t parent = getppid();

    if (!SANITIZED) /* a sanitizer reserves terabytes of addresses */
        (void)setrlimit(RLIMIT_AS, &memory);
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    return getppid() == parent;
}
