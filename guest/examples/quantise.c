/* CAP.PREC with XMEM: FP32 weights to FP8 E4M3 and back.
 *
 * With SVMMODE.COMPRESS_EN a scatter narrows accumulator registers (FP32 here) to the effective
 * element format, with EXPAND_EN a gather widens elements: rounding, saturation and sticky flags
 * are those of CAP.PREC, the instruction is xmem.svm both times. E4M3 has 3 fraction bits and ends
 * at 448. */
#include "check.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <xphmg.h>

enum { N = 8, ALT_E4M3 = 2, INDEX_8 = 1 };

static const float weight[N] = {1.0f, -0.1f, 3.14159f, 0.0f, 447.0f, 1000.0f, -0.0078125f, 17.0f};
static const uint8_t expected[N] = {0x38, 0x9D, 0x45, 0x00, 0x7E, 0x7E, 0x84, 0x58};
static const uint8_t index8[N] = {0, 1, 2, 3, 4, 5, 6, 7};
static uint8_t packed[N];
static float back[N];

static void use_e4m3(void)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_ALT,
                    XPHMG_CAP_PREC_ALT_ALT_EN | XPHMG_FIELD(XPHMG_CAP_PREC_ALT_ALT_FMT, ALT_E4M3) |
                        XPHMG_CAP_PREC_ALT_MIXED | XPHMG_CAP_PREC_ALT_SAT |
                        XPHMG_CAP_PREC_ALT_APPLY1);
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE, XPHMG_CAP_PREC_MODE_APPLY0); /* 8-bit containers */
}

/* One element in register `value` against packed[i]: scalar use of xmem.svm, one lane. */
static void setup(unsigned i, uint64_t direction, uint64_t mode)
{
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMBASE, packed);
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMIDX, &index8[i]);
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMSCL, direction);
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMLEN, 0); /* the effective container */
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMMODE,
                    mode | XPHMG_CAP_XMEM_SVMMODE_IDX_MEM |
                        XPHMG_FIELD(XPHMG_CAP_XMEM_SVMMODE_IDX_EW, INDEX_8));
}

int main(void)
{
    use_e4m3();
    CHECK(XPHMG_FIELD_OF(XPHMG_CAP_PREC_STAT_EFF_PET, xphmg_csr_read(XPHMG_CSR_CAP_PREC_STAT)) ==
          8);
    for (unsigned i = 0; i < N; i++) {
        uint32_t bits;

        memcpy(&bits, &weight[i], sizeof bits);
        setup(i, XPHMG_CAP_XMEM_SVMSCL_GS, XPHMG_CAP_XMEM_SVMMODE_COMPRESS_EN);
        (void)xphmg_xmem_svm(0, bits);
        setup(i, 0, XPHMG_CAP_XMEM_SVMMODE_EXPAND_EN);
        bits = (uint32_t)xphmg_xmem_svm(0, 0);
        memcpy(&back[i], &bits, sizeof bits);
    }
    for (unsigned i = 0; i < N; i++) {
        float error = fabsf(back[i] - weight[i]);

        printf("%9d/10000 -> 0x%02x -> %9d/10000\n",
               (int)lrintf(weight[i] * 10000),
               packed[i],
               (int)lrintf(back[i] * 10000));
        CHECK(packed[i] == expected[i]);
        CHECK(error <= fabsf(weight[i]) / 16 || weight[i] > 448.0f);
    }
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_PREC_STAT) & XPHMG_CAP_PREC_STAT_SAT_HIT); /* 1000 */
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_PREC_EXC_ST) & XPHMG_CAP_PREC_EXC_ST_NX);
    return verdict("quantise");
}
