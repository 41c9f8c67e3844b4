/* Sections and the directives that choose and place them. Names and flags are those of GNU as;
 * .address and .entry are ours: an assembler that is its own linker needs to be told where things
 * go. */
#include "assembler/internal.h"

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

bool facet_asm_standard_section(struct asm_context *a, const char **p, int which)
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
    return facet_asm_end_statement(a, p);
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
        facet_asm_hint(a, "the types are @progbits and @nobits");
        return facet_asm_error(a, start, length, "unknown section type");
    }
    *p = end + (*end == '"');
    return true;
}

bool facet_asm_named_section(struct asm_context *a, const char **p, int unused)
{
    const char *name, *start = *p = facet_lex_space(*p);
    size_t length;
    uint32_t flags;
    bool nobits, given = false;
    struct asm_section *s;

    (void)unused;
    if (!facet_asm_name(a, p, &name, &length)) {
        return facet_asm_error(a, start, 1, "expected the name of a section");
    }
    usual_flags(name, length, &flags, &nobits);
    if (facet_asm_more(p)) {
        if (**p != '"') {
            return facet_asm_error(a, *p, 1, "expected flags in double quotes");
        }
        given = true;
        if (!section_flags(a, p, &flags)) {
            return false;
        }
        if (facet_asm_more(p) && !section_type(a, p, &nobits)) {
            return false;
        }
        while (facet_asm_more(p)) { /* entry size, group: for linkers */
            *p = facet_lex_name(*p);
        }
    }
    if (a->section_count >= ASM_MAX_SECTIONS) {
        return facet_asm_error(a, start, length, "more than %d sections", (int)ASM_MAX_SECTIONS);
    }
    s = facet_asm_section(a, name, length, flags, nobits);
    if (given && (s->flags != flags || s->nobits != nobits)) {
        return facet_asm_error(
            a, start, (size_t)(*p - start), "section %.60s already has other flags", s->name);
    }
    enter(a, s);
    return facet_asm_end_statement(a, p);
}

bool facet_asm_return_section(struct asm_context *a, const char **p, int unused)
{
    (void)unused;
    enter(a, a->previous_section);
    return facet_asm_end_statement(a, p);
}

bool facet_asm_address(struct asm_context *a, const char **p, int unused)
{
    const char *start = *p = facet_lex_space(*p);
    int64_t value;

    (void)unused;
    if (!facet_asm_constant(a, p, &value)) {
        return false;
    }
    if (a->section->placed && a->section->address != (uint64_t)value) {
        return facet_asm_error(
            a, start, (size_t)(*p - start), "section %s already has an address", a->section->name);
    }
    a->section->placed = true;
    a->section->address = (uint64_t)value;
    a->section->at = start;
    a->section->at_source = a->frame->source;
    return facet_asm_end_statement(a, p);
}

bool facet_asm_entry(struct asm_context *a, const char **p, int unused)
{
    (void)unused;
    a->entry_given = true;
    return facet_asm_expr(a, p, &a->entry) && facet_asm_end_statement(a, p);
}
