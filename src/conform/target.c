/* See target.h: choosing the way, and comparing what it gave. */
#include "conform/internal.h"

#include "base/file.h"
#include "base/plain.h"
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const conform_verdict_name[CONFORM_VERDICTS] = {
    "pass", "FAIL", "timeout", "error", "unsupported"};

void conform_say(struct conform_result *result,
                 enum conform_verdict verdict,
                 const char *format,
                 ...)
{
    char text[sizeof result->text];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    facet_plain_text(result->text, sizeof result->text, text, strlen(text));
    result->verdict = verdict;
}

/* ---- the command line ---- */

/* Takes one word off the text, in place; NULL at its end. Quotes of either kind hold blanks. */
static char *next_word(char **text)
{
    char *in = *text + strspn(*text, " \t\n"), *out = in, *word = in, quote = '\0';

    if (*in == '\0') {
        return NULL;
    }
    for (; *in != '\0' && (quote != '\0' || strchr(" \t\n", *in) == NULL); in++) {
        if (quote == '\0' && (*in == '\'' || *in == '"')) {
            quote = *in;
        } else if (*in == quote) {
            quote = '\0';
        } else {
            *out++ = *in;
        }
    }
    *text = *in != '\0' ? in + 1 : in;
    *out = '\0';
    return quote == '\0' ? word : "";
}

static bool mentions(const struct conform_target *t, const char *what)
{
    for (size_t i = 0; t->words[i] != NULL; i++) {
        if (strstr(t->words[i], what) != NULL) {
            return true;
        }
    }
    return false;
}

/* One word that ends in .so: a library, which another process of this program loads and asks. */
static bool is_library(const char *against)
{
    size_t length = strlen(against);

    return length > 3 && strcmp(against + length - 3, ".so") == 0 &&
           strpbrk(against, " \t\n") == NULL && strncmp(against, "stdio:", 6) != 0;
}

static enum facet_status
use_library(struct conform_target *t, const char *path, struct facet_error *err)
{
    t->asks = true;
    t->most_asked = CONFORM_MOST_ASKED;
    t->command = strdup(path);
    t->words = calloc(5, sizeof *t->words);
    if (t->command == NULL || t->words == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a command");
    }
    t->words[0] = "/proc/self/exe";
    t->words[1] = "conform";
    t->words[2] = "--serve";
    t->words[3] = t->command;
    return conform_try_library(t->words, path, err);
}

static enum facet_status
split(struct conform_target *t, const char *against, struct facet_error *err)
{
    size_t count = 0;
    char *rest, *word;

    t->most_asked = 1;

    t->asks = strncmp(against, "stdio:", 6) == 0;
    t->command = strdup(against + (t->asks ? 6 : 0));
    t->words = calloc(strlen(against) + 2, sizeof *t->words);
    if (t->command == NULL || t->words == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a command");
    }
    rest = t->command;
    while ((word = next_word(&rest)) != NULL) {
        t->words[count++] = word;
    }
    if (count == 0 || t->words[0][0] == '\0') {
        return facet_fail(err, FACET_ERR_USAGE, 0, "--against %s: expected a program", against);
    }
    if (!t->asks && ((!mentions(t, "{elf}") && !mentions(t, "{case}")) ||
                     (!mentions(t, "{signature}") && !mentions(t, "{out}")))) {
        return facet_fail(
            err,
            FACET_ERR_USAGE,
            0,
            "--against %s: expected {elf} or {case}, and {signature} or {out}, in the "
            "command",
            against);
    }
    return FACET_OK;
}

enum facet_status conform_target_open(const char *against,
                                      double seconds,
                                      bool (*stop)(void),
                                      struct conform_target **out,
                                      struct facet_error *err)
{
    struct conform_target *t = calloc(1, sizeof *t);
    enum facet_status status;

    *out = NULL;
    if (t == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a command");
    }
    t->seconds = seconds;
    t->stop = stop;
    for (unsigned i = 0; i < CONFORM_MOST_ASKED; i++) {
        (void)pthread_mutex_init(&t->asked[i].lock, NULL);
    }
    status = against == NULL       ? FACET_OK
             : is_library(against) ? use_library(t, against, err)
                                   : split(t, against, err);
    if (status != FACET_OK) {
        conform_target_close(t);
        return status;
    }
    *out = t;
    return FACET_OK;
}

void conform_target_close(struct conform_target *t)
{
    if (t == NULL) {
        return;
    }
    conform_ask_end(t);
    for (unsigned i = 0; i < CONFORM_MOST_ASKED; i++) {
        (void)pthread_mutex_destroy(&t->asked[i].lock);
    }
    free(t->words);
    free(t->command);
    free(t);
}

/* ---- comparing ---- */

static void compare(const struct conform_case *c,
                    const struct conform_words *expected,
                    const struct conform_words *got,
                    struct conform_result *result)
{
    for (size_t i = 0; i < expected->count && i < got->count; i++) {
        if (expected->word[i] != got->word[i]) {
            char label[160];

            conform_words_label(c->signature, i, label, sizeof label);
            conform_say(result,
                        CONFORM_FAIL,
                        "word %zu%s%s%s is %08x, expected %08x",
                        i,
                        label[0] != '\0' ? " (" : "",
                        label,
                        label[0] != '\0' ? ")" : "",
                        (unsigned)got->word[i],
                        (unsigned)expected->word[i]);
            return;
        }
    }
    if (expected->count != got->count) {
        conform_say(result,
                    CONFORM_FAIL,
                    "%zu words, expected %zu, of which the first are equal",
                    got->count,
                    expected->count);
    }
}

/* ---- keeping ---- */

/* The folders on the way to what is kept, as far as they can be made; writing it says what is
 * wrong.
 */
static enum facet_status
make_way(const char *folder, const struct conform_case *c, struct facet_error *err)
{
    struct facet_strbuf path;
    enum facet_status status = FACET_OK;

    facet_strbuf_init(&path);
    facet_strbuf_printf(&path, "%s/%s", folder, c->name);
    if (path.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a name");
    }
    for (char *slash = path.failed ? NULL : strchr(path.text + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path.text, 0777);
        *slash = '/';
    }
    facet_strbuf_free(&path);
    return status;
}

static enum facet_status keep_words(const char *folder,
                                    const struct conform_case *c,
                                    const struct conform_words *got,
                                    struct facet_error *err)
{
    struct facet_strbuf path, text;
    enum facet_status status;

    facet_strbuf_init(&path);
    facet_strbuf_init(&text);
    facet_strbuf_printf(&path, "%s/%s.signature", folder, c->name);
    for (size_t i = 0; i < got->count; i++) {
        facet_strbuf_printf(&text, "%08x\n", (unsigned)got->word[i]);
    }
    if (path.failed || text.failed) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a signature");
    } else {
        status = facet_file_write(path.text, facet_strbuf_text(&text), text.length, err);
    }
    facet_strbuf_free(&path);
    facet_strbuf_free(&text);
    return status;
}

enum facet_status conform_target_run(struct conform_target *t,
                                     const struct conform_case *c,
                                     const char *keep,
                                     struct conform_result *result,
                                     struct facet_error *err)
{
    struct conform_words expected = {0}, got = {0};
    enum facet_status status = conform_words_read(c->signature, &expected, err);

    *result = (struct conform_result){.verdict = CONFORM_PASS};
    if (status == FACET_OK && keep != NULL) {
        status = make_way(keep, c, err);
    }
    if (status == FACET_OK) {
        status = t->command == NULL ? conform_facet(c, false, &got, result, err)
                 : t->asks          ? conform_ask(t, c, keep, &got, result, err)
                                    : conform_command(t, c, &got, result, err);
    }
    if (status == FACET_OK && conform_stopped(t)) {
        status = facet_fail(err, FACET_ERR_LIMIT, 0, "interrupted");
    }
    if (status == FACET_OK && result->verdict == CONFORM_PASS && keep != NULL) {
        status = keep_words(keep, c, &got, err);
    }
    if (status == FACET_OK && result->verdict == CONFORM_PASS) {
        compare(c, &expected, &got, result);
    }
    free(expected.word);
    free(got.word);
    return status;
}
