/* See strbuf.h. */
#include "base/strbuf.h"
#include "base/require.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void facet_strbuf_init(struct facet_strbuf *buf)
{
    memset(buf, 0, sizeof *buf);
}

void facet_strbuf_free(struct facet_strbuf *buf)
{
    free(buf->text);
    facet_strbuf_init(buf);
}

void facet_strbuf_clear(struct facet_strbuf *buf)
{
    buf->length = 0;
    if (buf->text != NULL) {
        buf->text[0] = '\0';
    }
}

bool facet_strbuf_reserve(struct facet_strbuf *buf, size_t extra)
{
    size_t need = buf->length + extra + 1;
    size_t capacity = buf->capacity != 0 ? buf->capacity : 256;
    char *text;

    if (buf->failed) {
        return false;
    }
    if (extra > SIZE_MAX / 2 || need < extra) {
        buf->failed = true;
        return false;
    }
    if (need <= buf->capacity) {
        return true;
    }
    while (capacity < need) {
        if (capacity > SIZE_MAX / 2) {
            buf->failed = true;
            return false;
        }
        capacity *= 2;
    }
    text = realloc(buf->text, capacity);
    if (text == NULL) {
        buf->failed = true;
        return false;
    }
    buf->text = text;
    buf->capacity = capacity;
    return true;
}

void facet_strbuf_add(struct facet_strbuf *buf, const char *bytes, size_t length)
{
    FACET_REQUIRE(bytes != NULL || length == 0);
    if (!facet_strbuf_reserve(buf, length)) {
        return;
    }
    if (length != 0) {
        memcpy(buf->text + buf->length, bytes, length);
    }
    buf->length += length;
    buf->text[buf->length] = '\0';
}

void facet_strbuf_puts(struct facet_strbuf *buf, const char *text)
{
    FACET_REQUIRE(text != NULL);
    facet_strbuf_add(buf, text, strlen(text));
}

void facet_strbuf_putc(struct facet_strbuf *buf, char c)
{
    facet_strbuf_add(buf, &c, 1);
}

void facet_strbuf_vprintf(struct facet_strbuf *buf, const char *format, va_list args)
{
    va_list copy;
    int length;

    va_copy(copy, args);
    length = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    if (length < 0) {
        buf->failed = true;
        return;
    }
    if (!facet_strbuf_reserve(buf, (size_t)length)) {
        return;
    }
    (void)vsnprintf(buf->text + buf->length, (size_t)length + 1, format, args);
    buf->length += (size_t)length;
}

void facet_strbuf_printf(struct facet_strbuf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    facet_strbuf_vprintf(buf, format, args);
    va_end(args);
}

const char *facet_strbuf_text(const struct facet_strbuf *buf)
{
    return buf->text != NULL ? buf->text : "";
}

void facet_strbuf_escaped(struct facet_strbuf *buf, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            facet_strbuf_puts(buf, "&amp;");
            break;
        case '<':
            facet_strbuf_puts(buf, "&lt;");
            break;
        case '>':
            facet_strbuf_puts(buf, "&gt;");
            break;
        case '"':
            facet_strbuf_puts(buf, "&quot;");
            break;
        default:
            facet_strbuf_putc(buf, (unsigned char)*text < ' ' ? ' ' : *text);
            break;
        }
    }
}
