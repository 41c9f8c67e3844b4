/* The characters of assembly text: classes, names, numbers, strings. Texts end with a NUL, so that
 * no function needs an end pointer; a NUL is in no class. */
#ifndef FACET_ASSEMBLER_LEX_H
#define FACET_ASSEMBLER_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum facet_lex_class {
    FACET_LEX_SPACE = 1, /* blank, tab, carriage return */
    FACET_LEX_NAME = 2,  /* letters, digits, _ . $ and bytes above 127 */
    FACET_LEX_START = 4, /* what a name may start with: as NAME without digits */
    FACET_LEX_DIGIT = 8,
};
extern const uint8_t facet_lex_classes[256];

static inline bool facet_lex_is(char c, unsigned classes)
{
    return (facet_lex_classes[(unsigned char)c] & classes) != 0;
}

static inline char facet_lex_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Past a block comment that starts at p; p itself when it is unterminated. */
const char *facet_lex_comment(const char *p);

/* Past blanks and block comments. An unterminated comment stays: its slash is then an
 * unexpected character. */
static inline const char *facet_lex_space(const char *p)
{
    for (;;) {
        const char *q;

        while (facet_lex_is(*p, FACET_LEX_SPACE)) {
            p++;
        }
        if (p[0] != '/' || p[1] != '*') {
            return p;
        }
        q = facet_lex_comment(p);

        if (q == p) {
            return p;
        }
        p = q;
    }
}

static inline const char *facet_lex_name(const char *p)
{
    while (facet_lex_is(*p, FACET_LEX_NAME)) {
        p++;
    }
    return p;
}

/* text[0..length) is `name`, any case. */
bool facet_lex_same(const char *text, size_t length, const char *name);

enum facet_lex_number {
    FACET_LEX_NUMBER,
    FACET_LEX_LOCAL,   /* 1b, 1f: the digits up to the letter */
    FACET_LEX_TOO_BIG, /* more than 64 bits */
    FACET_LEX_BAD,     /* a letter or digit that does not belong there */
};
/* Decimal, 0x, 0b; with `octal` a leading 0 makes a number octal. *p is moved past the number
 * (for BAD: onto the offending character). */
enum facet_lex_number facet_lex_number(const char **p, bool octal, uint64_t *value);

/* One character of a string or character literal, escapes resolved. false at the end of the line
 * and for an unknown escape. */
bool facet_lex_char(const char **p, uint8_t *value);

#endif
