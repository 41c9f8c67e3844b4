/* `facet bvh update` on RT images. */
#include "cli/bvh/rt.h"
#include "command/output.h"

#include "rt_image/refit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_options(const struct cli_args *args, double *reach)
{
    return bvh_rt_options_fit(args) && cli_real(args, "reach", 0.0, 1e38, reach);
}

/* The new image and what it costs; *after is zero when it returns anything but FACET_OK. */
static enum facet_status refit(const struct cli_args *args,
                               const struct facet_rtbvh_check *before,
                               double reach,
                               struct facet_rtbvh_image *image,
                               struct facet_rtbvh_check *after,
                               json_t **left_out,
                               struct facet_error *err)
{
    struct facet_render_rt_input input = {NULL, 0};
    enum facet_status status = bvh_rt_scene(args, cli_value(args, "scene"), &input, left_out, err);

    if (status != FACET_OK) {
        return status;
    }
    status = facet_rtbvh_refit(before, input.triangles, input.count, reach, image, err);
    free(input.triangles);
    if (status != FACET_OK) {
        (void)facet_fail_in(err, args->positional[0]);
        return status;
    }
    return facet_rtbvh_check(image->bytes, image->size, 1, after, err);
}

int bvh_rt_update(const struct cli_args *args, const struct session_bvh *file)
{
    const char *const output = cli_value(args, "output");
    struct facet_rtbvh_check before = {0}, after = {0};
    struct facet_rtbvh_image image = {NULL, 0};
    struct facet_error err = {0};
    json_t *left_out = NULL;
    double reach = 0.0;
    enum facet_status status;
    int code = CLI_OK;

    if (!read_options(args, &reach)) {
        return CLI_BAD;
    }
    status = facet_rtbvh_check(file->bytes.data, file->bytes.size, 1, &before, &err);
    if (status == FACET_OK) {
        status = refit(args, &before, reach, &image, &after, &left_out, &err);
    }
    if (status == FACET_OK) {
        status = facet_file_write(output, image.bytes, (size_t)image.size, &err);
    }
    if (status != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else if (args->json) {
        code = cli_print_json(args,
                              json_pack("{s:I, s:f, s:f, s:f, s:O}",
                                        "bytes",
                                        (json_int_t)image.size,
                                        "sah_before",
                                        before.sah,
                                        "sah_after",
                                        after.sah,
                                        "growth",
                                        (double)after.view.header.pad,
                                        "left_out",
                                        left_out));
    } else if (strcmp(output, "-") != 0) {
        printf("SAH cost  %.2f before, %.2f after\n", before.sah, after.sah);
    }
    json_decref(left_out);
    facet_rtbvh_check_free(&before);
    facet_rtbvh_check_free(&after);
    free(image.bytes);
    return code;
}
