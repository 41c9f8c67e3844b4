/* An accumulator machine with two cores: the first user of the machine face, and the smallest one
 * that needs every part of it.
 *
 * A word is op << 28 | n. Data addresses with bit 27 set lie in the space "local".
 *   1 LDI acc = n          4 ADD acc += mem[n], wide += acc      7 HALT this core waits for ever
 *   2 LD  acc = mem[n]     5 JNZ if (acc) pc = n                 8 EXIT end with code acc
 *   3 ST  mem[n] = acc     6 CSRW csr number n = acc             anything else traps
 * The cores take turns, one instruction each. A trap without a vector is a fault. */
#ifndef FACET_TESTS_ACC_H
#define FACET_TESTS_ACC_H

#include "machine/ops.h"

#define ACC_LDI(n) (UINT32_C(1) << 28 | (n))
#define ACC_LD(n) (UINT32_C(2) << 28 | (n))
#define ACC_ST(n) (UINT32_C(3) << 28 | (n))
#define ACC_ADD(n) (UINT32_C(4) << 28 | (n))
#define ACC_JNZ(n) (UINT32_C(5) << 28 | (n))
#define ACC_CSRW(n) (UINT32_C(6) << 28 | (n))
#define ACC_HALT (UINT32_C(7) << 28)
#define ACC_EXIT (UINT32_C(8) << 28)
#define ACC_LOCAL (UINT32_C(1) << 27)

enum { ACC_CODE1 = 0x8000, ACC_DEVICE = 0x100000, ACC_ROM = 0x200000, ACC_RAM_BYTES = 0x10000 };
enum { ACC_REG_PC, ACC_REG_ACC, ACC_REG_WIDE, ACC_REG_ID };
enum { ACC_CSR_CTRL, ACC_CSR_VECTOR, ACC_CSR_CAUSE, ACC_CSR_BIG };
enum { ACC_CAUSE_ILLEGAL = 2, ACC_CAUSE_LOAD = 5, ACC_CAUSE_STORE = 7, ACC_CAUSE_FETCH = 1 };

struct acc_config {
    uint64_t ram_bytes;
};

extern const struct facet_machine_ops acc_ops;       /* asks for breakpoints by itself */
extern const struct facet_machine_ops acc_plain_ops; /* leaves them to the face */
extern const struct facet_machine_ops acc_stuck_ops; /* broken: run() does nothing */
extern const struct facet_machine_ops acc_other_ops; /* another kind by name */

#endif
