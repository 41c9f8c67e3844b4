/* See eff.h. */
#include "num/eff.h"

#include "contract/xphmg_csr_rules.h"

#include <stddef.h>

/* A field of CAP.PREC.MODE, ALT or STAT (numeric.md 2), from spec/cap.csr.tsv. */
struct field {
    uint64_t mask;
    uint8_t low;
};

#define FIELD(csr, name)                                                                           \
    (struct field)                                                                                 \
    {                                                                                              \
        FACET_CAP_PREC_##csr##_##name, FACET_CAP_PREC_##csr##_##name##_LSB                         \
    }
#define MODE(name) FIELD(MODE, name)
#define ALT(name) FIELD(ALT, name)
#define STAT(name) FIELD(STAT, name)

/* Five bits: NX lies right below the four that the seed names (R-CAP-17). */
#define STAT_IE_MASK                                                                               \
    (struct field)                                                                                 \
    {                                                                                              \
        FACET_CAP_PREC_STAT_IE_MASK | FACET_CAP_PREC_STAT_IE_MASK_NX,                              \
            FACET_CAP_PREC_STAT_IE_MASK_NX_LSB                                                     \
    }

#define APPLY FACET_CAP_PREC_MODE_APPLY0
_Static_assert(FACET_CAP_PREC_MODE_APPLY0 == FACET_CAP_PREC_ALT_APPLY1, "one bit for both");
/* A staged image never has the bit of APPLY, so its place shows that there is one. */
#define STAGED FACET_CAP_PREC_SMODE_VALID
_Static_assert(STAGED == APPLY && STAGED == FACET_CAP_PREC_SALT_VALID, "one bit for both");
/* Flags are ORed into the registers as they are (facet/num.h). */
_Static_assert(FACET_UNSUP == FACET_CAP_PREC_STAT_UNSUP_FMT &&
                   FACET_SAT == FACET_CAP_PREC_STAT_SAT_HIT &&
                   FACET_DOWN == FACET_CAP_PREC_STAT_DOWNCAST_TAKEN &&
                   FACET_FTZ == FACET_CAP_PREC_STAT_FTZ_HIT,
               "stickies of STAT");
_Static_assert(FACET_NV == FACET_CAP_PREC_EXC_ST_NV && FACET_NX == FACET_CAP_PREC_EXC_ST_NX &&
                   FACET_QNAN == FACET_CAP_PREC_EXC_ST_QNAN_SEEN &&
                   FACET_SNAN == FACET_CAP_PREC_EXC_ST_SNAN_SEEN,
               "stickies of EXC.ST");

static unsigned get(uint64_t reg, struct field f)
{
    return (unsigned)((reg & f.mask) >> f.low);
}

static uint64_t set(uint64_t reg, struct field f, uint64_t value)
{
    return (reg & ~f.mask) | (value << f.low & f.mask);
}

static unsigned rounding_code(uint64_t mode)
{
    return get(mode, MODE(FP_RMODE2)) << 2 | get(mode, MODE(FP_RMODE));
}

uint64_t facet_prec_legal_mode(uint64_t value, bool *unsup)
{
    uint64_t legal = facet_legal_CAP_PREC_MODE(NULL, 0, value);

    *unsup |= ((value ^ legal) & (FACET_CAP_PREC_MODE_PET | FACET_CAP_PREC_MODE_ACCW |
                                  FACET_CAP_PREC_MODE_PACK)) != 0;
    return legal;
}

uint64_t facet_prec_legal_alt(uint64_t value, bool *unsup)
{
    uint64_t legal = facet_legal_CAP_PREC_ALT(NULL, 0, value);

    *unsup |= ((value ^ legal) & FACET_CAP_PREC_ALT_PACK) != 0;
    return legal;
}

static enum facet_format format_of(unsigned pet, bool alt)
{
    static const uint8_t formats[12] = {
        [0] = FACET_FMT_FP16,
        [1] = FACET_FMT_FP32,
        [2] = FACET_FMT_BF16,
        [3] = FACET_FMT_INT8,
        [4] = FACET_FMT_INT16,
        [5] = FACET_FMT_INT32,
        [8] = FACET_FMT_E4M3,
        [9] = FACET_FMT_E5M2,
        [10] = FACET_FMT_INT4,
        [11] = FACET_FMT_INT2,
    };

    return pet == 2 && alt ? FACET_FMT_BF16_LITE : (enum facet_format)formats[pet];
}

/* Composition steps 4 and 5; returns whether something unsupported had to be corrected. */
static bool fit_container(struct facet_eff *eff)
{
    unsigned nat = facet_format_width(eff->elem);
    bool corrected = nat > 8u << eff->ew;

    while (nat << eff->pack > 64) {
        eff->pack--;
        corrected = true;
    }
    while (nat << eff->pack > 8u << eff->ew) {
        eff->ew++;
    }
    return corrected;
}

/* Composition step 3. */
static void apply_alt(struct facet_eff *eff, uint64_t alt)
{
    static const struct {
        uint8_t pet, ew, min_pack;
    } rows[6] = {{0, 0, 0}, {2, 1, 0}, {8, 0, 0}, {9, 0, 0}, {10, 0, 1}, {11, 0, 2}};
    unsigned fmt = get(alt, ALT(ALT_FMT)), min_pack = rows[fmt].min_pack;

    eff->alt_en = true;
    eff->pet = rows[fmt].pet;
    eff->ew = rows[fmt].ew;
    if (get(alt, ALT(PACK)) > min_pack) {
        min_pack = get(alt, ALT(PACK));
    }
    if (min_pack > eff->pack) {
        eff->pack = (uint8_t)min_pack;
    }
    if (get(alt, ALT(ALT_ACCW)) != 0) {
        eff->accw = (uint8_t)get(alt, ALT(ALT_ACCW));
    }
    eff->sat |= get(alt, ALT(SAT)) != 0;
    eff->mixed = get(alt, ALT(MIXED)) != 0;
    eff->zp = (uint8_t)get(alt, ALT(ZP));
    eff->zp_offs = (int8_t)get(alt, ALT(ZP_OFFS));
    eff->scale = (int8_t)get(alt, ALT(SCALE_SH));
}

struct facet_eff facet_eff_compose(uint64_t mode, uint64_t alt, uint32_t alt_formats)
{
    static const uint8_t accumulators[4] = {
        FACET_FMT_FP32, FACET_FMT_FP16, FACET_FMT_INT32, FACET_FMT_INT16};
    struct facet_eff eff = {
        .pet = (uint8_t)get(mode, MODE(PET)),
        .ew = (uint8_t)get(mode, MODE(EW)),
        .pack = (uint8_t)get(mode, MODE(PACK)),
        .accw = (uint8_t)(get(mode, MODE(ACCW)) & 3),
        .rm = (uint8_t)rounding_code(mode),
        .nan_pol = (uint8_t)get(mode, MODE(NAN_POL)),
        .zp_en = (uint8_t)get(mode, MODE(ZP_EN)),
        .sat = get(mode, MODE(SAT)) != 0,
        .sat_mode = get(mode, MODE(SAT_MODE)) != 0,
        .ftz = get(mode, MODE(DENORM_FTZ)) != 0,
        .q = get(mode, MODE(Q)) != 0,
        .uns = get(mode, MODE(UNS)) != 0,
        .zmode = get(mode, MODE(ZMODE)) != 0,
        .sae = get(mode, MODE(SAE_DEF)) != 0 || get(mode, MODE(SAE)) != 0,
        .mixed = true,
        .zp = (uint8_t)get(mode, MODE(ZP)),
        .scale = (int8_t)get(mode, MODE(SCALE_SH)),
    };

    if (get(alt, ALT(ALT_EN)) != 0) {
        unsigned fmt = get(alt, ALT(ALT_FMT));

        if (fmt < 1 || fmt > 5 || (alt_formats >> fmt & 1) == 0 || get(alt, ALT(VER)) != 0) {
            eff.unsup = true;
        } else {
            apply_alt(&eff, alt);
        }
    }
    eff.elem = (uint8_t)format_of(eff.pet, eff.alt_en);
    eff.acc = accumulators[eff.accw];
    eff.unsup |= fit_container(&eff);
    return eff;
}

void facet_eff_replace_pet(struct facet_eff *eff, unsigned pet, unsigned ew)
{
    eff->pet = (uint8_t)pet;
    eff->ew = (uint8_t)ew;
    eff->elem = (uint8_t)format_of(pet, false);
    (void)fit_container(eff);
}

void facet_eff_override(struct facet_eff *eff, unsigned rc, bool sae, bool zmode)
{
    if (rc <= FACET_RMM) {
        eff->rm = (uint8_t)rc;
    }
    eff->sae = sae;
    eff->zmode = zmode;
}

uint64_t facet_eff_stat(const struct facet_eff *eff, uint64_t exc_en)
{
    uint64_t stat = eff->unsup ? FACET_UNSUP : 0;

    stat = set(stat, STAT(EFF_PET), eff->pet);
    stat = set(stat, STAT(EFF_EW), eff->ew);
    stat = set(stat, STAT(EFF_ACCW), eff->accw);
    stat = set(stat, STAT(EFF_ALT_EN), eff->alt_en);
    stat = set(stat, STAT(EFF_SAT), eff->sat);
    stat = set(stat, STAT(EFF_FP_RMODE), eff->rm);
    stat = set(stat, STAT(EFF_Q), eff->q);
    stat = set(stat, STAT(EFF_PACK), eff->pack);
    stat = set(stat, STAT(EFF_ZMODE), eff->zmode);
    stat = set(stat, STAT(EFF_SAE), eff->sae);
    stat = set(stat, STAT(EFF_NAN_POL), eff->nan_pol);
    return set(stat, STAT_IE_MASK, eff->sae ? 0 : exc_en);
}

struct facet_eff facet_prec_eff(const struct facet_prec *prec)
{
    return facet_eff_compose(
        prec->image[FACET_PREC_MODE], prec->image[FACET_PREC_ALT], prec->alt_formats);
}

/* APPLY: `unsup` says that legalizing the applied image met a reserved format code. */
static void recompute(struct facet_prec *prec, bool unsup)
{
    struct facet_eff eff = facet_prec_eff(prec);

    eff.unsup |= unsup;
    prec->stat = facet_eff_stat(&eff, prec->exc_en);
}

void facet_prec_reset(struct facet_prec *prec, uint32_t alt_formats)
{
    *prec = (struct facet_prec){.alt_formats = alt_formats};
    prec->image[FACET_PREC_MODE] = FACET_CAP_PREC_MODE_RESET;
    recompute(prec, false);
}

uint64_t
facet_prec_write(struct facet_prec *prec, enum facet_prec_reg reg, enum facet_csr_op op, uint64_t x)
{
    uint64_t old = prec->image[reg],
             value = prec->staged[reg] & STAGED ? prec->staged[reg] & ~STAGED : old;
    bool unsup = false;

    switch (op) {
    case FACET_CSRRS:
        value |= x;
        break;
    case FACET_CSRRC:
        value &= ~x & ~APPLY; /* clearing bits never commits */
        break;
    default:
        value = x;
        break;
    }
    if ((value & APPLY) == 0) {
        prec->staged[reg] = value | STAGED;
        return old;
    }
    prec->image[reg] = reg == FACET_PREC_MODE ? facet_prec_legal_mode(value, &unsup)
                                              : facet_prec_legal_alt(value, &unsup);
    prec->staged[reg] = 0;
    recompute(prec, unsup);
    return old;
}

void facet_prec_raise(struct facet_prec *prec, unsigned flags)
{
    prec->exc_st |= flags & FACET_FLAGS_EXC_ST;
    prec->stat |= flags & FACET_FLAGS_STAT;
}

void facet_prec_retire(struct facet_prec *prec)
{
    uint64_t mode = prec->image[FACET_PREC_MODE];
    bool sae_def = get(mode, MODE(SAE_DEF)) != 0;

    if (get(mode, MODE(SAE)) == 0) {
        return;
    }
    prec->image[FACET_PREC_MODE] = set(mode, MODE(SAE), 0);
    prec->stat = set(prec->stat, STAT(EFF_SAE), sae_def);
    prec->stat = set(prec->stat, STAT_IE_MASK, sae_def ? 0 : prec->exc_en);
}

static int extend8(uint8_t byte, bool uns)
{
    return uns ? byte : (int8_t)byte;
}

int facet_eff_zero_point(const struct facet_eff *eff, const uint8_t zptab[256], unsigned channel)
{
    if (!eff->q) {
        return 0;
    }
    switch (eff->zp_en) {
    case 1:
        return extend8(eff->zp, eff->uns) + eff->zp_offs;
    case 2:
        return zptab == NULL
                   ? 0
                   : extend8(zptab[(eff->zp + (unsigned)eff->zp_offs + channel) & 0xFF], eff->uns);
    default:
        return 0;
    }
}

struct facet_conv
facet_eff_conv(const struct facet_eff *eff, const uint8_t zptab[256], unsigned channel)
{
    return (struct facet_conv){
        .elem = eff->elem,
        .acc = eff->acc,
        .rm = eff->rm,
        .nan_pol = eff->nan_pol,
        .ftz = eff->ftz,
        .sat = eff->sat,
        .sat_mode = eff->sat_mode,
        .uns = eff->q && eff->uns,
        .mixed_step = eff->alt_en && !eff->mixed,
        .plain = eff->plain,
        .scale = (int16_t)(eff->q ? eff->scale : 0),
        .zp = (int16_t)facet_eff_zero_point(eff, zptab, channel),
    };
}
