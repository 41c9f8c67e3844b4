/* Matrices: the arithmetic of MTX on arrays of elements, and the job that XSUBMIT.MTX starts.
 *
 * Spec: gfx-semantics.md 16, R-MTX-01 to R-MTX-17. */
#ifndef FACET_XPHMG_MTX_MTX_H
#define FACET_XPHMG_MTX_MTX_H

#include "xphmg/hart/hart.h"

enum {
    FACET_MTX_SIDE = 4, /* of the largest matrix in a bank */
    FACET_MTX_MAX_VECTORS = 8,
    FACET_MTX_MAX_TILE = 32 * 32, /* elements */
};

struct facet_mtx_results {
    uint32_t lane[FACET_VLMAX][FACET_MTX_MAX_TILE];
};

/* XSUBMIT.MTX: checks and submits the job, x[rd] = its ticket (gfx-semantics.md 16.6). */
struct facet_trap facet_mtx_submit(struct facet_hart *h, const struct facet_insn *in);
/* The job of an XPHMG_MTX_DESC, under the registers that the hart has now; returns the cause that
 * stopped it, or 0. */
unsigned facet_mtx_run(struct facet_hart *h, const uint8_t *descriptor);

/* ---- pure arithmetic; elements are raw bits in the low bits of a uint32_t ---------------------
 */

/* The numbers of one instruction: EFF, and ZPTAB for per-channel zero points. */
struct facet_mtx_numbers {
    struct facet_eff eff;
    const uint8_t *zptab;
};

struct facet_mtx_shape {
    uint8_t rows, columns;
};

/* Whether SHAPE is one of the seven codes and within MTXCAP.MAX_SHAPE. */
bool facet_mtx_shape_legal(unsigned code, uint64_t mtxcap);
static inline struct facet_mtx_shape facet_mtx_shape_of(unsigned code)
{
    return (struct facet_mtx_shape){(uint8_t)((code >> 2) + 1), (uint8_t)((code & 3) + 1)};
}

/* The immediates of MTX.LD, and those of MTX.MUL and MTX.MAD that act. */
struct facet_mtx_load {
    struct facet_mtx_shape shape;
    bool transpose, rowmajor, with_bias;
};
struct facet_mtx_product {
    struct facet_mtx_shape shape;
    bool transpose; /* TRANSPOSE_DEF already XORed in */
    bool mad;
};

static inline unsigned facet_mtx_image_size(const struct facet_mtx_load *load)
{
    return (unsigned)load->shape.rows * load->shape.columns +
           (load->with_bias ? load->shape.rows : 0u);
}
static inline unsigned facet_mtx_input_size(const struct facet_mtx_product *p)
{
    return p->transpose ? p->shape.rows : p->shape.columns;
}
static inline unsigned facet_mtx_output_size(const struct facet_mtx_product *p)
{
    return p->transpose ? p->shape.columns : p->shape.rows;
}

/* An image as it lies in memory into the bank; elements outside the shape keep their value. */
void facet_mtx_load(struct facet_mtx_bank *bank,
                    enum facet_format format,
                    const struct facet_mtx_load *load,
                    const uint32_t *image);
/* out = Meff * in (+ bias), `count` vectors one behind the other. */
void facet_mtx_multiply(const struct facet_mtx_numbers *numbers,
                        const struct facet_mtx_bank *bank,
                        const struct facet_mtx_product *product,
                        const uint32_t *in,
                        unsigned count,
                        uint32_t *out,
                        unsigned *flags);

/* An MxN tile; rows and columns are multiples of 4. Element (i,j) is array element
 * facet_mtx_tile_index. */
struct facet_mtx_tile {
    uint8_t rows, columns;
};
static inline unsigned facet_mtx_tile_index(struct facet_mtx_tile tile, unsigned i, unsigned j)
{
    return (i / 4 * (tile.columns / 4u) + j / 4) * 16 + i % 4 * 4 + j % 4;
}

void facet_mtx_transpose(struct facet_mtx_tile tile, const uint32_t *in, uint32_t *out);
/* `bm` 0..4 and `cl` 0..3 as the row has them. */
void facet_mtx_epilogue(const struct facet_mtx_numbers *numbers,
                        const struct facet_mtx_bank *bank,
                        struct facet_mtx_tile tile,
                        unsigned bm,
                        unsigned cl,
                        const uint32_t *in,
                        uint32_t *out,
                        unsigned *flags);
/* `op` 0 sum, 1 max, 2 min; `dim` 0 all, 1 rows, 2 columns: 1, M or N results. */
void facet_mtx_reduce(const struct facet_mtx_numbers *numbers,
                      struct facet_mtx_tile tile,
                      unsigned op,
                      unsigned dim,
                      const uint32_t *in,
                      uint32_t *out,
                      unsigned *flags);

#endif
