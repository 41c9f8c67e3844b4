/* Products of matrices by the host's floating point beside the plain ones: the same bits and flags
 * for numbers of every kind, in every policy that does or does not allow it. */
#include "harness.h"

#include "xphmg/mtx/mtx.h"

static unsigned below(unsigned n)
{
    return (unsigned)(harness_random() % n);
}

/* Small numbers mostly: their sums round, cancel and end half-way. */
static uint32_t element(void)
{
    static const uint32_t edges[] = {0,
                                     0x80000000,
                                     1,
                                     0x007FFFFF,
                                     0x00800000,
                                     0x01000000,
                                     0x7F7FFFFF,
                                     0x7F800000,
                                     0xFF800000,
                                     0x7FC00000,
                                     0x7F800001,
                                     0x3F800000,
                                     0xBF800000,
                                     0x3F800001,
                                     0x5F000000,
                                     0x1F800000,
                                     0x33800000,
                                     0x4B800000};
    const float small = (float)((int)below(65) - 32) * 0.125f;
    uint32_t bits;

    switch (below(12)) {
    case 0:
        return edges[below(sizeof edges / sizeof edges[0])];
    case 1:
        return (uint32_t)harness_random();
    case 2:
    case 3:
        memcpy(&bits, &small, sizeof bits);
        return bits + below(5);
    default:
        memcpy(&bits, &small, sizeof bits);
        return bits;
    }
}

TEST(products_by_the_host_are_the_plain_ones_bit_for_bit, "")
{
    static const uint8_t shapes[] = {0x5, 0x6, 0x9, 0xA, 0x7, 0xD, 0xF};
    static const uint8_t zptab[256];
    const unsigned rounds = harness_long() ? 3000000 : 200000;

    for (unsigned n = 0; n < rounds && !harness_failed(); n++) {
        const uint64_t mode =
            UINT64_C(0x300000) |
            (below(4)
                 ? 0
                 : harness_random() & (FACET_CAP_PREC_MODE_SAT | FACET_CAP_PREC_MODE_DENORM_FTZ |
                                       FACET_CAP_PREC_MODE_FP_RMODE | FACET_CAP_PREC_MODE_Q |
                                       FACET_CAP_PREC_MODE_NAN_POL | FACET_CAP_PREC_MODE_SCALE_SH |
                                       FACET_CAP_PREC_MODE_ACCW));
        const struct facet_mtx_product product = {
            .shape = facet_mtx_shape_of(shapes[below(sizeof shapes)]),
            .transpose = below(2) != 0,
            .mad = below(2) != 0,
        };
        struct facet_mtx_numbers numbers = {facet_eff_compose(mode, 0, FACET_ALT_ALL), zptab};
        struct facet_mtx_bank bank;
        uint32_t in[FACET_MTX_SIDE], out[2][FACET_MTX_SIDE] = {{0}};
        unsigned flags[2];

        for (size_t i = 0; i < sizeof bank; i += 4) {
            const uint32_t bits = element();

            memcpy((uint8_t *)&bank + i, &bits, sizeof bits);
        }
        for (unsigned i = 0; i < FACET_MTX_SIDE; i++) {
            in[i] = element();
        }
        flags[0] = flags[1] = below(8) ? FACET_NX : 0;
        for (unsigned way = 0; way < 2; way++) {
            numbers.eff.plain = way == 1;
            facet_mtx_multiply(&numbers, &bank, &product, in, 1, out[way], &flags[way]);
        }
        CHECK_MSG(memcmp(out[0], out[1], sizeof out[0]) == 0, "round %u", n);
        CHECK_EQ(flags[0], flags[1]);
    }
}
