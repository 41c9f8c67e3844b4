/* Assembly text to a program. See spec/README.md "Assembly syntax" for instructions,
 * tile-semantics.md 3.2 for the tile machine's rules; directives follow GNU as.
 *
 * One pass over the text emits bytes and remembers what could not be known yet; then sections get
 * their addresses and the open places are filled in. There is no relaxation and no automatic
 * compression: the length of every statement is known when it is read, and what the disassembler
 * prints assembles to the same bytes. */
#ifndef FACET_ASSEMBLER_ASSEMBLE_H
#define FACET_ASSEMBLER_ASSEMBLE_H

#include "assembler/diag.h"
#include "object/object.h"

struct facet_asm_define {
    const char *name;
    int64_t value;
};

/* Where an instruction or datum of a source line went: what a listing prints. */
struct facet_asm_span {
    uint32_t line; /* of the main file; statements out of macros carry the line of their use */
    uint32_t section;
    uint64_t offset;
    uint64_t size;
};

struct facet_asm_options {
    enum facet_isa isa;
    const char *file; /* name for messages; NULL is "-" */
    bool has_base;    /* otherwise facet_object_default_base */
    uint64_t base;
    const struct facet_asm_define *defines;
    size_t define_count;
    const char *const *include_folders; /* where .include looks, in this order */
    size_t include_count;               /* 0 forbids it */
    unsigned max_errors;                /* 0: 20 */
    uint64_t max_bytes;                 /* of all sections together; 0: 256 MiB */
    uint64_t max_expansion;             /* statements out of .rept and .macro; 0: 16 million */
    bool listing;                       /* fill facet_asm_result.spans */
    bool debug;                         /* line tables for debuggers (object/lines.h) */
};

struct facet_asm_result {
    struct facet_object *object; /* NULL unless the text is free of errors */
    struct facet_diag_list diags;
    struct facet_asm_span *spans; /* in order of the text; section counts object->sections */
    size_t span_count;
};

/* Returns FACET_OK with an object and no complaints; FACET_ERR_INPUT with the complaints in
 * result->diags (err holds the first); FACET_ERR_MEMORY. Call facet_asm_result_free in every case.
 */
enum facet_status facet_assemble(const struct facet_asm_options *options,
                                 const char *text,
                                 size_t size,
                                 struct facet_asm_result *result,
                                 struct facet_error *err);
void facet_asm_result_free(struct facet_asm_result *result);

/* The listing: line, address, bytes and source text of every line. */
void facet_asm_listing(const struct facet_asm_result *result,
                       const char *text,
                       size_t size,
                       struct facet_strbuf *out);

#endif
