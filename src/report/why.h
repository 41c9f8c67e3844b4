/* `facet bvh why --expect`, `--brief` and `--tree`: short answers about one ray. */
#ifndef FACET_REPORT_WHY_H
#define FACET_REPORT_WHY_H

#include "command/command.h"

#include "gfx12/ask/why.h"

/* "PRIM[,GEOM[,INST]]"; the complaint is printed when it returns false. */
bool report_expect_read(const struct cli_args *args,
                        const char *text,
                        struct facet_gfx12_expect *expect);
/* Both print the answer and return the exit code: CLI_OK when the ray hits what is expected
 * (`expect`), or when all triangles tested one by one say the same as the traversal (`brief`). */
int report_why_expect(const struct cli_args *args,
                      const struct facet_gfx12_unit *unit,
                      const struct facet_gfx12_view *view,
                      const struct facet_gfx12_query *query,
                      const struct facet_gfx12_expect *expect);
int report_why_brief(const struct cli_args *args,
                     const struct facet_gfx12_unit *unit,
                     const struct facet_gfx12_view *view,
                     const struct facet_gfx12_query *query);
/* The traversal as a tree, of which the first `limit` nodes are shown. */
int report_why_tree(const struct cli_args *args,
                    const struct facet_gfx12_unit *unit,
                    const struct facet_gfx12_view *view,
                    const struct facet_gfx12_query *query,
                    uint64_t limit);

#endif
