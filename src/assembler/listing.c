/* The listing of an assembly (see assemble.h):
 *
 *     line address          bytes                    source
 *        3 0000000080000004 13 05 15 00              addi a0, a0, 1
 *
 * A line has eight bytes; more follow below, and a long run is cut. */
#include "assembler/assemble.h"

#include <inttypes.h>
#include <string.h>

enum { PER_LINE = 8, MOST_LINES = 4 };

static void
put_bytes(struct facet_strbuf *out, const struct facet_section *s, uint64_t at, uint64_t n)
{
    for (uint64_t i = 0; i < PER_LINE; i++) {
        if (i < n) {
            facet_strbuf_printf(out, "%02x ", s->nobits ? 0u : s->data[at + i]);
        } else {
            facet_strbuf_puts(out, "   ");
        }
    }
}

static void put_span(struct facet_strbuf *out,
                     const struct facet_object *object,
                     const struct facet_asm_span *span,
                     uint32_t line,
                     const char *source,
                     size_t length)
{
    const struct facet_section *s = &object->sections[span->section];
    int digits = object->isa == FACET_ISA_TILE ? 8 : 16;

    for (uint64_t at = 0, row = 0; at < span->size; at += PER_LINE, row++) {
        uint64_t rest = span->size - at;

        if (row == MOST_LINES) {
            facet_strbuf_printf(out, "%7s %*s ... %" PRIu64 " bytes\n", "", digits, "", span->size);
            return;
        }
        if (row == 0 && line != 0) {
            facet_strbuf_printf(out, "%7" PRIu32 " ", line);
        } else {
            facet_strbuf_puts(out, "        ");
        }
        facet_strbuf_printf(out, "%0*" PRIx64 " ", digits, s->address + span->offset + at);
        put_bytes(out, s, span->offset + at, rest < PER_LINE ? rest : PER_LINE);
        if (row == 0 && source != NULL) {
            facet_strbuf_add(out, source, length);
        }
        facet_strbuf_putc(out, '\n');
    }
}

void facet_asm_listing(const struct facet_asm_result *result,
                       const char *text,
                       size_t size,
                       struct facet_strbuf *out)
{
    const struct facet_object *object = result->object;
    int digits = object != NULL && object->isa == FACET_ISA_TILE ? 8 : 16;
    size_t span = 0;
    uint32_t line = 1;

    for (const char *p = text; object != NULL && p < text + size; line++) {
        const char *end = memchr(p, '\n', (size_t)(text + size - p));
        size_t length = end != NULL ? (size_t)(end - p) : (size_t)(text + size - p);
        bool shown = false;

        while (span < result->span_count && result->spans[span].line <= line) {
            put_span(out, object, &result->spans[span], shown ? 0 : line, shown ? NULL : p, length);
            shown = true;
            span++;
        }
        if (!shown) {
            facet_strbuf_printf(out, "%7" PRIu32 " %*s %24s", line, digits, "", "");
            facet_strbuf_add(out, p, length);
            facet_strbuf_putc(out, '\n');
        }
        p += length + 1;
    }
}
