/* RSV: y = a*x + y, eight elements at a time in eight consecutive registers.
 *
 * Under RSV the ordinary instructions run once per lane on register windows: lane i of
 * `flw f0, 0(x10)` loads f[0+i] from the address in x[10+i]. svon.blk 6 covers the six instructions
 * after it; the loop around them is scalar again. The compiler must not separate prefix and
 * target, so the loop is one asm statement. */
#include "check.h"

#include <stdint.h>
#include <xphmg.h>

enum { N = 64, LANES = 8 };

static float x[N], y[N], expected[N];

static void saxpy(float a, const float *from, float *to, long count)
{
    __asm__ volatile("svsetvl zero, %[lanes]\n"
                     /* a in f16..f23; addresses of eight neighbours in x10.. and x18.. */
                     "fmv.s f16, %[a]\n fmv.s f17, %[a]\n fmv.s f18, %[a]\n fmv.s f19, %[a]\n"
                     "fmv.s f20, %[a]\n fmv.s f21, %[a]\n fmv.s f22, %[a]\n fmv.s f23, %[a]\n"
                     "mv x10, %[from]\n addi x11, x10, 4\n addi x12, x10, 8\n addi x13, x10, 12\n"
                     "addi x14, x10, 16\n addi x15, x10, 20\n addi x16, x10, 24\n"
                     "addi x17, x10, 28\n"
                     "mv x18, %[to]\n addi x19, x18, 4\n addi x20, x18, 8\n addi x21, x18, 12\n"
                     "addi x22, x18, 16\n addi x23, x18, 20\n addi x24, x18, 24\n"
                     "addi x25, x18, 28\n"
                     "1: svon.blk 6\n"
                     "flw f0, 0(x10)\n"
                     "flw f8, 0(x18)\n"
                     "fmadd.s f8, f0, f16, f8\n"
                     "fsw f8, 0(x18)\n"
                     "addi x10, x10, 32\n"
                     "addi x18, x18, 32\n"
                     "addi %[count], %[count], -8\n"
                     "bgtz %[count], 1b\n"
                     : [count] "+r"(count)
                     : [a] "f"(a), [from] "r"(from), [to] "r"(to), [lanes] "i"(LANES)
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
                       "f7",
                       "f8",
                       "f9",
                       "f10",
                       "f11",
                       "f12",
                       "f13",
                       "f14",
                       "f15",
                       "f16",
                       "f17",
                       "f18",
                       "f19",
                       "f20",
                       "f21",
                       "f22",
                       "f23");
}

int main(void)
{
    long sum = 0;

    for (int i = 0; i < N; i++) {
        x[i] = (float)i * 0.5f;
        y[i] = (float)(N - i);
        expected[i] = __builtin_fmaf(3.0f, x[i], y[i]);
    }
    saxpy(3.0f, x, y, N);
    for (int i = 0; i < N; i++) {
        CHECK(y[i] == expected[i]);
        sum += (long)y[i];
    }
    printf("saxpy of %d elements, %d lanes: sum %ld\n", N, LANES, sum);
    CHECK((xphmg_csr_read(XPHMG_CSR_SVSTATE) & XPHMG_SVSTATE_EN) == 0); /* the block is over */
    return verdict("saxpy");
}
