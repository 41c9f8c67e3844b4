/* Random programs of a machine, run in every way that Facet has: the plain one, blocks, code of the
 * host, threads. All of them must end in the same state, to the bit.
 *
 * A case is a pure function of (kind, seed, number, length): a list of items (words of
 * instructions, or numbers of rays) of which any can be left out, so that one that shows a
 * difference can be made smaller by leaving out what does not matter. */
#ifndef FACET_FUZZ_KINDS_H
#define FACET_FUZZ_KINDS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "conform/target.h"

#include <facet/isa.h>

enum { FACET_FUZZ_MAX_ITEMS = 256 };

struct facet_fuzz_case {
    uint64_t seed, number;
    uint32_t item[FACET_FUZZ_MAX_ITEMS];
    size_t count;
};

struct facet_fuzz_verdict {
    bool differs;
    char text[200]; /* which ways, and where their states part */
};

/* A case as the files that facet conform runs: bytes by the ends of their names. */
enum { FACET_FUZZ_MAX_PARTS = 5 };
struct facet_fuzz_files {
    struct {
        const char *end; /* ".elf"; "/case.json" in a folder */
        uint8_t *data;
        size_t size;
    } part[FACET_FUZZ_MAX_PARTS];
    size_t count;
};
/* A copy of the bytes, in place of those of that name. */
enum facet_status facet_fuzz_put(struct facet_fuzz_files *files,
                                 const char *end,
                                 const void *data,
                                 size_t size,
                                 struct facet_error *err);
enum facet_status facet_fuzz_put_text(struct facet_fuzz_files *files,
                                      const char *end,
                                      const struct facet_strbuf *text,
                                      struct facet_error *err);
void facet_fuzz_files_free(struct facet_fuzz_files *files);

struct facet_fuzz_kind {
    const char *name;  /* "xphmg" */
    const char *items; /* "instructions" */
    const char *ways;  /* that are compared */
    /* Draws the items of c->seed and c->number, `length` of them. */
    void (*draw)(struct facet_fuzz_case *c, size_t length);
    /* What runs cases, one at a time: its machines. */
    enum facet_status (*open)(void **runner, struct facet_error *err);
    void (*close)(void *runner); /* NULL is allowed */
    enum facet_status (*run)(void *runner,
                             const struct facet_fuzz_case *c,
                             struct facet_fuzz_verdict *verdict,
                             struct facet_error *err);
    /* The case as a program that a person can read and a tool can run: assembly, or JSON. */
    enum facet_status (*text)(const struct facet_fuzz_case *c,
                              struct facet_strbuf *out,
                              struct facet_error *err);
    /* The case for other implementations: how facet conform runs it, the end of the name that it is
     * given ("" for a folder), and the files. */
    enum conform_kind conform;
    const char *end;
    enum facet_status (*files)(const struct facet_fuzz_case *c,
                               struct facet_fuzz_files *files,
                               struct facet_error *err);
    /* What of them depends on the answer; NULL: nothing. */
    enum facet_status (*finish)(const struct facet_fuzz_case *c,
                                const struct conform_words *answer,
                                struct facet_fuzz_files *files,
                                struct facet_error *err);
};

extern const struct facet_fuzz_kind facet_fuzz_xphmg, facet_fuzz_tile, facet_fuzz_draws,
    facet_fuzz_gfx12;
extern const struct facet_fuzz_kind *const facet_fuzz_kinds[]; /* ends with NULL */

/* Whether a case is still worth keeping. */
typedef enum facet_status facet_fuzz_test(void *context,
                                          const struct facet_fuzz_case *c,
                                          bool *keeps,
                                          struct facet_error *err);

/* Leaves items out as long as the test holds: first halves, then ever smaller pieces, until no
 * single one can go. The test holds for the case as it is given. */
enum facet_status facet_fuzz_shrink(struct facet_fuzz_case *c,
                                    facet_fuzz_test *test,
                                    void *context,
                                    struct facet_error *err);

/* The text of a case of that kind, as an executable. */
enum facet_status facet_fuzz_assemble(const struct facet_fuzz_kind *kind,
                                      const struct facet_isa_assemble_config *config,
                                      const struct facet_fuzz_case *c,
                                      struct facet_blob *elf,
                                      struct facet_error *err);

/* Where two states part, for a verdict; they are of the same machine. */
void facet_fuzz_compare(const struct facet_blob *a,
                        const char *way_a,
                        const struct facet_blob *b,
                        const char *way_b,
                        struct facet_fuzz_verdict *verdict);

#endif
