/* See record.h. */
#include "xphmg/record.h"

#include <stdlib.h>

enum {
    MOST_RUNS = 120,
    MOST_LOOKS = 2000,
    CONFIG_BYTES = 512,
    LDS_BYTES = FACET_XLDSSIZE_RESET,
    GAP = 16
};

struct guest_record {
    unsigned number, runs, looks;
    bool head; /* the line `guest` has been written since the last reset */
    char config[CONFIG_BYTES];
    uint8_t ram[GUEST_RAM_BYTES], lds[LDS_BYTES]; /* as the last run left them */
    uint64_t f[32];
    uint64_t rtstat;     /* as the last run left it */
    bool rtstat_of_test; /* a test set it, which no program can */
};

static unsigned guests;

void record_make(struct guest *g, const char *config)
{
    if (harness_record() == NULL) {
        return;
    }
    g->record = calloc(1, sizeof *g->record);
    g->record->number = guests++;
    (void)snprintf(g->record->config, sizeof g->record->config, "%s", config);
}

void record_free(struct guest *g)
{
    free(g->record);
}

void record_configure(struct guest *g, const char *key, uint64_t value)
{
    struct guest_record *r = g->record;

    if (r != NULL) {
        size_t length = strlen(r->config);

        (void)snprintf(r->config + length,
                       sizeof r->config - length,
                       ",%s=%llu",
                       key,
                       (unsigned long long)value);
    }
}

/* A machine of its own from here on: the memory that it begins with is told again. */
void record_reset(struct guest *g)
{
    struct guest_record *r = g->record;

    if (r != NULL) {
        r->head = false;
        memset(r->ram, 0, sizeof r->ram);
        memset(r->lds, 0, sizeof r->lds);
        memset(r->f, 0, sizeof r->f);
        r->rtstat = 0;
        r->rtstat_of_test = false;
    }
}

/* ---- memory ---- */

/* The ranges that differ; neighbours with a small gap share a line. */
static void tell_memory(struct guest *g, uint64_t base, uint8_t *last, size_t size)
{
    uint8_t *now = malloc(size);
    size_t at = 0;

    (void)facet_mem_peek(g->mem, base, now, size);
    if (memcmp(now, last, size) == 0) {
        at = size;
    }
    while (at < size) {
        size_t begin, end;

        while (at + 64 <= size && memcmp(now + at, last + at, 64) == 0) {
            at += 64;
        }
        while (at < size && now[at] == last[at]) {
            at++;
        }
        begin = end = at;
        while (at < size && at < end + GAP) {
            end = now[at] != last[at] ? at + 1 : end;
            at++;
        }
        if (begin < size) {
            fprintf(harness_record(), "memory %llx ", (unsigned long long)(base + begin));
            for (size_t i = begin; i < end; i++) {
                fprintf(harness_record(), "%02x", now[i]);
            }
            fputc('\n', harness_record());
        }
        at = end > begin ? end : at;
    }
    memcpy(last, now, size);
    free(now);
}

static void keep_memory(struct guest *g)
{
    (void)facet_mem_peek(g->mem, GUEST_CODE, g->record->ram, GUEST_RAM_BYTES);
    (void)facet_mem_peek(g->mem, FACET_XLDSBASE_RESET, g->record->lds, LDS_BYTES);
}

/* ---- runs ---- */

static void lose(struct guest_record *r)
{
    r->runs = MOST_RUNS + 1;
    fprintf(harness_record(), "lost\n");
}

/* Whether lines may be written about the guest, which are about no other then. */
static bool records(const struct guest *g)
{
    static unsigned last = UINT32_MAX;
    const struct guest_record *r = g->record;

    if (r == NULL || !r->head || r->runs > MOST_RUNS) {
        return false;
    }
    if (last != r->number) {
        fprintf(harness_record(), "use %u\n", r->number);
    }
    last = r->number;
    return true;
}

/* The test looks at something. */
static bool looks(const struct guest *g)
{
    if (!records(g)) {
        return false;
    }
    if (++g->record->looks > MOST_LOOKS) {
        lose(g->record);
        return false;
    }
    return true;
}

/* State that tests set directly; conformance/recorded.py names its members in this order. */
static void tell_state(const struct guest *g)
{
    const struct facet_units *u = &g->hart->units;
    const uint64_t state[] = {u->rsv.svstate,
                              u->rsv.svsrca,
                              u->rsv.svsrcb,
                              u->rsv.svdst,
                              u->rsv.svfaulti,
                              u->pmask.p0,
                              u->pmask.bank[1],
                              u->pmask.bank[2],
                              u->pmask.bank[3],
                              g->hart->priv,
                              g->hart->fs,
                              g->hart->frm,
                              g->hart->fflags,
                              u->cap.prec.exc_st};

    for (size_t i = 0; i < sizeof state / sizeof state[0]; i++) {
        fprintf(harness_record(), " %llx", (unsigned long long)state[i]);
    }
}

static void tell_registers(struct guest *g)
{
    FILE *out = harness_record();

    tell_state(g);

    for (unsigned i = 1; i < 32; i++) {
        fprintf(out, " %llx", (unsigned long long)g->hart->x[i]);
    }
    if (memcmp(g->record->f, g->hart->f, sizeof g->record->f) != 0) {
        fputs(" float", out);
        for (unsigned i = 0; i < 32; i++) {
            fprintf(out, " %llx", (unsigned long long)g->hart->f[i]);
        }
        memcpy(g->record->f, g->hart->f, sizeof g->record->f);
    }
    fputc('\n', out);
}

void record_run(struct guest *g, size_t size)
{
    struct guest_record *r = g->record;

    if (r == NULL || r->runs > MOST_RUNS) {
        return;
    }
    if (!r->head) {
        r->head = true;
        (void)harness_record_anew();
        fprintf(harness_record(), "guest %u %s\n", r->number, r->config);
    }
    (void)records(g);
    if (r->runs++ == MOST_RUNS || g->port.observer != NULL) {
        lose(r);
        return;
    }
    r->rtstat_of_test |= g->hart->units.rt.stat != r->rtstat;
    tell_memory(g, GUEST_CODE, r->ram, GUEST_RAM_BYTES);
    tell_memory(g, FACET_XLDSBASE_RESET, r->lds, LDS_BYTES);
    fprintf(harness_record(), "run %zx", size);
    tell_registers(g);
}

void record_ran(struct guest *g, struct facet_trap trap)
{
    if (!records(g)) {
        return;
    }
    keep_memory(g);
    g->record->rtstat = g->hart->units.rt.stat;
    fprintf(harness_record(),
            "ran %s %x %llx %llx",
            trap.taken ? "trap" : "ok",
            (unsigned)trap.cause,
            (unsigned long long)trap.tval,
            (unsigned long long)g->hart->mepc);
    tell_registers(g);
}

void record_csr(const struct guest *g, unsigned number, uint64_t value)
{
    bool of_test = number == FACET_CSR_RTSTAT && g->record != NULL && g->record->rtstat_of_test;

    if (!of_test && looks(g)) {
        fprintf(harness_record(), "csr %x %llx\n", number, (unsigned long long)value);
    }
}

/* Whether the test itself has put something else there since the last run: no program could show
 * that. */
static bool is_of_test(const struct guest *g, uint64_t address, unsigned size, uint64_t value)
{
    const struct guest_record *r = g->record;
    const uint8_t *last = NULL;

    if (r != NULL && address - GUEST_CODE <= GUEST_RAM_BYTES - size) {
        last = r->ram + (address - GUEST_CODE);
    } else if (r != NULL && address - FACET_XLDSBASE_RESET <= LDS_BYTES - size) {
        last = r->lds + (address - FACET_XLDSBASE_RESET);
    }
    return last != NULL && facet_load_le(last, size) != value;
}

void record_load(const struct guest *g, uint64_t address, unsigned size, uint64_t value)
{
    if (!is_of_test(g, address, size, value) && looks(g)) {
        fprintf(harness_record(),
                "load %llx %u %llx\n",
                (unsigned long long)address,
                size,
                (unsigned long long)value);
    }
}
