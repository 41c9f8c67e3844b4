/* See page_tree.h. */
#include "wasm/page_tree.h"

#include <stdlib.h>
#include <string.h>

static void *column(uint8_t *bytes, size_t *at, size_t count, size_t size)
{
    void *here = bytes != NULL ? bytes + *at : NULL;

    *at = (*at + count * size + 7) / 8 * 8;
    return here;
}

/* Columns one after the other, each at a multiple of eight bytes. NULL: only says how many bytes.
 * web/src/engine/bvh.ts has the same list. */
static size_t lay_out(struct page_tree *t, uint8_t *bytes)
{
    size_t at = PAGE_TREE_HEAD;

    t->offset = column(bytes, &at, t->count, 8);
    t->level_base = column(bytes, &at, t->level_count, 8);
    t->id = column(bytes, &at, t->count, 4);
    t->parent = column(bytes, &at, t->count, 4);
    t->level = column(bytes, &at, t->count, 4);
    t->triangles = column(bytes, &at, t->count, 4);
    t->depth = column(bytes, &at, t->count, 4);
    t->box = column(bytes, &at, t->count, 24);
    t->area = column(bytes, &at, t->count, 4);
    t->overlap = column(bytes, &at, t->count, 4);
    t->cost = column(bytes, &at, t->count, 4);
    t->level_root = column(bytes, &at, t->level_count, 4);
    t->instance = column(bytes, &at, t->instance_count, 4);
    t->instance_goes = column(bytes, &at, t->instance_count, 4);
    t->to_world = column(bytes, &at, t->instance_count, 48);
    t->kind = column(bytes, &at, t->count, 1);
    t->slot = column(bytes, &at, t->count, 1);
    t->children = column(bytes, &at, t->count, 1);
    return at;
}

uint8_t *page_tree_make(struct page_tree *t, size_t *size)
{
    const uint32_t head[PAGE_TREE_HEAD / 4] = {
        t->count, t->level_count, t->instance_count, t->slots};
    uint8_t *bytes;

    *size = lay_out(t, NULL);
    bytes = calloc(*size, 1);
    if (bytes != NULL) {
        memcpy(bytes, head, sizeof head);
        (void)lay_out(t, bytes);
    }
    return bytes;
}

float page_box_surface(const float box[6])
{
    const float x = box[3] - box[0], y = box[4] - box[1], z = box[5] - box[2];

    return x >= 0 && y >= 0 && z >= 0 ? x * y + y * z + z * x : 0.0F;
}

static float common_surface(const float a[6], const float b[6])
{
    float common[6];

    for (unsigned k = 0; k < 3; k++) {
        common[k] = fmaxf(a[k], b[k]);
        common[3 + k] = fminf(a[3 + k], b[3 + k]);
    }
    return page_box_surface(common);
}

float page_box_overlap(const float (*boxes)[6], const uint32_t *id, unsigned count)
{
    float all[6], sum = 0.0F, whole;

    page_box_empty(all);
    for (unsigned c = 0; c < count; c++) {
        page_box_widen(all, boxes[c], boxes[c] + 3);
        for (unsigned d = 0; d < c; d++) {
            sum += id[c] != id[d] ? common_surface(boxes[c], boxes[d]) : 0.0F;
        }
    }
    whole = page_box_surface(all);
    return whole > 0.0F ? sum / whole : 0.0F;
}
