/* See sandbox.h. */
#define _GNU_SOURCE
#include "scene/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* The child's descriptors: 0 to 2 are /dev/null, 3 is the channel, nothing else is open. */
#define CHANNEL_FD 3

/* Exit codes of a child that could not be confined. */
enum { NOT_CONFINED_FILES = 101, NOT_CONFINED_LIMITS, NOT_CONFINED_SYSCALLS };

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until the socket is ready. The child has no deadline and just blocks in read or write. */
static bool wait_ready(struct facet_channel *channel, short events)
{
    while (channel->deadline_ms != 0) {
        struct pollfd poller = {.fd = channel->fd, .events = events};
        int64_t left = channel->deadline_ms - now_ms();
        int ready;

        if (left <= 0) {
            channel->late = true;
            return false;
        }
        ready = poll(&poller, 1, left > 1000 ? 1000 : (int)left);
        if (ready > 0) {
            return true;
        }
        if (ready < 0 && errno != EINTR) {
            channel->lost = true;
            return false;
        }
    }
    return true;
}

static bool again(void)
{
    return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

bool facet_channel_read(struct facet_channel *channel, void *to, size_t size)
{
    uint8_t *at = to;

    while (size > 0 && !channel->lost && !channel->late) {
        ssize_t got;

        if (!wait_ready(channel, POLLIN)) {
            return false;
        }
        got = channel->deadline_ms != 0 ? recv(channel->fd, at, size, MSG_DONTWAIT)
                                        : read(channel->fd, at, size);
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        } else if (got == 0 || !again()) {
            channel->lost = true;
        }
    }
    return !channel->lost && !channel->late;
}

bool facet_channel_write(struct facet_channel *channel, const void *from, size_t size)
{
    const uint8_t *at = from;

    while (size > 0 && !channel->lost && !channel->late) {
        ssize_t put;

        if (!wait_ready(channel, POLLOUT)) {
            return false;
        }
        put = channel->deadline_ms != 0 ? send(channel->fd, at, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                                        : write(channel->fd, at, size);
        if (put > 0) {
            at += put;
            size -= (size_t)put;
        } else if (put == 0 || !again()) {
            channel->lost = true;
        }
    }
    return !channel->lost && !channel->late;
}

/* Nothing that this process has open is open in the child, except the channel. */
static bool keep_only(int channel)
{
    int high = fcntl(channel, F_DUPFD, 64);
    int null = open("/dev/null", O_RDWR);

    if (high < 0 || null < 0) {
        return false;
    }
    for (int fd = 0; fd < CHANNEL_FD; fd++) {
        if (dup2(null, fd) < 0) {
            return false;
        }
    }
    if (dup2(high, CHANNEL_FD) < 0) {
        return false;
    }
    if (syscall(SYS_close_range, (unsigned)CHANNEL_FD + 1, ~0U, 0U) != 0) {
        long most = sysconf(_SC_OPEN_MAX);

        for (long fd = CHANNEL_FD + 1; fd < most; fd++) {
            (void)close((int)fd);
        }
    }
    return true;
}

/* What the process may still get: a limit that the user has set cannot be raised again. */
static rlim_t at_most(__rlimit_resource_t which, uint64_t value)
{
    struct rlimit now;

    return getrlimit(which, &now) == 0 && now.rlim_max < value ? now.rlim_max : value;
}

static bool set_limit(__rlimit_resource_t which, uint64_t value)
{
    const rlim_t most = at_most(which, value);
    struct rlimit limit = {.rlim_cur = most, .rlim_max = most};

    return setrlimit(which, &limit) == 0;
}

/* The kernel sends SIGXCPU at the lower limit and SIGKILL at the upper one: a second between them
 * keeps the reason known. */
static bool set_cpu_limit(uint32_t seconds)
{
    const rlim_t most = at_most(RLIMIT_CPU, (uint64_t)seconds + 1);
    struct rlimit limit = {.rlim_cur = most > seconds ? seconds : most, .rlim_max = most};

    return setrlimit(RLIMIT_CPU, &limit) == 0;
}

static uint32_t cpu_seconds(const struct facet_sandbox *sandbox)
{
    return sandbox->cpu_seconds != 0 ? sandbox->cpu_seconds : sandbox->seconds + 1;
}

static bool set_limits(const struct facet_sandbox *sandbox, uint64_t mapped_bytes)
{
    /* A sanitizer's shadow memory alone is larger than any sensible limit. */
    bool memory = SANITIZED || set_limit(RLIMIT_AS, mapped_bytes + sandbox->memory_bytes);

    return memory && set_cpu_limit(cpu_seconds(sandbox)) && set_limit(RLIMIT_FSIZE, 0) &&
           set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_NOFILE, 0);
}

static bool allow(scmp_filter_ctx filter, int number)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0) == 0;
}

static bool refuse(scmp_filter_ctx filter, int number)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), number, 0) == 0;
}

/* Memory without PROT_EXEC: nothing that the job computes can become code. */
static bool allow_data_memory(scmp_filter_ctx filter, int number)
{
    return seccomp_rule_add(
               filter, SCMP_ACT_ALLOW, number, 1, SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) ==
           0;
}

/* Looking for a file to read is answered with "permission denied", so a library that probes for
 * some configuration carries on; opening one for writing ends the child. */
static bool refuse_reading(scmp_filter_ctx filter)
{
    const uint64_t writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

    return seccomp_rule_add(filter,
                            SCMP_ACT_ERRNO(EACCES),
                            SCMP_SYS(openat),
                            1,
                            SCMP_A2_64(SCMP_CMP_MASKED_EQ, writes, 0)) == 0 &&
           seccomp_rule_add(filter,
                            SCMP_ACT_ERRNO(EACCES),
                            SCMP_SYS(open),
                            1,
                            SCMP_A1_64(SCMP_CMP_MASKED_EQ, writes, 0)) == 0;
}

/* Everything not named here kills the child. */
static bool filter_syscalls(void)
{
    static const int allowed[] = {
        SCMP_SYS(read),          SCMP_SYS(brk),
        SCMP_SYS(munmap),        SCMP_SYS(mremap),
        SCMP_SYS(madvise),       SCMP_SYS(futex),
        SCMP_SYS(exit),          SCMP_SYS(exit_group),
        SCMP_SYS(rt_sigreturn),  SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(rt_sigaction),  SCMP_SYS(sigaltstack),
        SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
        SCMP_SYS(time),          SCMP_SYS(getpid),
        SCMP_SYS(gettid),        SCMP_SYS(sched_yield),
        SCMP_SYS(getrandom),     SCMP_SYS(restart_syscall),
    };
    static const int refused[] = {
        SCMP_SYS(stat),
        SCMP_SYS(lstat),
        SCMP_SYS(fstat),
        SCMP_SYS(newfstatat),
        SCMP_SYS(statx),
        SCMP_SYS(access),
        SCMP_SYS(readlink),
        SCMP_SYS(readlinkat),
        SCMP_SYS(faccessat),
        SCMP_SYS(ioctl),
        SCMP_SYS(lseek),
        SCMP_SYS(getcwd),
        SCMP_SYS(uname),
        SCMP_SYS(sysinfo),
        SCMP_SYS(prctl),
        SCMP_SYS(sched_getaffinity),
        SCMP_SYS(getrusage),
        SCMP_SYS(prlimit64),
    };
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    bool ok = filter != NULL;

    for (size_t i = 0; ok && i < sizeof allowed / sizeof allowed[0]; i++) {
        ok = allow(filter, allowed[i]);
    }
    for (size_t i = 0; ok && i < sizeof refused / sizeof refused[0]; i++) {
        ok = refuse(filter, refused[i]);
    }
    ok = ok && allow_data_memory(filter, SCMP_SYS(mmap)) &&
         allow_data_memory(filter, SCMP_SYS(mprotect)) && refuse_reading(filter) &&
         seccomp_rule_add(
             filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0_64(SCMP_CMP_LE, CHANNEL_FD, 0)) ==
             0 &&
         /* abort() sends itself a signal; nobody else may be sent one. */
         seccomp_rule_add(filter,
                          SCMP_ACT_ALLOW,
                          SCMP_SYS(tgkill),
                          1,
                          SCMP_A0_64(SCMP_CMP_EQ, (uint64_t)getpid(), 0)) == 0 &&
         seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
         seccomp_load(filter) == 0;
    seccomp_release(filter);
    return ok;
}

/* Handlers of the parent must not run in the child. */
static void reset_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++) {
        (void)signal(number, SIG_DFL);
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void
run_child(const struct facet_sandbox *sandbox, int channel_fd, uint64_t mapped_bytes)
{
    struct facet_channel channel = {.fd = CHANNEL_FD};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_DUMPABLE, 0);
    reset_signals();
    if (!keep_only(channel_fd)) {
        _exit(NOT_CONFINED_FILES);
    }
    if (!set_limits(sandbox, mapped_bytes)) {
        _exit(NOT_CONFINED_LIMITS);
    }
    if (!filter_syscalls()) {
        _exit(NOT_CONFINED_SYSCALLS);
    }
    sandbox->job(sandbox->context, &channel);
    _exit(0);
}

/* The address space this process uses now: the child starts with the same. */
static uint64_t mapped_now(void)
{
    char text[128];
    unsigned long long pages = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

    if (fd >= 0) {
        (void)close(fd);
    }
    if (length > 0) {
        text[length] = '\0';
        (void)sscanf(text, "%llu", &pages);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static enum facet_status
explain_signal(const struct facet_sandbox *sandbox, int number, struct facet_error *err)
{
    switch (number) {
    case SIGSYS:
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s tried a forbidden system call and was stopped",
                          sandbox->what);
    case SIGXCPU:
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "%s used more than %u s of processor time and was stopped",
                          sandbox->what,
                          cpu_seconds(sandbox));
    case SIGKILL:
        return facet_fail(
            err, FACET_ERR_LIMIT, 0, "%s was killed, perhaps for lack of memory", sandbox->what);
    case SIGABRT:
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s gave up, perhaps because it needs more than %llu MiB of memory",
                          sandbox->what,
                          (unsigned long long)(sandbox->memory_bytes >> 20));
    default:
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          0,
                          "%s crashed on this file (signal %d, %s)",
                          sandbox->what,
                          number,
                          strsignal(number));
    }
}

/* Why the child stopped talking. */
static enum facet_status
explain_end(const struct facet_sandbox *sandbox, int end, struct facet_error *err)
{
    static const char *const steps[] = {"its files", "its resources", "its system calls"};
    int code = WIFEXITED(end) ? WEXITSTATUS(end) : 0;

    if (WIFSIGNALED(end)) {
        return explain_signal(sandbox, WTERMSIG(end), err);
    }
    if (code >= NOT_CONFINED_FILES && code <= NOT_CONFINED_SYSCALLS) {
        return facet_fail(err,
                          FACET_ERR_IO,
                          0,
                          "this host cannot confine %s: limiting %s failed",
                          sandbox->what,
                          steps[code - NOT_CONFINED_FILES]);
    }
    return facet_fail(
        err, FACET_ERR_INPUT, 0, "%s ended with code %d and no result", sandbox->what, code);
}

/* The child gets a moment to end by itself, so that its reason is known; then it is killed. */
static int reap(pid_t child, bool at_once)
{
    int end = 0;
    pid_t got;

    for (int tries = 0; !at_once && tries < 200; tries++) {
        got = waitpid(child, &end, WNOHANG);
        if (got != 0) {
            return got == child ? end : 0;
        }
        (void)usleep(tries < 50 ? 200 : 5000);
    }
    (void)kill(child, SIGKILL);
    do {
        got = waitpid(child, &end, 0);
    } while (got < 0 && errno == EINTR);
    return got == child ? end : 0;
}

static enum facet_status talk(const struct facet_sandbox *sandbox,
                              pid_t child,
                              struct facet_channel *channel,
                              struct facet_error *err)
{
    enum facet_status status = sandbox->serve(sandbox->context, channel, err);
    int end = reap(child, status == FACET_OK || !channel->lost);

    if (status == FACET_OK) {
        return FACET_OK;
    }
    if (channel->late) {
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "%s took longer than %lld s and was stopped",
                          sandbox->what,
                          (long long)((channel->deadline_ms - channel->start_ms) / 1000));
    }
    return channel->lost ? explain_end(sandbox, end, err) : status;
}

enum facet_status facet_sandbox_run(const struct facet_sandbox *sandbox, struct facet_error *err)
{
    uint64_t mapped_bytes = mapped_now();
    struct facet_channel channel = {0};
    enum facet_status status;
    int ends[2];
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return facet_fail(err,
                          FACET_ERR_IO,
                          0,
                          "cannot make a socket for %s: %s",
                          sandbox->what,
                          strerror(errno));
    }
    child = fork();
    if (child < 0) {
        status = facet_fail(err,
                            FACET_ERR_IO,
                            0,
                            "cannot make a process for %s: %s",
                            sandbox->what,
                            strerror(errno));
        (void)close(ends[0]);
        (void)close(ends[1]);
        return status;
    }
    if (child == 0) {
        run_child(sandbox, ends[1], mapped_bytes);
    }
    (void)close(ends[1]);
    channel.fd = ends[0];
    channel.start_ms = now_ms();
    channel.deadline_ms = channel.start_ms + (int64_t)sandbox->seconds * 1000;
    status = talk(sandbox, child, &channel, err);
    (void)close(ends[0]);
    return status;
}
