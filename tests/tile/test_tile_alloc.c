/* A case folder when memory runs out: it passes or cannot be run, but never fails. */
#include "base/failing_alloc.h"
#include "harness.h"

#include "documents/tile_case.h"

static void pass_or_lack_memory(void *context)
{
    struct facet_doc_tile_case_result result = {0};
    struct facet_doc_tile_case_how how = {0};
    struct facet_doc_tile_case *tile_case = NULL;
    struct facet_error err = {0};
    enum facet_status status =
        facet_doc_tile_case_read(FACET_SOURCE_ROOT "/examples/tile/k1", &tile_case, &err);

    (void)context;
    if (status == FACET_OK) {
        status = facet_doc_tile_case_run(tile_case, &how, &result, &err);
    }
    CHECK_MSG(status == FACET_OK ? result.pass : status == FACET_ERR_MEMORY,
              "%s%s",
              err.message,
              result.difference);
    facet_doc_tile_case_free(tile_case);
}

TEST(a_case_does_not_fail_for_lack_of_memory, "")
{
    CHECK(failing_alloc_each(pass_or_lack_memory, NULL) > 20);
}
