/* Runs a job on untrusted bytes in a child process that can do nothing but compute and talk over
 * one socket: no files, no network, no new processes, bounded memory and time. Whatever happens in
 * there (crash, endless loop, all memory eaten, a forbidden system call) becomes an error here.
 *
 * The child is made by fork() without exec, also when this process has other threads. That is sound
 * under these rules, which everything that runs in a job keeps:
 *  - glibc makes malloc usable after fork in a threaded process; the job uses no other lock that a
 *    thread of the parent could have held (no stdio streams of the parent, no locale changes, no
 *    dynamic loading; the importers' libraries are called nowhere else in the parent);
 *  - it ends with _exit(), so no exit handler of the parent runs twice;
 *  - should a lock be stuck all the same, the time limit turns the hang into an error.
 * Re-executing /proc/self/exe would lift even these rules, but then every program that links the
 * library would have to hand its main() over to it.
 *
 * Confinement is not optional: where the kernel offers no seccomp, the run fails. */
#ifndef FACET_SCENE_SANDBOX_H
#define FACET_SCENE_SANDBOX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One end of the socket between parent and child. */
struct facet_channel {
    int fd;
    int64_t start_ms, deadline_ms; /* on CLOCK_MONOTONIC; 0 in the child: wait for ever */
    bool lost;                     /* the other side is gone */
    bool late;                     /* the deadline has passed */
};

/* All bytes or false; after a failure every further call fails as well. */
bool facet_channel_read(struct facet_channel *channel, void *to, size_t size);
bool facet_channel_write(struct facet_channel *channel, const void *from, size_t size);

struct facet_sandbox {
    const char *what;      /* who is confined, for messages: "the importer" */
    uint64_t memory_bytes; /* on top of what this process has mapped already */
    uint32_t seconds;      /* of the clock; `serve` may extend it (channel->deadline_ms) */
    uint32_t cpu_seconds;  /* of processor time, enforced by the kernel; 0: one more than that */
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
