/* PMASK: copy only the elements that pass a test, with and without branches.
 *
 * A comparison writes the scalar predicate P0; psel and bp.* read it. Eight comparisons make a mask
 * for bank 1, and RSV loads and stores run under that bank (SVSTATE.PBANK): lanes whose bit is 0
 * touch neither memory nor registers. */
#include "check.h"

#include <stdint.h>
#include <xphmg.h>

enum { N = 8, BANK = 1 };

static const int64_t source[N] = {5, -3, 12, 0, -9, 40, 7, -1};
static int64_t target[N];

/* Bit i: element i is at least `limit`. */
static uint64_t mask_of(const int64_t *elements, int64_t limit)
{
    uint64_t mask = 0;

    for (int i = 0; i < N; i++) {
        xphmg_pcmp_ge_s((uint64_t)elements[i], (uint64_t)limit); /* P0 = element >= limit */
        mask |= xphmg_pmmov_p0() << i;
    }
    return mask;
}

static void copy_under_bank(const int64_t *from, int64_t *to)
{
    uint64_t state = xphmg_csr_read(XPHMG_CSR_SVSTATE);

    xphmg_csr_write(XPHMG_CSR_SVSTATE, XPHMG_FIELD_SET(state, XPHMG_SVSTATE_PBANK, BANK));
    /* Lane addresses in x10..x17 and x18..x25, the data in f0..f7. */
    __asm__ volatile(
        "mv x10, %[from]\n addi x11, x10, 8\n addi x12, x10, 16\n addi x13, x10, 24\n"
        "addi x14, x10, 32\n addi x15, x10, 40\n addi x16, x10, 48\n addi x17, x10, 56\n"
        "mv x18, %[to]\n addi x19, x18, 8\n addi x20, x18, 16\n addi x21, x18, 24\n"
        "addi x22, x18, 32\n addi x23, x18, 40\n addi x24, x18, 48\n addi x25, x18, 56\n"
        "svon.blk 2\n"
        "fld f0, 0(x10)\n"
        "fsd f0, 0(x18)\n"
        :
        : [from] "r"(from), [to] "r"(to)
        : "memory",
          "x10",
          "x11",
          "x12",
          "x13",
          "x14",
          "x15",
          "x16",
          "x17",
          "x18",
          "x19",
          "x20",
          "x21",
          "x22",
          "x23",
          "x24",
          "x25",
          "f0",
          "f1",
          "f2",
          "f3",
          "f4",
          "f5",
          "f6",
          "f7");
    xphmg_csr_write(XPHMG_CSR_SVSTATE, state);
}

/* Without a branch: P0 chooses. */
static int64_t larger(int64_t a, int64_t b)
{
    xphmg_pcmp_gt_s((uint64_t)a, (uint64_t)b);
    return (int64_t)xphmg_psel((uint64_t)a, (uint64_t)b);
}

static const char *describe(void)
{
    xphmg_bp_none(BANK, nothing);
    return "some lanes pass";
nothing:
    return "no lane passes";
}

int main(void)
{
    uint64_t copied;
    int64_t top = source[0];

    xphmg_svsetvl_imm(N);
    xphmg_pmclr(BANK);
    printf("empty bank: %s\n", describe());
    CHECK(xphmg_pmnone(BANK) == 1);

    xphmg_pmor(BANK, mask_of(source, 5));
    copied = xphmg_pmpopcnt(BANK);
    printf(
        "mask 0x%02x: %s, %d of %d\n", (unsigned)xphmg_pmlow_rd(BANK), describe(), (int)copied, N);
    CHECK(xphmg_pmlow_rd(BANK) == 0x65);
    CHECK(copied == 4);
    CHECK(xphmg_pmany(BANK) == 1 && xphmg_pmall(BANK) == 0);

    for (int i = 0; i < N; i++) {
        target[i] = -1000;
        top = larger(source[i], top);
    }
    copy_under_bank(source, target);
    for (int i = 0; i < N; i++) {
        printf("%ld%c", (long)target[i], i == N - 1 ? '\n' : ' ');
        CHECK(target[i] == (source[i] >= 5 ? source[i] : -1000));
    }
    CHECK(top == 40);
    return verdict("masked_copy");
}
