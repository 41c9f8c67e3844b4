/* The hart: RV64GC in M and U mode, as explicit state and pure-as-possible functions over it.
 *
 * Two executors share the instruction bodies of alu.def, fp.def and memory.h: step.c runs one
 * instruction and reports every architectural write to an observer; block.c runs decoded blocks at
 * full speed and reports nothing. `cache = off` uses step.c alone; the suite runs both ways and
 * compares.
 *
 * Spec: spec/rv64.insn.tsv, spec/rv64.csr.tsv, the RISC-V unprivileged and privileged manuals. */
#ifndef FACET_XPHMG_HART_H
#define FACET_XPHMG_HART_H

#include "mem/mem.h"
#include "xphmg/insn.h"

#include <stdbool.h>
#include <stdint.h>

enum facet_priv { FACET_PRIV_U = 0, FACET_PRIV_M = 3 };

/* mcause codes (numeric.md 11.3 for 24 and 25). */
enum facet_cause {
    FACET_CAUSE_FETCH_MISALIGNED = 0,
    FACET_CAUSE_FETCH_FAULT = 1,
    FACET_CAUSE_ILLEGAL = 2,
    FACET_CAUSE_BREAKPOINT = 3,
    FACET_CAUSE_LOAD_MISALIGNED = 4,
    FACET_CAUSE_LOAD_FAULT = 5,
    FACET_CAUSE_STORE_MISALIGNED = 6,
    FACET_CAUSE_STORE_FAULT = 7,
    FACET_CAUSE_ECALL_U = 8,
    FACET_CAUSE_ECALL_M = 11,
    FACET_CAUSE_NUMERIC = 24,
    FACET_CAUSE_UNSUPPORTED = 25,
};

enum facet_interrupt {
    FACET_IRQ_SOFTWARE = 3,
    FACET_IRQ_TIMER = 7,
    FACET_IRQ_EXTERNAL = 11,
};

/* What an instruction came to: retired, or a trap that the caller takes. */
struct facet_trap {
    bool taken;
    uint8_t cause; /* enum facet_cause */
    uint64_t tval;
};

#define FACET_RETIRED ((struct facet_trap){false, 0, 0})

static inline struct facet_trap facet_trap_make(enum facet_cause cause, uint64_t tval)
{
    return (struct facet_trap){true, (uint8_t)cause, tval};
}

enum {
    FACET_MSTATUS_MIE = 1 << 3,
    FACET_MSTATUS_MPIE = 1 << 7,
    FACET_MSTATUS_MPP_SHIFT = 11,
    FACET_MSTATUS_MPP = 3 << 11,
    FACET_MSTATUS_FS_SHIFT = 13,
    FACET_MSTATUS_FS = 3 << 13,
    FACET_MSTATUS_MPRV = 1 << 17,
    FACET_MSTATUS_TW = 1 << 21,
};

enum facet_fs { FACET_FS_OFF, FACET_FS_INITIAL, FACET_FS_CLEAN, FACET_FS_DIRTY };

/* Who listens to architectural writes; any member may be NULL. */
struct facet_hart_observer {
    void *context;
    void (*x_write)(void *context, unsigned reg, uint64_t old, uint64_t value);
    void (*f_write)(void *context, unsigned reg, uint64_t old, uint64_t value);
    void (*csr_write)(void *context, unsigned csr, uint64_t old, uint64_t value);
    void (*load)(void *context, uint64_t address, unsigned size, uint64_t value);
    void (*store)(void *context, uint64_t address, unsigned size, uint64_t old, uint64_t value);
    void (*trap)(void *context, uint64_t cause, uint64_t tval, uint64_t epc);
};

/* Bytes of RAM per entry of code_lines. */
#define FACET_CODE_LINE_BITS 6
#define FACET_CODE_LINE_BYTES (1 << FACET_CODE_LINE_BITS)

struct facet_hart {
    /* x[0] stays zero; x[32] is where the fast executor drops results for x0. */
    uint64_t x[33];
    uint64_t f[32];
    uint64_t pc;
    uint64_t next_pc; /* of the instruction that is being executed */
    uint8_t priv;     /* enum facet_priv */
    uint8_t frm;
    uint8_t fflags;
    uint8_t fs; /* enum facet_fs */

    uint64_t mstatus; /* MIE, MPIE, MPP, MPRV, TW; FS, UXL and SD are made when it is read */
    uint64_t mtvec;
    uint64_t mscratch;
    uint64_t mepc;
    uint64_t mcause;
    uint64_t mtval;
    uint64_t mie;
    uint64_t mip; /* lines driven by the CLINT and the platform */
    uint64_t mcounteren;
    uint64_t mcountinhibit;
    uint64_t menvcfg;
    uint64_t hartid;

    uint64_t retired;         /* instructions since reset: the machine's clock */
    uint64_t minstret_offset; /* minstret = retired + offset, unless inhibited */
    uint64_t mcycle_offset;
    uint64_t minstret_held; /* value while mcountinhibit holds the counter */
    uint64_t mcycle_held;

    bool reserved; /* LR reservation */
    uint64_t reservation;
    bool waiting; /* WFI */
    /* Scalar instructions do not mean what the base ISA says (RSV, predication, trapping flags): the
     * fast executor leaves them all to facet_hart_step. Changed by instructions of step.c only. */
    bool slow;

    facet_mem *mem;
    struct facet_mem_window ram;
    /* The block cache's map of RAM lines with decoded code, or NULL; code_written asks it to drop
     * what it has (a store into such a line, FENCE.I). */
    const uint8_t *code_lines;
    bool code_written;
    struct facet_block_cache *blocks; /* the cache that runs the hart, while it does */
    unsigned raised;                  /* flags of one operation in the making, there too */
    const struct facet_hart_observer *observer;
    const uint64_t *mtime; /* of the CLINT; NULL: time reads `retired` */
};

void facet_hart_reset(struct facet_hart *h, uint64_t pc);

/* One instruction, or one interrupt entry; always makes progress. Returns the trap that was taken,
 * if any (the hart is already in its handler). */
struct facet_trap facet_hart_step(struct facet_hart *h);

/* Executes a decoded instruction at h->pc with h->next_pc behind it: writes registers, memory and
 * next_pc, or returns the trap with nothing written. */
struct facet_trap facet_hart_execute(struct facet_hart *h, const struct facet_insn *in);

/* MRET: back to the mode and pc before the trap. */
void facet_hart_return(struct facet_hart *h);
/* Enters the trap handler. */
void facet_hart_trap(struct facet_hart *h, uint64_t cause, uint64_t tval);
/* Highest-priority pending and enabled interrupt, or -1. */
int facet_hart_pending(const struct facet_hart *h);

/* csr* instructions. `write` false: read only. Returns an illegal-instruction trap for a number
 * that does not exist, a privilege that is too low, or a write to a read-only number. */
struct facet_trap facet_csr_access(
    struct facet_hart *h, const struct facet_insn *in, uint64_t operand, bool write, uint64_t *old);
uint64_t facet_hart_csr_peek(const struct facet_hart *h, unsigned csr);

/* ---- the doors for architectural writes -------------------------------------------------------
 */

static inline void facet_hart_set_x(struct facet_hart *h, unsigned rd, uint64_t value)
{
    if (rd == 0) {
        return;
    }
    if (h->observer != NULL && h->observer->x_write != NULL) {
        h->observer->x_write(h->observer->context, rd, h->x[rd], value);
    }
    h->x[rd] = value;
}

static inline void facet_hart_set_f(struct facet_hart *h, unsigned rd, uint64_t value)
{
    if (h->observer != NULL && h->observer->f_write != NULL) {
        h->observer->f_write(h->observer->context, rd, h->f[rd], value);
    }
    h->f[rd] = value;
    h->fs = FACET_FS_DIRTY;
}

static inline void facet_hart_raise(struct facet_hart *h, unsigned flags)
{
    if (flags != 0) {
        h->fflags |= flags & 0x1F;
        h->fs = FACET_FS_DIRTY;
    }
}

#endif
