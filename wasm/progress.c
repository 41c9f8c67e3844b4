/* base/progress.h where there is no terminal: the page is told, at most some times a second. */
#include "base/progress.h"

#include "wasm/page.h"

#include <string.h>

void facet_progress_start(struct facet_progress *progress,
                          const struct facet_progress_config *config)
{
    memset(progress, 0, sizeof *progress);
    progress->config = *config;
}

void facet_progress_add(struct facet_progress *progress, uint64_t units)
{
    uint64_t before, done, parts;

    if (progress == NULL) {
        return;
    }
    before = atomic_load(&progress->done);
    done = before + units;
    atomic_store(&progress->done, done);
    /* A thousandth of the whole, or a round number of something without end. */
    parts = progress->config.total > 1000 ? progress->config.total / 1000 : 1;
    parts = progress->config.total == 0 ? 4096 : parts;
    if (before / parts != done / parts) {
        page_progress(done, progress->config.total);
    }
}

void facet_progress_finish(struct facet_progress *progress)
{
    (void)progress;
}
