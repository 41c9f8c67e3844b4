/* The recipes of make.h. */
#include "scene/make.h"

#include "base/random.h"
#include "scene/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOV_NARROW 0.6981317F /* 40 degrees */
#define FOV_WIDE 1.0471976F   /* 60 degrees */

static void set_rgba(uint8_t rgba[4], unsigned r, unsigned g, unsigned b)
{
    rgba[0] = (uint8_t)r;
    rgba[1] = (uint8_t)g;
    rgba[2] = (uint8_t)b;
    rgba[3] = 255;
}

static void checker_texel(uint32_t x, uint32_t y, uint32_t size, uint8_t rgba[4])
{
    bool light = ((x * 2 / size) ^ (y * 2 / size)) & 1U;

    set_rgba(rgba, light ? 226 : 84, light ? 220 : 92, light ? 206 : 104);
}

/* Courses of four bricks, every other one shifted by half a brick. */
static void brick_texel(uint32_t x, uint32_t y, uint32_t size, uint8_t rgba[4])
{
    uint32_t height = size / 8, width = size / 4, course = y / height;
    uint32_t along = (x + (course & 1U) * width / 2) % size;
    bool joint = y % height == 0 || along % width == 0;
    uint32_t tone = (uint32_t)facet_random_below(17, course * 4 + along / width, 24);

    if (joint) {
        set_rgba(rgba, 176, 170, 160);
    } else {
        set_rgba(rgba, 150 + tone, 78 + tone, 60 + tone / 2);
    }
}

/* A lattice with holes: opaque bars, nothing between them. */
static void lattice_texel(uint32_t x, uint32_t y, uint32_t size, uint8_t rgba[4])
{
    uint32_t cell = size / 4, bar = size / 16;

    set_rgba(rgba, 120, 84, 48);
    rgba[3] = x % cell < bar || y % cell < bar ? 255 : 0;
}

/* ---- sphere, knot ---- */

static void make_sphere(struct maker *m, uint32_t size)
{
    const double eye[3] = {1.1, 0.8, 1.6}, target[3] = {0, 0, 0}, sun[3] = {-0.5, -1, -0.7};
    uint32_t texture = facet_maker_texture(m, "checker", 32, checker_texel);
    uint32_t material = facet_maker_textured(m, "checker", texture);

    facet_maker_material(m, material)->base_texture.matrix[0] = 8.0F;
    facet_maker_material(m, material)->base_texture.matrix[4] = 4.0F;
    facet_maker_put(m, facet_maker_sphere(m, "sphere", material, size), 0, 0, 0, 1, 1, 1);
    facet_maker_camera(m, eye, target, FOV_NARROW);
    facet_maker_sun(m, sun, 3.0F);
}

static void make_knot(struct maker *m, uint32_t size)
{
    const double eye[3] = {0.6, 2.4, 3.0}, target[3] = {0, 0, 0}, sun[3] = {-0.6, -1, -0.5};
    uint32_t material = facet_maker_color(m, "brass", 0.72F, 0.45F, 0.16F);

    facet_maker_put(m, facet_maker_knot(m, "knot", material, size), 0, 0, 0, 1, 1, 1);
    facet_maker_camera(m, eye, target, FOV_NARROW);
    facet_maker_sun(m, sun, 3.0F);
}

/* ---- terrain ---- */

/* A random height per lattice point, joined by fifth-degree steps: continuous curvature. */
static double value_noise(double x, double y, uint64_t seed)
{
    double fx = floor(x), fy = floor(y), tx = x - fx, ty = y - fy;
    int64_t ix = (int64_t)fx, iy = (int64_t)fy;
    double corner[4], a, b;

    for (unsigned i = 0; i < 4; i++) {
        uint64_t column = (uint64_t)(ix + (int64_t)(i & 1U)),
                 row = (uint64_t)(iy + (int64_t)(i / 2));

        corner[i] = (double)facet_random_float(facet_random(seed, column), row);
    }
    tx = tx * tx * tx * (tx * (tx * 6.0 - 15.0) + 10.0);
    ty = ty * ty * ty * (ty * (ty * 6.0 - 15.0) + 10.0);
    a = corner[0] + (corner[1] - corner[0]) * tx;
    b = corner[2] + (corner[3] - corner[2]) * tx;
    return a + (b - a) * ty;
}

/* 0..1; ridges come from folding the noise. */
static double terrain_height(double u, double v)
{
    double sum = 0.0, weight = 0.5, frequency = 4.0;

    for (uint64_t octave = 0; octave < 9; octave++) {
        double n = value_noise(u * frequency, v * frequency, 0xFACE7 + octave);

        n = octave < 3 ? 1.0 - fabs(2.0 * n - 1.0) : n;
        sum += weight * n;
        weight *= 0.5;
        frequency *= 2.0;
    }
    return sum;
}

#define TERRAIN_SIDE 100.0
#define TERRAIN_RISE 24.0

/* Heights at every grid point and one beyond each edge, for the slopes. */
struct terrain {
    uint32_t size;
    double *heights; /* (size + 3)^2 */
};

static bool fill_heights(struct maker *m, struct terrain *t)
{
    size_t pitch = (size_t)t->size + 3;

    t->heights = malloc(pitch * pitch * sizeof *t->heights);
    if (t->heights == NULL) {
        m->status = facet_fail(m->err, FACET_ERR_MEMORY, 0, "out of memory");
        return false;
    }
    for (size_t i = 0; i < pitch * pitch; i++) {
        double u = ((double)(i % pitch) - 1.0) / t->size, v = ((double)(i / pitch) - 1.0) / t->size;

        t->heights[i] = (terrain_height(u, v) - 0.5) * TERRAIN_RISE;
    }
    return true;
}

static void terrain_surface(void *context, double u, double v, double position[3], double normal[3])
{
    const struct terrain *t = context;
    size_t pitch = (size_t)t->size + 3;
    size_t column = (size_t)(u * t->size + 0.5) + 1, row = (size_t)(v * t->size + 0.5) + 1;
    const double *here = t->heights + row * pitch + column;

    position[0] = (u - 0.5) * TERRAIN_SIDE;
    position[1] = *here;
    position[2] = (v - 0.5) * TERRAIN_SIDE;
    normal[0] = here[-1] - here[1];
    normal[1] = 2.0 * TERRAIN_SIDE / t->size;
    normal[2] = here[-(ptrdiff_t)pitch] - here[pitch];
    (void)facet_scene_normalize(normal);
}

/* Grass low, rock, snow high; u carries some grain. */
static void ground_texel(uint32_t x, uint32_t y, uint32_t size, uint8_t rgba[4])
{
    static const uint8_t bands[5][3] = {
        {58, 96, 120}, {72, 118, 52}, {116, 124, 68}, {122, 110, 98}, {236, 238, 242}};
    double at = 4.0 * y / (size - 1.0);
    unsigned band = at < 3.0 ? (unsigned)at : 3;
    double t = at - band;
    double grain = 12.0 * ((double)facet_random_float(5, (uint64_t)y * size + x) - 0.5);

    for (unsigned i = 0; i < 3; i++) {
        double value = bands[band][i] + (bands[band + 1][i] - bands[band][i]) * t + grain;

        rgba[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    rgba[3] = 255;
}

/* Texture coordinates by height instead of by place. */
static void terrain_uv(struct maker *m, uint32_t mesh)
{
    struct facet_scene_mesh *terrain = m->status == FACET_OK ? &m->scene->meshes[mesh] : NULL;

    for (size_t i = 0; terrain != NULL && i < terrain->vertex_count; i++) {
        float height = terrain->positions[3 * i + 1] / (float)TERRAIN_RISE + 0.5F;

        terrain->uv[0][2 * i] = (terrain->positions[3 * i] + terrain->positions[3 * i + 2]) * 0.5F;
        terrain->uv[0][2 * i + 1] = height;
    }
}

static void make_terrain(struct maker *m, uint32_t size)
{
    const double eye[3] = {38, 26, 46}, target[3] = {0, -2, 0}, sun[3] = {-0.8, -0.6, -0.2};
    uint32_t texture = facet_maker_texture(m, "ground", 64, ground_texel);
    uint32_t material = facet_maker_textured(m, "ground", texture);
    struct terrain terrain = {.size = size};
    uint32_t mesh;

    if (!fill_heights(m, &terrain)) {
        return;
    }
    mesh = facet_maker_grid(m, "terrain", material, size, size, terrain_surface, &terrain);
    free(terrain.heights);
    facet_maker_material(m, material)->base_texture.wrap_v = FACET_WRAP_CLAMP;
    terrain_uv(m, mesh);
    facet_maker_put(m, mesh, 0, 0, 0, 1, 1, 1);
    facet_maker_camera(m, eye, target, FOV_NARROW);
    facet_maker_sun(m, sun, 3.0F);
}

/* ---- boxes: a small box of coloured walls with two blocks and a lamp ---- */

static struct facet_affine wall(unsigned axis, double sign, double distance, double side)
{
    /* The square faces +Z; it is turned to face the middle and pushed out to the wall. */
    double place[3] = {0, 0, 0};
    double turn[4] = {0, 0, 0, 1};
    double scale[3] = {side, side, 1};

    place[axis] = sign * distance;
    if (axis == 0) {
        turn[1] = -sign; /* a quarter turn: the quaternion (0, +-1, 0, 1), not yet of length 1 */
    } else if (axis == 1) {
        turn[0] = sign;
    } else if (sign > 0) {
        turn[1] = 1;
        turn[3] = 0;
    }
    return facet_affine_trs(place, turn, scale);
}

static void
put_wall(struct maker *m, uint32_t mesh, unsigned axis, double sign, double distance, double side)
{
    struct facet_affine matrix = wall(axis, sign, distance, side);

    facet_maker_place(m, mesh, &matrix);
}

static void make_boxes(struct maker *m, uint32_t size)
{
    const double eye[3] = {0, 0, 3.9}, target[3] = {0, 0, 0};
    uint32_t white = facet_maker_color(m, "white", 0.73F, 0.73F, 0.71F);
    uint32_t red = facet_maker_color(m, "red", 0.62F, 0.06F, 0.05F);
    uint32_t green = facet_maker_color(m, "green", 0.12F, 0.45F, 0.09F);
    uint32_t glow = facet_maker_color(m, "lamp", 0.78F, 0.78F, 0.78F);
    uint32_t plain = facet_maker_square(m, "white wall", white, 1);
    uint32_t block = facet_maker_cube(m, "block", white);
    double top = -1.0; /* of the stack on the right */

    facet_maker_material(m, glow)->emissive[0] = 1.0F;
    facet_maker_material(m, glow)->emissive[1] = 0.85F;
    facet_maker_material(m, glow)->emissive[2] = 0.6F;
    put_wall(m, plain, 1, -1, 1, 2);
    put_wall(m, plain, 1, 1, 1, 2);
    put_wall(m, plain, 2, -1, 1, 2);
    put_wall(m, facet_maker_square(m, "red wall", red, 1), 0, -1, 1, 2);
    put_wall(m, facet_maker_square(m, "green wall", green, 1), 0, 1, 1, 2);
    put_wall(m, facet_maker_square(m, "lamp", glow, 1), 1, 1, 0.99, 0.5);
    facet_maker_turn(m, block, -0.35, -0.4, -0.3, 0.58, 1.2, 0.58, 0.05);
    for (uint32_t i = 0; i < size; i++) {
        double side = 0.6 / (1.0 + (double)i);

        facet_maker_turn(m, block, 0.36, top + 0.5 * side, 0.3, side, side, side, 0.96 - 0.07 * i);
        top += side;
    }
    facet_maker_camera(m, eye, target, FOV_NARROW);
    facet_maker_point_light(m, 0, 0.9, 0, 6.0F);
}

/* ---- instances: a field of many copies of three shapes ---- */

static void make_instances(struct maker *m, uint32_t size)
{
    const double reach = size * 0.95 + 2.0;
    const double eye[3] = {reach, reach * 0.7, reach * 1.2}, target[3] = {0, 0, 0};
    const double sun[3] = {-0.4, -1, -0.7};
    uint32_t shapes[3];

    shapes[0] = facet_maker_cube(m, "cube", facet_maker_color(m, "blue", 0.10F, 0.22F, 0.60F));
    shapes[1] =
        facet_maker_sphere(m, "sphere", facet_maker_color(m, "orange", 0.85F, 0.36F, 0.06F), 8);
    shapes[2] =
        facet_maker_cylinder(m, "cylinder", facet_maker_color(m, "sand", 0.75F, 0.66F, 0.45F), 12);
    for (uint32_t row = 0; row < size; row++) {
        for (uint32_t column = 0; column < size; column++) {
            uint64_t id = (uint64_t)row * size + column;
            double height = 0.3 + 1.5 * (double)facet_random_float(1, id);
            double x = 1.25 * (column - 0.5 * (size - 1.0)), z = 1.25 * (row - 0.5 * (size - 1.0));
            uint64_t kind = facet_random_below(2, id, 3);

            facet_maker_put(m, shapes[kind], x, 0.5 * height, z, 0.8, height, 0.8);
        }
    }
    facet_maker_camera(m, eye, target, FOV_NARROW);
    facet_maker_sun(m, sun, 3.0F);
}

/* ---- uv: which way is up, in every way a texture can be attached ---- */

/* Red top left, green top right, blue bottom left, white bottom right. */
static void corner_texel(uint32_t x, uint32_t y, uint32_t size, uint8_t rgba[4])
{
    bool right = x >= size / 2, low = y >= size / 2;

    set_rgba(rgba, !right && !low ? 255 : right && low ? 255 : 0, right ? 255 : 0, low ? 255 : 0);
}

/* Three squares that must look the same: plain, by the second UV set, by a texture transform. */
static void make_uv(struct maker *m, uint32_t size)
{
    const double eye[3] = {0, 0, 4.5}, target[3] = {0, 0, 0}, sun[3] = {0, 0, -1};
    uint32_t texture = facet_maker_texture(m, "corners", 8 * size, corner_texel);
    uint32_t materials[3], meshes[3];

    for (unsigned i = 0; i < 3; i++) {
        static const char *const names[3] = {"plain", "second set", "transform"};

        materials[i] = facet_maker_textured(m, names[i], texture);
        meshes[i] = facet_maker_square(m, names[i], materials[i], i == 2 ? 4.0F : 1.0F);
        facet_maker_material(m, materials[i])->base_texture.magnify = FACET_FILTER_NEAREST;
        facet_maker_put(m, meshes[i], 1.1 * ((double)i - 1), 0, 0, 1, 1, 1);
    }
    facet_maker_material(m, materials[1])->base_texture.uv_set = 1;
    facet_maker_material(m, materials[2])->base_texture.matrix[0] = 0.25F;
    facet_maker_material(m, materials[2])->base_texture.matrix[4] = 0.25F;
    if (m->status == FACET_OK) {
        struct facet_scene_mesh *mesh = &m->scene->meshes[meshes[1]];
        float *second = calloc(8, sizeof *second);

        /* The right coordinates move to set 1; set 0 gets useless ones. */
        if (second == NULL) {
            m->status = facet_fail(m->err, FACET_ERR_MEMORY, 0, "out of memory");
        } else {
            mesh->uv[1] = mesh->uv[0];
            mesh->uv[0] = second;
        }
    }
    facet_maker_camera(m, eye, target, FOV_NARROW);
    facet_maker_sun(m, sun, 3.0F);
}

/* ---- room ---- */

struct room {
    struct maker *m;
    uint32_t wood, metal;                    /* materials */
    uint32_t board, leg, pillar, ball, tile; /* meshes placed many times */
    uint32_t lamp, knot, screen;
};

static void room_materials(struct maker *m, struct room *room, double length)
{
    uint32_t checker = facet_maker_texture(m, "checker", 32, checker_texel);
    uint32_t brick = facet_maker_texture(m, "brick", 64, brick_texel);
    uint32_t lattice = facet_maker_texture(m, "lattice", 64, lattice_texel);
    uint32_t floor_material = facet_maker_textured(m, "floor", checker);
    uint32_t brick_material = facet_maker_textured(m, "bricks", brick);
    uint32_t lattice_material = facet_maker_textured(m, "lattice", lattice);
    uint32_t stone = facet_maker_color(m, "stone", 0.62F, 0.60F, 0.56F);
    uint32_t glow = facet_maker_color(m, "lamp", 0.9F, 0.9F, 0.9F);

    for (unsigned i = 0; i < 3; i++) {
        facet_maker_material(m, glow)->emissive[i] = 1.0F;
    }
    facet_maker_material(m, lattice_material)->alpha_mode = FACET_ALPHA_MASK;
    facet_maker_material(m, lattice_material)->double_sided = true;
    facet_maker_material(m, brick_material)->base_texture.matrix[0] = 4.0F;
    facet_maker_material(m, brick_material)->base_texture.matrix[4] = 2.0F;
    room->wood = facet_maker_color(m, "wood", 0.38F, 0.20F, 0.09F);
    room->metal = facet_maker_color(m, "metal", 0.30F, 0.33F, 0.38F);
    room->board = facet_maker_cube(m, "board", room->wood);
    room->leg = facet_maker_cube(m, "leg", room->metal);
    room->pillar = facet_maker_cylinder(m, "pillar", stone, 20);
    room->ball =
        facet_maker_sphere(m, "ball", facet_maker_color(m, "blue", 0.08F, 0.20F, 0.55F), 12);
    room->lamp = facet_maker_cube(m, "lamp", glow);
    room->knot =
        facet_maker_knot(m, "knot", facet_maker_color(m, "brass", 0.72F, 0.45F, 0.16F), 160);
    room->screen = facet_maker_square(m, "screen", lattice_material, 2);
    facet_maker_material(m, floor_material)->base_texture.matrix[0] = 4.0F;
    facet_maker_material(m, floor_material)->base_texture.matrix[4] = (float)(length / 2);
    room->tile = facet_maker_square(m, "floor", floor_material, 1);
    {
        uint32_t end = facet_maker_square(m, "brick wall", brick_material, 1);
        uint32_t left = facet_maker_square(
            m, "left wall", facet_maker_color(m, "ochre", 0.70F, 0.48F, 0.20F), 1);
        uint32_t right = facet_maker_square(
            m, "right wall", facet_maker_color(m, "teal", 0.14F, 0.42F, 0.42F), 1);
        uint32_t top = facet_maker_square(
            m, "ceiling", facet_maker_color(m, "plaster", 0.82F, 0.81F, 0.78F), 1);
        const double half = length / 2;
        const double quarter_y[4] = {0, 1, 0, 1}, minus_y[4] = {0, -1, 0, 1};
        const double quarter_x[4] = {1, 0, 0, 1}, minus_x[4] = {-1, 0, 0, 1};
        const double none[4] = {0, 0, 0, 1}, half_y[4] = {0, 1, 0, 0};
        const struct {
            uint32_t mesh;
            double place[3];
            const double *turn;
            double scale[3];
        } walls[6] = {
            {room->tile, {0, 0, 0}, minus_x, {8, length, 1}},
            {top, {0, 3, 0}, quarter_x, {8, length, 1}},
            {end, {0, 1.5, -half}, none, {8, 3, 1}},
            {end, {0, 1.5, half}, half_y, {8, 3, 1}},
            {left, {-4, 1.5, 0}, quarter_y, {length, 3, 1}},
            {right, {4, 1.5, 0}, minus_y, {length, 3, 1}},
        };

        for (unsigned i = 0; i < 6; i++) {
            struct facet_affine matrix =
                facet_affine_trs(walls[i].place, walls[i].turn, walls[i].scale);

            facet_maker_place(m, walls[i].mesh, &matrix);
        }
    }
}

/* A table: a board and four legs, turned as one. */
static void put_table(struct room *room, double x, double z, double turns)
{
    double s, c;

    facet_maker_sincos(turns, &s, &c);
    facet_maker_turn(room->m, room->board, x, 0.74, z, 1.5, 0.06, 0.8, turns);
    for (unsigned i = 0; i < 4; i++) {
        double dx = (i & 1U) != 0 ? 0.68 : -0.68, dz = i / 2 != 0 ? 0.34 : -0.34;

        facet_maker_turn(room->m,
                         room->leg,
                         x + c * dx + s * dz,
                         0.355,
                         z - s * dx + c * dz,
                         0.06,
                         0.71,
                         0.06,
                         turns);
    }
}

/* A chair; `mirror` -1 gives its mirror image through a negative scale. */
static void put_chair(struct room *room, double x, double z, double turns, double mirror)
{
    double s, c;

    facet_maker_sincos(turns, &s, &c);
    facet_maker_turn(room->m, room->board, x, 0.44, z, 0.42 * mirror, 0.05, 0.42, turns);
    facet_maker_turn(
        room->m, room->board, x + s * 0.19, 0.72, z + c * 0.19, 0.42 * mirror, 0.5, 0.04, turns);
    for (unsigned i = 0; i < 4; i++) {
        double dx = (i & 1U) != 0 ? 0.18 : -0.18, dz = i / 2 != 0 ? 0.18 : -0.18;

        facet_maker_turn(room->m,
                         room->leg,
                         x + c * dx + s * dz,
                         0.21,
                         z - s * dx + c * dz,
                         0.04 * mirror,
                         0.42,
                         0.04,
                         turns);
    }
}

static void make_room(struct maker *m, uint32_t size)
{
    const double length = 2.5 * size + 1.0, half = length / 2;
    const double eye[3] = {-2.6, 1.9, half - 0.4}, target[3] = {0.5, 0.85, 0};
    struct room room = {.m = m};

    room_materials(m, &room, length);
    for (uint32_t i = 0; i < size; i++) {
        double z = 2.5 * (i - 0.5 * (size - 1.0));
        double turn = 0.02 * ((double)facet_random_float(3, i) - 0.5);
        double ball = 0.25 + 0.2 * (double)facet_random_float(4, i);

        facet_maker_put(m, room.pillar, -3.6, 1.5, z, 0.45, 3.0, 0.45);
        facet_maker_put(m, room.pillar, 3.6, 1.5, z, 0.45, 3.0, 0.45);
        put_table(&room, -1.4, z, 0.25 + turn);
        put_table(&room, 1.6, z, turn);
        put_chair(&room, -0.6, z, 0.25 + turn, 1);
        put_chair(&room, 1.6, z + 0.75, turn, -1);
        facet_maker_put(m, room.ball, -1.4, 0.77 + 0.5 * ball, z + 0.3, ball, ball, ball);
        facet_maker_put(m, room.lamp, 0, 2.94, z, 1.2, 0.08, 0.3);
        facet_maker_turn(m, room.screen, 3.1, 0.9, z + 1.25, 1.0, 1.8, 1.0, 0.0);
    }
    facet_maker_turn(m, room.knot, 0.3, 1.08, 0, 0.55, 0.55, 0.55, 0.1);
    facet_maker_put(m, room.pillar, 0.3, 0.4, 0, 0.7, 0.8, 0.7);
    facet_maker_camera(m, eye, target, FOV_WIDE);
    for (uint32_t i = 0; i < size; i++) {
        facet_maker_point_light(m, 0, 2.7, 2.5 * (i - 0.5 * (size - 1.0)), 5.0F);
    }
}

/* ---- the list ---- */

const struct facet_recipe facet_recipes[] = {
    {"room",
     "a furnished room: textures, shared meshes, mirrored and cut-out parts",
     "rows of furniture",
     4,
     1,
     1000},
    {"knot",
     "a torus knot, one smooth closed mesh",
     "steps along the knot; triangles = size^2 / 4",
     512,
     16,
     12000},
    {"terrain", "a mountain range", "cells on each side; triangles = 2 size^2", 724, 2, 8000},
    {"sphere", "a textured sphere", "rings from pole to pole", 64, 2, 5000},
    {"boxes", "coloured walls, two blocks and a lamp", "blocks stacked on the right", 1, 1, 8},
    {"instances", "a field of many copies of three shapes", "copies on each side", 64, 1, 4000},
    {"uv",
     "texture orientation: three squares that must look the same",
     "texture size in units of 8 texels",
     2,
     1,
     64},
    {NULL, NULL, NULL, 0, 0, 0},
};

/* In the order of the list above. */
static void (*const makers[])(struct maker *m, uint32_t size) = {
    make_room, make_knot, make_terrain, make_sphere, make_boxes, make_instances, make_uv};

_Static_assert(sizeof facet_recipes / sizeof facet_recipes[0] ==
                   sizeof makers / sizeof makers[0] + 1,
               "every recipe has a maker");

const struct facet_recipe *facet_recipe_find(const char *name)
{
    for (const struct facet_recipe *recipe = facet_recipes; recipe->name != NULL; recipe++) {
        if (strcmp(recipe->name, name) == 0) {
            return recipe;
        }
    }
    return NULL;
}

enum facet_status
facet_scene_make(const char *name, uint32_t size, struct facet_scene *out, struct facet_error *err)
{
    const struct facet_recipe *recipe = facet_recipe_find(name);
    struct maker m = {.scene = out, .err = err};

    facet_scene_init(out);
    if (recipe == NULL) {
        return facet_fail(err, FACET_ERR_USAGE, 0, "there is no scene called %.60s", name);
    }
    size = size != 0 ? size : recipe->size;
    if (size < recipe->least || size > recipe->most) {
        return facet_fail(err,
                          FACET_ERR_USAGE,
                          0,
                          "size %u for %s: expected %u..%u",
                          size,
                          name,
                          recipe->least,
                          recipe->most);
    }
    makers[recipe - facet_recipes](&m, size);
    if (m.status != FACET_OK) {
        facet_scene_free(out);
    }
    return m.status;
}
