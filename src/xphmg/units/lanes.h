/* The frame of every lane instruction: snapshot, windows, status, trap, retire, in the one order of
 * numeric.md 11.1. Units ask for a frame, do their own reading, computing and writing, and hand
 * faults and flags back to it.
 *
 * Spec: numeric.md 7, 11.1, 11.3, 12, 13; rt-semantics.md 2.3 to 2.7; R-XM-45. */
#ifndef FACET_XPHMG_UNITS_LANES_H
#define FACET_XPHMG_UNITS_LANES_H

#include "xphmg/hart/hart.h"

/* The registers of one operand, lane by lane. */
struct facet_reg_window {
    uint8_t base;
    int8_t step;
};

struct facet_lanes {
    bool rsv;             /* SVSTATE.EN: windows act, SVFAULTI is written */
    uint8_t count;        /* VL, or 1 without RSV */
    uint64_t active;      /* bit i: lane i is predicate-true; no bit at or above count */
    struct facet_eff eff; /* with a pending svon.fpctl applied */
    uint64_t exc_en;
    uint32_t word;   /* of the instruction; 0: none that a profile counts lanes of */
    uint16_t raised; /* flags that every lane starts with: NX where that makes no difference */
};

enum { FACET_PBANK_STATE = -1 }; /* the instruction has no pbank field: SVSTATE.PBANK under RSV */

/* What svp.one.vlstep makes of SVSTATE: the fields that it clears, and then sets. */
#define FACET_RSV_PREFIX_FIELDS                                                                    \
    (FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | FACET_SVSTATE_BLK | FACET_SVSTATE_STEPV |         \
     FACET_SVSTATE_VLM1 | FACET_SVSTATE_SSTEP | FACET_SVSTATE_DSTEP)
static inline uint64_t facet_rsv_prefix(uint32_t word)
{
    uint64_t state = FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | FACET_SVSTATE_STEPV;

    state = FACET_PUT(state, SVSTATE_VLM1, FACET_GET(word, FIELD_SVP_ONE_VLSTEP_VL));
    state = FACET_PUT(state, SVSTATE_SSTEP, FACET_GET(word, FIELD_SVP_ONE_VLSTEP_SSTEP));
    return FACET_PUT(state, SVSTATE_DSTEP, FACET_GET(word, FIELD_SVP_ONE_VLSTEP_DSTEP));
}

/* Takes the snapshot. Fails with an illegal instruction for a bank that the machine lacks. */
struct facet_trap facet_lanes_begin(struct facet_hart *h,
                                    const struct facet_insn *in,
                                    int pbank,
                                    struct facet_lanes *lanes);

/* What the hart adds to a composed EFF: a pending svon.fpctl, and whether it goes the plain way. */
void facet_lanes_override(const struct facet_hart *h, struct facet_eff *eff);

enum facet_window_name { FACET_WINDOW_A, FACET_WINDOW_B, FACET_WINDOW_D };
/* The window of an operand field. `x_file`: the field names an x register (x0 is not windowed). */
struct facet_reg_window facet_lanes_window(const struct facet_hart *h,
                                           const struct facet_lanes *lanes,
                                           enum facet_window_name name,
                                           unsigned field,
                                           bool x_file);
static inline unsigned facet_lanes_window_reg(struct facet_reg_window window, unsigned lane)
{
    return (unsigned)(window.base + (int)lane * window.step) & 31;
}

static inline bool facet_lanes_active(const struct facet_lanes *lanes, unsigned lane)
{
    return (lanes->active >> lane & 1) != 0;
}

/* A memory fault of a lane: SVFAULTI under RSV, and the trap. */
struct facet_trap facet_lanes_fault(struct facet_hart *h,
                                    const struct facet_lanes *lanes,
                                    unsigned lane,
                                    struct facet_trap fault);
/* Whether fault-only-first acts on an RT, GFX or MTX instruction; clears SVFAULTI.VALID if so. Ask
 * once, after the legality checks. */
bool facet_lanes_fof(struct facet_hart *h, const struct facet_lanes *lanes);
/* A fault that fault-only-first keeps from trapping: SVFAULTI, whatever EN is. The lanes from
 * `lane` on leave the frame. */
void facet_lanes_cut(struct facet_hart *h,
                     struct facet_lanes *lanes,
                     unsigned lane,
                     struct facet_trap fault);
/* Steps 2 and 3: `compute` of the instruction under way (`run`) for each active lane, in order. A
 * fault of lane f traps, or with `fof` cuts the lanes from f on. */
typedef struct facet_trap facet_lane_fn(void *run, unsigned lane);
struct facet_trap facet_lanes_each(
    struct facet_hart *h, struct facet_lanes *lanes, bool fof, facet_lane_fn *compute, void *run);
/* Steps 4 and 5: flags[i] of each active lane go to EXC.ST and STAT, then the trap check. */
struct facet_trap facet_lanes_status(struct facet_hart *h,
                                     const struct facet_lanes *lanes,
                                     const uint16_t flags[FACET_VLMAX]);
/* Step 7. `numeric`: spends the one-shot SAE. `spends`: uses up a pending svon.fpctl with EN = 0
 * too (numeric.md 7); under RSV every lane instruction does. */
void facet_lanes_retire(struct facet_hart *h,
                        const struct facet_lanes *lanes,
                        bool numeric,
                        bool spends);

/* The part of step 7 that a disabled GFX instruction runs: one-shot or block count. */
void facet_lanes_spend(struct facet_hart *h);

/* Trap entry and return (rt-semantics.md 2.7). */
void facet_rsv_trap_entry(struct facet_rsv *rsv);
void facet_rsv_trap_return(struct facet_rsv *rsv);

#endif
