/* Area `lockstep`: steps that a session compares with what a design wrote. The design costs
 * nothing: its steps were recorded before, and are told again round after round. The peer is the
 * same machine taking the same steps with nobody to compare: facet_machine_step_changes.
 *
 * Time is CPU time of the thread. */
#include "bench/bench.h"

#include "base/error.h"
#include "bench/hart_setup.h"

#include <facet/cosim.h>
#include <facet/xphmg.h>
#include <stdlib.h>

/* A page of sums, again and again: after a round all registers and bytes are as before it. */
static const char program[] = "round: li a2, 0\n"
                              " li a6, 64\n"
                              " addi a0, a7, 0\n"
                              "loop: ld a2, 0(a0)\n"
                              " xor a2, a2, a1\n"
                              " xor a2, a2, a1\n"
                              " sd a2, 0(a0)\n"
                              " addi a0, a0, 8\n"
                              " mul a3, a2, a1\n"
                              " andi a5, a0, 2047\n"
                              " addi a6, a6, -1\n"
                              " bne a6, zero, loop\n"
                              " j round\n";

enum { ROUND = 3 + 64 * 9 + 1, AT_DATA = 0x1000, RAM = 0x10000, CHANGES = 4 };

struct recorded {
    struct facet_change changes[ROUND][CHANGES];
    size_t count[ROUND];
};

static enum facet_status start(facet_machine **machine, struct facet_error *err)
{
    const struct facet_xphmg_config config = {.ram_bytes = RAM};
    enum facet_status status = facet_xphmg_create(&config, machine, err);

    if (status == FACET_OK) {
        status = hart_put_program(*machine, program, NULL, err);
    }
    if (status == FACET_OK) {
        status = hart_put_reg(*machine, "pc", FACET_XPHMG_RAM_BASE, err);
    }
    if (status == FACET_OK) {
        status = hart_put_reg(*machine, "a7", FACET_XPHMG_RAM_BASE + AT_DATA, err);
    }
    if (status == FACET_OK) {
        status = hart_put_reg(*machine, "a1", UINT64_C(0x9E3779B97F4A7C15), err);
    }
    return status;
}

static enum facet_status record(struct recorded *r, struct facet_error *err)
{
    facet_machine *machine = NULL;
    enum facet_status status = start(&machine, err);
    struct facet_stop stop;

    for (int i = 0; i < ROUND && status == FACET_OK; i++) {
        status =
            facet_machine_step_changes(machine, r->changes[i], CHANGES, &r->count[i], &stop, err);
    }
    facet_machine_destroy(machine);
    return status;
}

static enum facet_status
compared(bool filtered, double seconds, double *value, struct facet_error *err)
{
    struct recorded *r = malloc(sizeof *r);
    facet_machine *machine = NULL;
    facet_cosim *cosim = NULL;
    enum facet_status status = r != NULL ? record(r, err) : FACET_ERR_MEMORY;
    enum facet_cosim_result result = FACET_COSIM_SAME;
    struct bench_meter meter;

    if (status == FACET_OK) {
        status = start(&machine, err);
    }
    if (status == FACET_OK) {
        status = facet_cosim_create(machine, NULL, &cosim, err);
    }
    if (status == FACET_OK && filtered) {
        status = facet_lockstep_filter_ignore(facet_cosim_filter(cosim), "csr", err);
        for (int i = 0; i < ROUND; i++) { /* so that the lists differ where nobody looks */
            r->changes[i][0].new_value.lo = 0;
        }
        if (status == FACET_OK) {
            status = facet_lockstep_filter_ignore(facet_cosim_filter(cosim), "word", err);
        }
    }
    if (status == FACET_OK) {
        meter = bench_meter_start(seconds);
        do {
            for (int i = 0; i < ROUND && status == FACET_OK; i++) {
                status = facet_cosim_step(cosim, r->changes[i], r->count[i], &result, err);
            }
        } while (bench_meter_more(&meter, ROUND) && status == FACET_OK);
        *value = bench_meter_rate(&meter);
        if (status == FACET_OK && result != FACET_COSIM_SAME) {
            status = facet_fail(err, FACET_ERR_FAULT, 0, "%s", facet_cosim_report(cosim));
        }
    } else if (cosim == NULL) {
        facet_machine_destroy(machine);
    }
    facet_cosim_destroy(cosim);
    free(r);
    return status;
}

static enum facet_status session(double seconds, double *value, struct facet_error *err)
{
    return compared(false, seconds, value, err);
}

static enum facet_status filtered(double seconds, double *value, struct facet_error *err)
{
    return compared(true, seconds, value, err);
}

static enum facet_status changes(double seconds, double *value, struct facet_error *err)
{
    facet_machine *machine = NULL;
    enum facet_status status = start(&machine, err);
    struct facet_change list[CHANGES];
    struct bench_meter meter;
    struct facet_stop stop;
    size_t count;

    if (status == FACET_OK) {
        meter = bench_meter_start(seconds);
        do {
            for (int i = 0; i < ROUND && status == FACET_OK; i++) {
                status = facet_machine_step_changes(machine, list, CHANGES, &count, &stop, err);
            }
        } while (bench_meter_more(&meter, ROUND) && status == FACET_OK);
        *value = bench_meter_rate(&meter);
    }
    facet_machine_destroy(machine);
    return status;
}

static const struct bench_measure measures[] = {
    {"session", "Mstep/s", session, "steps with changes, not compared", changes},
    {"filtered", "Mstep/s", filtered, "steps with changes, not compared", changes},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct bench_area bench_area_lockstep = {
    .name = "lockstep",
    .summary = "steps compared with what a design wrote",
    .measures = measures,
};
