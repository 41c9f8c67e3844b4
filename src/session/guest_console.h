/* The terminal and the files of a guest program that runs under a debugger or into a snapshot.
 *
 * What standard input gave is remembered in pieces, so that a machine that went back in time reads
 * the same again; what it prints again is not shown again. */
#ifndef FACET_SESSION_GUEST_CONSOLE_H
#define FACET_SESSION_GUEST_CONSOLE_H

#include "session/guest_files.h"

struct session_piece {
    size_t size; /* 0: the end of the input */
    char *bytes;
};

struct session_console {
    struct session_files files; /* first: the context of session_files_calls */
    facet_machine *machine;     /* set when it is made */
    bool apart; /* standard input and output are not the guest's: it prints to standard error and
                   reads nothing */
    struct session_piece *pieces;
    size_t count;
    size_t given;            /* to the machine */
    uint64_t printed, shown; /* bytes: by the machine up to where it is, and of those by us */
};

enum session_fed {
    SESSION_FED,    /* the machine has input, or knows that it ended */
    SESSION_BUSY,   /* `other` can be read, or a signal came */
    SESSION_NOTHING /* the machine does not look for input, or there is no more of it */
};

/* The callbacks of a machine; the console must outlive it. */
struct facet_xphmg_host session_console_host(struct session_console *console);
void session_console_free(struct session_console *console);
/* For a machine that stopped with FACET_STOP_IDLE: waits for standard input, or for the descriptor
 * `other` (-1: none), but not longer than some seconds: SESSION_BUSY then, and soon anyway, because
 * a signal that comes just before the wait is seen only after it. */
enum session_fed session_console_feed(struct session_console *console, int other, double seconds);
/* For one that runs and has looked for input in vain: gives what is there already. */
enum session_fed session_console_look(struct session_console *console);

#endif
