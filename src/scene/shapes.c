/* See shapes.h. */
#include "scene/shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586

void facet_maker_sincos(double turns, double *sine, double *cosine)
{
    double t = turns - floor(turns);
    double quarter = floor(4.0 * t + 0.5);
    double x = (t - quarter * 0.25) * TWO_PI; /* within an eighth of a turn of 0 */
    double xx = x * x, s = 0.0, c = 0.0;

    /* Taylor series from the far end; the last terms are below 2^-60. */
    for (int k = 10; k >= 0; k--) {
        s = 1.0 - xx / ((2.0 * k + 2.0) * (2.0 * k + 3.0)) * s;
        c = 1.0 - xx / ((2.0 * k + 1.0) * (2.0 * k + 2.0)) * c;
    }
    s *= x;
    switch ((int)quarter & 3) {
    case 0:
        *sine = s;
        *cosine = c;
        break;
    case 1:
        *sine = c;
        *cosine = -s;
        break;
    case 2:
        *sine = -s;
        *cosine = -c;
        break;
    default:
        *sine = -c;
        *cosine = s;
        break;
    }
}

static void set_name(char to[FACET_SCENE_NAME_BYTES], const char *name)
{
    facet_scene_set_name(to, name, strlen(name));
}

uint32_t facet_maker_color(struct maker *m, const char *name, float r, float g, float b)
{
    struct facet_scene_material material;
    uint32_t index = 0;

    facet_scene_material_default(&material);
    set_name(material.name, name);
    material.base_color[0] = r;
    material.base_color[1] = g;
    material.base_color[2] = b;
    material.metallic = 0.0F;
    if (m->status == FACET_OK) {
        m->status = facet_scene_add_material(m->scene, &material, &index, m->err);
    }
    return index;
}

struct facet_scene_material *facet_maker_material(struct maker *m, uint32_t material)
{
    static _Thread_local struct facet_scene_material nowhere;

    return m->status == FACET_OK ? &m->scene->materials[material] : &nowhere;
}

uint32_t facet_maker_textured(struct maker *m, const char *name, uint32_t texture)
{
    uint32_t index = facet_maker_color(m, name, 1.0F, 1.0F, 1.0F);

    facet_maker_material(m, index)->base_texture.texture = texture;
    return index;
}

uint32_t facet_maker_texture(struct maker *m, const char *name, uint32_t size, maker_texel *texel)
{
    struct facet_scene_texture texture;
    struct facet_image image = {0, 0, NULL};
    uint32_t index = 0;

    if (m->status == FACET_OK) {
        m->status = facet_image_create(&image, size, size, m->err);
    }
    if (m->status != FACET_OK) {
        return 0;
    }
    for (uint32_t y = 0; y < size; y++) {
        for (uint32_t x = 0; x < size; x++) {
            texel(x, y, size, facet_image_at(&image, x, y));
        }
    }
    memset(&texture, 0, sizeof texture);
    set_name(texture.name, name);
    texture.width = texture.height = size;
    texture.rgba = image.rgba;
    m->status = facet_scene_add_texture(m->scene, &texture, &index, m->err);
    if (m->status != FACET_OK) {
        free(texture.rgba);
    }
    return index;
}

/* Arrays for a mesh with normals and one UV set. */
static bool
begin_mesh(struct maker *m, struct facet_scene_mesh *mesh, uint64_t vertices, uint64_t triangles)
{
    memset(mesh, 0, sizeof *mesh);
    if (m->status != FACET_OK) {
        return false;
    }
    if (vertices > FACET_SCENE_MAX_VERTICES || triangles > FACET_SCENE_MAX_TRIANGLES) {
        m->status = facet_fail(m->err, FACET_ERR_LIMIT, 0, "the mesh would be too large");
        return false;
    }
    mesh->vertex_count = (uint32_t)vertices;
    mesh->triangle_count = (uint32_t)triangles;
    mesh->positions = malloc((size_t)vertices * 3 * sizeof(float));
    mesh->normals = malloc((size_t)vertices * 3 * sizeof(float));
    mesh->uv[0] = malloc((size_t)vertices * 2 * sizeof(float));
    mesh->indices = malloc((size_t)triangles * 3 * sizeof(uint32_t));
    if (mesh->positions == NULL || mesh->normals == NULL || mesh->uv[0] == NULL ||
        mesh->indices == NULL) {
        facet_scene_mesh_free(mesh);
        m->status = facet_fail(m->err, FACET_ERR_MEMORY, 0, "out of memory");
        return false;
    }
    return true;
}

static uint32_t
end_mesh(struct maker *m, struct facet_scene_mesh *mesh, const char *name, uint32_t material)
{
    uint32_t index = 0;

    set_name(mesh->name, name);
    mesh->material = material;
    m->status = facet_scene_add_mesh(m->scene, mesh, &index, m->err);
    if (m->status != FACET_OK) {
        facet_scene_mesh_free(mesh);
    }
    return index;
}

static void set_vertex(struct facet_scene_mesh *mesh,
                       size_t vertex,
                       const double position[3],
                       const double normal[3],
                       double u,
                       double v)
{
    for (unsigned i = 0; i < 3; i++) {
        mesh->positions[3 * vertex + i] = (float)position[i];
        mesh->normals[3 * vertex + i] = (float)normal[i];
    }
    mesh->uv[0][2 * vertex] = (float)u;
    mesh->uv[0][2 * vertex + 1] = (float)v;
}

/* Two triangles a b c, a c d. */
static void
set_quad(struct facet_scene_mesh *mesh, size_t quad, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t corners[6] = {a, b, c, a, c, d};

    memcpy(mesh->indices + 6 * quad, corners, sizeof corners);
}

uint32_t facet_maker_grid(struct maker *m,
                          const char *name,
                          uint32_t material,
                          uint32_t columns,
                          uint32_t rows,
                          maker_surface *surface,
                          void *context)
{
    struct facet_scene_mesh mesh;
    uint32_t pitch = columns + 1;

    if (!begin_mesh(m, &mesh, (uint64_t)pitch * (rows + 1), 2 * (uint64_t)columns * rows)) {
        return 0;
    }
    for (uint32_t row = 0; row <= rows; row++) {
        for (uint32_t column = 0; column <= columns; column++) {
            double u = (double)column / columns, v = (double)row / rows;
            double position[3], normal[3];

            surface(context, u, v, position, normal);
            set_vertex(&mesh, (size_t)row * pitch + column, position, normal, u, v);
        }
    }
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            uint32_t a = row * pitch + column;

            set_quad(&mesh, (size_t)row * columns + column, a, a + pitch, a + pitch + 1, a + 1);
        }
    }
    return end_mesh(m, &mesh, name, material);
}

/* One face of the cube: axis, direction, and the two axes that span it. */
static void cube_face(struct facet_scene_mesh *mesh, unsigned face)
{
    unsigned axis = face / 2, right = (axis + 1) % 3, up = (axis + 2) % 3;
    double sign = face % 2 == 0 ? 1.0 : -1.0;
    double normal[3] = {0, 0, 0};
    uint32_t first = 4 * face;

    normal[axis] = sign;
    for (uint32_t corner = 0; corner < 4; corner++) {
        double s = corner == 1 || corner == 2 ? 0.5 : -0.5;
        double t = corner >= 2 ? 0.5 : -0.5;
        double position[3];

        position[axis] = 0.5 * sign;
        position[right] = s * sign;
        position[up] = t;
        set_vertex(mesh, first + corner, position, normal, s + 0.5, 0.5 - t);
    }
    set_quad(mesh, face, first, first + 1, first + 2, first + 3);
}

uint32_t facet_maker_cube(struct maker *m, const char *name, uint32_t material)
{
    struct facet_scene_mesh mesh;

    if (!begin_mesh(m, &mesh, 24, 12)) {
        return 0;
    }
    for (unsigned face = 0; face < 6; face++) {
        cube_face(&mesh, face);
    }
    return end_mesh(m, &mesh, name, material);
}

uint32_t facet_maker_square(struct maker *m, const char *name, uint32_t material, float repeat)
{
    const double normal[3] = {0, 0, 1};
    struct facet_scene_mesh mesh;

    if (!begin_mesh(m, &mesh, 4, 2)) {
        return 0;
    }
    for (uint32_t corner = 0; corner < 4; corner++) {
        double s = corner == 1 || corner == 2 ? 1.0 : 0.0;
        double t = corner >= 2 ? 1.0 : 0.0;
        double position[3] = {s - 0.5, t - 0.5, 0};

        set_vertex(&mesh, corner, position, normal, s * (double)repeat, (1.0 - t) * (double)repeat);
    }
    set_quad(&mesh, 0, 0, 1, 2, 3);
    return end_mesh(m, &mesh, name, material);
}

static void sphere_surface(void *context, double u, double v, double position[3], double normal[3])
{
    double su, cu, sv, cv;

    (void)context;
    facet_maker_sincos(u, &su, &cu);
    facet_maker_sincos(0.5 * v, &sv, &cv);
    normal[0] = su * sv;
    normal[1] = cv;
    normal[2] = cu * sv;
    for (unsigned i = 0; i < 3; i++) {
        position[i] = 0.5 * normal[i];
    }
}

/* The rows at the poles would have one triangle without area per cell: those are left out. */
uint32_t facet_maker_sphere(struct maker *m, const char *name, uint32_t material, uint32_t rings)
{
    struct facet_scene_mesh mesh;
    uint32_t columns = 2 * rings, pitch = columns + 1;
    size_t at = 0;

    if (!begin_mesh(m, &mesh, (uint64_t)pitch * (rings + 1), 2 * (uint64_t)columns * (rings - 1))) {
        return 0;
    }
    for (uint32_t row = 0; row <= rings; row++) {
        for (uint32_t column = 0; column <= columns; column++) {
            double u = (double)column / columns, v = (double)row / rings;
            double position[3], normal[3];

            sphere_surface(NULL, u, v, position, normal);
            set_vertex(&mesh, (size_t)row * pitch + column, position, normal, u, v);
        }
    }
    for (uint32_t row = 0; row < rings; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            uint32_t a = row * pitch + column, b = a + pitch;
            uint32_t upper[3] = {a, b, a + 1}, lower[3] = {a + 1, b, b + 1};

            if (row != 0) {
                memcpy(mesh.indices + at, upper, sizeof upper);
                at += 3;
            }
            if (row != rings - 1) {
                memcpy(mesh.indices + at, lower, sizeof lower);
                at += 3;
            }
        }
    }
    return end_mesh(m, &mesh, name, material);
}

uint32_t facet_maker_cylinder(struct maker *m, const char *name, uint32_t material, uint32_t sides)
{
    struct facet_scene_mesh mesh;
    uint32_t pitch = sides + 1, caps = 2 * pitch;
    size_t at;

    if (!begin_mesh(m, &mesh, 4 * (uint64_t)pitch, 2 * (uint64_t)sides + 2 * (sides - 2))) {
        return 0;
    }
    for (uint32_t i = 0; i <= sides; i++) {
        double u = (double)i / sides, s, c;

        facet_maker_sincos(u, &s, &c);
        for (uint32_t top = 0; top < 2; top++) {
            double position[3] = {0.5 * s, (double)top - 0.5, 0.5 * c};
            double around[3] = {s, 0, c}, axis[3] = {0, top != 0 ? 1 : -1, 0};

            set_vertex(&mesh, top * pitch + i, position, around, u, 1.0 - (double)top);
            set_vertex(&mesh, caps + top * pitch + i, position, axis, 0.5 + 0.5 * s, 0.5 - 0.5 * c);
        }
    }
    for (uint32_t i = 0; i < sides; i++) {
        set_quad(&mesh, i, i, i + 1, pitch + i + 1, pitch + i);
    }
    at = 6 * (size_t)sides;
    for (uint32_t i = 1; i + 1 < sides; i++, at += 6) {
        uint32_t fans[6] = {
            caps, caps + i + 1, caps + i, caps + pitch, caps + pitch + i, caps + pitch + i + 1};

        memcpy(mesh.indices + at, fans, sizeof fans);
    }
    return end_mesh(m, &mesh, name, material);
}

/* Centre line of the knot and its derivative, at a fraction of its length. */
static void knot_line(double t, double point[3], double tangent[3])
{
    double s2, c2, s3, c3;

    facet_maker_sincos(2.0 * t, &s2, &c2);
    facet_maker_sincos(3.0 * t, &s3, &c3);
    point[0] = (2.0 + c3) * c2 / 3.0;
    point[1] = s3 / 3.0;
    point[2] = (2.0 + c3) * s2 / 3.0;
    tangent[0] = -3.0 * s3 * c2 - 2.0 * (2.0 + c3) * s2;
    tangent[1] = 3.0 * c3;
    tangent[2] = -3.0 * s3 * s2 + 2.0 * (2.0 + c3) * c2;
}

/* A tube around the line. The frame comes from the direction to the axis of the torus, so it closes
 * by itself. */
static void knot_surface(void *context, double u, double v, double position[3], double normal[3])
{
    const double radius = 0.13;
    double point[3], tangent[3], side[3], up[3], s, c;

    (void)context;
    knot_line(v, point, tangent);
    (void)facet_scene_normalize(tangent);
    facet_scene_cross(tangent, point, side);
    (void)facet_scene_normalize(side);
    facet_scene_cross(side, tangent, up);
    facet_maker_sincos(u, &s, &c);
    for (unsigned i = 0; i < 3; i++) {
        normal[i] = c * up[i] - s * side[i];
        position[i] = point[i] + radius * normal[i];
    }
}

uint32_t facet_maker_knot(struct maker *m, const char *name, uint32_t material, uint32_t length)
{
    uint32_t around = length / 8 > 3 ? length / 8 : 3;

    return facet_maker_grid(m, name, material, around, length, knot_surface, NULL);
}

void facet_maker_place(struct maker *m, uint32_t mesh, const struct facet_affine *matrix)
{
    struct facet_scene_instance instance;

    memset(&instance, 0, sizeof instance);
    instance.mesh = mesh;
    facet_affine_to_float(matrix, instance.transform);
    if (m->status == FACET_OK) {
        m->status = facet_scene_add_instance(m->scene, &instance, m->err);
    }
}

void facet_maker_put(
    struct maker *m, uint32_t mesh, double x, double y, double z, double sx, double sy, double sz)
{
    facet_maker_turn(m, mesh, x, y, z, sx, sy, sz, 0.0);
}

void facet_maker_turn(struct maker *m,
                      uint32_t mesh,
                      double x,
                      double y,
                      double z,
                      double sx,
                      double sy,
                      double sz,
                      double turns)
{
    double s, c;

    facet_maker_sincos(turns, &s, &c);
    {
        struct facet_affine matrix = {{c * sx, 0, s * sz, x, 0, sy, 0, y, -s * sx, 0, c * sz, z}};

        facet_maker_place(m, mesh, &matrix);
    }
}

void facet_maker_camera(struct maker *m, const double eye[3], const double target[3], float y_fov)
{
    const double world_up[3] = {0, 1, 0};
    struct facet_scene_camera camera;
    double back[3], right[3], up[3];

    memset(&camera, 0, sizeof camera);
    for (unsigned i = 0; i < 3; i++) {
        back[i] = eye[i] - target[i];
    }
    (void)facet_scene_normalize(back);
    facet_scene_cross(world_up, back, right);
    (void)facet_scene_normalize(right);
    facet_scene_cross(back, right, up);
    for (unsigned i = 0; i < 3; i++) {
        camera.transform[4 * i] = (float)right[i];
        camera.transform[4 * i + 1] = (float)up[i];
        camera.transform[4 * i + 2] = (float)back[i];
        camera.transform[4 * i + 3] = (float)eye[i];
    }
    set_name(camera.name, "camera");
    camera.y_fov = y_fov;
    camera.z_near = 0.01F;
    camera.z_far = 1000.0F;
    if (m->status == FACET_OK) {
        m->status = facet_scene_add_camera(m->scene, &camera, m->err);
    }
}

static void add_light(struct maker *m, struct facet_scene_light *light, const char *name)
{
    set_name(light->name, name);
    for (unsigned i = 0; i < 3; i++) {
        light->color[i] = 1.0F;
    }
    if (m->status == FACET_OK) {
        m->status = facet_scene_add_light(m->scene, light, m->err);
    }
}

void facet_maker_sun(struct maker *m, const double direction[3], float intensity)
{
    struct facet_scene_light light;
    double unit[3] = {direction[0], direction[1], direction[2]};

    memset(&light, 0, sizeof light);
    (void)facet_scene_normalize(unit);
    light.kind = FACET_LIGHT_DIRECTIONAL;
    light.intensity = intensity;
    for (unsigned i = 0; i < 3; i++) {
        light.direction[i] = (float)unit[i];
    }
    add_light(m, &light, "sun");
}

void facet_maker_point_light(struct maker *m, double x, double y, double z, float intensity)
{
    struct facet_scene_light light;

    memset(&light, 0, sizeof light);
    light.kind = FACET_LIGHT_POINT;
    light.intensity = intensity;
    light.position[0] = (float)x;
    light.position[1] = (float)y;
    light.position[2] = (float)z;
    light.direction[1] = -1.0F;
    add_light(m, &light, "lamp");
}
