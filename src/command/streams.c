/* See streams.h. Both streams are replaced by ones that filter what leaves their buffers; the C
 * library says that stdout and stderr are "normal variables which you can set just like any
 * others". */
#define _GNU_SOURCE
#include "command/streams.h"

#include "command/stop.h"

#include "base/plain.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { PIECE = 4096, CHARACTER = 4, BLOCK = 64 }; /* bytes */
enum { PATIENCE = 50 };                           /* milliseconds */

struct stream {
    int fd;
    bool raw;            /* nothing is changed */
    bool colour;         /* a terminal that wants it */
    char cut[CHARACTER]; /* the beginning of a character whose rest was not printed yet */
    size_t cut_size;
};

static struct stream out = {.fd = STDOUT_FILENO}, err = {.fd = STDERR_FILENO};

static bool errors_lost, given_up;
static int output_error; /* of the last write to standard output that failed */

/* After a write that a signal cut. Who wants the program to end does not wait for a reader that
 * reads nothing. */
static bool has_patience(int fd)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};

    return !cli_stop_wanted() || poll(&room, 1, PATIENCE) > 0;
}

/* A message gets a second try: what it tells of may have met itself on its way out. */
static bool put(int fd, const char *data, size_t size)
{
    bool again = fd == STDERR_FILENO;

    while (size > 0) {
        ssize_t done = write(fd, data, size);

        if (done < 0 && errno == EINTR) {
            if (has_patience(fd)) {
                continue;
            }
            given_up = given_up || fd == STDOUT_FILENO;
            return false;
        } else if (done < 0 && again) {
            again = false;
            continue;
        }
        if (done <= 0) {
            errno = done == 0 ? EIO : errno;
            /* A closed stream takes no messages. */
            errors_lost = errors_lost || (fd == STDERR_FILENO && errno != EBADF);
            output_error = fd == STDOUT_FILENO ? errno : output_error;
            return false;
        }
        data += done;
        size -= (size_t)done;
    }
    return true;
}

/* What goes to the host in one piece, so that lines of several processes do not mix. */
struct piece {
    int fd;
    bool failed;
    size_t size;
    char text[PIECE];
};

static void hand_over(struct piece *p)
{
    p->failed = p->failed || !put(p->fd, p->text, p->size);
    p->size = 0;
}

static void add(struct piece *p, const char *text, size_t size)
{
    if (size > PIECE - p->size) {
        hand_over(p);
    }
    if (size > PIECE) {
        p->failed = p->failed || !put(p->fd, text, size);
    } else {
        memcpy(p->text + p->size, text, size);
        p->size += size;
    }
}

static bool stays(char c)
{
    return ((c >= ' ') & (c <= '~')) | (c == '\n') | (c == '\t');
}

/* Without a branch, so that the compiler does it with vectors: traces are long. */
static bool block_stays(const char data[BLOCK])
{
    unsigned char all = 1;

    for (int i = 0; i < BLOCK; i++) {
        all &= stays(data[i]);
    }
    return all != 0;
}

/* Bytes at the beginning that need no closer look: nearly always all of them. */
static size_t plain_run(const char *data, size_t size)
{
    size_t n = 0;

    while (size - n >= BLOCK && block_stays(data + n)) {
        n += BLOCK;
    }
    while (n < size && stays(data[n])) {
        n++;
    }
    return n;
}

/* The characters that have come together; at the end of everything also half of one. */
static void add_characters(struct stream *s, struct piece *p, bool at_end)
{
    while (s->cut_size > 0 && (at_end || !facet_plain_is_cut(s->cut, s->cut_size))) {
        char shown[FACET_PLAIN_MOST] = {s->cut[0]};
        size_t used = 1, length = 1;

        if (!stays(s->cut[0])) {
            length = facet_plain_char(s->cut, s->cut_size, shown, &used);
        }
        add(p, shown, length);
        s->cut_size -= used;
        memmove(s->cut, s->cut + used, s->cut_size);
    }
}

static ssize_t filter(void *context, const char *data, size_t size)
{
    struct stream *s = context;
    struct piece piece;

    if (s->raw) {
        return put(s->fd, data, size) ? (ssize_t)size : 0;
    }
    piece.fd = s->fd;
    piece.failed = false;
    piece.size = 0;
    for (size_t at = 0; at < size;) {
        size_t run = s->cut_size == 0 ? plain_run(data + at, size - at) : 0;

        add(&piece, data + at, run);
        at += run;
        if (at < size) {
            s->cut[s->cut_size++] = data[at++];
            add_characters(s, &piece, false);
        }
    }
    hand_over(&piece);
    return piece.failed ? 0 : (ssize_t)size;
}

/* Buffered as the C library does it: errors not at all, a terminal by lines. */
static FILE *filtered(struct stream *s)
{
    FILE *file = fopencookie(s, "w", (cookie_io_functions_t){.write = filter});

    if (file != NULL && (s == &err || isatty(s->fd))) {
        (void)setvbuf(file, NULL, s == &err ? _IONBF : _IOLBF, 0);
    }
    return file;
}

static bool wants_colour(int fd)
{
    const char *no = getenv("NO_COLOR"), *wish = getenv("CLICOLOR"), *term = getenv("TERM");

    return (no == NULL || no[0] == '\0') && (wish == NULL || strcmp(wish, "0") != 0) &&
           term != NULL && strcmp(term, "dumb") != 0 && isatty(fd);
}

/* Past the filter, which spells out such sequences wherever else they come from. */
bool cli_set_style(FILE *stream, enum cli_style style)
{
    static const char *const sequences[] = {
        [CLI_NORMAL] = "\033[0m", [CLI_HEADLINE] = "\033[1m", [CLI_ERROR] = "\033[1;31m"};
    const struct stream *s = stream == stdout ? &out : &err;

    if (s->colour) {
        (void)fflush(stream);
        (void)put(s->fd, sequences[style], strlen(sequences[style]));
    }
    return s->colour;
}

bool cli_streams_start(void)
{
    FILE *text = filtered(&out), *errors = filtered(&err);

    if (text == NULL || errors == NULL) {
        return false;
    }
    out.colour = wants_colour(out.fd);
    err.colour = wants_colour(err.fd);
    stdout = text;
    stderr = errors;
    return true;
}

bool cli_output_unread(void)
{
    return given_up;
}

bool cli_streams_end(void)
{
    struct stream *const both[] = {&out, &err};
    bool good = ferror(stdout) == 0;

    errno = 0;
    good = fflush(stdout) == 0 && good;
    for (int i = 0; i < 2; i++) {
        struct piece piece = {.fd = both[i]->fd};

        add_characters(both[i], &piece, true);
        hand_over(&piece);
        good = good && (i > 0 || !piece.failed);
    }
    errno = output_error;
    return good;
}

bool cli_errors_lost(void)
{
    return errors_lost;
}

void cli_put_name(FILE *stream, const char *name)
{
    size_t left = strlen(name);

    for (size_t used; left > 0; name += used, left -= used) {
        char shown[FACET_PLAIN_MOST];
        size_t length = facet_plain_char(name, left, shown, &used);

        (void)fwrite(shown, 1, length, stream);
    }
}

void cli_print_raw(FILE *stream, const void *data, size_t size)
{
    struct stream *s = stream == stdout ? &out : &err;

    if (!s->raw) {
        (void)fflush(stream);
        s->raw = true;
    }
    (void)fwrite_unlocked(data, 1, size, stream); /* programs print byte by byte */
    s->raw = s == &out; /* errors have no buffer: this is gone, and others follow */
}
