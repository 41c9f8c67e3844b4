/* What GDB knows about a kind of machine by itself: the architecture's name and the features whose
 * registers it expects under standard names. Everything else it learns from our tables. */
#ifndef FACET_GDB_ARCH_H
#define FACET_GDB_ARCH_H

#include <facet/machine.h>

struct facet_gdb_arch {
    const char *architecture; /* GDB's name, or NULL */
    unsigned general;         /* number of features, from the first, that go into the `g` packet */
    /* GDB takes it that a watchpoint stops before the access, in whichever direction time goes, and
     * makes the step over it by itself. */
    bool watches_before;
    const char
        *float_csr; /* without this CSR there are no floating-point registers; NULL: always */
    /* Space n + 1 is the private memory of core n, at addresses that space 0 does not have. */
    bool private_spaces;
    /* The feature of a register or CSR, NULL: one of our own after its group. */
    const char *(*reg_feature)(const struct facet_reg_desc *reg);
    const char *(*csr_feature)(const struct facet_csr_desc *csr);
    /* GDB's number of the signal that stands for a fault. */
    int (*fault_signal)(uint64_t cause);
    /* A machine that GDB does not know borrows the name of an architecture that does: the registers
     * which GDB expects of that one, each with the machine's register for it (NULL: it
     * reads 0); NULL for none. They come first, in one feature; the machine's own names follow. */
    const struct facet_gdb_borrowed {
        const char *name, *reg;
        const char *call; /* how an instruction that puts its return address there begins: without
                             one before the address GDB is given none, so that it does not invent a
                             caller; NULL: for any register */
    } * borrowed;
    const char *borrowed_feature;
    uint8_t borrowed_bytes; /* of each of them */
    /* What `monitor python` registers: a class of script.c and the architecture. */
    const char *disassembler;
};

/* Never NULL: kinds that GDB does not know get the same treatment without standard names. */
const struct facet_gdb_arch *facet_gdb_arch_of(const char *kind);

/* GDB's own numbering. */
enum facet_gdb_signal {
    FACET_GDB_SIGINT = 2,
    FACET_GDB_SIGILL = 4,
    FACET_GDB_SIGTRAP = 5,
    FACET_GDB_SIGABRT = 6,
    FACET_GDB_SIGBUS = 10,
    FACET_GDB_SIGSEGV = 11,
};

#endif
