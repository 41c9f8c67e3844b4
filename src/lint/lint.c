/* See lint.h: the rules as a table, the findings in order, and the listener that hands each event
 * to the rules of the machine at hand. */
#include "lint/internal.h"

#include "base/array.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct facet_lint_rule facet_lint_rules[FACET_LINT_COUNT] = {
#define RULE(id, name, hart, tile, text) {name, {hart, tile}, text},
    FACET_LINT_RULES(RULE)
#undef RULE
};

struct facet_lint {
    struct facet_observer observer;
    const struct lint_machine_ops *ops;
    void *rules; /* state of the machine's rules */
    struct lint_store store;
};

/* ---- findings ---- */

unsigned facet_lint_sets(enum facet_lint_id rule)
{
    switch (rule) {
    case FACET_LINT_JOB_RESULT:
    case FACET_LINT_JOB_DATA:
    case FACET_LINT_JOB_UNWAITED:
    case FACET_LINT_WAIT_TICKET:
    case FACET_LINT_UNPUBLISHED:
    case FACET_LINT_STALE:
    case FACET_LINT_UNIT_DATA:
    case FACET_LINT_TEXELS:
    case FACET_LINT_SCRATCH:
        return FACET_LINT_SET_LINT | FACET_LINT_SET_ORDER;
    default:
        return rule <= FACET_LINT_NO_EXIT ? FACET_LINT_SET_LINT : FACET_LINT_SET_ORDER;
    }
}

static int
compare(const struct facet_lint_finding *f, uint64_t pc, enum facet_lint_id rule, uint64_t other)
{
    return f->pc != pc           ? (f->pc < pc ? -1 : 1)
           : f->rule != rule     ? (f->rule < rule ? -1 : 1)
           : f->other_pc < other ? -1
                                 : f->other_pc > other;
}

/* The finding, empty when it is new; NULL: nobody asks for it, or memory is short. */
static struct facet_lint_finding *count_one(struct lint_store *store,
                                            struct lint_place place,
                                            enum facet_lint_id rule,
                                            uint64_t other)
{
    size_t low = 0, high = store->count;
    struct facet_lint_finding *f;

    if ((facet_lint_sets(rule) & store->sets) == 0) {
        return NULL;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(&store->items[middle], place.pc, rule, other) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < store->count && compare(&store->items[low], place.pc, rule, other) == 0) {
        store->items[low].count++;
        return &store->items[low];
    }
    if (!facet_array_fit(&store->items, &store->capacity, store->count + 1, sizeof *f)) {
        store->failed = true;
        return NULL;
    }
    f = &store->items[low];
    memmove(f + 1, f, (store->count - low) * sizeof *f);
    store->count++;
    *f = (struct facet_lint_finding){.pc = place.pc, .core = place.core, .rule = rule, .count = 1};
    f->other_pc = other;
    return f;
}

void facet_lint_add(struct lint_store *store,
                    struct lint_place place,
                    enum facet_lint_id rule,
                    const char *format,
                    ...)
{
    struct facet_lint_finding *f = count_one(store, place, rule, 0);
    va_list args;

    if (f != NULL && f->count == 1) {
        va_start(args, format);
        (void)vsnprintf(f->detail, sizeof f->detail, format, args);
        va_end(args);
    }
}

void facet_lint_add_pair(struct lint_store *store,
                         struct lint_place place,
                         struct lint_place other,
                         enum facet_lint_id rule,
                         const char *format,
                         ...)
{
    struct facet_lint_finding *f = count_one(store, place, rule, other.pc);
    va_list args;

    if (f != NULL && f->count == 1) {
        f->paired = true;
        f->other_core = other.core;
        va_start(args, format);
        (void)vsnprintf(f->detail, sizeof f->detail, format, args);
        va_end(args);
    }
}

/* ---- the listener ---- */

static void hear_retire(void *context, const struct facet_retire_event *event)
{
    facet_lint *lint = context;

    lint->ops->retire(lint->rules, event);
}

static void hear_reg(void *context, const struct facet_reg_event *event)
{
    facet_lint *lint = context;

    lint->ops->reg(lint->rules, event);
}

static void hear_memory(void *context, const struct facet_memory_event *event)
{
    facet_lint *lint = context;

    lint->ops->memory(lint->rules, event);
}

static void hear_trap(void *context, const struct facet_trap_event *event)
{
    facet_lint *lint = context;

    lint->ops->trap(lint->rules, event);
}

static void hear_unit(void *context, const struct facet_unit_event *event)
{
    facet_lint *lint = context;

    lint->ops->unit(lint->rules, event);
}

/* ---- life ---- */

enum facet_status
facet_lint_create(facet_machine *machine, facet_lint **out, struct facet_error *err)
{
    facet_lint *lint = calloc(1, sizeof *lint);
    bool failed = lint == NULL;

    *out = NULL;
    if (!failed) {
        lint->store.sets = FACET_LINT_SET_LINT;
        lint->ops = &lint_hart_ops;
        lint->rules = facet_lint_hart_create(machine, &lint->store, &failed);
    }
    if (!failed && lint->rules == NULL) {
        lint->ops = &lint_tile_ops;
        lint->rules = facet_lint_tile_create(machine, &lint->store, &failed);
    }
    if (failed || lint->rules == NULL) {
        free(lint);
        return failed ? facet_fail(err, FACET_ERR_MEMORY, 0, "out of memory for the lint rules")
                      : facet_fail(err,
                                   FACET_ERR_USAGE,
                                   0,
                                   "there are no lint rules for the %s machine",
                                   facet_machine_kind_name(machine));
    }
    lint->observer = (struct facet_observer){
        lint, hear_retire, hear_reg, NULL, hear_memory, hear_trap, hear_unit};
    *out = lint;
    return FACET_OK;
}

void facet_lint_add_picture(facet_lint *lint, const struct facet_lint_picture *picture)
{
    struct lint_store *store = &lint->store;

    if (store->picture_count < FACET_LINT_PICTURES && picture->stride != 0) {
        store->pictures[store->picture_count++] = *picture;
    }
}

void facet_lint_select(facet_lint *lint, unsigned sets)
{
    lint->store.sets = sets;
}

void facet_lint_destroy(facet_lint *lint)
{
    if (lint != NULL) {
        lint->ops->destroy(lint->rules);
        free(lint->store.items);
        free(lint);
    }
}

const struct facet_observer *facet_lint_observer(const facet_lint *lint)
{
    return &lint->observer;
}

enum facet_lint_machine facet_lint_machine(const facet_lint *lint)
{
    return lint->ops == &lint_hart_ops ? FACET_LINT_HART : FACET_LINT_TILE;
}

void facet_lint_finish(facet_lint *lint)
{
    lint->ops->finish(lint->rules);
}

size_t facet_lint_count(const facet_lint *lint)
{
    return lint->store.count;
}

const struct facet_lint_finding *facet_lint_at(const facet_lint *lint, size_t index)
{
    return &lint->store.items[index];
}

bool facet_lint_failed(const facet_lint *lint)
{
    return lint->store.failed;
}
