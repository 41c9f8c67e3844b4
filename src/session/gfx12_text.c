/* See gfx12_text.h. */
#include "session/gfx12_text.h"

#include "base/array.h"
#include "gfx12/insn.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_ERRORS = 20, LONGEST_LINE = 1024 };

static void add_words(struct session_gfx12_words *out, const uint32_t *words, unsigned count)
{
    if (!facet_array_fit(&out->words, &out->capacity, out->count + count, sizeof *out->words)) {
        out->failed = true;
        return;
    }
    memcpy(out->words + out->count, words, count * sizeof *words);
    out->count += count;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* ".long N, N, ...": 0 when all is well, otherwise the column of what is not a dword. */
static size_t take_long(const char *line, struct session_gfx12_words *out)
{
    const char *at = line + strspn(line, " \t\r") + strlen(".long");

    do {
        char *end;
        uint64_t value;
        uint32_t word;

        at += strspn(at, " \t\r");
        errno = 0;
        value = strtoull(at, &end, 0);
        if (*at < '0' || *at > '9' || errno != 0 || value > UINT32_MAX) {
            return (size_t)(at - line) + 1;
        }
        word = (uint32_t)value;
        add_words(out, &word, 1);
        at = end + strspn(end, " \t\r");
    } while (*at++ == ',');
    return at[-1] == '\0' ? 0 : (size_t)(at - line);
}

static bool is_long(const char *line)
{
    const char *at = line + strspn(line, " \t\r");

    return strncasecmp(at, ".long", 5) == 0 && (is_blank(at[5]) || at[5] == '\0');
}

/* Cuts off comment and blanks. */
static void strip(char *line)
{
    size_t length = strcspn(line, "#;");
    const char *slashes = strstr(line, "//");

    if (slashes != NULL && (size_t)(slashes - line) < length) {
        length = (size_t)(slashes - line);
    }
    while (length > 0 && is_blank(line[length - 1])) {
        length--;
    }
    line[length] = '\0';
}

struct reader {
    const char *file;
    uint32_t number; /* of the line */
    const char *source;
    struct session_gfx12_words *out;
    struct facet_diag_list *diags;
};

static void complain(const struct reader *r, size_t column, const char *message)
{
    const struct facet_diag diag = {.file = r->file,
                                    .line = r->number,
                                    .column = (uint32_t)column,
                                    .length = 1,
                                    .message = message,
                                    .hint = "",
                                    .source = r->source};

    if (!facet_diag_add(r->diags, &diag)) {
        r->out->failed = true;
    }
}

static void read_line(const struct reader *r, char *line)
{
    struct facet_error err = {0};
    uint32_t words[3];
    unsigned count;
    size_t column;

    strip(line);
    if (line[strspn(line, " \t\r")] == '\0') {
        return;
    }
    if (is_long(line)) {
        column = take_long(line, r->out);
        if (column != 0) {
            complain(r, column, "expected dwords, such as `.long 0x7e000280, 1`");
        }
        return;
    }
    count = facet_gfx12_insn_parse(line, words, &err);
    if (count != 0) {
        add_words(r->out, words, count);
        return;
    }
    /* The message names the column, which stands before it already. */
    complain(r, err.where, strchr(err.message, ':') + 2);
}

void session_gfx12_assemble(const char *file,
                            const char *text,
                            size_t size,
                            struct session_gfx12_words *out,
                            struct facet_diag_list *diags)
{
    struct reader r = {.file = file, .out = out, .diags = diags};
    const char *end = text + size;

    while (text < end && diags->count < MOST_ERRORS && !out->failed) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline != NULL ? newline : end) - text);
        char line[LONGEST_LINE], source[LONGEST_LINE];

        r.number++;
        if (length >= sizeof line || memchr(text, '\0', length) != NULL) {
            r.source = "";
            complain(&r,
                     1,
                     length >= sizeof line ? "expected a line of less than 1024 bytes"
                                           : "a zero byte, expected text");
        } else {
            memcpy(line, text, length);
            line[length] = '\0';
            memcpy(source, line, length + 1);
            r.source = source;
            read_line(&r, line);
        }
        text += length + 1;
    }
}

unsigned session_gfx12_disassemble(
    const uint32_t *words, size_t count, char *text, size_t size, const char **name)
{
    struct facet_gfx12_insn insn;
    unsigned length = facet_gfx12_insn_decode(words, count > 3 ? 3 : (unsigned)count, &insn);

    if (length != 0) {
        *name = facet_gfx12_insn_name(&insn);
        (void)facet_gfx12_insn_print_llvm(&insn, text, size);
        return length;
    }
    *name = NULL;
    (void)snprintf(text, size, ".long 0x%08" PRIx32, words[0]);
    return 1;
}
