/* The tracer on any bytes: it must give what the reference loop gives, on both of its paths, and
 * explaining a ray must come to the same hit. The first 48 bytes are descriptor, flags, options and
 * ray, the rest the image. */
#include "base/bits.h"
#include "fuzz/fuzz.h"
#include "gfx12/ask/brute.h"
#include "gfx12/ask/compare.h"
#include "gfx12/ask/explain.h"
#include "gfx12/ask/gather.h"
#include "gfx12/ask/why.h"
#include "gfx12/tracer.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 200 };

static void require(bool good)
{
    if (!good) {
        abort();
    }
}

static bool same(const struct facet_gfx12_hit *a, const struct facet_gfx12_hit *b)
{
    return a->found == b->found && a->opaque == b->opaque && a->backface == b->backface &&
           memcmp(&a->t, &b->t, 4) == 0 && memcmp(&a->u, &b->u, 4) == 0 &&
           memcmp(&a->v, &b->v, 4) == 0 && a->primitive_index == b->primitive_index &&
           a->geometry_index == b->geometry_index && a->node == b->node && a->base == b->base &&
           a->instance == b->instance && a->instance_user_data == b->instance_user_data;
}

/* The ray three times in a batch, without statistics: the loops that count nothing. */
static void check_batch(const facet_gfx12_tracer *tracer,
                        const struct facet_gfx12_query *query,
                        enum facet_status want_status,
                        const struct facet_gfx12_hit *want)
{
    struct facet_gfx12_batch_ray rays[3];
    struct facet_gfx12_hit hits[3];

    for (unsigned i = 0; i < 3; i++) {
        rays[i] = (struct facet_gfx12_batch_ray){.t_min = query->t_min, .t_max = query->t_max};
        memcpy(rays[i].origin, query->origin, sizeof rays[i].origin);
        memcpy(rays[i].direction, query->direction, sizeof rays[i].direction);
    }
    require(facet_gfx12_tracer_batch(tracer, query, rays, 3, hits, NULL, NULL, NULL) ==
            want_status);
    for (unsigned i = 0; i < 3 && want_status == FACET_OK; i++) {
        require(same(&hits[i], want));
    }
}

static void check_path(const struct facet_gfx12_unit *unit,
                       const struct facet_gfx12_query *query,
                       enum facet_gfx12_tracer_path path,
                       enum facet_status want_status,
                       const struct facet_gfx12_hit *want,
                       const struct facet_gfx12_stats *want_stats)
{
    const struct facet_gfx12_tracer_options options = {
        .root = query->root, .path = path, .max_bytes = 1 << 20};
    struct facet_gfx12_hit hit;
    struct facet_gfx12_stats stats;
    facet_gfx12_tracer *tracer;

    if (facet_gfx12_tracer_create(unit, &options, &tracer, NULL) != FACET_OK) {
        return; /* a host without it */
    }
    require(facet_gfx12_tracer_trace(tracer, query, &hit, &stats, NULL) == want_status);
    require(same(&hit, want) && memcmp(&stats, want_stats, sizeof stats) == 0);
    check_batch(tracer, query, want_status, want);
    facet_gfx12_tracer_destroy(tracer);
}

/* What is said about a turn is never more than the record has room for, whatever the node. */
static void explain(void *context, const struct facet_gfx12_turn *turn)
{
    struct facet_record *record = context;

    require(turn->pushes <= 8 && turn->candidates <= 2);
    facet_gfx12_record_turn(record, turn);
    facet_strbuf_clear(&record->text);
}

static void check_why(const struct facet_gfx12_unit *unit,
                      const struct facet_gfx12_query *query,
                      enum facet_status want_status,
                      const struct facet_gfx12_hit *want)
{
    struct facet_record record;
    struct facet_gfx12_hit hit;

    facet_record_init(&record, (query->root & 1) != 0);
    facet_record_list(&record, NULL);
    require(facet_gfx12_trace_watched(unit, query, explain, &record, &hit, NULL, NULL) ==
            want_status);
    require(same(&hit, want));
    facet_record_free(&record);
}

/* Lists of any image are complete, and an image is like itself. */
static void check_lists(const struct facet_gfx12_view *view, const struct facet_gfx12_walk *walk)
{
    const struct facet_gfx12_view views[2] = {*view, *view};
    const struct facet_gfx12_walk walks[2] = {*walk, *walk};
    const uint32_t depths[2] = {0, UINT32_MAX};
    struct facet_gfx12_comparison comparison;
    struct facet_gfx12_gathered gathered;
    struct facet_progress progress;

    require(facet_gfx12_same_shape(view, walk, view, walk));
    require(facet_gfx12_compare(views, walks, NULL, 0, NULL, NULL, NULL, &comparison, NULL) ==
            FACET_OK);
    require(comparison.only[0] == 0 && comparison.only[1] == 0 && comparison.moved == 0);
    facet_progress_start(&progress, &(struct facet_progress_config){.quiet = true});
    require(facet_gfx12_gather(view, walk, depths, &progress, &gathered, NULL) == FACET_OK);
    facet_progress_finish(&progress);
    require(progress.done == walk->reached);
    require(gathered.instance_count == comparison.instances[0]);
    for (uint64_t i = 0; i < gathered.triangle_count; i++) {
        require(gathered.triangles[i].level < gathered.level_count);
    }
    facet_gfx12_gathered_free(&gathered);
}

/* Looking for a triangle ends, and with an answer that fits the hit. */
static void check_expect(const struct facet_gfx12_unit *unit,
                         const struct facet_gfx12_query *query,
                         const struct facet_gfx12_expect *expect)
{
    const struct facet_gfx12_view view = {
        .bytes = unit->image, .size = unit->image_size, .root = query->root};
    struct facet_gfx12_brute brute;
    struct facet_gfx12_walk walk;
    struct facet_gfx12_why why;
    struct facet_gfx12_hit hit;
    uint64_t tested;

    require(facet_gfx12_walk(&view, &walk, NULL) == FACET_OK);
    require(facet_gfx12_brute_make(&view, &walk, &brute, NULL) == FACET_OK);
    (void)facet_gfx12_brute_trace(&brute, unit, query, 1000, &tested, &hit);
    require(!hit.found || (query->t_min < hit.t && hit.t < query->t_max));
    if (facet_gfx12_why(unit, &view, &walk, query, expect, &why, NULL) == FACET_OK && why.found) {
        require(why.rejected <= why.count && why.fault < FACET_GFX12_FAULT_COUNT);
        require(why.path[why.count - 1].kind == FACET_GFX12_KIND_PRIMITIVE);
        require(why.primitive == expect->primitive);
        require((why.fault == FACET_GFX12_FAULT_NONE) == facet_gfx12_is_expected(&why.hit, expect));
    }
    check_lists(&view, &walk);
    facet_gfx12_why_free(&why);
    facet_gfx12_brute_free(&brute);
    facet_gfx12_walk_free(&walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_gfx12_unit unit;
    struct facet_gfx12_query query;
    struct facet_gfx12_hit hit;
    struct facet_gfx12_stats stats;
    enum facet_status status;
    uint32_t resource[4];
    float ray[6];

    if (size < 48) {
        return 0;
    }
    for (unsigned i = 0; i < 4; i++) {
        resource[i] = facet_load_le32(data + (size_t)4 * i);
    }
    memcpy(ray, data + 24, sizeof ray);
    facet_gfx12_unit_init(&unit, data + 48, size - 48);
    if ((data[17] & 1) != 0) { /* else the descriptor that the decoded nodes are made for */
        facet_gfx12_resource_unpack(resource, &unit.resource);
        unit.resource.base_address &= 1;
    }
    unit.profile = (data[16] & 1) != 0 ? FACET_GFX12_GPURT : FACET_GFX12_SILICON;
    unit.opaque_sense = (data[16] & 2) != 0 ? FACET_GFX12_SENSE_SEED : FACET_GFX12_SENSE_HW;
    facet_gfx12_query_init(&query, ray, ray + 3);
    query.root = facet_load_le32(data + 20);
    query.api_flags = facet_load_le16(data + 18);
    query.max_steps = STEPS;
    status = facet_gfx12_trace(&unit, &query, &hit, &stats, NULL);
    if (query.root != 0) { /* stands for the default in the options */
        check_path(&unit, &query, FACET_GFX12_PATH_PORTABLE, status, &hit, &stats);
        check_path(&unit, &query, FACET_GFX12_PATH_AVX2, status, &hit, &stats);
        check_path(&unit, &query, FACET_GFX12_PATH_AVX512, status, &hit, &stats);
    }
    check_why(&unit, &query, status, &hit);
    if (status == FACET_OK) {
        check_expect(&unit, &query, &(struct facet_gfx12_expect){.primitive = hit.primitive_index});
        check_expect(&unit,
                     &query,
                     &(struct facet_gfx12_expect){.primitive = data[16] >> 2,
                                                  .has_geometry = (data[17] & 2) != 0});
    }
    return 0;
}
