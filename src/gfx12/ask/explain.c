/* See explain.h. Rules are sections of gfx12-semantics.md. */
#include "gfx12/ask/explain.h"

#include "base/error.h"
#include "gfx12/image/walk.h"
#include "num/f32.h"

#include <inttypes.h>

/* ---- rays and boxes ---- */

static void put_ray(struct facet_record *r, const char *key, const struct facet_gfx12_ray *ray)
{
    facet_record_open(r, key, NULL);
    facet_record_vector(r, "origin", NULL, ray->origin, 3);
    facet_record_vector(r, "direction", NULL, ray->direction, 3);
    facet_record_line(r, "limits", NULL);
    facet_record_float(r, "extent", ray->extent);
    facet_record_hex(r, "mask", ray->instance_mask, 2);
    facet_record_close(r);
}

/* Intermediate values. The bits of a NaN among them may differ between hosts, which matters only
 * where they are shown, as here (section 1 rule 3). Quotients have their own rule and are shown as
 * they are. */
static void put_float(struct facet_record *r, const char *key, float value)
{
    facet_record_float(r, key, f32_canonical(value));
}

static void
put_vector(struct facet_record *r, const char *key, const char *rule, const float value[3])
{
    const float shown[] = {
        f32_canonical(value[0]), f32_canonical(value[1]), f32_canonical(value[2])};

    facet_record_vector(r, key, rule, shown, 3);
}

static void put_vec(struct facet_record *r, const char *key, struct facet_gfx12_vec v)
{
    put_vector(r, key, NULL, (const float[]){v.x, v.y, v.z});
}

static void put_triple(struct facet_record *r, const char *key, int64_t a, int64_t b, int64_t c)
{
    facet_record_numbers(r, key, (const int64_t[]){a, b, c}, 3);
}

static void put_child(struct facet_record *r,
                      unsigned i,
                      const struct facet_gfx12_child *stored,
                      const struct facet_gfx12_child_steps *c)
{
    const struct facet_gfx12_slab *slab = &c->slab.slab;

    facet_record_open(r, NULL, "child %u", i);
    facet_record_hex(r, "id", c->id, 8);
    facet_record_number(r, "type", stored->node_type);
    facet_record_number(r, "size", stored->node_size);
    facet_record_hex(r, "cull_mask", stored->cull_mask, 2);
    facet_record_hex(r, "cull_flags", stored->cull_flags, 1);
    facet_record_say(r, "  (4.1)");
    facet_record_line(r, "planes", "5.2: far plane is q_max + 1");
    put_triple(r, "q_min", stored->min[0], stored->min[1], stored->min[2]);
    put_triple(r, "q_max", stored->max[0], stored->max[1], stored->max[2]);
    facet_record_vector(r, "lo", "5.2", c->lo, 3);
    facet_record_vector(r, "hi", "5.2", c->hi, 3);
    facet_record_line(r, NULL, "9.2 step 2");
    facet_record_word(r, "cull", facet_gfx12_cull_name(c->cull));
    put_vector(r, "lo_minus_o", "9.2 step 4", c->slab.lo_o);
    put_vector(r, "hi_minus_o", "9.2 step 4", c->slab.hi_o);
    put_vector(r, "near", "9.2 step 4", c->slab.near);
    put_vector(r, "far", "9.2 step 4", c->slab.far);
    facet_record_line(r, "interval", "9.2 step 4");
    facet_record_float(r, "A", slab->enter);
    facet_record_float(r, "B", slab->leave);
    facet_record_float(r, "min_t", slab->min_t);
    facet_record_float(r, "max_t", slab->max_t);
    facet_record_line(r, slab->hit ? "hit" : "miss", "9.2 step 5");
    facet_record_say(r, "  min_t %s max_t * g:", slab->hit ? "<=" : "is not <=");
    put_float(r, "max_t_grown", slab->limit);
    if (r->json) {
        facet_record_bool(r, "hit", slab->hit);
    }
    if (c->duplicate) {
        facet_record_line(r, "same ID as the slot before: removed,", "9.2 step 7");
    }
    facet_record_bool(r, "duplicate", c->duplicate);
    facet_record_line(r, "sorted", "9.3");
    facet_record_hex(r, "slot", c->slot.id, 8);
    facet_record_number(r, "ext", c->slot.ext);
    put_float(r, "key", c->slot.key);
    facet_record_number(r, "place", c->place);
    facet_record_close(r);
}

static void put_children(struct facet_record *r,
                         const struct facet_gfx12_steps *s,
                         const struct facet_gfx12_child *stored,
                         const uint32_t origin[3],
                         const uint8_t exponent[3])
{
    facet_record_vector(r, "grid_origin", NULL, origin, 3);
    facet_record_line(r, NULL, NULL);
    put_triple(r, "grid_exponent", exponent[0], exponent[1], exponent[2]);
    if (s->obb != FACET_GFX12_OBB_NONE) {
        facet_record_line(r, "oriented by matrix", "9.2 step 3");
        facet_record_number(r, "obb", s->obb);
    } else {
        facet_record_word(r, "obb", NULL);
    }
    facet_record_vector(r, "slab_origin", NULL, s->slab_ray.origin, 3);
    facet_record_vector(r, "slab_direction", NULL, s->slab_direction, 3);
    put_vector(r, "inverse", "9.2 step 3", s->slab_ray.inverse);
    facet_record_line(r, NULL, NULL);
    facet_record_float(r, "grow", s->slab_ray.grow);
    facet_record_list(r, "children");
    for (unsigned i = 0; i < s->count; i++) {
        put_child(r, i, &stored[i], &s->child[i]);
    }
    facet_record_close(r);
}

static void put_instance(struct facet_record *r, const struct facet_gfx12_steps *s)
{
    const struct facet_gfx12_instance *node = &s->instance;

    facet_record_vector(r, "world_to_object", NULL, node->world_to_object, 12);
    facet_record_line(r, "instance", NULL);
    facet_record_hex(r, "pointer", node->pointer, 16);
    facet_record_hex(r, "user_data", node->user_data, 6);
    facet_record_hex(r, "cull_mask", node->cull_mask, 2);
    facet_record_line(r, NULL, s->instance_cull != 0 ? "9.6: the ray is unchanged" : "9.6");
    facet_record_word(r, "cull", facet_gfx12_cull_name(s->instance_cull));
    facet_record_line(r, "below", "2.3");
    facet_record_hex(r, "merged_base", s->new_base, 16);
    facet_record_hex(r, "merged_flags", facet_gfx12_base_flags(s->new_base), 3);
    facet_record_line(r, "ray after the instruction", "9.6");
    put_ray(r, "ray_after", &s->after);
    if (s->instance_cull == 0) {
        put_children(r, s, node->child, node->origin, node->exponent);
    }
}

/* ---- primitives ---- */

static void put_test(struct facet_record *r, const struct facet_gfx12_tri_test_steps *t)
{
    put_vec(r, "e1", t->e1);
    put_vec(r, "e2", t->e2);
    put_vec(r, "e3", t->e3);
    put_vec(r, "s1", t->s1);
    put_vec(r, "s2", t->s2);
    facet_record_line(r, "terms", NULL);
    facet_record_float(r, "tn", t->terms.tn);
    facet_record_float(r, "det", t->terms.det);
    facet_record_float(r, "un", t->terms.un);
    facet_record_float(r, "vn", t->terms.vn);
    facet_record_line(r, "quotients", NULL);
    facet_record_float(r, "t", t->terms.t);
    facet_record_float(r, "u", t->terms.u);
    facet_record_float(r, "v", t->terms.v);
}

static void put_triangle(struct facet_record *r, const struct facet_gfx12_steps *s, unsigned k)
{
    const struct facet_gfx12_tri_steps *t = &s->tri[k];
    const struct facet_gfx12_pair_tri *d = &s->pair.desc.tri[k];
    const bool gone = k == 1 && facet_gfx12_tri_absent(d); /* whatever the unit makes of it */

    facet_record_open(r, NULL, "triangle %u", k);
    put_triple(r, "indices", d->index[0], d->index[1], d->index[2]);
    facet_record_bool(r, "absent", facet_gfx12_tri_absent(d));
    facet_record_bool(r, "procedural", t->procedural);
    facet_record_number(r, "primitive", s->pair.primitive_index[k]);
    facet_record_number(r, "geometry", s->pair.geometry_index[k]);
    facet_record_bool(r, "opaque", t->opaque);
    facet_record_bool(r, "double_sided", d->double_sided != 0);
    if (!t->procedural && !gone) {
        static const char *const corner[] = {"v0", "v1", "v2"};

        facet_record_list(r, "vertices");
        for (unsigned c = 0; c < 3; c++) {
            facet_record_vector(r, r->json ? NULL : corner[c], NULL, s->pair.vertex[k][c], 3);
        }
        facet_record_close(r);
        put_test(r, &t->test);
    }
    if (!t->procedural && (r->json || !gone)) {
        facet_record_line(r, NULL, "9.4");
        facet_record_say(r,
                         t->miss != NULL ? "miss: %s" : "hit: %s face",
                         t->miss != NULL ? t->miss
                         : t->front      ? "front"
                                         : "back");
        if (r->json) {
            facet_record_bool(r, "hit", t->miss == NULL);
            facet_record_word(r, "miss", t->miss);
            facet_record_bool(r, "front", t->front);
        }
    }
    facet_record_line(r, NULL, "9.4");
    facet_record_word(r, "cull", facet_gfx12_cull_name(t->cull));
    facet_record_close(r);
}

static void put_pair(struct facet_record *r, const struct facet_gfx12_steps *s)
{
    const unsigned navigation = s->pair.navigation;

    facet_record_line(r, "pair", "9.4");
    facet_record_number(r, "pair", facet_gfx12_id_pair(s->node));
    facet_record_number(r, "navigation", navigation);
    facet_record_say(r,
                     ": %s",
                     (navigation & 2) != 0 ? "the range ends"
                     : navigation == 1     ? "next node of the range"
                                           : "next pair");
    facet_record_list(r, "triangles");
    put_triangle(r, s, 0);
    put_triangle(r, s, 1);
    facet_record_close(r);
}

/* ---- nodes and turns ---- */

#define ADDRESS_MASK UINT64_C(0xFFFFFFFFFFFF) /* addresses wrap at 48 bits */

/* The members of a node, in the open object. */
static void put_node(struct facet_record *r, const struct facet_gfx12_steps *s)
{
    const uint64_t base = facet_gfx12_base_address(s->base);

    if (r->json) {
        facet_record_hex(r, "node", s->node, 8);
        facet_record_word(r, "kind", facet_gfx12_kind_name(s->kind));
    }
    facet_record_hex(r, "offset", facet_gfx12_id_offset(s->node), 0);
    facet_record_hex(r, "base", s->base, 16);
    facet_record_hex(r, "flags", s->flags, 3);
    facet_record_line(r, NULL, NULL);
    facet_record_hex(r, "address", (base + facet_gfx12_id_offset(s->node)) & ADDRESS_MASK, 0);
    if (s->no_node == NULL) {
        facet_record_hex(r, "image_offset", s->image_offset, 0);
    }
    put_ray(r, "ray", &s->ray);
    if (s->no_node != NULL) {
        facet_record_line(r, NULL, "9.8");
        facet_record_word(r, "no_node", s->no_node);
    } else if (s->kind == FACET_GFX12_KIND_BOX) {
        put_children(r, s, s->box.child, s->box.origin, s->box.exponent);
    } else if (s->kind == FACET_GFX12_KIND_INSTANCE) {
        put_instance(r, s);
    } else {
        put_pair(r, s);
    }
    facet_record_line(r, "registers", NULL);
    facet_record_hexes(r, "v", s->v, 10, 8);
}

void facet_gfx12_record_node(struct facet_record *r, const struct facet_gfx12_steps *s)
{
    facet_record_open(r, NULL, "%s node %08" PRIX32, facet_gfx12_kind_name(s->kind), s->node);
    put_node(r, s);
    facet_record_close(r);
}

static void put_item(struct facet_record *r, const char *key, uint64_t item)
{
    if (item == FACET_GFX12_RETURN) {
        facet_record_word(r, key, "RETURN");
    } else {
        facet_record_hex(r, key, item, 8);
    }
}

/* What the unit says about a result comes before what the loop makes of its registers. */
static const char *candidate_reason(const struct facet_gfx12_turn *turn, unsigned i)
{
    const struct facet_gfx12_tri_steps *tri = &turn->steps.tri[turn->candidate[i].tri];
    const bool looked_at = i == 0 || !turn->candidate[0].committed || !turn->stop;

    return looked_at && tri->cull != 0      ? "culled"
           : looked_at && tri->miss != NULL ? "missed"
                                            : turn->candidate[i].reason;
}

static void put_candidates(struct facet_record *r, const struct facet_gfx12_turn *turn)
{
    facet_record_list(r, "candidates");
    for (unsigned i = 0; i < turn->candidates; i++) {
        facet_record_open(r, NULL, "candidate %u:", turn->candidate[i].tri);
        facet_record_say(r, " %s", candidate_reason(turn, i));
        if (r->json) {
            facet_record_number(r, "triangle", turn->candidate[i].tri);
            facet_record_bool(r, "committed", turn->candidate[i].committed);
            facet_record_word(r, "reason", candidate_reason(turn, i));
        } else {
            facet_record_say(
                r, ", %s (11.1)", turn->candidate[i].committed ? "committed" : "ignored");
        }
        facet_record_close(r);
    }
    facet_record_close(r);
}

void facet_gfx12_record_turn(struct facet_record *r, const struct facet_gfx12_turn *turn)
{
    facet_record_open(r,
                      NULL,
                      "%" PRIu64 ": %s node %08" PRIX32,
                      turn->number,
                      facet_gfx12_kind_name(turn->steps.kind),
                      turn->steps.node);
    if (r->json) {
        facet_record_number(r, "step", (int64_t)turn->number);
    }
    facet_record_bool(r, "popped", turn->popped);
    if (r->json || turn->returns != 0) {
        facet_record_number(r, "returns", turn->returns);
    }
    put_node(r, &turn->steps);
    put_candidates(r, turn);
    if (r->json || turn->t_before != turn->t_after) {
        facet_record_line(r, "t_cur", NULL);
        facet_record_float(r, "t_before", turn->t_before);
        facet_record_float(r, "t_after", turn->t_after);
    }
    if (r->json || turn->pushes != 0) {
        facet_record_line(r, "push", NULL);
        facet_record_list(r, "pushes");
        for (unsigned i = 0; i < turn->pushes; i++) {
            put_item(r, NULL, turn->push[i]);
        }
        facet_record_close(r);
        facet_record_number(r, "depth", (int64_t)turn->depth);
    }
    if (turn->stop || turn->next == FACET_GFX12_INVALID) {
        facet_record_word(r, "next", NULL);
    } else {
        facet_record_line(r, NULL, NULL);
        put_item(r, "next", turn->next);
    }
    if (turn->stop) {
        facet_record_line(r, "TERMINATE_ON_FIRST_HIT:", NULL);
    }
    facet_record_bool(r, "stop", turn->stop);
    facet_record_close(r);
}

void facet_gfx12_record_hit(struct facet_record *r, const struct facet_gfx12_hit *hit)
{
    facet_record_float(r, "t", hit->t);
    facet_record_float(r, "u", hit->u);
    facet_record_float(r, "v", hit->v);
    facet_record_number(r, "primitive", hit->primitive_index);
    facet_record_number(r, "geometry", hit->geometry_index);
    facet_record_bool(r, "backface", hit->backface);
    facet_record_hex(r, "node", hit->node, 8);
    facet_record_hex(r, "base", hit->base, 16);
    if (hit->instance != FACET_GFX12_INVALID) {
        facet_record_hex(r, "instance", hit->instance, 8);
    } else {
        facet_record_word(r, "instance", NULL);
    }
    facet_record_hex(r, "user_data", hit->instance_user_data, 6);
}

void facet_gfx12_record_result(struct facet_record *r,
                               const char *key,
                               const struct facet_gfx12_hit *hit,
                               const struct facet_gfx12_stats *stats)
{
    facet_record_open(r, key, NULL);
    facet_record_line(r, "end", NULL);
    facet_record_number(r, "nodes", (int64_t)stats->steps);
    facet_record_number(r, "boxes", (int64_t)stats->boxes);
    facet_record_number(r, "primitives", (int64_t)stats->primitives);
    facet_record_number(r, "instances", (int64_t)stats->instances);
    facet_record_number(r, "max_depth", stats->max_depth);
    facet_record_line(r, hit->found ? "hit" : "no hit", NULL);
    if (r->json) {
        facet_record_bool(r, "found", hit->found);
    }
    if (hit->found) {
        facet_gfx12_record_hit(r, hit);
    }
    facet_record_close(r);
}

/* ---- a whole traversal ---- */

struct telling {
    struct facet_record *record;
    uint64_t turns, limit;
    void (*shown)(void *context);
    void *context;
};

static void on_turn(void *context, const struct facet_gfx12_turn *turn)
{
    struct telling *t = context;

    if (t->turns++ < t->limit) {
        facet_gfx12_record_turn(t->record, turn);
        if (t->shown != NULL) {
            t->shown(t->context);
        }
    }
}

enum facet_status facet_gfx12_record_trace(struct facet_record *r,
                                           const struct facet_gfx12_unit *unit,
                                           const struct facet_gfx12_query *query,
                                           uint64_t limit,
                                           void (*shown)(void *context),
                                           void *context,
                                           struct facet_error *err)
{
    struct telling t = {.record = r, .limit = limit, .shown = shown, .context = context};
    struct facet_gfx12_stats stats;
    struct facet_gfx12_hit hit;
    enum facet_status status;

    if (query->root != FACET_GFX12_NO_ROOT &&
        (facet_gfx12_id_kind(query->root) == FACET_GFX12_KIND_NONE ||
         facet_gfx12_unit_fetch(unit,
                                facet_gfx12_base_make(query->address, 0),
                                facet_gfx12_id_offset(query->root),
                                FACET_GFX12_NODE_BYTES) == NULL)) {
        return facet_fail(err,
                          FACET_ERR_INPUT,
                          query->root,
                          "the root 0x%08" PRIx32 " is not a node of the image",
                          query->root);
    }
    facet_record_open(r, NULL, NULL);
    facet_record_list(r, "steps");
    status = facet_gfx12_trace_watched(unit, query, on_turn, &t, &hit, &stats, err);
    facet_record_close(r);
    if (r->json) {
        facet_record_bool(r, "complete", status == FACET_OK && t.turns <= limit);
    } else if (t.turns > limit) {
        facet_record_say(r, "... and %" PRIu64 " more nodes", t.turns - limit);
    }
    if (r->json || status == FACET_OK) {
        facet_gfx12_record_result(r, "result", &hit, &stats);
    }
    facet_record_close(r);
    return status;
}
