/* One scene with everything that decides about hits - sides, mirroring instances, cut-outs,
 * blending, smooth metal, both kinds of light - drawn by every machine. */
#include "harness.h"
#include "render/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 40, HEIGHT = 35 };

static const float X4[3] = {4, 0, 0}, Z4[3] = {0, 0, -4}, Y1[3] = {0, 1, 0};

/* A floor, a wall of smooth metal behind it, and four plates: one-sided, seen from behind, with
 * holes, and half transparent. One plate comes by an instance that mirrors. */
static void make_scene(struct facet_scene *scene, bool blend)
{
    static const uint8_t holes[] = {
        255, 80, 80, 255, 255, 255, 255, 0, 255, 255, 255, 0, 80, 80, 255, 255};
    static const float mirrored[12] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.5F};
    const float middle[3] = {0, 0, 0}, back[3] = {0, 2, -4}, eye[3] = {0.3F, 2.2F, 7};
    const float at[4][3] = {{-2.5F, 1, 0}, {-0.9F, 1, 0}, {0.9F, 1, 0}, {-2.4F, 1, 1}};
    const float half[3] = {0.7F, 0, 0.1F}, turned[3] = {-0.7F, 0, 0.1F};
    uint32_t ground, metal, plain, cut, glass;

    facet_scene_init(scene);
    ground = add_material(scene, 0.5F, 0.6F, 0.4F);
    metal = add_material(scene, 0.9F, 0.9F, 0.95F);
    plain = add_material(scene, 0.7F, 0.3F, 0.2F);
    cut = add_material(scene, 1, 1, 1);
    glass = add_material(scene, 0.3F, 0.4F, 0.9F);
    scene->materials[metal].metallic = 1;
    scene->materials[metal].roughness = 0.1F;
    scene->materials[cut].alpha_mode = FACET_ALPHA_MASK;
    scene->materials[cut].alpha_cutoff = 0.5F;
    scene->materials[cut].double_sided = true;
    scene->materials[cut].base_texture.texture = add_texture(scene, 2, 2, holes);
    scene->materials[cut].base_texture.magnify = FACET_FILTER_NEAREST;
    scene->materials[glass].alpha_mode = blend ? FACET_ALPHA_BLEND : FACET_ALPHA_OPAQUE;
    scene->materials[glass].base_color[3] = 0.5F;
    add_instance(scene, add_quad(scene, ground, middle, X4, Z4), NULL);
    add_instance(scene, add_quad(scene, metal, back, X4, (const float[3]){0, 2, 0}), NULL);
    add_instance(scene, add_quad(scene, plain, at[0], half, Y1), NULL);
    add_instance(scene, add_quad(scene, plain, at[1], turned, Y1), NULL); /* from behind */
    add_instance(scene, add_quad(scene, cut, at[2], half, Y1), NULL);
    add_instance(scene, add_quad(scene, glass, at[3], half, Y1), mirrored);
    add_flat_camera(scene, eye, false, 4);
    add_sun(scene, -1, -2, -1, 3.0F);
    add_point_light(scene, 1, 3, 2, 4.0F);
    finish(scene);
}

/* Whether the machine can draw here: the guest program needs a compiler that may be missing. */
static bool is_there(const struct facet_scene *scene, const struct facet_render_machine *machine)
{
    struct facet_render_options options = plain_options(scene, 1, 1);
    struct facet_render *render = NULL;
    struct facet_error err = {0};
    enum facet_status status;

    options.machine = machine;
    status = facet_render_open(scene, &options, NULL, NULL, &render, &err);
    facet_render_close(render);
    CHECK(status == FACET_OK || strstr(err.message, "guest program") != NULL);
    return status == FACET_OK;
}

/* Without rays there are no shadows; those machines have tests of their own. */
static bool traces_rays(const struct facet_render_machine *machine)
{
    return !machine->rasterizes;
}

static bool is_close(const float *a, const float *b)
{
    for (unsigned c = 0; c < 3; c++) {
        if (!(fabsf(a[c] - b[c]) <= 1e-3F * (1 + fabsf(a[c])))) {
            return false;
        }
    }
    return true;
}

static void compare(const struct facet_scene *scene, uint32_t bounces, const char *what)
{
    struct facet_render_options options = plain_options(scene, WIDTH, HEIGHT);
    struct facet_render_report report, other;
    struct facet_image_f first, image;

    options.bounces = bounces;
    options.ao_rays = bounces == 0;
    first = draw(scene, &options, 1, &report);
    for (unsigned m = 1; facet_render_machines[m] != NULL; m++) {
        unsigned same = 0;

        options.machine = facet_render_machines[m];
        if (!traces_rays(options.machine) || !is_there(scene, options.machine)) {
            continue;
        }
        image = draw(scene, &options, 2, &other);
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            same += is_close(first.rgb + 3 * (size_t)i, image.rgb + 3 * (size_t)i);
        }
        CHECK_MSG(same >= WIDTH * HEIGHT * 98 / 100,
                  "%s, %s: only %u of %u pixels agree",
                  what,
                  options.machine->name,
                  same,
                  WIDTH * HEIGHT);
        for (unsigned k = 0; k < FACET_RAY_KIND_COUNT; k++) {
            uint64_t a = report.cost[k].rays, b = other.cost[k].rays;

            CHECK_MSG(a * 49 <= b * 50 && b * 49 <= a * 50,
                      "%s, %s: %llu rays of kind %u, not %llu",
                      what,
                      options.machine->name,
                      (unsigned long long)b,
                      k,
                      (unsigned long long)a);
        }
        facet_image_f_free(&image);
    }
    facet_image_f_free(&first);
}

TEST(machines_draw_the_same_picture, "")
{
    struct facet_scene scene;

    make_scene(&scene, false);
    compare(&scene, 0, "ambient light");
    compare(&scene, 2, "paths");
    facet_scene_free(&scene);
}

/* Which rays a half transparent plate stops is chosen by the bits of the hit, which differ between
 * machines; the mean does not. */
/* Machines that a picture leaves behind draw the next one, whatever they have in memory by then. */
TEST(a_second_picture_is_the_first_one, "")
{
    const struct facet_render_machine *const *machine;
    struct facet_scene scene;

    make_scene(&scene, true);
    for (machine = facet_render_machines; *machine != NULL; machine++) {
        struct facet_render_options options = plain_options(&scene, WIDTH, HEIGHT);
        struct facet_render *render = NULL;
        struct facet_image_f picture[3] = {{0}};
        struct facet_render_report report[3];

        options.machine = *machine;
        if (!is_there(&scene, *machine)) {
            continue;
        }
        CHECK_EQ(facet_render_open(&scene, &options, NULL, NULL, &render, NULL), FACET_OK);
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(facet_render_draw(render, NULL, NULL, &picture[i], &report[i], NULL),
                     FACET_OK);
            CHECK(memcmp(picture[i].rgb, picture[0].rgb, 3 * sizeof(float) * WIDTH * HEIGHT) == 0);
            CHECK_EQ(report[i].instructions, report[0].instructions);
        }
        for (int i = 0; i < 3; i++) {
            facet_image_f_free(&picture[i]);
        }
        facet_render_close(render);
    }
    facet_scene_free(&scene);
}

TEST(blended_plates_let_half_of_the_light_pass, "")
{
    double mean[8] = {0};
    struct facet_scene scene;

    make_scene(&scene, true);
    for (unsigned m = 0; facet_render_machines[m] != NULL && m < 8; m++) {
        struct facet_render_options options = plain_options(&scene, WIDTH, HEIGHT);
        struct facet_image_f image;

        options.machine = facet_render_machines[m];
        options.spp = 4;
        if (!traces_rays(options.machine) || !is_there(&scene, options.machine)) {
            continue;
        }
        image = draw(&scene, &options, 2, NULL);
        for (uint32_t i = 0; i < 3 * WIDTH * HEIGHT; i++) {
            mean[m] += (double)image.rgb[i] / (3 * WIDTH * HEIGHT);
        }
        CHECK_MSG(fabs(mean[m] - mean[0]) < 0.01 * mean[0],
                  "%s: mean %g, not %g",
                  options.machine->name,
                  mean[m],
                  mean[0]);
        facet_image_f_free(&image);
    }
    facet_scene_free(&scene);
}

/* A strip of texels that is wider than the unit's textures loses every other column, not its only
 * row; and the picture is counted to its end. */
TEST(the_tile_gpu_shrinks_a_strip_and_counts_its_buckets, "")
{
    enum { TEXELS = 1 << 17 };
    const float middle[3] = {0, 0, 0}, across[3] = {1, 0, 0}, eye[3] = {0, 0, 5};
    uint8_t *strip = calloc(TEXELS, 4);
    struct facet_render_options options;
    struct facet_render_report report;
    struct facet_progress progress;
    struct facet_render *render = NULL;
    struct facet_image_f image = {0};
    struct facet_scene scene;
    uint32_t material;

    for (size_t i = 0; i < TEXELS; i++) { /* red, then green */
        strip[4 * i + (i >= TEXELS / 2)] = strip[4 * i + 3] = 255;
    }
    facet_scene_init(&scene);
    material = add_material(&scene, 1, 1, 1);
    scene.materials[material].unlit = true;
    scene.materials[material].base_texture.texture = add_texture(&scene, TEXELS, 1, strip);
    add_instance(&scene, add_quad(&scene, material, middle, across, Y1), NULL);
    add_flat_camera(&scene, eye, false, 1);
    add_sun(&scene, 0, 0, -1, 1);
    finish(&scene);
    options = plain_options(&scene, 16, 16);
    for (unsigned m = 0; facet_render_machines[m] != NULL; m++) {
        if (strcmp(facet_render_machines[m]->name, "tile") == 0) {
            options.machine = facet_render_machines[m];
        }
    }
    facet_progress_start(&progress, &(struct facet_progress_config){.label = "x", .quiet = true});
    CHECK_EQ(facet_render_open(&scene, &options, NULL, &progress, &render, NULL), FACET_OK);
    CHECK_EQ(facet_render_draw(render, NULL, &progress, &image, &report, NULL), FACET_OK);
    CHECK_EQ(progress.done, 2 + facet_render_buckets(&options));
    CHECK(pixel(&image, 3, 8)[0] > 0.5F && pixel(&image, 3, 8)[1] == 0);
    CHECK(pixel(&image, 12, 8)[1] > 0.5F && pixel(&image, 12, 8)[0] == 0);
    facet_progress_finish(&progress);
    facet_image_f_free(&image);
    facet_render_close(render);
    facet_scene_free(&scene);
    free(strip);
}

/* Every option that the machines have in common is looked at before one is opened. */
TEST(options_are_checked_for_every_machine, "")
{
    struct facet_scene scene;

    make_scene(&scene, false);
    for (unsigned m = 0; facet_render_machines[m] != NULL; m++) {
        struct facet_render_options options = plain_options(&scene, 4, 4);
        struct facet_render *render = NULL;

        options.machine = facet_render_machines[m];
        options.bounces = FACET_RENDER_MAX_BOUNCES + 1;
        CHECK_EQ(facet_render_open(&scene, &options, NULL, NULL, &render, NULL), FACET_ERR_USAGE);
        CHECK(render == NULL);
    }
    facet_scene_free(&scene);
}

/* A small lamp 2 above a floor; the sun is there in both pictures and drops out of the difference,
 * which is colour / pi * radiance * area / distance^2 below the lamp. */
static void lamp_and_floor(struct facet_scene *scene, float radiance, bool mirrored, bool turned)
{
    static const float mirror[12] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const float middle[3] = {0, 0, 0}, above[3] = {0, 2, 0}, eye[3] = {0, 1.5F, 0};
    const float across[3] = {turned ? -0.1F : 0.1F, 0, 0}, up[3] = {0, 0, 0.1F};
    uint32_t ground, lamp;

    facet_scene_init(scene);
    ground = add_material(scene, 0.5F, 0.5F, 0.5F);
    lamp = add_material(scene, 0, 0, 0);
    for (unsigned c = 0; c < 3; c++) {
        scene->materials[lamp].emissive[c] = radiance;
    }
    add_instance(scene, add_quad(scene, ground, middle, X4, Z4), NULL);
    add_instance(scene, add_quad(scene, lamp, above, across, up), mirrored ? mirror : NULL);
    add_flat_camera(scene, eye, true, 0.05F);
    finish(scene);
}

static double floor_light(float radiance, bool mirrored, bool turned)
{
    struct facet_render_options options;
    struct facet_scene scene;
    struct facet_image_f image;
    double light;

    lamp_and_floor(&scene, radiance, mirrored, turned);
    options = plain_options(&scene, 1, 1);
    options.spp = 64;
    options.bounces = 1;
    image = draw(&scene, &options, 1, NULL);
    light = (double)image.rgb[0];
    facet_image_f_free(&image);
    facet_scene_free(&scene);
    return light;
}

TEST(lamps_light_what_they_face, "")
{
    double expected = 0.5 / 3.14159265 * 10.0 * 0.04 / 4.0;

    for (int mirrored = 0; mirrored < 2; mirrored++) {
        double seen = floor_light(10, mirrored, false) - floor_light(0, mirrored, false);
        double turned = floor_light(10, mirrored, true) - floor_light(0, mirrored, true);

        CHECK_MSG(fabs(seen - expected) < 0.02 * expected, "light %g, not %g", seen, expected);
        CHECK_MSG(fabs(turned) < 0.001 * expected, "%g from behind", turned);
    }
}
