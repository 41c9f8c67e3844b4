/* See subject.h. */
#include "subject.h"

#include "base/float.h"
#include "gfx/sample.h"
#include "harness.h"
#include "oracle.h"

#include <stdio.h>

/* ---- through src/gfx ---- */

struct recorder {
    const struct gfx_case *c;
    struct gfx_answer *answer;
};

static bool load(void *context, uint64_t address, unsigned bytes, uint32_t *word)
{
    const struct recorder *r = context;

    if (r->answer->accesses < GFX_REF_ACCESSES) {
        r->answer->address[r->answer->accesses] = address;
        r->answer->bytes[r->answer->accesses] = (uint8_t)bytes;
    }
    r->answer->accesses++;
    *word = 0;
    for (unsigned b = 0; b < bytes; b++) {
        *word |= (uint32_t)r->c->memory(r->c->context, address + b) << 8 * b;
    }
    return true;
}

/* An explanation has the same result, and nothing of what was in its place before. */
static void check_steps(const struct facet_gfx_numbers *n,
                        const struct facet_gfx_texture *texture,
                        const struct facet_gfx_sampling *sampling,
                        const struct facet_gfx_gather *gather,
                        const uint32_t out[4])
{
    struct facet_gfx_gather_steps steps[2];
    uint32_t again[4];
    unsigned flags = 0;

    for (unsigned i = 0; i < 2; i++) {
        memset(&steps[i], i == 0 ? 0 : 0xA5, sizeof steps[i]);
        facet_gfx_gather_finish(n, texture, sampling, gather, again, &steps[i], &flags);
        CHECK(memcmp(again, out, sizeof again) == 0);
    }
    CHECK(memcmp(&steps[0], &steps[1], sizeof steps[0]) == 0);
}

void gfx_subject(const struct gfx_case *c, struct gfx_answer *answer)
{
    struct recorder recorder = {c, answer};
    struct facet_gfx_numbers n;
    struct facet_gfx_texture texture;
    struct facet_gfx_sampling sampling;
    bool known;

    *answer = (struct gfx_answer){.flags = 0};
    memcpy(n.channel, c->conv, sizeof n.channel);
    known = c->desc ? facet_gfx_texture_of_desc(c->bytes, c->conv[0].elem, &texture)
                    : facet_gfx_texture_of_csrs(&c->csrs, c->conv[0].elem, &texture);
    if (!known) {
        answer->reserved = true;
        return;
    }
    sampling = (struct facet_gfx_sampling){
        .bilinear = c->gather ? c->filter : c->m,
        .srgb = texture.srgb && (c->gather || c->f),
        .raw = !c->gather && !c->convert,
        .wrap = (uint8_t)(c->w && !c->gather ? c->wrap : texture.wrap),
    };
    if (c->gather) {
        struct facet_gfx_gather gather;
        unsigned count = facet_gfx_gather_count(c->n, &texture, &answer->flags);

        facet_gfx_gather_begin(&n, &texture, c->slot, count, &gather, &answer->flags);
        facet_gfx_gather_plan(
            &n, &texture, &sampling, c->table, c->p, c->s, &gather, &answer->flags);
        CHECK(facet_gfx_gather_fetch(&texture, &gather, load, &recorder));
        facet_gfx_gather_finish(
            &n, &texture, &sampling, &gather, answer->out, NULL, &answer->flags);
        check_steps(&n, &texture, &sampling, &gather, answer->out);
    } else {
        struct facet_gfx_sample sample;

        facet_gfx_sample_plan(&n, &texture, &sampling, c->slot, c->t, &sample, &answer->flags);
        CHECK(facet_gfx_sample_fetch(&texture, &sample, load, &recorder));
        facet_gfx_sample_finish(
            &n, &texture, &sampling, &sample, answer->out, NULL, &answer->flags);
    }
}

/* ---- random cases ---- */

static uint64_t (*next)(void);

static unsigned below(unsigned n)
{
    return (unsigned)((next() >> 32) % n);
}

static bool one_in(unsigned n)
{
    return below(n) == 0;
}

static const enum facet_format elements[] = {
    FACET_FMT_FP32,
    FACET_FMT_FP16,
    FACET_FMT_BF16,
    FACET_FMT_BF16_LITE,
    FACET_FMT_E4M3,
    FACET_FMT_E5M2,
    FACET_FMT_INT32,
    FACET_FMT_INT16,
    FACET_FMT_INT8,
    FACET_FMT_INT4,
    FACET_FMT_INT2,
};

static void random_numbers(struct facet_conv conv[4])
{
    static const enum facet_format accs[] = {
        FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_INT32, FACET_FMT_INT16};
    struct facet_conv c = {
        .elem = (uint8_t)elements[one_in(4) ? 0 : below(11)],
        .acc = (uint8_t)accs[one_in(4) ? 0 : below(4)],
        .rm = (uint8_t)(one_in(2) ? 0 : below(5)),
        .nan_pol = (uint8_t)below(3),
        .ftz = one_in(4),
        .sat = one_in(3),
        .sat_mode = one_in(3),
        .mixed_step = one_in(5),
    };
    bool q = one_in(2);

    if (q) {
        c.uns = one_in(2);
        c.scale = (int16_t)(one_in(8) ? (int)below(256) - 128 : -(int)below(16) + (int)below(4));
    }
    for (unsigned k = 0; k < 4; k++) {
        conv[k] = c;
        if (q && one_in(2)) {
            conv[k].zp = (int16_t)((int)below(400) - 200);
        }
    }
}

/* A number near the texels, now and then anything. */
static uint32_t random_coordinate(const struct facet_conv *conv, double size)
{
    double value = ((double)(int64_t)(next() >> 12) / (double)(INT64_C(1) << 52) * 3 - 1) * size;
    struct ref_result r;
    uint64_t bits;

    if (conv->elem >= FACET_FMT_INT32 || one_in(12)) {
        return (uint32_t)next();
    }
    switch (below(16)) {
    case 0: { /* near the middle or the edge of a texel */
        value = (double)((int)below(40) - 10) * 0.5;
        value += (double)((int)below(5) - 2) / 512;
        break;
    }
    case 1: {
        static const double special[] = {
            0, -0.0, 1, -1, 1e38, -1e38, 65536, 32768.5, 1e-40, -1e-40};
        value = special[below(10)];
        break;
    }
    case 2: { /* infinities, NaNs, the largest, the smallest */
        static const uint32_t fp32[] = {0x7F800000,
                                        0xFF800000,
                                        0x7FC00000,
                                        0x7F800001,
                                        0x7F7FFFFF,
                                        0x00000001,
                                        0x80000001,
                                        0x4F000000,
                                        0xCF000000,
                                        0x57800000};
        static const uint32_t half[] = {
            0x7C00, 0xFC00, 0x7E00, 0x7C01, 0x7BFF, 1, 0x8001, 0x7F80, 0xFF80, 0x7F81};

        return conv->elem == FACET_FMT_FP32 ? fp32[below(10)] : half[below(10)];
    }
    default:
        break;
    }
    bits = facet_double_bits(value);
    r = ref_convert(
        conv->elem, FACET_FMT_FP64, bits, 0, &(struct facet_num_policy){.rm = FACET_RNE});
    return (uint32_t)r.bits;
}

static uint8_t hashed_byte(const void *context, uint64_t address)
{
    static const uint8_t few[16] = {0x00,
                                    0xFF,
                                    0x80,
                                    0x7F,
                                    0x01,
                                    0xFE,
                                    0x3F,
                                    0x7C,
                                    0x00,
                                    0xFF,
                                    0xFC,
                                    0x81,
                                    0x40,
                                    0xC0,
                                    0x10,
                                    0};
    const uint64_t seed = *(const uint64_t *)context;
    uint64_t z = (address ^ seed) * UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    z ^= z >> 32;
    return (seed & 3) == 0 ? few[z & 15] : (uint8_t)z;
}

static void put(uint8_t *p, uint64_t v, unsigned bytes)
{
    for (unsigned b = 0; b < bytes; b++) {
        p[b] = (uint8_t)(v >> 8 * b);
    }
}

static void random_texture(struct gfx_case *c)
{
    static const uint8_t packed[] = {0x40, 0x41, 0x42, 0x43};
    uint32_t w = one_in(40)   ? 0
                 : one_in(10) ? 65536 - below(3) + one_in(3) * 100000u
                              : 1 + below(9);
    uint32_t h = one_in(40) ? 0 : one_in(10) ? 65536 - below(3) : 1 + below(9);
    uint32_t fmt = one_in(4) ? (one_in(2) ? 0x30 : packed[below(4)]) : below(0x40);
    uint32_t swizzle = one_in(2) ? 0 : (uint32_t)next() & 0xFFF00;
    bool srgb = one_in(3), norm = one_in(2), planar = one_in(5);
    unsigned taps = one_in(6) ? below(32) : below(6);
    uint64_t border[2] = {next(), next()};

    if (one_in(60)) { /* reserved ones too */
        fmt = below(256);
    }
    if (one_in(2)) { /* borders that are numbers in most formats */
        border[0] = UINT64_C(0x3F0000003E800000);
        border[1] = UINT64_C(0x3F800000BF400000);
    }
    c->csrs = (struct facet_gfx_texture_csrs){
        .cfg = (uint64_t)norm << 6 | (uint64_t)srgb << 3 | (uint64_t)taps << 24,
        .wrap = below(4),
        .base = one_in(8) ? next() : UINT64_C(0x80001000),
        .pitch = one_in(4) ? next() >> 32 : 256,
        .wh = (uint64_t)h << 32 | w,
        .fmt = fmt | swizzle | (uint64_t)planar << 24,
        .stride1 = next() >> 44,
        .border = {border[0], border[1]},
    };
    put(c->bytes, c->csrs.base, 8);
    put(c->bytes + 8, c->csrs.pitch, 4);
    put(c->bytes + 12, w, 4);
    put(c->bytes + 16, h, 4);
    put(c->bytes + 20, fmt | swizzle | (uint32_t)next() << 20, 4);
    put(c->bytes + 24, next() << 2 | c->csrs.wrap, 4);
    put(c->bytes + 28, border[0], 8);
    put(c->bytes + 36, border[1], 8);
    put(c->bytes + 44,
        (next() & 0xFFFF00F8) | norm | (uint64_t)srgb << 1 | (uint64_t)planar << 2 |
            (uint64_t)(one_in(8) ? below(256) : taps) << 8,
        4);
    put(c->bytes + 48, c->csrs.stride1, 4);
    put(c->bytes + 52, next() >> 44, 4);
    put(c->bytes + 56, next(), 8);
}

void gfx_random_case(struct gfx_case *c, uint64_t (*random)(void))
{
    static uint64_t seed;
    double size;

    next = random;
    *c = (struct gfx_case){
        .desc = one_in(2),
        .m = one_in(2) || one_in(2),
        .f = one_in(2),
        .w = one_in(2),
        .t = one_in(4),
        .wrap = below(4),
        .convert = !one_in(8),
        .filter = one_in(2),
        .gather = one_in(5),
        .p = one_in(2),
        .s = one_in(2),
        .n = below(4) == 0 ? below(16) : below(5),
        .memory = hashed_byte,
        .context = &seed,
    };
    seed = next();
    random_numbers(c->conv);
    random_texture(c);
    size = (c->csrs.cfg >> 6 & 1) != 0 ? 1 : (double)(uint32_t)c->csrs.wh;
    for (unsigned k = 0; k < 4; k++) {
        c->slot[k] = random_coordinate(&c->conv[0], k < 2 ? size : 4);
    }
    for (unsigned k = 0; k < 48; k++) {
        c->table[k] = random_coordinate(&c->conv[0], 2);
    }
}

/* ---- comparison ---- */

static void describe(const struct gfx_case *c, char *text, size_t size)
{
    const struct facet_conv *v = &c->conv[0];

    snprintf(text,
             size,
             "%s E=%s ACC=%s rm=%u nan=%u ftz=%u sat=%u/%u uns=%u mixed=%u s=%d | %s fmt=%llx "
             "wh=%llx cfg=%llx wrap=%u m=%u f=%u w=%u/%u t=%u raw=%u filter=%u n=%u p=%u s=%u | "
             "%08x %08x %08x %08x",
             c->gather ? "GATH" : "SAMPLE",
             facet_format_name(v->elem),
             facet_format_name(v->acc),
             v->rm,
             v->nan_pol,
             v->ftz,
             v->sat,
             v->sat_mode,
             v->uns,
             v->mixed_step,
             v->scale,
             c->desc ? "desc" : "csr",
             (unsigned long long)c->csrs.fmt,
             (unsigned long long)c->csrs.wh,
             (unsigned long long)c->csrs.cfg,
             (unsigned)c->csrs.wrap,
             c->m,
             c->f,
             c->w,
             c->wrap,
             c->t,
             !c->convert,
             c->filter,
             c->n,
             c->p,
             c->s,
             c->slot[0],
             c->slot[1],
             c->slot[2],
             c->slot[3]);
}

bool gfx_compare(const struct gfx_case *c)
{
    struct gfx_answer got, want;
    char text[512];
    bool same;

    gfx_subject(c, &got);
    gfx_reference(c, &want);
    same = got.reserved == want.reserved && got.flags == want.flags &&
           got.accesses == want.accesses && memcmp(got.out, want.out, sizeof got.out) == 0;
    for (unsigned k = 0; same && k < got.accesses && k < GFX_REF_ACCESSES; k++) {
        same = got.address[k] == want.address[k] && got.bytes[k] == want.bytes[k];
    }
    if (same) {
        return true;
    }
    describe(c, text, sizeof text);
    return CHECK_MSG(false,
                     "%s: %08x %08x %08x %08x flags %x, %u accesses; expected %08x %08x %08x %08x "
                     "flags %x, %u accesses",
                     text,
                     got.out[0],
                     got.out[1],
                     got.out[2],
                     got.out[3],
                     got.flags,
                     got.accesses,
                     want.out[0],
                     want.out[1],
                     want.out[2],
                     want.out[3],
                     want.flags,
                     want.accesses);
}
