/* The parts of the renderer by themselves: textures, lens, sines, directions, colours, options. */
#include "harness.h"
#include "render/scenes.h"

#include "image/color.h"
#include "image/compare.h"
#include "render/heat.h"
#include "shade/light.h"
#include "shade/surface.h"

#include <math.h>

#define PI 3.14159265358979323846

/* ---- textures ---- */

/* The texel that a wrap mode shows at an endless texel number. */
static int64_t wrapped(enum facet_wrap wrap, int64_t texel, int64_t size)
{
    int64_t round = texel % (2 * size) + (texel % (2 * size) < 0 ? 2 * size : 0);

    if (wrap == FACET_WRAP_CLAMP) {
        return texel < 0 ? 0 : texel >= size ? size - 1 : texel;
    }
    if (wrap == FACET_WRAP_MIRROR) {
        return round < size ? round : 2 * size - 1 - round;
    }
    return round % size;
}

static double texel_value(const struct facet_scene_texture *t,
                          const struct facet_texture_use *use,
                          int64_t x,
                          int64_t y,
                          unsigned c)
{
    int64_t column = wrapped(use->wrap_u, x, t->width), row = wrapped(use->wrap_v, y, t->height);
    double code = t->rgba[4 * (row * t->width + column) + c] / 255.0;

    if (c == 3) {
        return code;
    }
    return code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4);
}

TEST(texture_filter_is_the_textbook_one, "")
{
    uint8_t rgba[4 * 5 * 3];
    struct facet_scene_texture texture = {.width = 5, .height = 3, .rgba = rgba};

    for (unsigned i = 0; i < sizeof rgba; i++) {
        rgba[i] = (uint8_t)harness_random();
    }
    for (unsigned n = 0; n < 20000 && !harness_failed(); n++) {
        struct facet_texture_use use = {
            .wrap_u = (enum facet_wrap)(n % 3),
            .wrap_v = (enum facet_wrap)(n / 3 % 3),
            .magnify = n / 9 % 2 ? FACET_FILTER_NEAREST : FACET_FILTER_LINEAR,
        };
        /* Multiples of 2^-16 in -8..8: exact as floats, also after wrapping. */
        float u = (float)(int64_t)(harness_random() % (1U << 20)) * 0x1p-16F - 8.0F;
        float v = (float)(int64_t)(harness_random() % (1U << 20)) * 0x1p-16F - 8.0F;
        double x = (double)u * 5, y = (double)v * 3, expected;
        float got[4];

        facet_shade_texture_sample(&texture, &use, u, v, got);
        for (unsigned c = 0; c < 4; c++) {
            if (use.magnify == FACET_FILTER_NEAREST) {
                expected = texel_value(&texture, &use, (int64_t)floor(x), (int64_t)floor(y), c);
            } else {
                int64_t ix = (int64_t)floor(x - 0.5), iy = (int64_t)floor(y - 0.5);
                double fx = x - 0.5 - (double)ix, fy = y - 0.5 - (double)iy;

                expected = (1 - fy) * ((1 - fx) * texel_value(&texture, &use, ix, iy, c) +
                                       fx * texel_value(&texture, &use, ix + 1, iy, c)) +
                           fy * ((1 - fx) * texel_value(&texture, &use, ix, iy + 1, c) +
                                 fx * texel_value(&texture, &use, ix + 1, iy + 1, c));
            }
            CHECK_MSG(fabs((double)got[c] - expected) < 1e-5,
                      "wrap %d %d filter %d at %g %g channel %u: %g, expected %g",
                      use.wrap_u,
                      use.wrap_v,
                      use.magnify,
                      (double)u,
                      (double)v,
                      c,
                      (double)got[c],
                      expected);
        }
    }
}

TEST(absurd_texture_coordinates_are_harmless, "")
{
    static const float absurd[] = {NAN, INFINITY, -INFINITY, 3e38F, -3e38F, 1e-45F, -1e-45F, 1e10F};
    uint8_t rgba[4] = {255, 255, 255, 255};
    struct facet_scene_texture texture = {.width = 1, .height = 1, .rgba = rgba};

    for (unsigned i = 0; i < 8 * 3 * 2; i++) {
        struct facet_texture_use use = {.wrap_u = (enum facet_wrap)(i % 3),
                                        .wrap_v = (enum facet_wrap)(i % 3),
                                        .magnify = (enum facet_filter)(i / 3 % 2)};
        float got[4];

        facet_shade_texture_sample(&texture, &use, absurd[i / 6], absurd[7 - i / 6], got);
        CHECK(got[0] == 1.0F && got[3] == 1.0F);
    }
}

/* ---- lens ---- */

static struct facet_scene_camera level_camera(float fov, float aspect)
{
    struct facet_scene_camera camera = {
        .transform = {1, 0, 0, 10, 0, 1, 0, 20, 0, 0, 1, 30},
        .y_fov = fov,
        .aspect = aspect,
        .z_near = 0.5F,
        .z_far = 9.0F,
    };

    return camera;
}

TEST(lens_shows_the_angle_it_was_given, "")
{
    struct facet_scene_camera camera = level_camera(1.0F, 0.0F);
    struct facet_shade_lens lens;
    struct facet_shade_ray ray;

    facet_shade_lens_make(&camera, 200, 100, &lens);
    facet_shade_lens_ray(&lens, 0.0, 0.0, &ray); /* the top left corner */
    CHECK(ray.origin[0] == 10.0F && ray.origin[1] == 20.0F && ray.origin[2] == 30.0F);
    CHECK(fabs((double)ray.direction[0] + 2 * tan(0.5)) < 1e-6);
    CHECK(fabs((double)ray.direction[1] - tan(0.5)) < 1e-6);
    CHECK(ray.direction[2] == -1.0F && ray.t_min == 0.5F && ray.t_max == 9.0F);
    facet_shade_lens_ray(&lens, 100.0, 50.0, &ray);
    CHECK(ray.direction[0] == 0.0F && ray.direction[1] == 0.0F);
    /* A picture narrower than the camera keeps the camera's width. */
    camera = level_camera(1.0F, 2.0F);
    facet_shade_lens_make(&camera, 100, 100, &lens);
    facet_shade_lens_ray(&lens, 0.0, 0.0, &ray);
    CHECK(fabs((double)ray.direction[0] + 2 * tan(0.5)) < 1e-6);
    CHECK(fabs((double)ray.direction[1] - 2 * tan(0.5)) < 1e-6);
    camera.kind = FACET_CAMERA_ORTHOGRAPHIC;
    camera.x_mag = 3.0F;
    camera.y_mag = 2.0F;
    camera.z_far = 0.0F;
    facet_shade_lens_make(&camera, 300, 200, &lens);
    facet_shade_lens_ray(&lens, 300.0, 200.0, &ray);
    CHECK(ray.origin[0] == 13.0F && ray.origin[1] == 18.0F && ray.origin[2] == 30.0F);
    CHECK(ray.direction[0] == 0.0F && ray.direction[1] == 0.0F && ray.direction[2] == -1.0F);
    CHECK(isinf(ray.t_max));
}

TEST(sines_are_sines, "")
{
    for (unsigned i = 0; i <= 1000; i++) {
        double x = PI / 2 * i / 1000, s, c;
        float small = (float)(PI / 4 * ((double)i / 500 - 1)), fs, fc;

        facet_shade_sincos_double(x, &s, &c);
        CHECK(fabs(s - sin(x)) < 1e-15 && fabs(c - cos(x)) < 1e-15);
        facet_shade_sincos_small(small, &fs, &fc);
        CHECK(fabs((double)fs - sin((double)small)) < 1e-6);
        CHECK(fabs((double)fc - cos((double)small)) < 4e-6);
    }
}

/* Mean of n is 2/3 n, and of the squares 1/2 along n, 1/4 across it: the moments of the cosine. */
TEST(directions_have_the_cosine_density, "")
{
    static const struct facet_vec3 normals[4] = {
        {0, 0, 1}, {0, 0, -1}, {0, 1, 0}, {0.6F, -0.64F, 0.48F}};
    enum { SIDE = 256 };

    for (unsigned k = 0; k < 4; k++) {
        double along = 0, square = 0, across = 0;
        struct facet_vec3 n = normals[k], other = vec3_cross(n, vec3(0.36F, 0.48F, 0.8F));

        CHECK(vec3_normalize(&n) && vec3_normalize(&other));
        for (unsigned i = 0; i < SIDE * SIDE; i++) {
            struct facet_vec3 d = facet_shade_cosine_direction(
                n, ((float)(i % SIDE) + 0.5F) / SIDE, ((float)(i / SIDE) + 0.5F) / SIDE);
            double cosine = (double)vec3_dot(d, n), side = (double)vec3_dot(d, other);

            if (!(fabs((double)vec3_dot(d, d) - 1) < 1e-5) || cosine < -1e-6) {
                CHECK_MSG(false, "direction %u of normal %u is wrong", i, k);
                break;
            }
            along += cosine / (SIDE * SIDE);
            square += cosine * cosine / (SIDE * SIDE);
            across += side * side / (SIDE * SIDE);
        }
        CHECK_MSG(fabs(along - 2.0 / 3) < 1e-3, "mean cosine is %g", along);
        CHECK(fabs(square - 0.5) < 1e-3 && fabs(across - 0.25) < 1e-3);
    }
}

TEST(spot_light_follows_the_extension, "")
{
    struct facet_scene_light light = {.kind = FACET_LIGHT_SPOT,
                                      .color = {1, 0.5F, 0},
                                      .intensity = 8,
                                      .position = {0, 2, 0},
                                      .direction = {0, -1, 0},
                                      .range = 10,
                                      .inner_cone = 0.2F,
                                      .outer_cone = 0.6F};
    const struct facet_vec3 up = vec3(0, 1, 0);

    for (unsigned i = 0; i < 20; i++) {
        double x = 0.1 * i, square = x * x + 4, cosine = 2 / sqrt(square), expected;
        double cone = (cosine - cos(0.6)) / (cos(0.2) - cos(0.6));
        struct facet_incoming in;

        cone = cone < 0 ? 0 : cone > 1 ? 1 : cone;
        expected = 8 / square * (1 - square * square / 1e4) * cone * cone * cosine / PI;
        if (!facet_shade_light_incoming(&light, vec3((float)x, 0, 0), up, up, &in)) {
            CHECK_MSG(cone < 1e-6, "no light at %g", x);
            continue;
        }
        CHECK_MSG(fabs((double)in.radiance.x - expected) < 1e-5 &&
                      fabs((double)in.radiance.y - expected / 2) < 1e-5 && in.radiance.z == 0.0F,
                  "at %g: %g, expected %g",
                  x,
                  (double)in.radiance.x,
                  expected);
        CHECK(in.t_max == 1.0F);
    }
}

/* ---- pictures of numbers ---- */

TEST(developing_keeps_dark_colors_exact, "")
{
    float rgb[3 * 3] = {0.5F, 0.1F, 0.25F, 0.3F, 0.3F, 0.3F, 4.0F, 4.0F, 4.0F};
    struct facet_image_f light = {3, 1, rgb};
    struct facet_image out;
    struct facet_error err;

    CHECK(facet_render_develop(&light, 1.0F, false, &out, &err) == FACET_OK);
    for (unsigned i = 0; i < 6; i++) {
        CHECK_EQ(out.rgba[i + i / 3], facet_image_linear_to_srgb(rgb[i]));
    }
    CHECK(out.rgba[8] > 245 && out.rgba[8] < 255 && out.rgba[11] == 255);
    facet_image_free(&out);
    CHECK(facet_render_develop(&light, 2.0F, true, &out, &err) == FACET_OK);
    CHECK_EQ(out.rgba[4], facet_image_linear_to_srgb(0.6F));
    CHECK_EQ(out.rgba[8], 255);
    facet_image_free(&out);
}

TEST(heat_scale_covers_the_counts, "")
{
    float rgb[3 * 400];
    struct facet_image_f counts = {20, 20, rgb};
    struct facet_image out;
    struct facet_error err;
    uint8_t expected[4];

    for (unsigned i = 0; i < 1200; i++) {
        rgb[i] = (float)(i / 3 % 47);
    }
    CHECK(facet_render_heat_limit(&counts) == 50.0F);
    rgb[0] = 1e9F; /* one wild pixel of 400 does not stretch the scale */
    CHECK(facet_render_heat_limit(&counts) == 50.0F);
    CHECK(facet_render_heat_picture(&counts, 50.0F, "counts", &out, &err) == FACET_OK);
    facet_image_heat_color(0.5F, expected);
    CHECK(memcmp(out.rgba + 4 * 25, expected, 4) == 0);
    facet_image_heat_color(1.0F, expected);
    CHECK(memcmp(out.rgba, expected, 4) == 0);
    facet_image_free(&out);
}

/* ---- refusals ---- */

TEST(senseless_options_are_refused, "")
{
    const float origin[3] = {0, 0, 0}, x1[3] = {1, 0, 0}, y1[3] = {0, 1, 0};
    struct facet_render_options good, bad[6];
    struct facet_render *render;
    struct facet_scene scene;
    struct facet_error err;

    facet_scene_init(&scene);
    add_instance(&scene, add_quad(&scene, add_material(&scene, 1, 1, 1), origin, x1, y1), NULL);
    finish(&scene);
    good = plain_options(&scene, 8, 8);
    for (unsigned i = 0; i < 6; i++) {
        bad[i] = good;
    }
    bad[0].width = 0;
    bad[1].height = FACET_IMAGE_MAX_SIDE + 1;
    bad[2].spp = 0;
    bad[3].ao_rays = FACET_RENDER_MAX_AO_RAYS + 1;
    bad[4].ao_distance = NAN;
    bad[5].machine = NULL;
    for (unsigned i = 0; i < 6; i++) {
        err.message[0] = '\0';
        CHECK_EQ(facet_render_open(&scene, &bad[i], NULL, NULL, &render, &err), FACET_ERR_USAGE);
        CHECK(render == NULL && err.message[0] != '\0');
    }
    CHECK(facet_render_open(&scene, &good, NULL, NULL, &render, &err) == FACET_OK);
    facet_render_close(render);
    CHECK(facet_render_machine_find("gfx12") == facet_render_machines[0]);
    CHECK(facet_render_machine_find("gfx") == NULL);
    facet_scene_free(&scene);
}
