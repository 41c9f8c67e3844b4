/* A growing text buffer. After an allocation failure it stays empty-handed but valid: `failed` is
 * set, later appends do nothing, and the one who hands the text out checks `failed` once. */
#ifndef FACET_BASE_STRBUF_H
#define FACET_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct facet_strbuf {
    char *text; /* NUL-terminated when size > 0 */
    size_t length;
    size_t capacity;
    bool failed;
};

void facet_strbuf_init(struct facet_strbuf *buf);
void facet_strbuf_free(struct facet_strbuf *buf);
void facet_strbuf_clear(struct facet_strbuf *buf);
/* Room for `extra` more bytes and the terminator; false when there is none (`failed` is set). */
bool facet_strbuf_reserve(struct facet_strbuf *buf, size_t extra);
void facet_strbuf_add(struct facet_strbuf *buf, const char *bytes, size_t length);
void facet_strbuf_puts(struct facet_strbuf *buf, const char *text);
void facet_strbuf_putc(struct facet_strbuf *buf, char c);
void facet_strbuf_printf(struct facet_strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void facet_strbuf_vprintf(struct facet_strbuf *buf, const char *format, va_list args);
/* Text between the tags and in the attributes of HTML and XML; control characters become blanks. */
void facet_strbuf_escaped(struct facet_strbuf *buf, const char *text);
/* The text, "" when nothing was appended; owned by the buffer. */
const char *facet_strbuf_text(const struct facet_strbuf *buf);

#endif
