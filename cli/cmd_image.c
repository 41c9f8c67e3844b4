/* `facet image compare`: are two pictures the same, and where do they differ. */
#include "command/output.h"

#include "image/compare.h"
#include "json/json.h"

#include <stdio.h>

static const struct cli_option compare_options[] = {
    {"heatmap", 0, "FILE", "write a picture of the differences (PNG)"},
    {NULL, 0, NULL, NULL},
};

static json_t *pixel_json(const uint8_t rgba[4])
{
    return json_pack("[i, i, i, i]", rgba[0], rgba[1], rgba[2], rgba[3]);
}

static json_t *diff_json(const struct facet_image_diff *diff)
{
    json_t *json = json_pack("{s:b, s:I, s:I, s:i, s:f}",
                             "same",
                             diff->differing == 0,
                             "pixels",
                             (json_int_t)diff->pixels,
                             "differing",
                             (json_int_t)diff->differing,
                             "max_difference",
                             (int)diff->max_difference,
                             "mean_squared_error",
                             diff->mean_squared_error);

    if (json != NULL && diff->differing != 0) {
        (void)json_object_set_new(json, "psnr_db", json_real(diff->psnr_db));
        (void)json_object_set_new(json,
                                  "first",
                                  json_pack("{s:i, s:i, s:o, s:o}",
                                            "x",
                                            (int)diff->first_x,
                                            "y",
                                            (int)diff->first_y,
                                            "a",
                                            pixel_json(diff->first_a),
                                            "b",
                                            pixel_json(diff->first_b)));
    }
    return json;
}

static void print_diff(const struct facet_image_diff *diff)
{
    if (diff->differing == 0) {
        printf("same: %llu pixel%s\n", (unsigned long long)diff->pixels, cli_s(diff->pixels));
        return;
    }
    printf("different: %llu of %llu pixel%s, largest difference %u, PSNR %.2f dB\n",
           (unsigned long long)diff->differing,
           (unsigned long long)diff->pixels,
           cli_s(diff->pixels),
           diff->max_difference,
           diff->psnr_db);
    printf("first at x %u, y %u: %u %u %u %u and %u %u %u %u\n",
           diff->first_x,
           diff->first_y,
           diff->first_a[0],
           diff->first_a[1],
           diff->first_a[2],
           diff->first_a[3],
           diff->first_b[0],
           diff->first_b[1],
           diff->first_b[2],
           diff->first_b[3]);
}

static enum facet_status write_heatmap(const char *path,
                                       const struct facet_image *a,
                                       const struct facet_image *b,
                                       struct facet_error *err)
{
    struct facet_image heat;
    enum facet_status status = facet_image_heatmap(a, b, &heat, err);

    if (status == FACET_OK) {
        status = facet_image_png_write(path, &heat, err);
    }
    facet_image_free(&heat);
    return status;
}

static enum facet_status compare_pictures(const struct cli_args *args,
                                          struct facet_image images[2],
                                          struct facet_image_diff *diff,
                                          struct facet_error *err)
{
    const char *heatmap = cli_value(args, "heatmap");
    enum facet_status status = FACET_OK;

    for (int i = 0; status == FACET_OK && i < 2; i++) {
        status = facet_image_read(args->positional[i], &images[i], err);
    }
    if (status == FACET_OK) {
        status = facet_image_compare(&images[0], &images[1], diff, err);
    }
    if (status == FACET_OK && heatmap != NULL) {
        status = write_heatmap(heatmap, &images[0], &images[1], err);
    }
    return status;
}

static int run_compare(const struct cli_args *args)
{
    struct facet_image images[2] = {{0, 0, NULL}, {0, 0, NULL}};
    struct facet_image_diff diff;
    struct facet_error err = {0};
    enum facet_status status;

    for (int i = 0; i < 2; i++) {
        if (cli_would_replace(args, cli_value(args, "heatmap"), args->positional[i], "an input")) {
            return CLI_BAD;
        }
    }
    status = compare_pictures(args, images, &diff, &err);
    facet_image_free(&images[0]);
    facet_image_free(&images[1]);
    if (status == FACET_OK && args->json) {
        if (cli_print_json(args, diff_json(&diff)) != CLI_OK) {
            return CLI_BAD;
        }
    } else if (status == FACET_OK) {
        print_diff(&diff);
    } else {
        return cli_bad_error(args, &err);
    }
    return diff.differing == 0 ? CLI_OK : CLI_NO;
}

const struct cli_command cli_cmd_image_compare = {
    .name = "image compare",
    .summary = "compare two pictures pixel by pixel",
    .usage = "facet image compare A.png B.png [--heatmap FILE] [--json]",
    .details = "Prints how many pixels differ, the largest difference of a channel, the peak "
               "signal-to-noise ratio and the first differing pixel in reading order; exit code 1 "
               "when the pictures differ, 2 when their sizes do or one cannot be read.\n\n"
               "PNG and JPEG are read, up to 32768 pixels on each side and 2^28 (1 GiB of memory) "
               "in all, in a confined process that has 3 GiB and a minute of processor time.\n\n"
               "In the heat map equal pixels are a dark grey shadow of the first picture, others "
               "go from blue (one step) over green and yellow to red and white.",
    .examples = "facet image compare assets/crate.png assets/crate.png",
    .options = compare_options,
    .has_json = true,
    .run = run_compare,
    .operands = "FILE FILE",
};
