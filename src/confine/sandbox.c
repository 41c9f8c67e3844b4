/* See sandbox.h. */
#define _GNU_SOURCE
#include "confine/sandbox.h"

#include "confine/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

#define DEFAULT_IDLE_SECONDS 60U
/* Less processor time than this from one look to the next is none: a job that runs gets more even
 * where hundreds compete, and the thread of a sanitizer uses some while the job sleeps. */
#define SOME_NS 2000000
/* The kernel's own limit, for a parent that cannot watch: far above what any job is given. */
#define MOST_CPU_SECONDS 14400U

/* Exit codes of a child that could not be confined. */
enum { NOT_CONFINED_LIFE = 101, NOT_CONFINED_FILES, NOT_CONFINED_LIMITS, NOT_CONFINED_SYSCALLS };

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t used_ns(clockid_t clock)
{
    struct timespec used;

    return clock_gettime(clock, &used) == 0
               ? (int64_t)used.tv_sec * 1000000000 + (int64_t)used.tv_nsec
               : -1;
}

/* Looks after the child about once a second. Seconds without progress are counted in looks, not
 * taken from a clock: while both processes are stopped there are none. */
static void look(struct facet_channel *channel)
{
    const int64_t now = now_ms();
    int64_t used;

    if (now - channel->looked_ms < 900) {
        return;
    }
    used = used_ns(channel->clock);
    channel->idle = used - channel->used_ns >= SOME_NS ? 0 : channel->idle + 1;
    channel->used_ns = used;
    channel->looked_ms = now;
    if (used >= (int64_t)channel->cpu_seconds * 1000000000) {
        channel->state = FACET_CHANNEL_SLOW;
    } else if (channel->idle >= channel->idle_seconds) {
        channel->state = FACET_CHANNEL_WAITING;
    }
}

static void broken(struct facet_channel *channel)
{
    const bool gone = errno == EPIPE || errno == ECONNRESET;

    channel->state = gone ? FACET_CHANNEL_GONE : FACET_CHANNEL_BROKEN;
    channel->reason = errno;
}

/* Waits until the socket is ready, or the watch ends it. The child just blocks in read or write. */
static bool wait_ready(struct facet_channel *channel, short events)
{
    while (channel->watching && channel->state == FACET_CHANNEL_OPEN) {
        struct pollfd poller = {.fd = channel->fd, .events = events};
        int ready;

        look(channel);
        ready = poll(&poller, 1, 1000);
        if (ready > 0) {
            break;
        }
        if (ready < 0 && errno != EINTR) {
            broken(channel);
        }
    }
    return channel->state == FACET_CHANNEL_OPEN;
}

static bool again(void)
{
    return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

bool facet_channel_read(struct facet_channel *channel, void *to, size_t size)
{
    uint8_t *at = to;

    while (size > 0 && wait_ready(channel, POLLIN)) {
        ssize_t got = channel->watching ? recv(channel->fd, at, size, MSG_DONTWAIT)
                                        : read(channel->fd, at, size);

        if (got > 0) {
            at += got;
            size -= (size_t)got;
        } else if (got == 0) {
            channel->state = FACET_CHANNEL_GONE;
        } else if (!again()) {
            broken(channel);
        }
    }
    return channel->state == FACET_CHANNEL_OPEN;
}

bool facet_channel_write(struct facet_channel *channel, const void *from, size_t size)
{
    const uint8_t *at = from;

    while (size > 0 && wait_ready(channel, POLLOUT)) {
        ssize_t put = channel->watching ? send(channel->fd, at, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                                        : write(channel->fd, at, size);

        if (put > 0) {
            at += put;
            size -= (size_t)put;
        } else if (put < 0 && !again()) {
            broken(channel);
        }
    }
    return channel->state == FACET_CHANNEL_OPEN;
}

bool facet_channel_send_error(struct facet_channel *channel, const struct facet_error *err)
{
    return facet_channel_write(channel, err, sizeof *err);
}

enum facet_status facet_channel_take_error(struct facet_channel *channel, struct facet_error *err)
{
    struct facet_error remote;

    if (!facet_channel_read(channel, &remote, sizeof remote)) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "the other side closed the connection");
    }
    remote.message[sizeof remote.message - 1] = '\0';
    for (char *at = remote.message; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 || *at == 0x7F ? '?' : *at;
    }
    if (remote.status != FACET_ERR_LIMIT && remote.status != FACET_ERR_MEMORY &&
        remote.status != FACET_ERR_IO) {
        remote.status = FACET_ERR_INPUT;
    }
    return facet_fail(err, remote.status, remote.where, "%s", remote.message);
}

/* Nothing that this process has open is open in the child, except the channel. */
static bool keep_only(int channel)
{
    int high = fcntl(channel, F_DUPFD, CHANNEL_FD + 1);
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

/* The address space this process uses now. */
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

static bool set_limits(const struct facet_sandbox *sandbox)
{
    /* A sanitizer's shadow memory alone is larger than any sensible limit. */
    bool memory = SANITIZED || set_limit(RLIMIT_AS, mapped_now() + sandbox->memory_bytes);

    return memory && set_limit(RLIMIT_CPU, MOST_CPU_SECONDS) && set_limit(RLIMIT_FSIZE, 0) &&
           set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_NOFILE, 0);
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

_Noreturn static void run_child(const struct facet_sandbox *sandbox, int channel_fd, pid_t parent)
{
    struct facet_channel channel = {.fd = CHANNEL_FD};

    reset_signals();
    /* The parent may have ended before its end was asked to end us. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
        prctl(PR_SET_DUMPABLE, 0) != 0) {
        _exit(NOT_CONFINED_LIFE);
    }
    if (!keep_only(channel_fd)) {
        _exit(NOT_CONFINED_FILES);
    }
    if (!set_limits(sandbox)) {
        _exit(NOT_CONFINED_LIMITS);
    }
    if (!facet_filter_syscalls(CHANNEL_FD)) {
        _exit(NOT_CONFINED_SYSCALLS);
    }
    sandbox->job(sandbox->context, &channel);
    _exit(0);
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
    static const char *const steps[] = {
        "its lifetime", "its files", "its resources", "its system calls"};
    int code = WIFEXITED(end) ? WEXITSTATUS(end) : 0;

    if (WIFSIGNALED(end)) {
        return explain_signal(sandbox, WTERMSIG(end), err);
    }
    if (code >= NOT_CONFINED_LIFE && code <= NOT_CONFINED_SYSCALLS) {
        return facet_fail(err,
                          FACET_ERR_IO,
                          0,
                          "this host cannot confine %s: limiting %s failed",
                          sandbox->what,
                          steps[code - NOT_CONFINED_LIFE]);
    }
    return facet_fail(
        err, FACET_ERR_INPUT, 0, "%s ended with code %d and no result", sandbox->what, code);
}

/* A child that has closed its end of the channel is ending: it has no call to close it otherwise.
 * Its reason is worth waiting for. Any other is killed. */
static int reap(pid_t child, bool ending)
{
    int end = 0;
    pid_t got;

    if (!ending) {
        (void)kill(child, SIGKILL);
    }
    do {
        got = waitpid(child, &end, 0);
    } while (got < 0 && errno == EINTR);
    return got == child ? end : 0;
}

static enum facet_status explain_channel(const struct facet_sandbox *sandbox,
                                         const struct facet_channel *channel,
                                         int end,
                                         struct facet_error *err)
{
    switch (channel->state) {
    case FACET_CHANNEL_SLOW:
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "%s used more than %u s of processor time and was stopped",
                          sandbox->what,
                          channel->cpu_seconds);
    case FACET_CHANNEL_WAITING:
        return facet_fail(err,
                          FACET_ERR_LIMIT,
                          0,
                          "%s did nothing for %u s and was stopped",
                          sandbox->what,
                          channel->idle_seconds);
    case FACET_CHANNEL_BROKEN:
        return facet_fail(err,
                          FACET_ERR_IO,
                          0,
                          "cannot talk to %s: %s",
                          sandbox->what,
                          strerror(channel->reason));
    default:
        return explain_end(sandbox, end, err);
    }
}

static enum facet_status talk(const struct facet_sandbox *sandbox,
                              pid_t child,
                              struct facet_channel *channel,
                              struct facet_error *err)
{
    enum facet_status status;
    int end;

    if (clock_getcpuclockid(child, &channel->clock) != 0) {
        (void)reap(child, false);
        return facet_fail(
            err, FACET_ERR_IO, 0, "cannot watch the processor time of %s", sandbox->what);
    }
    status = sandbox->serve(sandbox->context, channel, err);
    end = reap(child, channel->state == FACET_CHANNEL_GONE);
    return status == FACET_OK || channel->state == FACET_CHANNEL_OPEN
               ? status
               : explain_channel(sandbox, channel, end, err);
}

/* No handler of the parent may run in the child: signals wait until the child has reset them. */
static pid_t fork_quietly(void)
{
    sigset_t all, old;
    pid_t child;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    child = fork();
    if (child != 0) {
        int reason = errno;

        (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
        errno = reason;
    }
    return child;
}

enum facet_status facet_sandbox_run(const struct facet_sandbox *sandbox, struct facet_error *err)
{
    const pid_t parent = getpid();
    struct facet_channel channel = {
        .watching = true,
        .cpu_seconds = sandbox->cpu_seconds,
        .idle_seconds = sandbox->idle_seconds != 0 ? sandbox->idle_seconds : DEFAULT_IDLE_SECONDS,
        .looked_ms = now_ms()};
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
    child = fork_quietly();
    if (child == 0) {
        run_child(sandbox, ends[1], parent);
    }
    channel.fd = ends[0];
    status = child > 0 ? FACET_OK
                       : facet_fail(err,
                                    FACET_ERR_IO,
                                    0,
                                    "cannot make a process for %s: %s",
                                    sandbox->what,
                                    strerror(errno));
    (void)close(ends[1]);
    if (status == FACET_OK) {
        status = talk(sandbox, child, &channel, err);
    }
    (void)close(ends[0]);
    return status;
}
