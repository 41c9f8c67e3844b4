/* See guest.h. */
#include "xphmg/guest.h"
#include "xphmg/record.h"

#include "assembler/assemble.h"
#include "object/object.h"
#include "xphmg/mtx/mtx.h"
#include "xphmg/rt/batch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_STEPS = 1000000, MAX_TEXT = 1 << 16 };

struct guest *guest_make(const char *config)
{
    struct guest *g = calloc(1, sizeof *g);
    struct facet_error err = {0};

    g->config = *facet_cap_config_named(config);
    g->xmem = calloc(1, sizeof *g->xmem);
    g->hart = calloc(1, sizeof *g->hart);
    CHECK_EQ(facet_mem_create(&g->mem, &err), FACET_OK);
    CHECK_EQ(facet_mem_add_ram(g->mem, "dram", FACET_MEM_RAM, GUEST_CODE, GUEST_RAM_BYTES, &err),
             FACET_OK);
    CHECK_EQ(facet_mem_add_ram(
                 g->mem, "lds", FACET_MEM_RAM, FACET_XLDSBASE_RESET, FACET_XLDSSIZE_RESET, &err),
             FACET_OK);
    g->hart->mem = g->mem;
    g->hart->ram = facet_mem_window(g->mem, GUEST_CODE);
    g->hart->xmem = g->xmem;
    g->hart->units.config = &g->config;
    g->hart->mtx_results = malloc(sizeof *g->hart->mtx_results);
    g->hart->rt_kept = facet_xphmg_rt_kept_create();
    record_make(g, config);
    guest_reset(g);
    return g;
}

void guest_free(struct guest *g)
{
    record_free(g);
    facet_mem_destroy(g->mem);
    facet_xphmg_rt_kept_destroy(g->hart->rt_kept);
    free(g->hart->mtx_results);
    free(g->hart);
    free(g->xmem);
    free(g);
}

void guest_observe(struct guest *g, const struct facet_observer *observer)
{
    static uint16_t numbers[0x8000];

    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        numbers[i] = (uint16_t)i;
    }
    g->port.observer = observer;
    g->hart->port = &g->port;
    g->hart->csr_index = numbers;
}

void guest_reset(struct guest *g)
{
    facet_xmem_reset(g->xmem);
    facet_hart_reset(g->hart, GUEST_CODE);
    g->hart->fs = FACET_FS_INITIAL;
    record_reset(g);
}

void guest_configure(struct guest *g, const char *key, uint64_t value)
{
    struct facet_error err = {0};

    CHECK_MSG(facet_cap_config_set(&g->config, key, value, &err) == FACET_OK, "%s", err.message);
    record_configure(g, key, value);
    guest_reset(g);
}

/* Puts the program into memory; returns its size, 0 when it does not assemble. */
static size_t load(struct guest *g, const char *text)
{
    struct facet_asm_options options = {.isa = FACET_ISA_XPHMG, .file = "guest.s"};
    struct facet_asm_result result;
    struct facet_error err = {0};
    uint64_t base = 0;
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (CHECK_MSG(facet_assemble(&options, text, strlen(text), &result, &err) == FACET_OK,
                  "line %llu: %s: %s",
                  (unsigned long long)err.where,
                  err.message,
                  text) &&
        facet_object_flatten(result.object, &bytes, &size, &base, &err) == FACET_OK) {
        CHECK_EQ(base, GUEST_CODE);
        CHECK_EQ(facet_mem_poke(g->mem, base, bytes, size).fault, FACET_MEM_OK);
        free(bytes);
    }
    facet_asm_result_free(&result);
    return size;
}

static char text_run[MAX_TEXT]; /* with its conversions done, for messages */

static struct facet_trap run(struct guest *g, const char *format, va_list args)
{
    size_t size;

    CHECK((size_t)vsnprintf(text_run, sizeof text_run, format, args) < sizeof text_run);
    size = load(g, text_run);
    g->hart->pc = GUEST_CODE;
    g->epc = 0;
    record_run(g, size);
    for (g->steps = 0; g->steps < MAX_STEPS; g->steps++) {
        struct facet_trap trap;

        if (g->hart->pc == GUEST_CODE + size) {
            record_ran(g, FACET_RETIRED);
            return FACET_RETIRED;
        }
        trap = facet_hart_step(g->hart);
        if (trap.taken) {
            g->epc = g->hart->mepc - GUEST_CODE;
            record_ran(g, trap);
            return trap;
        }
    }
    CHECK_MSG(false, "still running after %d steps: %s", MAX_STEPS, text_run);
    return FACET_RETIRED;
}

struct facet_trap guest_run(struct guest *g, const char *text, ...)
{
    struct facet_trap trap;
    va_list args;

    va_start(args, text);
    trap = run(g, text, args);
    va_end(args);
    return trap;
}

void guest_ok(struct guest *g, const char *text, ...)
{
    struct facet_trap trap;
    va_list args;

    va_start(args, text);
    trap = run(g, text, args);
    va_end(args);
    CHECK_MSG(!trap.taken,
              "trap %u, tval 0x%llx, at +0x%llx: %s",
              trap.cause,
              (unsigned long long)trap.tval,
              (unsigned long long)g->epc,
              text_run);
}

uint64_t guest_traps(struct guest *g, enum facet_cause cause, const char *text, ...)
{
    struct facet_trap trap;
    va_list args;

    va_start(args, text);
    trap = run(g, text, args);
    va_end(args);
    CHECK_MSG(trap.taken && trap.cause == cause,
              "%s %u, expected trap %d: %s",
              trap.taken ? "trap" : "no trap",
              trap.cause,
              (int)cause,
              text_run);
    return trap.tval;
}

uint64_t guest_csr(const struct guest *g, unsigned number)
{
    uint64_t value = facet_hart_csr_peek(g->hart, number);

    record_csr(g, number, value);
    return value;
}

/* One csr* instruction on t0 alone (an li would be repeated while SVSTATE.EN is set); nothing of it
 * stays in the guest but its effect. */
static uint64_t csr_through_t0(struct guest *g, const char *text, unsigned number, uint64_t t0)
{
    uint64_t kept = g->hart->x[5], epc = g->epc, steps = g->steps, result;

    g->hart->x[5] = t0;
    guest_ok(g, text, number);
    result = g->hart->x[5];
    g->hart->x[5] = kept;
    g->epc = epc;
    g->steps = steps;
    return result;
}

void guest_csrw(struct guest *g, unsigned number, uint64_t value)
{
    (void)csr_through_t0(g, "csrw 0x%x, t0\n", number, value);
}

uint64_t guest_csrr(struct guest *g, unsigned number)
{
    return csr_through_t0(g, "csrr t0, 0x%x\n", number, 0);
}

void guest_indirect_write(struct guest *g, unsigned number, uint64_t value)
{
    guest_csrw(g, FACET_CSR_XISEL, number);
    guest_csrw(g, FACET_CSR_XIREG, value);
}

uint64_t guest_indirect_read(struct guest *g, unsigned number)
{
    guest_csrw(g, FACET_CSR_XISEL, number);
    return guest_csrr(g, FACET_CSR_XIREG);
}

void guest_store(struct guest *g, uint64_t address, unsigned size, uint64_t value)
{
    uint8_t bytes[8];

    facet_store_le(bytes, size, value);
    CHECK_EQ(facet_mem_poke(g->mem, address, bytes, size).fault, FACET_MEM_OK);
}

uint64_t guest_load(const struct guest *g, uint64_t address, unsigned size)
{
    uint8_t bytes[8] = {0};

    CHECK_EQ(facet_mem_peek(g->mem, address, bytes, size).fault, FACET_MEM_OK);
    record_load(g, address, size, facet_load_le(bytes, size));
    return facet_load_le(bytes, size);
}
