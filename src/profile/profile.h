/* Profiles (`--profile`, `facet profile show`, docs/profile.md): the counts of a run with the names
 * and source lines of its program, as a file and as text. What a machine counts, and how it adds
 * sections of its own, is machine/counts.h; every section is kept and shown without being known
 * here. */
#ifndef FACET_PROFILE_PROFILE_H
#define FACET_PROFILE_PROFILE_H

#include "base/error.h"
#include "isa/table.h"
#include "machine/counts.h"
#include "object/symbols.h"

#include <jansson.h>

#define PROFILE_VERSION 1 /* of the file; a reader refuses others */

/* The file; NULL without memory. `symbols` may be empty. */
json_t *profile_json(const struct facet_counts *counts,
                     enum facet_isa isa,
                     const struct facet_symbols *symbols);

/* One instruction as the file has it. */
struct profile_insn {
    uint64_t pc;
    uint64_t retired;
    uint32_t core;
    uint32_t word;
    const char *symbol; /* "main", or NULL */
    const char *file;   /* of the source, or NULL */
    uint64_t line;
};

struct profile {
    enum facet_isa isa;
    json_t *json; /* owns the texts */
    struct profile_insn *insns;
    size_t count;
    uint64_t retired; /* of all */
};

/* `name` starts every message. Release with profile_free. */
enum facet_status profile_parse(
    const char *name, const void *text, size_t size, struct profile *out, struct facet_error *err);
void profile_free(struct profile *profile);

/* What a view sums over. */
enum profile_by { PROFILE_BY_SYMBOL, PROFILE_BY_LINE, PROFILE_BY_CORE };
struct profile_sum {
    char *name;
    uint64_t retired;
};
/* Largest first; free every name and *out. False without memory. */
bool profile_sum(const struct profile *profile,
                 enum profile_by by,
                 struct profile_sum **out,
                 size_t *count);

/* The views of `facet profile show`, at most `most` rows each. False without memory. */
bool profile_print(const struct profile *profile, size_t most, struct facet_strbuf *out);
bool profile_print_folded(const struct profile *profile, struct facet_strbuf *out);
json_t *profile_views(const struct profile *profile, size_t most); /* NULL without memory */

#endif
