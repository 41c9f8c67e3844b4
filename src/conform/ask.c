/* One program that answers JSON lines: a request per case, an answer per request.
 *
 *     {"case":"xphmg/cap/reset-7c0","kind":"elf","file":"/suite/...elf","config":"full"}
 *     {"case":"xphmg/cap/reset-7c0","signature":["50484d47","00000000"]}
 *
 * or {"case":...,"unsupported":"why"}, {"case":...,"error":"why"}, {"case":...,"difference":"what"}
 * from one that has compared by itself. A program that ends, does not answer in time, or says
 * anything else is started again for the next case. A request has "keep" when signatures are kept:
 * the program may write what explains its answer to files whose names begin like that. */
#define _GNU_SOURCE /* pipe2 */
#include "conform/internal.h"

#include "base/strbuf.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_EVERY 0.1 /* seconds: whether all is to end */
enum { PIECE = 4096, ANSWER_LIMIT = 64 << 20 };

/* The signal that ended it, 0 when there was none. */
static int end_one(struct conform_asked *a)
{
    int how = 0;

    if (a->pid > 0) {
        (void)close(a->to);
        (void)close(a->from);
        (void)kill(-a->pid, SIGKILL);
        (void)kill(a->pid, SIGKILL);
        (void)waitpid(a->pid, &how, 0);
    }
    a->pid = 0;
    return WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}

void conform_ask_end(struct conform_target *t)
{
    for (unsigned i = 0; i < CONFORM_MOST_ASKED; i++) {
        (void)end_one(&t->asked[i]);
    }
}

static enum facet_status
start(const struct conform_target *t, struct conform_asked *a, struct facet_error *err)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1};

    if (pipe2(to, O_CLOEXEC) != 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "cannot make a pipe: %s", strerror(errno));
    }
    if (pipe2(from, O_CLOEXEC) != 0) {
        (void)close(to[0]);
        (void)close(to[1]);
        return facet_fail(err, FACET_ERR_IO, 0, "cannot make a pipe: %s", strerror(errno));
    }
    (void)fcntl(to[1], F_SETFL, O_NONBLOCK); /* it may not read */
    a->pid = conform_spawn(t->words, to[0], from[1], 2);
    (void)close(to[0]);
    (void)close(from[1]);
    a->to = to[1];
    a->from = from[0];
    if (a->pid < 0) {
        a->pid = 0;
        (void)close(a->to);
        (void)close(a->from);
        return facet_fail(
            err, FACET_ERR_IO, 0, "cannot start %s: %s", t->words[0], strerror(errno));
    }
    return FACET_OK;
}

/* Waits for one end of a pipe, at most until the time is over; false when it is. */
static bool wait_ready(const struct conform_target *t, int fd, short events, double end)
{
    struct pollfd ready = {.fd = fd, .events = events};
    double left;

    while ((left = end - conform_now()) >= 0 && !conform_stopped(t)) {
        if (poll(&ready, 1, (int)ceil(fmin(left, LOOK_EVERY) * 1000)) > 0) {
            return true;
        }
    }
    return false;
}

/* A write to a program that has ended is an error here, not the end of this process.
 * CONFORM_PASS: all is written. */
static enum conform_verdict send_all(const struct conform_target *t,
                                     const struct conform_asked *a,
                                     const char *text,
                                     size_t size,
                                     double end)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    enum conform_verdict verdict = CONFORM_PASS;

    (void)sigaction(SIGPIPE, &ignore, &before);
    while (size > 0 && verdict == CONFORM_PASS) {
        ssize_t n = write(a->to, text, size);

        if (n >= 0) {
            text += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN) {
            verdict = wait_ready(t, a->to, POLLOUT, end) ? CONFORM_PASS : CONFORM_TIMEOUT;
        } else if (errno != EINTR) {
            verdict = CONFORM_ERROR;
        }
    }
    (void)sigaction(SIGPIPE, &before, NULL);
    return verdict;
}

static enum conform_verdict send_request(const struct conform_target *t,
                                         const struct conform_asked *a,
                                         const struct conform_case *c,
                                         const char *keep,
                                         double end)
{
    json_t *request = json_pack("{s:s, s:s, s:o, s:s}",
                                "case",
                                c->name,
                                "kind",
                                conform_kind_name[c->kind],
                                "file",
                                facet_json_name(c->path),
                                "config",
                                c->config[0] != '\0' ? c->config : "full");
    char *text = NULL;
    size_t size = 0;
    enum conform_verdict verdict = CONFORM_ERROR;

    if (keep != NULL) {
        struct facet_strbuf path;

        facet_strbuf_init(&path);
        facet_strbuf_printf(&path, "%s/%s", keep, c->name);
        (void)json_object_set_new(request, "keep", facet_json_name(facet_strbuf_text(&path)));
        facet_strbuf_free(&path);
    }
    if (facet_json_compact(request, &text, &size, NULL) == FACET_OK) {
        text[size] = '\n'; /* in place of the NUL */
        verdict = send_all(t, a, text, size + 1, end);
    }
    json_decref(request);
    free(text);
    return verdict;
}

/* One line; CONFORM_PASS when it is there. What stands behind it is none of an answer. */
static enum conform_verdict receive(const struct conform_target *t,
                                    const struct conform_asked *a,
                                    struct facet_strbuf *line,
                                    double end)
{
    char piece[PIECE];
    ssize_t got;

    do {
        if (!wait_ready(t, a->from, POLLIN, end)) {
            return CONFORM_TIMEOUT;
        }
        got = read(a->from, piece, sizeof piece);
        if (got == 0 || (got < 0 && errno != EINTR) || line->length > ANSWER_LIMIT) {
            return CONFORM_ERROR;
        }
        facet_strbuf_add(line, piece, got > 0 ? (size_t)got : 0);
    } while (got < 0 || memchr(piece, '\n', (size_t)got) == NULL);
    return line->failed ? CONFORM_ERROR : CONFORM_PASS;
}

static void take_words(const json_t *list, struct conform_words *got, struct conform_result *result)
{
    struct facet_strbuf text;
    struct facet_error inner = {0};

    facet_strbuf_init(&text);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));

        facet_strbuf_puts(&text, word != NULL ? word : "?");
        facet_strbuf_putc(&text, '\n');
    }
    if (!json_is_array(list) || text.failed ||
        conform_words_parse("answer", facet_strbuf_text(&text), text.length, got, &inner) !=
            FACET_OK) {
        conform_say(result,
                    CONFORM_ERROR,
                    "%s",
                    json_is_array(list) ? inner.message : "an answer without a signature");
    }
    facet_strbuf_free(&text);
}

/* false when it is no answer to this case: then nobody knows what the next line answers. */
static bool understand(const struct conform_case *c,
                       const struct facet_strbuf *line,
                       struct conform_words *got,
                       struct conform_result *result)
{
    struct facet_error inner = {0};
    json_t *answer = NULL;
    const char *name, *why;
    bool about;

    if (facet_json_parse("answer", line->text, line->length, &answer, &inner) != FACET_OK) {
        conform_say(result, CONFORM_ERROR, "%s", inner.message);
        return false;
    }
    name = json_string_value(json_object_get(answer, "case"));
    about = name != NULL && strcmp(name, c->name) == 0;
    if (!about) {
        conform_say(result, CONFORM_ERROR, "an answer to another case");
    } else if ((why = json_string_value(json_object_get(answer, "unsupported"))) != NULL) {
        conform_say(result, CONFORM_UNSUPPORTED, "%s", why);
    } else if ((why = json_string_value(json_object_get(answer, "error"))) != NULL) {
        conform_say(result, CONFORM_ERROR, "%s", why);
    } else if ((why = json_string_value(json_object_get(answer, "difference"))) != NULL) {
        conform_say(result, CONFORM_FAIL, "%s", why);
    } else {
        take_words(json_object_get(answer, "signature"), got, result);
    }
    json_decref(answer);
    return about;
}

/* One that nobody else asks now. */
static struct conform_asked *take_one(struct conform_target *t)
{
    for (unsigned i = 0; i < t->most_asked; i++) {
        if (pthread_mutex_trylock(&t->asked[i].lock) == 0) {
            return &t->asked[i];
        }
    }
    (void)pthread_mutex_lock(&t->asked[0].lock);
    return &t->asked[0];
}

static void say_silence(const struct conform_target *t,
                        struct conform_asked *a,
                        enum conform_verdict verdict,
                        struct conform_result *result)
{
    int by = end_one(a);

    if (verdict == CONFORM_TIMEOUT) {
        conform_say(result, verdict, "no answer after %g seconds", t->seconds);
    } else if (by != 0 && by != SIGKILL) { /* which may be ours */
        conform_say(result, verdict, "the program ended without an answer, by signal %d", by);
    } else {
        conform_say(result, verdict, "the program ended without an answer");
    }
}

enum facet_status conform_ask(struct conform_target *t,
                              const struct conform_case *c,
                              const char *keep,
                              struct conform_words *got,
                              struct conform_result *result,
                              struct facet_error *err)
{
    struct conform_asked *a = take_one(t);
    struct facet_strbuf line;
    enum facet_status status;

    facet_strbuf_init(&line);
    status = a->pid == 0 ? start(t, a, err) : FACET_OK;
    if (status == FACET_OK) {
        const double end = conform_now() + t->seconds;
        enum conform_verdict verdict = send_request(t, a, c, keep, end);

        verdict = verdict == CONFORM_PASS ? receive(t, a, &line, end) : verdict;
        if (verdict != CONFORM_PASS) {
            say_silence(t, a, verdict, result);
        } else if (!understand(c, &line, got, result)) {
            (void)end_one(a);
        }
    }
    (void)pthread_mutex_unlock(&a->lock);
    facet_strbuf_free(&line);
    return status;
}

/* ---- libraries ---- */

enum facet_status conform_try_library(char *const *words, const char *path, struct facet_error *err)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), said[2] = {-1, -1}, how = 0, pid = -1;
    static const char said_by[] = "facet conform: ";
    char text[300];
    size_t length = 0, said_at;
    ssize_t got;

    if (null >= 0 && pipe2(said, O_CLOEXEC) == 0) {
        pid = conform_spawn(words, null, null, said[1]);
        (void)close(said[1]);
        while (pid > 0 && length < sizeof text - 1 &&
               (got = read(said[0], text + length, sizeof text - 1 - length)) > 0) {
            length += (size_t)got;
        }
        (void)close(said[0]);
    }
    if (null >= 0) {
        (void)close(null);
    }
    if (pid <= 0 || waitpid(pid, &how, 0) != pid) {
        return facet_fail(err, FACET_ERR_IO, 0, "cannot start %s: %s", words[0], strerror(errno));
    }
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    said_at = strncmp(text, said_by, sizeof said_by - 1) == 0 ? sizeof said_by - 1 : 0;
    return how == 0 ? FACET_OK
                    : facet_fail(err,
                                 FACET_ERR_USAGE,
                                 0,
                                 "--against: %s%s",
                                 text[0] != '\0' ? "" : path,
                                 text[0] != '\0' ? text + said_at : " crashes when it is loaded");
}
