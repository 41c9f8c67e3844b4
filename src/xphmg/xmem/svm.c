/* XMEM.SVM: gather and scatter under the SVM registers.
 *
 * Indices, bounds and addresses of all active lanes are worked out and checked before anything is
 * written, stores included; with FOF the first fault cuts the lanes off there instead of trapping.
 * EXPAND_EN and COMPRESS_EN put the number conversions of numeric.md 9 between register and memory.
 *
 * Spec: numeric.md 5, 8, 9, 11.1; R-XM-16 to R-XM-19, R-XM-39, R-XM-41, R-XM-43, R-XM-48. */
#include "num/container.h"
#include "num/wide.h"
#include "xphmg/hart/memory.h"
#include "xphmg/units/lanes.h"
#include "xphmg/units/vendor.h"
#include "xphmg/xmem/unit.h"

/* The SVM registers of one instruction. */
struct svm {
    uint64_t base, index, limit;
    unsigned scale;
    bool is_signed, scatter, fof;
    bool bounded, oob_zero, index_memory;
    unsigned index_bits;
    unsigned size;  /* of an element in bytes */
    bool convert;   /* the conversion bit of the direction is set ... */
    bool converted; /* ... and acts */
    struct facet_container container;
};

struct element {
    uint64_t address;
    uint64_t value; /* as loaded, or the register to be stored; then as it is written */
    bool outside;   /* out of bounds, and allowed to be */
};

static struct svm read_state(const struct facet_hart *h, const struct facet_eff *eff)
{
    static const uint8_t index_bits[4] = {64, 8, 16, 32};
    uint64_t scl = FACET_XMEM_CSR(h, SVMSCL), mode = FACET_XMEM_CSR(h, SVMMODE);
    uint64_t len = FACET_GET(FACET_XMEM_CSR(h, SVMLEN), CAP_XMEM_SVMLEN_LEN);
    bool scatter = FACET_GET(scl, CAP_XMEM_SVMSCL_GS) != 0;
    struct svm s = {
        .base = FACET_XMEM_CSR(h, SVMBASE),
        .index = FACET_XMEM_CSR(h, SVMIDX),
        .limit = FACET_XMEM_CSR(h, SVMLIM),
        .scale = (unsigned)FACET_GET(scl, CAP_XMEM_SVMSCL_SCALE),
        .is_signed = FACET_GET(scl, CAP_XMEM_SVMSCL_SIGNED) != 0,
        .scatter = scatter,
        .fof = FACET_GET(scl, CAP_XMEM_SVMSCL_FOF) != 0,
        .bounded = FACET_GET(mode, CAP_XMEM_SVMMODE_BOUND_CHECK) != 0,
        .oob_zero = FACET_GET(mode, CAP_XMEM_SVMMODE_ALLOW_OOB_ZERO) != 0,
        .index_memory = FACET_GET(mode, CAP_XMEM_SVMMODE_IDX_MEM) != 0,
        .index_bits = index_bits[FACET_GET(mode, CAP_XMEM_SVMMODE_IDX_EW)],
        .convert = (scatter ? FACET_GET(mode, CAP_XMEM_SVMMODE_COMPRESS_EN)
                            : FACET_GET(mode, CAP_XMEM_SVMMODE_EXPAND_EN)) != 0,
        .container = facet_container_of(eff),
    };

    s.size = len != 0 ? (unsigned)len : s.container.bytes;
    s.converted = s.convert && eff->pack == 0 && len == 0;
    return s;
}

/* Index of a lane as an exact number. */
static struct facet_trap
read_index(struct facet_hart *h, const struct svm *s, unsigned lane, facet_i128 *index)
{
    unsigned bytes = s->index_bits / 8;
    uint64_t raw = h->x[(s->index + lane) & 31];

    if (s->index_memory) {
        uint64_t address = s->index + (uint64_t)lane * bytes;
        struct facet_trap trap =
            facet_xmem_probe_element(h, facet_xmem_inline(h), address, bytes, false);

        if (!trap.taken) {
            trap = facet_hart_load(h, address, bytes, &raw);
        }
        if (trap.taken) {
            return trap;
        }
    }
    *index = s->is_signed ? (facet_i128)facet_bits_sign(raw, s->index_bits)
                          : (facet_i128)(raw & facet_bits_mask(s->index_bits));
    return FACET_RETIRED;
}

/* Step 2 of one lane: its address, checked, and for a gather its element. */
static struct facet_trap
fetch(struct facet_hart *h, const struct svm *s, unsigned lane, struct element *e)
{
    facet_i128 index = 0, offset;
    struct facet_trap trap = read_index(h, s, lane, &index);

    if (trap.taken) {
        return trap;
    }
    offset = index * ((facet_i128)1 << s->scale);
    e->address = s->base + (uint64_t)offset;
    e->outside = s->bounded && (offset < 0 || offset + s->size > (facet_i128)s->limit);
    if (e->outside) {
        e->value = 0;
        return s->oob_zero
                   ? FACET_RETIRED
                   : facet_hart_trap_make(
                         s->scatter ? FACET_CAUSE_STORE_FAULT : FACET_CAUSE_LOAD_FAULT, e->address);
    }
    trap = facet_xmem_probe_element(h, facet_xmem_inline(h), e->address, s->size, s->scatter);
    if (!trap.taken && !s->scatter) {
        trap = facet_hart_load(h, e->address, s->size, &e->value);
    }
    return trap;
}

/* Step 3: what is written, in the form of its destination. */
static void compute(const struct facet_hart *h,
                    const struct svm *s,
                    const struct facet_eff *eff,
                    unsigned lane,
                    struct element *e,
                    uint16_t *flags)
{
    unsigned raised = s->convert && !s->converted ? FACET_UNSUP : 0;

    if (s->converted && !e->outside) {
        struct facet_conv conv = facet_eff_conv(eff, h->units.cap.zptab, lane);
        enum facet_format acc = (enum facet_format)eff->acc;

        e->value =
            s->scatter
                ? facet_container_put(&s->container,
                                      0,
                                      0,
                                      facet_narrow(&conv, facet_acc_from_x(acc, e->value), &raised))
                : facet_acc_to_x(
                      acc,
                      facet_widen(&conv, facet_container_get(&s->container, e->value, 0), &raised));
    } else if (!s->scatter && s->container.sign_extend) {
        e->value = (uint64_t)facet_bits_sign(e->value, 8 * s->size);
    }
    *flags = (uint16_t)raised;
}

/* Step 6. */
static struct facet_trap write_back(struct facet_hart *h,
                                    const struct facet_insn *in,
                                    const struct facet_lanes *lanes,
                                    const struct svm *s,
                                    const struct element *e)
{
    struct facet_reg_window to = facet_lanes_window(h, lanes, FACET_WINDOW_D, in->rd, true);

    for (unsigned i = 0; i < lanes->count; i++) {
        bool active = facet_lanes_active(lanes, i);

        if (s->scatter) {
            struct facet_trap trap = active && !e[i].outside
                                         ? facet_hart_store(h, e[i].address, s->size, e[i].value)
                                         : FACET_RETIRED;

            if (trap.taken) { /* a device that refuses */
                return facet_lanes_fault(
                    h, lanes, i, facet_xmem_fault(h, facet_xmem_inline(h), trap));
            }
        } else if (active || lanes->eff.zmode) {
            facet_hart_set_x(h, facet_lanes_window_reg(to, i), active ? e[i].value : 0);
        }
    }
    return FACET_RETIRED;
}

struct facet_trap facet_xmem_svm(struct facet_hart *h, const struct facet_insn *in)
{
    struct element e[FACET_VLMAX];
    uint16_t flags[FACET_VLMAX] = {0};
    struct facet_lanes lanes;
    struct facet_reg_window from;
    struct facet_trap trap = facet_lanes_begin(h, in, (int)facet_insn_field(in, "pbank"), &lanes);
    struct svm s;

    if (trap.taken) {
        return trap;
    }
    s = read_state(h, &lanes.eff);
    if (s.fof) {
        h->units.rsv.svfaulti &= ~FACET_SVFAULTI_VALID;
    }
    from = facet_lanes_window(h, &lanes, FACET_WINDOW_B, in->rs2, true);
    for (unsigned i = 0; i < lanes.count; i++) {
        if (!facet_lanes_active(&lanes, i)) {
            continue;
        }
        e[i].value = h->x[facet_lanes_window_reg(from, i)];
        trap = fetch(h, &s, i, &e[i]);
        if (trap.taken) {
            (void)facet_xmem_fault(h, facet_xmem_inline(h), trap);
            if (!s.fof) {
                return facet_lanes_fault(h, &lanes, i, trap);
            }
            facet_lanes_cut(h, &lanes, i, trap);
        } else if (e[i].outside) {
            facet_cap_event(h, FACET_CAP_XMEM_EVENTS_INV_MISS);
        }
    }
    for (unsigned i = 0; i < lanes.count; i++) {
        if (facet_lanes_active(&lanes, i)) {
            compute(h, &s, &lanes.eff, i, &e[i], &flags[i]);
        }
    }
    trap = s.convert ? facet_lanes_status(h, &lanes, flags) : FACET_RETIRED;
    if (!trap.taken) {
        trap = write_back(h, in, &lanes, &s, e);
    }
    if (!trap.taken) {
        facet_lanes_retire(h, &lanes, s.convert, true);
    }
    return trap;
}
