/* What riscv-arch-test asks of a machine: how a test begins and ends, and where its results lie. A
 * test ends through HTIF (symbol tohost); it needs no console. */
#ifndef FACET_MODEL_TEST_H
#define FACET_MODEL_TEST_H

/* This is assembly. */
/* clang-format off */
#define RVMODEL_BOOT

#define RVMODEL_HALT                                                                               \
    li x1, 1;                                                                                      \
    la x2, tohost;                                                                                 \
    1: sd x1, 0(x2);                                                                               \
    j 1b;

#define RVMODEL_DATA_BEGIN                                                                         \
    .pushsection .tohost, "aw", @progbits;                                                         \
    .balign 64;                                                                                    \
    .globl tohost, fromhost;                                                                       \
    tohost: .dword 0;                                                                              \
    .balign 64;                                                                                    \
    fromhost: .dword 0;                                                                            \
    .popsection;                                                                                   \
    .balign 16;                                                                                    \
    .globl begin_signature;                                                                        \
    begin_signature:

#define RVMODEL_DATA_END                                                                           \
    .balign 16;                                                                                    \
    .globl end_signature;                                                                          \
    end_signature:

#define RVMODEL_IO_INIT
#define RVMODEL_IO_WRITE_STR(register, text)
#define RVMODEL_IO_CHECK()
#define RVMODEL_IO_ASSERT_GPR_EQ(scratch, register, value)
#define RVMODEL_IO_ASSERT_SFPR_EQ(scratch, register, value)
#define RVMODEL_IO_ASSERT_DFPR_EQ(scratch, register, value)

#define RVMODEL_SET_MSW_INT                                                                        \
    li t1, 1;                                                                                      \
    li t2, 0x2000000;                                                                              \
    sw t1, 0(t2);
#define RVMODEL_CLEAR_MSW_INT                                                                      \
    li t2, 0x2000000;                                                                              \
    sw zero, 0(t2);
#define RVMODEL_CLEAR_MTIMER_INT                                                                   \
    li t1, -1;                                                                                     \
    li t2, 0x2004000;                                                                              \
    sd t1, 0(t2);
#define RVMODEL_CLEAR_MEXT_INT

#endif
