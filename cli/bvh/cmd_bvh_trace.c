/* `facet bvh trace`: a file of rays through an image, hits into another file. */
#include "cli/bvh/bvh.h"
#include "command/output.h"

#include "base/bits.h"
#include "base/progress.h"
#include "documents/gfx12_vectors.h"
#include "gfx12/ask/procedural.h"
#include "gfx12/tracer.h"
#include "gfx12/unit.h"
#include "report/hits.h"
#include "report/lost.h"
#include "session/ray_file.h"
#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART = 1 << 16 }; /* rays that are traced at once */

struct job {
    struct facet_gfx12_batch_ray *rays;
    struct facet_gfx12_hit *hits;
    size_t count;
    struct facet_gfx12_stats stats;
    uint64_t found;
    struct facet_gfx12_candidates candidates; /* --procedural candidates */
    struct facet_gfx12_lost lost;
};

/* In parts, so that progress can be shown. */
static enum facet_status trace_all(const struct cli_args *args,
                                   const facet_gfx12_tracer *tracer,
                                   const struct facet_gfx12_query *query,
                                   facet_pool *pool,
                                   struct job *job,
                                   struct facet_error *err)
{
    enum facet_status status = FACET_OK;
    struct facet_progress progress;

    facet_progress_start(&progress,
                         &(struct facet_progress_config){.label = "tracing",
                                                         .unit = "rays",
                                                         .total = job->count,
                                                         .fd = STDERR_FILENO,
                                                         .quiet = args->quiet});
    for (size_t done = 0, part; done < job->count && status == FACET_OK; done += part) {
        struct facet_gfx12_stats stats;

        part = job->count - done < PART ? job->count - done : PART;
        status = facet_gfx12_tracer_batch(
            tracer, query, job->rays + done, part, job->hits + done, pool, &stats, err);
        err->where += status != FACET_OK ? done : 0;
        facet_gfx12_stats_add(&job->stats, &stats);
        facet_progress_add(&progress, part);
    }
    facet_progress_finish(&progress);
    return status;
}

/* Whether the nodes stay as they are. Decoded ones are several times as large, and few rays visit
 * less than there is to decode; of a large image they must be more. */
static bool few_rays(uint64_t rays, uint64_t bytes)
{
    return rays < bytes / FACET_GFX12_NODE_BYTES / (bytes > (64 << 20) ? 16 : 64);
}

/* What decoded nodes may take: a large image, rays, hits and all have three times its size. */
static uint64_t decoded_room(uint64_t rays, uint64_t bytes)
{
    const uint64_t both = sizeof(struct facet_gfx12_batch_ray) + sizeof(struct facet_gfx12_hit);
    const uint64_t room = bytes / 16 * 30;

    return bytes < (64 << 20) ? 0 : rays * both < room ? room - rays * both : 1;
}

static enum facet_status trace(const struct cli_args *args,
                               const struct session_bvh *file,
                               struct facet_gfx12_query *query,
                               unsigned threads,
                               uint8_t stack,
                               struct job *job,
                               struct facet_error *err)
{
    const char *profile = cli_value(args, "profile");
    struct facet_gfx12_tracer_options options = {
        .address = file->view.base,
        .root = file->view.root,
        .stack = stack,
        .wish_bytes = decoded_room(job->count, file->view.size),
        .path = cli_given(args, "plain") || few_rays(job->count, file->view.size)
                    ? FACET_GFX12_PATH_REFERENCE
                    : FACET_GFX12_PATH_AUTO};
    facet_gfx12_tracer *tracer = NULL;
    facet_pool *pool = NULL;
    struct facet_gfx12_unit unit;
    enum facet_status status;

    facet_gfx12_unit_view(&unit, &file->view);
    if (profile != NULL) {
        (void)facet_doc_gfx12_profile_from(profile, &unit.profile); /* the parser has checked it */
    }
    query->address = file->view.base;
    query->root = file->view.root;
    status = facet_pool_create(threads, &pool, err);
    if (status == FACET_OK) {
        status = facet_gfx12_tracer_create(&unit, &options, &tracer, err);
    }
    if (status == FACET_OK && query->callbacks.procedural == facet_gfx12_procedural_note) {
        status = facet_gfx12_list_candidates(
            tracer, query, job->rays, job->count, job->hits, &job->stats, &job->candidates, err);
    } else if (status == FACET_OK) {
        status = trace_all(args, tracer, query, pool, job, err);
    }
    if (status == FACET_OK && !facet_gfx12_tracer_sound(tracer)) {
        if (query->callbacks.procedural == facet_gfx12_procedural_note) {
            query->callbacks.procedural = NULL; /* they are noted already */
        }
        status = facet_gfx12_lost_rays(&unit, query, job->rays, job->count, pool, &job->lost, err);
    }
    facet_gfx12_tracer_destroy(tracer);
    facet_pool_destroy(pool);
    return status;
}

/* Hits, candidates and figures cannot share standard output. */
static bool one_stream(const struct cli_args *args, const char *candidates, const char *output)
{
    if (candidates == NULL || strcmp(candidates, "-") != 0 ||
        (strcmp(output, "-") != 0 && !args->json && !cli_given(args, "stats"))) {
        return false;
    }
    (void)cli_bad(args, "--candidates - and other output both write to standard output");
    return true;
}

static int trace_rays(const struct cli_args *args)
{
    const char *rays = cli_value(args, "rays"), *output = cli_value(args, "output");
    const char *procedural = cli_value(args, "procedural");
    const char *candidates = cli_value(args, "candidates");
    const float zero[3] = {0, 0, 0};
    struct facet_gfx12_query query;
    struct job job = {0};
    struct facet_error err = {0};
    struct session_bvh file;
    uint64_t threads = 0, flags = 0, mask = 0xFF, steps = 0, stack = 0;
    enum facet_status status;
    int code;

    if (rays == NULL || output == NULL) {
        return cli_bad(args, "expected --rays FILE and -o FILE");
    }
    if (cli_given(args, "candidates") != (procedural != NULL && procedural[0] == 'c')) {
        return cli_bad(args, "--procedural candidates and --candidates FILE belong together");
    }
    if (strcmp(output, "-") == 0 && (args->json || cli_given(args, "stats"))) {
        return cli_bad(args, "figures and -o - both write to standard output");
    }
    if (!cli_number(args, "threads", 0, FACET_POOL_MAX_THREADS, &threads) ||
        !cli_number(args, "flags", 0, 0x3FF, &flags) || !cli_number(args, "mask", 0, 0xFF, &mask) ||
        !cli_number(args, "max-steps", 1, UINT64_MAX, &steps) ||
        !cli_number(args, "stack", 8, 31, &stack) ||
        cli_would_replace(args, output, rays, "the file of rays") || !cli_can_write(args, output) ||
        cli_would_replace(args, candidates, rays, "the file of rays") ||
        cli_would_replace(args, candidates, output, "the file of hits") ||
        one_stream(args, candidates, output) || !cli_can_write(args, candidates) ||
        !session_bvh_read_or_make(args, session_bvh_operand(args), bvh_make_image, &file)) {
        return CLI_BAD;
    }
    if (session_bvh_would_be_replaced(args, output, &file, false) ||
        (candidates != NULL && session_bvh_would_be_replaced(args, candidates, &file, false)) ||
        !session_bvh_has_root(args, &file)) {
        session_bvh_free(&file);
        return CLI_BAD;
    }
    facet_gfx12_query_init(&query, zero, zero);
    query.api_flags = (uint32_t)flags;
    query.instance_mask = (uint32_t)mask;
    query.max_steps = steps;
    if (cli_given(args, "any-hit")) {
        query.api_flags |= FACET_GFX12_API_TERMINATE_ON_FIRST_HIT;
    }
    if (procedural != NULL) {
        query.callbacks.procedural =
            candidates != NULL ? facet_gfx12_procedural_note : facet_gfx12_procedural_box;
    }
    status = session_rays_read(rays, &job.rays, &job.count, &err);
    if (status == FACET_OK) {
        job.hits = malloc((job.count + 1) * sizeof *job.hits);
        if (job.hits == NULL) {
            status = facet_fail(&err, FACET_ERR_MEMORY, 0, "no memory for %zu hits", job.count);
        }
    }
    if (status == FACET_OK) {
        status = trace(args, &file, &query, (unsigned)threads, (uint8_t)stack, &job, &err);
    }
    if (status == FACET_OK) {
        for (size_t i = 0; i < job.count; i++) {
            job.found += job.hits[i].found;
        }
        status = report_hits_write(output, job.hits, job.count, candidates, &job.candidates, &err);
    }
    code = status == FACET_OK ? report_trace(args, job.count, job.found, &job.stats, &job.lost)
                              : cli_bad_error(args, &err);
    if (code == CLI_OK &&
        (report_lost(args, &file.view, &job.lost) || report_wrong_base(args, &file.view) ||
         ((cli_given(args, "base") || cli_given(args, "root")) &&
          report_trouble(args, &file.view, true)))) {
        code = CLI_NO;
    }
    session_bvh_free(&file);
    if (code != CLI_BAD && job.stats.lost_walks != 0) {
        (void)cli_bad(args,
                      "%" PRIu32
                      " walk%s back from a node that names no box as its parent: hits may "
                      "be missing",
                      job.stats.lost_walks,
                      cli_s(job.stats.lost_walks));
        code = CLI_NO;
    }
    free(job.rays);
    free(job.hits);
    free(job.candidates.items);
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
    SESSION_BVH_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command cli_cmd_bvh_trace = {
    .name = "bvh trace",
    .summary = "trace a file of rays through a GFX12 BVH image",
    .usage = "facet bvh trace IMAGE --rays FILE -o FILE [--any-hit] [--stats] [--flags N] "
             "[--mask N]",
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
