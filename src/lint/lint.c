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

static bool before(const struct facet_lint_finding *f, uint64_t pc, enum facet_lint_id rule)
{
    return f->pc != pc ? f->pc < pc : f->rule < rule;
}

/* Where the finding is or belongs. */
static size_t find(const struct lint_store *store, uint64_t pc, enum facet_lint_id rule)
{
    size_t low = 0, high = store->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (before(&store->items[middle], pc, rule)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void facet_lint_add(struct lint_store *store,
                    struct lint_place place,
                    enum facet_lint_id rule,
                    const char *format,
                    ...)
{
    size_t at = find(store, place.pc, rule);
    struct facet_lint_finding *f;
    va_list args;

    if (at < store->count && store->items[at].pc == place.pc && store->items[at].rule == rule) {
        store->items[at].count++;
        return;
    }
    if (!facet_array_fit(&store->items, &store->capacity, store->count + 1, sizeof *f)) {
        store->failed = true;
        return;
    }
    f = &store->items[at];
    memmove(f + 1, f, (store->count - at) * sizeof *f);
    store->count++;
    *f = (struct facet_lint_finding){place.pc, place.core, rule, 1, ""};
    va_start(args, format);
    (void)vsnprintf(f->detail, sizeof f->detail, format, args);
    va_end(args);
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
