/* A design as a shared library: what `facet conform --against ./lib.so` and `facet fuzz` load.
 *
 * The library exports one function, facet_design, and needs nothing of Facet but this header. It is
 * loaded by a process of its own, so that a crash or an endless loop costs one case. A design that
 * can be stepped is compared instruction by instruction: the first difference has pc, symbol, both
 * values and the steps before it. One that can only be run answers with the signature of the case.
 * docs/conformance.md tells the story, examples/design.c is a whole library. */
#ifndef FACET_DESIGN_H
#define FACET_DESIGN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FACET_DESIGN_ABI 1

/* What a function of the library returns. */
enum facet_design_answer {
    FACET_DESIGN_OK,
    FACET_DESIGN_ENDED,       /* step: nothing was done, the program is over */
    FACET_DESIGN_UNSUPPORTED, /* begin: the case needs something that the design has not */
    FACET_DESIGN_FAILED       /* something went wrong: *why says what */
};

/* Bytes of memory before the first step; all others are zero. */
struct facet_design_piece {
    uint64_t address;
    const void *bytes;
    size_t size;
};

/* A case of the suite. Everything here lives until the next `begin` or `end`. */
struct facet_design_case {
    uint32_t size;      /* of this struct; what a later Facet adds lies behind it */
    uint32_t tile_size; /* bytes at `packet`; 0 unless the kind is "tile" */
    const char *name;   /* "xphmg/pmask/pmnot" */
    const char *kind;   /* "elf", "tile", "list", "vector": docs/conformance.md */
    const char *file;   /* the program, or the folder of the case */
    const char *config; /* elf: as `facet run --config` has it; RAM is as there, 128 MiB */
    /* elf, tile: what to load, and where the first instruction is. */
    const struct facet_design_piece *pieces;
    size_t piece_count;
    uint64_t entry;
    /* elf: symbols, 0 where the program has none. A store of 1 to tohost ends it. */
    uint64_t begin_signature, end_signature, tohost;
    /* tile: the PACKET of the dispatch as it is stored in VRAM (facet/tile_layouts.h). */
    const void *packet;
};

/* What belongs to a step besides its instruction. */
enum facet_design_event_kind {
    FACET_DESIGN_WROTE,  /* a register or CSR: name, value (and upper: bits 127:64) */
    FACET_DESIGN_STORED, /* memory: address, size (1..16), value (and upper); name: NULL, or the
                            core's own memory as `facet_machine_space_name` has it */
    /* What came from outside, which the reference takes over: */
    FACET_DESIGN_LOADED, /* a load from `address` gave `value`: a device, time, another core */
    FACET_DESIGN_READ,   /* a CSR instruction read `value` from the CSR `name` */
    FACET_DESIGN_LINE, /* the interrupt line `size` (3, 7, 11) has the level `value` from now on */
    /* With late_jobs: what a unit of the core has written by itself since the last step. */
    FACET_DESIGN_UNIT_WROTE,
    FACET_DESIGN_UNIT_STORED
};

/* One of them. */
struct facet_design_event {
    enum facet_design_event_kind kind;
    uint32_t size;
    const char *name; /* "x5", "mepc", "v3": as `facet spec` has them, in any case */
    uint64_t address;
    uint64_t value, upper;
};

/* One instruction that retired or trapped. Zero when the library gets it. */
struct facet_design_step {
    uint32_t size; /* of this struct */
    uint32_t core;
    uint64_t pc;
    uint32_t word;    /* of the instruction; 0: not told */
    uint32_t trapped; /* 1: a trap instead, with cause and trap value; bit 63: an interrupt */
    uint64_t cause, trap_value;
    const struct facet_design_event *events; /* in any order; the library's, until the next call */
    size_t event_count;
};

/* What the library can do. A function that is not there is NULL. */
struct facet_design {
    uint32_t abi;  /* FACET_DESIGN_ABI */
    uint32_t size; /* of this struct */
    /* What is not compared, as facet_lockstep_filter_ignore takes it, parted by blanks: "csr priv
     * counters". NULL: everything is compared. */
    const char *ignores;
    /* 1: what a submitted job does is compared at the fence or wait that needs it; 0: in the step
     * of its submission. */
    uint32_t late_jobs;
    uint32_t reserved; /* 0 */
    /* The case is the only one from here on. Always there. *why: a line for people, which may be
     * left alone. */
    int (*begin)(const struct facet_design_case *c, const char **why);
    /* The next instruction, of any core. */
    int (*step)(struct facet_design_step *step, const char **why);
    /* Memory as it is now; with `step`, for the kinds "elf" and "tile". */
    int (*read)(uint64_t address, void *bytes, size_t size);
    /* The words that the case leaves; runs it to its end. For designs without `step`, and for the
     * kinds "list" and "vector". */
    int (*signature)(const uint32_t **words, size_t *count, const char **why);
    /* The last case is over. */
    void (*end)(void);
};

#pragma GCC visibility push(default)

/* The function of the library. Called once. */
const struct facet_design *facet_design(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
