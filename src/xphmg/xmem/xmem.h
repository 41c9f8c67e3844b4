/* What the XMEM unit offers the other units: checked accesses, LDS allocations, and the memory
 * policy of a job.
 *
 * An XPHMG access (numeric.md 11.3) is made in two steps: probe what it may do, then use the doors
 * of memory.h. A caller that gets a trap from a probe hands it to facet_xmem_fault, which records
 * it.
 *
 * What only places data is reported to traces as events of the unit "xmem", with these values:
 *
 *     hint        hint bits that this machine has, class, domain       (XMEM.LDG, XMEM.STG)
 *     pref cctl.inv cctl.flush cctl.lock cctl.unlock
 *                 address, length, hint or number of locked lines
 *     partition   rs1, rs2              stream      rs1, rs2, 0
 *     lds.alloc   offset, size, class, tier, domain, tag
 *     lds.free    offset, size          lds.domain  offset, old and new domain
 *     lds.bar     scope                 copy        to, from, size, swz, async
 *     dstorec dloadc                    to, from, size, 0 copy 1 fallback 2 ZVC
 *     job         domain, level, class, profile, tier, soft pin
 *     fence       domain, scope, ff     signal      token, count
 *     wait        enum facet_wait, token or ticket
 *
 * Spec: numeric.md 11.3; R-XM-06 to R-XM-15, R-XM-37, R-XM-38, R-XM-42. */
#ifndef FACET_XPHMG_XMEM_XMEM_H
#define FACET_XPHMG_XMEM_XMEM_H

#include "contract/xphmg_layouts.h"
#include "xphmg/hart/hart.h"

/* CAP.XMEM.<name> of a hart, and whether its configuration has a feature. */
#define FACET_XMEM_CSR(h, name) ((h)->units.cap.xmem.FACET_MEMBER_CAP_XMEM_##name)
#define FACET_XMEM_HAS(h, feature)                                                                 \
    (((h)->units.config->xmem_cap & FACET_CAP_XMEM_CAP_##feature) != 0)

enum { FACET_DOM_ALL = FACET_XPHMG_MEMCTL_DOM_ALL, FACET_CLASS_SHARED = 2 };

static inline bool facet_xmem_dom_exists(unsigned dom)
{
    return (dom >= 1 && dom <= 6) || dom == FACET_DOM_ALL;
}

static inline unsigned facet_xmem_active_class(const struct facet_hart *h)
{
    return (unsigned)FACET_GET(FACET_XMEM_CSR(h, L1CFG), CAP_XMEM_L1CFG_ACTIVE_CLASS);
}

/* ---- accesses ----------------------------------------------------------------------------------
 */

/* Who makes an access. */
struct facet_xmem_actor {
    uint8_t dom; /* 1..6 or FACET_DOM_ALL */
    uint8_t sec; /* level 0..2 */
    bool strict; /* DESCPOL.STRICT_DOM when the instruction or job began */
};

/* An instruction that runs on the hart: CAP.XMEM.DOM and STRICT_DOM, level 0. */
struct facet_xmem_actor facet_xmem_inline(const struct facet_hart *h);

/* Mapping, domain and security of any number of bytes: cause 5 or 7 with the first bad byte. No
 * side effect. */
struct facet_trap facet_xmem_probe(const struct facet_hart *h,
                                   struct facet_xmem_actor actor,
                                   uint64_t address,
                                   uint64_t size,
                                   bool write);
/* The same for an element of 1, 2, 4 or 8 bytes, which must be aligned (cause 4 or 6). */
struct facet_trap facet_xmem_probe_element(const struct facet_hart *h,
                                           struct facet_xmem_actor actor,
                                           uint64_t address,
                                           unsigned size,
                                           bool write);
/* Records a fault in EVENTS (INV_MISS, SEC_VIOL) and returns it. */
struct facet_trap
facet_xmem_fault(struct facet_hart *h, struct facet_xmem_actor actor, struct facet_trap fault);

/* The fault of an asynchronous copy: DMA_ERR in place of INV_MISS. */
void facet_xmem_copy_error(struct facet_hart *h,
                           struct facet_xmem_actor actor,
                           struct facet_trap fault);

/* ---- LDS ---------------------------------------------------------------------------------------
 */

static inline bool facet_lds_holds(const struct facet_hart *h, uint64_t address, uint64_t size)
{
    uint64_t bytes = FACET_GET(h->units.config->xmem_params, CAP_XMEM_PARAMS_LDS_KIB) << 10;

    return address - FACET_XLDSBASE_RESET < bytes &&
           size <= bytes - (address - FACET_XLDSBASE_RESET);
}

struct facet_lds_request {
    uint64_t size;
    uint8_t mclass; /* effective class 0..3 */
    uint8_t dom, sec;
    bool hyb, t0;
};

/* Address of a new allocation, 0 when there is no room or size is 0; raises the events of R-XM-10
 * to R-XM-13. */
uint64_t facet_lds_alloc(struct facet_hart *h, const struct facet_lds_request *request);
/* false: no allocation starts there. */
bool facet_lds_free(struct facet_hart *h, uint64_t address);

/* Class of the accesses of RT, GFX and MTX, inline or job, with `mclass` of their descriptor or
 * trailer (0 without one). */
unsigned facet_xmem_unit_class(const struct facet_hart *h, unsigned mclass);

/* ---- jobs --------------------------------------------------------------------------------------
 */

/* The `size` bytes (a multiple of 8) of a descriptor at an address that must be a multiple of 8: an
 * access of the hart itself, because the policy inside is not known yet. */
struct facet_trap
facet_xmem_read_descriptor(struct facet_hart *h, uint64_t address, unsigned size, uint8_t *bytes);

/* The policy of accesses and, in a job, of what it places. */
struct facet_xmem_job {
    struct facet_xmem_actor actor;
    uint8_t mclass;
    uint8_t sprof; /* 1..3, 0: no profile named */
    uint8_t tier;  /* 1..4 = T0..T3, 0: not given */
    uint64_t pin;  /* address of the soft pin, 0 without one */
};

/* What XPHMG_MEMCTL asks of accesses (actor, mclass, sprof), where nonzero and supported; `actor`
 * has the defaults. */
struct facet_xmem_job facet_xmem_policy(const struct facet_hart *h,
                                        struct facet_xmem_actor actor,
                                        const struct facet_xphmg_memctl_fields *memctl);

/* What XPHMG_MEMCTL asks for, resolved against CAP; allocates lds_softpin and reports to the trace.
 * Every begin has its end. */
void facet_xmem_job_begin(struct facet_hart *h,
                          const struct facet_xphmg_memctl_fields *memctl,
                          struct facet_xmem_job *job);
void facet_xmem_job_end(struct facet_hart *h, struct facet_xmem_job *job);
/* The outcome of begin, with the pin that it got, for a job that was interrupted. */
void facet_xmem_job_resume(const struct facet_hart *h,
                           const struct facet_xphmg_memctl_fields *memctl,
                           uint64_t pin,
                           struct facet_xmem_job *job);

#endif
