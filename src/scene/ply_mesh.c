/* See ply.h. Faces may come before the vertices that they refer to, so their numbers are checked
 * here. */
#include "scene/ply.h"

#include "scene/beside.h"
#include "scene/polygon.h"
#include "scene/weld.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum facet_status check_corners(struct ply *p)
{
    const uint32_t *corner = p->corners.items, *size = p->polygons.items;

    for (size_t i = 0; i < p->polygons.count; i++) {
        for (uint32_t k = 0; k < size[i]; k++, corner++) {
            if (*corner >= p->vertices.count) {
                return facet_fail(p->err,
                                  FACET_ERR_INPUT,
                                  i,
                                  "face %zu refers to vertex %lld, but there are %zu",
                                  i + 1,
                                  *corner == UINT32_MAX ? -1LL : (long long)*corner,
                                  p->vertices.count);
            }
        }
    }
    return FACET_OK;
}

/* Texture coordinates of corners: each corner becomes a vertex; equal ones are joined again. */
static enum facet_status split_corners(struct ply *p)
{
    struct facet_array split = {NULL, 0, 0};
    uint32_t *corner = p->corners.items;
    const float *uv = p->uvs.items;
    struct ply_vertex *to;

    if (!p->has_corner_uvs || p->corners.count == 0) {
        return FACET_OK;
    }
    to = facet_array_add(&split, p->corners.count, sizeof *to);
    if (to == NULL) {
        return facet_ply_out_of_memory(p);
    }
    for (size_t i = 0; i < p->corners.count; i++) {
        to[i] = ((const struct ply_vertex *)p->vertices.items)[corner[i]];
        to[i].value[PLY_U] = uv[2 * i];
        to[i].value[PLY_V] = uv[2 * i + 1];
        corner[i] = (uint32_t)i;
    }
    free(p->vertices.items);
    p->vertices = split;
    p->has[PLY_U] = p->has[PLY_V] = true;
    return FACET_OK;
}

/* `count` values of every vertex, from `first` on. */
static bool gather(const struct ply *p, enum ply_role first, unsigned count, float **out)
{
    const struct ply_vertex *from = p->vertices.items;

    *out = malloc(p->vertices.count * count * sizeof **out);
    for (size_t i = 0; *out != NULL && i < p->vertices.count; i++) {
        memcpy(*out + i * count, &from[i].value[first], count * sizeof **out);
    }
    return *out != NULL;
}

static bool gather_all(const struct ply *p, struct facet_scene_mesh *mesh)
{
    mesh->vertex_count = (uint32_t)p->vertices.count;
    if (!gather(p, PLY_X, 3, &mesh->positions) ||
        (p->has[PLY_NX] && p->has[PLY_NY] && p->has[PLY_NZ] &&
         !gather(p, PLY_NX, 3, &mesh->normals)) ||
        (p->has[PLY_RED] && p->has[PLY_GREEN] && p->has[PLY_BLUE] &&
         !gather(p, PLY_RED, 4, &mesh->colors)) ||
        (p->has[PLY_U] && p->has[PLY_V] && !gather(p, PLY_U, 2, &mesh->uv[0]))) {
        return false;
    }
    for (uint32_t i = 0; mesh->uv[0] != NULL && i < mesh->vertex_count; i++) {
        mesh->uv[0][2 * (size_t)i + 1] = 1.0F - mesh->uv[0][2 * (size_t)i + 1]; /* v goes up */
    }
    return true;
}

/* The triangles of one polygon, `points` being room for its corners. */
static bool
cut_polygon(const uint32_t *corners, uint32_t count, float *points, struct facet_scene_mesh *mesh)
{
    uint32_t *to = mesh->indices + 3 * (size_t)mesh->triangle_count;
    bool whole;

    for (uint32_t i = 0; i < count; i++) {
        memcpy(
            points + 3 * (size_t)i, mesh->positions + 3 * (size_t)corners[i], 3 * sizeof *points);
    }
    whole = facet_polygon_cut(points, count, to);
    for (uint32_t i = 0; i < 3 * (count - 2); i++) {
        to[i] = corners[to[i]];
    }
    mesh->triangle_count += count - 2;
    return whole;
}

static enum facet_status cut_polygons(struct ply *p, struct facet_scene_mesh *mesh)
{
    const uint32_t *corner = p->corners.items, *size = p->polygons.items;
    uint32_t fans = 0, small = 0, most = 3;
    enum facet_status status;
    float *points;

    for (size_t i = 0; i < p->polygons.count; i++) {
        most = size[i] > most ? size[i] : most;
    }
    points = malloc(3 * (size_t)most * sizeof *points);
    mesh->indices = malloc(3 * p->corners.count * sizeof *mesh->indices + 1);
    if (points == NULL || mesh->indices == NULL) {
        free(points);
        return facet_ply_out_of_memory(p);
    }
    for (size_t i = 0; i < p->polygons.count; corner += size[i++]) {
        if (size[i] < 3) {
            small++;
        } else {
            fans += !cut_polygon(corner, size[i], points, mesh);
        }
    }
    free(points);
    status = facet_scene_leave_out(p->scene,
                                   FACET_LOSS_SHAPE,
                                   small,
                                   "faces of fewer than three corners",
                                   "",
                                   "only polygons are read",
                                   p->err);
    return status == FACET_OK ? facet_scene_leave_out(p->scene,
                                                      FACET_LOSS_SHAPE,
                                                      fans,
                                                      FACET_POLYGON_TOO_LARGE,
                                                      "",
                                                      "they are cut as if they were convex",
                                                      p->err)
                              : status;
}

static enum facet_status add_material(struct ply *p)
{
    struct facet_scene_material material;
    char name[FACET_BESIDE_NAME_BYTES];
    enum facet_status status = FACET_OK;

    facet_scene_material_plain(&material);
    if (p->picture.size != 0) {
        facet_scene_beside_name(name, p->picture);
        status = facet_scene_beside_texture(
            p->reader, name, p->scene, &material.base_texture.texture, p->err);
    }
    return status == FACET_OK ? facet_scene_add_material(p->scene, &material, NULL, p->err)
                              : status;
}

static enum facet_status make_mesh(struct ply *p, struct facet_scene_mesh *mesh)
{
    enum facet_status status = split_corners(p);

    (void)snprintf(mesh->name, sizeof mesh->name, "mesh 0");
    if (status == FACET_OK && !gather_all(p, mesh)) {
        status = facet_ply_out_of_memory(p);
    }
    free(p->vertices.items); /* their number is still wanted */
    p->vertices.items = NULL;
    if (status == FACET_OK) {
        status = cut_polygons(p, mesh);
    }
    if (status == FACET_OK && !facet_scene_weld(mesh)) {
        status = facet_ply_out_of_memory(p);
    }
    return status;
}

enum facet_status facet_ply_add_mesh(struct ply *p)
{
    struct facet_scene_mesh mesh = {.name = ""};
    enum facet_status status = check_corners(p);

    if (status == FACET_OK) {
        status = add_material(p);
    }
    if (status != FACET_OK || p->corners.count == 0) {
        return status;
    }
    status = make_mesh(p, &mesh);
    if (status == FACET_OK) {
        status = facet_scene_add_placed_mesh(p->scene, &mesh, p->err);
    }
    if (status != FACET_OK) {
        facet_scene_mesh_free(&mesh);
    }
    return status;
}
