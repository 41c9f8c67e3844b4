/* Words and text of the two intersect instructions: section 9.1 and the opcode of section 10 of
 * gfx12-semantics.md. The rest of the shader instruction set is not modelled. */
#include <facet/gfx12.h>

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OP_DUAL = 0x80, OP_BVH8 = 0x81 };
#define VIMAGE_FIXED UINT32_C(0xD3C00010) /* encoding, dmask 0xF, r128 */

static const char *const mnemonics[2] = {"image_bvh8_intersect_ray",
                                         "image_bvh_dual_intersect_ray"};

/* Registers of the five address groups; the last one has two in the dual form. */
static unsigned group_size(unsigned group, bool dual)
{
    static const uint8_t sizes[5] = {2, 2, 3, 3, 1};
    return sizes[group] + (group == 4 && dual ? 1u : 0u);
}

void facet_gfx12_vimage_encode(const struct facet_gfx12_vimage *in, uint32_t words[3])
{
    words[0] = VIMAGE_FIXED | (uint32_t)(in->dual ? OP_DUAL : OP_BVH8) << 14;
    words[1] = in->vdata | (uint32_t)in->rsrc << 9 | (uint32_t)in->vaddr[4] << 24;
    words[2] = in->vaddr[0] | (uint32_t)in->vaddr[1] << 8 | (uint32_t)in->vaddr[2] << 16 |
               (uint32_t)in->vaddr[3] << 24;
}

bool facet_gfx12_vimage_decode(const uint32_t words[3], struct facet_gfx12_vimage *out)
{
    uint32_t again[3];
    *out = (struct facet_gfx12_vimage){
        .dual = (words[0] >> 14 & 0xFF) == OP_DUAL,
        .vdata = (uint8_t)words[1],
        .vaddr = {(uint8_t)words[2],
                  (uint8_t)(words[2] >> 8),
                  (uint8_t)(words[2] >> 16),
                  (uint8_t)(words[2] >> 24),
                  (uint8_t)(words[1] >> 24)},
        .rsrc = (uint8_t)(words[1] >> 9 & 0x7F),
    };
    facet_gfx12_vimage_encode(out, again);
    if (memcmp(again, words, sizeof again) != 0 || out->rsrc % 4 != 0 || out->rsrc > 104 ||
        out->vdata > 246) {
        return false;
    }
    for (unsigned g = 0; g < 5; g++) {
        if (out->vaddr[g] + group_size(g, out->dual) > 256) {
            return false;
        }
    }
    return true;
}

/* ---- text ---- */

struct scanner {
    const char *start;
    const char *at;
    struct facet_error *err;
};

static void skip_spaces(struct scanner *s)
{
    s->at += strspn(s->at, " \t\r\n");
}

static bool expected(struct scanner *s, const char *what)
{
    size_t column = (size_t)(s->at - s->start) + 1;
    (void)facet_fail(s->err, FACET_ERR_INPUT, column, "column %zu: expected %s", column, what);
    return false;
}

static bool take(struct scanner *s, char c)
{
    const char text[4] = {'\'', c, '\'', '\0'};
    skip_spaces(s);
    if (*s->at != c) {
        return expected(s, text);
    }
    s->at++;
    return true;
}

static bool take_number(struct scanner *s, unsigned limit, unsigned *out)
{
    skip_spaces(s);
    unsigned value = 0;
    if (*s->at < '0' || *s->at > '9') {
        return expected(s, "a register number");
    }
    while (*s->at >= '0' && *s->at <= '9') {
        value = value * 10 + (unsigned)(*s->at - '0');
        if (value > limit) {
            return expected(s, limit == 255 ? "a register up to v255" : "a register up to s107");
        }
        s->at++;
    }
    *out = value;
    return true;
}

/* "v9" or "v[3:5]" with exactly `count` registers. */
static bool take_registers(struct scanner *s, char bank, unsigned count, uint8_t *first)
{
    unsigned limit = bank == 'v' ? 255 : 107;
    unsigned lo = 0, hi = 0;
    char what[48];
    (void)snprintf(
        what, sizeof what, count == 1 ? "%c register" : "%c register range of %u", bank, count);
    skip_spaces(s);
    if ((*s->at | 0x20) != bank) {
        return expected(s, what);
    }
    const char *begin = s->at++;
    if (*s->at == '[') {
        s->at++;
        if (!take_number(s, limit, &lo) || !take(s, ':') || !take_number(s, limit, &hi) ||
            !take(s, ']')) {
            return false;
        }
    } else if (!take_number(s, limit, &lo)) {
        return false;
    } else {
        hi = lo;
    }
    if (hi < lo || hi - lo + 1 != count) {
        s->at = begin;
        return expected(s, what);
    }
    if (bank == 's' && lo % 4 != 0) {
        s->at = begin;
        return expected(s, "a scalar register that is a multiple of 4");
    }
    *first = (uint8_t)lo;
    return true;
}

static bool take_mnemonic(struct scanner *s, bool *dual)
{
    skip_spaces(s);
    size_t length = strcspn(s->at, " \t\r\n");
    for (unsigned i = 0; i < 2; i++) {
        if (length == strlen(mnemonics[i]) && strncasecmp(s->at, mnemonics[i], length) == 0) {
            *dual = i == 1;
            s->at += length;
            return true;
        }
    }
    return expected(s, "image_bvh8_intersect_ray or image_bvh_dual_intersect_ray");
}

enum facet_status
facet_gfx12_vimage_parse(const char *text, struct facet_gfx12_vimage *out, struct facet_error *err)
{
    struct scanner s = {.start = text, .at = text, .err = err};
    memset(out, 0, sizeof *out);
    bool ok = take_mnemonic(&s, &out->dual) && take_registers(&s, 'v', 10, &out->vdata) &&
              take(&s, ',') && take(&s, '[');
    for (unsigned g = 0; g < 5 && ok; g++) {
        ok = (g == 0 || take(&s, ',')) &&
             take_registers(&s, 'v', group_size(g, out->dual), &out->vaddr[g]);
    }
    ok = ok && take(&s, ']') && take(&s, ',') && take_registers(&s, 's', 4, &out->rsrc);
    if (ok) {
        skip_spaces(&s);
        ok = *s.at == '\0' || expected(&s, "the end of the line");
    }
    return ok ? FACET_OK : FACET_ERR_INPUT;
}

size_t facet_gfx12_vimage_print(const struct facet_gfx12_vimage *in, char *text, size_t size)
{
    const uint8_t *a = in->vaddr;
    char node[16];
    (void)snprintf(node, sizeof node, in->dual ? "v[%u:%u]" : "v%u", a[4], a[4] + 1u);
    int length = snprintf(text,
                          size,
                          "%s v[%u:%u], [v[%u:%u], v[%u:%u], v[%u:%u], v[%u:%u], %s], s[%u:%u]",
                          mnemonics[in->dual ? 1 : 0],
                          in->vdata,
                          in->vdata + 9u,
                          a[0],
                          a[0] + 1u,
                          a[1],
                          a[1] + 1u,
                          a[2],
                          a[2] + 2u,
                          a[3],
                          a[3] + 2u,
                          node,
                          in->rsrc,
                          in->rsrc + 3u);
    return length < 0 ? 0 : (size_t)length;
}
