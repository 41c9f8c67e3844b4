/* See lex.h. */
#include "assembler/lex.h"

#define N FACET_LEX_NAME
#define S (FACET_LEX_NAME | FACET_LEX_START)
#define D (FACET_LEX_NAME | FACET_LEX_DIGIT)
#define B FACET_LEX_SPACE
/* clang-format off */
const uint8_t facet_lex_classes[256] = {
    ['\t'] = B, [' '] = B, ['\r'] = B, ['\f'] = B, ['\v'] = B,
    ['$'] = S, ['.'] = S, ['_'] = S,
    ['0'] = D, ['1'] = D, ['2'] = D, ['3'] = D, ['4'] = D,
    ['5'] = D, ['6'] = D, ['7'] = D, ['8'] = D, ['9'] = D,
    ['A'] = S, ['B'] = S, ['C'] = S, ['D'] = S, ['E'] = S, ['F'] = S, ['G'] = S, ['H'] = S,
    ['I'] = S, ['J'] = S, ['K'] = S, ['L'] = S, ['M'] = S, ['N'] = S, ['O'] = S, ['P'] = S,
    ['Q'] = S, ['R'] = S, ['S'] = S, ['T'] = S, ['U'] = S, ['V'] = S, ['W'] = S, ['X'] = S,
    ['Y'] = S, ['Z'] = S,
    ['a'] = S, ['b'] = S, ['c'] = S, ['d'] = S, ['e'] = S, ['f'] = S, ['g'] = S, ['h'] = S,
    ['i'] = S, ['j'] = S, ['k'] = S, ['l'] = S, ['m'] = S, ['n'] = S, ['o'] = S, ['p'] = S,
    ['q'] = S, ['r'] = S, ['s'] = S, ['t'] = S, ['u'] = S, ['v'] = S, ['w'] = S, ['x'] = S,
    ['y'] = S, ['z'] = S,
    [128 ... 255] = S,
};
/* clang-format on */

const char *facet_lex_comment(const char *p)
{
    const char *q = p + 2;

    while (*q != '\0') {
        if (q[0] == '*' && q[1] == '/') {
            return q + 2;
        }
        q++;
    }
    return p;
}

bool facet_lex_same(const char *text, size_t length, const char *name)
{
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '\0' || facet_lex_lower(text[i]) != facet_lex_lower(name[i])) {
            return false;
        }
    }
    return name[length] == '\0';
}

static int digit_value(char c)
{
    c = facet_lex_lower(c);
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static enum facet_lex_number digits(const char **p, unsigned base, uint64_t *value)
{
    const char *q = *p;
    uint64_t v = 0;
    bool fits = true;

    while (digit_value(*q) < (int)base) {
        unsigned d = (unsigned)digit_value(*q++);

        fits = fits && v <= (UINT64_MAX - d) / base;
        v = v * base + d;
    }
    *value = v;
    if (q == *p || facet_lex_is(*q, FACET_LEX_NAME)) {
        *p = q;
        return FACET_LEX_BAD;
    }
    *p = q;
    return fits ? FACET_LEX_NUMBER : FACET_LEX_TOO_BIG;
}

enum facet_lex_number facet_lex_number(const char **p, bool octal, uint64_t *value)
{
    const char *q = *p, *end = *p;
    char second = facet_lex_lower(q[1]);

    while (facet_lex_is(*end, FACET_LEX_DIGIT)) {
        end++;
    }
    if (end != q && (facet_lex_lower(*end) == 'b' || facet_lex_lower(*end) == 'f') &&
        !facet_lex_is(end[1], FACET_LEX_NAME)) {
        *p = end;
        return FACET_LEX_LOCAL;
    }
    if (q[0] == '0' && (second == 'x' || second == 'b')) {
        *p = q + 2;
        return digits(p, second == 'x' ? 16 : 2, value);
    }
    if (octal && q[0] == '0' && facet_lex_is(q[1], FACET_LEX_DIGIT)) {
        return digits(p, 8, value);
    }
    return digits(p, 10, value);
}

static bool escape(const char **p, uint8_t *value)
{
    static const char from[] = "nrtbfave0\\\"'";
    static const char to[] = "\n\r\t\b\f\a\v\033\0\\\"'";
    const char *q = *p;
    unsigned v = 0, count = 0;

    if (*q == 'x' || *q == 'X') {
        for (q++; digit_value(*q) < 16; q++, count++) {
            v = (v * 16 + (unsigned)digit_value(*q)) & 0xFF;
        }
    } else if (*q >= '0' && *q <= '7') {
        for (; count < 3 && *q >= '0' && *q <= '7'; q++, count++) {
            v = v * 8 + (unsigned)(*q - '0');
        }
    } else {
        for (unsigned i = 0; from[i] != '\0'; i++) {
            if (*q == from[i]) {
                v = (uint8_t)to[i];
                count = 1;
            }
        }
        q += count;
    }
    *p = q;
    *value = (uint8_t)v;
    return count != 0;
}

bool facet_lex_char(const char **p, uint8_t *value)
{
    if (**p == '\0' || **p == '\n') {
        return false;
    }
    if (**p == '\\') {
        ++*p;
        return escape(p, value);
    }
    *value = (uint8_t) * (*p)++;
    return true;
}
