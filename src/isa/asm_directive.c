/* Directives: data, space, symbols, sections. Names and meanings are those of GNU as; .address and
 * .entry are ours: an assembler that is its own linker needs to be told where things go. */
#include "isa/asm.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_ALIGN ((int64_t)1 << 20)

static bool comma(struct asm_context *a, const char **p)
{
    *p = facet_lex_space(*p);
    if (**p != ',') {
        return facet_asm_error(a, *p, 1, "`,` is expected here");
    }
    *p = facet_lex_space(*p + 1);
    return true;
}

/* true and moved when another comma-separated item follows. */
static bool more(const char **p)
{
    *p = facet_lex_space(*p);
    if (**p != ',') {
        return false;
    }
    *p = facet_lex_space(*p + 1);
    return true;
}

static bool finish(struct asm_context *a, const char **p)
{
    *p = facet_lex_space(*p);
    if (!facet_asm_expect_end(a, *p)) {
        return false;
    }
    *p = facet_asm_skip_statement(a, *p);
    return true;
}

static struct asm_symbol *symbol_name(struct asm_context *a, const char **p)
{
    const char *name, *start = *p = facet_lex_space(*p);
    size_t length;
    struct asm_symbol *s;

    if (!facet_asm_name(a, p, &name, &length)) {
        (void)facet_asm_error(a, start, 1, "a symbol is expected here");
        return NULL;
    }
    s = facet_asm_symbol(a, name, length);
    if (s->at == NULL) {
        s->at = start;
        s->source = a->frame->source;
    }
    return s;
}

/* ---- data ---- */

static bool datum(struct asm_context *a, const char **p, unsigned size)
{
    const char *start = *p = facet_lex_space(*p);
    struct asm_term term;
    unsigned bits = 8 * size;

    if (!facet_asm_expr(a, p, &term)) {
        return false;
    }
    if (term.tree != NULL || term.value.section != NULL) {
        if (a->section->nobits) {
            return facet_asm_error(a, start, 1, "section %s has no bytes", a->section->name);
        }
        facet_asm_fixup(a,
                        &(struct asm_fixup){.size = (uint8_t)size,
                                            .section = a->section,
                                            .offset = a->section->size,
                                            .tree = term.tree,
                                            .value = term.value,
                                            .at = start,
                                            .length = (uint32_t)(*p - start)});
        return facet_asm_emit(a, 0, size);
    }
    if (bits < 64) {
        int64_t half = INT64_C(1) << (bits - 1);

        if (term.value.number < -half || term.value.number >= 2 * half) {
            facet_asm_hint(a, "%u bytes hold %" PRId64 " to %" PRId64, size, -half, 2 * half - 1);
            return facet_asm_error(
                a, start, (size_t)(*p - start), "%" PRId64 " does not fit", term.value.number);
        }
    }
    return facet_asm_emit(a, (uint64_t)term.value.number, size);
}

static bool data(struct asm_context *a, const char **p, int size)
{
    *p = facet_lex_space(*p);
    if (facet_asm_at_end(*p)) {
        return finish(a, p);
    }
    do {
        if (!datum(a, p, (unsigned)size)) {
            return false;
        }
    } while (more(p));
    return finish(a, p);
}

static bool real(struct asm_context *a, const char **p, int size)
{
    do {
        const char *start = *p = facet_lex_space(*p);
        uint64_t bits = 0;
        char *end;

        if (size == 4) {
            float value = strtof(start, &end);

            memcpy(&bits, &value, 4);
        } else {
            double value = strtod(start, &end);

            memcpy(&bits, &value, 8);
        }
        if (end == start || facet_lex_is(*start, FACET_LEX_SPACE) || *start == '\n') {
            return facet_asm_error(a, start, 1, "a floating-point number is expected here");
        }
        *p = end;
        /* little-endian in the file whatever the host is: emit goes by value */
        if (!facet_asm_emit(a, size == 4 ? bits & UINT32_MAX : bits, (unsigned)size)) {
            return false;
        }
    } while (more(p));
    return finish(a, p);
}

static bool string(struct asm_context *a, const char **p, int zero)
{
    do {
        const char *start = *p = facet_lex_space(*p);

        if (*start != '"') {
            return facet_asm_error(a, start, 1, "a string in double quotes is expected here");
        }
        for (++*p; **p != '"';) {
            const char *at = *p;
            uint8_t c;

            if (!facet_lex_char(p, &c)) {
                if (*at == '\\') {
                    facet_asm_hint(a,
                                   "there are \\n \\t \\r \\b \\f \\a \\v \\e \\\\ \\\" \\' "
                                   "\\ooo \\xhh");
                    return facet_asm_error(a, at, 2, "unknown escape");
                }
                return facet_asm_error(a, start, 1, "the string has no end");
            }
            if (!facet_asm_emit(a, c, 1)) {
                return false;
            }
        }
        ++*p;
        if (zero != 0 && !facet_asm_emit(a, 0, 1)) {
            return false;
        }
    } while (more(p));
    return finish(a, p);
}

static bool fill_bytes(struct asm_context *a, uint64_t count, uint64_t value, unsigned size)
{
    uint8_t *place;

    if (size == 0 || count == 0) {
        return true;
    }
    if (a->section->nobits && value != 0) {
        return facet_asm_error(
            a, a->statement, 1, "section %s has room but no bytes", a->section->name);
    }
    place = count <= UINT64_MAX / 16 ? facet_asm_reserve(a, count * size)
                                     : facet_asm_reserve(a, UINT64_MAX);
    if (place == NULL) {
        return false;
    }
    if (value != 0) {
        for (uint64_t i = 0; i < count * size; i++) {
            place[i] = (uint8_t)(i % size < 8 ? value >> (8 * (i % size)) : 0);
        }
    }
    return true;
}

static bool count_operand(struct asm_context *a, const char **p, int64_t *count)
{
    const char *start = *p = facet_lex_space(*p);

    if (!facet_asm_constant(a, p, count)) {
        return false;
    }
    if (*count < 0) {
        return facet_asm_error(a, start, (size_t)(*p - start), "%" PRId64 " is negative", *count);
    }
    return true;
}

static bool space(struct asm_context *a, const char **p, int unused)
{
    int64_t count, value = 0;

    (void)unused;
    return count_operand(a, p, &count) && (!more(p) || facet_asm_constant(a, p, &value)) &&
           fill_bytes(a, (uint64_t)count, (uint64_t)value & 0xFF, 1) && finish(a, p);
}

static bool fill(struct asm_context *a, const char **p, int unused)
{
    int64_t count, size = 1, value = 0;

    (void)unused;
    if (!count_operand(a, p, &count) || (more(p) && !count_operand(a, p, &size)) ||
        (more(p) && !facet_asm_constant(a, p, &value))) {
        return false;
    }
    if (size > 8) {
        return facet_asm_error(a, a->statement, 5, "the size can be 0 to 8");
    }
    return fill_bytes(a, (uint64_t)count, (uint64_t)value, (unsigned)size) && finish(a, p);
}

/* What code is padded with: as many whole instructions as fit, the odd bytes first. */
static bool pad_code(struct asm_context *a, uint64_t count)
{
    if (a->isa == FACET_ISA_TILE) {
        uint64_t odd = count % 4;

        return fill_bytes(a, odd, 0, 1) && fill_bytes(a, count / 4, 0x00000017, 4);
    }
    return fill_bytes(a, count % 2, 0, 1) && fill_bytes(a, count % 4 / 2, 0x0001, 2) &&
           fill_bytes(a, count / 4, 0x00000013, 4);
}

bool facet_asm_align(struct asm_context *a, uint64_t align, bool filled, uint64_t value)
{
    struct asm_section *s = a->section;
    uint64_t gap = (0 - s->size) & (align - 1);

    if (align > s->align) {
        s->align = align;
    }
    if (!filled && !s->nobits && (s->flags & FACET_SECTION_EXEC) != 0) {
        return pad_code(a, gap);
    }
    return fill_bytes(a, gap, value & 0xFF, 1);
}

/* `power`: the operand is an exponent. [, fill [, most bytes to skip]] */
static bool align(struct asm_context *a, const char **p, int power)
{
    const char *start = *p = facet_lex_space(*p);
    int64_t n = 0, value = 0, most = INT64_MAX;
    bool filled = false;

    if (!facet_asm_at_end(start) && !facet_asm_constant(a, p, &n)) {
        return false;
    }
    if (power == 0 && n == 0) {
        n = 1;
    }
    if (power != 0 ? n < 0 || n > 20 : n < 1 || n > MAX_ALIGN || (n & (n - 1)) != 0) {
        facet_asm_hint(a,
                       power != 0 ? "an exponent of two, 0 to 20, is expected"
                                  : "a power of two, 1 to 1048576, is expected");
        return facet_asm_error(a, start, (size_t)(*p - start), "cannot align to %" PRId64, n);
    }
    n = power != 0 ? INT64_C(1) << n : n;
    if (more(p)) {
        if (**p != ',') {
            filled = true;
            if (!facet_asm_constant(a, p, &value)) {
                return false;
            }
        }
        if (more(p) && !facet_asm_constant(a, p, &most)) {
            return false;
        }
    }
    if ((int64_t)((0 - a->section->size) & (uint64_t)(n - 1)) > most) {
        return finish(a, p);
    }
    return facet_asm_align(a, (uint64_t)n, filled, (uint64_t)value) && finish(a, p);
}

static bool org(struct asm_context *a, const char **p, int unused)
{
    const char *start = *p = facet_lex_space(*p);
    struct asm_term term;
    int64_t value = 0;

    (void)unused;
    if (!facet_asm_expr(a, p, &term)) {
        return false;
    }
    if (term.tree != NULL || (term.value.section != NULL && term.value.section != a->section)) {
        return facet_asm_error(
            a, start, (size_t)(*p - start), "an offset or a label of this section is expected");
    }
    if (more(p) && !facet_asm_constant(a, p, &value)) {
        return false;
    }
    if (term.value.number < 0 || (uint64_t)term.value.number < a->section->size) {
        return facet_asm_error(a,
                               start,
                               (size_t)(*p - start),
                               ".org cannot go back from offset %" PRIu64 " to %" PRId64,
                               a->section->size,
                               term.value.number);
    }
    return fill_bytes(
               a, (uint64_t)term.value.number - a->section->size, (uint64_t)value & 0xFF, 1) &&
           finish(a, p);
}

/* ---- symbols ---- */

bool facet_asm_assign(struct asm_context *a,
                      const char *at,
                      const char *name,
                      size_t length,
                      const char **p,
                      bool again)
{
    struct asm_symbol *s;
    struct asm_term term;

    if (!facet_asm_expr(a, p, &term)) {
        return false;
    }
    if (length == 1 && name[0] == '.') { /* . = x is .org x */
        if (term.tree != NULL || term.value.section != a->section ||
            term.value.number < (int64_t)a->section->size) {
            return facet_asm_error(a, at, 1, "`.` can only move forward in its section");
        }
        return fill_bytes(a, (uint64_t)term.value.number - a->section->size, 0, 1) && finish(a, p);
    }
    s = facet_asm_symbol(a, name, length);
    if (s->state == ASM_SYMBOL_LABEL || (s->state != ASM_SYMBOL_UNKNOWN && !again)) {
        length = length < 80 ? length : 80;
        return facet_asm_error(a, at, length, "`%.*s` is defined already", (int)length, name);
    }
    s->state = ASM_SYMBOL_SET;
    s->term = term;
    s->at = at;
    s->source = a->frame->source;
    s->named = true;
    return finish(a, p);
}

static bool set(struct asm_context *a, const char **p, int again)
{
    const char *name, *start = *p = facet_lex_space(*p);
    size_t length;

    if (!facet_asm_name(a, p, &name, &length)) {
        return facet_asm_error(a, start, 1, "a symbol is expected here");
    }
    return comma(a, p) && facet_asm_assign(a, start, name, length, p, again != 0);
}

static bool binding(struct asm_context *a, const char **p, int kind)
{
    do {
        struct asm_symbol *s = symbol_name(a, p);

        if (s == NULL) {
            return false;
        }
        s->binding = (uint8_t)kind;
        s->named = true;
        s->hidden = false;
    } while (more(p));
    return finish(a, p);
}

static bool type(struct asm_context *a, const char **p, int unused)
{
    static const struct {
        const char *name;
        uint8_t type;
    } types[] = {{"function", FACET_SYMBOL_FUNC},
                 {"object", FACET_SYMBOL_OBJECT},
                 {"notype", FACET_SYMBOL_NOTYPE},
                 {"STT_FUNC", FACET_SYMBOL_FUNC},
                 {"STT_OBJECT", FACET_SYMBOL_OBJECT},
                 {"STT_NOTYPE", FACET_SYMBOL_NOTYPE},
                 {"gnu_unique_object", FACET_SYMBOL_OBJECT},
                 {"tls_object", FACET_SYMBOL_OBJECT}};
    struct asm_symbol *s = symbol_name(a, p);
    const char *start, *end;

    (void)unused;
    if (s == NULL) {
        return false;
    }
    *p = facet_lex_space(*p);
    *p = facet_lex_space(*p + (**p == ','));
    start = *p + (**p == '@' || **p == '%' || **p == '"');
    end = facet_lex_name(start);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (facet_lex_same(start, (size_t)(end - start), types[i].name)) {
            s->type = types[i].type;
            *p = end + (*end == '"');
            return finish(a, p);
        }
    }
    facet_asm_hint(a, "there are @function, @object and @notype");
    return facet_asm_error(a, start, (size_t)(end - start), "unknown symbol type");
}

static bool size_of(struct asm_context *a, const char **p, int unused)
{
    struct asm_symbol *s = symbol_name(a, p);

    (void)unused;
    return s != NULL && comma(a, p) && facet_asm_expr(a, p, &s->size) && finish(a, p);
}

static bool common(struct asm_context *a, const char **p, int local)
{
    struct asm_section *before = a->section;
    struct asm_symbol *s = symbol_name(a, p);
    int64_t size, alignment = 8;
    const char *at = *p;
    bool ok;

    if (s == NULL || !comma(a, p) || !count_operand(a, p, &size) ||
        (more(p) && !count_operand(a, p, &alignment))) {
        return false;
    }
    if (alignment < 1 || alignment > MAX_ALIGN || (alignment & (alignment - 1)) != 0) {
        return facet_asm_error(a, at, 1, "the alignment must be a power of two");
    }
    a->section = facet_asm_section(a, ".bss", 4, FACET_SECTION_ALLOC | FACET_SECTION_WRITE, true);
    ok = facet_asm_align(a, (uint64_t)alignment, false, 0) &&
         facet_asm_define_label(a, a->statement, s->name, s->length) &&
         fill_bytes(a, (uint64_t)size, 0, 1);
    s->type = FACET_SYMBOL_OBJECT;
    s->size = (struct asm_term){{NULL, size}, NULL};
    s->binding = local != 0 ? s->binding : (uint8_t)FACET_SYMBOL_GLOBAL;
    a->section = before;
    return ok && finish(a, p);
}

/* ---- sections ---- */

struct asm_section *facet_asm_section(
    struct asm_context *a, const char *name, size_t length, uint32_t flags, bool nobits)
{
    struct asm_section *s;
    char *copy;

    for (s = a->first_section; s != NULL; s = s->next) {
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0) {
            return s;
        }
    }
    s = facet_asm_alloc(a, sizeof *s);
    memset(s, 0, sizeof *s);
    copy = facet_asm_alloc(a, length + 1);
    memcpy(copy, name, length);
    copy[length] = '\0';
    s->name = copy;
    s->flags = flags;
    s->nobits = nobits;
    /* Where a linker would put it: the first datum of a section can have any type. */
    s->align = (flags & FACET_SECTION_ALLOC) == 0  ? 1
               : (flags & FACET_SECTION_EXEC) != 0 ? 4
               : a->isa == FACET_ISA_TILE          ? 16
                                                   : 8;
    s->index = a->section_count++;
    s->at = a->statement;
    s->at_source = a->frame->source;
    *a->last_section = s;
    a->last_section = &s->next;
    return s;
}

/* Flags that go without saying. */
static void usual_flags(const char *name, size_t length, uint32_t *flags, bool *nobits)
{
    static const struct {
        const char *prefix;
        uint32_t flags;
        bool nobits;
    } usual[] = {
        {".text", FACET_SECTION_ALLOC | FACET_SECTION_EXEC, false},
        {".init", FACET_SECTION_ALLOC | FACET_SECTION_EXEC, false},
        {".fini", FACET_SECTION_ALLOC | FACET_SECTION_EXEC, false},
        {".rodata", FACET_SECTION_ALLOC, false},
        {".srodata", FACET_SECTION_ALLOC, false},
        {".data", FACET_SECTION_ALLOC | FACET_SECTION_WRITE, false},
        {".sdata", FACET_SECTION_ALLOC | FACET_SECTION_WRITE, false},
        {".bss", FACET_SECTION_ALLOC | FACET_SECTION_WRITE, true},
        {".sbss", FACET_SECTION_ALLOC | FACET_SECTION_WRITE, true},
    };

    *flags = 0;
    *nobits = false;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        size_t n = strlen(usual[i].prefix);

        if (length >= n && memcmp(name, usual[i].prefix, n) == 0 &&
            (length == n || name[n] == '.')) {
            *flags = usual[i].flags;
            *nobits = usual[i].nobits;
        }
    }
}

static void enter(struct asm_context *a, struct asm_section *s)
{
    a->previous_section = a->section;
    a->section = s;
    s->kept = true;
}

static bool standard(struct asm_context *a, const char **p, int which)
{
    static const char *const names[] = {".text", ".data", ".rodata", ".bss"};
    const char *name = names[which];
    int64_t subsection;
    uint32_t flags;
    bool nobits;

    *p = facet_lex_space(*p);
    if (!facet_asm_at_end(*p) && !facet_asm_constant(a, p, &subsection)) {
        return false;
    }
    usual_flags(name, strlen(name), &flags, &nobits);
    enter(a, facet_asm_section(a, name, strlen(name), flags, nobits));
    return finish(a, p);
}

static bool section_flags(struct asm_context *a, const char **p, uint32_t *flags)
{
    *flags = 0;
    for (++*p; **p != '"'; ++*p) {
        switch (**p) {
        case 'a':
            *flags |= FACET_SECTION_ALLOC;
            break;
        case 'w':
            *flags |= FACET_SECTION_WRITE;
            break;
        case 'x':
            *flags |= FACET_SECTION_EXEC;
            break;
        case 'M': /* for linkers */
        case 'S':
        case 'G':
        case 'T':
        case 'o':
        case 'R':
            break;
        default:
            facet_asm_hint(a, "a loaded, w writable, x executable");
            return facet_asm_error(a, *p, 1, "unknown section flag");
        }
    }
    ++*p;
    return true;
}

static bool section_type(struct asm_context *a, const char **p, bool *nobits)
{
    const char *start = *p + (**p == '@' || **p == '%' || **p == '"'), *end = facet_lex_name(start);
    size_t length = (size_t)(end - start);

    *nobits = facet_lex_same(start, length, "nobits");
    if (!*nobits && !facet_lex_same(start, length, "progbits") &&
        !facet_lex_same(start, length, "note") && !facet_lex_same(start, length, "init_array") &&
        !facet_lex_same(start, length, "fini_array")) {
        facet_asm_hint(a, "there are @progbits and @nobits");
        return facet_asm_error(a, start, length, "unknown section type");
    }
    *p = end + (*end == '"');
    return true;
}

static bool section(struct asm_context *a, const char **p, int unused)
{
    const char *name, *start = *p = facet_lex_space(*p);
    size_t length;
    uint32_t flags;
    bool nobits, given = false;
    struct asm_section *s;

    (void)unused;
    if (!facet_asm_name(a, p, &name, &length)) {
        return facet_asm_error(a, start, 1, "the name of a section is expected here");
    }
    usual_flags(name, length, &flags, &nobits);
    if (more(p)) {
        if (**p != '"') {
            return facet_asm_error(a, *p, 1, "flags in double quotes are expected here");
        }
        given = true;
        if (!section_flags(a, p, &flags)) {
            return false;
        }
        if (more(p) && !section_type(a, p, &nobits)) {
            return false;
        }
        while (more(p)) { /* entry size, group: for linkers */
            *p = facet_lex_name(*p);
        }
    }
    if (a->section_count >= ASM_MAX_SECTIONS) {
        return facet_asm_error(a, start, length, "more than %d sections", (int)ASM_MAX_SECTIONS);
    }
    s = facet_asm_section(a, name, length, flags, nobits);
    if (given && (s->flags != flags || s->nobits != nobits)) {
        return facet_asm_error(
            a, start, (size_t)(*p - start), "section %.60s has other flags already", s->name);
    }
    enter(a, s);
    return finish(a, p);
}

static bool previous(struct asm_context *a, const char **p, int unused)
{
    (void)unused;
    enter(a, a->previous_section);
    return finish(a, p);
}

static bool address(struct asm_context *a, const char **p, int unused)
{
    const char *start = *p = facet_lex_space(*p);
    int64_t value;

    (void)unused;
    if (!facet_asm_constant(a, p, &value)) {
        return false;
    }
    if (a->section->placed && a->section->address != (uint64_t)value) {
        return facet_asm_error(
            a, start, (size_t)(*p - start), "section %s has an address already", a->section->name);
    }
    a->section->placed = true;
    a->section->address = (uint64_t)value;
    a->section->at = start;
    a->section->at_source = a->frame->source;
    return finish(a, p);
}

static bool entry(struct asm_context *a, const char **p, int unused)
{
    (void)unused;
    a->entry_given = true;
    return facet_asm_expr(a, p, &a->entry) && finish(a, p);
}

/* ---- the rest ---- */

static bool ignore(struct asm_context *a, const char **p, int unused)
{
    (void)unused;
    *p = facet_asm_skip_statement(a, *p);
    return true;
}

static bool file(struct asm_context *a, const char **p, int unused)
{
    const char *name;
    size_t length;

    (void)unused;
    *p = facet_lex_space(*p);
    if (**p != '"') {
        return ignore(a, p, 0); /* .file 1 "x.c": for debuggers */
    }
    if (!facet_asm_name(a, p, &name, &length)) {
        return facet_asm_error(a, *p, 1, "a file name in double quotes is expected here");
    }
    if (a->file_symbol == NULL) {
        char *copy = facet_asm_alloc(a, length + 1);

        memcpy(copy, name, length);
        copy[length] = '\0';
        a->file_symbol = copy;
    }
    return finish(a, p);
}

static bool option(struct asm_context *a, const char **p, int unused)
{
    static const char *const known[] = {"rvc",
                                        "norvc",
                                        "push",
                                        "pop",
                                        "relax",
                                        "norelax",
                                        "pic",
                                        "nopic",
                                        "arch",
                                        "csr-check",
                                        "no-csr-check"};
    const char *start = facet_lex_space(*p), *end = start;
    struct facet_nearest search;

    (void)unused;
    while (facet_lex_is(*end, FACET_LEX_NAME) || *end == '-') {
        end++;
    }
    search = facet_nearest_to(start, (size_t)(end - start));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (facet_lex_same(start, (size_t)(end - start), known[i])) {
            return ignore(a, p, 0); /* nothing is relaxed or compressed anyway */
        }
        facet_nearest_offer(&search, known[i], strlen(known[i]));
    }
    facet_asm_suggest(a, &search);
    return facet_asm_error(a, start, (size_t)(end - start), "unknown option");
}

static bool stop_here(struct asm_context *a, const char **p, int unused)
{
    (void)unused;
    *p = a->frame->end;
    return true;
}

static bool complain(struct asm_context *a, const char **p, int unused)
{
    const char *text;
    size_t length;

    (void)unused;
    *p = facet_lex_space(*p);
    if (!facet_asm_name(a, p, &text, &length)) {
        text = ".error";
        length = 6;
    }
    return facet_asm_error(a, a->statement, 6, "%.*s", (int)(length < 200 ? length : 200), text);
}

struct directive {
    const char *name; /* without the dot */
    facet_asm_directive_fn *run;
    int argument;
};

/* Sorted by name: found by bisection. */
static const struct directive directives[] = {
    {"2byte", data, 2},
    {"4byte", data, 4},
    {"8byte", data, 8},
    {"address", address, 0},
    {"addrsig", ignore, 0},
    {"addrsig_sym", ignore, 0},
    {"align", align, 1},
    {"ascii", string, 0},
    {"asciz", string, 1},
    {"attribute", ignore, 0},
    {"balign", align, 0},
    {"bss", standard, 3},
    {"byte", data, 1},
    {"comm", common, 0},
    {"common", common, 0},
    {"data", standard, 1},
    {"double", real, 8},
    {"dword", data, 8},
    {"else", facet_asm_else, ASM_ELSE},
    {"elseif", facet_asm_else, ASM_ELSEIF},
    {"end", stop_here, 0},
    {"endif", facet_asm_endif, 0},
    {"endm", facet_asm_stray_end, 0},
    {"endr", facet_asm_stray_end, 0},
    {"entry", entry, 0},
    {"equ", set, 1},
    {"equiv", set, 0},
    {"err", complain, 0},
    {"error", complain, 0},
    {"file", file, 0},
    {"fill", fill, 0},
    {"float", real, 4},
    {"global", binding, FACET_SYMBOL_GLOBAL},
    {"globl", binding, FACET_SYMBOL_GLOBAL},
    {"half", data, 2},
    {"hidden", ignore, 0},
    {"hword", data, 2},
    {"ident", ignore, 0},
    {"if", facet_asm_if, ASM_IF},
    {"ifdef", facet_asm_if, ASM_IFDEF},
    {"ifeq", facet_asm_if, ASM_IFEQ},
    {"ifge", facet_asm_if, ASM_IFGE},
    {"ifgt", facet_asm_if, ASM_IFGT},
    {"ifle", facet_asm_if, ASM_IFLE},
    {"iflt", facet_asm_if, ASM_IFLT},
    {"ifndef", facet_asm_if, ASM_IFNDEF},
    {"ifne", facet_asm_if, ASM_IFNE},
    {"include", facet_asm_include, 0},
    {"int", data, 4},
    {"internal", ignore, 0},
    {"irp", facet_asm_irp, 0},
    {"lcomm", common, 1},
    {"loc", ignore, 0},
    {"local", binding, FACET_SYMBOL_LOCAL},
    {"long", data, 4},
    {"macro", facet_asm_macro, 0},
    {"option", option, 0},
    {"org", org, 0},
    {"p2align", align, 1},
    {"previous", previous, 0},
    {"protected", ignore, 0},
    {"quad", data, 8},
    {"rept", facet_asm_rept, 0},
    {"rodata", standard, 2},
    {"section", section, 0},
    {"set", set, 1},
    {"short", data, 2},
    {"single", real, 4},
    {"size", size_of, 0},
    {"skip", space, 0},
    {"space", space, 0},
    {"string", string, 1},
    {"text", standard, 0},
    {"type", type, 0},
    {"weak", binding, FACET_SYMBOL_WEAK},
    {"word", data, 4},
    {"zero", space, 0},
};

enum { DIRECTIVES = sizeof directives / sizeof directives[0] };

static const struct directive *find(const char *name, size_t length)
{
    size_t low = 0, high = DIRECTIVES;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *candidate = directives[middle].name;
        size_t i = 0;

        while (i < length && candidate[i] != '\0' && facet_lex_lower(name[i]) == candidate[i]) {
            i++;
        }
        if (i == length && candidate[i] == '\0') {
            return &directives[middle];
        }
        if (i < length && (candidate[i] == '\0' ||
                           (unsigned char)facet_lex_lower(name[i]) > (unsigned char)candidate[i])) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

void facet_asm_offer_directives(struct facet_nearest *search)
{
    for (size_t i = 0; i < DIRECTIVES; i++) {
        facet_nearest_offer(search, directives[i].name, strlen(directives[i].name));
    }
}

bool facet_asm_directive(struct asm_context *a, const char *name, size_t length, const char **p)
{
    const struct directive *d = find(name + 1, length - 1);
    struct facet_nearest search = facet_nearest_to(name + 1, length - 1);

    if (d != NULL) {
        return d->run(a, p, d->argument);
    }
    if (length > 5 && facet_lex_same(name, 5, ".cfi_")) {
        return ignore(a, p, 0); /* for debuggers and unwinders */
    }
    facet_asm_offer_directives(&search);
    if (search.best != NULL) {
        facet_asm_hint(a, "did you mean `.%s`?", search.best);
    }
    length = length < 80 ? length : 80;
    return facet_asm_error(a, name, length, "unknown directive `%.*s`", (int)length, name);
}
