/* Profiles (`--profile-out`, `facet profile show`, docs/profile.md): the counts of a run with the
 * names and source lines of its program, as a file and as views of it. */
#ifndef FACET_PROFILE_PROFILE_H
#define FACET_PROFILE_PROFILE_H

#include "base/error.h"
#include "base/strbuf.h"
#include "isa/table.h"
#include "machine/counts.h"
#include "object/symbols.h"

#include <jansson.h>

#define PROFILE_VERSION 1 /* of the file; a reader refuses others */
/* Rays of gfx12 on the host: counters, and no instructions. */
#define PROFILE_RAYS FACET_ISA_COUNT

const char *profile_machine_name(enum facet_isa isa);

/* The file (file.c); NULL without memory. `symbols` may be empty. */
json_t *profile_json(const struct facet_counts *counts,
                     enum facet_isa isa,
                     const struct facet_symbols *symbols);

/* The kernel of an instruction: what its section begins with, by the name of the source; NULL when
 * nothing is known. Of a command list it is the buffer ("buffers.shade.code"). */
json_t *profile_kernel_of(const struct facet_symbols *symbols, uint64_t pc);
/* "main.c:12"; NULL without memory. */
json_t *profile_line_json(const struct facet_line_row *line);

/* One instruction as the file has it. */
struct profile_insn {
    uint64_t pc;
    uint64_t count;
    uint32_t core;
    uint32_t word;
    const char *symbol;     /* "main", or NULL */
    uint64_t offset;        /* behind the symbol */
    const char *line;       /* "main.c:12", or NULL */
    const char *kernel;     /* "fill.s", or NULL */
    uint64_t active, lanes; /* where it ran under a mask: sums of the lanes */
};

struct profile {
    enum facet_isa isa;
    json_t *json; /* owns the texts */
    struct profile_insn *insns;
    size_t insn_count;
    uint64_t retired; /* of all */
    uint64_t lanes;   /* ... */
};

/* `name` starts every message. Release with profile_free. */
enum facet_status profile_parse(
    const char *name, const void *text, size_t size, struct profile *out, struct facet_error *err);
void profile_free(struct profile *profile);

/* The views (views.c), at most `most` rows each, the largest first: {"machine", "retired",
 * "symbols", "lines", "cores", "balance", "blocks", "memory", "divergence", "draws", "counters"}.
 * NULL without memory. */
json_t *profile_views(const struct profile *profile, size_t most);
void profile_views_text(const json_t *views, size_t most, struct facet_strbuf *out);
/* What the profile says besides instructions (sections.c): divergence as a view, and the text of
 * all sections. */
json_t *profile_divergence(const struct profile *profile, size_t most);
void profile_sections_text(const json_t *views, size_t most, struct facet_strbuf *out);
/* The sections of a file as they are written, and whether those that were read are good. */
void profile_put_sections(json_t *top, const struct facet_counts *counts);
bool profile_sections_good(const json_t *top, const char **wrong);

/* "kernel;symbol;line count", a line each, as tools for flame graphs take it; with all callers in
 * front of the symbol where the file has stacks. False without memory. */
bool profile_folded(const struct profile *profile, struct facet_strbuf *out);

#endif
