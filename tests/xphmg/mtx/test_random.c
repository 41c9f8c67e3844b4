/* MTX in random numeric states against gfx-semantics.md 16.3 to 16.5 written down again, naively,
 * on the oracle of tests/num: conversions and primitives come from MPFR and exact rationals, none
 * from src/num. Results in memory, registers and banks, all stickies and MTXSTAT are compared. */
#include "xphmg/guest.h"

#include "num/eff.h"
#include "oracle.h"

#include <stdio.h>

enum { IN = GUEST_DATA, OUT = GUEST_DATA + 0x4000, MATRIX = GUEST_DATA + 0x8000, MAX = 64 };

/* The numeric state of one round. */
struct numbers {
    struct facet_eff eff;
    const uint8_t *zptab;
    unsigned flags;
};

static unsigned below(unsigned n)
{
    return (unsigned)(harness_random() % n);
}

static struct facet_conv conv_of(const struct numbers *n, unsigned channel)
{
    return facet_eff_conv(&n->eff, n->zptab, channel);
}

static uint32_t widen(struct numbers *n, unsigned channel, uint32_t element)
{
    struct facet_conv conv = conv_of(n, channel);
    struct ref_result r = ref_widen(&conv, element);

    n->flags |= r.flags;
    return (uint32_t)r.bits;
}

static uint32_t narrow(struct numbers *n, unsigned channel, uint32_t acc)
{
    struct facet_conv conv = conv_of(n, channel);
    struct ref_result r = ref_narrow(&conv, acc);

    n->flags |= r.flags;
    return (uint32_t)r.bits;
}

static bool integer_acc(const struct numbers *n)
{
    return facet_format_is_int(n->eff.acc);
}

/* A primitive with its MIXED step in the channel of the result. */
static uint32_t
primitive(struct numbers *n, enum ref_op op, unsigned channel, uint32_t a, uint32_t b, uint32_t c)
{
    struct facet_conv conv = conv_of(n, channel);
    struct facet_num_policy policy = {.rm = conv.rm,
                                      .flush = conv.ftz ? FACET_FLUSH_TINY : FACET_FLUSH_NONE};
    struct ref_result r;

    if (integer_acc(n)) {
        r = ref_int_arith(op, &conv, (int32_t[]){(int32_t)a, (int32_t)b, (int32_t)c});
    } else {
        r = ref_arith(op, n->eff.acc, (uint64_t[]){a, b, c, 0}, &policy);
    }
    n->flags |= r.flags;
    return conv.mixed_step ? widen(n, channel, narrow(n, channel, (uint32_t)r.bits))
                           : (uint32_t)r.bits;
}

static bool less(struct numbers *n, uint32_t a, uint32_t b)
{
    struct facet_num_policy policy = {.rm = 0};
    struct ref_result r;

    if (integer_acc(n)) {
        return (int32_t)a < (int32_t)b;
    }
    r = ref_arith(REF_LT, n->eff.acc, (uint64_t[]){a, b, 0, 0}, &policy);
    n->flags |= r.flags;
    return r.bits != 0;
}

/* ---- random states ----------------------------------------------------------------------------
 */

static void random_numbers(struct guest *g, struct numbers *n)
{
    static const uint8_t pets[] = {0, 1, 2, 3, 4, 5};
    uint64_t mode = harness_random() & 0x0000FF0F78000000; /* scale, NaN, FTZ, rounding, SAT, SAE */
    uint64_t alt = 0;
    int scale = (int)below(21) - 10;

    mode |= (uint64_t)below(4) << FACET_CAP_PREC_MODE_ACCW_LSB;
    mode |= (uint64_t)pets[below(6)] << FACET_CAP_PREC_MODE_PET_LSB;
    mode |= (uint64_t)below(4) << FACET_CAP_PREC_MODE_EW_LSB;
    mode |= (uint64_t)(below(2) ? 0 : below(3)) << FACET_CAP_PREC_MODE_PACK_LSB;
    mode |= harness_random() & (FACET_CAP_PREC_MODE_SAT_MODE | FACET_CAP_PREC_MODE_ZP_EN |
                                FACET_CAP_PREC_MODE_ZP | FACET_CAP_PREC_MODE_UNS);
    mode |= below(2) ? FACET_CAP_PREC_MODE_Q : 0;
    if (below(4) != 0) {
        mode = FACET_PUT(mode, CAP_PREC_MODE_SCALE_SH, (uint8_t)scale);
    }
    if (below(2) == 0) {
        alt = FACET_CAP_PREC_ALT_ALT_EN |
              (uint64_t)(1 + below(5)) << FACET_CAP_PREC_ALT_ALT_FMT_LSB |
              (harness_random() & (FACET_CAP_PREC_ALT_MIXED | FACET_CAP_PREC_ALT_SAT |
                                   FACET_CAP_PREC_ALT_ZP | FACET_CAP_PREC_ALT_ALT_ACCW));
        alt = FACET_PUT(alt, CAP_PREC_ALT_SCALE_SH, (uint8_t)scale);
        alt = FACET_PUT(alt, CAP_PREC_ALT_ZP_OFFS, below(256));
    }
    for (unsigned i = 0; i < 256; i++) {
        g->hart->units.cap.zptab[i] = (uint8_t)harness_random();
    }
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_EN, 0);
    guest_csrw(g, FACET_CSR_CAP_PREC_ALT, alt | UINT64_C(1) << 63);
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, mode | UINT64_C(1) << 63);
    guest_csrw(g, FACET_CSR_CAP_PREC_EXC_ST, 0x7F);
    *n = (struct numbers){.eff = facet_prec_eff(&g->hart->units.cap.prec),
                          .zptab = g->hart->units.cap.zptab};
}

/* Element i of an array, from the text of numeric.md 5. */
static uint32_t element(const struct guest *g, const struct facet_eff *eff, uint64_t at, unsigned i)
{
    unsigned bytes = 1u << eff->ew, nat = facet_format_width(eff->elem);
    uint64_t container = guest_load(g, at + (uint64_t)(i >> eff->pack) * bytes, bytes);
    unsigned slot = i & ((1u << eff->pack) - 1);

    return (uint32_t)(container >> slot * nat & (nat == 32 ? 0xFFFFFFFF : (1u << nat) - 1));
}

/* Elements that give interesting results: small ones, special codes, and anything. */
static void random_array(struct guest *g, const struct facet_eff *eff, uint64_t at, unsigned count)
{
    unsigned bytes = 1u << eff->ew, nat = facet_format_width(eff->elem), pack = 1u << eff->pack;
    unsigned style = below(3);

    for (unsigned c = 0; c < (count + pack - 1) / pack; c++) {
        uint64_t container = harness_random(); /* bits above the elements are ignored */

        for (unsigned s = 0; s < pack; s++) {
            uint32_t e = (uint32_t)harness_random();

            if (!facet_format_is_int(eff->elem)) {
                const struct facet_fp_format *f = &facet_fp_formats[eff->elem];
                uint32_t sign = (uint32_t)(harness_random() & 1) << (nat - 1);
                uint32_t special[] = {0,
                                      (uint32_t)f->max_finite,
                                      (uint32_t)f->infinity,
                                      (uint32_t)f->nan,
                                      1,
                                      (uint32_t)f->max_finite / 2};

                if (style == 0 || (style == 1 && below(8) == 0)) {
                    e = special[below(6)] | sign;
                } else if (style == 1) { /* around one */
                    e = (uint32_t)f->max_finite / 2 + below(64) - 32;
                    e |= sign;
                }
            } else if (style == 1) {
                e = below(16) - 8;
            }
            container &= ~((nat == 32 ? 0xFFFFFFFFull : (1ull << nat) - 1) << s * nat);
            container |= (uint64_t)(e & (nat == 32 ? 0xFFFFFFFF : (1u << nat) - 1)) << s * nat;
        }
        guest_store(g, at + (uint64_t)c * bytes, bytes, container);
    }
}

static void check_flags(struct guest *g, const struct numbers *n, const char *what)
{
    unsigned got = (unsigned)(guest_csr(g, FACET_CSR_CAP_PREC_EXC_ST) |
                              (guest_csr(g, FACET_CSR_CAP_PREC_STAT) & 0x7000));

    CHECK_MSG(got == (n->flags & 0x707F),
              "%s: flags %x, expected %x (mode %llx alt %llx)",
              what,
              got,
              n->flags & 0x707F,
              (unsigned long long)guest_csr(g, FACET_CSR_CAP_PREC_MODE),
              (unsigned long long)guest_csr(g, FACET_CSR_CAP_PREC_ALT));
}

static void check_array(struct guest *g,
                        const struct numbers *n,
                        uint64_t at,
                        unsigned count,
                        const uint32_t *expected,
                        const char *what)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t got = element(g, &n->eff, at, i);

        CHECK_MSG(got == expected[i],
                  "%s: element %u is %x, expected %x (mode %llx alt %llx)",
                  what,
                  i,
                  got,
                  expected[i],
                  (unsigned long long)guest_csr(g, FACET_CSR_CAP_PREC_MODE),
                  (unsigned long long)guest_csr(g, FACET_CSR_CAP_PREC_ALT));
    }
}

/* ---- instructions -----------------------------------------------------------------------------
 */

static void product(struct guest *g)
{
    static const uint8_t shapes[] = {0x5, 0x6, 0x9, 0xA, 0x7, 0xD, 0xF};
    struct numbers n;
    unsigned shape = shapes[below(7)], rows = (shape >> 2) + 1, columns = (shape & 3) + 1;
    unsigned transpose = below(2), vectors = 1 + below(3), mad = below(2);
    unsigned outs = transpose ? columns : rows, ins = transpose ? rows : columns;
    uint32_t m[4][4], bias[4], out[MAX];
    uint64_t stat = guest_csr(g, FACET_CSR_MTXSTAT);
    char text[128];

    random_numbers(g, &n);
    random_array(g, &n.eff, MATRIX, rows * columns + rows);
    random_array(g, &n.eff, IN, ins * vectors);
    for (unsigned r = 0; r < rows; r++) {
        for (unsigned c = 0; c < columns; c++) {
            m[r][c] = element(g, &n.eff, MATRIX, r * columns + c);
        }
        bias[r] = element(g, &n.eff, MATRIX, rows * columns + r);
    }
    if (transpose && mad) { /* the bias of output i, which may lie outside the shape */
        for (unsigned r = rows; r < 4; r++) {
            bias[r] = 0;
        }
    }
    memset(g->hart->units.mtx.bank, 0, sizeof g->hart->units.mtx.bank);
    for (unsigned k = 0; k < vectors; k++) {
        for (unsigned i = 0; i < outs; i++) {
            uint32_t acc = 0;

            for (unsigned j = 0; j < ins; j++) {
                unsigned r = transpose ? j : i, c = transpose ? i : j;
                uint32_t a = widen(&n, r, m[r][c]),
                         v = widen(&n, j, element(g, &n.eff, IN, k * ins + j));

                acc = j == 0 ? primitive(&n, REF_MUL, i, a, v, 0)
                             : primitive(&n, REF_FMA, i, a, v, acc);
            }
            if (mad) {
                acc = primitive(&n, REF_ADD, i, acc, widen(&n, i, bias[i]), 0);
            }
            out[k * outs + i] = narrow(&n, i, acc);
        }
    }
    snprintf(
        text, sizeof text, "mtx.%s shape %x transpose %u", mad ? "mad" : "mul", shape, transpose);
    g->hart->x[10] = MATRIX, g->hart->x[11] = IN, g->hart->x[12] = OUT;
    guest_ok(g,
             "mtx.ld a0, shape=%u, rowmajor=1, with_bias=1\n"
             "mtx.%s a2, a1, shape=%u, transpose=%u, vec_count=%u\n",
             shape,
             mad ? "mad" : "mul",
             shape,
             transpose,
             vectors - 1);
    check_array(g, &n, OUT, outs * vectors, out, text);
    check_flags(g, &n, text);
    stat = FACET_PUT(stat, MTXSTAT_LAST_SHAPE, rows << 4 | columns);
    stat = FACET_PUT(stat, MTXSTAT_OPS_ISSUED, FACET_GET(stat, MTXSTAT_OPS_ISSUED) + 1);
    stat = FACET_PUT(stat,
                     MTXSTAT_OPS_SATURATED,
                     FACET_GET(stat, MTXSTAT_OPS_SATURATED) + ((n.flags & FACET_SAT) != 0));
    stat = FACET_PUT(stat,
                     MTXSTAT_FTZ_EVENTS,
                     FACET_GET(stat, MTXSTAT_FTZ_EVENTS) + ((n.flags & FACET_FTZ) != 0));
    CHECK_EQ(guest_csr(g, FACET_CSR_MTXSTAT), stat);
}

/* A constant 1 in the accumulator: cv(1). */
static uint32_t one(struct numbers *n)
{
    struct facet_conv conv = conv_of(n, 0);
    struct facet_num_policy policy = {.rm = conv.rm};
    struct ref_result r;

    if (!integer_acc(n)) {
        return n->eff.acc == FACET_FMT_FP32 ? 0x3F800000 : 0x3C00;
    }
    r = ref_to_int(
        FACET_FMT_FP32, 0x3F800000, -conv.scale, facet_format_width(conv.acc), true, &policy);
    n->flags |= r.flags;
    return (uint32_t)r.bits;
}

static void epilogue(struct guest *g)
{
    struct numbers n;
    unsigned bm = below(5), cl = below(4), columns = 4 * (1 + below(2));
    uint32_t out[MAX], low = 0, high = 0;
    char text[64];

    random_numbers(g, &n);
    random_array(g, &n.eff, MATRIX, 24);
    random_array(g, &n.eff, IN, 4 * columns);
    g->hart->x[10] = MATRIX, g->hart->x[11] = IN, g->hart->x[12] = OUT;
    guest_ok(g, "mtx.ld a0, shape=15, rowmajor=1, with_bias=1\n mtx.ld a0, shape=5, rowmajor=1\n");
    if (cl == 2) {
        high = one(&n);
    } else if (cl == 3) {
        low = widen(&n, 0, element(g, &n.eff, MATRIX, 0));
        high = widen(&n, 0, element(g, &n.eff, MATRIX, 1));
    }
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < columns; j++) {
            unsigned at = j / 4 * 16 + i * 4 + j % 4;
            unsigned row = bm == 1 ? 0 : bm == 3 ? j % 4 : i;
            uint32_t v = widen(&n, i, element(g, &n.eff, IN, at));

            if (bm != 0) {
                uint32_t add = element(g, &n.eff, MATRIX, bm == 4 ? 4 * i + j % 4 : 16 + row);

                v = primitive(&n, REF_ADD, i, v, widen(&n, row, add), 0);
            }
            if (cl >= 1 && less(&n, v, low)) {
                v = low;
            }
            if (cl >= 2 && less(&n, high, v)) {
                v = high;
            }
            out[at] = narrow(&n, i, v);
        }
    }
    snprintf(text, sizeof text, "mtx.epi bm %u cl %u", bm, cl);
    guest_ok(g, "mtx.epi a2, a1, n_blk=%u, bm=%u, cl=%u\n", columns / 4 - 1, bm, cl);
    check_array(g, &n, OUT, 4 * columns, out, text);
    check_flags(g, &n, text);
}

/* The value of an element for max and min, as a double-width rank: exact, because every FP element
 * is a binary32 number; -0 lies below +0. */
static bool rank(struct numbers *n, unsigned channel, uint32_t bits, int64_t *value, bool *flushed)
{
    struct facet_conv conv = conv_of(n, channel);
    struct ref_result r;

    *flushed = false;
    if (facet_format_is_int(n->eff.elem)) {
        unsigned nat = facet_format_width(n->eff.elem);
        int64_t q = bits;

        if (!conv.uns && (bits >> (nat - 1) & 1) != 0) {
            q -= INT64_C(1) << nat;
        }
        *value = q - conv.zp;
        return true;
    }
    conv.acc = FACET_FMT_FP32;
    conv.scale = 0;
    r = ref_widen(&conv, bits);
    n->flags |= r.flags;
    *flushed = (r.flags & FACET_FTZ) != 0;
    *value = (r.bits >> 31) != 0 ? -(int64_t)(r.bits & 0x7FFFFFFF) - 1 : (int64_t)r.bits;
    return (r.bits & 0x7FFFFFFF) <= 0x7F800000;
}

static uint32_t reduced(struct guest *g,
                        struct numbers *n,
                        unsigned op,
                        unsigned channel,
                        unsigned columns,
                        unsigned dim,
                        unsigned k)
{
    uint32_t acc = 0, best = 0;
    int64_t best_value = 0;
    bool first = true, found = false;
    unsigned nat = facet_format_width(n->eff.elem);

    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < columns; j++) {
            uint32_t e = element(g, &n->eff, IN, j / 4 * 16 + i * 4 + j % 4);
            int64_t value;
            bool flushed;

            if ((dim == 1 && i != k) || (dim == 2 && j != k)) {
                continue;
            }
            if (op == 0) {
                acc =
                    first ? widen(n, i, e) : primitive(n, REF_ADD, channel, acc, widen(n, i, e), 0);
                first = false;
            } else if (rank(n, i, e, &value, &flushed)) {
                if (!found || (op == 1 ? value > best_value : value < best_value)) {
                    best = flushed ? e & 1u << (nat - 1) : e;
                    best_value = value;
                    found = true;
                }
            }
        }
    }
    if (op == 0) {
        return narrow(n, channel, acc);
    }
    if (!found) {
        const struct facet_fp_format *f = &facet_fp_formats[n->eff.elem];

        n->flags |= FACET_QNAN;
        return (uint32_t)(n->eff.nan_pol == 1   ? 0
                          : n->eff.nan_pol == 2 ? (f->has_inf ? f->infinity : f->max_finite)
                                                : f->nan);
    }
    return best;
}

static void reduction(struct guest *g)
{
    struct numbers n;
    unsigned op = below(3), dim = below(3), columns = 4 * (1 + below(2));
    unsigned results = dim == 0 ? 1 : dim == 1 ? 4 : columns;
    uint32_t out[8];
    char text[64];

    random_numbers(g, &n);
    random_array(g, &n.eff, IN, 4 * columns);
    for (unsigned k = 0; k < results; k++) {
        out[k] = reduced(g, &n, op, k, columns, dim, k);
    }
    snprintf(text, sizeof text, "mtx.red op %u dim %u", op, dim);
    g->hart->x[11] = IN, g->hart->x[12] = OUT;
    guest_ok(g, "mtx.red a2, a1, n_blk=%u, op=%u, dim=%u\n", columns / 4 - 1, op, dim);
    if (dim == 0) { /* single-element image: numeric.md 5 */
        unsigned nat = facet_format_width(n.eff.elem);
        uint64_t image = out[0];

        if (facet_format_is_int(n.eff.elem) && n.eff.pack == 0 && !(n.eff.q && n.eff.uns)) {
            image = (uint64_t)facet_bits_sign(image, nat);
        }
        CHECK_MSG(g->hart->x[12] == image,
                  "%s: %llx, expected %llx",
                  text,
                  (unsigned long long)g->hart->x[12],
                  (unsigned long long)image);
    } else {
        check_array(g, &n, OUT, results, out, text);
    }
    check_flags(g, &n, text);
}

TEST(random_products_equal_the_oracle, "MTX-051 MTX-052 MTX-053 MTX-059 MTX-108 MTX-111 MTX-115")
{
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < (harness_long() ? 100000u : 3000u) && !harness_failed(); i++) {
        product(g);
    }
    guest_free(g);
}

TEST(random_epilogues_equal_the_oracle, "MTX-086 MTX-087 MTX-088 MTX-089 MTX-051")
{
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < (harness_long() ? 30000u : 1000u) && !harness_failed(); i++) {
        epilogue(g);
    }
    guest_free(g);
}

TEST(random_reductions_equal_the_oracle, "MTX-058 MTX-090 MTX-091 MTX-092 MTX-093")
{
    struct guest *g = guest_make("full");

    for (unsigned i = 0; i < (harness_long() ? 50000u : 2000u) && !harness_failed(); i++) {
        reduction(g);
    }
    guest_free(g);
}
