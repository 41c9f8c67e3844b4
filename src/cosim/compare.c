/* One step of the reference against one of the design.
 *
 * Nearly always the two lists are equal as they are. Otherwise they are walked place by place: what
 * the filter leaves out, values of units that the design told earlier, and memory byte by byte. */
#include "base/array.h"
#include "base/error.h"
#include "cosim/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void facet_cosim_differs(facet_cosim *cosim,
                         uint32_t core,
                         const struct facet_change *reference,
                         const struct facet_change *design,
                         const char *format,
                         ...)
{
    struct facet_cosim_difference *d = &cosim->difference;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(cosim->why, sizeof cosim->why, format, args);
    va_end(args);
    cosim->different = true;
    *d = (struct facet_cosim_difference){.step = cosim->steps,
                                         .core = core,
                                         .has_reference = reference != NULL,
                                         .has_design = design != NULL,
                                         .why = cosim->why};
    if (reference != NULL) {
        d->reference = *reference;
    }
    if (design != NULL) {
        d->design = *design;
    }
    d->pc = facet_machine_pc(cosim->machine, core);
    for (size_t i = 0; i < cosim->machine->changes.count; i++) {
        const struct facet_change *change = &cosim->machine->changes.items[i];

        if (change->kind <= FACET_CHANGE_TRAP && cosim->stop.steps != 0 && change->core == core) {
            d->pc = change->address;
        }
    }
}

static bool is_named(const struct facet_change *change)
{
    return change->kind == FACET_CHANGE_REG || change->kind == FACET_CHANGE_CSR;
}

/* A register that the design's units wrote before the reference's did; gone from the list then. */
static bool
take_unit(facet_cosim *cosim, const struct facet_change *change, struct facet_change *out)
{
    struct facet_change_list *list = &cosim->cores[change->core].unit;

    for (size_t i = 0; i < list->count; i++) {
        if (facet_machine_change_order(&list->items[i], change) == 0) {
            *out = list->items[i];
            list->items[i] = list->items[--list->count];
            if (cosim->filtered) {
                (void)facet_lockstep_filter_apply(cosim->filter, out, 1);
            }
            return true;
        }
    }
    return false;
}

static bool same_value(struct facet_value a, struct facet_value b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

/* The design wrote a register of which only some bits are compared, and these did not change. */
static bool stays_same(const facet_cosim *cosim, const struct facet_change *change)
{
    struct facet_value mask, now;
    enum facet_status status;

    if (!is_named(change)) {
        return false;
    }
    mask = facet_lockstep_filter_mask(cosim->filter, change);
    if ((mask.lo & mask.hi) == UINT64_MAX) {
        return false;
    }
    status = change->kind == FACET_CHANGE_REG
                 ? facet_machine_reg_read(cosim->machine, change->core, change->index, &now, NULL)
                 : facet_machine_csr_read(cosim->machine, change->core, change->index, &now, NULL);
    now.lo &= mask.lo;
    now.hi &= mask.hi;
    return status == FACET_OK && same_value(now, change->new_value);
}

/* Everything but memory, which comes last in both lists. True: they differ. */
static bool compare_named(facet_cosim *cosim,
                          uint32_t core,
                          const struct facet_change_list *r,
                          const struct facet_change_list *d)
{
    size_t i = 0, j = 0;

    for (;;) {
        const struct facet_change *a =
            i < r->count && r->items[i].kind != FACET_CHANGE_MEMORY ? &r->items[i] : NULL;
        const struct facet_change *b =
            j < d->count && d->items[j].kind != FACET_CHANGE_MEMORY ? &d->items[j] : NULL;
        int order = a == NULL ? 1 : b == NULL ? -1 : facet_machine_change_order(a, b);
        struct facet_change unit;

        if (a == NULL && b == NULL) {
            return false;
        }
        if (order == 0 && same_value(a->new_value, b->new_value) &&
            (is_named(a) || a->size == b->size)) {
            i++;
            j++;
        } else if (order == 0 || (a != NULL && b != NULL && !is_named(a) && !is_named(b))) {
            facet_cosim_differs(cosim, core, a, b, "both did something else");
            return true;
        } else if (order < 0 && is_named(a) && take_unit(cosim, a, &unit)) {
            if (!same_value(a->new_value, unit.new_value)) {
                facet_cosim_differs(
                    cosim, core, a, &unit, "a unit of the design wrote another value");
                return true;
            }
            i++;
        } else if (order < 0) {
            facet_cosim_differs(cosim, core, a, NULL, "the design did not do this");
            return true;
        } else if (stays_same(cosim, b)) {
            j++;
        } else {
            facet_cosim_differs(cosim, core, NULL, b, "the reference did not do this");
            return true;
        }
    }
}

static struct facet_change
byte_change(uint32_t core, uint32_t space, uint64_t address, uint8_t value)
{
    return (struct facet_change){.kind = FACET_CHANGE_MEMORY,
                                 .core = core,
                                 .index = space,
                                 .size = 1,
                                 .address = address,
                                 .new_value = {value, 0}};
}

static bool is_compared(const facet_cosim *cosim, uint32_t space, uint64_t address)
{
    return !cosim->filtered || facet_lockstep_filter_byte(cosim->filter, space, address);
}

/* Moves past a byte; false after the last one there can be. */
static bool after(uint32_t *space, uint64_t *address)
{
    *space += ++*address == 0;
    return *address != 0 || *space != 0;
}

/* Every byte of the reference is one of the design's step or of its units. */
static bool compare_bytes(facet_cosim *cosim,
                          uint32_t core,
                          const facet_lockstep_bytes *r,
                          facet_lockstep_bytes *d)
{
    uint32_t space = 0;
    uint64_t address = 0;
    uint8_t mine = 0, its = 0;

    for (bool more = true; more && facet_lockstep_bytes_next(r, &space, &address);
         more = after(&space, &address)) {
        struct facet_change a, b;
        bool there;

        (void)facet_lockstep_bytes_get((facet_lockstep_bytes *)r, space, address, false, &mine);
        there = facet_lockstep_bytes_get(d, space, address, true, &its) ||
                facet_lockstep_bytes_get(cosim->unit_bytes, space, address, true, &its);
        if (!is_compared(cosim, space, address) || (there && mine == its)) {
            continue;
        }
        a = byte_change(core, space, address, mine);
        b = byte_change(core, space, address, its);
        facet_cosim_differs(cosim,
                            core,
                            &a,
                            there ? &b : NULL,
                            there ? "another byte in memory"
                                  : "the design did not write this byte");
        return true;
    }
    space = 0;
    address = 0;
    for (bool more = true; more && facet_lockstep_bytes_next(d, &space, &address);
         more = after(&space, &address)) {
        if (is_compared(cosim, space, address)) {
            struct facet_change b;

            (void)facet_lockstep_bytes_get(d, space, address, false, &its);
            b = byte_change(core, space, address, its);
            facet_cosim_differs(cosim, core, NULL, &b, "the reference did not write this byte");
            return true;
        }
    }
    return false;
}

static enum facet_status compare_memory(facet_cosim *cosim,
                                        uint32_t core,
                                        const struct facet_change_list *design,
                                        struct facet_error *err)
{
    const struct facet_change_list *all = &cosim->machine->changes;
    facet_lockstep_bytes *r = NULL, *d = NULL;
    enum facet_status status = facet_lockstep_bytes_create(&r, err);

    if (status == FACET_OK) {
        status = facet_lockstep_bytes_create(&d, err);
    }
    if (status == FACET_OK) {
        status = facet_lockstep_bytes_add_changes(r, all->items, all->count, err);
    }
    if (status == FACET_OK) {
        status = facet_lockstep_bytes_add_changes(d, design->items, design->count, err);
    }
    if (status == FACET_OK) {
        (void)compare_bytes(cosim, core, r, d);
    }
    facet_lockstep_bytes_destroy(r);
    facet_lockstep_bytes_destroy(d);
    return status;
}

static bool copy_list(struct facet_change_list *to, const struct facet_change_list *from)
{
    if (!facet_array_fit(&to->items, &to->capacity, from->count, sizeof *to->items)) {
        return false;
    }
    if (from->count != 0) {
        memcpy(to->items, from->items, from->count * sizeof *to->items);
    }
    to->count = from->count;
    return true;
}

/* A design that does not tell its words has the reference's, at the same pc. */
static void fill_word(const struct facet_change_list *r, struct facet_change_list *d)
{
    if (r->count != 0 && d->count != 0 && r->items[0].kind == FACET_CHANGE_RETIRE &&
        d->items[0].kind == FACET_CHANGE_RETIRE && r->items[0].address == d->items[0].address) {
        d->items[0].size = r->items[0].size;
        if (d->items[0].new_value.lo == 0) {
            d->items[0].new_value = r->items[0].new_value;
        }
    }
}

static bool are_equal(const struct facet_change_list *r, const struct facet_change_list *d)
{
    return facet_changes_compare(r->items, r->count, d->items, d->count) == SIZE_MAX;
}

enum facet_status facet_cosim_check(facet_cosim *cosim,
                                    uint32_t core,
                                    struct facet_change_list *design,
                                    struct facet_error *err)
{
    struct facet_change_list *all = &cosim->machine->changes;
    struct facet_change_list *r = all, *d = design;

    if (!facet_machine_sort_changes(design)) {
        return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for what the design wrote");
    }
    fill_word(all, design);
    if (are_equal(all, design)) {
        return FACET_OK;
    }
    if (cosim->filtered) {
        r = &cosim->reference;
        d = &cosim->design;
        if (!copy_list(r, all) || !copy_list(d, design)) {
            return facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for a comparison");
        }
        r->count = facet_lockstep_filter_apply(cosim->filter, r->items, r->count);
        d->count = facet_lockstep_filter_apply(cosim->filter, d->items, d->count);
        if (are_equal(r, d)) {
            return FACET_OK;
        }
    }
    return compare_named(cosim, core, r, d) ? FACET_OK : compare_memory(cosim, core, design, err);
}

void facet_cosim_check_units(facet_cosim *cosim, uint32_t core)
{
    struct facet_work work;
    uint32_t space = 0;
    uint64_t address = 0;
    bool any = facet_lockstep_bytes_count(cosim->unit_bytes) != 0;

    for (uint32_t i = 0; i < cosim->core_count && !any; i++) {
        any = cosim->cores[i].unit.count != 0;
    }
    if (!any || facet_machine_work(cosim->machine, 0, &work)) {
        return;
    }
    for (bool more = true; more && facet_lockstep_bytes_next(cosim->unit_bytes, &space, &address);
         more = after(&space, &address)) {
        if (is_compared(cosim, space, address)) {
            struct facet_change b;
            uint8_t its = 0;

            (void)facet_lockstep_bytes_get(cosim->unit_bytes, space, address, false, &its);
            b = byte_change(core, space, address, its);
            facet_cosim_differs(cosim,
                                core,
                                NULL,
                                &b,
                                "a unit of the design wrote this, and no job of the reference is "
                                "left that would");
            return;
        }
    }
    facet_lockstep_bytes_clear(cosim->unit_bytes);
    for (uint32_t i = 0; i < cosim->core_count && !cosim->different; i++) {
        struct facet_change_list *list = &cosim->cores[i].unit;

        while (list->count != 0 && !cosim->different) {
            struct facet_change b = list->items[--list->count];

            if (facet_lockstep_filter_apply(cosim->filter, &b, 1) != 0 && !stays_same(cosim, &b)) {
                facet_cosim_differs(cosim,
                                    core,
                                    NULL,
                                    &b,
                                    "a unit of the design wrote this, and no job of the reference "
                                    "is left that would");
            }
        }
    }
}
