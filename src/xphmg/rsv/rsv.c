/* Register vectors: the prefixes (rt-semantics.md 2.1). They execute once, ignore predication and
 * touch only SVSTATE, and rd of svsetvl. The lane loop is in repeat.c. */
#include "xphmg/units/lanes.h"
#include "xphmg/units/vendor.h"

/* What svsetvl makes of a request: 0 means 256, and everything clamps to VLMAX (R-RSV-01, 02). */
static unsigned effective_vl(unsigned request)
{
    return request == 0 || request > FACET_VLMAX ? FACET_VLMAX : request;
}

/* Forgets how a former prefix switched RSV on. */
static uint64_t without_mode(uint64_t state)
{
    return state &
           ~(FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | FACET_SVSTATE_BLK | FACET_SVSTATE_STEPV);
}

static uint64_t set_vl(struct facet_hart *h, const struct facet_insn *in, unsigned request)
{
    unsigned vl = effective_vl(request & 0xFF);

    facet_hart_set_x(h, in->rd, vl);
    return FACET_PUT(h->units.rsv.svstate, SVSTATE_VLM1, vl - 1);
}

struct facet_trap facet_rsv_execute(struct facet_hart *h, const struct facet_insn *in)
{
    uint64_t state = h->units.rsv.svstate;

    if ((h->units.config->feat0 & FACET_CAP_FEAT0_RSV_PRESENT) == 0) {
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    switch ((enum facet_xphmg_op)in->row) {
    case FACET_XPHMG_SVSETVL:
        state = set_vl(h, in, (unsigned)h->x[in->rs1]);
        break;
    case FACET_XPHMG_SVSETVL_IMM8:
        state = set_vl(h, in, (unsigned)in->imm);
        break;
    case FACET_XPHMG_SVON_ONE:
        state = without_mode(state) | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT;
        break;
    case FACET_XPHMG_SVON_BLK:
        state = without_mode(state) | FACET_SVSTATE_EN;
        state = FACET_PUT(state, SVSTATE_BLK, in->imm != 0 ? in->imm : 256);
        break;
    case FACET_XPHMG_SVEND:
        state = without_mode(state);
        break;
    case FACET_XPHMG_SVP_ONE_VLSTEP:
        state = (state & ~FACET_RSV_PREFIX_FIELDS) | facet_rsv_prefix(in->word);
        break;
    case FACET_XPHMG_SVON_FPCTL:
        state |= FACET_SVSTATE_FPC_V;
        state = FACET_PUT(state, SVSTATE_FPC_RC, FACET_GET(in->word, FIELD_SVON_FPCTL_RC));
        state = FACET_PUT(state, SVSTATE_FPC_SAE, FACET_GET(in->word, FIELD_SVON_FPCTL_SAE));
        state = FACET_PUT(state, SVSTATE_FPC_Z, FACET_GET(in->word, FIELD_SVON_FPCTL_Z));
        break;
        /* No default: the compiler finds a row without code. */
        FACET_XPHMG_ROWS_BUT_RSV(FACET_XPHMG_CASE)
    case FACET_XPHMG_OP_COUNT:
        return facet_hart_trap_make(FACET_CAUSE_ILLEGAL, in->word);
    }
    h->units.rsv.svstate = state;
    return FACET_RETIRED;
}
