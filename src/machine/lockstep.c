/* See facet/lockstep.h. */
#include "base/error.h"
#include "machine/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the changes of a step --------------------------------------------------------------------
 */

enum { FEW = 8 };

/* Sorting key; a change's own place comes last so that equal ones keep their order. */
int facet_machine_change_order(const struct facet_change *a, const struct facet_change *b)
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
            right >= count ||
            (left < half && facet_machine_change_order(&scratch[left], &scratch[right]) <= 0);

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

        if (named && last != NULL && facet_machine_change_order(last, item) == 0) {
            last->new_value = item->new_value;
        } else {
            list->items[kept++] = *item;
        }
    }
    list->count = kept;
}

/* Most steps have a handful, nearly in order. */
static void sort_few(struct facet_change *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct facet_change item = items[i];
        size_t at = i;

        for (; at > 0 && facet_machine_change_order(&items[at - 1], &item) > 0; at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

bool facet_machine_sort_changes(struct facet_change_list *list)
{
    if (list->count <= FEW) {
        sort_few(list->items, list->count);
    } else {
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
        list->read_count = 0;
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
    if (list->failed || !facet_machine_sort_changes(list)) {
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
    bool named = a->kind == FACET_CHANGE_REG || a->kind == FACET_CHANGE_CSR;

    return facet_machine_change_order(a, b) == 0 && (named || a->size == b->size) &&
           a->new_value.lo == b->new_value.lo && a->new_value.hi == b->new_value.hi;
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

/* The changes of the step that both have done, without what is not compared. */
static void set_divergence(facet_machine *a,
                           facet_machine *b,
                           const facet_lockstep_filter *filter,
                           struct facet_divergence *out)
{
    size_t at;

    if (filter != NULL) {
        a->changes.count = facet_lockstep_filter_apply(filter, a->changes.items, a->changes.count);
        b->changes.count = facet_lockstep_filter_apply(filter, b->changes.items, b->changes.count);
    }
    at = facet_changes_compare(
        a->changes.items, a->changes.count, b->changes.items, b->changes.count);
    out->found = at != SIZE_MAX || out->stop_a.reason != out->stop_b.reason ||
                 out->stop_a.code != out->stop_b.code;
    out->has_a = out->found && at < a->changes.count;
    out->has_b = out->found && at < b->changes.count;
    if (out->has_a) {
        out->a = a->changes.items[at];
    }
    if (out->has_b) {
        out->b = b->changes.items[at];
    }
}

enum facet_status facet_lockstep_run_filtered(facet_machine *a,
                                              facet_machine *b,
                                              const facet_lockstep_filter *filter,
                                              uint64_t budget,
                                              struct facet_divergence *out,
                                              struct facet_error *err)
{
    memset(out, 0, sizeof *out);
    for (out->step = 0; out->step < budget; out->step++) {
        enum facet_status status = FACET_OK;

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
        set_divergence(a, b, filter, out);
        if (out->found || out->stop_a.steps == 0) {
            return FACET_OK; /* or both have ended, or wait for something from outside */
        }
    }
    return FACET_OK;
}

enum facet_status facet_lockstep_run(facet_machine *a,
                                     facet_machine *b,
                                     uint64_t budget,
                                     struct facet_divergence *out,
                                     struct facet_error *err)
{
    return facet_lockstep_run_filtered(a, b, NULL, budget, out, err);
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

/* The instruction as text, when memory still has the word at its address; "" otherwise. */
static bool
code_text(const facet_machine *machine, const struct facet_change *change, char *out, size_t size)
{
    uint8_t bytes[8] = {0};
    uint32_t length = 0;

    out[0] = '\0';
    if (change->size == 0 || change->size > sizeof bytes ||
        facet_machine_read(machine, 0, change->address, bytes, change->size, NULL) != FACET_OK ||
        facet_load_le64(bytes) != change->new_value.lo ||
        facet_machine_disassemble(machine, change->core, change->address, out, size, &length) ==
            0 ||
        length != change->size) {
        out[0] = '\0';
    }
    return out[0] != '\0';
}

size_t facet_change_print(const facet_machine *machine,
                          const struct facet_change *change,
                          char *buf,
                          size_t size)
{
    const struct facet_core_desc *core = facet_machine_core(machine, change->core);
    const char *space = facet_machine_space_name(machine, change->index);
    const char *name = core != NULL ? core->name : "?";
    char old_text[40], new_text[40], code[160];
    int length = 0;

    value_text(old_text, sizeof old_text, change->old_value);
    value_text(new_text, sizeof new_text, change->new_value);
    switch (change->kind) {
    case FACET_CHANGE_RETIRE:
        length = snprintf(buf,
                          size,
                          "%s: retired 0x%" PRIx64 ": 0x%0*" PRIx64 "%s%s",
                          name,
                          change->address,
                          (int)(change->size <= 8 ? change->size * 2 : 8),
                          change->new_value.lo,
                          code_text(machine, change, code, sizeof code) ? "  " : "",
                          code);
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
        length =
            change->size != 0
                ? snprintf(buf,
                           size,
                           "%s: %s %s -> %s",
                           name,
                           index_name(core, change),
                           old_text,
                           new_text)
                : snprintf(buf, size, "%s: %s -> %s", name, index_name(core, change), new_text);
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
