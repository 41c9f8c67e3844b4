/* Sessions that move: forwards in slices, backwards by the past of gdb/history.h, and the writes of
 * the page in between. See page_session.h. */
#include "wasm/page_session.h"

#include "base/bits.h"

#include <facet/lockstep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

void page_session_place(const struct page_session *s, uint64_t address, struct facet_strbuf *out)
{
    facet_symbols_print(&s->symbols, address, out);
}

uint32_t page_session_line(const struct page_session *s, uint64_t address)
{
    const struct facet_line_row *row = facet_lines_find(&s->symbols.lines, address);

    return row != NULL ? row->line : 0;
}

/* ---- there and back ---- */

uint64_t page_session_first(struct page_session *s)
{
    return facet_gdb_history_begin(&s->history);
}

bool page_session_go(struct page_session *s, uint64_t steps)
{
    return facet_gdb_history_goto(&s->history, steps);
}

void page_session_forward(struct page_session *s, uint64_t steps)
{
    struct facet_stop stop = {.reason = FACET_STOP_BUDGET};
    uint64_t now = facet_machine_steps(s->machine), before = UINT64_MAX;

    while (now < steps && now != before) {
        before = now;
        facet_gdb_history_run(&s->history, steps - now, false, &stop);
        now = facet_machine_steps(s->machine);
        if (stop.reason == FACET_STOP_IDLE && s->host.idle != NULL &&
            s->host.idle(s) == FACET_GDB_IDLE_AGAIN) {
            before = UINT64_MAX;
        }
    }
}

/* ---- points where a run stops ---- */

/* Set while the machine runs and at no other time: going back must not meet them. */
static void set_points(struct page_session *s, uint32_t *ids)
{
    for (size_t i = 0; i < s->break_count; i++) {
        ids[i] = 0;
        (void)facet_machine_break_add(s->machine, FACET_ANY_CORE, s->breaks[i], &ids[i], NULL);
    }
    for (size_t i = 0; i < s->watch_count; i++) {
        s->watches[i].point = 0;
        if (s->watches[i].memory.size != 0) {
            (void)facet_machine_watch_add(
                s->machine, &s->watches[i].memory, &s->watches[i].point, NULL);
        }
    }
}

static void clear_points(struct page_session *s, const uint32_t *ids)
{
    for (size_t i = 0; i < s->break_count; i++) {
        (void)facet_machine_point_remove(s->machine, ids[i], NULL);
    }
    for (size_t i = 0; i < s->watch_count; i++) {
        (void)facet_machine_point_remove(s->machine, s->watches[i].point, NULL);
    }
}

static bool is_point(enum facet_stop_reason reason)
{
    return reason == FACET_STOP_BREAKPOINT || reason == FACET_STOP_WATCHPOINT;
}

static struct facet_value register_value(const struct page_session *s, const struct page_watch *w)
{
    const struct facet_core_desc *core = facet_machine_core(s->machine, w->memory.core);
    struct facet_value value = {0, 0};

    if (w->reg != FACET_NONE) {
        (void)facet_machine_reg_read(s->machine, w->memory.core, w->reg, &value, NULL);
        return value;
    }
    (void)facet_machine_csr_read(s->machine, w->memory.core, w->csr, &value, NULL);
    if (w->field != FACET_NONE) {
        const struct facet_field_desc *field = &core->csrs[w->csr].fields[w->field];

        value.lo = value.lo >> field->lo & UINT64_MAX >> (63 - (field->hi - field->lo));
    }
    return value;
}

/* Up to eight bytes of a range from `address` on, as `core` sees them. */
static struct facet_value memory_value(const struct page_session *s,
                                       const struct facet_watch *range,
                                       uint64_t address,
                                       uint32_t core)
{
    uint8_t bytes[8] = {0};
    uint64_t at = address - range->address < range->size ? address : range->address;
    uint64_t left = range->address + range->size - at;
    size_t size = left < sizeof bytes ? (size_t)left : sizeof bytes;

    (void)facet_machine_read(s->machine, range->space, at, bytes, size, NULL);
    if (s->kind == PAGE_TILE && range->space == 0 && core < FACET_TILE_CORES) {
        (void)facet_tile_core_view(s->machine, core, at, bytes, size);
    }
    return (struct facet_value){facet_load_le64(bytes), 0};
}

static struct facet_value
watched_value(const struct page_session *s, const struct page_watch *w, const struct facet_stop *at)
{
    return w->memory.size != 0 ? memory_value(s, &w->memory, at->address, at->core)
                               : register_value(s, w);
}

/* What a watchpoint has seen: the step before is made once more. */
static void tell_watch(struct page_session *s, struct facet_stop stop)
{
    uint64_t now = facet_machine_steps(s->machine);

    for (size_t i = 0; i < s->watch_count; i++) {
        if (s->watches[i].memory.size != 0 && s->watches[i].point == stop.point) {
            s->seen.index = i;
        }
    }
    if (s->seen.index < s->watch_count) {
        s->seen.after = watched_value(s, &s->watches[s->seen.index], &stop);
        if (page_session_go(s, now - 1)) {
            s->seen.before = watched_value(s, &s->watches[s->seen.index], &stop);
            s->seen.pc = page_session_pc(s, stop.core);
        }
        (void)page_session_go(s, now);
    }
    s->stop = stop;
}

/* The watched register that is another than before, PAGE_WATCHES for none. */
static size_t changed_register(const struct page_session *s, const struct facet_value *before)
{
    for (size_t i = 0; i < s->watch_count; i++) {
        if (s->watches[i].memory.size == 0) {
            struct facet_value now = register_value(s, &s->watches[i]);

            if (now.lo != before[i].lo || now.hi != before[i].hi) {
                return i;
            }
        }
    }
    return PAGE_WATCHES;
}

/* As facet_gdb_history_run. The machine knows watchpoints of memory; for registers each step is
 * looked at. */
static void move(struct page_session *s, uint64_t budget, bool single, struct facet_stop *stop)
{
    struct facet_value before[PAGE_WATCHES];
    uint64_t now = facet_machine_steps(s->machine);
    uint32_t core = facet_machine_next_core(s->machine);

    s->seen.index = PAGE_WATCHES;
    if (s->watched_registers == 0) {
        facet_gdb_history_run(&s->history, budget, single, stop);
        return;
    }
    for (size_t i = 0; i < s->watch_count; i++) {
        if (s->watches[i].memory.size == 0) {
            before[i] = register_value(s, &s->watches[i]);
        }
    }
    facet_gdb_history_run(&s->history, budget != 0, single, stop);
    if (facet_machine_steps(s->machine) != now && stop->reason == FACET_STOP_BUDGET) {
        s->seen.index = changed_register(s, before);
        if (s->seen.index != PAGE_WATCHES) {
            stop->reason = FACET_STOP_WATCHPOINT;
            stop->point = 0;
            stop->core = core;
            stop->pc = page_session_pc(s, core);
        }
    }
}

/* What the machine says when nothing may move: an end stays an end. */
static void look_again(struct page_session *s)
{
    facet_machine_run(s->machine, &(struct facet_run){.budget = 0}, &s->stop);
}

static int answer(struct page_session *s)
{
    struct facet_record *r = page_begin();

    page_session_put_stop(s, r);
    return page_end();
}

/* At most `budget` steps; with a core until that one has made as many of its own, whatever the
 * others do. Stops at breakpoints unless `over` says that they do not count. */
int PAGE_EXPORT(page_session_run)(uint32_t id, uint64_t budget, uint32_t core, uint32_t over)
{
    struct page_session *s = page_session_of(id);
    uint32_t ids[PAGE_BREAKS];
    uint64_t done = 0;
    bool more = budget != 0;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    if (over == 0) {
        set_points(s, ids);
    }
    while (more) {
        uint64_t before = facet_machine_steps(s->machine);
        bool own = core == FACET_ANY_CORE || facet_machine_next_core(s->machine) == core;

        if (over != 0) {
            facet_gdb_history_run(&s->history,
                                  core == FACET_ANY_CORE ? budget - done : 1,
                                  core != FACET_ANY_CORE,
                                  &s->stop);
        } else {
            move(s, core == FACET_ANY_CORE ? budget - done : 1, core != FACET_ANY_CORE, &s->stop);
        }
        done += own ? facet_machine_steps(s->machine) - before : 0;
        if (s->stop.reason == FACET_STOP_IDLE &&
            s->host.idle != NULL) { /* the queue's next command */
            if (s->host.idle(s) == FACET_GDB_IDLE_AGAIN) {
                continue;
            }
        }
        more = s->stop.reason == FACET_STOP_BUDGET && done < budget;
        if (core != FACET_ANY_CORE && !own && facet_machine_steps(s->machine) == before) {
            more = false; /* nothing moves */
        }
    }
    if (over == 0) {
        clear_points(s, ids);
        if (s->stop.reason == FACET_STOP_WATCHPOINT) {
            tell_watch(s, s->stop);
        }
    }
    return answer(s);
}

static int went(struct page_session *s, bool good)
{
    struct facet_error err = {0};

    if (!good) {
        (void)facet_fail(&err, FACET_ERR_MEMORY, 0, "there is no memory to go back");
        return page_fail(&err);
    }
    look_again(s);
    return answer(s);
}

/* The state after `steps` steps, of those that were made. */
int PAGE_EXPORT(page_session_goto)(uint32_t id, uint64_t steps)
{
    struct page_session *s = page_session_of(id);
    uint64_t first, now;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    first = page_session_first(s);
    now = facet_machine_steps(s->machine);
    steps = steps < first ? first : steps;
    return went(s, page_session_go(s, steps > now ? now : steps));
}

/* To before the last step that the core made. */
int PAGE_EXPORT(page_session_back)(uint32_t id, uint32_t core)
{
    enum { WINDOW = 1 << 16 };
    struct page_session *s = page_session_of(id);
    uint64_t first, now, from, found;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    first = page_session_first(s);
    now = facet_machine_steps(s->machine);
    found = now > first ? now - 1 : first;
    from = now > first + WINDOW ? now - WINDOW : first;
    if (core != FACET_ANY_CORE && page_session_go(s, from)) {
        struct facet_stop stop;

        for (uint64_t at = from; at < now; at = facet_machine_steps(s->machine)) {
            found = facet_machine_next_core(s->machine) == core ? at : found;
            facet_gdb_history_run(&s->history, 1, true, &stop);
            if (facet_machine_steps(s->machine) == at) {
                break;
            }
        }
    }
    return went(s, page_session_go(s, found));
}

/* The last point between two moments of the past, with its stop; UINT64_MAX for none. */
static uint64_t
last_point(struct page_session *s, uint64_t from, uint64_t to, struct facet_stop *last)
{
    uint32_t ids[PAGE_BREAKS];
    uint64_t found = UINT64_MAX, before;
    size_t seen = PAGE_WATCHES;
    struct facet_stop stop = {.reason = FACET_STOP_BUDGET};

    if (!page_session_go(s, from)) {
        return found;
    }
    set_points(s, ids);
    do {
        before = facet_machine_steps(s->machine);
        move(s, to - before, false, &stop);
        if (is_point(stop.reason) && facet_machine_steps(s->machine) < to) {
            found = facet_machine_steps(s->machine);
            *last = stop;
            seen = s->seen.index;
        }
    } while (facet_machine_steps(s->machine) < to &&
             (is_point(stop.reason) || facet_machine_steps(s->machine) != before));
    clear_points(s, ids);
    s->seen.index = seen;
    return found;
}

/* To the breakpoint or watchpoint before this place, or to the beginning. */
int PAGE_EXPORT(page_session_reverse)(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    uint64_t first, to, found = UINT64_MAX;
    struct facet_stop stop;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    first = page_session_first(s);
    to = facet_machine_steps(s->machine);
    while (s->break_count + s->watch_count != 0 && found == UINT64_MAX && to > first) {
        size_t i = facet_gdb_history_before(&s->history, to);
        uint64_t from = i != SIZE_MAX ? s->history.moments[i].steps : first;

        found = last_point(s, from, to, &stop);
        to = from;
    }
    if (!page_session_go(s, found != UINT64_MAX ? found : first)) {
        return went(s, false);
    }
    look_again(s);
    if (found != UINT64_MAX && stop.reason == FACET_STOP_WATCHPOINT) {
        tell_watch(s, stop);
    } else if (found != UINT64_MAX) {
        s->stop.reason = FACET_STOP_BREAKPOINT;
    }
    return answer(s);
}

/* Eight bytes each: addresses where a run stops. */
int PAGE_EXPORT(page_session_breaks)(uint32_t id, const uint8_t *addresses, size_t size)
{
    struct page_session *s = page_session_of(id);
    struct facet_error err = {0};

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    if (size / 8 > PAGE_BREAKS) {
        (void)facet_fail(&err, FACET_ERR_LIMIT, 0, "more than %d breakpoints", PAGE_BREAKS);
        return page_fail(&err);
    }
    s->break_count = size / 8;
    memcpy(s->breaks, addresses, 8 * s->break_count);
    return page_done();
}

static bool read_watch(const struct page_session *s,
                       const char *line,
                       struct page_watch *w,
                       struct facet_error *err)
{
    unsigned long long address, size;
    unsigned space, core;
    char how[4], name[64];

    *w = (struct page_watch){.memory = {.core = FACET_ANY_CORE}};
    if (sscanf(line, "memory %u %llu %llu %3[rw]", &space, &address, &size, how) == 4) {
        w->memory.space = space;
        w->memory.address = address;
        w->memory.size = size;
        w->memory.on_read = strchr(how, 'r') != NULL;
        w->memory.on_write = strchr(how, 'w') != NULL;
        return size != 0 && facet_machine_space_name(s->machine, space) != NULL
                   ? true
                   : facet_fail(err,
                                FACET_ERR_USAGE,
                                0,
                                "a watchpoint of %llu bytes in space %u: expected at least one "
                                "byte of a space that there is",
                                size,
                                space) == FACET_OK;
    }
    if (sscanf(line, "register %u %63[^\n]", &core, name) == 2 &&
        core < facet_machine_core_count(s->machine)) {
        w->memory.core = core;
        w->reg = facet_machine_find_reg(s->machine, core, name);
        w->csr = facet_machine_find_csr(s->machine, core, name);
        w->field = FACET_NONE;
        return w->reg != FACET_NONE || w->csr != FACET_NONE ||
               facet_machine_find_field(s->machine, core, name, &w->csr, &w->field) ||
               facet_fail(
                   err, FACET_ERR_USAGE, 0, "%s: expected a register, a CSR or CSR.FIELD", name) ==
                   FACET_OK;
    }
    return facet_fail(err, FACET_ERR_USAGE, 0, "%.80s: no watchpoint", line) == FACET_OK;
}

/* A line for each: "memory SPACE ADDRESS SIZE rw" in decimal, with one of both letters or both;
 * "register CORE NAME". A run stops behind the step that reads or writes the range, or in which the
 * register became another. None are set when one of them is wrong. */
int PAGE_EXPORT(page_session_watches)(uint32_t id, const char *text)
{
    struct page_session *s = page_session_of(id);
    struct facet_error err = {0};

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    s->watch_count = s->watched_registers = 0;
    s->seen.index = PAGE_WATCHES;
    for (size_t count = 0; *text != '\0'; count++) {
        if (count == PAGE_WATCHES) {
            (void)facet_fail(&err, FACET_ERR_LIMIT, 0, "more than %d watchpoints", PAGE_WATCHES);
        }
        if (count == PAGE_WATCHES || !read_watch(s, text, &s->watches[count], &err)) {
            s->watch_count = s->watched_registers = 0;
            return page_fail(&err);
        }
        s->watch_count++;
        s->watched_registers += s->watches[count].memory.size == 0;
        text += strcspn(text, "\n");
        text += *text != '\0';
    }
    return page_done();
}

/* ---- writes of the page: another future begins ---- */

/* A register, a CSR or a field of one, as a debugger writes it. */
int PAGE_EXPORT(page_session_set)(
    uint32_t id, uint32_t core, const char *name, uint64_t low, uint64_t high)
{
    struct page_session *s = page_session_of(id);
    struct facet_error err = {0};
    enum facet_status status;
    uint32_t reg;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    reg = facet_machine_find_reg(s->machine, core, name);
    if (reg != FACET_NONE) {
        status =
            facet_machine_reg_write(s->machine, core, reg, (struct facet_value){low, high}, &err);
    } else {
        status = facet_machine_set(s->machine, core, name, low);
        if (status != FACET_OK) {
            (void)facet_fail(
                &err, status, 0, "%s cannot hold 0x%llx", name, (unsigned long long)low);
        }
    }
    if (status != FACET_OK) {
        return page_fail(&err);
    }
    facet_gdb_history_changed(&s->history);
    return page_done();
}

int PAGE_EXPORT(page_session_poke)(
    uint32_t id, uint32_t space, uint64_t address, const uint8_t *bytes, size_t size)
{
    struct page_session *s = page_session_of(id);
    struct facet_error err = {0};

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    if (facet_machine_write(s->machine, space, address, bytes, size, &err) != FACET_OK) {
        return page_fail(&err);
    }
    facet_gdb_history_changed(&s->history);
    return page_done();
}

/* More for the guest to read; `end`: and no more. */
int PAGE_EXPORT(page_session_input)(uint32_t id, const uint8_t *bytes, size_t size, uint32_t end)
{
    struct page_session *s = page_session_of(id);
    struct facet_error err = {0};
    enum facet_status status;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    status = facet_xphmg_input(s->machine, bytes, size, &err);
    if (status == FACET_OK && end != 0) {
        status = facet_xphmg_input_end(s->machine, &err);
    }
    if (status != FACET_OK) {
        return page_fail(&err);
    }
    facet_gdb_history_changed(&s->history);
    return page_done();
}

/* ---- a piece of the past as a list of steps ---- */

static void put_step(struct page_session *s,
                     struct facet_record *r,
                     const struct facet_change *changes,
                     size_t count)
{
    facet_record_open(r, NULL, NULL);
    facet_record_number(r, "step", (int64_t)facet_machine_steps(s->machine));
    for (size_t i = 0; i < count; i++) { /* the retired instruction, or the trap, comes first */
        if (changes[i].kind == FACET_CHANGE_RETIRE || changes[i].kind == FACET_CHANGE_TRAP) {
            facet_record_number(r, "core", changes[i].core);
            facet_record_hex(r, "pc", changes[i].address, 0);
            facet_record_number(r, "line", page_session_line(s, changes[i].address));
            break;
        }
    }
    facet_record_list(r, "changes");
    for (size_t i = 0; i < count; i++) {
        char text[256];

        (void)facet_change_print(s->machine, &changes[i], text, sizeof text);
        facet_record_word(r, NULL, text);
    }
    facet_record_close(r);
    facet_record_close(r);
}

/* The `count` steps after the first `from`, made again: {"steps": [{"step", "core", "pc", "line",
 * "changes": [text]}]}. The machine stands where it stood afterwards. */
int PAGE_EXPORT(page_session_steps)(uint32_t id, uint64_t from, uint32_t count)
{
    enum { CHANGES = 1024 };
    struct page_session *s = page_session_of(id);
    struct facet_change *changes;
    struct facet_record *r;
    uint64_t now;
    bool good;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    changes = malloc(CHANGES * sizeof *changes);
    if (changes == NULL) {
        return page_no_memory("a list of steps");
    }
    now = facet_machine_steps(s->machine);
    r = page_begin();
    facet_record_list(r, "steps");
    good = page_session_go(s, from);
    for (uint64_t at = from; good && at < now && at - from < count;
         at = facet_machine_steps(s->machine)) {
        struct facet_stop stop;
        size_t found = 0;

        if (facet_machine_step_changes(s->machine, changes, CHANGES, &found, &stop, NULL) !=
            FACET_OK) {
            break;
        }
        if (facet_machine_steps(s->machine) == at) { /* the queue may need its next command */
            good = stop.reason == FACET_STOP_IDLE && s->host.idle != NULL &&
                   s->host.idle(s) == FACET_GDB_IDLE_AGAIN;
            continue;
        }
        put_step(s, r, changes, found < CHANGES ? found : CHANGES);
        for (size_t i = 0; i < s->history.count;
             i++) { /* what the page wrote there is part of the past */
            if (s->history.moments[i].pinned &&
                s->history.moments[i].steps == facet_machine_steps(s->machine)) {
                good = page_session_go(s, s->history.moments[i].steps);
            }
        }
    }
    facet_record_close(r);
    free(changes);
    if (!page_session_go(s, now)) {
        struct facet_error err = {0};

        (void)facet_fail(&err, FACET_ERR_MEMORY, 0, "there is no memory to go back");
        return page_fail(&err);
    }
    return page_end();
}
