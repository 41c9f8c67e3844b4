/* See arch.h. Standard features: "RISC-V Features" in the GDB manual. */
#include "gdb/arch.h"

#include <string.h>

static const char *riscv_reg_feature(const struct facet_reg_desc *reg)
{
    if (strcmp(reg->group, "x") == 0 || reg->type == FACET_REG_CODE) {
        return "org.gnu.gdb.riscv.cpu";
    }
    if (strcmp(reg->group, "f") == 0) {
        return "org.gnu.gdb.riscv.fpu";
    }
    return strcmp(reg->name, "priv") == 0 ? "org.gnu.gdb.riscv.virtual" : NULL;
}

/* The numbers that the privileged architecture leaves to vendors, and those beyond the twelve bits
 * of an instruction (registers behind XISEL). */
static bool custom_csr(uint32_t number)
{
    uint32_t block = number >> 8, low = number & 0xFF;

    switch (block) {
    case 0x8:
        return true;
    case 0x5:
    case 0x6:
    case 0x7:
    case 0x9:
    case 0xA:
    case 0xB:
    case 0xC:
    case 0xD:
    case 0xE:
    case 0xF:
        return low >= 0xC0;
    default:
        return block > 0xF;
    }
}

static const char *riscv_csr_feature(const struct facet_csr_desc *csr)
{
    if (csr->number >= 1 && csr->number <= 3) { /* fflags, frm, fcsr */
        return "org.gnu.gdb.riscv.fpu";
    }
    return custom_csr(csr->number) ? NULL : "org.gnu.gdb.riscv.csr";
}

static int riscv_fault_signal(uint64_t cause)
{
    switch (cause) {
    case 2:
        return FACET_GDB_SIGILL;
    case 3:
        return FACET_GDB_SIGTRAP;
    case 0:
    case 4:
    case 6:
        return FACET_GDB_SIGBUS;
    case 1:
    case 5:
    case 7:
        return FACET_GDB_SIGSEGV;
    default:
        return FACET_GDB_SIGABRT;
    }
}

static const char *own_reg_feature(const struct facet_reg_desc *reg)
{
    (void)reg;
    return NULL;
}

static const char *own_csr_feature(const struct facet_csr_desc *csr)
{
    (void)csr;
    return NULL;
}

static int own_fault_signal(uint64_t cause)
{
    (void)cause;
    return FACET_GDB_SIGABRT;
}

static const struct facet_gdb_arch riscv = {
    "riscv:rv64", 2, true, riscv_reg_feature, riscv_csr_feature, riscv_fault_signal};
static const struct facet_gdb_arch unknown = {
    NULL, 1, false, own_reg_feature, own_csr_feature, own_fault_signal};

const struct facet_gdb_arch *facet_gdb_arch_of(const char *kind)
{
    return strcmp(kind, "xphmg") == 0 ? &riscv : &unknown;
}
