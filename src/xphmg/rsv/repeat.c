/* The lane loop over base instructions (rt-semantics.md 2.4, numeric.md 11.1): every source of
 * every lane is read, then results are computed, status and destinations are checked, and only then
 * is anything written. Lanes are computed on values, from the same bodies that the scalar executors
 * run (alu.def, fp.def). */
#include "xphmg/hart/alu.h"
#include "xphmg/hart/memory.h"
#include "xphmg/rsv/fp.h"
#include "xphmg/units/lanes.h"
#include "xphmg/units/vendor.h"

enum kind {
    UNAFFECTED, /* executes once, uses and spends nothing (R-RSV-06) */
    ALU,        /* integer registers and immediates, LUI and AUIPC included */
    LOAD,
    STORE,
    ATOMIC,
    FLOAT,
};

enum file { X, F };

/* What the loop has to know of a row. */
struct shape {
    uint8_t kind;
    uint8_t size;    /* bytes of a memory access */
    uint8_t rd, rs1; /* enum file */
    uint8_t data;    /* enum file: rs2 of a store */
    bool sign;       /* of a loaded value */
};

#define ROW(row, ...) [FACET_XPHMG_##row] = {__VA_ARGS__},
#define AMO(name)                                                                                  \
    ROW(AMO##name##_W, .kind = ATOMIC, .size = 4, .sign = true)                                    \
    ROW(AMO##name##_D, .kind = ATOMIC, .size = 8)

static const struct shape shapes[FACET_XPHMG_OP_COUNT] = {
#define ALU_RR(row, value) ROW(row, .kind = ALU)
#define ALU_RI(row, value) ROW(row, .kind = ALU)
#define ALU_R(row, value) ROW(row, .kind = ALU)
#include "xphmg/hart/alu.def"
    /* clang-format off */
    ROW(LUI, .kind = ALU)
    ROW(AUIPC, .kind = ALU)
    ROW(LB, .kind = LOAD, .size = 1, .sign = true)
    ROW(LH, .kind = LOAD, .size = 2, .sign = true)
    ROW(LW, .kind = LOAD, .size = 4, .sign = true)
    ROW(LD, .kind = LOAD, .size = 8)
    ROW(LBU, .kind = LOAD, .size = 1)
    ROW(LHU, .kind = LOAD, .size = 2)
    ROW(LWU, .kind = LOAD, .size = 4)
    ROW(FLH, .kind = LOAD, .size = 2, .rd = F)
    ROW(FLW, .kind = LOAD, .size = 4, .rd = F)
    ROW(FLD, .kind = LOAD, .size = 8, .rd = F)
    ROW(SB, .kind = STORE, .size = 1)
    ROW(SH, .kind = STORE, .size = 2)
    ROW(SW, .kind = STORE, .size = 4)
    ROW(SD, .kind = STORE, .size = 8)
    ROW(FSH, .kind = STORE, .size = 2, .data = F)
    ROW(FSW, .kind = STORE, .size = 4, .data = F)
    ROW(FSD, .kind = STORE, .size = 8, .data = F)
    AMO(SWAP) AMO(ADD) AMO(XOR) AMO(AND) AMO(OR) AMO(MIN) AMO(MAX) AMO(MINU) AMO(MAXU)
#define FP(row, dst, src, value) ROW(row, .kind = FLOAT, .rd = dst, .rs1 = src)
#include "xphmg/hart/fp.def"
    /* clang-format on */
};

/* FSGNJ*, FMV.* and FCLASS.* run as in the base ISA and are not numeric. */
static bool moves_bits(unsigned row)
{
    switch (row) {
    case FACET_XPHMG_FSGNJ_S:
    case FACET_XPHMG_FSGNJN_S:
    case FACET_XPHMG_FSGNJX_S:
    case FACET_XPHMG_FSGNJ_D:
    case FACET_XPHMG_FSGNJN_D:
    case FACET_XPHMG_FSGNJX_D:
    case FACET_XPHMG_FSGNJ_H:
    case FACET_XPHMG_FSGNJN_H:
    case FACET_XPHMG_FSGNJX_H:
    case FACET_XPHMG_FMV_X_W:
    case FACET_XPHMG_FMV_W_X:
    case FACET_XPHMG_FMV_X_D:
    case FACET_XPHMG_FMV_D_X:
    case FACET_XPHMG_FMV_X_H:
    case FACET_XPHMG_FMV_H_X:
    case FACET_XPHMG_FCLASS_S:
    case FACET_XPHMG_FCLASS_D:
    case FACET_XPHMG_FCLASS_H:
        return true;
    default:
        return false;
    }
}

/* One instruction in the loop. */
struct loop {
    struct facet_hart *h;
    const struct facet_insn *in;
    const struct shape *shape;
    struct facet_lanes lanes;
    uint64_t a[FACET_VLMAX], b[FACET_VLMAX], c[FACET_VLMAX];
    uint64_t result[FACET_VLMAX];
    uint16_t flags[FACET_VLMAX];
};

bool facet_rsv_affects(const struct facet_insn *in)
{
    return in->row < FACET_XPHMG_OP_COUNT && shapes[in->row].kind != UNAFFECTED;
}

static struct facet_reg_window
window(const struct loop *l, enum facet_window_name name, unsigned field, unsigned file)
{
    return facet_lanes_window(l->h, &l->lanes, name, field, file == X);
}

static void read_registers(struct loop *l)
{
    const struct facet_insn *in = l->in;
    const uint64_t *files[] = {[X] = l->h->x, [F] = l->h->f};
    unsigned data = l->shape->kind == FLOAT ? F : l->shape->data;
    struct facet_reg_window a = window(l, FACET_WINDOW_A, in->rs1, l->shape->rs1),
                            b = window(l, FACET_WINDOW_B, in->rs2, data),
                            d = window(l, FACET_WINDOW_D, in->rd, l->shape->rd),
                            c = {in->rs3, d.step}; /* accumulators walk with rd */

    for (unsigned i = 0; i < l->lanes.count; i++) {
        if (facet_lanes_active(&l->lanes, i)) {
            l->a[i] = files[l->shape->rs1][facet_lanes_window_reg(a, i)];
            l->b[i] = files[data][facet_lanes_window_reg(b, i)];
            l->c[i] = l->h->f[facet_lanes_window_reg(c, i)];
        }
    }
}

static uint64_t address(const struct loop *l, unsigned lane)
{
    return l->a[lane] + (l->shape->kind == ATOMIC ? 0 : (uint64_t)l->in->imm);
}

static uint64_t extended(const struct shape *shape, uint64_t value)
{
    if (shape->rd == F) {
        return value | ~facet_bits_mask(8u * shape->size); /* NaN-boxed */
    }
    return shape->sign ? (uint64_t)facet_bits_sign(value, 8u * shape->size) : value;
}

/* Step 1: registers, then memory, in lane order. */
static struct facet_trap fetch(struct loop *l)
{
    read_registers(l);
    if (l->shape->kind != LOAD) {
        return FACET_RETIRED;
    }
    for (unsigned i = 0; i < l->lanes.count; i++) {
        struct facet_trap trap;

        if (!facet_lanes_active(&l->lanes, i)) {
            continue;
        }
        trap = facet_hart_check(l->h, address(l, i), l->shape->size, false);
        if (!trap.taken) {
            trap = facet_hart_load_data(l->h, address(l, i), l->shape->size, &l->result[i]);
        }
        if (trap.taken) {
            return facet_lanes_fault(l->h, &l->lanes, i, trap);
        }
        l->result[i] = extended(l->shape, l->result[i]);
    }
    return FACET_RETIRED;
}

static uint64_t integer(const struct facet_insn *in, uint64_t pc, uint64_t a, uint64_t b)
{
    uint64_t imm = (uint64_t)in->imm;

    switch (in->row) {
#define W(v) facet_hart_w(v)
#define ALU_RR(row, value)                                                                         \
    case FACET_XPHMG_##row:                                                                        \
        return (value);
#define ALU_RI ALU_RR
#define ALU_R ALU_RR
#include "xphmg/hart/alu.def"
    case FACET_XPHMG_AUIPC:
        return pc + imm;
    default: /* LUI */
        return imm;
    }
}

/* The rounding mode of a numeric instruction: svon.fpctl, else static, else CAP. */
static unsigned rounding(const struct loop *l)
{
    uint64_t state = l->h->units.rsv.svstate;
    bool forced =
        (state & FACET_SVSTATE_FPC_V) != 0 && FACET_GET(state, SVSTATE_FPC_RC) <= FACET_RMM;

    return forced || l->in->rm > FACET_RMM ? l->lanes.eff.rm : l->in->rm;
}

/* Step 2. */
static void compute(struct loop *l)
{
    unsigned rm = rounding(l);

    for (unsigned i = 0; i < l->lanes.count; i++) {
        unsigned flags = 0;

        if (!facet_lanes_active(&l->lanes, i)) {
            continue;
        }
        if (l->shape->kind == ALU) {
            l->result[i] = integer(l->in, l->h->pc, l->a[i], l->b[i]);
        } else if (l->shape->kind == FLOAT) {
            l->result[i] =
                facet_rsv_fp(l->in, &l->lanes.eff, rm, l->a[i], l->b[i], l->c[i], &flags);
            l->flags[i] = (uint16_t)flags;
        }
    }
}

/* Step 4: stores and AMOs. */
static struct facet_trap probe(struct loop *l)
{
    unsigned size = l->shape->size;

    for (unsigned i = 0; i < l->lanes.count; i++) {
        struct facet_trap trap;

        if (!facet_lanes_active(&l->lanes, i)) {
            continue;
        }
        trap = l->shape->kind == ATOMIC && (address(l, i) & (size - 1)) != 0
                   ? facet_hart_trap_make(FACET_CAUSE_STORE_MISALIGNED, address(l, i))
                   : facet_hart_check(l->h, address(l, i), size, true);
        if (!trap.taken) {
            trap = facet_hart_probe(l->h, address(l, i), size, true);
        }
        if (trap.taken) {
            return facet_lanes_fault(l->h, &l->lanes, i, trap);
        }
    }
    return FACET_RETIRED;
}

/* The memory side of an active lane in step 5; only a device can still refuse (R-XM-45). */
static struct facet_trap touch_memory(struct loop *l, unsigned lane)
{
    unsigned size = l->shape->size;
    uint64_t at = address(l, lane), old;
    struct facet_trap trap;

    if (l->shape->kind == STORE) {
        return facet_hart_store(l->h, at, size, l->b[lane]);
    }
    trap = facet_hart_load_data(l->h, at, size, &old);
    if (trap.taken) { /* an AMO reports the store side */
        return facet_hart_trap_make(FACET_CAUSE_STORE_FAULT, trap.tval);
    }
    l->result[lane] = extended(l->shape, old);
    return facet_hart_store(
        l->h, at, size, facet_hart_amo_result(l->in->row, old, l->b[lane], size));
}

/* +0 of the destination's format, NaN-boxed (R-RSV-16). The format bits of OP-FP and fused
 * multiply-add name the result: 0 S, 1 D, 2 H. */
static uint64_t zero_of(const struct loop *l)
{
    static const uint8_t bits[] = {32, 64, 16, 64};

    if (l->shape->rd == X) {
        return 0;
    }
    return ~facet_bits_mask(l->shape->kind == LOAD ? 8u * l->shape->size
                                                   : bits[l->in->word >> 25 & 3]);
}

/* Step 5. */
static struct facet_trap write_back(struct loop *l)
{
    struct facet_reg_window d = window(l, FACET_WINDOW_D, l->in->rd, l->shape->rd);
    void (*write)(struct facet_hart *, unsigned, uint64_t) =
        l->shape->rd == F ? facet_hart_set_f : facet_hart_set_x;

    for (unsigned i = 0; i < l->lanes.count; i++) {
        if (facet_lanes_active(&l->lanes, i) &&
            (l->shape->kind == STORE || l->shape->kind == ATOMIC)) {
            struct facet_trap trap = touch_memory(l, i);

            if (trap.taken) {
                return facet_lanes_fault(l->h, &l->lanes, i, trap);
            }
        }
        if (l->shape->kind != STORE && (facet_lanes_active(&l->lanes, i) || l->lanes.eff.zmode)) {
            write(l->h,
                  facet_lanes_window_reg(d, i),
                  facet_lanes_active(&l->lanes, i) ? l->result[i] : zero_of(l));
        }
    }
    return FACET_RETIRED;
}

struct facet_trap facet_rsv_repeat(struct facet_hart *h, const struct facet_insn *in)
{
    struct loop l = {.h = h, .in = in, .shape = &shapes[in->row]};
    bool touches_f = l.shape->kind == FLOAT || l.shape->rd == F || l.shape->data == F;
    bool numeric = l.shape->kind == FLOAT && !moves_bits(in->row);
    struct facet_trap trap;

    if (touches_f && h->fs == FACET_FS_OFF) {
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    trap = facet_lanes_begin(h, in, FACET_PBANK_STATE, &l.lanes);
    if (!trap.taken) {
        trap = fetch(&l);
    }
    if (!trap.taken) {
        compute(&l);
    }
    if (!trap.taken && numeric) {
        trap = facet_lanes_status(h, &l.lanes, l.flags);
    }
    if (!trap.taken && (l.shape->kind == STORE || l.shape->kind == ATOMIC)) {
        trap = probe(&l);
    }
    if (!trap.taken) {
        trap = write_back(&l);
    }
    if (!trap.taken) {
        facet_lanes_retire(h, &l.lanes, numeric, true);
    }
    return trap;
}
