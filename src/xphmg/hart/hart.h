/* The hart: RV64GC in M and U mode, as explicit state and pure-as-possible functions over it.
 *
 * Two executors share the instruction bodies of alu.def, fp.def and memory.h: step.c runs one
 * instruction and reports every architectural write to an observer; block.c runs decoded blocks at
 * full speed and reports nothing. `cache = off` uses step.c alone; the suite runs both ways and
 * compares.
 *
 * Spec: spec/rv64.insn.tsv, spec/rv64.csr.tsv, the RISC-V unprivileged and privileged manuals. */
#ifndef FACET_XPHMG_HART_HART_H
#define FACET_XPHMG_HART_HART_H

#include "base/pool.h"
#include "contract/xphmg_csrs.h"
#include "machine/ops.h"
#include "mem/mem.h"
#include "xphmg/hart/insn.h"
#include "xphmg/units/units.h"

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

/* The outcome of an instruction: retired, or a trap that the caller takes. */
struct facet_trap {
    bool taken;
    uint8_t cause; /* enum facet_cause */
    uint64_t tval;
};

#define FACET_RETIRED ((struct facet_trap){false, 0, 0})

static inline struct facet_trap facet_hart_trap_make(enum facet_cause cause, uint64_t tval)
{
    return (struct facet_trap){true, (uint8_t)cause, tval};
}

enum facet_fs { FACET_FS_OFF, FACET_FS_INITIAL, FACET_FS_CLEAN, FACET_FS_DIRTY };

/* Indexes of the register table (tables.c); CSRs have indexes of their own. */
enum {
    FACET_HART_REG_X = 0,
    FACET_HART_REG_F = 32,
    FACET_HART_REG_PC = 64,
    FACET_HART_REG_PRIV,
    FACET_HART_REG_P0, /* then the predicate banks 1..3 */
    FACET_HART_REG_MTX = FACET_HART_REG_P0 + FACET_BANKS,
    FACET_HART_REG_GFX = FACET_HART_REG_MTX + (int)(sizeof(struct facet_mtx_bank) / 8) * 4,
    FACET_HART_REG_COUNT = FACET_HART_REG_GFX + 2 * 7 /* GFXPLN0 to GFXPLN5, GFXBORDERC */
};

/* Whose privilege PMP asks for, beside the hart's own. */
enum facet_actor {
    FACET_ACTOR_HART,
    FACET_ACTOR_USER,    /* a job that was submitted with the effective privilege U */
    FACET_ACTOR_MACHINE, /* the same with M */
    FACET_ACTOR_HOST,    /* semihosting: nothing is forbidden */
};

/* What the platform does with an EBREAK between the two semihosting markers. */
enum facet_host_answer {
    FACET_HOST_NOT_MINE, /* an ordinary breakpoint trap */
    FACET_HOST_DONE,     /* the call is done: the instruction retires */
    FACET_HOST_WAIT,     /* try again later: input is missing and nothing happened, or a part is
                            left (part.h) */
};

/* What the block cache knows of a line of RAM. */
enum facet_line {
    FACET_LINE_CODE = 1,    /* has decoded instructions */
    FACET_LINE_WATCHED = 2, /* the plain executor does the stores (facet_block_cache_watch) */
};

struct facet_hart;
struct facet_hart_host {
    void *context;
    enum facet_host_answer (*ebreak)(void *context, struct facet_hart *h);
    /* Before an access outside of RAM: devices see the time by h->retired. */
    void (*catch_up)(void *context, struct facet_hart *h);
};

enum { FACET_MEMO_BITS = 13, FACET_MEMO_SIZE = 1 << FACET_MEMO_BITS };

/* What a hart with `waiting` waits for. */
enum facet_wait {
    FACET_WAIT_INTERRUPT, /* WFI */
    FACET_WAIT_TOKEN,     /* XFENCE.WAITI: wait_on = token */
    FACET_WAIT_TICKET,    /* XFENCE.WAIT: wait_on = ticket */
    FACET_WAIT_JOBS,      /* a fence: wait_on = sets of its own jobs (jobs.h) */
    FACET_WAIT_ROOM,      /* a submission: wait_on = queue that is full */
};

/* Bytes of RAM in a line. */
#define FACET_CODE_LINE_BITS 6
#define FACET_CODE_LINE_BYTES (1 << FACET_CODE_LINE_BITS)

/* The effective policy of MODE and ALT, which units compose when one of them has changed, and the
 * conversion of elements without a table of zero points. */
struct facet_hart_policy {
    bool known;
    uint32_t alt_formats;
    uint64_t mode, alt;
    struct facet_eff eff;
    struct facet_conv conv;
};

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
    uint64_t mcountinhibit;
    /* Plain registers; mip is driven by the CLINT and from outside. */
    FACET_STORE_HART;
    uint64_t hartid; /* number among the machine's harts; mhartid may count from another */
    uint64_t pmpaddr[FACET_PMP_MAX];
    uint8_t pmpcfg[FACET_PMP_MAX]; /* all 0 unless FACET_PMP_WORKS */

    uint64_t retired;         /* instructions since reset: the machine's clock */
    uint64_t minstret_offset; /* minstret = retired + offset, unless inhibited */
    uint64_t mcycle_offset;
    uint64_t minstret_held; /* value while mcountinhibit holds the counter */
    uint64_t mcycle_held;

    bool reserved; /* LR reservation */
    uint64_t reservation;
    bool waiting; /* WFI, or an XFENCE that is not satisfied yet */
    uint8_t wait; /* enum facet_wait */
    uint64_t wait_on;

    struct facet_units units;
    struct facet_xmem *xmem; /* the machine's; NULL: a hart without XPHMG units */
    struct facet_jobs *jobs; /* the machine's; NULL: jobs complete at once */
    struct facet_part *part; /* the machine's (part.h); NULL: no step is left half-way */

    facet_mem *mem;
    struct facet_mem_window ram; /* nothing is inside it while `plain`, or closed by PMP */
    /* Spans of the window while PMP keeps it closed (facet_hart_guard), else 0. */
    uint64_t shut_span, shut_store_span;
    uint8_t actor; /* enum facet_actor: on whose behalf memory is accessed */
    bool plain;    /* no fast ways: floating point and units as the contract has it */
    /* The block cache's map of RAM lines (enum facet_line), or NULL; code_written asks it to drop
     * what it has (a store into a line with decoded code, FENCE.I). */
    const uint8_t *code_lines;
    bool code_written;
    bool outside;                       /* an access left RAM, or stored to a watched line of it */
    struct facet_block_cache *blocks;   /* the cache that runs the hart, while it does */
    struct facet_counts *counts;        /* of a profile; NULL: nothing is counted */
    struct facet_block_tally *tally;    /* what blocks count for it: block_impl.h */
    unsigned raised;                    /* flags of one operation in the making, there too */
    struct facet_port *port;            /* who listens; NULL for a hart outside a machine */
    const uint16_t *csr_index;          /* CSR number -> table index; NULL when port is NULL */
    const struct facet_hart_host *host; /* NULL: EBREAK always traps */
    /* The instruction at pc was not executed and must be tried again: it waits for input, with
     * `waiting` for a fence, or was left half-way (part.h). */
    bool stalled;
    /* Decoded words, FACET_MEMO_SIZE entries, or NULL: decoding is a pure function of the word. */
    struct facet_insn *memo;
    /* Room for what one instruction of XPHMG_MTX computes; a hart with that unit needs it. */
    struct facet_mtx_results *mtx_results;
    const uint64_t *mtime;   /* of the CLINT; NULL: time reads `retired` */
    struct facet_told *told; /* by the host (told.h); NULL: nothing. Not owned */
    facet_pool *pool;        /* for the rays of one RT job; NULL: no other threads. Not owned */
    /* Of the RT jobs before; NULL: rays are done one by one. Not owned. */
    struct facet_xphmg_rt_kept *rt_kept;
    struct facet_xphmg_rt_quick *rt_quick; /* NULL: no quick way for instructions. Not owned */
    struct facet_xphmg_gfx_kept *gfx_kept; /* of GFX.SAMPLE; NULL: none. Not owned */
    struct facet_hart_policy policy;       /* of the instruction before */
    /* Notified of what jobs of RT do; NULL, as after a reset: none. */
    const struct facet_xphmg_rt_watch *rt_watch;
};

void facet_hart_reset(struct facet_hart *h, uint64_t pc);

/* The instruction of a word, from what was decoded before if the hart remembers. */
struct facet_insn facet_hart_decode(const struct facet_hart *h, uint32_t word);

/* One instruction, or one interrupt entry; always makes progress, unless the platform sets
 * `stalled` (then nothing has changed, or a part is done). Returns the trap that was taken, if any
 * (the hart is already in its handler). */
struct facet_trap facet_hart_step(struct facet_hart *h);

/* Executes a decoded instruction at h->pc with h->next_pc after it: writes registers, memory and
 * next_pc, or returns the trap with nothing written. */
struct facet_trap facet_hart_execute(struct facet_hart *h, const struct facet_insn *in);
/* The same, repeated for the lanes of RSV where SVSTATE.EN asks for that. */
struct facet_trap facet_hart_perform(struct facet_hart *h, const struct facet_insn *in);

/* What an AMO row stores, from the memory word and rs2 (only the low `size` bytes count). */
uint64_t facet_hart_amo_result(unsigned row, uint64_t old, uint64_t b, unsigned size);

/* A jump to an address off the alignment of instructions traps itself. */
static inline struct facet_trap facet_hart_target(const struct facet_hart *h, uint64_t target)
{
    return (target & 2) != 0 && facet_xphmg_lacks(h->units.config, FACET_EXT_C)
               ? facet_hart_trap_make(FACET_CAUSE_FETCH_MISALIGNED, target)
               : FACET_RETIRED;
}

/* MRET: back to the mode and pc before the trap. */
void facet_hart_return(struct facet_hart *h);
/* Enters the trap handler. */
void facet_hart_trap(struct facet_hart *h, uint64_t cause, uint64_t tval);
/* Highest-priority pending and enabled interrupt, or -1. */
int facet_hart_pending(const struct facet_hart *h);

/* Physical memory protection (pmp.c, R-CAP-69). `access` is one of R, W and X. */
enum { FACET_PMP_R = 1, FACET_PMP_W = 2, FACET_PMP_X = 4 };
/* Privilege of loads and stores: that of MPP while MPRV asks for it. */
enum facet_priv facet_hart_data_priv(const struct facet_hart *h);
/* One access, which the first entry that has any of its bytes must have whole. */
bool facet_hart_pmp_access(const struct facet_hart *h,
                           uint64_t address,
                           uint64_t size,
                           unsigned access);
/* How many bytes from `address` on are allowed, each by itself; `size` if all are. */
uint64_t
facet_hart_pmp_bytes(const struct facet_hart *h, uint64_t address, uint64_t size, unsigned access);
/* After anything that may change what is allowed: RAM is open to the fast ways while all of it is,
 * for loads, stores and fetches. */
void facet_hart_guard(struct facet_hart *h);
/* Whether the registers hold what writes can leave in them. */
bool facet_hart_pmp_holds(const struct facet_hart *h);

static inline bool facet_hart_has_pmp(const struct facet_hart *h)
{
    return h->units.config->hart.pmp == FACET_PMP_WORKS;
}

/* csr* instructions. `write` false: read only. Returns an illegal-instruction trap for a number
 * that does not exist, a privilege that is too low, or a write to a read-only number. */
struct facet_trap facet_hart_csr_access(
    struct facet_hart *h, const struct facet_insn *in, uint64_t operand, bool write, uint64_t *old);
uint64_t facet_hart_csr_peek(const struct facet_hart *h, unsigned csr);
/* A debugger's write: as an instruction with every privilege, between two instructions. */
void facet_hart_csr_poke(struct facet_hart *h, unsigned csr, uint64_t value);
/* Whether a hart of this configuration has the register of the base ISA. */
bool facet_hart_csr_exists(const struct facet_cap_config *config, const struct facet_csr_row *row);

/* ---- the doors for architectural writes -------------------------------------------------------
 */

static inline bool facet_hart_listens(const struct facet_hart *h)
{
    return h->port != NULL && facet_port_listens(h->port);
}

/* The eight bytes of matrix storage behind a register of the table from FACET_HART_REG_MTX on:
 * banks in rising order, in each MTX2, MTX3, MTX4, MTXBIAS. */
static inline uint8_t *facet_hart_mtx_word(struct facet_hart *h, unsigned reg)
{
    return (uint8_t *)h->units.mtx.bank + 8 * (size_t)(reg - FACET_HART_REG_MTX);
}

/* Half of a 128-bit register of GFX behind a register of the table from FACET_HART_REG_GFX on: the
 * planes in rising order, then the border colour, the lower half first. */
static inline uint64_t *facet_hart_gfx_word(struct facet_hart *h, unsigned reg)
{
    struct facet_xphmg_gfx *gfx = &h->units.gfx;
    uint64_t *const wide[] = {
        gfx->pln0, gfx->pln1, gfx->pln2, gfx->pln3, gfx->pln4, gfx->pln5, gfx->borderc};

    return &wide[(reg - FACET_HART_REG_GFX) / 2][(reg - FACET_HART_REG_GFX) % 2];
}

void facet_hart_tell_reg(struct facet_hart *h, unsigned reg, uint64_t old, uint64_t value);
/* By CSR number; reported for every write, whether or not the value changes. */
void facet_hart_tell_csr(struct facet_hart *h, unsigned csr, uint64_t old, uint64_t value);

static inline void
facet_hart_note_reg(struct facet_hart *h, unsigned reg, uint64_t old, uint64_t value)
{
    if (facet_hart_listens(h)) {
        facet_hart_tell_reg(h, reg, old, value);
    }
}

static inline void facet_hart_set_x(struct facet_hart *h, unsigned rd, uint64_t value)
{
    if (rd == 0) {
        return;
    }
    if (facet_hart_listens(h)) {
        facet_hart_tell_reg(h, FACET_HART_REG_X + rd, h->x[rd], value);
    }
    h->x[rd] = value;
}

static inline void facet_hart_set_priv(struct facet_hart *h, enum facet_priv priv)
{
    if (facet_hart_listens(h) && h->priv != priv) {
        facet_hart_tell_reg(h, FACET_HART_REG_PRIV, h->priv, priv);
    }
    h->priv = (uint8_t)priv;
}

/* Does something that may change the units, and reports what it changed; `told` is a CSR reported
 * otherwise, or 0. */
void facet_hart_tell_units(struct facet_hart *h,
                           unsigned told,
                           void (*act)(void *context),
                           void *context);

/* FS becomes Dirty; seen in mstatus. */
void facet_hart_tell_dirty(struct facet_hart *h);

static inline void facet_hart_dirty(struct facet_hart *h)
{
    if (h->fs != FACET_FS_DIRTY && facet_hart_listens(h)) {
        facet_hart_tell_dirty(h);
    }
    h->fs = FACET_FS_DIRTY;
}

static inline void facet_hart_set_f(struct facet_hart *h, unsigned rd, uint64_t value)
{
    if (facet_hart_listens(h)) {
        facet_hart_tell_reg(h, FACET_HART_REG_F + rd, h->f[rd], value);
    }
    h->f[rd] = value;
    facet_hart_dirty(h);
}

static inline void facet_hart_raise(struct facet_hart *h, unsigned flags)
{
    if (flags != 0) {
        if (facet_hart_listens(h)) {
            facet_hart_tell_csr(h, FACET_CSR_FFLAGS, h->fflags, h->fflags | (flags & 0x1F));
        }
        h->fflags |= flags & 0x1F;
        facet_hart_dirty(h);
    }
}

/* Something a unit did that no register or memory shows (policies, hints, fences), for traces.
 * `values` has `count` numbers, at most six; names are static strings. */
static inline void facet_hart_unit(struct facet_hart *h,
                                   const char *unit,
                                   const char *what,
                                   uint32_t count,
                                   const uint64_t *values)
{
    if (facet_hart_listens(h)) {
        struct facet_unit_event event = {
            .core = (uint32_t)h->hartid, .unit = unit, .what = what, .count = count};

        for (uint32_t i = 0; i < count; i++) {
            event.values[i] = values[i];
        }
        facet_port_unit(h->port, &event);
    }
}

#endif
