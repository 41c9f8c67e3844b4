/* Words and text of the two intersect and the stack instructions: sections 9.1, 10, 11.3 and
 * 11.5 of gfx12-semantics.md, bits from spec/gfx12.insn.tsv. The rest of the shader instruction set
 * is not modelled. */
#include "gfx12/insn.h"

#include "base/error.h"
#include "contract/gfx12_insns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Both have their fields at the same places. */
static const struct {
    const char *mnemonic;
    uint32_t match[3];
} forms[2] = {
    {FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY, FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY_MATCH},
    {FACET_GFX12_IMAGE_BVH_DUAL_INTERSECT_RAY, FACET_GFX12_IMAGE_BVH_DUAL_INTERSECT_RAY_MATCH},
};

enum {
    VDATA = FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY_VDATA_LSB,
    RSRC = FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY_RSRC_LSB,
};
static const uint8_t vaddr[5] = {FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY_VADDR0_LSB,
                                 FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY_VADDR1_LSB,
                                 FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY_VADDR2_LSB,
                                 FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY_VADDR3_LSB,
                                 FACET_GFX12_IMAGE_BVH8_INTERSECT_RAY_VADDR4_LSB};

/* The same for the two stack instructions. */
static const struct {
    const char *mnemonic;
    uint32_t match[2];
} stack_forms[2] = {
    {FACET_GFX12_DS_BVH_STACK_PUSH8_POP1_RTN_B32,
     FACET_GFX12_DS_BVH_STACK_PUSH8_POP1_RTN_B32_MATCH},
    {FACET_GFX12_DS_BVH_STACK_PUSH8_POP2_RTN_B64,
     FACET_GFX12_DS_BVH_STACK_PUSH8_POP2_RTN_B64_MATCH},
};

/* The hardware has it; the contract has its words and its text, not what it does (R-G12-119). */
#define FOUR_WIDE "ds_bvh_stack_push4_pop1_rtn_b32"
#define FOUR_WIDE_MATCH UINT32_C(0xDB800000) /* DS opcode 224 */

enum {
    OFFSET0 = FACET_GFX12_DS_BVH_STACK_PUSH8_POP1_RTN_B32_OFFSET0_LSB,
    OFFSET1 = FACET_GFX12_DS_BVH_STACK_PUSH8_POP1_RTN_B32_OFFSET1_LSB,
    ADDR = FACET_GFX12_DS_BVH_STACK_PUSH8_POP1_RTN_B32_ADDR_LSB,
    DATA0 = FACET_GFX12_DS_BVH_STACK_PUSH8_POP1_RTN_B32_DATA0_LSB,
    DATA1 = FACET_GFX12_DS_BVH_STACK_PUSH8_POP1_RTN_B32_DATA1_LSB,
    VDST = FACET_GFX12_DS_BVH_STACK_PUSH8_POP1_RTN_B32_VDST_LSB,
};

/* Eight bits at a bit of the words. */
static void put(uint32_t *words, unsigned lsb, uint8_t value)
{
    words[lsb / 32] |= (uint32_t)value << lsb % 32;
}

static uint8_t get(const uint32_t *words, unsigned lsb)
{
    return (uint8_t)(words[lsb / 32] >> lsb % 32);
}

/* Registers of the five address groups; the last one has two in the dual form. */
static unsigned group_size(unsigned group, bool dual)
{
    static const uint8_t sizes[5] = {2, 2, 3, 3, 1};
    return sizes[group] + (group == 4 && dual ? 1u : 0u);
}

void facet_gfx12_vimage_encode(const struct facet_gfx12_vimage *in, uint32_t words[3])
{
    memcpy(words, forms[in->dual ? 1 : 0].match, sizeof forms[0].match);
    put(words, VDATA, in->vdata);
    put(words, RSRC, in->rsrc);
    for (unsigned g = 0; g < 5; g++) {
        put(words, vaddr[g], in->vaddr[g]);
    }
}

bool facet_gfx12_vimage_decode(const uint32_t words[3], struct facet_gfx12_vimage *out)
{
    uint32_t again[3];

    *out = (struct facet_gfx12_vimage){
        .dual = words[0] == forms[1].match[0],
        .vdata = get(words, VDATA),
        .rsrc = get(words, RSRC) & 0x7F,
    };
    for (unsigned g = 0; g < 5; g++) {
        out->vaddr[g] = get(words, vaddr[g]);
    }
    facet_gfx12_vimage_encode(out, again);
    if (memcmp(again, words, sizeof again) != 0 || out->rsrc % 4 != 0 || out->rsrc > 100 ||
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

void facet_gfx12_ds_encode(const struct facet_gfx12_ds *in, uint32_t words[2])
{
    memcpy(words, stack_forms[in->pop2 ? 1 : 0].match, sizeof stack_forms[0].match);
    put(words, OFFSET0, in->offset0);
    put(words, OFFSET1, in->offset1);
    put(words, ADDR, in->addr);
    put(words, DATA0, in->data0);
    put(words, DATA1, in->data1);
    put(words, VDST, in->vdst);
}

bool facet_gfx12_ds_decode(const uint32_t words[2], struct facet_gfx12_ds *out)
{
    uint32_t again[2];

    *out = (struct facet_gfx12_ds){
        .pop2 = words[0] >> 16 == stack_forms[1].match[0] >> 16,
        .vdst = get(words, VDST),
        .addr = get(words, ADDR),
        .data0 = get(words, DATA0),
        .data1 = get(words, DATA1),
        .offset0 = get(words, OFFSET0),
        .offset1 = get(words, OFFSET1),
    };
    facet_gfx12_ds_encode(out, again);
    return memcmp(again, words, sizeof again) == 0 && out->data1 <= 248 &&
           (!out->pop2 || out->vdst <= 254);
}

unsigned
facet_gfx12_insn_decode(const uint32_t *words, unsigned count, struct facet_gfx12_insn *out)
{
    *out = (struct facet_gfx12_insn){.is_ds = false};
    if (count >= 3 && facet_gfx12_vimage_decode(words, &out->image)) {
        return 3;
    }
    out->is_ds = count >= 2 && facet_gfx12_ds_decode(words, &out->ds);
    return out->is_ds ? 2 : 0;
}

/* Its fields are where those of the other stack instructions are. */
static void encode_four_wide(const struct facet_gfx12_ds *in, uint32_t words[2])
{
    facet_gfx12_ds_encode(in, words);
    words[0] = FOUR_WIDE_MATCH | (words[0] & 0xFFFF);
}

unsigned facet_gfx12_insn_read(const uint32_t *words, unsigned count, struct facet_gfx12_insn *out)
{
    const unsigned length = facet_gfx12_insn_decode(words, count, out);

    if (length == 0 && count >= 2 && words[0] >> 16 == FOUR_WIDE_MATCH >> 16 &&
        get(words, DATA1) <= 252) {
        out->is_ds = out->four_wide = true; /* decode() has read the fields */
        return 2;
    }
    return length;
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

/* 0..15, more for any other character. */
static unsigned digit(char c)
{
    char low = (char)(c | 0x20);

    return c >= '0' && c <= '9'       ? (unsigned)(c - '0')
           : low >= 'a' && low <= 'f' ? (unsigned)(low - 'a' + 10)
                                      : 16;
}

/* `limit` is at least 15. */
static bool take_number(struct scanner *s, unsigned limit, const char *too_large, unsigned *out)
{
    unsigned value = 0, base = 10;
    const char *begin;

    skip_spaces(s);
    begin = s->at;
    if (s->at[0] == '0' && (s->at[1] | 0x20) == 'x') {
        base = 16;
        s->at += 2;
    }
    if (digit(*s->at) >= base) {
        return expected(s, base == 16 ? "hexadecimal digits" : "a number");
    }
    for (; digit(*s->at) < base; s->at++) {
        if (value > (limit - digit(*s->at)) / base) {
            s->at = begin;
            return expected(s, too_large);
        }
        value = value * base + digit(*s->at);
    }
    *out = value;
    return true;
}

/* "v9" or "v[3:5]" with exactly `count` registers. */
static bool take_registers(struct scanner *s, char bank, unsigned count, uint8_t *first)
{
    unsigned limit = bank == 'v' ? 255 : 105; /* behind s105 is vcc (R-G12-119) */
    const char *most = bank == 'v' ? "a register up to v255" : "a register up to s105";
    unsigned lo = 0, hi = 0;
    char what[48];
    const char *begin;

    (void)snprintf(
        what, sizeof what, count == 1 ? "%c register" : "%c register range of %u", bank, count);
    skip_spaces(s);
    if ((*s->at | 0x20) != bank) {
        return expected(s, what);
    }
    begin = s->at++;
    if (*s->at == '[') {
        s->at++;
        if (!take_number(s, limit, most, &lo) || !take(s, ':') ||
            !take_number(s, limit, most, &hi) || !take(s, ']')) {
            return false;
        }
    } else if (!take_number(s, limit, most, &lo)) {
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

/* Whether this mnemonic comes next; it is passed then. */
static bool take_word(struct scanner *s, const char *mnemonic)
{
    size_t length;

    skip_spaces(s);
    length = strcspn(s->at, " \t\r\n");
    if (length != strlen(mnemonic) || strncasecmp(s->at, mnemonic, length) != 0) {
        return false;
    }
    s->at += length;
    return true;
}

static bool take_end(struct scanner *s)
{
    skip_spaces(s);
    return *s->at == '\0' || expected(s, "the end of the line");
}

static bool take_mnemonic(struct scanner *s, bool *dual)
{
    *dual = take_word(s, forms[1].mnemonic);
    return *dual || take_word(s, forms[0].mnemonic) ||
           expected(s, "image_bvh8_intersect_ray or image_bvh_dual_intersect_ray");
}

enum facet_status
facet_gfx12_vimage_parse(const char *text, struct facet_gfx12_vimage *out, struct facet_error *err)
{
    struct scanner s = {.start = text, .at = text, .err = err};
    bool ok;

    memset(out, 0, sizeof *out);
    ok = take_mnemonic(&s, &out->dual) && take_registers(&s, 'v', 10, &out->vdata) &&
         take(&s, ',') && take(&s, '[');
    for (unsigned g = 0; g < 5 && ok; g++) {
        ok = (g == 0 || take(&s, ',')) &&
             take_registers(&s, 'v', group_size(g, out->dual), &out->vaddr[g]);
    }
    ok = ok && take(&s, ']') && take(&s, ',') && take_registers(&s, 's', 4, &out->rsrc);
    return ok && take_end(&s) ? FACET_OK : FACET_ERR_INPUT;
}

size_t facet_gfx12_vimage_print(const struct facet_gfx12_vimage *in, char *text, size_t size)
{
    const uint8_t *a = in->vaddr;
    char node[16];
    int length;

    (void)snprintf(node, sizeof node, in->dual ? "v[%u:%u]" : "v%u", a[4], a[4] + 1u);
    length = snprintf(text,
                      size,
                      "%s v[%u:%u], [v[%u:%u], v[%u:%u], v[%u:%u], v[%u:%u], %s], s[%u:%u]",
                      forms[in->dual ? 1 : 0].mnemonic,
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

/* ", N": a field of eight bits. */
static bool take_field(struct scanner *s, uint8_t *out)
{
    unsigned value = 0;
    bool ok = take(s, ',') && take_number(s, 255, "a number up to 255", &value);
    *out = (uint8_t)value;
    return ok;
}

/* ", OFFSET0, OFFSET1" as the contract writes it; or, as LLVM does, "offset:N" for both bytes, or
 * nothing, which is 0 (R-G12-100). */
static bool take_offsets(struct scanner *s, struct facet_gfx12_ds *out)
{
    static const char word[] = "offset";
    unsigned value = 0;

    skip_spaces(s);
    if (*s->at == ',') {
        return take_field(s, &out->offset0) && take_field(s, &out->offset1);
    }
    if (*s->at == '\0') {
        return true;
    }
    if (strncasecmp(s->at, word, sizeof word - 1) != 0) {
        return expected(s, "',' or 'offset:N'");
    }
    s->at += sizeof word - 1;
    if (!take(s, ':') || !take_number(s, 0xFFFF, "an offset up to 65535", &value)) {
        return false;
    }
    out->offset0 = (uint8_t)value;
    out->offset1 = (uint8_t)(value >> 8);
    return true;
}

/* What follows the name. */
static bool take_operands(struct scanner *s, unsigned wide, struct facet_gfx12_ds *out)
{
    return take_registers(s, 'v', out->pop2 ? 2 : 1, &out->vdst) && take(s, ',') &&
           take_registers(s, 'v', 1, &out->addr) && take(s, ',') &&
           take_registers(s, 'v', 1, &out->data0) && take(s, ',') &&
           take_registers(s, 'v', wide, &out->data1) && take_offsets(s, out) && take_end(s);
}

enum facet_status
facet_gfx12_ds_parse(const char *text, struct facet_gfx12_ds *out, struct facet_error *err)
{
    struct scanner s = {.start = text, .at = text, .err = err};
    bool ok;

    memset(out, 0, sizeof *out);
    out->pop2 = take_word(&s, stack_forms[1].mnemonic);
    ok = (out->pop2 || take_word(&s, stack_forms[0].mnemonic) ||
          expected(&s, "ds_bvh_stack_push8_pop1_rtn_b32 or ds_bvh_stack_push8_pop2_rtn_b64")) &&
         take_operands(&s, 8, out);
    return ok ? FACET_OK : FACET_ERR_INPUT;
}

/* The instruction with what stands for the two offsets. */
static size_t print_ds(
    const struct facet_gfx12_ds *in, bool four_wide, const char *offsets, char *text, size_t size)
{
    char vdst[16];
    int length;

    (void)snprintf(vdst, sizeof vdst, in->pop2 ? "v[%u:%u]" : "v%u", in->vdst, in->vdst + 1u);
    length = snprintf(text,
                      size,
                      "%s %s, v%u, v%u, v[%u:%u]%s",
                      four_wide ? FOUR_WIDE : stack_forms[in->pop2 ? 1 : 0].mnemonic,
                      vdst,
                      in->addr,
                      in->data0,
                      in->data1,
                      in->data1 + (four_wide ? 3u : 7u),
                      offsets);
    return length < 0 ? 0 : (size_t)length;
}

static size_t print_fields(const struct facet_gfx12_ds *in, bool four_wide, char *text, size_t size)
{
    char offsets[16];

    (void)snprintf(offsets, sizeof offsets, ", %u, %u", in->offset0, in->offset1);
    return print_ds(in, four_wide, offsets, text, size);
}

size_t facet_gfx12_ds_print(const struct facet_gfx12_ds *in, char *text, size_t size)
{
    return print_fields(in, false, text, size);
}

size_t facet_gfx12_insn_print(const struct facet_gfx12_insn *in, char *text, size_t size)
{
    return in->is_ds ? print_fields(&in->ds, in->four_wide, text, size)
                     : facet_gfx12_vimage_print(&in->image, text, size);
}

size_t facet_gfx12_insn_print_llvm(const struct facet_gfx12_insn *in, char *text, size_t size)
{
    unsigned offset = in->ds.offset0 | (unsigned)in->ds.offset1 << 8;
    char offsets[16] = "";

    if (!in->is_ds) {
        return facet_gfx12_vimage_print(&in->image, text, size);
    }
    if (offset != 0) {
        (void)snprintf(offsets, sizeof offsets, " offset:%u", offset);
    }
    return print_ds(&in->ds, in->four_wide, offsets, text, size);
}

const char *facet_gfx12_insn_name(const struct facet_gfx12_insn *in)
{
    return in->four_wide ? FOUR_WIDE
           : in->is_ds   ? stack_forms[in->ds.pop2 ? 1 : 0].mnemonic
                         : forms[in->image.dual ? 1 : 0].mnemonic;
}

unsigned facet_gfx12_insn_parse(const char *text, uint32_t words[3], struct facet_error *err)
{
    struct scanner s = {.start = text, .at = text, .err = err};
    struct facet_gfx12_insn in = {.is_ds = false};
    const char *start = text + strspn(text, " \t\r\n");

    if (take_word(&s, FOUR_WIDE)) {
        if (!take_operands(&s, 4, &in.ds)) {
            return 0;
        }
        encode_four_wide(&in.ds, words);
        return 2;
    }
    if (strncasecmp(start, "ds_", 3) == 0) {
        if (facet_gfx12_ds_parse(text, &in.ds, err) != FACET_OK) {
            return 0;
        }
        facet_gfx12_ds_encode(&in.ds, words);
        return 2;
    }
    if (facet_gfx12_vimage_parse(text, &in.image, err) != FACET_OK) {
        return 0;
    }
    facet_gfx12_vimage_encode(&in.image, words);
    return 3;
}
