/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the judge gives up before it looks at a capture, see privileges.h. */
#define _GNU_SOURCE
#include "privileges.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

/* An ordinary user is shown as nobody in the user namespace, and has no rights outside it. */
bool privileges_leave_network(void)
{
    char map[64];
    uid_t user = geteuid();
    gid_t group = getegid();

    if (user == 0)
        return unshare(CLONE_NEWNET) == 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return false;
    (void)write_file("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof map, "%d %u 1", NOBODY, (unsigned)group);
    (void)write_file("/proc/self/gid_map", map);
    (void)snprintf(map, sizeof map, "%d %u 1", NOBODY, (unsigned)user);
    (void)write_file("/proc/self/uid_map", map);
    return true;
}

/* What a user namespace gives is of no use to a judge. */
static void give_up_capabilities(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};

    (void)syscall(SYS_capset, &header, none);
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

    give_up_capabilities();
    if (!SANITIZED) /* a sanitizer reserves terabytes of addresses */
        (void)setrlimit(RLIMIT_AS, &memory);
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    return getppid() == parent;
}
