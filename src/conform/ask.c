/* One program that answers JSON lines: a request per case, an answer per request.
 *
 *     {"case":"xphmg/cap/reset-7c0","kind":"elf","file":"/suite/...elf","config":"full"}
 *     {"case":"xphmg/cap/reset-7c0","signature":["50484d47","00000000"]}
 *
 * or {"case":...,"unsupported":"why"}, {"case":...,"error":"why"}. A program that ends, does not
 * answer in time, or says anything else is started again for the next case. */
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

void conform_ask_end(struct conform_target *t)
{
    if (t->pid > 0) {
        (void)close(t->to);
        (void)close(t->from);
        (void)kill(-t->pid, SIGKILL);
        (void)kill(t->pid, SIGKILL);
        (void)waitpid(t->pid, NULL, 0);
    }
    t->pid = 0;
}

static enum facet_status start(struct conform_target *t, struct facet_error *err)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1};

    if (pipe(to) != 0) {
        return facet_fail(err, FACET_ERR_IO, 0, "cannot make a pipe: %s", strerror(errno));
    }
    if (pipe(from) != 0) {
        (void)close(to[0]);
        (void)close(to[1]);
        return facet_fail(err, FACET_ERR_IO, 0, "cannot make a pipe: %s", strerror(errno));
    }
    (void)fcntl(to[1], F_SETFD, FD_CLOEXEC);
    (void)fcntl(from[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(to[1], F_SETFL, O_NONBLOCK); /* it may not read */
    t->pid = conform_spawn(t->words, to[0], from[1], 2);
    (void)close(to[0]);
    (void)close(from[1]);
    t->to = to[1];
    t->from = from[0];
    if (t->pid < 0) {
        t->pid = 0;
        (void)close(t->to);
        (void)close(t->from);
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
static enum conform_verdict
send_all(const struct conform_target *t, const char *text, size_t size, double end)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    enum conform_verdict verdict = CONFORM_PASS;

    (void)sigaction(SIGPIPE, &ignore, &before);
    while (size > 0 && verdict == CONFORM_PASS) {
        ssize_t n = write(t->to, text, size);

        if (n >= 0) {
            text += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN) {
            verdict = wait_ready(t, t->to, POLLOUT, end) ? CONFORM_PASS : CONFORM_TIMEOUT;
        } else if (errno != EINTR) {
            verdict = CONFORM_ERROR;
        }
    }
    (void)sigaction(SIGPIPE, &before, NULL);
    return verdict;
}

static enum conform_verdict
send_request(struct conform_target *t, const struct conform_case *c, double end)
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

    if (facet_json_compact(request, &text, &size, NULL) == FACET_OK) {
        text[size] = '\n'; /* in place of the NUL */
        verdict = send_all(t, text, size + 1, end);
    }
    json_decref(request);
    free(text);
    return verdict;
}

/* One line; CONFORM_PASS when it is there. What stands behind it is none of an answer. */
static enum conform_verdict receive(struct conform_target *t, struct facet_strbuf *line, double end)
{
    char piece[PIECE];
    ssize_t got;

    do {
        if (!wait_ready(t, t->from, POLLIN, end)) {
            return CONFORM_TIMEOUT;
        }
        got = read(t->from, piece, sizeof piece);
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
    } else {
        take_words(json_object_get(answer, "signature"), got, result);
    }
    json_decref(answer);
    return about;
}

enum facet_status conform_ask(struct conform_target *t,
                              const struct conform_case *c,
                              struct conform_words *got,
                              struct conform_result *result,
                              struct facet_error *err)
{
    struct facet_strbuf line;
    enum facet_status status;

    facet_strbuf_init(&line);
    (void)pthread_mutex_lock(&t->lock);
    status = t->pid == 0 ? start(t, err) : FACET_OK;
    if (status == FACET_OK) {
        const double end = conform_now() + t->seconds;
        enum conform_verdict verdict = send_request(t, c, end);

        verdict = verdict == CONFORM_PASS ? receive(t, &line, end) : verdict;
        if (verdict == CONFORM_PASS) {
            if (!understand(c, &line, got, result)) {
                conform_ask_end(t);
            }
        } else {
            if (verdict == CONFORM_TIMEOUT) {
                conform_say(result, verdict, "no answer after %g seconds", t->seconds);
            } else {
                conform_say(result, verdict, "the program ended without an answer");
            }
            conform_ask_end(t);
        }
    }
    (void)pthread_mutex_unlock(&t->lock);
    facet_strbuf_free(&line);
    return status;
}
