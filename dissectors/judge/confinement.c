/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the judge may not do any more, see confinement.h. */
#define _GNU_SOURCE
#include "confinement.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef HAVE_SECCOMP
#include <seccomp.h>
#endif
#if defined(__has_include)
#if __has_include(<linux/landlock.h>) && defined(SYS_landlock_create_ruleset)
#include <linux/landlock.h>
#define HAVE_LANDLOCK 1
#endif
#endif

/* Of one reading, in seconds; the tester itself waits for less. */
#define MOST_PROCESSOR 120
/* Of what it says on stderr, in octets. */
#define MOST_WRITTEN (16ull * 1024 * 1024)

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

void confinement_grant_processor(void)
{
    struct rusage used;
    struct rlimit limit;

    if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + MOST_PROCESSOR;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_CPU, &limit);
}

static bool limited(void)
{
    const struct rlimit written = {MOST_WRITTEN, MOST_WRITTEN};
    const struct rlimit none = {0, 0};

    confinement_grant_processor();
    return setrlimit(RLIMIT_FSIZE, &written) == 0 && setrlimit(RLIMIT_NPROC, &none) == 0;
}

#ifdef HAVE_LANDLOCK
/* No rule allows anything: reading alone is left, and what is open already. */
static bool no_files_written(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset_attr wanted = {
        .handled_access_fs =
            LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
            LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
            LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
            LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
            LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
            LANDLOCK_ACCESS_FS_MAKE_SYM,
    };
    bool entered;
    int rules;

    if (abi < 1)
        return false;
#ifdef LANDLOCK_ACCESS_FS_TRUNCATE
    if (abi >= 3)
        wanted.handled_access_fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
#endif
    rules = (int)syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0);
    if (rules < 0)
        return false;
    entered = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return entered;
}
#else
static bool no_files_written(void)
{
    return false;
}
#endif

#ifdef HAVE_SECCOMP
/* System calls that libseccomp may not know by name yet; a number is the same on every machine. */
#define LATER(number, name) (number)

/* What no dissector has any use for, and whoever took the process over has. */
static const int refused[] = {
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(clone),
    SCMP_SYS(clone3), SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind),
    SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal), SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root),
    SCMP_SYS(chroot), SCMP_SYS(open_tree), SCMP_SYS(move_mount), SCMP_SYS(fsopen),
    SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(init_module),
    SCMP_SYS(finit_module), SCMP_SYS(kexec_load), SCMP_SYS(reboot), SCMP_SYS(setuid),
    SCMP_SYS(setgid), SCMP_SYS(setresuid), SCMP_SYS(setresgid), SCMP_SYS(setgroups),
    SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat),
    SCMP_SYS(renameat2), SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(symlink), SCMP_SYS(symlinkat),
    SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir), SCMP_SYS(mknod), SCMP_SYS(mknodat),
    SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(chown), SCMP_SYS(fchown),
    SCMP_SYS(fchownat), SCMP_SYS(truncate), SCMP_SYS(creat),
    /* A file's times and attributes, which Landlock leaves to whoever owns it. */
    SCMP_SYS(utime), SCMP_SYS(utimes), SCMP_SYS(futimesat), SCMP_SYS(utimensat), SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr),
    SCMP_SYS(fremovexattr), LATER(452, fchmodat2), LATER(463, setxattrat), LATER(466, removexattrat),
    /* Other processes of the same user: an ordinary user's judge runs as that user. */
    SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(setpriority), SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam), SCMP_SYS(sched_setattr),
    SCMP_SYS(ioprio_set), SCMP_SYS(kcmp), SCMP_SYS(migrate_pages), SCMP_SYS(move_pages),
    SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(semget), SCMP_SYS(msgget), SCMP_SYS(mq_open),
    SCMP_SYS(mq_unlink),
};

/* With what the judge may only do to itself: what its first argument must be. */
static bool left_to_itself(scmp_filter_ctx filter)
{
    /* A signal to itself is abort(). */
    const struct scmp_arg_cmp others_signal = SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid());
    const struct scmp_arg_cmp others_limit = SCMP_A0(SCMP_CMP_NE, 0);

    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1, others_signal) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 1, others_limit) == 0;
}

static bool calls_filtered(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool whole = filter != NULL;

    for (size_t i = 0; whole && i < G_N_ELEMENTS(refused); i++)
        /* A system call that this machine does not have need not be refused. */
        if (refused[i] >= 0)
            whole = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0) == 0;
    whole = whole && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(kill), 0) == 0 &&
            left_to_itself(filter) && seccomp_load(filter) == 0;
    if (filter != NULL)
        seccomp_release(filter);
    return whole;
}
#else
static bool calls_filtered(void)
{
    return false;
}
#endif

void confinement_enter(GPtrArray *names)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        g_ptr_array_add(names, "no new privileges");
    if (limited())
        g_ptr_array_add(names, "limits");
    if (no_files_written())
        g_ptr_array_add(names, "no files written");
    /* The leak check at the end of a sanitized process needs a thread and ptrace. */
    if (!SANITIZED && calls_filtered())
        g_ptr_array_add(names, "system calls filtered");
}
