/* See trace_last.h. */
#include "debug/trace_last.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct facet_trace_kept {
    struct facet_trace_step step;
    struct facet_trap_event trap;
    char text[FACET_TRACE_TEXT];
    struct facet_item *items;
    size_t capacity;
};

bool facet_trace_last_init(struct facet_trace_last *last, size_t size)
{
    *last = (struct facet_trace_last){.slots = calloc(size, sizeof *last->slots), .size = size};
    return last->slots != NULL;
}

void facet_trace_last_free(struct facet_trace_last *last)
{
    for (size_t i = 0; i < last->size && i < last->seen; i++) {
        free(last->slots[i].items);
    }
    free(last->slots);
}

bool facet_trace_last_put(struct facet_trace_last *last, const struct facet_trace_step *step)
{
    struct facet_trace_kept *kept = &last->slots[last->seen % last->size];

    if (!facet_array_fit(&kept->items, &kept->capacity, step->count, sizeof *kept->items)) {
        return false;
    }
    last->seen++;
    kept->step = *step;
    if (step->count > 0) {
        memcpy(kept->items, step->items, step->count * sizeof *kept->items);
    }
    kept->step.items = kept->items;
    if (step->trap != NULL) {
        kept->trap = *step->trap;
        kept->step.trap = &kept->trap;
    }
    memcpy(kept->text, step->text, strlen(step->text) + 1); /* at most FACET_TRACE_TEXT */
    kept->step.text = kept->text;
    return true;
}

struct facet_trace_step *facet_trace_last_at(struct facet_trace_last *last, size_t n)
{
    uint64_t oldest = last->seen > last->size ? last->seen - last->size : 0;

    return n < last->seen - oldest ? &last->slots[(oldest + n) % last->size].step : NULL;
}
