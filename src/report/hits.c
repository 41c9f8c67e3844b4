/* See hits.h. */
#include "report/hits.h"

#include "base/bits.h"
#include "base/float.h"
#include "report/lost.h"
#include "json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HIT_FOUND = 1, HIT_BACKFACE = 2, HIT_PROCEDURAL = 4 };

/* JSON has no number for what a ray that stands still or starts at infinity gives. */
static void put_t(struct facet_strbuf *out, const char *key, float t)
{
    if (isfinite(t)) {
        facet_strbuf_printf(out, ", \"%s\": %.9g", key, (double)t);
    } else {
        facet_strbuf_printf(out,
                            ", \"%s\": \"%s\"",
                            key,
                            isnan(t) ? "nan"
                            : t > 0  ? "inf"
                                     : "-inf");
    }
}

void report_candidates(const struct facet_gfx12_candidates *candidates,
                       uint64_t first,
                       struct facet_strbuf *out)
{
    for (size_t i = 0; i < candidates->count; i++) {
        const struct facet_gfx12_candidate *c = &candidates->items[i];

        facet_strbuf_printf(out,
                            "{\"ray\": %" PRIu64 ", \"primitive\": %" PRIu32
                            ", \"geometry\": %" PRIu32,
                            first + c->ray,
                            c->what.primitive_index,
                            c->what.geometry_index);
        if (c->what.instance != FACET_GFX12_INVALID) {
            facet_strbuf_printf(out, ", \"instance\": %" PRIu32, c->what.instance_user_data);
        } else {
            facet_strbuf_printf(out, ", \"instance\": null");
        }
        facet_strbuf_printf(out,
                            ", \"node\": \"0x%08" PRIx32 "\", \"opaque\": %s",
                            c->what.node,
                            c->what.opaque ? "true" : "false");
        put_t(out, "enter", c->enter);
        put_t(out, "leave", c->leave);
        facet_strbuf_printf(out, "}\n");
    }
}

void report_hit(const struct facet_gfx12_hit *hit, uint8_t record[REPORT_HIT])
{
    uint32_t none = FACET_GFX12_INVALID;
    uint32_t inside = hit->found && hit->instance != FACET_GFX12_INVALID;
    uint32_t flags = (hit->found ? HIT_FOUND : 0) | (hit->backface ? HIT_BACKFACE : 0) |
                     (hit->procedural ? HIT_PROCEDURAL : 0);

    facet_store_le32(record, hit->found ? facet_float_bits(hit->t) : 0x7F800000);
    facet_store_le32(record + 4, hit->found ? facet_float_bits(hit->u) : 0);
    facet_store_le32(record + 8, hit->found ? facet_float_bits(hit->v) : 0);
    facet_store_le32(record + 12, hit->found ? hit->primitive_index : none);
    facet_store_le32(record + 16, hit->found ? hit->geometry_index : none);
    facet_store_le32(record + 20, inside ? hit->instance_user_data : none);
    facet_store_le32(record + 24, inside ? hit->instance : none);
    facet_store_le32(record + 28, hit->found ? flags : 0);
}

bool report_hit_found(const uint8_t record[REPORT_HIT])
{
    return (facet_load_le32(record + 28) & HIT_FOUND) != 0;
}

int report_trace(const struct cli_args *args,
                 const char *stack,
                 bool text,
                 size_t rays,
                 uint64_t hits,
                 const struct facet_gfx12_stats *s,
                 const struct facet_gfx12_lost *lost)
{
    if (args->json) {
        json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
                                   "rays",
                                   (json_int_t)rays,
                                   "hits",
                                   (json_int_t)hits,
                                   "steps",
                                   (json_int_t)s->steps,
                                   "box_nodes",
                                   (json_int_t)s->boxes,
                                   "primitive_nodes",
                                   (json_int_t)s->primitives,
                                   "instance_nodes",
                                   (json_int_t)s->instances,
                                   "stack_pushes",
                                   (json_int_t)s->pushes,
                                   "max_stack_depth",
                                   (json_int_t)s->max_depth,
                                   "walk_backs",
                                   (json_int_t)s->walk_backs,
                                   "lost_walks",
                                   (json_int_t)s->lost_walks);

        report_lost_json(object, lost);
        return cli_print_json(args, object);
    }
    if (text) {
        printf("rays             %zu, %" PRIu64 " hit%s\n", rays, hits, cli_s(hits));
        printf("instructions     %" PRIu64 " (%" PRIu64 " box, %" PRIu64 " primitive, %" PRIu64
               " instance nodes)\n",
               s->steps,
               s->boxes,
               s->primitives,
               s->instances);
        if (stack != NULL) {
            printf("stack            %s entries, %" PRIu64 " walk%s back\n",
                   stack,
                   s->walk_backs,
                   cli_s(s->walk_backs));
        } else {
            printf("stack            %" PRIu64 " push%s, %u entr%s at most\n",
                   s->pushes,
                   s->pushes == 1 ? "" : "es",
                   s->max_depth,
                   s->max_depth == 1 ? "y" : "ies");
        }
    }
    return CLI_OK;
}
