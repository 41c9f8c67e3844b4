/* A session's life and what the design tells: see facet/cosim.h. */
#include "base/array.h"
#include "base/error.h"
#include "base/sized.h"
#include "cosim/internal.h"

#include <facet/tile.h>
#include <facet/xphmg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------------
 */

/* All but the machine, which belongs to the caller until the session is complete. */
static void release(facet_cosim *cosim)
{
    for (uint32_t i = 0; cosim->cores != NULL && i < cosim->core_count; i++) {
        free(cosim->cores[i].written.items);
        free(cosim->cores[i].unit.items);
        free(cosim->cores[i].regs);
        free(cosim->cores[i].csrs);
    }
    free(cosim->cores);
    free(cosim->past);
    free(cosim->memory);
    free(cosim->reference.items);
    free(cosim->design.items);
    facet_lockstep_filter_destroy(cosim->filter);
    facet_lockstep_bytes_destroy(cosim->unit_bytes);
    facet_symbols_free(&cosim->symbols);
    facet_blob_free(&cosim->old_snapshot);
    facet_blob_free(&cosim->new_snapshot);
    facet_strbuf_free(&cosim->report);
    free(cosim);
}

void facet_cosim_destroy(facet_cosim *cosim)
{
    if (cosim != NULL) {
        facet_machine_destroy(cosim->machine);
        release(cosim);
    }
}

static bool allocate(facet_cosim *cosim)
{
    cosim->past = calloc(cosim->window, sizeof *cosim->past);
    cosim->memory = calloc((size_t)1 << FACET_COSIM_WRITER_BITS, sizeof *cosim->memory);
    cosim->cores = calloc((size_t)cosim->core_count + 1, sizeof *cosim->cores);
    for (uint32_t i = 0; cosim->cores != NULL && i < cosim->core_count; i++) {
        const struct facet_core_desc *desc = facet_machine_core(cosim->machine, i);
        struct facet_cosim_core *core = &cosim->cores[i];

        core->regs = calloc((size_t)desc->reg_count + 1, sizeof *core->regs);
        core->csrs = calloc((size_t)desc->csr_count + 1, sizeof *core->csrs);
        if (core->regs == NULL || core->csrs == NULL) {
            return false;
        }
    }
    return cosim->past != NULL && cosim->memory != NULL && cosim->cores != NULL;
}

static enum facet_status take_snapshot(facet_cosim *cosim, struct facet_error *err)
{
    struct facet_blob fresh = {0};
    enum facet_status status = facet_machine_snapshot(cosim->machine, &fresh, err);

    if (status == FACET_OK) {
        facet_blob_free(&cosim->old_snapshot);
        cosim->old_snapshot = cosim->new_snapshot;
        cosim->old_step = cosim->new_step;
        cosim->new_snapshot = fresh;
        cosim->new_step = facet_machine_steps(cosim->machine);
        cosim->next_snapshot = cosim->steps + cosim->snapshot_every;
    }
    return status;
}

enum facet_status facet_cosim_create_sized(facet_machine *machine,
                                           const struct facet_cosim_config *config,
                                           size_t config_size,
                                           facet_cosim **out,
                                           struct facet_error *err)
{
    struct facet_cosim_config own;
    enum facet_status status =
        facet_sized_in(&own, sizeof own, config, config_size, "facet_cosim_config", err);
    facet_cosim *cosim;

    *out = NULL;
    if (status != FACET_OK) {
        return status;
    }
    if (own.window > FACET_COSIM_WINDOW_MAX) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          own.window,
                          "a window of %u steps, expected 1..%d",
                          own.window,
                          FACET_COSIM_WINDOW_MAX);
    }
    cosim = calloc(1, sizeof *cosim);
    if (cosim == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a session");
    }
    cosim->machine = machine;
    cosim->core_count = facet_machine_core_count(machine);
    cosim->window = own.window != 0 ? own.window : FACET_COSIM_WINDOW;
    cosim->snapshot_every =
        own.snapshot_every != 0 ? own.snapshot_every : FACET_COSIM_SNAPSHOT_EVERY;
    cosim->snapshot_at = UINT64_MAX;
    cosim->harts = strcmp(facet_machine_kind_name(machine), "xphmg") == 0;
    cosim->tiles = strcmp(facet_machine_kind_name(machine), "tile") == 0;
    cosim->told = cosim->harts && !own.own_interrupts;
    if (!allocate(cosim)) {
        status = facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a session");
    }
    if (status != FACET_OK ||
        (status = facet_lockstep_filter_create(machine, &cosim->filter, err)) != FACET_OK ||
        (status = facet_lockstep_bytes_create(&cosim->unit_bytes, err)) != FACET_OK ||
        (cosim->told && (status = facet_xphmg_wait_for_told(machine, true, err)) != FACET_OK) ||
        (cosim->snapshot_every != FACET_COSIM_NO_SNAPSHOTS &&
         (status = take_snapshot(cosim, err)) != FACET_OK)) {
        release(cosim);
        return status;
    }
    *out = cosim;
    return FACET_OK;
}

facet_machine *facet_cosim_machine(facet_cosim *cosim)
{
    return cosim->machine;
}

facet_lockstep_filter *facet_cosim_filter(facet_cosim *cosim)
{
    cosim->filtered = true;
    return cosim->filter;
}

enum facet_status
facet_cosim_symbols(facet_cosim *cosim, const void *elf, size_t size, struct facet_error *err)
{
    return facet_symbols_read(&cosim->symbols, elf, size, err);
}

/* ---- what the design wrote --------------------------------------------------------------------
 */

static enum facet_status
check_core(const facet_cosim *cosim, uint32_t core, struct facet_error *err)
{
    return core < cosim->core_count ? FACET_OK
                                    : facet_fail(err,
                                                 FACET_ERR_USAGE,
                                                 core,
                                                 "there is no core %u, expected 0..%u",
                                                 core,
                                                 cosim->core_count - 1);
}

static enum facet_status
add(struct facet_change_list *list, const struct facet_change *change, struct facet_error *err)
{
    if (!facet_array_fit(&list->items, &list->capacity, list->count + 1, sizeof *list->items)) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for what the design wrote");
    }
    list->items[list->count++] = *change;
    return FACET_OK;
}

/* The register or CSR that a name means. */
static enum facet_status named(const facet_cosim *cosim,
                               uint32_t core,
                               const char *name,
                               uint64_t value,
                               struct facet_change *out,
                               struct facet_error *err)
{
    uint32_t reg, csr;

    if (check_core(cosim, core, err) != FACET_OK) {
        return FACET_ERR_USAGE;
    }
    reg = facet_machine_find_reg(cosim->machine, core, name);
    csr = facet_machine_find_csr(cosim->machine, core, name);
    if (reg == FACET_NONE && csr == FACET_NONE) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          core,
                          "%s has no register and no CSR '%.80s'",
                          facet_machine_core(cosim->machine, core)->name,
                          name);
    }
    *out = (struct facet_change){.kind = reg != FACET_NONE ? FACET_CHANGE_REG : FACET_CHANGE_CSR,
                                 .core = core,
                                 .index = reg != FACET_NONE ? reg : csr,
                                 .new_value = {value, 0}};
    return FACET_OK;
}

enum facet_status facet_cosim_wrote(
    facet_cosim *cosim, uint32_t core, const char *name, uint64_t value, struct facet_error *err)
{
    struct facet_change change;
    enum facet_status status = named(cosim, core, name, value, &change, err);

    return status == FACET_OK ? add(&cosim->cores[core].written, &change, err) : status;
}

/* Indexes that exist, and sizes that a change can have. */
static enum facet_status
check_change(const facet_cosim *cosim, const struct facet_change *change, struct facet_error *err)
{
    const struct facet_core_desc *desc;
    bool good = true;

    if (check_core(cosim, change->core, err) != FACET_OK) {
        return FACET_ERR_USAGE;
    }
    desc = facet_machine_core(cosim->machine, change->core);
    switch (change->kind) {
    case FACET_CHANGE_RETIRE:
    case FACET_CHANGE_TRAP:
        break;
    case FACET_CHANGE_REG:
        good = change->index < desc->reg_count;
        break;
    case FACET_CHANGE_CSR:
        good = change->index < desc->csr_count;
        break;
    case FACET_CHANGE_MEMORY:
        good = change->index < facet_machine_space_count(cosim->machine) && change->size >= 1 &&
               change->size <= 16;
        break;
    default:
        good = false;
    }
    return good ? FACET_OK
                : facet_fail(err,
                             FACET_ERR_USAGE,
                             change->index,
                             "a change of kind %u with index %u and %u bytes: there is no such "
                             "thing on %s",
                             (unsigned)change->kind,
                             change->index,
                             change->size,
                             desc->name);
}

enum facet_status facet_cosim_wrote_change(facet_cosim *cosim,
                                           const struct facet_change *change,
                                           struct facet_error *err)
{
    enum facet_status status = check_change(cosim, change, err);

    return status == FACET_OK ? add(&cosim->cores[change->core].written, change, err) : status;
}

enum facet_status facet_cosim_wrote_memory(facet_cosim *cosim,
                                           uint32_t core,
                                           uint64_t address,
                                           const void *data,
                                           size_t size,
                                           struct facet_error *err)
{
    const uint8_t *bytes = data;
    enum facet_status status = check_core(cosim, core, err);

    while (size != 0 && status == FACET_OK) {
        uint8_t padded[8] = {0};
        size_t piece = size < 8 ? size : 8;
        struct facet_change change = {
            .kind = FACET_CHANGE_MEMORY, .core = core, .size = (uint32_t)piece, .address = address};

        memcpy(padded, bytes, piece);
        change.new_value.lo = facet_load_le64(padded);
        status = add(&cosim->cores[core].written, &change, err);
        bytes += piece;
        address += piece;
        size -= piece;
    }
    return status;
}

enum facet_status facet_cosim_unit_wrote(
    facet_cosim *cosim, uint32_t core, const char *name, uint64_t value, struct facet_error *err)
{
    struct facet_change change;
    enum facet_status status = named(cosim, core, name, value, &change, err);
    struct facet_change_list *list;

    if (status != FACET_OK) {
        return status;
    }
    list = &cosim->cores[core].unit;
    for (size_t i = 0; i < list->count; i++) {
        if (facet_machine_change_order(&list->items[i], &change) == 0) {
            list->items[i] = change; /* the last value counts */
            return FACET_OK;
        }
    }
    return add(list, &change, err);
}

enum facet_status facet_cosim_unit_wrote_memory(facet_cosim *cosim,
                                                uint32_t core,
                                                uint64_t address,
                                                const void *data,
                                                size_t size,
                                                struct facet_error *err)
{
    enum facet_status status = check_core(cosim, core, err);

    return status == FACET_OK
               ? facet_lockstep_bytes_add(cosim->unit_bytes, 0, address, data, size, err)
               : status;
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* The interrupt that the design has taken, and the core whose turn it is. An answer that the
 * reference may not do this is a difference. */
static enum facet_status
tell(facet_cosim *cosim, uint32_t core, const struct facet_change *what, struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    struct facet_error why = {0};

    if ((!cosim->harts && !cosim->tiles) || what == NULL) {
        return FACET_OK;
    }
    if (cosim->told && what->kind == FACET_CHANGE_TRAP &&
        (what->new_value.lo & FACET_XPHMG_INTERRUPT) != 0) {
        status = facet_xphmg_take(
            cosim->machine, core, what->new_value.lo, what->new_value.hi, false, &why);
    }
    if (cosim->tiles) {
        status = facet_tile_set_turn(cosim->machine, core, &why);
    } else if (status == FACET_OK && facet_machine_next_core(cosim->machine) != FACET_NONE &&
               facet_machine_next_core(cosim->machine) != core) {
        status = facet_xphmg_set_turn(cosim->machine, core, &why);
    }
    if (status == FACET_ERR_USAGE) {
        facet_cosim_differs(
            cosim, core, NULL, what, "the reference cannot do this: %s", why.message);
    } else if (status != FACET_OK && err != NULL) {
        *err = why;
    }
    return status == FACET_ERR_USAGE ? FACET_OK : status;
}

static enum facet_status step_reference(facet_cosim *cosim, struct facet_error *err)
{
    enum facet_status status;

    do { /* an interrupted step goes on */
        status = facet_machine_collect(cosim->machine, &cosim->stop, err);
    } while (status == FACET_OK && cosim->machine->changes.open);
    return status;
}

/* The one state that was asked for, instead of those now and then: it stays. */
static enum facet_status take_asked(facet_cosim *cosim, struct facet_error *err)
{
    enum facet_status status = take_snapshot(cosim, err);

    if (status == FACET_OK) {
        facet_blob_free(&cosim->old_snapshot);
        cosim->snapshot_every = FACET_COSIM_NO_SNAPSHOTS;
    }
    return status;
}

/* What the design did is in the core's list; `what` is its RETIRE or TRAP. */
static enum facet_status do_step(facet_cosim *cosim,
                                 uint32_t core,
                                 const struct facet_change *what,
                                 enum facet_cosim_result *result,
                                 struct facet_error *err)
{
    struct facet_change_list *design = &cosim->cores[core].written;
    enum facet_status status = FACET_OK;

    if (!cosim->different) {
        cosim->stop.steps = 0; /* nothing is done yet */
        status = tell(cosim, core, what, err);
    }
    if (status == FACET_OK && !cosim->different &&
        facet_machine_steps(cosim->machine) == cosim->snapshot_at) {
        status = take_asked(cosim, err);
    }
    if (status == FACET_OK && !cosim->different) {
        status = step_reference(cosim, err);
        if (status == FACET_OK && cosim->stop.steps == 0) {
            facet_cosim_differs(cosim,
                                core,
                                NULL,
                                what,
                                "the reference does no step: %s, code 0x%" PRIx64,
                                facet_stop_name(cosim->stop.reason),
                                cosim->stop.code);
        } else if (status == FACET_OK) {
            status = facet_cosim_check(cosim, core, design, err);
        }
        if (status == FACET_OK && !cosim->different) {
            facet_cosim_check_units(cosim, core);
        }
        if (status == FACET_OK && cosim->different) {
            facet_cosim_explain(cosim);
        } else if (status == FACET_OK) {
            facet_cosim_remember(cosim, core);
            cosim->steps++;
        }
        if (status == FACET_OK && cosim->steps >= cosim->next_snapshot && !cosim->different &&
            cosim->snapshot_every != FACET_COSIM_NO_SNAPSHOTS) {
            status = take_snapshot(cosim, err);
        }
    } else if (status == FACET_OK && cosim->report.length == 0) {
        facet_cosim_explain(cosim);
    }
    design->count = 0;
    *result = cosim->different ? FACET_COSIM_DIFFERENT
              : cosim->stop.reason == FACET_STOP_EXIT || cosim->stop.reason == FACET_STOP_FAULT
                  ? FACET_COSIM_ENDED
                  : FACET_COSIM_SAME;
    return status;
}

enum facet_status facet_cosim_retired(facet_cosim *cosim,
                                      uint32_t core,
                                      uint64_t pc,
                                      uint32_t word,
                                      enum facet_cosim_result *result,
                                      struct facet_error *err)
{
    struct facet_change change = {
        .kind = FACET_CHANGE_RETIRE, .core = core, .address = pc, .new_value = {word, 0}};
    enum facet_status status = facet_cosim_wrote_change(cosim, &change, err);

    return status == FACET_OK ? do_step(cosim, core, &change, result, err) : status;
}

enum facet_status facet_cosim_trapped(facet_cosim *cosim,
                                      uint32_t core,
                                      uint64_t pc,
                                      uint64_t cause,
                                      uint64_t value,
                                      enum facet_cosim_result *result,
                                      struct facet_error *err)
{
    struct facet_change change = {
        .kind = FACET_CHANGE_TRAP, .core = core, .address = pc, .new_value = {cause, value}};
    enum facet_status status = facet_cosim_wrote_change(cosim, &change, err);

    return status == FACET_OK ? do_step(cosim, core, &change, result, err) : status;
}

enum facet_status facet_cosim_step(facet_cosim *cosim,
                                   const struct facet_change *changes,
                                   size_t count,
                                   enum facet_cosim_result *result,
                                   struct facet_error *err)
{
    const struct facet_change *what = NULL;
    uint32_t core = count != 0 ? changes[0].core : 0;

    for (size_t i = 0; i < count; i++) {
        enum facet_status status = check_change(cosim, &changes[i], err);

        if (status != FACET_OK) {
            return status;
        }
        if (what == NULL && changes[i].kind <= FACET_CHANGE_TRAP) {
            what = &changes[i];
            core = what->core;
        }
    }
    for (size_t i = 0; i < count; i++) {
        enum facet_status status = add(&cosim->cores[core].written, &changes[i], err);

        if (status != FACET_OK) {
            return status;
        }
    }
    return do_step(cosim, core, what, result, err);
}

enum facet_status
facet_cosim_finish(facet_cosim *cosim, enum facet_cosim_result *result, struct facet_error *err)
{
    (void)err;
    if (!cosim->different) {
        for (uint32_t i = 0; i < cosim->core_count && !cosim->different; i++) {
            facet_cosim_check_units(cosim, i);
        }
        if (cosim->different) {
            facet_cosim_explain(cosim);
        }
    }
    *result = cosim->different ? FACET_COSIM_DIFFERENT : FACET_COSIM_ENDED;
    return FACET_OK;
}

/* ---- what is known ----------------------------------------------------------------------------
 */

enum facet_status facet_cosim_get_difference_sized(const facet_cosim *cosim,
                                                   struct facet_cosim_difference *out,
                                                   size_t out_size,
                                                   struct facet_error *err)
{
    memset(out, 0, out_size);
    if (!cosim->different) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "the session has found no difference");
    }
    facet_sized_out(out, out_size, &cosim->difference, sizeof cosim->difference);
    return FACET_OK;
}

const char *facet_cosim_report(const facet_cosim *cosim)
{
    return facet_strbuf_text(&cosim->report);
}

void facet_cosim_stop(const facet_cosim *cosim, struct facet_stop *stop)
{
    *stop = cosim->stop;
}

void facet_cosim_snapshot_at(facet_cosim *cosim, uint64_t step)
{
    cosim->snapshot_at = step;
}

uint64_t facet_cosim_steps(const facet_cosim *cosim)
{
    return cosim->steps;
}

enum facet_status facet_cosim_replay(const facet_cosim *cosim,
                                     struct facet_blob *out,
                                     uint64_t *step,
                                     struct facet_error *err)
{
    const struct facet_blob *from =
        cosim->old_snapshot.data != NULL ? &cosim->old_snapshot : &cosim->new_snapshot;

    *out = (struct facet_blob){0};
    if (from->data == NULL) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "the session keeps no snapshots");
    }
    out->data = malloc(from->size + 1);
    if (out->data == NULL) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a snapshot");
    }
    memcpy(out->data, from->data, from->size);
    out->size = from->size;
    *step = cosim->old_snapshot.data != NULL ? cosim->old_step : cosim->new_step;
    return FACET_OK;
}
