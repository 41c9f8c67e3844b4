/* What a session's options ask for besides running: `--timing` estimates cycles, `--check-order`
 * and `--lint` look for mistakes. Both listen while the machine makes its steps again, in slices:
 * page_check_begin, page_check_go until it is over, page_check_end. Until then the machine stands
 * somewhere in its past, and nobody else may ask the session. See page_session.h. */
#include "wasm/page_session.h"

#include "base/array.h"
#include "base/hash.h"
#include "lint/lint.h"
#include "timing/collect.h"
#include "timing/report.h"

#include <facet/tile.h>
#include <stdlib.h>
#include <string.h>

static int not_asked(const char *option)
{
    struct facet_error err = {0};

    (void)facet_fail(&err, FACET_ERR_USAGE, 0, "expected %s among the options", option);
    return page_fail(&err);
}

/* ---- cycles ---- */

struct place {
    uint64_t pc, cycles; /* 0 cycles: free */
};

/* By hash; never full. */
struct places {
    struct place *items;
    size_t count, room; /* a power of two */
    bool failed;
};

static struct place *place_of(struct places *p, uint64_t pc)
{
    size_t i = (size_t)facet_hash_mix(pc) & (p->room - 1);

    while (p->items[i].cycles != 0 && p->items[i].pc != pc) {
        i = (i + 1) & (p->room - 1);
    }
    return &p->items[i];
}

static bool grow(struct places *p)
{
    struct places more = {.room = p->room != 0 ? 2 * p->room : 1024};

    more.items = calloc(more.room, sizeof *more.items);
    if (more.items == NULL) {
        return false;
    }
    for (size_t i = 0; i < p->room; i++) {
        if (p->items[i].cycles != 0) {
            *place_of(&more, p->items[i].pc) = p->items[i];
        }
    }
    more.count = p->count;
    free(p->items);
    *p = more;
    return true;
}

static void spend(void *context, uint32_t core, uint64_t pc, uint64_t cycles)
{
    struct places *p = context;
    struct place *place;

    (void)core;
    if (p->failed || (2 * p->count >= p->room && !grow(p))) {
        p->failed = true;
        return;
    }
    place = place_of(p, pc);
    p->count += place->cycles == 0;
    place->pc = pc;
    place->cycles += cycles;
}

struct page_check {
    uint64_t until;              /* where the machine stood */
    timing_collector *collector; /* of --timing, with its places */
    struct places places;
    facet_lint *lint; /* of the others */
};

static void put_timing(const struct page_session *s,
                       const timing_collector *collector,
                       const struct places *places)
{
    struct timing_names names = {.index = page_list_commands(s->list, &names.count)};
    struct facet_record *r = page_begin();
    struct facet_strbuf text;

    facet_strbuf_init(&text);
    timing_text(collector, names, &text);
    facet_record_word(r, "text", facet_strbuf_text(&text));
    facet_record_list(r, "rows");
    for (size_t i = 0; i < places->room; i++) {
        if (places->items[i].cycles != 0) {
            facet_record_open(r, NULL, NULL);
            facet_record_hex(r, "pc", places->items[i].pc, 0);
            facet_record_number(r, "line", page_session_line(s, places->items[i].pc));
            facet_record_number(r, "cycles", (int64_t)places->items[i].cycles);
            facet_record_close(r);
        }
    }
    facet_record_close(r);
    r->text.failed |= text.failed;
    facet_strbuf_free(&text);
}

static bool listen_for_cycles(struct page_session *s, struct page_check *check)
{
    check->collector = timing_collector_create(s->machine, page_session_isa(s), s->timing);
    if (check->collector == NULL) {
        return false;
    }
    timing_collector_tell(check->collector, spend, &check->places);
    return facet_machine_observe(s->machine, timing_collector_observer(check->collector)) ==
           FACET_OK;
}

/* {"text", "rows": [{"pc", "line", "cycles"}]}: the text of `--timing`, and the cycles of each
 * instruction, all cores together. */
static int give_timing(struct page_session *s, struct page_check *check)
{
    if (!timing_collector_stop(check->collector) || check->places.failed) {
        return page_no_memory("an estimate");
    }
    put_timing(s, check->collector, &check->places);
    return page_end();
}

/* ---- mistakes ---- */

static void
put_place(const struct page_session *s, struct facet_record *r, uint64_t pc, uint32_t core)
{
    char text[128];

    (void)facet_machine_disassemble(s->machine, core, pc, text, sizeof text, NULL);
    facet_record_hex(r, "pc", pc, 0);
    page_session_put_symbol(s, r, pc);
    facet_record_number(r, "line", page_session_line(s, pc));
    facet_record_number(r, "core", core);
    facet_record_word(r, "instruction", text);
}

static void put_finding(const struct page_session *s,
                        struct facet_record *r,
                        const struct facet_lint_finding *f)
{
    const struct facet_lint_rule *rule = &facet_lint_rules[f->rule];

    facet_record_open(r, NULL, NULL);
    put_place(s, r, f->pc, f->core);
    facet_record_word(r, "rule", rule->name);
    facet_record_word(
        r, "requirement", rule->rows[s->kind == PAGE_HART ? FACET_LINT_HART : FACET_LINT_TILE]);
    facet_record_word(r, "text", rule->text);
    facet_record_word(r, "detail", f->detail);
    facet_record_number(r, "count", (int64_t)f->count);
    if (f->paired) {
        facet_record_open(r, "other", NULL);
        put_place(s, r, f->other_pc, f->other_core);
        facet_record_close(r);
    }
    facet_record_close(r);
}

static bool listen_for_mistakes(struct page_session *s, struct page_check *check)
{
    if (facet_lint_create(s->machine, &check->lint, NULL) != FACET_OK) {
        return false;
    }
    facet_lint_select(check->lint, s->lint_sets);
    if (s->frame.width != 0) {
        facet_lint_add_picture(check->lint,
                               &(struct facet_lint_picture){s->frame.address,
                                                            s->frame.stride,
                                                            s->frame.width,
                                                            s->frame.height,
                                                            s->frame.rgb565 ? 2 : 4});
    }
    return facet_machine_observe(s->machine, facet_lint_observer(check->lint)) == FACET_OK;
}

/* {"findings": [...]} with the members that `--json` has. What waits for the end of the program is
 * told there. */
static int give_findings(struct page_session *s, struct page_check *check)
{
    struct facet_record *r;

    if (facet_machine_next_core(s->machine) == FACET_NONE) {
        facet_lint_finish(check->lint);
    }
    if (facet_lint_failed(check->lint)) {
        return page_no_memory("the findings");
    }
    r = page_begin();
    facet_record_list(r, "findings");
    for (size_t i = 0; i < facet_lint_count(check->lint); i++) {
        put_finding(s, r, facet_lint_at(check->lint, i));
    }
    facet_record_close(r);
    return page_end();
}

/* ---- in slices ---- */

void page_check_free(struct page_session *s)
{
    if (s->check != NULL) {
        (void)facet_machine_observe(s->machine, NULL);
        timing_collector_free(s->check->collector);
        facet_lint_destroy(s->check->lint);
        free(s->check->places.items);
        free(s->check);
        s->check = NULL;
    }
}

static int put_progress(const struct page_session *s)
{
    struct facet_record *r = page_begin();

    facet_record_number(r, "done", (int64_t)facet_machine_steps(s->machine));
    facet_record_number(r, "total", (int64_t)s->check->until);
    return page_end();
}

/* `timing`: cycles, else mistakes. {"done", "total"}: steps. */
int PAGE_EXPORT(page_check_begin)(uint32_t id, uint32_t timing)
{
    struct page_session *s = page_session_of(id);
    struct page_check *check;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    if (timing != 0 ? s->timing == NULL : s->lint_sets == 0) {
        return not_asked(timing != 0 ? "--timing default" : "--check-order or --lint");
    }
    page_check_free(s);
    check = calloc(1, sizeof *check);
    if (check == NULL) {
        return page_no_memory("a check");
    }
    s->check = check;
    if (!page_session_again(s, &check->until)) {
        page_check_free(s);
        return FACET_ERR_LIMIT;
    }
    if (!(timing != 0 ? listen_for_cycles : listen_for_mistakes)(s, check)) {
        (void)page_session_go(s, check->until);
        page_check_free(s);
        return page_no_memory("a check");
    }
    return put_progress(s);
}

static struct page_session *checked(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    struct facet_error err = {0};

    if (s != NULL && s->check == NULL) {
        (void)facet_fail(&err, FACET_ERR_USAGE, id, "no check of session %u began", (unsigned)id);
        (void)page_fail(&err);
        return NULL;
    }
    return s;
}

/* At most `slice` steps more. */
int PAGE_EXPORT(page_check_go)(uint32_t id, uint64_t slice)
{
    struct page_session *s = checked(id);
    uint64_t left;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    left = s->check->until - facet_machine_steps(s->machine);
    page_session_forward(s, facet_machine_steps(s->machine) + (slice < left ? slice : left));
    return put_progress(s);
}

/* The result when all steps were made; nothing when it was left. The machine stands where it did.
 */
int PAGE_EXPORT(page_check_end)(uint32_t id)
{
    struct page_session *s = checked(id);
    uint64_t until;
    int status;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    until = s->check->until;
    (void)facet_machine_observe(s->machine, NULL);
    if (facet_machine_steps(s->machine) < until) {
        (void)page_session_go(s, until);
        status = page_done();
    } else {
        status =
            s->check->collector != NULL ? give_timing(s, s->check) : give_findings(s, s->check);
    }
    page_check_free(s);
    return status;
}
