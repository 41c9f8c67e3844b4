/* What the GFX suites share: a machine with GFX on, a texture, and one operation run in every way
 * that windows allow (x registers, f registers, memory, lanes), with the places of slots computed
 * here a second time from gfx-semantics.md 3.2. */
#ifndef FACET_TESTS_XPHMG_GFX_TEST_H
#define FACET_TESTS_XPHMG_GFX_TEST_H

#include "base/float.h"
#include "xphmg/guest.h"

enum {
    TEXTURE = GUEST_DATA,
    DESC = GUEST_DATA + 0x4000,
    TABLE = GUEST_DATA + 0x5000,
    DEPTH = GUEST_DATA + 0x8000,
    PYRAMID = GUEST_DATA + 0xC000,
    STREAM = GUEST_DATA + 0x10000,
    MEM_A = GUEST_DATA + 0x14000, /* memory windows */
    MEM_B = GUEST_DATA + 0x18000,
    MEM_R = GUEST_DATA + 0x1C000,
    LDS = FACET_XLDSBASE_RESET,
    BAD = 0x1000, /* unmapped */
    /* MODE images without APPLY0; accumulator FP32 */
    MODE_FP16 = 0x00080000,
    MODE_FP32 = 0x00300000,
    MODE_BF16 = 0x00480000,
    MODE_INT8 = 0x00600000,
    MODE_INT16 = 0x00880000,
    MODE_INT32 = 0x00B00000,
    ACC_FP16 = 1 << 24,
    ACC_INT32 = 2 << 24,
    ACC_INT16 = 3 << 24,
    MODE_SAT = 1 << 30,
    MODE_Q = 1 << 5,
    MODE_ZMODE = 1 << 3,
    MODE_UNS = 1 << 4,
};
#define MODE_FTZ (UINT64_C(1) << 33)
#define MODE_NAN_POL(n) ((uint64_t)(n) << 34)
#define MODE_SCALE(s) ((uint64_t)((s)&0xFF) << 40)
/* FP_RMODE codes 0..4 */
#define MODE_RM(rm) ((uint64_t)((rm)&3) << 27 | (uint64_t)((rm) >> 2) << 32)

/* GFXCFG bits. */
enum {
    EN = 1 << 0,
    CONVERT = 1 << 1,
    FILTER = 1 << 2,
    SRGB = 1 << 3,
    NORM = 1 << 6,
    DIS_TRAP = 1 << 7,
    AMEM = 1 << 16,
    BMEM = 1 << 17,
    DMEM = 1 << 18,
    HISEL = 1 << 19,
    FREG = 1 << 20,
};

#define ONE_F 0x3F800000u
#define HALF_F 0x3F000000u
#define QUARTER_F 0x3E800000u
#define NAN_F 0x7FC00000u
#define INF_F 0x7F800000u

/* The bits of a number in FP32. */
static inline uint32_t fr(double x)
{
    return facet_float_bits((float)x);
}

/* Machine "full", FP32, GFX on with conversion. */
struct guest *gfx_make(void);
void set_mode(struct guest *g, uint64_t mode);
void set_alt(struct guest *g, uint64_t alt);
void set_cfg(struct guest *g, uint64_t cfg);
/* Flags of EXC.ST and STAT, and then clears them. */
unsigned raised(struct guest *g);
unsigned clear_flags(struct guest *g);

/* CAP.XMEM.EVENTS, and then clears it. */
static inline uint64_t events(struct guest *g)
{
    uint64_t value = guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS);

    guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, UINT64_MAX);
    return value;
}

/* The next instruction runs over `vl` lanes under the bank; bank 0: all of them. */
static inline void rsv(struct guest *g, unsigned vl, unsigned bank, uint64_t mask)
{
    g->hart->units.pmask.bank[bank != 0 ? bank : 1] = mask;
    g->hart->units.rsv.svstate =
        (vl - 1) | FACET_SVSTATE_EN | FACET_SVSTATE_ONE_SHOT | (uint64_t)bank << 10;
}

void put_bytes(struct guest *g, uint64_t at, const uint8_t *bytes, unsigned count);
void put_elements(struct guest *g, uint64_t at, unsigned size, const uint32_t *v, unsigned count);
void put_plane(struct guest *g, unsigned index, const uint32_t plane[4]); /* FP32 */

/* CSR mode: the 2x2 texture T2 of section 18 (normalized, clamp). */
void texture_t2(struct guest *g);
/* Any texture at TEXTURE. */
void texture(struct guest *g, unsigned fmt, unsigned w, unsigned h, unsigned pitch);
/* TextureDesc at `at` with the fields of the CSRs as they stand, border and flags given. */
struct desc {
    uint64_t base;
    uint32_t pitch, w, h, fmt, wrap, border[4], flags, stride1, stride2;
};
void put_desc(struct guest *g, uint64_t at, const struct desc *d);

/* What an observer saw of one run: accesses in order, policy events of GFX. */
struct watch {
    unsigned reads, writes;
    uint64_t read_at[512], write_at[512];
    unsigned policies, trailers, fences, others;
    uint64_t policy[6], trailer[6], fence[3];
};
/* Runs the text and fills the log. */
struct facet_trap watch_run(struct guest *g, struct watch *w, const char *text);

/* A machine without a unit, or with every hint of GFXPEERHINT set, for the cases that follow. */
extern uint64_t gfx_without; /* bits of FEAT0 */
extern bool gfx_hints;

/* One operation. `text` has two %u: the registers of rd and rs1 (written xN). */
struct op {
    const char *text;
    unsigned size;     /* bytes of an element, one per container */
    bool sign;         /* registers hold it sign-extended */
    unsigned ra, rr;   /* registers of the A and R windows; B follows A */
    unsigned rows;     /* of window A before B */
    const uint32_t *a; /* na slots, ... */
    unsigned na;
    const uint32_t *b;
    unsigned nb;
    const uint32_t *r;
    unsigned nr;
    const uint32_t *out; /* nout slots of R from `first` on */
    unsigned first, nout;
    unsigned flags;
};

/* In x registers, f registers and memory, scalar; then 2 lanes in registers where they fit, and 5
 * lanes in memory with lane 2 masked off. */
void check_op(struct guest *g, const char *what, const struct op *op);

#endif
