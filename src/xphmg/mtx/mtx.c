/* The instructions of MTX: legality by MTXCAP, then the frame of every lane instruction (fetch all
 * lanes, compute, status, probe, write, retire) around the arithmetic of math.c.
 *
 * Spec: gfx-semantics.md 2, 16, 17; numeric.md 11.1. */
#include "xphmg/mtx/mtx.h"

#include "xphmg/units/elements.h"
#include "xphmg/units/lanes.h"
#include "xphmg/units/vendor.h"

#include <string.h>

/* What an instruction does, taken from its word once. `in` elements at x[rs1] and `out` elements at
 * x[rd] (or in it) per lane. */
struct plan {
    uint16_t row;
    unsigned in, out;
    unsigned vectors; /* MUL, MAD */
    unsigned shape;   /* LD, MUL, MAD: the code */
    unsigned op, dim; /* RED */
    unsigned bm, cl;  /* EPI */
    bool to_register; /* RED of the whole tile */
    struct facet_mtx_load load;
    struct facet_mtx_product product;
    struct facet_mtx_tile tile;
};

#define FIELD(in, name) ((unsigned)FACET_GET((in)->word, FIELD_MTX_##name))
_Static_assert(FACET_FIELD_MTX_LD_SHAPE == FACET_FIELD_MTX_MUL_SHAPE &&
                   FACET_FIELD_MTX_MAD_SHAPE == FACET_FIELD_MTX_MUL_SHAPE &&
                   FACET_FIELD_MTX_LD_TRANSPOSE == FACET_FIELD_MTX_MUL_TRANSPOSE &&
                   FACET_FIELD_MTX_MAD_TRANSPOSE == FACET_FIELD_MTX_MUL_TRANSPOSE &&
                   FACET_FIELD_MTX_MAD_VEC_COUNT == FACET_FIELD_MTX_MUL_VEC_COUNT,
               "rows of matrices are read alike");
_Static_assert(FACET_FIELD_MTX_EPI_M_BLK == FACET_FIELD_MTX_TRANSPOSE_M_BLK &&
                   FACET_FIELD_MTX_RED_M_BLK == FACET_FIELD_MTX_TRANSPOSE_M_BLK &&
                   FACET_FIELD_MTX_EPI_N_BLK == FACET_FIELD_MTX_TRANSPOSE_N_BLK &&
                   FACET_FIELD_MTX_RED_N_BLK == FACET_FIELD_MTX_TRANSPOSE_N_BLK,
               "rows of tiles are read alike");

static bool has(uint64_t mtxcap, uint64_t bits)
{
    return (mtxcap & bits) == bits;
}

static bool plan_matrix(struct plan *p,
                        const struct facet_insn *in,
                        const struct facet_mtx *mtx,
                        uint64_t mtxcap)
{
    p->shape = FIELD(in, MUL_SHAPE);
    if (!facet_mtx_shape_legal(p->shape, mtxcap)) {
        return false;
    }
    if (in->row == FACET_XPHMG_MTX_LD) {
        p->load = (struct facet_mtx_load){
            .shape = facet_mtx_shape_of(p->shape),
            .transpose = FIELD(in, MUL_TRANSPOSE) != 0,
            .rowmajor = FIELD(in, LD_ROWMAJOR) != 0,
            .with_bias = FIELD(in, LD_WITH_BIAS) != 0,
        };
        p->in = facet_mtx_image_size(&p->load);
        return !p->load.with_bias || has(mtxcap, FACET_MTXCAP_HAS_BIAS);
    }
    p->product = (struct facet_mtx_product){
        .shape = facet_mtx_shape_of(p->shape),
        .transpose = FIELD(in, MUL_TRANSPOSE) != FACET_GET(mtx->cfg, MTXCFG_TRANSPOSE_DEF),
        .mad = in->row == FACET_XPHMG_MTX_MAD,
    };
    p->vectors = FIELD(in, MUL_VEC_COUNT) + 1;
    p->in = p->vectors * facet_mtx_input_size(&p->product);
    p->out = p->vectors * facet_mtx_output_size(&p->product);
    return has(mtxcap,
               p->product.mad ? FACET_MTXCAP_HAS_MAD | FACET_MTXCAP_HAS_BIAS
                              : FACET_MTXCAP_HAS_MUL);
}

static bool plan_tile(struct plan *p, const struct facet_insn *in, uint64_t mtxcap)
{
    unsigned m = FIELD(in, TRANSPOSE_M_BLK) + 1, n = FIELD(in, TRANSPOSE_N_BLK) + 1;

    if (m > FACET_GET(mtxcap, MTXCAP_MAX_M_4X) || n > FACET_GET(mtxcap, MTXCAP_MAX_N_4X) ||
        (m * n != 1 && !has(mtxcap, FACET_MTXCAP_COMPOSITE))) {
        return false;
    }
    p->tile = (struct facet_mtx_tile){(uint8_t)(4 * m), (uint8_t)(4 * n)};
    p->in = p->out = 16 * m * n;
    switch (in->row) {
    case FACET_XPHMG_MTX_TRANSPOSE:
        return has(mtxcap, FACET_MTXCAP_HAS_TRANSPOSE);
    case FACET_XPHMG_MTX_EPI:
        p->bm = FIELD(in, EPI_BM);
        p->cl = FIELD(in, EPI_CL);
        return has(mtxcap, FACET_MTXCAP_HAS_EPI) && p->bm <= 4 &&
               (p->bm == 0 || p->bm == 4 || has(mtxcap, FACET_MTXCAP_HAS_BIAS));
    default:
        p->op = FIELD(in, RED_OP);
        p->dim = FIELD(in, RED_DIM);
        p->to_register = p->dim == 0;
        p->out = p->dim == 0 ? 1 : p->dim == 1 ? p->tile.rows : p->tile.columns;
        return has(mtxcap, FACET_MTXCAP_HAS_RED) && p->op != 3 && p->dim != 3;
    }
}

/* False: an illegal instruction (16.2). */
static bool
plan_of(struct plan *p, const struct facet_insn *in, const struct facet_mtx *mtx, uint64_t mtxcap)
{
    *p = (struct plan){.row = in->row};
    switch ((enum facet_xphmg_op)in->row) {
    case FACET_XPHMG_MTX_LD:
    case FACET_XPHMG_MTX_MUL:
    case FACET_XPHMG_MTX_MAD:
        return plan_matrix(p, in, mtx, mtxcap);
    case FACET_XPHMG_MTX_TRANSPOSE:
    case FACET_XPHMG_MTX_EPI:
    case FACET_XPHMG_MTX_RED:
        return plan_tile(p, in, mtxcap);
        /* No default: the compiler finds a row without code. */
        FACET_XPHMG_ROWS_BUT_MTX(FACET_XPHMG_CASE)
    case FACET_XPHMG_OP_COUNT:
        break;
    }
    return false;
}

/* One instruction under way. The results of all lanes are kept until every source has been read.
 */
struct run {
    struct facet_hart *h;
    const struct plan *plan;
    struct facet_lanes lanes;
    struct facet_element_port port;
    struct facet_mtx_numbers numbers;
    struct facet_mtx_bank *bank;  /* the active one */
    struct facet_mtx_bank loaded; /* LD: what the bank becomes */
    struct facet_reg_window a, d;
    uint16_t flags[FACET_VLMAX];
    uint32_t (*out)[FACET_MTX_MAX_TILE]; /* of each lane */
};

/* Steps 2 and 3 of one lane: results are only kept, so computing here changes nothing for the lanes
 * whose sources are read later. */
static struct facet_trap compute_lane(void *run, unsigned lane)
{
    struct run *r = run;
    const struct plan *p = r->plan;
    uint32_t in[FACET_MTX_MAX_TILE];
    unsigned flags = r->lanes.raised;
    struct facet_trap trap =
        facet_elements_read(&r->port, r->h->x[facet_lanes_window_reg(r->a, lane)], 0, p->in, in);

    if (trap.taken) {
        return trap;
    }
    switch (p->row) {
    case FACET_XPHMG_MTX_LD: /* the highest lane stays */
        r->loaded = *r->bank;
        facet_mtx_load(&r->loaded, r->numbers.eff.elem, &p->load, in);
        break;
    case FACET_XPHMG_MTX_MUL:
    case FACET_XPHMG_MTX_MAD:
        facet_mtx_multiply(&r->numbers, r->bank, &p->product, in, p->vectors, r->out[lane], &flags);
        break;
    case FACET_XPHMG_MTX_TRANSPOSE:
        facet_mtx_transpose(p->tile, in, r->out[lane]);
        break;
    case FACET_XPHMG_MTX_EPI:
        facet_mtx_epilogue(&r->numbers, r->bank, p->tile, p->bm, p->cl, in, r->out[lane], &flags);
        break;
    default:
        facet_mtx_reduce(&r->numbers, p->tile, p->op, p->dim, in, r->out[lane], &flags);
        break;
    }
    r->flags[lane] = (uint16_t)flags;
    return FACET_RETIRED;
}

static bool to_memory(const struct plan *p)
{
    return p->out != 0 && !p->to_register;
}

/* Rows that write memory write no register, so the pointers stay as they were fetched. */
static struct facet_trap write_memory(struct run *r)
{
    for (unsigned pass = 0; pass < 2; pass++) { /* probe, then write */
        for (unsigned i = 0; i < r->lanes.count; i++) {
            uint64_t base = r->h->x[facet_lanes_window_reg(r->d, i)];
            struct facet_trap trap;

            if (!facet_lanes_active(&r->lanes, i)) {
                continue;
            }
            trap = pass == 0 ? facet_elements_probe(&r->port, base, 0, r->plan->out)
                             : facet_elements_write(&r->port, base, 0, r->plan->out, r->out[i]);
            if (trap.taken) {
                return facet_lanes_fault(r->h, &r->lanes, i, trap);
            }
        }
    }
    return FACET_RETIRED;
}

static void write_registers(struct run *r)
{
    for (unsigned i = 0; i < r->lanes.count; i++) {
        if (facet_lanes_active(&r->lanes, i)) {
            facet_hart_set_x(r->h,
                             facet_lanes_window_reg(r->d, i),
                             facet_container_single_x(&r->port.container, r->out[i][0]));
        } else if (r->lanes.eff.zmode) {
            facet_hart_set_x(r->h, facet_lanes_window_reg(r->d, i), 0);
        }
    }
}

static uint64_t counted(uint64_t stat, uint64_t field_mask, unsigned lsb, bool event)
{
    uint64_t next = (stat & field_mask) + ((uint64_t)event << lsb);

    return (stat & ~field_mask) | (next & field_mask); /* wraps inside its field */
}

/* MTXSTAT when the instruction retires. */
static void count(struct run *r)
{
    const struct plan *p = r->plan;
    struct facet_mtx_shape shape = facet_mtx_shape_of(p->shape);
    uint64_t *stat = &r->h->units.mtx.stat;
    unsigned all = 0;

    if (p->row != FACET_XPHMG_MTX_LD && p->row != FACET_XPHMG_MTX_MUL &&
        p->row != FACET_XPHMG_MTX_MAD) {
        return;
    }
    for (unsigned i = 0; i < r->lanes.count; i++) {
        all |= r->flags[i];
    }
    *stat = FACET_PUT(*stat, MTXSTAT_LAST_SHAPE, shape.rows << 4 | shape.columns);
    if (p->row != FACET_XPHMG_MTX_LD) {
        *stat = counted(*stat, FACET_MTXSTAT_OPS_ISSUED, FACET_MTXSTAT_OPS_ISSUED_LSB, true);
        *stat = counted(*stat,
                        FACET_MTXSTAT_OPS_SATURATED,
                        FACET_MTXSTAT_OPS_SATURATED_LSB,
                        (all & FACET_SAT) != 0);
        *stat = counted(
            *stat, FACET_MTXSTAT_FTZ_EVENTS, FACET_MTXSTAT_FTZ_EVENTS_LSB, (all & FACET_FTZ) != 0);
    }
}

struct facet_trap facet_mtx_execute(struct facet_hart *h, const struct facet_insn *in)
{
    struct facet_mtx *mtx = &h->units.mtx;
    uint64_t mtxcap = h->units.config->mtxcap;
    struct plan plan;
    struct run r;
    struct facet_trap trap;

    if ((h->units.config->feat0 & FACET_CAP_FEAT0_MTX_PRESENT) == 0 ||
        !plan_of(&plan, in, mtx, mtxcap)) {
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    r.h = h;
    r.plan = &plan;
    r.out = h->mtx_results->lane;
    trap = facet_lanes_begin(h, in, FACET_PBANK_STATE, &r.lanes);
    if (trap.taken) {
        return trap;
    }
    memset(r.flags, 0, sizeof r.flags);
    r.port = (struct facet_element_port){h, facet_xmem_inline(h), facet_container_of(&r.lanes.eff)};
    facet_hart_unit(
        h, "mtx", "policy", 2, (uint64_t[]){r.port.actor.dom, facet_xmem_unit_class(h, 0)});
    r.numbers = (struct facet_mtx_numbers){r.lanes.eff, h->units.cap.zptab};
    r.bank = &mtx->bank[FACET_GET(mtx->sel, MTXSEL_BANK)];
    r.loaded = *r.bank;
    r.a = facet_lanes_window(h, &r.lanes, FACET_WINDOW_A, in->rs1, true);
    r.d = facet_lanes_window(h, &r.lanes, FACET_WINDOW_D, in->rd, true);

    trap = facet_lanes_each(h, &r.lanes, facet_lanes_fof(h, &r.lanes), compute_lane, &r);
    if (!trap.taken) {
        trap = facet_lanes_status(h, &r.lanes, r.flags);
    }
    if (!trap.taken && to_memory(&plan)) {
        trap = write_memory(&r);
    }
    if (trap.taken) {
        return trap;
    }
    if (plan.to_register) {
        write_registers(&r);
    }
    if (plan.row == FACET_XPHMG_MTX_LD) {
        *r.bank = r.loaded;
    }
    count(&r);
    facet_lanes_retire(h, &r.lanes, true, true);
    return FACET_RETIRED;
}
