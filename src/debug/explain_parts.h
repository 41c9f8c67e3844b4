/* Pieces of explanations that explain.c puts together: structures in memory, jobs that failed. */
#ifndef FACET_DEBUG_EXPLAIN_PARTS_H
#define FACET_DEBUG_EXPLAIN_PARTS_H

#include "debug/explain.h"

/* ---- jobs ---- */

enum { FACET_JOBS_KEPT = 16 };

/* A job, by what its unit said of it. */
struct facet_explain_job {
    const char *unit; /* "rt", "mtx"; NULL: none */
    uint32_t core;
    uint64_t id, error, address; /* of its descriptor; error 0: it has not failed */
    uint64_t pc;                 /* of its submission, where that was seen */
    bool is_open;                /* the step of its submission is not over */
    bool has_pc;
};

/* The last jobs that were submitted or failed. */
struct facet_explain_told {
    struct facet_explain_job list[FACET_JOBS_KEPT];
    uint32_t next; /* the place that is taken next */
};

void facet_explain_jobs_hear(struct facet_explain_told *jobs, const struct facet_unit_event *event);
void facet_explain_jobs_settle(struct facet_explain_told *jobs, uint64_t pc);

/* A list of those that failed: unit, identity, what stopped it, where it was submitted, its
 * descriptor as memory holds it now. */
void facet_explain_jobs(const struct facet_explain *e,
                        struct facet_record *r,
                        const struct facet_explain_told *jobs);

/* ---- structures ---- */

/* What the instruction reads by an address in a register: its descriptor, member by member. Nothing
 * for the others. */
void facet_explain_operand(const struct facet_explain *e,
                           struct facet_record *r,
                           uint32_t core,
                           const struct facet_insn_row *row,
                           uint32_t word);

/* ---- of explain.c ---- */

void facet_explain_names(const struct facet_explain *e, struct facet_record *r, uint64_t address);
void facet_explain_instruction(const struct facet_explain *e,
                               struct facet_record *r,
                               uint32_t core,
                               uint64_t pc);
/* The register of a machine's table that an operand names, FACET_NONE for other kinds. */
uint32_t facet_explain_reg_of(const struct facet_explain *e,
                              uint32_t core,
                              const struct facet_operand *operand,
                              uint32_t word);

#endif
