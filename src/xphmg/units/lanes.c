/* See lanes.h. */
#include "xphmg/units/lanes.h"

#include "base/bits.h"
#include "base/ways.h"
#include "machine/counts.h"

static uint64_t lane_mask(unsigned count)
{
    return count >= FACET_VLMAX ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

void facet_lanes_override(const struct facet_hart *h, struct facet_eff *eff)
{
    uint64_t state = h->units.rsv.svstate;

    eff->plain = h->plain;
    if (FACET_GET(state, SVSTATE_FPC_V) != 0) {
        facet_eff_override(eff,
                           (unsigned)FACET_GET(state, SVSTATE_FPC_RC),
                           FACET_GET(state, SVSTATE_FPC_SAE) != 0,
                           FACET_GET(state, SVSTATE_FPC_Z) != 0);
    }
}

/* EFF, from the instruction before where nothing has changed. */
static struct facet_eff effective(struct facet_hart *h)
{
    const struct facet_prec *prec = &h->units.cap.prec;
    const uint64_t mode = prec->image[FACET_PREC_MODE], alt = prec->image[FACET_PREC_ALT];
    struct facet_hart_policy *kept = &h->policy;

    if (h->plain) {
        return facet_prec_eff(prec);
    }
    if (!kept->known || kept->mode != mode || kept->alt != alt ||
        kept->alt_formats != prec->alt_formats) {
        kept->known = true;
        kept->mode = mode;
        kept->alt = alt;
        kept->alt_formats = prec->alt_formats;
        kept->eff = facet_prec_eff(prec);
        kept->conv = facet_eff_conv(&kept->eff, h->units.cap.zptab, 0);
    }
    FACET_FAST_WAY(HART_MEMO);
    return kept->eff;
}

struct facet_trap facet_lanes_begin(struct facet_hart *h,
                                    const struct facet_insn *in,
                                    int pbank,
                                    struct facet_lanes *lanes)
{
    const struct facet_units *units = &h->units;
    uint64_t state = units->rsv.svstate;
    bool rsv = FACET_GET(state, SVSTATE_EN) != 0;
    unsigned count = rsv ? (unsigned)FACET_GET(state, SVSTATE_VLM1) + 1 : 1;
    unsigned banks = facet_xphmg_config_banks(units->config);
    unsigned bank = pbank >= 0 ? (unsigned)pbank
                    : rsv      ? (unsigned)FACET_GET(state, SVSTATE_PBANK)
                               : 0;

    if (bank != 0 && bank >= banks) {
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    *lanes = (struct facet_lanes){
        .rsv = rsv,
        .count = (uint8_t)count,
        .active = lane_mask(count) & (bank == 0 ? ~UINT64_C(0) : units->pmask.bank[bank]),
        .eff = effective(h),
        .exc_en = units->cap.prec.exc_en,
        .word = in->word,
    };
    facet_lanes_override(h, &lanes->eff);
    /* It is up already and does not trap: who computes need not find out. */
    lanes->raised = !h->plain && facet_prec_hits(lanes->exc_en, lanes->eff.sae, FACET_NX) == 0
                        ? units->cap.prec.exc_st & FACET_NX
                        : 0;
    return FACET_RETIRED;
}

/* Step codes 0, 1, 2, 3 mean 0, 1, 2, 4. */
static int step_of(uint64_t code)
{
    return code == 3 ? 4 : (int)code;
}

struct facet_reg_window facet_lanes_window(const struct facet_hart *h,
                                           const struct facet_lanes *lanes,
                                           enum facet_window_name name,
                                           unsigned field,
                                           bool x_file)
{
    const struct facet_rsv *rsv = &h->units.rsv;
    uint64_t csr = name == FACET_WINDOW_A   ? rsv->svsrca
                   : name == FACET_WINDOW_B ? rsv->svsrcb
                                            : rsv->svdst;
    bool v = FACET_GET(csr, SVDST_V) != 0;
    struct facet_reg_window window = {.base = (uint8_t)field, .step = 1};

    if (!lanes->rsv || (x_file && !v && field == 0)) {
        window.step = 0;
        return window;
    }
    if (v) {
        window.base = (uint8_t)FACET_GET(csr, SVDST_BASE);
        window.step = (int8_t)FACET_GET(csr, SVDST_STRIDE);
    }
    if (FACET_GET(rsv->svstate, SVSTATE_STEPV) != 0) {
        window.step =
            (int8_t)step_of(name == FACET_WINDOW_D ? FACET_GET(rsv->svstate, SVSTATE_DSTEP)
                                                   : FACET_GET(rsv->svstate, SVSTATE_SSTEP));
    }
    return window;
}

static void record_fault(struct facet_hart *h, unsigned lane, unsigned cause)
{
    h->units.rsv.svfaulti = FACET_SVFAULTI_VALID | (uint64_t)cause << FACET_SVFAULTI_CAUSE_LSB |
                            (uint64_t)lane << FACET_SVFAULTI_IDX_LSB;
}

struct facet_trap facet_lanes_fault(struct facet_hart *h,
                                    const struct facet_lanes *lanes,
                                    unsigned lane,
                                    struct facet_trap fault)
{
    if (lanes->rsv) {
        record_fault(h, lane, fault.cause);
    }
    return fault;
}

bool facet_lanes_fof(struct facet_hart *h, const struct facet_lanes *lanes)
{
    uint64_t svmscl = h->units.cap.xmem.svmscl;

    if (!lanes->rsv || FACET_GET(svmscl, CAP_XMEM_SVMSCL_FOF) == 0) {
        return false;
    }
    h->units.rsv.svfaulti &= ~FACET_SVFAULTI_VALID;
    return true;
}

void facet_lanes_cut(struct facet_hart *h,
                     struct facet_lanes *lanes,
                     unsigned lane,
                     struct facet_trap fault)
{
    record_fault(h, lane, fault.cause);
    lanes->count = (uint8_t)lane;
    lanes->active &= lane_mask(lane);
}

struct facet_trap facet_lanes_each(
    struct facet_hart *h, struct facet_lanes *lanes, bool fof, facet_lane_fn *compute, void *run)
{
    for (unsigned i = 0; i < lanes->count; i++) {
        struct facet_trap trap = facet_lanes_active(lanes, i) ? compute(run, i) : FACET_RETIRED;

        if (trap.taken && fof) {
            facet_lanes_cut(h, lanes, i, trap);
        } else if (trap.taken) {
            return facet_lanes_fault(h, lanes, i, trap);
        }
    }
    return FACET_RETIRED;
}

struct facet_trap facet_lanes_status(struct facet_hart *h,
                                     const struct facet_lanes *lanes,
                                     const uint16_t flags[FACET_VLMAX])
{
    struct facet_prec *prec = &h->units.cap.prec;
    struct facet_trap trap = FACET_RETIRED;
    unsigned all = 0;

    if (lanes->active == lane_mask(lanes->count)) { /* a loop without branches */
        for (unsigned i = 0; i < lanes->count; i++) {
            all |= flags[i];
        }
    } else {
        for (unsigned i = 0; i < lanes->count; i++) {
            all |= facet_lanes_active(lanes, i) ? flags[i] : 0;
        }
    }
    for (unsigned i = 0; facet_prec_hits(lanes->exc_en, lanes->eff.sae, all) != 0; i++) {
        const unsigned own = facet_lanes_active(lanes, i) ? flags[i] : 0;
        const unsigned hits = facet_prec_hits(lanes->exc_en, lanes->eff.sae, own);

        if (hits != 0) { /* the lowest lane traps, all lanes raise */
            trap = facet_lanes_fault(
                h, lanes, i, facet_hart_trap_make(FACET_CAUSE_NUMERIC, hits | (uint64_t)i << 8));
            break;
        }
    }
    facet_prec_raise(prec, all);
    if (trap.taken) { /* shows the SAE that was in force (R-CAP-49) */
        prec->stat &= ~FACET_CAP_PREC_STAT_EFF_SAE;
    }
    return trap;
}

void facet_lanes_spend(struct facet_hart *h)
{
    uint64_t state = h->units.rsv.svstate, left = FACET_GET(state, SVSTATE_BLK);

    if (FACET_GET(state, SVSTATE_EN) == 0) {
        return;
    }
    if (FACET_GET(state, SVSTATE_ONE_SHOT) != 0) {
        state &= ~(FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | FACET_SVSTATE_STEPV);
    } else if (left > 0) {
        state = FACET_PUT(state, SVSTATE_BLK, left - 1);
        if (left == 1) {
            state &= ~FACET_SVSTATE_EN;
        }
    }
    h->units.rsv.svstate = state;
}

void facet_lanes_retire(struct facet_hart *h,
                        const struct facet_lanes *lanes,
                        bool numeric,
                        bool spends)
{
    if (numeric) {
        facet_prec_retire(&h->units.cap.prec);
    }
    if (lanes->rsv || spends) {
        h->units.rsv.svstate &= ~FACET_SVSTATE_FPC_V;
    }
    if (lanes->rsv) {
        facet_lanes_spend(h);
        if (__builtin_expect(h->counts != NULL, 0) && lanes->word != 0) {
            facet_counts_lanes(h->counts,
                               (uint32_t)h->hartid,
                               h->pc,
                               lanes->word,
                               facet_popcount64(lanes->active),
                               lanes->count);
        }
    }
}

void facet_rsv_trap_entry(struct facet_rsv *rsv)
{
    uint64_t state = rsv->svstate;

    state = FACET_PUT(state, SVSTATE_PEN, FACET_GET(state, SVSTATE_EN));
    state = FACET_PUT(state, SVSTATE_PFPC, FACET_GET(state, SVSTATE_FPC_V));
    rsv->svstate = state & ~(FACET_SVSTATE_EN | FACET_SVSTATE_FPC_V);
}

void facet_rsv_trap_return(struct facet_rsv *rsv)
{
    uint64_t state = rsv->svstate;

    state = FACET_PUT(state, SVSTATE_EN, FACET_GET(state, SVSTATE_PEN));
    state = FACET_PUT(state, SVSTATE_FPC_V, FACET_GET(state, SVSTATE_PFPC));
    rsv->svstate = state & ~(FACET_SVSTATE_PEN | FACET_SVSTATE_PFPC);
}
