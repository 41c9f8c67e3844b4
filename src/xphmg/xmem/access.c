/* XMEM.LDG, XMEM.STG and XLDS.ATOMS: lane instructions on single elements.
 *
 * All lanes are read and checked before any is written; atomics then read and write their word lane
 * by lane, so that a lane sees what lower lanes did. Hints place nothing in this machine: they are
 * reported to the trace, and LOCK enters the lock table.
 *
 * Spec: numeric.md 11.1, 13; R-XM-02, R-XM-19, R-XM-21, R-XM-24. */
#include "xphmg/hart/memory.h"
#include "xphmg/units/lanes.h"
#include "xphmg/xmem/unit.h"

enum {
    HINT_L1_ONLY = 1,
    HINT_L2_ONLY = 2,
    HINT_LDS_PREF = 4,
    HINT_NONTEMP = 8,
    HINT_LOCK = 16,
    HINT_STREAM = 32,
};

/* Operands of one lane. */
struct lane {
    uint64_t address;
    uint64_t value; /* loaded, or to be stored */
    uint64_t compare;
};

/* The hint without what this machine does not have. */
static unsigned effective_hint(const struct facet_hart *h, unsigned hint)
{
    unsigned absent = (FACET_XMEM_HAS(h, L1) ? 0 : HINT_L1_ONLY) |
                      (FACET_XMEM_HAS(h, L2) ? 0 : HINT_L2_ONLY) |
                      (FACET_XMEM_HAS(h, LDS) ? 0 : HINT_LDS_PREF) |
                      (FACET_XMEM_HAS(h, NONTEMP) ? 0 : HINT_NONTEMP) |
                      (FACET_XMEM_HAS(h, LINE_LOCK) ? 0 : HINT_LOCK);

    return hint & ~absent;
}

/* What the hint of a finished access does. */
static void follow_hint(struct facet_hart *h,
                        const struct facet_insn *in,
                        const struct facet_lanes *lanes,
                        const struct lane *lane,
                        unsigned size)
{
    unsigned hint = effective_hint(h, (unsigned)facet_insn_field(in, "hint"));

    for (unsigned i = 0; i < lanes->count && (hint & HINT_LOCK) != 0; i++) {
        if (facet_lanes_active(lanes, i)) {
            facet_xmem_lock(h, lane[i].address, size);
        }
    }
    facet_hart_unit(h,
                    "xmem",
                    "hint",
                    3,
                    (uint64_t[]){hint, facet_xmem_active_class(h), facet_xmem_inline(h).dom});
}

static struct facet_trap lane_fault(struct facet_hart *h,
                                    const struct facet_lanes *lanes,
                                    unsigned i,
                                    struct facet_trap fault)
{
    return facet_lanes_fault(h, lanes, i, facet_xmem_fault(h, facet_xmem_inline(h), fault));
}

struct facet_trap facet_xmem_load(struct facet_hart *h, const struct facet_insn *in)
{
    bool zero = in->row >= FACET_XPHMG_XMEM_LDG_BU;
    unsigned code = in->row - (zero ? FACET_XPHMG_XMEM_LDG_BU : FACET_XPHMG_XMEM_LDG_B);
    unsigned size = 1u << code;
    struct lane lane[FACET_VLMAX];
    struct facet_lanes lanes;
    struct facet_reg_window from, to;
    struct facet_trap trap = facet_lanes_begin(h, in, (int)facet_insn_field(in, "pbank"), &lanes);

    if (trap.taken) {
        return trap;
    }
    from = facet_lanes_window(h, &lanes, FACET_WINDOW_A, in->rs1, true);
    to = facet_lanes_window(h, &lanes, FACET_WINDOW_D, in->rd, true);
    for (unsigned i = 0; i < lanes.count; i++) {
        if (!facet_lanes_active(&lanes, i)) {
            continue;
        }
        lane[i].address = h->x[facet_lanes_window_reg(from, i)];
        trap = facet_xmem_probe_element(h, facet_xmem_inline(h), lane[i].address, size, false);
        if (!trap.taken) {
            trap = facet_hart_load(h, lane[i].address, size, &lane[i].value);
        }
        if (trap.taken) {
            return lane_fault(h, &lanes, i, trap);
        }
    }
    for (unsigned i = 0; i < lanes.count; i++) {
        unsigned reg = facet_lanes_window_reg(to, i);

        if (facet_lanes_active(&lanes, i)) {
            facet_hart_set_x(
                h, reg, zero ? lane[i].value : (uint64_t)facet_bits_sign(lane[i].value, 8 * size));
        } else if (lanes.eff.zmode) {
            facet_hart_set_x(h, reg, 0);
        }
    }
    follow_hint(h, in, &lanes, lane, size);
    facet_lanes_retire(h, &lanes, false, true);
    return FACET_RETIRED;
}

/* Reads addresses and values of the active lanes and probes them for writing; `in_lds`: nothing
 * else will do. */
static struct facet_trap gather_stores(struct facet_hart *h,
                                       const struct facet_insn *in,
                                       const struct facet_lanes *lanes,
                                       unsigned size,
                                       bool in_lds,
                                       struct lane *lane)
{
    struct facet_reg_window a = facet_lanes_window(h, lanes, FACET_WINDOW_A, in->rs1, true);
    struct facet_reg_window b = facet_lanes_window(h, lanes, FACET_WINDOW_B, in->rs2, true);
    struct facet_reg_window d = facet_lanes_window(h, lanes, FACET_WINDOW_D, in->rd, true);

    for (unsigned i = 0; i < lanes->count; i++) {
        struct facet_trap trap;

        if (!facet_lanes_active(lanes, i)) {
            continue;
        }
        lane[i].address = h->x[facet_lanes_window_reg(a, i)];
        lane[i].value = h->x[facet_lanes_window_reg(b, i)];
        lane[i].compare = h->x[facet_lanes_window_reg(d, i)];
        trap = facet_xmem_probe_element(h, facet_xmem_inline(h), lane[i].address, size, true);
        if (!trap.taken && in_lds && !facet_lds_holds(h, lane[i].address, size)) {
            trap = facet_hart_trap_make(FACET_CAUSE_STORE_FAULT, lane[i].address);
        }
        if (trap.taken) {
            return lane_fault(h, lanes, i, trap);
        }
    }
    return FACET_RETIRED;
}

struct facet_trap facet_xmem_store(struct facet_hart *h, const struct facet_insn *in)
{
    unsigned size = 1u << (in->row - FACET_XPHMG_XMEM_STG_B);
    struct lane lane[FACET_VLMAX];
    struct facet_lanes lanes;
    struct facet_trap trap = facet_lanes_begin(h, in, (int)facet_insn_field(in, "pbank"), &lanes);

    if (!trap.taken) {
        trap = gather_stores(h, in, &lanes, size, false, lane);
    }
    if (trap.taken) {
        return trap;
    }
    for (unsigned i = 0; i < lanes.count; i++) {
        if (facet_lanes_active(&lanes, i)) {
            trap = facet_hart_store(h, lane[i].address, size, lane[i].value);
            if (trap.taken) { /* a device that refuses */
                return lane_fault(h, &lanes, i, trap);
            }
        }
    }
    follow_hint(h, in, &lanes, lane, size);
    facet_lanes_retire(h, &lanes, false, false);
    return FACET_RETIRED;
}

/* ---- atomics -----------------------------------------------------------------------------------
 */

/* What the word becomes; operands already extended to 64 bits, signed and unsigned. */
static uint64_t combine(unsigned row, uint64_t old, uint64_t value, uint64_t compare, unsigned size)
{
    uint64_t mask = facet_bits_mask(8 * size);
    int64_t so = facet_bits_sign(old, 8 * size), sv = facet_bits_sign(value, 8 * size);

    value &= mask;
    switch (row) {
    case FACET_XPHMG_XLDS_ATOMS_ADD_W:
    case FACET_XPHMG_XLDS_ATOMS_ADD_D:
        return old + value;
    case FACET_XPHMG_XLDS_ATOMS_SWAP_W:
    case FACET_XPHMG_XLDS_ATOMS_SWAP_D:
        return value;
    case FACET_XPHMG_XLDS_ATOMS_AND_W:
    case FACET_XPHMG_XLDS_ATOMS_AND_D:
        return old & value;
    case FACET_XPHMG_XLDS_ATOMS_OR_W:
    case FACET_XPHMG_XLDS_ATOMS_OR_D:
        return old | value;
    case FACET_XPHMG_XLDS_ATOMS_XOR_W:
    case FACET_XPHMG_XLDS_ATOMS_XOR_D:
        return old ^ value;
    case FACET_XPHMG_XLDS_ATOMS_MIN_W:
    case FACET_XPHMG_XLDS_ATOMS_MIN_D:
        return so < sv ? old : value;
    case FACET_XPHMG_XLDS_ATOMS_MAX_W:
    case FACET_XPHMG_XLDS_ATOMS_MAX_D:
        return so > sv ? old : value;
    case FACET_XPHMG_XLDS_ATOMS_MINU_W:
    case FACET_XPHMG_XLDS_ATOMS_MINU_D:
        return old < value ? old : value;
    case FACET_XPHMG_XLDS_ATOMS_MAXU_W:
    case FACET_XPHMG_XLDS_ATOMS_MAXU_D:
        return old > value ? old : value;
    default: /* CAS */
        return old == (compare & mask) ? value : old;
    }
}

struct facet_trap facet_xmem_atomic(struct facet_hart *h, const struct facet_insn *in)
{
    /* .w and .d rows take turns */
    unsigned size = ((in->row - FACET_XPHMG_XLDS_ATOMS_ADD_W) & 1) == 0 ? 4 : 8;
    struct lane lane[FACET_VLMAX];
    struct facet_lanes lanes;
    struct facet_reg_window to;
    struct facet_trap trap;

    if ((h->units.config->feat0 & FACET_CAP_FEAT0_LDS_ATOMICS) == 0) {
        return facet_xmem_illegal(in);
    }
    trap = facet_lanes_begin(h, in, FACET_PBANK_STATE, &lanes);
    if (!trap.taken) {
        trap = gather_stores(h, in, &lanes, size, true, lane);
    }
    if (trap.taken) {
        return trap;
    }
    to = facet_lanes_window(h, &lanes, FACET_WINDOW_D, in->rd, true);
    for (unsigned i = 0; i < lanes.count; i++) {
        unsigned reg = facet_lanes_window_reg(to, i);
        uint64_t old = 0;

        if (facet_lanes_active(&lanes, i)) {
            trap = facet_hart_load(h, lane[i].address, size, &old);
            if (!trap.taken) {
                trap =
                    facet_hart_store(h,
                                     lane[i].address,
                                     size,
                                     combine(in->row, old, lane[i].value, lane[i].compare, size));
            }
            if (trap.taken) { /* the LDS window is not memory */
                trap.cause = FACET_CAUSE_STORE_FAULT;
                return lane_fault(h, &lanes, i, trap);
            }
            facet_hart_set_x(h, reg, (uint64_t)facet_bits_sign(old, 8 * size));
        } else if (lanes.eff.zmode) {
            facet_hart_set_x(h, reg, 0);
        }
    }
    facet_lanes_retire(h, &lanes, false, true);
    return FACET_RETIRED;
}
