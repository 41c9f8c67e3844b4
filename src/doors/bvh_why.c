/* See facet_bvh_explain_ray in facet/bvh.h. */
#include "doors/bvh.h"
#include "gfx12/ask/explain.h"

enum facet_status facet_bvh_explain_ray_sized(const facet_bvh *bvh,
                                              const struct facet_bvh_trace_config *config,
                                              size_t config_size,
                                              const float ray[8],
                                              bool json,
                                              struct facet_blob *text,
                                              struct facet_error *err)
{
    enum { MOST_NODES = 1000, MOST_VISITS = 1 << 20 }; /* as `facet bvh why` has it */
    struct facet_bvh_trace_config own;
    struct facet_gfx12_query query;
    struct facet_gfx12_unit unit;
    struct facet_record record;
    enum facet_status status = facet_sized_in(&own,
                                              offsetof(struct facet_bvh_trace_config, reserved),
                                              config,
                                              config_size,
                                              "facet_bvh_trace_config",
                                              err);

    *text = (struct facet_blob){0};
    if (status == FACET_OK && bvh->format != FACET_BVH_FORMAT_GFX12) {
        status = facet_fail(
            err, FACET_ERR_USAGE, 0, "an RT image; rays are explained in images of GFX12");
    }
    if (status == FACET_OK && own.device != 0) {
        status = facet_fail(err, FACET_ERR_USAGE, 0, "no device explains rays; the processor does");
    }
    if (status != FACET_OK) {
        return status;
    }
    query = facet_door_query(&own, ray);
    query.max_steps = MOST_VISITS;
    facet_gfx12_unit_init(&unit, bvh->bytes, bvh->size);
    facet_record_init(&record, json);
    status = facet_gfx12_record_trace(&record, &unit, &query, MOST_NODES, NULL, NULL, err);
    if (status == FACET_OK) {
        facet_record_end(&record);
        status = facet_door_blob_of_text(&record.text, text, err);
    }
    facet_record_free(&record);
    return status;
}
