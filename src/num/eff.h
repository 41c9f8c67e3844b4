/* Numeric state of CAP.PREC as pure functions over explicit structs: legal images of MODE and ALT,
 * staging and APPLY, composition of the effective state EFF, STAT, the one-shot SAE, and the
 * snapshot that an instruction takes at decode. No CSR number and no machine in here.
 *
 * Spec: numeric.md 2, 4, 6, 7, 8, 12 and appendix B; R-CAP-01 to R-CAP-30. */
#ifndef FACET_NUM_EFF_H
#define FACET_NUM_EFF_H

#include "contract/xphmg_csrs.h"
#include "num/element.h"

/* Bit f is set when the configuration supports ALT_FMT f. */
enum { FACET_ALT_ALL = 0x3E, FACET_ALT_NONE = 0 };

enum facet_prec_reg { FACET_PREC_MODE, FACET_PREC_ALT };
enum facet_csr_op { FACET_CSRRW, FACET_CSRRS, FACET_CSRRC };

/* The registers at 0x7D0-0x7D4. `stat` and `exc_st` also collect what instructions raise
 * (facet_prec_raise). */
struct facet_prec {
    uint64_t image[2];    /* architectural MODE and ALT: what reads return */
    uint64_t staged[2];   /* SMODE and SALT: the staged image, bit 63 set while there is one */
    FACET_STORE_CAP_PREC; /* STAT, EXC.EN, EXC.ST */
    uint32_t alt_formats;
};

/* The snapshot EFF of one instruction. Codes are those of numeric.md 4. */
struct facet_eff {
    uint8_t pet;       /* EFF_PET */
    uint8_t elem, acc; /* enum facet_format */
    uint8_t ew, pack;  /* container 8 << ew bits, 1 << pack elements */
    uint8_t accw;
    uint8_t rm, nan_pol, zp_en;
    bool alt_en, sat, sat_mode, ftz, q, uns, zmode, sae;
    bool mixed; /* 1 while ALT is not in effect */
    bool unsup; /* the composition asked for something unsupported */
    bool plain; /* no part of the state: who computes wants no fast ways (struct facet_conv) */
    uint8_t zp; /* raw ZP field of the register that is in effect */
    int8_t zp_offs, scale;
};

/* Reserved bits and codes are stored as 0; *unsup becomes true for those of them that set
 * UNSUP_FMT (R-CAP-13). */
uint64_t facet_prec_legal_mode(uint64_t value, bool *unsup);
uint64_t facet_prec_legal_alt(uint64_t value, bool *unsup);

/* Composition (numeric.md 7) of two legal images. */
struct facet_eff facet_eff_compose(uint64_t mode, uint64_t alt, uint32_t alt_formats);
/* GFX `ppp` (gfx-semantics.md 5.2): another element format (`pet` = a code 0..5 of MODE) and
 * container, then steps 4 and 5 of the composition without touching `unsup`. PET 2 is BF16 then,
 * whatever ALT says; everything else stays. */
void facet_eff_replace_pet(struct facet_eff *eff, unsigned pet, unsigned ew);
/* A pending svon.fpctl: replaces rounding mode (codes 5..7 do not), SAE and ZMODE. */
void facet_eff_override(struct facet_eff *eff, unsigned rc, bool sae, bool zmode);

/* STAT as an APPLY leaves it: EFF_*, IE_MASK and UNSUP_FMT, other stickies 0. */
uint64_t facet_eff_stat(const struct facet_eff *eff, uint64_t exc_en);

void facet_prec_reset(struct facet_prec *prec, uint32_t alt_formats);
/* A CSR instruction that writes MODE or ALT; returns the value for rd. `x` is rs1 or the immediate.
 */
uint64_t facet_prec_write(struct facet_prec *prec,
                          enum facet_prec_reg reg,
                          enum facet_csr_op op,
                          uint64_t x);
/* EFF as it stands, for the next instruction. */
struct facet_eff facet_prec_eff(const struct facet_prec *prec);
/* ORs an instruction's flags into EXC.ST and STAT. */
void facet_prec_raise(struct facet_prec *prec, unsigned flags);
/* A numeric instruction retired: the one-shot SAE is spent (numeric.md 12). */
void facet_prec_retire(struct facet_prec *prec);
/* Flags that trap: enabled, and not suppressed by the SAE of the snapshot (numeric.md 11.1). */
static inline unsigned facet_prec_hits(uint64_t exc_en, bool sae, unsigned flags)
{
    return sae ? 0 : flags & (unsigned)exc_en & FACET_FLAGS_IEEE;
}

/* Zero point of a channel (numeric.md 8); 0 while Q or ZP_EN is off. */
int facet_eff_zero_point(const struct facet_eff *eff, const uint8_t zptab[256], unsigned channel);
/* The conversion of elements of a channel. zptab may be NULL when ZP_EN is not 2. */
struct facet_conv
facet_eff_conv(const struct facet_eff *eff, const uint8_t zptab[256], unsigned channel);

#endif
