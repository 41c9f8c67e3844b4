/* What draws did to a pixel, in words and numbers. Rules are sections of tile-semantics.md. */
#include "raster/history.h"
#include "raster/internal.h"

static const struct {
    const char *key, *text;
} fates[FACET_RASTER_FATES] = {
    [FACET_RASTER_FATE_WRITTEN] = {"written", "written"},
    [FACET_RASTER_FATE_DEPTH] = {"depth", "refused by the depth test"},
    [FACET_RASTER_FATE_MEMORY] = {"memory", "skipped: its depth lies outside VRAM"},
    [FACET_RASTER_FATE_OUTSIDE] = {"outside", "covered, but outside the clip rectangle"},
    [FACET_RASTER_FATE_CULLED] = {"culled", "covered, but culled"},
    [FACET_RASTER_FATE_CLIPPED] = {"clipped", "covered, but clipped away"},
    [FACET_RASTER_FATE_TIE] = {"rule", "on an edge that is neither top nor left"},
    [FACET_RASTER_FATE_EDGE] = {"edge", "not covered"},
    [FACET_RASTER_FATE_EMPTY] = {"empty", "covering no pixel centre"},
    [FACET_RASTER_FATE_RANGE] = {"range", "out of range"},
    [FACET_RASTER_FATE_BEHIND] = {"behind", "behind the eye"},
    [FACET_RASTER_FATE_INDEX] = {"index", "with a vertex outside VRAM"},
};

static const char *const cuts[FACET_RASTER_CUTS] = {
    [FACET_RASTER_CUT_FRAME] = "framebuffer",
    [FACET_RASTER_CUT_SCISSOR] = "scissor",
    [FACET_RASTER_CUT_VIEWPORT] = "viewport",
    [FACET_RASTER_CUT_DRAW_SCISSOR] = "GSTATE scissor",
    [FACET_RASTER_CUT_RECTANGLE] = "rectangle",
};

static const char *const planes[] = {"w", "near", "far", "left", "right", "bottom", "top", "user"};

/* One bit each for <, = and >. */
static const char *const functions[8] = {"never", "<", "=", "<=", ">", "!=", ">=", "always"};

static const char *const blends[] = {[FACET_TILE_RSTATE_BLEND_OPAQUE] = "opaque",
                                     [FACET_TILE_RSTATE_BLEND_ALPHA] = "alpha",
                                     [FACET_TILE_RSTATE_BLEND_ADDITIVE] = "additive"};

const char *facet_raster_fate_name(enum facet_raster_fate fate)
{
    return fates[fate].text;
}

/* The words of a mask, " and " between them in text. */
static void record_mask(struct facet_record *r,
                        const char *key,
                        uint32_t mask,
                        const char *const *names,
                        unsigned count)
{
    const char *between = "";

    if (r->json) {
        facet_record_list(r, key);
    }
    for (unsigned i = 0; i < count; i++) {
        if ((mask >> i & 1) == 0) {
            continue;
        }
        if (r->json) {
            facet_record_word(r, NULL, names[i]);
        } else {
            facet_record_say(r, "%s%s", between, names[i]);
        }
        between = " and ";
    }
    if (r->json) {
        facet_record_close(r);
    }
}

/* ---- a line ---- */

/* "depth 0x4ccc less 0xffff" */
static void say_depth(struct facet_record *r,
                      const struct facet_raster_fact *f,
                      const struct facet_raster_probe_draw *d)
{
    if (f->depth_tested) {
        facet_record_say(r,
                         ", depth 0x%0*x %s 0x%0*x",
                         (int)(2 * d->depth_bytes),
                         (unsigned)f->depth_value,
                         functions[d->depth_func],
                         (int)(2 * d->depth_bytes),
                         (unsigned)f->depth_stored);
    }
}

static unsigned worst_edge(const struct facet_raster_fact *f)
{
    unsigned worst = 0;

    for (unsigned i = 1; i < 3; i++) {
        worst = f->edge[i] + f->bias[i] < f->edge[worst] + f->bias[worst] ? i : worst;
    }
    return worst;
}

static void say_fact(struct facet_record *r,
                     const struct facet_raster_fact *f,
                     const struct facet_raster_probe_draw *d)
{
    if (d->kind != FACET_RASTER_PART_RRECT) {
        facet_record_say(r, "triangle %u%s ", (unsigned)f->triangle, f->part ? " (clipped)" : "");
    }
    switch (f->fate) {
    case FACET_RASTER_FATE_OUTSIDE:
        facet_record_say(
            r, "%soutside the ", d->kind != FACET_RASTER_PART_RRECT ? "covers it, but it is " : "");
        record_mask(r, NULL, d->excludes, cuts, FACET_RASTER_CUTS);
        break;
    case FACET_RASTER_FATE_CLIPPED:
        facet_record_say(r, "covers it with a part that is clipped away, plane ");
        record_mask(r, NULL, f->planes, planes, 8);
        break;
    case FACET_RASTER_FATE_EDGE:
        facet_record_say(r, "%.3g pixels outside edge %u", (double)f->miss, worst_edge(f));
        break;
    case FACET_RASTER_FATE_TIE:
        facet_record_say(r, "not covered: on edge %u, neither top nor left", worst_edge(f));
        break;
    default:
        facet_record_say(r, "%s", fates[f->fate].text);
        break;
    }
    say_depth(r, f, d);
    if (f->fate == FACET_RASTER_FATE_WRITTEN && d->textured) {
        facet_record_say(r, ", texel 0x%08x", (unsigned)f->texel);
    }
    if (f->fate == FACET_RASTER_FATE_WRITTEN && d->blend != FACET_TILE_RSTATE_BLEND_OPAQUE) {
        facet_record_say(r, ", blended %s 0x%08x", blends[d->blend], (unsigned)f->source);
        if (f->before == f->after) {
            facet_record_say(r, ", which changes nothing");
        }
    }
}

/* The fact that settled it: the last write, else the last that covered the pixel. */
static const struct facet_raster_fact *telling(const struct facet_raster_entry *e)
{
    const struct facet_raster_fact *facts = e->facts.items;

    for (size_t i = e->facts.count; i-- > 0;) {
        if (facts[i].fate == FACET_RASTER_FATE_WRITTEN) {
            return &facts[i];
        }
    }
    return e->facts.count != 0 ? &facts[e->facts.count - 1] : NULL;
}

static void say_brief(struct facet_record *r, const struct facet_raster_entry *e)
{
    const struct facet_raster_fact *f = telling(e);
    const char *lead = f != NULL ? "; " : "";
    uint64_t all = 0;

    if (f != NULL) {
        say_fact(r, f, &e->draw);
    }
    for (unsigned i = 0; i < FACET_RASTER_FATES; i++) {
        all += e->count[i];
    }
    for (unsigned i = 0; i < FACET_RASTER_FATES; i++) {
        const uint64_t count = e->count[i] - (f != NULL && f->fate == i);

        if (count != 0 && (all > 1 || e->closest.miss == 0)) {
            facet_record_say(r, "%s%llu %s", lead, (unsigned long long)count, fates[i].text);
            lead = ", ";
        }
    }
    if (f == NULL && e->closest.miss > 0) {
        facet_record_say(r, "%s", all > 1 ? "; the closest: " : "not covered: ");
        say_fact(r, &e->closest, &e->draw);
    }
    if (all == 0) {
        facet_record_say(r, "no triangle");
    }
}

/* ---- everything ---- */

static void record_triangle(struct facet_record *r, const struct facet_raster_fact *f)
{
    static const char *const names[3] = {"from 1 to 2", "from 2 to 0", "from 0 to 1"};

    facet_record_list(r, "corners");
    for (unsigned i = 0; i < 3; i++) {
        const int64_t xy[2] = {f->corner[i][0], f->corner[i][1]};

        facet_record_line(r, "corner", i == 0 ? "16.2" : NULL);
        if (!r->json) {
            facet_record_say(r, "%u  at (%.8g, %.8g)", i, (double)xy[0] / 256, (double)xy[1] / 256);
        } else {
            facet_record_numbers(r, NULL, xy, 2);
        }
    }
    facet_record_close(r);
    facet_record_list(r, "edges");
    for (unsigned i = 0; i < 3; i++) {
        facet_record_line(r, "edge", i == 0 ? "16.3" : NULL);
        facet_record_open(r, NULL, NULL);
        if (!r->json) {
            facet_record_say(r, "%u %s", i, names[i]);
        }
        facet_record_number(r, "value", f->edge[i]);
        facet_record_bool(r, "top_left", f->bias[i] == 0);
        facet_record_bool(r, "inside", f->edge[i] + f->bias[i] >= 0);
        facet_record_close(r);
    }
    facet_record_close(r);
    facet_record_line(r, "area", NULL);
    facet_record_number(r, "twice", f->area);
}

static void record_depth(struct facet_record *r,
                         const struct facet_raster_fact *f,
                         const struct facet_raster_probe_draw *d)
{
    if (!f->depth_tested) {
        return;
    }
    facet_record_line(r, "depth", "16.6");
    facet_record_open(r, "depth", NULL);
    facet_record_float(r, "z", f->z);
    facet_record_hex(r, "value", f->depth_value, 2 * d->depth_bytes);
    facet_record_word(r, "function", functions[d->depth_func]);
    facet_record_hex(r, "stored", f->depth_stored, 2 * d->depth_bytes);
    facet_record_bool(r, "passes", f->fate == FACET_RASTER_FATE_WRITTEN);
    facet_record_bool(r, "written", f->fate == FACET_RASTER_FATE_WRITTEN && d->depth_write);
    facet_record_close(r);
}

static void record_texture(struct facet_record *r,
                           const struct facet_raster_fact *f,
                           const struct facet_raster_probe_draw *d)
{
    facet_record_line(r, "texture", "16.5");
    facet_record_open(r, "texture", NULL);
    facet_record_word(r, "filter", d->bilinear ? "bilinear" : "nearest");
    if (d->kind != FACET_RASTER_PART_RRECT) {
        facet_record_float(r, "u", f->u);
        facet_record_float(r, "v", f->v);
    }
    facet_record_list(r, "taps");
    for (uint32_t i = 0; i < f->tap_count; i++) {
        facet_record_line(r, "tap", NULL);
        facet_record_open(r, NULL, NULL);
        facet_record_hex(r, "address", f->tap[i].address, 8);
        facet_record_hex(r, "bits", f->tap[i].value, 2 * f->tap[i].size);
        facet_record_close(r);
    }
    facet_record_close(r);
    if (d->kind != FACET_RASTER_PART_RRECT) {
        facet_record_line(r, "texel", NULL);
        facet_record_hex(r, "texel", f->texel, 8);
    }
    facet_record_close(r);
}

static void record_color(struct facet_record *r,
                         const struct facet_raster_fact *f,
                         const struct facet_raster_probe_draw *d)
{
    if (d->kind != FACET_RASTER_PART_RRECT) {
        facet_record_line(r, "weights", "16.4");
        facet_record_float(r, "l1", f->weight[0]);
        facet_record_float(r, "l2", f->weight[1]);
        facet_record_line(r, "surface", NULL);
        facet_record_hex(r, "surface", f->surface, 8);
    }
    if (d->textured) {
        record_texture(r, f, d);
    }
    facet_record_line(r, "blend", "16.7");
    facet_record_open(r, "blend", NULL);
    facet_record_word(r, "mode", blends[d->blend]);
    facet_record_hex(r, "source", f->source, 8);
    if (d->blend != FACET_TILE_RSTATE_BLEND_OPAQUE) {
        facet_record_hex(r, "destination", f->destination, 8);
    }
    facet_record_hex(r, "result", f->blended, 8);
    facet_record_close(r);
}

static void record_fact(struct facet_record *r,
                        const struct facet_raster_fact *f,
                        const struct facet_raster_probe_draw *d)
{
    facet_record_open(r, NULL, "- ");
    if (r->json) {
        facet_record_word(r, "fate", fates[f->fate].key);
        if (d->kind != FACET_RASTER_PART_RRECT) {
            facet_record_number(r, "triangle", f->triangle);
            facet_record_bool(r, "part", f->part);
        }
        if (f->fate == FACET_RASTER_FATE_CLIPPED) {
            record_mask(r, "planes", f->planes, planes, 8);
        }
        if (f->miss > 0) {
            facet_record_float(r, "miss", f->miss);
        }
    } else {
        say_fact(r, f, d);
    }
    if (f->placed) {
        record_triangle(r, f);
    }
    record_depth(r, f, d);
    if (f->fate == FACET_RASTER_FATE_WRITTEN) {
        record_color(r, f, d);
    }
    facet_record_line(r, "bits", NULL);
    facet_record_hex(r, "before", f->before, 2 * d->color_bytes);
    facet_record_hex(r, "after", f->after, 2 * d->color_bytes);
    facet_record_close(r);
}

static void record_cuts(struct facet_record *r, const struct facet_raster_probe_draw *d)
{
    facet_record_list(r, "cuts");
    for (unsigned i = 0; i < FACET_RASTER_CUTS; i++) {
        const struct facet_raster_cut_box *c = &d->cut[i];
        const int64_t box[4] = {c->x0, c->y0, c->x1, c->y1};

        if ((d->cuts >> i & 1) == 0) {
            continue;
        }
        facet_record_line(r, "cut", "16.3");
        facet_record_open(r, NULL, NULL);
        facet_record_word(r, "by", cuts[i]);
        facet_record_numbers(r, "box", box, 4);
        facet_record_bool(r, "outside", (d->excludes >> i & 1) != 0);
        facet_record_close(r);
    }
    facet_record_close(r);
}

void facet_raster_record_draw(struct facet_record *r,
                              const struct facet_raster_entry *entry,
                              bool full)
{
    const struct facet_raster_probe_draw *d = &entry->draw;
    const int64_t at[2] = {d->x, d->y};
    const struct facet_raster_fact *facts = entry->facts.items;

    if (!r->json) {
        say_brief(r, entry);
        if (!full) {
            return;
        }
    } else {
        facet_record_numbers(r, "at", at, 2);
        facet_record_open(r, "triangles", NULL);
        for (unsigned i = 0; i < FACET_RASTER_FATES; i++) {
            facet_record_number(r, fates[i].key, (int64_t)entry->count[i]);
        }
        facet_record_close(r);
    }
    record_cuts(r, d);
    facet_record_list(r, "facts");
    for (size_t i = 0; i < entry->facts.count; i++) {
        record_fact(r, &facts[i], d);
    }
    if (entry->facts.count == 0 && entry->closest.miss > 0) {
        record_fact(r, &entry->closest, d);
    }
    facet_record_close(r);
}
