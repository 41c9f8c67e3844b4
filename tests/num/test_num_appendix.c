/* src/num against the normative C of numeric.md: appendix A (widen, narrow) over every format pair,
 * exhaustively for 16-bit sources, and appendix B (CSR images, composition, staging, SAE) over
 * random write sequences. The code is cut out of the specification at build time. */
#include "num/container.h"
#include "num/eff.h"
#include "sampling.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#include "num/appendix_a.h"
#include "num/appendix_b.h"
#pragma GCC diagnostic pop

/* element format to (EFF_PET, EFF_ALT_EN) of appendix A */
static const struct {
    uint8_t elem;
    int pet, alt;
} pets[] = {
    {FACET_FMT_FP16, P_FP16, 0},
    {FACET_FMT_FP32, P_FP32, 0},
    {FACET_FMT_BF16, P_BF16, 0},
    {FACET_FMT_BF16_LITE, P_BF16, 1},
    {FACET_FMT_E4M3, P_E4M3, 1},
    {FACET_FMT_E5M2, P_E5M2, 1},
    {FACET_FMT_INT8, P_INT8, 0},
    {FACET_FMT_INT16, P_INT16, 0},
    {FACET_FMT_INT32, P_INT32, 0},
    {FACET_FMT_INT4, P_INT4, 1},
    {FACET_FMT_INT2, P_INT2, 1},
};
enum { PETS = sizeof pets / sizeof pets[0] };
static const uint8_t accs[] = {FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_INT32, FACET_FMT_INT16};

struct state {
    struct facet_conv conv;
    nm_eff eff;
};

static struct state make(unsigned pet, unsigned accw, unsigned rm, bool ftz)
{
    struct state s = {
        .conv = {.elem = pets[pet].elem, .acc = accs[accw], .rm = (uint8_t)rm, .ftz = ftz},
        .eff = {.pet = pets[pet].pet,
                .alt = pets[pet].alt,
                .accw = (int)accw,
                .rm = (int)rm,
                .ftz = ftz},
    };

    return s;
}

static void quantize(struct state *s, bool uns, int zp, int scale)
{
    s->eff.q = 1;
    s->conv.uns = uns;
    s->eff.uns = uns;
    s->conv.zp = (int16_t)zp;
    s->eff.zp = zp;
    s->conv.scale = (int8_t)scale;
    s->eff.s = scale;
}

static bool same_widen(const struct state *s, uint32_t bits)
{
    unsigned fl = 0, want_fl = 0;
    uint32_t acc = facet_widen(&s->conv, bits, &fl);
    nm_acc want = nm_widen(&s->eff, bits, &want_fl);

    return CHECK_MSG(acc == (want.is_int ? (uint32_t)want.i : want.f) && fl == want_fl,
                     "widen %s(%x) to %s rm %u ftz %d q %d uns %d zp %d s %d: %x/%x",
                     facet_format_name(s->conv.elem),
                     bits,
                     facet_format_name(s->conv.acc),
                     s->conv.rm,
                     s->conv.ftz,
                     s->eff.q,
                     s->conv.uns,
                     s->conv.zp,
                     s->conv.scale,
                     acc,
                     fl);
}

static bool same_narrow(const struct state *s, uint32_t acc)
{
    unsigned fl = 0, want_fl = 0;
    uint32_t bits = facet_narrow(&s->conv, acc, &fl);
    nm_acc in = {s->eff.accw >= 2, (int32_t)acc, acc};
    uint32_t want = nm_narrow(&s->eff, in, &want_fl);

    return CHECK_MSG(bits == want && fl == want_fl,
                     "narrow %s(%x) to %s rm %u ftz %d sat %d/%d nan %d q %d uns %d zp %d s %d: "
                     "%x/%x, expected %x/%x",
                     facet_format_name(s->conv.acc),
                     acc,
                     facet_format_name(s->conv.elem),
                     s->conv.rm,
                     s->conv.ftz,
                     s->conv.sat,
                     s->conv.sat_mode,
                     s->conv.nan_pol,
                     s->eff.q,
                     s->conv.uns,
                     s->conv.zp,
                     s->conv.scale,
                     bits,
                     fl,
                     want,
                     want_fl);
}

static void random_quantization(struct state *s)
{
    uint64_t r = harness_random();

    if (r % 3 != 0) {
        quantize(s,
                 (r >> 8 & 1) != 0,
                 (int)((r >> 16) % 640) - 256,
                 (r >> 9 & 1) != 0 ? (int)((r >> 32) % 256) - 128 : (int)((r >> 32) % 16) - 8);
    }
}

/* All 2^16 patterns of every element of at most 16 bits, each quantization kind. */
TEST(widen_every_element_bit_pattern, "")
{
    for (unsigned p = 0; p < PETS; p++) {
        uint32_t patterns = UINT32_C(1) << (facet_format_width(pets[p].elem) % 32);

        if (patterns == 1) { /* 32-bit elements: sampled below */
            continue;
        }
        for (unsigned i = 0; i < 4 * 5 * 2 * 3 && !harness_failed(); i++) {
            struct state s = make(p, i % 4, i / 4 % 5, i / 20 % 2 != 0);

            if (i / 40 != 0) {
                quantize(&s, i / 40 == 2, i / 40 == 2 ? 200 : -3, i / 40 == 2 ? -140 + 20 : 9);
            }
            for (uint32_t bits = 0; bits < patterns; bits += sampling_step()) {
                (void)same_widen(&s, bits);
            }
        }
    }
}

/* All FP16 and INT16 accumulators. */
TEST(narrow_every_16_bit_accumulator, "")
{
    for (unsigned p = 0; p < PETS; p++) {
        for (unsigned i = 0; i < 2 * 5 * 2 * 3 * 3 && !harness_failed(); i++) {
            struct state s = make(p, i % 2 != 0 ? 1 : 3, i / 2 % 5, i / 10 % 2 != 0);

            s.conv.sat = i / 20 % 3 != 0;
            s.conv.sat_mode = i / 20 % 3 == 2;
            s.conv.nan_pol = (uint8_t)(i / 60 % 3);
            s.eff.sat = s.conv.sat;
            s.eff.sat_mode = s.conv.sat_mode;
            s.eff.nan_pol = s.conv.nan_pol;
            random_quantization(&s);
            for (uint32_t acc = 0; acc < 0x10000; acc += sampling_step()) {
                (void)same_narrow(
                    &s, s.eff.accw == 3 ? (uint32_t)(int32_t)(int16_t)(uint16_t)acc : acc);
            }
        }
    }
}

TEST(widen_and_narrow_random_states, "")
{
    for (uint64_t i = 0; i < sampling_count(6000000, 200000000) && !harness_failed(); i++) {
        uint64_t r = harness_random();
        struct state s = make(r % PETS, r >> 8 & 3, (r >> 12) % 5, (r >> 20 & 1) != 0);
        uint32_t acc;

        s.eff.sat = s.conv.sat = (r >> 21 & 1) != 0;
        s.eff.sat_mode = s.conv.sat_mode = (r >> 22 & 1) != 0;
        s.eff.nan_pol = s.conv.nan_pol = (uint8_t)((r >> 24) % 3);
        random_quantization(&s);
        (void)same_widen(&s,
                         s.conv.elem < FACET_FMT_FP_COUNT
                             ? (uint32_t)sampling_operand(s.conv.elem, UINT64_C(0x3F803C00))
                             : (uint32_t)harness_random());
        acc = s.conv.acc < FACET_FMT_FP_COUNT
                  ? (uint32_t)sampling_operand(s.conv.acc, UINT64_C(0x3F803C00))
                  : (uint32_t)harness_random() >> (r >> 40 & 31);
        (void)same_narrow(
            &s, s.conv.acc == FACET_FMT_INT16 ? (uint32_t)(int32_t)(int16_t)(uint16_t)acc : acc);
    }
}

static bool same_registers(const struct facet_prec *mine, const cap_prec *want)
{
    return CHECK_MSG(mine->image[0] == want->mode && mine->image[1] == want->alt &&
                         mine->stat == want->stat &&
                         (mine->staged[0] >> 63 != 0) == (want->stg_v[0] != 0) &&
                         (mine->staged[1] >> 63 != 0) == (want->stg_v[1] != 0),
                     "MODE %016" PRIx64 " ALT %016" PRIx64 " STAT %016" PRIx64
                     ", expected %016" PRIx64 " %016" PRIx64 " %016" PRIx64,
                     mine->image[0],
                     mine->image[1],
                     mine->stat,
                     want->mode,
                     want->alt,
                     want->stat);
}

/* A write: sparse images, so that legal codes are as likely as reserved ones, and APPLY now and
 * then. */
static uint64_t random_image(void)
{
    uint64_t x = harness_random();

    switch (x % 4) {
    case 0:
        x = harness_random();
        break;
    case 1:
        x = harness_random() & harness_random();
        break;
    case 2:
        x = harness_random() & harness_random() & harness_random();
        break;
    default:
        x = UINT64_C(1) << (x >> 8 & 63);
        break;
    }
    x &= UINT64_C(0x7FFFFFFFFFFFFFFF);
    return harness_random() % 2 != 0 ? x | UINT64_C(1) << 63 : x;
}

TEST(csr_write_sequences, "CAP-196 CAP-197 CAP-275 CAP-276 CAP-277 CAP-295 CAP-469")
{
    static const uint32_t supported[] = {FACET_ALT_ALL, FACET_ALT_NONE, 0x14};

    for (unsigned config = 0; config < 3; config++) {
        struct facet_prec mine;
        cap_prec want;

        facet_prec_reset(&mine, supported[config]);
        cap_reset(&want, supported[config]);
        for (uint64_t i = 0; i < sampling_count(400000, 20000000) && !harness_failed(); i++) {
            uint64_t r = harness_random(), x = random_image();

            switch (r % 8) {
            case 0:
                mine.exc_en = want.exc_en = harness_random() & 0x1F;
                break;
            case 1:
                facet_prec_retire(&mine);
                cap_retire_numeric(&want);
                break;
            case 2: { /* stickies live until the next APPLY */
                unsigned flags = (unsigned)(r >> 8 & (FACET_FLAGS_STAT | FACET_FLAGS_EXC_ST));
                facet_prec_raise(&mine, flags);
                want.stat |= flags & 0xF000;
                want.exc_st |= flags & 0x7F;
                break;
            }
            default: {
                int reg = (int)(r >> 8 & 1), op = (int)((r >> 16) % 3);
                uint64_t got = facet_prec_write(&mine, reg, op, x);
                CHECK_EQ(got, cap_write(&want, reg, op, x));
                break;
            }
            }
            (void)same_registers(&mine, &want);
            CHECK_EQ(mine.exc_st, want.exc_st);
        }
    }
}

/* numeric.md 5: the composition always leaves nat << PACK <= CW <= 64. */
TEST(containers_always_fit, "")
{
    for (uint64_t i = 0; i < sampling_count(200000, 2000000); i++) {
        bool unsup = false;
        uint64_t mode = facet_prec_legal_mode(harness_random(), &unsup);
        uint64_t alt = facet_prec_legal_alt(harness_random(), &unsup) & ~UINT64_C(7);
        struct facet_eff eff = facet_eff_compose(mode, alt, FACET_ALT_ALL);
        struct facet_container c = facet_container_of(&eff);

        CHECK(c.bytes <= 8 && (unsigned)c.nat << c.pack <= 8u * c.bytes);
    }
}
