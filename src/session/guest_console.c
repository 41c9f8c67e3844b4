/* See guest_console.h. */
#include "session/guest_console.h"
#include "command/streams.h"

#include "command/command.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4096 };
static const char no_memory[] = "out of memory for standard input";

static void output(void *context, enum facet_xphmg_stream stream, const void *data, size_t size)
{
    struct session_console *c = context;
    FILE *file = stream == FACET_XPHMG_OUT && !c->apart ? stdout : stderr;
    uint64_t before = c->printed;
    size_t old = c->shown <= before         ? 0
                 : c->shown - before < size ? (size_t)(c->shown - before)
                                            : size;

    c->printed += size;
    if (old < size) {
        (void)fflush(stdout);
        cli_print_raw(file, (const char *)data + old, size - old);
        c->shown = c->printed;
    }
}

struct facet_xphmg_host session_console_host(struct session_console *console)
{
    return (struct facet_xphmg_host){
        .context = console, .output = output, .files = session_files_calls};
}

void session_console_free(struct session_console *console)
{
    for (size_t i = 0; i < console->count; i++) {
        free(console->pieces[i].bytes);
    }
    free(console->pieces);
    console->pieces = NULL;
    console->count = console->given = 0;
}

/* The input ends here, and the program's results are worth nothing. */
static void lose_input(struct session_console *c, const char *why)
{
    cli_spoil(why);
    (void)facet_xphmg_input_end(c->machine, NULL);
}

/* The next piece of standard input, after those that are there. */
static void read_piece(struct session_console *c)
{
    char bytes[PIECE];
    ssize_t got = c->apart ? 0 : read(STDIN_FILENO, bytes, sizeof bytes);
    struct session_piece *pieces, piece = {0, NULL};

    if (got < 0 && errno == EINTR) {
        return;
    }
    if (got < 0 && errno != EBADF) { /* a closed one is an empty one */
        cli_spoil("cannot read standard input");
    }
    pieces = realloc(c->pieces, (c->count + 1) * sizeof *pieces);
    c->pieces = pieces != NULL ? pieces : c->pieces;
    if (pieces != NULL && got > 0 && (piece.bytes = malloc((size_t)got)) != NULL) {
        piece.size = (size_t)got;
        memcpy(piece.bytes, bytes, piece.size);
    }
    if (pieces == NULL || (got > 0 && piece.bytes == NULL)) {
        lose_input(c, no_memory);
        return;
    }
    c->pieces[c->count++] = piece;
}

/* Milliseconds; -1: what is there already. */
static enum session_fed feed(struct session_console *c, int other, int timeout)
{
    struct pollfd ready[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                              {.fd = other, .events = POLLIN}};
    bool ended = c->count > 0 && c->pieces[c->count - 1].size == 0;

    if (!session_wants_input(c->machine) || (ended && c->given == c->count) || cli_spoiled()) {
        return SESSION_NOTHING;
    }
    if (c->given == c->count) {
        int found = c->apart ? 1 : poll(ready, 2, timeout < 0 ? 0 : timeout);

        if (found == 0) {
            return timeout < 0 ? SESSION_NOTHING : SESSION_BUSY;
        }
        if ((found < 0 && errno == EINTR) || (found > 0 && !c->apart && ready[1].revents != 0)) {
            return SESSION_BUSY;
        }
        if (found < 0) {
            lose_input(c, "cannot wait for standard input");
            return SESSION_FED;
        }
        read_piece(c);
    }
    if (c->given < c->count) {
        const struct session_piece *piece = &c->pieces[c->given++];

        if (piece->size == 0) {
            (void)facet_xphmg_input_end(c->machine, NULL);
        } else if (facet_xphmg_input(c->machine, piece->bytes, piece->size, NULL) != FACET_OK) {
            lose_input(c, no_memory);
        }
    }
    return SESSION_FED;
}

enum session_fed session_console_feed(struct session_console *c, int other, double seconds)
{
    (void)fflush(stdout);
    return feed(c, other, seconds > 0.1 ? 100 : seconds > 0 ? (int)(seconds * 1000) : 0);
}

enum session_fed session_console_look(struct session_console *c)
{
    return feed(c, -1, -1);
}
