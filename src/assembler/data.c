/* Directives that put bytes into a section: numbers, texts, space, alignment. */
#include "assembler/internal.h"
#include "num/format.h"

#include <inttypes.h>
#include <stdlib.h>

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
            return facet_asm_error(
                a, start, 1, "section %s reserves space and holds no data", a->section->name);
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

bool facet_asm_data(struct asm_context *a, const char **p, int size)
{
    *p = facet_lex_space(*p);
    if (facet_asm_at_end(*p)) {
        return facet_asm_end_statement(a, p);
    }
    do {
        if (!datum(a, p, (unsigned)size)) {
            return false;
        }
    } while (facet_asm_more(p));
    return facet_asm_end_statement(a, p);
}

bool facet_asm_real(struct asm_context *a, const char **p, int format)
{
    const struct facet_fp_format *f = &facet_fp_formats[format];

    do {
        const char *start = *p = facet_lex_space(*p);
        unsigned flags = 0;
        size_t length;
        uint64_t bits = facet_num_from_text((enum facet_format)format, start, &length, &flags);

        if (length == 0) {
            return facet_asm_error(a, start, 1, "expected a floating-point number");
        }
        if ((flags & FACET_OF) != 0) {
            return facet_asm_error(a,
                                   start,
                                   length,
                                   "the number does not fit %s",
                                   facet_format_name((enum facet_format)format));
        }
        *p = start + length;
        if (!facet_asm_emit(a, bits, f->width / 8u)) {
            return false;
        }
    } while (facet_asm_more(p));
    return facet_asm_end_statement(a, p);
}

bool facet_asm_string(struct asm_context *a, const char **p, int zero)
{
    do {
        const char *start = *p = facet_lex_space(*p);

        if (*start != '"') {
            return facet_asm_error(a, start, 1, "expected a string in double quotes");
        }
        for (++*p; **p != '"';) {
            const char *at = *p;
            uint8_t c;

            if (!facet_lex_char(p, &c)) {
                if (*at == '\\') {
                    facet_asm_hint(a,
                                   "the escapes are \\n \\t \\r \\b \\f \\a \\v \\e \\\\ \\\" \\' "
                                   "\\ooo \\xhh");
                    return facet_asm_error(a, at, 2, "unknown escape");
                }
                return facet_asm_error(a, start, 1, "unterminated string");
            }
            if (!facet_asm_emit(a, c, 1)) {
                return false;
            }
        }
        ++*p;
        if (zero != 0 && !facet_asm_emit(a, 0, 1)) {
            return false;
        }
    } while (facet_asm_more(p));
    return facet_asm_end_statement(a, p);
}

bool facet_asm_fill_bytes(struct asm_context *a, uint64_t count, uint64_t value, unsigned size)
{
    uint8_t *place;

    if (size == 0 || count == 0) {
        return true;
    }
    if (a->section->nobits && value != 0) {
        return facet_asm_error(
            a, a->statement, 1, "section %s reserves space and holds no data", a->section->name);
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

bool facet_asm_count(struct asm_context *a, const char **p, int64_t *count)
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

bool facet_asm_space(struct asm_context *a, const char **p, int unused)
{
    int64_t count, value = 0;

    (void)unused;
    return facet_asm_count(a, p, &count) &&
           (!facet_asm_more(p) || facet_asm_constant(a, p, &value)) &&
           facet_asm_fill_bytes(a, (uint64_t)count, (uint64_t)value & 0xFF, 1) &&
           facet_asm_end_statement(a, p);
}

bool facet_asm_fill(struct asm_context *a, const char **p, int unused)
{
    int64_t count, size = 1, value = 0;

    (void)unused;
    if (!facet_asm_count(a, p, &count) || (facet_asm_more(p) && !facet_asm_count(a, p, &size)) ||
        (facet_asm_more(p) && !facet_asm_constant(a, p, &value))) {
        return false;
    }
    if (size > 8) {
        return facet_asm_error(a, a->statement, 5, "the size can be 0 to 8");
    }
    return facet_asm_fill_bytes(a, (uint64_t)count, (uint64_t)value, (unsigned)size) &&
           facet_asm_end_statement(a, p);
}

/* What code is padded with: as many whole instructions as fit, the odd bytes first. */
static bool pad_code(struct asm_context *a, uint64_t count)
{
    if (a->isa == FACET_ISA_TILE) {
        uint64_t odd = count % 4;

        return facet_asm_fill_bytes(a, odd, 0, 1) &&
               facet_asm_fill_bytes(a, count / 4, 0x00000017, 4);
    }
    return facet_asm_fill_bytes(a, count % 2, 0, 1) &&
           facet_asm_fill_bytes(a, count % 4 / 2, 0x0001, 2) &&
           facet_asm_fill_bytes(a, count / 4, 0x00000013, 4);
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
    return facet_asm_fill_bytes(a, gap, value & 0xFF, 1);
}

/* `power`: the operand is an exponent. [, fill [, most bytes to skip]] */
bool facet_asm_alignment(struct asm_context *a, const char **p, int power)
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
    if (power != 0 ? n < 0 || n > 20 : n < 1 || n > ASM_MAX_ALIGN || (n & (n - 1)) != 0) {
        facet_asm_hint(a,
                       power != 0 ? "expected an exponent of two, 0 to 20"
                                  : "expected a power of two, 1 to 1048576");
        return facet_asm_error(a, start, (size_t)(*p - start), "cannot align to %" PRId64, n);
    }
    n = power != 0 ? INT64_C(1) << n : n;
    if (facet_asm_more(p)) {
        if (**p != ',') {
            filled = true;
            if (!facet_asm_constant(a, p, &value)) {
                return false;
            }
        }
        if (facet_asm_more(p) && !facet_asm_constant(a, p, &most)) {
            return false;
        }
    }
    if ((int64_t)((0 - a->section->size) & (uint64_t)(n - 1)) > most) {
        return facet_asm_end_statement(a, p);
    }
    return facet_asm_align(a, (uint64_t)n, filled, (uint64_t)value) &&
           facet_asm_end_statement(a, p);
}

bool facet_asm_org(struct asm_context *a, const char **p, int unused)
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
            a, start, (size_t)(*p - start), "expected an offset or a label of this section");
    }
    if (facet_asm_more(p) && !facet_asm_constant(a, p, &value)) {
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
    return facet_asm_fill_bytes(
               a, (uint64_t)term.value.number - a->section->size, (uint64_t)value & 0xFF, 1) &&
           facet_asm_end_statement(a, p);
}
