/* See pixel.h. */
#include "report/pixel.h"

#include "base/float.h"
#include "gfx12/ask/explain.h"
#include "gfx12/image/view.h"
#include "gfx12/steps.h"
#include "object/symbols.h"
#include "rt_image/image.h"
#include "tile_list/pixel.h"
#include "xphmg/rt/explain.h"

#include <facet/isa.h>
#include <facet/tile.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BRIEF_ROWS = 12 }; /* of rays or samples on one screen */

/* ---- rays ---- */

static void
record_hit(struct facet_record *r, const struct report_pixel *p, const struct facet_shade_hit *hit)
{
    const bool found = hit->instance != FACET_SCENE_NONE;
    const bool known = found && hit->instance < p->scene->instance_count;

    if (!found) {
        facet_record_word(r, "hit", "nothing");
        return;
    }
    facet_record_number(r, "instance", hit->instance);
    if (known) {
        const struct facet_scene_mesh *mesh =
            &p->scene->meshes[p->scene->instances[hit->instance].mesh];

        facet_record_word(r, "mesh", mesh->name);
    }
    facet_record_number(r, "triangle", hit->triangle);
    facet_record_float(r, "t", hit->t);
    facet_record_bool(r, "back", hit->back);
}

static void record_ray(struct facet_record *r,
                       const struct report_pixel *p,
                       const struct facet_render_seen *seen,
                       bool full)
{
    facet_record_line(r, facet_render_ray_kind_name(seen->kind), NULL);
    facet_record_open(r, NULL, NULL);
    if (r->json) {
        facet_record_word(r, "kind", facet_render_ray_kind_name(seen->kind));
        facet_record_vector(r, "origin", NULL, seen->ray.origin, 3);
        facet_record_vector(r, "direction", NULL, seen->ray.direction, 3);
        facet_record_float(r, "t_min", seen->ray.t_min);
        facet_record_float(r, "t_max", seen->ray.t_max);
    } else {
        facet_record_say(r,
                         "from %.4g %.4g %.4g along %.4g %.4g %.4g",
                         (double)seen->ray.origin[0],
                         (double)seen->ray.origin[1],
                         (double)seen->ray.origin[2],
                         (double)seen->ray.direction[0],
                         (double)seen->ray.direction[1],
                         (double)seen->ray.direction[2]);
    }
    record_hit(r, p, &seen->hit);
    if (seen->hit.nodes != 0) {
        facet_record_number(r, "nodes", seen->hit.nodes);
        facet_record_number(r, "pairs", seen->hit.pairs);
    }
    if (full && !r->json) {
        facet_record_vector(r, "origin", NULL, seen->ray.origin, 3);
        facet_record_vector(r, "direction", NULL, seen->ray.direction, 3);
    }
    facet_record_close(r);
}

struct nodes {
    struct facet_record *record;
    uint64_t limit;
};

static void note_turn(void *context, const struct facet_gfx12_turn *turn)
{
    struct nodes *n = context;

    if (turn->number < n->limit) {
        facet_record_open(n->record, NULL, NULL);
        if (n->record->json) {
            facet_record_hex(n->record, "node", turn->steps.node, 8);
            facet_record_word(n->record, "kind", facet_gfx12_kind_name(turn->steps.kind));
        } else {
            facet_record_say(n->record,
                             "%s%s 0x%x",
                             turn->number == 0 ? "" : ", ",
                             facet_gfx12_kind_name(turn->steps.kind),
                             (unsigned)turn->steps.node);
        }
        facet_record_close(n->record);
    }
}

/* The nodes that the first ray visits, and with `full` everything that happened there. */
static void record_nodes(struct facet_record *r, const struct report_pixel *p, bool full)
{
    const struct facet_render_seen *seen = p->seen->rays.items;
    struct facet_gfx12_query query;
    struct facet_gfx12_unit unit;
    struct facet_gfx12_stats stats;
    struct facet_gfx12_hit hit;
    struct nodes nodes = {r, p->max_nodes};

    if (facet_render_bvh(p->render) == NULL || p->seen->rays.count == 0) {
        return;
    }
    facet_render_query(p->render, seen->kind, &seen->ray, &unit, &query);
    facet_record_line(r, "nodes", NULL);
    facet_record_list(r, "nodes");
    if (facet_gfx12_trace_watched(&unit, &query, note_turn, &nodes, &hit, &stats, NULL) !=
        FACET_OK) {
        r->text.failed = true; /* memory: the same ray has just been traced */
    } else if (!r->json && stats.steps > p->max_nodes) {
        facet_record_say(r, " and %llu more", (unsigned long long)(stats.steps - p->max_nodes));
    }
    facet_record_close(r);
    if (full) {
        facet_record_list(r, "traversal");
        r->text.failed |=
            facet_gfx12_record_trace(r, &unit, &query, p->max_nodes, NULL, NULL, NULL) != FACET_OK;
        facet_record_close(r);
    }
}

/* ---- the same on the hart ---- */

struct entries {
    struct facet_record *record;
    const struct facet_xphmg_rt_why_query *query;
    uint64_t count, limit;
    bool full; /* every event, not only what comes from the stack */
};

static void note_entry(void *context, const struct facet_xphmg_rt_event *event, uint64_t offset)
{
    struct entries *e = context;
    const bool pop = event->kind == FACET_XPHMG_RT_EVENT_POP;

    e->count += pop;
    if (e->count > e->limit || !(pop || e->full)) {
        return;
    }
    if (e->full) {
        facet_xphmg_rt_record_event(e->record, e->query, event, offset);
        return;
    }
    facet_record_open(e->record, NULL, NULL);
    if (e->record->json) {
        facet_record_word(e->record, "kind", event->entry.type == FACET_RT_LEAF ? "leaf" : "node");
        facet_record_number(e->record, "index", event->entry.index);
        facet_record_bool(e->record, "entered", event->entered);
    } else {
        facet_record_say(e->record,
                         "%s%s %u%s",
                         e->count == 1 ? "" : ", ",
                         event->entry.type == FACET_RT_LEAF ? "leaf" : "node",
                         (unsigned)event->entry.index,
                         event->entered ? "" : " (behind the hit)");
    }
    facet_record_close(e->record);
}

/* Facet's rays end before t_max and begin after t_min; those of XPHMG_RT include both, and the
 * program on the hart asks for the same (guest/render). */
static void element_ray(const struct facet_shade_ray *ray, struct facet_xphmg_rt_why_query *query)
{
    for (unsigned i = 0; i < 3; i++) {
        query->ray[i] = facet_float_bits(ray->origin[i]);
        query->ray[3 + i] = facet_float_bits(ray->direction[i]);
    }
    query->ray[6] = facet_float_bits(nextafterf(ray->t_min, INFINITY));
    query->ray[7] =
        facet_float_bits(ray->t_max < INFINITY ? nextafterf(ray->t_max, 0.0F) : ray->t_max);
    query->ray[8] = facet_float_bits(1.0F);
}

/* What a job of XSUBMIT.RT visits for the first ray, and with `full` every value there. */
static void record_entries(struct facet_record *r, const struct report_pixel *p, bool full)
{
    const struct facet_render_seen *seen = p->seen->rays.items;
    struct facet_rtbvh_view view;
    struct facet_xphmg_rt_why_query query = {.view = &view};
    struct facet_xphmg_rt_why_result result;
    uint64_t size = 0;
    const uint8_t *image = facet_render_rt_image(p->render, &size);

    if (image == NULL || p->seen->rays.count == 0) {
        return;
    }
    element_ray(&seen->ray, &query);
    r->text.failed |= facet_rtbvh_open(image, size, &view, NULL) != FACET_OK;
    for (unsigned pass = 0; pass < (full ? 2 : 1) && !r->text.failed; pass++) {
        struct entries entries = {r, &query, 0, p->max_nodes, pass == 1};

        if (pass == 0) {
            facet_record_line(r, "nodes", NULL);
        }
        facet_record_list(r, pass == 0 ? "nodes" : "traversal");
        r->text.failed |=
            facet_xphmg_rt_why_trace(&query, note_entry, &entries, &result, NULL) != FACET_OK;
        facet_record_close(r);
        if (pass == 0 && r->json) {
            facet_record_open(r, "tested", NULL);
            facet_record_number(r, "boxes", result.boxes);
            facet_record_number(r, "triangles", result.triangles);
            facet_record_close(r);
        } else if (pass == 0) {
            if (entries.count > p->max_nodes) {
                facet_record_say(
                    r, " and %llu more", (unsigned long long)(entries.count - p->max_nodes));
            }
            facet_record_say(r,
                             "; %llu boxes and %llu triangles tested",
                             (unsigned long long)result.boxes,
                             (unsigned long long)result.triangles);
        }
    }
}

static void record_rays(struct facet_record *r, const struct report_pixel *p, bool full)
{
    const struct facet_render_seen *seen = p->seen->rays.items;
    const size_t count =
        full || r->json || p->seen->rays.count <= BRIEF_ROWS ? p->seen->rays.count : BRIEF_ROWS;

    facet_record_list(r, "rays");
    for (size_t i = 0; i < count; i++) {
        record_ray(r, p, &seen[i], full);
    }
    facet_record_close(r);
    if (count < p->seen->rays.count) {
        facet_record_line(r, NULL, NULL);
        facet_record_say(r, "... and %zu more rays (--full)", p->seen->rays.count - count);
    }
    record_nodes(r, p, full);
    record_entries(r, p, full);
}

/* ---- instructions ---- */

void report_pixel_find_entry(struct facet_render_pixel *pixel, bool rasterizes)
{
    struct facet_symbols symbols = {0};

    if (pixel->elf == NULL) {
        return;
    }
    if (facet_symbols_read(&symbols, pixel->elf, pixel->elf_bytes, NULL) != FACET_OK) {
        pixel->failed = true; /* Facet's own program is not damaged */
        return;
    }
    for (size_t i = 0; i < symbols.object->symbol_count; i++) {
        const struct facet_object_symbol *symbol = &symbols.object->symbols[i];

        if (!rasterizes && strcmp(symbol->name, "trace") == 0) {
            pixel->entry = symbol->value;
        } else if (rasterizes && strcmp(symbol->name, "bucket") == 0) {
            pixel->bucket = symbol->value;
        }
    }
    facet_symbols_free(&symbols);
}

/* A copy by the C library is more interesting where it was asked for. */
static bool is_copy(const struct facet_symbols *symbols, uint64_t pc)
{
    const struct facet_object_symbol *symbol = facet_symbols_find(symbols, pc);

    return symbol != NULL &&
           (strcmp(symbol->name, "memcpy") == 0 || strcmp(symbol->name, "memmove") == 0);
}

static bool last_of_channel(const struct facet_render_store *stores, size_t count, size_t i)
{
    for (size_t k = i + 1; k < count; k++) {
        if (stores[k].channel == stores[i].channel) {
            return false;
        }
    }
    return true;
}

static void record_stores(struct facet_record *r, const struct report_pixel *p, bool full)
{
    static const char *const channels[3] = {"red", "green", "blue"};
    const struct facet_render_store *stores = p->seen->stores.items;
    struct facet_symbols symbols = {0};

    if (p->seen->elf == NULL) {
        return;
    }
    r->text.failed |=
        facet_symbols_read(&symbols, p->seen->elf, p->seen->elf_bytes, NULL) != FACET_OK;
    facet_record_list(r, "stores");
    for (size_t i = 0; i < p->seen->stores.count; i++) {
        const struct facet_render_store *s = &stores[i];
        const bool last = last_of_channel(stores, p->seen->stores.count, i);
        struct facet_strbuf place;
        char text[96] = "";

        if (!last && !full && !r->json) {
            continue;
        }
        facet_strbuf_init(&place);
        facet_symbols_print(&symbols, s->pc, &place);
        if (is_copy(&symbols, s->pc)) {
            facet_strbuf_puts(&place, ", called by");
            facet_symbols_print(&symbols, s->back - 1, &place);
        }
        (void)facet_isa_print_word(FACET_ISA_XPHMG, s->word, s->pc, text, sizeof text);
        facet_record_line(r, channels[s->channel], NULL);
        facet_record_open(r, NULL, NULL);
        if (r->json) {
            facet_record_word(r, "channel", channels[s->channel]);
            facet_record_hex(r, "pc", s->pc, 8);
            facet_record_hex(r, "word", s->word, 8);
            facet_record_word(r, "instruction", text);
            facet_record_word(r, "place", facet_strbuf_text(&place));
            facet_record_f32(r, "before", s->before);
            facet_record_f32(r, "after", s->after);
            facet_record_bool(r, "final", last);
        } else {
            facet_record_say(r,
                             "0x%08x -> 0x%08x  by 0x%llx%s: %s",
                             (unsigned)s->before,
                             (unsigned)s->after,
                             (unsigned long long)s->pc,
                             facet_strbuf_text(&place),
                             text);
        }
        facet_record_close(r);
        r->text.failed |= place.failed;
        facet_strbuf_free(&place);
    }
    facet_record_close(r);
    facet_symbols_free(&symbols);
}

/* The mesh of an instance, for people. */
static const char *mesh_name(const struct report_pixel *p, uint32_t instance)
{
    return instance < p->scene->instance_count
               ? p->scene->meshes[p->scene->instances[instance].mesh].name
               : "";
}

static void record_fragment(struct facet_record *r,
                            const struct report_pixel *p,
                            const struct facet_symbols *symbols,
                            const struct facet_render_fragment *f,
                            bool last)
{
    struct facet_strbuf place;
    char text[96] = "";

    facet_strbuf_init(&place);
    facet_symbols_print(symbols, f->pc, &place);
    (void)facet_isa_print_word(FACET_ISA_XPHMG, f->word, f->pc, text, sizeof text);
    facet_record_line(r, "sample", NULL);
    facet_record_open(r, NULL, NULL);
    if (r->json) {
        facet_record_number(r, "sample", f->sample);
        if (f->instance != FACET_SCENE_NONE) {
            facet_record_number(r, "instance", f->instance);
            facet_record_word(r, "mesh", mesh_name(p, f->instance));
            facet_record_number(r, "triangle", f->triangle);
            facet_record_f32(r, "depth", f->depth);
        }
        facet_record_vector(r, "light", NULL, f->light, 3);
        facet_record_hex(r, "pc", f->pc, 8);
        facet_record_hex(r, "word", f->word, 8);
        facet_record_word(r, "instruction", text);
        facet_record_word(r, "place", facet_strbuf_text(&place));
        facet_record_bool(r, "final", last);
    } else {
        facet_record_say(r, "%u: ", (unsigned)f->sample);
        if (f->instance == FACET_SCENE_NONE) {
            facet_record_say(r, "the sky");
        } else {
            facet_record_say(r,
                             "instance %u  mesh %s  triangle %u  depth 0x%08x",
                             (unsigned)f->instance,
                             mesh_name(p, f->instance),
                             (unsigned)f->triangle,
                             (unsigned)f->depth);
        }
        facet_record_say(r,
                         "  light %.4g %.4g %.4g%s  by 0x%llx%s: %s",
                         (double)f->light[0],
                         (double)f->light[1],
                         (double)f->light[2],
                         last ? "" : ", overwritten",
                         (unsigned long long)f->pc,
                         facet_strbuf_text(&place),
                         text);
    }
    facet_record_close(r);
    r->text.failed |= place.failed;
    facet_strbuf_free(&place);
}

/* The rasteriser on the hart: what each sample got, without `full` only what stayed. */
static void record_fragments(struct facet_record *r, const struct report_pixel *p, bool full)
{
    const struct facet_render_fragment *f = p->seen->fragments.items;
    const size_t count = p->seen->fragments.count;
    struct facet_symbols symbols = {0};
    size_t shown = 0, left = 0;

    if (count == 0) {
        return;
    }
    r->text.failed |=
        facet_symbols_read(&symbols, p->seen->elf, p->seen->elf_bytes, NULL) != FACET_OK;
    facet_record_list(r, "fragments");
    for (size_t i = 0; i < count; i++) {
        const bool last = i + 1 == count || f[i + 1].sample != f[i].sample;

        if (full || r->json || (last && shown < BRIEF_ROWS)) {
            record_fragment(r, p, &symbols, &f[i], last);
            shown++;
        } else {
            left += last;
        }
    }
    facet_record_close(r);
    if (left != 0) {
        facet_record_line(r, NULL, NULL);
        facet_record_say(r, "... and %zu more samples (--full)", left);
    }
    facet_symbols_free(&symbols);
}

/* ---- the tile machine ---- */

static void name_command(const void *context, uint64_t by, struct facet_strbuf *out)
{
    const struct report_pixel *p = context;
    const struct facet_render_command *commands = p->seen->commands.items;
    uint32_t instance;

    if (by >= p->seen->commands.count) {
        facet_strbuf_printf(out, "command %llu", (unsigned long long)by);
        return;
    }
    facet_strbuf_printf(out,
                        "command %llu %s",
                        (unsigned long long)by,
                        facet_tile_opcode_name(commands[by].opcode));
    instance = commands[by].instance;
    if (instance < p->scene->instance_count) {
        facet_strbuf_printf(out, " of instance %u", (unsigned)instance);
    }
}

static void record_places(struct facet_record *r, const struct report_pixel *p, bool full)
{
    const struct facet_tile_list_names names = {name_command, p, NULL};

    if (p->seen->places == 0) {
        return;
    }
    facet_record_list(r, "frame");
    for (uint32_t i = 0; i < p->seen->places; i++) {
        const struct facet_raster_history *history = &p->seen->history[i];
        const struct facet_raster_entry *last = facet_raster_history_last(history);

        facet_record_open(r, NULL, NULL);
        if (r->json) {
            facet_record_hex(r, "address", history->probe.address, 8);
            facet_record_hex(r, "value", last != NULL ? last->after : 0, 8);
        } else if (p->seen->places > 1) {
            facet_record_line(r, NULL, NULL);
            facet_record_say(r,
                             "sample %u of %u: 0x%08x",
                             (unsigned)i,
                             (unsigned)p->seen->places,
                             (unsigned)(last != NULL ? last->after : 0));
        }
        facet_tile_list_pixel_record(r, history, &names, full);
        facet_record_close(r);
    }
    facet_record_close(r);
}

/* ---- everything ---- */

void report_pixel_record(struct facet_record *r, const struct report_pixel *p, bool full)
{
    const struct facet_render_options *o = p->options;
    const int64_t at[2] = {p->seen->x, p->seen->y};
    const int64_t rgb[3] = {p->color[0], p->color[1], p->color[2]};

    facet_record_open(r, NULL, NULL);
    if (r->json) {
        facet_record_numbers(r, "pixel", at, 2);
        facet_record_word(r, "machine", o->machine->name);
        facet_record_numbers(r, "rgb", rgb, 3);
        facet_record_vector(r, "light", NULL, p->light, 3);
        if (p->nodes >= 0) {
            facet_record_float(r, "heat", p->nodes);
        }
    } else {
        facet_record_say(r,
                         "pixel %u,%u of %u x %u on %s: #%02x%02x%02x, light %.6g %.6g %.6g",
                         (unsigned)p->seen->x,
                         (unsigned)p->seen->y,
                         (unsigned)o->width,
                         (unsigned)o->height,
                         o->machine->name,
                         p->color[0],
                         p->color[1],
                         p->color[2],
                         (double)p->light[0],
                         (double)p->light[1],
                         (double)p->light[2]);
        if (p->nodes >= 0) {
            facet_record_line(r, "heat", NULL);
            facet_record_say(r, "%.6g nodes per primary ray", (double)p->nodes);
        }
    }
    if (!o->machine->rasterizes) {
        record_rays(r, p, full);
    }
    if (p->on_hart) {
        facet_record_line(r, NULL, NULL);
        facet_record_say(r, "drawn by the host's own code; the same sources on the hart:");
    }
    record_fragments(r, p, full);
    record_stores(r, p, full);
    record_places(r, p, full);
    if (o->machine->rasterizes && p->seen->elf == NULL && p->seen->places == 0 && !r->json) {
        facet_record_line(r, NULL, NULL);
        facet_record_say(r, "drawn by the host's own code; this facet has no program for the hart");
    }
    facet_record_close(r);
}
