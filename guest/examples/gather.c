/* XMEM with RSV: gather eight table entries by an index array, and scatter them to their places.
 *
 * xmem.svm takes everything but registers from the SVM CSRs: base, index source, scale, element
 * size, direction, bounds. Under RSV lane i uses x[rd+i] or x[rs2+i]. An index that leaves the
 * table reads as zero here (BOUND_CHECK, ALLOW_OOB_ZERO) instead of a trap. */
#include "check.h"

#include <stdint.h>
#include <xphmg.h>

enum { LANES = 8, TABLE = 16, INDEX_32 = 3 };

static const uint32_t squares[TABLE] = {
    0,
    1,
    4,
    9,
    16,
    25,
    36,
    49,
    64,
    81,
    100,
    121,
    144,
    169,
    196,
    225,
};
static const int32_t pick[LANES] = {3, 14, 1, 5, 9, 2, 99, 6};
static const int32_t place[LANES] = {7, 6, 5, 4, 3, 2, 1, 0};
static uint32_t result[LANES];

static void setup(const void *base, uint64_t bytes, const int32_t *index, int scatter)
{
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMBASE, base);
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMIDX, index);
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMSCL,
                    XPHMG_FIELD(XPHMG_CAP_XMEM_SVMSCL_SCALE, 2) | XPHMG_CAP_XMEM_SVMSCL_SIGNED |
                        (scatter ? XPHMG_CAP_XMEM_SVMSCL_GS : 0));
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMLEN, 4);
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMLIM, bytes);
    xphmg_csr_write(XPHMG_CSR_CAP_XMEM_SVMMODE,
                    XPHMG_CAP_XMEM_SVMMODE_BOUND_CHECK | XPHMG_CAP_XMEM_SVMMODE_ALLOW_OOB_ZERO |
                        XPHMG_CAP_XMEM_SVMMODE_IDX_MEM |
                        XPHMG_FIELD(XPHMG_CAP_XMEM_SVMMODE_IDX_EW, INDEX_32));
}

int main(void)
{
    register uint64_t x10 __asm__("x10"), x11 __asm__("x11"), x12 __asm__("x12"),
        x13 __asm__("x13");
    register uint64_t x14 __asm__("x14"), x15 __asm__("x15"), x16 __asm__("x16"),
        x17 __asm__("x17");

    setup(squares, sizeof squares, pick, 0);
    __asm__ volatile(
        "svsetvl zero, 8\n svon.one\n xmem.svm x10, x0"
        : "=r"(x10), "=r"(x11), "=r"(x12), "=r"(x13), "=r"(x14), "=r"(x15), "=r"(x16), "=r"(x17)
        :
        : "memory");
    uint64_t lane[LANES] = {x10, x11, x12, x13, x14, x15, x16, x17};

    setup(result, sizeof result, place, 1);
    x10 = lane[0], x11 = lane[1], x12 = lane[2], x13 = lane[3];
    x14 = lane[4], x15 = lane[5], x16 = lane[6], x17 = lane[7];
    __asm__ volatile(
        "svsetvl zero, 8\n svon.one\n xmem.svm x0, x10"
        :
        : "r"(x10), "r"(x11), "r"(x12), "r"(x13), "r"(x14), "r"(x15), "r"(x16), "r"(x17)
        : "memory");

    for (int i = 0; i < LANES; i++) {
        uint32_t entry = pick[i] < TABLE ? squares[pick[i]] : 0;

        printf("table[%ld] = %u\n", (long)pick[i], (unsigned)result[place[i]]);
        CHECK(lane[i] == entry);
        CHECK(result[place[i]] == entry);
    }
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_XMEM_EVENTS) & XPHMG_CAP_XMEM_EVENTS_INV_MISS);
    return verdict("gather");
}
