/* Tile case folders (spec/README.md "Tile case folders"): a kernel, its inputs and what must be in
 * memory, counters and fault registers afterwards. */
#ifndef FACET_DOCUMENTS_TILE_CASE_H
#define FACET_DOCUMENTS_TILE_CASE_H

#include "base/file.h"
#include "tile/tile.h"

struct facet_doc_tile_case;

/* Reads folder/case.json and the files that it names. Unknown keys, missing files and impossible
 * values are FACET_ERR_INPUT with a message that names file and key. */
enum facet_status facet_doc_tile_case_read(const char *folder,
                                           struct facet_doc_tile_case **out,
                                           struct facet_error *err);
void facet_doc_tile_case_free(struct facet_doc_tile_case *tile_case); /* NULL is allowed */
const char *facet_doc_tile_case_name(const struct facet_doc_tile_case *tile_case);

struct facet_doc_tile_case_result {
    bool pass;
    bool stopped;         /* its run was interrupted: neither passed nor failed */
    char difference[480]; /* the first one; empty when it passes */
};

/* How it is run beside what the case says; no result depends on it. */
struct facet_doc_tile_case_how {
    bool plain;
    facet_pool *pool;
    /* Called before the first instruction of the dispatch and after its last; may be
     * NULL. For observers. */
    void (*begin)(void *context, facet_machine *machine);
    void (*end)(void *context);
    void *context;
};

/* Fails only when the machine cannot be made. */
enum facet_status facet_doc_tile_case_run(const struct facet_doc_tile_case *tile_case,
                                          const struct facet_doc_tile_case_how *how,
                                          struct facet_doc_tile_case_result *result,
                                          struct facet_error *err);

/* What the case leaves behind, as bytes to compare with those of another machine: one word for the
 * end (0 ok, 1 fault, 2 waiting for ever), for each fault that the case lists its cause and what
 * else it asks for (pc, address, status), then the outputs, each filled up to whole words. *bytes
 * belongs to the caller (free). */
enum facet_status facet_doc_tile_case_answer(const struct facet_doc_tile_case *tile_case,
                                             const struct facet_doc_tile_case_how *how,
                                             uint8_t **bytes,
                                             size_t *size,
                                             struct facet_error *err);

/* ---- for machines of others ---- */

/* The n-th piece of memory that the dispatch finds, first the kernel; false behind the last. */
bool facet_doc_tile_case_piece(const struct facet_doc_tile_case *tile_case,
                               size_t n,
                               uint32_t *address,
                               const struct facet_bytes **bytes);
const struct facet_tile_packet *
facet_doc_tile_case_packet(const struct facet_doc_tile_case *tile_case);
/* A machine of ours whose dispatch has begun and done no step. */
enum facet_status facet_doc_tile_case_begin(const struct facet_doc_tile_case *tile_case,
                                            facet_machine **machine,
                                            struct facet_error *err);
/* The answer of a case that `machine` has run in lockstep with another: end and faults are the
 * machine's, the outputs are what `read` finds in the other's memory. */
typedef bool
facet_doc_tile_case_read_memory(void *context, uint32_t address, void *bytes, size_t size);
enum facet_status facet_doc_tile_case_answer_of(const struct facet_doc_tile_case *tile_case,
                                                const facet_machine *machine,
                                                facet_doc_tile_case_read_memory *read,
                                                void *context,
                                                uint8_t **bytes,
                                                size_t *size,
                                                struct facet_error *err);

#endif
