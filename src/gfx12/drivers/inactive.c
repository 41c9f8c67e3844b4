/* See inactive.h. */
#include "gfx12/drivers/inactive.h"

#include "gfx12/image/node.h"

#include <string.h>

#define NODE FACET_GFX12_NODE_BYTES
#define ROOT_AT 128                       /* behind the header */
#define ROOT_NUMBER 1u                    /* of the root among nodes that count from the header */
#define NUMBER_AT(i) (80 + 12 * (i) + 11) /* in an instance: type and size of a box */

static bool is_inactive(const struct facet_gfx12_piece *piece)
{
    return piece->structure.root == FACET_GFX12_NO_ROOT;
}

bool facet_gfx12_has_inactive(const struct facet_gfx12_piece *pieces, uint32_t count)
{
    uint32_t i = 0;

    while (i < count && !is_inactive(&pieces[i])) {
        i++;
    }
    return i < count;
}

/* The root of an inactive structure; NULL where its bytes end before. */
static uint8_t *root_of(uint8_t *bytes, const struct facet_gfx12_piece *piece)
{
    const uint64_t at = piece->at + piece->structure.base + ROOT_AT;

    return facet_gfx12_piece_has(piece, at, NODE) ? bytes + at : NULL;
}

/* Whether an instance leads into an inactive structure and names one node for all its boxes. */
static bool
leads_nowhere(const uint8_t *node, const struct facet_gfx12_piece *pieces, uint32_t count)
{
    const struct facet_gfx12_piece *blas;
    struct facet_gfx12_instance instance;
    uint32_t root;

    facet_gfx12_instance_decode(node, &instance);
    blas = facet_gfx12_piece_with_base(pieces, count, facet_gfx12_base_address(instance.pointer));
    return blas != NULL && is_inactive(blas) &&
           facet_gfx12_instance_numbered(&instance, ROOT_AT >> 3 | FACET_GFX12_ROOT, &root);
}

static void change_instances(uint8_t *bytes,
                             const uint8_t *original,
                             const struct facet_gfx12_piece *tlas,
                             const struct facet_gfx12_piece *pieces,
                             uint32_t count)
{
    const struct facet_gfx12_structure *s = &tlas->structure;
    uint64_t at = tlas->at + s->leaf_nodes;

    for (uint64_t i = 0; i < s->leaves && facet_gfx12_piece_has(tlas, at, NODE); i++, at += NODE) {
        if (!leads_nowhere((original != NULL ? original : bytes) + at, pieces, count)) {
            continue;
        }
        for (unsigned k = 0; k < 4; k++) {
            bytes[at + NUMBER_AT(k)] =
                original != NULL ? original[at + NUMBER_AT(k)] : (uint8_t)ROOT_NUMBER;
        }
    }
}

/* To what it is without `original`, and otherwise back to that. */
static void change(uint8_t *bytes,
                   const uint8_t *original,
                   const struct facet_gfx12_piece *pieces,
                   uint32_t count)
{
    struct facet_gfx12_box nothing = {.parent = FACET_GFX12_INVALID, .obb_matrix_index = 0x7f};

    for (unsigned i = 0; i < 8; i++) {
        facet_gfx12_child_unused(&nothing.child[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *root = is_inactive(&pieces[i]) ? root_of(bytes, &pieces[i]) : NULL;

        if (root != NULL && original != NULL) {
            memcpy(root, original + (root - bytes), NODE);
        } else if (root != NULL) {
            facet_gfx12_box_encode(&nothing, root);
        }
        if (pieces[i].structure.driver == FACET_GFX12_DRIVER_GPURT && pieces[i].structure.top &&
            !is_inactive(&pieces[i])) {
            change_instances(bytes, original, &pieces[i], pieces, count);
        }
    }
}

void facet_gfx12_inactive_clear(uint8_t *bytes,
                                const struct facet_gfx12_piece *pieces,
                                uint32_t count)
{
    change(bytes, NULL, pieces, count);
}

void facet_gfx12_inactive_restore(uint8_t *bytes,
                                  const uint8_t *original,
                                  const struct facet_gfx12_piece *pieces,
                                  uint32_t count)
{
    change(bytes, original, pieces, count);
}
