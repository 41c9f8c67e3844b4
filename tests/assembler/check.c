/* See check.h. */
#include "check.h"

#include <stdarg.h>

void check_words(enum facet_isa isa, const char *text, unsigned count, ...)
{
    struct assembled a = assemble_text(isa, text);
    va_list args;

    if (CHECK_MSG(a.status == FACET_OK, "%s: %s", text, first_error(&a))) {
        CHECK_MSG(a.size == 4 * count, "%s: %zu bytes, expected %u", text, a.size, 4 * count);
        va_start(args, count);
        for (unsigned i = 0; i < count; i++) {
            uint32_t expected = va_arg(args, uint32_t), got = word_at(&a, 4 * i);

            CHECK_MSG(
                got == expected, "%s: word %u is 0x%08x, expected 0x%08x", text, i, got, expected);
        }
        va_end(args);
    }
    assembled_free(&a);
}

void check_bytes_of(enum facet_isa isa, const char *text, const char *bytes, size_t size)
{
    struct assembled a = assemble_text(isa, text);

    CHECK_MSG(a.status == FACET_OK, "%s: %s", text, first_error(&a));
    CHECK_MSG(a.size == size && memcmp(a.bytes, bytes, size) == 0,
              "%s: wrong bytes (%zu of them)",
              text,
              a.size);
    assembled_free(&a);
}

void check_same(enum facet_isa isa, const char *text, const char *other)
{
    struct assembled a = assemble_text(isa, text), b = assemble_text(isa, other);

    CHECK_MSG(a.status == FACET_OK, "%s: %s", text, first_error(&a));
    CHECK_MSG(b.status == FACET_OK, "%s: %s", other, first_error(&b));
    CHECK_MSG(a.size == b.size && a.size != 0 && memcmp(a.bytes, b.bytes, a.size) == 0,
              "`%s` and `%s` differ: 0x%08x 0x%08x",
              text,
              other,
              word_at(&a, 0),
              word_at(&b, 0));
    assembled_free(&a);
    assembled_free(&b);
}

void check_error(enum facet_isa isa,
                 const char *text,
                 unsigned line,
                 unsigned column,
                 const char *message,
                 const char *hint)
{
    struct assembled a = assemble_text(isa, text);
    const struct facet_diag *d = a.result.diags.count != 0 ? &a.result.diags.items[0] : NULL;

    CHECK_MSG(a.status == FACET_ERR_INPUT && a.result.object == NULL, "%s: no error", text);
    if (d != NULL) {
        CHECK_MSG(d->line == line && d->column == column,
                  "%s: error at %u:%u (%s), expected %u:%u",
                  text,
                  d->line,
                  d->column,
                  d->message,
                  line,
                  column);
        CHECK_MSG(strstr(d->message, message) != NULL,
                  "%s: message `%s`, expected `%s`",
                  text,
                  d->message,
                  message);
        CHECK_MSG(
            strstr(d->hint, hint) != NULL, "%s: hint `%s`, expected `%s`", text, d->hint, hint);
        CHECK_STR(d->file, "t.s");
    }
    assembled_free(&a);
}

int64_t value_of(enum facet_isa isa, const char *expression)
{
    char text[2048];
    struct assembled a;
    uint64_t value = 0;

    (void)snprintf(text, sizeof text, ".dword %s\n", expression);
    a = assemble_text(isa, text);
    CHECK_MSG(a.status == FACET_OK && a.size == 8, "%s: %s", expression, first_error(&a));
    if (a.size == 8) {
        value = word_at(&a, 0) | (uint64_t)word_at(&a, 4) << 32;
    }
    assembled_free(&a);
    return (int64_t)value;
}
