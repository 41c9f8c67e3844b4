/* Repetition, conditions, macros, inclusion: directives that decide which text is read next. Every
 * kind is bounded (nesting by ASM_MAX_NESTING, work by max_expansion), so no text can hang the
 * assembler. */
#include "assembler/internal.h"

#include "base/side_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_MACRO_PARAMS = 32 };

struct asm_macro {
    const char *name;
    size_t name_length;
    const char *body, *body_end;
    unsigned count;
    struct {
        const char *name;
        size_t length;
        const char *value, *value_end; /* default, NULL for none */
        bool required, rest;
    } params[MAX_MACRO_PARAMS];
    const struct asm_source *source;
    uint32_t line; /* of the body */
    struct asm_macro *next;
};

/* ---- finding the end of a block ---- */

static bool is_any(const char *name, size_t length, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (facet_lex_same(name, length, *list)) {
            return true;
        }
    }
    return false;
}

static const char *const if_openers[] = {
    ".if", ".ifdef", ".ifndef", ".ifeq", ".ifne", ".ifgt", ".ifge", ".iflt", ".ifle", NULL};
static const char *const rept_openers[] = {".rept", ".irp", NULL};
static const char *const macro_openers[] = {".macro", NULL};
static const char *const endif[] = {".endif", NULL};
static const char *const endr[] = {".endr", NULL};
static const char *const endm[] = {".endm", NULL};
static const char *const branches[] = {".else", ".elseif", ".endif", NULL};

/* The directive that closes the block which starts at p (nested blocks are skipped), or one of
 * `stops` at the block's own level; NULL when there is none before `end`. *body_end, which may be
 * NULL, is where its statement starts: before its leading blanks. */
static const char *block_end(const struct asm_context *a,
                             const char *p,
                             const char *end,
                             const char *const *openers,
                             const char *const *closers,
                             const char *const *stops,
                             const char **body_end)
{
    unsigned depth = 0;

    while (p < end) {
        const char *start = facet_lex_space(p), *name_end = facet_lex_name(start);
        size_t length = (size_t)(name_end - start);

        if (start >= end) {
            return NULL;
        }
        if (body_end != NULL) {
            *body_end = p;
        }
        if (*start == '.') {
            if (is_any(start, length, openers)) {
                depth++;
            } else if (depth == 0 && is_any(start, length, stops)) {
                return start;
            } else if (is_any(start, length, closers)) {
                if (depth == 0) {
                    return start;
                }
                depth--;
            }
        }
        p = facet_asm_skip_statement(a, start);
    }
    return NULL;
}

/* ---- conditions ---- */

static bool test(struct asm_context *a, const char **p, int kind, bool *truth)
{
    int64_t value = 0;

    *p = facet_lex_space(*p);
    if (kind == ASM_IFDEF || kind == ASM_IFNDEF) {
        const char *name, *start = *p;
        const struct asm_symbol *s;
        size_t length;

        if (!facet_asm_name(a, p, &name, &length)) {
            return facet_asm_error(a, start, 1, "expected a symbol");
        }
        s = facet_asm_symbol_find(a, name, length);
        *truth = (s != NULL && s->state != ASM_SYMBOL_UNKNOWN) == (kind == ASM_IFDEF);
    } else {
        if (!facet_asm_constant(a, p, &value)) {
            return false;
        }
        *truth = kind == ASM_IFEQ   ? value == 0
                 : kind == ASM_IFGT ? value > 0
                 : kind == ASM_IFGE ? value >= 0
                 : kind == ASM_IFLT ? value < 0
                 : kind == ASM_IFLE ? value <= 0
                                    : value != 0;
    }
    *p = facet_lex_space(*p);
    return facet_asm_expect_end(a, *p);
}

/* From p to the branch that holds, or past .endif. `taken`: a branch has already been read. */
static bool skip_branches(struct asm_context *a, const char **p, bool taken)
{
    struct asm_condition *c = &a->conditions[a->condition_count - 1];
    const char *q = facet_asm_skip_statement(a, *p);

    for (;;) {
        const char *at = block_end(a, q, a->frame->end, if_openers, endif, branches, NULL);
        const char *end;
        bool truth = true;

        if (at == NULL) {
            *p = a->frame->end; /* run() complains about the missing .endif */
            return true;
        }
        end = facet_lex_name(at);
        q = facet_asm_skip_statement(a, end);
        if (facet_lex_same(at, (size_t)(end - at), ".endif")) {
            a->condition_count--;
            *p = q;
            return true;
        }
        if (c->else_seen) {
            return facet_asm_error(a, at, (size_t)(end - at), "a branch after .else");
        }
        if (facet_lex_same(at, (size_t)(end - at), ".else")) {
            c->else_seen = true;
        } else if (!taken && !test(a, &end, ASM_IF, &truth)) {
            return false;
        }
        if (truth && !taken) {
            *p = q;
            return true;
        }
    }
}

bool facet_asm_if(struct asm_context *a, const char **p, int kind)
{
    bool truth = false;

    if (!test(a, p, kind, &truth)) {
        return false;
    }
    if (a->condition_count == ASM_MAX_NESTING) {
        return facet_asm_error(
            a, a->statement, 3, "conditionals nested deeper than %d", (int)ASM_MAX_NESTING);
    }
    a->conditions[a->condition_count++] =
        (struct asm_condition){false, a->statement, a->frame->source};
    if (truth) {
        *p = facet_asm_skip_statement(a, *p);
        return true;
    }
    return skip_branches(a, p, false);
}

/* Reached at the end of a branch that was read. */
bool facet_asm_else(struct asm_context *a, const char **p, int kind)
{
    struct asm_condition *c;

    if (a->condition_count <= a->frame->condition_floor) {
        return facet_asm_error(
            a, a->statement, 5, "%s without .if", kind == ASM_ELSE ? ".else" : ".elseif");
    }
    c = &a->conditions[a->condition_count - 1];
    if (c->else_seen) {
        return facet_asm_error(a, a->statement, 5, "a branch after .else");
    }
    c->else_seen = kind == ASM_ELSE;
    return skip_branches(a, p, true);
}

bool facet_asm_endif(struct asm_context *a, const char **p, int unused)
{
    (void)unused;
    if (a->condition_count <= a->frame->condition_floor) {
        return facet_asm_error(a, a->statement, 6, ".endif without .if");
    }
    a->condition_count--;
    *p = facet_asm_skip_statement(a, *p);
    return true;
}

bool facet_asm_stray_end(struct asm_context *a, const char **p, int unused)
{
    (void)p;
    (void)unused;
    return facet_asm_error(a, a->statement, 5, "the end of a block that was not begun");
}

/* ---- repetition ---- */

bool facet_asm_rept(struct asm_context *a, const char **p, int unused)
{
    const char *body, *body_end, *end;
    int64_t count;

    (void)unused;
    if (!facet_asm_constant(a, p, &count) || !facet_asm_expect_end(a, facet_lex_space(*p))) {
        return false;
    }
    if (count < 0) {
        return facet_asm_error(a, a->statement, 5, "%" PRId64 " repetitions", count);
    }
    body = facet_asm_skip_statement(a, *p);
    end = block_end(a, body, a->frame->end, rept_openers, endr, endr, &body_end);
    if (end == NULL) {
        (void)facet_asm_error(a, a->statement, 5, "this repetition has no .endr");
        *p = a->frame->end;
        return true;
    }
    *p = facet_asm_skip_statement(a, facet_lex_name(end));
    if (count == 0) {
        return true;
    }
    return facet_asm_push(a, a->frame->source, body, body_end, (uint64_t)count - 1, a->statement);
}

/* ---- substitution ---- */

struct binding {
    const char *name;
    size_t length;
    const char *value, *value_end;
};

static void substitute(struct facet_strbuf *out,
                       const char *p,
                       const char *end,
                       const struct binding *bindings,
                       unsigned count,
                       uint64_t use)
{
    while (p < end) {
        const char *back = memchr(p, '\\', (size_t)(end - p));
        const char *name, *name_end;
        unsigned i = 0;

        if (back == NULL) {
            back = end;
        }
        facet_strbuf_add(out, p, (size_t)(back - p));
        if (back == end) {
            return;
        }
        name = name_end = back + 1;
        while (name_end < end && facet_lex_is(*name_end, FACET_LEX_NAME) && *name_end != '.' &&
               *name_end != '$') {
            name_end++;
        }
        while (i < count && (bindings[i].length != (size_t)(name_end - name) ||
                             memcmp(bindings[i].name, name, bindings[i].length) != 0)) {
            i++;
        }
        if (i < count && name_end != name) {
            facet_strbuf_add(
                out, bindings[i].value, (size_t)(bindings[i].value_end - bindings[i].value));
            p = name_end;
        } else if (name < end && *name == '@') {
            facet_strbuf_printf(out, "%" PRIu64, use);
            p = name + 1;
        } else if (name + 1 < end && name[0] == '(' && name[1] == ')') {
            p = name + 2;
        } else {
            facet_strbuf_putc(out, '\\');
            p = name;
        }
    }
}

/* Reads next what the body at `origin_at` was expanded to. Takes the buffer over. */
static bool push_text(struct asm_context *a,
                      struct facet_strbuf *text,
                      const char *name,
                      const struct asm_source *origin,
                      const char *origin_at,
                      uint32_t origin_line,
                      uint32_t period)
{
    struct asm_source *source;
    size_t size = text->length;
    char *copy;

    if (text->failed) {
        facet_strbuf_free(text);
        a->stop_status = FACET_ERR_MEMORY;
        longjmp(a->stop, 1);
    }
    /* The text counts as work too, so that large bodies cannot fill the memory. */
    a->expanded += size / 16;
    copy = facet_arena_alloc(&a->arena, size + 2, 1);
    if (copy == NULL) {
        facet_strbuf_free(text);
        a->stop_status = FACET_ERR_MEMORY;
        longjmp(a->stop, 1);
    }
    if (size != 0) {
        memcpy(copy, text->text, size);
    }
    copy[size] = copy[size + 1] = '\0';
    facet_strbuf_free(text);
    source = facet_asm_alloc(a, sizeof *source);
    *source = (struct asm_source){.name = origin->name,
                                  .path = origin->path,
                                  .text = copy,
                                  .size = size,
                                  .origin = origin,
                                  .origin_at = origin_at,
                                  .origin_line = origin_line,
                                  .period = period,
                                  .parent = a->frame->source,
                                  .parent_at = a->statement,
                                  .macro = name};
    return facet_asm_push(a, source, copy, copy + size, 0, a->statement);
}

/* A macro argument: up to the next comma outside parentheses and quotes. */
static const char *argument_end(const char *p)
{
    int depth = 0;

    for (;;) {
        uint8_t c;

        if (facet_asm_at_end(p)) {
            return p;
        }
        if (*p == ',' && depth <= 0) {
            return p;
        }
        if (*p == '"') {
            for (p++; *p != '"' && facet_lex_char(&p, &c);) {
            }
            if (*p != '"') {
                return p;
            }
        }
        depth += (*p == '(') - (*p == ')');
        p++;
    }
}

static const char *trimmed(const char *start, const char *end)
{
    while (end > start && facet_lex_is(end[-1], FACET_LEX_SPACE)) {
        end--;
    }
    return end;
}

bool facet_asm_irp(struct asm_context *a, const char **p, int unused)
{
    const char *name = facet_lex_space(*p), *name_end = facet_lex_name(name), *q, *body, *body_end;
    const char *end;
    struct facet_strbuf text;
    uint32_t lines = 0;

    (void)unused;
    if (name == name_end) {
        return facet_asm_error(a, name, 1, "expected a parameter name");
    }
    body = facet_asm_skip_statement(a, name_end);
    end = block_end(a, body, a->frame->end, rept_openers, endr, endr, &body_end);
    if (end == NULL) {
        (void)facet_asm_error(a, a->statement, 4, "this repetition has no .endr");
        *p = a->frame->end;
        return true;
    }
    *p = facet_asm_skip_statement(a, facet_lex_name(end));
    facet_strbuf_init(&text);
    q = facet_lex_space(name_end);
    while (!facet_asm_at_end(q)) {
        struct binding b = {name, (size_t)(name_end - name), NULL, NULL};

        q = facet_lex_space(q + (*q == ','));
        b.value = q;
        q = argument_end(q);
        b.value_end = trimmed(b.value, q);
        substitute(&text, body, body_end, &b, 1, a->macro_uses);
        if (text.length > (size_t)64 << 20) {
            facet_strbuf_free(&text);
            return facet_asm_error(a, a->statement, 4, "the repetition is larger than 64 MiB");
        }
    }
    for (const char *line = body; (line = memchr(line, '\n', (size_t)(body_end - line))) != NULL;) {
        lines++;
        line++;
    }
    return push_text(
        a, &text, ".irp", a->frame->source, body, facet_asm_running_line(a->frame, body), lines);
}

/* ---- macros ---- */

static bool macro_params(struct asm_context *a, struct asm_macro *m, const char *p)
{
    p = facet_lex_space(p + (*p == ','));
    while (!facet_asm_at_end(p)) {
        unsigned n = m->count;
        const char *end = facet_lex_name(p);

        if (end == p || n == MAX_MACRO_PARAMS) {
            return facet_asm_error(
                a, p, 1, n == MAX_MACRO_PARAMS ? "too many parameters" : "expected a parameter");
        }
        memset(&m->params[n], 0, sizeof m->params[n]);
        m->params[n].name = p;
        m->params[n].length = (size_t)(end - p);
        m->count++;
        p = facet_lex_space(end);
        if (*p == ':') {
            end = facet_lex_name(p + 1);
            m->params[n].required = facet_lex_same(p + 1, (size_t)(end - p - 1), "req");
            m->params[n].rest = facet_lex_same(p + 1, (size_t)(end - p - 1), "vararg");
            if (!m->params[n].required && !m->params[n].rest) {
                return facet_asm_error(a, p, 1, "expected `:req` or `:vararg`");
            }
            p = facet_lex_space(end);
        }
        if (*p == '=') {
            m->params[n].value = facet_lex_space(p + 1);
            p = argument_end(m->params[n].value);
            m->params[n].value_end = trimmed(m->params[n].value, p);
        }
        p = facet_lex_space(p + (*p == ','));
    }
    return true;
}

static struct asm_macro *find_macro(const struct asm_context *a, const char *name, size_t length)
{
    struct asm_macro *m = a->macros;

    for (; m != NULL; m = m->next) { /* names of macros are free of case, as mnemonics are */
        size_t i = 0;

        while (m->name_length == length && i < length &&
               facet_lex_lower(m->name[i]) == facet_lex_lower(name[i])) {
            i++;
        }
        if (i == length) {
            return m;
        }
    }
    return NULL;
}

bool facet_asm_macro(struct asm_context *a, const char **p, int unused)
{
    const char *name = facet_lex_space(*p), *name_end = facet_lex_name(name), *body, *body_end;
    const char *end;
    struct asm_macro *m;

    (void)unused;
    body = facet_asm_skip_statement(a, name_end);
    end = block_end(a, body, a->frame->end, macro_openers, endm, endm, &body_end);
    if (end == NULL) {
        (void)facet_asm_error(a, a->statement, 6, "this macro has no .endm");
        *p = a->frame->end;
        return true;
    }
    *p = facet_asm_skip_statement(a, facet_lex_name(end));
    if (name == name_end) {
        (void)facet_asm_error(a, name, 1, "expected the name of the macro");
        return true;
    }
    if (find_macro(a, name, (size_t)(name_end - name)) != NULL) {
        (void)facet_asm_error(a, name, (size_t)(name_end - name), "the macro is already defined");
        return true;
    }
    m = facet_asm_alloc(a, sizeof *m);
    memset(m, 0, sizeof *m);
    m->name = name;
    m->name_length = (size_t)(name_end - name);
    m->body = body;
    m->body_end = body_end;
    m->source = a->frame->source;
    m->line = facet_asm_running_line(a->frame, body);
    if (macro_params(a, m, facet_lex_space(name_end))) {
        m->next = a->macros;
        a->macros = m;
    }
    return true;
}

static bool bind_arguments(struct asm_context *a,
                           const struct asm_macro *m,
                           const char *p,
                           struct binding *bindings)
{
    unsigned position = 0;
    uint32_t given = 0;

    for (unsigned i = 0; i < m->count; i++) {
        bindings[i] = (struct binding){m->params[i].name,
                                       m->params[i].length,
                                       m->params[i].value != NULL ? m->params[i].value : "",
                                       m->params[i].value_end};
        if (m->params[i].value == NULL) {
            bindings[i].value_end = bindings[i].value;
        }
    }

    for (p = facet_lex_space(p); !facet_asm_at_end(p);) {
        const char *name = p, *name_end = facet_lex_name(p), *q = facet_lex_space(name_end), *end;
        unsigned i = position;

        if (name != name_end && q[0] == '=' && q[1] != '=') {
            for (i = 0;
                 i < m->count && (m->params[i].length != (size_t)(name_end - name) ||
                                  memcmp(m->params[i].name, name, m->params[i].length) != 0);) {
                i++;
            }
            i = i < m->count ? i : position;
            p = i == position && (i >= m->count || m->params[i].length != (size_t)(name_end - name))
                    ? name
                    : facet_lex_space(q + 1);
        } else {
            position++;
        }
        if (i >= m->count) {
            return facet_asm_error(a, name, 1, "the macro takes %u arguments", m->count);
        }
        end = argument_end(p);
        while (m->params[i].rest && *end == ',') {
            end = argument_end(end + 1);
        }
        bindings[i].value = p;
        bindings[i].value_end = trimmed(p, end);
        given |= 1u << i;
        p = facet_lex_space(end + (*end == ','));
    }
    for (unsigned i = 0; i < m->count; i++) {
        if (m->params[i].required && (given >> i & 1) == 0) {
            return facet_asm_error(a,
                                   p,
                                   1,
                                   "argument `%.*s` of the macro is missing",
                                   (int)(m->params[i].length < 80 ? m->params[i].length : 80),
                                   m->params[i].name);
        }
    }
    return true;
}

bool facet_asm_use_macro(
    struct asm_context *a, const char *name, size_t length, const char **p, bool *found)
{
    const struct asm_macro *m = find_macro(a, name, length);
    struct binding bindings[MAX_MACRO_PARAMS];
    struct facet_strbuf text;
    char *copy;

    *found = m != NULL;
    if (m == NULL) {
        return true;
    }
    if (!bind_arguments(a, m, *p, bindings)) {
        return false;
    }
    facet_strbuf_init(&text);
    substitute(&text, m->body, m->body_end, bindings, m->count, a->macro_uses++);
    copy = facet_arena_copy(&a->arena, m->name, m->name_length);
    text.failed |= copy == NULL;
    *p = facet_asm_skip_statement(a, *p);
    return push_text(a, &text, copy, m->source, m->body, m->line, 0);
}

/* ---- inclusion ---- */

static const char *path_of(struct asm_context *a, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path;

    if (strcmp(folder, ".") == 0) {
        return name;
    }
    path = facet_asm_alloc(a, size);
    (void)snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* The file in the first folder that has it, and the name of both together. */
static bool read_from_folders(struct asm_context *a,
                              const char *name,
                              struct facet_bytes *bytes,
                              const char **path,
                              struct facet_error *err)
{
    for (size_t i = 0; i < a->options->include_count; i++) {
        const char *folder = a->options->include_folders[i];
        struct facet_error inner = {0};
        enum facet_status status;

        if (!facet_side_file_exists(folder, name)) {
            continue;
        }
        status = facet_side_file_read(folder, name, (size_t)64 << 20, bytes, &inner);
        if (status == FACET_ERR_MEMORY) {
            a->stop_status = status;
            longjmp(a->stop, 1);
        }
        if (status == FACET_OK) {
            *path = path_of(a, folder, name);
        }
        return status == FACET_OK ||
               facet_fail(err, status, 0, "%.200s/%.250s", folder, inner.message) == FACET_OK;
    }
    (void)facet_fail(err,
                     FACET_ERR_INPUT,
                     0,
                     "%.200s/%.200s: no such file",
                     a->options->include_folders[a->options->include_count - 1],
                     name);
    return false;
}

bool facet_asm_include(struct asm_context *a, const char **p, int unused)
{
    const char *name, *path = NULL, *start = *p = facet_lex_space(*p);
    struct asm_source *source;
    struct facet_bytes bytes;
    struct facet_error err;
    size_t length;
    char *copy;
    char *text;

    (void)unused;
    if (*start != '"' || !facet_asm_name(a, p, &name, &length)) {
        return facet_asm_error(a, start, 1, "expected a file name in double quotes");
    }
    if (a->options->include_count == 0) {
        facet_asm_hint(a, "allow it by naming a folder: -I DIR");
        return facet_asm_error(a, start, length + 2, "no folder to include from was given");
    }
    copy = facet_asm_alloc(a, length + 1);
    memcpy(copy, name, length);
    copy[length] = '\0';
    source = facet_asm_alloc(a, sizeof *source);
    if (!read_from_folders(a, copy, &bytes, &path, &err)) {
        return facet_asm_error(a, start, length + 2, "%.300s", err.message);
    }
    *source = (struct asm_source){.name = copy,
                                  .path = path,
                                  .size = bytes.size,
                                  .parent = a->frame->source,
                                  .parent_at = start};
    text = facet_arena_alloc(&a->arena, bytes.size + 2, 1);

    if (text != NULL) {
        memcpy(text, bytes.data, bytes.size);
        text[bytes.size] = text[bytes.size + 1] = '\0';
    }
    free(bytes.data);
    if (text == NULL) {
        a->stop_status = FACET_ERR_MEMORY;
        longjmp(a->stop, 1);
    }
    if (memchr(text, '\0', bytes.size) != NULL) {
        return facet_asm_error(a, start, length + 2, "there is a zero byte in the file");
    }
    source->text = text;
    *p = facet_asm_skip_statement(a, *p);
    return facet_asm_push(a, source, text, text + bytes.size, 0, start);
}
