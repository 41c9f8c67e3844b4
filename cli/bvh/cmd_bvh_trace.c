/* `facet bvh trace`: a file of rays through an image, hits into another file. */
#include "cli/bvh/bvh.h"
#include "command/output.h"

#include "documents/gfx12_vectors.h"
#include "gfx12/ask/procedural.h"
#include "gfx12/tracer.h"
#include "gfx12/unit.h"
#include "report/tracing.h"
#include "session/device/option.h"
#include "session/share.h"
#include "json/json.h"

#include <stdlib.h>
#include <unistd.h>

/* Whether the nodes stay as they are. Decoded ones are several times as large, and few rays visit
 * less than there is to decode; of a large image they must be more. */
static bool few_rays(uint64_t rays, uint64_t bytes)
{
    return rays < bytes / FACET_GFX12_NODE_BYTES / (bytes > (64 << 20) ? 16 : 64);
}

/* What decoded nodes may take: a large image, the rays that threads have at a time, their hits and
 * all have three times its size. */
static uint64_t decoded_room(uint64_t rays, unsigned threads, uint64_t bytes)
{
    const uint64_t both = sizeof(struct facet_gfx12_batch_ray) + sizeof(struct facet_gfx12_hit);
    const uint64_t most = threads * (uint64_t)REPORT_TRACING_GRAIN;
    const uint64_t room = bytes / 16 * 30;

    rays = rays < most ? rays : most;
    return bytes < (64 << 20) ? 0 : rays * both < room ? room - rays * both : 1;
}

/* What this process traces, and what shared work consists of. */
static enum facet_status trace(const struct cli_args *args,
                               struct session_share *share,
                               const struct session_device *device,
                               unsigned threads,
                               uint8_t stack,
                               struct report_tracing *t,
                               struct facet_error *err)
{
    const struct facet_gfx12_view *view = t->view;
    struct facet_gfx12_tracer_options options = {.address = view->base,
                                                 .root = view->root,
                                                 .stack = stack,
                                                 .path = cli_given(args, "plain") ||
                                                                 few_rays(t->count, view->size)
                                                             ? FACET_GFX12_PATH_REFERENCE
                                                             : FACET_GFX12_PATH_AUTO};
    const char *profile = cli_value(args, "profile");
    struct facet_share *work = session_share_work(share);
    struct facet_progress progress;
    facet_gfx12_tracer *tracer = NULL;
    facet_pool *pool = NULL;
    enum facet_status status;

    t->device = NULL;
    t->fallback = device->fallback;
    facet_gfx12_unit_view(&t->unit, view);
    if (profile != NULL) {
        (void)facet_doc_gfx12_profile_from(profile, &t->unit.profile); /* the parser has checked */
    }
    status = facet_pool_create(threads, &pool, err);
    if (status == FACET_OK) {
        status = session_device_open(args, device, &t->unit, &t->device, err);
    }
    if (status == FACET_OK) {
        options.wish_bytes = decoded_room(t->count, facet_pool_threads(pool), view->size);
        if (t->device != NULL && !device->fallback) { /* nodes decoded here serve few rays */
            options.path = FACET_GFX12_PATH_REFERENCE;
        }
        status = facet_gfx12_tracer_create(&t->unit, &options, &tracer, err);
    }
    if (status == FACET_OK) {
        t->tracer = tracer;
        facet_progress_start(&progress,
                             &(struct facet_progress_config){
                                 .label = "tracing",
                                 .unit = "rays",
                                 .total = facet_share_items(work, t->count, REPORT_TRACING_GRAIN),
                                 .fd = STDERR_FILENO,
                                 .quiet = session_share_quiet(share, args)});
        status = report_tracing_run(t, work, pool, &progress, err);
        facet_progress_finish(&progress);
        if (t->failed) {
            session_device_tell(args, &t->failure);
        }
    }
    facet_gfx12_tracer_destroy(tracer);
    facet_gfx12_device_close(t->device);
    facet_pool_destroy(pool);
    return status;
}

/* What is wrong with the image by itself, as after a wrong --base or --root, or for the stack that
 * was asked for; NULL: nothing. */
static const char *trouble_of(const struct cli_args *args,
                              const struct facet_gfx12_view *view,
                              char text[REPORT_TROUBLE])
{
    if ((cli_given(args, "base") || cli_given(args, "root")) &&
        (report_wrong_base_text(args, view, text) || report_trouble_text(view, true, text))) {
        return text;
    }
    return cli_given(args, "stack") && report_nested_text(view, text) ? text : NULL;
}

/* Traces the rays, or a part, and finishes the work where all of it is done. */
static int trace_file(const struct cli_args *args,
                      struct session_share *share,
                      const struct session_device *device,
                      unsigned threads,
                      uint8_t stack,
                      struct report_tracing *t)
{
    struct session_rays rays;
    struct facet_error err = {0};
    char trouble[REPORT_TROUBLE];
    enum facet_status status = session_rays_open(cli_value(args, "rays"), &rays, &err);
    int code;

    t->rays = &rays;
    t->count = rays.count;
    if (status == FACET_OK) {
        t->trouble = trouble_of(args, t->view, trouble);
        if (share->wanted) {
            status = report_tracing_describe(args, share, t, &err);
        }
    }
    if (status == FACET_OK) {
        status = trace(args, share, device, threads, stack, t, &err);
    }
    if (status != FACET_OK) {
        code = cli_bad_error(args, &err);
    } else if (!session_share_ends(share, args, &code)) {
        code = report_tracing_finish(args, t);
    }
    facet_share_close(&share->share);
    report_tracing_free(t);
    session_rays_close(&rays);
    return code;
}

static int trace_rays(const struct cli_args *args)
{
    static const char *const of_result[] = {"candidates", NULL};
    static const char *const of_processor[] = {"plain", "stack", NULL};
    const char *rays = cli_value(args, "rays"), *output = cli_value(args, "output");
    const char *procedural = cli_value(args, "procedural");
    const char *candidates = cli_value(args, "candidates");
    const float zero[3] = {0, 0, 0};
    struct report_tracing t = {.output = output,
                               .stack = cli_value(args, "stack"),
                               .figures = cli_given(args, "stats"),
                               .candidates = procedural != NULL && procedural[0] == 'c'};
    struct session_share share;
    struct session_device device;
    struct session_bvh file;
    uint64_t threads = 0, flags = 0, mask = 0xFF, steps = 0, stack = 0;
    int code;

    if (rays == NULL || output == NULL) {
        return cli_bad(args, "expected --rays FILE and -o FILE");
    }
    if (!session_device_read(args, &device) ||
        (device.wanted &&
         cli_useless(args, of_processor, "is for the processor, not for --device")) ||
        !session_share_read(args, &share) || !session_share_fits(&share, args, of_result) ||
        (share.share.parts == 0 && !report_tracing_files(args, t.figures, t.candidates)) ||
        !cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads) ||
        !cli_number(args, "flags", 0, 0x3FF, &flags) || !cli_number(args, "mask", 0, 0xFF, &mask) ||
        !cli_number(args, "max-steps", 1, UINT64_MAX, &steps) ||
        !cli_number(args, "stack", 8, 31, &stack) ||
        cli_would_replace(args, output, rays, "the file of rays") ||
        cli_would_replace(args, candidates, rays, "the file of rays") ||
        cli_would_replace(args, candidates, share.share.journal, "the file of --resume") ||
        !session_bvh_read_or_make(args, session_bvh_operand(args), bvh_make_image, &file)) {
        return CLI_BAD;
    }
    if (session_bvh_would_be_replaced(args, output, &file, false) ||
        (candidates != NULL && session_bvh_would_be_replaced(args, candidates, &file, false)) ||
        !session_bvh_has_root(args, &file)) {
        session_bvh_free(&file);
        return CLI_BAD;
    }
    t.view = &file.view;
    facet_gfx12_query_init(&t.query, zero, zero);
    t.query.api_flags = (uint32_t)flags;
    t.query.instance_mask = (uint32_t)mask;
    t.query.max_steps = steps;
    t.query.address = file.view.base;
    t.query.root = file.view.root;
    if (cli_given(args, "any-hit")) {
        t.query.api_flags |= FACET_GFX12_API_TERMINATE_ON_FIRST_HIT;
    }
    if (procedural != NULL) {
        t.query.callbacks.procedural =
            t.candidates ? facet_gfx12_procedural_note : facet_gfx12_procedural_box;
    }
    code = trace_file(args, &share, &device, (unsigned)threads, (uint8_t)stack, &t);
    session_bvh_free(&file);
    return code;
}

static const struct cli_option trace_options[] = {
    {"rays", 0, "FILE", "rays: records of eight floats, ox oy oz tmin dx dy dz tmax"},
    {"output", 'o', "FILE", "hits: records of eight dwords, see below"},
    {"procedural",
     0,
     "box|candidates",
     "procedural primitives: their box is the shape, or list those that are reached"},
    {"candidates", 0, "FILE", "the list, a line of JSON for each"},
    {"any-hit", 0, NULL, "stop each ray at its first committed hit"},
    {"stats", 0, NULL, "print instructions, nodes and stack use"},
    {"stack",
     0,
     "N",
     "the short-stack loop of section 11.4 with N entries of LDS, 8 to 31 (default: the loop of "
     "11.1, a stack as deep as needed)"},
    CLI_PLAIN_OPTION,
    {"flags",
     0,
     "N",
     CLI_GROUP("Ray") "ray flags (2.2 of spec/gfx12-semantics.md): 1 force opaque, 0x10 cull back "
                      "faces, and so on"},
    {"mask", 0, "N", "instance mask, 0 to 0xFF (default 0xFF)"},
    {"profile", 0, "silicon|gpurt", "rules where card and emulation differ (default silicon)"},
    {"max-steps", 0, "N", "nodes that one ray may visit (default 2^24)"},
    {"threads", 0, "N", "host threads (default 0: all processors)"},
    SESSION_DEVICE_OPTIONS,
    SESSION_BVH_OPTIONS,
    SESSION_SHARE_OPTIONS("-o"),
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_trace = {
    .name = "bvh trace",
    .summary = "trace a file of rays through a GFX12 BVH image",
    .usage = "facet bvh trace IMAGE --rays FILE -o FILE [--any-hit] [--stats] [--flags N] "
             "[--mask N]\n"
             "facet bvh trace IMAGE --rays FILE -o FILE --part K/N",
    .details =
        "Runs the traversal loop of section 11.1 around image_bvh8_intersect_ray for every ray and "
        "writes one hit per ray, in order. The hits are the same bits on any number of threads and "
        "with or without --plain. Non-opaque triangles count as hit. Procedural primitives have no "
        "shape of their own and are not hit, unless --procedural box takes their boxes for it: "
        "the hit is where the ray enters the box or, if that is not beyond TMIN, leaves it. With "
        "--procedural candidates every one that a ray reaches is listed in the order of the "
        "visits: "
        "number of the ray, primitive, geometry, user data, node, and where the ray enters and "
        "leaves the box.\n\n"
        "All files are little-endian. A hit is t, u, v (float), primitive, geometry, user data of "
        "the instance, ID of the instance node, and flags: bit 0 hit, bit 1 back face, bit 2 "
        "procedural. Without a hit t is +inf, u and v are 0, the four numbers 0xFFFFFFFF and the "
        "flags 0; outside instances the two instance numbers are 0xFFFFFFFF.\n\n"
        "With --stack N the rays run on ds_bvh_stack_push8_pop1_rtn_b32 and a stack of N entries: "
        "when "
        "it overflows, a ray walks back through the parents that the nodes name. The hits are "
        "those "
        "without --stack, on images that have parents in all nodes and one child per instance; a "
        "walk back that finds no parent may lose a hit, is reported, and makes the exit code 1.\n\n"
        "--device traces on a GPU, or any other device of OpenCL, with the same bits, figures and "
        "messages; it is tested when it is opened, and refused when one bit differs. What a device "
        "cannot do (a stack deeper than 96, listing candidates) the processor does for it. A "
        "device that fails is an error, unless --fallback cpu lets the processor go on.\n\n"
        "Files of rays and hits may have any size and are never in memory as a whole. Rays from a "
        "pipe or - are, at most 1 GiB of them; so are hits that go to -, a pipe or a device file, "
        "or belong to --part or --resume.\n\n"
        "A ray that does not end (a cycle in a damaged image) is an error with the number of the "
        "ray, and nothing is written. Fetches outside the image (a wrong --base, a missing BLAS), "
        "types that name no node and ranges that do not end are counted and told with an example; "
        "the hits are written, and the exit code is 1.",
    .examples = "facet bvh build examples/gfx12/cube.obj -o cube.gfx12\n"
                "head -c 320 /dev/zero > rays.bin\n"
                "facet bvh trace cube.gfx12 --rays rays.bin -o hits.bin --stats",
    .options = trace_options,
    .has_json = true,
    .run = trace_rays,
    .operands = "[IMAGE]",
};
