/* What the XMEM suites share: the address map of the test hart, events, LDS calls and a log of
 * memory accesses and unit events. */
#ifndef FACET_TESTS_XPHMG_XMEM_TEST_H
#define FACET_TESTS_XPHMG_XMEM_TEST_H

#include "xphmg/guest.h"

#define LL(v) ((unsigned long long)(v))

enum {
    LDS = 0x40000000,
    LDS_BYTES = 0x10000,
    T0_BYTES = 0x4000,
    NOWHERE = 0x20000000, /* no memory here */
    EV_INV_MISS = 1,
    EV_LOCK_OVF = 2,
    EV_LDS_OOM = 4,
    EV_DMA_ERR = 8,
    EV_COMP_ERR = 16,
    EV_BUDGET_OVF = 32,
    EV_SEC_VIOL = 64,
    EV_HYB_FALLBK = 128,
};
#define SV_EN (UINT64_C(1) << 8)

/* EVENTS, read and cleared. */
static inline uint64_t events(struct guest *g)
{
    uint64_t value = guest_csr(g, FACET_CSR_CAP_XMEM_EVENTS);

    guest_csrw(g, FACET_CSR_CAP_XMEM_EVENTS, UINT64_MAX);
    return value;
}

/* Runs one XMEM instruction with registers set from outside: a0, a1, a2. */
static inline struct facet_trap
with3(struct guest *g, const char *text, uint64_t a0, uint64_t a1, uint64_t a2)
{
    g->hart->x[10] = a0;
    g->hart->x[11] = a1;
    g->hart->x[12] = a2;
    return guest_run(g, "%s\n", text);
}

static inline uint64_t alloc(struct guest *g, uint64_t size, unsigned flags, unsigned sec)
{
    g->hart->x[11] = size;
    guest_ok(g, "xlds.alloc a0, a1, %u, %u\n", flags, sec);
    return g->hart->x[10];
}

static inline void release(struct guest *g, uint64_t address)
{
    g->hart->x[10] = address;
    guest_ok(g, "xlds.free a0\n");
}

static inline uint64_t used(struct guest *g, unsigned mclass)
{
    return guest_indirect_read(g, FACET_CSR_XLDSUSED0 + mclass);
}

/* PET, EW, ... through an APPLY of CAP.PREC.MODE and ALT. */
static inline void set_mode(struct guest *g, uint64_t mode)
{
    guest_csrw(g, FACET_CSR_CAP_PREC_MODE, mode | UINT64_C(1) << 63);
}
static inline void set_alt(struct guest *g, uint64_t alt)
{
    guest_csrw(g, FACET_CSR_CAP_PREC_ALT, alt | UINT64_C(1) << 63);
}

/* ZMODE is MODE[3]; PET 23:21, EW 20:19. */
#define MODE_ZMODE (UINT64_C(1) << 3)
#define MODE_PET(p) ((uint64_t)(p) << 21)
#define MODE_EW(e) ((uint64_t)(e) << 19)

static inline void set_bank(struct guest *g, unsigned bank, uint64_t value)
{
    guest_ok(g,
             "li t0, 0x%llx\n pmlow.wr %u, t0\n srli t0, t0, 32\n pmhigh.wr %u, t0\n",
             LL(value),
             bank,
             bank);
}

/* SVSTATE with VL and a one-shot prefix, or RSV off with vl = 0; extra bits (PBANK) as given. */
static inline void set_rsv(struct guest *g, unsigned vl, uint64_t extra)
{
    g->hart->units.rsv.svstate =
        vl == 0 ? 0 : (uint64_t)(vl - 1) | SV_EN | UINT64_C(1) << 9 | extra;
}

/* A log of what a hart does to memory. */
struct access {
    uint64_t address, value;
    unsigned size;
    bool write;
};

struct log {
    struct access access[4096];
    unsigned accesses;
    struct facet_unit_event event[64];
    unsigned events;
    struct facet_observer observer;
};

static void log_memory(void *context, const struct facet_memory_event *event)
{
    struct log *log = context;

    if (log->accesses < 4096) {
        log->access[log->accesses] =
            (struct access){event->address, event->value.lo, event->size, event->write};
    }
    log->accesses++;
}

static void log_unit(void *context, const struct facet_unit_event *event)
{
    struct log *log = context;

    if (log->events < 64) {
        log->event[log->events] = *event;
    }
    log->events++;
}

static inline void log_start(struct log *log, struct guest *g)
{
    memset(log, 0, sizeof *log);
    log->observer = (struct facet_observer){.context = log, .memory = log_memory, .unit = log_unit};
    guest_observe(g, &log->observer);
}

/* The first unit event called `what`, or NULL. */
static inline const struct facet_unit_event *log_find(const struct log *log, const char *what)
{
    for (unsigned i = 0; i < log->events && i < 64; i++) {
        if (strcmp(log->event[i].what, what) == 0) {
            return &log->event[i];
        }
    }
    return NULL;
}

#endif
