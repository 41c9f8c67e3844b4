/* See plain.h. */
#include "base/plain.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* How many bytes the first one announces, 0 when nothing begins with it. */
static size_t announced(unsigned char first)
{
    return first < 0x80   ? 1
           : first < 0xC2 ? 0
           : first < 0xE0 ? 2
           : first < 0xF0 ? 3
           : first < 0xF5 ? 4
                          : 0;
}

/* Length of the valid UTF-8 sequence at `at`, 0 when there is none. */
static size_t decode(const char *at, size_t left, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = announced((unsigned char)at[0]);

    if (length > left) {
        return 0;
    }
    *code = (unsigned char)at[0] & (length == 1 ? 0x7FU : 0x7FU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (at[i] & 0x3FU);
    }
    return *code < least[length] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000)
               ? 0
               : length;
}

static bool only_shows_itself(uint32_t code)
{
    bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);

    return !control && !turns;
}

size_t facet_plain_length(const char *at, size_t left)
{
    uint32_t code = 0;
    size_t length = decode(at, left, &code);

    return only_shows_itself(code) ? length : 0;
}

bool facet_plain_is_cut(const char *at, size_t left)
{
    for (size_t i = 1; i < left; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return false;
        }
    }
    return left < announced((unsigned char)at[0]);
}

size_t facet_plain_char(const char *at, size_t left, char shown[FACET_PLAIN_MOST], size_t *used)
{
    char text[FACET_PLAIN_MOST + 1];
    uint32_t code = 0;
    size_t length = decode(at, left, &code);
    bool raw = length != 0 && only_shows_itself(code);

    *used = length != 0 ? length : 1;
    if (raw) {
        memcpy(shown, at, length);
        return length;
    }
    length = (size_t)(length != 0 ? snprintf(text, sizeof text, "\\u%04x", (unsigned)code & 0xFFFF)
                                  : snprintf(text, sizeof text, "\\x%02x", (unsigned char)at[0]));
    memcpy(shown, text, length);
    return length;
}

void facet_plain_text(char *to, size_t size, const char *text, size_t length)
{
    size_t done = 0;

    for (size_t at = 0, used; at < length; at += used) {
        char shown[FACET_PLAIN_MOST];
        size_t more = facet_plain_char(text + at, length - at, shown, &used);

        if (done + more >= size) {
            break;
        }
        memcpy(to + done, shown, more);
        done += more;
    }
    to[done] = '\0';
}
