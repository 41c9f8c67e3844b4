/* What a session's options ask for besides running: `--timing` estimates cycles, `--check-order`
 * and `--lint` look for mistakes. Both listen while the machine makes its steps again. See
 * page_session.h. */
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

/* The text of `--timing` for the steps that were made, and the cycles of each instruction, all
 * cores together: {"text", "rows": [{"pc", "line", "cycles"}]}. */
int PAGE_EXPORT(page_session_timing)(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    struct places places = {.items = NULL};
    timing_collector *collector = NULL;
    uint64_t now;
    bool good;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    if (s->timing == NULL) {
        return not_asked("--timing default");
    }
    if (!page_session_again(s, &now)) {
        return FACET_ERR_LIMIT;
    }
    collector = timing_collector_create(s->machine, page_session_isa(s), s->timing);
    good = collector != NULL &&
           facet_machine_observe(s->machine, timing_collector_observer(collector)) == FACET_OK;
    if (collector != NULL) {
        timing_collector_tell(collector, spend, &places);
    }
    page_session_forward(s, now);
    (void)facet_machine_observe(s->machine, NULL);
    good = good && timing_collector_stop(collector) && !places.failed;
    if (good) {
        put_timing(s, collector, &places);
    }
    timing_collector_free(collector);
    free(places.items);
    return good ? page_end() : page_no_memory("an estimate");
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

static bool listen(struct page_session *s, facet_lint **lint, struct facet_error *err)
{
    if (facet_lint_create(s->machine, lint, err) != FACET_OK) {
        return false;
    }
    facet_lint_select(*lint, s->lint_sets);
    if (s->frame.width != 0) {
        facet_lint_add_picture(*lint,
                               &(struct facet_lint_picture){s->frame.address,
                                                            s->frame.stride,
                                                            s->frame.width,
                                                            s->frame.height,
                                                            s->frame.rgb565 ? 2 : 4});
    }
    return facet_machine_observe(s->machine, facet_lint_observer(*lint)) == FACET_OK;
}

/* What `--check-order` and `--lint` find in the steps that were made: {"findings": [...]} with the
 * members that `--json` has. What waits for the end of the program is told there. */
int PAGE_EXPORT(page_session_findings)(uint32_t id)
{
    struct page_session *s = page_session_of(id);
    struct facet_error err = {0};
    struct facet_record *r;
    facet_lint *lint = NULL;
    uint64_t now;
    bool good;

    if (s == NULL) {
        return FACET_ERR_USAGE;
    }
    if (s->lint_sets == 0) {
        return not_asked("--check-order or --lint");
    }
    if (!page_session_again(s, &now)) {
        return FACET_ERR_LIMIT;
    }
    good = listen(s, &lint, &err);
    page_session_forward(s, now);
    (void)facet_machine_observe(s->machine, NULL);
    if (good && facet_machine_next_core(s->machine) == FACET_NONE) {
        facet_lint_finish(lint);
    }
    if (!good || facet_lint_failed(lint)) {
        facet_lint_destroy(lint);
        return good ? page_no_memory("the findings") : page_fail(&err);
    }
    r = page_begin();
    facet_record_list(r, "findings");
    for (size_t i = 0; i < facet_lint_count(lint); i++) {
        put_finding(s, r, facet_lint_at(lint, i));
    }
    facet_record_close(r);
    facet_lint_destroy(lint);
    return page_end();
}
