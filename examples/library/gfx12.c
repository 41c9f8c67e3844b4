/* One GFX12 box node by hand: two children, and what image_bvh8_intersect_ray says of a ray. */
#include <facet/gfx12.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const float boxes[2][2][3] = {{{0, 0, 0}, {1, 1, 1}}, {{2, 0, 0}, {4, 1, 2}}};

int main(void)
{
    struct facet_gfx12_box box;
    struct facet_gfx12_unit unit;
    struct facet_gfx12_ray ray = {{-1, 0.5F, 0.5F}, {1, 0, 0}, 100, 0xFF};
    const float hi[3] = {4, 1, 2}, zero = 0;
    uint32_t bits[2][3], bound, v[10];
    uint8_t node[FACET_GFX12_NODE_BYTES];

    memset(&box, 0, sizeof box);
    for (int axis = 0; axis < 3; axis++) {
        memcpy(&bound, &hi[axis], sizeof bound);
        memcpy(&box.origin[axis], &zero, sizeof zero);
        if (!facet_gfx12_quantize_exponent(box.origin[axis], bound, &box.exponent[axis])) {
            return 2;
        }
    }
    box.obb_matrix_index = FACET_GFX12_OBB_NONE;
    box.internal_child_offset = 128 / 8;
    box.child_count_minus_one = 1;
    for (int c = 0; c < 8; c++) {
        facet_gfx12_child_unused(&box.child[c]);
    }
    for (int c = 0; c < 2; c++) {
        memcpy(bits, boxes[c], sizeof bits);
        facet_gfx12_quantize_child(bits[0], bits[1], box.origin, box.exponent, &box.child[c]);
        box.child[c].node_type = FACET_GFX12_TYPE_BOX;
        box.child[c].node_size = 1;
        box.child[c].cull_flags = 0;
        box.child[c].cull_mask = 0xFF;
    }
    facet_gfx12_box_encode(&box, node);
    facet_gfx12_unit_init(&unit, node, sizeof node);
    facet_gfx12_intersect8(&unit, 0, FACET_GFX12_ROOT, &ray, v);
    for (int i = 0; i < 3; i++) {
        printf("v%d = 0x%08" PRIx32 "%s\n", i, v[i], v[i] == FACET_GFX12_INVALID ? " (none)" : "");
    }
    return 0;
}
