/* See wave.h. */
#include "gfx12/wave.h"

enum { TRIANGLES = 120, BLAS = 2, INSTANCES = 6 };

/* ---- worlds and rays ---- */

static float in_range(float lo, float hi)
{
    return lo + (hi - lo) * (float)(harness_random() >> 40) * 0x1p-24f;
}

/* Two bottom-level structures, placed six times. */
struct facet_gfx12_image wave_world(void)
{
    static struct facet_bvh_triangle triangles[BLAS][TRIANGLES];
    struct facet_bvh_blas_input blas[BLAS];
    struct facet_bvh_instance instances[INSTANCES];
    struct facet_bvh_scene_input scene = {blas, BLAS, instances, INSTANCES};
    struct facet_gfx12_build_options options = {.base = WAVE_BASE};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image = {NULL, 0};
    struct facet_error err = {0};

    for (unsigned b = 0; b < BLAS; b++) {
        for (unsigned i = 0; i < TRIANGLES; i++) {
            struct facet_bvh_triangle *t = &triangles[b][i];
            float at[3] = {in_range(-2, 2), in_range(-2, 2), in_range(-2, 2)};

            for (unsigned k = 0; k < 9; k++) {
                t->vertex[k / 3][k % 3] = at[k % 3] + in_range(-1, 1);
            }
            t->geometry = i % 3;
            t->primitive = i;
            t->flags = i % 4 != 0 ? FACET_BVH_OPAQUE : 0;
        }
        blas[b] =
            (struct facet_bvh_blas_input){.triangles = triangles[b], .triangle_count = TRIANGLES};
    }
    for (unsigned i = 0; i < INSTANCES; i++) {
        instances[i] = (struct facet_bvh_instance){
            .blas = i % BLAS, .mask = i == 0 ? 0x0F : 0xFF, .user_data = i * 0x1111};
        for (unsigned k = 0; k < 12; k++) {
            instances[i].world_to_object[k / 4][k % 4] = k % 4 == 3       ? in_range(-3, 3)
                                                         : k / 4 == k % 4 ? in_range(0.5f, 1.5f)
                                                                          : 0;
        }
    }
    CHECK_MSG(facet_gfx12_build(&scene, &options, NULL, NULL, &image, &report, &err) == FACET_OK,
              "%s",
              err.message);
    return image;
}

struct facet_gfx12_query wave_query(void)
{
    struct facet_gfx12_query q;
    float o[3], d[3];

    for (unsigned k = 0; k < 3; k++) {
        o[k] = in_range(-8, 8);
        d[k] = in_range(-3, 3) - o[k];
    }
    facet_gfx12_query_init(&q, o, d);
    q.address = WAVE_BASE;
    q.instance_mask = random_bits() % 4 == 0 ? 0x30 : 0xFF;
    q.t_min = random_bits() % 4 == 0 ? 0.5f : 0;
    q.t_max = random_bits() % 4 == 0 ? 1.25f : q.t_max;
    q.api_flags = random_bits() % 4 == 0 ? FACET_GFX12_API_TERMINATE_ON_FIRST_HIT : 0;
    return q;
}

struct facet_gfx12_unit wave_unit(const struct facet_gfx12_image *image)
{
    struct facet_gfx12_unit unit;

    facet_gfx12_unit_init(&unit, image->bytes, image->size);
    unit.image_address = WAVE_BASE;
    return unit;
}

/* A machine with the image in its memory. */
facet_machine *wave_make(const struct facet_gfx12_image *image, uint32_t lanes, uint32_t entries)
{
    struct facet_gfx12_config config = {.lanes = lanes,
                                        .stack_entries = entries,
                                        .image_base = WAVE_BASE,
                                        .image_bytes = image->size};
    struct facet_error err = {0};
    facet_machine *m = NULL;

    CHECK_MSG(facet_gfx12_create(&config, &m, &err) == FACET_OK, "%s", err.message);
    CHECK(facet_machine_write(m, 0, WAVE_BASE, image->bytes, image->size, &err) == FACET_OK);
    return m;
}

void wave_start(facet_machine *m, uint32_t lane, const struct facet_gfx12_query *q)
{
    struct facet_error err = {0};

    CHECK_MSG(facet_gfx12_start(m, lane, q, &err) == FACET_OK, "%s", err.message);
}

/* A machine of one lane that has just been given a ray which hits something. */
facet_machine *wave_started(const struct facet_gfx12_image *image, struct facet_gfx12_hit *hit)
{
    struct facet_gfx12_unit unit = wave_unit(image);
    facet_machine *m = wave_make(image, 1, 8);
    struct facet_gfx12_query q;

    do {
        q = wave_query();
        q.api_flags = 0;
        CHECK(facet_gfx12_trace_lds(&unit, &q, 8, hit, NULL, NULL) == FACET_OK);
    } while (!hit->found);
    wave_start(m, 0, &q);
    return m;
}

struct facet_stop wave_run(facet_machine *m, uint64_t budget)
{
    struct facet_run how = {.budget = budget < WAVE_STEPS ? budget : WAVE_STEPS};
    struct facet_stop stop;

    facet_machine_run(m, &how, &stop);
    return stop;
}

uint64_t wave_reg(const facet_machine *m, uint32_t lane, const char *name)
{
    struct facet_value value = {0, 0};
    struct facet_error err = {0};

    CHECK_MSG(facet_machine_reg_read(
                  m, lane, facet_machine_find_reg(m, lane, name), &value, &err) == FACET_OK,
              "%s: %s",
              name,
              err.message);
    return value.lo;
}

void wave_set_reg(facet_machine *m, uint32_t lane, const char *name, uint64_t value)
{
    CHECK(
        facet_machine_reg_write(
            m, lane, facet_machine_find_reg(m, lane, name), (struct facet_value){value, 0}, NULL) ==
        FACET_OK);
}
