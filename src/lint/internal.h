/* Between the files of this folder: the store of findings (lint.c), the CSR rules that both
 * machines share (csr.c), and what each machine adds. */
#ifndef FACET_LINT_INTERNAL_H
#define FACET_LINT_INTERNAL_H

#include "lint/lint.h"

#include "isa/table.h"
#include "num/eff.h"

struct lint_store {
    struct facet_lint_finding *items; /* by pc, then rule */
    size_t count, capacity;
    unsigned sets; /* that are asked */
    struct facet_lint_picture pictures[FACET_LINT_PICTURES];
    unsigned picture_count;
    bool failed;
};

/* Where something happened. */
struct lint_place {
    uint32_t core;
    uint64_t pc;
};

/* Counts one more at the place; places must not be added without end. A printf format for the
 * detail, "" for none. */
void facet_lint_add(struct lint_store *store,
                    struct lint_place place,
                    enum facet_lint_id rule,
                    const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* The same with a second place, whose pc the detail ends with: once per pair. */
void facet_lint_add_pair(struct lint_store *store,
                         struct lint_place place,
                         struct lint_place other,
                         enum facet_lint_id rule,
                         const char *format,
                         ...) __attribute__((format(printf, 5, 6)));

/* ---- CSR writes (csr.c) ---- */

/* A csr* instruction that writes, as the rows of spec/ see it. */
struct lint_csr_write {
    const struct facet_csr_row *row;
    uint32_t number;
    enum facet_csr_op op;
    uint64_t operand;
    uint64_t old;     /* before */
    uint64_t written; /* what the instruction asks for */
    uint64_t stored;  /* what the register holds now */
    bool held;        /* nothing is stored yet: `stored` means nothing (a staged image) */
    uint64_t spoken;  /* bits that another rule has spoken of */
};

/* Bits of a row's fields with this access; reserved ones (RSV..., reserved, no field at all) are
 * reported by facet_lint_csr_reserved alone. */
uint64_t facet_lint_csr_mask(const struct facet_csr_row *row, enum facet_csr_access access);
uint64_t facet_lint_csr_reserved(const struct facet_csr_row *row);
/* Everything that the table alone can decide. */
void facet_lint_csr_check(struct lint_store *store,
                          struct lint_place place,
                          const struct lint_csr_write *write);

/* ---- the machines ---- */

struct lint_machine_ops {
    void (*retire)(void *self, const struct facet_retire_event *event);
    void (*reg)(void *self, const struct facet_reg_event *event);
    void (*memory)(void *self, const struct facet_memory_event *event);
    void (*trap)(void *self, const struct facet_trap_event *event);
    void (*unit)(void *self, const struct facet_unit_event *event);
    void (*finish)(void *self);
    void (*destroy)(void *self);
};

/* NULL when the machine is of another kind, or memory is short (*failed). */
void *facet_lint_hart_create(facet_machine *machine, struct lint_store *store, bool *failed);
extern const struct lint_machine_ops lint_hart_ops;
void *facet_lint_tile_create(facet_machine *machine, struct lint_store *store, bool *failed);
extern const struct lint_machine_ops lint_tile_ops;

#endif
