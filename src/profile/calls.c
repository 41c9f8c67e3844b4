/* See calls.h. */
#include "profile/calls.h"

#include "base/array.h"
#include "isa/isa.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MARKS = 256, MEMO = 256 };

/* ---- counters by path and address ---- */

struct slot {
    uint64_t pc;
    uint64_t value; /* 0: the slot is free */
    uint32_t path;
};

struct table {
    struct slot *slots;
    size_t capacity, count; /* a power of two; less than half of it */
};

static struct slot *find(const struct table *table, uint32_t path, uint64_t pc)
{
    const uint64_t hash = (pc ^ (uint64_t)path << 40) * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = (size_t)(hash >> 32) & (table->capacity - 1);

    while (table->slots[i].value != 0 &&
           (table->slots[i].path != path || table->slots[i].pc != pc)) {
        i = (i + 1) & (table->capacity - 1);
    }
    return &table->slots[i];
}

static bool grow(struct table *table)
{
    struct table wider = {.capacity = table->capacity != 0 ? 2 * table->capacity : 1024};

    wider.slots = calloc(wider.capacity, sizeof *wider.slots);
    if (wider.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].value != 0) {
            *find(&wider, table->slots[i].path, table->slots[i].pc) = table->slots[i];
        }
    }
    wider.count = table->count;
    free(table->slots);
    *table = wider;
    return true;
}

/* The slot's value, which the caller makes more than 0; NULL without memory. */
static uint64_t *value_of(struct table *table, uint32_t path, uint64_t pc)
{
    struct slot *slot;

    if (2 * (table->count + 1) > table->capacity && !grow(table)) {
        return NULL;
    }
    slot = find(table, path, pc);
    if (slot->value == 0) {
        table->count++;
        slot->path = path;
        slot->pc = pc;
    }
    return &slot->value;
}

/* ---- stacks ---- */

struct path {
    uint32_t before; /* number of the path of the caller */
    uint64_t site;   /* where it called */
};

struct frame {
    uint64_t back; /* where it returns to */
    uint32_t path; /* of the caller */
    bool trap;     /* to the instruction at `back` or one behind it */
};

struct core {
    struct frame frames[PROFILE_CALLS_DEPTH];
    unsigned depth;
    uint32_t path;
    uint64_t next; /* where the core continues */
    uint64_t link; /* what the step has written to a register last; only ever compared */
    bool linked;
    uint16_t marks[MARKS]; /* frames by what they return to: few jumps need a search */
};

struct profile_calls {
    struct facet_observer observer;
    enum facet_isa isa;
    struct core *cores;
    uint32_t core_count;
    struct facet_array paths; /* of struct path; the first is that of code that nobody called */
    struct table children;    /* numbers of paths by caller and site */
    struct table counts;
    struct {
        uint32_t word;
        bool known, indirect;
    } memo[MEMO];
    bool failed;
};

static void mark(struct core *c, const struct frame *f, int more)
{
    for (unsigned behind = 0; behind <= (f->trap ? 4 : 0); behind += 2) {
        uint16_t *count = &c->marks[(f->back + behind) / 2 % MARKS];

        *count = (uint16_t)(*count + more);
    }
}

static void forget(struct core *c)
{
    c->depth = 0;
    c->path = 0;
    memset(c->marks, 0, sizeof c->marks);
}

static void push(profile_calls *calls, struct core *c, uint64_t site, uint64_t back, bool trap)
{
    uint64_t *child;

    if (c->depth == PROFILE_CALLS_DEPTH) {
        return;
    }
    child = value_of(&calls->children, c->path, site);
    if (child == NULL) {
        calls->failed = true;
        return;
    }
    if (*child == 0) {
        struct path *path = calls->paths.count < PROFILE_CALLS_PATHS
                                ? facet_array_add(&calls->paths, 1, sizeof *path)
                                : NULL;

        calls->failed |= path == NULL && calls->paths.count < PROFILE_CALLS_PATHS;
        *child = path != NULL ? calls->paths.count - 1 : c->path;
        if (path != NULL) {
            *path = (struct path){c->path, site};
        }
        if (*child == 0) { /* the most are there, and nobody called this code */
            calls->children.count--;
            return;
        }
    }
    c->frames[c->depth] = (struct frame){back, c->path, trap};
    mark(c, &c->frames[c->depth++], 1);
    c->path = (uint32_t)*child;
}

static void pop_to(struct core *c, uint64_t pc)
{
    unsigned depth = c->depth;

    if (c->marks[pc / 2 % MARKS] == 0) {
        return;
    }
    while (depth > 0) {
        const struct frame *f = &c->frames[--depth];

        if (pc - f->back <= (f->trap ? 4 : 0)) {
            while (c->depth > depth) {
                mark(c, &c->frames[--c->depth], -1);
            }
            c->path = f->path;
            return;
        }
    }
}

/* ---- events ---- */

static bool is_indirect(profile_calls *calls, uint32_t word)
{
    static const char *const names[] = {"jalr", "c.jr", "c.jalr", "mret", "JALR"};
    const size_t i = (word * UINT32_C(0x9E3779B1)) >> 24;

    if (!calls->memo[i].known || calls->memo[i].word != word) {
        const struct facet_insn_row *row = facet_isa_decode(calls->isa, word);

        calls->memo[i].known = true;
        calls->memo[i].word = word;
        calls->memo[i].indirect = false;
        for (size_t k = 0; row != NULL && k < sizeof names / sizeof names[0]; k++) {
            calls->memo[i].indirect |= strcmp(row->mnemonic, names[k]) == 0;
        }
    }
    return calls->memo[i].indirect;
}

static void hear_reg(void *context, const struct facet_reg_event *event)
{
    struct core *c = &((profile_calls *)context)->cores[event->core];

    c->link = event->new_value.lo;
    c->linked = true;
}

static void hear_retire(void *context, const struct facet_retire_event *event)
{
    profile_calls *calls = context;
    struct core *c = &calls->cores[event->core];
    const uint64_t behind = event->pc + event->length;
    uint64_t *count;

    if (event->pc != c->next) { /* a tile begins, or a debugger was here */
        forget(c);
    }
    count = value_of(&calls->counts, c->path, event->pc);
    if (count == NULL) {
        calls->failed = true;
    } else {
        ++*count;
    }
    c->next = event->next_pc;
    if (event->next_pc != behind) {
        if (c->linked && c->link == behind) {
            push(calls, c, event->pc, behind, false);
        } else if (is_indirect(calls, event->word)) {
            pop_to(c, event->next_pc);
        }
    }
    c->linked = false;
}

static void hear_trap(void *context, const struct facet_trap_event *event)
{
    profile_calls *calls = context;
    struct core *c = &calls->cores[event->core];

    push(calls, c, event->pc, event->pc, true);
    c->next = event->handler;
    c->linked = false;
}

profile_calls *profile_calls_create(const facet_machine *machine, enum facet_isa isa)
{
    profile_calls *calls = calloc(1, sizeof *calls);

    if (calls == NULL) {
        return NULL;
    }
    calls->observer = (struct facet_observer){
        .context = calls, .retire = hear_retire, .reg_write = hear_reg, .trap = hear_trap};
    calls->isa = isa;
    calls->core_count = facet_machine_core_count(machine);
    calls->cores = calloc(calls->core_count, sizeof *calls->cores);
    if (calls->cores == NULL || facet_array_add(&calls->paths, 1, sizeof(struct path)) == NULL) {
        profile_calls_destroy(calls);
        return NULL;
    }
    *(struct path *)calls->paths.items = (struct path){0, 0};
    return calls;
}

void profile_calls_destroy(profile_calls *calls)
{
    if (calls != NULL) {
        free(calls->cores);
        free(calls->paths.items);
        free(calls->children.slots);
        free(calls->counts.slots);
        free(calls);
    }
}

const struct facet_observer *profile_calls_observer(const profile_calls *calls)
{
    return &calls->observer;
}

/* ---- the file ---- */

static int by_path(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    return x->path != y->path ? (x->path > y->path) - (x->path < y->path)
                              : (x->pc > y->pc) - (x->pc < y->pc);
}

static json_t *symbol_name(const struct facet_symbols *symbols, uint64_t pc)
{
    const struct facet_object_symbol *symbol = facet_symbols_find(symbols, pc);

    return symbol != NULL ? facet_json_name(symbol->name) : json_string("?");
}

static json_t *
stack_json(const profile_calls *calls, const struct facet_symbols *symbols, const struct slot *slot)
{
    const struct path *paths = calls->paths.items;
    const struct facet_line_row *line = facet_lines_find(&symbols->lines, slot->pc);
    json_t *frames = json_array(), *object;
    json_t *kernel = calls->isa == FACET_ISA_TILE ? profile_kernel_of(symbols, slot->pc) : NULL;

    (void)json_array_append_new(frames, symbol_name(symbols, slot->pc));
    for (uint32_t path = slot->path; path != 0; path = paths[path].before) {
        (void)json_array_insert_new(frames, 0, symbol_name(symbols, paths[path].site));
    }
    object = json_pack("{s:o}", "frames", frames);
    if (kernel != NULL) {
        (void)json_object_set_new(object, "kernel", kernel);
    }
    if (line != NULL) {
        (void)json_object_set_new(object, "line", profile_line_json(line));
    }
    return object;
}

static bool
same_frame(const struct facet_symbols *symbols, const struct slot *a, const struct slot *b)
{
    const struct facet_line_row *x = facet_lines_find(&symbols->lines, a->pc);
    const struct facet_line_row *y = facet_lines_find(&symbols->lines, b->pc);

    return a->path == b->path &&
           facet_symbols_find(symbols, a->pc) == facet_symbols_find(symbols, b->pc) &&
           (x == NULL || y == NULL ? x == y : x->line == y->line && strcmp(x->file, y->file) == 0);
}

json_t *profile_calls_json(const profile_calls *calls, const struct facet_symbols *symbols)
{
    struct slot *slots = malloc((calls->counts.count + 1) * sizeof *slots);
    json_t *list = slots != NULL && !calls->failed ? json_array() : NULL;
    size_t n = 0;

    for (size_t i = 0; list != NULL && i < calls->counts.capacity; i++) {
        if (calls->counts.slots[i].value != 0) {
            slots[n++] = calls->counts.slots[i];
        }
    }
    if (n > 0) {
        qsort(slots, n, sizeof *slots, by_path);
    }
    for (size_t i = 0, next; i < n; i = next) {
        json_t *stack = stack_json(calls, symbols, &slots[i]);
        uint64_t sum = 0;

        for (next = i; next < n && same_frame(symbols, &slots[i], &slots[next]); next++) {
            sum += slots[next].value;
        }
        (void)json_object_set_new(stack, "count", json_integer((json_int_t)sum));
        (void)json_array_append_new(list, stack);
    }
    free(slots);
    return list;
}

bool profile_stacks_good(const json_t *stacks)
{
    const json_t *stack, *frame, *count;
    size_t i, k;

    if (stacks != NULL && !json_is_array(stacks)) {
        return false;
    }
    json_array_foreach(stacks, i, stack)
    {
        const json_t *frames = json_object_get(stack, "frames");

        count = json_object_get(stack, "count");
        if (!json_is_array(frames) || json_array_size(frames) == 0 || !json_is_integer(count) ||
            json_integer_value(count) < 0) {
            return false;
        }
        json_array_foreach(frames, k, frame)
        {
            if (!json_is_string(frame)) {
                return false;
            }
        }
        for (k = 0; k < 2; k++) {
            const json_t *text = json_object_get(stack, k == 0 ? "kernel" : "line");

            if (text != NULL && !json_is_string(text)) {
                return false;
            }
        }
    }
    return true;
}
