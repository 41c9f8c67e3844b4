/* Directives: the table of them, their punctuation, symbols and what is left. Names and meanings
 * are those of GNU as. */
#include "assembler/internal.h"
#include "num/format.h"

bool facet_asm_comma(struct asm_context *a, const char **p)
{
    *p = facet_lex_space(*p);
    if (**p != ',') {
        return facet_asm_error(a, *p, 1, "expected `,`");
    }
    *p = facet_lex_space(*p + 1);
    return true;
}

bool facet_asm_more(const char **p)
{
    *p = facet_lex_space(*p);
    if (**p != ',') {
        return false;
    }
    *p = facet_lex_space(*p + 1);
    return true;
}

bool facet_asm_end_statement(struct asm_context *a, const char **p)
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
        (void)facet_asm_error(a, start, 1, "expected a symbol");
        return NULL;
    }
    s = facet_asm_symbol(a, name, length);
    if (s->at == NULL) {
        s->at = start;
        s->source = a->frame->source;
    }
    return s;
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
        return facet_asm_fill_bytes(a, (uint64_t)term.value.number - a->section->size, 0, 1) &&
               facet_asm_end_statement(a, p);
    }
    s = facet_asm_symbol(a, name, length);
    if (s->state == ASM_SYMBOL_LABEL || (s->state != ASM_SYMBOL_UNKNOWN && !again)) {
        length = length < 80 ? length : 80;
        return facet_asm_error(a, at, length, "`%.*s` is already defined", (int)length, name);
    }
    s->state = ASM_SYMBOL_SET;
    s->term = term;
    s->at = at;
    s->source = a->frame->source;
    s->named = true;
    return facet_asm_end_statement(a, p);
}

static bool set(struct asm_context *a, const char **p, int again)
{
    const char *name, *start = *p = facet_lex_space(*p);
    size_t length;

    if (!facet_asm_name(a, p, &name, &length)) {
        return facet_asm_error(a, start, 1, "expected a symbol");
    }
    return facet_asm_comma(a, p) && facet_asm_assign(a, start, name, length, p, again != 0);
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
    } while (facet_asm_more(p));
    return facet_asm_end_statement(a, p);
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
            return facet_asm_end_statement(a, p);
        }
    }
    facet_asm_hint(a, "the types are @function, @object and @notype");
    return facet_asm_error(a, start, (size_t)(end - start), "unknown symbol type");
}

static bool size_of(struct asm_context *a, const char **p, int unused)
{
    struct asm_symbol *s = symbol_name(a, p);

    (void)unused;
    return s != NULL && facet_asm_comma(a, p) && facet_asm_expr(a, p, &s->size) &&
           facet_asm_end_statement(a, p);
}

static bool common(struct asm_context *a, const char **p, int local)
{
    struct asm_section *before = a->section;
    struct asm_symbol *s = symbol_name(a, p);
    int64_t size, alignment = 8;
    const char *at = *p;
    bool ok;

    if (s == NULL || !facet_asm_comma(a, p) || !facet_asm_count(a, p, &size) ||
        (facet_asm_more(p) && !facet_asm_count(a, p, &alignment))) {
        return false;
    }
    if (alignment < 1 || alignment > ASM_MAX_ALIGN || (alignment & (alignment - 1)) != 0) {
        return facet_asm_error(a, at, 1, "the alignment must be a power of two");
    }
    a->section = facet_asm_section(a, ".bss", 4, FACET_SECTION_ALLOC | FACET_SECTION_WRITE, true);
    ok = facet_asm_align(a, (uint64_t)alignment, false, 0) &&
         facet_asm_define_label(a, a->statement, s->name, s->length) &&
         facet_asm_fill_bytes(a, (uint64_t)size, 0, 1);
    s->type = FACET_SYMBOL_OBJECT;
    s->size = (struct asm_term){{NULL, size}, NULL};
    s->binding = local != 0 ? s->binding : (uint8_t)FACET_SYMBOL_GLOBAL;
    a->section = before;
    return ok && facet_asm_end_statement(a, p);
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
        return facet_asm_error(a, *p, 1, "expected a file name in double quotes");
    }
    if (a->file_symbol == NULL) {
        char *copy = facet_asm_alloc(a, length + 1);

        memcpy(copy, name, length);
        copy[length] = '\0';
        a->file_symbol = copy;
    }
    return facet_asm_end_statement(a, p);
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
    {"2byte", facet_asm_data, 2},
    {"4byte", facet_asm_data, 4},
    {"8byte", facet_asm_data, 8},
    {"address", facet_asm_address, 0},
    {"addrsig", ignore, 0},
    {"addrsig_sym", ignore, 0},
    {"align", facet_asm_alignment, 1},
    {"ascii", facet_asm_string, 0},
    {"asciz", facet_asm_string, 1},
    {"attribute", ignore, 0},
    {"balign", facet_asm_alignment, 0},
    {"bfloat16", facet_asm_real, FACET_FMT_BF16},
    {"bss", facet_asm_standard_section, 3},
    {"byte", facet_asm_data, 1},
    {"comm", common, 0},
    {"common", common, 0},
    {"data", facet_asm_standard_section, 1},
    {"double", facet_asm_real, FACET_FMT_FP64},
    {"dword", facet_asm_data, 8},
    {"else", facet_asm_else, ASM_ELSE},
    {"elseif", facet_asm_else, ASM_ELSEIF},
    {"end", stop_here, 0},
    {"endif", facet_asm_endif, 0},
    {"endm", facet_asm_stray_end, 0},
    {"endr", facet_asm_stray_end, 0},
    {"entry", facet_asm_entry, 0},
    {"equ", set, 1},
    {"equiv", set, 0},
    {"err", complain, 0},
    {"error", complain, 0},
    {"file", file, 0},
    {"fill", facet_asm_fill, 0},
    {"float", facet_asm_real, FACET_FMT_FP32},
    {"float16", facet_asm_real, FACET_FMT_FP16},
    {"float8_e4m3", facet_asm_real, FACET_FMT_E4M3},
    {"float8_e5m2", facet_asm_real, FACET_FMT_E5M2},
    {"global", binding, FACET_SYMBOL_GLOBAL},
    {"globl", binding, FACET_SYMBOL_GLOBAL},
    {"half", facet_asm_data, 2},
    {"hidden", ignore, 0},
    {"hword", facet_asm_data, 2},
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
    {"int", facet_asm_data, 4},
    {"internal", ignore, 0},
    {"irp", facet_asm_irp, 0},
    {"lcomm", common, 1},
    {"loc", ignore, 0},
    {"local", binding, FACET_SYMBOL_LOCAL},
    {"long", facet_asm_data, 4},
    {"macro", facet_asm_macro, 0},
    {"option", option, 0},
    {"org", facet_asm_org, 0},
    {"p2align", facet_asm_alignment, 1},
    {"previous", facet_asm_return_section, 0},
    {"protected", ignore, 0},
    {"quad", facet_asm_data, 8},
    {"rept", facet_asm_rept, 0},
    {"rodata", facet_asm_standard_section, 2},
    {"section", facet_asm_named_section, 0},
    {"set", set, 1},
    {"short", facet_asm_data, 2},
    {"single", facet_asm_real, FACET_FMT_FP32},
    {"size", size_of, 0},
    {"skip", facet_asm_space, 0},
    {"space", facet_asm_space, 0},
    {"string", facet_asm_string, 1},
    {"text", facet_asm_standard_section, 0},
    {"type", type, 0},
    {"weak", binding, FACET_SYMBOL_WEAK},
    {"word", facet_asm_data, 4},
    {"zero", facet_asm_space, 0},
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
