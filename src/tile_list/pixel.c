/* See pixel.h. */
#include "tile_list/pixel.h"

#include "base/bits.h"
#include "isa/isa.h"
#include "tile/tile.h"

#include <facet/isa.h>
#include <facet/observer.h>
#include <string.h>

/* ---- the form ---- */

static void put_place(const struct facet_raster_entry *e,
                      const struct facet_tile_list_names *names,
                      struct facet_strbuf *out)
{
    char text[64] = "";

    (void)facet_isa_print_word(FACET_ISA_TILE, e->word, e->pc, text, sizeof text);
    facet_strbuf_printf(out, "core %u at 0x%08x", (unsigned)e->core, (unsigned)e->pc);
    if (names->symbols != NULL) {
        facet_symbols_print(names->symbols, e->pc, out);
    }
    facet_strbuf_printf(out, ": %s", text);
}

static void say_entry(struct facet_record *r,
                      const struct facet_raster_history *history,
                      size_t i,
                      const struct facet_tile_list_names *names,
                      int column,
                      bool full)
{
    const struct facet_raster_entry *e = facet_raster_history_at(history, i);
    const struct facet_raster_entry *over = facet_raster_history_over(history, i);
    const int digits = (int)(2 * history->probe.size);
    struct facet_strbuf words;

    facet_strbuf_init(&words);
    names->name(names->context, e->by, &words);
    facet_record_open(r, NULL, "%-*s  ", column, facet_strbuf_text(&words));
    if (e->writes) {
        facet_record_say(
            r, "0x%0*x -> 0x%0*x  ", digits, (unsigned)e->before, digits, (unsigned)e->after);
    } else {
        facet_record_say(r, "%*s", 2 * digits + 10, "");
    }
    facet_strbuf_clear(&words);
    if (e->core != UINT32_MAX) {
        put_place(e, names, &words);
        facet_record_say(
            r, "%s%s", facet_strbuf_text(&words), e->kind == FACET_RASTER_ENTRY_DRAW ? "; " : "");
    }
    if (e->kind == FACET_RASTER_ENTRY_DRAW) {
        facet_raster_record_draw(r, e, full);
    } else if (e->kind == FACET_RASTER_ENTRY_WRITE) {
        facet_record_say(r, "%s", "memory written");
    }
    if (e->writes && over != NULL && full) {
        facet_record_line(r, "then", NULL);
    } else if (e->writes && over != NULL) {
        facet_record_say(r, "; ");
    }
    if (e->writes && over != NULL) {
        facet_strbuf_clear(&words);
        names->name(names->context, over->by, &words);
        facet_record_say(
            r, "%s by %s", over->replaces ? "overwritten" : "changed", facet_strbuf_text(&words));
    }
    facet_record_close(r);
    r->text.failed |= words.failed;
    facet_strbuf_free(&words);
}

static void write_entry(struct facet_record *r,
                        const struct facet_raster_history *history,
                        size_t i,
                        const struct facet_tile_list_names *names)
{
    static const char *const kinds[] = {[FACET_RASTER_ENTRY_DRAW] = "draw",
                                        [FACET_RASTER_ENTRY_STORE] = "store",
                                        [FACET_RASTER_ENTRY_WRITE] = "write"};
    const struct facet_raster_entry *e = facet_raster_history_at(history, i);
    const struct facet_raster_entry *over = facet_raster_history_over(history, i);
    struct facet_strbuf words;

    facet_strbuf_init(&words);
    names->name(names->context, e->by, &words);
    facet_record_open(r, NULL, NULL);
    facet_record_word(r, "command", facet_strbuf_text(&words));
    facet_record_word(r, "kind", kinds[e->kind]);
    facet_record_bool(r, "writes", e->writes);
    facet_record_hex(r, "before", e->before, 2 * history->probe.size);
    facet_record_hex(r, "after", e->after, 2 * history->probe.size);
    if (e->writes && over != NULL) {
        facet_record_number(r, "over", over - facet_raster_history_at(history, 0));
        facet_record_bool(r, "overwritten", over->replaces);
    }
    if (e->core != UINT32_MAX) {
        facet_strbuf_clear(&words);
        put_place(e, names, &words);
        facet_record_number(r, "core", e->core);
        facet_record_hex(r, "pc", e->pc, 8);
        facet_record_hex(r, "word", e->word, 8);
        facet_record_word(r, "place", facet_strbuf_text(&words));
    }
    if (e->kind == FACET_RASTER_ENTRY_DRAW) {
        facet_raster_record_draw(r, e, true);
    }
    facet_record_close(r);
    r->text.failed |= words.failed;
    facet_strbuf_free(&words);
}

/* Draws that do not cover the pixel, with all their triangles. */
static bool passes_by(const struct facet_raster_entry *e)
{
    return e->kind == FACET_RASTER_ENTRY_DRAW && e->facts.count == 0;
}

/* As wide as the longest name. */
static int name_column(const struct facet_raster_history *history,
                       const struct facet_tile_list_names *names)
{
    struct facet_strbuf words;
    size_t most = 0; /* without memory the names fail again, where they are written */

    facet_strbuf_init(&words);
    for (size_t i = 0; i < history->entries.count; i++) {
        facet_strbuf_clear(&words);
        names->name(names->context, facet_raster_history_at(history, i)->by, &words);
        most = words.length > most ? words.length : most;
    }
    facet_strbuf_free(&words);
    return (int)most;
}

static void say_entries(struct facet_record *r,
                        const struct facet_raster_history *history,
                        const struct facet_tile_list_names *names,
                        bool full)
{
    enum { MANY = 8 }; /* draws that pass by are counted instead */
    const int column = name_column(history, names);
    uint64_t passing = 0;

    for (size_t i = 0; i < history->entries.count; i++) {
        passing += passes_by(facet_raster_history_at(history, i));
    }
    for (size_t i = 0; i < history->entries.count; i++) {
        if (full || passing <= MANY || !passes_by(facet_raster_history_at(history, i))) {
            say_entry(r, history, i, names, column, full);
        }
    }
    if (!full && passing > MANY) {
        facet_record_line(r, NULL, NULL);
        facet_record_say(
            r, "%llu other draws do not cover it (--full)", (unsigned long long)passing);
    }
}

void facet_tile_list_pixel_record(struct facet_record *r,
                                  const struct facet_raster_history *history,
                                  const struct facet_tile_list_names *names,
                                  bool full)
{
    const struct facet_raster_entry *last = facet_raster_history_last(history);
    struct facet_strbuf words;

    facet_record_list(r, "history");
    if (!r->json) {
        say_entries(r, history, names, full);
    }
    for (size_t i = 0; r->json && i < history->entries.count; i++) {
        write_entry(r, history, i, names);
    }
    facet_record_close(r);
    if (r->json) {
        facet_record_number(
            r, "made_by", last != NULL ? last - facet_raster_history_at(history, 0) : -1);
        facet_record_number(r, "elsewhere", (int64_t)history->elsewhere);
        facet_record_number(r, "dropped", (int64_t)history->dropped);
        return;
    }
    facet_strbuf_init(&words);
    if (last != NULL) {
        names->name(names->context, last->by, &words);
    }
    facet_record_line(r, "made by", NULL);
    facet_record_say(r, "%s", last != NULL ? facet_strbuf_text(&words) : "nothing: never written");
    r->text.failed |= words.failed;
    facet_strbuf_free(&words);
    if (history->elsewhere != 0) {
        facet_record_line(r, NULL, NULL);
        facet_record_say(r,
                         "%llu draw%s elsewhere in memory",
                         (unsigned long long)history->elsewhere,
                         history->elsewhere == 1 ? "" : "s");
    }
    if (history->dropped != 0) {
        facet_record_line(r, NULL, NULL);
        facet_record_say(r, "%llu more steps are not shown", (unsigned long long)history->dropped);
    }
}

/* ---- a command list ---- */

static uint64_t asks(void *context)
{
    const struct facet_tile_list_pixel *w = context;
    const struct facet_tile_list_step *step = facet_tile_play_pending(w->play);

    return step != NULL ? (uint64_t)(step - w->play->plan->steps) : 0;
}

static void name(const void *context, uint64_t by, struct facet_strbuf *out)
{
    const struct facet_tile_list_pixel *w = context;
    const struct facet_tile_list_step *step = &w->play->plan->steps[by];

    facet_strbuf_printf(out, "commands[%u] %s", (unsigned)step->index, step->name);
}

/* The pixel's bytes as the host, or a core (UINT32_MAX: none), sees them. */
static uint32_t pixel_bytes(const struct facet_tile_list_pixel *w, uint32_t core)
{
    const struct facet_raster_probe *p = &w->history.probe;
    uint8_t bytes[4] = {0};

    (void)facet_machine_read(w->play->machine, 0, p->address, bytes, p->size, NULL);
    if (core != UINT32_MAX) {
        (void)facet_tile_core_view(w->play->machine, core, p->address, bytes, p->size);
    }
    return facet_load_le32(bytes);
}

static void note_memory(void *context, const struct facet_memory_event *event)
{
    struct facet_tile_list_pixel *w = context;
    const struct facet_raster_probe *p = &w->history.probe;
    struct facet_raster_entry *entry;
    uint8_t stored[16], bytes[4] = {0};

    if (!event->write || event->space != 0 || event->address >= p->address + p->size ||
        p->address >= event->address + event->size) {
        return;
    }
    entry = facet_raster_history_add(&w->history, FACET_RASTER_ENTRY_STORE);
    if (entry == NULL) {
        return;
    }
    facet_store_le64(stored, event->value.lo);
    facet_store_le64(stored + 8, event->value.hi);
    entry->before = w->bytes;
    facet_store_le32(bytes, pixel_bytes(w, event->core));
    for (uint32_t i = 0; i < p->size; i++) {
        const uint64_t at = p->address + i - event->address;

        if (at < event->size) {
            bytes[i] = stored[at];
        }
    }
    entry->after = w->bytes = facet_load_le32(bytes);
    entry->writes = entry->replaces = true;
}

/* What came since the last instruction is this one's. */
static void note_retire(void *context, const struct facet_retire_event *event)
{
    struct facet_tile_list_pixel *w = context;

    for (; w->placed < w->history.entries.count; w->placed++) {
        struct facet_raster_entry *entry = facet_raster_history_at(&w->history, w->placed);

        entry->core = event->core;
        entry->pc = event->pc;
        entry->word = event->word;
        w->bytes = entry->writes ? entry->after : w->bytes;
    }
}

/* Whether a command other than a draw writes the pixel. */
static bool writes(const struct facet_tile_list_pixel *w, const struct facet_tile_command *c)
{
    const struct facet_raster_probe *p = &w->history.probe;

    return (c->opcode == FACET_TILE_CMD_WRITE_MEM || c->opcode == FACET_TILE_CMD_COPY_BUFFER) &&
           (p->address - c->arg[0] < 4 * (uint32_t)c->length || c->arg[0] - p->address < p->size) &&
           c->length != 0;
}

void facet_tile_list_pixel_done(struct facet_tile_list_pixel *w,
                                const struct facet_tile_list_step *step)
{
    const size_t index = (size_t)(step - w->play->plan->steps);
    const uint32_t now = pixel_bytes(w, UINT32_MAX);
    struct facet_raster_entry *entry;

    for (; w->placed < w->history.entries.count; w->placed++) {
        entry = facet_raster_history_at(&w->history, w->placed);
        w->bytes = entry->writes ? entry->after : w->bytes;
    }
    if (now != w->bytes ||
        (writes(w, &step->command) && w->play->statuses[index] == FACET_TILE_STATUS_OK)) {
        entry = facet_raster_history_add(&w->history, FACET_RASTER_ENTRY_WRITE);
        if (entry != NULL) {
            entry->by = index;
            entry->before = w->bytes;
            entry->after = now;
            entry->writes = entry->replaces = true;
        }
    }
    w->placed = w->history.entries.count;
    w->bytes = now;
}

enum facet_status facet_tile_list_pixel_start(struct facet_tile_list_pixel *w,
                                              const struct facet_tile_play *play,
                                              uint32_t x,
                                              uint32_t y,
                                              struct facet_error *err)
{
    const struct facet_tile_list *plan = play->plan;
    const uint32_t size = plan->frame.format == FACET_TILE_RGB565 ? 2 : 4;
    const struct facet_observer observer = {
        .context = w, .retire = note_retire, .memory = note_memory};

    *w = (struct facet_tile_list_pixel){.play = play, .x = x, .y = y};
    if (x >= plan->frame.width || y >= plan->frame.height) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "the pixel is %u,%u; expected X,Y from the top left, below %u,%u",
                          (unsigned)x,
                          (unsigned)y,
                          (unsigned)plan->frame.width,
                          (unsigned)plan->frame.height);
    }
    if (facet_symbols_of(&w->symbols, plan->program, err) != FACET_OK) {
        return FACET_ERR_MEMORY;
    }
    facet_raster_history_start(
        &w->history, plan->frame.address + y * plan->frame.stride + x * size, size);
    w->history.asks = asks;
    w->history.context = w;
    w->bytes = pixel_bytes(w, UINT32_MAX);
    facet_tile_probe(play->machine, &w->history.probe);
    return facet_machine_observe(play->machine, &observer);
}

void facet_tile_list_pixel_end(struct facet_tile_list_pixel *w)
{
    (void)facet_machine_observe(w->play->machine, NULL);
    facet_tile_probe(w->play->machine, NULL);
}

void facet_tile_list_pixel_free(struct facet_tile_list_pixel *w)
{
    facet_symbols_free(&w->symbols);
    facet_raster_history_free(&w->history);
}

void facet_tile_list_pixel_put(const struct facet_tile_list_pixel *w,
                               struct facet_record *r,
                               bool full)
{
    const struct facet_raster_probe *p = &w->history.probe;
    const char *format = w->play->plan->frame.format == FACET_TILE_RGB565 ? "RGB565" : "ARGB8888";
    const struct facet_tile_list_names names = {name, w, &w->symbols};
    const int64_t at[2] = {w->x, w->y};

    if (r->json) {
        facet_record_numbers(r, "pixel", at, 2);
        facet_record_word(r, "format", format);
        facet_record_hex(r, "address", p->address, 8);
        facet_record_hex(r, "value", pixel_bytes(w, UINT32_MAX), 2 * p->size);
    } else {
        facet_record_say(r,
                         "pixel %u,%u at 0x%08x: 0x%0*x (%s)",
                         (unsigned)w->x,
                         (unsigned)w->y,
                         (unsigned)p->address,
                         (int)(2 * p->size),
                         (unsigned)pixel_bytes(w, UINT32_MAX),
                         format);
    }
    facet_tile_list_pixel_record(r, &w->history, &names, full);
}
