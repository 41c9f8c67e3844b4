/* Vector files of image_bvh8_intersect_ray (spec/README.md, "GFX12 vector files"): reading cases,
 * running them and finding the first register that differs. */
#ifndef FACET_DOCUMENTS_GFX12_VECTORS_H
#define FACET_DOCUMENTS_GFX12_VECTORS_H

#include "base/error.h"

#include <facet/gfx12.h>

struct facet_doc_gfx12_vector {
    char *name;
    uint8_t node[FACET_GFX12_NODE_BYTES]; /* at BVH byte offset 0 */
    uint32_t node_pointer;
    uint32_t resource[4];
    struct facet_gfx12_ray ray;
    uint64_t bvh_base;
    bool has_profile; /* the case names one; it goes before the caller's */
    enum facet_gfx12_profile profile;
    enum facet_gfx12_opaque_sense opaque_sense;
    uint32_t expected[10];
    bool has_origin, has_direction;
    uint32_t expected_origin[3];
    uint32_t expected_direction[3];
};

struct facet_doc_gfx12_vectors {
    struct facet_doc_gfx12_vector *cases;
    size_t count;
};

/* Reads the text of a file; `file` starts the messages, which continue with the case and the JSON
 * path. Free the result with facet_doc_gfx12_vectors_free, also after a failure. */
enum facet_status facet_doc_gfx12_vectors_parse(const char *file,
                                                const void *text,
                                                size_t size,
                                                struct facet_doc_gfx12_vectors *out,
                                                struct facet_error *err);
void facet_doc_gfx12_vectors_free(struct facet_doc_gfx12_vectors *vectors);

/* What a case gave: dwords 0..9 are v0..v9, 10..12 the origin, 13..15 the direction. */
struct facet_doc_gfx12_vector_result {
    bool pass;
    unsigned differs; /* first dword that is not as expected */
    uint32_t expected;
    uint32_t dword[16];
};
void facet_doc_gfx12_vector_run(const struct facet_doc_gfx12_vector *vector,
                                enum facet_gfx12_profile profile,
                                struct facet_doc_gfx12_vector_result *result);

/* "v3", "origin.x", ...: the name of a dword of a result. */
const char *facet_doc_gfx12_dword_name(unsigned dword);
/* "silicon" or "gpurt"; false for another word. */
bool facet_doc_gfx12_profile_from(const char *word, enum facet_gfx12_profile *out);

#endif
