/* What jobs of all units share: reading the descriptor, and their memory policy, XPHMG_MEMCTL
 * resolved against CAP. A field counts when it is not zero and the machine has what it names; hints
 * change nothing that a program can see.
 *
 * Spec: R-XM-06, R-XM-08, R-XM-09, R-XM-32, R-XM-37, R-XM-38, R-XM-47. */
#include "base/bits.h"
#include "xphmg/hart/memory.h"
#include "xphmg/units/vendor.h"
#include "xphmg/xmem/xmem.h"

struct facet_trap
facet_xmem_read_descriptor(struct facet_hart *h, uint64_t address, unsigned size, uint8_t *bytes)
{
    struct facet_xmem_actor actor = facet_xmem_inline(h);
    struct facet_trap trap = address % 8 != 0
                                 ? facet_hart_trap_make(FACET_CAUSE_LOAD_MISALIGNED, address)
                                 : facet_xmem_probe(h, actor, address, size, false);

    for (unsigned i = 0; i < size && !trap.taken; i += 8) {
        uint64_t word = 0;

        trap = facet_hart_load(h, address + i, 8, &word);
        facet_store_le64(bytes + i, word);
    }
    return trap.taken ? facet_xmem_fault(h, actor, trap) : trap;
}

unsigned facet_xmem_unit_class(const struct facet_hart *h, unsigned mclass)
{
    unsigned preset = (unsigned)FACET_GET(FACET_XMEM_CSR(h, DESCPOL), CAP_XMEM_DESCPOL_DEF_CLASS);

    if (!FACET_XMEM_HAS(h, CLASS_PART)) {
        return 0;
    }
    return mclass >= 1 && mclass <= 3 ? mclass : preset != 0 ? preset : facet_xmem_active_class(h);
}

struct facet_xmem_job facet_xmem_policy(const struct facet_hart *h,
                                        struct facet_xmem_actor actor,
                                        const struct facet_xphmg_memctl_fields *memctl)
{
    struct facet_xmem_job job = {.actor = actor};

    if (memctl->dom != FACET_XPHMG_MEMCTL_DOM_DEFAULT) {
        job.actor.dom = memctl->dom;
    }
    if (FACET_XMEM_HAS(h, SEC_DOM)) {
        job.actor.sec = memctl->sec;
    }
    job.mclass = (uint8_t)facet_xmem_unit_class(h, memctl->mclass);
    job.sprof = FACET_XMEM_HAS(h, STREAM_PROF) ? memctl->sprof_id : 0;
    return job;
}

void facet_xmem_job_resume(const struct facet_hart *h,
                           const struct facet_xphmg_memctl_fields *memctl,
                           uint64_t pin,
                           struct facet_xmem_job *job)
{
    *job = facet_xmem_policy(h, facet_xmem_inline(h), memctl);
    job->tier = memctl->tier;
    job->pin = pin;
}

void facet_xmem_job_begin(struct facet_hart *h,
                          const struct facet_xphmg_memctl_fields *memctl,
                          struct facet_xmem_job *job)
{
    struct facet_lds_request pin = {
        .size = memctl->lds_softpin,
        .hyb = memctl->hyb == 1,
    };

    facet_xmem_job_resume(h, memctl, 0, job);
    if ((memctl->l2_hint & FACET_XPHMG_MEMCTL_L2_HINT_COMP_EN) != 0 &&
        !FACET_XMEM_HAS(h, COMPRESS)) {
        facet_cap_event(h, FACET_CAP_XMEM_EVENTS_COMP_ERR);
    }
    if (FACET_XMEM_HAS(h, LDS)) {
        pin.mclass = job->mclass;
        pin.dom = job->actor.dom;
        pin.sec = job->actor.sec;
        job->pin = facet_lds_alloc(h, &pin);
    }
    facet_hart_unit(
        h,
        "xmem",
        "job",
        6,
        (uint64_t[]){job->actor.dom, job->actor.sec, job->mclass, job->sprof, job->tier, job->pin});
}

void facet_xmem_job_end(struct facet_hart *h, struct facet_xmem_job *job)
{
    if (job->pin != 0) {
        (void)facet_lds_free(h, job->pin);
        job->pin = 0;
    }
}
