/* See why_parts.h. */
#include "report/why_parts.h"
#include "command/streams.h"

#include "gfx12/ask/brute.h"
#include "json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define BRUTE_LIMIT (UINT64_C(1) << 27) /* pairs: about half a minute */

/* ---- words ---- */

json_t *report_why_real(double value)
{
    return isfinite(value) ? json_real(value)
                           : json_string(isnan(value) ? "nan"
                                         : value > 0  ? "inf"
                                                      : "-inf");
}

void report_why_label(const char *text)
{
    (void)cli_set_style(stdout, CLI_HEADLINE);
    printf("%-10s", text);
    (void)cli_set_style(stdout, CLI_NORMAL);
}

void report_why_put_hit(const struct facet_gfx12_hit *hit)
{
    if (!hit->found) {
        printf("nothing");
        return;
    }
    printf("primitive %" PRIu32 ", geometry %" PRIu32, hit->primitive_index, hit->geometry_index);
    if (hit->instance != FACET_GFX12_INVALID) {
        printf(", instance %" PRIu32, hit->instance_user_data);
    }
    printf(" at t %.9g", (double)hit->t);
}

json_t *report_why_hit_json(const struct facet_gfx12_hit *hit)
{
    if (!hit->found) {
        return json_null();
    }
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:b, s:o}",
                     "primitive",
                     (json_int_t)hit->primitive_index,
                     "geometry",
                     (json_int_t)hit->geometry_index,
                     "instance",
                     hit->instance != FACET_GFX12_INVALID
                         ? json_integer((json_int_t)hit->instance_user_data)
                         : json_null(),
                     "t",
                     report_why_real((double)hit->t),
                     "u",
                     report_why_real((double)hit->u),
                     "v",
                     report_why_real((double)hit->v),
                     "backface",
                     (int)hit->backface,
                     "node",
                     facet_json_hex(hit->node));
}

/* ---- all triangles one by one ---- */

/* Equal distances, not equal numbers: at an edge two triangles are hit at once. A search that ends
 * with the first hit has to find something. */
static bool same_answer(const struct facet_gfx12_query *query,
                        const struct facet_gfx12_hit *a,
                        const struct facet_gfx12_hit *b)
{
    bool any = (query->api_flags & FACET_GFX12_API_TERMINATE_ON_FIRST_HIT) != 0;

    return a->found == b->found && (!a->found || any || a->t == b->t);
}

enum facet_status report_cross_check(const struct facet_gfx12_unit *unit,
                                     const struct facet_gfx12_view *view,
                                     const struct facet_gfx12_walk *walk,
                                     const struct facet_gfx12_query *query,
                                     const struct facet_gfx12_hit *hit,
                                     struct report_cross_check *out,
                                     struct facet_error *err)
{
    struct facet_gfx12_brute brute;
    enum facet_status status = facet_gfx12_brute_make(view, walk, &brute, err);

    if (status == FACET_OK) {
        out->done =
            facet_gfx12_brute_trace(&brute, unit, query, BRUTE_LIMIT, &out->tested, &out->hit);
        out->agrees = out->done && same_answer(query, hit, &out->hit);
        facet_gfx12_brute_free(&brute);
    }
    return status;
}

void report_cross_check_print(const struct report_cross_check *c)
{
    report_why_label("brute");
    if (!c->done) {
        printf("left out: more than %" PRIu64 " pairs and instances to test one by one\n",
               BRUTE_LIMIT);
        return;
    }
    printf("all %" PRIu64 " pairs and instances one by one: ", c->tested);
    report_why_put_hit(&c->hit);
    (void)cli_set_style(stdout, c->agrees ? CLI_NORMAL : CLI_ERROR);
    printf(": %s\n", c->agrees ? "agrees with the traversal" : "DISAGREES with the traversal");
    (void)cli_set_style(stdout, CLI_NORMAL);
}

json_t *report_cross_check_json(const struct report_cross_check *c)
{
    if (!c->done) {
        return json_null();
    }
    return json_pack("{s:I, s:b, s:o}",
                     "tested",
                     (json_int_t)c->tested,
                     "agrees",
                     (int)c->agrees,
                     "hit",
                     report_why_hit_json(&c->hit));
}
