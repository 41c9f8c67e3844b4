/* What programs reached of the contract (`--cover`, `facet cover`, docs/cover.md): counts for every
 * row of the instruction and CSR tables, gathered by an observer, kept in a JSON file, summed over
 * runs and compared with the tables.
 *
 * An instruction is counted by the state that it ran in: every dimension has buckets, made from the
 * tables, and each row of a machine has one count for each bucket. */
#ifndef FACET_COVER_COVER_H
#define FACET_COVER_COVER_H

#include "base/error.h"
#include "base/strbuf.h"
#include "isa/table.h"

#include <facet/machine.h>
#include <facet/observer.h>
#include <jansson.h>

#define COVER_VERSION 1 /* of the file; a reader refuses others */

enum cover_dim {
    COVER_FLAGS,       /* sticky flags that it set */
    COVER_TRAPS,       /* how it ended when it did not retire; interrupts, which have no row */
    COVER_FORMAT,      /* element format */
    COVER_ACCUMULATOR, /* format of the accumulator */
    COVER_ROUNDING,
    COVER_SATURATION,
    COVER_LANES, /* vector length */
    COVER_MASK,  /* lanes that the predicate lets through */
    COVER_DIMS
};
extern const char *const cover_dim_name[COVER_DIMS]; /* "flags" */

struct cover_bucket {
    char name[48];
    uint64_t code; /* TRAPS: the cause, bit 63 for an interrupt */
    uint16_t csr;  /* FLAGS: row of the register, */
    uint8_t bit;   /* and which of its bits */
};

struct cover_csr {
    uint64_t read;    /* CSR instructions that only read it */
    uint64_t written; /* those that write */
    uint64_t set;     /* other steps that wrote to it: flags, traps, units */
};

struct cover_field {
    uint64_t changed; /* steps after which the field held another value */
    uint16_t values;  /* of a field of up to 4 bits: bit v for a value v that was stored */
};

struct cover {
    enum facet_isa isa;
    struct cover_bucket *buckets; /* by dimension */
    uint16_t first[COVER_DIMS + 1];
    uint64_t runs;
    uint64_t retired;
    uint64_t *causes;           /* by bucket; only those of TRAPS count */
    uint64_t *counts;           /* by row: retired */
    uint64_t *in;               /* by row and bucket */
    struct cover_csr *csrs;     /* by row of facet_csr_rows */
    struct cover_field *fields; /* of all of these rows, one after the other */
    uint32_t *first_field;      /* by row */
};

/* Empty: no runs. NULL without memory. */
struct cover *cover_create(enum facet_isa isa);
void cover_free(struct cover *cover); /* NULL is allowed */

static inline uint16_t cover_bucket_count(const struct cover *cover)
{
    return cover->first[COVER_DIMS];
}
/* Counts of the row, one for each bucket. */
static inline uint64_t *cover_row(const struct cover *cover, size_t row)
{
    return cover->in + row * cover_bucket_count(cover);
}
/* The row retired or trapped. */
bool cover_reached(const struct cover *cover, size_t row);
/* A field that programs can tell apart: not reserved. */
bool cover_field_counts(const struct facet_csr_field *field);

/* Sums stay below 2^63, which JSON can hold. */
void cover_add_count(uint64_t *sum, uint64_t more);
/* Adds what another one of the same machine reached. */
void cover_add(struct cover *sum, const struct cover *more);

/* ---- gathering (collect.c) ---- */

typedef struct cover_collector cover_collector;

/* Listens to an xphmg or a tile machine as it stands. NULL without memory. */
cover_collector *cover_collector_create(const facet_machine *machine, enum facet_isa isa);
void cover_collector_free(cover_collector *collector); /* NULL is allowed */
const struct facet_observer *cover_collector_observer(const cover_collector *collector);
/* One run; NULL when memory was short on the way. */
const struct cover *cover_collector_result(const cover_collector *collector);

/* ---- files (file.c) ---- */

json_t *cover_json(const struct cover *cover);
/* `name` starts every message. Release *out with cover_free. */
enum facet_status cover_parse(
    const char *name, const void *text, size_t size, struct cover **out, struct facet_error *err);

/* ---- reports (report.c, html.c) ---- */

/* {"machine", "runs", "retired", "traps", "sections": [{"name", "total", "reached", "groups":
 * [{"name", "total", "reached", "missing": [NAME]}]}]}. NULL without memory. */
json_t *cover_report(const struct cover *cover);
void cover_report_text(const json_t *report, bool missing, struct facet_strbuf *out);
/* A page of its own, with what each instruction was seen with. */
void cover_report_html(const struct cover *cover, const json_t *report, struct facet_strbuf *out);

#endif
