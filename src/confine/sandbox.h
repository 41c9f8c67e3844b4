/* Runs a job on untrusted bytes in a child process that can do nothing but compute and talk over
 * one socket: no files, no network, no new processes, bounded memory and time. Whatever happens in
 * there (crash, endless loop, all memory eaten, a forbidden system call) becomes an error here.
 *
 * The child is made by fork() without exec, also when this process has other threads. That is sound
 * under these rules, which everything that runs in a job keeps:
 *  - glibc makes malloc usable after fork in a threaded process; the job uses no other lock that a
 *    thread of the parent could have held (no stdio streams of the parent, no locale changes);
 *  - it ends with _exit(), so no exit handler of the parent runs twice;
 *  - should a lock be stuck all the same, the child is stopped: waiting for a lock is a forbidden
 *    system call once it is confined, and a child that sleeps is noticed before that.
 * Re-executing /proc/self/exe would lift even these rules, but then every program that links the
 * library would have to hand its main() over to it.
 *
 * Time is the child's processor time, so a busy host refuses nothing that an idle one accepts. A
 * confined child cannot sleep but in a read or write of the channel; one that does so while this
 * side waits for it as well would wait forever. It is recognised by using next to no processor
 * time.
 *
 * The child is waited for: a program that ignores SIGCHLD or reaps what it did not make takes its
 * end away, and the reason of a failure with it.
 *
 * Confinement is not optional: where the kernel offers no seccomp, the run fails. */
#ifndef FACET_CONFINE_SANDBOX_H
#define FACET_CONFINE_SANDBOX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum facet_channel_state {
    FACET_CHANNEL_OPEN,
    FACET_CHANNEL_GONE,    /* the other side has ended */
    FACET_CHANNEL_BROKEN,  /* the host failed a call; `reason` is its errno */
    FACET_CHANNEL_SLOW,    /* the child has used up its processor time */
    FACET_CHANNEL_WAITING, /* both sides wait for each other */
};

/* One end of the socket between parent and child. */
struct facet_channel {
    int fd;
    enum facet_channel_state state;
    int reason;
    /* The parent's watch over the child. */
    bool watching;
    clockid_t clock;      /* the child's processor time */
    uint32_t cpu_seconds; /* how much it may use; `serve` may add to it */
    uint32_t idle_seconds;
    int64_t used_ns, looked_ms; /* the child's clock at the last look, and when that was */
    uint32_t idle;              /* looks in a row that saw its clock stand still */
};

/* All bytes or false; after a failure every further call fails as well. */
bool facet_channel_read(struct facet_channel *channel, void *to, size_t size);
bool facet_channel_write(struct facet_channel *channel, const void *from, size_t size);

/* What went wrong in the child, sent to the parent. The receiver always returns a failure: the
 * sender's, its text without control characters, or that the other side closed the connection. */
bool facet_channel_send_error(struct facet_channel *channel, const struct facet_error *err);
enum facet_status facet_channel_take_error(struct facet_channel *channel, struct facet_error *err);

struct facet_sandbox {
    const char *what;      /* who is confined, for messages: "the importer" */
    uint64_t memory_bytes; /* on top of what the child has mapped when it starts */
    uint32_t cpu_seconds;  /* of processor time */
    uint32_t idle_seconds; /* without processor time while we wait for it; 0: 60 */
    /* In the child. Its memory is a copy, its only way out is the channel. */
    void (*job)(void *context, struct facet_channel *channel);
    /* In the parent, meanwhile: the other side of the conversation. FACET_OK when the answer is
     * complete. What it returns after the channel failed is replaced by the reason. */
    enum facet_status (*serve)(void *context,
                               struct facet_channel *channel,
                               struct facet_error *err);
    void *context;
};

/* FACET_ERR_INPUT: the child crashed or tried something forbidden. FACET_ERR_LIMIT: too slow.
 * FACET_ERR_IO: the host could not make or confine a child. */
enum facet_status facet_sandbox_run(const struct facet_sandbox *sandbox, struct facet_error *err);

#endif
