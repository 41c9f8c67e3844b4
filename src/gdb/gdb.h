/* A GDB remote serial protocol stub for any machine.
 *
 * The stub knows the machine by facet/machine.h alone and the world by the calls below, so that it
 * serves a socket, a test or a fuzzer alike. It holds one debugger for the time of
 * facet_gdb_serve(); the machine is the caller's and may be served again. docs/gdb.md is the user's
 * page. */
#ifndef FACET_GDB_GDB_H
#define FACET_GDB_GDB_H

#include "base/strbuf.h"

#include <facet/machine.h>

typedef struct facet_gdb facet_gdb;

/* What became of a machine that has nothing to do (FACET_STOP_IDLE). */
enum facet_gdb_idle {
    FACET_GDB_IDLE_NEVER,    /* nothing will come: tell the debugger */
    FACET_GDB_IDLE_AGAIN,    /* something came: run on */
    FACET_GDB_IDLE_DEBUGGER, /* the debugger has spoken meanwhile: listen to it */
    FACET_GDB_IDLE_HOLD,     /* of the stub: `hold` said so */
    FACET_GDB_IDLE_END,      /* nothing will come, and all was done: the program is over */
};

/* How far the talk between a machine and the host's calls has come. */
struct facet_gdb_mark {
    uint64_t input;  /* what the machine was given, as a number of the host's own */
    uint64_t output; /* bytes that it has printed */
};

struct facet_gdb_host {
    void *context;
    void *line; /* context of `send` and `receive` */
    /* Bytes to the debugger; false when it has gone. */
    bool (*send)(void *line, const void *data, size_t size);
    /* Bytes from the debugger: their number, 0 when there are none and `wait` is false, below 0
     * when it has gone. */
    long (*receive)(void *line, void *data, size_t size, bool wait);

    /* The rest may be NULL. */
    enum facet_gdb_idle (*idle)(void *context);
    /* Before `idle` in the present, not while the past is run again: whether something would come
     * that the debugger wants to see before. */
    bool (*hold)(void *context);
    /* Now and then while the machine runs: true when it was given something that it had looked for.
     */
    bool (*look)(void *context);
    /* Going back in time, all three or none: where the talk stands; back to such a mark, so that
     * the machine is given the same again and what it prints again is not shown again; and that
     * from the present mark on a new future begins. */
    struct facet_gdb_mark (*mark)(void *context);
    void (*rewind)(void *context, struct facet_gdb_mark mark);
    void (*renew)(void *context);
    /* The machine has effects that cannot be repeated (files): no going back. */
    bool no_reverse;
    /* A trap stops the machine, which would continue: a kernel's fault is not its queue's. */
    bool stop_on_trap;

    /* The next step is of this core, if it can make one; a function of the machine's state. */
    bool (*turn)(void *context, uint32_t core);
    /* Bytes of space 0 as the core sees them, false where it has no view of its own. */
    bool (*view)(void *context, uint32_t core, uint64_t address, void *out, size_t size);
    /* A `monitor` command that the stub does not know, and its lines of help; false: unknown. */
    bool (*monitor)(void *context, const char *command, struct facet_strbuf *out);
    const char *monitor_help;
    /* Lines about a stop, for the debugger's console. */
    void (*explain)(void *context, const struct facet_stop *stop, struct facet_strbuf *out);
    /* Keeps the machine in a file that the same command resumes. */
    enum facet_status (*save)(void *context, const char *path, struct facet_error *err);
    /* An executable with names and lines, for a debugger that was given none; NULL: none. */
    const void *program;
    size_t program_size;
};

enum facet_gdb_end {
    FACET_GDB_DETACHED, /* the debugger took its leave */
    FACET_GDB_KILLED,   /* it asked to end the program */
    FACET_GDB_GONE,     /* the connection is broken */
    FACET_GDB_SHORT,    /* no memory for an answer: the debugger sees a closed line */
};

/* The machine must outlive the stub; its observer is left alone, its breakpoints and watchpoints
 * that are not the stub's would be reported as plain stops. */
enum facet_status facet_gdb_create(facet_machine *machine,
                                   const struct facet_gdb_host *host,
                                   facet_gdb **out,
                                   struct facet_error *err);
void facet_gdb_destroy(facet_gdb *gdb); /* NULL is allowed */
/* Talks to one debugger until it goes. Breakpoints and watchpoints end with it. */
enum facet_gdb_end facet_gdb_serve(facet_gdb *gdb);

#endif
