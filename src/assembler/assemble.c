/* The assembler's pass over the text, its errors and its memory; see assemble.h and internal.h. */
#include "assembler/internal.h"
#include "base/array.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_MAX_BYTES ((uint64_t)256 << 20)
#define MAX_ROOM ((uint64_t)1 << 48) /* of a section without bytes in the file */
#define DEFAULT_MAX_EXPANSION ((uint64_t)16 << 20)

/* ---- memory ---- */

static void stop(struct asm_context *a, enum facet_status status)
{
    a->stop_status = status;
    longjmp(a->stop, 1);
}

void *facet_asm_alloc(struct asm_context *a, size_t size)
{
    void *memory = facet_arena_alloc(&a->arena, size, sizeof(void *));

    if (memory == NULL) {
        stop(a, FACET_ERR_MEMORY);
    }
    return memory;
}

void facet_asm_fit(struct asm_context *a, void *items, size_t *room, size_t need, size_t size)
{
    if (!facet_array_fit(items, room, need, size)) {
        stop(a, FACET_ERR_MEMORY);
    }
}

uint8_t *facet_asm_reserve(struct asm_context *a, uint64_t size)
{
    static uint8_t nowhere[1];
    struct asm_section *s = a->section;
    uint64_t limit = a->options->max_bytes != 0 ? a->options->max_bytes : DEFAULT_MAX_BYTES;
    uint8_t *place;

    if (s->nobits && size <= MAX_ROOM && s->size <= MAX_ROOM - size) {
        s->size += size;
        return nowhere;
    }
    if (size > limit || a->emitted > limit - size) {
        (void)facet_asm_error(
            a, a->statement, 1, "the program is larger than %" PRIu64 " bytes", limit);
        return NULL;
    }
    facet_asm_fit(a, &s->data, &s->capacity, s->size + size, 1);
    place = s->data + s->size;
    memset(place, 0, (size_t)size);
    a->emitted += size;
    s->size += size;
    return place;
}

bool facet_asm_emit(struct asm_context *a, uint64_t value, unsigned size)
{
    uint8_t *place;

    if (a->section->nobits && value != 0) {
        return facet_asm_error(
            a, a->statement, 1, "section %s reserves space and holds no data", a->section->name);
    }
    place = facet_asm_reserve(a, size);
    if (place == NULL) {
        return false;
    }
    if (!a->section->nobits) {
        for (unsigned i = 0; i < size; i++) {
            place[i] = (uint8_t)(value >> (8 * i));
        }
    }
    return true;
}

void facet_asm_fixup(struct asm_context *a, const struct asm_fixup *fixup)
{
    facet_asm_fit(a, &a->fixups, &a->fixup_capacity, a->fixup_count + 1, sizeof *a->fixups);
    a->fixups[a->fixup_count] = *fixup;
    a->fixups[a->fixup_count].statement = a->statement;
    a->fixups[a->fixup_count].source = a->frame->source;
    a->fixup_count++;
}

/* ---- errors ---- */

static bool in_source(const struct asm_source *source, const char *at)
{
    return (uintptr_t)at >= (uintptr_t)source->text &&
           (uintptr_t)at <= (uintptr_t)source->text + source->size;
}

void facet_asm_hint(struct asm_context *a, const char *format, ...)
{
    va_list args;

    if (a->quiet != 0) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(a->hint, sizeof a->hint, format, args);
    va_end(args);
}

void facet_asm_suggest(struct asm_context *a, const struct facet_nearest *search)
{
    if (search->best != NULL) {
        facet_asm_hint(a, "did you mean `%.*s`?", (int)search->best_length, search->best);
    }
}

/* The line of the file, counted where the text was written; *start is the line in this text. */
static uint32_t line_of(const struct asm_source *source, const char *at, const char **start)
{
    uint32_t line = 1;

    *start = NULL;
    for (; source != NULL; at = source->origin_at, source = source->origin) {
        const char *p = source->text, *begin = p;
        uint32_t count = 0;

        while ((p = memchr(p, '\n', (size_t)(at - p))) != NULL) {
            count++;
            begin = ++p;
        }
        line += source->period != 0 ? count % source->period : count;
        *start = *start == NULL ? begin : *start;
    }
    return line;
}

uint32_t facet_asm_line(const struct asm_source *source, const char *at)
{
    const char *start;

    return line_of(source, in_source(source, at) ? at : source->text, &start);
}

uint32_t facet_asm_running_line(struct asm_frame *frame, const char *at)
{
    uint32_t period = frame->source->period;

    if (at < frame->counted) { /* a repetition begins again */
        frame->counted = frame->restart;
        frame->newlines = 0;
    }
    while (frame->counted < at) {
        const char *newline = memchr(frame->counted, '\n', (size_t)(at - frame->counted));

        frame->newlines += newline != NULL;
        frame->counted = newline != NULL ? newline + 1 : at;
    }
    return frame->first_line + (period != 0 ? frame->newlines % period : frame->newlines);
}

/* "in macro m, used at kernel.s:7" for a place inside an expansion. */
static void append_origin(const struct asm_source *source, char *text, size_t size)
{
    for (unsigned i = 0; i < 4 && source->parent != NULL && source->macro != NULL; i++) {
        size_t used = strlen(text);
        uint32_t line = facet_asm_line(source->parent, source->parent_at);

        (void)snprintf(text + used,
                       size - used,
                       "%sin `%.40s`, used at %.80s:%u",
                       used != 0 ? "; " : "",
                       source->macro,
                       source->parent->name,
                       line);
        source = source->parent;
    }
}

static bool report(struct asm_context *a,
                   const struct asm_source *source,
                   const char *at,
                   size_t length,
                   const char *format,
                   va_list args)
{
    unsigned limit = a->options->max_errors != 0 ? a->options->max_errors : 20;
    char message[400], text[400];
    const char *start, *end;
    uint32_t line;

    if (source == NULL || !in_source(source, at)) { /* inside an alias: blame the statement */
        source = a->statement_source;
        at = a->statement;
        length = 1;
    }
    if (source == NULL || !in_source(source, at)) { /* a definition of the command line */
        source = a->main_source;
        at = source->text;
    }
    if (a->quiet != 0) {
        if ((uintptr_t)at > (uintptr_t)a->quiet_at) {
            a->quiet_at = at;
            a->quiet_value = a->quiet_register = false;
        }
        return false;
    }
    (void)vsnprintf(message, sizeof message, format, args);
    append_origin(source, a->hint, sizeof a->hint);
    line = line_of(source, at, &start);

    end = start;
    while (*end != '\n' && *end != '\0' && *end != '\r' && end - start < (long)sizeof text - 1) {
        end++;
    }
    memcpy(text, start, (size_t)(end - start));
    text[end - start] = '\0';
    if (!facet_diag_add(a->diags,
                        &(struct facet_diag){.file = source->name,
                                             .line = line,
                                             .column = (uint32_t)(at - start) + 1,
                                             .length = length != 0 ? (uint32_t)length : 1,
                                             .message = message,
                                             .hint = a->hint,
                                             .source = text})) {
        stop(a, FACET_ERR_MEMORY);
    }
    a->hint[0] = '\0';
    if (a->diags->count >= limit) {
        stop(a, FACET_ERR_INPUT);
    }
    return false;
}

bool facet_asm_error(struct asm_context *a, const char *at, size_t length, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)report(a, a->frame != NULL ? a->frame->source : NULL, at, length, format, args);
    va_end(args);
    return false;
}

bool facet_asm_error_in(struct asm_context *a,
                        const struct asm_source *source,
                        const char *at,
                        size_t length,
                        const char *format,
                        ...)
{
    va_list args;

    va_start(args, format);
    (void)report(a, source, at, length, format, args);
    va_end(args);
    return false;
}

bool facet_asm_expect_end(struct asm_context *a, const char *p)
{
    if (facet_asm_at_end(p)) {
        return true;
    }
    if (p[0] == '/' && p[1] == '*') {
        return facet_asm_error(a, p, 2, "unterminated comment");
    }
    if (*p == ',') {
        return facet_asm_error(a, p, 1, "unexpected text after the last operand");
    }
    return facet_asm_error(a, p, 1, "expected `,` or the end of the line");
}

/* ---- texts ---- */

bool facet_asm_push(struct asm_context *a,
                    const struct asm_source *source,
                    const char *start,
                    const char *end,
                    uint64_t repetitions,
                    const char *at)
{
    struct asm_frame *frame;
    uint32_t line = 1;

    if (a->frame_depth >= ASM_MAX_NESTING) {
        return facet_asm_error(
            a, at, 1, "macros, repetitions and files nested deeper than %d", (int)ASM_MAX_NESTING);
    }
    if (source->origin != NULL) {
        line = source->origin_line;
    } else if (a->frame != NULL && a->frame->source == source) {
        line = facet_asm_running_line(a->frame, start);
    }
    frame = facet_asm_alloc(a, sizeof *frame);
    *frame = (struct asm_frame){.source = source,
                                .p = start,
                                .end = end,
                                .restart = start,
                                .repetitions = repetitions,
                                .condition_floor = a->condition_count,
                                .first_line = line,
                                .counted = start,
                                .parent = a->frame};
    a->frame = frame;
    a->frame_depth++;
    return true;
}

/* Counts work that the text's own size does not bound. */
static void charge(struct asm_context *a, uint64_t amount)
{
    uint64_t limit =
        a->options->max_expansion != 0 ? a->options->max_expansion : DEFAULT_MAX_EXPANSION;

    a->expanded += amount;
    if (a->expanded > limit) {
        (void)facet_asm_error(a,
                              a->statement,
                              1,
                              "repetitions and macros expand to more than %" PRIu64 " statements",
                              limit);
        stop(a, FACET_ERR_INPUT);
    }
}

const char *facet_asm_skip_statement(const struct asm_context *a, const char *p)
{
    for (;;) {
        uint8_t c;

        p = facet_lex_space(p);
        switch (*p) {
        case '\0':
            return p;
        case '\n':
            return p + 1;
        case ';':
            if (a->isa == FACET_ISA_XPHMG) {
                return p + 1;
            }
            p += strcspn(p, "\n");
            break;
        case '#':
            p += strcspn(p, "\n");
            break;
        case '"':
            for (p++; *p != '"' && facet_lex_char(&p, &c);) {
            }
            p += *p == '"';
            break;
        case '/':
            if (p[1] == '*') { /* never closed */
                return p + strlen(p);
            }
            if (p[1] == '/') {
                p += strcspn(p, "\n");
            } else {
                p++;
            }
            break;
        default:
            p++;
            break;
        }
    }
}

static void record_span(struct asm_context *a, const struct asm_section *section, uint64_t before)
{
    struct facet_asm_result *result = a->result;

    if (section != a->section || section->size <= before) {
        return;
    }
    if (a->main_statement > a->line_at) {
        for (const char *p = a->line_at; p < a->main_statement; p++) {
            a->line += *p == '\n';
        }
        a->line_at = a->main_statement;
    }
    facet_asm_fit(
        a, &result->spans, &a->span_capacity, result->span_count + 1, sizeof *result->spans);
    result->spans[result->span_count++] =
        (struct facet_asm_span){a->line, section->index, before, section->size - before};
}

/* What a statement put into a section with instructions belongs to its line, wherever that was
 * written: in a file that is included, in the body of a macro or of a repetition. */
static void record_mark(struct asm_context *a,
                        struct asm_frame *frame,
                        const struct asm_section *section,
                        uint64_t before)
{
    if (section != a->section || section->size <= before ||
        (section->flags & FACET_SECTION_EXEC) == 0) {
        return;
    }
    facet_asm_fit(a, &a->marks, &a->mark_capacity, a->mark_count + 1, sizeof *a->marks);
    a->marks[a->mark_count++] =
        (struct facet_line_mark){.section = section->index,
                                 .offset = before,
                                 .file = frame->source->path,
                                 .line = facet_asm_running_line(frame, a->statement)};
}

/* ---- statements ---- */

static bool local_label(struct asm_context *a, const char **p)
{
    const char *end = *p, *q;

    while (facet_lex_is(*end, FACET_LEX_DIGIT)) {
        end++;
    }
    q = facet_lex_space(end);
    if (*q != ':') {
        return facet_asm_error(a, *p, (size_t)(end - *p), "a statement cannot start with a number");
    }
    facet_asm_define_local(a, *p, (size_t)(end - *p));
    *p = q + 1;
    return true;
}

static bool body(struct asm_context *a, const char *name, size_t length, const char **p)
{
    bool found = false;

    if (a->macros != NULL) {
        bool ok = facet_asm_use_macro(a, name, length, p, &found);

        if (found) {
            return ok;
        }
    }
    if (name[0] == '.') {
        return facet_asm_directive(a, name, length, p);
    }
    if (!facet_asm_insn(a, name, length, *p)) {
        /* Keep the places of what follows: one bad instruction should be one complaint. */
        if (!a->section->nobits && a->section->size % 2 == 0) {
            (void)facet_asm_reserve(a, 4);
        }
        return false;
    }
    *p = facet_asm_skip_statement(a, *p);
    return true;
}

/* Labels, then at most one instruction, directive or assignment. Leaves *p at the next statement.
 */
static bool statement(struct asm_context *a, const char **p)
{
    for (;;) {
        const char *start = *p = facet_lex_space(*p), *name = start, *end, *q;
        size_t length;

        a->statement = start;
        a->statement_source = a->frame->source;
        if (facet_asm_at_end(start)) {
            *p = facet_asm_skip_statement(a, start);
            return true;
        }
        if (facet_lex_is(*start, FACET_LEX_START)) {
            end = facet_lex_name(start);
            length = (size_t)(end - start);
        } else if (facet_lex_is(*start, FACET_LEX_DIGIT)) {
            if (!local_label(a, p)) {
                return false;
            }
            continue;
        } else {
            end = start;
            if (*start != '"' || !facet_asm_name(a, &end, &name, &length)) {
                if (start[0] == '/' && start[1] == '*') {
                    return facet_asm_error(a, start, 2, "unterminated comment");
                }
                return facet_asm_error(
                    a, start, 1, "expected an instruction, a directive or a label");
            }
        }
        q = facet_lex_space(end);
        if (*q == ':') {
            (void)facet_asm_define_label(a, start, name, length);
            *p = q + 1;
            continue;
        }
        if (q[0] == '=' && q[1] != '=') {
            *p = q + 1;
            return facet_asm_assign(a, start, name, length, p, true);
        }
        *p = end;
        return body(a, name, length, p);
    }
}

/* After an error: the line after the statement at p and the comments that begin in it. */
static const char *next_line(const struct asm_context *a, const char *p)
{
    do {
        p = facet_asm_skip_statement(a, p);
    } while (*p != '\0' && p[-1] != '\n');
    return p;
}

static void run(struct asm_context *a)
{
    while (a->frame != NULL) {
        struct asm_frame *frame = a->frame;
        struct asm_section *section = a->section;
        uint64_t before = section->size;
        const char *p = frame->p;

        if (p >= frame->end) {
            if (frame->repetitions > 0) {
                frame->repetitions--;
                frame->p = frame->restart;
                charge(a, 1);
                continue;
            }
            if (a->condition_count > frame->condition_floor) {
                const struct asm_condition *c = &a->conditions[a->condition_count - 1];

                (void)facet_asm_error_in(a, c->source, c->at, 3, "this conditional has no .endif");
                a->condition_count = frame->condition_floor;
            }
            a->frame = frame->parent;
            a->frame_depth--;
            continue;
        }
        if (frame->parent == NULL) {
            a->main_statement = p;
        } else {
            charge(a, 1);
        }
        if (!statement(a, &p)) {
            p = next_line(a, a->statement);
        }
        frame->p = p;
        if (a->options->listing) {
            record_span(a, section, before);
        }
        if (a->options->debug) {
            record_mark(a, frame, section, before);
        }
    }
}

static void define_given(struct asm_context *a)
{
    for (size_t i = 0; i < a->options->define_count; i++) {
        const struct facet_asm_define *d = &a->options->defines[i];
        struct asm_symbol *s = facet_asm_symbol(a, d->name, strlen(d->name));

        s->state = ASM_SYMBOL_SET;
        s->term = (struct asm_term){{NULL, d->value}, NULL};
        s->named = true;
    }
}

static void assemble(struct asm_context *a, const char *text, size_t size)
{
    struct asm_source *source = facet_asm_alloc(a, sizeof *source);
    char *copy = facet_asm_alloc(a, size + 2);
    const char *nul;

    if (size != 0) {
        memcpy(copy, text, size);
    }
    /* Two zeros: looking one character ahead is always allowed. */
    copy[size] = copy[size + 1] = '\0';
    *source = (struct asm_source){
        .name = a->options->file != NULL ? a->options->file : "-",
        .text = copy,
        .size = size,
    };
    source->path = source->name;
    a->statement = a->line_at = copy;
    a->main_source = a->statement_source = source;
    a->line = 1;
    nul = memchr(copy, '\0', size);
    if (nul != NULL) {
        (void)facet_asm_error_in(a, source, nul, 1, "a zero byte in the text");
        return;
    }
    facet_asm_index(a);
    define_given(a);
    (void)facet_asm_push(a, source, copy, copy + size, 0, copy);
    a->section = facet_asm_section(a, ".text", 5, FACET_SECTION_ALLOC | FACET_SECTION_EXEC, false);
    a->previous_section = a->section;
    run(a);
    (void)facet_asm_finish(a);
}

static void free_context(struct asm_context *a)
{
    for (struct asm_section *s = a->first_section; s != NULL; s = s->next) {
        free(s->data);
    }
    free(a->fixups);
    free(a->marks);
    free(a->pcrels);
    facet_arena_free(&a->arena);
    free(a);
}

#ifdef __wasi__

/* WebAssembly cannot come back into a function: the host calls and catches (wasm/include). */
struct attempt {
    struct asm_context *a;
    const char *text;
    size_t size;
};

static void attempt(void *context)
{
    const struct attempt *it = context;

    assemble(it->a, it->text, it->size);
}

static enum facet_status guarded(struct asm_context *a, const char *text, size_t size)
{
    struct attempt it = {a, text, size};

    return facet_wasm_attempt(attempt, &it) == 0 ? FACET_OK : a->stop_status;
}

#else

/* Apart, because nothing here may live across the jump. */
static enum facet_status guarded(struct asm_context *a, const char *text, size_t size)
{
    if (setjmp(a->stop) != 0) {
        return a->stop_status;
    }
    assemble(a, text, size);
    return FACET_OK;
}

#endif

enum facet_status facet_assemble(const struct facet_asm_options *options,
                                 const char *text,
                                 size_t size,
                                 struct facet_asm_result *result,
                                 struct facet_error *err)
{
    struct asm_context *a = calloc(1, sizeof *a);
    enum facet_status status;

    memset(result, 0, sizeof *result);
    facet_diag_list_init(&result->diags);
    if (a == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory");
    }
    a->options = options;
    a->isa = options->isa;
    a->diags = &result->diags;
    a->result = result;
    a->last_section = &a->first_section;
    a->last_symbol = &a->first_symbol;
    facet_arena_init(&a->arena);
    status = guarded(a, text, size);
    free_context(a);
    if (result->diags.count != 0 && status == FACET_OK) {
        status = FACET_ERR_INPUT;
    }
    if (status == FACET_OK) {
        return FACET_OK;
    }
    facet_object_free(result->object);
    result->object = NULL;
    if (status == FACET_ERR_INPUT && result->diags.count != 0) {
        const struct facet_diag *d = &result->diags.items[0];

        return facet_fail(
            err, status, d->line, "%.120s:%u:%u: %s", d->file, d->line, d->column, d->message);
    }
    return facet_fail(err, status, 0, "out of memory");
}

void facet_asm_result_free(struct facet_asm_result *result)
{
    facet_object_free(result->object);
    facet_diag_list_free(&result->diags);
    free(result->spans);
    memset(result, 0, sizeof *result);
}
