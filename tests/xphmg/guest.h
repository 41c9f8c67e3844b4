/* A hart with its units, DRAM and LDS for tests: assembles text, runs it, and lets the test look.
 *
 *     struct guest *g = guest_make("full");
 *     CHECK(!guest_run(g, "li t0, 3\n csrw CAP.PREC.EXC.EN, t0\n").taken);
 *     CHECK_EQ(guest_csr(g, FACET_CSR_CAP_PREC_EXC_EN), 3);
 *     guest_free(g);
 *
 * Everything goes through facet_hart_step, instruction by instruction. */
#ifndef FACET_TESTS_XPHMG_GUEST_H
#define FACET_TESTS_XPHMG_GUEST_H

#include "harness.h"

#include "xphmg/hart/hart.h"

#include <string.h>

enum {
    GUEST_CODE = 0x80000000u, /* text lies here */
    GUEST_DATA = 0x80040000u, /* free for data */
    GUEST_RAM_BYTES = 1 << 20,
};

struct guest {
    facet_mem *mem;
    struct facet_hart *hart; /* M-mode, FS = Initial, mtvec 0 */
    struct facet_xmem *xmem;
    struct facet_cap_config config;
    struct facet_port port;
    uint64_t steps;              /* of the last guest_run */
    uint64_t epc;                /* where its trap happened, relative to GUEST_CODE */
    struct guest_record *record; /* what it did so far (record.h); NULL: nobody asks */
};

/* `config`: "full", "min" or "prof". Never NULL. */
struct guest *guest_make(const char *config);
void guest_free(struct guest *g);
/* Changes one key of the configuration (config.h) and resets hart and units. */
void guest_configure(struct guest *g, const char *key, uint64_t value);
/* Hart and units as after power-on; memory stays. */
void guest_reset(struct guest *g);

/* Assembles the text at GUEST_CODE and runs it from its first instruction until it falls off its
 * end (trap.taken is false then), a trap is taken (the hart stands in the handler), or 1000000
 * steps have passed (a failed check). Registers, CSRs, memory and the privilege mode stay as they
 * are between runs. Takes printf conversions. */
struct facet_trap guest_run(struct guest *g, const char *text, ...)
    __attribute__((format(printf, 2, 3)));
/* The members alone: who compares bytes wants none of what lies between them. */
static inline void guest_copy_trap(struct facet_trap *to, struct facet_trap from)
{
    memset(to, 0, sizeof *to);
    to->taken = from.taken;
    to->cause = from.cause;
    to->tval = from.tval;
}
/* The same, checking that no trap happened. */
void guest_ok(struct guest *g, const char *text, ...) __attribute__((format(printf, 2, 3)));
/* The same, checking that it ends with this trap; returns tval. */
uint64_t guest_traps(struct guest *g, enum facet_cause cause, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/* Who listens, NULL for nobody. In CSR events the index is the CSR's number. */
void guest_observe(struct guest *g, const struct facet_observer *observer);

/* A CSR as a debugger sees it: nothing executes. */
uint64_t guest_csr(const struct guest *g, unsigned number);
/* csrw through a real instruction that must not trap; registers, epc and steps stay. */
void guest_csrw(struct guest *g, unsigned number, uint64_t value);
/* csrr likewise. */
uint64_t guest_csrr(struct guest *g, unsigned number);
/* Registers behind XISEL, likewise. */
void guest_indirect_write(struct guest *g, unsigned number, uint64_t value);
uint64_t guest_indirect_read(struct guest *g, unsigned number);

void guest_store(struct guest *g, uint64_t address, unsigned size, uint64_t value);
uint64_t guest_load(const struct guest *g, uint64_t address, unsigned size);

#endif
