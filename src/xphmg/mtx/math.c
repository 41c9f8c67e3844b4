/* See mtx.h: the arithmetic of gfx-semantics.md 16.3 to 16.5. No hart and no memory in here. */
#include "xphmg/mtx/mtx.h"

#include "gfx/lanes.h"
#include "num/accum.h"
#include "num/arith.h"
#include "num/convert.h"
#include "num/extreme.h"
#include "num/host.h"

static struct facet_conv conv_of(const struct facet_mtx_numbers *n, unsigned channel)
{
    return facet_eff_conv(&n->eff, n->zptab, channel);
}

static uint32_t
widen(const struct facet_mtx_numbers *n, unsigned channel, uint32_t element, unsigned *flags)
{
    struct facet_conv conv = conv_of(n, channel);

    return facet_widen(&conv, element, flags);
}

bool facet_mtx_shape_legal(unsigned code, uint64_t mtxcap)
{
    struct facet_mtx_shape shape = facet_mtx_shape_of(code);
    unsigned most = 2 + (unsigned)FACET_GET(mtxcap, MTXCAP_MAX_SHAPE);

    switch (code) {
    case 0x5: /* 2x2 */
    case 0x6: /* 2x3 */
    case 0x9: /* 3x2 */
    case 0xA: /* 3x3 */
    case 0x7: /* 2x4 */
    case 0xD: /* 4x2 */
    case 0xF: /* 4x4 */
        return shape.rows <= most && shape.columns <= most;
    default:
        return false;
    }
}

/* ---- bank storage: element e in bits e*nat of little-endian bytes -----------------------------
 */

static uint32_t storage_get(const uint8_t *storage, unsigned nat, unsigned e)
{
    const uint8_t *at = storage + e * nat / 8;

    return nat < 8 ? (uint32_t)*at >> e * nat % 8 & ((1u << nat) - 1)
                   : (uint32_t)facet_load_le(at, nat / 8);
}

static void storage_put(uint8_t *storage, unsigned nat, unsigned e, uint32_t element)
{
    uint8_t *at = storage + e * nat / 8;

    if (nat < 8) {
        unsigned mask = (1u << nat) - 1, lsb = e * nat % 8;

        *at = (uint8_t)((*at & ~(mask << lsb)) | (element & mask) << lsb);
    } else {
        facet_store_le(at, nat / 8, element);
    }
}

/* The storage of a shape, and where (r,c) lies in it. */
static unsigned side_of(struct facet_mtx_shape shape)
{
    return shape.rows > shape.columns ? shape.rows : shape.columns;
}

static uint8_t *storage_of(struct facet_mtx_bank *bank, struct facet_mtx_shape shape)
{
    return side_of(shape) == 2 ? bank->mtx2 : side_of(shape) == 3 ? bank->mtx3 : bank->mtx4;
}

static unsigned place_of(struct facet_mtx_shape shape, unsigned r, unsigned c)
{
    return r * side_of(shape) + c;
}

static uint32_t matrix_get(const struct facet_mtx_bank *bank,
                           unsigned nat,
                           struct facet_mtx_shape shape,
                           unsigned r,
                           unsigned c)
{
    const uint8_t *storage = side_of(shape) == 2   ? bank->mtx2
                             : side_of(shape) == 3 ? bank->mtx3
                                                   : bank->mtx4;

    return storage_get(storage, nat, place_of(shape, r, c));
}

void facet_mtx_load(struct facet_mtx_bank *bank,
                    enum facet_format format,
                    const struct facet_mtx_load *load,
                    const uint32_t *image)
{
    unsigned nat = facet_format_width(format);
    unsigned rows = load->shape.rows, columns = load->shape.columns;
    uint8_t *storage = storage_of(bank, load->shape);
    /* a transposed image in row order is the image in column order */
    bool by_rows = load->rowmajor != load->transpose;

    for (unsigned r = 0; r < rows; r++) {
        for (unsigned c = 0; c < columns; c++) {
            unsigned at = by_rows ? r * columns + c : c * rows + r;

            storage_put(storage, nat, place_of(load->shape, r, c), image[at]);
        }
    }
    for (unsigned r = 0; load->with_bias && r < rows; r++) {
        storage_put(bank->bias, nat, r, image[rows * columns + r]);
    }
}

/* The product in FP32 by the host (num/host.h). What the elements are needs no look: a NaN or an
 * infinity stays one, and tiny ones are exact. False: an operation declined, nothing is done. */
static bool multiply_by_host(const struct facet_mtx_bank *bank,
                             const struct facet_mtx_product *product,
                             const uint32_t *in,
                             uint32_t *out)
{
    const unsigned inputs = facet_mtx_input_size(product), outputs = facet_mtx_output_size(product);
    bool fine = true;

    for (unsigned i = 0; i < outputs && fine; i++) {
        uint32_t acc = 0;

        for (unsigned j = 0; j < inputs; j++) {
            const unsigned r = product->transpose ? j : i, c = product->transpose ? i : j;
            const uint32_t m = matrix_get(bank, 32, product->shape, r, c);

            fine &= j == 0 ? facet_num_host_mul(m, in[j], &acc)
                           : facet_num_host_fma(m, in[j], acc, &acc);
        }
        if (product->mad) {
            fine &= facet_num_host_add(acc, storage_get(bank->bias, 32, i), &acc);
        }
        fine &= facet_num_host_stays(acc);
        out[i] = acc;
    }
    return fine;
}

/* Vectors of four by the kernels for many lanes (gfx/lanes.h). False: nothing is done. */
static bool multiply_by_kernels(const struct facet_mtx_bank *bank,
                                const struct facet_mtx_product *product,
                                const uint32_t *in,
                                unsigned count,
                                uint32_t *out)
{
    const struct facet_gfx_lane_kernels *kernels = facet_gfx_lanes();
    uint32_t columns[FACET_MTX_SIDE * FACET_MTX_SIDE];

    if (kernels == NULL || product->mad || product->shape.rows != FACET_MTX_SIDE ||
        product->shape.columns != FACET_MTX_SIDE) {
        return false;
    }
    for (unsigned j = 0; j < FACET_MTX_SIDE; j++) {
        for (unsigned i = 0; i < FACET_MTX_SIDE; i++) {
            columns[FACET_MTX_SIDE * j + i] =
                storage_get(bank->mtx4,
                            32,
                            product->transpose ? FACET_MTX_SIDE * j + i : FACET_MTX_SIDE * i + j);
        }
    }
    if (!kernels->product(columns, in, count, out)) {
        return false;
    }
    FACET_FAST_WAY(GFX_LANES);
    return true;
}

static void multiply_one(const struct facet_mtx_numbers *numbers,
                         const struct facet_mtx_bank *bank,
                         const struct facet_mtx_product *product,
                         const uint32_t *in,
                         uint32_t *out,
                         unsigned *flags)
{
    unsigned nat = facet_format_width(numbers->eff.elem);
    struct facet_conv conv[FACET_MTX_SIDE] = {conv_of(numbers, 0)};
    uint32_t v[FACET_MTX_SIDE];

    if (facet_num_host_fits(&conv[0], *flags) && conv[0].elem == FACET_FMT_FP32 &&
        conv[0].scale == 0 && multiply_by_host(bank, product, in, out)) {
        return;
    }
    for (unsigned i = 1; i < FACET_MTX_SIDE; i++) {
        conv[i] = conv_of(numbers, i);
    }
    for (unsigned j = 0; j < facet_mtx_input_size(product); j++) {
        v[j] = facet_widen(&conv[j], in[j], flags);
    }
    for (unsigned i = 0; i < facet_mtx_output_size(product); i++) {
        uint32_t acc = 0;

        for (unsigned j = 0; j < facet_mtx_input_size(product); j++) {
            unsigned r = product->transpose ? j : i, c = product->transpose ? i : j;
            uint32_t m = facet_widen(&conv[r], matrix_get(bank, nat, product->shape, r, c), flags);

            acc = j == 0 ? facet_acc_mul(&conv[i], m, v[j], flags)
                         : facet_acc_fma(&conv[i], m, v[j], acc, flags);
        }
        if (product->mad) {
            acc = facet_acc_add(&conv[i],
                                acc,
                                facet_widen(&conv[i], storage_get(bank->bias, nat, i), flags),
                                flags);
        }
        out[i] = facet_narrow(&conv[i], acc, flags);
    }
}

void facet_mtx_multiply(const struct facet_mtx_numbers *numbers,
                        const struct facet_mtx_bank *bank,
                        const struct facet_mtx_product *product,
                        const uint32_t *in,
                        unsigned count,
                        uint32_t *out,
                        unsigned *flags)
{
    const struct facet_gfx_numbers all = {.channel = {conv_of(numbers, 0)}};

    if (facet_gfx_lanes_fit(&all, *flags) && multiply_by_kernels(bank, product, in, count, out)) {
        return;
    }
    for (unsigned k = 0; k < count; k++) {
        multiply_one(numbers,
                     bank,
                     product,
                     in + k * facet_mtx_input_size(product),
                     out + k * facet_mtx_output_size(product),
                     flags);
    }
}

/* ---- helpers on tiles -------------------------------------------------------------------------
 */

void facet_mtx_transpose(struct facet_mtx_tile tile, const uint32_t *in, uint32_t *out)
{
    struct facet_mtx_tile to = {tile.columns, tile.rows};

    for (unsigned i = 0; i < tile.rows; i++) {
        for (unsigned j = 0; j < tile.columns; j++) {
            out[facet_mtx_tile_index(to, j, i)] = in[facet_mtx_tile_index(tile, i, j)];
        }
    }
}

/* The accumulator of the real number 1: cv(1) of gfx-semantics.md 4.2. */
static uint32_t one(const struct facet_conv *conv, unsigned *flags)
{
    struct facet_num_policy policy = {.rm = conv->rm};

    switch (conv->acc) {
    case FACET_FMT_FP32:
        return 0x3F800000;
    case FACET_FMT_FP16:
        return 0x3C00;
    default: /* 2^-s, which binary64 holds for every s */
        return (uint32_t)facet_num_to_int(FACET_FMT_FP64,
                                          (uint64_t)(1023 - conv->scale) << 52,
                                          facet_format_width(conv->acc),
                                          true,
                                          &policy,
                                          flags);
    }
}

/* The addend of bm 1..4, widened in its own channel. */
static uint32_t addend(const struct facet_mtx_numbers *numbers,
                       const struct facet_mtx_bank *bank,
                       unsigned bm,
                       unsigned i,
                       unsigned j,
                       unsigned *flags)
{
    unsigned nat = facet_format_width(numbers->eff.elem);
    unsigned row = bm == 1 ? 0 : bm == 3 ? j % 4 : i % 4;

    return widen(numbers,
                 row,
                 bm == 4 ? storage_get(bank->mtx4, nat, 4 * row + j % 4)
                         : storage_get(bank->bias, nat, row),
                 flags);
}

struct bounds {
    bool has_low, has_high;
    uint32_t low, high;
};

static struct bounds bounds_of(const struct facet_mtx_numbers *numbers,
                               const struct facet_mtx_bank *bank,
                               unsigned cl,
                               unsigned *flags)
{
    unsigned nat = facet_format_width(numbers->eff.elem);
    struct facet_conv conv = conv_of(numbers, 0);
    struct bounds b = {.has_low = cl != 0, .has_high = cl >= 2};

    if (cl == 2) {
        b.high = one(&conv, flags);
    } else if (cl == 3) {
        b.low = facet_widen(&conv, storage_get(bank->mtx2, nat, 0), flags);
        b.high = facet_widen(&conv, storage_get(bank->mtx2, nat, 1), flags);
    }
    return b;
}

void facet_mtx_epilogue(const struct facet_mtx_numbers *numbers,
                        const struct facet_mtx_bank *bank,
                        struct facet_mtx_tile tile,
                        unsigned bm,
                        unsigned cl,
                        const uint32_t *in,
                        uint32_t *out,
                        unsigned *flags)
{
    struct bounds b = bounds_of(numbers, bank, cl, flags);

    for (unsigned i = 0; i < tile.rows; i++) {
        struct facet_conv conv = conv_of(numbers, i);

        for (unsigned j = 0; j < tile.columns; j++) {
            unsigned at = facet_mtx_tile_index(tile, i, j);
            uint32_t v = facet_widen(&conv, in[at], flags);

            if (bm != 0) {
                v = facet_acc_add(&conv, v, addend(numbers, bank, bm, i, j, flags), flags);
            }
            if (b.has_low && facet_acc_lt(&conv, v, b.low, flags)) {
                v = b.low;
            }
            if (b.has_high && facet_acc_lt(&conv, b.high, v, flags)) {
                v = b.high;
            }
            out[at] = facet_narrow(&conv, v, flags);
        }
    }
}

/* One result: the entries (i,j) with i in [i0,i1) and j in [j0,j1) in row-major order. */
struct part {
    unsigned i0, i1, j0, j1;
    unsigned channel; /* of the result */
};

static uint32_t reduce_part(const struct facet_mtx_numbers *numbers,
                            struct facet_mtx_tile tile,
                            struct part part,
                            unsigned op,
                            const uint32_t *in,
                            unsigned *flags)
{
    struct facet_conv conv = conv_of(numbers, part.channel);
    struct facet_extreme chosen = {0};
    uint32_t acc = 0;

    for (unsigned i = part.i0; i < part.i1; i++) {
        for (unsigned j = part.j0; j < part.j1; j++) {
            uint32_t bits = in[facet_mtx_tile_index(tile, i, j)];

            if (op != 0) {
                struct facet_conv entry = conv_of(numbers, i);

                facet_num_extreme_look(&chosen, &entry, op == 1, bits, flags);
            } else if (i == part.i0 && j == part.j0) {
                acc = widen(numbers, i, bits, flags);
            } else {
                acc = facet_acc_add(&conv, acc, widen(numbers, i, bits, flags), flags);
            }
        }
    }
    return op == 0 ? facet_narrow(&conv, acc, flags)
                   : facet_num_extreme_bits(&chosen, &conv, flags);
}

void facet_mtx_reduce(const struct facet_mtx_numbers *numbers,
                      struct facet_mtx_tile tile,
                      unsigned op,
                      unsigned dim,
                      const uint32_t *in,
                      uint32_t *out,
                      unsigned *flags)
{
    unsigned results = dim == 0 ? 1 : dim == 1 ? tile.rows : tile.columns;

    for (unsigned k = 0; k < results; k++) {
        struct part part = {0, tile.rows, 0, tile.columns, k};

        if (dim == 1) {
            part.i0 = k, part.i1 = k + 1;
        } else if (dim == 2) {
            part.j0 = k, part.j1 = k + 1;
        }
        out[k] = reduce_part(numbers, tile, part, op, in, flags);
    }
}
