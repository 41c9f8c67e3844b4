/* The rasteriser: on the hart with GFX and MTX instructions, and as plain C on the host. Both must
 * give the same bits; what they draw is checked against the ray tracer and by known values. */
#include "harness.h"
#include "render/scenes.h"
#include "render/xphmg_gfx_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 70, HEIGHT = 45 };

static const float EYE[3] = {0, 0, 5}, X1[3] = {1, 0, 0}, Y1[3] = {0, 1, 0};

static const struct facet_render_machine *machine(const char *name)
{
    const struct facet_render_machine *found = facet_render_machine_find(name);

    CHECK(found != NULL);
    return found;
}

/* The hart's program needs a cross compiler, which may have been missing. */
static bool has_guest(const struct facet_scene *scene)
{
    struct facet_render_options options = plain_options(scene, 1, 1);
    struct facet_render *render = NULL;
    struct facet_error err = {0};
    enum facet_status status;

    options.machine = machine("xphmg-gfx");
    status = facet_render_open(scene, &options, NULL, NULL, &render, &err);
    facet_render_close(render);
    CHECK(status == FACET_OK || strstr(err.message, "guest program") != NULL);
    return status == FACET_OK;
}

static struct facet_image_f
draw_by(const struct facet_scene *scene, const char *name, struct facet_render_options options)
{
    options.machine = machine(name);
    return draw(scene, &options, 2, NULL);
}

static void look(struct facet_scene_camera *camera, float x, float y, float z)
{
    static const float unit[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

    memset(camera, 0, sizeof *camera);
    camera->kind = FACET_CAMERA_PERSPECTIVE;
    memcpy(camera->transform, unit, sizeof unit);
    camera->transform[3] = x;
    camera->transform[7] = y;
    camera->transform[11] = z;
    camera->y_fov = 1.0F;
    camera->z_near = 0.1F;
}

/* Everything that takes another way: textures with both filters and all wraps, cut-outs, glass,
 * both sides, mirrored instances, vertex normals and colours, light of its own, unlit, near plane.
 */
static void make_scene(struct facet_scene *scene)
{
    static const uint8_t texels[] = {255, 80, 80,  255, 255, 255, 255, 0,   20,  200, 90,  255,
                                     80,  80, 255, 255, 10,  10,  10,  255, 250, 240, 120, 90};
    static const float mirrored[12] = {-1, 0, 0, 0.4F, 0, 1, 0, 0.2F, 0, 0, 1, 0.5F};
    static const float big[3] = {40, 0, 0}, deep[3] = {0, 0, -40}, low[3] = {0, -1.5F, 0};
    static const float slant[3] = {0.8F, 0.1F, -0.9F}, turned[3] = {-0.9F, 0, 0.3F};
    static const float at[6][3] = {{-1.6F, 0.4F, 1},
                                   {0, 0, 0},
                                   {1.5F, 0.6F, 0.5F},
                                   {0.3F, 0.7F, 2},
                                   {-0.7F, -0.6F, 2.5F},
                                   {1.2F, -0.5F, 1.5F}};
    uint32_t m[7], mesh;

    facet_scene_init(scene);
    for (unsigned i = 0; i < 7; i++) {
        m[i] = add_material(scene, 0.9F - 0.1F * (float)i, 0.5F, 0.3F + 0.1F * (float)i);
    }
    for (unsigned i = 0; i < 4; i++) {
        struct facet_texture_use *use = &scene->materials[m[i]].base_texture;

        use->texture = add_texture(scene, 3, 2, texels);
        use->wrap_u = (enum facet_wrap)(i % FACET_WRAP_COUNT);
        use->wrap_v = (enum facet_wrap)(i / 3 % FACET_WRAP_COUNT);
        use->magnify = i == 1 ? FACET_FILTER_NEAREST : FACET_FILTER_LINEAR;
        use->matrix[0] = 1.5F + (float)i;
        use->matrix[2] = -0.7F;
        use->matrix[4] = 2.0F;
    }
    scene->materials[m[1]].alpha_mode = FACET_ALPHA_MASK;
    scene->materials[m[1]].alpha_cutoff = 0.5F;
    scene->materials[m[2]].double_sided = true;
    scene->materials[m[3]].alpha_mode = FACET_ALPHA_BLEND;
    scene->materials[m[3]].base_color[3] = 0.5F;
    scene->materials[m[4]].unlit = true;
    scene->materials[m[5]].emissive[0] = 0.4F;
    scene->materials[m[5]].emissive_texture = scene->materials[m[0]].base_texture;
    add_instance(scene, add_quad(scene, m[6], low, big, deep), NULL); /* through the near plane */
    add_instance(scene, add_quad(scene, m[0], at[0], slant, Y1), NULL);
    add_instance(scene, add_quad(scene, m[1], at[1], X1, Y1), NULL);
    add_instance(scene, add_quad(scene, m[2], at[2], turned, Y1), mirrored);
    add_instance(scene, add_quad(scene, m[2], at[4], turned, Y1), NULL); /* its back */
    add_instance(scene, add_quad(scene, m[3], at[3], X1, Y1), NULL);
    add_instance(scene, add_quad(scene, m[4], at[4], (const float[3]){0.2F, 0, 0}, Y1), NULL);
    mesh = add_quad(scene, m[5], at[5], (const float[3]){0.5F, 0.2F, 0}, Y1);
    scene->meshes[mesh].colors = calloc(16, sizeof(float));
    scene->meshes[mesh].normals = calloc(12, sizeof(float));
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned c = 0; c < 4; c++) {
            scene->meshes[mesh].colors[4 * i + c] = 0.25F * (float)((i + c) % 4) + 0.2F;
        }
        scene->meshes[mesh].normals[3 * i] = i < 2 ? 0.6F : -0.6F;
        scene->meshes[mesh].normals[3 * i + 2] = 0.8F;
    }
    add_instance(scene, mesh, NULL);
    add_flat_camera(scene, EYE, false, 2);
    look(&scene->cameras[0], 0.1F, 0.2F, 5);
    add_sun(scene, -1, -2, -1, 3.0F);
    add_point_light(scene, 1, 3, 2, 4.0F);
    finish(scene);
}

static void same_bits(const struct facet_scene *scene, struct facet_render_options options)
{
    struct facet_image_f hart = draw_by(scene, "xphmg-gfx", options);
    struct facet_image_f host = draw_by(scene, "xphmg-gfx-portable", options);

    for (uint32_t i = 0; i < options.width * options.height; i++) {
        if (memcmp(hart.rgb + 3 * (size_t)i, host.rgb + 3 * (size_t)i, 3 * sizeof(float)) != 0) {
            CHECK_MSG(false,
                      "pixel %u, %u: %a %a %a on the hart, %a %a %a on the host",
                      i % options.width,
                      i / options.width,
                      (double)hart.rgb[3 * i],
                      (double)hart.rgb[3 * i + 1],
                      (double)hart.rgb[3 * i + 2],
                      (double)host.rgb[3 * i],
                      (double)host.rgb[3 * i + 1],
                      (double)host.rgb[3 * i + 2]);
            break;
        }
    }
    facet_image_f_free(&hart);
    facet_image_f_free(&host);
}

TEST(hart_and_host_draw_the_same_bits, "")
{
    struct facet_render_options options;
    struct facet_scene scene;

    make_scene(&scene);
    options = plain_options(&scene, WIDTH, HEIGHT);
    if (has_guest(&scene)) {
        same_bits(&scene, options);
        options.spp = 3;
        options.seed = 7;
        options.width = 40;
        same_bits(&scene, options);
        options.spp = 1;
        add_flat_camera(&scene, EYE, false, 2);
        options.camera = scene.cameras[1];
        same_bits(&scene, options);
    }
    facet_scene_free(&scene);
}

/* Numbers at the ends of their range: still a picture, still the same one. */
TEST(extreme_numbers_do_no_harm, "")
{
    static const float sizes[] = {1e37F, 1e30F, 1e20F, 1e-20F, 1e-38F, 0.0F};
    struct facet_render_options options;
    struct facet_scene scene;
    struct facet_image_f image;
    uint32_t material;

    make_scene(&scene);
    material = add_material(&scene, 1, 1, 1);
    scene.materials[material].base_texture = scene.materials[0].base_texture;
    scene.materials[material].base_texture.matrix[0] = 1e37F;
    scene.materials[material].base_texture.matrix[3] = -1e30F;
    scene.materials[material].double_sided = true;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const float at[3] = {-0.5F + 0.2F * (float)i, 0.3F, 0.1F * sizes[i] + 3.0F};
        const float across[3] = {sizes[i], 0, 0.3F * sizes[i]}, up[3] = {0.1F, 0.2F + sizes[i], 0};

        add_instance(&scene, add_quad(&scene, material, at, across, up), NULL);
    }
    add_point_light(&scene, 1e-20F, 1, 1e30F, 1e38F);
    finish(&scene);
    options = plain_options(&scene, WIDTH, HEIGHT);
    image = draw_by(&scene, "xphmg-gfx-portable", options);
    for (uint32_t i = 0; i < 3 * WIDTH * HEIGHT; i++) {
        CHECK(isfinite(image.rgb[i]) && image.rgb[i] >= 0.0F);
    }
    facet_image_f_free(&image);
    if (has_guest(&scene)) {
        same_bits(&scene, options);
    }
    facet_scene_free(&scene);
}

/* The ray tracer rounds elsewhere; a pixel at an edge may show the other surface. All else is the
 * same up to the grade, which moves a channel by less than a tenth. */
static void compare_with_rays(const struct facet_scene *scene, float z_near)
{
    static const char *const names[2] = {"xphmg-gfx-portable", "xphmg-gfx"};
    struct facet_render_options options = plain_options(scene, WIDTH, HEIGHT);
    struct facet_image_f rays;

    options.shadows = false;
    options.camera.z_near = z_near;
    rays = draw_by(scene, "gfx12", options);
    for (unsigned n = 0; n < 1 + (unsigned)has_guest(scene); n++) {
        struct facet_image_f image = draw_by(scene, names[n], options);
        unsigned close = 0;

        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            const float *a = rays.rgb + 3 * (size_t)i, *b = image.rgb + 3 * (size_t)i;
            bool near = true;

            for (unsigned c = 0; c < 3; c++) {
                near = near && fabsf(a[c] - b[c]) <= 0.02F + 0.1F * a[c];
            }
            close += near;
        }
        CHECK_MSG(close >= WIDTH * HEIGHT * 99 / 100,
                  "%s: only %u of %u pixels agree",
                  names[n],
                  close,
                  WIDTH * HEIGHT);
        facet_image_f_free(&image);
    }
    facet_image_f_free(&rays);
}

TEST(it_sees_what_rays_see, "")
{
    struct facet_scene scene;

    make_scene(&scene);
    /* Rays through glass are noise, and their texels are decoded before they are filtered. */
    for (uint32_t i = 0; i < scene.material_count; i++) {
        scene.materials[i].alpha_mode = i == 1 ? FACET_ALPHA_MASK : FACET_ALPHA_OPAQUE;
        scene.materials[i].base_texture.magnify = FACET_FILTER_NEAREST;
        scene.materials[i].emissive_texture.magnify = FACET_FILTER_NEAREST;
    }
    compare_with_rays(&scene, 0.1F);
    compare_with_rays(&scene, 2.45F); /* cuts through plates */
    facet_scene_free(&scene);
}

/* Half transparent plates let half of what is behind them pass, whatever the order. */
TEST(plates_blend_over_samples, "")
{
    static const float front[3] = {0, 0, 1}, back[3] = {0, 0, 0}, wide[3] = {9, 0, 0};
    static const float tall[3] = {0, 9, 0};

    for (unsigned order = 0; order < 2; order++) {
        struct facet_render_options options;
        struct facet_scene scene;
        struct facet_image_f image;
        double mean[3] = {0};
        uint32_t m[2];

        facet_scene_init(&scene);
        for (unsigned i = 0; i < 2; i++) {
            m[i] = add_material(&scene, i == 0, i == 1, 0);
            scene.materials[m[i]].unlit = true;
            scene.materials[m[i]].alpha_mode = i == 0 ? FACET_ALPHA_BLEND : FACET_ALPHA_OPAQUE;
            scene.materials[m[i]].base_color[3] = 0.5F;
        }
        for (unsigned i = 0; i < 2; i++) {
            bool near = (i == 0) == (order == 0);

            add_instance(
                &scene, add_quad(&scene, m[near ? 0 : 1], near ? front : back, wide, tall), NULL);
        }
        add_flat_camera(&scene, EYE, false, 2);
        finish(&scene);
        options = plain_options(&scene, 32, 32);
        options.spp = 16;
        image = draw_by(&scene, "xphmg-gfx-portable", options);
        for (uint32_t i = 0; i < 3 * 32 * 32; i++) {
            mean[i % 3] += (double)image.rgb[i] / (32 * 32);
        }
        CHECK_MSG(fabs(mean[0] - 0.5) < 0.05 && fabs(mean[1] - 0.5) < 0.05 && mean[2] < 0.01,
                  "order %u: mean %g %g %g",
                  order,
                  mean[0],
                  mean[1],
                  mean[2]);
        facet_image_f_free(&image);
        facet_scene_free(&scene);
    }
}

/* Quads side by side, edges and diagonals slanted or through the middles of pixels: no gap, the sky
 * is nowhere seen. */
static void check_gaps(float x, float slant, float lean)
{
    const float left[3] = {x - 10, 0, 0}, right[3] = {x + 10, 2 * slant, 0};
    const float wide[3] = {10, slant, 0}, tall[3] = {lean, 10, 0};
    struct facet_render_options options;
    struct facet_scene scene;
    struct facet_image_f image;
    uint32_t unlit, seen = 0;

    facet_scene_init(&scene);
    unlit = add_material(&scene, 0, 0, 0);
    scene.materials[unlit].unlit = true;
    add_instance(&scene, add_quad(&scene, unlit, left, wide, tall), NULL);
    add_instance(&scene, add_quad(&scene, unlit, right, wide, tall), NULL);
    add_flat_camera(&scene, EYE, false, 4);
    finish(&scene);
    options = plain_options(&scene, 64, 64); /* 8 pixels a unit */
    image = draw_by(&scene, "xphmg-gfx-portable", options);
    for (uint32_t i = 0; i < 64 * 64; i++) {
        seen += image.rgb[3 * (size_t)i] != 0.0F;
    }
    CHECK_MSG(seen == 0, "%u pixels show the sky, edge at %g", seen, (double)x);
    facet_image_f_free(&image);
    facet_scene_free(&scene);
}

TEST(shared_edges_have_no_gaps, "")
{
    check_gaps(0.0F, 0.37F, 0.3F);
    check_gaps(0.0625F, 0.0F, 0.0F);
    check_gaps(10.0F, 0.0F, 0.0F); /* the diagonal alone */
}

TEST(rays_are_refused, "")
{
    struct facet_render_options options;
    struct facet_render *render = NULL;
    struct facet_scene scene;

    make_scene(&scene);
    for (unsigned what = 0; what < 2; what++) {
        options = plain_options(&scene, 4, 4);
        options.machine = machine("xphmg-gfx-portable");
        options.bounces = what == 0;
        options.view = what == 1 ? FACET_SHADE_NODES : FACET_SHADE_PICTURE;
        CHECK_EQ(facet_render_open(&scene, &options, NULL, NULL, &render, NULL), FACET_ERR_USAGE);
        CHECK(render == NULL);
    }
    facet_scene_free(&scene);
}

/* The camera's matrix: the middle of the view is at x = y = 0, near is 1, and depth falls. */
TEST(the_camera_is_a_matrix, "")
{
    struct facet_picture picture = {.width = 64, .height = 32, .spp = 1};
    struct facet_guest_gfx_input *input = NULL;
    struct facet_scene scene;

    make_scene(&scene);
    picture.scene = &scene;
    for (unsigned far = 0; far < 2; far++) {
        const float depth[3] = {0.1F, 1.0F, far != 0 ? 50.0F : 1e9F};
        float z[3];

        picture.camera = scene.cameras[0];
        picture.camera.z_far = far != 0 ? 50.0F : 0.0F;
        CHECK_EQ(facet_render_gfx_input_make(&picture, NULL, &input, NULL), FACET_OK);
        for (unsigned i = 0; i < 3; i++) {
            const float p[4] = {0.1F, 0.2F, 5.0F - depth[i], 1};
            float out[4] = {0};

            for (unsigned k = 0; k < 16; k++) {
                out[k / 4] += input->clip[k] * p[k % 4];
            }
            CHECK(fabsf(out[0]) < 1e-5F * out[3] && fabsf(out[1]) < 1e-5F * out[3]);
            CHECK(fabsf(out[3] - depth[i]) < 1e-5F * (5 + depth[i]));
            z[i] = out[2] / out[3];
        }
        CHECK(fabsf(z[0] - 1.0F) < 1e-4F && z[1] < 0.2F && z[1] > 0.05F && fabsf(z[2]) < 1e-6F);
        free(input);
    }
    facet_scene_free(&scene);
}
