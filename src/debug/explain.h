/* Why a core stands where it stands: the place in the program, the instruction there, the registers
 * that it reads with their values and with the instruction that wrote each, and the machine's words
 * of status by their fields. Written as a record, so as text and as JSON (record/record.h). */
#ifndef FACET_DEBUG_EXPLAIN_H
#define FACET_DEBUG_EXPLAIN_H

#include "isa/table.h"
#include "object/symbols.h"
#include "record/record.h"

#include <facet/machine.h>
#include <facet/observer.h>

/* ---- who wrote what ---- */

/* An observer that remembers, for every register of every core, the step that wrote it last. */
typedef struct facet_writes facet_writes;

/* NULL when memory is short. The machine must outlive it. */
facet_writes *facet_writes_create(const facet_machine *machine);
void facet_writes_destroy(facet_writes *writes); /* NULL is allowed */
/* For facet_machine_observe; lives as long as the writes. */
const struct facet_observer *facet_writes_observer(const facet_writes *writes);

/* ---- the explanation ---- */

/* A register that an instruction reads, and what for: "origin x, -1". */
struct facet_explain_read {
    uint32_t reg;
    char what[40];
};

struct facet_explain {
    const facet_machine *machine;
    enum facet_isa isa;                  /* of the instruction words */
    const struct facet_symbols *symbols; /* NULL: no names and lines */
    const facet_writes *writes;          /* NULL: not known who wrote */
    uint64_t seen;                       /* steps that the writes were watched for */
    /* What the instruction at `pc` reads, at most `room` registers, in a machine whose instructions
     * have no rows; NULL: the rows say. */
    uint32_t (*reads)(const facet_machine *machine,
                      uint32_t core,
                      uint64_t pc,
                      struct facet_explain_read *out,
                      uint32_t room);
};

/* Appends "0x80000004 <loop+4> kernel.s:7". */
void facet_explain_place(const struct facet_explain *e, uint64_t address, struct facet_strbuf *out);
/* Members of an open object, in text one line for each register and each word of status that is not
 * zero: what the instruction at `pc` of the core reads. A word that is no instruction reads
 * nothing. */
void facet_explain_core(const struct facet_explain *e,
                        struct facet_record *r,
                        uint32_t core,
                        uint64_t pc);

#endif
