/* See facet/lockstep.h. */
#include "base/error.h"
#include "machine/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the changes of a step --------------------------------------------------------------------
 */

/* Sorting key; a change's own place comes last so that equal ones keep their order. */
static int compare_place(const struct facet_change *a, const struct facet_change *b)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->core != b->core) {
        return a->core < b->core ? -1 : 1;
    }
    if (a->index != b->index) {
        return a->index < b->index ? -1 : 1;
    }
    if (a->address != b->address) {
        return a->address < b->address ? -1 : 1;
    }
    return 0;
}

/* Merge sort by hand: stable, and the standard library's sort passes no context and may allocate.
 * Most steps have a handful of changes; vector and matrix steps can have thousands. */
static void sort_changes(struct facet_change *items, struct facet_change *scratch, size_t count)
{
    size_t half = count / 2, left = 0, right = half, out = 0;

    if (count < 2) {
        return;
    }
    sort_changes(items, scratch, half);
    sort_changes(items + half, scratch, count - half);
    memcpy(scratch, items, count * sizeof *items);
    while (out < count) {
        bool take_left =
            right >= count || (left < half && compare_place(&scratch[left], &scratch[right]) <= 0);

        items[out++] = take_left ? scratch[left++] : scratch[right++];
    }
}

/* Several writes to one register in one step are one change: from the first old value to the last
 * new one. */
static void merge_changes(struct facet_change_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct facet_change *last = kept > 0 ? &list->items[kept - 1] : NULL;
        const struct facet_change *item = &list->items[i];
        bool named = item->kind == FACET_CHANGE_REG || item->kind == FACET_CHANGE_CSR;

        if (named && last != NULL && compare_place(last, item) == 0) {
            last->new_value = item->new_value;
        } else {
            list->items[kept++] = *item;
        }
    }
    list->count = kept;
}

static bool sort_list(struct facet_change_list *list)
{
    if (list->count > 1) {
        struct facet_change *scratch = malloc(list->count * sizeof *scratch);

        if (scratch == NULL) {
            return false;
        }
        sort_changes(list->items, scratch, list->count);
        free(scratch);
    }
    merge_changes(list);
    return true;
}

enum facet_status
facet_machine_collect(facet_machine *machine, struct facet_stop *stop, struct facet_error *err)
{
    struct facet_change_list *list = &machine->changes;

    if (!list->open || !facet_machine_in_step(machine)) { /* otherwise the rest of a step comes */
        list->count = 0;
        list->failed = false;
    }
    machine->collecting = true;
    facet_machine_update_ears(machine);
    facet_machine_step(machine, stop);
    machine->collecting = false;
    facet_machine_update_ears(machine);
    list->stop = *stop;
    list->open = stop->steps == 0 && facet_machine_in_step(machine);
    if (list->open) {
        return FACET_OK;
    }
    if (list->failed || !sort_list(list)) {
        list->count = 0;
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the changes of a step");
    }
    return FACET_OK;
}

enum facet_status facet_machine_step_changes(facet_machine *machine,
                                             struct facet_change *changes,
                                             size_t capacity,
                                             size_t *count,
                                             struct facet_stop *stop,
                                             struct facet_error *err)
{
    enum facet_status status = facet_machine_collect(machine, stop, err);
    size_t all = machine->changes.open ? 0 : machine->changes.count;
    size_t copied = all < capacity ? all : capacity;

    if (copied != 0) {
        memcpy(changes, machine->changes.items, copied * sizeof *changes);
    }
    *count = all;
    return status;
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static bool same_change(const struct facet_change *a, const struct facet_change *b)
{
    return compare_place(a, b) == 0 && a->size == b->size && a->new_value.lo == b->new_value.lo &&
           a->new_value.hi == b->new_value.hi;
}

size_t facet_changes_compare(const struct facet_change *a,
                             size_t a_count,
                             const struct facet_change *b,
                             size_t b_count)
{
    for (size_t i = 0; i < a_count || i < b_count; i++) {
        if (i >= a_count || i >= b_count || !same_change(&a[i], &b[i])) {
            return i;
        }
    }
    return SIZE_MAX;
}

enum facet_status facet_lockstep_run(facet_machine *a,
                                     facet_machine *b,
                                     uint64_t budget,
                                     struct facet_divergence *out,
                                     struct facet_error *err)
{
    memset(out, 0, sizeof *out);
    for (out->step = 0; out->step < budget; out->step++) {
        enum facet_status status = FACET_OK;
        size_t at;

        if (b->changes.open && facet_machine_in_step(b)) { /* a is at the end of the step already */
            out->stop_a = a->changes.stop;
        } else {
            status = facet_machine_collect(a, &out->stop_a, err);
        }
        if (status == FACET_OK && !a->changes.open) {
            status = facet_machine_collect(b, &out->stop_b, err);
        }
        if (status != FACET_OK || a->changes.open || b->changes.open) {
            return status;
        }
        at = facet_changes_compare(
            a->changes.items, a->changes.count, b->changes.items, b->changes.count);
        out->found = at != SIZE_MAX || out->stop_a.reason != out->stop_b.reason ||
                     out->stop_a.code != out->stop_b.code;
        if (out->found) {
            out->has_a = at < a->changes.count;
            out->has_b = at < b->changes.count;
            if (out->has_a) {
                out->a = a->changes.items[at];
            }
            if (out->has_b) {
                out->b = b->changes.items[at];
            }
            return FACET_OK;
        }
        if (out->stop_a.steps == 0) {
            return FACET_OK; /* both have ended, or wait for something from outside */
        }
    }
    return FACET_OK;
}

/* ---- text -------------------------------------------------------------------------------------
 */

static void value_text(char *out, size_t size, struct facet_value value)
{
    if (value.hi != 0) {
        (void)snprintf(out, size, "0x%" PRIx64 "%016" PRIx64, value.hi, value.lo);
    } else {
        (void)snprintf(out, size, "0x%" PRIx64, value.lo);
    }
}

static const char *index_name(const struct facet_core_desc *core, const struct facet_change *change)
{
    if (change->kind == FACET_CHANGE_REG) {
        return core != NULL && change->index < core->reg_count ? core->regs[change->index].name
                                                               : "?";
    }
    return core != NULL && change->index < core->csr_count ? core->csrs[change->index].name : "?";
}

size_t facet_change_print(const facet_machine *machine,
                          const struct facet_change *change,
                          char *buf,
                          size_t size)
{
    const struct facet_core_desc *core = facet_machine_core(machine, change->core);
    const char *space = facet_machine_space_name(machine, change->index);
    const char *name = core != NULL ? core->name : "?";
    char old_text[40], new_text[40];
    int length = 0;

    value_text(old_text, sizeof old_text, change->old_value);
    value_text(new_text, sizeof new_text, change->new_value);
    switch (change->kind) {
    case FACET_CHANGE_RETIRE:
        length = snprintf(buf,
                          size,
                          "%s: retired 0x%" PRIx64 ": 0x%0*" PRIx64,
                          name,
                          change->address,
                          (int)(change->size <= 8 ? change->size * 2 : 8),
                          change->new_value.lo);
        break;
    case FACET_CHANGE_TRAP:
        length = snprintf(buf,
                          size,
                          "%s: trap at 0x%" PRIx64 ", cause 0x%" PRIx64 ", value 0x%" PRIx64,
                          name,
                          change->address,
                          change->new_value.lo,
                          change->new_value.hi);
        break;
    case FACET_CHANGE_REG:
    case FACET_CHANGE_CSR:
        length = snprintf(
            buf, size, "%s: %s %s -> %s", name, index_name(core, change), old_text, new_text);
        break;
    case FACET_CHANGE_MEMORY:
        length = snprintf(buf,
                          size,
                          "%s: %s 0x%" PRIx64 " (%u bytes) = %s",
                          name,
                          space != NULL ? space : "?",
                          change->address,
                          change->size,
                          new_text);
        break;
    }
    return length > 0 ? (size_t)length : 0;
}
