/* See scratch.h. */
#include "bench/scratch.h"

#include "base/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16, PARENT_MOST = 40 };

static char folder[64]; /* named before it is made, so that no signal comes in between */
static char paths[MOST][BENCH_SCRATCH_PATH];
static volatile sig_atomic_t count;
static pid_t owner; /* children leave it alone */

void bench_scratch_remove(void)
{
    if (folder[0] == '\0' || owner != getpid()) {
        return;
    }
    for (int i = 0; i < count; i++) {
        (void)unlink(paths[i]);
    }
    (void)rmdir(folder);
}

static enum facet_status make_folder(struct facet_error *err)
{
    const char *parent = getenv("TMPDIR");

    if (parent == NULL || parent[0] == '\0' || strlen(parent) > PARENT_MOST) {
        parent = "/tmp";
    }
    owner = getpid();
    (void)snprintf(folder, sizeof folder, "%s/facet-bench-XXXXXX", parent);
    if (mkdtemp(folder) == NULL) {
        folder[0] = '\0';
        return facet_fail(err, FACET_ERR_IO, 0, "%s: cannot make a folder", parent);
    }
    (void)atexit(bench_scratch_remove);
    return FACET_OK;
}

enum facet_status
bench_scratch(const char *name, char path[BENCH_SCRATCH_PATH], struct facet_error *err)
{
    enum facet_status status = folder[0] == '\0' ? make_folder(err) : FACET_OK;

    if (status != FACET_OK) {
        return status;
    }
    (void)snprintf(path, BENCH_SCRATCH_PATH, "%s/%s", folder, name);
    for (int i = 0; i < count; i++) {
        if (strcmp(paths[i], path) == 0) {
            return FACET_OK;
        }
    }
    if (count == MOST) {
        return facet_fail(err, FACET_ERR_INTERNAL, 0, "too many temporary files");
    }
    memcpy(paths[count], path, BENCH_SCRATCH_PATH);
    count++;
    return FACET_OK;
}
