/* See candidates.h. */
#include "report/candidates.h"

#include <inttypes.h>
#include <math.h>

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

void report_candidates(const struct facet_gfx12_candidates *candidates, struct facet_strbuf *out)
{
    for (size_t i = 0; i < candidates->count; i++) {
        const struct facet_gfx12_candidate *c = &candidates->items[i];

        facet_strbuf_printf(out,
                            "{\"ray\": %" PRIu64 ", \"primitive\": %" PRIu32
                            ", \"geometry\": %" PRIu32,
                            c->ray,
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
