/* `facet bvh dump` and `facet bvh encode`: an image as text and back. */
#include "cli/bvh/rt.h"
#include "command/output.h"
#include "report/lost.h"

#include "base/progress.h"
#include "base/strbuf.h"
#include "documents/bvh_images.h"
#include "gfx12/image/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEXT_BYTES ((size_t)64 << 30)

/* `chosen`: a byte for each unit, NULL for the whole image. */
static bool dump(const struct facet_gfx12_view *view,
                 const struct facet_gfx12_walk *walk,
                 const uint8_t *chosen,
                 bool json,
                 struct facet_progress *progress)
{
    struct facet_strbuf buf;
    const char *between = "";
    bool ok = true;

    facet_strbuf_init(&buf);
    if (json) {
        facet_gfx12_json_head(view, chosen != NULL, &buf);
    }
    for (uint32_t i = 0; i < walk->count && ok; i += facet_gfx12_walk_block(view, walk, i)) {
        facet_progress_add(progress, facet_gfx12_walk_block(view, walk, i));
        if (chosen != NULL && !chosen[i]) {
            continue;
        }
        if (json) {
            facet_strbuf_puts(&buf, between);
            facet_gfx12_json_node(view, walk, i, &buf);
            between = ",\n";
        } else {
            facet_gfx12_listing(view, walk, i, &buf);
        }
        ok = bvh_flush_text(&buf);
    }
    if (json) {
        facet_gfx12_json_tail(view, &buf);
    }
    ok = bvh_flush_text(&buf) && ok;
    facet_strbuf_free(&buf);
    return ok;
}

static bool is_part(const struct cli_args *args)
{
    return cli_given(args, "node") || cli_given(args, "depth") || cli_given(args, "blas");
}

static int run_dump(const struct cli_args *args)
{
    struct facet_gfx12_selection what = {FACET_GFX12_ALL, FACET_GFX12_ALL, FACET_GFX12_ALL};
    struct facet_gfx12_walk walk;
    struct facet_gfx12_view shown;
    struct facet_error err = {0};
    struct session_bvh file;
    struct facet_progress progress;
    uint8_t *chosen = NULL;
    bool ok, broken;

    if (cli_given(args, "node") && cli_given(args, "blas")) {
        return cli_bad(args, "--node and --blas are different parts; give one");
    }
    if (!cli_number(args, "node", 0, UINT64_MAX - 1, &what.node) ||
        !cli_number(args, "depth", 0, UINT32_MAX, &what.depth) ||
        !cli_number(args, "blas", 0, UINT32_MAX, &what.blas) ||
        !session_bvh_read(args, session_bvh_operand(args), &file)) {
        return CLI_BAD;
    }
    if (bvh_rt_is(&file)) {
        int code = bvh_rt_dump(args, &file);

        session_bvh_free(&file);
        return code;
    }
    if (facet_gfx12_walk(&file.view, &walk, &err) != FACET_OK) {
        session_bvh_free(&file);
        return cli_bad_error(args, &err);
    }
    if (is_part(args) && facet_gfx12_select(&file.view, &walk, &what, &chosen, &err) != FACET_OK) {
        (void)facet_fail_in(&err, file.name);
        facet_gfx12_walk_free(&walk);
        session_bvh_free(&file);
        return cli_bad_error(args, &err);
    }
    shown = file.view;
    if (args->json && file.driver.original != NULL) {
        shown.bytes = file.driver.original; /* so that bvh encode gives the files back */
    }
    facet_progress_start(&progress,
                         &(struct facet_progress_config){
                             .label = "printing",
                             .unit = "units",
                             .total = walk.count,
                             .fd = STDERR_FILENO,
                             .quiet = args->quiet || isatty(STDOUT_FILENO)}); /* text would mix */
    ok = dump(&shown, &walk, chosen, args->json, &progress);
    facet_progress_finish(&progress);
    broken = ok && report_broken(args, &file.view, &walk, false);
    free(chosen);
    facet_gfx12_walk_free(&walk);
    session_bvh_free(&file);
    return !ok ? cli_bad(args, "out of memory") : broken ? CLI_NO : CLI_OK;
}

static int run_encode(const struct cli_args *args)
{
    const char *path = args->positional[0], *output = cli_value(args, "output");
    struct facet_rtbvh_image tiles;
    struct facet_gfx12_view view = {0};
    struct facet_bytes text;
    struct facet_error err = {0};
    enum facet_status status;

    if (output == NULL) {
        return cli_bad(args, "expected -o FILE");
    }
    if (cli_would_replace(args, output, path, "the input")) {
        return CLI_BAD;
    }
    status = facet_file_read(path, MAX_TEXT_BYTES, &text, &err);
    if (status != FACET_OK) {
        return cli_bad_error(args, &err);
    }
    if (facet_doc_rtbvh_json_is((const char *)text.data, text.size)) {
        status = facet_doc_rtbvh_json_read(path, (const char *)text.data, text.size, &tiles, &err);
        view = (struct facet_gfx12_view){.bytes = tiles.bytes, .size = tiles.size};
    } else {
        status = facet_doc_gfx12_json_view(path, (const char *)text.data, text.size, &view, &err);
    }
    free(text.data);
    if (status == FACET_OK) {
        status = session_bvh_write(output, &view, &err);
        facet_doc_gfx12_view_free(&view);
    }
    return status == FACET_OK ? CLI_OK : cli_bad_error(args, &err);
}

static const struct cli_option dump_options[] = {
    {"node",
     0,
     "N",
     "only this node and those below; an offset, or from the image's size on an address"},
    {"depth", 0, "N", "only nodes at most N steps below the start, which is depth 0"},
    {"blas", 0, "N", "only bottom level N, counted from 0 in the order of their addresses"},
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_dump = {
    .name = "bvh dump",
    .summary = "print every node of a BVH image",
    .usage = "facet bvh dump [IMAGE] [--segment FILE@ADDR] [--base ADDR] [--root NODE] [--json]\n"
             "facet bvh dump [IMAGE] [--node N] [--depth N] [--blas N] [--json]",
    .details =
        "Lists the nodes in the order of their addresses, as they come: long images need no more "
        "memory. With --json every field has its name "
        "from the contract, one node per line, and `facet bvh encode` turns the text back into "
        "the same bytes: blocks that cannot be reached from the root are kept as kind \"raw\". "
        "Members called \"decoded\" repeat fields as floats and IDs for the reader and are "
        "ignored by `facet bvh encode`. With --node, --depth or --blas the text is a part of the "
        "image, says so (\"part\"), and is not encoded.\n\n"
        "Offsets count in the bytes of the image; where an address is another number it is shown "
        "too. Broken links are counted on standard error, and the exit code is 1.\n\n"
        "BVH images of XPHMG_RT are recognized by their header (docs/rt-images.md).",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh dump cube.gfx12\n"
                "facet bvh dump cube.gfx12 --json\n"
                "facet bvh dump cube.gfx12 --blas 0 --depth 0",
    .options = dump_options,
    .has_json = true,
    .run = run_dump,
    .operands = "[IMAGE]",
};

static const struct cli_option encode_options[] = {
    {"output", 'o', "FILE", "the image to write"},
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_encode = {
    .name = "bvh encode",
    .summary = "turn the JSON of bvh dump back into an image",
    .usage = "facet bvh encode FILE.json -o IMAGE",
    .details =
        "Reads what `facet bvh dump --json` writes, possibly edited, and writes the image. Every "
        "byte of the image must belong to exactly one node. Fields are taken as they are: "
        "a damaged image can be written, which is how to test other validators. Of an image in "
        "segments IMAGE becomes the one that rays start in, and IMAGE.0xADDR each of the others."
        "\n\n"
        "The JSON of BVH images of XPHMG_RT is recognized by its format. Nodes and TriRanges are "
        "written at their offset; `elements` are used, `min`, `max` and `corners` are ignored.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "facet bvh dump cube.gfx12 --json > cube.json\n"
                "facet bvh encode cube.json -o again.gfx12\n"
                "cmp cube.gfx12 again.gfx12",
    .options = encode_options,
    .run = run_encode,
    .operands = "FILE",
};
