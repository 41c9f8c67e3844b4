/* What the assembler's tests share: assembling a string, complaining with its first error. */
#ifndef FACET_TESTS_ASM_HELP_H
#define FACET_TESTS_ASM_HELP_H

#include "harness.h"

#include "assembler/assemble.h"
#include "assembler/disassemble.h"
#include "object/elf.h"

#include <stdio.h>
#include <stdlib.h>

struct assembled {
    struct facet_asm_result result;
    enum facet_status status;
    uint8_t *bytes; /* flat image */
    size_t size;
    uint64_t base;
};

static inline struct assembled assemble_with(const struct facet_asm_options *options,
                                             const char *text)
{
    struct assembled a = {0};
    struct facet_error err;

    a.status = facet_assemble(options, text, strlen(text), &a.result, &err);
    if (a.status == FACET_OK) {
        a.status = facet_object_flatten(a.result.object, &a.bytes, &a.size, &a.base, &err);
    }
    return a;
}

static inline struct assembled assemble_text(enum facet_isa isa, const char *text)
{
    return assemble_with(&(struct facet_asm_options){.isa = isa, .file = "t.s"}, text);
}

static inline void assembled_free(struct assembled *a)
{
    facet_asm_result_free(&a->result);
    free(a->bytes);
}

static inline uint32_t word_at(const struct assembled *a, size_t offset)
{
    uint32_t word = 0;

    for (size_t i = 0; i < 4 && offset + i < a->size; i++) {
        word |= (uint32_t)a->bytes[offset + i] << (8 * i);
    }
    return word;
}

static inline const char *first_error(const struct assembled *a)
{
    return a->result.diags.count != 0 ? a->result.diags.items[0].message : "(no error)";
}

#endif
