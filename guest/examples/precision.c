/* CAP: what the machine can do, and one product in four element formats.
 *
 * The same 2x2 matrix and vector, in FP32, FP16, BF16 and FP8 E4M3: only CAP.PREC changes between
 * the runs, the instructions stay. Formats that cannot hold the result round it, and the sticky
 * bits of EXC.ST and STAT tell. FP8 is an alternative format: ALT.ALT_EN selects it. What discovery
 * says is absent is left out. */
#include "check.h"

#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { SHAPE_2X2 = 0x5 };
enum pet { FP16, FP32, BF16 };
enum { ALT_E4M3 = 2 };

static void choose(enum pet type, unsigned container, unsigned alt)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_EXC_ST, 0x7F); /* write one to clear */
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_ALT,
                    (alt != 0 ? XPHMG_CAP_PREC_ALT_ALT_EN : 0) |
                        XPHMG_FIELD(XPHMG_CAP_PREC_ALT_ALT_FMT, alt) | XPHMG_CAP_PREC_ALT_MIXED |
                        XPHMG_CAP_PREC_ALT_APPLY1);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE,
                    XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, type) |
                        XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, container) |
                        XPHMG_CAP_PREC_MODE_APPLY0);
}

/* u = M v with elements of `bytes` bytes; the two results as raw bits. */
static void product(const void *m, const void *v, unsigned bytes, uint32_t u[2])
{
    uint64_t room = 0;

    xphmg_mtx_ld(m, SHAPE_2X2, 0, 1);
    xphmg_mtx_mul(&room, v, SHAPE_2X2);
    u[0] = u[1] = 0;
    memcpy(&u[0], (char *)&room, bytes);
    memcpy(&u[1], (char *)&room + bytes, bytes);
}

static void show(const char *name, const uint32_t u[2])
{
    uint64_t flags = xphmg_csr_read(XPHMG_CSR_CAP_PREC_EXC_ST);

    printf("%-9s %8x %8x%s\n",
           name,
           (unsigned)u[0],
           (unsigned)u[1],
           flags & XPHMG_CAP_PREC_EXC_ST_NX ? "  inexact" : "");
}

int main(void)
{
    /* M = {1.5 2; 0.25 4}, v = {1.125, 3}: u = {7.6875, 12.28125}. */
    static const float m32[4] = {1.5f, 2, 0.25f, 4}, v32[2] = {1.125f, 3};
    static const uint16_t m16[4] = {0x3E00, 0x4000, 0x3400, 0x4400}, v16[2] = {0x3C80, 0x4200};
    static const uint16_t mbf[4] = {0x3FC0, 0x4000, 0x3E80, 0x4080}, vbf[2] = {0x3F90, 0x4040};
    static const uint8_t m8[4] = {0x3C, 0x40, 0x28, 0x48}, v8[2] = {0x39, 0x44};
    uint32_t u[2];
    uint64_t id = xphmg_csr_read(XPHMG_CSR_CAP_ID);
    uint64_t features = xphmg_csr_read(XPHMG_CSR_CAP_FEAT0);

    printf("CAP.ID %c%c%c%c: RSV %d, MTX %d, LDS atomics %d\n",
           (char)(id >> 24),
           (char)(id >> 16),
           (char)(id >> 8),
           (char)id,
           (features & XPHMG_CAP_FEAT0_RSV_PRESENT) != 0,
           (features & XPHMG_CAP_FEAT0_MTX_PRESENT) != 0,
           (features & XPHMG_CAP_FEAT0_LDS_ATOMICS) != 0);
    CHECK(id == 0x50484D47);
    if ((features & XPHMG_CAP_FEAT0_MTX_PRESENT) == 0) { /* MTX.LD would be illegal */
        printf("no MTX, no products\n");
        return verdict("precision");
    }

    choose(FP32, 2, 0);
    product(m32, v32, 4, u);
    show("FP32", u);
    CHECK(u[0] == 0x40F60000 && u[1] == 0x41448000);

    choose(FP16, 1, 0);
    product(m16, v16, 2, u);
    show("FP16", u);
    CHECK(u[0] == 0x47B0 && u[1] == 0x4A24);

    choose(BF16, 1, 0);
    product(mbf, vbf, 2, u);
    show("BF16", u);
    CHECK(u[0] == 0x40F6 && u[1] == 0x4144); /* 12.28125 becomes 12.25: ties to even */
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_PREC_EXC_ST) & XPHMG_CAP_PREC_EXC_ST_NX);

    if ((xphmg_csr_read(XPHMG_CSR_CAP_PREC_FP8) & XPHMG_CAP_PREC_FP8_E4M3) == 0) {
        printf("no FP8 E4M3\n");
        return verdict("precision");
    }
    choose(FP16, 0, ALT_E4M3);
    CHECK(XPHMG_FIELD_OF(XPHMG_CAP_PREC_STAT_EFF_PET, xphmg_csr_read(XPHMG_CSR_CAP_PREC_STAT)) ==
          8);
    product(m8, v8, 1, u);
    show("FP8 E4M3", u);
    CHECK(u[0] == 0x4F && u[1] == 0x54); /* 7.5 and 12 */
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_PREC_EXC_ST) & XPHMG_CAP_PREC_EXC_ST_NX);
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_PREC_STAT) & XPHMG_CAP_PREC_STAT_DOWNCAST_TAKEN);
    return verdict("precision");
}
