/* Saving and loading the units (machine/state.h): every field once, and what no machine can hold is
 * refused. A loaded register must be one that its own write rules would have stored. */
#include "xphmg/units/units.h"

#include "machine/state.h"
#include "xphmg/hart/csr_file.h"

#include <stdio.h>
#include <string.h>

enum { LDS_GRANULE = 64, LAST_DOM = 15, LAST_SEC = 2 };

/* STAT must be what an APPLY of these images made of it; stickies, IE_MASK and EFF_SAE live on
 * their own (numeric.md 11, 12). */
static bool stat_agrees(const struct facet_prec *prec)
{
    const uint64_t own = FACET_CAP_PREC_STAT_IE_MASK | FACET_CAP_PREC_STAT_IE_MASK_NX |
                         FACET_CAP_PREC_STAT_EFF_SAE | FACET_CAP_PREC_STAT_FTZ_HIT |
                         FACET_CAP_PREC_STAT_SAT_HIT | FACET_CAP_PREC_STAT_DOWNCAST_TAKEN |
                         FACET_CAP_PREC_STAT_UNSUP_FMT;
    struct facet_eff eff = facet_prec_eff(prec);

    return ((prec->stat ^ facet_eff_stat(&eff, 0)) & ~own) == 0;
}

static void visit_prec(struct facet_prec *prec, struct facet_state_io *io)
{
    uint64_t *mode = &prec->image[FACET_PREC_MODE], *alt = &prec->image[FACET_PREC_ALT];
    bool unsup = false;

    facet_state_u64s(io, prec->image, 2);
    facet_state_require(
        io, facet_prec_legal_mode(*mode, &unsup) == *mode, "CAP.PREC.MODE holds a reserved value");
    facet_state_require(
        io, facet_prec_legal_alt(*alt, &unsup) == *alt, "CAP.PREC.ALT holds a reserved value");
    facet_state_require(
        io, stat_agrees(prec), "CAP.PREC.STAT does not follow from CAP.PREC.MODE and CAP.PREC.ALT");
}

/* Every register that is plain storage. */
static void visit_csrs(struct facet_units *units, struct facet_state_io *io)
{
    facet_state_tag(io, "csrs");
    for (size_t i = 0; i < facet_csr_row_count; i++) {
        const struct facet_csr_row *row = &facet_csr_rows[i];
        unsigned count = 0;
        uint64_t *words =
            row->isa == FACET_ISA_XPHMG ? facet_hart_csr_storage(units, row, &count) : NULL;

        for (unsigned k = 0; k < count; k++) {
            facet_state_u64(io, &words[k]);
            if (io->loading && !facet_hart_csr_holds(units->config, row, words[k])) {
                char text[96];

                (void)snprintf(
                    text, sizeof text, "%s holds a value that it cannot store", row->name);
                facet_state_require(io, false, text);
            }
        }
    }
}

static void visit_cap(struct facet_units *units, struct facet_state_io *io)
{
    const struct facet_cap_config *config = units->config;
    struct facet_cap *cap = &units->cap;

    facet_state_tag(io, "cap");
    visit_prec(&cap->prec, io);
    facet_state_bytes(io, cap->zptab, sizeof cap->zptab);
    facet_state_require(io,
                        cap->profile == 0 ||
                            (cap->profile < 64 && (config->prof_sup >> cap->profile & 1) != 0),
                        "CAP.PROF.CUR is a profile that this configuration does not have");
}

static void visit_pmask(struct facet_units *units, struct facet_state_io *io)
{
    struct facet_pmask *pmask = &units->pmask;
    unsigned banks = facet_xphmg_config_banks(units->config);

    facet_state_tag(io, "pmask");
    facet_state_u64s(io, pmask->bank, FACET_BANKS);
    facet_state_bool(io, &pmask->p0);
    for (unsigned bank = 0; bank < FACET_BANKS; bank++) {
        facet_state_require(io,
                            pmask->bank[bank] == 0 || (bank > 0 && bank < banks),
                            "a predicate bank that does not exist has bits set");
    }
    facet_state_require(io, !pmask->p0 || banks > 0, "P0 is set without predicates");
}

static void visit_mtx(struct facet_units *units, struct facet_state_io *io)
{
    struct facet_mtx *mtx = &units->mtx;

    facet_state_tag(io, "mtx");
    for (unsigned i = 0; i < sizeof mtx->bank / sizeof mtx->bank[0]; i++) {
        struct facet_mtx_bank *bank = &mtx->bank[i];

        facet_state_bytes(io, bank->mtx2, sizeof bank->mtx2);
        facet_state_bytes(io, bank->mtx3, sizeof bank->mtx3);
        facet_state_bytes(io, bank->mtx4, sizeof bank->mtx4);
        facet_state_bytes(io, bank->bias, sizeof bank->bias);
    }
}

static void check_rt(const struct facet_units *units, struct facet_state_io *io)
{
    uint64_t stat = units->rt.stat;

    facet_state_require(io,
                        FACET_GET(stat, RTSTAT_LAST_EC) <= FACET_XPHMG_RT_EC_NUMERIC &&
                            (FACET_GET(stat, RTSTAT_ERR) != 0) ==
                                (FACET_GET(stat, RTSTAT_LAST_EC) != 0),
                        "RTSTAT holds an error that does not exist");
}

void facet_units_visit(struct facet_units *units, struct facet_state_io *io)
{
    if (io->loading) { /* what the configuration decides is not in the file */
        units->cap.prec.alt_formats = units->config->alt_formats;
    }
    visit_csrs(units, io);
    visit_cap(units, io);
    visit_pmask(units, io);
    visit_mtx(units, io);
    check_rt(units, io);
}

/* Blocks lie inside the LDS in rising order and do not overlap. */
static void visit_blocks(struct facet_xmem *xmem, struct facet_state_io *io)
{
    uint32_t free_from = 0;

    facet_state_u32(io, &xmem->block_count);
    facet_state_require(
        io, xmem->block_count <= FACET_MAX_ALLOCATIONS, "too many blocks of LDS for its size");
    if (io->failed) {
        xmem->block_count = 0;
        return;
    }
    for (uint32_t i = 0; i < xmem->block_count; i++) {
        struct facet_lds_block *b = &xmem->blocks[i];

        facet_state_u32(io, &b->offset);
        facet_state_u32(io, &b->size);
        facet_state_u8(io, &b->mclass);
        facet_state_u8(io, &b->tier);
        facet_state_u8(io, &b->dom);
        facet_state_u8(io, &b->sec);
        facet_state_require(io,
                            b->offset % LDS_GRANULE == 0 && b->size % LDS_GRANULE == 0 &&
                                b->size > 0 && b->offset >= free_from &&
                                b->offset <= FACET_XLDSSIZE_RESET &&
                                b->size <= FACET_XLDSSIZE_RESET - b->offset,
                            "a block of LDS overlaps another one or leaves the LDS");
        facet_state_require(io,
                            b->mclass < 4 && b->tier < 2 && b->dom <= LAST_DOM &&
                                b->sec <= LAST_SEC,
                            "a block of LDS has a class, tier, domain or tag that does not exist");
        free_from = b->offset + b->size;
    }
}

void facet_xmem_visit(struct facet_xmem *xmem, struct facet_state_io *io)
{
    facet_state_tag(io, "xmem");
    if (io->loading) {
        memset(xmem, 0, sizeof *xmem);
    }
    visit_blocks(xmem, io);
    facet_state_u32(io, &xmem->t0_size);
    facet_state_u32s(io, xmem->tokens, FACET_TOKENS);
    facet_state_u64(io, &xmem->ticket_rt);
    facet_state_u64(io, &xmem->ticket_mtx);
    facet_state_u32(io, &xmem->lock_count);
    facet_state_require(io,
                        xmem->t0_size % LDS_GRANULE == 0 && xmem->t0_size <= FACET_XLDSSIZE_RESET,
                        "the Tier-0 range does not fit the LDS");
    facet_state_require(io,
                        (xmem->ticket_rt | xmem->ticket_mtx) >> 56 == 0,
                        "a ticket number has more than 56 bits");
    facet_state_require(io, xmem->lock_count <= FACET_MAX_LOCKS, "too many locked lines");
    if (io->failed) {
        xmem->lock_count = 0;
    }
    facet_state_u64s(io, xmem->locks, xmem->lock_count);
}
