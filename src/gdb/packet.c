/* See packet.h. Nothing here trusts the bytes: every state takes every byte. */
#include "gdb/packet.h"

#include <string.h>

enum { INTERRUPT_BYTE = 0x03, ESCAPE_BIT = 0x20 };

int facet_gdb_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void add_byte(struct facet_gdb_reader *r, uint8_t byte)
{
    if (r->length < FACET_GDB_PACKET_BYTES) {
        r->data[r->length++] = (char)byte;
    } else {
        r->too_long = true;
    }
}

static void start_payload(struct facet_gdb_reader *r)
{
    r->state = FACET_GDB_PAYLOAD;
    r->sum = 0;
    r->length = 0;
    r->too_long = false;
}

static enum facet_gdb_event read_outside(struct facet_gdb_reader *r, uint8_t byte)
{
    switch (byte) {
    case '$':
        start_payload(r);
        return FACET_GDB_NOTHING;
    case '+':
        return FACET_GDB_ACK;
    case '-':
        return FACET_GDB_NAK;
    case INTERRUPT_BYTE:
        return FACET_GDB_INTERRUPT;
    default:
        return FACET_GDB_NOTHING;
    }
}

static enum facet_gdb_event finish(struct facet_gdb_reader *r)
{
    int high = facet_gdb_hex_digit(r->sum_text[0]), low = facet_gdb_hex_digit(r->sum_text[1]);

    r->state = FACET_GDB_OUTSIDE;
    r->data[r->length] = '\0';
    if (r->too_long) {
        return FACET_GDB_TOO_LONG;
    }
    return high >= 0 && low >= 0 && high * 16 + low == r->sum ? FACET_GDB_PACKET
                                                              : FACET_GDB_DAMAGED;
}

enum facet_gdb_event facet_gdb_read_byte(struct facet_gdb_reader *r, uint8_t byte)
{
    switch (r->state) {
    case FACET_GDB_PAYLOAD:
        if (byte == '$') { /* the rest of the last frame was lost */
            start_payload(r);
        } else if (byte == '#') {
            r->state = FACET_GDB_SUM;
            r->sum_chars = 0;
        } else {
            r->sum = (uint8_t)(r->sum + byte);
            if (byte == '}') {
                r->state = FACET_GDB_ESCAPED;
            } else {
                add_byte(r, byte);
            }
        }
        return FACET_GDB_NOTHING;
    case FACET_GDB_ESCAPED:
        r->sum = (uint8_t)(r->sum + byte);
        add_byte(r, byte ^ ESCAPE_BIT);
        r->state = FACET_GDB_PAYLOAD;
        return FACET_GDB_NOTHING;
    case FACET_GDB_SUM:
        r->sum_text[r->sum_chars++] = (char)byte;
        return r->sum_chars == 2 ? finish(r) : FACET_GDB_NOTHING;
    default:
        return read_outside(r, byte);
    }
}

void facet_gdb_frame(struct facet_strbuf *out, const char *payload, size_t length)
{
    uint8_t sum = 0;

    facet_strbuf_putc(out, '$');
    for (size_t i = 0; i < length; i++) {
        char c = payload[i];

        if (c == '#' || c == '$' || c == '}' || c == '*') {
            facet_strbuf_putc(out, '}');
            sum = (uint8_t)(sum + '}');
            c = (char)(c ^ ESCAPE_BIT);
        }
        facet_strbuf_putc(out, c);
        sum = (uint8_t)(sum + (uint8_t)c);
    }
    facet_strbuf_printf(out, "#%02x", sum);
}

/* ---- taking apart -----------------------------------------------------------------------------
 */

bool facet_gdb_take_hex(struct facet_gdb_text *text, uint64_t *value)
{
    const char *at = text->at;
    uint64_t sum = 0;

    for (; at < text->end && at - text->at < 16 && facet_gdb_hex_digit(*at) >= 0; at++) {
        sum = sum << 4 | (uint64_t)facet_gdb_hex_digit(*at);
    }
    if (at == text->at || (at < text->end && facet_gdb_hex_digit(*at) >= 0)) {
        return false;
    }
    text->at = at;
    *value = sum;
    return true;
}

bool facet_gdb_take_char(struct facet_gdb_text *text, char c)
{
    if (text->at == text->end || *text->at != c) {
        return false;
    }
    text->at++;
    return true;
}

bool facet_gdb_take_word(struct facet_gdb_text *text, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0) {
        return false;
    }
    text->at += length;
    return true;
}

bool facet_gdb_take_bytes(struct facet_gdb_text *text, uint8_t *bytes, size_t size)
{
    if ((size_t)(text->end - text->at) / 2 < size) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        int high = facet_gdb_hex_digit(text->at[2 * i]);
        int low = facet_gdb_hex_digit(text->at[2 * i + 1]);

        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    text->at += 2 * size;
    return true;
}

void facet_gdb_put_hex(struct facet_strbuf *out, const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *b = bytes;

    for (size_t i = 0; i < size; i++) {
        facet_strbuf_putc(out, digits[b[i] >> 4]);
        facet_strbuf_putc(out, digits[b[i] & 15]);
    }
}
