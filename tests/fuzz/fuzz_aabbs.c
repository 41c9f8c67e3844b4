/* Any text as the boxes file of `facet bvh build --aabbs`: refused with a message, or an image of
 * any quality that its own checker finds nothing wrong with. */
#define _GNU_SOURCE
#include "documents/bvh_aabbs.h"
#include "fuzz/fuzz.h"

#include "gfx12/build/build.h"
#include "gfx12/check/check.h"
#include "render/bvh_input.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void build(const struct facet_bvh_scene_input *scene, enum facet_bvh_quality quality)
{
    const struct facet_gfx12_build_options options = {.quality = quality};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image;
    struct facet_gfx12_check check;
    struct facet_error err = {0};

    if (facet_gfx12_build(scene, &options, NULL, NULL, &image, &report, &err) != FACET_OK) {
        fuzz_require(err.message[0] != '\0');
        return;
    }
    fuzz_require(facet_gfx12_check(&(struct facet_gfx12_view){.bytes = image.bytes,
                                                              .size = image.size,
                                                              .root = FACET_GFX12_ROOT},
                                   &(struct facet_gfx12_check_options){0},
                                   &check,
                                   NULL) == FACET_OK);
    fuzz_require(check.total[FACET_GFX12_ERROR] == 0);
    facet_gfx12_check_free(&check);
    free(image.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[32];
    struct facet_bvh_aabb *boxes;
    struct facet_render_bvh_input input;
    struct facet_error err = {0};
    uint32_t count;

    if (fd < 0) {
        fd = memfd_create("aabbs.json", MFD_CLOEXEC);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    fuzz_require(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    if (facet_doc_bvh_aabbs_read(path, &boxes, &count, &err) != FACET_OK) {
        fuzz_require(boxes == NULL && err.message[0] != '\0');
        return 0;
    }
    if (facet_render_bvh_input_make(NULL, boxes, count, NULL, true, &input, &err) == FACET_OK) {
        for (enum facet_bvh_quality q = FACET_BVH_CONTRACT; q < FACET_BVH_QUALITIES; q++) {
            build(&input.scene, q);
        }
        facet_render_bvh_input_free(&input);
    } else {
        fuzz_require(err.message[0] != '\0');
    }
    free(boxes);
    return 0;
}
