/* CAP, RSV: rounding and exceptions of single instructions.
 *
 * svon.fpctl gives the next numeric instruction its own rounding mode and its own answer to "may an
 * enabled exception trap?" (SAE, suppress all exceptions); the instruction after it is back to what
 * CAP.PREC says. Two other ways to the same: MODE.SAE for one instruction, MODE.SAE_DEF for all.
 * Suppressed or not, the sticky bits of EXC.ST are set.
 *
 * Prefix and instruction are in one asm statement, so that the compiler puts nothing between. */
#include "check.h"
#include "expect_trap.h"

enum { SHAPE_2X2 = 0x5 };

static void use_fp16(uint64_t more)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE,
                    XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, XPHMG_CAP_PREC_MODE_EW_EW16) | more |
                        XPHMG_CAP_PREC_MODE_APPLY0);
}

/* u = M v under svon.fpctl; rc and sae are constants. */
#define MULTIPLY(u, v, rc, sae)                                                                    \
    __asm__ volatile(                                                                              \
        "svon.fpctl %2, %3, 0\n mtx.mul %0, %1, 5" ::"r"(u), "r"(v), "i"(rc), "i"(sae)             \
        : "memory")

/* {1 -2^-11; -2^-11 1} (1, -1) = (1 + 2^-11, -1 - 2^-11): both exactly between two FP16 numbers, so
 * every mode shows its character. */
static void rounding(void)
{
    static const uint16_t m[4] = {0x3C00, 0x9000, 0x9000, 0x3C00}, v[2] = {0x3C00, 0xBC00};
    static const char *const name[] = {"RNE", "RTZ", "RDN", "RUP", "RMM"};
    static const uint16_t expected[5][2] = {
        {0x3C00, 0xBC00}, {0x3C00, 0xBC00}, {0x3C00, 0xBC01}, {0x3C01, 0xBC00}, {0x3C01, 0xBC01}};
    uint16_t u[6][2];

    xphmg_mtx_ld(m, SHAPE_2X2, 0, 1);
    MULTIPLY(u[0], v, XPHMG_SVON_FPCTL_RC_RNE, 0);
    MULTIPLY(u[1], v, XPHMG_SVON_FPCTL_RC_RTZ, 0);
    MULTIPLY(u[2], v, XPHMG_SVON_FPCTL_RC_RDN, 0);
    MULTIPLY(u[3], v, XPHMG_SVON_FPCTL_RC_RUP, 0);
    MULTIPLY(u[4], v, XPHMG_SVON_FPCTL_RC_RMM, 0);
    xphmg_mtx_mul(u[5], v, SHAPE_2X2); /* nothing is left of the prefixes */
    for (int i = 0; i < 5; i++) {
        printf("%s %04x %04x\n", name[i], u[i][0], u[i][1]);
        CHECK(u[i][0] == expected[i][0] && u[i][1] == expected[i][1]);
    }
    CHECK(u[5][0] == expected[0][0] && u[5][1] == expected[0][1]);
}

/* 2 * 65504 is more than FP16 holds. */
static void exceptions(void)
{
    static const uint16_t m[4] = {0x4000, 0, 0, 0x3C00}, v[2] = {0x7BFF, 0x3C00};
    uint64_t cause[5];
    uint16_t u[2];

    xphmg_mtx_ld(m, SHAPE_2X2, 0, 1);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_EXC_EN, XPHMG_CAP_PREC_EXC_EN_OF);
    cause[0] = CAUSE_OF(xphmg_mtx_mul(u, v, SHAPE_2X2));

    xphmg_csr_write(XPHMG_CSR_CAP_PREC_EXC_ST, XPHMG_CAP_PREC_EXC_ST_OF); /* write one to clear */
    cause[1] = CAUSE_OF(MULTIPLY(u, v, XPHMG_SVON_FPCTL_RC_RNE, 1));
    CHECK(u[0] == 0x7C00); /* infinity, as without any exception enabled */
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_PREC_EXC_ST) & XPHMG_CAP_PREC_EXC_ST_OF);
    cause[2] = CAUSE_OF(xphmg_mtx_mul(u, v, SHAPE_2X2)); /* spent */

    use_fp16(XPHMG_CAP_PREC_MODE_SAE);
    cause[3] = CAUSE_OF(xphmg_mtx_mul(u, v, SHAPE_2X2));
    CHECK((xphmg_csr_read(XPHMG_CSR_CAP_PREC_MODE) & XPHMG_CAP_PREC_MODE_SAE) == 0); /* spent */

    use_fp16(XPHMG_CAP_PREC_MODE_SAE_DEF);
    cause[4] = CAUSE_OF(xphmg_mtx_mul(u, v, SHAPE_2X2); xphmg_mtx_mul(u, v, SHAPE_2X2));
    printf("overflow: plain %u, fpctl %u, after it %u, SAE %u, SAE_DEF %u (%u: no trap)\n",
           (unsigned)cause[0],
           (unsigned)cause[1],
           (unsigned)cause[2],
           (unsigned)cause[3],
           (unsigned)cause[4],
           NO_TRAP);
    CHECK(cause[0] == NUMERIC_EXCEPTION && cause[1] == NO_TRAP && cause[2] == NUMERIC_EXCEPTION);
    CHECK(cause[3] == NO_TRAP && cause[4] == NO_TRAP);
}

int main(void)
{
    use_fp16(0);
    rounding();
    exceptions();
    return verdict("fpctl");
}
