/* Pictures whose pixels can be worked out by hand: light, shadow, sides, cut-outs, textures. */
#include "harness.h"
#include "render/scenes.h"

#include "scene/make.h"
#include "shade/light.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

static const float ORIGIN[3] = {0, 0, 0}, X1[3] = {1, 0, 0}, Y1[3] = {0, 1, 0};
static const float X4[3] = {4, 0, 0}, MINUS_Z4[3] = {0, 0, -4};

static bool near_rgb(const float *got, const double expected[3], double tolerance)
{
    for (unsigned c = 0; c < 3; c++) {
        if (!(fabs((double)got[c] - expected[c]) <= tolerance * (1.0 + expected[c]))) {
            return false;
        }
    }
    return true;
}

#define CHECK_RGB(got, r, g, b, tolerance)                                                         \
    CHECK_MSG(near_rgb(got, (const double[3]){r, g, b}, tolerance),                                \
              "pixel is %g %g %g, expected %g %g %g",                                              \
              (double)(got)[0],                                                                    \
              (double)(got)[1],                                                                    \
              (double)(got)[2],                                                                    \
              r,                                                                                   \
              g,                                                                                   \
              b)

/* What a surface of a colour sends out that faces up under the sky and `direct`, light per pi. */
static void expect_up(const double color[3], double direct, double level, double out[3])
{
    const struct facet_vec3 sky = facet_shade_sky_light(vec3(0, 1, 0));
    const double ambient[3] = {(double)sky.x, (double)sky.y, (double)sky.z};

    for (unsigned c = 0; c < 3; c++) {
        out[c] = color[c] * (direct + ambient[c] * level);
    }
}

/* ---- light and shadow ---- */

/* A floor of 8 x 8 seen from above; a plate of 2 x 2 hovers 1 above its middle; the sun comes from
 * +x at 45 degrees, so the plate's shadow lies 1 towards -x. */
static void floor_and_plate(struct facet_scene *scene, bool two_sided, bool face_down)
{
    const float eye[3] = {0, 5, 0}, above[3] = {0, 1, 0}, z1[3] = {0, 0, -1},
                minus_x[3] = {-1, 0, 0};
    uint32_t ground, plate;

    facet_scene_init(scene);
    ground = add_material(scene, 0.5F, 0.25F, 0.125F);
    plate = add_material(scene, 0.8F, 0.8F, 0.8F);
    scene->materials[plate].double_sided = two_sided;
    add_instance(scene, add_quad(scene, ground, ORIGIN, X4, MINUS_Z4), NULL);
    add_instance(scene, add_quad(scene, plate, above, face_down ? minus_x : X1, z1), NULL);
    add_flat_camera(scene, eye, true, 4);
    add_sun(scene, -1, -1, 0, 3.0F);
    finish(scene);
}

TEST(shadow_lies_where_the_sun_puts_it, "")
{
    const double direct = 3.0 / PI * sqrt(0.5);
    const double colors[2][3] = {{0.5, 0.25, 0.125}, {0.8, 0.8, 0.8}};
    struct facet_render_options options;
    struct facet_image_f image;
    struct facet_scene scene;

    floor_and_plate(&scene, false, false);
    options = plain_options(&scene, 64, 64);
    image = draw(&scene, &options, 1, NULL);
    for (uint32_t y = 0; y < 64; y++) {
        for (uint32_t x = 0; x < 64; x++) {
            /* Pixel centres; 8 pixels to a unit. */
            double wx = (x + 0.5) / 8 - 4, wz = (y + 0.5) / 8 - 4;
            bool plate = fabs(wx) < 1 && fabs(wz) < 1;
            bool shadow = fabs(wx + 1) < 1 && fabs(wz) < 1;
            double e[3];

            expect_up(colors[plate], plate || !shadow ? direct : 0.0, 1.0, e);
            if (!CHECK_MSG(near_rgb(pixel(&image, x, y), e, 1e-5),
                           "at %u %u (%g %g): %g, expected %g",
                           x,
                           y,
                           wx,
                           wz,
                           (double)pixel(&image, x, y)[0],
                           e[0])) {
                y = 64;
                break;
            }
        }
    }
    facet_image_f_free(&image);

    options.shadows = false;
    image = draw(&scene, &options, 1, NULL);
    {
        double e[3];

        expect_up(colors[0], direct, 1.0, e);
        CHECK_RGB(pixel(&image, 18, 32), e[0], e[1], e[2], 1e-5);
    }
    facet_image_f_free(&image);
    facet_scene_free(&scene);
}

/* A one-sided plate that turns its back to eye and sun is not there, a two-sided one is. */
TEST(backs_of_one_sided_triangles_are_not_there, "")
{
    for (int two_sided = 0; two_sided < 2; two_sided++) {
        const double floor_color[3] = {0.5, 0.25, 0.125}, plate_color[3] = {0.8, 0.8, 0.8};
        const double direct = 3.0 / PI * sqrt(0.5);
        struct facet_render_options options;
        struct facet_image_f image;
        struct facet_scene scene;
        double middle[3], left[3];

        floor_and_plate(&scene, two_sided, true);
        options = plain_options(&scene, 64, 64);
        image = draw(&scene, &options, 1, NULL);
        expect_up(two_sided ? plate_color : floor_color, direct, 1.0, middle);
        expect_up(floor_color, two_sided ? 0.0 : direct, 1.0, left);
        CHECK_RGB(pixel(&image, 36, 32), middle[0], middle[1], middle[2], 1e-5);
        CHECK_RGB(pixel(&image, 18, 32), left[0], left[1], left[2], 1e-5);
        facet_image_f_free(&image);
        facet_scene_free(&scene);
    }
}

TEST(point_light_falls_off_with_the_square, "")
{
    const float eye[3] = {0, 5, 0};
    const double white[3] = {1, 1, 1};
    struct facet_render_options options;
    struct facet_image_f image;
    struct facet_scene scene;
    double level;

    facet_scene_init(&scene);
    add_instance(
        &scene, add_quad(&scene, add_material(&scene, 1, 1, 1), ORIGIN, X4, MINUS_Z4), NULL);
    add_flat_camera(&scene, eye, true, 4);
    add_point_light(&scene, 1, 2, 0, 7.0F);
    finish(&scene);
    level = (double)facet_shade_light_level(&scene) / 3.0;
    CHECK(fabs(level * 3.0 - 7.0 / (128.0 / 16.0)) < 1e-5);
    CHECK(fabs((double)facet_shade_exposure(&scene) * level - 1.0) < 1e-5);
    options = plain_options(&scene, 32, 32);
    image = draw(&scene, &options, 1, NULL);
    for (uint32_t x = 0; x < 32; x += 3) {
        double dx = (x + 0.5) / 4 - 4 - 1, dz = 0.125, square = dx * dx + dz * dz + 4;
        double e[3];

        expect_up(white, 7.0 / square * (2 / sqrt(square)) / PI, level, e);
        CHECK_RGB(pixel(&image, x, 16), e[0], e[1], e[2], 1e-4);
    }
    facet_image_f_free(&image);
    facet_scene_free(&scene);
}

/* Sixteen lamps in one place are one lamp of their sum, though only some are drawn per sample. */
TEST(many_lights_add_up, "")
{
    const float eye[3] = {0, 5, 0};
    struct facet_render_options options;
    struct facet_image_f one, many;
    struct facet_scene scene;

    facet_scene_init(&scene);
    add_instance(
        &scene, add_quad(&scene, add_material(&scene, 1, 1, 1), ORIGIN, X4, MINUS_Z4), NULL);
    add_flat_camera(&scene, eye, true, 4);
    add_point_light(&scene, 0, 2, 0, 16.0F);
    finish(&scene);
    options = plain_options(&scene, 16, 16);
    one = draw(&scene, &options, 1, NULL);
    scene.lights[0].intensity = 1.0F;
    for (unsigned i = 1; i < 16; i++) {
        add_point_light(&scene, 0, 2, 0, 1.0F);
    }
    many = draw(&scene, &options, 1, NULL);
    for (uint32_t i = 0; i < 256; i++) {
        const float *a = one.rgb + 3 * (size_t)i, *b = many.rgb + 3 * (size_t)i;

        CHECK_RGB(b, (double)a[0], (double)a[1], (double)a[2], 1e-5);
    }
    facet_image_f_free(&one);
    facet_image_f_free(&many);
    facet_scene_free(&scene);
}

/* Beside an endless wall of height H, a floor at distance d loses (1 - d / sqrt(d^2 + H^2)) / 2 of
 * the sky (the form factor of a strip). */
TEST(wall_takes_its_share_of_the_sky, "")
{
    const float eye[3] = {2, 5, 0}, wall_middle[3] = {0, 1.5F, 0};
    const float long_z[3] = {0, 0, -1000}, high_y[3] = {0, 1.5F, 0}, wide_x[3] = {1000, 0, 0};
    struct facet_render_options options;
    struct facet_image_f open, closed;
    struct facet_scene scene;

    facet_scene_init(&scene);
    add_material(&scene, 1, 1, 1);
    scene.materials[0].double_sided = true;
    add_instance(&scene, add_quad(&scene, 0, ORIGIN, wide_x, long_z), NULL);
    add_instance(&scene, add_quad(&scene, 0, wall_middle, long_z, high_y), NULL);
    add_flat_camera(&scene, eye, true, 1.5F);
    add_sun(&scene, 1, 1, 0, 3.0F); /* from below: sky light alone */
    finish(&scene);
    options = plain_options(&scene, 6, 6);
    options.spp = 1024;
    open = draw(&scene, &options, 1, NULL);
    options.ao_rays = 1;
    options.ao_distance = 1e9F;
    closed = draw(&scene, &options, 2, NULL);
    for (uint32_t x = 1; x < 5; x++) {
        double d = (x + 0.5) / 2 - 1.5 + 2, share = 0;

        for (uint32_t y = 0; y < 6; y++) {
            share += (double)pixel(&closed, x, y)[0] / (double)pixel(&open, x, y)[0] / 6;
        }
        CHECK_MSG(fabs(1 - share - 0.5 * (1 - d / sqrt(d * d + 9))) < 0.005,
                  "at distance %g the wall takes %g",
                  d,
                  1 - share);
    }
    facet_image_f_free(&open);
    facet_image_f_free(&closed);
    facet_scene_free(&scene);
}

/* ---- materials ---- */

/* Two unlit squares of 2 x 2 facing the camera, the front one with a texture of 2 x 2 texels. */
static void front_and_back(struct facet_scene *scene, const uint8_t rgba[16])
{
    const float eye[3] = {0, 0, 5}, ahead[3] = {0, 0, 1};
    uint32_t back, front;

    facet_scene_init(scene);
    back = add_material(scene, 0.25F, 0.5F, 0.75F);
    front = add_material(scene, 1, 1, 1);
    scene->materials[back].unlit = scene->materials[front].unlit = true;
    scene->materials[front].base_texture.texture = add_texture(scene, 2, 2, rgba);
    scene->materials[front].base_texture.magnify = FACET_FILTER_NEAREST;
    add_instance(scene, add_quad(scene, back, ORIGIN, X1, Y1), NULL);
    add_instance(scene, add_quad(scene, front, ahead, X1, Y1), NULL);
    add_flat_camera(scene, eye, false, 1);
    add_sun(scene, 0, 0, -1, 3.0F);
    finish(scene);
}

/* Red top left, green top right, blue bottom left, white bottom right; alpha 0 at two corners. */
static const uint8_t corners[16] = {
    255, 0, 0, 255, 0, 255, 0, 0, 0, 0, 255, 100, 255, 255, 255, 128};

TEST(cut_outs_show_what_is_behind, "")
{
    struct facet_render_options options;
    struct facet_image_f image;
    struct facet_scene scene;

    front_and_back(&scene, corners);
    scene.materials[1].alpha_mode = FACET_ALPHA_MASK;
    scene.materials[1].alpha_cutoff = 0.5F;
    options = plain_options(&scene, 8, 8);
    image = draw(&scene, &options, 1, NULL);
    for (uint32_t y = 0; y < 8; y++) {
        for (uint32_t x = 0; x < 8; x++) {
            const float *got = pixel(&image, x, y);

            if (x < 4 && y < 4) {
                CHECK_RGB(got, 1.0, 0.0, 0.0, 0.0);
            } else if (x >= 4 && y >= 4) {
                CHECK_RGB(got, 1.0, 1.0, 1.0, 0.0); /* 128 / 255 is above the cutoff */
            } else {
                CHECK_RGB(got, 0.25, 0.5, 0.75, 0.0);
            }
        }
    }
    facet_image_f_free(&image);
    /* The vertex colour's and the factor's alpha count too. */
    scene.materials[1].base_color[3] = 0.49F;
    image = draw(&scene, &options, 1, NULL);
    CHECK_RGB(pixel(&image, 0, 0), 0.25, 0.5, 0.75, 0.0);
    facet_image_f_free(&image);
    facet_scene_free(&scene);
}

TEST(cut_outs_let_light_through, "")
{
    const double direct = 3.0 / PI;
    struct facet_render_options options;
    struct facet_image_f image;
    struct facet_scene scene;
    double sky;

    front_and_back(&scene, corners);
    scene.materials[0].unlit = false;
    scene.materials[1].alpha_mode = FACET_ALPHA_MASK;
    scene.materials[1].alpha_cutoff = 0.5F;
    options = plain_options(&scene, 8, 8);
    options.camera.transform[11] = 0.5F; /* between the two */
    image = draw(&scene, &options, 1, NULL);
    sky = (double)facet_shade_sky_light(vec3(0, 0, 1)).z;
    CHECK(fabs((double)pixel(&image, 1, 1)[2] - 0.75 * sky) < 1e-5);
    CHECK(fabs((double)pixel(&image, 6, 1)[2] - 0.75 * (sky + direct)) < 1e-5);
    CHECK(fabs((double)pixel(&image, 1, 6)[2] - 0.75 * (sky + direct)) < 1e-5);
    CHECK(fabs((double)pixel(&image, 6, 6)[2] - 0.75 * sky) < 1e-5);
    facet_image_f_free(&image);
    facet_scene_free(&scene);
}

/* On average over samples a blended surface lets 1 - alpha through. */
TEST(blended_surfaces_mix, "")
{
    struct facet_render_options options;
    struct facet_image_f image;
    struct facet_scene scene;
    double sum[3] = {0, 0, 0};

    front_and_back(&scene, corners);
    scene.materials[1].alpha_mode = FACET_ALPHA_BLEND;
    options = plain_options(&scene, 8, 8);
    options.spp = 256;
    image = draw(&scene, &options, 2, NULL);
    for (uint32_t i = 0; i < 4; i++) { /* well inside the blue square: alpha 100 / 255 */
        for (unsigned c = 0; c < 3; c++) {
            sum[c] += (double)pixel(&image, 1 + i % 2, 5 + i / 2)[c] / 4;
        }
    }
    CHECK(fabs(sum[0] - 0.25 * 155 / 255) < 0.02 && fabs(sum[1] - 0.5 * 155 / 255) < 0.02);
    CHECK(fabs(sum[2] - (0.75 * 155 + 1.0 * 100) / 255) < 0.02);
    facet_image_f_free(&image);
    facet_scene_free(&scene);
}

TEST(emitted_light_is_added, "")
{
    struct facet_render_options options;
    struct facet_image_f image;
    struct facet_scene scene;

    front_and_back(&scene, corners);
    scene.materials[1].unlit = false;
    scene.materials[1].base_color[0] = scene.materials[1].base_color[1] = 0.0F;
    scene.materials[1].base_color[2] = 0.0F;
    scene.materials[1].emissive[0] = 2.0F;
    scene.materials[1].emissive[2] = 3.0F;
    scene.materials[1].emissive_texture = scene.materials[1].base_texture;
    options = plain_options(&scene, 8, 8);
    image = draw(&scene, &options, 1, NULL);
    CHECK_RGB(pixel(&image, 1, 1), 2.0, 0.0, 0.0, 0.0);
    CHECK_RGB(pixel(&image, 1, 6), 0.0, 0.0, 3.0, 0.0);
    CHECK_RGB(pixel(&image, 6, 6), 2.0, 0.0, 3.0, 0.0);
    facet_image_f_free(&image);
    facet_scene_free(&scene);
}

/* The scene `uv`: three squares 1.1 apart, each red, green / blue, white, however the texture is
 * attached; the same with a mirrored instance, whose picture is mirrored. */
TEST(textures_are_upright, "")
{
    static const double expected[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    struct facet_scene_material *material;
    struct facet_render_options options;
    struct facet_image_f image;
    struct facet_scene scene;
    struct facet_error err;

    CHECK(facet_scene_make("uv", 2, &scene, &err) == FACET_OK);
    finish(&scene);
    for (uint32_t i = 0; i < scene.material_count; i++) {
        material = &scene.materials[i];
        material->unlit = true;
    }
    options = plain_options(&scene, 320, 180);
    options.camera.transform[3] = 0.0F;
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        if (mirrored) {
            for (uint32_t i = 0; i < scene.instance_count; i++) {
                scene.instances[i].transform[0] = -1.0F;
            }
            finish(&scene);
        }
        image = draw(&scene, &options, 1, NULL);
        for (int square = -1; square <= 1; square++) {
            for (unsigned corner = 0; corner < 4; corner++) {
                /* A unit at distance 4.5 is 90 / (4.5 tan 20 degrees) pixels. */
                double unit = 90 / (4.5 * tan(20 * PI / 180));
                double x = 160 + unit * (1.1 * square + (corner % 2 ? 0.3 : -0.3));
                double y = 90 + unit * (corner / 2 ? 0.3 : -0.3);
                const double *e = expected[corner ^ (unsigned)mirrored];

                CHECK_RGB(pixel(&image, (uint32_t)x, (uint32_t)y), e[0], e[1], e[2], 0.0);
            }
        }
        facet_image_f_free(&image);
    }
    facet_scene_free(&scene);
}

TEST(vertex_colors_are_interpolated, "")
{
    static const float colors[16] = {0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1};
    const float eye[3] = {0, 0, 5};
    struct facet_render_options options;
    struct facet_image_f image;
    struct facet_scene scene;

    facet_scene_init(&scene);
    add_material(&scene, 1, 0.5F, 1);
    scene.materials[0].unlit = true;
    add_instance(&scene, add_quad(&scene, 0, ORIGIN, X1, Y1), NULL);
    scene.meshes[0].colors = malloc(sizeof colors);
    memcpy(scene.meshes[0].colors, colors, sizeof colors);
    add_flat_camera(&scene, eye, false, 1);
    add_sun(&scene, 0, 0, -1, 3.0F);
    finish(&scene);
    options = plain_options(&scene, 16, 16);
    image = draw(&scene, &options, 1, NULL);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t x = i % 16, y = i / 16;

        CHECK_RGB(pixel(&image, x, y), (x + 0.5) / 16, 0.5 * (15.5 - y) / 16, 0.0, 1e-5);
    }
    facet_image_f_free(&image);
    facet_scene_free(&scene);
}

/* A slanted square with normals, stretched and mirrored: its normal in world space is that of the
 * stretched square, and its front stays its front. */
TEST(normals_survive_mirrors_and_stretching, "")
{
    const float eye[3] = {0, 9, 0}, across[3] = {1, 0, 0}, slope[3] = {0, 1, -1};
    const float object_normal[3] = {0, (float)sqrt(0.5), (float)sqrt(0.5)};

    for (int variant = 0; variant < 4; variant++) {
        bool mirrored = variant % 2 != 0, smooth = variant / 2 != 0;
        const float matrix[12] = {mirrored ? -2 : 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0};
        /* The slope becomes (0, 3, -1); at right angles to it, upwards: (0, 1, 3) / sqrt(10). */
        const double up = 1 / sqrt(10), back = 3 / sqrt(10);
        struct facet_render_options options;
        struct facet_image_f image;
        struct facet_scene scene;
        double direct, sky;

        facet_scene_init(&scene);
        add_material(&scene, 1, 1, 1);
        add_instance(&scene, add_quad(&scene, 0, ORIGIN, across, slope), matrix);
        if (smooth) {
            scene.meshes[0].normals = malloc(sizeof(float) * 12);
            for (unsigned i = 0; i < 12; i++) {
                scene.meshes[0].normals[i] = object_normal[i % 3];
            }
        }
        add_flat_camera(&scene, eye, true, 0.5F);
        add_sun(&scene, 0, -1, -1, 3.0F);
        finish(&scene);
        CHECK(scene.instances[0].flipped == mirrored);
        options = plain_options(&scene, 4, 4);
        image = draw(&scene, &options, 1, NULL);
        direct = 3.0 / PI * (up + back) * sqrt(0.5);
        sky = (double)facet_shade_sky_light(vec3(0, (float)up, (float)back)).x;
        CHECK_MSG(fabs((double)pixel(&image, 1, 2)[0] - direct - sky) < 1e-5,
                  "variant %d: %g, expected %g",
                  variant,
                  (double)pixel(&image, 1, 2)[0],
                  direct + sky);
        facet_image_f_free(&image);
        facet_scene_free(&scene);
    }
}

/* A lone two-sided square has nothing that could shade it: rays that leave it must not find it
 * again, however it is turned, scaled and moved away. */
TEST(nothing_shades_itself, "")
{
    for (unsigned n = 0; n < 24 && !harness_failed(); n++) {
        float scale = powf(10.0F, (float)(n % 5) - 2.0F), matrix[12];
        struct facet_vec3 x, y, z;
        struct facet_render_options options;
        struct facet_image_f open, shaded;
        struct facet_scene scene;
        float v[9];

        for (unsigned i = 0; i < 9; i++) {
            v[i] = (float)(harness_random() >> 40) * 0x1p-23F - 1.0F;
        }
        x = vec3_load(v);
        z = vec3_cross(x, vec3_load(v + 3));
        y = vec3_cross(z, x);
        CHECK(vec3_normalize(&x) && vec3_normalize(&y) && vec3_normalize(&z));
        for (unsigned r = 0; r < 3; r++) {
            const float *row[3] = {&x.x, &y.x, &z.x};

            for (unsigned c = 0; c < 3; c++) {
                matrix[4 * r + c] = row[c][r] * scale;
            }
            matrix[4 * r + 3] = v[6 + r] * scale * 100.0F;
        }
        facet_scene_init(&scene);
        add_material(&scene, 1, 1, 1);
        scene.materials[0].double_sided = true;
        add_instance(&scene, add_quad(&scene, 0, ORIGIN, X1, Y1), matrix);
        add_sun(&scene, -1, -1, -1, 3.0F);
        finish(&scene);
        options = plain_options(&scene, 48, 48);
        options.shadows = false;
        open = draw(&scene, &options, 1, NULL);
        options.shadows = true;
        options.ao_rays = 1;
        shaded = draw(&scene, &options, 1, NULL);
        CHECK_MSG(memcmp(open.rgb, shaded.rgb, sizeof(float) * 3 * 48 * 48) == 0,
                  "square %u shades itself",
                  n);
        facet_image_f_free(&open);
        facet_image_f_free(&shaded);
        facet_scene_free(&scene);
    }
}
