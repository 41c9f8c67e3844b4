/* The sandbox holds: jobs that misbehave in every way end as clean errors, and nothing they try
 * reaches the host. The jobs are functions of this file; the sandbox has no test mode. */
#define _GNU_SOURCE
#include "harness.h"

#include "base/pool.h"
#include "confine/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
    __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

static char victim[] = "/tmp/facet_sandbox_XXXXXX"; /* a file that no job may change */

struct answer {
    int32_t value, code;
};

/* Parent: waits for one answer. */
static enum facet_status
wait_answer(void *context, struct facet_channel *channel, struct facet_error *err)
{
    struct answer *answer = context;

    if (!facet_channel_read(channel, answer, sizeof *answer)) {
        return facet_fail(err, FACET_ERR_INPUT, 0, "no answer");
    }
    return FACET_OK;
}

static enum facet_status run_for(uint32_t cpu_seconds,
                                 uint32_t idle_seconds,
                                 void (*job)(void *, struct facet_channel *),
                                 struct answer *answer,
                                 struct facet_error *err)
{
    struct facet_sandbox sandbox = {.what = "the job",
                                    .memory_bytes = UINT64_C(256) << 20,
                                    .cpu_seconds = cpu_seconds,
                                    .idle_seconds = idle_seconds,
                                    .job = job,
                                    .serve = wait_answer,
                                    .context = answer};

    memset(answer, 0, sizeof *answer);
    memset(err, 0, sizeof *err);
    return facet_sandbox_run(&sandbox, err);
}

#define AMPLE_SECONDS 600 /* far more than a busy machine needs */

static enum facet_status
run(void (*job)(void *, struct facet_channel *), struct answer *answer, struct facet_error *err)
{
    return run_for(AMPLE_SECONDS, AMPLE_SECONDS, job, answer, err);
}

static void reply(struct facet_channel *channel, int32_t value)
{
    struct answer answer = {value, errno};

    (void)facet_channel_write(channel, &answer, sizeof answer);
}

static void honest_job(void *context, struct facet_channel *channel)
{
    volatile char *memory = malloc(100 << 20);

    (void)context;
    for (size_t i = 0; memory != NULL && i < 100 << 20; i += 4096) {
        memory[i] = 1;
    }
    reply(channel, memory != NULL ? 42 : 0);
}

TEST(an_honest_job_works, "")
{
    struct answer answer;
    struct facet_error err;

    CHECK_EQ(run(honest_job, &answer, &err), FACET_OK);
    CHECK_EQ(answer.value, 42);
}

static void crash_job(void *context, struct facet_channel *channel)
{
    (void)context;
    (void)channel;
    (void)raise(SIGSEGV);
}

static void null_job(void *context, struct facet_channel *channel)
{
    volatile int *volatile nowhere = NULL;

    (void)context;
    (void)channel;
    *nowhere = 1;
}

static void abort_job(void *context, struct facet_channel *channel)
{
    (void)context;
    (void)channel;
    abort();
}

static void quit_job(void *context, struct facet_channel *channel)
{
    (void)context;
    (void)channel;
}

TEST(crashes_are_reported, "")
{
    struct answer answer;
    struct facet_error err;

    CHECK_EQ(run(abort_job, &answer, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "the job gave up") != NULL);
    CHECK_EQ(run(quit_job, &answer, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "no result") != NULL);
    CHECK_EQ(run(crash_job, &answer, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "crashed") != NULL);
    if (!SANITIZED) { /* the undefined-behaviour sanitizer catches this one itself */
        CHECK_EQ(run(null_job, &answer, &err), FACET_ERR_INPUT);
        CHECK(strstr(err.message, "crashed") != NULL);
    }
}

static void spin_job(void *context, struct facet_channel *channel)
{
    volatile unsigned counter = 0;

    (void)context;
    (void)channel;
    for (;;) {
        counter++;
    }
}

static void hang_job(void *context, struct facet_channel *channel)
{
    char byte;

    (void)context;
    (void)facet_channel_read(channel, &byte, 1); /* nobody writes */
}

/* A taken-over job that will not hear the kernel's warnings. */
static void stubborn_job(void *context, struct facet_channel *channel)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    spin_job(context, channel);
}

/* Waits for a lock that nobody lets go. */
static void lock_job(void *context, struct facet_channel *channel)
{
    uint32_t word = 1;

    (void)context;
    reply(channel, (int32_t)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0));
}

/* A sandbox that waits for ever fails by the time limit of the suite. */
TEST(endless_loops_and_hangs_end, "")
{
    struct answer answer;
    struct facet_error err;

    CHECK_EQ(run_for(1, AMPLE_SECONDS, spin_job, &answer, &err), FACET_ERR_LIMIT);
    CHECK_MSG(strstr(err.message, "1 s of processor time") != NULL, "%s", err.message);
    CHECK_EQ(run_for(1, AMPLE_SECONDS, stubborn_job, &answer, &err), FACET_ERR_LIMIT);
    CHECK_MSG(strstr(err.message, "1 s of processor time") != NULL, "%s", err.message);
    CHECK_EQ(run_for(AMPLE_SECONDS, 1, hang_job, &answer, &err), FACET_ERR_LIMIT);
    CHECK_MSG(strstr(err.message, "did nothing for 1 s") != NULL, "%s", err.message);
    CHECK_EQ(run_for(AMPLE_SECONDS, AMPLE_SECONDS, lock_job, &answer, &err), FACET_ERR_INPUT);
    CHECK_MSG(strstr(err.message, "forbidden system call") != NULL, "%s", err.message);
}

/* Time on the wall is no limit: the parent looks away for three seconds, the job has one. */
static enum facet_status
answer_late(void *context, struct facet_channel *channel, struct facet_error *err)
{
    struct timespec pause = {.tv_sec = 3};

    (void)nanosleep(&pause, NULL);
    return wait_answer(context, channel, err);
}

TEST(waiting_costs_a_job_nothing, "")
{
    struct answer answer = {0, 0};
    struct facet_error err;
    struct facet_sandbox sandbox = {.what = "the job",
                                    .memory_bytes = UINT64_C(256) << 20,
                                    .cpu_seconds = 1,
                                    .job = honest_job,
                                    .serve = answer_late,
                                    .context = &answer};

    CHECK_MSG(facet_sandbox_run(&sandbox, &err) == FACET_OK, "%s", err.message);
    CHECK_EQ(answer.value, 42);
}

static void eat_job(void *context, struct facet_channel *channel)
{
    int32_t chunks = 0;

    (void)context;
    for (; chunks < 4096; chunks++) {
        char *volatile memory = malloc(1 << 20); /* volatile: compilers drop unused memory */

        if (memory == NULL) {
            break;
        }
        memset(memory, 1, 1 << 20);
    }
    reply(channel, chunks);
}

TEST(memory_is_bounded, "")
{
    struct answer answer;
    struct facet_error err;

    if (SANITIZED) {
        harness_skip("sanitizers need more address space than any limit leaves");
        return;
    }
    CHECK_EQ(run(eat_job, &answer, &err), FACET_OK);
    CHECK_MSG(answer.value > 200 && answer.value <= 256, "got %d MiB", answer.value);
}

/* ---- forbidden system calls ---- */

static void write_file_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, open(victim, O_WRONLY | O_CREAT, 0600));
}

static void append_file_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, open(victim, O_RDWR | O_APPEND));
}

static void socket_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, socket(AF_INET, SOCK_STREAM, 0));
}

static void fork_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, (int32_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static void exec_job(void *context, struct facet_channel *channel)
{
    char *const arguments[] = {(char *)"/bin/true", NULL};

    (void)context;
    reply(channel, execv("/bin/true", arguments));
}

static void kill_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, kill(getppid(), 0));
}

static void unlink_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, unlink(victim));
}

static void truncate_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, truncate(victim, 0));
}

static void ptrace_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, (int32_t)syscall(SYS_ptrace, 0, 0, 0, 0));
}

static void openat2_job(void *context, struct facet_channel *channel)
{
    uint64_t how[3] = {O_RDONLY, 0, 0};

    (void)context;
    reply(channel, (int32_t)syscall(SYS_openat2, AT_FDCWD, victim, how, sizeof how));
}

static void look_around_job(void *context, struct facet_channel *channel)
{
    char target[64];

    (void)context;
    reply(channel,
          (int32_t)syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", target, sizeof target));
}

static void write_elsewhere_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, (int32_t)write(4, "x", 1));
}

#ifdef __x86_64__
/* The same numbers in another table of calls must not pass for others of this one. */
static void x32_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, (int32_t)syscall(0x40000000L | SYS_getpid));
}
#endif

TEST(forbidden_calls_end_the_job, "")
{
    static const struct {
        const char *name;
        void (*job)(void *, struct facet_channel *);
    } jobs[] = {{"write a file", write_file_job},
                {"append to a file", append_file_job},
                {"socket", socket_job},
                {"fork", fork_job},
                {"exec", exec_job},
                {"kill", kill_job},
                {"unlink", unlink_job},
                {"truncate", truncate_job},
                {"ptrace", ptrace_job},
                {"openat2", openat2_job},
                {"read a link", look_around_job},
#ifdef __x86_64__
                {"x32", x32_job},
#endif
                {"write elsewhere", write_elsewhere_job}};
    int file = mkstemp(victim);
    struct stat info;

    CHECK(file >= 0 && write(file, "precious", 8) == 8 && close(file) == 0);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        struct answer answer;
        struct facet_error err;

        CHECK_MSG(run(jobs[i].job, &answer, &err) == FACET_ERR_INPUT, "%s", jobs[i].name);
        CHECK_MSG(strstr(err.message, "forbidden system call") != NULL,
                  "%s: %s",
                  jobs[i].name,
                  err.message);
    }
    CHECK(stat(victim, &info) == 0 && info.st_size == 8);
    CHECK_EQ(unlink(victim), 0);
}

/* Reading is refused softly, so that libraries that look for a configuration file go on. */
static void read_file_job(void *context, struct facet_channel *channel)
{
    (void)context;
    reply(channel, open("/etc/passwd", O_RDONLY));
}

static void execute_memory_job(void *context, struct facet_channel *channel)
{
    void *memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)context;
    reply(channel, memory == MAP_FAILED ? -1 : 0);
}

TEST(reading_files_is_denied, "")
{
    struct answer answer;
    struct facet_error err;

    CHECK_EQ(run(read_file_job, &answer, &err), FACET_OK);
    CHECK(answer.value == -1 && answer.code == EACCES);
}

TEST(memory_never_becomes_code, "")
{
    struct answer answer;
    struct facet_error err;

    CHECK_EQ(run(execute_memory_job, &answer, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "forbidden system call") != NULL);
}

/* What the parent has open is closed in the child: reads of any descriptor but the channel fail. */
static void descriptors_job(void *context, struct facet_channel *channel)
{
    int32_t open_ones = 0;
    char byte;

    (void)context;
    for (int fd = 4; fd < 1024; fd++) {
        open_ones += read(fd, &byte, 0) == 0;
    }
    reply(channel, open_ones);
}

TEST(descriptors_do_not_leak_into_the_child, "")
{
    struct answer answer;
    struct facet_error err;
    int fds[8];

    for (int i = 0; i < 8; i++) {
        fds[i] = open("/dev/null", O_RDONLY);
    }
    CHECK_EQ(run(descriptors_job, &answer, &err), FACET_OK);
    CHECK_EQ(answer.value, 0);
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(close(fds[i]), 0);
    }
}

/* Few descriptors suffice: the three streams, the pair, a copy and /dev/null. */
TEST(few_descriptors_suffice, "")
{
    struct answer answer;
    struct facet_error err;
    struct rlimit old, few;

    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    few.rlim_cur = 12;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    CHECK_MSG(run(honest_job, &answer, &err) == FACET_OK, "%s", err.message);
    few.rlim_cur = 4;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    CHECK_EQ(run(honest_job, &answer, &err), FACET_ERR_IO);
    CHECK_MSG(strstr(err.message, "cannot make a socket for the job") != NULL, "%s", err.message);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static void failing_job(void *context, struct facet_channel *channel)
{
    struct facet_error err = {.status = (enum facet_status)12345, .where = 7};

    (void)context;
    memset(err.message, 'z', sizeof err.message); /* no end */
    memcpy(err.message, "bad\033[31m\n", 9);
    (void)facet_channel_send_error(channel, &err);
}

static enum facet_status
take_error(void *context, struct facet_channel *channel, struct facet_error *err)
{
    (void)context;
    return facet_channel_take_error(channel, err);
}

TEST(errors_of_a_job_are_not_trusted, "")
{
    struct facet_error err;
    struct facet_sandbox sandbox = {.what = "the job",
                                    .memory_bytes = UINT64_C(256) << 20,
                                    .cpu_seconds = AMPLE_SECONDS,
                                    .job = failing_job,
                                    .serve = take_error};

    CHECK_EQ(facet_sandbox_run(&sandbox, &err), FACET_ERR_INPUT);
    CHECK_EQ(err.where, 7);
    CHECK_MSG(strncmp(err.message, "bad?[31m?zzz", 12) == 0, "%s", err.message);
    sandbox.job = quit_job;
    CHECK_EQ(facet_sandbox_run(&sandbox, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "no result") != NULL);
}

/* Tells who it is, then runs for ever. */
static void telling_job(void *context, struct facet_channel *channel)
{
    reply(channel, (int32_t)getpid());
    spin_job(context, channel);
}

static enum facet_status
pass_on(void *context, struct facet_channel *channel, struct facet_error *err)
{
    struct answer answer;

    if (facet_channel_read(channel, &answer, sizeof answer)) {
        (void)!write(*(int *)context, &answer.value, sizeof answer.value);
    }
    return wait_answer(&answer, channel, err); /* never comes */
}

/* Orphans come to this process, which waits for the job's end however long it takes. */
TEST(a_job_ends_with_its_parent, "")
{
    int32_t job = 0;
    int ends[2], end = 0;
    pid_t parent;

    CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    CHECK_EQ(pipe(ends), 0);
    parent = fork();
    if (parent == 0) {
        struct facet_sandbox sandbox = {.what = "the job",
                                        .memory_bytes = UINT64_C(256) << 20,
                                        .cpu_seconds = AMPLE_SECONDS,
                                        .job = telling_job,
                                        .serve = pass_on,
                                        .context = &ends[1]};

        (void)facet_sandbox_run(&sandbox, NULL);
        _exit(0);
    }
    CHECK_EQ(read(ends[0], &job, sizeof job), sizeof job);
    CHECK_EQ(kill(parent, SIGKILL), 0);
    CHECK_EQ(waitpid(parent, &end, 0), parent);
    CHECK_EQ(waitpid(job, &end, 0), job);
    CHECK(WIFSIGNALED(end) && WTERMSIG(end) == SIGKILL);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    handled = 1;
}

static void handler_job(void *context, struct facet_channel *channel)
{
    (void)context;
    (void)raise(SIGTERM);
    reply(channel, handled);
}

TEST(handlers_of_the_parent_do_not_run_in_the_child, "")
{
    struct answer answer;
    struct facet_error err;
    void (*old)(int) = signal(SIGTERM, on_signal);

    CHECK_EQ(run(handler_job, &answer, &err), FACET_ERR_INPUT);
    CHECK(strstr(err.message, "signal 15") != NULL);
    (void)signal(SIGTERM, old);
}

/* ---- a flood of bytes, and threads ---- */

static void flood_job(void *context, struct facet_channel *channel)
{
    static uint8_t block[65536];

    (void)context;
    for (unsigned i = 0; i < 1600; i++) {
        memset(block, (int)i, sizeof block);
        if (!facet_channel_write(channel, block, sizeof block)) {
            return;
        }
    }
}

static enum facet_status
drain(void *context, struct facet_channel *channel, struct facet_error *err)
{
    static _Thread_local uint8_t block[65536];

    (void)err;
    for (unsigned i = 0; i < 1600; i++) {
        if (!facet_channel_read(channel, block, sizeof block) || block[777] != (uint8_t)i) {
            return FACET_ERR_INPUT;
        }
        *(uint64_t *)context += sizeof block;
    }
    return FACET_OK;
}

TEST(a_hundred_megabytes_pass_the_channel, "")
{
    uint64_t total = 0;
    struct facet_sandbox sandbox = {.what = "the job",
                                    .memory_bytes = 64 << 20,
                                    .cpu_seconds = AMPLE_SECONDS,
                                    .job = flood_job,
                                    .serve = drain,
                                    .context = &total};

    CHECK_EQ(facet_sandbox_run(&sandbox, NULL), FACET_OK);
    CHECK_EQ(total, UINT64_C(1600) * 65536);
}

/* Forking while other threads allocate without pause: no child may find a locked allocator. */
static void busy_chunk(void *context, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (i % 2 == 0) {
            struct answer answer;
            struct facet_error err;

            if (run(honest_job, &answer, &err) == FACET_OK && answer.value == 42) {
                (void)__atomic_add_fetch((unsigned *)context, 1, __ATOMIC_RELAXED);
            }
        } else {
            for (unsigned k = 0; k < 20000; k++) {
                void *volatile memory = malloc(16 + k % 5000);

                free(memory);
            }
        }
    }
}

TEST(sandboxes_run_beside_threads, "")
{
    unsigned good = 0;
    facet_pool *pool;

    if (SANITIZED) {
        harness_skip("a sanitizer's allocator is not safe to fork while other threads allocate");
        return;
    }
    CHECK_EQ(facet_pool_create(4, &pool, NULL), FACET_OK);
    facet_pool_for(pool, 60, 1, busy_chunk, &good);
    facet_pool_destroy(pool);
    CHECK_EQ(good, 30);
}

TEST(no_child_is_left_behind, "")
{
    struct answer answer;
    struct facet_error err;

    (void)run_for(AMPLE_SECONDS, 1, hang_job, &answer, &err);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}
