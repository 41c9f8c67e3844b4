/* Vector files of the four instructions (spec/README.md, "GFX12 vector files"): reading cases,
 * running them and finding the first register that differs. */
#ifndef FACET_DOCUMENTS_GFX12_VECTORS_H
#define FACET_DOCUMENTS_GFX12_VECTORS_H

#include "base/error.h"

#include <facet/gfx12.h>

enum facet_doc_gfx12_instruction {
    FACET_DOC_GFX12_INTERSECT8,
    FACET_DOC_GFX12_DUAL,
    FACET_DOC_GFX12_POP1, /* ds_bvh_stack_push8_pop1_rtn_b32 */
    FACET_DOC_GFX12_POP2,
};

struct facet_doc_gfx12_vector {
    char *name;
    enum facet_doc_gfx12_instruction instruction;
    uint32_t *memory; /* the node at BVH byte offset 0; LDS for the stack instructions */
    size_t memory_dwords;
    uint32_t node_pointer, second_pointer; /* the second is of the dual instruction */
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
    /* The stack instructions; `expected` holds one result or two. */
    uint8_t offset0, offset1;
    uint32_t address, last, data[8], expected_address;
    uint32_t *expected_lds; /* NULL: not compared */
    size_t expected_lds_dwords;
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

/* What a case gave. An intersect instruction: dwords 0..9 are v0..v9, 10..12 the origin, 13..15 the
 * direction. A stack instruction: dwords 0 and 1 are the results (the second is 0 where there is
 * none), 2 the address operand, and from 16 on LDS. */
struct facet_doc_gfx12_vector_result {
    bool pass;
    size_t differs; /* first dword that is not as expected */
    uint32_t expected, got;
    uint32_t dword[16];
};
bool facet_doc_gfx12_is_stack(const struct facet_doc_gfx12_vector *vector);
/* A stack instruction changes the memory of its case. */
void facet_doc_gfx12_vector_run(struct facet_doc_gfx12_vector *vector,
                                enum facet_gfx12_profile profile,
                                struct facet_doc_gfx12_vector_result *result);

/* Whether the recorded card is said to answer such a case with nothing (R-G12-118). */
bool facet_doc_gfx12_vector_doubtful(const struct facet_doc_gfx12_vector *vector,
                                     enum facet_gfx12_profile profile);

/* "v3", "origin.x", "lds[5]", ...: the name of a dword of a result. */
void facet_doc_gfx12_dword_name(const struct facet_doc_gfx12_vector *vector,
                                size_t dword,
                                char text[32]);
/* "silicon" or "gpurt"; false for another word. */
bool facet_doc_gfx12_profile_from(const char *word, enum facet_gfx12_profile *out);

#endif
