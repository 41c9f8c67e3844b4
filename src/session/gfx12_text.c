/* See gfx12_text.h. */
#include "session/gfx12_text.h"

#include "command/output.h"

#include "base/array.h"
#include "base/bits.h"
#include "base/file.h"
#include "gfx12/insn.h"
#include "object/elf.h"
#include "object/hex.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_LIMIT ((size_t)1 << 30)
enum { MOST_ERRORS = 20, LONGEST_LINE = 1024 };

bool session_gfx12_add(struct session_gfx12_words *out, const uint32_t *words, size_t count)
{
    if (!facet_array_fit(&out->words, &out->capacity, out->count + count, sizeof *out->words)) {
        out->failed = true;
        return false;
    }
    memcpy(out->words + out->count, words, count * sizeof *words);
    out->count += count;
    return true;
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
        (void)session_gfx12_add(out, &word, 1);
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
        (void)session_gfx12_add(r->out, words, count);
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
    unsigned length = facet_gfx12_insn_read(words, count > 3 ? 3 : (unsigned)count, &insn);

    if (length != 0) {
        *name = facet_gfx12_insn_name(&insn);
        (void)facet_gfx12_insn_print_llvm(&insn, text, size);
        return length;
    }
    *name = NULL;
    (void)snprintf(text, size, ".long 0x%08" PRIx32, words[0]);
    return 1;
}

/* ---- files ---- */

bool session_gfx12_is_flat(const struct cli_args *args)
{
    static const char *const others[] = {"base", "listing", "debug", "define", "include"};
    const char *format = cli_value(args, "format");

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (cli_given(args, others[i])) {
            (void)cli_bad(args, "--%s does not go with --isa gfx12", others[i]);
            return false;
        }
    }
    if (format != NULL && strcmp(format, "elf") == 0) {
        (void)cli_bad(args, "--isa gfx12 has no executables; expected --format hex or bin");
        return false;
    }
    return true;
}

static bool add_bytes(const struct cli_args *args,
                      const char *path,
                      const uint8_t *data,
                      size_t size,
                      struct session_gfx12_words *out)
{
    if (size % 4 != 0) {
        (void)cli_bad(args, "%s: %zu bytes; expected whole dwords", path, size);
        return false;
    }
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = facet_load_le32(data + i);

        if (!session_gfx12_add(out, &word, 1)) {
            (void)cli_bad(args, "out of memory");
            return false;
        }
    }
    return true;
}

/* The reader of $readmemh makes objects of a machine with 32-bit words; their one section is what
 * is wanted here. */
static bool add_hex(const struct cli_args *args,
                    const char *path,
                    const struct facet_bytes *text,
                    struct session_gfx12_words *out)
{
    struct facet_object *object = NULL;
    struct facet_error err = {0};
    bool good = false;

    if (facet_hex_read(FACET_ISA_TILE, (const char *)text->data, text->size, 0, &object, &err) !=
        FACET_OK) {
        (void)cli_bad(args, "%s: %s", path, err.message);
    } else if (object->section_count > 1) {
        (void)cli_bad(args, "%s: a gap between words; expected one run of them", path);
    } else {
        good = object->section_count == 0 ||
               add_bytes(args, path, object->sections[0].data, object->sections[0].size, out);
    }
    facet_object_free(object);
    return good;
}

bool session_gfx12_read(const struct cli_args *args,
                        const char *path,
                        struct session_gfx12_words *out)
{
    const char *format = cli_value(args, "format");
    bool hex = format != NULL ? strcmp(format, "hex") == 0 : cli_ends_with(path, ".hex");
    struct facet_bytes bytes = {0};
    struct facet_error err = {0};
    bool good = false;

    if (!session_gfx12_is_flat(args)) {
        return false;
    }
    if (facet_file_read(path, FILE_LIMIT, &bytes, &err) != FACET_OK) {
        (void)cli_bad_error(args, &err);
        return false;
    }
    if (hex) {
        good = add_hex(args, path, &bytes, out);
    } else if (facet_elf_is(bytes.data, bytes.size)) {
        (void)cli_bad(args,
                      "%s is an ELF file; expected the bytes of its code (a flat file) for gfx12",
                      path);
    } else {
        good = add_bytes(args, path, bytes.data, bytes.size, out);
    }
    free(bytes.data);
    return good;
}

enum facet_status session_gfx12_write(const char *path,
                                      bool hex,
                                      const struct session_gfx12_words *program,
                                      struct facet_error *err)
{
    enum facet_status status;
    struct facet_strbuf out;

    facet_strbuf_init(&out);
    for (size_t i = 0; i < program->count; i++) {
        uint8_t bytes[4];

        facet_store_le32(bytes, program->words[i]);
        if (hex) {
            facet_strbuf_printf(&out, "%08" PRIx32 "\n", program->words[i]);
        } else {
            facet_strbuf_add(&out, (const char *)bytes, sizeof bytes);
        }
    }
    status = out.failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory")
                        : facet_file_write(path, facet_strbuf_text(&out), out.length, err);
    facet_strbuf_free(&out);
    return status;
}
