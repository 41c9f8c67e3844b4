/* State of the XPHMG units: numeric and memory policy (CAP), predicates (PMASK), register vectors
 * (RSV), matrices (MTX), rays (RT), graphics (GFX), each hart its own; and what all harts of a
 * machine share (XMEM).
 *
 * CSR values are kept as their registers read, so that save, restore and debuggers see plain words;
 * fields are taken out with the masks of xphmg_csrs.h. The place column of spec/ *.csr.tsv says
 * which registers are members here: FACET_STORE_RT declares those of RT, and so on. */
#ifndef FACET_XPHMG_UNITS_UNITS_H
#define FACET_XPHMG_UNITS_UNITS_H

#include "contract/xphmg_csrs.h"
#include "num/eff.h"
#include "xphmg/config.h"

/* Field of a CSR value, and a value with that field replaced. */
#define FACET_GET(value, field) (((value)&FACET_##field) >> FACET_##field##_LSB)
#define FACET_PUT(value, field, to)                                                                \
    (((value) & ~FACET_##field) | ((uint64_t)(to) << FACET_##field##_LSB & FACET_##field))

enum {
    FACET_VLMAX = 64,
    FACET_BANKS = 4,
    FACET_TOKENS = 32,
    FACET_MAX_LOCKS = 256,
    FACET_MAX_ALLOCATIONS = 1024, /* 64 KiB of LDS in granules of 64 bytes */
};

struct facet_cap {
    struct facet_prec prec;
    uint8_t zptab[256];
    struct {
        FACET_STORE_CAP_XMEM;
    } xmem;
    FACET_STORE_CAP;
};

/* Bank 0 is virtual (all ones); bank[0] stays 0. */
struct facet_pmask {
    uint64_t bank[FACET_BANKS];
    bool p0;
};

struct facet_rsv {
    FACET_STORE_RSV;
};

/* Raw storage, elements as gfx-semantics.md 16.1 places them. */
struct facet_mtx_bank {
    uint8_t mtx2[16], mtx3[40], mtx4[64], bias[16];
};

struct facet_mtx {
    struct facet_mtx_bank bank[4];
    FACET_STORE_MTX;
};

/* RTSTAT.LAST_EC. */
enum facet_xphmg_rt_error {
    FACET_XPHMG_RT_EC_NONE,
    FACET_XPHMG_RT_EC_ILLEGAL,
    FACET_XPHMG_RT_EC_UNSUPPORTED,
    FACET_XPHMG_RT_EC_DESC_FAULT,
    FACET_XPHMG_RT_EC_QUEUE,
    FACET_XPHMG_RT_EC_QFULL,
    FACET_XPHMG_RT_EC_BVH,
    FACET_XPHMG_RT_EC_NUMERIC,
};

struct facet_xphmg_rt {
    FACET_STORE_RT;
};

/* Planes and border have 128 bits: two words each. */
struct facet_xphmg_gfx {
    FACET_STORE_GFX;
};

/* GFX<name> of a struct facet_xphmg_gfx. */
#define FACET_XPHMG_GFX_CSR(gfx, name) ((gfx)->FACET_MEMBER_GFX##name)

struct facet_units {
    const struct facet_cap_config *config; /* the machine's */
    struct facet_cap cap;
    struct facet_pmask pmask;
    struct facet_rsv rsv;
    struct facet_mtx mtx;
    struct facet_xphmg_rt rt;
    struct facet_xphmg_gfx gfx;
};

/* Tickets: the queue above, the sequence number below (R-XM-27). Copies have a queue and no ticket.
 */
enum {
    FACET_TICKET_QUEUE_LSB = 56,
    FACET_QUEUE_RT = 1,
    FACET_QUEUE_MTX = 2,
    FACET_QUEUE_COPY = 3,
};

struct facet_lds_block {
    uint32_t offset, size; /* inside the LDS window */
    uint8_t mclass, tier, dom, sec;
};

/* One per machine: LDS, event tokens, tickets and line locks are common to its harts. */
struct facet_xmem {
    struct facet_lds_block blocks[FACET_MAX_ALLOCATIONS]; /* in rising order of offset */
    uint32_t block_count;
    uint32_t t0_size;
    uint32_t tokens[FACET_TOKENS];
    uint64_t ticket_rt, ticket_mtx;  /* last sequence numbers */
    uint64_t locks[FACET_MAX_LOCKS]; /* line addresses */
    uint32_t lock_count;
};

void facet_units_reset(struct facet_units *units, const struct facet_cap_config *config);
void facet_xmem_reset(struct facet_xmem *xmem);

/* A vendor CSR by its full number (direct, or through XISEL), as a machine-mode read gives it.
 * XIREG is not a separate register. false: there is none. */
bool facet_units_csr(const struct facet_units *units,
                     const struct facet_xmem *xmem,
                     unsigned number,
                     uint64_t *value);

enum facet_change_kind {
    FACET_CHANGE_CSR,  /* number: the full CSR number */
    FACET_CHANGE_BANK, /* number: predicate bank 1..3 */
    FACET_CHANGE_P0,
    FACET_CHANGE_MTX, /* number: facet_change_mtx */
    FACET_CHANGE_GFX, /* number: facet_change_gfx */
};
/* A 64-bit word of matrix storage: window register (MTX2, MTX3, MTX4, MTXBIAS), bank and word. */
static inline unsigned facet_change_mtx(unsigned csr, unsigned bank, unsigned word)
{
    return csr << 8 | bank << 4 | word;
}
/* A half of a 128-bit register (GFXPLN0 to GFXPLN5, GFXBORDERC). */
static inline unsigned facet_change_gfx(unsigned csr, unsigned half)
{
    return csr << 1 | half;
}
struct facet_units_change {
    enum facet_change_kind kind;
    unsigned number;
    uint64_t old, value;
};
typedef void facet_units_change_fn(void *context, const struct facet_units_change *change);

/* Reports everything readable that differs between two states of one machine: CSRs (those selected
 * by XISEL under their own numbers), predicate banks, P0 and matrix words, in rising order within
 * each unit. Windows onto other state (XIREG, RTCLSDEF, MTX2, MTX3, MTX4, MTXBIAS, GFXWRAP,
 * GFXPLNn, GFXBORDERC) are not reported themselves. Only csr* instructions, vendor instructions,
 * instructions under RSV, traps and MRET change units.
 */
void facet_units_changes(const struct facet_units *old,
                         const struct facet_xmem *old_xmem,
                         const struct facet_units *now,
                         const struct facet_xmem *now_xmem,
                         facet_units_change_fn *report,
                         void *context);

/* Saves or loads (machine/state.h). Loading writes into *units, whose config the caller has set;
 * a state that no program could have reached fails in io. */
struct facet_state_io;
void facet_units_visit(struct facet_units *units, struct facet_state_io *io);
void facet_xmem_visit(struct facet_xmem *xmem, struct facet_state_io *io);

/* The host switches to profile Pn between two instructions (R-CAP-39). FACET_ERR_USAGE for one that
 * CAP.PROF.SUP does not have. */
enum facet_status
facet_cap_set_profile(struct facet_units *units, unsigned profile, struct facet_error *err);

#endif
