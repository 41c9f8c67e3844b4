/* Area `trace`: steps of the hart that a tracer hears and writes down, in each format. The lines
 * go nowhere, so that the files of the machine do not count; what the hart needs to take the steps
 * is the same on both sides. The guest is a loop of what programs consist of: sums, a load, a
 * store, a product, a float, a branch.
 *
 * Time is CPU time of the thread. */
#include "bench/bench.h"

#include "base/error.h"
#include "bench/hart_setup.h"
#include "debug/trace.h"

#include <facet/xphmg.h>

/* It never ends; a0 walks through a page. */
static const char program[] = "loop: ld a2, 0(a0)\n"
                              " add a2, a2, a1\n"
                              " sd a2, 0(a0)\n"
                              " addi a0, a0, 8\n"
                              " mul a3, a2, a1\n"
                              " xor a4, a3, a2\n"
                              " fadd.d f1, f1, f2\n"
                              " andi a5, a0, 2047\n"
                              " bne a5, zero, loop\n"
                              " addi a0, a0, -2048\n"
                              " j loop\n";

enum { STEPS = 20000, AT_DATA = 0x1000, RAM = 0x10000 };

static uint64_t written;

static void discard(void *context, const char *text, size_t size)
{
    (void)context;
    written += size + (unsigned char)text[0];
}

static enum facet_status start(facet_machine **machine, struct facet_error *err)
{
    const struct facet_xphmg_config config = {.ram_bytes = RAM};
    enum facet_status status = facet_xphmg_create(&config, machine, err);

    if (status == FACET_OK) {
        status = hart_put_program(*machine, program, NULL, err);
    }
    if (status == FACET_OK) {
        status = hart_put_csr(*machine, "mstatus", 1 << 13, err); /* floats are on */
    }
    if (status == FACET_OK) {
        status = hart_put_reg(*machine, "pc", FACET_XPHMG_RAM_BASE, err);
    }
    if (status == FACET_OK) {
        status = hart_put_reg(*machine, "a0", FACET_XPHMG_RAM_BASE + AT_DATA, err);
    }
    if (status == FACET_OK) {
        status = hart_put_reg(*machine, "a1", UINT64_C(0x9E3779B97F4A7C15), err);
    }
    return status;
}

static enum facet_status
steps(enum facet_trace_format format, double seconds, double *value, struct facet_error *err)
{
    const struct facet_trace_options options = {
        .format = format, .core = FACET_ANY_CORE, .isa = FACET_ISA_XPHMG, .write = discard};
    const struct facet_run run = {.budget = STEPS};
    facet_machine *machine = NULL;
    facet_tracer *tracer = NULL;
    enum facet_status status = start(&machine, err);
    struct bench_meter meter;
    struct facet_stop stop;

    if (status == FACET_OK) {
        status = facet_tracer_create(machine, &options, &tracer, err);
    }
    if (status == FACET_OK) {
        facet_machine_observe(machine, facet_tracer_observer(tracer));
        meter = bench_meter_start(seconds);
        do {
            facet_machine_run(machine, &run, &stop);
        } while (bench_meter_more(&meter, STEPS));
        *value = bench_meter_rate(&meter);
        if (stop.reason != FACET_STOP_BUDGET || facet_tracer_failed(tracer)) {
            status = facet_fail(err, FACET_ERR_FAULT, stop.pc, "the traced loop stopped");
        }
    }
    facet_machine_destroy(machine);
    facet_tracer_destroy(tracer);
    return status;
}

static enum facet_status spike(double seconds, double *value, struct facet_error *err)
{
    return steps(FACET_TRACE_SPIKE, seconds, value, err);
}

static enum facet_status jsonl(double seconds, double *value, struct facet_error *err)
{
    return steps(FACET_TRACE_JSONL, seconds, value, err);
}

static enum facet_status perfetto(double seconds, double *value, struct facet_error *err)
{
    return steps(FACET_TRACE_PERFETTO, seconds, value, err);
}

static enum facet_status vcd(double seconds, double *value, struct facet_error *err)
{
    return steps(FACET_TRACE_VCD, seconds, value, err);
}

static enum facet_status konata(double seconds, double *value, struct facet_error *err)
{
    return steps(FACET_TRACE_KONATA, seconds, value, err);
}

static const struct bench_measure measures[] = {
    {"spike", "Mstep/s", spike, "trace in JSON lines", jsonl},
    {"jsonl", "Mstep/s", jsonl, NULL, NULL},
    {"perfetto", "Mstep/s", perfetto, "trace in JSON lines", jsonl},
    {"vcd", "Mstep/s", vcd, "trace in JSON lines", jsonl},
    {"konata", "Mstep/s", konata, "trace in JSON lines", jsonl},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_trace = {
    .name = "trace",
    .summary = "steps of the hart written to a trace",
    .measures = measures,
};
