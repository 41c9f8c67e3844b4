/* `facet bvh export`: options in, a file out. */
#include "report/export.h"
#include "report/lost.h"

#include "command/output.h"
#include "session/bvh/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "boxes,triangles" */
static bool read_what(const struct cli_args *args, struct report_parts *what)
{
    const char *text = cli_value(args, "what");

    *what = (struct report_parts){true, true, true, NULL};
    if (text == NULL) {
        return true;
    }
    *what = (struct report_parts){0};
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");

        what->boxes = what->boxes || (length == 5 && strncmp(at, "boxes", 5) == 0);
        what->triangles = what->triangles || (length == 9 && strncmp(at, "triangles", 9) == 0);
        what->instances = what->instances || (length == 9 && strncmp(at, "instances", 9) == 0);
        if (!(length == 5 && strncmp(at, "boxes", 5) == 0) &&
            !(length == 9 &&
              (strncmp(at, "triangles", 9) == 0 || strncmp(at, "instances", 9) == 0))) {
            (void)cli_bad(args,
                          "--what is '%s'; expected boxes, triangles, instances, with commas "
                          "between them",
                          text);
            return false;
        }
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

/* "3" or "1..4" or "2.." */
static bool read_depth(const struct cli_args *args, uint32_t range[2])
{
    const char *text = cli_value(args, "depth");
    char *end;

    range[0] = 0;
    range[1] = UINT32_MAX;
    if (text == NULL) {
        return true;
    }
    range[0] = range[1] = (uint32_t)strtoul(text, &end, 10);
    if (end != text && strncmp(end, "..", 2) == 0) {
        const char *last = end + 2;

        range[1] = *last == '\0' ? UINT32_MAX : (uint32_t)strtoul(last, &end, 10);
        end = *last == '\0' ? (char *)last : end;
    }
    if (strspn(text, "0123456789.") != strlen(text) || strlen(text) > 16 || *text == '.' ||
        *text == '\0' || *end != '\0' || range[0] > range[1]) {
        (void)cli_bad(args, "--depth is '%s'; expected a depth, A..B or A..", text);
        return false;
    }
    return true;
}

/* The two halves of the work have a progress each: how much the second has to write is known after
 * the first, and of an .obj file not even then. */
static enum facet_status encode(const char *output,
                                bool quiet,
                                const struct facet_gfx12_view *view,
                                const uint32_t depth[2],
                                struct report_parts *what,
                                struct facet_gfx12_gathered *gathered,
                                struct facet_bytes *out,
                                struct facet_error *err)
{
    struct facet_progress_config config = {
        .label = "gathering", .unit = "nodes", .fd = STDERR_FILENO, .quiet = quiet};
    struct facet_progress progress;
    struct facet_gfx12_walk walk;
    enum facet_status status = facet_gfx12_walk(view, &walk, err);

    if (status == FACET_OK) {
        config.total = walk.reached;
        facet_progress_start(&progress, &config);
        status = facet_gfx12_gather(view, &walk, depth, &progress, gathered, err);
        facet_progress_finish(&progress);
        facet_gfx12_walk_free(&walk);
    }
    if (status != FACET_OK) {
        return status;
    }
    config.label = "writing";
    config.unit = "boxes and triangles";
    config.total = 0;
    facet_progress_start(&progress, &config);
    what->progress = &progress;
    status = (cli_ends_with(output, ".glb")   ? report_export_glb
              : cli_ends_with(output, ".obj") ? report_export_obj
                                              : report_export_json)(gathered, what, out, err);
    what->progress = NULL;
    facet_progress_finish(&progress);
    return status;
}

int report_export(const struct cli_args *args)
{
    const char *output = cli_value(args, "output");
    struct facet_gfx12_gathered gathered = {0};
    struct facet_bytes bytes = {NULL, 0};
    struct facet_error err = {0};
    struct report_parts what;
    struct session_bvh file;
    uint32_t depth[2];
    enum facet_status status;
    int code = CLI_BAD;

    if (output == NULL || (!cli_ends_with(output, ".glb") && !cli_ends_with(output, ".obj") &&
                           !cli_ends_with(output, ".json"))) {
        return output == NULL
                   ? cli_bad(args, "expected -o FILE with .glb, .obj or .json")
                   : cli_bad(args, "%s: expected the name of a .glb, .obj or .json", output);
    }
    if (!read_what(args, &what) || !read_depth(args, depth) ||
        (!what.boxes && cli_useless(args,
                                    (const char *const[]){"depth", NULL},
                                    "chooses boxes, which --what leaves out")) ||
        !cli_can_write(args, output) || !session_bvh_read(args, session_bvh_operand(args), &file)) {
        return CLI_BAD;
    }
    if (!session_bvh_would_be_replaced(args, output, &file, false) &&
        session_bvh_has_nodes(args, &file)) {
        status = encode(output, args->quiet, &file.view, depth, &what, &gathered, &bytes, &err);
        if (status == FACET_OK) {
            status = facet_file_write(output, bytes.data, bytes.size, &err);
        }
        code = status == FACET_OK ? CLI_OK : cli_bad_error(args, &err);
    }
    if (code == CLI_OK && !args->quiet) {
        const uint64_t boxes = what.boxes ? gathered.box_count : 0;
        const uint64_t triangles = what.triangles ? gathered.triangle_count : 0;
        const uint64_t instances = what.instances ? gathered.instance_count : 0;

        printf("%" PRIu64 " box%s, %" PRIu64 " triangle%s, %" PRIu64 " instance%s of %" PRIu32
               " level%s\n",
               boxes,
               boxes == 1 ? "" : "es",
               triangles,
               cli_s(triangles),
               instances,
               cli_s(instances),
               gathered.level_count,
               cli_s(gathered.level_count));
    }
    if (code == CLI_OK && report_trouble(args, &file.view, false)) {
        code = CLI_NO;
    }
    facet_gfx12_gathered_free(&gathered);
    free(bytes.data);
    session_bvh_free(&file);
    return code;
}
