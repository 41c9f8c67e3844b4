/* Fences, event tokens, tickets and submissions.
 *
 * All accesses of this machine are performed in program order and at once visible (R-XM-30): what
 * fences wait for is jobs and copies that are under way (jobs.h, R-XM-52). A hart can wait for
 * them, for a token that is not signalled, or for a ticket that was never issued; it then stalls at
 * the instruction, which the machine tries again when something may have changed.
 *
 * Spec: R-XM-26 to R-XM-30, R-XM-51, R-XM-52. */
#include "base/bits.h"
#include "xphmg/mtx/mtx.h"
#include "xphmg/rt/rt.h"
#include "xphmg/units/jobs.h"
#include "xphmg/units/vendor.h"
#include "xphmg/xmem/unit.h"

enum { SCOPE_SYSTEM = 4 };

static bool ticket_done(const struct facet_hart *h, uint64_t ticket)
{
    uint64_t sequence = ticket & facet_bits_mask(FACET_TICKET_QUEUE_LSB);
    unsigned queue = (unsigned)(ticket >> FACET_TICKET_QUEUE_LSB);
    uint64_t last = queue == FACET_QUEUE_RT    ? h->xmem->ticket_rt
                    : queue == FACET_QUEUE_MTX ? h->xmem->ticket_mtx
                                               : 0;

    return sequence == 0 || (last != 0 && sequence <= last - facet_jobs_count(h->jobs, queue));
}

bool facet_xmem_wait_over(const struct facet_hart *h)
{
    switch ((enum facet_wait)h->wait) {
    case FACET_WAIT_TOKEN:
        return h->xmem->tokens[h->wait_on % FACET_TOKENS] != 0;
    case FACET_WAIT_TICKET:
        return ticket_done(h, h->wait_on);
    case FACET_WAIT_JOBS:
        return !facet_jobs_pending(h->jobs, h->hartid, h->wait_on);
    case FACET_WAIT_ROOM:
        return facet_jobs_count(h->jobs, (unsigned)h->wait_on) < FACET_JOB_DEPTH;
    default:
        return false;
    }
}

struct facet_trap facet_xmem_wait(struct facet_hart *h, enum facet_wait what, uint64_t on)
{
    h->wait = (uint8_t)what;
    h->wait_on = on;
    h->stalled = !facet_xmem_wait_over(h);
    h->waiting = h->stalled;
    return FACET_RETIRED;
}

static struct facet_trap wait_for(struct facet_hart *h, enum facet_wait what, uint64_t on)
{
    (void)facet_xmem_wait(h, what, on);
    if (!h->stalled) { /* reported once, not at every attempt */
        facet_hart_unit(h, "xmem", "wait", 2, (uint64_t[]){what, on});
    }
    return FACET_RETIRED;
}

static struct facet_trap signal(struct facet_hart *h, unsigned token)
{
    uint32_t *count = &h->xmem->tokens[token];

    *count += *count != UINT32_MAX;
    facet_hart_unit(h, "xmem", "signal", 2, (uint64_t[]){token, *count});
    return FACET_RETIRED;
}

static struct facet_trap wait_token(struct facet_hart *h, unsigned token)
{
    struct facet_trap trap = wait_for(h, FACET_WAIT_TOKEN, token);

    if (!h->stalled) {
        h->xmem->tokens[token]--;
    }
    return trap;
}

static struct facet_trap fence(struct facet_hart *h, const struct facet_insn *in)
{
    uint64_t dom = (uint64_t)facet_insn_field(in, "dom");
    uint64_t scope = (uint64_t)facet_insn_field(in, "scope");
    uint64_t ff = (uint64_t)facet_insn_field(in, "ff");

    if ((dom != FACET_XPHMG_MEMCTL_DOM_RT && dom != FACET_XPHMG_MEMCTL_DOM_MTX &&
         dom != FACET_DOM_ALL) ||
        scope > SCOPE_SYSTEM) {
        return facet_xmem_illegal(in);
    }
    (void)facet_xmem_wait(h, FACET_WAIT_JOBS, facet_jobs_waited(in, &h->units));
    if (!h->stalled) {
        facet_hart_unit(h, "xmem", "fence", 3, (uint64_t[]){dom, scope, ff});
    }
    return FACET_RETIRED;
}

struct facet_trap facet_xmem_sync(struct facet_hart *h, const struct facet_insn *in)
{
    switch (in->row) {
    case FACET_XPHMG_XFENCE_SIGNAL:
        return signal(h, (unsigned)facet_insn_field(in, "token"));
    case FACET_XPHMG_XFENCE_WAITI:
        return wait_token(h, (unsigned)facet_insn_field(in, "token"));
    case FACET_XPHMG_XFENCE_WAIT:
        return wait_for(h, FACET_WAIT_TICKET, h->x[in->rs1]);
    case FACET_XPHMG_XFENCE_PIPE:
        return fence(h, in);
    case FACET_XPHMG_XSUBMIT_MTX:
        return facet_mtx_submit(h, in);
    default:
        return facet_xphmg_rt_submit(h, in);
    }
}
