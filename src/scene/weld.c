/* See weld.h. Open addressing over vertex numbers; the key is the vertex's bytes. */
#include "scene/weld.h"

#include "base/hash.h"
#include "base/require.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ARRAYS (3 + FACET_SCENE_UV_SETS)

struct arrays {
    unsigned count;
    float *data[MAX_ARRAYS];
    size_t bytes[MAX_ARRAYS]; /* per vertex */
};

static void add_array(struct arrays *a, float *data, unsigned components)
{
    if (data != NULL) {
        a->data[a->count] = data;
        a->bytes[a->count++] = components * sizeof *data;
    }
}

static struct arrays arrays_of(const struct facet_scene_mesh *mesh)
{
    struct arrays a = {.count = 0};

    add_array(&a, mesh->positions, 3);
    add_array(&a, mesh->normals, 3);
    add_array(&a, mesh->colors, 4);
    for (unsigned set = 0; set < FACET_SCENE_UV_SETS; set++) {
        add_array(&a, mesh->uv[set], 2);
    }
    return a;
}

static uint8_t *vertex_at(const struct arrays *a, unsigned array, uint32_t vertex)
{
    return (uint8_t *)a->data[array] + a->bytes[array] * vertex;
}

static uint64_t hash_vertex(const struct arrays *a, uint32_t vertex)
{
    uint64_t hash = 0;

    for (unsigned i = 0; i < a->count; i++) {
        hash = facet_hash_bytes(vertex_at(a, i, vertex), a->bytes[i], hash);
    }
    return hash;
}

static bool same_vertex(const struct arrays *a, uint32_t p, uint32_t q)
{
    for (unsigned i = 0; i < a->count; i++) {
        if (memcmp(vertex_at(a, i, p), vertex_at(a, i, q), a->bytes[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* Kept vertices move to the front in order of first appearance; `slots` holds their new numbers +
 * 1, `renumber` maps old to new. */
static uint32_t
compact(const struct arrays *a, uint32_t vertices, uint32_t *slots, size_t mask, uint32_t *renumber)
{
    uint32_t kept = 0;

    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        size_t slot = (size_t)hash_vertex(a, vertex) & mask;

        while (slots[slot] != 0 && !same_vertex(a, slots[slot] - 1, vertex)) {
            slot = (slot + 1) & mask;
        }
        if (slots[slot] == 0) {
            for (unsigned i = 0; i < a->count; i++) {
                memmove(vertex_at(a, i, kept), vertex_at(a, i, vertex), a->bytes[i]);
            }
            slots[slot] = ++kept;
        }
        renumber[vertex] = slots[slot] - 1;
    }
    return kept;
}

bool facet_scene_weld(struct facet_scene_mesh *mesh)
{
    const uint32_t vertices = mesh->vertex_count;
    struct arrays a = arrays_of(mesh);
    size_t capacity = 16;
    uint32_t *slots, *renumber;

    while (capacity < 2 * (size_t)vertices) {
        capacity *= 2;
    }
    slots = calloc(capacity, sizeof *slots);
    renumber = malloc((size_t)vertices * sizeof *renumber + 1);
    if (slots == NULL || renumber == NULL) {
        free(slots);
        free(renumber);
        return false;
    }
    mesh->vertex_count = compact(&a, vertices, slots, capacity - 1, renumber);
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        FACET_REQUIRE(mesh->indices[i] < vertices);
        mesh->indices[i] = renumber[mesh->indices[i]];
    }
    free(slots);
    free(renumber);
    return true;
}

static size_t find_slot(const struct facet_corners *c, const float point[3])
{
    const float(*points)[3] = c->points.items;
    size_t slot = (size_t)facet_hash_bytes(point, sizeof *points, 0) & (c->slot_count - 1);

    while (c->slots[slot] != 0 && memcmp(points[c->slots[slot] - 1], point, sizeof *points) != 0) {
        slot = (slot + 1) & (c->slot_count - 1);
    }
    return slot;
}

static bool grow_slots(struct facet_corners *c)
{
    const size_t count = c->slot_count != 0 ? 2 * c->slot_count : 64;
    uint32_t *slots = calloc(count, sizeof *slots);

    if (slots == NULL) {
        return false;
    }
    free(c->slots);
    c->slots = slots;
    c->slot_count = count;
    for (size_t i = 0; i < c->points.count; i++) {
        slots[find_slot(c, (const float *)c->points.items + 3 * i)] = (uint32_t)i + 1;
    }
    return true;
}

bool facet_corners_add(struct facet_corners *c, const float point[3])
{
    uint32_t *index = facet_array_add(&c->indices, 1, sizeof *index);
    size_t slot;

    if (index == NULL || (4 * c->points.count >= 3 * c->slot_count && !grow_slots(c))) {
        return false;
    }
    slot = find_slot(c, point);
    if (c->slots[slot] == 0) {
        float *to = facet_array_add(&c->points, 1, 3 * sizeof *to);

        if (to == NULL) {
            return false;
        }
        memcpy(to, point, 3 * sizeof *to);
        c->slots[slot] = (uint32_t)c->points.count;
    }
    *index = c->slots[slot] - 1;
    return true;
}

void facet_corners_free(struct facet_corners *c)
{
    free(c->points.items);
    free(c->indices.items);
    free(c->slots);
    *c = (struct facet_corners){0};
}
