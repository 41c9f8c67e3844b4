/* The text of the device's kernel, compiled as C, against src/gfx12: division by its definition,
 * the tests by bits, and whole rays on random and damaged structures, with all statistics. */
#include "gfx12/common.h"

#include "gfx12/ask/lost.h"
#include "gfx12/ask/procedural.h"
#include "gfx12/device/check.h"
#include "gfx12/device/prepare.h"
#include "gfx12/device_twin.h"
#include "gfx12/scene_of_scenes.h"
#include "gfx12/worlds.h"

#include <stdlib.h>

/* ---- division ---- */

TEST(every_reciprocal_is_the_nearest, "")
{
    static device_u32 wrong[1 << 10];
    device_u32 sum = 0;

    for (twin_item = 0; twin_item < 1 << 10; twin_item++) {
        facet_reciprocals(wrong, 1 << 13);
        sum += wrong[twin_item];
    }
    CHECK_EQ(sum, 0);
}

static bool check_quotient(uint32_t a, uint32_t b)
{
    const float x = facet_float_of(a), y = facet_float_of(b);
    const uint32_t want = facet_float_bits(f32_div(x, y));
    const uint32_t got = facet_float_bits(divide(x, y));
    const uint32_t plain = is_ordinary(x) && is_ordinary(y)
                               ? facet_float_bits(divide_ordinary(x, y, inverse_of(y)))
                               : want;

    return CHECK_MSG(got == want && plain == want,
                     "%08X / %08X is %08X or %08X, not %08X",
                     a,
                     b,
                     got,
                     plain,
                     want);
}

/* A quotient that is as near to the middle between two floats as one can be: the remainder of a
 * division by an odd mantissa, with the middle as quotient, is one unit. */
static void check_near_middle(void)
{
    const uint32_t y = ((uint32_t)harness_random() & 0x7FFFFE) | 0x800001;
    const uint32_t unit = below(2) != 0 ? 1 : UINT32_MAX;
    uint32_t inverse = y, x;
    uint64_t middle;

    for (unsigned i = 0; i < 4; i++) {
        inverse *= 2 - y * inverse; /* modulo 2^32 */
    }
    middle = (uint32_t)(0 - unit * inverse) & 0x1FFFFFF; /* y * middle + unit ends in 25 zeros */
    x = (uint32_t)((y * middle + (uint64_t)(int64_t)(int32_t)unit) >> 25);
    if (x != 0) {
        (void)check_quotient(facet_float_bits((float)x), facet_float_bits((float)y));
    }
}

/* Mantissas at whose quotients rounding is hardest: near powers of two, and a = q * b nearly. */
static uint32_t edge_bits(void)
{
    static const uint32_t mantissas[] = {
        0, 1, 2, 3, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFD, 0x7FFFFE, 0x7FFFFF};
    static const uint32_t exponents[] = {
        0, 1, 2, 23, 24, 25, 126, 127, 128, 129, 150, 151, 252, 253, 254, 255};

    return mantissas[below(10)] | exponents[below(16)] << 23 | below(2) << 31;
}

TEST(quotients_are_rounded_once, "G12-005 G12-006")
{
    const unsigned rounds = harness_long() ? 40000000 : 4000000;

    for (unsigned i = 0; i < rounds && !harness_failed(); i++) {
        const uint32_t a = i % 3 == 0 ? edge_bits() : (uint32_t)harness_random();
        const uint32_t b = i % 4 == 0 ? edge_bits() : (uint32_t)harness_random();

        (void)check_quotient(a, b);
        check_near_middle();
        /* Quotients at the border of the subnormals and between them: ties among them. */
        (void)check_quotient((a & 0x807FFFFF) | (1 + below(40)) << 23,
                             (b & 0x807FFFFF) | (120 + below(40)) << 23);
        (void)check_quotient(facet_float_bits(facet_float_of(1 + below(1 << 12)) * 0x1p20f),
                             facet_float_bits((float)(1 + below(64)) * 0x1p19f));
    }
}

/* ---- the tests of the ray unit ---- */

TEST(the_self_test_accepts_the_text_and_nothing_less, "")
{
    for (uint64_t i = 0; i < 200000 && !harness_failed(); i++) {
        uint32_t in[CHECK_IN], out[CHECK_OUT];
        const char *wrong;
        unsigned k;

        facet_gfx12_device_check_case(i, in);
        twin_item = 0;
        facet_check(in, out, 1);
        wrong = facet_gfx12_device_check_answer(in, out);
        CHECK_MSG(wrong == NULL, "case %u: %s", (unsigned)i, wrong);
        k = below(CHECK_OUT);
        if (k < 4 || !f32_is_nan(facet_float_of(out[k]))) {
            out[k] ^= 1; /* in a zero a subnormal */
            CHECK_MSG(facet_gfx12_device_check_answer(in, out) != NULL,
                      "case %u accepts another number %u",
                      (unsigned)i,
                      k);
        }
    }
}

/* ---- rays ---- */

static unsigned fast_begun, fast_done; /* rays in the fast loop, and those that it finished */

/* The fast loop, which goes before walk.cl. */
static void trace_fast(struct device_common *common,
                       const uint32_t *image,
                       const struct device_ray *ray,
                       struct device_result *result,
                       struct device_state *state,
                       device_u32 fate[1])
{
    uint32_t *boxes, *pairs;

    common->phase = facet_gfx12_device_phase(common);
    common->records = facet_gfx12_device_records(common, common->phase);
    boxes = malloc((size_t)common->records * BOX_RECORD * 4 + 4);
    pairs = malloc((size_t)common->records * NODE_PAIRS * PAIR_RECORD * 4 + 4);
    for (twin_item = 0; twin_item < common->records; twin_item++) {
        facet_pack(image, common->phase / 4, common->records, boxes, pairs);
    }
    twin_item = 0;
    facet_fast(common, image, boxes, pairs, ray, NULL, 1, 1, result, state, fate);
    fast_begun++;
    fast_done += fate[0] == DEVICE_DONE;
    free(boxes);
    free(pairs);
}

/* The whole of a launch for one ray, with pages of the image that come one at a time when `shift`
 * is not 0. */
static uint32_t trace_twin(const struct facet_gfx12_unit *unit,
                           const struct facet_gfx12_query *query,
                           const struct facet_gfx12_batch_ray *batch_ray,
                           uint32_t slice,
                           unsigned shift,
                           struct device_result *result)
{
    static uint32_t turned[12 * FACET_GFX12_OBB_COUNT];
    static uint32_t page[(4096 + 64) / 4];
    const size_t pages = shift != 0 ? (unit->image_size >> shift) + 1 : 1;
    uint32_t *slots = malloc(pages * sizeof *slots);
    uint32_t *image = malloc(unit->image_size + 3);
    struct device_common common;
    struct device_ray ray;
    struct device_state state;
    device_u32 list[1] = {0}, fate[1] = {DEVICE_FRESH}, wanted[1];

    facet_gfx12_device_turned(turned);
    facet_gfx12_device_common(unit, query, &common);
    common.slice = slice;
    common.page_shift = shift;
    memcpy(&ray, batch_ray, sizeof ray);
    memcpy(image, unit->image, unit->image_size);
    memset(slots, 0xFF, pages * sizeof *slots);
    if (shift == 0 && facet_gfx12_device_fast(&common)) {
        trace_fast(&common, image, &ray, result, &state, fate);
    }
    twin_item = 0;
    while (fate[0] == DEVICE_FRESH || fate[0] == DEVICE_GOES_ON || fate[0] == DEVICE_WAITS) {
        facet_trace(&common,
                    shift != 0 ? page : image,
                    slots,
                    NULL,
                    turned,
                    NULL,
                    &ray,
                    list,
                    0,
                    1,
                    result,
                    &state,
                    fate,
                    wanted);
        if (fate[0] == DEVICE_WAITS) {
            const uint64_t from = (uint64_t)wanted[0] << shift;
            const uint64_t bytes = ((uint64_t)1 << shift) + 64;

            memset(slots, 0xFF, pages * sizeof *slots);
            slots[wanted[0]] = 0;
            memcpy(page,
                   (const uint8_t *)image + from,
                   unit->image_size - from < bytes ? unit->image_size - from : bytes);
        }
    }
    free(slots);
    free(image);
    return fate[0];
}

struct tally {
    unsigned hits, lost, declined, endless;
};

static bool no_box(void *context,
                   const struct facet_gfx12_ray *ray,
                   const uint8_t node[128],
                   struct facet_gfx12_hit *candidate)
{
    (void)context, (void)ray, (void)node, (void)candidate;
    return false;
}

static bool visits_lost(const struct facet_gfx12_unit *unit, const struct facet_gfx12_query *query)
{
    struct facet_gfx12_batch_ray ray = {.t_min = query->t_min, .t_max = query->t_max};
    struct facet_gfx12_lost lost;
    struct facet_error err;

    memcpy(ray.origin, query->origin, sizeof ray.origin);
    memcpy(ray.direction, query->direction, sizeof ray.direction);
    CHECK(facet_gfx12_lost_rays(unit, query, &ray, 1, NULL, &lost, &err) == FACET_OK);
    return facet_gfx12_lost_total(&lost) != 0;
}

/* A ray that is over, in the form of the host; all zeros where it is the host's. */
static void land_twin(const struct device_result *result,
                      uint32_t fate,
                      struct facet_gfx12_hit *hit,
                      struct facet_gfx12_stats *stats)
{
    static device_u64 states[64];

    memset(states, 0xA5, sizeof states);
    twin_item = 0;
    facet_hits(result, &fate, 1, states, 1);
    memcpy(hit, states, sizeof *hit);
    memcpy(stats, (uint8_t *)states + sizeof *hit, sizeof *stats);
    CHECK_EQ(((const struct device_hit *)states)->zero, 0);
}

/* `shift`: of pages, 0: without; no more than `slice` steps at a time. */
static void check_launch(const struct facet_gfx12_unit *unit,
                         const struct facet_gfx12_query *query,
                         uint32_t slice,
                         unsigned shift,
                         struct tally *tally)
{
    struct facet_gfx12_batch_ray ray = {.t_min = query->t_min, .t_max = query->t_max};
    struct facet_gfx12_stats want, got;
    struct facet_gfx12_hit want_hit, hit;
    struct device_result result;
    enum facet_status status;
    uint32_t fate;

    memcpy(ray.origin, query->origin, sizeof ray.origin);
    memcpy(ray.direction, query->direction, sizeof ray.direction);
    status = facet_gfx12_trace(unit, query, &want_hit, &want, NULL);
    fate = trace_twin(unit, query, &ray, slice, shift, &result);
    land_twin(&result, fate, &hit, &got);
    CHECK((fate == DEVICE_DONE && status == FACET_OK) || fate == DEVICE_DECLINED ||
          (fate == DEVICE_ENDLESS && status == FACET_ERR_LIMIT));
    tally->declined += fate == DEVICE_DECLINED;
    tally->endless += fate == DEVICE_ENDLESS;
    tally->lost += (result.flags & DEVICE_LOST) != 0;
    tally->hits += hit.found;
    if (fate != DEVICE_DONE) {
        CHECK(!hit.found && hit.t == 0 && hit.base == 0 && got.steps == 0 && got.max_depth == 0);
        CHECK(fate == DEVICE_ENDLESS || query->callbacks.procedural == no_box ||
              query->callbacks.any_hit != NULL || want.max_depth > DEVICE_STACK ||
              want.instances > 1 || status != FACET_OK);
        return;
    }
    CHECK_MSG(hit.found == want_hit.found && hit.procedural == want_hit.procedural &&
                  hit.opaque == want_hit.opaque && hit.backface == want_hit.backface &&
                  facet_float_bits(hit.t) == facet_float_bits(want_hit.t) &&
                  facet_float_bits(hit.u) == facet_float_bits(want_hit.u) &&
                  facet_float_bits(hit.v) == facet_float_bits(want_hit.v) &&
                  hit.primitive_index == want_hit.primitive_index &&
                  hit.geometry_index == want_hit.geometry_index && hit.node == want_hit.node &&
                  hit.base == want_hit.base && hit.instance == want_hit.instance &&
                  hit.instance_user_data == want_hit.instance_user_data &&
                  got.steps == want.steps && got.boxes == want.boxes &&
                  got.primitives == want.primitives && got.instances == want.instances &&
                  got.pushes == want.pushes && got.max_depth == want.max_depth,
              "t %a primitive %u node %X steps %u pushes %u, expected t %a primitive %u node %X "
              "steps %u pushes %u; origin %a %a %a direction %a %a %a interval %a %a",
              hit.t,
              hit.primitive_index,
              hit.node,
              (unsigned)got.steps,
              (unsigned)got.pushes,
              want_hit.t,
              want_hit.primitive_index,
              want_hit.node,
              (unsigned)want.steps,
              (unsigned)want.pushes,
              ray.origin[0],
              ray.origin[1],
              ray.origin[2],
              ray.direction[0],
              ray.direction[1],
              ray.direction[2],
              ray.t_min,
              ray.t_max);
    if (fate == DEVICE_DONE) {
        CHECK_EQ((result.flags & DEVICE_LOST) != 0, visits_lost(unit, query));
    }
}

/* Sums beyond 32 bits, of rays that are done alone. */
TEST(sums_of_groups_are_those_of_their_rays, "")
{
    enum { RAYS = 1000, GROUPS = (RAYS + DEVICE_SUMMED - 1) / DEVICE_SUMMED };
    static struct device_result results[RAYS];
    static device_u32 fate[RAYS];
    static struct {
        struct device_hit hits[RAYS];
        struct device_stats each[RAYS];
        struct device_sum sums[GROUPS];
    } out;

    for (unsigned i = 0; i < RAYS; i++) {
        results[i] = (struct device_result){.steps = (uint32_t)harness_random(),
                                            .boxes = (uint32_t)harness_random(),
                                            .primitives = (uint32_t)harness_random(),
                                            .instances = (uint32_t)harness_random(),
                                            .pushes = (uint32_t)harness_random(),
                                            .max_depth = below(97),
                                            .flags = below(32) == 0 ? DEVICE_LOST : 15};
        fate[i] = below(8) == 0 ? DEVICE_DECLINED : DEVICE_DONE;
    }
    for (twin_item = 0; twin_item < GROUPS; twin_item++) {
        facet_sums(results, fate, RAYS, (device_u64 *)&out);
    }
    for (unsigned g = 0; g < GROUPS; g++) {
        struct device_sum want = {0}, *got = &out.sums[g];

        for (unsigned i = g * DEVICE_SUMMED; i < RAYS && i / DEVICE_SUMMED == g; i++) {
            const struct device_result *r = &results[i];

            if (fate[i] == DEVICE_DONE) {
                want.steps += r->steps;
                want.boxes += r->boxes;
                want.primitives += r->primitives;
                want.instances += r->instances;
                want.pushes += r->pushes;
                want.max_depth = want.max_depth < r->max_depth ? r->max_depth : want.max_depth;
                want.lost |= r->flags & DEVICE_LOST;
            }
        }
        CHECK_MSG(memcmp(&want, got, sizeof want) == 0,
                  "group %u: %llu steps, expected %llu",
                  g,
                  (unsigned long long)got->steps,
                  (unsigned long long)want.steps);
    }
}

static void check_query(const struct facet_gfx12_unit *unit,
                        const struct facet_gfx12_query *query,
                        struct tally *tally)
{
    check_launch(unit, query, 1 + below(20), below(2) != 0 ? 7 + below(6) : 0, tally);
}

static struct tally check_worlds(unsigned worlds, bool damaged)
{
    struct tally tally = {0};

    for (unsigned i = 0; i < worlds && !harness_failed(); i++) {
        struct world *w = world_new(damaged);

        for (unsigned r = 0; w != NULL && r < 100 && !harness_failed(); r++) {
            struct facet_gfx12_batch_ray ray;
            struct facet_gfx12_query q;

            random_ray(w, &ray);
            facet_gfx12_query_init(&q, ray.origin, ray.direction);
            q.t_min = ray.t_min;
            q.t_max = ray.t_max;
            q.address = w->base;
            q.api_flags = random_api_flags();
            q.instance_mask = below(3) == 0 ? (uint32_t)harness_random() & 0x1FF : 0xFF;
            q.max_steps = below(8) == 0 ? 1 + below(40) : 3000;
            q.callbacks.procedural = below(3) == 0   ? no_box
                                     : below(2) == 0 ? facet_gfx12_procedural_box
                                                     : NULL;
            check_query(&w->unit, &q, &tally);
        }
        if (w != NULL) {
            world_free(w);
        }
    }
    return tally;
}

TEST(rays_equal_the_reference, "G12-195 G12-248")
{
    const struct tally t = check_worlds(harness_long() ? 4000 : 400, false);

    CHECK(fast_begun > 1000 && fast_done > fast_begun / 10);
    CHECK(t.hits > 1000 && t.declined > 10 && t.endless > 10);
}

/* Numbers at their limits in what may be a box or an instance node; its box may then be met from
 * everywhere. */
static void tweak(uint8_t node[128])
{
    static const uint8_t exponents[] = {0, 1, 11, 12, 13, 160, 254, 255};
    static const uint8_t types[] = {0, 3, 5, 6, 7, 8, 11, 15};
    const unsigned axis = below(3), child = 8 + 3 * below(8);
    uint32_t d[32];

    memcpy(d, node, sizeof d);
    switch (below(10)) {
    case 0:
        d[6] = (d[6] & ~(255u << 8 * axis)) | (uint32_t)exponents[below(8)] << 8 * axis;
        break;
    case 1:
        d[6] = (d[6] & 0xFF000000u) | 0xB4B4B4u; /* a box around everything */
        break;
    case 2:
        d[3 + axis] = facet_float_bits(odd_float());
        d[4] = d[5] = below(4) == 0 ? d[3] : d[5];
        break;
    case 3:
        d[child + 1] = (d[child + 1] & 0x00FFFFFFu) | (below(2) != 0 ? 0 : below(256) << 24);
        break;
    case 4:
        d[child] ^= 1u << (24 + below(4));
        break;
    case 5:
        d[child + 2] = (d[child + 2] & 0xF0FFFFFFu) | (uint32_t)types[below(8)] << 24;
        break;
    case 6:
        d[12] ^= below(2) != 0 ? 8 : 1 + below(7); /* half a node, or bits that nobody looks at */
        break;
    case 7: /* smaller than normal numbers reach, where rays begin */
        d[3] = d[4] = d[5] = below(2) << 31;
        d[6] = (d[6] & 0xFF000000u) | below(14) << 16 | below(14) << 8 | below(14);
        break;
    default:
        break;
    }
    memcpy(node, d, sizeof d);
}

static enum facet_gfx12_verdict none_counts(void *context, const struct facet_gfx12_hit *candidate)
{
    (void)context, (void)candidate;
    return FACET_GFX12_IGNORE;
}

static void wild_ray(const struct world *w, struct facet_gfx12_query *q)
{
    struct facet_gfx12_batch_ray ray;

    random_ray(w, &ray);
    facet_gfx12_query_init(q, ray.origin, ray.direction);
    q->t_min = ray.t_min;
    q->t_max = ray.t_max;
    q->address = w->base;
    q->api_flags = random_api_flags();
    q->max_steps = below(8) == 0 ? 1 + below(40) : 3000;
    if (below(4) == 0) {
        for (unsigned k = 0; k < 3; k++) {
            q->direction[k] = odd_float();
        }
    }
    if (below(4) == 0) {
        memset(q->origin, 0, sizeof q->origin);
    }
    if (below(4) == 0) {
        q->callbacks.any_hit = none_counts;
    }
}

/* The descriptor is the one that the fast loop is for, and the image ends where a ray may come. */
TEST(wild_nodes_in_the_fast_loop_equal_the_reference, "G12-195")
{
    struct tally tally = {0};

    fast_begun = fast_done = 0;
    for (unsigned i = 0; i < (harness_long() ? 20000 : 2000) && !harness_failed(); i++) {
        struct world *w = world_new(false);
        uint8_t *bytes = calloc(1, w->image.size + 64);

        for (size_t at = 0; at + 128 <= w->image.size; at += 128) {
            tweak(w->image.bytes + at);
        }
        memcpy(bytes + 64, w->image.bytes, w->image.size);
        facet_gfx12_unit_init(&w->unit, w->image.bytes, w->image.size);
        w->unit.image_address = w->base;
        if (w->base != 0 && below(2) != 0) { /* in the second half of 128 bytes */
            w->unit.image = bytes;
            w->unit.image_size += 64;
            w->unit.image_address -= 64;
        }
        w->unit.image_size -= below(3) == 0 ? 64 * (uint64_t)below(4) : 0;
        if (below(3) == 0) {
            w->unit.resource.size = (w->base + w->image.size) / 64 - below(6);
        }
        for (unsigned r = 0; r < 50 && !harness_failed(); r++) {
            struct facet_gfx12_query q;

            wild_ray(w, &q);
            check_launch(&w->unit, &q, UINT32_MAX, 0, &tally);
        }
        free(bytes);
        world_free(w);
    }
    CHECK(fast_done > fast_begun / 4 && tally.hits > 1000 && tally.lost > 100);
}

/* Instances that all lie in one place, so that a ray has the stack full of boxes when it meets the
 * first of them: of the deepest boxes' children there are one to eight. */
TEST(full_stacks_equal_the_reference, "G12-195 G12-248")
{
    const struct pack_tri triangle = {
        .v = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}}, .primitive = 7, .opaque = true};
    struct pack_instance *instances = calloc(4096, sizeof *instances);
    struct tally tally = {0};

    fast_begun = fast_done = 0;
    for (unsigned last = 1; last <= 8; last++) {
        struct pack_image image = {0};
        struct pack_instance one = {.world_to_object = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                    .mask = 0xFF};
        struct facet_gfx12_unit unit;
        size_t top;

        one.blas = pack_blas(&image, &triangle, 1, 1, 0.01f, one.blas_lo, one.blas_hi);
        memcpy(one.lo, one.blas_lo, sizeof one.lo);
        memcpy(one.hi, one.blas_hi, sizeof one.hi);
        for (unsigned i = 0; i < 512 * last; i++) {
            instances[i] = one;
            instances[i].user_data = i;
        }
        top = pack_tlas(&image, instances, 512 * last);
        facet_gfx12_unit_init(&unit, image.bytes, image.size);
        for (unsigned i = 0; i < 8 && !harness_failed(); i++) {
            const float origin[3] = {in_range(-1, 1), in_range(-1, 1), 2};
            const float direction[3] = {0, in_range(-0.1f, 0.1f), -1};
            struct facet_gfx12_query q;

            facet_gfx12_query_init(&q, origin, direction);
            q.address = top;
            check_launch(&unit, &q, UINT32_MAX, 0, &tally);
        }
        pack_free(&image);
    }
    free(instances);
    CHECK(tally.hits > 10 && fast_begun == 64 && fast_done < 64);
}

TEST(rays_through_damaged_images_equal_the_reference, "G12-195")
{
    const struct tally t = check_worlds(harness_long() ? 4000 : 400, true);

    CHECK(t.hits > 1000 && t.lost > 100);
}

TEST(rays_through_scenes_of_scenes_equal_the_reference, "G12-248")
{
    struct facet_gfx12_unit unit;
    struct scene_of_scenes scenes;
    struct tally tally = {0};

    scene_of_scenes_build(&scenes);
    facet_gfx12_unit_init(&unit, scenes.image.bytes, scenes.image.size);
    for (unsigned i = 0; i < 2000 && !harness_failed(); i++) {
        struct facet_gfx12_query q;
        float ray[2][3];

        scene_of_scenes_ray(ray);
        facet_gfx12_query_init(&q, ray[0], ray[1]);
        q.address = scenes.top;
        check_query(&unit, &q, &tally);
    }
    CHECK_MSG(tally.hits > 20 && tally.declined > 100,
              "%u hits, %u declined",
              tally.hits,
              tally.declined);
    pack_free(&scenes.image);
}
