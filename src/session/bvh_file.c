/* See bvh_file.h. */
#include "session/bvh_file.h"

#include "rt_image/image.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_IMAGE_BYTES ((size_t)32 << 30) /* as far as node IDs reach */

bool session_bvh_read(const struct cli_args *args, const char *path, struct session_bvh *out)
{
    uint64_t base = 0, root = FACET_GFX12_ROOT;
    struct facet_error err = {0};

    *out = (struct session_bvh){0};
    if (!cli_number(args, "base", 0, (UINT64_C(1) << 48) - 1, &base) ||
        !cli_number(args, "root", 0, UINT32_MAX, &root)) {
        return false;
    }
    if (facet_file_read(path, MAX_IMAGE_BYTES, &out->bytes, &err) != FACET_OK) {
        cli_bad_error(args, &err);
        return false;
    }
    out->view = (struct facet_gfx12_view){
        .bytes = out->bytes.data, .size = out->bytes.size, .base = base, .root = (uint32_t)root};
    return true;
}

void session_bvh_free(struct session_bvh *file)
{
    free(file->bytes.data);
    *file = (struct session_bvh){0};
}

bool session_bvh_is_gfx12(const struct cli_args *args,
                          const char *path,
                          const struct session_bvh *file)
{
    if (facet_rtbvh_is(file->bytes.data, file->bytes.size)) {
        (void)cli_bad(args, "%s is a BVH image of XPHMG_RT; expected a GFX12 image", path);
        return false;
    }
    return true;
}

bool session_bvh_has_root(const struct cli_args *args,
                          const char *path,
                          const struct session_bvh *file)
{
    const struct facet_gfx12_view *v = &file->view;

    if (!session_bvh_is_gfx12(args, path, file)) {
        return false;
    }
    if (facet_gfx12_id_kind(v->root) == FACET_GFX12_KIND_NONE || v->size < FACET_GFX12_NODE_BYTES ||
        facet_gfx12_id_offset(v->root) > v->size - FACET_GFX12_NODE_BYTES) {
        (void)cli_bad(args,
                      "%s: the root 0x%08" PRIx32 " is not a node of the image (%" PRIu64 " bytes)",
                      path,
                      v->root,
                      (uint64_t)v->size);
        return false;
    }
    return true;
}
