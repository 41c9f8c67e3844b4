/* An assembled or loaded program: sections with their bytes, symbols, the entry point. The
 * assembler makes one, the ELF writer and reader turn it into a file and back, the disassembler and
 * the machine loaders read it. Everything in it lives in its arena. */
#ifndef FACET_OBJECT_OBJECT_H
#define FACET_OBJECT_OBJECT_H

#include "base/arena.h"
#include "base/error.h"
#include "isa/table.h"

enum facet_section_flag {
    FACET_SECTION_WRITE = 1, /* the values of SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR */
    FACET_SECTION_ALLOC = 2,
    FACET_SECTION_EXEC = 4,
};

struct facet_section {
    const char *name;
    uint64_t address;
    uint64_t size;
    uint64_t align; /* a power of two, at least 1 */
    uint32_t flags; /* enum facet_section_flag */
    bool nobits;    /* occupies no file bytes, reads as zero; data is NULL */
    const uint8_t *data;
};

enum facet_symbol_binding { FACET_SYMBOL_LOCAL, FACET_SYMBOL_GLOBAL, FACET_SYMBOL_WEAK };
enum facet_symbol_type {
    FACET_SYMBOL_NOTYPE,
    FACET_SYMBOL_OBJECT,
    FACET_SYMBOL_FUNC,
    FACET_SYMBOL_SECTION,
    FACET_SYMBOL_FILE,
};
enum { FACET_SYMBOL_ABSOLUTE = -1, FACET_SYMBOL_UNDEFINED = -2 };

struct facet_object_symbol {
    const char *name;
    uint64_t value;  /* an address, or a number when absolute */
    uint64_t size;   /* bytes, 0 when not known */
    int32_t section; /* index, FACET_SYMBOL_ABSOLUTE or FACET_SYMBOL_UNDEFINED */
    uint8_t binding; /* enum facet_symbol_binding */
    uint8_t type;    /* enum facet_symbol_type */
};

/* What a loader puts into memory: file_size bytes, then zeros up to memory_size. */
struct facet_segment {
    uint64_t address;  /* where the program runs with it */
    uint64_t physical; /* where a loader puts it; the start-up code moves what differs */
    uint64_t file_size;
    uint64_t memory_size;
    uint32_t flags; /* enum facet_section_flag without ALLOC */
    const uint8_t *data;
};

struct facet_object {
    enum facet_isa isa;
    uint64_t entry;
    bool relocatable; /* read from an ET_REL file: addresses are not final */
    struct facet_section *sections;
    size_t section_count;
    struct facet_object_symbol *symbols;
    size_t symbol_count;
    struct facet_segment *segments;
    size_t segment_count;
    struct facet_arena arena;
};

/* NULL when memory is short. */
struct facet_object *facet_object_new(enum facet_isa isa);
void facet_object_free(struct facet_object *object); /* NULL is fine */

/* The default address of programs of the machine (R-TILE-104). */
uint64_t facet_object_default_base(enum facet_isa isa);

/* Fills segments from the loaded sections: neighbours with the same flags share one. The sections
 * must be in rising order of address and must not overlap. */
enum facet_status facet_object_make_segments(struct facet_object *object, struct facet_error *err);

/* The loaded bytes from the lowest to the highest address, gaps zero, no bytes for the zeros at the
 * end that only memory holds. *data belongs to the caller (free). */
enum facet_status facet_object_flatten(const struct facet_object *object,
                                       uint8_t **data,
                                       size_t *size,
                                       uint64_t *base,
                                       struct facet_error *err);

/* One object with the loaded sections, symbols and source lines of several, which stay as they are.
 * The entry is that of the first. On success *out belongs to the caller. */
enum facet_status facet_object_merge(struct facet_object *const *parts,
                                     size_t count,
                                     struct facet_object **out,
                                     struct facet_error *err);

/* A flat file as an object: one executable section .text at `base`, entry there. */
enum facet_status facet_object_from_bytes(enum facet_isa isa,
                                          const uint8_t *data,
                                          size_t size,
                                          uint64_t base,
                                          struct facet_object **out,
                                          struct facet_error *err);

#endif
