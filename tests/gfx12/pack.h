/* Makes GFX12 images for the tests: packs triangles into primitive nodes and builds small trees.
 * Not the encoder of section 12: dull on purpose, so that the tests do not lean on it. */
#ifndef FACET_TESTS_GFX12_PACK_H
#define FACET_TESTS_GFX12_PACK_H

#include <facet/gfx12.h>

struct pack_tri {
    float v[3][3];
    uint32_t geometry, primitive;
    bool opaque, double_sided;
};

struct pack_pair {
    const struct pack_tri *tri[2]; /* tri[1] may be NULL: absent */
    bool stop;
};

/* Shares equal vertices and strips common prefixes and zeros; false when the pairs do not fit one
 * node. */
bool pack_node(const struct pack_pair *pairs, unsigned count, struct facet_gfx12_prim *out);

/* A growing image. */
struct pack_image {
    uint8_t *bytes;
    size_t size, capacity;
};
void pack_free(struct pack_image *image);

/* A tree over triangles: `range` triangles per leaf, root at the returned byte offset. Boxes are
 * padded by `pad`. */
size_t pack_blas(struct pack_image *image,
                 const struct pack_tri *tris,
                 unsigned count,
                 unsigned range,
                 float pad,
                 float lo[3],
                 float hi[3]);

struct pack_instance {
    float world_to_object[12];
    size_t blas; /* byte offset of the root */
    unsigned flags;
    uint8_t mask;
    uint32_t user_data;
    float blas_lo[3], blas_hi[3]; /* object space */
    float lo[3], hi[3];           /* world space */
};
size_t pack_tlas(struct pack_image *image, const struct pack_instance *instances, unsigned count);

#endif
