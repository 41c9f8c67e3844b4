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
 * of an instruction (registers selected by XISEL). */
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

/* Causes of tile-semantics.md 12. */
static int tile_fault_signal(uint64_t cause)
{
    switch (cause) {
    case 1:
        return FACET_GDB_SIGILL;
    case 2:
    case 7:
    case 8:
        return FACET_GDB_SIGBUS;
    case 3:
    case 4:
    case 5:
    case 6:
        return FACET_GDB_SIGSEGV;
    default:
        return FACET_GDB_SIGABRT;
    }
}

/* Causes of facet/gfx12.h. */
static int gfx12_fault_signal(uint64_t cause)
{
    return cause == 1 ? FACET_GDB_SIGILL : cause == 2 ? FACET_GDB_SIGSEGV : FACET_GDB_SIGABRT;
}

/* GDB rejects a description without an architecture of its list. 32-bit RISC-V is little-endian
 * with 32-bit instructions, and GDB shows its registers by the names zero, ra, sp, ..., s1 to s11:
 * those that the tile machine has as well must be the same, the others serve GDB's idea of a frame
 * as tile-semantics.md 2 recommends (link s1, stack s2, arguments s10 to s17), or read zero. */
static const struct facet_gdb_borrowed riscv32[] = {
    {"x0", "s0", NULL},   {"x1", "s1", "JAL"},  {"x2", "s2", NULL},   {"x3", "s0", NULL},
    {"x4", "s0", NULL},   {"x5", "s0", NULL},   {"x6", "s0", NULL},   {"x7", "s0", NULL},
    {"x8", "s0", NULL},   {"x9", "s1", NULL},   {"x10", "s10", NULL}, {"x11", "s11", NULL},
    {"x12", "s12", NULL}, {"x13", "s13", NULL}, {"x14", "s14", NULL}, {"x15", "s15", NULL},
    {"x16", "s16", NULL}, {"x17", "s17", NULL}, {"x18", "s2", NULL},  {"x19", "s3", NULL},
    {"x20", "s4", NULL},  {"x21", "s5", NULL},  {"x22", "s6", NULL},  {"x23", "s7", NULL},
    {"x24", "s8", NULL},  {"x25", "s9", NULL},  {"x26", "s10", NULL}, {"x27", "s11", NULL},
    {"x28", "s0", NULL},  {"x29", "s0", NULL},  {"x30", "s0", NULL},  {"x31", "s0", NULL},
    {"pc", "pc", NULL},   {NULL, NULL, NULL}};

/* 64-bit RISC-V for the sake of 64-bit addresses. Its s registers are the lane's, so that $s1 means
 * what it says; all else reads zero. */
static const struct facet_gdb_borrowed riscv64[] = {
    {"x0", NULL, NULL},  {"x1", NULL, NULL},  {"x2", NULL, NULL},   {"x3", NULL, NULL},
    {"x4", NULL, NULL},  {"x5", NULL, NULL},  {"x6", NULL, NULL},   {"x7", NULL, NULL},
    {"x8", "s0", NULL},  {"x9", "s1", NULL},  {"x10", NULL, NULL},  {"x11", NULL, NULL},
    {"x12", NULL, NULL}, {"x13", NULL, NULL}, {"x14", NULL, NULL},  {"x15", NULL, NULL},
    {"x16", NULL, NULL}, {"x17", NULL, NULL}, {"x18", "s2", NULL},  {"x19", "s3", NULL},
    {"x20", "s4", NULL}, {"x21", "s5", NULL}, {"x22", "s6", NULL},  {"x23", "s7", NULL},
    {"x24", "s8", NULL}, {"x25", "s9", NULL}, {"x26", "s10", NULL}, {"x27", "s11", NULL},
    {"x28", NULL, NULL}, {"x29", NULL, NULL}, {"x30", NULL, NULL},  {"x31", NULL, NULL},
    {"pc", "pc", NULL},  {NULL, NULL, NULL}};

static const struct facet_gdb_arch riscv = {.architecture = "riscv:rv64",
                                            .general = 2,
                                            .watches_before = true,
                                            .float_csr = "fcsr",
                                            .reg_feature = riscv_reg_feature,
                                            .csr_feature = riscv_csr_feature,
                                            .fault_signal = riscv_fault_signal,
                                            .disassembler =
                                                "FacetXphmg('Facet xphmg'), 'riscv:rv64'"};
static const struct facet_gdb_arch tile = {.architecture = "riscv:rv32",
                                           .general = 1,
                                           .reg_feature = own_reg_feature,
                                           .csr_feature = own_csr_feature,
                                           .fault_signal = tile_fault_signal,
                                           .watches_before = true,
                                           .private_spaces = true,
                                           .borrowed = riscv32,
                                           .borrowed_feature = "org.gnu.gdb.riscv.cpu",
                                           .borrowed_bytes = 4,
                                           .disassembler = "FacetTile('Facet tile'), 'riscv:rv32'"};
static const struct facet_gdb_arch gfx12 = {.architecture = "riscv:rv64",
                                            .general = 1,
                                            .reg_feature = own_reg_feature,
                                            .csr_feature = own_csr_feature,
                                            .fault_signal = gfx12_fault_signal,
                                            .watches_before = true,
                                            .borrowed = riscv64,
                                            .borrowed_feature = "org.gnu.gdb.riscv.cpu",
                                            .borrowed_bytes = 8,
                                            .disassembler =
                                                "FacetGfx12('Facet gfx12'), 'riscv:rv64'"};
static const struct facet_gdb_arch unknown = {.general = 1,
                                              .reg_feature = own_reg_feature,
                                              .csr_feature = own_csr_feature,
                                              .fault_signal = own_fault_signal,
                                              .disassembler = "FacetTile('Facet')"};

const struct facet_gdb_arch *facet_gdb_arch_of(const char *kind)
{
    return strcmp(kind, "xphmg") == 0   ? &riscv
           : strcmp(kind, "tile") == 0  ? &tile
           : strcmp(kind, "gfx12") == 0 ? &gfx12
                                        : &unknown;
}
