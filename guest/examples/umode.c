/* U mode: a program without privileges traces rays, a small kernel in M mode serves it.
 *
 * RT, GFX, MTX, RSV, PMASK and XMEM instructions run in U mode, and so do the registers of RT (the
 * aliases 0x820 on). CAP is M mode's alone: reading FEAT0 or choosing a number format traps with
 * cause 2, so the program asks the kernel by ECALL. The kernel decides which formats it grants; it
 * keeps the format of its own across the program's time. */
#include "check.h"

#include <setjmp.h>
#include <stdint.h>
#include <xphmg.h>

enum { ILLEGAL_INSTRUCTION = 2, ECALL_FROM_U = 8, MPP = 3 << 11 };
enum service { READ_FEATURES, USE_FORMAT, LEAVE };
enum pet { FP16, FP32 };

/* ---- the kernel ---- */

static jmp_buf kernel;
static unsigned refused;
static uint64_t frame[16] __attribute__((used)); /* of the program: ra, t0-t6, a0-a7 */

/* Entry of every trap: saves what a C function may change, and lets serve() change a0. */
void user_trap(void);
__asm__(".balign 4\n"
        "user_trap:\n"
        "    csrrw sp, mscratch, sp\n"
        "    sd ra, 0(sp)\n sd t0, 8(sp)\n sd t1, 16(sp)\n sd t2, 24(sp)\n sd t3, 32(sp)\n"
        "    sd t4, 40(sp)\n sd t5, 48(sp)\n sd t6, 56(sp)\n sd a0, 64(sp)\n sd a1, 72(sp)\n"
        "    sd a2, 80(sp)\n sd a3, 88(sp)\n sd a4, 96(sp)\n sd a5, 104(sp)\n sd a6, 112(sp)\n"
        "    sd a7, 120(sp)\n"
        "    mv a0, sp\n"
        "    la sp, kernel_stack + 4096\n"
        "    call serve\n"
        "    la sp, frame\n"
        "    ld ra, 0(sp)\n ld t0, 8(sp)\n ld t1, 16(sp)\n ld t2, 24(sp)\n ld t3, 32(sp)\n"
        "    ld t4, 40(sp)\n ld t5, 48(sp)\n ld t6, 56(sp)\n ld a0, 64(sp)\n ld a1, 72(sp)\n"
        "    ld a2, 80(sp)\n ld a3, 88(sp)\n ld a4, 96(sp)\n ld a5, 104(sp)\n ld a6, 112(sp)\n"
        "    ld a7, 120(sp)\n"
        "    csrrw sp, mscratch, sp\n"
        "    mret\n");
char kernel_stack[4096] __attribute__((aligned(16), used));

static void use_format(enum pet type)
{
    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE,
                    XPHMG_FIELD(XPHMG_CAP_PREC_MODE_PET, type) |
                        XPHMG_FIELD(XPHMG_CAP_PREC_MODE_EW, type == FP32 ? 2 : 1) |
                        XPHMG_CAP_PREC_MODE_APPLY0);
}

/* x[0] of the result slots is a0: the service's argument, then its answer; a7 is its number. */
__attribute__((used)) void serve(uint64_t saved[16])
{
    uint64_t *a0 = &saved[8], service = saved[15], cause, pc;

    __asm__ volatile("csrr %0, mcause\n csrr %1, mepc" : "=r"(cause), "=r"(pc));
    if (cause == ECALL_FROM_U && service == READ_FEATURES) {
        *a0 = xphmg_csr_read(XPHMG_CSR_CAP_FEAT0);
    } else if (cause == ECALL_FROM_U && service == USE_FORMAT && *a0 <= FP32) {
        use_format((enum pet) * a0);
        *a0 = 1;
    } else if (cause == ECALL_FROM_U && service == USE_FORMAT) {
        *a0 = 0; /* not granted */
    } else if (cause == ILLEGAL_INSTRUCTION) {
        refused++;
    } else {
        longjmp(kernel, (int)cause);
    }
    __asm__ volatile("csrw mepc, %0" ::"r"(pc + 4));
}

/* Runs `program` in U mode on this stack until it leaves; the cause of its last trap. */
static int run_user(void (*program)(void))
{
    int cause = setjmp(kernel);

    if (cause == 0) {
        __asm__ volatile("csrw mtvec, %0\n"
                         "csrw mscratch, %1\n"
                         "csrw mepc, %2\n"
                         "csrc mstatus, %3\n"
                         "mret\n" ::"r"(user_trap),
                         "r"(frame),
                         "r"(program),
                         "r"(MPP)
                         : "memory");
        __builtin_unreachable();
    }
    return cause;
}

/* ---- the program ---- */

static const struct xphmg_bvh_node4_32 node = {.child[0] = {{-1, -1, -1}, {1, 1, 1}},
                                               .child0_idx = 1,
                                               .child_flags = XPHMG_BVH_NODE4_TYPE0_NODE};

static const float ray[8] = {0.25f, 0.5f, -4, 0, 0, 2, 0, 100};
static volatile uint64_t features, granted, denied, mode_seen;
static struct xphmg_slots result;

static uint64_t call(enum service number, uint64_t argument)
{
    register uint64_t a0 __asm__("a0") = argument;
    register uint64_t a7 __asm__("a7") = number;

    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
    return a0;
}

static void program(void)
{
    struct xphmg_slots none = {{0}};
    uint64_t mode = 77;

    features = call(READ_FEATURES, 0);
    __asm__ volatile("csrr %0, %1" : "+r"(mode) : "i"(XPHMG_CSR_CAP_PREC_MODE)); /* refused */
    mode_seen = mode;
    denied = call(USE_FORMAT, 5);
    granted = call(USE_FORMAT, FP32);
    xphmg_csr_write(XPHMG_CSR_RTCFG, XPHMG_RTCFG_EN);
    xphmg_csr_write(XPHMG_CSR_RTNODE, (uint64_t)&node);
    result = xphmg_rt_bbox(none, ray, 0);
    call(LEAVE, 0);
    for (;;) {
    }
}

int main(void)
{
    uint64_t before = xphmg_csr_read(XPHMG_CSR_CAP_PREC_MODE);
    int cause = run_user(program);

    xphmg_csr_write(XPHMG_CSR_CAP_PREC_MODE, before | XPHMG_CAP_PREC_MODE_APPLY0);
    printf("left by cause %d; CAP access refused %u time\n", cause, refused);
    printf("box test in U mode: hit %u, tnear 0x%08x, tfar 0x%08x\n",
           (unsigned)result.slot[0],
           (unsigned)result.slot[1],
           (unsigned)result.slot[2]);
    CHECK(cause == ECALL_FROM_U && refused == 1 && mode_seen == 77);
    CHECK(features == xphmg_csr_read(XPHMG_CSR_CAP_FEAT0));
    CHECK(granted == 1 && denied == 0);
    CHECK(result.slot[0] == 1);
    CHECK(result.slot[1] == 0x3FC00000 && result.slot[2] == 0x40200000); /* 1.5 and 2.5 */
    CHECK(xphmg_csr_read(XPHMG_CSR_CAP_PREC_MODE) == before);
    return verdict("umode");
}
