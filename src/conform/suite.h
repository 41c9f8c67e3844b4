/* A suite of portable cases (docs/conformance.md): the folder that conformance/generate.py writes,
 * with suite.json as its table of contents and rows.tsv for the rows that no case can show. */
#ifndef FACET_CONFORM_SUITE_H
#define FACET_CONFORM_SUITE_H

#include "base/error.h"
#include "isa/table.h"

#include <jansson.h>
#include <stdbool.h>

/* How a case is run. Whatever it is, the answer is a signature: 32-bit words. */
enum conform_kind {
    CONFORM_ELF,    /* a program of the hart: memory from begin_signature to end_signature */
    CONFORM_TILE,   /* a case folder of the tile machine: its outputs */
    CONFORM_LIST,   /* a command list of the tile machine: its frame */
    CONFORM_VECTOR, /* an instruction of GFX12: its result registers */
    CONFORM_KINDS
};
extern const char *const conform_kind_name[CONFORM_KINDS]; /* "elf", "tile", "list", "vector" */

struct conform_words {
    uint32_t *word;
    size_t count;
};

struct conform_case {
    const char *name; /* "xphmg/cap/reset-7c0"; texts belong to the suite */
    enum conform_kind kind;
    const char *source; /* of the expectation: exact, silicon, worked-example, reference-run */
    const char *config; /* of the machine, as --config has it; "" for the default */
    const char **rows;  /* IDs */
    size_t row_count;
    char *path;      /* the file or folder */
    char *signature; /* the file of expected words */
};

struct conform_suite {
    struct conform_case *cases;
    size_t case_count;
    char *folder;
    uint64_t hash; /* of suite.json */
    json_t *root;
    /* rows.tsv: why a row has no case; per row of facet_requirement_rows, NULL without. */
    const char **reasons;
    char *reason_text;
};

/* Reads DIR/suite.json and DIR/rows.tsv. Unknown kinds and rows, names twice and paths out of the
 * folder are FACET_ERR_INPUT. *suite is empty after a failure; free it in any case. */
enum facet_status
conform_suite_read(const char *folder, struct conform_suite *suite, struct facet_error *err);
void conform_suite_free(struct conform_suite *suite);
/* The table of contents and the reasons, for a report without the folder; and the suite that such a
 * report needs, whose files nobody reads. `name` is for messages. *suite as above. */
json_t *conform_suite_frame(const struct conform_suite *suite);
enum facet_status conform_suite_from(const json_t *frame,
                                     const char *name,
                                     struct conform_suite *suite,
                                     struct facet_error *err);
/* "conformance" beside the running program. */
void conform_suite_folder(char *buf, size_t size);

/* Whether the case names a row that the pattern asks for (cards/area.h); NULL asks for all. */
bool conform_case_about(const struct conform_case *c, const char *area, const char *row);

/* Adds what the files of the case hold to *hash. */
enum facet_status
conform_case_hash(const struct conform_case *c, uint64_t *hash, struct facet_error *err);

/* A signature: hexadecimal words of 8, 16, ... digits, the highest first, parted by white space;
 * longer ones are several words, the lowest first; `//` begins a comment. Free out->word also after
 * a failure. */
enum facet_status
conform_words_read(const char *path, struct conform_words *out, struct facet_error *err);
enum facet_status conform_words_parse(const char *name,
                                      const char *text,
                                      size_t size,
                                      struct conform_words *out,
                                      struct facet_error *err);
/* The comment behind the n-th word of a file of words of 8 digits, as the suite has it: what the
 * word is. "" when there is none. */
void conform_words_label(const char *path, size_t n, char *label, size_t size);

#endif
