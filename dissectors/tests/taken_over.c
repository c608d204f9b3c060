/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a judge could do once a capture has taken it over: taken_over PROCESS FILE
 *
 * It gives up what the judge gives up, says what is in force, and then tries what harms others:
 * another process of its user and a file that it may write. One line for each try: its name and
 * "refused", or what became of it. */
#define _GNU_SOURCE
#include "confinement.h"
#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Of linux/ioprio.h and glibc, which older systems do not have. */
#define IOPRIO_WHO_PROCESS 1
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static void told(const char *name, long answer)
{
    if (answer != -1)
        printf("%s: allowed\n", name);
    else if (errno == EPERM || errno == EACCES)
        printf("%s: refused\n", name);
    else
        printf("%s: %s\n", name, strerror(errno));
}
#define TRY(name, call) (errno = 0, told(name, (long)(call)))

static void try_process(pid_t other)
{
    struct rlimit limit = {64, 64};
    siginfo_t told_signal;
    cpu_set_t processors;
    char memory[64];

    memset(&told_signal, 0, sizeof told_signal);
    told_signal.si_code = SI_QUEUE;
    told_signal.si_pid = getpid();
    told_signal.si_uid = getuid();
    (void)sched_getaffinity(0, sizeof processors, &processors);
    (void)snprintf(memory, sizeof memory, "/proc/%d/mem", (int)other);
    /* Nothing that ends it before the last has been tried. */
    TRY("prlimit", prlimit(other, RLIMIT_NOFILE, &limit, NULL));
    TRY("setpriority", setpriority(PRIO_PROCESS, (id_t)other, 19));
    TRY("sched_setaffinity", sched_setaffinity(other, sizeof processors, &processors));
    TRY("ioprio_set", syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, other, 0));
    TRY("mem", open(memory, O_RDWR));
    TRY("ptrace", ptrace(PTRACE_ATTACH, other, NULL, NULL));
    TRY("rt_tgsigqueueinfo", syscall(SYS_rt_tgsigqueueinfo, other, other, SIGUSR1, &told_signal));
    TRY("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, other, SIGUSR1, &told_signal));
    TRY("tgkill", syscall(SYS_tgkill, other, other, SIGUSR1));
    TRY("tkill", syscall(SYS_tkill, other, SIGUSR1));
    TRY("kill", kill(other, SIGUSR1));
}

static void try_file(const char *path)
{
    TRY("open", open(path, O_WRONLY));
    TRY("truncate", truncate(path, 0));
    TRY("utimensat", utimensat(AT_FDCWD, path, NULL, 0));
    TRY("setxattr", setxattr(path, "user.x25shark", "1", 1, 0));
    TRY("chmod", chmod(path, 0600));
    TRY("fchmodat2", syscall(SYS_fchmodat2, AT_FDCWD, path, 0600, 0));
    TRY("unlink", unlink(path));
}

int main(int argc, char **argv)
{
    GPtrArray *confined = g_ptr_array_new();
    const char *reason = NULL;
    struct rlimit own;

    if (argc != 3)
        return 2;
    (void)privileges_leave_network();
    if (!privileges_drop(&reason) || !privileges_bound())
        return 3;
    confinement_enter(confined);
    for (guint i = 0; i < confined->len; i++)
        printf("in force: %s\n", (const char *)confined->pdata[i]);
    try_process((pid_t)atoi(argv[1]));
    try_file(argv[2]);
    TRY("socket", socket(AF_UNIX, SOCK_STREAM, 0));
    TRY("shmget", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
    TRY("fork", fork());
    TRY("execve", execl("/bin/true", "true", NULL));
    /* What it needs itself: its own limits, and to end by abort(). */
    TRY("own limit", getrlimit(RLIMIT_CPU, &own));
    fflush(NULL);
    abort();
}
