/* See bvh.h. */
#include "cli/bvh/bvh.h"
#include "documents/bvh_aabbs.h"
#include "gfx12/build/build.h"
#include "report/left_out.h"

#include "base/strbuf.h"
#include "scene/import.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool bvh_flush_text(struct facet_strbuf *buf)
{
    bool ok = !buf->failed;

    if (ok) {
        fwrite(facet_strbuf_text(buf), 1, buf->length, stdout);
    }
    facet_strbuf_clear(buf);
    return ok;
}

/* ---- input ---- */

enum facet_status bvh_scene_read_as(const struct cli_args *args,
                                    const char *path,
                                    const char *aabbs,
                                    const struct facet_render_bvh_traits *traits,
                                    bool flat,
                                    struct facet_render_bvh_input *out,
                                    json_t **left_out,
                                    struct facet_error *err)
{
    struct facet_scene scene;
    struct facet_bvh_aabb *boxes = NULL;
    uint32_t box_count = 0;
    enum facet_status status = FACET_OK;

    facet_scene_init(&scene);
    if (path != NULL) {
        status =
            report_scene_import(args,
                                path,
                                (struct facet_import_options){.shape_only = true, .inactive = true},
                                &scene,
                                err);
    }
    if (status == FACET_OK && aabbs != NULL) {
        status = facet_doc_bvh_aabbs_read(aabbs, &boxes, &box_count, err);
    }
    if (status == FACET_OK) {
        status = facet_render_bvh_input_make(
            path != NULL ? &scene : NULL, boxes, box_count, traits, flat, out, err);
    }
    if (status == FACET_OK) {
        status = report_tell_left_out(args, path, &scene, FACET_LOSS_SHAPE, left_out, err);
    }
    free(boxes);
    if (status == FACET_OK && !flat) {
        out->owned = scene;
        return FACET_OK;
    }
    facet_scene_free(&scene);
    return status;
}

enum facet_status bvh_scene_read(const struct cli_args *args,
                                 const char *path,
                                 const char *aabbs,
                                 struct facet_render_bvh_input *out,
                                 json_t **left_out,
                                 struct facet_error *err)
{
    static const struct facet_render_bvh_traits as_it_is;

    return bvh_scene_read_as(args, path, aabbs, &as_it_is, false, out, left_out, err);
}

bool bvh_make_image(const struct cli_args *args, const char *path, struct facet_bytes *out)
{
    const struct facet_gfx12_build_options options = {.quality = FACET_BVH_FAST};
    struct facet_render_bvh_input input = {0};
    struct facet_gfx12_build_report report;
    struct facet_gfx12_image image = {NULL, 0};
    struct facet_error err = {0};
    json_t *left_out = NULL;
    facet_pool *pool = NULL;
    enum facet_status status = bvh_scene_read(args, path, NULL, &input, &left_out, &err);

    if (status == FACET_OK) {
        status = facet_pool_create(0, &pool, &err);
    }
    if (status == FACET_OK) {
        status = facet_gfx12_build(&input.scene, &options, pool, NULL, &image, &report, &err);
        facet_pool_destroy(pool);
    }
    facet_render_bvh_input_free(&input);
    json_decref(left_out);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err) == CLI_OK;
    }
    if (!args->quiet) {
        fprintf(stderr,
                "facet %s: %s is a scene; its image is that of facet bvh build without options\n",
                args->command->name,
                path);
    }
    *out = (struct facet_bytes){image.bytes, (size_t)image.size};
    return true;
}
