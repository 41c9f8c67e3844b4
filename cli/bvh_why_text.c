/* `facet bvh why` as text: one indented paragraph per node. Floats are printed as bits and value.
 */
#include "cli/bvh_why.h"
#include "cli/command.h"

#include "gfx12/image/walk.h"
#include "num/f32.h"

#include <inttypes.h>
#include <stdio.h>

static void put_float(const char *name, float value)
{
    printf("  %s %08" PRIX32 " (%.9g)", name, f32_bits(value), (double)value);
}

static void put_line(const char *indent, const char *name, const float value[3])
{
    printf("%s%-10s", indent, name);
    put_float("x", value[0]);
    put_float("y", value[1]);
    put_float("z", value[2]);
    printf("\n");
}

static void put_bits(const char *indent, const char *name, const uint32_t bits[3])
{
    const float value[3] = {f32_from(bits[0]), f32_from(bits[1]), f32_from(bits[2])};

    put_line(indent, name, value);
}

static void put_vec(const char *name, struct facet_gfx12_vec v)
{
    const float value[3] = {v.x, v.y, v.z};

    put_line("      ", name, value);
}

static void put_item(uint64_t item)
{
    if (item == FACET_GFX12_WHY_RETURN) {
        printf(" RETURN");
    } else {
        printf(" %08" PRIX64, item);
    }
}

static const char *on_off(bool value)
{
    return value ? "yes" : "no";
}

/* ---- boxes ---- */

static void put_child(const struct facet_gfx12_why *w, unsigned i)
{
    const struct facet_gfx12_why_child *c = &w->child[i];
    const struct facet_gfx12_child *s = &c->stored;
    static const char axis[] = "xyz";

    printf("    child %u  ID %08" PRIX32
           " (4.1)  type %u  size %u  cull_mask %02X  cull_flags %X\n",
           i,
           c->id,
           s->node_type,
           s->node_size,
           s->cull_mask,
           s->cull_flags);
    printf("      planes    q_min %u %u %u  q_max %u %u %u (5.2: far plane is q_max + 1)\n",
           s->min[0],
           s->min[1],
           s->min[2],
           s->max[0],
           s->max[1],
           s->max[2]);
    put_bits("      ", "lo", c->lo);
    put_bits("      ", "hi", c->hi);
    if (c->cull != FACET_GFX12_WHY_VISIBLE) {
        printf("      culled by %s (9.2 step 2): the ID becomes INVALID\n",
               facet_gfx12_why_cull_name(c->cull));
    }
    for (unsigned k = 0; k < 3; k++) {
        printf("      axis %c   ", axis[k]);
        put_float("lo-o", c->terms.lo_o[k]);
        put_float("hi-o", c->terms.hi_o[k]);
        put_float("inv", w->slab_ray.inverse[k]);
        put_float("near", c->terms.near[k]);
        put_float("far", c->terms.far[k]);
        printf("\n");
    }
    printf("      interval ");
    put_float("A", c->slab.enter);
    put_float("B", c->slab.leave);
    put_float("min_t", c->slab.min_t);
    put_float("max_t", c->slab.max_t);
    printf(" (9.2 step 4)\n      %s      ", c->slab.hit ? "hit " : "miss");
    put_float("min_t", c->slab.min_t);
    printf(" %s", c->slab.hit ? "<=" : "is not <=");
    put_float("max_t*g", c->limit);
    printf(" (9.2 step 5)\n");
    if (c->duplicate) {
        printf("      same ID as the slot before: removed (9.2 step 7)\n");
    }
    printf("      slot       %08" PRIX32 "  ext %" PRIu32, c->slot.id, c->slot.ext);
    put_float("key", c->slot.key);
    printf("  sorted to place %u (9.3)\n", c->place);
}

static void put_children(const struct facet_gfx12_why *w)
{
    printf("    grid exponents %u %u %u\n", w->exponent[0], w->exponent[1], w->exponent[2]);
    put_bits("    ", "grid", w->origin);
    if (w->obb != FACET_GFX12_OBB_NONE) {
        printf("    oriented by matrix %u (9.2 step 3)\n", w->obb);
    }
    put_line("    ", "o'", w->slab_ray.origin);
    put_line("    ", "d'", w->slab_direction);
    put_line("    ", "inv", w->slab_ray.inverse);
    printf("    test      ");
    put_float("extent", w->slab_ray.extent);
    put_float("g", w->slab_ray.grow);
    printf("\n");
    for (unsigned i = 0; i < w->count; i++) {
        put_child(w, i);
    }
}

static void put_instance(const struct facet_gfx12_why *w)
{
    const struct facet_gfx12_instance *node = &w->instance;

    for (unsigned r = 0; r < 3; r++) {
        const uint32_t *row = node->world_to_object + (size_t)4 * r;

        put_bits("    ", r == 0 ? "transform" : "", row);
        printf("              ");
        put_float("w", f32_from(row[3]));
        printf("\n");
    }
    printf("    pointer %016" PRIX64 "  user_data %06" PRIX32 "  cull_mask %02X\n",
           node->pointer,
           node->user_data,
           node->cull_mask);
    printf("    merged base %016" PRIX64 "  flags %03X (2.3)\n",
           w->new_base,
           facet_gfx12_base_flags(w->new_base));
    if (w->instance_cull != FACET_GFX12_WHY_VISIBLE) {
        printf("    culled by %s (9.6): the ray is unchanged\n",
               facet_gfx12_why_cull_name(w->instance_cull));
        return;
    }
    put_children(w);
}

/* ---- primitives ---- */

static void put_tri(const struct facet_gfx12_why *w, unsigned k)
{
    const struct facet_gfx12_why_tri *t = &w->tri[k];
    const struct facet_gfx12_pair_tri *d = &w->pair.desc.tri[k];

    printf("    triangle %u  vertices %u %u %u%s  primitive %" PRIu32 "  geometry %" PRIu32
           "  opaque %s  double_sided %s\n",
           k,
           d->index[0],
           d->index[1],
           d->index[2],
           t->absent       ? " (absent)"
           : t->procedural ? " (procedural)"
                           : "",
           w->pair.primitive_index[k],
           w->pair.geometry_index[k],
           on_off(t->opaque),
           on_off(d->double_sided != 0));
    if (!t->procedural) {
        put_bits("      ", "v0", w->pair.vertex[k][0]);
        put_bits("      ", "v1", w->pair.vertex[k][1]);
        put_bits("      ", "v2", w->pair.vertex[k][2]);
        put_vec("e1", t->edges.e1);
        put_vec("e2", t->edges.e2);
        put_vec("e3", t->edges.e3);
        put_vec("s1", t->edges.s1);
        put_vec("s2", t->edges.s2);
        printf("      terms     ");
        put_float("tn", t->terms.tn);
        put_float("det", t->terms.det);
        put_float("un", t->terms.un);
        put_float("vn", t->terms.vn);
        printf("\n      quotients ");
        put_float("t", t->terms.t);
        put_float("u", t->terms.u);
        put_float("v", t->terms.v);
        if (t->miss != NULL) {
            printf("\n      miss: %s (9.4)\n", t->miss);
        } else {
            printf("\n      hit: %s face (9.4)\n", t->front ? "front" : "back");
        }
    }
    if (t->cull != FACET_GFX12_WHY_VISIBLE) {
        printf("      culled by %s (9.4)\n", facet_gfx12_why_cull_name(t->cull));
    }
}

static const char *navigation(unsigned nav)
{
    return (nav & 2) != 0 ? "the range ends" : nav == 1 ? "next node of the range" : "next pair";
}

/* ---- nodes and steps ---- */

void bvh_why_text_node(const struct facet_gfx12_why *w)
{
    printf("%s node %08" PRIX32 "  byte offset 0x%" PRIx64 "  base %016" PRIX64 "  flags %03X\n",
           facet_gfx12_kind_name(w->kind),
           w->node,
           facet_gfx12_id_offset(w->node),
           w->base,
           w->flags);
    put_line("    ", "origin", w->ray.origin);
    put_line("    ", "direction", w->ray.direction);
    printf("    limits    ");
    put_float("extent", w->ray.extent);
    printf("  mask %02" PRIX32 "\n", w->ray.instance_mask & 0xFF);
    if (w->no_node != NULL) {
        printf("    no node: %s (9.8)\n", w->no_node);
    } else if (w->kind == FACET_GFX12_KIND_BOX) {
        put_children(w);
    } else if (w->kind == FACET_GFX12_KIND_INSTANCE) {
        put_instance(w);
    } else {
        printf("    pair %u of the node  nav %u: %s (9.4)\n",
               facet_gfx12_id_pair(w->node),
               w->pair.navigation,
               navigation(w->pair.navigation));
        put_tri(w, 0);
        put_tri(w, 1);
    }
    printf("    v0..v9");
    for (unsigned i = 0; i < 10; i++) {
        printf(" %08" PRIX32, w->v[i]);
    }
    printf("%s\n", w->agrees ? "" : "  (the values above give other registers)");
}

void bvh_why_text_step(const struct facet_gfx12_why_step *step)
{
    if (step->popped) {
        printf("  pop%s\n", step->returns != 0 ? ", RETURN: back to the top level" : "");
    }
    printf("%" PRIu64 ": ", step->number);
    bvh_why_text_node(step->why);
    for (unsigned i = 0; i < step->candidates; i++) {
        const struct facet_gfx12_why_candidate *c = &step->candidate[i];

        printf("  candidate %u: %s, %s (11.1)\n",
               c->tri,
               c->reason,
               c->committed ? "committed" : "ignored");
    }
    if (f32_bits(step->t_before) != f32_bits(step->t_after)) {
        printf("  t_cur     ");
        put_float("was", step->t_before);
        put_float("is", step->t_after);
        printf("\n");
    }
    if (step->pushes != 0) {
        printf("  push");
        for (unsigned i = 0; i < step->pushes; i++) {
            put_item(step->push[i]);
        }
        printf("  (depth %" PRIu64 ")\n", step->depth);
    }
    if (step->stop) {
        printf("  stop: TERMINATE_ON_FIRST_HIT\n");
    } else if (step->next != FACET_GFX12_INVALID) {
        printf("  next");
        put_item(step->next);
        printf("\n");
    }
}

void bvh_why_text_result(const struct facet_gfx12_why_result *result)
{
    const struct facet_gfx12_hit *h = &result->hit;

    printf("end after %" PRIu64 " node%s: %" PRIu64 " box%s, %" PRIu64 " primitive pair%s, %" PRIu64
           " instance%s; stack at most %" PRIu32 " deep\n",
           result->stats.steps,
           cli_s(result->stats.steps),
           result->stats.boxes,
           result->stats.boxes == 1 ? "" : "es",
           result->stats.primitives,
           cli_s(result->stats.primitives),
           result->stats.instances,
           cli_s(result->stats.instances),
           result->stats.max_depth);
    if (!h->found) {
        printf("no hit\n");
    } else {
        printf("hit");
        put_float("t", h->t);
        put_float("u", h->u);
        put_float("v", h->v);
        printf("  primitive %" PRIu32 "  geometry %" PRIu32 "  %s face  node %08" PRIX32,
               h->primitive_index,
               h->geometry_index,
               h->backface ? "back" : "front",
               h->node);
        if (h->instance != FACET_GFX12_INVALID) {
            printf("  instance %08" PRIX32 "  user_data %06" PRIX32,
                   h->instance,
                   h->instance_user_data);
        }
        printf("\n");
    }
}
